"""Rifle and artillery fire: Firepower, row, modifiers, and what failed checks do (D-14, D-10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tablecam.rules.dice import Roll
from tablecam.rules.game import Ban, Event, PendingDecision
from tablecam.rules.hexes.zones import Hexes
from tablecam.rules.maida_1806 import tables
from tablecam.rules.maida_1806.field import (
    ban_on_firing,
    ban_on_target,
    comes_from_behind,
    flank_chain,
    gun_result,
    through,
    top_of_foot,
    withdrawal_losses,
    withdrawals,
)
from tablecam.rules.maida_1806.files import FireCharts
from tablecam.rules.maida_1806.state import (
    Decide,
    Due,
    KeepHex,
    Outcome,
    State,
    Units,
    Withdraw,
    dice_for,
    die_for,
    eliminated,
    enemy_of,
    shrunk,
    with_losses,
    without_leader,
)
from tablecam.rules.maida_1806.troops import Piece, firepower_of, modifier_of, rounded
from tablecam.table.sides import side_name


@dataclass(frozen=True)
class Shot:
    """A fire before its dice: the numbers, and the modifiers of the checks by unit.

    `kind` says whether units check, or a battery alone is fired at by guns (D-10.9) or by infantry
    (D-14.10.4); `row` is the index of the row of the Rifle Fire Table.
    """

    kind: str
    firers: Units
    target: str
    distance: int
    checks: Units
    modifiers: Mapping[str, Mapping[str, int]]
    firepower: int | None = None
    value: int | None = None
    start_row: int | None = None
    rows_down: int = 0
    row: int | None = None
    result: str = ""
    leader_die: bool = False

    def total(self, unit: str) -> int:
        """Returns the modifier of a unit's check."""
        return sum(self.modifiers.get(unit, {}).values())


def row_name(charts: FireCharts, row: int) -> str:
    """Returns a row of the Rifle Fire Table as players call it."""
    entry = charts.rows[row]
    if entry.to is None:
        return f"{entry.start}+"
    return str(entry.start) if entry.to == entry.start else f"{entry.start}-{entry.to}"


def ban_on_fire(state: State, units: Sequence[str], target: str, *, but: Units = ()) -> Ban | None:
    """Returns why some units may not fire together at an enemy."""
    if not units:
        return Ban("D-14.3", "expected a unit that fires")
    enemy = state.piece(target)
    for name in units:
        troop, piece = state.both(name)
        ban = ban_on_firing(state, piece) or ban_on_target(state, piece, enemy, but=but)
        if ban is not None:
            return ban
        if name in state.active_units and not troop.is_battery and piece.mp_left < 1:
            return Ban("D-14.10.2", f"{name} has no Movement Point left to fire")
        if len(units) > 1 and (troop.is_battery or troop.is_company):
            rule = "D-10.4" if troop.is_battery else "D-14.10.7"
            return Ban(rule, f"{name} never fires jointly")
    if len(set(units)) < len(units) or (len(units) > 1 and not flank_chain(state, units)):
        return Ban("D-14.10.5", "expected units flank to flank")
    only_gun = state.troop(target).is_battery and not top_of_foot(state, enemy)
    if only_gun and not state.troop(units[0]).is_battery:
        distance = state.grid.distance(state.piece(units[0]).hexes, enemy.hexes)
        if distance > 1:
            return Ban("D-14.10.4", "infantry cannot hurt a battery two hexes away")
    return None


def shot_of(state: State, units: Sequence[str], target: str) -> Shot:
    """Returns the numbers of a fire that is allowed (D-14.10.3)."""
    first = state.troop(units[0])
    enemy = state.piece(target)
    stack = state.stack(target)
    foot = [piece for piece in stack if not state.troop(piece.id).is_battery]
    if first.is_battery:
        return _gun_shot(state, units[0], target, foot)
    strongest = max(units, key=lambda name: firepower_of(*state.both(name)))
    power = firepower_of(*state.both(strongest))
    distance = state.grid.distance(state.piece(strongest).hexes, enemy.hexes)
    fires = min(tables.FIRE_MODIFIER[state.piece(name).fires] for name in units)
    if not foot:
        late = {"later fire": 1} if fires < 0 else {}
        own = {"firer disrupted": 1} if _disrupted(state, units) else {}
        return Shot("capture", tuple(units), target, distance, (), {target: late | own}, power)
    hit = foot[0]
    parts = {"fires": fires} | _parts(state, units, hit)
    if first.is_company:
        parts["company"] = tables.COMPANY_MODIFIER[distance]
        modifiers = {hit.id: {name: value for name, value in parts.items() if value}}
        return Shot(
            "checks", tuple(units), target, distance, (hit.id,), modifiers, power, None,
            result=first.fire_result or "M",
        )  # fmt: skip
    charts: FireCharts = state.board.chart("fire")
    value = rounded(Fraction(power, distance))
    start = next(i for i, row in enumerate(charts.rows) if row.to is None or value <= row.to)
    down = sum(len(state.piece(name).hexes) for name in units) - 1
    row = min(start + down, len(charts.rows) - 1)
    result = charts.rows[row].result
    parts["result"] = modifier_of(result)
    modifiers = {hit.id: {name: value for name, value in parts.items() if value}}
    return Shot(
        "checks", tuple(units), target, distance, (hit.id,), modifiers, power, value, start,
        down, row, result, charts.rows[row].leader_check,
    )  # fmt: skip


def _gun_shot(state: State, gun: str, target: str, foot: Sequence[Piece]) -> Shot:
    troop, piece = state.both(gun)
    enemy = state.piece(target)
    distance = state.grid.distance(piece.hexes, enemy.hexes)
    result = gun_result(troop, distance) or "M"
    if not foot:
        return Shot("duel", (gun,), target, distance, (), {}, result=result)
    modifiers = {}
    for hit in foot:
        parts = {"result": modifier_of(result), "stars": troop.stars} | _parts(state, (gun,), hit)
        modifiers[hit.id] = {name: value for name, value in parts.items() if value}
    near = distance <= 3  # D-4.6.2
    checks = tuple(hit.id for hit in foot)
    return Shot("checks", (gun,), target, distance, checks, modifiers, result=result,
                leader_die=near)  # fmt: skip


def _disrupted(state: State, units: Sequence[str]) -> bool:
    return any(state.piece(name).disrupted for name in units)


def _parts(state: State, units: Sequence[str], hit: Piece) -> dict[str, int]:
    """Returns the modifiers of where firers and target stand (D-14.4, D-14.8)."""
    pieces = [state.piece(name) for name in units]
    behind = all(comes_from_behind(through(state, hit, piece.hexes)) for piece in pieces)
    terrain = min((state.board.terrain(n).fire_modifier or 0 for n in hit.hexes), default=0)
    sides = [
        side.fire_modifier or 0
        for piece in pieces
        for one in piece.hexes
        for other in hit.hexes
        if state.grid.direction_deg(one, other) is not None
        and (side := state.board.hexside(one, other)) is not None
    ]
    kinds = [state.board.ground.terrain_of(number) for number in hit.hexes]
    return {
        "flank or rear": tables.FLANK_FIRE if behind else 0,
        "firer disrupted": tables.DISRUPTED_MORALE if _disrupted(state, units) else 0,
        kinds[0] if kinds else "terrain": terrain,
        "hexside": min(sides, default=0),
    }


def fired(state: State, units: Sequence[str], target: str) -> Outcome:
    """Returns the state with a fire declared and its dice due."""
    shot = shot_of(state, units, target)
    for name in units:
        troop, piece = state.both(name)
        if troop.is_battery:
            state = state.with_piece(name, fired=True)
            continue
        own = name in state.active_units
        mp = max(piece.mp_left - 1, 0.0) if own else piece.mp_left
        state = state.with_piece(name, fires=piece.fires + 1, mp_left=mp, fired=True)
    words = f" ({shot.result})" if shot.result else ""
    text = f"{', '.join(units)} fires at {target}{words}"
    event = Event("fire", text, "D-14.10.3", {"units": list(units), "target": target})
    dues: dict[str, Due] = {
        "checks": Checks(
            shot.firers, shot.checks, {unit: shot.total(unit) for unit in shot.checks},
            shot.leader_die, state.piece(target).hexes,
        ),
        "capture": Capture(shot.firers, target, shot.firepower or 1, shot.total(target)),
        "duel": Duel(units[0], target, shot.distance),
    }  # fmt: skip
    return state.pushed(dues[shot.kind]), (event,)


class Checks(Due):
    """The Morale Checks of the units that a fire hits, from the top of the stack (D-11.9)."""

    firers: Units
    units: Units
    modifiers: Mapping[str, int]
    leader_die: bool
    hexes: Hexes

    def roll(self, state: State) -> Roll:
        """Returns a die for each unit."""
        return dice_for(f"morale of {', '.join(self.units)}", len(self.units))

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state after the checks; leaders in the hex are in danger (D-4.6.1)."""
        events: tuple[Event, ...] = ()
        gun = state.troop(self.firers[0]).is_battery
        if gun and 0 in answer:
            state = state.with_piece(self.firers[0], silent=True)
            text = f"{self.firers[0]} does not fire again this turn"
            events += (Event("silent", text, "D-10.6"),)
        side = enemy_of(state.side(self.firers[0]))
        if self.leader_die:
            leaders = [o for n in self.hexes for o in state.leaders_at(n, side)]
            state = state.pushed(*(LeaderDie(leader.id, False) for leader in leaders))
        causes = tuple(state.piece(name).hexes for name in self.firers)
        for unit, die in zip(self.units, answer, strict=True):
            total = die + self.modifiers[unit]
            passed = total <= state.morale(unit)
            word = "passes" if passed else "fails"
            text = f"{unit} {word}: {die} {self.modifiers[unit]:+d} against {state.morale(unit)}"
            events += (
                Event("check", text, "D-3.4f", {"unit": unit, "total": total, "passed": passed}),
            )
            if not passed:
                state, more = failed(state, unit, causes)
                events += more
        return state, events


def failed(state: State, unit: str, causes: tuple[Hexes, ...]) -> Outcome:
    """Returns the state after a failed check of a unit that was hit by fire (the owner's chart)."""
    charts: FireCharts = state.board.chart("fire")
    was_disrupted = state.piece(unit).disrupted
    failure = charts.failed.disrupted if was_disrupted else charts.failed.steady
    shooters = enemy_of(state.side(unit))
    state, events = with_losses(state, unit, failure.losses)
    if state.piece(unit).eliminated:
        return state.gains(shooters, tables.VICTORY_POINTS["by_fire"]), events
    if failure.disrupt and not was_disrupted:
        state = state.with_piece(unit, disrupted=True)
        events += (Event("disrupted", f"{unit} is Disrupted", "D-14.8", {"unit": unit}),)
    if was_disrupted or failure.withdraw:
        state = state.pushed(Retreat(unit, causes, max(failure.withdraw, 1)))
    if shrunk(state, unit):
        state = state.pushed(Shrink(unit))
    return state, events


class Shrink(Due):
    """A line is too weak for two hexes: its owner keeps one of them (D-6.3.4)."""

    unit: str

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the owner's choice, none if the unit has left the map."""
        if not shrunk(state, self.unit):
            return None
        return PendingDecision(f"Which hex does {self.unit} keep?", state.side(self.unit))

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns both hexes."""
        return tuple(KeepHex(self.unit, number) for number in state.piece(self.unit).hexes)

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state with the unit in one hex; its facing and markers stay."""
        if answer is None:
            return state, ()
        return state.with_piece(self.unit, hexes=(answer.hex,)), ()


class Capture(Due):
    """Infantry fires at a battery alone: lower than its Firepower captures it (D-14.10.4)."""

    firers: Units
    target: str
    firepower: int
    modifier: int

    def roll(self, state: State) -> Roll:
        """Returns the die."""
        return die_for(f"fire at {self.target}")

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state after the die."""
        if answer[0] + self.modifier < self.firepower:
            return captured(state, self.target, "D-14.10.4")
        return state, (Event("check", f"{self.target} holds", "D-14.10.4"),)


class Duel(Due):
    """Guns fire at a battery alone: above the distance, then a second die (D-10.9)."""

    firer: str
    target: str
    distance: int
    second: bool = False

    def roll(self, state: State) -> Roll:
        """Returns the die."""
        return die_for(f"{'second ' if self.second else ''}fire at {self.target}")

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state after the die."""
        if not self.second:
            if answer[0] > self.distance:
                return state.pushed(Duel(self.firer, self.target, self.distance, True)), ()
            return state, (Event("check", f"{self.target} is not hit", "D-10.9"),)
        if answer[0] - state.troop(self.firer).stars <= 0:
            return captured(state, self.target, "D-10.9")
        return state, (Event("check", f"{self.target} holds", "D-10.9"),)


def captured(state: State, gun: str, rule: str) -> Outcome:
    """Returns the state with a battery in the enemy's hands, silent where it stands (D-10.12)."""
    side = enemy_of(state.side(gun))
    points = tables.VICTORY_POINTS["battery"] + state.troop(gun).stars
    state = state.with_piece(gun, captured_by=side, silent=True)
    text = f"{gun} is captured: {points} VP for the {side_name(side)}"
    return state.gains(side, points), (Event("captured", text, rule, {"unit": gun}),)


class LeaderDie(Due):
    """A die for a leader in danger: 0 kills, 9 injures; after a rout he leaves (D-4.6)."""

    leader: str
    must_leave: bool

    def roll(self, state: State) -> Roll | None:
        """Returns the die, none if he is out of the game."""
        return None if state.leader(self.leader).dead else die_for(f"leader {self.leader}")

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state after the die."""
        if answer is None:
            return state, ()
        die = answer[0]
        if die == 0:
            return killed(state, self.leader, "D-4.6.1")
        events: tuple[Event, ...] = ()
        if die == 9:
            state = state.with_leader(self.leader, injured=True)
            pool = tuple(chit for chit in state.pool if chit != self.leader)
            state = replace(state, pool=pool)
            events = (Event("leader", f"{self.leader} is injured", "D-4.6.1"),)
        if self.must_leave:
            state = state.pushed(LeaderLeaves(self.leader))
        return state, events


def killed(state: State, leader: str, rule: str) -> Outcome:
    """Returns the state without a leader, for whom the enemy scores (D-4.6, D-16.1)."""
    side = enemy_of(state.leader_side(leader))
    state = without_leader(state, leader).gains(side, tables.VICTORY_POINTS["leader"])
    return state, (Event("leader", f"{leader} is killed", rule, {"leader": leader}),)


class LeaderLeaves(Due):
    """A leader whose stack has routed goes to an adjacent hex without enemies (D-4.6.3)."""

    leader: str
    may_stay: bool = False

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the owner's choice, none if there is no hex."""
        if not self.legal(state):
            return None
        side = state.leader_side(self.leader)
        return PendingDecision(f"Where does {self.leader} go?", side)

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns the hexes."""
        start = state.leader(self.leader).hex
        if start is None:
            return ()
        enemy = enemy_of(state.leader_side(self.leader))
        free = (
            number
            for number in state.grid.neighbours(start)
            if not state.at(number, enemy) and state.board.is_passable(number)
        )
        stay = (Withdraw(self.leader),) if self.may_stay else ()
        return (*stay, *(Withdraw(self.leader, (number,)) for number in free))

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state with the leader elsewhere; without a hex he is eliminated."""
        if answer is None:
            if self.may_stay or state.leader(self.leader).hex is None:
                return state, ()
            return killed(state, self.leader, "D-4.6.3")
        if not answer.to:
            return state, ()
        return state.with_leader(self.leader, hex=answer.to[0]), ()


class Retreat(Due):
    """A unit withdraws hex by hex away from its enemies (D-14.11, D-W)."""

    unit: str
    causes: tuple[Hexes, ...]
    left: int
    is_free: bool = False

    def options(self, state: State) -> tuple[Hexes, ...]:
        """Returns the hexes of the next step."""
        piece = state.piece(self.unit)
        return withdrawals(state, piece, self.causes)[1] if piece.hexes else ()

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the owner's choice; a single hex is taken without one."""
        if len(self.options(state)) < 2 and not self.is_free:
            return None
        if not self.options(state):
            return None
        return PendingDecision(f"Where does {self.unit} withdraw?", state.side(self.unit))

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns the hexes, and to stay where a withdrawal is free."""
        stay = (Withdraw(self.unit),) if self.is_free else ()
        return (*stay, *(Withdraw(self.unit, hexes) for hexes in self.options(state)))

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state one hex farther, with its Losses; without a hex it is eliminated."""
        piece = state.piece(self.unit)
        options = self.options(state)
        if not piece.hexes or (answer is not None and not answer.to):
            return state, ()
        if not options:
            if self.is_free:
                return state, ()
            enemy = enemy_of(state.side(self.unit))
            state, events = eliminated(state, self.unit, "D-14.11.6")
            points = tables.VICTORY_POINTS["by_blocked_withdrawal"]
            return state.gains(enemy, points), events
        to = options[0] if answer is None else answer.to
        return withdrawn(state, self, to)


def withdrawn(state: State, retreat: Retreat, to: Hexes) -> Outcome:
    """Returns the state with a unit one hex farther back, and the rest of its way due."""
    unit, piece = retreat.unit, state.piece(retreat.unit)
    losses = withdrawal_losses(state, piece, to)
    foot = [p for n in to for p in state.at(n, state.side(unit)) if not _is_gun(state, p)]
    facing = foot[0].facing_deg if foot else piece.facing_deg
    state = state.with_piece(unit, hexes=to, facing_deg=facing, straight=0, passing=False)
    text = f"{unit} withdraws to {' '.join(to)}"
    events: tuple[Event, ...] = (Event("withdraw", text, "D-14.11", {"unit": unit}),)
    if retreat.left > 1:
        state = state.pushed(Retreat(unit, retreat.causes, retreat.left - 1))
    if losses:
        state, more = with_losses(state, unit, losses)
        events += more
        if shrunk(state, unit):
            state = state.pushed(Shrink(unit))
    return state, events


def _is_gun(state: State, piece: Piece) -> bool:
    return state.troop(piece.id).is_battery


class SquareTry(Due):
    """A unit may form Square as enemy cavalry enters its hex (D-7.2)."""

    units: Units
    is_tried: bool = False

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the owner's choice whether to try."""
        if self.is_tried:
            return None
        words = f"Does {self.units[0]} try to form Square?"
        return PendingDecision(words, state.side(self.units[0]))

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns both."""
        return Decide(True), Decide(False)

    def roll(self, state: State) -> Roll | None:
        """Returns the die of the check."""
        return die_for(f"Square of {self.units[0]}") if self.is_tried else None

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state in Square, or with a Loss in the old formation."""
        if not self.is_tried:
            again = SquareTry(self.units, True)
            return (state.pushed(again) if answer.yes else state), ()
        if answer[0] <= state.morale(self.units[0]):
            for name in self.units:
                hexes = state.piece(name).hexes[:1]
                clash = [n for n in state.piece(name).hexes if state.is_clash(n)]
                state = state.with_piece(name, formation="square", hexes=tuple(clash[:1]) or hexes)
            return state, (Event("square", f"{self.units[0]} forms Square", "D-7.2"),)
        state, events = with_losses(state, self.units[0], 1)
        if not state.piece(self.units[0]).eliminated and shrunk(state, self.units[0]):
            state = state.pushed(Shrink(self.units[0]))
        return state, (Event("check", f"{self.units[0]} fails to form Square", "D-7.2"), *events)
