"""The frozen contents of a table file: tags, base types, units, commanders and terrain.

`table_file.py` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from tablecam.table.model import Arm, Point, Scalar, TableSize, Terrain


@dataclass(frozen=True, slots=True)
class BaseType:
    """The size of a kind of base and the place of its tag.

    The tag's centre lies `tag_right_mm` and `tag_forward_mm` from the base's centre, its plane
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
    """A fixed tag that registers the camera: its centre at z = 0, its top row toward +y."""

    id: int
    x_mm: float
    y_mm: float


@dataclass(frozen=True, slots=True)
class UnitEntry:
    """A unit as the table file lists it, with one tag per base."""

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
    """A commander as the table file lists them."""

    id: str
    side: str
    base_type: BaseType
    tag: int


@dataclass(frozen=True, slots=True)
class HexMap:
    """The hex grid of a printed map and its place on the table.

    `flat` hexes have a flat side on top, `pointy` ones a corner. `hex_size_mm` is the distance
    between the centres of two neighbours, `origin_mm` the centre of the hex at `first_column`,
    `first_row`, and `rotation_deg` the heading in which column numbers increase. `shifted` says
    whether the even or the odd columns (flat) lie half a hex lower, or rows (pointy) half a hex to
    the right. `numbering` says which two of a hex's four digits are its column.
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
    """The whole table file. Tag ids are unique across table tags and bases.

    `hex_map` is None except for games on a hex map; `name` is the players' name for the table,
    empty if they gave none.
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
        """The centres of the table tags."""
        return tuple((tag.x_mm, tag.y_mm) for tag in self.table_tags)

    def base_type_by_tag(self) -> dict[int, BaseType]:
        """Returns the base type of each tag of a unit or commander, by tag id."""
        types = {tag: unit.base_type for unit in self.units for tag in unit.tags}
        return types | {commander.tag: commander.base_type for commander in self.commanders}

    def owner_by_tag(self) -> dict[int, str]:
        """Returns the id of the unit or commander that each tag belongs to, by tag id."""
        owners = {tag: unit.id for unit in self.units for tag in unit.tags}
        return owners | {commander.tag: commander.id for commander in self.commanders}
