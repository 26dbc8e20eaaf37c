"""Margins of yes-or-no conditions: how far lengths must change to turn the outcome.

A condition that no change within the errors turns is certain; otherwise its probability is the
share of drawn positions in which it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.uncertainty.answer import AnswerWord, verdict
from tablecam.uncertainty.samples import probability_of_draws

SIGMAS = 3.5
"""An outcome is certain if lengths may change by this many standard deviations without effect."""

_HALVINGS = 10
TURNING_PRECISION = 0.5**_HALVINGS
"""Precision of the length at which an outcome turns, as a share of the tolerance searched."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Chance:
    """The margin of a condition (negative if it fails) and the probability that it holds."""

    margin_mm: float
    sigma_mm: float
    probability: float

    def word(self, tolerance_mm: float) -> AnswerWord:
        """Returns the answer under the players' tolerance."""
        return verdict(self.margin_mm, self.probability, tolerance_mm=tolerance_mm)


def turning_shift_mm(holds_by: Callable[[float], bool], slack_mm: float) -> float | None:
    """Finds the change of lengths at which an outcome turns, to `TURNING_PRECISION` of `slack_mm`.

    `holds_by(shift_mm)` is the outcome if all lengths were that much more in its favour. Returns
    None if the outcome is the same within all of `slack_mm`; negative if it does not hold now.
    """
    return _turning_mm(holds_by, slack_mm, holds=holds_by(0.0))


def bounded_margin_mm(holds_by: Callable[[float], bool], slack_mm: float) -> float:
    """Returns `turning_shift_mm`, or all of `slack_mm` if the outcome is the same within it."""
    holds = holds_by(0.0)
    margin_mm = _turning_mm(holds_by, slack_mm, holds=holds)
    return margin_mm if margin_mm is not None else slack_mm if holds else -slack_mm


def chance_of(
    holds_by: Callable[[float], bool], slack_mm: float, sigma_mm: float, drawn: Callable[[], Flags]
) -> Chance:
    """Returns the chance of an outcome, by bounds if they decide it, else by draws.

    `holds_by` is as in `turning_shift_mm`; `drawn` gives the outcome in each draw.
    """
    holds = holds_by(0.0)
    margin_mm = _turning_mm(holds_by, slack_mm, holds=holds)
    if margin_mm is not None and sigma_mm:
        return Chance(margin_mm, sigma_mm, probability_of_draws(drawn()))
    # Certain: no error within the slack turns it, or there are no errors.
    flat_mm = slack_mm if holds else -slack_mm
    return Chance(flat_mm if margin_mm is None else margin_mm, sigma_mm, float(holds))


def _turning_mm(holds_by: Callable[[float], bool], slack_mm: float, *, holds: bool) -> float | None:
    # Only a change against the outcome can turn it.
    sign = -1.0 if holds else 1.0
    if holds_by(sign * slack_mm) == holds:
        return None
    # Bisection: the outcome is unchanged at `stands_mm` and turned at `turns_mm`.
    stands_mm, turns_mm = 0.0, slack_mm
    for _ in range(_HALVINGS):
        middle_mm = (stands_mm + turns_mm) / 2
        if holds_by(sign * middle_mm) == holds:
            stands_mm = middle_mm
        else:
            turns_mm = middle_mm
    return -sign * (stands_mm + turns_mm) / 2
