"""Allowances and marches without a change of formation (M-6)."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.geometry.moves.lanes import Corner, pivot_mm, turned_deg
from tablecam.rules.maurice.movement.judge import allowance_bw
from tablecam.table.model import Unit
from tablecam.testing import mirrored, shifted, turned
from tests.rules.maurice.game.random_games import measured
from tests.rules.maurice.marching import FAR, field, judged, wood
from tests.rules.maurice.tables import BW, column, gun, line, massed, position


@pytest.mark.parametrize(
    ("unit", "allowance"),
    [
        (line("F1", "french", 900, 300), 4.0),
        (column("F1", "french", 900, 300), 12.0),
        (line("F1", "french", 900, 300, arm="cavalry"), 8.0),
        (column("F1", "french", 900, 300, arm="cavalry"), 16.0),
        (massed("F1", "french", 900, 300), 8.0),
        (gun("F1", "french", 900, 300), 6.0),
        (gun("F1", "french", 900, 300, smoke=True), 0.0),
    ],
    ids=str,
)
def test_m_6_2_allowances_are_by_arm_and_formation(unit: Unit, allowance: float) -> None:
    here = field(unit, FAR)
    assert allowance_bw(here, here.by_id["F1"]) == allowance


def test_m_6_11_a_column_near_the_enemy_has_4() -> None:
    here = field(column("F1", "french", 900, 300), line("B1", "british", 900, 500, 270))
    assert allowance_bw(here, here.by_id["F1"]) == 4.0


def test_m_6_19_artillery_in_difficult_ground_has_2() -> None:
    here = field(gun("F1", "french", 900, 300), terrain=(wood(890, 290, 50, 50),))
    assert allowance_bw(here, here.by_id["F1"]) == 2.0


def test_t_17_massed_horse_wheels_right_1_goes_2_wheels_left_1_for_4_of_8() -> None:
    start = massed("F1", "french", 900, 300)
    right_front = (940.0, 340.0)
    wheel_deg = 180 / 3.141592653589793 * 0.5
    once = turned(start, -wheel_deg, right_front)
    front = field(once).by_id["F1"].axes
    ahead = shifted(once, 80 * 0.479425538604203, 80 * 0.8775825618903728)
    pivot = (front.left_mm[0] + 80 * 0.479425538604203, front.left_mm[1] + 80 * 0.8775825618903728)
    found = judged(start, turned(ahead, wheel_deg, pivot))
    assert found.is_legal.answer == "yes"
    assert found.cost_bw == pytest.approx(4.0, abs=1e-4)
    assert found.allowance_bw == 8.0


@pytest.mark.parametrize(("gap_mm", "passed"), [(0.0, ()), (0.9, ()), (2.0, ("F2",))])
def test_m_6_14_a_wheel_swings_into_who_stood_flush_beside_it_and_disrupts_nobody(
    gap_mm: float, passed: tuple[str, ...]
) -> None:
    """The far rear corner of a line of four comes 4.9 mm beyond its flank line."""
    start, beside = line("F1", "french", 900, 300), line("F2", "french", 1060 + gap_mm, 300)
    wheeled, onward = turned(start, 14.0, (820, 320)), math.radians(104.0)
    ahead = shifted(wheeled, 100 * math.cos(onward), 100 * math.sin(onward))
    found = judged(start, ahead, beside)
    assert (found.is_legal.answer, found.passed) == ("yes", passed)
    assert found.disruptions == len(passed)


def test_m_6_7_who_may_go_round_a_friend_goes_through_nobody() -> None:
    start, between = gun("F1", "french", 900, 300), line("F2", "french", 960, 380)
    found = judged(start, shifted(start, 0, 160), between)
    assert (found.is_legal.answer, found.passed) == ("yes", ())
    assert found.cost_bw > 4.5  # of 6; the way through is 4


def test_t_17_foot_wheels_backward_2_bw_its_whole_retrograde_allowance() -> None:
    start = line("F1", "french", 900, 300)
    wheel_deg = 180 / 3.141592653589793 * 0.5
    for by_deg, answer in ((wheel_deg, "yes"), (wheel_deg * 1.1, "no")):
        # About its left rear corner: the right one goes back when it turns clockwise.
        back = judged(start, turned(start, -by_deg, (820.0, 280.0)))
        assert back.is_legal.answer == answer
        assert back.cost_bw == pytest.approx(2.0 * by_deg / wheel_deg, abs=1e-3)


def test_m_6_13_straight_back_is_half_as_far() -> None:
    start = line("F1", "french", 900, 300)
    assert judged(start, shifted(start, 0, -80)).is_legal.answer == "yes"
    too_far = judged(start, shifted(start, 0, -82))
    assert too_far.is_legal.answer == "no"
    assert too_far.is_legal.rule == "M-6.13"


def test_m_6_17_straight_ahead_to_the_limit_and_beyond() -> None:
    start = line("F1", "french", 900, 300)
    assert judged(start, shifted(start, 0, 160)).is_legal.answer == "yes"
    beyond = judged(start, shifted(start, 0, 163))
    assert beyond.is_legal.answer == "no"
    assert beyond.cost_bw == pytest.approx(163 / BW)


def test_g_8_a_slip_aside_by_a_hair_is_a_hands() -> None:
    start = line("F1", "french", 900, 300)
    assert judged(start, shifted(start, 0.8, 60)).is_legal.answer == "yes"
    assert judged(start, shifted(start, 40, 60)).is_legal.answer == "no"


def test_m_6_6_nobody_passes_through_enemies() -> None:
    start = line("F1", "french", 900, 300, arm="cavalry")
    gun_ahead = gun("B1", "british", 900, 420)
    found = judged(start, shifted(start, 0, 240), gun_ahead)
    assert found.is_legal.answer == "no"
    assert found.is_legal.rule == "M-6.6"
    assert "B1" in found.is_legal.because


def test_m_6_31_a_march_may_not_end_in_contact() -> None:
    start = line("F1", "french", 900, 300)
    enemy = line("B1", "british", 900, 440, 270)
    assert judged(start, shifted(start, 0, 100), enemy).is_legal.rule == "M-6.31"
    assert judged(start, shifted(start, 0, 98), enemy).is_legal.answer == "yes"


def test_m_6_32_no_base_leaves_the_table() -> None:
    start = line("F1", "french", 900, 1150)
    assert judged(start, shifted(start, 0, 35)).is_legal.rule == "M-6.32"


def test_m_6_7_passing_through_a_friend_is_named_and_costs() -> None:
    start = line("F1", "french", 900, 300, arm="cavalry")
    friend = line("F2", "french", 900, 400)
    found = judged(start, shifted(start, 0, 200), friend)
    assert found.is_legal.answer == "yes"
    assert found.passed == ("F2",)
    assert found.disruptions == 1
    tired = line("F2", "french", 900, 400, disruption=4)
    assert judged(start, shifted(start, 0, 200), tired).is_legal.rule == "M-6.8"
    assert judged(start, shifted(start, 0, 100), friend).is_legal.rule == "M-6.8"


def test_m_6_3_difficult_ground_disrupts_once() -> None:
    start = line("F1", "french", 900, 300)
    found = judged(start, shifted(start, 0, 120), terrain=(wood(870, 350, 60, 30),))
    assert found.is_legal.answer == "yes"
    assert found.disruptions == 1


def test_t_21_foot_with_4_disruptions_enters_no_difficult_ground() -> None:
    start = line("F1", "french", 900, 300, disruption=4)
    found = judged(start, shifted(start, 0, 120), terrain=(wood(870, 350, 60, 30),))
    assert found.is_legal.answer == "no"
    assert found.is_legal.rule == "M-6.4"


def test_t_18_a_column_that_ends_near_may_have_moved_4() -> None:
    enemy = line("B1", "british", 900, 800, 270)
    off = 800 - 20 - 4.5 * BW - 80  # its front is 4.5 BW off
    start = column("F1", "french", 900, off)
    assert judged(start, shifted(start, 0, 160), enemy).is_legal.answer == "yes"
    farther_off = column("F1", "french", 900, off - 60)
    found = judged(farther_off, shifted(farther_off, 0, 200), enemy)
    assert found.is_legal.answer == "no"
    assert found.is_legal.rule == "M-6.11"


def test_t_18_a_column_that_starts_near_may_move_no_more_than_4_away() -> None:
    enemy = line("B1", "british", 900, 300, 270)
    start = column("F1", "french", 900, 300 + 20 + 100 + 80)
    assert judged(start, shifted(start, 0, 200), enemy).is_legal.answer == "no"
    assert judged(start, shifted(start, 0, 160), enemy).is_legal.answer == "yes"


def test_m_6_9_a_column_snakes_round_impassable_ground() -> None:
    lake = replace(wood(860, 460, 80, 40), kind="impassable")
    start = column("F1", "french", 900, 300)
    found = judged(start, shifted(start, 0, 360), terrain=(lake,))
    assert found.is_legal.answer == "yes"
    assert found.cost_bw > 9.0
    assert len(found.path[0].points_mm) > 3


def test_m_5_1_a_way_that_crosses_one_lake_and_only_touches_another_is_refused_by_name() -> None:
    here = line("F1", "french", 900, 300)
    crossed, touched = wood(880, 360, 40, 20), wood(980, 360, 40, 20)
    lakes = [
        replace(lake, id=name, kind="impassable")
        for lake, name in ((crossed, "pond"), (touched, "mere"))
    ]
    way = judged(here, shifted(here, 0, 120), terrain=lakes)
    assert (way.is_legal.answer, way.is_legal.rule) == ("no", "M-5.1")
    assert "(Pond)" in way.is_legal.because


GUN = gun("F1", "french", 900, 600)
BEFORE = line("B1", "british", 900, 600 + 20 + 40 + 20, 270)


def test_t_19_a_gun_6_back_to_not_near_2_aside_but_not_5_round_the_flank() -> None:
    assert judged(GUN, shifted(GUN, 0, -240), BEFORE).is_legal.answer == "yes"
    assert judged(GUN, shifted(GUN, 80, 0), BEFORE).is_legal.answer == "yes"
    round_it = judged(GUN, shifted(GUN, 180, 80), BEFORE)
    assert round_it.is_legal.answer == "no"
    assert round_it.is_legal.rule == "M-6.19"


def test_t_19_a_gun_3_and_into_woods_is_too_far_2_through_woods_is_not() -> None:
    ahead = (wood(880, 700, 40, 60),)
    assert judged(GUN, shifted(GUN, 0, 120), terrain=ahead).is_legal.answer == "no"
    close = (wood(400, 630, 1000, 10),)  # too wide to be gone round
    found = judged(GUN, shifted(GUN, 0, 80), terrain=close)
    assert (found.is_legal.answer, found.cost_bw) == ("yes", pytest.approx(2.0))
    assert found.disruptions == 0
    assert judged(GUN, shifted(GUN, 0, 82), terrain=close).is_legal.answer == "no"


def test_m_4_23_a_gun_with_smoke_does_not_move() -> None:
    smoking = gun("F1", "french", 900, 600, smoke=True)
    assert judged(smoking, shifted(smoking, 0, 40)).is_legal.rule == "M-4.23"


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 10**6),
    st.floats(0, 360),
    st.sampled_from(["left", "right"]),
    st.floats(5, 150),
    st.booleans(),
)
def test_m_6_17_a_wheel_is_a_wheel_however_the_camera_errs(
    seed: int, heading_deg: float, corner: Corner, arc_mm: float, is_seen_anew: bool
) -> None:
    # Which way a camera errs leads bases a hair ahead of where a wheel can, or behind it.
    start = line("F1", "french", 900, 300, heading_deg)
    (seen,) = measured(position(start), seed).units
    here = field(seen).by_id["F1"]
    angle_deg = turned_deg(here.axes, corner, arc_mm)
    there = turned(seen, angle_deg, pivot_mm(here.axes, corner))
    if is_seen_anew:
        (there,) = measured(position(there), seed + 1).units
    found = judged(seen, there)
    assert found.is_legal.answer == "yes"
    assert found.cost_bw * BW == pytest.approx(arc_mm, abs=4.0)


@settings(deadline=None, max_examples=25)
@given(st.floats(-60, 60), st.floats(-60, 150), st.floats(-30, 30))
def test_a_judgement_is_the_same_on_a_mirrored_table(dx: float, dy: float, by: float) -> None:
    start = line("F1", "french", 900, 300)
    enemy = gun("B1", "british", 980, 420)
    end = turned(shifted(start, dx, dy), by, (900 + dx, 300 + dy))
    here = judged(start, end, enemy)
    swapped = [shifted(mirrored(each), 1800, 0) for each in (start, end, enemy)]
    there = judged(*swapped)
    assert there.is_legal.answer == here.is_legal.answer
    assert there.cost_bw == pytest.approx(here.cost_bw, abs=1e-3)


def test_m_5_2_who_stays_where_it_stands_leaves_no_ground() -> None:
    start = line("F1", "french", 900, 300)
    assert judged(start, start, terrain=(wood(700, 200, 400, 200),)).disruptions == 0
