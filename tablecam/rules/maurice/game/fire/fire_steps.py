"""A side's fire, unit by unit: declared, then rolled to hit (M-7.5, M-7.8)."""

from __future__ import annotations

from dataclasses import replace

from tablecam.errors import BadInput
from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.rules.maurice.field.requests import Kind, ShotAssignment, Volley
from tablecam.rules.maurice.fire.volley import Shot, shot_list
from tablecam.rules.maurice.game.fire.fire_choices import able_to_fire, in_order, usual_fire
from tablecam.rules.maurice.game.moves.lost_declarations import check_declared_fire, lost_shots
from tablecam.rules.maurice.game.state.actions import Action, Done, Fire, FireFrom
from tablecam.rules.maurice.game.state.sequence import after_fire
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.step_rules import StateAndEvents
from tablecam.rules.maurice.game.state.steps import Firing, RollingToDisrupt, RollingToHit, Symbol
from tablecam.rules.maurice.game.state.table import field_at, fire_at
from tablecam.table.sides import side_name
from tablecam.wording import joined, nearest

_SYMBOLS: dict[Kind, Symbol] = {"volley": "musket", "bombard": "cannon"}
"""The card symbol that modifies each kind of fire (M-3.5)."""


class FiringRules:
    """Rules of `Firing`: from one end of the line, unit by unit."""

    def asked(self, state: State, step: Firing) -> PendingDecision:
        """Asks the firing side."""
        side = side_name(step.side)
        if step.direction is None:
            return PendingDecision(
                f"From which end does {side} fire first, left or right?", step.side
            )
        return PendingDecision(f"Which unit of {side} fires next, and at whom?", step.side)

    def legal(self, state: State, step: Firing) -> tuple[Action, ...]:
        """Lists the ends to begin from, then the usual fire of each unit in line order."""
        able = able_to_fire(state, step)
        if step.direction is None:
            return (*((FireFrom("left"), FireFrom("right")) if able else ()), Done())
        ordered = in_order(able, step.direction)
        return (*(fire for unit in ordered for fire in usual_fire(state, unit, step.kind)), Done())

    def apply(self, state: State, step: Firing, action: Action) -> StateAndEvents:
        """Moves on to the unit's to-hit roll, or ends this side's fire."""
        if isinstance(action, FireFrom) and step.direction is None:
            return state.to(replace(step, direction=action.direction)), ()
        if isinstance(action, Fire) and step.direction is not None:
            return _declared(state, step, action)
        if isinstance(action, Done):
            return to_disrupt(state, step), ()
        expected = "left or right" if step.direction is None else "a unit's fire"
        raise Refused(f"expected {expected} or done, got {action.type}", rule="M-7.8")


def shots_of(state: State, step: RollingToHit) -> tuple[Shot, ...]:
    """Returns the shots of the aims just declared, with card modifiers.

    Raises:
        Refused: A base may not fire at its target.
    """
    firing = step.firing
    amounts = state.round.amounts(_SYMBOLS[firing.kind])
    names = {aim.unit for aim in step.aims}
    cards = {name: amounts[name] for name in names if name in amounts}
    try:
        request = Volley(firing.kind, firing.side, step.aims, cards)
        return shot_list(field_at(state), request, fire_at(state, names))
    except BadInput as error:
        raise Refused(error.message, rule="M-7.12", key="targets") from None


def fired_out(state: State, step: Firing) -> StateAndEvents | None:
    """Moves on to disruption when no unit of the side can fire; returns None while one can."""
    return None if able_to_fire(state, step) else (to_disrupt(state, step), ())


def to_disrupt(state: State, firing: Firing) -> State:
    """Moves on to the disruption roll of the next target hit, or to the next side's fire."""
    # Target by target, until no hits are left.
    if firing.hits:
        return state.to(RollingToDisrupt(firing.hits[0].target, firing))
    if firing.next_sides:
        # The other side fires once this one's fire is resolved (M-7.2).
        side, *later = firing.next_sides
        return state.to(Firing(firing.kind, side, next_sides=tuple(later)))
    return after_fire(state, firing.kind)


def _declared(state: State, step: Firing, action: Fire) -> StateAndEvents:
    """Declares a unit's fire: marks it as fired, smokes guns, and rolls what has a shot."""
    _check_may_fire(state, step, action)
    field = field_at(state)
    unit = field.by_id[action.unit]
    aims = tuple(
        ShotAssignment(action.unit, base, target) for base, target in action.targets.items()
    )
    declared = aims
    lost: tuple[Event, ...] = ()
    if state.declares_first:
        aims = tuple(aim for aim in aims if _has_shot(state, step, aim))
        # Nobody has measured, so bases out of range lose their shot instead of being refused.
        lost = lost_shots(state, declared, aims)
    else:
        # Refuses illegal aims before anything changes.
        shots_of(state, RollingToHit(aims, step))
    state = replace(state, round=replace(state.round, fired=state.round.fired | {unit.id}))
    if unit.unit.arm == "artillery":
        state = state.with_marker(unit.unit, smoke=True)  # M-4.23
    at = joined(dict.fromkeys(action.targets.values()))
    text = f"{unit.id} fires at {at}, with {len(declared)} base{'s' * (len(declared) > 1)}"
    facts = {"unit": unit.id, "targets": list(dict.fromkeys(action.targets.values()))}
    event = Event("fires", text, "M-7.8", facts)
    # Without a shot there is nothing to roll.
    return state.to(RollingToHit(aims, step) if aims else step), (event, *lost)


def _has_shot(state: State, step: Firing, aim: ShotAssignment) -> bool:
    """Whether a base may fire as it was declared to."""
    try:
        shots_of(state, RollingToHit((aim,), step))
    except Refused:
        return False
    return True


def _check_may_fire(state: State, step: Firing, action: Fire) -> None:
    """Refuses a unit, base or target that may not fire or be fired at in this step."""
    unit = field_at(state).by_id.get(action.unit)
    if unit is None or unit.side != step.side:
        why = f"expected a unit of {side_name(step.side)}, got {action.unit}"
        raise Refused(why, rule="M-7.2", key="unit")
    if action.unit in state.round.fired:
        raise Refused(f"{action.unit} has already fired in this round", rule="M-7.7", key="unit")
    if step.may is not None and action.unit not in step.may:
        raise Refused(f"{action.unit} is not in the activated force", rule="M-7.3", key="unit")
    if not action.targets:
        raise Refused("expected a target for at least one base", rule="M-7.5", key="targets")
    if state.declares_first:
        check_declared_fire(state, unit, action)
    names = [unit.unit.base_name(place) for place in range(len(unit.bases))]
    for base in action.targets:
        if base not in names:
            why = f"{unit.id} has no base {base}{nearest(base, names)}"
            raise Refused(why, rule="M-7.14", key="targets")
