"""An evening at a watched table: a referee, hands that move units, disputes; all recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from tablecam.record.disputes import dispute_entry
from tablecam.record.entries import Json, NewEntry, Picture
from tablecam.record.positions import DifferenceEncoder
from tablecam.referee.intents import Intent
from tablecam.referee.referee import Referee
from tablecam.referee.seat_view import seat_view
from tablecam.referee.seats import SHARED
from tablecam.rules.books import Book, book_of
from tablecam.rules.games import game_of
from tablecam.table.model import Position
from tablecam.table.position_file import position_to_json
from tests.record.games import FACTS
from tests.referee.tables import moved, table

JPEG = b"\xff\xd8\xff\xe0" + bytes(range(256)) * 40 + b"\xff\xd9"
"""Not a picture, but as long as one, and with a picture's first and last bytes."""


class Evening:
    """Records what the referee says and what is seen, half a minute apart."""

    def __init__(self) -> None:
        self.entries: list[NewEntry] = []
        self.referee = Referee(game_of("maurice-lite"), store=self)
        self._chain = DifferenceEncoder()

    def _keep(self, kind: str, document: Json, *pictures: Picture) -> None:
        at = FACTS.started_at + len(self.entries) * timedelta(seconds=30)
        self.entries.append(NewEntry(kind, document, pictures, at))

    def begin_play(self, document: Json) -> None:
        self._keep("play", document)

    def add_actions(self, actions: Sequence[Json], rulings: Sequence[Json] = ()) -> None:
        for action in actions:
            self._keep("deed", action)
        for ruling in rulings:
            self._keep("ruling", ruling)

    def see(self, position: Position) -> None:
        """The table comes to rest."""
        self._keep("position", self._chain.document(position_to_json(position)))
        of = len(self.entries)
        path = [[-2.0, 600.0, 300.0, 90.0], [0.0, 600.0, 420.0, 90.0]]
        self._keep("move", {"unit": "F1", "path": path})
        self._keep(
            "picture", {"of": of}, Picture("table", JPEG), Picture("before", JPEG[:-9] + JPEG[-2:])
        )
        self.referee.table_at_rest(position)

    def tap(self, group: str, label: str) -> None:
        """Tap the first button of a group that says so."""
        actions = seat_view(self.referee, SHARED)["actions"]
        chosen = next(
            action for action in actions if action["group"] == group and label in action["label"]
        )
        self.referee.act(SHARED, chosen["action"])

    def dispute(self, position: Position) -> None:
        """Players dispute something on the table."""
        at = FACTS.started_at + timedelta(hours=2)
        self.entries.append(dispute_of(book_of("maurice-lite"), position, at))


def dispute_of(book: Book, position: Position, at: datetime) -> NewEntry:
    """The first question about the first units of two sides that has an answer."""
    handle = book.rulings(position, "french")
    units = book.ruled_position(handle).units
    a, b = units[0].id, next(unit.id for unit in units if unit.side != units[0].side)
    sections = book.pair_sheet(handle, a, b).sections
    lines = (line for section in sections for line in section.lines)
    line = next(line for line in lines if line.question is not None)
    document = {
        "at": at.isoformat(),
        "question": asdict(line.question),
        "active": "french",
        "answer": line.answer.to_json(),
        "line": line.to_json(),
        "version": 7,
        "has_picture": True,
    }
    return dispute_entry(document, position_to_json(book.ruled_position(handle)), JPEG, JPEG)


def evening() -> list[NewEntry]:
    """A march by hand that is too far, one that is legal, one undone, an overrule, a dispute."""
    made = Evening()
    referee, there = made.referee, table()
    made.see(there)
    referee.begin(there, {"active": "french"}, SHARED)
    made.tap("command", "March")
    made.tap("activate", "F1:")
    while seat_view(referee, SHARED)["actions"][-1]["group"] == "card":
        made.tap("card", "No card")
    made.see(moved(there, "F1", 200.0))
    referee.intend(SHARED, Intent("F1", "B1", 10.0, is_within=False))
    made.see(moved(there, "F1", 120.0))
    referee.confirm(SHARED, "F1", way="intent")
    referee.undo(SHARED)
    made.see(there)
    made._keep("notice", {"text": "the camera was bumped: it found the table again by itself"})
    made.see(moved(there, "F1", 80.0))
    referee.confirm(SHARED, "F1")
    overrule = {"type": "overrule", "why": "the deck was cut wrong", "disruption": {"B1": 2}}
    referee.act(SHARED, overrule)
    made.dispute(referee.position())
    referee.act(SHARED, {"type": "done"})
    return made.entries
