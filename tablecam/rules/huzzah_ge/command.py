"""Armies and officers: superiority, effectiveness, orders, and how far they lead (H-5 to H-13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tablecam.rules.huzzah_ge.morale import NOBODY, Officer, Outcome, waver_factor
from tablecam.rules.huzzah_ge.rolls import Factor, factor_of, is_huzzah, succeeds
from tablecam.rules.huzzah_ge.tables import COMMAND, Command, Order
from tablecam.rules.huzzah_ge.troops import Troops


@dataclass(frozen=True, slots=True)
class Situation:
    """What the ordered units are in, which a command factor counts (H-11.4)."""

    order: Order
    earlier_orders: int = 0
    fired: int = 0
    disordered: int = 0
    in_dense_terrain: int = 0
    near_formed_enemy: bool = False
    hesitant_near_enemy: bool = False
    renowned_ahead: bool = False
    infantry_on_cavalry: bool = False
    all_in_radius: bool = False
    out_of_range: bool = False


def order_factor(quality: Command, officer: Officer, situation: Situation) -> Factor:
    """Returns the command factor of an order by its terms (H-11.1, H-11.4)."""
    advances = situation.order == "advance"
    return factor_of(
        {
            "command_factor": COMMAND[quality][0],
            "earlier_orders": -situation.earlier_orders,
            "fired": -(situation.fired > 0),
            "disordered": -(situation.disordered > 0),
            "in_dense_terrain": -(situation.in_dense_terrain > 0),
            "formed_enemy": -situation.near_formed_enemy,
            "hesitant": -situation.hesitant_near_enemy,
            "renowned": -(situation.renowned_ahead and advances),
            "infantry_on_cavalry": -2 * (situation.infantry_on_cavalry and advances),
            "all_in_radius": int(situation.all_in_radius),
            "out_of_range": int(situation.out_of_range),
            "attached": int(officer.is_attached),
            "inspirational": int(officer.is_inspirational and advances),
        }
    )


@dataclass(frozen=True, slots=True)
class OrderResult:
    """What comes of an order for its officer and for the phase (H-11.5 to H-11.8)."""

    is_success: bool
    is_officer_done: bool
    has_second_order: bool
    ends_phase: bool


def order_result(factor: int, dice: Sequence[int], *, is_cinc: bool) -> OrderResult:
    """Returns what comes of a roll for an order."""
    is_success = succeeds(factor, dice)
    return OrderResult(is_success, not is_success, is_huzzah(dice), is_cinc and not is_success)


@dataclass(frozen=True, slots=True)
class Contest:
    """The rolls of two sides against their factors; margins only of those who succeed."""

    factors: Mapping[str, int]
    margins: Mapping[str, int | None]
    factors_for_good: Mapping[str, int]

    @property
    def winner(self) -> str | None:
        """The side that succeeds by more; nobody if the margins are alike (H-5.3)."""
        known = {side: margin for side, margin in self.margins.items() if margin is not None}
        best = max(known.values(), default=None)
        leading = [side for side, margin in known.items() if margin == best]
        return leading[0] if len(leading) == 1 else None


def contest(
    bases: Mapping[str, int], modified: Mapping[str, int], dice: Mapping[str, Sequence[int]]
) -> Contest:
    """Returns who succeeds and by how much; a double one lowers the enemy's factor for good."""
    margins = {
        side: modified[side] - sum(dice[side]) if succeeds(modified[side], dice[side]) else None
        for side in modified
    }
    first, second = modified
    enemy = {first: second, second: first}
    lasting = {side: factor - is_huzzah(dice[enemy[side]]) for side, factor in bases.items()}
    return Contest(modified, margins, lasting)


def allowances_cm(group: Sequence[Troops], order: Order) -> list[float]:
    """Returns how far the units of a group may go (H-12.2, H-13.1)."""
    slowest_cm = min(troops.greatest_cm for troops in group)
    if order == "retire":
        half_cm = min(troops.allowance_cm for troops in group) / 2
        return [min(half_cm, troops.allowance_cm / 2) for troops in group]
    return [min(troops.allowance_cm, slowest_cm) for troops in group]


def waver(
    troops: Troops,
    dice: Sequence[int] | None,
    officer: Officer = NOBODY,
    *,
    has_routing_friend: bool = False,
) -> tuple[Factor, Outcome]:
    """Returns the waver test of a unit that retires, and what follows (H-13.3 to H-13.5)."""
    factor = waver_factor(troops, officer, has_routing_friend=has_routing_friend)
    if dice is not None and succeeds(factor.value, dice):
        return factor, Outcome(troops.is_disordered)
    return factor, Outcome(
        is_disordered=True, rout_cm=troops.rout_cm if troops.is_disordered else None
    )
