"""Dice as actions: real ones that were read, and ones that tablecam rolls, are the same thing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from tablecam.rules.game import Refused


@dataclass(frozen=True, slots=True)
class Roll:
    """A roll of `count` dice of so many `sides`, `values` as they came up.

    Without values it is what is due, as `legal` lists it.
    """

    for_: str
    count: int
    sides: int = 6
    values: tuple[int, ...] | None = None
    type: Literal["roll"] = "roll"

    def rolled(self, chance: Random) -> Roll:
        """The same roll with its dice thrown, unless players have thrown theirs."""
        if self.values is not None:
            return self
        return replace(self, values=tuple(chance.randint(1, self.sides) for _ in range(self.count)))


def values_of(roll: Roll, due: Roll) -> tuple[int, ...]:
    """The dice of a roll, if it is the one that is due.

    Raises:
        Refused: It is another roll, has no dice or not as many as are due, or a die shows what it
            cannot.
    """
    if (roll.for_, roll.count, roll.sides) != (due.for_, due.count, due.sides):
        what = f"{due.count} dice of {due.sides} for {due.for_}"
        raise Refused(f"expected {what}, got {roll.count} of {roll.sides} for {roll.for_}")
    if roll.values is None or len(roll.values) != due.count:
        got = "none" if roll.values is None else str(len(roll.values))
        raise Refused(f"expected {due.count} dice for {due.for_}, got {got}", key="values")
    if wrong := [die for die in roll.values if not 1 <= die <= due.sides]:
        raise Refused(f"expected dice from 1 to {due.sides}, got {wrong[0]}", key="values")
    return roll.values
