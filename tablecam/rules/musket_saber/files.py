"""The files of the game's owner: charts, the map's terrain, and a folio's counters and set-up.

The rulebook prints neither the CRT nor the TEC nor a folio: all of it comes from these files, and a
missing key is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from tablecam.documents import Document
from tablecam.rules.game_files import MISSING, Check, GameFile, each_id_once
from tablecam.rules.hexes.files import Ground, HexMapFile, HexNumber
from tablecam.rules.hexes.grid import Grid, Hex, grid_of
from tablecam.rules.musket_saber.tables import HILL, HILL_BONUS, Arm, Switch, Time, code_of
from tablecam.table.model import HexMap
from tablecam.table.sections import Faults, Name, StrictModel
from tablecam.toml_lines import KeyPath
from tablecam.wording import quoted

Count = Annotated[int, Field(ge=0, le=99)]
Turn = Annotated[int, Field(ge=1, le=99)]
Points = Annotated[float, Field(ge=0, le=99, multiple_of=0.5)]
PathKind = Literal["road", "trail"]
DIE_ROWS: Final = 6


def _result(text: str) -> str:
    code_of(text)
    return text


def _allowance(ma: int | str) -> int | str:
    if ma != "V" and not (isinstance(ma, int) and 0 <= ma <= 99):
        raise ValueError(f'expected Movement Points or "V", got {quoted(ma)}')
    return ma


Result = Annotated[str, AfterValidator(_result)]
Allowance = Annotated[int | str, AfterValidator(_allowance)]


class Column(StrictModel):
    """A column of the CRT: the differentials that it holds; the first and last have one end."""

    start: Annotated[int | None, Field(alias="from")] = None
    to: int | None = None

    def __str__(self) -> str:
        if self.start is None:
            return f"{self.to} or less"
        return f"{self.start} or more" if self.to is None else f"{self.start} to {self.to}"


class Crt(StrictModel):
    """The Combat Results Table: a row for each die, an entry for each column."""

    columns: Annotated[list[Column], Field(min_length=1)]
    rows: list[list[Result]]

    def column_of(self, differential: int) -> int:
        """Returns the place of the column of a differential."""
        return sum(c.to is not None and c.to < differential for c in self.columns[:-1])

    def printed(self, differential: int, die: int) -> str:
        """Returns the result of a die in the column of a differential."""
        return self.rows[die - 1][self.column_of(differential)]


class Defending(StrictModel):
    """What defenders may do in a terrain."""

    advance: bool = True


class Effects(StrictModel):
    """What a terrain and a hexside have in common; a list names the arms concerned."""

    march: bool = True
    charge: bool = True
    blocks_los: bool = False
    attack_halved: list[Arm] = Field(default_factory=list)
    defend_halved: list[Arm] = Field(default_factory=list)


class Terrain(Effects):
    """A row of the TEC; an arm without Movement Points is prohibited."""

    kind: Literal["primary", "secondary", "path"] = "primary"
    mp: dict[Arm, Points] | None = None
    leader: Points | None = None
    trains: bool | None = None
    zoc_in: bool = True
    zoc_out: bool = True
    bombard_into: bool | None = None
    range_bonus: Count | None = None
    defender: Defending = Field(default_factory=Defending)


class Hexside(Effects):
    """A row of the TEC for what runs along a hexside."""

    prohibited: list[Arm] = Field(default_factory=list)
    extra: dict[Arm, Points] = Field(default_factory=dict)
    zoc: bool = True


class SomeCharts(StrictModel):
    """Charts in part, as a question may state them."""

    crt: Crt | None = None
    terrain: dict[str, Terrain] = Field(default_factory=dict)
    hexside: dict[str, Hexside] = Field(default_factory=dict)

    def range_bonus(self, kind: str) -> int:
        """Returns what a terrain adds to the range of guns (K-8.7)."""
        stated = self.terrain[kind].range_bonus if kind in self.terrain else None
        return (HILL_BONUS if kind == HILL else 0) if stated is None else stated


class Charts(SomeCharts, GameFile):
    """The chart file."""

    crt: Crt
    terrain: dict[str, Terrain]

    def checks(self) -> Iterator[Check]:
        """Yields that columns leave no gaps, that rows are as long, and that terrain has costs."""
        columns, rows = self.crt.columns, self.crt.rows
        starts = [None, *((column.to or 0) + 1 for column in columns)]
        for index, (column, start) in enumerate(zip(columns, starts, strict=False)):
            at, is_last = ("crt", "columns", index), index == len(columns) - 1
            why = "expected no `from`" if start is None else f"expected from = {start}"
            yield at, column.start == start, f"{why}, got {column.start}"
            yield at, is_last == (column.to is None), "expected `to` in each column but the last"
        why = f"expected {DIE_ROWS} rows, one for each die, got {len(rows)}"
        yield ("crt", "rows"), len(rows) == DIE_ROWS, why
        for index, row in enumerate(rows):
            why = f"expected {len(columns)} results, one a column, got {len(row)}"
            yield ("crt", "rows", index), len(row) == len(columns), why
        for kind, terrain in self.terrain.items():
            is_stated = terrain.kind != "primary" or terrain.mp is not None
            yield ("terrain", kind, "mp"), is_stated, MISSING


class Path(StrictModel):
    """A road or a trail from hex to hex."""

    kind: PathKind
    hexes: Annotated[list[HexNumber], Field(min_length=2)]


class Secondary(StrictModel):
    """Secondary terrain besides the primary terrain of some hexes (K-2.2b)."""

    kind: Name
    hexes: list[HexNumber]


def with_paths(ground: Ground, paths: Iterable[Path], parts: Iterable[Secondary]) -> Ground:
    """Returns a ground with the road, or else the trail, across each hexside (K-4.6a).

    A hex may have several secondary terrains (K-2.2b).
    """
    trails_first = sorted(paths, key=lambda path: path.kind == "road")
    steps = ((frozenset(pair), path.kind) for path in trails_first for pair in pairwise(path.hexes))
    second: dict[Hex, tuple[str, ...]] = {}
    for part in parts:
        second |= {number: (*second.get(number, ()), part.kind) for number in part.hexes}
    return replace(ground, paths=dict(steps), secondary=second)


class MapFile(HexMapFile):
    """The map file: the shared one with roads, trails and secondary terrain."""

    path: list[Path] = Field(default_factory=list)
    secondary: list[Secondary] = Field(default_factory=list)

    def ground(self, grid: Grid) -> Ground:
        """Returns the ground, with its roads, trails and secondary terrain."""
        return with_paths(super().ground(grid), self.path, self.secondary)

    def faults_on(self, document: Document, hex_map: HexMap) -> Faults:
        """Yields hexsides and steps of paths between hexes that do not touch."""
        yield from super().faults_on(document, hex_map)
        grid = grid_of(hex_map)
        for index, path in enumerate(self.path):
            for one, other in pairwise(path.hexes):
                if one in grid and other in grid and grid.direction_deg(one, other) is None:
                    why = f"expected hexes that touch, got {one} and {other}"
                    yield document.error(("path", index, "hexes"), why)


class Face(StrictModel):
    """A printed side of a unit's counter."""

    cf: Count | None = None
    paren: bool = False
    mr: Count | None = None
    ma: Allowance | None = None
    bracket: bool = False
    charge: Count | None = None
    attack: Count | None = None
    defence: Count | None = None
    range: Count | None = None


_PRINTED: Final[Mapping[Arm, tuple[str, ...]]] = {
    "infantry": ("cf", "mr", "ma"),
    "cavalry": ("cf", "charge", "mr", "ma"),
    "artillery": ("attack", "defence", "range", "ma"),
}
"""The factors that the counters of each arm print (K-2.4, K-8.1)."""


class ScenarioUnit(StrictModel):
    """An entry of `[[unit]]`. A back side is that of a reduced or of an ineffective unit.

    Units whose counters print the same ID name it as `printed_id` (K-7.11).
    """

    id: Name
    side: Name
    arm: Arm
    size: Literal["brigade", "battalion", "squadron"] = "brigade"
    formation: Name
    front: Face
    back: Face | None = None
    red_dots: Annotated[int, Field(ge=0, le=2)] = 0
    hex: HexNumber | None = None
    printed_id: Name | None = None


class LeaderFace(StrictModel):
    """A leader's printed values."""

    movement: Count
    morale: Count
    combat: Count


class ScenarioLeader(StrictModel):
    """An entry of `[[leader]]`; `span` are the formations that he commands."""

    id: Name
    side: Name
    span: list[Name]
    front: LeaderFace
    hex: HexNumber | None = None


class Post(StrictModel):
    """An entry of `[[hq]]` or `[[trains]]`."""

    id: Name
    side: Name
    ma: Count
    hex: HexNumber


class Reinforcement(StrictModel):
    """Units that enter at a hex from a turn on."""

    turn: Turn
    side: Name
    hex: HexNumber
    units: Annotated[list[Name], Field(min_length=1)]


class Victory(StrictModel):
    """What a side gains points for, each time it is so at the end of the game."""

    side: Name
    kind: Literal["hold", "enemy_steps", "enemy_destroyed", "captured", "exited"]
    hexes: list[HexNumber] = Field(default_factory=list)
    points: Count


class Scenario(GameFile):
    """The scenario file: a folio's sides, turns, counters, set-up and victory.

    `off` are the ids of rules that the folio turns off (K-1.1).
    """

    sides: Annotated[list[Name], Field(min_length=2, max_length=2)]
    first_player: Name
    turns: Annotated[list[Time], Field(min_length=1, max_length=99)]
    loc: dict[str, list[HexNumber]]
    unit: Annotated[list[ScenarioUnit], Field(min_length=1)]
    leader: list[ScenarioLeader] = Field(default_factory=list)
    hq: list[Post] = Field(default_factory=list)
    trains: list[Post] = Field(default_factory=list)
    reinforcement: list[Reinforcement] = Field(default_factory=list)
    replacements: dict[str, dict[str, Count]] = Field(default_factory=dict)
    victory: list[Victory]
    victory_level: dict[str, Count]
    off: list[Switch] = Field(default_factory=list)

    def checks(self) -> Iterator[Check]:
        """Yields that names exist and stand once, and that counters have their factors."""
        yield from self._side_checks()
        arriving = [name for arrival in self.reinforcement for name in arrival.units]
        for index, unit in enumerate(self.unit):
            at = ("unit", index)
            for key in _PRINTED[unit.arm]:
                for side in ("front", "back"):
                    face: Face | None = getattr(unit, side)
                    why = f"expected this key of {unit.id}, but it is missing"
                    yield (*at, side, key), face is None or getattr(face, key) is not None, why
            fits = (unit.size == "squadron") == (unit.arm == "cavalry") or unit.size == "brigade"
            yield (*at, "size"), fits, f"expected another size of {unit.arm}"
            is_placed = unit.hex is not None or unit.id in arriving
            yield (*at, "hex"), is_placed, "expected a hex, or a reinforcement of it"
        names = {*(unit.id for unit in self.unit), *(leader.id for leader in self.leader)}
        for index, arrival in enumerate(self.reinforcement):
            for name in arrival.units:
                why = f"expected the ids of units, got {quoted(name)}"
                yield ("reinforcement", index, "units"), name in names, why

    def _side_checks(self) -> Iterator[Check]:
        named: dict[KeyPath, str] = {("first_player",): self.first_player}
        for key in ("loc", "replacements", "victory_level"):
            named |= {(key, side): side for side in getattr(self, key)}
        for key in ("unit", "leader", "hq", "trains", "reinforcement", "victory"):
            things = enumerate(getattr(self, key))
            named |= {(key, index, "side"): thing.side for index, thing in things}
        yield from each_id_once(unit=self.unit, leader=self.leader, hq=self.hq, trains=self.trains)
        for path, side in named.items():
            why = f"expected {' or '.join(self.sides)}, got {quoted(side)}"
            yield path, side in self.sides, why
        yield from ((("loc", side), side in self.loc, MISSING) for side in self.sides)


FILE_MODELS: Final[Mapping[str, type[GameFile]]] = MappingProxyType(
    {"charts": Charts, "map": MapFile, "scenario": Scenario}
)
