"""Looks up rule systems by the name of the game; no game is named here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tablecam.rules.descriptions import Described
from tablecam.rules.discovery import discover
from tablecam.rules.game import Game
from tablecam.table.model import FREE, Position, TableNeeds
from tablecam.table.roster import Roster


def game_of(name: str) -> Game[Any, Any] | None:
    """Returns the rule system of that name, None if there is none.

    A package of `tablecam.rules` provides it as `GAME` in its module `game`.
    """
    # A table without a rulebook need not look for one.
    games = () if name == FREE else _games(name)
    return next((game for game in games if game.name == name), None)


def game_names() -> tuple[str, ...]:
    """Returns the names of the games that can be played."""
    return tuple(sorted(game.name for game in _games()))


def known_games() -> Mapping[str, TableNeeds]:
    """Returns the games that table files and positions may state, and what they need of a table.

    A game is imported when it is asked for.
    """
    return _KnownGames()


class _KnownGames(Mapping[str, TableNeeds]):
    def __getitem__(self, name: str) -> TableNeeds:
        game = game_of(name)
        if game is None and name != FREE:
            raise KeyError(name)
        return TableNeeds() if game is None else game.table_needs

    def __iter__(self) -> Iterator[str]:
        return iter((*game_names(), FREE))

    def __len__(self) -> int:
        # Not by a tuple of itself, which would ask for this length first.
        return sum(1 for _ in self)


def with_formations(position: Position, roster: Roster) -> Position:
    """Adds to a camera's position the formation of each unit, as its game reads it."""
    game = described(position.game)
    listed = {entry.id: len(entry.upward()) for entry in roster.units}
    units = (
        replace(unit, formation=game.formation(unit, listed[unit.id])) for unit in position.units
    )
    return replace(position, units=tuple(units))


class _Undescribed(Described):
    """A game that is not installed; its recordings are still shown."""


def described(name: str) -> Described:
    """Returns the description of a game, with defaults for one that is not installed."""
    return game_of(name) or _Undescribed()


def _games(first: str = "") -> Iterator[Game[Any, Any]]:
    return discover("game", "GAME", first)
