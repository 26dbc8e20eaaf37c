"""Rulings through the application."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tablecam.table.model import BasePose, Unit
from tablecam.table.roster import UnitEntry
from tests.web.standing import F1, FOOT, POSITION, ROSTER, StandingTable

WHOLE = (
    UnitEntry("F2", "french", "infantry", FOOT, (12, 13, 14, 15)),
    UnitEntry("B1", "british", "infantry", FOOT, (20, 21, 22, 23)),
)


def standing(entry: UnitEntry, y_mm: float, heading_deg: float) -> Unit:
    bases = tuple(
        BasePose(800 + 40 * place, y_mm, heading_deg, 40, 40, tag=tag)
        for place, tag in enumerate(entry.tags)
    )
    return Unit(entry.id, entry.side, entry.arm, bases, "line")


@pytest.fixture
def live() -> StandingTable:
    """Two whole units that face each other, and one that lacks half of its bases."""
    units = (F1, standing(WHOLE[0], 400, 90), standing(WHOLE[1], 540, 270))
    roster = replace(ROSTER, units=(ROSTER.units[0], *WHOLE))
    return StandingTable(roster=roster, position=replace(POSITION, units=units))


def test_a_page_learns_whether_there_is_a_rulebook(client: FlaskClient, live: Any) -> None:
    assert client.get("/api/table").json["rulebook"] is True
    live.has_rules = False
    assert client.get("/api/table").json["rulebook"] is False


def test_a_units_sheet_is_asked_for_by_unit_and_side(client: FlaskClient) -> None:
    sheet = client.get("/api/rulings/unit?unit=B1&active=french").json
    assert (sheet["unit"], sheet["active"], sheet["version"]) == ("B1", "french", 3)
    assert sheet["sections"][0]["key"] == "near_enemy"
    assert set(sheet["sections"][0]) == {"key", "title", "lines", "shapes"}
    line = sheet["sections"][0]["lines"][0]
    assert set(line) == {"text", "answer", "rule", "reading", "question"}
    assert line["question"]["id"] == "near/B1"


def test_a_pairs_sheet_is_asked_for_by_both_units(client: FlaskClient) -> None:
    sheet = client.get("/api/rulings/pair?a=F2&b=B1&active=british").json
    assert (sheet["a"], sheet["b"], sheet["active"]) == ("F2", "B1", "british")
    assert [section["key"] for section in sheet["sections"]][:2] == ["range", "contact"]


def test_only_the_sections_that_the_page_shows_are_worked_out(client: FlaskClient) -> None:
    sheet = client.get("/api/rulings/pair?a=F2&b=B1&active=french&only=flank,fire").json
    asked = [section["key"] for section in sheet["sections"] if section["lines"] is not None]
    assert asked == ["flank", "fire"]
    assert len(sheet["sections"]) > len(asked)


def test_a_unit_that_lacks_bases_is_told_of_by_a_warning_alone(client: FlaskClient) -> None:
    sheet = client.get("/api/rulings/unit?unit=F1&active=french").json
    assert sheet["sections"] == []
    assert sheet["warnings"] == ["F1 is left out: 2 of its 4 bases are on the table"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("unit?active=french", "request: unit: expected a unit"),
        ("unit?unit=B1", "request: active: expected the active side"),
        ("unit?unit=B1&active=swedish", "request: active: expected one of french, british"),
        ("unit?unit=X9&active=french", 'rulings: there is no unit "X9"'),
        ("pair?a=B1&active=french", "request: b: expected another unit"),
        ("pair?a=B1&b=B1&active=french", "rulings: expected two units, got B1 twice"),
    ],
)
def test_sheets_are_refused_in_one_line(client: FlaskClient, path: str, said: str) -> None:
    response = client.get(f"/api/rulings/{path}")
    assert response.status_code == 400
    assert response.json["error"].startswith(said)
    assert "\n" not in response.json["error"]


def disputed(client: FlaskClient) -> Any:
    body = {"question": "flank/F2/B1", "active": "french"}
    return client.post("/api/disputes", json=body)


def test_a_dispute_is_made_listed_and_found_again(client: FlaskClient) -> None:
    response = disputed(client)
    assert response.status_code == 201
    made = response.json
    assert set(made) == {
        "number", "at", "question", "active", "answer", "line", "version", "picture",
    }  # fmt: skip
    assert made["question"]["text"] == "Is B1 to the flank of F2?"
    assert client.get("/api/disputes").json["disputes"] == [made]
    assert client.get(f"/api/disputes/{made['number']}").json == made


def test_a_dispute_is_news_to_all_who_listen(client: FlaskClient) -> None:
    before = client.get("/api/state").json
    assert before["disputes"] == 0
    disputed(client)
    after = client.get(f"/api/state?after={before['version']}").json
    assert after["disputes"] == 1


def test_without_a_frame_a_dispute_has_no_picture(client: FlaskClient) -> None:
    made = disputed(client).json
    assert made["picture"] is None
    assert client.get(f"/api/disputes/{made['number']}/picture.jpg").status_code == 404


def test_a_disputes_position_is_a_position_document(client: FlaskClient) -> None:
    number = disputed(client).json["number"]
    document = client.get(f"/api/disputes/{number}/position").json
    assert document["format"] == "tablecam.position"
    assert [unit["id"] for unit in document["units"]] == ["F2", "B1"]  # F1 was left out


@pytest.mark.parametrize("path", ["7", "7/picture.jpg", "7/position", "x"])
def test_an_unknown_dispute_is_not_found(client: FlaskClient, path: str) -> None:
    response = client.get(f"/api/disputes/{path}")
    assert response.status_code == 404
    assert "error" in response.json


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"active": "french"}, "dispute: question: expected this key"),
        ({"question": "near/B1"}, "dispute: active: expected this key"),
        ({"question": 3, "active": "french"}, "dispute: question: expected"),
        ({"question": "", "active": "french"}, "dispute: question: expected"),
        ({"question": "near/B1", "active": "french", "x": 1}, "dispute: x: unknown key"),
        ({"question": "flank/B1/X", "active": "french"}, "question: expected the id of a question"),
        ({"question": "near/B1", "active": "x"}, "request: active: expected one of"),
    ],
)
def test_disputes_are_refused_in_one_line(
    client: FlaskClient, body: dict[str, Any], said: str
) -> None:
    response = client.post("/api/disputes", json=body)
    assert response.status_code == 400
    assert response.json["error"].startswith(said)
    assert client.get("/api/disputes").json["disputes"] == []


def test_another_sites_page_cannot_dispute(app: Flask) -> None:
    client = app.test_client()
    body = {"question": "near/B1", "active": "french"}
    stranger = {"Origin": "http://elsewhere.example"}
    assert client.post("/api/disputes", json=body, headers=stranger).status_code == 403
    assert client.post("/api/disputes", data=body).status_code == 415
    assert client.get("/api/disputes").json["disputes"] == []
