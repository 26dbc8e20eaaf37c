"""A hundred bases for simulated tables, and where they lie: lines, columns, massed, loose."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from tablecam.simulate.overlap import do_overlap
from tablecam.simulate.rendering.places import (
    Place,
    Places,
    ScriptFormation,
    corners_mm,
    formed,
    unit_corners_mm,
)
from tablecam.table.model import Arm, TableSize, Terrain
from tablecam.table.roster import BaseType, CommanderEntry, Roster, TableTag, UnitEntry

TABLE = TableSize(1800, 1200, 40)
TABLE_TAG_SIZE_MM = 60.0
TABLE_TAGS = tuple(
    TableTag(100 + number, x_mm, y_mm)
    for number, (x_mm, y_mm) in enumerate([(60, 60), (1740, 60), (1740, 1140), (60, 1140)])
)
"""The bases have ids 0 to 99: the part of the dictionary that Locus knows."""

_INFANTRY, _CAVALRY, _GUNS, _COMMANDERS = 19, 4, 5, 3
_BASES_A_UNIT = 4
_FIGURES_MM, _BEHIND_MM = 17.0, 0.5
"""Depth of the space for figures in front of a tag's rim, as on the footage's bases whatever the
tag's size, and of the base left behind the tag."""
_EDGE_MM = 30.0
"""Least distance of bases from the table's edge."""
_LOOSE_MM, _LOOSE_DEG = 4.0, 6.0
_FLUSH_MM, _FLUSH_DEG = 0.15, 0.25
"""Gap error of bases that hands have pushed flush (one standard deviation)."""
_FORMATIONS: tuple[ScriptFormation, ...] = ("line", "line", "column", "massed")

TERRAIN = (
    Terrain("hill", "hill", ((1250, 250), (1400, 210), (1500, 300), (1430, 420), (1280, 400))),
    Terrain("wood", "woods", ((260, 880), (390, 850), (450, 960), (340, 1040), (240, 990))),
    Terrain("grove", "woods", ((1560, 700), (1660, 690), (1680, 820), (1570, 850))),
    Terrain("field", "field", ((1180, 820), (1400, 780), (1450, 960), (1230, 1010))),
    Terrain("road", "road", ((0, 520), (900, 480), (1800, 600), (1800, 642), (900, 522), (0, 562))),
    Terrain(
        "stream", "stream", ((640, 0), (600, 600), (680, 1200), (725, 1200), (645, 600), (690, 0))
    ),
    Terrain("village", "village", ((880, 560), (1060, 550), (1070, 680), (890, 690))),
    Terrain("wall", "wall", ((420, 300), (640, 340), (638, 350), (418, 310))),
)


def army(cell_mm: float, *, dictionary: str = "DICT_4X4_250", tag_cells: int = 6) -> Roster:
    """A hundred bases with tags of `cell_mm` cells; guns and commanders have tags a tenth larger.

    Tags lie at the rear of their bases, with room for their white rims.
    """
    tag_mm = cell_mm * tag_cells
    foot = _base_type("foot", 40, tag_mm, cell_mm, 3.0)
    horse = _base_type("horse", 40, tag_mm, cell_mm, 3.0, aside=True)
    gun = _base_type("gun", 60, 1.1 * tag_mm, 1.1 * cell_mm, 2.0)
    staff = _base_type("staff", 40, 1.1 * tag_mm, 1.1 * cell_mm, 2.0)
    ids = iter(range(100))
    units = [
        *_units("I", "infantry", foot, _INFANTRY, _BASES_A_UNIT, ids),
        *_units("C", "cavalry", horse, _CAVALRY, _BASES_A_UNIT, ids),
        *_units("A", "artillery", gun, _GUNS, 1, ids),
    ]
    commanders = tuple(
        CommanderEntry(f"general-{number}", _side(number), staff, next(ids))
        for number in range(_COMMANDERS)
    )
    return Roster(
        game="maurice-lite",
        table=TABLE,
        dictionary=dictionary,
        table_tag_size_mm=TABLE_TAG_SIZE_MM,
        table_tags=TABLE_TAGS,
        base_types=(foot, horse, gun, staff),
        units=tuple(units),
        commanders=commanders,
        terrain=TERRAIN,
    )


def deployed(
    roster: Roster, rng: np.random.Generator, *, facing_deg: float | None = None
) -> Mapping[int, Place]:
    """Where an army lies: units anywhere on the table, none upon another.

    They have any heading, or half of them a heading near `facing_deg`.
    """
    taken = [
        corners_mm(Place(tag.x_mm, tag.y_mm, 0), TABLE_TAG_SIZE_MM + 30, TABLE_TAG_SIZE_MM + 30)
        for tag in roster.table_tags
    ]
    found: dict[int, Place] = {}
    groups = [(unit.tags, unit.base_type) for unit in roster.units]
    groups += [((leader.tag,), leader.base_type) for leader in roster.commanders]
    for tags, base_type in groups:
        places = _free_places(len(tags), base_type, np.array(taken), rng, facing_deg)
        taken += list(unit_corners_mm(places, base_type))
        found.update(zip(tags, places, strict=True))
    return found


def _base_type(
    name: str,
    width_mm: float,
    tag_mm: float,
    rim_mm: float,
    height_mm: float,
    *,
    aside: bool = False,
) -> BaseType:
    depth_mm = tag_mm + 2 * rim_mm + _FIGURES_MM + _BEHIND_MM
    width_mm = max(width_mm, tag_mm + 2 * rim_mm + 1)
    to_rear_mm = depth_mm / 2 - tag_mm / 2 - rim_mm - _BEHIND_MM
    room_mm = width_mm / 2 - tag_mm / 2 - rim_mm
    return BaseType(
        name,
        width_mm,
        depth_mm,
        round(tag_mm, 2),
        tag_right_mm=round(min(4.0, room_mm), 2) if aside else 0.0,
        tag_forward_mm=-round(to_rear_mm, 2),
        tag_height_mm=height_mm,
    )


def _units(
    letter: str, arm: Arm, base_type: BaseType, count: int, bases: int, ids: Iterator[int]
) -> list[UnitEntry]:
    return [
        UnitEntry(
            f"{letter}{number + 1}",
            _side(number),
            arm,
            base_type,
            tuple(next(ids) for _ in range(bases)),
        )
        for number in range(count)
    ]


def _side(number: int) -> str:
    return "french" if number % 2 else "british"


def _free_places(
    count: int,
    base_type: BaseType,
    taken: np.ndarray,
    rng: np.random.Generator,
    facing_deg: float | None,
) -> Places:
    while True:
        middle = Place(
            rng.uniform(0, TABLE.width_mm), rng.uniform(0, TABLE.depth_mm), rng.uniform(0, 360)
        )
        if facing_deg is not None and rng.uniform() < 0.5:
            middle = replace(middle, heading_deg=rng.normal(facing_deg, 20))
        formation = _FORMATIONS[rng.integers(len(_FORMATIONS))] if count > 1 else "single"
        is_loose = rng.uniform() < 0.25
        drawn = formed(middle, formation, count, _apart(base_type) if is_loose else base_type)
        spread = (_LOOSE_MM, _LOOSE_DEG) if is_loose else (_FLUSH_MM, _FLUSH_DEG)
        places = tuple(_jostled(place, *spread, rng) for place in drawn)
        corners = unit_corners_mm(places, base_type)
        if _is_on_table(corners) and not do_overlap(corners, taken):
            return places


def _apart(base_type: BaseType) -> BaseType:
    """A larger base, so that bases in formation lie apart."""
    room_mm = 18.0
    return BaseType(
        base_type.name,
        base_type.width_mm + room_mm,
        base_type.depth_mm + room_mm,
        base_type.tag_size_mm,
    )


def _jostled(place: Place, mm: float, deg: float, rng: np.random.Generator) -> Place:
    return place.offset(rng.normal(0, mm), rng.normal(0, mm), rng.normal(0, deg))


def _is_on_table(corners: np.ndarray) -> bool:
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    return bool(
        math.isfinite(float(low.sum()))
        and (low > _EDGE_MM).all()
        and high[0] < TABLE.width_mm - _EDGE_MM
        and high[1] < TABLE.depth_mm - _EDGE_MM
    )
