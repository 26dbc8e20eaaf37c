"""What of a game has been handed over to be kept, so that all is, once and in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tablecam.referee.told import beginning_document, deed_document, ruling_document
from tablecam.rules.game import Game, Json, Suggestion
from tablecam.rules.play import Play


class Keeper(Protocol):
    """Where a game is kept while it is played, so that it outlives the program."""

    def begin_play(self, document: Json) -> None:
        """Keep how a game begins: `told.beginning_document`."""

    def add_deeds(self, deeds: Sequence[Json], rulings: Sequence[Json] = ()) -> None:
        """Keep what was done or taken back, and what was then made of hands' moves: all or none.

        `told.deed_document` and `told.ruling_document` make them.
        """


class Kept:
    """Hands a game over to its keeper as it goes on; without one, to nobody."""

    def __init__(self, game: Game[Any, Any], keeper: Keeper | None) -> None:
        self._game = game
        self._keeper = keeper
        self._logged = 0
        self._ruled: tuple[Suggestion, ...] = ()

    def begin(self, play: Play[Any, Any]) -> None:
        """Keep how a game begins."""
        self._logged = 0
        if self._keeper is not None:
            self._keeper.begin_play(beginning_document(play))

    def resume(self, play: Play[Any, Any]) -> None:
        """Go on with a game of which all is kept."""
        self._logged = len(play.entries())

    def follow(self, play: Play[Any, Any], suggested: tuple[Suggestion, ...]) -> None:
        """Keep what was done since, and what was made of hands' moves that was not before."""
        if self._keeper is None:
            return
        logged = [*play.logged(after=self._logged)]
        new = [each for each in suggested if each not in self._ruled]
        self._logged, self._ruled = self._logged + len(logged), suggested
        if logged or new:
            self._keeper.add_deeds(
                [deed_document(self._game, each) for each in logged],
                [ruling_document(each) for each in new],
            )
