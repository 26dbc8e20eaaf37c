"""The camera file: it is read back as written, faults are named, nothing is lost."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from calibration.camera import CAMERA_PARAMETERS, Pose
from calibration.errors import CalibrationError
from calibration.lens import LENS_PARAMETERS, Lens
from calibration.results import (
    CameraFile,
    LensCalibration,
    Origin,
    TableCalibration,
    TagResidual,
    ViewError,
    calibration_name,
)
from tablecam.errors import BadInput
from tablecam.record.camera_file import read_camera_file, to_json, write_camera_file

LENS = Lens(1920, 1080, 1646.9, 1647.6, 965.9, 530.7, -0.224, 0.047, 0.0008, -0.0006, 0.001)
MADE_AT = datetime(2024, 5, 1, 12, 30, 5, tzinfo=UTC)
ORIGIN = Origin(MADE_AT.isoformat(), ("lens-01.jpg", "lens-02.jpg"))


def _covariance(size):
    factor = np.random.default_rng(1).normal(size=(size, size))
    return factor @ factor.T


LENS_CALIBRATION = LensCalibration(
    LENS, _covariance(len(LENS_PARAMETERS)), 0.12, (ViewError("lens-01.jpg", 0.1, 70, 1),), ORIGIN
)
TABLE_CALIBRATION = TableCalibration(
    LENS,
    Pose((3.07, 0.06, -0.08), (-815.0, 556.0, 1871.0)),
    _covariance(len(CAMERA_PARAMETERS)),
    0.1,
    0.02,
    (TagResidual(0, 0.01, -0.02), TagResidual(3, 4.0, 1.0, used=False)),
    ORIGIN,
)
WHOLE = CameraFile("20240501-123005-abcdef", 1920, 1080, LENS_CALIBRATION, TABLE_CALIBRATION)
LENS_ALONE = CameraFile("20240501-123006-abcdef", 1920, 1080, LENS_CALIBRATION)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "camera.json"


def _document():
    return json.loads(to_json(WHOLE))


@pytest.mark.parametrize("camera_file", [WHOLE, LENS_ALONE], ids=["whole", "lens alone"])
def test_what_is_written_is_read_again_to_the_last_bit(path, camera_file):
    assert write_camera_file(path, camera_file) is None
    again = read_camera_file(path)
    assert again == camera_file
    assert np.array_equal(again.lens.covariance, camera_file.lens.covariance)
    assert to_json(again) == to_json(camera_file)


def test_the_camera_carries_lens_place_covariance_and_name(path):
    camera = WHOLE.camera()
    assert (camera.lens, camera.pose, camera.name) == (LENS, TABLE_CALIBRATION.pose, WHOLE.name)
    assert np.array_equal(camera.covariance, TABLE_CALIBRATION.covariance)


def test_people_call_a_calibration_as_they_like_or_by_its_picture_and_day(path):
    assert WHOLE.shown_title == "lens-01.jpg, 2024-05-01"
    write_camera_file(path, replace(WHOLE, title="Müller's hall, north"))
    assert read_camera_file(path).shown_title == "Müller's hall, north"
    assert read_camera_file(path).camera().title == "Müller's hall, north"
    path.write_text(json.dumps(_document() | {"title": "two\nlines"}))
    with pytest.raises(BadInput, match="title: expected one line of at most 60 characters"):
        read_camera_file(path)


def test_a_calibration_fits_up_to_three_times_what_it_stated():
    assert TABLE_CALIBRATION.fits_within_mm == 1.0  # 0.03 mm stated: less than 1 mm does no harm
    off = replace(TABLE_CALIBRATION, tags=(TagResidual(0, 3.0, 4.0), TagResidual(1, 3.0, -4.0)))
    assert off.fits_within_mm == pytest.approx(15.0, abs=0.01)


def test_a_lens_alone_gives_no_camera_and_says_what_to_do(path):
    write_camera_file(path, LENS_ALONE)
    with pytest.raises(CalibrationError, match=r"camera\.json: table: .*calibrate table"):
        read_camera_file(path).camera()


TAGS_MM = ((60.0, 60.0), (1740.0, 60.0), (1740.0, 1140.0), (60.0, 1140.0))


@pytest.mark.parametrize(
    ("pose", "seen"),
    [
        (Pose((3.07, 0.06, -0.08), (-815.0, 556.0, 1871.0)), None),
        (Pose((3.07, 0.06, -0.08), (-815.0, 556.0, -1871.0)), 0),
        (Pose((3.07, 0.06, -0.08), (9e5, 556.0, 1871.0)), 0),
        (Pose((0.0, 0.0, 0.0), (-815.0, 556.0, 9e5)), 0),
    ],
    ids=["above", "below", "aside", "a kilometre off"],
)
def test_a_camera_that_does_not_see_the_table_is_refused(pose, seen):
    camera_file = replace(WHOLE, table=replace(TABLE_CALIBRATION, pose=pose))
    if seen is None:
        assert camera_file.camera(TAGS_MM).sees(TAGS_MM).all()
    else:
        with pytest.raises(CalibrationError, match=f"tags or more, got one that sees {seen}"):
            camera_file.camera(TAGS_MM)


def test_a_picture_of_another_size_is_refused_by_name(path):
    WHOLE.check_picture_size(1920, 1080, "good.jpg")
    with pytest.raises(CalibrationError, match=r"^bad\.jpg: expected .*1920x1080.*, got 1280x720$"):
        WHOLE.check_picture_size(1280, 720, "bad.jpg")


def _changed(*keys, to):
    document = _document()
    inner = document
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = to
    return document


def _without(*keys):
    document = _changed(*keys, to=None)
    inner = document
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    return document


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ([], r"expected an object with keys, got \[\]"),
        ({}, 'format: expected "tablecam.camera", but the key is missing'),
        (_changed("format", to="tablecam.table"), 'format: expected "tablecam.camera", got "tabl'),
        (_changed("version", to=2), "version: expected 1, got 2"),
        (_changed("version", to=True), "version: expected 1, got true"),
        (_changed("lens", "zoom", to=3), "lens.zoom: unknown key"),
        (_without("lens", "covariance"), "lens.covariance: expected this key, but it is missing"),
        (_without("width_px"), "width_px: expected this key, but it is missing"),
        (_changed("width_px", to=-3), "width_px: "),
        (_changed("width_px", to="1920"), 'width_px: .*, got "1920"'),
        (_changed("name", to="../x"), "name: "),
        (_changed("lens", "covariance", 0, 0, to=-1.0), "lens.covariance: expected a symmetric"),
        (_changed("lens", "covariance", to=[[1.0]]), "lens.covariance: expected 9 rows of 9"),
        (_changed("table", "covariance_order", 0, to="f"), "table.covariance_order: expected fx"),
        (_changed("lens", "camera_matrix", 0, 0, to=0), "lens.camera_matrix: expected "),
        (_changed("lens", "camera_matrix", 1, 1, to=1e300), "expected fx and fy from 1 to 1e"),
        (_changed("lens", "camera_matrix", 0, 2, to=-1e9), r"cx and cy within 1e\+06, in pixels"),
        (_changed("lens", "distortion_k1_k2_p1_p2_k3", 4, to=1e30), "k1, k2 and k3 within 1000"),
        (_changed("lens", "distortion_k1_k2_p1_p2_k3", 3, to=-1.0), "p1 and p2 within 0.1"),
        (_changed("table", "rotation_vector_rad", 1, to=1e308), "rotation_vector_rad.2.: "),
        (_changed("table", "translation_mm", 2, to=2**63), "translation_mm.3.: "),
        (_changed("width_px", to=10**15), "width_px: "),
        (_changed("table", "tags", 1, "id", to="a"), r"table.tags\[2\].id: .*, got \"a\""),
        (
            _changed("lens", "rms_px", to=float("nan")),
            "lens.rms_px: expected a finite number, got NaN",
        ),
        ({**_without("lens"), "table": None}, "expected a lens, a table or both, got neither"),
    ],
)
def test_a_wrong_key_is_named_in_one_line(path, document, complaint):
    path.write_text(json.dumps(document))
    with pytest.raises(BadInput) as error:
        read_camera_file(path)
    message = str(error.value)
    assert re.match(rf"{re.escape(str(path))}(:1)?: ", message)
    assert "\n" not in message
    assert re.search(complaint, message)


def test_wrong_keys_are_named_by_line_and_counted_as_in_other_files(path):
    text = to_json(WHOLE).replace('"dx_mm": 4.0', '"dx_mm": "far"')
    text = text.replace('"sigma_mm": 0.02', '"sigma_mm": -1')
    path.write_text(text)
    line = 1 + text[: text.index('"sigma_mm": -1')].count("\n")
    with pytest.raises(BadInput) as error:
        read_camera_file(path)
    said = f"{path}:{line}: table.sigma_mm: "
    assert str(error.value).startswith(said)
    assert str(error.value).endswith("got -1 (and 1 more)")
    path.write_text(text.replace('"sigma_mm": -1', '"sigma_mm": 1'))
    line = 1 + text[: text.index('"dx_mm": "far"')].count("\n")
    with pytest.raises(BadInput, match=rf":{line}: table\.tags\[2\]\.dx_mm: "):
        read_camera_file(path)


def test_a_file_of_endless_levels_is_refused_in_one_line(path):
    for deep in ("[" * 100_000, '{"lens":' * 900 + "1" + "}" * 900):
        path.write_text(deep)
        with pytest.raises(BadInput, match=r"camera\.json"):
            read_camera_file(path)


@pytest.mark.parametrize("text", ["", "{", "\x00"], ids=["empty", "cut", "binary"])
def test_what_is_not_json_is_named_with_its_line(path, text):
    path.write_text(text)
    with pytest.raises(BadInput, match=r"camera\.json:1: not valid JSON"):
        read_camera_file(path)


def test_a_picture_given_for_a_camera_file_is_refused(path):
    path.write_bytes(b"\xff\xd8\xff\xe0")
    with pytest.raises(BadInput, match=r"camera\.json: expected a text file in UTF-8"):
        read_camera_file(path)


def test_a_missing_file_is_named(path):
    with pytest.raises(BadInput, match=r"camera\.json: there is no such file"):
        read_camera_file(path)


def test_the_old_file_is_kept_under_its_calibrations_name(path):
    write_camera_file(path, WHOLE)
    kept = write_camera_file(path, LENS_ALONE)
    assert kept == path.with_name(f"camera.{WHOLE.name}.json")
    assert read_camera_file(kept) == WHOLE
    assert read_camera_file(path) == LENS_ALONE


def test_going_back_and_forth_keeps_every_calibration_once(path):
    for camera_file in (WHOLE, LENS_ALONE, WHOLE, LENS_ALONE):
        write_camera_file(path, camera_file)
    names = {kept.name for kept in path.parent.iterdir()}
    assert names == {"camera.json", f"camera.{WHOLE.name}.json", f"camera.{LENS_ALONE.name}.json"}


def test_two_different_files_of_one_name_are_both_kept(path):
    for version in (2, 3):
        path.write_text(json.dumps(_changed("version", to=version)))
        write_camera_file(path, WHOLE)
    kept = sorted(path.parent.glob("camera.old*.json"))
    assert [json.loads(file.read_text())["version"] for file in kept] == [3, 2]


def test_a_file_that_cannot_be_written_is_named_and_nothing_is_left_behind(tmp_path):
    with pytest.raises(BadInput, match=r"camera\.json: cannot write the camera file"):
        write_camera_file(tmp_path / "nowhere" / "camera.json", WHOLE)
    folder = tmp_path / "camera.json"
    folder.mkdir()
    with pytest.raises(BadInput, match=r"camera\.json: cannot write the camera file"):
        write_camera_file(folder, WHOLE)
    assert list(tmp_path.iterdir()) == [folder]


def test_a_calibrations_name_hangs_on_when_and_on_what_was_found():
    lens = calibration_name(MADE_AT, LENS_CALIBRATION)
    both = calibration_name(MADE_AT, LENS_CALIBRATION, TABLE_CALIBRATION)
    assert lens.startswith("20240501-123005-")
    assert lens != both
    assert lens == calibration_name(MADE_AT, LENS_CALIBRATION)
