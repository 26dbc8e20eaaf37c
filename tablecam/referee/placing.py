"""Finds the units that players still have to move or remove, as the game already has.

After a fall back, a displaced commander or a lost unit or base, the table lags behind the game. The
differences are nobody's moves, so they are kept separate from the suggestions.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from tablecam.documents import Json
from tablecam.rules.frozen_json import to_plain
from tablecam.rules.game import Refused
from tablecam.rules.hexes.counters import faces_of, place_of
from tablecam.rules.hexes.grid import grid_of
from tablecam.table.model import BasePose, Commander, LengthUnit, Position, Unit
from tablecam.table.motion import HAND_MM, apart_mm, has_its_place, lies_there
from tablecam.wording import counted, proper_name

_PUT_BACK = "put_back"


@dataclass(frozen=True, slots=True)
class Placing:
    """A unit or commander that players have to move to `bases`, or to remove if there are none.

    `where` is its new place in words: its hexes, or how far off it is; None if it is not seen.
    `lost` are bases on the table that the game no longer has, `missing` the number of those that
    only the game has. Without `moves`, those that stay lie in their places. `exchange` says what to
    do with a counter that shows another face than the game has.
    """

    unit: str
    bases: tuple[BasePose, ...]
    where: str | None
    lost: tuple[BasePose, ...] = ()
    missing: int = 0
    moves: bool = True
    exchange: str = ""

    @property
    def text(self) -> str:
        """The instruction, in one sentence."""
        name = proper_name(self.unit)
        if not self.bases:
            hidden = "" if self.lost else ", from beneath the others"
            return f"{name} is out of play: take it off the table{hidden}"
        if self.where is None:
            return f"{name} is not seen: put it where the ghost is"
        if self.lost:
            them = "it" if len(self.lost) == 1 else "them"
            rest = ", and put the rest where the ghost is" if self.moves else ""
            bases = counted(len(self.lost), "base")
            return f"{name} has lost {bases}: take {them} off the table{rest}"
        if self.missing:
            return f"{name} lacks {counted(self.missing, 'base')}: put it where the ghost is"
        if self.exchange and not self.moves:
            return self.exchange
        request = f"{self.exchange}, and put it" if self.exchange else f"put {name}"
        return f"{request} where the ghost is, {self.where}"


def put_back(unit: str) -> Json:
    """Returns the remark that a unit or commander that had gone astray lies in its place again."""
    return {_PUT_BACK: unit}


def put_back_words(remark: Mapping[str, Any]) -> str:
    """Returns such a remark in words; empty for any other."""
    unit = remark.get(_PUT_BACK)
    return f"{proper_name(unit)} was put back" if isinstance(unit, str) else ""


def changed(before: Position, after: Position) -> frozenset[str]:
    """Returns the units that moved or left the table between two positions.

    Includes the commanders who did.
    """
    units_after = {unit.id: unit for unit in after.units}
    commanders_after = {commander.id: commander for commander in after.commanders}
    units = (
        unit.id
        for unit in before.units
        if unit.id not in units_after or not is_there(unit, units_after[unit.id])
    )
    commanders = (
        commander.id
        for commander in before.commanders
        if commander.id not in commanders_after
        or not has_its_place(commander, commanders_after[commander.id])
    )
    return frozenset((*units, *commanders))


def placings(
    names: Collection[str],
    game: Position,
    seen: Position,
    length_unit: LengthUnit,
    *,
    stacks_in_order: bool = True,
) -> tuple[Placing, ...]:
    """Returns those units and commanders among `names` that are not yet where the game has them.

    Unless `stacks_in_order`, any counter of a stack may lie on top. A hidden leader lies beneath
    a friend who is seen in his place, once all counters lie where the game has them.
    """
    leaders = {leader.id: leader for leader in game.commanders}
    units = (
        _unit_placing(name, game, seen, length_unit, stacks_in_order=stacks_in_order)
        for name in names
        if name not in leaders
    )
    due = [*filter(None, units)]
    may_hide = not due and game.table.hex_map is not None
    led = (
        _commander_placing(leaders[name], game, seen, length_unit, may_hide=may_hide)
        for name in names
        if name in leaders
    )
    return tuple(sorted((*due, *filter(None, led)), key=lambda placing: placing.unit))


def _unit_placing(
    name: str, game: Position, seen: Position, length_unit: LengthUnit, *, stacks_in_order: bool
) -> Placing | None:
    """Returns the place where a unit has to be put, or that it has left; None if it is there."""
    unit, target = seen.unit(name), game.unit(name)
    if target is None:
        # It has left; there is something to do only while it still lies there.
        marker = next((leader for leader in seen.commanders if leader.id == name), None)
        own = () if unit is None else unit.bases
        lies = own if marker is None else (marker_of(marker, seen.table.marker_mm),)
        # A counter beneath others has no base to see.
        return Placing(name, (), None, lies, moves=False) if lies or unit is not None else None
    if _lies_beneath(target, unit, game, seen, stacks_in_order):
        return None
    # Without a base on the table it is not seen.
    if unit is None or not unit.bases:
        return Placing(name, target.bases, None)
    if is_there(unit, target):
        return None
    where = _where(target.bases[0], seen, length_unit, _gone_mm(unit, target))
    surplus = len(unit.bases) - len(target.bases)
    pairs = [*_pairs(unit, target)]
    stays = [base for base, _ in pairs]
    lost = tuple(base for base in unit.bases if base not in stays)[: max(surplus, 0)]
    moves = not all(lies_there(base, other) for base, other in pairs)
    exchange = _exchange(unit, target)
    return Placing(name, target.bases, where, lost, max(-surplus, 0), moves, exchange)


def _where(place: BasePose, seen: Position, length_unit: LengthUnit, off_mm: float) -> str:
    """Returns the hexes of a place, or how far off it is on a table without a hex map."""
    if seen.table.hex_map is None:
        return f"{length_unit.margin(off_mm)} from here"
    return f"in {' and '.join(place_of(grid_of(seen.table.hex_map), place).hexes)}"


def _exchange(unit: Unit, target: Unit) -> str:
    """Returns how to make a counter show the face that the game has; empty if it does.

    The face of a counter beneath others is not known.
    """
    if "faces" not in target.extra:
        return ""
    faces = {face["tag"]: face for face in faces_of(target)}
    shown = [faces.get(base.tag) for base in (*unit.bases, *target.bases) if base.seen != "held"]
    seen, due = shown if len(shown) == 2 else (None, None)
    if seen is None or due is None or seen == due:
        return ""
    name = proper_name(target.id)
    if all(seen[key] == due[key] for key in ("formation", "hexes")):
        return f"turn {name} over"
    size = "" if seen["hexes"] == due["hexes"] else ("one-hex ", "two-hex ")[due["hexes"] - 1]
    return f"exchange {name} for its {size}{due['formation'] or 'counter'}"


def _lies_beneath(
    target: Unit, unit: Unit | None, game: Position, seen: Position, stacks_in_order: bool
) -> bool:
    """Whether a counter is hidden where the game has it, beneath one that lies in its place."""
    lies = unit.bases if unit is not None else ()
    if not target.bases or any(base.seen != "held" for base in lies):
        return False

    # A leader, who is in no stack, may lie on the top counter as well.
    is_top = stacks_in_order and any(base.seen != "held" for base in target.bases)
    (place,) = target.bases[:1]
    covers = (
        other
        for other in (() if is_top else game.units)
        for base in other.bases
        if other is not target and not (stacks_in_order and base.seen == "held")
        if _is_near(base, place)
    )
    on_table = {unit.id: unit for unit in seen.units}
    if any(top.id in on_table and is_there(on_table[top.id], top) for top in covers):
        return True
    leaders = {leader.id: leader for leader in seen.commanders if leader.seen != "held"}
    return any(
        leader.id in leaders and has_its_place(leaders[leader.id], leader)
        for leader in game.commanders
        if _is_near(marker_of(leader, seen.table.marker_mm), place)
    )


def _is_near(base: BasePose, other: BasePose) -> bool:
    return math.dist(base.place_mm, other.place_mm) < max(base.width_mm, base.depth_mm)


def as_placed(game: Position, seen: Position, names: frozenset[str]) -> Position:
    """Returns the seen table, with `names` and everything almost in place as in the game."""
    in_game = {unit.id: unit for unit in game.units}
    units = []
    for unit in seen.units:
        game_unit = in_game.get(unit.id)
        if game_unit is not None and unit.id in names:
            units.append(game_unit)
        elif game_unit is not None and is_there(unit, game_unit):
            units.append(_as_in_game(unit, game_unit))
        # Drops a unit that has left the game and that players still have to remove.
        elif game_unit is not None or unit.id not in names:
            units.append(unit)
    # A unit that is carried to its place is not seen, but has not left the game.
    unseen = [unit for name, unit in in_game.items() if name in names and seen.unit(name) is None]
    there = {commander.id for commander in game.commanders}
    # One whom players still have to remove is dropped as units are.
    commanders = {
        commander.id: commander
        for commander in seen.commanders
        if commander.id in there or commander.id not in names
    }
    for in_game_commander in game.commanders:
        name = in_game_commander.id
        commander = commanders.get(name)
        if name in names or (commander is not None and has_its_place(commander, in_game_commander)):
            commanders[name] = in_game_commander
    return replace(seen, units=(*units, *unseen), commanders=tuple(commanders.values()))


def _as_in_game(unit: Unit, game_unit: Unit) -> Unit:
    """Returns a unit as the game has it; a counter beneath others may have come to light."""
    seen = [target for base, target in _pairs(unit, game_unit) if base.seen == "now"]
    bases = (
        replace(base, seen="now") if base.seen == "held" and base in seen else base
        for base in game_unit.bases
    )
    return replace(game_unit, bases=tuple(bases), extra=unit.extra)


def laid(seen: Position | None, names: Iterable[str]) -> dict[str, Any]:
    """Returns the seen places of units and commanders as keys of an `overrule` action.

    Raises:
        Refused: One of them is not seen.
    """
    units = {unit.id: unit for unit in (seen.units if seen else ()) if unit.bases}
    commanders = {commander.id: commander for commander in (seen.commanders if seen else ())}
    keys: dict[str, dict[str, Any]] = {}
    for name in names:
        if name in units:
            keys.setdefault("units", {})[name] = [to_plain(base) for base in units[name].bases]
        elif name in commanders:
            point = commanders[name].place_mm
            keys.setdefault("commanders", {})[name] = point
        else:
            raise Refused(f"expected a unit that is seen, got {name}", key="unit")
    return keys


def _commander_placing(
    leader: Commander, game: Position, seen: Position, length_unit: LengthUnit, *, may_hide: bool
) -> Placing | None:
    """Returns the place where a commander has to be put; None if he is there."""
    on_table = next((other for other in seen.commanders if other.id == leader.id), None)
    if on_table is not None and has_its_place(on_table, leader):
        return None
    marker = marker_of(leader, seen.table.marker_mm)
    is_hidden = on_table is None or on_table.seen == "held"
    if is_hidden and may_hide and _is_covered(marker, leader.side, game, seen):
        return None
    if on_table is None:
        return Placing(leader.id, (marker,), None)
    if on_table.pose is not None:
        # The rules give a marker no heading, so it keeps its own.
        marker = replace(on_table.pose, x_mm=leader.x_mm, y_mm=leader.y_mm)
    off_mm = math.dist(on_table.place_mm, leader.place_mm)
    return Placing(leader.id, (marker,), _where(marker, seen, length_unit, off_mm))


def _is_covered(marker: BasePose, side: str, game: Position, seen: Position) -> bool:
    """Whether a friend in its place is seen over a marker's place."""
    friends = ((seen.unit(unit.id), unit) for unit in game.units if unit.side == side)
    return any(
        base.seen != "held" and _is_near(base, marker)
        for lies, unit in friends
        if lies is not None and is_there(lies, unit)
        for base in lies.bases
    )


def marker_of(commander: Commander, side_mm: float) -> BasePose:
    """Returns a commander's marker, a square of `side_mm` if it was not seen."""
    return commander.pose or BasePose(commander.x_mm, commander.y_mm, 90.0, side_mm, side_mm)


def is_there(unit: Unit, target: Unit) -> bool:
    """Whether a unit lies at its target, within the accuracy of hands and cameras.

    A counter also has to show the same face.
    """
    return (
        len(unit.bases) == len(target.bases)
        and all(lies_there(base, other) for base, other in _pairs(unit, target))
        and not _exchange(unit, target)
    )


def off_mm(unit: Unit, target: Unit) -> float:
    """Returns the largest distance of a base from its target, infinite if one is missing."""
    distances_mm = [apart_mm(base, other) for base, other in _pairs(unit, target)]
    is_complete = len(distances_mm) == len(target.bases)
    return max(distances_mm, default=math.inf) if is_complete else math.inf


def _gone_mm(unit: Unit, target: Unit) -> float:
    """Returns how far a unit's centre goes, as in the log; for a mere turn, its farthest base."""
    if len(unit.bases) != len(target.bases):
        return off_mm(unit, target)
    there = (
        (fmean(base.x_mm for base in bases), fmean(base.y_mm for base in bases))
        for bases in (unit.bases, target.bases)
    )
    gone_mm = math.dist(*there)
    return gone_mm if gone_mm > HAND_MM else off_mm(unit, target)


def _pairs(unit: Unit, target: Unit) -> Iterator[tuple[BasePose, BasePose]]:
    """Yields pairs of bases with the same tag, or with the same index if one has no tag.

    The game may not know a counter's tag, or may have its other side up, with another tag.
    """
    by_tag = {base.tag: base for base in target.bases if base.tag is not None}
    is_counter = len(unit.bases) == len(target.bases) == 1
    for index, base in enumerate(unit.bases):
        if base.tag in by_tag:
            yield base, by_tag[base.tag]
        elif index < len(target.bases) and (base.tag is None or is_counter):
            yield base, target.bases[index]
