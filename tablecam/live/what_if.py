"""Answers what-if questions: a moment of a recording with some units laid elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tablecam.documents import Json, document_from
from tablecam.errors import BadInput
from tablecam.live import questions
from tablecam.live.rulings import LiveRulings
from tablecam.record.journal import Journal
from tablecam.replay.film_table import roster_in
from tablecam.replay.moment import Branch, branched
from tablecam.rules.frozen_json import to_plain
from tablecam.rules.odds import odds_of
from tablecam.table.model import Position
from tablecam.table.roster import Roster


class WhatIf:
    """Answers questions about branches of one recording; saves nothing. Thread-safe."""

    def __init__(self, recording: Callable[[], Journal | None]) -> None:
        self._recording = recording
        self._rulings: tuple[Roster, LiveRulings] | None = None

    def measure(self, branch: Branch, a: str, b: str) -> Json:
        """Answers as `LiveTable.measure` does."""
        return questions.measure(self._position(branch), a, b, None)

    def about(self, branch: Branch, thing: str) -> Json:
        """Answers as `LiveTable.about` does."""
        position = self._position(branch)
        return questions.about(position, thing, self._ruled(position)[0])

    def unit_sheet(self, branch: Branch, unit: str, active: str) -> Json:
        """Answers as `LiveTable.unit_sheet` does."""
        position = self._position(branch)
        sheet = self._ruled(position)[1].unit_sheet(position, unit, active)
        return {"unit": unit, "active": active, "version": 0} | sheet.to_json()

    def pair_sheet(self, branch: Branch, a: str, b: str, active: str) -> Json:
        """Answers as `LiveTable.pair_sheet` does."""
        position = self._position(branch)
        sheet = self._ruled(position)[1].pair_sheet(position, a, b, active)
        return {"a": a, "b": b, "active": active, "version": 0} | sheet.to_json()

    def odds(self, branch: Branch, wanted: Mapping[str, Any]) -> Json:
        """Returns the chances of a request in the game's own terms, and as `tables` to show.

        Raises:
            BadInput: This game has no odds, or the request is not in its form.
        """
        position = self._position(branch)
        rulebook = odds_of(position.game)
        if rulebook is None:
            raise BadInput("odds", f"there are none for {position.game} yet")
        report = rulebook.odds(position, document_from(dict(wanted), "odds"))
        return report.document | {"tables": [to_plain(table) for table in report.tables]}

    def _position(self, branch: Branch) -> Position:
        journal = self._recording()
        if journal is None:
            raise BadInput("recording", "nothing has been recorded of this table yet")
        return branched(journal, branch)

    def _ruled(self, position: Position) -> tuple[Roster, LiveRulings]:
        """Returns the table's roster and the rulings on it, created once."""
        # A recording has one table file, so its first position's roster serves for all.
        if self._rulings is None:
            journal = self._recording()
            facts = None if journal is None else journal.facts()
            roster = roster_in("" if facts is None else facts.table_file, position)
            self._rulings = roster, LiveRulings(roster)
        return self._rulings
