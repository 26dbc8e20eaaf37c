"""Flush rows: what they tell of headings, and that they do not lie of bases that have play."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tablecam.table.headings import difference_deg, forward
from tablecam.table.roster import BaseType
from tablecam.vision.search.tag_finder import TagFinder
from tablecam.vision.tracking.bases import BaseSighting
from tablecam.vision.tracking.row_alignment import (
    UNKNOWN_PLAY_DEG,
    flush_rows,
    play_deg,
    straightened,
)
from tablecam.vision.tracking.tracking import BaseTracker
from tests.footage import Rig
from tests.vision.sightings import CAMERA, ROSTER, sighting

KIND = BaseType("foot", 40, 40, 14, tag_right_mm=4, tag_forward_mm=-8)
FIT_MM, FIT_DEG = 0.06, 0.3
SCENES = [("uhd-b", "scene-1"), ("uhd-b", "scene-2"), ("hd-b", "scene-1"), ("hd-b", "scene-2")]


def row(count=4, heading_deg=30.0, first_tag=10, gap_mm=0.0):
    """Bases side by side from left to right, exactly flush but for the gap."""
    ahead_x, ahead_y = forward(heading_deg)
    return [
        BaseSighting(
            first_tag + number,
            KIND,
            x_mm=500 + number * (40 + gap_mm) * ahead_y,
            y_mm=300 - number * (40 + gap_mm) * ahead_x,
            heading_deg=heading_deg,
            fit_mm=FIT_MM,
            fit_deg=FIT_DEG,
        )
        for number in range(count)
    ]


def tags_of(rows):
    return [[base.tag for base in row] for row in rows]


@pytest.mark.parametrize("heading_deg", [0.0, 30.0, 135.0, 359.9])
def test_bases_side_by_side_are_a_row_from_left_to_right_however_they_are_listed(heading_deg):
    bases = row(heading_deg=heading_deg)
    assert tags_of(flush_rows([bases[2], bases[0], bases[3], bases[1]])) == [[10, 11, 12, 13]]


def test_bases_that_may_lie_right_of_each_other_end_a_row():
    left, first, second = row(3, heading_deg=90.0)
    # As badly known as this, it may well face the other way.
    unsure = [replace(base, fit_deg=70.0) for base in (first, replace(second, heading_deg=270.0))]
    assert tags_of(flush_rows([left, *unsure])) == [[10, 11, 12]]


def test_a_gap_a_step_or_a_turn_beyond_what_fits_leave_open_parts_a_row():
    bases = row()
    ahead_x, ahead_y = forward(30.0)
    last = bases[-1]
    gap = replace(last, x_mm=last.x_mm + 0.5 * ahead_y, y_mm=last.y_mm - 0.5 * ahead_x)
    step = replace(last, x_mm=last.x_mm + 1.5 * ahead_x, y_mm=last.y_mm + 1.5 * ahead_y)
    turn = replace(last, heading_deg=32.0)
    for loose in (gap, step, turn):
        assert tags_of(flush_rows([*bases[:3], loose])) == [[10, 11, 12]]


def test_bases_one_behind_the_other_or_alone_are_no_row():
    first = row()[0]
    ahead_x, ahead_y = forward(30.0)
    behind = replace(first, tag=11, x_mm=first.x_mm - 40 * ahead_x, y_mm=first.y_mm - 40 * ahead_y)
    assert flush_rows([first, behind]) == ()
    assert flush_rows([first]) == ()
    assert flush_rows([]) == ()


def test_a_row_turns_a_base_about_its_tag():
    bases = row()
    odd = replace(bases[1], heading_deg=30.6)
    rows = flush_rows([bases[0], odd, *bases[2:]])
    better = straightened(rows, play_deg=0.0)[odd.tag]
    assert abs(difference_deg(better.heading_deg, 30.0)) < 0.1
    assert better.fit_deg < 0.2 * FIT_DEG
    assert better.fit_mm < odd.fit_mm
    assert tag_place(better) == pytest.approx(tag_place(odd))


def tag_place(base):
    (ahead_x, ahead_y), kind = forward(base.heading_deg), base.base_type
    return (
        base.x_mm + kind.tag_forward_mm * ahead_x + kind.tag_right_mm * ahead_y,
        base.y_mm + kind.tag_forward_mm * ahead_y - kind.tag_right_mm * ahead_x,
    )


def test_much_play_leaves_each_base_as_its_tag_says():
    rows = flush_rows([replace(base, heading_deg=30.0 + base.tag % 2) for base in row()])
    for base in rows[0]:
        better = straightened(rows, play_deg=20.0)[base.tag]
        assert better.heading_deg == pytest.approx(base.heading_deg, abs=0.01)
        assert better.fit_deg == pytest.approx(base.fit_deg, rel=0.01)


def test_a_table_without_rows_says_nothing_of_play():
    assert play_deg([]) == UNKNOWN_PLAY_DEG


@pytest.mark.parametrize("true_play_deg", [0.0, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("fits_overstate", [1.0, 2.5])
def test_headings_together_are_no_worse_than_alone_and_not_sold_as_surer(
    true_play_deg, fits_overstate
):
    """Whatever play bases have, and though fits are better than they say."""
    alone, together, in_sigmas = [], [], []
    for seed in range(12):
        units, true = table_with_play(true_play_deg, fits_overstate, seed)
        rows = [row for unit in units for row in flush_rows(unit)]
        better = straightened(rows, play_deg(rows))
        for base in (base for unit in units for base in unit if base.tag in better):
            after = better[base.tag]
            alone.append(abs(difference_deg(base.heading_deg, true[base.tag])))
            together.append(abs(difference_deg(after.heading_deg, true[base.tag])))
            in_sigmas.append(together[-1] / after.fit_deg)
    # A hundredth is what chance leaves of some 700 bases' median.
    assert np.median(together) <= np.median(alone) * 1.05 + 0.01
    if true_play_deg == 0:
        assert np.median(together) <= 0.6 * np.median(alone)
    # Play is taken for as much as it may be, so that sigmas are rather too wide than too narrow.
    assert (np.array(in_sigmas) < 1).mean() >= 0.60
    assert (np.array(in_sigmas) < 2).mean() >= 0.91


def table_with_play(play, fits_overstate, seed):
    """Twenty rows of four whose bases are turned by play and stand out by as much, as seen."""
    generator = np.random.default_rng(seed)
    units, true = [], {}
    for first_tag in range(10, 90, 4):
        heading_deg = generator.uniform(0, 360)
        unit = []
        for base in row(heading_deg=heading_deg, first_tag=first_tag):
            turned_deg = heading_deg + generator.normal(0, play)
            out_mm = generator.normal(0, math.radians(play) * 20, 2)
            true[base.tag] = turned_deg
            seen_mm = generator.normal(0, FIT_MM / fits_overstate, 2)
            unit.append(
                replace(
                    base,
                    x_mm=base.x_mm + out_mm[0] + seen_mm[0],
                    y_mm=base.y_mm + out_mm[1] + seen_mm[1],
                    heading_deg=turned_deg + generator.normal(0, FIT_DEG / fits_overstate),
                )
            )
        units.append(unit)
    return units, true


def test_the_tracker_shows_a_row_at_rest_straighter_than_its_tags():
    crooked = [sighting(10, 500, 300, 90.3), sighting(11, 540, 300, 89.7)]
    bases = BaseTracker(ROSTER, CAMERA).update(crooked, 0.0)
    for base, tag in zip(bases, crooked, strict=True):
        assert abs(base.pose.heading_deg - 90) < abs(tag.heading_deg - 90)
        assert base.pose.sigma_deg < base.rest.sigma_deg
        assert base.rest.heading_deg == tag.heading_deg


def test_a_base_of_a_row_that_moves_off_is_shown_as_its_tag_says():
    tracker = BaseTracker(ROSTER, CAMERA)
    tracker.update([sighting(10, 500, 300, 90.3), sighting(11, 540, 300, 89.7)], 0.0)
    left, gone = tracker.update([sighting(10, 500, 300, 90.3), sighting(11, 560, 320, 89.7)], 0.1)
    assert left.pose.heading_deg == pytest.approx(90.3)
    assert gone.pose.heading_deg == pytest.approx(89.7)


def test_a_base_whose_neighbour_was_taken_off_is_shown_as_its_tag_says():
    tracker = BaseTracker(ROSTER, CAMERA)
    tracker.update([sighting(10, 500, 300, 90.3), sighting(11, 540, 300, 89.7)], 0.0)
    tracker.forget(11)
    (left,) = tracker.bases(0.0)
    assert left.pose.heading_deg == pytest.approx(90.3)


@pytest.fixture(scope="module")
def rigs(shared):
    return {name: Rig(shared / "footage" / name) for name in ("uhd-b", "hd-b")}


@pytest.mark.parametrize(("name", "scene"), SCENES)
def test_on_photographs_rows_better_headings_and_places(rigs, name, scene):
    rig = rigs[name]
    true, camera = rig.bases(scene), rig.camera
    sightings = TagFinder(camera, rig.roster).search(rig.grey(scene)).sightings
    bases = BaseTracker(rig.roster, camera).update(sightings, 0.0)
    pairs = [(base.rest, base.pose, true[base.tag]) for base in bases if base.tag in true]
    alone, together = (
        np.array([abs(difference_deg(each[i].heading_deg, each[2].heading_deg)) for each in pairs])
        for i in (0, 1)
    )
    in_row = together != alone
    assert in_row.mean() >= 0.6
    assert np.median(together[in_row]) <= 0.7 * np.median(alone[in_row])
    # Of all bases, two in three of which lie in rows.
    assert np.median(together) <= 0.8 * np.median(alone)
    sigmas = np.array([pose.sigma_deg for _, pose, _ in pairs])
    assert (together <= sigmas).mean() >= 0.60
    assert (together <= 2 * sigmas).mean() >= 0.91
    beside = [
        np.array(
            [math.hypot(each[i].x_mm - each[2].x_mm, each[i].y_mm - each[2].y_mm) for each in pairs]
        )
        for i in (0, 1)
    ]
    assert np.median(beside[1]) <= np.median(beside[0])
