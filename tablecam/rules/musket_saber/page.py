"""How the page shows a game: questions, labels, markers, settings, and how it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Final

from tablecam.documents import Json
from tablecam.geometry.shapes import Shape
from tablecam.rules import descriptions as about
from tablecam.rules.dice import Roll
from tablecam.rules.game import Offer, PendingDecision
from tablecam.rules.hexes.grid import Hex
from tablecam.rules.hexes.hex_game import unit_setting
from tablecam.rules.musket_saber import battle, sequence
from tablecam.rules.musket_saber import state as acts
from tablecam.rules.musket_saber.state import State
from tablecam.rules.musket_saber.tables import ARMS
from tablecam.rules.musket_saber.troops import fighting
from tablecam.table.model import Keys
from tablecam.table.sides import side_name
from tablecam.wording import joined

GROUPS: Final = {
    "attack": about.ActionGroup("Attack", is_main=True, by_tap=True),
    "bombard": about.ActionGroup("Bombard", by_tap=True),
    "charge": about.ActionGroup("Charge", is_seldom=True, most=4),
    "move": about.ActionGroup("Move", "By hand; a unit that rolls for its allowance rolls first."),
    "recover": about.ActionGroup("Recover"),
    "return": about.ActionGroup("Return to the map"),
    "square": about.ActionGroup("Square", is_seldom=True),
    "exit": about.ActionGroup("Leave the map", is_seldom=True),
    "primary": about.ActionGroup("Who takes part"),
    "fortune": about.ActionGroup("Fortune of War", is_main=True),
    "answer": about.ActionGroup("", is_main=True),
    "roll": about.ActionGroup("Dice", is_main=True),
    "done": about.ActionGroup("Go on", is_main=True, is_end=True),
}

MOMENTS: Final[Mapping[str, about.MomentKind]] = {
    "turn": "turn", "phase": "phase", "attack": "attack", "charge": "attack", "combat": "attack",
    "loss": "loss", "move": "detail", "check": "detail", "detail": "detail",
}  # fmt: skip


def ground_words(charts: Mapping[str, Any]) -> dict[str, str]:
    """Returns the Movement Points that each kind of ground costs (K-4.5, K-4.6a)."""
    words: dict[str, str] = {}
    for kind, of in charts.get("terrain", {}).items():
        along = "1 MP along it" if of.get("kind") == "path" else ""
        words[kind] = _costs(of["mp"]) if "mp" in of else along
    for kind, of in charts.get("hexside", {}).items():
        extra = dict.fromkeys(ARMS, 0) | of.get("extra", {})
        barred = of.get("prohibited", ())
        passes = {arm: mp for arm, mp in extra.items() if arm not in barred}
        words[kind] = _costs(passes, "+") if barred or any(extra.values()) else ""
    return words


def _costs(points: Mapping[str, float], sign: str = "") -> str:
    if not points:
        return "not to be crossed"
    if len(points) == len(ARMS) and len({*points.values()}) == 1:
        return f"{sign}{next(iter(points.values())):g} MP"
    costs = [f"{arm} {sign}{mp:g} MP" for arm, mp in points.items()]
    return ", ".join([*costs, *(f"no {arm}" for arm in ARMS if arm not in points)])


def question(state: State) -> PendingDecision:
    """Returns what the phase asks when nothing is due."""
    words, hint = "attacks or bombards", "Nobody can attack any more: tap “Done”."
    if next(chain(battle.attacks(state), battle.bombardments(state)), None):
        hint = "Tap a unit, then its target; tap that again to attack."
    if state.phase == "movement":
        words, hint = "moves", "Move counters by hand, one by one."
    elif sequence.not_attacked(state, [*state.triggered]):
        hint += " An enemy that holds one of your units gives its owner a Fortune of War"
        hint += (
            f" unless it is attacked{', at night too' if state.time == 'night' else ''} (K-7.2)."
        )
    words = f"Turn {state.turn}, {state.time}: {side_name(state.active)} {words}"
    return PendingDecision(words, state.active, hint=hint)


def _to(group: str, state: State, name: str, words: str, *hexes: str) -> Offer:
    shapes = state.grid.outlines(hexes, "reach")
    return Offer(group, f"{name}: {words}", shapes, units=(name,))


def _helped(leader: str) -> str:
    return f", with the help of {leader}" if leader else ""


def _way(state: State, name: str, path: tuple[Hex, ...]) -> tuple[Shape, ...]:
    """Draws a way from where a counter is, and its end."""
    way = state.grid.way([(n,) for n in (state.thing(name).hex, *path) if n], "way")
    return (way, *state.grid.outlines(path[-1:], "reach"))


def _retreat(state: State, action: acts.Retreat) -> Offer:
    *between, end = action.path
    words = f"{action.unit}: to {end}" + (f" by {', '.join(between)}" if between else "")
    return Offer("answer", words, _way(state, action.unit, action.path), units=(action.unit,))


def _move(state: State, action: acts.Move) -> Offer:
    names, end = joined(action.units), action.path[-1]
    way, *there = _way(state, action.units[0], action.path)
    if action.charge is None:
        return Offer("move", f"{names}: to {end}", (way, *there), units=action.units)
    # A tap on a hex only begins a move; then it asks which of both is meant.
    target = state.grid.outlines((action.charge,), "target")
    shapes = (way, *(there if state.step else ()), *target)
    whom = joined(unit.id for unit in fighting(state.field.units_at(action.charge)))
    words = f"charge {whom} from {end}"
    return Offer("charge", f"{names}: {words}", shapes, units=action.units)


def _attack(state: State, action: acts.Attack) -> Offer:
    fight = acts.Battle(state.active, action.target_hex, action.units, how=action.how)
    label = battle.attack_words(state, action.units, action.target_hex, action.how)
    if action.how != "charge" and state.field.units_at(action.target_hex):
        label += f", {battle.reckoned(state, fight).value:+d}"
    start = state.thing(action.units[0]).hex
    lines = (state.grid.way(((start,), (action.target_hex,)), "attack"),) if start else ()
    there = fighting(state.field.units_at(action.target_hex))
    return Offer("attack", label, lines, units=(*action.units, *(unit.id for unit in there)))


def _bombard(state: State, action: acts.Bombard) -> Offer:
    start = state.thing(action.units[0]).hex or action.target
    shape = state.grid.way(((start,), (action.target,)), "line-of-sight")
    there = tuple(unit.id for unit in state.field.units_at(action.target))
    label = battle.attack_words(state, action.units, action.target, "bombard")
    return Offer("bombard", label, (shape,), units=(*action.units, *there))


def _defend(state: State, action: acts.Defend) -> Offer:
    words = f"{joined(action.units)}, primary {action.primary}"
    if action.square:
        words = f"{action.primary} forms a Square"
    extra = ", countercharging" if action.countercharge else ""
    return Offer("answer", words + extra + _helped(action.leader), units=action.units)


def _fow(state: State, action: acts.Fow) -> Offer:
    words = {
        "move_enemy": "move this enemy, on 1 or 2", "move_friend": "move this unit",
        "charge": "charge", "check_enemy": "check its morale", "recover_friend": "recover",
    }.get(action.choice, action.choice)  # fmt: skip
    if action.others:
        verb = "charge" if action.choice == "charge" else "move"
        words = f"{verb} with {joined(action.others)}"
    end = action.path[-1:]
    to = f" to {end[0]}" if end else ""
    if action.target:
        to = f" {battle.whom(state, action.target)} from {end[0]}"
    return _to("fortune", state, action.unit, words + to, *end)


_TACTICS: Final = {
    "none": "No tactic",
    "press": "Press Forward: +2, and a step lost if the defender does not rout",
    "last_stand": "Last Stand: +3, and a step lost if the attacker does not retreat",
    "attacker": "Disengage: retreat or be Disrupted in place of any D, Ex or Ac",
    "defender": "Disengage: retreat or be Disrupted in place of any A, Ex or Dc",
}


def _pass(state: State, action: acts.Pass) -> Offer:
    if state.step is not None:
        return Offer("done", state.step.passing)
    given = sequence.not_attacked(state, [*state.triggered]) if state.phase == "combat" else []
    words = f" ({side_name(state.passive)} then has a Fortune of War for {', '.join(given)})"
    return Offer("done", "Done" + (words if given else ""))


OFFERS: Final[Mapping[type, Callable[[Any, Any], Offer]]] = {
    Roll: lambda state, roll: Offer("roll", str(roll), dice=state.step.dice_groups(state)),
    acts.Start: lambda state, a: _to(
        "move", state, a.unit, ("march" if a.march else "move") + _helped(a.leader)
    ),
    acts.Move: _move,
    acts.Recover: lambda state, a: _to("recover", state, a.unit, "recover" + _helped(a.leader)),
    acts.Square: lambda state, a: _to(
        "square", state, a.unit, "form a Square, without moving" if a.forms else "end the Square"
    ),
    acts.Exit: lambda state, a: _to("exit", state, a.unit, "leave the map"),
    acts.Place: lambda state, a: _to("return", state, a.unit, f"return at {a.hex}", a.hex),
    acts.Replace: lambda state, a: _to("recover", state, a.unit, "a replacement step"),
    acts.Bombard: _bombard,
    acts.Aim: lambda state, a: _to("answer", state, a.unit, "the target"),
    acts.Attack: _attack,
    acts.Join: lambda state, a: (
        _to("attack", state, a.unit, "add to the attack")
        if a.joins else _to("primary", state, a.unit, "take out")
    ),
    acts.Primary: lambda state, a: _to("primary", state, a.unit, "make it the primary unit"),
    acts.Declare: lambda state, a: Offer("done", "Declare" if a.yes else "Go back"),
    acts.Defend: _defend,
    acts.UseTactic: lambda state, a: Offer("answer", _TACTICS[
        a.choice if a.choice != "disengage" else battle.role_of(state.fight, state.step.side)
    ]),
    acts.Choose: lambda state, a: Offer("answer", state.step.brings(state, a.choice)),
    acts.Retreat: _retreat,
    acts.StepLoss: lambda state, a: _to("answer", state, a.unit, "takes it"),
    acts.Advance: lambda state, a: _to("answer", state, a.unit, f"advance to {a.to}", a.to),
    acts.Capture: lambda state, a: Offer("answer", "Try to capture"),
    acts.Fow: _fow,
    acts.Pass: _pass,
}  # fmt: skip
"""The headings and labels of actions, by their type."""


def standing(public: Json) -> about.Standing:
    """Returns the turn, the phase and the Victory Points."""
    sides = tuple(
        about.SideStanding(side, (about.Figure("Victory Points", score, "flag"),))
        for side, score in public["points"].items()
    )
    phase = "end of combat" if public["phase"] == "closing" else public["phase"]
    phase = f"{phase}, {public['time']}"
    return about.Standing(sides, public["turn"], phase=phase, active=public["active"])


def markers(unit_state: Keys) -> tuple[about.Marker, ...]:
    """Returns the markers beside a counter."""
    if post := unit_state.get("post"):
        tone: about.Tone = "plain" if unit_state.get("active") else "warn"
        words = post if unit_state.get("active") else f"{post}, inactive"
        return (about.Marker("word", str(words), tone=tone),)
    names = {
        "cf": "combat factor", "charge": "charge factor", "morale": "morale",
        "ma": "Movement Allowance",
    }  # fmt: skip
    printed = [f"{name} {unit_state[key]}" for key, name in names.items() if key in unit_state]
    words = ", ".join(printed)
    cf = unit_state.get("cf")
    signs = [about.Marker("word", str(cf), words=words)] if cf else []
    return (*signs, *(sign for key, sign in _SIGNS.items() if unit_state.get(key)))


_SIGNS: Final = {
    "disrupted": about.Marker("ring", "Disrupted", tone="bad"),
    "reduced": about.Marker("word", "reduced", tone="warn"),
    "ineffective": about.Marker("word", "ineffective", tone="warn"),
    "square": about.Marker("word", "Square", tone="good"),
    "charging": about.Marker("word", "charges", tone="good"),
}


def settings(state: State) -> tuple[about.Setting, ...]:
    """Returns what players may overrule."""
    units = [unit for unit in state.units if unit.hex is not None]
    return (
        about.Setting("turn", "Turn", "game", "number", {"": state.turn}, least=1),
        unit_setting(units, "steps", "number", least=1, most=2),
        unit_setting(units, "disrupted", "switch", marker="ring"),
        unit_setting(units, "ineffective", "switch"),
    )
