"""Several moves of hands confirmed at once: an order in which each is legal after those before it.

A unit may move into the place that another one left, or past friends who have gone ahead; so
whether all may be confirmed hangs on who went first, which nobody has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tablecam.rules.game import Game, Refused, Suggestion

Look = Callable[[Any], tuple[Suggestion, ...]]
"""What a game makes of the table from a state on."""


def together(
    game: Game[Any, Any], state: Any, suggested: Sequence[Suggestion], look: Look
) -> tuple[Suggestion, ...]:
    """The legal moves among those suggested, in an order in which they may all be confirmed.

    Each is told as it is after those before it; all are actions of one type. Of several orders
    that is taken in which least happens: nobody passes through a friend who was about to go. What
    is too close to call is left to be decided by itself. Empty where fewer than two may be
    confirmed.
    """
    if sum(each.action is not None for each in suggested) < 2:
        return ()
    found, could = _in_order(game, state, suggested, look)
    for name in sorted(could - {each.unit for each in found}):
        # It was legal before somebody else went: it may have gone first.
        other, _ = _in_order(game, state, suggested, look, first=name)
        found = max(found, other, key=len)
    return found if len(found) > 1 else ()


def is_sure(found: Suggestion) -> bool:
    """Whether a move is legal beyond doubt."""
    return found.action is not None and found.answer.answer == "yes"


def _in_order(
    game: Game[Any, Any],
    state: Any,
    suggested: Sequence[Suggestion],
    look: Look,
    *,
    first: str | None = None,
) -> tuple[tuple[Suggestion, ...], set[str]]:
    """Moves one after the other while any is legal, and all units whose move ever was."""
    found: list[Suggestion] = []
    could: set[str] = set()
    while ready := _ready(game, state, _like(found, suggested)):
        could |= {each.unit for each, _, _ in ready}
        move, state, _ = min(ready, key=lambda step: (step[0].unit != first, step[2]))
        found.append(move)
        suggested = look(state)
    return tuple(found), could


def _like(found: Sequence[Suggestion], suggested: Sequence[Suggestion]) -> list[Suggestion]:
    """What may go on after moves: others' moves that are no other kind of action."""
    gone = {each.unit for each in found}
    return [
        each
        for each in suggested
        if each.unit not in gone and (not found or type(each.action) is type(found[0].action))
    ]


def _ready(
    game: Game[Any, Any], state: Any, suggested: Sequence[Suggestion]
) -> list[tuple[Suggestion, Any, int]]:
    """The moves that are legal now, each with the state after it and how much happens by it."""
    found = []
    for each in filter(is_sure, suggested):
        try:
            after, events = game.apply(state, each.action)
        except Refused:
            continue
        found.append((each, after, len(events)))
    return found
