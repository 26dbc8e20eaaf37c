"""Recordings as JSON lines and as text for messages: they are restored exactly, or refused."""

import json
import math

import pytest
from hypothesis import given, settings

from tablecam import documents
from tablecam.errors import BadInput
from tablecam.record.entries import NewEntry
from tablecam.record.game_file import GameFile
from tablecam.replay import lines, text_form
from tablecam.replay.copies import copy_of
from tests.record.games import FACTS
from tests.replay.golden_recordings import ENTRIES, RECORDING_FACTS, made, rows_of


def as_lines(game, *, pictures=True):
    return [line.encode() for line in lines.lines_of(copy_of(game, pictures=pictures))]


def imported(path, copy):
    return GameFile.create(path, copy.facts, copy.entries, copy.written_by)


@settings(max_examples=25)
@given(facts=RECORDING_FACTS, entries=ENTRIES)
def test_any_recording_comes_back_from_its_lines_to_the_byte(tmp_path_factory, facts, entries):
    folder = tmp_path_factory.mktemp("lines")
    game = GameFile.create(folder / "one.tablecam", facts, entries, "0.0.7")
    told = as_lines(game)
    assert len(told) == 1 + len(entries)
    again = imported(folder / "two.tablecam", lines.copy_from_lines(told, "lines"))
    assert rows_of(again.path) == rows_of(game.path)
    assert as_lines(again) == told


@settings(max_examples=15)
@given(facts=RECORDING_FACTS, entries=ENTRIES)
def test_any_recording_comes_back_from_its_text_without_pictures(tmp_path_factory, facts, entries):
    folder = tmp_path_factory.mktemp("text")
    game = GameFile.create(folder / "one.tablecam", facts, entries, "0.0.7")
    copy = text_form.recording_of(text_form.text_of(game))
    again = imported(folder / "two.tablecam", copy)
    assert as_lines(again) == as_lines(game, pictures=False)


@pytest.fixture(scope="module")
def golden_lines(tmp_path_factory):
    return tuple(as_lines(made(tmp_path_factory.mktemp("lines") / "golden.tablecam")))


@pytest.fixture
def told(golden_lines):
    return list(golden_lines)


def refused(told):
    with pytest.raises(BadInput) as caught:
        list(lines.copy_from_lines(told, "evening.jsonl").entries)
    message = str(caught.value)
    assert "\n" not in message
    return message


def changed(line, **keys):
    return json.dumps(json.loads(line) | keys).encode()


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"format": "tablecam.table"}, 'evening.jsonl:1: format: expected "tablecam.recording"'),
        ({"version": 2}, "evening.jsonl:1: version: expected 1, got 2"),
        ({"id": "../../etc/passwd"}, "evening.jsonl:1: id: "),
        ({"game": "../../../root"}, "evening.jsonl:1: game: "),
        ({"game": "maurice-lite\n"}, "evening.jsonl:1: game: "),
        ({"started_at": "2026-05-01"}, "evening.jsonl:1: started_at: expected a time like"),
        ({"entries": -1}, "evening.jsonl:1: entries: expected a number of 0 or more"),
        ({"more": 1}, "evening.jsonl:1: more: unknown key"),
        ({"table_file": "\ud800"}, "evening.jsonl:1: table_file: expected valid characters"),
    ],
)
def test_facts_that_are_wrong_are_refused(told, keys, said):
    assert refused([changed(told[0], **keys), *told[1:]]).startswith(said)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"number": 5}, "evening.jsonl:5: number: expected 4, got 5"),
        ({"at": "half past seven"}, "evening.jsonl:5: at: expected a time like"),
        ({"kind": "picnic"}, "evening.jsonl:5: kind: expected "),
        ({"document": []}, "evening.jsonl:5: document: expected a table of keys"),
        ({"document": {"a": "\udcff"}}, "evening.jsonl:5: document.a: expected valid characters"),
        (
            {"pictures": [{"kind": "../x", "media_type": "image/jpeg", "image": ""}]},
            "evening.jsonl:5: pictures[1].kind: expected ",
        ),
        (
            {"pictures": [{"kind": "table", "media_type": "text/html", "image": ""}]},
            "evening.jsonl:5: pictures[1].media_type: ",
        ),
        (
            {"pictures": [{"kind": "table", "media_type": "image/jpeg", "image": "?"}]},
            "evening.jsonl:5: image: expected base64",
        ),
        (
            {"pictures": 2 * [{"kind": "table", "media_type": "image/jpeg", "image": ""}]},
            "evening.jsonl:5: pictures: expected one picture of each kind",
        ),
    ],
)
def test_an_entry_that_is_wrong_is_named_by_its_line(told, keys, said):
    told[4] = changed(told[4], **keys)
    assert refused(told).startswith(said)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"number": 4,', "evening.jsonl:5: not valid JSON: "),
        (b"[]", "evening.jsonl:5: expected an object with keys, got []"),
        (b"\xff\xfe", "evening.jsonl:5: expected text in UTF-8"),
        (b"[" * 100_000, "evening.jsonl:5: not valid JSON: nested too deeply"),
        (b"9" * 10_000, "evening.jsonl:5: not valid JSON: a number has too many digits"),
    ],
)
def test_a_line_that_is_no_json_is_named(told, line, said):
    told[4] = line
    assert refused(told).startswith(said)


def test_lines_that_miss_their_end_or_have_too_many_are_refused(told):
    wanted = len(told) - 1
    assert refused(told[:-1]) == (
        f"evening.jsonl: expected {wanted} entries, got {wanted - 1}: the end is missing"
    )
    assert f"expected at most {wanted}, got {wanted}" in refused([*told, told[-1]])
    assert "got nothing" in refused([b"\n"])


def test_an_infinite_margin_comes_back(tmp_path):
    endless = NewEntry("dispute", {"answer": {"margin_mm": -math.inf}}, at=FACTS.started_at)
    game = GameFile.create(tmp_path / "a.tablecam", FACTS, [endless])
    raw = [line.encode() for line in lines.lines_of(copy_of(game, pictures=False))]
    (entry,) = lines.copy_from_lines(raw, "lines").entries
    assert entry.document == endless.document


def test_facts_that_were_changed_are_named_by_their_line(told):
    changed_facts = changed(told[0], table_file="another")
    assert refused([b"", changed_facts, *told[1:]]).startswith("evening.jsonl:2: digest: ")


def test_blank_lines_and_a_mark_of_bytes_are_no_fault(told):
    copy = lines.copy_from_lines([b"\xef\xbb\xbf" + told[0], b"\r\n", *told[1:], b"\n"], "x")
    assert len(list(copy.entries)) == len(told) - 1


def test_a_line_that_is_longer_than_any_picture_is_refused(told, monkeypatch):
    monkeypatch.setattr(documents, "MOST_BYTES", len(told[1]) - 1)
    assert refused(told).startswith("evening.jsonl:2: expected at most 0 MB")
