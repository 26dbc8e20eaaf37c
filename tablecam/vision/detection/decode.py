"""Reads squares as tags: finds the ring around every tag, then compares the cells inside it.

Every tag has a black border inside a white rim; the best match of that ring is the tag's centre.
The cells inside are then compared with all patterns of this tag size at four rotations. This step
decides nothing: the best matches are fitted next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.detection.kinds import TagKind
from tablecam.vision.detection.squares import Squares
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.local_map import LocalMaps, table_to_picture

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Grey = NDArray[np.uint8]
Index = NDArray[np.int64]

_SAMPLES_A_CELL = 2
SHIFT_CELLS = 4.5
"""Farthest that a tag's centre may lie from the detected square: 2.8 at most for unoccluded tags;
of 918 tags with 15 to 50 % hidden, 98 % lay within 4 and 99 % within 5."""
_NOISE_GREY2 = 9.0


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """Squares read as tags of one kind, in columns of n rows.

    `places_mm` (n, 2) and `headings_rad` (n,) are those of the square (the heading is ambiguous by
    quarter turns). `ring` (n,), -1 to 1, is the correlation with a tag's border and rim. `cells`
    (n, c, c) are the grey levels inside, the row nearest to the heading first.
    """

    kind: TagKind
    places_mm: Array
    headings_rad: Array
    ring: Array
    cells: Map

    def __len__(self) -> int:
        return len(self.ring)

    def __getitem__(self, rows: slice) -> Readings:
        return Readings(
            self.kind,
            self.places_mm[rows],
            self.headings_rad[rows],
            self.ring[rows],
            self.cells[rows],
        )

    @classmethod
    def joined(cls, parts: Sequence[Readings]) -> Readings:
        """Returns all squares of the parts, which share one kind, in order."""
        return cls(
            parts[0].kind,
            np.concatenate([part.places_mm for part in parts]),
            np.concatenate([part.headings_rad for part in parts]),
            np.concatenate([part.ring for part in parts]),
            np.concatenate([part.cells for part in parts]),
        )


def read_squares(
    grey: Grey, camera: Camera, patterns: TagPatterns, kind: TagKind, squares: Squares
) -> Readings:
    """Reads squares, each moved to where it best matches a tag of this kind."""
    if not len(squares):
        cells = np.empty((0, patterns.inner_cells, patterns.inner_cells), dtype=np.float32)
        return Readings(kind, np.empty((0, 2)), np.empty(0), np.empty(0), cells)
    cell_mm = kind.size_mm / patterns.side_cells
    # Half of the black square, one cell of rim, and the farthest shift.
    half_cells = patterns.side_cells / 2 + 1 + SHIFT_CELLS
    places_mm = squares.at_height(camera, kind.height_mm)
    to_picture = table_to_picture(
        camera,
        places_mm,
        np.full(len(squares), kind.height_mm),
        # The corner of a turned square is farthest away.
        float(half_cells * cell_mm * np.sqrt(2)),
    )
    turn = steps_right_and_up(squares.headings_rad) * cell_mm
    from_cells = to_picture.turned(turn)
    grid = square_grid(2 * half_cells, 1 / _SAMPLES_A_CELL)
    size = round(len(grid) ** 0.5)
    seen = sampled(grey, from_cells, grid).reshape(-1, size, size)
    ring, centres = best_rings(seen, patterns.side_cells, _SAMPLES_A_CELL)
    offset_mm = np.einsum("nj,njk->nk", centres, turn)
    cells = cell_means(grey, from_cells, centres, patterns.inner_cells)
    return Readings(kind, places_mm + offset_mm, squares.headings_rad, ring, cells)


def pattern_scores(cells: Map, patterns: NDArray[np.uint8]) -> Array:
    """Correlates cells (n, c, c) with patterns (k, c, c), each turned 0 to 3 times: (n, k, 4).

    A turn is a quarter, counter-clockwise.
    """
    templates = _standardised_turns(patterns.tobytes(), patterns.shape)
    seen = _standardised(cells.reshape(len(cells), cells.shape[1] * cells.shape[2]))
    return np.asarray(np.einsum("nc,ktc->nkt", seen, templates), dtype=np.float64)


@lru_cache(maxsize=32)
def _standardised_turns(cells: bytes, shape: tuple[int, ...]) -> Map:
    """Returns the patterns turned 0 to 3 times, with mean 0 and length 1, (k, 4, c * c)."""
    patterns = np.frombuffer(cells, np.uint8).reshape(shape)
    # A tag's heading is only known up to quarter turns.
    turned = np.stack([np.rot90(patterns, turns, axes=(1, 2)) for turns in range(4)], axis=1)
    templates = _standardised(turned.reshape(*turned.shape[:2], -1).astype(np.float32))
    # Callers share the cached array.
    templates.flags.writeable = False
    return templates


def cell_means(grey: Grey, from_cells: LocalMaps, centres_cells: Array, across: int) -> Map:
    """Returns the mean grey in the middle of `across` x `across` cells, (n, across, across).

    `from_cells` maps offsets in cells, to the right and up, to the picture; `centres_cells` (n, 2)
    is the middle of the block of cells.
    """
    middles = square_grid(across - 1, 1.0)
    # Nine samples in the middle half of a cell: its edges mix with the neighbours.
    steps = np.array([[x, y] for y in (0.25, 0.0, -0.25) for x in (-0.25, 0.0, 0.25)])
    points = (middles[:, None] + steps).reshape(-1, 2) + centres_cells[:, None]
    seen = sampled(grey, from_cells, points)
    return np.asarray(seen.reshape(len(seen), across, across, 9).mean(axis=3))


def steps_right_and_up(headings_rad: Array) -> Array:
    """Returns the unit steps to the right and up of tags with these headings, as rows (n, 2, 2)."""
    cosine, sine = np.cos(headings_rad), np.sin(headings_rad)
    right, up = np.stack([sine, -cosine], axis=1), np.stack([cosine, sine], axis=1)
    return np.stack([right, up], axis=1)


def best_rings(seen: Map, side_cells: int, samples: int) -> tuple[Array, Array]:
    """Finds the best match of a border inside a rim in each patch: correlation (n,), centre (n, 2).

    Patches have `samples` samples a cell, with the tags along their rows and columns. Centres are
    right and up of the patch's middle, in cells. The correlation compares the pixels of border and
    rim with black and white.
    """
    size = seen.shape[1]
    tall, reach = seen.reshape(-1, size), (side_cells + 2) * samples // 2

    def inside(values: Map, cells: int) -> Map:
        """Returns sums over boxes of `cells` a side, at all centres where the whole ring fits."""
        sums = _box_sums(values, cells * samples).reshape(seen.shape)
        return np.ascontiguousarray(sums[:, reach:-reach, reach:-reach])

    # Sums over three nested squares give the means of rim and border by differences.
    outer, edge, inner = (inside(tall, side_cells + more) for more in (2, 0, -2))
    # Sums of squares of the ring's pixels give their variance.
    squares = tall * tall
    power = inside(squares, side_cells + 2) - inside(squares, side_cells - 2)
    rim_area, border_area = (
        float(((side_cells + more) ** 2 - (side_cells + more - 2) ** 2) * samples**2)
        for more in (2, 0)
    )
    area = rim_area + border_area
    contrast = (outer - edge) / rim_area - (edge - inner) / border_area
    variance = power / area - ((outer - inner) / area) ** 2
    share = rim_area * border_area / area**2
    # The correlation of the ring's pixels with a two-level template, damped where there is only
    # noise.
    fit = contrast * np.sqrt(share / (np.maximum(variance, 0) + _NOISE_GREY2))
    # OpenCV's box filter of even size is off centre by half a sample.
    lag = 0.5 if side_cells * samples % 2 == 0 else 0.0
    best, peaks = _peaks(fit)
    middle = (size - 1) / 2 - reach + lag
    centres = np.stack([peaks[:, 0] - middle, middle - peaks[:, 1]], axis=1) / samples
    return best, centres


def _peaks(maps: Map) -> tuple[Array, Array]:
    """Returns the largest value of each map, (n,), and its column and row to a fraction, (n, 2)."""
    count, _, across = maps.shape
    where = maps.reshape(count, -1).argmax(axis=1)
    row, column = where // across, where % across
    indices = np.arange(count)
    clipped = [np.clip(value, 1, across - 2) for value in (column, row)]
    middle = maps[indices, row, column]
    neighbours_of_peak = [
        (maps[indices, row, clipped[0] - 1], maps[indices, row, clipped[0] + 1]),
        (maps[indices, clipped[1] - 1, column], maps[indices, clipped[1] + 1, column]),
    ]
    refined = [
        # A peak on the patch's edge has only one neighbour and is not refined.
        value + _parabola_vertex(low, middle, high) * (value == inner)
        for value, inner, (low, high) in zip(
            (column, row), clipped, neighbours_of_peak, strict=True
        )
    ]
    return middle.astype(np.float64), np.stack(refined, axis=1).astype(np.float64)


def _parabola_vertex(low: Map, middle: Map, high: Map) -> Map:
    """Returns the vertex of a parabola through values at -1, 0 and 1, the middle value largest."""
    # A flat top has no curvature to divide by.
    curvature = np.maximum(2 * middle - low - high, 1e-6)
    return np.asarray(((high - low) / (2 * curvature)).clip(-0.5, 0.5))


def _box_sums(values: Map, size: int) -> Map:
    """Returns the sum over a square around each value, 0 beyond the edges."""
    return np.asarray(
        cv2.boxFilter(
            values, cv2.CV_32F, (size, size), normalize=False, borderType=cv2.BORDER_CONSTANT
        )
    )


@lru_cache(maxsize=32)
def square_grid(across: float, step: float) -> Array:
    """Returns points right and up of the middle, (m, 2), over a square; the top row first."""
    count = round(across / step) + 1
    steps = (np.arange(count) - (count - 1) / 2) * step
    right, up = np.meshgrid(steps, -steps)
    grid = np.stack([right.ravel(), up.ravel()], axis=1)
    grid.flags.writeable = False
    return grid


def sampled(grey: Grey, from_cells: LocalMaps, offsets_cells: Array) -> Map:
    """Samples grey levels at mapped offsets, (m, 2) for all or (n, m, 2), with interpolation."""
    pixels = from_cells(offsets_cells).astype(np.float32)
    seen = cv2.remap(
        grey, pixels[..., 0], pixels[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(seen, dtype=np.float32)


def _standardised(values: Map) -> Map:
    """Scales the last axis to mean 0 and length 1."""
    centred = values - values.mean(axis=-1, keepdims=True)
    length = np.linalg.norm(centred, axis=-1, keepdims=True)
    return np.asarray(centred / np.maximum(length, 1e-6))
