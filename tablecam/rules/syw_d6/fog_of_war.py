"""The Fog of War: its dice, and what each event does (S-0.12, S-M)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from tablecam.geometry.moves.poses import ahead
from tablecam.rules.dice import Roll
from tablecam.rules.frozen_json import Variant
from tablecam.rules.game import Ban, PendingDecision
from tablecam.rules.miniatures.battle import Done
from tablecam.rules.miniatures.ground import footprints
from tablecam.rules.syw_d6 import tables
from tablecam.rules.syw_d6.forming import in_formation
from tablecam.rules.syw_d6.leaders import fallen
from tablecam.rules.syw_d6.state import Due, State, Weather
from tablecam.table.model import Commander, Unit
from tablecam.wording import joined, proper_name

_STEP_IN: Final = 0.1


class Pick(Variant):
    """Choose a unit or a brigade for an event."""

    name: str


class FogDie(Due):
    """The die that brings the Fog of War on a one (S-0.12)."""

    dice = "the Fog of War, which comes on a 1"

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state in which the table is looked at, or not."""
        if answer[0] != tables.FOG_ON:
            text = f"No Fog of War: it comes on a 1, not on a {answer[0]}"
            return state.tells("fog", text, "S-0.12")
        return state.pushed(FogTable()).tells("fog", "The Fog of War comes down", "S-0.12")


class RainDie(Due):
    """Whether heavy rain goes on: on a one (S-M.7)."""

    dice = "the rain, which lasts on a 1"
    side: str

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state with rain, or without."""
        if answer[0] != 1:
            return state.tells("fog", "The rain ceases", "S-M.7")
        rain = Weather("heavy_rain", self.side, 2)
        state = replace(state, in_force=(*state.in_force, rain))
        return state.tells("fog", "The rain goes on", "S-M.7")


class FogTable(Due):
    """The two dice for the table of the Fog of War."""

    dice = "the table of the Fog of War"
    throws = 2

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state after the event."""
        event = event_of(answer, state.active)
        row = FOG[event]
        text = f"Fog of War: {row.title}: {row.does}"
        state = state.tells("fog", text, row.rule, dice=list(answer), event=event)
        force = Weather(event, state.active, 2 if event == "heavy_rain" else 1)
        state, effect = replace(state, in_force=(*state.in_force, force)), row.effect
        return state.pushed(effect) if isinstance(effect, Due) else effect(state)


class Lot(Due):
    """Which commander an event strikes, the army's at half the chance (S-M.2, S-M.3)."""

    event: Literal["stray_shell", "unhorsed"]

    def roll(self, state: State) -> Roll | None:
        """Returns one throw with two sides for each commander, one for the army's."""
        count = len(state.leaders)
        return Roll("the lot", 1, sides=max(2, lot_sides(count))) if count else None

    def follow(self, state: State, answer: tuple[int, ...] | None) -> State:
        """Returns the state without that commander, or with him at the table's edge."""
        if answer is None:
            return state
        army, leaders = _army(state), state.leaders
        names = list(leaders)
        struck = names[0] if army is None else lot(names, army.id, answer[0])
        rule = FOG[self.event].rule
        if self.event == "stray_shell":
            return fallen(state, leaders[struck], rule, "is killed")
        y_mm = 0.0 if state.edges[state.active] == "south" else state.position.table.depth_mm
        state = state.with_commander(struck, leaders[struck].x_mm, y_mm)
        return state.tells("fog", f"{struck} is unhorsed", rule, commander=struck)


class Picking(Due):
    """Which units or brigade an event favours; fewer than `most` will do (S-M.10, S-M.11)."""

    event: tables.Event
    most: int
    picked: tuple[str, ...] = ()

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the question, if there is anything to pick."""
        row, kind = FOG[self.event], "brigade" if self.event in ATTACK_IN else "guns"
        hint = f"{row.does[0].upper()}{row.does[1:]}."
        question = PendingDecision(f"{row.title}: which {kind}?", state.active, hint=hint)
        return question if self._open(state) else None

    def legal(self, state: State) -> tuple[Pick | Done, ...]:
        """Returns what may be picked, and to be done."""
        return (*map(Pick, self._open(state)), Done())

    def follow(self, state: State, answer: Pick | Done | None) -> State:
        """Returns the state after a pick."""
        if not isinstance(answer, Pick):
            return state
        name, row = answer.name, FOG[self.event]
        state = state.tells("fog", f"{row.title}: {proper_name(name)}", row.rule, name=name)
        again = replace(self, picked=(*self.picked, name))
        if self.event in ATTACK_IN:
            return _brigade_forward(state, name, self.event)
        if self.event == "allied_10":
            return state.pushed(GunsDie(name), again)
        return state.changed(name, fires_twice=True).pushed(again)

    def _open(self, state: State) -> tuple[str, ...]:
        ground = state.field
        own = ground.of_side(state.active)
        if self.event in ATTACK_IN:
            brigades = [unit.extra.get("brigade") for unit in own if unit.arm == "infantry"]
            return tuple(dict.fromkeys(name for name in brigades if name))
        # The Allies pick units of guns, the French bases of them.
        is_allied = self.event == "allied_10"
        sizes = {unit.id: 1 if is_allied else len(unit.bases) for unit in own}
        left = self.most - sum(size for name, size in sizes.items() if name in self.picked)
        return tuple(
            unit.id
            for unit in own
            if unit.arm == "artillery"
            and unit.id not in self.picked
            and not ground.troops[unit.id].is_disordered
            and sizes[unit.id] <= left
        )


class GunsDie(Due):
    """How far guns relocate, which then may fire (S-M.10)."""

    dice = "how far {unit} relocates"
    unit: str

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state in which the guns may move so far."""
        return state.changed(self.unit, relocates_in=answer[0])


def _meeting(state: State) -> State:
    """Returns the state with all commanders beside the army's (S-M.4)."""
    army = _army(state)
    if army is None:
        return state
    others = [one for one in state.leaders.values() if one is not army]
    for place, leader in enumerate(others):
        state = _beside(state, army, leader, math.tau * place / len(others))
    return state


def _beside(state: State, army: Commander, leader: Commander, angle: float) -> State:
    """Returns the state with a commander as near to another as there is room at an angle."""
    for apart_in in np.arange(1.5, 24.0, 0.25):
        apart_mm = apart_in * state.position.table.inch_mm
        x_mm, y_mm = army.x_mm + apart_mm * math.cos(angle), army.y_mm + apart_mm * math.sin(angle)
        there = state.with_commander(leader.id, x_mm, y_mm)
        base = there.field.markers[leader.id]
        if there.field.on_table(base) and not there.field.upon(base, leader.id):
            return there
    return state


def _lost_orders(state: State) -> State:
    """Returns the state with the brigade nearest to the army commander slowed (S-M.6)."""
    army, ground = _army(state), state.field
    own = ground.of_side(state.active)
    if army is None or not own:
        return state
    nearest = min(own, key=lambda unit: ground.leader_in(unit, army))
    brigade = nearest.extra.get("brigade")
    slowed = [unit.id for unit in own if unit.extra.get("brigade") == brigade]
    text = f"{proper_name(str(brigade))} brigade goes half as far: {joined(slowed)}"
    return state.all_changed(slowed, slowed=True).tells("orders", text, "S-M.6", units=slowed)


def _inspired(state: State) -> State:
    """Returns the state with the units marked that the farthest commander inspires (S-M.9)."""
    army, ground = _army(state), state.field
    others = [leader for leader in state.leaders.values() if leader is not army]
    if army is None or not others:
        return state
    farthest = max(others, key=lambda leader: math.dist(leader.place_mm, army.place_mm))
    own = ground.of_side(state.active)
    near = [unit.id for unit in own if ground.leader_in(unit, farthest) <= tables.COMMAND_IN]
    return state.all_changed(near, inspired=True)


def _victory(state: State) -> State:
    """Returns the state without the active side's orange markers (S-M.12).

    A unit in order no longer routs (S-A.2); a retreat is still made, which disorders again.
    """
    for unit in state.field.of_side(state.active):
        marks = unit.state
        if not marks.get("reforming"):
            state = state.changed(unit.id, disordered=None)
        if marks.get("status") == "routing" and not marks.get("reforming"):
            state = state.changed(unit.id, status=None, fled=None, flees_from=None)
            text = f"{unit.id} has cleared its disorder: its rout is over (our reading)"
            state = state.tells("fog", text, "S-A.2", unit=unit.id)
        elif marks.get("status"):
            text = f"{unit.id} still makes its retreat"
            state = state.tells("fog", text, "S-A.2", unit=unit.id)
    return state


def foot_of(state: State, brigade: str) -> list[Unit]:
    """Returns the infantry of a brigade of the active side."""
    own = state.field.of_side(state.active)
    return [unit for unit in own if unit.extra.get("brigade") == brigade and unit.arm == "infantry"]


def _brigade_forward(state: State, brigade: str, event: tables.Event) -> State:
    """Returns the state with a brigade's infantry nearer to the enemy, 3 in off it at least.

    The French form attack column first, where their bases can (S-M.11, S-L.10).
    """
    rule = FOG[event].rule
    for unit in foot_of(state, brigade):
        how, but = "goes", ""
        if event == "attaque":
            column = in_formation(state.field, unit, "attack_column")
            if isinstance(column, Ban):
                but = f", in no attack column: {column.because}"
            else:
                state = state.changed(unit.id, bases=column, formation="attack_column")
                how = "forms attack column and goes"
        ground, moved = state.field, state.unit(unit.id)
        enemies = ground.enemies(moved)
        if not enemies:
            continue
        nearest = min(enemies, key=lambda enemy: ground.apart_in(moved, enemy))
        centre, goal = (ground.outlines[one.id].centroid for one in (moved, nearest))
        way_deg = math.degrees(math.atan2(goal.y - centre.y, goal.x - centre.x))
        room_in = max(0.0, ground.apart_in(moved, nearest) - tables.KEEP_OFF_IN)
        far_in = min(ATTACK_IN[event], room_in)
        # As far as no other unit lies there.
        bases = ahead(moved.bases, way_deg, far_in * ground.inch_mm)
        while far_in > 0 and ground.upon(footprints(bases), unit.id):
            far_in = max(0.0, far_in - _STEP_IN)
            bases = ahead(moved.bases, way_deg, far_in * ground.inch_mm)
        text = f"{unit.id} {how} {far_in:.1f} in toward {nearest.id}{but}"
        state = state.changed(unit.id, bases=bases).tells("fog", text, rule, unit=unit.id)
    return state


def _army(state: State) -> Commander | None:
    """Returns the army commander of the active side."""
    leaders = state.leaders.values()
    return next((one for one in leaders if one.extra.get("level") == "army"), None)


@dataclass(frozen=True)
class FogEvent:
    """An event of the Fog of War: the sum of 2d6, its name, and what it does, or what is due.

    Where a sum has two events, one is `of` the French and one of the Allies.
    """

    total: int
    title: str
    does: str
    effect: Due | Callable[[State], State] = lambda state: state
    of: Literal["", "french", "allied"] = ""

    @property
    def rule(self) -> str:
        """Its rule."""
        return f"S-M.{self.total}"


# S-M: 10 and 11 of the Allies have lost their names.
FOG: Final[Mapping[tables.Event, FogEvent]] = {
    "stray_shell": FogEvent(2, "Stray shell", "a commander falls, by lot", Lot("stray_shell")),
    "unhorsed": FogEvent(
        3, "Unhorsed", "a commander goes back to his table edge, by lot", Lot("unhorsed")),
    "crisis_meeting": FogEvent(
        4, "Crisis meeting", "all commanders go to the army commander", _meeting),
    "sackville": FogEvent(
        5, "Spirit of Sackville", "line cavalry may not advance in this turn", of="allied"),
    "fitz_james": FogEvent(
        5, "Fitz James dithers", "line cavalry is not under command in this turn", of="french"),
    "lost_orders": FogEvent(
        6, "Lost orders", "the brigade nearest to the army commander goes half as far",
        _lost_orders),
    "heavy_rain": FogEvent(7, "Heavy rain", "both sides fire with 2 dice fewer"),
    "dead_calm": FogEvent(8, "Dead calm", "both sides fire with 1 die fewer in this sequence"),
    "inspired_command": FogEvent(
        9, "Inspired command", "the commander farthest from the army commander helps all units "
        "near him, whatever their state", _inspired),
    "allied_10": FogEvent(
        10, "Guns relocate", "up to 2 guns in order may go as many inches as a die and fire",
        Picking("allied_10", 2), "allied"),
    "vive_lartillerie": FogEvent(
        10, "Vive l'artillerie", "up to 3 bases of guns fire twice",
        Picking("vive_lartillerie", 3), "french"),
    "allied_11": FogEvent(
        11, "A brigade advances", "all infantry of one brigade may go 3 in straight toward the "
        "enemy, before it moves as usual", Picking("allied_11", 1), "allied"),
    "attaque": FogEvent(
        11, "Attaque", "all infantry of one brigade may form attack column and go 2 in straight "
        "toward the enemy, before it moves as usual", Picking("attaque", 1), "french"),
    "ad_victoriam": FogEvent(
        12, "To victory", "all orange markers of the active side go, and with them its routs",
        _victory),
}  # fmt: skip
ATTACK_IN: Final[Mapping[str, float]] = {"allied_11": 3.0, "attaque": 2.0}
"""S-M.11: how far the infantry of a brigade goes toward the enemy."""


def event_of(dice: Sequence[int], active: str) -> tables.Event:
    """Returns the event of 2d6 for the active side (S-M)."""
    side = "french" if active.lower() == "french" else "allied"
    events = ((event, row) for event, row in FOG.items() if row.total == sum(dice))
    return next(event for event, row in events if row.of in ("", side))


def lot_sides(commanders: int) -> int:
    """Returns the sides of the lot: two for each commander, one for the army's (S-M.2)."""
    return 2 * commanders - 1


def lot(commanders: Sequence[str], army: str, value: int) -> str:
    """Returns on whom the lot falls: two numbers for each commander, one for the army's (S-M.2)."""
    others = [name for name in commanders if name != army]
    return army if value > 2 * len(others) else others[(value - 1) // 2]
