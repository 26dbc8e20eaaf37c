"""Recordings of games without a camera: the engine's games, kept as a live table keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tablecam.record.entries import GameFacts, Kind, NewEntry, Picture
from tablecam.record.game_file import GameFile
from tablecam.record.positions import difference
from tablecam.rules.play import Done, Play
from tablecam.table.position_file import position_to_json

STARTED_AT = datetime(2026, 5, 1, 19, 30, tzinfo=UTC)
Json = dict[str, Any]


def recorded(play: Play[Any, Any], path: Path, *, apart_s: float = 12.0) -> GameFile:
    """A game as a recording, an action each so many seconds and a position where one changed."""
    file = GameFile.create(path, GameFacts(play.game.name, "", STARTED_AT))
    file.append(*entries(play, apart_s))
    return file


def entries(play: Play[Any, Any], apart_s: float = 12.0) -> Iterator[NewEntry]:
    begun = play.beginning()
    now = begun["position"]
    yield new("position", difference(None, now), 0)
    yield new("play", begun, 1)
    for place, (done, told) in enumerate(zip(play.done, play.entries(), strict=True), start=1):
        at_s = apart_s * place
        yield new("deed", deed(play, done, told), at_s)
        before, now = now, position_to_json(play.game.position(done.state))
        if before != now:
            yield new("position", difference(before, now), at_s + 1)


def deed(play: Play[Any, Any], done: Done[Any, Any], told: Json) -> Json:
    """What is kept of an action."""
    asked = play.game.asked(done.state)
    state = play.game.seen_by(done.state, None)
    units = play.game.position(done.state).units
    return {
        "entry": told,
        "events": [event.to_json() for event in done.events if event.only_for is None],
        "after": {
            "question": asked.question,
            "asked": asked.seat,
            "is_over": asked.is_over,
            "markers": {unit.id: dict(unit.state) for unit in units if unit.state},
            "state": {key: value for key, value in state.items() if key != "position"},
        },
    }


def new(kind: Kind, document: Json, at_s: float, *pictures: Picture) -> NewEntry:
    return NewEntry(kind, document, pictures, STARTED_AT + timedelta(seconds=at_s))
