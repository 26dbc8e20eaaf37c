"""The files of the game's owner: charts, and a scenario with the counters.

What the rulebook leaves to charts and counters comes from these files alone; a missing key is
named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field, StringConstraints

from tablecam.documents import Document
from tablecam.rules.game_files import MISSING, Check, GameFile, each_id_once
from tablecam.rules.hexes.files import HexMapFile, HexNumber
from tablecam.rules.hexes.grid import grid_of
from tablecam.rules.hexes.zones import right_hex
from tablecam.rules.maida_1806.tables import DIE_FACES, SHIFT_WORDS, is_shift_word
from tablecam.rules.maida_1806.troops import SIDES, Count, FireResult, Side, Troop
from tablecam.table.model import Arm, HexMap
from tablecam.table.sections import Faults, Name, StrictModel
from tablecam.toml_lines import KeyPath
from tablecam.wording import quoted

ClashResult = Annotated[str, StringConstraints(pattern=r"^[AD]\+\d$")]
Points = Annotated[float, Field(ge=0, le=99)]
Direction = Annotated[int, Field(ge=0, lt=360, multiple_of=30)]


class FireRow(StrictModel):
    """A row of the Rifle Fire Table; the last one has no end."""

    start: Annotated[int, Field(alias="from", ge=1)]
    to: int | None = None
    result: FireResult
    origin: Literal["text", "house", "owner"] = "owner"
    leader_check: bool = False


class Failure(StrictModel):
    """What a failed check of a unit that was hit by fire does."""

    losses: Count
    disrupt: bool = False
    withdraw: Literal[0, 1] = 0


class Failures(StrictModel):
    """The same by the state of the unit."""

    steady: Failure
    disrupted: Failure


class FireCharts(StrictModel):
    """The Rifle Fire Table."""

    rows: Annotated[list[FireRow], Field(min_length=1)]
    failed: Failures


class Shift(StrictModel):
    """A shift of columns in a Clash."""

    side: Literal["attacker", "defender"]
    when: Name
    columns: Annotated[int, Field(ge=-9, le=9)]


class ClashCharts(StrictModel):
    """The Clash Table, a row for each die and an entry for each column."""

    columns: Annotated[list[str], Field(min_length=1)]
    square_against_cavalry: list[ClashResult]
    rows: list[list[ClashResult]]
    shift: list[Shift]


class Costs(StrictModel):
    """Movement Points by formation."""

    line: Points | None = None
    column: Points | None = None
    skirmish: Points | None = None
    cavalry: Points | None = None
    leader: Points | None = None


class Terrain(StrictModel):
    """A row of the Terrain Effects Chart; only what is passable has more than `passable`."""

    passable: bool
    blocks_sight: bool | None = None
    square: bool | None = None
    cost: Costs | None = None
    fire_modifier: int | None = None


class Hexside(StrictModel):
    """What runs along a hexside."""

    passable: bool
    extra_cost: Costs | None = None
    fire_modifier: int | None = None
    clash_shift: int | None = None


class FormationChange(StrictModel):
    """Movement Points for a change of formation."""

    column_to_line: Points
    line_to_column: Points


class Artillery(StrictModel):
    """The field of fire, to either side of the facing."""

    field_of_fire_deg: Annotated[float, Field(gt=0, le=180)]


class Automatic(StrictModel):
    """The Victory Points of an Automatic Victory."""

    french: Count
    british: Count


class Victory(StrictModel):
    """The thresholds of victory."""

    automatic: Automatic


class SomeCharts(StrictModel):
    """Charts in part, as a question may state them."""

    fire: FireCharts | None = None
    clash: ClashCharts | None = None
    terrain: dict[str, Terrain] = Field(default_factory=dict)
    hexside: dict[str, Hexside] = Field(default_factory=dict)
    formation_change: FormationChange | None = None
    artillery: Artillery | None = None
    victory: Victory | None = None


class Charts(GameFile):
    """The chart file."""

    fire: FireCharts
    clash: ClashCharts
    terrain: dict[str, Terrain]
    hexside: dict[str, Hexside] = Field(default_factory=dict)
    formation_change: FormationChange
    artillery: Artillery
    victory: Victory

    def checks(self) -> Iterator[Check]:
        """Yields that rows leave no gaps, that lengths fit, and that words exist."""
        rows, clash = self.fire.rows, self.clash
        starts = [1, *((row.to or 0) + 1 for row in rows)]
        for index, (row, start) in enumerate(zip(rows, starts, strict=False)):
            at, is_last = ("fire", "rows", index), index == len(rows) - 1
            yield (*at, "to"), is_last == (row.to is None), "expected `to` in each row but the last"
            yield (*at, "from"), row.start == start, f"expected {start}, got {row.start}"
        for key in ("rows", "square_against_cavalry"):
            count = len(getattr(clash, key))
            why = f"expected {DIE_FACES} entries, for a die of 0 to 9, got {count}"
            yield ("clash", key), count == DIE_FACES, why
        for index, results in enumerate(clash.rows):
            why = f"expected {len(clash.columns)} results, one a column, got {len(results)}"
            yield ("clash", "rows", index), len(results) == len(clash.columns), why
        yield ("clash", "columns"), "0" in clash.columns, 'expected a column "0", the base'
        for index, shift in enumerate(clash.shift):
            why = f"expected one of {', '.join(SHIFT_WORDS)}, got {quoted(shift.when)}"
            yield ("clash", "shift", index, "when"), is_shift_word(shift.when), why
        for section in ("terrain", "hexside"):
            for kind, row in getattr(self, section).items():
                if row.passable:
                    yield from _stated((section, kind), row.model_dump())


def _stated(path: KeyPath, values: Mapping[str, Any]) -> Iterator[Check]:
    """Yields that all keys of a passable terrain or hexside are there, also those within."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _stated((*path, key), value)
        else:
            yield (*path, key), value is not None, MISSING


class Leader(StrictModel):
    """An entry of `[[leader]]`."""

    id: Name
    side: Side
    hex: HexNumber | None = None


class ScenarioUnit(Troop):
    """An entry of `[[unit]]`: what its counters print, and where it stands or enters."""

    leader: Name
    hex: HexNumber | None = None
    second_hex: HexNumber | None = None
    formation: Literal["line", "column", "square", "skirmish"] | None = None
    facing_deg: Direction | None = None


_KINDS: Final[Mapping[str, tuple[Arm, tuple[str, ...]]]] = {
    "battalion": ("infantry", ("full_strength", "morale", "firepower")),
    "squadron": ("cavalry", ("full_strength", "morale")),
    "company": ("infantry", ("full_strength", "morale", "fire_result")),
    "foot-battery": ("artillery", ("stars", "ranges")),
    "horse-battery": ("artillery", ("stars", "ranges")),
}
"""The arm of each kind of unit, and the keys that it must have."""


class Scenario(GameFile):
    """The scenario file: leaders, units, and who is in the Activation Pool."""

    turns: Annotated[int, Field(ge=1, le=99)]
    overall_commander: dict[Side, Name]
    pool: dict[str, list[Name] | dict[Side, Count]]
    leader: Annotated[list[Leader], Field(min_length=1)]
    unit: Annotated[list[ScenarioUnit], Field(min_length=1)]

    def checks(self) -> Iterator[Check]:
        """Yields that names exist, and that units have what their counters print."""
        sides = {leader.id: leader.side for leader in self.leader}
        for side in SIDES:
            commander = self.overall_commander.get(side)
            why = f"expected a leader of the {side}, got {quoted(commander)}"
            yield ("overall_commander", side), sides.get(commander or "") == side, why
        yield ("pool",), "1" in self.pool, "expected who is in it from turn 1 on"
        for turn, entry in self.pool.items():
            for name in entry if isinstance(entry, list) else ():
                yield ("pool", turn), name in sides, f"expected leaders, got {quoted(name)}"
        names = {unit.id for unit in self.unit}
        for index, unit in enumerate(self.unit):
            at, (arm, needed) = ("unit", index), _KINDS[unit.kind]
            why = f"expected a leader of the {unit.side}, got {quoted(unit.leader)}"
            yield (*at, "leader"), sides.get(unit.leader) == unit.side, why
            why = f"expected {arm}, as it is a {unit.kind}, got {unit.arm}"
            yield (*at, "arm"), unit.arm == arm, why
            for key in (*needed, *_place_keys(unit)):
                why = f"expected this key of {unit.id}, but it is missing"
                yield (*at, key), key in unit.model_fields_set, why
            for company in unit.companies:
                why = f"expected the ids of units, got {quoted(company)}"
                yield (*at, "companies"), company in names, why
        yield from each_id_once(leader=self.leader, unit=self.unit)

    def faults_on(self, document: Document, hex_map: HexMap) -> Faults:
        """Yields facings to no corner (R-02), and lines that do not lie across theirs (D-G6)."""
        grid = grid_of(hex_map)
        for index, unit in enumerate(self.unit):
            facing_deg = unit.facing_deg
            if unit.hex is None or facing_deg is None or unit.hex not in grid:
                continue
            if facing_deg not in grid.facings_deg:
                why = f"expected one of {', '.join(map(str, grid.facings_deg))}, got {facing_deg}"
                yield document.error(("unit", index, "facing_deg"), why)
                continue
            right = right_hex(grid, unit.hex, facing_deg)
            if unit.second_hex not in (None, right):
                where = f"the hex to the right of {unit.hex} as {unit.id} faces"
                why = f"expected {right or 'none'}, {where}, got {unit.second_hex}"
                yield document.error(("unit", index, "second_hex"), why)

    def faults_among(self, document: Document, files: Mapping[str, Document]) -> Faults:
        """Yields what the map lacks: where units enter, and where each side's return."""
        if "map" not in files:
            return
        hex_map = files["map"].parsed(HexMapFile)
        for unit in self.unit:
            if unit.enters is not None and unit.enters.edge not in hex_map.edges:
                edge = unit.enters.edge
                why = f"expected the hexes by which {unit.id} enters, but they are missing"
                yield files["map"].error(("edges", edge), why)
        for side in SIDES:
            if side not in hex_map.returns:
                why = "expected the hex where units return, but it is missing"
                yield files["map"].error(("returns", side), why)


def _place_keys(unit: ScenarioUnit) -> Iterator[str]:
    """Yields the keys that say how a unit stands at the beginning."""
    if unit.hex is not None:
        yield "facing_deg"
        if unit.arm != "artillery":
            yield "formation"
    elif unit.kind != "company" and unit.enters is None:
        yield "hex"
