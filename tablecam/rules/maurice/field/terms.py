"""Named modifiers that a ruling adds up, each with its rule and its reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

DIE_SIDES = 6
"""The highest number on a die."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason for a ruling: its rule, a clause, and the interpretation that it rests on, if any.

    >>> str(Reason("M-8.4", "artillery never charges"))
    'M-8.4 artillery never charges'
    """

    rule: str
    clause: str
    reading: str | None = None

    def __str__(self) -> str:
        """Returns the line of an explanation."""
        return f"{self.rule} {self.clause}"


@dataclass(frozen=True, slots=True)
class Term:
    """One modifier of a sum: `name` is its key in answers, `why` a part of a sentence."""

    name: str
    amount: int
    rule: str
    why: str

    @property
    def because(self) -> str:
        """The line of the explanation for this modifier.

        >>> Term("disruption", -2, "M-8.16", "2 levels of disruption").because
        'M-8.16 2 levels of disruption: -2'
        """
        return f"{self.rule} {self.why}: {self.amount:+d}"


def amounts_by_name(terms: Iterable[Term]) -> Mapping[str, int]:
    """Returns the amounts by name as answers hold them, without those of 0."""
    return MappingProxyType({term.name: term.amount for term in terms if term.amount})


def total(terms: Iterable[Term]) -> int:
    """Returns the sum of the amounts."""
    return sum(term.amount for term in terms)


def needed_on_die(basic: int, modifiers: int) -> int:
    """Returns the lowest roll that succeeds, given the basic number and the sum of modifiers.

    It is clamped to 2..6: a natural 1 always fails and a natural 6 always succeeds (M-7.23, M-9.4).

    >>> needed_on_die(4, -1), needed_on_die(4, 3), needed_on_die(5, -4)
    (5, 2, 6)
    """
    return min(max(basic - modifiers, 2), DIE_SIDES)


def chance_to_reach(needed: int) -> float:
    """Returns the probability that a die succeeds which needs a number, clamped as above.

    >>> chance_to_reach(4), chance_to_reach(1) == chance_to_reach(2)
    (0.5, True)
    """
    return (DIE_SIDES + 1 - needed_on_die(needed, 0)) / DIE_SIDES
