"""A real hall server: what a table sends is stored once, in order, whatever fails."""

import shutil
import sqlite3
from dataclasses import replace
from uuid import uuid4

import pytest

from tablecam.errors import BadInput
from tablecam.hall.server import Hall, server_url
from tablecam.hall.synchronisation import BATCH, HallCopy
from tablecam.record.disputes import dispute_picture, disputes
from tablecam.record.entries import NewEntry, Picture
from tablecam.record.faults import Damaged
from tablecam.record.game_file import GameFile
from tests.record.games import FACTS, add, catch_up, pictures


@pytest.fixture
def game(tmp_path):
    return GameFile.create(tmp_path / "game.tablecam", replace(FACTS, id=uuid4().hex))


def deeds(count, first=1):
    return [
        NewEntry("deed", {"entry": {"number": number}}) for number in range(first, first + count)
    ]


def test_a_hall_has_all_of_a_recording_as_its_table_has_it(hall, game):
    add(game, 1)
    game.append(*deeds(3), NewEntry("position", {}, (Picture("table", b"\x00\xff", "image/webp"),)))
    assert catch_up(game, hall) == 5
    there = hall.journal(game.id)
    assert there.facts() == game.facts()
    assert there.entries() == game.entries()
    assert disputes(there) == disputes(game)
    assert dispute_picture(there, 1) == pictures(1)[1]
    assert there.picture(5, "table") == Picture("table", b"\x00\xff", "image/webp")


def test_what_was_sent_is_not_sent_again_and_not_doubled(hall, game):
    game.append(*deeds(2))
    assert (catch_up(game, hall), catch_up(game, hall)) == (2, 0)
    game.append(*deeds(1, first=3))
    assert (catch_up(game, hall), catch_up(game, hall)) == (1, 0)
    assert hall.journal(game.id).entries() == game.entries()


def test_a_table_that_was_away_for_long_catches_up_in_several_steps(hall, game):
    game.append(*deeds(2 * BATCH + 1))
    assert catch_up(game, hall, at_most=BATCH) == BATCH
    assert catch_up(game, hall) == BATCH + 1
    assert hall.journal(game.id).last() == game.last()


def test_a_table_goes_on_while_its_server_is_away_and_catches_up_later(postgres, hall, game):
    game.append(*deeds(2))
    catch_up(game, hall)
    postgres.stop()
    try:
        game.append(*deeds(2, first=3))
        with pytest.raises(BadInput, match="postgresql://tester@127") as caught:
            catch_up(game, hall)
        assert "\n" not in str(caught.value)
    finally:
        postgres.start()
    assert catch_up(game, hall) == 2
    assert hall.journal(game.id).entries() == game.entries()


def test_two_senders_of_one_recording_double_nothing(hall, game):
    game.append(*deeds(4))
    catch_up(game, hall)
    catch_up(GameFile.open(game.path), hall)
    assert hall.journal(game.id).entries() == game.entries()


def photographed(number):
    return NewEntry("position", {"n": number}, (Picture("table", bytes([number]) * 99),))


def mended(game, hall):
    copy = HallCopy(game, hall)
    return sum(iter(copy.send_missing_pictures, 0))


def test_pictures_that_a_hall_lacks_are_sent_by_the_table_that_has_them(hall, game):
    count = 45
    game.append(*map(photographed, range(count)))
    catch_up(game, hall)
    assert mended(game, hall) == 0
    with hall.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM picture WHERE entry <> 3")
    assert mended(game, hall) == count - 1
    assert hall.journal(game.id).entries() == game.entries()
    assert hall.journal(game.id).picture(count, "table") == game.picture(count, "table")
    assert mended(game, hall) == 0


def test_pictures_that_only_the_hall_has_stay_there(hall, game):
    game.append(photographed(1))
    catch_up(game, hall)
    without = GameFile.create(game.path.with_name("without.tablecam"), game.facts())
    without.append(*(NewEntry(entry.kind, entry.document, at=entry.at) for entry in game.entries()))
    assert mended(without, hall) == 0
    assert hall.journal(game.id).entries() == game.entries()


@pytest.fixture
def twin(game):
    """A copy of the game's file, for play on another machine."""
    game.append(*deeds(3), photographed(4))
    path = game.path.with_name("twin.tablecam")
    shutil.copy(game.path, path)
    return GameFile.open(path)


def test_a_copied_file_that_is_played_on_is_a_game_of_its_own_in_the_hall(hall, game, twin):
    catch_up(game, hall)
    assert not HallCopy(twin, hall).send_entries()
    game.append(*deeds(2, first=5))
    twin.append(photographed(50), *deeds(3, first=60))
    catch_up(game, hall)
    copy = HallCopy(twin, hall)
    copy.send_entries()
    assert copy.is_apart
    assert not HallCopy(game, hall).is_apart
    assert hall.journal(game.id).entries() == game.entries()
    assert hall.journal(copy.id).entries() == twin.entries()
    assert hall.journal(copy.id).picture(5, "table") == twin.picture(5, "table")
    assert hall.journal(copy.id).facts() == replace(twin.facts(), id=copy.id)
    assert len(hall.recordings()) == 2


def test_a_game_of_its_own_is_the_same_one_whenever_its_table_comes_back(hall, game, twin):
    game.append(*deeds(1, first=5))
    catch_up(game, hall)
    twin.append(*deeds(1, first=60))
    first = HallCopy(twin, hall)
    first.send_entries()
    twin.append(*deeds(2, first=70))
    again = HallCopy(GameFile.open(twin.path), hall)
    assert again.send_entries() == 2
    assert again.id == first.id
    assert catch_up(game, hall) == 0
    assert len(hall.recordings()) == 2


def test_two_tables_that_play_one_file_at_once_never_mix(hall, game, twin):
    one, other = HallCopy(game, hall), HallCopy(twin, hall)
    one.send_entries()
    other.send_entries()
    for number in range(5, 9):
        game.append(*deeds(1, first=number))
        twin.append(*deeds(2, first=number))
        other.send_entries()
        one.send_entries()
    assert (one.is_apart, other.is_apart) == (True, False)
    assert hall.journal(one.id).entries() == game.entries()
    assert hall.journal(other.id).entries() == twin.entries()


def test_what_another_program_sent_meanwhile_is_never_added_to(hall, game, twin):
    class Read(GameFile):
        """When its fifth entry is read for sending, the other table sends its own."""

        def picture(self, number, kind):
            if number == 5:
                catch_up(game, hall)
            return super().picture(number, kind)

    catch_up(twin, hall)
    game.append(*deeds(1, first=5))
    twin.append(photographed(50), *deeds(3, first=60))
    late = HallCopy(Read.open(twin.path), hall)
    late.send_entries()
    assert late.is_apart
    assert hall.journal(game.id).entries() == game.entries()
    assert hall.journal(late.id).entries() == twin.entries()


def test_an_older_copy_sends_nothing_until_it_is_played_on_and_then_all_of_its_own(
    hall, game, twin
):
    game.append(*deeds(2, first=5))
    catch_up(game, hall)
    older = HallCopy(twin, hall)
    assert older.send_entries() == 0
    assert not older.is_apart
    twin.append(*deeds(4, first=60))  # it is now ahead of the hall's
    assert older.send_entries() == twin.last()
    assert older.is_apart
    assert hall.journal(older.id).entries() == twin.entries()
    assert hall.journal(game.id).entries() == game.entries()


def test_who_listens_is_told_of_what_is_new(hall, game):
    game.append(*deeds(2))
    with hall.listening() as news:
        catch_up(game, hall)
        assert news(10.0) == [game.id]
        assert news(0.0) == []


def test_who_listens_to_a_server_that_goes_away_is_told(postgres, hall):
    with hall.listening() as news:
        postgres.stop()
        try:
            with pytest.raises(BadInput, match="is lost") as caught:
                news(10.0)
            assert "\n" not in str(caught.value)
        finally:
            postgres.start()


def test_recordings_are_listed_with_who_is_there(hall, game):
    game.append(*deeds(2))
    catch_up(game, hall)
    listed = {recording.id: recording for recording in hall.recordings()}[game.id]
    assert (listed.game, listed.last, listed.silent_s) == ("maurice-lite", 2, None)
    hall.report_presence(game.id)
    hall.report_presence(game.id)
    silent_s = {recording.id: recording for recording in hall.recordings()}[game.id].silent_s
    assert 0 <= silent_s < 60


def test_tables_are_made_once_and_of_another_version_refused(hall):
    hall.prepare()
    with hall.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE schema_version SET version = 99")
    try:
        with pytest.raises(BadInput, match="expected tables of version 4, got version 99"):
            hall.prepare()
    finally:
        with hall.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE schema_version SET version = 4")


def test_a_halls_copy_is_as_it_was_written_and_a_change_is_found(hall, game):
    add(game, 1)
    game.append(*deeds(3), NewEntry("position", {}, (Picture("table", b"\x00\xff", "image/webp"),)))
    catch_up(game, hall)
    there = hall.journal(game.id)
    verdict = there.verified()
    assert (verdict.entries, verdict.faults) == (5, [])
    for table, change, number in (
        ("entry", "document = replace(document, '2', '7')", 3),
        ("picture", "image = '\\x00'::bytea", 5),
    ):
        key = "number" if table == "entry" else "entry"
        with hall.engine.begin() as connection:
            connection.exec_driver_sql(
                f"UPDATE {table} SET {change} WHERE {key} = {number} AND recording = '{game.id}'"
            )
        assert number in there.verified().changed


def test_what_is_not_as_it_was_written_is_not_sent_to_a_hall(hall, game):
    game.append(*deeds(3))
    with sqlite3.connect(game.path) as plain:
        plain.execute("UPDATE entry SET document = '{}' WHERE number = 2")
    plain.close()
    with pytest.raises(Damaged, match="entry 2 was changed after it was written"):
        catch_up(game, hall)
    assert hall.journal(game.id).last() == 0


@pytest.mark.parametrize(
    "address",
    [
        "evening.tablecam",
        "mysql://me:secret@host/db",
        "mysql://host/db?password=secret",
        "postgresql://me:secret@host",
        "postgresql://me:secret",
        "postgresql://me:secret@host:port/db",
        "postgresql://me:sec@secret@host/db",
        "postgres//x",
    ],
)
def test_what_is_no_address_of_a_server_is_refused_and_no_password_told(address):
    with pytest.raises(BadInput, match="expected the address of a PostgreSQL server") as caught:
        server_url(address)
    assert "secret" not in str(caught.value)


def test_a_hall_is_named_without_what_its_address_says_besides():
    assert Hall("postgresql://me@host/db?password=secret").name == "postgresql://me@host/db"


def test_a_server_that_is_not_there_is_named_without_its_password():
    hall = Hall("postgresql://me:secret@127.0.0.1:9/db")
    with pytest.raises(BadInput, match=r"postgresql://me:\*\*\*@127\.0\.0\.1:9/db: ") as caught:
        hall.prepare()
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
