"""Volleys and bombardments as steps of a game (chapter 7)."""

from dataclasses import replace

import pytest

from tablecam.rules.game import Refused
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Done, Fire, FireFrom
from tablecam.rules.maurice.game.command import CommandChoice
from tablecam.rules.maurice.game.commander import MovingCommander
from tablecam.rules.maurice.game.fire import Firing, RollingToDisrupt, RollingToHit
from tablecam.rules.maurice.game.state import Modifier, Over, State
from tablecam.table.model import Terrain
from tests.rules.maurice.game.states import after, dice, kinds, level, state_at
from tests.rules.maurice.tables import BW, gun, line, position

SOUTH = 270.0
ALL_OF_F1 = {f"F1/{place}": "B1" for place in (1, 2, 3, 4)}


def two_lines(**more: object) -> State:
    """F1 and B1 in line, 3 BW apart, the french about to fire."""
    table = position(
        line("F1", "french", 600, 400),
        line("B1", "british", 600, 400 + 4 * BW, SOUTH, **more),
        line("B2", "british", 1500, 1000, SOUTH),
    )
    return state_at(table, Firing("volley", "french", next_sides=("british",)))


def declared(state: State) -> State:
    return after(state, FireFrom("left"), Fire("F1", ALL_OF_F1))[0]


def test_m_7_8_of_two_that_can_fire_the_player_first_says_from_which_end_and_one_just_fires() -> (
    None
):
    one = two_lines()
    two = state_at(position(*one.position.units, gun("F2", "french", 700, 400)), one.step)
    assert GAME.legal(two) == (FireFrom("left"), FireFrom("right"), Done())
    with pytest.raises(Refused, match=r"M-7\.8"):
        after(two, Fire("F1", ALL_OF_F1))
    assert GAME.legal(one) == (Fire("F1", ALL_OF_F1), Done())
    assert isinstance(after(one, Fire("F1", ALL_OF_F1))[0].step, RollingToHit)


def test_m_7_14_fire_that_leaves_no_choice_is_listed_once() -> None:
    # The middle bases stand in water; of the outer two each has one target of its own.
    pond = Terrain("pond", "pond", ((465, 370), (535, 370), (535, 390), (465, 390)))
    table = position(
        line("F1", "french", 500, 400),
        gun("B1", "british", 430, 500, SOUTH),
        gun("B2", "british", 570, 500, SOUTH),
        terrain=[pond],
    )
    state = state_at(table, Firing("volley", "french", direction="left"))
    fire = [action for action in GAME.legal(state) if isinstance(action, Fire)]
    assert fire == [Fire("F1", {"F1/1": "B1", "F1/4": "B2"})]


def test_m_7_8_units_are_listed_from_the_end_that_was_chosen() -> None:
    table = position(
        line("F1", "french", 400, 400),
        line("F2", "french", 600, 400),
        line("B1", "british", 400, 560, SOUTH),
        line("B2", "british", 600, 560, SOUTH),
    )
    state = state_at(table, Firing("volley", "french"))
    firsts = {
        end: next(iter(GAME.legal(after(state, FireFrom(end))[0]))) for end in ("left", "right")
    }
    assert firsts["left"].unit == "F1"
    assert firsts["right"].unit == "F2"


def test_m_7_8_all_dice_to_hit_come_before_any_to_disrupt() -> None:
    table = position(
        line("F1", "french", 600, 400),
        line("F2", "french", 800, 400),
        line("B1", "british", 600, 560, SOUTH),
        line("B2", "british", 800, 560, SOUTH),
    )
    state = declared(state_at(table, Firing("volley", "french", next_sides=("british",))))
    assert isinstance(state.step, RollingToHit)
    state, told = after(state, dice(state, 4, 1, 6, 3))
    assert kinds(told) == ["shot"]
    assert isinstance(state.step, Firing)  # F2 may fire yet
    assert level(state, "B1") == 0
    state, _ = after(state, Done())
    assert isinstance(state.step, RollingToDisrupt)
    state, told = after(state, dice(state, 4, 3))
    assert level(state, "B1") == 1
    assert told[0].text == "B1 is hit: 4 3, needs 4+: +1 disruption"


def test_m_7_8_when_nobody_may_fire_any_more_the_dice_to_disrupt_are_due() -> None:
    state = declared(two_lines())
    state, _ = after(state, dice(state, 4, 1, 1, 1))
    assert isinstance(state.step, RollingToDisrupt)


def test_m_7_25_disruptions_add_to_what_is_there_and_break_the_unit() -> None:
    state = declared(two_lines(disruption=3))
    state, _ = after(state, dice(state, 4, 4, 1, 1))
    state, told = after(state, dice(state, 5, 5))
    assert level(state, "B1") is None
    assert kinds(told) == ["disrupted", "broken", "morale"]
    assert state.side("british").morale == 4


def test_m_7_25_disruptions_add_to_what_is_there_of_who_stands() -> None:
    state = declared(two_lines(disruption=2))
    state, _ = after(state, dice(state, 4, 4, 4, 1))
    state, _ = after(state, dice(state, 4, 3, 6))
    assert level(state, "B1") == 4


def test_m_2_5_the_game_is_over_as_soon_as_an_army_has_no_morale_left() -> None:
    table = position(
        line("F1", "french", 600, 400), line("B1", "british", 600, 560, SOUTH, disruption=4)
    )
    state = state_at(table, Firing("volley", "french", next_sides=("british",)), morale=1)
    state, _ = after(declared(state), dice(declared(state), 6, 1, 1, 1))
    state, _ = after(state, dice(state, 6))
    assert state.step == Over("french", "the British army has no morale left: French win", "M-4.1")
    assert GAME.legal(state) == ()
    assert GAME.asked(state).is_over


def test_m_7_2_the_passive_side_fires_with_what_is_left_then_the_command_is_chosen() -> None:
    state, _ = after(two_lines(), Done())
    assert isinstance(state.step, Firing)
    assert state.step.side == "british"
    state, _ = after(state, Done())
    assert isinstance(state.step, CommandChoice)


def test_m_7_7_a_unit_fires_once_in_a_round() -> None:
    fired = replace(two_lines().round, fired=frozenset({"F1"}))
    state = replace(two_lines(), round=fired)
    assert GAME.legal(state) == (Done(),)
    state, _ = after(two_lines(), FireFrom("left"))
    with pytest.raises(Refused, match=r"M-7\.7 F1 has already fired"):
        after(replace(state, round=fired), Fire("F1", ALL_OF_F1))


def test_m_7_5_bases_may_hold_their_fire() -> None:
    state, _ = after(two_lines(), FireFrom("left"), Fire("F1", {"F1/2": "B1"}))
    (due,) = GAME.legal(state)
    assert due.count == 1


def test_m_7_12_a_base_may_not_fire_at_what_its_zone_does_not_reach() -> None:
    state, _ = after(two_lines(), FireFrom("left"))
    with pytest.raises(Refused, match=r"may not fire at B2 \(M-7\.12\)"):
        after(state, Fire("F1", {"F1/1": "B2"}))
    assert GAME.legal(state)  # nothing has changed


def test_an_unknown_base_a_foreign_unit_and_no_target_are_refused() -> None:
    state, _ = after(two_lines(), FireFrom("left"))
    for action, said in (
        (Fire("F1", {"F1/9": "B1"}), "has no base F1/9"),
        (Fire("B1", {"B1/1": "F1"}), "expected a unit of French, got B1"),
        (Fire("F1", {}), "expected a target"),
        (FireFrom("right"), "expected a unit's fire or done, got fire-from"),
    ):
        with pytest.raises(Refused, match=said):
            after(state, action)


def test_the_dice_must_be_those_that_are_due() -> None:
    state = declared(two_lines())
    for values, said in (((1, 2, 3), "4 dice for F1 to hit, got 3"), ((1, 2, 3, 7), "from 1 to 6")):
        with pytest.raises(Refused, match=said):
            after(state, dice(state, *values))


def test_m_7_20_canister_rolls_two_dice_and_m_4_23_smokes() -> None:
    table = position(gun("F1", "french", 600, 400), line("B1", "british", 600, 540, SOUTH))
    state = state_at(table, Firing("volley", "french"))
    state, _ = after(state, FireFrom("left"), Fire("F1", {"F1/1": "B1"}))
    (due,) = GAME.legal(state)
    assert due.count == 2
    assert state.position.unit("F1").state["smoke"] is True
    _, events = after(state, dice(state, 5, 6))
    assert events[0].text == "F1 at B1: 5 6, needs 4+: 2 hits"


def bombardment(target: object) -> State:
    table = position(gun("F1", "french", 600, 200), gun("F2", "french", 660, 200), target)
    firing = Firing("bombard", "french", may=("F1",))
    return state_at(table, firing, command="bombard")


def test_m_7_3_only_the_activated_guns_bombard() -> None:
    state, _ = after(bombardment(line("B1", "british", 600, 700, SOUTH)), FireFrom("left"))
    assert {each.unit for each in GAME.legal(state) if isinstance(each, Fire)} == {"F1"}
    with pytest.raises(Refused, match=r"M-7\.3 F2"):
        after(state, Fire("F2", {"F2/1": "B1"}))


def test_m_7_26_a_bombarded_gun_is_disrupted_by_a_6_alone() -> None:
    state = bombardment(gun("B1", "british", 600, 700, SOUTH))
    state, _ = after(state, FireFrom("left"), Fire("F1", {"F1/1": "B1"}))
    state, _ = after(state, dice(state, 6))
    assert level(after(state, dice(state, 5))[0], "B1") == 0
    state, _ = after(state, dice(state, 6))
    assert level(state, "B1") == 1
    assert isinstance(state.step, MovingCommander)


def test_m_7_23_a_card_is_added_to_each_die_to_hit() -> None:
    smoke = Modifier("british", "musket", {"F1": -1}, "Thick Smoke")
    state = two_lines()
    state = state_at(state.position, state.step, modifiers=(smoke,))
    state = declared(state)
    _, told = after(state, dice(state, 4, 5, 1, 6))
    assert [event.facts["hits"] for event in told] == [2]
