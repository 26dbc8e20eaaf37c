"""The numbers that are added up, each with its name, its rule and why it is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

MOST_ON_A_DIE = 6
"""Every die has six sides."""


@dataclass(frozen=True, slots=True)
class Term:
    """One number of a sum. `name` is what answers call it; `why` is part of a sentence."""

    name: str
    amount: int
    rule: str
    why: str

    @property
    def because(self) -> str:
        """The line that accounts for it.

        >>> Term("disruption", -2, "M-8.16", "2 levels of disruption").because
        'M-8.16 2 levels of disruption: -2'
        """
        return f"{self.rule} {self.why}: {self.amount:+d}"


def by_name(terms: Iterable[Term]) -> Mapping[str, int]:
    """The terms as answers hold them: the amount of each by its name, those of 0 left out."""
    return MappingProxyType({term.name: term.amount for term in terms if term.amount})


def total(terms: Iterable[Term]) -> int:
    """What they come to."""
    return sum(term.amount for term in terms)


def needed_on_die(basic: int, modifiers: int) -> int:
    """The number needed on a die to which modifiers are added.

    Held within 2 and 6, as a natural 1 always fails and a 6 always succeeds (M-7.23, M-9.4).

    >>> needed_on_die(4, -1), needed_on_die(4, 3), needed_on_die(5, -4)
    (5, 2, 6)
    """
    return min(max(basic - modifiers, 2), MOST_ON_A_DIE)
