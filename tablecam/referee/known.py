"""What a game knows of the table that no camera sees: disruption, smoke, the ground."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tablecam.table.model import Position, Scalar, Terrain


class Known:
    """The latest of it. Any thread may ask and waits for nobody, as a camera's loop does."""

    def __init__(self) -> None:
        self._now: tuple[Mapping[str, Mapping[str, Scalar]], tuple[Terrain, ...]] | None = None

    def follow(self, position: Position) -> None:
        """Take in the table as a game knows it."""
        self._now = {unit.id: unit.state for unit in position.units}, position.terrain

    def marked(self, seen: Position) -> Position:
        """A table as it is seen, with what the game knows of it; as it is where no game is on."""
        now = self._now
        if now is None:
            return seen
        states, ground = now
        units = tuple(
            replace(unit, state=states[unit.id]) if unit.id in states else unit
            for unit in seen.units
        )
        return replace(seen, units=units, terrain=ground)
