"""Units, positions and requests for tests, as on a table with bases of 40 x 40 mm; BW 40."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tablecam.documents import document_from
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.requests import Request, request_of
from tablecam.table.model import Arm, Commander, Position, TableSize, Terrain, Unit
from tablecam.testing import unit

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


def line(name: str, side: str, *place: float, **more: Any) -> Unit:
    """Four abreast, counted from the left, their middle at (x, y); north unless a heading is said.

    `more` are its arm, the sigmas of its bases, and its state.
    """
    return _laid("line", name, side, *place, **more)


def column(name: str, side: str, *place: float, **more: Any) -> Unit:
    """Four one behind the other, counted from the front."""
    return _laid("column", name, side, *place, **more)


def massed(name: str, side: str, *place: float, **more: Any) -> Unit:
    """Cavalry, two behind two, the front rank first."""
    return _laid("massed", name, side, *place, **more)


def gun(name: str, side: str, *place: float, **more: Any) -> Unit:
    """One base of artillery."""
    return _laid("artillery", name, side, *place, **more)


def _laid(
    formation: str,
    name: str,
    side: str,
    x_mm: float,
    y_mm: float,
    heading_deg: float = NORTH,
    *,
    arm: Arm | None = None,
    sigma_mm: float = 0.0,
    sigma_deg: float = 0.0,
    **state: Any,
) -> Unit:
    sigmas = {"sigma_mm": sigma_mm, "sigma_deg": sigma_deg}
    bases = unit(name, formation, x_mm, y_mm, heading_deg, side=side, arm=arm, **sigmas)
    return replace(bases, formation=formation, state=state)


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
"""An enemy far from all."""
