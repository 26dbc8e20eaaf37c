"""Chances of results of dice: by counting all throws, or by sampling if there are too many.

A rulebook resolves given dice; this module throws them. Nothing here knows what they decide.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tablecam.documents import Document
from tablecam.rules.discovery import discover
from tablecam.rules.reports import TextTable
from tablecam.table.model import Position

Outcome = TypeVar("Outcome", bound=Hashable)

MOST_OUTCOMES = 50_000
"""More throws than this are sampled."""
MOST_STATES = 5_000
"""More combinations of independent parts than this are sampled, as each is resolved by itself."""
SAMPLES = 2_500
PLUS_MINUS = 1.96 * 0.5 / SAMPLES**0.5
"""Greatest error of a sampled chance, in at least 19 of 20 cases."""

_SEED = 1745


@dataclass(frozen=True, slots=True)
class OddsReport:
    """Chances in the game's own terms, and as tables; `warnings` are about the position."""

    document: dict[str, Any]
    tables: tuple[TextTable, ...]
    warnings: tuple[str, ...] = ()


class Odds(Protocol):
    """A rulebook that computes chances before any die is rolled."""

    @property
    def game(self) -> str:
        """The name of the game in documents."""

    def odds(self, position: Position, request: Document, source: str = "table") -> OddsReport:
        """Returns the chances of an event in a position, which errors call `source`.

        Raises:
            BadInput: The request is malformed, or the action is not legal in this position.
        """


@cache
def odds_of(game: str) -> Odds | None:
    """Returns the odds of a game, None if there are none.

    A package of `tablecam.rules` provides them as `ODDS` in its module `odds`.
    """
    candidates: Iterator[Odds] = discover("odds", "ODDS", game)
    return next((odds for odds in candidates if odds.game == game), None)


@dataclass(frozen=True, slots=True)
class Chances(Generic[Outcome]):
    """The probability of each possible outcome; `is_exact` unless they were sampled."""

    of: Mapping[Outcome, float]
    is_exact: bool = True


def throws(dice: int, sides: int = 6) -> tuple[NDArray[np.intp], bool]:
    """Returns throws (m, dice), equally likely, and whether they are all throws.

    The sample is the same at every call, so that a question always gets the same answer.
    """
    if sides**dice <= MOST_OUTCOMES:
        return np.indices((sides,) * dice).reshape(dice, -1).T + 1, True
    sampled = np.random.default_rng(_SEED).integers(1, sides + 1, (SAMPLES, dice), dtype=np.intp)
    return sampled, False


def counted(rows: NDArray[Any], *, is_exact: bool = True) -> Chances[tuple[int, ...]]:
    """Returns the chances of equally likely rows (m, k) of whole numbers."""
    states, counts = np.unique(rows, axis=0, return_counts=True)
    shares = (counts / counts.sum()).tolist()
    return Chances(dict(zip(map(tuple, states.tolist()), shares, strict=True)), is_exact)


def together(parts: Sequence[Chances[Outcome]]) -> Chances[tuple[Outcome, ...]]:
    """Returns the joint chances of independent parts."""
    is_exact = all(part.is_exact for part in parts)
    if prod(len(part.of) for part in parts) <= MOST_STATES:
        combined = product(*(part.of.items() for part in parts))
        return Chances(
            {tuple(state for state, _ in row): prod(share for _, share in row) for row in combined},
            is_exact,
        )
    rng = np.random.default_rng(_SEED)
    drawn = [rng.choice(len(part.of), SAMPLES, p=[*part.of.values()]) for part in parts]
    states = [tuple(part.of) for part in parts]
    chosen: dict[tuple[Outcome, ...], float] = {}
    for row in zip(*(indices.tolist() for indices in drawn), strict=True):
        state = tuple(known[index] for known, index in zip(states, row, strict=True))
        chosen[state] = chosen.get(state, 0.0) + 1 / SAMPLES
    return Chances(chosen, is_exact=False)


def successes(chances: Iterable[float]) -> dict[int, float]:
    """Returns the probability of each number of successes of independent tries.

    >>> successes([0.5, 0.5])
    {0: 0.25, 1: 0.5, 2: 0.25}
    """
    table = np.ones(1)
    for chance in chances:
        # One try after another: exact, and O(n^2) for n of them.
        table = np.convolve(table, [1.0 - chance, chance])
    return {number: float(share) for number, share in enumerate(table) if share > 0}


def number_json(chances: Mapping[int, float]) -> dict[str, Any]:
    """Returns the distribution of a number as JSON: its mean and the probability of each value.

    >>> number_json({1: 0.75, 0: 0.25})
    {'expected': 0.75, 'chances': {'0': 0.25, '1': 0.75}}
    """
    named = {str(number): chances[number] for number in sorted(chances)}
    mean = sum(number * share for number, share in chances.items())
    return {"expected": mean, "chances": named}
