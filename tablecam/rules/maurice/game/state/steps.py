"""What can be due in a game of Maurice Lite, each with just what it has to remember.

The round goes through them in this order (M-4.2): volleys, the command choice, its action, the
commander, the round's end. What each asks, allows and does is in the modules named below it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from tablecam.rules.maurice.field.requests import Aim, Kind

Direction = Literal["left", "right"]
Symbol = Literal["swords", "bugle", "cannon", "flag", "musket"]
"""What a modifying card is for: charge, march, bombard, rally, volleys (M-3.5)."""
Moment = Literal["volleys", "activation"]
"""When the passive side may interrupt: a volley phase was invoked, a force activated (M-4.17)."""


# --- before the first round: setup_steps.py, deploying.py -----------------------------------------


@dataclass(frozen=True, slots=True)
class RollingTerrain:
    """A die for each side: the higher lays the terrain (M-2.1); `then` follows all setting up."""

    then: Step
    type: Literal["rolling-terrain"] = "rolling-terrain"


@dataclass(frozen=True, slots=True)
class LayingTerrain:
    """`side`, who rolled higher, lays from `least` to `most` pieces of terrain (M-2.1)."""

    side: str
    least: int
    most: int
    then: Step
    type: Literal["laying-terrain"] = "laying-terrain"


@dataclass(frozen=True, slots=True)
class ChoosingEdge:
    """`side`, who laid no terrain, chooses its long edge (M-2.3)."""

    side: str
    then: Step
    type: Literal["choosing-edge"] = "choosing-edge"


@dataclass(frozen=True, slots=True)
class ChoosingOrder:
    """`side`, who rolled higher, says who deploys first (M-2.3); `near` does at the edge y = 0."""

    side: str
    near: str
    then: Step
    type: Literal["choosing-order"] = "choosing-order"


@dataclass(frozen=True, slots=True)
class Deploying:
    """`side` deploys in its third of the table (M-2.3); `then` follows."""

    side: str
    near: str
    then: Step
    type: Literal["deploying"] = "deploying"


@dataclass(frozen=True, slots=True)
class RollingFirstRound:
    """A die for each side: the higher plays the first round (M-2.6)."""

    type: Literal["rolling-first-round"] = "rolling-first-round"


# --- cards, in any phase: card_steps.py, draw_steps.py -------------------------------------------


@dataclass(frozen=True, slots=True)
class Interrupting:
    """The passive side may play an interrupt at this moment (M-4.17).

    `force` has just been activated, where it is that moment.
    """

    moment: Moment
    force: tuple[str, ...] = ()
    type: Literal["interrupting"] = "interrupting"


@dataclass(frozen=True, slots=True)
class Modifying:
    """`side` may play a card of that symbol, then those of `left` may; `then` follows (M-4.16)."""

    symbol: Symbol
    side: str
    left: tuple[str, ...]
    then: Step
    type: Literal["modifying"] = "modifying"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A side draws so many cards more (M-4.9); `then` follows."""

    side: str
    count: int
    then: Step
    type: Literal["drawing"] = "drawing"


@dataclass(frozen=True, slots=True)
class Removing:
    """`side` may take the event that was played out of the game, then those of `left` (M-4.25).

    `card` is in the discards; its name is known where tablecam deals.
    """

    side: str
    left: tuple[str, ...]
    then: Step
    card: str | None = None
    type: Literal["removing"] = "removing"


# --- fire: fire_steps.py -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VolleyChoice:
    """The active side invokes the volley phase or does not (M-4.3)."""

    type: Literal["volley-choice"] = "volley-choice"


@dataclass(frozen=True, slots=True)
class Firing:
    """A side declares the fire of its units one by one, and rolls to hit (M-7.8).

    `may` are the guns that were activated to bombard, None in the volley phase. `hits` are the aims
    that have hit so far, once for each hit, `next_sides` who fires after it.
    """

    kind: Kind
    side: str
    direction: Direction | None = None
    may: tuple[str, ...] | None = None
    hits: tuple[Aim, ...] = ()
    next_sides: tuple[str, ...] = ()
    type: Literal["firing"] = "firing"


@dataclass(frozen=True, slots=True)
class RollingToHit:
    """The dice to hit of the aims just declared; `firing` goes on afterwards."""

    aims: tuple[Aim, ...]
    firing: Firing
    type: Literal["rolling-to-hit"] = "rolling-to-hit"


@dataclass(frozen=True, slots=True)
class RollingToDisrupt:
    """A die for each hit on a target, the targets one by one (M-7.25)."""

    target: str
    firing: Firing
    type: Literal["rolling-to-disrupt"] = "rolling-to-disrupt"


# --- the command choice and the activation: command_steps.py -------------------------------------


@dataclass(frozen=True, slots=True)
class CommandChoice:
    """The active side declares one command (M-4.4)."""

    type: Literal["command-choice"] = "command-choice"


@dataclass(frozen=True, slots=True)
class Activating:
    """It names a force and plays cards for its span (M-4.11), or finds that it cannot."""

    type: Literal["activating"] = "activating"


# --- march and charge: march_steps.py, charge_steps.py -------------------------------------------


@dataclass(frozen=True, slots=True)
class Marching:
    """The units of a force march one by one, `moved` have (M-6.31)."""

    force: tuple[str, ...]
    moved: tuple[str, ...] = ()
    type: Literal["marching"] = "marching"


@dataclass(frozen=True, slots=True)
class Charging:
    """The units of a force charge or move up, one by one (M-8.2, M-8.9).

    `charged` names the targets that each charger has met: none where its charge was lost.
    """

    force: tuple[str, ...]
    charged: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    moved: tuple[str, ...] = ()
    type: Literal["charging"] = "charging"

    def __post_init__(self) -> None:
        object.__setattr__(self, "charged", MappingProxyType(dict(self.charged)))


@dataclass(frozen=True, slots=True)
class RollingCombat:
    """A die for every engaged unit of both sides, in this order (M-8.19)."""

    engaged: tuple[str, ...]
    type: Literal["rolling-combat"] = "rolling-combat"


@dataclass(frozen=True, slots=True)
class ChoosingFallBacks:
    """The charging side chooses which of those who must falls back next (M-8.23, M-8.24)."""

    attackers: tuple[str, ...]
    type: Literal["choosing-fall-backs"] = "choosing-fall-backs"


# --- rally: rally_steps.py -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rallying:
    """The units of a force try one by one; `tried` have (M-9.1)."""

    force: tuple[str, ...]
    tried: tuple[str, ...] = ()
    type: Literal["rallying"] = "rallying"


@dataclass(frozen=True, slots=True)
class RollingRally:
    """The dice of a unit that rallies (M-9.2)."""

    unit: str
    rallying: Rallying
    type: Literal["rolling-rally"] = "rolling-rally"


# --- the round's end: end_steps.py ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MovingCommander:
    """The active side may move its commander for a card (M-6.27)."""

    type: Literal["moving-commander"] = "moving-commander"


@dataclass(frozen=True, slots=True)
class Displacing:
    """A side says where its commander, who was stood upon, goes (M-6.29); `then` follows."""

    side: str
    then: Step
    type: Literal["displacing"] = "displacing"


@dataclass(frozen=True, slots=True)
class Discarding:
    """A side discards so many cards: for its displaced commander, or over the limit (M-3.2).

    Or as players have said that it holds fewer of the cards that tablecam deals.
    """

    side: str
    count: int
    why: Literal["displaced", "hand-limit", "told"]
    then: Step
    type: Literal["discarding"] = "discarding"


@dataclass(frozen=True, slots=True)
class EndingRound:
    """Nothing is due of anyone but the round's end itself; the engine goes through it at once."""

    type: Literal["ending-round"] = "ending-round"


@dataclass(frozen=True, slots=True)
class Over:
    """The game is over: `winner` is None in a draw (M-4.1)."""

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
