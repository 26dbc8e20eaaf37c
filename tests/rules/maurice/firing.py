"""Shooters with their fronts at y = 400, enemies ahead of them, and the shooters' options."""

from __future__ import annotations

from collections.abc import Sequence

from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.fire.fire import fire_of
from tablecam.rules.maurice.fire.targets import BaseFire, FireOption
from tablecam.table.model import Terrain, Unit
from tests.rules.maurice.tables import SOUTH, gun, line, position

FRONT = 400.0  # The y of the fronts of the shooters below.


def shooters(*units: Unit, terrain: Sequence[Terrain] = ()) -> dict[str, BaseFire]:
    """Returns the fire of the first unit's bases, with all units on the table."""
    field = field_of(position(*units, terrain=terrain))
    return dict(fire_of(field, field.units[0]))


def targets(fire: BaseFire) -> dict[str, tuple[str, int]]:
    """Returns each target with the angle and the number to hit."""
    return {option.target: (option.angle, option.to_hit) for option in fire.options}


def aims(
    *units: Unit, base: str = "F1/1", terrain: Sequence[Terrain] = ()
) -> dict[str, tuple[str, int]] | str:
    """Returns the targets of a base of the first unit, or why it has none."""
    fire = shooters(*units, terrain=terrain)[base]
    return fire.blocked or targets(fire)


def only(fire: BaseFire) -> FireOption:
    (option,) = fire.options
    return option


def foot(**more: object) -> Unit:
    """Four bases A to D with their middles at 520, 560, 600 and 640, their fronts at y = 400."""
    return line("F1", "french", 580, FRONT - 20, **more)


def cannon(**more: object) -> Unit:
    """A gun whose zone straight ahead is 580 to 620, its front at y = 400."""
    return gun("F1", "french", 600, FRONT - 20, **more)


def enemy(ahead_mm: float, x_mm: float = 600, name: str = "B1", **more: object) -> Unit:
    """A line of foot that faces the shooters, its front `ahead_mm` ahead of theirs."""
    return line(name, "british", x_mm, FRONT + ahead_mm + 20, SOUTH, **more)
