"""Whole searches of drawn pictures: what is there is found, what cannot be is named."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tablecam.vision.find import TagFinder, find_tags
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
    return {rejection.tag: rejection.because for rejection in search.rejections}


def test_tags_of_the_table_and_of_every_size_of_base_are_found_where_they_lie():
    search = FINDER.search(picture_of(TABLE_PRINTS + UNIT_PRINTS))
    found = seen(search)
    assert sorted(found) == [0, 1, 2, 3, 10, 11, 12, 13, 20]
    assert search.rejections == ()
    for each in TABLE_PRINTS + UNIT_PRINTS:
        sighting = found[each.tag]
        assert math.hypot(sighting.x_mm - each.x_mm, sighting.y_mm - each.y_mm) < 0.1
        assert abs((sighting.heading_deg - each.heading_deg + 180) % 360 - 180) < 0.5
        assert sighting.height_mm == each.height_mm


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
    for each in UNIT_PRINTS:
        ahead = math.radians(each.heading_deg)
        reach = each.size_mm / 2 + 4
        cover(
            picture,
            CAMERA,
            each.x_mm + reach * math.cos(ahead),
            each.y_mm + reach * math.sin(ahead),
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
    assert refused(search) == {10: "looks about 20 mm wide, the table file says 15 mm"}


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
