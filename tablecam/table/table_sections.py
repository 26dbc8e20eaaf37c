"""Pydantic models of the table file: its sections and their keys."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tablecam.table.model import Arm
from tablecam.table.roster import BaseType
from tablecam.table.sections import (
    Coordinate,
    FootprintSection,
    MapSection,
    Name,
    NotNegative,
    OpenModel,
    Positive,
    StrictModel,
    TableSection,
    TerrainSection,
)

GLUE_SIGMA_MM, GLUE_SIGMA_DEG = 0.4, 0.8
"""How accurately a tag is assumed to be glued on by hand: half a millimetre off its mark on average
(0.4 mm along either axis), and turned by 0.2 mm on a side of 14 mm."""

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


class BaseTypeSection(FootprintSection):
    """An entry of `[[base_type]]`."""

    name: Name
    tag_size_mm: Positive
    tag_right_mm: float = 0.0
    tag_forward_mm: float = 0.0
    tag_height_mm: NotNegative = 0.0
    glue_sigma_mm: NotNegative = GLUE_SIGMA_MM
    glue_sigma_deg: Annotated[float, Field(ge=0.0, le=45.0)] = GLUE_SIGMA_DEG
    cut_sigma_mm: NotNegative = 0.0

    def to_base_type(self) -> BaseType:
        """Returns the frozen `BaseType`."""
        return BaseType(**self.model_dump())


class FaceSection(OpenModel):
    """An entry of a unit's `faces`: a printed side of its counter, and what it means."""

    tag: TagId
    base_type: Name | None = None


class UnitSection(OpenModel):
    """An entry of `[[unit]]`; a game's additional keys are preserved."""

    id: Name
    side: Name
    arm: Arm
    base_type: Name
    tags: Annotated[list[TagId], Field(min_length=1)] | None = None
    faces: Annotated[list[FaceSection], Field(min_length=1)] = Field(default_factory=list)

    @property
    def all_tags(self) -> list[TagId]:
        """Its tags; for a unit that lists only faces, theirs."""
        return [face.tag for face in self.faces] if self.tags is None else self.tags


class CommanderSection(OpenModel):
    """An entry of `[[commander]]`; a game's additional keys are preserved."""

    id: Name
    side: Name
    base_type: Name
    tag: TagId


class FilesSection(StrictModel):
    """The section `[files]`: paths of a game's files, relative to the table file."""

    charts: Name | None = None
    map: Name | None = None
    scenario: Name | None = None


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
    files: FilesSection = Field(default_factory=FilesSection)
