"""Marching as steps of a game (chapter 6): what a move costs its unit, its friends, commanders."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import pytest

from tablecam.rules.game import Refused
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Charge, ClearSmoke, Done, March, PlaceCommander
from tablecam.rules.maurice.game.commander import Displacing, MovingCommander
from tablecam.rules.maurice.game.march import Marching
from tablecam.rules.maurice.game.state import Modifier, State
from tablecam.table.model import Commander, Terrain, Unit
from tablecam.testing import shifted, turned
from tests.rules.maurice.game.states import after, kinds, level, state_at
from tests.rules.maurice.game.varied_games import uneven
from tests.rules.maurice.tables import BW, column, gun, line, massed, position

FAR = line("B9", "british", 200, 1150, 270)


def ground(kind: str, x_mm: float, y_mm: float, width_mm: float, depth_mm: float) -> Terrain:
    right, top = x_mm + width_mm, y_mm + depth_mm
    return Terrain(kind, kind, ((x_mm, y_mm), (right, y_mm), (right, top), (x_mm, top)))


def marching(*units: Unit, terrain: tuple[Terrain, ...] = (), **of_round: object) -> State:
    """All french units activated to march."""
    commanders = of_round.pop("commanders", ())
    table = position(*units, FAR, terrain=terrain, commanders=commanders)
    force = tuple(unit.id for unit in units if unit.side == "french")
    return state_at(table, Marching(force), command="march", **of_round)


def march(unit: Unit) -> March:
    return March(unit.id, unit.bases)


def test_m_6_31_the_units_of_a_force_march_each_once_in_any_order_and_then_it_is_over() -> None:
    first, second = line("F1", "french", 400, 300), line("F2", "french", 700, 300)
    state = marching(first, second)
    state, events = after(state, march(shifted(second, 0, 80)))
    assert state.step == Marching(("F1", "F2"), moved=("F2",))
    assert kinds(events) == ["march"]
    assert events[0].facts["cost_bw"] == 2.0
    with pytest.raises(Refused, match=r"M-6\.31 F2 has already moved in this round"):
        after(state, march(shifted(second, 0, 120)))
    state, _ = after(state, march(shifted(first, 0, 160)))
    assert isinstance(state.step, MovingCommander)


def test_m_6_1_moving_is_optional() -> None:
    state, events = after(marching(line("F1", "french", 400, 300)), Done())
    assert isinstance(state.step, MovingCommander)
    assert events == ()


def test_m_6_1_nobody_else_marches() -> None:
    table = position(line("F1", "french", 400, 300), line("F2", "french", 700, 300), FAR)
    state = state_at(table, Marching(("F1",)), command="march")
    for name in ("F2", "B9"):
        unit = table.unit(name)
        with pytest.raises(Refused, match=r"M-6\.1 .* is not in the activated force"):
            after(state, march(shifted(unit, 0, 40)))


def test_a_march_of_other_bases_than_the_units_is_refused() -> None:
    start = line("F1", "french", 400, 300)
    state = marching(start)
    short = March("F1", start.bases[:3])
    wide = March("F1", tuple(replace(base, width_mm=60) for base in start.bases))
    for action in (short, wide):
        with pytest.raises(Refused, match="expected the 4 bases of F1"):
            after(state, action)
    with pytest.raises(Refused, match="expected a march, smoke to clear"):
        after(state, Charge("F1", "B9", start.bases))


def test_m_6_2_a_bugle_adds_to_the_allowance_and_holds_a_unit_no_longer() -> None:
    start = line("F1", "french", 400, 300)
    far = march(shifted(start, 0, 5 * BW))
    with pytest.raises(Refused, match=r"M-6\.17 F1 would need 5\.00 BW"):
        after(marching(start), far)
    bugle = Modifier("french", "bugle", {"F1": 1})
    _, events = after(marching(start, modifiers=(bugle,)), far)
    assert events[0].facts["allowance_bw"] == 5.0


@pytest.mark.parametrize("make", [line, massed, column])
@pytest.mark.parametrize("seed", range(4))
def test_m_6_17_what_is_listed_of_a_unit_that_lies_unevenly_is_taken(make, seed) -> None:
    chance = Random(seed)
    even = make("F1", "french", 700, 500, chance.choice((90.0, 348.0)))
    unit = replace(even, bases=tuple(uneven(chance, base) for base in even.bases))
    state = marching(unit, line("B1", "british", 1500, 1100, 270))
    marches = [action for action in GAME.legal(state) if isinstance(action, March)]
    assert len(marches) > 4
    for action in marches:
        after(state, action)


def test_m_6_11_a_bugle_lets_no_column_farther_near_the_enemy() -> None:
    start = column("F1", "french", 400, 300, 270)
    near = line("B1", "british", 400, 540, 270)
    bugle = Modifier("french", "bugle", {"F1": 2})
    state = marching(start, near, modifiers=(bugle,))
    after(state, march(shifted(start, 0, -4 * BW)))
    with pytest.raises(Refused, match=r"M-6\.11"):
        after(state, march(shifted(start, 0, -5 * BW)))


def test_m_6_3_difficult_ground_disrupts_once() -> None:
    start = line("F1", "french", 400, 300)
    woods = (ground("woods", 340, 340, 30, 30), ground("rough", 430, 360, 30, 60))
    state, events = after(marching(start, terrain=woods), march(shifted(start, 0, 160)))
    assert level(state, "F1") == 1
    assert [(each.kind, each.rule) for each in events[1:]] == [("disrupted", "M-6.3")]
    # Both pieces of ground on its way are drawn.
    assert [shape.role for shape in events[1].evidence] == [
        "intrusion",
        "intrusion",
        "unit",
        "result",
    ]


def test_t_16_foot_through_a_column_of_horse_is_disrupted_and_the_horse_is_not() -> None:
    start = line("F1", "french", 400, 300, arm="cavalry")
    friend = column("F2", "french", 400, 420, 0, arm="cavalry")
    state, events = after(marching(start, friend), march(shifted(start, 0, 200)))
    assert (level(state, "F1"), level(state, "F2")) == (1, 0)
    assert events[1].rule == "M-6.7"


def test_t_16_massed_through_a_line_disrupts_both() -> None:
    start = massed("F1", "french", 400, 300)
    friend = line("F2", "french", 400, 420)
    state, _ = after(marching(start, friend), march(shifted(start, 0, 240)))
    assert (level(state, "F1"), level(state, "F2")) == (1, 1)


def test_t_16_a_gun_through_massed_horse_disrupts_the_horse_alone() -> None:
    start = gun("F1", "french", 400, 300)
    friend = massed("F2", "french", 400, 380)
    # Walled in, so that the only way is through.
    walls = (ground("impassable", 250, 250, 110, 300), ground("impassable", 440, 250, 110, 300))
    state, _ = after(marching(start, friend, terrain=walls), march(shifted(start, 0, 160)))
    assert (level(state, "F1"), level(state, "F2")) == (0, 1)


def test_t_16_nobody_passes_where_it_would_break_either_or_ends_on_a_friend() -> None:
    start = massed("F1", "french", 400, 300)
    for own, friends in ((4, 0), (0, 4)):
        tired = replace(start, state={"disruption": own})
        friend = line("F2", "french", 400, 420, disruption=friends)
        with pytest.raises(Refused, match=r"M-6\.8"):
            after(marching(tired, friend), march(shifted(tired, 0, 240)))
    with pytest.raises(Refused, match=r"M-6\.8 .*overlap|M-6\.8 F1 ends on F2"):
        after(marching(start, line("F2", "french", 400, 420)), march(shifted(start, 0, 100)))


def test_t_17_massed_horse_wheels_right_1_goes_2_and_wheels_left_1() -> None:
    start = massed("F1", "french", 900, 300)
    wheel_deg = math.degrees(0.5)
    once = turned(start, -wheel_deg, (940.0, 340.0))
    ahead = (80 * math.sin(0.5), 80 * math.cos(0.5))
    left = (940 - 80 * math.cos(0.5), 340 + 80 * math.sin(0.5))
    end = turned(shifted(once, *ahead), wheel_deg, (left[0] + ahead[0], left[1] + ahead[1]))
    _, events = after(marching(start), march(end))
    assert events[0].facts["cost_bw"] == pytest.approx(4.0, abs=1e-3)
    assert events[0].evidence


def test_t_18_a_column_that_comes_near_has_moved_4_at_most() -> None:
    enemy = line("B1", "british", 400, 700, 270)
    start = column("F1", "french", 400, 700 - 20 - 4.5 * BW - 80)
    after(marching(start, enemy), march(shifted(start, 0, 4 * BW)))
    farther = shifted(start, 0, -BW)
    with pytest.raises(Refused, match=r"M-6\.11"):
        after(marching(farther, enemy), march(shifted(farther, 0, 5 * BW)))


def test_t_19_a_gun_goes_6_or_2() -> None:
    start = gun("F1", "french", 400, 500)
    enemy = line("B1", "british", 400, 580, 270)
    state = marching(start, enemy)
    after(state, march(shifted(start, 0, -6 * BW)))
    after(state, march(shifted(start, 2 * BW, 0)))
    with pytest.raises(Refused, match=r"M-6\.19"):
        after(state, march(shifted(start, 180, 80)))


def test_t_20_a_column_deploys_and_moves_but_a_line_that_forms_column_stays() -> None:
    start = column("F1", "french", 400, 300, 0)
    deployed = line("F1", "french", 400, 300)
    state, _ = after(marching(start), march(shifted(deployed, 0, 160)))
    assert state.position.unit("F1").formation == "line"
    with pytest.raises(Refused):
        after(marching(deployed), march(shifted(start, 25, 60)))
    state, events = after(marching(deployed), march(start))
    assert events[0].text == "F1 changes its formation: 4.00 BW of 4"
    assert state.position.unit("F1").formation == "column"


def test_t_20_foot_about_faces_and_does_no_more() -> None:
    start, about = line("F1", "french", 400, 300), line("F1", "french", 400, 300, 270)
    state, events = after(marching(start), march(about))
    assert events[0].text == "F1 faces about"
    assert isinstance(state.step, MovingCommander)
    with pytest.raises(Refused):
        after(marching(start), march(shifted(about, 0, -80)))


def test_t_21_a_unit_one_short_of_breaking_changes_into_no_woods() -> None:
    start = line("F1", "french", 900, 300, disruption=4, arm="cavalry")
    woods = (ground("woods", 830, 215, 60, 60),)
    with pytest.raises(Refused, match=r"M-6\.4"):
        after(marching(start, terrain=woods), march(massed("F1", "french", 860, 280)))


def test_t_8_in_rough_going_difficult_ground_is_impassable() -> None:
    start = line("F1", "french", 400, 300)
    ahead = (ground("rough", 340, 340, 60, 30),)
    state = marching(start, terrain=ahead, is_rough_going=True)
    assert GAME.why_missing(state) == "F1: impassable ground (Rough) lies ahead"
    with pytest.raises(Refused, match=r"M-5\.1 F1 would cross impassable ground \(Rough\)"):
        after(state, march(shifted(start, 0, 160)))
    after(state, march(shifted(start, 0, -80)))
    standing = (ground("rough", 340, 290, 60, 30),)
    state = marching(start, terrain=standing, is_rough_going=True)
    assert GAME.legal(state) == (Done(),)
    assert GAME.why_missing(state) == "F1: impassable ground (Rough) lies ahead"
    with pytest.raises(Refused, match=r"M-5\.1"):
        after(state, march(shifted(start, 0, 160)))


def test_m_4_23_a_march_takes_off_the_smoke_of_all_guns_and_moves_none() -> None:
    smoking, clear = gun("F1", "french", 400, 300, smoke=True), gun("F2", "french", 450, 300)
    other = gun("F3", "french", 500, 300, smoke=True)
    state = marching(smoking, clear, other)
    assert ClearSmoke() in GAME.legal(state)
    assert "F1 has smoke and stays where it is" in GAME.why_missing(state)
    with pytest.raises(Refused, match=r"M-4\.23"):
        after(state, march(shifted(smoking, 0, -40)))
    cleared, events = after(state, ClearSmoke())
    assert isinstance(cleared.step, MovingCommander)
    assert all(cleared.position.unit(name).state["smoke"] is False for name in ("F1", "F3"))
    assert events[0].facts["units"] == ["F1", "F3"]
    moved, _ = after(state, march(shifted(clear, 0, -40)))
    assert ClearSmoke() not in GAME.legal(moved)
    with pytest.raises(Refused, match=r"M-4\.23 F2 moved"):
        after(moved, ClearSmoke())
    with pytest.raises(Refused, match=r"M-4\.23 no unit of the force has smoke"):
        after(marching(clear), ClearSmoke())


def test_t_22_a_commander_passed_over_twice_is_displaced_twice_and_costs_once() -> None:
    first, second = line("F1", "french", 400, 300), line("F2", "french", 400, 200)
    leader = Commander("british-cinc", "british", 400, 390)
    state = marching(first, second, commanders=(leader,))
    state, events = after(state, march(shifted(first, 0, 160)))
    assert events[-1].rule == "M-6.29"
    assert isinstance(state.step, Displacing)
    assert GAME.asked(state).seat == "british"
    state, _ = after(state, PlaceCommander("british", 400.0, 350.0))
    assert state.step == Marching(("F1", "F2"), moved=("F1",))
    state, events = after(state, march(shifted(second, 0, 160)))
    assert isinstance(state.step, Displacing)
    state, _ = after(state, GAME.legal(state)[0])
    assert isinstance(state.step, MovingCommander)
    # He pays at the round's end, once for each side in it (M-6.30).
    assert state.round.displaced == {"british"}


def test_m_6_28_friends_and_markers_hinder_nobody_from_passing_over_their_own_commander() -> None:
    start = line("F1", "french", 400, 300)
    own = Commander("french-cinc", "french", 400, 390)
    state, events = after(marching(start, commanders=(own,)), march(shifted(start, 0, 160)))
    assert kinds(events) == ["march"]
    assert isinstance(state.step, MovingCommander)


@pytest.mark.parametrize(("too_far_mm", "is_taken"), [(0.9, True), (1.2, False)])
def test_g_8_on_a_measured_table_a_hands_slip_is_the_movers(
    too_far_mm: float, is_taken: bool
) -> None:
    seen = line("F1", "french", 400, 300, sigma_mm=0.006, sigma_deg=0.01)
    action = march(shifted(seen, 0, 160 + too_far_mm))
    if is_taken:
        _, events = after(marching(seen), action)
        assert events[0].facts["answer"] == "too_close"
    else:
        with pytest.raises(Refused, match=r"M-6\.17"):
            after(marching(seen), action)


@pytest.mark.parametrize(("x_mm", "y_mm"), [(0.8, 160.5), (-0.6, 160.7), (0.7, -80.5)])
def test_g_8_a_slip_aside_at_the_end_of_the_way_is_the_movers_too(x_mm: float, y_mm: float) -> None:
    """To wheel aside by it costs more than 1 mm, but no hand did that: it slipped by less."""
    seen = line("F1", "french", 400, 300, sigma_mm=0.006, sigma_deg=0.01)
    _, events = after(marching(seen), march(shifted(seen, x_mm, y_mm)))
    assert events[0].facts["answer"] == "too_close"
    assert "too close to call, so the mover decides" in events[0].text
    with pytest.raises(Refused, match=r"M-6\.1[37]"):
        after(marching(seen), march(shifted(seen, 2 * x_mm, y_mm + math.copysign(1.0, y_mm))))


def test_on_an_exact_table_nothing_is_a_hands_slip() -> None:
    exact = line("F1", "french", 400, 300)
    with pytest.raises(Refused, match=r"M-6\.17"):
        after(marching(exact), march(shifted(exact, 0, 160.5)))


def test_m_6_17_within_what_is_measured_the_mover_has_the_benefit_of_the_doubt() -> None:
    start = line("F1", "french", 400, 300, sigma_mm=0.5)
    state, events = after(marching(start), march(shifted(start, 0, 160.6)))
    assert events[0].facts["answer"] == "too_close"
    assert "too close to call, so the mover decides" in events[0].text
    assert isinstance(state.step, MovingCommander)


def test_the_marches_listed_for_each_formation_are_the_usual_ones() -> None:
    foot, horse = line("F1", "french", 400, 300), massed("F2", "french", 700, 300)
    guns, file = gun("F3", "french", 1000, 300), column("F4", "french", 1300, 300)
    listed = {unit.id: GAME.legal(marching(unit))[:-1] for unit in (foot, horse, guns, file)}
    ends = {name: {march.bases for march in found} for name, found in listed.items()}
    assert shifted(foot, 0, 80).bases in ends["F1"]
    assert shifted(foot, 0, 160).bases in ends["F1"]
    # Ahead by half and all, back, two wheels to either hand, about, two columns.
    assert len(ends["F1"]) == 2 + 1 + 4 + 1 + 2
    # The same, and into line in three ways, into column in two.
    assert len(ends["F2"]) == 2 + 1 + 4 + 1 + 3 + 2
    # Two lengths to four sides, two turns on the spot.
    assert len(ends["F3"]) == 8 + 2
    # 4, 6 and 12 BW ahead, about, two lines, with a move after them or none.
    assert len(ends["F4"]) == 3 + 1 + 4


def test_a_listed_march_stops_short_of_an_enemy_ahead() -> None:
    start, enemy = line("F1", "french", 400, 300), line("B1", "british", 400, 420, 270)
    farthest = max(
        action.bases[0].y_mm
        for action in GAME.legal(marching(start, enemy))
        if isinstance(action, March)
    )
    assert 300 + 77.9 < farthest < 300 + 79


def test_the_commander_is_placed_anew_before_the_march_goes_on() -> None:
    start = line("F1", "french", 400, 300)
    leader = Commander("british-cinc", "british", 400, 390)
    state = marching(start, line("F2", "french", 900, 300), commanders=(leader,))
    state, _ = after(state, march(shifted(start, 0, 160)))
    with pytest.raises(Refused):
        after(state, Done())
    state, _ = after(state, PlaceCommander("british", 400.0, 350.0))
    assert isinstance(state.step, Marching)
