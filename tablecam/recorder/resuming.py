"""Finds the game that was in progress on a table when the program last ended."""

from __future__ import annotations

import logging
from datetime import datetime
from pathlib import Path

from tablecam.errors import BadInput
from tablecam.record.entries import GameFacts
from tablecam.record.game_file import GameFile, games_in
from tablecam.record.plays import newest_play
from tablecam.record.writer_lock import WriterLock
from tablecam.rules.games import game_of
from tablecam.rules.play import Play

log = logging.getLogger(__name__)


def is_being_played(recording: Path) -> bool:
    """Whether another program is writing to a recording now."""
    try:
        lock = WriterLock.acquire(recording)
    except OSError:
        return False
    if lock is not None:
        lock.release()
    return lock is None


def unfinished_game(folder: Path, table_file: str) -> GameFile | None:
    """Returns the newest game in a folder that was played on this very table, if it is not over.

    A file that cannot be read is skipped and logged.
    """
    # By number: files may be renamed, and clocks set back.
    for path, facts in sorted(games_in(folder), key=_order, reverse=True):
        try:
            if facts.table_file == table_file:
                # Only the newest counts: an older unfinished game was abandoned for it.
                return _unfinished(path, facts.game)
        except BadInput as error:
            log.warning("skipping this recording: %s", error)
    return None


def _order(game: tuple[Path, GameFacts]) -> tuple[int, datetime, str]:
    """Returns a key that rises with each game of a folder, from its number there."""
    path, facts = game
    return facts.place, facts.started_at, path.name


def _unfinished(path: Path, name: str) -> GameFile | None:
    # Without a rule system there is no game to go on with.
    game = game_of(name)
    if game is None:
        return None
    file = GameFile.open(path)
    document = newest_play(file)
    if document is None or Play.from_json(game, document).asked().is_over:
        return None
    return file
