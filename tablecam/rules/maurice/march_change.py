"""Changes of formation and about-faces, from where bases lay and where they lie (M-6.21 ff.).

A column may change and then move; what changes from anything else has used up its round. Horse may
about-face and then move; foot has used up its round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import shapely

from tablecam.errors import BadInput
from tablecam.rules.maurice.field import Field, UnitOnField, field_of
from tablecam.rules.maurice.march_ways import Way, judged_way, refused
from tablecam.rules.maurice.march_wheels import HAND_MM, wheeled_way
from tablecam.rules.maurice.near import near_enemy
from tablecam.rules.maurice.tables import COLUMN_NEAR_BW
from tablecam.table.formation import front_rank, read_formation
from tablecam.table.headings import difference_deg, forward, right
from tablecam.table.model import BasePose

_PLACE_MM = 5 * HAND_MM
"""How far a base may have slipped that was turned on its spot: a hand lifts it for that."""
_TURN_DEG = 10.0
"""How far its heading may be off, as in a formation (M-1.7)."""


def placed(field: Field, unit: UnitOnField, bases: tuple[BasePose, ...]) -> Field:
    """The field with a unit's bases elsewhere, in the formation in which they lie there.

    Raises:
        BadInput: They cannot lie so: off the table, or upon others.
    """
    moved = replace(unit.unit, bases=bases, formation=None)
    moved = replace(moved, formation=read_formation(moved).name)
    units = tuple(moved if each.id == unit.id else each for each in field.position.units)
    return field_of(replace(field.position, units=units), "the move")


def changed_way(
    field: Field, unit: UnitOnField, after: Field, there: UnitOnField, allowed_bw: float
) -> Way:
    """A change of formation, and for what was a column a move after it (M-6.21 to M-6.24)."""
    change = f"{unit.id} changed from {unit.formation} to {there.formation}"
    if there.formation == "broken-up" or (there.formation, unit.unit.arm) == ("massed", "infantry"):
        return refused("M-1.7", f"{change}: it may not lie so")
    if unit.formation == "column":
        if near_enemy(after, there).is_near:
            allowed_bw = min(allowed_bw, COLUMN_NEAR_BW)
        ways = [
            wheeled_way(field, start, there, allowed_bw)
            for start in _deployed(field, unit)
            if start.formation == there.formation
        ]
        return next((way for way in ways if way.answer.answer != "no"), None) or min(
            ways,
            key=lambda way: way.cost_mm,
            default=refused("M-6.22", f"{change}: no room for it"),
        )
    quarter_turn = "column" in (unit.formation, there.formation) and unit.formation == "line"
    kept, wanted = _kept(unit, there, 90.0 if quarter_turn else 0.0), 1 if quarter_turn else 2
    rule = "M-6.23" if quarter_turn else "M-6.24"
    if kept < wanted:
        because = f"{change}: {kept} of its bases kept their place, expected {wanted} or more"
        return refused(rule, because)
    return _in_place(field, unit, there, allowed_bw, rule)


def is_faced_about(unit: UnitOnField, there: UnitOnField) -> bool:
    """Whether a unit faces the other way, whatever else it did."""
    turned_deg = difference_deg(there.axes.heading_deg, unit.axes.heading_deg)
    return unit.formation == there.formation and abs(turned_deg) > 180.0 - _TURN_DEG


def about_face(
    field: Field, unit: UnitOnField, after: Field, there: UnitOnField, allowed_bw: float
) -> Way | None:
    """An about-face, and for horse a move after it; None when it was none (M-6.26)."""
    if not is_faced_about(unit, there) or unit.unit.arm == "artillery":
        return None
    if _kept(unit, there, 180.0) == len(unit.bases):
        return _in_place(field, unit, there, 0.0, "M-6.26")
    if unit.unit.arm != "cavalry" or unit.formation == "column":
        return None
    faced = tuple(replace(base, heading_deg=base.heading_deg + 180) for base in unit.unit.bases)
    start = placed(field, unit, faced).by_id[unit.id]
    way = wheeled_way(field, start, there, allowed_bw)
    if near_enemy(after, there).is_near and way.answer.answer != "no":
        because = f"{unit.id} about-faced and moved, and may not end near the enemy"
        return refused("M-6.26", because, way.path)
    return way


def _in_place(
    field: Field, unit: UnitOnField, there: UnitOnField, cost_bw: float, rule: str
) -> Way:
    """A change that is all the unit does: it costs the whole allowance."""
    area = shapely.union_all([unit.outline, there.outline])
    cost_mm = cost_bw * field.bw_mm
    return judged_way(
        field,
        unit,
        area,
        cost_mm=cost_mm,
        allowed_bw=cost_bw,
        sigma_mm=0.0,
        path=(),
        rule=rule,
    )


def _kept(unit: UnitOnField, there: UnitOnField, turned_deg: float) -> int:
    """How many bases stand where one stood, turned by so much to either hand."""
    return sum(
        any(_is_turned(before, after, turned_deg) for before in unit.unit.bases)
        for after in there.unit.bases
    )


def _is_turned(before: BasePose, after: BasePose, turned_deg: float) -> bool:
    moved_mm = math.hypot(after.x_mm - before.x_mm, after.y_mm - before.y_mm)
    by_deg = abs(difference_deg(after.heading_deg, before.heading_deg))
    return moved_mm <= _PLACE_MM and abs(by_deg - turned_deg) <= _TURN_DEG


def _deployed(field: Field, unit: UnitOnField) -> Iterator[UnitOnField]:
    """The ways in which a column may deploy on its spot; those for which there is no room are not.

    Into line: every base turns to one hand (M-6.23). Massed: two bases come up beside the two in
    front, or back beside the two behind (M-6.24).
    """
    for bases in (*_lines(unit), *_masses(unit)):
        try:
            yield placed(field, unit, bases).by_id[unit.id]
        except BadInput:
            continue


def _lines(unit: UnitOnField) -> Iterator[tuple[BasePose, ...]]:
    for turn_deg in (90.0, -90.0):
        yield tuple(
            replace(base, heading_deg=base.heading_deg + turn_deg) for base in unit.unit.bases
        )


def _masses(unit: UnitOnField) -> Iterator[tuple[BasePose, ...]]:
    bases = unit.unit.bases
    leading = bases[front_rank(unit.unit)[0]]
    order = sorted(bases, key=lambda base: math.dist(_centre(base), _centre(leading)))
    if unit.unit.arm != "cavalry" or len(order) != 4:
        return
    for stay, go in ((order[:2], order[2:]), (order[2:], order[:2])):
        for side in (1.0, -1.0):
            yield (*stay, *(_beside(base, side, mate) for base, mate in zip(stay, go, strict=True)))


def _beside(base: BasePose, side: float, mate: BasePose) -> BasePose:
    """A mate put flush beside a base, to its right or left."""
    across, ahead = right(base.heading_deg), forward(base.heading_deg)
    apart_mm = side * (base.width_mm + mate.width_mm) / 2
    on_mm = (base.depth_mm - mate.depth_mm) / 2
    return replace(
        mate,
        x_mm=base.x_mm + across[0] * apart_mm + ahead[0] * on_mm,
        y_mm=base.y_mm + across[1] * apart_mm + ahead[1] * on_mm,
        heading_deg=base.heading_deg,
    )


def _centre(base: BasePose) -> tuple[float, float]:
    return base.x_mm, base.y_mm
