"""Movement: allowances, costs of a path, and what bars a move, a march or a charge."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final

from tablecam.rules.game import Ban
from tablecam.rules.hexes.grid import Hex, Way, ways_from
from tablecam.rules.memo import answered_once
from tablecam.rules.musket_saber import tables
from tablecam.rules.musket_saber.field import CLEAR, OPEN_SIDE, Field, Mover
from tablecam.rules.musket_saber.files import Hexside, Terrain
from tablecam.rules.musket_saber.tables import Arm, Time, most_points
from tablecam.rules.musket_saber.troops import Leader, Post, Unit, is_overstacked

# Allowances.


@dataclass(frozen=True)
class Allowed:
    """A Movement Allowance (K-4.4): None while its dice are not thrown, or must be again."""

    rolls: bool
    ma: int | None
    dice_used: int = 0


def allowance(
    arm: Arm, ma: int | str, dice: Sequence[int], *, must_roll: bool, march: bool = False,
    leader: int = 0, square: bool = False,
) -> Allowed:  # fmt: skip
    """Returns the allowance of a unit (K-4.4, K-4.7, K-9.5d, K-10.3b), a "V" always rolled."""
    rolls = must_roll or ma == "V"
    points: int | None
    if not rolls:
        points, used = tables.MARCH[arm] if march else int(ma), 0
    elif march:
        # the printed MA is ignored, so that no die is thrown again.
        used = tables.MARCH_DICE[arm]
        points = sum(dice[:used]) + tables.MARCH_BONUS if len(dice) >= used else None
    else:
        most = most_points(ma)
        used = next((place for place, die in enumerate(dice, 1) if die <= most), len(dice))
        points = dice[used - 1] if dice and dice[used - 1] <= most else None
    if points is not None:
        points = (points // 2 if square else points) + leader
    return Allowed(rolls, points, used)


def reasons_to_roll(field: Field, unit: Unit, *, leaves_zone: bool) -> tuple[str, ...]:
    """Returns why a unit rolls for its MA (K-4.4, K-13.1)."""
    hqs = field.posts(field.hq, unit.side)
    reasons = {
        "V": unit.ma == "V",
        "disrupted": unit.disrupted,
        "overstacked": is_overstacked(field.units_at(unit.hex)),
        "disengaging": leaves_zone,
        # K-13.1: who enters the map has its full allowance.
        "hq_inactive": unit.hex is not None and any(not post.active for post in hqs),
    }
    return tuple(name for name, is_so in reasons.items() if is_so)


# Costs.


@dataclass(frozen=True)
class Step:
    """A step into a hex: its ground, and whether enemies control it or units stand in it."""

    terrains: tuple[Terrain, ...]
    side: Hexside = OPEN_SIDE
    path: str | None = None
    enemy_zone: bool = False
    combat_unit: bool = False


@dataclass(frozen=True)
class Cost:
    """What a path costs as far as it is legal, in Movement Points with halves."""

    mp: float
    ban: Ban | None = None


def ground_cost(mover: Mover, step: Step) -> float | None:
    """Returns the cost of the ground of a step (K-4.5), None if it is prohibited."""
    if mover == "leader":
        return step.terrains[0].leader or 1.0
    arm: Arm = mover if mover in tables.ARMS else "cavalry"
    if arm in step.side.prohibited:
        return None
    total = step.side.extra.get(arm, 0.0)
    for terrain in step.terrains:
        if terrain.mp is None:
            total += terrain.kind == "primary"
        elif arm in terrain.mp:
            total += terrain.mp[arm]
        else:
            return None
    return total


def path_cost(mover: Mover, steps: Sequence[Step], *, march: bool) -> Cost:
    """Returns the cost of a path (K-4.5 to K-4.7, K-10.1)."""
    cost, before = Cost(0.0), None
    for step in steps:
        cost, before = cost_after(mover, cost.mp, step, before, march=march), step
        if cost.ban is not None:
            break
    return cost


def cost_after(
    mover: Mover, spent: float, step: Step, before: Step | None = None, *, march: bool
) -> Cost:
    """Returns the cost of a path with a further step, from its cost and last step."""
    if before is not None and before.enemy_zone:
        return Cost(spent, Ban("K-6.2a", "an enemy zone of control ends the move"))
    # K-4.6b: foot and horse enter an enemy zone over the ground beside the road.
    uses_path = step.path is not None and (mover == "artillery" or not step.enemy_zone)
    cost = 1.0 if uses_path else ground_cost(mover, step)
    if cost is None:
        return Cost(spent, Ban("K-4.5", "the ground is prohibited"))
    is_fast = (march or mover == "leader") and uses_path and step.path == "road"
    leaves_unit = before is not None and before.combat_unit
    if is_fast and not (march and (step.combat_unit or leaves_unit)):
        cost = 0.5
    if march and not (uses_path and step.path == "road"):
        # K-4.7c: half a point is lost as the unit leaves the road.
        spent = float(math.ceil(spent))
    if march and not uses_path and not all(e.march for e in (*step.terrains, step.side)):
        return Cost(spent, Ban("K-4.7a", "no march into this terrain"))
    return Cost(spent + cost)


def entry_cost(unit: Unit, step: Step, ahead: int, *, march: bool) -> Cost:
    """Returns the cost of an entry hex, more behind others but for a small unit (K-13.1)."""
    cost = path_cost(unit.arm, [step], march=march)
    column = 0.0 if unit.is_small else ahead * tables.COLUMN_MP[march and step.path == "road"]
    return replace(cost, mp=cost.mp + column)


# Charges.


def ban_on_charge(
    arm: Arm, sizes: Sequence[str], *, counters: bool = False, disrupted: bool = False,
    ineffective: bool = False, mp: float | None = None, through_friends: bool = False,
    path_terrain: Iterable[str] = (), bars: bool = False, against: str = "attack",
    time: Time = "day",
) -> Ban | None:  # fmt: skip
    """Returns why units may not charge or countercharge (K-7.13c, K-9.3, K-9.4, K-14).

    `bars` says that the TEC bars a charge somewhere on the way, `path_terrain` are its kinds.
    """
    is_cavalry = arm == "cavalry"
    rule = "K-9.4" if counters else "K-9.3" if is_cavalry else "K-7.13c"
    units = [size for size in sizes if size != "leader"]
    full = [size for size in units if size not in ("battalion", "squadron")]
    # Two small units are one small unit and one other; a leader comes along.
    too_many = len(units) > 2 or len(full) > 1 or len(sizes) - len(units) > 1
    barred = (
        (arm == "artillery", rule, "guns do not charge"),
        (counters and not is_cavalry, rule, "only cavalry countercharges"),
        (counters and against == "bombardment", rule, "nobody countercharges a bombardment"),
        (time == "night" and is_cavalry and not counters, "K-14.2",
         "at night only infantry charges"),
        (time == "twilight" and len(units) > 1, "K-14.3", "at twilight one unit charges alone"),
        (disrupted, rule, "a Disrupted unit does not charge"),
        (ineffective, rule, "an ineffective unit does not charge"),
        (too_many, rule, "a leader, a small unit and one other charge at most"),
        (not counters and mp not in (None, *tables.CHARGE_MP), rule,
         f"a charge costs 1 or 2 Movement Points, not {mp or 0:g}"),
        (is_cavalry and through_friends, rule, "cavalry charges through no friends"),
        (is_cavalry and any(kind != CLEAR for kind in path_terrain), rule,
         "cavalry charges through and into clear terrain"),
        (bars, rule, "the terrain bars a charge"),
    )  # fmt: skip
    return next((Ban(rule, why) for is_so, rule, why in barred if is_so), None)


# Moves.

OTHERS: Final[Mapping[Mover, str]] = {"leader": "K-10.1", "hq": "K-12.1", "trains": "K-12.2"}
"""The rules of what moves besides units; they never enter an EZOC."""


@dataclass(frozen=True)
class Move:
    """A move along a path: its cost, its allowance if that is printed, and what bars it."""

    mp: float
    mp_of: float | None
    must_stop_at: Hex | None
    ban: Ban | None
    rolls: tuple[str, ...] = ()


def ban_on_disengaging(
    ma: int | str, held_by: Sequence[int | str], *, friend_stays: bool, time: Time = "day"
) -> Ban | None:
    """Returns why a unit may not leave an EZOC (K-6.3, K-14.2); R-09: a "V" compares as lower."""
    is_faster = ma != "V" and all(enemy != "V" and int(ma) > int(enemy) for enemy in held_by)
    if time == "night" or friend_stays or is_faster:
        return None
    return Ban("K-6.3", "an enemy that holds it is as fast, or faster")


def ban_on_leaving(field: Field, unit: Unit, *, stays: bool | None = None) -> Ban | None:
    """Returns why a unit may not leave the zones that hold it; `stays`: whether a friend does."""
    held = [enemy.printed("ma") for enemy in field.holding(unit)]
    if not held:
        return None
    if stays is None:
        stays = any(other.hex == unit.hex for other in field.friends(unit))
    return ban_on_disengaging(unit.printed("ma"), held, friend_stays=stays, time=field.time)


def ban_on_march(field: Field, unit: Unit) -> Ban | None:
    """Returns why a unit may not march from its hex (K-4.7a, K-12.1)."""
    if any(not post.active for post in field.posts(field.hq, unit.side)):
        return Ban("K-12.1", "no march while the HQ is inactive")
    return ban_on_march_through(field, unit, unit.hex or "")


def ban_on_march_through(field: Field, unit: Unit, number: Hex) -> Ban | None:
    """Returns why a unit on a march may not be in a hex (K-4.7a)."""
    if field.is_far_from_enemies(unit, number):
        return None
    return Ban("K-4.7a", f"in {number} it or its zone is in an enemy zone of control")


@dataclass(frozen=True)
class Walker:
    """A counter on its way from hex to hex: a unit, or what stands in for another counter.

    `led` says whether a leader goes along, None that one in its hex does; `charge` is the hex that
    it charges.
    """

    field: Field
    unit: Unit
    mover: Mover
    march: bool = False
    charge: Hex | None = None
    led: bool | None = None

    @property
    def is_unit(self) -> bool:
        """Whether it is a combat unit."""
        return self.mover in tables.ARMS

    @property
    def _start(self) -> Hex:
        return self.unit.hex or ""

    def cost(self, path: Sequence[Hex]) -> Cost:
        """Returns what a path from its hex costs."""
        steps = [self._step(*ends) for ends in pairwise((self._start, *path))]
        return path_cost(self.mover, steps, march=self.march)

    def cost_after(self, path: Sequence[Hex], spent: float, there: Hex) -> Cost:
        """Returns what a path costs with one more step, from its cost before."""
        *before, step = (self._step(*ends) for ends in pairwise((self._start, *path, there)[-3:]))
        return cost_after(self.mover, spent, step, *before, march=self.march)

    @answered_once
    def _step(self, here: Hex, there: Hex) -> Step:
        field, ground = self.field, self.field.map
        return Step(
            ground.terrains(there), ground.hexside(here, there), ground.path(here, there),
            there in field.enemy_zone(self.unit.side),
            any(unit.id != self.unit.id for unit in field.units_at(there)),
        )  # fmt: skip

    @answered_once
    def reached(self, most: float) -> Mapping[Hex, tuple[Hex, ...]]:
        """Returns the hexes that it may reach within a cost, each with a cheapest path."""

        def next_steps(way: Way[Hex, Hex]) -> Iterator[tuple[Hex, Hex, float, tuple[str, ...]]]:
            for beside in self.field.grid.neighbours(way.places[-1]):
                if self.ban_on_step(way.steps, beside) is None:
                    cost = self.cost_after(way.steps, way.cost, beside)
                    if cost.ban is None:
                        yield beside, beside, cost.mp - way.cost, ()

        ways = ways_from(self._start, next_steps, most)
        return {number: kept[0].steps for number, kept in ways.items()}

    def ban_on_step(self, path: Sequence[Hex], there: Hex) -> Ban | None:
        """Returns why it does not go on into a hex at the end of a path, whatever it costs."""
        field, side, rule = self.field, self.unit.side, OTHERS.get(self.mover, "K-4.5")
        before, here = (*[self._start] * 2, *path)[-2:]
        if there not in field.grid.neighbours(here):
            return Ban("K-4.2", f"{there} is not next to {here}")
        if path and self.mover == "trains" and field.map.path(before, here) != "road":
            return Ban("K-12.2", f"off the road it stops in {here}")
        if path and self.is_unit and field.is_at_trains(side, here):
            return Ban("K-12.2", f"nobody moves through the trains in {here}")
        if (ban := field.ban_on_passing(side, there)) is not None:
            return ban
        if not field.map.may_pass(self.mover, here, there):
            return Ban(rule, f"{there} is prohibited to {self.mover if self.is_unit else 'it'}")
        if there in field.enemy_zone(side):
            return self._ban_in_zone(there)
        return ban_on_march_through(field, self.unit, there) if self.march else None

    def _ban_in_zone(self, there: Hex) -> Ban | None:
        """Returns why it does not enter a hex that enemies control."""
        if not self.is_unit:
            along = ": he enters it only along with a unit" if self.mover == "leader" else ""
            return Ban(OTHERS[self.mover], f"{there} is in an enemy zone of control{along}")
        if self.field.holding(self.unit):
            return Ban("K-6.3", "a unit that disengages enters no enemy zone of control")
        if self.unit.square:
            return Ban("K-9.5d", "a Square enters no enemy zone of control")
        if self.unit.is_parenthesised and not self._is_escorted(there):
            return Ban("K-6.2b", "alone it enters no enemy zone of control")
        if self.field.time == "night" and self.charge is None:
            return Ban("K-14.2", "at night only charges enter an enemy zone of control")
        return ban_on_march_through(self.field, self.unit, there) if self.march else None

    def _is_escorted(self, there: Hex) -> bool:
        """Whether it enters a hex with a leader, or an undisrupted unit is there (R-08)."""
        unit, led = self.unit, self.led
        if led is None:
            led = bool(self.field.leaders_at(unit.hex, unit.side))
        others = (other for other in self.field.units_at(there) if other.id != unit.id)
        return led or any(not other.is_parenthesised for other in others)

    def move(self, path: Sequence[Hex], most: float | None = None) -> Move:
        """Returns its move along a path, with what bars it first (K-4, K-6, K-10.1, K-12).

        `most` is the allowance if it is not the printed one.
        """
        field, unit, cost = self.field, self.unit, self.cost(path)
        held = self.is_unit and bool(path and field.holding(unit))
        rolls = reasons_to_roll(field, unit, leaves_zone=held) if self.is_unit else ()
        if most is None:
            ma = most_points(unit.printed("ma"))
            most = allowance(
                unit.arm, ma, (), must_roll=False, march=self.march, square=unit.square
            ).ma or 0  # fmt: skip
            if rolls and self.march:
                most = tables.MARCH_DICE[unit.arm] * tables.VARIABLE_MA + tables.MARCH_BONUS
        too_dear = Ban("K-4.3", f"it costs {cost.mp:g} of {most:g} Movement Points")
        bans = chain(
            [ban_on_leaving(field, unit)] if held else [],
            [ban_on_march(field, unit)] if self.march else [],
            (self.ban_on_step(path[:index], there) for index, there in enumerate(path)),
            [cost.ban],
            [self._ban_on_charge(path, self.charge, cost.mp)] if self.charge else [],
            [too_dear] if cost.mp > most else [],
        )
        threatened = field.enemy_zone(unit.side) if self.is_unit else ()
        stops = next((number for number in path if number in threatened), None)
        return Move(cost.mp, most, stops, next(filter(None, bans), None), rolls)

    def _ban_on_charge(self, path: Sequence[Hex], target: Hex, mp: float) -> Ban | None:
        """Returns why it does not charge a hex at the end of a path (K-7.13c, K-9.3)."""
        field, unit = self.field, self.unit
        rule = "K-9.3" if unit.arm == "cavalry" else "K-7.13c"
        end = path[-1] if path else self._start
        if target not in field.grid.neighbours(end):
            return Ban(rule, f"{target} is not next to {end}")
        if target in field.grid.neighbours(self._start):
            return Ban(rule, "a unit that is adjacent already cannot charge")
        hexes = (*path, target)
        friends = {other.hex for other in field.friends(unit)}
        return ban_on_charge(
            unit.arm, (unit.size,), disrupted=unit.disrupted, ineffective=unit.ineffective,
            mp=mp, through_friends=not friends.isdisjoint(path),
            path_terrain=chain.from_iterable(map(field.map.kinds, hexes)),
            bars=not all(field.map.allows_charge(a, b) for a, b in pairwise(hexes)),
            time=field.time,
        )  # fmt: skip


@lru_cache(maxsize=256)
def walker_of(
    field: Field, thing: Unit | Leader | Post, *, march: bool = False, charge: Hex | None = None,
    led: bool | None = None,
) -> Walker:  # fmt: skip
    """Returns a counter as it walks; a leader, an HQ or trains have a unit that stands in."""
    if isinstance(thing, Unit):
        return Walker(field, thing, thing.arm, march, charge, led)
    mover = "leader" if isinstance(thing, Leader) else "hq" if thing in field.hq else "trains"
    return Walker(field, Unit(id=thing.id, side=thing.side, hex=thing.hex, ma=thing.ma or 0), mover)
