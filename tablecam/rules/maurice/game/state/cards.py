"""Action cards of a deck that tablecam deals, and what each does (M-3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from tablecam.rules.maurice.game.state.steps import Moment, Symbol

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
    """The modifier that a card gives, and to whose units.

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

    @property
    def is_of_further_use(self) -> bool:
        """Whether playing the card for its span gives up another effect (M-3.9)."""
        return bool(self.modifies or self.interrupts or self.is_event)
