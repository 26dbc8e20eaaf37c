"""Reads a source in its own thread, holds the newest frame, and reopens a lost source."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tablecam.capture.clock import Clock, SystemClock
from tablecam.capture.errors import SourceLost
from tablecam.capture.frame import Frame, HasNotes, Source
from tablecam.capture.status import RateMeter, SourceState, SourceStatus
from tablecam.errors import BadInput

_log = logging.getLogger(__name__)

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0

_SILENT_AFTER_S = 5.0
_CLOSING_GRACE_S = 2.0
_WAKE_EVERY_S = 0.5  # so that Ctrl-C interrupts a wait, on Windows too


@dataclass(frozen=True, slots=True)
class PictureSize:
    """The picture size that a camera file is for, and the name of that file."""

    width_px: int
    height_px: int
    file_name: str = "camera.json"


@dataclass(frozen=True, slots=True)
class _Opening:
    """A source that a reader reads until `leave` is set."""

    open_source: Callable[[], Source]
    is_live: bool
    leave: threading.Event = field(default_factory=threading.Event)


class Reader:
    """Holds the newest frame of a source, readable at any time from any thread.

    `open_source` is called in the reader's thread, as it may take many seconds. A lost live source
    is reopened after 1, 2, 4, ... 30 s; any other source ends at its first failure. Frames are
    numbered continuously through all of it, a change of the source included.
    """

    def __init__(
        self,
        open_source: Callable[[], Source],
        *,
        name: str,
        is_live: bool,
        strict: bool = False,
        expected_size: PictureSize | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Prepares the reader; `start` starts it.

        Args:
            open_source: Opens the source again each time it is called.
            name: The source's name until it is open.
            is_live: Whether a lost source may come back.
            strict: Whether a live source, too, must give a frame before `start` returns.
            expected_size: Frames of any other size are refused.
            clock: Times the pauses and the frames.
        """
        self._strict = strict or not is_live
        self._expected_size = expected_size
        self._clock = clock or SystemClock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"reader of {name}", daemon=True)
        self._changed = threading.Condition()
        # `_changed` guards everything below.
        self._opening = _Opening(open_source, is_live)
        self._name = name
        self._state: SourceState = "opening"
        self._problem = ""
        self._failure: BadInput | None = None
        self._since_s = self._clock.now_s()
        self._frame_at_s = self._since_s
        self._next_try_at_s: float | None = None
        self._newest: Frame | None = None
        self._notes: tuple[str, ...] = ()
        self._rate = RateMeter()
        self._finished = False

    def start(self) -> None:
        """Starts reading.

        Returns at once for a live source, unless strict; otherwise when the first frame has arrived
        or the source has ended without one.

        Raises:
            BadInput: The source does not open, or its pictures have the wrong size.
        """
        self._thread.start()
        if not self._strict:
            return
        with self._changed:
            while self._newest is None and not self._finished:
                self._changed.wait(_WAKE_EVERY_S)
            if self._newest is None and self._failure is not None:
                raise self._failure

    def change_source(self, open_source: Callable[[], Source], *, name: str, is_live: bool) -> None:
        """Leaves the source and reads another from now on; the arguments are those of `Reader`.

        Returns at once. A read that hangs must end before the new source is opened.
        """
        with self._changed:
            self._opening.leave.set()
            self._opening = _Opening(open_source, is_live)
            self._name = name
            self._next_try_at_s = None
            self._enter("opening")
            if self._finished and not self._stop.is_set():
                self._finished = False
                self._thread = threading.Thread(
                    target=self._run, name=self._thread.name, daemon=True
                )
                self._thread.start()
            self._changed.notify_all()

    def newest(self, after: int = -1, timeout_s: float = 0.0) -> Frame | None:
        """Returns the newest frame numbered above `after`, waiting for it up to `timeout_s`.

        None if none came in time, or none will come any more.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._has_newer(after) or self._finished, timeout_s)
            return self._newest if self._has_newer(after) else None

    @property
    def status(self) -> SourceStatus:
        """The present status of the source."""
        with self._changed:
            now_s = self._clock.now_s()
            state, since_s = self._state, now_s - self._since_s
            # A read that hangs reports nothing, so the reader's own state still says live.
            if self._is_silent(now_s):
                state, since_s = "lost", now_s - self._frame_at_s
            return SourceStatus(
                name=self._name,
                state=state,
                message=self._message(state, since_s, now_s),
                since_s=since_s,
                frames_per_s=self._rate.frames_per_s(now_s) if state == "live" else 0.0,
                notes=self._notes,
                finished=self._finished,
            )

    def now_s(self) -> float:
        """Returns the time on the clock that stamps the frames."""
        return self._clock.now_s()

    def close(self) -> None:
        """Stops reading and releases the source; may be called twice."""
        self._stop.set()
        with self._changed:
            self._opening.leave.set()
        if self._thread.ident is not None:
            # A read that hangs is abandoned; its thread closes the source when it returns.
            self._thread.join(_CLOSING_GRACE_S)

    def __enter__(self) -> Reader:
        """Returns the reader, which is closed at the end of the block; does not start it."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        """Runs in the thread: reads each source to its end, and records how the last one ended."""
        is_over = False
        while not is_over:
            with self._changed:
                opening = self._opening
                self._enter("opening")
            # Stands if an exception ends the thread, so that waiting threads learn of it.
            problem: Exception | None = RuntimeError("the reader crashed")
            try:
                problem = self._read_until_over(opening)
            finally:
                is_over = self._finish(problem, opening)

    def _read_until_over(self, opening: _Opening) -> Exception | None:
        """Reads, and reopens a lost source; returns the problem that ended it, if any."""
        pause_s = FIRST_PAUSE_S
        while True:
            frames_before = self._frame_count()
            problem = self._read_once(opening)
            # The pause doubles only while no try yields a frame.
            if self._frame_count() > frames_before:
                pause_s = FIRST_PAUSE_S
            if problem is None or opening.leave.is_set() or self._gives_up(opening):
                return problem
            self._lost(problem, pause_s)
            # Closing the reader, or changing its source, ends the pause.
            if self._clock.wait(opening.leave, pause_s):
                return None
            self._trying_again()
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def _read_once(self, opening: _Opening) -> Exception | None:
        """Opens the source and reads it to its end; returns the problem, None at a clean end."""
        try:
            source = opening.open_source()
        except BadInput as error:
            return error
        except Exception as error:
            return self._unexpected(error)
        try:
            # A reopened source counts from 0 again; the reader's numbers go on.
            first_number = self._frame_count()
            while not opening.leave.is_set() and (frame := source.read()) is not None:
                self._take(replace(frame, number=first_number + frame.number), source, opening)
            with self._changed:
                self._note(source)
        except (BadInput, SourceLost) as error:
            return error
        except Exception as error:
            return self._unexpected(error)
        finally:
            source.close()
        return None

    def _unexpected(self, error: Exception) -> SourceLost:
        """Converts any fault, such as a driver's, to a lost source, as it may pass like one."""
        _log.debug("%s", self._name, exc_info=error)
        return SourceLost(f"{self._name}: delivers no pictures: {error!r}")

    def _take(self, frame: Frame, source: Source, opening: _Opening) -> None:
        """Publishes a frame and marks the source as live, unless it has been left meanwhile."""
        # Before publishing: nobody may measure in a picture of the wrong size.
        self._check_size(frame)
        now_s = self._clock.now_s()
        with self._changed:
            if opening.leave.is_set():
                return
            if self._state != "live":
                self._enter("live")
                self._name = source.name
                # The pause of a lost source would lower the rate for many frames.
                self._rate.clear()
                _log.info("%s: %dx%d pictures", source.name, frame.width_px, frame.height_px)
            self._next_try_at_s = None
            self._note(source)
            self._newest = frame
            self._frame_at_s = now_s
            self._rate.count(now_s)
            self._changed.notify_all()

    def _note(self, source: Source) -> None:
        """Copies the notes of the source."""
        self._notes = source.notes if isinstance(source, HasNotes) else ()

    def _check_size(self, frame: Frame) -> None:
        """Refuses a frame of a size that the calibration is not for."""
        size = self._expected_size
        if size is None or (frame.width_px, frame.height_px) == (size.width_px, size.height_px):
            return
        raise BadInput(
            self._name,
            f"pictures are {frame.width_px}x{frame.height_px}, "
            f"but {size.file_name} was made for {size.width_px}x{size.height_px}",
        )

    def _gives_up(self, opening: _Opening) -> bool:
        """Whether a source that failed is not reopened."""
        # A strict source must give a first frame; once it has, it is retried like any other.
        return not opening.is_live or (self._strict and self._newest is None)

    def _lost(self, problem: Exception, pause_s: float) -> None:
        """Marks the source as lost until the next try."""
        _log.warning("%s; trying again in %g s", problem, pause_s)
        with self._changed:
            self._enter("lost")
            self._problem = str(problem)
            self._next_try_at_s = self._clock.now_s() + pause_s
            self._changed.notify_all()

    def _trying_again(self) -> None:
        """Notes that the source is being reopened."""
        with self._changed:
            self._next_try_at_s = None

    def _finish(self, problem: Exception | None, opening: _Opening) -> bool:
        """Marks the source as ended or lost for good; False where another one is to be read."""
        with self._changed:
            if opening is not self._opening and not self._stop.is_set():
                return False
            self._enter("ended" if problem is None else "lost")
            self._problem = "" if problem is None else str(problem)
            self._failure = _as_bad_input(problem, self._name)
            self._next_try_at_s = None
            self._finished = True
            self._changed.notify_all()
            return True

    def _enter(self, state: SourceState) -> None:
        """Changes the state and records when."""
        if state != self._state:
            self._state = state
            self._since_s = self._clock.now_s()

    def _has_newer(self, after: int) -> bool:
        """Whether a frame numbered above `after` is there."""
        return self._newest is not None and self._newest.number > after

    def _frame_count(self) -> int:
        """Returns the number of frames so far."""
        return 0 if self._newest is None else self._newest.number + 1

    def _is_silent(self, now_s: float) -> bool:
        """Whether a live source hangs: it is open and reports no error, but no frame comes."""
        return (
            self._opening.is_live
            and self._state == "live"
            and now_s - self._frame_at_s > _SILENT_AFTER_S
        )

    def _message(self, state: SourceState, since_s: float, now_s: float) -> str:
        """Returns the sentence about the source that users see."""
        if state == "opening":
            return f"opening {self._name} ({since_s:.0f} s)"
        if state == "live":
            return self._name
        if state == "ended":
            return f"{self._name} has ended"
        # The reader's state, not the reported one: the source is open but silent.
        if self._state == "live":
            return f"{self._name}: no picture for {since_s:.0f} s"
        if self._finished:
            return self._problem
        if self._next_try_at_s is None:
            return f"{self._problem}; trying again now"
        return f"{self._problem}; trying again in {max(self._next_try_at_s - now_s, 0.0):.0f} s"


def _as_bad_input(problem: Exception | None, name: str) -> BadInput | None:
    """Converts the problem that ended a source to the error raised by `start`."""
    if problem is None or isinstance(problem, BadInput):
        return problem
    # The error names the source itself.
    return BadInput(name, str(problem).removeprefix(f"{name} "))
