"""Makes the pictures of a recording, in a thread of its own: the whole table, and places of moves.

JPEG, not WebP: at 75 and 200 kB a picture (rectified, of 1080p and 4K) that is 0.5 to 1 dB or a
quarter of the size worse, but takes 5 and 10 ms of a core where WebP takes 70 and 130.
"""

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
from tablecam.record.entries import Json, NewEntry, Picture, PictureKind
from tablecam.recorder.game_recorder import GameRecord
from tablecam.recorder.picture_budget import Level, Shown
from tablecam.recorder.reference_frames import Shot
from tablecam.table.model import BasePose, TableSize
from tablecam.vision.detection.rectify import Rectifier, rectifier

log = logging.getLogger(__name__)

_TABLE_PX: Final = 1800
"""How wide the whole table is in full, where the camera has so many pixels of it."""
_AROUND_MM: Final = 45.0
"""What is shown around the bases of a unit: what touches it, and some ground to tell it by."""
_MOST_WAITING: Final = 3
"""What is to be shown of so many settled positions may wait: it holds pictures of many megabytes
each. The oldest is left out."""

Pixels = NDArray[np.uint8]
Area = tuple[float, float, float, float]
"""Least x and y, largest x and y, in millimetres."""


@dataclass(frozen=True, slots=True, eq=False)
class TableJob:
    """The whole table is to be kept, as entry `of` has it."""

    of: int
    at: datetime
    shot: Shot


@dataclass(frozen=True, slots=True, eq=False)
class MoveJob:
    """The places of a move are to be kept; `before` is None where nobody saw it clearly."""

    of: int
    at: datetime
    before: Shot | None
    after: Shot
    lay: Sequence[BasePose]
    lies: Sequence[BasePose]


Job = TableJob | MoveJob


class Photographing(Background):
    """Takes jobs from any thread, and has the record keep what its budget has room for."""

    def __init__(self, record: GameRecord, table: TableSize) -> None:
        super().__init__("pictures")
        self._record = record
        self._table = table
        self._jobs: deque[Sequence[Job]] = deque(maxlen=_MOST_WAITING)
        self._is_busy = False
        self._new = threading.Condition()
        self._camera: Camera | None = None
        self._rectifier: Rectifier | None = None

    def ask(self, *jobs: Job) -> None:
        """Have pictures made, as soon as those asked for before are."""
        with self._new:
            self._jobs.append(jobs)
            self._new.notify_all()

    def wait(self) -> None:
        """Return once all pictures that were asked for are made."""
        with self._new:
            self._new.wait_for(lambda: not (self._jobs or self._is_busy))

    def close(self) -> None:
        """Make what is waited for, and stop."""
        with self._new:
            self._stopping.set()
            self._new.notify_all()
        super().close()

    def _run(self) -> None:
        while (jobs := self._next()) is not None:
            try:
                made = [self._photographed(job) for job in jobs]
                self._record.add_pictures(*(each for each in made if each is not None))
            except Exception:  # whoever waits for pictures must not wait for ever
                log.exception("pictures of the table could not be kept")

    def _next(self) -> Sequence[Job] | None:
        with self._new:
            self._is_busy = False
            self._new.notify_all()
            self._new.wait_for(lambda: self._jobs or self._stopping.is_set())
            self._is_busy = bool(self._jobs)
            return self._jobs.popleft() if self._jobs else None

    def _photographed(self, job: Job) -> NewEntry | None:
        """What is to be kept of a job; None where there is no room for it, or it fails."""
        try:
            return self._table_of(job) if isinstance(job, TableJob) else self._places_of(job)
        except Exception:  # a fault of ours costs a picture, never the game
            log.exception("a picture of the table could not be made")
            return None

    def _table_of(self, job: TableJob) -> NewEntry | None:
        picture = self._kept("table", "table", self._flat(job.shot), job.shot.frame.taken_at_s)
        return None if picture is None else NewEntry("picture", {"of": job.of}, (picture,), job.at)

    def _places_of(self, job: MoveJob) -> NewEntry | None:
        document: Json = {"of": job.of}
        pictures: list[Picture] = []
        for kind, shot, area in _places(job, self._table):
            picture = self._kept("place", kind, _place(shot, area), shot.frame.taken_at_s)
            if picture is not None:
                pictures.append(picture)
                document.setdefault("areas_mm", {})[kind] = [round(value, 1) for value in area]
        return NewEntry("picture", document, tuple(pictures), job.at) if pictures else None

    def _flat(self, shot: Shot) -> Pixels:
        """The whole table in full."""
        if self._rectifier is None or shot.camera is not self._camera:
            scale = _scale(shot.camera, self._table)
            self._rectifier = rectifier(shot.camera, self._table, px_per_mm=scale)
            self._camera = shot.camera
        return self._rectifier.rectified(shot.frame.image)

    def _kept(self, shown: Shown, kind: PictureKind, full: Pixels, at_s: float) -> Picture | None:
        """A picture as small as it has to be; None where there is no room for it."""
        budget, full_px = self._record.budget, full.shape[0] * full.shape[1]
        level = budget.level(shown, full_px, at_s)
        if level is None:
            return None
        jpeg = encoded(full, level)
        if not budget.spend(shown, level, full_px, len(jpeg), at_s):
            return None
        return Picture(kind, jpeg)


def _scale(camera: Camera, table: TableSize) -> float:
    """How many pixels a millimetre the whole table has in full: no more than the camera has."""
    middle_mm = np.array([[table.width_mm / 2, table.depth_mm / 2]])
    return min(_TABLE_PX / table.width_mm, float(camera.px_per_mm(middle_mm)[0]))


def encoded(full: Pixels, level: Level) -> bytes:
    """A picture as JPEG at a level."""
    if level.scale < 1.0:
        size = (round(full.shape[1] * level.scale) or 1, round(full.shape[0] * level.scale) or 1)
        full = np.asarray(cv2.resize(full, size, interpolation=cv2.INTER_AREA), np.uint8)
    how = [cv2.IMWRITE_JPEG_QUALITY, level.quality]
    how += [cv2.IMWRITE_JPEG_OPTIMIZE, int(level.is_optimised)]
    return bytes(cv2.imencode(".jpg", full, how)[1].tobytes())


def _places(job: MoveJob, table: TableSize) -> Sequence[tuple[PictureKind, Shot, Area]]:
    """What is to be shown of a move: both of its places in one where they are near each other."""
    lay, lies = _around(job.lay, table), _around(job.lies, table)
    if lay[0] < lies[2] and lies[0] < lay[2] and lay[1] < lies[3] and lies[1] < lay[3]:
        lay = lies = _joined(lay, lies)
    after: tuple[PictureKind, Shot, Area] = ("after", job.after, lies)
    return [after] if job.before is None else [("before", job.before, lay), after]


def _around(bases: Sequence[BasePose], table: TableSize) -> Area:
    """The area of a unit's bases and what lies around them, as far as it is on the table."""
    far_mm = [max(base.width_mm, base.depth_mm) / 2 + _AROUND_MM for base in bases]
    return (
        max(0.0, min(b.x_mm - far for b, far in zip(bases, far_mm, strict=True))),
        max(0.0, min(b.y_mm - far for b, far in zip(bases, far_mm, strict=True))),
        min(table.width_mm, max(b.x_mm + far for b, far in zip(bases, far_mm, strict=True))),
        min(table.depth_mm, max(b.y_mm + far for b, far in zip(bases, far_mm, strict=True))),
    )


def _joined(one: Area, other: Area) -> Area:
    left, bottom = min(one[0], other[0]), min(one[1], other[1])
    return left, bottom, max(one[2], other[2]), max(one[3], other[3])


def _place(shot: Shot, area: Area) -> Pixels:
    """An area of the table from above, with as many pixels as the camera has of it.

    Straight from its corners: over so short a way a lens bends lines by less than a pixel.
    """
    left, bottom, right, top = area
    corners_mm = np.array([(left, top, 0), (right, top, 0), (right, bottom, 0), (left, bottom, 0)])
    corners_px = shot.camera.to_image(corners_mm).astype(np.float32)
    scale = float(shot.camera.px_per_mm(corners_mm[:, :2].mean(axis=0)[None])[0])
    wide, deep = max(1, round((right - left) * scale)), max(1, round((top - bottom) * scale))
    to_px = np.array([(0, 0), (wide, 0), (wide, deep), (0, deep)], np.float32) - 0.5
    turn = cv2.getPerspectiveTransform(corners_px, to_px.astype(np.float32))
    flat = cv2.warpPerspective(shot.frame.image, turn, (wide, deep), flags=cv2.INTER_LINEAR)
    return np.asarray(flat, np.uint8)
