"""Where a picture may show a tag: places whose edges all run along two perpendicular directions.

A tag is nothing but edges along its own two axes; grass, figures and shadows are edges along all
directions. So the gradient's angle times four, weighted by its strength and averaged over a tag's
size, is large on a tag whatever its heading, and its phase is that heading, up to a quarter turn.
Nothing needs to be a closed outline: figures may lean over a tag's rim.

Measured on 4K and 1080p pictures of tables of 120 tags (13 mm at 3.3 to 4 px a cell, 17 mm at 2.3
to 2.7): of the 457 tags that were at least 85 % visible, 456 were among the strongest 150 places,
the heading off by 0.5 degrees in the median and 3 at most. OpenCV's finder of dark quadrilaterals
got 52 of 113 tags of such a 4K picture at its best settings, 67 when the picture was enlarged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.table.model import TableSize
from tablecam.vision.detection.boxes import merged
from tablecam.vision.detection.rectify import Rectifier, rectifier

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]
Index = NDArray[np.int64]

PX_A_CELL = 2.2
COARSER = 3
"""The map of squareness is this much coarser than the plane's picture."""
_WINDOW_SIGMA_SAMPLES = 3.0 * PX_A_CELL / COARSER
"""3 cells: a smaller window peaks on a tag's edges, a larger one beside what is half hidden."""
_BLUR_SAMPLES = 12
"""How far around a box the map of squareness hangs on: the blur's kernel, and a peak's rivals."""
_BESIDE_SAMPLES = 3.0 * PX_A_CELL / COARSER
"""So far from a tag's centre, three cells, it may be noticed."""
_STRIP_ROWS = 16 * COARSER
_SPACING_CELLS = 2.5
_LEAST_SQUARENESS = 0.08
"""Tags on grass have 0.24 or more at 2 px a cell, on ground darker than ink 0.40; but 0.10 where a
plain ground is as light as their rim, which then has no edge of its own. Grass has below 0.1. With
0.2, 24 of 389 tags at 2 px a cell were missed, 19 in dim light; with this 4, in the same time."""
_NOISE_GREY2 = 200.0
"""What squared gradient (grey levels² a px²) may be grass, or noise of 4 grey levels."""


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """Places (n, 2) in mm, on a plane `height_mm` above the table, that may be tags.

    The strongest come first. `headings_rad` (n,) are along one of the four sides of each;
    which one is not known.
    """

    places_mm: Array
    headings_rad: Array
    height_mm: float

    def at_height(self, camera: Camera, height_mm: float) -> Array:
        """The places (n, 2) on another plane that are seen at the same pixels."""
        if height_mm == self.height_mm:
            return self.places_mm
        pixels = camera.to_image(
            np.column_stack([self.places_mm, np.full(len(self), self.height_mm)])
        )
        return camera.to_table(pixels, height_mm)

    def __len__(self) -> int:
        return len(self.places_mm)

    def __getitem__(self, rows: NDArray[np.bool_]) -> Squares:
        return Squares(self.places_mm[rows], self.headings_rad[rows], self.height_mm)


@dataclass(frozen=True, slots=True, eq=False)
class SquareFinder:
    """Finds squares of one scale on one plane, in pictures of one camera."""

    plane: Rectifier
    height_mm: float

    def look(self, grey: Grey, within_mm: Array | None = None) -> tuple[Look, ...]:
        """How square a picture is, all over the table.

        Or only in the boxes `within_mm` (k, 4) of the table, as `TagFinder.search` has them, and a
        little around them; at the cost of these.
        """
        looks = []
        for part in _parts(self.plane, within_mm):
            seen = self.plane.rectified(grey, *part.plane_pixels)
            looks.append(Look(part.first, part.core, seen, *_squareness(seen)))
        return tuple(looks)

    def peaks(self, looks: Sequence[Look], most: int) -> Squares:
        """The `most` strongest squares."""
        found = np.concatenate([np.empty((0, 4)), *(look.peaks() for look in looks)])
        # A peak may lie in two boxes; places are whole numbers, alike in both.
        found = found[np.unique(found[:, :2], axis=0, return_index=True)[1]]
        found = found[np.argsort(-found[:, 2], kind="stable")[:most]]
        return self.squares(found[:, :2], found[:, 3])

    def squares(self, samples: Array, phase: Array) -> Squares:
        """Squares at samples (n, 2) of the map of squareness, of this phase (n,)."""
        pixels = samples * COARSER + (COARSER - 1) / 2
        # The plane's picture has y down the page, so its angles count the other way round.
        return Squares(self.plane.places_mm(pixels), -phase / 4, self.height_mm)


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """How square a part of the plane is, in samples `COARSER` than its picture `seen`.

    `strength`, `squareness` (0 to 1) and `phase`, four times the angle, are of each sample;
    the part begins at `first` (column, row), and only its `core` counts.
    """

    first: Index
    core: NDArray[np.bool_]
    seen: Grey
    strength: Map
    squareness: Map
    phase: Map

    def peaks(self) -> Array:
        """Column and row in the whole map, strength and phase of all peaks: (n, 4)."""
        near = 2 * int(_SPACING_CELLS * PX_A_CELL / COARSER) + 1
        is_peak = self.strength == cv2.dilate(self.strength, np.ones((near, near), np.uint8))
        rows, columns = np.nonzero(is_peak & (self.squareness > _LEAST_SQUARENESS) & self.core)
        values = (self.strength[rows, columns], self.phase[rows, columns])
        return np.stack([columns + self.first[0], rows + self.first[1], *values], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A rectangle of the map of squareness: from `first` to before `last`, both (column, row).

    Peaks count in the `core` of it (rows, columns); what is around the core is needed to blur.
    """

    first: Index
    last: Index
    core: NDArray[np.bool_]

    @property
    def plane_pixels(self) -> tuple[slice, slice]:
        """The rows and the columns of the plane's picture that it is made of."""
        low, high = self.first * COARSER, self.last * COARSER
        return slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0]))


def _parts(plane: Rectifier, within_mm: Array | None) -> list[_Part]:
    """The parts of the map of squareness that boxes of the table ask for, or all of it."""
    size = np.maximum(1, np.array(plane.shape[::-1]) // COARSER)
    if within_mm is None:
        return [_Part(np.zeros(2, np.int64), size, np.ones(tuple(size[::-1]), dtype=np.bool_))]
    corners = plane.pixels(within_mm.reshape(-1, 2)).reshape(-1, 2, 2)
    # A box's y grows up the table, and down the picture of it.
    low, high = (np.sort(corners, axis=1)[:, side] / COARSER for side in (0, 1))
    low = np.floor(low - _BESIDE_SAMPLES).astype(np.int64).clip(0, size)
    high = np.ceil(high + _BESIDE_SAMPLES).astype(np.int64).clip(0, size)
    return [
        _part(box[:2], box[2:], size)
        for box in merged(np.concatenate([low, high], axis=1))
        if (box[2:] > box[:2]).all()
    ]


def _part(low: Index, high: Index, size: Index) -> _Part:
    first, last = (low - _BLUR_SAMPLES).clip(0, size), (high + _BLUR_SAMPLES).clip(0, size)
    core = np.zeros(tuple((last - first)[::-1]), dtype=np.bool_)
    inner = low - first
    core[inner[1] : inner[1] + high[1] - low[1], inner[0] : inner[0] + high[0] - low[0]] = True
    return _Part(first, last, core)


def square_finder(
    camera: Camera, table: TableSize, *, cell_mm: float, height_mm: float, margin_mm: float
) -> SquareFinder:
    """A finder of tags whose cells are `cell_mm` or up to half as large again.

    It looks on the plane `height_mm` above the table and as far as `margin_mm` beyond its edges.
    """
    px_per_mm = PX_A_CELL / cell_mm
    plane = rectifier(camera, table, px_per_mm=px_per_mm, height_mm=height_mm, margin_mm=margin_mm)
    return SquareFinder(plane, height_mm)


def _squareness(plane: Grey) -> tuple[Map, Map, Map]:
    """How strong and how pure (0 to 1) one direction modulo 90 degrees is, and four times it."""
    # Scharr's weights add up to 32 a grey level and pixel.
    along_x = np.asarray(cv2.Scharr(plane, cv2.CV_32F, 1, 0, scale=1 / 32))
    along_y = np.asarray(cv2.Scharr(plane, cv2.CV_32F, 0, 1, scale=1 / 32))
    # In strips that fit into the processor's cache: a third of the time.
    starts = range(0, max(1, plane.shape[0] - COARSER + 1), _STRIP_ROWS)
    strips = [slice(start, start + _STRIP_ROWS) for start in starts]
    small = [_fourfold(along_x[strip], along_y[strip]) for strip in strips]
    cosine, sine, energy = (
        np.asarray(cv2.GaussianBlur(np.concatenate(parts), (0, 0), _WINDOW_SIGMA_SAMPLES))
        for parts in zip(*small, strict=True)
    )
    strength = np.hypot(cosine, sine)
    return strength, strength / (energy + _NOISE_GREY2), np.arctan2(sine, cosine)


def _fourfold(along_x: Map, along_y: Map) -> tuple[Map, Map, Map]:
    """(gx + i gy)^4 over its length squared, as two parts, and the length squared, made coarser.

    So the angle is fourfold, and its weight is the energy of the gradient.
    """
    squared_x, squared_y = along_x * along_x, along_y * along_y
    energy = squared_x + squared_y
    real, imaginary = squared_x - squared_y, 2 * along_x * along_y
    length = energy + 1
    cosine = np.asarray((real * real - imaginary * imaginary) / length)
    sine = np.asarray(2 * real * imaginary / length)
    return _coarser(cosine), _coarser(sine), _coarser(energy)


def _coarser(values: Map) -> Map:
    size = (max(1, values.shape[1] // COARSER), max(1, values.shape[0] // COARSER))
    whole = values[: size[1] * COARSER, : size[0] * COARSER]
    return np.asarray(cv2.resize(whole, size, interpolation=cv2.INTER_AREA))
