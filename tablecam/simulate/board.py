"""The lens board before a lens, as exact as the tags: squares and markers from their edges.

Frame: the board's own, as OpenCV has it: millimetres from the top left corner of its squares, x
right, y down, z into the board.
"""

from __future__ import annotations

import math
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.board import (
    LENS_BOARD_DICTIONARY,
    LENS_BOARD_MARKER_MM,
    LENS_BOARD_SQUARE_MM,
    LENS_BOARD_SQUARES,
)
from calibration.camera import Camera, Pose
from calibration.lens import Lens
from tablecam.simulate.light import INK, PAPER, Linear
from tablecam.simulate.print_ink import Print, seen_print
from tablecam.simulate.rays import Array, Box

_RIM_MM = 16.0
_MARGIN_SIGMAS = 5


def board_pose(
    lens: Lens,
    middle_px: tuple[float, float],
    distance_mm: float,
    *,
    tilt_deg: tuple[float, float] = (0.0, 0.0),
    roll_deg: float = 0.0,
) -> Pose:
    """The board held so that its middle is seen at a pixel, at a distance along the lens's axis.

    Its tilts are about its own x and y, then it is rolled about the lens's axis.
    """
    rotation = (
        _rotation((0.0, 0.0, roll_deg))
        @ _rotation((tilt_deg[0], 0.0, 0.0))
        @ _rotation((0.0, tilt_deg[1], 0.0))
    )
    direction = lens.to_directions([middle_px])[0]
    squares = np.array([*LENS_BOARD_SQUARES, 0.0])
    middle = np.array([*direction, 1.0]) * distance_mm
    translation = middle - rotation @ (squares * LENS_BOARD_SQUARE_MM / 2)
    vector, _ = cv2.Rodrigues(rotation)
    rx, ry, rz = (float(value) for value in vector.ravel())
    return Pose((rx, ry, rz), (float(translation[0]), float(translation[1]), float(translation[2])))


def inner_corners_mm() -> Array:
    """The board's inner corners (70, 3), row by row."""
    columns, rows = LENS_BOARD_SQUARES
    grid = [(x, y, 0) for y in range(1, rows) for x in range(1, columns)]
    return np.array(grid, dtype=np.float64) * LENS_BOARD_SQUARE_MM


def lay_board(
    picture: Linear, lens: Lens, pose: Pose, blur_px: float, *, light: float = 1.0
) -> Box:
    """Draw the board over a picture in linear light, in place; the box that it changed.

    `light` is how brightly it is lit; `blur_px` the blur, one standard deviation.
    """
    camera = Camera(lens, pose)
    sheet = _sheet()
    frame = Box(0, 0, lens.width_px, lens.height_px)
    margin_px = _MARGIN_SIGMAS * blur_px + 1
    box = sheet.box(camera, margin_px).clipped(frame)
    if _is_sliver(box):
        return Box(box.left, box.top, box.left, box.top)
    ink = np.zeros((box.height, box.width), dtype=np.float32)
    for piece in _pieces():
        part = piece.box(camera, margin_px).clipped(box)
        if not _is_sliver(part):
            covered, white = seen_print(camera, piece, part, blur_px, is_quick=True)
            ink[part.within(box)] += covered - white
    covered, _ = seen_print(camera, sheet, box, blur_px, is_quick=True)
    paper = light * (PAPER - (PAPER - INK) * ink)
    target = picture[box.slices]
    target += covered[..., None] * (paper[..., None] - target)
    return box


def _is_sliver(box: Box) -> bool:
    """Whether a box is less than two pixels wide or tall: all margin, and no print."""
    return box.width < 2 or box.height < 2


def facing(pose: Pose) -> float:
    """How squarely the board faces the lens: 1 when it does, less when tilted."""
    return float(abs(pose.rotation[2, 2]))


@cache
def _pieces() -> tuple[Print, ...]:
    """All that is black: the black squares, and the markers in the white ones."""
    name = getattr(cv2.aruco, LENS_BOARD_DICTIONARY)
    dictionary = cv2.aruco.getPredefinedDictionary(name)
    modules = int(dictionary.markerSize) + 2
    columns, rows = LENS_BOARD_SQUARES
    found: list[Print] = []
    marker = 0
    for row in range(rows):
        for column in range(columns):
            middle = (np.array([column, row]) + 0.5) * LENS_BOARD_SQUARE_MM
            if (row + column) % 2 == 0:  # OpenCV's current layout: the top left square is black
                found.append(_square(middle, LENS_BOARD_SQUARE_MM, np.zeros((1, 1))))
                continue
            bits = cv2.aruco.generateImageMarker(dictionary, marker, modules)
            cells: NDArray[np.float64] = np.asarray(bits, dtype=np.float64) / 255
            found.append(_square(middle, LENS_BOARD_MARKER_MM, cells))
            marker += 1
    return tuple(found)


@cache
def _sheet() -> Print:
    columns, rows = LENS_BOARD_SQUARES
    wide, tall = columns * LENS_BOARD_SQUARE_MM, rows * LENS_BOARD_SQUARE_MM
    return Print(
        middle_mm=np.array([wide, tall]) / 2,
        right_mm=np.array([1.0, 0.0]),
        down_mm=np.array([0.0, 1.0]),
        across_mm=np.array([-0.5, 0.5]) * (wide + 2 * _RIM_MM),
        along_mm=np.array([-0.5, 0.5]) * (tall + 2 * _RIM_MM),
        cells=np.ones((1, 1)),
    )


def _square(middle_mm: Array, size_mm: float, cells: Array) -> Print:
    edges_mm = np.linspace(-size_mm / 2, size_mm / 2, len(cells) + 1)
    right, down = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    return Print(middle_mm, right, down, edges_mm, edges_mm, cells)


def _rotation(degrees: tuple[float, float, float]) -> Array:
    matrix, _ = cv2.Rodrigues(np.array([math.radians(angle) for angle in degrees]))
    return np.asarray(matrix, dtype=np.float64)
