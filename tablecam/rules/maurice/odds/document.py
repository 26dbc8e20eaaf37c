"""Odds as documents: exact distributions under names of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tablecam.rules.maurice.odds.chances import State, distribution, folded, follows
from tablecam.rules.maurice.odds.combat import Harm
from tablecam.rules.maurice.odds.fates import Fate, Fates
from tablecam.rules.maurice.odds.shots import expected

Json = dict[str, Any]

_PLACES = 15


def number_json(chances: Mapping[int, float]) -> Json:
    """The distribution of a number: what is to be expected, and the chance of each.

    >>> number_json({1: 0.75, 0: 0.25})
    {'expected': 0.75, 'chances': {'0': 0.25, '1': 0.75}}
    """
    named = {str(number): chances[number] for number in sorted(chances)}
    return {"expected": expected(chances), "chances": named}


def fate_json(chances: Mapping[Fate, float]) -> Json:
    """What becomes of a unit in a combat, by results and falling back together."""
    return {
        "disruption": number_json(_marginal(chances, lambda each: each.disruption)),
        "breaks": _share(chances, lambda each: each.is_broken),
    }


def attacker_json(chances: Mapping[Fate, float], results: Mapping[Harm, float]) -> Json:
    """The same of an attacker, and how it leaves.

    `breaks_falling_back` is the part of `breaks` that results alone (M-8.20) do not bring about.
    """
    document = fate_json(chances)
    already = _share(results, lambda each: each.is_broken)
    return {
        **document,
        "falls_back": _share(chances, lambda each: each.falls_back),
        # The difference of two sums of the same shares: what rounding leaves of it is nothing.
        "breaks_falling_back": max(0.0, round(document["breaks"] - already, _PLACES)),
    }


def broken_json(fates: Fates, unit_ids: Iterable[str]) -> Json:
    """How many of some units break together; they are not independent."""
    broken = [follows(lambda each: int(each.is_broken), fates[name]) for name in unit_ids]
    return number_json(distribution(folded(lambda some, more: some + more, broken)))


def _marginal(chances: Mapping[Fate, float], number: Callable[[Fate], int]) -> dict[int, float]:
    found: dict[int, float] = {}
    for fate, share in chances.items():
        found[number(fate)] = found.get(number(fate), 0.0) + share
    return found


def _share(chances: Mapping[State, float], question: Callable[[State], bool]) -> float:
    return sum((share for state, share in chances.items() if question(state)), 0.0)
