"""Units, positions and requests for tests, as on a table with bases of 40 x 40 mm; BW 40."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tablecam.documents import document_from
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.requests import Request, request_of
from tablecam.table.model import BasePose, Commander, Position, TableSize, Terrain, Unit

BW = 40.0
TABLE = TableSize(1800, 1200, BW)
NORTH, WEST, SOUTH, EAST = 90.0, 180.0, 270.0, 0.0


def position(
    *units: Unit,
    terrain: Sequence[Terrain] = (),
    commanders: Sequence[Commander] = (),
    tolerance_mm: float = 0.0,
) -> Position:
    """A position of Maurice Lite on a table of 1800 x 1200 mm."""
    table = TableSize(TABLE.width_mm, TABLE.depth_mm, BW, tolerance_mm)
    return Position("maurice-lite", table, units, tuple(commanders), tuple(terrain))


def line(
    name: str, side: str, x_mm: float, y_mm: float, heading_deg: float = NORTH, **more: object
) -> Unit:
    """Four bases abreast, counted from the left, with their middle at (x, y)."""
    places = [(0.0, (place - 1.5) * BW) for place in range(4)]
    return _unit(name, side, x_mm, y_mm, heading_deg, places, "line", **more)


def column(
    name: str, side: str, x_mm: float, y_mm: float, heading_deg: float = NORTH, **more: object
) -> Unit:
    """Four bases in file, counted from the front, with their middle at (x, y)."""
    places = [((1.5 - place) * BW, 0.0) for place in range(4)]
    return _unit(name, side, x_mm, y_mm, heading_deg, places, "column", **more)


def massed(
    name: str, side: str, x_mm: float, y_mm: float, heading_deg: float = NORTH, **more: object
) -> Unit:
    """Cavalry two by two, the front rank first, with their middle at (x, y)."""
    places = [(ahead * BW, right * BW) for ahead in (0.5, -0.5) for right in (-0.5, 0.5)]
    more = {"arm": "cavalry", **more}
    return _unit(name, side, x_mm, y_mm, heading_deg, places, "massed", **more)


def gun(
    name: str, side: str, x_mm: float, y_mm: float, heading_deg: float = NORTH, **more: object
) -> Unit:
    """One base of artillery."""
    more = {"arm": "artillery", **more}
    return _unit(name, side, x_mm, y_mm, heading_deg, [(0.0, 0.0)], "artillery", **more)


def _unit(
    name: str,
    side: str,
    x_mm: float,
    y_mm: float,
    heading_deg: float,
    places: Sequence[tuple[float, float]],
    formation: str,
    *,
    arm: str = "infantry",
    sigma_mm: float = 0.0,
    sigma_deg: float = 0.0,
    **state: object,
) -> Unit:
    turn = math.radians(heading_deg)
    ahead_x, ahead_y = math.cos(turn), math.sin(turn)
    bases = tuple(
        BasePose(
            x_mm + ahead * ahead_x + right * ahead_y,
            y_mm + ahead * ahead_y - right * ahead_x,
            heading_deg,
            BW,
            BW,
            sigma_mm=sigma_mm,
            sigma_deg=sigma_deg,
        )
        for ahead, right in places
    )
    return Unit(name, side, arm, bases, formation, state)


def box(
    kind: str, left_mm: float, low_mm: float, right_mm: float, high_mm: float, name: str = ""
) -> Terrain:
    """A rectangle of terrain, named after its kind."""
    near, far = ((left_mm, low_mm), (right_mm, low_mm)), ((right_mm, high_mm), (left_mm, high_mm))
    return Terrain(name or kind, kind, (*near, *far))


def read_request(data: object, source: str, field: Field) -> Request:
    """Reads a request from a JSON value; errors name it `source`."""
    return request_of(document_from(data, source), field)


FAR = line("B9", "british", 200, 1150, SOUTH)
"""An enemy far from all other units."""
