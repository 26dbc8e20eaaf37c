"""Plays whole games: decisions, legal actions, their results, and what each seat may know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter

from tablecam.documents import Json, document_from
from tablecam.errors import BadInput
from tablecam.geometry.shapes import Shape
from tablecam.rules import descriptions as about
from tablecam.rules.dice import Roll
from tablecam.rules.frozen_json import one_of
from tablecam.rules.hexes.hex_game import HexGame, HexOptions
from tablecam.rules.lay import Lay
from tablecam.rules.maida_1806 import hands, page, sequence
from tablecam.rules.maida_1806 import state as acts
from tablecam.rules.maida_1806.board import FILE_MODELS
from tablecam.rules.maida_1806.state import State, first_counters, unit_state
from tablecam.rules.maida_1806.tables import GAME as NAME
from tablecam.rules.maida_1806.troops import SIDES, Side
from tablecam.rules.steps import Decide
from tablecam.table.model import Keys, Position, TableNeeds, Unit
from tablecam.table.sections import Name, StrictModel


class Maida(HexGame[State]):
    """Maida 1806, on hexes, with the charts, the map and the counters of its owner."""

    name: Final = NAME
    title: Final = "Maida 1806"
    actions = one_of(Roll, Lay, Decide, acts.Act)
    states = TypeAdapter(State)
    action_groups = page.GROUPS
    moments = page.MOMENTS
    table_needs = TableNeeds(hex_map=True, edges=True)
    file_models = FILE_MODELS
    standing = staticmethod(page.standing)
    markers = staticmethod(page.markers)
    settings = staticmethod(page.settings)
    offers = page.OFFERS
    question = staticmethod(page.question)
    outcome = staticmethod(sequence.outcome)
    goes_on = staticmethod(sequence.automatic)
    why_not = sequence.WHY_NOT
    detect_moves = staticmethod(hands.detect_moves)

    # Description.

    def counter_label(self, unit: Unit, face: Keys, files: Mapping[str, Any]) -> about.CounterLabel:
        """Returns a counter's Strength, halved on its back (D-3.4h), and its formation."""
        listed = files.get("scenario", {}).get("unit", ())
        full = next((u.get("full_strength") for u in listed if u["id"] == unit.id), None)
        reduced = bool(face.get("reduced"))
        strength = "" if full is None else str(full // 2 if reduced else full)
        return about.CounterLabel(strength, str(face.get("formation", "")))

    def step_shapes(self, state: State) -> tuple[Shape, ...]:
        """Returns what is due, or where the units that are moving may go."""
        moves = not state.due and (state.movers or state.phase == "leaders")
        return hands.reached(state) if moves else super().step_shapes(state)

    # The game.

    def choices(self, state: State) -> tuple[Any, ...]:
        """Returns what the phase allows, and the stacks that may be looked into."""
        return (*sequence.CHOICES[state.phase](state), *hands.stacks_to_spread(state))

    def units_of(self, state: State, side: str | None) -> list[str]:
        """Returns the units that are moving, or those of a side on the map, without its boxes."""
        return [*state.movers] or [
            piece.id for piece in state.on_map() if state.side(piece.id) == side
        ]

    def begun(self, position: Position, options: Mapping[str, Any]) -> State:
        """Returns the state at the beginning (D-17.0a), or in the middle of a game."""
        begin = document_from(options, "options").parsed(Options).begin or Begin()
        files = {kind: options[kind] for kind in FILE_MODELS if kind in options}
        empty = State(position, files, (), ())
        pieces, leaders = first_counters(empty.board)
        state = replace(empty, pieces=pieces, leaders=leaders)
        return _begun(sequence.turn_begun(state), begin)

    def marked(self, state: State, action: acts.Overrule) -> State:
        """Returns the state with what players set of units and points."""
        for name in action.off:
            state = acts.eliminated(state, name, "overrule")
        for mark in ("losses", "disrupted", "fires"):
            for name, value in getattr(action, mark).items():
                state = state.with_piece(name, **{mark: value})
        vp = state.vp if action.vp is None else action.vp
        return replace(state, vp=vp, movers=state.left(state.movers))

    def acted(self, state: State, action: Any) -> State:
        """Returns what follows from an action when nothing is due."""
        follow = hands.spread_begun if isinstance(action, hands.Spread) else sequence.acted
        return follow(state, action)

    def settle(self, state: State, action: Any, chance: Random) -> Any:
        """Returns a roll with its dice, and a draw with its chit."""
        if isinstance(action, acts.Draw) and action.leader is None and state.pool:
            return acts.Draw(chance.choice(state.pool))
        return super().settle(state, action, chance)

    def agreed_on(self, state: State, action: Any) -> str:
        """Returns what both sides agree to: that this chit was drawn by hand."""
        is_named = isinstance(action, acts.Draw) and action.leader is not None
        return f"{action.leader} was drawn" if is_named else ""

    def forced(self, state: State) -> Any | None:
        """Returns the draw of the last chit, the only way to go on, or the only answer."""
        is_open = state.step is None
        if is_open and state.phase == "draw" and len(state.pool) == 1:
            return acts.Draw()
        going_on = tuple(sequence.movement_choices(state)) if is_open and state.movers else ()
        return going_on[0] if len(going_on) == 1 else super().forced(state)

    def passed(self, state: State) -> Any | None:
        """Returns the pass of the side in its slot."""
        is_open = state.phase == "movement" and not state.due and not state.movers
        return acts.Pass() if is_open else None

    def seen_by(self, state: State, seat: str | None) -> Json:
        """Returns what a seat may know: of the pool its own chits, and how many there are."""
        own = [name for name in state.pool if state.leader_side(name) == seat]
        return super().seen_by(replace(state, pool=()), seat) | {
            "pool": {"own": own, "chits": len(state.pool)},
            "in_slot": state.in_slot,
            "active": state.active if state.drawn else None,
            "units": {piece.id: unit_state(state, piece) for piece in state.pieces},
        }


class Begin(StrictModel):
    """Where a game begins in its middle; `vp` is positive for the French."""

    turn: Annotated[int, Field(ge=1)] = 1
    vp: int = 0
    pool: list[Name] | None = None
    active_leader: Name | None = None
    phase: Literal["pool", "draw", "activation"] | None = None
    subphase: Literal["movement", "leaders", "clash"] | None = None
    active_side: Side | None = None


class Options(HexOptions):
    """What a game begins with: its files, which `board_from` checks, and where it begins."""

    begin: Begin | None = None


def _begun(state: State, begin: Begin) -> State:
    """Returns the state in the middle of a game."""
    if begin.turn > state.board.turns:
        raise BadInput("options", f"expected 1 to {state.board.turns}", key="begin.turn")
    state = replace(state, turn=begin.turn, vp=begin.vp)
    if begin.pool is not None:
        state = replace(state, pool=tuple(begin.pool), phase="draw", chosen=SIDES)
    leader, phase = begin.active_leader, state.phase
    if leader is not None:
        if leader not in state.board.leaders:
            raise BadInput("options", f"expected a leader, got {leader}", key="begin.active_leader")
        state, phase = sequence.drawn(state, leader), "activation"
        state = sequence.activated(state, acts.Activate(leader))
    for key in ("subphase", "active_side"):
        if leader is None and getattr(begin, key) is not None:
            raise BadInput("options", "expected begin.active_leader beside it", key=f"begin.{key}")
    if begin.phase not in (None, phase):
        why = f"expected {phase}, where its pool and leader lead, got {begin.phase}"
        raise BadInput("options", why, key="begin.phase")
    if begin.active_side is not None:
        state = replace(state, slot=int(begin.active_side == state.active))
    if begin.subphase in ("leaders", "clash"):
        state = sequence.movement_ended(state)
    return sequence.clash_phase(state) if begin.subphase == "clash" else state


GAME: Final = Maida()
"""The game that other modules look up."""
