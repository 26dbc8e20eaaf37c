"""Finds squares that may be tags: places whose edges all run along two perpendicular directions.

A tag has edges along its own two axes only; grass, figures and shadows have edges in all
directions. The gradient's angle times four, weighted by its strength and averaged over a tag's
size, is therefore large on a tag of any heading, and its phase is that heading, up to a quarter
turn. No closed outline is needed: figures may cover part of a tag's rim.

Measured on 4K and 1080p pictures of tables with 120 tags (13 mm at 3.3 to 4 px a cell, 17 mm at 2.3
to 2.7): of the 457 tags at least 85 % visible, 456 were among the strongest 150 squares, with the
heading off by 0.5 degrees in the median and 3 at most. OpenCV's detector of dark quadrilaterals
found 52 of 113 tags in such a 4K picture at its best settings, 67 with the picture enlarged.
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
from tablecam.vision.detection.rectify import Rectifier, make_rectifier

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]
Index = NDArray[np.int64]

PX_A_CELL = 2.2
COARSER = 3
"""Reduction of the squareness map from the plane's picture."""
_WINDOW_SIGMA_SAMPLES = 3.0 * PX_A_CELL / COARSER
"""3 cells: a smaller window peaks on a tag's edges, a larger one beside partly occluded tags."""
_MARGIN_SAMPLES = 12
"""Margin around a box that affects its squareness: the blur's kernel, and neighbouring peaks."""
_PEAK_REACH_SAMPLES = 3.0 * PX_A_CELL / COARSER
"""A peak may lie this far, three cells, from the tag's centre."""
_STRIP_ROWS = 16 * COARSER
_SPACING_CELLS = 2.5
_LEAST_SQUARENESS = 0.08
"""Least squareness of a peak. Tags on grass have 0.24 or more at 2 px a cell, on ground darker than
ink 0.40, but 0.10 on plain ground as light as their rim, which then has no edge. Grass has below
0.1. With 0.2, 24 of 389 tags at 2 px a cell were missed, 19 in dim light; with this 4, in the same
time."""
_NOISE_GREY2 = 200.0
"""Squared gradient (grey levels² a px²) of grass, or of noise of 4 grey levels."""


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """Places (n, 2) on a plane `height_mm` above the table that may be tags, strongest first.

    `headings_rad` (n,) are along one of the four sides of each; which one is not known.
    """

    places_mm: Array
    headings_rad: Array
    height_mm: float

    def at_height(self, camera: Camera, height_mm: float) -> Array:
        """Returns the places (n, 2) on another plane that appear at the same pixels."""
        points_mm = np.column_stack([self.places_mm, np.full(len(self), self.height_mm)])
        return camera.to_plane(points_mm, height_mm)

    def __len__(self) -> int:
        return len(self.places_mm)

    def __getitem__(self, rows: NDArray[np.bool_]) -> Squares:
        return Squares(self.places_mm[rows], self.headings_rad[rows], self.height_mm)


@dataclass(frozen=True, slots=True, eq=False)
class SquareFinder:
    """Finds squares of one scale on one plane, in pictures of one camera."""

    plane: Rectifier
    height_mm: float

    def squareness_maps(
        self, grey: Grey, within_mm: Array | None = None
    ) -> tuple[SquarenessMap, ...]:
        """Computes the squareness of a picture, all over the table.

        With `within_mm` (k, 4), only in and a little around these boxes of the table, which costs
        less; see `TagFinder.search`.
        """
        parts = []
        for part in _parts(self.plane, within_mm):
            seen = self.plane.rectify(grey, *part.plane_pixels)
            parts.append(SquarenessMap(part.first, part.core, seen, *_squareness(seen)))
        return tuple(parts)

    def peaks(self, looks: Sequence[SquarenessMap], most: int) -> Squares:
        """Returns the `most` strongest squares."""
        peaks = np.concatenate([np.empty((0, 4)), *(look.peaks() for look in looks)])
        # A peak may lie in two boxes: its indices are integers and identify it.
        peaks = peaks[np.unique(peaks[:, :2], axis=0, return_index=True)[1]]
        peaks = peaks[np.argsort(-peaks[:, 2], kind="stable")[:most]]
        return self.squares(peaks[:, :2], peaks[:, 3])

    def squares(self, samples: Array, phase: Array) -> Squares:
        """Returns squares at samples (n, 2) of the squareness map with phases (n,)."""
        pixels = samples * COARSER + (COARSER - 1) / 2
        # The plane's picture has y down the page, so its angles count the other way.
        return Squares(self.plane.places_mm(pixels), -phase / 4, self.height_mm)


@dataclass(frozen=True, slots=True, eq=False)
class SquarenessMap:
    """The squareness of a part of the plane, at samples `COARSER` than its picture `seen`.

    `strength`, `squareness` (0 to 1) and `phase`, four times the angle, have one value a sample.
    The part begins at `first` (column, row), and only its `core` counts.
    """

    first: Index
    core: NDArray[np.bool_]
    seen: Grey
    strength: Map
    squareness: Map
    phase: Map

    def peaks(self) -> Array:
        """Returns all peaks: column and row in the whole map, strength and phase, (n, 4)."""
        window = 2 * int(_SPACING_CELLS * PX_A_CELL / COARSER) + 1
        # A local maximum equals the maximum over its window.
        is_peak = self.strength == cv2.dilate(self.strength, np.ones((window, window), np.uint8))
        rows, columns = np.nonzero(is_peak & (self.squareness > _LEAST_SQUARENESS) & self.core)
        values = (self.strength[rows, columns], self.phase[rows, columns])
        return np.stack([columns + self.first[0], rows + self.first[1], *values], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A rectangle of the squareness map: from `first` to before `last`, both (column, row).

    Peaks count only in its `core` (rows, columns); the margin around the core is needed to blur.
    """

    first: Index
    last: Index
    core: NDArray[np.bool_]

    @property
    def plane_pixels(self) -> tuple[slice, slice]:
        """The rows and columns of the plane's picture that it is made from."""
        low, high = self.first * COARSER, self.last * COARSER
        return slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0]))


def _parts(plane: Rectifier, within_mm: Array | None) -> list[_Part]:
    """Returns the parts of the squareness map that cover boxes of the table, or all of it."""
    size = np.maximum(1, np.array(plane.shape[::-1]) // COARSER)
    if within_mm is None:
        return [_Part(np.zeros(2, np.int64), size, np.ones(tuple(size[::-1]), dtype=np.bool_))]
    corners = plane.pixels(within_mm.reshape(-1, 2)).reshape(-1, 2, 2)
    # y grows up the table but down the picture: sort to get low and high pixels again.
    low, high = (np.sort(corners, axis=1)[:, side] / COARSER for side in (0, 1))
    # A tag in the box may have its peak a little outside.
    low = np.floor(low - _PEAK_REACH_SAMPLES).astype(np.int64).clip(0, size)
    high = np.ceil(high + _PEAK_REACH_SAMPLES).astype(np.int64).clip(0, size)
    return [
        _part(box[:2], box[2:], size)
        for box in merged(np.concatenate([low, high], axis=1))
        if (box[2:] > box[:2]).all()
    ]


def _part(low: Index, high: Index, size: Index) -> _Part:
    """Returns the part whose core is from `low` to `high`, with a margin to blur."""
    first, last = (low - _MARGIN_SAMPLES).clip(0, size), (high + _MARGIN_SAMPLES).clip(0, size)
    core = np.zeros(tuple((last - first)[::-1]), dtype=np.bool_)
    inner = low - first
    core[inner[1] : inner[1] + high[1] - low[1], inner[0] : inner[0] + high[0] - low[0]] = True
    return _Part(first, last, core)


def square_finder(
    camera: Camera, table: TableSize, *, cell_mm: float, height_mm: float, margin_mm: float
) -> SquareFinder:
    """Makes a finder of tags with cells of `cell_mm` to 1.5 times that.

    It searches the plane `height_mm` above the table, up to `margin_mm` beyond its edges.
    """
    px_per_mm = PX_A_CELL / cell_mm
    plane = make_rectifier(
        camera, table, px_per_mm=px_per_mm, height_mm=height_mm, margin_mm=margin_mm
    )
    return SquareFinder(plane, height_mm)


def _squareness(plane: Grey) -> tuple[Map, Map, Map]:
    """Returns strength, squareness (0 to 1) and phase (4 x the angle) of a picture's edges."""
    # Scharr's weights sum to 32 per grey level and pixel.
    along_x = np.asarray(cv2.Scharr(plane, cv2.CV_32F, 1, 0, scale=1 / 32))
    along_y = np.asarray(cv2.Scharr(plane, cv2.CV_32F, 0, 1, scale=1 / 32))
    # Strips that fit into the processor's cache take a third of the time.
    starts = range(0, max(1, plane.shape[0] - COARSER + 1), _STRIP_ROWS)
    strips = [slice(start, start + _STRIP_ROWS) for start in starts]
    reduced = [_fourfold_gradient(along_x[strip], along_y[strip]) for strip in strips]
    cosine, sine, energy = (
        np.asarray(cv2.GaussianBlur(np.concatenate(parts), (0, 0), _WINDOW_SIGMA_SAMPLES))
        for parts in zip(*reduced, strict=True)
    )
    # Edges along two perpendicular axes agree in the fourfold angle, others cancel out.
    strength = np.hypot(cosine, sine)
    return strength, strength / (energy + _NOISE_GREY2), np.arctan2(sine, cosine)


def _fourfold_gradient(along_x: Map, along_y: Map) -> tuple[Map, Map, Map]:
    """Returns (gx + i gy)^4 / |g|^2 as two parts, and |g|^2, each reduced by `COARSER`.

    The angle is fourfold, and its weight is the energy of the gradient.
    """
    squared_x, squared_y = along_x * along_x, along_y * along_y
    energy = squared_x + squared_y
    # The square of gx + i gy; squared once more below.
    real, imaginary = squared_x - squared_y, 2 * along_x * along_y
    # The 1 avoids a division by 0 where the picture is flat.
    length = energy + 1
    cosine = np.asarray((real * real - imaginary * imaginary) / length)
    sine = np.asarray(2 * real * imaginary / length)
    return _coarser(cosine), _coarser(sine), _coarser(energy)


def _coarser(values: Map) -> Map:
    """Reduces a map by `COARSER`, each value a mean."""
    size = (max(1, values.shape[1] // COARSER), max(1, values.shape[0] // COARSER))
    whole = values[: size[1] * COARSER, : size[0] * COARSER]
    return np.asarray(cv2.resize(whole, size, interpolation=cv2.INTER_AREA))
