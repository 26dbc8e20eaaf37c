"""Actions of players and of chance in a game of Maurice Lite, each a frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from tablecam.rules.dice import Roll
from tablecam.rules.frozen_json import Variant
from tablecam.rules.lay import Lay
from tablecam.rules.maurice.game.state import Command, DeckStage, Direction, Effect, Symbol
from tablecam.rules.overrules import Overrule as AnyOverrule
from tablecam.table.model import BasePose, Point, Terrain


class PlayerAction(Variant, is_family=True):
    """An action of a player or the referee: one of the classes below."""


Action = Roll | Lay | PlayerAction


class LayTerrain(PlayerAction):
    """All terrain pieces of the table as one side lays them, replacing earlier ones (M-2.1)."""

    terrain: tuple[Terrain, ...]


class ChooseEdge(PlayerAction):
    """A side's choice of its long edge: `near` is the edge at y = 0 (M-2.3)."""

    edge: Literal["near", "far"]


class ChooseOrder(PlayerAction):
    """The choice of the side that deploys first (M-2.3)."""

    first: str


class Deploy(PlayerAction):
    """A side's deployment (M-2.3): base poses of `units`, places of `commanders`.

    Units and commanders left out stay where they are.
    """

    side: str
    units: Mapping[str, tuple[BasePose, ...]] = field(default_factory=dict)
    commanders: Mapping[str, Point] = field(default_factory=dict)


class Volleys(PlayerAction):
    """The active side's choice to invoke the volley phase or to skip it (M-4.3)."""

    invoke: bool


class Interrupt(PlayerAction):
    """The passive side's interrupt (M-4.17), by its effect.

    `card` is the played card if tablecam deals; players with printed cards state only the effect.
    """

    effect: Effect
    card: str | None = None


class Modify(PlayerAction):
    """A modifying card that a side plays, with its amount for each unit (see `state.Modifier`)."""

    side: str
    symbol: Symbol
    amounts: Mapping[str, int] = field(default_factory=dict)
    card: str | None = None


class Decline(PlayerAction):
    """A side's choice to do nothing although it may act."""

    side: str


class Remove(PlayerAction):
    """A side's choice to remove a played event from the game (M-4.25)."""

    side: str


class Draw(PlayerAction):
    """A draw of `count` cards by a side.

    `cards` are the cards that come up if tablecam deals, else None. If players hold the cards,
    `reshuffle_at` is the position (from 1) of the Reshuffle card in the draw, if it came up.
    """

    side: str
    count: int
    cards: tuple[str, ...] | None = None
    reshuffle_at: int | None = None


class Declare(PlayerAction):
    """The active side's command (M-4.4); an event names its card if tablecam deals."""

    command: Command
    card: str | None = None


class Activate(PlayerAction):
    """A force and the cards played to reach it (M-4.11).

    `spans` are the played cards' spans in BW if players hold the cards, `cards` the card ids if
    tablecam deals.
    """

    force: tuple[str, ...]
    spans: tuple[int, ...] = ()
    cards: tuple[str, ...] = ()


class FireFrom(PlayerAction):
    """The end of the line from which a side declares its targets (M-7.8)."""

    direction: Direction


class Fire(PlayerAction):
    """A unit's fire: the target of each firing base, by base name."""

    unit: str
    targets: Mapping[str, str]


class March(PlayerAction):
    """A unit's march: the new poses of its bases, changes of formation included."""

    unit: str
    bases: tuple[BasePose, ...]


class ClearSmoke(PlayerAction):
    """An artillery force's choice to clear its smoke instead of moving (M-4.23)."""


class Charge(PlayerAction):
    """A unit's charge at a target: the new poses of its bases.

    Without bases it is only declared, if players declare before they measure.
    """

    unit: str
    target: str
    bases: tuple[BasePose, ...]


class FallBack(PlayerAction):
    """The choice of the unit that falls back next (M-8.24)."""

    unit: str


class Rally(PlayerAction):
    """A unit's attempt to rally."""

    unit: str


class PlaceCommander(PlayerAction):
    """A commander's new place: moved for a card (M-6.27), or displaced (M-6.29)."""

    side: str
    x_mm: float
    y_mm: float
    card: str | None = None

    @property
    def place_mm(self) -> Point:
        """The new place."""
        return self.x_mm, self.y_mm


class Discard(PlayerAction):
    """Cards that a side discards (M-3.2, M-6.30); named if tablecam deals."""

    side: str
    count: int
    cards: tuple[str, ...] = ()


class Done(PlayerAction):
    """The acting side's choice to end the current step."""


class Overrule(AnyOverrule, PlayerAction):
    """A correction that players make at any time; omitted values stay unchanged.

    `commanders` are places, `hands` cards in hand for each side, `deck` the cards left in the deck,
    `stage` which deck that is. `step` resumes the round at another step, `active` starts a side's
    round, `number` is the round's number. `aside` are the cards moved from a dealt deck to the
    discards when `deck` is lowered; chance fills them in.
    """

    disruption: Mapping[str, int] = field(default_factory=dict)
    smoke: Mapping[str, bool] = field(default_factory=dict)
    morale: Mapping[str, int] = field(default_factory=dict)
    hands: Mapping[str, int] = field(default_factory=dict)
    deck: int | None = None
    stage: DeckStage | None = None
    aside: tuple[str, ...] | None = None
    commanders: Mapping[str, Point] = field(default_factory=dict)
    number: int | None = None
    step: Literal["volleys", "command", "end"] | None = None
