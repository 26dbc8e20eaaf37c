"""The steps of a live calibration: lens, table, saving, bases. Uses no threads.

Each view is stored on disk as it is taken, and found again after a crash. The camera file is
written at the end; an old one is backed up beside it.
"""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import cv2
import numpy as np

from calibration.camera import Camera
from calibration.errors import CalibrationError
from calibration.extrinsics.table_pose import TableSearch, find_table, sigmas_mm
from calibration.extrinsics.table_tags import find_tags
from calibration.grey import to_grey
from calibration.intrinsics.board import find_lens_board
from calibration.intrinsics.guide import Advice, LensGuide, Picture
from calibration.results import (
    CameraFile,
    LensCalibration,
    Origin,
    TableCalibration,
    calibration_name,
)
from calibration.ruler import RulerCheck, ruler_check
from tablecam.capture.frame import Frame
from tablecam.errors import BadInput
from tablecam.live_calibration.bases import BasesWork
from tablecam.live_calibration.hex_fit import MapFit, better_words, far_hexes, fit_map
from tablecam.live_calibration.state import CalibrationState, Saved, Stage, TableReading
from tablecam.record.atomic_files import disk_errors, replace_file
from tablecam.record.camera_file import read_camera_file, write_camera_file
from tablecam.rules.hexes.grid import Hex
from tablecam.table.bases_file import bases_path
from tablecam.table.model import Point
from tablecam.table.roster import Roster

_DROPPED_FOLDER = "dropped"


class ViewFolder:
    """Stores board views as grey PNG files: lossless, and safe from a crash.

    `tablecam calibrate lens` reads them, too. Dropped views move to a subfolder. The folder is
    created with the first view.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def beside(cls, camera_path: Path) -> ViewFolder:
        """Returns the folder of a camera file: `camera.views` beside `camera.json`."""
        return cls(camera_path.with_suffix(".views"))

    def names(self) -> list[str]:
        """Returns the names of the stored views, in order."""
        return sorted(path.stem for path in self.path.glob("*.png"))

    def pictures(self) -> Iterator[tuple[str, Picture]]:
        """Yields each view's name and grey picture, except unreadable ones."""
        for name in self.names():
            data = np.fromfile(self._file(name), dtype=np.uint8)
            picture = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE) if data.size else None
            if picture is not None:
                yield name, np.asarray(picture, dtype=np.uint8)

    def save(self, name: str, picture: Picture) -> None:
        """Stores a view atomically.

        Raises:
            BadInput: It cannot be written.
        """
        with disk_errors(str(self._file(name)), "the view cannot be saved"):
            self.path.mkdir(parents=True, exist_ok=True)
            _, encoded = cv2.imencode(".png", picture)
            replace_file(self._file(name), encoded.tobytes())

    def drop(self, name: str) -> None:
        """Moves a view to the dropped ones.

        Raises:
            BadInput: It cannot be moved.
        """
        dropped = self.path / _DROPPED_FOLDER
        with disk_errors(str(self._file(name)), "the view cannot be dropped"):
            # The file is missing if the disk was full when the view was taken.
            if self._file(name).exists():
                dropped.mkdir(exist_ok=True)
                os.replace(self._file(name), dropped / f"{name}.png")

    def restore(self, name: str) -> None:
        """Restores a dropped view.

        Raises:
            BadInput: It cannot be moved.
        """
        dropped = self.path / _DROPPED_FOLDER / f"{name}.png"
        with disk_errors(str(dropped), "the view cannot be restored"):
            if dropped.exists():
                os.replace(dropped, self._file(name))

    def set_aside(self) -> Path | None:
        """Renames the folder to make room for a new one; returns its new path, if it existed.

        Raises:
            BadInput: It cannot be renamed.
        """
        if not self.path.exists():
            return None
        for number in itertools.count(1):
            aside = self.path.with_name(f"{self.path.name}.old-{number}")
            if not aside.exists():
                with disk_errors(str(self.path), "the views cannot be set aside"):
                    os.replace(self.path, aside)
                return aside
        raise AssertionError("there is always a next number")

    def _file(self, name: str) -> Path:
        return self.path / f"{name}.png"


log = logging.getLogger(__name__)

# The table's assumed share of the picture's width before its pose is known.
_TABLE_SHARE = 0.9

_MAX_WARNINGS = 4


class CalibrationWork:
    """The calibration and check of one camera. Not thread-safe.

    `on_stage` is called with each stage entered; `source` names the camera. `title` is the
    calibration's title, empty for that of an earlier one.
    """

    def __init__(
        self,
        camera_path: Path,
        roster: Roster | None,
        on_stage: Callable[[Stage], None],
        *,
        title: str = "",
        source: Callable[[], str] = lambda: "camera",
    ) -> None:
        self._title = title
        self._source = source
        self._path = camera_path
        self._roster = roster
        hex_map = None if roster is None else roster.table.hex_map
        self._far_hexes = () if hex_map is None else far_hexes(hex_map)
        self._on_stage = on_stage
        self._folder = ViewFolder.beside(camera_path)
        self._guide = LensGuide()
        self._size_px = (16, 9)
        self._stage: Stage = "lens"
        self._advice: Advice | None = None
        self._table: TableReading | None = None
        self._lens: LensCalibration | None = None
        self._file: CameraFile | None = None
        self._saved: Saved | None = None
        self._warnings: tuple[str, ...] = ()
        self._take_now = False
        self._bases: BasesWork | None = None
        self._resume()

    def shown_in(self, state: CalibrationState) -> CalibrationState:
        """Returns the state with the current results."""
        return replace(
            state,
            width_px=self._size_px[0],
            height_px=self._size_px[1],
            stage=self._stage,
            has_table=self._roster is not None,
            progress=self._guide.progress,
            warnings=self._warnings,
            mm_per_px=self._mm_per_px(),
            tag_size_mm=None if self._roster is None else self._roster.table_tag_size_mm,
            hexes=self._far_hexes,
            can_undo=self._guide.can_undo,
            advice=self._advice,
            table=self._table,
            saved=self._saved,
            bases=None if self._bases is None else self._bases.progress,
        )

    def see(self, frame: Frame) -> None:
        """Processes a frame as the stage requires."""
        size_px = (frame.width_px, frame.height_px)
        if size_px != self._size_px:
            self._size_px = size_px
            self._check_size()
        if self._stage == "lens":
            self._guide_with(to_grey(frame.image), frame.taken_at_s)
        elif self._stage == "table":
            self._table = self._find_table(to_grey(frame.image))
        elif self._bases is not None:
            try:
                self._bases.see(frame, frame.taken_at_s)
            # The laying counts in this session; the bases file could not be written.
            except BadInput as error:
                self.warn(str(error))

    # Actions of the user.

    def take_now(self) -> None:
        """Takes the next frame that shows the board, still or not."""
        self._take_now = True

    def forget_best_focus(self) -> None:
        """Resets the best sharpness so far."""
        self._guide.forget_best_focus()

    def drop(self, name: str) -> None:
        """Drops a view.

        Raises:
            BadInput: There is no such view, or its picture cannot be moved.
        """
        # The guide first: it refuses a name that it does not know.
        try:
            self._guide.drop(name)
        except CalibrationError as error:
            raise BadInput("drop", str(error)) from None
        try:
            self._folder.drop(name)
        except BadInput:
            self._guide.undo_drop()
            raise

    def undo_drop(self) -> None:
        """Restores the view that was dropped last.

        Raises:
            BadInput: None was dropped, or its picture cannot be moved.
        """
        try:
            name = self._guide.undo_drop()
        except CalibrationError as error:
            raise BadInput("undo", str(error).removeprefix("undo: ")) from None
        try:
            self._folder.restore(name)
        except BadInput:
            self._guide.drop(name)
            raise

    def finish_lens(self) -> None:
        """Continues with the table; without a table file, saves only the lens.

        Raises:
            BadInput: There is no lens yet, or the file cannot be written.
        """
        lens = self._guide.progress.lens
        if lens is None:
            raise BadInput("lens", "expected at least three views that agree, got fewer")
        self._lens = lens
        if self._roster is None:
            self._save(lens, None)
        else:
            self._enter("table")

    def back_to_lens(self) -> None:
        """Returns to the lens to take additional views."""
        self._enter("lens")

    def place_table(self) -> None:
        """Finds the table again with the known lens.

        Raises:
            BadInput: There is no table file.
        """
        if self._roster is None:
            raise BadInput("table", "expected a table file (--table), got none")
        self._lens = self._lens or self._guide.progress.lens
        self._enter("table")

    def finish_table(self) -> None:
        """Saves the lens, and the table as in the newest frame.

        Raises:
            BadInput: The table is not found in the frame, or the file cannot be written.
        """
        if self._stage != "table" or self._table is None or self._table.search is None:
            raise BadInput("table", "expected at least three table tags in view, got fewer")
        self._save(self._lens, self._table.search.calibration)

    def learn_bases(self) -> None:
        """Continues with the bases, which are pushed into the jig.

        Raises:
            BadInput: There is no finished calibration with a table yet, or the bases file cannot be
                read or belongs to another table file.
        """
        if self._roster is None or self._file is None or self._file.table is None:
            raise BadInput("bases", "expected a finished calibration with a table, got none yet")
        camera = self._file.camera(self._roster.table_tags_mm)
        bases = BasesWork(camera, self._roster, bases_path(self._path))
        self._enter("bases")
        self._bases = bases

    def leave_bases(self) -> None:
        """Returns from the bases; their measurements are on disk."""
        if self._stage == "bases":
            self._enter("done")

    def start_over(self) -> None:
        """Starts again. The old views stay in a renamed folder; the camera file stays."""
        aside = self._folder.set_aside()
        self._guide = LensGuide()
        self._lens = None
        self._warnings = () if aside is None else (f"The old views are in {aside}",)
        self._enter("lens")

    def check_ruler(
        self, ends_px: Sequence[Sequence[float]], true_mm: float, height_mm: float
    ) -> RulerCheck:
        """Compares the length of a ruler with the camera's measurement.

        Raises:
            BadInput: There is no finished calibration yet, or an end is not on the table.
        """
        if self._file is None or self._file.table is None:
            raise BadInput("ruler", "expected a finished calibration with a table, got none yet")
        try:
            return ruler_check(self._file.camera(), ends_px, true_mm, height_mm=height_mm)
        except CalibrationError as error:
            raise BadInput("ruler", str(error).removeprefix("ruler: ")) from None

    def fit_hexmap(self, taps_px: Mapping[Hex, Sequence[float]]) -> tuple[MapFit, str]:
        """Fits the table's hex map to the middles of hexes in the picture.

        Returns the fit, and a note on another arrangement of hexes that fits better, if any.

        Raises:
            BadInput: There is no finished calibration or no map yet, or the hexes cannot be fitted.
        """
        if self._file is None or self._file.table is None:
            raise BadInput("hexmap", "expected a finished calibration with a table, got none yet")
        hex_map = None if self._roster is None else self._roster.table.hex_map
        if hex_map is None:
            raise BadInput("hexmap", "expected a table on hexes, but its file has no [map]")
        camera = self._file.camera()
        places_mm: dict[Hex, Point] = {}
        for number, at_px in taps_px.items():
            ((x_mm, y_mm),) = camera.to_table([at_px]).tolist()
            if not np.isfinite([x_mm, y_mm]).all():
                raise BadInput("hexmap", f"expected hex {number} on the table")
            places_mm[number] = (x_mm, y_mm)
        fit = fit_map(hex_map, places_mm)
        return fit, better_words(fit, places_mm)

    # Resuming an earlier run.

    def _resume(self) -> None:
        # The lens follows from the views, so they are all that a crash must leave behind.
        for name, picture in self._folder.pictures():
            try:
                self._guide.add(find_lens_board(picture, name))
            except CalibrationError as error:
                log.warning("a kept view is left out: %s", error)
        # A camera file means that an earlier run was finished, at least its lens.
        if self._path.exists():
            self._resume_file()

    def _resume_file(self) -> None:
        try:
            camera_file = read_camera_file(self._path)
        except BadInput as error:
            self.warn(f"{error}; it will be backed up beside the new one")
            return
        self._lens = camera_file.lens
        self._title = self._title or camera_file.title
        if camera_file.table is not None or self._roster is None:
            self._show(camera_file, old_path=None, is_new=False)
        else:
            self._enter("table")

    def _check_size(self) -> None:
        """Sets views of another picture size aside: another camera or mode took them."""
        width_px, height_px = self._size_px
        if self._guide.picture_size_px not in (None, self._size_px):
            aside = self._folder.set_aside()
            self._guide = LensGuide()
            self.warn(f"Views with another picture size are in {aside}")
        size = self._file or (None if self._lens is None else self._lens.lens)
        if size is not None and (size.width_px, size.height_px) != self._size_px:
            self.warn(
                f"{self._path}: expected pictures of {size.width_px}x{size.height_px} px, got "
                f"{width_px}x{height_px}: start over, or choose the resolution"
            )
            self._lens, self._file = None, None
            self._enter("lens")

    def warn(self, warning: str) -> None:
        """Shows a warning on the page, once."""
        if warning in self._warnings:
            return
        self._warnings = (*self._warnings, warning)[-_MAX_WARNINGS:]

    def _enter(self, stage: Stage) -> None:
        self._stage = stage
        # One stage's findings mean nothing in another.
        self._advice, self._table, self._take_now, self._bases = None, None, False, None
        self._on_stage(stage)

    # Lens.

    def _guide_with(self, grey: Picture, taken_at_s: float) -> None:
        advice = self._guide.offer(grey, taken_at_s, take_now=self._take_now)
        if advice.view is not None:
            self._take_now = False
        if advice.taken is not None:
            try:
                self._folder.save(advice.taken, grey)
            # The view still counts; only a crash would lose it.
            except BadInput as error:
                self.warn(str(error))
        self._advice = advice

    # Table.

    def _find_table(self, grey: Picture) -> TableReading:
        roster = self._roster
        assert roster is not None, "the stage `table` needs a table file"
        listed_mm = roster.table_tag_places_mm
        lens = None if self._lens is None else self._lens.lens
        tags = find_tags(grey, roster.dictionary, listed_mm, lens)
        missing = tuple(sorted(listed_mm.keys() - {tag.id for tag in tags}))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            search = find_table(
                tags,
                listed_mm,
                roster.table_tag_size_mm,
                picture_size_px=self._size_px,
                lens=self._lens,
                origin=Origin(now, (self._source(),)),
                picture_name="picture",
            )
        except CalibrationError as error:
            return TableReading(tags, missing, None, problem=str(error))
        return TableReading(tags, missing, search, *self._errors_mm(_camera_of(search)))

    def _errors_mm(self, camera: Camera) -> tuple[float, float]:
        """Returns the calibration's uncertainty over the whole table: mean and worst, in mm."""
        roster = self._roster
        if roster is None:
            return float("nan"), float("nan")
        corners_mm = np.array([(0.0, 0.0), (roster.table.width_mm, roster.table.depth_mm)])
        sigmas = sigmas_mm(camera, corners_mm)
        return float(sigmas.mean()), float(sigmas.max())

    def _mm_per_px(self) -> float | None:
        if self._roster is None:
            return None
        return self._roster.table.width_mm / (_TABLE_SHARE * self._size_px[0])

    # Saving.

    def _save(self, lens: LensCalibration | None, table: TableCalibration | None) -> None:
        results = [result for result in (lens, table) if result is not None]
        name = calibration_name(datetime.now(UTC), *results)
        camera_file = CameraFile(name, *self._size_px, lens, table, str(self._path), self._title)
        old_path = write_camera_file(self._path, camera_file)
        self._show(camera_file, old_path=old_path, is_new=True)

    def _show(self, camera_file: CameraFile, *, old_path: Path | None, is_new: bool) -> None:
        """Enters the last stage with a camera file that is on disk."""
        self._file = camera_file
        lens, table = camera_file.lens, camera_file.table
        mean_mm, worst_mm = None, None
        if table is not None:
            mean_mm, worst_mm = self._errors_mm(camera_file.camera())
        self._saved = Saved(
            path=str(self._path),
            name=camera_file.shown_title,
            kept=None if old_path is None else str(old_path),
            has_table=table is not None,
            lens_rms_px=None if lens is None else lens.rms_px,
            mean_mm=mean_mm,
            worst_mm=worst_mm,
            is_new=is_new,
        )
        self._enter("done")


def _camera_of(search: TableSearch) -> Camera:
    calibration = search.calibration
    return Camera(calibration.lens, calibration.pose, covariance=calibration.covariance)
