"""Looks up rule systems by the name of the game; no game is named here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tablecam.rules.descriptions import Described
from tablecam.rules.discovery import discover
from tablecam.rules.game import Game
from tablecam.table.model import GAMES


def game_of(name: str) -> Game[Any, Any] | None:
    """Returns the rule system of that name, None if there is none.

    A package of `tablecam.rules` provides it as `GAME` in its module `game`.
    """
    return next((game for game in _games() if game.name == name), None)


def game_names() -> tuple[str, ...]:
    """Returns the names of the games that can be played."""
    return tuple(sorted(game.name for game in _games()))


def known_games() -> tuple[str, ...]:
    """Returns the names that table files and positions may state, with or without a rulebook."""
    return tuple(dict.fromkeys((*GAMES, *game_names())))


class _Undescribed(Described):
    """A game that is not installed; its recordings are shown all the same."""


def described(name: str) -> Described:
    """Returns the description of a game, with defaults for one that is not installed."""
    return game_of(name) or _Undescribed()


def _games() -> Iterator[Game[Any, Any]]:
    return discover("game", "GAME")
