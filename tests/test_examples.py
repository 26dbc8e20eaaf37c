"""The examples run as they are, on files from a simulated table."""

from __future__ import annotations

import json
import runpy
import threading
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

import cv2
import numpy as np
import pytest

from calibration.results import CAMERA_PARAMETERS, CameraFile, Origin, TableCalibration
from tablecam.record.camera_file import write_camera_file
from tablecam.rules.games import known_games
from tablecam.simulate.demo import demo_camera, embedded_demo
from tablecam.simulate.source import SimulatedSource
from tablecam.table.position_file import position_from_json, position_to_json
from tests.patience import PATIENCE_S, comes_true
from tests.replay.golden_recordings import made
from tests.web.standing import StandingTable
from web import Server, create_app

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture
def printed(monkeypatch, capsys):
    """The output of an example, given its arguments."""

    def run(name: str, *arguments: object) -> str:
        path = str(ROOT / "examples" / name)
        monkeypatch.setattr("sys.argv", [path, *map(str, arguments)])
        runpy.run_path(path, run_name="__main__")
        return capsys.readouterr().out

    return run


@pytest.fixture
def position(tmp_path) -> Path:
    path = tmp_path / "position.json"
    path.write_text(json.dumps(position_to_json(embedded_demo().truth())), encoding="utf-8")
    return path


def test_there_are_five_examples_of_at_most_40_lines() -> None:
    lines = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in EXAMPLES}
    assert len(lines) == 5
    assert max(lines.values()) <= 40
    readme = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [name for name in lines if f"]({name})" not in readme] == []


def test_a_picture_becomes_a_position(tmp_path, printed) -> None:
    simulated, camera = embedded_demo(), demo_camera(1600, 900)
    simulated.pause()
    picture, table = tmp_path / "table.png", tmp_path / "table.toml"
    cv2.imwrite(str(picture), SimulatedSource(simulated, camera, is_paced=False).read().image)
    text = (files("tablecam.simulate") / "demo_table.toml").read_text(encoding="utf-8")
    table.write_text(text, encoding="utf-8")
    exact = np.zeros((len(CAMERA_PARAMETERS), len(CAMERA_PARAMETERS)))
    origin = Origin("2026-05-01T00:00:00Z", ("simulated",))
    calibration = TableCalibration(camera.lens, camera.pose, exact, 0.0, 0.0, (), origin)
    write_camera_file(
        tmp_path / "camera.json", CameraFile("simulated", 1600, 900, table=calibration)
    )

    document = printed("picture_to_position.py", picture, table, tmp_path / "camera.json")
    position, truth = (
        position_from_json(json.loads(document), games=known_games()),
        simulated.truth(),
    )
    true_base = truth.unit("P1").bases[0]
    base = position.unit("P1").bases[0]
    assert len(position.units) >= 0.8 * len(truth.units)
    assert (base.x_mm, base.y_mm) == pytest.approx((true_base.x_mm, true_base.y_mm), abs=2.0)


def test_two_units_are_measured(position, printed) -> None:
    assert printed("measure.py", position, "unit:P1", "unit:A1") == "355.0 ± 0.0 mm, 11.83 BW\n"


def test_a_side_gets_its_table_of_rulings(position, printed) -> None:
    table = printed("rulings_table.py", position, "prussian")
    (near,) = [line for line in table.splitlines() if line.startswith("P1     M-1.9")]
    assert near.split()[2] == "no"
    assert "A1" not in {line.split()[0] for line in table.splitlines()}


def test_a_recording_is_read(tmp_path, printed) -> None:
    made(tmp_path / "evening.tablecam")
    first, begins, *rest = printed("read_recording.py", tmp_path / "evening.tablecam").splitlines()
    assert first == "Maurice Lite, started 2026-05-01 19:30"
    assert "a game begins" in begins
    assert len(rest) > 20


def test_an_overlay_follows_the_table(tmp_path, printed) -> None:
    overlay = tmp_path / "overlay.svg"
    with Server(create_app(StandingTable()), port=0) as server:

        def close_once_drawn() -> None:
            comes_true(lambda: overlay.exists() and overlay.read_text().endswith("</svg>\n"))
            server.close()

        closing = threading.Thread(target=close_once_drawn)
        closing.start()
        printed("overlay.py", server.address, overlay)
        closing.join(PATIENCE_S)
    drawn = ElementTree.parse(overlay).getroot()
    titles = [title.text for title in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["F1", "F1"]
