"""What happens on the table, put into the game's record as it happens."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tablecam.live.keeping import GameRecord
from tablecam.live.settling import bases_by_unit, has_changed, moved_units
from tablecam.live.trails import SeenAt, Trails, path, path_document
from tablecam.record.entries import Json
from tablecam.table.model import Position
from tablecam.table.position_file import position_to_json
from tablecam.vision.tracking import TrackedBase


class Recording:
    """Keeps every position at which the table has settled, and how it came to that.

    The loop that watches tells it what it sees, which costs it next to nothing; the thread that
    waits for the table to settle has it written.

    A recording begins with a game, a dispute or, where it `begins_with_moves`, what a hand does;
    a table that is only looked at leaves none.
    """

    def __init__(self, record: GameRecord, *, begins_with_moves: bool) -> None:
        self._record = record
        self._begins_with_moves = begins_with_moves
        self._trails = Trails()
        self._lock = threading.Lock()
        self._news: list[str] = []
        self._settled: Position | None = None

    def watch(self, bases: Iterable[TrackedBase], at_s: float, news: Iterable[str] = ()) -> None:
        """Look at all bases as a picture shows them, and hear what it told of the camera."""
        self._trails.watch(bases, at_s)
        if news := [*news]:
            with self._lock:
                self._news += news

    def settle(self, position: Position) -> None:
        """Keep where all lies now that it has come to rest."""
        before, self._settled = self._settled, position
        ways, now_s = self._trails.taken()
        moves = [] if before is None else [*_moves(position, before, ways, now_s)]
        is_work_of_hands = before is not None and has_changed(position, before)
        begins = self._begins_with_moves and is_work_of_hands
        self._record.settle(position_to_json(position), moves, begins=begins)

    def go_on(self) -> None:
        """Write what the loop has told, and what could not be written before."""
        with self._lock:
            news, self._news = self._news, []
        for text in news:
            self._record.add_notice(text)
        self._record.try_again()


def _moves(
    position: Position, before: Position, ways: Mapping[int, Sequence[SeenAt]], now_s: float
) -> Iterator[Json]:
    """The move of each unit and commander that lies elsewhere, in order of their names."""
    now, old = bases_by_unit(position), bases_by_unit(before)
    for name in sorted(moved_units(position, before)):
        there = [base for key, base in now[name].items() if key in old[name]]
        started = [old[name][key] for key in now[name] if key in old[name]]
        seen = [ways.get(base.tag or 0, ()) for base in there]
        points = path(started, there, seen, now_s)
        yield {"unit": name, "path": path_document(points, now_s)}
