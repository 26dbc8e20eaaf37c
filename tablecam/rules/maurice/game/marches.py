"""Usual marches of a unit: straight moves, wheels and changes of formation, if they are legal.

March ends form a continuum, and `apply` judges any of them. The listed ones are built in closed
form, each with an area that contains its whole path. If nothing lies in that area the march is
legal; only the others are judged in full.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.moves import lanes
from tablecam.geometry.moves.poses import Bases, ahead, behind, faced, laid_at, wheeled
from tablecam.geometry.outlines import table_outline
from tablecam.geometry.rectangles import EXACT_MM, rectangles
from tablecam.rules.maurice.field import tables
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.game.actions import March
from tablecam.rules.maurice.movement.formation_changes import formation_changes
from tablecam.rules.maurice.movement.judge import allowance_bw, judge_move
from tablecam.table.formation import column_order
from tablecam.table.headings import difference_deg
from tablecam.uncertainty.contact import TOUCH_MM

_SHORT_OF_MM = 2.0
"""Gap that a listed march leaves to the enemy, as it may not end in contact (M-6.31)."""
_SHRUNK_MM = 0.4 * tables.SLIVER_MM
"""Margin by which paths shrink: anything that intrudes less does not count (G-5)."""
_DEPLOYED_BW = tables.COLUMN_NEAR_BW
"""Length of listed moves after a column deploys, allowed even near the enemy (M-6.2)."""
_GUN_TURN_DEG = 45.0
_LONGEST_WHEEL_DEG = 90.0


@dataclass(frozen=True, slots=True)
class _Candidate:
    """The end poses of a march, and an area that contains its whole path.

    `length_bw` is the march's length and `near_limit_bw` its limit near the enemy. An `is_costly`
    march is listed only if the quick check clears it, as judging columns' and guns' paths in full
    is slow. A `needs_judging` march is always judged.
    """

    bases: Bases
    area: shapely.Geometry
    length_bw: float = 0.0
    near_limit_bw: float = math.inf
    is_costly: bool = False
    needs_judging: bool = False


def usual_marches(
    field: Field, unit: UnitOnField, *, extra_bw: float = 0.0, is_moving_up: bool = False
) -> tuple[March, ...]:
    """Returns the usual marches that are legal; cards add `extra_bw`.

    A unit that `is_moving_up` in a charge goes forward and keeps its formation (M-8.9).
    """
    allowed_bw = allowance_bw(field, unit, extra_bw=extra_bw)
    if unit.has_smoke or not allowed_bw:
        return ()
    candidates = list(_forward_marches(field, unit, allowed_bw))
    if not is_moving_up:
        candidates += _other_marches(field, unit, allowed_bw)
    if not candidates:
        return ()
    judge = partial(judge_move, field, unit, extra_bw=extra_bw, is_moving_up=is_moving_up)
    # Only those that the quick check leaves open are judged, as that is slow.
    return tuple(
        March(unit.id, candidate.bases)
        for candidate, out, clear in zip(
            candidates, *_quick_check(field, unit, candidates), strict=True
        )
        if clear or (not out and judge(candidate.bases).is_legal.answer != "no")
    )


def why_short(field: Field, unit: UnitOnField, *, extra_bw: float = 0.0) -> str:
    """Returns why a unit has no march, or none straight ahead as far as it may go; else empty."""
    if unit.has_smoke:
        return f"{unit.id} has smoke and stays where it is"
    allowed_bw = allowance_bw(field, unit, extra_bw=extra_bw)
    if not allowed_bw:
        return f"{unit.id} may not move"
    straight = _straight(unit, unit.axes.heading_deg, allowed_bw, field.bw_mm)
    if is_partly_in(straight.area, field.ground.barred):
        return f"{unit.id}: {field.ground.barring_words(straight.area)} lies ahead"
    if usual_marches(field, unit, extra_bw=extra_bw):
        return ""
    return judge_move(field, unit, straight.bases, extra_bw=extra_bw).is_legal.because


def _quick_check(
    field: Field, unit: UnitOnField, candidates: list[_Candidate]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Returns which marches not to list, and which are clear of everything that could forbid them.

    A march beyond the limit near the enemy is also clear if no enemy is near.
    """
    paths = np.array([candidate.area for candidate in candidates], dtype=object)
    places = (rectangles(candidate.bases).outlines() for candidate in candidates)
    ends = np.array(list(map(_hull_of, places)), dtype=object)
    # Shrunk shapes rule out certainly illegal marches, full shapes pass certainly legal ones.
    inner_paths = shapely.buffer(paths, -_SHRUNK_MM, join_style="mitre")
    inner_ends = shapely.buffer(ends, -2 * tables.SLIVER_MM, join_style="mitre")
    enemies, friends = (
        np.array([other.outline for other in others], dtype=object)
        for others in (field.enemies_of(unit), field.friends_of(unit))
    )
    play, ground = table_outline(field.position.table), field.ground
    is_out = ~shapely.covers(play, inner_ends) | _meets(inner_ends, friends)
    is_out |= _meets(inner_paths, enemies) | shapely.intersects(inner_paths, ground.barred)
    # A friend in the way may be passed through at a price (M-6.7), so the march must be judged.
    is_clear = ~is_out & shapely.covers(play, paths) & ~_meets(inner_paths, friends)
    # Marches that may cross difficult ground without being judged (M-6.4, M-6.19).
    may_be_rough = [
        candidate.length_bw <= tables.ARTILLERY_SLOW_BW
        if unit.unit.arm == "artillery"
        else candidate.is_costly and not unit.breaks_with(1)
        for candidate in candidates
    ]
    # Difficult ground costs disruption; only a judgement tells whether the unit survives it.
    is_clear &= ~(~np.array(may_be_rough) & shapely.intersects(inner_paths, ground.difficult))
    # Contact across a thin obstacle counts too (M-8.14), hence the wider margin.
    is_clear &= ~_comes_within(paths, enemies, tables.THIN_BW * field.bw_mm + 3 * TOUCH_MM)
    # A column or gun that comes near the enemy on its way is held to the shorter limit (M-6.11,
    # M-6.19).
    is_long = np.array([candidate.length_bw > candidate.near_limit_bw for candidate in candidates])
    is_clear &= ~(is_long & _comes_within(paths, enemies, tables.NEAR_BW * field.bw_mm + TOUCH_MM))
    is_clear &= ~np.array([candidate.needs_judging for candidate in candidates])
    is_costly = np.array([candidate.is_costly for candidate in candidates])
    return is_out | (is_costly & ~is_clear), is_clear


def _meets(areas: NDArray[np.object_], others: NDArray[np.object_]) -> NDArray[np.bool_]:
    return np.asarray(shapely.intersects(areas[:, None], others).any(axis=1))


def _comes_within(
    areas: NDArray[np.object_], others: NDArray[np.object_], limit_mm: float
) -> NDArray[np.bool_]:
    if not len(others):
        return np.zeros(len(areas), dtype=bool)
    return np.asarray(shapely.dwithin(areas[:, None], others, limit_mm).any(axis=1))


def _forward_marches(field: Field, unit: UnitOnField, allowed_bw: float) -> Iterator[_Candidate]:
    """Yields forward moves: straight and wheels; guns in four directions."""
    bw_mm, heading_deg = field.bw_mm, unit.axes.heading_deg
    if unit.formation in ("line", "massed"):
        for length_bw in _lengths_bw(field, unit, allowed_bw):
            yield _straight(unit, heading_deg, length_bw, bw_mm)
        # A wheel of more than a quarter turn is legal but never the usual move.
        quarter_mm = math.radians(_LONGEST_WHEEL_DEG) * lanes.front_width_mm(unit.axes)
        longest_bw = min(allowed_bw, field.in_bw(quarter_mm))
        for corner in lanes.CORNERS:
            for arc_bw in sorted({min(1.0, allowed_bw), longest_bw}):
                yield _wheel(unit, corner, arc_bw * bw_mm)
    elif unit.formation == "column":
        yield from _column_marches(field, unit, allowed_bw)
    elif unit.formation == "artillery":
        for turn_deg in (0.0, 90.0, 180.0, 270.0):
            for length_bw in sorted({min(tables.ARTILLERY_SLOW_BW, allowed_bw), allowed_bw}):
                towards_deg = heading_deg + turn_deg
                yield _snaking(unit, towards_deg, length_bw, bw_mm, tables.ARTILLERY_SLOW_BW)


def _other_marches(field: Field, unit: UnitOnField, allowed_bw: float) -> Iterator[_Candidate]:
    """Yields retrograde moves, about-faces and changes of formation."""
    if unit.formation == "artillery":
        for turn_deg in (-_GUN_TURN_DEG, _GUN_TURN_DEG):
            yield replace(_in_place(unit, faced(unit.unit.bases, turn_deg)), is_costly=True)
        return
    if unit.formation in ("line", "massed"):
        back_deg = unit.axes.heading_deg + 180.0
        yield _straight(unit, back_deg, tables.retrograde_bw(allowed_bw), field.bw_mm)
    yield _in_place(unit, faced(unit.unit.bases, 180.0))
    # A bent column forms up beside its bases, so the closed form may be illegal.
    is_crooked = unit.formation == "column" and not _is_straight(unit)
    for _, bases in formation_changes(unit):
        yield replace(_in_place(unit, bases), needs_judging=is_crooked)
        if unit.formation == "column" and not is_crooked:
            onward = ahead(bases, bases[0].heading_deg, _DEPLOYED_BW * field.bw_mm)
            yield _Candidate(onward, _hull(unit, bases, onward), is_costly=True)


def _is_straight(unit: UnitOnField) -> bool:
    """Whether all bases of a column face alike, each right behind the one before it.

    A measured or bent column forms up slightly beside its bases.
    """
    in_order = [unit.unit.bases[place] for place in column_order(unit.unit.bases)]
    return all(
        abs(difference_deg(rear.heading_deg, front.heading_deg)) < EXACT_MM
        and math.dist(rear.place_mm, behind(front, rear).place_mm) < EXACT_MM
        for front, rear in pairwise(in_order)
    )


def _lengths_bw(field: Field, unit: UnitOnField, allowed_bw: float) -> list[float]:
    """Returns half and all of the allowance, or as far as there is room before the enemy."""
    # Stop short of the enemy: a march may not end in contact (M-6.31).
    others = [*(enemy.outline for enemy in field.enemies_of(unit)), field.ground.barred]
    room_mm = lanes.room_ahead_mm(unit.axes, others, allowed_bw * field.bw_mm + _SHORT_OF_MM)
    room_bw = (room_mm - _SHORT_OF_MM) / field.bw_mm
    lengths_bw = {min(share * allowed_bw, room_bw) for share in (0.5, 1.0)}
    return sorted(length_bw for length_bw in lengths_bw if length_bw > 0.0)


def _straight(unit: UnitOnField, heading_deg: float, length_bw: float, bw_mm: float) -> _Candidate:
    bases = ahead(unit.unit.bases, heading_deg, length_bw * bw_mm)
    return _Candidate(bases, _hull(unit, bases), length_bw)


def _snaking(
    unit: UnitOnField, heading_deg: float, length_bw: float, bw_mm: float, near_limit_bw: float
) -> _Candidate:
    straight = _straight(unit, heading_deg, length_bw, bw_mm)
    return replace(straight, near_limit_bw=near_limit_bw, is_costly=True)


def _column_marches(field: Field, unit: UnitOnField, allowed_bw: float) -> Iterator[_Candidate]:
    """Yields a column's moves ahead; if it is bent, bases follow the leader's track (M-6.10)."""
    lengths_bw = sorted({min(tables.COLUMN_NEAR_BW, allowed_bw), allowed_bw / 2, allowed_bw})
    for length_bw in lengths_bw:
        if _is_straight(unit):
            heading_deg = unit.axes.heading_deg
            yield _snaking(unit, heading_deg, length_bw, field.bw_mm, tables.COLUMN_NEAR_BW)
        elif bases := _in_its_track(unit, length_bw * field.bw_mm):
            yield replace(_in_place(unit, bases), needs_judging=True)


def _in_its_track(unit: UnitOnField, length_mm: float) -> Bases:
    """Returns column poses a whole number of base depths farther on; empty if none fit."""
    order = column_order(unit.unit.bases)
    in_order = [unit.unit.bases[place] for place in order]
    head = in_order[0]
    # EXACT_MM keeps rounding from losing a step when the length is a whole number of depths.
    steps = math.floor(length_mm / head.depth_mm + EXACT_MM)
    if not steps:
        return ()
    ahead_bases = [
        ahead((head,), head.heading_deg, step * head.depth_mm)[0] for step in range(steps, 0, -1)
    ]
    pose_of = dict(zip(order, [*ahead_bases, *in_order], strict=False))
    return laid_at(unit.unit.bases, [pose_of[place] for place in range(len(order))])


def _wheel(unit: UnitOnField, corner: lanes.Corner, arc_mm: float) -> _Candidate:
    about_mm, angle_deg = (
        lanes.pivot_mm(unit.axes, corner),
        lanes.turned_deg(unit.axes, corner, arc_mm),
    )
    # The hull of the swept parts contains every corner's arc.
    area = _hull_of(lanes.wheel_parts(unit.bases, about_mm, angle_deg))
    return _Candidate(wheeled(unit.unit.bases, about_mm, angle_deg), area)


def _in_place(unit: UnitOnField, bases: Bases) -> _Candidate:
    return _Candidate(bases, _hull(unit, bases))


def _hull(unit: UnitOnField, *placed: Bases) -> shapely.Geometry:
    """Returns the hull of a unit and some new places: it contains straight moves."""
    ends = chain.from_iterable(rectangles(bases).outlines() for bases in placed)
    return _hull_of([unit.outline, *ends])


def _hull_of(shapes: Iterable[shapely.Geometry]) -> shapely.Geometry:
    return shapely.convex_hull(shapely.GeometryCollection(list(shapes)))
