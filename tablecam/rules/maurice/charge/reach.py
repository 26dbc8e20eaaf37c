"""Reach of charges: how far a unit may go, and which bases its lanes can come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.moves.fans import Fan, corners_of, fan_before, may_be_met
from tablecam.geometry.moves.lanes import Corner, front_width_mm, pivot_mm, turned_deg
from tablecam.geometry.outlines import Axes
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.zone_ranges import first_hit
from tablecam.geometry.zones import strip_before
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.front_contact import thin_pieces
from tablecam.rules.maurice.field.ground import Piece
from tablecam.rules.maurice.field.tables import ALLOWANCES_BW, CHARGE_WHEEL_BW, THIN_BW
from tablecam.uncertainty.contact import TOUCH_MM


@dataclass(frozen=True, slots=True, eq=False)
class Screen:
    """A thin obstacle, and the distance (n,) of each of several bases from it.

    `thick_mm` is how much farther than contact an enemy across it may be.
    """

    outline: shapely.Geometry
    apart_mm: Array
    thick_mm: float

    def take(self, rows: NDArray[np.bool_]) -> Screen:
        """Returns the same for the bases that `rows` selects."""
        return replace(self, apart_mm=self.apart_mm[rows])


def screens_of(
    pieces: Sequence[Piece], bases: Sequence[shapely.Polygon], thick_mm: float
) -> tuple[Screen, ...]:
    """Returns the thin obstacles that some base touches."""
    base_shapes = np.array(bases, dtype=object)
    screens = (
        Screen(piece.outline, np.asarray(shapely.distance(piece.outline, base_shapes)), thick_mm)
        for piece in pieces
    )
    return tuple(screen for screen in screens if (screen.apart_mm <= TOUCH_MM + EXACT_MM).any())


def first_contact_mm(
    front: Axes,
    corner: Corner,
    arcs_mm: Array,
    begins_mm: Array,
    screens: Sequence[Screen],
) -> Array:
    """Returns the distance to contact with bases (k, n) at distances ahead after wheels (k,).

    Contact is nearer where a base touches an obstacle in front of it (fighting across it).
    """
    if not screens:
        return begins_mm
    strip = strip_before(front, front_width_mm(front), pivot=corner, is_cut=False)
    turns_deg = turned_deg(front, corner, 1.0) * arcs_mm
    for screen in screens:
        is_flush = screen.apart_mm <= TOUCH_MM + EXACT_MM
        to_screen_mm = first_hit(strip, turns_deg, [screen.outline])
        across_mm = np.maximum(begins_mm - screen.thick_mm, to_screen_mm)
        begins_mm = np.where(is_flush & (across_mm < begins_mm), across_mm, begins_mm)
    return begins_mm


Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

CORNERS: tuple[Corner, Corner] = ("left", "right")
"""The corners about which a unit may wheel."""


def allowance_mm(field: Field, unit: UnitOnField) -> float | None:
    """Returns how far a unit may charge in all (M-8.5); None without an allowance."""
    allowance_bw = ALLOWANCES_BW.get((unit.unit.arm, unit.formation))
    return None if allowance_bw is None else allowance_bw * field.bw_mm


def far_mm(field: Field, unit: UnitOnField) -> float:
    """Returns the greatest distance of anything that a unit's charge can meet, without errors."""
    return (allowance_mm(field, unit) or 0.0) + THIN_BW * field.bw_mm + TOUCH_MM


@dataclass(frozen=True, slots=True, eq=False)
class InReach:
    """The bases that the lanes of a unit about one corner can involve.

    `bases` are those of enemies, with their units' ids in `owners` and unit numbers in `whose`
    (n,); `touched` (n,) marks those that it touches already. `fan` holds these bases and then those
    of friends. `screens` are the thin obstacles that some of them stand behind.
    """

    front: Axes
    corner: Corner
    owners: tuple[str, ...]
    bases: tuple[shapely.Polygon, ...]
    whose: NDArray[np.intp]
    touched: Bools
    fan: Fan
    screens: tuple[Screen, ...]

    def contact_mm(self, arcs_mm: Array, begins_mm: Array) -> Array:
        """Returns the distance to contact with enemy bases (k, n) at distances ahead."""
        return first_contact_mm(self.front, self.corner, arcs_mm, begins_mm, self.screens)


def in_reach(
    table: Field, around: Sequence[tuple[UnitOnField, Sequence[UnitOnField]]]
) -> list[tuple[InReach, InReach]]:
    """Returns the bases in reach of units' charges about either corner, among given others.

    All fields are of one `table`.
    """
    pieces, thick_mm = thin_pieces(table), THIN_BW * table.bw_mm
    all_there = [
        about_corner
        for unit, others in around
        for about_corner in _all_there(unit, others, partial(screens_of, pieces, thick_mm=thick_mm))
    ]
    reach_mm = [allowance_mm(table, unit) or 0.0 for unit, _ in around]
    is_met = may_be_met(
        [about_corner.fan for about_corner in all_there],
        CHARGE_WHEEL_BW * table.bw_mm,
        np.repeat(reach_mm, len(CORNERS)) + thick_mm * bool(pieces),
        TOUCH_MM,
    )
    there = [
        _only(about_corner, flags) for about_corner, flags in zip(all_there, is_met, strict=True)
    ]
    return list(zip(there[::2], there[1::2], strict=True))


def swing_mm(table: Field, unit: UnitOnField) -> float:
    """Bounds how far any part of a unit moves in a wheel; its rear corners move farthest."""
    corners_mm = shapely.get_coordinates(unit.outline)
    ends_mm = np.array([pivot_mm(unit.axes, corner) for corner in CORNERS])
    far_mm = np.hypot(*(corners_mm[:, None] - ends_mm).T).max()
    return float(far_mm) / front_width_mm(unit.axes) * CHARGE_WHEEL_BW * table.bw_mm + TOUCH_MM


def targets_in_reach(
    table: Field,
    there: Sequence[InReach],
    reach_mm: Sequence[float],
) -> list[set[str]]:
    """Returns the enemies that lanes reach with the allowance left after a wheel, or a few more."""
    thick_mm = [
        max((screen.thick_mm for screen in about_corner.screens), default=0.0)
        for about_corner in there
    ]
    met = may_be_met(
        [about_corner.fan for about_corner in there],
        CHARGE_WHEEL_BW * table.bw_mm,
        np.add(reach_mm, thick_mm),
        EXACT_MM,
        is_shared=True,
    )
    return [
        {
            owner
            for owner, is_met in zip(about_corner.owners, flags.tolist(), strict=False)
            if is_met
        }
        for about_corner, flags in zip(there, met, strict=True)
    ]


def _all_there(
    unit: UnitOnField,
    others: Sequence[UnitOnField],
    screens_before: Callable[[Sequence[shapely.Polygon]], tuple[Screen, ...]],
) -> list[InReach]:
    """Returns all bases of other units, enemies first, about either corner."""
    enemies = [other for other in others if other.side != unit.side]
    friends = [other for other in others if other.side == unit.side]
    bases = tuple(base for other in enemies for base in other.bases)
    corners_mm = corners_of([*bases, *(base for other in friends for base in other.bases)])
    owners = tuple(other.id for other in enemies for _ in other.bases)
    whose = np.repeat(np.arange(len(enemies)), [len(other.bases) for other in enemies])
    touched = shapely.dwithin(unit.outline, np.array(bases, dtype=object), TOUCH_MM)
    screens = screens_before(bases)
    return [
        InReach(
            unit.axes,
            corner,
            owners,
            bases,
            whose,
            touched,
            fan_before(unit.axes, corner, corners_mm),
            screens,
        )
        for corner in CORNERS
    ]


def _only(there: InReach, is_met: Bools) -> InReach:
    """Keeps the bases that `is_met` selects."""
    if is_met.all():
        return there
    of_enemies = is_met[: len(there.bases)]
    selected = np.flatnonzero(of_enemies).tolist()
    return replace(
        there,
        whose=there.whose[of_enemies],
        touched=there.touched[of_enemies],
        screens=tuple(screen.take(of_enemies) for screen in there.screens),
        owners=tuple(there.owners[place] for place in selected),
        bases=tuple(there.bases[place] for place in selected),
        fan=there.fan.take(is_met),
    )
