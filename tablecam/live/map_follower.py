"""Follows a printed map that slips under its counters, and asks when it has slipped far."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Final

from tablecam.errors import BadInput
from tablecam.rules.hexes.counters import place_of
from tablecam.rules.hexes.grid import grid_of
from tablecam.table.model import HexMap, Point, Position

MOST_SLIP_MM: Final = 3.0
"""Players are asked about a map that has slipped further; it is not just followed."""
_LEAST_COUNTERS: Final = 5
_NOTICED_MM: Final = 1.0
_SURE: Final = 3.0
"""How many standard deviations a slip must differ from zero."""


class MapFollower:
    """Where a table's hex map lies now, judged by all its counters each time the table rests.

    It follows a slip of up to 3 mm from where players last agreed that the map lies, and says so;
    a larger one waits for them to agree. Thread-safe. `say` shows a sentence to all pages;
    `changed` is called when the map or the question changes.
    """

    def __init__(
        self, hex_map: HexMap | None, say: Callable[[str], None], changed: Callable[[], None]
    ) -> None:
        self._agreed = self._followed = hex_map
        self._asked: HexMap | None = None
        self._say = say
        self._changed = changed
        self._lock = threading.Lock()
        self.version = 0

    def on_map(self, position: Position) -> Position:
        """Returns a position on the map where it lies now."""
        if self._followed is None or self._followed == position.table.hex_map:
            return position
        return replace(position, table=replace(position.table, hex_map=self._followed))

    @property
    def asked_mm(self) -> float | None:
        """How far the map seems to have slipped, if players are asked about it."""
        with self._lock:
            return None if self._asked is None else self._far_mm(self._asked)

    def settle(self, position: Position) -> None:
        """Measures the slip on a table at rest."""
        with self._lock:
            by_mm = slip_mm(self.on_map(position))
            was_asked = self._asked
            if by_mm is None or self._followed is None:
                self._asked = None
            elif self._far_mm(moved := slipped(self._followed, by_mm)) > MOST_SLIP_MM:
                self._asked = moved
            else:
                self._followed, self._asked = moved, None
                self._say(
                    f"The map slipped by {math.hypot(*by_mm):.1f} mm; its hexes are moved along."
                )
                was_asked = moved
            if was_asked is self._asked:
                return
            self.version += 1
        self._changed()

    def follow(self) -> None:
        """Follows the slip that players were asked about: the map lies there from now on.

        Raises:
            BadInput: They are not asked.
        """
        with self._lock:
            if self._asked is None:
                raise BadInput("map", "the map has not slipped")
            far_mm = self._far_mm(self._asked)
            self._agreed = self._followed = self._asked
            self._asked = None
            self.version += 1
        self._say(f"The players confirmed that the map has moved by {far_mm:.1f} mm.")
        self._changed()

    def _far_mm(self, hex_map: HexMap) -> float:
        if self._agreed is None:
            return 0.0
        return math.dist(hex_map.origin_mm, self._agreed.origin_mm)


def slip_mm(position: Position) -> Point | None:
    """Returns how far a table's map has slipped, from the counters' offsets from their hexes.

    Hands put counters down off-centre, so one alone tells nothing; an offset that all share is the
    map's. None with too few counters, or if they share none.
    """
    if position.table.hex_map is None:
        return None
    grid = grid_of(position.table.hex_map)
    poses = [base for unit in position.units for base in unit.bases if base.seen == "now"]
    poses += [
        commander.pose
        for commander in position.commanders
        if commander.pose is not None and commander.pose.seen == "now"
    ]
    offsets: list[Point] = []
    for base in poses:
        hexes = place_of(grid, base).hexes
        if hexes:
            x_mm, y_mm = grid.middle_mm(hexes)
            offsets.append((base.x_mm - x_mm, base.y_mm - y_mm))
    if len(offsets) < _LEAST_COUNTERS:
        return None
    common_mm = median(x for x, _ in offsets), median(y for _, y in offsets)
    spread_mm = median(math.dist(offset, common_mm) for offset in offsets)
    # The standard error of a median of n is about the spread over the root of n.
    doubt_mm = 1.25 * spread_mm / math.sqrt(len(offsets))
    is_slip = math.hypot(*common_mm) >= max(_NOTICED_MM, _SURE * doubt_mm)
    return common_mm if is_slip else None


def slipped(hex_map: HexMap, by_mm: Point) -> HexMap:
    """Returns a map shifted by a slip."""
    (x_mm, y_mm), (dx_mm, dy_mm) = hex_map.origin_mm, by_mm
    return replace(hex_map, origin_mm=(x_mm + dx_mm, y_mm + dy_mm))
