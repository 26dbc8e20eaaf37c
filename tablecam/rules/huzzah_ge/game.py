"""Huzzah! Glorious Empires as a game on the table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, ClassVar, Final

import shapely
from pydantic import TypeAdapter

from tablecam.geometry.shapes import Shape
from tablecam.rules import descriptions as about
from tablecam.rules.dice import Roll
from tablecam.rules.frozen_json import one_of
from tablecam.rules.game import Ban, Offer, Suggestion
from tablecam.rules.huzzah_ge import deployment, movement, orders, settlements, volleys
from tablecam.rules.huzzah_ge import state as acts
from tablecam.rules.huzzah_ge.field import facts_of, formation_of, officer_facts
from tablecam.rules.huzzah_ge.state import State
from tablecam.rules.huzzah_ge.tables import CM_MM, GRADES, TOUCH_MM
from tablecam.rules.huzzah_ge.tables import GAME as NAME
from tablecam.rules.huzzah_ge.troops import front_of
from tablecam.rules.lay import Lay
from tablecam.rules.miniatures import page as battle
from tablecam.rules.miniatures.battle import Bases, Done, Judged, Phase
from tablecam.rules.miniatures.battle_game import BattleGame
from tablecam.rules.miniatures.by_hand import suggested
from tablecam.rules.miniatures.drawing import shapes_about
from tablecam.rules.miniatures.move_words import move_words
from tablecam.rules.miniatures.nearest import farthest_legal
from tablecam.rules.miniatures.page import Sign, UnitSetting
from tablecam.rules.steps import Decide
from tablecam.table.model import CENTIMETRES, Commander, Keys, Position, Unit
from tablecam.table.sides import side_name
from tablecam.uncertainty.answer import Answer, measured
from tablecam.wording import counted, joined

OFFICER_CM: Final = 60.0
"""H-12.1: how far officers move."""
_FACTORS: Final = {"skirmish_factor": "Skirmish Factor", "artillery_factor": "Artillery Factor"}


def _officers(state: State) -> Iterator[acts.MoveOfficer]:
    """Yields moves of officers, who stay or go to a unit that they command (H-15.3)."""
    ground = state.field
    for name, officer in state.leaders.items():
        if name in state.tried:
            continue
        yield acts.MoveOfficer(name, officer.x_mm, officer.y_mm)
        for unit in ground.units.values():
            if ground.commanded(name, unit.id) and ground.attached_to(unit.id) is None:
                move = acts.MoveOfficer(name, *acts.behind(state, name, unit), to=unit.id)
                ruling = _judged_officer(state, move)
                if isinstance(ruling, Answer) and ruling.answer != "no":
                    yield move


def _judged_officer(state: State, action: acts.MoveOfficer) -> Answer | Ban:
    """Judges an officer's move (H-12.1)."""
    name, to = action.officer, action.to
    if name not in state.leaders or name in state.tried:
        return Ban("H-15.3", f"expected an officer who has not moved, got {name}")
    officer, where = state.leaders[name], "" if to is None else f" to {to}"
    far_cm = math.dist(officer.place_mm, (action.x_mm, action.y_mm)) / CM_MM
    text = f"{name} moves {far_cm:.1f} cm{where}, of at most {OFFICER_CM:g}"
    ruling = measured((OFFICER_CM - far_cm) * CM_MM, officer.sigma_mm, "H-15.3", text)
    if to is None or ruling.answer == "no" or state.field.commanded(name, state.unit(to).id):
        return ruling
    return Ban("H-11.2", f"{name} does not command {to}")


def _officer_moved(state: State, action: acts.MoveOfficer, ruling: Answer) -> State:
    """Returns the state with an officer elsewhere, or attached."""
    name, place_mm = action.officer, state.field.officers[action.officer].place_mm
    stays = action.to is None and place_mm == (action.x_mm, action.y_mm)
    state = replace(state, tried=(*state.tried, name))
    if action.to is not None:
        state = acts.attached(state, name, action.to)
    elif not stays:
        state = state.with_commander(name, action.x_mm, action.y_mm, attached_to=None)
    text = f"{name} stays" if stays else ruling.because
    return state.tells("officer", text, "H-15.3", officer=name)


def _next_combat(state: State) -> State:
    """Returns the state with the next combat due: all units connected by contact."""
    for unit in state.position.units:
        if unit.id in state.tried or not unit.state.get("in_combat_with"):
            continue
        fighting, left = [unit.id], [unit.id]
        while left:
            enemies = state.unit(left.pop()).state.get("in_combat_with", ())
            new = [name for name in enemies if name not in fighting and state.has(name)]
            fighting, left = fighting + new, left + new
        state = replace(state, tried=(*state.tried, *fighting))
        if len({state.unit(name).side for name in fighting}) < 2:
            return state
        state = state.tells("combat", f"Combat: {', '.join(fighting)}", "H-15.2")
        hits = map(settlements.CombatHits, fighting)
        return state.pushed(*hits, settlements.LoserDue(tuple(fighting)))
    return state


def _engaged(state: State) -> State:
    """Returns the state in which charges that made contact become combats (H-12.7)."""
    for rush in state.rushes:
        if state.has(rush.unit) and state.has(rush.target):
            for name, enemy in ((rush.unit, rush.target), (rush.target, rush.unit)):
                others = state.unit(name).state.get("in_combat_with", ())
                state = state.changed(name, in_combat_with=tuple(dict.fromkeys((*others, enemy))))
    return replace(state, rushes=())


_MARKED: Final = ("square", "road_column")


def _fire(state: State, action: acts.Fire) -> str:
    count, all_bases = len(action.bases), len(state.unit(action.unit).bases)
    bases = "" if count == all_bases else f" with {counted(count, 'base')}"
    return f"{action.unit} at {action.target}{bases} ({volleys.needed(state, action)})"


def _move(state: State, action: acts.Move) -> str:
    """Returns in words where a unit goes, and whom that disorders (H-12.11)."""
    unit, bases = state.unit(action.unit), action.bases
    words = move_words(front_of(unit.bases), front_of(bases), unit.bases, bases, CENTIMETRES)
    return f"{unit.id}: {words}{movement.disorder_words(state, action)}"


def _address(state: State, action: acts.Address) -> Offer:
    """Returns the label of the group or unit that an officer addresses, under his own name."""
    units = dict(orders.groups_of(state, action.officer))[action.group]
    whole = "" if state.has(action.group) else "all of "
    return Offer("address", f"{action.officer}: {whole}{action.group}", units=units)


def _layout(state: State, action: acts.Deploy) -> str:
    words = deployment.layout_words(state, state.unit(action.unit), action.bases)
    return f"{action.unit}: {words}"


def _name(state: State, action: acts.GiveName) -> str:
    name = "Nobody" if action.name is None else str(action.name)
    words = side_name(name) if name in state.sides else name
    return words if state.has(name) else words[:1].upper() + words[1:]


def _done(state: State, action: Done) -> Offer:
    if isinstance(state.step, orders.OrderChoice):
        return Offer("give", "No second order" if state.step.is_second else "Give no order")
    words = "Done with this order" if state.under else GAME.phase_of(state.phase).ends
    return Offer("done", "Roll for all declared fire" if state.shots else words)


_ACCEPTED_MM = 10.0
"""Who may not end so near to an enemy as players accept it charges him."""


def _charge_by_hand(
    state: State, name: str, bases: Bases, near_mm: float = TOUCH_MM
) -> acts.Charge | None:
    """Returns the charge of a unit ordered to advance that hands have laid against an enemy."""
    under = state.under
    if state.due or under is None or under.order != "advance" or name not in under.allowed_cm:
        return None
    touched = state.field.touching(state.unit(name), bases, near_mm)
    return acts.Charge(name, touched[0], bases) if touched else None


class GloriousEmpires(BattleGame[State]):
    """Two armies under officers, in turns of fire, orders, charges, combat and rally (H-4.5)."""

    name: Final = NAME
    title: Final = "Huzzah! Glorious Empires"
    actions = one_of(
        Roll, Lay, Done, Decide, acts.Fire, acts.Address, acts.GiveOrder, acts.Move, acts.Charge,
        acts.Deploy, acts.Skirmish, acts.PassLines, acts.MoveOfficer, acts.GiveNumber,
        acts.GiveName, acts.Overrule,
    )  # fmt: skip
    states = TypeAdapter(State)
    options: ClassVar = {
        "weather": ("fair", "foul"),
        "ground": ("firm", "soft", "hard"),
        "range_to": ("face", "nearest_base"),
    }
    asked_before = ("weather", "ground")
    charts = settlements.Charts
    end_rule = "H-15.8"
    bases_rule = "H-7.10"
    gone_rule = "H-10.3"
    upon_rule = "H-12.11"
    leader_rule = "H-11.14"
    strength = "bases"
    shown_keys: ClassVar = {"division": str}
    shows_phase = True
    # Odd hits of both sides are removed at the end of a Rally phase (H-1.5).
    sequence_marks = ("bases_lost_this_turn", "hits", "fired", "moved", "charging")
    phases: ClassVar = {
        "superiority": Phase("skirmisher superiority", automatic=lambda state: state),
        "effectiveness": Phase("artillery effectiveness", automatic=lambda state: state),
        "fire": Phase(
            "fire",
            "Fire",
            choices=volleys.declarations,
            asks="declare fire, or roll",
            hint="All targets are declared before any dice.",
            ends="Nobody fires",
            follows={acts.Fire: Judged(volleys.judged, volleys.declared)},
            why_not={"fire": volleys.ban_on_shots},
        ),
        "orders": Phase(
            "orders and movement",
            "Orders",
            choices=deployment.ways,
            asks="choose a unit or a group to give orders to, or give no more orders",
            ends="No more orders",
            follows={
                acts.Address: Judged(orders.ban_on_addressing, orders.addressed),
                acts.Move: Judged(movement.judged, movement.moved),
                acts.Charge: Judged(movement.judged_charge, movement.charged),
                acts.Deploy: Judged(deployment.judged, deployment.deployed),
                acts.Skirmish: Judged(deployment.ban_on_skirmishing, deployment.skirmished),
                acts.PassLines: Judged(deployment.ban_on_passing, deployment.passed),
            },
            why_not={
                "order": orders.ban_on_ordering,
                "full move": movement.ban_on_whole_way,
                "charge": movement.ban_on_charging,
            },
        ),
        "chargers": Phase("fire at chargers", "Fire at chargers", lambda state: (
            (rush.target, volleys.TargetOfCharges(rush.target)) for rush in state.rushes
        )),
        "combat": Phase("combat", "Combat", _next_combat),
        "officers": Phase(
            "officers",
            "Officers",
            choices=_officers,
            asks="move officers, or end the phase",
            hint=f"By hand up to {OFFICER_CM:g} cm, or to a unit.",
            ends="No more officers move",
            follows={acts.MoveOfficer: Judged(_judged_officer, _officer_moved)},
        ),
        "rally": Phase("rally", "Rally", lambda state: (
            (unit.id, settlements.RallyDue(unit.id))
            for unit in state.field.of_side(state.active)
            if unit.state.get("disordered") or unit.state.get("routing")
        )),
    }  # fmt: skip
    action_groups: ClassVar = {
        **battle.GROUPS,
        "fire": about.ActionGroup("Declare fire"),
        "address": about.ActionGroup("Give orders to"),
        "officer": about.ActionGroup("Officers"),
        "give": about.ActionGroup("", is_main=True),
        "move": about.ActionGroup("Move"),
        "form": about.ActionGroup("Deploy", "By hand, one base where it is."),
        "answer": about.ActionGroup("", is_main=True),
    }
    moments: ClassVar = {
        **battle.MOMENTS,
        "combat": "attack",
        "declare": "detail",
        "quality": "detail",
    }
    unit_settings = (
        UnitSetting("status", "Order", {
            "steady": {},
            "disordered": {"disordered": True},
            "routing": {"routing": True, "disordered": True},
        }, "word"),
        UnitSetting("hits", "Hits", marker="pips"),
        UnitSetting("quality", "Quality", {
            "unknown": {}, **{grade: {"quality": grade} for grade in GRADES}
        }),
    )  # fmt: skip
    signs = (
        Sign("routing", "routing", tone="bad"),
        Sign("disordered", "disordered", tone="warn", unless=("routing",)),
        Sign("hits", "hit", "pips", "warn"),
        Sign("fired", "has fired", "cloud"),
        Sign("quality", "{}"),
    )
    offers: ClassVar = {
        **battle.OFFERS,
        acts.Fire: ("fire", _fire),
        acts.Move: ("move", _move),
        acts.Address: _address,
        acts.GiveOrder: ("give", lambda state, action: str(action.order).capitalize()),
        acts.Deploy: ("form", _layout),
        acts.Skirmish: ("form", "{unit}: {count} into the skirmish line"),
        acts.PassLines: ("form", "{unit}: pass lines with {other}"),
        acts.MoveOfficer: (
            "officer",
            lambda _, action: f"{action.officer}: {f'to {action.to}' if action.to else 'stay'}",
        ),
        acts.GiveNumber: ("answer", lambda state, action: state.step.number.format(action.value)),
        acts.GiveName: ("answer", _name),
        Done: _done,
    }
    front_of = staticmethod(lambda unit, bases: front_of(bases))
    length_unit = staticmethod(lambda table: CENTIMETRES)
    strength_of = staticmethod(lambda unit: len(unit.bases))
    lost = staticmethod(lambda state, name: acts.removed(state, name, "is taken off", "H-15.8"))

    def begun(
        self,
        position: Position,
        sides: tuple[str, str],
        options: Mapping[str, Any],
        charts: settlements.Charts,
    ) -> State:
        """Returns the state with the armies' factors, and with units where they lie."""
        state = State(position, sides, options, armies={side: charts.of(side) for side in sides})
        for name in state.field.units:
            state = acts.settled_sector(state, name)
            state = state.changed(name, formation=formation_of(state.unit(name)))
        return state

    def markers(self, unit_state: Keys) -> tuple[about.Marker, ...]:
        """Returns the markers of a unit, and its formation unless it is in line."""
        lies = unit_state.get("formation")
        others = [about.Marker("word", lies.replace("_", " "))] if lies in _MARKED else []
        return (*super().markers(unit_state), *others)

    def read_keys(self, thing: Unit | Commander) -> None:
        """Reads the keys of a unit or an officer (H-1.6, H-1.8)."""
        if isinstance(thing, Unit):
            facts_of(thing)
        else:
            officer_facts(thing)

    def waits(self, state: State) -> bool:
        """Whether the side may act: also in ways not listed, on an order, or with declared fire."""
        return state.under is not None or bool(state.shots) or super().waits(state)

    def under_way(self, state: State) -> tuple[str, str] | None:
        """Returns how to act on the order in force, or the declared fire."""
        if state.shots:
            shots = (f"{shot.unit} at {shot.target}" for shot in state.shots)
            return self.phase_of("fire").asks, f"Declared: {', '.join(shots)}."
        if (under := state.under) is None:
            return None
        by_cm: dict[float, list[str]] = {}
        for name, cm in under.allowed_cm.items():
            by_cm.setdefault(cm, []).append(name)
        far = (f"{joined(names)} up to {cm:g} cm" for cm, names in by_cm.items())
        hints = dict.fromkeys(("advance", "retire"), f"By hand: {', '.join(far)}.")
        hints["manoeuvre"] = "By hand, as your own book says."
        return f"{under.order} with {', '.join(under.allowed_cm)}", hints.get(under.order, "")

    def step_shapes(self, state: State) -> tuple[Shape, ...]:
        """Also draws who fires at whom, once declared."""
        shots = (shapes_about(state.position, (shot.unit, shot.target)) for shot in state.shots)
        return (*super().step_shapes(state), *chain.from_iterable(shots))

    def next_phase(self, state: State) -> State:
        """Returns the state in the next phase, sequence or turn; an order in force ends first."""
        if state.under is not None:
            return orders.ended(state)
        if state.phase == "fire" and state.shots:
            return volleys.volley(state)
        if state.given and state.phase == "orders" and not any(orders.addresses(state)):
            state = state.tells("idle", "No officer has orders left", "H-11.6")
        return super().next_phase(state)

    def wiped(self, state: State, *, ends_turn: bool) -> State:
        """Returns the state without what was done in a sequence."""
        return replace(state, struck={}, killed={}, done_officers=(), given=())

    def next_sequence(self, before: State, state: State) -> State:
        """Returns the state in the second side's fire, or in the next turn (H-4.5)."""
        if state.half == 1:
            text = f"The {side_name(state.active)} act"
            return self.entered(state, "fire").tells("phase", text, "H-4.5")
        state = self.entered(state, "superiority")
        return state.tells("turn", f"Turn {state.turn}", "H-4.5")

    def after_last_turn(self, state: State) -> State:
        """Returns the state in which players say who has won (H-15.8)."""
        return state.pushed(settlements.WinnerDue())

    def entered(self, state: State, phase: str) -> State:
        """Returns the state at the beginning of a phase."""
        state = replace(state, phase=phase, tried=(), due=(), under=None, shots=())
        if phase in ("superiority", "effectiveness"):
            is_artillery = phase == "effectiveness"
            key, _ = settlements.ARMY_KEYS[is_artillery]
            lacking = [side for side in state.sides if getattr(state.armies[side], key) is None]
            asked = (settlements.FactorDue(side, is_artillery) for side in lacking)
            return state.pushed(*asked, settlements.ArmiesDice(is_artillery))
        if phase == "orders":
            return state.pushed(*movement.impulsive(state))
        return _engaged(state) if phase == "combat" else state

    def marked(self, state: State, action: acts.Overrule) -> State:
        """Returns the state with marks of units and factors of armies as players set them."""
        state = super().marked(state, action)
        for key in _FACTORS:
            for side, value in getattr(action, key).items():
                state = state.with_army(side, **{key: value})
        return state

    def adopts(self, state: State) -> bool:
        """Whether fire or orders are about to begin: nothing is declared and nobody is ordered."""
        begins = {"fire": not state.shots, "orders": state.under is None}
        return begins.get(state.phase, False)

    def acting(self, state: State) -> Iterable[str]:
        """Yields the units that act on an order, or that may still fire at some enemy."""
        if state.phase == "fire":
            return dict.fromkeys(shot.unit for shot in volleys.declarations(state))
        return () if state.under is None else state.under.allowed_cm

    def suggestion(self, state: State, unit: Unit, seen: Unit) -> Suggestion | None:
        """Infers a move, a charge or a deployment from where hands have laid a unit."""
        under, bases = state.under, seen.bases
        if state.due or under is None or unit.id not in under.allowed_cm:
            return None
        action: Any = acts.Deploy if under.order == "deploy" else acts.Move
        charge = _charge_by_hand(state, unit.id, bases)
        made = self.suggest(state, unit.id, charge or action(unit.id, bases))
        charge = charge or _charge_by_hand(state, unit.id, bases, _ACCEPTED_MM)
        if charge is None or made.is_legal:
            return made
        text = f"{made.text}; if you accept it, {unit.id} charges {charge.target}"
        return suggested(unit.id, replace(made.answer, because=text), charge)

    def overruled(self, state: State, action: Any) -> State:
        """Returns the state as players set it; who is accepted in contact charges (H-12.7)."""
        after = super().overruled(state, action)
        for name in action.asked:
            bases = action.units.get(name, ())
            if charge := _charge_by_hand(state, name, bases, _ACCEPTED_MM):
                after = movement.rushed(after, charge, "H-12.7", "charges")
        return after

    def moved(self, state: State, name: str) -> State | None:
        """Returns the state after a unit has acted on the order, if that lets it move."""
        under = state.under
        if state.due or under is None or under.order == "deploy" or name not in under.allowed_cm:
            return None
        return orders.acted(state.changed(name, moved=True), name)

    def nearest(self, state: State, unit: Unit, bases: Bases) -> Bases | None:
        """Returns how far the unit may go on its order: straight, with at most a drift (H-12.3)."""
        under = state.under
        if under is None or under.order == "deploy":
            return None
        wish = bases if under.order == "manoeuvre" else movement.straightened(state, unit, bases)
        is_legal = self.clearly_legal(state, unit)
        return farthest_legal(
            unit,
            wish,
            lambda there: is_legal(there) and movement.is_clear_of_enemies(state, unit, there),
        )

    def commander_suggestion(self, state: State, seen: Commander) -> Suggestion | None:
        """Infers the move of an officer, who attaches to a unit if put beside it."""
        officer = state.field.officers[seen.id]
        is_phase = state.phase == "officers" and not state.due and officer.side == state.active
        if not is_phase or seen.id in state.tried:
            return None
        ground, there = state.field, shapely.Point(seen.place_mm)
        near = [
            unit.id
            for unit in ground.of_side(seen.side)
            if ground.outlines[unit.id].distance(there) <= 2 * CM_MM
            and ground.commanded(seen.id, unit.id)
        ]
        action = acts.MoveOfficer(seen.id, seen.x_mm, seen.y_mm, to=near[0] if near else None)
        return self.suggest(state, seen.id, action)

    def formation(self, unit: Unit, listed: int) -> str | None:
        """Returns the formation of a unit by how its bases lie (H-14.1)."""
        reading = formation_of(unit) if unit.bases else None
        return None if reading is None else reading.replace("_", " ")

    def side_settings(self, state: State) -> tuple[about.Setting, ...]:
        """Returns the factors of the armies, which players may overrule."""
        settings = []
        for key, title in _FACTORS.items():
            values = {side: getattr(state.armies[side], key) or 0 for side in state.sides}
            settings.append(about.Setting(key, title, "side", "number", values))
        return tuple(settings)


GAME: Final = GloriousEmpires()
