"""A map that slips under its counters is followed, with a question once it has slipped far."""

import math

import pytest

from tablecam.errors import BadInput
from tablecam.live.map_follower import MapFollower
from tests.live_calibration.test_hex_fit import TRUE, table_of, untidy


class Follower(MapFollower):
    """A map follower that remembers what it has said."""

    def __init__(self):
        self.said = []
        super().__init__(TRUE, self.said.append, lambda: None)

    @property
    def off_mm(self):
        """The distance of the followed map from its listed place."""
        position = self.on_map(table_of(TRUE, []))
        return math.dist(position.table.hex_map.origin_mm, TRUE.origin_mm)


@pytest.fixture
def follower():
    return Follower()


def test_a_small_slip_is_told_and_followed_once(follower):
    table = table_of(TRUE, untidy(TRUE, (1.8, 0.6), 20))
    follower.settle(table)
    assert follower.off_mm == pytest.approx(math.hypot(1.8, 0.6), abs=0.8)
    assert len(follower.said) == 1
    assert follower.said[0].startswith("The map slipped by ")
    # It now lies where it was followed to.
    follower.settle(table)
    assert len(follower.said) == 1
    assert follower.asked_mm is None


def test_a_slip_above_3_mm_is_asked_about_and_followed_when_players_agree(follower):
    follower.settle(table_of(TRUE, untidy(TRUE, (4.0, -1.5), 20)))
    assert follower.asked_mm == pytest.approx(math.hypot(4.0, 1.5), abs=0.8)
    assert follower.off_mm == 0.0
    follower.follow()
    assert follower.asked_mm is None
    assert follower.off_mm == pytest.approx(math.hypot(4.0, 1.5), abs=0.8)


def test_the_question_lapses_when_the_map_is_pushed_back(follower):
    follower.settle(table_of(TRUE, untidy(TRUE, (4.0, -1.5), 20)))
    follower.settle(table_of(TRUE, untidy(TRUE, (0.0, 0.0), 20)))
    assert follower.asked_mm is None
    with pytest.raises(BadInput, match="the map has not slipped"):
        follower.follow()


def test_a_map_that_creeps_is_asked_about_once_it_has_crept_far(follower):
    for step in range(1, 5):
        follower.settle(table_of(TRUE, untidy(TRUE, (1.3 * step, 0.0), 24, seed=step)))
    assert follower.off_mm <= 3.0
    assert follower.asked_mm is not None


def test_counters_of_a_still_map_move_nothing(follower):
    for seed in range(10):
        follower.settle(table_of(TRUE, untidy(TRUE, (0.0, 0.0), 15, seed)))
    assert follower.off_mm == 0.0
    assert follower.said == []
