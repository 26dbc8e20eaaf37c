"""The end of a round: commander move, displacement costs, hand limit and nightfall."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, islice

import shapely

from tablecam.geometry.outlines import table_outline
from tablecam.geometry.shapes import Shape
from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import HAND_LIMIT, NIGHT_PASSES
from tablecam.rules.maurice.game.state.actions import Action, Discard, Done, PlaceCommander
from tablecam.rules.maurice.game.state.consequences import (
    displacing,
    marker_outline,
    with_less_morale,
)
from tablecam.rules.maurice.game.state.hand import with_cards_discarded
from tablecam.rules.maurice.game.state.sequence import after_commander, next_round
from tablecam.rules.maurice.game.state.state import State, StateAndEvents
from tablecam.rules.maurice.game.state.steps import (
    Discarding,
    Displacing,
    EndingRound,
    MovingCommander,
    Over,
)
from tablecam.rules.maurice.game.state.table import field_at, forces_at
from tablecam.table.headings import forward
from tablecam.table.model import Commander, Point
from tablecam.table.motion import HAND_MM
from tablecam.table.sides import side_name, side_plural
from tablecam.wording import counted

DIRECTIONS = 24
"""Directions searched for a displaced commander's place, 15 degrees apart."""


def usual_places(state: State, leader: Commander) -> tuple[Point, ...]:
    """Returns free places behind each force, except where the commander stands already."""
    field = field_at(state)
    forces = forces_at(state, leader.side)
    # Who is linked to whom would have to be measured.
    if state.declares_first:
        forces = tuple((unit.id,) for unit in field.of_side(leader.side))
    # Behind the middle unit of each force.
    places = (_behind(field, field.by_id[force[len(force) // 2]]) for force in forces)
    return tuple(
        dict.fromkeys(
            place
            for place in places
            # Hardly another place would not be worth a card.
            if _is_free(field, place) and math.dist(leader.place_mm, place) >= field.bw_mm
        )
    )


def _behind(field: Field, unit: UnitOnField) -> Point:
    """Returns the place 1 BW behind the middle of a unit."""
    ahead_x, ahead_y = forward(unit.axes.heading_deg)
    rear_mm = max(
        (unit.axes.left_mm[0] - x) * ahead_x + (unit.axes.left_mm[1] - y) * ahead_y
        for x, y in shapely.get_coordinates(unit.outline).tolist()
    )
    middle_x, middle_y = (
        (a + b) / 2 for a, b in zip(unit.axes.left_mm, unit.axes.right_mm, strict=True)
    )
    offset_mm = rear_mm + field.bw_mm
    return round(middle_x - offset_mm * ahead_x, 1), round(middle_y - offset_mm * ahead_y, 1)


def displaced_places(state: State, leader: Commander) -> tuple[Point, ...]:
    """Returns free places around a commander, on the first ring of whole BW with any (M-6.29)."""
    field, table = field_at(state), state.position.table
    farthest = math.ceil(math.hypot(table.width_mm, table.depth_mm) / field.bw_mm)
    for ring in range(1, farthest + 1):
        # Whole BW rings outwards: the rule wants the nearest free place.
        places = (_on_ring(leader, ring * field.bw_mm, turn) for turn in range(DIRECTIONS))
        if free := tuple(place for place in places if _is_free(field, place)):
            return free
    return ()


def place_refusal(state: State, leader: Commander, place: Point) -> str | None:
    """Returns why a commander may not be moved to a place, or None if it may (M-6.27).

    It may stand where friends do, and is displaced then.
    """
    field = field_at(state)
    if not _is_on_table(field, place):
        return f"expected a place on the table, got {place[0]:g}, {place[1]:g}"
    marker = marker_outline(place, field.bw_mm)
    for unit in field.units:
        if unit.side != leader.side and is_partly_in(marker, unit.outline):
            return f"{unit.id} already stands there"
    return None


def ring_refusal(state: State, leader: Commander, place: Point) -> str | None:
    """Returns why a displaced commander may not go to a place, or None if it may (M-6.29)."""
    field = field_at(state)
    if not _is_free(field, place):
        return "expected a place on the table that is clear of all bases"
    nearest_free = displaced_places(state, leader)
    if not nearest_free:
        return None
    # Players may also use a nearer ring, as directions in between are not searched.
    ring = round(field.in_bw(math.dist(leader.place_mm, nearest_free[0])))
    got_mm = math.dist(leader.place_mm, place)
    if min(abs(got_mm - ring_bw * field.bw_mm) for ring_bw in range(1, ring + 1)) > HAND_MM:
        return f"expected a place {ring} BW from his last place, got {field.in_bw(got_mm):.2f}"
    return None


def _is_free(field: Field, place: Point) -> bool:
    return _is_on_table(field, place) and _is_clear(field, place)


def _is_on_table(field: Field, place: Point) -> bool:
    return bool(shapely.covers(table_outline(field.position.table), shapely.Point(place)))


def _is_clear(field: Field, place: Point) -> bool:
    marker = marker_outline(place, field.bw_mm)
    return not any(is_partly_in(marker, unit.outline) for unit in field.units)


def _on_ring(leader: Commander, far_mm: float, turn: int) -> Point:
    angle = 2 * math.pi * turn / DIRECTIONS
    x, y = leader.x_mm + far_mm * math.cos(angle), leader.y_mm + far_mm * math.sin(angle)
    return round(x, 1), round(y, 1)


_LISTED = 12
"""The largest number of listed discards; combinations can run to thousands."""


class MovingCommanderRules:
    """Rules of `MovingCommander`: anywhere, for a card of any span, or not (M-6.27)."""

    def asked(self, state: State, step: MovingCommander) -> PendingDecision:
        """Asks the active side."""
        return PendingDecision(f"{side_plural(state.active)}: move the commander?", state.active)

    def legal(self, state: State, step: MovingCommander) -> tuple[Action, ...]:
        """Lists staying and the usual places, paid with the card of the least span."""
        leader = state.commander(state.active)
        if not state.side(state.active).hand or leader is None:
            return (Done(),)
        card = min(state.cards_of(leader.side), key=lambda card: card.span_bw, default=None)
        card_id = None if card is None else card.id
        places = usual_places(state, leader)
        return (Done(), *(PlaceCommander(leader.side, x, y, card_id) for x, y in places))

    def apply(self, state: State, step: MovingCommander, action: Action) -> StateAndEvents:
        """Moves the commander and ends the round."""
        if isinstance(action, Done):
            return after_commander(state), ()
        placing, leader = _placing(state, action, state.active)
        if (why_not := place_refusal(state, leader, placing.place_mm)) is not None:
            raise Refused(why_not, rule="M-6.27")
        state = with_cards_discarded(state, placing.side, (placing.card,))
        state, event = _placed(state, leader, placing.place_mm, "M-6.27")
        return after_commander(state), (event,)


class DisplacingRules:
    """Rules of `Displacing`: the owner picks a place 1 BW off, or farther if none is free (M-6.29).

    If no place on the whole table is free the commander stays.
    """

    def asked(self, state: State, step: Displacing) -> PendingDecision:
        """Asks the commander's owner."""
        return PendingDecision(f"{side_plural(step.side)}: place your commander", step.side)

    def legal(self, state: State, step: Displacing) -> tuple[Action, ...]:
        """Lists the free places on the first ring that has any."""
        places = _places_left(state, step)
        return tuple(PlaceCommander(step.side, x, y) for x, y in places) or (Done(),)

    def apply(self, state: State, step: Displacing, action: Action) -> StateAndEvents:
        """Moves the commander and continues what was interrupted."""
        if isinstance(action, Done) and not _places_left(state, step):
            return state.to(step.then), ()
        placing, leader = _placing(state, action, step.side)
        if placing.card is not None:
            why = "expected no card: displacement is paid for at the end of the round"
            raise Refused(why, rule="M-6.30", key="card")
        if (why_not := ring_refusal(state, leader, placing.place_mm)) is not None:
            raise Refused(why_not, rule="M-6.29")
        state, event = _placed(state, leader, placing.place_mm, "M-6.29")
        return state.to(step.then), (event,)


def _places_left(state: State, step: Displacing) -> tuple[Point, ...]:
    """Returns the places for a side's commander; none if it is no longer on the table."""
    leader = state.commander(step.side)
    return () if leader is None else displaced_places(state, leader)


class DiscardingRules:
    """Rules of `Discarding`: cards of the owner's choice."""

    def asked(self, state: State, step: Discarding) -> PendingDecision:
        """Asks the owner of the cards."""
        discards = f"{side_plural(step.side)} discard {counted(step.count, 'card')}"
        return PendingDecision(f"{discards}: {_REASONS[step.why]}", step.side)

    def legal(self, state: State, step: Discarding) -> tuple[Action, ...]:
        """Lists discards of the due number; dealt cards of least span first."""
        if not state.is_dealt:
            return (Discard(step.side, step.count),)
        held = sorted(state.cards_of(step.side), key=lambda card: (card.span_bw, card.id))
        combos = combinations([card.id for card in held], step.count)
        return tuple(Discard(step.side, step.count, combo) for combo in islice(combos, _LISTED))

    def apply(self, state: State, step: Discarding, action: Action) -> StateAndEvents:
        """Moves the cards to the pile and continues."""
        if not isinstance(action, Discard) or action.side != step.side:
            raise Refused(f"expected {side_plural(step.side)} to discard", rule=_RULES[step.why])
        cards = action.cards if state.is_dealt else (None,) * action.count
        if action.count != step.count or len(cards) != step.count:
            why = f"expected {step.count} cards, got {action.count}"
            raise Refused(why, rule=_RULES[step.why], key="count")
        state = with_cards_discarded(state, step.side, cards)
        facts = {"side": step.side, "count": step.count}
        text = f"{side_plural(step.side)} discard {counted(step.count, 'card')}"
        return state.to(step.then), (Event("discard", text, _RULES[step.why], facts),)


_RULES = {"displaced": "M-6.30", "hand-limit": "M-3.2", "told": "M-3.10"}
_REASONS = {
    "displaced": "commander displaced",
    "hand-limit": f"over the hand limit of {HAND_LIMIT}",
    "told": "players corrected the hand",
}


def end_of_round(state: State, step: EndingRound) -> StateAndEvents:
    """Returns the next duty of a round's end, or the next round once there is none (M-4.2)."""
    # One duty at a time, as each leads back here. A displaced commander's card comes before the
    # hand limit.
    sides = (state.active, state.passive)
    for side in sides:
        leader = state.commander(side)
        if leader is not None and _must_be_displaced(state, leader):
            text = f"units cover {leader.id}, who is displaced"
            event = Event("displaced", text, "M-6.29", {"side": side})
            return displacing(state, side, step), (event,)
    for side in sides:
        if side in state.round.displaced:
            return _pay(state, side)
    for side in sides:
        if (over := state.side(side).hand - HAND_LIMIT) > 0:
            return state.to(Discarding(side, over, "hand-limit", then=step)), ()
    return _night_or_next(state)


def _must_be_displaced(state: State, leader: Commander) -> bool:
    """Whether a base covers a commander and there is a free place for it (M-6.29)."""
    is_stood_upon = not _is_clear(field_at(state), leader.place_mm)
    return is_stood_upon and bool(displaced_places(state, leader))


def _pay(state: State, side: str) -> StateAndEvents:
    """Takes a card for a displaced commander, or 1 morale from an empty hand (M-6.30)."""
    # Cleared before it is paid, or it would be due again.
    displaced = state.round.displaced - {side}
    state = replace(state, round=replace(state.round, displaced=displaced))
    if state.side(side).hand:
        return state.to(Discarding(side, 1, "displaced", then=EndingRound())), ()
    text = f"{side_plural(side)} have no card to pay for their commander's displacement"
    state, morale_events = with_less_morale(state, side)
    return state, (Event("unpaid", text, "M-6.30", {"side": side}), *morale_events)


def _night_or_next(state: State) -> StateAndEvents:
    """Ends the game at nightfall (M-4.6), or begins the next round."""
    # Only passes in direct succession count, so any other command resets the count (M-4.6).
    is_night_pass = state.round.is_deck_out and state.round.command == "pass"
    passes = state.night_passes + 1 if is_night_pass else 0
    state = replace(state, night_passes=passes)
    if passes == NIGHT_PASSES:
        because = "night falls: the deck is empty and both sides have passed: a draw"
        over = Event("over", because, "M-4.6", {"winner": None})
        return state.to(Over(None, because, "M-4.6")), (over,)
    state = next_round(state)
    facts = {"round": state.round.number, "active": state.active}
    text = f"round {state.round.number}, {side_plural(state.active)}"
    return state, (Event("round", text, "M-1.5", facts),)


def _placing(state: State, action: Action, side: str) -> tuple[PlaceCommander, Commander]:
    """Returns an action that places a side's commander, and him, or refuses it."""
    if not isinstance(action, PlaceCommander):
        raise Refused(f"expected a place for a commander, got {action.type}", rule="M-6.27")
    if action.side != side:
        why = f"expected the {side_name(side)} commander, got the {side_name(action.side)} one"
        raise Refused(why, rule="M-6.27", key="side")
    leader = state.commander(side)
    if leader is None:
        why = f"{side_plural(side)} have no commander on the table"
        raise Refused(why, rule="M-6.27", key="side")
    return action, leader


def _placed(state: State, leader: Commander, place: Point, rule: str) -> tuple[State, Event]:
    """Returns the state with a commander at its new place, and the event."""
    x_mm, y_mm = place
    moved = replace(leader, x_mm=x_mm, y_mm=y_mm, sigma_mm=0.0, seen="hand", pose=None)
    commanders = tuple(
        moved if commander.id == leader.id else commander for commander in state.position.commanders
    )
    state = replace(state, position=replace(state.position, commanders=commanders))
    facts = {"commander": leader.id, "x_mm": x_mm, "y_mm": y_mm}
    path = (leader.place_mm, place)
    far_bw = math.dist(*path) / state.position.table.bw_mm
    text = f"{leader.id} moves {far_bw:.1f} BW"
    return state, Event("commander", text, rule, facts, (Shape("line", path, "commander"),))
