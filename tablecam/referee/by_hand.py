"""What hands have done on the table that a game does not know yet, and what they have to do."""

from __future__ import annotations

from typing import Any

from tablecam.errors import BadInput
from tablecam.referee.placing import Placing, as_placed, changed_by_game, placings
from tablecam.referee.together import together
from tablecam.rules.game import Game, Suggestion
from tablecam.table.model import Position


class ByHand:
    """A table beside a game: `look` compares the two, as the table is `seen`.

    `suggested` is what hands seem to have done, `together` those moves that may be confirmed at
    once; `trouble` says why nothing can be said of the table. It minds no threads.
    """

    def __init__(self, game: Game[Any, Any]) -> None:
        self.game = game
        self.seen: Position | None = None
        self.suggested: tuple[Suggestion, ...] = ()
        self.together: tuple[Suggestion, ...] = ()
        self.trouble = ""
        self._due: frozenset[str] = frozenset()

    def begin(self, seen: Position | None) -> None:
        """Forget what a game before left to be done."""
        self.seen, self._due = seen, frozenset()

    def follow(self, before: Position, after: Position) -> None:
        """Note what hands have to do because a game's table went from one to another."""
        self._due |= changed_by_game(before, after)

    def look(self, state: Any) -> None:
        """Compare the table with a game's state."""
        self.suggested, self.together, self.trouble = (), (), ""
        self.note(state)
        self.suggested = self._made_of(state, state)
        self.together = together(
            self.game, state, self.suggested, look=lambda then: self._made_of(then, state)
        )

    def note(self, state: Any) -> None:
        """Forget of what hands had to do what they have done."""
        self._due = frozenset(each.unit for each in self.placings(state))

    def placings(self, state: Any) -> tuple[Placing, ...]:
        """What hands still have to do on the table for the game."""
        if self.seen is None:
            return ()
        return tuple(placings(self._due, self.game.position(state), self.seen))

    def to_take_off(self, state: Any) -> frozenset[str]:
        """The units that have left the game and lie on the table yet."""
        if self.seen is None:
            return frozenset()
        known = self.game.position(state)
        there = (unit.id for unit in self.seen.units if unit.bases)
        return frozenset(name for name in there if known.unit(name) is None)

    def _made_of(self, state: Any, now: Any) -> tuple[Suggestion, ...]:
        """What the game makes of the table from a state on that may follow from now.

        What is yet to be placed by hand is no move.
        """
        if self.seen is None:
            return ()
        known = self.game.position(state)
        due = self._due | changed_by_game(self.game.position(now), known)
        try:
            return self.game.moved(state, as_placed(known, self.seen, due))
        except BadInput as error:
            self.trouble = error.message
            return ()
