"""The tables and constants of Maurice Lite, each with the id of its rule."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tablecam.table.model import Arm, FormationName

BASES: Final[Mapping[Arm, int]] = MappingProxyType({"infantry": 4, "cavalry": 4, "artillery": 1})
"""The number of bases of a unit (M-1.6)."""

_OF_FOUR: Final[tuple[FormationName, ...]] = ("line", "column", "massed", "broken-up")
FORMATIONS: Final[Mapping[Arm, tuple[FormationName, ...]]] = MappingProxyType(
    {"infantry": _OF_FOUR, "cavalry": _OF_FOUR, "artillery": ("artillery",)}
)
"""The formations of each arm (M-1.7). Massed infantry only causes a warning; broken-up is none."""

MAX_WIDTH_TO_DEPTH = 1.5
"""The largest ratio of width to depth of infantry and cavalry bases; the least is 1 (M-1.1)."""

DEALT = 6
"""Cards dealt to each side at the start (M-2.6)."""
HAND_LIMIT = 10
"""Cards that a player may hold when a round ends (M-3.2)."""
NIGHT_PASSES = 2
"""Consecutive passes with the last deck empty after which night falls (M-4.6)."""

NEAR_BW = 4.0
"""The distance that counts as near the enemy (M-1.9)."""
FORCE_BW = 2.0
"""The largest distance between linked units of a force (M-1.15)."""

STRING_BW = 1.0
"""The clearance of the string from a commander to a force from enemies (M-4.12)."""
COMMANDER_BW = 1.0
"""The diameter of a commander's marker (M-1.4, M-4.12)."""

SHORT_BW, LONG_BW = 4.0, 24.0
"""Short and long range of fire (M-7.9, M-7.10)."""
ZONE_BW = 1.0
"""The width of a fire zone (M-7.11)."""
TURN_DEG = 45.0
"""The largest angle by which a fire zone may be turned (M-7.12)."""
PAST_OBSTRUCTION_BW = 1.0
"""How far a fire zone goes on past the first point of obstructing terrain in it (M-7.17)."""

CHARGE_WHEEL_BW = 1.0
"""The longest wheel at the start of a charge (M-8.5)."""
CHARGE_DISRUPTIONS = 3
"""The highest disruption at which a unit may charge (M-8.4)."""
VIEW_WOODS_BW = 1.0
"""The depth of woods that hides a target of a charge (M-8.4)."""
ENGAGED_BW = 1.0
"""The distance ahead of its front at which an attacker in contact engages others (M-8.10)."""
THIN_BW = 0.25
"""The largest thickness of a linear obstacle that units fight across (M-8.14)."""
FALL_BACK_BW = 1.0
"""The distance by which attackers fall back (M-8.24)."""

SLIVER_MM = 0.5
"""A part that reaches less than this far into an area is ignored (G-5)."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The effects of a kind of terrain: one row of the table of M-5.1."""

    is_difficult: bool = False
    is_cover: bool = False
    obstructs: bool = False
    is_water: bool = False
    is_linear: bool = False
    bridges: bool = False
    is_impassable: bool = False


# fmt: off
KINDS: Final[Mapping[str, Kind]] = MappingProxyType({
    "woods":       Kind(is_difficult=True, is_cover=True, obstructs=True),
    "rough":       Kind(is_difficult=True),
    "marsh":       Kind(is_difficult=True, is_water=True),
    "stream":      Kind(is_difficult=True, is_water=True),
    "pond":        Kind(is_difficult=True, is_water=True),
    "ford":        Kind(is_water=True),
    "bridge":      Kind(bridges=True),
    "wall":        Kind(is_difficult=True, is_cover=True, obstructs=True, is_linear=True),
    "trench":      Kind(is_difficult=True, is_cover=True, obstructs=True, is_linear=True),
    "sunken_road": Kind(is_difficult=True, is_linear=True),
    "hill":        Kind(),
    "crest":       Kind(is_linear=True),
    "road":        Kind(),
    "field":       Kind(),
    "impassable":  Kind(is_impassable=True),
})
"""The kinds of terrain and their effects (M-5.1)."""

ALLOWANCES_BW: Final[Mapping[tuple[str, str], float]] = MappingProxyType({
    # arm, formation       BW
    ("infantry", "column"): 12.0,
    ("infantry", "line"):    4.0,
    ("cavalry",  "column"): 16.0,
    ("cavalry",  "line"):    8.0,
    ("cavalry",  "massed"):  8.0,
    ("artillery", "artillery"): 6.0,
})
"""Movement allowances by arm and formation (M-6.2)."""
COLUMN_NEAR_BW = 4.0
"""The allowance of a column that is near the enemy at any point of its move (M-6.11)."""
ARTILLERY_SLOW_BW = 2.0
"""The allowance of artillery in difficult ground or ending near the enemy (M-6.19)."""


def retrograde_bw(allowance_bw: float) -> float:
    """Returns the backward share of an allowance: half of it, rounded up (M-6.13, M-1.2).

    >>> retrograde_bw(5)
    3
    """
    half_bw = allowance_bw / 2
    return half_bw if math.isinf(half_bw) else math.ceil(half_bw)



BASIC: Final[Mapping[Arm, int]] = MappingProxyType({"infantry": 6, "cavalry": 6, "artillery": 1})
"""Basic values in combat (M-8.16)."""
HIGHER, BAD_TERRAIN, COVER, VULNERABLE = -1, -2, -2, -6
"""Modifiers in combat (M-8.16)."""
COMBAT_DOUBLED = 2
"""The multiple of its own score that breaks a passive unit outright (M-8.20)."""
COMBAT_BEATEN, COMBAT_OTHERWISE = 2, 1
"""Disruptions of a beaten unit, and of every other engaged unit (M-8.20)."""

TO_HIT = 4
"""The number needed to hit, before modifiers (M-7.23)."""
TO_DISRUPT, TO_DISRUPT_GUN_BY_BOMBARDMENT = 4, 6
"""The number needed to disrupt with each die that hit (M-7.26)."""
CANISTER_DICE = 2
"""Dice of artillery at short range; all other bases roll one (M-7.20)."""
TO_RALLY: Final[Mapping[Arm, int]] = MappingProxyType({"infantry": 4, "cavalry": 5, "artillery": 5})
"""The number needed on each die to rally, before modifiers (M-9.3)."""
RALLY_BAD_TERRAIN, RALLY_NOT_NEAR = -1, +1
"""Rally modifiers of a unit in bad terrain, and of one not near the enemy (M-9.3)."""
# fmt: on
