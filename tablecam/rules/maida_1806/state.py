"""A game between two actions: the units and leaders, whose slot it is, and what is due."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from tablecam.rules.frozen_json import Variant
from tablecam.rules.game import Refused
from tablecam.rules.hexes.grid import Hex
from tablecam.rules.hexes.hex_game import Counter, HexOverrule, HexState
from tablecam.rules.hexes.zones import Hexes
from tablecam.rules.maida_1806 import tables, troops
from tablecam.rules.maida_1806.board import Board, board_from
from tablecam.rules.maida_1806.troops import SIDES, Piece, Troop
from tablecam.rules.steps import Events, Step
from tablecam.table.model import BasePose, Position

Units = tuple[str, ...]


@dataclass(frozen=True)
class MoveStep:
    """A step of a move: into `to` (left and right hex of a wide line), a turn, or a wheel."""

    to: Hexes = ()
    turn: int = 0
    wheel: Literal["left", "right"] | None = None
    backward: bool = False


class Act(Variant, is_family=True):
    """What players do."""


class ChoosePool(Act, type="choose_pool"):
    """Put leaders into the Activation Pool in secret (D-17.0c)."""

    side: str
    leaders: Units


class Draw(Act):
    """Draw a chit; players name the leader that they drew by hand (D-3.3b)."""

    leader: str | None = None


class Activate(Act):
    """Let the Overall Commander activate a leader, or a dead leader's units (D-4.3, D-4.4)."""

    leader: str = ""
    units_of: str = ""


class Move(Act):
    """Move a unit, a stack or a line of units, step by step (D-12)."""

    units: Units
    steps: tuple[MoveStep, ...]
    double_march: bool = False


class Halt(Act):
    """End the move of the units that are moving."""


class Form(Act, type="formation"):
    """Change a unit's formation (D-6, D-7.1)."""

    unit: str
    to: Literal["line", "column", "square"]
    facing_deg: int
    hexes: Hexes


class Detach(Act):
    """Detach companies of a Light Battalion (D-8.2)."""

    unit: str
    companies: Units


class Reorder(Act):
    """Change the order of a stack, the top unit first (D-11.0)."""

    hex: Hex
    order: Units


class Fire(Act):
    """Fire with a unit, or jointly with several (D-14)."""

    units: Units
    target: str


class React(Act):
    """Choose what a unit does after its reaction check, or which unit reacts next (D-13).

    A turn has its facing, a wheel its hexes as well.
    """

    unit: str
    choice: str
    facing_deg: int | None = None
    hexes: Hexes = ()


class Charge(Act):
    """Charge an enemy's hex with cavalry (D-9.2)."""

    units: Units
    target: Hex


class Withdraw(Act):
    """Withdraw a unit or a leader by one hex (D-14.11); no hexes: a leader stays."""

    unit: str
    to: Hexes = ()


class ClashIn(Act, type="clash"):
    """Fight the Clash of some hexes with the attackers who take part (D-15.7a)."""

    hexes: Hexes
    attackers: Units
    defenders: Units


class Losses(Act):
    """Spread the Losses of a side (D-15.8)."""

    side: str
    losses: Mapping[str, int]


class Face(Act):
    """Face the winners of a Clash anywhere (D-15.8)."""

    units: Units
    facing_deg: int


class KeepHex(Act, type="keep-hex"):
    """Keep one of the two hexes of a line that has become too small for both (D-6.3.4)."""

    unit: str
    hex: Hex


class MoveLeader(Act, type="move_leader"):
    """Move a leader (D-3.3b)."""

    leader: str
    to: Hex


class Place(Act):
    """Place a unit that returns or enters (D-15.11.4, D-17.0b)."""

    unit: str
    hexes: Hexes
    facing_deg: int


class Pass(Act):
    """Let the slot or the subphase pass."""


class Overrule(Act, HexOverrule):
    """Set the table and the state, against any rule."""

    vp: int | None = None
    losses: Mapping[str, int] = field(default_factory=dict)
    disrupted: Mapping[str, bool] = field(default_factory=dict)
    fires: Mapping[str, int] = field(default_factory=dict)


class Due(Step, is_family=True):
    """What must be settled before the game goes on: about its `unit`, or those of its `units`."""

    faces = (tables.DIE_FACES, 0)

    def names(self, state: State) -> Units:
        """Returns whom it is still about."""
        unit = getattr(self, "unit", None)
        return state.left(getattr(self, "units", () if unit is None else (unit,)))

    def owner(self, state: State) -> str:
        """Returns its side, or that of the first unit."""
        own: str | None = getattr(self, "side", None)
        return own or state.side(getattr(self, "unit", None) or self.names(state)[0])

    def automatic(self, state: State) -> State | None:
        """Returns what follows by itself; dice for those who have all left the map are none."""
        is_void = bool(self.dice) and not self.names(state)
        return state.below() if is_void else super().automatic(state)


@dataclass(frozen=True, slots=True)
class LeaderPiece:
    """A leader in play; a dead one is out of the game, an injured one cannot be activated."""

    id: str
    hex: Hex | None = None
    dead: bool = False
    injured: bool = False
    activated: bool = False
    has_moved: bool = False


@dataclass(frozen=True)
class State(HexState):
    """A game. `pieces` lie in the order of their stacks, the top ones first.

    `vp` is positive for the French. `pool` are the chits not yet drawn, `chosen` the sides that
    have chosen theirs. `drawn` is the leader of the activation, `commanding` the one whose units
    act, or the dead one in `units_of`. `movers` are the units in the middle of a move. `lies` are
    counters as they really lie within their hexes. `given` is the board of a question.
    """

    position: Position
    options: Mapping[str, Any] = field(hash=False)
    pieces: tuple[Piece, ...]
    leaders: tuple[LeaderPiece, ...]
    turn: int = 1
    vp: int = 0
    phase: str = "pool"
    pool: Units = ()
    chosen: Units = ()
    drawn: str = ""
    commanding: str = ""
    units_of: str = ""
    slot: int = 0
    passes: int = 0
    movers: Units = ()
    fought: Units = ()
    due: tuple[Due, ...] = ()
    lies: Mapping[str, BasePose] = field(default_factory=dict, hash=False)
    given: Any = field(default=None, compare=False, repr=False)
    told: Events = field(default=(), compare=False)

    @cached_property
    def board(self) -> Board:
        """The map, the charts and the counters."""
        given: Board | None = self.given
        return given or board_from(self.options, self.hex_map)

    # Units.

    @cached_property
    def _by_id(self) -> Mapping[str, Piece]:
        return {piece.id: piece for piece in self.pieces}

    @cached_property
    def _by_hex(self) -> Mapping[Hex, list[Piece]]:
        there: dict[Hex, list[Piece]] = {}
        for piece in self.on_map():
            for number in piece.hexes:
                there.setdefault(number, []).append(piece)
        return there

    def piece(self, name: str) -> Piece:
        """Returns a unit.

        Raises:
            Refused: There is no such unit.
        """
        if name not in self._by_id:
            raise Refused(f"expected a unit, got {name}")
        return self._by_id[name]

    def both(self, name: str) -> tuple[Troop, Piece]:
        """Returns what a unit's counters print, and the unit."""
        piece = self.piece(name)
        return self.board.troops[name], piece

    def troop(self, name: str) -> Troop:
        """Returns what a unit's counters print."""
        return self.both(name)[0]

    def side(self, name: str) -> str:
        """Returns a unit's side."""
        return self.board.troops[name].side

    def strength(self, name: str) -> int:
        """Returns a unit's current Strength."""
        return troops.strength_of(*self.both(name))

    def needs_two_hexes(self, name: str) -> bool:
        """Whether a battalion in Line lies on two hexes by its Strength (D-6.2)."""
        return troops.needs_two_hexes(self.troop(name), self.strength(name))

    def enemy(self, name: str) -> str:
        """Returns the side of a unit's enemies."""
        return enemy_of(self.side(name))

    def morale(self, name: str) -> int:
        """Returns a unit's current Morale."""
        return troops.morale_of(*self.both(name))

    def at(self, number: Hex, side: str | None = None) -> tuple[Piece, ...]:
        """Returns the units in a hex, of one side or of both, the top ones first."""
        there = self._by_hex.get(number, ())
        return tuple(piece for piece in there if side is None or self.side(piece.id) == side)

    def on_map(self, side: str | None = None) -> Iterator[Piece]:
        """Yields the units on the map, of one side or of both; captured guns count no more."""
        for piece in self.pieces:
            own = self.side(piece.id)
            if piece.hexes and side in (None, own) and piece.captured_by in (None, own):
                yield piece

    def left(self, names: Iterable[str]) -> Units:
        """Returns those of some units that lie on the map."""
        return tuple(name for name in names if self.piece(name).hexes)

    def places(self, names: Iterable[str]) -> tuple[Hexes, ...]:
        """Returns the hexes of those of some units that lie on the map."""
        return tuple(self.piece(name).hexes for name in self.left(names))

    def foot(self, names: Iterable[str]) -> Units:
        """Returns those of some units that are no batteries."""
        return tuple(name for name in names if not self.troop(name).is_battery)

    def stack(self, name: str) -> tuple[Piece, ...]:
        """Returns the friends in a unit's hexes, itself among them, the top one first."""
        hexes = set(self.piece(name).hexes)
        side = self.side(name)
        return tuple(p for p in self.on_map(side) if hexes.intersection(p.hexes))

    def is_free(self, number: Hex, enemy: str) -> bool:
        """Whether a hex may be entered and holds no unit of the enemy."""
        return self.board.is_passable(number) and not self.at(number, enemy)

    def is_clash(self, number: Hex) -> bool:
        """Whether a hex holds units of both sides (D-3.4e)."""
        return len({self.side(piece.id) for piece in self.at(number)}) > 1

    def in_clash(self, piece: Piece) -> bool:
        """Whether a unit lies in a Clash Hex."""
        return any(self.is_clash(number) for number in piece.hexes)

    def is_covered(self, name: str) -> bool:
        """Whether a unit lies under another one of its side."""
        return any(top.id != name for top in self.stack(name)[:1])

    # Leaders.

    def leader(self, name: str) -> LeaderPiece:
        """Returns a leader.

        Raises:
            Refused: There is no such leader.
        """
        for leader in self.leaders:
            if leader.id == name:
                return leader
        raise Refused(f"expected a leader, got {name}")

    def leader_side(self, name: str) -> str:
        """Returns a leader's side."""
        return self.board.leaders[name]

    def leaders_of(self, side: str) -> tuple[LeaderPiece, ...]:
        """Returns the leaders of a side."""
        return tuple(leader for leader in self.leaders if self.leader_side(leader.id) == side)

    def leaders_at(self, number: Hex, side: str | None = None) -> tuple[LeaderPiece, ...]:
        """Returns the leaders in a hex."""
        there = (leader for leader in self.leaders if leader.hex == number)
        return tuple(one for one in there if side in (None, self.leader_side(one.id)))

    def is_oc(self, name: str) -> bool:
        """Whether a leader is an Overall Commander."""
        return name in self.board.overall_commander.values()

    @property
    def led(self) -> frozenset[str]:
        """The leaders who have a unit that is not eliminated."""
        troops = self.board.troops
        return frozenset(troops[piece.id].leader for piece in self.pieces if not piece.eliminated)

    # Whose move it is.

    @property
    def active(self) -> str:
        """The side whose leader is activated; the first before a chit is drawn."""
        return self.leader_side(self.drawn) if self.drawn else SIDES[0]

    @property
    def in_slot(self) -> str:
        """The side that fires or moves now; the other one begins (D-14.5)."""
        return self.active if self.slot or self.movers else enemy_of(self.active)

    @cached_property
    def active_units(self) -> Units:
        """The units that the activated leader commands, on the map or not (D-4.1, D-4.3, D-4.5)."""
        if not self.drawn:
            return ()
        whose, is_oc = self.units_of or self.commanding, self.is_oc(self.drawn)
        own = (self.board.troops[name] for name in self.board.troops if name in self._by_id)
        own = (troop for troop in own if troop.side == self.active)
        return tuple(t.id for t in own if t.leader == whose or (t.acts_with_oc and is_oc))

    # Counters.

    @property
    def names(self) -> Iterable[str]:
        """The ids of all units."""
        return self._by_id.keys()

    def face(self, piece: Piece) -> dict[str, Any]:
        """Returns the keys of the printed face that a unit should show (D-G13, D-6.3.6)."""
        reduced = troops.is_reduced(self.board.troops[piece.id], piece)
        face = {"hexes": len(piece.hexes), "reduced": reduced}
        # A Square is a marker on any of its counters for one hex.
        return face if piece.formation == "square" else face | {"formation": piece.formation}

    def counters_on_map(self) -> Iterator[Counter]:
        """Yields the counters of the units on the map."""
        for piece in self.pieces:
            troop = self.board.troops[piece.id]
            if piece.hexes:
                yield Counter(
                    piece.id, troop.side, piece.hexes, unit_state(self, piece), piece.facing_deg,
                    self.face(piece), troop.arm, piece.formation, self.is_covered(piece.id),
                )  # fmt: skip

    def leaders_on_map(self) -> Iterator[Counter]:
        """Yields the counters of the leaders on the map."""
        for leader in self.leaders:
            if leader.hex is not None:
                marks = {"injured": True} if leader.injured else {}
                yield Counter(leader.id, self.leader_side(leader.id), (leader.hex,), marks)

    # Other states.

    def with_piece(self, name: str, **marks: Any) -> State:
        """Returns the state with a changed unit; one in other hexes goes under what lies there."""
        return self.put(replace(self.piece(name), **marks))

    def put_down(self, name: str, hexes: Hexes, facing_deg: int) -> State:
        """Returns the state with a unit or a leader where players put it, whatever was."""
        if name in self.board.leaders:
            return self.with_leader(name, hex=hexes[0], dead=False)
        return self.with_piece(
            name, hexes=hexes, facing_deg=facing_deg, returns_turn=None, eliminated=False
        )

    def with_all(self, **marks: Any) -> State:
        """Returns the state with the same marks on all units."""
        return replace(self, pieces=tuple(replace(piece, **marks) for piece in self.pieces))

    def put(self, new: Piece) -> State:
        """Returns the state with a unit as it is now."""
        old = self.piece(new.id)
        if set(new.hexes) == set(old.hexes):
            pieces = tuple(new if piece is old else piece for piece in self.pieces)
        else:
            pieces = (*(piece for piece in self.pieces if piece is not old), new)
        return replace(self, pieces=pieces)

    def with_leader(self, name: str, **marks: Any) -> State:
        """Returns the state with a changed leader."""
        old = self.leader(name)
        leaders = tuple(replace(one, **marks) if one is old else one for one in self.leaders)
        return replace(self, leaders=leaders)

    def without_chit(self, leader: str) -> State:
        """Returns the state without a leader's chit in the pool."""
        return replace(self, pool=tuple(chit for chit in self.pool if chit != leader))

    def gains(self, side: str, points: int) -> State:
        """Returns the state with Victory Points for a side: one track serves both (D-16.2)."""
        return replace(self, vp=self.vp + (points if side == "french" else -points))


def first_counters(board: Board) -> tuple[tuple[Piece, ...], tuple[LeaderPiece, ...]]:
    """Returns the units and leaders where the scenario puts them (D-17.0a)."""
    assert board.scenario is not None
    pieces = []
    for unit in board.scenario.unit:
        hexes = tuple(number for number in (unit.hex, unit.second_hex) if number is not None)
        facing_deg = board.grid.facings_deg[0] if unit.facing_deg is None else unit.facing_deg
        formation = troops.formation_of(unit.kind, unit.formation or "column")
        pieces.append(Piece(unit.id, hexes, formation, facing_deg))
    leaders = tuple(LeaderPiece(leader.id, leader.hex) for leader in board.scenario.leader)
    return tuple(pieces), leaders


def enemy_of(side: str) -> str:
    """Returns the other side."""
    return SIDES[1 - SIDES.index(side)]


def with_losses(state: State, name: str, losses: int) -> State:
    """Returns the state after Losses of a unit; the last level eliminates it (D-3.4h)."""
    troop, piece = state.both(name)
    if not losses:
        return state
    left = troops.strength_of(troop, piece) - losses
    text = f"{name} loses {losses}, {max(left, 0)} left"
    state = state.tells("loss", text, "D-3.4h", unit=name, losses=losses)
    if left <= 0:
        return eliminated(state, name, "D-3.4h")
    return state.with_piece(name, losses=piece.losses + losses)


def eliminated(state: State, name: str, rule: str) -> State:
    """Returns the state without a unit; a leader without units leaves with the last (D-4.6)."""
    state = state.with_piece(name, hexes=(), eliminated=True, returns_turn=None)
    state = replace(state, movers=tuple(unit for unit in state.movers if unit != name))
    state = state.tells("eliminated", f"{name} is eliminated", rule, unit=name)
    leader = state.board.troops[name].leader
    if leader not in state.board.leaders or leader in state.led or state.is_oc(leader):
        return state
    if state.leader(leader).dead:
        return state
    return without_leader(state, leader).tells("leader", f"{leader} has no units left", "D-4.6")


def without_leader(state: State, name: str) -> State:
    """Returns the state without a leader, and without his chit (D-4.6)."""
    return state.with_leader(name, hex=None, dead=True).without_chit(name)


def unit_state(state: State, piece: Piece) -> dict[str, Any]:
    """Returns what documents and pages say of a unit."""
    troop = state.board.troops[piece.id]
    stack = state.stack(piece.id) if piece.hexes else ()
    marks = {
        "strength": troops.strength_of(troop, piece), "full_strength": troop.whole,
        "morale": troop.morale and troops.morale_of(troop, piece),
        "formation": piece.formation, "facing_deg": piece.facing_deg,
        "hexes": " ".join(piece.hexes), "reduced": troops.is_reduced(troop, piece),
        "disrupted": piece.disrupted, "fires": piece.fires, "mp_left": piece.mp_left,
        "double_march": piece.double, "detached": ", ".join(piece.out),
        "no_fire_this_turn": piece.silent, "captured_by": piece.captured_by or "",
        "returns_turn": piece.returns_turn or 0,
        "stack": next((i for i, other in enumerate(stack) if other.id == piece.id), 0),
    }  # fmt: skip
    keep = ("strength", "full_strength")
    return {key: value for key, value in marks.items() if value or key in keep}
