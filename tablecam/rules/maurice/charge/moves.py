"""Charge moves as arrays: ground and room for them, wheels, and bases met (M-8.4, M-8.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.moves import fans, lanes
from tablecam.geometry.moves.lanes import Barred, barred_by
from tablecam.geometry.moves.turning import free_turn_rad
from tablecam.geometry.outlines import GRID_MM, Axes, table_outline
from tablecam.geometry.rectangles import EXACT_MM, Array
from tablecam.geometry.zone_ranges import first_hit
from tablecam.geometry.zones import strip_before
from tablecam.rules.maurice.field import tables
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import Piece
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.margins import Flags


def allowance_mm(field: Field, unit: UnitOnField) -> float | None:
    """Returns a unit's whole charge distance (M-8.5); None if it has no allowance."""
    allowance_bw = tables.ALLOWANCES_BW.get((unit.unit.arm, unit.formation))
    return None if allowance_bw is None else allowance_bw * field.bw_mm


def far_mm(field: Field, unit: UnitOnField) -> float:
    """Returns the greatest distance at which a unit's charge can meet anything, ignoring errors."""
    return (allowance_mm(field, unit) or 0.0) + tables.THIN_BW * field.bw_mm + TOUCH_MM


@dataclass(frozen=True, slots=True, eq=False)
class InReach:
    """The bases that the lanes of a unit about one corner can involve.

    `bases` are those of enemies, with their units' ids in `owners` and unit numbers in `whose`
    (n,); `touched` (n,) marks those that it already touches. `fan` holds these bases and then those
    of friends. `screens` are the outlines of thin obstacles, each with a mark (n,) for the bases
    that touch it; an enemy across one is met up to `thick_mm` before contact (M-8.14).
    """

    front: Axes
    corner: lanes.Corner
    owners: tuple[str, ...]
    bases: tuple[shapely.Polygon, ...]
    whose: NDArray[np.intp]
    touched: Flags
    fan: fans.Fan
    screens: tuple[tuple[shapely.Geometry, Flags], ...]
    thick_mm: float

    def contact_mm(self, arcs_mm: Array, begins_mm: Array) -> Array:
        """Returns the distances (k, n) to contact with enemy bases that begin at `begins_mm`."""
        if not self.screens:
            return begins_mm
        front = self.front
        strip = strip_before(front, lanes.front_width_mm(front), pivot=self.corner, is_cut=False)
        turns_deg = lanes.turned_deg(front, self.corner, 1.0) * arcs_mm
        for outline, is_flush in self.screens:
            to_screen_mm = first_hit(strip, turns_deg, [outline])
            across_mm = np.maximum(begins_mm - self.thick_mm, to_screen_mm)
            begins_mm = np.where(is_flush & (across_mm < begins_mm), across_mm, begins_mm)
        return begins_mm


def bases_in_reach(
    field: Field, unit: UnitOnField, others: Sequence[UnitOnField], pieces: Sequence[Piece]
) -> tuple[InReach, InReach]:
    """Returns the bases of others, enemies first, about either corner; `pieces` are thin."""
    enemies = [other for other in others if other.side != unit.side]
    friends = [other for other in others if other.side == unit.side]
    bases = tuple(base for other in enemies for base in other.bases)
    corners_mm = fans.corners_of([*bases, *(base for other in friends for base in other.bases)])
    owners = tuple(other.id for other in enemies for _ in other.bases)
    whose = np.repeat(np.arange(len(enemies)), [len(other.bases) for other in enemies])
    shapes = np.array(bases, dtype=object)
    touched = shapely.dwithin(unit.outline, shapes, TOUCH_MM)
    flush = [shapely.dwithin(piece.outline, shapes, TOUCH_MM + EXACT_MM) for piece in pieces]
    screens = tuple(
        (piece.outline, np.asarray(are_flush))
        for piece, are_flush in zip(pieces, flush, strict=True)
        if np.any(are_flush)
    )
    thick_mm = tables.THIN_BW * field.bw_mm * bool(pieces)
    known = owners, bases, whose, touched
    left, right = (
        InReach(
            unit.axes,
            corner,
            *known,
            fans.fan_before(unit.axes, corner, corners_mm),
            screens,
            thick_mm,
        )
        for corner in lanes.CORNERS
    )
    return left, right


def swing_mm(unit: UnitOnField, corner: lanes.Corner, arc_mm: float) -> float:
    """Returns the farthest that any part of a unit moves in a wheel about a corner."""
    offsets_mm = shapely.get_coordinates(unit.outline) - lanes.pivot_mm(unit.axes, corner)
    return float(np.hypot(*offsets_mm.T).max()) * (arc_mm / lanes.front_width_mm(unit.axes))


_CONTACT_MM = 0.5
"""A shorter charge counts as touching already."""


@dataclass(frozen=True, slots=True)
class Move:
    """A wheel by an arc about a corner (0 for none), then a distance straight ahead."""

    corner: lanes.Corner
    arc_mm: float
    straight_mm: float

    @property
    def pivot(self) -> lanes.Corner | None:
        """The front corner about which it wheels, None without a wheel."""
        return self.corner if self.arc_mm > 0.0 else None

    @property
    def cost_mm(self) -> float:
        """The whole length of the move."""
        return self.arc_mm + self.straight_mm

    @property
    def is_contact(self) -> bool:
        """Whether it is so short that the two already touch."""
        return self.cost_mm < _CONTACT_MM

    def words(self, bw_mm: float) -> str:
        """Describes the move: `wheels left 0.52 BW, then goes 3.10 BW ahead`."""
        if self.is_contact:
            return "already touches it"
        wheel = f"wheels {self.corner} {self.arc_mm / bw_mm:.2f} BW, then " if self.arc_mm else ""
        return f"{wheel}goes {self.straight_mm / bw_mm:.2f} BW ahead"

    def front_after_wheel(self, unit: UnitOnField) -> Axes:
        """Returns the unit's front after the wheel."""
        return lanes.wheeled(unit.axes, self.corner, self.arc_mm)

    def front_at_end(self, unit: UnitOnField) -> Axes:
        """Returns the unit's front at the end."""
        return lanes.advanced(self.front_after_wheel(unit), self.straight_mm)

    def area(self, unit: UnitOnField) -> shapely.Geometry:
        """Returns all ground that the unit crosses, its start included."""
        return shapely.union(self.wheel_area(unit), self.lane_area(unit))

    def wheel_area(self, unit: UnitOnField) -> shapely.Geometry:
        """Returns the area that the unit passes over in the wheel, its start included."""
        angle_deg = lanes.turned_deg(unit.axes, self.corner, self.arc_mm)
        parts = lanes.wheel_parts(unit.bases, lanes.pivot_mm(unit.axes, self.corner), angle_deg)
        return shapely.union_all(parts, grid_size=GRID_MM)

    def lane_area(self, unit: UnitOnField) -> shapely.Polygon:
        """Returns the area that the front passes over on the way ahead."""
        return lanes.lane(self.front_after_wheel(unit), self.straight_mm)


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Moves (k,) about one corner, each as far as the first enemy in its lane.

    `straight_mm` is infinite if no enemy is ahead; `friend_mm` is the distance to the first
    friend, `beside_mm` to the first enemy outside the lane that a flank would touch. `meets` (k, n)
    marks the enemy bases in reach that are met first, all at one instant.
    """

    there: InReach
    arcs_mm: Array
    straight_mm: Array
    friend_mm: Array
    beside_mm: Array
    meets: Flags

    def is_meeting(self, unit_id: str) -> Flags:
        """Returns which of the moves meet a unit."""
        of_unit = np.array([owner == unit_id for owner in self.there.owners], dtype=bool)
        return np.asarray(self.meets[:, of_unit].any(axis=1))

    def move(self, row: int) -> Move:
        """Returns the move in a row."""
        return Move(self.there.corner, float(self.arcs_mm[row]), float(self.straight_mm[row]))

    def lanes_mm(self, unit: UnitOnField, rows: NDArray[np.intp]) -> Array:
        """Returns the corners (k, 4, 2) of the lanes in these rows."""
        return lanes.lane_corners_mm(
            unit.axes, self.there.corner, self.arcs_mm[rows], self.straight_mm[rows]
        )


ArcsOf = Callable[[fans.Fan, float], Array]
"""Returns the arcs of the wheels to try about a corner, up to a longest one."""


def moves_about(
    there: Sequence[InReach], longest_mm: Sequence[float], arcs_of: ArcsOf | None = None
) -> list[Moves]:
    """Returns the moves of units after wheels about a corner, up to the longest of each.

    The first move does not wheel; the wheels are those of `arcs_of`, by default all of them.
    """
    turning = [about_corner.fan for about_corner in there]
    every = partial(fans.all_arcs_mm, deep_mm=tables.SLIVER_MM)
    arcs_mm = list(map(arcs_of or every, turning, longest_mm))
    turned = fans.TurnedLanes.of(turning, arcs_mm, TOUCH_MM)
    begins_mm = turned.begins_mm(tables.SLIVER_MM)
    beside_mm = turned.begins_mm(-TOUCH_MM, unless=begins_mm)
    return list(map(_moves, there, arcs_mm, begins_mm, beside_mm))


def _moves(there: InReach, arcs_mm: Array, begins_mm: Array, beside_mm: Array) -> Moves:
    """Builds the moves after wheels (k,) from the distances (k, n) to bases, enemies first.

    `begins_mm` are distances in the lane, `beside_mm` those beside it.
    """
    count = len(there.bases)
    contact_mm = there.contact_mm(arcs_mm, begins_mm[:, :count])
    straight_mm = contact_mm.min(axis=1, initial=np.inf)
    meets = np.isfinite(straight_mm[:, None]) & (
        contact_mm <= straight_mm[:, None] + tables.SLIVER_MM
    )
    beside_mm = np.where(there.touched, np.inf, beside_mm[:, :count])
    # Other bases of a unit that is met may lie beside the lane.
    if np.isfinite(beside_mm).any():
        is_same = there.whose[:, None] == there.whose
        beside_mm = np.where(meets @ is_same, np.inf, beside_mm)
    return Moves(
        there,
        arcs_mm,
        straight_mm,
        begins_mm[:, count:].min(axis=1, initial=np.inf),
        beside_mm.min(axis=1, initial=np.inf),
        meets,
    )


_FAR_MM = 1e4
"""A length beyond any table."""


def forbidden_ground(field: Field, unit: UnitOnField) -> Barred:
    """Returns the ground that a unit may not charge into, as far as it can come.

    This is impassable ground, everything off the table, and for cavalry woods. A base placed
    slightly over the table's edge may stay so.
    """
    woods = [field.ground.woods] if unit.unit.arm == "cavalry" else []
    areas = [field.ground.barred, *woods, _off_table(field, unit)]
    # The rear swings no farther in a wheel than the front could go ahead.
    reach_mm = (allowance_mm(field, unit) or 0.0) + abs(field.over_edge_mm)
    near = (area for area in areas if shapely.dwithin(area, unit.outline, reach_mm))
    return barred_by(tuple(near), tables.SLIVER_MM)


def _off_table(field: Field, unit: UnitOnField) -> shapely.Polygon:
    """Returns everything off the table, except a margin that the unit already overhangs."""
    play = table_outline(field.position.table)
    places = shapely.points(shapely.get_coordinates(unit.outline))
    over_mm = float(np.max(shapely.distance(play, places))) + field.over_edge_mm
    edge = shapely.buffer(play, over_mm, join_style="mitre")
    far = shapely.box(-_FAR_MM, -_FAR_MM, _FAR_MM, _FAR_MM)
    return shapely.Polygon(shapely.get_coordinates(far), [shapely.get_coordinates(edge)])


def free_arc_mm(
    unit: UnitOnField,
    corner: lanes.Corner,
    others: Sequence[UnitOnField],
    forbidden: Barred,
    longest_mm: float,
) -> float:
    """Returns how far a unit can wheel about a corner, clear of `others` and forbidden ground.

    Friends in line beside it do not block it, nor does ground on which it already stands.
    """
    pivot, sense = lanes.pivot_mm(unit.axes, corner), 1.0 if corner == "left" else -1.0
    far_mm = swing_mm(unit, corner, longest_mm)
    met = [
        base
        for other in others
        if shapely.dwithin(other.outline, unit.outline, far_mm)
        and not unit.touches_flank_of_line(other)
        for base in other.bases
    ]
    edges_mm = forbidden.edges_before(unit.outline, far_mm)
    if not met and not len(edges_mm):
        return longest_mm
    own_mm, met_mm = fans.corners_of(unit.bases), fans.corners_of(met)
    turn_rad = free_turn_rad(pivot, sense, own_mm, met_mm, edges_mm, tables.SLIVER_MM)
    return min(longest_mm, lanes.front_width_mm(unit.axes) * turn_rad)
