"""The TEST, melee and moral: factors with their names, and what they lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import Field as Limits

from tablecam.rules.miniatures.unit_keys import Count
from tablecam.rules.syw_d6 import tables
from tablecam.rules.syw_d6.troops import Troops
from tablecam.table.sections import Name

TestKind = Literal["casualty", "melee", "moral"]
Fate = Literal["none", "retreat", "rout"]
Calamity = Literal["destroyed", "routs", "retreats"]

Chart = Mapping[str, int | None]
_NO_CHART: Chart = MappingProxyType({})


Inches = Annotated[float, Limits(ge=0, le=1000)]


@dataclass(frozen=True, kw_only=True)
class ByBrigade:
    """Friends of the same brigade, and of others."""

    same: Count = 0
    other: Count = 0


_NOBODY: Final = ByBrigade()


@dataclass(frozen=True, kw_only=True)
class Company:
    """What a TEST counts besides the unit itself (S-H.4)."""

    command_within: bool = False
    friends_in_sight: Count = 0
    destroyed_friends: ByBrigade = _NOBODY
    routed_friends: ByBrigade = _NOBODY
    retreating_friends: Count = 0
    charging: bool = False


ALONE: Final = Company()


@dataclass(frozen=True, slots=True)
class MoraleTest:
    """A TEST: its named factors, their sum, and what becomes of the unit (S-H.3, S-N.3).

    A factor is None while its chart row is missing; then so are the sum and the result.
    """

    parts: Mapping[str, int | None]
    total: int | None
    is_rout: bool | None
    result: Fate | None
    asks_for: tuple[str, ...]

    @property
    def of_loser(self) -> Fate | None:
        """What becomes of the loser of a melee, who retreats at least (S-F.4)."""
        return "retreat" if self.result == "none" else self.result


def _judged(parts: Mapping[str, int | None], chart: Chart, asks_for: Sequence[str]) -> MoraleTest:
    known = [part for part in parts.values() if part is not None]
    if len(known) < len(parts):
        return MoraleTest(parts, None, None, None, tuple(asks_for))
    total, retreat_at = sum(known), chart.get("retreat_at")
    retreats = retreat_at is not None and total <= retreat_at
    result: Fate = "rout" if total <= tables.ROUT_AT else "retreat" if retreats else "none"
    return MoraleTest(parts, total, result == "rout", result, tuple(asks_for))


def losses_factor(troops: Troops) -> int:
    """Returns what the losses of the whole battle count (S-H.4, S-H.5)."""
    start = troops.figures_start
    factors = (
        factor
        for percent, factor in tables.LOSSES
        if troops.lost >= tables.share_of(start, percent)
    )
    return next(factors, 0)


def take_test(
    troops: Troops, kind: TestKind, company: Company, die: int | None, chart: Chart = _NO_CHART
) -> MoraleTest:
    """Returns the TEST of a unit (S-H); without a die its modifier is left out.

    `chart` holds the rows that the sheet has lost, as its owner has filled them in (S-N.2).
    """
    flees = troops.status if kind == "moral" else "steady"
    in_order, skill = not troops.is_disordered, troops.skill.test
    lost_rows = {
        "casualties_artillery": "artillery" in troops.casualties_from,
        "casualties_flank_rear": "flank_rear" in troops.casualties_from,
        "contacted_flank_rear": troops.contacted_on in ("flank", "rear"),
        "green": skill == "green",
        "trained": skill == "trained",
    }
    parts: dict[str, int | None] = {
        "losses": losses_factor(troops),
        "disordered": 0 if in_order else chart.get("disordered", tables.DISORDERED),
        **{row: chart.get(row) if counts else 0 for row, counts in lost_rows.items()},
        "retreats": tables.RETREATING if flees == "retreating" else 0,
        "retreating_friends": tables.RETREATING * company.retreating_friends,
        "routs": tables.ROUTED[0] if flees == "routing" else 0,
        "routed_friends": _of_friends(tables.ROUTED, company.routed_friends),
        "destroyed_friends": _of_friends(tables.DESTROYED, company.destroyed_friends),
        "charging": int(company.charging and in_order),
        "friends_in_sight": int(company.friends_in_sight > 0),
        "command": int(company.command_within and in_order),
    }
    if die is not None:
        parts["modifier_die"] = tables.MODIFIER[skill].get(die, 0)
    missing = [row for row, counts in lost_rows.items() if counts and row not in chart]
    return _judged(parts, chart, missing)


def _of_friends(factors: tuple[int, int], friends: ByBrigade) -> int:
    same, other = factors
    return same * friends.same + other * friends.other


def figures_due(difference: int) -> int:
    """Returns the figures that the loser of a melee removes: three a point (S-F.3)."""
    return tables.FIGURES_A_POINT * abs(difference)


FRIEND_FACTORS: Final[Mapping[Calamity, tuple[int, int]]] = MappingProxyType(
    {
        "destroyed": tables.DESTROYED,
        "routs": tables.ROUTED,
        "retreats": (tables.RETREATING, tables.RETREATING),
    }
)
"""S-H.4: what a friend's fate counts in a TEST, in the same brigade and in another."""


@dataclass(frozen=True, kw_only=True)
class Friend:
    """A friend of a unit that fled or fell: how far off, and whether it has tested this turn."""

    distance_in: Inches
    brigade: Name | None = None
    tested_this_turn: bool = False


def moral_order(friends: Mapping[str, Friend]) -> list[str]:
    """Returns who takes the moral TEST, the nearest first (S-G.1 to S-G.3)."""
    called = {
        name: friend.distance_in
        for name, friend in friends.items()
        if friend.distance_in <= tables.COMMAND_IN and not friend.tested_this_turn
    }
    return sorted(called, key=lambda name: (called[name], name))
