"""The facts of a table that stay the same during a game, for pages to draw."""

from __future__ import annotations

import tomllib

from tablecam.documents import Document, Json, document_from, read_toml
from tablecam.errors import BadInput
from tablecam.referee.game_views import about_game
from tablecam.rules.games import described
from tablecam.simulate.rendering.map_looks import map_json, table_ground
from tablecam.table.model import Position, plain_keys
from tablecam.table.roster import BaseType, CommanderEntry, Roster, UnitEntry
from tablecam.table.sides import colour_numbers, side_name, side_plural
from tablecam.table.table_file import roster_from

_NO_TAG = -1


def table_facts(roster: Roster, options: Json | None = None) -> Json:
    """Returns the table's size, its terrain, its sides and its units and commanders.

    Sides are in the order in which the table file first names them. The `options` of a game in a
    recording have the map and the charts, whose files may be elsewhere.
    """
    table = roster.table
    return {
        "game": roster.game,
        "about": about_game(roster.game, table, roster.sides),
        "width_mm": table.width_mm,
        "depth_mm": table.depth_mm,
        "base_width_mm": table.base_width_mm,
        "marker_mm": table.marker_mm,
        "tolerance_mm": table.tolerance_mm,
        "files": {kind: path.name for kind, path in roster.files.items()},
        "sides": roster.sides,
        "side_names": {side: side_name(side) for side in roster.sides},
        "side_colours": colour_numbers(roster.sides),
        "side_plurals": {side: side_plural(side) for side in roster.sides},
        "terrain": [
            {"id": piece.id, "kind": piece.kind, "outline_mm": [list(p) for p in piece.outline_mm]}
            for piece in roster.terrain
        ],
        "map": _map_json(roster, options or {}),
        "units": [_unit_json(unit, roster.game) for unit in roster.units],
        "commanders": [
            {"id": commander.id, "side": commander.side, "tag": commander.tag}
            for commander in roster.commanders
        ],
    }


def _map_json(roster: Roster, options: Json) -> Json | None:
    """Returns the hex map, without its ground if its file cannot be read."""
    hex_map = roster.table.hex_map
    if hex_map is None:
        return None
    try:
        ground = table_ground(hex_map, roster.game, _file(roster, options, "map"))
    except BadInput:
        ground = table_ground(hex_map, roster.game, None)
    try:
        charts = _file(roster, options, "charts")
    except BadInput:
        charts = None
    return map_json(ground, described(roster.game).ground_words(charts.data if charts else {}))


def _file(roster: Roster, options: Json, kind: str) -> Document | None:
    if kind in options:
        return document_from(options[kind], kind)
    return read_toml(roster.files[kind]) if kind in roster.files else None


def roster_in(table_file: str, position: Position) -> Roster:
    """Returns the roster of a recording's table file or, if that is unreadable, of a position."""
    return roster_of(table_file) or _roster_from_position(position)


def roster_of(table_file: str) -> Roster | None:
    """Returns the roster in the text of a table file; None if it cannot be read."""
    try:
        document = document_from(tomllib.loads(table_file), "table file")
        # A game that is not installed is still shown.
        return roster_from(document, games=(str(document.data.get("game")),))
    except (tomllib.TOMLDecodeError, BadInput):
        return None


def _roster_from_position(position: Position) -> Roster:
    units = []
    for unit in position.units:
        if unit.bases:
            first = unit.bases[0]
            # The tag's size is not known: any that fits the base will do.
            base_type = BaseType(unit.id, first.width_mm, first.depth_mm, min(first.width_mm, 1.0))
            tags = tuple(_NO_TAG if base.tag is None else base.tag for base in unit.bases)
            units.append(UnitEntry(unit.id, unit.side, unit.arm, base_type, tags, unit.extra))
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
            CommanderEntry(commander.id, commander.side, marker, _NO_TAG)
            for commander in position.commanders
        ),
        terrain=position.terrain,
    )


def _unit_json(unit: UnitEntry, game: str) -> Json:
    words = described(game).unit_words(unit.extra)
    return {
        "id": unit.id,
        "side": unit.side,
        "arm": unit.arm,
        "tags": list(unit.tags),
        # Only one of a counter's printed sides faces upward.
        **({"listed": len(unit.upward())} if unit.faces else {}),
        **({"words": words} if words else {}),
        "base_width_mm": unit.base_type.width_mm,
        "base_depth_mm": unit.base_type.depth_mm,
        "extra": plain_keys(unit.extra),
    }
