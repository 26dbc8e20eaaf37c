"""Units and officers from their keys, and a unit as it counts, with its quality (H-1.6, H-3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final, Literal

from tablecam.geometry.arrangement import arrangement
from tablecam.geometry.outlines import Axes
from tablecam.rules.huzzah_ge import tables
from tablecam.rules.huzzah_ge.tables import Class, Command, Grade, Kind, is_huzzah
from tablecam.rules.miniatures.faces import faces_of
from tablecam.rules.miniatures.moves import faces_as_meant
from tablecam.rules.miniatures.unit_keys import Count, Some, UnitKeys
from tablecam.rules.questions import FactError
from tablecam.table.headings import difference_deg, mean_deg
from tablecam.table.model import BasePose
from tablecam.table.sections import Name

Formation = Literal["line", "open", "road_column", "square"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A unit's state: keys that count as they are (H-1.6, H-1.7)."""

    abilities: tuple[tables.Ability, ...] = ()
    formation: Formation = "line"
    hits: Count = 0
    bases_lost_this_turn: Count = 0
    disordered: bool = False
    routing: bool = False
    charging: bool = False
    fired: bool = False
    cover: Literal["soft", "hard"] | None = None
    strongpoint: bool = False
    in_dense: bool = False
    effective: bool = False
    side_has_superiority: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Troops(Standing):
    """A unit as it counts; `ranks` are the bases of each rank, front rank first."""

    kind: tables.Kind = "infantry"
    grade: tables.Grade = "trained"
    ranks: tuple[int, ...] = ()
    base_count: int = 0
    hits_per_base: int = 3
    has_divisional_artillery: bool = False
    is_heavy_battery: bool = False
    is_in_combat: bool = False

    @property
    def is_reserve(self) -> bool:
        """Whether it is reserve artillery."""
        return self.kind.startswith("reserve_")

    @property
    def arm(self) -> Literal["infantry", "cavalry", "artillery"]:
        """Its arm."""
        if self.is_reserve:
            return "artillery"
        return "cavalry" if self.kind.endswith("cavalry") else "infantry"

    @property
    def _reach_cm(self) -> tuple[float, float, float]:
        return tables.REACH_CM[self.kind if self.is_reserve else self.arm]

    @property
    def range_cm(self) -> float:
        """How far it fires (H-7.3)."""
        return self._reach_cm[0]

    @property
    def rout_cm(self) -> float:
        """Its road column move, which is its rout and the limit for its group (H-9.8, H-12.2)."""
        return self._reach_cm[2]

    @property
    def allowance_cm(self) -> float:
        """How far it moves on an order of its own; squares do not move (H-12.1)."""
        if self.formation == "square":
            return 0.0
        is_open = "irregular" in self.abilities or self.formation != "line"
        return self._reach_cm[2 if is_open else 1]

    @property
    def support_ranks(self) -> int:
        """Its complete support ranks (H-2.5)."""
        return support_ranks(self.ranks, self.formation)


def support_ranks(ranks: Sequence[int], formation: Formation = "line") -> int:
    """Returns the number of ranks behind the first with as many bases, at least two (H-2.5).

    >>> [support_ranks(ranks) for ranks in ((3, 3), (3, 2), (2, 2, 2), (1, 1))]
    [1, 0, 2, 0]
    """
    if formation == "road_column" or not ranks or ranks[0] < 2:
        return 0
    return sum(count >= ranks[0] for count in ranks[1:])


@dataclass(frozen=True, slots=True)
class QualityRoll:
    """The grade of a unit, the abilities that it then has, and the number of throws."""

    grade: tables.Grade
    abilities: tuple[str, ...]
    rolls_used: int


def grade_at(expected: tables.Class, total: int) -> tables.Grade:
    """Returns the grade of a class for a roll (H-3.1)."""
    limits = tables.QUALITY[expected]
    return next(
        grade
        for grade, limit in zip(tables.GRADES, limits, strict=True)
        if limit is not None and total <= limit
    )


def quality(
    expected: tables.Class, abilities: Collection[str], rolls: Sequence[Sequence[int]]
) -> QualityRoll | None:
    """Returns a unit's grade, with the gift of a double one; None if a throw is missing.

    A second double one, or one by a unit with both abilities, counts as a plain two (H-3.2, H-3.3).
    """
    held = list(abilities)
    if not rolls:
        return None
    gift: tables.Ability | None = None
    if is_huzzah(rolls[0]):
        gift = "disciplined" if "grognards" in held else "grognards"
    if gift is None or gift in held:
        return QualityRoll(grade_at(expected, sum(rolls[0])), tuple(held), 1)
    if len(rolls) < 2:
        return None
    # The gift raises the worst grades.
    least = tables.GRADES.index("green" if gift == "grognards" else "trained")
    grade = tables.GRADES[min(tables.GRADES.index(grade_at(expected, sum(rolls[1]))), least)]
    return QualityRoll(grade, (*held, gift), 2)


def grades_of(expected: tables.Class, abilities: Collection[str]) -> list[tables.Grade]:
    """Returns the grades that a unit may turn out to have, best first (H-3.1 to H-3.3)."""
    throws = [(low, high) for low in (1, 6) for high in range(1, 7)]
    rolls = ([(1, 1), dice] for dice in throws), ([dice] for dice in throws)
    rolled = (quality(expected, abilities, dice) for row in rolls for dice in row)
    grades = {one.grade for one in rolled if one is not None}
    return sorted(grades, key=tables.GRADES.index)


def worst_class(classes: Sequence[tables.Class]) -> tables.Class:
    """Returns the lowest of some classes (H-3.4)."""
    return max(classes, key=tables.CLASSES.index)


def heading_of(bases: Sequence[BasePose]) -> float:
    """Returns the heading of a unit; for a square, that of the bases not reversed (H-2.1)."""
    first_deg = bases[0].heading_deg
    alike = [
        base.heading_deg
        for base in bases
        if abs(difference_deg(base.heading_deg, first_deg)) <= 90.0
    ]
    return mean_deg(alike)


def faces_alike(bases: Sequence[BasePose], heading_deg: float) -> bool:
    """Whether all bases face a heading, in a square or its reverse, within hand error (H-2.1)."""
    return all(
        any(
            faces_as_meant(base.heading_deg, meant_deg, base.sigma_deg)
            for meant_deg in (heading_deg, heading_deg + 180.0)
        )
        for base in bases
    )


def front_of(bases: Sequence[BasePose]) -> Axes:
    """Returns the front face of some bases."""
    return faces_of(bases, heading_of(bases))["front"]


@dataclass(frozen=True, slots=True)
class Officer:
    """An officer as his unit's tests count him."""

    attached: bool = False
    inspirational: bool = False
    killed: bool = False

    @property
    def modifier(self) -> int:
        """His modifier: two if inspirational, negative if he was killed (H-9.3)."""
        worth = 2 if self.inspirational else 1
        return -worth if self.killed else worth if self.attached else 0


NOBODY = Officer()


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
            hits_per_base=self.hits_per_base or tables.HITS_PER_BASE[kind],
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
