"""Records and referees the table each time it settles, beside the loop that watches it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping

from tablecam.background import Background
from tablecam.errors import BadInput
from tablecam.live.state import Snapshot
from tablecam.recorder.recording import Recording
from tablecam.referee.referee import Referee
from tablecam.rules.hexes.stacks import out_of_boxes
from tablecam.table.missed import without_bases
from tablecam.table.model import BasePose, Position
from tablecam.table.motion import TableMotion, apart_mm, bases_by_unit, bases_of

log = logging.getLogger(__name__)

_PATIENCE_S = 0.5
"""How long to wait for a snapshot before checking whether to stop."""
_GONE_S = 1.0
"""A unit to be taken off is gone once it was hidden this long: an arm that only reaches across has
left by then, and a unit that still lies there is found again."""

_NEXT_TO_WIDTHS = 2.0
"""How far from a stack, in its own widths, a counter is last seen before a hand pushes it under."""

_MISSED_S = 12.0
"""A base hidden this long is missed: no hand stays over a table for that long."""


class Refereeing(Background):
    """Waits for settled positions in its own thread, so that judging never delays the camera.

    `wait` returns the newest snapshot after a version, or None after a timeout in seconds;
    `take_off` forgets the hidden bases of a thing; `at_rest` is called with each settled position.
    Without a referee it only records, without a recording it only referees.
    """

    def __init__(
        self,
        referee: Referee | None,
        wait: Callable[[int, float], Snapshot | None],
        take_off: Callable[[str], None],
        recording: Recording | None = None,
        at_rest: Callable[[Position], None] = lambda position: None,
    ) -> None:
        super().__init__("referee")
        self._at_rest = at_rest
        self._referee = referee
        self._wait = wait
        self._take_off = take_off
        self._recording = recording
        self._motion = TableMotion()
        self._latest: Position | None = None
        self._missed = frozenset[int]()
        self._seen_with: dict[int, frozenset[int]] = {}

    def _run(self) -> None:
        latest: Snapshot | None = None
        while not self._stopping.is_set():
            # Without a newer one the latest may be at rest by now.
            latest = self._wait(0 if latest is None else latest.version, _PATIENCE_S) or latest
            if latest is None:
                continue
            try:
                self._look(latest)
            # A fault in tablecam costs one look, never the game.
            except Exception:
                log.exception("the referee could not make sense of the table")

    def _look(self, now: Snapshot) -> None:
        # With every snapshot: entries may be waiting for a disk with room.
        if self._recording is not None:
            self._recording.go_on()
        # A table that nobody sees is not empty, and its bases are not missed.
        if now.frame < 0 or now.health.state == "lost":
            return
        bases = bases_of(now.position).values()
        seen = frozenset(base.tag for base in bases if base.tag is not None and base.seen == "now")
        self._seen_with |= dict.fromkeys(seen, seen)
        left = {} if self._referee is None else self._referee.bases_left
        for base in gone(now, left, self._seen_with):
            try:
                self._take_off(base)
            except BadInput:
                log.debug("%s was seen again just now", base)
        settled = self._motion.see(now.position, now.at_s)
        if settled is not None:
            self._at_rest(settled)
        stacks = self._referee is not None and bool(self._referee.game.counters_join)
        missed = missed_tags(now, counters_stack=stacks)
        latest = settled or self._latest
        # A base newly missed changes the referee's table though nothing moved; while something
        # moves, where it goes will explain the missing base.
        is_news = missed != self._missed and self._motion.is_at_rest
        if latest is None or (settled is None and not is_news):
            return
        # First: no action may be recorded before the table that it was judged on.
        self._keep(latest, missed)
        self._latest, self._missed = latest, missed
        if self._referee is not None:
            there = without_bases(latest, missed, keeps_units=stacks)
            self._referee.table_at_rest(out_of_boxes(there))

    def _keep(self, position: Position, missed: frozenset[int]) -> None:
        if self._recording is None:
            return
        try:
            self._recording.settle(position, missed=missed)
        # A fault in tablecam costs an entry; the table is judged all the same.
        except Exception:
            log.exception("the position could not be saved")


def _by_tag(now: Snapshot) -> dict[int, BasePose]:
    bases = (base for unit in now.position.units for base in unit.bases)
    return {base.tag: base for base in bases if base.tag is not None}


def missed_tags(now: Snapshot, *, counters_stack: bool = False) -> frozenset[int]:
    """Returns the tags of bases that have been hidden for longer than a hand hides them.

    Where counters stack, one last seen beside another that is still visible was pushed under it,
    and is missed as soon as the hand has left.
    """
    hidden_for_s = now.held_for_s
    missed = frozenset(tag for tag, hidden_s in hidden_for_s.items() if hidden_s >= _MISSED_S)
    if not counters_stack:
        return missed
    bases = _by_tag(now)
    seen = [base for base in bases.values() if base.seen == "now"]
    return missed | {
        tag
        for tag, base in bases.items()
        if hidden_for_s.get(tag, 0.0) >= _GONE_S
        and any(apart_mm(base, other) <= _NEXT_TO_WIDTHS * base.width_mm for other in seen)
    }


def gone(
    now: Snapshot, left: Mapping[str, int], seen_with: Mapping[int, Collection[int]]
) -> Iterator[str]:
    """Yields references to the bases that were to be taken off and have been hidden for a while.

    `left` is how many bases each unit should keep; `seen_with` gives for each tag the tags seen
    together with it when it was last seen: a base that a hand has since covered with another has
    not left.
    """
    seen = [base for base in bases_of(now.position).values() if base.seen == "now"]
    leaders = {leader.id for leader in now.position.commanders}
    for id, bases in bases_by_unit(now.position).items():
        surplus = len(bases) - left.get(id, len(bases))
        hidden = [
            f"{'commander' if id in leaders else 'base'}:{name}"
            for name, base in bases.items()
            if base.tag is not None
            and now.held_for_s.get(base.tag, 0.0) >= _GONE_S
            and not any(
                other.tag in seen_with.get(base.tag, ())
                and apart_mm(base, other) < other.width_mm / 2
                for other in seen
            )
        ]
        # With more of them hidden, some may only be covered; with fewer, a hand has yet to come.
        if hidden and len(hidden) == surplus:
            yield from hidden
