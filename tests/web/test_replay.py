"""What the replay page receives, and what it may ask."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import pytest
from flask.testing import FlaskClient

from tablecam.record.entries import Picture
from tablecam.record.game_file import GameFile
from tablecam.referee.seats import SHARED
from tablecam.rules.maurice.game import GAME
from tablecam.rules.play import Play
from tests.referee.tables import table
from tests.replay.recorded import new, recorded
from tests.rules.playthrough import KEPT, played
from tests.web.of_four import ROSTER_OF_FOUR
from tests.web.standing import StandingTable
from web import create_app, create_replay
from web.seats import Seats

OWN = next(path for path in KEPT if path.name.startswith("own"))


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> GameFile:
    play = played(OWN.read_text(encoding="utf-8"))
    file = recorded(play, tmp_path_factory.mktemp("games") / "a.tablecam")
    file.append(new("picture", {"of": 1}, 5000, Picture("table", b"a jpeg")))
    return file


@pytest.fixture
def client(journal: GameFile) -> FlaskClient:
    return create_replay(journal, {"TESTING": True}, is_own=True).test_client()


def asked(client: FlaskClient, what: str, **wanted: Any) -> Any:
    return client.post(f"/api/replay/{what}", json=wanted)


def unit_at(journal: GameFile, moment: int = 1) -> dict[str, Any]:
    """The first unit on the table."""
    unit: dict[str, Any] = journal.entries("position")[0].document["whole"]["units"][0]
    return unit


def test_one_file_is_played_where_the_table_would_be(client: FlaskClient) -> None:
    assert client.get("/").headers["Location"] == "/replay"
    page = client.get("/replay")
    assert page.status_code == 200
    assert "//" not in page.text.replace("<!doctype", "")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]


def test_beneath_a_path_of_a_hall_it_asks_there(client: FlaskClient) -> None:
    page = client.get("/replay", environ_overrides={"SCRIPT_NAME": "/tables/7"}).text
    assert '"base": "/tables/7"' in page
    assert 'src="/tables/7/static/replay/main.js"' in page


def test_the_film_is_sent_whole_and_then_what_was_added(
    client: FlaskClient, journal: GameFile
) -> None:
    whole = client.get("/api/replay/film").json
    assert whole["format"] == "tablecam.film"
    last = whole["entries"][-1]["n"]
    assert last == journal.last()
    assert len(client.get(f"/api/replay/film?after={last - 3}").json["entries"]) == 3
    assert client.get(f"/api/replay/film?after={last}").status_code == 204


def test_whoever_knows_of_other_pictures_than_there_are_is_told_of_all(
    client: FlaskClient, journal: GameFile
) -> None:
    last = journal.last()
    assert client.get(f"/api/replay/film?after={last}&pictures=1").status_code == 204
    told = client.get(f"/api/replay/film?after={last}&pictures=0").json
    assert (told["entries"], told["pictures"]) == ([], {str(last): ["table"]})
    added = client.get(f"/api/replay/film?after={last - 1}&pictures=0").json
    assert "pictures" not in added  # none is added: it comes with its entry
    assert added["entries"][0]["pictures"] == ["table"]


def test_the_page_says_what_its_table_is_called(journal: GameFile, tmp_path: Path) -> None:
    table_file = (files("tablecam.simulate") / "demo_table.toml").read_text(encoding="utf-8")
    named = table_file.replace("[table]", '[table]\nname = "<b>Anna\'s table</b>"')
    kept = GameFile.create(tmp_path / "a.tablecam", replace(journal.facts(), table_file=named))
    page = create_replay(kept, {"TESTING": True}).test_client().get("/replay").text
    assert "<title>&lt;b&gt;Anna&#39;s table&lt;/b&gt; · tablecam" in page
    in_hall = create_replay(kept, {"TESTING": True}, name=lambda: "Table 7").test_client()
    assert '<b class="replay-name">Table 7</b>' in in_hall.get("/replay").text
    nameless = create_replay(journal, {"TESTING": True}).test_client().get("/replay").text
    assert "replay-name" not in nameless


def test_a_picture_is_sent_to_be_kept(client: FlaskClient, journal: GameFile) -> None:
    sent = client.get(f"/api/replay/pictures/{journal.last()}/table")
    assert (sent.data, sent.mimetype) == (b"a jpeg", "image/jpeg")
    assert "immutable" in sent.headers["Cache-Control"]
    assert client.get("/api/replay/pictures/1/table").status_code == 404
    assert client.get("/api/replay/pictures/1/x'").status_code == 404


def test_the_text_of_a_file_can_be_copied(client: FlaskClient) -> None:
    sent = client.get("/api/replay/text")
    assert sent.mimetype == "text/plain"
    assert sent.text.startswith("[tablecam.text 1;")


def test_units_of_a_branch_are_measured_where_they_are_laid(
    client: FlaskClient, journal: GameFile
) -> None:
    unit = unit_at(journal)
    laid = [[base["x_mm"], base["y_mm"] + 80, base["heading_deg"]] for base in unit["bases"]]
    ends = {"a": f"unit:{unit['id']}", "b": "point:900,600"}
    before = asked(client, "measure", moment=1, **ends).json
    after = asked(client, "measure", moment=1, laid={unit["id"]: laid}, **ends).json
    assert abs(before["distance_mm"] - after["distance_mm"]) > 20
    again = asked(client, "measure", moment=1, **ends).json
    assert again == before


def test_a_branch_has_rulings_drawings_and_odds(client: FlaskClient, journal: GameFile) -> None:
    unit = unit_at(journal)
    sheet = asked(client, "sheet", moment=1, a=unit["id"], active=unit["side"]).json
    assert sheet["sections"]
    about = asked(client, "about", moment=1, thing=f"unit:{unit['id']}").json
    assert about["shapes"]
    moment, hurt = disrupted(journal)
    odds = asked(client, "odds", moment=moment, wanted={"kind": "rally", "unit": hurt}).json
    assert 0 < odds["units"][hurt]["disruption"]["chances"]["0"] < 1
    far = asked(client, "odds", moment=1, wanted={"kind": "volley", "unit": "F1", "target": "B1"})
    assert "may not fire" in far.json["error"]


def disrupted(journal: GameFile) -> tuple[int, str]:
    """An entry after which a unit is disrupted, and the unit."""
    for entry in journal.entries("deed"):
        for unit, marker in entry.document["after"]["markers"].items():
            if marker.get("disruption"):
                return entry.number, unit
    raise AssertionError("nobody was ever disrupted in this game")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"moment": 0}, "moment"),
        ({"moment": 1, "laid": {"nobody": []}}, "nobody"),
        ({"moment": 1, "laid": {"nobody": [[1e9, 0, 0]]}}, "laid"),
        ({"moment": 1, "laid": 3}, "laid"),
        ({"moment": 1, "c": 3}, "c"),
    ],
)
def test_a_branch_that_cannot_be_is_refused_in_one_line(
    client: FlaskClient, wanted: dict[str, Any], said: str
) -> None:
    refused = asked(client, "measure", a="point:1,1", b="point:2,2", **wanted)
    assert refused.status_code == 400
    assert said in refused.json["error"]
    assert "\n" not in refused.json["error"]


def test_a_branch_larger_than_any_table_is_refused(client: FlaskClient) -> None:
    most = client.application.config["MAX_CONTENT_LENGTH"]
    base = [0, 0, 0]
    laid = {"F1": [base] * (most // len(str(base)) + 1)}
    refused = asked(client, "measure", moment=1, a="point:1,1", b="point:2,2", laid=laid)
    assert refused.status_code == 413


def test_a_table_of_which_nothing_was_kept_says_so(client: FlaskClient) -> None:
    empty = create_app(StandingTable(), {"TESTING": True}).test_client()
    assert empty.get("/replay").status_code == 200
    assert empty.get("/api/replay/film").status_code == 204
    assert asked(empty, "about", moment=1, thing="unit:F1").status_code == 400


def test_the_text_of_a_game_is_not_given_to_others_before_it_is_over(
    journal: GameFile, tmp_path: Path
) -> None:
    others = create_replay(journal, {"TESTING": True}).test_client()
    assert others.get("/api/replay/text").status_code == 200
    running = recorded(unfinished(), tmp_path / "b.tablecam")
    for seen in (
        create_replay(running, {"TESTING": True}),
        create_app(StandingTable(), {"TESTING": True}, recording=lambda: running),
    ):
        assert seen.test_client().get("/api/replay/text").status_code == 403
        assert seen.test_client().get("/api/replay/film").status_code == 200
    own = create_replay(running, {"TESTING": True}, is_own=True).test_client()
    assert own.get("/api/replay/text").status_code == 200


def unfinished() -> Play[Any, Any]:
    play: Play[Any, Any] = Play(GAME, table(), {"active": "french"}, chance=Random(1))
    play.apply(play.legal()[0])
    return play


def test_nobody_measures_in_branches_while_measuring_is_closed(journal: GameFile) -> None:
    live = StandingTable(roster=ROSTER_OF_FOUR, position=table())
    app = create_app(live, {"TESTING": True}, recording=lambda: journal)
    ends = {"a": "point:1,1", "b": "point:9,9"}
    assert asked(app.test_client(), "measure", moment=1, **ends).status_code == 200
    assert live.referee is not None
    live.referee.begin(table(), {"active": "french", "measuring": "declared"}, SHARED)
    assert asked(app.test_client(), "measure", moment=1, **ends).status_code == 403


def test_those_who_watch_from_a_hall_never_measure_while_players_declare_first(
    tmp_path: Path,
) -> None:
    options = {"active": "french", "measuring": "declared"}
    running = recorded(Play(GAME, table(), options, chance=Random(1)), tmp_path / "c.tablecam")
    ends = {"a": "unit:F1", "b": "unit:B1"}
    for what, wanted in (
        ("measure", ends),
        ("about", {"thing": "unit:F1"}),
        ("sheet", {"a": "F1", "b": "B1", "active": "french"}),
        ("odds", {"wanted": {}}),
    ):
        watched = create_replay(running, {"TESTING": True}).test_client()
        refused = asked(watched, what, moment=1, **wanted)
        assert refused.status_code == 403
        assert "must declare before they measure" in refused.json["error"]
    own = create_replay(running, {"TESTING": True}, is_own=True).test_client()
    assert asked(own, "measure", moment=1, **ends).status_code == 200
    unagreed = recorded(unfinished(), tmp_path / "d.tablecam")
    others = create_replay(unagreed, {"TESTING": True}).test_client()
    assert asked(others, "measure", moment=1, **ends).status_code == 200


def test_who_looks_on_may_ask_what_might_have_been_and_strangers_may_not_look_back(
    journal: GameFile,
) -> None:
    seats = Seats(("french", "british"), by_link=True)
    app = create_app(StandingTable(), {"TESTING": True}, seats=seats, recording=lambda: journal)
    spectator, stranger = app.test_client(), app.test_client()
    spectator.get(seats.path("spectator"))
    ends = {"a": "point:1,1", "b": "point:9,9"}
    assert asked(spectator, "measure", moment=1, **ends).status_code == 200
    assert spectator.post("/api/take-off", json={"thing": "unit:F1"}).status_code == 403
    for path in ("/replay", "/api/replay/film", "/api/replay/text"):
        assert stranger.get(path).status_code == 403


def test_a_short_list_in_laid_is_refused_by_its_key(client: FlaskClient) -> None:
    answer = asked(client, "about", moment=1, laid={"F1": [[500, 400]]}, thing="unit:F1")
    assert answer.status_code == 400
    assert answer.json["error"] == "what if: laid.F1[1]: expected more elements, got 2"


@pytest.mark.parametrize(
    "address", ["film?after=9223372036854775808", "pictures/9223372036854775808/table"]
)
def test_an_entry_beyond_2_to_63_is_not_there(client: FlaskClient, address: str) -> None:
    assert client.get(f"/api/replay/{address}").status_code in (204, 404)


def test_a_moment_beyond_2_to_63_is_refused(client: FlaskClient) -> None:
    answer = asked(client, "about", moment=2**63, thing="unit:F1")
    assert answer.status_code == 400
    assert answer.json["error"].startswith("what if: moment: expected a number from -1e15 to 1e15")
