"""All seats see what one seat points out."""

import pytest

from tablecam.live.pointing import MOST_KEPT, Pointing


@pytest.fixture
def told():
    return []


@pytest.fixture
def pointing(told):
    return Pointing(lambda: told.append(True))


def kept(pointing):
    return [(tape.by, tape.a, tape.b) for tape in pointing.now.tapes]


def test_a_seat_removes_one_of_its_own_tapes(pointing, told):
    pointing.keep("french", "unit:F1", "unit:B1")
    pointing.keep("british", "unit:F1", "unit:B1")
    pointing.remove("french", "unit:F1", "unit:B1")
    assert kept(pointing) == [("british", "unit:F1", "unit:B1")]
    assert len(told) == pointing.now.version == 3


def test_the_same_tape_is_kept_once_and_the_oldest_gives_way(pointing):
    for number in range(MOST_KEPT + 1):
        pointing.keep("french", "unit:F1", f"unit:B{number}")
    pointing.keep("french", "unit:F1", "unit:B1")
    ends = [b for _, _, b in kept(pointing)]
    assert ends == [*(f"unit:B{number}" for number in range(2, MOST_KEPT + 1)), "unit:B1"]


def test_a_seat_points_at_one_place(pointing):
    pointing.ping("french", 100.0, 200.0)
    pointing.ping("british", 1.0, 2.0)
    pointing.ping("french", 300.0, 400.0)
    pings = {ping.by: (ping.x_mm, ping.y_mm) for ping in pointing.now.pings}
    assert pings == {"french": (300.0, 400.0), "british": (1.0, 2.0)}
