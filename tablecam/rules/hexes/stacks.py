"""Stacks of counters, whose tops a camera sees, and explanations of a new view.

A game keeps the order of its stacks. When counters other than its tops are seen, `explain` looks
for the fewest actions that lead from the stacks to what is seen; equally good explanations are all
returned, for players to choose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

from tablecam.errors import BadInput
from tablecam.rules.hexes.counters import is_wide, place_of
from tablecam.rules.hexes.grid import Grid, Hex, grid_of
from tablecam.table.model import BasePose, Point, Position, Unit
from tablecam.wording import quoted

Stack = tuple[str, ...]
"""The counters of one side in a hex, the top one first."""
Stacks = Mapping[Hex, Stack]

_NOTHING: Final[Mapping[Hex, Hex]] = MappingProxyType({})

MOST_ACTIONS: Final = 3
MOST_TRIED: Final = 20_000
"""Rearrangements to try before giving up."""


@dataclass(frozen=True, slots=True)
class Change:
    """An action with counters: they move to a hex, join a stack there, leave one, or are reordered.

    `units` are in order, the top one first; for a change of order, the whole new stack.
    """

    kind: Literal["move", "join", "leave", "reorder"]
    units: Stack
    hex: Hex


Explanation = tuple[Change, ...]


def explain(
    stacks: Stacks,
    seen: Mapping[str, Hex],
    grid: Grid,
    *,
    revealed: Iterable[str] = (),
    covers: Mapping[Hex, Hex] = _NOTHING,
) -> tuple[Explanation, ...]:
    """Returns the fewest actions of one side that explain the counters seen.

    Several explanations are equally good; an empty one says that the stacks are as they were. None
    explains a counter that is neither seen nor may have been pushed under another one in a
    neighbouring hex. `revealed` are counters that just came to light: one seen with the top of its
    stack may, or may not, have been laid untidily on top. `covers` maps the other hexes that a
    stack covers to its own.
    """
    seen = {unit: covers.get(number, number) for unit, number in seen.items()}
    explanations = _fewest(stacks, seen, grid, covers)
    put_on_top = [
        Change("reorder", (unit, *(other for other in stack if other != unit)), number)
        for number, stack in stacks.items()
        for unit in revealed
        if unit in stack[1:] and seen.get(unit) == number == seen.get(stack[0])
    ]
    return (*explanations, *((change,) for change in put_on_top if explanations == ((),)))


def _fewest(
    stacks: Stacks, seen: Mapping[str, Hex], grid: Grid, covers: Mapping[Hex, Hex]
) -> tuple[Explanation, ...]:
    start = {number: stack for number, stack in stacks.items() if stack}
    arrangements: list[tuple[Explanation, dict[Hex, Stack]]] = [((), start)]
    tried = 0
    for _ in range(MOST_ACTIONS + 1):
        matching = [changes for changes, now in arrangements if not _mismatched(now, seen)]
        if matching:
            return tuple(dict.fromkeys(matching))
        further: dict[object, tuple[Explanation, dict[Hex, Stack]]] = {}
        for changes, now in arrangements:
            for change, after in _changes(now, seen, grid, covers):
                # A counter moves once: a longer path is one action.
                if not any(set(change.units) & set(old.units) for old in changes):
                    tried += 1
                    # The same changes with the same result in another order are nothing new.
                    key = frozenset((*changes, change)), tuple(sorted(after.items()))
                    further.setdefault(key, ((*changes, change), after))
        if tried > MOST_TRIED:
            return ()
        arrangements = list(further.values())
    return ()


def _visible(seen: Mapping[str, Hex]) -> dict[Hex, set[str]]:
    visible: dict[Hex, set[str]] = {}
    for unit, number in seen.items():
        visible.setdefault(number, set()).add(unit)
    return visible


def _mismatched(stacks: Stacks, seen: Mapping[str, Hex]) -> set[Hex]:
    """Returns the hexes where the stack's top is not seen, or counters outside the stack are.

    Counters of a stack laid beside each other for a moment may all be seen.
    """
    visible = _visible(seen)
    return {
        number
        for number in {*stacks, *visible}
        if not (
            (stack := stacks.get(number, ()))
            and stack[0] in visible.get(number, ())
            and visible[number] <= set(stack)
        )
    }


def _changes(
    stacks: dict[Hex, Stack], seen: Mapping[str, Hex], grid: Grid, covers: Mapping[Hex, Hex]
) -> Iterator[tuple[Change, dict[Hex, Stack]]]:
    """Yields the actions in hexes that differ from what is seen, and the stacks after each."""
    mismatched = _mismatched(stacks, seen)
    visible = _visible(seen)
    for number in sorted(stacks):
        stack = stacks[number]
        elsewhere = [unit for unit in stack if seen.get(unit, number) != number]
        # Under a visible top, a counter stays hidden where it was.
        movers: list[Stack] = [(unit,) for unit in (stack if number in mismatched else elsewhere)]
        if len(stack) > 1 and number in mismatched:
            movers.append(stack)
            for unit in stack[1:]:
                if unit in visible.get(number, ()):
                    order = (unit, *(other for other in stack if other != unit))
                    change = Change("reorder", order, number)
                    yield change, applied(stacks, change)
        for units in movers:
            for target in _targets(stacks, seen, grid, covers, number, units):
                at = covers.get(target, target)
                change = Change("leave" if units != stack else "move", units, target)
                if stacks.get(at):
                    change = replace(change, kind="join")
                yield change, applied(stacks, replace(change, hex=at))


def _targets(
    stacks: Stacks, seen: Mapping[str, Hex], grid: Grid, covers: Mapping[Hex, Hex], start: Hex,
    units: Stack,
) -> Iterator[Hex]:  # fmt: skip
    """Yields where counters may have gone: where one is seen, or under a neighbouring stack."""
    places = {seen[unit] for unit in units if unit in seen}
    if places:
        if len(places) == 1 and start not in places:
            yield places.pop()
        return
    for number in sorted(grid.neighbours(start)):
        at = covers.get(number, number)
        if at != start and stacks.get(at):
            yield number


def applied(stacks: Stacks, change: Change) -> dict[Hex, Stack]:
    """Returns the stacks after a change; counters that join a stack go to the bottom."""
    left = {at: tuple(u for u in stack if u not in change.units) for at, stack in stacks.items()}
    after = left | {change.hex: (*left.get(change.hex, ()), *change.units)}
    return {at: stack for at, stack in after.items() if stack}


Box = tuple[float, float, float, float]
"""A box beside a map: its left, bottom, right and top sides, in table millimetres."""


def box_of(unit: Unit) -> Box | None:
    """Returns the box that a marker stands for, from its key `box_mm`; None for a counter.

    Raises:
        BadInput: The key is not a box.
    """
    if "box_mm" not in unit.extra:
        return None
    sides = unit.extra["box_mm"]
    is_box = isinstance(sides, list | tuple) and len(sides) == 4
    if not is_box or not all(isinstance(side, int | float) for side in sides):
        why = f"expected [left, low, right, high] in mm, got {quoted(sides)}"
        raise BadInput("table", why, key="box_mm")
    left, low, right, high = map(float, sides)
    if left >= right or low >= high:
        why = "expected left below right and low below high"
        raise BadInput("table", f"{why}, got {quoted(sides)}", key="box_mm")
    return left, low, right, high


def out_of_boxes(position: Position) -> Position:
    """Returns a table with the counters of each box moved to the box's marker on the map.

    They lie as the marker does; one on two hexes in both, those with it in its left hex. Their key
    `in_box` names the marker: the order of a stack in a box is not seen.
    """
    if position.table.hex_map is None:
        return position
    grid = grid_of(position.table.hex_map)
    places: dict[str, tuple[BasePose, str]] = {}
    for marker in position.units:
        box = box_of(marker)
        if box is None or not marker.bases or not place_of(grid, marker.bases[0]).hexes:
            continue
        poses = dict(_in_box(position, marker.side, box))
        lies = marker.bases[0]
        put = {
            name: replace(
                pose, x_mm=lies.x_mm, y_mm=lies.y_mm, heading_deg=lies.heading_deg,
                sigma_mm=lies.sigma_mm, sigma_deg=lies.sigma_deg,
            )
            for name, pose in poses.items()
        }  # fmt: skip
        wide = next((pose for pose in put.values() if is_wide(pose)), None)
        if wide is not None and (hexes := place_of(grid, wide).hexes):
            x_mm, y_mm = grid.middle_mm(hexes[:1])
            put = {
                name: pose if is_wide(pose) else replace(pose, x_mm=x_mm, y_mm=y_mm)
                for name, pose in put.items()
            }
        places |= {name: (pose, marker.id) for name, pose in put.items()}
    if not places:
        return position
    units = []
    for unit in position.units:
        if unit.id in places:
            pose, name = places[unit.id]
            unit = replace(unit, bases=(pose,), extra={**unit.extra, "in_box": name})
        units.append(unit)
    commanders = []
    for leader in position.commanders:
        if leader.id in places:
            pose, _ = places[leader.id]
            leader = replace(leader, x_mm=pose.x_mm, y_mm=pose.y_mm, pose=pose)
        commanders.append(leader)
    return replace(position, units=tuple(units), commanders=tuple(commanders))


def _in_box(position: Position, side: str, box: Box) -> Iterator[tuple[str, BasePose]]:
    """Yields the counters of a side that lie in a box, leaders among them."""
    left, low, right, high = box
    poses = [
        (unit.id, unit.side, unit.bases[0])
        for unit in position.units
        if unit.bases and box_of(unit) is None
    ]
    leaders = ((leader.id, leader.side, leader.pose) for leader in position.commanders)
    for name, whose, pose in (*poses, *leaders):
        if pose and whose == side and left <= pose.x_mm <= right and low <= pose.y_mm <= high:
            yield name, pose


def box_corners_mm(box: Box) -> tuple[Point, ...]:
    """Returns the corners of a box."""
    left, low, right, high = box
    return (left, low), (right, low), (right, high), (left, high)


def seen_counters(position: Position) -> dict[str, Hex]:
    """Returns the hex of each counter seen on a table's map, the left one of two.

    Counters in a box beside the map count as seen in the hex of its marker.
    """
    if position.table.hex_map is None:
        return {}
    grid = grid_of(position.table.hex_map)
    seen: dict[str, Hex] = {}
    for unit in out_of_boxes(position).units:
        base = next((base for base in unit.bases if base.seen != "held"), None)
        hexes = () if base is None or box_of(unit) else place_of(grid, base).hexes
        if hexes:
            seen[unit.id] = hexes[0]
    return seen
