"""Plays games as a stack of steps due; the top one is settled first.

A response is pushed on top of the move that caused it; once it is settled, the move goes on. When
nothing is due, the phase of the sequence asks.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, Protocol, Self, TypeVar

from pydantic import TypeAdapter

from tablecam.documents import Json
from tablecam.geometry.shapes import Shape
from tablecam.rules.dice import Roll, values_of
from tablecam.rules.frozen_json import Variant, from_plain, renamed, to_plain
from tablecam.rules.game import OVERRULE, Ban, DiceGroup, Event, Game, PendingDecision, Refused
from tablecam.rules.lay import Lay
from tablecam.rules.memo import remembered
from tablecam.table.model import Position
from tablecam.table.sides import side_plural

Events = tuple[Event, ...]


class Step(Variant, is_family=True):
    """Something that must be settled before the game goes on; a rulebook derives its own family.

    Without a roll or a decision it settles itself. `state` is a `Stepping`, or another state with a
    `below()`: itself without the settled step. The words of its `dice` and its `question` may
    contain in braces its fields and properties, and its methods of the state, such as `names`, each
    of which throws a die, and `who`.
    """

    dice: ClassVar[str] = ""
    dice_rule: ClassVar[str | None] = None
    question: ClassVar[str] = ""
    hint: ClassVar[str] = ""
    answers: ClassVar[tuple[Any, ...]] = ()
    """The actions that decide it, if they are always the same."""
    least_answers: ClassVar[int] = 1
    """The least number of answers for which it asks; fewer follow by themselves."""
    faces: ClassVar[tuple[int, Literal[0, 1]]] = (6, 1)
    """The number of sides of its dice, and the lowest of them."""

    @abstractmethod
    def names(self, state: Any) -> tuple[str, ...]:
        """Returns the names that it is still about."""

    @abstractmethod
    def owner(self, state: Any) -> str:
        """Returns the side that is asked."""

    def who(self, state: Any) -> str:
        """Returns the side that is asked, in the plural."""
        return side_plural(self.owner(state))

    @abstractmethod
    def follow(self, state: Any, answer: Any) -> Any:
        """Returns what follows; `state` no longer has the step, `answer` is an action or dice."""

    def roll(self, state: Any) -> Roll | None:
        """Returns the dice that it needs now: by default one for each name."""
        count = len(self.names(state)) if self.dice else 0
        sides, lowest = self.faces
        return Roll(self._words(self.dice, state), count, sides, None, lowest) if count else None

    def dice_groups(self, state: Any) -> tuple[DiceGroup, ...]:
        """Groups its dice by owner and target, for entering real dice."""
        return ()

    def asked(self, state: Any) -> PendingDecision | None:
        """Returns the decision that it needs now: its question, if there are enough answers."""
        least = self.least_answers
        if not self.question or (least and len(_answers(self, state)) < least):
            return None
        question = self._words(self.question, state)
        return PendingDecision(question, self.owner(state), hint=self.hint)

    def legal(self, state: Any) -> tuple[Any, ...]:
        """Returns the actions that decide it."""
        return self.answers

    def takes(self, state: Any, answer: Any) -> bool:
        """Whether an action decides it; if hands move bases, more actions do than `legal` lists."""
        return answer in _answers(self, state)

    def lists_all(self, state: Any) -> bool:
        """Whether it lists all possible answers: hands do nothing else."""
        return type(self).takes is Step.takes

    def why_missing(self, state: Any) -> str:
        """Returns in one line why `legal` lacks what players may look for."""
        return ""

    def only_answer(self, state: Any) -> Any | None:
        """Returns the only possible answer; None where players choose, roll or move by hand."""
        if self.roll(state) is not None or not self.lists_all(state):
            return None
        answers = _answers(self, state)
        return answers[0] if len(answers) == 1 else None

    def shapes(self, state: Any) -> tuple[Shape, ...]:
        """Draws its subject."""
        return ()

    def pending(self, state: Any) -> PendingDecision:
        """Returns what the game waits for."""
        return self.asked(state) or PendingDecision(str(self.roll(state)))

    def listed(self, state: Any) -> tuple[Any, ...]:
        """Lists the actions that decide it, or its roll."""
        roll = self.roll(state)
        return _answers(self, state) if roll is None else (roll,)

    def automatic(self, state: Any) -> Any | None:
        """Returns what follows by itself; None where dice or a decision are needed."""
        if self.roll(state) is not None or self.asked(state) is not None:
            return None
        return self.follow(state.below(), None)

    def answered(self, state: Any, answer: Any) -> Any:
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

    def _words(self, words: str, state: Any) -> str:
        values = {key: getattr(self, key) for key in re.findall(r"{(\w+)", words)}
        for key, value in values.items():
            said = value(state) if callable(value) else value
            values[key] = ", ".join(map(str, said)) if isinstance(said, tuple) else said
        return words.format(**values)


def _legal(step: Step, state: Any) -> tuple[Any, ...]:
    return step.legal(state)


_answers: Final = remembered(_legal)


class Decide(Variant):
    """Answer yes or no."""

    yes: bool


YES_OR_NO = (Decide(True), Decide(False))
"""Both answers to a question of one side."""


class Steps(Protocol):
    """The state of a game that goes from step to step."""

    @property
    def position(self) -> Position:
        """The table."""

    @property
    def step(self) -> Step | None:
        """The step that is due next, if any."""


class Telling:
    """A base for frozen dataclasses; `told` are the events since the last action."""

    __slots__ = ()
    told: tuple[Event, ...]

    def with_events(self, *events: Event) -> Self:
        """Returns the state with more events."""
        return replace(self, told=(*self.told, *events))  # type: ignore[type-var]

    def tells(
        self, kind: str, text: str, rule: str | None = None, /, *drawn: Shape, **facts: Any
    ) -> Self:
        """Returns the state with an event."""
        return self.with_events(Event(kind, text, rule, facts, drawn))


class Stepping(Telling):
    """A base for frozen dataclasses with a stack of steps `due`, the last one first."""

    __slots__ = ()
    position: Position
    due: tuple[Any, ...]
    phase: Any

    @property
    def step(self) -> Any | None:
        """The step that is due next, if any."""
        return self.due[-1] if self.due else None

    def below(self) -> Self:
        """Returns the state without the step that is due next."""
        return replace(self, due=self.due[:-1])  # type: ignore[type-var]

    def pushed(self, *steps: Step) -> Self:
        """Returns the state with more steps due, the first of them next."""
        return replace(self, due=(*self.due, *reversed(steps)))  # type: ignore[type-var]


AnyState = TypeVar("AnyState", bound=Steps)


class StepGame(Game[AnyState, Any]):
    """What all games of steps have in common: dice, and the JSON of actions and states."""

    actions: ClassVar[TypeAdapter[Any]]
    states: ClassVar[TypeAdapter[Any]]

    def settle(self, state: AnyState, action: Any, chance: Random) -> Any:
        """Returns an action, a roll with its dice."""
        return action.rolled(chance) if isinstance(action, Roll) else action

    def forced(self, state: AnyState) -> Any | None:
        """Returns the only possible answer to what is due; see `Step.only_answer`."""
        return None if state.step is None else state.step.only_answer(state)

    def why_missing(self, state: AnyState) -> str:
        """Returns why what is due lacks an answer; see `Step.why_missing`."""
        return "" if state.step is None else state.step.why_missing(state)

    def position(self, state: AnyState) -> Position:
        """Returns the table according to the game."""
        return state.position

    def state_to_json(self, state: AnyState) -> Json:
        """Returns the JSON value of a state."""
        document: Json = to_plain(state)
        return document

    def action_to_json(self, action: Any) -> Json:
        """Returns the JSON value of an action."""
        document: Json = to_plain(action)
        return document

    def state_from_json(self, data: object) -> AnyState:
        """Parses a state."""
        state: AnyState = from_plain(self.states, data, "state")
        return state

    def action_from_json(self, data: object) -> Any:
        """Parses an action."""
        return from_plain(self.actions, renamed(data, "for", "for_"), "action")


def why_none(deed: str, bans: Mapping[str, Ban | None]) -> str:
    """Returns why units lack a choice, in the form of `whys`; empty if none lacks it.

    >>> why_none("fire", {"F1": Ban("1.1", "no enemy is in reach"), "F2": None})
    'No fire: no enemy is in reach (F1)'
    """
    return f"No {deed}: {why}" if (why := whys(bans)) else ""


def whys(bans: Mapping[str, Ban | None]) -> str:
    """Returns the reasons of some units' bans, each once with its units.

    >>> far, fired = Ban("1.1", "no enemy is in reach"), Ban.of("F3", "1.2", "has fired")
    >>> whys({"F1": far, "F2": far, "F3": fired, "F4": None})
    'no enemy is in reach (F1, F2); it has fired (F3)'
    >>> whys({"F1": far, "F2": far})
    'no enemy is in reach'
    """
    units_of: dict[str, list[str]] = {}
    for name, ban in bans.items():
        if ban is not None:
            units_of.setdefault(ban.clause or ban.because, []).append(name)
    return "; ".join(
        why if len(units) == len(bans) else f"{why} ({', '.join(units)})"
        for why, units in units_of.items()
    )


def ban_on_all(bans: Iterable[Ban | None]) -> Ban | None:
    """Returns the first of some bans; None if one of the ways is free."""
    listed = list(bans)
    return listed[0] if listed and None not in listed else None


PhaseState = TypeVar("PhaseState", bound=Stepping)
BanOn = Callable[[Any, str], Ban | None]
"""Returns why a unit lacks a choice, None if it has it or nobody looks for it."""


class PhaseGame(StepGame[PhaseState]):
    """A game of steps and phases: when nothing is due, the phase asks until it is `over`."""

    why_not: ClassVar[Mapping[str, Mapping[str, BanOn]]] = MappingProxyType({})
    """By phase, the choices that players look for, and why a unit of theirs lacks one."""

    @abstractmethod
    def question(self, state: PhaseState) -> PendingDecision:
        """Returns what the phase asks when nothing is due."""

    @abstractmethod
    def choices(self, state: PhaseState) -> Iterable[Any]:
        """Yields what may be done in the phase."""

    @abstractmethod
    def outcome(self, state: PhaseState) -> str:
        """Returns how the game has ended."""

    @abstractmethod
    def laid(self, state: PhaseState, action: Lay) -> PhaseState:
        """Returns the state with units as they really lie.

        Raises:
            Refused: They do not lie there.
        """

    @abstractmethod
    def overruled(self, state: PhaseState, action: Any) -> PhaseState:
        """Returns the state as players set it.

        Raises:
            Refused: It cannot be set so.
        """

    @abstractmethod
    def acted(self, state: PhaseState, action: Any) -> PhaseState:
        """Returns what follows from an action when nothing is due.

        Raises:
            Refused: It is not legal now.
        """

    def missed(self, state: PhaseState) -> Mapping[str, BanOn]:
        """Returns the choices that players look for in the phase, and why a unit lacks one."""
        return self.why_not.get(state.phase, {})

    def units_of(self, state: PhaseState, side: str | None) -> list[str]:
        """Returns the units of a side that may act."""
        return [unit.id for unit in self.position(state).units if unit.side == side]

    def why_missing(self, state: PhaseState) -> str:
        """Returns why units lack what the phase, or the step due, lets others do."""
        if state.step is not None:
            return super().why_missing(state)
        own = self.units_of(state, self.asked(state).seat)
        whys = (
            why_none(deed, {name: ban_on(state, name) for name in own})
            for deed, ban_on in self.missed(state).items()
        )
        return ". ".join(filter(None, whys))

    def ended(self, state: PhaseState) -> PhaseState:
        """Returns the state, `over` if something that has happened ends the game."""
        return state

    def goes_on(self, state: PhaseState) -> PhaseState | None:
        """Returns what follows by itself when nothing is due, None if somebody decides."""
        return None

    def settled(self, state: PhaseState) -> PhaseState:
        """Returns the state at the next decision or dice."""
        while (state := self.ended(state)).phase != "over":
            step = state.step
            followed = self.goes_on(state) if step is None else step.automatic(state)
            if followed is None:
                break
            state = followed
        return state

    def apply(self, state: PhaseState, action: Any) -> tuple[PhaseState, Events]:
        """Returns the next state and the events.

        Raises:
            Refused: The action is not legal now.
        """
        if isinstance(action, Lay):
            after = self.laid(state, action)
        elif action.type == OVERRULE:
            after = self.settled(self.overruled(state, action))
        elif state.phase == "over":
            raise Refused("expected nothing more: the game is over")
        elif state.step is not None:
            after = self.settled(state.step.answered(state, action))
        else:
            after = self.settled(self.acted(state, action))
        return replace(after, told=()), after.told  # type: ignore[type-var]

    def asked(self, state: PhaseState) -> PendingDecision:
        """Returns the decision of the step due, or of the phase."""
        if state.phase == "over":
            return PendingDecision(self.outcome(state), is_over=True)
        return self.question(state) if state.step is None else state.step.pending(state)

    def legal(self, state: PhaseState) -> tuple[Any, ...]:
        """Lists the actions; of moves, the usual ones."""
        if state.phase == "over":
            return ()
        return tuple(self.choices(state) if state.step is None else state.step.listed(state))
