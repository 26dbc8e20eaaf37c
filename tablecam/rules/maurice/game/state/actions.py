"""What players and chance can do in a game of Maurice Lite; each is one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from tablecam.rules.dice import Roll
from tablecam.rules.maurice.game.state.cards import Effect
from tablecam.rules.maurice.game.state.state import Command, DeckStage
from tablecam.rules.maurice.game.state.steps import Direction, Symbol
from tablecam.table.model import BasePose, Point, Terrain


@dataclass(frozen=True, slots=True)
class LayTerrain:
    """The terrain that a side has laid, instead of whatever lay there (M-2.1)."""

    terrain: tuple[Terrain, ...]
    type: Literal["lay-terrain"] = "lay-terrain"


@dataclass(frozen=True, slots=True)
class ChooseEdge:
    """A side's long edge: `near` is the one at y = 0 (M-2.3)."""

    edge: Literal["near", "far"]
    type: Literal["choose-edge"] = "choose-edge"


@dataclass(frozen=True, slots=True)
class ChooseOrder:
    """The side that deploys first (M-2.3)."""

    first: str
    type: Literal["choose-order"] = "choose-order"


@dataclass(frozen=True, slots=True)
class Deploy:
    """A side has deployed: `units` to where their bases are now, the others where they lay.

    So have its `commanders`, by their places.
    """

    side: str
    units: Mapping[str, tuple[BasePose, ...]] = field(default_factory=dict)
    commanders: Mapping[str, Point] = field(default_factory=dict)
    type: Literal["deploy"] = "deploy"

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", MappingProxyType(dict(self.units)))
        object.__setattr__(self, "commanders", MappingProxyType(dict(self.commanders)))


@dataclass(frozen=True, slots=True)
class Volleys:
    """The active side invokes the volley phase, or does without (M-4.3)."""

    invoke: bool
    type: Literal["volleys"] = "volleys"


@dataclass(frozen=True, slots=True)
class Interrupt:
    """The passive side interrupts (M-4.17); with its own cards it says what the card does.

    `first-fire`: the passive side shoots first; `rough-going`: difficult ground is impassable for
    this round's moves; `foil`: the activation fails (M-4.19); `other`: no effect on the rules here.
    """

    effect: Effect
    card: str | None = None
    type: Literal["interrupt"] = "interrupt"


@dataclass(frozen=True, slots=True)
class Modify:
    """A side plays a modifying card: what it adds to which units (`state.Modifier`)."""

    side: str
    symbol: Symbol
    amounts: Mapping[str, int] = field(default_factory=dict)
    card: str | None = None
    type: Literal["modify"] = "modify"

    def __post_init__(self) -> None:
        object.__setattr__(self, "amounts", MappingProxyType(dict(self.amounts)))


@dataclass(frozen=True, slots=True)
class Decline:
    """A side does nothing where it might have."""

    side: str
    type: Literal["decline"] = "decline"


@dataclass(frozen=True, slots=True)
class Remove:
    """A side takes an event that was played out of the game (M-4.25)."""

    side: str
    type: Literal["remove"] = "remove"


@dataclass(frozen=True, slots=True)
class Draw:
    """A side draws; `cards` are those that came up where tablecam deals.

    `reshuffle_at` says, where players hold the cards, that the Reshuffle card was that one of them.
    """

    side: str
    count: int
    cards: tuple[str, ...] | None = None
    reshuffle_at: int | None = None
    type: Literal["draw"] = "draw"


@dataclass(frozen=True, slots=True)
class Declare:
    """The active side's command choice (M-4.4); an event names its card where tablecam deals."""

    command: Command
    card: str | None = None
    type: Literal["declare"] = "declare"


@dataclass(frozen=True, slots=True)
class Activate:
    """A force and the spans in BW of the cards played for it (M-4.11), or the cards themselves."""

    force: tuple[str, ...]
    spans: tuple[int, ...] = ()
    cards: tuple[str, ...] = ()
    type: Literal["activate"] = "activate"


@dataclass(frozen=True, slots=True)
class FireFrom:
    """Targets are declared from that end of the line on (M-7.8)."""

    direction: Direction
    type: Literal["fire-from"] = "fire-from"


@dataclass(frozen=True, slots=True)
class Fire:
    """A unit fires: which of its bases at which units."""

    unit: str
    targets: Mapping[str, str]
    type: Literal["fire"] = "fire"

    def __post_init__(self) -> None:
        object.__setattr__(self, "targets", MappingProxyType(dict(self.targets)))


@dataclass(frozen=True, slots=True)
class March:
    """A unit has marched to where its bases are now, formation changes included."""

    unit: str
    bases: tuple[BasePose, ...]
    type: Literal["march"] = "march"


@dataclass(frozen=True, slots=True)
class ClearSmoke:
    """A force of guns takes off its smoke and stays (M-4.23)."""

    type: Literal["clear-smoke"] = "clear-smoke"


@dataclass(frozen=True, slots=True)
class Charge:
    """A unit has charged a target, to where its bases are now.

    Where players declare before they measure it may be declared without bases.
    """

    unit: str
    target: str
    bases: tuple[BasePose, ...]
    type: Literal["charge"] = "charge"


@dataclass(frozen=True, slots=True)
class FallBack:
    """The unit that falls back next (M-8.24)."""

    unit: str
    type: Literal["fall-back"] = "fall-back"


@dataclass(frozen=True, slots=True)
class Rally:
    """A unit tries to rally."""

    unit: str
    type: Literal["rally"] = "rally"


@dataclass(frozen=True, slots=True)
class PlaceCommander:
    """A commander's new place: moved for a card (M-6.27), or displaced (M-6.29)."""

    side: str
    x_mm: float
    y_mm: float
    card: str | None = None
    type: Literal["place-commander"] = "place-commander"


@dataclass(frozen=True, slots=True)
class Discard:
    """A side discards cards (M-3.2, M-6.30); which ones, where tablecam deals."""

    side: str
    count: int
    cards: tuple[str, ...] = ()
    type: Literal["discard"] = "discard"


@dataclass(frozen=True, slots=True)
class Done:
    """The side that acts has done all it wants to in this step."""

    type: Literal["done"] = "done"


@dataclass(frozen=True, slots=True)
class Overrule:
    """What players set themselves, at any time; what is left out stays as it is.

    `units` lie so, `off` are taken off, `commanders` stand there; `hands` and `deck` are how many
    cards the players hold and have left in their deck, `stage` says which deck that is; `step` goes
    on with the round at another step, `active` begins a side's round, `number` is that of the
    round. `why` is in the players' words. `aside` are the cards that leave the deck for the pile of
    discards, where tablecam deals and fewer are to be left: chance's to say.
    """

    why: str = ""
    units: Mapping[str, tuple[BasePose, ...]] = field(default_factory=dict)
    off: tuple[str, ...] = ()
    disruption: Mapping[str, int] = field(default_factory=dict)
    smoke: Mapping[str, bool] = field(default_factory=dict)
    morale: Mapping[str, int] = field(default_factory=dict)
    hands: Mapping[str, int] = field(default_factory=dict)
    deck: int | None = None
    stage: DeckStage | None = None
    aside: tuple[str, ...] | None = None
    commanders: Mapping[str, Point] = field(default_factory=dict)
    active: str | None = None
    number: int | None = None
    step: Literal["volleys", "command", "end"] | None = None
    type: Literal["overrule"] = "overrule"


@dataclass(frozen=True, slots=True)
class Lay:
    """Units lie by a hair elsewhere than the game has them, no farther than hands are off (G-8)."""

    units: Mapping[str, tuple[BasePose, ...]]
    type: Literal["lay"] = "lay"


Action = (
    Roll
    | LayTerrain
    | ChooseEdge
    | ChooseOrder
    | Deploy
    | Volleys
    | Interrupt
    | Modify
    | Decline
    | Remove
    | Draw
    | Declare
    | Activate
    | FireFrom
    | Fire
    | March
    | ClearSmoke
    | Charge
    | FallBack
    | Rally
    | PlaceCommander
    | Discard
    | Done
    | Overrule
    | Lay
)
