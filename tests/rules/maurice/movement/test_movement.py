"""Allowances and marches without a change of formation (M-6)."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.geometry.moves.lanes import Corner, pivot_mm, turned_deg
from tablecam.rules.maurice.movement.judge import allowance_bw
from tablecam.testing import shifted, turned
from tests.rules.maurice.game.random_games import measured
from tests.rules.maurice.marching import field, judged
from tests.rules.maurice.tables import BW, FAR, SOUTH, box, column, gun, line, massed, position

FOOT, FILE = line("F1", "french", 900, 300), column("F1", "french", 900, 300)
HORSE = line("F1", "french", 900, 300, arm="cavalry")
GUN, SMOKING = gun("F1", "french", 900, 600), gun("F1", "french", 900, 600, smoke=True)
NEAR = line("B1", "british", 900, 500, SOUTH)


@pytest.mark.parametrize(
    ("unit", "other", "terrain", "allowance"),
    [
        (FOOT, FAR, (), 4.0),
        (FILE, FAR, (), 12.0),
        (FILE, NEAR, (), 4.0),  # M-6.11
        (HORSE, FAR, (), 8.0),
        (column("F1", "french", 900, 300, arm="cavalry"), FAR, (), 16.0),
        (massed("F1", "french", 900, 300), FAR, (), 8.0),
        (GUN, FAR, (), 6.0),
        (GUN, FAR, (box("woods", 890, 590, 940, 640),), 2.0),  # M-6.19
        (SMOKING, FAR, (), 0.0),
    ],
)
def test_m_6_2_allowances_are_by_arm_and_formation(unit, other, terrain, allowance) -> None:
    here = field(unit, other, terrain=terrain)
    assert allowance_bw(here, here.by_id["F1"]) == allowance


WHEEL_DEG, REAR_LEFT = math.degrees(0.5), (820.0, 280.0)
"""2 BW of arc for a line of four, and the fixed corner: the right one goes back."""
COPSE, THICKET = (box("woods", 870, 350, 930, 380),), (box("woods", 400, 630, 1400, 640),)
GROVE, FOREST = (box("woods", 880, 700, 920, 760),), (box("woods", 700, 200, 1100, 400),)
FRIEND, BEFORE = line("F2", "french", 900, 400), line("B1", "british", 900, 680, SOUTH)
TIRED = line("F1", "french", 900, 300, disruption=4)
ENEMY, ENEMY_GUN = line("B1", "british", 900, 440, SOUTH), gun("B1", "british", 900, 420)
BEHIND, AHEAD = line("B1", "british", 900, 300, SOUTH), line("B1", "british", 900, 800, SOUTH)
OFF = column("F1", "french", 900, 520)  # its front is 4.5 BW off AHEAD
LEAVING = column("F1", "french", 900, 500)


@pytest.mark.parametrize(
    ("start", "end", "others", "terrain", "answer", "rule"),
    [
        pytest.param(FOOT, shifted(FOOT, 0, 160), (), (), "yes", "M-6.17", id="ahead"),
        pytest.param(FOOT, shifted(FOOT, 0, 163), (), (), "no", "M-6.17", id="too far"),
        pytest.param(FOOT, shifted(FOOT, 0, -80), (), (), "yes", "M-6.13", id="back"),
        pytest.param(FOOT, shifted(FOOT, 0, -82), (), (), "no", "M-6.13", id="too far back"),
        pytest.param(
            FOOT, turned(FOOT, -WHEEL_DEG, REAR_LEFT), (), (), "yes", "M-6.13", id="T-17 back"
        ),
        pytest.param(
            FOOT,
            turned(FOOT, -1.1 * WHEEL_DEG, REAR_LEFT),
            (),
            (),
            "no",
            "M-6.13",
            id="T-17 too far",
        ),
        pytest.param(FOOT, shifted(FOOT, 0.8, 60), (), (), "yes", "M-6.17", id="G-8 a slip aside"),
        pytest.param(FOOT, shifted(FOOT, 40, 60), (), (), "no", None, id="aside"),
        pytest.param(HORSE, shifted(HORSE, 0, 240), (ENEMY_GUN,), (), "no", "M-6.6", id="enemies"),
        pytest.param(FOOT, shifted(FOOT, 0, 100), (ENEMY,), (), "no", "M-6.31", id="contact"),
        pytest.param(FOOT, shifted(FOOT, 0, 98), (ENEMY,), (), "yes", "M-6.17", id="just not"),
        pytest.param(
            shifted(FOOT, 0, 850), shifted(FOOT, 0, 885), (), (), "no", "M-6.32", id="off the table"
        ),
        pytest.param(TIRED, shifted(TIRED, 0, 120), (), COPSE, "no", "M-6.4", id="T-21 woods"),
        pytest.param(
            OFF, shifted(OFF, 0, 160), (AHEAD,), (), "yes", "M-6.11", id="T-18 comes near"
        ),
        pytest.param(
            shifted(OFF, 0, -60),
            shifted(OFF, 0, 140),
            (AHEAD,),
            (),
            "no",
            "M-6.11",
            id="T-18 after 5",
        ),
        pytest.param(
            LEAVING, shifted(LEAVING, 0, 160), (BEHIND,), (), "yes", "M-6.11", id="T-18 leaves"
        ),
        pytest.param(
            LEAVING, shifted(LEAVING, 0, 200), (BEHIND,), (), "no", "M-6.11", id="T-18 leaves by 5"
        ),
        pytest.param(GUN, shifted(GUN, 0, -240), (BEFORE,), (), "yes", "M-6.19", id="T-19 6 back"),
        pytest.param(GUN, shifted(GUN, 80, 0), (BEFORE,), (), "yes", "M-6.19", id="T-19 2 aside"),
        pytest.param(GUN, shifted(GUN, 180, 80), (BEFORE,), (), "no", "M-6.19", id="T-19 5 round"),
        pytest.param(GUN, shifted(GUN, 0, 120), (), GROVE, "no", None, id="T-19 3 and into woods"),
        pytest.param(GUN, shifted(GUN, 0, 80), (), THICKET, "yes", "M-6.19", id="T-19 2 in woods"),
        pytest.param(GUN, shifted(GUN, 0, 82), (), THICKET, "no", None, id="T-19 more in woods"),
        pytest.param(SMOKING, shifted(SMOKING, 0, 40), (), (), "no", "M-4.23", id="smoke"),
    ],
)
def test_m_6_what_a_march_may_do(start, end, others, terrain, answer, rule) -> None:
    found = judged(start, end, *others, terrain=terrain).is_legal
    assert found.answer == answer
    assert rule in (None, found.rule)


@pytest.mark.parametrize(
    ("start", "end", "others", "terrain", "cost_bw", "passed", "disruptions"),
    [
        (FOOT, shifted(FOOT, 0, 120), (), COPSE, 3, (), 1),  # M-6.3
        (FOOT, FOOT, (), FOREST, 0, (), 0),  # M-5.2: it leaves no ground
        (HORSE, shifted(HORSE, 0, 200), (FRIEND,), (), 5, ("F2",), 1),  # M-6.7
        (GUN, shifted(GUN, 0, 80), (), THICKET, 2, (), 0),  # M-6.5
        (FOOT, turned(FOOT, -WHEEL_DEG, REAR_LEFT), (), (), 2, (), 0),  # M-6.15
    ],
)
def test_m_6_what_a_march_costs(start, end, others, terrain, cost_bw, passed, disruptions) -> None:
    found = judged(start, end, *others, terrain=terrain)
    assert found.is_legal.answer == "yes"
    assert found.cost_bw == pytest.approx(cost_bw, abs=1e-3)
    assert (found.passed, found.disruptions) == (passed, disruptions)


def test_m_6_7_who_may_go_round_a_friend_goes_through_nobody() -> None:
    start = gun("F1", "french", 900, 300)
    found = judged(start, shifted(start, 0, 160), line("F2", "french", 960, 380))
    assert (found.is_legal.answer, found.passed) == ("yes", ())
    assert found.cost_bw > 4.5  # of 6; the way through is 4


def test_t_17_massed_horse_wheels_right_1_goes_2_wheels_left_1_for_4_of_8() -> None:
    start = massed("F1", "french", 900, 300)
    right_front = (940.0, 340.0)
    once = turned(start, -WHEEL_DEG, right_front)
    left_mm = field(once).by_id["F1"].axes.left_mm
    x, y = 80 * math.sin(0.5), 80 * math.cos(0.5)
    there = turned(shifted(once, x, y), WHEEL_DEG, (left_mm[0] + x, left_mm[1] + y))
    found = judged(start, there)
    assert (found.is_legal.answer, found.allowance_bw) == ("yes", 8.0)
    assert found.cost_bw == pytest.approx(4.0, abs=1e-4)


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


def test_m_6_9_a_column_snakes_round_impassable_ground() -> None:
    lake = replace(box("woods", 860, 460, 940, 500), kind="impassable")
    start = column("F1", "french", 900, 300)
    found = judged(start, shifted(start, 0, 360), terrain=(lake,))
    assert found.is_legal.answer == "yes"
    assert found.cost_bw > 9.0
    assert len(found.path[0].points_mm) > 3


def test_m_5_1_a_way_that_crosses_one_lake_and_only_touches_another_is_refused_by_name() -> None:
    here = line("F1", "french", 900, 300)
    crossed, touched = box("woods", 880, 360, 920, 380), box("woods", 980, 360, 1020, 380)
    lakes = [
        replace(lake, id=name, kind="impassable")
        for lake, name in ((crossed, "pond"), (touched, "mere"))
    ]
    way = judged(here, shifted(here, 0, 120), terrain=lakes)
    assert (way.is_legal.answer, way.is_legal.rule) == ("no", "M-5.1")
    assert "(Pond)" in way.is_legal.because


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
    # Camera errors put bases slightly ahead of any possible wheel, or behind it.
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
