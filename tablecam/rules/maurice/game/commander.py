"""The commander's move, his displacement, and the end of a round (M-4.6, M-6.27 to M-6.30)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import shapely

from tablecam.geometry.outlines import table_outline
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.game import Refused
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import COMMANDER_BW, HAND_LIMIT, NIGHT_PASSES
from tablecam.rules.maurice.game.actions import Action, Done, PlaceCommander
from tablecam.rules.maurice.game.cards import Discarding, with_cards_discarded
from tablecam.rules.maurice.game.state import Deck, Over, Round, State, Step
from tablecam.rules.maurice.game.table import field_at, forces_at, with_less_morale
from tablecam.table.headings import forward
from tablecam.table.model import Commander, Point
from tablecam.table.motion import HAND_MM
from tablecam.table.sides import side_name, side_plural


def marker_outline(place_mm: Point, bw_mm: float) -> shapely.Polygon:
    """Returns a commander's marker as a disc of 1 BW diameter around its centre."""
    return shapely.buffer(shapely.Point(place_mm), COMMANDER_BW * bw_mm / 2)


def _marker_shapes(leader: Commander, bw_mm: float, *role: str) -> tuple[Shape, ...]:
    return shapes_of(marker_outline(leader.place_mm, bw_mm), *role)


def commander_under(state: State, side: str, area: shapely.Geometry) -> Commander | None:
    """Returns a side's commander if its marker lies partly in an area, else None."""
    leader = state.commander(side)
    if leader is None:
        return None
    marker = marker_outline(leader.place_mm, state.position.table.bw_mm)
    return leader if is_partly_in(marker, area) else None


def displacing(state: State, side: str, then: Step) -> State:
    """Returns the state in which a side places its displaced commander; `then` follows."""
    # The side pays for it when the round ends (M-6.30).
    displaced = state.round.displaced | {side}
    return state.with_round(displaced=displaced).to(Displacing(side, then))


def with_displacement(state: State, side: str, area: shapely.Geometry, then: Step) -> State:
    """Returns the state with `then` next, preceded by any displacement of an enemy commander.

    `area` is the ground that the side's unit passed over, in table millimetres.
    """
    enemy = state.other(side)
    leader = commander_under(state, enemy, area)
    if leader is None:
        return state.to(then)
    passes = f"{side_plural(side)} pass over {leader.name}"
    text = f"{passes}: {side_plural(enemy)} move him 1 BW to a place clear of all bases"
    drawn = _marker_shapes(leader, state.position.table.bw_mm, "contact")
    state = state.tells("displaced", text, "M-6.29", *drawn, side=enemy)
    return displacing(state, enemy, then)


def first_step(state: State, number: int, active: str) -> State:
    """Returns the start of a round, where the active side may invoke volleys (M-4.3)."""
    # Noted now because the hand may change during the round (M-4.18).
    is_without_cards, is_out = state.side(active).hand == 0, is_deck_exhausted(state.deck)
    begun = Round(number, active, state.position, is_without_cards, is_out)
    return replace(state, round=begun).at("volley-choice")


def is_deck_exhausted(deck: Deck) -> bool:
    """Whether the last deck is empty, so that night may fall (M-4.6, M-4.22)."""
    return deck.stage == "last" and deck.left == 0


def after_action(state: State) -> State:
    """Moves on to the active side's commander (M-6.27)."""
    return state.to(MovingCommander())


DIRECTIONS = 24
"""Directions searched for a displaced commander's place, 15 degrees apart."""


def usual_places(state: State, leader: Commander) -> tuple[Point, ...]:
    """Returns free places behind each force, except where the commander stands already."""
    field = field_at(state)
    forces = forces_at(state, leader.side)
    # Links between units would have to be measured.
    if state.declares_first:
        forces = tuple((unit.id,) for unit in field.of_side(leader.side))
    # Behind the middle unit of each force.
    places = (_behind(field, field.by_id[force[len(force) // 2]]) for force in forces)
    return tuple(
        dict.fromkeys(
            place
            for place in places
            # A shorter move would not be worth a card.
            if _is_free(field, place) and math.dist(leader.place_mm, place) >= field.bw_mm
        )
    )


def _behind(field: Field, unit: UnitOnField) -> Point:
    ahead_x, ahead_y = forward(unit.axes.heading_deg)
    rear_mm = max(
        (unit.axes.left_mm[0] - x) * ahead_x + (unit.axes.left_mm[1] - y) * ahead_y
        for x, y in shapely.get_coordinates(unit.outline).tolist()
    )
    middle_x, middle_y = unit.axes.middle_mm
    offset_mm = rear_mm + field.bw_mm
    return round(middle_x - offset_mm * ahead_x, 1), round(middle_y - offset_mm * ahead_y, 1)


def displaced_places(state: State, leader: Commander) -> tuple[Point, ...]:
    """Returns free places around a commander, on the first ring of whole BW with any (M-6.29)."""
    field, table = field_at(state), state.position.table
    farthest = math.ceil(math.hypot(table.width_mm, table.depth_mm) / field.bw_mm)
    for ring in range(1, farthest + 1):
        # Whole BW rings outwards: the rule wants the nearest free place.
        turns = np.arange(DIRECTIONS) * 2 * math.pi / DIRECTIONS
        around = leader.place_mm + ring * field.bw_mm * np.stack([np.cos(turns), np.sin(turns)], 1)
        places = ((round(x, 1), round(y, 1)) for x, y in around.tolist())
        if free := tuple(place for place in places if _is_free(field, place)):
            return free
    return ()


def check_place(state: State, leader: Commander, place: Point) -> None:
    """Refuses a place to which a commander may not be moved (M-6.27).

    He may stand where friends do, and is displaced then.
    """
    field = field_at(state)
    if not _is_on_table(field, place):
        why = f"expected a place on the table, got {place[0]:g}, {place[1]:g}"
        raise Refused(why, rule="M-6.27")
    for unit in _covering(field, place):
        if unit.side != leader.side:
            raise Refused(f"{unit.id} already stands there", rule="M-6.27")


def check_ring(state: State, leader: Commander, place: Point) -> None:
    """Refuses a place to which a displaced commander may not go (M-6.29)."""
    field, far_mm = field_at(state), math.dist(leader.place_mm, place)
    if not _is_free(field, place):
        raise Refused("expected a place on the table that is clear of all bases", rule="M-6.29")
    # Players may also use a nearer ring, as only some directions are searched.
    for free in displaced_places(state, leader)[:1]:
        ring = round(field.in_bw(math.dist(leader.place_mm, free)))
        if min(abs(far_mm - nearer * field.bw_mm) for nearer in range(1, ring + 1)) > HAND_MM:
            got = f"got {field.in_bw(far_mm):.2f}"
            raise Refused(f"expected a place {ring} BW from his last place, {got}", rule="M-6.29")


def _is_free(field: Field, place: Point) -> bool:
    return _is_on_table(field, place) and not _covering(field, place)


def _is_on_table(field: Field, place: Point) -> bool:
    return bool(shapely.covers(table_outline(field.position.table), shapely.Point(place)))


def _covering(field: Field, place: Point) -> list[UnitOnField]:
    """Returns the units that a commander's marker at a place would overlap."""
    marker = marker_outline(place, field.bw_mm)
    return [unit for unit in field.units if is_partly_in(marker, unit.outline)]


class PlacingCommander(Step, is_family=True):
    """A step in which a side may place its commander."""

    is_complete = True
    kinds, expects, answer_rule = (PlaceCommander, Done), "a place for a commander", "M-6.27"

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws the commander's marker."""
        leader, bw_mm = state.commander(self.owner(state)), state.position.table.bw_mm
        return () if leader is None else _marker_shapes(leader, bw_mm, "unit", leader.id)

    def checked(self, state: State, action: PlaceCommander) -> Commander:
        """Returns the commander that an action places, or refuses it."""
        side = self.owner(state)
        if action.side != side:
            why = f"expected the {side_name(side)} commander, got the {side_name(action.side)} one"
            raise Refused(why, rule="M-6.27", key="side")
        leader = state.commander(side)
        if leader is None:
            why = f"{side_plural(side)} have no commander on the table"
            raise Refused(why, rule="M-6.27", key="side")
        return leader


class MovingCommander(PlacingCommander):
    """The active side's chance to move its commander for a card (M-6.27)."""

    question = "{who}: move the commander?"

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists staying and the usual places; which card pays for one is asked then."""
        leader = state.commander(state.active)
        if not state.side(state.active).hand or leader is None:
            return (Done(),)
        places = usual_places(state, leader)
        return (Done(), *(PlaceCommander(leader.side, x, y) for x, y in places))

    def decided(self, state: State, action: PlaceCommander | Done) -> State:
        """Moves the commander, takes a card for it, and ends the round."""
        if isinstance(action, Done):
            return state.to(EndingRound())
        leader = self.checked(state, action)
        check_place(state, leader, action.place_mm)
        then: Step = EndingRound()
        if action.card is None and state.cards_of(leader.side):
            then = Discarding(action.side, 1, "moved", then)
        else:
            state = with_cards_discarded(state, action.side, (action.card,))
        return _placed(state, leader, action.place_mm, "M-6.27").to(then)


class Displacing(PlacingCommander):
    """A side's choice of a place for its displaced commander (M-6.29); `then` follows."""

    question = "{who}: place your commander"
    side: str
    then: Step

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists the free places on the first ring that has any."""
        leader = state.commander(self.side)
        places = () if leader is None else displaced_places(state, leader)
        return tuple(PlaceCommander(self.side, x, y) for x, y in places) or (Done(),)

    def decided(self, state: State, action: PlaceCommander | Done) -> State:
        """Moves the commander and resumes the interrupted step."""
        if isinstance(action, Done):
            if self.legal(state) != (Done(),):
                raise Refused(f"expected {self.expects}, got done", rule=self.answer_rule)
            return state.to(self.then)
        leader = self.checked(state, action)
        if action.card is not None:
            why = "expected no card: displacement is paid for at the end of the round"
            raise Refused(why, rule="M-6.30", key="card")
        check_ring(state, leader, action.place_mm)
        return _placed(state, leader, action.place_mm, "M-6.29").to(self.then)


def _pay(state: State, side: str) -> State:
    """Takes a card for a displaced commander, or 1 morale from an empty hand (M-6.30)."""
    # Cleared before it is paid, or it would be due again.
    displaced = state.round.displaced - {side}
    state = state.with_round(displaced=displaced)
    if state.side(side).hand:
        return state.to(Discarding(side, 1, "displaced", then=EndingRound()))
    text = f"{side_plural(side)} have no card to pay for their commander's displacement"
    return with_less_morale(state.tells("unpaid", text, "M-6.30", side=side), side)


def _night_or_next(state: State) -> State:
    """Ends the game at nightfall (M-4.6), or begins the next round."""
    # Only passes in direct succession count, so any other command resets the count (M-4.6).
    is_night_pass = state.round.is_deck_out and state.round.command == "pass"
    passes = state.night_passes + 1 if is_night_pass else 0
    state = replace(state, night_passes=passes)
    if passes == NIGHT_PASSES:
        because = "night falls: the deck is empty and both sides have passed: a draw"
        state = state.tells("over", because, "M-4.6", winner=None)
        return state.to(Over(None, because, "M-4.6"))
    state = first_step(state, state.round.number + 1, state.passive)
    number, active = state.round.number, state.active
    text = f"round {number}, {side_plural(active)}"
    return state.tells("round", text, "M-1.5", round=number, active=active)


def _placed(state: State, leader: Commander, place: Point, rule: str) -> State:
    x_mm, y_mm = place
    moved = replace(leader, x_mm=x_mm, y_mm=y_mm, sigma_mm=0.0, seen="hand", pose=None)
    commanders = (moved if known.id == leader.id else known for known in state.position.commanders)
    state = replace(state, position=replace(state.position, commanders=tuple(commanders)))
    path = (leader.place_mm, place)
    far_bw = math.dist(*path) / state.position.table.bw_mm
    text, drawn = f"{leader.name} moves {far_bw:.1f} BW", Shape("line", path, "commander")
    return state.tells("commander", text, rule, drawn, commander=leader.id, x_mm=x_mm, y_mm=y_mm)


class EndingRound(Step):
    """The end of a round; the engine passes through it without asking anybody."""

    def goes_on(self, state: State) -> State:
        """Returns the next duty of a round's end, or the next round once there is none (M-4.2)."""
        # One duty at a time, as each leads back here. A displaced commander's card comes before the
        # hand limit.
        sides = (state.active, state.passive)
        for side in sides:
            leader = state.commander(side)
            # He stays if no place is free.
            if leader is None or not _covering(field_at(state), leader.place_mm):
                continue
            if displaced_places(state, leader):
                text = f"units cover {leader.name}, who is displaced"
                state = state.tells("displaced", text, "M-6.29", side=side)
                return displacing(state, side, self)
        for side in sides:
            if side in state.round.displaced:
                return _pay(state, side)
        for side in sides:
            if (over := state.side(side).hand - HAND_LIMIT) > 0:
                return state.to(Discarding(side, over, "hand-limit", then=self))
        return _night_or_next(state)
