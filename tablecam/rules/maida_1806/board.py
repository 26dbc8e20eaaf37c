"""What does not change in a game: the map, the charts, and what counters print."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from tablecam.errors import BadInput
from tablecam.rules.game_files import GameFile
from tablecam.rules.hexes.files import Ground, HexMapFile, checked_files
from tablecam.rules.hexes.grid import Grid, Hex, grid_of
from tablecam.rules.maida_1806.files import Charts, Costs, Hexside, Scenario, SomeCharts, Terrain
from tablecam.rules.maida_1806.tables import GAME
from tablecam.rules.maida_1806.troops import Troop
from tablecam.table.model import HexMap

FILE_MODELS: Final[Mapping[str, type[GameFile]]] = {
    "charts": Charts,
    "map": HexMapFile,
    "scenario": Scenario,
}
OPEN_GROUND: Final = Terrain(
    passable=True, blocks_sight=False, square=True, fire_modifier=0,
    cost=Costs(line=1.5, skirmish=1, leader=1),
)  # fmt: skip
"""A terrain that a question's charts leave out; what the text does not state is missing."""


class MissingRow(BadInput):
    """Raised where a question needs a row of a chart that it does not state."""

    def __init__(self, row: str) -> None:
        super().__init__("charts", "expected this row, but it is missing", key=row)
        self.row = row


@dataclass(frozen=True)
class Board:
    """The map, the charts, the counters and who leads them."""

    ground: Ground
    charts: Charts | SomeCharts
    troops: Mapping[str, Troop]
    leaders: Mapping[str, str]
    overall_commander: Mapping[str, str]
    turns: int = 7
    scenario: Scenario | None = None

    @property
    def grid(self) -> Grid:
        """The hexes."""
        return self.ground.grid

    def chart(self, section: str) -> Any:
        """Returns a section of the charts.

        Raises:
            MissingRow: A question left it out.
        """
        value = getattr(self.charts, section)
        if value is None:
            raise MissingRow(section)
        return value

    def terrain(self, number: Hex) -> Terrain:
        """Returns the effects of a hex's terrain."""
        return self.charts.terrain.get(self.ground.terrain_of(number), OPEN_GROUND)

    def hexside(self, one: Hex, other: Hex) -> Hexside | None:
        """Returns the effects of what runs along a hexside; None for nothing, or unknown."""
        kind = self.ground.side_of(one, other)
        return None if kind is None else self.charts.hexside.get(kind)

    def cost(self, number: Hex, key: str) -> float:
        """Returns the Movement Points of a hex for a formation.

        Raises:
            MissingRow: A question left them out.
        """
        points: float | None = getattr(self.terrain(number).cost, key, None)
        if points is None:
            raise MissingRow(f"terrain.{self.ground.terrain_of(number)}.cost.{key}")
        return points

    def extra_cost(self, one: Hex, other: Hex, key: str) -> float:
        """Returns the Movement Points that crossing a hexside adds."""
        side = self.hexside(one, other)
        extra = None if side is None else side.extra_cost
        return getattr(extra, key, None) or 0.0

    def is_passable(self, number: Hex) -> bool:
        """Whether units may enter a hex."""
        return self.terrain(number).passable

    def may_cross(self, one: Hex, other: Hex) -> bool:
        """Whether units may cross a hexside."""
        side = self.hexside(one, other)
        return side is None or side.passable


def board_from(files: Mapping[str, Any], hex_map: HexMap) -> Board:
    """Returns the board that a game's files describe on a map.

    Raises:
        BadInput: Names the file and key, and what was expected.
    """
    stated = {kind: files[kind] for kind in FILE_MODELS if kind in files}
    return _board(json.dumps(stated, default=list), hex_map)


@lru_cache(maxsize=64)
def _board(files: str, hex_map: HexMap) -> Board:
    documents = checked_files(json.loads(files), GAME, FILE_MODELS, hex_map)
    charts, scenario = documents["charts"].parsed(Charts), documents["scenario"].parsed(Scenario)
    return Board(
        documents["map"].parsed(HexMapFile).ground(grid_of(hex_map)),
        charts,
        {unit.id: unit for unit in scenario.unit},
        {leader.id: leader.side for leader in scenario.leader},
        {str(side): name for side, name in scenario.overall_commander.items()},
        scenario.turns,
        scenario,
    )
