"""The state of a game of Maurice Lite: all that what comes next can hang on, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from tablecam.rules.maurice.game.state.cards import Card
from tablecam.rules.maurice.game.state.steps import Step, Symbol
from tablecam.table.model import Position, Unit

Command = Literal["pass", "event", "charge", "march", "rally", "bombard"]
Measuring = Literal["free", "declared"]
"""Whether players may measure as they like, or only what has been declared."""
DeckStage = Literal["first", "second", "last"]
"""Before the first reshuffle, with the Reshuffle card in it, and after it is out (M-4.20 to 22)."""


@dataclass(frozen=True, slots=True)
class Side:
    """What a side has beside its units.

    `hand` is how many cards it holds; `cards` which ones, where tablecam deals (M-3.10).
    """

    name: str
    morale: int
    hand: int
    cards: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deck:
    """The face-down deck and the discards that both sides share (M-3.1).

    With the players' own cards only the numbers are known; where tablecam deals, `cards` are those
    left in the deck, in no order, and `discards` those on the pile. Cards that are out of the game
    are in neither.
    """

    left: int
    discarded: int
    stage: DeckStage = "first"
    cards: tuple[str, ...] = ()
    discards: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Modifier:
    """A modifying card's effect: `amounts` by unit, in what its symbol counts.

    Pips on a die to hit (musket, cannon), on a combat value (swords) or on a die to rally (flag);
    base widths of movement (bugle).
    """

    side: str
    symbol: Symbol
    amounts: Mapping[str, int]
    card: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "amounts", MappingProxyType(dict(self.amounts)))


@dataclass(frozen=True, slots=True)
class Round:
    """What has been done in this round that rules ask for later in it.

    `began` is the table when the round began: the formations that fix allowances (M-6.2), what was
    in view (M-8.4); `is_without_cards` when its player began it so (M-4.18). `fired` are the units
    that have fired (M-7.7), `modifiers` at most one for each side and symbol (M-3.6), `displaced`
    the sides whose commander was and that have not paid for it yet (M-6.30).
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
        """What all cards of a symbol that were played in this round add to each unit."""
        found: dict[str, int] = {}
        for each in self.modifiers:
            if each.symbol == symbol:
                for unit, amount in each.amounts.items():
                    found[unit] = found.get(unit, 0) + amount
        return MappingProxyType(found)


@dataclass(frozen=True, slots=True)
class Options:
    """How the players have agreed to play.

    `deck` is the name of the deck that tablecam deals, None where the players hold printed cards;
    `cards` are all of its cards. `measuring` says whether they measure before they declare.
    """

    deck: str | None = None
    cards: tuple[Card, ...] = ()
    measuring: Measuring = "free"

    def card(self, card_id: str) -> Card | None:
        """The card of that id, None where the deck has none."""
        return next((card for card in self.cards if card.id == card_id), None)


@dataclass(frozen=True, slots=True)
class State:
    """A game between two actions. `step` is what is due; `night_passes` counts towards night."""

    position: Position
    sides: tuple[Side, Side]
    deck: Deck
    round: Round
    step: Step
    options: Options = field(default_factory=Options)
    night_passes: int = 0

    @property
    def declares_first(self) -> bool:
        """Whether players declare before they measure: then no list tells what is in reach."""
        return self.options.measuring == "declared"

    @property
    def active(self) -> str:
        """The side whose round it is (M-1.5)."""
        return self.round.active

    @property
    def passive(self) -> str:
        """The other side."""
        return self.other(self.active)

    def other(self, side: str) -> str:
        """The side against this one."""
        first, second = self.sides
        return second.name if side == first.name else first.name

    def side(self, name: str) -> Side:
        """A side by its name."""
        first, second = self.sides
        return first if name == first.name else second

    def with_side(self, side: Side) -> State:
        """The state with what a side has replaced."""
        sides = tuple(side if each.name == side.name else each for each in self.sides)
        return replace(self, sides=(sides[0], sides[1]))

    def with_unit(self, unit: Unit) -> State:
        """The state with a unit replaced: moved, disrupted, in smoke."""
        units = tuple(unit if each.id == unit.id else each for each in self.position.units)
        return replace(self, position=replace(self.position, units=units))

    def to(self, step: Step) -> State:
        """The state with another step due."""
        return replace(self, step=step)
