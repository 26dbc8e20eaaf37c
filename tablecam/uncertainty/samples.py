"""Poses drawn from what is known of them, for questions whose answers have no simple derivative.

The draws are the same at every call, so that the same position always gets the same answer.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from tablecam.geometry.rectangles import EXACT_MM, Array, Rectangles
from tablecam.uncertainty.answer import CERTAIN, AnswerWord

DRAWS = 2000
"""So many that a probability of 0.95 is known to 0.005."""

_SEED = 1740


def sampled(of: Rectangles, *, first: int = 0, draws: int = DRAWS) -> Rectangles:
    """Rectangles (n) drawn so many times each: those of the first draw, of the second, ...

    `first` says which draws to use: bases whose errors are independent must not share any. There is
    no end to them, as a crowded melee may hang on any number of bases. Fewer than all `draws` are
    the first of them.
    """
    count = len(of)
    luck = np.stack([_normal(first + place) for place in range(count)], axis=1)
    moved_mm, turned_rad = of.errors(luck[:draws])
    turn = turned_rad.reshape(-1)
    cos, sin = np.cos(turn), np.sin(turn)
    turned = np.stack([np.stack([cos, sin], axis=-1), np.stack([-sin, cos], axis=-1)], axis=-2)
    many = np.tile(np.arange(count), draws)
    return Rectangles(
        of.centres_mm[many] + moved_mm.reshape(-1, 2),
        of.axes[many] @ turned,
        of.halves_mm[many],
        of.sigmas[many],
        of.swings_mm[many],
        of.owners[many],
    )


def decide_sampled(
    margin_mm: float, margins_mm: Array, *, tolerance_mm: float = 0.0
) -> tuple[AnswerWord, float, float]:
    """As `answer.decide` for a margin of which draws (n,) are known: answer, sigma, probability.

    Two thousand draws tell no probability below 1 in 2000, so it is never quite 0 or 1.
    """
    count = len(margins_mm)
    held = int(np.count_nonzero(margins_mm >= -EXACT_MM))
    chance = (held + 0.5) / (count + 1.0)
    sigma_mm = math.sqrt(float(np.mean((margins_mm - margin_mm) ** 2)))
    if abs(margin_mm) < tolerance_mm or 1.0 - CERTAIN < chance < CERTAIN:
        return "too_close", sigma_mm, chance
    return ("yes" if chance >= CERTAIN else "no"), sigma_mm, chance


@cache
def _normal(place: int) -> Array:
    """The draws (n, 3) of the base at a place, always the same."""
    return np.random.default_rng((_SEED, place)).standard_normal((DRAWS, 3))
