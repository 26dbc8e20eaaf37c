"""The loop from frames to snapshots, and the answers to what is asked of the newest one."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from calibration.camera import Camera
from tablecam.background import Background, FairLock
from tablecam.capture.frame import Frame
from tablecam.capture.reader import Reader
from tablecam.live import questions
from tablecam.live.advising import Adviser
from tablecam.live.disputing import Disputing, Frozen, units_asked
from tablecam.live.health import Tally, health
from tablecam.live.notices import with_notice
from tablecam.live.picture import TablePicture
from tablecam.live.protocol import Json, SimulatedControls
from tablecam.live.refereeing import Refereeing
from tablecam.live.rulings import LiveRulings
from tablecam.live.state import Health, Snapshot
from tablecam.recorder.game_recorder import GameRecord
from tablecam.recorder.recording import Recording
from tablecam.referee.referee import Referee
from tablecam.rules.games import game_of
from tablecam.table.formation import with_formations
from tablecam.table.model import Position
from tablecam.table.roster import Roster
from tablecam.vision.tracking.position import position_of
from tablecam.vision.tracking.tracking import TrackedBase
from tablecam.vision.watching import Sight, Watching

log = logging.getLogger(__name__)

_PATIENCE_S = 0.5
"""How long the loop waits for a frame before it looks at the source's state again."""


class LiveTable(Background):
    """A table that is being watched: frames in, snapshots out (`tablecam.live.protocol.Live`).

    A thread of its own reads; any thread may ask. Use it as a context, or `start` and `close` it;
    the reader stays its caller's. `simulated` are the controls of a table that is not there;
    `record` is where what is worth keeping goes, None where nothing is kept. With
    `confirms_by_itself` the referee takes legal moves as made without asking.
    """

    def __init__(
        self,
        reader: Reader,
        camera: Camera,
        roster: Roster,
        *,
        simulated: SimulatedControls | None = None,
        record: GameRecord | None = None,
        confirms_by_itself: bool = False,
    ) -> None:
        super().__init__("live table")
        self._reader = reader
        self._camera = camera
        self._roster = roster
        self._simulated = simulated
        self._record = record
        self._watching = Watching(camera, roster)
        self._adviser = Adviser(camera, roster)
        self._rulings = LiveRulings(roster)
        self._disputing = Disputing(self._rulings, roster, record)
        self._sight: Sight | None = None
        self._advice: tuple[str, ...] = ()
        self._unsaid: tuple[str, ...] = ()
        self._shown_at_s = 0.0
        self._fault = ""
        self._tracking = FairLock()  # between a frame that is read and a base taken off
        self._picture = TablePicture(roster.table)
        self._changed = threading.Condition()
        self._tally: Tally | None = None
        self._frame: Frame | None = None  # guarded, as the snapshot is, by `_changed`
        position = position_of((), roster, camera.name)
        self._snapshot = Snapshot(0, -1, position, health(reader.status, camera.name, None))
        self._referee: Referee | None = None
        self._refereeing: Refereeing | None = None
        self._recording: Recording | None = None
        if (game := game_of(roster.game)) is not None:
            self._referee = Referee(
                game,
                is_automatic=confirms_by_itself,
                tell=self._tell_game,
                keeper=record,
            )
            if record is not None and (unfinished := record.unfinished()) is not None:
                self._referee.resume(unfinished)
                if simulated is not None and (known := self._referee.position()) is not None:
                    simulated.lie_as(known)
        if self._referee is not None or record is not None:
            if record is not None:
                # What a script moves is no hand's: a demo that is only looked at leaves no file.
                self._recording = Recording(
                    record, roster, begins_with_moves=simulated is None, say=self._say
                )
            self._refereeing = Refereeing(self._referee, self.wait, self.take_off, self._recording)

    def start(self) -> None:
        """Start to watch, and to referee where the game is known."""
        super().start()
        if self._recording is not None:
            self._recording.start()
        if self._refereeing is not None:
            self._refereeing.start()

    def close(self) -> None:
        """Stop both. May be called twice."""
        if self._refereeing is not None:
            self._refereeing.close()
        super().close()
        if self._recording is not None:
            self._recording.close()

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
            frame, camera = self._frame, self._camera
        return b"" if frame is None else self._picture.of(frame, camera)

    def measure(self, a: str, b: str, within_bw: Sequence[float] = ()) -> Json:
        """The distance between two things, and whether it is within each of some ranges."""
        self._check_open(a, b)
        return questions.measure(self.snapshot().position, a, b, within_bw)

    def about(self, thing: str) -> Json:
        """The drawings that explain one thing."""
        self._check_open(thing)
        return questions.about(self.snapshot().position, thing, self._roster)

    @property
    def has_rules(self) -> bool:
        """Whether there are rulings for this table's game."""
        return self._rulings.has_rules

    @property
    def referee(self) -> Referee | None:
        """Who referees games on this table; None where nobody knows how they are played."""
        return self._referee

    def unit_sheet(self, unit: str, active: str) -> Json:
        """All that the rules say of a unit when it is a side's round."""
        now = self.snapshot()
        self._check_declared(unit)
        sheet = self._rulings.unit_sheet(now.position, unit, active)
        side = next(entry.side for entry in self._roster.units if entry.id == unit)
        asked = {"unit": unit, "side": side, "active": active, "version": now.version}
        return asked | sheet.to_json()

    def pair_sheet(self, a: str, b: str, active: str) -> Json:
        """All that the rules say of two units when it is a side's round."""
        now = self.snapshot()
        self._check_declared(a, b)
        sheet = self._rulings.pair_sheet(now.position, a, b, active)
        return {"a": a, "b": b, "active": active, "version": now.version} | sheet.to_json()

    def dispute(self, question: str, active: str) -> Json:
        """Settle a question by the table as it lies at this instant, and keep it."""
        with self._changed:  # a position and the picture that it was read from
            frozen = Frozen(self._snapshot, self._frame, self._camera)
        self._check_declared(*units_asked(question, frozen.snapshot.position))
        kept = self._disputing.dispute(frozen, question, active)
        self._publish(disputes=len(self.disputes()))
        return kept

    def disputes(self) -> list[Json]:
        """All disputes of this game, the newest last."""
        return self._disputing.record.disputes()

    @property
    def trouble(self) -> str:
        """Why something of the game is not on the disk; empty when all is."""
        return self._disputing.record.trouble

    def dispute_picture(self, number: int, *, plain: bool = False) -> bytes:
        """The picture of a dispute as JPEG, with the evidence drawn on it unless `plain`."""
        return self._disputing.record.dispute_picture(number, plain=plain)

    def dispute_position(self, number: int) -> Json:
        """The position by which a dispute was settled, as a document."""
        return self._disputing.record.dispute_position(number)

    def _check_open(self, *references: str) -> None:
        """See to it that nobody measures between things before he may: `Referee.check_open`."""
        self._check_declared(*questions.names_of(self.snapshot().position, *references))

    def _check_declared(self, *names: str | None) -> None:
        if self._referee is not None:
            self._referee.check_open(*names)

    def take_off(self, thing: str) -> None:
        """Forget the hidden bases of a unit, a commander or one base: they have left the table.

        Raises:
            BadInput: `thing` is not on the table, or none of it is hidden.
        """
        with self._tracking:
            for tag in questions.hidden_tags(self.snapshot().position, thing):
                self._watching.forget(tag)
            self._show(self._watching.bases(self._shown_at_s))

    def _run(self) -> None:
        number = -1
        while not self._stopping.is_set():
            frame = self._reader.newest(after=number, timeout_s=_PATIENCE_S)
            number = number if frame is None else frame.number
            try:
                self._see(frame) if frame is not None else self._say_how_the_source_is()
            except Exception as error:
                self._say_the_fault(error)
            if frame is None and self._reader.status.finished:  # it waits for no frame any more
                self._stopping.wait(_PATIENCE_S)

    def _say_the_fault(self, error: Exception) -> None:
        """Publish a fault of ours: it costs a frame, and never stops the watch."""
        fault = (
            f"tablecam could not read the newest picture ({error!r}); the table is shown as it "
            "was before"
        )
        if fault != self._fault:
            log.error("%s", fault, exc_info=error)
        with self._tracking:
            self._fault = fault
            self._watching.start_over()
            now = self._health()
        self._publish(health=now)

    def _say(self, text: str) -> None:
        """Tell players something, with the next frame."""
        with self._tracking:
            self._unsaid += (text,)

    def _tell_game(self, version: int) -> None:
        """Show what the game knows of the units from now on."""
        with self._changed:
            position = self._snapshot.position
        self._publish(game=version, position=self._marked(position))

    def _marked(self, position: Position) -> Position:
        return position if self._referee is None else self._referee.marked(position)

    def _publish(self, **changes: Any) -> None:
        """Let a new snapshot differ from the last in these facts alone."""
        with self._changed:
            version = self._snapshot.version + 1
            self._snapshot = replace(self._snapshot, version=version, **changes)
            self._changed.notify_all()

    def _see(self, frame: Frame) -> None:
        """Read one frame and publish what it shows."""
        with self._tracking:
            sight = self._watching.see(frame, frame.taken_at_s)
            self._unsaid += sight.news  # it is kept whatever goes wrong from here on
            if self._recording is not None:
                self._recording.watch(sight, frame)
            self._sight, self._shown_at_s = sight, frame.taken_at_s
            self._advice = self._adviser.advise(sight, frame, frame.taken_at_s)
            self._fault = ""
            self._show(sight.bases, frame)

    def _say_how_the_source_is(self) -> None:
        """Publish what changes though no frame came: what a lost source hides is held."""
        with self._tracking:
            if self._reader.status.state == "lost":
                self._sight, self._shown_at_s = None, self._reader.now_s()
                self._show(self._watching.bases(self._shown_at_s))
            elif self._health() != self.snapshot().health:
                self._show(self._watching.bases(self._shown_at_s))

    def _show(self, bases: Sequence[TrackedBase], frame: Frame | None = None) -> None:
        """Publish bases, as the frame shows them if there is one."""
        behind_s = None if self._tally is None else self._tally.behind_s
        if frame is not None:
            behind_s = self._reader.now_s() - frame.taken_at_s
        self._tally = self._tallied(bases, behind_s)
        camera = self._camera if self._sight is None else self._sight.camera
        position = self._marked(
            with_formations(position_of(bases, self._roster, self._camera.name), self._roster)
        )
        held_for_s = {base.tag: base.hidden_for_s for base in bases if base.pose.seen == "held"}
        doubted = frozenset(base.tag for base in bases if base.is_doubted)
        now = self._health()
        at_s = math.inf if now.state == "ended" else self._shown_at_s
        with self._changed:
            old = self._snapshot
            number = old.frame if frame is None else frame.number
            notices = old.notices
            for text in self._unsaid:
                notices = with_notice(notices, text, datetime.now(UTC))
            self._snapshot = Snapshot(
                old.version + 1,
                number,
                position,
                now,
                held_for_s,
                doubted,
                notices,
                old.disputes,
                old.game,
                at_s,
            )
            self._frame, self._camera, self._unsaid = frame or self._frame, camera, ()
            self._changed.notify_all()

    def _tallied(self, bases: Sequence[TrackedBase], behind_s: float | None) -> Tally:
        """The frame in figures; a source that is lost shows nothing."""
        known = {base.tag for base in bases}
        registration = None if self._sight is None else self._sight.registration
        table_tags = 0 if registration is None else len(registration.seen)
        return Tally(
            seen=sum(base.pose.seen == "now" for base in bases) + table_tags,
            held=sum(base.pose.seen == "held" for base in bases),
            missing=tuple(tag for tag in self._roster.base_type_by_tag() if tag not in known),
            reprojection_px=None if registration is None else registration.rms_px,
            trouble="" if registration is None else registration.because,
            advice=self._advice,
            behind_s=behind_s,
        )

    def _health(self) -> Health:
        unkept = "" if self._record is None else self._record.trouble
        return health(
            self._reader.status, self._camera.name, self._tally, fault=self._fault, unkept=unkept
        )
