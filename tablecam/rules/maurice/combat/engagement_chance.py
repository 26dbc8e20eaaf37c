"""How sure it is who engages whom: what bounds say, and where they leave it open, draws of poses.

The ruling itself, what was measured taken at its word, is `engagement.py`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
import shapely

from tablecam.geometry.fronts import Fronts
from tablecam.geometry.outlines import Axes, axes
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.rules.maurice.combat.two_lines import two_lines
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
from tablecam.rules.maurice.field.front_contact import (
    OVERLAP_MM,
    contact_margin_mm,
    contact_margins_mm,
    front_gap_mm,
    thin_pieces,
)
from tablecam.rules.maurice.field.tables import ENGAGED_BW
from tablecam.table.formation import front_rank
from tablecam.uncertainty.contact import contact
from tablecam.uncertainty.samples import DRAWS


@dataclass(frozen=True, eq=False)
class Melee:
    """One attacker, and everyone whom its engagements may hang on."""

    field: Field
    attacker: UnitOnField

    @cached_property
    def slack_mm(self) -> float:
        """By how much any length of this melee can be wrong, or is left open by the players."""
        tolerance_mm = self.field.position.table.tolerance_mm
        widest_mm = max((unit.spread_mm for unit in self.around), default=0.0)
        return max(SIGMAS * (self.attacker.spread_mm + widest_mm), tolerance_mm)

    @cached_property
    def touching(self) -> float:
        """A bound on how likely the attacker touches any enemy, as its contacts have it (M-1.10).

        Who touches nobody engages nobody, and draws, base by base, leave the least of several gaps
        too narrow on the average. 1 where an obstacle may be fought across: that is no contact.
        """
        if thin_pieces(self.field):
            return 1.0
        contacts = (contact(self.attacker.unit, enemy.unit).answer for enemy in self.enemies)
        return min(1.0, sum(answer.probability for answer in contacts))

    @cached_property
    def enemies(self) -> tuple[UnitOnField, ...]:
        """The enemies that may be in reach."""
        return tuple(unit for unit in self.around if unit.side != self.attacker.side)

    @cached_property
    def chances(self) -> Mapping[str, Chance]:
        """How sure it is that the attacker engages each enemy, or that it does not, by its id."""
        return MappingProxyType({enemy.id: self._chance(enemy) for enemy in self.enemies})

    def _chance(self, enemy: UnitOnField) -> Chance:
        return chance_of(
            lambda by_mm: self._is_engaged(enemy, by_mm),
            self.slack_mm,
            float(np.hypot(self.attacker.spread_mm, enemy.spread_mm)),
            beyond_mm=lambda holds: self._plain_margin_mm(enemy, holds=holds),
            drawn=lambda: self._drawn(enemy),
        )

    def touches_mm(self, enemy: UnitOnField) -> float:
        """By how much an enemy touches the attacker's front edge, negative by how much not."""
        return self._contacts_mm[enemy.id]

    @cached_property
    def around(self) -> tuple[UnitOnField, ...]:
        """Who may be hit or may hide: all within 1 BW, and what errors can add to it.

        All that is known of a melee hangs on them, its attacker and what never moves.
        """
        others = [unit for unit in self.field.units if unit is not self.attacker]
        table = self.field.position.table
        reach_mm = ENGAGED_BW * table.base_width_mm + OVERLAP_MM + table.tolerance_mm
        spreads_mm = np.array([unit.spread_mm for unit in others]) + self.attacker.spread_mm
        outlines = np.array([unit.outline for unit in others], dtype=object)
        apart_mm = shapely.distance(outlines, self.attacker.outline)
        is_near = apart_mm <= reach_mm + SIGMAS * spreads_mm
        return tuple(others[index] for index in np.flatnonzero(is_near))

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
        return [unit for unit in self.around if unit is not enemy]

    def _plain_margin_mm(self, enemy: UnitOnField, *, holds: bool) -> float:
        """Of what stands all of the slack: a length that it hangs on, and more than the slack."""
        touching_mm = self._contacts_mm[enemy.id]
        least_mm = self.slack_mm + EXACT_MM
        if not holds:
            return min(max(self._contacts_mm.values()), -least_mm)
        if touching_mm >= 0:
            return max(touching_mm, least_mm)
        gap_mm = front_gap_mm(self.attacker, enemy) or 0.0
        return max(ENGAGED_BW * self.field.bw_mm - gap_mm, least_mm)

    def _drawn(self, enemy: UnitOnField) -> Flags:
        """For each draw of all poses, whether the enemy is engaged: (n,)."""
        anybody = np.any(list(self._drawn_contacts.values()), axis=0)
        touched = self._drawn_contacts[enemy.id]
        nearest, farthest = (self._is_near(enemy, by) for by in (-self.slack_mm, self.slack_mm))
        if nearest == farthest:
            return np.asarray(anybody & (touched | nearest))
        asked = anybody[:LINE_DRAWS] & ~touched[:LINE_DRAWS]
        near = self._drawn_near(enemy, asked)
        return np.asarray(anybody[:LINE_DRAWS] & (touched[:LINE_DRAWS] | near))

    @cached_property
    def _drawn_contacts(self) -> Mapping[str, Flags]:
        return {each.id: self._drawn_contact(each) for each in self.enemies}

    def _drawn_contact(self, enemy: UnitOnField) -> Flags:
        margin_mm = self._contacts_mm[enemy.id]
        if abs(margin_mm) > self.slack_mm:
            return np.full(DRAWS, margin_mm >= 0)
        fronts = Fronts.drawn(self.attacker.unit, drawn_poses(self.field, self.attacker))
        margins_mm = contact_margins_mm(self.field, fronts, drawn_poses(self.field, enemy))
        return np.asarray(margins_mm >= 0)

    def _drawn_near(self, enemy: UnitOnField, asked: Flags) -> Flags:
        """In which of the first draws two lines reach an enemy, of those that are asked."""
        targets = drawn_outlines(self.field, enemy)
        hiding = [drawn_outlines(self.field, unit) for unit in self._hiding(enemy)]
        own = self._drawn_bases()
        reach_mm = ENGAGED_BW * self.field.bw_mm
        tried = self._bases_near(enemy, self.slack_mm)
        found = np.zeros(LINE_DRAWS, dtype=np.bool_)
        for draw in np.flatnonzero(asked).tolist():
            others = [outlines[draw] for outlines in hiding]
            found[draw] = any(
                two_lines(own[draw][index], targets[draw], others, reach_mm) for index in tried
            )
        return found

    def _drawn_bases(self) -> list[list[Axes]]:
        """The axes of each of the attacker's bases for each of the first draws."""
        poses = drawn_poses(self.field, self.attacker, LINE_DRAWS)
        edges = poses.corners_mm()
        found = axes_of(Fronts(edges[:, 0], edges[:, 1], poses.axes[:, 1]))
        count = len(self.attacker.unit.bases)
        return [found[start : start + count] for start in range(0, len(found), count)]


def _grown(outline: shapely.Geometry, by_mm: float) -> shapely.Geometry:
    return shapely.buffer(outline, by_mm, join_style="mitre") if by_mm else outline
