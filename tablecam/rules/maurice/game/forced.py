"""Steps at which nothing may be left to be chosen: they can go on by themselves."""

from __future__ import annotations

from tablecam.rules.maurice.game.procedure import round as the_round
from tablecam.rules.maurice.game.state.actions import Action
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.steps import ChoosingFallBacks, Displacing, MovingCommander


def forced(state: State) -> Action | None:
    """The one thing to do: the last unit falls back, a commander without a card or a place stays.

    Of other steps' actions the usual ones are listed only, or hands carry them out: never there.
    """
    if not isinstance(state.step, ChoosingFallBacks | Displacing | MovingCommander):
        return None
    first, *others = the_round.legal(state)
    return None if others else first
