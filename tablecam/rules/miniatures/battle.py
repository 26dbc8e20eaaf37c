"""A miniatures battle in progress: the table, the active side, and the steps due."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from tablecam.geometry.shapes import Shape
from tablecam.rules.dice import Roll
from tablecam.rules.frozen_json import ReadOnlyMappings, Variant
from tablecam.rules.game import Ban, Event, PendingDecision, Refused, Sum
from tablecam.rules.miniatures.drawing import names_in, shapes_about
from tablecam.rules.overrules import Overrule
from tablecam.rules.steps import BanOn, Step, Stepping
from tablecam.table.model import BasePose, Commander, Position, Unit
from tablecam.uncertainty.answer import Answer

Bases = tuple[BasePose, ...]


class BattleStep(Step, is_family=True):
    """A step of a battle; a rulebook derives its own family.

    It asks its `side`, or the owner of its `unit`, else the active side. If its `unit` or `target`
    is no longer there, `gone` follows instead; what it `needs` comes first. `throws` is the number
    of its dice.
    """

    throws: ClassVar[int] = 1

    def names(self, state: Any) -> tuple[str, ...]:
        """Returns the units that it is about."""
        units = (getattr(self, key, None) for key in ("unit", "target"))
        return tuple(unit for unit in units if unit is not None)

    def owner(self, state: Any) -> str:
        """Returns the side that is asked."""
        side, names = getattr(self, "side", None), self.names(state)
        return str(side or (state.unit(names[0]).side if names else state.active))

    def roll(self, state: Any) -> Roll | None:
        """Returns its dice."""
        return Roll(self._words(self.dice, state), self.throws) if self.dice else None

    def needs(self, state: Any) -> tuple[Step, ...]:
        """Returns the steps that must be settled before it."""
        return ()

    def sums(self, state: Any) -> tuple[Sum, ...]:
        """Returns the sums that its dice are about."""
        return ()

    def pending(self, state: Any) -> PendingDecision:
        """Returns its question, or its dice with their sums."""
        asked, dice = self.asked(state), str(self.roll(state))
        return asked or PendingDecision(dice, hint=self.hint, sums=self.sums(state))

    def gone(self, state: Any) -> Any:
        """Returns what follows if one of its units is gone."""
        return state

    def automatic(self, state: Any) -> Any | None:
        """Returns what follows by itself; None where dice or a decision are needed."""
        below = state.below()
        if not all(map(state.has, self.names(state))):
            return self.gone(below)
        if needs := self.needs(state):
            return below.pushed(*needs, self)
        return super().automatic(state)

    def shapes(self, state: Any) -> tuple[Shape, ...]:
        """Draws the units that it is about."""
        return shapes_about(state.position, names_in(self))


class Done(Variant):
    """End the phase, or a part of it."""


class BattleOverrule(Overrule):
    """What players set themselves in every battle; a rulebook derives its own."""

    phase: str | None = None
    turn: int | None = None


class OfUnit(Variant, is_family=True):
    """What a unit does."""

    unit: str


class Move(OfUnit):
    """Move a unit to where these bases lie."""

    bases: Bases


class Charge(OfUnit):
    """Move a unit into contact with an enemy."""

    target: str
    bases: Bases


@dataclass(frozen=True, slots=True)
class Battle(ReadOnlyMappings, Stepping):
    """A battle between two actions; `half` says whose sequence it is, of `sides`."""

    position: Position
    sides: tuple[str, str]
    options: Mapping[str, Any] = field(default_factory=dict)
    turn: int = 1
    half: int = 0
    phase: str = ""
    due: tuple[Any, ...] = ()
    tried: tuple[str, ...] = ()
    """What has been dealt with in the phase."""
    told: tuple[Event, ...] = field(default=(), compare=False)
    """The events since the last action."""

    def __post_init__(self) -> None:
        # `super()` without arguments fails where a decorator recreates a class with slots.
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
        """Returns the state with a unit elsewhere or with other marks; no bases remove it."""
        old = self.unit(name)
        known = {key: value for key, value in {**old.state, **marks}.items() if value or value == 0}
        known = {key: value for key, value in known.items() if value is not False}
        unit = replace(old, bases=old.bases if bases is None else bases, state=known)
        units = (unit if other.id == name else other for other in self.position.units)
        left = tuple(unit for unit in units if unit.bases)
        return replace(self, position=replace(self.position, units=left))

    def all_changed(self, names: Iterable[str], **marks: Any) -> Self:
        """Returns the state with other marks of some units."""
        state = self
        for name in names:
            state = state.changed(name, **marks)
        return state

    def with_next(self, steps: Iterable[tuple[str, Step]]) -> Self:
        """Returns the state with the first of the named steps due that is not yet `tried`."""
        for name, step in steps:
            if name not in self.tried:
                return replace(self, tried=(*self.tried, name)).pushed(step)
        return self

    def without_commander(self, name: str) -> Self:
        """Returns the state without a commander."""
        left = tuple(one for one in self.position.commanders if one.id != name)
        return replace(self, position=replace(self.position, commanders=left))

    @property
    def leaders(self) -> dict[str, Commander]:
        """The commanders of the active side, by name."""
        return {one.id: one for one in self.position.commanders if one.side == self.active}

    def with_commander(
        self, name: str, x_mm: float | None = None, y_mm: float | None = None, **marks: Any
    ) -> Self:
        """Returns the state with a commander elsewhere, or with other marks."""

        def changed(commander: Commander) -> Commander:
            if marks:
                kept = {key: mark for key, mark in {**commander.state, **marks}.items() if mark}
                commander = replace(commander, state=kept)
            if x_mm is None or y_mm is None:
                return commander
            pose = commander.pose and replace(commander.pose, x_mm=x_mm, y_mm=y_mm)
            return replace(commander, x_mm=x_mm, y_mm=y_mm, pose=pose)

        position = self.position
        commanders = (changed(one) if one.id == name else one for one in position.commanders)
        return replace(self, position=replace(position, commanders=tuple(commanders)))


AnyBattle = TypeVar("AnyBattle", bound=Battle)


def disordered(state: AnyBattle, name: str, rule: str, why: str = "", **marks: Any) -> AnyBattle:
    """Returns the state with a unit in disorder and other marks, and an event if that is new."""
    if not state.has(name) or state.unit(name).state.get("disordered"):
        return state
    state = state.changed(name, disordered=True, **marks)
    text = f"{name} is disordered{why and f': {why}'}"
    return state.tells("disorder", text, rule, unit=name)


Ruling = TypeVar("Ruling")


def permitted(ruling: Ruling) -> Ruling:
    """Returns a law's ruling.

    Raises:
        Refused: It is a ban or an answer that forbids, or begins with one.
    """
    first = ruling[0] if isinstance(ruling, tuple) else ruling
    if isinstance(first, Ban):
        raise first.refused()
    if isinstance(first, Answer) and first.answer == "no":
        raise Refused(first.because, rule=first.rule)
    return ruling


class Judged(NamedTuple):
    """An action under a law, which returns a ban, or what `then` needs, such as a ruling.

    The ruling may also be the first of several results.
    """

    law: Callable[[Any, Any], Any]
    then: Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class Phase:
    """A phase of a sequence, with its name for overrules and its heading in the log.

    The log names it as it begins, unless nobody has anything to do in it. If it has `choices`, the
    active side is asked for them in the words of `asks`, until it ends the phase with the button
    labelled `ends`. Otherwise `automatic` gives the next state, or the steps due, each with the
    name of the unit concerned. `follows` says what follows from an action, by its type, and
    `why_not` why a unit lacks a choice.
    """

    words: str
    heading: str = ""
    automatic: Callable[[Any], Any] | None = None
    choices: Callable[[Any], Iterable[Any]] | None = None
    asks: str = ""
    hint: str = ""
    ends: str = "Go on"
    follows: Mapping[type, Judged | Callable[[Any, Any], Any]] = field(default_factory=dict)
    why_not: Mapping[str, BanOn] = field(default_factory=dict)


def first_ban(*bans: tuple[bool, str, str]) -> Ban | None:
    """Returns the first ban that applies; each is whether it applies, its rule, and why."""
    return next((Ban(rule, why) for applies, rule, why in bans if applies), None)
