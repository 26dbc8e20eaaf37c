"""Battles for tests: units and tables in centimetres, and games whose dice a test throws."""

from __future__ import annotations

from functools import partial
from typing import Any

from tablecam.rules.huzzah_ge.game import GAME
from tablecam.table.model import Commander, TableSize, Unit
from tests.rules.battles import DOWN, UP, BattleOf, bases_of, box_of, table_of

__all__ = ["CHART", "DOWN", "UP", "Battle", "box", "officer", "table", "unit"]

CHART = {"army": {side: {"skirmish_factor": 7, "artillery_factor": 7}
                  for side in ("french", "allied")}}  # fmt: skip
box = partial(box_of, 10)
table = partial(table_of, "huzzah-ge", TableSize(1800, 1200))


def unit(
    name: str, x_cm: float, y_cm: float, heading_deg: float = UP, *, bases: int = 4, ranks: int = 1,
    arm: Any = "infantry", quality: str | None = "trained", state: Any = None, size_cm: float = 4.0,
    **extra: Any,
) -> Unit:  # fmt: skip
    """Return a unit whose front edge has its middle at a place; French if its name begins so."""
    size = {"wide": size_cm, "deep": size_cm, "unit_mm": 10.0}
    poses = bases_of(name, x_cm, y_cm, heading_deg, bases=bases, ranks=ranks, **size)
    side = "french" if name.startswith("F") else "allied"
    own = {"expected": "regulars_b", "division": f"{side} division"}
    return Unit(name, side, arm, poses, state={"quality": quality} | (state or {}),
                extra=own | extra)  # fmt: skip


def officer(name: str, x_cm: float, y_cm: float, level: str = "cinc", **extra: Any) -> Commander:
    side = "french" if name.startswith("F") else "allied"
    own = {"level": level, "quality": "average", "commands": [f"{side} division"]}
    return Commander(name, side, x_cm * 10, y_cm * 10, extra=own | extra)


class Battle(BattleOf):
    """A game in which nobody has skirmisher superiority and no guns are effective.

    Unless `armies` are other dice.
    """

    game = GAME

    def __init__(
        self,
        *things: Any,
        armies: tuple[tuple[int, ...], ...] = ((6, 6, 6, 6),) * 2,
        **options: Any,
    ) -> None:
        super().__init__(table(*things), {"first": "french", "charts": CHART, "turns": 9} | options)
        for dice in armies:
            self.throw(*dice)

    def offers(self) -> list[str]:
        offers = (GAME.offered(self.state, action) for action in self.play.legal())
        return [f"{offer.group}: {offer.label}" for offer in offers]

    def fires(self, label: str) -> None:
        """Declare fire and roll for it."""
        self.act(label)
        self.act("Roll for all declared fire")

    def to_orders(self) -> Battle:
        """Fire at nobody."""
        if self.state.phase == "fire":
            self.act("Nobody fires")
        return self

    def orders(self, officer: str, group: str, order: str, *faces: int) -> Any:
        """Give an order and throw its dice, a pass if none are given."""
        self.to_orders().act(f"{officer}: {group}")
        self.act(order)
        return self.throw(*(faces or (1, 2)))
