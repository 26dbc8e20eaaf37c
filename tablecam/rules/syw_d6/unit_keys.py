"""The keys of a unit in table files, positions and questions, and the rows of a chart file."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Literal

from pydantic import Field as Limits

from tablecam.rules.frozen_json import to_plain
from tablecam.rules.miniatures.battle_game import BattleCharts
from tablecam.rules.miniatures.unit_keys import Count, Some, UnitKeys
from tablecam.rules.questions import FactError, Facts
from tablecam.rules.syw_d6.tables import GAME, Experience, Weapon
from tablecam.rules.syw_d6.troops import Skill, Standing, Troops
from tablecam.table.model import Unit
from tablecam.table.sections import Name, StrictModel

_OF_ARM: dict[str, Weapon] = {"cavalry": "carbine", "artillery": "gun"}
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
    experience: Experience | Skill | None = None
    weapon: Weapon | None = None
    brigade: Name | None = None
    division: Name | None = None
    regiment: Name | None = None
    regimental_role: Literal["charging", "supporting"] | None = None
    charged: bool = False
    tested_this_turn: bool = False
    melee_with: tuple[Name, ...] = ()
    casualties_from: tuple[Literal["artillery", "flank_rear"], ...] = ()

    def troops(self, *needs: str) -> Troops:
        """Returns the unit as it counts; `needs` are keys that this question cannot do without.

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
        state = {key: plain[key] for key in _STATE if plain.get(key)}
        state["figures"] = troops.figures
        if "column" in self.formation:
            state["formation"] = self.formation
        extra = {key: value for key, value in plain.items() if key not in (*_OWN, *_STATE)}
        extra |= {"figures": troops.figures_start, "experience": plain.get("experience", "green")}
        extra = {key: value for key, value in extra.items() if value is not None}
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

    game: Literal["syw-d6"] = GAME
    test: TestSection = TestSection()


@dataclass(frozen=True, kw_only=True)
class Charted(Facts):
    """What a question of a TEST may state: also the chart file."""

    charts: Charts | None = None  # type: ignore[assignment]

    @property
    def chart(self) -> dict[str, int | None]:
        """The rows that the chart file gives."""
        return {} if self.charts is None else self.charts.test.rows
