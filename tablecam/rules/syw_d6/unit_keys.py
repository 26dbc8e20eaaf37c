"""The keys of a unit in table files, positions and questions (S-0.4, S-0.5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field as Limits

from tablecam.documents import Document
from tablecam.rules.syw_d6.tables import Experience, Weapon
from tablecam.rules.syw_d6.troops import Face, Formation, Skill, Troops
from tablecam.table.position_file import BaseSection
from tablecam.table.sections import Name

Count = Annotated[int, Limits(ge=0, le=1000)]
Some = Annotated[int, Limits(ge=1, le=1000)]


@dataclass(frozen=True, kw_only=True)
class SkillFacts:
    """The experience of a unit by activity."""

    clear: Experience
    test: Experience
    move: Experience
    shoot: Experience


@dataclass(frozen=True, kw_only=True)
class UnitFacts:
    """A unit as it counts: keys of S-0.4 and S-0.5."""

    id: Name | None = None
    side: Name | None = None
    figures_start: Some | None = None
    figures: Count | None = None
    lost: Count | None = None
    files_per_base: Some = 1
    ranks_per_base: Some = 1
    bases: list[BaseSection] = field(default_factory=list)
    ranks: Some = 1
    files: Some | None = None
    experience: Experience | SkillFacts | None = None
    arm: Literal["infantry", "cavalry", "artillery"] = "infantry"
    weight: Literal["line", "light"] = "line"
    weapon: Weapon | None = None
    gun: Literal["light", "medium", "heavy"] = "medium"
    regular: bool = True
    brigade: Name | None = None
    division: Name | None = None
    nation: str = ""
    regiment: Name | None = None
    regimental_role: Literal["charging", "supporting"] | None = None
    formation: Formation = "line"
    disordered: bool = False
    reforming: bool = False
    status: Literal["steady", "retreating", "routing"] = "steady"
    limbered: bool = False
    moved: bool = False
    fired: bool = False
    charged: bool = False
    tested_this_turn: bool = False
    melee_with: list[Name] = field(default_factory=list)
    casualties_this_turn: Count = 0
    casualties_from: list[Literal["artillery", "flank_rear"]] = field(default_factory=list)
    contacted_on: Face | None = None
    cover: Literal["cover", "hard"] | None = None

    def troops(self, document: Document, *place: str | int, needs: tuple[str, ...] = ()) -> Troops:
        """Returns the unit; `needs` names what this question cannot do without."""
        for key, value in (("experience", self.experience), ("figures", self._start)):
            if key in needs and value is None:
                raise document.error((*place, key), "expected this key, but it is missing")
        known = self.experience
        skill = (
            Skill(known.clear, known.test, known.move, known.shoot)
            if isinstance(known, SkillFacts)
            else Skill(*[known or "green"] * 4)
        )
        start = self._start or 0
        figures = start - (self.lost or 0) if self.figures is None else self.figures
        if not 0 <= figures <= start:
            raise document.error((*place, "figures"), f"expected 0 to {start}, got {figures}")
        weapons: dict[str, Weapon] = {"cavalry": "carbine", "artillery": "gun"}
        return Troops(
            skill=skill,
            figures_start=start,
            figures=figures,
            arm=self.arm,
            weight=self.weight,
            weapon=self.weapon or weapons.get(self.arm, "musket"),
            gun=self.gun,
            nation=self.nation,
            formation=self.formation,
            ranks=self.ranks,
            disordered=self.disordered,
            reforming=self.reforming,
            status=self.status,
            limbered=self.limbered,
            moved=self.moved,
            fired=self.fired,
            in_melee=bool(self.melee_with),
            casualties_this_turn=self.casualties_this_turn,
            casualties_from=frozenset(self.casualties_from),
            contacted_on=self.contacted_on,
            cover=self.cover,
        )

    @property
    def _start(self) -> int | None:
        return self.figures if self.figures_start is None else self.figures_start
