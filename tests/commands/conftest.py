"""Recordings that commands are tried on; they are read and copied, never written to."""

import pytest

from tablecam.record.game_file import GameFile
from tests.record.games import FACTS
from tests.replay.evening import evening
from tests.replay.golden_recordings import DEALT, golden


@pytest.fixture(scope="session")
def game(tmp_path_factory):
    """An evening at a watched table."""
    path = tmp_path_factory.mktemp("recordings") / "evening.tablecam"
    return GameFile.create(path, FACTS, evening())


@pytest.fixture(scope="session")
def battle(tmp_path_factory):
    """A whole game with dealt cards."""
    path = tmp_path_factory.mktemp("recordings") / "battle.tablecam"
    return GameFile.create(path, FACTS, golden(DEALT))
