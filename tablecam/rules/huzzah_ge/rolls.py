"""Rolls of 2D6 against a factor, low is good (H-1.1), and named terms that make the factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tablecam.rules.game import DiceGroup
from tablecam.rules.miniatures.reckon import terms

LEAST, MOST = 2, 10
"""The limits of most factors."""


def limited(factor: int) -> int:
    """Returns a factor within its limits."""
    return max(LEAST, min(MOST, factor))


def is_huzzah(dice: Sequence[int]) -> bool:
    """Whether both dice are ones, which always succeeds."""
    return tuple(dice) == (1, 1)


def succeeds(factor: int, dice: Sequence[int]) -> bool:
    """Whether 2D6 succeed: eleven and twelve never do, a double one always does."""
    total = sum(dice)
    return is_huzzah(dice) or (total <= factor and total < 11)


def together(whose: str, most: int, first: int = 0) -> tuple[DiceGroup, ...]:
    """Returns the two dice from a place on with the most that they may come to (H-1.1)."""
    return (DiceGroup(whose, None, (first, first + 1), f"{limited(most)} or less together"),)


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor by its named terms; those of nothing are left out."""

    parts: Mapping[str, int]

    def __str__(self) -> str:
        return f"{', '.join(terms(self.parts))}: {self.value}"

    @property
    def sum(self) -> int:
        """The sum of the terms."""
        return sum(self.parts.values())

    @property
    def value(self) -> int:
        """What is rolled against."""
        return limited(self.sum)

    def succeeds(self, dice: Sequence[int] | None) -> bool:
        """Whether a roll against it succeeds; without dice it counts as failed."""
        return dice is not None and succeeds(self.value, dice)


def factor_of(parts: Mapping[str, int]) -> Factor:
    """Returns the factor of some terms without those of nothing."""
    return Factor({name: value for name, value in parts.items() if value})
