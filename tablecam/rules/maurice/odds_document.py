"""Odds as documents: exact distributions under names of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tablecam.rules.maurice.odds_chances import Variable, distribution, folded, follows
from tablecam.rules.maurice.odds_fates import Fate, Fates
from tablecam.rules.maurice.odds_shots import expected

Json = dict[str, Any]


def number_json(chances: Mapping[int, float]) -> Json:
    """The distribution of a number: what is to be expected, and the chance of each.

    >>> number_json({1: 0.75, 0: 0.25})
    {'expected': 0.75, 'chances': {'0': 0.25, '1': 0.75}}
    """
    named = {str(number): chances[number] for number in sorted(chances)}
    return {"expected": expected(chances), "chances": named}


def fate_json(fate: Variable[Fate], *, is_active: bool) -> Json:
    """What becomes of a unit in a combat, falling back included.

    `breaks` is by whatever cause; of those who attack, `breaks_falling_back` tells the part of it
    that comes about only then.
    """
    chances = distribution(fate)
    document = {
        "disruption": number_json(_marginal(chances, lambda each: each.disruption)),
        "breaks": _share(chances, lambda each: each.is_broken),
    }
    if is_active:
        document["falls_back"] = _share(chances, lambda each: each.falls_back)
        document["breaks_falling_back"] = _share(
            chances, lambda each: each.falls_back and each.is_broken
        )
    return document


def broken_json(fates: Fates, unit_ids: Iterable[str]) -> Json:
    """How many of some units break together; they are not independent."""
    broken = [follows(lambda each: int(each.is_broken), fates[name]) for name in unit_ids]
    return number_json(distribution(folded(lambda some, more: some + more, broken)))


def _marginal(chances: Mapping[Fate, float], number: Callable[[Fate], int]) -> dict[int, float]:
    found: dict[int, float] = {}
    for fate, share in chances.items():
        found[number(fate)] = found.get(number(fate), 0.0) + share
    return found


def _share(chances: Mapping[Fate, float], question: Callable[[Fate], bool]) -> float:
    return sum(share for fate, share in chances.items() if question(fate))
