"""Questions about counters on a hex map, which each game on hexes answers by its own rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field as Limits

from tablecam.documents import Json, document_from
from tablecam.rules.hexes.counters import place_of
from tablecam.rules.hexes.files import Ground, HexNumber, Pair
from tablecam.rules.hexes.grid import Grid, Hex, grid_of
from tablecam.rules.hexes.stacks import Stack, applied, explain
from tablecam.rules.hexes.zones import ZONES, zones_of
from tablecam.rules.questions import FactError, Facts, NestedFacts
from tablecam.table.model import BasePose, HexMap
from tablecam.table.sections import MapSection, NotNegative, Positive, StrictModel

HexName = Annotated[str, Limits(pattern=r"^\d{4}$")]


class CounterFacts(NestedFacts):
    """A counter as it lies on the table."""

    id: str = ""
    tag: int | None = None
    x_mm: float
    y_mm: float
    heading_deg: float
    width_mm: Positive = 15.0
    depth_mm: Positive = 15.0
    sigma_mm: NotNegative = 0.0
    sigma_deg: NotNegative = 0.0

    def base(self) -> BasePose:
        """Returns its pose."""
        return BasePose(**{key: value for key, value in vars(self).items() if key != "id"})


class TaggedUnit(NestedFacts):
    """A unit with its tag."""

    id: str
    side: str
    tag: int


def map_of(document: Mapping[str, Any]) -> HexMap:
    """Returns the map of a question."""
    keys = {key: value for key, value in document.items() if key in MapSection.model_fields}
    return document_from(keys, "map").parsed(MapSection).to_map()


class _Drawn(StrictModel):
    """The contents of a question's map besides its hexes."""

    terrain: dict[str, list[HexNumber]] = Limits(default_factory=dict)
    hexsides: dict[str, list[Pair]] = Limits(default_factory=dict)


def ground_in(document: Mapping[str, Any]) -> Ground:
    """Returns the ground of a question's map: `terrain` and `hexsides` by their kind.

    Raises:
        BadInput: One of them is not a list of hexes.
        FactError: It names a hex off the map.
    """
    grid = grid_of(map_of(document))
    keys = {key: value for key, value in document.items() if key in _Drawn.model_fields}
    drawn = document_from(keys, "map").parsed(_Drawn)
    terrain = {number: kind for kind, hexes in drawn.terrain.items() for number in hexes}
    sides = {frozenset(pair): kind for kind, pairs in drawn.hexsides.items() for pair in pairs}
    for number in (*terrain, *(number for pair in sides for number in sorted(pair))):
        on_map(grid, number, "map")
    return Ground(grid, "clear", terrain, sides)


def on_map(grid: Grid, number: Hex, key: str = "hex", owner: object = None) -> Hex:
    """Returns a hex of the map.

    Raises:
        FactError: It is off the map.
    """
    if number not in grid:
        raise FactError(key, f"expected a hex of the map, got {number}", owner)
    return number


def places(
    facts: Facts, map: Mapping[str, Any], counters: tuple[CounterFacts, ...], *, has_facing: bool
) -> Json:
    """Returns in which hexes counters lie, and how they face if their game says so."""
    grid = grid_of(map_of(map))
    places: Json = {}
    because = []
    for counter in counters:
        base, tolerance_mm = counter.base(), facts.tolerance_mm
        there = place_of(grid, base, has_facing=has_facing, tolerance_mm=tolerance_mm)
        is_clear = there.facing == "clear"
        zones: Json = {}
        if there.hexes and is_clear:
            around = zones_of(grid, there.hexes, there.facing_deg)
            zones = {name: grid.on_map(around.of(name)) for name in ZONES}
        because += [there.warning] if there.warning else []
        places[counter.id] = {
            "hex": there.hexes[0] if len(there.hexes) == 1 else None,
            "hexes": there.hexes,
            "hex_answer": there.answer,
            "margin_mm": round(there.margin_mm, 4),
            "facing_deg": there.facing_deg if is_clear else None,
            "facing": there.facing,
            **zones,
        }
    return {"counters": places, "because": because}


def neighbours(map: Mapping[str, Any], hex: HexName) -> Json:
    """The hexes next to a hex on the map."""
    grid = grid_of(map_of(map))
    return {"hexes": grid.neighbours(on_map(grid, hex))}


def stacks_seen(
    map: Mapping[str, Any],
    units: tuple[TaggedUnit, ...],
    positions: tuple[tuple[CounterFacts, ...], ...],
) -> Json:
    """What stacks follow from the counters that are seen one time after the other."""
    grid = grid_of(map_of(map))
    by_tag = {unit.tag: unit for unit in units}
    stacks: dict[str, dict[Hex, Stack]] = {unit.side: {} for unit in units}
    after = []
    for position in positions:
        proposed: Json = {"kind": "none", "units": (), "hex": None}
        seen: dict[str, Hex] = {}
        for counter in position:
            hexes = place_of(grid, counter.base()).hexes
            if counter.tag in by_tag and hexes:
                seen[by_tag[counter.tag].id] = hexes[0]
        for side, known in stacks.items():
            own = {u.id: seen[u.id] for u in units if u.side == side and u.id in seen}
            listed = {name for stack in known.values() for name in stack}
            for name in (name for name in seen if name in own and name not in listed):
                known[own[name]] = (*known.get(own[name], ()), name)
            for change in next(iter(explain(known, own, grid)), ()):
                known = applied(known, change)
                if proposed["kind"] == "none":
                    proposed = asdict(change)
            stacks[side] = known
        together: dict[Hex, Stack] = {}
        for number, stack in (pair for known in stacks.values() for pair in known.items()):
            together[number] = (*stack, *together.get(number, ()))
        held = [name for stack in together.values() for name in stack if name not in seen]
        after.append({"stacks": together, "held": held, "proposed": proposed})
    return {"after": after}
