"""Recordings of older tablecams, which stored only actions: their results are still shown."""

import json
import sqlite3
from datetime import datetime, timedelta

import pytest

from tablecam.cli import main
from tablecam.record.game_file import GameFile
from tablecam.record.journal import Journal
from tablecam.record.schema import APPLICATION_ID
from tablecam.replay.completing import retold
from tablecam.replay.film import film
from tablecam.replay.moment import is_over, position_at
from tests.record.test_migrations import VERSION_1
from tests.replay.golden_recordings import DEALT
from tests.replay.recorded import recorded
from tests.rules.playthrough import played

VERSION_2 = """
CREATE TABLE play (number INTEGER PRIMARY KEY, at TEXT, document TEXT);
CREATE TABLE deed (play INTEGER REFERENCES play (number), number INTEGER, at TEXT, document TEXT,
    PRIMARY KEY (play, number));
"""
BEGAN = datetime.fromisoformat("2026-05-01T20:00:00+02:00")
WRONG = {"type": "declare", "command": "picnic"}


@pytest.fixture(scope="module")
def play():
    return played(DEALT.read_text(encoding="utf-8"))


def old(path, play, log):
    """A game in a file as tablecam left it with tables of version 2."""
    with sqlite3.connect(path) as file:
        file.executescript(VERSION_1 + VERSION_2)
        file.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        file.execute("PRAGMA user_version = 2")
        begun = json.dumps(play.beginning())
        file.execute("INSERT INTO play VALUES (1, ?, ?)", (BEGAN.isoformat(), begun))
        for number, entry in enumerate(log, start=1):
            at = (BEGAN + number * timedelta(seconds=12)).isoformat()
            file.execute("INSERT INTO deed VALUES (1, ?, ?, ?)", (number, at, json.dumps(entry)))
    file.close()
    return path


@pytest.fixture(scope="module")
def path(play, tmp_path_factory):
    return old(tmp_path_factory.mktemp("old") / "old.tablecam", play, play.entries())


@pytest.fixture(scope="module")
def told(path):
    return retold(GameFile.open(path, read_only=True))


def texts(journal: Journal):
    return [e["text"] for entry in film(journal)["entries"] for e in entry.get("events", ())]


def test_what_followed_is_told_as_if_it_had_been_kept(play, path, told):
    shown = [event.text for done in play.done for event in done.events if event.only_for is None]
    assert texts(told) == shown
    assert not texts(GameFile.open(path, read_only=True))
    assert is_over(told)


def test_units_lie_where_the_game_had_them_at_every_deed(play, told):
    deeds = told.entries("deed")
    assert len(deeds) == len(play.done)
    for entry, done in zip(deeds, play.done, strict=True):
        lies = {unit.id: unit.bases for unit in position_at(told, entry.number).units}
        assert lies == {unit.id: unit.bases for unit in play.game.position(done.state).units}


def test_the_file_itself_is_left_as_it_is_and_checked_as_it_is(path, capsys):
    before = path.read_bytes()
    assert main(["replay", str(path)]) == 0
    assert "breaks and leaves the table" in capsys.readouterr().out
    assert main(["export", str(path), "--text", "-"]) == 0
    assert "## Losses" in capsys.readouterr().out
    assert main(["replay", str(path), "--check"]) == 0
    assert capsys.readouterr().out.startswith("everything agrees: 1 game, ")
    assert path.read_bytes() == before


def test_from_a_deed_on_that_the_rules_refuse_now_nothing_is_told_but_that(play, tmp_path):
    log = play.entries()
    whole = texts(retold(GameFile.open(old(tmp_path / "a.tablecam", play, log), read_only=True)))
    log[30] = WRONG
    broken = retold(GameFile.open(old(tmp_path / "b.tablecam", play, log), read_only=True))
    *before, last = texts(broken)
    assert 0 < len(before) < len(whole)
    assert before == whole[: len(before)]
    assert last.startswith("cannot be replayed from here: ")
    assert len(broken.entries("deed")) == len(log)


def test_a_recording_that_tells_all_is_itself(tmp_path, play):
    journal = recorded(play, tmp_path / "new.tablecam")
    assert retold(journal) is journal
