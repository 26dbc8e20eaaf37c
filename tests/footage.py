"""The shared footage: its pictures, its true cameras, and where its tags and bases truly are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from calibration.board import find_lens_board
from calibration.camera import Camera, Pose
from calibration.grey import to_grey
from calibration.lens import Lens
from calibration.lens_from_views import choose_views, lens_from_views
from calibration.results import Origin
from calibration.table_pose import find_table
from calibration.table_tags import find_tags
from tablecam.capture.pictures import read_picture
from tablecam.table.model import BasePose, Position
from tablecam.table.position_file import read_position_file
from tablecam.table.roster import Roster
from tablecam.table.table_file import read_table_file


@dataclass(frozen=True)
class TrueTag:
    """What a camera truly sees of a tag: how much, how large, and its corners (4, 2)."""

    visible: float
    px_per_cell: float
    corners_px: np.ndarray


@dataclass(frozen=True)
class Rig:
    """One folder of the footage: a camera over a table."""

    folder: Path

    @cached_property
    def truth(self) -> Mapping:
        return json.loads((self.folder / "rig.json").read_text(encoding="utf-8"))

    @cached_property
    def roster(self) -> Roster:
        return read_table_file(self.folder / "table.toml")

    @cached_property
    def camera(self) -> Camera:
        """The true camera."""
        matrix = self.truth["camera_matrix"]
        lens = Lens(
            self.truth["width_px"],
            self.truth["height_px"],
            *(matrix[0][0], matrix[1][1], matrix[0][2], matrix[1][2]),
            *self.truth["distortion_k1_k2_p1_p2_k3"],
        )
        pose = Pose(tuple(self.truth["rvec"]), tuple(self.truth["t_table_to_camera_mm"]))
        return Camera(lens, pose, "true")

    @cached_property
    def found_camera(self) -> Camera:
        """The camera as a user would calibrate it: from the lens views and the empty table."""
        views = [
            find_lens_board(to_grey(read_picture(path)), path.name)
            for path in sorted((self.folder / "lens").glob("*.jpg"))
        ]
        origin = Origin("2025-01-01T00:00:00Z", ("footage",))
        lens = lens_from_views(choose_views(views)[0], origin).calibration
        grey, roster = self.grey("empty"), self.roster
        listed_mm = {tag.id: (tag.x_mm, tag.y_mm) for tag in roster.table_tags}
        table = find_table(
            find_tags(grey, roster.dictionary, listed_mm, lens.lens),
            listed_mm,
            roster.table_tag_size_mm,
            picture_size_px=(grey.shape[1], grey.shape[0]),
            lens=lens,
            origin=origin,
            picture_name="empty.jpg",
        ).calibration
        return Camera(table.lens, table.pose, "found", table.covariance)

    def grey(self, scene: str) -> np.ndarray:
        return to_grey(read_picture(self.folder / f"{scene}.jpg"))

    def tags(self, scene: str) -> dict[int, TrueTag]:
        return {
            int(tag): TrueTag(seen["visible"], seen["px_per_cell"], np.array(seen["corners_px"]))
            for tag, seen in self.truth["scenes"][scene]["tags"].items()
        }

    def position(self, scene: str) -> Position:
        return read_position_file(self.folder / f"{scene.replace('scene', 'truth')}.json")

    def bases(self, scene: str) -> dict[int, BasePose]:
        """The true bases of units by tag."""
        units = self.position(scene).units
        return {base.tag: base for unit in units for base in unit.bases if base.tag is not None}
