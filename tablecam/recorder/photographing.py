"""Makes a recording's pictures in a thread of its own: the whole table, and places of moves."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.background import Background
from tablecam.documents import Json
from tablecam.record.entries import NewEntry, Picture, PictureKind
from tablecam.recorder.game_recorder import GameRecorder
from tablecam.recorder.picture_budget import Level, PictureSubject
from tablecam.recorder.reference_frames import Shot
from tablecam.table.model import BasePose, TableSize
from tablecam.vision.detection.rectify import Rectifier, make_rectifier

log = logging.getLogger(__name__)

_TABLE_PX: Final = 1800
"""Width of the whole table at full size, unless the camera has fewer pixels of it."""
_MARGIN_MM: Final = 45.0
"""Margin around a unit's bases: shows what touches it, and some ground to recognise it by."""
_MAX_WAITING: Final = 3
"""How many settled positions may wait for pictures; each holds pictures of many megabytes. The
oldest is dropped."""

Pixels = NDArray[np.uint8]
Area = tuple[float, float, float, float]
"""Least x and y, largest x and y, in millimetres."""


@dataclass(frozen=True, slots=True, eq=False)
class TableJob:
    """A request for a picture of the whole table for entry `of`."""

    of: int
    at: datetime
    shot: Shot


@dataclass(frozen=True, slots=True, eq=False)
class MoveJob:
    """A request for pictures of a move; `before` is None if its start was never seen clearly."""

    of: int
    at: datetime
    before: Shot | None
    after: Shot
    bases_before: Sequence[BasePose]
    bases_after: Sequence[BasePose]


Job = TableJob | MoveJob


class Photographer(Background):
    """A thread that makes pictures for a record, as far as the record's budget allows."""

    def __init__(self, record: GameRecorder, table: TableSize) -> None:
        super().__init__("pictures")
        self._record = record
        self._table = table
        self._jobs: deque[Sequence[Job]] = deque(maxlen=_MAX_WAITING)
        self._is_busy = False
        self._changed = threading.Condition()
        self._camera: Camera | None = None
        self._rectifier: Rectifier | None = None

    def request(self, *jobs: Job) -> None:
        """Queues pictures behind those already requested."""
        with self._changed:
            self._jobs.append(jobs)
            self._changed.notify_all()

    def wait(self) -> None:
        """Returns once all requested pictures are made."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._jobs or self._is_busy))

    def close(self) -> None:
        """Makes the pictures that are queued, and stops."""
        with self._changed:
            self._stopping.set()
            # `_run` still makes the queued pictures before it ends.
            self._changed.notify_all()
        super().close()

    def _run(self) -> None:
        while (jobs := self._next()) is not None:
            try:
                entries = [self._picture_entry(job) for job in jobs]
                self._record.add_pictures(*(entry for entry in entries if entry is not None))
            # The thread must go on, as `wait` would block for ever.
            except Exception:
                log.exception("cannot save pictures of the table")

    def _next(self) -> Sequence[Job] | None:
        with self._changed:
            # `wait` must not return between two jobs that belong together.
            self._is_busy = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._jobs or self._stopping.is_set())
            self._is_busy = bool(self._jobs)
            return self._jobs.popleft() if self._jobs else None

    def _picture_entry(self, job: Job) -> NewEntry | None:
        """Returns the entry of a job; None if there is no room for it, or it fails."""
        try:
            return self._table_entry(job) if isinstance(job, TableJob) else self._places_entry(job)
        # An error in here costs a picture, never the game.
        except Exception:
            log.exception("cannot make a picture of the table")
            return None

    def _table_entry(self, job: TableJob) -> NewEntry | None:
        picture = self._fitted(
            "table", "table", self._rectified(job.shot), job.shot.frame.taken_at_s
        )
        return None if picture is None else NewEntry("picture", {"of": job.of}, (picture,), job.at)

    def _places_entry(self, job: MoveJob) -> NewEntry | None:
        document: Json = {"of": job.of}
        pictures: list[Picture] = []
        for kind, shot, area in _places(job, self._table):
            picture = self._fitted(
                "place", kind, _rectified_area(shot, area), shot.frame.taken_at_s
            )
            if picture is not None:
                pictures.append(picture)
                document.setdefault("areas_mm", {})[kind] = [round(value, 1) for value in area]
        return NewEntry("picture", document, tuple(pictures), job.at) if pictures else None

    def _rectified(self, shot: Shot) -> Pixels:
        """Returns the rectified table at full size."""
        if self._rectifier is None or shot.camera is not self._camera:
            scale = _scale(shot.camera, self._table)
            self._rectifier = make_rectifier(shot.camera, self._table, px_per_mm=scale)
            self._camera = shot.camera
        return self._rectifier.rectify(shot.frame.image)

    def _fitted(
        self, shown: PictureSubject, kind: PictureKind, full: Pixels, at_s: float
    ) -> Picture | None:
        """Returns a picture as small as the budget requires; None if there is no room."""
        budget, full_px = self._record.budget, full.shape[0] * full.shape[1]
        level = budget.level(shown, full_px, at_s)
        if level is None:
            return None
        jpeg = encoded(full, level)
        # The level was chosen by an estimate; the encoded picture may be too large after all.
        if not budget.spend(shown, level, full_px, len(jpeg), at_s):
            return None
        return Picture(kind, jpeg)


def _scale(camera: Camera, table: TableSize) -> float:
    """Returns the px per mm of the whole table at full size: at most what the camera has."""
    middle_mm = np.array([[table.width_mm / 2, table.depth_mm / 2]])
    return min(_TABLE_PX / table.width_mm, float(camera.px_per_mm(middle_mm)[0]))


def encoded(full: Pixels, level: Level) -> bytes:
    """Returns a picture as JPEG at a level."""
    if level.scale < 1.0:
        size = (round(full.shape[1] * level.scale) or 1, round(full.shape[0] * level.scale) or 1)
        full = np.asarray(cv2.resize(full, size, interpolation=cv2.INTER_AREA), np.uint8)
    # JPEG, not WebP: 0.5 to 1 dB worse at the same size, but 5 to 10 ms of one core instead of 70
    # to 130 (1080p and 4K).
    parameters = [cv2.IMWRITE_JPEG_QUALITY, level.quality]
    parameters += [cv2.IMWRITE_JPEG_OPTIMIZE, int(level.is_optimised)]
    return bytes(cv2.imencode(".jpg", full, parameters)[1].tobytes())


def _places(job: MoveJob, table: TableSize) -> Sequence[tuple[PictureKind, Shot, Area]]:
    """Returns the places to show of a move, as one area if they overlap."""
    old, new = _area_around(job.bases_before, table), _area_around(job.bases_after, table)
    if old[0] < new[2] and new[0] < old[2] and old[1] < new[3] and new[1] < old[3]:
        # One area for both pictures makes them comparable.
        old = new = _union(old, new)
    after: tuple[PictureKind, Shot, Area] = ("after", job.after, new)
    return [after] if job.before is None else [("before", job.before, old), after]


def _area_around(bases: Sequence[BasePose], table: TableSize) -> Area:
    """Returns the area of a unit's bases with a margin, clipped to the table."""
    margins_mm = [max(base.width_mm, base.depth_mm) / 2 + _MARGIN_MM for base in bases]
    return (
        max(0.0, min(b.x_mm - m for b, m in zip(bases, margins_mm, strict=True))),
        max(0.0, min(b.y_mm - m for b, m in zip(bases, margins_mm, strict=True))),
        min(table.width_mm, max(b.x_mm + m for b, m in zip(bases, margins_mm, strict=True))),
        min(table.depth_mm, max(b.y_mm + m for b, m in zip(bases, margins_mm, strict=True))),
    )


def _union(one: Area, other: Area) -> Area:
    left, bottom = min(one[0], other[0]), min(one[1], other[1])
    return left, bottom, max(one[2], other[2]), max(one[3], other[3])


def _rectified_area(shot: Shot, area: Area) -> Pixels:
    """Returns an area of the table from above, with as many pixels as the camera has of it."""
    left, bottom, right, top = area
    corners_mm = np.array([(left, top, 0), (right, top, 0), (right, bottom, 0), (left, bottom, 0)])
    corners_px = shot.camera.to_image(corners_mm).astype(np.float32)
    scale = float(shot.camera.px_per_mm(corners_mm[:, :2].mean(axis=0)[None])[0])
    width_px = max(1, round((right - left) * scale))
    height_px = max(1, round((top - bottom) * scale))
    # Pixel centres have integer coordinates, so the area's corners lie half a pixel outside.
    target_px = np.array([(0, 0), (width_px, 0), (width_px, height_px), (0, height_px)]) - 0.5
    # A homography suffices: over so short a distance the lens bends lines by less than a pixel.
    homography = cv2.getPerspectiveTransform(corners_px, target_px.astype(np.float32))
    flat = cv2.warpPerspective(
        shot.frame.image, homography, (width_px, height_px), flags=cv2.INTER_LINEAR
    )
    return np.asarray(flat, np.uint8)
