"""Reads and checks the table file, in which players describe their table and armies."""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import shapely

from tablecam.documents import Document, read_toml
from tablecam.table.masks import read_masks
from tablecam.table.model import TableNeeds
from tablecam.table.roster import BaseType, CommanderEntry, Roster, TableTag, UnitEntry
from tablecam.table.sections import (
    Faults,
    Games,
    first_of,
    id_faults,
    mistyped_keys,
    needs_of,
    table_faults,
)
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


def table_file_faults(document: Document, needs: TableNeeds, file: TableFile) -> Faults:
    """Yields all contradictions between the sections of a table file."""
    yield from _tag_faults(document, file)
    yield from _table_tag_faults(document, file)
    yield from _base_type_faults(document, needs, file)
    yield from id_faults(document, _owners(file))
    yield from table_faults(document, needs, file.table, file.map, file.terrain)
    for index, unit in enumerate(file.unit):
        yield from mistyped_keys(document, ("unit", index), unit)
        yield from _face_faults(document, index, unit)
    for index, commander in enumerate(file.commander):
        yield from mistyped_keys(document, ("commander", index), commander)


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
        for tag_index, tag_id in enumerate(unit.all_tags):
            keys = ("tags", tag_index) if unit.tags is not None else ("faces", tag_index, "tag")
            yield ("unit", index, *keys), tag_id, f"unit {unit.id}"
    for index, commander in enumerate(file.commander):
        yield ("commander", index, "tag"), commander.tag, f"commander {commander.id}"


def _tag_faults(document: Document, file: TableFile) -> Faults:
    name = file.tags.dictionary
    if name not in DICTIONARY_SIZES:
        near = nearest(name, DICTIONARY_SIZES)
        yield document.error(("tags", "dictionary"), f"unknown dictionary {quoted(name)}{near}")
    # Any tag will do until the dictionary is known.
    size = DICTIONARY_SIZES.get(name, sys.maxsize)
    seen: dict[int, tuple[KeyPath, str]] = {}
    for path, tag, owner in _tags(file):
        if tag >= size:
            yield document.error(path, f"expected a tag from 0 to {size - 1} ({name}), got {tag}")
        elif tag in seen:
            first_path, first_owner = seen[tag]
            yield document.error(
                path,
                f"tag {tag} is used twice: by {first_owner} ({document.place(first_path)}) "
                f"and by {owner}",
            )
        else:
            seen[tag] = (path, owner)


def _face_faults(document: Document, index: int, unit: UnitSection) -> Faults:
    """Yields faces that share a tag, and tags of a counter that belong to none of its faces."""
    seen: set[int] = set()
    for face_index, face in enumerate(unit.faces):
        # Without `tags`, `_tag_faults` finds the second of two.
        if face.tag in seen and unit.tags is not None:
            yield document.error(
                ("unit", index, "faces", face_index, "tag"),
                f"expected a different tag on each face of {unit.id}, got {face.tag} again",
            )
        seen.add(face.tag)
    if unit.tags is not None and unit.faces and set(unit.tags) != seen:
        expected = ", ".join(map(str, sorted(seen)))
        got = ", ".join(map(str, sorted(unit.tags)))
        yield document.error(
            ("unit", index, "tags"), f"expected the tags of its faces ({expected}), got {got}"
        )


def _table_tag_faults(document: Document, file: TableFile) -> Faults:
    tags, size_mm = file.tags.table_tags, file.tags.table_tag_size_mm
    if len(tags) < LEAST_TABLE_TAGS:
        yield document.error(
            ("tags", "table_tags"),
            f"expected {LEAST_TABLE_TAGS} table tags or more, got {len(tags)}: "
            "the camera is registered by them",
        )
    limits = (("x_mm", file.table.width_mm), ("y_mm", file.table.depth_mm))
    for index, tag in enumerate(tags):
        for key, limit_mm in limits:
            value = getattr(tag, key)
            if not -BESIDE_TABLE_MM <= value <= limit_mm + BESIDE_TABLE_MM:
                yield document.error(
                    ("tags", "table_tags", index, key),
                    f"expected a place on the table (0 to {limit_mm:g}) or within "
                    f"{BESIDE_TABLE_MM:g} mm beside it, got {value:g}",
                )
        # Table tags are few, so all pairs are compared.
        for other in tags[:index]:
            if max(abs(tag.x_mm - other.x_mm), abs(tag.y_mm - other.y_mm)) < size_mm:
                yield document.error(
                    ("tags", "table_tags", index),
                    f"table tags {other.id} and {tag.id}, {size_mm:g} mm wide, "
                    "are on top of each other",
                )


def _base_type_faults(document: Document, needs: TableNeeds, file: TableFile) -> Faults:
    yield from id_faults(
        document,
        ((("base_type", i, "name"), base_type.name) for i, base_type in enumerate(file.base_type)),
    )
    for index, base_type in enumerate(file.base_type):
        yield from _tag_on_base_faults(document, index, base_type)
    kinds = {base_type.name: base_type for base_type in file.base_type}
    for path, name in _base_types_named(file):
        if name not in kinds:
            yield document.error(path, f"unknown base type {quoted(name)}{nearest(name, kinds)}")
        elif path[0] == "unit" and needs.edges and kinds[name].shape != "rectangle":
            yield document.error(
                path,
                f"expected a base with a front edge, which {file.game} rules on, got "
                f"{name}, which is {kinds[name].shape}",
            )


def _base_types_named(file: TableFile) -> Iterator[tuple[KeyPath, str]]:
    for index, unit in enumerate(file.unit):
        yield ("unit", index, "base_type"), unit.base_type
        for face_index, face in enumerate(unit.faces):
            if face.base_type is not None:
                yield ("unit", index, "faces", face_index, "base_type"), face.base_type
    for index, commander in enumerate(file.commander):
        yield ("commander", index, "base_type"), commander.base_type


def _tag_on_base_faults(document: Document, index: int, base_type: BaseTypeSection) -> Faults:
    """Yields a tag that cannot be on its base."""
    base, half_mm = _size_of(base_type), base_type.tag_size_mm / 2
    # Too large in both directions can only be a typing error.
    if all(half_mm > edge_mm for _, edge_mm in _tag_reach(base_type)):
        yield document.error(
            ("base_type", index, "tag_size_mm"),
            f"expected a tag that fits {base}, got {base_type.tag_size_mm:g} mm",
        )
    elif any(offset_mm - half_mm >= edge_mm for offset_mm, edge_mm in _tag_reach(base_type)):
        yield document.error(
            ("base_type", index), f"expected a tag on {base}, but {base_type.name}'s lies beside it"
        )


def _size_of(base_type: BaseTypeSection) -> str:
    if base_type.shape == "round":
        return f"the base of {base_type.width_mm:g} mm across"
    return f"the base of {base_type.width_mm:g} x {base_type.depth_mm:g} mm"


def _tag_reach(base_type: BaseTypeSection) -> tuple[tuple[float, float], tuple[float, float]]:
    """Returns how far to the side and ahead the tag's centre and the base's edges lie, in mm."""
    return (
        (abs(base_type.tag_right_mm), base_type.width_mm / 2),
        (abs(base_type.tag_forward_mm), base_type.depth_mm / 2),
    )


def _overhangs(base_type: BaseTypeSection) -> bool:
    """Whether a corner of the tag lies beyond an edge of its base."""
    half_mm = base_type.tag_size_mm / 2
    shares = [(offset_mm + half_mm) / edge_mm for offset_mm, edge_mm in _tag_reach(base_type)]
    return (max(shares) if base_type.shape == "rectangle" else math.hypot(*shares)) > 1.0


def oddities(document: Document, file: TableFile) -> Faults:
    """Yields valid entries of a table file that are probably mistakes."""
    for index, base_type in enumerate(file.base_type):
        # A label may be wider than a shallow base.
        if _overhangs(base_type):
            yield document.error(
                ("base_type", index, "tag_size_mm"),
                f"the tag hangs over the edge of {_size_of(base_type)}",
            )
    used = {name for _, name in _base_types_named(file)}
    for index, base_type in enumerate(file.base_type):
        if base_type.name not in used:
            yield document.error(
                ("base_type", index, "name"), f"no unit and no commander has a {base_type.name}"
            )
    if not file.unit:
        yield document.error(("unit",), "the table has no units")
    area = shapely.box(0.0, 0.0, file.table.width_mm, file.table.depth_mm)
    for index, piece in enumerate(file.terrain):
        if not area.intersects(shapely.Polygon(piece.outline_mm)):
            yield document.error(("terrain", index, "outline_mm"), f"{piece.id} is off the table")


FORMAT = "tablecam.table"
VERSION = 1


def read_table_file(path: Path, games: Games) -> Roster:
    """Reads a table file whose game is one of `games`, and the masks beside it.

    Raises:
        BadInput: Names the file, line and key, the expected and the actual value.
    """
    roster = roster_from(read_toml(path), games, path.parent)
    return replace(roster, masks=read_masks(path))


def roster_from(document: Document, games: Games, folder: Path | None = None) -> Roster:
    """Checks the document of a table file and returns its contents.

    The paths in `[files]` are relative to `folder`; without one they are left out.

    Raises:
        BadInput: As `read_table_file`.
    """
    document.require(FORMAT, VERSION)
    needs = needs_of(document, games)
    file = document.parsed(TableFile)
    first_of(table_file_faults(document, needs, file))
    for oddity in oddities(document, file):
        logger.warning("%s", oddity)
    types = {entry.name: entry.to_base_type() for entry in file.base_type}
    return Roster(
        game=file.game,
        table=file.table.to_size(file.map),
        dictionary=file.tags.dictionary,
        table_tag_size_mm=file.tags.table_tag_size_mm,
        table_tags=tuple(TableTag(tag.id, tag.x_mm, tag.y_mm) for tag in file.tags.table_tags),
        base_types=tuple(types.values()),
        units=tuple(_unit(entry, types) for entry in file.unit),
        commanders=tuple(
            CommanderEntry(entry.id, entry.side, types[entry.base_type], entry.tag, entry.extra)
            for entry in file.commander
        ),
        terrain=tuple(piece.to_terrain() for piece in file.terrain),
        source=document.source,
        name=file.table.name or "",
        files={} if folder is None else _files(file, folder),
    )


def _unit(entry: UnitSection, types: dict[str, BaseType]) -> UnitEntry:
    own_type = types[entry.base_type]
    faces = {
        face.tag: own_type if face.base_type is None else types[face.base_type]
        for face in entry.faces
    }
    extra = entry.extra
    if faces:
        # The game interprets the faces.
        extra["faces"] = [{"tag": face.tag} | face.extra for face in entry.faces]
    return UnitEntry(entry.id, entry.side, entry.arm, own_type, tuple(entry.all_tags), extra, faces)


def _files(file: TableFile, folder: Path) -> dict[str, Path]:
    names: dict[str, str | None] = file.files.model_dump()
    return {key: folder / name for key, name in names.items() if name is not None}
