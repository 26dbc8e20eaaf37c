"""The work of a live calibration, step by step: lens, table, saved. No threads here.

Every view is kept on disk as it is taken, and found again after a crash. The camera file is written
at the end, and an old one is kept beside it.
"""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import cv2
import numpy as np

from calibration.board import find_lens_board
from calibration.camera import Camera
from calibration.camera_file import (
    CameraFile,
    calibration_name,
    read_camera_file,
    write_camera_file,
)
from calibration.errors import CalibrationError
from calibration.grey import to_grey
from calibration.guide import Advice, LensGuide, Picture
from calibration.results import LensCalibration, Origin, TableCalibration
from calibration.ruler import RulerCheck, ruler_check
from calibration.table_pose import TableSearch, find_table
from calibration.table_tags import find_tags
from tablecam.capture.frame import Frame
from tablecam.errors import BadInput
from tablecam.live_calibration.state import CalibrationState, Saved, Stage, TableNews
from tablecam.table.roster import Roster

_DROPPED = "dropped"


class ViewFolder:
    """Board views as grey PNG pictures, so that a crash loses none and none is compressed away.

    `tablecam calibrate lens` reads them too. Dropped views move to a folder inside. The folder is
    made when the first view comes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def beside(cls, camera_path: Path) -> ViewFolder:
        """The folder that goes with a camera file: `camera.views` beside `camera.json`."""
        return cls(camera_path.with_suffix(".views"))

    def names(self) -> list[str]:
        """The views that are there, in order."""
        return sorted(path.stem for path in self.path.glob("*.png"))

    def pictures(self) -> Iterator[tuple[str, Picture]]:
        """Each view's name and grey picture; what cannot be read is left out."""
        for name in self.names():
            data = np.fromfile(self._file(name), dtype=np.uint8)
            picture = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE) if data.size else None
            if picture is not None:
                yield name, np.asarray(picture, dtype=np.uint8)

    def save(self, name: str, picture: Picture) -> None:
        """Keep a view. It is there whole, or not at all.

        Raises:
            BadInput: It cannot be written.
        """
        file = self._file(name)
        fresh = file.with_suffix(".png.tmp")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            _, encoded = cv2.imencode(".png", picture)
            fresh.write_bytes(encoded.tobytes())
            os.replace(fresh, file)
        except OSError as error:
            raise BadInput(str(file), f"the view could not be kept: {error.strerror}") from None

    def drop(self, name: str) -> None:
        """Move a view to the dropped ones."""
        dropped = self.path / _DROPPED
        dropped.mkdir(parents=True, exist_ok=True)
        if self._file(name).exists():
            os.replace(self._file(name), dropped / f"{name}.png")

    def restore(self, name: str) -> None:
        """Bring a dropped view back."""
        dropped = self.path / _DROPPED / f"{name}.png"
        if dropped.exists():
            os.replace(dropped, self._file(name))

    def set_aside(self) -> Path | None:
        """Rename the folder, so that a new one may begin; its new path, None if there was none."""
        if not self.path.exists():
            return None
        for number in itertools.count(1):
            aside = self.path.with_name(f"{self.path.name}.old-{number}")
            if not aside.exists():
                os.replace(self.path, aside)
                return aside
        raise AssertionError("there is always a next number")

    def _file(self, name: str) -> Path:
        return self.path / f"{name}.png"


log = logging.getLogger(__name__)

_TABLE_SHARE = 0.9  # of the picture's width, as long as nothing better is known
_GRID = 9
_MOST_WARNINGS = 4


class CalibrationWork:
    """Lens, table and check of one camera. Not for two threads at once.

    `on_stage` is told of each stage that is entered.
    """

    def __init__(
        self,
        camera_path: Path,
        roster: Roster | None,
        on_stage: Callable[[Stage], None],
    ) -> None:
        self._path = camera_path
        self._roster = roster
        self._on_stage = on_stage
        self._folder = ViewFolder.beside(camera_path)
        self._guide = LensGuide()
        self._size_px = (16, 9)
        self._stage: Stage = "lens"
        self._advice: Advice | None = None
        self._table: TableNews | None = None
        self._lens: LensCalibration | None = None
        self._file: CameraFile | None = None
        self._saved: Saved | None = None
        self._warnings: tuple[str, ...] = ()
        self._take_now = False
        self._resume()

    def shown_in(self, state: CalibrationState) -> CalibrationState:
        """The state with all that the work has to show."""
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
            can_undo=self._guide.can_undo,
            advice=self._advice,
            table=self._table,
            saved=self._saved,
        )

    def see(self, frame: Frame) -> None:
        """Do with a frame what the stage asks for."""
        size_px = (frame.width_px, frame.height_px)
        if size_px != self._size_px:
            self._size_px = size_px
            self._check_size()
        if self._stage == "lens":
            self._guide_with(to_grey(frame.image), frame.taken_at_s)
        elif self._stage == "table":
            self._table = self._find_table(to_grey(frame.image))

    # What a person does.

    def take_now(self) -> None:
        """Take the next frame that shows the board, still or not."""
        self._take_now = True

    def forget_best_focus(self) -> None:
        """Begin anew with the best sharpness."""
        self._guide.forget_best_focus()

    def drop(self, name: str) -> None:
        """Leave a view out.

        Raises:
            BadInput: There is no such view.
        """
        try:
            self._guide.drop(name)
        except CalibrationError as error:
            raise BadInput("drop", str(error)) from None
        self._folder.drop(name)

    def undo_drop(self) -> None:
        """Bring the view back that was dropped last.

        Raises:
            BadInput: None was dropped.
        """
        try:
            self._folder.restore(self._guide.undo_drop())
        except CalibrationError as error:
            raise BadInput("undo", str(error).removeprefix("undo: ")) from None

    def finish_lens(self) -> None:
        """Go on to the table; without a table file, save the lens alone.

        Raises:
            BadInput: There is no lens yet, or the file cannot be written.
        """
        lens = self._guide.progress.lens
        if lens is None:
            raise BadInput("lens", "expected three views or more that agree, got fewer")
        self._lens = lens
        if self._roster is None:
            self._save(lens, None)
        else:
            self._enter("table")

    def back_to_lens(self) -> None:
        """Take more views, beside those that there are."""
        self._enter("lens")

    def place_table(self) -> None:
        """Find the table again, with the lens as it is known.

        Raises:
            BadInput: There is no table file.
        """
        if self._roster is None:
            raise BadInput("table", "expected a table file (--table), got none")
        self._lens = self._lens or self._guide.progress.lens
        self._enter("table")

    def finish_table(self) -> None:
        """Save lens and table as the newest frame has them.

        Raises:
            BadInput: The table is not found in it, or the file cannot be written.
        """
        if self._stage != "table" or self._table is None or self._table.search is None:
            raise BadInput("table", "expected three table tags or more in view, got fewer")
        self._save(self._lens, self._table.search.calibration)

    def start_over(self) -> None:
        """Begin anew. The views so far stay in a folder of another name; the camera file stays."""
        aside = self._folder.set_aside()
        self._guide = LensGuide()
        self._lens = None
        self._warnings = () if aside is None else (f"The views so far are kept in {aside}",)
        self._enter("lens")

    def check_ruler(
        self, ends_px: Sequence[Sequence[float]], true_mm: float, height_mm: float
    ) -> RulerCheck:
        """How far off the camera is about the length of a ruler.

        Raises:
            BadInput: There is no finished calibration yet, or an end is not on the table.
        """
        if self._file is None or self._file.table is None:
            raise BadInput("ruler", "expected a finished calibration with a table, got none yet")
        try:
            return ruler_check(self._file.camera(), ends_px, true_mm, height_mm=height_mm)
        except CalibrationError as error:
            raise BadInput("ruler", str(error).removeprefix("ruler: ")) from None

    # Beginning where an earlier run ended.

    def _resume(self) -> None:
        for name, picture in self._folder.pictures():
            try:
                self._guide.add(find_lens_board(picture, name))
            except CalibrationError as error:
                log.warning("a kept view is left out: %s", error)
        if self._path.exists():
            self._resume_file()

    def _resume_file(self) -> None:
        try:
            known = read_camera_file(self._path)
        except CalibrationError as error:
            self.warn(f"{error}; it will be kept beside the new one")
            return
        self._lens = known.lens
        if known.table is not None or self._roster is None:
            self._show(known, kept=None, is_new=False)
        else:
            self._enter("table")

    def _check_size(self) -> None:
        """Set views of another picture size aside: another camera, or another mode, took them."""
        width_px, height_px = self._size_px
        if self._guide.picture_size_px not in (None, self._size_px):
            aside = self._folder.set_aside()
            self._guide = LensGuide()
            self.warn(f"Views of pictures of another size are kept in {aside}")
        known = self._file or (None if self._lens is None else self._lens.lens)
        if known is not None and (known.width_px, known.height_px) != self._size_px:
            self.warn(
                f"{self._path}: expected pictures of {known.width_px}x{known.height_px} px, got "
                f"{width_px}x{height_px}: start over, or choose the resolution"
            )
            self._lens, self._file = None, None
            self._enter("lens")

    def warn(self, warning: str) -> None:
        """Say something on the page, once however often it is said."""
        if warning in self._warnings:
            return
        self._warnings = (*self._warnings, warning)[-_MOST_WARNINGS:]

    def _enter(self, stage: Stage) -> None:
        self._stage = stage
        self._advice, self._table, self._take_now = None, None, False
        self._on_stage(stage)

    # Lens.

    def _guide_with(self, grey: Picture, taken_at_s: float) -> None:
        advice = self._guide.offer(grey, taken_at_s, take_now=self._take_now)
        if advice.view is not None:
            self._take_now = False
        if advice.taken is not None:
            try:
                self._folder.save(advice.taken, grey)
            except BadInput as error:  # it still counts; only a crash would lose it
                self.warn(str(error))
        self._advice = advice

    # Table.

    def _find_table(self, grey: Picture) -> TableNews:
        roster = self._roster
        assert roster is not None, "the stage `table` is entered with a table file only"
        listed_mm = {tag.id: (tag.x_mm, tag.y_mm) for tag in roster.table_tags}
        lens = None if self._lens is None else self._lens.lens
        found = find_tags(grey, roster.dictionary, listed_mm, lens)
        missing = tuple(sorted(listed_mm.keys() - {tag.id for tag in found}))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            search = find_table(
                found,
                listed_mm,
                roster.table_tag_size_mm,
                picture_size_px=self._size_px,
                lens=self._lens,
                origin=Origin(now, ("a picture of the live camera",)),
                picture_name="picture",
            )
        except CalibrationError as error:
            return TableNews(found, missing, None, problem=str(error))
        return TableNews(found, missing, search, *self._errors_mm(_camera_of(search)))

    def _errors_mm(self, camera: Camera) -> tuple[float, float]:
        """What the calibration leaves uncertain on the whole table: mean and worst, in mm."""
        roster = self._roster
        if roster is None:
            return float("nan"), float("nan")
        x = np.linspace(0, roster.table.width_mm, _GRID)
        y = np.linspace(0, roster.table.depth_mm, _GRID)
        places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        variances = np.trace(camera.table_covariance(places), axis1=1, axis2=2) / 2
        sigmas = np.sqrt(variances)
        return float(sigmas.mean()), float(sigmas.max())

    def _mm_per_px(self) -> float | None:
        if self._roster is None:
            return None
        return self._roster.table.width_mm / (_TABLE_SHARE * self._size_px[0])

    # Saving.

    def _save(self, lens: LensCalibration | None, table: TableCalibration | None) -> None:
        results = [result for result in (lens, table) if result is not None]
        name = calibration_name(datetime.now(UTC), *results)
        camera_file = CameraFile(name, *self._size_px, lens, table, str(self._path))
        try:
            kept = write_camera_file(self._path, camera_file)
        except CalibrationError as error:
            raise BadInput("save", str(error)) from None
        self._show(camera_file, kept=kept, is_new=True)

    def _show(self, camera_file: CameraFile, *, kept: Path | None, is_new: bool) -> None:
        """Go on to the last stage with a camera file that is on disk."""
        self._file = camera_file
        lens, table = camera_file.lens, camera_file.table
        mean_mm, worst_mm = None, None
        if table is not None:
            mean_mm, worst_mm = self._errors_mm(camera_file.camera())
        self._saved = Saved(
            path=str(self._path),
            name=camera_file.name,
            kept=None if kept is None else str(kept),
            has_table=table is not None,
            lens_rms_px=None if lens is None else lens.rms_px,
            mean_mm=mean_mm,
            worst_mm=worst_mm,
            is_new=is_new,
        )
        self._enter("done")


def _camera_of(search: TableSearch) -> Camera:
    found = search.calibration
    return Camera(found.lens, found.pose, covariance=found.covariance)
