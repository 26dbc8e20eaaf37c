"""Judges how far units may move and whether a move from one pose to another was legal (M-6).

An overhead camera sees only where a move began and where it ended. The move is legal if some path
between the two is (M-6.17); the cheapest legal path is shown. Only columns may move after changing
formation, and only cavalry after an about-face; for others that is the whole move (M-6.21 ff.).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

import shapely

from tablecam.errors import BadInput
from tablecam.geometry.moves.paths import faced_about
from tablecam.geometry.moves.poses import Bases, faced, laid
from tablecam.geometry.moves.reach import snaking_reach, wheeling_reach
from tablecam.geometry.outlines import GRID_MM, SEAM_MM, table_outline
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import shapes_of
from tablecam.rules.maurice.field import tables
from tablecam.rules.maurice.field.field import Field, UnitOnField, field_of
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.movement.formation_changes import deployments
from tablecam.rules.maurice.movement.snaking import leading_base, snaking_way
from tablecam.rules.maurice.movement.ways import (
    MoveEnds,
    Way,
    depth_of_ranks_mm,
    illegal_way,
    judged_way,
    wheeled_way,
)
from tablecam.rules.maurice.place.contacts import contacts_of_field
from tablecam.rules.maurice.place.ranges import near_enemy
from tablecam.table.formation import column_order, front_rank
from tablecam.table.headings import difference_deg
from tablecam.table.model import BasePose
from tablecam.table.motion import SLIP_MM
from tablecam.uncertainty.answer import Answer

CONTACT_RULE: Final = "M-6.31"


def illegal_end(after: Field, unit: UnitOnField) -> Way | None:
    """Returns a refusal if a march may not end at the unit's new place, else None.

    It does not refuse a contact that is too close to call.
    """
    off = shapely.difference(unit.outline, table_outline(after.position.table))
    if is_partly_in(unit.outline, off):
        return illegal_way("M-6.32", f"{unit.id} leaves the table", shapes_of(off, "off-table"))
    for friend in after.friends_of(unit):
        if is_partly_in(unit.outline, friend.outline):
            because = f"{unit.id} ends on {friend.id}"
            return illegal_way("M-6.8", because, shapes_of(friend.outline, "barrier"))
    for enemy, contact in _contacts(after, unit):
        if contact.answer == "yes":
            because = f"{unit.id} ends in contact with {enemy.id}, which a march may not do"
            return illegal_way(CONTACT_RULE, because, shapes_of(enemy.outline, "contact"))
    return None


def with_contact_doubt(after: Field, unit: UnitOnField, way: Way) -> Way:
    """Marks a legal move as too close to call if it may end in contact with an enemy (M-6.31)."""
    # A certain contact has been refused already (`illegal_end`).
    close_calls = [pair for pair in _contacts(after, unit) if pair[1].answer != "yes"]
    if way.is_legal.answer == "no" or not close_calls:
        return way
    enemy, contact = max(close_calls, key=lambda pair: pair[1].probability)
    answer = Answer(
        "too_close",
        -contact.margin_mm,
        contact.sigma_mm,
        min(way.is_legal.probability, 1.0 - contact.probability),
        CONTACT_RULE,
        f"whether {unit.id} ends in contact with {enemy.id} is too close to call; a march may not",
        (*way.is_legal.evidence, *contact.evidence),
    )
    return replace(way, is_legal=answer)


def _contacts(after: Field, unit: UnitOnField) -> list[tuple[UnitOnField, Answer]]:
    pairs = (
        (enemy, touching.contact(unit.id, enemy.id))
        for touching in [contacts_of_field(after, {unit.id})]
        for enemy in after.enemies_of(unit)
    )
    return [(enemy, contact.answer) for enemy, contact in pairs if contact is not None]


def allowance_bw(field: Field, unit: UnitOnField, *, extra_bw: float = 0.0) -> float:
    """Returns a unit's movement allowance at its present place, in base widths (M-6.2).

    A column near the enemy has 4 (M-6.11), artillery in difficult ground 2 (M-6.19), a unit with
    smoke 0 (M-4.23). The ground on its path may reduce it further. Cards add `extra_bw` to the
    allowance of its formation, but do not raise the other limits.
    """
    if unit.has_smoke:
        return 0.0
    formation_bw = tables.ALLOWANCES_BW.get((unit.unit.arm, unit.formation))
    # A broken-up unit has no allowance of its own: it moves as a line.
    if formation_bw is None:
        formation_bw = tables.ALLOWANCES_BW[unit.unit.arm, "line"]
    formation_bw = max(formation_bw + extra_bw, 0.0)
    if unit.unit.arm == "artillery":
        return min(tables.ARTILLERY_SLOW_BW, formation_bw) if unit.is_in_difficult else formation_bw
    if unit.formation == "column" and near_enemy(field, unit).is_near:
        return min(tables.COLUMN_NEAR_BW, formation_bw)
    return formation_bw


def judge_move(
    field: Field,
    unit: UnitOnField,
    new_bases: Sequence[BasePose],
    *,
    extra_bw: float = 0.0,
    is_moving_up: bool = False,
) -> Way:
    """Judges whether a unit may march to its bases' new poses (M-6.17).

    Lines and massed units wheel and go straight, forward or backward; columns and artillery snake.
    A unit that `is_moving_up` in a charge may neither about-face nor go backward (M-8.9). All other
    units are assumed not to have moved. Cards add `extra_bw`.
    """
    allowed_bw = allowance_bw(field, unit, extra_bw=extra_bw)
    try:
        after = placed(field, unit, tuple(new_bases))
    except BadInput as error:
        return replace(illegal_way("M-6.8", str(error)), allowance_bw=allowed_bw)
    goal = after.by_id[unit.id]
    if unit.has_smoke:
        way = illegal_way("M-4.23", f"{unit.id} has smoke")
    else:
        # The end is checked first, as finding a way is far slower.
        ends = MoveEnds(field, unit, after, goal, allowed_bw)
        way = illegal_end(after, goal) or _best_way(ends, is_moving_up=is_moving_up)
        way = with_contact_doubt(after, goal, way)
    return replace(way, allowance_bw=min(allowed_bw, way.allowance_bw))


def _best_way(ends: MoveEnds, *, is_moving_up: bool) -> Way:
    if ends.unit.formation != ends.goal.formation:
        return _changed_way(ends)
    # Nobody about-faces in a charge (M-8.9).
    faced = None if is_moving_up else _about_face(ends)
    return faced or _moved_way(ends, is_forward=is_moving_up)


ABOUT_RULE: Final = "M-6.26"
_PLACE_MM = 5 * SLIP_MM
"""How far a base turned on the spot may slip: more than others, as it is lifted to turn."""
_ALIKE = 0.1
"""Tolerance for equal poses in mm and degrees: a tenth of `SLIP_MM`, for measured bases."""
_TURN_DEG = 10.0
"""The tolerance for the heading of a base turned on the spot, as in a formation (M-1.7)."""


def placed(field: Field, unit: UnitOnField, bases: Bases) -> Field:
    """Returns the field with a unit's bases at new poses and its formation read from them.

    Raises:
        BadInput: The poses are impossible: off the table or on top of other bases.
    """
    moved = laid(unit.unit, bases)
    units = tuple(moved if other.id == unit.id else other for other in field.position.units)
    after = field_of(replace(field.position, units=units), "the move")
    # Rough Going may have closed the field's ground.
    return replace(after, ground=field.ground)


def _changed_way(ends: MoveEnds) -> Way:
    """Judges a change of formation, for columns with a move after it (M-6.21 to M-6.24)."""
    unit, goal = ends.unit, ends.goal
    change = f"{unit.id} changed from {unit.formation} to {goal.formation}"
    is_massed_foot = unit.unit.arm == "infantry" and goal.formation == "massed"
    if goal.formation == "broken-up" or is_massed_foot:
        return illegal_way("M-1.7", f"{change}: its bases may not be placed like this")
    if unit.formation == "column":
        return _deployed_way(ends)
    quarter_turn = "column" in (unit.formation, goal.formation) and unit.formation == "line"
    # In a quarter turn one base keeps its place (M-6.23), in any other change two do (M-6.24).
    turned_deg, least = (90.0, 1) if quarter_turn else (0.0, 2)
    in_place = _unmoved(unit, goal.unit.bases, turned_deg)
    rule = "M-6.23" if quarter_turn else "M-6.24"
    if in_place < least:
        because = f"{change}: {in_place} of its bases kept their place, expected at least {least}"
        return illegal_way(rule, because)
    if rule == "M-6.24" and goal.formation != "line" and not _has_front_in_place(unit, goal):
        because = f"{change}: the other bases must go behind the two that keep their place"
        return illegal_way(rule, because)
    return _in_place(ends, ends.allowed_bw, rule)


def _deployed_way(ends: MoveEnds) -> Way:
    """Judges a column that deploys at no cost and then moves in its new formation.

    It keeps a column's allowance, with the limit near the enemy (M-6.2, M-6.11).
    """
    field, unit, goal = ends.field, ends.unit, ends.goal
    # A column's limit near the enemy still applies in the new formation (M-6.11).
    if near_enemy(ends.after, goal).is_near:
        ends = replace(ends, allowed_bw=min(ends.allowed_bw, tables.COLUMN_NEAR_BW))

    def ways_from(places: Iterable[Bases]) -> Iterator[Way]:
        for bases in places:
            # Another deployment may have room.
            with suppress(BadInput):
                start = placed(field, unit, bases).by_id[unit.id]
                if start.formation == goal.formation:
                    way = wheeled_way(replace(ends, unit=start), near_bw=tables.COLUMN_NEAR_BW)
                    yield _with_change(field, unit, start, way)

    places: list[Bases] = []
    for poses in deployments(unit):
        # Many deployments of a straight column of square bases are the same.
        if not any(_is_same(poses, other) for other in places):
            places.append(poses)
    # Try the deployment without a move first: it is the most common, and no way is cheaper.
    for way in ways_from(poses for poses in places if _is_same(poses, goal.unit.bases, EXACT_MM)):
        if way.is_legal.answer != "no" and way.cost_bw * field.bw_mm <= EXACT_MM:
            return way
    ways = ways_from(places)
    no_room = f"{unit.id} changed from {unit.formation} to {goal.formation}: no room for it"
    return min(
        ways,
        key=lambda way: (way.is_legal.answer == "no", way.cost_bw),
        default=illegal_way("M-6.22", no_room),
    )


def _with_change(field: Field, unit: UnitOnField, start: UnitOnField, way: Way) -> Way:
    """Adds the disruption if the change crosses difficult ground and the way does not (M-6.25)."""
    if way.is_legal.answer == "no" or way.is_rough or not _crosses_rough(field, unit, start):
        return way
    if unit.breaks_with(way.disruptions + 1):
        because = f"{unit.id} has {unit.disruption} disruptions and the change would break it"
        return illegal_way("M-6.25", because, way.path)
    return replace(way, disruptions=way.disruptions + 1, is_rough=True)


def _crosses_rough(field: Field, unit: UnitOnField, goal: UnitOnField) -> bool:
    """Returns whether bases enter or leave difficult ground in a change on the spot (M-6.25).

    Bases that stay do not count. No friend is passed through: bases go through their own unit,
    whose old and new places adjoin.
    """
    # Difficult ground slows guns but does not disrupt them (M-6.5).
    if unit.unit.arm == "artillery":
        return False
    # Which base went where is unknown, so the moved bases in each piece are counted.
    before = _not_among(unit, goal)
    after = _not_among(goal, unit)
    return any(
        sum(is_partly_in(base, piece) for base in before)
        != sum(is_partly_in(base, piece) for base in after)
        for piece in shapely.get_parts(field.ground.difficult)
    )


def _not_among(unit: UnitOnField, other: UnitOnField) -> list[shapely.Polygon]:
    """Returns the outlines of a unit's bases that coincide with no base of the other's."""
    return [
        outline
        for base, outline in zip(unit.unit.bases, unit.bases, strict=True)
        if not any(_coincides(base, other_base) for other_base in other.unit.bases)
    ]


def _coincides(one: BasePose, other: BasePose) -> bool:
    """Returns whether two bases cover the same ground within a hand's slip, turned or not."""
    turns_deg = [0.0, 180.0]
    # A square base covers the same ground after a quarter turn.
    if abs(one.width_mm - one.depth_mm) <= SLIP_MM:
        turns_deg.append(90.0)
    return any(_is_turned(one, other, turn_deg) for turn_deg in turns_deg)


def is_faced_about(unit: UnitOnField, goal: UnitOnField) -> bool:
    """Returns whether a unit in the same formation faces the opposite way."""
    return is_turned_back(unit, goal, 180.0 - _TURN_DEG)


def is_turned_back(unit: UnitOnField, goal: UnitOnField, more_than_deg: float = 90.0) -> bool:
    """Returns whether a unit in the same formation turned by more than an angle."""
    turned_deg = difference_deg(goal.axes.heading_deg, unit.axes.heading_deg)
    return unit.formation == goal.formation and abs(turned_deg) > more_than_deg


def _about_face(ends: MoveEnds) -> Way | None:
    """Judges an about-face, for cavalry with a move after it; None if it was none (M-6.26).

    A way without an about-face is preferred if it costs no more. Cavalry that faces forward again
    after an about-face and a turn is considered only if no other way is legal.
    """
    unit, goal = ends.unit, ends.goal
    if unit.unit.arm == "artillery":
        return None
    if is_faced_about(unit, goal) and _unmoved(unit, goal.unit.bases, 180.0) == len(unit.bases):
        return replace(_in_place(ends, 0.0, ABOUT_RULE), is_after_about_face=True)
    is_column_about = unit.formation == goal.formation == "column" and (
        column_order(goal.unit.bases) == column_order(unit.unit.bases)[::-1]
    )
    # Only cavalry may move after an about-face.
    if unit.unit.arm != "cavalry":
        because = f"{unit.id} about-faced and moved: infantry may do only one of the two"
        return illegal_way(ABOUT_RULE, because) if is_column_about else None
    # Its last base now leads, which snaking cannot achieve.
    if is_column_about:
        return _faced_way(ends)
    moved = _moved_way(ends)
    is_legal, is_turned = moved.is_legal.answer != "no", is_turned_back(unit, goal)
    if is_legal and (unit.formation == "column" or not is_turned):
        return moved
    faced = _faced_way(ends)
    if faced.is_legal.answer == "no":
        # If neither is legal, the final facing decides which refusal to report.
        return moved if is_legal or not is_turned else faced
    is_as_cheap = is_legal and faced.cost_bw >= moved.cost_bw - ends.field.in_bw(SLIP_MM)
    return moved if is_as_cheap else faced


def _faced_way(ends: MoveEnds) -> Way:
    """Judges a move after an about-face, which may not end near the enemy (M-6.26)."""
    name, about = ends.unit.id, faced(ends.unit.unit.bases, 180.0)
    start = placed(ends.field, ends.unit, about).by_id[name]
    way = _moved_way(replace(ends, unit=start))
    if way.is_legal.answer != "no" and near_enemy(ends.after, ends.goal).is_near:
        because = f"{name} about-faced and moved, so it may not end near the enemy"
        way = illegal_way(ABOUT_RULE, because, way.path)
    return replace(way, is_after_about_face=True)


def _moved_way(ends: MoveEnds, *, is_forward: bool = False) -> Way:
    """Judges a move in the same formation: columns and artillery snake, the others wheel."""
    if ends.unit.formation in ("column", "artillery"):
        return snaking_way(ends)
    return wheeled_way(ends, is_forward=is_forward)


def _in_place(ends: MoveEnds, cost_bw: float, rule: str) -> Way:
    """Judges a change that is the unit's whole move: it costs the whole allowance."""
    return judged_way(
        ends.field,
        ends.unit,
        shapely.union(ends.unit.outline, ends.goal.outline),
        cost_mm=cost_bw * ends.field.bw_mm,
        allowed_bw=cost_bw,
        sigma_mm=0.0,
        path=(),
        rule=rule,
        is_rough=_crosses_rough(ends.field, ends.unit, ends.goal),
    )


def _unmoved(unit: UnitOnField, bases: Iterable[BasePose], turned_deg: float) -> int:
    """Counts the bases in an old place, turned by this angle to either side."""
    return sum(
        any(_is_turned(before, after, turned_deg) for before in unit.unit.bases) for after in bases
    )


def _has_front_in_place(unit: UnitOnField, goal: UnitOnField) -> bool:
    """Returns whether the front two bases stayed, so that the others went behind them (M-6.24)."""
    front = (
        column_order(goal.unit.bases)[:2] if goal.formation == "column" else front_rank(goal.unit)
    )
    bases = [goal.unit.bases[place] for place in front]
    return _unmoved(unit, bases, 0.0) == len(bases)


def _is_turned(before: BasePose, after: BasePose, turned_deg: float) -> bool:
    moved_mm = math.dist(after.place_mm, before.place_mm)
    by_deg = abs(difference_deg(after.heading_deg, before.heading_deg))
    return moved_mm <= _PLACE_MM and abs(by_deg - turned_deg) <= _TURN_DEG


def _is_same(poses: Bases, others: Bases, by: float = _ALIKE) -> bool:
    """Returns whether two sets of poses are equal within `by`, in any order of bases."""
    return all(
        any(
            math.dist(pose.place_mm, other.place_mm) <= by
            and abs(difference_deg(pose.heading_deg, other.heading_deg)) <= by
            for other in others
        )
        for pose in poses
    )


_OFF_TABLE_MM = 1e3


def reach(field: Field, unit: UnitOnField) -> shapely.Geometry:
    """Returns all ground that a unit may cover during a march, its own place included.

    Enemies, impassable ground and the table's edge limit it; friends do not, as they can often be
    passed through. It is an approximation for drawing: `judge_move` decides.
    """
    allowed_bw = allowance_bw(field, unit)
    if allowed_bw <= 0:
        return unit.outline
    if unit.unit.arm == "artillery" or unit.formation == "column":
        area = _snaking(field, unit, allowed_bw)
    else:
        area = _wheeling(field, unit, allowed_bw)
    return shapely.union_all([area, unit.outline], grid_size=GRID_MM)


def _wheeling(field: Field, unit: UnitOnField, allowed_bw: float) -> shapely.Geometry:
    """Returns the reach by wheels: the whole allowance forward, half of it backward (M-6.13)."""
    table = table_outline(field.position.table)
    surroundings = shapely.buffer(table, _OFF_TABLE_MM, join_style="mitre")
    # Everything beyond the table's edge is barred too (M-6.32).
    barred = shapely.union_all([*_barriers(field, unit), shapely.difference(surroundings, table)])
    limit_mm = allowed_bw * field.bw_mm
    shapes = _convex_shapes(unit)
    ahead = wheeling_reach(unit.axes, shapes, limit_mm, barred=barred, sliver_mm=tables.SLIVER_MM)
    back = wheeling_reach(
        faced_about(unit.axes, depth_of_ranks_mm(unit)),
        shapes,
        tables.retrograde_bw(allowed_bw) * field.bw_mm,
        barred=barred,
        sliver_mm=tables.SLIVER_MM,
    )
    return shapely.union_all([ahead, back], grid_size=GRID_MM)


def _convex_shapes(unit: UnitOnField) -> tuple[shapely.Polygon, ...]:
    """Returns the convex hull of a unit if its outline is nearly convex, else its bases."""
    hull = shapely.convex_hull(unit.outline)
    if not isinstance(hull, shapely.Polygon):
        return unit.bases
    return (hull,) if shapely.hausdorff_distance(hull, unit.outline) <= SEAM_MM else unit.bases


def _snaking(field: Field, unit: UnitOnField, allowed_bw: float) -> shapely.Geometry:
    """Returns the reach of a column or gun: the slow allowance anywhere, more where allowed."""
    is_artillery = unit.unit.arm == "artillery"
    slow_bw = tables.ARTILLERY_SLOW_BW if is_artillery else tables.COLUMN_NEAR_BW
    areas = [_corridors(field, unit, min(slow_bw, allowed_bw), [])]
    near_areas = shapely.buffer(
        [enemy.outline for enemy in field.enemies_of(unit)],
        tables.NEAR_BW * field.bw_mm,
        quad_segs=16,
    )
    if is_artillery and allowed_bw > slow_bw:
        far = _corridors(field, unit, allowed_bw, [field.ground.difficult])
        # It may pass near enemies, but not end there (M-6.19).
        areas.append(shapely.difference(far, shapely.union_all(near_areas), grid_size=GRID_MM))
    elif allowed_bw > slow_bw and not near_enemy(field, unit).is_near:
        areas.append(_corridors(field, unit, allowed_bw, list(near_areas)))
    return shapely.union_all(areas, grid_size=GRID_MM)


def _corridors(
    field: Field, unit: UnitOnField, limit_bw: float, avoided: list[shapely.Geometry]
) -> shapely.Geometry:
    base = leading_base(unit)
    return snaking_reach(
        base.place_mm,
        limit_bw * field.bw_mm,
        # A sliver on either side is no obstacle (G-5).
        width_mm=min(field.bw_mm, base.width_mm, base.depth_mm) - 2 * tables.SLIVER_MM,
        around=[*_barriers(field, unit), *avoided],
        inside=table_outline(field.position.table),
    )


def _barriers(field: Field, unit: UnitOnField) -> list[shapely.Geometry]:
    enemies = [enemy.outline for enemy in field.enemies_of(unit)]
    return [*enemies, field.ground.barred]
