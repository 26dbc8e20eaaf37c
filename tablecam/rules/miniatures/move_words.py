"""Describes a move in a few words, as on buttons, by where a unit stands and would end."""

from __future__ import annotations

import math

import numpy as np

from tablecam.geometry.moves.lanes import front_width_mm
from tablecam.geometry.outlines import Axes
from tablecam.rules.miniatures.battle import Bases
from tablecam.rules.miniatures.ground import centre_mm
from tablecam.table.headings import difference_deg, forward, right
from tablecam.table.model import LengthUnit
from tablecam.table.motion import SLIP_MM
from tablecam.wording import joined

_NOTHING, _NOTHING_DEG = 0.05, 3.0
"""Smaller moves, in units of length, and turns are placement error and not mentioned."""
_ABOUT_DEG = 170.0


def move_words(start: Axes, end: Axes, bases: Bases, there: Bases, unit: LengthUnit) -> str:
    """Describes a move of bases, whose front goes from `start` to `end`.

    A wheel about a front corner by its angle and arc: `wheel left 17° (1.2 BW)`; any other move by
    the distance of the centre and the turn: `6.0 in ahead, turn 45° right`. Empty if it stays.
    """
    turned_deg = difference_deg(end.heading_deg, start.heading_deg)
    hand = "left" if turned_deg > 0 else "right"
    if abs(turned_deg) > _ABOUT_DEG:
        turn = "face about"
    elif abs(turned_deg) < _NOTHING_DEG:
        turn = ""
    else:
        # The pivot of a wheel stays: the left corner in a left turn, else the right one.
        pivots = [(axes.left_mm, axes.right_mm)[turned_deg < 0] for axes in (start, end)]
        if math.dist(*pivots) <= SLIP_MM:
            arc_mm = math.radians(abs(turned_deg)) * front_width_mm(start)
            arc = f"{arc_mm / unit.size_mm:.1f} {unit.symbol}"
            return f"wheel {hand} {abs(turned_deg):.0f}° ({arc})"
        turn = f"turn {abs(turned_deg):.0f}° {hand}"
    return ", ".join(filter(None, (way_words(start.heading_deg, bases, there, unit), turn)))


def way_words(heading_deg: float, bases: Bases, there: Bases, unit: LengthUnit) -> str:
    """Describes how far the centre of bases moves, ahead or back and aside."""
    way = np.subtract(centre_mm(there), centre_mm(bases)) / unit.size_mm
    ahead, aside = (float(way @ np.array(axis(heading_deg))) for axis in (forward, right))
    lengths = {
        "ahead" if ahead > 0 else "back": abs(ahead),
        "to the right" if aside > 0 else "to the left": abs(aside),
    }
    return joined(
        f"{length:.1f} {unit.symbol} {word}"
        for word, length in lengths.items()
        if length >= _NOTHING
    )
