"""What moves cost and where units may go: steps, wheels, formations, companies (D-6, D-12)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from tablecam.rules.game import Ban
from tablecam.rules.hexes.grid import FACING_STEP_DEG
from tablecam.rules.hexes.zones import Hexes, right_hex, zones_of
from tablecam.rules.maida_1806 import field, tables
from tablecam.rules.maida_1806 import state as acts
from tablecam.rules.maida_1806.field import ban_on_lying, front_of
from tablecam.rules.maida_1806.state import MoveStep, State, enemy_of
from tablecam.rules.maida_1806.troops import Piece, Troop, strength_of


@dataclass(frozen=True, slots=True)
class Stepped:
    """Where a step leads, and its Movement Points."""

    hexes: Hexes
    facing_deg: int
    mp: float
    entered: Hexes = ()
    is_straight: bool = False


def allowance_of(troop: Troop, *, double: bool = False) -> int:
    """Returns the Movement Points of a subphase (D-12.8, D-12.9); batteries have none."""
    return tables.ALLOWANCE.get(troop.arm, 0) + (tables.DOUBLE_MARCH if double else 0)


def points_of(state: State, piece: Piece) -> float:
    """Returns the Movement Points with which a subphase begins; a Square's are for leaving it."""
    return 1.0 if piece.formation == "square" else float(allowance_of(state.troop(piece.id)))


def stepped(
    state: State, piece: Piece, step: MoveStep, moving: Collection[str] = ()
) -> Stepped | Ban:
    """Returns where a step leads a unit, or the rule that forbids it; MP left are not looked at.

    `moving` are the units that move with it.
    """
    troop = state.troop(piece.id)
    if piece.disrupted:
        return Ban("D-14.8", f"{piece.id} is Disrupted")
    if state.in_clash(piece):
        return Ban("D-11.12", f"{piece.id} is in a Clash Hex")
    if piece.formation == "square" and not step.turn:
        return Ban("D-7.1", f"{piece.id} must leave Square first")
    if piece.double and (step.turn or step.wheel or step.backward):
        deed = "turn" if step.turn else "wheel" if step.wheel else "go backward"
        return Ban("D-12.9", f"{piece.id} does not {deed} on a double march")
    if troop.is_battery:
        return _gun_step(state, troop, piece, step)
    if step.turn:
        return _turned(troop, piece, step)
    where = (_shifted if step.wheel is None else _wheeled)(state, troop, piece, step)
    if isinstance(where, Ban):
        return where
    return _entering(state, troop, piece, where, step.backward, moving)


def _turned(troop: Troop, piece: Piece, step: MoveStep) -> Stepped | Ban:
    if len(piece.hexes) > 1:
        return Ban("D-12.7", f"{piece.id} lies on two hexes and wheels")
    if abs(step.turn) != FACING_STEP_DEG:
        return Ban("D-12.7", "expected a turn by 60 degrees")
    turned_deg = (piece.facing_deg + step.turn) % 360
    return Stepped(piece.hexes, turned_deg, 0.0 if troop.is_company else tables.TURN_MP)


def _wheeled(state: State, troop: Troop, piece: Piece, step: MoveStep) -> Stepped | Ban:
    if len(piece.hexes) < 2:
        return Ban("D-6.3.3", f"{piece.id} does not lie on two hexes")
    for wheel in field.wheels_of(state.grid, piece.hexes, piece.facing_deg):
        if (wheel.to, wheel.backward) == (step.wheel, step.backward):
            (old,) = (number for number in piece.hexes if number not in wheel.hexes)
            mp = _terrain_mp(state, troop, piece, [(old, wheel.entered)])
            return Stepped(wheel.hexes, wheel.facing_deg, mp, (wheel.entered,))
    return Ban("D-12.1", "the wheel would leave the map")


def _shifted(state: State, troop: Troop, piece: Piece, step: MoveStep) -> Stepped | Ban:
    name: str = "rear" if step.backward else "front"
    for turn_deg in field.TURNS_DEG[name]:
        hexes = field.shifted(state.grid, piece.hexes, piece.facing_deg + turn_deg)
        if hexes is not None and set(hexes) == set(step.to):
            pairs = list(zip(piece.hexes, hexes, strict=True))
            mp = _terrain_mp(state, troop, piece, pairs)
            ground = state.board.ground
            in_clear = tables.THICKET not in map(ground.terrain_of, hexes)
            over_land = all(ground.side_of(*pair) != tables.RIVER for pair in pairs)
            clear = in_clear and over_land and not any(map(state.at, hexes))
            entered = tuple(number for number in hexes if number not in piece.hexes)
            return Stepped(hexes, piece.facing_deg, mp, entered, clear and not step.backward)
    rule = "D-12.6" if step.backward else "D-12.1"
    return Ban(rule, f"{' and '.join(step.to)} is no {name.capitalize()} hex of {piece.id}")


def _terrain_mp(
    state: State, troop: Troop, piece: Piece, pairs: Sequence[tuple[str, str]]
) -> float:
    """Returns the cost of the dearest of the hexes entered, with its hexside (D-6.3.2, D-12.2)."""
    board, is_line = state.board, piece.formation == "line"
    key = "skirmish" if troop.is_company else "line" if is_line else "column"
    key = "cavalry" if troop.arm == "cavalry" else key
    open_pairs = ((old, to) for old, to in pairs if board.is_passable(to))
    costs = (board.cost(to, key) + board.extra_cost(old, to, key) for old, to in open_pairs)
    return max(costs, default=0.0)


def _entering(
    state: State, troop: Troop, piece: Piece, where: Stepped, backward: bool,
    moving: Collection[str],
) -> Stepped | Ban:  # fmt: skip
    """Returns what entering hexes adds to a step, or forbids."""
    board, mp = state.board, where.mp + float(backward)
    old = [number for number in piece.hexes if number not in where.hexes] or list(piece.hexes)
    for number in where.entered:
        if not board.is_passable(number):
            return Ban("D-12.2", f"{number} is {board.ground.terrain_of(number)}")
        touching = [one for one in old if state.grid.direction_deg(one, number) is not None]
        if touching and not any(board.may_cross(one, number) for one in touching):
            return Ban("D-12.2", f"the side of {number} cannot be crossed")
        if piece.double and (ban := _double_ban(state, piece, number, touching, moving)):
            return ban
    if any(state.at(number, enemy_of(troop.side)) for number in where.entered):
        if ban := _clash_ban(troop, piece, backward):
            return ban
        mp += 1
    # D-11.3: a point more for the friends that the unit has passed through.
    return replace(where, mp=mp + piece.passing)


def _double_ban(
    state: State, piece: Piece, number: str, old: Sequence[str], moving: Collection[str]
) -> Ban | None:
    """Returns why a double march may not enter a hex (D-12.9)."""
    ground, own = state.board.ground, state.at(number, state.side(piece.id))
    barred = {
        "friends": any(friend.id not in (*moving, piece.id) for friend in own),
        "river": any(ground.side_of(one, number) == tables.RIVER for one in old),
        "thicket": ground.terrain_of(number) == tables.THICKET,
    }
    what = next((word for word, is_so in barred.items() if is_so), None)
    why = f"{piece.id} goes through no {what} on a double march"
    return None if what is None else Ban("D-12.9", why)


def _clash_ban(troop: Troop, piece: Piece, backward: bool) -> Ban | None:
    """Returns why a unit may not move onto enemies."""
    if troop.is_company:
        return Ban("D-8.7", f"{piece.id} is a company and enters no hex with enemies")
    if troop.side == "british" and piece.formation == "column" and troop.arm == "infantry":
        return Ban("D-5.1", f"{piece.id} is in Column and enters no hex with enemies")
    if backward:
        return Ban("D-12.6", f"{piece.id} does not go backward onto enemies")
    return None


def _gun_step(state: State, troop: Troop, piece: Piece, step: MoveStep) -> Stepped | Ban:
    """Returns where a battery goes: one hex, or a turn to any corner (D-10.13, D-10.14)."""
    if piece.done:
        return Ban("D-10.13", f"{piece.id} has turned")
    if piece.captured_by:
        return Ban("D-10.12", f"{piece.id} is captured")
    if step.turn:
        if step.turn % FACING_STEP_DEG:
            return Ban("D-10.13", "expected a turn by 60 degrees or several times as much")
        return Stepped(piece.hexes, (piece.facing_deg + step.turn) % 360, 0.0)
    if piece.how == "moved" or (troop.kind == "foot-battery" and piece.has_moved):
        return Ban("D-10.13", f"{piece.id} has moved")
    if troop.kind == "foot-battery" and (piece.fired or piece.silent):
        return Ban("D-10.13", f"{piece.id} has fired")
    if len(step.to) != 1 or step.to[0] not in state.grid.neighbours(piece.hexes[0]):
        return Ban("D-10.13", f"{piece.id} goes to an adjacent hex")
    number = step.to[0]
    if not state.board.is_passable(number) or not state.board.may_cross(piece.hexes[0], number):
        return Ban("D-12.2", f"{number} is {state.board.ground.terrain_of(number)}")
    if state.at(number, enemy_of(troop.side)):
        return Ban("D-10.13", f"{piece.id} enters no hex with enemies")
    return Stepped(step.to, piece.facing_deg, 0.0, step.to)


def steps_of(state: State, piece: Piece) -> Iterator[MoveStep]:
    """Yields the steps that geometry allows a unit: ahead, turns or wheels, back."""
    troop, grid = state.troop(piece.id), state.grid
    if troop.is_battery:
        yield from (MoveStep(to=(number,)) for number in grid.neighbours(piece.hexes[0]))
        yield from (MoveStep(turn=deg) for deg in (60, 120, 180, -120, -60))
        return
    for name, backward in (("front", False), ("rear", True)):
        for turn_deg in field.TURNS_DEG[name]:
            hexes = field.shifted(grid, piece.hexes, piece.facing_deg + turn_deg)
            if hexes is not None:
                yield MoveStep(to=hexes, backward=backward)
    if len(piece.hexes) > 1:
        for wheel in field.wheels_of(grid, piece.hexes, piece.facing_deg):
            yield MoveStep(wheel=wheel.to, backward=wheel.backward)
    else:
        yield from (MoveStep(turn=deg) for deg in (60, -60))


def legal_steps(
    state: State, units: Sequence[str], *, double: bool = False
) -> Iterator[tuple[MoveStep, tuple[Stepped, ...]]]:
    """Yields the steps that units may take together with their Movement Points."""
    pieces = [doubled(state.piece(name), double) for name in units]
    for step in steps_of(state, pieces[0]):
        outcome = step_together(state, pieces, step)
        if not isinstance(outcome, Ban):
            yield step, outcome


def doubled(piece: Piece, begins: bool) -> Piece:
    """Returns a unit with the Movement Points of a double march, if one begins."""
    if not begins or piece.double:
        return piece
    return replace(piece, double=True, mp_left=piece.mp_left + tables.DOUBLE_MARCH)


def step_together(
    state: State, pieces: Sequence[Piece], step: MoveStep
) -> tuple[Stepped, ...] | Ban:
    """Returns where a step leads several units: all go the way of the first (D-12.10, D-12.13)."""
    moving = [piece.id for piece in pieces]
    outcomes = []
    for piece in pieces:
        own = step
        if step.to and piece.hexes != pieces[0].hexes:
            way = _direction(state, pieces[0], step)
            hexes = None if way is None else field.shifted(state.grid, piece.hexes, way)
            if hexes is None:
                return Ban("D-12.10", f"{piece.id} cannot go the same way")
            own = replace(step, to=hexes)
        where = stepped(state, piece, own, moving)
        if isinstance(where, Ban):
            return where
        troop = state.troop(piece.id)
        # D-12.5: a unit goes one hex with its whole allowance.
        is_whole = piece.mp_left == allowance_of(troop, double=piece.double)
        if piece.mp_left < where.mp and not troop.is_battery and not (where.entered and is_whole):
            why = f"{piece.id} has {piece.mp_left:g} of the {where.mp:g} Movement Points"
            return Ban("D-12.5", why)
        outcomes.append(where)
    return _room_ban(state, pieces, outcomes) or tuple(outcomes)


def _direction(state: State, piece: Piece, step: MoveStep) -> int | None:
    ways = ((deg, field.shifted(state.grid, piece.hexes, deg)) for deg in state.grid.directions_deg)
    return next((deg for deg, hexes in ways if set(hexes or ()) == set(step.to)), None)


def _room_ban(state: State, pieces: Sequence[Piece], outcomes: Sequence[Stepped]) -> Ban | None:
    """Returns why units may not go where they could neither stay nor go on (D-11.0, D-6.5e)."""
    moving = [piece.id for piece in pieces]
    for piece, where in zip(pieces, outcomes, strict=True):
        there = replace(piece, hexes=where.hexes, facing_deg=where.facing_deg)
        is_clash = any(state.at(n, state.enemy(piece.id)) for n in where.hexes)
        mp = piece.mp_left if is_clash else where.mp
        ban = ban_on_spending(state, there, mp, moving=moving)
        if ban is not None:
            return Ban("D-6.5e", ban.because) if is_clash else ban
    return None


def ban_on_spending(
    state: State, piece: Piece, mp: float, *, moving: Collection[str]
) -> Ban | None:
    """Returns why a unit may not spend points where it could then neither stay nor go on (R-14)."""
    # Whoever passes through friends pays one more, and enters another hex for one at least.
    if piece.mp_left - mp >= 2 and not state.troop(piece.id).is_battery:
        return None
    return ban_on_lying(state, piece, moving=moving)


def moved(
    state: State, pieces: Sequence[Piece], outcomes: Sequence[Stepped], *, double: bool = False
) -> State:
    """Returns the state after a step of some units; they go to the bottom of stacks (D-11.0)."""
    names = [piece.id for piece in pieces]
    for piece, where in zip(pieces, outcomes, strict=True):
        troop = state.troop(piece.id)
        friends = [p for n in where.entered for p in state.at(n, troop.side) if p.id not in names]
        passing = bool(friends) if where.entered else piece.passing
        enters_clash = any(state.at(n, enemy_of(troop.side)) for n in where.entered)
        state = state.with_piece(
            piece.id, hexes=where.hexes, facing_deg=where.facing_deg, passing=passing,
            mp_left=max(piece.mp_left - where.mp, 0.0), double=double or piece.double,
            straight=piece.straight + 1 if where.is_straight else 0, has_moved=True,
            done=piece.done or (troop.is_battery and not where.entered),
            silent=piece.silent or troop.kind == "foot-battery",
            held_fire=piece.held_fire or troop.is_battery,
            entered_from=piece.hexes if enters_clash else piece.entered_from,
            how="clash" if enters_clash else "moved" if where.entered else piece.how,
        )  # fmt: skip
    return state


def may_move_together(state: State, units: Sequence[str]) -> Ban | None:
    """Returns why units may not move as one: a stack, or a line of units (D-12.10, D-12.13).

    Units that began to move as one go on as one, also where they have turned out of line.
    """
    places = state.places(units)
    if set(units) == set(state.movers) or set(places[0]).intersection(*places[1:]):
        return None
    alike = {(state.troop(name).kind, state.piece(name).formation) for name in units}
    if len(alike) > 1 or not field.flank_chain(state, units):
        return Ban("D-12.10", "expected units of one type and formation, flank to flank")
    return None


def ban_on_charge(state: State, units: Sequence[str], target: str) -> Ban | None:
    """Returns why cavalry may not charge a hex now (D-9.2.1, R-18)."""
    for name in units:
        troop, piece = state.both(name)
        if troop.arm != "cavalry":
            return Ban("D-9.2.1", f"{name} is no cavalry")
        if piece.disrupted:
            return Ban("D-14.8", f"{name} is Disrupted")
        if target not in front_of(state, piece):
            return Ban("D-9.2.1", f"{target} is not in the Front of {name}")
        if not state.at(target, enemy_of(troop.side)):
            return Ban("D-9.2.1", f"there is no enemy in {target}")
        if piece.straight < tables.CHARGE_HEXES:
            why = f"moved {piece.straight} of {tables.CHARGE_HEXES} hexes straight on"
            return Ban.of(name, "D-9.2.1", why)
        ground = state.board.ground
        if ground.side_of(piece.hexes[0], target) == tables.RIVER:
            return Ban("D-9.2.1", "a charge crosses no river")
        if ground.terrain_of(target) == tables.THICKET:
            return Ban("D-9.2.1", "a charge enters no thicket")
    step = MoveStep(to=(target,))
    outcome = step_together(state, [state.piece(name) for name in units], step)
    return outcome if isinstance(outcome, Ban) else None


# Formations.


def second_hexes(state: State, piece: Piece, first: str, facing_deg: int) -> Iterator[Hexes]:
    """Yields the two hexes of a line formed in a hex: a Flank hex that is free (D-6.3.8, R-13)."""
    grid = state.grid
    for number in grid.on_map(zones_of(grid, (first,), facing_deg).flank):
        is_taken = any(other.id != piece.id for other in state.at(number))
        if state.board.is_passable(number) and not is_taken:
            is_right = right_hex(grid, first, facing_deg) == number
            yield (first, number) if is_right else (number, first)


def formations(state: State, piece: Piece) -> Iterator[tuple[acts.Form, float]]:
    """Yields the changes of formation that a battalion may make, with their points (D-6.2)."""
    troop = state.troop(piece.id)
    is_able = troop.is_battalion and not piece.disrupted and not piece.double
    if not is_able or state.in_clash(piece) or len(state.stack(piece.id)) > 1:
        return
    change = state.board.chart("formation_change")
    is_square = piece.formation == "square"
    facings = state.grid.facings_deg if is_square else (piece.facing_deg,)
    to_line, to_column = (1.0, 1.0) if is_square else (change.column_to_line, change.line_to_column)
    for facing_deg in facings:
        if piece.formation != "column":
            for number in piece.hexes:
                yield acts.Form(piece.id, "column", facing_deg, (number,)), to_column
        if piece.formation != "line":
            wide = second_hexes(state, piece, piece.hexes[0], facing_deg)
            for hexes in wide if state.needs_two_hexes(piece.id) else (piece.hexes,):
                yield acts.Form(piece.id, "line", facing_deg, hexes), to_line
    # A Square takes the whole allowance (D-7.1).
    whole = allowance_of(troop)
    able = may_form_square(state, piece) and piece.mp_left == whole
    for number in piece.hexes if able else ():
        if state.board.terrain(number).square:
            yield acts.Form(piece.id, "square", piece.facing_deg, (number,)), float(whole)


def may_form_square(state: State, piece: Piece) -> bool:
    """Whether a battalion may form Square: Strength 3 and open ground (D-7.1, D-7.2)."""
    troop = state.troop(piece.id)
    is_strong = troop.is_battalion and strength_of(troop, piece) >= tables.SQUARE_FROM
    is_open = any(state.board.terrain(number).square for number in piece.hexes)
    return is_strong and is_open and piece.formation != "square"


def most_companies(strength_with_companies: int) -> int:
    """Returns how many companies may be out: the battalion keeps more than half (D-17.0f, R-17)."""
    return (strength_with_companies - 1) // 2


def detachable(state: State, piece: Piece) -> tuple[str, ...]:
    """Returns the companies that a Light Battalion may detach now (D-8.2, D-8.4, D-14.8)."""
    troop = state.troop(piece.id)
    if not troop.companies or state.in_clash(piece) or piece.disrupted or piece.double:
        return ()
    if piece.mp_left <= 0 or not piece.hexes or piece.formation == "square":
        return ()
    companies = (state.piece(name) for name in troop.companies if name not in piece.out)
    inside = [c.id for c in companies if not (c.hexes or c.eliminated or c.has_moved)]
    whole = strength_of(troop, piece) + len(piece.out)
    return tuple(inside[: max(most_companies(whole) - len(piece.out), 0)])


def reorders(state: State, piece: Piece) -> Iterator[acts.Reorder]:
    """Yields the orders of a stack in which another of its units is on top (D-11.0)."""
    stack = state.stack(piece.id)
    if len(stack) < 2 or any(p.mp_left < 1 or p.disrupted for p in stack) or state.in_clash(piece):
        return
    for top in stack[1:]:
        order = (top.id, *(p.id for p in stack if p.id != top.id))
        yield acts.Reorder(piece.hexes[0], order)
