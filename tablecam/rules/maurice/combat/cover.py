"""Cover in combat: does covering terrain lie between a whole attack and its target (M-8.14)?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import shapely

from tablecam.geometry.fronts import Fronts
from tablecam.geometry.moves.lanes import advanced, all_ahead, front_width_mm
from tablecam.geometry.outlines import GRID_MM, Axes, common_area
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.geometry.sight import free_line, less_a_hair
from tablecam.rules.maurice.field.chances import (
    LINE_DRAWS,
    SIGMAS,
    Chance,
    Flags,
    axes_of,
    chance_of,
    drawn_outlines,
    drawn_poses,
)
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.uncertainty.answer import Answer

RULE = "M-8.14"


def has_cover_from(field: Field, attacker: UnitOnField, defender: UnitOnField) -> bool:
    """Whether a defender has cover from an attacker that it is engaged with (M-8.14).

    Cavalry never has; nor has what lies behind the attacker's front line altogether.
    """
    if defender.unit.arm == "cavalry":
        return False
    return _is_covered(field.ground.cover, attacker.axes, defender.outline)


def cover_answer(field: Field, attacker: UnitOnField, defender: UnitOnField) -> Answer:
    """The same with how sure it is, and its proof."""
    if defender.unit.arm == "cavalry":
        because = f"{defender.id} is cavalry and never has cover in combat"
        return Answer("no", -EXACT_MM, 0.0, 0.0, RULE, because)
    chance = _chance(field, attacker, defender)
    word = chance.word(field.position.table.tolerance_mm)
    line = _open_line(field.ground.cover, attacker.axes, _target(attacker.axes, defender.outline))
    because = f"covering ground lies across every line of {attacker.id}'s attack on {defender.id}"
    if not has_cover_from(field, attacker, defender):
        because = f"a straight line from {attacker.id}'s front to {defender.id} avoids all cover"
        if line is None:
            because = f"{defender.id} lies behind {attacker.id}'s front line"
    if word == "too_close":
        asked = f"whether {defender.id} has cover from {attacker.id} is too close to call"
        because = f"{asked}, by {abs(chance.margin_mm):.1f} mm: {because}"
    evidence = cover_evidence(field, attacker, defender)
    sure = (chance.margin_mm, chance.sigma_mm, chance.probability)
    return Answer(word, *sure, RULE, because, evidence)


class Covers:
    """Who has cover from whom: worked out when it is asked for, and kept."""

    def __init__(
        self, field: Field, known: Mapping[tuple[str, str], Answer] = MappingProxyType({})
    ) -> None:
        self._field = field
        self._known = dict(known)

    def answer(self, attacker_id: str, defender_id: str) -> Answer:
        """Whether a defender has cover from an attacker."""
        pair = attacker_id, defender_id
        if pair not in self._known:
            units = self._field.by_id
            self._known[pair] = cover_answer(self._field, units[attacker_id], units[defender_id])
        return self._known[pair]

    def doubts(self, pairs: Iterable[tuple[str, str]]) -> tuple[Answer, ...]:
        """Of pairs of attacker and defender, the covers that are too close to call."""
        found = (self.answer(*pair) for pair in pairs)
        return tuple(answer for answer in found if answer.answer == "too_close")

    def renewed(self, field: Field, changed: Set[str]) -> Covers:
        """The same on a field where some units have changed: what hangs on no other is kept."""
        known = {pair: said for pair, said in self._known.items() if changed.isdisjoint(pair)}
        return Covers(field, known)


def cover_evidence(field: Field, attacker: UnitOnField, defender: UnitOnField) -> tuple[Shape, ...]:
    """What shows it: the covering terrain in the way, or a line that avoids it."""
    target = _target(attacker.axes, defender.outline)
    line = _open_line(field.ground.cover, attacker.axes, target)
    if line is not None:
        return shapes_of(line, "open-line", f"{defender.id} is open to {attacker.id}")
    between = shapely.convex_hull(shapely.union(_front(attacker.axes), target))
    return shapes_of(
        shapely.intersection(field.ground.cover, between, grid_size=GRID_MM), "cover", "cover"
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Attack:
    """An attack that may meet cover: the ground near it that covers, front edge and defender.

    `half_mm` is half of how wide the defender is where it is narrowest.
    """

    cover: shapely.Geometry
    front: Axes
    outline: shapely.Geometry
    half_mm: float

    def is_covered_by(self, by_mm: float) -> bool:
        """Whether there is cover, were front and defender by so much more in favour of it.

        Both are made less wide, and the front is moved to and fro; or wider, where it is against.
        """
        if not by_mm:
            return _is_covered(self.cover, self.front, self.outline)
        front = _widened(self.front, -by_mm)
        # Of the defender too something is left, however unsure its place is.
        less_mm = min(by_mm, self.half_mm - 2 * SLIVER_MM)
        outline = shapely.buffer(self.outline, -less_mm, join_style="mitre")
        found = (
            _is_covered(self.cover, advanced(front, step_mm), outline)
            for step_mm in (0.0, by_mm, -by_mm)
        )
        return any(found) if by_mm > 0 else all(found)


def _chance(field: Field, attacker: UnitOnField, defender: UnitOnField) -> Chance:
    sigma_mm = float(np.hypot(attacker.spread_mm, defender.spread_mm))
    slack_mm = SIGMAS * (attacker.spread_mm + defender.spread_mm)
    slack_mm = max(slack_mm, field.position.table.tolerance_mm)
    place = shapely.convex_hull(shapely.union(attacker.outline, defender.outline))
    around = shapely.envelope(shapely.buffer(place, 2 * slack_mm + 1.0))
    cover = common_area(field.ground.cover, around)
    if shapely.is_empty(cover):
        return Chance(-slack_mm - EXACT_MM, sigma_mm, 0.0)
    sides_mm = [side for each in defender.unit.bases for side in (each.width_mm, each.depth_mm)]
    attack = _Attack(cover, attacker.axes, defender.outline, min(sides_mm) / 2)
    return chance_of(
        attack.is_covered_by,
        slack_mm,
        sigma_mm,
        beyond_mm=lambda holds: slack_mm + EXACT_MM if holds else -slack_mm - EXACT_MM,
        drawn=lambda: _drawn(field, cover, attacker, defender),
    )


def _drawn(
    field: Field, cover: shapely.Geometry, attacker: UnitOnField, defender: UnitOnField
) -> Flags:
    """For each draw of both units' poses, whether there is cover: (n,)."""
    fronts = axes_of(Fronts.drawn(attacker.unit, drawn_poses(field, attacker, LINE_DRAWS)))
    targets = drawn_outlines(field, defender)
    return np.array([_is_covered(cover, *each) for each in zip(fronts, targets, strict=True)])


def _is_covered(cover: shapely.Geometry, front: Axes, outline: shapely.Geometry) -> bool:
    target = _target(front, outline)
    return not shapely.is_empty(target) and _open_line(cover, front, target) is None


def _widened(front: Axes, by_mm: float) -> Axes:
    """A front edge with both ends moved outward, no nearer to each other than its middle."""
    left, end = np.array(front.left_mm), np.array(front.right_mm)
    width_mm = front_width_mm(front)
    step = (end - left) / width_mm * max(by_mm, -width_mm / 2 + SLIVER_MM)
    (left_x, left_y), (end_x, end_y) = (left - step).tolist(), (end + step).tolist()
    return Axes((left_x, left_y), (end_x, end_y), front.heading_deg)


def _target(front: Axes, outline: shapely.Geometry) -> shapely.Geometry:
    """What of a defender lies ahead of an attacker's front line, less a sliver all around.

    The sliver makes lines to where the two touch a little long, so that the terrain at that place
    decides: what touches at the very edge of a wood in which it stands has cover.
    """
    ahead = outline
    if front.ahead_mm(shapely.get_coordinates(outline)).min(initial=0.0) < 0.0:
        reach_mm = shapely.hausdorff_distance(_front(front), outline)
        ahead = shapely.intersection(outline, all_ahead(front, reach_mm), grid_size=GRID_MM)
    return shapely.buffer(ahead, -SLIVER_MM, join_style="mitre")


def _open_line(
    cover: shapely.Geometry, front: Axes, target: shapely.Geometry
) -> shapely.LineString | None:
    """A straight line from an attacker's front edge to a target that avoids covering terrain.

    A line that begins or ends inside of cover does not avoid it, so only the rest of both is asked.
    """
    in_the_open = _outside(target, cover)
    # What stands along the edge of a wood is not inside of it.
    edge = _outside(_front(front), less_a_hair(cover))
    for part in shapely.get_parts(edge):
        line = free_line(part, in_the_open, cover)
        if line is not None:
            return line
    return None


def _outside(shape: shapely.Geometry, area: shapely.Geometry) -> shapely.Geometry:
    if not shapely.intersects(area, shape):
        return shape
    return shapely.difference(shape, area, grid_size=GRID_MM)


def _front(front: Axes) -> shapely.LineString:
    return shapely.LineString([front.left_mm, front.right_mm])
