"""What does not change on a table while a game is played, as pages draw it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any

from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.table.model import Position, Terrain
from tablecam.table.roster import Roster
from tablecam.table.table_file import roster_from

Json = dict[str, Any]


def roster_facts(roster: Roster) -> Json:
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
        "terrain": _terrain_json(roster.terrain),
        "units": [
            {
                "id": unit.id,
                "side": unit.side,
                "arm": unit.arm,
                "tags": list(unit.tags),
                "base_width_mm": unit.base_type.width_mm,
                "base_depth_mm": unit.base_type.depth_mm,
                "extra": dict(unit.extra),
            }
            for unit in roster.units
        ],
        "commanders": [
            {"id": each.id, "side": each.side, "tag": each.tag} for each in roster.commanders
        ],
    }


def position_facts(position: Position) -> Json:
    """The same of a table of which there is a position alone."""
    table = position.table
    sides = [unit.side for unit in position.units] + [each.side for each in position.commanders]
    return {
        "game": position.game,
        "width_mm": table.width_mm,
        "depth_mm": table.depth_mm,
        "base_width_mm": table.base_width_mm,
        "tolerance_mm": table.tolerance_mm,
        "sides": list(dict.fromkeys(sides)),
        "terrain": _terrain_json(position.terrain),
        "units": [
            {
                "id": unit.id,
                "side": unit.side,
                "arm": unit.arm,
                "tags": [base.tag for base in unit.bases if base.tag is not None],
                "base_width_mm": unit.bases[0].width_mm,
                "base_depth_mm": unit.bases[0].depth_mm,
                "extra": dict(unit.extra),
            }
            for unit in position.units
            if unit.bases
        ],
        "commanders": [
            {"id": each.id, "side": each.side, "tag": each.pose.tag if each.pose else None}
            for each in position.commanders
        ],
    }


def sides_of(roster: Roster) -> list[str]:
    """The sides, in the order in which the table file first names them."""
    named = [unit.side for unit in roster.units] + [each.side for each in roster.commanders]
    return list(dict.fromkeys(named))


def roster_of(table_file: str, source: str) -> Roster | None:
    """What the text of a table file says; None where it cannot be read (any more)."""
    try:
        return roster_from(document_from(tomllib.loads(table_file), source))
    except (tomllib.TOMLDecodeError, BadInput):
        return None


def _terrain_json(pieces: Iterable[Terrain]) -> list[Json]:
    return [
        {"id": each.id, "kind": each.kind, "outline_mm": [list(point) for point in each.outline_mm]}
        for each in pieces
    ]
