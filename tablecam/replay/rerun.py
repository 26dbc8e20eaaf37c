"""A recorded game played again through the engine, entry by entry, hands on the table and all."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

from tablecam.errors import BadInput
from tablecam.record.entries import Entry, Json
from tablecam.record.positions import MISSED
from tablecam.referee.by_hand import ByHand
from tablecam.referee.told import deed_document, ruling_document, standing
from tablecam.replay.moment import document_after
from tablecam.rules.game import LAY, Game
from tablecam.rules.play import Play
from tablecam.table.missed import without
from tablecam.table.model import Position
from tablecam.table.position_file import position_from_json


class Rerun:
    """The game as it stands after the entries that it was given, in their order.

    `name` is what errors call the recording.
    """

    def __init__(self, game: Game[Any, Any], name: str) -> None:
        self.game = game
        self.play: Play[Any, Any] | None = None
        self.table: Json | None = None
        self._name = name
        self._deeds = 0
        self._by_hand = ByHand(game)
        self._seen_before: Position | None = None

    def see(self, entry: Entry) -> None:
        """Take in a settled position.

        Raises:
            BadInput: It is none, or a difference from another one.
        """
        self.table = document_after(self.table, entry, self._name)
        source = f"{self._name}: entry {entry.number}"
        self._seen_before = self._by_hand.seen
        lies = position_from_json(self.table, source, games=(self.game.name,))
        self._by_hand.seen = without(lies, entry.document.get(MISSED, ()))
        self._look()

    def begin(self, entry: Entry) -> Json:
        """Begin the game of a `play` entry; what is to be kept of how it stands then.

        Raises:
            BadInput: It is no play of this game, or cannot be begun.
        """
        kept = {key: value for key, value in entry.document.items() if key != "after"}
        self.play = Play.from_json(self.game, kept)
        self._deeds = 0
        self._by_hand.begin(self.game.position(self.play.state))
        return {"after": standing(self.game, self.play.state)}

    def act(self, entry: Entry) -> Json:
        """Do what a `deed` entry says, dice and all; what is to be kept of it.

        Raises:
            BadInput: No game has begun, or the engine refuses.
        """
        if self.play is None:
            raise BadInput(self._name, f"entry {entry.number}: nothing was begun before it")
        before = self.game.position(self.play.state)
        self.play.take(entry.document["entry"])
        (logged,) = self.play.logged(after=self._deeds)
        self._deeds += 1
        if logged.document.get("type") != LAY:  # that follows hands; they need not follow it
            self._by_hand.follow(before, self.game.position(self.play.state))
        self._look()
        return deed_document(self.game, logged)

    def rulings(self, unit: str) -> Iterator[Json]:
        """What the game makes of a hand's move of a unit: as things stand, then as they may have.

        A position is kept just before the referee looks at it: when somebody tapped at that very
        moment, what he was told is of the position before. And a referee who goes on with a game
        has forgotten what hands had to do yet.
        """
        if self.play is None:
            return
        now, tapped, resumed = self._by_hand, copy(self._by_hand), ByHand(self.game)
        tapped.seen = self._seen_before
        resumed.begin(now.seen)
        for looking in (now, tapped, resumed):
            looking.look(self.play.state)
            yield from (ruling_document(each) for each in looking.suggested if each.unit == unit)

    def position(self) -> Position | None:
        """The table as the game knows it; None before it has begun."""
        return None if self.play is None else self.game.position(self.play.state)

    def _look(self) -> None:
        if self.play is not None:
            self._by_hand.note(self.play.state)
