"""Cover in combat (M-8.14): whether covering terrain lies between a whole attack and its target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.moves.lanes import all_ahead
from tablecam.geometry.outlines import GRID_MM, Axes, common_area
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import shapes_of
from tablecam.geometry.sight import eroded_by_hair, free_lines
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.rules.maurice.field.worlds import drawn_unit
from tablecam.rules.memo import Memo
from tablecam.uncertainty.answer import Answer, certain
from tablecam.uncertainty.margins import SIGMAS, Chance, Flags, chance_of

RULE = "M-8.14"

Shapes = NDArray[np.object_]


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
    targets = _targets([attacker.axes], [defender.outline])
    (line,) = _open_lines(field.ground.cover, [attacker.axes], targets)
    if line is not None:
        because = f"a straight line from {attacker.id}'s front to {defender.id} avoids all cover"
        evidence = shapes_of(line, "open-line", f"{defender.id} is open to {attacker.id}")
    else:
        because = f"cover lies across every line of {attacker.id}'s attack on {defender.id}"
        if shapely.is_empty(targets[0]):
            because = f"{defender.id} lies behind {attacker.id}'s front line"
        between = shapely.convex_hull(shapely.union(attacker.axes.edge, targets[0]))
        covering = shapely.intersection(field.ground.cover, between, grid_size=GRID_MM)
        evidence = shapes_of(covering, "cover", "cover")
    if word == "too_close":
        question = f"whether {defender.id} has cover from {attacker.id} is too close to call"
        because = f"{question}, by {abs(chance.margin_mm):.1f} mm: {because}"
    confidence = (chance.margin_mm, chance.sigma_mm, chance.probability)
    return Answer(word, *confidence, RULE, because, evidence)


def close_call_covers(field: Field, pairs: Iterable[tuple[str, str]]) -> tuple[Answer, ...]:
    """Returns the answers about attacker-defender pairs that are too close to call."""
    answers = (cover_answer(field, field.by_id[a_id], field.by_id[b_id]) for a_id, b_id in pairs)
    return tuple(answer for answer in answers if answer.answer == "too_close")


def _chance(field: Field, attacker: UnitOnField, defender: UnitOnField) -> Chance:
    """Returns the probability of cover, and how much the cover must grow or shrink to turn it."""
    both_mm = attacker.sigma_bound_mm, defender.sigma_bound_mm
    max_shift_mm = max(SIGMAS * sum(both_mm), field.position.table.tolerance_mm)
    place = shapely.convex_hull(shapely.union(attacker.outline, defender.outline))
    # Only cover near the two units counts; a small piece makes the draws cheap.
    around = shapely.envelope(shapely.buffer(place, 2 * max_shift_mm + 1.0))
    cover = common_area(field.ground.cover, around)

    def is_covered_by(shift_mm: float) -> bool:
        grown = shapely.buffer(cover, shift_mm, join_style="mitre") if shift_mm else cover
        return _is_covered(grown, attacker.axes, defender.outline)

    def drawn() -> Flags:
        fronts = [unit.axes for unit in drawn_unit(attacker)]
        return _are_covered(cover, fronts, [unit.outline for unit in drawn_unit(defender)])

    return chance_of(is_covered_by, max_shift_mm, float(np.hypot(*both_mm)), drawn)


def _is_covered(cover: shapely.Geometry, front: Axes, outline: shapely.Geometry) -> bool:
    return bool(_are_covered(cover, [front], [outline])[0])


def _are_covered(
    cover: shapely.Geometry, fronts: Sequence[Axes], outlines: Sequence[shapely.Geometry]
) -> Flags:
    """Returns whether each of k fronts finds its defender in cover: (k,)."""
    targets = _targets(fronts, outlines)
    # A target wholly behind the front line is not attacked through anything.
    is_closed = shapely.is_missing(_open_lines(cover, fronts, targets))
    return np.asarray(is_closed & ~shapely.is_empty(targets))


def _targets(fronts: Sequence[Axes], outlines: Sequence[shapely.Geometry]) -> Shapes:
    """Returns the parts (k,) of defenders ahead of front lines, less a sliver around."""
    ahead = np.array(outlines, dtype=object)
    for at, front in enumerate(fronts):
        if front.ahead_mm(shapely.get_coordinates(ahead[at])).min(initial=0.0) < 0.0:
            area = all_ahead(front, shapely.hausdorff_distance(front.edge, ahead[at]))
            ahead[at] = shapely.intersection(ahead[at], area, grid_size=GRID_MM)
    # Without the sliver, lines between touching units have no length; with it a defender that
    # touches at the edge of its wood has cover.
    return np.asarray(shapely.buffer(ahead, -SLIVER_MM, join_style="mitre"))


def _open_lines(cover: shapely.Geometry, fronts: Sequence[Axes], targets: Shapes) -> Shapes:
    """Returns straight lines from front edges to targets past all cover, (k,), or None.

    A line that begins or ends inside cover does not avoid it, so only the uncovered parts count.
    """
    in_the_open = _outside(targets, cover)
    # A front along the edge of a wood is not inside it.
    edges = _outside(np.array([front.edge for front in fronts]), eroded_by_hair(cover))
    parts, owners = shapely.get_parts(edges, return_index=True)
    free = free_lines(parts, in_the_open[owners], [cover] * len(parts))
    lines = np.full(len(fronts), None, dtype=object)
    # Backwards, so that of several parts the first remains.
    is_free = np.flatnonzero(~shapely.is_missing(free))[::-1]
    lines[owners[is_free]] = free[is_free]
    return lines


def _outside(shapes: Shapes, area: shapely.Geometry) -> Shapes:
    outside, meets = shapes.copy(), shapely.intersects(area, shapes)
    outside[meets] = shapely.difference(shapes[meets], area, grid_size=GRID_MM)
    return outside
