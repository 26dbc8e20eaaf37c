"""Table tags are found, and their centres are right although gamma pulls their corners inward."""

import cv2
import numpy as np
import pytest

from calibration.errors import CalibrationError
from calibration.extrinsics.table_tags import (
    FOUND_SIGMA_PX,
    SIDES_SIGMA_PX,
    find_tags,
    tag_dictionary,
)
from calibration.extrinsics.tag_sides import fit_sides, meeting_points
from calibration.lens import Lens
from tests.calibration.crossings import square

SQUARE_PX = np.array([[30.3, 31.1], [88.6, 28.2], [91.7, 86.4], [33.4, 90.1]])


def _sigma_px(tag):
    """The mean sigma of a corner."""
    return float(np.sqrt(np.diag(tag.covariance_px2).mean()))


@pytest.mark.parametrize("scene", ["empty", "scene-1", "scene-2"])
def test_the_footages_table_tags_are_found_with_their_centres(rig, scene):
    listed = [tag.id for tag in rig.roster.table_tags]
    tags = find_tags(rig.grey(scene), rig.roster.dictionary, listed, rig.camera.lens)
    assert [tag.id for tag in tags] == listed
    truth = rig.tags(scene)
    off = [tag.corners_px.mean(axis=0) - truth[tag.id].corners_px.mean(axis=0) for tag in tags]
    assert np.linalg.norm(off, axis=1).max() < 0.12
    assert all(_sigma_px(tag) < SIDES_SIGMA_PX for tag in tags)


@pytest.mark.parametrize("blur_px", [0.3, 0.7, 1.5])
def test_a_squares_corners_meet_where_its_sides_do_but_for_a_common_step_inward(blur_px):
    picture = square(120, SQUARE_PX, blur_px=blur_px)
    corners = meeting_points(fit_sides(picture, SQUARE_PX + 0.4, cell_px=10.0))
    towards_middle = SQUARE_PX.mean(axis=0) - SQUARE_PX
    towards_middle /= np.linalg.norm(towards_middle, axis=1, keepdims=True)
    off = corners - SQUARE_PX
    inward = np.sum(off * towards_middle, axis=1).mean()
    assert np.abs(off - inward * towards_middle).max() < 0.05
    assert np.abs(off.mean(axis=0)).max() < 0.02


def test_gamma_pulls_corners_inward_alike_and_leaves_the_centre():
    linear, bent = (
        meeting_points(fit_sides(square(120, SQUARE_PX, gamma=gamma), SQUARE_PX, 10.0))
        for gamma in (1.0, 2.4)
    )
    towards_middle = SQUARE_PX.mean(axis=0) - SQUARE_PX
    moved = np.sum((bent - linear) * towards_middle, axis=1)
    assert (moved > 0).all()
    assert np.abs(bent.mean(axis=0) - linear.mean(axis=0)).max() < 0.02


def test_a_side_bent_by_the_lens_does_not_move_the_corners():
    lens = Lens(1920, 1080, 900.0, 900.0, 960.0, 540.0, k1=-0.1)
    corner = lens.to_directions([[200.0, 200.0]])[0]
    half = 60 / lens.fx_px
    quad = corner + half * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    around = np.concatenate(
        [np.linspace(a, b, 40) for a, b in zip(quad, np.roll(quad, -1, 0), strict=True)]
    )
    shift = np.array([100.0, 100.0])
    picture = square(220, lens.to_pixels(around) - shift)
    there = Lens(220, 220, 900.0, 900.0, 860.0, 440.0, k1=-0.1)
    corners_px = lens.to_pixels(quad) - shift
    straight, bent = (
        meeting_points(fit_sides(picture, corners_px, 15.0, one)) for one in (None, there)
    )
    off_bent, off_straight = (
        np.abs((one - corners_px).mean(axis=0)).max() for one in (bent, straight)
    )
    assert off_bent < 0.02
    assert off_straight > 0.1


def test_a_square_with_something_on_its_side_is_not_fitted():
    picture = square(120, SQUARE_PX)
    picture[20:100, 78:] = 120
    assert fit_sides(picture, SQUARE_PX, 10.0) is None


def test_a_square_that_leaves_the_picture_is_not_fitted():
    assert fit_sides(square(120, SQUARE_PX)[:, :90], SQUARE_PX, 10.0) is None


def _sheet(*, size_px=90, ids=(3, 7)):
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250)
    sheet = np.full((200, 400), 255, np.uint8)
    for number, tag in enumerate(ids):
        at = 40 + 180 * number
        sheet[50 : 50 + size_px, at : at + size_px] = dictionary.generateImageMarker(tag, size_px)
    return cv2.GaussianBlur(sheet, (0, 0), 0.7)


def test_only_tags_that_were_asked_for_are_found():
    assert [tag.id for tag in find_tags(_sheet(), "DICT_4X4_250", [7, 9])] == [7]


def test_a_tag_drawn_on_the_grid_of_pixels_is_found_on_it():
    (tag,) = find_tags(_sheet(), "DICT_4X4_250", [3])
    edges = np.array([[39.5, 49.5], [129.5, 49.5], [129.5, 139.5], [39.5, 139.5]])
    assert np.abs(tag.corners_px - edges).max() < 0.2
    assert np.abs(tag.corners_px.mean(axis=0) - edges.mean(axis=0)).max() < 0.02


def test_of_a_tag_that_is_read_twice_the_larger_one_counts():
    sheet = _sheet(ids=(3,))
    sheet[60:110, 260:310] = cv2.resize(
        sheet[50:140, 40:130], (50, 50), interpolation=cv2.INTER_AREA
    )
    (tag,) = find_tags(sheet, "DICT_4X4_250", [3])
    assert tag.corners_px[:, 0].max() < 140


def test_a_small_tag_is_found_in_the_enlarged_picture_where_it_is():
    sheet = cv2.resize(_sheet(size_px=90), None, fx=0.1, fy=0.1, interpolation=cv2.INTER_AREA)
    sheet = cv2.copyMakeBorder(sheet, 20, 20, 20, 20, cv2.BORDER_CONSTANT, value=255)
    tags = find_tags(sheet, "DICT_4X4_250", [3, 7])
    # Pixel x of the sheet, counted from its left edge, ends up at (x + 0.5) / 10 - 0.5 + 20.
    centres = [tag.corners_px.mean(axis=0) for tag in tags]
    assert np.allclose(centres, [[27.95, 28.95], [45.95, 28.95]], atol=0.3)


def test_a_tag_with_something_on_a_side_is_found_with_less_faith():
    sheet = _sheet(ids=(3,))
    sheet[60:75, 30:46] = 255
    sheet[90:130, 34:42] = 140
    (tag,) = find_tags(sheet, "DICT_4X4_250", [3])
    assert _sigma_px(tag) == pytest.approx(FOUND_SIGMA_PX)


@pytest.mark.parametrize("name", ["DICT_9X9_7", "CORNER_REFINE_NONE", "4X4"])
def test_a_dictionary_that_does_not_exist_is_named(name):
    with pytest.raises(CalibrationError, match=name):
        tag_dictionary(name)
