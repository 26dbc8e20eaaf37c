"""Battles for tests: units and tables in centimetres, and games whose dice a test throws."""

from __future__ import annotations

from random import Random
from typing import Any

from tablecam.rules.dice import Roll
from tablecam.rules.huzzah_ge.game import GAME
from tablecam.rules.play import Play
from tablecam.table.headings import forward, right
from tablecam.table.model import BasePose, Commander, Position, TableSize, Terrain, Unit

UP, DOWN = 90.0, 270.0
CHART = {"army": {side: {"skirmish_factor": 7, "artillery_factor": 7}
                  for side in ("french", "allied")}}  # fmt: skip


def unit(
    name: str, x_cm: float, y_cm: float, heading_deg: float = UP, *, bases: int = 4, ranks: int = 1,
    arm: Any = "infantry", quality: str | None = "trained", state: Any = None, size_cm: float = 4.0,
    **extra: Any,
) -> Unit:  # fmt: skip
    """Return a unit whose front edge has its middle at a place; French if its name begins so."""
    (to_x, to_y), (right_x, right_y) = forward(heading_deg), right(heading_deg)
    files = bases // ranks
    first = sum(map(ord, name)) * 7 % 1000
    poses = []
    for place in range(bases):
        rank, file = divmod(place, files)
        aside, back = (file - (files - 1) / 2) * size_cm, (rank + 0.5) * size_cm
        x, y = x_cm + right_x * aside - to_x * back, y_cm + right_y * aside - to_y * back
        size_mm = size_cm * 10
        poses.append(
            BasePose(x * 10, y * 10, heading_deg, size_mm, size_mm, tag=10 * first + place)
        )
    side = "french" if name.startswith("F") else "allied"
    own = {"expected": "regulars_b", "division": f"{side} division"}
    marks = {"quality": quality} | (state or {})
    return Unit(name, side, arm, tuple(poses), state=marks, extra=own | extra)


def officer(name: str, x_cm: float, y_cm: float, level: str = "cinc", **extra: Any) -> Commander:
    side = "french" if name.startswith("F") else "allied"
    own = {"level": level, "quality": "average", "commands": [f"{side} division"]}
    return Commander(name, side, x_cm * 10, y_cm * 10, extra=own | extra)


def box(
    name: str, kind: str, x_cm: float, y_cm: float, to_x: float, to_y: float, **extra: Any
) -> Terrain:
    corners = ((x_cm, y_cm), (to_x, y_cm), (to_x, to_y), (x_cm, to_y))
    return Terrain(name, kind, tuple((10 * x, 10 * y) for x, y in corners), extra=extra)


def table(*things: Unit | Commander | Terrain) -> Position:
    return Position(
        "huzzah-ge",
        TableSize(1800, 1200),
        tuple(one for one in things if isinstance(one, Unit)),
        tuple(one for one in things if isinstance(one, Commander)),
        tuple(one for one in things if isinstance(one, Terrain)),
    )


class Battle:
    """A game in which a test does what is on offer and throws the dice.

    Nobody has skirmisher superiority and no guns are effective, unless `armies` are other dice.
    """

    def __init__(
        self,
        *things: Any,
        armies: tuple[tuple[int, ...], ...] = ((6, 6, 6, 6),) * 2,
        **options: Any,
    ) -> None:
        options = {"first": "french", "charts": CHART, "turns": 9} | options
        self.play: Play[Any, Any] = Play(GAME, table(*things), options, chance=Random(1))
        for dice in armies:
            self.throw(*dice)

    @property
    def state(self) -> Any:
        return self.play.state

    @property
    def question(self) -> str:
        return self.play.asked().question

    def unit(self, name: str) -> Unit:
        return self.state.unit(name)

    def marks(self, name: str) -> Any:
        return self.unit(name).state

    def offers(self) -> list[str]:
        offers = (GAME.offered(self.state, action) for action in self.play.legal())
        return [f"{offer.group}: {offer.label}" for offer in offers]

    def act(self, label: str, group: str = "") -> Any:
        """Do what begins with a label, under a heading if that is given."""
        for action in self.play.legal():
            offer = GAME.offered(self.state, action)
            if offer.label.startswith(label) and group in ("", offer.group):
                return self.play.apply(action)
        raise AssertionError(f"{label} is not among {self.offers()}: {self.question}")

    def do(self, action: Any) -> Any:
        return self.play.apply(action)

    def throw(self, *faces: int) -> Any:
        """Throw the dice that are due."""
        (roll,) = self.play.legal()
        assert isinstance(roll, Roll), self.question
        assert len(faces) == roll.count, f"{roll}: {len(faces)} dice given"
        return self.play.apply(
            GAME.action_from_json(GAME.action_to_json(roll) | {"values": list(faces)})
        )

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
        self.to_orders().act(group, officer)
        self.act(order)
        return self.throw(*(faces or (1, 2)))

    def texts(self) -> str:
        return "; ".join(event.text for done in self.play.done for event in done.events)
