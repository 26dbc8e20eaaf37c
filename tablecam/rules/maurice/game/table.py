"""Rulings on the table of a state, possible declarations, and losses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from tablecam.geometry.moves.poses import has_same_bases
from tablecam.geometry.outlines import unit_footprint
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.game import DiceGroup, Refused
from tablecam.rules.maurice.charge.limits import may_charge
from tablecam.rules.maurice.field.field import Field, UnitOnField, field_of
from tablecam.rules.maurice.field.ground import with_difficult_barred
from tablecam.rules.maurice.game.actions import Charge, March
from tablecam.rules.maurice.game.state import Over, State
from tablecam.rules.maurice.place.ranges import possible_forces
from tablecam.rules.memo import Memo, remembered
from tablecam.table.model import Position
from tablecam.table.sides import side_name, side_plural
from tablecam.uncertainty.lengths import distance
from tablecam.wording import counted, nearest


def _closed_field(position: Position) -> Field:
    field = field_of(position)
    return replace(field, ground=with_difficult_barred(field.ground))


field_on: Final = remembered(field_of)
"""Returns the field of a position; raises `BadInput` as `field_of`."""
_with_rough_going: Final = remembered(_closed_field)


def field_at(state: State) -> Field:
    """Returns the field of a state; under Rough Going difficult ground is impassable."""
    return (_with_rough_going if state.round.is_rough_going else field_on)(state.position)


_FORCES: Final[Memo[tuple[tuple[str, ...], ...]]] = Memo()


def forces_at(state: State, side: str) -> tuple[tuple[str, ...], ...]:
    """Returns a side's maximal forces; links too close to call are the players' choice."""
    field = field_at(state)
    key = (field.position.table, field.ground, *(unit.place for unit in field.of_side(side)))
    return _FORCES.answer(key, lambda: possible_forces(field, field.of_side(side)))


def declarable_charges(state: State, name: str) -> tuple[Charge, ...]:
    """Returns a charge at each enemy whose arm allows it: no infantry at cavalry (M-8.4)."""
    field = field_at(state)
    unit = field.by_id[name]
    return tuple(
        Charge(name, enemy.id, ()) for enemy in field.enemies_of(unit) if may_charge(unit, enemy)
    )


def check_enemy(state: State, unit: UnitOnField, name: str, rule: str, key: str) -> None:
    """Refuses a name that is not an enemy of a unit."""
    enemies = [enemy.id for enemy in field_at(state).enemies_of(unit)]
    if name not in enemies:
        raise Refused(f"there is no enemy {name}{nearest(name, enemies)}", rule=rule, key=key)


def distance_words(state: State, unit: str, target: str) -> str:
    """Describes the target's distance, which is public once declared."""
    field = field_at(state)
    length = distance(field.by_id[unit].unit, field.by_id[target].unit)
    return f"{field.in_bw(length.value_mm):.2f} BW away"


def with_disruption(
    state: State, name: str, gained: int, why: str, rule: str, drawn: tuple[Shape, ...] = ()
) -> State:
    """Adds disruption to a unit, shown by `drawn`; callers check whether it breaks."""
    unit = field_at(state).by_id[name]
    level = unit.disruption + gained
    text = f"{name} {why}: {counted(gained, 'disruption')}, {level} in total"
    state = state.with_marker(unit.unit, disruption=level)
    return state.tells("disrupted", text, rule, *drawn, unit=name, disruption=gained, level=level)


def without_broken(state: State, broken: Sequence[str]) -> State:
    """Removes units that broke, in the order in which they broke (M-1.14).

    Each costs its army 1 morale. The army that first reaches 0 loses at once, and units that would
    break after that stay.

    Raises:
        KeyError: There is no such unit.
    """
    for name in broken:
        # The army may have lost with an earlier unit.
        if isinstance(state.step, Over):
            break
        unit = state.position.unit(name)
        if unit is None:
            raise KeyError(name)
        units = tuple(other for other in state.position.units if other.id != name)
        state = replace(state, position=replace(state.position, units=units))
        text, drawn = f"{name} breaks and leaves the table", shapes_of(unit_footprint(unit), "unit")
        state = state.tells("broken", text, "M-1.14", *drawn, unit=name, side=unit.side)
        state = with_less_morale(state, unit.side)
    return state


def with_less_morale(state: State, side: str) -> State:
    """Takes 1 morale from an army; at 0 the game is over (M-2.5, M-4.1)."""
    left = state.side(side).morale - 1
    state = state.with_side(replace(state.side(side), morale=left))
    text = f"the {side_name(side)} army has {left} morale left"
    state = state.tells("morale", text, "M-2.5", side=side, morale=left)
    if left > 0:
        return state
    winner = state.other(side)
    because = f"the {side_name(side)} army has no morale left: {side_plural(winner)} win"
    state = state.to(Over(winner, because, "M-4.1"))
    return state.tells("over", because, "M-4.1", winner=winner)


def outlines(field: Field, names: Iterable[str]) -> tuple[Shape, ...]:
    """Draws the outlines of units, each with its name."""
    units = (field.by_id[name] for name in names if name in field.by_id)
    return tuple(chain.from_iterable(shapes_of(unit.outline, "unit", unit.id) for unit in units))


def compared(names: Iterable[str]) -> tuple[DiceGroup, ...]:
    """Returns a die for each name; the dice are compared, so none needs a number."""
    return tuple(DiceGroup(name, None, (place,)) for place, name in enumerate(names))


def check_bases(state: State, action: March | Charge) -> None:
    """Checks that a move is for a unit on the table and has its bases.

    Raises:
        Refused: There is no such unit, or it has other bases.
    """
    unit = state.position.unit(action.unit)
    if unit is None:
        raise Refused(f"expected a unit on the table, got {action.unit}", rule="M-6.1", key="unit")
    if not has_same_bases(action.bases, unit.bases):
        why = f"expected the {len(unit.bases)} bases of {unit.id}, got different ones"
        raise Refused(why, rule="M-1.6", key="bases")
