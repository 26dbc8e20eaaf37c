"""The games that were played with the referee in a recording: how they began, what was done."""

from __future__ import annotations

from tablecam.record.entries import Json, NewEntry
from tablecam.record.journal import Journal


def begin_play(journal: Journal, document: Json) -> None:
    """Keep how a game with the referee begins: a play document without its log.

    Its key `after`, where it has one, says how the game stands then; it is no part of the play.

    Raises:
        BadInput: It cannot be written; what was there before is there still.
    """
    journal.append(NewEntry("play", document))


def plays(journal: Journal, up_to: int | None = None) -> list[Json]:
    """The whole documents of all games that were begun, the newest last; as of an entry.

    Raises:
        BadInput: They cannot be read.
    """
    found: list[Json] = []
    for entry in journal.entries("play", "deed", up_to=up_to):
        if entry.kind == "play":
            play = {key: value for key, value in entry.document.items() if key != "after"}
            found.append(play | {"log": []})
        elif found:  # a repaired recording may have lost how its game began
            found[-1]["log"].append(entry.document["entry"])
    return found


def newest_play(journal: Journal) -> Json | None:
    """The whole document of the game that began last; None without any.

    Raises:
        BadInput: It cannot be read.
    """
    return next(reversed(plays(journal)), None)
