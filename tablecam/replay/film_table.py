"""What does not change on a table while a game is played, as pages draw it."""

from __future__ import annotations

import tomllib
from typing import Any

from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.table.model import Position
from tablecam.table.roster import BaseType, CommanderEntry, Roster, UnitEntry
from tablecam.table.sides import side_name
from tablecam.table.table_file import roster_from

Json = dict[str, Any]

_NO_TAG = -1


def table_facts(roster: Roster) -> Json:
    """The table's size, its terrain, its sides and who is expected on it.

    Sides come in the order in which the table file first names them; pages colour them so.
    """
    table = roster.table
    return {
        "game": roster.game,
        "width_mm": table.width_mm,
        "depth_mm": table.depth_mm,
        "base_width_mm": table.base_width_mm,
        "tolerance_mm": table.tolerance_mm,
        "sides": sides_of(roster),
        "side_names": {side: side_name(side) for side in sides_of(roster)},
        "terrain": [
            {"id": each.id, "kind": each.kind, "outline_mm": [list(p) for p in each.outline_mm]}
            for each in roster.terrain
        ],
        "units": [_unit_json(unit) for unit in roster.units],
        "commanders": [
            {"id": each.id, "side": each.side, "tag": each.tag} for each in roster.commanders
        ],
    }


def sides_of(roster: Roster) -> list[str]:
    """The sides, in the order in which the table file first names them."""
    named = [unit.side for unit in roster.units] + [each.side for each in roster.commanders]
    return list(dict.fromkeys(named))


def roster_in(table_file: str, position: Position) -> Roster:
    """What a recording's table file says; where it cannot be read, what a position shows."""
    return roster_of(table_file) or _roster_seen(position)


def roster_of(table_file: str) -> Roster | None:
    """What the text of a table file says; None where it cannot be read (any more)."""
    try:
        return roster_from(document_from(tomllib.loads(table_file), "table file"))
    except (tomllib.TOMLDecodeError, BadInput):
        return None


def _roster_seen(position: Position) -> Roster:
    units = []
    for unit in position.units:
        if unit.bases:
            first = unit.bases[0]
            shape = BaseType(unit.id, first.width_mm, first.depth_mm, min(first.width_mm, 1.0))
            tags = tuple(_NO_TAG if base.tag is None else base.tag for base in unit.bases)
            units.append(UnitEntry(unit.id, unit.side, unit.arm, shape, tags, unit.extra))
    marker = BaseType("commander", 1.0, 1.0, 1.0)
    return Roster(
        game=position.game,
        table=position.table,
        dictionary="",
        table_tag_size_mm=0.0,
        table_tags=(),
        base_types=(),
        units=tuple(units),
        commanders=tuple(
            CommanderEntry(each.id, each.side, marker, _NO_TAG) for each in position.commanders
        ),
        terrain=position.terrain,
    )


def _unit_json(unit: UnitEntry) -> Json:
    return {
        "id": unit.id,
        "side": unit.side,
        "arm": unit.arm,
        "tags": list(unit.tags),
        "base_width_mm": unit.base_type.width_mm,
        "base_depth_mm": unit.base_type.depth_mm,
        "extra": dict(unit.extra),
    }
