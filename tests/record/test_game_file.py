"""The game as a file: what goes in comes out, and no other file is accepted."""

import os
import sqlite3
import threading
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event

from tablecam.errors import BadInput
from tablecam.record.atomic_files import NameTaken
from tablecam.record.disputes import dispute_picture, dispute_position, disputes
from tablecam.record.game_file import GameFile
from tablecam.record.schema import APPLICATION_ID, SCHEMA_VERSION, metadata
from tests.record.games import FACTS, add, add_dispute, dispute, pictures, position
from tests.record.rights import as_nobody, open_folder


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a game, 50 % #1?.tablecam"  # no name troubles it


@pytest.fixture
def game(path):
    return GameFile.create(path, FACTS)


def refused(deed, path):
    with pytest.raises(BadInput) as caught:
        deed()
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_dispute_comes_back_as_it_went_in(game, path):
    assert add(game, 1) == 1
    assert add(game, 2, word="too_close") == 2
    again = GameFile.open(path)
    assert again.facts() == FACTS
    assert disputes(again) == [
        dispute("Question 1?") | {"number": 1},
        dispute("Question 2?", "too_close") | {"number": 2},
    ]
    assert dispute_position(again, 2) == position(2)
    assert (dispute_picture(again, 2, plain=True), dispute_picture(again, 2)) == pictures(2)


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(question=WORDS, extra=JSON, jpeg=st.binary(min_size=1, max_size=200))
def test_any_document_comes_back_as_it_went_in(tmp_path_factory, question, extra, jpeg):
    game = GameFile.create(tmp_path_factory.mktemp("game") / "x.tablecam", FACTS)
    document = dispute(question) | {"extra": extra}
    add_dispute(game, document, {"what": extra}, b"", jpeg)
    assert disputes(game) == [document | {"number": 1}]
    assert dispute_position(game, 1) == {"what": extra}
    assert dispute_picture(game, 1) == jpeg
    with pytest.raises(BadInput, match="dispute 1 has no picture"):
        dispute_picture(game, 1, plain=True)


def test_a_dispute_that_is_not_there_is_named(game):
    with pytest.raises(BadInput, match="there is no dispute 3"):
        dispute_position(game, 3)
    with pytest.raises(BadInput, match="there is no dispute 3"):
        dispute_picture(game, 3)


def test_at_rest_a_game_is_one_file_that_says_what_it_is(game, path):
    add(game, 1)
    disputes(GameFile.open(path, read_only=True))
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    with sqlite3.connect(path) as plain:
        numbers = [plain.execute(f"PRAGMA {name}").fetchone()[0] for name in PRAGMAS]
    plain.close()
    assert numbers == [APPLICATION_ID, SCHEMA_VERSION, "wal", "ok"]


PRAGMAS = ("application_id", "user_version", "journal_mode", "integrity_check")


def test_each_write_waits_for_the_disk_and_minds_its_references(game):
    with game._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2  # FULL
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 1


def test_every_table_and_column_says_what_it_is():
    for table in metadata.tables.values():
        assert table.comment
        assert all(column.comment for column in table.columns)


def test_a_file_is_never_written_over(path):
    path.write_text("somebody's own")
    with pytest.raises(NameTaken, match="a file of this name already exists"):
        GameFile.create(path, FACTS)
    assert path.read_text() == "somebody's own"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("version", [0, -3, SCHEMA_VERSION - 1])
def test_a_version_that_was_never_released_is_refused(game, path, version):
    with sqlite3.connect(path) as file:
        file.execute(f"PRAGMA user_version = {version}")
    file.close()
    for read_only in (False, True):
        line = refused(lambda only=read_only: GameFile.open(path, read_only=only), path)
        assert f"expected a recording of version {SCHEMA_VERSION}, got version {version}" in line


@pytest.mark.parametrize("began", ["yesterday", "2026-05-01T19:30:00", ""])
def test_a_beginning_that_is_no_time_is_told_in_one_line(game, path, began):
    with sqlite3.connect(path) as file:
        file.execute("UPDATE recording SET started_at = ?", (began,))
    file.close()
    assert "--repair" in refused(GameFile.open(path, read_only=True).facts, path)


def test_what_is_no_recording_is_refused_and_left_alone(path):
    path.write_bytes(b"format = 'tablecam.table'")
    assert "another kind of file" in refused(lambda: GameFile.open(path), path)
    assert path.read_bytes() == b"format = 'tablecam.table'"


def test_an_empty_and_a_missing_file_are_refused(path):
    assert "there is no such file" in refused(lambda: GameFile.open(path), path)
    path.touch()
    assert "another kind of file" in refused(lambda: GameFile.open(path), path)
    assert "cannot be read" in refused(lambda: GameFile.open(path.parent), path.parent)


def test_another_programs_database_is_refused(path):
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE game (id)")
    other.close()
    assert "another program's database" in refused(lambda: GameFile.open(path), path)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_recording_is_refused_and_left_alone(game, path, read_only):
    with sqlite3.connect(path) as newer:
        newer.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    newer.close()
    before = path.read_bytes()
    told = refused(lambda: GameFile.open(path, read_only=read_only), path)
    assert f"version {SCHEMA_VERSION}, got version {SCHEMA_VERSION + 1}; it needs a newer" in told
    assert path.read_bytes() == before


def test_a_truncated_recording_is_called_damaged(game, path):
    add(game, 1)
    path.write_bytes(path.read_bytes()[:6000])
    assert "damaged" in refused(lambda: disputes(GameFile.open(path)), path)


def test_many_threads_and_two_openers_number_disputes_one_after_the_other(game, path):
    games = [game, GameFile.open(path)]

    def add_once_free(number):
        try:
            add(games[number % 2], number)
        except BadInput as busy:  # on a busy machine the others take their time
            if "another program is writing to it" not in str(busy):
                raise
            add_once_free(number)

    threads = [threading.Thread(target=add_once_free, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = disputes(game)
    assert [entry["number"] for entry in kept] == list(range(1, 13))
    assert len({entry["question"]["text"] for entry in kept}) == 12


def test_a_game_that_is_being_written_can_be_read(game, path):
    add(game, 1)
    with game._engine.begin():  # a write is under way
        assert len(disputes(GameFile.open(path, read_only=True))) == 1


@pytest.fixture
def anywhere():
    with open_folder() as folder:
        yield folder


@pytest.mark.skipif(os.name != "posix", reason="Windows has no rights that a test can drop")
def test_what_is_added_while_a_game_is_read_comes_with_its_pictures_or_not_yet(game, path):
    reader = GameFile.open(path, read_only=True)
    numbers = [1]

    def add_one(*_):
        if numbers:
            add(game, numbers.pop())

    event.listen(reader._engine, "after_cursor_execute", add_one)  # between its queries
    for entry in reader.entries() + reader.entries():
        assert entry.pictures == ("drawn", "plain")
    assert len(reader.entries()) == 1


def test_a_write_protected_game_is_read_and_refuses_to_be_written(anywhere):
    path = anywhere / "game.tablecam"
    add(GameFile.create(path, FACTS), 1)
    path.chmod(0o444)
    anywhere.chmod(0o555)
    with as_nobody():
        assert len(disputes(GameFile.open(path, read_only=True))) == 1
        told = refused(lambda: add(GameFile.open(path), 2), path)
        other = anywhere / "other.tablecam"
        assert "cannot be written" in refused(lambda: GameFile.create(other, FACTS), other)
    assert "the file or its folder cannot be written" in told
    assert list(anywhere.iterdir()) == [path]


def test_a_game_needs_a_time_with_its_zone():
    with pytest.raises(ValueError, match="expected a time with its zone"):
        replace(FACTS, started_at=datetime(2026, 5, 1, 19, 30))  # noqa: DTZ001 - that is the fault
