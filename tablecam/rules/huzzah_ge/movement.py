"""Moves by an order, and charges: straight ahead, back, or as players make them (H-12, H-13)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import shapely

from tablecam.geometry.moves.lanes import front_width_mm, lane, room_ahead_mm, swept_straight
from tablecam.geometry.moves.poses import ahead, shifted, wheeled
from tablecam.geometry.outlines import footprint
from tablecam.geometry.shapes import shapes_of
from tablecam.rules.game import Ban
from tablecam.rules.huzzah_ge import state as acts
from tablecam.rules.huzzah_ge.field import Field
from tablecam.rules.huzzah_ge.orders import acted
from tablecam.rules.huzzah_ge.state import Due, State
from tablecam.rules.huzzah_ge.tables import CM_MM, TOUCH_MM, Order
from tablecam.rules.huzzah_ge.troops import Troops, faces_alike, front_of, heading_of
from tablecam.rules.huzzah_ge.volleys import WaverDice
from tablecam.rules.miniatures.battle import Bases, disordered, first_ban
from tablecam.rules.miniatures.faces import FaceName, closest_visible, faces_of
from tablecam.rules.miniatures.ground import (
    area_of,
    centre_mm,
    footprints,
    hull,
    hulls,
    move_sigma_mm,
    overlaps,
)
from tablecam.rules.miniatures.moves import MoveLaw, lie_as_meant
from tablecam.rules.miniatures.nearest import farthest_legal
from tablecam.rules.steps import ban_on_all
from tablecam.table.headings import difference_deg, forward, right
from tablecam.table.model import Unit
from tablecam.table.motion import HAND_DEG, HAND_MM
from tablecam.uncertainty.answer import Answer, certain, decide
from tablecam.wording import joined, proper_name

LAW: Final = MoveLaw(bases="H-7.10", table="H-12.3", upon="H-12.11", impassable="H-11.9")
_SLACK_MM, _SLACK_DEG = 0.5, 1.0
_CLEAR_MM = 10.0
"""Gap to an enemy at the end of a proposed move, so that hands do not make contact (H-1.3)."""


class Straight(NamedTuple):
    """The terms of an order to go straight: the rule, the direction, and the drift allowed."""

    rule: str
    sign: Literal[1, -1]
    drift_cm: float


STRAIGHT: Final[Mapping[Order, Straight]] = {
    "advance": Straight("H-12.3", 1, 5.0),
    "retire": Straight("H-13.1", -1, 0.0),
}
"""H-12.3, H-13.1: the orders to go straight ahead or back."""


@dataclass(frozen=True, slots=True)
class Step:
    """A move in a unit's own axes."""

    forward_cm: float
    sideways_cm: float
    turn_deg: float


def step_between(before: Bases, after: Bases) -> Step:
    """Returns the move from one place to another (H-12.3)."""
    heading_deg = heading_of(before)
    start, end = centre_mm(before), centre_mm(after)
    way = np.subtract(end, start)
    turn_deg = difference_deg(heading_of(after), heading_deg)
    ahead_cm, aside_cm = (
        float(way @ np.array(axis(heading_deg))) / CM_MM for axis in (forward, right)
    )
    return Step(round(ahead_cm, 6), round(aside_cm, 6), round(turn_deg, 6))


def unlike_order(
    step: Step, law: Straight, *, drift_cm: float, slack_mm: float, slack_deg: float
) -> str:
    """Returns why a move is not straight ahead or back, within the error of hands (H-12.3)."""
    slack_cm, aside_cm = slack_mm / CM_MM, abs(step.sideways_cm)
    if abs(step.turn_deg) > slack_deg:
        return f"turns by {abs(step.turn_deg):.0f}°, and keeps its facing by this order"
    if aside_cm > drift_cm + slack_cm:
        return f"goes {aside_cm:.1f} cm sideways, of at most {drift_cm:g}"
    return "goes the other way" if law.sign * step.forward_cm < -slack_cm else ""


def ban_on_step(
    step: Step, order: Order, allowance_cm: float, *, touched: bool, was_engaged: bool
) -> Ban | None:
    """Returns why an order forbids a move (H-12.3, H-12.4, H-12.7, H-13.1, H-13.2)."""
    law = STRAIGHT[order]
    gone_cm, drift_cm = law.sign * step.forward_cm, 0.0 if touched else law.drift_cm
    why = unlike_order(step, law, drift_cm=drift_cm, slack_mm=_SLACK_MM, slack_deg=_SLACK_DEG)
    is_too_far = gone_cm > allowance_cm + _SLACK_MM / CM_MM
    return first_ban(
        (was_engaged, "H-12.4", "it cannot break contact with an enemy"),
        (bool(why), law.rule, f"it {why}"),
        (is_too_far, law.rule, f"it goes {gone_cm:g} of {allowance_cm:g} cm"),
        (touched and order == "retire", "H-13.2", "a retire order never makes contact"),
    )


def judged(state: State, move: acts.Move) -> Answer:
    """Judges a move by the order in force: an advance, a retreat or a manoeuvre."""
    under, name, bases, unit = state.under, move.unit, move.bases, state.unit(move.unit)
    if under is None or name not in under.allowed_cm:
        return certain("no", "H-11.3", f"{name} has no order to act on")
    if under.order == "deploy":
        return certain("no", "H-14.2", f"{name} is ordered to deploy, which changes its formation")
    if ban := LAW.ban_on_end(state.field, unit, bases):
        return certain("no", ban.rule, f"{name} {ban.because}")
    step, law = step_between(unit.bases, bases), STRAIGHT.get(under.order)
    if law is not None and (why := _why_not_straight(unit, bases, step, law)):
        return certain("no", law.rule, f"{name} {why}")
    area = hulls(unit.bases, bases) if law is None else _way(unit, step, bases)
    shapes = shapes_of(area, "path")
    barrier = barred(state, unit, bases, area)
    if barrier is not None:
        return certain("no", barrier.rule, f"{name} {barrier.because}", shapes)
    if law is None:
        gone_cm = math.hypot(step.forward_cm, step.sideways_cm)
        text = f"{name} goes {gone_cm:.1f} cm and turns by {abs(step.turn_deg):.0f}°"
        return certain("yes", "H-15.1", text, shapes)
    gone_cm, limit_cm = law.sign * step.forward_cm, under.allowed_cm[name]
    margin_mm = (limit_cm - gone_cm) * CM_MM
    sigma_mm = move_sigma_mm(unit.bases, bases)
    word, chance = decide(margin_mm, sigma_mm, tolerance_mm=state.position.table.tolerance_mm)
    # Hands lay bases a little beyond the end of a ruler.
    if word == "no" and margin_mm > -_SLACK_MM:
        word = "too_close"
    text = f"{name} {under.order}s {gone_cm:.1f} cm, of at most {limit_cm:g}"
    text += disorder_words(state, move)
    return Answer(word, margin_mm, sigma_mm, chance, law.rule, text, shapes)


def _why_not_straight(unit: Unit, bases: Bases, step: Step, law: Straight) -> str:
    why = unlike_order(step, law, drift_cm=law.drift_cm, slack_mm=HAND_MM, slack_deg=HAND_DEG)
    meant = stepped(unit.bases, step.forward_cm, step.sideways_cm)
    keeps = lie_as_meant(bases, meant, hand_mm=2 * HAND_MM)
    return why if why or keeps else "does not keep its formation, which is to deploy"


def _swept(unit: Unit, step: Step) -> shapely.Geometry:
    """Returns the area that a unit sweeps as it goes straight ahead or back."""
    footprints_mm = [footprint(base) for base in unit.bases]
    return swept_straight(footprints_mm, heading_of(unit.bases), step.forward_cm * CM_MM)


def _way(unit: Unit, step: Step, bases: Bases) -> shapely.Geometry:
    """Returns the area that a unit sweeps straight ahead or back, with its end."""
    return shapely.union(_swept(unit, step), footprints(bases))


def straightened(state: State, unit: Unit, bases: Bases) -> Bases:
    """Returns the place nearest to where hands laid a unit that its order alone would allow."""
    assert state.under is not None
    step, law = step_between(unit.bases, bases), STRAIGHT[state.under.order]
    on_cm = min(max(law.sign * step.forward_cm, 0.0), state.under.allowed_cm[unit.id])
    aside_cm = min(max(step.sideways_cm, -law.drift_cm), law.drift_cm)
    return stepped(unit.bases, law.sign * on_cm, aside_cm)


def stepped(bases: Bases, on_cm: float, aside_cm: float = 0.0) -> Bases:
    """Returns bases straight ahead, or back, and to their right."""
    heading_deg = heading_of(bases)
    return ahead(ahead(bases, heading_deg, on_cm * CM_MM), heading_deg - 90.0, aside_cm * CM_MM)


def straight_ways(state: State, unit: Unit, under: acts.Under) -> Iterator[acts.Move]:
    """Yields the usual straight moves: as far as the way is free, and half the allowance."""

    def is_open(bases: Bases) -> bool:
        ruling = judged(state, acts.Move(unit.id, bases))
        return ruling.answer != "no" and is_clear_of_enemies(state, unit, bases)

    on_cm = STRAIGHT[under.order].sign * under.allowed_cm[unit.id]
    if not on_cm:
        return
    whole, half = (stepped(unit.bases, far_cm) for far_cm in (on_cm, on_cm / 2))
    farthest = whole if is_open(whole) else farthest_legal(unit, whole, is_open)
    for bases in dict.fromkeys((farthest, half)):
        if bases and (bases == farthest or is_open(bases)):
            yield acts.Move(unit.id, bases)


def is_clear_of_enemies(state: State, unit: Unit, bases: Bases) -> bool:
    """Whether bases lie so far from enemies that hands make no contact (H-1.3, H-12.3)."""
    outlines, end = state.field.outlines, footprints(bases)
    enemies = (outlines[enemy.id] for enemy in state.field.enemies(unit))
    return not any(shapely.dwithin(end, outline, _CLEAR_MM) for outline in enemies)


def ban_on_whole_way(state: State, name: str) -> Ban | None:
    """Returns why a unit is not offered its order's full move straight ahead or back (H-12)."""
    under = state.under
    law = STRAIGHT.get(under.order) if under is not None else None
    if under is None or law is None or name not in under.allowed_cm:
        return None
    unit = state.unit(name)
    bases = stepped(unit.bases, law.sign * under.allowed_cm[name])
    area = _way(unit, step_between(unit.bases, bases), bases)
    ban = LAW.ban_on_end(state.field, unit, bases) or barred(state, unit, bases, area)
    return None if ban is None else Ban.of(name, ban.rule, ban.because)


def barred(state: State, unit: Unit, bases: Bases, area: Any) -> Ban | None:
    """Returns why a unit may not end where its bases lie, or go the way there."""
    ground, end = state.field, footprints(bases)
    for other in ground.enemies(unit):
        outline = ground.outlines[other.id]
        if ground.apart_mm(unit, other) <= TOUCH_MM:
            return Ban("H-12.4", f"cannot break contact with {other.id}")
        if overlaps(area, outline) or shapely.distance(end, outline) <= TOUCH_MM:
            return Ban("H-12.3", f"would touch {other.id}")
    return _terrain_ban(state, unit, end, area)


def _terrain_ban(state: State, unit: Unit, end: Any, area: Any) -> Ban | None:
    """Returns how terrain bars a move: dense ground is entered and left by deploying (H-12.5)."""
    ground, troops = state.field, state.troops(unit.id)
    own = unit.state.get("sector")
    for name, outline in ground.sectors.items():
        if name == own:
            continue
        if overlaps(end, outline):
            is_beside = own is not None and _adjacent(ground.sectors[str(own)], outline)
            if not (is_beside and fights_in_woods(troops)):
                return Ban("H-12.5", f"enters {proper_name(name)} only by deploying")
            if ground.occupant(name) is not None:
                return Ban("H-12.5", f"finds {proper_name(name)} occupied")
        elif overlaps(area, outline) and troops.formation != "road_column":
            return Ban("H-12.5", f"passes through {proper_name(name)} only in road column")
    if own is not None and not any(overlaps(end, area) for area in ground.sectors.values()):
        return Ban("H-12.5", f"leaves {proper_name(str(own))} only by deploying")
    return LAW.ban_on_way(ground, area)


def _adjacent(sector: shapely.Polygon, other: shapely.Polygon) -> bool:
    """Whether two sectors share more than a point (H-12.5)."""
    met = shapely.intersection(sector.buffer(_SLACK_MM), other.buffer(_SLACK_MM))
    return bool(met.length > 4 * _SLACK_MM + 1.0)


def fights_in_woods(troops: Troops) -> bool:
    """Whether a unit deploys in dense terrain (H-12.5, H-14.8)."""
    return troops.arm == "infantry" or troops.kind == "irregular_cavalry"


@dataclass(frozen=True, slots=True)
class Squaring:
    """The face on which a charger is squared up, and how much of it its front touches."""

    front_share: float
    face: FaceName
    contact_mm: float


def squaring_up(charger: Bases, target: Bases) -> Squaring | None:
    """Returns the face that a charger strikes (H-12.9, H-12.10); None if it meets nothing."""
    heading_deg = heading_of(charger)
    front = front_of(charger)
    faces = faces_of(target, heading_of(target))
    corner_mm = min(
        (front.left_mm, front.right_mm),
        key=lambda corner: shapely.Point(corner).distance(footprints(target)),
    )
    shares = _shares_met(front, faces, heading_deg)
    if not shares:
        return None
    whole = sum(shares.values())
    front_share = shares.get("front", 0.0) / whole
    nearest = closest_visible(faces, corner_mm)
    face: FaceName = "front" if front_share > 0.5 or nearest is None else nearest
    contact_mm = min(front.edge.length, faces[face].edge.length)
    return Squaring(round(front_share, 6), face, round(contact_mm, 4))


def _shares_met(
    front: Any, faces: Mapping[FaceName, Any], heading_deg: float
) -> dict[FaceName, float]:
    """Returns the length of a charger's front that meets each face straight ahead of it."""
    axis = right(heading_deg)
    start, end = (float(np.dot(point, axis)) for point in (front.left_mm, front.right_mm))
    shares: dict[FaceName, float] = {}
    for name, face in faces.items():
        # Only faces that look toward the charger can be met first.
        if abs(difference_deg(face.heading_deg, heading_deg + 180.0)) >= 90.0 - 1e-9:
            continue
        spans = sorted(float(np.dot(point, axis)) for point in (face.left_mm, face.right_mm))
        length = min(end, spans[1]) - max(start, spans[0])
        if length > 0:
            shares[name] = length
    return shares


def charges(state: State, unit: Unit, allowed_cm: float) -> Iterator[acts.Charge]:
    """Yields the charges straight ahead that a unit may make (H-12.7)."""
    for enemy in state.field.enemies(unit):
        found = charge_place(state, unit, enemy, allowed_cm)
        if not isinstance(found, Ban):
            yield acts.Charge(unit.id, enemy.id, found)


def charge_place(state: State, unit: Unit, target: Unit, allowed_cm: float) -> Bases | Ban:
    """Returns the bases of a charger squared up on its target, or why it cannot be (H-12.7)."""
    ground, front = state.field, front_of(unit.bases)
    reach_mm = allowed_cm * CM_MM
    outline = ground.outlines[target.id]
    if ground.touching(unit, unit.bases):
        return Ban("H-12.4", "is in contact already")
    if ground.apart_mm(unit, target) > reach_mm:
        return Ban("H-12.1", f"is more than {allowed_cm:g} cm from {target.id}")
    room_mm = room_ahead_mm(front, [outline], reach_mm)
    if room_mm > reach_mm or not overlaps(lane(front, reach_mm), outline):
        return Ban("H-12.7", f"does not meet {target.id} straight ahead")
    others = [area for name, area in ground.outlines.items() if name not in (unit.id, target.id)]
    if others and room_ahead_mm(front, others, room_mm) < room_mm:
        return Ban("H-12.7", f"finds another unit before {target.id}")
    way = lane(front, room_mm)
    for piece in state.position.terrain:
        blocks = piece.id in ground.sectors or piece.extra.get("impassable")
        if blocks and overlaps(way, area_of(piece)):
            return Ban("H-12.5", f"would charge through {proper_name(piece.id)}")
    if (sector := target.state.get("sector")) is not None:
        where = proper_name(str(sector))
        return Ban("H-12.5", f"cannot advance on {target.id}, which stands in {where}")
    squared = squaring_up(unit.bases, target.bases)
    if squared is None:
        return Ban("H-12.9", f"meets no face of {target.id}")
    face = faces_of(target.bases, heading_of(target.bases))[squared.face]
    return _flush(ground, unit, target, face, room_mm)


def ban_on_charging(state: State, name: str) -> Ban | None:
    """Returns why an advancing unit is offered no charge, by its nearest enemy (H-12)."""
    if state.under is None or state.order_of(name) != "advance":
        return None
    unit, allowed_cm = state.unit(name), state.under.allowed_cm[name]
    places = (
        charge_place(state, unit, enemy, allowed_cm) for enemy in state.field.nearest_enemies(unit)
    )
    ban = ban_on_all(place if isinstance(place, Ban) else None for place in places)
    return None if ban is None else Ban.of(name, ban.rule, ban.because)


def _flush(ground: Field, unit: Unit, target: Unit, face: Any, room_mm: float) -> Bases | Ban:
    """Returns a unit's bases flush on a face, as near as possible to where it struck (H-12.10)."""
    heading_deg = face.heading_deg + 180.0
    front = front_of(unit.bases)
    width_mm, length_mm = front_width_mm(front), face.edge.length
    turned = wheeled(
        unit.bases, centre_mm(unit.bases), difference_deg(heading_deg, heading_of(unit.bases))
    )
    squared = front_of(turned)
    on_x, on_y = forward(heading_of(unit.bases))
    struck = (front.middle_mm[0] + on_x * room_mm, front.middle_mm[1] + on_y * room_mm)
    along = right(face.heading_deg)
    spare_mm = abs(length_mm - width_mm) / 2
    offset_mm = sum((a - b) * c for a, b, c in zip(struck, face.middle_mm, along, strict=True))
    wish_mm = max(-spare_mm, min(spare_mm, offset_mm))
    for place_mm in sorted({wish_mm, -spare_mm, 0.0, spare_mm}, key=lambda at: abs(at - wish_mm)):
        x_mm = face.middle_mm[0] + along[0] * place_mm - squared.middle_mm[0]
        y_mm = face.middle_mm[1] + along[1] * place_mm - squared.middle_mm[1]
        bases = shifted(turned, x_mm, y_mm)
        area = footprints(bases)
        if ground.on_table(area) and ground.has_room(area, unit.id):
            return bases
    return Ban("H-12.10", f"finds no room for its whole front beside others on {target.id}")


def judged_charge(state: State, charge: acts.Charge) -> Answer:
    """Judges a charge by where hands have laid the charger (H-12.7 to H-12.10)."""
    name, bases = charge.unit, charge.bases
    unit, target = state.unit(name), state.unit(charge.target)
    if state.under is None or state.order_of(name) != "advance":
        return certain("no", "H-12.7", f"{name} has no order to advance")
    there = charge_place(state, unit, target, state.under.allowed_cm[name])
    if isinstance(there, Ban):
        return certain("no", there.rule, f"{name} {there.because}")
    if len(bases) != len(there):
        return certain("no", "H-7.10", f"{name} lacks a base")
    face, front = front_of(there), front_of(bases)
    off_mm = float(shapely.distance(front.edge, state.field.outlines[target.id]))
    is_flush = faces_alike(bases, face.heading_deg) and off_mm <= HAND_MM + TOUCH_MM
    if not (is_flush and state.field.has_room(shapely.buffer(footprints(bases), -HAND_MM), name)):
        text = f"{name} must be squared up on {target.id}"
        return certain("no", "H-12.10", text, shapes_of(footprints(there), "target"))
    shapes = shapes_of(hull(unit.bases, bases), "path")
    return certain("yes", "H-12.7", f"{name} charges {target.id}", shapes)


def charged(state: State, charge: acts.Charge, _: Answer) -> State:
    """Returns the state with a charger in contact."""
    return acted(rushed(state, charge, "H-12.7", "charges"), charge.unit)


def rushed(state: State, charge: acts.Charge, rule: str, deed: str) -> State:
    """Returns the state with a charger squared up on its target; `deed` says that it charges."""
    name, target = charge.unit, charge.target
    drawn = shapes_of(hull(state.unit(name).bases, charge.bases), "path")
    text = f"{name} {deed} {target}"
    state = state.tells("charge", text, rule, *drawn, unit=name, target=target)
    state = acts.placed(state, name, charge.bases).changed(name, moved=True, charging=True)
    return replace(state, rushes=(*state.rushes, acts.Rush(name, target)))


def moved(state: State, move: acts.Move, ruling: Answer) -> State:
    """Returns the state after an ordered move; a unit retiring near an enemy may waver (H-13.3)."""
    name, near, order = move.unit, state.field.near_enemies(move.unit), state.order_of(move.unit)
    state = state.tells("move", ruling.because, ruling.rule, *ruling.evidence, unit=name)
    shaken = _disordered_by(state, move)
    state = acts.placed(state, name, move.bases)
    state = acts.settled_sector(state.changed(name, moved=True), name)
    for friend in shaken:
        state = disordered(state, friend, "H-12.11")
    state = acted(state, name)
    return state.pushed(WaverDice(name)) if order == "retire" and near else state


def _disordered_by(state: State, move: acts.Move) -> list[str]:
    """Returns the units that a move newly disorders: itself and the friends it passes (H-12.11)."""
    unit = state.unit(move.unit)
    if state.order_of(unit.id) not in STRAIGHT:
        return []
    area = _swept(unit, step_between(unit.bases, move.bases))
    passed = [one for one in state.field.met(area, unit.id) if one.side == unit.side]
    shaken = (unit, *passed) if passed else ()
    return [one.id for one in shaken if not one.state.get("disordered")]


def disorder_words(state: State, move: acts.Move) -> str:
    """Returns whom a move disorders, to continue a sentence or label; empty if nobody."""
    names = _disordered_by(state, move)
    return f", disorders {joined(names)}" if names else ""


def manoeuvres(state: State, unit: Unit) -> Iterator[acts.Move]:
    """Yields usual manoeuvres: turns to a side, and about (H-15.1); hands may make any other."""
    front = front_of(unit.bases)
    turns: Mapping[tuple[float, float], float] = {
        front.left_mm: 45.0, front.right_mm: -45.0, centre_mm(unit.bases): 180.0
    }  # fmt: skip
    for about_mm, turn_deg in turns.items():
        move = acts.Move(unit.id, wheeled(unit.bases, about_mm, turn_deg))
        if judged(state, move).answer != "no":
            yield move


class ImpulsiveCharge(Due):
    """An impulsive unit charges the nearest enemy that it could reach (H-11.16)."""

    question = "{unit} is impulsive and must charge"
    unit: str

    def legal(self, state: State) -> tuple[acts.Charge, ...]:
        """Returns the charge at the nearest enemy that it reaches."""
        unit, ground = state.unit(self.unit), state.field
        for enemy in ground.nearest_enemies(unit):
            place = charge_place(state, unit, enemy, state.troops(self.unit).allowance_cm)
            if enemy.id in ground.reached[self.unit] and not isinstance(place, Ban):
                return (acts.Charge(self.unit, enemy.id, place),)
        return ()

    def follow(self, state: State, answer: acts.Charge | None) -> State:
        """Returns the state with the charger in contact."""
        return rushed(state, answer, "H-11.16", "is impulsive and must charge") if answer else state


def impulsive(state: State) -> tuple[ImpulsiveCharge, ...]:
    """Returns the charges that impulsive units must make, one after the other (H-11.16)."""
    ground = state.field
    units = (unit for unit in ground.of_side(state.active) if not unit.state.get("routing"))
    names = [unit.id for unit in units if "impulsive" in ground.troops[unit.id].abilities]
    return tuple(ImpulsiveCharge(name) for name in names if ground.reached[name])
