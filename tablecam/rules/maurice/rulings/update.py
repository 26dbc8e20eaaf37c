"""Updates rulings after some units have moved: only what can have changed is ruled again.

A unit's fire and charges depend only on what lies within its reach. They are ruled again only if
the unit has changed, or if a changed unit was or is within reach. Distances, contact, flanks and
cover depend on the two units concerned; engagements on units near the attacker; a path on its
commander, its force and all enemies.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

import shapely

from tablecam.rules.maurice.charge.charge import charges
from tablecam.rules.maurice.charge.confidence import charge_error_bound_mm
from tablecam.rules.maurice.charge.reach import chargers_affected
from tablecam.rules.maurice.combat.engagement import Engagements, engagements
from tablecam.rules.maurice.field.distance_matrix import DistanceMatrix, updated_distance_matrix
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import (
    ALLOWANCES_BW,
    CHARGE_WHEEL_BW,
    LONG_BW,
    SHORT_BW,
    ZONE_BW,
)
from tablecam.rules.maurice.fire.fire import fire_of_units
from tablecam.rules.maurice.movement.judge import allowance_bw
from tablecam.rules.maurice.place.contacts import Contacts, updated_contacts
from tablecam.rules.maurice.place.flank import flanked_by
from tablecam.rules.maurice.place.forces import forces
from tablecam.rules.maurice.place.near import near_enemy
from tablecam.rules.maurice.place.pairs import pairs
from tablecam.rules.maurice.rulings.facts import ForcePath, Rulings, UnitRulings, attempt
from tablecam.rules.maurice.rulings.rulings import all_rulings, sides, strings_of, unit_rulings
from tablecam.table.model import Arm

_BESIDE_BW = CHARGE_WHEEL_BW + ZONE_BW
"""How far a wheel, or a turned zone's width, extends what a unit reaches."""
_FAR_SIGMAS = 6.0
"""Bound on the errors of each of two units, in sigmas; no answer depends on larger ones."""


def renewed(before: Rulings, field: Field) -> Rulings:
    """Returns all rulings on a field, reusing earlier ones that cannot have changed.

    Equal to `all_rulings(field, before.active)`, only faster. If terrain, the table or the set of
    units has changed, everything is ruled afresh.
    """
    # Partial rulings cannot be updated: what they lack would be missing from the result.
    if before.is_close_up or before.not_known or not _is_same_table(before.field, field):
        return all_rulings(field, before.active)
    updated = attempt("what has changed", lambda: _updated(before, field), None)
    return all_rulings(field, before.active) if updated is None else updated


def _updated(before: Rulings, field: Field) -> Rulings:
    """Rules on what has changed and takes the rest from earlier rulings."""
    field = _with_unchanged_units(before.field, field)
    changed = _changed_units(before.field, field)
    apart = updated_distance_matrix(before.distances, field, changed)
    touches = updated_contacts(before.contacts, field, changed)
    engaged = engagements(field, before.active, before.engagements)
    by_side = {side: forces(field, side, apart) for side in sides(field)}
    affected = affected_units(before.field, field, changed)
    # Unaffected units keep their fire as it was.
    fire = fire_of_units(
        field, affected, {name: unit_before.fire for name, unit_before in before.units.items()}
    )
    charge = {name: unit_before.charge for name, unit_before in before.units.items()} | charges(
        field, only=units_with_stale_charges(before.field, field, changed, affected)
    )
    not_known: set[str] = set()
    units = {
        unit.id: unit_rulings(
            field, unit, apart, touches, engaged, fire[unit.id], charge[unit.id], not_known
        )
        if unit.id in affected
        else _with_fire_and_charge(before.units[unit.id], field, unit, apart, touches, engaged)
        for unit in field.units
    }
    # How two units see each other depends on no other unit.
    unchanged_pairs = {pair.ids: pair for pair in before.pairs if changed.isdisjoint(pair.ids)}
    return Rulings(
        field,
        before.active,
        apart,
        touches,
        MappingProxyType(units),
        MappingProxyType(by_side),
        strings_of(
            field,
            before.active,
            by_side.get(before.active, ()),
            _unchanged_strings(before, field, changed),
        ),
        pairs(field, apart, unchanged_pairs),
        engaged,
        before.covers.updated(field, changed),
        not_known=frozenset(not_known),
    )


def _is_same_table(before: Field, after: Field) -> bool:
    old, new = before.position, after.position
    names = [(unit.id, unit.side, unit.unit.arm) for unit in before.units]
    return (old.table, old.terrain) == (new.table, new.terrain) and names == [
        (unit.id, unit.side, unit.unit.arm) for unit in after.units
    ]


def _with_unchanged_units(before: Field, after: Field) -> Field:
    """Returns the field with the identical objects for units that have not changed."""
    units = tuple(
        before.by_id[unit.id] if unit.unit == before.by_id[unit.id].unit else unit
        for unit in after.units
    )
    by_id = MappingProxyType({unit.id: unit for unit in units})
    return replace(after, units=units, by_id=by_id)


def _changed_units(before: Field, after: Field) -> frozenset[str]:
    """Returns the units whose pose or state differs."""
    # Unchanged units are identical objects after `_with_unchanged_units`.
    return frozenset(unit.id for unit in after.units if unit is not before.by_id[unit.id])


def _unchanged_strings(
    before: Rulings, field: Field, changed: frozenset[str]
) -> Mapping[tuple[str, tuple[str, ...]], ForcePath]:
    """Returns paths that stay valid: no enemy has changed, nor the commander or force."""
    # Every path keeps away from every enemy, so one that moves may affect them all.
    if any(field.by_id[unit_id].side != before.active for unit_id in changed):
        return {}
    leaders = {leader.id: leader for leader in before.field.position.commanders}
    unmoved = {
        leader.id for leader in field.position.commanders if leader == leaders.get(leader.id)
    }
    return {
        (string.commander, string.force): string
        for string in before.paths
        if string.commander in unmoved and changed.isdisjoint(string.force)
    }


def affected_units(before: Field, after: Field, changed: frozenset[str]) -> frozenset[str]:
    """Returns units whose fire or charges may have changed: a changed unit was or is in reach."""
    if not changed:
        return changed
    places = _places(before, after, changed)
    error_bound_mm = after.position.table.tolerance_mm + max(
        _error_bound_mm(before), _error_bound_mm(after)
    )
    return changed | {
        unit.id
        for unit in after.units
        if shapely.dwithin(
            unit.outline, places, _reach_bw(unit.unit.arm) * after.bw_mm + error_bound_mm
        ).any()
    }


def units_with_stale_charges(
    before: Field, after: Field, changed: frozenset[str], within_reach: frozenset[str]
) -> frozenset[str]:
    """Returns the units whose charges, or their confidence, may have changed."""
    fields = (before, after)
    changed_units = [
        field.by_id[name] for field in fields for name in changed if name in field.by_id
    ]
    others = [after.by_id[name] for name in sorted(within_reach & after.by_id.keys() - changed)]
    tolerances_mm = [max(charge_error_bound_mm(field, unit) for field in fields) for unit in others]
    return changed | chargers_affected(after, others, changed_units, tolerances_mm)


def _places(before: Field, after: Field, changed: Collection[str]) -> list[shapely.Geometry]:
    """Returns the outlines of some units before and after; some may be gone or new."""
    fields = (before, after)
    return [
        field.by_id[name].outline for field in fields for name in changed if name in field.by_id
    ]


def _error_bound_mm(field: Field) -> float:
    """Returns how far beyond its reach a unit's answers can still depend on measurement error."""
    bases = [base for unit in field.units for base in unit.unit.bases]
    lever_mm = max((math.hypot(base.width_mm, base.depth_mm) for base in bases), default=0.0)
    sigmas = (base.sigma_mm + math.radians(base.sigma_deg) * lever_mm for base in bases)
    # Twice: the unit's own error and the other's.
    return 2 * _FAR_SIGMAS * max(sigmas, default=0.0)


def _reach_bw(arm: Arm) -> float:
    """Returns the distance beyond which nothing affects a unit's fire and charges."""
    if arm == "artillery":
        return LONG_BW + _BESIDE_BW
    # Columns neither charge nor fire.
    return max(SHORT_BW, ALLOWANCES_BW[arm, "line"]) + _BESIDE_BW


def _with_fire_and_charge(
    before: UnitRulings,
    field: Field,
    unit: UnitOnField,
    apart: DistanceMatrix,
    touches: Contacts,
    engaged: Engagements,
) -> UnitRulings:
    """Returns a unit's updated rulings with fire and charges as before."""
    return replace(
        before,
        unit=unit,
        near=near_enemy(field, unit, apart),
        in_contact=touches.enemies_of(unit.id),
        flanked_by=flanked_by(field, unit, touches),
        engaged_with=engaged.enemies_of(unit.id),
        allowance_bw=allowance_bw(field, unit),
    )
