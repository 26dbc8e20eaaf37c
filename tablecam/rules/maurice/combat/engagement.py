"""Engagements (M-8.10 to M-8.12): front contact, and enemies within 1 BW of an attacker's front."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType

import numpy as np
import shapely

from tablecam.geometry.fronts import Fronts
from tablecam.geometry.moves.lanes import lane
from tablecam.geometry.outlines import GRID_MM, Axes
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.geometry.sight import free_lines
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import ENGAGED_BW, SLIVER_MM
from tablecam.rules.maurice.field.worlds import drawn_fields, tilted
from tablecam.rules.maurice.place.contacts import (
    OVERLAP_MM,
    contact_margin_mm,
    contact_margins_mm,
    front_gap_mm,
)
from tablecam.rules.memo import Memo
from tablecam.table.formation import front_rank
from tablecam.uncertainty.answer import Answer, certain
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.margins import SIGMAS, Chance, Flags, bounded_margin_mm
from tablecam.uncertainty.samples import draw_units, probability_of_draws

_GRAZE_MM = 1e-3
"""A line this near to an outline runs along it, not through it; 100 times the grid."""
_STUB = 1e-6
"""The share of a front edge that represents its end."""
_EXTRA_MM = 1e-4
"""Extra length of a strip, so that a unit exactly at its end is inside (G-2)."""

TwoLines = tuple[shapely.LineString, shapely.LineString]
"""Free lines from both front corners of a base to an enemy."""


def lines_to(
    field: Field, attacker: UnitOnField, enemy: UnitOnField
) -> Iterator[tuple[int, TwoLines]]:
    """Yields the attacker's front-rank bases that reach an enemy by two lines (M-8.12)."""
    others = [other.outline for other in field.units if other not in (attacker, enemy)]
    reach_mm = ENGAGED_BW * field.bw_mm
    for index in front_rank(attacker.unit):
        lines = _two_lines(_front_of(attacker.bases[index]), enemy.outline, others, reach_mm)
        if lines is not None:
            yield index, lines


def _front_of(base: shapely.Polygon) -> Axes:
    """Returns the front edge of a base, whose corners run clockwise from the front left."""
    (left_x, left_y), (right_x, right_y) = shapely.get_coordinates(base)[:2].tolist()
    heading_deg = math.degrees(math.atan2(right_x - left_x, left_y - right_y))
    return Axes((left_x, left_y), (right_x, right_y), heading_deg)


@dataclass(frozen=True, eq=False)
class Melee:
    """An attacker and all units on which its engagements may depend."""

    field: Field
    attacker: UnitOnField

    @cached_property
    def max_shift_mm(self) -> float:
        """The largest error of any length in this melee, at least the players' tolerance."""
        widest_mm = max((unit.sigma_bound_mm for unit in self.units_near), default=0.0)
        return self.field.bound_mm(self.attacker.sigma_bound_mm + widest_mm)

    @cached_property
    def enemies(self) -> tuple[UnitOnField, ...]:
        """The enemies that may be in reach."""
        return tuple(unit for unit in self.units_near if unit.side != self.attacker.side)

    @cached_property
    def around(self) -> Field:
        """The field of the attacker and the units near it."""
        return self.field.with_units((self.attacker, *self.units_near))

    @cached_property
    def engagements(self) -> Mapping[str, Engagement]:
        """The engagements as measured, by enemy id; none without front contact (M-8.10)."""
        if not self._has_contact:
            return {}
        engaged = {enemy.id: self._engagement(enemy) for enemy in self.enemies}
        return {name: engagement for name, engagement in engaged.items() if engagement is not None}

    @cached_property
    def answers(self) -> Mapping[str, Answer]:
        """Whether the attacker engages each enemy, by enemy id."""
        return MappingProxyType({enemy.id: self._answer(enemy) for enemy in self.enemies})

    def _answer(self, enemy: UnitOnField) -> Answer:
        fought, chance = self.engagements.get(enemy.id) or self._miss(enemy), self._chance(enemy)
        word, because = chance.word(self.field.tolerance_mm), fought.because
        if word == "too_close":
            because = (
                f"whether {self.attacker.id} engages {enemy.id} is too close to call: {because}"
            )
        confidence = (chance.margin_mm, chance.sigma_mm, chance.probability)
        return Answer(word, *confidence, fought.rule, because, fought.evidence)

    def _chance(self, enemy: UnitOnField) -> Chance:
        sigma_mm = math.hypot(self.attacker.sigma_bound_mm, enemy.sigma_bound_mm)
        # Without any front contact it engages nobody (M-8.10).
        own_mm = max(self.contacts_mm[enemy.id], self._lines_mm[enemy.id])
        margin_mm = min(max(self.contacts_mm.values()), own_mm)
        holds = enemy.id in self.engagements
        if abs(margin_mm) >= self.max_shift_mm:
            return Chance(self._plain_margin_mm(enemy, holds=holds), sigma_mm, float(holds))
        if not sigma_mm:
            return Chance(margin_mm, sigma_mm, float(holds))
        return Chance(margin_mm, sigma_mm, probability_of_draws(self._drawn(enemy)))

    @property
    def _has_contact(self) -> bool:
        return any(margin_mm >= 0 for margin_mm in self.contacts_mm.values())

    def _engagement(self, enemy: UnitOnField) -> Engagement | None:
        """Returns how an enemy is engaged, given front contact with any; None if it is not."""
        attacker, (a_id, b_id) = self.attacker, (self.attacker.id, enemy.id)
        gap_mm, edge = max(front_gap_mm(attacker, enemy) or 0.0, 0.0), attacker.axes.edge
        if self.contacts_mm[b_id] >= 0:
            before = edge.buffer(gap_mm + TOUCH_MM, cap_style="flat")
            touching = shapely.centroid(shapely.intersection(before, enemy.outline))
            shown = shapes_of(edge, "front-edge") + shapes_of(
                touching, "contact", f"touches {b_id}"
            )
            return Engagement(CONTACT_RULE, f"{b_id} touches {a_id}'s front edge", shown)
        for index, lines in lines_to(self.around, attacker, enemy):
            area = lane(_front_of(attacker.bases[index]), ENGAGED_BW * self.field.bw_mm)
            shown = shapes_of(area, "lane", f"{ENGAGED_BW:g} BW")
            shown += tuple(shape for line in lines for shape in shapes_of(line, "line-of-attack"))
            apart = f"{self.field.in_bw(gap_mm):.2f} BW in front of its front edge"
            because = f"{a_id} is in front contact, and {b_id} is open to it, {apart}"
            return Engagement(NEAR_RULE, because, shown)
        return None

    def _miss(self, enemy: UnitOnField) -> Engagement:
        """Returns the reason why an enemy in reach is not engaged."""
        a_id, b_id, shown = self.attacker.id, enemy.id, _apart(self.attacker, enemy)
        by = f"misses {{}} by {abs(self.contacts_mm[b_id]):.1f} mm"
        if not self._has_contact:
            because = f"no enemy touches {a_id}'s front edge; {b_id} {by.format('it')}"
            return Engagement(CONTACT_RULE, because, shown)
        lines = f"two lines do not reach it within {ENGAGED_BW:g} BW"
        edge = f"{a_id}'s front edge"
        return Engagement(NEAR_RULE, f"{b_id} {by.format(edge)}, and {lines}", shown)

    @cached_property
    def units_near(self) -> tuple[UnitOnField, ...]:
        """The units that may be engaged or hide others: all within 1 BW plus the error bound.

        No other unit affects the melee.
        """
        field, own, units = self.field, self.attacker, self.field.units
        reach_mm = ENGAGED_BW * field.bw_mm + OVERLAP_MM + field.tolerance_mm
        errors_mm = SIGMAS * np.array([unit.sigma_bound_mm + own.sigma_bound_mm for unit in units])
        near = field.within(own.outline, reach_mm + errors_mm)
        return tuple(unit for unit in near if unit is not own)

    @cached_property
    def contacts_mm(self) -> Mapping[str, float]:
        """The margins by which each enemy touches the attacker's front edge, or misses it."""
        return {
            enemy.id: contact_margin_mm(self.field, self.attacker, enemy) for enemy in self.enemies
        }

    @cached_property
    def _lines_mm(self) -> Mapping[str, float]:
        """The tilt of the world at which two lines begin to reach an enemy, or to miss it.

        Minus infinity if contacts alone decide.
        """
        most_mm = self.max_shift_mm
        touches_anybody = max(self.contacts_mm.values(), default=-math.inf) >= -most_mm
        return {
            enemy.id: bounded_margin_mm(partial(self._is_reached, enemy), most_mm)
            if touches_anybody and self.contacts_mm[enemy.id] < most_mm
            else -math.inf
            for enemy in self.enemies
        }

    def _is_reached(self, enemy: UnitOnField, by_mm: float) -> bool:
        world = tilted(self.around, self.attacker, (enemy.id,), by_mm)
        return any(lines_to(world, self.attacker, world.by_id[enemy.id]))

    def _plain_margin_mm(self, enemy: UnitOnField, *, holds: bool) -> float:
        """Returns the margin of an outcome that no error changes: at least the largest error."""
        touching_mm = self.contacts_mm[enemy.id]
        least_mm = self.max_shift_mm + EXACT_MM
        if not holds:
            return min(max(self.contacts_mm.values()), -least_mm)
        if touching_mm >= 0:
            return max(touching_mm, least_mm)
        gap_mm = front_gap_mm(self.attacker, enemy) or 0.0
        return max(ENGAGED_BW * self.field.bw_mm - gap_mm, least_mm)

    def _drawn(self, enemy: UnitOnField) -> Flags:
        """Returns whether the enemy is engaged in each draw of all poses: (n,)."""
        touches_any = np.any(list(self._drawn_contacts.values()), axis=0)
        touched = self._drawn_contacts[enemy.id]
        lines_mm = self._lines_mm[enemy.id]
        # If no error changes the two lines, contacts alone decide.
        if abs(lines_mm) >= self.max_shift_mm:
            return np.asarray(touches_any & (touched | (lines_mm >= 0)))
        reached = touches_any & touched
        worlds = drawn_fields(self.around)
        # The search for two lines is slow, so it runs only where no contact decides.
        for draw in np.flatnonzero(touches_any & ~touched).tolist():
            units = worlds[draw].by_id
            reached[draw] = any(lines_to(worlds[draw], units[self.attacker.id], units[enemy.id]))
        return np.asarray(reached)

    @cached_property
    def _drawn_contacts(self) -> Mapping[str, Flags]:
        """Whether each enemy touches the front edge in each draw of all poses: (n,)."""
        fronts = Fronts.drawn(self.attacker.unit, draw_units([self.attacker.unit]))
        return {
            enemy.id: contact_margins_mm(self.field, fronts, draw_units([enemy.unit])) >= 0
            for enemy in self.enemies
        }


CONTACT_RULE = "M-8.10"
NEAR_RULE = "M-8.12"


@dataclass(frozen=True, slots=True)
class Engagement:
    """Why an attacker engages an enemy.

    The enemy touches its front edge (M-8.10), or is directly in front within 1 BW, as the two lines
    of M-8.12 show.
    """

    rule: str
    because: str
    evidence: tuple[Shape, ...]


@dataclass(frozen=True, eq=False)
class Engagements:
    """All engagements of a position, in the order of its units.

    Every unit of the active side counts as an attacker, because a position does not say who
    charged. `pairs` are the measured ones; the `melees`, by attacker id, compute on demand how
    certain each is and which others are possible.
    """

    field: Field
    active: str
    pairs: Mapping[tuple[str, str], Engagement]
    melees: Mapping[str, Melee]

    def enemies_of(self, unit_id: str) -> tuple[str, ...]:
        """Returns the enemies that a unit of either side is engaged with."""
        return tuple(
            defender if attacker == unit_id else attacker
            for attacker, defender in self.pairs
            if unit_id in (attacker, defender)
        )

    def held_by_guns(self, unit_id: str) -> Mapping[str, tuple[str, ...]]:
        """Returns the enemies that would outnumber a unit but for guns of its side (M-8.17).

        Each comes with those guns, with which it is also engaged.
        """

        def is_gun(name: str) -> bool:
            return self.field.by_id[name].unit.arm == "artillery"

        enemies = [enemy for enemy in self.enemies_of(unit_id) if not is_gun(enemy)]
        held = {
            enemy: others
            for enemy in enemies
            for others in [tuple(other for other in self.enemies_of(enemy) if other != unit_id)]
            if others and all(map(is_gun, others))
        }
        return held if len(enemies) > 1 else {}

    def in_front_contact(self, attacker_id: str) -> tuple[str, ...]:
        """Returns the enemies that touch an attacker's front edge."""
        return tuple(
            defender
            for (attacker, defender), engagement in self.pairs.items()
            if attacker == attacker_id and engagement.rule == CONTACT_RULE
        )

    def evidence(self, a_id: str, b_id: str) -> tuple[Shape, ...]:
        """Returns the shapes that show why two units are engaged, in either order; else none."""
        engagement = self.pairs.get((a_id, b_id)) or self.pairs.get((b_id, a_id))
        return engagement.evidence if engagement else ()

    def close_calls(self, units: Collection[str]) -> tuple[Answer, ...]:
        """Returns the units' engagements, listed or not, that are too close to call."""
        return tuple(
            doubt for pair, doubt in self._doubtful.items() if not set(pair).isdisjoint(units)
        )

    def possible_pairs(self, units: Collection[str]) -> tuple[tuple[str, str], ...]:
        """Returns the attacker-defender pairs among the units that are or may be engaged."""
        pairs = dict.fromkeys((*self.pairs, *self._doubtful))
        return tuple(pair for pair in pairs if not set(pair).isdisjoint(units))

    @cached_property
    def _doubtful(self) -> Mapping[tuple[str, str], Answer]:
        # Exact positions leave no doubt, and chances are slow to compute.
        if self.field.is_exact:
            return {}
        return {
            (attacker, enemy): answer
            for attacker, melee in self.melees.items()
            for enemy, answer in melee.answers.items()
            if answer.answer == "too_close"
        }

    def answer(self, a_id: str, b_id: str) -> Answer:
        """Returns whether two opposing units, in either order, are engaged (M-8.10)."""
        attacker, enemy = self.field.by_id[a_id], self.field.by_id[b_id]
        if attacker.side != self.active:
            attacker, enemy = enemy, attacker
        melee = self.melees.get(attacker.id)
        if melee is not None and enemy.id in melee.contacts_mm:
            return melee.answers[enemy.id]
        # The enemy is out of reach whatever the errors.
        far_mm = float(shapely.distance(attacker.outline, enemy.outline))
        because = f"{enemy.id} is {self.field.in_bw(far_mm):.2f} BW from {attacker.id}, too far"
        margin_mm = min(-EXACT_MM, ENGAGED_BW * self.field.bw_mm - far_mm)
        return certain("no", CONTACT_RULE, because, _apart(attacker, enemy), margin_mm=margin_mm)


_REMEMBERED: Memo[Melee] = Memo()


def engagements(field: Field, active: str, only: str | None = None) -> Engagements:
    """Returns all engagements when a side attacks, or those of `only` one attacker (M-8.10).

    Those of attackers around which nothing has changed are cached.
    """
    attackers = [unit for unit in field.of_side(active) if only in (None, unit.id)]
    melees = _REMEMBERED.answers(
        field.keys(attackers, [ENGAGED_BW * field.bw_mm + OVERLAP_MM] * len(attackers)),
        lambda new: [Melee(field, attackers[index]) for index in new],
    )
    pairs = {
        (melee.attacker.id, name): engagement
        for melee in melees
        for name, engagement in melee.engagements.items()
    }
    melee_of = {melee.attacker.id: melee for melee in melees}
    return Engagements(field, active, MappingProxyType(pairs), MappingProxyType(melee_of))


def _apart(attacker: UnitOnField, enemy: UnitOnField) -> tuple[Shape, ...]:
    edge = attacker.axes.edge
    across = shapely.shortest_line(edge, enemy.outline)
    return (*shapes_of(edge, "front-edge"), *shapes_of(across, "gap"))


def _two_lines(
    before: Axes, enemy: shapely.Geometry, others: Iterable[shapely.Geometry], reach_mm: float
) -> TwoLines | None:
    """Returns free lines from both front corners of a base, in its strip, to an enemy, or None."""
    if not is_partly_in(enemy, lane(before, reach_mm + TOUCH_MM)):
        return None
    area = lane(before, reach_mm + _EXTRA_MM)
    target = shapely.intersection(enemy, area, grid_size=GRID_MM)
    if target.is_empty:
        return None
    # One union so that no line passes between units in contact.
    hiding = shapely.union_all(
        [other for other in others if shapely.intersects(other, area)], grid_size=GRID_MM
    )
    seen = shapely.buffer(target, _GRAZE_MM)
    # A neighbour that overlaps a corner by a sliver hides nothing (G-5), and no line passes through
    # a gap that counts as contact (G-6).
    closed = shapely.buffer(hiding, TOUCH_MM / 2, join_style="mitre")
    inside = shapely.buffer(closed, -TOUCH_MM / 2 - SLIVER_MM / 2, join_style="mitre")
    # Stubs of the front edge stand for its very corners.
    corners = np.array([before.left_mm, before.right_mm])
    stubs = corners + (corners[::-1] - corners) * _STUB
    edges = np.asarray(shapely.linestrings(np.stack([corners, stubs], axis=1)), dtype=object)
    left, end = free_lines(edges, [seen] * 2, [inside] * 2)
    return None if left is None or end is None else (left, end)
