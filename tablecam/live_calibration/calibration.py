"""Runs a live calibration: the thread that reads the camera, and the page's requests."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import cv2

from calibration.intrinsics.guide import LensGuide
from tablecam.background import Background, FairLock
from tablecam.capture.frame import Frame
from tablecam.capture.picture import jpeg_bytes
from tablecam.capture.reader import Reader
from tablecam.documents import Json
from tablecam.live_calibration.hex_fit import MOST_RESIDUAL, map_section
from tablecam.live_calibration.state import CalibrationState, SourceStatus, Stage, state_json
from tablecam.live_calibration.work import CalibrationWork
from tablecam.table.roster import Roster

log = logging.getLogger(__name__)

UserAction = Literal[
    "take-now",
    "forget-best-focus",
    "drop",
    "undo-drop",
    "finish-lens",
    "back-to-lens",
    "place-table",
    "finish-table",
    "start-over",
    "learn-bases",
    "leave-bases",
]
"""What a user can do on the page."""

_FRAME_TIMEOUT_S = 0.5
_PREVIEW_WIDTH_PX = 1280


class LiveCalibration(Background):
    """Guides through the calibration of the camera behind a reader. Thread-safe.

    Use it as a context manager, or call `start` and `close`. It does not close the reader.

    Args:
        reader: The camera.
        camera_path: The camera file to write; views are stored in a folder beside it.
        roster: The table; without one only the lens is calibrated.
        title: The calibration's title; by default its source and the date.
        on_stage: Called with each stage entered, in the thread that enters it.
    """

    def __init__(
        self,
        reader: Reader,
        camera_path: Path,
        roster: Roster | None = None,
        *,
        title: str = "",
        on_stage: Callable[[Stage], None] = lambda stage: None,
    ) -> None:
        super().__init__("live calibration")
        self._reader = reader
        # Guards `_work`.
        self._work_lock = FairLock()
        self._work = CalibrationWork(
            camera_path, roster, on_stage, title=title, source=lambda: reader.status.name
        )
        # Guards the state and the frame.
        self._changed = threading.Condition()
        self._frame: Frame | None = None
        empty = CalibrationState(0, -1, self._source_news(), LensGuide().progress)
        self._state = self._work.shown_in(empty)

    def state(self) -> Json:
        """Returns the newest state as JSON."""
        with self._changed:
            return state_json(self._state)

    def wait(self, after_version: int, timeout_s: float) -> Json | None:
        """Waits for a version above `after_version` and returns it; None after the timeout."""
        with self._changed:
            newer = self._changed.wait_for(lambda: self._state.version > after_version, timeout_s)
            return state_json(self._state) if newer else None

    def picture(self, *, whole: bool = False) -> bytes:
        """Returns the newest frame as JPEG, scaled down unless `whole`; empty if there is none."""
        with self._changed:
            frame = self._frame
        # Encoded outside the lock, which the camera's thread needs for every frame.
        if frame is None:
            return b""
        image = frame.image
        if not whole and frame.width_px > _PREVIEW_WIDTH_PX:
            height_px = round(frame.height_px * _PREVIEW_WIDTH_PX / frame.width_px)
            image = cv2.resize(image, (_PREVIEW_WIDTH_PX, height_px), interpolation=cv2.INTER_AREA)
        return jpeg_bytes(image)

    def check_ruler(
        self, ends_px: Sequence[Sequence[float]], true_mm: float, height_mm: float
    ) -> Json:
        """Compares a length between two pixels on a ruler with the camera's measurement.

        Raises:
            BadInput: There is no finished calibration yet, or an end is not on the table.
        """
        with self._work_lock:
            check = self._work.check_ruler(ends_px, true_mm, height_mm)
        return {
            "measured_mm": round(check.measured_mm, 2),
            "true_mm": check.true_mm,
            "sigma_mm": round(check.sigma_mm, 3),
            "off_mm": round(check.off_mm, 2),
            "off_sigmas": round(check.off_sigmas, 1),
        }

    def fit_hexmap(self, taps_px: Mapping[str, Sequence[float]]) -> Json:
        """Fits the table's hex map to the middles of hexes in the picture.

        Raises:
            BadInput: There is no finished calibration or no map yet, or the hexes cannot be fitted.
        """
        with self._work_lock:
            fit, better = self._work.fit_hexmap(taps_px)
        return {
            "residuals": [
                {
                    "hex": number,
                    "off_mm": round(off_mm, 2),
                    "share": round(fit.share(number), 3),
                    "is_off": fit.share(number) > MOST_RESIDUAL,
                }
                for number, off_mm in fit.residuals_mm.items()
            ],
            "problem": fit.problem,
            "better": better,
            "section": "" if fit.problem else map_section(fit.map),
        }

    def act(self, action: UserAction, view: str = "") -> None:
        """Performs a user's action; `view` names the view to drop.

        Raises:
            BadInput: Says why it is impossible now.
        """
        with self._work_lock:
            # Never in the middle of a frame: the thread takes the same lock for each.
            self._do(action, view)
            # At once, because the next frame may be long in coming.
            self._publish()

    def _do(self, action: UserAction, view: str) -> None:
        work = self._work
        steps: dict[UserAction, Callable[[], None]] = {
            "take-now": work.take_now,
            "forget-best-focus": work.forget_best_focus,
            "drop": partial(work.drop, view),
            "undo-drop": work.undo_drop,
            "finish-lens": work.finish_lens,
            "back-to-lens": work.back_to_lens,
            "place-table": work.place_table,
            "finish-table": work.finish_table,
            "start-over": work.start_over,
            "learn-bases": work.learn_bases,
            "leave-bases": work.leave_bases,
        }
        steps[action]()

    def _run(self) -> None:
        number = -1
        while not self._stopping.is_set():
            # Waits without the lock, so that users need not wait for the camera.
            frame = self._reader.newest(after=number, timeout_s=_FRAME_TIMEOUT_S)
            with self._work_lock:
                if frame is not None:
                    number = frame.number
                    self._see_safely(frame)
                self._publish(frame)
            # A source that has ended returns at once: do not spin.
            if frame is None and self._reader.status.finished:
                self._stopping.wait(_FRAME_TIMEOUT_S)

    def _see_safely(self, frame: Frame) -> None:
        """Processes a frame. An error costs only that frame, and is shown and logged."""
        try:
            self._work.see(frame)
        except Exception as error:
            log.debug("frame %d", frame.number, exc_info=True)
            log.error("frame %d could not be read: %r", frame.number, error)
            self._work.warn(f"tablecam could not read a picture: {error!r}")

    def _publish(self, frame: Frame | None = None) -> None:
        """Publishes the work's state if it has changed."""
        with self._changed:
            old = self._state
            new = self._work.shown_in(replace(old, source=self._source_news()))
            if frame is not None:
                self._frame = frame
                new = replace(new, frame=frame.number)
            # Without a change there is no new version, and waiting pages stay asleep.
            if new != old:
                self._state = replace(new, version=old.version + 1)
                self._changed.notify_all()

    def _source_news(self) -> SourceStatus:
        status = self._reader.status
        return SourceStatus(
            status.name, status.state, status.message, round(status.frames_per_s, 1), status.notes
        )
