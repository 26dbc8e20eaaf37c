"""Several moves of hands confirmed at once: an order in which each is legal after those before it.

A unit may move into the place that another one left, or past friends who have gone ahead; so
whether all may be confirmed hangs on who went first, which nobody has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tablecam.rules.game import Event, Game, Refused, Suggestion

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
    moves = [each for each in suggested if _may_go(each)]
    if len(moves) < 2:
        return ()
    found = _in_order(game, state, moves, look)
    for move in filter(is_sure, moves):
        if move.unit not in {each.unit for each in found}:
            # It is legal by itself, but not after the others: it may have gone first.
            rest = [each for each in moves if each is not move]
            found = max(found, _in_order(game, state, [move, *rest], look, first=move), key=len)
    return found if len(found) > 1 else ()


def is_sure(found: Suggestion) -> bool:
    """Whether a move is legal beyond doubt."""
    return found.action is not None and found.answer.answer == "yes"


def _may_go(found: Suggestion) -> bool:
    """Whether a move is legal, or might be once others have gone."""
    return found.action is not None and found.answer.answer != "too_close"


def _in_order(
    game: Game[Any, Any],
    state: Any,
    moves: Sequence[Suggestion],
    look: Look,
    *,
    first: Suggestion | None = None,
) -> tuple[Suggestion, ...]:
    """Moves one after the other while any is legal, each as it is told then."""
    found: list[Suggestion] = []
    left = list(moves)
    while True:
        step = _least(game, state, left if found or first is None else [first])
        if step is None:
            return tuple(found)
        move, after, events = step
        left.remove(move)
        told = move if is_sure(move) and _is_plain(events) else _anew(move, look(state))
        if told is not None:
            found.append(told)
            state = after
            left = [each for each in left if type(each.action) is type(told.action)]


def _least(
    game: Game[Any, Any], state: Any, moves: Sequence[Suggestion]
) -> tuple[Suggestion, Any, tuple[Event, ...]] | None:
    """The legal move by which least happens, with what comes of it; None where none is legal."""
    least: tuple[Suggestion, Any, tuple[Event, ...]] | None = None
    for move in moves:
        try:
            after, events = game.apply(state, move.action)
        except Refused:
            continue
        if least is None or len(events) < len(least[2]):
            least = move, after, events
        if _is_plain(events):
            break
    return least


def _is_plain(events: Sequence[Event]) -> bool:
    """Whether a move is all that happens by it: nothing hangs on who went before."""
    return len(events) == 1


def _anew(move: Suggestion, suggested: Sequence[Suggestion]) -> Suggestion | None:
    """What a move is told as after others; None where it is not legal beyond doubt even then."""
    found = next((each for each in suggested if each.unit == move.unit), None)
    return found if found is not None and is_sure(found) else None
