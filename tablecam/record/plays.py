"""Stores and reads the games that were played with the referee: their beginnings and actions."""

from __future__ import annotations

from tablecam.documents import Json
from tablecam.record.journal import Journal


def plays(journal: Journal, up_to: int | None = None) -> list[Json]:
    """Returns the complete documents of all games that were begun, up to an entry, newest last.

    Raises:
        BadInput: They cannot be read.
    """
    games: list[Json] = []
    for entry in journal.entries("play", "deed", up_to=up_to):
        # An action belongs to the newest game before it.
        if entry.kind == "play":
            play = {key: value for key, value in entry.document.items() if key != "after"}
            games.append(play | {"log": []})
        # A repaired recording may have lost how its game began.
        elif games:
            games[-1]["log"].append(entry.document["entry"])
    return games


def newest_play(journal: Journal) -> Json | None:
    """Returns the complete document of the game that began last; None if there is none.

    Raises:
        BadInput: It cannot be read.
    """
    return next(reversed(plays(journal)), None)
