"""Fire: a side's units declare one by one, each rolling to hit at once (M-7.5, M-7.8).

Hits are rolled again to disrupt when all units have fired (M-7.20 ff.).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tablecam.rules.dice import Roll, values_of
from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.requests import Kind, ShotAssignment, Volley
from tablecam.rules.maurice.fire.fire import BaseFire
from tablecam.rules.maurice.fire.option import Range
from tablecam.rules.maurice.fire.volley import (
    RolledShot,
    Shot,
    disrupt_number,
    roll_shots,
    shot_list,
    target_result,
)
from tablecam.rules.maurice.game.state.actions import Action, Done, Fire, FireFrom
from tablecam.rules.maurice.game.state.consequences import without_broken
from tablecam.rules.maurice.game.state.declaring import (
    check_enemy,
    declarable_fire,
    distance_words,
)
from tablecam.rules.maurice.game.state.sequence import after_fire
from tablecam.rules.maurice.game.state.state import State, StateAndEvents
from tablecam.rules.maurice.game.state.step_rules import RollRules, refusing
from tablecam.rules.maurice.game.state.steps import (
    Direction,
    Firing,
    Over,
    RollingToDisrupt,
    RollingToHit,
    Symbol,
)
from tablecam.rules.maurice.game.state.table import field_at, fire_at
from tablecam.table.headings import forward, mean_deg
from tablecam.table.sides import side_name, side_plural
from tablecam.wording import counted, joined, nearest

_RANGES: dict[Kind, Range] = {"volley": "short", "bombard": "long"}
"""The range of each kind of fire (M-7.1)."""
_SYMBOLS: dict[Kind, Symbol] = {"volley": "musket", "bombard": "cannon"}
"""The card symbol that modifies each kind of fire (M-3.5)."""


class FiringRules:
    """Rules of `Firing`: from one end of the line, unit by unit."""

    def asked(self, state: State, step: Firing) -> PendingDecision:
        """Asks the firing side."""
        side = side_plural(step.side)
        if step.direction is None:
            return PendingDecision(f"{side}: start firing from the left or the right?", step.side)
        return PendingDecision(f"{side}: which unit fires next, and at whom?", step.side)

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
    with refusing("M-7.12", "targets"):
        return shot_list(field_at(state), Volley(firing.kind, firing.side, step.aims, cards))


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
        lost = _lost_shots(state, declared, aims)
    else:
        # Refuses illegal aims before anything changes.
        shots_of(state, RollingToHit(aims, step))
    state = replace(state, round=replace(state.round, fired=state.round.fired | {unit.id}))
    if unit.unit.arm == "artillery":
        state = state.with_marker(unit.unit, smoke=True)  # M-4.23
    at = joined(dict.fromkeys(action.targets.values()))
    text = f"{unit.id} fires at {at}, with {counted(len(declared), 'base')}"
    facts = {"unit": unit.id, "targets": list(dict.fromkeys(action.targets.values()))}
    event = Event("fires", text, "M-7.8", facts)
    # No base fires, so no dice are thrown.
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
        _check_declared_fire(state, unit, action)
    names = unit.unit.base_names
    for base in action.targets:
        if base not in names:
            why = f"{unit.id} has no base {base}{nearest(base, names)}"
            raise Refused(why, rule="M-7.14", key="targets")


def _check_declared_fire(state: State, unit: UnitOnField, action: Fire) -> None:
    """Checks that fire is possible by what all can see.

    Raises:
        Refused: The unit cannot fire in its formation, or a target is no enemy on the table.
    """
    if not unit.may_fire:
        raise Refused(f"{unit.id} may not fire in its formation", rule="M-7.7", key="unit")
    for target in action.targets.values():
        check_enemy(state, unit, target, "M-7.11", "targets")


def _lost_shots(
    state: State, declared: Sequence[ShotAssignment], left: Sequence[ShotAssignment]
) -> tuple[Event, ...]:
    """Returns events for bases that have no shot as declared, by target."""
    counts = Counter((aim.unit, aim.target) for aim in declared if aim not in left)
    return tuple(_lost_shot(state, *pair, count) for pair, count in counts.items())


def _lost_shot(state: State, unit: str, target: str, count: int) -> Event:
    whose, verb = ("1 base", "has") if count == 1 else (f"{count} bases", "have")
    away = distance_words(state, unit, target)
    text = f"{whose} of {unit} {verb} no shot at {target}, which is {away}: the fire is lost"
    return Event("fire-lost", text, "M-7.12", {"unit": unit, "target": target, "bases": count})


def able_to_fire(state: State, step: Firing) -> tuple[UnitOnField, ...]:
    """Returns the side's units that may still fire and have a target.

    A unit fires once in a round (M-7.7, M-4.24); in a bombardment only activated guns do (M-7.3).
    Where players declare first these are all units that may try: a list of targets would reveal
    ranges.
    """
    allowed = [
        unit
        for unit in field_at(state).of_side(step.side)
        if unit.id not in state.round.fired
        and (step.may is None or unit.id in step.may)
        and (step.kind == "volley" or unit.unit.arm == "artillery")
    ]
    if state.declares_first:
        return tuple(unit for unit in allowed if unit.may_fire)
    fire = fire_at(state, [unit.id for unit in allowed])
    return tuple(unit for unit in allowed if _targets(fire[unit.id], step.kind))


def in_order(units: Iterable[UnitOnField], direction: Direction) -> tuple[UnitOnField, ...]:
    """Sorts units along their line from one end, left and right as seen by the player behind it.

    The order guides the list only: a player keeps to it as well as possible (M-7.8).
    """
    line = list(units)
    if not line:
        return ()
    # The mean heading of the line, as single units may face aside.
    x, y = forward(mean_deg(unit.axes.heading_deg for unit in line))
    # To the right of the heading, so that the left end comes first.
    axis = np.array((y, -x)) * (1 if direction == "left" else -1)

    def position_along(unit: UnitOnField) -> float:
        middle = np.mean([unit.axes.left_mm, unit.axes.right_mm], axis=0)
        return float(middle @ axis)

    return tuple(sorted(line, key=position_along))


def usual_fire(state: State, unit: UnitOnField, kind: Kind) -> tuple[Fire, ...]:
    """Lists a unit's usual fire: all bases, with as many as possible at one of its targets.

    A player may also split fire otherwise or hold bases back (M-7.5, M-7.14).
    """
    if state.declares_first:
        return declarable_fire(state, unit)
    targets = _targets(fire_at(state, [unit.id])[unit.id], kind)
    all_targets = dict.fromkeys(name for names in targets.values() for name in names)
    aim_sets: list[dict[str, str]] = []
    for target in all_targets:
        # Bases that cannot fire at it fire at their first target.
        aims = {base: target if target in names else names[0] for base, names in targets.items()}
        # Different targets may lead to the same aims.
        if aims not in aim_sets:
            aim_sets.append(aims)
    return tuple(Fire(unit.id, aims) for aims in aim_sets)


def _targets(fire: Mapping[str, BaseFire], kind: Kind) -> dict[str, tuple[str, ...]]:
    """Returns the targets of each base that has any."""
    needed_range = _RANGES[kind]
    by_base = {
        name: tuple(option.target for option in base.options if option.range == needed_range)
        for name, base in fire.items()
    }
    return {name: targets for name, targets in by_base.items() if targets}


class _FireRollRules(RollRules):
    """Rules of a roll of the firing side."""

    def asked(self, state: State, step: RollingToHit | RollingToDisrupt) -> PendingDecision:
        """Asks the firing side to roll."""
        return PendingDecision(f"{side_plural(step.firing.side)} roll {self.roll(state, step)}")


class RollingToHitRules(_FireRollRules):
    """Rules of `RollingToHit`: a die per musket base, two for canister (M-7.20)."""

    def roll(self, state: State, step: RollingToHit) -> Roll:
        """Returns a roll with the dice of all shots."""
        shots = shots_of(state, step)
        return Roll(f"{shots[0].unit} to hit", sum(shot.dice for shot in shots))

    def apply(self, state: State, step: RollingToHit, action: Action) -> StateAndEvents:
        """Counts the hits; then another unit may fire."""
        dice = values_of(action, self.roll(state, step), rule="M-7.23")
        fired_shots = roll_shots(shots_of(state, step), dice)
        hits = tuple(
            aim
            for aim, fired_shot in zip(step.aims, fired_shots, strict=True)
            for _ in range(fired_shot.hits)
        )
        firing = replace(step.firing, hits=(*step.firing.hits, *hits))
        alike: dict[tuple[str, str, int], list[RolledShot]] = {}
        for fired_shot in fired_shots:
            shot = fired_shot.shot
            alike.setdefault((shot.unit, shot.target, shot.to_hit), []).append(fired_shot)
        return state.to(firing), tuple(map(_shots_event, alike.values()))


class RollingToDisruptRules(_FireRollRules):
    """Rules of `RollingToDisrupt`: a die for each hit on a target (M-7.25)."""

    def roll(self, state: State, step: RollingToDisrupt) -> Roll:
        """Returns a roll of a die for each hit on the target."""
        hits = sum(aim.target == step.target for aim in step.firing.hits)
        return Roll(f"hits on {step.target} to disrupt", hits)

    def apply(self, state: State, step: RollingToDisrupt, action: Action) -> StateAndEvents:
        """Places disruptions at once; units that break leave the table (M-7.25, M-1.14)."""
        dice = values_of(action, self.roll(state, step), rule="M-7.25")
        target = field_at(state).by_id[step.target]
        number = disrupt_number(step.firing.kind, target.unit.arm)
        struck = target_result(target, dice, number)
        level = target.disruption + struck.disruption
        state = state.with_marker(target.unit, disruption=level)
        facts = {"unit": target.id, "disruption": struck.disruption, "level": level}
        rolled = " ".join(map(str, dice))
        outcome = f"{rolled}, needs {number}+: +{struck.disruption} disruption"
        event = Event("disrupted", f"{target.id} is hit: {outcome}", "M-7.25", facts)
        state, lost = without_broken(state, (target.id,) * struck.is_broken)
        # A unit that broke may have cost the army its last morale (M-2.5).
        if not isinstance(state.step, Over):
            # The target's hits are used up; those on other targets are rolled next.
            left = tuple(aim for aim in step.firing.hits if aim.target != target.id)
            state = to_disrupt(state, replace(step.firing, hits=left))
        return state, (event, *lost)


def _shots_event(alike: Sequence[RolledShot]) -> Event:
    """Returns the event of a unit's bases that need the same number against one target."""
    shot, hits = alike[0].shot, sum(fired.hits for fired in alike)
    rolled = [die for fired in alike for die in fired.rolled]
    bases = [fired.shot.base for fired in alike]
    facts = {"unit": shot.unit, "bases": bases, "target": shot.target, "to_hit": shot.to_hit}
    dice, outcome = " ".join(map(str, rolled)), counted(hits, "hit") if hits else "no hit"
    text = f"{shot.unit} at {shot.target}: {dice}, needs {shot.to_hit}+: {outcome}"
    return Event("shot", text, "M-7.23", facts | {"rolled": rolled, "hits": hits})
