"""A position as a document holds it: its sections and their keys, as pydantic models."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from tablecam.table.model import Arm, BasePose, Commander, Position, Seen, Unit
from tablecam.table.sections import (
    Coordinate,
    Name,
    NotNegative,
    Size,
    StrictModel,
    TableSection,
    TerrainSection,
)

Heading = Annotated[float, Field(ge=-36_000, le=36_000)]
"""Turned further than a hundred times round is a slip of the pen."""


class BaseSection(StrictModel):
    """One of a unit's `bases`."""

    tag: Annotated[int, Field(ge=0)] | None = None
    x_mm: Coordinate
    y_mm: Coordinate
    heading_deg: Heading
    width_mm: Size
    depth_mm: Size
    sigma_mm: NotNegative = 0.0
    sigma_deg: NotNegative = 0.0
    seen: Seen = "now"
    tag_right_mm: Coordinate = 0.0
    tag_forward_mm: Coordinate = 0.0

    def to_pose(self) -> BasePose:
        """The frozen fact."""
        return BasePose(**self.model_dump())


class UnitSection(StrictModel):
    """One of `units`; the further keys that a game names are kept as they are."""

    model_config = ConfigDict(extra="allow")

    id: Name
    side: Name
    arm: Arm
    formation: Name | None = None
    state: dict[str, Any] = Field(default_factory=dict)
    bases: list[BaseSection]

    @property
    def extra(self) -> dict[str, Any]:
        """What is said beyond the keys that every game has."""
        return self.model_extra or {}

    def to_unit(self) -> Unit:
        """The frozen fact."""
        bases = tuple(base.to_pose() for base in self.bases)
        return Unit(self.id, self.side, self.arm, bases, self.formation, self.state, self.extra)


class CommanderSection(StrictModel):
    """One of `commanders`; `base` is his marker where the camera knows it."""

    id: Name
    side: Name
    x_mm: Coordinate
    y_mm: Coordinate
    sigma_mm: NotNegative = 0.0
    seen: Seen = "now"
    base: BaseSection | None = None

    def to_commander(self) -> Commander:
        """The frozen fact."""
        pose = None if self.base is None else self.base.to_pose()
        return Commander(self.id, self.side, self.x_mm, self.y_mm, self.sigma_mm, self.seen, pose)


class PositionDocument(StrictModel):
    """The whole document."""

    format: str
    version: int
    game: str
    table: TableSection
    terrain: list[TerrainSection] = Field(default_factory=list)
    units: list[UnitSection]
    commanders: list[CommanderSection] = Field(default_factory=list)
    calibration: Name | None = None

    def to_position(self) -> Position:
        """The frozen fact."""
        return Position(
            game=self.game,
            table=self.table.to_size(),
            units=tuple(unit.to_unit() for unit in self.units),
            commanders=tuple(leader.to_commander() for leader in self.commanders),
            terrain=tuple(piece.to_terrain() for piece in self.terrain),
            calibration=self.calibration,
        )
