"""When a table has come to rest: only then has anything been moved."""

from __future__ import annotations

from tablecam.table.model import Point, Position, Terrain
from tablecam.table.steady import steadied

REST_S = 0.8
"""So long nothing may move. A hand that lays base after base takes longer, and is told as it goes;
a base itself is at rest after half of that."""

Places = tuple[tuple[tuple[str, tuple[Point, ...]], ...], tuple[Terrain, ...]]


class Rest:
    """Watches positions go by, and tells each one at which the table has come to rest, once."""

    def __init__(self) -> None:
        self._steady: Position | None = None
        self._since_s = 0.0
        self._told: Places | None = None

    def see(self, position: Position, now_s: float) -> Position | None:
        """The table at rest, where it has just come to that; None otherwise.

        `now_s` is when it lay so, on the clock of its pictures: however slowly they come and are
        read, a table that rests is seen in two of them so far apart.
        """
        steady = steadied(position, self._steady)
        if self._steady is None or _places(steady) != _places(self._steady):
            self._since_s = now_s
        self._steady = steady
        if now_s < self._since_s + REST_S or _places(steady) == self._told:
            return None
        self._told = _places(steady)
        return steady


def _places(position: Position) -> Places:
    """Where everything lies, whether or not it is seen just now, and on what ground."""
    units = tuple(
        (unit.id, tuple((base.x_mm, base.y_mm) for base in unit.bases)) for unit in position.units
    )
    leaders = tuple((each.id, ((each.x_mm, each.y_mm),)) for each in position.commanders)
    return units + leaders, position.terrain
