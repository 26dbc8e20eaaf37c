"""Recordings for testing commands; they are read and copied, never written to."""

from collections.abc import Iterator
from importlib.resources import files
from unittest.mock import patch

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


@pytest.fixture(autouse=True, scope="session")
def own_games(tmp_path_factory) -> Iterator[None]:
    """Keeps games that commands record apart from those of whoever runs the tests."""
    folder = tmp_path_factory.mktemp("games")
    with patch("platformdirs.user_data_path", lambda *_, **__: folder):
        yield


@pytest.fixture
def house_table(tmp_path):
    """The house sample's table on hexes with its files, for printing and changing."""
    house = files("tablecam.rules.maida_1806")
    for name in ("house.map.toml", "house.charts.toml", "house.scenario.toml"):
        (tmp_path / name).write_text((house / name).read_text(encoding="utf-8"), encoding="utf-8")
    path = tmp_path / "table.toml"
    path.write_text((house / "demo_table.toml").read_text(encoding="utf-8"), encoding="utf-8")
    return path
