"""Reasons of rulings as data, the sentences that present them, and modifiers that add up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Union

from tablecam.rules.reports import NOT_KNOWN
from tablecam.wording import counted, joined

DIE_SIDES = 6
"""The highest number on a die."""

Argument = Union[str, int, float, tuple[str, ...], "Reason"]
"""The subject of a reason; another reason is its cause."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason for a ruling: its rule, its code, and the units and numbers that it is about.

    `reading` is the rule on whose interpretation it rests, if any. `CLAUSES` has its words.

    >>> str(Reason("M-8.4", "artillery"))
    'M-8.4 artillery never charges'
    """

    rule: str
    code: str
    arguments: tuple[Argument, ...] = ()
    reading: str | None = None

    @property
    def clause(self) -> str:
        """The reason in words."""
        words = CLAUSES[self.code]
        return (
            words(*self.arguments) if callable(words) else words.format(*map(_text, self.arguments))
        )

    def __str__(self) -> str:
        """Returns the line of an explanation."""
        return f"{self.rule} {self.clause}"


@dataclass(frozen=True, slots=True)
class Term(Reason):
    """A reason that is one modifier of a sum; its code is the modifier's key in answers.

    >>> str(Term("M-8.16", "disruption", (2,), amount=-2))
    'M-8.16 2 levels of disruption: -2'
    """

    amount: int = 0

    @property
    def change(self) -> str:
        """The modifier in a few words, its amount first."""
        return f"{self.amount:+d} {self.clause}"

    def __str__(self) -> str:
        """Returns the line of an explanation."""
        return f"{self.rule} {self.clause}: {self.amount:+d}"


def _text(argument: Argument) -> str | int | float:
    if isinstance(argument, Reason):
        return argument.clause
    return joined(argument) if isinstance(argument, tuple) else argument


def _vulnerable(is_column: bool, flanked_by: tuple[str, ...]) -> str:
    # A column flanked as well is vulnerable only once, so both reasons share one term.
    causes = ["in column"] * is_column
    if flanked_by:
        causes.append(f"attacked on flank or rear by {joined(flanked_by)}")
    return f"vulnerable: {joined(causes)}"


CLAUSES: Final[Mapping[str, str | Callable[..., str]]] = MappingProxyType(
    {
        # Combat
        "basic": "{}: basic value {}",
        "disruption": lambda levels: f"{counted(levels, 'level')} of disruption",
        "bad_terrain": "in bad terrain",
        "elevation": "attacks {} on higher ground",
        "cover": "attacks {} in cover",
        "vulnerable": _vulnerable,
        "outnumbered": lambda unit, enemies: (
            f"outnumbered: {joined(enemies)} {'is' if len(enemies) == 1 else 'are'} engaged with "
            f"{unit} alone"
        ),
        "card": "card",
        "floor": "never below 0: 0 instead of {}",
        "score": "value {}, die {}: score {}",
        "alone": lambda gained: "all its enemies broke" + f", +{gained} disruption" * (gained > 0),
        "doubled": "doubled by {} {}-{}, breaks",
        "beaten": "loses to {} {}-{}, +{} disruption",
        "drawn": "draws with {} {}-{}, +{} disruption",
        "winning": "beats {} {}-{}, +{} disruption",
        "breaking": lambda level, bases: (
            f"breaks: {level} disruptions are more than its {counted(bases, 'base')}"
        ),
        # Falling back
        "falling_back": "falls back {:.4g} BW: an attacker in contact does, even a winner",
        "blocked": "cannot fall back {:g} BW: {}: broken",
        "in_the_way": "{} is in the way",
        "still_touching": "it would still touch {}",
        "table_ends": "it would leave the table",
        "in_doubt": "at its end: {}",
        "through_difficult": "falls back through difficult ground, +1 disruption",
        "passing": "passes through {}, +1 disruption",
        "passed": "{} passes through it, +1 disruption",
        # Rally
        "to_rally": "{}: {} or more on each die",
        "not_near_enemy": "not near the enemy",
        "natural": "a natural 1 always fails, a 6 always succeeds",
        "shed": "{} of {} dice show {} or more",
        # Fire
        "dense_target": "dense target",
        "enfilade": "enfilade",
        "disrupted_shooter": "disrupted shooter",
        "target_cover": "cover",
        # Impossible fire and charges
        "never_fires": "is cavalry, which never fires",
        "column_fire": "is in column and may not fire",
        "artillery": "artillery never charges",
        "column": "a unit in column may not charge",
        "too_disrupted": "a unit with {} disruptions may not charge",
        "formation": "{} {} may not charge",
        "at_cavalry": "infantry may not charge cavalry",
        "in_woods": "cavalry may not charge units in woods",
        "out_of_reach": "no enemy is in reach straight ahead or after a wheel that it has room for",
        "friends": "friends are in the way",
        "flank_first": "it would touch an enemy with its flank",
        "out_of_view": "the enemy is out of view",
        "forbidden_ground": "ground it may not enter is in the way",
        "no_move": "no charge move reaches an enemy",
        "no_move_at": "no charge reaches {}",
        "not_first": "its front edge does not meet it first, straight ahead or after a 1 BW wheel",
        "too_far": "it is {:.2f} BW away, more than the allowance of {:g} BW",
        "bogged_down": "it stands in difficult ground, which is impassable in this round",
        "unknown": NOT_KNOWN,
    }
)
"""The words of each reason by its code, with gaps for its arguments."""


def amounts_by_name(terms: Iterable[Term]) -> Mapping[str, int]:
    """Returns the amounts other than 0 by name, as answers hold them."""
    return MappingProxyType({term.code: term.amount for term in terms if term.amount})


def needed_on_die(basic: int, modifiers: int) -> int:
    """Returns the lowest roll that succeeds, given the basic number and the sum of modifiers.

    It is clamped to 2..6: a natural 1 always fails and a natural 6 always succeeds (M-7.23, M-9.4).

    >>> needed_on_die(4, -1), needed_on_die(4, 3), needed_on_die(5, -4)
    (5, 2, 6)
    """
    return min(max(basic - modifiers, 2), DIE_SIDES)


def chance_to_reach(needed: int) -> float:
    """Returns the probability that a die reaches a number, clamped as above.

    >>> chance_to_reach(4), chance_to_reach(1) == chance_to_reach(2)
    (0.5, True)
    """
    return (DIE_SIDES + 1 - needed_on_die(needed, 0)) / DIE_SIDES
