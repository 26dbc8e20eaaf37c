"""What a base that shoots may be faced with: whom crests may hide, which wall may be its own.

Both hang on lengths that errors change. All that errors move lies within so much of where it was
measured, and so does every point of a line between two such things. So what is seen past crests
drawn in by as much may be seen, and what is seen past crests let out by as much is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.sight import is_between, is_hidden
from tablecam.rules.maurice.field.chances import SIGMAS, turning_mm
from tablecam.rules.maurice.field.ground import Piece
from tablecam.rules.maurice.fire.bounds import spread_mm
from tablecam.rules.maurice.fire.draws import drawn_corners
from tablecam.rules.maurice.fire.shooter import Other, Shooter
from tablecam.rules.maurice.fire.walls import flush_walls, linear_screens
from tablecam.uncertainty.contact import TOUCH_MM

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_ASIDE = 3.0
"""A line slanted by up to 70 degrees that begins so far behind a front passes it within 3 times
that; zones are turned by 45."""

_SURE = 0.99
"""Draws that move nothing by this share of what turns an outcome leave it as it is."""


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    """A base as it may be: `base` has the walls that are its own then, and all whom it may see.

    Lengths must change by `turns_mm` for it: by nothing for what is measured. `sight_mm` is by how
    much they may worsen before a crest hides each enemy of whom that is in question: negative for
    one that is hidden as measured.
    """

    base: Shooter
    turns_mm: float
    sight_mm: Mapping[Other, float]

    def seen(self, others: tuple[Other, ...], by_mm: float) -> tuple[Other, ...]:
        """Those of others whom no crest hides, were lengths by so much kinder."""
        return tuple(each for each in others if self.sight_mm.get(each, np.inf) + by_mm >= 0.0)


def outlooks(base: Shooter, tolerance_mm: float) -> tuple[Outlook, ...]:
    """What a base may be faced with: first what it is as measured."""
    sight_mm = _sights_mm(base, tolerance_mm)
    others = base.others + tuple(each for each in base.hidden if each in sight_mm)
    base = replace(base, others=others)
    other_walls, turns_mm = _other_walls(base, tolerance_mm)
    found = (Outlook(base, 0.0, sight_mm),)
    if other_walls is None:
        return found
    return (*found, Outlook(base.behind(other_walls), turns_mm, sight_mm))


def hidden_draws(outlook: Outlook, other: Other, draws: int) -> Flags:
    """In which draws (d,) a crest hides an enemy from a base."""
    turns_mm = outlook.sight_mm.get(other, np.inf)
    found = np.full(draws, turns_mm < 0.0)
    if not np.isfinite(turns_mm):
        return found
    base = outlook.base
    places_mm = drawn_corners([base, other], draws)
    measured_mm = np.stack([base.corners_mm, other.corners_mm])
    for at in moved_draws(places_mm, measured_mm, turns_mm):
        edge, outline = shapely.LineString(places_mm[at, 0, :2]), shapely.Polygon(places_mm[at, 1])
        found[at] = is_hidden(edge, outline, base.ground.crests)
    return found


def walled_draws(outlook: Outlook, measured: Outlook, draws: int) -> Flags:
    """In which draws (d,) a base has the walls of an outlook, and not those that are measured."""
    base = measured.base
    found = np.zeros(draws, dtype=bool)
    places_mm = drawn_corners([base], draws)
    walls = _walls_within(base, SIGMAS * spread_mm(base.pose))
    for at in moved_draws(places_mm, base.corners_mm[None], outlook.turns_mm):
        found[at] = flush_walls(places_mm[at, 0], walls) == outlook.base.own_walls
    return found


def moved_draws(places_mm: Array, measured_mm: Array, turns_mm: float) -> list[int]:
    """The draws in which some corner of bases (d, n, 4, 2) has moved so far as to turn something.

    Corners move the farthest of all points of a base.
    """
    moved_mm = np.hypot(*np.moveaxis(places_mm - measured_mm, -1, 0)).max(axis=(1, 2))
    return [*np.flatnonzero(moved_mm >= _SURE * abs(turns_mm)).tolist()]


def _sights_mm(base: Shooter, tolerance_mm: float) -> Mapping[Other, float]:
    """By how much lengths may worsen before a crest hides each enemy of whom it is in question."""
    crests = base.ground.crests
    if shapely.is_empty(crests):
        return {}
    edge, enemies = base.edge_less(0.0), [o for o in (*base.others, *base.hidden) if o.is_enemy]
    spreads = [max(spread_mm(base.pose), spread_mm(other.pose)) for other in enemies]
    slacks = [max(SIGMAS * spread, tolerance_mm) for spread in spreads]
    sights = [(edge, other.outline) for other in enemies]
    is_near = is_between(sights, crests, max(slacks, default=0.0)).tolist()
    found = {}
    for other, slack, may in zip(enemies, slacks, is_near, strict=True):
        turns_mm = turning_mm(partial(_may_see, base, other), slack) if may else None
        if turns_mm is not None:
            found[other] = turns_mm
    return found


def _may_see(base: Shooter, other: Other, by_mm: float) -> bool:
    """Whether a base sees another past crests, were all lengths by so much kinder to it."""
    crests, edge = base.ground.crests, base.edge_less(0.0)
    drawn_in = shapely.buffer(crests, -by_mm, join_style="mitre")
    if is_hidden(edge, other.outline, drawn_in):
        return False
    wider = base.edge_less(-_ASIDE * by_mm)
    if by_mm <= 0.0 or shapely.dwithin(crests, wider, _ASIDE * by_mm):
        return True
    # A thin crest drawn in is none at all. So it must be seen past the crest as it is, too, from
    # wherever lines to it may come from: no farther aside than they are slanted.
    larger = shapely.buffer(other.outline, by_mm, join_style="mitre")
    return not is_hidden(wider, larger, crests)


def _other_walls(base: Shooter, tolerance_mm: float) -> tuple[tuple[Piece, ...] | None, float]:
    """The walls that may be a base's own and are not, or the other way; None where that is sure.

    And by how much lengths must change for it.
    """
    slack = max(SIGMAS * spread_mm(base.pose), tolerance_mm)
    walls = _walls_within(base, slack)
    may, must = (flush_walls(base.corners_mm, walls, by_mm) for by_mm in (slack, -slack))
    if may == must:
        return None, 0.0
    others = must if base.own_walls == may else may

    def holds_by(by_mm: float) -> bool:
        return flush_walls(base.corners_mm, walls, by_mm) == may

    turns_mm = turning_mm(holds_by, slack)
    return others, 0.0 if turns_mm is None else abs(turns_mm)


def _walls_within(base: Shooter, slack_mm: float) -> list[Piece]:
    """The walls that may lie along the front of a base."""
    edge = base.edge_less(0.0)
    return [
        wall
        for wall in linear_screens(base.ground)
        if shapely.dwithin(edge, wall.outline, TOUCH_MM + EXACT_MM + slack_mm)
    ]
