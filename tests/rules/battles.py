"""Battles of miniatures for tests: units and tables in a book's own unit of length, and games."""

from __future__ import annotations

from random import Random
from typing import Any, ClassVar

from tablecam.rules.dice import Roll
from tablecam.rules.play import Play
from tablecam.table.headings import forward, right
from tablecam.table.model import BasePose, Commander, Position, TableSize, Terrain, Unit

UP, DOWN = 90.0, 270.0
Thing = Unit | Commander | Terrain


def bases_of(
    name: str, x: float, y: float, heading_deg: float, *, bases: int, ranks: int,
    wide: float, deep: float, unit_mm: float,
) -> tuple[BasePose, ...]:  # fmt: skip
    """Return bases in ranks whose front edge has its middle at a place, with tags by the name."""
    (to_x, to_y), (right_x, right_y) = forward(heading_deg), right(heading_deg)
    files, first = bases // ranks, sum(map(ord, name)) * 7 % 1000
    poses = []
    for place in range(bases):
        rank, file = divmod(place, files)
        aside, back = (file - (files - 1) / 2) * wide, (rank + 0.5) * deep
        there = x + right_x * aside - to_x * back, y + right_y * aside - to_y * back
        size_mm = wide * unit_mm, deep * unit_mm
        x_mm, y_mm = there[0] * unit_mm, there[1] * unit_mm
        poses.append(BasePose(x_mm, y_mm, heading_deg, *size_mm, tag=10 * first + place))
    return tuple(poses)


def box_of(
    unit_mm: float, name: str, kind: str, x: float, y: float, to_x: float, to_y: float, **extra: Any
) -> Terrain:
    corners = ((x, y), (to_x, y), (to_x, to_y), (x, to_y))
    outline = tuple((corner_x * unit_mm, corner_y * unit_mm) for corner_x, corner_y in corners)
    return Terrain(name, kind, outline, extra=extra)


def table_of(game: str, size: TableSize, *things: Thing) -> Position:
    kinds = (Unit, Commander, Terrain)
    return Position(game, size, *(tuple(one for one in things if type(one) is k) for k in kinds))


class BattleOf:
    """A game in which a test does what is on offer and throws the dice."""

    game: ClassVar[Any]

    def __init__(self, position: Position, options: dict[str, Any]) -> None:
        self.play: Play[Any, Any] = Play(self.game, position, options, chance=Random(1))

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
        return [self.game.offered(self.state, action).label for action in self.play.legal()]

    def act(self, label: str, group: str = "") -> Any:
        """Do what begins with a label, under a heading if that is given."""
        for action in self.play.legal():
            offer = self.game.offered(self.state, action)
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
        document = self.game.action_to_json(roll) | {"values": list(faces)}
        return self.play.apply(self.game.action_from_json(document))

    def texts(self) -> str:
        return "; ".join(event.text for done in self.play.done for event in done.events)
