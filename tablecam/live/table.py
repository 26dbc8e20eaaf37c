"""The live table: its loop and its referee side by side, and the answers to a page's questions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Self

from calibration.camera import Camera
from tablecam.capture.errors import BrokenPicture
from tablecam.capture.frame import Frame
from tablecam.capture.picture import jpeg_bytes
from tablecam.capture.reader import Reader
from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.live import questions
from tablecam.live.disputing import Disputing, units_asked
from tablecam.live.loop import TableLoop
from tablecam.live.map_follower import MapFollower
from tablecam.live.pointing import Pointing
from tablecam.live.refereeing import Refereeing
from tablecam.live.rulings import LiveRulings
from tablecam.live.state import Reading, Snapshot
from tablecam.recorder.game_recorder import GameRecorder
from tablecam.recorder.recording import Recording
from tablecam.referee.referee import Referee
from tablecam.rules.games import game_of
from tablecam.simulate.table import SimulatedTable
from tablecam.table.masks import MOST_MASKS, check_mask
from tablecam.table.model import LengthUnit, Mask, TableSize
from tablecam.table.roster import Roster
from tablecam.vision.detection.rectify import Rectifier, make_rectifier
from tablecam.vision.watching import Sight

_WIDTH_PX = 1800


class LiveTable:
    """A table that is being watched and refereed.

    The loop publishes positions and knows nothing of games; the referee receives them and publishes
    its own version. Snapshots join the two.

    Thread-safe. Use it as a context manager, or `start` and `close` it; the caller closes the
    reader. `simulated` are the controls of a simulated table; `record` stores the game, if not
    None. With `confirms_by_itself` the referee confirms legal moves without asking. `keep_masks`
    writes the masks that players have changed.
    """

    def __init__(
        self,
        reader: Reader,
        camera: Camera,
        roster: Roster,
        *,
        simulated: SimulatedTable | None = None,
        record: GameRecorder | None = None,
        confirms_by_itself: bool = False,
        keep_masks: Callable[[Sequence[Mask]], None] = lambda masks: None,
    ) -> None:
        self._roster = roster
        # Counters show one of several tags: their game turns them over.
        self._base_tags = [tag for unit in roster.units if not unit.faces for tag in unit.tags]
        self._simulated = simulated
        self._record = record
        self._keep_masks = keep_masks
        self._rulings = LiveRulings(roster, self._state_in_progress)
        self._disputing = Disputing(self._rulings, roster, record)
        self._picture = TablePicture(roster.table)
        self._changed = threading.Condition()
        self._masking = threading.Lock()
        self._loop = TableLoop(
            reader, camera, roster, self._changed, listener=self._listen, unwritten=self._unwritten
        )
        # Guarded by `_changed`, like all parts of snapshots.
        self._game_version = 0
        self._disputes = len(self._disputing.record.disputes())
        self.pointing = Pointing(self._pointed)
        self.map = MapFollower(roster.table.hex_map, self._loop.say, self._pointed)
        self._joined: tuple[tuple[int, ...], Snapshot] | None = None
        self._referee: Referee | None = None
        self._refereeing: Refereeing | None = None
        self._recording: Recording | None = None
        if (game := game_of(roster.game)) is not None:
            self._referee = Referee(
                game,
                is_automatic=confirms_by_itself,
                tell=self._game_changed,
                store=record,
                files=roster.files,
            )
            if record is not None and (unfinished := record.unfinished()) is not None:
                self._referee.resume(unfinished)
                # A simulated table forgets, so it is laid out as the game left it.
                if simulated is not None and (known := self._referee.position()) is not None:
                    simulated.lie_as(known)
        # A table without rules may still be recorded.
        if self._referee is not None or record is not None:
            if record is not None:
                # A script's moves are no player's: a demo that is only watched leaves no file.
                self._recording = Recording(
                    record, roster, begins_with_moves=simulated is None, say=self._loop.say
                )
            self._refereeing = Refereeing(
                self._referee, self.wait, self.take_off, self._recording, self.map.settle
            )

    def start(self) -> None:
        """Starts watching, and refereeing if the game is known."""
        self._loop.start()
        if self._recording is not None:
            self._recording.start()
        if self._refereeing is not None:
            self._refereeing.start()

    def close(self) -> None:
        """Stops watching, refereeing and recording. May be called twice."""
        # The referee first, as it takes positions from the loop and hands them to the recorder.
        if self._refereeing is not None:
            self._refereeing.close()
        self._loop.close()
        if self._recording is not None:
            self._recording.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def roster(self) -> Roster:
        """The contents of the table file."""
        return self._roster

    @property
    def simulated(self) -> SimulatedTable | None:
        """The controls of a simulated table; None over a real one."""
        return self._simulated

    def snapshot(self) -> Snapshot:
        """Returns the newest state."""
        with self._changed:
            return self._snapshot()

    def wait(self, after_version: int, timeout_s: float) -> Snapshot | None:
        """Waits for a version above `after_version` and returns it; None after the timeout."""
        with self._changed:
            newer = self._changed.wait_for(lambda: self._version() > after_version, timeout_s)
            return self._snapshot() if newer else None

    def _version(self) -> int:
        # A sum grows with each of its parts, so no change is missed by waiting for a newer version.
        return sum(self._versions())

    def _versions(self) -> tuple[int, ...]:
        read, pointed = self._loop.newest().snapshot.version, self.pointing.now.version
        return read, self._game_version, self._disputes, pointed, self.map.version

    def _snapshot(self) -> Snapshot:
        """Joins the loop's newest snapshot with what the referee knows about its units."""
        read = self._loop.newest().snapshot
        pointed = self.pointing.now
        parts = self._versions()
        if self._joined is None or self._joined[0] != parts:
            position, health = self.map.on_map(read.position), read.health
            if self._referee is not None:
                position = self._referee.with_game_state(position)
                lost = self._referee.lost(self._base_tags)
                missing = tuple(tag for tag in health.missing if tag not in lost)
                health = replace(health, missing=missing)
            joined = replace(
                read,
                version=sum(parts),
                position=position,
                health=health,
                game=self._game_version,
                disputes=self._disputes,
                pointed=pointed,
            )
            self._joined = parts, joined
        return self._joined[1]

    def _reading(self) -> Reading:
        """Returns the newest state with the frame that it was read from."""
        # Under one lock, so that frame and snapshot belong together.
        with self._changed:
            return replace(self._loop.newest(), snapshot=self._snapshot())

    def picture(self) -> bytes:
        """Returns the newest frame rectified to the table, as JPEG; the top row is y = depth.

        Empty while there is none.
        """
        newest = self._loop.newest()
        return b"" if newest.frame is None else self._picture.of(newest.frame, newest.camera)

    def measure(
        self,
        a: str,
        b: str,
        ranges: Sequence[float] | None = (),
        unit: LengthUnit | None = None,
    ) -> Json:
        """Returns the distance between two things, and whether it is within each of some ranges.

        `ranges` None stands for the ranges of the first one's weapons, or else the usual ones.
        Things are named `unit:F1`, `base:10`, `base:F1/2`, `commander:ID`, `point:512.3,400`.

        Raises:
            BadInput: A reference is malformed, or names nothing on the table.
            NotDeclared: Players have agreed to declare first, and nobody has declared these;
                `about`, sheets and disputes raise it too.
        """
        self._check_open(a, b)
        return questions.measure(self.snapshot().position, a, b, ranges, unit)

    def mask(self, mask: Mask) -> None:
        """Ignores this part of the table from now on, and forgets the bases that lie there.

        Raises:
            BadInput: The outline is no part of the table, there are too many masks, or they cannot
                be written beside the table file.
        """
        check_mask(mask, self._roster.table)
        self._change_masks(lambda masks: (*masks, mask))

    def unmask(self, mask: Mask) -> None:
        """Watches a masked part of the table again.

        Raises:
            BadInput: The masks cannot be written beside the table file.
        """
        self._change_masks(lambda masks: tuple(known for known in masks if known != mask))

    def _change_masks(self, change: Callable[[tuple[Mask, ...]], tuple[Mask, ...]]) -> None:
        # Two players who mask at once must not lose one of both.
        with self._masking:
            masks = change(self._loop.newest().snapshot.masks)
            if len(masks) > MOST_MASKS:
                raise BadInput("masks", f"expected at most {MOST_MASKS}, got {len(masks)}")
            # First on the disk: what players have masked survives a crash.
            self._keep_masks(masks)
            self._loop.ignore_masked(masks)

    def keep_tape(self, by: str, a: str, b: str) -> None:
        """Keeps a tape of seat `by` for all seats to see.

        Raises:
            BadInput, NotDeclared: As for `measure`.
        """
        self._check_open(a, b)
        self.pointing.keep(by, a, b)

    def about(self, thing: str) -> Json:
        """Describes one thing, with its range rings, front and flank lines.

        Raises:
            BadInput: As for `measure`.
        """
        self._check_open(thing)
        return questions.about(self.snapshot().position, thing, self._roster)

    @property
    def has_rules(self) -> bool:
        """Whether there is a rulebook for this table's game; without one, sheets are refused."""
        return self._rulings.has_rules

    @property
    def referee(self) -> Referee | None:
        """The referee of this table; None where its game has no rule system."""
        return self._referee

    def _state_in_progress(self) -> object | None:
        """Returns the state of the game in progress, None without one."""
        if self._referee is None:
            return None
        with self._referee.locked() as play:
            state: object | None = None if play is None else play.state
            return state

    def unit_sheet(self, unit: str, active: str, only: Collection[str] | None = None) -> Json:
        """Reports on one unit by the rules, section by section.

        `active` is the side whose round it is. With `only`, sections with other keys are not
        computed: their lines are null.

        Raises:
            BadInput: There is no such unit on the table, no such side, or no rulings.
        """
        now = self.snapshot()
        self._check_declared(unit)
        sheet = self._rulings.unit_sheet(now.position, unit, active, only)
        side = next(entry.side for entry in self._roster.units if entry.id == unit)
        asked = {"unit": unit, "side": side, "active": active, "version": now.version}
        return asked | sheet.to_json(only)

    def pair_sheet(self, a: str, b: str, active: str, only: Collection[str] | None = None) -> Json:
        """Reports on two units by the rules, like `unit_sheet`.

        Raises:
            BadInput: As for `unit_sheet`, or `a` is `b`.
        """
        now = self.snapshot()
        self._check_declared(a, b)
        sheet = self._rulings.pair_sheet(now.position, a, b, active, only)
        return {"a": a, "b": b, "active": active, "version": now.version} | sheet.to_json(only)

    def dispute(self, question: str, active: str) -> Json:
        """Settles a sheet's question on the table as it lies now, and saves it.

        `has_picture` says whether there was a frame to save with it.

        Raises:
            BadInput: No sheet asks it now, or there is no such side.
        """
        reading = self._reading()
        self._check_declared(*units_asked(question, reading.snapshot.position))
        dispute = self._disputing.dispute(reading, question, active)
        with self._changed:
            # Another dispute may have been settled meanwhile.
            self._disputes = max(self._disputes, dispute["number"])
            self._changed.notify_all()
        return dispute

    def disputes(self) -> list[Json]:
        """Returns all disputes of this game, the newest last."""
        return self._disputing.record.disputes()

    @property
    def trouble(self) -> str:
        """Why part of the game is not on disk, in one line; empty when all is."""
        return self._disputing.record.trouble

    def dispute_picture(self, number: int, *, plain: bool = False) -> bytes:
        """Returns the camera's picture of a dispute as JPEG, with its evidence unless `plain`.

        Raises:
            BadInput: There is no such dispute, or it has no picture.
        """
        return self._disputing.record.dispute_picture(number, plain=plain)

    def dispute_position(self, number: int) -> Json:
        """Returns the position on which a dispute was settled, as a document.

        Raises:
            BadInput: There is no such dispute.
        """
        return self._disputing.record.dispute_position(number)

    def _check_open(self, *references: str) -> None:
        """Refuses to measure between things that nobody has declared: `Referee.check_open`."""
        self._check_declared(*questions.names_of(self.snapshot().position, *references))

    def _check_declared(self, *names: str | None) -> None:
        if self._referee is not None:
            self._referee.check_open(*names)

    def take_off(self, thing: str) -> None:
        """Forgets the hidden bases of a unit, a commander or one base: they have left the table.

        Raises:
            BadInput: `thing` is not on the table, or none of it is hidden.
        """
        self._loop.take_off(thing)

    def _game_changed(self, version: int) -> None:
        """Publishes the referee's version: snapshots show its newest state from now on."""
        with self._changed:
            self._game_version = version
            self._changed.notify_all()

    def _pointed(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _listen(self, sight: Sight, frame: Frame) -> None:
        """Passes each frame on to the recorder."""
        if self._recording is not None:
            self._recording.watch(sight, frame)

    def _unwritten(self) -> str:
        return "" if self._record is None else self._record.trouble


class TablePicture:
    """Frames rectified to the table, as JPEG; made on demand, once per frame, in any thread.

    The rectification maps are computed once per camera.
    """

    def __init__(self, table: TableSize) -> None:
        self._table = table
        self._lock = threading.Lock()
        self._camera: Camera | None = None
        self._rectifier: Rectifier | None = None
        self._number = -1
        self._jpeg = b""

    def of(self, frame: Frame, camera: Camera) -> bytes:
        """Returns the rectified frame as JPEG; the top row is y = depth.

        For a frame that arrived damaged this is the one before it, empty if there was none.
        """
        with self._lock:
            if frame.number != self._number:
                self._number = frame.number
                with suppress(BrokenPicture):
                    flat = self._rectifier_of(camera).rectify(frame.image)
                    self._jpeg = jpeg_bytes(flat)
            return self._jpeg

    def _rectifier_of(self, camera: Camera) -> Rectifier:
        if self._rectifier is None or camera is not self._camera:
            scale = _WIDTH_PX / self._table.width_mm
            self._rectifier = make_rectifier(camera, self._table, px_per_mm=scale)
            self._camera = camera
        return self._rectifier
