"""The steps of a game of Maurice Lite, each with just the data that it needs.

A round goes through them in this order (M-4.2): volleys, the command, its action, the commander,
the round's end. The modules named in the section headings hold their rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from tablecam.rules.maurice.field.requests import Kind, ShotAssignment

Direction = Literal["left", "right"]
Symbol = Literal["swords", "bugle", "cannon", "flag", "musket"]
"""A modifying card's symbol: charge, march, bombard, rally, volleys (M-3.5)."""
Moment = Literal["volleys", "activation"]
"""When the passive side may interrupt: after volleys are invoked or a force activated (M-4.17)."""


# --- before the first round: setup_steps.py, deploying.py -----------------------------------------


@dataclass(frozen=True, slots=True)
class RollingTerrain:
    """Terrain roll, a die per side: the higher lays terrain (M-2.1); `then` follows setup."""

    then: Step
    type: Literal["rolling-terrain"] = "rolling-terrain"


@dataclass(frozen=True, slots=True)
class LayingTerrain:
    """Terrain laying: the higher roller `side` lays `least` to `most` pieces (M-2.1)."""

    side: str
    least: int
    most: int
    then: Step
    type: Literal["laying-terrain"] = "laying-terrain"


@dataclass(frozen=True, slots=True)
class ChoosingEdge:
    """Edge choice: `side`, which laid no terrain, chooses its long edge (M-2.3)."""

    side: str
    then: Step
    type: Literal["choosing-edge"] = "choosing-edge"


@dataclass(frozen=True, slots=True)
class ChoosingOrder:
    """Order choice: the higher roller `side` says who deploys first (M-2.3).

    `near` is the side that deploys at the edge y = 0.
    """

    side: str
    near: str
    then: Step
    type: Literal["choosing-order"] = "choosing-order"


@dataclass(frozen=True, slots=True)
class Deploying:
    """Deployment of `side` in its third of the table (M-2.3); `then` follows."""

    side: str
    near: str
    then: Step
    type: Literal["deploying"] = "deploying"


@dataclass(frozen=True, slots=True)
class RollingFirstRound:
    """First-round roll, a die per side: the higher plays the first round (M-2.6)."""

    type: Literal["rolling-first-round"] = "rolling-first-round"


# --- cards, in any phase: card_steps.py, draw_steps.py -------------------------------------------


@dataclass(frozen=True, slots=True)
class Interrupting:
    """The passive side's chance to interrupt (M-4.17).

    `force` is the force just activated, empty in the volley phase.
    """

    moment: Moment
    force: tuple[str, ...] = ()
    type: Literal["interrupting"] = "interrupting"


@dataclass(frozen=True, slots=True)
class Modifying:
    """Modifying cards: `side` may play one of a symbol, then each of `left` may (M-4.16)."""

    symbol: Symbol
    side: str
    left: tuple[str, ...]
    then: Step
    type: Literal["modifying"] = "modifying"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A draw of `count` more cards by a side (M-4.9); `then` follows."""

    side: str
    count: int
    then: Step
    type: Literal["drawing"] = "drawing"


@dataclass(frozen=True, slots=True)
class Removing:
    """The chance to remove a played event from the game: `side` first, then `left` (M-4.25).

    `card` is in the discards; its id is known where tablecam deals.
    """

    side: str
    left: tuple[str, ...]
    then: Step
    card: str | None = None
    type: Literal["removing"] = "removing"


# --- fire: fire_steps.py -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VolleyChoice:
    """The active side's choice to invoke the volley phase or not (M-4.3)."""

    type: Literal["volley-choice"] = "volley-choice"


@dataclass(frozen=True, slots=True)
class Firing:
    """A side's fire: its units declare one by one, each rolling to hit at once (M-7.8).

    `may` are the activated guns of a bombardment, None in the volley phase. `hits` holds the aim of
    each hit so far. `next_sides` fire after this one.
    """

    kind: Kind
    side: str
    direction: Direction | None = None
    may: tuple[str, ...] | None = None
    hits: tuple[ShotAssignment, ...] = ()
    next_sides: tuple[str, ...] = ()
    type: Literal["firing"] = "firing"


@dataclass(frozen=True, slots=True)
class RollingToHit:
    """The to-hit roll of the aims just declared; `firing` continues after it."""

    aims: tuple[ShotAssignment, ...]
    firing: Firing
    type: Literal["rolling-to-hit"] = "rolling-to-hit"


@dataclass(frozen=True, slots=True)
class RollingToDisrupt:
    """The disruption roll, a die for each hit on one target; targets follow in turn (M-7.25)."""

    target: str
    firing: Firing
    type: Literal["rolling-to-disrupt"] = "rolling-to-disrupt"


# --- the command choice and the activation: command_steps.py -------------------------------------


@dataclass(frozen=True, slots=True)
class CommandChoice:
    """The active side's choice of one command (M-4.4)."""

    type: Literal["command-choice"] = "command-choice"


@dataclass(frozen=True, slots=True)
class Activating:
    """Activation: the active side names a force and plays cards for its span (M-4.11)."""

    type: Literal["activating"] = "activating"


# --- march and charge: march_steps.py, charge_steps.py -------------------------------------------


@dataclass(frozen=True, slots=True)
class Marching:
    """A march: the units of a force move one by one; `moved` have done so (M-6.31)."""

    force: tuple[str, ...]
    moved: tuple[str, ...] = ()
    type: Literal["marching"] = "marching"


@dataclass(frozen=True, slots=True)
class Charging:
    """A charge: the units of a force charge or move up, one by one (M-8.2, M-8.9).

    `charged` maps each charger to the targets it met, empty where its charge was lost.
    """

    force: tuple[str, ...]
    charged: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    moved: tuple[str, ...] = ()
    type: Literal["charging"] = "charging"

    def __post_init__(self) -> None:
        object.__setattr__(self, "charged", MappingProxyType(dict(self.charged)))


@dataclass(frozen=True, slots=True)
class RollingCombat:
    """The combat roll: a die for every engaged unit of both sides, in order (M-8.19)."""

    engaged: tuple[str, ...]
    type: Literal["rolling-combat"] = "rolling-combat"


@dataclass(frozen=True, slots=True)
class ChoosingFallBacks:
    """The charging side's choice of which attacker falls back next (M-8.23, M-8.24)."""

    attackers: tuple[str, ...]
    type: Literal["choosing-fall-backs"] = "choosing-fall-backs"


# --- rally: rally_steps.py -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rallying:
    """A rally: the units of a force try one by one; `tried` have done so (M-9.1)."""

    force: tuple[str, ...]
    tried: tuple[str, ...] = ()
    type: Literal["rallying"] = "rallying"


@dataclass(frozen=True, slots=True)
class RollingRally:
    """The rally dice of one unit (M-9.2)."""

    unit: str
    rallying: Rallying
    type: Literal["rolling-rally"] = "rolling-rally"


# --- the round's end: end_steps.py ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MovingCommander:
    """The active side's chance to move its commander for a card (M-6.27)."""

    type: Literal["moving-commander"] = "moving-commander"


@dataclass(frozen=True, slots=True)
class Displacing:
    """A side's choice of a place for its displaced commander (M-6.29); `then` follows."""

    side: str
    then: Step
    type: Literal["displacing"] = "displacing"


@dataclass(frozen=True, slots=True)
class Discarding:
    """A discard of `count` cards, and its reason.

    The commander was displaced (M-6.30), the hand is over the limit (M-3.2), or players overruled
    the size of a dealt hand (`told`).
    """

    side: str
    count: int
    why: Literal["displaced", "hand-limit", "told"]
    then: Step
    type: Literal["discarding"] = "discarding"


@dataclass(frozen=True, slots=True)
class EndingRound:
    """The end of a round; the engine passes through it without asking anybody."""

    type: Literal["ending-round"] = "ending-round"


@dataclass(frozen=True, slots=True)
class Over:
    """The end of the game; `winner` is None in a draw (M-4.1)."""

    winner: str | None
    because: str
    rule: str
    type: Literal["over"] = "over"


Step = (
    RollingTerrain
    | LayingTerrain
    | ChoosingEdge
    | ChoosingOrder
    | Deploying
    | RollingFirstRound
    | Interrupting
    | Modifying
    | Drawing
    | Removing
    | VolleyChoice
    | Firing
    | RollingToHit
    | RollingToDisrupt
    | CommandChoice
    | Activating
    | Marching
    | Charging
    | RollingCombat
    | ChoosingFallBacks
    | Rallying
    | RollingRally
    | MovingCommander
    | Displacing
    | Discarding
    | EndingRound
    | Over
)
