from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.camera import Camera
from calibration.intrinsics.board import (
    LENS_BOARD_DICTIONARY,
    LENS_BOARD_MARKER_MM,
    LENS_BOARD_SQUARE_MM,
    LENS_BOARD_SQUARES,
    find_lens_board,
)
from calibration.lens import Lens
from tablecam.simulate.calibration_source import (
    HOLD_S,
    MOVE_S,
    WAVED,
    Held,
    SimulatedCalibration,
    board_pose,
    inner_corners_mm,
    lay_board,
)
from tablecam.simulate.rendering.light import encoded
from tablecam.simulate.rendering.render import PLAIN

LENS = Lens(900, 640, 880, 881, 452.3, 317.1, k1=-0.18, k2=0.03, p1=4e-4, p2=-3e-4)


def _drawn(lens, pose, blur_px=0.6):
    linear = np.full((lens.height_px, lens.width_px, 3), 0.2, dtype=np.float32)
    lay_board(linear, lens, pose, blur_px)
    return cv2.cvtColor(encoded(linear), cv2.COLOR_BGR2GRAY)


def test_the_board_is_opencvs_current_charuco_board():
    """Seen straight on, it is the picture that OpenCV itself prints."""
    lens = Lens(1100, 800, 1000, 1000, 549.5, 399.5)
    pose = board_pose(lens, (549.5, 399.5), 250)  # 4 px a millimetre, 100 a square
    drawn = _drawn(lens, pose, blur_px=0.3)
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, LENS_BOARD_DICTIONARY))
    board = cv2.aruco.CharucoBoard(
        LENS_BOARD_SQUARES, LENS_BOARD_SQUARE_MM, LENS_BOARD_MARKER_MM, dictionary
    )
    printed = board.generateImage((1100, 800), marginSize=0)
    assert np.mean((drawn > 128) != (printed > 128)) < 0.02  # it rounds its cells to whole pixels


@pytest.mark.parametrize(
    ("middle_px", "tilt_deg", "roll_deg"),
    [((452, 317), (0, 0), 0), ((380, 260), (25, -18), 30), ((520, 380), (-20, 28), 175)],
)
def test_the_corners_of_the_board_are_where_the_lens_sees_them(middle_px, tilt_deg, roll_deg):
    pose = board_pose(LENS, middle_px, 460, tilt_deg=tilt_deg, roll_deg=roll_deg)
    view = find_lens_board(_drawn(LENS, pose), "drawn")
    truth = Camera(LENS, pose).to_image(inner_corners_mm())[view.corner_ids]
    assert len(view.corner_ids) >= 60
    assert np.abs(view.corners_px - truth).max() < 0.05


def test_a_pose_puts_the_middle_of_the_board_at_its_pixel():
    pose = board_pose(LENS, (300, 200), 500, tilt_deg=(20, -10), roll_deg=70)
    middle = Camera(LENS, pose).to_image([(137.5, 100, 0)])
    assert middle == pytest.approx(np.array([[300, 200]]), abs=1e-6)


@pytest.fixture(scope="module")
def source(roster, camera):
    return SimulatedCalibration(roster, camera, look=PLAIN, is_paced=False, frames_per_s=4)


def test_the_board_is_held_still_at_each_place(source):
    for number, place in enumerate(WAVED):
        arrived_s = (number + 1) * MOVE_S + number * HOLD_S
        assert source.held_at(arrived_s) == source.held_at(arrived_s + 0.9 * HOLD_S) == place
        assert source.held_at(arrived_s - 0.4 * MOVE_S) != place


def test_the_table_is_left_empty_in_the_end(source):
    assert source.held_at(source.waved_s) is None
    assert source.held_at(source.waved_s - 0.5) is not None


def test_between_two_places_the_board_is_between_them():
    middle = Held(0.2, 0.2, 500).toward(Held(0.4, 0.6, 700, roll_deg=20), 0.5)
    assert middle == Held(pytest.approx(0.3), pytest.approx(0.4), 600, roll_deg=10)


def test_the_waved_board_can_be_found_and_then_the_table(roster, camera):
    place = Held(0.5, 0.5, 620, 15, 10)
    source = SimulatedCalibration(
        roster, camera, look=replace(PLAIN, noise=1.0), is_paced=False, frames_per_s=0.5,
        places=(place,),
    )  # fmt: skip
    frames = [source.read() for _ in range(4)]
    grey = [cv2.cvtColor(frame.image, cv2.COLOR_BGR2GRAY) for frame in frames]
    assert [frame.taken_at_s for frame in frames] == [0, 2, 4, 6]
    view = find_lens_board(grey[1], "held")
    truth = Camera(camera.lens, place.pose(camera.lens)).to_image(inner_corners_mm())
    assert view.corners_px == pytest.approx(truth[view.corner_ids], abs=0.1)
    assert abs(float(grey[3].mean()) - float(grey[0].mean())) < 1
    source.close()
    assert source.read() is None


def test_a_moving_board_is_smeared(roster, camera):
    source = SimulatedCalibration(roster, camera, look=PLAIN, is_paced=False, frames_per_s=20)
    pictures = [source.read().image for _ in range(40)]
    sharpness = [
        cv2.Laplacian(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), cv2.CV_64F).var()
        for picture in (pictures[14], pictures[30])
    ]
    assert source.held_at(30 / 20) == WAVED[0]
    assert sharpness[0] < 0.8 * sharpness[1]
