"""The JSON API beside the page."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tablecam.live.notices import Notice
from tablecam.rules.games import known_games
from tablecam.table.position_file import position_from_json
from tests.web.standing import ROSTER, StandingTable
from web import create_app


def test_table_tells_what_does_not_change(client: FlaskClient) -> None:
    table = client.get("/api/table").json
    assert (table["width_mm"], table["depth_mm"], table["base_width_mm"]) == (1800, 1200, 40)
    assert table["sides"] == ["french", "british"]
    assert table["units"][0] == {
        "id": "F1",
        "side": "french",
        "arm": "infantry",
        "tags": [10, 11],
        "base_width_mm": 40,
        "base_depth_mm": 40,
        "extra": {"name": "Champagne"},
    }
    assert table["terrain"][0]["outline_mm"] == [[400, 300], [520, 310], [500, 420]]
    assert table["simulated"] is False


def test_position_is_a_position_document(client: FlaskClient, live: Any) -> None:
    document = client.get("/api/position").json
    assert document["format"] == "tablecam.position"
    assert position_from_json(document, games=known_games()).units == live.snapshot().position.units


def test_health_names_the_owner_of_each_missing_tag(client: FlaskClient) -> None:
    health = client.get("/api/health").json
    assert health["missing"] == [{"tag": 20, "of": "B1"}, {"tag": 21, "of": "B1"}]
    assert health["reprojection_px"] == 0.21
    assert health["warnings"] == ["Dark."]


def test_state_says_how_long_a_held_base_has_been_hidden(client: FlaskClient) -> None:
    bases = client.get("/api/state").json["units"][0]["bases"]
    assert [(base["name"], base["seen"], base["held_s"]) for base in bases] == [
        ("10", "now", None),
        ("11", "held", 12.3),
    ]


def test_state_tells_what_happened_to_the_camera_and_when(client: FlaskClient, live: Any) -> None:
    at = datetime(2025, 8, 1, 14, 3, 12, tzinfo=UTC)
    live.show(notices=(Notice(3, at, "The camera was bumped."),))
    assert client.get("/api/state").json["notices"] == [
        {"number": 3, "at": "2025-08-01T14:03:12+00:00", "text": "The camera was bumped."}
    ]


def test_state_marks_a_base_whose_tag_is_seen_twice(client: FlaskClient, live: Any) -> None:
    live.show(doubted=frozenset({11}))
    bases = client.get("/api/state").json["units"][0]["bases"]
    assert [base["doubted"] for base in bases] == [False, True]


def test_state_gives_the_middle_of_a_units_footprint(client: FlaskClient) -> None:
    unit = client.get("/api/state").json["units"][0]
    assert (unit["x_mm"], unit["y_mm"], unit["heading_deg"]) == (520, 400, 90)


def test_state_is_empty_for_who_has_seen_the_newest(client: FlaskClient, live: Any) -> None:
    version = client.get("/api/state").json["version"]
    assert client.get(f"/api/state?after={version}").status_code == 204
    live.show(frame=8)
    assert client.get(f"/api/state?after={version}").json["frame"] == 8


def test_measure_passes_things_and_ranges_on(client: FlaskClient) -> None:
    pair = {"a": "unit:F1", "b": "point:3,4"}
    address = "/api/measure?a=unit:F1&b=point:3,4"
    bw = client.get(f"{address}&within_bw=1,2&within_bw=4.5").json
    assert bw == pair | {"within": [1, 2, 4.5], "unit": "BW"}
    inches = client.get(f"{address}&within=6&unit=in").json
    assert inches == pair | {"within": [6], "unit": "in"}
    # Without a unit of length, in the game's.
    assert client.get(f"{address}&within=6").json == pair | {"within": [6], "unit": None}
    assert client.get(f"{address}&within=usual").json == pair | {"within": None, "unit": None}


def test_a_table_without_base_widths_measures_none() -> None:
    size = replace(ROSTER.table, base_width_mm=None)
    client = create_app(StandingTable(roster=replace(ROSTER, table=size))).test_client()
    answer = client.get("/api/measure?a=unit:F1&b=unit:B1&within_bw=4")
    assert answer.status_code == 400
    assert answer.json["error"] == "request: unit: expected one of in, cm, got 'BW'"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "request: a: expected a thing"),
        ("a=unit:F1", "request: b: expected a thing"),
        ("a=unit:F1&b=unit:B1&within_bw=near", "request: within_bw: expected a number"),
        ("a=unit:F1&b=unit:B1&within_bw=nan", "request: within_bw: expected a number"),
        ("a=unit:F1&b=unit:B1&within_bw=-1", "request: within_bw: expected a number"),
        ("a=unit:F1&b=unit:B1&within_bw=" + "1," * 17, "request: within_bw: expected at most 16"),
        ("a=unit:F1&b=unit:B1&within=4&unit=ell", "request: unit: expected one of BW, in, cm, got"),
        ("a=unit:F1&b=unit:nobody", "measure: expected a thing on the table"),
    ],
)
def test_measure_refuses_in_one_line(client: FlaskClient, query: str, said: str) -> None:
    response = client.get(f"/api/measure?{query}")
    assert response.status_code == 400
    assert response.json["error"].startswith(said)
    assert "\n" not in response.json["error"]


def test_about_passes_the_thing_on(client: FlaskClient) -> None:
    assert client.get("/api/about?thing=base:F1/2").json["thing"] == "base:F1/2"
    assert client.get("/api/about").status_code == 400


def test_an_unknown_address_is_told_in_json(client: FlaskClient) -> None:
    response = client.get("/api/nothing")
    assert response.status_code == 404
    assert "error" in response.json


def test_a_wrong_method_is_told_in_json(client: FlaskClient) -> None:
    response = client.post("/api/table", json={})
    assert response.status_code == 405
    assert "error" in response.json


def test_our_own_mistake_is_told_in_one_line_without_its_inside(
    app: Flask, live: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> Any:
        raise RuntimeError("a secret inside")

    live.snapshot = broken
    response = app.test_client().get("/api/health")
    assert response.status_code == 500
    assert "secret" not in response.json["error"]
    assert "GET /api/health failed" in caplog.text


def test_a_move_reaches_the_simulated_table(simulated_client: FlaskClient, controls: Any) -> None:
    move = {"unit": "F1", "x_mm": 600, "y_mm": 400.5, "heading_deg": 90}
    assert simulated_client.post("/api/simulated/move", json=move).status_code == 204
    assert controls.deeds == [("F1", 600, 400.5, 90)]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"x_mm": 1, "y_mm": 1, "heading_deg": 0}, "move: unit: expected this key"),
        ({"unit": "F1", "x_mm": "1", "y_mm": 1, "heading_deg": 0}, "move: x_mm: expected a number"),
        ({"unit": "F1", "x_mm": 1, "y_mm": 1, "heading_deg": 0, "z": 1}, "move: z: unknown key"),
        ({"unit": "X", "x_mm": 1, "y_mm": 1, "heading_deg": 0}, "table: expected a unit"),
        ([1], "move: expected an object"),
    ],
    ids=["missing", "text", "unknown", "nobody", "list"],
)
def test_a_bad_move_is_refused_by_key(
    simulated_client: FlaskClient, controls: Any, body: Any, said: str
) -> None:
    response = simulated_client.post("/api/simulated/move", json=body)
    assert response.status_code == 400
    assert response.json["error"].startswith(said)
    assert controls.deeds == []


def test_a_unit_is_taken_off_the_simulated_table_and_put_back(
    simulated_client: FlaskClient, controls: Any
) -> None:
    for deed, body in (("take-off", {"unit": "F1"}), ("put-back", {"unit": "F1", "tag": 10})):
        assert simulated_client.post(f"/api/simulated/{deed}", json=body).status_code == 204
    assert controls.deeds == [("take off", "F1", None), ("put back", "F1", 10)]
    assert simulated_client.get("/api/state").json["simulated"]["off"] == [10, 11]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "take-off: unit: expected this key"),
        ({"unit": "F1", "tag": "10"}, "take-off: tag: expected"),
        ({"unit": "X"}, "table: expected a unit"),
    ],
)
def test_what_cannot_be_taken_off_the_simulated_table_is_refused_by_key(
    simulated_client: FlaskClient, controls: Any, body: Any, said: str
) -> None:
    response = simulated_client.post("/api/simulated/take-off", json=body)
    assert response.status_code == 400
    assert response.json["error"].startswith(said)
    assert controls.deeds == []


def test_a_move_that_is_no_number_is_refused(simulated_client: FlaskClient) -> None:
    text = '{"unit": "F1", "x_mm": NaN, "y_mm": 1, "heading_deg": 0}'
    response = simulated_client.post(
        "/api/simulated/move", data=text, content_type="application/json"
    )
    assert response.status_code == 400
    assert "x_mm" in response.json["error"]


@pytest.mark.parametrize("deed", ["pause", "stand-still", "resume", "restart"])
def test_the_script_obeys(simulated_client: FlaskClient, controls: Any, deed: str) -> None:
    assert simulated_client.post(f"/api/simulated/{deed}", json={}).status_code == 204
    assert controls.deeds == [deed]


def test_the_state_says_whether_the_script_stands_still(simulated_client: FlaskClient) -> None:
    simulated_client.post("/api/simulated/pause", json={})
    shown = simulated_client.get("/api/state").json["simulated"]
    assert shown == {"run": "first", "paused": True, "resting": True, "light": 1.0, "off": []}


def test_the_camera_is_bumped_and_the_lamp_dimmed(
    simulated_client: FlaskClient, controls: Any
) -> None:
    knock = {"right_px": 12, "down_px": -9}
    assert simulated_client.post("/api/simulated/bump", json=knock).status_code == 204
    assert simulated_client.post("/api/simulated/light", json={"light": 0.6}).status_code == 204
    assert controls.deeds == [("bump", 12, -9), ("light", 0.6)]
    assert simulated_client.get("/api/state").json["simulated"]["light"] == 0.6


@pytest.mark.parametrize(
    ("deed", "body", "said"),
    [
        ("bump", {"right_px": 12}, "bump: down_px: "),
        ("bump", {"right_px": 1200, "down_px": 0}, "bump: right_px: "),
        ("light", {"light": 1.5}, "light: light: "),
        ("light", {"light": "dim"}, "light: light: "),
    ],
)
def test_a_bump_or_a_light_that_cannot_be_is_refused(
    simulated_client: FlaskClient, controls: Any, deed: str, body: Any, said: str
) -> None:
    response = simulated_client.post(f"/api/simulated/{deed}", json=body)
    assert response.status_code == 400
    assert response.json["error"].startswith(said)
    assert controls.deeds == []


def test_a_real_table_cannot_be_rearranged(client: FlaskClient) -> None:
    response = client.post("/api/simulated/pause", json={})
    assert response.status_code == 400
    assert "simulated" in response.json["error"]


def test_only_json_is_taken(simulated_client: FlaskClient, controls: Any) -> None:
    response = simulated_client.post("/api/simulated/pause", data="deed=pause")
    assert response.status_code == 415
    assert controls.deeds == []


def test_another_sites_page_is_refused(simulated_client: FlaskClient, controls: Any) -> None:
    headers = {"Origin": "http://example.org"}
    response = simulated_client.post("/api/simulated/pause", json={}, headers=headers)
    assert response.status_code == 403
    assert controls.deeds == []


@pytest.mark.parametrize("headers", [{"Origin": "http://["}, {"Host": "["}, {"Host": "[::1"}])
def test_an_address_of_nobody_is_refused(
    simulated_client: FlaskClient, controls: Any, headers: dict[str, str]
) -> None:
    response = simulated_client.post("/api/simulated/pause", json={}, headers=headers)
    assert response.status_code in (400, 403)
    assert controls.deeds == []


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"unit":' * 500 + "1" + "}" * 500])
def test_deeply_nested_json_is_refused_in_one_line(
    simulated_client: FlaskClient, deep: str
) -> None:
    response = simulated_client.post(
        "/api/simulated/move", data=deep, content_type="application/json"
    )
    assert response.status_code == 400
    assert response.json["error"].startswith("move: ")


def test_the_tables_own_page_is_let_in(simulated_client: FlaskClient) -> None:
    headers = {"Origin": "http://localhost"}
    response = simulated_client.post("/api/simulated/pause", json={}, headers=headers)
    assert response.status_code == 204


def test_a_huge_body_is_refused(simulated_client: FlaskClient) -> None:
    move = {"unit": "F" * 150_000, "x_mm": 0, "y_mm": 0, "heading_deg": 0}
    response = simulated_client.post("/api/simulated/move", json=move)
    assert response.status_code == 413
    assert "error" in response.json


def test_events_begin_with_the_newest_state(client: FlaskClient) -> None:
    with client.get("/api/events") as response:
        assert response.mimetype == "text/event-stream"
        messages = response.iter_encoded()
        assert next(messages) == b"retry: 2000\n\n"
        kind, data = next(messages).decode().strip().split("\n")
        assert kind == "event: state"
        assert json.loads(data.removeprefix("data: "))["version"] == 3


def test_events_skip_to_the_newest_state(client: FlaskClient, live: Any) -> None:
    with client.get("/api/events") as response:
        messages = response.iter_encoded()
        next(messages), next(messages)
        for frame in range(8, 12):
            live.show(frame=frame)
        assert b'"frame":11' in next(messages)


def test_a_quiet_stream_says_that_it_is_alive(client: FlaskClient) -> None:
    with client.get("/api/events") as response:
        messages = response.iter_encoded()
        next(messages), next(messages)
        assert next(messages).startswith(b"event: alive")


def test_too_many_streams_are_told_to_ask_instead(client: FlaskClient) -> None:
    with client.get("/api/events"), client.get("/api/events"):
        refused = client.get("/api/events")
        assert refused.status_code == 503
        assert "/api/state" in refused.json["error"]
    with client.get("/api/events") as again:
        assert again.status_code == 200


def test_a_hidden_unit_can_be_taken_off(client: FlaskClient, live: Any) -> None:
    assert client.post("/api/take-off", json={"thing": "unit:F1"}).status_code == 204
    assert live.snapshot().position.units == ()


def test_what_is_seen_cannot_be_taken_off(client: FlaskClient) -> None:
    answer = client.post("/api/take-off", json={"thing": "unit:B1"})
    assert answer.status_code == 400
    assert "the camera sees it" in answer.json["error"]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "localhost.evil.example"])
def test_a_strange_name_that_leads_here_is_refused(client: FlaskClient, host: str) -> None:
    assert client.get("/api/position", headers={"Host": host}).status_code == 403
    assert client.get("/picture.jpg", headers={"Host": host}).status_code == 403


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost:8000", "192.168.0.7:8000", "[::1]:8000"]
)
def test_this_machines_own_addresses_are_answered(client: FlaskClient, host: str) -> None:
    assert client.get("/api/position", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("text", ["1e308", "inf", "nan", "-1", "four"])
def test_a_range_that_no_table_has_is_refused(client: FlaskClient, text: str) -> None:
    answer = client.get(f"/api/measure?a=unit:F1&b=unit:F1&within_bw={text}")
    assert answer.status_code == 400
    assert "within_bw" in answer.json["error"]
