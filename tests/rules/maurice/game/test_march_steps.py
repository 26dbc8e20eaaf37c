"""Marching as steps of a game (chapter 6): effects on the unit, its friends and commanders."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import pytest

from tablecam.rules.game import Refused
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import (
    Charge,
    ClearSmoke,
    Discard,
    Done,
    March,
    PlaceCommander,
)
from tablecam.rules.maurice.game.cards import Discarding
from tablecam.rules.maurice.game.commander import Displacing, MovingCommander
from tablecam.rules.maurice.game.march import Marching
from tablecam.rules.maurice.game.state import Modifier
from tablecam.table.model import Commander, Unit
from tablecam.testing import shifted
from tests.rules.maurice.game.states import after, kinds, laid, level, march, marching
from tests.rules.maurice.game.varied_games import uneven
from tests.rules.maurice.tables import BW, FAR, SOUTH, box, column, gun, line, massed


def tired(unit: Unit, disruption: int) -> Unit:
    return replace(unit, state={"disruption": disruption})


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
    units = line("F1", "french", 400, 300), line("F2", "french", 700, 300), FAR
    for unit in units[1:]:
        state = laid(Marching(("F1",)), *units, command="march")
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
    woods = (box("woods", 340, 340, 370, 370), box("rough", 430, 360, 460, 420))
    state, events = after(marching(start, terrain=woods), march(shifted(start, 0, 160)))
    assert level(state, "F1") == 1
    assert [(each.kind, each.rule) for each in events[1:]] == [("disrupted", "M-6.3")]
    # Both pieces of terrain on its way are drawn.
    assert [shape.role for shape in events[1].evidence] == [
        "intrusion",
        "intrusion",
        "unit",
        "result",
    ]


HORSE, WIDE_HORSE = massed("F1", "french", 400, 300), line("F1", "french", 400, 300, arm="cavalry")
NEAR, NEXT = line("F2", "french", 400, 360), line("F3", "french", 400, 430)
ALLEY = (box("impassable", 250, 250, 360, 550), box("impassable", 440, 250, 550, 550))
WOOD = (box("woods", 350, 395, 450, 410),)


@pytest.mark.parametrize(
    ("mover", "friends", "by_bw", "terrain", "levels"),
    [
        (WIDE_HORSE, [column("F2", "french", 400, 420, 0, arm="cavalry")], 5, (), (1, 0)),
        (HORSE, [line("F2", "french", 400, 420)], 6, (), (1, 1)),
        # Walled in, so that the only way is through.
        (gun("F1", "french", 400, 300), [massed("F2", "french", 400, 380)], 4, ALLEY, (0, 1)),
        (WIDE_HORSE, [NEAR, NEXT], 4.5, (), (2, 1, 1)),
        (tired(WIDE_HORSE, 2), [NEAR], 4, WOOD, (4, 1)),
    ],
    ids=["through a column", "through a line", "a gun", "through two", "and a wood (M-6.3)"],
)
def test_t_16_passing_through_friends_disrupts_both_but_for_columns_and_guns(
    mover, friends, by_bw, terrain, levels
):
    state = marching(mover, *friends, terrain=terrain)
    state, events = after(state, march(shifted(mover, 0, by_bw * BW)))
    assert tuple(level(state, f"F{place}") for place, _ in enumerate(levels, 1)) == levels
    assert "M-6.7" in {event.rule for event in events}


@pytest.mark.parametrize(
    ("mover", "friends", "by_bw", "terrain"),
    [
        (tired(HORSE, 4), [line("F2", "french", 400, 420)], 6, ()),
        (HORSE, [line("F2", "french", 400, 420, disruption=4)], 6, ()),
        (HORSE, [line("F2", "french", 400, 420)], 2.5, ()),
        (tired(WIDE_HORSE, 3), [NEAR, NEXT], 4.5, ()),
        (tired(WIDE_HORSE, 3), [NEAR], 4, WOOD),
    ],
    ids=["it would break", "he would break", "ends on him", "two would break it", "and a wood"],
)
def test_t_16_nobody_passes_where_it_would_break_either_or_ends_on_a_friend(
    mover, friends, by_bw, terrain
):
    with pytest.raises(Refused, match=r"M-6\.[48]"):
        after(marching(mover, *friends, terrain=terrain), march(shifted(mover, 0, by_bw * BW)))


def test_m_6_8_who_was_passed_through_to_four_lets_nobody_else_through() -> None:
    friend = line("F9", "french", 500, 380, disruption=3)
    first, second = line("F1", "french", 420, 300), line("F2", "french", 600, 300)
    state, _ = after(marching(first, second, friend), march(shifted(first, 0, 4 * BW)))
    assert level(state, "F9") == 4
    with pytest.raises(Refused, match=r"M-6\.8"):
        after(state, march(shifted(second, 0, 4 * BW)))


def test_m_6_21_a_change_of_formation_and_an_about_face_are_told_and_remembered() -> None:
    start, formed = line("F1", "french", 400, 300), column("F1", "french", 400, 300, 0)
    state, events = after(marching(start), march(formed))
    assert events[0].text == "F1 changes its formation: 4.00 BW of 4"
    assert state.position.unit("F1").formation == "column"
    _, events = after(marching(start), march(line("F1", "french", 400, 300, SOUTH)))
    assert events[0].text == "F1 faces about"


def test_t_8_in_rough_going_difficult_ground_is_impassable() -> None:
    start = line("F1", "french", 400, 300)
    ahead = (box("rough", 340, 340, 400, 370),)
    state = marching(start, terrain=ahead, is_rough_going=True)
    assert GAME.why_missing(state) == "F1: impassable ground (Rough) lies ahead"
    with pytest.raises(Refused, match=r"M-5\.1 F1 would cross impassable ground \(Rough\)"):
        after(state, march(shifted(start, 0, 160)))
    after(state, march(shifted(start, 0, -80)))
    standing = (box("rough", 340, 290, 400, 320),)
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
    with pytest.raises(Refused):
        after(state, Done())
    state, _ = after(state, PlaceCommander("british", 400.0, 350.0))
    assert state.step == Marching(("F1", "F2"), moved=("F1",))
    state, events = after(state, march(shifted(second, 0, 160)))
    assert isinstance(state.step, Displacing)
    state, _ = after(state, GAME.legal(state)[0])
    assert isinstance(state.step, MovingCommander)
    # The price is paid at the round's end, once per side (M-6.30).
    assert state.round.displaced == {"british"}


def test_m_6_28_friends_and_markers_hinder_nobody_from_passing_over_their_own_commander() -> None:
    start = line("F1", "french", 400, 300)
    own = Commander("french-cinc", "french", 400, 390)
    state, events = after(marching(start, commanders=(own,)), march(shifted(start, 0, 160)))
    assert kinds(events) == ["march"]
    assert isinstance(state.step, MovingCommander)


@pytest.mark.parametrize(
    ("sigma_mm", "x_mm", "y_mm", "is_taken"),
    [
        (0.006, 0.0, 160.9, True),
        (0.006, 0.0, 161.2, False),
        (0.006, 0.8, 160.5, True),  # a wheel costs more than 1 mm, but this is only a slip
        (0.006, -0.6, 160.7, True),
        (0.006, 0.7, -80.5, True),
        (0.006, 1.6, 161.5, False),
        (0.006, 1.4, -81.5, False),
        (0.5, 0.0, 160.6, True),
        (0.0, 0.0, 160.5, False),
    ],
)
def test_m_6_17_on_a_measured_table_a_hands_slip_is_the_movers(sigma_mm, x_mm, y_mm, is_taken):
    seen = line("F1", "french", 400, 300, sigma_mm=sigma_mm, sigma_deg=min(sigma_mm, 0.01))
    state, there = marching(seen), march(shifted(seen, x_mm, y_mm))
    if not is_taken:
        with pytest.raises(Refused, match=r"M-6\.1[37]"):
            after(state, there)
        return
    _, events = after(state, there)
    assert events[0].facts["answer"] == "too_close"
    assert re.search("within (the camera|a hand)'s error", events[0].text)


def test_m_6_30_both_commanders_displaced_in_one_round_pay_each_his_own() -> None:
    leaders = (Commander("fc", "french", 400, 460), Commander("bc", "british", 420, 360))
    mover = line("F1", "french", 400, 300)
    state = marching(mover, commanders=leaders, hand=2)
    state, _ = after(state, march(shifted(mover, 0, 4 * BW)))
    assert (state.step.side, type(state.step)) == ("british", Displacing)
    state, _ = after(state, GAME.legal(state)[0], Done())
    assert (state.step.side, type(state.step)) == ("french", Displacing)
    state, _ = after(state, GAME.legal(state)[0])
    while isinstance(state.step, Discarding):
        state, _ = after(state, Discard(state.step.side, state.step.count))
    assert [side.hand for side in state.sides] == [1, 1]


def test_the_marches_listed_for_each_formation_are_the_usual_ones() -> None:
    foot, horse = line("F1", "french", 400, 300), massed("F2", "french", 700, 300)
    guns, file = gun("F3", "french", 1000, 300), column("F4", "french", 1300, 300)
    listed = {unit.id: GAME.legal(marching(unit))[:-1] for unit in (foot, horse, guns, file)}
    ends = {name: {march.bases for march in found} for name, found in listed.items()}
    assert shifted(foot, 0, 80).bases in ends["F1"]
    assert shifted(foot, 0, 160).bases in ends["F1"]
    # Half and all ahead, back, two wheels to either side, about-face, two columns.
    assert len(ends["F1"]) == 2 + 1 + 4 + 1 + 2
    # The same, and three lines, two columns.
    assert len(ends["F2"]) == 2 + 1 + 4 + 1 + 3 + 2
    # Two lengths in four directions, two turns on the spot.
    assert len(ends["F3"]) == 8 + 2
    # 4, 6 and 12 BW ahead, about-face, two lines, with or without a move after them.
    assert len(ends["F4"]) == 3 + 1 + 4


def test_a_listed_march_stops_short_of_an_enemy_ahead() -> None:
    start, enemy = line("F1", "french", 400, 300), line("B1", "british", 400, 420, 270)
    farthest = max(
        action.bases[0].y_mm
        for action in GAME.legal(marching(start, enemy))
        if isinstance(action, March)
    )
    assert 300 + 77.9 < farthest < 300 + 79
