"""The action cards of a deck that tablecam deals: what each is and does (M-3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from tablecam.rules.maurice.game.state.steps import Moment, Symbol

Effect = Literal["first-fire", "rough-going", "foil", "other"]
"""What an interrupt does to the round.

`first-fire`: the passive side shoots first; `rough-going`: difficult ground is impassable for this
round's moves; `foil`: the activation fails (M-4.19); `other`: nothing that the round hangs on.
"""

MOMENTS: Final[Mapping[Effect, tuple[Moment, ...]]] = MappingProxyType(
    {
        "first-fire": ("volleys",),
        "rough-going": ("activation",),
        "foil": ("activation",),
        "other": ("volleys", "activation"),
    }
)
"""When an interrupt of each effect may be played (M-4.17)."""

RESHUFFLE: Final = "reshuffle"
"""The id of the Reshuffle card, which every deck has beside its others (M-4.20, M-4.21)."""


@dataclass(frozen=True, slots=True)
class Modification:
    """What a modifying card adds, in what its symbol counts, and to whose units.

    `to` is `own`, the units of whoever plays it, or `enemy`; `is_for_one` of them, or for all.
    """

    symbol: Symbol
    adds: int
    to: Literal["own", "enemy"] = "own"
    is_for_one: bool = True


@dataclass(frozen=True, slots=True)
class Card:
    """A card: its span in BW and, beside it, what it does if it is not played for the span (M-3.9).

    An `is_event` card is played for its text; the players do as it says.
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
        """Whether it does anything that is lost when it is played for its span (M-3.9)."""
        return bool(self.modifies or self.interrupts or self.is_event)
