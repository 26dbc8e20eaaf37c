"""The combat as steps of a game (M-8.19 to M-8.27): the checklist's examples as they are played."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tablecam.rules.game import Refused
from tablecam.rules.maurice.combat.combat import meeting
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.field.requests import Combat
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Done, FallBack
from tablecam.rules.maurice.game.combat import ChoosingFallBacks, RollingCombat
from tablecam.rules.maurice.game.commander import Displacing, MovingCommander
from tablecam.rules.maurice.game.state import Modifier, Over, State
from tablecam.rules.maurice.resolve import resolve
from tablecam.table.model import Commander, Terrain, Unit
from tablecam.table.position_file import position_to_json
from tests.rules.maurice.combat.test_combat import complete_example
from tests.rules.maurice.game.states import after, dice, kinds, level, state_at
from tests.rules.maurice.tables import column, gun, line, massed, position

SOUTH = 270.0


def ground(kind: str, x_mm: float, y_mm: float, width_mm: float, depth_mm: float) -> Terrain:
    right, top = x_mm + width_mm, y_mm + depth_mm
    return Terrain(kind, kind, ((x_mm, y_mm), (right, y_mm), (right, top), (x_mm, top)))


def combat(
    *units: Unit, engaged: str, terrain: tuple[Terrain, ...] = (), **of_round: object
) -> State:
    """All charges made, the dice of those engaged due."""
    commanders = of_round.pop("commanders", ())
    table = position(*units, terrain=terrain, commanders=commanders)
    step = RollingCombat(tuple(engaged.split()))
    return state_at(table, step, command="charge", hand=0, **of_round)


def test_m_8_19_one_roll_for_all_in_the_order_that_it_names() -> None:
    attacker, defender = line("F1", "french", 500, 580), line("B1", "british", 500, 620, SOUTH)
    state = combat(attacker, defender, engaged="F1 B1")
    (due,) = GAME.legal(state)
    assert (due.for_, due.count) == ("combat: F1, B1", 2)
    assert GAME.asked(state).seat is None
    won, events = after(state, dice(state, 6, 1))
    _, back = after(won, FallBack("F1"))
    assert back[0].text == (
        "F1: still touches an enemy: an attacker falls back 1 BW, even a winner"
    )
    scores = {each.facts["unit"]: each.facts["score"] for each in events if each.kind == "score"}
    assert scores == {"F1": 12, "B1": 7}
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
    # A leaves the woods in which it stands: one more (M-8.27).
    assert level(state, "A") == 3
    assert {base.y_mm for base in state.position.unit("A").bases} == {540.0}
    assert isinstance(state.step, MovingCommander)


def test_m_8_18_swords_count_for_the_units_that_they_name() -> None:
    attacker, defender = line("F1", "french", 500, 580), line("B1", "british", 500, 620, SOUTH)
    cards = (Modifier("french", "swords", {"F1": 2}), Modifier("british", "swords", {"B1": 1}))
    state = combat(attacker, defender, engaged="F1 B1", modifiers=cards)
    _, events = after(state, dice(state, 1, 1))
    assert [each.facts["score"] for each in events if each.kind == "score"] == [9, 8]


def test_t_33_one_against_two_who_meet_nobody_else_is_outnumbered_by_both() -> None:
    attackers = (line("F1", "french", 420, 580), line("F2", "french", 580, 580))
    state = combat(*attackers, line("B1", "british", 500, 620, SOUTH), engaged="F1 F2 B1")
    _, events = after(state, dice(state, 1, 1, 1))
    assert [each.facts["score"] for each in events if each.kind == "score"] == [7, 7, 5]


def test_t_34_a_column_with_a_disruption_scores_its_die() -> None:
    attacker = line("F1", "french", 500, 580)
    state = combat(
        attacker, column("B1", "british", 500, 680, SOUTH, disruption=1), engaged="F1 B1"
    )
    _, events = after(state, dice(state, 1, 3))
    assert [each.facts["score"] for each in events if each.kind == "score"] == [7, 3]


def test_t_35_a_defender_with_four_breaks_though_he_wins_and_nobody_falls_back() -> None:
    attacker = line("F1", "french", 500, 580)
    defender = line("B1", "british", 500, 620, SOUTH, disruption=4)
    state, events = after(state := combat(attacker, defender, engaged="F1 B1"), dice(state, 1, 6))
    assert state.position.unit("B1") is None
    assert level(state, "F1") == 1
    assert isinstance(state.step, MovingCommander)
    assert kinds(events)[-2:] == ["broken", "morale"]
    assert [shape.role for shape in events[-2].evidence] == ["unit", "result"]


def test_t_36_reached_across_the_gap_by_one_who_stands_it_does_not_fall_back() -> None:
    gone = line("B1", "british", 570, 620, SOUTH, disruption=4)
    stands = line("B2", "british", 400, 630, SOUTH)
    state = combat(line("F1", "french", 500, 580), gone, stands, engaged="F1 B1 B2")
    state, _ = after(state, dice(state, 1, 1, 6))
    assert level(state, "F1") == 2
    assert isinstance(state.step, MovingCommander)


def test_t_37_it_falls_back_through_a_friend_to_the_first_open_ground() -> None:
    attacker, defender = line("F1", "french", 500, 580), line("B1", "british", 500, 620, SOUTH)
    cases = [
        (line("F2", "french", 500, 525), (2, 1)),
        (column("F2", "french", 500, 525, 0), (2, 0)),
        (gun("F2", "french", 500, 525), (2, 0)),
    ]
    for friend, levels in cases:
        state = combat(attacker, friend, defender, engaged="F1 B1")
        state, _ = after(state, dice(state, 6, 4), FallBack("F1"))
        assert (level(state, "F1"), level(state, "F2")) == levels
        assert state.position.unit("F1").bases[0].y_mm == pytest.approx(580 - 95)


def test_t_37_a_friend_with_four_is_broken_by_it_and_costs_morale() -> None:
    attacker, defender = line("F1", "french", 500, 580), line("B1", "british", 500, 620, SOUTH)
    friend = line("F2", "french", 500, 525, disruption=4)
    state = combat(attacker, friend, defender, engaged="F1 B1")
    state, _ = after(state, dice(state, 6, 4), FallBack("F1"))
    assert level(state, "F2") is None
    assert state.side("french").morale == 4


def test_t_37_an_enemy_behind_or_rough_ground() -> None:
    attacker, defender = line("F1", "french", 500, 580), line("B1", "british", 500, 620, SOUTH)
    behind = line("B2", "british", 500, 515)
    state = combat(attacker, defender, behind, engaged="F1 B1")
    state, events = after(state, dice(state, 6, 4), FallBack("F1"))
    assert level(state, "F1") is None
    assert events[-3].rule == "M-8.27"
    rough = (ground("rough", 480, 525, 40, 20),)
    state = combat(attacker, defender, engaged="F1 B1", terrain=rough)
    state, _ = after(state, dice(state, 6, 4), FallBack("F1"))
    assert level(state, "F1") == 2


def test_m_8_27_in_rough_going_nobody_falls_back_through_difficult_ground() -> None:
    attacker, defender = line("F1", "french", 500, 580), line("B1", "british", 500, 620, SOUTH)
    rough = (ground("rough", 480, 525, 40, 20),)
    state = combat(attacker, defender, engaged="F1 B1", terrain=rough, is_rough_going=True)
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
    """Three attackers who fall back through each other, and whom they charged."""
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
    state = state_at(position(*echelon(0, 4, 0)), ChoosingFallBacks(("F1", "F2")), hand=0)
    state, _ = after(state, FallBack("F1"))
    assert level(state, "F2") is None
    assert isinstance(state.step, MovingCommander)


def test_m_8_20_passive_units_break_first_and_may_end_the_game() -> None:
    attacker = line("F1", "french", 500, 580, disruption=4)
    defender = line("B1", "british", 500, 620, SOUTH, disruption=4)
    state = combat(attacker, defender, engaged="F1 B1", morale=1)
    state, _ = after(state, dice(state, 1, 1))
    assert isinstance(state.step, Over)
    assert state.step.winner == "french"
    # The attacker broke, too, but nobody asks any more (M-2.5).
    assert state.side("french").morale == 1


def test_m_6_29_a_commander_stood_upon_by_who_falls_back_is_displaced() -> None:
    attacker, defender = line("F1", "french", 500, 580), line("B1", "british", 500, 620, SOUTH)
    leader = Commander("british-cinc", "british", 500, 535)
    state = combat(attacker, defender, engaged="F1 B1", commanders=(leader,))
    state, _ = after(state, dice(state, 6, 4), FallBack("F1"))
    assert isinstance(state.step, Displacing)
    assert isinstance(state.step.then, MovingCommander)


ORDERS = [("F1", "F2", "F3"), ("F3", "F1", "F2"), ("F2", "F3", "F1")]


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
@pytest.mark.parametrize("shown", [(1, 2, 3, 4, 5, 6), (6, 1, 6, 2, 5, 1), (3, 3, 3, 3, 3, 3)])
def test_played_step_by_step_it_ends_as_resolved_at_once(
    order: tuple[str, ...], shown: tuple[int, ...]
) -> None:
    rough = (ground("rough", 330, 440, 120, 40),)
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
