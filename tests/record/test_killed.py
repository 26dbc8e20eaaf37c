"""A game's file survives a process that is killed at any moment: real processes, really killed."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tablecam.record.disputes import dispute_picture, dispute_position, disputes
from tablecam.record.game_file import GameFile
from tests.record.games import FACTS, add, pictures, position
from tests.record.killed import IN_EACH

KILLS = 20
PROJECT = Path(__file__).resolve().parents[2]


def confirmed_before_the_kill(folder, lines):
    """Let a process keep disputes, kill it after it has said so much, while it goes on."""
    script = [sys.executable, "-m", "tests.record.killed", str(folder)]
    with subprocess.Popen(script, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as process:
        said = [process.stdout.readline().split() for _ in range(lines)]
        process.kill()
        rest = process.stdout.read().splitlines(keepends=True)
        said += [line.split() for line in rest if line.endswith("\n")]
    return [(int(file), int(number)) for file, number in said]


@pytest.mark.parametrize("kill", range(KILLS))
def test_whatever_was_confirmed_is_whole_after_a_kill(kill, tmp_path):
    confirmed = confirmed_before_the_kill(tmp_path, random.Random(kill).randrange(1, 25))
    files = sorted(tmp_path.glob("[0-9]*.tablecam"), key=lambda path: int(path.stem))
    assert {file for file, _ in confirmed} <= {int(path.stem) for path in files}
    for path in files:
        game = GameFile.open(path)
        kept = disputes(game)
        said = [number for file, number in confirmed if file == int(path.stem) and number]
        assert len(said) <= len(kept) <= min(len(said) + 1, IN_EACH)  # one was being written
        assert [dispute["number"] for dispute in kept] == list(range(1, len(kept) + 1))
        for number in range(1, len(kept) + 1):
            assert dispute_position(game, number) == position(number)
            plain, drawn = pictures(number)
            assert dispute_picture(game, number, plain=True) == plain
            assert dispute_picture(game, number) == drawn
        assert game.facts() == FACTS
        assert add(game, 99) == len(kept) + 1  # and the game goes on
