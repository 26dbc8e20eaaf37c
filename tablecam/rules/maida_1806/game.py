"""Plays whole games: decisions, legal actions, their results, and what each seat may know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import Any, Final

from pydantic import TypeAdapter

from tablecam.errors import BadInput
from tablecam.geometry.shapes import Shape
from tablecam.rules import descriptions as about
from tablecam.rules.dice import Roll, values_of
from tablecam.rules.frozen_json import from_plain, one_of, renamed, to_plain
from tablecam.rules.game import Event, Game, Json, Offer, PendingDecision, Refused, Suggestion
from tablecam.rules.game_files import GameFile
from tablecam.rules.hexes.counters import place_of
from tablecam.rules.lay import Lay
from tablecam.rules.maida_1806 import clash, hands, page, sequence
from tablecam.rules.maida_1806 import state as acts
from tablecam.rules.maida_1806.board import FILE_MODELS, Board, board_from
from tablecam.rules.maida_1806.state import LeaderPiece, Outcome, State, unit_state
from tablecam.rules.maida_1806.tables import GAME as NAME
from tablecam.rules.maida_1806.troops import SIDES, Piece
from tablecam.table.model import (
    Keys,
    LengthUnit,
    Position,
    TableNeeds,
    TableSize,
    Unit,
    hexes,
    preferred_unit,
)
from tablecam.table.sides import side_name

_ACTIONS: Final = one_of(
    Roll, Lay, acts.ChoosePool, acts.Draw, acts.Activate, acts.Move, acts.Halt, acts.Form,
    acts.Detach, acts.Reorder, acts.Fire, acts.React, acts.Charge, acts.Withdraw, acts.ClashIn,
    acts.Losses, acts.Face, acts.KeepHex, acts.MoveLeader, acts.Place, acts.Pass, acts.Decide,
    acts.Overrule,
)  # fmt: skip

_STATES: Final = TypeAdapter(State)


class Maida(Game[State, Any]):
    """Maida 1806, on hexes, with the charts, the map and the counters of its owner."""

    name: Final = NAME

    # Description.

    @property
    def file_models(self) -> Mapping[str, type[GameFile]]:
        """The charts, the map and the scenario."""
        return MappingProxyType(FILE_MODELS)

    def counter_label(self, unit: Unit, face: Keys, files: Mapping[str, Any]) -> about.CounterLabel:
        """Returns a counter's Strength, halved on its back (D-3.4h), and its formation."""
        listed = files.get("scenario", {}).get("unit", ())
        full = next((u.get("full_strength") for u in listed if u["id"] == unit.id), None)
        reduced = bool(face.get("reduced"))
        strength = "" if full is None else str(full // 2 if reduced else full)
        return about.CounterLabel(strength, str(face.get("formation", "")))

    @property
    def counters_stack(self) -> bool:
        """Counters lie on each other."""
        return True

    @property
    def table_needs(self) -> TableNeeds:
        """It needs a printed hex map."""
        return TableNeeds(hex_map=True, edges=True)

    @property
    def action_groups(self) -> Mapping[str, about.ActionGroup]:
        """The headings of actions."""
        return MappingProxyType(page.GROUPS)

    @property
    def moments(self) -> Mapping[str, about.MomentKind]:
        """What players look for in a replay."""
        return MappingProxyType(page.MOMENTS)

    def length_unit(self, table: TableSize) -> LengthUnit:
        """Returns the hex."""
        return preferred_unit(table) if table.hex_map is None else hexes(table.hex_map)

    def standing(self, public: Json) -> about.Standing:
        """Returns the turn, whose activation it is, and the Victory Points."""
        return page.standing(public)

    def markers(self, unit_state: Keys) -> tuple[about.Marker, ...]:
        """Returns a unit's markers."""
        return page.markers(unit_state)

    def begin_form(self, sides: Any) -> tuple[about.BeginField, ...]:
        """Returns the choice between the owner's files and the house sample."""
        return page.begin_form()

    def settings(self, state: State) -> tuple[about.Setting, ...]:
        """Returns what players may overrule."""
        return page.settings(state)

    def offered(self, state: State, action: Any) -> Offer:
        """Returns a legal action as a page shows it."""
        return page.offered(state, action)

    def step_shapes(self, state: State) -> tuple[Shape, ...]:
        """Returns the fields and hexes that what is due depends on."""
        return page.step_shapes(state)

    # The game.

    def begin(self, position: Position, options: Mapping[str, Any]) -> State:
        """Returns the first state: each counter in the hex that the scenario states (D-17.0a).

        Raises:
            BadInput: A file is missing or wrong, or the table has other units.
        """
        if position.table.hex_map is None:
            raise BadInput("position", "expected where the hexes lie", key="map")
        for key in options:
            if key not in (*FILE_MODELS, "begin"):
                expected = ", ".join((*FILE_MODELS, "begin"))
                raise BadInput("options", f"expected one of {expected}", key=key)
        board = board_from(options, position.table.hex_map)
        for unit in position.units:
            if unit.id not in board.troops and "box_mm" not in unit.extra:
                raise BadInput("position", f"expected a unit of the scenario, got {unit.id}")
        state = State(
            position, {key: options[key] for key in FILE_MODELS}, _pieces(board), _leaders(board)
        )
        state = _begun_later(sequence.turn_begun(state), options.get("begin") or {})
        return settled(state)[0]

    def asked(self, state: State) -> PendingDecision:
        """Returns what is due, or what the phase asks."""
        if state.phase == "over":
            charts = state.board.chart("victory").automatic.model_dump()
            words = sequence.winner_words(state.board.turns, state.board.turns, state.vp, charts)
            return PendingDecision(words, is_over=True)
        if state.due:
            due = state.due[-1]
            roll, decision = due.roll(state), due.asked(state)
            return decision if roll is None and decision else PendingDecision(str(roll))
        return page.question(state)

    def legal(self, state: State) -> tuple[Any, ...]:
        """Lists the actions, of moves single steps."""
        if state.phase == "over":
            return ()
        if state.due:
            due = state.due[-1]
            roll = due.roll(state)
            return due.legal(state) if roll is None else (roll,)
        if state.phase == "draw":
            return (acts.Draw(),)
        if state.phase == "activate":
            return sequence.activations(state)
        if state.phase == "movement":
            choices = tuple(dict.fromkeys(sequence.movement_choices(state)))
            return choices if state.movers else (*choices, acts.Pass())
        if state.phase == "leaders":
            return (*sequence.leader_moves(state), acts.Pass())
        return tuple(
            acts.ClashIn(combat.hexes, combat.attackers, combat.defenders)
            for combat in sequence.open_combats(state)
        )

    def apply(self, state: State, action: Any) -> Outcome:
        """Returns the next state and the events.

        Raises:
            Refused: The action is not legal now.
        """
        if isinstance(action, Lay):
            bases = {name: laid[0] for name, laid in action.units.items() if len(laid) == 1}
            return replace(state, lies={**state.lies, **bases}), ()
        if isinstance(action, acts.Overrule):
            after, events = hands.overruled(state, action)
        elif state.phase == "over":
            raise Refused("expected nothing more: the game is over")
        elif state.due:
            after, events = _answered(state, action)
        else:
            after, events = _acted(state, action)
        after, more = settled(after)
        return after, (*events, *more)

    def settle(self, state: State, action: Any, chance: Random) -> Any:
        """Returns a roll with its dice, and a draw with its chit."""
        if isinstance(action, acts.Draw) and action.leader is None and state.pool:
            return acts.Draw(chance.choice(state.pool))
        return action.rolled(chance) if isinstance(action, Roll) else action

    def agreed_on(self, state: State, action: Any) -> str:
        """Returns what both sides agree to: that this chit was drawn by hand."""
        if isinstance(action, acts.Draw) and action.leader is not None:
            return f"{action.leader} was drawn"
        return ""

    def passed(self, state: State) -> Any | None:
        """Returns the pass of the side in its slot."""
        is_open = state.phase == "movement" and not state.due and not state.movers
        return acts.Pass() if is_open else None

    def detect_moves(self, state: State, position: Position) -> tuple[Suggestion, ...]:
        """Infers the moves that hands made from where the counters lie."""
        return hands.detect_moves(state, position)

    def adopt_positions(self, state: State, position: Position) -> Any | None:
        """Returns where counters really lie within the hexes that the game has them in."""
        there = {}
        for unit in position.units:
            piece = next((p for p in state.pieces if p.id == unit.id), None)
            if piece is None or len(unit.bases) != 1 or state.lies.get(unit.id) == unit.bases[0]:
                continue
            place = place_of(state.grid, unit.bases[0])
            if (place.hexes, place.facing_deg) == (piece.hexes, piece.facing_deg):
                there[unit.id] = unit.bases
        return Lay(there) if there and not state.due else None

    def position(self, state: State) -> Position:
        """Returns the table according to the game."""
        return hands.position_of(state)

    # Documents.

    def seen_by(self, state: State, seat: str | None) -> Json:
        """Returns what a seat may know: of the pool its own chits, and how many there are."""
        document: Json = to_plain(replace(state, pool=(), lies={}))
        for key in ("options", "position"):
            del document[key]
        own = [name for name in state.pool if state.leader_side(name) == seat]
        document["pool"] = {"own": own, "chits": len(state.pool)}
        document["in_slot"] = state.in_slot
        document["active"] = state.active if state.drawn else None
        document["units"] = {piece.id: unit_state(state, piece) for piece in state.pieces}
        document["house"] = any(
            isinstance(file, Mapping) and file.get("source") == "house"
            for file in state.options.values()
        )
        return document

    def state_to_json(self, state: State) -> Json:
        """Returns the JSON value of a state."""
        document: Json = to_plain(state)
        return document

    def state_from_json(self, data: object) -> State:
        """Parses a state."""
        state: State = from_plain(_STATES, data, "state")
        return state

    def action_to_json(self, action: Any) -> Json:
        """Returns the JSON value of an action."""
        document: Json = to_plain(action)
        return document

    def action_from_json(self, data: object) -> Any:
        """Parses an action."""
        return from_plain(_ACTIONS, renamed(data, "for", "for_"), "action")


def _pieces(board: Board) -> tuple[Piece, ...]:
    assert board.scenario is not None
    pieces = []
    for unit in board.scenario.unit:
        troop = board.troops[unit.id]
        hexes = tuple(number for number in (unit.hex, unit.second_hex) if number is not None)
        formation = "battery" if troop.is_battery else unit.formation or "column"
        if troop.is_company:
            formation = "skirmish"
        facing = unit.facing_deg if unit.facing_deg is not None else board.grid.facings_deg[0]
        pieces.append(Piece(unit.id, hexes, formation, facing))
    return tuple(pieces)


def _leaders(board: Board) -> tuple[LeaderPiece, ...]:
    assert board.scenario is not None
    return tuple(LeaderPiece(leader.id, leader.hex) for leader in board.scenario.leader)


def _begun_later(state: State, begin: Mapping[str, Any]) -> State:
    """Returns the state in the middle of a game, as `begin` states it."""
    known = ("turn", "phase", "subphase", "active_side", "active_leader", "pool", "vp")
    for key in begin:
        if key not in known:
            raise BadInput("options", f"expected one of {', '.join(known)}", key=f"begin.{key}")
    turn, vp = begin.get("turn", 1), begin.get("vp", 0)
    if not isinstance(turn, int) or not 1 <= turn <= state.board.turns:
        raise BadInput("options", f"expected 1 to {state.board.turns}", key="begin.turn")
    if not isinstance(vp, int):
        raise BadInput("options", "expected a number, positive for the French", key="begin.vp")
    state = replace(state, turn=turn, vp=vp)
    if "pool" in begin:
        state = replace(state, pool=tuple(begin["pool"]), phase="draw", chosen=SIDES)
    leader = begin.get("active_leader")
    if leader is None:
        return state
    if leader not in state.board.leaders:
        raise BadInput("options", f"expected a leader, got {leader}", key="begin.active_leader")
    state, _ = sequence.drawn(state, leader)
    return sequence.activated(state, acts.Activate(leader))[0]


def settled(state: State) -> Outcome:
    """Returns the state at the next decision or dice, with all that happens until then."""
    events: tuple[Event, ...] = ()
    while state.phase != "over":
        if state.due:
            due = state.due[-1]
            if due.roll(state) is not None or due.asked(state) is not None:
                return state, events
            state, more = due.follow(replace(state, due=state.due[:-1]), None)
            events += more
            continue
        state, more = sequence.recaptured(state)
        events += more
        followed = sequence.automatic(state)
        if followed is None:
            return state, events
        state, more = followed
        events += more
    return state, events


def _answered(state: State, action: Any) -> Outcome:
    due, below = state.due[-1], replace(state, due=state.due[:-1])
    roll = due.roll(state)
    outcome: Outcome
    if roll is not None:
        outcome = due.follow(below, values_of(action, roll))
    elif due.takes(state, action):
        outcome = due.follow(below, action)
    else:
        raise Refused(f"expected one of {len(due.legal(state))} answers", rule=due.rule or None)
    return outcome


def _acted(state: State, action: Any) -> Outcome:
    """Returns what follows from an action when nothing is due."""
    if state.phase == "draw" and isinstance(action, acts.Draw):
        if action.leader not in state.pool:
            raise Refused("expected a chit of the pool", rule="D-3.3b")
        return sequence.drawn(state, action.leader)
    if state.phase == "activate" and action in sequence.activations(state):
        return sequence.activated(state, action)
    if state.phase == "movement":
        return sequence.movement_action(state, action)
    if state.phase == "leaders":
        return _leaders_act(state, action)
    combats = sequence.open_combats(state) if state.phase == "clash" else ()
    for combat in combats:
        if action == acts.ClashIn(combat.hexes, combat.attackers, combat.defenders):
            return clash.begun(state, combat)
    raise Refused(f"expected an answer to: {page.question(state).question}")


def _leaders_act(state: State, action: Any) -> Outcome:
    if isinstance(action, acts.Pass):
        return replace(state, phase="clash", fought=()), ()
    if action not in sequence.leader_moves(state):
        raise Refused("expected a leader's hex within 9, free of enemies", rule="D-12.8")
    state = state.with_leader(action.leader, hex=action.to, has_moved=True)
    side = side_name(state.leader_side(action.leader))
    text = f"{action.leader} of the {side} goes to {action.to}"
    return state, (Event("leader-move", text, "D-3.3b", {"leader": action.leader}),)


GAME: Final = Maida()
"""The game that other modules look up."""
