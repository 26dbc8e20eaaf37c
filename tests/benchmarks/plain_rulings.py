"""The questions of rulings asked with plain shapely calls, pair by pair, for comparison.

Written as by someone who knows the rules and shapely's scalar calls: loops over units, bases and
pieces of terrain, with turned zones tried every quarter of a degree and wheels every millimetre. In
its favour: no sigmas, no proofs, none of the limits on charges, no second line of M-8.12, cover by
nine lines, and strings that go round square corners instead of arcs.
"""

import heapq
import math
from itertools import combinations
from typing import Any

import shapely
from shapely import LineString, Point, Polygon, shortest_line, unary_union
from shapely.affinity import rotate
from shapely.prepared import prep

from tablecam.table.model import BasePose, Position, Unit

BW = 40.0
SLIVER_MM = 0.5
COVER = ("woods", "wall")
WATER = ("marsh",)
DIFFICULT = ("woods", "rough", "marsh", "wall")


def plain_rulings(position: Position, active: str) -> dict[str, Any]:
    shapes = {unit.id: [rectangle(base) for base in unit.bases] for unit in position.units}
    mm = lengths(position, shapes)
    ground = [(piece.kind, Polygon(piece.outline_mm)) for piece in position.terrain]
    return {
        "units": {unit.id: of_unit(position, unit, shapes, mm, ground) for unit in position.units},
        "charge": {unit.id: charge(position, unit, shapes) for unit in position.units},
        "engaged": {
            unit.id: engaged(position, unit, shapes)
            for unit in position.units
            if unit.side == active
        },
        "strings": strings(position, active, shapes),
    }


def plain_fire(position: Position, unit_id: str, number: int) -> dict[str, bool]:
    """The same for one base alone, by itself."""
    unit = next(unit for unit in position.units if unit.id == unit_id)
    shapes = {unit.id: [rectangle(base) for base in unit.bases] for unit in position.units}
    ground = [(piece.kind, Polygon(piece.outline_mm)) for piece in position.terrain]
    return of_base(position, unit, number, shapes, ground)


def of_unit(position, unit, shapes, mm, ground):
    enemies = [other for other in position.units if other.side != unit.side]
    friends = [other for other in position.units if other.side == unit.side and other is not unit]
    return {
        "near": min(mm[unit.id, enemy.id] for enemy in enemies) <= 4 * BW,
        "contact": [enemy.id for enemy in enemies if mm[unit.id, enemy.id] <= 1.0],
        "to_flank": [enemy.id for enemy in enemies if is_to_flank(unit, enemy, shapes)],
        "linked": [friend.id for friend in friends if mm[unit.id, friend.id] <= 2 * BW],
        "bad_terrain": any(
            kind in DIFFICULT and deep(base, outline)
            for base in shapes[unit.id]
            for kind, outline in ground
        ),
        "fire": fire(position, unit, shapes, ground) if unit.arm == "infantry" else {},
    }


def lengths(position, shapes):
    found = {}
    for a, b in combinations(position.units, 2):
        least = min(p.distance(q) for p in shapes[a.id] for q in shapes[b.id])
        found[a.id, b.id] = found[b.id, a.id] = least
    return found


def is_to_flank(a, b, shapes):
    left, right = front(a)
    behind = sum(
        all(ahead(left, right, point) <= 0 for point in base.exterior.coords)
        for base in shapes[b.id]
    )
    lane = strip(left, right, 3000.0)
    return 2 * behind >= len(b.bases) and not any(deep(base, lane) for base in shapes[b.id])


def fire(position, unit, shapes, ground):
    return {
        number: of_base(position, unit, number, shapes, ground) for number in range(len(unit.bases))
    }


def of_base(position, unit, number, shapes, ground):
    """The target that a base may shoot at, and whether it has cover."""
    if any(kind in WATER and deep(shapes[unit.id][number], outline) for kind, outline in ground):
        return {}
    left, right = corners(unit.bases[number])[:2]
    zone = strip(left, right, 4 * BW)
    options = first_in(position, unit, shapes, ground, zone, left, right)
    if not options:
        middle = ((left[0] + right[0]) / 2, (left[1] + right[1]) / 2)
        half_plane = strip(left, right, 4 * BW, wide=6 * BW)
        for quarter in range(-180, 181):
            turned = rotate(zone, quarter / 4, origin=middle).intersection(half_plane)
            options |= first_in(position, unit, shapes, ground, turned, left, right)
    return options


def first_in(position, unit, shapes, ground, zone, left, right):
    """The first unit in a zone, if it is an enemy, and whether it has cover."""
    best = None
    for other in position.units:
        if other is unit:
            continue
        for base in shapes[other.id]:
            if zone.intersects(base):
                part = zone.intersection(base)
                range_mm = min(ahead(left, right, p) for p in shapely.get_coordinates(part))
                if part.area > SLIVER_MM and (best is None or range_mm < best[0]):
                    best = range_mm, other, part
    if best is None or best[1].side == unit.side:
        return {}
    screens = [outline for kind, outline in ground if kind in COVER and outline.intersects(zone)]
    for screen in screens:
        first = min(ahead(left, right, p) for p in shapely.get_coordinates(screen & zone))
        if best[0] > first + BW:
            return {}
    return {best[1].id: is_covered(left, right, best[2], screens)}


def is_covered(left, right, part, screens):
    starts = (left, right, ((left[0] + right[0]) / 2, (left[1] + right[1]) / 2))
    ends = [*part.exterior.coords][:3]
    return bool(screens) and all(
        any(LineString([start, end]).intersects(screen) for screen in screens)
        for start in starts
        for end in ends
    )


def charge(position, unit, shapes):
    """The first enemy in each lane, wheel by wheel, unless the wheel itself meets a unit."""
    left, right = front(unit)
    whole = shapely.unary_union(shapes[unit.id])
    others = [
        (other, base) for other in position.units if other is not unit for base in shapes[other.id]
    ]
    width = math.dist(left, right)
    allowance = (8 if unit.arm == "cavalry" else 4) * BW
    targets = set()
    for pivot, way in ((left, 1), (right, -1)):
        for arc in range(int(BW) + 1):
            turn = way * math.degrees(arc / width)
            turned = rotate(whole, turn, origin=pivot)
            if arc and any(turned.intersects(base) for _, base in others):
                break
            edge = rotate(LineString([left, right]), turn, origin=pivot)
            lane = strip(*edge.coords, allowance - arc)
            met = [
                (min(ahead(*edge.coords, p) for p in shapely.get_coordinates(lane & base)), other)
                for other, base in others
                if lane.intersects(base) and (lane & base).area > SLIVER_MM
            ]
            if met:
                first = min(met, key=lambda each: each[0])[1]
                if first.side != unit.side:
                    targets.add(first.id)
    return targets


def engaged(position, unit, shapes):
    left, right = front(unit)
    edge, reach = LineString([left, right]), strip(left, right, BW)
    enemies = [other for other in position.units if other.side != unit.side]
    touching = [
        enemy.id for enemy in enemies if any(edge.distance(b) <= 1 for b in shapes[enemy.id])
    ]
    if not touching:
        return []
    within = [enemy.id for enemy in enemies if any(deep(b, reach) for b in shapes[enemy.id])]
    return [*touching, *within]


def strings(position, active, shapes):
    """The lengths of the strings from a side's first commander to each of its units, if any."""
    leader = next(commander for commander in position.commanders if commander.side == active)
    centre = Point(leader.x_mm, leader.y_mm)
    rings = unary_union(
        [
            base.buffer(BW, join_style="mitre")
            for unit in position.units
            if unit.side != active
            for base in shapes[unit.id]
        ]
    )
    inner = prep(rings.buffer(-1e-6))
    corners = [Point(place) for place in shapely.get_coordinates(rings)]
    places = [centre, *corners]
    seen: dict[int, list[tuple[int, float]]] = {index: [] for index in range(len(places))}
    for a, b in combinations(range(len(places)), 2):
        line = LineString([places[a], places[b]])
        if not inner.intersects(line):
            seen[a].append((b, line.length))
            seen[b].append((a, line.length))
    far = dijkstra(seen)
    found = {}
    for unit in position.units:
        open_to = unary_union(shapes[unit.id]).difference(rings)
        if unit.side != active or open_to.is_empty:
            continue
        ways = [
            far[index] + line.length
            for index, place in enumerate(places)
            if index in far and not inner.intersects(line := shortest_line(place, open_to))
        ]
        if ways:
            found[unit.id] = max(0.0, min(ways) - BW / 2)
    return found


def dijkstra(seen):
    far, queue = {}, [(0.0, 0)]
    while queue:
        so_far, place = heapq.heappop(queue)
        if place not in far:
            far[place] = so_far
            for other, length in seen[place]:
                heapq.heappush(queue, (so_far + length, other))
    return far


def deep(shape: Polygon, area: Polygon) -> bool:
    return shape.intersects(area) and shape.intersection(area).buffer(-SLIVER_MM / 2).area > 0


def rectangle(base: BasePose) -> Polygon:
    return Polygon(corners(base))


def corners(base: BasePose) -> list[tuple[float, float]]:
    cos, sin = math.cos(math.radians(base.heading_deg)), math.sin(math.radians(base.heading_deg))
    ahead_mm, right_mm = base.depth_mm / 2, base.width_mm / 2
    places = [(1, -1), (1, 1), (-1, 1), (-1, -1)]
    return [
        (
            base.x_mm + a * ahead_mm * cos + r * right_mm * sin,
            base.y_mm + a * ahead_mm * sin - r * right_mm * cos,
        )
        for a, r in places
    ]


def front(unit: Unit) -> tuple[tuple[float, float], tuple[float, float]]:
    """The front edge; bases are listed from the left, the front rank first."""
    rank = unit.bases[: 2 if unit.formation == "massed" else 4]
    return corners(rank[0])[0], corners(rank[-1])[1]


def ahead(left, right, point) -> float:
    """How far a point lies ahead of the line from left to right."""
    x, y = right[0] - left[0], right[1] - left[1]
    return (x * (point[1] - left[1]) - y * (point[0] - left[0])) / math.hypot(x, y)


def strip(left, right, length_mm: float, wide: float = 0.0) -> Polygon:
    """The strip straight ahead of an edge, between its ends or `wide` beyond them."""
    x, y = right[0] - left[0], right[1] - left[1]
    size = math.hypot(x, y)
    x, y = x / size, y / size
    left = (left[0] - x * wide, left[1] - y * wide)
    right = (right[0] + x * wide, right[1] + y * wide)
    far_x, far_y = -y * length_mm, x * length_mm
    return Polygon(
        [left, right, (right[0] + far_x, right[1] + far_y), (left[0] + far_x, left[1] + far_y)]
    )
