"""Finds the boards that calibrate a lens, and their corners, in a picture.

Markers, or OpenCV's chessboard finder, only give each corner's approximate place; `fit_corners`
refines it. (OpenCV's own ChArUco detector is not used: in 4.11 it puts corners half a pixel off.)

A board printed at another scale, such as 70 % to fit A4, gives the same lens: only its distance is
wrong, and nothing uses that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.errors import CalibrationError
from calibration.intrinsics.corners import FittedCorners, fit_corners

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]

LENS_BOARD_SQUARES = (11, 8)
LENS_BOARD_SQUARE_MM = 25.0
LENS_BOARD_MARKER_MM = 18.0
LENS_BOARD_DICTIONARY = "DICT_5X5_100"

_LEAST_CORNERS = 12
_FREE_SHARE_OF_LENS_BOARD = 0.178  # of a square's side: up to the nearest marker, a tenth less
_FREE_SHARE_OF_CHESSBOARD = 0.45
_LARGEST_DISAGREEMENT = 0.15  # of a square's side, between two markers' predictions of one corner


@dataclass(frozen=True, slots=True, eq=False)
class BoardView:
    """The corners of a board in one picture.

    `board_mm` (n, 3) are the visible corners on the board, `corners_px` (n, 2) in the picture, and
    `corner_ids` (n,) number them row by row. `blur_px` is the standard deviation of the blur across
    the board's edges.
    """

    name: str
    width_px: int
    height_px: int
    board_mm: Array
    corners_px: Array
    corner_ids: NDArray[np.intp]
    blur_px: float

    def __post_init__(self) -> None:
        count = len(self.corner_ids)
        if self.board_mm.shape != (count, 3) or self.corners_px.shape != (count, 2):
            raise ValueError(
                f"expected {count} corners, got {self.board_mm.shape} and {self.corners_px.shape}"
            )


def mean_corner_distance_px(view: BoardView, other: BoardView, *, least_shared: int = 1) -> float:
    """Returns the mean distance of corners that two views share; inf if they share fewer."""
    _, rows, other_rows = np.intersect1d(view.corner_ids, other.corner_ids, return_indices=True)
    if len(rows) < least_shared:
        return float("inf")
    offsets = view.corners_px[rows] - other.corners_px[other_rows]
    return float(np.linalg.norm(offsets, axis=1).mean())


def find_lens_board(picture: Picture, name: str) -> BoardView:
    """Finds the ChArUco lens board in a grey picture.

    Raises:
        CalibrationError: Fewer than twelve of its corners are visible.
    """
    expected = _expected_corners(_find_markers(picture))
    starts, edges = expected[:, 0], expected[:, 1:]
    radius = _FREE_SHARE_OF_LENS_BOARD * np.linalg.norm(edges, axis=2).min(axis=1)
    fitted = fit_corners(picture, starts, edges, radius)
    columns, rows = LENS_BOARD_SQUARES
    return _view(picture, name, fitted, (columns - 1, rows - 1), LENS_BOARD_SQUARE_MM, "lens board")


def find_chessboard(
    picture: Picture, name: str, *, inner_corners: tuple[int, int], square_mm: float
) -> BoardView:
    """Finds a plain chessboard with `inner_corners` (across, down) in a grey picture.

    Raises:
        CalibrationError: The board is not visible as a whole.
    """
    # The sector-based finder is more accurate; the older one finds some boards that it misses.
    found, corners = cv2.findChessboardCornersSB(picture, inner_corners)
    if not found:
        found, corners = cv2.findChessboardCorners(picture, inner_corners)
    across, down = inner_corners
    if not found:
        raise CalibrationError(
            f"{name}: expected a picture of the whole {across}x{down} chessboard, found none"
        )
    grid = np.asarray(corners, dtype=np.float64).reshape(down, across, 2)
    # Neighbouring corners give the directions of the two edges at each corner.
    edges = np.stack([np.gradient(grid, axis=1), np.gradient(grid, axis=0)], axis=2)
    edges = edges.reshape(-1, 2, 2)
    radius = _FREE_SHARE_OF_CHESSBOARD * np.linalg.norm(edges, axis=2).min(axis=1)
    fitted = fit_corners(picture, grid.reshape(-1, 2), edges, radius)
    return _view(picture, name, fitted, inner_corners, square_mm, "chessboard")


def _view(
    picture: Picture,
    name: str,
    fitted: FittedCorners,
    inner_corners: tuple[int, int],
    square_mm: float,
    board: str,
) -> BoardView:
    """Returns the view of a board from all its corners as fitted; `board` is its name in errors.

    Raises:
        CalibrationError: Too few of them were found.
    """
    across, down = inner_corners
    ids = np.arange(across * down)
    column, row = ids % across, ids // across
    sides = fitted.polarity * np.where((column + row) % 2, -1, 1)
    # Squares alternate: a corner of the wrong polarity was fitted to something else.
    seen = fitted.found & (sides == np.sign(sides.sum()))
    if seen.sum() < _LEAST_CORNERS or len(set(column[seen])) < 3 or len(set(row[seen])) < 3:
        raise CalibrationError(
            f"{name}: expected a view of the {board} with {_LEAST_CORNERS} corners or more in "
            f"three rows, got {seen.sum()} corners"
        )
    board_mm = np.stack([column + 1.0, row + 1.0, np.zeros(len(ids))], axis=1) * square_mm
    height, width = picture.shape
    # The worse of the two directions: motion blurs along one only.
    blur = np.median(fitted.blur_px[seen], axis=0).max()
    return BoardView(
        name, width, height, board_mm[seen], fitted.corners_px[seen], ids[seen], float(blur)
    )


@cache
def _dictionary() -> cv2.aruco.Dictionary:
    """Returns the dictionary of the board's markers."""
    return cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, LENS_BOARD_DICTIONARY))


@cache
def _markers_mm() -> dict[int, Array]:
    """Returns the corners (4, 2) of each marker on the board, by its id, in millimetres."""
    board = cv2.aruco.CharucoBoard(
        LENS_BOARD_SQUARES, LENS_BOARD_SQUARE_MM, LENS_BOARD_MARKER_MM, _dictionary()
    )
    corners = [np.asarray(points, dtype=np.float64)[:, :2] for points in board.getObjPoints()]
    return dict(zip((int(i) for i in np.asarray(board.getIds()).ravel()), corners, strict=True))


def _find_markers(picture: Picture) -> dict[int, Array]:
    """Returns the corners (4, 2), in pixels, of the board's markers that appear exactly once."""
    detector = cv2.aruco.ArucoDetector(_dictionary())
    corners, ids, _ = detector.detectMarkers(picture)
    numbers = [] if ids is None else [int(number) for number in ids.ravel()]
    return {
        number: np.asarray(quad, dtype=np.float64).reshape(4, 2)
        for number, quad in zip(numbers, corners, strict=True)
        if number in _markers_mm() and numbers.count(number) == 1
    }


def _expected_corners(markers_px: dict[int, Array]) -> Array:
    """Predicts each corner and the board's two edges there from adjacent markers, (n, 3, 2) px.

    An edge is as long as a square's side. NaN if no adjacent marker is seen, or if two contradict
    each other: one of them was misread.
    """
    columns, rows = LENS_BOARD_SQUARES
    expected = np.full(((columns - 1) * (rows - 1), 3, 2), np.nan)
    for corner in range(len(expected)):
        column, row = corner % (columns - 1), corner // (columns - 1)
        corner_mm = np.array([column + 1, row + 1]) * LENS_BOARD_SQUARE_MM
        markers = [number for number in _markers_beside(corner) if number in markers_px]
        predictions = [_through_markers(markers_px, [number], corner_mm) for number in markers]
        if not predictions or _disagree(predictions):
            continue
        expected[corner] = _through_markers(markers_px, markers, corner_mm)
    return expected


@cache
def _markers_beside(corner: int) -> tuple[int, ...]:
    """Returns the markers in the squares around a corner."""
    columns = LENS_BOARD_SQUARES[0] - 1
    corner_mm = np.array([corner % columns + 1, corner // columns + 1]) * LENS_BOARD_SQUARE_MM
    return tuple(
        number
        for number, quad_mm in _markers_mm().items()
        if np.linalg.norm(quad_mm.mean(axis=0) - corner_mm) < LENS_BOARD_SQUARE_MM
    )


def _through_markers(markers_px: dict[int, Array], numbers: list[int], corner_mm: Array) -> Array:
    """Returns a corner and its two edges (3, 2), projected through the plane of these markers."""
    quads_mm = np.concatenate([_markers_mm()[number] for number in numbers])
    quads_px = np.concatenate([markers_px[number] for number in numbers])
    plane, _ = cv2.findHomography(quads_mm, quads_px)
    if plane is None:
        return np.full((3, 2), np.nan)
    half = LENS_BOARD_SQUARE_MM / 2
    around_mm = corner_mm + half * np.array([[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]])
    middle, left, right, above, below = cv2.perspectiveTransform(around_mm[None], plane)[0]
    return np.stack([middle, right - left, below - above])


def _disagree(predictions: list[Array]) -> bool:
    """Whether the first and last marker predict different places for a corner."""
    side_px = float(np.linalg.norm(predictions[0][1:], axis=1).min())
    distance_px = float(np.linalg.norm(predictions[0][0] - predictions[-1][0]))
    # Negated, so that NaN counts as a disagreement.
    return not distance_px <= _LARGEST_DISAGREEMENT * side_px
