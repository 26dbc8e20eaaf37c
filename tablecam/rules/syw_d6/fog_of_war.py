"""The Fog of War: its dice, and what each event does (S-0.12, S-M)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, Literal

import shapely

from tablecam.geometry.moves.poses import ahead
from tablecam.rules.dice import Roll
from tablecam.rules.frozen_json import Variant
from tablecam.rules.game import Event, PendingDecision
from tablecam.rules.miniatures.battle import Done, Events
from tablecam.rules.syw_d6 import tables
from tablecam.rules.syw_d6.field import commands
from tablecam.rules.syw_d6.marches import KEEP_OFF_IN
from tablecam.rules.syw_d6.state import Calamity, Due, State, Weather
from tablecam.table.model import Commander, Point, Unit

_GUNS, _GUN_BASES = 2, 3
_ATTACK_IN: Final[Mapping[str, float]] = {"allied_11": 3.0, "attaque": 2.0}


class Pick(Variant):
    """Choose a unit or a brigade for an event."""

    name: str


class FogDie(Due):
    """The die that brings the Fog of War on a one (S-0.12)."""

    def roll(self, state: State) -> Roll:
        """Returns the die."""
        return Roll("the Fog of War", 1)

    def follow(self, state: State, answer: tuple[int, ...]) -> tuple[State, Events]:
        """Returns the state in which the table is looked at, or not."""
        if not tables.is_fog_consulted(answer[0]):
            return state, ()
        return state.pushed(FogTable()), (Event("fog", "The Fog of War comes down", "S-0.12"),)


class RainDie(Due):
    """Whether heavy rain goes on: on a one (S-M.7)."""

    side: str

    def roll(self, state: State) -> Roll:
        """Returns the die."""
        return Roll("the rain", 1)

    def follow(self, state: State, answer: tuple[int, ...]) -> tuple[State, Events]:
        """Returns the state with rain, or without."""
        if answer[0] != 1:
            return state, (Event("fog", "The rain ceases", "S-M.7"),)
        rain = Weather("heavy_rain", self.side, 2)
        state = replace(state, in_force=(*state.in_force, rain))
        return state, (Event("fog", "The rain goes on", "S-M.7"),)


class FogTable(Due):
    """The two dice for the table of the Fog of War."""

    def roll(self, state: State) -> Roll:
        """Returns the dice."""
        return Roll("the table of the Fog of War", 2)

    def follow(self, state: State, answer: tuple[int, ...]) -> tuple[State, Events]:
        """Returns the state after the event."""
        event, rule = tables.fog_event(answer, state.active)
        text = f"Fog of War: {event.replace('_', ' ')}"
        said = Event("fog", text, rule, {"dice": list(answer), "event": event})
        lasting = 2 if event == "heavy_rain" else 1
        force = Weather(event, state.active, lasting)
        state = replace(state, in_force=(*state.in_force, force))
        return _EFFECTS.get(event, _nothing)(state, event), (said,)


class Lot(Due):
    """Which commander an event strikes, the army's at half the chance (S-M.2, S-M.3)."""

    event: Literal["stray_shell", "unhorsed"]

    def roll(self, state: State) -> Roll:
        """Returns one throw with two sides for each commander, one for the army's."""
        return Roll("the lot", 1, sides=max(2, tables.fog_lot_sides(len(_own(state)))))

    def follow(self, state: State, answer: tuple[int, ...]) -> tuple[State, Events]:
        """Returns the state without that commander, or with him at the table's edge."""
        army = _army(state)
        names = [leader.id for leader in _own(state)]
        struck = names[0] if army is None else tables.fog_lot(names, army.id, answer[0])
        leader = next(one for one in _own(state) if one.id == struck)
        rule = tables.fog_rule(self.event)
        if self.event == "stray_shell":
            others = (one for one in state.position.commanders if one.id != struck)
            position = replace(state.position, commanders=tuple(others))
            state = _mourned(replace(state, position=position), leader)
            return state, (Event("loss", f"{struck} is killed", rule, {"commander": struck}),)
        y_mm = 0.0 if state.edges[state.active] == "south" else state.position.table.depth_mm
        state = _moved(state, leader, (leader.x_mm, y_mm))
        return state, (Event("fog", f"{struck} is unhorsed", rule, {"commander": struck}),)


class Picking(Due):
    """Which units or brigade an event favours; fewer than `most` will do (S-M.10, S-M.11)."""

    event: tables.Event
    most: int
    picked: tuple[str, ...] = ()

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the question, if there is anything to pick."""
        if not self._open(state):
            return None
        return PendingDecision(f"{self.event.replace('_', ' ')}: which?", state.active)

    def legal(self, state: State) -> tuple[Pick | Done, ...]:
        """Returns what may be picked, and to be done."""
        return (*map(Pick, self._open(state)), Done())

    def follow(self, state: State, answer: Pick | Done | None) -> tuple[State, Events]:
        """Returns the state after a pick."""
        if not isinstance(answer, Pick):
            return state, ()
        name, rule = answer.name, tables.fog_rule(self.event)
        said = Event("fog", f"{self.event.replace('_', ' ')}: {name}", rule, {"name": name})
        if self.event in _ATTACK_IN:
            return _brigade_forward(state, name, _ATTACK_IN[self.event]), (said,)
        if self.event == "allied_10":
            state = state.pushed(GunsDie(name), replace(self, picked=(*self.picked, name)))
            return state, (said,)
        state = state.changed(name, fires_twice=True)
        return state.pushed(replace(self, picked=(*self.picked, name))), (said,)

    def _open(self, state: State) -> tuple[str, ...]:
        ground = state.field
        own = [unit for unit in ground.units.values() if unit.side == state.active]
        if self.event in _ATTACK_IN:
            brigades = [unit.extra.get("brigade") for unit in own if unit.arm == "infantry"]
            return tuple(dict.fromkeys(name for name in brigades if name))
        used = sum(len(unit.bases) for unit in own if unit.id in self.picked)
        if self.event == "allied_10" and len(self.picked) >= self.most:
            return ()
        return tuple(
            unit.id
            for unit in own
            if unit.arm == "artillery"
            and unit.id not in self.picked
            and not ground.troops[unit.id].is_disordered
            and (self.event == "allied_10" or used + len(unit.bases) <= self.most)
        )


class GunsDie(Due):
    """How far guns relocate, which then may fire (S-M.10)."""

    unit: str

    def roll(self, state: State) -> Roll:
        """Returns the die."""
        return Roll(f"how far {self.unit} relocates", 1)

    def follow(self, state: State, answer: tuple[int, ...]) -> tuple[State, Events]:
        """Returns the state in which the guns may move so far."""
        return state.changed(self.unit, relocates_in=answer[0]), ()


Effect = Callable[[State, tables.Event], State]


def _nothing(state: State, event: tables.Event) -> State:
    return state


def _lot(state: State, event: tables.Event) -> State:
    is_lot = event in ("stray_shell", "unhorsed") and _own(state)
    return state.pushed(Lot(event)) if is_lot else state  # type: ignore[arg-type]


def _meeting(state: State, event: tables.Event) -> State:
    """Returns the state with all commanders beside the army's (S-M.4)."""
    army = _army(state)
    others = [leader for leader in _own(state) if leader is not army]
    for place, leader in enumerate(others if army is not None else ()):
        assert army is not None
        apart_mm, angle = 1.5 * state.position.table.inch_mm, math.tau * place / len(others)
        x_mm, y_mm = army.x_mm + apart_mm * math.cos(angle), army.y_mm + apart_mm * math.sin(angle)
        state = _moved(state, leader, (x_mm, y_mm))
    return state


def _lost_orders(state: State, event: tables.Event) -> State:
    """Returns the state with the brigade nearest to the army commander slowed (S-M.6)."""
    army, ground = _army(state), state.field
    own = [unit for unit in ground.units.values() if unit.side == state.active]
    if army is None or not own:
        return state
    place = shapely.Point(army.place_mm)
    nearest = min(own, key=lambda unit: shapely.distance(ground.outlines[unit.id], place))
    return _marked(state, nearest.extra.get("brigade"), own, slowed=True)


def _inspired(state: State, event: tables.Event) -> State:
    """Returns the state with the units marked that the farthest commander inspires (S-M.9)."""
    army, ground = _army(state), state.field
    others = [leader for leader in _own(state) if leader is not army]
    if army is None or not others:
        return state
    farthest = max(others, key=lambda leader: math.dist(leader.place_mm, army.place_mm))
    place, reach_mm = shapely.Point(farthest.place_mm), tables.COMMAND_IN * ground.inch_mm
    for name, unit in ground.units.items():
        if unit.side == state.active and shapely.distance(ground.outlines[name], place) <= reach_mm:
            state = state.changed(name, inspired=True)
    return state


def _picking(state: State, event: tables.Event) -> State:
    most = {"allied_10": _GUNS, "vive_lartillerie": _GUN_BASES}.get(event, 1)
    return state.pushed(Picking(event, most))


def _victory(state: State, event: tables.Event) -> State:
    """Returns the state without the active side's orange markers (S-M.12)."""
    for name, unit in state.field.units.items():
        if unit.side == state.active and unit.state.get("disordered"):
            state = state.changed(name, disordered=None)
    return state


_EFFECTS: Final[Mapping[tables.Event, Effect]] = {
    "stray_shell": _lot,
    "unhorsed": _lot,
    "crisis_meeting": _meeting,
    "lost_orders": _lost_orders,
    "inspired_command": _inspired,
    "allied_10": _picking,
    "vive_lartillerie": _picking,
    "allied_11": _picking,
    "attaque": _picking,
    "ad_victoriam": _victory,
}


def _brigade_forward(state: State, brigade: str, inches: float) -> State:
    """Returns the state with a brigade's infantry nearer to the enemy, 3 in off it at least."""
    for name in [unit.id for unit in state.field.units.values() if unit.side == state.active]:
        unit, ground = state.unit(name), state.field
        enemies = ground.enemies(unit)
        if unit.extra.get("brigade") != brigade or unit.arm != "infantry" or not enemies:
            continue
        nearest = min(enemies, key=lambda enemy: ground.apart_in(unit, enemy))
        centre, goal = (ground.outlines[one.id].centroid for one in (unit, nearest))
        way_deg = math.degrees(math.atan2(goal.y - centre.y, goal.x - centre.x))
        room_in = max(0.0, ground.apart_in(unit, nearest) - KEEP_OFF_IN)
        far_mm = min(inches, room_in) * ground.inch_mm
        state = state.changed(name, bases=ahead(unit.bases, way_deg, far_mm))
    return state


def _marked(state: State, brigade: Any, units: list[Unit], **marks: Any) -> State:
    for unit in units:
        if unit.extra.get("brigade") == brigade:
            state = state.changed(unit.id, **marks)
    return state


def _own(state: State) -> list[Commander]:
    """Returns the commanders of the active side."""
    return [leader for leader in state.position.commanders if leader.side == state.active]


def _army(state: State) -> Commander | None:
    """Returns the army commander of the active side."""
    return next((one for one in _own(state) if one.extra.get("level") == "army"), None)


def _mourned(state: State, leader: Commander) -> State:
    """Returns the state with a brigade commander's death as a lost unit of his brigade (S-K.4)."""
    if leader.extra.get("level") != "brigade":
        return state
    ground, place = state.field, shapely.Point(leader.place_mm)
    near: dict[str, list[tuple[str, float]]] = {}
    for name, unit in ground.units.items():
        apart_in = ground.inches(shapely.distance(ground.outlines[name], place))
        if commands(leader, unit) and apart_in <= tables.COMMAND_IN:
            near.setdefault(str(unit.extra.get("brigade")), []).append((name, apart_in))
    losses = tuple(
        Calamity(leader.id, "destroyed", brigade, tuple(units)) for brigade, units in near.items()
    )
    return replace(state, calamities=(*state.calamities, *losses))


def _moved(state: State, leader: Commander, place_mm: Point) -> State:
    """Returns the state with a commander elsewhere."""
    pose = leader.pose
    if pose is not None:
        pose = replace(pose, x_mm=place_mm[0], y_mm=place_mm[1])
    there = replace(leader, x_mm=place_mm[0], y_mm=place_mm[1], pose=pose)
    others = (there if one.id == leader.id else one for one in state.position.commanders)
    return replace(state, position=replace(state.position, commanders=tuple(others)))
