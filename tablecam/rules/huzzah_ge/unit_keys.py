"""The keys of units and officers in table files, positions and questions (H-1.6 to H-1.8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final, Literal

from tablecam.geometry.arrangement import arrangement
from tablecam.rules.huzzah_ge.morale import Officer
from tablecam.rules.huzzah_ge.tables import Class, Command, Grade, Kind
from tablecam.rules.huzzah_ge.troops import Standing, Troops, hits_per_base
from tablecam.rules.miniatures.unit_keys import Some, UnitKeys
from tablecam.rules.questions import FactError
from tablecam.table.sections import Name

_KINDS: Final[Mapping[str, Kind]] = {
    "infantry": "infantry",
    "cavalry": "other_cavalry",
    "artillery": "reserve_foot",
}


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A base of a grand battery."""

    kind: Literal["reserve_foot", "reserve_horse", "reserve_heavy"]
    expected: Class | None = None


@dataclass(frozen=True, kw_only=True)
class UnitFacts(UnitKeys, Standing):
    """A unit as it counts: keys of H-1.6 and H-1.7."""

    arm: Literal["infantry", "cavalry", "artillery"] = "infantry"
    kind: Kind | None = None
    expected: Class | None = None
    quality: Grade | None = None
    divisional_artillery: int | bool = False
    division: Name | None = None
    corps: Name | None = None
    pieces: list[Piece] = field(default_factory=list)
    base_count: Some | None = None
    ranks: list[Some] = field(default_factory=list)
    front_bases: Some | None = None
    hits_per_base: Some | None = None
    moved: bool = False
    in_combat_with: list[Name] = field(default_factory=list)
    sector: Name | None = None
    off_table: bool = False

    def rolled(self) -> Troops:
        """Returns the unit with the grade that it rolled.

        Raises:
            FactError: The grade is not known.
        """
        if self.quality is None:
            raise FactError("quality", "expected the grade that it rolled, but it is missing", self)
        return self.troops()

    def troops(self) -> Troops:
        """Returns the unit as it counts; without a grade it counts as trained."""
        kind = self.kind or _KINDS[self.arm]
        lying = arrangement(self.poses).ranks if self.bases else ()
        read = [len(rank) for rank in lying]
        ranks = self.ranks or read or [self.front_bases or self.base_count or 1]
        return Troops(
            **{key.name: getattr(self, key.name) for key in fields(Standing)},
            kind=kind,
            grade=self.quality or "trained",
            ranks=tuple(ranks),
            base_count=self.base_count or sum(ranks),
            hits_per_base=self.hits_per_base or hits_per_base(kind),
            has_divisional_artillery=self.divisional_artillery is not False,
            is_heavy_battery="reserve_heavy" in (kind, *(piece.kind for piece in self.pieces)),
            is_in_combat=bool(self.in_combat_with),
        )


@dataclass(frozen=True, kw_only=True)
class OfficerFacts(Officer):
    """An officer: keys of H-1.8."""

    id: Name | None = None
    level: Literal["division", "corps", "cinc"] = "division"
    quality: Command | None = None
    commands: list[Name] = field(default_factory=list)
    x_mm: float | None = None
    y_mm: float | None = None
    charmed: bool = False
