"""Fire and charges that are lost, as players declare before they measure (`DECLARING.md`).

Nothing is refused for being out of reach: a refusal would measure for the player.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablecam.rules.game import Event, Refused
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.requests import ShotAssignment
from tablecam.rules.maurice.game.moves.charge_ends import ChargeEnd, charge_ends, nearest_charge
from tablecam.rules.maurice.game.state.actions import Charge, Fire
from tablecam.rules.maurice.game.state.declaring import may_try_to_charge, may_try_to_fire
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.uncertainty.lengths import distance
from tablecam.wording import nearest


def check_declared_fire(state: State, unit: UnitOnField, action: Fire) -> None:
    """Checks that fire is possible by what all can see.

    Raises:
        Refused: The unit cannot fire in its formation, or a target is no enemy on the table.
    """
    if not may_try_to_fire(unit):
        raise Refused(f"{unit.id} may not fire in its formation", rule="M-7.7", key="unit")
    for target in action.targets.values():
        _check_enemy(state, unit, target, "M-7.11", "targets")


def lost_shots(
    state: State, declared: Sequence[ShotAssignment], left: Sequence[ShotAssignment]
) -> tuple[Event, ...]:
    """Returns events for bases that have no shot as declared, by target."""
    counts: dict[tuple[str, str], int] = {}
    for aim in declared:
        if aim not in left:
            counts[aim.unit, aim.target] = counts.get((aim.unit, aim.target), 0) + 1
    return tuple(_lost_shot(state, *pair, count) for pair, count in counts.items())


def declared_charge_end(state: State, action: Charge) -> ChargeEnd | None:
    """Returns the charge that reaches the named enemy, or None if none does: it is lost.

    Raises:
        Refused: By what all can see, the unit cannot charge this enemy (M-8.4).
    """
    field = field_at(state)
    unit = field.by_id[action.unit]
    _check_enemy(state, unit, action.target, "M-8.3", "target")
    if not may_try_to_charge(unit):
        raise Refused(f"{unit.id} may not declare a charge", rule="M-8.4", key="unit")
    if unit.unit.arm == "infantry" and field.by_id[action.target].unit.arm == "cavalry":
        raise Refused("infantry may not charge cavalry", rule="M-8.4", key="target")
    if state.round.is_rough_going and unit.is_in_difficult:
        return None
    ahead = (end for end in charge_ends(field, unit) if end.target == action.target)
    # A charge that is too close to call is the charger's choice.
    return next(ahead, None) or nearest_charge(field, unit, action.target, unit.axes)


def lost_charge(state: State, action: Charge) -> Event:
    """Returns the event of a charge that reaches nobody."""
    away = _distance_words(state, action.unit, action.target)
    text = f"{action.unit} has no charge that reaches {action.target}, which is {away}"
    facts = {"unit": action.unit, "target": action.target}
    return Event("charge-lost", f"{text}: it stays where it is", "M-8.3", facts)


def _lost_shot(state: State, unit: str, target: str, count: int) -> Event:
    whose, verb = ("1 base", "has") if count == 1 else (f"{count} bases", "have")
    away = _distance_words(state, unit, target)
    text = f"{whose} of {unit} {verb} no shot at {target}, which is {away}: the fire is lost"
    facts = {"unit": unit, "target": target, "bases": count}
    return Event("fire-lost", text, "M-7.12", facts)


def _distance_words(state: State, unit: str, target: str) -> str:
    """Describes the target's distance, which is open information once declared."""
    field = field_at(state)
    length = distance(field.by_id[unit].unit, field.by_id[target].unit)
    return f"{field.in_bw(length.value_mm):.2f} BW away"


def _check_enemy(state: State, unit: UnitOnField, name: str, rule: str, key: str) -> None:
    enemies = [enemy.id for enemy in field_at(state).enemies_of(unit)]
    if name not in enemies:
        raise Refused(f"there is no enemy {name}{nearest(name, enemies)}", rule=rule, key=key)
