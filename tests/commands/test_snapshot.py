"""`tablecam snapshot` from the outside: a picture in, a position out, one line for bad input."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout

import cv2
import numpy as np
import pytest

from calibration.results import CameraFile, Origin, TableCalibration
from tablecam.cli import main
from tablecam.record.camera_file import write_camera_file
from tablecam.rules.games import known_games
from tablecam.table.position_file import position_from_json
from tests.commands.refusals import refusal
from tests.footage import Rig


@pytest.fixture(scope="module")
def rig(shared):
    return Rig(shared / "footage" / "hd-b")


@pytest.fixture(scope="module")
def camera_file(rig, tmp_path_factory):
    lens, pose = rig.camera.lens, rig.camera.pose
    origin = Origin("2025-01-01T00:00:00Z", ("truth",))
    table = TableCalibration(lens, pose, np.zeros((15, 15)), 0.0, 0.0, (), origin)
    path = tmp_path_factory.mktemp("camera") / "camera.json"
    write_camera_file(path, CameraFile("true", lens.width_px, lens.height_px, table=table))
    return path


@pytest.fixture(scope="module")
def of_the_photograph(rig, camera_file):
    return (
        "snapshot",
        str(rig.folder / "scene-1.jpg"),
        *("--table", str(rig.folder / "table.toml")),
        *("--camera", str(camera_file)),
    )


@pytest.fixture
def arguments(of_the_photograph):
    return [*of_the_photograph]


@pytest.fixture(scope="module")
def told(of_the_photograph):
    """The standard output and standard error for the unchanged photograph."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        assert main([*of_the_photograph]) == 0
    return out.getvalue(), err.getvalue()


def test_a_photograph_becomes_a_position(rig, told):
    out, err = told
    position = position_from_json(json.loads(out), games=known_games())
    true = rig.bases("scene-1")
    seen = {base.tag: base for unit in position.units for base in unit.bases}
    assert len(seen) > 0.95 * len(true)
    assert seen.keys() <= true.keys()
    away_mm = [np.hypot(seen[t].x_mm - true[t].x_mm, seen[t].y_mm - true[t].y_mm) for t in seen]
    assert np.median(away_mm) < 0.1
    assert all(base.sigma_mm > 0 and base.seen == "now" for base in seen.values())
    assert position.calibration == "true"
    # The other commander is hidden in this picture.
    assert [leader.id for leader in position.commanders] == ["confederate-cinc"]
    assert "136 base tags found" in err
    assert "calibration: truth, 2025-01-01" in err.splitlines()
    assert "table tags are off by 0.0" in err


def test_missing_tags_are_named_with_their_units(told):
    _, err = told
    (missing,) = [line for line in err.splitlines() if "missing" in line]
    assert "150 (union-cinc)" in missing  # hardly anything of it is visible
    assert "58, 59, 60, 61 (UC1, all of it)" in missing


def test_the_drawing_has_a_margin_beside_the_picture_and_the_position_goes_where_it_is_sent(
    arguments, tmp_path, capsys
):
    drawing, out = tmp_path / "drawn.png", tmp_path / "position.json"
    assert main([*arguments, "--draw", str(drawing), "--out", str(out)]) == 0
    assert capsys.readouterr().out == ""
    drawn, picture = cv2.imread(str(drawing)), cv2.imread(arguments[1])
    assert drawn.shape[0] == 1080
    assert drawn.shape[1] > 1920 + 300
    # Most of the table itself is unchanged: the margin covers none of it.
    assert (drawn[:, :1920] == picture).all(axis=2).mean() > 0.9
    position_from_json(json.loads(out.read_text(encoding="utf-8")), games=known_games())


def refused(arguments, capsys):
    return refusal(capsys, *arguments)


def test_a_picture_that_is_none_is_one_line(arguments, tmp_path, capsys):
    torn = tmp_path / "torn.jpg"
    torn.write_bytes(b"\xff\xd8 not a picture")
    arguments[1] = str(torn)
    assert "torn.jpg: cannot be read as a picture" in refused(arguments, capsys)


def test_a_picture_of_another_size_names_both_sizes(rig, arguments, tmp_path, capsys):
    small = tmp_path / "small.png"
    cv2.imwrite(str(small), np.zeros((480, 640, 3), np.uint8))
    arguments[1] = str(small)
    line = refused(arguments, capsys)
    assert "small.png: expected a picture of 1920x1080 px" in line
    assert "got 640x480" in line


@pytest.mark.parametrize(("option", "name"), [(3, "no-table.toml"), (5, "no-camera.json")])
def test_a_file_that_is_not_there_is_named(arguments, tmp_path, capsys, option, name):
    arguments[option] = str(tmp_path / name)
    assert name in refused(arguments, capsys)


@pytest.mark.parametrize("option", ["--draw", "--out"])
def test_what_is_there_already_is_written_over_only_by_force(arguments, tmp_path, capsys, option):
    photograph = tmp_path / "scene-1.jpg"
    photograph.write_bytes(b"somebody's own")
    assert "--force overwrites it" in refused([*arguments, option, str(photograph)], capsys)
    assert photograph.read_bytes() == b"somebody's own"
    assert main([*arguments, option, str(photograph), "--force"]) == 0
    assert photograph.read_bytes() != b"somebody's own"


def test_what_libjpeg_says_of_a_damaged_picture_is_not_shown(arguments, tmp_path, capfd):
    picture = bytearray(cv2.imencode(".jpg", _noise())[1].tobytes())
    del picture[6000:6500]
    torn = tmp_path / "torn.jpg"
    torn.write_bytes(picture)
    arguments[1] = str(torn)
    assert main(arguments) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith(f"tablecam: {torn}: expected ")


def _noise():
    return np.random.default_rng(1).integers(0, 255, (480, 640, 3), dtype=np.uint8)


def test_a_drawing_of_an_unknown_kind_is_refused(arguments, tmp_path, capsys):
    line = refused([*arguments, "--draw", str(tmp_path / "drawn.doc")], capsys)
    assert "expected a name that ends in .png or .jpg, got '.doc'" in line


def test_a_folder_that_is_not_there_is_one_line(arguments, tmp_path, capsys):
    missing = tmp_path / "nowhere" / "position.json"
    assert "cannot be written" in refused([*arguments, "--out", str(missing)], capsys)


def test_a_camera_that_has_moved_since_is_said_and_seen_through_where_it_is_now(
    rig, arguments, tmp_path, capsys
):
    shifted = np.roll(cv2.imread(arguments[1]), 12, axis=1)
    bumped = tmp_path / "bumped.png"
    cv2.imwrite(str(bumped), shifted)
    arguments[1] = str(bumped)
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert "warning: The camera was bumped by 15 mm on the table" in err
    true = rig.bases("scene-1")
    units = position_from_json(json.loads(out), games=known_games()).units
    bases = [base for unit in units for base in unit.bases]
    assert len(bases) > 0.8 * len(true)
    away_mm = [np.hypot(b.x_mm - true[b.tag].x_mm, b.y_mm - true[b.tag].y_mm) for b in bases]
    # A shift of the picture is not quite a turn of the camera: 12 px were 14 mm, and are now less.
    assert np.median(away_mm) < 1.0


def covered(rig, arguments, tmp_path, places, size_mm=84.0):
    """The picture with table cloth laid over places on the table."""
    picture = cv2.imread(arguments[1])
    for x_mm, y_mm in places:
        half = size_mm / 2
        corners = [
            [x_mm + a * half, y_mm + b * half, 0] for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))
        ]
        cv2.fillPoly(picture, [rig.camera.to_image(corners).round().astype(int)], (60, 90, 60))
    path = tmp_path / "covered.png"
    cv2.imwrite(str(path), picture)
    arguments[1] = str(path)


def test_a_hidden_table_tag_is_named_and_to_be_uncovered(rig, arguments, tmp_path, capsys):
    covered(rig, arguments, tmp_path, [(1750, 1150)])
    assert main(arguments) == 0
    err = capsys.readouterr().err
    assert "table tags not seen: 2\n" in err
    assert "advice: table tag 2 is hidden: uncover it" in err


def test_a_table_tag_that_lies_elsewhere_is_named_and_left_out(rig, arguments, tmp_path, capsys):
    picture = cv2.imread(arguments[1])
    corners = rig.camera.to_image([[8, 8, 0], [92, 8, 0], [92, 92, 0], [8, 92, 0]])
    (left, top), (right, bottom) = corners.min(axis=0).astype(int), corners.max(axis=0).astype(int)
    tag = picture[top:bottom, left:right].copy()
    picture[top : bottom - 9, left:right] = (60, 90, 60)
    picture[top + 9 : bottom + 9, left:right] = tag
    path = tmp_path / "moved.png"
    cv2.imwrite(str(path), picture)
    arguments[1] = str(path)
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert "warning: Table tag 0 was moved by" in err
    true = rig.bases("scene-1")
    bases = [
        base
        for unit in position_from_json(json.loads(out), games=known_games()).units
        for base in unit.bases
    ]
    away_mm = [np.hypot(b.x_mm - true[b.tag].x_mm, b.y_mm - true[b.tag].y_mm) for b in bases]
    assert np.median(away_mm) < 0.1


def test_too_few_table_tags_are_refused_by_name(rig, arguments, tmp_path, capsys):
    covered(rig, arguments, tmp_path, [(1750, 1150), (50, 50)])
    line = refused(arguments, capsys)
    assert "covered.png: expected 3 table tags or more" in line
    assert "got 2 (not seen: 0, 2)" in line


def test_a_tag_that_lies_there_twice_is_refused_with_its_unit_and_not_called_missing(
    rig, arguments, tmp_path, capsys
):
    picture = cv2.imread(arguments[1])
    corners = rig.tags("scene-1")[22].corners_px
    (left, top), (right, bottom) = corners.min(axis=0).astype(int), corners.max(axis=0).astype(int)
    tag = picture[top - 4 : bottom + 5, left - 4 : right + 5]
    ((x, y),) = rig.camera.to_image([[300, 950, 3]]).astype(int)
    picture[y : y + len(tag), x : x + tag.shape[1]] = tag
    path = tmp_path / "copied.png"
    cv2.imwrite(str(path), picture)
    arguments[1] = str(path)
    assert main(arguments) == 0
    err = capsys.readouterr().err
    lines = [line for line in err.splitlines() if line.startswith("rejected: tag 22 (UI4): seen 2")]
    assert len(lines) == 2
    assert "advice: tag 22 (UI4) is on the table more than once: remove all but one" in err
    assert " 22" not in next(line for line in err.splitlines() if line.startswith("missing"))


def test_a_good_picture_needs_no_advice(told):
    _, err = told
    assert "advice" not in err
    assert "warning" not in err
    for figure in ("px per cell", "blur", "grey levels"):
        assert figure in err


def test_nothing_that_is_read_is_written_over(arguments, rig, camera_file, capsys):
    picture = arguments[1]
    for option, path in (("--draw", picture), ("--out", str(camera_file))):
        assert main([*arguments, option, path]) == 2
        assert "expected a new file to write" in capsys.readouterr().err
    assert json.loads(camera_file.read_text())["name"] == "true"


def test_a_camera_file_of_another_table_is_refused(arguments, rig, tmp_path, capsys):
    text = (rig.folder / "table.toml").read_text().replace("1750", "1150").replace("1150}", "850}")
    other = tmp_path / "other.toml"
    other.write_text(text)
    assert main([*arguments[:3], str(other), *arguments[4:]]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "expected 3 table tags or more" in told.err
    assert len(told.err.splitlines()) == 1
