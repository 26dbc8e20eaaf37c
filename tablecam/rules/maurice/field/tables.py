"""The tables and the numbers of Maurice Lite, as its book has them, beside their rules' ids."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tablecam.table.model import Arm, FormationName

BASES: Final[Mapping[Arm, int]] = MappingProxyType({"infantry": 4, "cavalry": 4, "artillery": 1})
"""How many bases a unit has (M-1.6)."""

_OF_FOUR: Final[tuple[FormationName, ...]] = ("line", "column", "massed", "broken-up")
FORMATIONS: Final[Mapping[Arm, tuple[FormationName, ...]]] = MappingProxyType(
    {"infantry": _OF_FOUR, "cavalry": _OF_FOUR, "artillery": ("artillery",)}
)
"""How units may lie (M-1.7): massed infantry is told of, broken-up is whatever is none of these."""

MOST_WIDE = 1.5
"""Bases of infantry and cavalry are square, or at most so much wider than deep (M-1.1)."""

DEALT = 6
"""Cards that each side is dealt at first (M-2.6)."""
HAND_LIMIT = 10
"""Cards that a player may hold when a round ends (M-3.2)."""
NIGHT_PASSES = 2
"""Passes one after the other with the last deck empty, and night falls (M-4.6)."""

NEAR_BW = 4.0
"""Near the enemy (M-1.9)."""
FORCE_BW = 2.0
"""How far apart units of a force may lie (M-1.15)."""

STRING_BW = 1.0
"""How far the string from a commander to a force keeps from enemies (M-4.12)."""
COMMANDER_BW = 1.0
"""How wide a commander's marker is (M-1.4, M-4.12)."""

SHORT_BW, LONG_BW = 4.0, 24.0
"""Ranges of fire (M-7.9, M-7.10)."""
ZONE_BW = 1.0
"""How wide a fire zone is (M-7.11)."""
TURN_DEG = 45.0
"""How far a fire zone may be turned (M-7.12)."""
PAST_OBSTRUCTION_BW = 1.0
"""How far a zone goes on past the first point of obstructing terrain in it (M-7.17)."""

CHARGE_WHEEL_BW = 1.0
"""The wheel before a charge (M-8.5)."""
CHARGE_DISRUPTIONS = 3
"""No unit with more charges (M-8.4)."""
VIEW_WOODS_BW = 1.0
"""A target is out of view behind as much of woods (M-8.4)."""
ENGAGED_BW = 1.0
"""How far before its front an attacker in contact engages others (M-8.10)."""
THIN_BW = 0.25
"""A linear obstacle at most this thick is fought across by units flush with both sides (M-8.14)."""
FALL_BACK_BW = 1.0
"""How far attackers fall back (M-8.24)."""

SLIVER_MM = 0.5
"""What reaches in less deep than this is no part (G-5)."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a kind of terrain does: one row of the table of M-5.1."""

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
"""The kinds of terrain and what they do (M-5.1)."""

ALLOWANCES_BW: Final[Mapping[tuple[str, str], float]] = MappingProxyType({
    # arm, formation       BW
    ("infantry", "column"): 12.0,
    ("infantry", "line"):    4.0,
    ("cavalry",  "column"): 16.0,
    ("cavalry",  "line"):    8.0,
    ("cavalry",  "massed"):  8.0,
    ("artillery", "artillery"): 6.0,
})
"""How far units move (M-6.2)."""
COLUMN_NEAR_BW = 4.0
"""A column that is near the enemy at any moment of its move (M-6.11)."""
ARTILLERY_SLOW_BW = 2.0
"""Artillery through difficult ground, or that ends near the enemy (M-6.19)."""
RETROGRADE_SHARE = 0.5
"""Of the allowance, backward (M-6.13)."""


def retrograde_bw(allowance_bw: float) -> float:
    """Backward, of an allowance: half of it, and of an odd one the larger half (M-1.2).

    >>> retrograde_bw(5)
    3
    """
    half_bw = allowance_bw * RETROGRADE_SHARE
    return half_bw if math.isinf(half_bw) else math.ceil(half_bw)



BASIC: Final[Mapping[Arm, int]] = MappingProxyType({"infantry": 6, "cavalry": 6, "artillery": 1})
"""Basic values in combat (M-8.16)."""
HIGHER, BAD_TERRAIN, COVER, VULNERABLE = -1, -2, -2, -6
"""Modifiers in combat (M-8.16)."""
COMBAT_DOUBLED = 2
"""So many times its own score breaks a passive unit outright (M-8.20)."""
COMBAT_BEATEN, COMBAT_OTHERWISE = 2, 1
"""Disruptions for a unit that is beaten, and for every other (M-8.20)."""

TO_HIT = 4
"""On each die to hit, before modifiers (M-7.23)."""
TO_DISRUPT, TO_DISRUPT_GUN_BY_BOMBARDMENT = 4, 6
"""On each die that hit (M-7.26)."""
CANISTER_DICE = 2
"""Of artillery at short range; all others have one (M-7.20)."""
TO_RALLY: Final[Mapping[Arm, int]] = MappingProxyType({"infantry": 4, "cavalry": 5, "artillery": 5})
"""On each die (M-9.3)."""
RALLY_BAD_TERRAIN, RALLY_NOT_NEAR = -1, +1
"""On each die, of a unit in bad terrain, and of one that is not near the enemy (M-9.3)."""
# fmt: on
