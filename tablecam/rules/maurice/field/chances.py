"""Estimates how probable an outcome is: first by error bounds, then by random draws of poses.

The bounds lengthen and shorten all lengths that matter by `SIGMAS` standard deviations. If the
outcome stays the same it is certain, and no poses are drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.outlines import SEAM_MM, unit_footprints
from tablecam.geometry.rectangles import rectangles
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.table.model import BasePose
from tablecam.uncertainty.answer import AnswerWord, verdict
from tablecam.uncertainty.samples import DRAWS, draw_poses, probability_of_draws

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


def is_exact(field: Field) -> bool:
    """Returns whether all poses are exact and the players' tolerance is 0."""
    return not field.position.table.tolerance_mm and not any(
        unit.sigma_bound_mm for unit in field.units
    )


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
    holds_by: Callable[[float], bool],
    slack_mm: float,
    sigma_mm: float,
    *,
    beyond_mm: Callable[[bool], float],
    drawn: Callable[[], Flags],
) -> Chance:
    """Returns the chance of an outcome, by bounds if they decide it, else by draws.

    `holds_by` is as in `turning_shift_mm`; `beyond_mm` gives the margin of an outcome that is
    the same within all of `slack_mm`, given whether it holds; `drawn` gives the outcome in each
    draw.
    """
    holds = holds_by(0.0)
    margin_mm = _turning_mm(holds_by, slack_mm, holds=holds)
    # Certain: no error within the slack turns it, or there are no errors.
    if margin_mm is None or not sigma_mm:
        margin_mm = beyond_mm(holds) if margin_mm is None else margin_mm
        return Chance(margin_mm, sigma_mm, 1.0 if holds else 0.0)
    # Drawn only here, where the bounds leave it open.
    return Chance(margin_mm, sigma_mm, probability_of_draws(drawn()))


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


def drawn_outlines(unit: UnitOnField) -> NDArray[np.object_]:
    """Returns a unit's outline (DRAWS,) for each draw.

    It is the union of its bases, as `outlines.unit_footprint` makes it, or their hull where they
    almost fill that.
    """
    hull = shapely.convex_hull(unit.outline)
    is_filled = bool(shapely.hausdorff_distance(hull, unit.outline) <= SEAM_MM)
    return _outlines(unit.unit.bases, tuple(unit.unit.base_names), is_filled)


# Cached: every opponent asks for the same outlines, and so do later positions.
@lru_cache(maxsize=32)
def _outlines(
    poses: tuple[BasePose, ...], names: tuple[str, ...], is_filled: bool
) -> NDArray[np.object_]:
    corners_mm = draw_poses(rectangles(poses), names).corners_mm()
    bases = np.asarray(shapely.polygons(corners_mm), dtype=object).reshape(DRAWS, -1)
    filled = shapely.convex_hull(shapely.multipolygons(bases)) if is_filled else None
    outlines = np.array(unit_footprints(bases.tolist()) if filled is None else filled, dtype=object)
    # The cache hands out the same array to all callers.
    outlines.flags.writeable = False
    return outlines
