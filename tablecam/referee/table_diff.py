"""Differences between table and game: moves to confirm, and units that players have to move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tablecam.errors import BadInput
from tablecam.referee.placing import Placing, as_placed, changed_by_game, placings
from tablecam.referee.together import together
from tablecam.rules.game import Game, Suggestion
from tablecam.table.model import Position, Unit


class TableDiff:
    """Compares a game with the table as it is `seen`.

    `suggested` are the moves that players seem to have made, `together` those that may be confirmed
    at once; `problem` is the reason why the table cannot be interpreted. Not thread-safe.
    """

    def __init__(self, game: Game[Any, Any]) -> None:
        self.game = game
        self.seen: Position | None = None
        self.suggested: tuple[Suggestion, ...] = ()
        self.together: tuple[Suggestion, ...] = ()
        self.problem = ""
        self._to_place: frozenset[str] = frozenset()

    def begin(self, seen: Position | None) -> None:
        """Starts over with a new game on a table."""
        self.seen, self._to_place = seen, frozenset()

    def follow(self, before: Position, after: Position) -> None:
        """Notes which units players have to move after the game changed its position."""
        self._to_place |= changed_by_game(before, after)

    def compare(self, state: Any) -> None:
        """Compares the table with a game's state and updates the suggestions."""
        self.suggested, self.together, self.problem = (), (), ""
        # First: a unit that has been put in its place is no longer excused.
        self.drop_placed(state)
        self.suggested = self._suggestions(state, state)
        self.together = together(
            self.game, state, self.suggested, lambda later: self._suggestions(later, state)
        )

    def foreseen(self, state: Any, unit: Unit) -> Suggestion | None:
        """Returns the suggestion if a unit lay elsewhere; None without a move or for no game."""
        if self.seen is None:
            return None
        units = tuple(unit if other.id == unit.id else other for other in self.seen.units)
        suggested = self.game.detect_moves(
            state,
            as_placed(self.game.position(state), replace(self.seen, units=units), self._to_place),
        )
        return next((move for move in suggested if move.unit == unit.id), None)

    def drop_placed(self, state: Any) -> None:
        """Drops the units that players have moved into place."""
        self._to_place = frozenset(placing.unit for placing in self.placings(state))

    def placings(self, state: Any) -> tuple[Placing, ...]:
        """Returns the units that players still have to move on the table."""
        if self.seen is None:
            return ()
        return tuple(placings(self._to_place, self.game.position(state), self.seen))

    def bases_left(self, state: Any) -> Mapping[str, int]:
        """Returns how many bases each unit on the table has in the game: none if it has left."""
        if self.seen is None:
            return {}
        in_game = {unit.id: len(unit.bases) for unit in self.game.position(state).units}
        return {unit.id: in_game.get(unit.id, 0) for unit in self.seen.units if unit.bases}

    def _suggestions(self, state: Any, now: Any) -> tuple[Suggestion, ...]:
        """Returns the moves that the game infers from the table, from `now` or a state after it."""
        if self.seen is None:
            return ()
        in_game = self.game.position(state)
        # Units that players have yet to place lie elsewhere without having moved.
        to_place = self._to_place | changed_by_game(self.game.position(now), in_game)
        try:
            return self.game.detect_moves(state, as_placed(in_game, self.seen, to_place))
        except BadInput as error:
            self.problem = error.message
            return ()
