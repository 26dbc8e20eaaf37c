"""Reactions to moves: who reacts, the check, and what passing or failing it leads to (D-13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from tablecam.rules.dice import Roll
from tablecam.rules.game import Event, PendingDecision
from tablecam.rules.hexes.zones import TURNS_DEG, Hexes, around, shifted
from tablecam.rules.maida_1806 import tables
from tablecam.rules.maida_1806.clash import Combat, begun, rout
from tablecam.rules.maida_1806.field import (
    ban_on_firing,
    ban_on_target,
    front_of,
    is_in_command,
    stacked,
    zone_of,
)
from tablecam.rules.maida_1806.fire import Retreat, Shrink, ban_on_fire, fired
from tablecam.rules.maida_1806.state import (
    Due,
    Outcome,
    React,
    State,
    Units,
    die_for,
    enemy_of,
    shrunk,
    with_losses,
)
from tablecam.rules.maida_1806.troops import Piece

Did = Literal["entered", "turned"]


@dataclass(frozen=True, slots=True)
class Triggered:
    """The units that must react to a step, and those that may."""

    must: Units
    may: Units


def triggered(state: State, movers: Sequence[str], did: Did) -> Triggered:
    """Returns who reacts to a step or a turn of some units (D-13.1, D-8.8, D-13.4, D-13.7)."""
    pieces = [state.piece(name) for name in movers]
    if not pieces or any(state.in_clash(piece) for piece in pieces):
        return Triggered((), ())
    troops = [state.troop(name) for name in movers]
    if troops[0].is_battery:
        return Triggered((), ())
    enemy = enemy_of(troops[0].side)
    is_company = troops[0].is_company
    if is_company and did == "turned":
        return Triggered((), ())
    hexes: set[str] = set()
    for piece in pieces:
        near = around(state.grid, piece.hexes) if is_company else front_of(state, piece)
        hexes.update(near)
    tops: dict[frozenset[str], str] = {}
    guns = []
    for piece in state.on_map(enemy):
        if state.in_clash(piece) or not hexes.intersection(piece.hexes):
            continue
        if state.troop(piece.id).is_battery:
            guns += [piece.id] if _may_fire(state, piece, movers) else []
        else:
            # Only the top unit of a stack checks (D-13.5).
            tops.setdefault(frozenset(piece.hexes), piece.id)
    units = tuple(tops.values())
    return Triggered((), (*units, *guns)) if is_company else Triggered(units, tuple(guns))


def _may_fire(state: State, piece: Piece, movers: Sequence[str]) -> bool:
    return bool(_target(state, piece, movers))


def _target(state: State, piece: Piece, movers: Sequence[str]) -> str | None:
    """Returns the mover at which a unit may fire in reaction (R-27)."""
    if ban_on_firing(state, piece) is not None:
        return None
    for name in movers:
        mover = state.piece(name)
        if mover.hexes and ban_on_target(state, piece, mover) is None:
            return name if ban_on_fire(state, (piece.id,), name) is None else None
    return None


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


def case_of(state: State, unit: str, mover: str) -> str:
    """Returns the procedure of a unit against a mover: A to E of D-13.1."""
    own, other = state.troop(unit), state.troop(mover)
    if own.arm == "cavalry":
        return "E" if other.arm == "cavalry" else "D"
    if other.arm == "cavalry":
        return "C"
    return "B" if own.is_company else "A"


def check_of(state: State, unit: str, movers: Sequence[str]) -> Check:
    """Returns a reaction check with its named modifiers (D-13.1A to D-13.3)."""
    troop, piece = state.both(unit)
    hexes = tuple(number for name in movers for number in state.piece(name).hexes)
    zone = zone_of(state, piece, hexes)
    case = case_of(state, unit, movers[0])
    parts: dict[str, int] = {}
    if case == "A" and troop.side == "british" and troop.nation != "sicilian" and zone == "front":
        parts["british_front"] = tables.BRITISH_FRONT
    if case == "C":
        formation = piece.formation
        if formation in tables.AGAINST_CAVALRY:
            parts[formation] = tables.AGAINST_CAVALRY[formation]
        if any(state.board.ground.terrain_of(n) == "clear" for n in piece.hexes):
            parts["clear"] = tables.AGAINST_CAVALRY["clear"]
    if zone in ("flank", "rear"):
        parts["flank_or_rear"] = tables.FLANK_REACTION
    if is_in_command(state, piece):
        parts["in_command"] = tables.COMMAND_REACTION
    return Check(case, parts, state.morale(unit))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a die leads to: choices after a pass, Losses, hexes to withdraw, or a Rout."""

    total: int
    passed: bool
    offered: Units = ()
    losses: int = 0
    withdraw: int = 0
    rout: bool = False


def verdict_of(state: State, unit: str, movers: Sequence[str], check: Check, die: int) -> Verdict:
    """Returns the result of a reaction check (D-13.1A to D-13.1E)."""
    total = die + check.modifier
    if total <= check.morale:
        return Verdict(total, True, offered(state, unit, movers, check.case, total))
    if check.case == "A":
        is_rout = total >= tables.ROUT_TOTAL
        return Verdict(total, False, (), 2 if is_rout else 1, 0 if is_rout else 1, is_rout)
    if check.case in ("B", "D"):
        return Verdict(total, False, (), 0, 2)
    return Verdict(total, False, (), 2 if check.case == "C" else 1, 0, True)


def offered(
    state: State, unit: str, movers: Sequence[str], case: str, total: int, others: Units = ()
) -> Units:
    """Returns what a unit may do after it has passed; doing nothing is allowed (R-25)."""
    piece = state.piece(unit)
    may_fire = case in "ABC" and _target(state, piece, movers) is not None
    may_turn = case != "B" and not piece.disrupted and piece.formation != "square"
    may_attack = case in "ADE" and counter_hexes(state, piece, movers, others) is not None
    choices = []
    if may_fire:
        choices.append("fire")
    if may_attack:
        choices.append("counterattack")
    if may_fire and may_attack and case == "A" and total <= tables.BOTH_TOTAL:
        choices.append("fire+counterattack")
    if may_turn and len(piece.hexes) < 2:
        choices.append("turn")
    if case in "BD":
        choices.append("withdraw")
    return (*choices, "none")


def counter_hexes(
    state: State, piece: Piece, movers: Sequence[str], others: Units = ()
) -> Hexes | None:
    """Returns the hexes of a counterattack onto the mover, None if there is none (R-24, D-11.1.2).

    `others` are the units that counterattack with it.
    """
    if piece.disrupted or piece.formation == "square" or state.troop(piece.id).is_company:
        return None
    for other in others:
        one, two = stacked(state, state.piece(other)), stacked(state, piece)
        if (one.kind, one.formation) != (two.kind, two.formation):
            return None
    targets = {number for name in movers for number in state.piece(name).hexes}
    for turn_deg in TURNS_DEG["front"]:
        hexes = shifted(state.grid, piece.hexes, piece.facing_deg + turn_deg)
        if hexes is None or not targets.intersection(hexes):
            continue
        pairs = zip(piece.hexes, hexes, strict=True)
        crossable = all(state.board.may_cross(*pair) for pair in pairs)
        free = all(
            (state.board.is_passable(n) and (n in targets or not state.at(n))) or n in piece.hexes
            for n in hexes
        )
        if crossable and free:
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

    def left(self, state: State) -> tuple[Units, Units]:
        """Returns who must and who may still react: units that are there, to movers that are."""
        if not _still_there(state, self.movers):
            return (), ()

        def there(names: Units) -> Units:
            return tuple(
                n for n in names if state.piece(n).hexes and not state.in_clash(state.piece(n))
            )

        return there(self.must), there(self.may)

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the owner's choice of the next unit; a single one that must is not asked."""
        must, may = self.left(state)
        if len(must) + len(may) == 0 or (len(must) == 1 and not may):
            return None
        side = state.side((*must, *may)[0])
        return PendingDecision(f"Who reacts to {', '.join(self.movers)}?", side)

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns the units, and to let pass those that need not react."""
        must, may = self.left(state)
        acts = [React(name, "check") for name in must]
        for name in may:
            word = "fire" if state.troop(name).is_battery else "check"
            acts += [React(name, word), React(name, "none")]
        return tuple(acts)

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state with a unit's reaction due, or the counterattack of all."""
        must, may = self.left(state)
        if answer is None:
            if not must and not may:
                return _counterattack(state, self.movers, self.counter)
            answer = React(must[0], "check")
        rest = Reactions(
            self.movers, tuple(n for n in must if n != answer.unit),
            tuple(n for n in may if n != answer.unit), self.counter,
        )  # fmt: skip
        state = state.pushed(rest)
        if answer.choice == "none":
            return state, ()
        if answer.choice == "fire":
            target = _target(state, state.piece(answer.unit), self.movers)
            return (state, ()) if target is None else fired(state, (answer.unit,), target)
        return state.pushed(ReactionCheck(answer.unit, self.movers)), ()


def _still_there(state: State, movers: Units) -> bool:
    return any(state.piece(name).hexes and not state.in_clash(state.piece(name)) for name in movers)


class ReactionCheck(Due):
    """A unit's reaction check (D-13.1)."""

    unit: str
    movers: Units

    def roll(self, state: State) -> Roll:
        """Returns the die."""
        return die_for(f"reaction of {self.unit}")

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state after the check: a choice, or what its failure does to the stack."""
        movers = tuple(name for name in self.movers if state.piece(name).hexes)
        check = check_of(state, self.unit, movers)
        verdict = verdict_of(state, self.unit, movers, check, answer[0])
        parts = ", ".join(f"{name} {value:+d}" for name, value in check.modifiers.items())
        word = "passes" if verdict.passed else "fails"
        text = (
            f"{self.unit} {word} its reaction: {answer[0]} with {parts or 'no modifier'} "
            f"is {verdict.total} of {check.morale}"
        )
        facts = {"unit": self.unit, "total": verdict.total, "modifiers": dict(check.modifiers)}
        events: tuple[Event, ...] = (Event("reaction", text, f"D-13.1{check.case}", facts),)
        if verdict.passed:
            choice = ReactionChoice(self.unit, movers, check.case, verdict.total)
            return state.pushed(choice), events
        stack = tuple(
            piece.id for piece in state.stack(self.unit) if not state.troop(piece.id).is_battery
        )
        causes = tuple(state.piece(name).hexes for name in movers)
        if verdict.rout:
            for name in stack:
                state, more = with_losses(state, name, verdict.losses)
                events += more
            state, more = rout(state, stack, state.turn + 1, causes)
            return state, (*events, *more)
        for name in stack:
            state, more = with_losses(state, name, verdict.losses)
            events += more
        left = [name for name in stack if state.piece(name).hexes]
        state = state.pushed(*(Retreat(name, causes, verdict.withdraw) for name in left))
        shrinking = [Shrink(name) for name in left if shrunk(state, name)]
        return state.pushed(*shrinking), events


class ReactionChoice(Due):
    """What a unit does after it has passed its check."""

    unit: str
    movers: Units
    case: str
    total: int

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the owner's choice, none if it has no choice."""
        if len(self.legal(state)) < 2:
            return None
        return PendingDecision(f"What does {self.unit} do?", state.side(self.unit))

    def _counter(self, state: State) -> Units:
        waiting = state.due[-2] if len(state.due) > 1 and state.due[-1] is self else None
        if waiting is None and state.due:
            waiting = state.due[-1]
        return waiting.counter if isinstance(waiting, Reactions) else ()

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns the choices, with both ways to turn."""
        others = self._counter(state)
        acts = []
        for word in offered(state, self.unit, self.movers, self.case, self.total, others):
            if word == "turn":
                facing = state.piece(self.unit).facing_deg
                acts += [React(self.unit, word, (facing + turn) % 360) for turn in (60, -60)]
            else:
                acts.append(React(self.unit, word))
        return tuple(acts)

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state after the choice."""
        choice = "none" if answer is None else answer.choice
        events: tuple[Event, ...] = ()
        causes = tuple(state.piece(name).hexes for name in self.movers)
        if "counterattack" in choice:
            waiting = state.due[-1]
            assert isinstance(waiting, Reactions)
            joined = replace(waiting, counter=(*waiting.counter, self.unit))
            state = replace(state, due=(*state.due[:-1], joined))
        if self.case == "B" and choice == "fire":
            state = state.pushed(Retreat(self.unit, causes, 1, True))
        if choice == "withdraw":
            state = state.pushed(Retreat(self.unit, causes, 1))
        if choice.startswith("fire"):
            target = _target(state, state.piece(self.unit), self.movers)
            if target is not None:
                state, events = fired(state, (self.unit,), target)
        if choice == "turn":
            for piece in state.stack(self.unit):
                if not state.troop(piece.id).is_battery:
                    state = state.with_piece(piece.id, facing_deg=answer.facing_deg)
            events = (Event("turn", f"{self.unit} turns", "D-13.1", {"unit": self.unit}),)
        return state, events


def _counterattack(state: State, movers: Units, units: Units) -> Outcome:
    """Returns the state with the counterattacking units on the mover's hex, the Clash due."""
    attackers: list[str] = []
    hexes: set[str] = set()
    for name in units:
        for piece in state.stack(name):
            to = counter_hexes(state, piece, movers, tuple(attackers))
            if state.troop(piece.id).is_battery or to is None:
                continue
            old = piece.hexes
            state = state.with_piece(piece.id, hexes=to, entered_from=old, how="counterattack")
            attackers.append(piece.id)
            hexes.update(to)
    targets = {n for name in movers for n in state.piece(name).hexes}
    clash = tuple(sorted(hexes & targets))
    if not attackers or not clash:
        return state, ()
    state = replace(state, movers=())
    for name in movers:
        if state.piece(name).hexes:
            state = state.with_piece(name, done=True)
    side = enemy_of(state.side(attackers[0]))
    defenders = tuple(dict.fromkeys(p.id for n in clash for p in state.at(n, side)))
    combat = Combat(clash, tuple(attackers), defenders, "counterattack")
    text = f"{', '.join(attackers)} counterattacks {', '.join(defenders)}"
    state, events = begun(state, combat)
    return state, (Event("counterattack", text, "D-12.12.1"), *events)
