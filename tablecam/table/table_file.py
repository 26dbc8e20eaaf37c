"""Reads the table file: what people write about their table, checked key by key."""

from __future__ import annotations

from pathlib import Path

from tablecam.documents import Document, read_toml
from tablecam.table.roster import BaseType, CommanderEntry, Roster, TableTag, UnitEntry
from tablecam.table.sections import check_game
from tablecam.table.table_checks import check_table_file
from tablecam.table.table_sections import TableFile, UnitSection

FORMAT = "tablecam.table"
VERSION = 1


def read_table_file(path: Path) -> Roster:
    """What a table file says its table holds.

    Raises:
        BadInput: Naming the file, the line and the key, what was expected and what came.
    """
    return roster_from(read_toml(path))


def roster_from(document: Document) -> Roster:
    """What a table file that has been opened says its table holds.

    Raises:
        BadInput: As `read_table_file`.
    """
    document.require(FORMAT, VERSION)
    check_game(document)
    file = document.parsed(TableFile)
    check_table_file(document, file)
    types = {entry.name: entry.to_base_type() for entry in file.base_type}
    return Roster(
        game=file.game,
        table=file.table.to_size(),
        dictionary=file.tags.dictionary,
        table_tag_size_mm=file.tags.table_tag_size_mm,
        table_tags=tuple(TableTag(tag.id, tag.x_mm, tag.y_mm) for tag in file.tags.table_tags),
        base_types=tuple(types.values()),
        units=tuple(_unit(entry, types) for entry in file.unit),
        commanders=tuple(
            CommanderEntry(entry.id, entry.side, types[entry.base_type], entry.tag)
            for entry in file.commander
        ),
        terrain=tuple(piece.to_terrain() for piece in file.terrain),
        source=document.source,
        hex_map=None if file.map is None else file.map.to_map(),
        name=file.table.name or "",
    )


def _unit(entry: UnitSection, types: dict[str, BaseType]) -> UnitEntry:
    return UnitEntry(
        entry.id, entry.side, entry.arm, types[entry.base_type], tuple(entry.tags), entry.extra
    )
