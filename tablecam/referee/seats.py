"""The seats at a table: a side's player, the shared screen, or a spectator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tablecam.rules.game import PendingDecision

Kind = Literal["player", "shared", "spectator"]


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat at the table. A player's has a side; the shared screen acts for all sides."""

    kind: Kind
    side: str | None = None

    @property
    def sees(self) -> str | None:
        """The side whose concealed things it may see; None for the shared screen, which all see."""
        return self.side if self.kind == "player" else None

    def may_answer(self, asked: PendingDecision) -> bool:
        """Whether it may decide what is asked; any player may roll dice.

        The shared screen may not, where the answers would show a concealed hand.
        """
        if self.kind == "shared":
            return not asked.is_concealed
        return self.plays and asked.seat in (None, self.side)

    @property
    def plays(self) -> bool:
        """Whether it may change the game."""
        return self.kind != "spectator"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that one side proposes and the other side or the shared screen must agree to.

    `text` describes it to everybody and reveals nothing concealed. `carry_out` is called with the
    seat that agreed.
    """

    number: int
    by: Seat
    text: str
    carry_out: Callable[[Seat], None]

    def may_agree(self, seat: Seat) -> bool:
        """Whether a seat may agree to the proposal."""
        return seat.plays and seat != self.by


SHARED = Seat("shared")
SPECTATOR = Seat("spectator")


def player(side: str) -> Seat:
    """Returns the seat of a side."""
    return Seat("player", side)
