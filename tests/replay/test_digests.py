"""Any change of a recording is detected."""

import shutil
import sqlite3
from itertools import islice
from random import Random

import pytest

from tablecam.errors import BadInput
from tablecam.record.digests import entry_digest
from tablecam.record.game_file import GameFile
from tablecam.replay.copies import copy_of
from tablecam.replay.lines import copy_from_lines, lines_of
from tablecam.replay.pages import Pages
from tablecam.replay.repair import pages_of, repaired, verified
from tests.record.games import FACTS
from tests.replay.evening import evening

PAGE = 4096
INDICES = (0x02, 0x0A)
"""The first bytes of SQLite's index pages."""
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
    path = tmp_path_factory.mktemp("whole") / "whole.tablecam"
    return GameFile.create(path, FACTS, evening()).path


def faults_of(path):
    """The faults that a check finds in a file, apart from those of the rules."""
    try:
        return verified(GameFile.open(path, read_only=True)).faults
    except BadInput as error:
        return [error.message]


def repair_says(path):
    try:
        pages = pages_of(path)
        rows = (row for number in range(1, pages.last + 1) for row in pages.rows(number))
        return [*repaired(rows, str(path)).lines()]
    except BadInput as error:
        return [str(error)]


def rows_in(data, *, of_tables=False):
    """All rows of tables and indices that can be read from a file."""
    pages = Pages(data)
    rows = (row for number in range(1, pages.last + 1) for row in pages.rows(number))
    return [repr(row) for row in rows if not (of_tables and row.is_of_index)]


def damaged(whole, chance, harm):
    """The file, damaged in one place after the other, except the free space of indices.

    There SQLite leaves remains of moved rows: nothing tells what belongs there.
    """
    original = whole.read_bytes()
    before = rows_in(original)
    while True:
        data, at = bytearray(original), chance.randrange(len(original))
        harm(chance, data, at)
        is_of_index = original[at // PAGE * PAGE] in INDICES
        if bytes(data) != original and not (is_of_index and rows_in(bytes(data)) == before):
            yield bytes(data)


def test_a_whole_file_holds(whole):
    verdict = GameFile.open(whole, read_only=True).verified()
    last = GameFile.open(whole, read_only=True).last()
    assert (verdict.entries, [*verdict.lines()]) == (last, [])


def test_a_file_that_was_written_entry_by_entry_holds(tmp_path):
    file = GameFile.create(tmp_path / "long.tablecam", FACTS)
    for entry in 3 * evening():
        file.append(entry)
    assert verified(file).faults == []


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM)
def test_of_50_damaged_files_all_are_found(whole, tmp_path, harm):
    path = tmp_path / "damaged.tablecam"
    for data in islice(damaged(whole, Random(7), harm), FILES):
        path.write_bytes(data)
        assert faults_of(path)


def test_of_18_single_bits_a_repair_says_what_each_has_cost(whole, tmp_path):
    path = tmp_path / "damaged.tablecam"
    rows = rows_in(whole.read_bytes(), of_tables=True)
    for data in islice(damaged(whole, Random(18), HARM["bits"]), BITS):
        path.write_bytes(data)
        if rows_in(data, of_tables=True) != rows:
            assert "nothing is known to be lost" not in repair_says(path)
        assert faults_of(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE entry SET document = '{}' WHERE number = 7", "entry 7 (deed) was changed"),
        ("UPDATE entry SET at = replace(at, '19', '18') WHERE number = 2", "entry 2 "),
        ("UPDATE picture SET image = x'ff' WHERE kind = 'table'", "(table)"),
        ("DELETE FROM picture WHERE kind = 'drawn'", "or one of its pictures is lost"),
        ("DELETE FROM entry WHERE number = 9", "entry 9 is missing"),
        ("UPDATE recording SET table_file = ''", "the game's settings"),
        ("UPDATE entry SET digest = '' WHERE number = 5", "entry 5 "),
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


def test_a_file_changed_throughout_is_verified_in_time_that_grows_with_its_length(
    whole, tmp_path, monkeypatch
):
    path = shutil.copy(whole, tmp_path / "changed.tablecam")
    with sqlite3.connect(path) as plain:
        plain.execute("UPDATE entry SET at = replace(at, '19', '18')")
    plain.close()
    reckoned = []
    monkeypatch.setattr(
        "tablecam.record.digests.entry_digest",
        lambda *row: reckoned.append(row) or entry_digest(*row),
    )
    verdict = GameFile.open(path, read_only=True).verified()
    assert len(verdict.changed) > 20
    assert len(reckoned) <= 4 * verdict.entries


def test_lines_that_were_changed_on_their_way_are_refused_by_their_number(whole):
    lines = [*lines_of(copy_of(GameFile.open(whole, read_only=True), pictures=True))]
    at = next(at for at, line in enumerate(lines) if "French declare" in line)
    lines[at] = lines[at].replace("French declare", "French Declare", 1)
    copy = copy_from_lines([line.encode() for line in lines], "lines")
    with pytest.raises(BadInput, match=f"lines:{at + 1}: digest: the line was changed"):
        list(copy.entries)


def test_a_text_that_is_none_any_more_points_to_the_repair(whole, tmp_path):
    path = tmp_path / "damaged.tablecam"
    path.write_bytes(whole.read_bytes().replace(b"French declare", b"\xff\xfeench declare"))
    (fault,) = faults_of(path)
    assert "Could not decode" in fault
    assert "--repair" in fault


def test_a_damaged_schema_points_to_the_repair(whole, tmp_path):
    path = tmp_path / "damaged.tablecam"
    data = whole.read_bytes()
    for old, new in ((b"CREATE TABLE entry", b"CREATE TABLE eXtry"), (b"CREATE", b"\x00REATE")):
        path.write_bytes(data.replace(old, new))
        with pytest.raises(BadInput, match="--repair"):
            GameFile.open(path, read_only=True).verified()
