"""The distribution of successes of independent dice (M-7.23, M-7.25, M-9.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

_SIDES = 6


def chance_of(needed: int) -> float:
    """Returns the probability that a die reaches a number; 1 fails, 6 succeeds (M-7.23, M-9.4).

    >>> chance_of(4)
    0.5
    >>> chance_of(1) == chance_of(2), chance_of(7) == chance_of(6)
    (True, True)
    """
    return (_SIDES + 1 - min(max(needed, 2), _SIDES)) / _SIDES


def successes(chances: Iterable[float]) -> dict[int, float]:
    """Returns the probability of each number of successes of independent tries.

    The table is convolved with one try after another: exact, and O(n^2) for n tries.

    >>> successes([0.5, 0.5])
    {0: 0.25, 1: 0.5, 2: 0.25}
    """
    table = np.ones(1)
    for chance in chances:
        table = np.convolve(table, [1.0 - chance, chance])
    return {number: float(share) for number, share in enumerate(table) if share > 0}


def expected(chances: Mapping[int, float]) -> float:
    """Returns the mean of a distribution."""
    return sum(number * share for number, share in chances.items())
