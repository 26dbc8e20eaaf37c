"""Scenarios: the different worlds a shooter may face, as errors change crests and own walls.

Whom a crest hides and which wall is a base's own depend on lengths that errors change. Errors move
every point by less than a bound, and so every point of a line between two such points. So whoever
is seen past crests shrunk by that bound may be seen, and whoever is seen past crests grown by it is
seen for certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.sight import is_hidden, may_block
from tablecam.rules.maurice.field.ground import Piece
from tablecam.rules.maurice.field.worlds import SIGMAS, turning_shift_mm
from tablecam.rules.maurice.fire.bounds import spread_mm
from tablecam.rules.maurice.fire.draws import drawn_corners
from tablecam.rules.maurice.fire.own_walls import flush_walls, linear_screens
from tablecam.rules.maurice.fire.shooter import OtherBase, Shooter
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.samples import DRAWS

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_ASIDE = 3.0
"""The sideways reach of a line that starts behind the front, as a multiple of its depth.

Lines slanted by up to 70 degrees stay within 3 times the depth; zones turn by at most 45."""

_SURE = 0.99
"""Draws that move no corner by this share of the deciding shift leave the outcome unchanged."""


@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """A base as it may be: `base` has the own walls of this case and everyone it may see.

    The case needs a shift of lengths by `turns_mm`, 0 for the measured one. `sight_mm` is the shift
    against the base at which a crest hides each uncertain enemy: negative for one that is hidden as
    measured.
    """

    base: Shooter
    turns_mm: float
    sight_mm: Mapping[OtherBase, float]

    def seen(self, others: tuple[OtherBase, ...], shift_mm: float) -> tuple[OtherBase, ...]:
        """Returns those of `others` that no crest hides if lengths shift by `shift_mm`."""
        return tuple(
            other for other in others if self.sight_mm.get(other, np.inf) + shift_mm >= 0.0
        )


def scenarios_of(base: Shooter, tolerance_mm: float) -> tuple[Scenario, ...]:
    """Returns the scenarios of a base, the measured one first."""
    sight_mm = _sights_mm(base, tolerance_mm)
    others = base.others + tuple(other for other in base.hidden if other in sight_mm)
    base = replace(base, others=others)
    other_walls, turns_mm = _other_walls(base, tolerance_mm)
    measured = (Scenario(base, 0.0, sight_mm),)
    if other_walls is None:
        return measured
    return (*measured, Scenario(base.behind(other_walls), turns_mm, sight_mm))


def hidden_draws(scenario: Scenario, other: OtherBase) -> Flags:
    """Returns the draws (d,) in which a crest hides an enemy from a base."""
    turns_mm = scenario.sight_mm.get(other, np.inf)
    is_hidden_in = np.full(DRAWS, turns_mm < 0.0)
    if not np.isfinite(turns_mm):
        return is_hidden_in
    base = scenario.base
    places_mm = drawn_corners([base, other])
    measured_mm = np.stack([base.corners_mm, other.corners_mm])
    for at in moved_draws(places_mm, measured_mm, turns_mm):
        edge, outline = shapely.LineString(places_mm[at, 0, :2]), shapely.Polygon(places_mm[at, 1])
        is_hidden_in[at] = is_hidden(edge, outline, base.ground.crests)
    return is_hidden_in


def walled_draws(scenario: Scenario, measured: Scenario) -> Flags:
    """Returns the draws (d,) in which a base has the own walls of this scenario."""
    base = measured.base
    has_walls = np.zeros(DRAWS, dtype=bool)
    places_mm = drawn_corners([base])
    walls = _walls_within(base, SIGMAS * spread_mm(base.pose))
    for at in moved_draws(places_mm, base.corners_mm[None], scenario.turns_mm):
        has_walls[at] = flush_walls(places_mm[at, 0], walls) == scenario.base.own_walls
    return has_walls


def moved_draws(places_mm: Array, measured_mm: Array, turns_mm: float) -> list[int]:
    """Returns the draws in which some corner of the bases (d, n, 4, 2) moves by about `turns_mm`.

    Corners move farther than any other point of a base.
    """
    moved_mm = np.hypot(*np.moveaxis(places_mm - measured_mm, -1, 0)).max(axis=(1, 2))
    return [*np.flatnonzero(moved_mm >= _SURE * abs(turns_mm)).tolist()]


def _sights_mm(base: Shooter, tolerance_mm: float) -> Mapping[OtherBase, float]:
    """Returns the shift at which a crest hides each enemy, where errors can change that."""
    crests = base.ground.crests
    if shapely.is_empty(crests):
        return {}
    edge, enemies = base.edge_less(0.0), [o for o in (*base.others, *base.hidden) if o.is_enemy]
    spreads = [max(spread_mm(base.pose), spread_mm(other.pose)) for other in enemies]
    max_shifts_mm = [max(SIGMAS * spread, tolerance_mm) for spread in spreads]
    sights = [(edge, other.outline) for other in enemies]
    is_near = may_block(sights, crests, max(max_shifts_mm, default=0.0)).tolist()
    sights_mm = {}
    for other, max_shift_mm, may_differ in zip(enemies, max_shifts_mm, is_near, strict=True):
        turns_mm = (
            turning_shift_mm(partial(_may_see, base, other), max_shift_mm) if may_differ else None
        )
        if turns_mm is not None:
            sights_mm[other] = turns_mm
    return sights_mm


def _may_see(base: Shooter, other: OtherBase, shift_mm: float) -> bool:
    """Returns whether a base sees another past crests if lengths shift by `shift_mm` in favour."""
    crests, edge = base.ground.crests, base.edge_less(0.0)
    drawn_in = shapely.buffer(crests, -shift_mm, join_style="mitre")
    if is_hidden(edge, other.outline, drawn_in):
        return False
    wider = base.edge_less(-_ASIDE * shift_mm)
    if shift_mm <= 0.0 or shapely.dwithin(crests, wider, _ASIDE * shift_mm):
        return True
    # A thin crest vanishes when shrunk. So the other must also be visible past the unchanged
    # crest, from any point that a slanted line may start at.
    larger = shapely.buffer(other.outline, shift_mm, join_style="mitre")
    return not is_hidden(wider, larger, crests)


def _other_walls(base: Shooter, tolerance_mm: float) -> tuple[tuple[Piece, ...] | None, float]:
    """Returns the own walls in the case that was not measured, and the shift that it needs.

    None where no error changes the own walls.
    """
    max_shift_mm = max(SIGMAS * spread_mm(base.pose), tolerance_mm)
    walls = _walls_within(base, max_shift_mm)
    may, must = (
        flush_walls(base.corners_mm, walls, shift_mm) for shift_mm in (max_shift_mm, -max_shift_mm)
    )
    if may == must:
        return None, 0.0
    other_walls = must if base.own_walls == may else may

    def holds_by(shift_mm: float) -> bool:
        return flush_walls(base.corners_mm, walls, shift_mm) == may

    turns_mm = turning_shift_mm(holds_by, max_shift_mm)
    return other_walls, 0.0 if turns_mm is None else abs(turns_mm)


def _walls_within(base: Shooter, max_shift_mm: float) -> list[Piece]:
    """Returns the walls that may lie along the front of a base."""
    edge = base.edge_less(0.0)
    return [
        wall
        for wall in linear_screens(base.ground)
        if shapely.dwithin(edge, wall.outline, TOUCH_MM + EXACT_MM + max_shift_mm)
    ]
