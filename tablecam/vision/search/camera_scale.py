"""Computes how many pixels a camera gives each tag, and how high it may hang for a given scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera, Pose
from tablecam.table.roster import BaseType, Roster
from tablecam.vision.fitting.dictionary import tag_patterns

Array = NDArray[np.float64]

_GRID = (13, 9)
"""Sample places across and down the table."""
_EDGE_POINTS = 17
_HIGHEST_RATIO = 20.0
"""Bounds the search for a height: nobody hangs a camera this many times higher."""
_HALVINGS = 40
RIM_CELLS = 1
"""The white border that a tag needs for its edge to be detected, in cells per side."""


@dataclass(frozen=True, slots=True)
class TagScale:
    """The tags of one base type and their scale in the picture.

    `median_px_per_cell` is the median over the table, `min_px_per_cell` the minimum, usually in a
    corner.
    """

    base_type: BaseType
    tags: tuple[int, ...]
    median_px_per_cell: float
    min_px_per_cell: float


def tag_scales(camera: Camera, roster: Roster) -> tuple[TagScale, ...]:
    """Returns the scale of each base type's tags, in the order of the table file.

    Raises:
        BadInput: The roster names a dictionary that does not exist.
    """
    cells = side_cells(roster)
    owners = roster.base_type_by_tag()
    return tuple(
        _scale(camera, roster, base, cells, tuple(tag for tag in owners if owners[tag] == base))
        for base in roster.base_types
    )


def side_cells(roster: Roster) -> int:
    """Returns the number of cells along a side of the black square of a roster's tags."""
    return tag_patterns(roster.dictionary, (), source=roster.source).side_cells


def px_per_cell(camera: Camera, places_mm: Array, base: BaseType, cells: int) -> Array:
    """Returns the pixels per cell, (n,), of a base type's tag at places (n, 2) on the table."""
    return camera.px_per_mm(places_mm, base.tag_height_mm) * base.tag_size_mm / cells


def largest_tag_mm(base: BaseType, cells: int) -> float:
    """Returns the largest tag that fits a base together with its white rim."""
    return min(base.width_mm, base.depth_mm) * cells / (cells + 2 * RIM_CELLS)


def table_grid_mm(roster: Roster) -> Array:
    """Returns a grid of places (n, 2) over the whole table, corners included."""
    x, y = np.meshgrid(
        np.linspace(0, roster.table.width_mm, _GRID[0]),
        np.linspace(0, roster.table.depth_mm, _GRID[1]),
    )
    return np.stack([x.ravel(), y.ravel()], axis=1)


def extent_mm(roster: Roster) -> tuple[float, float, float, float]:
    """Returns the box (x_low, y_low, x_high, y_high) around the table and its own tags."""
    table = roster.table
    half_mm = roster.table_tag_size_mm / 2
    x_mm = [tag.x_mm for tag in roster.table_tags]
    y_mm = [tag.y_mm for tag in roster.table_tags]
    return (
        min([0.0, *(x - half_mm for x in x_mm)]),
        min([0.0, *(y - half_mm for y in y_mm)]),
        max([table.width_mm, *(x + half_mm for x in x_mm)]),
        max([table.depth_mm, *(y + half_mm for y in y_mm)]),
    )


def outline_px(camera: Camera, roster: Roster) -> Array:
    """Projects the outline of `extent_mm`, (n, 2); nan where the lens cannot show it."""
    x_low, y_low, x_high, y_high = extent_mm(roster)
    fraction = np.linspace(0, 1, _EDGE_POINTS)
    x, y = x_low + fraction * (x_high - x_low), y_low + fraction * (y_high - y_low)
    low, high = np.full_like(x, x_low), np.full_like(x, x_high)
    near, far = np.full_like(y, y_low), np.full_like(y, y_high)
    edge = np.concatenate(
        [np.stack(side, axis=1) for side in ((x, near), (high, y), (x[::-1], far), (low, y[::-1]))]
    )
    pixels = camera.to_image(np.hstack([edge, np.zeros((len(edge), 1))]))
    # Far off axis a distortion model folds points back into the picture; the round trip finds them.
    returned = camera.to_table(pixels)
    return np.where(np.abs(returned - edge).max(axis=1, keepdims=True) < 1.0, pixels, np.nan)


def sees_table(camera: Camera, roster: Roster, *, margin: float = 0.0) -> bool:
    """Whether the whole table, its own tags included, is in the picture.

    `margin` is the share of the picture's width and height, 0 to 0.5, that must stay free on each
    side.
    """
    outline = outline_px(camera, roster)
    size = np.array([camera.lens.width_px, camera.lens.height_px])
    low, high = margin * size - 0.5, (1 - margin) * size - 0.5
    return bool(((outline >= low) & (outline <= high)).all())


def at_height(camera: Camera, height_mm: float) -> Camera:
    """Returns the camera moved straight up or down to `height_mm` above the table."""
    x_mm, y_mm, _ = camera.pose.camera_centre_mm
    translation = -camera.pose.rotation @ np.array([x_mm, y_mm, height_mm])
    x, y, z = (float(value) for value in translation)
    return replace(camera, pose=Pose(camera.pose.rotation_vector_rad, (x, y, z)))


def highest_height_mm(
    camera: Camera, roster: Roster, scales: Sequence[TagScale], wanted_px_per_cell: float
) -> float:
    """Returns how high the camera may hang for the tags to reach a number of pixels per cell.

    A tag may lie anywhere, so the median over the table counts.
    """
    cells, grid = side_cells(roster), table_grid_mm(roster)

    def is_small(height_mm: float) -> bool:
        raised = at_height(camera, height_mm)
        medians = [
            float(np.median(px_per_cell(raised, grid, scale.base_type, cells))) for scale in scales
        ]
        return min(medians) < wanted_px_per_cell

    height_mm = float(camera.pose.camera_centre_mm[2])
    # The camera must stay above the highest tag.
    least_mm = max(scale.base_type.tag_height_mm for scale in scales) + 1.0
    highest_mm = height_mm * _HIGHEST_RATIO
    limit_mm = bisect_height_mm(is_small, max(least_mm, height_mm / _HIGHEST_RATIO), highest_mm)
    return highest_mm if limit_mm is None else limit_mm


def _scale(
    camera: Camera, roster: Roster, base: BaseType, cells: int, tags: tuple[int, ...]
) -> TagScale:
    """Returns the scale of one base type's tags over the table."""
    sizes = px_per_cell(camera, table_grid_mm(roster), base, cells)
    return TagScale(base, tags, float(np.median(sizes)), float(sizes.min()))


def bisect_height_mm(holds: Callable[[float], bool], low_mm: float, high_mm: float) -> float | None:
    """Returns the height above which a monotone condition holds, or None if it holds nowhere.

    Bisects geometrically, because the ratio of heights matters.
    """
    if not holds(high_mm):
        return None
    for _ in range(_HALVINGS):
        # The geometric mean halves the range of ratios.
        middle_mm = math.sqrt(low_mm * high_mm)
        if holds(middle_mm):
            high_mm = middle_mm
        else:
            low_mm = middle_mm
    return high_mm
