"""Rulings on counters: where they lie, and in a game their zones, attacks, moves and retreats.

A table alone knows neither terrain nor the numbers on counters: those are the files of a game.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from tablecam.geometry.shapes import Shape
from tablecam.rules.game import Ban
from tablecam.rules.hexes.counters import place_finding, range_findings
from tablecam.rules.hexes.grid import Hex
from tablecam.rules.hexes.stacks import out_of_boxes, seen_counters
from tablecam.rules.measuring import Measures
from tablecam.rules.musket_saber import battle, combat, movement, moves
from tablecam.rules.musket_saber.state import Battle, Start, State
from tablecam.rules.musket_saber.tables import GAME, MARCH, VARIABLE_MA, most_points
from tablecam.rules.musket_saber.troops import Unit
from tablecam.rules.reports import Finding, Question, Section
from tablecam.table.model import Position
from tablecam.uncertainty.answer import certain
from tablecam.wording import counted, joined

Part = Finding | Shape


@dataclass(frozen=True)
class Handle:
    """A table, and the game in progress on it."""

    position: Position
    state: State


class FolioBook(Measures):
    """What the rules say of counters on a map."""

    def in_game(self, handle: object, state: State) -> Handle:
        """Returns the position with the game."""
        return Handle(self.ruled_position(handle), state)

    def ruled_position(self, handle: object) -> Position:
        """Returns the whole position."""
        return handle.position if isinstance(handle, Handle) else super().ruled_position(handle)

    def sections(self, handle: object, *units: str) -> Sequence[Section]:
        """Returns what a unit may do, or two to each other; a place alone while a move is open."""
        position = out_of_boxes(self.ruled_position(handle))
        state = handle.state if isinstance(handle, Handle) else None
        if position.table.hex_map is None:
            return super().sections(position, *units)
        by_id = {counter.id: counter for counter in position.units}
        named = [by_id[unit] for unit in units]
        finding = partial(place_finding, position, rule="K-G3", has_facing=False)
        laid = [counter for counter in named if counter.bases]
        # Counters have no facing (K-G3).
        place = Section("place", "Place", lambda: (finding(counter)[1] for counter in laid))
        seen = seen_counters(position)
        hexes = {n: state.thing(n).hex for n in units if state is not None and n in state.names}
        known = all(hexes.get(n) and seen.get(n, hexes[n]) == hexes[n] for n in units)
        if len(units) > 1:
            apart = Section("range", "Range", partial(range_findings, position, "K-G2", *named))
            if state is None or not known:
                return [place, apart]
            pairs = (units, units[::-1])
            return [
                apart,
                Section("sight", "Sight", lambda: (_sight(state, *pair) for pair in pairs)),
                Section("attack", "Attack", partial(_attacks_between, state, pairs)),
            ]
        if state is None or not known:
            return [place]
        thing = state.thing(units[0])
        sections = [place, Section("reach", "Movement", partial(_reach, state, *units))]
        if isinstance(thing, Unit):
            sections += [
                Section("zone_of_control", "Zone of control", partial(_zone, state, thing)),
                Section("targets", "May attack", partial(_attacks, state, thing)),
                Section("retreat_line", "Line of retreat", partial(_line, state, thing)),
            ]
        return sections


def _zone(state: State, unit: Unit) -> Iterator[Part]:
    """Yields the hexes that a unit controls, and which enemies hold it (K-6)."""
    zone = state.field.zones[unit.id]
    marks = {"disrupted": "Disrupted", "ineffective": "Ineffective", "square": "in a Square"}
    whys = (f"it is {words}" for mark, words in marks.items() if getattr(unit, mark))
    if zone:
        yield Finding(f"It controls {', '.join(zone)}", rule="K-6.1")
    else:
        why = next(whys, "the terrain bars it")
        yield Finding(f"It has no zone of control: {why}", rule="K-6.4")
    yield from state.grid.outlines(zone, "zone-of-control")
    if holding := state.field.holding(unit):
        names = joined(enemy.id for enemy in holding)
        yield Finding(f"{names} {'hold' if len(holding) > 1 else 'holds'} it", rule="K-6.2a")


def _reach(state: State, name: str) -> Iterator[Part]:
    """Yields how far a counter moves, and where to, as all stands on the map (K-4)."""
    thing = state.thing(name)
    is_now = state.phase == "movement" and thing.side == state.active
    if is_now:
        ban = moves.ban_on_start(state, Start(name))
    else:
        ban = movement.ban_on_leaving(state.field, thing) if isinstance(thing, Unit) else None
    if ban is not None:
        yield Finding(f"It does not move: {ban.because}", certain("no", ban.rule, ban.because))
        return
    walker, rolls = movement.walker_of(state.field, thing), False
    most = most_points(walker.unit.printed("ma"))
    rule = movement.OTHERS.get(walker.mover, "K-4.3")
    if isinstance(thing, Unit):
        allowed = moves.allowance_of(thing)
        most = VARIABLE_MA if allowed is None else allowed
        if rolls := allowed is None or moves.must_roll(state, thing):
            rule = "K-4.4"
    words = f"With {counted(most, 'Movement Point')}"
    if rolls:
        words = f"It rolls for its Movement Allowance: with {most} at most"
    ends = [number for number, path in moves.reached(state, name, most).items() if path]
    words += f" it reaches {counted(len(ends), 'hex')}"
    yield Finding(words + ("" if is_now else " in its own movement phase"), rule=rule)
    if state.phase == "movement":
        yield from state.grid.outlines(ends, "reach")
    if isinstance(thing, Unit) and state.plays("K-4.7a"):
        yield _march(state, thing)


def _march(state: State, unit: Unit) -> Finding:
    """Returns how far a unit marches, or why it does not (K-4.7a)."""
    if (ban := movement.ban_on_march(state.field, unit)) is not None:
        why = f"It does not march: {ban.because}"
        return Finding(why, certain("no", ban.rule, why))
    most = MARCH[unit.arm]
    ends = [n for n, path in moves.reached(state, unit.id, most, march=True).items() if path]
    words = f"On a march, with {most} Movement Points, it reaches"
    return Finding(f"{words} {counted(len(ends), 'hex')}", rule="K-4.7a")


def _attacks(state: State, unit: Unit) -> Iterator[Finding]:
    """Yields the hexes that a unit may attack, or why there are none (K-7.1)."""
    enemies = {enemy.hex for enemy in state.field.enemies(unit.side) if enemy.hex}
    posts = {p.hex for p in (*state.hq, *state.trains) if p.side != unit.side and p.hex}
    here = (unit.hex or "",)
    near = sorted(
        enemies | posts, key=lambda number: (state.grid.distance(here, (number,)), number)
    )
    findings = [finding for number in near for finding in _attacks_on(state, unit, number)]
    may = [line for line in findings if line.answer is not None and line.answer.answer == "yes"]
    yield from may or findings[:1]


def _attacks_between(state: State, pairs: Sequence[Sequence[str]]) -> Iterator[Finding]:
    """Yields whether each of two enemies may attack the other's hex."""
    for one, other in pairs:
        unit, target = state.thing(one), state.thing(other)
        if isinstance(unit, Unit) and target.hex and unit.side != target.side:
            yield from _attacks_on(state, unit, target.hex)


def _attacks_on(state: State, unit: Unit, target: Hex) -> Iterator[Finding]:
    """Yields how a unit may attack a hex now; before its phase, as all stands on the map."""
    is_now = state.phase == "combat" and unit.side == state.active
    there = joined(enemy.id for enemy in state.field.units_at(target)) or "a post"
    bans: dict[str, Ban | None] = {}
    for how in ("attack", "skirmish"):
        ban = battle.ban_by_field(state, unit, target, how)
        if is_now:
            ban = battle.ban_on_target(state, target) or ban
            ban = ban or battle.ban_on_joining(state, unit.id, target, how)
        bans[how] = ban
    if unit.is_battery:
        bans["bombard"] = combat.ban_on_bombarding(state.field, unit, target)
        if is_now:
            bans["bombard"] = battle.ban_on_bombard(state, unit, target)
    shapes = (
        *state.grid.outlines((target,), "target"),
        state.grid.way(((unit.hex or target,), (target,)), "attack"),
    )
    open_ways = [how for how, ban in bans.items() if ban is None]
    for how in open_ways:
        verb = "skirmish with" if how == "skirmish" else how
        text = f"{unit.id} may {verb} {target} ({there}){_value(state, unit, target, how)}"
        rule = {"attack": "K-7.1", "skirmish": "K-7.13a", "bombard": "K-8.4a"}[how]
        yield Finding(text, certain("yes", rule, text, shapes))
    if not open_ways:
        ban = bans.get("bombard") or bans["attack"]
        assert ban is not None
        text = f"{unit.id} may not attack {target} ({there}): {ban.because}"
        yield Finding(text, certain("no", ban.rule, text))


def _value(state: State, unit: Unit, target: Hex, how: str) -> str:
    """Returns in words the differential of an attack by a unit alone (K-7.7, K-8.5)."""
    there = state.field.units_at(target)
    if how == "bombard":
        totals = sorted({combat.support_factor(unit, (enemy,)) for enemy in there})
        return f", column {' or '.join(f'{total:+d}' for total in totals)}"
    if not there:
        return ""
    way: Any = how
    value = battle.reckoned(state, Battle(unit.side, target, (unit.id,), how=way)).value
    return f", differential {value:+d} alone"


def _line(state: State, unit: Unit) -> Iterator[Part]:
    """Yields a unit's best line of retreat at this moment (K-7.6)."""
    line = state.field.line(unit)
    words = {
        "safe": "It has a safe line of retreat", "valid": "Its line of retreat is not safe",
        "edge": "Its only line of retreat leads off the map", "none": "It has no line of retreat",
    }[line.kind]  # fmt: skip
    to = f", to {line.path[-1]}: {' '.join(line.path)}" if line.path else ""
    yield Finding(f"{words}{to}", rule="K-7.6")
    if line.path:
        hexes = [(number,) for number in (unit.hex or "", *line.path)]
        yield state.grid.way(hexes, "retreat-line")
        yield from state.grid.outlines(line.path[-1:], "withdrawal")


def _sight(state: State, one: str, other: str) -> Finding:
    """Returns whether there is a line of sight between two counters (K-8.6)."""
    start, end = state.thing(one).hex or "", state.thing(other).hex or ""
    ban = None if start == end else state.field.ban_on_sight(start, end)
    text = f"{one} sees {other}" if ban is None else f"{one} does not see {other}: {ban.because}"
    asked = Question(f"sight/{one}/{other}", f"Does {one} see {other}?")
    shape = state.grid.way(((start,), (end,)), "line-of-sight")
    word, rule = ("yes", "K-8.6") if ban is None else ("no", ban.rule)
    return Finding(text, certain(word, rule, text, (shape,)), question=asked)  # type: ignore[arg-type]


BOOK: Final = FolioBook(GAME)
"""The book that other modules look up."""
