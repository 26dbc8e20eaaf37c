"""The tables of the book, with their rule ids, and its rolls: 2D6 against a factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from tablecam.rules.game import DiceGroup
from tablecam.rules.miniatures.reckon import terms

GAME: Final = "huzzah-ge"
CM_MM: Final = 10.0
TOUCH_MM: Final = 2.0
"""H-1.3: the gap that hands may leave between units in contact."""

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

GRADES: Final[tuple[Grade, ...]] = get_args(Grade)

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

# H-7.8: modifiers for fire at a unit in cover.
COVER_FIRE: Final[Mapping[str, int]] = {"soft": -1, "hard": -2}

# H-9.2: morale factors by grade, best first.
MORALE: Final = (10, 9, 8, 7, 6, 5)
FALL_BACK_CM: Final = 5.0
"""H-9.5: for each base lost."""
ROUT_BEYOND_CM: Final = 15.0
"""H-9.7: a longer fall back is a rout."""
# H-9.6: the reduction of a fall back by cover.
SHELTER_CM: Final[Mapping[str, float]] = {"soft": 5, "hard": 10, "strongpoint": 15}

# H-11.1: command factors and radii in cm.
COMMAND: Final[Mapping[Command, tuple[int, float]]] = {
    "excellent": (10, 60),
    "skilful": (9, 50),
    "average": (8, 40),
    "poor": (7, 30),
    "abysmal": (6, 20),
}

# H-7.3: ranges in cm; short range is under half of them. H-12.1: allowances in line of battle and
# otherwise. Routers use the second (H-9.8), and groups that of their slowest arm (H-12.2).
REACH_CM: Final[Mapping[str, tuple[float, float, float]]] = {
    "infantry": (20, 15, 20),
    "cavalry": (0, 25, 30),
    "reserve_foot": (60, 15, 15),
    "reserve_heavy": (80, 15, 15),
    "reserve_horse": (60, 25, 25),
}

LEAST, MOST = 2, 10
"""H-1.1: the limits of most factors; low rolls are good."""


def limited(factor: int) -> int:
    """Returns a factor within its limits."""
    return max(LEAST, min(MOST, factor))


def is_huzzah(dice: Sequence[int]) -> bool:
    """Whether both dice are ones, which always succeeds."""
    return tuple(dice) == (1, 1)


def succeeds(factor: int, dice: Sequence[int]) -> bool:
    """Whether 2D6 succeed: eleven and twelve never do, a double one always."""
    total = sum(dice)
    return is_huzzah(dice) or (total <= factor and total < 11)


def together(whose: str, most: int, first: int = 0) -> tuple[DiceGroup, ...]:
    """Returns two dice from index `first` on, with the highest total that succeeds (H-1.1)."""
    return (DiceGroup(whose, None, (first, first + 1), f"{limited(most)} or less together"),)


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor as its named terms, without zeros."""

    parts: Mapping[str, int]

    def __str__(self) -> str:
        return f"{', '.join(terms(self.parts))}: {self.value}"

    def told(self, dice: Sequence[int]) -> str:
        """Returns a roll against it in words, with its terms."""
        return f"{sum(dice)} on the dice, of at most {self.value} ({', '.join(terms(self.parts))})"

    @property
    def sum(self) -> int:
        """The sum of the terms."""
        return sum(self.parts.values())

    @property
    def value(self) -> int:
        """The value to roll against."""
        return limited(self.sum)

    def succeeds(self, dice: Sequence[int] | None) -> bool:
        """Whether a roll against it succeeds; without dice it counts as failed."""
        return dice is not None and succeeds(self.value, dice)


def factor_of(parts: Mapping[str, int]) -> Factor:
    """Returns the factor of some terms, without zeros."""
    return Factor({name: value for name, value in parts.items() if value})
