"""Pydantic models of the table file: its sections and their keys."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from tablecam.table.model import Arm
from tablecam.table.roster import BaseType, HexMap
from tablecam.table.sections import (
    Coordinate,
    Coordinates,
    Name,
    NotNegative,
    Positive,
    StrictModel,
    TableSection,
    TerrainSection,
)

TagId = Annotated[int, Field(ge=0)]


class NamedTableSection(TableSection):
    """The section `[table]` of a table file; `name` is the players' name for the table."""

    name: Name | None = None


class TableTagSection(StrictModel):
    """An entry of `table_tags`."""

    id: TagId
    x_mm: Coordinate
    y_mm: Coordinate


class TagsSection(StrictModel):
    """The section `[tags]`."""

    dictionary: Name = "DICT_4X4_250"
    table_tag_size_mm: Positive
    table_tags: list[TableTagSection]


class BaseTypeSection(StrictModel):
    """An entry of `[[base_type]]`."""

    name: Name
    width_mm: Positive
    depth_mm: Positive
    tag_size_mm: Positive
    tag_right_mm: float = 0.0
    tag_forward_mm: float = 0.0
    tag_height_mm: NotNegative = 0.0

    def to_base_type(self) -> BaseType:
        """Returns the frozen `BaseType`."""
        return BaseType(**self.model_dump())


class UnitSection(StrictModel):
    """An entry of `[[unit]]`; additional keys of a game are preserved as they are."""

    model_config = ConfigDict(extra="allow")

    id: Name
    side: Name
    arm: Arm
    base_type: Name
    tags: Annotated[list[TagId], Field(min_length=1)]

    @property
    def extra(self) -> dict[str, Any]:
        """The keys that are not common to all games."""
        return self.model_extra or {}


class CommanderSection(StrictModel):
    """An entry of `[[commander]]`."""

    id: Name
    side: Name
    base_type: Name
    tag: TagId


class MapSection(StrictModel):
    """The section `[map]`, for games on a printed hex map."""

    orientation: Literal["flat", "pointy"]
    hex_size_mm: Positive
    origin_mm: Coordinates
    rotation_deg: float = 0.0
    columns: Annotated[int, Field(ge=1)]
    rows: Annotated[int, Field(ge=1)]
    first_column: Annotated[int, Field(ge=0)] = 1
    first_row: Annotated[int, Field(ge=0)] = 1
    numbering: Literal["CCRR", "RRCC"]
    shifted: Literal["even", "odd"]

    def to_map(self) -> HexMap:
        """Returns the frozen `HexMap`."""
        x_mm, y_mm = self.origin_mm
        return HexMap(**{**self.model_dump(), "origin_mm": (x_mm, y_mm)})


class TableFile(StrictModel):
    """A whole table file."""

    format: str
    version: int
    game: str
    table: NamedTableSection
    tags: TagsSection
    base_type: Annotated[list[BaseTypeSection], Field(min_length=1)]
    unit: list[UnitSection] = Field(default_factory=list)
    commander: list[CommanderSection] = Field(default_factory=list)
    terrain: list[TerrainSection] = Field(default_factory=list)
    map: MapSection | None = None
