"""Counters that hands have laid: the table as the game has it, moves by hand, overrules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tablecam.rules.game import Event, Refused, Suggestion
from tablecam.rules.hexes.counters import Place, faces_of, laid, place_of, seen_face
from tablecam.rules.hexes.grid import Hex, Way, ways_from
from tablecam.rules.hexes.stacks import Change, Explanation, explain, seen_counters
from tablecam.rules.hexes.zones import Hexes
from tablecam.rules.maida_1806 import movement, sequence
from tablecam.rules.maida_1806.reaction import Did, triggered
from tablecam.rules.maida_1806.state import (
    Charge,
    Form,
    KeepHex,
    Move,
    MoveLeader,
    MoveStep,
    Outcome,
    Overrule,
    Reorder,
    State,
    Withdraw,
    eliminated,
    unit_state,
)
from tablecam.rules.maida_1806.state import Place as Place_
from tablecam.rules.maida_1806.troops import SIDES, Piece, is_reduced
from tablecam.table.model import BasePose, Commander, Position, Unit
from tablecam.uncertainty.answer import Answer, certain, decide

Spot = tuple[Hexes, int]


def position_of(state: State) -> Position:
    """Returns the table according to the game: of a stack only the top counter is seen."""
    known = {unit.id: unit for unit in state.position.units}
    units = []
    for piece in state.pieces:
        troop = state.board.troops[piece.id]
        if not piece.hexes:
            continue
        listed = known.get(piece.id)
        base = counter_of(state, piece, listed)
        stack = state.stack(piece.id)
        if stack and stack[0].id != piece.id:
            base = replace(base, seen="held")
        extra = {} if listed is None else listed.extra
        units.append(
            Unit(piece.id, troop.side, troop.arm, (base,), piece.formation,
                 unit_state(state, piece), extra)
        )  # fmt: skip
    commanders = {leader.id: leader for leader in state.position.commanders}
    leaders = []
    for leader in state.leaders:
        if leader.hex is None:
            continue
        x_mm, y_mm = state.grid.middle_mm((leader.hex,))
        old = commanders.get(leader.id)
        pose = None if old is None or old.pose is None else old.pose
        lies = state.lies.get(leader.id)
        if lies is not None and place_of(state.grid, lies).hexes == (leader.hex,):
            x_mm, y_mm, pose = lies.x_mm, lies.y_mm, lies
        elif pose is not None:
            pose = replace(pose, x_mm=x_mm, y_mm=y_mm)
        marks = {"injured": True} if leader.injured else {}
        side = state.leader_side(leader.id)
        leaders.append(Commander(leader.id, side, x_mm, y_mm, pose=pose, state=marks))
    return replace(state.position, units=tuple(units), commanders=tuple(leaders))


def counter_of(state: State, piece: Piece, listed: Unit | None) -> BasePose:
    """Returns a unit's counter: as it really lies, or in the middle of its hexes."""
    lies = state.lies.get(piece.id)
    like = None if listed is None or not listed.bases else listed.bases[0]
    tag = None if like is None else like.tag
    wanted = (piece.formation, len(piece.hexes), is_reduced(state.board.troops[piece.id], piece))
    for face in () if listed is None else faces_of(listed):
        if (face.formation, face.hexes, face.reduced) == wanted:
            tag = face.tag
    if lies is not None and lies.tag in (None, tag):
        place = place_of(state.grid, lies)
        if (place.hexes, place.facing_deg) == (piece.hexes, piece.facing_deg):
            return lies
    return laid(state.grid, piece.hexes, piece.facing_deg, like=like, tag=tag)


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
    if due.roll(state) is not None:
        return
    places = {unit.id: _place(state, unit) for unit in position.units if _is_seen(unit)}
    for action in due.legal(state):
        place = places.get(getattr(action, "unit", ""))
        piece = next((p for p in state.pieces if place and p.id == action.unit), None)
        if place is None or piece is None:
            continue
        hexes, facing_deg = _put(action, piece)
        is_new = (hexes, facing_deg) != (piece.hexes, piece.facing_deg)
        if is_new and (hexes, facing_deg) == (place.hexes, place.facing_deg):
            text = f"{piece.id} goes to {' '.join(hexes)} facing {facing_deg}"
            yield Suggestion(piece.id, text, action, certain("yes", "D-14.11", text))


def _place(state: State, unit: Unit) -> Place:
    return place_of(state.grid, unit.bases[0])


def _put(action: object, piece: Piece) -> Spot:
    """Returns where an answer puts a unit."""
    if isinstance(action, Withdraw):
        return action.to or piece.hexes, piece.facing_deg
    if isinstance(action, Place_):
        return action.hexes, action.facing_deg
    if isinstance(action, KeepHex):
        return (action.hex,), piece.facing_deg
    facing_deg = getattr(action, "facing_deg", None)
    return piece.hexes, piece.facing_deg if facing_deg is None else facing_deg


def _suggested(state: State, position: Position) -> Iterator[Suggestion]:
    seen = seen_counters(position)
    explained: set[str] = set()
    for side in SIDES:
        explanations = _explained(state, seen, side)
        for change in (change for changes in explanations for change in changes):
            explained.update(change.units)
            suggestion = _of_change(state, position, change)
            if suggestion and () in explanations:
                suggestion = _in_doubt(suggestion)
            if suggestion:
                yield suggestion
    pieces = {piece.id: piece for piece in state.on_map()}
    for unit in position.units:
        laid_out = pieces.get(unit.id)
        if laid_out is None or unit.id in explained or not _is_seen(unit):
            continue
        place = place_of(state.grid, unit.bases[0], tolerance_mm=position.table.tolerance_mm)
        if (place.hexes, place.facing_deg) != (laid_out.hexes, laid_out.facing_deg):
            yield _of_unit(state, unit, place)
        elif face := wrong_face(state, unit):
            yield Suggestion(unit.id, face, None, certain("no", "D-3.4h", face))
    yield from _of_leaders(state, position)


def _explained(state: State, seen: Mapping[str, Hex], side: str) -> tuple[Explanation, ...]:
    """Returns what explains the counters of a side that are seen."""
    stacks: dict[Hex, tuple[str, ...]] = {}
    own = {name: number for name, number in seen.items() if _side(state, name) == side}
    for piece in state.on_map(side):
        # A line on two hexes covers what lies in either: they are one stack, in its left hex.
        number = state.stack(piece.id)[0].hexes[0]
        stacks[number] = (*stacks.get(number, ()), piece.id)
        if own.get(piece.id) == piece.hexes[0]:
            own[piece.id] = number
    revealed = [name for stack in stacks.values() for name in stack[1:] if name in own]
    return explain(stacks, own, state.grid, revealed=revealed)


def _in_doubt(suggestion: Suggestion) -> Suggestion:
    """Returns a suggestion that "nothing has changed" explains as well."""
    if suggestion.action is None or suggestion.answer.answer == "no":
        return suggestion
    text = f"{suggestion.text}: too close to call"
    return replace(suggestion, text=text, answer=Answer("too_close", 0.0, 0.0, 0.5, "D-11.0", text))


def _is_seen(unit: Unit) -> bool:
    return bool(unit.bases) and unit.bases[0].seen != "held"


def _side(state: State, name: str) -> str | None:
    return state.board.troops[name].side if name in state.board.troops else None


def wrong_face(state: State, unit: Unit) -> str:
    """Returns how the face that is seen disagrees with the game (D-G13), nothing if it agrees."""
    face, piece = seen_face(unit), state.piece(unit.id)
    if face is None or not face.formation:
        return ""
    reduced = is_reduced(state.board.troops[unit.id], piece)
    expected = (piece.formation, len(piece.hexes), reduced)
    if (face.formation, face.hexes, face.reduced) == expected:
        return ""
    words = f"{piece.formation}, {'back' if reduced else 'front'}"
    return f"{unit.id} shows another counter: expected {words}"


def _of_change(state: State, position: Position, change: Change) -> Suggestion | None:
    """Returns the action of a change of stacks."""
    unit = next((u for u in position.units if u.id == change.units[0]), None)
    if change.kind == "reorder":
        action = Reorder(change.hex, change.units)
        ban = None if action in sequence.movement_choices(state) else "no such change now"
        text = f"{change.units[0]} comes to the top in {change.hex}"
        return Suggestion(change.units[0], text, action, _yes_or_no("D-11.0", text, ban))
    piece = state.piece(change.units[0])
    if change.kind == "join" or unit is None or not unit.bases:
        place = Place((change.hex,), "yes", 0.0, 0.0, 1.0, piece.facing_deg, "clear")
        return _suggestion(state, change.units, place, f"{change.units[0]} joins {change.hex}")
    place = place_of(state.grid, unit.bases[0], tolerance_mm=position.table.tolerance_mm)
    return _suggestion(state, change.units, place, "")


def _yes_or_no(rule: str, text: str, ban: str | None) -> Answer:
    return certain("yes", rule, text) if ban is None else certain("no", rule, f"{text}: {ban}")


def _of_unit(state: State, unit: Unit, place: Place) -> Suggestion:
    return _suggestion(state, (unit.id,), place, "")


def _suggestion(state: State, units: tuple[str, ...], place: Place, words: str) -> Suggestion:
    """Returns the move of some units to a place; one that is in doubt says so."""
    name = units[0]
    if not place.hexes:
        text = f"{name} is off the map"
        return Suggestion(name, text, None, certain("no", "D-G3", text))
    piece = state.piece(name)
    formed = _formed(state, piece, place)
    if formed is not None:
        text = f"{name} forms {formed.to}"
        return Suggestion(name, text, formed, certain("yes", "D-6.3", text))
    text = words or f"{name} moves to {' '.join(place.hexes)} facing {place.facing_deg}"
    if place.answer == "too_close" or place.facing == "unclear":
        text += ": too close to call"
    ways = ways_to(state, units, place.hexes, place.facing_deg)
    if not ways:
        charge = Charge(units, place.hexes[0])
        if state.movers == units and charge in sequence.movement_choices(state):
            return Suggestion(name, text, charge, certain("yes", "D-9.2.1", text))
        why = f"{name} has no way there with its Movement Points"
        nearest = _nearest(state, units, place)
        return Suggestion(name, text, None, certain("no", "D-12.2", why), nearest)
    way = min(ways, key=lambda way: (len(way.triggers), way.cost))
    if len(ways) > 1:
        others = len(ways) - 1
        text += f" ({others} other way{'s' if others > 1 else ''} would make others react)"
    action = Move(units, way.steps)
    if place.answer == "too_close":
        word, chance = decide(place.margin_mm, place.sigma_mm)
        answer = Answer(word, place.margin_mm, place.sigma_mm, chance, "D-G3", text)
    elif place.facing == "unclear":
        answer = Answer("too_close", 0.0, 0.0, 0.5, "D-G4", text)
    else:
        answer = certain("yes", "D-12.1", text)
    return Suggestion(name, text, action, answer)


def _formed(state: State, piece: Piece, place: Place) -> Form | None:
    """Returns the change of formation that lays a counter on other hexes of its own."""
    if set(place.hexes) == set(piece.hexes) or not set(place.hexes) & set(piece.hexes):
        return None
    if len(place.hexes) == len(piece.hexes):
        return None
    choices = sequence.movement_choices(state)
    return next(
        (
            choice
            for choice in choices
            if isinstance(choice, Form) and choice.unit == piece.id
            and choice.hexes == place.hexes and choice.facing_deg == place.facing_deg
        ),
        None,
    )  # fmt: skip


def ways_to(
    state: State, units: tuple[str, ...], hexes: Hexes, facing_deg: int
) -> tuple[Way[Spot, MoveStep], ...]:
    """Returns the legal ways of units to a place, one for each set of units that react on it."""
    return all_ways(state, units).get((hexes, facing_deg), ())


def all_ways(state: State, units: tuple[str, ...]) -> dict[Spot, tuple[Way[Spot, MoveStep], ...]]:
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
            who = triggered(after, units, did)
            spot = (outcomes[0].hexes, outcomes[0].facing_deg)
            yield step, spot, outcomes[0].mp, [*who.must, *who.may]

    piece = state.piece(units[0])
    most = 1.0 if state.troop(units[0]).is_battery else max(piece.mp_left, 0.0)
    return ways_from((piece.hexes, piece.facing_deg), next_steps, max(most, 1.0))


def _nearest(state: State, units: tuple[str, ...], place: Place) -> Position | None:
    """Returns the table with the units at the nearest place that they could reach."""
    spots = list(all_ways(state, units))
    if len(spots) < 2:
        return None
    hexes, facing_deg = min(
        spots[1:],
        key=lambda spot: (state.grid.distance(spot[0], place.hexes), spot[1] != place.facing_deg),
    )
    for name in units:
        state = state.with_piece(name, hexes=hexes, facing_deg=facing_deg)
    return position_of(state)


def _of_leaders(state: State, position: Position) -> Iterator[Suggestion]:
    for commander in position.commanders:
        if commander.id not in state.board.leaders or commander.seen == "held":
            continue
        cube, _ = state.grid.cube_at(commander.place_mm)
        number = state.grid.number(cube)
        if number is None or number == state.leader(commander.id).hex:
            continue
        action = MoveLeader(commander.id, number)
        is_legal = state.phase == "leaders" and action in sequence.leader_moves(state)
        text = f"{commander.id} goes to {number}"
        ban = None if is_legal else "leaders move after their units, up to 9 hexes"
        yield Suggestion(commander.id, text, action, _yes_or_no("D-3.3b", text, ban))


# Overrules.


def overruled(state: State, action: Overrule) -> Outcome:
    """Returns the state as players set it.

    Raises:
        Refused: A unit does not exist, or does not lie on the map.
    """
    for name, bases in action.units.items():
        place = place_of(state.grid, bases[0]) if bases else None
        if place is None or not place.hexes:
            raise Refused(f"expected {name} on the map", key="units")
        state = state.with_piece(
            name, hexes=place.hexes, facing_deg=place.facing_deg, returns_turn=None,
            eliminated=False,
        )  # fmt: skip
    for name in action.off:
        state, _ = eliminated(state, name, "overrule")
    for name, losses in action.losses.items():
        state = state.with_piece(name, losses=losses)
    for name, disrupted in action.disrupted.items():
        state = state.with_piece(name, disrupted=disrupted)
    for name, fires in action.fires.items():
        state = state.with_piece(name, fires=fires)
    if action.turn is not None:
        state = replace(state, turn=action.turn)
    if action.vp is not None:
        state = replace(state, vp=action.vp)
    movers = tuple(name for name in state.movers if state.piece(name).hexes)
    return replace(state, movers=movers), (Event("overrule", f"Overruled {action.why}".strip()),)
