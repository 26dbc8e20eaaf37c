"""`tablecam plan` from the outside: words, numbers, a document, a picture, a line for bad input."""

import json

import cv2
import numpy as np
import pytest

from tablecam.cli import main
from tests.commands.refusals import refusal

TABLE = """
format = "tablecam.table"
version = 1
game = "maurice-lite"
[table]
width_mm = 1800
depth_mm = 1200
base_width_mm = 40
[tags]
table_tag_size_mm = 60
table_tags = [ {id = 0, x_mm = 50, y_mm = 50}, {id = 1, x_mm = 1750, y_mm = 50},
               {id = 2, x_mm = 1750, y_mm = 1150}, {id = 3, x_mm = 50, y_mm = 1150} ]
[[base_type]]
name = "foot"
width_mm = 40
depth_mm = 40
tag_size_mm = 12
tag_forward_mm = -11
[[base_type]]
name = "gun"
width_mm = 60
depth_mm = 40
tag_size_mm = 24
[[unit]]
id = "F1"
side = "french"
arm = "infantry"
base_type = "foot"
tags = [10, 11, 12, 13]
[[unit]]
id = "B1"
side = "british"
arm = "artillery"
base_type = "gun"
tags = [20]
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.fixture
def arguments(table):
    return ["plan", "--table", str(table), "--camera-height", "2000", "--resolution", "1920x1080"]


def document(arguments, capsys):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def words(arguments, capsys):
    assert main(arguments) == 0
    return " ".join(capsys.readouterr().out.split())


def test_the_numbers_of_a_webcam_two_metres_up(arguments, capsys):
    said = document(arguments, capsys)
    assert said["sees_table"] is True
    # 1920 / (2 * 2000 * tan(39 degrees)) = 0.5928 px a millimetre, 2 and 4 mm a cell.
    foot, gun = said["tags"]
    assert foot["px_per_cell"] == pytest.approx(1.1855, abs=1e-3)
    assert gun["px_per_cell"] == pytest.approx(2.371, abs=1e-3)
    assert (foot["base_type"], foot["tag_size_mm"]) == ("foot", 12)
    # Not one of the measured tables has tags as small as 1.2 px a cell.
    assert foot["expected"] is None
    assert foot["works"] is False
    expected = gun["expected"]
    assert 0 < expected["recall"] <= 1
    assert 0 < expected["median_mm"] < expected["p95_mm"]
    assert 0 < expected["median_deg"] < expected["p95_deg"]
    # 1200 mm on 96 % of the height.
    assert said["lowest_height_mm"] == pytest.approx(1372, abs=1)


def test_a_longer_lens_by_its_millimetres_is_the_same_as_by_its_degrees(arguments, capsys):
    # 2 * atan(6.4 / (2 * 4)) = 77.32 degrees.
    by_mm = document([*arguments, "--focal-mm", "4", "--sensor-mm", "6.4"], capsys)
    by_degrees = document([*arguments, "--field-of-view", "77.3196"], capsys)
    assert by_mm["camera"]["focal_px"] == pytest.approx(1200.0)
    assert by_degrees["camera"]["focal_px"] == pytest.approx(1200.0, abs=0.01)


def test_words_come_first_and_say_whether_the_table_fits(arguments, capsys):
    said = words(arguments, capsys)
    assert said.startswith("The table of 1800 x 1200 mm fits in the picture and fills 66 %")
    assert "The best height is 1380 mm" in said
    assert "not measured" in said
    arguments[4] = "1000"
    assert "does not fit in the picture: hang the camera at least 1380 mm above the table" in words(
        arguments, capsys
    )


def test_another_size_of_tag_may_be_asked_for(arguments, capsys):
    said = document([*arguments, "--tag-size", "24"], capsys)
    assert [tag["tag_size_mm"] for tag in said["tags"]] == [24, 24]
    assert said["tags"][0]["expected"] is not None


def test_a_camera_beside_the_middle_sees_a_corner_smaller(arguments, capsys):
    said = document([*arguments, "--camera-at", "300,200"], capsys)
    assert said["camera"]["at_mm"] == [300, 200]
    for tag in said["tags"]:
        assert tag["least_px_per_cell"] < 0.9 * tag["px_per_cell"]


def test_a_picture_shows_the_table_and_as_many_tags_as_there_are_kinds(arguments, tmp_path, capsys):
    path = tmp_path / "plan.png"
    assert main([*arguments, "--draw", str(path)]) == 0
    capsys.readouterr()
    drawn = cv2.imread(str(path))
    assert drawn.shape[1] == 1700
    assert drawn.shape[0] > 700
    # Uniformly seen, the map has one colour: that of 1.19 px per cell, near the dark end.
    spot = drawn[drawn.shape[0] // 2 - 60, 300].astype(int)
    ramp = cv2.applyColorMap(np.arange(256, dtype=np.uint8)[None], cv2.COLORMAP_VIRIDIS)[0]
    level = np.abs(ramp.astype(int) - spot).sum(axis=1).argmin()
    assert level == pytest.approx(255 * np.log(1.1855) / np.log(8), abs=2)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({4: "0"}, "--camera-height: expected a number above 0, got 0"),
        ({4: "-5"}, "--camera-height: expected a number above 0, got -5"),
        ({4: "inf"}, "'--camera-height': expected a finite number, got inf"),
        ({4: "nan"}, "'--camera-height': expected a finite number, got nan"),
        ({4: "3"}, "--camera-height: expected 50 to 50000 mm, got 3"),
        ({4: "6e4"}, "--camera-height: expected 50 to 50000 mm, got 60000"),
        ({4: "high"}, "--camera-height"),
        ({6: "big"}, "--resolution: expected WIDTHxHEIGHT such as 1920x1080, got 'big'"),
        ({6: "0x1080"}, "--resolution: expected WIDTHxHEIGHT such as 1920x1080, got '0x1080'"),
        ({2: "no-table.toml"}, "no-table.toml"),
    ],
)
def test_bad_input_is_one_line(arguments, capsys, changes, said):
    for place, text in changes.items():
        arguments[place] = text
    assert said in refused(arguments, capsys)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tag-size", "31"), "--tag-size: expected at most 30 mm"),
        (("--tag-size", "0"), "--tag-size: expected 1 mm or more"),
        (("--tag-size", "1e-320"), "--tag-size: expected 1 mm or more"),
        (("--error-mm", "0"), "--error-mm: expected a number above 0"),
        (("--field-of-view", "190"), "--field-of-view: expected 1 to 150 degrees, got 190"),
        (("--focal-mm", "1", "--sensor-mm", "36"), "--focal-mm: expected 1 to 150 degrees"),
        (("--focal-mm", "4"), "--focal-mm: expected it together with --sensor-mm"),
        (("--focal-mm", "4", "--sensor-mm", "-1"), "--sensor-mm: expected a number above 0"),
        (("--camera-at", "here"), "--camera-at: expected X,Y such as 900,600, got 'here'"),
        (("--camera-at", "900,9000"), "--camera-at: expected a place at most 2400 mm"),
        (("--draw", "plan.doc"), "expected a name that ends in .png or .jpg, got '.doc'"),
    ],
)
def test_an_option_that_cannot_be_is_one_line(arguments, capsys, options, said):
    assert said in refused([*arguments, *options], capsys)


def test_a_tag_that_does_not_fit_its_base_is_one_line(arguments, table, capsys):
    table.write_text(TABLE.replace("tag_size_mm = 12", "tag_size_mm = 90"), encoding="utf-8")
    assert "base_type[1].tag_size_mm: expected a tag that fits" in refused(arguments, capsys)


def test_a_drawing_is_not_written_over_the_table_file(arguments, table, capsys):
    assert "expected a new file to write" in refused([*arguments, "--draw", str(table)], capsys)
    assert table.read_text(encoding="utf-8") == TABLE


def test_a_drawing_takes_no_photographs_place_without_force(arguments, tmp_path, capsys):
    photograph = tmp_path / "scene-1.jpg"
    photograph.write_bytes(b"somebody's own")
    assert "--force overwrites it" in refused([*arguments, "--draw", str(photograph)], capsys)
    assert photograph.read_bytes() == b"somebody's own"
    assert main([*arguments, "--draw", str(photograph), "--force"]) == 0
    assert cv2.imread(str(photograph)) is not None


@pytest.mark.parametrize("option", ["--camera-height", "--tag-size", "--error-mm", "--focal-mm"])
@pytest.mark.parametrize("number", ["nan", "inf", "-1"])
def test_a_number_that_is_none_is_refused_by_its_option(arguments, capsys, option, number):
    line = refused([*arguments, option, number], capsys)
    assert option in line
    assert "fault" not in line


def refused(arguments, capsys):
    return refusal(capsys, *arguments)
