"""The script of a simulated table: the starting places, and the orders that hands carry out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from tablecam.documents import Document
from tablecam.errors import BadInput
from tablecam.rules.hexes.grid import Grid, grid_of
from tablecam.simulate.moves import Deploy, Forward, Glide, Move, Side, Wheel
from tablecam.simulate.rendering.places import ScriptFormation
from tablecam.table.model import HexMap
from tablecam.table.sections import Coordinate, Name, NotNegative, StrictModel


@dataclass(frozen=True, slots=True)
class Start:
    """The starting place of a unit or commander: its footprint's centre, heading, formation.

    `face` is the tag of a counter's side that lies upward, None for the first. Counters of a stack
    are listed from the bottom up.
    """

    id: str
    x_mm: float
    y_mm: float
    heading_deg: float
    formation: ScriptFormation = "line"
    face: int | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """An order: at a time, the player's hand comes in, moves a unit, and leaves.

    It may move several counters of a stack at once, listed from the bottom up. With a `face` it
    turns them to that tag; `under` puts them beneath those already there.
    """

    at_s: float
    ids: tuple[str, ...]
    moves: tuple[Move, ...]
    face: int | None = None
    under: bool = False


@dataclass(frozen=True, slots=True)
class Pointing:
    """A pointing hand: at a time, it comes in, rests over a place, and leaves."""

    at_s: float
    side: str
    x_mm: float
    y_mm: float
    rest_s: float = 1.2


@dataclass(frozen=True, slots=True)
class Script:
    """The script of a battle. `near_side` sits at the table's edge y = 0, the other side across.

    After the last order the table rests for `rest_s`; then the hands put everything back in reverse
    order, so that the battle can repeat without a jump.
    """

    near_side: str
    starts: tuple[Start, ...]
    orders: tuple[Order | Pointing, ...]
    rest_s: float = 4.0


FORMAT = "tablecam.script"
VERSION = 1

Heading = Annotated[float, Field(ge=-360.0, le=360.0)]
Place = tuple[Coordinate, Coordinate, Heading]


class _OnHexes(StrictModel):
    """A place on a hex map: one hex, or a left and a right one, and the direction of the front."""

    hex: Name | Annotated[list[Name], Field(min_length=2, max_length=2)]
    facing_deg: Heading = 0.0

    def place(self, grid: Grid | None) -> Place:
        """Returns the place on the table.

        Raises:
            BadInput: The table has no such hex.
        """
        hexes = (self.hex,) if isinstance(self.hex, str) else tuple(self.hex)
        if grid is None or any(number not in grid for number in hexes):
            raise BadInput("script", f"expected hexes of the table's map, got {', '.join(hexes)}")
        return *grid.middle_mm(hexes), self.facing_deg + grid.map.rotation_deg


class _StartSection(StrictModel):
    id: Name
    at: Annotated[Place, Field(strict=False)] | _OnHexes
    formation: ScriptFormation = "line"
    face: int | None = None

    def to_start(self, grid: Grid | None) -> Start:
        at = self.at.place(grid) if isinstance(self.at, _OnHexes) else self.at
        return Start(self.id, *at, self.formation, self.face)


class _ForwardSection(StrictModel):
    forward_mm: Coordinate

    def to_move(self, grid: Grid | None) -> Move:
        return Forward(self.forward_mm)


class _WheelSection(StrictModel):
    wheel: Side
    degrees: Heading

    def to_move(self, grid: Grid | None) -> Move:
        return Wheel(self.wheel, self.degrees)


class _DeploySection(StrictModel):
    deploy: Side

    def to_move(self, grid: Grid | None) -> Move:
        return Deploy(self.deploy)


class _GlideSection(StrictModel):
    to: Annotated[Place, Field(strict=False)] | _OnHexes

    def to_move(self, grid: Grid | None) -> Move:
        return Glide(*(self.to.place(grid) if isinstance(self.to, _OnHexes) else self.to))


class _OrderSection(StrictModel):
    at_s: NotNegative
    id: Name | Annotated[list[Name], Field(min_length=1)]
    moves: list[_ForwardSection | _WheelSection | _DeploySection | _GlideSection]
    face: int | None = None
    under: bool = False

    def to_order(self, grid: Grid | None) -> Order:
        ids = (self.id,) if isinstance(self.id, str) else tuple(self.id)
        moves = tuple(move.to_move(grid) for move in self.moves)
        return Order(self.at_s, ids, moves, self.face, self.under)


class _PointingSection(StrictModel):
    at_s: NotNegative
    side: Name
    points_at: Annotated[tuple[Coordinate, Coordinate], Field(strict=False)]
    rest_s: NotNegative = 1.2

    def to_order(self, grid: Grid | None) -> Pointing:
        return Pointing(self.at_s, self.side, *self.points_at, self.rest_s)


class _ScriptFile(StrictModel):
    format: Literal["tablecam.script"]
    version: int
    near_side: Name
    rest_s: NotNegative = 4.0
    starts: list[_StartSection]
    orders: list[_OrderSection | _PointingSection]


def script_from(document: Document, hex_map: HexMap | None = None) -> Script:
    """Returns the script in a document, for a table with or without a hex map.

    Raises:
        BadInput: Names the key, the expected and the actual value.
    """
    document.require(FORMAT, VERSION)
    file = document.parsed(_ScriptFile)
    grid = None if hex_map is None else grid_of(hex_map)
    return Script(
        file.near_side,
        tuple(start.to_start(grid) for start in file.starts),
        tuple(order.to_order(grid) for order in file.orders),
        file.rest_s,
    )
