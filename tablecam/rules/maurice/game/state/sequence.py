"""What comes after what in a round (M-4.2). Steps are only named here; others have their rules."""

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
"""How many cards a command draws (M-4.9)."""


def next_round(state: State) -> State:
    """The first step of the other side's round; sides alternate (M-1.5)."""
    return first_step(state, state.round.number + 1, state.passive)


def first_step(state: State, number: int, active: str) -> State:
    """A round at its beginning: the active side may invoke the volley phase (M-4.3)."""
    without = state.side(active).hand == 0
    out = is_out(state.deck)
    begun = Round(number, active, state.position, is_without_cards=without, is_deck_out=out)
    return replace(state, round=begun, step=VolleyChoice())


def is_out(deck: Deck) -> bool:
    """Whether the last deck is empty, so that night may fall (M-4.6, M-4.22)."""
    return deck.stage == "last" and deck.left == 0


def after_interrupt(state: State, step: Interrupting) -> State:
    """What the passive side may have interrupted goes on, cards that modify it first (M-4.16)."""
    if step.moment == "volleys":
        first, second = state.active, state.passive
        if state.round.passive_fires_first:
            first, second = second, first
        firing = Firing("volley", first, next_sides=(second,))
        return state.to(Modifying("musket", first, (second,), then=firing))
    return _begun(state, step.force)


def _begun(state: State, force: tuple[str, ...]) -> State:
    """The action of an activated force. In a charge cards wait for the combat (M-4.16)."""
    after: dict[Command, tuple[Symbol, Step]] = {
        "march": ("bugle", Marching(force)),
        "bombard": ("cannon", Firing("bombard", state.active, may=force)),
        "rally": ("flag", Rallying(force)),
    }
    if state.round.command is None or state.round.command not in after:
        return state.to(Charging(force))
    symbol, step = after[state.round.command]
    return state.to(Modifying(symbol, state.active, (state.passive,), then=step))


def after_moves_of_charge(state: State, engaged: tuple[str, ...]) -> State:
    """Cards, then the dice of all who are engaged (M-4.16, M-8.19); nobody may have met anyone."""
    if not engaged:
        return after_action(state)
    combat = RollingCombat(engaged)
    return state.to(Modifying("swords", state.active, (state.passive,), then=combat))


def after_fire(state: State, kind: Kind) -> State:
    """Volleys come before the command choice; a bombardment is the round's action (M-4.2)."""
    return state.to(CommandChoice()) if kind == "volley" else after_action(state)


def after_declaring(state: State) -> State:
    """A pass or an event is over at once, an action wants a force (M-4.4, M-4.10)."""
    is_action = state.round.command not in ("pass", "event")
    return state.to(Activating() if is_action else MovingCommander())


def after_action(state: State) -> State:
    """The active side's commander may move (M-6.27)."""
    return state.to(MovingCommander())


def after_commander(state: State) -> State:
    """The round ends (M-4.2)."""
    return state.to(EndingRound())
