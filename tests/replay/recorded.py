"""Recordings of games without a camera: the engine's games, recorded as on a live table."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tablecam.record.entries import GameFacts, Kind, NewEntry, Picture
from tablecam.record.game_file import GameFile
from tablecam.record.positions import difference
from tablecam.referee.game_views import action_document, beginning_view
from tablecam.rules.play import Play
from tablecam.table.position_file import position_to_json

STARTED_AT = datetime(2026, 5, 1, 19, 30, tzinfo=UTC)
Json = dict[str, Any]


def recorded(play: Play[Any, Any], path: Path, *, apart_s: float = 12.0) -> GameFile:
    """A game as a recording, with an action every `apart_s` and each changed position."""
    file = GameFile.create(path, GameFacts(play.game.name, "", STARTED_AT))
    file.append(*entries(play, apart_s))
    return file


def entries(play: Play[Any, Any], apart_s: float = 12.0) -> Iterator[NewEntry]:
    begun = beginning_view(play)
    now = begun["position"]
    yield new("position", difference(None, now), 0)
    yield new("play", begun, 1)
    for place, logged in enumerate(play.logged(), start=1):
        at_s = apart_s * place
        yield new("deed", action_document(play.game, logged), at_s)
        before, now = now, position_to_json(play.game.position(logged.state))
        if told := difference(before, now):
            yield new("position", told, at_s + 1)


def new(kind: Kind, document: Json, at_s: float, *pictures: Picture) -> NewEntry:
    return NewEntry(kind, document, pictures, STARTED_AT + timedelta(seconds=at_s))
