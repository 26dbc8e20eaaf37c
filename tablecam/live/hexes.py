"""The hexes and stacks of the counters on a hex map, for the page to show."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from tablecam.documents import Json
from tablecam.geometry.rectangles import Measurable
from tablecam.geometry.shapes import Shape
from tablecam.referee.placing import marker_of
from tablecam.rules.games import described
from tablecam.rules.hexes.counters import place_of
from tablecam.rules.hexes.grid import Grid, grid_of
from tablecam.rules.hexes.stacks import box_corners_mm, box_of, out_of_boxes
from tablecam.rules.hexes.zones import ZONES, Hexes, zones_of
from tablecam.table.model import BasePose, Commander, HexMap, Position, Unit


def hexes_json(
    position: Position,
    listed: HexMap | None = None,
    asked_mm: float | None = None,
    *,
    believed: Position | None = None,
) -> Json:
    """Returns the hexes of each counter by its id, and the hexes with several, top ones first.

    Hidden counters come last, in the hexes where they were last seen or known to be; the game's
    `believed` position counts for one that no camera has seen yet. Also returns the boxes beside
    the map with the hexes of their counters, how far the map has slipped from where the table file
    `listed` it, and the slip that players are asked about.
    """
    hex_map = position.table.hex_map
    if hex_map is None:
        return {}
    grid = grid_of(hex_map)
    unboxed = out_of_boxes(position)
    lying = [*_lying(unboxed, grid)]
    if believed is not None:
        seen = {reference for reference, _, _ in lying}
        tops = {number for _, _, hexes in lying for number in hexes}
        lying += [
            (reference, False, hexes)
            for reference, _, hexes in _lying(believed, grid)
            if reference not in seen and tops & {*hexes}
        ]
    # A marker stands for what lies in its box.
    beneath = {f"unit:{unit.id}" for unit in unboxed.units if "in_box" in unit.extra}
    where = {id: " and ".join(hexes) for id, _, hexes in lying}
    in_hex: dict[str, list[tuple[str, bool]]] = {}
    for id, is_seen, hexes in lying:
        for number in hexes:
            in_hex.setdefault(number, []).append((id, is_seen))
    stacks = [
        {
            "hex": number,
            "things": [
                id
                for id, _ in sorted(things, key=lambda thing: (not thing[1], thing[0] in beneath))
            ],
            "hidden": [id for id, is_seen in things if not is_seen],
        }
        for number, things in sorted(in_hex.items())
        if len(things) > 1
    ]
    listed_mm = hex_map.origin_mm if listed is None else listed.origin_mm
    shift_mm = [
        round(now - then, 2) for now, then in zip(hex_map.origin_mm, listed_mm, strict=True)
    ]
    slip = None if asked_mm is None else round(asked_mm, 1)
    boxes = [*_boxes(position, grid)]
    return {
        "where": where, "stacks": stacks, "boxes": boxes, "shift_mm": shift_mm, "slip_mm": slip,
    }  # fmt: skip


def hexes_apart(position: Position, *things: Measurable) -> int | None:
    """Returns the distance in hexes between counters or points on a hex map, as rules count it.

    None without a hex map, or off it.
    """
    hex_map = position.table.hex_map
    if hex_map is None:
        return None
    grid = grid_of(hex_map)
    one, other = (_hexes_of(grid, thing) for thing in things)
    return grid.distance(one, other) if one and other else None


def _hexes_of(grid: Grid, thing: Measurable) -> Hexes:
    """Returns the hexes of a counter, or of a point."""
    if isinstance(thing, tuple):
        return tuple(filter(None, [grid.hex_at(thing)]))
    base = _base_of(thing)
    return () if base is None else place_of(grid, base).hexes


def _base_of(thing: Measurable) -> BasePose | None:
    """Returns the counter of a thing; None for a bare point or a unit without bases."""
    if isinstance(thing, Unit):
        return thing.bases[0] if thing.bases else None
    if isinstance(thing, Commander):
        return marker_of(thing, 1.0)
    return thing if isinstance(thing, BasePose) else None


def _boxes(position: Position, grid: Grid) -> Iterator[Json]:
    """Yields each box with its corners, and the hexes of its marker; none while that is away."""
    for marker in position.units:
        if box := box_of(marker):
            hexes = place_of(grid, marker.bases[0]).hexes if marker.bases else ()
            corners_mm = [list(corner) for corner in box_corners_mm(box)]
            yield {"id": marker.id, "hexes": " and ".join(hexes), "corners_mm": corners_mm}


def _lying(position: Position, grid: Grid) -> Iterator[tuple[str, bool, tuple[str, ...]]]:
    """Yields each counter on the map: its reference, whether it is seen, and its hexes."""
    poses: list[tuple[str, BasePose]] = [
        (f"unit:{unit.id}", base) for unit in position.units for base in unit.bases[:1]
    ]
    poses += [(f"commander:{leader.id}", marker_of(leader, 1.0)) for leader in position.commanders]
    for reference, base in poses:
        hexes = place_of(grid, base).hexes
        if hexes:
            yield reference, base.seen != "held", hexes


def counter_shapes(position: Position, what: object) -> tuple[Shape, ...]:
    """Returns the hexes of a counter on a hex map; if it has a facing, also those around it."""
    hex_map = position.table.hex_map
    base = what.bases[0] if isinstance(what, Unit) and what.bases else what
    if isinstance(what, Commander):
        base = what.pose
    if hex_map is None or not isinstance(base, BasePose):
        return ()
    grid = grid_of(hex_map)
    has_facing = described(position.game).counters_face and not isinstance(what, Commander)
    place = place_of(grid, base, has_facing=has_facing)
    if not place.hexes:
        return ()
    own = grid.outlines(place.hexes, "hex-own")
    if place.facing == "none":
        return own
    zones = zones_of(grid, place.hexes, place.facing_deg)
    around = (grid.outlines(grid.on_map(zones.of(name)), f"hex-{name}") for name in ZONES)
    return (*chain.from_iterable(around), *own)
