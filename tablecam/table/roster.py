"""What a table is said to hold: its tags, base types, units, commanders and terrain.

The frozen form of a table file (`table_file.py` reads one).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from tablecam.table.model import Arm, Point, Scalar, TableSize, Terrain


@dataclass(frozen=True, slots=True)
class BaseType:
    """The shape of a kind of base and where its tag is glued.

    The tag's centre lies `tag_right_mm`, `tag_forward_mm` from the base's centre, its plane
    `tag_height_mm` above the table.
    """

    name: str
    width_mm: float
    depth_mm: float
    tag_size_mm: float
    tag_right_mm: float = 0.0
    tag_forward_mm: float = 0.0
    tag_height_mm: float = 0.0


@dataclass(frozen=True, slots=True)
class TableTag:
    """A fixed tag that registers the camera: its centre, top row toward +y, at z = 0."""

    id: int
    x_mm: float
    y_mm: float


@dataclass(frozen=True, slots=True)
class UnitEntry:
    """A unit as the table file lists it: one tag a base."""

    id: str
    side: str
    arm: Arm
    base_type: BaseType
    tags: tuple[int, ...]
    extra: Mapping[str, Scalar] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "extra", MappingProxyType(dict(self.extra)))


@dataclass(frozen=True, slots=True)
class CommanderEntry:
    """A commander as the table file lists him."""

    id: str
    side: str
    base_type: BaseType
    tag: int


@dataclass(frozen=True, slots=True)
class HexMap:
    """Where the hexes of a printed map lie on the table.

    `flat` hexes have a flat side on top, `pointy` ones a corner. `hex_size_mm` is the distance
    between the centres of two neighbours, `origin_mm` the centre of the hex `first_column`,
    `first_row`, and `rotation_deg` the heading on the table in which column numbers grow.
    `shifted` names the columns (flat) that lie half a hex lower, or the rows (pointy) that lie
    half a hex to the right. `numbering` says which two of a hex's four digits are its column.
    """

    orientation: Literal["flat", "pointy"]
    hex_size_mm: float
    origin_mm: Point
    columns: int
    rows: int
    numbering: Literal["CCRR", "RRCC"]
    shifted: Literal["even", "odd"]
    rotation_deg: float = 0.0
    first_column: int = 1
    first_row: int = 1


@dataclass(frozen=True, slots=True)
class Roster:
    """Everything a table file says. Its tag ids are unique over table tags and bases.

    `hex_map` is there only for the games that are played on one; `name` is what players call the
    table, empty where they do not.
    """

    game: str
    table: TableSize
    dictionary: str
    table_tag_size_mm: float
    table_tags: tuple[TableTag, ...]
    base_types: tuple[BaseType, ...]
    units: tuple[UnitEntry, ...]
    commanders: tuple[CommanderEntry, ...]
    terrain: tuple[Terrain, ...]
    source: str = "table file"
    hex_map: HexMap | None = None
    name: str = ""

    @property
    def table_tags_mm(self) -> tuple[tuple[float, float], ...]:
        """Where the middles of the table's tags lie."""
        return tuple((tag.x_mm, tag.y_mm) for tag in self.table_tags)

    def base_type_by_tag(self) -> dict[int, BaseType]:
        """The base type under each tag of a unit or a commander, by tag id."""
        found = {tag: unit.base_type for unit in self.units for tag in unit.tags}
        return found | {leader.tag: leader.base_type for leader in self.commanders}

    def owner_by_tag(self) -> dict[int, str]:
        """The id of the unit or commander that each base's tag belongs to."""
        found = {tag: unit.id for unit in self.units for tag in unit.tags}
        return found | {leader.tag: leader.id for leader in self.commanders}
