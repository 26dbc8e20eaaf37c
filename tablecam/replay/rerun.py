"""Replays a recorded game through the engine, entry by entry, with the moves by hand."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.record.entries import Entry
from tablecam.record.positions import MISSED
from tablecam.referee.game_views import action_document, game_status, ruling_document
from tablecam.referee.table_diff import TableDiff
from tablecam.replay.moment import document_after
from tablecam.rules.game import LAY, Game
from tablecam.rules.play import Play
from tablecam.table.missed import without_bases
from tablecam.table.model import Position
from tablecam.table.position_file import position_from_json


class Rerun:
    """A game that is replayed entry by entry, with its state so far.

    `name` is the recording's name in errors.
    """

    def __init__(self, game: Game[Any, Any], name: str) -> None:
        self.game = game
        self.play: Play[Any, Any] | None = None
        self.table: Json | None = None
        self._name = name
        self._performed = 0
        self._by_hand = TableDiff(game)
        self._seen_before: Position | None = None

    def see(self, entry: Entry) -> None:
        """Updates the table by a settled position.

        Raises:
            BadInput: It is no position, or a difference from another one.
        """
        self.table = document_after(self.table, entry, self._name)
        source = f"{self._name}: entry {entry.number}"
        self._seen_before = self._by_hand.seen
        position = position_from_json(self.table, source, games=(self.game.name,))
        missed = entry.document.get(MISSED, ())
        stacks = bool(self.game.counters_join)
        self._by_hand.seen = without_bases(position, missed, keeps_units=stacks)
        self._note()

    def begin(self, entry: Entry) -> Json:
        """Begins the game of a `play` entry; returns the status that the entry must hold.

        Raises:
            BadInput: It is not a play of this game, or cannot begin.
        """
        document = {key: value for key, value in entry.document.items() if key != "after"}
        self.play = Play.from_json(self.game, document)
        self._performed = 0
        self._by_hand.begin(self.game.position(self.play.state))
        return {"after": game_status(self.game, self.play.state)}

    def act(self, entry: Entry) -> Json:
        """Performs the action of a `deed` entry, dice and all; returns the document it must hold.

        Raises:
            BadInput: No game has begun, or the engine refuses.
        """
        if self.play is None:
            raise BadInput(self._name, f"entry {entry.number}: no game began before it")
        before = self.game.position(self.play.state)
        self.play.take(entry.document["entry"])
        (logged,) = self.play.logged(after=self._performed)
        self._performed += 1
        # A `lay` records where units already lie.
        if logged.document.get("type") != LAY:
            self._by_hand.follow(before, self.game.position(self.play.state))
        self._note()
        return action_document(self.game, logged)

    def rulings(self, unit: str) -> Iterator[Json]:
        """Yields the rulings on a move of a unit by hand: by the current state, then by others."""
        if self.play is None:
            return
        current, tapped, resumed = self._by_hand, copy(self._by_hand), TableDiff(self.game)
        # A position is recorded just before it is judged: an action at that very moment was ruled
        # on by the position before.
        tapped.seen = self._seen_before
        # A referee who resumes a game no longer knows which units players still had to move.
        resumed.begin(current.seen)
        for table_diff in (current, tapped, resumed):
            table_diff.compare(self.play.state)
            yield from (
                ruling_document(ruling) for ruling in table_diff.suggested if ruling.unit == unit
            )

    def position(self) -> Position | None:
        """Returns the table as the game knows it; None before it has begun."""
        return None if self.play is None else self.game.position(self.play.state)

    def _note(self) -> None:
        if self.play is not None:
            self._by_hand.drop_placed(self.play.state)
