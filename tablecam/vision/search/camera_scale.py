"""How large a camera over a table shows its tags, and how the camera would have to hang instead."""

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
_EDGE_POINTS = 17
_HIGHEST_RATIO = 20.0
"""So many times higher nobody hangs a camera."""
_HALVINGS = 40
RIM_CELLS = 1
"""The white around a tag, in cells a side, without which its edge is not seen."""


@dataclass(frozen=True, slots=True)
class TagScale:
    """The tags of one base type, and how many pixels each of their cells has.

    `middle_px_per_cell` is the median over the table, `least_px_per_cell` the smallest, in a
    corner mostly.
    """

    base_type: BaseType
    tags: tuple[int, ...]
    middle_px_per_cell: float
    least_px_per_cell: float


def tag_scales(camera: Camera, roster: Roster) -> tuple[TagScale, ...]:
    """The scale of each base type's tags, in the order of the table file; a thing done once.

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
    """How many cells the black square of a roster's tags has along a side."""
    return tag_patterns(roster.dictionary, (), source=roster.source).side_cells


def px_per_cell(camera: Camera, places_mm: Array, base: BaseType, cells: int) -> Array:
    """The pixels a cell, (n,), of a base type's tag at places (n, 2) on the table."""
    return camera.px_per_mm(places_mm, base.tag_height_mm) * base.tag_size_mm / cells


def largest_tag_mm(base: BaseType, cells: int) -> float:
    """The largest tag that a base has room for, with its white rim, wherever it is glued."""
    return min(base.width_mm, base.depth_mm) * cells / (cells + 2 * RIM_CELLS)


def table_grid_mm(roster: Roster) -> Array:
    """Places (n, 2) all over a table, its corners among them."""
    x, y = np.meshgrid(
        np.linspace(0, roster.table.width_mm, _GRID[0]),
        np.linspace(0, roster.table.depth_mm, _GRID[1]),
    )
    return np.stack([x.ravel(), y.ravel()], axis=1)


def extent_mm(roster: Roster) -> tuple[float, float, float, float]:
    """The box (x_low, y_low, x_high, y_high) that must be seen: the table and its own tags."""
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
    """Where the edge of all that must be seen runs in the picture, (n, 2); nan where it cannot."""
    x_low, y_low, x_high, y_high = extent_mm(roster)
    way = np.linspace(0, 1, _EDGE_POINTS)
    x, y = x_low + way * (x_high - x_low), y_low + way * (y_high - y_low)
    low, high = np.full_like(x, x_low), np.full_like(x, x_high)
    near, far = np.full_like(y, y_low), np.full_like(y, y_high)
    edge = np.concatenate(
        [np.stack(side, axis=1) for side in ((x, near), (high, y), (x[::-1], far), (low, y[::-1]))]
    )
    pixels = camera.to_image(np.hstack([edge, np.zeros((len(edge), 1))]))
    # A strong lens folds what lies far outside back into the picture.
    returned = camera.to_table(pixels)
    return np.where(np.abs(returned - edge).max(axis=1, keepdims=True) < 1.0, pixels, np.nan)


def sees_table(camera: Camera, roster: Roster, *, margin: float = 0.0) -> bool:
    """Whether the whole table, its own tags included, is in the picture.

    `margin` is how much of the picture's width and height is to stay free on every side, 0 to 0.5.
    """
    outline = outline_px(camera, roster)
    size = np.array([camera.lens.width_px, camera.lens.height_px])
    low, high = margin * size - 0.5, (1 - margin) * size - 0.5
    return bool(((outline >= low) & (outline <= high)).all())


def hung_at(camera: Camera, height_mm: float) -> Camera:
    """The same camera moved straight up or down, its centre `height_mm` above the table."""
    x_mm, y_mm, _ = camera.pose.camera_centre_mm
    moved = -camera.pose.rotation @ np.array([x_mm, y_mm, height_mm])
    x, y, z = (float(value) for value in moved)
    return replace(camera, pose=Pose(camera.pose.rotation_vector_rad, (x, y, z)))


def highest_height_mm(
    camera: Camera, roster: Roster, scales: Sequence[TagScale], wanted_px_per_cell: float
) -> float:
    """How high the camera may hang for all these tags to have so many pixels a cell.

    Where each tag lies nobody knows: what counts is the median over the table.
    """
    cells, grid = side_cells(roster), table_grid_mm(roster)

    def is_small(height_mm: float) -> bool:
        moved = hung_at(camera, height_mm)
        middles = [
            float(np.median(px_per_cell(moved, grid, scale.base_type, cells))) for scale in scales
        ]
        return min(middles) < wanted_px_per_cell

    height_mm = float(camera.pose.camera_centre_mm[2])
    least_mm = max(scale.base_type.tag_height_mm for scale in scales) + 1.0
    highest_mm = height_mm * _HIGHEST_RATIO
    found_mm = lowest_mm(is_small, max(least_mm, height_mm / _HIGHEST_RATIO), highest_mm)
    return highest_mm if found_mm is None else found_mm


def _scale(
    camera: Camera, roster: Roster, base: BaseType, cells: int, tags: tuple[int, ...]
) -> TagScale:
    sizes = px_per_cell(camera, table_grid_mm(roster), base, cells)
    return TagScale(base, tags, float(np.median(sizes)), float(sizes.min()))


def lowest_mm(is_so: Callable[[float], bool], low_mm: float, high_mm: float) -> float | None:
    """The height from which on something is so, as it stays above; None if it is so at none."""
    if not is_so(high_mm):
        return None
    for _ in range(_HALVINGS):
        middle_mm = math.sqrt(low_mm * high_mm)
        if is_so(middle_mm):
            high_mm = middle_mm
        else:
            low_mm = middle_mm
    return high_mm
