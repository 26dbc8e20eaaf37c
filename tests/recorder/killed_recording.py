"""Records a game from a folder again and again, each time by a process that is then killed.

Each line that it reads is the step at which a life begins: it forks, and the child continues the
folder's recording, or a new one. At each step a hand moves a unit, the table settles, and players
act; both are printed once confirmed, a line each.
"""

from __future__ import annotations

import itertools
import os
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import cv2

from tablecam.capture.frame import Frame
from tablecam.record.game_file import GameFacts
from tablecam.recorder.game_recorder import GameRecorder, new_game_file
from tablecam.recorder.recording import Recording
from tablecam.recorder.resuming import unfinished_game
from tablecam.referee.referee import Referee
from tablecam.referee.seats import SHARED
from tablecam.rules.games import game_of
from tablecam.simulate.demo import demo_camera, demo_roster, embedded_demo
from tablecam.simulate.rendering.render import PLAIN
from tablecam.simulate.source import SimulatedSource
from tablecam.table.model import Position
from tablecam.vision.watching import Sight
from tests.referee.tables import moved, table

TABLE_FILE = "the table of a recording that is killed"
CAMERA = demo_camera(960, 540)


def lying(step: int) -> Position:
    """The position after `step` steps: never the same twice."""
    return moved(table(), "F1", 5.0 + step / 4)


def record(folder: Path, first_step: int, frame: Frame) -> None:
    """Record until the process is killed."""
    facts = GameFacts("maurice-lite", TABLE_FILE, datetime(2026, 5, 1, 19, 30, tzinfo=UTC))
    kept = GameRecorder(partial(new_game_file, folder, facts), unfinished_game(folder, TABLE_FILE))
    recording = Recording(kept, demo_roster(), begins_with_moves=True)
    recording.start()
    game = game_of("maurice-lite")
    assert game is not None
    referee = Referee(game, store=kept)
    unfinished = kept.unfinished()
    if unfinished is None:
        referee.begin(table(), {"active": "french"}, SHARED)
    else:
        referee.resume(unfinished)
    for step in itertools.count(first_step):
        recording.watch(Sight((), None, None, CAMERA), frame)  # type: ignore[arg-type] # of no use here
        recording.settle(lying(step))
        say("position", step)
        referee.table_at_rest(lying(step))
        referee.act(SHARED, {"type": "overrule", "why": str(step)})
        say("deed", step)
        if step == 1:
            recording.wait()  # for its picture: later ones are made meanwhile


def say(kind: str, step: int) -> None:
    sys.stdout.write(f"{os.getpid()} {kind} {step}\n")
    sys.stdout.flush()


def main(folder: Path) -> None:
    """Start one life per line of input."""
    cv2.setNumThreads(1)  # threads of a pool do not outlive a fork
    frame = SimulatedSource(embedded_demo(), CAMERA, is_paced=False, look=PLAIN).read()
    assert frame is not None
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            record(folder, int(line), frame)
        os.waitpid(child, 0)
        sys.stdout.write("dead\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
