"""Duplicate or late taps: each counts once, whatever is asked by now."""

import pytest

from tablecam.errors import BadInput
from tablecam.referee.referee import Referee
from tablecam.referee.refusals import OutOfDate
from tablecam.referee.seat_view import seat_view
from tablecam.referee.seats import SHARED, player
from tablecam.rules.games import game_of
from tests.referee.marching import BRITISH, FRENCH, act, marching
from tests.referee.tables import moved, table

DONE = {"type": "done"}


def offered(referee, seat=FRENCH):
    """The button that only says that all is done."""
    actions = seat_view(referee, seat)["actions"]
    return next(action["action"] for action in actions if action["group"] == "done")


def test_a_tap_on_done_that_comes_twice_is_one() -> None:
    referee = marching()
    done = offered(referee)
    referee.act(FRENCH, done)
    now = seat_view(referee, SHARED)
    assert "commander" in now["question"], "this could be answered by done as well"
    with pytest.raises(OutOfDate, match="look again"):
        referee.act(FRENCH, done)
    assert seat_view(referee, SHARED) == now


def test_done_that_does_not_say_what_it_answers_is_taken_once() -> None:
    referee = marching()
    referee.act(FRENCH, DONE)
    now = seat_view(referee, SHARED)
    with pytest.raises(OutOfDate, match=r"already sent; the question now is: .*commander"):
        referee.act(FRENCH, DONE)
    assert seat_view(referee, SHARED) == now
    referee.act(FRENCH, DONE, version=now["version"])
    assert seat_view(referee, SHARED)["standing"]["active"] == "british"


def test_the_buttons_of_a_page_are_enough_to_play_on() -> None:
    referee = marching()
    for _ in range(2):
        referee.act(FRENCH, offered(referee))
    assert seat_view(referee, SHARED)["standing"]["active"] == "british"


def test_what_was_taken_back_may_be_said_again() -> None:
    referee = marching()
    referee.act(FRENCH, DONE)
    referee.undo(FRENCH)
    referee.act(FRENCH, DONE)
    assert "commander" in seat_view(referee, SHARED)["question"]


def test_the_other_side_may_say_done_right_after_it() -> None:
    referee = Referee(game_of("maurice-lite"))
    near = moved(table(), "B1", 440.0, 270.0)
    referee.begin(near, {"active": "french", "hands": {"french": 0, "british": 0}}, FRENCH)
    act(referee, "volleys", "Fire")
    referee.act(FRENCH, DONE)
    assert seat_view(referee, SHARED)["asked"] == "british"
    with pytest.raises(OutOfDate):
        referee.act(FRENCH, DONE)
    referee.act(BRITISH, DONE)
    assert seat_view(referee, SHARED)["asked"] == "french"


@pytest.mark.parametrize("at", ["7", True, 7.5, None])
def test_a_version_that_is_none_is_refused_in_one_line(at) -> None:
    referee = marching()
    with pytest.raises(BadInput, match="at: expected a version of the game"):
        referee.act(player("french"), DONE | {"at": at})
