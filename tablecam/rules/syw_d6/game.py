"""The Seven Years' War d6 sheet as a game on the table: its sequence, and what follows (S-0.9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from pydantic import TypeAdapter

from tablecam.errors import BadInput
from tablecam.geometry.shapes import Shape
from tablecam.rules import descriptions as about
from tablecam.rules.dice import Roll, dice_words
from tablecam.rules.frozen_json import one_of
from tablecam.rules.game import Ban, Offer, Refused, Suggestion
from tablecam.rules.lay import Lay
from tablecam.rules.miniatures import page as battle
from tablecam.rules.miniatures.battle import Bases, Done, Judged, Phase
from tablecam.rules.miniatures.battle_game import BattleGame
from tablecam.rules.miniatures.by_hand import suggested
from tablecam.rules.miniatures.ground import axes_of
from tablecam.rules.miniatures.move_words import move_words
from tablecam.rules.miniatures.nearest import Start, farthest_legal, nearest_on_the_way
from tablecam.rules.miniatures.page import Sign, UnitSetting
from tablecam.rules.steps import Decide
from tablecam.rules.syw_d6 import charges, marches, melee, morale, tables, volleys
from tablecam.rules.syw_d6 import state as acts
from tablecam.rules.syw_d6.field import field_of, read_keys, troops_of
from tablecam.rules.syw_d6.flights import flight_of, home_edges
from tablecam.rules.syw_d6.fog_of_war import FogDie, Pick, RainDie, foot_of
from tablecam.rules.syw_d6.forming import ClearDie, FormUpDue, formation_words
from tablecam.rules.syw_d6.responses import ResponseFire
from tablecam.rules.syw_d6.state import Due, State, Weather
from tablecam.rules.syw_d6.tables import GAME as NAME
from tablecam.rules.syw_d6.troops import Charts
from tablecam.table.model import Commander, Position, Unit, inches
from tablecam.table.sides import side_name
from tablecam.uncertainty.answer import certain
from tablecam.wording import joined, proper_name


def _swaps(state: State) -> Iterator[acts.Reform]:
    """Yields the units that may change orange for red (S-A.6)."""
    for unit in state.field.of_side(state.active):
        marks = unit.state
        if marks.get("disordered") and not (marks.get("reforming") or marks.get("melee_with")):
            yield acts.Reform(unit.id)


def _moves(state: State) -> Iterator[Any]:
    """Yields what the active side may do in its Move step (S-B); what is under way comes first."""
    ground = state.field
    own = ground.of_side(state.active)
    leaders = state.leaders.values()
    for unit in own:
        if unit.id in state.allowed:
            yield from marches.usual_moves(state, unit)
            value_in = state.allowed[unit.id].value_in
            for enemy in ground.enemies(unit):
                for charge in charges.ways(state, unit, enemy, value_in):
                    yield acts.Charge(unit.id, enemy.id, charge.bases)
    for leader in leaders:
        if leader.id in state.allowed:
            yield acts.MoveCommander(leader.id, leader.x_mm, leader.y_mm)
    if state.allowed:
        return
    for brigade in dict.fromkeys(unit.extra.get("brigade") for unit in own):
        if brigade and not isinstance(marches.dice_of_brigade(state, brigade), Ban):
            yield acts.ThrowTogether(brigade)
    able = [unit.id for unit in own if marches.ban_on_throwing(state, unit) is None]
    yield from (acts.Throw(name) for name in able if marches.dice_of(state, name).dice)
    yield from (acts.Throw(leader.id) for leader in leaders if leader.id not in state.tried)
    yield from map(acts.ChangeFormation, able)
    yield from map(acts.RetreatByChoice, able)


def _thrown(state: State, action: acts.Throw) -> State:
    unit = state.position.unit(action.unit)
    if unit is None:
        if action.unit not in state.leaders or action.unit in (*state.tried, *state.allowed):
            raise Refused(f"expected a commander who may move, got {action.unit}", rule="S-K.5")
    elif ban := marches.ban_on_throwing(state, unit):
        raise ban.refused(action.unit)
    dice = marches.dice_of(state, action.unit)
    if dice.dice == 0:
        raise Refused(f"{action.unit} does not march", rule="S-B.3")
    return state.pushed(marches.MoveDie((action.unit,), dice))


def _thrown_together(state: State, action: acts.ThrowTogether) -> State:
    dice = marches.dice_of_brigade(state, action.brigade)
    if isinstance(dice, Ban):
        raise dice.refused(action.brigade)
    return state.pushed(marches.MoveDie(marches.brigade_of(state, action.brigade), dice))


def _stayed(state: State, action: acts.StayPut) -> State:
    state.allowance(action.unit)
    if action not in tuple(marches.usual_moves(state, state.unit(action.unit))):
        raise Refused(f"{action.unit} must use its dice", rule="S-B.6")
    state = marches.spent(state.changed(action.unit, moved=True), action.unit)
    return state.tells("move", f"{action.unit} stays", "S-B.6", unit=action.unit)


def _reformed(state: State, action: acts.Reform) -> State:
    if action not in tuple(_swaps(state)):
        raise Refused(f"{action.unit} has no orange marker to swap", rule="S-A.6")
    state = state.changed(action.unit, reforming=True, disordered=None)
    return state.tells("form", f"{action.unit} reforms", "S-A.6", unit=action.unit)


def _changes_formation(state: State, action: acts.ChangeFormation) -> State:
    if ban := marches.ban_on_throwing(state, state.unit(action.unit)):
        raise ban.refused(action.unit)
    # Who has not moved may fire in this sequence, and wears orange then (S-D.2).
    state = state.changed(action.unit, reforming=True, disordered=None)
    return state.tells("form", f"{action.unit} changes formation", "S-B.5", unit=action.unit)


def _retreats(state: State, action: acts.RetreatByChoice) -> State:
    name = action.unit
    if ban := marches.ban_on_throwing(state, state.unit(name)):
        raise ban.refused(action.unit)
    state = acts.with_losses(state, name, tables.RETREAT_FIGURES, " for its retreat", "S-B.10")
    if state.has(name):
        state = state.changed(name, moved=True)
        state = state.pushed(morale.TestDie(name, "melee"), FleeNow(name))
    return state


class FleeNow(Due):
    """A retreat by choice is made at once, after its TEST (S-B.10)."""

    unit: str

    def follow(self, state: State, answer: None) -> State:
        """Returns the state with the flight due."""
        return state.pushed(flight_of(state, state.unit(self.unit)))


def _fired(state: State, action: acts.Fire) -> State:
    firer, target = state.unit(action.unit), state.unit(action.target)
    if ban := volleys.ban_on_shot(state, firer, target):
        raise ban.refused(firer.id)
    return state.pushed(volleys.FireDice(firer.id, target.id))


def _together(state: State, action: acts.ThrowTogether) -> Offer:
    units = marches.brigade_of(state, action.brigade)
    return Offer("brigade", f"{proper_name(action.brigade)}: {', '.join(units)}", units=units)


def _pick(state: State, action: Pick) -> Offer:
    """Returns the label of guns, or of a brigade with its infantry (S-M.10, S-M.11)."""
    if state.has(action.name):
        return Offer("answer", action.name)
    foot = tuple(unit.id for unit in foot_of(state, action.name))
    return Offer("answer", f"{proper_name(action.name)}: {joined(foot)}", units=foot)


def _move(state: State, action: acts.Move) -> str:
    """Returns where a unit goes, and whom that disorders (S-J.2, S-J.6)."""
    unit, bases, step = state.unit(action.unit), action.bases, state.step
    if isinstance(step, charges.Pursuit):
        return f"{unit.id}: {step.stop_words(state, bases)}"
    fronts, inch = (axes_of(unit), axes_of(unit, bases)), inches(state.position.table)
    words = move_words(*fronts, unit.bases, bases, inch)
    area = marches.judged(state, action).swept
    return f"{unit.id}: {words}{marches.disorder_words(state, unit.id, bases, area)}"


def _charge(state: State, action: acts.Charge) -> str:
    if isinstance(state.step, charges.Pursuit):
        return state.step.strike_words(state, action)
    unit, target = state.unit(action.unit), state.unit(action.target)
    value_in = state.allowed[unit.id].value_in if unit.id in state.allowed else 0.0
    struck = charges.judged_charge(state, unit, target, action.bases, value_in)[1]
    label = f"{unit.id} charges {target.id}"
    if struck is None:
        return label
    words = marches.disorder_words(state, unit.id, action.bases, struck.area(state))
    return f"{label} {acts.face_word(struck.face)}{words}"


def _fire(state: State, action: acts.Fire) -> Offer:
    shot = volleys.FireDice(action.unit, action.target)
    dice = dice_words(shot.pool(state).dice)
    red = state.unit(action.unit).state.get("reforming")
    after = ", and its red marker turns orange" if red else ""
    label = f"{action.unit} at {action.target}: {dice}{after}"
    return Offer("fire", label, evidence=shot.drawn(state))


def _decision(state: State, action: Decide) -> Offer:
    """Returns the label of a yes or a no, which is to fire or to hold fire in response."""
    if state.due and isinstance(state.due[-1], ResponseFire):
        return Offer("response", "Fire" if action.yes else "Hold fire")
    return Offer("answer", "Yes" if action.yes else "No")


def _throw(state: State, action: acts.Throw) -> str:
    pool = marches.dice_of(state, action.unit)
    best = f", {pool.counting}" if pool.best else ""
    # Commanders come last (S-B.1).
    is_end = action.unit in state.leaders and not marches.leaders_moved(state)
    end = "; after him no unit may move any more" if is_end else ""
    return f"{action.unit}: {dice_words(pool.dice)}{best}{end}"


def _take(state: State, action: acts.Take) -> Offer:
    """Returns the label of a final value, with the inches that must be used of it (S-B.6)."""
    step: Any = state.step
    group = "answer" if action.value_in == max(step.values_in) else "less"
    share, dice = step.least_share(state), step.pool.sum_words(step.values_in[action.value_in])
    least = f"at least {action.value_in * share:g} in" if share < 1 else "all of it"
    words = f"{action.value_in:g} in{dice and f' = {dice}'}"
    return Offer(group, f"{words} ({least})" if share else words)


def _form_up(state: State, action: acts.FormUp) -> str:
    """Returns the label of a formation, or of limbering and unlimbering."""
    if action.limbered is not None:
        return f"{action.unit}: {'limber' if action.limbered else 'unlimber'}"
    form = action.formation
    return f"{action.unit}: {'stay as it lies' if form is None else formation_words(form)}"


def _shares(state: State, action: acts.ShareLosses) -> str:
    return ", ".join(f"{name} {count}" for name, count in action.figures.items())


class SevenYearsWar(BattleGame[State]):
    """Two sides with units of figures, in sequences of fog, move, fire and melee (S-0.10)."""

    name: Final = NAME
    title: Final = "Seven Years' War d6"
    actions = one_of(
        Roll, Lay, Done, Decide, Pick, acts.Throw, acts.ThrowTogether, acts.Take, acts.Move,
        acts.MoveCommander, acts.Charge, acts.StayPut, acts.ChangeFormation, acts.RetreatByChoice,
        acts.Reform, acts.FormUp, acts.Fire, acts.Respond, acts.ShareLosses, acts.GiveRow,
        acts.Overrule,
    )  # fmt: skip
    states = TypeAdapter(State)
    options: ClassVar = {
        "alternate_first": (False, True),
        "second_chance": ("six", "not_one"),
        "rain_affects": ("fire", "fire_and_move"),
        "fog": (True, False),
    }
    charts = Charts
    end_rule = "S-0.9"
    bases_rule = "S-0.7"
    gone_rule = "S-H.4"
    upon_rule = "S-J.6"
    leader_rule = "S-K.5"
    strength = "figures"
    shown_keys: ClassVar = {
        "experience": str, "brigade": lambda name: f"{proper_name(name)} brigade"
    }  # fmt: skip
    sequence_marks = (
        "moved", "fired", "evaded", "slowed", "inspired", "fires_twice", "relocates_in",
    )  # fmt: skip
    turn_marks = ("casualties_this_turn", "casualties_from", "tested_this_turn", "contacted_on")
    phases: ClassVar = {
        "fog": Phase("Fog of War", automatic=lambda state: state, ends="None"),
        "flights": Phase("flights", automatic=lambda state: (
            (unit.id, flight_of(state, unit))
            for unit in state.field.of_side(state.active)
            if unit.state.get("status") and not unit.state.get("reforming")
        )),
        "clear": Phase("clearing disorder", automatic=lambda state: (
            (f"clear {unit.id}", ClearDie(unit.id))
            for unit in state.field.of_side(state.active)
            if unit.state.get("reforming")
        )),
        "swap": Phase(
            "reforming",
            choices=_swaps,
            asks="which disordered units shall reform?",
            hint="Red for orange: no move now, and a throw to clear it in the next sequence.",
            ends="No more units reform",
            follows={acts.Reform: _reformed},
        ),
        "move": Phase(
            "move",
            "Move",
            choices=_moves,
            asks="throw for a unit or a brigade, or end the moves",
            hint="Dice first, then the move.",
            ends="End the moves",
            follows={
                acts.Throw: _thrown,
                acts.ThrowTogether: _thrown_together,
                acts.Move: Judged(marches.judged, charges.moved),
                acts.MoveCommander: Judged(marches.judged_commander, marches.commander_moved),
                acts.Charge: Judged(charges.judged, charges.declared),
                acts.StayPut: _stayed,
                acts.ChangeFormation: _changes_formation,
                acts.RetreatByChoice: _retreats,
            },
            why_not={
                "move as one": marches.ban_on_brigade,
                "move": marches.ban_on_moving,
                "charge": charges.ban_on_charging,
            },
        ),
        "fire": Phase(
            "fire",
            "Fire",
            choices=volleys.shots,
            asks="fire, or end the fire",
            ends="End firing",
            follows={acts.Fire: _fired},
            why_not={"fire": volleys.ban_on_shots},
        ),
        "melee": Phase("melee", "Melee and morale", lambda state: (
            (f"melee {' '.join(fight.units)}", melee.MeleeDice(fight)) for fight in state.fights
        )),
        "moral": Phase("moral", automatic=morale.moral_due),
    }  # fmt: skip
    action_groups: ClassVar = {
        **battle.GROUPS,
        "throw": about.ActionGroup("Throw dice to move"),
        "brigade": about.ActionGroup("Move a brigade as one"),
        "move": about.ActionGroup("Move", "By hand, within the inches of the dice."),
        "form": about.ActionGroup("Reform or form up"),
        "change": about.ActionGroup(
            "Change formation: disordered until the next turn, when you choose it", most=2
        ),
        "retreat": about.ActionGroup("Retreat by choice", most=2),
        "fire": about.ActionGroup(f"Fire: each {tables.HIT} takes a figure"),
        "answer": about.ActionGroup("", is_main=True),
        "less": about.ActionGroup("Other dice, for a shorter move", most=2),
        "response": about.ActionGroup("Response fire", is_main=True),
    }
    moments: ClassVar = {**battle.MOMENTS, "melee": "attack", "throw": "detail"}
    unit_settings = (
        UnitSetting("figures", "Figures"),
        UnitSetting(
            "marker",
            "Marker",
            {"none": {}, "orange": {"disordered": True}, "red": {"reforming": True}},
            "pips",
        ),
        UnitSetting(
            "status",
            "Status",
            {"steady": {}, **{flight: {"status": flight} for flight in ("retreating", "routing")}},
            "word",
        ),
    )
    signs = (
        Sign("reforming", "reforming", "pips", "bad"),
        Sign("disordered", "disordered", "pips", "warn", unless=("reforming",)),
        Sign("status", "{}", tone="bad"),
        Sign("fired", "has fired", "cloud"),
        Sign("figures", "{} fig."),
    )
    offers: ClassVar = {
        **battle.OFFERS,
        acts.Throw: ("throw", _throw),
        acts.ThrowTogether: _together,
        acts.Take: _take,
        acts.Move: ("move", _move),
        acts.MoveCommander: ("move", "{commander}: stay"),
        acts.StayPut: ("move", "{unit}: stay"),
        acts.Charge: ("charge", _charge),
        acts.Fire: _fire,
        acts.Reform: ("form", "{unit}: reform"),
        acts.ChangeFormation: ("change", "{unit}: change formation"),
        acts.RetreatByChoice: ("retreat", "{unit}: retreat, losing 3 figures"),
        acts.FormUp: ("form", _form_up),
        acts.Respond: ("answer", lambda _, action: str(action.way).capitalize()),
        Decide: _decision,
        acts.GiveRow: ("answer", lambda _, action: morale.row_words(action)),
        acts.ShareLosses: ("answer", _shares),
        Pick: _pick,
    }
    length_unit = staticmethod(
        lambda table: replace(inches(table), ranges=(3.0, 6.0, 12.0, tables.COMMAND_IN))
    )
    acting = staticmethod(lambda state: state.allowed)
    lost = staticmethod(lambda state, name: acts.destroyed(state, name, "by the players"))
    strength_of = staticmethod(lambda unit: int(unit.state.get("figures", 0)))

    def begun(
        self, position: Position, sides: tuple[str, str], options: Mapping[str, Any], charts: Charts
    ) -> State:
        """Returns the state with the rows that the sheet's owner gives, and all units' figures."""
        units = tuple(unit for unit in position.units if unit.bases)
        edges = home_edges(sides, units)
        state = State(position, sides, options, edges=edges, chart=charts.test.rows)
        for unit in units:
            figures = unit.state.get("figures", unit.extra.get("figures"))
            state = state.changed(unit.id, figures=figures)
        return state

    def read_keys(self, thing: Unit | Commander) -> None:
        """Reads the keys of a unit (S-0.4)."""
        if isinstance(thing, Unit):
            read_keys(thing)

    def waits(self, state: State) -> bool:
        """Whether the side may act: who has thrown may move at least, or stay."""
        return not state.allowed.keys().isdisjoint(state.field.units) or super().waits(state)

    def under_way(self, state: State) -> tuple[str, str] | None:
        """Returns how far those may move that have thrown, or that only commanders still may."""
        if not state.allowed and (moved := marches.leaders_moved(state)):
            hint = f"Commanders move last: after {joined(moved)} no unit moves."
            return "throw for a commander, or end the moves", hint
        may = (f"{name} {may.words}" for name, may in state.allowed.items())
        hint = f"By hand: {', '.join(may)}."
        if state.allowed.keys() - state.leaders.keys():
            off = f"{tables.KEEP_OFF_IN:g} in from the enemy"
            hint += f" A unit that does not charge stops {off} (S-B.9)."
        return (f"move {joined(state.allowed)}", hint) if state.allowed else None

    def legal(self, state: State) -> tuple[Any, ...]:
        """Lists the actions; the moves do not end before those who have thrown (S-B.6, S-B.7)."""
        actions = super().legal(state)
        is_under_way = state.allowed and not state.due and len(actions) > 1
        return actions[:-1] if is_under_way else actions

    def acted(self, state: State, action: Any) -> State:
        """Returns what follows from an action of the active side.

        Raises:
            Refused: It is not legal in this phase.
        """
        if isinstance(action, Done) and action not in self.legal(state):
            raise Refused(f"{joined(state.allowed)} must move first", rule="S-B.6")
        return super().acted(state, action)

    def wiped(self, state: State, *, ends_turn: bool) -> State:
        """Returns the state with the weather of the next sequence, with no calamities of a turn."""
        in_force = (replace(one, sequences=one.sequences - 1) for one in state.in_force)
        state = replace(state, in_force=tuple(one for one in in_force if one.sequences))
        if ends_turn and state.options.get("alternate_first"):
            state = replace(state, sides=(state.sides[1], state.sides[0]))
        return replace(state, calamities=()) if ends_turn else state

    def next_sequence(self, before: State, state: State) -> State:
        """Returns the state in the Fog of War; a rain that may last is rolled for first (S-M.7)."""
        state = self.entered(state, "fog")
        if Weather("heavy_rain", state.active) in before.in_force:
            state = state.pushed(RainDie(state.active))
        text = f"Turn {state.turn}: {side_name(state.active)}"
        return state.tells("phase" if state.half else "turn", text, "S-0.9")

    def entered(self, state: State, phase: str) -> State:
        """Returns the state at the beginning of a phase."""
        state = replace(state, phase=phase, tried=(), allowed={}, due=())
        if phase == "fog" and state.options.get("fog", True):
            return state.pushed(FogDie())
        if phase == "move":
            guns = {unit.id: unit.state.get("relocates_in") for unit in state.position.units}
            allowed = {name: acts.Allowance(inches) for name, inches in guns.items() if inches}
            return replace(state, allowed=allowed)
        return state

    def adopts(self, state: State) -> bool:
        """Whether Move or Fire begins: nobody has moved or fired."""
        mark = {"move": "moved", "fire": "fired"}.get(state.phase)
        if mark is None or state.allowed or state.tried:
            return False
        units = state.position.units
        return not any(unit.state.get(mark) for unit in units if unit.side == state.active)

    def suggestion(self, state: State, unit: Unit, seen: Unit) -> Suggestion | None:
        """Infers a move, a charge or a formation from where hands have laid a unit."""
        bases = seen.bases
        due = state.due[-1] if state.due else None
        if isinstance(due, FormUpDue) and due.unit == unit.id:
            form_up = acts.FormUp(unit.id, bases)
            return suggested(unit.id, due.judge(state, form_up), form_up)
        if isinstance(due, charges.Pursuit) and due.charge.unit == unit.id and due.asked(state):
            return suggested(unit.id, due.judge(state, bases), acts.Move(unit.id, bases))
        is_moving = state.phase == "move" and unit.side == state.active and due is None
        if is_moving and unit.id in state.allowed:
            return self._moved_by_hand(state, replace(unit, bases=bases))
        if is_moving and marches.ban_on_throwing(state, unit) is None:
            text = f"{unit.id} has moved before its dice were thrown"
            return suggested(unit.id, certain("no", "S-B.4", text))
        return None

    def is_under_way(self, state: State, unit: Unit, bases: Bases) -> bool:
        """Whether a charger lies where its charge leads, which is being answered (S-C.6)."""
        return any(due.leads(state, unit.id, bases) for due in state.due)

    def why_still(self, state: State, unit: Unit) -> Ban:
        """Returns why a unit may not be moved now; in a melee it lies where it met its enemy."""
        if enemies := unit.state.get("melee_with"):
            return Ban("S-F.1", f"it meets {joined(enemies)} at the outline")
        return super().why_still(state, unit)

    def _moved_by_hand(self, state: State, moved: Unit) -> Suggestion:
        made = self._judged_by_hand(state, moved)
        way = None if made.is_legal else charges.accepted(state, moved)
        if way is None:
            return made
        bar = charges.straight_ban(state, state.unit(moved.id), way.value_in)
        bar = f"; no charge: {bar}" if bar and isinstance(made.action, acts.Move) else ""
        text = f"{made.text}{bar}; if you accept it, {way.unit} charges {way.target}"
        return suggested(moved.id, replace(made.answer, because=text), made.action)

    def _judged_by_hand(self, state: State, moved: Unit) -> Suggestion:
        name, bases, front = moved.id, moved.bases, axes_of(moved).edge
        for enemy in state.field.enemies_ahead(moved):
            if front.distance(state.field.outlines[enemy.id]) <= 5.0:
                return self.suggest(state, name, acts.Charge(name, enemy.id, bases))
        made = self.suggest(state, name, acts.Move(name, bases))
        struck = charges.nearly_struck(state, moved, state.allowed[name].value_in)
        if struck is None or made.is_legal:
            return made
        charge = f"to charge {struck.id}, press Charge or lay {name} in contact"
        answer = replace(made.answer, because=f"{made.text}: {charge}")
        return suggested(name, answer, made.action)

    def moved(self, state: State, name: str) -> State | None:
        """Returns the state after a unit has used its dice, if it is to move within them."""
        if state.due or name not in state.allowed:
            return None
        return marches.spent(state.changed(name, moved=True), name)

    def overruled(self, state: State, action: Any) -> State:
        """Returns the state as players set it; who is accepted at an enemy's edge charges him."""
        after = super().overruled(state, action)
        for name in () if state.due else action.asked:
            if name not in state.allowed:
                continue
            unit = state.unit(name)
            way = charges.accepted(state, replace(unit, bases=action.units[name]))
            if way is not None:
                after = charges.begun(after.changed(name, bases=unit.bases), way, "S-B.11")
        return after

    def nearest(self, state: State, unit: Unit, bases: Bases) -> Bases:
        """Returns how far the unit may go that way within its dice (S-B.8, S-B.9), or its place."""
        if isinstance(state.step, FormUpDue) and state.step.unit == unit.id:
            return state.step.nearest(state, bases)
        if state.due or unit.id not in state.allowed:
            return unit.bases
        is_clear = self.clearly_legal(state, unit)

        def is_legal(to: Bases) -> bool:
            # What hands may err stays for the hands that lay it there.
            way = marches.judged(state, acts.Move(unit.id, to), hand_mm=marches.HAIR_MM)
            return way.answer.answer != "no" and is_clear(to)

        if state.field.troops[unit.id].formation == "open":
            return farthest_legal(unit, bases, is_legal) or unit.bases
        reach_mm = state.allowed[unit.id].value_in * state.field.inch_mm
        start = Start(unit.bases, axes_of(unit), axes_of(unit, bases), reach_mm)
        further = marches.gone_on(state, unit, bases, is_legal)
        return further or nearest_on_the_way(start, is_legal) or unit.bases

    def commander_suggestion(self, state: State, seen: Commander) -> Suggestion | None:
        """Infers the move of a commander who has thrown his dice."""
        if seen.id not in state.allowed:
            return None
        return self.suggest(state, seen.id, acts.MoveCommander(seen.id, seen.x_mm, seen.y_mm))

    def weapon_ranges(self, unit: Unit) -> tuple[float, ...]:
        """Returns the ranges of a unit's weapon (S-D.8)."""
        try:
            return read_keys(unit).ranges.all_in
        except BadInput:
            return ()

    def lengths_asked(self, a: Unit, b: Unit) -> tuple[float, ...]:
        """Returns the ranges of a unit's weapon, of friends how far they support (S-D.8, S-H.7)."""
        return super().lengths_asked(a, b) if a.side != b.side else (tables.COMMAND_IN,)

    def fire_zones(self, position: Position, unit: Unit) -> tuple[Shape, ...]:
        """Returns the outlines of a unit's arc of fire (S-D.6 to S-D.8)."""
        try:
            return tuple(field_of(position).arcs(unit))
        except BadInput:
            return ()

    def formation(self, unit: Unit, listed: int) -> str | None:
        """Returns the formation of a unit by how its bases lie (S-L)."""
        try:
            reading = troops_of(unit, 25.4).formation
        except BadInput:
            return None
        return None if reading == "none" else formation_words(reading)


GAME: Final = SevenYearsWar()
