"""Commanders moved by a tap in the game are then put there by hand, like units."""

from dataclasses import replace

import pytest

from tablecam.referee.referee import Referee
from tablecam.referee.seat_view import seat_view
from tablecam.table.model import BasePose, Position
from tests.referee.marching import BRITISH, FRENCH, act, marching
from tests.referee.tables import table


def moving_its_commander() -> Referee:
    """The french may move their commander, who is seen where he stood."""
    referee = marching()
    referee.act(FRENCH, {"type": "done"})
    referee.table_at_rest(table())
    return referee


def standing(x_mm: float, y_mm: float, sigma_mm: float = 0.0) -> Position:
    """The table with the french commander elsewhere."""
    cinc, *others = table().commanders
    there = replace(cinc, x_mm=x_mm, y_mm=y_mm, sigma_mm=sigma_mm)
    return replace(table(), commanders=(there, *others))


def test_m_6_27_a_commander_moved_by_a_tap_is_to_be_put_there_and_not_back() -> None:
    referee = moving_its_commander()
    act(referee, "commander", "to F1")
    now = seat_view(referee, BRITISH)
    assert now["moved"] == []
    (due,) = now["to_place"]
    assert (due["unit"], due["text"]) == ("cinc", "put Cinc where the ghost is, 2.25 BW from here")
    assert (due["ghost"][0]["x_mm"], due["ghost"][0]["y_mm"]) == (600.0, 240.0)
    referee.table_at_rest(standing(601.5, 238.5))  # hands are inexact
    now = seat_view(referee, BRITISH)
    assert (now["moved"], now["to_place"]) == ([], [])


def test_a_commander_is_put_where_he_is_seen_to_stand_as_his_marker_is() -> None:
    referee = moving_its_commander()
    seen = table()
    marker = BasePose(600, 150, 77.0, 38, 30, tag=40)
    leaders = (replace(seen.commanders[0], pose=marker), *seen.commanders[1:])
    referee.table_at_rest(replace(seen, commanders=leaders))
    act(referee, "commander", "to F1")
    (ghost,) = seat_view(referee, BRITISH)["to_place"][0]["ghost"]
    assert ghost == {
        "x_mm": 600.0,
        "y_mm": 240.0,
        "heading_deg": 77.0,
        "width_mm": 38,
        "depth_mm": 30,
    }


def test_undo_says_where_the_commander_is_put_back() -> None:
    referee = moving_its_commander()
    act(referee, "commander", "to F1")
    referee.table_at_rest(standing(600, 240))
    referee.undo(FRENCH)
    (due,) = seat_view(referee, FRENCH)["to_place"]
    assert (due["unit"], due["ghost"][0]["y_mm"]) == ("cinc", 150)
    referee.table_at_rest(table())
    assert seat_view(referee, FRENCH)["to_place"] == []


@pytest.mark.parametrize(("off_mm", "is_told"), [(3.5, False), (4.5, True)])
def test_a_measured_commander_has_his_place_as_a_unit_has(off_mm: float, is_told: bool) -> None:
    referee = moving_its_commander()
    act(referee, "commander", "to F1")
    referee.table_at_rest(standing(600, 240 + off_mm, sigma_mm=0.3))
    now = seat_view(referee, FRENCH)
    assert bool(now["moved"] or now["to_place"]) == is_told


def test_a_commander_who_is_gone_is_missed_once_and_shown_where_he_stood() -> None:
    referee = marching()
    gone = replace(table(), commanders=table().commanders[1:])
    referee.table_at_rest(gone)
    (suggestion,) = seat_view(referee, FRENCH)["moved"]
    assert suggestion["text"] == "Cinc cannot be seen on the table: put him back where he stood"
    assert (suggestion["unit"], suggestion["is_legal"], suggestion["is_back"]) == (
        "cinc",
        False,
        True,
    )
    assert (suggestion["ghost"][0]["x_mm"], suggestion["ghost"][0]["y_mm"]) == (600, 150)
    referee.table_at_rest(gone)
    assert len(seat_view(referee, FRENCH)["moved"]) == 1
    referee.table_at_rest(table())
    assert seat_view(referee, FRENCH)["moved"] == []
