"""The table file as people write it: its sections and their keys, as pydantic models."""

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
    """`[table]` of a table file; `name` is what its players call the table."""

    name: Name | None = None


class TableTagSection(StrictModel):
    """One of `table_tags`."""

    id: TagId
    x_mm: Coordinate
    y_mm: Coordinate


class TagsSection(StrictModel):
    """`[tags]`."""

    dictionary: Name = "DICT_4X4_250"
    table_tag_size_mm: Positive
    table_tags: list[TableTagSection]


class BaseTypeSection(StrictModel):
    """One `[[base_type]]`."""

    name: Name
    width_mm: Positive
    depth_mm: Positive
    tag_size_mm: Positive
    tag_right_mm: float = 0.0
    tag_forward_mm: float = 0.0
    tag_height_mm: NotNegative = 0.0

    def to_base_type(self) -> BaseType:
        """The frozen fact."""
        return BaseType(**self.model_dump())


class UnitSection(StrictModel):
    """One `[[unit]]`; the further keys that a game names are kept as they are."""

    model_config = ConfigDict(extra="allow")

    id: Name
    side: Name
    arm: Arm
    base_type: Name
    tags: Annotated[list[TagId], Field(min_length=1)]

    @property
    def extra(self) -> dict[str, Any]:
        """What the file says beyond the keys that every game has."""
        return self.model_extra or {}


class CommanderSection(StrictModel):
    """One `[[commander]]`."""

    id: Name
    side: Name
    base_type: Name
    tag: TagId


class MapSection(StrictModel):
    """`[map]`, of the games on a printed hex map."""

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
        """The frozen fact."""
        x_mm, y_mm = self.origin_mm
        return HexMap(**{**self.model_dump(), "origin_mm": (x_mm, y_mm)})


class TableFile(StrictModel):
    """The whole file."""

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
