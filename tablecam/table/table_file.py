"""Reads and checks the table file, in which players describe their table and armies."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from pathlib import Path

from tablecam.documents import Document, read_toml
from tablecam.table.model import GAMES, HEX_GAMES
from tablecam.table.roster import BaseType, CommanderEntry, Roster, TableTag, UnitEntry
from tablecam.table.sections import check_extra, check_game, check_ids, check_outlines
from tablecam.table.table_sections import BaseTypeSection, TableFile, UnitSection
from tablecam.toml_lines import KeyPath
from tablecam.wording import nearest, quoted

logger = logging.getLogger(__name__)

DICTIONARY_SIZES = {
    **{f"DICT_{n}X{n}_{size}": size for n in (4, 5, 6, 7) for size in (50, 100, 250, 1000)},
    "DICT_ARUCO_ORIGINAL": 1024,
    "DICT_ARUCO_MIP_36h12": 250,
    "DICT_APRILTAG_16h5": 30,
    "DICT_APRILTAG_25h9": 35,
    "DICT_APRILTAG_36h10": 2320,
    "DICT_APRILTAG_36h11": 587,
}
"""How many tags each of OpenCV's predefined dictionaries holds; ids count from 0."""

LEAST_TABLE_TAGS = 4
BESIDE_TABLE_MM = 500.0
"""How far outside the play area a table tag may lie; beyond this it is a typing error."""


def check_table_file(document: Document, file: TableFile) -> None:
    """Refuses a file whose sections contradict each other.

    Raises:
        BadInput: Describes the first contradiction.
    """
    # First, as `_check_tags` looks up the dictionary's size.
    _check_dictionary(document, file)
    _check_tags(document, file)
    _check_table_tags(document, file)
    _check_base_types(document, file)
    check_ids(document, [*_owners(file)])
    check_ids(document, [(("terrain", i, "id"), piece.id) for i, piece in enumerate(file.terrain)])
    check_outlines(document, file.terrain)
    for index, unit in enumerate(file.unit):
        check_extra(document, ("unit", index), unit.extra)
    if file.map is not None and file.game not in HEX_GAMES:
        raise document.error(
            ("map",), f"expected no [map] for {file.game}; {' and '.join(HEX_GAMES)} have one"
        )


def _owners(file: TableFile) -> Iterator[tuple[KeyPath, str]]:
    for index, unit in enumerate(file.unit):
        yield ("unit", index, "id"), unit.id
    for index, commander in enumerate(file.commander):
        yield ("commander", index, "id"), commander.id


def _tags(file: TableFile) -> Iterator[tuple[KeyPath, int, str]]:
    """Yields the key path, the id and the owner of every tag in the file."""
    for index, tag in enumerate(file.tags.table_tags):
        yield ("tags", "table_tags", index, "id"), tag.id, "the table tags"
    for index, unit in enumerate(file.unit):
        for tag_index, tag_id in enumerate(unit.tags):
            yield ("unit", index, "tags", tag_index), tag_id, f"unit {unit.id}"
    for index, commander in enumerate(file.commander):
        yield ("commander", index, "tag"), commander.tag, f"commander {commander.id}"


def _check_dictionary(document: Document, file: TableFile) -> None:
    name = file.tags.dictionary
    if name not in DICTIONARY_SIZES:
        near = nearest(name, DICTIONARY_SIZES)
        raise document.error(("tags", "dictionary"), f"unknown dictionary {quoted(name)}{near}")


def _check_tags(document: Document, file: TableFile) -> None:
    size = DICTIONARY_SIZES[file.tags.dictionary]
    seen: dict[int, tuple[KeyPath, str]] = {}
    for path, tag, owner in _tags(file):
        if tag >= size:
            raise document.error(
                path, f"expected a tag from 0 to {size - 1} ({file.tags.dictionary}), got {tag}"
            )
        if tag in seen:
            first_path, first_owner = seen[tag]
            raise document.error(
                path,
                f"tag {tag} is used twice: by {first_owner} ({document.place(first_path)}) "
                f"and by {owner}",
            )
        seen[tag] = (path, owner)


def _check_table_tags(document: Document, file: TableFile) -> None:
    tags, size_mm = file.tags.table_tags, file.tags.table_tag_size_mm
    if len(tags) < LEAST_TABLE_TAGS:
        raise document.error(
            ("tags", "table_tags"),
            f"expected {LEAST_TABLE_TAGS} table tags or more, got {len(tags)}: "
            "the camera is registered by them",
        )
    limits = (("x_mm", file.table.width_mm), ("y_mm", file.table.depth_mm))
    for index, tag in enumerate(tags):
        for key, limit_mm in limits:
            value = getattr(tag, key)
            if not -BESIDE_TABLE_MM <= value <= limit_mm + BESIDE_TABLE_MM:
                raise document.error(
                    ("tags", "table_tags", index, key),
                    f"expected a place on the table (0 to {limit_mm:g}) or within "
                    f"{BESIDE_TABLE_MM:g} mm beside it, got {value:g}",
                )
        # Table tags are few, so all pairs are compared.
        for other in tags[:index]:
            if max(abs(tag.x_mm - other.x_mm), abs(tag.y_mm - other.y_mm)) < size_mm:
                raise document.error(
                    ("tags", "table_tags", index),
                    f"table tags {other.id} and {tag.id}, {size_mm:g} mm wide, "
                    "lie on top of each other",
                )


def _check_base_types(document: Document, file: TableFile) -> None:
    check_ids(
        document,
        [(("base_type", i, "name"), base_type.name) for i, base_type in enumerate(file.base_type)],
    )
    for index, base_type in enumerate(file.base_type):
        _check_tag_on_base(document, index, base_type)
    names = [base_type.name for base_type in file.base_type]
    for path, name in _base_types_named(file):
        if name not in names:
            raise document.error(path, f"unknown base type {quoted(name)}{nearest(name, names)}")


def _base_types_named(file: TableFile) -> Iterator[tuple[KeyPath, str]]:
    for index, unit in enumerate(file.unit):
        yield ("unit", index, "base_type"), unit.base_type
    for index, commander in enumerate(file.commander):
        yield ("commander", index, "base_type"), commander.base_type


def _check_tag_on_base(document: Document, index: int, base_type: BaseTypeSection) -> None:
    """Refuses a tag that cannot be on its base, and warns of one that overhangs an edge."""
    half_mm = base_type.tag_size_mm / 2
    offsets = (
        (abs(base_type.tag_right_mm), base_type.width_mm / 2),
        (abs(base_type.tag_forward_mm), base_type.depth_mm / 2),
    )
    path = ("base_type", index, "tag_size_mm")
    base = f"the base of {base_type.width_mm:g} x {base_type.depth_mm:g} mm"
    # Too large in both directions can only be a typing error.
    if all(half_mm > edge_mm for _, edge_mm in offsets):
        raise document.error(
            path, f"expected a tag that fits {base}, got {base_type.tag_size_mm:g} mm"
        )
    if any(offset_mm - half_mm >= edge_mm for offset_mm, edge_mm in offsets):
        raise document.error(
            path[:2], f"expected a tag on {base}, but {base_type.name}'s lies beside it"
        )
    # A label may be wider than a shallow base, so this is only a warning.
    if any(offset_mm + half_mm > edge_mm for offset_mm, edge_mm in offsets):
        logger.warning("%s", document.error(path, f"the tag hangs over the edge of {base}"))


FORMAT = "tablecam.table"
VERSION = 1


def read_table_file(path: Path, games: Collection[str] = GAMES) -> Roster:
    """Reads a table file whose game is one of `games`.

    Raises:
        BadInput: Names the file, line and key, the expected and the actual value.
    """
    return roster_from(read_toml(path), games)


def roster_from(document: Document, games: Collection[str] = GAMES) -> Roster:
    """Checks the document of a table file and returns its contents.

    Raises:
        BadInput: As `read_table_file`.
    """
    document.require(FORMAT, VERSION)
    check_game(document, games)
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
