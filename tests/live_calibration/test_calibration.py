import re
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.camera import Camera
from tablecam.errors import BadInput
from tablecam.record.camera_file import read_camera_file
from tablecam.simulate.demo import demo_roster
from tests.live_calibration.stepped import PLACES, Stepped, stepped

ROSTER = demo_roster()
CORNERS_MM = np.array([[0, 0, 0], [1200, 0, 0], [1200, 800, 0], [0, 800, 0], [600, 400, 0]])


def finish(stepped_live: Stepped) -> None:
    """Go through all stages to a saved file."""
    live = stepped_live.live
    stepped_live.take(len(PLACES))
    live.act("finish-lens")
    stepped_live.step()
    stepped_live.step()
    live.act("finish-table")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Camera]:
    """A camera file made by a whole live calibration, and the true camera."""
    path = tmp_path_factory.mktemp("live") / "camera.json"
    with stepped(path, roster=ROSTER) as at:
        finish(at)
        return path, at.camera


def test_all_stages_lead_to_a_camera_file_that_is_right(finished: tuple[Path, Camera]) -> None:
    path, truth = finished
    camera = read_camera_file(path).camera()
    assert camera.name
    places = camera.to_table(truth.to_image(CORNERS_MM))
    sigmas = np.sqrt(np.trace(camera.table_covariance(CORNERS_MM[:, :2]), axis1=1, axis2=2))
    off_mm = np.linalg.norm(places - CORNERS_MM[:, :2], axis=1)
    assert (off_mm < 0.3).all()
    assert (off_mm < 4 * sigmas).all()


def test_every_view_is_on_disk_as_soon_as_it_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "camera.json"
    with stepped(path, roster=ROSTER, places=PLACES[:3]) as at:
        for count in (1, 2):
            at.take(1)
            assert len(list((tmp_path / "camera.views").glob("*.png"))) == count
    picture = cv2.imread(str(tmp_path / "camera.views/view-001.png"), cv2.IMREAD_UNCHANGED)
    assert picture.shape == (720, 1280)


def test_views_survive_a_kill_and_the_calibration_goes_on_from_them(tmp_path: Path) -> None:
    path = tmp_path / "camera.json"
    with stepped(path, roster=ROSTER, places=PLACES[:4]) as at:
        before = at.take(4)["lens"]
    # It was not told: for the disk this is the same as a kill.
    with stepped(path, roster=ROSTER, places=PLACES[4:5]) as at:
        assert at.live.state()["lens"]["views"] == before["views"]
        after = at.take(1)["lens"]
    assert [view["name"] for view in after["views"]][-1] == "view-005"
    assert before["wanting"][0] == "4 more views"
    assert after["wanting"][0] == "3 more views"


def test_a_view_that_was_half_written_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "camera.views"
    folder.mkdir()
    (folder / "view-001.png").write_bytes(b"\x89PNG half")
    (folder / "view-002.png.tmp").write_bytes(b"")
    with stepped(tmp_path / "camera.json", roster=ROSTER, places=PLACES[:1]) as at:
        assert at.live.state()["lens"]["views"] == []


def test_a_dropped_view_comes_back_when_it_is_undone(tmp_path: Path) -> None:
    with stepped(tmp_path / "camera.json", roster=ROSTER, places=PLACES[:2]) as at:
        at.take(2)
        # Where its picture cannot be moved, the view stays.
        (blocked := tmp_path / "camera.views/dropped").touch()
        with pytest.raises(BadInput, match=r"view-001.png: the view cannot be dropped"):
            at.live.act("drop", "view-001")
        assert len(at.live.state()["lens"]["views"]) == 2
        blocked.unlink()
        at.live.act("drop", "view-001")
        assert [view["name"] for view in at.live.state()["lens"]["views"]] == ["view-002"]
        assert not (tmp_path / "camera.views/view-001.png").exists()
        at.live.act("undo-drop")
        views = at.live.state()["lens"]["views"]
        assert [view["name"] for view in views] == ["view-001", "view-002"]
        assert (tmp_path / "camera.views/view-001.png").exists()


def test_starting_over_keeps_the_old_views_under_another_name(tmp_path: Path) -> None:
    with stepped(tmp_path / "camera.json", roster=ROSTER, places=PLACES[:2]) as at:
        at.take(1)
        at.live.act("start-over")
        state = at.live.state()
    assert state["lens"]["views"] == []
    assert "camera.views.old-1" in state["warnings"][0]
    assert (tmp_path / "camera.views.old-1/view-001.png").exists()


def test_a_finished_file_goes_straight_to_the_check(finished: tuple[Path, Camera]) -> None:
    path, truth = finished
    with stepped(path, roster=ROSTER, places=()) as at:
        state = at.step()
        assert state["stage"] == "done"
        assert state["saved"]["is_new"] is False
        assert state["saved"]["mean_mm"] < 0.1
        ends_px = truth.to_image([[200, 300, 3], [440, 480, 3]]).tolist()
        check = at.live.check_ruler(ends_px, 300.0, 3.0)
        flat = at.live.check_ruler(ends_px, 300.0, 0.0)
    assert abs(check["off_mm"]) < 0.1
    assert abs(check["off_sigmas"]) < 1
    # 3 mm nearer to a camera some 1.3 m away makes 300 mm look 0.7 mm longer.
    assert flat["off_mm"] > 0.4


def test_calibrating_again_keeps_the_file_that_was_there(
    finished: tuple[Path, Camera], tmp_path: Path
) -> None:
    path = tmp_path / "camera.json"
    old = finished[0].read_bytes()
    path.write_bytes(old)
    with stepped(path, roster=ROSTER, places=()) as at:
        at.live.act("place-table")
        at.step()
        at.live.act("finish-table")
        saved = at.live.state()["saved"]
    assert saved["is_new"]
    assert re.fullmatch(r"stepped, \d{4}-\d\d-\d\d", saved["name"])
    assert Path(saved["kept"]).read_bytes() == old
    assert path.read_bytes() != old


def test_without_a_table_file_the_lens_alone_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "camera.json"
    with stepped(path, roster=None) as at:
        at.take(len(PLACES))
        at.live.act("finish-lens")
        state = at.live.state()
        with pytest.raises(BadInput, match="expected a finished calibration with a table"):
            at.live.check_ruler([[1, 1], [2, 2]], 300.0, 0.0)
    assert state["stage"] == "done"
    assert not state["saved"]["has_table"]
    camera_file = read_camera_file(path)
    assert camera_file.lens is not None
    assert camera_file.table is None


def test_views_of_another_picture_size_are_set_aside_in_words(tmp_path: Path) -> None:
    path = tmp_path / "camera.json"
    with stepped(path, roster=ROSTER, places=PLACES[:1]) as at:
        at.take(1)
    with stepped(path, roster=ROSTER, places=PLACES[:1], width_px=960, height_px=540) as at:
        state = at.step()
    assert state["lens"]["views"] == []
    assert any("another picture size are in" in warning for warning in state["warnings"])
    assert (tmp_path / "camera.views.old-1/view-001.png").exists()


def test_a_camera_file_that_cannot_be_read_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "camera.json"
    path.write_text("{}")
    with stepped(path, roster=ROSTER, places=()) as at:
        state = at.live.state()
    assert state["stage"] == "lens"
    assert "it will be backed up beside the new one" in state["warnings"][0]
    assert path.read_text() == "{}"


def test_what_cannot_be_done_yet_is_refused_in_one_line(tmp_path: Path) -> None:
    with stepped(tmp_path / "camera.json", roster=ROSTER, places=()) as at:
        for deed, message in (
            ("finish-lens", "lens: expected at least three views"),
            ("finish-table", "table: expected at least three table tags"),
            ("undo-drop", "undo: no view has been dropped"),
            ("drop", "drop: view-009: there is no view of this name"),
        ):
            with pytest.raises(BadInput, match=message):
                at.live.act(deed, "view-009")
    assert not (tmp_path / "camera.json").exists()


def test_a_board_over_a_table_tag_is_told_with_the_tags_that_are_missing(tmp_path: Path) -> None:
    with stepped(tmp_path / "camera.json", roster=ROSTER) as at:
        at.take(3)
        at.live.act("finish-lens")
        state = at.step()
        assert state["stage"] == "table"
        assert state["table"]["missing"]
        assert "not seen" in state["say"].lower()
