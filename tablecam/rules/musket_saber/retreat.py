"""Retreats, routs and advances after a combat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tablecam.rules.hexes.grid import Hex
from tablecam.rules.musket_saber import tables
from tablecam.rules.musket_saber.field import Field, Line
from tablecam.rules.musket_saber.movement import walker_of
from tablecam.rules.musket_saber.tables import most_points
from tablecam.rules.musket_saber.troops import LineKind, Unit, is_overstacked
from tablecam.rules.questions import NestedFacts

ZoneWord = Literal["free", "negated", "enemy"]


@dataclass(frozen=True)
class Rout:
    """What becomes of a unit that routs (K-7.10)."""

    retreat_hexes: int = 0
    disrupted: bool = False
    trt: int | None = None
    set_aside: bool = False
    captured: bool = False


def rout(line: LineKind, turn: int, turns: int) -> Rout:
    """Returns what becomes of a routing unit by its line of retreat (K-7.10, K-7.9c, K-4.1)."""
    if line == "safe":
        return Rout(tables.ROUT_HEXES, disrupted=True)
    if line == "none":
        return Rout(captured=True)
    if turn + tables.TURNS_AWAY > turns:
        return Rout(set_aside=True)
    return Rout(trt=turn + tables.TURNS_AWAY)


def hexes_due(unit: Unit, hexes: int) -> int:
    """Returns how far a unit retreats that would go some hexes (K-11.1e)."""
    return max(hexes, tables.DISRUPTED_HEXES) if unit.disrupted else hexes


class LineStep(NestedFacts):
    """A hex of a line of retreat: its cost and the zones on it."""

    mp: float
    zone: ZoneWord = "free"


@dataclass(frozen=True)
class LineWalk:
    """A retreat along a line (K-7.9): its last hex, counted from the start, a rout and checks."""

    ends_at: int
    routs_from: int | None = None
    checks: int = 0


def along(ma: int | str, line: Sequence[LineStep], hexes: int) -> LineWalk:
    """Returns where a retreat ends on a line of hexes with their costs and zones (K-7.9a-c)."""
    most = most_points(ma)
    last = min(hexes, len(line))
    checks = sum(step.zone == "enemy" for step in line[:last])
    if last == 0 or line[last - 1].zone != "negated":
        return LineWalk(last, None, checks)
    for place in range(last, len(line)):
        if line[place].zone == "free":
            if sum(step.mp for step in line[: place + 1]) <= most:
                return LineWalk(place + 1, None, checks)
            break
    # A goal that is itself in a negated zone ends the line.
    return LineWalk(last, None if last == len(line) else last, checks)


@dataclass(frozen=True)
class Retreats:
    """The retreats open to a unit: its line, how far it goes, and where each may end.

    `routs_from` are the ends from which it routs, since no hex free of EZOC is near enough.
    """

    line: LineKind
    must_go: int
    paths: tuple[tuple[Hex, ...], ...] = ()
    routs_from: tuple[Hex, ...] = ()


def retreats(field: Field, unit: Unit, hexes: int, combat_hex: Hex) -> Retreats:
    """Returns the retreats of a unit by some hexes (K-7.9); R-13: away from its combat hex."""
    best = field.line(unit)
    must_go, line = hexes_due(unit, hexes), best.kind
    if line not in ("safe", "valid") or unit.hex is None:
        return Retreats(line, must_go)
    paths = [*_paths(field, unit, must_go, best, combat_hex)]
    paths = paths or [*_paths(field, unit, must_go, best, None)]
    if line == "valid":
        return Retreats(line, must_go, tuple(paths))
    ended: list[tuple[Hex, ...]] = []
    routing: list[Hex] = []
    for path in paths:
        onward = [*_onward(field, unit, path)]
        ended += onward or [path]
        routing += [] if onward else [path[-1]]
    return Retreats(line, must_go, tuple(dict.fromkeys(ended)), tuple(dict.fromkeys(routing)))


def _paths(
    field: Field, unit: Unit, count: int, line: Line, away_from: Hex | None
) -> Iterator[tuple[Hex, ...]]:
    """Yields the beginnings of a unit's lines of retreat; one that reaches its goal ends there."""
    goals, is_open = field.goals(unit.side), field.open_to(unit)
    pending: list[tuple[Hex, ...]] = [()]
    while pending:
        path = pending.pop(0)
        here = path[-1] if path else unit.hex or ""
        if path and (len(path) == count or here in goals):
            yield path
            continue
        through = line.through_trains
        for beside in field.further(unit, here, through_trains=through):
            if beside in (*path, unit.hex) or (line.kind == "safe" and not is_open(beside)):
                continue
            if away_from is not None:
                far = field.grid.distance((beside,), (away_from,))
                if far <= field.grid.distance((here,), (away_from,)):
                    continue
            left = frozenset((*path, unit.hex))

            def may_enter(number: Hex, left: frozenset[Hex | None] = left) -> bool:
                return number not in left and (line.kind == "valid" or is_open(number))

            if field.way(unit, beside, goals, may_enter, through_trains=through) is not None:
                pending.append((*path, beside))


def _onward(field: Field, unit: Unit, path: tuple[Hex, ...]) -> Iterator[tuple[Hex, ...]]:
    """Yields a retreat that has ended, or its continuations out of a negated EZOC (K-7.9b)."""
    threatened, is_open = field.enemy_zone(unit.side), field.open_to(unit)
    most = most_points(unit.printed("ma"))
    if path[-1] not in threatened or path[-1] in field.goals(unit.side):
        yield path
        return
    pending = [path]
    while pending:
        line = pending.pop(0)
        for beside in field.further(unit, line[-1]):
            longer = (*line, beside)
            if beside in (*line, unit.hex) or not is_open(beside):
                continue
            if walker_of(field, unit).cost(longer).mp > most:
                continue
            if beside not in threatened:
                yield longer
            else:
                pending.append(longer)


def advances(field: Field, unit: Unit, vacated: Hex, *, only_routed: bool) -> tuple[Hex, ...]:
    """Returns the hexes to which a victor may advance (K-7.12, K-8.3), farther after a rout."""
    if unit.hex is None or unit.is_parenthesised or unit.is_battery:
        return ()
    defends = field.active_side not in ("", unit.side)
    if defends and not all(t.defender.advance for t in field.map.terrains(unit.hex)):
        return ()
    most = tables.ADVANCE_AFTER_ROUT if only_routed and not defends else tables.ADVANCE
    region = {vacated, *field.grid.neighbours(vacated)}

    def may_step(here: Hex, beside: Hex) -> bool:
        if beside not in region or not field.map.may_pass(unit.arm, here, beside):
            return False
        there = field.units_at(beside)
        # Victors that have advanced before are in the vacated hex already.
        friends = beside == vacated and all(other.side == unit.side for other in there)
        return not there or (friends and not is_overstacked((*there, unit)))

    reached = field.grid.reached((unit.hex,), most, may_step)
    return tuple(sorted(number for number in reached if number != unit.hex))
