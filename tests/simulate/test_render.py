from dataclasses import replace

import cv2
import numpy as np
import pytest

from tablecam.simulate.demo import demo_camera, embedded_demo
from tablecam.simulate.rendering.light import PAPER, encoded
from tablecam.simulate.rendering.places import Place
from tablecam.simulate.rendering.render import DEMO_LOOK, PLAIN, Renderer, RenderStyle
from tablecam.simulate.rendering.scene import Hand, Scene

PLACES = {10: Place(110, 90, 12), 11: Place(330, 230, 200), 20: Place(330, 80, 77)}
HAND = Hand("prussian", 110, 90, 90, 1.0)


@pytest.fixture(scope="module")
def plain(roster, camera):
    return Renderer(roster, camera, PLAIN)


@pytest.fixture(scope="module")
def pretty(roster, camera):
    return Renderer(roster, camera)


def _true_corners_px(camera, base_type, place):
    half = base_type.tag_size_mm / 2
    at = place.offset(base_type.tag_forward_mm, base_type.tag_right_mm)
    ends = [
        at.offset(f, r) for f, r in ((half, -half), (half, half), (-half, half), (-half, -half))
    ]
    return camera.to_image([(end.x_mm, end.y_mm, base_type.tag_height_mm) for end in ends])


def _corners_px(picture):
    """The corners of each tag by OpenCV, refined below a pixel, by id."""
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    parameters.cornerRefinementWinSize = 3
    parameters.perspectiveRemovePixelPerCell = 8  # from fewer, OpenCV 4.11 misreads a turned tag
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250)
    corners, ids, _ = cv2.aruco.ArucoDetector(dictionary, parameters).detectMarkers(picture)
    return {int(id): four[0] for id, four in zip(ids.ravel(), corners, strict=True)}


def test_tags_are_where_the_camera_sees_their_true_corners(plain, roster, camera):
    """OpenCV's corners err by some tenths of a pixel, each tag's four about equally inward."""
    offsets = []
    for turn_deg in range(0, 360, 24):
        places = {tag: replace(place, heading_deg=turn_deg) for tag, place in PLACES.items()}
        corners_px = _corners_px(plain.picture(Scene(places), 0))
        for tag in (10, 11):
            truth = _true_corners_px(camera, roster.base_types[0], places[tag])
            assert corners_px[tag] == pytest.approx(truth, abs=0.9)
            offsets.append((corners_px[tag] - truth).mean(axis=0))
    assert np.mean(offsets, axis=0) == pytest.approx([0, 0], abs=0.02)


def test_a_table_tag_is_where_the_roster_says(plain, roster, camera):
    corners_px = _corners_px(plain.picture(Scene({}), 0))[0]
    truth = camera.to_image([(20, 60, 0), (60, 60, 0), (60, 20, 0), (20, 20, 0)])
    assert corners_px.mean(axis=0) == pytest.approx(truth.mean(axis=0), abs=0.05)
    assert corners_px == pytest.approx(truth, abs=0.9)


def test_a_plain_tag_is_black_and_white(plain, camera, roster):
    picture = plain.picture(Scene(PLACES), 0)
    corners = _true_corners_px(camera, roster.base_types[0], PLACES[10])
    middle, corner = corners.mean(axis=0), corners[0]
    rim = corner + (corner - middle) * 0.12
    column, row = np.rint(rim).astype(int)
    assert abs(int(picture[row, column, 0]) - int(encoded(np.float32(PAPER)))) <= 2


def test_the_same_seed_gives_the_same_picture(roster, camera):
    scene = Scene(PLACES, (HAND,))
    one, other = (Renderer(roster, camera).picture(scene, 5) for _ in range(2))
    assert np.array_equal(one, other)


def test_each_frame_has_its_own_noise_of_the_strength_asked_for(roster, camera):
    renderer = Renderer(roster, camera, RenderStyle(noise=3.0, scenery=False))
    scene = Scene(PLACES)
    one, other = (renderer.picture(scene, number).astype(float) for number in (0, 1))
    assert (one - other).std() == pytest.approx(3 * np.sqrt(2), rel=0.05)


def test_a_picture_does_not_depend_on_what_was_drawn_before(roster, camera, pretty):
    for places in (PLACES, PLACES | {10: Place(200, 150, 45)}, {20: Place(60, 200, 3)}):
        drawn = pretty.picture(Scene(places), 0)
    assert np.array_equal(drawn, Renderer(roster, camera).picture(Scene(places), 0))


def test_only_what_moved_changes(pretty, camera):
    before = pretty.picture(Scene(PLACES), 0)
    after = pretty.picture(Scene(PLACES | {20: Place(332, 80, 77)}), 0)
    rows, columns = np.nonzero((before != after).any(axis=2))
    middle = camera.to_image([(331, 80, 3)])[0]
    assert len(rows) > 50
    assert np.abs(columns - middle[0]).max() < 90
    assert np.abs(rows - middle[1]).max() < 90


def test_a_picture_given_away_is_not_drawn_upon_later(pretty):
    before = pretty.picture(Scene(PLACES), 0)
    kept = before.copy()
    pretty.picture(Scene(PLACES, (HAND,)), 1)
    assert np.array_equal(before, kept)


def test_a_hand_hides_the_tags_beneath_it_and_no_others(pretty):
    palm = Hand("prussian", 330, 148, 90)  # its back lies 80 mm behind its fingers
    scene = Scene(PLACES, (palm,))
    assert [pretty.hidden_share(scene, tag) for tag in PLACES] == [0, 0, 1]
    assert pretty.hidden_share(Scene(PLACES), 20) == 0
    assert 20 in _corners_px(pretty.picture(Scene(PLACES), 0))
    assert set(_corners_px(pretty.picture(scene, 0))) == {0, 10, 11}


def test_figures_stand_clear_of_the_tags(leuthen):
    camera, table = demo_camera(1600, 900), embedded_demo()
    scene, clear, touched = table.scene(), 0, 0
    look = replace(DEMO_LOOK, noise=0, scenery=False)
    bare, full = (
        Renderer(leuthen, camera, replace(look, figures=figures)).picture(scene, 0).astype(int)
        for figures in (False, True)
    )
    differs = np.abs(full - bare).max(axis=2) > 40
    for tag, place in scene.places.items():
        square = np.zeros(differs.shape, np.uint8)
        corners = _true_corners_px(camera, leuthen.base_type_by_tag()[tag], place)
        cv2.fillConvexPoly(square, np.rint(corners).astype(np.int32), 1)
        inside = differs[square > 0]
        clear += (~inside).sum()
        touched += inside.sum()
    assert touched < 0.01 * clear


def test_a_base_partly_out_of_the_picture_is_drawn_in_part(pretty, camera):
    edge = camera.to_table([(799.0, 260.0)])[0]
    place = Place(float(edge[0]), float(edge[1]), 30)
    outside = Place(float(edge[0]) + 500, float(edge[1]), 30)
    picture = pretty.picture(Scene({20: place}), 0)
    assert (picture != pretty.picture(Scene({20: outside}), 0)).any()


def test_a_side_that_nobody_knows_gets_a_uniform_too(roster, camera):
    units = tuple(replace(unit, side=f"{unit.side} of mars") for unit in roster.units)
    strange = Renderer(replace(roster, units=units), camera, replace(DEMO_LOOK, scenery=False))
    assert len(_corners_px(strange.picture(Scene(PLACES), 0))) == 4
