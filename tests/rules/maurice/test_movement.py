from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.rules.maurice.field import Field, field_of
from tablecam.rules.maurice.movement import MoveJudgement, allowance_bw, judge_move
from tablecam.table.model import Terrain, Unit
from tablecam.testing import mirrored, shifted, turned
from tests.rules.maurice.tables import BW, column, gun, line, massed, position


def field(*units: Unit, terrain: tuple[Terrain, ...] = ()) -> Field:
    return field_of(position(*units, terrain=terrain))


def judged(
    start: Unit, end: Unit, *others: Unit, terrain: tuple[Terrain, ...] = ()
) -> MoveJudgement:
    here = field(start, *others, terrain=terrain)
    return judge_move(here, here.by_id[start.id], end.bases)


def wood(x_mm: float, y_mm: float, width_mm: float, depth_mm: float) -> Terrain:
    right, top = x_mm + width_mm, y_mm + depth_mm
    return Terrain("wood", "woods", ((x_mm, y_mm), (right, y_mm), (right, top), (x_mm, top)))


FAR = line("B9", "british", 200, 1150, 270)


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
    assert "B1" in found.because


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
    close = (wood(880, 630, 40, 10),)
    found = judged(GUN, shifted(GUN, 0, 80), terrain=close)
    assert found.is_legal.answer == "yes"
    assert found.disruptions == 0


def test_m_4_23_a_gun_with_smoke_does_not_move() -> None:
    smoking = gun("F1", "french", 900, 600, smoke=True)
    assert judged(smoking, shifted(smoking, 0, 40)).is_legal.rule == "M-4.23"


def test_t_20_a_column_of_foot_deploys_for_nothing_and_moves() -> None:
    start = column("F1", "french", 900, 300, 0)
    deployed = line("F1", "french", 900, 300)
    found = judged(start, shifted(deployed, 0, 160))
    assert found.is_legal.answer == "yes"
    assert found.cost_bw == pytest.approx(4.0)
    assert found.allowance_bw == 12.0


def test_t_20_a_line_that_forms_column_may_not_move_as_well() -> None:
    start = line("F1", "french", 900, 300)
    formed = column("F1", "french", 900, 300, 0)
    in_place = judged(start, formed)
    assert in_place.is_legal.answer == "yes"
    assert in_place.cost_bw == 4.0
    assert judged(start, shifted(formed, 25, 60)).is_legal.answer == "no"


def test_t_21_a_unit_one_short_of_breaking_does_not_change_into_woods() -> None:
    start = line("F1", "french", 900, 300, disruption=4, arm="cavalry")
    ahead = massed("F1", "french", 860, 320)
    found = judged(start, ahead, terrain=(wood(830, 325, 60, 60),))
    assert found.is_legal.rule == "M-6.4"
    assert judged(start, ahead).is_legal.answer == "yes"


def test_m_1_7_foot_is_never_massed() -> None:
    start = line("F1", "french", 900, 300)
    assert judged(start, massed("F1", "french", 900, 300)).is_legal.rule == "M-1.7"


def test_t_20_foot_about_faces_and_does_nothing_more() -> None:
    start = line("F1", "french", 900, 300)
    about = line("F1", "french", 900, 300, 270)
    assert judged(start, about).is_legal.rule == "M-6.26"
    assert judged(start, about).is_legal.answer == "yes"
    assert judged(start, shifted(about, 0, -80)).is_legal.answer == "no"


def test_t_20_horse_about_faces_and_moves_8_but_not_to_near_the_enemy() -> None:
    start = massed("F1", "french", 900, 600)
    end = massed("F1", "french", 900, 600 - 320, 270)
    assert judged(start, end).is_legal.answer == "yes"
    near = judged(start, end, line("B1", "british", 900, 100))
    assert near.is_legal.answer == "no"
    assert near.is_legal.rule == "M-6.26"


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


WIDE = {"width_mm": 60.0, "depth_mm": 40.0}


def wide(unit: Unit, *places_mm: tuple[float, float]) -> Unit:
    """A unit of bases 60 mm wide and 40 deep, at these places."""
    bases = zip(unit.bases, places_mm, strict=True)
    moved = (replace(base, x_mm=x_mm, y_mm=y_mm, **WIDE) for base, (x_mm, y_mm) in bases)
    return replace(unit, bases=tuple(moved))


def wide_column(x_mm: float, y_mm: float) -> Unit:
    """Facing east, its leading base at (x, y)."""
    places = [(x_mm - 40 * place, y_mm) for place in range(4)]
    return wide(column("F1", "french", x_mm, y_mm, 0), *places)


def wide_line(x_mm: float, y_mm: float) -> Unit:
    """Facing north, its leftmost base at (x, y)."""
    return wide(line("F1", "french", x_mm, y_mm), *((x_mm + 60 * at, y_mm) for at in range(4)))


@pytest.mark.parametrize("pivot", [0, 1, 2, 3])
def test_m_6_23_wide_bases_deploy_on_one_of_them_and_line_up_flush(pivot: int) -> None:
    start = wide_column(900, 300)
    # The leading base is the line's rightmost; the base that turns keeps its place.
    formed = wide_line(900 - 40 * pivot - 60 * (3 - pivot), 300)
    found = judged(start, formed)
    assert (found.is_legal.answer, found.cost_bw) == ("yes", pytest.approx(0.0, abs=1e-6))
    ahead = judged(start, shifted(formed, 0, 160))
    assert (ahead.is_legal.answer, ahead.cost_bw) == ("yes", pytest.approx(4.0))


def test_m_6_23_wide_bases_line_up_on_no_place_between() -> None:
    aside = judged(wide_column(900, 300), wide_line(900 - 180 + 15, 300))
    assert aside.is_legal.answer == "no"


def test_m_6_23_a_line_of_wide_bases_forms_column_on_one_of_them() -> None:
    start = wide_line(720, 300)
    assert judged(start, wide_column(900, 300)).is_legal.answer == "yes"
    assert judged(start, wide_column(890, 300)).is_legal.answer == "no"


def test_m_6_25_to_turn_about_in_woods_costs_nothing() -> None:
    start, about = line("F1", "french", 900, 300), line("F1", "french", 900, 300, 270)
    found = judged(start, about, terrain=(wood(700, 200, 400, 200),))
    assert (found.is_legal.answer, found.disruptions) == ("yes", 0)
    tired = replace(start, state={"disruption": 4})
    assert judged(tired, about, terrain=(wood(860, 200, 60, 200),)).is_legal.answer == "yes"


def test_m_6_25_a_change_costs_one_when_bases_enter_or_leave_difficult_ground() -> None:
    start = massed("F1", "french", 900, 300)
    in_line = line("F1", "french", 900, 320, arm="cavalry")
    left_wood, rear_wood = wood(780, 290, 60, 60), wood(820, 250, 160, 40)
    all_of_it = wood(700, 200, 400, 200)
    for ground, disruptions in ((left_wood, 1), (rear_wood, 1), (all_of_it, 0)):
        found = judged(start, in_line, terrain=(ground,))
        assert (found.is_legal.answer, found.disruptions) == ("yes", disruptions)


def test_m_6_25_a_column_that_deploys_into_woods_pays_once_for_change_and_move() -> None:
    start = column("F1", "french", 900, 300, arm="cavalry")
    # The two rear bases come up beside the front two: into the wood.
    formed = massed("F1", "french", 920, 340)
    beside = wood(930, 300, 60, 90)
    in_place = judged(start, formed, terrain=(beside,))
    assert (in_place.is_legal.answer, in_place.disruptions) == ("yes", 1)
    moved = judged(start, shifted(formed, 0, 160), terrain=(beside,))
    assert (moved.is_legal.answer, moved.disruptions) == ("yes", 1)
    assert judged(start, formed).disruptions == 0
    tired = replace(start, state={"disruption": 4})
    assert judged(tired, formed, terrain=(beside,)).is_legal.rule == "M-6.25"


def test_m_5_2_who_stays_where_it_stands_leaves_no_ground() -> None:
    start = line("F1", "french", 900, 300)
    assert judged(start, start, terrain=(wood(700, 200, 400, 200),)).disruptions == 0


@pytest.mark.parametrize(("off_mm", "answer"), [(150, "no"), (165, "yes")])
def test_m_6_11_what_was_a_column_passes_nobody_near_on_more_than_4(
    off_mm: float, answer: str
) -> None:
    # It deploys to face east and goes 12.5 BW of 16, past a gun beside the middle of its way.
    start = column("F1", "french", 600, 300, 90, arm="cavalry")
    end = line("F1", "french", 600 + 500, 300, 0, arm="cavalry")
    found = judged(start, end, gun("B1", "british", 850, 380 + off_mm + 20, 0))
    assert found.is_legal.answer == answer
    if answer == "no":
        assert (found.is_legal.rule, found.allowance_bw) == ("M-6.11", 4.0)


def test_m_6_26_a_column_of_horse_about_faces_and_moves_to_where_no_enemy_is_near() -> None:
    start = column("F1", "french", 900, 600, 90, arm="cavalry")
    # Turned about it goes 2 BW; its head would have to snake 5 BW, more than the 4 near an enemy.
    end = column("F1", "french", 900, 600 - 80, 270, arm="cavalry")
    behind = line("B1", "british", 900, 600 + 80 + 140, 270)
    away = judged(start, end, behind)
    assert (away.is_legal.answer, away.cost_bw) == ("yes", pytest.approx(2.0))
    ahead = line("B1", "british", 900, 600 - 160 - 100, 90)
    found = judged(start, end, ahead)
    assert (found.is_legal.answer, found.is_legal.rule) == ("no", "M-6.26")
