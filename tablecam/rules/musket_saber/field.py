"""The map with the units on it: zones of control, lines of sight, lines of retreat."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from typing import Final, Literal

from tablecam.rules.game import Ban
from tablecam.rules.hexes.files import Ground
from tablecam.rules.hexes.grid import Grid, Hex
from tablecam.rules.hexes.sight import line_between
from tablecam.rules.memo import answered_once
from tablecam.rules.musket_saber import tables
from tablecam.rules.musket_saber.files import Hexside, SomeCharts, Terrain
from tablecam.rules.musket_saber.tables import Arm, Time
from tablecam.rules.musket_saber.troops import Leader, LineKind, Post, Unit

Mover = Arm | str
"""An arm, or `leader`, `hq` (moves as cavalry) or `trains`."""
CLEAR: Final = "clear"
OPEN_GROUND: Final = Terrain(mp=dict.fromkeys(tables.ARMS, 1.0), trains=True)
OPEN_SIDE: Final = Hexside()
"""K-4.5: clear terrain, plain hexsides, and what charts do not describe."""
Blocker = Hex | tuple[Hex, Hex]


@dataclass(frozen=True, eq=False)
class Map:
    """The ground with its effects."""

    ground: Ground
    charts: SomeCharts

    @property
    def grid(self) -> Grid:
        """The hexes."""
        return self.ground.grid

    def is_at_edge(self, number: Hex) -> bool:
        """Whether a hex lies at the edge of the map."""
        return len(self.grid.neighbours(number)) < 6

    @answered_once
    def kinds(self, number: Hex) -> tuple[str, ...]:
        """Returns the primary terrain of a hex and its secondary terrains (K-2.2)."""
        return self.ground.terrain_of(number), *self.ground.secondary.get(number, ())

    @answered_once
    def terrains(self, number: Hex) -> tuple[Terrain, ...]:
        """Returns the effects of a hex's terrains."""
        return tuple(self.charts.terrain.get(kind, OPEN_GROUND) for kind in self.kinds(number))

    @answered_once
    def hexside(self, one: Hex, other: Hex) -> Hexside:
        """Returns the effects of what runs along a hexside (K-2.2c)."""
        return self.charts.hexside.get(self.ground.side_of(one, other) or "", OPEN_SIDE)

    def halver(self, arm: Arm, role: Literal["attack", "defend"], origin: Hex, target: Hex) -> str:
        """Returns the ground of a hex or a hexside that halves an arm, with its rule (K-2.2)."""
        primary, *secondary = zip(self.kinds(target), self.terrains(target), strict=True)
        grounds = ((primary, "K-2.2a"), *((more, "K-2.2b") for more in secondary))
        effects: dict[str, Terrain | Hexside] = {
            f"{kind} in {target} ({rule})": of for (kind, of), rule in grounds
        }
        effects[f"{self.ground.side_of(origin, target)} (K-2.2c)"] = self.hexside(origin, target)
        halves = (name for name, of in effects.items() if arm in getattr(of, f"{role}_halved"))
        return next(halves, "")

    @answered_once
    def path(self, one: Hex, other: Hex) -> str | None:
        """Returns the road, or else the trail, across a hexside (K-4.6a)."""
        return self.ground.paths.get(frozenset((one, other)))

    @answered_once
    def may_pass(self, mover: Mover, one: Hex, other: Hex) -> bool:
        """Whether neither hexside nor hex is prohibited; points do not matter (K-G5)."""
        if self.path(one, other) is not None:
            return True
        barred, arm = self.hexside(one, other).prohibited, "cavalry" if mover == "hq" else mover
        if arm in tables.ARMS:
            prohibited = any(t.mp is not None and arm not in t.mp for t in self.terrains(other))
            return arm not in barred and not prohibited
        if arm == "trains":
            primary = self.terrains(other)[0]
            allowed = self.kinds(other)[0] == CLEAR if primary.trains is None else primary.trains
            return allowed and not barred
        return set(barred) != set(tables.ARMS)

    def allows_charge(self, one: Hex, other: Hex) -> bool:
        """Whether the TEC allows a charge from a hex into its neighbour."""
        effects = (*self.terrains(other), self.hexside(one, other))
        return all(effect.charge for effect in effects)

    @answered_once
    def zone(self, arm: Arm, number: Hex) -> tuple[Hex, ...]:
        """Returns the hexes that a unit would control from a hex (K-G5)."""
        if not all(terrain.zoc_out for terrain in self.terrains(number)):
            return ()
        return tuple(
            beside
            for beside in self.grid.neighbours(number)
            if self.may_pass(arm, number, beside)
            and self.hexside(number, beside).zoc
            and all(terrain.zoc_in for terrain in self.terrains(beside))
        )

    @answered_once
    def sight_blockers(self, firer: Hex, target: Hex) -> tuple[Blocker, ...]:
        """Returns the hexes and hexsides that block a line of sight (K-G7)."""
        start, end = self.grid.cube(firer), self.grid.cube(target)
        between = line_between((start,), (end,)).between
        blockers: list[Blocker] = []
        along: dict[object, list[Hex]] = {}
        crossed = [firer]
        for stretch in sorted(between, key=lambda stretch: stretch.start):
            number = self.grid.number(stretch.cube)
            if number is not None and stretch.runs_along:
                along.setdefault(stretch.start, []).append(number)
            elif number is not None:
                crossed.append(number)
                blockers += [number] if self._blocks(number) else []
        for pair in along.values():
            # Along the edge of the map one hex alone lies beside the line.
            blockers += pair if all(self._blocks(number) for number in pair) else []
        for one, other in pairwise((*crossed, target)):
            blockers += [(one, other)] if self.hexside(one, other).blocks_los else []
        return tuple(blockers)

    def _blocks(self, number: Hex) -> bool:
        return any(terrain.blocks_los for terrain in self.terrains(number))


@dataclass(frozen=True)
class Line:
    """A line of retreat (K-7.6): its kind, and the hexes of a shortest one.

    Only where no other of its kind is open does it lead through the own trains (K-12.2).
    """

    kind: LineKind
    path: tuple[Hex, ...] = ()
    through_trains: bool = False


@dataclass(frozen=True, eq=False)
class Field:
    """A map with all that stands on it, the time of day and whose turn it is."""

    map: Map
    units: tuple[Unit, ...] = ()
    leaders: tuple[Leader, ...] = ()
    hq: tuple[Post, ...] = ()
    trains: tuple[Post, ...] = ()
    loc: Mapping[str, Sequence[Hex]] = field(default_factory=dict)
    time: Time = "day"
    active_side: str = ""

    @property
    def grid(self) -> Grid:
        """The hexes."""
        return self.map.grid

    @cached_property
    def _stacks(self) -> Mapping[Hex, tuple[Unit, ...]]:
        stacks: dict[Hex, tuple[Unit, ...]] = {}
        for unit in self.units:
            if unit.hex is not None:
                stacks[unit.hex] = (*stacks.get(unit.hex, ()), unit)
        return stacks

    def units_at(self, number: Hex | None) -> tuple[Unit, ...]:
        """Returns the units in a hex, in the order of their stack."""
        return self._stacks.get(number or "", ())

    def leaders_at(self, number: Hex | None, side: str) -> tuple[Leader, ...]:
        """Returns a side's leaders in a hex."""
        return tuple(one for one in self.leaders if one.hex == number and one.side == side)

    @answered_once
    def friends(self, unit: Unit) -> tuple[Unit, ...]:
        """Returns the other units of its side on the map."""
        own = (other for other in self.units if other.side == unit.side and other.hex is not None)
        return tuple(other for other in own if other.id != unit.id)

    @answered_once
    def enemies(self, side: str) -> tuple[Unit, ...]:
        """Returns the other side's units on the map."""
        return tuple(unit for unit in self.units if unit.side != side and unit.hex is not None)

    @cached_property
    def zones(self) -> Mapping[str, tuple[Hex, ...]]:
        """The zone of control of each unit on the map (K-6.1, K-6.4)."""
        return {
            unit.id: self.map.zone(unit.arm, unit.hex) if unit.exerts_zone else ()
            for unit in self.units
            if unit.hex is not None
        }

    @answered_once
    def enemy_zone(self, side: str) -> frozenset[Hex]:
        """Returns the hexes that the enemies of a side control."""
        zones = (self.zones[unit.id] for unit in self.enemies(side))
        return frozenset(chain.from_iterable(zones))

    @answered_once
    def holding(self, unit: Unit) -> tuple[Unit, ...]:
        """Returns the enemies whose zone holds a unit (K-6.3)."""
        return tuple(e for e in self.enemies(unit.side) if unit.hex in self.zones[e.id])

    def is_far_from_enemies(self, unit: Unit, number: Hex) -> bool:
        """Whether neither its hex nor the zone that it has, or would have, is in EZOC (K-G6)."""
        return self.enemy_zone(unit.side).isdisjoint((number, *self.map.zone(unit.arm, number)))

    @answered_once
    def ban_on_passing(self, side: str, number: Hex) -> Ban | None:
        """Returns why enemies stop a side from entering a hex (K-4.2, R-04): no lone leader."""
        hqs = (post for post in self.hq if post.side not in ("", side) and post.hex == number)
        if any(unit.side != side for unit in self.units_at(number)) or any(hqs):
            return Ban("K-4.2", f"an enemy stands in {number}")
        return None

    def works(self, side: str, number: Hex) -> bool:
        """Whether a LOC hex functions (K-12.3)."""
        is_taken = any(unit.side != side for unit in self.units_at(number))
        return not is_taken and number not in self.enemy_zone(side)

    def posts(self, posts: Sequence[Post], side: str) -> tuple[Post, ...]:
        """Returns the posts of a side on the map."""
        return tuple(post for post in posts if post.side in ("", side) and post.hex is not None)

    def loc_of(self, side: str) -> Sequence[Hex]:
        """Returns the LOC hexes of a side."""
        return self.loc.get(side, self.loc.get("", ()))

    @answered_once
    def goals(self, side: str) -> frozenset[Hex]:
        """Returns where lines of retreat of a side end (K-7.6)."""
        posts = (*self.posts(self.hq, side), *self.posts(self.trains, side))
        active = {post.hex for post in posts if post.active and post.hex is not None}
        return frozenset(active | {n for n in self.loc_of(side) if self.works(side, n)})

    @answered_once
    def is_at_trains(self, side: str, number: Hex) -> bool:
        """Whether the trains of a side are in a hex."""
        return any(post.hex == number for post in self.posts(self.trains, side))

    def further(self, unit: Unit, number: Hex, *, through_trains: bool = False) -> tuple[Hex, ...]:
        """Returns the hexes to which a line of retreat may go on from a hex (K-G8)."""
        ends = number != unit.hex and not through_trains
        if ends and self.is_at_trains(unit.side, number):
            return ()
        return self._onward(unit.side, unit.arm, number)

    @answered_once
    def _onward(self, side: str, arm: Arm, number: Hex) -> tuple[Hex, ...]:
        enemy_trains = {post.hex for post in self.trains if post.side not in ("", side)}
        return tuple(
            beside
            for beside in self.grid.neighbours(number)
            if beside not in enemy_trains
            and self.ban_on_passing(side, beside) is None
            and self.map.may_pass(arm, number, beside)
        )

    @answered_once
    def open_to(self, unit: Unit) -> Callable[[Hex], bool]:
        """Returns whether a hex may be part of a unit's safe line: no EZOC, or negated (R-05)."""
        threatened, friends = self.enemy_zone(unit.side), self.friends(unit)
        helped = {u.hex for u in friends}.union(*(self.zones[u.id] for u in friends))
        return lambda number: number not in threatened or number in helped

    def way(
        self, unit: Unit, start: Hex, goals: frozenset[Hex], may_enter: Callable[[Hex], bool],
        *, through_trains: bool = False,
    ) -> tuple[Hex, ...] | None:  # fmt: skip
        """Returns a shortest line of a unit from a hex to a goal, None if there is none."""
        before = {start: start}
        waiting = deque([start])
        while waiting:
            number = waiting.popleft()
            if number in goals:
                back = [number]
                while back[-1] != start:
                    back.append(before[back[-1]])
                return tuple(reversed(back[:-1]))
            for beside in self.further(unit, number, through_trains=through_trains):
                if beside not in before and may_enter(beside):
                    before[beside] = number
                    waiting.append(beside)
        return None

    @answered_once
    def line(self, unit: Unit) -> Line:
        """Returns a unit's best line of retreat at this moment (K-7.6)."""
        if unit.hex is None:
            return Line(unit.line)
        goals = self.goals(unit.side)
        kinds: tuple[tuple[LineKind, Callable[[Hex], bool]], ...]
        kinds = (("safe", self.open_to(unit)), ("valid", lambda _: True))
        for kind, is_open in kinds:
            for through in (False, True):
                path = self.way(unit, unit.hex, goals, is_open, through_trains=through)
                if path is not None:
                    return Line(kind, path, through)
        rim = frozenset(filter(self.map.is_at_edge, self.grid.hexes))
        off = self.way(unit, unit.hex, rim.difference(self.loc_of(unit.side)), lambda _: True)
        return Line("none") if off is None else Line("edge", off)

    def ban_on_sight(self, firer: Hex, target: Hex) -> Ban | None:
        """Returns why there is no line of sight between two hexes (K-8.6, K-14.2, K-14.3)."""
        most, distance = tables.LINE_OF_SIGHT[self.time], self.grid.distance((firer,), (target,))
        if most is not None and distance > most:
            why = f"at {self.time} nobody sees {distance} hexes far"
            return Ban(tables.TIME_RULE[self.time], why)
        blockers = self.map.sight_blockers(firer, target)
        names = ", ".join(b if isinstance(b, str) else "/".join(b) for b in blockers)
        return Ban("K-8.6", f"{names} blocks the line of sight") if blockers else None
