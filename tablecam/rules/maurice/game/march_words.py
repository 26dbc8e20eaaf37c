"""A march in a few words, as a player would tell it: how far, where to, turned, into what."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.game.poses import Bases
from tablecam.rules.maurice.march_change import placed
from tablecam.table.headings import difference_deg, forward, right
from tablecam.table.model import BasePose

_STRAIGHT_DEG = 3.0
"""Who turned by less went straight: hands are hands."""
_STILL_BW = 0.05
_STILL_MM = 1.0
_ABOUT_DEG = 170.0


def march_words(field: Field, unit: UnitOnField, bases: Bases) -> str:
    """Where a unit's bases are now, as seen from where it stood; `bases` must fit on the table.

    Raises:
        BadInput: They do not.
    """
    there = placed(field, unit, bases).by_id[unit.id]
    turned_deg = difference_deg(there.axes.heading_deg, unit.axes.heading_deg)
    if there.formation != unit.formation:
        facing = {90: ", facing left", -90: ", facing right"}.get(round(turned_deg), "")
        moved = "" if len(_kept(unit, bases)) else _moved(field, unit, there)
        return ", then ".join(part for part in (f"into {there.formation}{facing}", moved) if part)
    wheeled = _wheeled(field, unit, there, turned_deg)
    parts = [wheeled] if wheeled else [_moved(field, unit, there), _turned(turned_deg)]
    return ", ".join(part for part in parts if part) or "stays"


def _kept(unit: UnitOnField, bases: Bases) -> list[BasePose]:
    """The bases that lie where one of the unit's lay: a change of formation leaves some."""
    old = [(base.x_mm, base.y_mm) for base in unit.unit.bases]
    return [
        base
        for base in bases
        if any(math.dist((base.x_mm, base.y_mm), place) < _STILL_MM for place in old)
    ]


def _wheeled(field: Field, unit: UnitOnField, there: UnitOnField, turned_deg: float) -> str:
    """A wheel about a front corner (M-6.14): which way, and the arc of the other corner."""
    if unit.unit.arm == "artillery" or not _STRAIGHT_DEG < abs(turned_deg) < _ABOUT_DEG:
        return ""
    before, after = (
        (each.axes.left_mm, each.axes.right_mm)[turned_deg < 0] for each in (unit, there)
    )
    if math.dist(before, after) > _STILL_MM:
        return ""
    width_mm = math.dist(unit.axes.left_mm, unit.axes.right_mm)
    arc_bw = field.in_bw(width_mm * math.radians(abs(turned_deg)))
    return f"wheels {'left' if turned_deg > 0 else 'right'} {arc_bw:.1f} BW"


def _moved(field: Field, unit: UnitOnField, there: UnitOnField) -> str:
    """How far its middle went, ahead or back and to a side, in base widths."""
    way_bw = (_middle(there) - _middle(unit)) / field.bw_mm
    ahead_bw = float(way_bw @ np.array(forward(unit.axes.heading_deg)))
    aside_bw = float(way_bw @ np.array(right(unit.axes.heading_deg)))
    parts = [
        f"{abs(length_bw):.1f} BW {word}"
        for length_bw, word in (
            (ahead_bw, "ahead" if ahead_bw > 0 else "back"),
            (aside_bw, "to the right" if aside_bw > 0 else "to the left"),
        )
        if abs(length_bw) >= _STILL_BW
    ]
    return " and ".join(parts)


def _turned(angle_deg: float) -> str:
    if abs(angle_deg) < _STRAIGHT_DEG:
        return ""
    if abs(angle_deg) > _ABOUT_DEG:
        return "faced about"
    return f"turned {abs(angle_deg):.0f}° {'left' if angle_deg > 0 else 'right'}"


def _middle(unit: UnitOnField) -> NDArray[np.float64]:
    places = np.array([(base.x_mm, base.y_mm) for base in unit.unit.bases])
    return np.asarray(places.mean(axis=0))
