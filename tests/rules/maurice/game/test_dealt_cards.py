"""Cards that tablecam deals: hands are concealed, and each card does what it says (M-3.10)."""

from dataclasses import replace
from random import Random

import pytest

from tablecam.rules.game import Refused
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import (
    Activate,
    Declare,
    Decline,
    Discard,
    Done,
    Draw,
    Interrupt,
    Modify,
    Overrule,
    PlaceCommander,
    Remove,
    Volleys,
)
from tablecam.rules.maurice.game.activation import Activating, Interrupting
from tablecam.rules.maurice.game.cards import Discarding, Drawing, Modifying
from tablecam.rules.maurice.game.command import CommandChoice, VolleyChoice
from tablecam.rules.maurice.game.commander import MovingCommander
from tablecam.rules.maurice.game.fire import Firing
from tablecam.rules.maurice.game.march import Marching
from tablecam.rules.maurice.game.state import RESHUFFLE, Deck
from tests.rules.maurice.game.duel import table
from tests.rules.maurice.game.states import after
from tests.rules.maurice.tables import line, massed


@pytest.fixture
def dealt():
    """A game with the house deck, hands dealt, in the first command choice."""
    state = GAME.begin(table(), {"deck": "house"})
    chance = Random(4)
    for _ in range(2):
        (due,) = GAME.legal(state)
        state, _ = GAME.apply(state, GAME.settle(state, due, chance))
    return state


def holding(state, side, *titles):
    """Returns the state with the first card of each title in a hand, and no others."""
    cards = [next(c.id for c in state.options.cards if c.title == title) for title in titles]
    others = tuple(c.id for c in state.options.cards if c.id not in cards)
    hands = {each.name: () for each in state.sides} | {side: tuple(cards)}
    for each in state.sides:
        own = hands[each.name]
        state = state.with_side(replace(each, hand=len(own), cards=own))
    return replace(state, deck=Deck(len(others), 0, cards=others))


def test_six_cards_are_dealt_to_each_from_one_deck(dealt):  # M-2.6, M-3.1
    assert [side.hand for side in dealt.sides] == [6, 6]
    cards = [card for side in dealt.sides for card in side.cards]
    assert len(set(cards)) == 12
    assert set(cards) | set(dealt.deck.cards) == {card.id for card in dealt.options.cards}
    assert isinstance(dealt.step, VolleyChoice)


def test_a_hand_never_leaves_for_another_seat(dealt):  # M-3.1
    own = set(dealt.side("british").cards)
    for seat in ("french", None):
        seen = repr(GAME.seen_by(dealt, seat))
        assert not any(repr(card) in seen for card in (*own, *dealt.deck.cards))
        assert "'hand': 6" in seen
    assert {card["id"] for card in GAME.seen_by(dealt, "british")["hand"]} == own


def test_what_a_side_draws_is_told_to_it_alone(dealt):  # M-3.1
    state = holding(dealt, "french", "Runner")
    state, _ = after(state, Volleys(False), Declare("march"))
    (due,) = GAME.legal(state)
    state, told = GAME.apply(state, GAME.settle(state, due, Random(1)))
    assert [(event.kind, event.only_for) for event in told] == [("draw", None), ("drawn", "french")]


def test_dealt_cards_are_played_by_name_for_their_spans(dealt):  # M-3.4, M-3.9, M-3.10
    state = holding(dealt, "french", "Runner", "Rider", "Aide-de-camp")
    state = replace(state, step=Activating(), round=replace(state.round, command="march"))
    assert GAME.legal(state) == (Activate(("F1",), cards=("runner-1",)),)
    for action, said in (
        (Done(), "French have declared to march, and their cards reach F1"),  # M-4.10
        (Activate(("F1",), cards=("first-fire-1",)), "French do not hold first-fire-1"),
        (Activate(("F1",), (4,)), "expected card ids, not spans"),
        (Activate(("F1",), cards=("runner-1", "runner-1")), "runner-1 is named twice"),
    ):
        with pytest.raises(Refused, match=said):
            after(state, action)
    state, _ = after(state, Activate(("F1",), cards=("runner-1",)))
    assert state.side("french").cards == ("rider-1", "aide-de-camp-1")
    assert state.deck.discards == ("runner-1",)


def test_m_3_5_cards_that_would_help_the_declared_action_are_offered_last(dealt):
    state = holding(dealt, "french", "Long Strides", "Aide-de-camp", "Aimed Fire")
    state = replace(state, step=Activating(), round=replace(state.round, command="march"))
    assert GAME.legal(state)[0].cards == ("aimed-fire-1",)
    state = holding(state, "french", "Long Strides")
    assert GAME.legal(state)[0].cards == ("long-strides-1",)


def test_of_cards_that_reach_as_far_those_for_their_span_only_are_offered(dealt):  # M-3.9
    state = replace(dealt, step=Activating(), round=replace(dealt.round, command="march"))
    (_, for_it), (_, plain) = (
        (held, GAME.legal(held)[0])
        for held in (
            holding(state, "french", "Muddy Lanes", "Stirrups In"),
            holding(state, "french", "Muddy Lanes", "Stirrups In", "Rider", "Runner"),
        )
    )
    assert for_it.cards == ("muddy-lanes-1",)
    assert plain.cards == ("runner-1",)


def test_a_dealt_modifier_adds_what_it_says_and_nothing_else(dealt):  # M-3.9, M-4.16
    state = holding(dealt, "french", "Long Strides", "Muddy Lanes", "Runner")
    step = Modifying("bugle", "french", (), Marching(("F1",)))
    state = replace(state, step=step)
    one = Modify("french", "bugle", {"F1": 2}, "long-strides-1")
    assert GAME.legal(state) == (Decline("french"), one)
    with pytest.raises(Refused, match="expected the modifiers of Long Strides"):
        after(state, Modify("french", "bugle", {"F1": 5}, "long-strides-1"))
    with pytest.raises(Refused, match=r"M-3\.10 expected the id of the card to play"):
        after(state, Modify("french", "bugle", {"F1": 2}))


def test_a_dealt_modifier_is_offered_for_whom_it_can_change(dealt):  # M-4.16
    horse = massed("FC", "french", 900, 200)
    state = replace(GAME.begin(table(horse), {"deck": "house"}), round=dealt.round)
    state = holding(state, "french", "Aimed Fire")
    asked = state.to(Modifying("musket", "french", (), Firing("volley", "french")))
    near = replace(asked, position=replace(asked.position, units=within_range(asked.position)))
    assert GAME.legal(near)[1:] == (Modify("french", "musket", {"F1": 1}, "aimed-fire-1"),)
    for_horse = Modify("french", "musket", {"FC": 1}, "aimed-fire-1")
    after(near, for_horse)  # useless, but allowed by the card
    assert GAME.legal(asked) == (Decline("french"),)  # it helps nobody
    assert GAME.why_missing(near) == ""
    assert GAME.why_missing(asked).startswith("You hold no such card")  # M-3.1


def within_range(position):
    """The units, with B1 100 mm ahead of F1."""
    moved = line("B1", "british", 600, 340, 270.0)
    return tuple(moved if unit.id == "B1" else unit for unit in position.units)


def test_a_dealt_interrupt_does_what_it_says(dealt):  # M-3.7
    state = holding(dealt, "british", "Rough Going", "Runner")
    step = Interrupting("activation", ("F1",))
    state = replace(state, step=step, round=replace(state.round, command="march"))
    played = Interrupt("rough-going", "rough-going-1")
    assert GAME.legal(state) == (Decline("british"), played)
    with pytest.raises(Refused, match=r"expected the effect of Rough Going \(rough-going\), got"):
        after(state, Interrupt("foil", "rough-going-1"))
    state, _ = after(state, played)
    assert state.side("british").cards == ("runner-1",)


def test_a_dealt_event_that_is_not_removable_goes_to_the_discards(dealt):  # M-4.25
    state = holding(dealt, "french", "Council of War", "Valeur et Discipline", "Runner")
    state, _ = after(state, Volleys(False))
    events = [each.card for each in GAME.legal(state) if each.command == "event"]
    assert events == ["council-of-war-1", "valeur-et-discipline-1"]
    with pytest.raises(Refused, match=r"M-3\.8 Runner is not an event"):
        after(state, Declare("event", "runner-1"))
    kept, _ = after(state, Declare("event", "council-of-war-1"))
    assert isinstance(kept.step, MovingCommander)
    gone, _ = after(state, Declare("event", "valeur-et-discipline-1"), Remove("french"))
    assert gone.deck.discards == ()
    assert gone.deck.discarded == 0


def test_dealing_goes_through_all_three_decks_and_loses_no_card(dealt):  # M-4.20 to M-4.22
    state = replace(dealt, step=Drawing("french", 40, Drawing("british", 60, CommandChoice())))
    everything = sorted(card.id for card in state.options.cards)
    chance, stages = Random(2), ["first"]
    cards = state.deck.cards
    state = replace(state, deck=Deck(len(cards) - 20, 20, "first", cards[20:], cards[:20]))
    while isinstance(state.step, Drawing):
        (due,) = GAME.legal(state)
        state, _ = GAME.apply(state, GAME.settle(state, due, chance))
        stages.append(state.deck.stage)
        held = [card for side in state.sides for card in side.cards]
        assert sorted([*held, *state.deck.cards, *state.deck.discards]) == everything
    assert list(dict.fromkeys(stages)) == ["first", "second", "last"]


def test_the_reshuffle_card_is_as_likely_as_any_other_to_come_up(dealt):  # M-4.21
    cards = dealt.deck.cards[:3]
    second = replace(
        dealt, step=Drawing("french", 1, CommandChoice()), deck=Deck(4, 0, "second", cards=cards)
    )
    (due,) = GAME.legal(second)
    chance = Random(8)
    drawn = [GAME.settle(second, due, chance).cards for _ in range(4000)]
    # 1000 of 4000 are expected, within 5 standard deviations of 27.
    for card in (*cards, RESHUFFLE):
        assert abs(drawn.count((card,)) - 1000) < 5 * 27.4


@pytest.mark.parametrize("cards", [None, (), ("runner-1", "runner-1"), (RESHUFFLE,), ("no-such",)])
def test_what_cannot_come_up_is_refused(dealt, cards):  # M-3.10
    state = replace(dealt, step=Drawing("french", 2, CommandChoice()))
    with pytest.raises(Refused):
        after(state, Draw("french", 2, cards))


def taken_up(state, chance, **said):
    """Returns the state as players state it, with cards drawn and laid aside at random."""
    action = GAME.settle(state, Overrule(**said), chance)
    state, _ = GAME.apply(state, action)
    while isinstance(state.step, Drawing):
        (due,) = GAME.legal(state)
        state, _ = GAME.apply(state, GAME.settle(state, due, chance))
    return state


def all_cards(state):
    hands = [card for side in state.sides for card in side.cards]
    return sorted([*hands, *state.deck.cards, *state.deck.discards])


@pytest.mark.parametrize(
    "said",
    [
        {"hands": {"french": 9, "british": 2}, "deck": 20, "stage": "last"},
        {"hands": {"french": 3, "british": 8}, "deck": 11, "stage": "first", "active": "british"},
        {"hands": {"british": 0}, "deck": 6, "stage": "first"},
        {"hands": {}, "deck": 0, "stage": "last", "number": 20},
    ],
)
def test_m_3_10_a_game_is_taken_up_in_its_middle_and_dealt_for_as_players_say(said):
    state = GAME.begin(table(), {"deck": "house"})
    cards = sorted(state.deck.cards)
    state = taken_up(state, Random(3), **said)
    assert isinstance(state.step, VolleyChoice)
    held = {"french": 6, "british": 6} | said["hands"]
    assert {side.name: len(side.cards) for side in state.sides} == held
    assert (len(state.deck.cards), state.deck.left) == (said["deck"], said["deck"])
    assert state.deck.stage == said["stage"]
    assert state.active == said.get("active", "french")
    assert all_cards(state) == cards
    assert not state.round.is_without_cards


def test_m_3_10_a_hand_that_is_said_to_be_less_is_cut_by_its_owner(dealt):
    state, _ = GAME.apply(dealt, Overrule(hands={"british": 4, "french": 7}))
    assert state.step == Discarding("british", 2, "told", Drawing("french", 1, dealt.step))
    assert GAME.asked(state).question.startswith("British discard 2 cards: players corrected")
    way = next(each for each in GAME.legal(state))
    state, (told,) = GAME.apply(state, way)
    assert told.rule == "M-3.10"
    (due,) = GAME.legal(state)
    state, _ = GAME.apply(state, GAME.settle(state, due, Random(1)))
    assert [len(side.cards) for side in state.sides] == [7, 4]
    assert state.step == dealt.step


def test_m_4_18_whoever_is_said_to_hold_no_card_must_pass(dealt):
    state = taken_up(replace(dealt, step=VolleyChoice()), Random(1), hands={"french": 0})
    state, _ = GAME.apply(state, next(iter(GAME.legal(state))))
    assert state.round.is_without_cards
    state, _ = after(state, Volleys(False))
    assert GAME.legal(state) == (Declare("pass"),)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (Overrule(deck=49, aside=()), "deck: expected at most 48 cards left in the deck"),
        (Overrule(deck=0, stage="second", aside=()), "deck: expected at least 1 cards in the deck"),
        (
            Overrule(hands={"french": 99}),
            "hands: expected hands that need at most 48 cards from the deck",
        ),
        (Overrule(deck=47), "aside: M-3.10 expected 1 cards from the deck"),
        (Overrule(deck=46, aside=("no", "such")), "aside: M-3.10 expected 2 cards from the deck"),
        (Overrule(aside=("no",)), "aside: M-3.10 expected 0 cards from the deck"),
    ],
)
def test_m_3_10_cards_that_cannot_be_so_are_refused(dealt, said, why):
    assert dealt.deck.left == 48
    with pytest.raises(Refused, match=why):
        GAME.apply(dealt, said)


def test_which_card_pays_for_the_commanders_move_is_asked_when_he_has_moved(dealt):  # M-6.27
    state = holding(dealt, "french", "Runner", "Rider").to(MovingCommander())
    runner, rider = state.side("french").cards
    state, told = after(state, PlaceCommander("french", 1500, 700))
    assert [event.kind for event in told] == ["commander"]
    assert {action.cards for action in GAME.legal(state)} == {(runner,), (rider,)}
    state, told = after(state, Discard("french", 1, (rider,)))
    assert (told[0].rule, state.side("french").cards) == ("M-6.27", (runner,))
