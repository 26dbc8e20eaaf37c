"""The steps of a game of Maurice Lite, each with just the data that it needs.

A round goes through them in this order (M-4.2): volleys, the command, its action, the commander,
the round's end. The modules named in the section headings hold their rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from tablecam.rules.frozen_json import Variant
from tablecam.rules.maurice.field.requests import Kind, ShotAssignment

Direction = Literal["left", "right"]
Symbol = Literal["swords", "bugle", "cannon", "flag", "musket"]
"""A modifying card's symbol: charge, march, bombard, rally, volleys (M-3.5)."""
Moment = Literal["volleys", "activation"]
"""When the passive side may interrupt: after volleys are invoked or a force activated (M-4.17)."""


class Step(Variant, is_family=True):
    """What a game does next: one of the classes below."""


# --- before the first round: setup_steps.py, deploying.py -----------------------------------------


class RollingTerrain(Step):
    """Terrain roll, a die per side: the higher lays terrain (M-2.1); `then` follows setup."""

    then: Step


class LayingTerrain(Step):
    """Terrain laying: the higher roller `side` lays `least` to `most` pieces (M-2.1)."""

    side: str
    least: int
    most: int
    then: Step


class ChoosingEdge(Step):
    """Edge choice: `side`, which laid no terrain, chooses its long edge (M-2.3)."""

    side: str
    then: Step


class ChoosingOrder(Step):
    """Order choice: the higher roller `side` says who deploys first (M-2.3).

    `near` is the side that deploys at the edge y = 0.
    """

    side: str
    near: str
    then: Step


class Deploying(Step):
    """Deployment of `side` in its third of the table (M-2.3); `then` follows."""

    side: str
    near: str
    then: Step


class RollingFirstRound(Step):
    """First-round roll, a die per side: the higher plays the first round (M-2.6)."""


SETUP = (RollingTerrain, LayingTerrain, ChoosingEdge, ChoosingOrder, Deploying)
"""The steps in which measuring is free, as nobody can shoot or charge yet (M-2)."""


# --- cards, in any phase: card_steps.py, draw_steps.py -------------------------------------------


class Interrupting(Step):
    """The passive side's chance to interrupt (M-4.17).

    `force` is the force just activated, empty in the volley phase.
    """

    moment: Moment
    force: tuple[str, ...] = ()


class Modifying(Step):
    """Modifying cards: `side` may play one of a symbol, then each of `left` may (M-4.16)."""

    symbol: Symbol
    side: str
    left: tuple[str, ...]
    then: Step


class Drawing(Step):
    """A draw of `count` more cards by a side (M-4.9); `then` follows."""

    side: str
    count: int
    then: Step


class Removing(Step):
    """The chance to remove a played event from the game: `side` first, then `left` (M-4.25).

    `card` is in the discards; its id is known where tablecam deals.
    """

    side: str
    left: tuple[str, ...]
    then: Step
    card: str | None = None


# --- fire: fire_steps.py -------------------------------------------------------------------------


class VolleyChoice(Step):
    """The active side's choice to invoke the volley phase or not (M-4.3)."""


class Firing(Step):
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


class RollingToHit(Step):
    """The to-hit roll of the aims just declared; `firing` continues after it."""

    aims: tuple[ShotAssignment, ...]
    firing: Firing


class RollingToDisrupt(Step):
    """The disruption roll, a die for each hit on one target; targets follow in turn (M-7.25)."""

    target: str
    firing: Firing


# --- the command choice and the activation: command_steps.py -------------------------------------


class CommandChoice(Step):
    """The active side's choice of one command (M-4.4)."""


class Activating(Step):
    """Activation: the active side names a force and plays cards for its span (M-4.11)."""


# --- march and charge: march_steps.py, charge_steps.py -------------------------------------------


class Marching(Step):
    """A march: the units of a force move one by one; `moved` have done so (M-6.31)."""

    force: tuple[str, ...]
    moved: tuple[str, ...] = ()

    @property
    def waiting(self) -> tuple[str, ...]:
        """The units that have yet to move."""
        return tuple(name for name in self.force if name not in self.moved)


class Charging(Step):
    """A charge: the units of a force charge or move up, one by one (M-8.2, M-8.9).

    `charged` maps each charger to the targets it met, empty where its charge was lost.
    """

    force: tuple[str, ...]
    charged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    moved: tuple[str, ...] = ()

    @property
    def waiting(self) -> tuple[str, ...]:
        """The units that have yet to charge or move up."""
        acted = {*self.charged, *self.moved}
        return tuple(name for name in self.force if name not in acted)


class RollingCombat(Step):
    """The combat roll: a die for every engaged unit of both sides, in order (M-8.19)."""

    engaged: tuple[str, ...]


class ChoosingFallBacks(Step):
    """The charging side's choice of which attacker falls back next (M-8.23, M-8.24)."""

    attackers: tuple[str, ...]


# --- rally: rally_steps.py -----------------------------------------------------------------------


class Rallying(Step):
    """A rally: the units of a force try one by one; `tried` have done so (M-9.1)."""

    force: tuple[str, ...]
    tried: tuple[str, ...] = ()

    @property
    def waiting(self) -> tuple[str, ...]:
        """The units that have not tried."""
        return tuple(name for name in self.force if name not in self.tried)


class RollingRally(Step):
    """The rally dice of one unit (M-9.2)."""

    unit: str
    rallying: Rallying


# --- the round's end: end_steps.py ---------------------------------------------------------------


class MovingCommander(Step):
    """The active side's chance to move its commander for a card (M-6.27)."""


class Displacing(Step):
    """A side's choice of a place for its displaced commander (M-6.29); `then` follows."""

    side: str
    then: Step


class Discarding(Step):
    """A discard of `count` cards, and its reason.

    The commander was displaced (M-6.30), the hand is over the limit (M-3.2), or players overruled
    the size of a dealt hand (`told`).
    """

    side: str
    count: int
    why: Literal["displaced", "hand-limit", "told"]
    then: Step


class EndingRound(Step):
    """The end of a round; the engine passes through it without asking anybody."""


class Over(Step):
    """The end of the game; `winner` is None in a draw (M-4.1)."""

    winner: str | None
    because: str
    rule: str
