"""The demo's battle keeps within what a table, its rules and a hand allow."""

import math
from itertools import pairwise

import numpy as np
import pytest

from tablecam.errors import BadInput
from tablecam.simulate.demo import demo_script
from tablecam.simulate.overlap import CONTACT_MM, overlaps_mm
from tablecam.simulate.rendering.places import unit_corners_mm, unit_outline_mm, unit_place
from tablecam.simulate.script import Order, Pointing, Script, Start
from tablecam.simulate.timeline import Timeline

STEP_S = 0.1
FASTEST_HAND_MM_PER_S = 400.0


@pytest.fixture(scope="module")
def timeline(leuthen):
    return Timeline(demo_script(), leuthen)


@pytest.fixture(scope="module")
def moments(timeline):
    """The corners of all bases (n, 4, 2), ten times a second through the whole loop."""
    return [
        np.concatenate(
            [
                unit_corners_mm(timeline.places(id, time_s), timeline.base_type(id, time_s))
                for id in timeline.ids
            ]
        )
        for time_s in np.arange(0, timeline.loop_s, STEP_S)
    ]


def test_the_battle_takes_about_two_minutes(timeline):
    assert 90 <= timeline.loop_s <= 120


def test_every_unit_and_commander_of_the_table_is_in_the_battle(timeline, leuthen):
    owners = {unit.id for unit in leuthen.units} | {leader.id for leader in leuthen.commanders}
    assert set(timeline.ids) == owners


def test_bases_never_lie_upon_each_other(moments):
    for corners in moments[::3]:
        depth = overlaps_mm(corners, corners)
        np.fill_diagonal(depth, 0)
        assert depth.max() <= CONTACT_MM


def test_bases_never_leave_the_table(moments, leuthen):
    everywhere = np.concatenate(moments)
    assert everywhere.min() >= 0
    assert everywhere[..., 0].max() <= leuthen.table.width_mm
    assert everywhere[..., 1].max() <= leuthen.table.depth_mm


def test_no_base_moves_faster_than_a_hand(moments):
    for before, after in pairwise(moments):
        assert np.abs(after - before).max() <= FASTEST_HAND_MM_PER_S * STEP_S


def test_the_battle_ends_as_it_began(timeline):
    for id in timeline.ids:
        for first, last in zip(
            timeline.places(id, 0.0), timeline.places(id, timeline.loop_s), strict=True
        ):
            assert last.x_mm == pytest.approx(first.x_mm)
            assert last.y_mm == pytest.approx(first.y_mm)


def test_whatever_moves_is_under_a_hand_of_its_own_side(timeline, leuthen):
    side = {unit.id: unit.side for unit in leuthen.units}
    side |= {leader.id: leader.side for leader in leuthen.commanders}
    for time_s in np.arange(0, timeline.loop_s, STEP_S):
        hands = {visit.id: timeline.hand(visit, time_s) for visit in timeline.visits_at(time_s)}
        for id in timeline.ids:
            places = timeline.places(id, time_s)
            if places == timeline.places(id, time_s + 0.01):
                continue
            hand, middle = hands[id], unit_place(places, timeline.base_type(id, time_s))
            assert hand.side == side[id]
            assert math.dist((hand.x_mm, hand.y_mm), (middle.x_mm, middle.y_mm)) < 1e-6
            assert hand.grip > 0.9


def test_each_player_has_one_hand_in_the_game(timeline):
    for time_s in np.arange(0, timeline.loop_s, STEP_S):
        sides = [visit.side for visit in timeline.visits_at(time_s)]
        assert len(sides) == len(set(sides))


def test_a_hand_comes_from_beyond_its_own_edge(timeline, leuthen):
    for visit in timeline.visits:
        for time_s in (visit.begin_s, visit.end_s):
            hand = timeline.hand(visit, time_s)
            beyond = -hand.y_mm if visit.side == "prussian" else hand.y_mm - leuthen.table.depth_mm
            assert beyond > 100


def test_the_charge_ends_in_contact_with_a_flank(timeline):
    charge = [visit for visit in timeline.visits if visit.id == "PC1"][1]
    after_s = charge.legs[-1].end_s
    horse, foot = timeline.base_type("PC1", 0.0), timeline.base_type("A1", 0.0)
    cavalry = unit_corners_mm(timeline.places("PC1", after_s), horse)
    line = timeline.places("A1", after_s)
    depth = overlaps_mm(cavalry, unit_corners_mm(line, foot))
    assert depth.max() == pytest.approx(0, abs=1e-6)

    front_left, front_right, rear_right, _ = unit_outline_mm(line, foot)
    backward = (rear_right - front_right) / np.linalg.norm(rear_right - front_right)
    along = (front_right - front_left) / np.linalg.norm(front_right - front_left)
    behind = ((cavalry - front_left) @ backward > -1e-6).all(axis=1)
    beside = (cavalry - front_right) @ along
    assert behind.sum() >= 2  # half or more of its bases completely behind the front line
    assert beside.min() >= -1e-6  # and no part of any directly in front


def test_the_beaten_line_falls_back_straight_to_its_rear(timeline):
    retreat = next(visit for visit in timeline.visits if visit.id == "A1")
    before, after = (
        timeline.places("A1", time_s)[0] for time_s in (retreat.begin_s, retreat.end_s)
    )
    forward_mm, right_mm = after.seen_from(before)
    assert forward_mm < -30
    assert right_mm == pytest.approx(0, abs=1e-6)


def test_a_column_has_deployed_by_the_end_of_the_battle(timeline):
    before, after = (timeline.places("P6", time_s) for time_s in (0.0, timeline.battle_s))
    assert after[0].heading_deg - before[0].heading_deg == pytest.approx(90)


def test_a_hand_that_only_points_moves_nothing(roster):
    starts = (Start("P1", 240, 90, 90), Start("A1", 240, 240, 270))
    script = Script("prussian", starts, (Pointing(1.0, "austrian", 200, 200),))
    timeline = Timeline(script, roster)
    (visit,) = timeline.visits
    hand = timeline.hand(visit, visit.arrive_s + 0.5)
    assert (hand.x_mm, hand.y_mm, hand.grip) == pytest.approx((200, 200, 0))
    assert timeline.places("P1", visit.arrive_s) == timeline.places("P1", 0.0)


@pytest.mark.parametrize(
    "script",
    [
        Script("prussian", (Start("P9", 240, 90, 90),), ()),
        Script("prussian", (Start("P1", 240, 90, 90),), (Order(1.0, ("P9",), ()),)),
    ],
    ids=["start", "order"],
)
def test_a_script_with_an_unknown_unit_is_refused(script, roster):
    with pytest.raises(BadInput, match="expected a unit or a commander of the table, got 'P9'"):
        Timeline(script, roster)
