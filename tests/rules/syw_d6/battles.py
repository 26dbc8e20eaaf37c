"""Battles for tests: units and tables in inches, and games whose dice a test throws."""

from __future__ import annotations

from random import Random
from typing import Any

from tablecam.rules.dice import Roll
from tablecam.rules.play import Play
from tablecam.rules.syw_d6.game import GAME
from tablecam.table.headings import forward, right
from tablecam.table.model import BasePose, Commander, Position, TableSize, Terrain, Unit

INCH_MM = 25.4
UP, DOWN = 90.0, 270.0
NO_FOG = {"fog": False}
CHART = {"game": "syw-d6", "test": {"green": -1, "trained": 0, "casualties_artillery": -1,
         "casualties_flank_rear": -1, "contacted_flank_rear": -2, "retreat_at": -4}}  # fmt: skip


def unit(
    name: str, x_in: float, y_in: float, heading_deg: float = UP, *, bases: int = 4, ranks: int = 1,
    wide_in: float = 2.0, deep_in: float = 1.0, figures: int = 24, files: int = 3,
    arm: Any = "infantry", experience: Any = "trained", state: Any = None, brigade: str = "",
    **extra: Any,
) -> Unit:  # fmt: skip
    """Return a unit whose front edge has its middle at a place; French if its name begins so."""
    (to_x, to_y), (right_x, right_y) = forward(heading_deg), right(heading_deg)
    files_of_bases = bases // ranks
    first = sum(map(ord, name)) * 7 % 1000
    poses = []
    for place in range(bases):
        rank, file = divmod(place, files_of_bases)
        aside = (file - (files_of_bases - 1) / 2) * wide_in
        back = (rank + 0.5) * deep_in
        x, y = x_in + right_x * aside - to_x * back, y_in + right_y * aside - to_y * back
        poses.append(
            BasePose(
                x * INCH_MM, y * INCH_MM, heading_deg, wide_in * INCH_MM, deep_in * INCH_MM,
                tag=10 * first + place,
            )
        )  # fmt: skip
    side = "french" if name.startswith("F") else "allied"
    own = {
        "figures": figures,
        "files_per_base": files,
        "ranks_per_base": 2 if arm == "infantry" else 1,
    }
    own |= {"experience": experience, "brigade": brigade or f"{side} brigade", "nation": side}
    return Unit(name, side, arm, tuple(poses), state=state or {}, extra=own | extra)


def commander(name: str, x_in: float, y_in: float, level: str = "army") -> Commander:
    side = "french" if name.startswith("F") else "allied"
    extra = {"level": level, "commands": [f"{side} brigade"]}
    return Commander(name, side, x_in * INCH_MM, y_in * INCH_MM, extra=extra)


def box(
    name: str, kind: str, x_in: float, y_in: float, to_x: float, to_y: float, **extra: Any
) -> Terrain:
    corners = ((x_in, y_in), (to_x, y_in), (to_x, to_y), (x_in, to_y))
    outline = tuple((x * INCH_MM, y * INCH_MM) for x, y in corners)
    return Terrain(name, kind, outline, extra=extra)


def table(*things: Unit | Commander | Terrain) -> Position:
    return Position(
        "syw-d6",
        TableSize(72 * INCH_MM, 48 * INCH_MM),
        tuple(one for one in things if isinstance(one, Unit)),
        tuple(one for one in things if isinstance(one, Commander)),
        tuple(one for one in things if isinstance(one, Terrain)),
    )


class Battle:
    """A game in which a test does what is on offer and throws the dice."""

    def __init__(self, *things: Any, at: Position | None = None, **options: Any) -> None:
        options = NO_FOG | {"first": "french", "charts": CHART} | options
        position = at or table(*things)
        self.play: Play[Any, Any] = Play(GAME, position, options, chance=Random(1))

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
        return [GAME.offered(self.state, action).label for action in self.play.legal()]

    def act(self, label: str) -> Any:
        """Do what begins with a label."""
        for action in self.play.legal():
            if GAME.offered(self.state, action).label.startswith(label):
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

    def to_fire(self) -> Battle:
        """End the moves."""
        self.act("End the moves")
        return self

    def texts(self) -> str:
        return "; ".join(event.text for done in self.play.done for event in done.events)
