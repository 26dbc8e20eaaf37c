"""Adds to what a camera sees what only the game knows: states, terrain, and lost bases."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from tablecam.table.model import Position, Scalar, Terrain


class GameOverlay:
    """The latest units of a game and its terrain. Any thread may ask, without waiting."""

    def __init__(self) -> None:
        self._now: tuple[Mapping[str, Mapping[str, Scalar]], tuple[Terrain, ...]] | None = None
        self._tags: frozenset[int | None] | None = None

    def follow(self, position: Position) -> None:
        """Updates from the table according to the game."""
        # Replaced as a whole: threads that read it need no lock.
        self._now = {unit.id: unit.state for unit in position.units}, position.terrain
        self._tags = frozenset(base.tag for unit in position.units for base in unit.bases)

    def lost(self, tags: Collection[int]) -> frozenset[int]:
        """Returns the tags of units' bases that the game does not have; none without a game."""
        left = self._tags
        return frozenset() if left is None else frozenset(tags) - left

    def marked(self, seen: Position) -> Position:
        """Returns a position with the game's states and terrain, unchanged if there is no game."""
        now = self._now
        if now is None:
            return seen
        states, terrain = now
        units = tuple(
            replace(unit, state=states[unit.id]) if unit.id in states else unit
            for unit in seen.units
        )
        return replace(seen, units=units, terrain=terrain)
