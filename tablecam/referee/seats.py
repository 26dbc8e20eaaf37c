"""The seats at a table: a side's player, the shared screen, both sides, or a spectator."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from tablecam.documents import Json
from tablecam.rules.game import PendingDecision
from tablecam.table.sides import side_plural
from tablecam.wording import joined

Kind = Literal["player", "shared", "both", "spectator"]


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat at the table. A player's has a side; the shared screen acts for all sides.

    One person who plays both sides sees both hands.
    """

    kind: Kind
    side: str | None = None

    @property
    def is_for_all(self) -> bool:
        """Whether it acts for all sides, so that none of them has to agree."""
        return self.kind in ("shared", "both")

    def may_see(self, only_for: str | None) -> bool:
        """Whether it may see something only for one side; None: for all."""
        return only_for in (None, self.side) or self.kind == "both"

    def seen_side(self, asked: PendingDecision) -> str | None:
        """Returns the side whose hand it sees now; None for the shared screen, which all see."""
        return asked.seat if self.kind == "both" else self.side

    def may_answer(self, asked: PendingDecision) -> bool:
        """Whether it may make the pending decision; any player may roll dice.

        The shared screen may not, where the answers would show a concealed hand.
        """
        if self.kind == "shared":
            return not asked.is_concealed
        return self.kind == "both" or (self.plays and asked.seat in (None, self.side))

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


_TAKEN_BACK: Final = "taken_back"


def taken_back(seat: Seat, sides: Collection[str], number: int) -> Json:
    """Returns the remark that a seat took back the latest actions, which others had chosen."""
    return {_TAKEN_BACK: {"by": seat.side, "of": sorted(sides), "number": number}}


def taken_back_words(remark: Mapping[str, Any]) -> str:
    """Returns such a remark in words; empty for any other."""
    fields = remark.get(_TAKEN_BACK)
    if not isinstance(fields, dict):
        return ""
    what = "the last action" if fields["number"] == 1 else f"the last {fields['number']} actions"
    return (
        f"{side_plural(fields['by'])} took back {what} of {joined(map(side_plural, fields['of']))}"
    )


SHARED = Seat("shared")
BOTH = Seat("both")
SPECTATOR = Seat("spectator")


def player(side: str) -> Seat:
    """Returns the seat of a side."""
    return Seat("player", side)
