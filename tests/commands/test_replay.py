"""`tablecam replay`: a recorded game read, checked and repaired in the terminal."""

import json
import shutil
import sqlite3
from dataclasses import replace

import tablecam
from tablecam.cli import main
from tablecam.record.entries import NewEntry
from tablecam.record.game_file import GameFile
from tablecam.record.plays import plays
from tests.commands.refusals import refusal
from tests.record.games import FACTS, forged
from tests.replay.golden_recordings import rows_of


def said(capsys, *arguments, code=0):
    assert main(["replay", *map(str, arguments)]) == code
    told = capsys.readouterr()
    assert not told.err
    return told.out


def refused(capsys, *arguments):
    return refusal(capsys, "replay", *arguments)


def test_the_log_tells_rounds_moves_rulings_disputes_and_what_was_taken_back(game, capsys):
    told = said(capsys, game.path)
    assert told.startswith("Maurice Lite, started 2026-05-01 19:30: 34 entries in 16 min\n")
    for line in (
        "── a game begins: French (2 units) v British (2 units); active French ──",
        "19:32:30      6 French declare: march  [M-4.4]\n                French draw 1 card",
        "F1 is moved by hand, 120 mm",
        "march? no: F1 would need 5.00 BW but may move only 4: 40 mm too far  [M-6.17]",
        "F1 intends to end just outside 10 BW of B1",
        "taken back: F1 marches 3.00 BW of 4  (too close to call, decided by the mover's intent:",
        "the last action taken back, back to before: F1 marches 3.00 BW of 4",
        "the camera was bumped",
        "overruled: B1 at 2 disruption (the deck was cut wrong)",
        "dispute 1: Are F1 and B1 within 4 BW of each other? no, by 320.0 mm  [M-1.9]",
        "── round 2, British ── 19:46, 16 min in ──",
    ):
        assert line in told
    assert max(map(len, told.splitlines())) <= 120


def test_dice_stand_beside_what_came_of_them(battle, capsys):
    told = said(capsys, battle.path)
    entries = battle.entries("deed")
    roll = next(entry for entry in entries if entry.document["entry"].get("values"))
    values = " ".join(map(str, roll.document["entry"]["values"]))
    assert f"[{values}]" in told
    assert "the British army has no morale left: French win" in told


def test_no_card_of_a_hand_is_told(battle, capsys):
    (play,) = plays(battle)
    drawn = {card for entry in play["log"] for card in entry.get("cards") or ()}
    assert drawn
    played = {entry.get("card") for entry in play["log"]}
    told = said(capsys, battle.path, "--json")
    assert not any(f'"{card}"' in told for card in drawn - played)


def test_json_has_every_line_with_its_entry_and_time(game, capsys):
    document = json.loads(said(capsys, game.path, "--json"))
    assert (document["format"], document["version"], document["entries"]) == ("tablecam.log", 1, 34)
    assert (document["id"], document["game"]) == (FACTS.id, FACTS.game)
    undone = [line for line in document["lines"] if line["is_undone"]]
    assert [line["text"] for line in undone] == ["F1 marches 3.00 BW of 4"]
    assert undone[0]["note"].startswith("too close to call")
    assert undone[0] == undone[0] | {"kind": "march", "entry": 20, "rule": "M-6.17", "dice": []}
    assert undone[0]["at"] == "2026-05-01T19:39:30+00:00"
    assert [line["entry"] for line in document["lines"]] == sorted(
        line["entry"] for line in document["lines"]
    )


def test_a_recording_is_read_while_it_is_being_written(game, tmp_path, capsys):
    path = shutil.copy(game.path, tmp_path / "running.tablecam")
    writing = GameFile.open(path)
    before = said(capsys, path)
    with writing._engine.begin():  # a write is under way
        assert said(capsys, path) == before
    writing.append(NewEntry("notice", {"text": "the lamp went out"}))
    assert "the lamp went out" in said(capsys, path)


def test_a_recording_without_entries_or_of_an_unknown_game_is_read(tmp_path, capsys):
    empty = GameFile.create(tmp_path / "empty.tablecam", FACTS).path
    assert said(capsys, empty) == "Maurice Lite, started 2026-05-01 19:30: no entries\n"
    assert "nothing to check" in said(capsys, empty, "--check")


def test_documents_of_another_shape_are_named_in_the_log(tmp_path, capsys):
    entries = [NewEntry(kind, {"a": 1}) for kind in ("play", "deed", "move", "ruling", "dispute")]
    path = GameFile.create(tmp_path / "odd.tablecam", FACTS, entries).path
    told = said(capsys, path)
    for kind in ("play", "deed", "move", "ruling", "dispute"):
        assert f"this {kind} cannot be read" in told


def test_a_check_tells_how_much_holds(game, battle, capsys):
    told = said(capsys, game.path, "--check")
    assert told.startswith(
        "everything agrees: 1 game, 11 actions, 1 undo, 1 remark, 9 events, 13 states"
    )
    assert "3 rulings, 1 dispute\n" in told
    document = json.loads(said(capsys, battle.path, "--check", "--json"))
    assert (document["holds"], document["difference"]) == (True, None)
    assert document["checked"]["rolls"] > 1


def test_a_check_that_fails_names_the_entry_and_exits_with_1(game, tmp_path, capsys):
    def nearer(document):
        return json.loads(json.dumps(document).replace("40.0", "0.4"))

    path = forged(game, tmp_path / "changed.tablecam", nearer, entry=14)
    told = said(capsys, path, "--check", code=1)
    assert told.splitlines()[1] == (
        "first difference: entry 14 (ruling, 19:36:30): "
        "answer.margin_mm: recorded -0.4, but the rules give -40.0"
    )
    document = json.loads(said(capsys, path, "--check", "--json", code=1))
    assert document["holds"] is False
    assert (document["difference"]["entry"], document["difference"]["kind"]) == (14, "ruling")


def test_what_is_only_drawn_otherwise_is_told_calmly_and_the_check_holds(game, tmp_path, capsys):
    assert "otherwise" not in said(capsys, game.path, "--check")

    def redrawn(document):
        first, *rest = document["ghost"]
        return document | {"ghost": [first | {"x_mm": 7}, *rest]}

    path = forged(game, tmp_path / "redrawn.tablecam", redrawn, entry=14)
    told = said(capsys, path, "--check")
    assert told.startswith("everything agrees: ")
    assert "\n1 entry is now drawn differently; the rulings are the same\n" in told
    assert json.loads(said(capsys, path, "--check", "--json"))["reworked"] == 1


def test_a_check_says_when_another_tablecam_has_recorded_the_game(game, tmp_path, capsys):
    path = forged(game, tmp_path / "older.tablecam", written_by="0.0.1")
    assert f"\nrecorded by tablecam 0.0.1; this is {tablecam.__version__}\n" in said(
        capsys, path, "--check"
    )
    document = json.loads(said(capsys, path, "--check", "--json"))
    assert (document["written_by"], document["checked_by"]) == ("0.0.1", tablecam.__version__)


def test_a_repair_saves_tells_and_leaves_the_damaged_file_alone(game, tmp_path, capsys):
    path = shutil.copy(game.path, tmp_path / "damaged.tablecam")
    path.write_bytes(b"\xff" * 4096 + path.read_bytes()[4096:])
    before = path.read_bytes()
    assert "another kind of file" in refused(capsys, path)
    told = said(capsys, path, "--repair", tmp_path / "saved.tablecam")
    assert told.splitlines() == [
        "saved: 34 entries, 12 pictures",
        "nothing is known to be lost",
        "damaged.tablecam: expected a tablecam recording, got another kind of file",
    ]
    assert rows_of(tmp_path / "saved.tablecam") == rows_of(game.path)
    assert path.read_bytes() == before


def test_a_repair_writes_over_nothing(game, tmp_path, capsys):
    out = tmp_path / "mine"
    out.write_text("somebody's own")
    assert "mine: a file of this name already exists" in refused(capsys, game.path, "--repair", out)
    assert out.read_text() == "somebody's own"
    assert "a file of this name already exists" in refused(capsys, game.path, "--repair", game.path)
    assert "got a folder" in refused(capsys, game.path, "--repair", ".")


def test_what_is_no_recording_is_refused(game, tmp_path, capsys):
    (tmp_path / "table.toml").write_text("format = 'tablecam.table'")
    cut = tmp_path / "cut.tablecam"
    cut.write_bytes(game.path.read_bytes()[:9000])
    for options in ((), ("--check",), ("--json",)):
        assert "another kind of file" in refused(capsys, tmp_path / "table.toml", *options)
        assert "there is no such file" in refused(capsys, tmp_path / "nothing", *options)
        assert "it is damaged" in refused(capsys, cut, *options)
    out = tmp_path / "saved.tablecam"
    assert "nothing can be saved" in refused(capsys, tmp_path / "table.toml", "--repair", out)
    assert not out.exists()


def test_what_cannot_be_asked_for_at_once_is_refused(game, tmp_path, capsys):
    out = tmp_path / "saved.tablecam"
    for option in ("--check", "--json", "--page"):
        assert "--repair: expected it alone" in refused(capsys, game.path, option, "--repair", out)
    for option in ("--check", "--json"):
        assert "--page: expected it alone" in refused(capsys, game.path, option, "--page")
    assert not out.exists()


def test_a_game_without_rules_is_read_but_cannot_be_checked(tmp_path, capsys):
    entries = [NewEntry("notice", {"text": "tea"})]
    path = GameFile.create(tmp_path / "w.tablecam", replace(FACTS, game="whist"), entries).path
    assert "tea" in said(capsys, path)
    assert "has no rules for whist" in refused(capsys, path, "--check")


def test_what_players_wrote_steers_no_terminal(tmp_path, capsys):
    words = "\x1b]0;mine\x07 \x1b[2J\u202eso"
    notice = NewEntry("notice", {"text": words})
    path = GameFile.create(tmp_path / "a.tablecam", FACTS, [notice]).path
    told = said(capsys, path)
    assert "]0;mine" in told
    assert not {"\x1b", "\x07", "\u202e"} & set(told)


def test_a_picture_that_was_changed_is_told_by_replay_check_and_repair(game, tmp_path, capsys):
    path = shutil.copy(game.path, tmp_path / "changed.tablecam")
    with sqlite3.connect(path) as plain:
        plain.execute("UPDATE picture SET image = CAST(image || x'00' AS BLOB) WHERE entry = 3")
    plain.close()
    fault = "changed since it was written: entry 3 (picture) has a picture that was changed"
    assert main(["replay", str(path)]) == 1
    assert fault in capsys.readouterr().err
    told = said(capsys, path, "--check", code=1)
    assert fault in told
    assert "everything agrees" not in told
    document = json.loads(said(capsys, path, "--check", "--json", code=1))
    assert (document["holds"], document["difference"]) == (False, None)
    assert (document["digests"]["hold"], document["digests"]["entries"]) == (False, 34)
    told = said(capsys, path, "--repair", tmp_path / "saved.tablecam")
    assert "kept, but changed (they or their pictures): 1 picture (3)" in told
    assert "known to be lost" not in told
