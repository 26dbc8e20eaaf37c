"""A gun or a commander has no neighbours: if half hidden, its size and visible cells name it."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from tablecam.table.roster import UnitEntry
from tablecam.vision.fitting.dictionary import tag_patterns
from tablecam.vision.identification.unit_neighbours import UnitNeighbours
from tablecam.vision.search.tag_finder import TagFinder
from tests.vision.pictures import CAMERA, FOOT, GUN, ROSTER, Print, picture_of

SMALL_GUN = replace(GUN, tag_size_mm=16.5)
"""A tenth larger than the infantry's: nearly the same to look at."""
LONE = replace(
    ROSTER,
    base_types=(FOOT, SMALL_GUN),
    units=(
        ROSTER.units[0],
        *(UnitEntry(f"A{tag}", "french", "artillery", SMALL_GUN, (tag,)) for tag in (20, 21, 22)),
    ),
)
FINDER = TagFinder(CAMERA, LONE)
LINE = [Print(tag, 200, 230 - 40 * place, 0.0) for place, tag in enumerate((10, 11, 12, 13))]
GUN_AT = (320, 150)


def gun(tag, size_mm=SMALL_GUN.tag_size_mm):
    return Print(tag, *GUN_AT, 25.0, size_mm)


def with_smoke(prints, spots_mm, *, radius_px=5):
    """The picture with white puffs at these offsets from the gun's tag."""
    picture = picture_of(prints)
    for x_mm, y_mm in spots_mm:
        spot_mm = np.array([[GUN_AT[0] + x_mm, GUN_AT[1] + y_mm, 3.0]])
        ((x_px, y_px),) = CAMERA.to_image(spot_mm)
        cv2.circle(picture, (round(x_px), round(y_px)), radius_px, 225, -1, cv2.LINE_AA)
    return picture


def names(picture):
    return sorted(seen.tag for seen in FINDER.search(picture).sightings)


BEHIND = [(-7, 1), (-5, 7), (-3, -6)]
BESIDE = [(0, 6), (4, 6), (-4, 5), (6, 2)]
ALL_OVER = [(x_mm, y_mm) for x_mm in (-4, 0, 4) for y_mm in (-4, 0, 4)]


@pytest.mark.parametrize("tag", [20, 21, 22])
@pytest.mark.parametrize("puffs", [BEHIND, BESIDE], ids=["behind", "beside"])
def test_a_gun_half_under_smoke_is_named(tag, puffs):
    assert names(with_smoke([*LINE, gun(tag)], puffs)) == [10, 11, 12, 13, tag]


@pytest.mark.parametrize("stranger", [57, 130, 201])
@pytest.mark.parametrize("size_mm", [FOOT.tag_size_mm, SMALL_GUN.tag_size_mm])
def test_a_tag_of_no_list_half_under_smoke_is_given_no_gun_s_name(stranger, size_mm):
    assert names(with_smoke([*LINE, gun(stranger, size_mm)], BEHIND)) == [10, 11, 12, 13]


def test_a_gun_that_shows_nothing_of_its_pattern_is_not_named():
    assert names(with_smoke([*LINE, gun(20)], ALL_OVER)) == [10, 11, 12, 13]


def test_only_what_has_no_other_base_in_its_unit_is_lone():
    ids = [0, 10, 11, 12, 13, 20, 21, 22]
    mates = UnitNeighbours.of(LONE, tag_patterns(LONE.dictionary, ids))
    assert mates.is_isolated.tolist() == [True, False, False, False, False, True, True, True]
