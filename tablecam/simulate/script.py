"""The script of a battle: the starting places, and the orders that hands carry out."""

from __future__ import annotations

from dataclasses import dataclass

from tablecam.simulate.moves import Move
from tablecam.simulate.places import ScriptFormation


@dataclass(frozen=True, slots=True)
class Start:
    """The starting place of a unit or commander: its footprint's centre, heading, formation."""

    id: str
    x_mm: float
    y_mm: float
    heading_deg: float
    formation: ScriptFormation = "line"


@dataclass(frozen=True, slots=True)
class Order:
    """An order: at a time, the player's hand comes in, moves a unit, and leaves."""

    at_s: float
    id: str
    moves: tuple[Move, ...]


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
