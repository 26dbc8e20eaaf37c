"""Drawing: what each command draws, the three decks, nightfall, too few cards and too many."""

from dataclasses import replace

import pytest

from tablecam.rules.game import Refused
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Declare, Discard, Done, Draw, Volleys
from tablecam.rules.maurice.game.activation import Activating
from tablecam.rules.maurice.game.cards import Drawing
from tablecam.rules.maurice.game.command import CommandChoice, VolleyChoice
from tablecam.rules.maurice.game.commander import MovingCommander
from tablecam.rules.maurice.game.fire import Firing
from tablecam.rules.maurice.game.state import Deck, Over
from tests.rules.maurice.game.duel import COMMANDERS, SOUTH, hand, table
from tests.rules.maurice.game.states import after, kinds, state_at
from tests.rules.maurice.tables import gun, line, position


def deck(state, left, discarded=0, stage="first"):
    return replace(state, deck=Deck(left, discarded, stage))


@pytest.mark.parametrize(
    ("command", "drawn"),
    [("pass", 3), ("event", -1), ("march", 1), ("rally", 2), ("bombard", 2), ("charge", 0)],
)
def test_m_4_9_each_command_draws_its_cards(command, drawn):
    near = line("F2", "french", 600, 880, disruption=1), gun("FG", "french", 900, 200)
    state, told = after(state_at(table(*near), CommandChoice()), Declare(command))
    assert hand(state, "french") - 6 == drawn
    assert ("draw" in kinds(told)) == (drawn > 0)


def test_a_pass_with_two_cards_in_the_first_deck_draws_two_reshuffles_and_draws_one():  # T-10
    state = deck(state_at(table(), CommandChoice()), left=2, discarded=20)
    state, told = after(state, Declare("pass"))
    assert kinds(told) == ["command", "draw", "reshuffle"]
    # The second deck holds the Reshuffle card: the player says whether it was drawn.
    assert state.deck == Deck(21, 0, "second")
    assert state.step == Drawing("french", 1, MovingCommander())
    state, _ = after(state, Draw("french", 1))
    assert (state.deck.left, hand(state, "french")) == (20, 9)


def test_the_reshuffle_card_as_second_of_three_is_out_and_two_more_are_drawn():  # T-10
    state = deck(state_at(table(), CommandChoice()), left=10, discarded=12, stage="second")
    state, _ = after(state, Declare("pass"))
    state, told = after(state, Draw("french", 3, reshuffle_at=2))
    assert kinds(told) == ["draw", "reshuffle", "draw"]
    assert hand(state, "french") == 6 + 3
    # 9 and the Reshuffle card were left and 12 discarded: one drawn before, two after.
    assert state.deck == Deck(9 - 1 + 12 - 2, 0, "last")


def test_the_last_card_of_the_second_deck_is_told_to_be_the_reshuffle_card():  # M-4.21
    state = deck(state_at(table(), CommandChoice()), left=1, discarded=4, stage="second")
    state, _ = after(state, Declare("pass"))
    with pytest.raises(Refused, match=r"M-4\.21"):
        after(state, Draw("french", 1))
    assert GAME.legal(state) == (Draw("french", 1, reshuffle_at=1),)


def test_an_empty_last_deck_gives_nobody_a_card():  # M-4.22, M-4.5
    state = deck(state_at(table(), CommandChoice()), left=0, discarded=30, stage="last")
    state, told = after(state, Declare("pass"))
    assert hand(state, "french") == 6
    assert told[-1].rule == "M-4.22"


def test_a_deck_that_runs_out_in_a_rally_gives_what_it_has_and_the_rally_goes_on():  # M-4.22
    tired = table(line("F2", "french", 800, 200, disruption=2))
    state = deck(state_at(tired, CommandChoice()), left=1, discarded=30, stage="last")
    state, _ = after(state, Declare("rally"))
    assert (hand(state, "french"), state.deck.left) == (7, 0)
    assert state.step == Activating()


def played_round(state, *actions):
    """A round without volleys or a move of the commander."""
    state, _ = after(state, Volleys(False), *actions, Done())
    return state


def test_two_passes_in_a_row_with_the_last_deck_empty_end_in_a_draw():  # T-10, M-4.6
    state = deck(state_at(table(), VolleyChoice(), is_deck_out=True), left=0, stage="last")
    state = played_round(state, Declare("pass"))
    assert isinstance(state.step, VolleyChoice)
    state = played_round(state, Declare("pass"))
    assert state.step.winner is None
    assert state.step.rule == "M-4.6"
    assert GAME.legal(state) == ()


def test_a_march_between_two_passes_puts_off_the_night():  # T-10, M-4.6
    state = deck(state_at(table(), VolleyChoice(), is_deck_out=True), left=0, stage="last")
    state = played_round(state, Declare("pass"))
    state = played_round(state, Declare("march"), Done())
    state = played_round(state, Declare("pass"))
    assert not isinstance(state.step, Over)


def test_a_pass_in_which_the_deck_runs_out_does_not_count_towards_night():  # M-4.6
    state = deck(state_at(table(), VolleyChoice()), left=2, stage="last")
    state = played_round(state, Declare("pass"))
    state = played_round(state, Declare("pass"))
    assert isinstance(state.step, VolleyChoice)
    state = played_round(state, Declare("pass"))
    assert isinstance(state.step, Over)


def test_without_cards_at_the_start_of_a_round_only_a_pass_is_left():  # T-11, M-4.18
    state = state_at(table(), VolleyChoice(), hand=0, is_without_cards=True)
    state, _ = after(state, Volleys(False))
    assert GAME.legal(state) == (Declare("pass"),)
    with pytest.raises(Refused, match=r"M-4\.18 French began the round without cards"):
        after(state, Declare("march"))


def test_volleys_may_come_before_a_pass_without_cards():  # T-11, M-4.18
    near = position(
        line("F1", "french", 600, 400),
        line("B1", "british", 600, 520, SOUTH),
        commanders=COMMANDERS,
    )
    state = state_at(near, VolleyChoice(), hand=0, is_without_cards=True)
    assert GAME.legal(state) == (Volleys(False), Volleys(True))
    state, _ = after(state, Volleys(True))
    assert isinstance(state.step, Firing)  # nobody has a card to interrupt or to modify with


def test_of_eleven_cards_at_a_rounds_end_one_must_go():  # T-11, M-3.2
    state = state_at(table(), CommandChoice(), hand=8)
    state, _ = after(state, Declare("pass"), Done())
    assert state.step.count == 1
    assert GAME.asked(state).seat == "french"
    with pytest.raises(Refused, match=r"M-3\.2 expected 1 cards, got 2"):
        after(state, Discard("french", 2))
    state, _ = after(state, Discard("french", 1))
    assert (hand(state, "french"), state.deck.discarded) == (10, 1)
    assert state.active == "british"


def test_the_hand_limit_holds_for_both_players_at_every_rounds_end():  # M-3.2
    state, _ = after(state_at(table(), MovingCommander(), hand=12), Done(), Discard("french", 2))
    assert (state.step.side, state.step.count, state.step.why) == ("british", 2, "hand-limit")
