"""Charges: the way to contact, the answers to it, response fire, and what comes of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.moves import lanes
from tablecam.geometry.moves.paths import MovePath, Straight, forward_turn_rad
from tablecam.geometry.moves.poses import ahead, laid_at, shifted
from tablecam.geometry.moves.poses import wheeled as bases_wheeled
from tablecam.geometry.outlines import Axes
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.geometry.sight import eroded_by_hair
from tablecam.rules.dice import Roll, dice_words
from tablecam.rules.game import Ban, PendingDecision
from tablecam.rules.miniatures.battle import Bases, first_ban, permitted
from tablecam.rules.miniatures.faces import faces_of
from tablecam.rules.miniatures.ground import area_of, axes_of, centre_mm, footprints, move_sigma_mm
from tablecam.rules.steps import YES_OR_NO, Decide
from tablecam.rules.syw_d6.field import WALL, Field
from tablecam.rules.syw_d6.fire import Occasion, ban_on_response, ban_on_shot
from tablecam.rules.syw_d6.flights import FlightDie
from tablecam.rules.syw_d6.marches import (
    Way,
    area_to,
    ban_on_going_on,
    disordered_on_the_way,
    of_at_most,
    path_to,
    spent,
)
from tablecam.rules.syw_d6.state import (
    Charge,
    Due,
    Fight,
    Move,
    Respond,
    State,
    disordered,
    face_word,
    still,
)
from tablecam.rules.syw_d6.tables import BONUS, CHARGE_IN, KEEP_OFF_IN, SQUARE_DEG
from tablecam.rules.syw_d6.troops import Face, Troops, may_pass
from tablecam.rules.syw_d6.volleys import FireDice
from tablecam.table.headings import difference_deg
from tablecam.table.model import Unit
from tablecam.table.motion import HAND_MM
from tablecam.uncertainty.answer import Answer, certain, measured
from tablecam.wording import joined

_STEP_IN = 0.5
_WAY_STEP_IN = 0.25
_ROUNDING_IN = 1e-9
_MOST_TURN_DEG = 135.0
_TOUCH_MM = 2.0


def charge_ban(
    charge_in: float, straight_in: float, off_square_deg: float, *, slack_in: float = _ROUNDING_IN
) -> Ban | None:
    """Returns why the last part of a way is no charge (S-B.11); `slack_in` is for hands."""
    why = f"goes straight for the last {straight_in:.1f} in alone, and {charge_in:.1f} are due"
    off_square = f"strikes the edge {abs(off_square_deg):.1f}° off square"
    return first_ban(
        (straight_in < charge_in - slack_in, "S-B.11", why),
        (abs(off_square_deg) > SQUARE_DEG, "S-B.11", off_square),
    )


def has_charge_bonus(troops: Troops, face: Face) -> bool:
    """Whether a charger has the bonus: in order, and light troops only at a rear (S-H.6, S-I.5)."""
    return not troops.is_disordered and (troops.weight == "line" or face == "rear")


def counter_charge_dice(troops: Troops) -> int:
    """Returns the number of dice that a counter-charge throws and adds up (S-C.9)."""
    return 1 + BONUS[troops.skill.move]


class ChargeWay(Due):
    """A charge under way; when all answers are given, it comes to contact (S-F.1)."""

    unit: str
    target: str
    bases: Bases
    face: Face
    length_in: float
    charge_in: float
    value_in: float
    has_countered: bool = False
    """Whether its target has the bonus of a counter-charge (S-C.9)."""

    def gone(self, state: State) -> State:
        """Returns the state in which the charger, if it is still there, has met nobody."""
        return _failed(state, self.unit)

    def flees(self, state: State) -> bool:
        """Whether fire has made the charger retreat or rout, so that it strikes nobody."""
        return bool(state.unit(self.unit).state.get("status"))

    def then(self, state: State, answer: None) -> State:
        """Returns the state in contact; a charger that flees is left short of it (S-F.1, S-A.1)."""
        if not self.flees(state):
            return met(state, self)
        text = f"{self.unit} does not charge home"
        state = state.tells("charge", text, "S-F.1", unit=self.unit, target=self.target)
        bases, target = self.start(state)[0], self.target
        return _failed(state.changed(self.unit, bases=bases, flees_from=target), self.unit)

    def going_on(self, state: State, further_in: float, face: Face) -> ChargeWay:
        """Returns it with contact farther on, or less far, on its last straight line."""
        heading_deg = axes_of(state.unit(self.unit), self.bases).heading_deg
        return replace(
            self,
            bases=ahead(self.bases, heading_deg, further_in * state.field.inch_mm),
            face=face,
            length_in=self.length_in + further_in,
            charge_in=self.charge_in + further_in,
        )

    def goes_home(self, state: State, *own: ResponseFire) -> State:
        """Returns the state with the fire of others and the target's `own` due, then contact."""
        others = responses(state, state.unit(self.unit), self.bases, but=self.target)
        return state.pushed(*others, *own, self)

    def way_drawn(self, state: State) -> tuple[Shape, ...]:
        """Draws the way of a charger that does not flee, and its end."""
        if not state.has(self.unit) or self.flees(state):
            return ()
        end = footprints(still(state.unit(self.unit), self.bases))
        return (*shapes_of(self.area(state), "path"), *shapes_of(end, "goal", self.unit))

    def start(self, state: State) -> tuple[Bases, Axes]:
        """Returns the charger where its charge distance starts, and its front there."""
        unit = state.unit(self.unit)
        bases = still(unit, self.bases)
        back_mm = -self.charge_in * state.field.inch_mm
        bases = ahead(bases, axes_of(unit, bases).heading_deg, back_mm)
        return bases, axes_of(unit, bases)

    def area(self, state: State) -> shapely.Geometry:
        """Returns the area that it sweeps."""
        unit = state.unit(self.unit)
        return area_to(unit, still(unit, self.bases))


class OfCharge(Due, is_family=True):
    """A step of a charge under way."""

    charge: ChargeWay

    def way_drawn(self, state: State) -> tuple[Shape, ...]:
        """Draws the way of the charge."""
        return self.charge.way_drawn(state)


class Answering(OfCharge):
    """How the target answers a charge (S-C.6)."""

    def asked(self, state: State) -> PendingDecision:
        """Asks the side of the target for one of the answers that it may give."""
        ways = joined((answer.way for answer in self.legal(state)), "or")
        question, side = (
            f"{self.charge.unit} charges {self.charge.target}: {ways}?",
            self.owner(state),
        )
        return PendingDecision(question, side, hint=" ".join(self._costs(state)))

    def names(self, state: State) -> tuple[str, ...]:
        """Returns the target, whose side answers."""
        return (self.charge.target,)

    def _costs(self, state: State) -> Iterator[str]:
        """Yields what each answer brings (S-C.2, S-C.7, S-C.9), and why cavalry lacks one."""
        target, own = state.field.troops[self.charge.target], self._own_fire(state)
        dice = own[0].shot.pool(state).dice if own else 0
        yield f"Stand: {f'it may fire {dice_words(dice)}' if dice else 'it has no fire'}."
        ways = [answer.way for answer in self.legal(state)]
        if "evade" in ways:
            yield f"Evade: {dice_words(target.rate)} straight away, disordered; it may be caught."
        if "counter-charge" in ways:
            bonus = f"with the bonus of a charge from {self.charge.charge_in:.1f} in on"
            yield f"Counter-charge: {dice_words(counter_charge_dice(target))}, {bonus}."
        elif target.arm == "cavalry":
            yield "Cavalry counter-charges in order alone, and out of a melee."

    def _own_fire(self, state: State) -> tuple[ResponseFire, ...]:
        """Returns the fire of a target that stands."""
        charge = self.charge
        occasion: Occasion = f"contacted_{charge.face}"  # type: ignore[assignment]
        fire = ResponseFire(charge.target, charge.unit, occasion, 0.0, charge.bases)
        return _response(state, fire)

    def legal(self, state: State) -> tuple[Respond, ...]:
        """Returns the answers that the target may give."""
        troops = state.field.troops[self.charge.target]
        ways = [Respond("stand")]
        if not troops.in_melee and not state.unit(self.charge.target).state.get("evaded"):
            ways.append(Respond("evade"))
        if troops.may_counter_charge and not troops.in_melee:
            ways.append(Respond("counter-charge"))
        return tuple(ways)

    def then(self, state: State, answer: Respond) -> State:
        """Returns the state in which the answer is carried out."""
        charge, unit, target = self.charge, self.charge.unit, self.charge.target
        text = f"{target} answers: {answer.way}"
        state = state.tells("response", text, "S-C.6", unit=target, way=answer.way)
        # Others fire when it is known how far the charger goes (S-C.1).
        if answer.way == "evade":
            state = state.changed(target, evaded=True)
            return state.pushed(FlightDie(target, "evades", unit), Pursuit(charge))
        if answer.way == "counter-charge":
            return state.pushed(CounterDice(charge))
        return charge.goes_home(state, *self._own_fire(state))


class ResponseFire(Due):
    """Whether a unit fires at an enemy that moves before it (S-C.1)."""

    unit: str
    target: str
    occasion: Occasion
    range_in: float
    bases: Bases = ()

    @property
    def shot(self) -> FireDice:
        """The dice of its fire."""
        return FireDice(self.unit, self.target, self.occasion, self.range_in, self.bases)

    def drawn(self, state: State) -> tuple[Shape, ...]:
        """Draws its fire at the mover where it is nearest."""
        return self.shot.drawn(state)

    def asked(self, state: State) -> PendingDecision | None:
        """Asks the firer's side, with the dice that it would throw."""
        if not self.legal(state):
            return None
        closest = f"moves, {self.range_in:.1f} in away at its closest"
        deed = closest if self.occasion == "crosses" else "charges home"
        question = f"{self.unit}: fire at {self.target} as it {deed}?"
        return PendingDecision(question, self.owner(state), sums=self.shot.sums(state))

    def legal(self, state: State) -> tuple[Decide, ...]:
        """Returns both answers, none without dice; who flees makes no contact (S-C.2)."""
        flees = self.occasion != "crosses" and state.unit(self.target).state.get("status")
        return () if flees or not self.shot.pool(state).dice else YES_OR_NO

    def then(self, state: State, answer: Decide | None) -> State:
        """Returns the state with the shot due."""
        if answer is None:
            return state
        if not answer.yes:
            return state.tells("response", f"{self.unit} holds its fire", "S-C.1", unit=self.unit)
        return state.pushed(self.shot)


class Pursuit(OfCharge):
    """After an evasion: the charger goes straight on, to contact if it can (S-C.8)."""

    question = "{charge.unit} has not caught {charge.target}: where does it stop?"

    def names(self, state: State) -> tuple[str, ...]:
        """Returns the charger."""
        return (self.charge.unit,)

    def legal(self, state: State) -> tuple[Move, ...]:
        """Returns the earliest and the latest place where it may stop; none if it has caught."""
        if self._caught_mm(state) is not None:
            return ()
        most_in = self._most_in(state)
        stops = (0.0, most_in) if most_in > 0 else (0.0,)
        return tuple(Move(self.charge.unit, self._on(state, stop_in)) for stop_in in stops)

    def takes(self, state: State, answer: Any) -> bool:
        """Whether an action stops it; `then` judges where."""
        return isinstance(answer, Move) and answer.unit == self.charge.unit

    def judge(self, state: State, bases: Bases) -> Answer:
        """Judges a place where hands have put the charger."""
        name, start = self.charge.unit, self.charge.start(state)[1]
        front = axes_of(state.unit(name), bases)
        on_mm = float(start.ahead_mm([front.middle_mm])[0])
        off_mm = math.sqrt(max(0.0, math.dist(front.middle_mm, start.middle_mm) ** 2 - on_mm**2))
        if off_mm > 2 * HAND_MM or abs(difference_deg(front.heading_deg, start.heading_deg)) > 5:
            return certain("no", "S-C.8", f"{name} goes straight on in a pursuit")
        most_in, inch_mm = self._most_in(state), state.field.inch_mm
        margin_mm = min(on_mm, most_in * inch_mm - on_mm) + HAND_MM
        sigma_mm = max(base.sigma_mm for base in bases)
        why = f"{name} stops {on_mm / inch_mm:.1f} in on, of 0 to {most_in:g}"
        return measured(margin_mm, sigma_mm, "S-C.8", why)

    def then(self, state: State, answer: Move | None) -> State:
        """Returns the state in contact with the evader's rear, or with the charger disordered."""
        name, caught_mm = self.charge.unit, self._caught_mm(state)
        if caught_mm is not None:
            further_in = caught_mm / state.field.inch_mm - self.charge.charge_in
            return self.charge.going_on(state, further_in, "rear").goes_home(state)
        assert answer is not None
        permitted(self.judge(state, answer.bases))
        unit = state.unit(name)
        bases = laid_at(unit.bases, answer.bases)
        state = _failed(state.changed(name, bases=bases), name)
        return state.pushed(*responses(state, unit, bases))

    def stop_words(self, state: State, bases: Bases) -> str:
        """Returns in words where the charger would stop."""
        charge, front = self.charge, self.charge.start(state)[1]
        there = axes_of(state.unit(charge.unit), bases).middle_mm
        on_in = math.dist(front.middle_mm, there) / state.field.inch_mm
        if charge.charge_in < charge.length_in:
            begin = f"where its last {charge.charge_in:g} in begin"
            return f"stops {on_in:.1f} in on from {begin}" if on_in else f"stops {begin}"
        return f"goes on {on_in:.1f} in" if on_in else "stops where it stands"

    def _on(self, state: State, stop_in: float) -> Bases:
        bases, front = self.charge.start(state)
        return ahead(bases, front.heading_deg, stop_in * state.field.inch_mm)

    def _room_mm(self, state: State, *others: str) -> float:
        """Returns how far the charger can go on from its start before it meets others."""
        outlines = [state.field.outlines[name] for name in others]
        most_mm = self._value_in * state.field.inch_mm
        return lanes.room_ahead_mm(self.charge.start(state)[1], outlines, most_mm)

    @property
    def _value_in(self) -> float:
        """What the final value leaves from the start of the charge distance."""
        return self.charge.value_in - self.charge.length_in + self.charge.charge_in

    def _most_in(self, state: State) -> float:
        """Returns the greatest pursuit, short of any other unit."""
        others = (name for name in state.field.outlines if name != self.charge.unit)
        room_in = self._room_mm(state, *others) / state.field.inch_mm - 0.05
        return max(0.0, min(self._value_in, room_in))

    def _caught_mm(self, state: State) -> float | None:
        """Returns how far the charger goes on to the evader; None if that is out of reach."""
        if not state.has(self.charge.target):
            return None
        room_mm = self._room_mm(state, self.charge.target)
        return room_mm if room_mm <= self._value_in * state.field.inch_mm else None


class CounterDice(OfCharge):
    """A counter-charge throws its dice and adds them up (S-C.9)."""

    def roll(self, state: State) -> Roll:
        """Returns the dice."""
        target = self.charge.target
        return Roll(
            f"the counter-charge of {target}", counter_charge_dice(state.field.troops[target])
        )

    def then(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state in which both go to where they meet."""
        charge, target = self.charge, state.unit(self.charge.target)
        way_in = min(float(sum(answer)), charge.charge_in)
        heading_deg = axes_of(state.unit(charge.unit), charge.bases).heading_deg
        toward_deg, front = heading_deg + 180.0, axes_of(target)
        turn_deg = difference_deg(toward_deg, front.heading_deg)
        faced = bases_wheeled(target.bases, front.middle_mm, turn_deg)
        bonus = sum(answer) >= charge.charge_in
        text = f"{target.id} counter-charges {way_in:g} in, {'with' if bonus else 'without'} bonus"
        state = state.tells("response", text, "S-C.9", unit=target.id, dice=list(answer))
        there = ahead(faced, toward_deg, way_in * state.field.inch_mm)
        state = state.changed(target.id, bases=there)
        met_there = replace(charge.going_on(state, -way_in, "front"), has_countered=bonus)
        return met_there.goes_home(state)


def met(state: State, charge: ChargeWay) -> State:
    """Returns the state with charger and target in contact, and their melee (S-F.1, S-J.3)."""
    name, target, face = charge.unit, charge.target, charge.face
    unit, ground, area = state.unit(name), state.field, charge.area(state)
    text, drawn = f"{name} strikes {target} {face_word(face)}", shapes_of(area, "path")
    state = state.tells("contact", text, "S-F.1", *drawn, unit=name, target=target, face=face)
    bases = laid_at(unit.bases, still(unit, charge.bases))
    state = state.changed(name, bases=bases, moved=True, melee_with=(target,))
    state = disordered_on_the_way(state, ground, unit, area)
    walls = (area_of(piece) for piece in state.position.terrain if piece.kind == WALL)
    if any(shapely.intersects(area, wall) for wall in walls):
        state = disordered(state, name, "S-J.13")
    marks = state.unit(target).state
    with_ = (*marks.get("melee_with", ()), name)
    state = state.changed(target, contacted_on=face, melee_with=with_, reforming=None)
    if face != "front":
        state = disordered(state, target, "S-J.3")
    fight = next((one for one in state.fights if one.defender == target), Fight((), target))
    others = tuple(one for one in state.fights if one is not fight)
    has_bonus = {name: has_charge_bonus(ground.troops[name], face), target: charge.has_countered}
    chargers = (*fight.chargers, *(unit for unit, bonus in has_bonus.items() if bonus))
    fight = Fight((*fight.attackers, name), target, chargers)
    return replace(state, fights=(*others, fight))


def _failed(state: State, name: str) -> State:
    """Returns the state of a charger that has met nobody: it is disordered (S-F.1)."""
    return disordered(state.changed(name, moved=True), name, "S-F.1") if state.has(name) else state


def ways(state: State, unit: Unit, target: Unit, value_in: float) -> Iterator[ChargeWay]:
    """Yields the cheapest charge at each edge of a target within reach (S-B.11 to S-B.14)."""
    ground, front = state.field, axes_of(unit)
    inch_mm, width_mm = ground.inch_mm, lanes.front_width_mm(front)
    outline = ground.outlines[target.id]
    if ground.apart_in(unit, target) > value_in:
        return
    for face, edge in edges(ground, target):
        if float(edge.ahead_mm([front.middle_mm])[0]) <= 0:
            continue
        best: ChargeWay | None = None
        for corner in lanes.CORNERS:
            turn_rad = forward_turn_rad(corner, front.heading_deg, edge.heading_deg + 180.0)
            if math.degrees(turn_rad) > _MOST_TURN_DEG:
                continue
            arc_mm = turn_rad * width_mm
            for step in range(int(value_in / _STEP_IN) + 1):
                before_mm = step * _STEP_IN * inch_mm
                pivot = lanes.advanced(front, before_mm)
                turned = lanes.wheeled(pivot, corner, arc_mm)
                room_mm = lanes.room_ahead_mm(turned, [outline], value_in * inch_mm)
                length_in = (before_mm + arc_mm + room_mm) / inch_mm
                if length_in > value_in or (best is not None and length_in >= best.length_in):
                    continue
                bases = ahead(unit.bases, front.heading_deg, before_mm)
                turn_deg = math.degrees(turn_rad) * (1 if corner == "left" else -1)
                bases = bases_wheeled(bases, lanes.pivot_mm(pivot, corner), turn_deg)
                bases = ahead(bases, turned.heading_deg, room_mm)
                charge = judged_charge(state, unit, target, bases, value_in)[1]
                if charge is not None and charge.face == face:
                    best = charge
        if best is not None:
            yield best


def nearly_struck(state: State, moved: Unit, value_in: float) -> Unit | None:
    """Returns the enemy to whom hands have put a unit too near, if it may charge him (S-B.9)."""
    ground, unit = state.field, state.unit(moved.id)
    area, limit_mm = footprints(moved.bases), KEEP_OFF_IN * ground.inch_mm
    near = (
        enemy
        for enemy in ground.enemies(unit)
        if shapely.distance(area, ground.outlines[enemy.id]) < limit_mm
        and any(True for _ in ways(state, unit, enemy, value_in))
    )
    return next(near, None)


def judged_charge(
    state: State, unit: Unit, target: Unit, bases: Bases, value_in: float
) -> tuple[Answer, ChargeWay | None]:
    """Judges a charge that ends where the bases lie (S-B.8, S-B.11 to S-B.14, S-L.11)."""
    ground, name = state.field, unit.id

    def barred(rule: str, why: str) -> tuple[Answer, None]:
        return certain("no", rule, f"{name} {why}"), None

    if ban := _ban_on_charger(state, unit):
        return barred(ban.rule, ban.because)
    if len(bases) != len(unit.bases):
        return barred("S-0.7", "lacks a base")
    moved = replace(unit, bases=bases)
    front, path = axes_of(moved), path_to(unit, bases)
    length_in = ground.inches(path.cost_mm)
    struck = struck_edge(ground, target, moved)
    if struck is None:
        return barred("S-B.14", f"strikes no edge of {target.id}")
    _, face, edge = struck
    off_deg = abs(difference_deg(front.heading_deg, edge.heading_deg + 180.0))
    charge_in = min(CHARGE_IN, length_in)
    slack_in = 2 * HAND_MM / ground.inch_mm
    straight_in = _last_straight_mm(path) / ground.inch_mm
    if ban := charge_ban(charge_in, straight_in, off_deg, slack_in=slack_in):
        return barred(ban.rule, ban.because)
    start = axes_of(unit, ahead(bases, front.heading_deg, -charge_in * ground.inch_mm)).middle_mm
    if float(edge.ahead_mm([start])[0]) <= 0:
        return barred("S-B.14", f"does not begin its charge before that edge of {target.id}")
    line = shapely.shortest_line(shapely.Point(start), ground.outlines[target.id])
    if shapely.intersects(eroded_by_hair(ground.blockers(unit, target)), line):
        return barred("S-B.12", f"does not see {target.id} through its charge distance")
    area = area_to(unit, bases)
    if other := _met_on_the_way(ground, unit, target, area):
        return barred("S-B.12", f"would meet {other} on its way")
    if ban := ban_on_going_on(state, unit, moved, area):
        return barred(ban.rule, ban.because)
    answer = measured(
        (value_in - length_in) * ground.inch_mm,
        move_sigma_mm(unit.bases, bases),
        "S-B.11",
        f"{name} charges {target.id} over {of_at_most(length_in, value_in)}",
        shapes_of(area, "path"),
        tolerance_mm=state.position.table.tolerance_mm,
    )
    way = ChargeWay(name, target.id, bases, face, length_in, charge_in, value_in)
    return answer, None if answer.answer == "no" else way


def _last_straight_mm(path: MovePath) -> float:
    """Returns how far a path goes straight at its end; a hand turns a unit by a hair as it goes."""
    straight_mm = 0.0
    for step in reversed(path.steps):
        length_mm = step.length_mm if isinstance(step, Straight) else abs(step.arc_mm)
        if not isinstance(step, Straight) and length_mm > 2 * HAND_MM:
            break
        straight_mm += length_mm
    return straight_mm


def _ban_on_charger(state: State, unit: Unit) -> Ban | None:
    in_column = state.field.troops[unit.id].formation == "march_column"
    return first_ban(
        (in_column, "S-L.11", "is in march column, which cannot contact"),
        (state.is_held(unit), "S-M.5", "may not advance in this turn"),
    )


def ban_on_charging(state: State, name: str) -> Ban | None:
    """Returns why a unit that has its dice is offered no charge (S-B.11, S-L.11, S-M.5)."""
    if name not in state.allowed:
        return None
    ground, unit, value_in = state.field, state.unit(name), state.allowed[name].value_in
    enemies = ground.nearest_enemies(unit)
    if any(True for enemy in enemies for _ in ways(state, unit, enemy, value_in)):
        return None
    if ban := _ban_on_charger(state, unit):
        return Ban.of(name, ban.rule, ban.because)
    if ground.apart_in(unit, enemies[0]) > value_in:
        return Ban("S-B.11", f"no enemy is within {value_in:g} in")
    return Ban("S-B.11", f"no way of {value_in:g} in ends straight and square on an enemy's edge")


def edges(ground: Field, target: Unit) -> Iterator[tuple[Face, Axes]]:
    """Yields the edges of a unit's outline rectangle: front, left, right and rear (S-B.14)."""
    is_square = ground.troops[target.id].formation == "square"
    for name, edge in faces_of(target.bases, axes_of(target).heading_deg).items():
        struck: Face = "flank" if name in ("left", "right") else name  # type: ignore[assignment]
        yield "front" if is_square else struck, edge


def struck_edge(ground: Field, target: Unit, moved: Unit) -> tuple[int, Face, Axes] | None:
    """Returns the edge of a target that a charger's front lies against, with its place (S-B.14)."""
    front = axes_of(moved)
    touching = [
        (abs(difference_deg(front.heading_deg, edge.heading_deg + 180.0)), place, face, edge)
        for place, (face, edge) in enumerate(edges(ground, target))
        if shapely.distance(front.edge, edge.edge) <= _TOUCH_MM + HAND_MM
    ]
    if not touching:
        return None
    _, place, face, edge = min(touching, key=lambda side: side[0])
    return place, face, edge


def _met_on_the_way(ground: Field, unit: Unit, target: Unit, area: shapely.Geometry) -> str:
    """Returns the unit that a charge would meet; friends may let it pass (S-B.12, S-J.6)."""
    troops = ground.troops
    for other in ground.met(area, unit.id, target.id):
        if other.side != unit.side or not may_pass(troops[unit.id], troops[other.id]):
            return other.id
    return ""


def responses(state: State, unit: Unit, bases: Bases, *, but: str = "") -> tuple[ResponseFire, ...]:
    """Returns the response fire that a way calls, the nearest first (S-C.1).

    Each enemy fires at the place of the way that is nearest to it, of those at which it may fire.
    """
    ground, dues = state.field, list[ResponseFire]()
    places = [ground.with_unit_at(unit, place) for place in _places(ground, unit, bases)]
    outlines = [place.outlines[unit.id] for place in places]
    for enemy in ground.enemies(unit):
        if enemy.id == but or ban_on_response(ground.troops[enemy.id], "crosses", 0.0) is not None:
            continue
        apart_mm = shapely.distance(axes_of(enemy).edge, outlines)
        best: ResponseFire | None = None
        for index in np.argsort(apart_mm, kind="stable"):
            there = places[index]
            # The range is measured in the arc, never less than between the outlines.
            if best is not None and there.inches(apart_mm[index]) >= best.range_in:
                break
            target = there.units[unit.id]
            shot = there.shot(enemy, target)
            if isinstance(shot, Ban) or (best is not None and shot.range_in >= best.range_in):
                continue
            if ban_on_shot(there.troops[enemy.id], there.target_of(enemy, target), shot) is None:
                best = ResponseFire(enemy.id, unit.id, "crosses", shot.range_in, target.bases)
        if best is not None:
            dues += _response(state, best)
    return tuple(sorted(dues, key=lambda due: due.range_in))


def _places(ground: Field, unit: Unit, bases: Bases) -> Iterator[Bases]:
    """Yields how a unit's bases lie along its way, a small step apart, both ends included."""
    at, step_mm = unit.bases, _WAY_STEP_IN * ground.inch_mm
    yield at
    if ground.troops[unit.id].formation == "open":
        x_mm, y_mm = np.subtract(centre_mm(bases), centre_mm(at))
        for share in _shares(math.hypot(x_mm, y_mm), step_mm):
            yield shifted(at, x_mm * share, y_mm * share)
    else:
        for step in path_to(unit, bases).steps:
            here = at
            if isinstance(step, Straight):
                for share in _shares(step.length_mm, step_mm):
                    at = ahead(here, step.heading_deg, step.length_mm * share)
                    yield at
            else:
                for share in _shares(step.arc_mm, step_mm):
                    at = bases_wheeled(here, step.about_mm, step.angle_deg * share)
                    yield at
    yield bases


def _shares(length_mm: float, step_mm: float) -> NDArray[np.float64]:
    count = math.ceil(abs(length_mm) / step_mm)
    return np.arange(1, count + 1) / count


def _response(state: State, fire: ResponseFire) -> tuple[ResponseFire, ...]:
    troops = state.field.troops[fire.unit]
    return () if ban_on_response(troops, fire.occasion, fire.range_in) is not None else (fire,)


def moved(state: State, move: Move, way: Way) -> State:
    """Returns the state after a move: who is disordered, and who fires at it (S-C.1, S-J.6)."""
    ground, name, unit = state.field, move.unit, state.unit(move.unit)
    # Guns that relocate may fire all the same (S-M.10).
    marks = {"moved": not unit.state.get("relocates_in"), "relocates_in": None}
    state = state.changed(name, bases=laid_at(unit.bases, move.bases), **marks)
    text, inches = f"{name} moves {way.cost_in:.1f} in", round(way.cost_in, 2)
    state = state.tells("move", text, "S-B.8", *way.answer.evidence, unit=name, inches=inches)
    state = spent(disordered_on_the_way(state, ground, unit, way.swept), name)
    return state.pushed(*responses(state, unit, state.unit(name).bases))


def judged(state: State, charge: Charge) -> tuple[Answer, ChargeWay | None]:
    """Judges a charge within the dice that its unit has thrown."""
    unit, target = state.unit(charge.unit), state.unit(charge.target)
    value_in = state.allowance(unit.id).value_in
    return judged_charge(state, unit, target, charge.bases, value_in)


def declared(state: State, _: Charge, found: tuple[Answer, ChargeWay]) -> State:
    """Returns the state in which a charge is declared, and its target answers (S-C.6)."""
    charge = found[1]
    text = f"{charge.unit} charges {charge.target} {face_word(charge.face)}"
    drawn, names = shapes_of(charge.area(state), "path"), (charge.unit, charge.target)
    state = state.tells("charge", text, "S-B.11", *drawn, unit=names[0], target=names[1])
    return spent(state, charge.unit).pushed(Answering(charge))
