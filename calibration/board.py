"""The boards that a lens is calibrated with, and their corners in a picture.

Markers, or OpenCV's chessboard finder, only say where about each corner is; `fit_corners` then says
exactly where. (OpenCV's own ChArUco detector is not asked: in 4.11 it puts corners half a
pixel off.)

A board printed at another scale, such as 70 % to fit A4, gives the same lens: only its distance
comes out wrong, and nobody asks for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.corners import FittedCorners, fit_corners
from calibration.errors import CalibrationError

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]

LENS_BOARD_SQUARES = (11, 8)
LENS_BOARD_SQUARE_MM = 25.0
LENS_BOARD_MARKER_MM = 18.0
LENS_BOARD_DICTIONARY = "DICT_5X5_100"

_LEAST_CORNERS = 12
_FREE_SHARE_OF_LENS_BOARD = 0.178  # of a square's side: up to the nearest marker, a tenth less
_FREE_SHARE_OF_CHESSBOARD = 0.45
_LARGEST_DISAGREEMENT = 0.15  # of a square's side, between what two markers say of one corner


@dataclass(frozen=True, slots=True, eq=False)
class BoardView:
    """A board as one picture shows it.

    `board_mm` (n, 3) are the seen corners on the board, `corners_px` (n, 2) in the picture, and
    `corner_ids` (n,) number them row by row. `blur_px` is the standard deviation of the
    blur across the board's edges: its sharpness, the less the better.
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


def apart_px(view: BoardView, other: BoardView, *, least_shared: int = 1) -> float:
    """How far apart two views show the corners they share, on average; inf if they share fewer."""
    _, mine, its = np.intersect1d(view.corner_ids, other.corner_ids, return_indices=True)
    if len(mine) < least_shared:
        return float("inf")
    apart = view.corners_px[mine] - other.corners_px[its]
    return float(np.linalg.norm(apart, axis=1).mean())


def find_lens_board(picture: Picture, name: str) -> BoardView:
    """The ChArUco lens board in a grey picture.

    Raises:
        CalibrationError: Fewer than twelve of its corners are to be seen.
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
    """A plain chessboard of so many inner corners (across, down) in a grey picture.

    Raises:
        CalibrationError: The board is not to be seen as a whole.
    """
    found, corners = cv2.findChessboardCornersSB(picture, inner_corners)
    if not found:
        found, corners = cv2.findChessboardCorners(picture, inner_corners)
    across, down = inner_corners
    if not found:
        raise CalibrationError(
            f"{name}: expected a view of a whole {across}x{down} chessboard, got none"
        )
    grid = np.asarray(corners, dtype=np.float64).reshape(down, across, 2)
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
    """The view of a board of so many corners, all of which were looked for; `board` is its name.

    Raises:
        CalibrationError: Too few of them were found.
    """
    across, down = inner_corners
    ids = np.arange(across * down)
    column, row = ids % across, ids // across
    sides = fitted.polarity * np.where((column + row) % 2, -1, 1)
    seen = fitted.found & (sides == np.sign(sides.sum()))  # black and white take turns
    if seen.sum() < _LEAST_CORNERS or len(set(column[seen])) < 3 or len(set(row[seen])) < 3:
        raise CalibrationError(
            f"{name}: expected a view of the {board} with {_LEAST_CORNERS} corners or more in "
            f"three rows, got {seen.sum()} corners"
        )
    board_mm = np.stack([column + 1.0, row + 1.0, np.zeros(len(ids))], axis=1) * square_mm
    height, width = picture.shape
    blur = np.median(fitted.blur_px[seen], axis=0).max()
    return BoardView(
        name, width, height, board_mm[seen], fitted.corners_px[seen], ids[seen], float(blur)
    )


@cache
def _dictionary() -> cv2.aruco.Dictionary:
    return cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, LENS_BOARD_DICTIONARY))


@cache
def _markers_mm() -> dict[int, Array]:
    """The corners (4, 2) of each marker on the board, by its id, in millimetres."""
    board = cv2.aruco.CharucoBoard(
        LENS_BOARD_SQUARES, LENS_BOARD_SQUARE_MM, LENS_BOARD_MARKER_MM, _dictionary()
    )
    corners = [np.asarray(points, dtype=np.float64)[:, :2] for points in board.getObjPoints()]
    return dict(zip((int(i) for i in np.asarray(board.getIds()).ravel()), corners, strict=True))


def _find_markers(picture: Picture) -> dict[int, Array]:
    """The corners (4, 2), in pixels, of the board's markers that are seen exactly once."""
    detector = cv2.aruco.ArucoDetector(_dictionary())
    corners, ids, _ = detector.detectMarkers(picture)
    numbers = [] if ids is None else [int(number) for number in ids.ravel()]
    return {
        number: np.asarray(quad, dtype=np.float64).reshape(4, 2)
        for number, quad in zip(numbers, corners, strict=True)
        if number in _markers_mm() and numbers.count(number) == 1
    }


def _expected_corners(markers_px: dict[int, Array]) -> Array:
    """Where the markers beside it put each corner, and the board's two edges there, (n, 3, 2) px.

    An edge is as long as a square's side. nan where no marker beside the corner is seen, or where
    two contradict each other: one of them was misread.
    """
    columns, rows = LENS_BOARD_SQUARES
    expected = np.full(((columns - 1) * (rows - 1), 3, 2), np.nan)
    for corner in range(len(expected)):
        column, row = corner % (columns - 1), corner // (columns - 1)
        corner_mm = np.array([column + 1, row + 1]) * LENS_BOARD_SQUARE_MM
        beside = [number for number in _markers_beside(corner) if number in markers_px]
        says = [_through_markers(markers_px, [number], corner_mm) for number in beside]
        if not says or _disagree(says):
            continue
        expected[corner] = _through_markers(markers_px, beside, corner_mm)
    return expected


@cache
def _markers_beside(corner: int) -> tuple[int, ...]:
    columns = LENS_BOARD_SQUARES[0] - 1
    corner_mm = np.array([corner % columns + 1, corner // columns + 1]) * LENS_BOARD_SQUARE_MM
    return tuple(
        number
        for number, quad_mm in _markers_mm().items()
        if np.linalg.norm(quad_mm.mean(axis=0) - corner_mm) < LENS_BOARD_SQUARE_MM
    )


def _through_markers(markers_px: dict[int, Array], numbers: list[int], corner_mm: Array) -> Array:
    """A corner and its two edges (3, 2), as the plane of these markers shows them."""
    quads_mm = np.concatenate([_markers_mm()[number] for number in numbers])
    quads_px = np.concatenate([markers_px[number] for number in numbers])
    plane, _ = cv2.findHomography(quads_mm, quads_px)
    if plane is None:
        return np.full((3, 2), np.nan)
    half = LENS_BOARD_SQUARE_MM / 2
    around_mm = corner_mm + half * np.array([[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]])
    middle, left, right, above, below = cv2.perspectiveTransform(around_mm[None], plane)[0]
    return np.stack([middle, right - left, below - above])


def _disagree(says: list[Array]) -> bool:
    side_px = float(np.linalg.norm(says[0][1:], axis=1).min())
    apart_px = float(np.linalg.norm(says[0][0] - says[-1][0]))
    return not apart_px <= _LARGEST_DISAGREEMENT * side_px
