"""Damaged recordings: everything intact is saved, losses are reported, the file is unchanged."""

import shutil
import sqlite3
from collections import deque
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.errors import BadInput
from tablecam.record.entries import Entry
from tablecam.record.game_file import GameFile
from tablecam.record.plays import newest_play
from tablecam.record.positions import WHOLE, applied
from tablecam.record.schema import SCHEMA_VERSION
from tablecam.replay.check import RecordingCheck
from tablecam.replay.film import film
from tablecam.replay.pages import Pages
from tablecam.replay.repair import pages_of, repaired
from tablecam.replay.salvage import Salvaged, salvaged
from tablecam.replay.scenes import scenes
from tests.record.games import FACTS
from tests.replay.evening import evening
from tests.replay.golden_recordings import golden, rows_of

PAGE = 4096


def repair(path):
    pages = pages_of(path)
    rows = (row for number in range(1, pages.last + 1) for row in pages.rows(number))
    return repaired(rows, str(path))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A recording of an evening and, as that is short, the beginning of a golden game."""
    path = tmp_path_factory.mktemp("repair") / "whole.tablecam"
    GameFile.create(path, FACTS, [*evening(), *golden()[:70]])
    return path


@pytest.fixture(scope="module")
def original(whole):
    return whole.read_bytes()


@pytest.fixture(scope="module")
def entries(whole):
    return GameFile.open(whole, read_only=True).entries()


def test_a_whole_recording_is_the_same_after_a_repair(whole, tmp_path):
    repaired = repair(whole)
    again = GameFile.create(
        tmp_path / "again", repaired.copy.facts, repaired.copy.entries, repaired.copy.written_by
    )
    assert rows_of(again.path) == rows_of(whole)
    assert [*repaired.lines()][1:] == ["nothing is known to be lost"]


def damaged(original, pages, seed=0):
    """The file with noise in place of pages."""
    noise, data = Random(seed), bytearray(original)
    for number in pages:
        data[(number - 1) * PAGE : number * PAGE] = noise.randbytes(PAGE)
    return bytes(data)


def survivors(folder, data):
    """The repaired entries by number, and whether the facts were saved."""
    path = folder / "damaged.tablecam"
    path.write_bytes(data)
    try:
        repaired = repair(path)
    except BadInput:  # nothing can be saved
        return {}, False
    kept = dict(enumerate(repaired.copy.entries, start=1))
    assert path.read_bytes() == data
    lost = {number for number, _ in repaired.lost_entries}
    assert repaired.entries == len(kept) - len(lost)
    assert all(kept[number].kind == "notice" for number in lost)
    return {number: each for number, each in kept.items() if number not in lost}, repaired.has_facts


@pytest.fixture(scope="module")
def cost(original, entries, tmp_path_factory):
    """The entries lost with each single page."""
    folder = tmp_path_factory.mktemp("pages")
    numbers = {entry.number for entry in entries}
    return {
        page: numbers - set(survivors(folder, damaged(original, [page]))[0])
        for page in range(1, len(original) // PAGE + 1)
    }


def test_a_page_costs_no_more_than_the_entries_on_it(cost, entries):
    assert set.union(*cost.values()) == {entry.number for entry in entries}
    on_two = sum(map(len, cost.values()))
    assert on_two < 1.7 * len(entries)  # an entry lies on one page or two, hardly on more
    without = [page for page, lost in cost.items() if not lost]
    assert 1 in without  # the schema is not needed
    assert len(without) > len(cost) / 5  # pictures, indices, inner pages


def same(one, other):
    """Whether an entry is unchanged; after a loss, positions may be stored whole."""
    is_position = one.kind == "position" and WHOLE in one.document
    return (one.kind, one.at) == (other.kind, other.at) and (
        is_position or one.document == other.document
    )


@settings(max_examples=40)
@given(data=st.data(), seed=st.integers(0, 1000))
def test_noise_over_any_pages_loses_what_lay_on_them_and_nothing_else(
    original, entries, cost, data, seed, tmp_path_factory
):
    pages = data.draw(st.sets(st.sampled_from(sorted(cost)), min_size=1, max_size=12))
    kept, _ = survivors(tmp_path_factory.mktemp("noise"), damaged(original, pages, seed))
    lost = set.union(*(cost[page] for page in pages))
    wanted = {entry.number: entry for entry in entries if entry.number not in lost}
    assert lost - _tail(lost, entries) <= {*range(1, max(kept) + 1)} - set(kept) <= lost
    beyond_applying = {n for n in wanted if n not in kept or not same(kept[n], wanted[n])}
    # A position stored as a difference may be lost with its base.
    assert all(wanted[number].kind == "position" for number in beyond_applying)
    assert not beyond_applying or any(entries[number - 1].kind == "position" for number in lost)


def _tail(lost, entries):
    """The lost entries at the end, which may leave no trace."""
    last = max((entry.number for entry in entries if entry.number not in lost), default=0)
    return {number for number in lost if number > last}


@settings(max_examples=25)
@given(share=st.floats(0.0, 1.0))
def test_a_truncated_recording_keeps_what_lies_before_the_cut(
    original, entries, cost, share, tmp_path_factory
):
    cut = int(share * len(original))
    kept, _ = survivors(tmp_path_factory.mktemp("cut"), original[:cut])
    lost = set().union(*(cost[page] for page in cost if page * PAGE > cut))
    assert set(kept) == {entry.number for entry in entries} - lost


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), spots=st.integers(1, 40))
def test_bytes_that_changed_here_and_there_cost_no_more_than_their_pages(
    original, entries, cost, seed, spots, tmp_path_factory
):
    chance, data = Random(seed), bytearray(original)
    places = [chance.randrange(len(data)) for _ in range(spots)] + [16, 17, 20]  # a header's sizes
    for place in places:
        data[place] = chance.randrange(256)
    kept, _ = survivors(tmp_path_factory.mktemp("spots"), bytes(data))
    most = set.union(*(cost[place // PAGE + 1] for place in places))
    assert {entry.number for entry in entries} - set(kept) <= most


def test_what_is_repaired_plays_again_up_to_what_is_lost(original, entries, cost, tmp_path):
    deeds = {entry.number for entry in entries if entry.kind == "deed"}
    page = next(page for page in cost if cost[page] and min(cost[page]) > 80)
    path = tmp_path / "damaged.tablecam"
    path.write_bytes(damaged(original, [page]))
    check = RecordingCheck(FACTS.game, "x")
    for number, each in enumerate(repair(path).copy.entries, start=1):
        if not check.entry(Entry(number, each.kind, each.at, each.document)):
            break
    assert check.checked.fault is None or check.checked.fault.entry >= min(cost[page] & deeds)


def test_an_entry_of_bad_json_is_replaced_by_a_notice(whole, entries, tmp_path):
    path = shutil.copy(whole, tmp_path / "bad.tablecam")
    with sqlite3.connect(path) as plain:
        plain.execute("UPDATE entry SET document = '{\"a' WHERE number = 7")
        plain.execute("UPDATE entry SET document = '[]', at = 'noon' WHERE number = 9")
        plain.execute("UPDATE entry SET document = ? WHERE number = 10", (r'{"a": "\ud83d"}',))
    plain.close()
    with pytest.raises(BadInput, match="entry 7 is damaged"):
        GameFile.open(path, read_only=True).entries()
    repaired = repair(path)
    assert repaired.lost_entries == ((7, "deed"), (9, "deed"), (10, "deed"))
    assert [*repaired.lines()][1:] == ["lost (replaced by notices): 3 deeds (7, 9-10)"]
    kept = [*repaired.copy.entries]
    assert kept[6].document == {"text": "entry 7 (a deed) was lost with a part of the file"}
    assert [entry.document for entry in kept[10:]] == [entry.document for entry in entries[10:]]


def test_what_says_nothing_of_its_kind_any_more_is_replaced_too_so_that_the_rest_can_be_played(
    whole, entries, tmp_path
):
    path = shutil.copy(whole, tmp_path / "bad.tablecam")
    position = [entry.number for entry in entries if entry.kind == "position"][2]
    deed = next(e.number for e in entries if e.kind == "deed" and e.document["events"])
    with sqlite3.connect(path) as plain:
        garble = "UPDATE entry SET document = replace(document, ?, ?) WHERE number = ?"
        plain.execute(garble, ('"depth_mm"', '"depth_Mm"', position))
        plain.execute(garble, ('"text"', '"tExt"', deed))
    plain.close()
    damaged = GameFile.open(path, read_only=True)
    for play in (film, lambda journal: deque(scenes(journal))):
        with pytest.raises(BadInput):
            play(damaged)
    repaired = repair(path)
    numbers = ", ".join(map(str, sorted((position, deed))))
    kinds = "1 position, 1 deed" if position < deed else "1 deed, 1 position"
    assert [*repaired.lines()][1:] == [
        f"no longer interpretable (replaced by notices): {kinds} ({numbers})",
        "nothing else is known to be lost",
    ]
    again = GameFile.create(tmp_path / "again.tablecam", repaired.copy.facts, repaired.copy.entries)
    assert len(film(again)["entries"]) == len(entries)
    assert deque(scenes(again))


def test_positions_after_a_lost_one_are_told_whole(whole, entries, tmp_path):
    positions = [entry for entry in entries if entry.kind == "position"]
    path = shutil.copy(whole, tmp_path / "lost.tablecam")
    with sqlite3.connect(path) as plain:
        plain.execute("UPDATE entry SET document = '' WHERE number = ?", (positions[1].number,))
    plain.close()
    kept = [*repair(path).copy.entries]
    again = kept[positions[2].number - 1]
    before = applied(None, positions[0].document)
    assert again.document == {WHOLE: applied(before, positions[2].document)}
    words = kept[positions[1].number - 1].document["text"]
    assert words.endswith("units that moved then may be shown at their old place")


def test_a_game_whose_beginning_was_lost_is_none_to_go_on_with(tmp_path):
    deeds = [each for each in golden() if each.kind == "deed"][:3]
    del deeds[1].document["entry"]
    path = GameFile.create(tmp_path / "lost.tablecam", FACTS, deeds).path
    repaired = repair(path)
    assert repaired.unclear == ((2, "deed"),)
    again = GameFile.create(tmp_path / "again.tablecam", repaired.copy.facts, repaired.copy.entries)
    assert newest_play(again) is None


@pytest.mark.parametrize("other", [77, 100])
def test_an_entry_whose_number_was_changed_has_its_own_again(original, entries, other, tmp_path):
    path = tmp_path / "changed.tablecam"
    before, after = (FACTS.id.encode() + bytes([number]) + b"2026-" for number in (12, other))
    assert original.count(before) == 1
    path.write_bytes(original.replace(before, after))
    repaired = repair(path)
    assert repaired.lost_entries == ()
    assert [entry.document for entry in repaired.copy.entries] == [
        entry.document for entry in entries
    ]


def test_a_picture_of_no_kind_that_there_is_is_lost(whole, tmp_path):
    path = shutil.copy(whole, tmp_path / "bad.tablecam")
    with sqlite3.connect(path) as plain:
        garble = "UPDATE picture SET media_type = char(15) || media_type WHERE rowid = 2"
        plain.execute(garble)
    plain.close()
    repaired, kept = repair(path), repair(whole)
    assert (repaired.pictures, repaired.lost_pictures) == (kept.pictures - 1, 1)


def test_where_the_first_position_is_lost_a_dispute_tells_where_all_lay(whole, entries, tmp_path):
    path = shutil.copy(whole, tmp_path / "lost.tablecam")
    dispute = next(entry for entry in entries if entry.kind == "dispute")
    later = next(e for e in entries if e.kind == "position" and e.number > dispute.number)
    with sqlite3.connect(path) as plain:
        told = "UPDATE entry SET document = '' WHERE number < ? AND kind IN ('position', 'play')"
        plain.execute(told, (dispute.number,))
    plain.close()
    kept = [*repair(path).copy.entries]
    lay = dispute.document["position"]
    assert kept[later.number - 1].document == {WHOLE: applied(lay, later.document)}


def test_without_its_facts_a_recording_is_guessed_from_its_entries(whole, tmp_path):
    path = shutil.copy(whole, tmp_path / "lost.tablecam")
    with sqlite3.connect(path) as plain:
        plain.execute("PRAGMA foreign_keys = OFF")
        plain.execute("DELETE FROM recording")
    plain.execute("VACUUM")  # or it would still be found in its place
    plain.close()
    repaired = repair(path)
    facts = repaired.copy.facts
    assert (facts.game, facts.id, facts.started_at) == (FACTS.game, FACTS.id, FACTS.started_at)
    assert "lost: the table file and the camera file" in [*repaired.lines()]


def test_what_was_confirmed_and_lies_in_the_log_yet_is_saved_too(tmp_path):
    path = tmp_path / "running.tablecam"
    game = GameFile.create(path, FACTS)
    holding = sqlite3.connect(path)  # with a reader the log is not merged
    holding.execute("BEGIN")
    holding.execute("SELECT * FROM entry").fetchall()
    game.append(*golden())
    log = path.with_name(f"{path.name}-wal")
    assert log.stat().st_size > PAGE
    killed = shutil.copy(path, tmp_path / "killed.tablecam")
    shutil.copy(log, tmp_path / "killed.tablecam-wal")
    holding.close()
    repaired = repair(killed)
    assert repaired.entries == game.last() == len(golden())
    assert repaired.has_facts


@pytest.mark.parametrize("held", [b"", b"[]", bytes(100_000), Random(3).randbytes(200_000)])
def test_of_what_never_was_a_recording_nothing_is_saved(held, tmp_path):
    path = tmp_path / "noise.tablecam"
    path.write_bytes(held)
    with pytest.raises(BadInput, match="nothing can be saved"):
        repair(path)


def test_missing_files_folders_and_newer_recordings_are_refused(whole, tmp_path):
    with pytest.raises(BadInput, match="there is no such file"):
        pages_of(tmp_path / "nothing")
    for folder in (tmp_path, Path()):
        with pytest.raises(BadInput, match="cannot be read"):
            pages_of(folder)
    newer = shutil.copy(whole, tmp_path / "newer.tablecam")
    with sqlite3.connect(newer) as plain:
        plain.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    plain.close()
    with pytest.raises(BadInput, match=f"got version {SCHEMA_VERSION + 1}: repair it with"):
        pages_of(newer)


@pytest.mark.parametrize("kind", [0x0D, 0x0A, 0x02])
def test_noise_that_looks_like_a_page_of_rows_gives_none_of_a_recording(kind):
    noise = Random(kind)
    held = b"".join(bytes([kind]) + noise.randbytes(PAGE - 1) for _ in range(30))
    pages = Pages(held)
    rows = [row for number in range(1, pages.last + 1) for row in pages.rows(number)]
    assert salvaged(rows) == Salvaged("")


@settings(max_examples=30)
@given(data=st.binary(max_size=3 * PAGE), log=st.binary(max_size=200))
def test_any_bytes_are_looked_at_without_a_crash(data, log):
    for held in (data, b"SQLite format 3\x00" + data, b"\r\x00\x00\x00\x09" + data):
        pages = Pages(held + bytes(-len(held) % PAGE), log)
        assert all(row.values for n in range(1, pages.last + 1) for row in pages.rows(n))
