"""Finds who can tell the odds in a game, wherever its package lies; no game is named here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Protocol

from tablecam.rules.found import brought
from tablecam.table.model import Position


class Odds(Protocol):
    """What a rulebook tells of chances before any die is thrown."""

    @property
    def game(self) -> str:
        """The game as documents name it."""

    def odds(self, position: Position, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """The exact chances of what is `wanted` in a position; the game's own words both ways.

        Raises:
            BadInput: It is not asked as this game does, or not allowed as the units lie.
        """


@cache
def odds_of(game: str) -> Odds | None:
    """Who tells the odds in a game; None where nobody does.

    A package of `tablecam.rules` brings one as `ODDS` in its module `odds`.
    """
    found: Iterator[Odds] = brought("odds", "ODDS")
    return next((each for each in found if each.game == game), None)
