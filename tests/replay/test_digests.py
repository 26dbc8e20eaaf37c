"""A recording that was changed, however little, is found out; an old one says that it cannot be."""

import shutil
import sqlite3
from random import Random

import pytest

from tablecam.errors import BadInput
from tablecam.record.entries import NewEntry
from tablecam.record.game_file import GameFile
from tablecam.replay.copies import copy_of
from tablecam.replay.lines import copy_from_lines, lines_of
from tablecam.replay.pages import Pages
from tablecam.replay.repair import pages_of, repaired
from tests.record.games import FACTS, add, without_digests
from tests.replay.evening import evening

PAGE = 4096
FILES, BITS = 50, 18
HARM = {
    "bits": lambda chance, data, at: data.__setitem__(at, data[at] ^ 1 << chance.randrange(8)),
    "noise": lambda chance, data, at: overwrite(data, at, chance.randbytes(64)),
    "blanks": lambda chance, data, at: overwrite(data, at, bytes(512)),
}


def overwrite(data, at, noise):
    data[at : at + len(noise)] = noise[: len(data) - at]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An evening's recording, disputes and all."""
    file = GameFile.create(tmp_path_factory.mktemp("whole") / "whole.tablecam", FACTS, evening())
    for number in range(1, 4):
        add(file, number)
    return file.path


def holds(path):
    """Whether a check by digests finds nothing."""
    try:
        return not GameFile.open(path, read_only=True).verified().faults
    except BadInput:
        return False


def repair_says(path):
    try:
        pages = pages_of(path)
        rows = (row for number in range(1, pages.last + 1) for row in pages.rows(number))
        return [*repaired(rows, str(path)).lines()]
    except BadInput as error:
        return [str(error)]


def rows_in(data):
    """All rows that can be read in a file, of tables and of indices."""
    pages = Pages(data)
    return [repr(row) for number in range(1, pages.last + 1) for row in pages.rows(number)]


def spots(whole, chance, harm):
    """Places in a file where harm changes what is in it, with the file as it is then."""
    original = whole.read_bytes()
    before = rows_in(original)
    while True:
        data = bytearray(original)
        harm(chance, data, chance.randrange(len(data)))
        if rows_in(bytes(data)) != before:
            yield bytes(data)


def test_a_whole_file_holds_and_says_how_many_entries_have_digests(whole):
    found = GameFile.open(whole, read_only=True).verified()
    last = GameFile.open(whole, read_only=True).last()
    assert (found.entries, found.without, [*found.lines()]) == (last, 0, [])


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM)
def test_of_50_damaged_files_all_are_found(whole, tmp_path, harm):
    path = tmp_path / "damaged.tablecam"
    for _, data in zip(range(FILES), spots(whole, Random(7), harm), strict=False):
        path.write_bytes(data)
        assert not holds(path)


def test_of_18_single_bits_a_repair_says_what_each_has_cost(whole, tmp_path):
    path = tmp_path / "damaged.tablecam"
    entries = set(rows_of_tables(whole.read_bytes()))
    bits = spots(whole, Random(18), HARM["bits"])
    tables = (data for data in bits if set(rows_of_tables(data)) != entries)
    for _, data in zip(range(BITS), tables, strict=False):
        path.write_bytes(data)
        assert "nothing is known to be lost" not in repair_says(path)


def rows_of_tables(data):
    return [row for row in rows_in(data) if "number=None" not in row]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE entry SET document = '{}' WHERE number = 7", "entry 7 (deed) is not as it was"),
        ("UPDATE entry SET at = replace(at, '19', '18') WHERE number = 2", "entry 2 "),
        ("UPDATE picture SET image = x'ff' WHERE kind = 'table'", "(table)"),
        ("DELETE FROM picture WHERE kind = 'drawn'", "or a picture of it is lost"),
        ("DELETE FROM entry WHERE number = 9", "entry 9 is missing"),
        ("UPDATE recording SET table_file = ''", "what the game is played with"),
        ("UPDATE entry SET digest = NULL WHERE number = 5", "entry 5 "),
    ],
)
def test_whatever_is_changed_by_another_program_is_found(whole, tmp_path, change, said):
    path = shutil.copy(whole, tmp_path / "changed.tablecam")
    with sqlite3.connect(path) as plain:
        plain.execute(change)
    plain.close()
    file = GameFile.open(path, read_only=True)
    assert any(said in fault for fault in file.verified().faults)
    with pytest.raises(BadInput, match="--repair"):
        copy_of(file, pictures=True)


def test_an_older_recording_says_that_it_has_no_digests_and_gets_them_from_then_on(whole, tmp_path):
    path = shutil.copy(whole, tmp_path / "older.tablecam")
    with sqlite3.connect(path) as plain:
        without_digests(plain)
    plain.close()
    file = GameFile.open(path)
    last = file.last()
    (line,) = file.verified().lines()
    assert line.startswith(f"{last} entries have no digest, as an older tablecam wrote")
    assert any("without digests" in line for line in repair_says(path))
    file.append(NewEntry("notice", {"text": "on we go"}))
    found = file.verified()
    assert (found.entries, found.without, found.faults) == (1, last, [])
    with sqlite3.connect(path) as plain:
        plain.execute("UPDATE entry SET document = '{}' WHERE number = ?", (last + 1,))
    plain.close()
    assert GameFile.open(path).verified().changed == [last + 1]


def test_lines_that_were_changed_on_their_way_are_refused_by_their_number(whole):
    lines = [*lines_of(copy_of(GameFile.open(whole, read_only=True), pictures=True))]
    at = next(at for at, line in enumerate(lines) if "French declares" in line)
    lines[at] = lines[at].replace("French declares", "French Declares", 1)
    copy = copy_from_lines([line.encode() for line in lines], "lines")
    with pytest.raises(BadInput, match=f"lines:{at + 1}: digest: the line is not as it was"):
        list(copy.entries)


def test_a_damaged_schema_points_to_the_repair(whole, tmp_path):
    path = tmp_path / "damaged.tablecam"
    data = whole.read_bytes()
    for old, new in ((b"CREATE TABLE entry", b"CREATE TABLE eXtry"), (b"CREATE", b"\x00REATE")):
        path.write_bytes(data.replace(old, new))
        with pytest.raises(BadInput, match="--repair"):
            GameFile.open(path, read_only=True).verified()
