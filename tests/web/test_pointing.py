"""Tapes that a seat keeps, and places it points at, over the web."""

import pytest

from tests.referee.tables import table
from tests.web.of_four import ROSTER_OF_FOUR, seated
from tests.web.standing import StandingTable
from web import create_app

KEEP = {"a": "unit:F1", "b": "unit:B1"}


@pytest.fixture
def app(seats):
    live = StandingTable(roster=ROSTER_OF_FOUR, position=table())
    return create_app(live, {"TESTING": True}, seats=seats)


def test_a_tape_that_a_seat_keeps_is_told_to_all_seats(french, british):
    assert french.post("/api/tapes", json=KEEP).status_code == 204
    (tape,) = british.get("/api/state").json["tapes"]
    assert tape == KEEP | {"number": 1, "by": "french"}
    assert british.post("/api/tapes/remove", json=KEEP).status_code == 204
    assert len(british.get("/api/state").json["tapes"]) == 1
    french.post("/api/tapes/remove", json=KEEP)
    assert british.get("/api/state").json["tapes"] == []


def test_where_a_seat_points_is_told_to_all_seats(french, british):
    assert french.post("/api/ping", json={"x_mm": 100.5, "y_mm": 20.0}).status_code == 204
    (ping,) = british.get("/api/state").json["pings"]
    assert ping == {"number": 1, "by": "french", "x_mm": 100.5, "y_mm": 20.0}


BOOK = {"outline_mm": [[0.0, 0.0], [300.0, 0.0], [300.0, 200.0]]}


def test_a_masked_part_is_shown_to_all_seats_until_one_removes_it(french, british):
    assert french.post("/api/masks", json=BOOK).status_code == 204
    assert british.get("/api/state").json["masks"] == [BOOK["outline_mm"]]
    assert british.post("/api/masks/remove", json=BOOK).status_code == 204
    assert french.get("/api/state").json["masks"] == []


def test_spectators_point_nothing_out(app, seats, french):
    spectator = seated(app, seats, "spectator")
    for path, body in (
        ("masks", BOOK),
        ("masks/remove", BOOK),
        ("tapes", KEEP),
        ("tapes/remove", KEEP),
        ("ping", {"x_mm": 1.0, "y_mm": 1.0}),
    ):
        assert spectator.post(f"/api/{path}", json=body).status_code == 403
    assert french.get("/api/state").json["tapes"] == []


@pytest.mark.parametrize(
    ("path", "body", "key"),
    [
        ("tapes", {"a": "unit:F1"}, "b"),
        ("tapes", {"a": "unit:F1", "b": 7}, "b"),
        ("masks", {"outline_mm": [[0.0, 0.0], [1.0, 1.0]]}, "outline_mm"),
        ("masks", {"outline_mm": [[0.0, 0.0], [1.0, 1.0], [1e9, 0.0]]}, "outline_mm[3][1]"),
        ("ping", {"x_mm": 1.0}, "y_mm"),
        ("ping", {"x_mm": 1e9, "y_mm": 1.0}, "x_mm"),
    ],
)
def test_what_cannot_be_pointed_out_is_refused_by_key(french, path, body, key):
    answer = french.post(f"/api/{path}", json=body)
    assert answer.status_code == 400
    assert f"{key}: expected" in answer.json["error"]
