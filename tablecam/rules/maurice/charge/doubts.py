"""How likely a unit can charge an enemy where the camera's error could change it (M-8.3)."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain
from types import MappingProxyType

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.outlines import FIT_LIMIT_DEG, SEAM_MM, Axes, unit_footprints
from tablecam.geometry.rectangles import Rectangles, rectangles
from tablecam.geometry.shapes import Shape
from tablecam.rules.maurice.charge.limits import Sees, reached
from tablecam.rules.maurice.charge.moves import Move
from tablecam.rules.maurice.charge.reach import allowance_mm, far_mm
from tablecam.rules.maurice.charge.sight import is_in_view
from tablecam.rules.maurice.charge.slack import Limits, limits_of, targets_of, within_reach
from tablecam.rules.maurice.field.chances import SIGMAS, is_exact, near_enough
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.front_contact import thin_pieces
from tablecam.rules.maurice.field.tables import CHARGE_WHEEL_BW, THIN_BW
from tablecam.table.formation import front_rank
from tablecam.table.model import BasePose, Unit
from tablecam.uncertainty.answer import CERTAIN, Answer, AnswerWord
from tablecam.uncertainty.contact import TOUCH_MM

Array = NDArray[np.float64]

DRAWS = 200
"""How often all near are drawn anew: a probability of 0.5 is known to 0.035, of 0.95 to 0.015."""

_SEED = 1740


def with_units(field: Field, units: Iterable[UnitOnField]) -> Field:
    """A field with these units alone."""
    there = tuple(units)
    by_id = MappingProxyType({unit.id: unit for unit in there})
    return replace(field, units=there, by_id=by_id)


def drawn_fields(field: Field) -> list[Field]:
    """The field as it may be in truth, drawn from what is known of it; always the same draws.

    Each unit's `unit` is as it was seen; only its axes, outline and bases are drawn. The outline is
    the union of its bases, or the hull of those that as good as fill it: always a valid area, which
    any overlay takes.
    """
    drawn = [_drawn(unit) for unit in field.units]
    return [with_units(field, units) for units in zip(*drawn, strict=True)]


def _drawn(unit: UnitOnField) -> list[UnitOnField]:
    """One unit in each draw."""
    bases = unit.unit.bases
    if not any(base.sigma_mm or base.sigma_deg for base in bases):
        return [unit] * DRAWS
    seen = rectangles([unit.unit])
    moved_mm, turns_rad = seen.errors(_luck(unit.id, len(bases)))
    corners_mm = _corners(seen, moved_mm, turns_rad)
    headings_deg = np.array([base.heading_deg for base in bases]) + np.degrees(turns_rad)
    polygons = np.asarray(shapely.polygons(corners_mm), dtype=object)
    each = [tuple(row) for row in polygons.tolist()]
    outlines = _outlines(unit, polygons)
    return [
        replace(unit, axes=front, outline=outline, bases=of_it)
        for front, outline, of_it in zip(
            _fronts(unit.unit, corners_mm, headings_deg), outlines, each, strict=True
        )
    ]


def _outlines(unit: UnitOnField, bases: NDArray[np.object_]) -> list[shapely.Geometry]:
    hull = shapely.convex_hull(unit.outline)
    if shapely.hausdorff_distance(hull, unit.outline) <= SEAM_MM:
        return [*np.asarray(shapely.convex_hull(shapely.multipolygons(bases)), dtype=object)]
    return [*unit_footprints(bases.tolist())]


@cache
def _luck(unit_id: str, bases: int) -> Array:
    """Of each base in each draw, in sigmas (draws, bases, 3), whoever else is there."""
    rng = np.random.default_rng([_SEED, zlib.crc32(unit_id.encode())])
    return rng.standard_normal((DRAWS, bases, 3))


def _corners(seen: Rectangles, moved_mm: Array, turns_rad: Array) -> Array:
    """The corners (draws, bases, 4, 2) of bases moved and turned."""
    offsets = seen.corners_mm() - seen.centres_mm[:, None]
    cos, sin = np.cos(turns_rad)[..., None], np.sin(turns_rad)[..., None]
    x_mm, y_mm = offsets[..., 0], offsets[..., 1]
    turned = np.stack([cos * x_mm - sin * y_mm, sin * x_mm + cos * y_mm], axis=-1)
    return np.asarray(turned + (seen.centres_mm + moved_mm)[:, :, None])


def _fronts(unit: Unit, corners_mm: Array, headings_deg: Array) -> list[Axes]:
    """The axes in each draw, as `axes` has them."""
    rank = list(front_rank(unit))
    fronts_mm = corners_mm[:, rank, :2]
    if len(rank) == 1:
        return _axes(fronts_mm[:, 0], headings_deg[:, rank[0]])
    turns_rad = np.radians(headings_deg)
    ahead = np.stack([np.cos(turns_rad).sum(axis=1), np.sin(turns_rad).sum(axis=1)], axis=1)
    ahead /= np.hypot(*ahead.T)[:, None]
    middle, along = _fitted(fronts_mm.mean(axis=2), ahead)
    reach_mm = ((fronts_mm - middle[:, None, None]) @ along[:, None, :, None])[..., 0]
    reach_mm = reach_mm.reshape(len(along), -1)
    ends_mm = np.stack([reach_mm.min(axis=1), reach_mm.max(axis=1)], axis=1)
    ends_mm = middle[:, None] + along[:, None] * ends_mm[..., None]
    return _axes(ends_mm, np.degrees(np.arctan2(ahead[:, 1], ahead[:, 0])) % 360.0)


def _fitted(points_mm: Array, ahead: Array) -> tuple[Array, Array]:
    """A place on the line through points (draws, n, 2) and its direction, rightward of `ahead`."""
    middle = points_mm.mean(axis=1)
    across = np.stack([ahead[:, 1], -ahead[:, 0]], axis=1)
    along = np.linalg.svd(points_mm - middle[:, None])[2][:, 0]
    along *= np.where((along * across).sum(axis=1) > 0, 1.0, -1.0)[:, None]
    is_askew = (along * across).sum(axis=1) < math.cos(math.radians(FIT_LIMIT_DEG))
    foremost = (points_mm @ ahead[..., None])[..., 0].argmax(axis=1)
    middle[is_askew] = points_mm[np.arange(len(points_mm)), foremost][is_askew]
    along[is_askew] = across[is_askew]
    return middle, along


def _axes(ends_mm: Array, headings_deg: Array) -> list[Axes]:
    """Axes from ends (draws, 2, 2) of fronts, left and right, and headings."""
    return [
        Axes((left[0], left[1]), (right[0], right[1]), heading_deg)
        for (left, right), heading_deg in zip(ends_mm.tolist(), headings_deg.tolist(), strict=True)
    ]


_FRONT_ENDS = 1.6
"""Of a base's own error: the most that a front's end has, where two bases abreast make it."""
_TOGETHER = 50
"""So many draws are looked at together: a quarter of what all of them would fill."""


@dataclass(frozen=True)
class Asked:
    """Whom a unit can charge where that is not sure, worked out when somebody wants to know it.

    Draws cost a hundred times as much as the charges themselves, and most are never looked at.
    """

    together: Together
    unit: UnitOnField

    @cached_property
    def answers(self) -> Mapping[str, Answer]:
        """Of each enemy in question whether the unit can charge it."""
        question = self.together.questions.get(self.unit.id)
        return {} if question is None else question.answers()


@dataclass(frozen=True)
class Together:
    """Units of a field of which it is asked whom they can charge where that is not sure.

    `targets` are those that each, by its id, can charge as all were seen, and by which moves.
    Nobody is in question where all is exact, or where the outcome is the same with every limit let
    out and drawn in by 3.5 sigma (or by the tolerance that the players agreed on): of all units
    that is found at once.
    """

    field: Field
    targets: Mapping[str, Mapping[str, Sequence[Move]]]

    @cached_property
    def questions(self) -> Mapping[str, _Question]:
        """The enemies that are in question to the units, by these units' ids, where any are."""
        if is_exact(self.field):
            return {}
        named = (self.field.by_id[name] for name in self.targets)
        asked = self._open(limits_of([_limited(self.field, unit) for unit in named]))
        must = targets_of([(limits, -limits.most_mm) for limits, _ in asked])
        found = {}
        for (limits, ever), always in zip(asked, must, strict=True):
            listed = self._listed(limits)
            names = (ever | listed) - (always & listed)
            if names:
                found[limits.unit.id] = _Question(limits, listed, names, self._moves(limits))
        return found

    def _open(self, all_limits: Sequence[Limits]) -> list[tuple[Limits, frozenset[str]]]:
        """Units that may, by moves as told, not be sure of all that they may charge; and of whom.

        First all that a unit can come to at all is taken for what it may charge.
        """
        near = within_reach(all_limits)
        asked = [
            (limits, names)
            for limits, names in zip(all_limits, near, strict=True)
            if names or self._listed(limits)
        ]
        moves = [self._moves(limits) for limits, _ in asked]
        sure = targets_of([(limits, -limits.most_mm) for limits, _ in asked], moves)
        left = [
            (limits, always)
            for (limits, names), always in zip(asked, sure, strict=True)
            if not names == always == self._listed(limits)
        ]
        may = targets_of([(limits, limits.most_mm) for limits, _ in left])
        return [
            (limits, ever)
            for (limits, always), ever in zip(left, may, strict=True)
            if not ever == always == self._listed(limits)
        ]

    def _listed(self, limits: Limits) -> frozenset[str]:
        return frozenset(self.targets[limits.unit.id])

    def _moves(self, limits: Limits) -> tuple[Move, ...]:
        return tuple(chain(*self.targets[limits.unit.id].values()))


@dataclass(frozen=True, slots=True)
class _Question:
    """The enemies of whom it is in question whether a unit can charge them.

    `listed` are those that it can charge as all were seen, and `moves` those that reach any.
    """

    limits: Limits
    listed: frozenset[str]
    names: frozenset[str]
    moves: tuple[Move, ...]

    def answers(self) -> Mapping[str, Answer]:
        """Of each of them whether the unit can charge it."""
        field, unit = self.limits.field, self.limits.unit
        enemies = field.enemies_of(unit)
        has_error = any(_error_mm(field, unit, enemy) > 0.0 for enemy in enemies)
        held = (
            self._held() if has_error else {name: float(name in self.listed) for name in self.names}
        )
        margins_mm = self.limits.margins_mm(self.names)
        across_mm = THIN_BW * field.bw_mm + 2 * TOUCH_MM if thin_pieces(field) else 0.0
        reach_mm = (allowance_mm(field, unit) or 0.0) + across_mm
        return {
            enemy.id: _answer(
                field,
                unit,
                enemy,
                margins_mm[enemy.id],
                # No charge is likelier than that its target is in reach.
                min(held[enemy.id], near_enough(unit, enemy, reach_mm)),
            )
            for enemy in enemies
            if enemy.id in self.names
        }

    def _held(self) -> Mapping[str, float]:
        """How likely each of them can be charged, by draws of all near."""
        field, unit = self.limits.field, self.limits.unit
        fields = drawn_fields(field)
        ends_mm, sees = self.limits.arcs_mm(self.names), self._sees()
        held: Counter[str] = Counter()
        for first in range(0, DRAWS, _TOGETHER):
            together = [(each, each.by_id[unit.id]) for each in fields[first : first + _TOGETHER]]
            for names in reached(together, self.names, self.moves, ends_mm, sees):
                held.update(names)
        # As in `samples`: so many draws tell no probability below 1 in so many.
        return {name: (held[name] + 0.5) / (DRAWS + 1.0) for name in self.names}

    def _sees(self) -> Sees:
        """Whether a unit has an enemy in view in a draw: asked there only where errors count."""
        limits = self.limits
        by_mm = (-limits.most_mm, limits.most_mm)

        @cache
        def surely(enemy_id: str) -> bool | None:
            enemy = limits.field.by_id[enemy_id]
            least, most = (is_in_view(limits.field, limits.unit, enemy, slack) for slack in by_mm)
            return least if least == most else None

        def sees(field: Field, unit: UnitOnField, enemy: UnitOnField) -> bool:
            known = surely(enemy.id)
            return is_in_view(field, unit, enemy) if known is None else known

        return sees


def charges_slack_mm(field: Field, unit: UnitOnField) -> float:
    """By how much any limit of a unit's charges can be wrong, whoever on the table it is about."""
    widest_mm = max(each.spread_mm for each in field.units)
    return _slack_mm(field, _error_of_mm(field, unit, widest_mm))


def _limited(field: Field, unit: UnitOnField) -> tuple[Field, UnitOnField, float]:
    """The field with only those units that a unit's charges can have to do with, and the slack."""
    # As far ahead as it can come, were its reach longer by the slack, and aside by as much.
    reach_mm = far_mm(field, unit) + 2 * charges_slack_mm(field, unit)
    near = shapely.dwithin(unit.outline, [other.outline for other in field.units], reach_mm)
    around = with_units(field, [field.units[place] for place in np.flatnonzero(near)])
    errors_mm = (_error_mm(around, unit, enemy) for enemy in around.enemies_of(unit))
    return around, unit, _slack_mm(field, max(errors_mm, default=0.0))


def _slack_mm(field: Field, error_mm: float) -> float:
    return max(SIGMAS * error_mm, field.position.table.tolerance_mm)


def _error_mm(field: Field, unit: UnitOnField, enemy: UnitOnField) -> float:
    """One standard deviation, rather too much, of where an enemy is to a unit that charges."""
    return _error_of_mm(field, unit, max(map(_corner_mm, enemy.unit.bases)))


def _error_of_mm(field: Field, unit: UnitOnField, corner_mm: float) -> float:
    """The same of an enemy of whose corners it is known how unsure they are."""
    bases = unit.unit.bases
    turn_rad = math.radians(math.hypot(*(base.sigma_deg for base in bases)) / len(bases))
    swing_mm = (allowance_mm(field, unit) or 0.0) + CHARGE_WHEEL_BW * field.bw_mm
    front_mm = _FRONT_ENDS * max(base.sigma_mm for base in bases)
    return math.hypot(front_mm, turn_rad * swing_mm, corner_mm)


def _corner_mm(base: BasePose) -> float:
    """One standard deviation of where a base's corner is."""
    half_mm = math.hypot(base.width_mm, base.depth_mm) / 2
    return math.hypot(base.sigma_mm, math.radians(base.sigma_deg) * half_mm)


def _answer(
    field: Field, unit: UnitOnField, enemy: UnitOnField, margin: float, chance: float
) -> Answer:
    is_close = abs(margin) < field.position.table.tolerance_mm
    word: AnswerWord = "yes" if chance >= CERTAIN else "no"
    if is_close or 1.0 - CERTAIN < chance < CERTAIN:
        word = "too_close"
    said = "there are {:.1f} mm to spare" if margin >= 0 else "{:.1f} mm are missing"
    front = shapely.LineString([unit.axes.left_mm, unit.axes.right_mm])
    line = shapely.get_coordinates(shapely.shortest_line(front, enemy.outline)).tolist()
    return Answer(
        word,
        margin,
        _error_mm(field, unit, enemy),
        chance,
        "M-8.3",
        f"whether {unit.id} can charge {enemy.id}: as seen {said.format(abs(margin))}",
        (
            Shape("line", (unit.axes.left_mm, unit.axes.right_mm), "front-edge"),
            Shape("line", tuple((x, y) for x, y in line), "length", f"{unit.id} to {enemy.id}"),
        ),
        enemy.id,
    )
