"""Rulings on the table of a state: its field, fire, charges and forces."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from tablecam.rules.maurice.charge.charge import Charge, charges
from tablecam.rules.maurice.field.field import (
    Field,
    field_of,
    is_same_ground,
    updated_field,
)
from tablecam.rules.maurice.fire.fire import FireByUnit, fire_of_units
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.place.forces import possible_forces
from tablecam.rules.memo import Memo
from tablecam.table.model import Position

_CACHE_SIZE = 8
"""Tables in the cache: a state's, those it might become, and the round's start."""


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The field of a position; `is_closed` under Rough Going."""

    position: Position
    is_closed: bool
    field: Field


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
    return fire_of_units(field_at(state), names)


def charges_at(state: State, names: Collection[str]) -> Mapping[str, Charge]:
    """Returns the charges of some units, by unit."""
    return charges(field_at(state), names)


_FORCES: Final[Memo[tuple[tuple[str, ...], ...]]] = Memo()


def forces_at(state: State, side: str) -> tuple[tuple[str, ...], ...]:
    """Returns a side's maximal forces; links too close to call are the players' choice."""
    field = field_at(state)
    key = (field.position.table, field.ground, *(unit.place for unit in field.of_side(side)))
    return _FORCES.answer(key, lambda: possible_forces(field, side))


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
            field = updated_field(recent.field, position)
            return _Table(position, is_closed, field)
    field = field_of(position)
    if is_closed:
        field = replace(field, ground=field.ground.with_difficult_barred())
    return _Table(position, is_closed, field)
