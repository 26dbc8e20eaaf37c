"""The engine's core: what a rule system is to whoever plays it without knowing which one it is.

A game is a pure function. Its state is immutable and says what is asked of whom; `legal` lists the
answers; `apply` gives the next state and what happened. Decisions, dice and concealed cards are all
actions, so the same actions give the same game. `README.md` says how a rule system is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from tablecam.errors import BadInput
from tablecam.geometry.shapes import Shape
from tablecam.table.model import Position
from tablecam.uncertainty.answer import Answer

Json = dict[str, Any]

OVERRULE, LAY = "overrule", "lay"
"""Types of action that every game may have beside its own, and whoever runs one may count on.

What players set themselves, against the rules even, at any time (its `units` lie as laid, its `why`
is theirs); and where units really lie, taken
over by the referee itself (`Game.laid`), which is nobody's action to be taken back.
"""

State = TypeVar("State")
Action = TypeVar("Action")


class Refused(BadInput):
    """An action that is not legal now; nothing has changed. `rule` forbids it.

    >>> print(Refused("expected a card: even at distance 0 one is needed", rule="M-4.13"))
    action: M-4.13 expected a card: even at distance 0 one is needed
    """

    def __init__(self, message: str, *, rule: str | None = None, key: str | None = None) -> None:
        super().__init__("action", message if rule is None else f"{rule} {message}", key=key)
        self.rule = rule


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, as the log and the page tell it.

    `kind` is one of the game's words (`hit`, `broken`, `round`, ...), `text` one plain sentence,
    `facts` what programs want of it, `evidence` what a page draws. An event that is `only_for` a
    seat is concealed from everyone else.
    """

    kind: str
    text: str
    rule: str | None = None
    facts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    evidence: tuple[Shape, ...] = ()
    only_for: str | None = None

    def to_json(self) -> Json:
        """The event as documents hold it."""
        return {
            "kind": self.kind,
            "text": self.text,
            "rule": self.rule,
            "facts": dict(self.facts),
            "evidence": [shape.to_json() for shape in self.evidence],
        }


@dataclass(frozen=True, slots=True)
class Closed:
    """Nobody measures now, as players have agreed to declare first; `because` is one sentence.

    Between the units and commanders that are `declared`, and from them to bare points of the table,
    it is open all the same.
    """

    because: str
    declared: tuple[str, ...] = ()

    def permits(self, names: Iterable[str | None]) -> bool:
        """Whether two things may be measured between; None is a point, which nobody declares.

        What is asked of one thing alone (its rings, its zones, whom it reaches) tells of others.
        """
        ends = list(names)
        named = [name for name in ends if name is not None]
        return len(ends) > 1 and bool(named) and all(name in self.declared for name in named)

    def to_json(self) -> Json:
        """What is closed as documents hold it."""
        return {"because": self.because, "declared": list(self.declared)}


@dataclass(frozen=True, slots=True)
class Asked:
    """What is due: `question` is one sentence, and `seat` is asked it.

    Without a seat chance is asked (dice, a draw), or nobody, as the game `is_over`. When
    `is_concealed` the answers show what only that seat may see. `closed` says so where measuring
    is closed until something is declared.
    """

    question: str
    seat: str | None = None
    is_over: bool = False
    is_concealed: bool = False
    closed: Closed | None = None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An action that a hand on the table seems to have made: whether it was legal, and why.

    `action` is None where the game knows no such action at all. `nearest` is the nearest position
    in which it would have been legal, where there is one to be drawn.
    """

    unit: str
    text: str
    action: object | None
    answer: Answer
    nearest: Position | None = None


@dataclass(frozen=True, slots=True)
class AlikeDice:
    """Dice of one roll that count alike: whose they are, and their places among its values.

    Each does something when it shows what it `needs`, or more; None where dice are compared.
    """

    whose: str
    needs: int | None
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """An action as a page offers it: among others of its group, in a few words, and drawn.

    Of a roll it says whose the `dice` are, where that matters.
    """

    group: str
    label: str
    evidence: tuple[Shape, ...] = ()
    dice: tuple[AlikeDice, ...] = ()


class Game(Protocol[State, Action]):
    """A rule system. States and actions are its own; they are only passed on and compared.

    One that inherits from this sees nothing of what hands do, and has nothing to conceal, unless
    it says so.
    """

    @property
    def name(self) -> str:
        """The game as documents name it."""

    def begin(self, position: Position, options: Mapping[str, Any]) -> State:
        """The first state of a game on a table as it lies.

        Raises:
            BadInput: The table does not fit the game, or an option is unknown or wrong.
        """

    def asked(self, state: State) -> Asked:
        """What is due now, and of whom."""

    def legal(self, state: State) -> tuple[Action, ...]:
        """Complete actions, each of which `apply` takes unchanged (dice after `settle`).

        Where a choice is continuous, such as a march, they are the usual ones, and `apply` takes
        every other that the rules allow. Empty only when the game is over.
        """

    def apply(self, state: State, action: Action) -> tuple[State, tuple[Event, ...]]:
        """The state that follows, and what happened.

        Raises:
            Refused: The action is not legal now, or its dice are missing or not those due.
        """

    def settle(self, state: State, action: Action, chance: Random) -> Action:
        """The action with whatever chance decides filled in, where players have not said it."""

    def agreed_on(self, state: State, action: Action) -> str:
        """What an action says, where all players have to agree on it; empty where one may do it.

        They have to where it would tell one of them what is concealed from him.

        Raises:
            Refused: It says what is nobody's to say: which card comes up of a concealed deck.
        """
        return ""

    def moved(self, state: State, position: Position) -> tuple[Suggestion, ...]:
        """What was done by hand, going by where the bases lie now."""
        return ()

    def offered(self, state: State, action: Action) -> Offer:
        """A legal action as a page shows it."""

    def odd(self, state: State) -> str:
        """What is odd about how all lies, and ruled on all the same; empty when nothing is."""
        return ""

    def pictured(self, state: State) -> tuple[Shape, ...]:
        """What is due, as a page draws it: who may act, who rolls, a zone."""
        return ()

    def laid(self, state: State, position: Position) -> Action | None:
        """The action that takes over by how little bases lie elsewhere than the game has them.

        None where there is nothing to take over, or the rules want things left as they are.
        """
        return None

    def forced(self, state: State) -> Action | None:
        """What is due where nothing is left to be chosen, dice not and by no hand either.

        None wherever a player may want to do otherwise than `legal` lists.
        """
        return None

    def position(self, state: State) -> Position:
        """The table as the game knows it, with the units' states."""

    def seen_by(self, state: State, seat: str | None) -> Json:
        """The state as a seat may see it; None is a spectator's. Concealed cards are left out."""
        return self.state_to_json(state)

    def state_to_json(self, state: State) -> Json:
        """The whole state, concealed things included; nothing is lost."""

    def state_from_json(self, data: object) -> State:
        """The state that a document holds.

        Raises:
            BadInput: It is not one of this game's.
        """

    def action_to_json(self, action: Action) -> Json:
        """The action as a document with its `type`."""

    def action_from_json(self, data: object) -> Action:
        """The action that a document holds.

        Raises:
            BadInput: Naming the key, what was expected and what came.
        """
