"""Whether the simulated tables are as accurate as the benchmark assumes."""

import cv2
import numpy as np
import pytest

from tests.benchmarks.sensors import exposed
from tests.benchmarks.tables import table_pictures


@pytest.fixture(scope="module")
def picture():
    return next(iter(table_pictures(6.0, count=1, resolution="4K", noise_grey=1.0)))


def opencv_corners_px(grey):
    parameters = cv2.aruco.DetectorParameters()
    parameters.minMarkerPerimeterRate = 0.005
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250)
    corners, ids, _ = cv2.aruco.ArucoDetector(dictionary, parameters).detectMarkers(grey)
    return {int(tag): found[0] for tag, found in zip(ids.ravel(), corners, strict=True)}


def test_a_detector_that_knows_nothing_of_us_sees_tags_where_they_are_said_to_be(picture):
    found = opencv_corners_px(picture.grey)
    clear = [tag for tag, true in picture.tags.items() if true.visible == 1 and tag in found]
    assert len(clear) > 50
    away = np.array([found[tag] - picture.tags[tag].corners_px for tag in clear])
    # OpenCV's corners scatter by half a pixel, inward and outward alike.
    assert np.abs(away.mean(axis=(0, 1))).max() < 0.05
    assert np.median(np.hypot(*away.mean(axis=1).T)) < 0.1


def test_a_tag_said_to_be_hidden_looks_unlike_itself(picture):
    """If a quarter is hidden, pixels correlate less with the pattern than on any clear tag."""
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250)
    square = np.array([[0, 0], [48, 0], [48, 48], [0, 48]], np.float32) - 0.5
    likeness = {}
    for tag, true in picture.tags.items():
        to_tag = cv2.getPerspectiveTransform(true.corners_px.astype(np.float32), square)
        seen = cv2.warpPerspective(picture.grey, to_tag, (48, 48)).ravel()
        meant = cv2.resize(
            cv2.aruco.generateImageMarker(dictionary, tag, 6),
            (48, 48),
            interpolation=cv2.INTER_NEAREST,
        )
        likeness[tag] = np.corrcoef(seen, meant.ravel())[0, 1]
    clear = [likeness[tag] for tag, true in picture.tags.items() if true.visible > 0.99]
    hidden = [likeness[tag] for tag, true in picture.tags.items() if true.visible < 0.75]
    assert hidden
    assert max(hidden) < min(clear)


def test_tags_are_as_large_as_was_asked_for(picture):
    sizes = [true.px_per_cell for tag, true in picture.tags.items() if tag < 100]
    assert np.median(sizes) == pytest.approx(6.0, rel=0.03)


@pytest.mark.parametrize("noise_grey", [2.0, 4.0, 8.0])
def test_a_grey_picture_has_the_noise_that_was_asked_for(noise_grey):
    even = np.full((300, 300, 3), 0.4, np.float32)
    picture = exposed(even, noise_grey, np.random.default_rng(1))
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    assert grey.std() == pytest.approx(noise_grey, rel=0.05)


def test_the_same_arguments_give_the_same_picture():
    one, other = (next(iter(table_pictures(2.0, count=1))) for _ in range(2))
    assert one.data == other.data
