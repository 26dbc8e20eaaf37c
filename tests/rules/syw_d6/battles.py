"""Battles for tests: units and tables in inches, and games whose dice a test throws."""

from __future__ import annotations

from functools import partial
from typing import Any

from tablecam.rules.syw_d6.game import GAME
from tablecam.table.model import Commander, Position, TableSize, Unit
from tests.rules.battles import DOWN, UP, BattleOf, bases_of, box_of, table_of

__all__ = [
    "CHART",
    "DOWN",
    "INCH_MM",
    "NO_FOG",
    "UP",
    "Battle",
    "box",
    "commander",
    "table",
    "unit",
]

INCH_MM = 25.4
NO_FOG = {"fog": False}
CHART = {"game": "syw-d6", "test": {"green": -1, "trained": 0, "casualties_artillery": -1,
         "casualties_flank_rear": -1, "contacted_flank_rear": -2, "retreat_at": -4}}  # fmt: skip
box = partial(box_of, INCH_MM)
table = partial(table_of, "syw-d6", TableSize(72 * INCH_MM, 48 * INCH_MM))


def unit(
    name: str, x_in: float, y_in: float, heading_deg: float = UP, *, bases: int = 4, ranks: int = 1,
    wide_in: float = 2.0, deep_in: float = 1.0, figures: int = 24, files: int = 3,
    arm: Any = "infantry", experience: Any = "trained", state: Any = None, brigade: str = "",
    **extra: Any,
) -> Unit:  # fmt: skip
    """Return a unit whose front edge has its middle at a place; French if its name begins so."""
    size = {"wide": wide_in, "deep": deep_in, "unit_mm": INCH_MM}
    poses = bases_of(name, x_in, y_in, heading_deg, bases=bases, ranks=ranks, **size)
    side = "french" if name.startswith("F") else "allied"
    own = {
        "figures": figures,
        "files_per_base": files,
        "ranks_per_base": 2 if arm == "infantry" else 1,
    }
    own |= {"experience": experience, "brigade": brigade or f"{side} brigade", "nation": side}
    return Unit(name, side, arm, poses, state=state or {}, extra=own | extra)


def commander(name: str, x_in: float, y_in: float, level: str = "army") -> Commander:
    side = "french" if name.startswith("F") else "allied"
    extra = {"level": level, "commands": [f"{side} brigade"]}
    return Commander(name, side, x_in * INCH_MM, y_in * INCH_MM, extra=extra)


class Battle(BattleOf):
    """A game without the Fog of War."""

    game = GAME

    def __init__(self, *things: Any, at: Position | None = None, **options: Any) -> None:
        options = NO_FOG | {"first": "french", "charts": CHART} | options
        super().__init__(at or table(*things), options)

    def to_fire(self) -> Battle:
        """End the moves."""
        self.act("End the moves")
        return self
