"""The tables of the book, with the numbers of their rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

GAME: Final = "huzzah-ge"
CM_MM: Final = 10.0
TOUCH_MM: Final = 2.0
"""H-1.3: what hands may leave between units in contact."""

Grade = Literal["veteran", "experienced", "trained", "green", "raw", "unreliable"]
Class = Literal[
    "elites_a", "elites_b", "elites_c", "elites_d", "regulars_a", "regulars_b", "regulars_c",
    "regulars_d", "militia_a", "militia_b", "militia_c", "militia_d",
]  # fmt: skip
Ability = Literal[
    "skirmish", "skirmish_limited", "irregular", "grognards", "disciplined", "hesitant",
    "impulsive", "renowned",
]  # fmt: skip
Kind = Literal[
    "infantry", "irregular_infantry", "battle_cavalry", "other_cavalry", "irregular_cavalry",
    "reserve_foot", "reserve_horse", "reserve_heavy",
]  # fmt: skip
Order = Literal["advance", "retire", "deploy", "manoeuvre"]
Command = Literal["excellent", "skilful", "average", "poor", "abysmal"]

GRADES: Final[tuple[Grade, ...]] = (
    "veteran", "experienced", "trained", "green", "raw", "unreliable",
)  # fmt: skip

# H-3.1: the highest roll of 2D6 for each grade, best first; None where a class never has it.
QUALITY: Final[Mapping[Class, tuple[int | None, ...]]] = {
    "elites_a": (7, 12, None, None, None, None),
    "elites_b": (6, 10, 12, None, None, None),
    "elites_c": (5, 9, 12, None, None, None),
    "elites_d": (4, 7, 10, 12, None, None),
    "regulars_a": (4, 6, 9, 12, None, None),
    "regulars_b": (3, 5, 8, 12, None, None),
    "regulars_c": (2, 4, 7, 10, 12, None),
    "regulars_d": (None, 3, 6, 9, 12, None),
    "militia_a": (None, 3, 5, 8, 12, None),
    "militia_b": (None, 2, 4, 7, 10, 12),
    "militia_c": (None, None, 3, 6, 9, 12),
    "militia_d": (None, None, None, 5, 8, 12),
}
CLASSES: Final = tuple(QUALITY)
"""The classes from best to worst."""

# H-1.4: the hits that remove a base.
HITS_PER_BASE: Final[Mapping[Kind, int]] = {
    "infantry": 3,
    "irregular_infantry": 2,
    "battle_cavalry": 3,
    "other_cavalry": 2,
    "irregular_cavalry": 2,
    "reserve_foot": 4,
    "reserve_horse": 4,
    "reserve_heavy": 4,
}

# H-7.2: fire factors by grade, best first.
FIRE: Final[Mapping[str, tuple[int, ...]]] = {
    "infantry": (7, 6, 6, 6, 5, 5),
    "artillery": (8, 7, 7, 7, 6, 6),
}

# H-7.8: what cover does to the fire at a unit.
COVER_FIRE: Final[Mapping[str, int]] = {"soft": -1, "hard": -2}

# H-9.2: morale factors by grade, best first.
MORALE: Final = (10, 9, 8, 7, 6, 5)
FALL_BACK_CM: Final = 5.0
"""H-9.5: for each base lost."""
ROUT_BEYOND_CM: Final = 15.0
"""H-9.7: a longer fall back is a rout."""
# H-9.6: what cover takes off a fall back.
SHELTER_CM: Final[Mapping[str, float]] = {"soft": 5, "hard": 10, "strongpoint": 15}

# H-11.1: command factors and radii in cm.
COMMAND: Final[Mapping[Command, tuple[int, float]]] = {
    "excellent": (10, 60),
    "skilful": (9, 50),
    "average": (8, 40),
    "poor": (7, 30),
    "abysmal": (6, 20),
}

# H-7.3: ranges in cm, of which short is under half; H-12.1: allowances in line of battle and
# otherwise. H-9.8: routers go by the latter, which is also the most of the slowest arm (H-12.2).
REACH_CM: Final[Mapping[str, tuple[float, float, float]]] = {
    "infantry": (20, 15, 20),
    "cavalry": (0, 25, 30),
    "reserve_foot": (60, 15, 15),
    "reserve_heavy": (80, 15, 15),
    "reserve_horse": (60, 25, 25),
}
