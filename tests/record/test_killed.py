"""A game's file survives the killing of a process at any moment: real processes, really killed."""

import itertools
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tablecam.record.disputes import dispute_picture, dispute_position, disputes
from tablecam.record.game_file import GameFile
from tests.record.games import FACTS, add, pictures, position
from tests.record.killed import ENDED, IN_EACH

KILLS = 20
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows both kill at once
PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def starting():
    """A process that starts the processes to kill."""
    script = [sys.executable, "-m", "tests.record.killed"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(script, cwd=PROJECT, text=True, **pipes) as process:
        yield process


def confirmed_before_the_kill(starting, folder, lines):
    """Let a process record disputes, and kill it at work after `lines` confirmations."""
    starting.stdin.write(f"{folder}\n")
    starting.stdin.flush()
    number = int(next(starting.stdout))
    said = [*itertools.islice(starting.stdout, lines)]
    os.kill(number, KILL)
    said += itertools.takewhile(lambda line: line != f"{ENDED}\n", starting.stdout)
    return [tuple(map(int, line.split())) for line in said]


@pytest.mark.parametrize("kill", range(KILLS))
def test_whatever_was_confirmed_is_whole_after_a_kill(kill, starting, tmp_path):
    confirmed = confirmed_before_the_kill(starting, tmp_path, random.Random(kill).randrange(1, 25))
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
