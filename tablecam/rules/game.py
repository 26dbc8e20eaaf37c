"""The interface of a rule system, `Game`, and the values that pass through it.

A game is a pure function. Its state is immutable; `asked` says which seat has to decide what,
`legal` lists the possible actions, `apply` returns the next state and the events. Decisions, dice
and concealed cards are all actions, so equal actions give equal games. `README.md` explains how to
add a rule system.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.geometry.shapes import Shape
from tablecam.rules.descriptions import (
    BeginField,
    Described,
    Form,
    HeldCard,
    Setting,
    files_form,
)
from tablecam.table.model import Position
from tablecam.table.motion import bases_left
from tablecam.uncertainty.answer import Answer

OVERRULE, LAY = "overrule", "lay"
"""Types of action that every game may have in addition to its own.

`overrule` is what players set themselves at any time, even against the rules: `units` as they lie,
units that go `off` the table, the game's settings, and `why`. `lay` is the actual place of units,
adopted by the referee (`Game.adopt_positions`); it is nobody's action and cannot be taken back.
"""

State = TypeVar("State")
Action = TypeVar("Action")


class Refused(BadInput):
    """Raised for an action that is not legal now, with the rule that forbids it.

    >>> print(Refused("expected a card: even at distance 0 one is needed", rule="M-4.13"))
    action: M-4.13 expected a card: even at distance 0 one is needed
    """

    def __init__(self, message: str, *, rule: str | None = None, key: str | None = None) -> None:
        super().__init__("action", message if rule is None else f"{rule} {message}", key=key)
        self.rule = rule
        self.why = message


@dataclass(frozen=True, slots=True)
class Ban:
    """The rule that forbids something, and why, in one sentence.

    If the sentence names the unit concerned, `clause` says "it" instead, to serve several units.
    """

    rule: str
    because: str
    clause: str = ""

    @classmethod
    def of(cls, who: str, rule: str, predicate: str) -> Ban:
        """Returns a ban on `who`; the predicate says what he is, has or does."""
        return cls(rule, f"{who} {predicate}", f"it {predicate}")

    def refused(self, who: str = "") -> Refused:
        """Returns the error to raise for an action; `who` begins the sentence."""
        return Refused(f"{who}: {self.because}" if who else self.because, rule=self.rule)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, for the log and the page.

    `kind` is a term of the game (`hit`, `broken`, `round`, ...) or one that all games share: an
    `overrule`, or `over` when the game ends. `text` is one plain sentence, `facts` its data for
    programs (pages list the `sums` in it), `evidence` the shapes to draw. An event `only_for` a
    seat is concealed from all others.
    """

    kind: str
    text: str
    rule: str | None = None
    facts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    evidence: tuple[Shape, ...] = ()
    only_for: str | None = None

    def to_json(self) -> Json:
        """Returns the JSON value of the event."""
        return {
            "kind": self.kind,
            "text": self.text,
            "rule": self.rule,
            "facts": dict(self.facts),
            "evidence": [shape.to_json() for shape in self.evidence],
        }


@dataclass(frozen=True, slots=True)
class DeclareFirst:
    """A ban on measuring, because players agreed to declare first; `because` is one sentence.

    It permits measuring between the units and commanders that are `declared`, and from them to
    points of the table.
    """

    because: str
    declared: tuple[str, ...] = ()

    def permits(self, names: Iterable[str | None]) -> bool:
        """Whether measuring between things is permitted; None stands for a point of the table."""
        # A question about one thing alone (rings, zones, reach) would reveal lengths to others.
        ends = list(names)
        named = [name for name in ends if name is not None]
        return len(ends) > 1 and bool(named) and all(name in self.declared for name in named)


class Sum(NamedTuple):
    """A total as players read it: its title, and its terms in words."""

    title: str
    terms: tuple[str, ...]


def outcomes_of(words_of: Callable[[int], str], faces: Iterable[int]) -> Sum:
    """Returns the result of each face of a die, equal ones together."""
    by_words: dict[str, list[str]] = {}
    for face in faces:
        by_words.setdefault(words_of(face), []).append(str(face))
    return Sum("On the die", tuple(f"{', '.join(dice)}: {text}" for text, dice in by_words.items()))


@dataclass(frozen=True, slots=True)
class PendingDecision:
    """The decision that a game waits for: one sentence, and the seat that has to decide.

    Without a seat, chance decides (dice, a draw), or the game `is_over`. If `is_concealed`, the
    answers show what only that seat may see. `closed` is the ban on measuring until something is
    declared, if any. `hint` says what players do by hand, `shared_hint` the same for a shared
    screen, which shows no hands of cards, and `sums` what counts.
    """

    question: str
    seat: str | None = None
    is_over: bool = False
    is_concealed: bool = False
    closed: DeclareFirst | None = None
    hint: str = ""
    sums: tuple[Sum, ...] = ()
    shared_hint: str = ""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An action inferred from a move on the table, whether it was legal, and why.

    `action` is None if the game has no such action. `nearest` is the nearest position in which the
    move would have been legal, if there is one to draw. If the doubt is not about a length but
    about what was done, players pick one of the `choices`: labels with actions.
    """

    unit: str
    text: str
    action: object | None
    answer: Answer
    nearest: Position | None = None
    choices: tuple[tuple[str, object], ...] = ()

    @property
    def is_legal(self) -> bool:
        """Whether players may confirm it, even if it is too close to call."""
        word = self.answer.answer
        return word == "yes" or (self.action is not None and word != "no")


@dataclass(frozen=True, slots=True)
class DiceGroup:
    """Dice of one roll that count alike: the owner, and their indices among the roll's values.

    A die succeeds if it shows `needs` or more; None if dice are compared, or added up: `goal` is
    then the target, such as `9 or less together`.
    """

    whose: str
    needs: int | None
    places: tuple[int, ...]
    goal: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """An action as a page offers it: its group, a short label, and shapes to draw.

    For a roll, `dice` says whose dice they are, if that matters. `units` are those that the action
    is about; by default, the action's own `unit`.
    """

    group: str
    label: str
    evidence: tuple[Shape, ...] = ()
    dice: tuple[DiceGroup, ...] = ()
    units: tuple[str, ...] = ()


class Game(Described, Protocol[State, Action]):
    """A rule system. Its states and actions are opaque: callers only pass on and compare them.

    The defaults suit a game that ignores moves on the table and conceals nothing.
    """

    @property
    def name(self) -> str:
        """The name of the game in documents."""

    def begin_form(self, sides: Sequence[str]) -> tuple[BeginField, ...]:
        """Returns what players choose before a game: its files, if it reads any."""
        return files_form(self.name) if self.file_models else ()

    def begin(self, position: Position, options: Mapping[str, Any]) -> State:
        """Returns the first state of a game that begins from a position.

        Raises:
            BadInput: The table does not fit the game, or an option is unknown or wrong.
        """

    def asked(self, state: State) -> PendingDecision:
        """Returns the decision that the game waits for."""

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists complete actions that `apply` accepts unchanged (rolls, after `settle`).

        For a continuous choice, such as a march, it lists the usual ones, and `apply` accepts any
        other that the rules allow. Empty only when the game is over.
        """

    def apply(self, state: State, action: Action) -> tuple[State, tuple[Event, ...]]:
        """Returns the next state and the events.

        Raises:
            Refused: The action is not legal now, or its dice are missing or wrong.
        """

    def settle(self, state: State, action: Action, chance: Random) -> Action:
        """Returns the action with random results filled in where players gave none."""

    def agreed_on(self, state: State, action: Action) -> str:
        """Returns a description of an action that all players must agree to, else an empty text.

        They must agree if it would reveal to a player what is concealed from that player.

        Raises:
            Refused: Nobody may decide this, such as which card comes up from a concealed deck.
        """
        return ""

    def detect_moves(self, state: State, position: Position) -> tuple[Suggestion, ...]:
        """Infers the moves that players made by hand from the current position of the bases."""
        return ()

    def offered(self, state: State, action: Action) -> Offer:
        """Returns a legal action as a page shows it."""

    def irregularities(self, state: State, away: Collection[str]) -> str:
        """Lists irregularities of a position that can still be ruled on; empty if there are none.

        The units that are `away` have been moved since.
        """
        return ""

    def step_shapes(self, state: State) -> tuple[Shape, ...]:
        """Returns shapes that illustrate the pending decision: who may act, who rolls, a zone."""
        return ()

    def adopt_positions(self, state: State, position: Position) -> Action | None:
        """Returns the action that adopts small differences between the table and the game.

        None if there are none, or if the rules require things to stay as they are. By default it
        adopts which bases are left of a unit that has lost some, as an action of type `LAY` with
        `units`: players may take off other bases than the game did.
        """
        left = bases_left(self.position(state), position)
        if not left:
            return None
        units = {name: [asdict(base) for base in bases] for name, bases in left.items()}
        return self.action_from_json({"type": LAY, "units": units})

    def forced(self, state: State) -> Action | None:
        """Returns the only possible action, if nothing is left to choose, roll or move by hand.

        None whenever a player may want to do something that `legal` does not list.
        """
        return None

    def passed(self, state: State) -> Action | None:
        """Returns the action by which the asked seat lets the moment pass: no card, no reaction.

        It must reveal nothing concealed. None if the seat has to decide something.
        """
        return None

    def why_missing(self, state: State) -> str:
        """Returns in one line why `legal` lacks what players may look for; empty if nothing.

        Only the asked seat reads it, except with a `forced` answer, which everyone sees: it must
        then reveal nothing concealed.
        """
        return ""

    def settings(self, state: State) -> tuple[Setting, ...]:
        """Returns what players may overrule, with the present values."""
        return ()

    def forms(self, state: State) -> tuple[Form, ...]:
        """Returns the forms in which the asked seat may compose an action."""
        return ()

    def hand(self, state: State, seat: str) -> tuple[HeldCard, ...]:
        """Returns the cards that a seat holds, seen by nobody else."""
        return ()

    def position(self, state: State) -> Position:
        """Returns the table as the game has it, with the units' states."""

    def seen_by(self, state: State, seat: str | None) -> Json:
        """Returns the state with everything concealed from a seat removed; None is a spectator."""
        return self.state_to_json(state)

    def state_to_json(self, state: State) -> Json:
        """Returns the JSON value of the whole state, including what is concealed."""

    def state_from_json(self, data: object) -> State:
        """Parses a state.

        Raises:
            BadInput: It is not a state of this game.
        """

    def action_to_json(self, action: Action) -> Json:
        """Returns the JSON value of an action, with its `type`."""

    def action_from_json(self, data: object) -> Action:
        """Parses an action.

        Raises:
            BadInput: Names the key, the expected and the actual value.
        """
