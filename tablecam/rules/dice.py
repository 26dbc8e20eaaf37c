"""Dice as actions, whether players roll real ones or tablecam rolls them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tablecam.rules.frozen_json import Variant
from tablecam.rules.game import Refused

MOST_DICE, MOST_SIDES = 100, 100
"""Limits of one roll: above any game's, and low enough that no request can stall the program."""


class Roll(Variant):
    """A roll of `count` dice with `sides` sides each, and the `values` that came up.

    Without values it is a request to roll, as `legal` lists it.
    """

    for_: str
    count: int
    sides: int = 6
    values: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_DICE or not 2 <= self.sides <= MOST_SIDES:
            raise ValueError(
                f"expected 1 to {MOST_DICE} dice of 2 to {MOST_SIDES} sides, "
                f"got {self.count} of {self.sides}"
            )

    def __str__(self) -> str:
        return f"{self.count} {'die' if self.count == 1 else 'dice'} for {self.for_}"

    def rolled(self, chance: Random) -> Roll:
        """Returns the roll with random values, unless players entered theirs."""
        if self.values is not None:
            return self
        return replace(self, values=tuple(chance.randint(1, self.sides) for _ in range(self.count)))


def values_of(action: object, due: Roll, *, rule: str | None = None) -> tuple[int, ...]:
    """Returns the values of an action that must be the roll `due`; `rule` demands the roll.

    Raises:
        Refused: The action is no roll or another one, the number of dice is wrong, or a value is
            out of range.
    """
    if not isinstance(action, Roll):
        raise Refused(f"expected {due}, got {getattr(action, 'type', action)}", rule=rule)
    if (action.for_, action.count, action.sides) != (due.for_, due.count, due.sides):
        raise Refused(f"expected {due}, got {action}", rule=rule)
    if action.values is None or len(action.values) != due.count:
        got = "none" if action.values is None else str(len(action.values))
        raise Refused(f"expected {due}, got {got}", rule=rule, key="values")
    # Players may have mistyped a real die.
    if wrong := [die for die in action.values if not 1 <= die <= due.sides]:
        why = f"expected dice from 1 to {due.sides}, got {wrong[0]}"
        raise Refused(why, rule=rule, key="values")
    return action.values
