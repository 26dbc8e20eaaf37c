"""Cached rulings on the table of a state: its field, fire, charges and forces.

What a unit may shoot at and charge depends on what lies within its reach. While nothing there has
moved, the answer is reused in the next state, as `rulings.renewed` does for rulings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as datafield
from types import MappingProxyType
from typing import Final

from tablecam.rules.maurice.charge.charge import Charge, charge_of, charges
from tablecam.rules.maurice.field.field import (
    Field,
    UnitOnField,
    field_of,
    is_same_ground,
    updated_field,
)
from tablecam.rules.maurice.fire.fire import BaseFire, FireByUnit, fire_of_units
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.place.forces import possible_forces
from tablecam.rules.maurice.rulings.update import affected_units, units_with_stale_charges
from tablecam.table.model import Position

_CACHE_SIZE = 8
"""Tables in the cache: a state's, those it might become, and the round's start."""


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The field of a position with the answers so far; `is_closed` under Rough Going."""

    position: Position
    is_closed: bool
    field: Field
    fire: dict[str, Mapping[str, BaseFire]] = datafield(default_factory=dict)
    charge: dict[str, Charge] = datafield(default_factory=dict)
    forces: dict[str, tuple[tuple[str, ...], ...]] = datafield(default_factory=dict)


_LATEST: Final[deque[_Table]] = deque(maxlen=_CACHE_SIZE)
"""The cache, keyed by identity: comparing positions takes longer than missing."""


def field_at(state: State) -> Field:
    """Returns the field of a state; under Rough Going difficult ground is impassable."""
    return _table_at(state).field


def field_on(position: Position) -> Field:
    """Returns the field of a position, reusing what has not changed since a recent one.

    Raises:
        BadInput: As `field_of`.
    """
    return _table_on(position, is_closed=False).field


def fire_at(state: State, names: Collection[str]) -> FireByUnit:
    """Returns the fire options of some units, by unit and base name."""
    table = _table_at(state)
    if missing := [name for name in names if name not in table.fire]:
        table.fire.update(fire_of_units(table.field, only=missing))
    return MappingProxyType({name: table.fire[name] for name in names})


def charges_at(state: State, names: Collection[str]) -> Mapping[str, Charge]:
    """Returns the charges of some units, by unit."""
    table = _table_at(state)
    missing = [name for name in names if name not in table.charge]
    if len(missing) == 1:
        table.charge[missing[0]] = charge_of(table.field, table.field.by_id[missing[0]])
    elif missing:
        table.charge.update(charges(table.field, only=missing))
    return MappingProxyType({name: table.charge[name] for name in names})


def forces_at(state: State, side: str) -> tuple[tuple[str, ...], ...]:
    """Returns a side's maximal forces; links too close to call are the players' choice."""
    table = _table_at(state)
    if side not in table.forces:
        table.forces[side] = possible_forces(table.field, side)
    return table.forces[side]


def _table_at(state: State) -> _Table:
    return _table_on(state.position, is_closed=state.round.is_rough_going)


def _table_on(position: Position, *, is_closed: bool) -> _Table:
    """Returns the cached table of a position, or a new one."""
    # Another thread may append meanwhile.
    latest = tuple(_LATEST)
    for recent in latest:
        if recent.position is position and recent.is_closed == is_closed:
            return recent
    table = _new_table(position, latest, is_closed=is_closed)
    _LATEST.append(table)
    return table


def _new_table(position: Position, latest: tuple[_Table, ...], *, is_closed: bool) -> _Table:
    """Builds a table, from a recent one on the same ground where possible."""
    # The latest table on the same ground shares most answers.
    for recent in reversed(latest):
        if recent.is_closed == is_closed and is_same_ground(recent.position, position):
            return _renewed(recent, position)
    field = field_of(position)
    if is_closed:
        field = replace(field, ground=field.ground.with_difficult_barred())
    return _Table(position, is_closed, field)


def _renewed(before: _Table, position: Position) -> _Table:
    """Builds the table of a following position, reusing the answers that cannot have changed."""
    field = updated_field(before.field, position)
    moved = _moved_units(before.field, field)
    fresh = affected_units(before.field, field, moved)
    may_charge = units_with_stale_charges(before.field, field, moved, fresh)
    unchanged = {
        name for name, unit in field.by_id.items() if _has_same_disruption(before.field, unit)
    }
    # Fire depends on reach and on the unit's own disruption, forces on any move within the side.
    fire = {name: options for name, options in before.fire.items() if name in unchanged - fresh}
    charge = {
        name: charge for name, charge in before.charge.items() if name in unchanged - may_charge
    }
    moved_sides = {
        both.by_id[name].side
        for both in (before.field, field)
        for name in moved & both.by_id.keys()
    }
    by_side = {side: chains for side, chains in before.forces.items() if side not in moved_sides}
    return _Table(position, before.is_closed, field, fire, charge, by_side)


def _moved_units(before: Field, after: Field) -> frozenset[str]:
    """Returns the names of units that lie elsewhere, are new or are gone."""
    names = before.by_id.keys() | after.by_id.keys()
    return frozenset(
        name
        for name in names
        if name not in before.by_id
        or name not in after.by_id
        or not _lies_as(before.by_id[name], after.by_id[name])
    )


def _lies_as(one: UnitOnField, other: UnitOnField) -> bool:
    """Whether a unit lies as another does, with the same arm, side and formation."""
    # The same object if it lies still (`updated_field`).
    return one is other or (
        (one.side, one.unit.arm, one.formation) == (other.side, other.unit.arm, other.formation)
        and one.unit.bases == other.unit.bases
    )


def _has_same_disruption(before: Field, unit: UnitOnField) -> bool:
    """Whether a unit's disruption is unchanged; smoke does not matter to fire (M-4.23)."""
    previous = before.by_id.get(unit.id)
    return previous is not None and previous.disruption == unit.disruption
