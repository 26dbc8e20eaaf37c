"""How sure it is who engages whom: what bounds say, and where they leave it open, draws of poses.

The nominal ruling is `engagement.py`'s. Here all lengths that it hangs on are first made longer
and shorter by more than errors can (`SIGMAS`); only where that turns the outcome are poses drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.measure.answer import CERTAIN, EXACT_MM, AnswerWord
from tablecam.measure.fronts import Fronts
from tablecam.measure.outlines import GRID_MM, SEAM_MM, Axes, axes
from tablecam.measure.rectangles import Rectangles, rectangles
from tablecam.measure.samples import DRAWS, sampled
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.front_contact import (
    OVERLAP_MM,
    contact_margin_mm,
    contact_margins_mm,
    front_gap_mm,
)
from tablecam.rules.maurice.tables import ENGAGED_BW
from tablecam.rules.maurice.two_lines import two_lines
from tablecam.table.formation import front_rank

SIGMAS = 3.5
"""An outcome that stands when all lengths change by as many standard deviations is certain."""

LINE_DRAWS = 400
"""Draws for what has to be looked at one by one: 0.95 is known to 0.011, in half a second."""

_HALVINGS = 10

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


@dataclass(frozen=True, eq=False)
class Melee:
    """One attacker, and everyone whom its engagements may hang on."""

    field: Field
    attacker: UnitOnField

    @cached_property
    def slack_mm(self) -> float:
        """By how much any length of this melee can be wrong, or is left open by the players."""
        tolerance_mm = self.field.position.table.tolerance_mm
        widest_mm = max((spread_mm(unit) for unit in self._around), default=0.0)
        return max(SIGMAS * (spread_mm(self.attacker) + widest_mm), tolerance_mm)

    @cached_property
    def enemies(self) -> tuple[UnitOnField, ...]:
        """The enemies that may be in reach."""
        return tuple(unit for unit in self._around if unit.side != self.attacker.side)

    def chance(self, enemy: UnitOnField) -> Chance:
        """How sure it is that the attacker engages an enemy, or that it does not."""
        sigma_mm = float(np.hypot(spread_mm(self.attacker), spread_mm(enemy)))
        holds = self._is_engaged(enemy, 0.0)
        margin_mm = self._margin_mm(enemy, holds=holds)
        if abs(margin_mm) > self.slack_mm or not sigma_mm:
            return Chance(margin_mm, sigma_mm, 1.0 if holds else 0.0)
        drawn = self._drawn(enemy)
        share = (int(np.count_nonzero(drawn)) + 0.5) / (len(drawn) + 1.0)
        return Chance(margin_mm, sigma_mm, share)

    def touches_mm(self, enemy: UnitOnField) -> float:
        """By how much an enemy touches the attacker's front edge, negative by how much not."""
        return self._contacts_mm[enemy.id]

    @cached_property
    def _around(self) -> tuple[UnitOnField, ...]:
        """Who may be hit or may hide: all within 1 BW, and what errors can add to it."""
        others = [unit for unit in self.field.units if unit is not self.attacker]
        widest_mm = max((spread_mm(unit) for unit in self.field.units), default=0.0)
        table = self.field.position.table
        reach_mm = ENGAGED_BW * table.base_width_mm + OVERLAP_MM + table.tolerance_mm
        reach_mm += 2 * SIGMAS * widest_mm
        return tuple(
            unit
            for unit in others
            if shapely.dwithin(unit.outline, self.attacker.outline, reach_mm)
        )

    @cached_property
    def _contacts_mm(self) -> dict[str, float]:
        return {
            enemy.id: contact_margin_mm(self.field, self.attacker, enemy) for enemy in self.enemies
        }

    def _is_engaged(self, enemy: UnitOnField, by_mm: float) -> bool:
        """The ruling, were all lengths by so much more in favour of it."""
        if max(self._contacts_mm.values()) < -by_mm:
            return False
        return self._contacts_mm[enemy.id] >= -by_mm or self._is_near(enemy, by_mm)

    def _is_near(self, enemy: UnitOnField, by_mm: float) -> bool:
        return bool(self._bases_near(enemy, by_mm))

    def _bases_near(self, enemy: UnitOnField, by_mm: float) -> list[int]:
        """The bases of the attacker's front rank from which two lines reach an enemy (M-8.12)."""
        reach_mm = ENGAGED_BW * self.field.bw_mm
        target = _grown(enemy.outline, by_mm)
        others = [_grown(unit.outline, -by_mm) for unit in self._hiding(enemy)]
        unit = self.attacker.unit
        return [
            index
            for index in front_rank(unit)
            if two_lines(axes(unit.bases[index]), target, others, reach_mm)
        ]

    def _hiding(self, enemy: UnitOnField) -> list[UnitOnField]:
        return [unit for unit in self._around if unit is not enemy]

    def _margin_mm(self, enemy: UnitOnField, *, holds: bool) -> float:
        """By how much lengths may change until it comes out otherwise: to a thousandth of slack.

        Of what stands all of the slack only a length that it hangs on.
        """
        sign = -1.0 if holds else 1.0
        if self._is_engaged(enemy, sign * self.slack_mm) == holds:
            return -sign * max(self._plain_margin_mm(enemy, holds=holds), self.slack_mm + EXACT_MM)
        stands_mm, turns_mm = 0.0, self.slack_mm
        for _ in range(_HALVINGS):
            middle_mm = (stands_mm + turns_mm) / 2
            if self._is_engaged(enemy, sign * middle_mm) == holds:
                stands_mm = middle_mm
            else:
                turns_mm = middle_mm
        return -sign * (stands_mm + turns_mm) / 2

    def _plain_margin_mm(self, enemy: UnitOnField, *, holds: bool) -> float:
        touching_mm = self._contacts_mm[enemy.id]
        if holds and touching_mm < 0:
            gap_mm = front_gap_mm(self.attacker, enemy) or 0.0
            return ENGAGED_BW * self.field.bw_mm - gap_mm
        return touching_mm if holds else -max(self._contacts_mm.values())

    def _drawn(self, enemy: UnitOnField) -> Flags:
        """For each draw of all poses, whether the enemy is engaged: (n,)."""
        contacts = {each.id: self._drawn_contact(each) for each in self.enemies}
        anybody = np.any(list(contacts.values()), axis=0)
        touched = contacts[enemy.id]
        nearest, farthest = (self._is_near(enemy, by) for by in (-self.slack_mm, self.slack_mm))
        if nearest == farthest:
            return np.asarray(anybody & (touched | nearest))
        asked = anybody[:LINE_DRAWS] & ~touched[:LINE_DRAWS]
        near = self._drawn_near(enemy, asked)
        return np.asarray(anybody[:LINE_DRAWS] & (touched[:LINE_DRAWS] | near))

    def _drawn_contact(self, enemy: UnitOnField) -> Flags:
        margin_mm = self._contacts_mm[enemy.id]
        if abs(margin_mm) > self.slack_mm:
            return np.full(DRAWS, margin_mm >= 0)
        fronts = Fronts.drawn(self.attacker.unit, self._poses(self.attacker, DRAWS))
        margins_mm = contact_margins_mm(self.field, fronts, self._poses(enemy, DRAWS))
        return np.asarray(margins_mm >= 0)

    def _drawn_near(self, enemy: UnitOnField, asked: Flags) -> Flags:
        """In which of the first draws two lines reach an enemy, of those that are asked."""
        targets = self._drawn_outlines(enemy)
        hiding = [self._drawn_outlines(unit) for unit in self._hiding(enemy)]
        own = _base_axes(self._poses(self.attacker, LINE_DRAWS), len(self.attacker.unit.bases))
        reach_mm = ENGAGED_BW * self.field.bw_mm
        tried = self._bases_near(enemy, self.slack_mm)
        found = np.zeros(LINE_DRAWS, dtype=np.bool_)
        for draw in np.flatnonzero(asked).tolist():
            others = [outlines[draw] for outlines in hiding]
            found[draw] = any(
                two_lines(own[draw][index], targets[draw], others, reach_mm) for index in tried
            )
        return found

    def _drawn_outlines(self, unit: UnitOnField) -> NDArray[np.object_]:
        return _outlines(self._poses(unit, LINE_DRAWS), len(unit.unit.bases))

    def _poses(self, unit: UnitOnField, draws: int) -> Rectangles:
        """Draws of a unit's poses, always the same ones in a field."""
        places = {each.id: place for place, each in enumerate(self.field.units)}
        most = max(len(each.bases) for each in self.field.units)
        return sampled(rectangles([unit.unit]), first=most * places[unit.id], draws=draws)


def spread_mm(unit: UnitOnField) -> float:
    """A bound on the standard deviation of where any corner of a unit lies, along any line."""
    return max(
        base.sigma_mm
        + float(np.radians(base.sigma_deg) * np.hypot(base.width_mm, base.depth_mm) / 2)
        for base in unit.unit.bases
    )


def _grown(outline: shapely.Geometry, by_mm: float) -> shapely.Geometry:
    return shapely.buffer(outline, by_mm, join_style="mitre") if by_mm else outline


def _outlines(poses: Rectangles, count: int) -> NDArray[np.object_]:
    """The outlines of a unit of so many bases for each draw, as `unit_footprint` makes one."""
    bases = np.asarray(shapely.polygons(poses.corners_mm())).reshape(-1, count)
    grown = shapely.buffer(bases, SEAM_MM / 2, join_style="mitre")
    union = shapely.union_all(grown, axis=1, grid_size=GRID_MM)
    return np.asarray(shapely.buffer(union, -SEAM_MM / 2, join_style="mitre"), dtype=object)


def _base_axes(poses: Rectangles, count: int) -> list[list[Axes]]:
    """The axes of each base of a unit of so many, for each draw."""
    edges = poses.corners_mm()[:, :2].tolist()
    headings = np.degrees(np.arctan2(poses.axes[:, 1, 1], poses.axes[:, 1, 0])).tolist()
    found = [
        Axes((left[0], left[1]), (end[0], end[1]), heading_deg)
        for (left, end), heading_deg in zip(edges, headings, strict=True)
    ]
    return [found[start : start + count] for start in range(0, len(found), count)]
