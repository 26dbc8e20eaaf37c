"""Who sits at the table: a side's player, all players on one screen, or somebody who looks on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tablecam.rules.game import Asked

Kind = Literal["player", "shared", "spectator"]


@dataclass(frozen=True, slots=True)
class Seat:
    """A place at the table. A player's has a side; the shared one acts for all sides."""

    kind: Kind
    side: str | None = None

    @property
    def sees(self) -> str | None:
        """Whose concealed things it may see; on a screen that all look at nobody's."""
        return self.side if self.kind == "player" else None

    def may_answer(self, asked: Asked) -> bool:
        """Whether it may do what is asked; dice are anybody's who plays.

        On a screen that all look at nothing is answered that would show a concealed hand.
        """
        if self.kind == "shared":
            return not asked.is_concealed
        return self.plays and asked.seat in (None, self.side)

    @property
    def plays(self) -> bool:
        """Whether it may change anything at all."""
        return self.kind != "spectator"


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a side's player wants, and the other side or the table's own screen has to agree to.

    `text` says it to everybody and names nothing concealed. `carry_out` does it, given who agreed.
    """

    number: int
    by: Seat
    text: str
    carry_out: Callable[[Seat], None]

    def may_agree(self, seat: Seat) -> bool:
        """Whether a seat may agree to it."""
        return seat.plays and seat != self.by


SHARED = Seat("shared")
SPECTATOR = Seat("spectator")


def player(side: str) -> Seat:
    """The seat of a side."""
    return Seat("player", side)
