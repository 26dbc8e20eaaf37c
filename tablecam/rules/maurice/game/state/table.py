"""The table as a state of the game knows it: made ready for the rules and asked only once.

What a unit may shoot at and charge hangs on what lies within its reach. While nothing there has
moved it is taken over from one state to the next, as `renewed` does for rulings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as datafield
from types import MappingProxyType
from typing import Final

from tablecam.rules.maurice.charge.charge import Charge, charges
from tablecam.rules.maurice.field.field import (
    Field,
    UnitOnField,
    field_of,
    is_same_ground,
    renewed_field,
)
from tablecam.rules.maurice.fire.fire import BaseFire, Fires, fires
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.place.forces import possible_forces
from tablecam.rules.maurice.rulings.renewed import who_may_charge_anew, within_reach
from tablecam.table.model import Position

_KEPT = 8
"""So many tables are kept: those of a state, of what it might become, and of the round's start."""


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The field of a position and what it has been asked; `is_closed` as in Rough Going."""

    position: Position
    is_closed: bool
    field: Field
    fire: dict[str, Mapping[str, BaseFire]] = datafield(default_factory=dict)
    charge: dict[str, Charge] = datafield(default_factory=dict)
    forces: dict[str, tuple[tuple[str, ...], ...]] = datafield(default_factory=dict)


_LATEST: Final[deque[_Table]] = deque(maxlen=_KEPT)
"""A memo of pure functions, keyed by the very positions, as comparing them takes longer."""


def field_at(state: State) -> Field:
    """The table as it lies now. In a round of Rough Going nobody moves over difficult ground."""
    return _table_at(state).field


def field_on(position: Position) -> Field:
    """The field of a position; what has not changed since a late one is taken over from it.

    Raises:
        BadInput: As `field_of`.
    """
    return _table_on(position, is_closed=False).field


def fire_at(state: State, names: Collection[str]) -> Fires:
    """The fire of some units as all lie now, each by its bases' names."""
    table = _table_at(state)
    if unknown := [name for name in names if name not in table.fire]:
        table.fire.update(fires(table.field, only=unknown))
    return MappingProxyType({name: table.fire[name] for name in names})


def charges_at(state: State, names: Collection[str]) -> Mapping[str, Charge]:
    """Whom some units can charge as all lie now."""
    table = _table_at(state)
    if unknown := [name for name in names if name not in table.charge]:
        table.charge.update(charges(table.field, only=unknown))
    return MappingProxyType({name: table.charge[name] for name in names})


def forces_at(state: State, side: str) -> tuple[tuple[str, ...], ...]:
    """The maximal forces of a side as all lie now; what is too close to call is the players'."""
    table = _table_at(state)
    if side not in table.forces:
        table.forces[side] = possible_forces(table.field, side)
    return table.forces[side]


def _table_at(state: State) -> _Table:
    return _table_on(state.position, is_closed=state.round.is_rough_going)


def _table_on(position: Position, *, is_closed: bool) -> _Table:
    latest = tuple(_LATEST)
    for known in latest:
        if known.position is position and known.is_closed == is_closed:
            return known
    made = _made(position, latest, is_closed=is_closed)
    _LATEST.append(made)
    return made


def _made(position: Position, latest: tuple[_Table, ...], *, is_closed: bool) -> _Table:
    for known in reversed(latest):
        if known.is_closed == is_closed and is_same_ground(known.position, position):
            return _renewed(known, position)
    field = field_of(position)
    if is_closed:
        field = replace(field, ground=field.ground.closed())
    return _Table(position, is_closed, field)


def _renewed(before: _Table, position: Position) -> _Table:
    """The table of a position that follows another, with the answers that must be the same."""
    field = renewed_field(before.field, position)
    moved = _moved(before.field, field)
    fresh = within_reach(before.field, field, moved)
    may_charge = who_may_charge_anew(before.field, field, moved, fresh)
    as_before = {name for name, unit in field.by_id.items() if _is_as(before.field, unit)}
    fire = {name: each for name, each in before.fire.items() if name in as_before - fresh}
    charge = {name: each for name, each in before.charge.items() if name in as_before - may_charge}
    stirred = {
        each.by_id[name].side
        for each in (before.field, field)
        for name in moved & each.by_id.keys()
    }
    by_side = {side: each for side, each in before.forces.items() if side not in stirred}
    return _Table(position, before.is_closed, field, fire, charge, by_side)


def _moved(before: Field, after: Field) -> frozenset[str]:
    """The units that do not lie as before, are new or are gone."""
    names = before.by_id.keys() | after.by_id.keys()
    return frozenset(
        name
        for name in names
        if name not in before.by_id
        or name not in after.by_id
        or not _lies_as(before.by_id[name], after.by_id[name])
    )


def _lies_as(one: UnitOnField, other: UnitOnField) -> bool:
    return one is other or (
        (one.side, one.unit.arm, one.formation) == (other.side, other.unit.arm, other.formation)
        and one.unit.bases == other.unit.bases
    )


def _is_as(before: Field, unit: UnitOnField) -> bool:
    """Whether a unit's own state, smoke apart, is as it was: smoke hinders no fire (M-4.23)."""
    was = before.by_id.get(unit.id)
    return was is not None and was.disruption == unit.disruption
