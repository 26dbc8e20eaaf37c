"""Recordings of older versions are read completely and in order."""

import json
import sqlite3
from datetime import datetime

import pytest

from tablecam.record.disputes import dispute_picture, dispute_position, disputes
from tablecam.record.entries import NewEntry
from tablecam.record.game_file import GameFile
from tablecam.record.plays import newest_play, plays
from tablecam.record.schema import APPLICATION_ID, SCHEMA_VERSION
from tests.record.games import dispute, pictures, position

VERSION_1 = """
CREATE TABLE game (id INTEGER PRIMARY KEY, format TEXT, game TEXT, table_file TEXT,
    camera_file TEXT, started_at TEXT, written_by TEXT);
CREATE TABLE dispute (number INTEGER PRIMARY KEY, at TEXT, question TEXT, answer TEXT,
    document TEXT, position TEXT);
CREATE TABLE dispute_picture (dispute INTEGER REFERENCES dispute (number), kind TEXT, jpeg BLOB,
    PRIMARY KEY (dispute, kind));
INSERT INTO game VALUES (1, 'tablecam.game', 'maurice-lite', 'the table', NULL,
    '2026-05-01T19:30:00+02:00', '0.1.0');
"""
VERSION_2 = """
CREATE TABLE play (number INTEGER PRIMARY KEY, at TEXT, document TEXT);
CREATE TABLE deed (play INTEGER REFERENCES play (number), number INTEGER, at TEXT, document TEXT,
    PRIMARY KEY (play, number));
INSERT INTO play VALUES (1, '2026-05-01T20:00:00+02:00', '{"game": "maurice-lite"}');
INSERT INTO play VALUES (2, '2026-05-01T21:00:00+02:00', '{"game": "again"}');
INSERT INTO deed VALUES (1, 1, '2026-05-01T20:05:00+02:00', '{"type": "pass"}');
INSERT INTO deed VALUES (1, 2, '2026-05-01T20:30:00+02:00', '{"undo": 1}');
"""


@pytest.fixture(params=[1, 2])
def version(request):
    return request.param


@pytest.fixture
def old(tmp_path, version):
    """A file as an older tablecam left it, with a dispute between two actions."""
    path = tmp_path / "old.tablecam"
    with sqlite3.connect(path) as file:
        file.executescript(VERSION_1 + (VERSION_2 if version == 2 else ""))
        file.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        file.execute(f"PRAGMA user_version = {version}")
        texts = (json.dumps(dispute()), json.dumps(position()))
        file.execute(
            "INSERT INTO dispute VALUES (1, ?, 'q', 'yes', ?, ?)", (dispute()["at"], *texts)
        )
        for kind, jpeg in zip(("plain", "drawn"), pictures(1), strict=True):
            file.execute("INSERT INTO dispute_picture VALUES (1, ?, ?)", (kind, jpeg))
    file.close()
    return path


@pytest.mark.parametrize("read_only", [True, False])
def test_an_older_recording_has_all_that_it_had(old, version, read_only):
    before = old.read_bytes()
    game = GameFile.open(old, read_only=read_only)
    assert game.facts().started_at == datetime.fromisoformat("2026-05-01T19:30:00+02:00")
    assert disputes(game) == [dispute() | {"number": 1}]
    assert dispute_position(game, 1) == position()
    assert (dispute_picture(game, 1, plain=True), dispute_picture(game, 1)) == pictures(1)
    log = [{"type": "pass"}, {"undo": 1}]
    known = [{"game": "maurice-lite", "log": log}, {"game": "again", "log": []}]
    assert plays(game) == (known if version == 2 else [])
    assert (old.read_bytes() == before) is read_only


def test_all_that_an_older_recording_had_is_in_the_order_in_which_it_happened(old, version):
    entries = GameFile.open(old).entries()
    told = [entry.kind for entry in entries]
    # The dispute was asked at 20:15:30 UTC, after the second game had begun at 21:00 in UTC+2.
    assert told == (["play", "deed", "deed", "play", "dispute"] if version == 2 else ["dispute"])
    assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))


def test_an_older_recording_goes_on_once_it_is_up_to_date(old, version):
    game = GameFile.open(old)
    if version == 2:
        game.append(NewEntry("deed", {"entry": {"type": "march"}}))
        assert newest_play(GameFile.open(old)) == {"game": "again", "log": [{"type": "march"}]}
    with sqlite3.connect(old) as file:
        assert file.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        names = {name for (name,) in file.execute("SELECT name FROM sqlite_master")}
    file.close()
    assert {"recording", "entry", "picture"} <= names
    assert not {"game", "dispute", "play", "deed"} & names
