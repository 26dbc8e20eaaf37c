"""The end of a round: the commander, his displacement, morale, and the next active side."""

from dataclasses import replace

import pytest

from tablecam.geometry.moves.poses import ahead
from tablecam.rules.game import Refused
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import (
    Activate,
    ClearSmoke,
    Declare,
    Decline,
    Discard,
    Done,
    Fire,
    FireFrom,
    March,
    PlaceCommander,
    Volleys,
)
from tablecam.rules.maurice.game.cards import Discarding
from tablecam.rules.maurice.game.command import CommandChoice, VolleyChoice
from tablecam.rules.maurice.game.commander import Displacing, MovingCommander
from tablecam.rules.maurice.game.fire import RollingToHit
from tablecam.rules.maurice.game.march import Marching
from tablecam.rules.maurice.game.state import Over
from tablecam.table.model import Commander
from tests.rules.maurice.game.states import after, dice, kinds, state_at
from tests.rules.maurice.tables import SOUTH, gun, line, position


def table(*more, french=(600, 100)):
    commanders = (Commander("fc", "french", *french), Commander("bc", "british", 600, 1100))
    return position(
        line("F1", "french", 600, 300),
        line("B1", "british", 600, 900, SOUTH),
        *more,
        commanders=commanders,
    )


def place_of(state, name):
    leader = next(each for each in state.position.commanders if each.id == name)
    return leader.x_mm, leader.y_mm


# --- sides change -------------------------------------------------------------------------------


def test_rounds_alternate_and_nothing_of_the_last_one_is_left():  # M-1.5, M-4.2
    state = state_at(table(), MovingCommander(), command="march", has_volleys=True)
    state = replace(state, round=replace(state.round, fired=frozenset({"F1"})))
    state, told = after(state, Done())
    assert (state.active, state.round.number) == ("british", 2)
    assert state.round == replace(state.round, command=None, fired=frozenset(), modifiers=())
    assert not state.round.has_volleys
    assert isinstance(state.step, VolleyChoice)
    assert told[-1].text == "round 2, British"


def test_one_choice_a_round_and_in_its_order():  # M-4.2, M-4.4, M-10.3
    state = state_at(table(), VolleyChoice())
    with pytest.raises(Refused, match=r"M-4\.3 expected volleys or no volleys, got declare"):
        after(state, Declare("pass"))
    state, _ = after(state, Volleys(False), Declare("pass"))
    with pytest.raises(Refused, match="expected a place for a commander, got declare"):
        after(state, Declare("march"))


def test_volleys_cost_no_card_come_before_any_choice_and_are_all_the_fire_there_is():  # M-4.3
    units = table(line("F2", "french", 900, 780), line("B2", "british", 900, 900, SOUTH))
    without, _ = after(state_at(units, VolleyChoice()), Volleys(False))
    assert not any(isinstance(each, Fire) for each in GAME.legal(without))
    state, _ = after(state_at(units, VolleyChoice()), Volleys(True), Decline("british"))
    state, _ = after(state, Decline("french"), Decline("british"))
    fired = []
    for side in ("french", "british"):
        assert GAME.asked(state).seat == side  # the active side first, whoever it is
        state, _ = after(state, FireFrom("left"))
        fired += [each.unit for each in GAME.legal(state) if isinstance(each, Fire)]
        state, _ = after(state, Done())
    assert fired == ["F2", "B2"]
    assert [side.hand for side in state.sides] == [6, 6]
    state, _ = after(state, Declare("pass"))
    assert isinstance(state.step, MovingCommander)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("bombard", "they have no artillery"),
        ("rally", "none of their units is disrupted"),
        ("charge", "no enemy is in reach"),
    ],
)
def test_an_action_that_the_army_has_no_way_of_doing_is_refused(command, why):  # M-4.8
    state, _ = after(state_at(table(), VolleyChoice()), Volleys(False))
    assert [each.command for each in GAME.legal(state)] == ["pass", "event", "march"]
    assert f"No {command}: {why}" in GAME.why_missing(state)
    with pytest.raises(Refused, match=rf"M-4\.8 French cannot {command}: .*{why}"):
        after(state, Declare(command))


def test_m_4_8_guns_that_have_fired_in_the_volley_phase_bombard_no_more():
    two_guns = table(gun("F2", "french", 300, 300), gun("F3", "french", 800, 300))
    one_left = state_at(two_guns, CommandChoice(), fired=frozenset({"F2"}))
    assert Declare("bombard") in GAME.legal(one_left)
    none_left = state_at(two_guns, CommandChoice(), fired=frozenset({"F2", "F3"}))
    assert Declare("bombard") not in GAME.legal(none_left)
    with pytest.raises(Refused, match=r"M-4\.8 French cannot bombard: all their artillery has"):
        after(none_left, Declare("bombard"))


# --- the commander ------------------------------------------------------------------------------


def test_the_commander_moves_anywhere_for_any_card():  # M-6.27
    state = state_at(table(), MovingCommander(), hand=2)
    state, told = after(state, PlaceCommander("french", 1500, 700))
    assert place_of(state, "fc") == (1500, 700)
    assert (state.side("french").hand, state.deck.discarded) == (1, 1)
    assert kinds(told) == ["commander", "round"]


@pytest.mark.parametrize(
    ("side", "place", "cards", "said"),
    [
        ("french", (600, 900), 6, r"M-6\.27 B1 already stands there"),
        ("french", (-5, 100), 6, r"M-6\.27 expected a place on the table"),
        ("british", (900, 700), 6, "expected the French commander, got the British one"),
        ("french", (1500, 700), 0, "French hold only 0 cards"),
    ],
)
def test_m_6_27_he_is_put_on_a_free_place_of_the_table_for_a_card_and_by_his_side(
    side, place, cards, said
):
    state = state_at(table(), MovingCommander(), hand=cards)
    assert (GAME.legal(state) == (Done(),)) == (cards == 0)
    with pytest.raises(Refused, match=said):
        after(state, PlaceCommander(side, *place))


def test_under_his_own_units_he_is_displaced_1_bw_for_a_card():  # T-22, M-6.28, M-6.29, M-6.30
    state, told = after(state_at(table(french=(690, 300)), MovingCommander()), Done())
    assert kinds(told) == ["displaced"]
    assert isinstance(state.step, Displacing)
    assert GAME.asked(state).seat == "french"
    for place, said in (
        ((690, 300), "clear of all bases"),
        ((745, 300), "a place 1 BW from his last place, got 1.38"),
    ):
        with pytest.raises(Refused, match=rf"M-6\.29 .*{said}"):
            after(state, PlaceCommander("french", *place))
    with pytest.raises(Refused, match=r"M-6\.30 expected no card"):
        after(state, PlaceCommander("french", 730, 300, "runner-1"))
    state, _ = after(state, PlaceCommander("french", 730, 300), Discard("french", 1))
    assert place_of(state, "fc") == (730, 300)
    assert state.side("french").hand == 5
    assert state.active == "british"


def test_every_place_that_is_listed_for_a_displaced_commander_is_taken():  # M-6.29
    state, _ = after(state_at(table(french=(600, 300)), MovingCommander()), Done())
    listed = GAME.legal(state)
    assert listed
    for each in listed:
        placed, _ = after(state, each)
        assert isinstance(placed.step, Discarding)


def test_where_no_place_is_free_at_1_bw_he_goes_on_in_steps_of_1_bw():  # M-6.29
    # Three lines in contact, one behind the other: from the middle 1 BW is not enough.
    units = [line(f"F{row}", "french", 600, 300 + 40 * row) for row in (2, 3, 4)]
    middle = table(*units, french=(600, 420))
    state, _ = after(state_at(middle, MovingCommander()), Done())
    far = {
        round(((each.x_mm - 600) ** 2 + (each.y_mm - 420) ** 2) ** 0.5)
        for each in GAME.legal(state)
    }
    assert far == {80}


def test_without_cards_a_displaced_commander_costs_morale():  # T-22, M-6.30
    state = state_at(table(french=(690, 300)), MovingCommander(), hand=0, morale=3)
    state, told = after(state, Done(), PlaceCommander("french", 730, 300))
    assert state.side("french").morale == 2
    assert kinds(told) == ["displaced", "commander", "unpaid", "morale", "round"]


def test_the_last_morale_lost_by_a_commander_loses_the_game():  # M-4.1, M-6.30
    state = state_at(table(french=(690, 300)), MovingCommander(), hand=0, morale=1)
    state, _ = after(state, Done(), PlaceCommander("french", 730, 300))
    assert state.step == Over("british", state.step.because, "M-4.1")
    assert GAME.asked(state).is_over


def test_displaced_twice_in_a_round_he_costs_one_card():  # T-22, M-6.30
    state = state_at(table(), MovingCommander(), displaced=frozenset({"british"}))
    state, told = after(state, Done(), Discard("british", 1))
    assert state.side("british").hand == 5
    assert kinds(told) == ["discard", "round"]


def test_a_displaced_commander_pays_before_the_hand_limit_is_looked_at():  # M-6.30, M-3.2
    state, _ = after(state_at(table(french=(690, 300)), MovingCommander(), hand=11), Done())
    state, _ = after(state, GAME.legal(state)[0])
    assert (state.step.why, state.step.count) == ("displaced", 1)
    state, _ = after(state, Discard("french", 1))
    assert (state.step.side, state.step.why) == ("british", "hand-limit")


# --- a gun's round ------------------------------------------------------------------------------


def test_canister_then_a_march_that_takes_the_smoke_off_then_a_move():  # T-12, M-4.23, M-4.24
    units = table(gun("FG", "french", 900, 780), line("B2", "british", 900, 900, SOUTH))
    state, _ = after(state_at(units, VolleyChoice()), Volleys(True), Decline("british"))
    state, _ = after(state, Decline("french"), Decline("british"), FireFrom("left"))
    state, _ = after(state, Fire("FG", {"FG/1": "B2"}))
    assert isinstance(state.step, RollingToHit)
    state, _ = after(state, dice(state, 1, 1), Done())
    assert state.position.unit("FG").state["smoke"] is True
    with pytest.raises(Refused, match=r"M-4\.8"):
        after(state, Declare("bombard"))
    state, _ = after(state, Declare("march"), Activate(("FG",), (20,)), Decline("british"))
    state, _ = after(state, Decline("french"), Decline("british"))
    back = ahead(state.position.unit("FG").bases, SOUTH, 80.0)
    with pytest.raises(Refused):
        after(state, March("FG", back))
    state, _ = after(state, ClearSmoke())
    assert isinstance(state.step, MovingCommander)
    assert not state.position.unit("FG").state["smoke"]
    # In its side's next round it may move.
    state, _ = after(state, Done(), Volleys(False), Declare("pass"), Done(), Volleys(False))
    state, _ = after(state, Declare("march"), Activate(("FG",), (20,)), Decline("british"))
    state, _ = after(state, Decline("french"), Decline("british"))
    assert isinstance(state.step, Marching)
    state, _ = after(state, March("FG", back))
    assert state.position.unit("FG").bases == back
