"""The state of a game of Maurice Lite: everything on which its further course depends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal

from tablecam.errors import BadInput
from tablecam.rules import steps
from tablecam.rules.frozen_json import ReadOnlyMappings, classes_of
from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.table.model import Commander, Position, Scalar, Unit

Direction = Literal["left", "right"]
Symbol = Literal["swords", "bugle", "cannon", "flag", "musket"]
"""A modifying card's symbol: charge, march, bombard, rally, volleys (M-3.5)."""
Moment = Literal["volleys", "activation"]
"""When the passive side may interrupt: after volleys are invoked or a force activated (M-4.17)."""


class Step(steps.Step, is_family=True):
    """The next step of a game; a round goes from one to the next (M-4.2)."""

    least_answers = 0
    is_setup: ClassVar[bool] = False
    """Measuring is free in setup, as nobody can shoot or charge yet (M-2)."""

    about: ClassVar[str] = ""
    """The field that names the units that act or roll, if any."""
    acted: ClassVar[tuple[str, ...]] = ()
    """The fields that name the units that have already done so."""
    is_complete: ClassVar[bool] = False
    """Whether it lists all possible answers, so that players do nothing else by hand."""
    kinds: ClassVar[tuple[type, ...]] = ()
    """The kinds of actions that decide it, if it refuses all others alike."""
    expects: ClassVar[str] = ""
    answer_rule: ClassVar[str | None] = None
    """The name of these actions, and the rule that asks for them."""
    opens: ClassVar[str] = "the {side} action is declared"
    """The declaration that opens measuring again."""

    @property
    def waiting(self) -> tuple[str, ...]:
        """The units that may act or roll."""
        named = getattr(self, self.about, ())
        acted = {name for field in self.acted for name in getattr(self, field)}
        names = (named,) if isinstance(named, str) else named
        return tuple(name for name in names if name not in acted)

    def names(self, state: State) -> tuple[str, ...]:
        """Returns the units that may act or roll."""
        return self.waiting

    def owner(self, state: State) -> str:
        """Returns the side that is asked: the step's own, else the active one."""
        return str(getattr(self, "side", state.active))

    def concerned(self, state: State) -> tuple[str, ...]:
        """Returns the units whose dice or moves a card played before the step could change."""
        return self.waiting

    def declared(self, state: State) -> Iterable[str]:
        """Returns the units in a declared action, and a force's commander (M-4.11)."""
        force, leader = getattr(self, "force", ()), state.commander(state.active)
        return (*force, leader.id) if force and leader is not None else force or self.waiting

    def takes(self, state: State, answer: Any) -> bool:
        """Whether an action decides it: `follow` refuses all others, with the rule."""
        return True

    def follow(self, state: State, answer: Any) -> State:
        """Returns the next state, which tells the events."""
        if self.kinds and not isinstance(answer, self.kinds):
            raise Refused(f"expected {self.expects}, got {answer.type}", rule=self.answer_rule)
        return self.decided(state, answer)

    def decided(self, state: State, answer: Any) -> State:
        """Returns the state after an action, or dice."""
        raise NotImplementedError

    def lists_all(self, state: State) -> bool:
        """Whether it lists all possible answers."""
        return self.is_complete

    def goes_on(self, state: State) -> State | None:
        """Returns the state after it if nobody is asked; None for most steps."""
        return None


Effect = Literal["first-fire", "rough-going", "foil", "other"]
"""The effect of an interrupt on the round.

- `first-fire`: the passive side shoots first
- `rough-going`: difficult ground is impassable to moves in this round
- `foil`: the activation fails (M-4.19)
- `other`: no effect on the rules here
"""

MOMENTS: Final[Mapping[Effect, tuple[Moment, ...]]] = MappingProxyType(
    {
        "first-fire": ("volleys",),
        "rough-going": ("activation",),
        "foil": ("activation",),
        "other": ("volleys", "activation"),
    }
)
"""The moments at which an interrupt of each effect may be played (M-4.17)."""
RESHUFFLE: Final = "reshuffle"
"""The id of the Reshuffle card, which every deck contains (M-4.20, M-4.21)."""


@dataclass(frozen=True, slots=True)
class Modification:
    """The modifier that a card gives, and the units to which it applies.

    `adds` counts in the unit of the card's symbol. `to` is `own` for the units of the side that
    plays it, else `enemy`; it applies to one of them (`is_for_one`) or to all.
    """

    symbol: Symbol
    adds: int
    to: Literal["own", "enemy"] = "own"
    is_for_one: bool = True


@dataclass(frozen=True, slots=True)
class Card:
    """A card: its span in BW, and its effect when it is not played for the span (M-3.9).

    Players carry out the text of an `is_event` card themselves.
    """

    id: str
    title: str
    span_bw: int
    text: str = ""
    modifies: Modification | None = None
    interrupts: Effect | None = None
    is_event: bool = False
    is_removable: bool = False


Command = Literal["pass", "event", "charge", "march", "rally", "bombard"]
Measuring = Literal["free", "declared"]
"""Whether players may measure freely, or only between declared units."""
DeckStage = Literal["first", "second", "last"]
"""The stage of the deck (M-4.20 to M-4.22).

`first` before the first reshuffle, `second` with the Reshuffle card in it, `last` after that card
has come up.
"""


@dataclass(frozen=True, slots=True)
class Side:
    """A side's morale and hand.

    `hand` is the number of cards in hand, `cards` their ids if tablecam deals (M-3.10).
    """

    name: str
    morale: int
    hand: int
    cards: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deck:
    """The face-down deck and the discard pile, shared by both sides (M-3.1).

    If players hold the cards, only the counts are known. If tablecam deals, `cards` are those left
    in the deck in no order, and `discards` those on the pile; removed cards are in neither.
    """

    left: int
    discarded: int
    stage: DeckStage = "first"
    cards: tuple[str, ...] = ()
    discards: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Modifier(ReadOnlyMappings):
    """The effect of a modifying card: `amounts` by unit, in the unit of its symbol.

    Pips on a die to hit (musket, cannon), on a combat value (swords) or on a die to rally (flag);
    base widths of movement (bugle).
    """

    side: str
    symbol: Symbol
    amounts: Mapping[str, int]
    card: str | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """Facts of this round on which later rules depend.

    `began` is the position at the round's start: it fixes allowances (M-6.2) and targets in view
    (M-8.4). `is_without_cards`: the active side started the round without cards (M-4.18). `fired`
    are the units that have fired (M-7.7). `modifiers` holds at most one per side and symbol
    (M-3.6). `displaced` are the sides that still have to pay for a displaced commander (M-6.30).
    """

    number: int
    active: str
    began: Position
    is_without_cards: bool = False
    is_deck_out: bool = False
    command: Command | None = None
    has_volleys: bool = False
    passive_fires_first: bool = False
    is_rough_going: bool = False
    fired: frozenset[str] = frozenset()
    modifiers: tuple[Modifier, ...] = ()
    is_interrupted: bool = False
    displaced: frozenset[str] = frozenset()

    def amounts(self, symbol: Symbol) -> Mapping[str, int]:
        """Returns the sum that all played cards of a symbol add to each unit."""
        amounts: Counter[str] = Counter()
        for modifier in self.modifiers:
            if modifier.symbol == symbol:
                # Cards of both sides may concern the same unit.
                amounts.update(modifier.amounts)
        return MappingProxyType(amounts)


@dataclass(frozen=True, slots=True)
class Options:
    """The options that players agreed on.

    `deck` names the deck that tablecam deals and `cards` all its cards; `deck` is None if players
    hold printed cards. `measuring` says whether players may measure before they declare.
    """

    deck: str | None = None
    cards: tuple[Card, ...] = ()
    measuring: Measuring = "free"

    def card(self, card_id: str) -> Card | None:
        """Returns the card with an id, or None if the deck has none."""
        return next((card for card in self.cards if card.id == card_id), None)


@dataclass(frozen=True, slots=True)
class State(steps.Telling):
    """A game between two actions: `step` is next, `night_passes` counts towards night (M-4.6)."""

    position: Position
    sides: tuple[Side, Side]
    deck: Deck
    round: Round
    step: Step
    options: Options = field(default_factory=Options)
    night_passes: int = 0
    told: tuple[Event, ...] = field(default=(), compare=False)

    @property
    def declares_first(self) -> bool:
        """Whether players declare before they measure, so that no list may reveal reach."""
        return self.options.measuring == "declared"

    @property
    def is_dealt(self) -> bool:
        """Whether tablecam deals the cards, and so knows each of them (M-3.10)."""
        return self.options.deck is not None

    @property
    def active(self) -> str:
        """The side whose round it is (M-1.5)."""
        return self.round.active

    @property
    def passive(self) -> str:
        """The other side."""
        return self.other(self.active)

    def other(self, side: str) -> str:
        """Returns the name of the opposing side."""
        first, second = self.sides
        return second.name if side == first.name else first.name

    def side(self, name: str) -> Side:
        """Returns a side by its name."""
        first, second = self.sides
        return first if name == first.name else second

    def cards_of(self, side: str) -> tuple[Card, ...]:
        """Returns the cards that a side was dealt and still holds."""
        held = (self.options.card(card_id) for card_id in self.side(side).cards)
        return tuple(card for card in held if card is not None)

    def commander(self, side: str) -> Commander | None:
        """Returns a side's commander, or None if it has none on the table."""
        own = (leader for leader in self.position.commanders if leader.side == side)
        return next(own, None)

    def with_side(self, side: Side) -> State:
        """Returns the state with a side replaced."""
        sides = tuple(side if known.name == side.name else known for known in self.sides)
        return replace(self, sides=(sides[0], sides[1]))

    def with_unit(self, unit: Unit) -> State:
        """Returns the state with a unit replaced, by its id."""
        units = tuple(unit if known.id == unit.id else known for known in self.position.units)
        return replace(self, position=replace(self.position, units=units))

    def with_marker(self, unit: Unit, **markers: Scalar) -> State:
        """Returns the state with some of a unit's markers set."""
        return self.with_unit(replace(unit, state={**unit.state, **markers}))

    def with_round(self, **facts: Any) -> State:
        """Returns the state with some facts of its round set."""
        return replace(self, round=replace(self.round, **facts))

    def to(self, step: Step) -> State:
        """Returns the state with another step next."""
        return replace(self, step=step)

    def at(self, step: str) -> State:
        """Returns the state at a step that needs no data, by its type."""
        return self.to(next(kind() for kind in classes_of(Step) if kind.type == step))

    def below(self) -> State:
        """Returns the state without its step, which each step replaces by its successor."""
        return self


class Over(Step):
    """The end of the game; `winner` is None in a draw (M-4.1)."""

    winner: str | None
    because: str
    rule: str

    def asked(self, state: State) -> PendingDecision:
        """Asks nobody."""
        return PendingDecision(self.because, is_over=True)

    def decided(self, state: State, answer: Any) -> State:
        """Refuses any answer."""
        raise Refused("the game is over", rule=self.rule)


def permitted(actions: Iterable[Any], check: Callable[[Any], object]) -> tuple[Any, ...]:
    """Returns the actions that a check does not refuse."""

    def is_permitted(action: Any) -> bool:
        try:
            check(action)
        except Refused:
            return False
        return True

    return tuple(filter(is_permitted, actions))


@contextmanager
def refusing(rule: str | None = None, key: str | None = None) -> Iterator[None]:
    """Turns `BadInput` into a refusal under a rule."""
    try:
        yield
    except BadInput as error:
        raise Refused(error.message, rule=rule, key=key or error.key) from None
