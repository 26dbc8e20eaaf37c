"""Finds the rule system that plays a game, wherever its package lies; no game is named here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tablecam.rules.found import brought
from tablecam.rules.game import Game


def game_of(name: str) -> Game[Any, Any] | None:
    """The game of that name; None where tablecam does not know how it is played.

    A package of `tablecam.rules` brings one as `GAME` in its module `game`.
    """
    return next((game for game in _games() if game.name == name), None)


def game_names() -> tuple[str, ...]:
    """The names of the games that can be played."""
    return tuple(sorted(game.name for game in _games()))


def _games() -> Iterator[Game[Any, Any]]:
    return brought("game", "GAME")
