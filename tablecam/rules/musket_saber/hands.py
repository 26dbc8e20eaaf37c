"""Counters that hands have laid: the table as the game has it, moves by hand, overrules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tablecam.rules.game import Event, Refused, Suggestion
from tablecam.rules.hexes.counters import laid, place_of
from tablecam.rules.hexes.grid import Hex
from tablecam.rules.hexes.stacks import Change, explain, seen_counters
from tablecam.rules.lay import Lay
from tablecam.rules.musket_saber import aftermath, moves, sequence
from tablecam.rules.musket_saber.state import (
    Move,
    Outcome,
    Overrule,
    Place,
    Start,
    State,
    unit_state,
)
from tablecam.rules.musket_saber.troops import Leader, Post, Unit
from tablecam.table.model import BasePose, Commander, Keys, Position
from tablecam.table.model import Unit as Counter
from tablecam.uncertainty.answer import Answer, certain


def position_of(state: State) -> Position:
    """Returns the table according to the game: of a stack only the top counter is seen (K-G4)."""
    listed = {unit.id: unit for unit in state.position.units}
    tops = {stack[0] for stack in stacks_of(state).values()}
    counters = []
    for thing in state.counters:
        if thing.hex is None:
            continue
        base = base_of(state, thing.id, thing.hex, listed.get(thing.id))
        if thing.id not in tops:
            base = replace(base, seen="held")
        extra = listed[thing.id].extra if thing.id in listed else {}
        counters.append(_counter(state, thing, base, extra))
    markers = {one.id: one for one in state.position.commanders}
    leaders = [_leader(state, one, markers.get(one.id)) for one in state.leaders if one.hex]
    return replace(state.position, units=tuple(counters), commanders=tuple(leaders))


def _counter(state: State, thing: Unit | Post, base: BasePose, extra: Keys) -> Counter:
    if isinstance(thing, Unit):
        form, marks = "square" if thing.square else None, unit_state(state, thing)
        return Counter(thing.id, thing.side, thing.arm, (base,), form, marks, extra)
    post = {"post": "HQ" if thing in state.hq else "trains", "active": thing.active}
    return Counter(thing.id, thing.side, "infantry", (base,), None, post, extra)


def _leader(state: State, leader: Leader, listed: Commander | None) -> Commander:
    x_mm, y_mm = state.grid.middle_mm((leader.hex or "",))
    pose = None if listed is None else listed.pose
    lies = state.lies.get(leader.id)
    if lies is not None and place_of(state.grid, lies, has_facing=False).hexes == (leader.hex,):
        x_mm, y_mm, pose = lies.x_mm, lies.y_mm, lies
    elif pose is not None:
        pose = replace(pose, x_mm=x_mm, y_mm=y_mm)
    marks = {"ineffective": True} if leader.ineffective else {}
    return Commander(leader.id, leader.side, x_mm, y_mm, pose=pose, state=marks)


def base_of(state: State, name: str, number: Hex, listed: Counter | None) -> BasePose:
    """Returns a counter: as it really lies, or in the middle of its hex, on the side that shows."""
    lies, thing = state.lies.get(name), state.thing(name)
    like = None if listed is None or not listed.bases else listed.bases[0]
    tag = None if like is None else like.tag
    if isinstance(thing, Unit):
        side = "back" if thing.reduced or thing.ineffective else "front"
        tag = tags_of(listed).get(side, tag)
    if lies is None or lies.tag not in (None, tag):
        lies = None
    if lies is not None and place_of(state.grid, lies, has_facing=False).hexes == (number,):
        return lies
    facing_deg = state.grid.facings_deg[0] if like is None else round(like.heading_deg)
    return laid(state.grid, (number,), facing_deg, like=like, tag=tag)


def tags_of(listed: Counter | None) -> dict[str, int]:
    """Returns the tags of a counter's printed sides, `front` and `back` (K-G4)."""
    faces = () if listed is None else listed.extra.get("faces", ())
    return {str(face.get("side", "front")): int(face["tag"]) for face in faces}


def stacks_of(state: State, side: str = "") -> dict[Hex, tuple[str, ...]]:
    """Returns the stacks of units, HQ and trains, of one side or of both, the top ones first."""
    stacks: dict[Hex, tuple[str, ...]] = {}
    for thing in state.counters:
        if thing.hex is not None and side in ("", thing.side):
            stacks[thing.hex] = (*stacks.get(thing.hex, ()), thing.id)
    return stacks


# Moves by hand.


def detect_moves(state: State, position: Position) -> tuple[Suggestion, ...]:
    """Infers the moves by hand; of stacks the game knows the content, the camera sees the tops."""
    if state.phase == "over" or (state.step is not None and state.step.roll(state) is not None):
        return ()
    return tuple(_suggested(state, position))


def _suggested(state: State, position: Position) -> Iterator[Suggestion]:
    seen = seen_counters(position)
    poses = {unit.id: unit.bases[0] for unit in position.units if unit.bases}
    for side in state.folio.scenario.sides:
        own = {n: at for n, at in seen.items() if _side(state, n) == side}
        entering = [n for n in own if state.thing(n).hex is None]
        known = {n: at for n, at in own.items() if n not in entering}
        explanations = explain(stacks_of(state, side), known, state.grid)
        # A new top counter is no action: the order of a stack has no meaning (K-G4).
        if any(all(one.kind == "reorder" for one in changes) for changes in explanations):
            explanations = ()
        for change in dict.fromkeys(one for changes in explanations for one in changes):
            if change.kind != "reorder":
                sure = all(change in changes for changes in explanations)
                yield _of_change(state, change, poses, position, is_sure=sure)
        for name in entering:
            change = Change("move", (name,), own[name])
            yield _of_change(state, change, poses, position, is_sure=True)
        for name, number in own.items():
            if state.thing(name).hex == number and (words := wrong_side(state, position, name)):
                yield Suggestion(name, words, None, certain("no", "K-G4", words))
    for commander in position.commanders:
        leader = next((one for one in state.leaders if one.id == commander.id), None)
        there = state.grid.number(state.grid.cube_at(commander.place_mm)[0])
        if leader is not None and commander.seen != "held" and there not in (None, leader.hex):
            yield _suggestion(state, leader.id, there or "", None)


def _side(state: State, name: str) -> str | None:
    return state.side_of(name) if name in state.names else None


def wrong_side(state: State, position: Position, name: str) -> str:
    """Returns how the printed side that is seen disagrees with the game, nothing if it agrees."""
    unit, listed = state.thing(name), position.unit(name)
    tags = tags_of(listed)
    if not isinstance(unit, Unit) or listed is None or len(tags) < 2:
        return ""
    expected = "back" if unit.reduced or unit.ineffective else "front"
    seen = {base.tag for base in listed.bases if base.seen == "now"}
    if not seen or tags.get(expected) in seen or not seen & {*tags.values()}:
        return ""
    return f"{name} shows the wrong side of its counter: expected the {expected}"


def _of_change(
    state: State, change: Change, poses: Mapping[str, BasePose], position: Position, *,
    is_sure: bool,
) -> Suggestion:  # fmt: skip
    name = change.units[0]
    place = None
    if name in poses and poses[name].seen != "held":
        tolerance_mm = position.table.tolerance_mm
        place = place_of(state.grid, poses[name], has_facing=False, tolerance_mm=tolerance_mm)
    close = place is not None and place.answer == "too_close"
    doubt = (place.margin_mm, place.sigma_mm, place.probability) if place and close else None
    if not is_sure:
        doubt = (0.0, 0.0, 0.5)
    return _suggestion(state, name, change.hex, doubt)


def _suggestion(
    state: State, name: str, number: Hex, doubt: tuple[float, float, float] | None
) -> Suggestion:
    """Returns the action of a counter that lies in another hex, and whether it is legal."""
    text = f"{name} to {number}"
    action = _action(state, name, number)
    if action is None:
        why = f"{name} may not go to {number} now"
        if state.thing(name).hex is None:
            why = f"{name} is off the map: its counter does not belong in {number}"
        return Suggestion(name, why, None, certain("no", _rule(state), why))
    if isinstance(action, Start):
        text = f"{name} rolls for its Movement Allowance before it moves"
    if doubt is not None:
        text += ": too close to call"
        return Suggestion(name, text, action, Answer("too_close", *doubt, "K-G3", text))
    return Suggestion(name, text, action, certain("yes", _rule(state), text))


def _rule(state: State) -> str:
    step = state.step
    rules = {aftermath.Flee: "K-7.9a", aftermath.Victors: "K-7.12", aftermath.Onward: "K-9.3"}
    return rules.get(type(step), "K-4.2")


def _action(state: State, name: str, number: Hex) -> Any | None:
    """Returns the legal action that brings a counter to a hex, a plain move before a march."""
    if state.step is not None:
        for answer in state.step.legal(state):
            units = getattr(answer, "units", (getattr(answer, "unit", None),))
            path = getattr(answer, "path", ()) or (getattr(answer, "to", None),)
            if units[:1] == (name,) and path[-1] == number:
                return answer
        return None
    if state.phase != "movement":
        return None
    place = Place(name, number)
    if sequence.ban_on_place(state, place) is None:
        return place
    for march in (False, True):
        start = Start(name, march)
        if moves.ban_on_start(state, start) is not None:
            continue
        thing = state.thing(name)
        if isinstance(thing, Unit) and moves.must_roll(state, thing):
            return start
        go = moves.started(state, start)[0].step
        path = moves.reached(state, name, go.mp, march=march).get(number) if go else None
        if path and moves.judged(state, move := Move((name,), path, march)).ban is None:
            return move
    return None


def adopted(state: State, position: Position) -> Lay | None:
    """Returns where counters really lie within the hexes that the game has them in."""
    there = {}
    for unit in position.units:
        if len(unit.bases) != 1 or _side(state, unit.id) is None:
            continue
        base, number = unit.bases[0], state.thing(unit.id).hex
        if base.seen == "held" or state.lies.get(unit.id) == base:
            continue
        if place_of(state.grid, base, has_facing=False).hexes == (number,):
            there[unit.id] = unit.bases
    return Lay(there) if there and state.step is None else None


# Overrules.


def overruled(state: State, action: Overrule) -> Outcome:
    """Returns the state as players set it.

    Raises:
        Refused: A counter does not exist, or does not lie on the map.
    """
    for name, bases in action.units.items():
        place = place_of(state.grid, bases[0], has_facing=False) if bases else None
        if place is None or not place.hexes:
            raise Refused(f"expected {name} on the map", key="units")
        marks = {"trt": None, "set_aside": False, "captured": False, "destroyed": False}
        on_map = marks if isinstance(state.thing(name), Unit) else {}
        state = state.changed(name, hex=place.hexes[0], **on_map)
    for name, place_mm in action.commanders.items():
        number = state.grid.number(state.grid.cube_at(place_mm)[0])
        if number is None:
            raise Refused(f"expected {name} on the map", key="commanders")
        state = state.changed(name, hex=number)
    for name in action.off:
        gone = {"captured": True} if isinstance(state.thing(name), Unit) else {}
        state = state.changed(name, hex=None, **gone)
    for key in ("disrupted", "ineffective"):
        for name, value in getattr(action, key).items():
            state = state.changed(state.unit(name).id, **{key: value})
    for name, steps in action.steps.items():
        whole = 2 if state.folio.entry(name).back and not state.unit(name).flips else 1
        state = state.changed(name, steps=steps, reduced=steps < whole)
    if action.turn is not None:
        state = replace(state, turn=action.turn)
    return state, (Event("overrule", f"Overruled {action.why}".strip()),)
