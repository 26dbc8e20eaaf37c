"""Who may enter, where they sit, and what a seat may do."""

import os
import stat

import pytest

from tablecam.referee.seats import BOTH, SHARED, SPECTATOR, player
from web import create_app
from web.seats import Seats

SIDES = ("french", "british")
COOKIE, SCREEN_COOKIE = "tablecam_seat_80", "tablecam_screen_80"


@pytest.fixture
def seats():
    seats = Seats(SIDES, by_link=True)
    seats.address = "http://10.0.0.7:8000/"
    return seats


@pytest.fixture
def closed(live, seats):
    """A table on a network, with nobody at it."""
    return create_app(live, {"TESTING": True}, seats=seats)


def test_on_this_machine_all_share_the_screen(client):
    assert client.get("/").status_code == 200
    assert client.get("/api/seats").json["own"] == "shared"


def test_a_seat_is_taken_by_a_tap_and_given_back(client):
    assert client.post("/api/seat", json={"seat": "french"}).json == {"own": "french"}
    assert client.get("/api/seats").json["own"] == "french"
    assert client.post("/api/seat", json={"seat": "shared"}).status_code == 200
    assert client.get("/api/seats").json["own"] == "shared"


def test_a_screen_knows_which_sides_sit_at_others(seats):
    french, british, both = player("french"), player("british"), BOTH
    for before, after in ((SHARED, french), (SHARED, both), (SHARED, british), (british, SHARED)):
        seats.change(before, after)
    assert [seats.sides_elsewhere(own) for own in (SHARED, french, both)] == [
        ["french"],
        [],
        ["french"],
    ]


def test_a_game_that_is_gone_on_with_keeps_its_links_and_a_new_one_does_not(tmp_path):
    keys = tmp_path / "games" / ".seats-8000.json"
    first = Seats(SIDES, by_link=True, keys=keys, is_new=True)
    again = Seats(SIDES, by_link=True, keys=keys)
    assert [again.path(name) for name in again.by_name] == [first.path(n) for n in first.by_name]
    assert again.seat(first.token("french")) == player("french")
    assert Seats(SIDES, by_link=True, keys=keys, is_new=True).seat(first.token("french")) is None


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such permissions")
def test_nobody_else_on_the_machine_reads_the_links(tmp_path):
    keys = tmp_path / ".seats-8000.json"
    keys.touch(0o644)
    Seats(SIDES, by_link=True, keys=keys)
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "{", "[]", '{"french": 3}', '{"french": "x"}'])
def test_a_file_of_links_that_is_none_is_made_anew(tmp_path, text):
    keys = tmp_path / ".seats-8000.json"
    keys.write_text(text)
    seats = Seats(SIDES, by_link=True, keys=keys)
    assert Seats(SIDES, by_link=True, keys=keys).token("french") == seats.token("french")
    assert len(seats.token("french")) >= 32


def test_an_unknown_seat_is_refused_in_one_line(client):
    answer = client.post("/api/seat", json={"seat": "turkish"})
    assert answer.status_code == 400
    assert answer.json["error"].startswith("seat: there is no seat turkish; there are french")


@pytest.mark.parametrize("path", ["/", "/api/table", "/api/state", "/api/game", "/picture.jpg"])
def test_a_stranger_without_a_link_is_turned_away(closed, path):
    assert closed.test_client().get(path).status_code == 403


def test_who_is_turned_away_is_told_of_the_button_as_it_is_called(closed):
    page = closed.test_client().get("/").text
    assert "<b>Shared</b>" in page
    assert "Seat" not in page


def test_a_link_seats_its_player_and_nobody_else(closed, seats):
    french = closed.test_client()
    answer = french.get(f"/seat/{seats.token('french')}")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert "HttpOnly" in answer.headers["Set-Cookie"]
    assert "SameSite=Lax" in answer.headers["Set-Cookie"]
    assert french.get("/").status_code == 200
    assert french.get("/api/seats").json["own"] == "french"
    assert french.post("/api/seat", json={"seat": "british"}).status_code == 403


def test_a_shared_screen_takes_a_sides_seat_by_a_tap_and_comes_back_without_its_link(closed, seats):
    screen = closed.test_client()
    screen.get(f"/seat/{seats.token('shared')}")
    assert screen.get("/api/seats").json["may_change"]
    for seat in ("french", "spectator", "both", "british", "shared"):
        assert screen.post("/api/seat", json={"seat": seat}).status_code == 200
        now = screen.get("/api/seats").json
        assert (now["own"], now["may_change"]) == (seat, True)
        assert any(seat["link"] for seat in now["seats"]) == (seat == "shared")


def test_a_screen_on_which_a_sides_link_was_opened_is_no_shared_one_any_more(closed, seats):
    screen = closed.test_client()
    for name in ("shared", "french"):
        screen.get(f"/seat/{seats.token(name)}")
    assert not screen.get("/api/seats").json["may_change"]
    assert screen.post("/api/seat", json={"seat": "shared"}).status_code == 403


def test_nobody_makes_his_screen_a_shared_one_by_himself(closed, seats):
    for name in ("french", "spectator"):
        client = closed.test_client()
        client.get(f"/seat/{seats.token(name)}")
        for guess in ("shared", "1", seats.token(name)):
            client.set_cookie(SCREEN_COOKIE, guess)
            assert client.post("/api/seat", json={"seat": "shared"}).status_code == 403


def test_only_the_shared_screen_is_shown_the_links(closed, seats):
    for name in (*SIDES, "spectator"):
        client = closed.test_client()
        client.get(f"/seat/{seats.token(name)}")
        told = client.get("/api/seats").text
        assert not any(seats.token(each) in told for each in seats.by_name)
    host = closed.test_client()
    host.get(f"/seat/{seats.token('shared')}")
    links = {seat["name"]: seat["link"] for seat in host.get("/api/seats").json["seats"]}
    assert links["both"] is None  # only on the shared screen
    assert links["french"] == f"http://10.0.0.7:8000/seat/{seats.token('french')}"
    code = host.get("/api/seats/french/code.svg")
    assert (code.status_code, code.mimetype) == (200, "image/svg+xml")


def test_nobody_else_is_shown_a_code(closed, seats):
    client = closed.test_client()
    client.get(f"/seat/{seats.token('british')}")
    assert client.get("/api/seats/french/code.svg").status_code == 403


def test_who_looks_on_changes_nothing(closed, seats):
    client = closed.test_client()
    client.get(f"/seat/{seats.token('spectator')}")
    assert client.get("/api/state").status_code == 200
    for path, body in (
        ("/api/take-off", {"thing": "unit:F1"}),
        ("/api/disputes", {"question": "near/F1", "active": "french"}),
        ("/api/game/begin", {}),
    ):
        answer = client.post(path, json=body)
        assert (answer.status_code, answer.json["error"]) == (
            403,
            "spectators cannot change anything",
        )


def test_wrong_links_keep_no_right_one_out(closed, seats):
    client = closed.test_client()
    for number in range(6):
        assert client.get(f"/seat/guess{number}").status_code == 403
    with client.get("/static/shared/palette.css") as answer:
        assert answer.status_code == 200
    assert client.get(f"/seat/{seats.token('french')}").status_code == 303
    assert client.get("/").status_code == 200


def test_two_tables_on_one_machine_keep_their_seats_apart(closed, seats, live):
    others = Seats(SIDES, by_link=True)
    other = create_app(live, {"TESTING": True}, seats=others)
    names = []
    for app, at_it, port in ((closed, seats, 8000), (other, others, 8001)):
        token = at_it.token("french")
        answer = app.test_client().get(f"/seat/{token}", base_url=f"http://localhost:{port}")
        names.append(answer.headers["Set-Cookie"].partition("=")[0])
    assert names == ["tablecam_seat_8000", "tablecam_seat_8001"]


def test_tokens_are_long_differ_and_are_new_in_every_run(seats):
    tokens = [seats.token(name) for name in seats.by_name]
    tokens += [Seats(SIDES).token(name) for name in seats.by_name]
    assert len(set(tokens)) == len(tokens)
    assert min(map(len, tokens)) >= 32


def test_a_token_finds_its_seat_and_nonsense_none(seats):
    assert seats.seat(seats.token("french")) == player("french")
    assert seats.seat(seats.token("shared")) == SHARED
    assert seats.seat(seats.token("spectator")) == SPECTATOR
    assert seats.seat("") is None
    assert seats.seat("é" * 32) is None


def test_a_forged_cookie_is_a_stranger(closed):
    client = closed.test_client()
    client.set_cookie(COOKIE, "french")
    assert client.get("/").status_code == 403
