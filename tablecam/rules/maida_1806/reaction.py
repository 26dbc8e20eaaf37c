"""Reactions to moves: who reacts, the check, and what passing or failing it leads to (D-13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Literal

from tablecam.geometry.shapes import Shape
from tablecam.rules.game import PendingDecision, Sum, outcomes_of
from tablecam.rules.hexes.zones import Hexes
from tablecam.rules.maida_1806 import field, tables
from tablecam.rules.maida_1806 import state as acts
from tablecam.rules.maida_1806.clash import Combat, begun, rout
from tablecam.rules.maida_1806.fire import Retreat, Shrink, ban_on_fire, fired
from tablecam.rules.maida_1806.state import Due, React, State, Units, enemy_of
from tablecam.rules.maida_1806.troops import Piece, Troop
from tablecam.wording import counted, joined

Did = Literal["entered", "turned"]


def triggered(state: State, movers: Sequence[str], did: Did) -> tuple[Units, Units]:
    """Returns who must react to a step or a turn of some units, and who may.

    By D-13.1, D-8.8, D-13.4 and D-13.7.
    """
    pieces = [state.piece(name) for name in movers]
    if not pieces or any(state.in_clash(piece) for piece in pieces):
        return (), ()
    first, is_company = state.troop(movers[0]), state.troop(movers[0]).is_company
    if first.is_battery or (is_company and did == "turned"):
        return (), ()
    hexes: set[str] = set()
    for piece in pieces:
        near = field.around(state.grid, piece.hexes) if is_company else field.front_of(state, piece)
        hexes.update(near)
    tops: dict[frozenset[str], str] = {}
    guns = []
    for piece in state.on_map(enemy_of(first.side)):
        if state.in_clash(piece) or not hexes.intersection(piece.hexes):
            continue
        if state.troop(piece.id).is_battery:
            guns += [piece.id] if _target(state, piece, movers) else []
        else:
            # Only the top unit of a stack checks (D-13.5).
            tops.setdefault(frozenset(piece.hexes), piece.id)
    units = tuple(tops.values())
    return ((), (*units, *guns)) if is_company else (units, tuple(guns))


def _target(state: State, piece: Piece, movers: Sequence[str]) -> str | None:
    """Returns the mover at which a unit may fire in reaction (R-27)."""
    if field.ban_on_firing(state, piece) is not None:
        return None
    seen = (n for n in movers if field.ban_on_target(state, piece, state.piece(n)) is None)
    first = next(seen, None)
    return None if first is None or ban_on_fire(state, (piece.id,), first) else first


@dataclass(frozen=True, slots=True)
class Check:
    """A reaction check before or after its die."""

    case: str
    modifiers: Mapping[str, int]
    morale: int

    @property
    def modifier(self) -> int:
        """The sum of the modifiers."""
        return sum(self.modifiers.values())


def case_of(own: Troop, mover: Troop) -> str:
    """Returns the procedure of a unit against a mover: A to E of D-13.1."""
    if own.arm == "cavalry":
        return "E" if mover.arm == "cavalry" else "D"
    return "C" if mover.arm == "cavalry" else "B" if own.is_company else "A"


def check_of(state: State, unit: str, movers: Sequence[str]) -> Check:
    """Returns a reaction check with its named modifiers (D-13.1A to D-13.3)."""
    troop, piece = state.both(unit)
    hexes = tuple(number for name in movers for number in state.piece(name).hexes)
    zone = field.zone_of(state, piece, hexes)
    case = case_of(troop, state.troop(movers[0]))
    is_steady = case == "A" and troop.side == "british" and troop.nation != "sicilian"
    is_clear = "clear" in map(state.board.ground.terrain_of, piece.hexes)
    horse = tables.AGAINST_CAVALRY if case == "C" else {}
    parts = {
        "british_front": tables.BRITISH_FRONT if is_steady and zone == "front" else 0,
        piece.formation: horse.get(piece.formation, 0),
        "clear": horse.get("clear", 0) if is_clear else 0,
        "flank_or_rear": tables.FLANK_REACTION if zone in ("flank", "rear") else 0,
        "in_command": 0 if field.command_path(state, piece) is None else tables.COMMAND_REACTION,
    }
    return Check(case, {name: value for name, value in parts.items() if value}, state.morale(unit))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a die leads to: choices after a pass, Losses, hexes to withdraw, or a Rout."""

    total: int
    passed: bool
    offered: Units = ()
    losses: int = 0
    withdraw: int = 0
    rout: bool = False

    @property
    def words(self) -> str:
        """What it leads to."""
        if self.passed:
            both = ("fire", "counterattack") if "fire+counterattack" in self.offered else ()
            named = (deed for deed in self.offered if deed not in ("none", *both))
            deeds = [deed.replace("+", " and ") for deed in named]
            if len(deeds) > 1 and not both:
                return f"may do one: {joined(deeds, 'or')}"
            return f"may {', or '.join(deeds)}" if deeds else "can do nothing"
        losses = {0: [], 1: ["1 Loss"], 2: ["2 Losses"]}[self.losses]
        goes = "Rout" if self.rout else f"withdraws {counted(self.withdraw, 'hex')}"
        return joined([*losses, goes])


def verdict_of(state: State, unit: str, movers: Sequence[str], check: Check, die: int) -> Verdict:
    """Returns the result of a reaction check (D-13.1A to D-13.1E)."""
    total = die + check.modifier
    if total <= check.morale:
        return Verdict(total, True, offered(state, unit, movers, check.case, total))
    is_rout = check.case == "A" and total >= tables.ROUT_TOTAL
    losses, withdraw, rout = tables.FAILED_REACTION["A rout" if is_rout else check.case]
    return Verdict(total, False, (), losses, withdraw, rout)


def offered(
    state: State, unit: str, movers: Sequence[str], case: str, total: int, others: Units = ()
) -> Units:
    """Returns what a unit may do after it has passed; doing nothing is allowed (R-25)."""
    piece = state.piece(unit)
    may_fire = case in "ABC" and _target(state, piece, movers) is not None
    may_turn = case != "B" and bool(turns(state, unit))
    may_attack = case in "ADE" and counter_hexes(state, piece, movers, others) is not None
    both = may_fire and may_attack and case == "A" and total <= tables.BOTH_TOTAL
    choices = {
        "fire": may_fire, "counterattack": may_attack, "fire+counterattack": both,
        "turn": may_turn, "withdraw": case in "BD", "none": True,
    }  # fmt: skip
    return tuple(choice for choice, is_open in choices.items() if is_open)


def turns(state: State, unit: str) -> tuple[React, ...]:
    """Returns a unit's turns by 60 degrees; on two hexes a line wheels (D-12.7, D-6.3.3)."""
    piece, stack = state.piece(unit), [other.id for other in state.stack(unit)]
    if piece.disrupted or piece.formation == "square":
        return ()
    if len(piece.hexes) < 2:
        facings = ((piece.facing_deg + turn_deg) % 360 for turn_deg in (60, -60))
        return tuple(React(unit, "turn", facing_deg) for facing_deg in facings)

    def is_free(wheel: field.Wheel) -> bool:
        (left,) = (number for number in piece.hexes if number not in wheel.hexes)
        there = replace(piece, hexes=wheel.hexes, facing_deg=wheel.facing_deg)
        is_open = state.is_free(wheel.entered, state.enemy(unit))
        is_open = is_open and state.board.may_cross(left, wheel.entered)
        return is_open and field.ban_on_lying(state, there, moving=stack) is None

    wheels = field.wheels_of(state.grid, piece.hexes, piece.facing_deg)
    return tuple(React(unit, "turn", w.facing_deg, w.hexes) for w in wheels if is_free(w))


def counter_hexes(
    state: State, piece: Piece, movers: Sequence[str], others: Units = ()
) -> Hexes | None:
    """Returns the hexes of a counterattack onto the mover, None if there is none (R-24, D-11.1.2).

    `others` are the units that counterattack with it.
    """
    if piece.disrupted or piece.formation == "square" or state.troop(piece.id).is_company:
        return None
    alike = {(state.troop(n).kind, state.piece(n).formation) for n in (piece.id, *others)}
    targets = {number for name in movers for number in state.piece(name).hexes}
    for hexes in field.shifts(state, piece, "front") if len(alike) == 1 else ():
        new = [number for number in hexes if number not in piece.hexes]
        is_free = all(state.board.is_passable(n) and (n in targets or not state.at(n)) for n in new)
        if is_free and targets.intersection(hexes):
            return hexes
    return None


class Reactions(Due):
    """The units that react to a step, one after the other, in the order of their owner (R-27).

    Those that counterattack do so together when all have reacted (D-12.12.4).
    """

    movers: Units
    must: Units
    may: Units
    counter: Units = ()
    question = "Who reacts to {movers}?"
    least_answers = 2

    def waiting(self, state: State) -> tuple[Units, Units]:
        """Returns who must and who may still react: units that are there, to movers that are."""
        if not _fighting_free(state, self.movers):
            return (), ()
        return _fighting_free(state, self.must), _fighting_free(state, self.may)

    def owner(self, state: State) -> str:
        """Returns the side of those who react."""
        return state.enemy(self.movers[0])

    def asked(self, state: State) -> PendingDecision | None:
        """Returns who is asked, and whose counterattack waits for the others (D-12.12.4)."""
        asked = super().asked(state)
        waits = f"The counterattack of {joined(self.counter)} follows when all have reacted."
        return asked and replace(asked, hint=waits if self.counter else "")

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws a line from each unit to a mover."""
        must, may = self.waiting(state)
        return tuple(
            state.grid.way((state.piece(name).hexes, target), "reaction")
            for name in (*must, *may)
            for target in state.places(self.movers[:1])
        )

    def legal(self, state: State) -> tuple[React, ...]:
        """Returns the units, and to let pass those that need not react."""
        must, may = self.waiting(state)
        acts = [React(name, "check") for name in must]
        for name in may:
            word = "fire" if state.troop(name).is_battery else "check"
            acts += [React(name, word), React(name, "none")]
        return tuple(acts)

    def follow(self, state: State, answer: React | None) -> State:
        """Returns the state with a unit's reaction due, or the counterattack of all."""
        reaction = answer or next(iter(self.legal(state)), None)
        if reaction is None:
            return _counterattack(state, self.movers, self.counter)
        must, may = (
            tuple(name for name in names if name != reaction.unit) for names in self.waiting(state)
        )
        state = state.pushed(replace(self, must=must, may=may))
        if reaction.choice == "check":
            return state.pushed(ReactionCheck(reaction.unit, self.movers))
        fires = reaction.choice == "fire"
        return _fires(state, reaction.unit, self.movers) if fires else state


def _fighting_free(state: State, names: Units) -> Units:
    """Returns those of some units that are on the map and not in a Clash Hex."""
    return tuple(name for name in state.left(names) if not state.in_clash(state.piece(name)))


def _fires(state: State, unit: str, movers: Units) -> State:
    """Returns the state with a unit's fire in reaction due, if there is a target."""
    target = _target(state, state.piece(unit), movers)
    return state if target is None else fired(state, (unit,), target)


class ReactionCheck(Due):
    """A unit's reaction check (D-13.1)."""

    unit: str
    movers: Units
    dice = "reaction of {unit}"

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the roll, and what each face of the die leads to."""
        roll, movers = self.roll(state), state.left(self.movers)
        if roll is None or not movers:
            return None
        verdict = partial(verdict_of, state, self.unit, movers, check_of(state, self.unit, movers))
        faces = outcomes_of(lambda die: verdict(die).words, range(tables.DIE_FACES))
        return PendingDecision(str(roll), sums=(faces,))

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state after the check: a choice, or what its failure does to the stack."""
        movers = state.left(self.movers)
        check = check_of(state, self.unit, movers)
        verdict = verdict_of(state, self.unit, movers, check, answer[0])
        parts = tables.in_words(check.modifiers.items())
        word = "passes" if verdict.passed else "fails"
        text = f"{self.unit} {word} its reaction to {', '.join(movers)}: "
        text += tables.check_words(answer[0], check.modifier, check.morale)
        added = Sum(f"Total {verdict.total}", (f"die {answer[0]}", *parts))
        facts = {
            "unit": self.unit, "total": verdict.total, "modifiers": dict(check.modifiers),
            "sums": [added._asdict()],
        }  # fmt: skip
        state = state.tells("reaction", text, f"D-13.1{check.case}", **facts)
        if verdict.passed:
            return state.pushed(ReactionChoice(self.unit, movers, check.case, verdict.total))
        stack = state.foot(piece.id for piece in state.stack(self.unit))
        causes = state.places(movers)
        state = reduce(partial(acts.with_losses, losses=verdict.losses), stack, state)
        if verdict.rout:
            return rout(state, stack, state.turn + 1, causes)
        left = state.left(stack)
        state = state.pushed(*(Retreat(name, causes, verdict.withdraw) for name in left))
        return state.pushed(*map(Shrink, left))


class ReactionChoice(Due):
    """What a unit does after it has passed its check."""

    unit: str
    movers: Units
    case: str
    total: int
    question = "What does {unit} do?"
    least_answers = 2

    def legal(self, state: State) -> tuple[React, ...]:
        """Returns the choices, with all ways to turn."""
        # Below it wait the reactions of the others, with those that will counterattack.
        waiting = next((due for due in state.due[::-1] if isinstance(due, Reactions)), None)
        others = waiting.counter if waiting else ()
        acts: list[React] = []
        for word in offered(state, self.unit, self.movers, self.case, self.total, others):
            acts += turns(state, self.unit) if word == "turn" else [React(self.unit, word)]
        return tuple(acts)

    def follow(self, state: State, answer: React | None) -> State:
        """Returns the state after the choice."""
        choice = "none" if answer is None else answer.choice
        causes = state.places(self.movers)
        if "counterattack" in choice:
            waiting: Any = state.step
            later = replace(waiting, counter=(*waiting.counter, self.unit))
            state = state.below().pushed(later)
        if choice == "withdraw" or (self.case == "B" and choice == "fire"):
            state = state.pushed(Retreat(self.unit, causes, 1, choice == "fire"))
        if choice.startswith("fire"):
            return _fires(state, self.unit, self.movers)
        if answer is None or choice != "turn":
            return state
        for name in state.foot(piece.id for piece in state.stack(self.unit)):
            to = answer.hexes or state.piece(name).hexes
            state = state.with_piece(name, facing_deg=answer.facing_deg, hexes=to)
        words = f"wheels to {joined(answer.hexes)}" if answer.hexes else "turns"
        return state.tells("turn", f"{self.unit} {words}", "D-13.1", unit=self.unit)


def _counterattack(state: State, movers: Units, units: Units) -> State:
    """Returns the state with the counterattacking units on the mover's hex, the Clash due."""
    attackers: Units = ()
    hexes: set[str] = set()
    for name in state.foot(piece.id for unit in units for piece in state.stack(unit)):
        piece = state.piece(name)
        to = counter_hexes(state, piece, movers, attackers)
        if to is not None and name not in attackers:
            state = state.with_piece(name, hexes=to, entered_from=piece.hexes, how="counterattack")
            attackers += (name,)
            hexes.update(to)
    targets = {number for place in state.places(movers) for number in place}
    clash = tuple(sorted(hexes & targets))
    if not clash:
        return state
    state = replace(state, movers=())
    for name in state.left(movers):
        state = state.with_piece(name, done=True)
    side = state.enemy(attackers[0])
    defenders = tuple(dict.fromkeys(p.id for n in clash for p in state.at(n, side)))
    text = f"{', '.join(attackers)} counterattacks {', '.join(defenders)}"
    state = state.tells("counterattack", text, "D-12.12.1")
    return begun(state, Combat(clash, attackers, defenders, "counterattack"))
