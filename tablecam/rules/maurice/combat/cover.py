"""Cover in combat (M-8.14): whether covering terrain lies between a whole attack and its target."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import shapely

from tablecam.geometry.fronts import Fronts
from tablecam.geometry.moves.lanes import advanced, all_ahead, front_width_mm
from tablecam.geometry.outlines import GRID_MM, Axes, common_area
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.geometry.sight import eroded_by_hair, free_line
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.rules.maurice.field.worlds import (
    SIGMAS,
    Chance,
    Flags,
    chance_of,
    drawn_outlines,
)
from tablecam.rules.memo import Memo
from tablecam.uncertainty.answer import Answer, certain
from tablecam.uncertainty.samples import draw_units

RULE = "M-8.14"


def has_cover_from(field: Field, attacker: UnitOnField, defender: UnitOnField) -> bool:
    """Returns whether a defender has cover from an attacker that it is engaged with (M-8.14).

    Cavalry never has cover, nor does a target wholly behind the attacker's front line.
    """
    if defender.unit.arm == "cavalry":
        return False
    return _is_covered(field.ground.cover, attacker.axes, defender.outline)


_REMEMBERED: Memo[Answer] = Memo()


def cover_answer(field: Field, attacker: UnitOnField, defender: UnitOnField) -> Answer:
    """Returns the same with its confidence and evidence, remembered while both lie still."""
    key = (field.position.table, field.ground, attacker.place, defender.place)
    return _REMEMBERED.answer(key, lambda: _cover_answer(field, attacker, defender))


def _cover_answer(field: Field, attacker: UnitOnField, defender: UnitOnField) -> Answer:
    if defender.unit.arm == "cavalry":
        because = f"{defender.id} is cavalry, which never has cover in combat"
        return certain("no", RULE, because, margin_mm=-EXACT_MM)
    chance = _chance(field, attacker, defender)
    word = chance.word(field.position.table.tolerance_mm)
    line = _open_line(field.ground.cover, attacker.axes, _target(attacker.axes, defender.outline))
    because = f"cover lies across every line of {attacker.id}'s attack on {defender.id}"
    if not has_cover_from(field, attacker, defender):
        because = f"a straight line from {attacker.id}'s front to {defender.id} avoids all cover"
        if line is None:
            because = f"{defender.id} lies behind {attacker.id}'s front line"
    if word == "too_close":
        question = f"whether {defender.id} has cover from {attacker.id} is too close to call"
        because = f"{question}, by {abs(chance.margin_mm):.1f} mm: {because}"
    evidence = cover_evidence(field, attacker, defender)
    confidence = (chance.margin_mm, chance.sigma_mm, chance.probability)
    return Answer(word, *confidence, RULE, because, evidence)


def close_call_covers(field: Field, pairs: Iterable[tuple[str, str]]) -> tuple[Answer, ...]:
    """Returns the answers about attacker-defender pairs that are too close to call."""
    answers = (cover_answer(field, field.by_id[a_id], field.by_id[b_id]) for a_id, b_id in pairs)
    return tuple(answer for answer in answers if answer.answer == "too_close")


def cover_evidence(field: Field, attacker: UnitOnField, defender: UnitOnField) -> tuple[Shape, ...]:
    """Returns the covering terrain in the way, or a line that avoids it."""
    target = _target(attacker.axes, defender.outline)
    line = _open_line(field.ground.cover, attacker.axes, target)
    if line is not None:
        return shapes_of(line, "open-line", f"{defender.id} is open to {attacker.id}")
    between = shapely.convex_hull(shapely.union(attacker.axes.edge, target))
    return shapes_of(
        shapely.intersection(field.ground.cover, between, grid_size=GRID_MM), "cover", "cover"
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Attack:
    """An attack that may meet cover: the cover near it, the front edge and the defender.

    `half_mm` is half of the defender's narrowest width.
    """

    cover: shapely.Geometry
    front: Axes
    outline: shapely.Geometry
    half_mm: float

    def is_covered_by(self, shift_mm: float) -> bool:
        """Returns whether there is cover if front and defender shift by `shift_mm` in its favour.

        In favour of cover both shrink and the front moves back and forth; against it both grow.
        """
        if not shift_mm:
            return _is_covered(self.cover, self.front, self.outline)
        front = _widened(self.front, -shift_mm)
        # The defender keeps some area, however large its error, so that there is a target to test.
        less_mm = min(shift_mm, self.half_mm - 2 * SLIVER_MM)
        outline = shapely.buffer(self.outline, -less_mm, join_style="mitre")
        is_covered = (
            _is_covered(self.cover, advanced(front, step_mm), outline)
            for step_mm in (0.0, shift_mm, -shift_mm)
        )
        return any(is_covered) if shift_mm > 0 else all(is_covered)


def _chance(field: Field, attacker: UnitOnField, defender: UnitOnField) -> Chance:
    """Returns the margin and the probability of cover."""
    sigma_mm = float(np.hypot(attacker.sigma_bound_mm, defender.sigma_bound_mm))
    max_shift_mm = SIGMAS * (attacker.sigma_bound_mm + defender.sigma_bound_mm)
    max_shift_mm = max(max_shift_mm, field.position.table.tolerance_mm)
    place = shapely.convex_hull(shapely.union(attacker.outline, defender.outline))
    # Only cover near the two units counts; a small piece makes the draws cheap.
    around = shapely.envelope(shapely.buffer(place, 2 * max_shift_mm + 1.0))
    cover = common_area(field.ground.cover, around)
    if shapely.is_empty(cover):
        return Chance(-max_shift_mm - EXACT_MM, sigma_mm, 0.0)
    sides_mm = [side for base in defender.unit.bases for side in (base.width_mm, base.depth_mm)]
    attack = _Attack(cover, attacker.axes, defender.outline, min(sides_mm) / 2)
    return chance_of(
        attack.is_covered_by,
        max_shift_mm,
        sigma_mm,
        beyond_mm=lambda holds: max_shift_mm + EXACT_MM if holds else -max_shift_mm - EXACT_MM,
        drawn=lambda: _drawn(field, cover, attacker, defender),
    )


def _drawn(
    field: Field, cover: shapely.Geometry, attacker: UnitOnField, defender: UnitOnField
) -> Flags:
    """Returns whether there is cover in each draw of both units' poses: (n,)."""
    fronts = Fronts.drawn(attacker.unit, draw_units([attacker.unit])).to_axes()
    targets = drawn_outlines(defender)
    return np.array(
        [_is_covered(cover, front, target) for front, target in zip(fronts, targets, strict=True)]
    )


def _is_covered(cover: shapely.Geometry, front: Axes, outline: shapely.Geometry) -> bool:
    target = _target(front, outline)
    # A target wholly behind the front line is not attacked through anything.
    return not shapely.is_empty(target) and _open_line(cover, front, target) is None


def _widened(front: Axes, shift_mm: float) -> Axes:
    """Moves both ends of a front edge outward, or inward but not past its middle."""
    left, end = np.array(front.left_mm), np.array(front.right_mm)
    width_mm = front_width_mm(front)
    step = (end - left) / width_mm * max(shift_mm, -width_mm / 2 + SLIVER_MM)
    (left_x, left_y), (end_x, end_y) = (left - step).tolist(), (end + step).tolist()
    return Axes((left_x, left_y), (end_x, end_y), front.heading_deg)


def _target(front: Axes, outline: shapely.Geometry) -> shapely.Geometry:
    """Returns the part of a defender ahead of an attacker's front line, less a sliver around."""
    ahead = outline
    if front.ahead_mm(shapely.get_coordinates(outline)).min(initial=0.0) < 0.0:
        reach_mm = shapely.hausdorff_distance(front.edge, outline)
        ahead = shapely.intersection(outline, all_ahead(front, reach_mm), grid_size=GRID_MM)
    # Without the sliver, lines between touching units have no length; with it a defender that
    # touches at the edge of its wood has cover.
    return shapely.buffer(ahead, -SLIVER_MM, join_style="mitre")


def _open_line(
    cover: shapely.Geometry, front: Axes, target: shapely.Geometry
) -> shapely.LineString | None:
    """Returns a straight line from an attacker's front edge to a target past all cover, or None.

    A line that begins or ends inside cover does not avoid it, so only the uncovered parts count.
    """
    in_the_open = _outside(target, cover)
    # A front along the edge of a wood is not inside it.
    edge = _outside(front.edge, eroded_by_hair(cover))
    for part in shapely.get_parts(edge):
        line = free_line(part, in_the_open, cover)
        if line is not None:
            return line
    return None


def _outside(shape: shapely.Geometry, area: shapely.Geometry) -> shapely.Geometry:
    if not shapely.intersects(area, shape):
        return shape
    return shapely.difference(shape, area, grid_size=GRID_MM)
