"""Finds an order in which several moves may be confirmed at once, each legal after the previous.

A unit may move into the place that another one left, or past friends that have gone ahead, so the
legality of moves depends on their order, which the camera has not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tablecam.rules.game import Event, Game, Refused, Suggestion

Suggest = Callable[[Any], tuple[Suggestion, ...]]
"""Infers the moves on the table from a state on."""


def together(
    game: Game[Any, Any], state: Any, suggested: Sequence[Suggestion], suggest: Suggest
) -> tuple[Suggestion, ...]:
    """Returns suggested moves in an order in which they may all be confirmed.

    Each is ruled on as it is after those before it; all are actions of one type. Of several orders
    it takes the one with the fewest events, so that no unit passes through a friend that was about
    to leave. Moves that are too close to call are left out. Empty if fewer than two remain.
    """
    candidates = [move for move in suggested if _may_be_legal(move)]
    if len(candidates) < 2:
        return ()
    ordered = _in_order(game, state, candidates, suggest)
    for move in filter(is_sure, candidates):
        if move.unit not in {other.unit for other in ordered}:
            # Legal by itself but not after the others: it may have gone first.
            rest = [other for other in candidates if other is not move]
            with_first = _in_order(game, state, [move, *rest], suggest, first=move)
            ordered = max(ordered, with_first, key=len)
    return ordered if len(ordered) > 1 else ()


def is_sure(move: Suggestion) -> bool:
    """Whether a move is legal beyond doubt."""
    return move.action is not None and move.answer.answer == "yes"


def _may_be_legal(move: Suggestion) -> bool:
    """Whether a move is legal now, or may be after others."""
    return move.action is not None and move.answer.answer != "too_close"


def _in_order(
    game: Game[Any, Any],
    state: Any,
    moves: Sequence[Suggestion],
    suggest: Suggest,
    *,
    first: Suggestion | None = None,
) -> tuple[Suggestion, ...]:
    """Applies moves one after the other while any is legal, and returns each as ruled on then."""
    ordered: list[Suggestion] = []
    remaining = list(moves)
    while True:
        step = _least_eventful(game, state, remaining if ordered or first is None else [first])
        if step is None:
            return tuple(ordered)
        move, after, events = step
        remaining.remove(move)
        # A ruling is reused unless the move depends on those before it.
        is_unaffected = is_sure(move) and _is_plain(events)
        ruled = move if is_unaffected else _ruled_again(move, suggest(state))
        if ruled is not None:
            ordered.append(ruled)
            state = after
            # Only moves of one type may be confirmed at once.
            remaining = [other for other in remaining if type(other.action) is type(ruled.action)]


def _least_eventful(
    game: Game[Any, Any], state: Any, moves: Sequence[Suggestion]
) -> tuple[Suggestion, Any, tuple[Event, ...]] | None:
    """Returns the legal move with the fewest events, the state after it and its events."""
    least: tuple[Suggestion, Any, tuple[Event, ...]] | None = None
    for move in moves:
        try:
            after, events = game.apply(state, move.action)
        except Refused:
            continue
        if least is None or len(events) < len(least[2]):
            least = move, after, events
        # No other move can have fewer events.
        if _is_plain(events):
            break
    return least


def _is_plain(events: Sequence[Event]) -> bool:
    """Whether a move is its only event, so that it does not depend on earlier moves."""
    return len(events) == 1


def _ruled_again(move: Suggestion, suggested: Sequence[Suggestion]) -> Suggestion | None:
    """Returns the new ruling on a unit's move, None if it is not legal beyond doubt."""
    ruled = next((other for other in suggested if other.unit == move.unit), None)
    return ruled if ruled is not None and is_sure(ruled) else None
