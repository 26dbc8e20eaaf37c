"""Charges on enemies behind a thin obstacle: who comes flush with it has made contact (M-8.14).

Such a charge ends before the obstacle. It does not cross it, so it is not disrupted by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.moves.lanes import Corner, front_width_mm, turned_deg
from tablecam.geometry.outlines import Axes
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.zone_ranges import first_met
from tablecam.geometry.zones import strip_before
from tablecam.rules.maurice.field.ground import Piece
from tablecam.uncertainty.contact import TOUCH_MM

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Screen:
    """A thin obstacle, and how far each of some bases (n,) stands from it.

    `thick_mm` is how much farther than contact an enemy across it may be.
    """

    outline: shapely.Geometry
    apart_mm: Array
    thick_mm: float

    def take(self, rows: NDArray[np.bool_]) -> Screen:
        """The same for some of the bases."""
        return replace(self, apart_mm=self.apart_mm[rows])


def screens_of(
    pieces: Sequence[Piece], bases: Sequence[shapely.Polygon], thick_mm: float, most_mm: float
) -> tuple[Screen, ...]:
    """The thin obstacles with which some bases stand flush, or so much less close than that."""
    shapes = np.array(bases, dtype=object)
    found = (
        Screen(piece.outline, np.asarray(shapely.distance(piece.outline, shapes)), thick_mm)
        for piece in pieces
    )
    return tuple(each for each in found if (each.apart_mm <= TOUCH_MM + most_mm + EXACT_MM).any())


def first_contact_mm(
    front: Axes,
    corner: Corner,
    arcs_mm: Array,
    begins_mm: Array,
    screens: Sequence[Screen],
    slack_mm: float = 0.0,
) -> Array:
    """How far ahead contact is with bases (k, n) that begin so far ahead after wheels (k,).

    Nearer than where they begin where they stand flush with an obstacle before them. With a slack
    they need stand only so near to it.
    """
    if not screens:
        return begins_mm
    strip = strip_before(front, front_width_mm(front), pivot=corner, is_cut=False)
    turns_deg = turned_deg(front, corner, 1.0) * arcs_mm
    for screen in screens:
        is_flush = screen.apart_mm <= TOUCH_MM + slack_mm + EXACT_MM
        to_screen_mm = first_met(strip, turns_deg, [screen.outline])
        across_mm = np.maximum(begins_mm - screen.thick_mm, to_screen_mm)
        begins_mm = np.where(is_flush & (across_mm < begins_mm), across_mm, begins_mm)
    return begins_mm
