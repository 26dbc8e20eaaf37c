"""Combat as steps of a game (M-8.19 to M-8.27): the checklist's examples, played through."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tablecam.rules.game import Refused
from tablecam.rules.maurice.combat.combat import meeting
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.field.requests import Combat
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Done, FallBack
from tablecam.rules.maurice.game.combat import ChoosingFallBacks
from tablecam.rules.maurice.game.commander import Displacing, MovingCommander
from tablecam.rules.maurice.game.state import Modifier, Over
from tablecam.rules.maurice.resolve import resolve
from tablecam.table.model import Commander, Unit
from tablecam.table.position_file import position_to_json
from tests.rules.maurice.combat.test_combat import complete_example
from tests.rules.maurice.game.states import after, combat, dice, kinds, laid, level, scores
from tests.rules.maurice.tables import SOUTH, box, gun, line, massed, position

ATTACKER, DEFENDER = line("F1", "french", 500, 580), line("B1", "british", 500, 620, SOUTH)


def test_m_8_19_one_roll_for_all_in_the_order_that_it_names() -> None:
    state = combat(ATTACKER, DEFENDER, engaged="F1 B1")
    (due,) = GAME.legal(state)
    assert (due.for_, due.count) == ("combat: F1, B1", 2)
    assert GAME.asked(state).seat is None
    won, events = after(state, dice(state, 6, 1))
    _, back = after(won, FallBack("F1"))
    assert back[0].text == "F1: falls back 1 BW: an attacker in contact does, even a winner"
    assert scores(events) == {"F1": 12, "B1": 7}
    with pytest.raises(Refused, match="expected 2 dice"):
        after(state, replace(due, values=(6,)))
    with pytest.raises(Refused, match="expected 2 dice for combat: F1, B1, got done"):
        after(state, Done())


def test_t_32_the_complete_example_is_played_as_the_book_tells_it() -> None:
    units, terrain = complete_example()
    units = [replace(unit, side="british") if unit.side == "austrian" else unit for unit in units]
    state = combat(*units, engaged="A B C 1 2 3 4 5 6", terrain=terrain)
    state, events = after(state, dice(state, 1, 6, 3, 4, 4, 3, 6, 2, 3))
    assert [each.text.split()[0] for each in events if each.kind == "broken"] == ["4", "5", "6"]
    assert {name: level(state, name) for name in "ABC123"} == dict(
        zip("ABC123", (2, 1, 2, 1, 2, 1), strict=True)
    )
    assert state.side("british").morale == 2
    assert state.step == ChoosingFallBacks(("A", "B", "C"))
    state, _ = after(state, FallBack("B"), FallBack("A"), FallBack("C"))
    # A leaves the woods in which it stands: one more disruption (M-8.27).
    assert level(state, "A") == 3
    assert {base.y_mm for base in state.position.unit("A").bases} == {540.0}
    assert isinstance(state.step, MovingCommander)


def test_m_8_18_swords_of_both_sides_add_up_for_the_units_that_they_name() -> None:
    cards = (
        Modifier("french", "swords", {"F1": 2}),
        Modifier("british", "swords", {"B1": 1, "F1": -1}),
        Modifier("french", "musket", {"F1": 3}),  # does not count in combat (M-3.5)
    )
    state = combat(ATTACKER, DEFENDER, engaged="F1 B1", modifiers=cards)
    assert scores(after(state, dice(state, 1, 1))[1]) == {"F1": 8, "B1": 8}


def test_t_35_a_defender_with_four_breaks_though_he_wins_and_nobody_falls_back() -> None:
    defender = line("B1", "british", 500, 620, SOUTH, disruption=4)
    state = combat(ATTACKER, defender, engaged="F1 B1")
    state, events = after(state, dice(state, 1, 6))
    assert state.position.unit("B1") is None
    assert level(state, "F1") == 1
    assert isinstance(state.step, MovingCommander)
    assert kinds(events)[-2:] == ["broken", "morale"]
    assert [shape.role for shape in events[-2].evidence] == ["unit", "result"]


def test_t_37_a_friend_with_four_is_broken_by_it_and_costs_morale() -> None:
    friend = line("F2", "french", 500, 525, disruption=4)
    state = combat(ATTACKER, friend, DEFENDER, engaged="F1 B1")
    state, _ = after(state, dice(state, 6, 4), FallBack("F1"))
    assert level(state, "F2") is None
    assert state.side("french").morale == 4


def test_m_8_27_in_rough_going_nobody_falls_back_through_difficult_ground() -> None:
    rough = (box("rough", 480, 525, 520, 545),)
    state = combat(ATTACKER, DEFENDER, engaged="F1 B1", terrain=rough, is_rough_going=True)
    state, events = after(state, dice(state, 6, 4), FallBack("F1"))
    assert level(state, "F1") is None
    assert events[-3].rule == "M-8.27"


def test_m_8_24_the_charging_side_chooses_the_order() -> None:
    first = line("F1", "french", 500, 580)
    second = massed("F2", "french", 340, 560)
    enemies = (line("B1", "british", 500, 620, SOUTH), line("B2", "british", 340, 620, SOUTH))
    state = combat(first, second, *enemies, engaged="F1 F2 B1 B2")
    state, _ = after(state, dice(state, 3, 3, 3, 3))
    assert state.step == ChoosingFallBacks(("F2", "F1"))
    assert GAME.legal(state) == (FallBack("F2"), FallBack("F1"))
    assert GAME.asked(state).seat == "french"
    state, _ = after(state, FallBack("F1"))
    assert state.step == ChoosingFallBacks(("F2",))
    with pytest.raises(Refused, match=r"M-8\.23 expected one of F2, got F1"):
        after(state, FallBack("F1"))
    with pytest.raises(Refused, match=r"M-8\.24 expected a unit to fall back, got done"):
        after(state, Done())


def echelon(*levels: int) -> tuple[Unit, ...]:
    """Three attackers that fall back through each other, and their enemy."""
    first, second, third = levels
    return (
        line("F1", "french", 500, 580, disruption=first),
        line("F2", "french", 640, 540, disruption=second),
        massed("F3", "french", 400, 520, disruption=third),
        line("B1", "british", 500, 620, SOUTH),
        gun("B2", "british", 640, 580, SOUTH),
        line("B3", "british", 340, 580, SOUTH),
    )


def test_m_8_24_a_friend_broken_by_who_fell_back_first_falls_back_no_more() -> None:
    state = laid(ChoosingFallBacks(("F1", "F2")), *echelon(0, 4, 0), hand=0)
    state, _ = after(state, FallBack("F1"))
    assert level(state, "F2") is None
    assert isinstance(state.step, MovingCommander)


def test_m_2_5_a_friend_broken_by_a_fall_back_may_cost_the_battle() -> None:
    state = laid(ChoosingFallBacks(("F1", "F2")), *echelon(0, 4, 0), hand=0, morale=1)
    state, _ = after(state, FallBack("F1"))
    assert isinstance(state.step, Over)
    assert state.step.winner == "british"


def test_m_8_20_passive_units_break_first_and_may_end_the_game() -> None:
    attacker = line("F1", "french", 500, 580, disruption=4)
    defender = line("B1", "british", 500, 620, SOUTH, disruption=4)
    state = combat(attacker, defender, engaged="F1 B1", morale=1)
    state, _ = after(state, dice(state, 1, 1))
    assert isinstance(state.step, Over)
    assert state.step.winner == "french"
    # The attacker broke too, but that no longer matters (M-2.5).
    assert state.side("french").morale == 1


def test_m_6_29_a_commander_stood_upon_by_who_falls_back_is_displaced() -> None:
    leader = Commander("british-cinc", "british", 500, 535)
    state = combat(ATTACKER, DEFENDER, engaged="F1 B1", commanders=(leader,))
    state, _ = after(state, dice(state, 6, 4), FallBack("F1"))
    assert isinstance(state.step, Displacing)
    assert isinstance(state.step.then, MovingCommander)


ORDERS = [("F1", "F2", "F3"), ("F3", "F1", "F2"), ("F2", "F3", "F1")]


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
@pytest.mark.parametrize("shown", [(1, 2, 3, 4, 5, 6), (6, 1, 6, 2, 5, 1), (3, 3, 3, 3, 3, 3)])
def test_played_step_by_step_it_ends_as_resolved_at_once(
    order: tuple[str, ...], shown: tuple[int, ...]
) -> None:
    rough = (box("rough", 330, 440, 450, 480),)
    table = position(*echelon(2, 1, 3), terrain=rough)
    engaged = tuple(meeting(field_of(table), "french").engaged)
    assert len(engaged) == len(shown)
    values = dict(zip(engaged, shown, strict=True))
    at_once = resolve(field_of(table), Combat("french", {}, values, order))
    state = combat(*table.units, engaged=" ".join(engaged), terrain=rough)
    state, _ = after(state, dice(state, *shown))
    while isinstance(state.step, ChoosingFallBacks):
        chosen = next(name for name in order if name in state.step.attackers)
        state, _ = after(state, FallBack(chosen))
    assert position_to_json(state.position)["units"] == at_once["position"]["units"]
