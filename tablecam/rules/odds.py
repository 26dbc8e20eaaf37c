"""The interface of a rulebook that computes odds, and the lookup of a game's odds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Protocol

from tablecam.rules.discovery import discover
from tablecam.table.model import Position


class Odds(Protocol):
    """A rulebook that computes chances before any die is rolled."""

    @property
    def game(self) -> str:
        """The name of the game in documents."""

    def odds(self, position: Position, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the exact chances of the event `wanted` in a position, in the game's own terms.

        Raises:
            BadInput: The request is malformed, or the action is not legal in this position.
        """


@cache
def odds_of(game: str) -> Odds | None:
    """Returns the odds of a game, None if there are none.

    A package of `tablecam.rules` provides them as `ODDS` in its module `odds`.
    """
    candidates: Iterator[Odds] = discover("odds", "ODDS")
    return next((odds for odds in candidates if odds.game == game), None)
