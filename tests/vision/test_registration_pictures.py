"""Bumps in rendered and simulated pictures, compared with the true camera."""

import numpy as np
import pytest

from calibration.grey import to_grey
from tablecam.simulate.demo import demo_camera, demo_roster
from tablecam.simulate.rendering.mount import Tilt
from tablecam.simulate.rendering.render import PLAIN, Renderer
from tablecam.simulate.rendering.scene import Scene
from tablecam.vision.registration.hypotheses import locate_camera_roughly
from tablecam.vision.registration.registration import register
from tablecam.vision.search.tag_finder import TagFinder
from tests.footage import Rig
from tests.vision.table_tags import places_mm


def _errors_mm(camera, true, roster):
    """The camera's errors of places on the table, (63,)."""
    places = places_mm(roster)
    seen_px = true.to_image(np.column_stack([places, np.zeros(len(places))]))
    return np.linalg.norm(camera.to_table(seen_px) - places, axis=1)


def _registered(grey, believed, roster, before):
    """The camera after three looks at a picture, as in the live loop, and the registration."""
    news = ""
    for look in range(3):
        sightings = TagFinder(believed, roster).search(grey).sightings
        before = register(sightings, believed, roster, before=before, taken_at_s=0.1 * (look + 1))
        news, believed = news or before.news, before.camera or believed
    return believed, news, before


@pytest.fixture(scope="module")
def rig(shared, kept):
    return Rig(shared / "footage" / "hd-b", kept)


@pytest.mark.parametrize("tilt", [Tilt(12, -9), Tilt(-15, 0, 0.5), Tilt(40, 45, -1.0)])
def test_a_bump_in_the_footage_costs_no_more_than_the_calibration_did(rig, tilt):
    """The camera is assumed to hang as before a bump; the picture is from after it."""
    camera_before = rig.found_camera
    before = _errors_mm(camera_before, rig.camera, rig.roster)
    camera, news, _ = _registered(rig.grey("scene-1"), tilt.of(camera_before), rig.roster, None)
    after = _errors_mm(camera, rig.camera, rig.roster)
    assert news.startswith("The camera was bumped by ")
    assert np.median(after) <= 1.5 * np.median(before)
    assert after.max() <= 1.5 * before.max()


def test_a_calibrated_camera_that_nobody_touched_stays_as_it_is(rig):
    finder, said = TagFinder(rig.found_camera, rig.roster), None
    for look, scene in enumerate(("empty", "scene-1", "scene-2", "empty")):
        sightings = finder.search(rig.grey(scene)).sightings
        said = register(sightings, rig.found_camera, rig.roster, before=said, taken_at_s=0.1 * look)
        assert (said.state, said.camera, dict(said.displaced_mm)) == ("holds", None, {})


def test_a_camera_knocked_far_aside_is_found_by_the_last_resort():
    roster, camera = demo_roster(), demo_camera(1280, 720)
    renderer = Renderer(roster, camera, PLAIN)
    finder = TagFinder(camera, roster)
    before = to_grey(renderer.picture(Scene({}), 0))
    said = register(finder.search(before).sightings, camera, roster)
    tilt = Tilt(-250, 60, 5.0, lower_mm=-150)
    after = to_grey(renderer.picture(Scene({}, tilt=tilt), 1))
    assert len(finder.search(after).sightings) < 3
    rough = locate_camera_roughly(after, camera, roster)
    assert rough is not None
    registered, news, last = _registered(after, rough, roster, said)
    assert news.startswith("The camera was bumped by 3")
    assert last.is_trusted
    assert _errors_mm(registered, tilt.of(camera), roster).max() < 0.1


def test_a_picture_without_table_tags_tells_no_camera():
    dark = np.zeros((720, 1280), dtype=np.uint8)
    assert locate_camera_roughly(dark, demo_camera(1280, 720), demo_roster()) is None
