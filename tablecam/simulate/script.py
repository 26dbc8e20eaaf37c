"""A battle as data: who starts where, and the orders that hands carry out."""

from __future__ import annotations

from dataclasses import dataclass

from tablecam.simulate.moves import Move
from tablecam.simulate.places import ScriptFormation


@dataclass(frozen=True, slots=True)
class Start:
    """Where a unit or a commander begins: its footprint's centre, heading and formation."""

    id: str
    x_mm: float
    y_mm: float
    heading_deg: float
    formation: ScriptFormation = "line"


@dataclass(frozen=True, slots=True)
class Order:
    """At a second of the battle its player's hand comes in, moves a unit, and leaves."""

    at_s: float
    id: str
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Pointing:
    """At a second of the battle a player's hand comes in, rests over a place, and leaves."""

    at_s: float
    side: str
    x_mm: float
    y_mm: float
    rest_s: float = 1.2


@dataclass(frozen=True, slots=True)
class Script:
    """A battle. `near_side` sits at the table's edge y = 0, the other side across.

    After the last order the table is left alone for `rest_s`; then the hands put everything back
    the way it came, so that the battle can begin again without a jump.
    """

    near_side: str
    starts: tuple[Start, ...]
    orders: tuple[Order | Pointing, ...]
    rest_s: float = 4.0
