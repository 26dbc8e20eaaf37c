"""Skirmish: inches, a die from 0 to 9, and a relic that one unit of each side carries hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pydantic import TypeAdapter

from tablecam.errors import BadInput
from tablecam.geometry.moves.poses import ahead
from tablecam.rules import descriptions as about
from tablecam.rules.dice import Roll, values_of
from tablecam.rules.frozen_json import Variant, from_plain, one_of, renamed, to_plain
from tablecam.rules.game import DiceGroup, Event, Game, Offer, PendingDecision, Refused, Suggestion
from tablecam.rules.lay import Lay, with_bases
from tablecam.table.model import BasePose, Position, Unit
from tablecam.table.motion import apart_mm, lies_there
from tablecam.table.sides import side_name
from tablecam.uncertainty.answer import Answer, certain, decide
from tablecam.uncertainty.lengths import distance

INCH_MM, MOVE_IN, RANGE_IN, LAST_TURN, PINS_FROM, WOUNDS_FROM = 25.4, 6, 18, 3, 4, 6
DUE: Final = Roll("the shot", 1, sides=10, lowest=0)


class Hide(Variant):
    unit: str


class Move(Variant):
    unit: str
    bases: tuple[BasePose, ...]


class Shoot(Variant):
    unit: str
    target: str


class EndTurn(Variant): ...


class Overrule(Variant):
    why: str = ""
    units: Mapping[str, tuple[BasePose, ...]] = field(default_factory=dict)
    off: tuple[str, ...] = ()
    wounds: Mapping[str, int] = field(default_factory=dict)
    pinned: Mapping[str, bool] = field(default_factory=dict)
    points: Mapping[str, int] = field(default_factory=dict)
    active: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    position: Position
    sides: tuple[str, str]
    active: str
    turn: int
    points: Mapping[str, int]
    relics: Mapping[str, str]
    shot: tuple[str, str] | None = None

    def unit(self, unit_id: str) -> Unit:
        if (unit := self.position.unit(unit_id)) is None:
            raise Refused(f"expected a unit of the game, got {unit_id}")
        return unit

    def changed(self, unit_id: str, *, bases: Any = None, **marks: Any) -> State:
        unit = self.unit(unit_id)
        marks = {key: value for key, value in {**unit.state, **marks}.items() if value}
        unit = replace(unit, bases=unit.bases if bases is None else bases, state=marks)
        units = (unit if old.id == unit_id else old for old in self.position.units)
        left = tuple(unit for unit in units if unit.bases)
        return replace(self, position=replace(self.position, units=left))


_ACTIONS: Final = one_of(Roll, Hide, Move, Shoot, EndTurn, Lay, Overrule)


class Skirmish(Game):
    name: Final = "skirmish"
    moments: Final = {"turn": "turn", "half": "phase", "shot": "attack", "loss": "loss"}
    action_groups: Final = {"move": about.ActionGroup("Move", "By hand, up to 6 inches.")}
    state_to_json = action_to_json = staticmethod(to_plain)
    state_from_json = staticmethod(lambda data: from_plain(TypeAdapter(State), data, "state"))
    position = staticmethod(lambda state: state.position)
    action_from_json = staticmethod(
        lambda data: from_plain(_ACTIONS, renamed(data, "for", "for_"), "action")
    )
    length_unit = staticmethod(lambda table: about.LengthUnit("in", "inches", INCH_MM, 1))
    settle = staticmethod(lambda state, act, dice: act.rolled(dice) if act.type == "roll" else act)

    def begin(self, position, options):
        sides = tuple(dict.fromkeys(unit.side for unit in position.units))
        first, *odd = ({"first": sides[:1] and sides[0]} | dict(options)).values()
        if len(sides) != 2 or odd or first not in sides:
            raise BadInput("position", "expected two sides, and one of them as first")
        return State(position, sides, first, 1, dict.fromkeys(sides, 0), {})

    def asked(self, state):
        if state.turn > LAST_TURN or len({unit.side for unit in state.position.units}) < 2:
            return PendingDecision("the game is over", is_over=True)
        if hiding := [side for side in state.sides if side not in state.relics]:
            return PendingDecision("which unit carries the relic?", hiding[0], is_concealed=True)
        if state.shot:
            return PendingDecision(f"a die for {state.shot[0]} shooting at {state.shot[1]}")
        return PendingDecision("move, shoot or end the turn", state.active)

    def legal(self, state):
        asked = self.asked(state)
        if asked.seat is None:
            return () if asked.is_over else (DUE,)
        own = [unit for unit in state.position.units if unit.side == asked.seat]
        if asked.is_concealed:
            return tuple(Hide(unit.id) for unit in own)
        usual = [Move(unit.id, ahead(unit.bases, unit.bases[0].heading_deg, 100.0)) for unit in own]
        usual += [Shoot(unit.id, other.id) for unit in own for other in state.position.units]
        return (*(act for act in usual if self._ruling(state, act).answer != "no"), EndTurn())

    def _ruling(self, state, action) -> Answer:
        unit, asked = state.unit(action.unit), self.asked(state)
        target = state.unit(action.target) if isinstance(action, Shoot) else None
        if asked.is_concealed or unit.side != asked.seat or unit.state.get("acted"):
            return certain("no", "K-1", f"{unit.id} may not act now")
        if target and target.side != unit.side:
            length, limit_in, verb = distance(unit, target), RANGE_IN, f"shoots at {target.id} at"
            mm, sigma_mm, evidence = length.value_mm, length.sigma_mm, (length.evidence(),)
        elif target or unit.state.get("pinned") or len(action.bases) != len(unit.bases):
            return certain("no", "K-2", f"{unit.id} is pinned, lacks a base, or is a friend")
        else:
            mm, limit_in, verb = max(map(apart_mm, action.bases, unit.bases)), MOVE_IN, "moves"
            sigma_mm, evidence = max(base.sigma_mm for base in action.bases), ()
        margin_mm = limit_in * INCH_MM - mm
        because = f"{unit.id} {verb} {mm / INCH_MM:.1f} inches, of at most {limit_in:g}"
        word, chance = decide(margin_mm, sigma_mm)
        return Answer(word, margin_mm, sigma_mm, chance, "K-2", because, evidence)

    def apply(self, state, action):
        change = self._overruled if isinstance(action, Overrule) else self._changed
        after, events = change(state, action)
        ends = self.asked(after).is_over and not self.asked(state).is_over
        return after, (*events, Event("over", self.asked(after).question)) if ends else events

    def _changed(self, state, action):
        asked = self.asked(state)
        if isinstance(action, Lay):
            return replace(state, position=with_bases(state.position, action.units)), ()
        if state.shot and not asked.is_over:
            return self._shot(state, values_of(action, DUE)[0])
        if isinstance(action, Move | Shoot):
            if (ruling := self._ruling(state, action)).answer == "no":
                raise Refused(ruling.because, rule=ruling.rule)
            shot = (action.unit, action.target) if isinstance(action, Shoot) else None
            state = state.changed(action.unit, bases=getattr(action, "bases", None), acted=True)
            event = Event("shot" if shot else "move", ruling.because, "K-2", {}, ruling.evidence)
            return replace(state, shot=shot), (event,)
        if action not in self.legal(state):
            raise Refused(f"expected one of {self.legal(state)}, got {action}")
        if isinstance(action, Hide):
            state = replace(state, relics={**state.relics, asked.seat: action.unit})
            own = Event("relic", f"{action.unit} carries the relic", only_for=asked.seat)
            return state, (Event("relic", f"{side_name(asked.seat)}: relic hidden"), own)
        for unit in state.position.units:
            if unit.side == state.active:
                state = state.changed(unit.id, acted=False, pinned=False)
        place = state.sides.index(state.active)
        state = replace(state, active=state.sides[1 - place], turn=state.turn + place)
        kind, side = "turn" if place else "half", side_name(state.active)
        return state, (Event(kind, f"turn {state.turn}: {side}"),) * (state.turn <= LAST_TURN)

    def _shot(self, state, face):
        shooter, target = map(state.unit, state.shot)
        state, left, name = replace(state, shot=None), target.bases[:-1], target.id
        if face < WOUNDS_FROM or not target.state.get("wounds"):
            kind = "miss" if face < PINS_FROM else "pinned" if face < WOUNDS_FROM else "wounds"
            state = state if kind == "miss" else state.changed(name, **{kind: 1})
            return state, (Event(kind, f"{face} at {name}: {kind}", "K-3"),)
        state = state.changed(name, bases=left, wounds=0)
        if left:
            return state, (Event("base", f"{face}: {name} loses a base", "K-4"),)
        points = state.points[shooter.side] + (3 if state.relics[target.side] == name else 1)
        state = replace(state, points={**state.points, shooter.side: points})
        return state, (Event("loss", f"{face}: {name} is lost", "K-4"),)

    def _overruled(self, state, action):
        marks = {"wounds": action.wounds, "pinned": action.pinned}
        for name in {*action.units, *action.off, *action.wounds, *action.pinned}:
            given = {key: values[name] for key, values in marks.items() if name in values}
            bases = () if name in action.off else action.units.get(name)
            state = state.changed(name, bases=bases, **given)
        active, shot = action.active or state.active, None if action.off else state.shot
        if {*action.points, active} - {*state.sides}:
            raise Refused(f"expected sides, of {state.sides}")
        state = replace(state, active=active, shot=shot, points={**state.points, **action.points})
        words = [key for key, value in vars(action).items() if value and key not in ("type", "why")]
        return state, (Event("overrule", f"overruled: {', '.join(words)} {action.why}".strip()),)

    def detect_moves(self, state, position):
        seen, suggestions = {unit.id: unit.bases for unit in position.units}, []
        for unit in state.position.units:
            move = Move(unit.id, seen.get(unit.id, ()))
            if [*map(lies_there, move.bases, unit.bases)] != [True] * len(unit.bases):
                ruling = self._ruling(state, move)
                suggestions.append(Suggestion(unit.id, f"{unit.id} has moved", move, ruling))
        return tuple(suggestions)

    def offered(self, state, action):
        dice = (DiceGroup(state.shot[0], WOUNDS_FROM, (0,)),) if state.shot else ()
        names = [value for key, value in vars(action).items() if key in ("unit", "target")]
        words = str(action) if isinstance(action, Roll) else action.type.replace("-", " ")
        return Offer(action.type, " at ".join(names) or words, dice=dice)

    def standing(self, public):
        figures = {side: about.Figure("points", n, "star") for side, n in public["points"].items()}
        sides = tuple(about.SideStanding(side, (figures[side],)) for side in public["sides"])
        return about.Standing(sides, min(public["turn"], LAST_TURN), active=public["active"])

    def markers(self, unit_state):
        wounds = unit_state.get("wounds", 0)
        signs = [about.Marker("pips", f"wounds: {wounds}", wounds, "bad")] if wounds else []
        signs += [about.Marker("word", "pinned", 1, "warn")] if unit_state.get("pinned") else []
        return (*signs, *([about.Marker("ring", "acted")] if unit_state.get("acted") else ()))

    def settings(self, state):
        sides = tuple(about.SettingChoice(side, side_name(side)) for side in state.sides)
        units = state.position.units
        wounds, pinned = ({u.id: u.state.get(k, 0) for u in units} for k in ("wounds", "pinned"))
        return (
            about.Setting("active", "active side", "game", "choice", {"": state.active}, sides),
            about.Setting("points", "points", "side", "number", state.points),
            about.Setting("wounds", "wounds", "unit", "number", wounds, most=1, marker="pips"),
            about.Setting("pinned", "pinned", "unit", "switch", pinned, marker="word"),
        )

    def begin_form(self, sides):
        first = (about.BeginChoice(side_name(side), {"first": side}, side=side) for side in sides)
        return (about.BeginField("first", "First side", tuple(first)),)

    def hand(self, state, seat):
        carrier = state.relics.get(seat)
        return (about.HeldCard("relic", "Relic", text=f"On {carrier}"),) if carrier else ()

    def seen_by(self, state, seat):
        known = {side: unit for side, unit in state.relics.items() if side == seat}
        return to_plain(replace(state, relics=known)) | {"position": None}


GAME: Final = Skirmish()
