"""`tablecam calibrate`: good pictures give a camera file, bad ones a line, and nothing is lost."""

import io
import json
import re
import shutil
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from tablecam.cli import main
from tablecam.record.camera_file import read_camera_file

TABLE = """
format = "tablecam.table"
version = 1
game = "maurice-lite"

[table]
width_mm = 1800
depth_mm = 1200
base_width_mm = 40

[tags]
dictionary = "DICT_4X4_250"
table_tag_size_mm = 60
table_tags = [ {id = 0, x_mm = 50, y_mm = 50}, {id = 1, x_mm = 1750, y_mm = 50},
               {id = 2, x_mm = 1750, y_mm = 1150}, {id = 3, x_mm = 50, y_mm = 1150} ]

[[base_type]]
name = "foot"
width_mm = 40
depth_mm = 40
tag_size_mm = 14

[[unit]]
id = "F1"
side = "french"
arm = "infantry"
base_type = "foot"
tags = [10, 11, 12, 13]
"""


@pytest.fixture
def table_path(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(TABLE)
    return path


@pytest.fixture(scope="module")
def chessboards(shared):
    return shared / "real" / "chessboard"


@pytest.fixture
def camera_path(tmp_path):
    return tmp_path / "camera.json"


@pytest.fixture(scope="module")
def lens_found(shared, tmp_path_factory):
    """The lens of the footage's smaller camera: its camera file, and the command's output."""
    return _found(shared / "footage/hd-b/lens", tmp_path_factory.mktemp("lens") / "camera.json")


@pytest.fixture
def lens_file(lens_found):
    return lens_found.path


@pytest.fixture(scope="module")
def chessboard_lens(chessboards, tmp_path_factory):
    """The same for a camera whose views show a chessboard."""
    path = tmp_path_factory.mktemp("chessboard") / "camera.json"
    return _found(chessboards, path, "--chessboard", "9x6")


def _found(pictures, path, *more):
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        assert _lens(pictures, path, *more) == 0
    return SimpleNamespace(path=path, out=out.getvalue(), err=err.getvalue())


def _lens(pictures, out, *more):
    named = pictures if isinstance(pictures, list) else [pictures]
    return main(["calibrate", "lens", *map(str, named), "--out", str(out), *more])


def _table(picture, table_path, camera_path, *more):
    options = ["--table", str(table_path), "--camera", str(camera_path)]
    return main(["calibrate", "table", str(picture), *options, *more])


def test_real_chessboard_views_give_a_lens(chessboards, chessboard_lens):
    said = chessboard_lens
    lens = read_camera_file(said.path).lens
    assert lens.rms_px < 0.25
    assert [view.name for view in lens.views] == [
        path.name for path in sorted(chessboards.iterdir())
    ]
    assert "left01.jpg" in said.out
    assert "fx_px" in said.out
    assert "Reprojection error 0.1" in said.out
    assert "Still needed: " in " ".join(said.out.split())
    assert "camera.json: written" in said.err
    coverage = said.path.with_name("camera.coverage.png")
    assert cv2.imread(str(coverage)) is not None


def test_a_calibration_is_called_as_it_was_named_in_one_line(
    chessboards, camera_path, tmp_path, capsys
):
    # A picture's name in brackets is a name, no markup.
    named = tmp_path / "views"
    named.mkdir()
    for picture in chessboards.iterdir():
        (named / f"[{picture.stem}].jpg").write_bytes(picture.read_bytes())
    options = ["--chessboard", "9x6", "--name", "Café Müller, north"]
    assert _lens(named, camera_path, *options) == 0
    assert read_camera_file(camera_path).title == "Café Müller, north"
    assert "[left01].jpg" in capsys.readouterr().out
    assert _lens(chessboards, camera_path, "--name", "two\nlines") == 2
    assert "expected one line of at most 60 characters" in capsys.readouterr().err


def test_json_is_the_only_thing_on_standard_output(chessboards, camera_path, capsys):
    drawn = camera_path.with_name("seen.png")
    options = ["--chessboard", "9x6", "--coverage", str(drawn), "--json"]
    assert _lens(chessboards, camera_path, *options) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["files"] == {
        "camera": str(camera_path),
        "kept": None,
        "kept_coverage": None,
        "coverage": str(drawn),
    }
    assert document["name"] == read_camera_file(camera_path).name
    assert [view["used"] for view in document["views"]] == [True] * 13
    assert set(document["parameters"]["k1"]) == {"value", "sigma"}
    assert 1.0 < document["sigma_px"] < 20.0  # thirteen views, none in the corners
    assert any("of the picture" in wanting for wanting in document["wanting"])
    assert drawn.exists()


def test_views_that_show_nothing_new_or_are_blurred_are_named_with_the_reason(
    chessboards, camera_path, tmp_path, capsys
):
    folder = tmp_path / "views"
    shutil.copytree(chessboards, folder)
    shutil.copy(folder / "left03.jpg", folder / "left99.jpg")
    soft = cv2.GaussianBlur(cv2.imread(str(folder / "left05.jpg")), (0, 0), 2.5)
    cv2.imwrite(str(folder / "left05.jpg"), soft)
    assert _lens(folder, camera_path, "--chessboard", "9x6", "--json") == 0
    views = json.loads(capsys.readouterr().out)["views"]
    because = {view["name"]: view["because"] for view in views if not view["used"]}
    assert set(because) == {"left05.jpg", "left99.jpg"}
    assert "blurred" in because["left05.jpg"]
    assert "the same place as in left03.jpg" in because["left99.jpg"]


def test_a_lens_found_again_keeps_the_old_file_and_says_so(
    chessboards, chessboard_lens, camera_path, capsys
):
    shutil.copy(chessboard_lens.path, camera_path)
    before = camera_path.read_bytes()
    photograph = camera_path.with_suffix(".coverage.png")
    photograph.write_bytes(b"somebody's own")
    assert _lens(chessboards, camera_path, "--chessboard", "9x6") == 0
    (kept,) = camera_path.parent.glob("camera.*.json")
    assert kept.read_bytes() == before
    said = capsys.readouterr().err
    assert str(kept) in said
    assert "calibrate the table again" in said
    kept_photograph = camera_path.with_suffix(".coverage.old.png")
    assert kept_photograph.read_bytes() == b"somebody's own"
    assert f"{kept_photograph}: backup of the previous file" in said


def test_the_table_is_found_with_a_lens_and_the_lens_file_is_kept(
    shared, lens_file, camera_path, table_path, capsys
):
    shutil.copy(lens_file, camera_path)
    lens_name = read_camera_file(camera_path).name
    assert _table(shared / "footage/hd-b/empty.jpg", table_path, camera_path) == 0
    camera_file = read_camera_file(camera_path)
    assert camera_file.camera().pose.camera_centre_mm == pytest.approx(
        [888.19, 473.36, 1860], abs=1.0
    )
    assert camera_file.lens.origin == read_camera_file(lens_file).lens.origin
    assert camera_file.name != lens_name
    kept = camera_path.with_name(f"camera.{lens_name}.json")
    assert kept.read_bytes() == lens_file.read_bytes()
    said = capsys.readouterr()
    assert str(kept) in said.err
    head = next(line for line in said.out.splitlines() if "off mm" in line)
    assert re.split(r"\s{2,}", head.strip()) == ["table tag", "x off mm", "y off mm", "off mm"]
    assert "not calibrated" not in said.out


def test_without_a_camera_file_the_table_is_found_and_the_gain_of_a_lens_is_said(
    shared, camera_path, table_path, capsys
):
    assert _table(shared / "footage/hd-b/empty.jpg", table_path, camera_path, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["lens_calibrated"] is False
    assert document["sigma_with_lens_mm"] < 0.3 * document["sigma_mm"]
    assert [tag["id"] for tag in document["tags"]] == [0, 1, 2, 3]
    again = camera_path.with_name("again.json")
    assert _table(shared / "footage/hd-b/empty.jpg", table_path, again) == 0
    assert "The lens is not calibrated" in capsys.readouterr().out
    assert read_camera_file(again).lens is None


def test_placing_the_table_twice_changes_nothing(shared, lens_file, camera_path, table_path):
    shutil.copy(lens_file, camera_path)
    covariances = []
    for _ in range(2):
        assert _table(shared / "footage/hd-b/empty.jpg", table_path, camera_path) == 0
        covariances.append(read_camera_file(camera_path).table.covariance)
    assert np.array_equal(*covariances)


def test_out_leaves_the_camera_file_as_it_was(shared, lens_file, camera_path, table_path):
    shutil.copy(lens_file, camera_path)
    other = camera_path.with_name("other.json")
    picture = shared / "footage/hd-b/empty.jpg"
    assert _table(picture, table_path, camera_path, "--out", str(other)) == 0
    assert camera_path.read_bytes() == lens_file.read_bytes()
    assert read_camera_file(other).table is not None


def _tag_sheet(path, ids):
    sheet = np.full((480, 640), 210, np.uint8)
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250)
    for number, tag in enumerate(ids):
        sheet[100:160, 60 + 140 * number :][:, :60] = dictionary.generateImageMarker(tag, 60)
    cv2.imwrite(str(path), sheet)
    return path


def _everything(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def _refused(capsys, folder, run):
    """The one line of a refused command; every file is as it was."""
    before = _everything(folder)
    assert run() == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert _everything(folder) == before
    (line,) = said.err.splitlines()
    return line


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"", "empty"), (b"\xff\xd8\xff\xe0junk", "cannot be read"), (b"text", "cannot be read")],
)
def test_an_unreadable_picture_is_refused(tmp_path, camera_path, capsys, content, expected):
    picture = tmp_path / "bad.jpg"
    picture.write_bytes(content)
    line = _refused(capsys, tmp_path, lambda: _lens(picture, camera_path))
    assert "bad.jpg" in line
    assert expected in line


def test_a_folder_without_pictures_is_refused(tmp_path, camera_path, capsys):
    folder = tmp_path / "empty"
    folder.mkdir()
    line = _refused(capsys, tmp_path, lambda: _lens(folder, camera_path))
    assert "no pictures" in line


def test_a_lens_that_is_known_well_enough_is_called_so_with_the_next_step(lens_found):
    said = lens_found
    assert "0.03 px (one sigma): good enough." in " ".join(said.out.split())
    assert "Still wanting" not in said.out
    assert f"tablecam calibrate table PICTURE --table table.toml --camera {said.path}" in said.err


def test_a_missing_picture_is_refused(tmp_path, camera_path, capsys):
    line = _refused(capsys, tmp_path, lambda: _lens(tmp_path / "none.jpg", camera_path))
    assert "none.jpg" in line


def test_a_view_without_a_board_is_refused(chessboards, tmp_path, camera_path, capsys):
    blank = _tag_sheet(tmp_path / "blank.png", [])
    pictures = [chessboards / "left01.jpg", blank]
    line = _refused(capsys, tmp_path, lambda: _lens(pictures, camera_path, "--chessboard", "9x6"))
    assert "blank.png: expected a picture of the whole 9x6 chessboard, found none" in line
    line = _refused(capsys, tmp_path, lambda: _lens([blank, chessboards], camera_path))
    assert "blank.png: expected a view of the lens board" in line
    assert "13 more such pictures" in line


def test_views_of_different_sizes_are_refused(chessboards, tmp_path, camera_path, capsys):
    larger = tmp_path / "larger.png"
    cv2.imwrite(str(larger), cv2.resize(cv2.imread(str(chessboards / "left02.jpg")), (800, 600)))
    pictures = [chessboards / "left01.jpg", larger]
    line = _refused(capsys, tmp_path, lambda: _lens(pictures, camera_path, "--chessboard", "9x6"))
    assert "larger.png: expected a picture of 640x480 px like left01.jpg, got 800x600" in line


def test_too_few_views_are_refused(chessboards, tmp_path, camera_path, capsys):
    pictures = [chessboards / "left01.jpg", chessboards / "left02.jpg"]
    line = _refused(capsys, tmp_path, lambda: _lens(pictures, camera_path, "--chessboard", "9x6"))
    assert "expected 3 usable views of the board or more, got 2" in line


@pytest.mark.parametrize("text", ["9", "9x2", "ax6", "9*6"])
def test_a_chessboard_that_is_none_is_refused(tmp_path, camera_path, capsys, text):
    line = _refused(capsys, tmp_path, lambda: _lens(tmp_path, camera_path, "--chessboard", text))
    assert "--chessboard" in line
    assert "9x6" in line


def test_places_that_cannot_be_written_are_refused_before_any_work(tmp_path, capsys):
    nowhere = tmp_path / "nowhere" / "camera.json"
    assert "folder that exists" in _refused(capsys, tmp_path, lambda: _lens(tmp_path, nowhere))
    assert "got a folder" in _refused(capsys, tmp_path, lambda: _lens(tmp_path, tmp_path))
    line = _refused(
        capsys,
        tmp_path,
        lambda: _lens(tmp_path, tmp_path / "camera.json", "--coverage", str(tmp_path / "a.toml")),
    )
    assert "ends in .png" in line
    assert "got a folder" in _refused(capsys, tmp_path, lambda: _lens(tmp_path, "."))


def _with(path, **changes):
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | changes))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"version": 2}, "camera.json:1: version: expected 1, got 2"),
        ({"format": "tablecam.table"}, 'camera.json:1: format: expected "tablecam.camera"'),
        ({"zoom": 1}, "camera.json:1: zoom: unknown key"),
        ({"width_px": 1280}, "expected a picture of 1280x1080 px as in"),
    ],
    ids=["another version", "another format", "a wrong key", "another size"],
)
def test_a_camera_file_that_does_not_fit_is_refused(
    shared, lens_file, camera_path, table_path, tmp_path, capsys, changes, expected
):
    shutil.copy(lens_file, camera_path)
    _with(camera_path, **changes)
    picture = shared / "footage/hd-b/empty.jpg"
    line = _refused(capsys, tmp_path, lambda: _table(picture, table_path, camera_path))
    assert expected in line


def test_fewer_than_three_table_tags_in_view_are_refused(tmp_path, camera_path, table_path, capsys):
    picture = _tag_sheet(tmp_path / "two.png", [0, 3])
    line = _refused(capsys, tmp_path, lambda: _table(picture, table_path, camera_path))
    assert (
        "two.png: expected 3 table tags or more in view, got 2 (seen: 0, 3; missing: 1, 2)" in line
    )


def test_a_table_file_with_a_wrong_key_is_refused(
    shared, camera_path, table_path, tmp_path, capsys
):
    table_path.write_text(TABLE.replace("table_tag_size_mm", "tag_size"))
    picture = shared / "footage/hd-b/empty.jpg"
    line = _refused(capsys, tmp_path, lambda: _table(picture, table_path, camera_path))
    assert "table.toml" in line
    assert "tag_size" in line


def test_a_table_file_of_another_table_is_refused(
    shared, lens_file, camera_path, table_path, capsys
):
    text = table_path.read_text().replace("1750", "1150")
    table_path.write_text(text)
    shutil.copy(lens_file, camera_path)
    before = camera_path.read_bytes()
    empty = shared / "footage" / "hd-b" / "empty.jpg"
    assert _table(empty, table_path, camera_path) == 2
    told = capsys.readouterr().err
    assert "mm off: is this the right table file" in told
    assert camera_path.read_bytes() == before


def test_options_of_live_before_a_subcommand_are_refused(camera_path, capsys):
    assert main(["calibrate", "--out", "x.json", "lens", "y.png", "--out", str(camera_path)]) == 2
    assert "--out before `lens` belongs to --live" in capsys.readouterr().err
