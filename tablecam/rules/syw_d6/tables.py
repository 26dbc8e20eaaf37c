"""The tables of the sheet, with the numbers of their rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

GAME: Final = "syw-d6"

Experience = Literal["green", "trained", "veteran"]
Weapon = Literal["musket", "rifle", "carbine", "pistol", "gun"]
Event = Literal[
    "stray_shell", "unhorsed", "crisis_meeting", "sackville", "fitz_james", "lost_orders",
    "heavy_rain", "dead_calm", "inspired_command", "allied_10", "vive_lartillerie", "allied_11",
    "attaque", "ad_victoriam",
]  # fmt: skip

COMMAND_IN: Final = 18.0
"""S-K.1: how far a command reaches; S-G.1 and S-H.4 look as far."""

# S-B.3: plain rates in dice.
RATES: Final[Mapping[str, int]] = {
    "line infantry": 1,
    "light infantry": 2,
    "line cavalry": 3,
    "light cavalry": 4,
    "guns": 1,
    "light guns": 2,
    "command": 3,
}
COLUMN_IN: Final = 2.0
"""S-B.3: what line infantry in column adds."""

# S-K.6: dice that experience adds to a move and to fire.
BONUS: Final[Mapping[Experience, int]] = {"green": 0, "trained": 1, "veteran": 2}

# S-B.6: the share of the final value that a unit must use.
MUST_USE: Final[Mapping[Experience, Literal["all", "half", "any"]]] = {
    "green": "all",
    "trained": "half",
    "veteran": "any",
}
SHARES: Final[Mapping[str, float]] = {"all": 1.0, "half": 0.5, "any": 0.0}

FORM_UP_IN: Final = 2.0
"""S-A.4: how far from its place a unit that has cleared may be laid out."""
KEEP_OFF_IN: Final = 3.0
"""S-B.9: how near a unit may come to enemies that it does not charge."""
CHARGE_IN: Final = 6.0
"""S-B.11: the longest charge distance."""
SQUARE_DEG: Final = 5.0
APART_MM: Final = 2.0
"""S-0.3: what hands may be off a direction, and leave between bases that touch."""

# S-A.3: the dice of a second chance to clear disorder, after a one.
SECOND_CHANCE: Final[Mapping[Experience, int]] = {"green": 0, "trained": 1, "veteran": 2}

OPEN_IN: Final = 6.0
"""S-L.7: how far apart the bases of a light unit may stand."""
FORWARD_DEG: Final = 45.0
BACK_DEG: Final = 90.0
MOST_BENDS: Final = 2
"""S-L.12: how far the wings of a line bend, and how often."""
ATTACK_COLUMN_RANKS: Final = 3
"""S-L.10: how many figures deep an attack column is."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """S-D.8: the ranges of a weapon in inches; None where it has none."""

    short_in: float
    long_in: float | None = None
    canister_in: float | None = None

    @property
    def greatest_in(self) -> float:
        """The longest range."""
        return self.long_in or self.short_in

    @property
    def all_in(self) -> tuple[float, ...]:
        """All that it has, the shortest first."""
        return tuple(filter(None, (self.canister_in, self.short_in, self.long_in)))


RANGES: Final[Mapping[str, Ranges]] = {
    "musket": Ranges(3, 6),
    "rifle": Ranges(5, 10),
    "carbine": Ranges(3),
    "pistol": Ranges(3),
    "gun": Ranges(12, 36, canister_in=6),
    "light gun": Ranges(12, canister_in=6),
}

HIT: Final = 6
"""S-D.1: the face that removes a figure."""
DENSE_DICE: Final = 2
CANISTER_DICE: Final = 2
"""S-D.9, S-D.10: dice added for a dense target and for canister."""
CONE_DEG: Final = 22.5
"""S-D.7: what a gun's cone opens to either side."""
HILL_IN: Final = 12.0
"""S-E.3, S-E.4: how near to a hill units block the sight of those on it."""
GAP_IN: Final = 12.0
"""S-E.5: a gap between friends that suffices to fire through at any target."""
BEHIND_WALL_MM: Final = 10.0
"""S-J.12: how near to a wall a unit is behind it."""

CREW: Final[Mapping[str, int]] = {"light": 3, "medium": 6, "heavy": 6}
"""S-L.4: the figures that serve a gun."""

# S-H.4, S-H.5: losses on the strength at the start, and what they count.
LOSSES: Final = ((50, -5), (33, -3), (25, -2), (10, -1))
DESTROYED_PERCENT: Final = 75

# S-F.2: the test modifier of a die.
MODIFIER: Final[Mapping[Experience, Mapping[int, int]]] = {
    "green": {1: -1},
    "trained": {1: -1, 6: 1},
    "veteran": {6: 1},
}
ROUT_AT: Final = -6
RETREAT_FIGURES: Final = 3
"""S-B.10: figures lost by a retreat of the own choice."""
FIGURES_A_POINT: Final = 3
"""S-F.3: figures lost for each point by which a melee is lost."""
FALL_BACK_IN: Final = 3.0
"""S-F.6: how far all fall back after a draw."""
TEST_ROWS: Final[Mapping[str, str]] = {
    "retreat_at": "retreat",
    "casualties_artillery": "casualties by artillery",
    "casualties_flank_rear": "casualties in flank or rear",
    "contacted_flank_rear": "contacted on flank or rear",
    "green": "green unit",
    "trained": "trained unit",
}
"""S-N.1: the rows that the sheet has lost."""

# S-H.4: what friends count whom this befell, of the same brigade and of another.
FRIENDS: Final[Mapping[str, tuple[int, int]]] = {
    "destroyed": (-3, -2),
    "routs": (-2, -1),
    "retreats": (-1, -1),
    "evades": (-1, -1),
}
# S-H.1: the unit's own disorder, in every kind of TEST.
DISORDERED: Final = -2

# S-F.1, S-F.7, S-J.1 to S-J.13, S-C.14: what disorders.
DISORDERS: Final[Mapping[str, str]] = {
    "S-F.1": "its charge met nobody",
    "S-F.7": "its melee is over",
    "S-J.1": "it has lost 2 figures or more this turn",
    "S-J.3": "it was struck in the flank or rear",
    "S-J.6": "friends went through each other",
    "S-J.9": "it moved in difficult ground",
    "S-J.13": "it crossed an obstacle",
    "S-C.14": "it flees",
}

FOG_ON: Final = 1  # S-0.12: the face of the first die on which the Fog of War comes
WEATHER: Final[Mapping[Event, int]] = {"heavy_rain": -2, "dead_calm": -1}
"""S-M.7, S-M.8: dice of fire that the weather takes."""


def share_of(strength: int, percent: int) -> int:
    """Returns a share of a strength, rounded up (S-H.5).

    >>> [share_of(14, percent) for percent in (10, 25, 33, 50, 75)]
    [2, 4, 5, 7, 11]
    """
    return -(-strength * percent // 100)
