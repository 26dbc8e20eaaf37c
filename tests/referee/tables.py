"""A small table for the referee, and hands on it."""

from dataclasses import replace

from tablecam.geometry.moves.poses import ahead
from tablecam.table.model import Commander, Position, Unit
from tests.rules.maurice.tables import line, position

SOUTH = 270.0


def table() -> Position:
    return position(
        line("F1", "french", 600, 300),
        line("F2", "french", 1300, 300),
        line("B1", "british", 600, 900, SOUTH),
        line("B2", "british", 1300, 900, SOUTH),
        commanders=(
            Commander("cinc", "french", 600, 150),
            Commander("general", "british", 600, 1050),
        ),
    )


def moved(seen: Position, name: str, length_mm: float, heading_deg: float = 90.0) -> Position:
    """A hand pushes a unit straight."""

    def push(unit: Unit) -> Unit:
        return replace(unit, bases=ahead(unit.bases, heading_deg, length_mm))

    units = tuple(push(unit) if unit.id == name else unit for unit in seen.units)
    return replace(seen, units=units)
