"""Players overrule the referee at any time; their corrections apply, and are logged."""

from dataclasses import replace

import pytest

from tablecam.geometry.moves.poses import ahead
from tablecam.rules.game import Refused
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Declare, Overrule, Volleys
from tablecam.rules.maurice.game.command import CommandChoice, VolleyChoice
from tablecam.rules.maurice.game.march import Marching
from tablecam.rules.maurice.game.state import Over, State
from tests.rules.maurice.game.states import after, kinds, level, state_at
from tests.rules.maurice.tables import SOUTH, gun, line, position


def marching(**more: object) -> State:
    table = position(
        line("F1", "french", 600, 200),
        line("F2", "french", 800, 200),
        line("B1", "british", 600, 1000, SOUTH),
        line("B2", "british", 800, 1000, SOUTH),
    )
    return state_at(table, Marching(("F1", "F2")), command="march", **more)


def test_m_6_31_an_illegal_move_that_the_players_accept_is_the_march_of_whoever_was_asked() -> None:
    state = marching()
    bases = ahead(state.position.unit("F1").bases, 90.0, 300.0)
    action = Overrule("agreed on", units={"F1": bases})
    for asked, waiting, said in (
        ((), ("F1", "F2"), "F1 stays there"),
        (("F1",), ("F2",), "F1 has moved there"),
    ):
        after_it, told = after(state, replace(action, asked=asked))
        assert after_it.position.unit("F1").bases == bases
        assert after_it.step.waiting == waiting
        assert told[0].text == f"overruled: {said} (agreed on)"
        assert kinds(told) == ["overrule"]


def test_levels_smoke_morale_and_hands_are_set() -> None:
    action = Overrule(
        disruption={"F1": 3}, smoke={"F2": True}, morale={"british": 2}, hands={"french": 9}
    )
    state, _ = after(marching(), action)
    assert level(state, "F1") == 3
    assert state.position.unit("F2").state["smoke"] is True
    assert (state.side("british").morale, state.side("french").hand) == (2, 9)


def test_m_4_18_a_hand_that_was_counted_wrong_is_as_if_the_round_began_with_it() -> None:
    begun = replace(marching(hand=0, is_without_cards=True), step=VolleyChoice())
    begun = replace(begun, round=replace(begun.round, command=None))
    state, _ = after(begun, Overrule(hands={"french": 3}), Volleys(False))
    assert Declare("march") in GAME.legal(state)
    state, _ = after(state, Overrule(hands={"french": 0}))
    assert GAME.legal(state) == (Declare("pass"),)
    # A side that has declared has already played some of its cards.
    state, _ = after(marching(), Overrule(hands={"french": 0}))
    assert not state.round.is_without_cards


def test_m_4_6_a_deck_that_was_counted_wrong_is_as_if_the_round_began_with_it() -> None:
    begun = replace(marching(), step=VolleyChoice())
    begun = replace(begun, round=replace(begun.round, command=None))
    state, _ = after(begun, Overrule(deck=0, stage="last"))
    assert state.round.is_deck_out
    state, _ = after(state, Overrule(deck=1))
    assert not state.round.is_deck_out


def test_m_4_8_an_army_of_which_nobody_is_left_declares_no_action() -> None:
    state, _ = after(marching(), Overrule(off=("F1", "F2"), step="command"))
    assert GAME.legal(state) == (Declare("pass"), Declare("event"))
    for each in GAME.legal(state):
        assert after(state, each)[0].round.command == each.command
    with pytest.raises(Refused, match="French cannot march: they have no units on the table"):
        after(state, Declare("march"))


def test_a_unit_is_taken_off_and_the_round_goes_on_where_the_players_say() -> None:
    with pytest.raises(Refused, match="as the current step needs F1"):
        after(marching(), Overrule(off=("F1",)))
    state, _ = after(marching(), Overrule(off=("F1",), step="command"))
    assert state.position.unit("F1") is None
    assert isinstance(state.step, CommandChoice)
    state, _ = after(marching(), Overrule(off=("B1",)))
    assert isinstance(state.step, Marching)


def test_another_sides_round_begins() -> None:
    state, _ = after(marching(), Overrule(active="british"))
    assert (state.active, state.round.number) == ("british", 2)
    assert isinstance(state.step, VolleyChoice)


def test_a_game_that_is_over_goes_on_when_players_agree() -> None:
    over = replace(marching(), step=Over("french", "it is over", "M-4.1"))
    with pytest.raises(Refused, match="the game is over"):
        after(over, Volleys(False))
    state, _ = after(over, Overrule(morale={"british": 1}, step="command"))
    assert Declare("pass") in GAME.legal(state)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Overrule(off=("F9",)), "off: there is no F9"),
        (Overrule(disruption={"F1": 5}), "disruption: expected 0 to 4 disruption for F1, got 5"),
        (Overrule(morale={"french": 0}), "morale: expected at least 1 morale for French, got 0"),
        (Overrule(hands={"turkish": 1}), "hands: there is no turkish"),
        (
            Overrule(active="turkish"),
            "active: expected one of french, british as active side, got turkish",
        ),
    ],
)
def test_what_cannot_be_is_refused(action: Overrule, said: str) -> None:
    with pytest.raises(Refused, match=said):
        after(marching(), action)


def test_a_unit_cannot_be_laid_upon_another() -> None:
    state = marching()
    with pytest.raises(Refused, match="overlap"):
        after(state, Overrule(units={"F1": state.position.unit("F2").bases}))


def test_an_overrule_is_a_document_like_any_action() -> None:
    bases = marching().position.unit("F1").bases
    action = Overrule("why", {"F1": bases}, commanders={"cinc": (1.0, 2.0)}, step="end")
    assert GAME.action_from_json(GAME.action_to_json(action)) == action


def test_players_who_have_counted_their_deck_say_how_many_are_left() -> None:
    state, told = after(marching(), Overrule(deck=17))
    assert (state.deck.left, told[0].text) == (17, "overruled: cards left in the deck: 17")
    second = replace(state, deck=replace(state.deck, stage="second"))
    for number, deck in ((-1, state), (0, second)):
        with pytest.raises(Refused, match=f"cards in the deck, got {number}"):
            after(deck, Overrule(deck=number))


def test_a_round_gets_its_number_and_a_deck_its_stage() -> None:
    action = Overrule(active="british", number=7, stage="last", deck=0)
    state, told = after(marching(), action)
    assert (state.active, state.round.number) == ("british", 7)
    assert (state.deck.stage, state.deck.left, state.round.is_deck_out) == ("last", 0, True)
    assert told[0].text == (
        "overruled: round: 7; active side: British; cards left in the deck: 0; deck: last"
    )
    with pytest.raises(Refused, match="number: expected at least 1 round, got 0"):
        after(marching(), Overrule(number=0))
    with pytest.raises(Refused, match="deck: expected at least 1 cards in the deck, got 0"):
        after(marching(), Overrule(deck=0, stage="second"))


def test_the_reshuffle_card_goes_into_a_dealt_deck_and_out_of_it_again() -> None:
    state = marching()
    deck = replace(state.deck, left=2, cards=("a", "b"))
    dealt = replace(state, deck=deck, options=replace(state.options, deck="house"))
    second, _ = after(dealt, Overrule(stage="second"))
    assert (second.deck.left, second.deck.cards) == (3, ("a", "b"))
    assert after(second, Overrule(stage="last"))[0].deck.left == 2


def test_of_cards_that_players_hold_none_is_laid_aside_by_name() -> None:
    with pytest.raises(
        Refused, match=r"aside: M-3\.10 expected no card names, as the players hold"
    ):
        after(marching(), Overrule(deck=3, aside=("a",)))


def test_a_gun_is_set_to_what_a_gun_can_bear() -> None:
    state = marching()
    units = (*state.position.units, gun("G1", "french", 1200, 200))
    state = replace(state, position=replace(state.position, units=units))
    assert level(after(state, Overrule(disruption={"G1": 1}))[0], "G1") == 1
    with pytest.raises(Refused, match="expected 0 to 1 disruption for G1, got 2"):
        after(state, Overrule(disruption={"G1": 2}))
