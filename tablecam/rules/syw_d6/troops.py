"""A unit by its keys, and as the sheet counts it; the rows of a chart file (S-0.4, S-L, S-N.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field as Limits

from tablecam.geometry.arrangement import arrangement
from tablecam.rules.frozen_json import to_plain
from tablecam.rules.game import Ban
from tablecam.rules.miniatures.battle_game import BattleCharts
from tablecam.rules.miniatures.unit_keys import Count, Some, UnitKeys
from tablecam.rules.questions import FactError, Facts
from tablecam.rules.syw_d6 import tables
from tablecam.table.headings import difference_deg, forward
from tablecam.table.model import BasePose, Unit
from tablecam.table.sections import Name, StrictModel

Formation = Literal["line", "bent_line", "attack_column", "march_column", "square", "open", "none"]
Face = Literal["front", "flank", "rear"]
Marker = Literal["none", "orange", "red"]


@dataclass(frozen=True, slots=True)
class Skill:
    """The experience of a unit by activity (S-K.6)."""

    clear: tables.Experience
    test: tables.Experience
    move: tables.Experience
    shoot: tables.Experience


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a unit is and how it stands: keys that count as they are (S-0.4, S-0.5)."""

    arm: Literal["infantry", "cavalry", "artillery"] = "infantry"
    weight: Literal["line", "light"] = "line"
    gun: Literal["light", "medium", "heavy"] = "medium"
    regular: bool = True
    nation: str = ""
    files_per_base: Some = 1
    ranks_per_base: Some = 1
    formation: Formation = "line"
    ranks: Some = 1
    disordered: bool = False
    reforming: bool = False
    status: Literal["steady", "retreating", "routing"] = "steady"
    limbered: bool = False
    moved: bool = False
    fired: bool = False
    casualties_this_turn: Count = 0
    contacted_on: Face | None = None
    cover: Literal["cover", "hard"] | None = None

    @property
    def suffers_terrain(self) -> bool:
        """Whether designated terrain disorders it: neither light nor irregular troops (S-J.9)."""
        return self.regular and self.weight != "light"


@dataclass(frozen=True, slots=True, kw_only=True)
class Troops(Standing):
    """A unit as it counts; `cover` is what it stands in against fire, `ranks` how deep it is.

    Of a target that `is_seen_aside`, its files count as its ranks (S-D.10).
    """

    skill: Skill
    figures_start: int
    figures: int
    weapon: tables.Weapon = "musket"
    in_melee: bool = False
    casualties_from: frozenset[str] = frozenset()
    is_seen_aside: bool = False

    @property
    def is_disordered(self) -> bool:
        """Whether it counts as disordered: so does a unit that reforms (S-A.7) or flees (S-J.5)."""
        return self.disordered or self.reforming or self.status != "steady"

    @property
    def marker(self) -> Marker:
        """The marker that it wears."""
        return "red" if self.reforming else "orange" if self.is_disordered else "none"

    @property
    def lost(self) -> int:
        """All figures lost in the battle."""
        return self.figures_start - self.figures

    @property
    def is_destroyed(self) -> bool:
        """Whether it has lost three quarters of its strength (S-H.4)."""
        return self.lost >= tables.share_of(self.figures_start, tables.DESTROYED_PERCENT)

    @property
    def rate(self) -> int:
        """Its plain rate in dice (S-B.3)."""
        if self.arm == "artillery":
            return tables.RATES["light guns" if self.gun == "light" else "guns"]
        return tables.RATES[f"{self.weight} {self.arm}"]

    @property
    def is_in_column(self) -> bool:
        """Whether it is line infantry in one of the two columns (S-B.3)."""
        return (self.arm, self.weight) == ("infantry", "line") and "column" in self.formation

    @property
    def formations(self) -> tuple[Formation, ...]:
        """The formations that such troops form up in, but for bent lines (S-L.9 to S-L.14)."""
        if self.weight == "light" or self.arm == "artillery":
            return ()
        if self.arm == "cavalry":
            return "line", "march_column"
        is_french = self.regular and self.nation.lower() == "french"
        attack: tuple[Formation, ...] = ("attack_column",) if is_french else ()
        return ("line", "march_column", *attack, "square")

    @property
    def ranges(self) -> tables.Ranges:
        """The ranges of its weapon (S-D.8)."""
        is_light_gun = (self.arm, self.gun) == ("artillery", "light")
        return tables.RANGES["light gun" if is_light_gun else self.weapon]

    @property
    def may_counter_charge(self) -> bool:
        """Whether it is cavalry in order, which may counter-charge (S-C.6)."""
        return self.arm == "cavalry" and not self.is_disordered

    @property
    def fire_bonus(self) -> int:
        """The dice that its experience adds to fire; none if disordered (S-I.3)."""
        return 0 if self.is_disordered else tables.BONUS[self.skill.shoot]

    def after_losses(self, figures: int) -> Troops:
        """Returns the unit without some figures; two lost in a turn disorder it (S-J.1)."""
        removed = min(figures, self.figures)
        casualties = self.casualties_this_turn + removed
        return replace(
            self,
            figures=self.figures - removed,
            casualties_this_turn=casualties,
            disordered=self.disordered or casualties >= 2,
        )


def may_pass(a: Troops, b: Troops) -> bool:
    """Whether two friends pass through each other in good order: one of them is light (S-J.6)."""
    return "light" in (a.weight, b.weight)


def bases_needed(troops: Troops) -> int:
    """Returns how many bases a unit needs for its figures (S-0.7), a battery for its crews (S-L.4).

    A unit with more of them on the table is to take one off.
    """
    is_battery, full = troops.arm == "artillery", troops.files_per_base * troops.ranks_per_base
    return -(-troops.figures // (tables.CREW[troops.gun] if is_battery else full))


@dataclass(frozen=True, slots=True)
class FormationReading:
    """The formation in which some bases lie, or why they are in none."""

    formation: Formation
    ranks: int
    files: int
    why_not: Ban | None = None


def formation_of(bases: Sequence[BasePose], troops: Troops, *, inch_mm: float) -> FormationReading:
    """Reads the formation of a unit from its bases (S-L.7 to S-L.14).

    Columns of attack and of march can lie alike: what the unit had declared decides, else a French
    one of three ranks counts as an attack column.
    """
    is_light = troops.weight == "light"
    in_file, in_rank = troops.ranks_per_base, troops.files_per_base
    lie = arrangement(bases, apart_mm=tables.OPEN_IN * inch_mm if is_light else tables.APART_MM)
    ranks = len(lie.ranks) * in_file
    files = max(map(len, lie.ranks)) * in_rank
    if len(lie.groups) > 1:
        why = "its bases do not touch" if not is_light else "a base is more than 6 in off"
        return FormationReading("none", ranks, files, Ban("S-L.7" if is_light else "S-L.8", why))
    if is_light:
        return FormationReading("open", ranks, files)
    turns_deg = [difference_deg(base.heading_deg, bases[0].heading_deg) for base in bases]
    if _is_square(turns_deg):
        return FormationReading("square", ranks, files)
    if any(abs(turn_deg) > tables.SQUARE_DEG for turn_deg in turns_deg):
        order = [place for file in lie.files for place in file]
        bends_deg = _bends_deg([bases[place] for place in order])
        return bent_line(bends_deg, in_file, len(bases) * in_rank)
    if ranks <= 2:
        front, second = (len(rank) * in_rank for rank in (lie.ranks[0], lie.ranks[-1]))
        if 0 <= front - second <= 1:
            return FormationReading("line", ranks, files)
        why = f"its front rank has {front - second} figures more than the second"
        return FormationReading("none", ranks, files, Ban("S-L.9", why))
    if len({len(rank) for rank in lie.ranks[:-1]}) > 1 or len(lie.ranks[-1]) > len(lie.ranks[0]):
        why = "its rows are not equal but for the rear one"
        return FormationReading("none", ranks, files, Ban("S-L.11", why))
    may_attack = ranks == tables.ATTACK_COLUMN_RANKS and "attack_column" in troops.formations
    is_attack = may_attack and troops.formation != "march_column"
    return FormationReading("attack_column" if is_attack else "march_column", ranks, files)


def _is_square(turns_deg: Sequence[float]) -> bool:
    """Whether the bases face four ways, as many each as can be (S-L.14)."""
    sides = [round(turn_deg / 90) % 4 for turn_deg in turns_deg]
    counts = [sides.count(side) for side in range(4)]
    off_deg = max(abs(difference_deg(deg, 90 * round(deg / 90))) for deg in turns_deg)
    return min(counts) > 0 and max(counts) - min(counts) <= 1 and off_deg <= tables.SQUARE_DEG


def _bends_deg(bases: Sequence[BasePose]) -> list[float]:
    """Returns the turns between neighbours from left to right, those of a wing forward positive."""
    middle = bases[len(bases) // 2]
    ahead = forward(middle.heading_deg)
    bends_deg = []
    for left, right in pairwise(bases):
        turn_deg = abs(difference_deg(right.heading_deg, left.heading_deg))
        if turn_deg <= tables.SQUARE_DEG:
            continue
        # The wing is the base that is farther from the middle one.
        wing, inner = sorted(
            (left, right),
            key=lambda base: -math.hypot(base.x_mm - middle.x_mm, base.y_mm - middle.y_mm),
        )
        ahead_mm = (wing.x_mm - inner.x_mm) * ahead[0] + (wing.y_mm - inner.y_mm) * ahead[1]
        bends_deg.append(math.copysign(turn_deg, ahead_mm))
    return bends_deg


def bent_line(bends_deg: Sequence[float], ranks: int, files: int) -> FormationReading:
    """Reads a line by its bends, forward positive (S-L.12)."""
    if len(bends_deg) > tables.MOST_BENDS:
        why = f"a line bends at most {tables.MOST_BENDS} times, not {len(bends_deg)}"
        return FormationReading("none", ranks, files, Ban("S-L.12", why))
    forward_deg, back_deg = tables.FORWARD_DEG, tables.BACK_DEG
    worst_deg = next((deg for deg in bends_deg if not -back_deg <= deg <= forward_deg), None)
    if worst_deg is not None:
        way, most_deg = ("forward", forward_deg) if worst_deg > 0 else ("back", back_deg)
        why = f"a wing bends {way} by {abs(worst_deg):.0f}°, more than {most_deg:g}°"
        return FormationReading("none", ranks, files, Ban("S-L.12", why))
    return FormationReading("bent_line" if bends_deg else "line", ranks, files)


_OF_ARM: dict[str, tables.Weapon] = {"cavalry": "carbine", "artillery": "gun"}
"""The weapon of an arm, unless the unit's key states another."""
_STATE = (
    "disordered", "reforming", "status", "limbered", "moved", "fired", "charged", "melee_with",
    "casualties_this_turn", "casualties_from", "contacted_on", "tested_this_turn",
)  # fmt: skip
_OWN = ("id", "side", "arm", "bases", "figures", "lost", "ranks", "files", "cover", "formation")


@dataclass(frozen=True, kw_only=True)
class UnitFacts(UnitKeys, Standing):
    """A unit by its keys, and its bases where they count."""

    figures_start: Some | None = None
    figures: Count | None = None
    lost: Count | None = None
    files: Some | None = None
    experience: tables.Experience | Skill | None = None
    weapon: tables.Weapon | None = None
    brigade: Name | None = None
    division: Name | None = None
    regiment: Name | None = None
    regimental_role: Literal["charging", "supporting"] | None = None
    charged: bool = False
    tested_this_turn: bool = False
    melee_with: tuple[Name, ...] = ()
    casualties_from: tuple[Literal["artillery", "flank_rear"], ...] = ()

    def troops(self, *needs: str) -> Troops:
        """Returns the unit as it counts; `needs` are keys that this question requires.

        Raises:
            FactError: One of them is missing, or it has more figures than at the start.
        """
        start = self.figures if self.figures_start is None else self.figures_start
        for key, value in (("experience", self.experience), ("figures", start)):
            if key in needs and value is None:
                raise FactError(key, "expected this key, but it is missing", owner=self)
        start, known = start or 0, self.experience
        figures = start - (self.lost or 0) if self.figures is None else self.figures
        if not 0 <= figures <= start:
            raise FactError("figures", f"expected 0 to {start}, got {figures}", owner=self)
        return Troops(
            **{key.name: getattr(self, key.name) for key in fields(Standing)},
            skill=known if isinstance(known, Skill) else Skill(*[known or "green"] * 4),
            figures_start=start,
            figures=figures,
            weapon=self.weapon or _OF_ARM.get(self.arm, "musket"),
            in_melee=bool(self.melee_with),
            casualties_from=frozenset(self.casualties_from),
        )

    def on_table(self, name: str, side: str | None = None) -> Unit:
        """Returns the unit on a table, with this name and side unless its keys state others.

        Raises:
            FactError: It has no bases, or no side.
        """
        side = self.side or side
        if side is None:
            raise FactError("side", "expected this key, but it is missing", owner=self)
        bases, troops, plain = self.poses, self.troops(), to_plain(self)
        plain = {key: value for key, value in plain.items() if value is not None}
        state = {key: plain[key] for key in _STATE if plain.get(key)} | {"figures": troops.figures}
        if "column" in self.formation:
            state["formation"] = self.formation
        extra = {key: value for key, value in plain.items() if key not in (*_OWN, *_STATE)}
        extra = {"experience": "green"} | extra | {"figures": troops.figures_start}
        return Unit(self.id or name, side, self.arm, bases, state=state, extra=extra)


Row = Annotated[int, Limits(ge=-6, le=6)]


class TestSection(StrictModel):
    """The rows of the TEST that the sheet has lost, as far as its owner gives them (S-N.2)."""

    __test__ = False

    retreat_at: Row | Literal["none"] | None = None
    casualties_artillery: Row | None = None
    casualties_flank_rear: Row | None = None
    contacted_flank_rear: Row | None = None
    green: Row | None = None
    trained: Row | None = None
    disordered: Row | None = None

    @property
    def rows(self) -> dict[str, int | None]:
        """The rows that are given; None where a TEST never has that result."""
        given = self.model_dump(exclude_none=True)
        return {row: None if value == "none" else value for row, value in given.items()}


class Charts(BattleCharts):
    """The chart file of the sheet."""

    game: Literal["syw-d6"] = tables.GAME
    test: TestSection = TestSection()


@dataclass(frozen=True, kw_only=True)
class Charted(Facts):
    """What a question of a TEST may state: also the chart file."""

    charts: Charts | None = None  # type: ignore[assignment]

    @property
    def chart(self) -> dict[str, int | None]:
        """The rows that the chart file gives."""
        return {} if self.charts is None else self.charts.test.rows
