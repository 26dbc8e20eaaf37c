"""`tablecam import`: recordings restored from lines and messages; one line for anything else."""

import io
import json
import sys

import pytest

from tablecam.cli import main
from tablecam.record.game_file import GameFile
from tablecam.replay.copies import copy_of
from tablecam.replay.lines import lines_of
from tablecam.replay.text_form import text_of
from tests.commands.refusals import refusal
from tests.replay.golden_recordings import made, rows_of


@pytest.fixture(scope="module")
def game(tmp_path_factory):
    return made(tmp_path_factory.mktemp("import") / "golden.tablecam")


@pytest.fixture(scope="module")
def told(game):
    return "\n".join(lines_of(copy_of(game, pictures=True))) + "\n"


def imported(path, tmp_path):
    out = tmp_path / "again.tablecam"
    assert main(["import", str(path), "--out", str(out)]) == 0
    return rows_of(out)


def refused(capsys, path, out):
    return refusal(capsys, "import", path, "--out", out)


@pytest.mark.parametrize("before", ["", "\n\n", "\ufeff"])
def test_json_lines_give_the_same_recording(game, told, before, tmp_path, capsys):
    path = tmp_path / "evening.jsonl"
    path.write_text(before + told, encoding="utf-8")
    assert imported(path, tmp_path) == rows_of(game.path)
    said = capsys.readouterr()
    assert said.out == ""
    assert f"imported {game.last()} entries into " in said.err


def test_a_message_gives_the_same_recording(game, tmp_path):
    path = tmp_path / "message.txt"
    quoted = "".join(f"> {line}\r\n" for line in text_of(game).splitlines())
    path.write_text(f"Anna wrote:\n{quoted}\nBye!", encoding="utf-8")
    assert imported(path, tmp_path) == rows_of(game.path)


@pytest.mark.parametrize("form", ["lines", "message"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_what_a_windows_shell_wrote_into_a_file_gives_the_same_recording(
    game, told, form, encoding, tmp_path
):
    path = tmp_path / "wide.txt"
    text = told if form == "lines" else text_of(game)
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    path.write_text(mark + text, encoding=encoding, newline="\r\n")
    assert imported(path, tmp_path) == rows_of(game.path)


def test_standard_input_is_read_too(game, told, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(told.encode()), "utf-8"))
    assert imported("-", tmp_path) == rows_of(game.path)


def test_a_bad_line_is_named_and_nothing_is_left(told, tmp_path, capsys):
    lines = told.splitlines()
    lines[60] = json.dumps(json.loads(lines[60]) | {"kind": "picnic"})
    path, out = tmp_path / "evening.jsonl", tmp_path / "out" / "again.tablecam"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert "evening.jsonl:61: kind: expected " in refused(capsys, path, out)
    assert list(out.parent.iterdir()) == []


def test_nothing_is_written_over(game, told, tmp_path, capsys):
    path, out = tmp_path / "evening.jsonl", tmp_path / "mine.txt"
    path.write_text(told, encoding="utf-8")
    out.write_text("somebody's own")
    assert "mine.txt: a file of this name already exists" in refused(capsys, path, out)
    assert out.read_text() == "somebody's own"
    assert "evening.jsonl: a file of this name already exists" in refused(capsys, path, path)
    assert path.read_text(encoding="utf-8") == told


def test_what_is_neither_lines_nor_a_text_is_refused(game, tmp_path, capsys):
    out = tmp_path / "out.tablecam"
    assert "this is already a recording" in refused(capsys, game.path, out)
    assert "there is no such file" in refused(capsys, tmp_path / "nothing", out)
    assert "cannot be read" in refused(capsys, tmp_path, out)
    for name, held, said in (
        ("empty", b"", "got nothing"),
        ("table.toml", b"format = 'tablecam.table'\n", "expected a recording as text"),
        ("noise", bytes(range(256)) * 40, "expected a recording as text"),
    ):
        (tmp_path / name).write_bytes(held)
        assert said in refused(capsys, tmp_path / name, out)
    assert not out.exists()


def test_lines_of_a_newer_version_are_refused(told, tmp_path, capsys):
    first, rest = told.split("\n", 1)
    path = tmp_path / "newer.jsonl"
    path.write_text(json.dumps(json.loads(first) | {"version": 2}) + "\n" + rest, encoding="utf-8")
    assert "newer.jsonl:1: version: expected 1, got 2" in refused(capsys, path, tmp_path / "out")


def test_what_was_imported_can_be_added_to(game, told, tmp_path):
    path = tmp_path / "evening.jsonl"
    path.write_text(told, encoding="utf-8")
    imported(path, tmp_path)
    again = GameFile.open(tmp_path / "again.tablecam")
    again.append(game.entries()[0])
    assert again.last() == game.last() + 1


@pytest.mark.parametrize("out", [".", "..", "/", ""])
def test_a_folder_to_write_to_is_refused_in_one_line(told, tmp_path, capsys, out):
    path = tmp_path / "evening.jsonl"
    path.write_text(told, encoding="utf-8")
    assert "expected a new file, got a folder" in refused(capsys, path, out)
