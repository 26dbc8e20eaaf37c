"""The TEST, melee and moral: factors with their names, and what they lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from tablecam.rules.syw_d6.tables import (
    COMMAND_IN,
    DESTROYED,
    DISORDERED,
    LOSSES,
    MODIFIER,
    RETREATING,
    ROUT_AT,
    ROUTED,
    share_of,
)
from tablecam.rules.syw_d6.troops import Troops

TestKind = Literal["casualty", "melee", "moral"]
Fate = Literal["none", "retreat", "rout"]
Calamity = Literal["destroyed", "routs", "retreats"]

_NO_CHART: Mapping[str, int | None] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Company:
    """What a TEST counts besides the unit itself; friends of its brigade and others (S-H.4)."""

    is_commanded: bool = False
    friends_in_sight: int = 0
    destroyed_friends: tuple[int, int] = (0, 0)
    routed_friends: tuple[int, int] = (0, 0)
    retreating_friends: int = 0
    is_charging: bool = False


@dataclass(frozen=True, slots=True)
class MoraleTest:
    """A TEST: its named factors, and the chart rows without which it has no total.

    A factor is None while its row is missing.
    """

    parts: Mapping[str, int | None]
    retreat_at: int | None = None
    asks_for: tuple[str, ...] = field(default=())

    @property
    def total(self) -> int | None:
        """The sum of the factors."""
        known = [part for part in self.parts.values() if part is not None]
        return sum(known) if len(known) == len(self.parts) else None

    @property
    def fate(self) -> Fate | None:
        """What becomes of the unit; None while a row is missing (S-H.3, S-N.3)."""
        if self.total is None:
            return None
        if self.total <= ROUT_AT:
            return "rout"
        return (
            "retreat" if self.retreat_at is not None and self.total <= self.retreat_at else "none"
        )


def losses_factor(troops: Troops) -> int:
    """Returns what the losses of the whole battle count (S-H.4, S-H.5)."""
    return next(
        (
            factor
            for percent, factor in LOSSES
            if troops.lost >= share_of(troops.figures_start, percent)
        ),
        0,
    )


def take_test(
    troops: Troops,
    kind: TestKind,
    company: Company,
    die: int | None,
    chart: Mapping[str, int | None] = _NO_CHART,
) -> MoraleTest:
    """Returns the TEST of a unit (S-H); without a die its modifier is left out.

    `chart` holds the rows that the sheet has lost, as its owner has filled them in (S-N.2).
    """
    asks: list[str] = []

    def charted(row: str, applies: bool) -> int | None:
        if not applies:
            return 0
        if row not in chart:
            asks.append(row)
        return chart.get(row)

    flees = troops.status if kind == "moral" else "steady"
    same, other = ROUTED
    same_destroyed, other_destroyed = DESTROYED
    ordered = not troops.is_disordered
    parts: dict[str, int | None] = {
        "losses": losses_factor(troops),
        "disordered": 0 if ordered else chart.get("disordered", DISORDERED),
        "casualties_artillery": charted(
            "casualties_artillery", "artillery" in troops.casualties_from
        ),
        "casualties_flank_rear": charted(
            "casualties_flank_rear", "flank_rear" in troops.casualties_from
        ),
        "contacted_flank_rear": charted(
            "contacted_flank_rear", troops.contacted_on in ("flank", "rear")
        ),
        "green": charted("green", troops.skill.test == "green"),
        "trained": charted("trained", troops.skill.test == "trained"),
        "retreats": RETREATING if flees == "retreating" else 0,
        "retreating_friends": RETREATING * company.retreating_friends,
        "routs": same if flees == "routing" else 0,
        "routed_friends": same * company.routed_friends[0] + other * company.routed_friends[1],
        "destroyed_friends": same_destroyed * company.destroyed_friends[0]
        + other_destroyed * company.destroyed_friends[1],
        "charging": int(company.is_charging and ordered),
        "friends_in_sight": int(company.friends_in_sight > 0),
        "command": int(company.is_commanded and ordered),
    }
    if die is not None:
        parts["modifier_die"] = MODIFIER[troops.skill.test].get(die, 0)
    return MoraleTest(parts, chart.get("retreat_at"), tuple(asks))


@dataclass(frozen=True, slots=True)
class MeleeLoss:
    """What a melee's loser removes, and how it stands then (S-F.3)."""

    loser: Literal["attacker", "defender"]
    figures_due: int
    troops: Troops


def melee_loss(totals: Mapping[str, int], attacker: Troops, defender: Troops) -> MeleeLoss | None:
    """Returns the loser of a melee: three figures for each point of difference; None if a draw."""
    difference = totals["attacker"] - totals["defender"]
    if difference == 0:
        return None
    due = 3 * abs(difference)
    if difference < 0:
        return MeleeLoss("attacker", due, attacker.after_losses(due))
    return MeleeLoss("defender", due, defender.after_losses(due))


def manufactured_retreat(
    troops: Troops, company: Company, die: int, chart: Mapping[str, int | None] = _NO_CHART
) -> tuple[Troops, MoraleTest]:
    """Returns the unit after a retreat of its own choice, and its TEST (S-B.10)."""
    left = troops.after_losses(3)
    return left, take_test(left, "melee", company, die, chart)


def friend_factor(event: Calamity, *, is_same_brigade: bool) -> int:
    """Returns what a friend's fate counts in a TEST (S-H.4)."""
    if event == "retreats":
        return RETREATING
    return (DESTROYED if event == "destroyed" else ROUTED)[0 if is_same_brigade else 1]


@dataclass(frozen=True, slots=True)
class Friend:
    """A friend of a unit that fled or fell: how far off, and whether it has tested this turn."""

    distance_in: float
    brigade: str | None
    has_tested: bool = False


def moral_order(friends: Mapping[str, Friend]) -> list[str]:
    """Returns who takes the moral TEST, the nearest first (S-G.1 to S-G.3)."""
    called = {
        name: friend
        for name, friend in friends.items()
        if friend.distance_in <= COMMAND_IN and not friend.has_tested
    }
    return sorted(called, key=lambda name: called[name].distance_in)
