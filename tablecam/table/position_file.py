"""Converts `Position` to JSON and back without loss.

A base may omit `tag`, `sigma_mm` and `sigma_deg` (0: exact), `seen` (`now`), and the offset of the
tag's centre from the base's, `tag_right_mm` and `tag_forward_mm` (0). A measured base should state
the offset along with the sigmas, because a heading error turns the base about the tag.

The errors that bases share may also be left out: they then count as errors of each base. `common`
lists the effect of one standard deviation of each calibration error on the base, as
`[x_mm, y_mm, turn_deg]`; `row` names the row that it lies flush in (`model.Row`). `glue` says how
much of the sigmas stays with the base wherever it lies (`model.Glue`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from tablecam.documents import Document, Json, document_from, read_json
from tablecam.table.model import (
    Arm,
    BasePose,
    Commander,
    Displacement,
    Glue,
    Position,
    Row,
    TableNeeds,
    TableSize,
    Terrain,
    Unit,
    Visibility,
    plain_keys,
)
from tablecam.table.sections import (
    Coordinate,
    Faults,
    FootprintSection,
    Games,
    MapSection,
    Name,
    NotNegative,
    OpenModel,
    StrictModel,
    TableSection,
    TerrainSection,
    first_of,
    id_faults,
    mistyped_keys,
    needs_of,
    table_faults,
)
from tablecam.toml_lines import KeyPath

Heading = Annotated[float, Field(ge=-36_000, le=36_000)]
"""At most a hundred full turns; anything beyond is a typing error."""


DisplacementSection = Annotated[list[Coordinate], Field(min_length=3, max_length=3)]
"""The effect of an error on a base: `[x_mm, y_mm, turn_deg]`."""


class RowSection(StrictModel):
    """The row that a base lies in."""

    id: Name
    sigma_mm: NotNegative
    sigma_deg: NotNegative
    right_mm: Coordinate
    ahead_mm: Coordinate


class GlueSection(StrictModel):
    """How accurately a base is made."""

    sigma_mm: NotNegative
    sigma_deg: NotNegative
    cut_sigma_mm: NotNegative = 0.0


class BaseSection(FootprintSection):
    """An entry of a unit's `bases`."""

    tag: Annotated[int, Field(ge=0)] | None = None
    x_mm: Coordinate
    y_mm: Coordinate
    heading_deg: Heading
    sigma_mm: NotNegative = 0.0
    sigma_deg: NotNegative = 0.0
    seen: Visibility = "now"
    tag_right_mm: Coordinate = 0.0
    tag_forward_mm: Coordinate = 0.0
    common: list[DisplacementSection] = Field(default_factory=list)
    row: RowSection | None = None
    glue: GlueSection | None = None

    def to_pose(self) -> BasePose:
        """Returns the frozen `BasePose`."""
        plain = self.model_dump(exclude={"common", "row", "glue"})
        row = None if self.row is None else Row(**self.row.model_dump())
        common = tuple(Displacement(*error) for error in self.common)
        glue = None if self.glue is None else Glue(**self.glue.model_dump())
        return BasePose(**plain, common=common, row=row, glue=glue)


class UnitSection(OpenModel):
    """An entry of `units`; a game's additional keys are preserved."""

    id: Name
    side: Name
    arm: Arm
    formation: Name | None = None
    state: dict[str, Any] = Field(default_factory=dict)
    bases: list[BaseSection]

    def to_unit(self) -> Unit:
        """Returns the frozen `Unit`."""
        bases = tuple(base.to_pose() for base in self.bases)
        return Unit(self.id, self.side, self.arm, bases, self.formation, self.state, self.extra)


class CommanderSection(OpenModel):
    """An entry of `commanders`; `base` is the marker as the camera measured it."""

    id: Name
    side: Name
    x_mm: Coordinate
    y_mm: Coordinate
    sigma_mm: NotNegative = 0.0
    seen: Visibility = "now"
    base: BaseSection | None = None
    state: dict[str, Any] = Field(default_factory=dict)

    def to_commander(self) -> Commander:
        """Returns the frozen `Commander`."""
        return Commander(
            self.id,
            self.side,
            self.x_mm,
            self.y_mm,
            self.sigma_mm,
            self.seen,
            None if self.base is None else self.base.to_pose(),
            self.state,
            self.extra,
        )


class PositionDocument(StrictModel):
    """A whole position document."""

    format: str
    version: int
    game: str
    table: TableSection
    terrain: list[TerrainSection] = Field(default_factory=list)
    units: list[UnitSection]
    commanders: list[CommanderSection] = Field(default_factory=list)
    calibration: Name | None = None
    map: MapSection | None = None

    def to_position(self) -> Position:
        """Returns the frozen `Position`."""
        return Position(
            game=self.game,
            table=self.table.to_size(self.map),
            units=tuple(unit.to_unit() for unit in self.units),
            commanders=tuple(commander.to_commander() for commander in self.commanders),
            terrain=tuple(piece.to_terrain() for piece in self.terrain),
            calibration=self.calibration,
        )


FORMAT = "tablecam.position"
VERSION = 1


def read_position_file(path: Path, games: Games) -> Position:
    """Reads a position from a JSON file whose game is one of `games`.

    Raises:
        BadInput: Names the file, line and key, the expected and the actual value.
    """
    return _position(read_json(path), games)


def position_from_json(data: object, source: str = "position", *, games: Games) -> Position:
    """Parses a position from a JSON value; `source` names it in errors.

    Its game must be one of `games`.

    Raises:
        BadInput: Names the key, the expected and the actual value.
    """
    return _position(document_from(data, source), games)


def position_to_json(position: Position) -> Json:
    """Returns the JSON document of a position; default values are omitted."""
    document: Json = {
        "format": FORMAT,
        "version": VERSION,
        "game": position.game,
        "table": _table_json(position.table),
        "terrain": [_terrain_json(piece) for piece in position.terrain],
        "units": [_unit_json(unit) for unit in position.units],
        "commanders": [_commander_json(commander) for commander in position.commanders],
    }
    if position.calibration is not None:
        document["calibration"] = position.calibration
    if position.table.hex_map is not None:
        document["map"] = plain_keys(asdict(position.table.hex_map))
    return document


def _position(document: Document, games: Games) -> Position:
    document.require(FORMAT, VERSION)
    needs = needs_of(document, games)
    parsed = document.parsed(PositionDocument)
    first_of(position_faults(document, needs, parsed))
    return parsed.to_position()


def position_faults(document: Document, needs: TableNeeds, parsed: PositionDocument) -> Faults:
    """Yields all contradictions between the parts of a position."""
    # Units and commanders share their ids: a reference names either.
    yield from id_faults(document, _names(parsed))
    yield from _tag_faults(document, parsed)
    yield from _base_faults(document, needs, parsed)
    yield from table_faults(document, needs, parsed.table, parsed.map, parsed.terrain)
    for index, unit in enumerate(parsed.units):
        yield from mistyped_keys(document, ("units", index), unit)
    for index, commander in enumerate(parsed.commanders):
        yield from mistyped_keys(document, ("commanders", index), commander)


def _names(parsed: PositionDocument) -> Iterator[tuple[KeyPath, str]]:
    for index, unit in enumerate(parsed.units):
        yield ("units", index, "id"), unit.id
    for index, commander in enumerate(parsed.commanders):
        yield ("commanders", index, "id"), commander.id


def _tag_faults(document: Document, parsed: PositionDocument) -> Faults:
    seen: dict[int, KeyPath] = {}
    for path, tag in _tags(parsed):
        if tag in seen:
            first = document.place(seen[tag])
            yield document.error(path, f"tag {tag} is used twice: first by {first}")
        seen.setdefault(tag, path)


def _tags(parsed: PositionDocument) -> Iterator[tuple[KeyPath, int]]:
    for path, base in _bases(parsed):
        if base.tag is not None:
            yield (*path, "tag"), base.tag


def _base_faults(document: Document, needs: TableNeeds, parsed: PositionDocument) -> Faults:
    """Yields tags beside their base, and bases without the front edge that the game needs.

    A heading error would move a base far about a tag beside it.
    """
    for path, base in _bases(parsed):
        # A tag may overhang an edge and a position does not state its size: hence the full side.
        limit_mm = max(base.width_mm, base.depth_mm)
        for key in ("tag_right_mm", "tag_forward_mm"):
            offset_mm = getattr(base, key)
            if abs(offset_mm) > limit_mm:
                size = f"{base.width_mm:g} x {base.depth_mm:g} mm"
                yield document.error(
                    (*path, key), f"expected a tag on a base of {size}, got {offset_mm:g} mm"
                )
        if needs.edges and path[0] == "units" and base.shape != "rectangle":
            yield document.error(
                (*path, "shape"),
                f"expected a base with a front edge, which {parsed.game} rules on, got "
                f"{base.shape}",
            )


def _bases(parsed: PositionDocument) -> Iterator[tuple[KeyPath, BaseSection]]:
    for index, unit in enumerate(parsed.units):
        for base_index, base in enumerate(unit.bases):
            yield ("units", index, "bases", base_index), base
    for index, commander in enumerate(parsed.commanders):
        if commander.base is not None:
            yield ("commanders", index, "base"), commander.base


def _table_json(table: TableSize) -> Json:
    section: Json = {"width_mm": table.width_mm, "depth_mm": table.depth_mm}
    defaults = {"base_width_mm": None, "tolerance_mm": 0.0, "inch_mm": 25.4, "measure_in": None}
    return section | {
        key: getattr(table, key)
        for key, default in defaults.items()
        if getattr(table, key) != default
    }


def _terrain_json(piece: Terrain) -> Json:
    outline = [list(point) for point in piece.outline_mm]
    section: Json = {"id": piece.id, "kind": piece.kind, "outline_mm": outline}
    if piece.height_mm is not None:
        section["height_mm"] = piece.height_mm
    return section | plain_keys(piece.extra)


def _unit_json(unit: Unit) -> Json:
    section: Json = {"id": unit.id, "side": unit.side, "arm": unit.arm}
    if unit.formation is not None:
        section["formation"] = unit.formation
    if unit.state:
        section["state"] = plain_keys(unit.state)
    bases = [_base_json(base) for base in unit.bases]
    return section | plain_keys(unit.extra) | {"bases": bases}


def _base_json(base: BasePose) -> Json:
    section: Json = {} if base.tag is None else {"tag": base.tag}
    for key in ("x_mm", "y_mm", "heading_deg", "width_mm", "depth_mm"):
        section[key] = getattr(base, key)
    if base.shape != "rectangle":
        section["shape"] = base.shape
    for key in ("sigma_mm", "sigma_deg", "tag_right_mm", "tag_forward_mm"):
        # 0 is the default, and left out.
        if getattr(base, key):
            section[key] = getattr(base, key)
    if base.common:
        section["common"] = [list(error) for error in base.common]
    if base.row is not None:
        section["row"] = asdict(base.row)
    if base.glue is not None:
        section["glue"] = asdict(base.glue)
    return section | {"seen": base.seen}


def _commander_json(commander: Commander) -> Json:
    section: Json = {
        "id": commander.id,
        "side": commander.side,
        "x_mm": commander.x_mm,
        "y_mm": commander.y_mm,
    }
    if commander.sigma_mm:
        section["sigma_mm"] = commander.sigma_mm
    section["seen"] = commander.seen
    if commander.pose is not None:
        section["base"] = _base_json(commander.pose)
    if commander.state:
        section["state"] = plain_keys(commander.state)
    return section | plain_keys(commander.extra)
