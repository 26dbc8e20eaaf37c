"""The game as one file: what it was played with, its actions as they were done, its disputes."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine, Row, func, insert, inspect, select

import tablecam
from tablecam.errors import BadInput
from tablecam.record.database import (
    check_recording,
    check_version,
    engine_of,
    migrate,
    set_pragma,
)
from tablecam.record.faults import in_words
from tablecam.record.schema import (
    APPLICATION_ID,
    FORMAT,
    SCHEMA_VERSION,
    deed,
    dispute,
    dispute_picture,
    game,
    metadata,
    play,
)

Json = dict[str, Any]

SUFFIX: Final = ".tablecam"

_NEWEST_PLAY: Final = select(func.max(play.c.number))


class NameTaken(BadInput):
    """There is a file of that name already; it is never written over."""


@dataclass(frozen=True, slots=True)
class GameFacts:
    """What a game is played with. `camera_file` is None over a simulated table."""

    game: str
    table_file: str
    started_at: datetime
    camera_file: str | None = None

    def __post_init__(self) -> None:
        if self.started_at.tzinfo is None:
            raise ValueError(f"expected a time with its zone, got {self.started_at}")


class GameFile:
    """A recording on the disk. What a method has returned from is there whatever happens next.

    Any thread may use it, and any number of programs may read one that is being written.
    """

    def __init__(self, path: Path, engine: Engine) -> None:
        self.path = path
        self._engine = engine

    @classmethod
    def create(cls, path: Path, facts: GameFacts) -> GameFile:
        """A new recording. Under its name there is a whole one, or nothing.

        Raises:
            NameTaken: There is a file of that name.
            BadInput: It cannot be written.
        """
        fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
        with in_words(path, "cannot be written"):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                fresh.touch(exist_ok=False)
                _fill(fresh, facts)
                _publish(fresh, path)
            finally:
                fresh.unlink(missing_ok=True)
        return cls(path, engine_of(path))

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> GameFile:
        """The recording in a file. An older one is brought up to date, unless it is only read.

        Raises:
            BadInput: It is no recording, of a newer version, damaged, or cannot be opened.
        """
        check_recording(path)
        engine = engine_of(path, read_only=read_only)
        with in_words(path, "cannot be opened"), engine.begin() as connection:
            if read_only:
                check_version(path, connection)
            else:
                migrate(path, connection)
        return cls(path, engine)

    def facts(self) -> GameFacts:
        """What the game is played with."""
        (row,) = self._rows(select(game))
        started_at = datetime.fromisoformat(row.started_at)
        return GameFacts(row.game, row.table_file, started_at, row.camera_file)

    def add_dispute(
        self, document: Json, position: Json, picture_jpeg: bytes, drawn_jpeg: bytes
    ) -> int:
        """Keep a dispute with its position and pictures; its number, from 1.

        `document` is a dispute as the page has it; its `number` is the file's to give. An empty
        picture is not kept.

        Raises:
            BadInput: It cannot be written; what was there before is there still.
        """
        pictures = {"plain": picture_jpeg, "drawn": drawn_jpeg}
        with in_words(self.path, "the dispute is not kept"), self._engine.begin() as connection:
            last = connection.execute(select(func.max(dispute.c.number))).scalar_one()
            number = (last or 0) + 1
            connection.execute(insert(dispute), _dispute_row(number, document, position))
            for kind, jpeg in pictures.items():
                if jpeg:
                    row = {"dispute": number, "kind": kind, "jpeg": jpeg}
                    connection.execute(insert(dispute_picture), row)
        return number

    def disputes(self) -> list[Json]:
        """All disputes as they were asked, the newest last."""
        columns = select(dispute.c.number, dispute.c.document).order_by(dispute.c.number)
        return [json.loads(row.document) | {"number": row.number} for row in self._rows(columns)]

    def dispute_picture(self, number: int, *, plain: bool = False) -> bytes:
        """The camera's picture of a dispute as JPEG, with the evidence on it unless `plain`.

        Raises:
            BadInput: There is no such dispute, or it has no picture.
        """
        kind = "plain" if plain else "drawn"
        is_it = (dispute_picture.c.dispute == number) & (dispute_picture.c.kind == kind)
        rows = self._rows(select(dispute_picture.c.jpeg).where(is_it))
        if not rows:
            raise BadInput(self.path.name, f"expected a dispute with a picture, got {number}")
        return bytes(rows[0].jpeg)

    def dispute_position(self, number: int) -> Json:
        """What lay on the table when a dispute was asked: a position document.

        Raises:
            BadInput: There is no such dispute.
        """
        rows = self._rows(select(dispute.c.position).where(dispute.c.number == number))
        if not rows:
            raise BadInput(self.path.name, f"there is no dispute {number}")
        position: Json = json.loads(rows[0].position)
        return position

    def begin_play(self, document: Json) -> None:
        """Keep how a game with the referee begins: a play document without its log.

        Raises:
            BadInput: It cannot be written; what was there before is there still.
        """
        with in_words(self.path, "the game is not kept"), self._engine.begin() as connection:
            number = (connection.execute(_NEWEST_PLAY).scalar_one() or 0) + 1
            row = {"number": number, "at": _now(), "document": _text(document)}
            connection.execute(insert(play), row)

    def add_deed(self, document: Json) -> None:
        """Keep what was done, or taken back, in the game that began last: an entry of its log.

        Raises:
            BadInput: It cannot be written; what was there before is there still.
        """
        with in_words(self.path, "the action is not kept"), self._engine.begin() as connection:
            newest = connection.execute(_NEWEST_PLAY).scalar_one()
            of_it = select(func.max(deed.c.number)).where(deed.c.play == newest)
            number = (connection.execute(of_it).scalar_one() or 0) + 1
            key = {"play": newest, "number": number}
            connection.execute(insert(deed), key | {"at": _now(), "document": _text(document)})

    def newest_play(self) -> Json | None:
        """The whole document of the game that began last; None without any."""
        if not self._has_plays():
            return None
        rows = self._rows(select(play).order_by(play.c.number.desc()).limit(1))
        if not rows:
            return None
        of_it = select(deed.c.document).where(deed.c.play == rows[0].number)
        log = [json.loads(row.document) for row in self._rows(of_it.order_by(deed.c.number))]
        beginning: Json = json.loads(rows[0].document)
        return beginning | {"log": log}

    def _has_plays(self) -> bool:
        """Whether the file is new enough to hold any; an older one may be open to be read."""
        with in_words(self.path, "cannot be read"), self._engine.begin() as connection:
            return inspect(connection).has_table(play.name)

    def _rows(self, query: Any) -> list[Row[Any]]:
        with in_words(self.path, "cannot be read"), self._engine.begin() as connection:
            return list(connection.execute(query))


def _fill(path: Path, facts: GameFacts) -> None:
    """Make the tables in an empty file, and write the game's one row."""
    with engine_of(path).begin() as connection:
        metadata.create_all(connection)
        set_pragma(connection, "application_id", APPLICATION_ID)
        set_pragma(connection, "user_version", SCHEMA_VERSION)
        row = {
            "id": 1,
            "format": FORMAT,
            "game": facts.game,
            "table_file": facts.table_file,
            "camera_file": facts.camera_file,
            "started_at": facts.started_at.isoformat(),
            "written_by": tablecam.__version__,
        }
        connection.execute(insert(game), row)


def _publish(fresh: Path, path: Path) -> None:
    """Give a finished file its name, if nobody has it."""
    try:
        _link(fresh, path)
    except FileExistsError:
        raise NameTaken(str(path), "expected a new name, but there is such a file") from None
    if os.name == "posix":
        _flush_folder(path.parent)


def _link(fresh: Path, path: Path) -> None:
    try:
        os.link(fresh, path)
    except FileExistsError:
        raise
    except OSError:  # some file systems know no links: take the name first, then fill it
        path.touch(exist_ok=False)
        os.replace(fresh, path)


def _flush_folder(folder: Path) -> None:
    """A new name outlives a power cut only once its folder is on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _dispute_row(number: int, document: Json, position: Json) -> Json:
    answer = document.get("answer") or {}
    return {
        "number": number,
        "at": document["at"],
        "question": document["question"]["text"],
        "answer": answer.get("answer"),
        "document": _text(document | {"number": number}),
        "position": _text(position),
    }


def _now() -> str:
    return datetime.now().astimezone().isoformat()


def _text(document: Json) -> str:
    return json.dumps(document, ensure_ascii=False)
