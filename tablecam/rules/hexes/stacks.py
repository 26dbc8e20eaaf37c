"""Stacks of counters, whose top a camera sees, and what explains a new sight.

A game keeps the order of its stacks. When other counters come to light than its tops, `explain`
looks for the fewest actions that lead from the stacks to what is seen; two explanations that are
equally good are both returned, for players to choose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from tablecam.rules.hexes.counters import place_of
from tablecam.rules.hexes.grid import Grid, Hex, grid_of
from tablecam.table.model import Position

Stack = tuple[str, ...]
"""The counters of one side in a hex, the top one first."""
Stacks = Mapping[Hex, Stack]

MOST_ACTIONS: Final = 3
MOST_TRIED: Final = 20_000
"""Rearrangements that are tried before nothing explains what is seen."""


@dataclass(frozen=True, slots=True)
class Change:
    """An action with counters: they move to a hex, join a stack there, leave one, or change order.

    `units` are in their order, the top one first; after a change of order all of the stack.
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
    reach: int = 1,
    revealed: Iterable[str] = (),
) -> tuple[Explanation, ...]:
    """Returns the fewest actions of one side that lead to the counters that are seen.

    Several explanations are equally good; an empty one says that the stacks are as they were. None
    explains a counter that is neither seen nor may have been pushed under another one within
    `reach` hexes. `revealed` are counters that have just come to light: one that is seen together
    with the top of its stack may have been put on it, untidily, or not.
    """
    explanations = _fewest(stacks, seen, grid, reach)
    put_on_top = [
        Change("reorder", (unit, *(other for other in stack if other != unit)), number)
        for number, stack in stacks.items()
        for unit in revealed
        if unit in stack[1:] and seen.get(unit) == number == seen.get(stack[0])
    ]
    return (*explanations, *((change,) for change in put_on_top if explanations == ((),)))


def _fewest(
    stacks: Stacks, seen: Mapping[str, Hex], grid: Grid, reach: int
) -> tuple[Explanation, ...]:
    start = {number: stack for number, stack in stacks.items() if stack}
    arrangements: list[tuple[Explanation, dict[Hex, Stack]]] = [((), start)]
    tried = 0
    for _ in range(MOST_ACTIONS + 1):
        matching = [changes for changes, now in arrangements if _is_seen(now, seen)]
        if matching:
            return tuple(dict.fromkeys(matching))
        further = []
        for changes, now in arrangements:
            for change, after in _changes(now, seen, grid, reach):
                # A counter moves once: a longer way is one action.
                if not any(set(change.units) & set(old.units) for old in changes):
                    further.append(((*changes, change), after))
        tried += len(further)
        if tried > MOST_TRIED:
            return ()
        arrangements = _in_one_order(further)
    return ()


def _in_one_order(
    arrangements: Iterable[tuple[Explanation, dict[Hex, Stack]]],
) -> list[tuple[Explanation, dict[Hex, Stack]]]:
    """Drops explanations that make the same changes in another order, with the same result."""
    known: dict[object, tuple[Explanation, dict[Hex, Stack]]] = {}
    for changes, now in arrangements:
        key = frozenset(changes), tuple(sorted(now.items()))
        known.setdefault(key, (changes, now))
    return list(known.values())


def _visible(seen: Mapping[str, Hex]) -> dict[Hex, set[str]]:
    visible: dict[Hex, set[str]] = {}
    for unit, number in seen.items():
        visible.setdefault(number, set()).add(unit)
    return visible


def _unlike(stacks: Stacks, seen: Mapping[str, Hex]) -> set[Hex]:
    """Returns the hexes in which other counters are seen than the stack's top, and what it hides.

    Counters that were laid beside each other for a moment are all seen.
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


def _is_seen(stacks: Stacks, seen: Mapping[str, Hex]) -> bool:
    return not _unlike(stacks, seen)


def _changes(
    stacks: dict[Hex, Stack], seen: Mapping[str, Hex], grid: Grid, reach: int
) -> Iterator[tuple[Change, dict[Hex, Stack]]]:
    """Yields the actions in the hexes that are not as they are seen, and the stacks after each."""
    unlike = _unlike(stacks, seen)
    visible = _visible(seen)
    for number in sorted(stacks):
        stack = stacks[number]
        elsewhere = [unit for unit in stack if seen.get(unit, number) != number]
        # Under a top that is seen, a counter is hidden where it was.
        movers: list[Stack] = [(unit,) for unit in (stack if number in unlike else elsewhere)]
        if len(stack) > 1 and number in unlike:
            movers.append(stack)
            for unit in stack[1:]:
                if unit in visible.get(number, ()):
                    order = (unit, *(other for other in stack if other != unit))
                    yield Change("reorder", order, number), stacks | {number: order}
        for units in movers:
            for target in _targets(stacks, seen, grid, reach, number, units):
                left = tuple(unit for unit in stack if unit not in units)
                there = stacks.get(target, ())
                kind: Literal["join", "leave", "move"]
                kind = "join" if there else "leave" if left else "move"
                after = stacks | {number: left, target: there + units}
                yield Change(kind, units, target), {at: some for at, some in after.items() if some}


def _targets(
    stacks: Stacks, seen: Mapping[str, Hex], grid: Grid, reach: int, start: Hex, units: Stack
) -> Iterator[Hex]:
    """Yields where counters may have gone: to where one is seen, or under a stack nearby."""
    places = {seen[unit] for unit in units if unit in seen}
    if places:
        if len(places) == 1 and start not in places:
            yield places.pop()
        return
    near = grid.reached((start,), reach, lambda number: True)
    yield from (number for number in sorted(near) if number != start and stacks.get(number))


def spread(stacks: Stacks, number: Hex, shown: Iterable[str]) -> dict[Hex, Stack]:
    """Returns the stacks after the counters of a hex were laid beside each other for a moment.

    They are its content: those that the stack had keep their order, others follow, and are taken
    from where they were.
    """
    there = tuple(dict.fromkeys(shown))
    known = tuple(unit for unit in stacks.get(number, ()) if unit in there)
    new = tuple(unit for unit in there if unit not in known)
    others = {
        at: tuple(unit for unit in stack if unit not in there)
        for at, stack in stacks.items()
        if at != number
    }
    return {at: stack for at, stack in {**others, number: known + new}.items() if stack}


def seen_counters(position: Position) -> dict[str, Hex]:
    """Returns the hex of each counter that is seen on a table's map, the left one of two.

    A unit with the key `box_mm` (left, low, right and high) is a marker on the map that stands for
    the counters in that box beside it: they count as seen in the marker's hex.
    """
    if position.table.hex_map is None:
        return {}
    grid = grid_of(position.table.hex_map)
    seen: dict[str, Hex] = {}
    boxes: list[tuple[Hex, tuple[float, ...]]] = []
    for unit in position.units:
        visible = [base for base in unit.bases if base.seen != "held"]
        places = [place_of(grid, base).hexes for base in islice(visible, 1)]
        if not places or not places[0]:
            continue
        if "box_mm" in unit.extra:
            boxes.append((places[0][0], tuple(unit.extra["box_mm"])))
        else:
            seen[unit.id] = places[0][0]
    for number, (left, low, right, high) in boxes:
        for unit in position.units:
            for base in unit.bases:
                if left <= base.x_mm <= right and low <= base.y_mm <= high:
                    seen[unit.id] = number
    return seen
