"""Rifle and artillery fire: Firepower, row, modifiers, and what failed checks do (D-14, D-10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tablecam.geometry.shapes import Shape
from tablecam.rules.game import Ban, PendingDecision, Sum
from tablecam.rules.hexes.zones import Hexes
from tablecam.rules.maida_1806 import field, movement, tables, troops
from tablecam.rules.maida_1806 import state as acts
from tablecam.rules.maida_1806.files import FireCharts, FireRow
from tablecam.rules.maida_1806.state import Due, State, Units, enemy_of
from tablecam.rules.maida_1806.troops import Piece
from tablecam.rules.steps import YES_OR_NO, Decide
from tablecam.table.sides import side_plural
from tablecam.wording import joined


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

    @property
    def at(self) -> str:
        """The units that check, and the battery on top of them if it does not (R-21)."""
        under = f", under {self.target}" if self.checks and self.target not in self.checks else ""
        return f"{joined(self.checks) or self.target}{under}"

    def total(self, unit: str) -> int:
        """Returns the modifier of a unit's check."""
        return sum(self.modifiers.get(unit, {}).values())


def row_name(row: FireRow) -> str:
    """Returns a row of the Rifle Fire Table as players call it."""
    if row.to is None:
        return f"{row.start}+"
    return str(row.start) if row.to == row.start else f"{row.start}-{row.to}"


def ban_on_fire(state: State, units: Sequence[str], target: str) -> Ban | None:
    """Returns why some units may not fire together at an enemy."""
    if not units:
        return Ban("D-14.3", "expected a unit that fires")
    enemy = state.piece(target)
    for name in units:
        troop, piece = state.both(name)
        ban = (
            field.ban_on_firing(state, piece)
            or field.ban_on_target(state, piece, enemy)
            or _ban_on_points(state, name)
        )
        if ban is not None:
            return ban
        if len(units) > 1 and (troop.is_battery or troop.is_company):
            return Ban("D-10.4" if troop.is_battery else "D-14.10.7", f"{name} never fires jointly")
    if len(set(units)) < len(units) or (len(units) > 1 and not field.flank_chain(state, units)):
        return Ban("D-14.10.5", "expected units flank to flank")
    if state.troop(target).is_battery and not field.top_of_foot(state, enemy):
        return _ban_on_guns_alone(state, units[0], enemy)
    return None


def _ban_on_points(state: State, name: str) -> Ban | None:
    """Returns why an active unit has no Movement Point to fire, or none to spare (R-14)."""
    troop, piece = state.both(name)
    if name not in state.active_units or troop.is_battery:
        return None
    if piece.mp_left < 1:
        return Ban.of(name, "D-14.10.2", "has no Movement Point left to fire")
    if name not in state.movers:
        return None
    moving = (*state.movers, *troop.companies)
    ban = movement.ban_on_spending(state, piece, 1, moving=moving)
    return ban and Ban(ban.rule, f"{name} must go on: {ban.because}")


def _ban_on_guns_alone(state: State, unit: str, enemy: Piece) -> Ban | None:
    """Returns why a unit cannot hurt a battery alone from where it is (D-10.9, D-14.10.4)."""
    troop, piece = state.both(unit)
    distance = state.grid.distance(piece.hexes, enemy.hexes)
    if not troop.is_battery:
        far = Ban("D-14.10.4", "infantry cannot hurt a battery two hexes away")
        return far if distance > 1 else None
    result = field.gun_result(troop, distance) or "M"
    if troops.modifier_of(result) > 0:
        return None
    why = f"a battery alone is hit at a result of 1M or 2M, and {unit} has {result} there"
    return Ban("D-10.9", why)


def shot_of(state: State, units: Sequence[str], target: str) -> Shot:
    """Returns the numbers of a fire that is allowed (D-14.10.3)."""
    first, pieces = state.troop(units[0]), [state.piece(name) for name in units]
    foot = [piece for piece in state.stack(target) if not state.troop(piece.id).is_battery]
    if first.is_battery:
        return _gun_shot(state, units[0], target, foot)
    strongest = max(units, key=lambda name: troops.firepower_of(*state.both(name)))
    power = troops.firepower_of(*state.both(strongest))
    distance = state.grid.distance(state.piece(strongest).hexes, state.piece(target).hexes)
    fires = min(tables.FIRE_MODIFIER[piece.fires] for piece in pieces)
    shot = Shot("capture", tuple(units), target, distance, (), {}, power)
    if not foot:
        disrupted = any(piece.disrupted for piece in pieces)
        worse = {"later fire": int(fires < 0), "firer disrupted": int(disrupted)}
        return replace(shot, modifiers={target: _named(worse)})
    hit = foot[0]
    terms = {"first fire" if fires > 0 else "later fire": fires, **_parts(state, units, hit)}
    shot = replace(shot, kind="checks", checks=(hit.id,))
    if first.is_company:
        terms["company"] = tables.COMPANY_MODIFIER[distance]
        return replace(shot, modifiers={hit.id: _named(terms)}, result=first.fire_result or "M")
    rows = state.board.chart("fire").rows
    value = troops.rounded(Fraction(power, distance))
    start = next(i for i, row in enumerate(rows) if row.to is None or value <= row.to)
    down = sum(len(piece.hexes) for piece in pieces) - 1
    row = min(start + down, len(rows) - 1)
    result = rows[row].result
    terms[f"fire result {result}"] = troops.modifier_of(result)
    return replace(
        shot, modifiers={hit.id: _named(terms)}, value=value, start_row=start, rows_down=down,
        row=row, result=result, leader_die=rows[row].leader_check,
    )  # fmt: skip


def _gun_shot(state: State, gun: str, target: str, foot: Sequence[Piece]) -> Shot:
    troop, piece = state.both(gun)
    distance = state.grid.distance(piece.hexes, state.piece(target).hexes)
    result = field.gun_result(troop, distance) or "M"
    if not foot:
        return Shot("duel", (gun,), target, distance, (), {}, result=result)
    own = {f"fire result {result}": troops.modifier_of(result), "stars": troop.stars}
    modifiers = {hit.id: _named({**own, **_parts(state, (gun,), hit)}) for hit in foot}
    return Shot(
        "checks", (gun,), target, distance, tuple(modifiers), modifiers, result=result,
        leader_die=distance <= tables.GUNS_NEAR_LEADER,
    )  # fmt: skip


def _named(terms: Mapping[str, int]) -> dict[str, int]:
    """Returns the terms that count."""
    return {name: value for name, value in terms.items() if value}


def _parts(state: State, units: Sequence[str], hit: Piece) -> dict[str, int]:
    """Returns the modifiers of where firers and target stand (D-14.4, D-14.8)."""
    pieces = [state.piece(name) for name in units]
    came = (field.through(state, hit, piece.hexes) for piece in pieces)
    behind = all(map(field.comes_from_behind, came))
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
        **aim(behind, any(piece.disrupted for piece in pieces)),
        kinds[0] if kinds else "terrain": terrain,
        "hexside": min(sides, default=0),
    }


def aim(behind: bool, disrupted: bool) -> dict[str, int]:
    """Returns the modifiers of fire from behind (D-14.4), and of Disrupted firers (D-14.8)."""
    return {
        "flank or rear": tables.FLANK_FIRE if behind else 0,
        "firer disrupted": tables.DISRUPTED_MORALE if disrupted else 0,
    }


def fired(state: State, units: Sequence[str], target: str) -> State:
    """Returns the state with a fire declared and its dice due."""
    shot = shot_of(state, units, target)
    for name in units:
        troop, piece = state.both(name)
        marks: dict[str, Any] = {"fired": True}
        if not troop.is_battery:
            spent = 1 if name in state.active_units else 0
            marks |= {"fires": piece.fires + 1, "mp_left": max(piece.mp_left - spent, 0.0)}
        state = state.with_piece(name, **marks)
    added = troops.modifier_of(shot.result)
    check = f"a Morale Check{f' at {added:+d}' if added else ''}"
    words = f": result {shot.result}, {check}" if shot.checks else ""
    fires = "fires" if len(units) == 1 else "fire"
    text = f"{joined(units)} {fires} at {shot.at}{words}"
    sums = [
        Sum(
            f"{unit}: die {shot.total(unit):+d} against Morale {state.morale(unit)}",
            tables.in_words(shot.modifiers[unit].items()),
        )._asdict()
        for unit in shot.checks if shot.modifiers[unit]
    ]  # fmt: skip
    facts = {"units": list(units), "target": target, "sums": sums}
    return state.pushed(due_of(state, shot)).tells("fire", text, "D-14.10.3", **facts)


def due_of(state: State, shot: Shot) -> Checks | Capture | Duel:
    """Returns the dice of a fire."""
    if shot.kind == "duel":
        return Duel(shot.firers[0], shot.target, shot.distance)
    if shot.kind == "capture":
        most = (shot.firepower or 1) - shot.total(shot.target) - 1
        return Capture(shot.target, most, "D-14.10.4")
    hexes = state.piece(shot.target).hexes
    return Checks(shot.firers, shot.checks, shot.modifiers, shot.leader_die, hexes)


class Checks(Due):
    """The Morale Checks of the units that a fire hits, from the top of the stack (D-11.9)."""

    firers: Units
    units: Units
    modifiers: Mapping[str, Mapping[str, int]]
    leader_die: bool
    hexes: Hexes
    dice = "morale of {names}"

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state after the checks; leaders in the hex are in danger (D-4.6.1)."""
        firer = self.firers[0]
        if state.troop(firer).is_battery and 0 in answer:
            text = f"{firer} does not fire again this turn"
            state = state.with_piece(firer, silent=True).tells("silent", text, "D-10.6")
        for number in self.hexes[::-1] if self.leader_die else ():
            there = state.leaders_at(number, state.enemy(firer))
            state = state.pushed(*(LeaderDie(leader.id, False) for leader in there))
        causes = state.places(self.firers)
        for unit, die in zip(self.names(state), answer, strict=True):
            total = die + sum(self.modifiers[unit].values())
            passed = total <= state.morale(unit)
            word = "passes" if passed else "fails"
            text = f"{unit} {word}: {tables.check_words(die, total - die, state.morale(unit))}"
            state = state.tells("check", text, "D-3.4f", unit=unit, total=total, passed=passed)
            state = state if passed else failed(state, unit, causes)
        return state


def failed(state: State, unit: str, causes: tuple[Hexes, ...]) -> State:
    """Returns the state after a failed check of a unit that was hit by fire (the owner's chart)."""
    charts: FireCharts = state.board.chart("fire")
    was_disrupted = state.piece(unit).disrupted
    failure = charts.failed.disrupted if was_disrupted else charts.failed.steady
    shooters = state.enemy(unit)
    state = acts.with_losses(state, unit, failure.losses)
    if state.piece(unit).eliminated:
        return state.gains(shooters, tables.VICTORY_POINTS["by_fire"])
    if failure.disrupt and not was_disrupted:
        state = state.with_piece(unit, disrupted=True)
        state = state.tells("disrupted", f"{unit} is Disrupted", "D-14.8", unit=unit)
    if was_disrupted or failure.withdraw:
        state = state.pushed(Retreat(unit, causes, max(failure.withdraw, 1)))
    return state.pushed(Shrink(unit))


class Shrink(Due):
    """A line is too weak for two hexes: its owner keeps one of them (D-6.3.4)."""

    unit: str
    question = "Which hex does {unit} keep?"

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the question, and why it is asked (D-6.2)."""
        asked, side = super().asked(state), self.owner(state)
        least, strength = tables.TWO_HEX_FROM[side], state.strength(self.unit)
        why = f"The {side_plural(side)} need Strength {least} for a Line on two hexes: "
        return asked and replace(asked, hint=f"{why}{self.unit} has {strength}.")

    def legal(self, state: State) -> tuple[acts.KeepHex, ...]:
        """Returns both hexes; none if the line needs them, lies in one or has left the map."""
        hexes = state.piece(self.unit).hexes
        is_wide = len(hexes) > 1 and not state.needs_two_hexes(self.unit)
        return tuple(acts.KeepHex(self.unit, number) for number in hexes) if is_wide else ()

    def follow(self, state: State, answer: acts.KeepHex | None) -> State:
        """Returns the state with the unit in one hex; its facing and markers stay."""
        if answer is None:
            return state
        state = state.with_piece(self.unit, hexes=(answer.hex,))
        return state.tells("keep", f"{self.unit} keeps {answer.hex}", "D-6.3.4", unit=self.unit)


class Capture(Due):
    """A die of at most a number captures a battery alone.

    Infantry fires below its Firepower (D-14.10.4), guns with their second die at 0, less their
    stars (D-10.9).
    """

    unit: str
    most: int
    rule: str
    shot: str = "fire"
    dice = "{shot} at {unit}"

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state after the die."""
        die = f"die {answer[0]}, captured by {tables.most_words(self.most)}"
        if answer[0] <= self.most:
            return captured(state, self.unit, self.rule, f" ({die})")
        return state.tells("check", f"{self.unit} holds: {die}", self.rule)


class Duel(Due):
    """Guns fire at a battery alone: a die above the distance hits it (D-10.9)."""

    firer: str
    unit: str
    distance: int
    dice = "fire at {unit}"

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state with the second die due, if the first has hit."""
        is_hit = answer[0] > self.distance
        words = f"{'is' if is_hit else 'is not'} hit: die {answer[0]}, hit by more than"
        text = f"{self.unit} {words} the distance {self.distance}"
        state = state.tells("check", text, "D-10.9")
        if not is_hit:
            return state
        stars = state.troop(self.firer).stars
        return state.pushed(Capture(self.unit, stars, "D-10.9", "second fire"))


def captured(state: State, gun: str, rule: str, why: str = "") -> State:
    """Returns the state with a battery in the enemy's hands, silent where it stands (D-10.12)."""
    side = state.enemy(gun)
    points = tables.VICTORY_POINTS["battery_captured"] + state.troop(gun).stars
    state = state.with_piece(gun, captured_by=side, silent=True)
    text = f"{gun} is captured{why}: {points} VP for the {side_plural(side)}"
    return state.gains(side, points).tells("captured", text, rule, unit=gun)


class LeaderDie(Due):
    """A die for a leader in danger: 0 kills, 9 injures; after a rout he leaves (D-4.6)."""

    leader: str
    must_leave: bool
    dice = "leader {leader}"

    def names(self, state: State) -> Units:
        """Returns the leader, unless he is out of the game."""
        return () if state.leader(self.leader).dead else (self.leader,)

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state after the die."""
        fate = tables.LEADER_FATE.get(answer[0])
        if fate == "killed":
            return killed(state, self.leader, "D-4.6.1")
        if fate == "injured":
            state = state.with_leader(self.leader, injured=True).without_chit(self.leader)
            state = state.tells("leader", f"{self.leader} is injured", "D-4.6.1")
        return state.pushed(LeaderLeaves(self.leader)) if self.must_leave else state


def killed(state: State, leader: str, rule: str) -> State:
    """Returns the state without a leader, for whom the enemy scores (D-4.6, D-16.1)."""
    side = enemy_of(state.leader_side(leader))
    state = acts.without_leader(state, leader).gains(side, tables.VICTORY_POINTS["leader_killed"])
    return state.tells("leader", f"{leader} is killed", rule, leader=leader)


class LeaderLeaves(Due):
    """A leader whose stack has routed goes to an adjacent hex without enemies (D-4.6.3)."""

    leader: str
    may_stay: bool = False
    question = "Where does {leader} go?"

    def owner(self, state: State) -> str:
        """Returns the leader's side."""
        return state.leader_side(self.leader)

    def legal(self, state: State) -> tuple[acts.Withdraw, ...]:
        """Returns the hexes."""
        start = state.leader(self.leader).hex
        if start is None:
            return ()
        enemy = enemy_of(self.owner(state))
        free = (n for n in state.grid.neighbours(start) if state.is_free(n, enemy))
        stay = (acts.Withdraw(self.leader),) if self.may_stay else ()
        return (*stay, *(acts.Withdraw(self.leader, (number,)) for number in free))

    def follow(self, state: State, answer: acts.Withdraw | None) -> State:
        """Returns the state with the leader elsewhere; without a hex he is eliminated."""
        if answer is None and not self.may_stay and state.leader(self.leader).hex is not None:
            return killed(state, self.leader, "D-4.6.3")
        if answer is None or not answer.to:
            return state
        return state.with_leader(self.leader, hex=answer.to[0])


class Retreat(Due):
    """A unit withdraws hex by hex away from its enemies (D-14.11, D-W)."""

    unit: str
    causes: tuple[Hexes, ...]
    left: int
    is_free: bool = False
    question = "Where does {unit} withdraw?"
    least_answers = 2

    def options(self, state: State) -> tuple[Hexes, ...]:
        """Returns the hexes of the next step."""
        piece = state.piece(self.unit)
        return field.withdrawals(state, piece, self.causes)[1] if piece.hexes else ()

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws the hexes."""
        hexes = [number for option in self.options(state) for number in option]
        return state.grid.outlines(hexes, "withdrawal")

    def legal(self, state: State) -> tuple[acts.Withdraw, ...]:
        """Returns the hexes, and to stay where a withdrawal is free."""
        stay = (acts.Withdraw(self.unit),) if self.is_free else ()
        return (*stay, *(acts.Withdraw(self.unit, hexes) for hexes in self.options(state)))

    def follow(self, state: State, answer: acts.Withdraw | None) -> State:
        """Returns the state one hex farther, with its Losses; without a hex it is eliminated."""
        options = self.options(state)
        if not state.piece(self.unit).hexes or (answer is not None and not answer.to):
            return state
        if options:
            return self._withdrawn(state, options[0] if answer is None else answer.to)
        if self.is_free:
            return state
        state = acts.eliminated(state, self.unit, "D-14.11.6")
        points = tables.VICTORY_POINTS["by_blocked_withdrawal"]
        return state.gains(state.enemy(self.unit), points)

    def _withdrawn(self, state: State, to: Hexes) -> State:
        piece = state.piece(self.unit)
        why = field.withdrawal_losses(state, piece, to)
        facing_deg = field.joined_facing_deg(state, piece, to)
        piece = replace(piece, hexes=to, facing_deg=facing_deg, straight=0, passing=False)
        state = state.put(piece)
        text = ", ".join((f"{self.unit} withdraws to {joined(to)}", *why))
        state = state.tells("withdraw", text, "D-14.11", unit=self.unit)
        if self.left > 1:
            state = state.pushed(Retreat(self.unit, self.causes, self.left - 1))
        state = acts.with_losses(state, self.unit, len(why))
        return state.pushed(Shrink(self.unit)) if why else state


class SquareTry(Due):
    """A unit, and its stack with it, may form Square as enemy cavalry enters its hex (D-7.2)."""

    unit: str
    stack: Units
    question = "Does {unit} try to form Square?"
    answers = YES_OR_NO

    def follow(self, state: State, answer: Decide) -> State:
        """Returns the state with the check due, if it tries."""
        return state.pushed(SquareDie(self.unit, self.stack)) if answer.yes else state


class SquareDie(Due):
    """The check of a unit that tries to form Square; its stack does as it does (D-7.2)."""

    unit: str
    stack: Units
    dice = "Square of {unit}"

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state in Square, or with a Loss in the old formation."""
        words = tables.check_words(answer[0], 0, state.morale(self.unit))
        if answer[0] > state.morale(self.unit):
            state = state.tells("check", f"{self.unit} fails to form Square: {words}", "D-7.2")
            return acts.with_losses(state, self.unit, 1).pushed(Shrink(self.unit))
        for name in self.stack:
            hexes = sorted(state.piece(name).hexes, key=state.is_clash, reverse=True)
            state = state.with_piece(name, formation="square", hexes=tuple(hexes[:1]))
        return state.tells("square", f"{self.unit} forms Square: {words}", "D-7.2")
