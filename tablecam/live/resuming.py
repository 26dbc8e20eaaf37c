"""Finds the game that was being played on a table when the program last ended."""

from __future__ import annotations

import logging
from pathlib import Path

from tablecam.errors import BadInput
from tablecam.record.game_file import SUFFIX, GameFile
from tablecam.record.plays import newest_play
from tablecam.record.writer_lock import WriterLock
from tablecam.rules.games import game_of
from tablecam.rules.play import Play

log = logging.getLogger(__name__)


def is_being_played(recording: Path) -> bool:
    """Whether another program writes to a recording now."""
    try:
        lock = WriterLock.taken(recording)
    except OSError:
        return False
    if lock is not None:
        lock.release()
    return lock is None


def unfinished_game(folder: Path, table_file: str) -> GameFile | None:
    """The newest game in a folder that was played on this very table, if it is not over.

    A file that cannot be read is left alone, and named in the log.
    """
    for path in sorted(folder.glob(f"*{SUFFIX}"), reverse=True):
        try:
            facts = GameFile.open(path, read_only=True).facts()
            if facts.table_file == table_file:
                return _unfinished(path, facts.game)
        except BadInput as error:
            log.warning("this game is left alone: %s", error)
    return None


def _unfinished(path: Path, name: str) -> GameFile | None:
    game = game_of(name)
    if game is None:
        return None
    file = GameFile.open(path)
    document = newest_play(file)
    if document is None or Play.from_json(game, document).asked().is_over:
        return None
    return file
