"""`tablecam hexmap fit`: four hexes of a bought map give its section of the table file."""

import json
import tomllib
from dataclasses import replace

import numpy as np
import pytest

from calibration.results import CameraFile, Origin, TableCalibration
from tablecam.cli import main
from tablecam.record.camera_file import write_camera_file
from tablecam.rules.hexes.grid import grid_of
from tablecam.simulate.demo import demo_camera
from tablecam.table.model import BasePose, Position, Unit
from tablecam.table.position_file import position_to_json
from tests.commands.refusals import refusal
from tests.rules.hexes.drill import house_roster

HEXES = {"0101": "Cannon", "1601": "Guns", "1612": "Scouts", "0112": "Late"}


@pytest.fixture(scope="module")
def true_map():
    return replace(
        house_roster().table.hex_map, hex_size_mm=20.8, origin_mm=(86.0, 294.0), rotation_deg=0.7
    )


@pytest.fixture
def laid(tmp_path, true_map):
    """The position of four counters in the middle of four hexes of the true map."""
    roster, grid = house_roster(), grid_of(true_map)
    units = tuple(
        Unit(entry.id, entry.side, entry.arm, (BasePose(*grid.middle_mm((number,)), 0, 15, 15),))
        for number, name in HEXES.items()
        for entry in roster.units
        if entry.id == name
    )
    path = tmp_path / "laid.json"
    path.write_text(json.dumps(position_to_json(Position(roster.game, roster.table, units))))
    return path


def on(hexes=HEXES):
    return [word for number, name in hexes.items() for word in ("--on", f"{number}={name}")]


def test_counters_on_four_hexes_give_the_section_map(house_table, laid, true_map, capsys):
    assert main(["hexmap", "fit", "--table", str(house_table), "--position", str(laid), *on()]) == 0
    said = capsys.readouterr()
    section = tomllib.loads(said.out)["map"]
    assert section["hex_size_mm"] == pytest.approx(20.8, abs=0.01)
    assert section["origin_mm"] == pytest.approx([86.0, 294.0], abs=0.05)
    assert section["rotation_deg"] == pytest.approx(0.7, abs=0.01)
    assert section["columns"] == 16
    assert said.err.splitlines()[0] == "0101: 0.00 mm off (0.000 of a hex)"


def test_taps_on_the_camera_s_picture_serve_as_well(house_table, tmp_path, true_map, capsys):
    camera = demo_camera(1280, 720, house_roster().table)
    lens, pose = camera.lens, camera.pose
    origin = Origin("2025-01-01T00:00:00Z", ("truth",))
    calibration = TableCalibration(lens, pose, np.zeros((15, 15)), 0.0, 0.0, (), origin)
    path = tmp_path / "camera.json"
    write_camera_file(path, CameraFile("true", lens.width_px, lens.height_px, table=calibration))
    taps = []
    for number in HEXES:
        ((x_px, y_px),) = camera.to_image([[*grid_of(true_map).middle_mm((number,)), 0.0]])
        taps += ["--tap", f"{number}={x_px:.1f},{y_px:.1f}"]
    assert main(["hexmap", "fit", "--table", str(house_table), "--camera", str(path), *taps]) == 0
    section = tomllib.loads(capsys.readouterr().out)["map"]
    assert section["origin_mm"] == pytest.approx([86.0, 294.0], abs=0.3)


def test_a_counter_in_the_wrong_hex_is_refused_and_each_residual_said(house_table, laid, capsys):
    wrong = {"0202" if number == "0101" else number: name for number, name in HEXES.items()}
    assert (
        main(["hexmap", "fit", "--table", str(house_table), "--position", str(laid), *on(wrong)])
        == 2
    )
    said = capsys.readouterr()
    assert said.out == ""
    *residuals, refused = said.err.splitlines()
    assert [line[:4] for line in residuals if "mm off" in line] == [*wrong]
    assert "expected every place within 0.15 of a hex, got" in refused


def test_another_shift_that_fits_better_is_named(house_table, laid, true_map, capsys):
    # On the map as printed the odd columns lie lower.
    text = house_table.read_text(encoding="utf-8")
    house_table.write_text(text.replace('shifted = "even"', 'shifted = "odd"'), encoding="utf-8")
    main(["hexmap", "fit", "--table", str(house_table), "--position", str(laid), *on()])
    assert 'another numbering fits better: shifted = "even"' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--on", "0101=Cannon"], "--on: expected --position with it, got none"),
        (["--tap", "0101=10,10"], "--tap: expected --camera with it, got none"),
        ([], "hexmap fit: expected 4 hexes or more, got 0"),
        (["--on", "0101"], "--on: expected HEX=..., got"),
        (["--on", "0101=X9"], "--on: expected a counter of the position, got"),
    ],
)
def test_what_cannot_be_fitted_is_one_line(house_table, laid, capsys, options, said):
    if said.startswith(("--on: expected HEX", "--on: expected a counter")):
        options = [*options, "--position", laid]
    assert said in refusal(capsys, "hexmap", "fit", "--table", house_table, *options)


def test_hexes_off_the_map_and_tables_without_one_are_one_line(house_table, laid, capsys):
    few = on({**dict([*HEXES.items()][:3]), "1713": "Late"})
    line = refusal(capsys, "hexmap", "fit", "--table", house_table, "--position", laid, *few)
    assert "expected a hex of the map, 0101 to 1612, got 1713" in line
    text = house_table.read_text(encoding="utf-8")
    bare = text[: text.index("[map]")] + text[text.index("[tags]") :]
    house_table.write_text(bare.replace("maida-1806", "free"), encoding="utf-8")
    line = refusal(capsys, "hexmap", "fit", "--table", house_table, "--position", laid, *on())
    assert "map: expected a table on hexes, but it has no [map]" in line
