"""Of the positions at which a table came to rest, those in which something truly lies elsewhere.

What the camera makes of a base that nobody touched strays a little for hours. The referee judges
what is kept, and what is judged is kept: so both are told of the same positions, and of no others.
"""

from __future__ import annotations

from collections.abc import Mapping

from tablecam.table.hands import apart_mm
from tablecam.table.headings import difference_deg
from tablecam.table.model import BasePose, Position
from tablecam.vision.tracking.resting import STILL_DEG, STILL_MM

Bases = Mapping[str, BasePose]
"""By their tags, or by their names where they have none."""

_SURER = 2.0
"""A base whose place is known so many times better is told anew, though it lies there still."""
_WELL_KNOWN = 0.3
"""Not, though, if it was known to so much of how far a still one strays."""


class Settled:
    """Passes on the first position at rest, and later those that differ: bases, or the ground."""

    def __init__(self) -> None:
        self._told: Position | None = None

    def see(self, at_rest: Position) -> Position | None:
        """The position, where it is to be told; None where all lies as in the last one."""
        if self._told is not None and not is_new(at_rest, self._told):
            return None
        self._told = at_rest
        return at_rest


def is_new(position: Position, before: Position) -> bool:
    """Whether bases came, went, lie elsewhere or are known much better, or the ground is new."""
    if has_changed(position, before) or position.terrain != before.terrain:
        return True
    old = bases_of(before)
    return any(_is_surer(base, old[name]) for name, base in bases_of(position).items())


def has_changed(position: Position, before: Position) -> bool:
    """Whether bases came, went or lie elsewhere."""
    now, old = bases_of(position), bases_of(before)
    return now.keys() != old.keys() or any(has_moved(now[name], old[name]) for name in now)


def moved_units(position: Position, before: Position) -> frozenset[str]:
    """The units and commanders of both positions of which a base lies elsewhere by now."""
    now, old = bases_by_unit(position), bases_by_unit(before)
    return frozenset(
        name
        for name in now.keys() & old.keys()
        if any(
            key in old[name] and has_moved(base, old[name][key]) for key, base in now[name].items()
        )
    )


def has_moved(base: BasePose, before: BasePose) -> bool:
    """Whether a base lies elsewhere than before, by more than a still one strays."""
    limit_mm = max(STILL_MM, base.sigma_mm, before.sigma_mm)
    limit_deg = max(STILL_DEG, base.sigma_deg, before.sigma_deg)
    turned_deg = abs(difference_deg(base.heading_deg, before.heading_deg))
    return apart_mm(base, before) > limit_mm or turned_deg > limit_deg


def bases_of(position: Position) -> Bases:
    """All bases that lie on a table, commanders' too."""
    return {key: base for bases in bases_by_unit(position).values() for key, base in bases.items()}


def bases_by_unit(position: Position) -> Mapping[str, Bases]:
    """The bases of each unit and commander."""
    units = {
        unit.id: {unit.base_name(place): base for place, base in enumerate(unit.bases)}
        for unit in position.units
    }
    leaders = {
        each.id: {each.id: each.pose} for each in position.commanders if each.pose is not None
    }
    return units | leaders


def _is_surer(base: BasePose, before: BasePose) -> bool:
    """Whether a base's place is known much better than before, where that was not well enough."""
    worth_mm = max(_SURER * base.sigma_mm, _WELL_KNOWN * STILL_MM)
    worth_deg = max(_SURER * base.sigma_deg, _WELL_KNOWN * STILL_DEG)
    return before.sigma_mm > worth_mm or before.sigma_deg > worth_deg
