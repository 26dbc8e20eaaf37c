"""What hexes decide without dice: zones, sight, targets, command, stacking, withdrawals."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

from tablecam.rules.game import Ban
from tablecam.rules.hexes.grid import FACING_STEP_DEG, Grid, Hex
from tablecam.rules.hexes.sight import Line, line_between
from tablecam.rules.hexes.zones import ZONES, Hexes, ZoneName, right_hex, zones_of
from tablecam.rules.maida_1806 import tables
from tablecam.rules.maida_1806.state import State, enemy_of
from tablecam.rules.maida_1806.troops import Piece, Troop
from tablecam.table.headings import difference_deg

TURNS_DEG: Final = {"front": (30, -30), "flank": (90, -90), "rear": (150, -150)}
"""The directions of the neighbours from a facing, the left one first."""
COMPASS: Final = (
    "east →", "north-east ↗", "north ↑", "north-west ↖", "west ←", "south-west ↙", "south ↓",
    "south-east ↘",
)  # fmt: skip
"""Facings in steps of 45 degrees, with the map's first row in the north."""
Through = Literal["front", "flank", "rear", "front-flank", "flank-rear"]


# Counters on one hex or two.


def facing_words(facing_deg: int) -> str:
    """Returns a facing in words: the corners of a hex lie in six directions of the compass.

    >>> facing_words(60), facing_words(270)
    ('north-east ↗', 'south ↓')
    """
    return COMPASS[round(facing_deg / 45) % len(COMPASS)]


def around(grid: Grid, hexes: Hexes) -> Hexes:
    """Returns the hexes on the map that a counter on one hex or two is adjacent to."""
    beside = (other for number in hexes for other in grid.neighbours(number))
    return tuple(number for number in dict.fromkeys(beside) if number not in hexes)


def shifted(grid: Grid, hexes: Hexes, direction_deg: int) -> Hexes | None:
    """Returns the hexes of a counter that shifts as a whole, None if it left the map."""
    moved = tuple(grid.neighbour(number, direction_deg % 360) for number in hexes)
    return None if None in moved else tuple(number for number in moved if number is not None)


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel of a line on two hexes about one of them: its hexes, its facing, and what it enters.

    It goes to its left or right, forward or backward.
    """

    to: Literal["left", "right"]
    backward: bool
    hexes: Hexes
    facing_deg: int
    entered: Hex


_WHEELS: Final[tuple[tuple[Literal["left", "right"], bool, int, int, int], ...]] = (
    ("left", False, 0, -30, FACING_STEP_DEG),
    ("right", False, 1, 30, -FACING_STEP_DEG),
    ("right", True, 0, -150, -FACING_STEP_DEG),
    ("left", True, 1, 150, FACING_STEP_DEG),
)
"""Where it goes, whether backward, the hex that stays (0: left), where the other goes, the turn."""


def wheels_of(grid: Grid, hexes: Hexes, facing_deg: int) -> tuple[Wheel, ...]:
    """Returns the four wheels of a line on two hexes, without those off the map."""
    wheels = []
    for to, backward, pivot, way_deg, turn_deg in _WHEELS:
        entered = grid.neighbour(hexes[pivot], (facing_deg + way_deg) % 360)
        if entered is None:
            continue
        facing = (facing_deg + turn_deg) % 360
        pair: Hexes = (hexes[pivot], entered)
        left = next(number for number in pair if right_hex(grid, number, facing) in pair)
        ordered = (left, *(number for number in pair if number != left))
        wheels.append(Wheel(to, backward, ordered, facing, entered))
    return tuple(wheels)


# Zones and sight.


def line_of(state: State, firer: Hexes, target: Hexes) -> Line:
    """Returns the line between two counters' middles (D-G7, D-14.2.1)."""
    ends = (tuple(state.grid.cube(number) for number in hexes) for hexes in (firer, target))
    return line_between(*ends)


def front_of(state: State, piece: Piece) -> Hexes:
    """Returns a unit's Front hexes on the map; in Square all around it are (D-7.3)."""
    if piece.formation == "square":
        return around(state.grid, piece.hexes)
    return state.grid.on_map(zones_of(state.grid, piece.hexes, piece.facing_deg).front)


def zone_of(state: State, piece: Piece, others: Hexes) -> ZoneName | None:
    """Returns the zone of a unit in which another counter is next to it (D-G5, D-7.3)."""
    if piece.formation == "square":
        is_near = set(others).intersection(around(state.grid, piece.hexes))
        return "front" if is_near else None
    zones = zones_of(state.grid, piece.hexes, piece.facing_deg)
    cubes = {state.grid.cube(number) for number in others}
    return next((name for name in ZONES if cubes.intersection(zones.of(name))), None)


def sees(state: State, firer: Piece, target: Hexes) -> bool:
    """Whether a unit has a counter in sight (D-14.1, D-14.2, D-8.7)."""
    is_apart = not set(firer.hexes) & set(target)
    return is_apart and leaves_by_front(state, firer, target) and not blockers(state, firer, target)


def leaves_by_front(state: State, firer: Piece, target: Hexes) -> bool:
    """Whether the line of sight leaves through a Front hex, or a company's Flank hex."""
    if firer.formation == "square":
        return True
    troop = state.troop(firer.id)
    if troop.is_battery and not _in_field_of_fire(state, firer, target):
        return False
    zones = zones_of(state.grid, firer.hexes, firer.facing_deg)
    allowed = {*zones.front, *(zones.flank if troop.is_company else ())}
    return bool(allowed.intersection(line_of(state, firer.hexes, target).leaves))


def _in_field_of_fire(state: State, gun: Piece, target: Hexes) -> bool:
    """Whether a target lies within the field of fire of the owner's charts (D-10.2, R-19)."""
    charts = state.board.charts.artillery
    if charts is None:
        return True
    start, end = (state.grid.middle_mm(hexes) for hexes in (gun.hexes, target))
    way_deg = math.degrees(math.atan2(end[1] - start[1], end[0] - start[0]))
    facing_deg = gun.facing_deg + state.grid.map.rotation_deg
    return abs(difference_deg(way_deg, facing_deg)) <= charts.field_of_fire_deg + _EXACT_DEG


_EXACT_DEG: Final = 1e-6


def blockers(state: State, firer: Piece, target: Hexes) -> tuple[Hex, ...]:
    """Returns the hexes that hide a counter: woods, and hexes with units (D-14.1)."""
    line = line_of(state, firer.hexes, target)
    hexes = state.grid.on_map(stretch.cube for stretch in line.between)

    def blocks(number: Hex) -> bool:
        others = (piece.id for piece in state.at(number) if piece.id != firer.id)
        return bool(state.board.terrain(number).blocks_sight or state.foot(others))

    return tuple(filter(blocks, hexes))


def through(state: State, target: Piece, firer: Hexes) -> Through:
    """Returns through which zones of a target a line arrives (D-14.4); a Square has only Front."""
    if target.formation == "square":
        return "front"
    arrives = set(line_of(state, firer, target.hexes).arrives)
    zones = zones_of(state.grid, target.hexes, target.facing_deg)
    word: Any = "-".join(name for name in ZONES if arrives.intersection(zones.of(name)))
    return word if word in get_args(Through) else "front"


def comes_from_behind(came: Through) -> bool:
    """Whether fire gets the modifier for Flank and Rear (D-14.4, D-14.4.1)."""
    return came in ("flank", "rear", "flank-rear")


# Targets.


def ban_on_firing(state: State, piece: Piece) -> Ban | None:
    """Returns why a unit cannot fire at all now."""
    troop = state.troop(piece.id)
    barred = [
        (not piece.hexes, "D-14.3", "is not on the map"),
        (state.in_clash(piece), "D-14.7", "is in a Clash Hex"),
        (troop.arm == "cavalry", "D-3.4d", "is cavalry"),
    ]
    if troop.is_battery:
        acts = not state.drawn or piece.id in state.active_units
        waits = not acts and state.side(piece.id) == state.active
        barred += [
            (waits, "D-10.5", "fires in its own leader's subphase"),
            (piece.fired, "D-10.5", "does not fire again in this subphase"),
            (piece.held_fire, "D-10.13", "has moved or turned"),
            (bool(piece.captured_by or piece.silent), "D-10.6", "fires no more this turn"),
        ]
    else:
        top = top_of_foot(state, piece) or piece
        barred += [
            (piece.fires >= tables.FIRES, "D-14.10.1", f"has fired {tables.FIRES} times this turn"),
            (piece.double, "D-12.9", "is on a double march"),
            (top.id != piece.id, "D-11.7", f"lies under {top.id}"),
        ]
    return next((Ban.of(piece.id, rule, why) for is_so, rule, why in barred if is_so), None)


def top_of_foot(state: State, piece: Piece) -> Piece | None:
    """Returns the top unit of a stack that is no battery (D-11.7, R-21)."""
    foot = (p for p in state.stack(piece.id) if not state.troop(p.id).is_battery)
    return next(foot, None)


def ban_on_target(state: State, firer: Piece, target: Piece) -> Ban | None:
    """Returns why a unit may not fire at an enemy."""
    at = f"may not fire at {target.id}"
    if state.side(firer.id) == state.side(target.id):
        return Ban.of(firer.id, "D-14.3", f"{at}: a friend")
    if not target.hexes or state.in_clash(target):
        return Ban.of(firer.id, "D-14.7", f"{at}: it is in a Clash Hex")
    distance = state.grid.distance(firer.hexes, target.hexes)
    troop = state.troop(firer.id)
    if reach_of(troop) < distance or (troop.is_battery and not gun_result(troop, distance)):
        return Ban.of(firer.id, "D-14.9", f"{at}: {distance} hexes are too far")
    if not leaves_by_front(state, firer, target.hexes):
        return Ban.of(firer.id, "D-14.2", f"{at}: the line does not leave through its Front")
    hidden = blockers(state, firer, target.hexes)
    if hidden:
        return Ban.of(firer.id, "D-14.1", f"{at}: {', '.join(hidden)} hide it")
    enemies = (o for n in front_of(state, firer) for o in state.at(n, state.enemy(firer.id)))
    near = [enemy.id for enemy in enemies if not state.in_clash(enemy)]
    if near and target.id not in near:
        return Ban.of(firer.id, "D-14.6", f"{at}: {near[0]} is in its Front")
    return None


def reach_of(troop: Troop) -> int:
    """Returns the greatest distance of fire (D-14.9)."""
    if not troop.is_battery:
        return tables.RIFLE_RANGE
    return max((row.to for row in troop.ranges), default=0)


def gun_result(troop: Troop, distance: int) -> str | None:
    """Returns the result on a battery's counter at a distance (D-10.3)."""
    return next((r.result for r in troop.ranges if r.start <= distance <= r.to), None)


def targets_of(state: State, piece: Piece) -> tuple[str, ...]:
    """Returns the enemies at which a unit may fire: of a stack, its top unit stands for all."""
    if ban_on_firing(state, piece) is not None:
        return ()
    tops = (p for p in state.on_map(state.enemy(piece.id)) if not state.is_covered(p.id))
    return tuple(enemy.id for enemy in tops if ban_on_target(state, piece, enemy) is None)


def flank_chain(state: State, units: Iterable[str]) -> bool:
    """Whether units stand flank to flank in a chain, Squares side by side (D-G9, D-7.3)."""
    pieces = [state.piece(name) for name in units]
    linked, waiting = pieces[:1], pieces[1:]
    for piece in linked:
        beside = [other for other in waiting if _are_linked(state, piece, other)]
        linked += beside
        waiting = [other for other in waiting if other not in beside]
    return not waiting


def _are_linked(state: State, one: Piece, other: Piece) -> bool:
    if one.formation == other.formation == "square":
        return state.grid.distance(one.hexes, other.hexes) == 1
    alike = (one.formation, one.facing_deg) == (other.formation, other.facing_deg)
    if not alike or set(one.hexes) & set(other.hexes):
        return False
    flanks = [zones_of(state.grid, p.hexes, p.facing_deg).flank for p in (one, other)]
    pairs = zip(flanks, (other.hexes, one.hexes), strict=True)
    return all(set(state.grid.on_map(flank)).intersection(hexes) for flank, hexes in pairs)


# Command.


def command_path(state: State, piece: Piece) -> Hexes | None:
    """Returns a shortest path of command to a unit, None if it is out of command (D-4.2, R-10).

    The Overall Commander commands the units of a dead leader (D-4.3).
    """
    troop, board = state.troop(piece.id), state.board
    leader = troop.leader
    if leader in board.leaders and state.leader(leader).dead:
        leader = board.overall_commander.get(troop.side, "")
    start = leader in board.leaders and state.leader(leader).hex
    if not start:
        return None
    enemy = enemy_of(troop.side)

    def may_step(_: Hex, number: Hex) -> bool:
        return not state.at(number, enemy) or state.is_clash(number)

    paths = state.grid.reached((start,), tables.COMMAND_HEXES, may_step)
    ends = [paths[number] for number in piece.hexes if number in paths]
    return min(ends, key=len, default=None)


def may_act(state: State, piece: Piece) -> bool:
    """Whether an active unit may move: in command, a company, or with the OC (D-4.5, D-8.7)."""
    troop = state.troop(piece.id)
    freely = troop.acts_with_oc and state.is_oc(state.drawn)
    return troop.is_company or freely or command_path(state, piece) is not None


# Stacks.


@dataclass(frozen=True, slots=True)
class Stacked:
    """What stacking depends on of a unit in a stack."""

    kind: str
    formation: str
    facing_deg: int
    hexes: Hexes


def ban_on_stack(units: Sequence[Stacked]) -> Ban | None:
    """Returns why units of one side may not lie together (D-6.4, D-11.0 to D-11.2)."""
    if len(units) < 2:
        return None
    batteries = [unit for unit in units if unit.kind.endswith("battery")]
    others = [unit for unit in units if unit not in batteries]
    kinds = {unit.kind for unit in others}
    if "squadron" in kinds and len(kinds) > 1:
        return Ban("D-11.1", "infantry and cavalry may not lie together")
    if len({(unit.formation, unit.facing_deg) for unit in others}) > 1:
        return Ban("D-11.0", "a stack has one formation and one facing")
    wide = [unit for unit in others if len(unit.hexes) > 1]
    if wide and (batteries or len({unit.hexes for unit in others}) > 1):
        return Ban("D-6.4", "a line on two hexes lies only with lines on the same two")
    if len(batteries) > 1:
        return Ban("D-11.2", "at most one battery in a stack")
    most = tables.MOST_BESIDE_A_BATTERY if batteries else tables.MOST_BATTALIONS
    if "company" not in kinds and len(others) > most:
        return Ban("D-11.2", f"at most {most} battalions or squadrons in a stack")
    if "company" in kinds and (len(kinds) > 1 or batteries):
        return Ban("D-11.2", "companies stack only with companies")
    return None


def ban_on_lying(state: State, piece: Piece, *, moving: Collection[str] = ()) -> Ban | None:
    """Returns why a unit may not lie where it is with the friends that are there."""
    others = (o for o in state.on_map(state.side(piece.id)) if o.id not in (piece.id, *moving))
    stack = (piece, *(other for other in others if set(piece.hexes).intersection(other.hexes)))
    return ban_on_stack(
        [Stacked(state.troop(p.id).kind, p.formation, p.facing_deg, p.hexes) for p in stack]
    )


# Withdrawals.

BACK: Final[tuple[ZoneName, ...]] = ("rear", "flank", "front")
"""The order in which hexes are looked at (D-14.11.1)."""


def withdrawals(
    state: State, piece: Piece, causes: Sequence[Hexes]
) -> tuple[ZoneName | None, tuple[Hexes, ...]]:
    """Returns the first class of hexes into which a unit may withdraw, and these (D-W)."""

    def apart(hexes: Hexes) -> int:
        return min((state.grid.distance(hexes, cause) for cause in causes), default=0)

    def is_open(hexes: Hexes) -> bool:
        there = replace(piece, hexes=hexes, facing_deg=joined_facing_deg(state, piece, hexes))
        is_free = all(state.is_free(number, state.enemy(piece.id)) for number in hexes)
        # D-14.11.3, D-14.11.7: it may join the friends that are there.
        is_away = apart(hexes) > apart(piece.hexes)
        return is_free and is_away and ban_on_lying(state, there) is None

    zones = ((name, tuple(filter(is_open, shifts(state, piece, name)))) for name in BACK)
    return next(((name, ends) for name, ends in zones if ends), (None, ()))


def shifts(state: State, piece: Piece, zone: ZoneName) -> Iterator[Hexes]:
    """Yields where a counter goes as a whole into a zone, over hexsides that it may cross."""
    for turn_deg in TURNS_DEG[zone]:
        hexes = shifted(state.grid, piece.hexes, piece.facing_deg + turn_deg)
        pairs = zip(piece.hexes, hexes or (), strict=False)
        if hexes is not None and all(state.board.may_cross(*pair) for pair in pairs):
            yield hexes


def joined_facing_deg(state: State, piece: Piece, to: Hexes) -> int:
    """Returns the facing of a unit that withdraws to some hexes: its friends' there (D-14.11.3)."""
    there = (o for n in to for o in state.at(n, state.side(piece.id)) if o.id != piece.id)
    foot = (o for o in there if not state.troop(o.id).is_battery)
    return next(foot, piece).facing_deg


def withdrawal_losses(state: State, piece: Piece, to: Hexes) -> tuple[str, ...]:
    """Returns why a withdrawal costs Losses, one each (D-14.11.4, D-14.11.5)."""
    pairs = zip(piece.hexes, to, strict=True)
    crossed = any(state.board.ground.side_of(*pair) == tables.RIVER for pair in pairs)
    faced = any(
        set(to).intersection(front_of(state, enemy))
        for enemy in state.on_map(state.enemy(piece.id))
        if not state.troop(enemy.id).is_battery
    )
    reasons = ((crossed, "across a river"), (faced, "into an enemy's Front"))
    return tuple(why for is_so, why in reasons if is_so)
