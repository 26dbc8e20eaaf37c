"""Adds to a camera's position what only the game knows: the units' states and the terrain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tablecam.table.model import Position, Scalar, Terrain


class GameOverlay:
    """The latest states of the units and the terrain. Any thread may ask, without waiting."""

    def __init__(self) -> None:
        self._now: tuple[Mapping[str, Mapping[str, Scalar]], tuple[Terrain, ...]] | None = None

    def follow(self, position: Position) -> None:
        """Updates from the table according to the game."""
        # Replaced as a whole: threads that read it need no lock.
        self._now = {unit.id: unit.state for unit in position.units}, position.terrain

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
