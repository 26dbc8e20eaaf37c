"""The targets on rendered photographs of whole battles, with the camera as a user calibrates it."""

from dataclasses import replace

import numpy as np
import pytest

from tablecam.table.headings import difference_deg
from tablecam.vision.search.tag_finder import TagFinder
from tests.footage import Clip, Rig
from tests.vision.sightings import base_poses

SCENES = [("uhd-b", "scene-1"), ("uhd-b", "scene-2"), ("hd-b", "scene-1"), ("hd-b", "scene-2")]
MOST_MEDIAN_PX = {"uhd-b": 0.11, "hd-b": 0.045}
MOST_MEDIAN_DEG = {"uhd-b": 0.4, "hd-b": 0.3}


@pytest.fixture(scope="module")
def rigs(shared, kept):
    return {name: Rig(shared / "footage" / name, kept) for name in MOST_MEDIAN_PX}


@pytest.fixture(scope="module")
def searches(rigs):
    """A search of every scene with the calibration found from lens views and empty table."""
    finders = {name: TagFinder(rig.found_camera, rig.roster) for name, rig in rigs.items()}
    return {
        (name, scene): finders[name].search(rigs[name].grey(scene))
        for name in rigs
        for scene in ("empty", "scene-1", "scene-2")
    }


@pytest.mark.parametrize(("name", "scene"), SCENES)
def test_centres_are_right_to_hundredths_of_a_pixel(rigs, searches, name, scene):
    true = rigs[name].tags(scene)
    off_px = [
        np.hypot(*(sighting.corners_px - true[sighting.tag].corners_px).mean(axis=0))
        for sighting in searches[name, scene].sightings
    ]
    assert np.median(off_px) <= MOST_MEDIAN_PX[name]


def wrong_tags(search, true_tags):
    """Tags reported more than half a tag from their true places."""
    wrong = []
    for sighting in search.sightings:
        true = true_tags.get(sighting.tag)
        middle_px = sighting.corners_px.mean(axis=0)
        if true is None or np.hypot(*(true.corners_px.mean(axis=0) - middle_px)) > 3 * (
            true.px_per_cell
        ):
            wrong.append(sighting.tag)
    return wrong


@pytest.mark.parametrize(("name", "scene"), SCENES)
def test_nearly_all_tags_that_can_be_read_are_found(rigs, searches, name, scene):
    true = rigs[name].tags(scene)
    tags = {sighting.tag for sighting in searches[name, scene].sightings}
    # The target applies from 3 px a cell; tags of the 1080p camera have 2.3 to 2.7.
    readable = [tag for tag, seen in true.items() if seen.visible >= 0.85]
    missed = [tag for tag in readable if tag not in tags]
    assert len(missed) <= 0.03 * len(readable), missed


@pytest.mark.parametrize("scene", ["empty", "scene-1", "scene-2"])
@pytest.mark.parametrize("name", MOST_MEDIAN_PX)
def test_no_tag_is_taken_for_another(rigs, searches, name, scene):
    assert wrong_tags(searches[name, scene], rigs[name].tags(scene)) == []


@pytest.mark.parametrize(("name", "scene"), SCENES)
def test_bases_are_where_they_truly_are_as_nearly_as_is_said(rigs, searches, name, scene):
    rig, true = rigs[name], rigs[name].bases(scene)
    types = rig.roster.base_type_by_tag()
    mine = [sighting for sighting in searches[name, scene].sightings if sighting.tag in true]
    poses = base_poses(mine, [types[sighting.tag] for sighting in mine], rig.found_camera)
    away = np.array(
        [[pose.x_mm - true[pose.tag].x_mm, pose.y_mm - true[pose.tag].y_mm] for pose in poses]
    )
    turned = np.array(
        [difference_deg(pose.heading_deg, true[pose.tag].heading_deg) for pose in poses]
    )
    distances = np.hypot(*away.T)
    assert np.median(distances) <= 0.12
    assert np.percentile(distances, 95) <= 0.30
    assert distances.max() <= 0.8
    assert np.median(np.abs(turned)) <= MOST_MEDIAN_DEG[name]
    assert np.percentile(np.abs(turned), 95) <= 1.0
    within = np.abs(away) / np.array([[pose.sigma_mm] for pose in poses])
    assert 0.6 <= (within < 1).mean() <= 0.9
    assert (within < 2).mean() >= 0.9


@pytest.mark.parametrize(("name", "scene"), SCENES)
def test_tags_that_no_table_file_lists_are_not_taken_for_ones_that_it_does(rigs, name, scene):
    rig = rigs[name]
    used = {*rig.roster.base_type_by_tag(), *(tag.id for tag in rig.roster.table_tags)}
    free = [tag for tag in range(250) if tag not in used]
    strangers = tuple(
        replace(rig.roster.units[0], id=f"{kind.name}", base_type=kind, tags=tuple(free[start::3]))
        for start, kind in enumerate(rig.roster.base_types)
    )
    other = replace(rig.roster, units=strangers, commanders=())
    search = TagFinder(rig.camera, other).search(rig.grey(scene))
    assert {sighting.tag for sighting in search.sightings} <= {0, 1, 2, 3}


def test_a_hand_over_the_table_makes_no_tag_another(shared):
    clip = Clip(shared / "footage" / "clip-b")
    finder = TagFinder(clip.camera, clip.roster)
    types = clip.roster.base_type_by_tag()
    for grey, true in clip.frames(every=15):
        seen = {sighting.tag: sighting for sighting in finder.search(grey).sightings}
        missed = [tag for tag in true["visible"] if tag not in seen]
        assert len(missed) <= 0.05 * len(true["visible"])
        bases = {base["tag"]: base for unit in true["position"]["units"] for base in unit["bases"]}
        mine = [sighting for tag, sighting in seen.items() if tag in bases]
        for pose in base_poses(mine, [types[sighting.tag] for sighting in mine], clip.camera):
            base = bases[pose.tag]
            assert np.hypot(pose.x_mm - base["x_mm"], pose.y_mm - base["y_mm"]) < 2.0, pose.tag
