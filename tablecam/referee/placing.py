"""What is still to be done by hand: units that the game has put elsewhere, or taken off.

A fall back, a displaced commander, a broken unit: the game knows where they are now, the table
does not yet. That is no move of anybody's, so it is told apart from what hands have done.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tablecam.rules.frozen_json import to_plain
from tablecam.rules.game import Refused
from tablecam.table.model import BasePose, Commander, Position, Unit
from tablecam.table.motion import apart_mm, has_its_place, lies_there


@dataclass(frozen=True, slots=True)
class Placing:
    """A unit or a commander to be put elsewhere by hand; without bases it is to be taken off.

    `off_mm` is how far its worst base lies from there yet.
    """

    unit: str
    bases: tuple[BasePose, ...]
    off_mm: float | None

    @property
    def text(self) -> str:
        """What to do, in one sentence."""
        if not self.bases:
            return f"{self.unit} is broken: take it off the table"
        if self.off_mm is None:
            return f"{self.unit} is not seen: put it where the ghost lies"
        return f"put {self.unit} where the ghost lies, {self.off_mm:.0f} mm from here"


def changed_by_game(before: Position, after: Position) -> frozenset[str]:
    """The units that lie elsewhere after an action than before it, or have left the table.

    And the commanders who stand elsewhere.
    """
    there = {unit.id: unit for unit in after.units}
    stand = {leader.id: leader for leader in after.commanders}
    units = (
        unit.id
        for unit in before.units
        if unit.id not in there or not is_there(unit, there[unit.id])
    )
    leaders = (
        leader.id
        for leader in before.commanders
        if leader.id in stand and not has_its_place(leader, stand[leader.id])
    )
    return frozenset((*units, *leaders))


def placings(due: Collection[str], game: Position, seen: Position) -> Iterator[Placing]:
    """Of what hands have to move for the game, all that does not lie right yet."""
    wanted, found = ({unit.id: unit for unit in each.units} for each in (game, seen))
    leaders = {leader.id: leader for leader in game.commanders}
    for name in sorted(due):
        lies = found.get(name)
        if name in leaders:
            yield from _of_commander(leaders[name], seen)
        elif name not in wanted:
            if lies is not None and lies.bases:
                yield Placing(name, (), None)
        elif lies is None or not is_there(lies, wanted[name]):
            yield Placing(
                name, wanted[name].bases, None if lies is None else off_mm(lies, wanted[name])
            )


def as_placed(game: Position, seen: Position, names: frozenset[str]) -> Position:
    """The table as it is seen; these things, and what lies a hair off, as the game has them."""
    wanted = {unit.id: unit for unit in game.units}
    units = []
    for unit in seen.units:
        known = wanted.get(unit.id)
        if known is not None and (unit.id in names or is_there(unit, known)):
            units.append(known)
        elif known is not None or unit.id not in names:
            units.append(unit)
    missing = [known for name, known in wanted.items() if name in names and seen.unit(name) is None]
    leaders = {leader.id: leader for leader in seen.commanders}
    for known_leader in game.commanders:
        lies = leaders.get(known_leader.id)
        if known_leader.id in names or (lies is not None and has_its_place(lies, known_leader)):
            leaders[known_leader.id] = known_leader
    return replace(seen, units=(*units, *missing), commanders=tuple(leaders.values()))


def laid(seen: Position | None, names: Iterable[str]) -> dict[str, Any]:
    """Where units and commanders lie as they are seen, as players overrule a game with it.

    Raises:
        Refused: One of them is not seen.
    """
    units = {unit.id: unit for unit in (seen.units if seen else ()) if unit.bases}
    leaders = {leader.id: leader for leader in (seen.commanders if seen else ())}
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        if name in units:
            found.setdefault("units", {})[name] = [to_plain(base) for base in units[name].bases]
        elif name in leaders:
            at = [leaders[name].x_mm, leaders[name].y_mm]
            found.setdefault("commanders", {})[name] = at
        else:
            raise Refused(f"expected a unit that is seen, got {name}", key="unit")
    return found


def _of_commander(leader: Commander, seen: Position) -> Iterator[Placing]:
    """Where a commander is to be put, his marker as it is seen; nothing where he stands there."""
    found = next((each for each in seen.commanders if each.id == leader.id), None)
    if found is not None and has_its_place(found, leader):
        return
    marker = marker_of(leader, seen.table.base_width_mm)
    if found is None:
        yield Placing(leader.id, (marker,), None)
        return
    if found.pose is not None:
        marker = replace(found.pose, x_mm=leader.x_mm, y_mm=leader.y_mm)
    off_mm = math.dist((found.x_mm, found.y_mm), (leader.x_mm, leader.y_mm))
    yield Placing(leader.id, (marker,), off_mm)


def marker_of(leader: Commander, side_mm: float) -> BasePose:
    """A commander's marker where he stands; a square of that side where it was not seen."""
    return leader.pose or BasePose(leader.x_mm, leader.y_mm, 90.0, side_mm, side_mm)


def is_there(unit: Unit, wanted: Unit) -> bool:
    """Whether a unit lies where it is wanted, as well as hands put it and cameras see it."""
    return len(unit.bases) == len(wanted.bases) and all(
        lies_there(base, other) for base, other in _pairs(unit, wanted)
    )


def off_mm(unit: Unit, wanted: Unit) -> float:
    """How far its worst base lies from where it is wanted; infinite where one is missing."""
    far_mm = [apart_mm(base, other) for base, other in _pairs(unit, wanted)]
    return max(far_mm, default=math.inf) if len(far_mm) == len(wanted.bases) else math.inf


def _pairs(unit: Unit, wanted: Unit) -> Iterator[tuple[BasePose, BasePose]]:
    """Bases with the same tag; by their place in the unit where they have none."""
    by_tag = {base.tag: base for base in wanted.bases if base.tag is not None}
    for place, base in enumerate(unit.bases):
        if base.tag is None and place < len(wanted.bases):
            yield base, wanted.bases[place]
        elif base.tag in by_tag:
            yield base, by_tag[base.tag]
