"""Several rules at once in volleys and commands: each is tested elsewhere, here how they meet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tablecam.rules.game import Refused
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import (
    Activate,
    Declare,
    Decline,
    Discard,
    Done,
    Fire,
    FireFrom,
    Interrupt,
    Modify,
    PlaceCommander,
    Volleys,
)
from tablecam.rules.maurice.game.activation import Activating
from tablecam.rules.maurice.game.cards import Discarding, Modifying
from tablecam.rules.maurice.game.combat import RollingCombat
from tablecam.rules.maurice.game.command import CommandChoice, VolleyChoice
from tablecam.rules.maurice.game.commander import Displacing, MovingCommander
from tablecam.rules.maurice.game.fire import Firing
from tablecam.rules.maurice.game.state import Deck, Modifier, Over, State
from tablecam.table.model import Commander, Unit
from tests.rules.maurice.game.duel import COMMANDERS, hand
from tests.rules.maurice.game.states import after, dice, kinds, level, state_at
from tests.rules.maurice.tables import gun, line, position

SOUTH = 270.0
FAR = line("B9", "british", 1500, 1100, SOUTH)
FAR_FRENCH = line("F9", "french", 1500, 100)


def fire_all(unit: str, target: str, bases: int = 4) -> Fire:
    return Fire(unit, {f"{unit}/{place + 1}": target for place in range(bases)})


def facing(**more: object) -> State:
    """F1 and B1 in line, 3 BW apart, each side's round before it."""
    table = position(
        line("F1", "french", 600, 400),
        line("B1", "british", 600, 560, SOUTH),
        FAR,
        FAR_FRENCH,
        commanders=COMMANDERS,
    )
    return state_at(table, VolleyChoice(), **more)


def first_fire(state: State, *cards: Modify) -> State:
    """The british shoot first; musket cards as given, else none."""
    state, _ = after(state, Volleys(True), Interrupt("first-fire"))
    for side in ("british", "french"):
        own = [card for card in cards if card.side == side]
        state, _ = after(state, *(own or [Decline(side)]))
    return state


def combat(*units: Unit, engaged: str, **more: object) -> State:
    """All charges made, the dice of those engaged due."""
    terrain, commanders = more.pop("terrain", ()), more.pop("commanders", ())
    table = position(*units, terrain=terrain, commanders=commanders)
    step = RollingCombat(tuple(engaged.split()))
    return state_at(table, step, command="charge", **{"hand": 0, **more})


def scores(events) -> dict[str, int]:
    return {each.facts["unit"]: each.facts["score"] for each in events if each.kind == "score"}


# --- volleys with cards ---------------------------------------------------------------------------


def test_who_is_broken_by_first_fire_fires_no_more():  # M-4.17, M-7.2
    state = first_fire(facing())
    hurt = replace(state.position.unit("F1"), state={"disruption": 4})
    units = tuple(hurt if unit.id == "F1" else unit for unit in state.position.units)
    state = replace(state, position=replace(state.position, units=units))
    state, _ = after(state, FireFrom("left"), fire_all("B1", "F1"))
    state, _ = after(state, dice(state, 6, 1, 1, 1))
    state, events = after(state, dice(state, 6))
    assert kinds(events)[-2:] == ["broken", "morale"]
    assert state.step == CommandChoice()  # the french have nobody who could fire back


def test_the_last_morale_lost_to_first_fire_ends_the_game_in_the_enemys_round():  # M-4.1, M-7.2
    state = first_fire(facing(morale=1))
    hurt = replace(state.position.unit("F1"), state={"disruption": 4})
    units = tuple(hurt if unit.id == "F1" else unit for unit in state.position.units)
    state = replace(state, position=replace(state.position, units=units))
    state, _ = after(state, FireFrom("left"), fire_all("B1", "F1"))
    state, _ = after(state, dice(state, 6, 6, 6, 6))
    state, _ = after(state, dice(state, 6, 6, 6, 6))
    assert isinstance(state.step, Over)
    assert state.step.winner == "british"


def test_after_first_fire_the_active_side_still_fires_and_then_chooses():  # M-4.17, M-4.2
    state = first_fire(facing())
    assert state.step.side == "british"
    state, _ = after(state, Done())
    assert (state.step.side, state.active) == ("french", "french")
    state, _ = after(state, FireFrom("right"), fire_all("F1", "B1"))
    state, _ = after(state, dice(state, 1, 1, 1, 1))
    assert state.step == CommandChoice()


def test_cards_of_both_sides_upon_one_unit_add_up():  # M-4.16, M-7.23
    better, smoke = (
        Modify("french", "musket", {"F1": 1}),
        Modify("british", "musket", {"F1": -2}),
    )
    state, _ = after(facing(), Volleys(True), Decline("british"), better, smoke)
    state, _ = after(state, FireFrom("left"), fire_all("F1", "B1"))
    state, events = after(state, dice(state, 4, 5, 6, 1))
    assert [each.facts["hits"] for each in events if each.kind == "shot"] == [2]


@pytest.mark.parametrize(("amount", "hits"), [(9, 2), (-9, 1)])
def test_no_card_makes_a_1_hit_or_a_6_miss(amount: int, hits: int):  # M-7.23, M-3.10
    card = Modifier("french", "musket", {"F1": amount})
    table = position(line("F1", "french", 600, 400), line("B1", "british", 600, 560, SOUTH), FAR)
    state = state_at(table, Firing("volley", "french"), modifiers=(card,))
    three = Fire("F1", {f"F1/{place}": "B1" for place in (1, 2, 3)})
    state, _ = after(state, FireFrom("left"), three)
    state, events = after(state, dice(state, 1, 2, 6))
    assert [each.facts["hits"] for each in events if each.kind == "shot"] == [hits]


def test_a_musket_card_counts_for_no_combat_and_for_no_bombardment():  # M-3.5
    state = combat(
        line("F1", "french", 500, 580),
        line("B1", "british", 500, 620, SOUTH),
        engaged="F1 B1",
        modifiers=(Modifier("french", "musket", {"F1": 3}),),
    )
    assert scores(after(state, dice(state, 1, 1))[1]) == {"F1": 7, "B1": 7}


def test_a_unit_that_two_fire_at_breaks_only_when_all_have_rolled_to_hit():  # M-7.8, M-7.25
    table = position(
        line("F1", "french", 520, 400),
        line("F2", "french", 690, 400),
        line("B1", "british", 600, 560, SOUTH, disruption=4),
        FAR,
    )
    state = state_at(table, Firing("volley", "french", direction="left"))
    first = Fire("F1", {"F1/4": "B1"})
    state, _ = after(state, first)
    state, _ = after(state, dice(state, 6))
    second = Fire("F2", {"F2/1": "B1"})
    state, _ = after(state, second)
    state, events = after(state, dice(state, 6))
    assert level(state, "B1") == 4
    state, events = after(state, dice(state, 5, 1))
    assert [each.text.split()[0] for each in events if each.kind == "broken"] == ["B1"]


def test_canister_disrupts_the_gun_more_easily_than_bombardment_does():  # M-7.26
    table = position(gun("F1", "french", 600, 400), gun("B1", "british", 600, 540, SOUTH), FAR)
    state = state_at(table, Firing("volley", "french", direction="left"))
    state, _ = after(state, Fire("F1", {"F1/1": "B1"}))
    state, _ = after(state, dice(state, 4, 4))
    state, _ = after(state, dice(state, 4, 3))
    assert level(state, "B1") == 1


def test_a_gun_disrupted_once_shoots_the_worse_for_it():  # M-7.24
    table = position(
        gun("F1", "french", 600, 400, disruption=1), line("B1", "british", 600, 540, SOUTH), FAR
    )
    state = state_at(table, Firing("volley", "french", direction="left"))
    state, _ = after(state, Fire("F1", {"F1/1": "B1"}))
    state, events = after(state, dice(state, 4, 5))
    assert [each.facts["hits"] for each in events if each.kind == "shot"] == [1]


def test_volleys_before_a_pass_at_night_may_still_win():  # M-4.3, M-4.6
    state = facing(morale=1)
    hurt = replace(state.position.unit("B1"), state={"disruption": 4})
    units = tuple(hurt if unit.id == "B1" else unit for unit in state.position.units)
    state = replace(state, position=replace(state.position, units=units), night_passes=1)
    out = replace(state.round, is_deck_out=True)
    state = replace(state, deck=Deck(0, 40, "last"), round=out)
    no_cards = (Decline("british"), Decline("french"), Decline("british"))
    state, _ = after(state, Volleys(True), *no_cards)
    state, _ = after(state, FireFrom("left"), fire_all("F1", "B1"))
    state, _ = after(state, dice(state, 6, 6, 6, 6))
    state, _ = after(state, dice(state, 6, 6, 6, 6))
    assert state.step.winner == "french"


# --- commands, cards and the deck -----------------------------------------------------------------


def test_a_deck_that_runs_out_in_a_rally_gives_what_it_has_and_the_rally_goes_on():  # M-4.22
    table = position(line("F1", "french", 600, 400, disruption=2), FAR, commanders=COMMANDERS)
    state = replace(state_at(table, CommandChoice()), deck=Deck(1, 30, "last"))
    state, _ = after(state, Declare("rally"))
    assert (hand(state, "french"), state.deck.left) == (7, 0)
    assert state.step == Activating()


def test_a_march_that_draws_the_last_card_of_the_first_deck_makes_the_second():  # M-4.20
    state = replace(facing(), step=CommandChoice(), deck=Deck(1, 11))
    state, _ = after(state, Declare("march"))
    assert (state.deck.stage, state.deck.left, state.deck.discarded) == ("second", 12, 0)
    assert state.step == Activating()


def test_one_interrupt_in_the_volley_phase_leaves_none_for_the_activation():  # M-4.17
    state = first_fire(facing())
    state, _ = after(state, Done(), Done())
    state, _ = after(state, Declare("march"), Activate(("F1",), (12,)))
    assert isinstance(state.step, Modifying)  # the british are not asked to interrupt again


def test_a_foiled_activation_leaves_the_volleys_as_they_were_and_the_commander_moves():  # M-4.19
    state, _ = after(facing(), Volleys(True), Decline("british"), Decline("french"))
    state, _ = after(state, Decline("british"), Done(), Done())
    state, _ = after(state, Declare("march"), Activate(("F1",), (12,)), Interrupt("foil"))
    assert isinstance(state.step, MovingCommander)
    assert (hand(state, "french"), hand(state, "british")) == (6, 5)  # drew one, played one
    state, _ = after(state, PlaceCommander("french", 900, 300))
    assert hand(state, "french") == 5


def test_whoever_spends_all_his_cards_for_the_span_has_none_for_his_commander():  # M-6.27
    state = replace(facing(hand=1), step=CommandChoice(), deck=Deck(0, 40, "last"))
    state, _ = after(state, Declare("march"), Activate(("F1",), (12,)), Decline("british"))
    if isinstance(state.step, Modifying):
        state, _ = after(state, Decline("british"))
    state, _ = after(state, Done())
    assert isinstance(state.step, MovingCommander)
    assert GAME.legal(state) == (Done(),)
    with pytest.raises(Refused, match=r"M-3\.9 French hold only 0 cards"):
        after(state, PlaceCommander("french", 900, 300))


def test_both_sides_discard_down_to_ten_the_active_one_first():  # M-3.2
    table = facing().position
    state, _ = after(state_at(table, MovingCommander(), hand=12), Done())
    assert state.step == Discarding("french", 2, "hand-limit", state.step.then)
    state, _ = after(state, Discard("french", 2))
    assert (state.step.side, state.step.count) == ("british", 2)
    state, _ = after(state, Discard("british", 2))
    assert (state.active, hand(state, "french"), hand(state, "british")) == ("british", 10, 10)


def test_a_displaced_commander_pays_before_the_hand_limit_is_looked_at():  # M-6.30, M-3.2
    own = (Commander("fc", "french", 600, 400), Commander("bc", "british", 600, 1100))
    table = position(line("F1", "french", 600, 400), FAR, commanders=own)
    state, _ = after(state_at(table, MovingCommander(), hand=11), Done())
    assert isinstance(state.step, Displacing)
    state, _ = after(state, next(a for a in GAME.legal(state)))
    assert (state.step.why, state.step.count) == ("displaced", 1)
    state, _ = after(state, Discard("french", 1))
    assert (state.step.side, state.step.why) == ("british", "hand-limit")


def test_whoever_began_without_cards_passes_and_may_then_move_his_commander():  # M-4.18, M-6.27
    state = replace(facing(hand=0), step=CommandChoice())
    state = replace(state, round=replace(state.round, is_without_cards=True))
    assert GAME.legal(state) == (Declare("pass"),)
    state, _ = after(state, Declare("pass"))
    assert (hand(state, "french"), state.step) == (3, MovingCommander())
