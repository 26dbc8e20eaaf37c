"""Tracks which parts of the picture and which tilts the board views cover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.intrinsics.board import BoardView
from calibration.lens import Lens

Array = NDArray[np.float64]

COLUMNS, ROWS = 4, 3
"""The number of cells that the picture is divided into."""

Tilt = Literal["flat", "left", "right", "top", "bottom"]
"""The side of the picture where the board is tilted toward the camera; `flat` if none."""

TILTS: tuple[Tilt, ...] = ("left", "right", "top", "bottom")

_LEAST_CORNERS_IN_CELL = 4
_LEAST_TILT_DEG = 15.0
_TARGET_SHARE = 0.42  # of the picture's width: a board at a comfortable distance
_TALLEST_TARGET = 0.55
_NEARER = 1.13  # how much longer the side that leans toward the camera is drawn


@dataclass(frozen=True, slots=True)
class Coverage:
    """The covered `cells` (rows of booleans, from top left), and the number of views per tilt."""

    cells: tuple[tuple[bool, ...], ...]
    tilts: tuple[tuple[Tilt, int], ...]

    @property
    def missing_cells(self) -> tuple[tuple[int, int], ...]:
        """The cells (row, column) that no view covers."""
        return tuple(
            (row, column)
            for row, line in enumerate(self.cells)
            for column, covered in enumerate(line)
            if not covered
        )

    @property
    def missing_tilts(self) -> tuple[Tilt, ...]:
        """The tilts that no view shows."""
        counts = dict(self.tilts)
        return tuple(tilt for tilt in TILTS if not counts.get(tilt))


def coverage(views: Sequence[BoardView], lens: Lens | None) -> Coverage:
    """Returns the combined coverage of these views; `lens` is the best estimate so far."""
    corners = np.zeros((ROWS, COLUMNS), dtype=np.intp)
    tilts: dict[Tilt, int] = dict.fromkeys(("flat", *TILTS), 0)
    for view in views:
        columns = np.clip(view.corners_px[:, 0] * COLUMNS / view.width_px, 0, COLUMNS - 1)
        rows = np.clip(view.corners_px[:, 1] * ROWS / view.height_px, 0, ROWS - 1)
        # Unlike an indexed +=, `np.add.at` counts every corner of a cell.
        np.add.at(corners, (rows.astype(np.intp), columns.astype(np.intp)), 1)
        tilts[tilt_of(view, lens)] += 1
    # Corners add up over views: several views may cover a cell in parts.
    covered = corners >= _LEAST_CORNERS_IN_CELL
    return Coverage(tuple(tuple(bool(c) for c in row) for row in covered), tuple(tilts.items()))


def tilt_of(view: BoardView, lens: Lens | None) -> Tilt:
    """Returns the tilt of the board in a view.

    Without a lens, a typical webcam's focal length is used; it hardly affects the direction.
    """
    lens = lens or usual_lens(view.width_px, view.height_px)
    is_solved, rotation_vector, _ = cv2.solvePnP(
        view.board_mm, view.corners_px, lens.matrix, lens.distortion
    )
    if not is_solved:
        return "flat"
    matrix, _ = cv2.Rodrigues(rotation_vector)
    normal = np.asarray(matrix, dtype=np.float64)[:, 2]
    across, down = -normal[:2] / normal[2]  # how much deeper the board gets, right and down
    steepest = max(abs(across), abs(down))
    if steepest < np.tan(np.radians(_LEAST_TILT_DEG)):
        return "flat"
    if abs(across) == steepest:
        return "right" if across < 0 else "left"
    return "bottom" if down < 0 else "top"


def usual_lens(width_px: int, height_px: int) -> Lens:
    """Returns a lens typical of webcams, without distortion."""
    middle = ((width_px - 1) / 2, (height_px - 1) / 2)
    return Lens(width_px, height_px, 0.9 * width_px, 0.9 * width_px, *middle)


def next_cell(coverage_so_far: Coverage) -> tuple[int, int] | None:
    """Returns the cell (row, column) to cover next, corners first; None if all are covered."""
    middle = np.array([(ROWS - 1) / 2, (COLUMNS - 1) / 2])
    missing = coverage_so_far.missing_cells
    if not missing:
        return None
    # Corners are farthest from the middle: they determine the distortion.
    return max(missing, key=lambda cell: float(np.abs((np.array(cell) - middle) / middle).sum()))


def next_tilt(coverage_so_far: Coverage, cell: tuple[int, int] | None) -> Tilt:
    """Returns the tilt for the next view; `flat` if every tilt has been shown.

    Tilts toward the outside of the picture come first: the board is then steep and hides nothing.
    """
    missing = coverage_so_far.missing_tilts
    if not missing:
        return "flat"
    if cell is None:
        return missing[0]
    row, column = cell
    outside: tuple[Tilt, ...] = (
        "left" if column < COLUMNS / 2 else "right",
        "top" if row < ROWS / 2 else "bottom",
    )
    return next((tilt for tilt in (*outside, *missing) if tilt in missing), missing[0])


def target_outline_px(
    cell: tuple[int, int] | None, tilt: Tilt, width_px: int, height_px: int
) -> Array:
    """Returns the outline of a board held as asked, (4, 2) px from its top left, clockwise.

    It stays inside the picture; the side tilted toward the camera is the longer one.
    """
    row, column = cell or ((ROWS - 1) / 2, (COLUMNS - 1) / 2)
    size = np.array([_TARGET_SHARE * width_px, _TARGET_SHARE * width_px * 8 / 11])
    # In a wide picture the height limits the board.
    size *= min(1.0, _TALLEST_TARGET * height_px / size[1])
    field = np.array([width_px, height_px], dtype=np.float64)
    middle = (np.array([column, row]) + 0.5) / [COLUMNS, ROWS] * field
    # Leaves room for the longer side of a tilted board.
    margin = size / 2 * _NEARER + 0.01 * field
    middle = np.clip(middle, margin, field - margin)
    signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=np.float64)
    toward = {"flat": (0, 0), "left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1)}
    nearness = signs @ np.array(toward[tilt], dtype=np.float64)
    scale = np.where(nearness > 0, _NEARER, np.where(nearness < 0, 2 - _NEARER, 1.0))
    # A tilted board appears shorter along its tilt.
    shortened = np.where(np.array(toward[tilt]) != 0, 0.88, 1.0)
    # Only the near side's length changes; its distance from the middle stays.
    along = np.array(toward[tilt]) != 0
    return np.asarray(middle + signs * size / 2 * np.where(along, shortened, scale[:, None]))
