"""Draws poses from their error distribution, for answers that have no simple derivative.

Only the name of an error's source seeds it: a base, a row or the calibration. All questions about
a position therefore see the same draws: two answers in one draw are a joint outcome, shared errors
are drawn once for all bases, and the same position always gets the same answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tablecam.geometry.gaps import corner_gaps
from tablecam.geometry.rectangles import EXACT_MM, Array, Rectangles, rectangles
from tablecam.table.model import BasePose, Unit
from tablecam.uncertainty.answer import AnswerWord, verdict

DRAWS = 400
"""Number of draws of a position; a probability of 0.95 has a standard error of 0.011.

All answers use the same draws, so a condition is never more probable than one that it implies."""

FAR_DRAWS, FAR_SIGMAS = 24, 3.0
"""Draws of large errors: an outcome that none of them changes needs no more draws."""

_SEED = 1740
_CALIBRATION = "calibration"


def draw_units(units: Sequence[Unit]) -> Rectangles:
    """Draws the poses of some units' bases, like `draw_poses`."""
    names = [name for unit in units for name in unit.base_names]
    return draw_poses(rectangles(units), names)


def drawn(units: Sequence[Unit]) -> Iterator[tuple[Unit, ...]]:
    """Yields units at their exact poses in each draw, for code that needs plain positions."""
    poses, count = draw_units(units), sum(len(unit.bases) for unit in units)
    centres_mm = poses.centres_mm.reshape(DRAWS, count, 2)
    ahead = poses.axes[:, 1].reshape(DRAWS, count, 2)
    headings_deg = np.degrees(np.arctan2(ahead[..., 1], ahead[..., 0]))
    for draw in range(DRAWS):
        places = zip(centres_mm[draw].tolist(), headings_deg[draw].tolist(), strict=True)
        yield tuple(
            replace(unit, bases=tuple(_exact(base, *next(places)) for base in unit.bases))
            for unit in units
        )


def _exact(base: BasePose, place_mm: Sequence[float], heading_deg: float) -> BasePose:
    """Returns a base at a place that is known exactly."""
    x_mm, y_mm = place_mm
    return replace(
        base, x_mm=x_mm, y_mm=y_mm, heading_deg=heading_deg, sigma_mm=0.0, sigma_deg=0.0,
        common=(), row=None,
    )  # fmt: skip


def draw_gaps_mm(a: Unit, b: Unit) -> Array:
    """Returns the gap (DRAWS,) between two units in each draw; negative is the depth of overlap."""
    of_a, of_b = draw_units([a]), draw_units([b])
    count_a, count_b = len(a.bases), len(b.bases)
    draw, in_a, in_b = np.indices((DRAWS, count_a, count_b)).reshape(3, -1)
    pairs = of_a.take(draw * count_a + in_a), of_b.take(draw * count_b + in_b)
    return np.asarray(corner_gaps(*pairs).gaps_mm.reshape(DRAWS, -1).min(axis=1))


def draw_poses(of: Rectangles, names: Sequence[str]) -> Rectangles:
    """Draws the poses of n rectangles: all of the first draw, of the second, ...

    `names` (n,) are the bases' names, which seed their random streams.
    """
    return _displaced(of, names, _normal)


def draw_far_poses(of: Rectangles, names: Sequence[str]) -> Rectangles:
    """Draws `FAR_DRAWS` poses, each with all its errors `FAR_SIGMAS` large."""

    def far(source: str, count: int = 3) -> Array:
        normal = _normal(source, count)[:FAR_DRAWS]
        lengths = np.linalg.norm(normal, axis=1, keepdims=True)
        return np.asarray(FAR_SIGMAS * normal / np.maximum(lengths, EXACT_MM))

    return _displaced(of, names, far)


_Errors = Callable[[str, int], Array]
"""Returns the errors (d, count) of a source in standard deviations."""


def _displaced(of: Rectangles, names: Sequence[str], errors_of: _Errors) -> Rectangles:
    """Moves n rectangles by their errors (d, n, 3): centres (x and y in mm), headings (radians)."""
    own = np.stack([errors_of(name, 3) for name in names], axis=1) * of.sigmas
    # A base's own heading error turns it about its tag.
    # Errors of the glue turn with the base: they are drawn along its axes.
    along = np.where(of.is_glued[:, None, None], of.axes, np.eye(2))
    own[..., :2] = np.einsum("dna,nai->dni", own[..., :2], along) + own[..., 2:] * of.swings_mm
    common = errors_of(_CALIBRATION, of.common.shape[1])
    errors = own + np.einsum("dc,nci->dni", common, of.common)
    for row, row_id in enumerate(of.row_ids):
        in_row = np.flatnonzero(of.rows == row)
        errors[:, in_row] += np.einsum("de,nei->dni", errors_of(row_id, 3), of.in_row[in_row])
    drawn = of.take(np.tile(np.arange(len(of)), len(errors)))
    errors = errors.reshape(-1, 3)
    cos, sin = np.cos(errors[:, 2]), np.sin(errors[:, 2])
    rotation = np.stack([np.stack([cos, sin], axis=-1), np.stack([-sin, cos], axis=-1)], axis=-2)
    return replace(drawn, centres_mm=drawn.centres_mm + errors[:, :2], axes=drawn.axes @ rotation)


def decide_sampled(
    margin_mm: float, margins_mm: Array, *, tolerance_mm: float = 0.0
) -> tuple[AnswerWord, float, float]:
    """Returns answer, sigma and probability of a margin from its draws (n,), as `answer.decide`."""
    # Rounding must not turn an exact contact into a miss.
    chance = probability_of_draws(margins_mm >= -EXACT_MM)
    sigma_mm = math.sqrt(float(np.mean((margins_mm - margin_mm) ** 2)))
    return verdict(margin_mm, chance, tolerance_mm=tolerance_mm), sigma_mm, chance


def probability_of_draws(held: NDArray[np.bool_]) -> float:
    """Returns the share of draws (n,) in which something holds, kept away from 0 and 1.

    n draws resolve no probability below 1 in n.
    """
    return (int(np.count_nonzero(held)) + 0.5) / (len(held) + 1.0)


@cache
def _normal(source: str, count: int) -> Array:
    """Returns the standard normal draws (DRAWS, count) of a source's errors, always the same."""
    return np.random.default_rng([_SEED, *source.encode()]).standard_normal((DRAWS, count))
