"""Sends a game to storage as it is played: every entry once, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tablecam.documents import Json
from tablecam.referee.game_views import action_document, beginning_view, ruling_document
from tablecam.rules.game import Game, Suggestion
from tablecam.rules.play import Play


class GameStore(Protocol):
    """Stores a game while it is played, so that it survives the program."""

    def begin_play(self, document: Json) -> None:
        """Stores the beginning of a game, a `game_views.beginning_view`."""

    def add_actions(self, actions: Sequence[Json], rulings: Sequence[Json] = ()) -> None:
        """Stores log entries and the rulings on moves made since, all or none.

        They are documents of `game_views.action_document` and `game_views.ruling_document`.
        """


class StoreWriter:
    """Writes a game to its store, if it has one, as it is played."""

    def __init__(self, game: Game[Any, Any], store: GameStore | None) -> None:
        self._game = game
        self._store = store
        self._logged = 0
        self._ruled: tuple[Suggestion, ...] = ()

    def begin(self, play: Play[Any, Any]) -> None:
        """Records the beginning of a game."""
        self._logged = 0
        if self._store is not None:
            self._store.begin_play(beginning_view(play))

    def resume(self, play: Play[Any, Any]) -> None:
        """Continues a game that is fully recorded."""
        self._logged = len(play.entries())

    def follow(self, play: Play[Any, Any], suggested: tuple[Suggestion, ...]) -> None:
        """Records the new entries of the log, and the rulings that are new."""
        if self._store is None:
            return
        logged = [*play.logged(after=self._logged)]
        # A move is judged again with every position, but stored only when the ruling changes.
        new = [suggestion for suggestion in suggested if suggestion not in self._ruled]
        self._logged, self._ruled = self._logged + len(logged), suggested
        if logged or new:
            self._store.add_actions(
                [action_document(self._game, entry) for entry in logged],
                [ruling_document(suggestion) for suggestion in new],
            )
