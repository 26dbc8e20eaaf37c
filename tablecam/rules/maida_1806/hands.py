"""Counters that hands have laid: the table as the game has it, moves by hand, overrules."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from tablecam.geometry.shapes import Shape
from tablecam.rules.game import Ban, Refused, Suggestion
from tablecam.rules.hexes.counters import Place, place_of, seen_faces
from tablecam.rules.hexes.grid import Hex, Way, ways_from
from tablecam.rules.hexes.hex_game import position_of
from tablecam.rules.hexes.stacks import Change, Explanation, Stack, explain, seen_counters
from tablecam.rules.hexes.zones import Hexes
from tablecam.rules.lay import Lay
from tablecam.rules.maida_1806 import movement, sequence
from tablecam.rules.maida_1806 import state as acts
from tablecam.rules.maida_1806.field import ban_on_lying, facing_words
from tablecam.rules.maida_1806.reaction import Did, triggered
from tablecam.rules.maida_1806.state import Due, MoveStep, State, Units
from tablecam.rules.maida_1806.troops import SIDES, Piece
from tablecam.table.model import BasePose, Position, Unit
from tablecam.table.motion import lies_there
from tablecam.table.sides import side_plural
from tablecam.uncertainty.answer import Answer, certain, decide
from tablecam.wording import joined

Spot = tuple[Hexes, int]
Places = Mapping[Spot, tuple[Way[Spot, MoveStep], ...]]
"""Places with the legal ways to each, the cheapest first; the first place is the start."""


# Moves by hand.


def detect_moves(state: State, position: Position) -> tuple[Suggestion, ...]:
    """Infers the moves by hand; of stacks the game knows the order, the camera sees the tops."""
    if state.due:
        return tuple(_answers(state, position))
    if state.phase not in ("movement", "leaders"):
        return ()
    return tuple(_suggested(state, position))


def _answers(state: State, position: Position) -> Iterator[Suggestion]:
    """Yields the answers to what is due that hands gave: withdrawals, returns, turns (D-14.11)."""
    due = state.due[-1]
    if isinstance(due, Spreading):
        yield from due.seen(state, position)
    if due.roll(state) is not None:
        return
    lying = {unit.id: unit.bases[0] for unit in position.units if _is_seen(unit)}
    for action in due.legal(state):
        name = getattr(action, "unit", "")
        if name not in lying or name not in state.names:
            continue
        piece = state.piece(name)
        after, place = due.answered(state, action).piece(name), place_of(state.grid, lying[name])
        spots = [(one.hexes, one.facing_deg) for one in (piece, after, place)]
        if spots[0] != spots[1] == spots[2]:
            facing = facing_words(after.facing_deg)
            text = f"{name} goes to {joined(after.hexes)} facing {facing}"
            yield _sure(name, text, action, "D-14.11")


def _suggested(state: State, position: Position) -> Iterator[Suggestion]:
    aside = {unit.id for unit in position.units if _is_aside(state, unit)}
    seen = {name: at for name, at in seen_counters(position).items() if name not in aside}
    boxed = {unit.id for unit in position.units if "in_box" in unit.extra}
    explained, dropped = set(aside), set[str]()
    hidden = {unit.id for unit in position.units if not _is_seen(unit)}
    led = {state.grid.hex_at(one.place_mm) for one in position.commanders if one.seen != "held"}
    lying = (unit.bases[0] for unit in position.units if unit.id in seen)
    occupied = {number for base in lying for number in place_of(state.grid, base).hexes} | led
    # Under a leader the top of a stack lies as before.
    tops = (p for p in state.on_map() if p.id in hidden and not state.is_covered(p.id))
    seen |= {piece.id: piece.hexes[0] for piece in tops if led.intersection(piece.hexes)}
    # Seen beside the map, or known to have been taken off it, a counter has joined no other.
    may_lie = {*seen, *hidden}
    there = tuple(p for p in state.pieces if p.id in may_lie or state.is_covered(p.id))
    for side in SIDES:
        explanations = _explained(replace(state, pieces=there), seen, side, boxed)
        explained.update(u for changes in explanations for change in changes for u in change.units)
        sure = [c for c in next(iter(explanations), ()) if all(c in e for e in explanations)]
        moves = [_of_change(state, position, change, seen) for change in sure]
        open_ = [tuple(c for c in e if c not in sure) for e in explanations]
        if len(open_) > 1:
            moves += _asked(state, position, open_, seen)
        # One that is not seen may have been taken off: only what it may do is believed of it.
        believed = [move for move in moves if move.unit in seen or move.answer.answer != "no"]
        dropped.update(move.unit for move in moves if move not in believed)
        yield from believed
    pieces = {piece.id: piece for piece in state.on_map()}
    for unit in position.units:
        laid_out = pieces.get(unit.id)
        if laid_out is None or unit.id in explained or not _is_seen(unit):
            continue
        place = place_of(state.grid, unit.bases[0], tolerance_mm=position.table.tolerance_mm)
        if (place.hexes, place.facing_deg) != (laid_out.hexes, laid_out.facing_deg):
            yield _suggestion(state, (unit.id,), place)
        elif face := wrong_face(state, unit):
            formed = _formed(state, laid_out, place, str(seen_faces(unit)[0]["formation"]))
            yield formed or Suggestion(unit.id, face, None, certain("no", "D-3.4h", face))
    yield from _of_leaders(state, position)
    for name in sorted(hidden.intersection(pieces).difference(explained - dropped)):
        # Under a counter that is seen in its hex it lies as before.
        if not occupied.intersection(pieces[name].hexes) and not _is_said_to_lie(state, name):
            yield _where_is(state, name)


def _is_said_to_lie(state: State, name: str) -> bool:
    """Whether players have said that a counter that is not seen lies where the game has it."""
    lies = state.lies.get(name)
    if lies is None or lies.seen != "held":
        return False
    return state.piece(name).hexes == place_of(state.grid, lies).hexes


def _where_is(state: State, name: str) -> Suggestion:
    """Returns what players are asked about a counter when nothing is seen in its hexes."""
    unit = position_of(state).unit(name)
    assert unit is not None
    there = Lay({name: (replace(unit.bases[0], seen="held"),)})
    choices: list[tuple[str, object]] = [(f"It lies in {joined(state.piece(name).hexes)}", there)]
    asked = _question(name, f"{name} is not seen any more: where is it?", "D-G12", choices)
    why = (
        "Under an enemy counter it counts as where it was: lay it beside that one, or back. "
        "If it was taken off the table, choose it and press “Taken off”."
    )
    return replace(asked, answer=replace(asked.answer, because=why))


def _explained(
    state: State, seen: Mapping[str, Hex], side: str, boxed: Collection[str]
) -> tuple[Explanation, ...]:
    """Returns what explains the counters of a side that are seen; a box hides their order."""
    stacks: dict[Hex, Stack] = {}
    covers: dict[Hex, Hex] = {}
    troops = state.board.troops
    own = {n: number for n, number in seen.items() if n in troops and troops[n].side == side}
    for piece in state.on_map(side):
        # A line on two hexes covers what lies in either: they are one stack, in its left hex.
        number = state.stack(piece.id)[0].hexes[0]
        stacks[number] = (*stacks.get(number, ()), piece.id)
        covers |= dict.fromkeys(piece.hexes[1:], number)
        if own.get(piece.id) == piece.hexes[0]:
            own[piece.id] = number
    shown = [name for name in own if name not in boxed]
    revealed = [name for stack in stacks.values() for name in stack[1:] if name in shown]
    return explain(stacks, own, state.grid, revealed=revealed, covers=covers)


def _is_aside(state: State, unit: Unit) -> bool:
    """Whether a counter of a stack still lies beside it where players have said that it does."""
    lies = state.lies.get(unit.id)
    if lies is None or not _is_seen(unit) or all(piece.id != unit.id for piece in state.on_map()):
        return False
    return state.is_covered(unit.id) and lies_there(unit.bases[0], lies)


def _asked(
    state: State, position: Position, explanations: list[Explanation], seen: Mapping[str, Hex]
) -> Iterator[Suggestion]:
    """Yields what players are asked where several explanations are equally good.

    They may also look into the stacks, or say that a counter only lies beside its stack; one that
    can have done nothing else does.
    """
    changes = list(dict.fromkeys(changes[0] for changes in explanations if changes))
    moves = [_of_change(state, position, change, seen) for change in changes]
    # Both halves of a line on two hexes lead under it.
    able = [*{move.text: move for move in moves if move.answer.answer != "no"}.values()]
    may_lie = () in explanations
    if len(able) < 2 - may_lie:
        yield from () if may_lie else able or (move for move in moves if move.unit in seen)
        return
    legal: list[tuple[str, object]] = [(move.text, move.action) for move in able]
    names = tuple(dict.fromkeys(change.units[0] for change in changes))
    if may_lie:
        new = {unit.id: unit.bases for unit in position.units if unit.id in names}
        words = f"{joined(names)} only {'lies' if len(new) == 1 else 'lie'}"
        legal.append((f"{words} beside {changes[0].units[1]}", Lay(new)))
    if state.side(names[0]) == state.in_slot:
        hexes = dict.fromkeys(change.hex for change in changes)
        legal += [(f"Spread {n}", Spread(n)) for n in hexes if may_spread(state, n)]
    yield _question(names[0], f"What did {joined(names)} do?", "D-11.0", legal)


def _question(unit: str, text: str, rule: str, choices: list[tuple[str, object]]) -> Suggestion:
    """Returns a question to players about what they did, where no length is in doubt."""
    answer = Answer("too_close", 0.0, 0.0, 0.5, rule, text)
    return Suggestion(unit, text, None, answer, choices=tuple(choices))


def _is_seen(unit: Unit) -> bool:
    return bool(unit.bases) and unit.bases[0].seen != "held"


def wrong_face(state: State, unit: Unit) -> str:
    """Returns how the face that is seen disagrees with the game (D-G13), nothing if it agrees."""
    piece, seen = state.piece(unit.id), seen_faces(unit)
    expected = state.face(piece)
    if not seen or not seen[0]["formation"] or expected.items() <= seen[0].items():
        return ""
    words = f"{piece.formation}, {'back' if expected['reduced'] else 'front'}"
    return f"{unit.id} shows another counter: expected {words}"


def _of_change(
    state: State, position: Position, change: Change, seen: Mapping[str, Hex]
) -> Suggestion:
    """Returns the action of a change of stacks."""
    name = change.units[0]
    piece, unit = state.piece(name), position.unit(name)
    if change.kind == "reorder":
        action = acts.Reorder(change.hex, change.units)
        ban = None if action in sequence.movement_choices(state) else "no such change now"
        return _sure(name, f"{name} comes to the top in {change.hex}", action, "D-11.0", ban)
    if unit is not None and unit.bases:
        place = place_of(state.grid, unit.bases[0], tolerance_mm=position.table.tolerance_mm)
        return _suggestion(state, change.units, place)
    number = seen.get(name, change.hex)
    # Under a line on two hexes lies one on the same two.
    widths = (other.hexes for other in state.at(number, state.side(name)))
    hexes = next((there for there in widths if len(there) == len(piece.hexes)), (number,))
    place = Place(hexes, "yes", 0.0, 0.0, 1.0, piece.facing_deg, "clear")
    joins = _suggestion(state, change.units, place)
    if name in seen or joins.answer.answer == "no":
        return joins
    why = "It is not seen. If it was taken off the table, choose it and press “Taken off”."
    return replace(joins, answer=replace(joins.answer, because=why))


def _sure(name: str, text: str, action: object, rule: str, ban: str | None = None) -> Suggestion:
    """Returns an action that is legal, or not for some reason, where no length is in doubt."""
    answer = certain("yes", rule, text) if ban is None else certain("no", rule, f"{text}: {ban}")
    return Suggestion(name, text, action, answer)


def _suggestion(state: State, units: Units, place: Place) -> Suggestion:
    """Returns the move of some units to a place; one that is in doubt says so."""
    name = units[0]
    if not place.hexes:
        text = f"{name} is off the map"
        return Suggestion(name, text, None, certain("no", "D-G3", text))
    piece = state.piece(name)
    if place.other_facing_deg is not None:
        facings = (place.facing_deg, place.other_facing_deg)
        faced = (replace(place, facing_deg=deg, other_facing_deg=None) for deg in facings)
        spot = (piece.hexes, piece.facing_deg)
        new = (there for there in faced if (there.hexes, there.facing_deg) != spot)
        moves = [_suggestion(state, units, there) for there in new]
        legal = [(move.text, move.action) for move in moves if move.answer.answer != "no"]
        text = f"How does {joined(units)} face?"
        return _question(name, text, "D-G4", legal) if legal else moves[0]
    is_laid_over = len(place.hexes) != len(piece.hexes) and set(place.hexes) & set(piece.hexes)
    if is_laid_over and (formed := _formed(state, piece, place)):
        return formed
    text = _move_words(state, units, place)
    if place.answer == "too_close":
        text += ": too close to call"
    all_places = all_ways(state, units)
    ways = all_places.get((place.hexes, place.facing_deg), ())
    if not ways:
        charge = acts.Charge(units, place.hexes[0])
        if state.movers == units and charge in sequence.movement_choices(state):
            return _sure(name, text, charge, "D-9.2.1")
        ban = _ban_on_moving(state, units) or _ban_on_place(state, units, place, all_places)
        nearest = _nearest(state, units, place, all_places)
        return Suggestion(name, text, None, certain("no", ban.rule, ban.because), nearest)
    way = min(ways, key=lambda way: (len(way.triggers), way.cost))
    if len(ways) > 1:
        others = len(ways) - 1
        text += f" ({others} other way{'s' if others > 1 else ''} would make others react)"
    action = acts.Move(units, way.steps)
    if place.answer != "too_close":
        return _sure(name, text, action, "D-12.1")
    margin_mm, sigma_mm = place.margin_mm, place.sigma_mm
    word, chance = decide(margin_mm, sigma_mm)
    return Suggestion(name, text, action, Answer(word, margin_mm, sigma_mm, chance, "D-G3", text))


def _move_words(state: State, units: Units, place: Place) -> str:
    """Returns a move to a place, where units join others or pass through them (D-11.3)."""
    piece = replace(state.piece(units[0]), hexes=place.hexes, facing_deg=place.facing_deg)
    there = dict.fromkeys(o.id for n in place.hexes for o in state.at(n, state.side(piece.id)))
    friends = [name for name in there if name not in units]
    who, s, they = (joined(units), "s", "it") if len(units) == 1 else (joined(units), "", "they")
    if friends and ban_on_lying(state, piece, moving=units) is None:
        return f"{who} join{s} {joined(place.hexes)}"
    where = f"{joined(place.hexes)} facing {facing_words(place.facing_deg)}"
    through = f" through {joined(friends)}: {they} must go on" if friends else ""
    return f"{who} move{s} to {where}{through}"


def _ban_on_moving(state: State, units: Units) -> Ban | None:
    """Returns why units may not move now, wherever they go."""
    if state.phase == "movement" and not (state.slot or state.movers):
        return Ban("D-4.2", f"not yet: the {side_plural(state.in_slot)} fire or pass first")
    starters = (name for name in units if name not in state.movers)
    bans = (sequence.ban_on_beginning(state, name) for name in starters)
    return next(filter(None, bans), None)


def _ban_on_place(state: State, units: Units, place: Place, places: Places) -> Ban:
    """Returns why units do not come to a place: its last step, or its Movement Points (D-12.8)."""
    name, step = units[0], MoveStep(to=place.hexes)
    has = f"{state.piece(name).mp_left:g} Movement Points"
    bans: dict[str, Ban] = {}
    for (hexes, facing_deg), (way, *_) in places.items():
        if facing_deg != place.facing_deg or state.grid.distance(hexes, place.hexes) > 1:
            continue
        walked = sequence.walk(state, units, way.steps)
        assert not isinstance(walked, Ban)
        before, _ = walked
        last = movement.step_together(before, [before.piece(one) for one in units], step)
        assert isinstance(last, Ban)
        if last.rule == "D-12.5":
            needed = movement.stepped(before, before.piece(name), step, units)
            assert not isinstance(needed, Ban)
            why = f"{name} needs {way.cost + needed.mp:g} and has {has}"
            steps = (*way.steps, step)
            if not isinstance(sequence.walk(state, units, steps, double=True), Ban):
                why += "; it comes there on a double march, which is chosen before its first step"
            return Ban("D-12.8", why)
        bans.setdefault(last.rule, last)
    bans.pop("D-12.1", None)
    return next(iter(bans.values()), Ban("D-12.2", f"{name} has no way there with its {has}"))


def _formed(state: State, piece: Piece, place: Place, to: str = "") -> Suggestion | None:
    """Returns the change of formation that a counter laid on hexes of its own shows, if any."""
    spot = {"unit": piece.id, "hexes": place.hexes, "facing_deg": place.facing_deg}
    for form in sequence.movement_choices(state):
        is_form = isinstance(form, acts.Form) and spot.items() <= vars(form).items()
        if is_form and to in ("", form.to):
            return _sure(piece.id, f"{piece.id} forms {form.to}", form, "D-6.3")
    return None


def all_ways(state: State, units: Units) -> Places:
    """Returns the legal ways of units to every place, grouped by who reacts on them."""
    if state.phase != "movement" or not (state.slot or state.movers):
        return {}
    able = {piece.id for piece in sequence.able_units(state)}
    if not set(units) <= (set(state.movers) or able) or movement.may_move_together(state, units):
        return {}
    states: dict[tuple[MoveStep, ...], State] = {(): state}

    def next_steps(way: Way[Spot, MoveStep]) -> Iterator[tuple[MoveStep, Spot, float, list[str]]]:
        now = states[way.steps]
        pieces = [now.piece(name) for name in units]
        for step, outcomes in movement.legal_steps(now, units):
            after = movement.moved(now, pieces, outcomes)
            states[(*way.steps, step)] = after
            did: Did = "entered" if outcomes[0].entered else "turned"
            must, may = triggered(after, units, did)
            spot = (outcomes[0].hexes, outcomes[0].facing_deg)
            # D-12.5: a hex that costs more takes the whole allowance.
            cost = pieces[0].mp_left - after.piece(units[0]).mp_left
            yield step, spot, cost, [*must, *may]

    piece = state.piece(units[0])
    most = 1.0 if state.troop(units[0]).is_battery else max(piece.mp_left, 0.0)
    return ways_from((piece.hexes, piece.facing_deg), next_steps, max(most, 1.0))


def reached(state: State) -> tuple[Shape, ...]:
    """Returns where the units that are moving may go next, as is offered, and then (D-12.1).

    Of leaders, the hexes that are offered.
    """
    if state.phase == "leaders":
        hexes = (action.to for action in sequence.leader_moves(state))
        return state.grid.outlines(dict.fromkeys(hexes), "reach")
    own = state.piece(state.movers[0]).hexes
    steps = movement.legal_steps(state, state.movers)
    offered = {number for _, ends in steps for number in ends[0].hexes}.difference(own)
    ends = {number for hexes, _ in all_ways(state, state.movers) for number in hexes}
    further = state.grid.outlines(sorted(ends.difference(offered, own)), "reach-on")
    return (*further, *state.grid.outlines(sorted(offered), "reach"))


def _nearest(state: State, units: Units, place: Place, places: Places) -> Position | None:
    """Returns the table with the units at the nearest place where they may lie and do not yet."""
    piece, grid = state.piece(units[0]), state.grid
    ends = (replace(piece, hexes=hexes, facing_deg=deg) for hexes, deg in [*places][1:])
    able = [end for end in ends if ban_on_lying(state, end, moving=units) is None]

    def apart(end: Piece) -> tuple[int, float, bool]:
        apart_mm = math.dist(grid.middle_mm(end.hexes), grid.middle_mm(place.hexes))
        hexes = grid.distance(end.hexes, place.hexes)
        return hexes, apart_mm, end.facing_deg != place.facing_deg

    nearest = min(able, key=apart, default=None)
    if nearest is None:
        return None
    for name in units:
        state = state.with_piece(name, hexes=nearest.hexes, facing_deg=nearest.facing_deg)
    return position_of(state)


def _of_leaders(state: State, position: Position) -> Iterator[Suggestion]:
    for commander in position.commanders:
        if commander.id not in state.board.leaders or commander.seen == "held":
            continue
        number = state.grid.hex_at(commander.place_mm)
        if number is None or number == state.leader(commander.id).hex:
            continue
        action = acts.MoveLeader(commander.id, number)
        is_legal = state.phase == "leaders" and action in sequence.leader_moves(state)
        ban = None if is_legal else "leaders move after their units, up to 9 hexes"
        yield _sure(commander.id, f"{commander.id} goes to {number}", action, "D-3.3b", ban)


# Stacks whose counters are laid beside each other for a moment.


class Spread(acts.Act):
    """Lay the counters of a stack beside each other, or say with `units` which they are.

    `lies` is where they lie then; they are no news as long as they lie there.
    """

    hex: Hex
    units: Units = ()
    lies: Mapping[str, BasePose] = field(default_factory=dict)


class Spreading(Due):
    """A side lays the counters of a hex beside each other, to see what its stack holds."""

    side: str
    hex: Hex
    question = "Lay the counters of {hex} beside each other for a moment"
    hint = "The camera takes their names."

    def legal(self, state: State) -> tuple[Spread, ...]:
        """Returns what the game has there."""
        return (Spread(self.hex, _stack(state, self.hex, self.side)),)

    def takes(self, state: State, answer: Any) -> bool:
        """Whether an action names counters that may lie there."""
        if not isinstance(answer, Spread) or answer.hex != self.hex or not answer.units:
            return False
        small = {piece.id for piece in state.on_map(self.side) if len(piece.hexes) == 1}
        return small.union(_stack(state, self.hex, self.side)).issuperset(answer.units)

    def follow(self, state: State, answer: Spread) -> State:
        """Returns the state with a counter that was taken for elsewhere at the bottom."""
        before = _stack(state, self.hex, self.side)
        after = spread(before, answer.units)
        text = _content(state, self, after)
        for name in after:
            if name not in before:
                facing_deg = state.piece((*before, name)[0]).facing_deg
                state = state.with_piece(name, hexes=(self.hex,), facing_deg=facing_deg)
        state = replace(state, lies={**state.lies, **answer.lies})
        return state.tells("spread", text, "D-11.0", hex=self.hex, units=list(after))

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws the hex."""
        return state.grid.outlines((self.hex,), "reach")

    def seen(self, state: State, position: Position) -> Iterator[Suggestion]:
        """Yields what the camera sees of the stack: own counters there, and new ones around it."""
        there = _stack(state, self.hex, self.side)
        near = state.grid.neighbours(self.hex)
        hexes = {piece.id: piece.hexes for piece in state.on_map(self.side)}
        seen = ((name, at) for name, at in seen_counters(position).items() if name in hexes)
        shown = [n for n, at in seen if at == self.hex or (at in near and at not in hexes[n])]
        by_id = {unit.id: unit.bases[0] for unit in position.units if unit.id in shown}
        action = Spread(self.hex, tuple(sorted(shown)), by_id)
        if self.takes(state, action):
            text = _content(state, self, spread(there, shown))
            if set(there) <= set(shown):
                yield _sure(shown[0], text, action, "D-11.0")
            else:
                yield _question(shown[0], text, "D-11.0", [("Confirm", action)])


def spread(stack: Stack, shown: Iterable[str]) -> Stack:
    """Returns the content of a stack whose counters were laid beside each other for a moment.

    Those that it had keep their order, others follow.
    """
    there = tuple(dict.fromkeys(shown))
    return (*(u for u in stack if u in there), *(u for u in there if u not in stack))


def spread_begun(state: State, action: Spread) -> State:
    """Returns the state in which a side lays out a stack of its own.

    Raises:
        Refused: The side that is asked has no stack there.
    """
    if action.units or not may_spread(state, action.hex):
        raise Refused("expected a hex with counters of the side that is asked", rule="D-11.0")
    return state.pushed(Spreading(state.in_slot, action.hex))


def stacks_to_spread(state: State) -> Iterator[Spread]:
    """Yields the stacks of the side that is asked, which it may lay out when it may move."""
    side = state.in_slot
    for number in dict.fromkeys(number for piece in state.on_map(side) for number in piece.hexes):
        if may_spread(state, number) and len(_stack(state, number, side)) > 1:
            yield Spread(number)


def may_spread(state: State, number: Hex) -> bool:
    """Whether the side that is asked has counters in a hex: more may lie beneath."""
    is_open = state.phase in ("movement", "leaders") and not state.movers
    return is_open and bool(_stack(state, number, state.in_slot))


def _stack(state: State, number: Hex, side: str) -> Units:
    return tuple(piece.id for piece in state.at(number, side))


def _content(state: State, due: Spreading, after: Stack) -> str:
    """Returns what a stack holds, and where the game had it otherwise."""
    before = _stack(state, due.hex, due.side)
    new = (state.piece(name) for name in after if name not in before)
    words = [f"the game had {piece.id} in {joined(piece.hexes)}" for piece in new]
    if hidden := [name for name in before if name not in after]:
        words.append(f"{joined(hidden)} not seen there")
    return "; ".join([f"{due.hex} holds {joined(after)}", *words])
