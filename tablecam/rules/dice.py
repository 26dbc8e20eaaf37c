"""Dice as actions, whether players roll real ones or tablecam rolls them."""

from __future__ import annotations

from dataclasses import field, replace
from random import Random
from typing import Literal

from tablecam.rules.frozen_json import LEFT_OUT, Variant
from tablecam.rules.game import Refused

MOST_DICE, MOST_SIDES = 100, 100
"""Limits of one roll: above any game's needs, and low enough that no request stalls the program."""


class Roll(Variant):
    """A roll of `count` dice with `sides` sides each, and the `values` that came up.

    The sides are numbered from `lowest`: 0 to 9 for some dice. Without values it is a request to
    roll, as `legal` lists it.
    """

    for_: str
    count: int
    sides: int = 6
    values: tuple[int, ...] | None = None
    lowest: Literal[0, 1] = field(default=1, metadata=LEFT_OUT)

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_DICE or not 2 <= self.sides <= MOST_SIDES:
            raise ValueError(
                f"expected 1 to {MOST_DICE} dice of 2 to {MOST_SIDES} sides, "
                f"got {self.count} of {self.sides}"
            )

    @property
    def highest(self) -> int:
        """The highest number on a die."""
        return self.lowest + self.sides - 1

    def __str__(self) -> str:
        return f"{dice_words(self.count)} for {self.for_}"

    def rolled(self, chance: Random) -> Roll:
        """Returns the roll with random values, unless players entered theirs."""
        if self.values is not None:
            return self
        rolled = (chance.randint(self.lowest, self.highest) for _ in range(self.count))
        return replace(self, values=tuple(rolled))


def dice_words(count: int) -> str:
    """Returns a number of dice in words."""
    return "1 die" if count == 1 else f"{count} dice"


def values_of(action: object, due: Roll, *, rule: str | None = None) -> tuple[int, ...]:
    """Returns the values of an action that must be the roll `due`; `rule` demands the roll.

    Raises:
        Refused: The action is not this roll, the number of dice is wrong, or a value is out of
        range.
    """
    if not isinstance(action, Roll):
        raise Refused(f"expected {due}, got {getattr(action, 'type', action)}", rule=rule)
    if replace(action, values=None) != replace(due, values=None):
        raise Refused(f"expected {due}, got {action}", rule=rule)
    if action.values is None or len(action.values) != due.count:
        got = "none" if action.values is None else str(len(action.values))
        raise Refused(f"expected {due}, got {got}", rule=rule, key="values")
    # Players may have mistyped a real die.
    if wrong := [die for die in action.values if not due.lowest <= die <= due.highest]:
        why = f"expected dice from {due.lowest} to {due.highest}, got {wrong[0]}"
        raise Refused(why, rule=rule, key="values")
    return action.values
