"""Learns bases that are pushed into a simulated jig, and refuses faulty ones."""

import re
import shutil
from dataclasses import replace
from statistics import median

import numpy as np
import pytest

from calibration.intrinsics.guide import LensGuide
from calibration.results import CameraFile, Origin, TableCalibration
from tablecam.errors import BadInput
from tablecam.live_calibration.bases import BasesWork
from tablecam.live_calibration.state import CalibrationState, SourceStatus, state_json
from tablecam.live_calibration.work import CalibrationWork
from tablecam.record.camera_file import write_camera_file
from tablecam.simulate.demo import demo_roster
from tablecam.simulate.jig_source import Push, glued_by_hand
from tablecam.table.bases_file import read_bases, with_bases, with_calibrated
from tests.live_calibration.jig import CAMERA, ROSTER, corner_errors_mm, frames, work_after

TAGS = tuple(ROSTER.base_type_by_tag())[:6]
EXACT = TableCalibration(
    CAMERA.lens,
    CAMERA.pose,
    np.zeros((15, 15)),
    0.0,
    0.0,
    (),
    Origin("2025-01-01T00:00:00Z", ("",)),
)


@pytest.fixture(scope="module")
def bases_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("jig") / "bases.json"
    work_after(path, frames([Push(tag, turned) for tag in TAGS for turned in (0.0, 180.0)]))
    return path


def test_tags_half_a_millimetre_and_a_degree_off_are_measured(bases_file) -> None:
    listed = ROSTER.base_type_by_tag()
    types = with_bases(ROSTER, None, bases_file.with_name("camera.json")).base_type_by_tag()
    before = [off for tag in TAGS for off in corner_errors_mm(tag, listed[tag])]
    after = [off for tag in TAGS for off in corner_errors_mm(tag, types[tag])]
    assert median(before) > 0.5
    assert median(after) < 0.15


def test_the_measured_sigma_replaces_that_of_the_glue(bases_file) -> None:
    types = with_calibrated(ROSTER, read_bases(bases_file, ROSTER)).base_type_by_tag()
    for tag in TAGS:
        assert types[tag].glue_sigma_mm < 0.1
        assert types[tag].glue_sigma_deg < 0.2
    assert types[max(types)].glue_sigma_mm == 0.5


def test_a_later_session_goes_on_and_keeps_a_copy_of_the_file(bases_file, tmp_path) -> None:
    path = tmp_path / "bases.json"
    shutil.copy(bases_file, path)
    work = work_after(path, frames([Push(TAGS[0], 90.0)]))
    assert read_bases(path, ROSTER).layings[-1].session == 2
    assert len(read_bases(path, ROSTER).bases) == len(TAGS)
    assert work.kept is not None
    assert work.kept.read_bytes() == bases_file.read_bytes()


def test_a_base_is_counted_once_until_it_was_lifted_out(tmp_path) -> None:
    path = tmp_path / "bases.json"
    pushes = [Push(TAGS[0]), Push(TAGS[0]), Push(TAGS[1]), Push(TAGS[0])]
    work_after(path, frames(pushes))
    assert [laying.tag for laying in read_bases(path, ROSTER).layings] == [
        TAGS[0],
        TAGS[1],
        TAGS[0],
    ]


@pytest.mark.parametrize(
    ("push", "message"),
    [
        (Push(TAGS[0], crooked_deg=8.0), "crooked by .*: push it against both rulers again"),
        (Push(TAGS[0], short_mm=4.0), "mm away from the corner: push it in fully"),
    ],
    ids=["crooked", "not pushed in"],
)
def test_a_base_that_lies_wrong_does_not_count_until_it_lies_right(push, message, tmp_path) -> None:
    path = tmp_path / "bases.json"
    # Wrong twice is no better.
    work = work_after(path, frames([push, replace(push, turned_deg=180.0)]))
    assert [*work.unresolved] == [TAGS[0]]
    assert re.search(message, work.unresolved[TAGS[0]])
    assert not path.exists()
    work = work_after(path, frames([push, Push(TAGS[0])]))
    assert not work.unresolved
    assert len(read_bases(path, ROSTER).layings) == 1


def test_a_base_that_was_tagged_anew_is_noticed_and_measured_anew(bases_file, tmp_path) -> None:
    path = tmp_path / "bases.json"
    shutil.copy(bases_file, path)
    anew = glued_by_hand(demo_roster(), 1.5, 2.5)
    once = work_after(path, frames([Push(TAGS[1])], roster=anew))
    assert "away from its earlier ones" in once.unresolved[TAGS[1]]
    assert path.read_bytes() == bases_file.read_bytes()
    pushes = [Push(TAGS[1]), Push(TAGS[0]), Push(TAGS[1], 180.0)]
    twice = work_after(path, frames(pushes, roster=anew))
    assert TAGS[1] not in twice.unresolved
    assert "has a new tag" in twice.progress.news.line
    assert sum(laying.tag == TAGS[1] for laying in read_bases(path, ROSTER).layings) == 2


def test_a_table_whose_tags_are_hidden_is_named_first(tmp_path) -> None:
    bare = replace(ROSTER, table_tags=())
    progress = work_after(tmp_path / "bases.json", frames([Push(TAGS[0])], roster=bare)).progress
    assert progress.problem.startswith("No table tag is usable")
    assert progress.missing == ()
    assert progress.done == 0


def test_a_sheet_whose_tags_are_hidden_is_named(tmp_path) -> None:
    progress = work_after(tmp_path / "bases.json", frames([Push(TAGS[0])], missing=2)).progress
    assert "expected 3 of the sheet's 4 tags or more, got 2" in progress.problem
    assert len(progress.missing) == 2
    assert progress.done == 0


def test_bases_of_another_table_are_refused(bases_file) -> None:
    with pytest.raises(
        BadInput, match=r"bases\[1\]\.tag: expected a tag of .* of another table file"
    ):
        BasesWork(CAMERA, demo_roster("huzzah-ge"), bases_file)


def test_a_guided_calibration_goes_on_to_the_bases(tmp_path) -> None:
    path = tmp_path / "camera.json"
    work = CalibrationWork(path, ROSTER, lambda stage: None)
    with pytest.raises(BadInput, match="expected a finished calibration with a table"):
        work.learn_bases()
    write_camera_file(path, CameraFile("true", 1280, 720, table=EXACT))
    work = CalibrationWork(path, ROSTER, lambda stage: None)
    work.learn_bases()
    for frame in frames([Push(TAGS[0]), Push(TAGS[0], 180.0), Push(TAGS[1], crooked_deg=8.0)]):
        work.see(frame)
    empty = CalibrationState(0, 0, SourceStatus("jig", "live", "", 1.0), LensGuide().progress)
    state = state_json(work.shown_in(empty))
    assert (state["stage"], state["tone"]) == ("bases", "doubt")
    assert state["say"].startswith("Base 11 of P1: it is crooked by 9")
    assert (state["bases"]["done"], state["bases"]["taken"]) == (1, 2)
    assert ["P1", 1, 4] in state["bases"]["rows"]
    work.leave_bases()
    assert work.shown_in(empty).stage == "done"
    assert (tmp_path / "bases.json").exists()
