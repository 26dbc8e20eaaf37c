"""Cards: spans, modifiers, interrupts, events, draws and the Reshuffle card (M-3, M-4)."""

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
    Remove,
    Volleys,
)
from tablecam.rules.maurice.game.cards import RESHUFFLE
from tablecam.rules.maurice.game.state import Deck
from tablecam.rules.maurice.game.steps import (
    Activating,
    CommandChoice,
    Discarding,
    Drawing,
    Firing,
    Interrupting,
    Marching,
    Modifying,
    MovingCommander,
    Over,
    Rallying,
    VolleyChoice,
)
from tablecam.table.model import Commander, Terrain
from tests.rules.maurice.game.states import after, kinds, state_at
from tests.rules.maurice.tables import gun, line, position

SOUTH = 270.0
COMMANDERS = (Commander("fc", "french", 600, 100), Commander("bc", "british", 600, 1100))
WOOD = Terrain("wood", "woods", ((500, 100), (720, 100), (720, 260), (500, 260)))


def table(*more, terrain=()):
    return position(
        line("F1", "french", 600, 200),
        line("B1", "british", 600, 1000, SOUTH),
        *more,
        terrain=terrain,
        commanders=COMMANDERS,
    )


def deck(state, left, discarded=0, stage="first"):
    return replace(state, deck=Deck(left, discarded, stage))


def hand(state, side):
    return state.side(side).hand


# --- drawing ------------------------------------------------------------------------------------


def test_each_command_draws_its_cards():  # M-4.9
    drawn = {}
    for command in ("pass", "event", "march", "rally", "bombard"):
        extra = gun("FG", "french", 900, 200)
        units = (
            table(extra)
            if command != "rally"
            else table(line("F2", "french", 800, 200, disruption=1))
        )
        state, _ = after(state_at(units, CommandChoice()), Declare(command))
        drawn[command] = hand(state, "french") - 6
    assert drawn == {"pass": 3, "event": -1, "march": 1, "rally": 2, "bombard": 2}


def test_a_charge_draws_nothing():  # M-4.9
    near = position(
        line("F1", "french", 600, 400),
        line("B1", "british", 600, 520, SOUTH),
        commanders=COMMANDERS,
    )
    state, told = after(state_at(near, CommandChoice()), Declare("charge"))
    assert isinstance(state.step, Activating)
    assert hand(state, "french") == 6
    assert "draw" not in kinds(told)


def test_a_pass_with_two_cards_in_the_first_deck_draws_two_reshuffles_and_draws_one():  # T-10
    state = deck(state_at(table(), CommandChoice()), left=2, discarded=20)
    state, told = after(state, Declare("pass"))
    assert kinds(told) == ["command", "draw", "reshuffle"]
    # The second deck holds the Reshuffle card: its owner says whether he has drawn it.
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


def played_round(state, *actions):
    """A round without volleys and without the commander."""
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


# --- no cards, and too many ---------------------------------------------------------------------


def test_without_cards_at_the_start_of_a_round_only_a_pass_is_left():  # T-11, M-4.18
    state = state_at(table(), VolleyChoice(), hand=0, is_without_cards=True)
    state, _ = after(state, Volleys(False))
    assert GAME.legal(state) == (Declare("pass"),)
    with pytest.raises(Refused, match=r"M-4\.18 french began its round without cards"):
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
    state = state_at(table(), MovingCommander(), hand=12)
    state, _ = after(state, Done(), Discard("french", 2))
    assert state.step == replace(state.step, side="british", count=2, why="hand-limit")
    assert isinstance(state.step, Discarding)


# --- spans --------------------------------------------------------------------------------------


def far(bw):
    """A unit whose nearest point lies so many BW from the edge of its commander's marker."""
    x_mm = 600 + 20 + bw * 40 + 80
    commanders = (Commander("fc", "french", 600, 200), COMMANDERS[1])
    units = line("F1", "french", x_mm, 200), line("B1", "british", 600, 1000, SOUTH)
    return state_at(position(*units, commanders=commanders), Activating(), command="march")


def test_seventeen_bw_take_a_twelve_and_a_six():  # T-3, M-3.4
    with pytest.raises(Refused, match=r"M-4\.11 .* 17\.00 BW, straight: cards of 12 BW are not"):
        after(far(17), Activate(("F1",), (12,)))
    state, told = after(far(17), Activate(("F1",), (12, 6)))
    assert isinstance(state.step, Interrupting)
    assert (hand(state, "french"), state.deck.discarded) == (4, 2)
    assert told[0].text == "french activates F1 to march, with 12 + 6 BW"


def test_a_span_of_just_the_distance_is_enough():  # T-3, M-4.11
    state, _ = after(far(11), Activate(("F1",), (11,)))
    assert isinstance(state.step, Interrupting)
    assert GAME.legal(far(11)) == (Activate(("F1",), (11,)), Done())


def test_at_no_distance_at_all_a_card_is_needed():  # T-3, M-4.13
    with pytest.raises(Refused, match=r"M-4\.13"):
        after(far(0), Activate(("F1",)))
    state, _ = after(far(0), Activate(("F1",), (4,)))
    assert isinstance(state.step, Interrupting)


def test_no_more_cards_are_played_than_are_held():  # M-3.9
    state = far(11)
    state = state.with_side(replace(state.side("french"), hand=1))
    with pytest.raises(Refused, match="french has 1 cards, not 2"):
        after(state, Activate(("F1",), (6, 6)))


def test_a_part_of_a_force_is_activated_and_the_rest_stays():  # T-4, M-4.14, M-4.15, M-1.17
    units = [
        line(f"F{name}", "french", x, 300) for name, x in zip("ABC", (200, 400, 600), strict=True)
    ]
    enemy = line("B1", "british", 600, 1000, SOUTH)
    commanders = (Commander("fc", "french", 600, 100), COMMANDERS[1])
    state = state_at(position(*units, enemy, commanders=commanders), Activating(), command="march")
    assert Activate(("FA", "FB", "FC"), (4,)) in GAME.legal(state)
    state, _ = after(state, Activate(("FB", "FC"), (4,)), Decline("british"), Decline("french"))
    state, _ = after(state, Decline("british"))
    assert state.step == Marching(("FB", "FC"))


def test_what_is_no_force_is_not_activated():  # M-1.15, M-4.14
    units = [
        line(f"F{name}", "french", x, 300) for name, x in zip("ABC", (200, 400, 600), strict=True)
    ]
    state = state_at(
        position(*units, line("B1", "british", 600, 1000, SOUTH), commanders=COMMANDERS),
        Activating(),
        command="march",
    )
    for force, said in (
        (("FA", "FC"), r"M-1\.15 no chain of links joins FC"),
        (("B1",), r"M-1\.15 expected units of french, got B1"),
        ((), r"M-1\.15 expected a force"),
        (("FA", "FA"), "FA is named twice"),
    ):
        with pytest.raises(Refused, match=said):
            after(state, Activate(force, (20,)))


def test_half_of_a_force_that_is_activated_to_charge_can_charge():  # M-8.2, T-30
    lines = [line(f"F{place}", "french", 300 + 200 * place, 400) for place in range(6)]

    def activated(attacked):
        enemies = [
            line(f"B{place}", "british", 300 + 200 * place, 560, SOUTH) for place in range(attacked)
        ]
        commanders = (Commander("fc", "french", 800, 200), COMMANDERS[1])
        table = position(*lines, *enemies, commanders=commanders)
        state = state_at(table, Activating(), command="charge")
        return after(state, Activate(tuple(unit.id for unit in lines), (12,)))[0]

    assert isinstance(activated(3).step, Interrupting)
    with pytest.raises(Refused, match=r"M-8\.2 expected a force of units at least half of which"):
        activated(1)


def test_only_guns_that_have_not_fired_bombard():  # M-7.3, M-4.24
    guns = [gun(f"G{place}", "french", 600 + 60 * place, 300) for place in range(3)]
    table = position(*guns, line("B1", "british", 600, 900, SOUTH), commanders=COMMANDERS)
    state = state_at(table, Activating(), command="bombard", fired=frozenset({"G0"}))
    listed = [each.force for each in GAME.legal(state) if isinstance(each, Activate)]
    assert listed == [("G1",), ("G2",)]
    with pytest.raises(Refused, match=r"M-7\.3 expected a force of artillery that has not fired"):
        after(state, Activate(("G0", "G1"), (20,)))
    state, _ = after(state, Activate(("G1", "G2"), (20,)))
    assert isinstance(state.step, Interrupting)


@pytest.mark.parametrize(("apart_mm", "may"), [(160.2, True), (163.0, False)])
def test_a_charge_that_is_too_close_to_call_is_declared_and_activated_for(apart_mm, may):  # M-4.8
    units = (
        line("F1", "french", 600, 400, sigma_mm=0.3, sigma_deg=0.1),
        line("B1", "british", 600, 440 + apart_mm, SOUTH, sigma_mm=0.3, sigma_deg=0.1),
    )
    state = state_at(position(*units, commanders=COMMANDERS), CommandChoice())
    if not may:
        with pytest.raises(Refused, match=r"M-4\.8 french cannot charge"):
            after(state, Declare("charge"))
        return
    state, _ = after(state, Declare("charge"), Activate(("F1",), (8,)))
    assert isinstance(state.step, Interrupting)


def test_a_side_without_a_commander_measures_by_itself():
    units = line("F1", "french", 600, 200), line("B1", "british", 600, 1000, SOUTH)
    state = state_at(position(*units), Activating(), command="march")
    _, told = after(state, Activate(("F1",), (4,)))
    assert "no commander on the table" in told[0].text


def test_a_measured_span_that_is_too_close_to_call_is_the_movers():  # M-4.11, G-7
    state = far(11)
    state = replace(
        state,
        position=replace(state.position, table=replace(state.position.table, tolerance_mm=5.0)),
    )
    units = tuple(
        replace(unit, bases=tuple(replace(base, x_mm=base.x_mm + 2.0) for base in unit.bases))
        if unit.id == "F1"
        else unit
        for unit in state.position.units
    )
    state = replace(state, position=replace(state.position, units=units))
    _, told = after(state, Activate(("F1",), (11,)))
    assert told[0].text.endswith("2.0 mm are too close to call, and the mover's")


# --- modifiers ----------------------------------------------------------------------------------


def near_enemies():
    return position(
        line("F1", "french", 600, 400),
        line("B1", "british", 600, 520, SOUTH),
        commanders=COMMANDERS,
    )


def test_a_modifier_for_volleys_and_one_for_the_march_in_one_round():  # T-6, M-3.6
    state, _ = after(state_at(near_enemies(), VolleyChoice()), Volleys(True), Decline("british"))
    assert state.step.symbol == "musket"
    state, _ = after(state, Modify("french", "musket", {"F1": 1}), Decline("british"))
    state, _ = after(state, Done(), Done())
    state, _ = after(state, Declare("march"), Activate(("F1",), (12,)), Decline("british"))
    state, _ = after(state, Modify("french", "bugle", {"F1": 2}))
    assert state.round.amounts("musket") == {"F1": 1}
    assert state.round.amounts("bugle") == {"F1": 2}


def test_the_wrong_symbol_and_a_second_of_one_are_refused():  # T-6, M-3.5, M-3.6
    step = Modifying("bugle", "french", ("british",), Marching(("F1",)))
    state = state_at(near_enemies(), step, command="march")
    with pytest.raises(Refused, match=r"M-3\.5 expected a card with a bugle, got a musket"):
        after(state, Modify("french", "musket", {}))
    with pytest.raises(Refused, match="expected french to say, got british"):
        after(state, Modify("british", "bugle", {}))
    state, _ = after(state, Modify("french", "bugle", {}))
    again = replace(state, step=step)
    with pytest.raises(Refused, match=r"M-3\.6 french has played one of this symbol"):
        after(again, Modify("french", "bugle", {}))


def test_the_active_player_declares_first_then_the_passive():  # M-4.16, M-10.1
    state, _ = after(state_at(near_enemies(), VolleyChoice()), Volleys(True), Decline("british"))
    assert GAME.asked(state).seat == "french"
    state, _ = after(state, Decline("french"))
    assert GAME.asked(state).seat == "british"
    state, _ = after(state, Modify("british", "musket", {"F1": -1}))
    assert isinstance(state.step, Firing)
    assert state.round.amounts("musket") == {"F1": -1}


@pytest.mark.parametrize(
    ("amounts", "said"),
    [({"F9": 1}, "there is no unit F9"), ({"F1": 9}, r"M-3\.10 expected at most 6")],
)
def test_a_modifier_of_what_is_not_there_or_far_too_much_is_refused(amounts, said):  # M-3.10
    step = Modifying("bugle", "french", (), Marching(("F1",)))
    with pytest.raises(Refused, match=said):
        after(state_at(near_enemies(), step), Modify("french", "bugle", amounts))


# --- interrupts ---------------------------------------------------------------------------------


def test_first_fire_lets_the_passive_side_declare_and_shoot_first():  # T-7, M-4.17, M-10.2
    state, _ = after(state_at(near_enemies(), VolleyChoice()), Volleys(True))
    assert GAME.asked(state).seat == "british"
    state, _ = after(state, Interrupt("first-fire"))
    assert GAME.asked(state).seat == "british"  # its modifiers come first, too
    state, _ = after(state, Modify("british", "musket", {"B1": 1}), Decline("french"))
    assert (state.step.side, state.step.next_sides) == ("british", ("french",))
    state, _ = after(state, Done())
    assert state.step.side == "french"


def test_a_second_interrupt_in_a_round_is_not_asked_for_and_refused():  # T-7, M-4.17
    state, _ = after(state_at(near_enemies(), VolleyChoice()), Volleys(True), Interrupt("other"))
    state, _ = after(state, Decline("french"), Decline("british"), Done(), Done())
    state, _ = after(state, Declare("march"), Activate(("F1",), (12,)))
    assert isinstance(state.step, Modifying)
    asked_again = replace(state, step=Interrupting("activation", ("F1",)))
    with pytest.raises(Refused, match=r"M-4\.17 one interrupt in a round"):
        after(asked_again, Interrupt("foil"))


def test_rough_going_foils_the_march_of_a_force_in_difficult_ground():  # T-8, M-4.19
    state, _ = after(state_at(table(terrain=(WOOD,)), CommandChoice()), Declare("march"))
    state, told = after(state, Activate(("F1",), (4,)), Interrupt("rough-going"))
    assert kinds(told) == ["activated", "interrupt", "foiled"]
    assert isinstance(state.step, MovingCommander)
    # One drawn and kept, one played; the interrupt is spent, too.
    assert (hand(state, "french"), hand(state, "british")) == (6, 5)
    assert state.deck.discarded == 2


def test_rough_going_leaves_a_force_in_the_open_its_march():  # M-4.19
    state, _ = after(state_at(table(), CommandChoice()), Declare("march"), Activate(("F1",), (4,)))
    state, _ = after(state, Interrupt("rough-going"))
    assert isinstance(state.step, Modifying)
    assert state.round.is_rough_going


def test_guns_in_the_woods_take_off_their_smoke_in_spite_of_rough_going():  # M-4.23
    smoking = gun("FG", "french", 600, 150, smoke=True)
    units = position(
        smoking, line("B1", "british", 600, 1000, SOUTH), terrain=[WOOD], commanders=COMMANDERS
    )
    state, _ = after(state_at(units, CommandChoice()), Declare("march"), Activate(("FG",), (4,)))
    state, _ = after(state, Interrupt("rough-going"))
    assert isinstance(state.step, Modifying)


@pytest.mark.parametrize(
    ("step", "effect"),
    [
        (Interrupting("activation", ("F1",)), "first-fire"),
        (Interrupting("volleys"), "foil"),
        (Interrupting("volleys"), "rough-going"),
    ],
)
def test_an_interrupt_at_the_wrong_moment_is_refused(step, effect):  # M-3.7, M-4.17
    with pytest.raises(Refused, match=rf"M-4\.17 {effect} cannot be played now"):
        after(state_at(table(), step, command="march"), Interrupt(effect))


def test_a_rally_is_not_interrupted_by_rough_going():  # M-4.17
    step = Interrupting("activation", ("F1",))
    offered = GAME.legal(state_at(table(), step, command="rally"))
    assert [each.effect for each in offered[1:]] == ["foil", "other"]


# --- events -------------------------------------------------------------------------------------


def test_an_event_is_the_whole_command_and_may_leave_the_game():  # M-4.7, M-4.25, M-3.8
    state, told = after(state_at(table(), CommandChoice()), Declare("event"))
    assert "draw" not in kinds(told)
    assert (hand(state, "french"), state.deck.discarded) == (5, 1)
    kept, _ = after(state, Decline("french"), Decline("british"))
    gone, _ = after(state, Decline("french"), Remove("british"))
    assert isinstance(kept.step, MovingCommander)
    assert isinstance(gone.step, MovingCommander)
    assert (kept.deck.discarded, gone.deck.discarded) == (1, 0)


def test_a_card_drawn_for_a_rally_is_no_event_any_more():  # T-9, M-4.10
    units = table(line("F2", "french", 800, 200, disruption=2))
    state, _ = after(state_at(units, CommandChoice(), hand=1), Declare("rally"))
    with pytest.raises(Refused, match="expected a force, or done, got declare"):
        after(state, Declare("event"))
    # For its span it can be used.
    state, _ = after(state, Activate(("F2",), (4, 4, 4)), Decline("british"))
    assert isinstance(state.step, Modifying | Rallying)
    assert hand(state, "french") == 0


# --- dealt --------------------------------------------------------------------------------------


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
    """The state with the first card of each title in a hand, and nothing else there."""
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
    assert GAME.legal(state) == (Activate(("F1",), cards=("runner-1",)), Done())
    for action, said in (
        (Activate(("F1",), cards=("first-fire-1",)), "french does not hold first-fire-1"),
        (Activate(("F1",), (4,)), "expected the cards, not their spans"),
        (Activate(("F1",), cards=("runner-1", "runner-1")), "runner-1 is named twice"),
    ):
        with pytest.raises(Refused, match=said):
            after(state, action)
    state, _ = after(state, Activate(("F1",), cards=("runner-1",)))
    assert state.side("french").cards == ("rider-1", "aide-de-camp-1")
    assert state.deck.discards == ("runner-1",)


def test_a_dealt_modifier_adds_what_it_says_and_nothing_else(dealt):  # M-3.9, M-4.16
    state = holding(dealt, "french", "Long Strides", "Muddy Lanes", "Runner")
    step = Modifying("bugle", "french", (), Marching(("F1",)))
    state = replace(state, step=step)
    one, all_of_them = (
        Modify("french", "bugle", {"F1": 2}, "long-strides-1"),
        Modify("french", "bugle", {"B1": -1}, "muddy-lanes-1"),
    )
    assert GAME.legal(state) == (Decline("french"), one, all_of_them)
    with pytest.raises(Refused, match="expected what Long Strides adds"):
        after(state, Modify("french", "bugle", {"F1": 5}, "long-strides-1"))
    with pytest.raises(Refused, match=r"M-3\.10 expected the card that is played"):
        after(state, Modify("french", "bugle", {"F1": 2}))


def test_a_dealt_interrupt_does_what_it_says(dealt):  # M-3.7
    state = holding(dealt, "british", "Rough Going", "Runner")
    step = Interrupting("activation", ("F1",))
    state = replace(state, step=step, round=replace(state.round, command="march"))
    played = Interrupt("rough-going", "rough-going-1")
    assert GAME.legal(state) == (Decline("british"), played)
    with pytest.raises(Refused, match=r"expected what Rough Going does \(rough-going\), got foil"):
        after(state, Interrupt("foil", "rough-going-1"))
    state, _ = after(state, played)
    assert state.side("british").cards == ("runner-1",)


def test_a_dealt_event_that_is_not_removable_goes_to_the_discards(dealt):  # M-4.25
    state = holding(dealt, "french", "Council of War", "Valeur et Discipline", "Runner")
    state, _ = after(state, Volleys(False))
    events = [each.card for each in GAME.legal(state) if each.command == "event"]
    assert events == ["council-of-war-1", "valeur-et-discipline-1"]
    with pytest.raises(Refused, match=r"M-3\.8 Runner is no event"):
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
    pile = holding(state, "french").deck.cards[:20]
    state = replace(
        state,
        deck=replace(
            state.deck,
            cards=tuple(card for card in state.deck.cards if card not in pile),
            discards=tuple(card for card in pile if card in state.deck.cards),
        ),
    )
    state = replace(
        state,
        deck=replace(state.deck, left=len(state.deck.cards), discarded=len(state.deck.discards)),
    )
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
        dealt,
        step=Drawing("french", 1, CommandChoice()),
        deck=Deck(4, 0, "second", cards=cards),
    )
    (due,) = GAME.legal(second)
    chance = Random(8)
    drawn = [GAME.settle(second, due, chance).cards for _ in range(4000)]
    # 1000 of 4000 are expected; 5 standard deviations of 27 either way.
    for card in (*cards, RESHUFFLE):
        assert abs(drawn.count((card,)) - 1000) < 5 * 27.4


@pytest.mark.parametrize("cards", [None, (), ("runner-1", "runner-1"), (RESHUFFLE,), ("no-such",)])
def test_what_cannot_come_up_is_refused(dealt, cards):  # M-3.10
    state = replace(dealt, step=Drawing("french", 2, CommandChoice()))
    with pytest.raises(Refused):
        after(state, Draw("french", 2, cards))
