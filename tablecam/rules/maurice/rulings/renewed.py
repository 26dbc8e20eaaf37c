"""Rulings after some units have moved: only what can have changed is worked out again.

What a unit may shoot at and charge hangs on what lies within its reach and on nothing else. A unit
is asked again only if it has changed itself, or if one that has changed was or is within reach.
Lengths, contact, flanks and cover hang on the two units that they are about, who is engaged on who
stands near the attacker, a string on its commander, its force and all enemies.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

import shapely

from tablecam.rules.maurice.charge.charge import charges
from tablecam.rules.maurice.charge.doubts import charges_slack_mm
from tablecam.rules.maurice.charge.reach import come_near
from tablecam.rules.maurice.combat.engagement import Engagements, engagements
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.spacing import Spacing, renewed_spacing
from tablecam.rules.maurice.field.tables import (
    ALLOWANCES_BW,
    CHARGE_WHEEL_BW,
    LONG_BW,
    SHORT_BW,
    ZONE_BW,
)
from tablecam.rules.maurice.fire.fire import fires
from tablecam.rules.maurice.movement.movement import allowance_bw
from tablecam.rules.maurice.place.flank import flanked_by
from tablecam.rules.maurice.place.forces import forces
from tablecam.rules.maurice.place.near import near_enemy
from tablecam.rules.maurice.place.pairs import pairs
from tablecam.rules.maurice.place.touch import Touching, renewed_touching
from tablecam.rules.maurice.rulings.ruled import ForceString, Rulings, UnitRulings, attempt
from tablecam.rules.maurice.rulings.rulings import all_rulings, sides, strings_of, unit_rulings
from tablecam.table.model import Arm

_BESIDE_BW = CHARGE_WHEEL_BW + ZONE_BW
"""How far a wheel, or a turned zone's width, can carry what a unit reaches beyond its length."""
_FAR_SIGMAS = 6.0
"""Of each of two units: nothing is asked that hangs on larger errors."""


def renewed(before: Rulings, field: Field) -> Rulings:
    """All rulings of a field, with those of an earlier one taken over where they must be the same.

    They are equal to `all_rulings(field, before.active)`, only sooner. Where terrain, the table or
    the units as such have changed, all are made afresh.
    """
    if before.is_close_up or before.not_known or not _is_same_table(before.field, field):
        return all_rulings(field, before.active)
    made = attempt("what has changed", lambda: _renewed(before, field), None)
    return all_rulings(field, before.active) if made is None else made


def _renewed(before: Rulings, field: Field) -> Rulings:
    field = _taken_over(before.field, field)
    changed = _changed(before.field, field)
    apart = renewed_spacing(before.apart, field, changed)
    touches = renewed_touching(before.touching, field, changed)
    engaged = engagements(field, before.active, before.engagements)
    by_side = {side: forces(field, side, apart) for side in sides(field)}
    stale = within_reach(before.field, field, changed)
    fire = fires(field, stale, {name: each.fire for name, each in before.units.items()})
    charge = {name: each.charge for name, each in before.units.items()} | charges(
        field, only=who_may_charge_anew(before.field, field, changed, stale)
    )
    lost: set[str] = set()
    units = {
        unit.id: unit_rulings(
            field, unit, apart, touches, engaged, fire[unit.id], charge[unit.id], lost
        )
        if unit.id in stale
        else _kept(before.units[unit.id], field, unit, apart, touches, engaged)
        for unit in field.units
    }
    # How two units see each other hangs on nobody else.
    known = {pair.ids: pair for pair in before.pairs if changed.isdisjoint(pair.ids)}
    return Rulings(
        field,
        before.active,
        apart,
        touches,
        MappingProxyType(units),
        MappingProxyType(by_side),
        strings_of(
            field, before.active, by_side.get(before.active, ()), _strings(before, field, changed)
        ),
        pairs(field, apart, known),
        engaged,
        before.covers.renewed(field, changed),
        not_known=frozenset(lost),
    )


def _is_same_table(before: Field, after: Field) -> bool:
    old, new = before.position, after.position
    names = [(unit.id, unit.side, unit.unit.arm) for unit in before.units]
    return (old.table, old.terrain) == (new.table, new.terrain) and names == [
        (unit.id, unit.side, unit.unit.arm) for unit in after.units
    ]


def _taken_over(before: Field, after: Field) -> Field:
    """The field with the very units of the one before, where they are as they were."""
    units = tuple(
        before.by_id[unit.id] if unit.unit == before.by_id[unit.id].unit else unit
        for unit in after.units
    )
    by_id = MappingProxyType({unit.id: unit for unit in units})
    return replace(after, units=units, by_id=by_id)


def _changed(before: Field, after: Field) -> frozenset[str]:
    """The units that lie elsewhere, or of which something else is known."""
    return frozenset(unit.id for unit in after.units if unit is not before.by_id[unit.id])


def _strings(
    before: Rulings, field: Field, changed: frozenset[str]
) -> Mapping[tuple[str, tuple[str, ...]], ForceString]:
    """The strings that are as they were: no enemy has changed, and none of their own force."""
    if any(field.by_id[unit_id].side != before.active for unit_id in changed):
        return {}
    leaders = {leader.id: leader for leader in before.field.position.commanders}
    still = {leader.id for leader in field.position.commanders if leader == leaders.get(leader.id)}
    return {
        (string.commander, string.force): string
        for string in before.strings
        if string.commander in still and changed.isdisjoint(string.force)
    }


def within_reach(before: Field, after: Field, changed: frozenset[str]) -> frozenset[str]:
    """The units whose fire or charges can have changed: one that has was or is within reach."""
    if not changed:
        return changed
    places = _places(before, after, changed)
    doubt_mm = after.position.table.tolerance_mm + max(_doubt_mm(before), _doubt_mm(after))
    return changed | {
        unit.id
        for unit in after.units
        if shapely.dwithin(
            unit.outline, places, _reach_bw(unit.unit.arm) * after.bw_mm + doubt_mm
        ).any()
    }


def who_may_charge_anew(
    before: Field, after: Field, changed: frozenset[str], within_reach: frozenset[str]
) -> frozenset[str]:
    """Those of the units within reach whose charges can have changed, or how sure they are."""
    fields = (before, after)
    stirred = [each.by_id[name] for each in fields for name in changed if name in each.by_id]
    others = [after.by_id[name] for name in sorted(within_reach & after.by_id.keys() - changed)]
    slacks_mm = [max(charges_slack_mm(field, unit) for field in fields) for unit in others]
    return changed | come_near(after, others, stirred, slacks_mm)


def _places(before: Field, after: Field, changed: Collection[str]) -> list[shapely.Geometry]:
    """Where some units lay and lie; some may be gone, or new."""
    fields = (before, after)
    return [each.by_id[name].outline for each in fields for name in changed if name in each.by_id]


def _doubt_mm(field: Field) -> float:
    """How far beyond its reach something may lie and still leave a unit in doubt."""
    bases = [base for unit in field.units for base in unit.unit.bases]
    lever_mm = max((math.hypot(base.width_mm, base.depth_mm) for base in bases), default=0.0)
    sigmas = (base.sigma_mm + math.radians(base.sigma_deg) * lever_mm for base in bases)
    return 2 * _FAR_SIGMAS * max(sigmas, default=0.0)


def _reach_bw(arm: Arm) -> float:
    """How far away from it anything matters to a unit's fire and charges."""
    if arm == "artillery":
        return LONG_BW + _BESIDE_BW
    # Columns neither charge nor fire.
    return max(SHORT_BW, ALLOWANCES_BW[arm, "line"]) + _BESIDE_BW


def _kept(
    before: UnitRulings,
    field: Field,
    unit: UnitOnField,
    apart: Spacing,
    touches: Touching,
    engaged: Engagements,
) -> UnitRulings:
    """A unit's rulings with fire and charges as they were."""
    return replace(
        before,
        unit=unit,
        near=near_enemy(field, unit, apart),
        in_contact=touches.enemies_of(unit.id),
        flanked_by=flanked_by(field, unit, touches),
        engaged_with=engaged.of(unit.id),
        allowance_bw=allowance_bw(field, unit),
    )
