"""Charges: the way to contact, the answers to it, response fire, and what comes of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import shapely

from tablecam.geometry.moves.lanes import (
    CORNERS,
    advanced,
    all_ahead,
    front_width_mm,
    room_ahead_mm,
    wheeled,
)
from tablecam.geometry.moves.paths import Straight, cheapest_path, forward_turn_rad, swept
from tablecam.geometry.moves.poses import ahead, laid_at
from tablecam.geometry.moves.poses import wheeled as bases_wheeled
from tablecam.geometry.outlines import Axes, footprint
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.geometry.sight import eroded_by_hair, free_line
from tablecam.geometry.zones import cone_before
from tablecam.rules.dice import Roll
from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.rules.miniatures.battle import Bases, Decide, Events
from tablecam.rules.miniatures.faces import faces_of
from tablecam.rules.miniatures.ground import axes_of, overlaps
from tablecam.rules.syw_d6.field import CONE_DEG, WALL, Field
from tablecam.rules.syw_d6.fire import Occasion, ban_on_response
from tablecam.rules.syw_d6.flights import FlightDie
from tablecam.rules.syw_d6.marches import disordered_on_the_way
from tablecam.rules.syw_d6.movement import counter_charge_dice
from tablecam.rules.syw_d6.state import Due, Fight, Move, Respond, State, disordered, face_word
from tablecam.rules.syw_d6.tables import CHARGE_IN, SQUARE_DEG
from tablecam.rules.syw_d6.troops import Face
from tablecam.rules.syw_d6.volleys import FireDice
from tablecam.table.headings import difference_deg, forward
from tablecam.table.model import Unit
from tablecam.table.motion import HAND_MM
from tablecam.uncertainty.answer import Answer, certain, decide

_STEP_IN = 0.5
_MOST_TURN_DEG = 135.0
_TOUCH_MM = 2.0


class ChargeWay(Due):
    """A charge under way; when all answers are given, it comes to contact (S-F.1)."""

    unit: str
    target: str
    bases: Bases
    face: Face
    length_in: float
    charge_in: float
    value_in: float
    has_bonus: bool = True

    def follow(self, state: State, answer: None) -> tuple[State, Events]:
        """Returns the state in contact, unless the charger or its target is gone."""
        if not (state.has(self.unit) and state.has(self.target)):
            return _failed(state, self.unit) if state.has(self.unit) else (state, ())
        return met(state, self, self.bases, self.face)


class Answering(Due):
    """How the target answers a charge (S-C.6)."""

    charge: ChargeWay

    def asked(self, state: State) -> PendingDecision:
        """Returns the question."""
        unit, target = self.charge.unit, self.charge.target
        question = f"{unit} charges {target}: stand, evade or counter-charge?"
        return PendingDecision(question, state.unit(target).side)

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Returns the way of the charge."""
        return shapes_of(_area(state, self.charge), "path")

    def legal(self, state: State) -> tuple[Respond, ...]:
        """Returns the answers that the target may give."""
        troops = state.field.troops[self.charge.target]
        ways = [Respond("stand")]
        if not troops.in_melee and not state.unit(self.charge.target).state.get("evaded"):
            ways.append(Respond("evade"))
        if troops.may_counter_charge and not troops.in_melee:
            ways.append(Respond("counter-charge"))
        return tuple(ways)

    def follow(self, state: State, answer: Respond) -> tuple[State, Events]:
        """Returns the state in which the answer is carried out."""
        charge = self.charge
        text = f"{charge.target} answers: {answer.way}"
        event = Event("response", text, "S-C.6", {"unit": charge.target, "way": answer.way})
        others = responses(state, charge.unit, _area(state, charge), but=charge.target)
        if answer.way == "evade":
            flight = FlightDie(charge.target, "evades", charge.unit)
            state = state.changed(charge.target, evaded=True)
            return state.pushed(flight, *others, Pursuit(charge)), (event,)
        if answer.way == "counter-charge":
            return state.pushed(*others, CounterDice(charge)), (event,)
        occasion: Occasion = f"contacted_{charge.face}"  # type: ignore[assignment]
        own = _response(state, charge.target, charge.unit, occasion, 0.0)
        return state.pushed(*others, *own, charge), (event,)


class ResponseFire(Due):
    """Whether a unit fires at an enemy that moves before it (S-C.1)."""

    unit: str
    target: str
    occasion: Occasion
    range_in: float

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the question, while both units are there."""
        if not (state.has(self.unit) and state.has(self.target)):
            return None
        question = f"{self.unit}: fire at {self.target} as it moves, at {self.range_in:.1f} in?"
        return PendingDecision(question, state.unit(self.unit).side)

    def legal(self, state: State) -> tuple[Decide, ...]:
        """Returns both answers."""
        return (Decide(True), Decide(False))

    def follow(self, state: State, answer: Decide | None) -> tuple[State, Events]:
        """Returns the state with the shot due."""
        if answer is None or not answer.yes:
            return state, ()
        return state.pushed(FireDice(self.unit, self.target, self.occasion, self.range_in)), ()


class Pursuit(Due):
    """After an evasion: the charger goes straight on, to contact if it can (S-C.8)."""

    charge: ChargeWay

    def asked(self, state: State) -> PendingDecision | None:
        """Returns where the charger may stop, if it has not caught the evader."""
        if not state.has(self.charge.unit) or self._caught(state) is not None:
            return None
        question = f"{self.charge.unit} has not caught {self.charge.target}: where does it stop?"
        return PendingDecision(question, state.unit(self.charge.unit).side)

    def legal(self, state: State) -> tuple[Move, ...]:
        """Returns the places where it may stop: as early and as late as can be."""
        least_in, most_in = self._stops_in(state)
        stops = (least_in, most_in) if most_in > least_in else (least_in,)
        return tuple(Move(self.charge.unit, self._at(state, stop_in)) for stop_in in stops)

    def takes(self, state: State, answer: Any) -> bool:
        """Whether an action stops it in a place that the rules allow.

        Raises:
            Refused: The rules forbid the place.
        """
        if answer in self.legal(state):
            return True
        if not isinstance(answer, Move) or answer.unit != self.charge.unit:
            return False
        ruling = self.judge(state, answer.bases)
        if ruling.answer == "no":
            raise Refused(ruling.because, rule=ruling.rule)
        return True

    def judge(self, state: State, bases: Bases) -> Answer:
        """Judges a place where hands have put the charger."""
        front = axes_of(replace(state.unit(self.charge.unit), bases=bases))
        start = axes_of(replace(state.unit(self.charge.unit), bases=self._start(state)))
        along = forward(start.heading_deg)
        step = front.middle_mm[0] - start.middle_mm[0], front.middle_mm[1] - start.middle_mm[1]
        on_mm = step[0] * along[0] + step[1] * along[1]
        off_mm = abs(step[0] * along[1] - step[1] * along[0])
        least_in, most_in = self._stops_in(state)
        inch_mm = state.field.inch_mm
        margin_mm = min(on_mm - least_in * inch_mm, most_in * inch_mm - on_mm) + HAND_MM
        name = self.charge.unit
        if off_mm > 2 * HAND_MM or abs(difference_deg(front.heading_deg, start.heading_deg)) > 5:
            return certain("no", "S-C.8", f"{name} goes straight on in a pursuit")
        word, chance = decide(margin_mm, max(base.sigma_mm for base in bases))
        why = f"{name} stops {on_mm / inch_mm:.1f} in on, of {least_in:g} to {most_in:g}"
        return Answer(word, margin_mm, 0.0, chance, "S-C.8", why)

    def follow(self, state: State, answer: Move | None) -> tuple[State, Events]:
        """Returns the state in contact with the evader's rear, or with the charger disordered."""
        name = self.charge.unit
        if not state.has(name):
            return state, ()
        caught_mm = self._caught(state)
        if caught_mm is not None:
            front = self._start(state)
            bases = ahead(
                front, axes_of(replace(state.unit(name), bases=front)).heading_deg, caught_mm
            )
            return met(state, self.charge, bases, "rear")
        assert answer is not None
        state = state.changed(name, bases=laid_at(state.unit(name).bases, answer.bases), moved=True)
        return _failed(state, name)

    def _start(self, state: State) -> Bases:
        """Returns the charger where its charge distance starts."""
        there = state.unit(self.charge.unit)
        unit = replace(there, bases=_still(there, self.charge.bases))
        back_mm = -self.charge.charge_in * state.field.inch_mm
        return ahead(unit.bases, axes_of(unit).heading_deg, back_mm)

    def _at(self, state: State, stop_in: float) -> Bases:
        start = self._start(state)
        heading_deg = axes_of(replace(state.unit(self.charge.unit), bases=start)).heading_deg
        return ahead(start, heading_deg, stop_in * state.field.inch_mm)

    def _stops_in(self, state: State) -> tuple[float, float]:
        """Returns the least and the greatest pursuit, short of any other unit."""
        charge, ground = self.charge, state.field
        most_in = charge.value_in - (charge.length_in - charge.charge_in)
        start = self._start(state)
        front = axes_of(replace(state.unit(charge.unit), bases=start))
        others = [outline for name, outline in ground.outlines.items() if name != charge.unit]
        room_mm = room_ahead_mm(front, others, most_in * ground.inch_mm)
        return 0.0, max(0.0, min(most_in, room_mm / ground.inch_mm - 0.05))

    def _caught(self, state: State) -> float | None:
        """Returns how far the charger goes on to the evader; None if that is out of reach."""
        charge, ground = self.charge, state.field
        if not state.has(charge.target):
            return None
        most_mm = (charge.value_in - charge.length_in + charge.charge_in) * ground.inch_mm
        front = axes_of(replace(state.unit(charge.unit), bases=self._start(state)))
        room_mm = room_ahead_mm(front, [ground.outlines[charge.target]], most_mm)
        return room_mm if room_mm <= most_mm else None


class CounterDice(Due):
    """The dice of a counter-charge, all of which are added (S-C.9)."""

    charge: ChargeWay

    def roll(self, state: State) -> Roll | None:
        """Returns the dice."""
        target = self.charge.target
        if not (state.has(self.charge.unit) and state.has(target)):
            return None
        count = counter_charge_dice(state.field.troops[target])
        return Roll(f"the counter-charge of {target}", count)

    def follow(self, state: State, answer: tuple[int, ...] | None) -> tuple[State, Events]:
        """Returns the state in which both have met on the way."""
        charge = self.charge
        if answer is None:
            return _failed(state, charge.unit) if state.has(charge.unit) else (state, ())
        target, inch_mm = state.unit(charge.target), state.field.inch_mm
        way_in = min(float(sum(answer)), charge.charge_in)
        charger = replace(state.unit(charge.unit), bases=charge.bases)
        heading_deg = axes_of(charger).heading_deg
        toward_deg = heading_deg + 180.0
        turn_deg = difference_deg(toward_deg, axes_of(target).heading_deg)
        faces = bases_wheeled(target.bases, axes_of(target).middle_mm, turn_deg)
        bonus = sum(answer) >= charge.charge_in
        text = f"{target.id} counter-charges {way_in:g} in, {'with' if bonus else 'without'} bonus"
        event = Event("response", text, "S-C.9", {"unit": target.id, "dice": list(answer)})
        state = state.changed(
            target.id, bases=ahead(faces, toward_deg, way_in * inch_mm), charged=bonus
        )
        bases = ahead(charge.bases, heading_deg, -way_in * inch_mm)
        state, more = met(state, charge, bases, "front")
        return state, (event, *more)


def met(state: State, charge: ChargeWay, bases: Bases, face: Face) -> tuple[State, Events]:
    """Returns the state with charger and target in contact, and their melee (S-F.1, S-J.3)."""
    name, target = charge.unit, charge.target
    unit, ground = state.unit(name), state.field
    bases = _still(unit, bases)
    was_ordered = not ground.troops[name].is_disordered
    area = _area(state, charge)
    state = state.changed(name, bases=laid_at(unit.bases, bases), moved=True, melee_with=(target,))
    state, events = disordered_on_the_way(state, ground, unit, area)
    if _crosses_wall(state, area):
        state, more = disordered(state, name, "S-J.13")
        events += more
    is_of_line = ground.troops[name].weight == "line"
    bonus = was_ordered and (is_of_line or face == "rear")
    with_ = (*state.unit(target).state.get("melee_with", ()), name)
    counters = bool(state.unit(target).state.get("charged"))
    state = state.changed(target, contacted_on=face, melee_with=with_, reforming=None)
    if face != "front":
        state, more = disordered(state, target, "S-J.3")
        events += more
    chargers = ((name,) if bonus else ()) + ((target,) if counters else ())
    known = next((fight for fight in state.fights if fight.defender == target), None)
    others = tuple(fight for fight in state.fights if fight is not known)
    attackers = (*(() if known is None else known.attackers), name)
    chargers = (*(() if known is None else known.chargers), *chargers)
    state = replace(state, fights=(*others, Fight(attackers, target, chargers)))
    text = f"{name} strikes {target} {face_word(face)}"
    facts = {"unit": name, "target": target, "face": face}
    return state, (Event("contact", text, "S-F.1", facts, shapes_of(area, "path")), *events)


def _still(unit: Unit, bases: Bases) -> Bases:
    """Returns where a charge ends for the bases that fire has left on the way."""
    tags = {base.tag for base in unit.bases}
    return tuple(base for base in bases if base.tag in tags)[: len(unit.bases)]


def _failed(state: State, name: str) -> tuple[State, Events]:
    """Returns the state of a charger that has met nobody: it is disordered (S-F.1)."""
    return disordered(state.changed(name, moved=True), name, "S-F.1")


def ways(state: State, unit: Unit, target: Unit, value_in: float) -> Iterator[ChargeWay]:
    """Yields the cheapest charge at each edge of a target within reach (S-B.11 to S-B.14)."""
    ground, front = state.field, axes_of(unit)
    inch_mm, width_mm = ground.inch_mm, front_width_mm(front)
    if ground.apart_in(unit, target) > value_in:
        return
    for face, edge in edges(ground, target):
        normal_deg = edge.heading_deg + 180.0
        if float(edge.ahead_mm([front.middle_mm])[0]) <= 0:
            continue
        best: ChargeWay | None = None
        for corner in CORNERS:
            turn_rad = forward_turn_rad(corner, front.heading_deg, normal_deg)
            if math.degrees(turn_rad) > _MOST_TURN_DEG:
                continue
            arc_mm = turn_rad * width_mm
            for step in range(int(value_in / _STEP_IN) + 1):
                before_mm = step * _STEP_IN * inch_mm
                turned = wheeled(advanced(front, before_mm), corner, arc_mm)
                room_mm = room_ahead_mm(turned, [ground.outlines[target.id]], value_in * inch_mm)
                length_in = (before_mm + arc_mm + room_mm) / inch_mm
                if length_in > value_in or (best is not None and length_in >= best.length_in):
                    continue
                angle_deg = math.degrees(turn_rad) * (1 if corner == "left" else -1)
                pivot = advanced(front, before_mm)
                about = pivot.left_mm if corner == "left" else pivot.right_mm
                bases = ahead(unit.bases, front.heading_deg, before_mm)
                bases = bases_wheeled(bases, about, angle_deg)
                bases = ahead(bases, turned.heading_deg, room_mm)
                answer, charge = judged_charge(state, unit, target, bases, value_in)
                if charge is not None and answer.answer != "no" and charge.face == face:
                    best = charge
        if best is not None:
            yield best


def judged_charge(  # noqa: C901 - a clause of the sheet after another
    state: State, unit: Unit, target: Unit, bases: Bases, value_in: float
) -> tuple[Answer, ChargeWay | None]:
    """Judges a charge that ends where the bases lie (S-B.8, S-B.11 to S-B.14, S-L.11)."""
    ground, name = state.field, unit.id

    def barred(rule: str, why: str) -> tuple[Answer, None]:
        return certain("no", rule, f"{name} {why}"), None

    if ground.troops[name].formation == "march_column":
        return barred("S-L.11", "is in march column, which cannot contact")
    if state.is_held(unit):
        return barred("S-M.5", "may not advance in this turn")
    if len(bases) != len(unit.bases):
        return barred("S-0.7", "lacks a base")
    moved = replace(unit, bases=bases)
    path = cheapest_path(axes_of(unit), axes_of(moved))
    length_in = ground.inches(path.cost_mm)
    struck = struck_edge(ground, target, moved)
    if struck is None:
        return barred("S-B.14", f"strikes no edge of {target.id}")
    _, face, edge = struck
    off_deg = abs(difference_deg(axes_of(moved).heading_deg, edge.heading_deg + 180.0))
    if off_deg > SQUARE_DEG:
        return barred("S-B.11", f"strikes {target.id} {off_deg:.0f}° off square")
    charge_in = min(CHARGE_IN, length_in)
    last = path.steps[-1] if path.steps else None
    straight_in = last.length_mm / ground.inch_mm if isinstance(last, Straight) else 0.0
    slack_in = 2 * HAND_MM / ground.inch_mm
    if straight_in < charge_in - slack_in:
        why = f"goes straight for the last {straight_in:.1f} in alone, and {charge_in:.1f} are due"
        return barred("S-B.11", why)
    start = axes_of(
        replace(moved, bases=ahead(bases, axes_of(moved).heading_deg, -charge_in * ground.inch_mm))
    )
    if float(edge.ahead_mm([start.middle_mm])[0]) <= 0:
        return barred("S-B.14", f"does not begin its charge before that edge of {target.id}")
    line = shapely.shortest_line(shapely.Point(start.middle_mm), ground.outlines[target.id])
    if shapely.intersects(eroded_by_hair(ground.blockers(unit, target)), line):
        return barred("S-B.12", f"does not see {target.id} through its charge distance")
    area = swept(path, [footprint(base) for base in unit.bases])
    if other := _met_on_the_way(ground, unit, target, area):
        return barred("S-B.12", f"would meet {other} on its way")
    sigma_mm = max(base.sigma_mm for base in (*bases, *unit.bases))
    margin_mm = (value_in - length_in) * ground.inch_mm
    word, chance = decide(margin_mm, sigma_mm, tolerance_mm=state.position.table.tolerance_mm)
    because = f"{name} charges {target.id} over {length_in:.1f} in, of at most {value_in:g}"
    shapes = shapes_of(area, "path")
    answer = Answer(word, margin_mm, sigma_mm, chance, "S-B.11", because, shapes)
    if word == "no":
        return answer, None
    way = ChargeWay(name, target.id, bases, face, length_in, charge_in, value_in)
    return answer, way


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
    light = {"light"}
    for other in ground.units.values():
        if other.id in (unit.id, target.id):
            continue
        weights = {ground.troops[name].weight for name in (unit.id, other.id)}
        may_pass = other.side == unit.side and bool(weights & light)
        if not may_pass and overlaps(area, ground.outlines[other.id]):
            return other.id
    return ""


def responses(
    state: State, mover: str, area: shapely.Geometry, *, but: str = ""
) -> tuple[ResponseFire, ...]:
    """Returns the response fire that a way calls, the nearest first (S-C.1)."""
    ground, dues = state.field, list[ResponseFire]()
    unit = ground.units[mover]
    for enemy in ground.enemies(unit):
        troops = ground.troops[enemy.id]
        if enemy.id == but or ban_on_response(troops, "crosses", 0.0) is not None:
            continue
        reach_mm = troops.ranges.greatest_in * ground.inch_mm
        front = axes_of(enemy)
        arc = (
            cone_before(front, CONE_DEG).outline(reach_mm)
            if troops.arm == "artillery"
            else all_ahead(front, reach_mm)
        )
        part = shapely.intersection(area, arc)
        if part.area <= 1.0 or shapely.distance(front.edge, part) > reach_mm:
            continue
        if free_line(front.edge, part, ground.blockers(enemy, unit)) is None:
            continue
        range_in = float(shapely.distance(front.edge, part)) / ground.inch_mm
        dues += _response(state, enemy.id, mover, "crosses", range_in)
    return tuple(sorted(dues, key=lambda due: due.range_in))


def _response(
    state: State, firer: str, target: str, occasion: Occasion, range_in: float
) -> tuple[ResponseFire, ...]:
    ban = ban_on_response(state.field.troops[firer], occasion, range_in)
    return () if ban is not None else (ResponseFire(firer, target, occasion, range_in),)


def _area(state: State, charge: ChargeWay) -> shapely.Geometry:
    """Returns the area that a charge sweeps."""
    unit = state.unit(charge.unit)
    unit_there = replace(unit, bases=_still(unit, charge.bases))
    path = cheapest_path(axes_of(unit), axes_of(unit_there))
    return swept(path, [footprint(base) for base in unit.bases])


def _crosses_wall(state: State, area: shapely.Geometry) -> bool:
    walls = (piece for piece in state.position.terrain if piece.kind == WALL)
    return any(shapely.intersects(area, shapely.Polygon(wall.outline_mm)) for wall in walls)


def declared(state: State, charge: ChargeWay) -> tuple[State, Events]:
    """Returns the state in which a charge is declared, and its target answers (S-C.6)."""
    text = f"{charge.unit} charges {charge.target} {face_word(charge.face)}"
    facts = {"unit": charge.unit, "target": charge.target}
    shapes = shapes_of(_area(state, charge), "path")
    event = Event("charge", text, "S-B.11", facts, shapes)
    return state.pushed(Answering(charge)), (event,)
