"""A hall's page: the standing of all tables, with each one's recording under its own path."""

import json
import re
from dataclasses import replace
from uuid import uuid4

import pytest

from tablecam.hall.watch import HallWatch
from tablecam.record.entries import NewEntry
from tablecam.record.game_file import GameFile
from tests.patience import comes_true
from tests.record.games import FACTS, catch_up
from tests.replay.small import deed, position
from web.hall import create_hall

OWN = {"base_url": "http://127.0.0.1/"}


@pytest.fixture
def game(tmp_path):
    made = GameFile.create(tmp_path / "game.tablecam", replace(FACTS, id=uuid4().hex))
    made.append(NewEntry("position", {"whole": position()}), deed("<b>F1</b> hits B1."))
    return made


@pytest.fixture
def client(hall, game):
    catch_up(game, hall)
    with HallWatch(hall) as watch:
        comes_true(lambda: any(table.id == game.id for table in watch.tables()))
        app, _ = create_hall(watch)
        yield app.test_client()


def test_the_hall_tells_of_each_table_as_it_stands(client, game):
    told = client.get("/api/hall", **OWN).json
    (table,) = [table for table in told["tables"] if table["id"] == game.id]
    standing = table["standing"]
    assert standing["words"] == "<b>F1</b> hits B1."
    assert (standing["turn"], standing["active"]) == ("Round 3", "French")
    assert {"name": "French", "figure": "morale 9", "colour": 0} in standing["sides"]
    assert not table["is_playing"]
    assert client.get(f"/api/hall?after={told['version']}", **OWN).status_code == 204


def test_what_players_wrote_is_no_markup_on_the_page(client, hall, game):
    hall.set_table_name(game.id, "</script><i>Saal 3</i>")
    comes_true(lambda: "Saal 3" in client.get("/", **OWN).text)
    page = client.get("/", **OWN).text
    assert "<b>F1</b>" not in page
    assert "<i>Saal" not in page
    assert "F1" in page


def test_a_table_is_seen_from_above(client, game):
    picture = client.get(f"/api/hall/{game.id}/table.jpg", **OWN)
    assert picture.mimetype == "image/jpeg"
    assert picture.data[:2] == b"\xff\xd8"
    again = client.get(
        f"/api/hall/{game.id}/table.jpg", headers={"If-None-Match": picture.headers["ETag"]}, **OWN
    )
    assert again.status_code == 304


def test_each_recording_is_played_beneath_its_own_path(client, game):
    film = client.get(f"/tables/{game.id}/api/replay/film", **OWN).json
    assert film["id"] == game.id
    assert [entry["kind"] for entry in film["entries"]] == ["position", "deed"]


def test_only_a_table_that_plays_is_followed(client, hall, game):
    def is_live():
        page = client.get(f"/tables/{game.id}/replay", **OWN).text
        (about,) = re.findall(r'id="replay-about">(.*?)</script>', page)
        return json.loads(about)["live"]

    assert not is_live()
    hall.report_presence(game.id)
    comes_true(is_live)


@pytest.mark.parametrize("path", ["/tables/nowhere/replay", "/tables/", "/api/hall/no/table.jpg"])
def test_a_table_that_is_not_there_is_refused_in_a_line(client, path):
    answer = client.get(path, **OWN)
    assert answer.status_code in (400, 404)
    assert "there is no table" in answer.text


def test_a_hall_is_not_shown_to_other_sites_names(client, game):
    for path in ("/", "/api/hall", f"/tables/{game.id}/replay"):
        assert client.get(path, base_url="http://evil.example/").status_code == 403


def messages(answer):
    """A stream's messages about a hall."""
    for part in answer.response:
        if part.startswith(b"event: hall"):
            yield json.loads(part.partition(b"data: ")[2])


def test_games_that_have_ended_are_told_once_to_who_listens(hall, client, game, tmp_path):
    other = GameFile.create(tmp_path / "other.tablecam", replace(FACTS, id=uuid4().hex))
    other.append(NewEntry("position", {"whole": position()}))
    catch_up(other, hall)
    hall.report_presence(other.id)
    comes_true(lambda: other.id in playing(client.get("/api/hall", **OWN).json))
    answer = client.get("/api/hall/events", **OWN)
    told = messages(answer)
    first = next(each for each in told if other.id in playing(each))
    other.append(deed("On it goes."))
    catch_up(other, hall)
    then = next(each for each in told if "On it goes." in words(each))
    answer.close()
    assert game.id in {table["id"] for table in first["tables"]}
    assert not then["has_ended"]
    assert other.id in playing(then)
    assert all(table["is_playing"] for table in then["tables"])


def words(told):
    return [table["standing"]["words"] for table in told["tables"]]


def playing(told):
    return {table["id"] for table in told["tables"] if table["is_playing"]}


def test_a_recording_that_cannot_be_read_is_told_of_beside_the_others(hall, client, game, tmp_path):
    bad = GameFile.create(tmp_path / "bad.tablecam", replace(FACTS, id=uuid4().hex))
    bad.append(NewEntry("deed", {"entry": {}, "after": {"state": None}}))
    catch_up(bad, hall)

    def told_of(recording_id):
        tables = client.get("/api/hall", **OWN).json["tables"]
        return [table["standing"]["words"] for table in tables if table["id"] == recording_id]

    comes_true(lambda: told_of(bad.id))
    assert told_of(bad.id)[0].startswith("This recording cannot be read")
    assert told_of(game.id) == ["<b>F1</b> hits B1."]
