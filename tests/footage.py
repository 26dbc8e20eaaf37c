"""The shared footage: its pictures, true cameras, and the true places of its tags and bases."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import cv2
import numpy as np
from filelock import FileLock

from calibration.camera import Camera, Pose
from calibration.extrinsics.table_pose import find_table
from calibration.extrinsics.table_tags import find_tags
from calibration.grey import to_grey
from calibration.intrinsics.board import BoardView, find_lens_board
from calibration.intrinsics.lens_from_views import choose_views, lens_from_views
from calibration.lens import Lens
from calibration.results import LensCalibration, Origin
from tablecam.capture.picture_files import read_picture
from tablecam.capture.quiet import silence_opencv
from tablecam.rules.games import known_games
from tablecam.table.model import BasePose, Position
from tablecam.table.position_file import read_position_file
from tablecam.table.roster import Roster
from tablecam.table.table_file import read_table_file
from tablecam.vision.jig import exactly_glued

ORIGIN = Origin("2025-01-01T00:00:00Z", ("footage",))


def glued_exactly(roster: Roster) -> Roster:
    """A roster whose tags lie exactly in place, as rendered ones do."""
    return roster.with_base_types(exactly_glued)


@dataclass(frozen=True)
class TrueTag:
    """A tag's true appearance to a camera: its visible share, its size, and its corners (4, 2).

    `cells` counts the cells inside its border that are at least half visible; None if unknown.
    """

    visible: float
    px_per_cell: float
    corners_px: np.ndarray
    cells: int | None = None


@dataclass(frozen=True)
class Rig:
    """One folder of the footage: a camera over a table.

    Its board views, which take seconds to find, are `kept` in a folder for other tests.
    """

    folder: Path
    kept: Path | None = None

    @cached_property
    def truth(self) -> Mapping:
        return json.loads((self.folder / "rig.json").read_text(encoding="utf-8"))

    @cached_property
    def roster(self) -> Roster:
        return glued_exactly(read_table_file(self.folder / "table.toml", known_games()))

    @cached_property
    def camera(self) -> Camera:
        """The true camera."""
        return _true_camera(self.truth)

    @cached_property
    def found_camera(self) -> Camera:
        """The camera as a user would calibrate it: from the lens views and the empty table."""
        return _found_camera(self.found_lens, self.roster, self.grey("empty"))

    @cached_property
    def found_lens(self) -> LensCalibration:
        """The lens as a user would calibrate it, from the lens views."""
        return lens_from_views(choose_views(self.board_views)[0], ORIGIN).calibration

    @cached_property
    def board_views(self) -> tuple[BoardView, ...]:
        """The lens board as each of the lens views shows it."""
        if self.kept is None:
            return self._find_boards()
        path = self.kept / f"{self.folder.name}.pickle"
        with FileLock(f"{path}.lock"):
            if not path.exists():
                path.write_bytes(pickle.dumps(self._find_boards()))
            return tuple(pickle.loads(path.read_bytes()))

    def _find_boards(self) -> tuple[BoardView, ...]:
        return tuple(
            find_lens_board(to_grey(read_picture(path)), path.name)
            for path in sorted((self.folder / "lens").glob("*.jpg"))
        )

    def grey(self, scene: str) -> np.ndarray:
        return to_grey(read_picture(self.folder / f"{scene}.jpg"))

    def tags(self, scene: str) -> dict[int, TrueTag]:
        return {
            int(tag): TrueTag(seen["visible"], seen["px_per_cell"], np.array(seen["corners_px"]))
            for tag, seen in self.truth["scenes"][scene]["tags"].items()
        }

    def position(self, scene: str) -> Position:
        return read_position_file(
            self.folder / f"{scene.replace('scene', 'truth')}.json", known_games()
        )

    def bases(self, scene: str) -> dict[int, BasePose]:
        """The true bases of units by tag."""
        units = self.position(scene).units
        return {base.tag: base for unit in units for base in unit.bases if base.tag is not None}


@dataclass(frozen=True)
class Clip:
    """The moving footage: a hand reaches in, moves a unit and leaves; `kept` as for a `Rig`."""

    folder: Path
    kept: Path | None = None

    @cached_property
    def roster(self) -> Roster:
        return glued_exactly(read_table_file(self.folder / "table.toml", known_games()))

    @cached_property
    def camera(self) -> Camera:
        """The true camera."""
        return _true_camera(json.loads((self.folder / "rig.json").read_text(encoding="utf-8")))

    @cached_property
    def found_camera(self) -> Camera:
        """The camera as a user would calibrate it: with the lens of `hd-b`, in this mode."""
        lens = Rig(self.folder.parent / "hd-b", self.kept).found_lens
        lens = _scaled(lens, self.camera.lens.width_px)
        return _found_camera(lens, self.roster, to_grey(read_picture(self.folder / "empty.jpg")))

    def frames(self, *, every: int = 1) -> Iterator[tuple[np.ndarray, Mapping]]:
        """Grey frames, each with its line of the truth."""
        lines = (self.folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()
        silence_opencv()
        video = cv2.VideoCapture(str(self.folder / "clip.mp4"))
        for number, line in enumerate(lines):
            good, image = video.read()
            assert good, f"clip.mp4 ends before frame {number}"
            if number % every == 0:
                yield to_grey(image), json.loads(line)
        video.release()


def _found_camera(lens: LensCalibration, roster: Roster, empty: np.ndarray) -> Camera:
    """A camera with this lens over the table of a roster, from a picture of the empty table."""
    listed_mm = roster.table_tag_places_mm
    table = find_table(
        find_tags(empty, roster.dictionary, listed_mm, lens.lens),
        listed_mm,
        roster.table_tag_size_mm,
        picture_size_px=(empty.shape[1], empty.shape[0]),
        lens=lens,
        origin=ORIGIN,
        picture_name="empty.jpg",
    ).calibration
    return Camera(table.lens, table.pose, "found", table.covariance)


def _scaled(calibration: LensCalibration, width_px: int) -> LensCalibration:
    """The lens in a mode of the camera that scales its whole picture to another width."""
    lens = calibration.lens
    scale = width_px / lens.width_px
    scaled = Lens(
        width_px,
        round(lens.height_px * scale),
        *(lens.fx_px * scale, lens.fy_px * scale),
        *((lens.cx_px + 0.5) * scale - 0.5, (lens.cy_px + 0.5) * scale - 0.5),
        *lens.distortion.tolist(),
    )
    by_parameter = np.diag([scale] * 4 + [1.0] * 5)
    return replace(
        calibration, lens=scaled, covariance=by_parameter @ calibration.covariance @ by_parameter
    )


def _true_camera(rig: Mapping) -> Camera:
    matrix = rig["camera_matrix"]
    lens = Lens(
        rig["width_px"],
        rig["height_px"],
        *(matrix[0][0], matrix[1][1], matrix[0][2], matrix[1][2]),
        *rig["distortion_k1_k2_p1_p2_k3"],
    )
    return Camera(lens, Pose(tuple(rig["rvec"]), tuple(rig["t_table_to_camera_mm"])), "true")
