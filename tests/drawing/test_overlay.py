"""The drawing: everything in its place, at any size, and nothing else changed."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.drawing.labels import Labels
from tablecam.drawing.overlay import UNCERTAIN_MM, Overlay
from tablecam.drawing.pen import REFUSED, Pen
from tablecam.drawing.report import picture_report
from tablecam.drawing.shape_style import SIDES
from tablecam.vision.detection.exposure import exposure
from tablecam.vision.detection.sighting import Rejection, SearchResult
from tablecam.vision.registration.registration import register
from tablecam.vision.search.tag_finder import find_tags
from tests.vision.pictures import CAMERA, FOOT, ROSTER, Print, picture_of
from tests.vision.sightings import base_poses

TABLE_TAGS = [Print(tag.id, tag.x_mm, tag.y_mm, 90.0, 36, 0.0) for tag in ROSTER.table_tags]


def scaled(factor):
    """The drawn camera with `factor` times the pixels each way."""
    lens = CAMERA.lens
    share = {name: getattr(lens, name) * factor for name in ("fx_px", "fy_px")}
    centre = {name: (getattr(lens, name) + 0.5) * factor - 0.5 for name in ("cx_px", "cy_px")}
    sides = {"width_px": lens.width_px * factor, "height_px": lens.height_px * factor}
    return replace(CAMERA, lens=replace(lens, **share, **centre, **sides))


@pytest.fixture(scope="module")
def grey():
    return picture_of([Print(10, 120, 150, 0.0), *TABLE_TAGS])


@pytest.fixture(scope="module")
def search_result(grey):
    return find_tags(grey, CAMERA, ROSTER)


def enlarged(search_result, factor):
    """A flat grey picture of `factor` times the pixels each way, and the search result to match."""
    camera = scaled(factor)
    sightings = tuple(
        replace(tag, corners_px=(tag.corners_px + 0.5) * factor - 0.5)
        for tag in search_result.sightings
    )
    flat = np.full((camera.lens.height_px, camera.lens.width_px), 120, np.uint8)
    return flat, replace(search_result, sightings=sightings), camera


def drawn(grey, search, camera=CAMERA, **changes):
    """The picture, and what was drawn of a search of it."""
    picture = np.repeat(grey[..., None], 3, axis=2)
    own = [sighting for sighting in search.sightings if sighting.tag == 10]
    poses = {
        pose.tag: replace(pose, **changes) for pose in base_poses(own, [FOOT] * len(own), camera)
    }
    registration = register(search.sightings, camera, ROSTER)
    light = exposure(grey, search.sightings)
    report = picture_report(search, registration, camera, ROSTER, exposure=light)
    before = picture.copy()
    result = Overlay(camera, ROSTER).draw(picture, search, poses, report)
    assert (picture == before).all()
    return picture, result


def is_marked(picture, result, places, camera=CAMERA, height_mm=3.0, reach=2):
    changed = (result[:, : picture.shape[1]] != picture).any(axis=2)
    points = np.hstack([places, np.full((len(places), 1), height_mm)])
    return [
        changed[y - reach : y + reach + 1, x - reach : x + reach + 1].any()
        for x, y in camera.to_image(points).round().astype(int)
    ]


def share_of(colour, result, place, camera=CAMERA, reach=3):
    ((x, y),) = camera.to_image([[*place, 3.0]]).round().astype(int)
    patch = result[y - reach : y + reach + 1, x - reach : x + reach + 1]
    return float((np.abs(patch.astype(int) - colour).sum(axis=2) < 40).mean())


def test_bases_are_outlined_and_the_rest_of_the_table_is_left_alone(grey, search_result):
    picture, result = drawn(grey, search_result)
    # The base lies 10 mm ahead of its tag at 120, 150: from 110 to 150 along x, 130 to 170 in y.
    assert all(is_marked(picture, result, [[150, 140], [130, 170], [110, 150], [130, 130]]))
    assert not any(is_marked(picture, result, [[220, 230], [300, 100]], reach=20))


def test_the_front_edge_is_the_thickest(grey, search_result):
    _, result = drawn(grey, search_result)
    colour = np.array(SIDES[0])
    front = share_of(colour, result, (150, 142))
    assert front > 1.6 * share_of(colour, result, (110, 142))


def test_an_uncertain_base_is_drawn_in_dashes_and_says_how_uncertain(search_result):
    flat, search, camera = enlarged(search_result, 3)
    _, sure = drawn(flat, search, camera, sigma_mm=UNCERTAIN_MM - 0.01)
    picture, unsure = drawn(flat, search, camera, sigma_mm=UNCERTAIN_MM + 0.3)
    rear = [(110, 150 + step) for step in np.arange(-17, 18)]
    colour = np.array(SIDES[0])

    def gaps(result):
        return sum(share_of(colour, result, place, camera, reach=1) < 0.2 for place in rear)

    assert gaps(sure) == 0
    assert gaps(unsure) >= 8
    assert (sure[:, : picture.shape[1]] != unsure[:, : picture.shape[1]]).any()


def test_a_refused_tag_is_crossed_out_where_it_lies_and_explained_in_the_margin(
    grey, search_result
):
    off = Rejection(11, "lies off the table", 300.0, 100.0)
    refused = SearchResult(search_result.sightings, (off,), search_result.blur_px)
    picture, result = drawn(grey, refused)
    assert share_of(np.array(REFUSED), result, (300.0, 100.0)) > 0.3
    margin = result[:, picture.shape[1] :]
    red = np.abs(margin.astype(int) - REFUSED).sum(axis=2) < 40
    assert red.any()  # the disc with its number
    _, without = drawn(grey, search_result)
    assert margin.shape == without[:, picture.shape[1] :].shape


def test_the_margin_is_added_beside_the_picture_and_covers_nothing(grey, search_result):
    picture, result = drawn(grey, SearchResult(()))
    assert result.shape[0] == picture.shape[0]
    assert result.shape[1] > 1.2 * picture.shape[1]
    assert (result[:, : picture.shape[1]] == picture).all()


def test_a_margin_with_much_to_say_gets_more_columns(grey, search_result):
    places = 9 * "and there "
    many = tuple(Rejection(11, f"lies there {places}{n}", 20.0, 20.0) for n in range(30))
    _, brief = drawn(grey, search_result)
    _, long = drawn(grey, replace(search_result, rejections=many))
    assert long.shape[1] > brief.shape[1] + 300


def test_strokes_and_letters_grow_with_the_picture(search_result):
    """Drawn on twice the pixels and made small again, it is the same drawing."""
    results = []
    for factor in (2, 4):
        flat, search, camera = enlarged(search_result, factor)
        results.append(drawn(flat, search, camera)[1])
    height, width = results[0].shape[:2]
    assert results[1].shape[0] == 2 * height
    assert results[1].shape[1] == pytest.approx(2 * width, abs=4)
    shrunk = cv2.resize(results[1], (width, height), interpolation=cv2.INTER_AREA)
    box = scaled(2).to_image([[100, 180, 3], [160, 120, 3]]).round().astype(int)
    (left, top), (right, bottom) = box.min(axis=0), box.max(axis=0)
    one, other = (each[top:bottom, left:right].astype(float) for each in (results[0], shrunk))
    # Strokes are whole pixels wide: up to a third of a pixel more or less on either side, between
    # dark colours and their white casing.
    assert np.corrcoef(one.ravel(), other.ravel())[0, 1] > 0.75


boxes = st.lists(
    st.tuples(st.floats(0, 800), st.floats(0, 500), st.floats(5, 120), st.floats(5, 90)),
    max_size=12,
)


@given(boxes, st.floats(20, 120), st.floats(8, 30))
def test_labels_stay_in_the_picture_and_off_whatever_leaves_them_room(taken, width, height):
    taken = [np.array([x, y, x + wide, y + tall]) for x, y, wide, tall in taken]
    labels = Labels(900.0, 600.0, list(taken))
    about = np.array([400.0, 280.0, 460.0, 320.0])
    middle = labels.place(about, (width, height), gap_px=4.0)
    half = np.array([width, height]) / 2
    low, high = middle - half, middle + half
    assert (low >= -1e-6).all()
    assert (high <= [900.0 + 1e-6, 600.0 + 1e-6]).all()
    if not taken:
        # If free to choose, a label lies right beside its subject.
        apart = np.maximum(about[:2] - high, low - about[2:]).max()
        assert apart == pytest.approx(4.0)


def test_names_of_neighbours_do_not_lie_on_each_other():
    labels = Labels(900.0, 600.0)
    about = np.array([400.0, 280.0, 460.0, 320.0])
    first = labels.place(about, (60.0, 12.0), gap_px=4.0)
    second = labels.place(about, (60.0, 12.0), gap_px=4.0)
    assert (np.abs(first - second) >= [60.0, 12.0]).any()


def test_nothing_is_drawn_where_a_place_is_not_in_the_world_of_the_camera():
    picture = np.zeros((100, 100, 3), np.uint8)
    nowhere = np.array([[np.nan, 5.0], [9.0, 9.0], [20.0, 3.0]])
    pen = Pen(picture, 1.0)
    pen.lines(nowhere, (255, 255, 255), closed=True)
    pen.dashes(nowhere, (255, 255, 255))
    pen.area(nowhere, (255, 255, 255))
    pen.area(nowhere[1:] + 500, (255, 255, 255))
    pen.words("nowhere", nowhere[0], (255, 255, 255))
    assert not picture.any()
