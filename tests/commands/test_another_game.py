"""Commands on a game unknown to them: the toy skirmish."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from random import Random

import pytest

from tablecam.cli import main
from tablecam.rules.games import game_of, known_games
from tablecam.rules.play import Play
from tablecam.table.model import TableSize
from tablecam.table.table_file import read_table_file
from tablecam.testing import position, unit
from tests.replay.recorded import recorded
from tests.rules.conformance import play_at_random

TABLE = TableSize(1200, 800, 30)


@pytest.fixture
def recording(toys: None, tmp_path: Path) -> Path:
    rovers = unit("R1", x_mm=300, y_mm=300, side="rovers", first_tag=10)
    bandits = unit("B1", x_mm=300, y_mm=500, heading_deg=270, side="bandits", first_tag=20)
    begun = position(rovers, bandits, game="skirmish", table=TABLE)
    play = Play(game_of("skirmish"), begun, chance=Random(1))
    play_at_random(play, 1, most=99)
    return recorded(play, tmp_path / "a.tablecam").path


def test_its_recording_is_replayed_and_checked(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(recording)]) == 0
    assert "turn 2: Rovers" in capsys.readouterr().out
    assert main(["replay", str(recording), "--check"]) == 0
    assert "everything agrees: 1 game" in capsys.readouterr().out


@pytest.mark.parametrize("way", ["--message", "--jsonl"])
def test_its_recording_is_restored_from_what_was_exported(recording: Path, way: str) -> None:
    exported, restored = recording.with_suffix(".text"), recording.with_name("b.tablecam")
    assert main(["export", str(recording), way, str(exported)]) == 0
    assert main(["import", str(exported), "--out", str(restored)]) == 0
    assert main(["replay", str(restored), "--check"]) == 0


def test_its_report_counts_its_turns(recording: Path) -> None:
    report = recording.with_suffix(".md")
    assert main(["export", str(recording), "--text", str(report)]) == 0
    text = report.read_text(encoding="utf-8")
    assert "Rovers against Bandits" in text
    assert "3 turns in" in text
    assert "The game is over." in text


def test_a_table_file_may_name_it(toys: None, tmp_path: Path) -> None:
    demo = (files("tablecam.simulate") / "demo_table.toml").read_text(encoding="utf-8")
    path = tmp_path / "table.toml"
    path.write_text(demo.replace("maurice-lite", "skirmish"), encoding="utf-8")
    assert read_table_file(path, known_games()).game == "skirmish"
    assert main(["print", "--table", str(path), "--out", str(tmp_path / "tags.pdf")]) == 0
