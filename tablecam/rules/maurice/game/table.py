"""The table as a state of the game knows it, made ready for the rules once and not again."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Final

from tablecam.rules.maurice.field import Field, field_of, renewed_field
from tablecam.rules.maurice.game.state import State
from tablecam.table.model import Position

_KEPT = 8
"""So many fields are kept: those of a state, of what it might become, and of the round's start."""


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """The field of a position; `is_closed` as in a round of Rough Going."""

    position: Position
    is_closed: bool
    field: Field


_LATEST: Final[deque[_Known]] = deque(maxlen=_KEPT)
"""A memo of a pure function, keyed by the very positions, as comparing them takes longer."""


def field_at(state: State) -> Field:
    """The table as it lies now. In a round of Rough Going nobody moves over difficult ground."""
    return field_on(state.position, is_closed=state.round.is_rough_going)


def field_on(position: Position, *, is_closed: bool = False) -> Field:
    """The field of a position; what has not changed since a late one is taken over from it.

    Raises:
        BadInput: As `field_of`.
    """
    latest = tuple(_LATEST)
    for known in latest:
        if known.position is position and known.is_closed == is_closed:
            return known.field
    field = _made(position, latest, is_closed=is_closed)
    _LATEST.append(_Known(position, is_closed, field))
    return field


def _made(position: Position, latest: tuple[_Known, ...], *, is_closed: bool) -> Field:
    for known in reversed(latest):
        if known.is_closed == is_closed and _is_same_ground(known.position, position):
            return renewed_field(known.field, position)
    field = field_of(position)
    return replace(field, ground=field.ground.closed()) if is_closed else field


def _is_same_ground(one: Position, other: Position) -> bool:
    return (one.game, one.table, one.terrain) == (other.game, other.table, other.terrain)
