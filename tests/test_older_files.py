"""Files that tablecam 0.1.0 wrote still open, with the same contents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tablecam.cli import main
from tablecam.record.camera_file import read_camera_file
from tablecam.rules.games import known_games
from tablecam.table.position_file import position_to_json, read_position_file
from tablecam.table.table_file import read_table_file

OLD = Path(__file__).parent / "fixtures" / "0.1.0"


def test_an_older_recording_holds_when_it_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(OLD / "game.tablecam"), "--check"]) == 0
    assert "everything agrees: 1 game, 5 actions, 3 events" in capsys.readouterr().out


def test_an_older_recording_tells_its_moves(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(OLD / "game.tablecam")]) == 0
    assert "F1 charges B1: goes 2.00 BW ahead  [M-8.5]" in capsys.readouterr().out


def test_an_older_position_is_the_same_when_it_is_written_again() -> None:
    document = json.loads((OLD / "position.json").read_text(encoding="utf-8"))
    position = read_position_file(OLD / "position.json", known_games())
    assert position_to_json(position) == document
    assert len(position.units) == 22


def test_an_older_table_and_camera_fit_each_other() -> None:
    roster = read_table_file(OLD / "table.toml", known_games())
    assert [len(roster.units), len(roster.commanders), roster.game] == [22, 2, "maurice-lite"]
    camera = read_camera_file(OLD / "camera.json").camera(roster.table_tags_mm)
    assert (camera.lens.width_px, camera.lens.height_px) == (2560, 1440)
