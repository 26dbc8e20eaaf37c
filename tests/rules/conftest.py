"""Rule systems that only tests know."""

import pytest

from tablecam.rules.games import game_of


@pytest.fixture
def nim(toys):
    return game_of("nim")


@pytest.fixture
def skirmish(toys):
    return game_of("skirmish")
