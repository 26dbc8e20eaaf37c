"""The loop from frames to snapshots, and the answers to what is asked of the newest one."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence

import cv2

from calibration.camera import Camera
from calibration.grey import to_grey
from tablecam.capture.frame import Frame
from tablecam.capture.reader import Reader
from tablecam.live import questions
from tablecam.live.background import Background
from tablecam.live.health import Tally, health
from tablecam.live.protocol import Json, SimulatedControls
from tablecam.live.state import Health, Snapshot
from tablecam.table.model import Position
from tablecam.table.roster import Roster
from tablecam.vision.find import TagFinder
from tablecam.vision.position import position_of
from tablecam.vision.rectify import rectifier
from tablecam.vision.sighting import Search
from tablecam.vision.table_check import NO_TABLE_TAGS, check_table_tags
from tablecam.vision.tracking import BaseTracker, TrackedBase

log = logging.getLogger(__name__)

_PATIENCE_S = 0.5
"""How long the loop waits for a frame before it looks at the source's state again."""

_FRAMES_BETWEEN_WHOLE_SEARCHES = 30
_PICTURE_WIDTH_PX = 1800
_JPEG_QUALITY = 85


class LiveTable(Background):
    """A table that is being watched: frames in, snapshots out (`tablecam.live.protocol.Live`).

    A thread of its own reads; any thread may ask. Use it as a context, or `start` and `close` it;
    the reader stays its caller's. `simulated` are the controls of a table that is not there.
    """

    def __init__(
        self,
        reader: Reader,
        camera: Camera,
        roster: Roster,
        *,
        simulated: SimulatedControls | None = None,
    ) -> None:
        super().__init__("live table")
        self._reader = reader
        self._camera = camera
        self._roster = roster
        self._simulated = simulated
        self._finder = TagFinder(camera, roster)
        self._tracker = BaseTracker(roster, camera)
        self._search: Search | None = None
        self._check = NO_TABLE_TAGS
        self._shown_at_s = 0.0
        self._frames_read = 0
        self._fault = ""
        self._tracking = threading.Lock()  # between a frame that is read and a base taken off
        self._picture = _Picture(camera, roster)
        self._changed = threading.Condition()
        self._tally: Tally | None = None
        self._frame: Frame | None = None  # guarded, as the snapshot is, by `_changed`
        position = position_of((), roster, camera.name)
        self._snapshot = Snapshot(0, -1, position, health(reader.status, camera.name, None))

    @property
    def roster(self) -> Roster:
        """What the table file says."""
        return self._roster

    @property
    def simulated(self) -> SimulatedControls | None:
        """The controls of a simulated table; None over a real one."""
        return self._simulated

    def snapshot(self) -> Snapshot:
        """The newest state."""
        with self._changed:
            return self._snapshot

    def wait(self, after_version: int, timeout_s: float) -> Snapshot | None:
        """The newest state once its version is above `after_version`; None after the timeout."""
        with self._changed:
            newer = self._changed.wait_for(
                lambda: self._snapshot.version > after_version, timeout_s
            )
            return self._snapshot if newer else None

    def picture(self) -> bytes:
        """The newest frame rectified to the table, as JPEG; empty while there is none."""
        with self._changed:
            frame = self._frame
        return b"" if frame is None else self._picture.of(frame)

    def measure(self, a: str, b: str, within_bw: Sequence[float] = ()) -> Json:
        """The distance between two things, and whether it is within each of some ranges."""
        return questions.measure(self.snapshot().position, a, b, within_bw)

    def about(self, thing: str) -> Json:
        """The drawings that explain one thing."""
        return questions.about(self.snapshot().position, thing, self._roster)

    def take_off(self, thing: str) -> None:
        """Forget the hidden bases of a unit, a commander or one base: they have left the table.

        Raises:
            BadInput: `thing` is not on the table, or none of it is hidden.
        """
        with self._tracking:
            for tag in questions.hidden_tags(self.snapshot().position, thing):
                self._tracker.forget(tag)
            self._show(self._tracker.bases(self._shown_at_s))

    def _run(self) -> None:
        number = -1
        while not self._stopping.is_set():
            frame = self._reader.newest(after=number, timeout_s=_PATIENCE_S)
            if frame is None:
                self._say_how_the_source_is()
            else:
                number = frame.number
                self._try_to_see(frame)

    def _try_to_see(self, frame: Frame) -> None:
        """Read one frame. A fault of ours costs that frame, is said, and never stops the watch."""
        try:
            self._see(frame)
        except Exception as error:
            log.debug("frame %d", frame.number, exc_info=True)
            log.error("frame %d could not be read: %r", frame.number, error)
            self._search = None
            self._fault = (
                f"tablecam could not read the newest picture ({error!r}); the table is shown as it "
                "was before"
            )
            self._say_how_the_source_is()

    def _see(self, frame: Frame) -> None:
        """Read one frame and publish what it shows."""
        grey = to_grey(frame.image)
        # Now and then nothing is taken for granted, not even how sharp the picture is.
        self._frames_read += 1
        is_whole = self._frames_read % _FRAMES_BETWEEN_WHOLE_SEARCHES == 1
        search = self._finder.search(grey, before=None if is_whole else self._search)
        check = check_table_tags(search.sightings, self._camera, self._roster)
        with self._tracking:
            self._search, self._check, self._fault = search, check, ""
            self._shown_at_s = frame.taken_at_s
            bases = self._tracker.update(
                search.sightings, frame.taken_at_s, beside_mm=check.rms_mm or 0.0
            )
            self._show(bases, frame)

    def _say_how_the_source_is(self) -> None:
        """Publish what changes though no frame came: what a lost source hides is held."""
        with self._tracking:
            if self._reader.status.state == "lost":
                self._check, self._shown_at_s = NO_TABLE_TAGS, time.monotonic()
                self._show(self._tracker.bases(self._shown_at_s))
            elif self._health() != self.snapshot().health:
                self._show(self._tracker.bases(self._shown_at_s))

    def _show(self, bases: Sequence[TrackedBase], frame: Frame | None = None) -> None:
        """Publish bases, as the frame shows them if there is one."""
        check, listed = self._check, self._roster.table_tags
        known = {base.tag for base in bases}
        self._tally = Tally(
            seen=sum(base.pose.seen == "now" for base in bases) + len(check.tags),
            held=sum(base.pose.seen == "held" for base in bases),
            missing=tuple(tag for tag in self._roster.base_type_by_tag() if tag not in known),
            table_tags=check.tags,
            table_tags_listed=tuple(tag.id for tag in listed),
            reprojection_px=check.rms_px,
            has_moved=check.has_moved,
            behind_s=None if frame is None else time.monotonic() - frame.taken_at_s,
        )
        held_for_s = {base.tag: base.hidden_for_s for base in bases if base.pose.seen == "held"}
        self._publish(position_of(bases, self._roster, self._camera.name), held_for_s, frame)

    def _health(self) -> Health:
        return health(self._reader.status, self._camera.name, self._tally, fault=self._fault)

    def _publish(
        self, position: Position, held_for_s: Mapping[int, float], frame: Frame | None = None
    ) -> None:
        now = self._health()
        with self._changed:
            old = self._snapshot
            number = old.frame if frame is None else frame.number
            self._snapshot = Snapshot(old.version + 1, number, position, now, held_for_s)
            self._frame = frame or self._frame
            self._changed.notify_all()


class _Picture:
    """The rectified picture of the newest frame, made when first asked for, once a frame."""

    def __init__(self, camera: Camera, roster: Roster) -> None:
        scale = _PICTURE_WIDTH_PX / roster.table.width_mm
        self._rectifier = rectifier(camera, roster.table, px_per_mm=scale)
        self._lock = threading.Lock()
        self._number = -1
        self._jpeg = b""

    def of(self, frame: Frame) -> bytes:
        with self._lock:
            if frame.number != self._number:
                flat = self._rectifier.rectified(frame.image)
                quality = [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY]
                _, encoded = cv2.imencode(".jpg", flat, quality)
                self._number, self._jpeg = frame.number, encoded.tobytes()
            return self._jpeg
