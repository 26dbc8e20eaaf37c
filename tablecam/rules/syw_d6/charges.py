"""Charges: the way to contact, the answers to it, response fire, and what comes of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import shapely

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
from tablecam.rules.miniatures.ground import (
    area_of,
    axes_of,
    centre_mm,
    footprints,
    hulls,
    move_sigma_mm,
)
from tablecam.rules.syw_d6.field import WALL, Field
from tablecam.rules.syw_d6.fire import Occasion
from tablecam.rules.syw_d6.flights import FlightDie
from tablecam.rules.syw_d6.leaders import leaders_met
from tablecam.rules.syw_d6.marches import (
    Way,
    area_along,
    ban_on_going_on,
    disordered_on_the_way,
    of_at_most,
    path_to,
    spent,
)
from tablecam.rules.syw_d6.responses import ResponseFire, response, responses
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
from tablecam.table.headings import difference_deg, forward, right
from tablecam.table.model import Point, Unit
from tablecam.table.motion import HAND_MM
from tablecam.uncertainty.answer import Answer, certain, measured
from tablecam.wording import joined

_STEP_IN = 0.5
_ROUNDING_IN = 1e-9
_MOST_TURN_DEG = 135.0
_TOUCH_MM = 2.0
_ACCEPTED_IN = 0.4
"""So near to an enemy's edge, far within the 3 in of S-B.9, a unit that is accepted charges."""


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
    goes_round: bool = False
    """Whether it wheels, and back, before its last straight inches: the shortest way has none."""

    def gone(self, state: State) -> State:
        """Returns the state in which the charger, if it is still there, has met nobody."""
        return _failed(state, self.unit)

    def flees(self, state: State) -> bool:
        """Whether fire has made the charger retreat or rout, so that it strikes nobody."""
        return bool(state.unit(self.unit).state.get("status"))

    def follow(self, state: State, answer: None) -> State:
        """Returns the state in contact; a charger that flees is left short of it (S-F.1, S-A.1)."""
        if not self.flees(state):
            return met(state, self)
        text = f"{self.unit} does not charge home"
        state = state.tells("charge", text, "S-F.1", unit=self.unit, target=self.target)
        bases = self.on(state, 0.0)
        # Where a light friend whom it passes lies there, it has not yet gone (S-J.6).
        if state.field.upon(footprints(bases), self.unit):
            bases = state.unit(self.unit).bases
        return _failed(state.changed(self.unit, bases=bases, flees_from=self.target), self.unit)

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
        unit = state.unit(self.unit)
        path = self.path(state, still(unit, self.bases))
        others = responses(state, unit, self.bases, but=self.target, path=path)
        return state.pushed(*others, *own, self)

    def way_drawn(self, state: State) -> tuple[Shape, ...]:
        """Draws the way of a charger that does not flee, and its end."""
        if not state.has(self.unit) or self.flees(state):
            return ()
        end = footprints(still(state.unit(self.unit), self.bases))
        return (*shapes_of(self.area(state), "path"), *shapes_of(end, "goal", self.unit))

    def leads(self, state: State, name: str, bases: Bases) -> bool:
        """Whether hands have put the charger on its way or at its end, as well as they can."""
        if name != self.unit or not state.has(name):
            return False
        way = shapely.union(self.area(state), footprints(self.bases))
        return bool(shapely.covers(shapely.buffer(way, 2 * HAND_MM), footprints(bases)))

    def faced(self, state: State) -> Bases:
        """Returns its target turned toward it, to counter-charge; nothing if it has no room."""
        unit, target = state.unit(self.unit), state.unit(self.target)
        front, toward_deg = axes_of(target), axes_of(unit, self.bases).heading_deg + 180.0
        turn_deg = difference_deg(toward_deg, front.heading_deg)
        bases = bases_wheeled(target.bases, front.middle_mm, turn_deg)
        return () if state.field.upon(footprints(bases), target.id) else bases

    def start(self, state: State) -> tuple[Bases, Axes]:
        """Returns the charger where its charge distance starts, and its front there."""
        unit = state.unit(self.unit)
        bases = still(unit, self.bases)
        back_mm = -self.charge_in * state.field.inch_mm
        bases = ahead(bases, axes_of(unit, bases).heading_deg, back_mm)
        return bases, axes_of(unit, bases)

    def on(self, state: State, on_in: float) -> Bases:
        """Returns the charger some inches on from where its charge distance starts."""
        bases, front = self.start(state)
        return ahead(bases, front.heading_deg, on_in * state.field.inch_mm)

    def room_mm(self, state: State, *others: str) -> float:
        """Returns how far it can go on from there, all its inches long, before it meets others."""
        lie = {**state.field.outlines, **state.field.markers}
        front, outlines = self.start(state)[1], [lie[name] for name in others]
        return lanes.room_ahead_mm(front, outlines, self.reach_in * state.field.inch_mm)

    @property
    def reach_in(self) -> float:
        """What the final value leaves from the start of the charge distance."""
        return self.value_in - self.length_in + self.charge_in

    def area(self, state: State) -> shapely.Geometry:
        """Returns the area that it sweeps."""
        unit = state.unit(self.unit)
        return area_along(unit.bases, self.path(state, still(unit, self.bases)))

    def path(self, state: State, bases: Bases) -> MovePath:
        """Returns its way to where it ends, or to some place on its last straight inches."""
        unit = state.unit(self.unit)
        if not self.goes_round:
            return path_to(unit, bases)
        begin, front = self.start(state)
        on_mm = math.dist(front.middle_mm, axes_of(unit, bases).middle_mm)
        return _going_on(path_to(unit, begin), front.heading_deg, on_mm)


class OfCharge(Due, is_family=True):
    """A step of a charge under way."""

    charge: ChargeWay

    def way_drawn(self, state: State) -> tuple[Shape, ...]:
        """Draws the way of the charge."""
        return self.charge.way_drawn(state)

    def leads(self, state: State, name: str, bases: Bases) -> bool:
        """Whether a unit lies on the way or at the end of the charge."""
        return self.charge.leads(state, name, bases)


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
            yield f"Evade: {dice_words(target.rate)} directly away, disordered; it may be caught."
        if "counter-charge" in ways:
            bonus = f"with a charge bonus from {self.charge.charge_in:.1f} in"
            yield f"Counter-charge: {dice_words(counter_charge_dice(target))}, {bonus}."
        elif target.arm == "cavalry":
            yield "Cavalry counter-charges in order, out of a melee, with room to face the charger."

    def _own_fire(self, state: State) -> tuple[ResponseFire, ...]:
        """Returns the fire of a target that stands."""
        charge = self.charge
        occasion: Occasion = f"contacted_{charge.face}"  # type: ignore[assignment]
        fire = ResponseFire(charge.target, charge.unit, occasion, 0.0, charge.bases)
        return response(state, fire)

    def legal(self, state: State) -> tuple[Respond, ...]:
        """Returns the answers that the target may give."""
        troops = state.field.troops[self.charge.target]
        ways = [Respond("stand")]
        if not troops.in_melee and not state.unit(self.charge.target).state.get("evaded"):
            ways.append(Respond("evade"))
        if troops.may_counter_charge and not troops.in_melee and self.charge.faced(state):
            ways.append(Respond("counter-charge"))
        return tuple(ways)

    def follow(self, state: State, answer: Respond) -> State:
        """Returns the state in which the answer is carried out."""
        charge, unit, target = self.charge, self.charge.unit, self.charge.target
        text = f"{target} answers: {answer.way}"
        state = state.tells("response", text, "S-C.6", unit=target, way=answer.way)
        # Others fire when it is known how far the charger goes (S-C.1).
        if answer.way == "evade":
            pursuit = Pursuit(charge, state.unit(target).bases)
            state = state.changed(target, evaded=True)
            return state.pushed(FlightDie(target, "evades", unit), pursuit)
        if answer.way == "counter-charge":
            return state.pushed(CounterDice(charge))
        return charge.goes_home(state, *self._own_fire(state))


class Pursuit(OfCharge):
    """After an evasion: the charger goes straight on, and strikes or stops (S-C.8, S-C.10).

    `before` is where the evader stood.
    """

    question = "{charge.target} has evaded: how far does {charge.unit} go on?"
    hint = "A charger that strikes no enemy is disordered."
    before: Bases = ()

    def names(self, state: State) -> tuple[str, ...]:
        """Returns the charger."""
        return (self.charge.unit,)

    def legal(self, state: State) -> tuple[Charge | Move, ...]:
        """Returns whom it may strike, and the earliest and the latest place where it may stop."""
        unit, ground = state.unit(self.charge.unit), state.field
        strikes = (Charge(way.unit, way.target, way.bases) for way in self.strikes(state))
        places = (self.charge.on(state, on_in) for on_in in (0.0, self._most_in(state)))
        free = [bases for bases in places if not ground.upon(footprints(bases), unit.id)]
        stops = (Move(unit.id, bases) for bases in dict.fromkeys(free or [unit.bases]))
        return (*strikes, *stops)

    def takes(self, state: State, answer: Any) -> bool:
        """Whether an action goes on with it; `then` judges where."""
        is_stop = isinstance(answer, Move) and answer.unit == self.charge.unit
        return is_stop or answer in self.legal(state)

    def strikes(self, state: State) -> Iterator[ChargeWay]:
        """Yields the ways to strike the evader's rear, or a friend that it passed through."""
        charge, unit, ground = self.charge, state.unit(self.charge.unit), state.field
        if not state.has(charge.target):
            return
        evader = state.unit(charge.target)
        reach_mm = charge.reach_in * ground.inch_mm
        if (room_mm := charge.room_mm(state, evader.id)) <= reach_mm:
            way = charge.going_on(state, room_mm / ground.inch_mm - charge.charge_in, "rear")
            if not _met_on_the_way(ground, unit, evader, way.area(state), way.bases):
                yield way
        gone_mm = np.subtract(centre_mm(evader.bases), centre_mm(self.before or evader.bases))
        for friend in ground.met(hulls(self.before, shifted(self.before, *gone_mm)), evader.id):
            room_mm = charge.room_mm(state, friend.id)
            if friend.side == evader.side and room_mm <= reach_mm:
                bases = charge.on(state, room_mm / ground.inch_mm)
                secondary = judged_charge(state, unit, friend, bases, charge.value_in)[1]
                if secondary is not None:
                    yield secondary

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
        answer = measured(margin_mm, sigma_mm, "S-C.8", why)
        other = state.field.upon(footprints(bases), name)
        if other is None or answer.answer == "no":
            return answer
        return certain("no", "S-J.6", f"{name} would lie on {other}")

    def follow(self, state: State, answer: Charge | Move) -> State:
        """Returns the state in contact, in a charge at another, or with the charger disordered."""
        name = self.charge.unit
        if isinstance(answer, Charge):
            way = next(way for way in self.strikes(state) if way.target == answer.target)
            if way.target != self.charge.target:
                return begun(state, way, "S-C.10")
            return struck_leaders(way.goes_home(state), way)
        unit = state.unit(name)
        if answer.bases != unit.bases:
            permitted(self.judge(state, answer.bases))
        bases = laid_at(unit.bases, answer.bases)
        path = self.charge.path(state, bases)
        text = f"{name} strikes no enemy and {self.stop_words(state, answer.bases)}"
        state = state.tells("move", text, "S-C.8", unit=name)
        state = _failed(state.changed(name, bases=bases), name)
        return state.pushed(*responses(state, unit, bases, path=path))

    def strike_words(self, state: State, action: Charge) -> str:
        """Returns in words whom the charger strikes, and where."""
        way = next(way for way in self.strikes(state) if way.target == action.target)
        words = f"{way.unit} strikes {way.target} {face_word(way.face)}"
        if way.target == self.charge.target:
            return words
        return f"{way.unit} charges {way.target}, through whom {self.charge.target} went"

    def stop_words(self, state: State, bases: Bases) -> str:
        """Returns in words where the charger would stop."""
        charge, front = self.charge, self.charge.start(state)[1]
        there = axes_of(state.unit(charge.unit), bases).middle_mm
        on_in = math.dist(front.middle_mm, there) / state.field.inch_mm
        if charge.charge_in < charge.length_in:
            begin = f"where its last {charge.charge_in:g} in begin"
            return f"stops {on_in:.1f} in on from {begin}" if on_in else f"stops {begin}"
        return f"goes on {on_in:.1f} in" if on_in else "stops where it stands"

    def _most_in(self, state: State) -> float:
        """Returns the greatest pursuit, short of all other bases."""
        ground, charge = state.field, self.charge
        others = (name for name in (*ground.outlines, *ground.markers) if name != charge.unit)
        room_in = charge.room_mm(state, *others) / ground.inch_mm - 0.05
        return max(0.0, min(charge.reach_in, room_in))


class CounterDice(OfCharge):
    """A counter-charge throws its dice and adds them up (S-C.9)."""

    def roll(self, state: State) -> Roll:
        """Returns the dice."""
        target = self.charge.target
        return Roll(
            f"the counter-charge of {target}", counter_charge_dice(state.field.troops[target])
        )

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state in which both go to where they meet."""
        charge, target, ground = self.charge, state.unit(self.charge.target), state.field
        faced, reach_in = charge.faced(state), min(float(sum(answer)), charge.charge_in)
        front = axes_of(target, faced)
        lie = {**ground.outlines, **ground.markers}.items()
        others = [base for name, base in lie if name not in (target.id, charge.unit)]
        room_mm = lanes.room_ahead_mm(front, others, reach_in * ground.inch_mm)
        way_in = min(reach_in, ground.inches(room_mm))
        bonus = way_in >= charge.charge_in
        far = f"{way_in:.1f} in, of {sum(answer)} in thrown"
        why = "with the bonus: it reaches" if bonus else "without the bonus: it falls short of"
        text = f"{target.id} counter-charges {far}, {why} where the charge began"
        state = state.tells("response", text, "S-C.9", unit=target.id, dice=list(answer))
        there = ahead(faced, front.heading_deg, way_in * ground.inch_mm)
        state = state.changed(target.id, bases=there)
        home_mm = charge.room_mm(state, target.id)
        further_in = home_mm / ground.inch_mm - charge.charge_in if home_mm < math.inf else -way_in
        home = replace(charge.going_on(state, further_in, "front"), has_countered=bonus)
        return home.goes_home(state)


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
        best = best or _way_round(state, unit, target, edge, value_in)
        if best is not None:
            yield best


def _way_round(
    state: State, unit: Unit, target: Unit, edge: Axes, value_in: float
) -> ChargeWay | None:
    """Returns the cheapest charge at an edge that wheels, and back, to go straight (S-B.11).

    The middle of its front lies on the edge (S-B.12), in places a small step apart, its ends
    included.
    """
    front, inch_mm = axes_of(unit), state.field.inch_mm
    most_mm = (value_in - CHARGE_IN) * inch_mm
    turn_deg = difference_deg(edge.heading_deg + 180.0, front.heading_deg)
    turned = bases_wheeled(unit.bases, front.middle_mm, turn_deg)
    # From the place where the last inches begin, in front of the edge.
    begin_mm = np.add(edge.middle_mm, np.array(forward(edge.heading_deg)) * CHARGE_IN * inch_mm)
    reach_mm = lanes.front_width_mm(edge) / 2 - _TOUCH_MM
    count = math.ceil(2 * reach_mm / (_STEP_IN * inch_mm))
    places = list[tuple[float, Bases]]()
    for aside_mm in np.linspace(-reach_mm, reach_mm, count + 1):
        gone_mm = begin_mm + np.array(right(edge.heading_deg)) * aside_mm - front.middle_mm
        # No way is shorter than the straight line.
        if float(np.hypot(*gone_mm)) > most_mm:
            continue
        bases = shifted(turned, *gone_mm.tolist())
        cost_mm = path_to(unit, bases).cost_mm
        if cost_mm <= most_mm:
            places.append((cost_mm, ahead(bases, edge.heading_deg + 180.0, CHARGE_IN * inch_mm)))
    charges = (
        judged_charge(state, unit, target, bases, value_in)[1]
        for _, bases in sorted(places, key=lambda place: place[0])
    )
    return next((charge for charge in charges if charge is not None), None)


def nearly_struck(state: State, moved: Unit, value_in: float) -> Unit | None:
    """Returns the enemy to whom hands have put a unit too near, if it may charge him (S-B.9)."""
    ground, unit = state.field, state.unit(moved.id)
    area, limit_mm = footprints(moved.bases), KEEP_OFF_IN * ground.inch_mm
    near = (
        enemy
        for enemy in ground.enemies_ahead(moved)
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
    front = axes_of(moved)
    path, goes_round = _path_of_charge(unit, bases, ground.inch_mm, value_in)
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
    if ban := _ban_on_line(ground, unit, target, edge, (start, front.middle_mm)):
        return barred(ban.rule, ban.because)
    area = area_along(unit.bases, path)
    if other := _met_on_the_way(ground, unit, target, area, bases):
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
    way = ChargeWay(
        name, target.id, bases, face, length_in, charge_in, value_in, goes_round=goes_round
    )
    return answer, None if answer.answer == "no" else way


def _ban_on_line(
    ground: Field, unit: Unit, target: Unit, edge: Axes, ends_mm: tuple[Point, Point]
) -> Ban | None:
    """Returns why the line from the middle of a charger's front meets no edge (S-B.12)."""
    off_mm = np.subtract(ends_mm[1], edge.middle_mm)
    aside_mm = abs(float(off_mm @ right(edge.heading_deg)))
    misses = aside_mm > lanes.front_width_mm(edge) / 2 + HAND_MM
    solid, line = eroded_by_hair(ground.blockers(unit, target)), shapely.LineString(ends_mm)
    blind = f"does not see {target.id} through its charge distance"
    return first_ban(
        (misses, "S-B.12", f"points the middle of its front past the edge of {target.id}"),
        (bool(shapely.intersects(solid, line)), "S-B.12", blind),
    )


def accepted(state: State, moved: Unit) -> ChargeWay | None:
    """Returns the charge that players accept with a unit's place, if its front lies at an edge."""
    unit, ground = state.unit(moved.id), state.field
    near_mm, value_in = _ACCEPTED_IN * ground.inch_mm, state.allowance(unit.id).value_in
    for enemy in ground.enemies_ahead(moved):
        if struck := struck_edge(ground, enemy, moved, near_mm):
            path, goes_round = _path_of_charge(unit, moved.bases, ground.inch_mm, value_in)
            length_in = min(value_in, ground.inches(path.cost_mm))
            lengths_in = length_in, min(CHARGE_IN, length_in), value_in
            names, face = (unit.id, enemy.id), struck[1]
            return ChargeWay(*names, moved.bases, face, *lengths_in, goes_round=goes_round)
    return None


def _path_of_charge(
    unit: Unit, bases: Bases, inch_mm: float, value_in: float
) -> tuple[MovePath, bool]:
    """Returns the cheapest way to contact, and whether it goes round (S-B.11).

    Where the cheapest does not end with the straight inches that are due, another may, in reach.
    """
    path, charge_mm = path_to(unit, bases), CHARGE_IN * inch_mm
    if _last_straight_mm(path) >= min(charge_mm, path.cost_mm) - 2 * HAND_MM:
        return path, False
    heading_deg = axes_of(unit, bases).heading_deg
    begin = ahead(bases, heading_deg, -charge_mm)
    way_round = _going_on(path_to(unit, begin), heading_deg, charge_mm)
    goes_round = way_round.cost_mm <= value_in * inch_mm
    return (way_round if goes_round else path), goes_round


def _going_on(path: MovePath, heading_deg: float, length_mm: float) -> MovePath:
    """Returns a path that goes straight on at its end."""
    onward = (Straight(heading_deg, length_mm),) if length_mm > 0 else ()
    return MovePath((*path.steps, *onward), path.cost_mm + length_mm)


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
        (in_column, "S-L.11", "is in column of march, which cannot contact"),
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
    last_in = min(CHARGE_IN, value_in)
    words = f"no wheel leaves the last {last_in:g} in straight and square onto an enemy's edge"
    return Ban("S-B.11", "; ".join(filter(None, (straight_ban(state, unit, value_in), words))))


def straight_ban(state: State, unit: Unit, value_in: float) -> str:
    """Returns why a unit does not charge the enemy straight ahead, in words; empty if none is."""
    ground, front = state.field, axes_of(unit)
    reach_mm = value_in * ground.inch_mm
    for enemy in ground.nearest_enemies(unit):
        room_mm = lanes.room_ahead_mm(front, [ground.outlines[enemy.id]], reach_mm)
        if room_mm < reach_mm:
            there = ahead(unit.bases, front.heading_deg, room_mm)
            answer, _ = judged_charge(state, unit, enemy, there, value_in)
            return f"straight ahead, {answer.because}" if answer.answer == "no" else ""
    return ""


def edges(ground: Field, target: Unit) -> Iterator[tuple[Face, Axes]]:
    """Yields the edges of a unit's outline rectangle: front, left, right and rear (S-B.14)."""
    is_square = ground.troops[target.id].formation == "square"
    for name, edge in faces_of(target.bases, axes_of(target).heading_deg).items():
        struck: Face = "flank" if name in ("left", "right") else name  # type: ignore[assignment]
        yield "front" if is_square else struck, edge


def struck_edge(
    ground: Field, target: Unit, moved: Unit, near_mm: float = _TOUCH_MM + HAND_MM
) -> tuple[int, Face, Axes] | None:
    """Returns the edge of a target that a charger's front lies against, with its place (S-B.14)."""
    front = axes_of(moved)
    touching = [
        (abs(difference_deg(front.heading_deg, edge.heading_deg + 180.0)), place, face, edge)
        for place, (face, edge) in enumerate(edges(ground, target))
        if shapely.distance(front.edge, edge.edge) <= near_mm
    ]
    if not touching:
        return None
    _, place, face, edge = min(touching, key=lambda side: side[0])
    return place, face, edge


def _met_on_the_way(
    ground: Field, unit: Unit, target: Unit, area: shapely.Geometry, bases: Bases
) -> str:
    """Returns whom a charge would meet; light friends let it pass, not end (S-B.12, S-J.6)."""
    troops = ground.troops
    for other in ground.met(area, unit.id, target.id):
        if other.side != unit.side or not may_pass(troops[unit.id], troops[other.id]):
            return other.id
    # An enemy's commander makes way, or is removed (S-K.3).
    enemies = (one.id for one in ground.position.commanders if one.side != unit.side)
    return ground.upon(footprints(bases), unit.id, target.id, *enemies) or ""


def moved(state: State, move: Move, way: Way) -> State:
    """Returns the state after a move: who is disordered, and who fires at it (S-C.1, S-J.6)."""
    ground, name, unit = state.field, move.unit, state.unit(move.unit)
    # Guns that relocate may fire all the same (S-M.10).
    marks = {"moved": not unit.state.get("relocates_in"), "relocates_in": None}
    state = state.changed(name, bases=laid_at(unit.bases, move.bases), **marks)
    text, inches = f"{name} moves {way.cost_in:.1f} in", round(way.cost_in, 2)
    state = state.tells("move", text, "S-B.8", *way.answer.evidence, unit=name, inches=inches)
    state = spent(disordered_on_the_way(state, ground, unit, way.swept), name)
    bases = state.unit(name).bases
    fire = responses(state, unit, bases)
    return state.pushed(*leaders_met(state, unit, way.swept, bases), *fire)


def judged(state: State, charge: Charge) -> tuple[Answer, ChargeWay | None]:
    """Judges a charge within the dice that its unit has thrown."""
    unit, target = state.unit(charge.unit), state.unit(charge.target)
    value_in = state.allowance(unit.id).value_in
    return judged_charge(state, unit, target, charge.bases, value_in)


def declared(state: State, _: Charge, judged: tuple[Answer, ChargeWay]) -> State:
    """Returns the state in which a charge is declared, and its target answers (S-C.6)."""
    return begun(spent(state, judged[1].unit), judged[1], "S-B.11")


def begun(state: State, charge: ChargeWay, rule: str) -> State:
    """Returns the state in which a charge has begun by a rule, and its target answers."""
    text = f"{charge.unit} charges {charge.target} {face_word(charge.face)}"
    drawn, names = shapes_of(charge.area(state), "path"), (charge.unit, charge.target)
    state = state.tells("charge", text, rule, *drawn, unit=names[0], target=names[1])
    return struck_leaders(state.pushed(Answering(charge)), charge)


def struck_leaders(state: State, charge: ChargeWay) -> State:
    """Returns the state with the enemy's commanders on a charge's way due (S-K.3)."""
    unit = state.unit(charge.unit)
    return state.pushed(*leaders_met(state, unit, charge.area(state), charge.bases))
