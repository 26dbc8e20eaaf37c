"""The loop from frames to snapshots; it watches the table and knows nothing of games."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from calibration.camera import Camera
from tablecam.background import Background, FairLock
from tablecam.capture.frame import Frame
from tablecam.capture.reader import Reader
from tablecam.capture.status import SourceStatus
from tablecam.live import questions
from tablecam.live.advising import Adviser
from tablecam.live.notices import with_notice
from tablecam.live.state import Health, Reading, Snapshot
from tablecam.rules.games import with_formations
from tablecam.table.model import Mask, Position
from tablecam.table.motion import bases_of
from tablecam.table.roster import Roster
from tablecam.vision.tracking.position import position_of
from tablecam.vision.tracking.tracking import TrackedBase
from tablecam.vision.watching import Sight, Watching

log = logging.getLogger(__name__)

_PATIENCE_S = 0.5
"""How long the loop waits for a frame before it looks at the source's state again."""
_SLOW_S = 0.6
"""A computer farther behind the camera warns about the delay."""

Listener = Callable[[Sight, Frame], None]
"""Called with each frame that was read, in the loop's own thread: it must not take long."""


class TableLoop(Background):
    """Reads frames in a thread of its own and publishes what lies on the table.

    `changed` is notified of each new snapshot. The caller closes the reader. `unwritten` says why
    something is not on the disk, to show with the camera's health.
    """

    def __init__(
        self,
        reader: Reader,
        camera: Camera,
        roster: Roster,
        changed: threading.Condition,
        *,
        listener: Listener = lambda sight, frame: None,
        unwritten: Callable[[], str] = lambda: "",
    ) -> None:
        super().__init__("live table")
        self._reader = reader
        self._roster = roster
        self._calibration, self._title = camera.name, camera.title or camera.name
        self._listener = listener
        self._unwritten = unwritten
        self._watching = Watching(camera, roster)
        self._adviser = Adviser(camera, roster)
        self._sight: Sight | None = None
        self._advice: tuple[str, ...] = ()
        # Players have not seen these yet.
        self._news: tuple[str, ...] = ()
        self._shown_at_s = 0.0
        self._fault = ""
        # Held while a frame is read or a base is taken off.
        self._tracking = FairLock()
        self._tally: Tally | None = None
        self._changed = changed
        position = position_of((), roster, camera.name)
        first = Snapshot(0, -1, position, health(reader.status, self._title, None))
        first = replace(first, masks=roster.masks)
        # Guarded by `_changed`.
        self._reading = Reading(first, None, camera)

    def newest(self) -> Reading:
        """Returns the newest snapshot with its frame and camera."""
        with self._changed:
            return self._reading

    def say(self, text: str) -> None:
        """Shows players a sentence with the next frame."""
        with self._tracking:
            self._news += (text,)

    def take_off(self, thing: str) -> None:
        """Forgets the hidden bases of a unit, a commander or one base: they have left the table.

        Raises:
            BadInput: `thing` is not on the table, or none of it is hidden.
        """
        with self._tracking:
            for tag in questions.hidden_tags(self.newest().snapshot.position, thing):
                self._watching.forget(tag)
            self._publish(self._watching.bases(self._shown_at_s))

    def ignore_masked(self, masks: tuple[Mask, ...]) -> None:
        """Ignores masked parts of the table from now on, and forgets the bases in them."""
        with self._tracking:
            self._watching.ignore_masked(masks)
            self._publish(self._watching.bases(self._shown_at_s))

    def _run(self) -> None:
        number = -1
        while not self._stopping.is_set():
            frame = self._reader.newest(after=number, timeout_s=_PATIENCE_S)
            number = number if frame is None else frame.number
            try:
                self._read(frame) if frame is not None else self._follow_the_source()
            except Exception as error:
                self._report_fault(error)
            # No frame comes any more.
            if frame is None and self._reader.status.finished:
                self._stopping.wait(_PATIENCE_S)

    def _report_fault(self, error: Exception) -> None:
        """Publishes a fault of tablecam's own: it costs a frame, and never stops the loop."""
        fault = (
            f"tablecam could not read the newest picture ({error!r}); the table is shown as it "
            "was before"
        )
        # The same fault comes back with every frame: log it once.
        if fault != self._fault:
            log.error("%s", fault, exc_info=error)
        with self._tracking:
            self._fault = fault
            # State carried over from the last frame may have caused the fault.
            self._watching.start_over()
            now = self._health()
        with self._changed:
            old = self._reading
            snapshot = replace(old.snapshot, version=old.snapshot.version + 1, health=now)
            self._reading = replace(old, snapshot=snapshot)
            self._changed.notify_all()

    def _read(self, frame: Frame) -> None:
        """Reads one frame and publishes what it shows."""
        with self._tracking:
            sight = self._watching.see(frame, frame.taken_at_s)
            # Kept even if something goes wrong below.
            self._news += sight.news
            # Before it is published: the recorder has seen a frame before anything settles by it.
            self._listener(sight, frame)
            self._sight, self._shown_at_s = sight, frame.taken_at_s
            self._advice = self._adviser.advise(sight, frame, frame.taken_at_s)
            self._fault = ""
            self._publish(sight.bases, frame)

    def _follow_the_source(self) -> None:
        """Publishes what changes without a frame: a lost source hides every base."""
        with self._tracking:
            if self._reader.status.state == "lost":
                self._sight, self._shown_at_s = None, self._reader.now_s()
                self._publish(self._watching.bases(self._shown_at_s))
            elif self._health() != self.newest().snapshot.health:
                self._publish(self._watching.bases(self._shown_at_s))

    def _publish(self, bases: Sequence[TrackedBase], frame: Frame | None = None) -> None:
        """Publishes bases, as the frame shows them if there is one."""
        # Without a new frame the last delay stays shown.
        behind_s = None if self._tally is None else self._tally.behind_s
        if frame is not None:
            behind_s = self._reader.now_s() - frame.taken_at_s
        # Computed before taking the lock, for which pages wait.
        position = with_formations(
            position_of(bases, self._roster, self._calibration), self._roster
        )
        self._tally = self._tally_of(bases, position, behind_s)
        now = self._health()
        with self._changed:
            old = self._reading
            notices = old.snapshot.notices
            for text in self._news:
                notices = with_notice(notices, text, datetime.now(UTC))
            snapshot = Snapshot(
                old.snapshot.version + 1,
                old.snapshot.frame if frame is None else frame.number,
                position,
                now,
                {base.tag: base.hidden_for_s for base in bases if base.pose.seen == "held"},
                frozenset(base.tag for base in bases if base.is_doubted),
                notices,
                # Nothing moves after the end of a video, so that its last position settles at once.
                at_s=math.inf if now.state == "ended" else self._shown_at_s,
                masks=self._watching.masks,
            )
            camera = old.camera if self._sight is None else self._sight.camera
            self._reading = Reading(snapshot, frame or old.frame, camera)
            self._news = ()
            self._changed.notify_all()

    def _tally_of(
        self, bases: Sequence[TrackedBase], position: Position, behind_s: float | None
    ) -> Tally:
        """Returns the frame's figures; a lost source shows nothing.

        A counter's other faces do not count as missing: they lie face down, or off the table.
        """
        known = {base.tag for base in bases}
        registration = None if self._sight is None else self._sight.registration
        table_tags = 0 if registration is None else len(registration.seen)
        return Tally(
            seen=sum(base.pose.seen == "now" for base in bases) + table_tags,
            held=sum(base.seen == "held" for base in bases_of(position).values()),
            missing=self._roster.missing(known),
            reprojection_px=None if registration is None else registration.rms_px,
            trouble="" if registration is None else registration.problem,
            is_frozen=registration is not None and registration.is_frozen,
            advice=self._advice,
            behind_s=behind_s,
        )

    def _health(self) -> Health:
        return health(
            self._reader.status,
            self._title,
            self._tally,
            fault=self._fault,
            unkept=self._unwritten(),
        )


@dataclass(frozen=True, slots=True)
class Tally:
    """The newest frame's figures.

    `missing` are the bases' tags that have never been seen; `reprojection_px` and `behind_s` are as
    in `Health`. `trouble` says what is wrong with camera or table tags (`Registration.because`), or
    is empty; `advice` are sentences about what to do (`SteadyAdvice`). Both are shown unchanged.
    `is_frozen`: for that trouble, the places are those of an earlier frame.
    """

    seen: int = 0
    held: int = 0
    missing: tuple[int, ...] = ()
    reprojection_px: float | None = None
    behind_s: float | None = None
    trouble: str = ""
    is_frozen: bool = False
    advice: tuple[str, ...] = ()


def health(
    status: SourceStatus,
    calibration: str,
    tally: Tally | None,
    *,
    fault: str = "",
    unkept: str = "",
) -> Health:
    """Summarises a source and its newest frame; `tally` is None before the first frame.

    `fault` is what kept tablecam itself from reading the newest frame, `unkept` what keeps the game
    from being written to its file.
    """
    seen = tally or Tally()
    return Health(
        source=status.name,
        state=status.state,
        message=status.message,
        calibration=calibration,
        frames_per_s=status.frames_per_s,
        tags_seen=seen.seen,
        tags_held=seen.held,
        missing=seen.missing,
        reprojection_px=seen.reprojection_px,
        behind_s=seen.behind_s,
        warnings=(*filter(None, (fault, unkept)), *_warnings(status, tally)),
        frozen=seen.trouble if seen.is_frozen else "",
    )


def _warnings(status: SourceStatus, tally: Tally | None) -> Iterable[str]:
    if status.state == "lost":
        yield status.message
    yield from status.notes
    # Tags and delays mean nothing while no picture arrives.
    if tally is None or status.state in ("opening", "lost"):
        return
    if tally.trouble:
        yield tally.trouble
    yield from tally.advice
    if tally.behind_s is not None and tally.behind_s > _SLOW_S:
        yield f"this computer is {tally.behind_s:.1f} s behind the camera"
