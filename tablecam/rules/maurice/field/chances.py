"""How sure an outcome is that no formula tells: bounds first, and draws of poses where they differ.

All lengths that a ruling hangs on are made longer and shorter by more than errors can (`SIGMAS`).
Where that does not turn the outcome it is certain, and nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.fronts import Fronts
from tablecam.geometry.outlines import GRID_MM, SEAM_MM, Axes
from tablecam.geometry.rectangles import Rectangles, rectangles
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.table.model import BasePose
from tablecam.uncertainty.answer import CERTAIN, AnswerWord, probability
from tablecam.uncertainty.lengths import distance
from tablecam.uncertainty.samples import DRAWS, sampled

SIGMAS = 3.5
"""An outcome that stands when all lengths change by as many standard deviations is certain."""

LINE_DRAWS = 400
"""Draws for what has to be looked at one by one: 0.95 is known to 0.011, in half a second."""

_HALVINGS = 10
TURNING_SHARE = 0.5**_HALVINGS
"""To what share of the slack it is known where an outcome turns."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Chance:
    """Whether something holds: by what margin (negative where not), and how probably."""

    margin_mm: float
    sigma_mm: float
    probability: float

    def word(self, tolerance_mm: float) -> AnswerWord:
        """The answer that this is, given the players' tolerance."""
        is_open = 1.0 - CERTAIN < self.probability < CERTAIN
        if is_open or abs(self.margin_mm) < tolerance_mm:
            return "too_close"
        return "yes" if self.probability >= CERTAIN else "no"


def is_exact(field: Field) -> bool:
    """Whether no base's place is uncertain, and players leave nothing open: nothing is in doubt."""
    return not field.position.table.tolerance_mm and not any(map(spread_mm, field.units))


def near_enough(a: UnitOnField, b: UnitOnField, reach_mm: float) -> float:
    """How likely two units lie within reach of each other, as `near` and Measure have it.

    It bounds what draws say of a charge or of fire: draws, base by base, leave the least of several
    lengths too short on the average.
    """
    length = distance(a.unit, b.unit)
    return probability(reach_mm - length.value_mm, length.sigma_mm)


def share(held: Flags) -> float:
    """The probability of what held in some draws: never quite 0 or 1, as draws cannot tell."""
    return (int(np.count_nonzero(held)) + 0.5) / (len(held) + 1.0)


def turning_mm(holds_by: Callable[[float], bool], slack_mm: float) -> float | None:
    """By how much lengths must change until an outcome turns, to `TURNING_SHARE` of the slack.

    `holds_by` is the outcome were all lengths by so much more in its favour. None where it stands
    all of the slack; negative where it does not hold as it is.
    """
    return _turning_mm(holds_by, slack_mm, holds=holds_by(0.0))


def chance_of(
    holds_by: Callable[[float], bool],
    slack_mm: float,
    sigma_mm: float,
    *,
    beyond_mm: Callable[[bool], float],
    drawn: Callable[[], Flags],
) -> Chance:
    """How sure an outcome is: by bounds, and where these leave it open by draws.

    `holds_by` is as in `turning_mm`; `beyond_mm` is the margin of what stands all of the slack,
    whether it holds or not, `drawn` whether it holds in each of some draws.
    """
    holds = holds_by(0.0)
    margin_mm = _turning_mm(holds_by, slack_mm, holds=holds)
    if margin_mm is None or not sigma_mm:
        margin_mm = beyond_mm(holds) if margin_mm is None else margin_mm
        return Chance(margin_mm, sigma_mm, 1.0 if holds else 0.0)
    return Chance(margin_mm, sigma_mm, share(drawn()))


def _turning_mm(holds_by: Callable[[float], bool], slack_mm: float, *, holds: bool) -> float | None:
    sign = -1.0 if holds else 1.0
    if holds_by(sign * slack_mm) == holds:
        return None
    stands_mm, turns_mm = 0.0, slack_mm
    for _ in range(_HALVINGS):
        middle_mm = (stands_mm + turns_mm) / 2
        if holds_by(sign * middle_mm) == holds:
            stands_mm = middle_mm
        else:
            turns_mm = middle_mm
    return -sign * (stands_mm + turns_mm) / 2


def spread_mm(unit: UnitOnField) -> float:
    """A bound on the standard deviation of where any corner of a unit lies, along any line."""
    return unit.spread_mm


def drawn_poses(field: Field, unit: UnitOnField, draws: int = DRAWS) -> Rectangles:
    """Draws of a unit's poses, always the same ones in a field."""
    return sampled(rectangles([unit.unit]), first=_first_draw(field, unit), draws=draws)


def _first_draw(field: Field, unit: UnitOnField) -> int:
    """Which draws are a unit's: no two units of a field share any."""
    places = {each.id: place for place, each in enumerate(field.units)}
    most = max(len(each.bases) for each in field.units)
    return most * places[unit.id]


def drawn_outlines(field: Field, unit: UnitOnField, draws: int = LINE_DRAWS) -> NDArray[np.object_]:
    """A unit's outline for each draw, as `outlines.unit_footprint` makes one."""
    return _outlines(unit.unit.bases, _first_draw(field, unit), draws)


# Whoever meets a unit asks for its outlines again, and so do all tables on which it has not moved.
@lru_cache(maxsize=32)
def _outlines(bases_seen: tuple[BasePose, ...], first: int, draws: int) -> NDArray[np.object_]:
    corners_mm = sampled(rectangles(bases_seen), first=first, draws=draws).corners_mm()
    bases = np.asarray(shapely.polygons(corners_mm)).reshape(draws, -1)
    grown = shapely.buffer(bases, SEAM_MM / 2, join_style="mitre")
    union = shapely.union_all(grown, axis=1, grid_size=GRID_MM)
    found = np.asarray(shapely.buffer(union, -SEAM_MM / 2, join_style="mitre"), dtype=object)
    found.flags.writeable = False
    return found


def axes_of(fronts: Fronts) -> list[Axes]:
    """The axes of many front edges, one by one."""
    headings_deg = np.degrees(np.arctan2(fronts.heading[:, 1], fronts.heading[:, 0]))
    ends = np.concatenate([fronts.left_mm, fronts.right_mm], axis=1).tolist()
    return [
        Axes((left_x, left_y), (right_x, right_y), heading_deg)
        for (left_x, left_y, right_x, right_y), heading_deg in zip(
            ends, headings_deg.tolist(), strict=True
        )
    ]
