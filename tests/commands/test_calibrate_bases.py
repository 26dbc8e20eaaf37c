"""`tablecam calibrate bases` from the outside: pictures of the jig in, `bases.json` out."""

import json
import re

import cv2
import numpy as np
import pytest

from calibration.results import CameraFile, Origin, TableCalibration
from tablecam.cli import main
from tablecam.record.camera_file import write_camera_file
from tablecam.simulate.demo import demo_camera, demo_text
from tablecam.simulate.jig_source import Push
from tests.commands.refusals import refusal
from tests.live_calibration.jig import frames

PUSHES = (Push(10), Push(10, 180.0), Push(11), Push(11, 180.0))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table file, its camera file, and pictures of two bases in the jig."""
    folder = tmp_path_factory.mktemp("jig")
    text = re.sub(r"glue_sigma_\w+ = 0.*", "", demo_text(None, "table") or "")
    (folder / "table.toml").write_text(text, encoding="utf-8")
    lens, pose = demo_camera().lens, demo_camera().pose
    origin = Origin("2025-01-01T00:00:00Z", ("truth",))
    table = TableCalibration(lens, pose, np.zeros((15, 15)), 0.0, 0.0, (), origin)
    camera = CameraFile("true", lens.width_px, lens.height_px, table=table)
    write_camera_file(folder / "camera.json", camera)
    shoot(folder / "pushes", PUSHES)
    return folder


def shoot(folder, pushes, *, missing=0):
    folder.mkdir()
    for frame in frames(pushes, camera=demo_camera(), missing=missing):
        assert cv2.imwrite(str(folder / f"{frame.number}.png"), frame.image)


@pytest.fixture
def arguments(folder, tmp_path):
    """The command with a bases file of its own; the pictures come last."""
    files = {"--table": folder / "table.toml", "--camera": folder / "camera.json"}
    files["--bases"] = tmp_path / "bases.json"
    return [
        "calibrate",
        "bases",
        *(str(part) for pair in files.items() for part in pair),
        "--source",
    ]


def test_a_folder_of_pictures_becomes_a_bases_file_that_snapshot_reads(
    folder, arguments, tmp_path, capsys
):
    assert main([*arguments, str(folder / "pushes")]) == 0
    said = capsys.readouterr().err
    assert "base 11 of P1: its tag lies" in said
    assert "bases.json: 2 bases calibrated; 76 bases left" in said
    snapshot = ["snapshot", str(folder / "pushes" / "3.png"), *arguments[2:-1]]
    assert main(snapshot) == 0
    (unit,) = json.loads(capsys.readouterr().out)["units"]
    (base,) = unit["bases"]
    assert base["glue"]["sigma_mm"] < 0.1
    # Without a file beside the camera file, the glue errors are those assumed of hands.
    assert main(snapshot[:-2]) == 0
    (unit,) = json.loads(capsys.readouterr().out)["units"]
    assert unit["bases"][0]["glue"]["sigma_mm"] == 0.4


def test_a_sheet_that_is_not_seen_is_one_line(folder, arguments, tmp_path, capsys):
    shoot(tmp_path / "hidden", [Push(10)], missing=2)
    assert re.fullmatch(
        r"tablecam: jig: expected 3 of the sheet's 4 tags or more, got 2 \(not seen: 246, 247\)",
        refusal(capsys, *arguments, tmp_path / "hidden"),
    )
    assert not (tmp_path / "bases.json").exists()


def test_a_crooked_base_is_one_line(arguments, tmp_path, capsys):
    shoot(tmp_path / "crooked", [Push(10, crooked_deg=9.0)])
    line = refusal(capsys, *arguments, tmp_path / "crooked")
    assert line.startswith("base 10 of P1: it is crooked by 9")
    assert not (tmp_path / "bases.json").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"owner": "X9"}, "expected a tag of .*, got 10 of X9: these are the bases of another"),
        ({"tag": 249}, "expected a tag of .*, got 249 of P1: these are the bases of another"),
        ({"width_mm": 60.0}, "expected a base of 30 x 30 mm .*, got 60 x 30 mm"),
        ({"sigma_mm": -1.0}, "sigma_mm: expected .*0"),
    ],
    ids=["another owner", "another tag", "another size", "a negative sigma"],
)
def test_bases_of_another_table_are_one_line(change, message, folder, arguments, tmp_path, capsys):
    base = {
        "tag": 10,
        "owner": "P1",
        "tag_right_mm": 0.1,
        "tag_forward_mm": -5.1,
        "tag_turn_deg": 0.5,
        "width_mm": 30.0,
        "depth_mm": 30.0,
        "sigma_mm": 0.05,
        "sigma_deg": 0.1,
    }
    path = tmp_path / "bases.json"
    text = json.dumps({"format": "tablecam.bases", "version": 1, "bases": [base | change]})
    path.write_text(text, encoding="utf-8")
    line = refusal(capsys, *arguments, folder / "pushes")
    assert line.startswith(f"tablecam: {path}")
    assert re.search(message, line)
    assert path.read_text(encoding="utf-8") == text


def test_a_camera_file_is_asked_for(capsys):
    line = refusal(capsys, "calibrate", "bases", "--table", "table.toml")
    assert "--camera: expected a file, got none (only `--source simulated` brings" in line


def test_a_missing_table_file_is_named_before_a_camera_file_is_asked_for(capsys):
    assert "nope.toml: there is no such file" in refusal(capsys, "run", "--table", "nope.toml")


@pytest.mark.parametrize("command", [["demo"], ["run", "--source", "simulated"]])
def test_a_demo_of_glued_bases_asks_for_a_file_that_is_there(command, capsys):
    assert "nope.json: there is no such file" in refusal(capsys, *command, "--bases", "nope.json")
