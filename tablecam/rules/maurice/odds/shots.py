"""How many of some dice succeed, each thrown by itself (M-7.23, M-7.25, M-9.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

_SIDES = 6


def chance_of(needed: int) -> float:
    """The chance of a die to reach a number; a 1 always fails, a 6 always succeeds (M-7.23, M-9.4).

    >>> chance_of(4)
    0.5
    >>> chance_of(1) == chance_of(2), chance_of(7) == chance_of(6)
    (True, True)
    """
    return (_SIDES + 1 - min(max(needed, 2), _SIDES)) / _SIDES


def successes(chances: Iterable[float]) -> dict[int, float]:
    """How many of some independent tries succeed: the chance of each number from 0.

    A table of numbers is convolved with one try after another; it is exact, and n tries cost n^2.

    >>> successes([0.5, 0.5])
    {0: 0.25, 1: 0.5, 2: 0.25}
    """
    table = np.ones(1)
    for each in chances:
        table = np.convolve(table, [1.0 - each, each])
    return {number: float(share) for number, share in enumerate(table) if share > 0}


def expected(chances: Mapping[int, float]) -> float:
    """The mean of a distribution."""
    return sum(number * share for number, share in chances.items())
