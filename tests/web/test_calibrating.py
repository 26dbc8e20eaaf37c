from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from flask.testing import FlaskClient

from tablecam.simulate.demo import demo_roster
from tests.live_calibration.stepped import PLACES, Stepped, stepped
from web.calibrating import create_calibration_app


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Stepped]:
    with stepped(tmp_path / "camera.json", roster=demo_roster(), places=PLACES[:2]) as live:
        yield live


@pytest.fixture
def client(at: Stepped) -> FlaskClient:
    return create_calibration_app(
        at.live, config={"TESTING": True, "PATIENCE_S": 0.0}
    ).test_client()


def test_the_page_names_no_file_from_elsewhere(client: FlaskClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert "http" not in page.text
    assert "style=" not in page.text
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none'")


def test_the_state_comes_once_and_then_only_when_it_is_newer(
    client: FlaskClient, at: Stepped
) -> None:
    state = client.get("/api/calibration").json
    assert state["stage"] == "lens"
    assert state["say"].startswith("Show the lens board")
    at.step()
    newer = client.get(f"/api/calibration?after={state['version']}").json
    assert newer["version"] > state["version"]
    assert len(newer["seen"]["corners_px"]) == 70
    assert client.get("/api/calibration?after=1000000").status_code == 204


def test_the_picture_comes_smaller_or_whole(client: FlaskClient) -> None:
    whole = client.get("/picture.jpg?whole=1")
    picture = cv2.imdecode(np.frombuffer(whole.data, np.uint8), cv2.IMREAD_COLOR)
    assert picture.shape == (720, 1280, 3)
    assert whole.mimetype == "image/jpeg"


def test_a_deed_answers_with_what_came_of_it(client: FlaskClient, at: Stepped) -> None:
    at.take(1)
    state = client.post("/api/calibration/act", json={"deed": "drop", "view": "view-001"}).json
    assert state["lens"]["views"] == []
    assert state["lens"]["can_undo"]


@pytest.mark.parametrize(
    ("address", "body", "message"),
    [
        ("act", {"deed": "fly"}, "act: deed: expected take-now"),
        ("act", {"deed": "finish-lens"}, "lens: expected at least three views that agree"),
        ("act", {"view": "view-001"}, "act: deed: expected this key"),
        (
            "ruler",
            {"first_px": [1, 2], "second_px": [3, 4], "true_mm": 300},
            "ruler: expected a finished calibration with a table, got none yet",
        ),
        (
            "ruler",
            {"first_px": [1, 2], "second_px": [3, 4], "true_mm": -1},
            "ruler: true_mm: expected a number above 0, got -1",
        ),
        (
            "ruler",
            {"first_px": [1], "second_px": [3, 4], "true_mm": 300},
            "ruler: first_px: expected at least 2 elements, got 1",
        ),
        (
            "hexmap",
            {"taps": [{"hex": "0101", "at_px": [1, 2]}]},
            "hexmap: expected a finished calibration with a table, got none yet",
        ),
        (
            "hexmap",
            {"taps": [{"hex": "0101", "at_px": [1, 2]}] * 2},
            'hexmap: expected each hex once, got "0101" twice',
        ),
    ],
    ids=[
        "unknown deed",
        "too early",
        "no deed",
        "no table",
        "negative length",
        "half a point",
        "no table to fit",
        "twice",
    ],
)
def test_what_cannot_be_done_is_answered_in_one_line(
    client: FlaskClient, address: str, body: dict[str, object], message: str
) -> None:
    answer = client.post(f"/api/calibration/{address}", json=body)
    assert answer.status_code == 400
    assert answer.json["error"].startswith(message)


def test_other_peoples_pages_may_do_nothing(client: FlaskClient) -> None:
    stranger = {"Origin": "http://elsewhere.example"}
    body = {"deed": "start-over"}
    assert client.post("/api/calibration/act", json=body, headers=stranger).status_code == 403
    assert client.post("/api/calibration/act", data=body).status_code == 415
