"""Recordings for replay tests: golden games as a referee records them, and others."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from tablecam.record.entries import (
    KINDS,
    PICTURE_KINDS,
    Entry,
    GameFacts,
    Json,
    NewEntry,
    Picture,
)
from tablecam.record.game_file import GameFile
from tablecam.record.journal import Journal
from tablecam.record.positions import difference
from tablecam.referee.game_views import action_document, beginning_view
from tablecam.rules.play import Play
from tablecam.table.position_file import position_to_json
from tests.record.games import FACTS
from tests.rules.playthrough import KEPT, played

A_DEED = timedelta(seconds=12)
"""Seconds between actions: a hundred take some fifteen minutes, faster than any game."""

DEALT, OWN = KEPT


@cache
def _golden(path: Path) -> tuple[NewEntry, ...]:
    return tuple(entries_of(played(path.read_text(encoding="utf-8"))))


def golden(path: Path = OWN) -> list[NewEntry]:
    """The entries of a golden game; they may be changed."""
    return [replace(each, document=copy.deepcopy(each.document)) for each in _golden(path)]


def entries_of(play: Play, began: datetime = FACTS.started_at) -> Iterator[NewEntry]:
    """A game as it would have been recorded: each action, preceded by its position."""
    yield NewEntry("play", beginning_view(play), at=began)
    before: Json | None = None
    for place, logged in enumerate(play.logged()):
        at = began + (place + 1) * A_DEED
        now = position_to_json(play.game.position(logged.state))
        if told := difference(before, now):
            yield NewEntry("position", told, at=at)
        before = now
        yield NewEntry("deed", action_document(play.game, logged), at=at)


def made(path: Path, entries: list[NewEntry] | None = None, facts: GameFacts = FACTS) -> GameFile:
    """A recording file, by default of a golden game."""
    return GameFile.create(path, facts, golden() if entries is None else entries)


def all_of(journal: Journal) -> tuple[GameFacts, str, list[Entry], list[Picture]]:
    """Everything in a recording."""
    entries = journal.entries()
    pictures = [journal.picture(entry.number, kind) for entry in entries for kind in entry.pictures]
    return journal.facts(), journal.written_by(), entries, pictures


def rows_of(path: Path) -> list[tuple[object, ...]]:
    """All rows of a recording's three tables, to the byte."""
    import sqlite3

    with sqlite3.connect(path) as plain:
        rows = [
            row
            for table in ("recording", "entry", "picture")
            for row in plain.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3")
        ]
    plain.close()
    return rows


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(-1e15, 1e15) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
TIMES = st.datetimes(
    datetime(2020, 1, 1),  # noqa: DTZ001 - the zone is drawn beside it
    datetime(2040, 1, 1),  # noqa: DTZ001
    timezones=st.integers(-12, 14).map(lambda hours: timezone(timedelta(hours=hours)))
    | st.just(UTC),
)


@st.composite
def pictures(draw: st.DrawFn) -> tuple[Picture, ...]:
    kinds = draw(st.lists(st.sampled_from(PICTURE_KINDS), max_size=2, unique=True))
    media_types = st.sampled_from(["image/jpeg", "image/webp"])
    return tuple(Picture(kind, draw(st.binary(max_size=300)), draw(media_types)) for kind in kinds)


ENTRIES = st.lists(
    st.builds(
        NewEntry,
        st.sampled_from(KINDS),
        st.dictionaries(WORDS, JSON, max_size=4),
        pictures(),
        TIMES,
    ),
    max_size=6,
)
RECORDING_FACTS = st.builds(
    GameFacts, st.sampled_from(["maurice-lite", "nim"]), WORDS, TIMES, st.none() | WORDS
)
