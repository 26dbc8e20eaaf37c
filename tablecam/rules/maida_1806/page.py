"""How the page shows a game: questions, labels, markers, settings, shapes, and how it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from tablecam.documents import Json
from tablecam.geometry.shapes import Shape
from tablecam.rules import descriptions as about
from tablecam.rules.dice import Roll
from tablecam.rules.game import Ban, DiceGroup, Offer, PendingDecision
from tablecam.rules.hexes.hex_game import unit_setting
from tablecam.rules.hexes.zones import Hexes
from tablecam.rules.maida_1806 import clash, field, fire, hands, movement, reaction, sequence
from tablecam.rules.maida_1806 import state as acts
from tablecam.rules.maida_1806.state import Due, MoveStep, State
from tablecam.rules.maida_1806.tables import in_words, most_words
from tablecam.rules.maida_1806.troops import SIDES, Piece
from tablecam.rules.steps import Decide
from tablecam.table.model import Keys
from tablecam.wording import counted, joined

GROUPS: Final = {
    "fire": about.ActionGroup("Fire", is_main=True, by_tap=True),
    "move": about.ActionGroup("Move", "By hand, hex by hex; units that join others go under."),
    "form": about.ActionGroup("Formation", is_seldom=True),
    "charge": about.ActionGroup("Charge", is_main=True),
    "leader": about.ActionGroup("Leaders", "By hand, to a hex that is shaded."),
    "spread": about.ActionGroup("Look into a stack", "Its counters are laid beside each other."),
    "answer": about.ActionGroup("", is_main=True),
    "roll": about.ActionGroup("Dice and chits", is_main=True),
    "done": about.ActionGroup("Finish", is_main=True, is_end=True),
}

MOMENTS: Final[Mapping[str, about.MomentKind]] = {
    "turn": "turn", "activation": "phase",
    "charge": "attack", "counterattack": "attack", "clash": "attack", "fire": "attack",
    "eliminated": "loss", "rout": "loss", "captured": "loss",
    "check": "detail", "reaction": "detail", "move": "detail", "halt": "detail",
}  # fmt: skip

HINTS: Final[Mapping[str, str]] = {
    "move a unit": "Tap a counter for its moves, or move it by hand.",
    "go on": "To go on, tap its next hex or drag the counter there.",
    "turn": "Choose how it faces, or turn the counter by hand.",
}
"""How hands do what a question names first."""


def question(state: State) -> PendingDecision:
    """Returns what the phase asks when nothing is due."""
    who = state.commanding or state.drawn
    if state.phase == "draw":
        return PendingDecision(f"Draw one of {len(state.pool)} chits")
    if state.phase == "activate":
        return PendingDecision(f"Whose units does {state.drawn} activate?", state.active)
    if state.phase == "movement":
        if not (state.slot or state.movers):
            words = f"Fire or pass? {who}'s units move next"
            hint = "Tap a unit, then its target; tap that again to fire."
            return PendingDecision(words, state.in_slot, hint=hint)
        deeds = tuple(sequence.deeds(state))
        words = f"{', '.join(state.movers) or who}: {joined(deeds, 'or')}?"
        if len(deeds) == 1:
            words = f"{', '.join(state.movers)} must {deeds[0]}"
        hint = f"{_points_left(state)} {HINTS.get(deeds[0], '')}".strip()
        return PendingDecision(words, state.active, hint=hint)
    if state.phase == "leaders":
        hint = "Tap a shaded hex, or drag the leader's counter there."
        leaders = tuple(dict.fromkeys(move.leader for move in sequence.leader_moves(state)))
        words = f"Where {'does' if len(leaders) == 1 else 'do'} {joined(leaders)} go?"
        return PendingDecision(words, state.active, hint=hint)
    return PendingDecision("Which Clash is fought next?", state.active)


def _points_left(state: State) -> str:
    """Returns the Movement Points that are left to the units that are moving."""
    left = {}
    for troop, piece in map(state.both, state.foot(state.movers)):
        allowance = movement.allowance_of(troop, double=piece.double)
        left[piece.id] = f"{piece.mp_left:g} of {allowance} Movement Points left."
    if len(same := set(left.values())) == 1:
        return same.pop()
    return " ".join(f"{name}: {points}" for name, points in left.items())


def step_words(step: MoveStep) -> str:
    """Returns a step of a move in words."""
    if step.turn:
        return f"turn {'left' if step.turn > 0 else 'right'}"
    if step.wheel is not None:
        return f"wheel {step.wheel}{' backward' if step.backward else ''}"
    return f"{'back ' if step.backward else ''}to {joined(step.to)}"


def _end(state: State, end: Piece, role: str = "hex-own") -> tuple[Shape, ...]:
    """Draws the hexes in which a unit would lie, and its Front hexes there."""
    front = state.grid.outlines(field.front_of(state, end), "hex-front")
    # Among all that it may reach, where it would lie has an outline of its own.
    roles = dict.fromkeys((role, "hex-own"))
    return (*(shape for role in roles for shape in state.grid.outlines(end.hexes, role)), *front)


def _laid(state: State, name: str, facing_deg: int, to: Hexes = (), **marks: Any) -> Piece:
    piece = state.piece(name)
    return replace(piece, facing_deg=facing_deg, hexes=to or piece.hexes, **marks)


def _facing(facing_deg: int) -> str:
    return f"facing {field.facing_words(facing_deg)}"


def _move(state: State, action: acts.Move) -> Offer:
    walked = sequence.walk(state, action.units, action.steps, double=action.double_march)
    assert not isinstance(walked, Ban)
    ends, last = [walked[0].piece(name) for name in action.units], action.steps[-1]
    words = ", ".join(step_words(step) for step in action.steps)
    words += "" if last.to else f", {_facing(ends[0].facing_deg)}"
    words += " at the double" if action.double_march else ""
    words += f" ({walked[1]:g} MP)" if walked[1] else ""
    role = "reach" if last.to else "hex-own"
    shapes = tuple(shape for end in ends for shape in _end(walked[0], end, role))
    return Offer("move", f"{', '.join(action.units)}: {words}", shapes, units=action.units)


def _fire(state: State, action: acts.Fire) -> Offer:
    shot = fire.shot_of(state, action.units, action.target)
    start, end = (state.piece(n).hexes for n in (action.units[0], action.target))
    hit, *others = shot.checks or ("",)
    if hit:
        passes = _passes(state, hit, shot.modifiers[hit])
        words = f"morale checks, {hit}: {passes}" if others else f"morale check, {passes}"
    else:
        words = f"{_captures(state, fire.due_of(state, shot))} it"
    label = f"{joined(action.units)}: fire at {shot.at}, {words}"
    shape = state.grid.way((start, end), "line-of-sight")
    return Offer("fire", label, (shape,), units=(*action.units, action.target))


def _form(state: State, action: acts.Form) -> Offer:
    piece, label = state.piece(action.unit), f"{action.unit}: {action.to} on {joined(action.hexes)}"
    # Only who leaves Square may face anywhere (D-7.1).
    label += f", {_facing(action.facing_deg)}" if piece.formation == "square" else ""
    cost_mp = dict(movement.formations(state, piece)).get(action)
    label += f" ({cost_mp:g} MP)" if cost_mp else ""
    end = _laid(state, action.unit, action.facing_deg, action.hexes, formation=action.to)
    return Offer("form", label, _end(state, end), units=(action.unit,))


def _react(state: State, action: acts.React) -> Offer:
    words = {"none": "do nothing", "check": "react"}.get(action.choice, action.choice)
    label = f"{action.unit}: {words.replace('+', ' and ')}"
    if action.choice == "check":
        movers = state.left(getattr(state.step, "movers", ()))
        check = reaction.check_of(state, action.unit, movers)
        label += f" ({most_words(check.morale - check.modifier)} passes)"
    if action.facing_deg is None:
        return Offer("answer", label)
    piece = state.piece(action.unit)
    if action.hexes:
        is_ahead = {*action.hexes} <= {*piece.hexes, *field.front_of(state, piece)}
        is_left = (action.facing_deg - piece.facing_deg) % 360 < 180
        step = MoveStep(wheel="left" if is_left else "right", backward=not is_ahead)
        label = f"{action.unit}: {step_words(step)}"
    end = _laid(state, action.unit, action.facing_deg, action.hexes)
    return Offer("answer", f"{label}, {_facing(action.facing_deg)}", _end(state, end))


def _face(state: State, action: acts.Face) -> Offer:
    ends = (_laid(state, name, action.facing_deg) for name in action.units)
    shapes = tuple(shape for end in ends for shape in _end(state, end))
    return Offer("answer", f"face {field.facing_words(action.facing_deg)}", shapes)


def _withdraw(state: State, action: acts.Withdraw) -> Offer:
    shapes = state.grid.outlines(action.to, "withdrawal")
    words = f"withdraw to {joined(action.to)}" if action.to else "stay"
    return Offer("answer", f"{action.unit}: {words}", shapes)


def _place(state: State, action: acts.Place) -> Offer:
    words = f"{action.unit}: {joined(action.hexes)}, {_facing(action.facing_deg)}"
    end = _laid(state, action.unit, action.facing_deg, action.hexes)
    return Offer("move" if not state.due else "answer", words, _end(state, end, "reach"))


def _passes(state: State, unit: str, added: Mapping[str, int]) -> str:
    """Returns up to which number a die passes a check: its Morale, less what is added to it."""
    morale = state.morale(unit)
    terms = in_words(added.items())
    why = f"Morale {morale}{', on the die ' if terms else ''}{', '.join(terms)}"
    return f"{most_words(morale - sum(added.values()))} passes ({why})"


def _captures(state: State, due: Due) -> str:
    """Returns which dice capture a battery alone (D-10.9, D-14.10.4)."""
    if isinstance(due, fire.Capture):
        return f"{most_words(due.most)} captures"
    assert isinstance(due, fire.Duel)
    stars = state.troop(due.firer).stars
    return f"more than {due.distance} hits, then {most_words(stars)} captures"


def _passing(state: State) -> str:
    """Returns what a pass ends, so that the same button does not end two phases unread."""
    if state.phase == "leaders":
        return "End the leaders' moves"
    who = state.commanding or state.drawn
    return f"Pass, and end {who}'s moves" if state.passes else "Pass"


def _dice(state: State) -> tuple[DiceGroup, ...]:
    """Returns up to which number each die of a check passes, and why."""
    due = state.step
    if isinstance(due, reaction.ReactionCheck):
        check = reaction.check_of(state, due.unit, state.left(due.movers))
        return (DiceGroup(due.unit, None, (0,), _passes(state, due.unit, check.modifiers)),)
    if isinstance(due, fire.Duel | fire.Capture):
        return (DiceGroup(due.unit, None, (0,), _captures(state, due)),)
    if not isinstance(due, fire.Checks | clash.LastPoint | clash.Crisis | fire.SquareDie):
        return ()
    added = due.modifiers if isinstance(due, fire.Checks) else {}
    return tuple(
        DiceGroup(name, None, (place,), _passes(state, name, added.get(name, {})))
        for place, name in enumerate(due.names(state))
    )


OFFERS: Final[Mapping[type, Callable[[State, Any], Offer]]] = {
    Roll: lambda state, action: Offer("roll", str(action), dice=_dice(state)),
    acts.Draw: lambda state, action: Offer(
        "roll", f"{action.leader}, drawn by hand" if action.leader else "Draw a chit"
    ),
    acts.ChoosePool: lambda state, action: Offer("answer", ", ".join(action.leaders) or "nobody"),
    acts.Activate: lambda state, action: Offer(
        "answer", action.leader or f"the units of {action.units_of}"
    ),
    acts.Move: _move,
    acts.Halt: lambda state, action: Offer("done", "Halt"),
    acts.Form: _form,
    acts.Detach: lambda state, action: Offer(
        "form", f"{action.unit}: detach {', '.join(action.companies)}", units=(action.unit,)
    ),
    acts.Reorder: lambda state, action: Offer("form", f"{action.order[0]}: to the top"),
    acts.Fire: _fire,
    acts.React: _react,
    acts.Charge: lambda state, action: Offer(
        "charge", f"{', '.join(action.units)}: charge {action.target}", units=action.units
    ),
    acts.Withdraw: _withdraw,
    acts.ClashIn: lambda state, action: Offer(
        "answer", f"{', '.join(action.attackers)} against {', '.join(action.defenders)}, "
        f"in {joined(action.hexes)}",
    ),
    acts.Losses: lambda state, action: Offer(
        "answer", ", ".join(f"{name} {n}" for name, n in action.losses.items()) or "no Losses"
    ),
    acts.Face: _face,
    acts.KeepHex: lambda state, action: Offer(
        "answer", f"keep {action.hex}",
        _end(state, replace(state.piece(action.unit), hexes=(action.hex,)), "reach"),
    ),
    acts.MoveLeader: lambda state, action: Offer(
        "leader", f"{action.leader}: {action.to}", state.grid.outlines((action.to,), "reach")
    ),
    acts.Place: _place,
    hands.Spread: lambda state, action: Offer(
        "answer" if action.units else "spread",
        f"As the game has it: {', '.join(action.units)}" if action.units
        else f"Spread {action.hex}",
        state.grid.outlines((action.hex,), "reach"),
    ),
    acts.Pass: lambda state, action: Offer("done", _passing(state)),
    Decide: lambda state, action: Offer("answer", "Yes" if action.yes else "No"),
}  # fmt: skip
"""The headings and labels of actions, by their type."""


def standing(public: Json) -> about.Standing:
    """Returns the turn and the Victory Points, which one track counts for both."""
    vp = public["vp"]
    points = {"french": max(vp, 0), "british": max(-vp, 0)}
    sides = tuple(
        about.SideStanding(side, (about.Figure("Victory Points", points[side], "flag"),))
        for side in SIDES
    )
    whose = public.get("commanding") or public.get("drawn") or "no chit drawn"
    return about.Standing(sides, public["turn"], phase=whose, active=public["active"])


def markers(unit_state: Keys) -> tuple[about.Marker, ...]:
    """Returns the markers beside a counter; a box has none."""
    if "strength" not in unit_state:
        return ()
    words = f"Strength {unit_state['strength']}, Morale {unit_state.get('morale', 'none')}"
    signs = [about.Marker("word", str(unit_state["strength"]), words=words)]
    if unit_state.get("disrupted"):
        signs.append(about.Marker("ring", "Disrupted", tone="bad"))
    if fires := unit_state.get("fires"):
        signs.append(about.Marker("pips", counted(int(fires), "fire"), int(fires), "warn"))
    told: tuple[tuple[object, str, about.Tone], ...] = (
        (unit_state.get("double_march"), "double march", "warn"),
        (unit_state.get("no_fire_this_turn"), "no fire", "warn"),
        (unit_state.get("formation") == "square", "Square", "good"),
        (unit_state.get("captured_by"), "captured", "bad"),
    )
    return (*signs, *(about.Marker("word", word, tone=tone) for is_so, word, tone in told if is_so))


def settings(state: State) -> tuple[about.Setting, ...]:
    """Returns what players may overrule."""
    pieces = [*state.on_map()]
    return (
        about.Setting("turn", "Turn", "game", "number", {"": state.turn}, least=1),
        about.Setting("vp", "VP of the French", "game", "number", {"": state.vp}, least=-99),
        unit_setting(pieces, "losses", "number"),
        unit_setting(pieces, "disrupted", "switch", marker="ring"),
        unit_setting(pieces, "fires", "number", most=4, marker="pips"),
    )


# Shapes.


def field_of_view(state: State, name: str) -> tuple[Shape, ...]:
    """Returns the hexes in which a unit could fire at an enemy (D-14.2)."""
    piece = state.piece(name)
    if not piece.hexes:
        return ()
    most = field.reach_of(state.troop(name))
    near = state.grid.reached(piece.hexes, most, lambda *_: True)
    seen = (n for n in near if n not in piece.hexes and field.sees(state, piece, (n,)))
    return state.grid.outlines(seen, "field-of-view")
