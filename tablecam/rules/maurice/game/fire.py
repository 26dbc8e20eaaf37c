"""Fire: a side's units declare one by one, each rolling to hit at once (M-7.5, M-7.8).

Hits are rolled again to disrupt when all units have fired (M-7.20 ff.).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import shapely

from tablecam.geometry.shapes import Shape
from tablecam.rules.dice import Roll
from tablecam.rules.game import DiceGroup, Event, PendingDecision, Refused, Sum
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.requests import Dice, Kind, ShotAssignment, Volley
from tablecam.rules.maurice.fire.fire import fire_of_units
from tablecam.rules.maurice.fire.targets import BaseFire, why_never_fires
from tablecam.rules.maurice.fire.volley import (
    RANGES,
    RolledShot,
    Shot,
    disrupt_number,
    roll_shots,
    shot_list,
    target_result,
)
from tablecam.rules.maurice.game.actions import Action, Done, Fire, FireFrom
from tablecam.rules.maurice.game.commander import after_action
from tablecam.rules.maurice.game.state import (
    Direction,
    Over,
    State,
    Step,
    Symbol,
    permitted,
    refusing,
)
from tablecam.rules.maurice.game.table import (
    check_enemy,
    distance_words,
    field_at,
    outlines,
    without_broken,
)
from tablecam.table.formation import base_words
from tablecam.table.headings import forward, mean_deg
from tablecam.table.model import Point
from tablecam.table.sides import side_name, side_plural
from tablecam.wording import counted, joined, nearest

_SYMBOLS: dict[Kind, Symbol] = {"volley": "musket", "bombard": "cannon"}
"""The card symbol that modifies each kind of fire (M-3.5)."""


class Firing(Step):
    """A side's fire: its units declare one by one, each rolling to hit at once (M-7.8).

    `may` are the activated guns of a bombardment, None in the volley phase. `hits` holds the aim of
    each hit so far. `next_sides` fire after this one.
    """

    opens = "the {side} fire is declared"
    kind: Kind
    side: str
    direction: Direction | None = None
    may: tuple[str, ...] | None = None
    hits: tuple[ShotAssignment, ...] = ()
    next_sides: tuple[str, ...] = ()

    def concerned(self, state: State) -> tuple[str, ...]:
        """Returns the guns of a bombardment, or all units that can fire in the volley phase."""
        if self.kind == "bombard":
            return self.may or ()
        # A volley card is played before either side fires (M-4.16).
        sides = (state.active, state.passive)
        able = (able_to_fire(state, Firing("volley", side)) for side in sides)
        return tuple(unit.id for of_side in able for unit in of_side)

    def asked(self, state: State) -> PendingDecision:
        """Asks the firing side."""
        side = side_plural(self.side)
        if self._end(able_to_fire(state, self)) is None:
            return PendingDecision(f"{side}: start firing from the left or the right?", self.side)
        return PendingDecision(f"{side}: which unit fires next, and at whom?", self.side)

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists the ends to begin from, then the usual fire of each unit in line order."""
        able = able_to_fire(state, self)
        end = self._end(able)
        if end is None:
            return (*((FireFrom("left"), FireFrom("right")) if able else ()), Done())
        ordered = in_order(able, end)
        return (*(fire for unit in ordered for fire in usual_fire(state, unit, self.kind)), Done())

    def decided(self, state: State, action: Action) -> State:
        """Moves on to the unit's to-hit roll, or ends this side's fire."""
        if isinstance(action, FireFrom) and self.direction is None:
            return state.to(replace(self, direction=action.direction))
        if isinstance(action, Done):
            return to_disrupt(state, self)
        is_in_order = self._end(able_to_fire(state, self)) is not None
        if isinstance(action, Fire) and is_in_order:
            return _declared(state, self, action)
        expected = "a unit's fire" if is_in_order else "left or right"
        raise Refused(f"expected {expected} or done, got {action.type}", rule="M-7.8")

    def goes_on(self, state: State) -> State | None:
        """Moves on to disruption when no unit of the side can fire; returns None while one can."""
        return None if able_to_fire(state, self) else to_disrupt(state, self)

    def _end(self, able: Sequence[UnitOnField]) -> Direction | None:
        """Returns the end from which the units fire; a single unit needs none."""
        return "left" if self.direction is None and len(able) == 1 else self.direction


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


def to_disrupt(state: State, firing: Firing) -> State:
    """Moves on to the disruption roll of the next target hit, or to the next side's fire."""
    # Target by target, until no hits are left.
    if firing.hits:
        return state.to(RollingToDisrupt(firing.hits[0].target, firing))
    if firing.next_sides:
        # The other side fires once this one's fire is resolved (M-7.2).
        side, *later = firing.next_sides
        return state.to(Firing(firing.kind, side, next_sides=tuple(later)))
    # Volleys precede the command, a bombardment is the action (M-4.2).
    return state.at("command-choice") if firing.kind == "volley" else after_action(state)


def _declared(state: State, step: Firing, action: Fire) -> State:
    """Declares a unit's fire: marks it as fired, adds smoke to guns, and rolls legal shots."""
    _check_may_fire(state, step, action)
    unit = field_at(state).by_id[action.unit]
    aims = tuple(
        ShotAssignment(action.unit, base, target) for base, target in action.targets.items()
    )
    missed: Counter[str] = Counter()
    if state.declares_first:
        declared = aims
        aims = permitted(declared, lambda aim: shots_of(state, RollingToHit((aim,), step)))
        # Nobody has measured, so bases out of range lose their shot instead of being refused.
        missed = Counter(aim.target for aim in declared if aim not in aims)
    else:
        # This refuses illegal aims before anything changes.
        shots_of(state, RollingToHit(aims, step))
    state = state.with_round(fired=state.round.fired | {unit.id})
    if unit.unit.arm == "artillery":
        state = state.with_marker(unit.unit, smoke=True)  # M-4.23
    targets = [*dict.fromkeys(action.targets.values())]
    text = f"{unit.id} fires at {joined(targets)}, with {counted(len(action.targets), 'base')}"
    state = state.tells("fires", text, "M-7.8", unit=unit.id, targets=targets)
    for target, count in missed.items():
        state = _with_lost_shot(state, unit.id, target, count)
    # No base fires, so no dice are thrown.
    return state.to(RollingToHit(aims, step) if aims else step)


def _with_lost_shot(state: State, unit: str, target: str, count: int) -> State:
    whose, verb = ("1 base", "has") if count == 1 else (f"{count} bases", "have")
    away = distance_words(state, unit, target)
    text = f"{whose} of {unit} {verb} no shot at {target}, which is {away}: the fire is lost"
    return state.tells("fire-lost", text, "M-7.12", unit=unit, target=target, bases=count)


def _check_may_fire(state: State, step: Firing, action: Fire) -> None:
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
        # Visible facts only.
        if (never := why_never_fires(unit)) is not None:
            raise Refused(f"{unit.id} {never.clause}", rule=never.rule, key="unit")
        for target in action.targets.values():
            check_enemy(state, unit, target, "M-7.11", "targets")
    names = unit.unit.base_names
    for base in action.targets:
        if base not in names:
            why = f"{unit.id} has no base {base}{nearest(base, names)}"
            raise Refused(why, rule="M-7.14", key="targets")


def able_to_fire(state: State, step: Firing) -> tuple[UnitOnField, ...]:
    """Returns the side's units that may still fire and have a target.

    A unit fires once in a round (M-7.7, M-4.24); in a bombardment only activated guns do (M-7.3).
    If players declare first, these are all units that may try: a list of targets would reveal
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
        return tuple(unit for unit in allowed if why_never_fires(unit) is None)
    fire = fire_of_units(field_at(state), [unit.id for unit in allowed])
    return tuple(unit for unit in allowed if _targets(fire[unit.id], step.kind))


def in_order(units: Iterable[UnitOnField], direction: Direction) -> tuple[UnitOnField, ...]:
    """Sorts units along their line from one end, left and right as seen by the player behind it.

    The order is only for listing: a player keeps to it as well as possible (M-7.8).
    """
    line = list(units)
    if not line:
        return ()
    # The mean heading of the line, as single units may face another way.
    x, y = forward(mean_deg(unit.axes.heading_deg for unit in line))
    # The axis points to the right of the heading, so that the left end comes first.
    axis = np.array((y, -x)) * (1 if direction == "left" else -1)

    def position_along(unit: UnitOnField) -> float:
        middle = np.mean([unit.axes.left_mm, unit.axes.right_mm], axis=0)
        return float(middle @ axis)

    return tuple(sorted(line, key=position_along))


def usual_fire(state: State, unit: UnitOnField, kind: Kind) -> tuple[Fire, ...]:
    """Lists a unit's usual fire: all bases, with as many as possible at one of its targets.

    A player may also split fire differently or hold bases back (M-7.5, M-7.14).
    """
    if state.declares_first:
        bases, enemies = unit.unit.base_names, field_at(state).enemies_of(unit)
        return tuple(Fire(unit.id, dict.fromkeys(bases, enemy.id)) for enemy in enemies)
    targets = _targets(fire_of_units(field_at(state), [unit.id])[unit.id], kind)
    all_targets = dict.fromkeys(name for names in targets.values() for name in names)
    # Bases that cannot fire at it fire at their first target; several may give the same result.
    aims = dict.fromkeys(
        tuple((base, target if target in names else names[0]) for base, names in targets.items())
        for target in all_targets
    )
    return tuple(Fire(unit.id, dict(of_bases)) for of_bases in aims)


def _targets(fire: Mapping[str, BaseFire], kind: Kind) -> dict[str, tuple[str, ...]]:
    by_base = {
        name: tuple(option.target for option in base.options if option.range == RANGES[kind])
        for name, base in fire.items()
    }
    return {name: targets for name, targets in by_base.items() if targets}


class RollingToHit(Step):
    """The to-hit roll of the aims just declared; `firing` continues after it."""

    dice_rule = "M-7.23"
    aims: tuple[ShotAssignment, ...]
    firing: Firing

    def asked(self, state: State) -> PendingDecision:
        """Asks the firing side to roll, and says of what each number is made (M-7.21 to M-7.24)."""
        shots = shots_of(state, self)
        changed = dict.fromkeys((shot.to_hit, shot.terms) for shot in shots if len(shot.terms) > 1)
        sums = tuple(Sum(f"{to_hit}+ to hit", terms) for to_hit, terms in changed)
        question = f"{side_plural(self.firing.side)} roll {self.roll(state)}"
        return PendingDecision(question, sums=sums)

    def roll(self, state: State) -> Roll:
        """Returns a roll with the dice of all shots."""
        shots = shots_of(state, self)
        return Roll(f"{shots[0].unit} to hit", sum(shot.dice for shot in shots))

    def decided(self, state: State, dice: Dice) -> State:
        """Counts the hits; then another unit may fire."""
        fired_shots = roll_shots(shots_of(state, self), dice)
        hits = tuple(
            aim
            for aim, fired_shot in zip(self.aims, fired_shots, strict=True)
            for _ in range(fired_shot.hits)
        )
        firing = replace(self.firing, hits=(*self.firing.hits, *hits))
        alike: dict[tuple[str, str, int], list[RolledShot]] = {}
        for fired_shot in fired_shots:
            shot = fired_shot.shot
            alike.setdefault((shot.unit, shot.target, shot.to_hit), []).append(fired_shot)
        return state.to(firing).with_events(*map(_shots_event, alike.values()))

    def declared(self, state: State) -> Iterable[str]:
        """Returns the units that fire, and their targets."""
        return [name for aim in self.aims for name in (aim.unit, aim.target)]

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws the units, and a line from each firing base to the nearest point of its target."""
        field = field_at(state)
        shooters = [(field.by_id[aim.unit].unit, aim) for aim in self.aims]
        lines = (
            line_of_fire(
                unit.bases[unit.base_names.index(aim.base)].place_mm,
                field.by_id[aim.target].outline,
            )
            for unit, aim in shooters
        )
        return (*outlines(field, dict.fromkeys(self.declared(state))), *lines)

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Groups the dice by number needed and target."""
        return _to_hit(field_at(state), shots_of(state, self))


class RollingToDisrupt(Step):
    """The disruption roll, a die for each hit on one target; targets follow in turn (M-7.25)."""

    dice_rule = "M-7.25"
    about = "target"
    target: str
    firing: Firing

    def asked(self, state: State) -> PendingDecision:
        """Asks the firing side to roll."""
        dice = replace(self.roll(state), for_=f"the disruption of {self.target}, one for each hit")
        return PendingDecision(f"{side_plural(self.firing.side)} roll {dice}")

    def roll(self, state: State) -> Roll:
        """Returns a roll of a die for each hit on the target."""
        hits = sum(aim.target == self.target for aim in self.firing.hits)
        return Roll(f"hits on {self.target} to disrupt", hits)

    def decided(self, state: State, dice: Dice) -> State:
        """Places disruptions at once; units that break leave the table (M-7.25, M-1.14)."""
        target = field_at(state).by_id[self.target]
        number = disrupt_number(self.firing.kind, target.unit.arm)
        struck = target_result(target, dice, number)
        level = target.disruption + struck.disruption
        state = state.with_marker(target.unit, disruption=level)
        facts = {"unit": target.id, "disruption": struck.disruption, "level": level}
        rolled = " ".join(map(str, dice))
        gained = f"+{struck.disruption}" if struck.disruption else "no"
        outcome = f"{rolled}, needs {number}+: {gained} disruption"
        state = state.tells("disrupted", f"{target.id} is hit: {outcome}", "M-7.25", **facts)
        state = without_broken(state, (target.id,) * struck.is_broken)
        # A unit that broke may have cost the army its last morale (M-2.5).
        if not isinstance(state.step, Over):
            # The target's hits are used up; those on other targets are rolled next.
            left = tuple(aim for aim in self.firing.hits if aim.target != target.id)
            state = to_disrupt(state, replace(self.firing, hits=left))
        return state

    def declared(self, state: State) -> Iterable[str]:
        """Returns the target and the units that hit it."""
        firers = (aim.unit for aim in self.firing.hits if aim.target == self.target)
        return (*firers, self.target)

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns a die for each hit."""
        number = disrupt_number(self.firing.kind, field_at(state).by_id[self.target].unit.arm)
        return (DiceGroup(f"hits on {self.target}", number, tuple(range(self.roll(state).count))),)


def _shots_event(alike: Sequence[RolledShot]) -> Event:
    shot, hits = alike[0].shot, sum(fired.hits for fired in alike)
    rolled = [die for fired in alike for die in fired.rolled]
    bases = [fired.shot.base for fired in alike]
    facts = {"unit": shot.unit, "bases": bases, "target": shot.target, "to_hit": shot.to_hit}
    dice, outcome = " ".join(map(str, rolled)), counted(hits, "hit") if hits else "no hit"
    text = f"{shot.unit} at {shot.target}: {dice}, needs {shot.to_hit}+: {outcome}"
    return Event("shot", text, "M-7.23", facts | {"rolled": rolled, "hits": hits})


def line_of_fire(from_mm: Point, outline: shapely.Geometry) -> Shape:
    """Draws a shot from the centre of a base to the nearest point of its target."""
    line = shapely.shortest_line(shapely.Point(from_mm), outline)
    x_mm, y_mm = shapely.get_coordinates(line)[1]
    return Shape("line", (from_mm, (float(x_mm), float(y_mm))), "shot")


def _to_hit(field: Field, shots: Sequence[Shot]) -> tuple[DiceGroup, ...]:
    """Groups to-hit dice by number needed and target; names targets if there are several."""
    # Canister throws two dice per base.
    dice = [shot for shot in shots for _ in range(shot.dice)]
    alike: dict[tuple[int, str], list[int]] = {}
    for place, shot in enumerate(dice):
        alike.setdefault((shot.to_hit, shot.target), []).append(place)

    def words(places: Sequence[int], target: str) -> str:
        bases_of: dict[str, list[int]] = {}
        for shot in dict.fromkeys(dice[place] for place in places):
            index = field.by_id[shot.unit].unit.base_names.index(shot.base)
            bases_of.setdefault(shot.unit, []).append(index)
        units = ((field.by_id[name].unit, bases) for name, bases in bases_of.items())
        whose = (
            unit.id if len(bases) == len(unit.bases) else base_words(unit, *bases)
            for unit, bases in units
        )
        return joined(whose) + (f" at {target}" if len({at for _, at in alike}) > 1 else "")

    return tuple(
        DiceGroup(words(places, target), needs, tuple(places))
        for (needs, target), places in alike.items()
    )
