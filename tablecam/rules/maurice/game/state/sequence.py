"""The order of steps in a round (M-4.2); the steps' rules are in other modules."""

from __future__ import annotations

from dataclasses import replace

from tablecam.rules.maurice.field.requests import Kind
from tablecam.rules.maurice.game.state.state import Command, Deck, Round, State
from tablecam.rules.maurice.game.state.steps import (
    Activating,
    Charging,
    CommandChoice,
    EndingRound,
    Firing,
    Interrupting,
    Marching,
    Modifying,
    MovingCommander,
    Rallying,
    RollingCombat,
    Step,
    Symbol,
    VolleyChoice,
)

DRAWS: dict[Command, int] = {
    "charge": 0,
    "march": 1,
    "rally": 2,
    "bombard": 2,
    "pass": 3,
    "event": 0,
}
"""The number of cards that each command draws (M-4.9)."""


def next_round(state: State) -> State:
    """Returns the first step of the other side's round; sides alternate (M-1.5)."""
    return first_step(state, state.round.number + 1, state.passive)


def first_step(state: State, number: int, active: str) -> State:
    """Returns the start of a round, where the active side may invoke volleys (M-4.3)."""
    # Noted now, as the hand may change during the round (M-4.18).
    is_without_cards = state.side(active).hand == 0
    is_deck_out = is_deck_exhausted(state.deck)
    begun = Round(
        number, active, state.position, is_without_cards=is_without_cards, is_deck_out=is_deck_out
    )
    return replace(state, round=begun, step=VolleyChoice())


def is_deck_exhausted(deck: Deck) -> bool:
    """Whether the last deck is empty, so that night may fall (M-4.6, M-4.22)."""
    return deck.stage == "last" and deck.left == 0


def after_interrupt(state: State, step: Interrupting) -> State:
    """Continues what the passive side could interrupt; modifying cards come first (M-4.16)."""
    if step.moment == "volleys":
        first, second = state.active, state.passive
        # First Fire turns the order of cards round, too (M-4.17).
        if state.round.passive_fires_first:
            first, second = second, first
        firing = Firing("volley", first, next_sides=(second,))
        return state.to(Modifying("musket", first, (second,), then=firing))
    return _start_action(state, step.force)


def _start_action(state: State, force: tuple[str, ...]) -> State:
    """Starts the action of an activated force; a charge plays its cards at combat (M-4.16)."""
    after: dict[Command, tuple[Symbol, Step]] = {
        "march": ("bugle", Marching(force)),
        "bombard": ("cannon", Firing("bombard", state.active, may=force)),
        "rally": ("flag", Rallying(force)),
    }
    if state.round.command is None or state.round.command not in after:
        # Its modifying cards are played before the combat (M-4.16).
        return state.to(Charging(force))
    symbol, step = after[state.round.command]
    return state.to(Modifying(symbol, state.active, (state.passive,), then=step))


def after_moves_of_charge(state: State, engaged: tuple[str, ...]) -> State:
    """Continues after the charge moves: cards, then the combat dice (M-4.16, M-8.19).

    Without any engaged unit the action is over.
    """
    if not engaged:
        return after_action(state)
    combat = RollingCombat(engaged)
    return state.to(Modifying("swords", state.active, (state.passive,), then=combat))


def after_fire(state: State, kind: Kind) -> State:
    """Continues after fire: volleys precede the command, a bombardment is the action (M-4.2)."""
    return state.to(CommandChoice()) if kind == "volley" else after_action(state)


def after_declaring(state: State) -> State:
    """Continues after a command: only an action needs a force (M-4.4, M-4.10)."""
    is_action = state.round.command not in ("pass", "event")
    return state.to(Activating() if is_action else MovingCommander())


def after_action(state: State) -> State:
    """Moves on to the active side's commander (M-6.27)."""
    return state.to(MovingCommander())


def after_commander(state: State) -> State:
    """Moves on to the end of the round (M-4.2)."""
    return state.to(EndingRound())
