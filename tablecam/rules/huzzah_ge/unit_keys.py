"""The keys of units and officers in table files, positions and questions (H-1.6 to H-1.8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import Field as Limits

from tablecam.geometry.arrangement import arrangement
from tablecam.rules.huzzah_ge.morale import Officer
from tablecam.rules.huzzah_ge.tables import Ability, Class, Command, Grade, Kind
from tablecam.rules.huzzah_ge.troops import Formation, Troops, hits_per_base
from tablecam.rules.questions import FactError
from tablecam.table.model import BasePose
from tablecam.table.position_file import BaseSection
from tablecam.table.sections import Name

Count = Annotated[int, Limits(ge=0, le=1000)]
Some = Annotated[int, Limits(ge=1, le=1000)]

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
class UnitFacts:
    """A unit as it counts: keys of H-1.6 and H-1.7."""

    id: Name | None = None
    side: Name | None = None
    arm: Literal["infantry", "cavalry", "artillery"] = "infantry"
    kind: Kind | None = None
    expected: Class | None = None
    quality: Grade | None = None
    abilities: list[Ability] = field(default_factory=list)
    divisional_artillery: int | bool = False
    division: Name | None = None
    corps: Name | None = None
    pieces: list[Piece] = field(default_factory=list)
    base_count: Some | None = None
    bases: list[BaseSection] = field(default_factory=list)
    ranks: list[Some] = field(default_factory=list)
    front_bases: Some | None = None
    hits: Count = 0
    hits_per_base: Some | None = None
    bases_lost_this_turn: Count = 0
    disordered: bool = False
    routing: bool = False
    formation: Formation = "line"
    fired: bool = False
    moved: bool = False
    charging: bool = False
    in_combat_with: list[Name] = field(default_factory=list)
    sector: Name | None = None
    off_table: bool = False
    cover: Literal["soft", "hard"] | None = None
    strongpoint: bool = False
    in_dense: bool = False
    effective: bool = False
    side_has_superiority: bool = False

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
            kind=kind,
            grade=self.quality or "trained",
            abilities=frozenset(self.abilities),
            ranks=tuple(ranks),
            base_count=self.base_count or sum(ranks),
            formation=self.formation,
            hits=self.hits,
            bases_lost_this_turn=self.bases_lost_this_turn,
            hits_per_base=self.hits_per_base or hits_per_base(kind),
            is_disordered=self.disordered,
            is_routing=self.routing,
            is_in_dense=self.in_dense,
            is_effective=self.effective,
            has_divisional_artillery=self.divisional_artillery is not False,
            is_heavy_battery="reserve_heavy" in (kind, *(piece.kind for piece in self.pieces)),
            has_superiority=self.side_has_superiority,
            cover=self.cover,
            is_strongpoint=self.strongpoint,
            is_charging=self.charging,
            has_fired=self.fired,
            is_in_combat=bool(self.in_combat_with),
        )

    @property
    def poses(self) -> tuple[BasePose, ...]:
        """Its bases as they lie."""
        return tuple(base.to_pose() for base in self.bases)

    def lying(self) -> tuple[BasePose, ...]:
        """Returns its bases, without which a question cannot be answered.

        Raises:
            FactError: There are none.
        """
        if not self.bases:
            raise FactError("bases", "expected bases, but the key is missing", self)
        return self.poses


@dataclass(frozen=True, kw_only=True)
class OfficerFacts:
    """An officer: keys of H-1.8."""

    id: Name | None = None
    level: Literal["division", "corps", "cinc"] = "division"
    quality: Command | None = None
    inspirational: bool = False
    commands: list[Name] = field(default_factory=list)
    x_mm: float | None = None
    y_mm: float | None = None
    attached: bool = False
    killed: bool = False
    charmed: bool = False

    @property
    def officer(self) -> Officer:
        """The same as the rules take it."""
        return Officer(self.attached, self.inspirational, self.killed)
