"""Records what happens on the table, as it happens."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from tablecam.capture.frame import Frame
from tablecam.documents import Json
from tablecam.recorder.game_recorder import GameRecorder
from tablecam.recorder.photographing import Job, MoveJob, Photographer, TableJob
from tablecam.recorder.reference_frames import ReferenceFrames, Shot
from tablecam.recorder.trajectories import PathPoint, Trajectories, path, path_document
from tablecam.table.model import Position
from tablecam.table.motion import bases_by_unit, has_changed, moved_units
from tablecam.table.position_file import position_to_json
from tablecam.table.roster import Roster
from tablecam.vision.watching import Sight

_TABLE_EVERY_S: Final = 10.0
"""The least time between two pictures of the whole table: each move has its own pictures anyway.
The newest position of hasty play is photographed once this time is over."""


class Recording:
    """Records every settled position and the moves that led to it.

    The loop that watches the table passes each frame on, which costs it next to nothing; the thread
    that waits for the table to settle does the writing.

    A recording begins with a game, a dispute or, where it `begins_with_moves`, a move by
    hand; a table that is only watched leaves none. `say` shows players what becomes of the file.
    """

    def __init__(
        self,
        record: GameRecorder,
        roster: Roster,
        *,
        begins_with_moves: bool,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._record = record
        self._begins_with_moves = begins_with_moves
        self._say = say
        self._trails = Trajectories()
        self._photographing = Photographer(record, roster.table)
        self._lock = threading.Lock()
        self._looks = ReferenceFrames(roster.owner_by_tag())
        self._newest: tuple[Sight, Shot] | None = None
        self._news: list[str] = []
        self._settled: Position | None = None
        self._waits: tuple[datetime, Shot] | None = None
        self._due: TableJob | None = None
        self._photographed_at_s = -math.inf

    def start(self) -> None:
        """Starts the thread that makes pictures."""
        self._photographing.start()

    def wait(self) -> None:
        """Waits until all pictures are written; a game does not wait for them."""
        self._photographing.wait()

    def close(self) -> None:
        """Writes what is still open. May be called twice."""
        # Pending news first: it precedes whatever closing writes.
        self.go_on()
        if self._due is not None:
            self._photographing.request(self._due)
            self._due = None
        self._photographing.close()
        self._record.close()

    def watch(self, sight: Sight, frame: Frame) -> None:
        """Follows the bases and the camera's news of one frame."""
        self._trails.watch(sight.bases, frame.taken_at_s)
        with self._lock:
            self._news += sight.news
            if not self._record.budget.is_none:
                shot = Shot(frame, sight.camera)
                self._looks.see(sight.bases, shot)
                self._newest = sight, shot

    def settle(
        self,
        position: Position,
        at: datetime | None = None,
        *,
        missed: Collection[int] = frozenset(),
    ) -> None:
        """Records a settled position, now or `at` another time.

        `missed` are the tags of bases that presumably still lie there, but have been out of sight
        for so long that the referee judges the table without them. If nothing else is new,
        `position` is the position that was recorded last.
        """
        before, self._settled = self._settled, position
        # Taken at every settling, or the next one would repeat these paths.
        trajectories, now_s = self._trails.take()
        moves = [] if before is None else [*_moves(position, before, trajectories, now_s)]
        is_work_of_hands = before is not None and has_changed(position, before)
        begins = self._begins_with_moves and is_work_of_hands
        at = at or datetime.now(UTC).astimezone()
        document = position_to_json(position)
        number = self._record.settle(document, moves, at, begins=begins, missed=sorted(missed))
        # The same object: only the missed bases are new, and the pictures would show nothing else.
        if position is before and number is not None:
            return
        self._photograph(number, at, [move["unit"] for move in moves], before, position)

    def _photograph(
        self,
        number: int | None,
        at: datetime,
        moved: Sequence[str],
        before: Position | None,
        now: Position,
    ) -> None:
        """Queues the pictures of a position and of the moves recorded after it."""
        with self._lock:
            if self._newest is None:
                return
            sight, shot = self._newest
            # Before `settle` replaces them: these still show the places that were left.
            shots_before = {name: self._looks.clear_shot(name) for name in moved}
            self._looks.settle(now, sight.bases, shot)
            # With a hand still over a unit, the newest picture has to do.
            shots_after = {name: self._looks.clear_shot(name) or shot for name in moved}
        # Nothing is recorded yet.
        if number is None:
            self._waits = at, shot
            return
        old, new = bases_by_unit(before) if before else {}, bases_by_unit(now)
        moves = [
            MoveJob(
                of,
                at,
                shots_before[name],
                shots_after[name],
                [*old[name].values()],
                [*new[name].values()],
            )
            for of, name in enumerate(moved, start=number + 1)
        ]
        self._due = TableJob(number, at, shot)
        self._ask(*moves, *self._table_if_due(shot))

    def _table_if_due(self, newest: Shot) -> Sequence[TableJob]:
        """Queues a picture of the whole table when one is due."""
        at_s = newest.frame.taken_at_s
        # Later positions replace a picture that is due, so hasty play costs one every ten seconds.
        if self._due is None or at_s - self._photographed_at_s < _TABLE_EVERY_S:
            return ()
        due, self._due, self._photographed_at_s = self._due, None, at_s
        return (due,)

    def _ask(self, *jobs: Job) -> None:
        if jobs:
            self._photographing.request(*jobs)

    def go_on(self) -> None:
        """Writes the loop's news, and what could not be written before."""
        with self._lock:
            news, self._news = self._news, []
            newest = self._newest
        for text in news:
            self._record.add_notice(text)
        # Players see these on the page; the recording explains itself by them later.
        for text in self._record.try_again():
            self._say(text)
            self._record.add_notice(text)
        # The first position had no number until a move began the file.
        if self._waits is not None and (number := self._record.began_with) is not None:
            self._due = self._due or TableJob(number, *self._waits)
            self._waits = None
        if newest is not None:
            self._ask(*self._table_if_due(newest[1]))


def _moves(
    position: Position,
    before: Position,
    trajectories: Mapping[int, Sequence[PathPoint]],
    now_s: float,
) -> Iterator[Json]:
    """Yields the moves of units and commanders, in the order of their names."""
    now, old = bases_by_unit(position), bases_by_unit(before)
    for name in sorted(moved_units(position, before)):
        # A base that came or went has no two ends to join.
        there = [base for key, base in now[name].items() if key in old[name]]
        started = [old[name][key] for key in now[name] if key in old[name]]
        seen = [() if base.tag is None else trajectories.get(base.tag, ()) for base in there]
        points = path(started, there, seen, now_s)
        yield {"unit": name, "path": path_document(points, now_s)}
