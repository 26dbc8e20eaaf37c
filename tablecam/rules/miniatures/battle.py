"""A battle of miniatures in progress: the table, whose sequence it is, and what is due.

What is due is a stack: a response is pushed on top of the move that caused it, and when it is
settled the move goes on. When nothing is due, the phase of the sequence asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self

from tablecam.geometry.shapes import Shape
from tablecam.rules.dice import Roll, values_of
from tablecam.rules.frozen_json import ReadOnlyMappings, Variant
from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.rules.miniatures.drawing import names_in, shapes_about
from tablecam.table.model import BasePose, Position, Unit

Bases = tuple[BasePose, ...]
Events = tuple[Event, ...]


class Step(Variant, is_family=True):
    """Something that must be settled before the game goes on; a rulebook derives a family of it.

    Without a roll and without a decision it settles itself. `state` is a `Battle`, or another state
    with a `below()`: itself without the step that is settled. `dice_rule` is the rule of the roll.
    """

    dice_rule: ClassVar[str | None] = None

    def roll(self, state: Any) -> Roll | None:
        """Returns the dice that it needs now."""
        return None

    def asked(self, state: Any) -> PendingDecision | None:
        """Returns the decision that it needs now, or who rolls."""
        return None

    def legal(self, state: Any) -> tuple[Any, ...]:
        """Returns the actions that decide it."""
        return ()

    def takes(self, state: Any, answer: Any) -> bool:
        """Whether an action decides it; more than `legal` lists where hands move bases."""
        return answer in self.legal(state)

    def follow(self, state: Any, answer: Any) -> tuple[Any, Events]:
        """Returns what follows; `state` has it no longer, `answer` is an action or dice."""
        raise NotImplementedError

    def shapes(self, state: Any) -> tuple[Shape, ...]:
        """Draws the units that it is about."""
        return shapes_about(state.position, names_in(self))

    def pending(self, state: Any) -> PendingDecision:
        """Returns what the game waits for."""
        return self.asked(state) or PendingDecision(str(self.roll(state)))

    def listed(self, state: Any) -> tuple[Any, ...]:
        """Lists the actions that go on with it, or its roll."""
        roll = self.roll(state)
        return self.legal(state) if roll is None else (roll,)

    def automatic(self, state: Any) -> tuple[Any, Events] | None:
        """Returns what follows by itself; None where dice or a decision are needed."""
        if self.roll(state) is not None or self.asked(state) is not None:
            return None
        return self.follow(state.below(), None)

    def answered(self, state: Any, answer: Any) -> tuple[Any, Events]:
        """Returns what follows from an action.

        Raises:
            Refused: It does not decide the step, or its dice are missing or wrong.
        """
        roll = self.roll(state)
        if roll is not None:
            return self.follow(state.below(), values_of(answer, roll, rule=self.dice_rule))
        if not self.takes(state, answer):
            raise Refused(f"expected an answer to: {self.pending(state).question}")
        return self.follow(state.below(), answer)


class Steps(Protocol):
    """The state of a game that goes from step to step."""

    @property
    def position(self) -> Position:
        """The table."""


class Done(Variant):
    """End the phase, or a part of it."""


class Move(Variant):
    """Move a unit to where these bases lie."""

    unit: str
    bases: Bases


class Charge(Variant):
    """Move a unit into contact with an enemy."""

    unit: str
    target: str
    bases: Bases


class Decide(Variant):
    """Agree to what is asked, or not."""

    yes: bool


YES_OR_NO = (Decide(True), Decide(False))
"""Both answers to a question of one side."""


@dataclass(frozen=True, slots=True)
class Battle(ReadOnlyMappings):
    """A battle between two actions; `half` says whose sequence it is, of `sides`."""

    position: Position
    sides: tuple[str, str]
    options: Mapping[str, Any] = field(default_factory=dict)
    turn: int = 1
    half: int = 0
    phase: str = ""
    due: tuple[Any, ...] = ()
    tried: tuple[str, ...] = ()
    """What has had its turn in the phase."""

    def __post_init__(self) -> None:
        # Zero arguments do not work in a class with slots that a decorator makes anew.
        ReadOnlyMappings.__post_init__(self)

    @property
    def active(self) -> str:
        """The side whose sequence it is."""
        return self.sides[self.half]

    def enemy_of(self, side: str) -> str:
        """Returns the other side."""
        return next(other for other in self.sides if other != side)

    def unit(self, name: str) -> Unit:
        """Returns a unit.

        Raises:
            Refused: It is not on the table.
        """
        unit = self.position.unit(name)
        if unit is None or not unit.bases:
            raise Refused(f"expected a unit on the table, got {name}")
        return unit

    def has(self, name: str) -> bool:
        """Whether a unit is still on the table."""
        return self.position.unit(name) is not None

    def changed(self, name: str, *, bases: Bases | None = None, **marks: Any) -> Self:
        """Returns the state with a unit elsewhere or with other marks; no bases take it off."""
        old = self.unit(name)
        known = {key: value for key, value in {**old.state, **marks}.items() if value or value == 0}
        known = {key: value for key, value in known.items() if value is not False}
        unit = replace(old, bases=old.bases if bases is None else bases, state=known)
        units = (unit if other.id == name else other for other in self.position.units)
        left = tuple(unit for unit in units if unit.bases)
        return replace(self, position=replace(self.position, units=left))

    @property
    def step(self) -> Any | None:
        """The step that is due next, if any."""
        return self.due[-1] if self.due else None

    def below(self) -> Self:
        """Returns the state without the step that is due next."""
        return replace(self, due=self.due[:-1])

    def pushed(self, *steps: Step) -> Self:
        """Returns the state with something due, the first of it next."""
        return replace(self, due=(*self.due, *reversed(steps)))

    def with_next(self, steps: Iterable[tuple[str, Step]]) -> Self:
        """Returns the state with the first named step due that has not had its turn."""
        for name, step in steps:
            if name not in self.tried:
                return replace(self, tried=(*self.tried, name)).pushed(step)
        return self

    def without_commander(self, name: str) -> Self:
        """Returns the state without a commander."""
        left = tuple(one for one in self.position.commanders if one.id != name)
        return replace(self, position=replace(self.position, commanders=left))

    def with_commander(self, name: str, x_mm: float, y_mm: float) -> Self:
        """Returns the state with a commander elsewhere."""
        position = self.position
        commanders = []
        for commander in position.commanders:
            if commander.id == name:
                pose = commander.pose
                pose = None if pose is None else replace(pose, x_mm=x_mm, y_mm=y_mm)
                commander = replace(commander, x_mm=x_mm, y_mm=y_mm, pose=pose)
            commanders.append(commander)
        return replace(self, position=replace(position, commanders=tuple(commanders)))
