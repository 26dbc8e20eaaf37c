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
from tablecam.table.model import Unit
from tests.rules.maurice.game.states import after, dice, fire, kinds, laid, level
from tests.rules.maurice.tables import BW, SOUTH, box, gun, line

FOOT, BATTERY = line("F1", "french", 600, 400), gun("F1", "french", 600, 400)


def volley(*units: Unit, **more: object) -> State:
    """The french about to fire."""
    return laid(Firing("volley", "french", next_sides=("british",)), *units, **more)


def two_lines(disruption: int = 0, **more: object) -> State:
    """F1 and B1 in line, 3 BW apart, the french about to fire."""
    enemy = line("B1", "british", 600, 400 + 4 * BW, SOUTH, disruption=disruption)
    return volley(FOOT, enemy, line("B2", "british", 1500, 1000, SOUTH), **more)


def declared(state: State) -> State:
    return after(state, FireFrom("left"), fire("F1", "B1"))[0]


def test_m_7_8_of_two_that_can_fire_the_player_first_says_from_which_end_and_one_just_fires() -> (
    None
):
    one = two_lines()
    two = volley(*one.position.units, gun("F2", "french", 700, 400))
    assert GAME.legal(two) == (FireFrom("left"), FireFrom("right"), Done())
    with pytest.raises(Refused, match=r"M-7\.8"):
        after(two, fire("F1", "B1"))
    assert GAME.legal(one) == (fire("F1", "B1"), Done())
    assert isinstance(after(one, fire("F1", "B1"))[0].step, RollingToHit)


def test_m_7_14_fire_that_leaves_no_choice_is_listed_once() -> None:
    # The middle bases stand in water; each of the outer two has a target of its own.
    guns = gun("B1", "british", 530, 500, SOUTH), gun("B2", "british", 670, 500, SOUTH)
    state = volley(FOOT, *guns, terrain=[box("pond", 565, 370, 635, 390)])
    listed = [action for action in GAME.legal(state) if isinstance(action, Fire)]
    assert listed == [Fire("F1", {"F1/1": "B1", "F1/4": "B2"})]


FOUR = (
    FOOT,
    line("F2", "french", 800, 400),
    line("B1", "british", 600, 560, SOUTH),
    line("B2", "british", 800, 560, SOUTH),
)


def test_m_7_8_units_are_listed_from_the_end_that_was_chosen() -> None:
    state = volley(*FOUR)
    for end, first in (("left", "F1"), ("right", "F2")):
        assert GAME.legal(after(state, FireFrom(end))[0])[0].unit == first


def test_m_7_8_all_dice_to_hit_come_before_any_to_disrupt() -> None:
    state = declared(volley(*FOUR))
    assert isinstance(state.step, RollingToHit)
    state, told = after(state, dice(state, 4, 1, 6, 3))
    assert kinds(told) == ["shot"]
    assert isinstance(state.step, Firing)  # F2 may still fire
    assert level(state, "B1") == 0
    state, _ = after(state, Done())
    assert isinstance(state.step, RollingToDisrupt)
    state, told = after(state, dice(state, 4, 3))
    assert level(state, "B1") == 1
    assert told[0].text == "B1 is hit: 4 3, needs 4+: +1 disruption"


def test_m_7_25_disruptions_add_to_what_is_there_and_break_the_unit() -> None:
    state = declared(two_lines(disruption=3))
    state, _ = after(state, dice(state, 4, 4, 1, 1))
    state, told = after(state, dice(state, 5, 5))
    assert level(state, "B1") is None
    assert kinds(told) == ["disrupted", "broken", "morale"]
    assert state.side("british").morale == 4


def test_m_2_5_the_game_is_over_as_soon_as_an_army_has_no_morale_left() -> None:
    state = declared(two_lines(disruption=4, morale=1))
    state, _ = after(state, dice(state, 6, 1, 1, 1))
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
        after(replace(state, round=fired), fire("F1", "B1"))


def test_m_7_5_bases_may_hold_their_fire() -> None:
    state, _ = after(two_lines(), FireFrom("left"), fire("F1", "B1", 2))
    (due,) = GAME.legal(state)
    assert due.count == 1


def test_m_7_12_a_base_may_not_fire_at_what_its_zone_does_not_reach() -> None:
    state, _ = after(two_lines(), FireFrom("left"))
    with pytest.raises(Refused, match=r"may not fire at B2 \(M-7\.12\)"):
        after(state, fire("F1", "B2", 1))
    assert GAME.legal(state)  # nothing has changed


def test_an_unknown_base_a_foreign_unit_and_no_target_are_refused() -> None:
    state, _ = after(two_lines(), FireFrom("left"))
    for action, said in (
        (fire("F1", "B1", 9), "has no base F1/9"),
        (fire("B1", "F1", 1), "expected a unit of French, got B1"),
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
    state = volley(BATTERY, line("B1", "british", 600, 540, SOUTH))
    state, _ = after(state, FireFrom("left"), fire("F1", "B1", 1))
    (due,) = GAME.legal(state)
    assert due.count == 2
    assert state.position.unit("F1").state["smoke"] is True
    _, events = after(state, dice(state, 5, 6))
    assert events[0].text == "F1 at B1: 5 6, needs 4+: 2 hits"


def bombardment(target: Unit) -> State:
    firing = Firing("bombard", "french", may=("F1",))
    return laid(firing, BATTERY, gun("F2", "french", 660, 400), target, command="bombard")


def test_m_7_3_only_the_activated_guns_bombard() -> None:
    state, _ = after(bombardment(line("B1", "british", 600, 900, SOUTH)), FireFrom("left"))
    assert {each.unit for each in GAME.legal(state) if isinstance(each, Fire)} == {"F1"}
    with pytest.raises(Refused, match=r"M-7\.3 F2"):
        after(state, fire("F2", "B1", 1))


def test_m_7_26_a_bombarded_gun_is_disrupted_by_a_6_alone() -> None:
    state = bombardment(gun("B1", "british", 600, 900, SOUTH))
    state, _ = after(state, FireFrom("left"), fire("F1", "B1", 1))
    state, _ = after(state, dice(state, 6))
    assert level(after(state, dice(state, 5))[0], "B1") == 0
    state, _ = after(state, dice(state, 6))
    assert level(state, "B1") == 1
    assert isinstance(state.step, MovingCommander)


def test_m_7_23_cards_of_both_sides_are_added_to_each_die_to_hit() -> None:
    smoke = Modifier("british", "musket", {"F1": -2}, "Thick Smoke")
    aimed = Modifier("french", "musket", {"F1": 1})
    state = declared(two_lines(modifiers=(smoke, aimed)))
    _, told = after(state, dice(state, 4, 5, 1, 6))
    assert [event.facts["hits"] for event in told] == [2]
