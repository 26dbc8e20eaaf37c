"""Cards that players hold: modifiers, interrupts and events (M-3, M-4)."""

from dataclasses import replace

import pytest

from tablecam.rules.game import Refused
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import (
    Activate,
    Charge,
    Declare,
    Decline,
    Done,
    Interrupt,
    Modify,
    Remove,
    Volleys,
)
from tablecam.rules.maurice.game.activation import Interrupting
from tablecam.rules.maurice.game.cards import Modifying
from tablecam.rules.maurice.game.charge import Charging
from tablecam.rules.maurice.game.combat import Rallying
from tablecam.rules.maurice.game.command import CommandChoice, VolleyChoice
from tablecam.rules.maurice.game.commander import MovingCommander
from tablecam.rules.maurice.game.fire import Firing
from tablecam.rules.maurice.game.march import Marching
from tests.rules.maurice.game.duel import COMMANDERS, SOUTH, hand, table
from tests.rules.maurice.game.states import after, dice, fire, kinds, state_at
from tests.rules.maurice.tables import box, gun, line, position

WOOD = box("woods", 500, 100, 720, 260, "wood")


MORE = (line("B1", "british", 600, 520, SOUTH), line("F9", "french", 1500, 100))


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
    with pytest.raises(Refused, match="expected French to decide, got British"):
        after(state, Modify("british", "bugle", {}))
    state, _ = after(state, Modify("french", "bugle", {}))
    again = replace(state, step=step)
    with pytest.raises(Refused, match=r"M-3\.6 French have already played a card with this symbol"):
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
    [({"F9": 1}, "there is no unit F9"), ({"F1": 9}, r"M-3\.10 expected -6 to \+6")],
)
def test_a_modifier_of_what_is_not_there_or_far_too_much_is_refused(amounts, said):  # M-3.10
    step = Modifying("bugle", "french", (), Marching(("F1",)))
    with pytest.raises(Refused, match=said):
        after(state_at(near_enemies(), step), Modify("french", "bugle", amounts))


def test_first_fire_lets_the_passive_side_declare_and_shoot_first():  # T-7, M-4.17, M-10.2
    state, _ = after(state_at(near_enemies(), VolleyChoice()), Volleys(True))
    assert GAME.asked(state).seat == "british"
    state, _ = after(state, Interrupt("first-fire"))
    assert GAME.asked(state).seat == "british"  # its modifiers come first too
    state, _ = after(state, Modify("british", "musket", {"B1": 1}), Decline("french"))
    assert (state.step.side, state.step.next_sides) == ("british", ("french",))
    state, _ = after(state, Done())
    assert state.step.side == "french"


def test_who_is_broken_by_first_fire_fires_no_more():  # M-4.17, M-7.2
    doomed = line("F1", "french", 600, 400, disruption=4)
    state = state_at(replace(near_enemies(), units=(doomed, *MORE)), VolleyChoice())
    state, _ = after(state, Volleys(True), Interrupt("first-fire"))
    state, _ = after(state, Decline("british"), Decline("french"), fire("B1", "F1"))
    state, _ = after(state, dice(state, 6, 1, 1, 1))
    state, events = after(state, dice(state, 6))
    assert kinds(events)[-2:] == ["broken", "morale"]
    assert state.step == CommandChoice()  # the french have nobody who could fire back


def test_a_second_interrupt_in_a_round_is_not_asked_for_and_refused():  # T-7, M-4.17
    state, _ = after(state_at(near_enemies(), VolleyChoice()), Volleys(True), Interrupt("other"))
    state, _ = after(state, Decline("french"), Decline("british"), Done(), Done())
    state, _ = after(state, Declare("march"), Activate(("F1",), (12,)))
    assert isinstance(state.step, Modifying)
    asked_again = replace(state, step=Interrupting("activation", ("F1",)))
    with pytest.raises(Refused, match=r"M-4\.17 only one interrupt is allowed in a round"):
        after(asked_again, Interrupt("foil"))


def test_rough_going_foils_the_march_of_a_force_in_difficult_ground():  # T-8, M-4.19
    state, _ = after(state_at(table(terrain=(WOOD,)), CommandChoice()), Declare("march"))
    state, told = after(state, Activate(("F1",), (4,)), Interrupt("rough-going"))
    assert kinds(told) == ["activated", "interrupt", "foiled"]
    assert isinstance(state.step, MovingCommander)
    # One drawn and kept, one played; the interrupt is also spent.
    assert (hand(state, "french"), hand(state, "british")) == (6, 5)
    assert state.deck.discarded == 2


def test_a_foiled_activation_ends_the_action_and_only_the_commander_moves():  # M-4.19
    state, _ = after(state_at(near_enemies(), CommandChoice()), Declare("march"))
    state, _ = after(state, Activate(("F1",), (12,)), Interrupt("foil"))
    assert isinstance(state.step, MovingCommander)
    assert (hand(state, "french"), hand(state, "british")) == (6, 5)  # drew one, played one


def test_rough_going_leaves_a_force_in_the_open_its_march():  # M-4.19
    state, _ = after(state_at(table(), CommandChoice()), Declare("march"), Activate(("F1",), (4,)))
    state, _ = after(state, Interrupt("rough-going"))
    assert isinstance(state.step, Modifying)
    assert state.round.is_rough_going


def test_rough_going_foils_a_charge_that_leads_over_difficult_ground_alone():  # M-4.19, M-8.2
    brook = box("stream", 500, 450, 720, 470, "brook")
    across = replace(near_enemies(), terrain=(brook,))
    state, _ = after(state_at(across, CommandChoice()), Declare("charge"))
    state, told = after(state, Activate(("F1",), (12,)), Interrupt("rough-going"))
    assert kinds(told) == ["activated", "interrupt", "foiled"]
    assert isinstance(state.step, MovingCommander)


def test_rough_going_leaves_half_of_a_force_its_charge_over_the_open():  # M-4.19, M-8.2
    brook = box("stream", 500, 450, 720, 470, "brook")
    beside = line("F2", "french", 800, 400), line("B2", "british", 800, 520, SOUTH)
    across = near_enemies()
    across = replace(across, units=(*across.units, *beside), terrain=(brook,))
    state, _ = after(state_at(across, CommandChoice()), Declare("charge"))
    state, _ = after(state, Activate(("F1", "F2"), (12,)), Interrupt("rough-going"))
    assert isinstance(state.step, Charging)
    assert {each.unit for each in GAME.legal(state) if isinstance(each, Charge)} == {"F2"}


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
    with pytest.raises(Refused, match="expected a force or done, got declare"):
        after(state, Declare("event"))
    # It can be used for its span.
    state, _ = after(state, Activate(("F2",), (4, 4, 4)), Decline("british"))
    assert isinstance(state.step, Modifying | Rallying)
    assert hand(state, "french") == 0
