"""The boards' corners are found accurately, on rendered views and on real photographs."""

import cv2
import numpy as np
import pytest

from calibration.errors import CalibrationError
from calibration.intrinsics.board import (
    LENS_BOARD_MARKER_MM,
    LENS_BOARD_SQUARE_MM,
    LENS_BOARD_SQUARES,
    find_chessboard,
    find_lens_board,
)


def _true_corners(rig, view):
    seen = rig.truth["lens"][view.name]
    lens = rig.camera.lens
    corners, _ = cv2.projectPoints(
        view.board_mm,
        np.array(seen["board_rvec"]),
        np.array(seen["board_tvec_mm"]),
        lens.matrix,
        lens.distortion,
    )
    return corners.reshape(-1, 2)


def test_the_lens_boards_corners_are_not_off_on_average(rig, board_views):
    # OpenCV 4.11's own detector is off by half a pixel (its issue 25539).
    off = np.concatenate([view.corners_px - _true_corners(rig, view) for view in board_views])
    assert len(off) > 0.99 * 12 * 70
    assert np.abs(off.mean(axis=0)).max() < 0.02
    assert np.sqrt((off**2).mean()) < 0.025
    assert np.abs(off).max() < 0.15


def _drawn_board(scale_px_per_mm, *, margin_px=40):
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_100)
    board = cv2.aruco.CharucoBoard(
        LENS_BOARD_SQUARES, LENS_BOARD_SQUARE_MM, LENS_BOARD_MARKER_MM, dictionary
    )
    size = tuple(round(n * LENS_BOARD_SQUARE_MM * scale_px_per_mm) for n in LENS_BOARD_SQUARES)
    sharp = cv2.copyMakeBorder(
        board.generateImage(size), *[margin_px] * 4, cv2.BORDER_CONSTANT, value=255
    )
    return cv2.GaussianBlur(sharp, (0, 0), 0.8)


@pytest.mark.parametrize("scale_px_per_mm", [2.0, 1.4], ids=["A3", "A4 at 70 %"])
def test_a_board_drawn_on_the_grid_of_pixels_is_found_on_it(scale_px_per_mm):
    view = find_lens_board(_drawn_board(scale_px_per_mm), "drawn")
    # A square of s pixels that starts at pixel 40 has its edge half a pixel before that one.
    true_px = view.board_mm[:, :2] * scale_px_per_mm + 40 - 0.5
    assert len(view.corner_ids) == 70
    assert np.abs(view.corners_px - true_px).max() < 0.02
    # Less than was put in, as this blurs grey levels and cameras blur light.
    assert 0.6 < view.blur_px < 0.8


def test_a_board_that_is_hidden_in_part_gives_the_rest():
    picture = _drawn_board(2.0)
    picture[:, :250] = 128
    view = find_lens_board(picture, "drawn")
    assert 30 < len(view.corner_ids) < 60
    assert np.abs(view.corners_px - (view.board_mm[:, :2] * 2 + 39.5)).max() < 0.02


def test_every_real_chessboard_view_is_found(chessboard_views):
    for view in chessboard_views:
        assert len(view.corner_ids) == 54
        assert view.board_mm[10].tolist() == [50.0, 50.0, 0.0]
    assert len(chessboard_views) == 13


def _blank():
    return np.full((480, 640), 200, np.uint8)


def test_a_picture_without_a_board_is_named():
    with pytest.raises(CalibrationError, match=r"^a\.jpg: expected a view of the lens board"):
        find_lens_board(_blank(), "a.jpg")
    with pytest.raises(
        CalibrationError, match=r"^a\.jpg: expected a picture of the whole 9x6 chess"
    ):
        find_chessboard(_blank(), "a.jpg", inner_corners=(9, 6), square_mm=25.0)


def test_table_tags_are_not_taken_for_a_board(rig):
    with pytest.raises(CalibrationError, match="got 0 corners"):
        find_lens_board(rig.grey("empty"), "empty.jpg")


def test_a_corner_of_the_board_is_not_enough():
    picture = _drawn_board(2.0)
    picture[:, 160:] = 128
    with pytest.raises(CalibrationError, match="12 corners or more"):
        find_lens_board(picture, "drawn")
