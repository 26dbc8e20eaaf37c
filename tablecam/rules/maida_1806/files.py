"""The files of the game's owner: charts, and a scenario with the counters.

What the rulebook leaves to charts and counters comes from these files alone; a missing key is
named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from tablecam.documents import Document
from tablecam.rules.game_files import GameFile
from tablecam.rules.hexes.files import HexNumber
from tablecam.rules.maida_1806.tables import DIE_FACES, SHIFT_WORDS, is_shift_word
from tablecam.rules.maida_1806.troops import SIDES, Count, FireResult, Side, Troop
from tablecam.table.model import Arm
from tablecam.table.sections import Faults, Name, StrictModel
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

    def faults(self, document: Document) -> Faults:
        """Yields rows that leave gaps, lengths that do not fit, and words that do not exist."""
        yield from self._row_faults(document)
        clash = self.clash
        for key, rows in (("rows", clash.rows), ("square_against_cavalry",
                           clash.square_against_cavalry)):  # fmt: skip
            if len(rows) != DIE_FACES:
                why = f"expected {DIE_FACES} entries, for a die of 0 to 9, got {len(rows)}"
                yield document.error(("clash", key), why)
        for index, row in enumerate(clash.rows):
            if len(row) != len(clash.columns):
                why = f"expected {len(clash.columns)} results, one a column, got {len(row)}"
                yield document.error(("clash", "rows", index), why)
        if "0" not in clash.columns:
            yield document.error(("clash", "columns"), 'expected a column "0", the base')
        for index, shift in enumerate(clash.shift):
            if not is_shift_word(shift.when):
                expected = ", ".join(SHIFT_WORDS)
                why = f"expected one of {expected}, got {quoted(shift.when)}"
                yield document.error(("clash", "shift", index, "when"), why)
        sections: Mapping[str, Mapping[str, StrictModel]] = {
            "terrain": self.terrain,
            "hexside": self.hexside,
        }
        for section, kinds in sections.items():
            for kind, row_ in kinds.items():
                yield from _lacking(document, section, kind, row_)

    def _row_faults(self, document: Document) -> Faults:
        rows = self.fire.rows
        for index, row in enumerate(rows):
            is_last = index == len(rows) - 1
            if is_last != (row.to is None):
                yield document.error(
                    ("fire", "rows", index, "to"), "expected `to` in each row but the last"
                )
            expected = 1 if index == 0 else (rows[index - 1].to or 0) + 1
            if row.start != expected:
                yield document.error(
                    ("fire", "rows", index, "from"), f"expected {expected}, got {row.start}"
                )


def _lacking(document: Document, section: str, kind: str, row: StrictModel) -> Faults:
    """Yields the keys that a passable terrain or hexside lacks."""
    values = row.model_dump()
    if not values["passable"]:
        return
    for key, value in values.items():
        costs = value.items() if isinstance(value, dict) else ((None, value),)
        for formation, number in costs:
            if number is None:
                path = (section, kind, key, *([] if formation is None else [formation]))
                yield document.error(path, "expected this key, but it is missing")


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


_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "battalion": ("full_strength", "morale", "firepower"),
    "squadron": ("full_strength", "morale"),
    "company": ("full_strength", "morale", "fire_result"),
    "foot-battery": ("stars", "ranges"),
    "horse-battery": ("stars", "ranges"),
}
"""The keys that each kind of unit must have."""
_ARMS: Final[Mapping[str, Arm]] = {
    "battalion": "infantry",
    "company": "infantry",
    "squadron": "cavalry",
    "foot-battery": "artillery",
    "horse-battery": "artillery",
}


class Scenario(GameFile):
    """The scenario file: leaders, units, and who is in the Activation Pool."""

    turns: Annotated[int, Field(ge=1, le=99)]
    overall_commander: dict[Side, Name]
    pool: dict[str, list[Name] | dict[Side, Count]]
    leader: Annotated[list[Leader], Field(min_length=1)]
    unit: Annotated[list[ScenarioUnit], Field(min_length=1)]

    def faults(self, document: Document) -> Faults:
        """Yields names that do not exist, and units without what their counters print."""
        sides = {leader.id: leader.side for leader in self.leader}
        for side in SIDES:
            commander = self.overall_commander.get(side)
            if sides.get(commander or "") != side:
                why = f"expected a leader of the {side}, got {quoted(commander)}"
                yield document.error(("overall_commander", side), why)
        yield from self._pool_faults(document, sides)
        names = {unit.id for unit in self.unit}
        for index, unit in enumerate(self.unit):
            at = ("unit", index)
            if sides.get(unit.leader) != unit.side:
                why = f"expected a leader of the {unit.side}, got {quoted(unit.leader)}"
                yield document.error((*at, "leader"), why)
            if unit.arm != _ARMS[unit.kind]:
                why = f"expected {_ARMS[unit.kind]}, as it is a {unit.kind}, got {unit.arm}"
                yield document.error((*at, "arm"), why)
            for key in (*_NEEDED[unit.kind], *_place_keys(unit)):
                if key not in unit.model_fields_set:
                    why = f"expected this key of {unit.id}, but it is missing"
                    yield document.error((*at, key), why)
            for company in unit.companies:
                if company not in names:
                    why = f"expected the ids of units, got {quoted(company)}"
                    yield document.error((*at, "companies"), why)
        yield from self._twice(document)

    def _pool_faults(self, document: Document, sides: Mapping[str, str]) -> Faults:
        if "1" not in self.pool:
            yield document.error(("pool",), "expected who is in it from turn 1 on")
        for turn, entry in self.pool.items():
            for name in entry if isinstance(entry, list) else ():
                if name not in sides:
                    yield document.error(("pool", turn), f"expected leaders, got {quoted(name)}")

    def _twice(self, document: Document) -> Faults:
        seen: set[str] = set()
        ids = [(("leader", index, "id"), leader.id) for index, leader in enumerate(self.leader)]
        ids += [(("unit", index, "id"), unit.id) for index, unit in enumerate(self.unit)]
        for path, name in ids:
            if name in seen:
                why = f"expected another id, {quoted(name)} is used twice"
                yield document.error(path, why)
            seen.add(name)


def _place_keys(unit: ScenarioUnit) -> Iterator[str]:
    """Yields the keys that say how a unit stands at the beginning."""
    if unit.hex is not None:
        yield "facing_deg"
        if unit.arm != "artillery":
            yield "formation"
    elif unit.kind != "company" and unit.enters is None:
        yield "hex"
