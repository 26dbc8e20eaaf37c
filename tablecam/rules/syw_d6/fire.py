"""Fire: who may fire, with how many dice, and what hits do."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import shapely
from pydantic import Field as Limits

from tablecam.rules.game import Ban
from tablecam.rules.miniatures.battle import first_ban
from tablecam.rules.miniatures.reckon import terms
from tablecam.rules.syw_d6.tables import CANISTER_DICE, DENSE_DICE, GAP_IN, HIT, WEATHER, Event
from tablecam.rules.syw_d6.troops import Troops

Halving = Literal["disordered", "long_range", "cover", "not_ahead", "its_part_ahead_is_hidden"]
Occasion = Literal["crosses", "contacted_front", "contacted_flank", "contacted_rear", "supports"]


@dataclass(frozen=True, slots=True)
class Section:
    """Figures that fire as one, and the share of their files that see the target ahead (S-D.4)."""

    figures: Annotated[float, Limits(ge=0, le=1000)]
    share_ahead: Annotated[float, Limits(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class Shot:
    """How a target lies to a firer: its sections, the range, the line, and if it is ahead.

    Of a target that `is_hidden_ahead` the guns see only what lies aside (S-E.6).
    """

    sections: tuple[Section, ...]
    range_in: float
    is_ahead: bool = True
    is_in_cone: bool = True
    is_hidden_ahead: bool = False
    files: int = 0
    line: shapely.LineString | None = None

    @property
    def share_ahead(self) -> float:
        """The share of all files that see the target ahead."""
        return math.fsum(part.share_ahead for part in self.sections) / len(self.sections)


@dataclass(frozen=True, slots=True)
class FirePool:
    """The dice of a shot with the terms that make them up (S-D.5)."""

    figures_counted: float
    halvings: tuple[Halving, ...]
    after_halving: float
    section_dice: tuple[int, ...]
    parts: Mapping[str, int]
    dense_as: str = ""

    @property
    def dice(self) -> int:
        """The number of dice, never below none."""
        return max(0, sum(self.parts.values()))

    @property
    def because(self) -> tuple[str, ...]:
        """The terms in words."""
        rounded = self.parts["figures"]
        return (
            f"{self.figures_counted:g} of its figures count",
            *(f"halved: {halving.replace('_', ' ')}" for halving in self.halvings),
            *([] if rounded == self.after_halving else [f"rounded down to {rounded}"]),
            *terms(
                {name: part for name, part in self.parts.items() if name != "figures"},
                {"dense": f"dense ({self.dense_as})"},
            ),
        )


def figures_firing(troops: Troops) -> int:
    """Returns how many figures of a unit fire (S-D.3, S-L.14)."""
    if troops.formation == "attack_column":
        return min(troops.figures, 2 * -(-troops.figures // 3))
    return troops.figures // 4 if troops.formation == "square" else troops.figures


def range_band(troops: Troops, range_in: float) -> Literal["short", "long"] | None:
    """Returns the band of a range, None beyond the weapon's reach (S-0.2, S-D.8)."""
    ranges = troops.ranges
    if range_in > ranges.greatest_in:
        return None
    return "short" if range_in <= ranges.short_in else "long"


def ban_on_firing(troops: Troops, *, in_response: bool = False) -> Ban | None:
    """Returns why a unit may not fire at anybody now (S-D.1, S-D.2, S-C.5)."""
    return first_ban(
        (troops.status != "steady", "S-D.2", f"a {troops.status} unit does not fire"),
        (troops.formation == "march_column", "S-L.11", "a column of march cannot fire"),
        (troops.arm == "artillery" and troops.limbered, "S-D.2", "limbered guns cannot fire"),
        (troops.fired, "S-D.1", "it has fired in this sequence"),
        (troops.in_melee and not in_response, "S-D.1", "it is in a melee"),
        (troops.arm == "cavalry" and not in_response, "S-C.5", "cavalry fires in response only"),
        (troops.moved and not in_response, "S-D.2", "it has moved in this sequence"),
    )


def ban_on_shot(firer: Troops, target: Troops, shot: Shot) -> Ban | None:
    """Returns why a unit may not fire at a target (S-D.7, S-D.8, S-D.11)."""
    band = range_band(firer, shot.range_in)
    is_aside = firer.arm == "artillery" and not shot.is_in_cone
    beyond = f"{shot.range_in:g} in is beyond its reach of {firer.ranges.greatest_in:g} in"
    is_hard = target.cover == "hard" and band == "long"
    return first_ban(
        (band is None, "S-D.8", beyond),
        (is_hard, "S-D.11", "hard cover cannot be fired at at long range"),
        (target.in_melee, "S-D.1", "the target is in a melee"),
        (is_aside, "S-D.7", "the target is outside of the guns' cone of 22.5°"),
    )


def dense_as(target: Troops) -> str:
    """Returns the word for a dense target; empty for another (S-D.10).

    Columns and squares are, and three ranks as the firer sees them.
    """
    if target.weight == "light":
        return ""
    if target.formation in ("attack_column", "square"):
        return target.formation.replace("_", " ")
    if target.ranks < 3:
        return ""
    aside = "seen from the side; our reading: its files count as "
    return f"{aside if target.is_seen_aside else ''}{target.ranks} ranks"


def halvings_of(firer: Troops, target: Troops, shot: Shot) -> tuple[Halving, ...]:
    """Returns what halves the fire, each by itself (S-D.5)."""
    is_aside = firer.arm == "artillery" and not shot.is_ahead
    halved: tuple[tuple[Halving, bool], ...] = (
        ("disordered", firer.is_disordered),
        ("long_range", range_band(firer, shot.range_in) == "long"),
        ("cover", target.cover is not None),
        ("its_part_ahead_is_hidden" if shot.is_hidden_ahead else "not_ahead", is_aside),
    )
    return tuple(name for name, applies in halved if applies)


def fire_pool(
    firer: Troops, target: Troops, shot: Shot, events: Collection[Event] = ()
) -> FirePool:
    """Returns the dice of a shot: halved, rounded down, and then with what is added (S-D.5)."""
    # Guns count in full or not ahead, never by shares (S-D.4).
    is_gun, canister_in = firer.arm == "artillery", firer.ranges.canister_in
    counted = [
        section.figures * (1.0 if is_gun else (1 + section.share_ahead) / 2)
        for section in shot.sections
    ]
    return _pool(
        counted,
        halvings_of(firer, target, shot),
        fire_bonus=firer.fire_bonus,
        dense=DENSE_DICE if dense_as(target) else 0,
        canister=CANISTER_DICE if canister_in is not None and shot.range_in <= canister_in else 0,
        weather=sum(WEATHER.get(event, 0) for event in events),
        words=dense_as(target),
    )


def passing_pool(firer: Troops, range_in: float) -> FirePool:
    """Returns the dice of response fire at one who does not strike the firer's front (S-C.3)."""
    halvings: tuple[Halving, ...] = ("disordered",) if firer.is_disordered else ()
    if range_band(firer, range_in) == "long":
        halvings += ("long_range",)
    return _pool([1.0], halvings, fire_bonus=firer.fire_bonus, dense=0, canister=0, weather=0)


def _pool(
    counted: Sequence[float], halvings: tuple[Halving, ...], *, words: str = "", **added: int
) -> FirePool:
    divisor = 2 ** len(halvings)
    section_dice = tuple(math.floor(figures / divisor) for figures in counted)
    total, parts = math.fsum(counted), {"figures": sum(section_dice), **added}
    return FirePool(total, halvings, total / divisor, section_dice, parts, words)


def hits(dice: Sequence[int]) -> int:
    """Returns the hits of a throw: each six removes a figure (S-D.1)."""
    return sum(die == HIT for die in dice)


def is_called_to_test(target: Troops) -> bool:
    """Whether a target takes the casualty TEST: two figures or more in a turn (S-H.2)."""
    return target.casualties_this_turn >= 2


def ban_on_response(firer: Troops, occasion: Occasion, range_in: float) -> Ban | None:
    """Returns why a unit may not fire in response (S-C.1, S-C.4, S-C.5)."""
    if ban := ban_on_firing(firer, in_response=True):
        return ban
    is_struck = occasion.startswith("contacted")
    if firer.is_disordered and not is_struck:
        return Ban("S-C.4", "a disordered unit responds only when it is contacted")
    if firer.in_melee and not is_struck:
        return Ban("S-D.1", "in a melee it responds only to who strikes it")
    if firer.arm == "cavalry" and occasion in ("contacted_flank", "contacted_rear"):
        return Ban("S-C.5", "cavalry fires to its front only")
    if not is_struck and range_band(firer, range_in) is None:
        reach = f"{firer.ranges.greatest_in:g} in"
        return Ban("S-C.1", f"{range_in:g} in is beyond its reach of {reach}")
    return None


def may_fire_through(gap_in: float, target_frontage_in: float) -> tuple[bool, float]:
    """Returns whether a gap between two friends suffices, and the gap needed (S-E.5)."""
    needed_in = min(GAP_IN, 2 * target_frontage_in)
    return gap_in >= needed_in, needed_in
