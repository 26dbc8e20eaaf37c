"""`tablecam export`: recordings exported; nothing overwritten; one line for bad input."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tablecam.cli import main
from tablecam.record.entries import NewEntry
from tablecam.record.game_file import GameFile
from tablecam.replay.moment import position_at
from tablecam.table.position_file import position_to_json
from tests.commands.refusals import refusal
from tests.record.games import FACTS
from tests.replay.golden_recordings import rows_of


def exported(capsysbinary, *arguments):
    assert main(["export", *map(str, arguments)]) == 0
    told = capsysbinary.readouterr()
    files = [path for path in arguments if isinstance(path, Path) and path != arguments[0]]
    assert told.err.decode() == "".join(f"{path}: written\n" for path in files)
    return told.out.decode()


def refused(capsys, *arguments):
    return refusal(capsys, "export", *arguments)


def test_lines_with_pictures_give_the_same_recording_again(game, tmp_path, capsysbinary):
    out, again = tmp_path / "evening.jsonl", tmp_path / "again.tablecam"
    exported(capsysbinary, game.path, "--jsonl", out, "--pictures")
    assert main(["import", str(out), "--out", str(again)]) == 0
    assert rows_of(again) == rows_of(game.path)


def test_a_message_gives_the_same_recording_again_without_pictures(game, tmp_path, capsysbinary):
    message, again = tmp_path / "message.txt", tmp_path / "again.tablecam"
    quoted = exported(capsysbinary, game.path, "--message", "-").replace("\n", "\n> ")
    message.write_text(f"Look what happened:\n> {quoted}\nSee you on Friday")
    assert main(["import", str(message), "--out", str(again)]) == 0
    assert GameFile.open(again).facts() == game.facts()
    assert GameFile.open(again).entries() == [replace(e, pictures=()) for e in game.entries()]


def test_lines_without_pictures_are_a_line_each_after_the_facts(game, capsysbinary):
    first, *others = exported(capsysbinary, game.path, "--jsonl", "-").splitlines()
    facts = json.loads(first)
    assert (facts["format"], facts["version"]) == ("tablecam.recording", 1)
    assert facts["entries"] == len(others) == game.last()
    assert [json.loads(line)["document"] for line in others] == [
        entry.document for entry in game.entries()
    ]
    assert not any("pictures" in json.loads(line) for line in others)


def test_the_report_has_a_map_and_prose_for_each_round(battle, capsysbinary):
    told = exported(capsysbinary, battle.path, "--text", "-")
    rounds = re.findall(r"^## Round (\d+), (\w+) \(\d\d:\d\d\)$", told, re.MULTILINE)
    assert [int(number) for number, _ in rounds] == [*range(1, 16)]
    chapters = re.split(r"^## ", told, flags=re.MULTILINE)
    assert sum("│" in chapter or "table is unchanged" in chapter for chapter in chapters) >= len(
        rounds
    )
    assert told.startswith("# Maurice Lite, 2026-05-01: French against British\n")
    assert "15 rounds in 35 min" in told

    assert "\\+" not in told
    assert "The British army has no morale left: French win." in told
    assert "## Losses" in told
    assert "B2 breaks and leaves the table [M-1.14]" in told
    assert "B2 at F1: 2 6 6 2, needs 5+: 2 hits." in told.replace("\n", " ")
    assert max(map(len, told.splitlines())) <= 90  # headings; everything else is 74 wide


def test_the_report_leaves_out_what_was_taken_back_and_lists_disputes(game, capsysbinary):
    told = exported(capsysbinary, game.path, "--text", "-")
    assert "F1 marches 2.00 BW of 4." in told.replace("\n", " ")
    assert "marches 3.00" not in told
    assert "Are F1 and B1 within 4 BW of each other? no, by 320.0" in told
    assert "overruled: B1 at 2 disruption (the deck was cut wrong)" in told
    assert "the camera was bumped" in told


def test_several_files_are_written_at_once(game, tmp_path, capsysbinary):
    lines, text = tmp_path / "a" / "e.jsonl", tmp_path / "a" / "e.md"
    assert exported(capsysbinary, game.path, "--jsonl", lines, "--text", text) == ""
    assert sorted(path.name for path in lines.parent.iterdir()) == ["e.jsonl", "e.md"]
    assert text.read_text(encoding="utf-8") == exported(capsysbinary, game.path, "--text", "-")


def test_a_position_is_the_one_as_of_its_entry_and_can_be_ruled_on(game, tmp_path, capsysbinary):
    for number in (1, 14, 27, game.last()):
        told = json.loads(exported(capsysbinary, game.path, "--position", number))
        assert told == position_to_json(position_at(game, number))
    dispute = next(entry for entry in game.entries("dispute"))
    told = exported(capsysbinary, game.path, "--position", dispute.number)
    assert json.loads(told) == dispute.document["position"]
    path = tmp_path / "position.json"
    path.write_text(told, encoding="utf-8")
    assert main(["rulings", str(path), "--active", "french"]) == 0
    assert b"F1" in capsysbinary.readouterr().out


def test_entries_with_positions_are_named_where_there_is_none(game, battle, tmp_path, capsys):
    for number in (0, -1, 35, 10**12):
        assert refused(capsys, game.path, "--position", number) == (
            "tablecam: --position: expected an entry from 1 to 34, with new positions at "
            f"1, 4, 11, 16, 22, 26, 32, got {number}"
        )
    assert re.search(r" and \d+ more, got 0$", refused(capsys, battle.path, "--position", 0))
    calm = GameFile.create(tmp_path / "calm.tablecam", FACTS, [NewEntry("notice", {"text": "tea"})])
    assert "expected a recording with positions" in refused(capsys, calm.path, "--position", 1)


def test_nothing_is_written_over(game, tmp_path, capsys):
    taken = tmp_path / "mine"
    taken.write_text("somebody's own")
    for option in ("--jsonl", "--text"):
        assert "mine: the file already exists" in refused(capsys, game.path, option, taken)
        assert "evening.tablecam: the file already exists" in refused(
            capsys, game.path, option, game.path
        )
    both = ("--jsonl", tmp_path / "new", "--text", taken)
    assert "mine: the file already exists" in refused(capsys, game.path, *both)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert taken.read_text() == "somebody's own"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "export: expected what to export: --jsonl, "),
        (("--pictures", "--position", 1), "--pictures: expected --jsonl"),
        (("--jsonl", "-", "--text", "-"), "--text: expected a different file from that of"),
        (("--text", "-", "--position", 1), "--position: expected a different file from that of"),
        (("--jsonl", "x", "--text", "./x"), "--text: expected a different file from that of"),
        (("--position", "first"), "'first' is not a valid integer"),
    ],
)
def test_options_that_do_not_go_together_are_refused(game, options, said, capsys):
    assert said in refused(capsys, game.path, *options)


def test_what_is_no_recording_is_refused_and_leaves_no_file(game, tmp_path, capsys):
    (tmp_path / "table.toml").write_text("format = 'tablecam.table'")
    cut, out = tmp_path / "cut.tablecam", tmp_path / "out"
    cut.write_bytes(game.path.read_bytes()[:-30_000])
    assert "another kind of file" in refused(capsys, tmp_path / "table.toml", "--text", out)
    assert "there is no such file" in refused(capsys, tmp_path / "nothing", "--jsonl", out)
    assert "it is damaged" in refused(capsys, cut, "--jsonl", out, "--pictures")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut.tablecam", "table.toml"]


@pytest.mark.parametrize("kind", ["html", "mp4", "gif", "jsonl", "text", "message"])
def test_whatever_takes_long_shows_a_person_how_far_it_has_come(
    game, kind, tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("FORCE_COLOR", "1")  # so rich takes what it writes to for a terminal
    assert main(["export", str(game.path), f"--{kind}", str(tmp_path / "out")]) == 0
    assert re.search(r"(writing|filming) [\w ]+.*100%", capsys.readouterr().err, re.DOTALL)


def test_a_folder_that_cannot_be_written_is_named(game, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert "cannot be written" in refused(capsys, game.path, "--text", tmp_path / "file" / "x")


def test_what_players_wrote_is_no_markup_in_the_report(tmp_path, capsysbinary):
    said = "<script>go()</script> [here](http://e.org) *so* `it` # \u202e\x1b[2J"
    notice = NewEntry("notice", {"text": said})
    game = GameFile.create(tmp_path / "own.tablecam", FACTS, [notice])
    told = exported(capsysbinary, game.path, "--text", "-").replace("\n  ", " ")
    assert r"\<script\>go()\</script\> \[here\](http://e.org) \*so\* \`it\` \# \[2J" in told
