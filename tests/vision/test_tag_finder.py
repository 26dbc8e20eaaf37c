"""Whole searches of drawn pictures: tags are found, and impossible ones are reported."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tablecam.vision.search.tag_finder import TagFinder, find_tags
from tests.vision.pictures import CAMERA, GUN, ROSTER, Print, cover, picture_of

TABLE_PRINTS = [
    Print(tag.id, tag.x_mm, tag.y_mm, 90.0, ROSTER.table_tag_size_mm, 0.0)
    for tag in ROSTER.table_tags
]
UNIT_PRINTS = [
    Print(10, 120, 150, 0.0),
    Print(11, 165, 150, 93.0),
    Print(12, 210, 150, 181.0),
    Print(13, 255, 150, 275.0),
    Print(20, 210, 90, 30.0, GUN.tag_size_mm),
]
FINDER = TagFinder(CAMERA, ROSTER)


def seen(search):
    return {sighting.tag: sighting for sighting in search.sightings}


def refused(search):
    return {rejection.tag: rejection.reason for rejection in search.rejections}


def test_tags_of_the_table_and_of_every_size_of_base_are_found_where_they_lie():
    search = FINDER.search(picture_of(TABLE_PRINTS + UNIT_PRINTS))
    tags = seen(search)
    assert sorted(tags) == [0, 1, 2, 3, 10, 11, 12, 13, 20]
    assert search.rejections == ()
    for printed in TABLE_PRINTS + UNIT_PRINTS:
        sighting = tags[printed.tag]
        assert math.hypot(sighting.x_mm - printed.x_mm, sighting.y_mm - printed.y_mm) < 0.1
        assert abs((sighting.heading_deg - printed.heading_deg + 180) % 360 - 180) < 0.5
        assert sighting.height_mm == printed.height_mm


def test_corners_are_in_the_picture_from_the_top_left_clockwise():
    each = Print(11, 200, 150, 90.0)
    (sighting,) = FINDER.search(picture_of([each])).sightings
    half = each.size_mm / 2
    signs = [(-1, 1), (1, 1), (1, -1), (-1, -1)]
    corners = [[200 + half * right, 150 + half * up, each.height_mm] for right, up in signs]
    assert np.abs(sighting.corners_px - CAMERA.to_image(np.array(corners))).max() < 0.2


@pytest.mark.parametrize("heading_deg", range(0, 360, 15))
def test_a_tag_is_found_whatever_its_heading(heading_deg):
    (sighting,) = FINDER.search(picture_of([Print(12, 190, 130, heading_deg)])).sightings
    assert abs((sighting.heading_deg - heading_deg + 180) % 360 - 180) < 0.5


@pytest.mark.parametrize(
    "conditions",
    [
        {"light": 0.15, "noise_grey": 4.0},
        {"light": 1.2},
        {"blur_px": 1.1},
        {"blur_px": 0.4, "noise_grey": 8.0},
    ],
    ids=["dark", "glaring", "out of focus", "noisy"],
)
def test_light_focus_and_noise_do_not_matter_much(conditions):
    search = FINDER.search(picture_of(UNIT_PRINTS, **conditions))
    assert sorted(seen(search)) == [10, 11, 12, 13, 20]


def test_figures_that_lean_over_the_rims_of_tags_do_not_hide_them():
    picture = picture_of(UNIT_PRINTS)
    for printed in UNIT_PRINTS:
        ahead = math.radians(printed.heading_deg)
        reach = printed.size_mm / 2 + 4
        cover(
            picture,
            CAMERA,
            printed.x_mm + reach * math.cos(ahead),
            printed.y_mm + reach * math.sin(ahead),
            5.0,
        )
    assert sorted(seen(FINDER.search(picture))) == [10, 11, 12, 13, 20]


def test_a_tag_copied_on_the_table_is_trusted_nowhere():
    search = FINDER.search(picture_of([Print(10, 120, 150, 0.0), Print(10, 250, 90, 45.0)]))
    assert search.sightings == ()
    places = {(round(no.x_mm), round(no.y_mm)) for no in search.rejections}
    assert places == {(120, 150), (250, 90)}
    assert refused(search)[10].startswith("seen 2 times, at (")


def test_a_tag_printed_at_another_bases_size_is_named():
    search = FINDER.search(picture_of([Print(10, 120, 150, 0.0, GUN.tag_size_mm)]))
    assert search.sightings == ()
    assert refused(search) == {10: "measures about 20 mm, but the table file says 15 mm"}


def test_a_tag_beside_the_table_is_named_but_not_on_the_table():
    narrow = replace(ROSTER, table=replace(ROSTER.table, width_mm=380))
    search = find_tags(picture_of([Print(10, 400, 150, 0.0)]), CAMERA, narrow)
    assert search.sightings == ()
    assert refused(search) == {10: "lies at (400, 150) mm, off the table of 380 x 300 mm"}


def test_table_tags_may_lie_beside_the_table():
    right_mm = max(tag.x_mm for tag in ROSTER.table_tags)
    narrow = replace(ROSTER, table=replace(ROSTER.table, width_mm=right_mm - 80))
    search = find_tags(picture_of(TABLE_PRINTS), CAMERA, narrow)
    assert sorted(seen(search)) == [0, 1, 2, 3]
    assert search.rejections == ()


def test_a_base_that_hangs_over_the_edge_is_on_the_table():
    narrow = replace(ROSTER, table=replace(ROSTER.table, width_mm=380))
    search = find_tags(picture_of([Print(10, 385, 150, 0.0)]), CAMERA, narrow)
    assert sorted(seen(search)) == [10]


def test_tags_that_the_table_file_does_not_list_are_never_taken_for_ones_that_it_does():
    strangers = [
        Print(tag, 60 + 38 * (number % 8), 60 + 44 * (number // 8), 17.0 * number)
        for number, tag in enumerate(range(60, 100))
    ]
    search = FINDER.search(picture_of(strangers))
    assert search.sightings == ()


def test_an_empty_table_shows_nothing():
    assert FINDER.search(picture_of([])).sightings == ()
    assert FINDER.search(np.zeros((640, 900), np.uint8)).sightings == ()


def test_a_picture_of_another_size_is_our_own_mistake():
    with pytest.raises(ValueError, match="expected a grey picture of 900x640, got"):
        FINDER.search(np.zeros((480, 640), np.uint8))


def test_a_roster_with_a_single_base_is_searched_too():
    one = replace(
        ROSTER, table_tags=(), units=(replace(ROSTER.units[0], tags=(11,)),), commanders=()
    )
    search = find_tags(picture_of([Print(11, 200, 150, 60.0)]), CAMERA, one)
    assert sorted(seen(search)) == [11]


BOX_MM = np.array([[140.0, 130.0, 190.0, 170.0], [180.0, 110.0, 230.0, 165.0]])
"""Two that overlap, about tags 11 and 12 of `UNIT_PRINTS`."""


def test_boxes_of_the_table_are_searched_as_the_whole_table_is():
    picture = picture_of(TABLE_PRINTS + UNIT_PRINTS)
    whole, part = seen(FINDER.search(picture)), seen(FINDER.search(picture, within_mm=BOX_MM))
    assert sorted(part) == [11, 12]
    for tag, sighting in part.items():
        there = (whole[tag].x_mm, whole[tag].y_mm)
        assert (sighting.x_mm, sighting.y_mm) == pytest.approx(there, abs=0.003)
        # The correlation of neighbouring pixels' errors is measured on the tags fitted together:
        # with two of five tags sigmas differ by a tenth, so their squares by a fifth.
        assert sighting.covariance == pytest.approx(whole[tag].covariance, rel=0.25, abs=1e-6)


@pytest.mark.parametrize("beyond_mm", [0.5, 5.0])
def test_a_tag_that_straddles_the_border_of_a_box_is_found_when_its_centre_lies_inside(beyond_mm):
    picture = picture_of([Print(11, 165, 150, 93.0)])
    inside = np.array([[165 - beyond_mm, 150 - beyond_mm, 300, 300]])
    assert sorted(seen(FINDER.search(picture, within_mm=inside))) == [11]
    assert seen(FINDER.search(picture, within_mm=inside + 3 * beyond_mm)) == {}


def test_what_lies_outside_of_the_boxes_is_carried_over_unseen():
    before = FINDER.search(picture_of(TABLE_PRINTS + UNIT_PRINTS))
    moved = [
        replace(printed, y_mm=200.0) if printed.tag == 13 else printed
        for printed in UNIT_PRINTS[:4]
    ]
    search = FINDER.search(picture_of(moved), before=before, within_mm=BOX_MM)
    assert sorted(seen(search)) == [0, 1, 2, 3, 10, 11, 12, 13, 20]
    assert seen(search)[13] is seen(before)[13]
    nothing = FINDER.search(picture_of(moved), before=before, within_mm=np.empty((0, 4)))
    assert nothing.sightings == before.sightings


def test_a_copy_that_comes_to_lie_in_a_box_is_trusted_as_little_as_its_original_elsewhere():
    before = FINDER.search(picture_of(UNIT_PRINTS))
    copied = picture_of([*UNIT_PRINTS, Print(11, 320, 90, 45.0)])
    box_mm = np.array([[300.0, 70.0, 340.0, 110.0]])
    search = FINDER.search(copied, before=before, within_mm=box_mm)
    assert sorted(seen(search)) == [10, 12, 13, 20]
    assert {round(no.x_mm) for no in search.rejections} == {165, 320}
    # When the copy is removed, the original is trusted again.
    after = FINDER.search(picture_of(UNIT_PRINTS), before=search, within_mm=box_mm)
    assert sorted(seen(after)) == [10, 11, 12, 13, 20]
    assert after.rejections == ()


def test_refit_leaves_out_what_moved_and_what_is_gone():
    before = FINDER.search(picture_of(UNIT_PRINTS))
    later = [
        replace(printed, x_mm=printed.x_mm + 1.0 * (printed.tag == 12))
        for printed in UNIT_PRINTS[1:]
    ]
    again = FINDER.refit(picture_of(later, seed=1), before.sightings, blur_px=before.blur_px)
    assert sorted(sighting.tag for sighting in again) == [11, 13, 20]


def test_a_camera_that_moved_a_little_or_much_finds_its_tags_where_they_lie():
    picture = picture_of(UNIT_PRINTS)
    for beside_mm in (0.5, 40.0):
        x_mm, y_mm, z_mm = CAMERA.pose.translation_mm
        moved = replace(
            CAMERA, pose=replace(CAMERA.pose, translation_mm=(x_mm + beside_mm, y_mm, z_mm))
        )
        search = FINDER.with_camera(moved).search(picture)
        assert sorted(seen(search)) == [10, 11, 12, 13, 20]
        for tag, sighting in seen(FINDER.search(picture)).items():
            there = moved.to_table([CAMERA.to_image([[sighting.x_mm, sighting.y_mm, 3.0]])[0]], 3.0)
            assert np.hypot(*(there[0] - [seen(search)[tag].x_mm, seen(search)[tag].y_mm])) < 0.05
