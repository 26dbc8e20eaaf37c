"""Moves: the dice, what they allow, paths and charges, evading and clearing disorder."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from tablecam.rules.game import Ban
from tablecam.rules.syw_d6 import tables
from tablecam.rules.syw_d6.troops import Face, Marker, Troops

Step = tuple[Literal["march", "wheel"], float]

_ROUNDING_IN = 1e-9


@dataclass(frozen=True, slots=True)
class MoveDice:
    """The dice of a move: how many are thrown, how many of them count, and inches on top."""

    dice: int
    choose_at_most: int
    added_in: float = 0.0
    is_halved: bool = False

    def value_in(self, chosen: Sequence[int]) -> float:
        """Returns the final value of the dice that are added up."""
        value_in = sum(chosen) + self.added_in
        return value_in / 2 if self.is_halved else value_in

    def values_in(self, thrown: Sequence[int]) -> list[float]:
        """Returns every final value that a throw allows, ascending."""
        counts = range(1, min(self.choose_at_most, len(thrown)) + 1)
        chosen = (some for count in counts for some in combinations(thrown, count))
        return sorted({self.value_in(some) for some in chosen})


COMMANDER_DICE = MoveDice(tables.RATES["command"], tables.RATES["command"])
"""S-K.5: three dice, any of them."""


def move_dice(
    troops: Troops,
    command_distance_in: float | None,
    events: Collection[tables.Event] = (),
    *,
    rain_slows: bool = False,
) -> MoveDice:
    """Returns the dice of a unit that moves by itself (S-B.3, S-B.4, S-I.1).

    `rain_slows` is the house rule that heavy rain takes dice of moves, too (S-M.7).
    """
    # Guns that are not limbered do not march.
    if troops.arm == "artillery" and not troops.limbered:
        return MoveDice(0, 0)
    rate, is_halved = troops.rate, "lost_orders" in events
    # Inspired command reaches units whatever their state (S-M.9).
    commanded = "inspired_command" in events or (
        not troops.is_disordered and _is_commanded(troops, command_distance_in, events)
    )
    bonus = 0 if troops.is_disordered else tables.BONUS[troops.skill.move]
    rain = 2 if rain_slows and "heavy_rain" in events else 0
    dice = max(0, rate + commanded + bonus - rain)
    added_in = tables.COLUMN_IN if troops.is_in_column and not troops.is_disordered else 0.0
    return MoveDice(dice, min(rate, dice), added_in, is_halved)


def _is_commanded(
    troops: Troops, command_distance_in: float | None, events: Collection[tables.Event]
) -> bool:
    dithers = (
        "fitz_james" in events
        and troops.nation.lower() == "french"
        and (troops.arm, troops.weight) == ("cavalry", "line")
    )
    return (
        command_distance_in is not None and command_distance_in <= tables.COMMAND_IN and not dithers
    )


def brigade_dice(
    brigade: Sequence[Troops], command_distances_in: Sequence[float | None]
) -> MoveDice | None:
    """Returns the dice of a brigade that moves as one: the worst of each; None if it may not.

    Source: S-B.7.
    """
    if any(troops.is_disordered for troops in brigade):
        return None
    rate = min(troops.rate for troops in brigade)
    commanded = all(
        _is_commanded(troops, distance_in, ())
        for troops, distance_in in zip(brigade, command_distances_in, strict=True)
    )
    bonus = min(tables.BONUS[troops.skill.move] for troops in brigade)
    added_in = tables.COLUMN_IN if all(troops.is_in_column for troops in brigade) else 0.0
    return MoveDice(rate + 1 + commanded + bonus, rate, added_in)


def path_cost_in(frontage_in: float, steps: Sequence[Step]) -> float:
    """Returns what marches (in) and wheels (degrees) cost: a wheel the arc of its corner (S-B.8).

    >>> round(path_cost_in(8, [("wheel", 30)]), 2)
    4.19
    """
    return math.fsum(
        amount if kind == "march" else frontage_in * math.radians(abs(amount))
        for kind, amount in steps
    )


def charge_ban(
    charge_in: float, straight_in: float, off_square_deg: float, *, slack_in: float = _ROUNDING_IN
) -> Ban | None:
    """Returns why the last part of a way is no charge (S-B.11); `slack_in` is for hands."""
    if straight_in < charge_in - slack_in:
        why = f"goes straight for the last {straight_in:.1f} in alone, and {charge_in:.1f} are due"
        return Ban("S-B.11", why)
    if abs(off_square_deg) > tables.SQUARE_DEG:
        return Ban("S-B.11", f"strikes the edge {abs(off_square_deg):.1f}° off square")
    return None


def has_charge_bonus(troops: Troops, face: Face) -> bool:
    """Whether a charger has the bonus: in order, and light troops only at a rear (S-H.6, S-I.5)."""
    return not troops.is_disordered and (troops.weight == "line" or face == "rear")


@dataclass(frozen=True, slots=True)
class Evasion:
    """What comes of evading a charge (S-C.7, S-C.8)."""

    evade_in: float
    is_caught: bool
    charge_distance_in: float
    charger_may_stop_between_in: tuple[float, float] | None


def evasion(gap_in: float, charger_final_value_in: float, dice: Sequence[int]) -> Evasion:
    """Returns whether an evader is caught by a charger that stands a gap away."""
    evade_in = float(sum(dice))
    charge_in = min(tables.CHARGE_IN, gap_in)
    is_caught = charger_final_value_in >= gap_in + evade_in
    between_in = None if is_caught else (gap_in - charge_in, charger_final_value_in)
    return Evasion(evade_in, is_caught, charge_in, between_in)


def counter_charge_dice(troops: Troops) -> int:
    """Returns the dice of a counter-charge, all of which are added (S-C.9)."""
    return 1 + tables.BONUS[troops.skill.move]


@dataclass(frozen=True, slots=True)
class Clearing:
    """The throw of a unit with a red marker (S-A.3)."""

    is_cleared: bool
    dice_used: int
    marker: Marker


def clearing_dice(experience: tables.Experience, first: int) -> int:
    """Returns how many dice a unit throws to clear, its second chance included."""
    if first != 1:
        return 1
    return 1 + tables.SECOND_CHANCE[experience]


def clearing(troops: Troops, dice: Sequence[int], *, is_kind: bool = False) -> Clearing:
    """Returns whether a unit clears its disorder; `is_kind` is the reading of K (S-A.3).

    A routing unit that fails moves at once, and wears orange again (S-A.2).
    """
    second = dice[1:]
    again = any(die != 1 for die in second) if is_kind else 6 in second
    is_cleared = dice[0] != 1 or again
    failed: Marker = "orange" if troops.status == "routing" else "red"
    return Clearing(is_cleared, len(dice), "none" if is_cleared else failed)
