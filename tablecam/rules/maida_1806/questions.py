"""Plain questions to single rules, on counters as they stand on a map."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Annotated, Any, Final, Literal

from pydantic import Field as Limits

from tablecam.documents import Json
from tablecam.rules.game import Ban
from tablecam.rules.hexes import asking
from tablecam.rules.hexes.asking import HexName, ground_in, map_of, on_map
from tablecam.rules.hexes.zones import Hexes, right_hex
from tablecam.rules.maida_1806 import clash as clashes
from tablecam.rules.maida_1806 import field as fields
from tablecam.rules.maida_1806 import fire as fires
from tablecam.rules.maida_1806 import movement, reaction, sequence, tables, troops
from tablecam.rules.maida_1806.board import Board, MissingRow
from tablecam.rules.maida_1806.files import SomeCharts
from tablecam.rules.maida_1806.state import Due, LeaderPiece, MoveStep, State, enemy_of
from tablecam.rules.maida_1806.troops import SIDES, Formation, GunRange, Kind, Piece, Side, Troop
from tablecam.rules.questions import (
    FactError,
    Facts,
    NestedFacts,
    Questions,
    as_answer,
    charts_in,
    is_house,
)
from tablecam.rules.steps import Decide
from tablecam.table.model import Arm, Position, TableSize

QUESTIONS: Final = Questions(tables.GAME)
Die = Annotated[int, Limits(ge=0, le=9)]
Dice = tuple[Die, ...]
Names = tuple[str, ...]

QUESTIONS.asks("D-G2")(asking.neighbours)
QUESTIONS.asks("D-G12")(asking.stacks_seen)


@QUESTIONS.asks("D-G2 D-G3 D-G4 D-G5 D-G6", "D-G4")
def _place(facts: Facts, map: Mapping[str, Any], counters: tuple[asking.CounterFacts, ...]) -> Json:
    """In which hexes counters lie, and how they face."""
    return asking.places(facts, map, counters, has_facing=True)


class UnitFacts(NestedFacts):
    """A unit: what its counters print, and how it stands."""

    id: str = "unit"
    side: Side
    arm: Arm = "infantry"
    kind: Kind | None = None
    leader: str = ""
    nation: str = ""
    full_strength: int | None = None
    strength: int | None = None
    morale: tuple[int, ...] | int = ()
    firepower: Mapping[str, int] | int = field(default_factory=dict)
    fire_result: str | None = None
    stars: int = 0
    ranges: tuple[GunRange, ...] = ()
    companies: Names = ()
    acts_with_oc: bool = False
    hex: HexName | None = None
    second_hex: HexName | None = None
    hexes: tuple[HexName, ...] = ()
    formation: Formation | None = None
    facing_deg: int = 0
    detached: Names = ()
    disrupted: bool = False
    fires: int = 0
    mp_left: float | None = None
    double_march: bool = False
    fired_this_subphase: bool = False
    no_fire_this_turn: bool = False
    moved_this_turn: bool = False
    captured_by: str | None = None
    stack: int = 0

    def troop(self) -> Troop:
        """Returns what its counters print."""
        power = self.firepower
        percents: Mapping[str, Any] = {self.how(): power} if isinstance(power, int) else power
        printed = {key: value for key, value in vars(self).items() if key in Troop.model_fields}
        return Troop.model_construct(**printed | {
            "kind": self.kind or troops.KINDS[self.arm],
            "full_strength": self.strength if self.full_strength is None else self.full_strength,
            "morale": [self.morale] if isinstance(self.morale, int) else self.morale,
            "firepower": troops.Firepower.model_construct(**percents),
        })  # fmt: skip

    def how(self) -> Formation:
        """Returns its formation: by default the usual one of its kind."""
        usual: Formation = "column" if self.arm == "cavalry" else "line"
        kind = self.kind or troops.KINDS[self.arm]
        return troops.formation_of(kind, self.formation or usual)

    def piece(self) -> Piece:
        """Returns how it stands."""
        troop = self.troop()
        hexes = self.hexes or tuple(n for n in (self.hex, self.second_hex) if n is not None)
        lost = 0 if self.strength is None else (troop.full_strength or 0) - self.strength
        mp = float(movement.allowance_of(troop)) if self.mp_left is None else self.mp_left
        return Piece(
            self.id, hexes, self.how(), self.facing_deg, lost, self.detached, self.disrupted,
            self.fires, self.no_fire_this_turn, self.moved_this_turn, mp,
            double=self.double_march, fired=self.fired_this_subphase,
            captured_by=self.captured_by,
        )  # fmt: skip


class LeaderFacts(NestedFacts):
    """A leader."""

    id: str
    side: Side
    hex: HexName | None = None
    overall_commander: bool = False


class Setup(NestedFacts):
    """The counters on a map, with the charts that the question needs."""

    map: Mapping[str, Any]
    charts: Mapping[str, Any] | None = None
    begin: Mapping[str, Any] = field(default_factory=dict)
    leaders: tuple[LeaderFacts, ...] = ()
    units: tuple[UnitFacts, ...] = ()

    def state(self) -> State:
        """Returns the state of a game in a movement subphase.

        Raises:
            BadInput: A hex is off the map, or a chart is wrong.
        """
        ground = ground_in(self.map)
        for unit in self.units:
            hexes = unit.piece().hexes
            for number in hexes:
                on_map(ground.grid, number, owner=unit)
            if unit.facing_deg and unit.facing_deg not in ground.grid.facings_deg:
                why = f"expected one of {', '.join(map(str, ground.grid.facings_deg))}"
                raise FactError("facing_deg", f"{why}, got {unit.facing_deg}", unit)
            if len(hexes) > 1 and right_hex(ground.grid, hexes[0], unit.facing_deg) != hexes[1]:
                why = f"expected the left and the right hex across {unit.facing_deg} degrees"
                raise FactError("hexes", f"{why}, got {' and '.join(hexes)}", unit)
        leader = self.begin.get("active_leader", "")
        board = Board(
            ground,
            charts_in(self.charts, SomeCharts),
            {unit.id: unit.troop() for unit in self.units},
            {one.id: one.side for one in self.leaders},
            {one.side: one.id for one in self.leaders if one.overall_commander},
        )
        return State(
            Position(tables.GAME, TableSize(1000, 1000, hex_map=map_of(self.map))), {},
            tuple(unit.piece() for unit in sorted(self.units, key=lambda unit: unit.stack)),
            tuple(LeaderPiece(one.id, one.hex) for one in self.leaders),
            turn=self.begin.get("turn", 1), vp=self.begin.get("vp", 0), phase="movement",
            drawn=leader, commanding=leader, pool=tuple(self.begin.get("pool", ())),
            given=board,
        )  # fmt: skip

    def about(self, name: str, key: str = "unit") -> tuple[State, Piece]:
        """Returns the state, and the unit that a key names."""
        state = self.state()
        return state, _unit(state, name, key)


def _ruled(ban: Ban | None) -> Json:
    return {"legal": ban is None, "why_not": ban}


def _shown(hexes: Hexes) -> str | Hexes:
    return hexes[0] if len(hexes) == 1 else hexes


def _unit(state: State, name: str, key: str = "unit") -> Piece:
    piece = next((piece for piece in state.pieces if piece.id == name), None)
    if piece is None:
        raise FactError(key, f"expected one of the setup's units, got {name}")
    return piece


def _hexes(piece: Piece, key: str = "unit") -> Hexes:
    """Returns where a unit lies."""
    if not piece.hexes:
        raise FactError(key, f"expected a hex of {piece.id}, but it is missing")
    return piece.hexes


def _after(before: State, after: State) -> Json:
    """Returns the units that have changed."""
    shown = (
        "disrupted", "fires", "mp_left", "hexes", "facing_deg", "formation", "eliminated",
        "returns_turn",
    )  # fmt: skip
    changed = (new for old in before.pieces if (new := after.piece(old.id)) != old)
    return {
        piece.id: {
            "strength": 0 if piece.eliminated else after.strength(piece.id),
            "on_map": bool(piece.hexes),
            "routed": piece.returns_turn is not None,
            "may_fire_again_this_turn": not piece.silent,
            **{key: getattr(piece, key) for key in shown},
        }
        for piece in changed
    }


def _thrown(state: State, dice: Dice, losses: Mapping[str, int] | None = None) -> State:
    """Returns the state after what is due, with dice in their order.

    Choices of hexes and facings, and what lacks its dice, stay due.

    Raises:
        FactError: There are too few dice for a roll, or too many in all.
    """
    left, waiting = list(dice), []
    while (due := state.step) is not None:
        roll, below = due.roll(state), state.below()
        is_open = isinstance(due, fires.Retreat | clashes.Winners | fires.LeaderLeaves)
        if (roll is None and is_open) or (roll is not None and not left):
            waiting.append(due)
            state = below
        elif roll is None:
            after = due.automatic(state)
            state = after or due.follow(below, _answer(due, state, losses or {}))
        elif len(left) < roll.count:
            raise FactError("dice", f"expected {roll.count} dice for {roll.for_}, got {len(left)}")
        else:
            state, left = due.follow(below, tuple(left[: roll.count])), left[roll.count :]
    if left:
        raise FactError("dice", f"expected {len(dice) - len(left)} dice, got {len(dice)}")
    return replace(state, due=tuple(waiting))


def _answer(due: Due, state: State, losses: Mapping[str, int]) -> Any:
    """Returns the answer that a question takes: no Square, the Losses as stated, else the first."""
    if isinstance(due, fires.SquareTry):
        return Decide(False)
    wanted = {name: count for name, count in losses.items() if name in due.names(state)}
    options = due.legal(state)
    return next((one for one in options if getattr(one, "losses", None) == wanted), options[0])


# --- moves ----------------------------------------------------------------------------------------


class StepFacts(NestedFacts):
    """A step of a move: one of its keys."""

    to: HexName | tuple[HexName, ...] | None = None
    turn: int = 0
    wheel: Literal["left", "right"] | None = None
    backward: bool = False
    backward_to: HexName | tuple[HexName, ...] | None = None
    fire: str | None = None

    def step(self) -> MoveStep:
        """Returns the step."""
        there = self.to if self.backward_to is None else self.backward_to
        hexes: Hexes = (there,) if isinstance(there, str) else tuple(there or ())
        return MoveStep(hexes, self.turn, self.wheel, self.backward or bool(self.backward_to))


@QUESTIONS.asks("D-6.3 D-12.1 D-12.2 D-12.6 D-12.7")
def _steps(setup: Setup, unit: str) -> Json:
    """The steps that a unit may take, with their Movement Points."""
    state, piece = setup.about(unit)
    answer: dict[str, list[Json]] = {"forward": [], "backward": [], "turns": [], "wheels": []}
    for step in movement.steps_of(state, piece):
        where = movement.stepped(state, piece, step)
        if isinstance(where, Ban):
            continue
        faced = {"facing_deg": where.facing_deg, "mp": where.mp}
        if step.turn:
            answer["turns"].append({"turn": step.turn} | faced)
        elif step.wheel is not None:
            wheel = {"wheel": step.wheel, "backward": step.backward, "hexes": where.hexes}
            answer["wheels"].append(wheel | faced)
        else:
            to = {"to": _shown(where.hexes), "mp": where.mp}
            answer["backward" if step.backward else "forward"].append(to)
    return {**answer, "house": is_house(setup.charts)}


def _walked(
    state: State, unit: str, steps: Sequence[StepFacts], *, double: bool
) -> tuple[State, float, Ban | None]:
    """Returns the state after steps as far as they are legal, and the points spent."""
    spent = 0.0
    for index, step in enumerate(steps):
        if step.fire is not None:
            after = _fired_on_the_way(state, unit, step.fire)
        else:
            after = sequence.walk(state, (unit,), (step.step(),), double=double and index == 0)
        if isinstance(after, Ban):
            return state, spent, after
        state, spent = after[0], spent + after[1]
    return state, spent, None


def _fired_on_the_way(state: State, unit: str, target: str) -> tuple[State, float] | Ban:
    piece = state.piece(unit)
    if piece.mp_left < 1:
        return Ban("D-14.10.2", f"{unit} has no Movement Point left to fire")
    after = state.with_piece(unit, mp_left=piece.mp_left - 1, fires=piece.fires + 1)
    return fires.ban_on_fire(state, (unit,), target) or (after, 1.0)


@QUESTIONS.asks("D-5.1 D-7.3 D-8.7 D-11.3 D-11.10 D-12")
def _move(
    setup: Setup, unit: str, steps: tuple[StepFacts, ...] = (), double_march: bool = False,
    ends: bool = False,
) -> Json:  # fmt: skip
    """Whether a unit may move so, and what it costs."""
    state, spent, ban = _walked(setup.about(unit)[0], unit, steps, double=double_march)
    piece, is_free = state.piece(unit), not state.in_clash(state.piece(unit))
    further = [*movement.legal_steps(state, (unit,))]
    if ends:
        ban = ban or sequence.ban_on_halting(replace(state, movers=(unit,)))
        ban = ban or (fields.ban_on_lying(state, piece) if is_free else None)
    return {
        **_ruled(ban),
        "mp_allowance": movement.allowance_of(state.troop(unit), double=double_march),
        "mp_spent": spent,
        "mp_left": piece.mp_left + (tables.DOUBLE_MARCH if double_march and not steps else 0),
        "may_go_on": ban is None and is_free and bool(further),
        "house": is_house(setup.charts),
    }


@QUESTIONS.asks("D-9.2.1", "D-9.2.1")
def _charge(setup: Setup, unit: str, target: HexName, steps: tuple[StepFacts, ...] = ()) -> Json:
    """Whether cavalry may charge a hex after some steps."""
    state, _, ban = _walked(setup.about(unit)[0], unit, steps, double=False)
    return _ruled(ban or movement.ban_on_charge(state, (unit,), target))


@QUESTIONS.asks("D-13.1 D-13.4 D-13.7")
def _triggered(setup: Setup, unit: str, did: reaction.Did) -> Json:
    """Who reacts to a unit that has entered its hex, or turned in it."""
    must, may = reaction.triggered(setup.about(unit)[0], (unit,), did)
    return {"must_react": must, "may_react": may}


# --- sight and fire -------------------------------------------------------------------------------


def _other_hexes(state: State, piece: Piece, hexes: Names, key: str) -> Iterator[tuple[str, Hexes]]:
    for number in hexes:
        if number not in state.grid or number in _hexes(piece, "setup"):
            raise FactError(key, f"expected another hex of the map, got {number}")
        yield number, (number,)


@QUESTIONS.asks("D-14.1 D-14.2 D-G7", "D-G7")
def _sight(setup: Setup, unit: str, to: tuple[HexName, ...]) -> Json:
    """What a unit sees of enemies alone in some hexes."""
    state, piece = setup.about(unit)
    return {"hexes": {
        number: {
            "sight": fields.sees(state, piece, there),
            "distance": state.grid.distance(piece.hexes, there),
            "in_front": fields.leaves_by_front(state, piece, there),
            "blocked_by": fields.blockers(state, piece, there),
        }
        for number, there in _other_hexes(state, piece, to, "to")
    }}  # fmt: skip


@QUESTIONS.asks("D-14.4")
def _arrival(setup: Setup, target: str, from_: tuple[HexName, ...]) -> Json:
    """Through which zone of a target fire from some hexes arrives."""
    state, piece = setup.about(target, "target")
    answer: Json = {}
    for number, there in _other_hexes(state, piece, from_, "from"):
        came = fields.through(state, piece, there)
        behind = fields.comes_from_behind(came)
        answer[number] = {"through": came, "modifier": tables.FLANK_FIRE if behind else 0}
    return {"hexes": answer}


@QUESTIONS.asks("D-14.2 D-14.6 D-14.7 D-14.9", "D-14.6")
def _targets(setup: Setup, unit: str) -> Json:
    """At which enemies a unit may fire."""
    state, piece = setup.about(unit)
    names = fields.targets_of(state, piece)
    hexes = dict.fromkeys(number for name in names for number in state.piece(name).hexes)
    return {"targets": names, "hexes": [*hexes]}


@QUESTIONS.asks("D-3.4 D-4.6 D-10 D-11.7 D-11.8 D-11.9 D-14")
def _fire(setup: Setup, units: Names, target: str, dice: Dice = ()) -> Json:
    """What a fire does: its row, its modifiers, and with dice its results."""
    state = setup.state()
    for name in (*units, target):
        _unit(state, name, "units")
    ban = fires.ban_on_fire(state, units, target)
    if ban is not None:
        return _ruled(ban)
    try:
        shot = fires.shot_of(state, units, target)
    except MissingRow as missing:
        return {"legal": True, "row": None, "result": None, "asks_for": [missing.row]}
    hit = shot.checks[0] if shot.checks else target
    answer = {"legal": True, **_modifiers(shot.modifiers.get(hit, {}))}
    answer |= {"house": is_house(setup.charts), "result": shot.result or None}
    if shot.firepower is not None:
        answer |= {"firepower": shot.firepower, "value": shot.value}
    if shot.row is not None and shot.start_row is not None:
        rows = state.board.chart("fire").rows
        answer |= {
            "start_row": fires.row_name(rows[shot.start_row]),
            "rows_down": shot.rows_down,
            "row": fires.row_name(rows[shot.row]),
        }
    return answer if not dice else answer | _fire_results(state, shot, dice)


def _modifiers(parts: Mapping[str, int]) -> Json:
    because = [f"{name} {value:+d}" for name, value in parts.items()]
    return {"modifiers": parts, "modifier_total": sum(parts.values()), "because": because}


def _fire_results(before: State, shot: fires.Shot, dice: Dice) -> Json:
    state = _thrown(fires.fired(before, shot.firers, shot.target), dice)
    checked = (event.facts for event in state.told if event.kind == "check")
    totals = (facts for facts in checked if "total" in facts)
    there, side = before.piece(shot.target).hexes, before.side(shot.target)
    old = [one for number in there for one in before.leaders_at(number, side) if shot.leader_die]
    now = map(state.leader, (one.id for one in old))
    return {
        "checks": {
            facts["unit"]: {"die": die, "total": facts["total"], "passed": facts["passed"]}
            for facts, die in zip(totals, dice, strict=False)
        },
        "dice_used": len(dice),
        "captured": state.piece(shot.target).captured_by is not None,
        "leaders": {
            one.id: "killed" if one.dead else "injured" if one.injured else "unhurt" for one in now
        },
        "leader_die": bool(old),
        "withdraw": {due.unit: due.left for due in state.due if isinstance(due, fires.Retreat)},
        "units": _after(before, state),
        "pool": state.pool,
        "vp": state.vp,
    }


@QUESTIONS.asks("D-10.8 D-14.4 D-14.8")
def _gun_modifier(
    facts: Facts, result: troops.FireResult, stars: int = 0, target_terrain: str = "clear",
    target_formation: str = "line", through: fields.Through = "front",
    firer_disrupted: bool = False,
) -> Json:  # fmt: skip
    """The modifier of a check under artillery fire."""
    terrain = charts_in(facts.charts, SomeCharts).terrain.get(target_terrain)
    parts = {"result": troops.modifier_of(result), "stars": stars}
    if target_terrain == tables.THICKET and terrain is None:
        parts[tables.THICKET] = tables.THICKET_FIRE if target_formation == "line" else 0
    elif terrain is not None:
        parts[target_terrain] = terrain.fire_modifier or 0
    parts |= fires.aim(fields.comes_from_behind(through), firer_disrupted)
    parts = {name: value for name, value in parts.items() if value}
    return {"modifier": sum(parts.values()), "parts": parts}


# --- reaction, withdrawal, command ----------------------------------------------------------------


@QUESTIONS.asks("D-13.1 D-13.2 D-13.3 D-13.5", "D-13.1A")
def _reaction(
    setup: Setup, mover: str, unit: str, did: reaction.Did = "entered", die: Die | None = None
) -> Json:
    """A unit's reaction check against a mover, and with a die what it leads to."""
    state, piece = setup.about(unit)
    cause = _unit(state, mover, "mover")
    check = reaction.check_of(state, unit, (mover,))
    if die is None:
        return _modifiers(check.modifiers)
    verdict = reaction.verdict_of(state, unit, (mover,), check, die)
    paths = _ways_back(state, piece, (cause.hexes,), verdict.withdraw)
    return _modifiers(check.modifiers) | as_answer(verdict) | {
        "returns_turn": state.turn + 1 if verdict.rout else None,
        "withdraw_paths": [[_shown(to) for to in path] for path, _ in paths],
    }  # fmt: skip


def _ways_back(
    state: State, piece: Piece, causes: tuple[Hexes, ...], hexes: int
) -> Iterator[tuple[tuple[Hexes, ...], int]]:
    """Yields the ways of a withdrawal with their Losses; a blocked second hex ends one (R-32)."""
    for to in fields.withdrawals(state, piece, causes)[1] if hexes else ():
        losses, moved = len(fields.withdrawal_losses(state, piece, to)), replace(piece, hexes=to)
        ways = _ways_back(state.put(moved), moved, causes, hexes - 1) if hexes > 1 else [((), 0)]
        yield from (((to, *path), losses + more) for path, more in ways)


@QUESTIONS.asks("D-14.11 D-W")
def _withdrawal(setup: Setup, unit: str, cause: Names, hexes: Literal[1, 2] = 1) -> Json:
    """Where a unit withdraws from the enemies that cause it."""
    state, piece = setup.about(unit)
    causes = tuple(_hexes(_unit(state, name, "cause"), "cause") for name in cause)
    _hexes(piece)
    zone, options = fields.withdrawals(state, piece, causes)
    paths = list(_ways_back(state, piece, causes, hexes))
    points = 0 if paths else tables.VICTORY_POINTS["by_blocked_withdrawal"]
    return {
        "class": zone, "options": [_shown(to) for to in options],
        "paths": [[_shown(to) for to in path] for path, _ in paths],
        "losses": {path[-1][0]: losses for path, losses in paths}, "eliminated": not paths,
        "vp": state.gains(state.enemy(unit), points).vp,
        "readings": [] if paths else ["D-14.11.7"],
    }  # fmt: skip


@QUESTIONS.asks("D-4.2", "D-4.2")
def _in_command(setup: Setup, unit: str) -> Json:
    """Whether a unit is In Command, and by which path."""
    path = fields.command_path(*setup.about(unit))
    distance = None if path is None else len(path)
    return {"in_command": path is not None, "distance": distance, "path": path or ()}


@QUESTIONS.asks("D-7.1 D-7.2")
def _form_square(setup: Setup, unit: str, die: Die | None = None) -> Json:
    """Whether a unit may try to form Square as enemy cavalry enters its hex."""
    state, piece = setup.about(unit)
    if not movement.may_form_square(state, piece):
        why = Ban("D-7.1", f"{unit} needs Strength {tables.SQUARE_FROM} and Clear terrain")
        return {"offered": False, "why_not": why}
    if die is None:
        return {"offered": True}
    after = _after(state, fires.SquareDie(unit, (unit,)).follow(state, (die,)))[unit]
    shown = {key: after[key] for key in ("formation", "strength")}
    return {"offered": True, "passed": after["formation"] == "square"} | shown


# --- clashes and the Turn Track -------------------------------------------------------------------


@QUESTIONS.asks("D-15.1 D-15.2 D-15.7 D-15.8 D-15.9")
def _clash(
    setup: Setup, hex: HexName, how: Literal["clash", "charge", "counterattack"] = "clash",
    dice: Dice = (), losses: Mapping[str, int] | None = None,
) -> Json:  # fmt: skip
    """A Clash in a hex: its column, and with dice its results."""
    state = setup.state()
    attacker = setup.begin.get("active_side") or (state.active if state.drawn else SIDES[0])
    if attacker not in SIDES:
        raise FactError("setup", f"expected begin.active_side french or british, got {attacker}")
    if how == "counterattack":
        attacker = enemy_of(attacker)
    attackers = tuple(piece.id for piece in state.at(hex, attacker))
    defenders = tuple(piece.id for piece in state.at(hex, enemy_of(attacker)))
    combat = clashes.Combat((hex,), attackers, defenders, how)
    if not attackers or not defenders:
        raise FactError("hex", f"expected a Clash Hex, got {hex}")
    try:
        shifts = [shift.model_dump() for shift in clashes.shifts_of(state, combat)]
        answer: Json = {"column": clashes.column_of(state, combat), "shifts": shifts}
    except MissingRow as missing:
        return {"column": None, "asks_for": [missing.row]}
    answer["house"] = is_house(setup.charts)
    if not dice:
        return answer
    result = clashes.result_of(state, combat, dice[0])
    lost, won = clashes.losers_and_winners(combat, result)
    last = (name for name in won if state.strength(name) == 1)
    after = _thrown(state.pushed(clashes.ClashDie(combat)), dice, losses)
    winners = (due for due in after.due if isinstance(due, clashes.Winners))
    return answer | {
        "die": dice[0],
        "result": result,
        "loser": state.side(lost[0]),
        "checks": {
            name: {"die": die, "passed": die <= state.morale(name)}
            for name, die in zip(last, dice[1:], strict=False)
        },
        "units": _after(state, after),
        "winners_may_face": any(due.names(after) for due in winners),
        "vp": after.vp,
        "readings": ["D-15.8"],
    }


class RoutedFacts(NestedFacts):
    """A unit that has routed, and the hex in which it stood."""

    unit: str
    hex: HexName


@QUESTIONS.asks("D-15.12")
def _crisis(
    setup: Setup, routed: RoutedFacts, cause: Names, dice: Mapping[str, Die] | None = None
) -> Json:
    """Which friends of a unit that routs check their Morale, and what follows."""
    state, dice = setup.state(), dice or {}
    causes = tuple(_unit(state, name, "cause").hexes for name in cause)
    sides = [unit.side for unit in setup.units if unit.id == routed.unit]
    side = sides[0] if sides else state.enemy(cause[0])
    near = set(state.grid.neighbours(routed.hex))
    friends = [p for p in state.on_map(side) if p.id != routed.unit and near & set(p.hexes)]
    shaken = [piece for piece in clashes.shaken_by(state, side, (routed.hex,)) if piece in friends]
    checks: dict[str, Json] = {p.id: {"morale": state.morale(p.id)} for p in shaken}
    for piece in (piece for piece in shaken if piece.id in dice):
        die, check = dice[piece.id], checks[piece.id]
        check |= {"total": die, "passed": die <= check["morale"]}
        if not check["passed"]:
            zone, options = fields.withdrawals(state, piece, causes)
            check |= {"class": zone, "options": [_shown(to) for to in options]}
    return {"checks": checks, "no_check": [p.id for p in friends if p not in shaken]}


@QUESTIONS.asks("D-3.4h D-6.2 D-6.3.4")
def _losses(unit: UnitFacts, losses: Annotated[int, Limits(ge=0, le=10)]) -> Json:
    """What Losses leave of a unit."""
    troop, piece = unit.troop(), unit.piece()
    after = replace(piece, losses=piece.losses + losses)
    strength, back = troops.strength_of(troop, after), troops.is_reduced(troop, after)
    wide = piece.formation == "line" and troop.is_battalion
    wide = wide and troops.needs_two_hexes(troop, strength)
    one_hex = [(number,) for number in piece.hexes]
    return {
        "strength": strength,
        "side": "gone" if strength == 0 else "back" if back else "front",
        "morale": troop.morale[-1 if back else 0] if troop.morale else None,
        "counter": "two-hex" if wide else "one-hex",
        "hexes_options": ([piece.hexes] if wide else one_hex) if strength and one_hex else [],
        "facing_deg": piece.facing_deg,
        "unit": {"disrupted": piece.disrupted, "fires": piece.fires},
    }


class RoutFacts(NestedFacts):
    """A Rout: after a Clash with its result, or after a reaction."""

    by: Literal["clash", "reaction"]
    turn: int
    result: str | None = None


class DueFacts(NestedFacts):
    """A return that is due."""

    turn: int
    side: Side
    leader: Literal["activated", "not_activated", "dead", "off_map"]
    hex_free: bool = True


@QUESTIONS.asks("D-15.8 D-15.11")
def _turn_track(
    facts: Facts, rout: RoutFacts | None = None, due: DueFacts | None = None, turns: int = 7
) -> Json:
    """When and where a routed unit returns."""
    if (rout is None) == (due is None):
        raise FactError("rout", "expected rout or due")
    if rout is not None:
        waits = 1 if rout.by == "reaction" else int((rout.result or "A+1").rpartition("+")[2])
        return _back(rout.turn + waits, turns)
    assert due is not None
    if due.leader == "not_activated" or not due.hex_free:
        return {**_back(due.turn + 1, turns), "hex": None, "near": None}
    home = {"hex": tables.RETURN_HEX[due.side], "near": None}
    place = {"hex": None, "near": "leader"} if due.leader == "activated" else home
    return {**_back(due.turn, turns), **place, "disrupted": True}


def _back(turn: int, turns: int) -> Json:
    return {"returns_turn": turn if turn <= turns else None, "out": turn > turns}


# --- stacks, companies, guns ----------------------------------------------------------------------


@QUESTIONS.asks("D-6.4 D-11.0 D-11.1 D-11.2")
def _stack(units: tuple[fields.Stacked, ...]) -> Json:
    """Whether units of one side may lie together at the end of a subphase."""
    return _ruled(fields.ban_on_stack(units))


@QUESTIONS.asks("D-8.2 D-8.4 D-14.8 D-17.0f", "D-17.0f")
def _companies_out(
    strength_with_companies: Annotated[int, Limits(ge=1, le=10)],
    in_clash_hex: bool = False,
    disrupted: bool = False,
) -> Json:
    """How many companies a Light Battalion may have out."""
    most = movement.most_companies(strength_with_companies)
    return {"most": 0 if in_clash_hex or disrupted else most}


@QUESTIONS.asks("D-10.5 D-10.13 D-10.14")
def _battery(
    kind: Literal["foot-battery", "horse-battery"],
    own: tuple[Literal["turn", "move", "fire"], ...] = (),
) -> Json:
    """What a battery may do in its leader's subphase, and fire afterwards."""
    gun = UnitFacts(id="gun", side="french", arm="artillery", kind=kind, hex="0202")
    ground = {"orientation": "flat", "hex_size_mm": 20.0, "origin_mm": [0.0, 0.0], "columns": 3,
              "rows": 3, "numbering": "CCRR", "shifted": "even"}  # fmt: skip
    state, ban = Setup(map=ground, units=(gun,)).state(), None
    steps = {"turn": MoveStep(turn=60), "move": MoveStep(to=("0201",))}
    for act in own:
        after: Any = state.with_piece("gun", fired=True), 0.0
        if act == "fire":
            after = fields.ban_on_firing(state, state.piece("gun")) or after
        else:
            after = sequence.walk(state, ("gun",), (steps[act],))
        if isinstance(after, Ban):
            ban = after
            break
        state = after[0]
    later = sequence.movement_ended(state)
    own_fire, later_fire = (fields.ban_on_firing(s, s.piece("gun")) is None for s in (state, later))
    return {**_ruled(ban), "fire_own": own_fire, "fire_enemy_subphase": later_fire}


# --- chits and victory ----------------------------------------------------------------------------


@QUESTIONS.asks("D-4.4 D-17.0c D-17.0d", "D-4.4")
def _pool(
    turn: int, leaders: Mapping[Side, Names], overall_commander: Mapping[Side, str],
    chosen: Mapping[Side, Names] | None = None, seen_by: Side | None = None,
) -> Json:  # fmt: skip
    """The Activation Pool, and the part of it that a seat may see."""
    others = {
        side: tuple(name for name in names if name != overall_commander.get(side))
        for side, names in leaders.items()
    }
    fixed: dict[Side, Names] = {side: (name,) for side, name in overall_commander.items()}
    choose, able = tables.POOL_CHOICE, others
    if listed := tables.POOL.get(turn):
        choose, able = 0, dict.fromkeys(SIDES, ())
        for side in SIDES:
            names = leaders.get(side, ())
            fixed[side] = tuple(name for who in listed for name in names if name.lower() == who)
    secret = {seen_by: (chosen or {}).get(seen_by, ())} if seen_by else {}
    return {
        "fixed": fixed,
        "choose": dict.fromkeys(SIDES, choose),
        "from": able,
        "shown": {side: (*fixed.get(side, ()), *secret.get(side, ())) for side in SIDES},
        "may_activate": {name: others.get(side, ()) for side, name in overall_commander.items()},
    }


@QUESTIONS.asks("D-4.2 D-4.3 D-4.4 D-4.5", "D-4.4")
def _activation(setup: Setup, drawn: str, dead: Names = ()) -> Json:
    """Whom a drawn leader may activate, and which units may then move."""
    state = replace(setup.state(), drawn=drawn)
    if drawn not in state.board.leaders:
        raise FactError("drawn", f"expected one of the setup's leaders, got {drawn}")
    for name in dead:
        state = state.with_leader(name, dead=True, hex=None)
    choices, may = [], {}
    for choice in sequence.activations(state):
        key = choice.units_of or choice.leader
        acting = replace(state, commanding=choice.leader or drawn, units_of=choice.units_of)
        choices.append({"units_of": key} if choice.units_of else {"leader": key})
        able = (acting.piece(name) for name in acting.active_units)
        may[key] = [p.id for p in able if p.hexes and fields.may_act(acting, p)]
    return {"choices": choices, "may_move": may}


@QUESTIONS.asks("D-16.1 D-16.2")
def _victory_track(start_vp: int, events: tuple[Mapping[str, Any], ...]) -> Json:
    """The Victory Points after each of some events; positive for the French."""
    vp, track = start_vp, []
    for event in events:
        key = next((key for key in event if key in tables.VICTORY_POINTS), None)
        if key is None or event[key] not in SIDES:
            expected = ", ".join(tables.VICTORY_POINTS)
            raise FactError("events", f"expected one of {expected} with the side that gains")
        points = tables.VICTORY_POINTS[key] + event.get("stars", 0)
        vp += points if event[key] == "french" else -points
        track.append(vp)
    return {"track": track}


@QUESTIONS.asks("D-3.2 D-16.3 D-16.4")
def _game_over(facts: Facts, turn: int, vp: int, turns: int = 7) -> Json:
    """Who has won at the end of a turn."""
    victory = charts_in(facts.charts, SomeCharts).victory
    limits = tables.AUTOMATIC if victory is None else victory.automatic.model_dump()
    return {"winner": sequence.winner_of(turn, turns, vp, dict(limits))}
