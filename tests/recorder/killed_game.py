"""Serves a game from a folder again and again, each time by a process that is then killed.

Each line that it reads begins a life: it forks, and the child serves the folder's game, or a new
one, and prints its process id and its address.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from tablecam.record.entries import GameFacts
from tablecam.recorder.game_recorder import GameRecorder, new_game_file
from tablecam.recorder.resuming import unfinished_game
from tablecam.referee.referee import Referee
from tablecam.referee.seats import SHARED
from tablecam.rules.games import game_of
from tests.referee.tables import table
from tests.web.of_four import ROSTER_OF_FOUR
from tests.web.standing import StandingTable
from web import Server, create_app

TABLE_FILE = "the table of a game that is killed"


def serve(folder: Path) -> None:
    """Serve the game of a folder until the process is killed."""
    facts = GameFacts("maurice-lite", TABLE_FILE, datetime(2026, 5, 1, 19, 30, tzinfo=UTC))
    record = GameRecorder(
        partial(new_game_file, folder, facts), unfinished_game(folder, TABLE_FILE)
    )
    live = StandingTable(roster=ROSTER_OF_FOUR, position=table())
    game = game_of("maurice-lite")
    assert game is not None
    live.referee = Referee(game, store=record)
    unfinished = record.unfinished()
    if unfinished is None:
        live.referee.begin(table(), {"active": "french"}, SHARED)
    else:
        live.referee.resume(unfinished)
    server = Server(create_app(live), port=0)
    sys.stdout.write(f"{os.getpid()} {server.address}\n")
    sys.stdout.flush()
    server.run()


def main(folder: Path) -> None:
    """Start one life per line of input."""
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            serve(folder)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
