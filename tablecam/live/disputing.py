"""Settles disputes on the table as it lay when the question was asked, with its picture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime

from tablecam.documents import Json
from tablecam.drawing.proof import Proof, proof_picture
from tablecam.drawing.proof_ground import EvidenceHeights
from tablecam.errors import BadInput
from tablecam.live.rulings import LiveRulings
from tablecam.live.state import Reading
from tablecam.record.game_file import GameFile
from tablecam.recorder.game_recorder import GameRecorder
from tablecam.rules.reports import Finding
from tablecam.table.model import Position, Unit
from tablecam.table.position_file import position_to_json
from tablecam.table.roster import Roster


class Disputing:
    """Answers disputes and saves them in the game's recording; without one, keeps them in memory.

    Thread-safe.
    """

    def __init__(self, rulings: LiveRulings, roster: Roster, record: GameRecorder | None) -> None:
        self._rulings = rulings
        self._roster = roster
        self.record: GameRecorder = GameRecorder(_no_file) if record is None else record

    def dispute(self, reading: Reading, question: str, active: str) -> Json:
        """Settles a question on the table as it was read, and saves it.

        Raises:
            BadInput: The page shows no such question, or there is no such side.
        """
        # Settled on the position that the page's answer came from, without the newest noise.
        line, position = self._rulings.answer(reading.snapshot.position, question, active)
        if line.answer is None or line.question is None:
            raise BadInput("question", f"expected one that has an answer, got {question}")
        at = datetime.now(UTC).astimezone()
        plain, drawn = self._pictures(reading, line, position, at)
        document = {
            "at": at.isoformat(),
            "question": asdict(line.question),
            "active": active,
            "answer": line.answer.to_json(),
            "line": line.to_json(),
            "version": reading.snapshot.version,
            "has_picture": bool(plain),
        }
        number = self.record.add_dispute(document, position_to_json(position), plain, drawn)
        return {"number": number} | document

    def _pictures(
        self, reading: Reading, line: Finding, position: Position, at: datetime
    ) -> tuple[bytes, bytes]:
        if reading.frame is None or line.answer is None or line.question is None:
            return b"", b""
        units = tuple(_units_named(line.question.id, line.answer.because, position))
        proof = Proof(
            line.question.text,
            replace(line.answer, because=line.text),
            at,
            units,
            tuple(self._roster.sides),
            EvidenceHeights.of(self._roster.terrain, base_mm=self._height_mm(units)),
            "" if line.reading is None else line.reading.text,
        )
        return proof_picture(reading.frame.image, reading.camera, proof)

    def _height_mm(self, units: tuple[Unit, ...]) -> float:
        """Returns the height of units' tags above the ground, mm: the tops of their bases."""
        ids = {unit.id for unit in units}
        heights = (e.base_type.tag_height_mm for e in self._roster.units if e.id in ids)
        return max(heights, default=0.0)


def units_asked(question: str, position: Position) -> tuple[str, ...]:
    """Returns the ids of the units that a question's id names."""
    return tuple(part for part in question.split("/")[1:] if position.unit(part) is not None)


def _units_named(question: str, because: str, position: Position) -> Iterator[Unit]:
    """Yields the units that a question's id names, then those that the answer mentions."""
    # The answer's sentence names units by their ids, perhaps as possessives.
    words = (word.removesuffix("'s") for word in re.findall(r"[\w'-]+", because))
    for name in dict.fromkeys((*question.split("/")[1:], *words)):
        unit = position.unit(name)
        if unit is not None:
            yield unit


def _no_file() -> GameFile:
    raise BadInput("game", "this table has no file to record its games")
