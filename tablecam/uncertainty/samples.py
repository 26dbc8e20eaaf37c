"""Draws poses from their error distribution, for answers that have no simple derivative.

A base's errors hang on its name alone, so all questions about a position see the same draws: what
holds for two answers in one draw is their joint outcome, and the same position always gets the same
answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from tablecam.geometry.rectangles import EXACT_MM, Array, Rectangles, rectangles
from tablecam.table.model import Unit
from tablecam.uncertainty.answer import CERTAIN, AnswerWord

DRAWS = 2000
"""Number of draws; it estimates a probability of 0.95 to within 0.005."""

_SEED = 1740


def draw_units(units: Sequence[Unit], draws: int = DRAWS) -> Rectangles:
    """Draws the poses of some units' bases, as `draw_poses`."""
    names = [unit.base_name(index) for unit in units for index in range(len(unit.bases))]
    return draw_poses(rectangles(units), names, draws)


def draw_poses(of: Rectangles, names: Sequence[str], draws: int = DRAWS) -> Rectangles:
    """Draws the poses of n rectangles `draws` times: all of the first draw, of the second, ...

    `names` (n,) are the bases' names, on which their random streams hang. Fewer draws are the first
    ones of the same streams.
    """
    count = len(of)
    z = np.stack([_normal(name) for name in names], axis=1)
    shift_mm, turn_rad = of.errors(z[:draws])
    turn = turn_rad.reshape(-1)
    cos, sin = np.cos(turn), np.sin(turn)
    rotation = np.stack([np.stack([cos, sin], axis=-1), np.stack([-sin, cos], axis=-1)], axis=-2)
    rows = np.tile(np.arange(count), draws)
    return Rectangles(
        of.centres_mm[rows] + shift_mm.reshape(-1, 2),
        of.axes[rows] @ rotation,
        of.halves_mm[rows],
        of.sigmas[rows],
        of.swings_mm[rows],
        of.owners[rows],
    )


def decide_sampled(
    margin_mm: float, margins_mm: Array, *, tolerance_mm: float = 0.0
) -> tuple[AnswerWord, float, float]:
    """Returns answer, sigma and probability of a margin from its draws (n,), as `answer.decide`."""
    count = len(margins_mm)
    # Rounding must not turn an exact contact into a miss.
    held = int(np.count_nonzero(margins_mm >= -EXACT_MM))
    # n draws resolve no probability below 1 in n, so the estimate stays off 0 and 1.
    chance = (held + 0.5) / (count + 1.0)
    sigma_mm = math.sqrt(float(np.mean((margins_mm - margin_mm) ** 2)))
    if abs(margin_mm) < tolerance_mm or 1.0 - CERTAIN < chance < CERTAIN:
        return "too_close", sigma_mm, chance
    return ("yes" if chance >= CERTAIN else "no"), sigma_mm, chance


@cache
def _normal(name: str) -> Array:
    """Returns the standard normal draws (n, 3) of a base's errors, always the same."""
    return np.random.default_rng([_SEED, *name.encode()]).standard_normal((DRAWS, 3))
