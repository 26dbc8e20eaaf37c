"""Differences between table and game: moves to confirm, and units that players have to move.

A unit may move into the place that another one left, or past friends that have gone ahead, so the
legality of moves depends on their order, which the camera has not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tablecam.errors import BadInput
from tablecam.referee.placing import Placing, as_placed, changed, placings
from tablecam.rules.game import Event, Game, Refused, Suggestion
from tablecam.table.model import Position, Unit


class TableDiff:
    """Compares a game with the table as it is `seen`.

    `suggested` are the moves that players seem to have made, `brings` what else each of those that
    are legal brings if it is confirmed first, and `together` those that may be confirmed at once.
    `problem` is the reason why the table cannot be interpreted. Not thread-safe.
    """

    def __init__(self, game: Game[Any, Any]) -> None:
        self.game = game
        self.seen: Position | None = None
        self.suggested: tuple[Suggestion, ...] = ()
        self.brings: Mapping[str, tuple[str, ...]] = {}
        self.together: tuple[Suggestion, ...] = ()
        self.problem = ""
        self._to_place: frozenset[str] = frozenset()

    def begin(self, seen: Position | None) -> None:
        """Starts over with a new game on a table."""
        self.seen, self._to_place = seen, frozenset()

    def follow(self, before: Position, after: Position) -> None:
        """Notes which units players have to move after the game changed its position."""
        self._to_place |= changed(before, after)

    def compare(self, state: Any) -> None:
        """Compares the table with a game's state and updates the suggestions."""
        self.suggested, self.together, self.problem = (), (), ""
        # First: a unit that has been put in its place is no longer excused.
        self.drop_placed(state)
        suggested = self._suggestions(state, state)
        self.brings = {
            move.unit: tuple(event.text for event in step[1][1:] if event.only_for is None)
            for move in filter(is_sure, suggested)
            if (step := _applied(self.game, state, move)) is not None
        }
        # Who passes through a friend about to leave waits until the friend has gone.
        self.suggested = tuple(sorted(suggested, key=lambda move: self._rank(move.unit)))
        self.together = together(
            self.game, state, self.suggested, self.brings,
            lambda later: self._suggestions(later, state),
        )  # fmt: skip

    def _rank(self, unit: str) -> tuple[bool, int]:
        return unit not in self.brings, len(self.brings.get(unit, ()))

    def foreseen(self, state: Any, unit: Unit) -> Suggestion | None:
        """Returns the suggestion if a unit lay elsewhere; None if that is no move, or no game."""
        if self.seen is None:
            return None
        units = tuple(unit if other.id == unit.id else other for other in self.seen.units)
        suggested = self.game.detect_moves(
            state,
            as_placed(self.game.position(state), replace(self.seen, units=units), self._to_place),
        )
        return next((move for move in suggested if move.unit == unit.id), None)

    @property
    def astray(self) -> frozenset[str]:
        """The units and commanders that are seen where they may not lie."""
        return frozenset(move.unit for move in self.suggested if is_astray(move))

    def drop_placed(self, state: Any) -> None:
        """Drops the units that players have moved into place."""
        self._to_place = frozenset(placing.unit for placing in self.placings(state))

    def placings(self, state: Any) -> tuple[Placing, ...]:
        """Returns the units that players still have to move on the table."""
        if self.seen is None:
            return ()
        game = self.game
        length_unit, in_order = game.length_unit(self.seen.table), game.counters_join != "top"
        position = game.position(state)
        return placings(self._to_place, position, self.seen, length_unit, stacks_in_order=in_order)

    def bases_left(self, state: Any) -> Mapping[str, int]:
        """Returns how many bases each unit on the table has in the game: 0 if it has left."""
        if self.seen is None:
            return {}
        position = self.game.position(state)
        left = {unit.id: len(unit.bases) for unit in position.units}
        left |= dict.fromkeys((commander.id for commander in position.commanders), 1)
        names = [unit.id for unit in self.seen.units if unit.bases]
        names += [commander.id for commander in self.seen.commanders]
        return {name: left.get(name, 0) for name in names}

    def _suggestions(self, state: Any, now: Any) -> tuple[Suggestion, ...]:
        """Returns the moves that the game infers from the table, from `now` or a state after it."""
        if self.seen is None:
            return ()
        in_game = self.game.position(state)
        # Units that players have yet to place lie elsewhere without having moved.
        to_place = self._to_place | changed(self.game.position(now), in_game)
        try:
            moves = self.game.detect_moves(state, as_placed(in_game, self.seen, to_place))
            # One of each: players answer for a unit, by its name.
            return tuple({move.unit: move for move in reversed(moves)}.values())[::-1]
        except BadInput as error:
            self.problem = error.message
            return ()


Suggest = Callable[[Any], tuple[Suggestion, ...]]
"""Infers the moves on the table since a state."""


def together(
    game: Game[Any, Any],
    state: Any,
    suggested: Sequence[Suggestion],
    brings: Mapping[str, tuple[str, ...]],
    suggest: Suggest,
) -> tuple[Suggestion, ...]:
    """Returns suggested moves in an order in which they may all be confirmed.

    Each carries its ruling after those before it; all are actions of one type. Among several orders
    it picks the one with the fewest events, so that no unit passes through a friend about to leave.
    Moves that are too close to call are left out. Empty if fewer than two remain.
    """
    candidates = [move for move in suggested if _may_be_legal(move)]
    if len(candidates) < 2:
        return ()
    ordered = _in_order(game, state, candidates, suggest)
    for move in filter(is_sure, candidates):
        is_left = move.unit not in {other.unit for other in ordered}
        # Legal by itself but not after the others: it may have gone first, if that does no harm.
        if is_left and brings.get(move.unit) == ():
            rest = [other for other in candidates if other is not move]
            with_first = _in_order(game, state, [move, *rest], suggest, first=move)
            ordered = max(ordered, with_first, key=len)
    return ordered if len(ordered) > 1 else ()


def is_astray(move: Suggestion) -> bool:
    """Whether something is seen where it may not lie; a unit out of sight cannot be astray."""
    answer = move.answer
    return answer.answer == "no" and (move.action is not None or answer.margin_mm < 0)


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
    """Applies moves one by one while any is legal; returns each with its ruling at that time."""
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
        step = _applied(game, state, move)
        if step is None:
            continue
        after, events = step
        if least is None or len(events) < len(least[2]):
            least = move, after, events
        # No other move can have fewer events.
        if _is_plain(events):
            break
    return least


def _applied(
    game: Game[Any, Any], state: Any, move: Suggestion
) -> tuple[Any, tuple[Event, ...]] | None:
    """Returns the state after a move and its events; None if the game refuses it now."""
    try:
        return game.apply(state, move.action)
    except Refused:
        return None


def _is_plain(events: Sequence[Event]) -> bool:
    """Whether a move is its only event, so that it does not depend on earlier moves."""
    return len(events) == 1


def _ruled_again(move: Suggestion, suggested: Sequence[Suggestion]) -> Suggestion | None:
    """Returns the new ruling on a unit's move, None if it is not legal beyond doubt."""
    ruled = next((other for other in suggested if other.unit == move.unit), None)
    return ruled if ruled is not None and is_sure(ruled) else None
