"""Clashes: who fights, the column, the result, Losses and Routs (D-15)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import product
from typing import Any, Final

from tablecam.rules.dice import Roll
from tablecam.rules.game import PendingDecision, Sum, outcomes_of
from tablecam.rules.hexes.zones import Hexes
from tablecam.rules.maida_1806 import fire, tables
from tablecam.rules.maida_1806 import state as acts
from tablecam.rules.maida_1806.field import around, zone_of
from tablecam.rules.maida_1806.files import ClashCharts, Shift
from tablecam.rules.maida_1806.movement import may_form_square
from tablecam.rules.maida_1806.state import Due, State, Units, enemy_of
from tablecam.rules.maida_1806.troops import Piece
from tablecam.table.sides import side_plural
from tablecam.wording import counted, joined

SQUARE = "square against cavalry"


@dataclass(frozen=True)
class Combat:
    """A Clash: its hexes, who attacks and who defends, and how it came about."""

    hexes: Hexes
    attackers: Units
    defenders: Units
    how: str = "clash"


@dataclass(frozen=True)
class Side:
    """A side of a Clash as the shifts look at it: its units that fight, and the enemy's."""

    state: State
    combat: Combat
    own: Units
    enemy: Units
    attacks: bool

    def strength(self, times: int) -> bool:
        """Whether it has so many times the enemy's Strength."""
        return self.lead(strength_in) >= (times - 1) * strength_in(self.state, self.enemy)

    def lead(self, measure: Callable[[State, Units], int]) -> int:
        """Returns by how much it exceeds the enemy."""
        return measure(self.state, self.own) - measure(self.state, self.enemy)

    def came_from(self, zone: str) -> bool:
        """Whether it attacks, and entered from a Flank or Rear hex of a defender (R-35)."""
        pairs = product(map(self.state.piece, self.enemy), _entries(self.state, self.combat))
        return self.attacks and any(zone_of(self.state, p, (old,)) == zone for p, (old, _) in pairs)


def _horse(state: State, units: Units) -> bool:
    return any(state.troop(name).arm == "cavalry" for name in units)


def _formed(state: State, units: Units, formation: str) -> bool:
    """Whether a unit has a formation; a battery fights as in Line (D-10.10)."""
    return any(
        formation == ("line" if state.troop(name).is_battery else state.piece(name).formation)
        for name in units
    )


def _best_morale(state: State, units: Units) -> int:
    return max((state.morale(name) for name in units if state.troop(name).morale), default=0)


HOLDS: Final[Mapping[str, Callable[[Side, str], bool]]] = {
    "flank": lambda side, _: side.came_from("flank"),
    "rear": lambda side, _: side.came_from("rear"),
    "charge": lambda side, _: side.attacks and side.combat.how == "charge",
    "counterattack": lambda side, _: side.attacks and side.combat.how == "counterattack",
    "strength_at_least_double": lambda side, _: side.strength(2),
    "strength_at_least_triple": lambda side, _: side.strength(3),
    "strength_difference": lambda side, number: side.lead(strength_in) >= int(number),
    "morale_difference": lambda side, number: side.lead(_best_morale) >= int(number),
    "leader_present": lambda side, _: any(
        side.state.leaders_at(n, side.state.side(side.own[0])) for n in side.combat.hexes
    ),
    "disrupted_enemy": lambda side, _: any(side.state.piece(n).disrupted for n in side.enemy),
    "enemy_in_column": lambda side, _: _formed(side.state, side.enemy, "column"),
    "enemy_in_line": lambda side, _: _formed(side.state, side.enemy, "line"),
    "enemy_in_square": lambda side, _: _formed(side.state, side.enemy, "square"),
    "own_in_column": lambda side, _: _formed(side.state, side.own, "column"),
    "own_in_line": lambda side, _: _formed(side.state, side.own, "line"),
    "own_cavalry": lambda side, _: _horse(side.state, side.own),
    "enemy_cavalry": lambda side, _: _horse(side.state, side.enemy),
    "terrain": lambda side, kind: any(
        side.state.board.ground.terrain_of(n) == kind for n in side.combat.hexes
    ),
    "across": lambda side, kind: any(
        side.state.board.ground.side_of(*pair) == kind
        for pair in _entries(side.state, side.combat)
    ),
}  # fmt: skip
"""When a chart may shift columns (section 5.1), as `tables.SHIFT_WORDS` list it."""


def fighting(state: State, units: Iterable[str]) -> Units:
    """Returns the units that fight; a battery does so only alone (D-10.10, D-10.11)."""
    names = tuple(units)
    return state.foot(names) or names


def strength_in(state: State, units: Units) -> int:
    """Returns the Strength of a side (D-15.1, D-11.6)."""
    return sum(state.strength(name) for name in fighting(state, units))


def shifts_of(state: State, combat: Combat) -> tuple[Shift, ...]:
    """Returns the shifts that apply, the attacker's first (D-15.7b)."""
    charts: ClashCharts = state.board.chart("clash")
    listed = sorted(charts.shift, key=lambda shift: shift.side)
    shifts = tuple(shift for shift in listed if holds(state, combat, shift.side, shift.when))
    sides = [state.board.hexside(*pair) for pair in _entries(state, combat)[:1]]
    crossed = sum(side.clash_shift or 0 for side in sides if side is not None)
    hexside = Shift.model_construct(side="defender", when="hexside", columns=crossed)
    return (*shifts, hexside) if crossed else shifts


def _entries(state: State, combat: Combat) -> list[tuple[str, str]]:
    """Returns the hexsides by which attackers came, each half of a line by its own (R-35)."""
    return [
        (old, number)
        for piece in map(state.piece, combat.attackers)
        for place, old in enumerate(piece.entered_from)
        for number in combat.hexes
        if state.grid.direction_deg(old, number) is not None
        and (len(piece.hexes) != len(piece.entered_from) or piece.hexes[place] == number)
    ]


def holds(state: State, combat: Combat, side: str, when: str) -> bool:
    """Whether a condition of the shifts holds for a side of a combat (section 5.1)."""
    sides = fighting(state, combat.attackers), fighting(state, combat.defenders)
    attacks, (name, _, value) = side == "attacker", when.partition(":")
    return HOLDS[name](Side(state, combat, *(sides if attacks else sides[::-1]), attacks), value)


def column_of(state: State, combat: Combat) -> str:
    """Returns the head of the column; Square has its own against cavalry (D-7.3, D-15.7b)."""
    charts: ClashCharts = state.board.chart("clash")
    is_square = any(state.piece(name).formation == "square" for name in combat.defenders)
    if is_square and _horse(state, combat.attackers):
        return SQUARE
    index = charts.columns.index("0")
    index += sum(shift.columns for shift in shifts_of(state, combat))
    return charts.columns[min(max(index, 0), len(charts.columns) - 1)]


def sums_of(state: State, combat: Combat) -> tuple[Sum, ...]:
    """Returns the column of a combat with the shifts that lead to it (D-15.7b)."""
    shifts = ((shift.when, shift.columns) for shift in shifts_of(state, combat))
    return (Sum(f"Column {column_of(state, combat)}", tables.in_words(shifts) or ("no shift",)),)


def result_of(state: State, combat: Combat, die: int) -> str:
    """Returns the result of a die: A+n or D+n, who has lost and for how long (D-15.7d)."""
    charts: ClashCharts = state.board.chart("clash")
    column = column_of(state, combat)
    if column == SQUARE:
        return charts.square_against_cavalry[die]
    return charts.rows[die][charts.columns.index(column)]


def losers_and_winners(combat: Combat, result: str) -> tuple[Units, Units]:
    """Returns who has lost and who has won by a result: A+n or D+n (D-15.8)."""
    sides = (combat.attackers, combat.defenders)
    return sides if result[0] == "A" else sides[::-1]


def result_words(state: State, combat: Combat, result: str) -> str:
    """Returns a result in words: who wins, and who is off the map, for some turns or for good."""
    lost, won = losers_and_winners(combat, result)
    turns, foot = int(result[2:]), state.foot(lost)
    if not foot:
        fate = "captured"
    elif strength_in(state, foot) <= tables.CLASH_LOSSES["loser"]:
        fate = "eliminated by 2 Losses"
    elif state.turn + turns > state.board.turns:
        fate = "out of the game"
    else:
        fate = f"out for {counted(turns, 'turn')}"
    return f"{joined(won)} {'wins' if len(won) == 1 else 'win'}, {joined(lost)} {fate}"


def combats_of(state: State, side: str, units: Units, fought: Units) -> tuple[Combat, ...]:
    """Returns the Clashes that the activated side may choose from (D-6.5d, D-15.2, D-15.3).

    Two hexes are one combat where a line lies in both and is alone of its side; a line that has
    friends in one of them may be in either.
    """
    found: dict[tuple[Units, Units], Combat] = {}
    for number in state.grid.hexes:
        if not state.is_clash(number):
            continue
        hexes = {number}
        for piece in state.at(number):
            alone = {p.id for n in piece.hexes for p in state.at(n, state.side(piece.id))}
            if alone == {piece.id} and piece.id not in fought:
                hexes.update(filter(state.is_clash, piece.hexes))
        own, other = (
            tuple(dict.fromkeys(p.id for n in sorted(hexes) for p in state.at(n, one)))
            for one in (side, enemy_of(side))
        )
        own, other = (tuple(n for n in names if n not in fought) for names in (own, other))
        if other and set(own) & set(units):
            found.setdefault((own, other), Combat(tuple(sorted(hexes)), own, other))
    combats = tuple(found.values())
    return tuple(c for c in combats if _leaves_nobody(combats, c)) or combats


def _leaves_nobody(combats: Sequence[Combat], chosen: Combat) -> bool:
    """Whether every enemy of another combat keeps an attacker who does not fight in this one."""
    return all(
        set(other.attackers) - set(chosen.attackers)
        or set(other.defenders) <= set(chosen.defenders)
        for other in combats
    )


def begun(state: State, combat: Combat) -> State:
    """Returns the state with a combat due, after enemies of cavalry tried to form Square."""
    state = state.pushed(ClashDie(combat))
    return with_square_tries(state, combat.attackers, combat.defenders)


def with_square_tries(state: State, movers: Units, enemies: Units) -> State:
    """Returns the state with the tries of those whose hex cavalry enters (D-7.2)."""
    able = tuple(name for name in enemies if may_form_square(state, state.piece(name)))
    return state.pushed(fire.SquareTry(able[0], able)) if able and _horse(state, movers) else state


class ClashDie(Due):
    """The attacker's die (D-15.7c)."""

    combat: Combat

    def there(self, state: State) -> Combat:
        """Returns the combat of those who are still there."""
        attackers, defenders = (
            tuple(n for n in names if set(state.piece(n).hexes) & set(self.combat.hexes))
            for names in (self.combat.attackers, self.combat.defenders)
        )
        return replace(self.combat, attackers=attackers, defenders=defenders)

    def roll(self, state: State) -> Roll | None:
        """Returns the die, none if a side has left."""
        combat = self.there(state)
        is_void = not (combat.attackers and combat.defenders)
        words = f"clash in {joined(combat.hexes)}"
        return None if is_void else Roll(words, 1, tables.DIE_FACES, None, 0)

    def asked(self, state: State) -> PendingDecision | None:
        """Returns who fights whom, and in which column."""
        if self.roll(state) is None:
            return None
        combat = self.there(state)
        words = f"{', '.join(combat.attackers)} against {', '.join(combat.defenders)}"
        words += f" in {joined(combat.hexes)}: roll a die"
        faces = outcomes_of(
            lambda die: result_words(state, combat, result_of(state, combat, die)),
            range(tables.DIE_FACES),
        )
        return PendingDecision(words, sums=(*sums_of(state, combat), faces))

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state after the die, with Losses, Rout and facing due (D-15.8)."""
        if answer is None:
            return state
        combat = self.there(state)
        result = result_of(state, combat, answer[0])
        lost, won = losers_and_winners(combat, result)
        winner = state.side(won[0])
        text = f"{result_words(state, combat, result)}: die {answer[0]}, {result}"
        sums = [one._asdict() for one in sums_of(state, combat)]
        state = state.tells(
            "clash", text, "D-15.7", result=result, winner=winner, losers=list(lost), sums=sums
        )
        state = state.gains(winner, tables.VICTORY_POINTS["clash_won"])
        if combat.how == "clash":
            state = replace(state, fought=(*state.fought, *won, *lost))
        return state.pushed(
            SideLosses(fighting(state, lost), tables.CLASH_LOSSES["loser"], False),
            ClashRout(lost, won, state.turn + int(result[2:])),
            SideLosses(fighting(state, won), tables.CLASH_LOSSES["winner"], True),
            Winners(state.foot(won)),
        )


class SideLosses(Due):
    """The Losses of a side of a Clash, which its owner spreads (R-33)."""

    units: Units
    losses: int
    has_won: bool
    question = "Who takes the {losses} Losses?"
    least_answers = 2

    def names(self, state: State) -> Units:
        """Returns the units that can take Losses."""
        return state.foot(state.left(self.units))

    def legal(self, state: State) -> tuple[acts.Losses, ...]:
        """Returns all ways to spread the Losses."""
        units = self.names(state)
        most = [state.strength(name) for name in units]
        total, side = min(self.losses, sum(most)), state.side(self.units[0])
        parts = product(*(range(min(total, limit), -1, -1) for limit in most))
        shares = (zip(units, shared, strict=True) for shared in parts if sum(shared) == total)
        return tuple(acts.Losses(side, {n: losses for n, losses in s if losses}) for s in shares)

    def follow(self, state: State, answer: acts.Losses | None) -> State:
        """Returns the state after the Losses; a winner of Strength 1 checks instead (D-15.9)."""
        for name, share in (answer or self.legal(state)[0]).losses.items():
            if self.has_won and state.strength(name) == 1:
                state = state.pushed(LastPoint(name))
                continue
            state = acts.with_losses(state, name, share)
            if self.has_won:
                state = state.pushed(fire.Shrink(name))
        return state


class LastPoint(Due):
    """A winner of Strength 1 checks its Morale instead of taking the Loss (D-15.9)."""

    unit: str
    dice = "morale of {unit}"

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state with the unit as it was, or without it."""
        words = tables.check_words(answer[0], 0, state.morale(self.unit))
        holds = answer[0] <= state.morale(self.unit)
        text = f"{self.unit} {'holds' if holds else 'does not hold'}: {words}"
        state = state.tells("check", text, "D-15.9")
        return state if holds else acts.eliminated(state, self.unit, "D-15.9")


class ClashRout(Due):
    """The losers leave the map; their guns are captured (D-15.8, D-10.11)."""

    lost: Units
    won: Units
    back: int

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state without them."""
        return rout(state, self.lost, self.back, state.places(self.won), is_clash=True)


def rout(
    state: State, units: Units, back: int, causes: tuple[Hexes, ...], *, is_clash: bool = False
) -> State:
    """Returns the state with units on the Turn Track, friends and leaders in danger (D-15.11-12).

    `units` may include some that are eliminated; where they lay, leaders stood with them.
    """
    side, there = state.side(units[0]), state.left(units)
    hexes = tuple(dict.fromkeys(number for place in state.places(there) for number in place))
    guns = [p.id for n in hexes for p in state.at(n, side) if state.troop(p.id).is_battery]
    shaken = tuple(p.id for p in shaken_by(state, side, hexes) if p.id not in units)

    def routed(state: State, name: str) -> State:
        text = f"{name} routs, back in turn {back}"
        return off_to_track(state, name, back, text, "D-15.11.1", unit=name, turn=back)

    state = reduce(routed, state.foot(there), state)
    state = reduce(partial(fire.captured, rule="D-10.11"), dict.fromkeys(guns), state)
    state = replace(state, movers=state.left(state.movers))
    if shaken and there:
        state = state.pushed(Crisis(shaken, causes))
    left = [n for n in hexes if not state.at(n, side)]
    leaders = [leader for number in left for leader in state.leaders_at(number, side)]
    # The unit that a leader was stacked with is eliminated in a Clash (D-4.6).
    lost = is_clash and not there and any(state.piece(name).eliminated for name in units)
    on_map = [one for one in state.leaders_of(side) if one.hex and not state.at(one.hex, side)]
    alone = [one.id for one in on_map if one.hex and state.at(one.hex, enemy_of(side))]
    state = reduce(partial(fire.killed, rule="D-4.6"), alone if lost else (), state)
    dues = (fire.LeaderDie(leader.id, True) for leader in dict.fromkeys(leaders))
    return state.pushed(*dues)


def off_to_track(state: State, name: str, back: int, text: str, rule: str, **facts: Any) -> State:
    """Returns the state with a unit on the Turn Track, beyond its end without it (D-15.11)."""
    if back > state.board.turns:
        return acts.eliminated(state, name, "D-15.11.5")
    state = state.with_piece(name, hexes=(), returns_turn=back, entered_from=(), how="")
    return replace(state, movers=state.left(state.movers)).tells("rout", text, rule, **facts)


def shaken_by(state: State, side: str, hexes: Hexes) -> list[Piece]:
    """Returns the units next to hexes from which friends rout that check their Morale (D-15.12)."""
    near = set(around(state.grid, hexes))
    foot = (piece for piece in state.on_map(side) if not state.troop(piece.id).is_battery)
    return [p for p in foot if near.intersection(p.hexes) and not state.in_clash(p)]


class Crisis(Due):
    """Friends next to a unit that routs check their Morale (D-15.12)."""

    units: Units
    causes: tuple[Hexes, ...]
    dice = "crisis of {names}"

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state with the withdrawals of those who fail due."""
        retreats = []
        for name, die in zip(self.names(state), answer, strict=True):
            passed = die <= state.morale(name)
            words = tables.check_words(die, 0, state.morale(name))
            text = f"{name} {'holds' if passed else 'wavers'}: {words}"
            state = state.tells("check", text, "D-15.12", unit=name)
            retreats += [] if passed else [fire.Retreat(name, self.causes, 1)]
        return state.pushed(*retreats)


class Winners(Due):
    """The winners may face anywhere; cavalry then checks whether it is in hand (D-9.3)."""

    units: Units
    question = "How does {names} face?"

    def legal(self, state: State) -> tuple[acts.Face, ...]:
        """Returns all facings; a line on two hexes keeps its own or faces about."""
        units = self.names(state)
        if not units:
            return ()
        now = state.piece(units[0]).facing_deg
        wide = any(len(hexes) > 1 for hexes in state.places(units))
        facings = (now, (now + 180) % 360) if wide else state.grid.facings_deg
        return tuple(acts.Face(units, facing_deg) for facing_deg in facings)

    def follow(self, state: State, answer: acts.Face | None) -> State:
        """Returns the state with the winners' facing; cavalry's checks are due."""
        units = self.names(state)
        facing_deg = None if answer is None else answer.facing_deg
        for piece in map(state.piece, units if answer else ()):
            is_about = facing_deg == (piece.facing_deg + 180) % 360
            hexes = piece.hexes[::-1] if is_about else piece.hexes
            marks = {"hexes": hexes, "facing_deg": facing_deg, "entered_from": (), "how": ""}
            state = state.with_piece(piece.id, straight=0, **marks)
        horse = tuple(name for name in units if state.troop(name).arm == "cavalry")
        return state.pushed(HorseCheck(horse)) if horse else state


class HorseCheck(Due):
    """Cavalry that has won checks its Morale, the French with -1 (D-9.3)."""

    units: Units
    dice = "morale of {names} after the combat"

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state without those who fail: they return next turn."""
        for name, die in zip(self.names(state), answer, strict=True):
            side = state.side(name)
            morale = state.morale(name) + (tables.FRENCH_HORSE if side == "french" else 0)
            who, words = f"{name} of the {side_plural(side)}", tables.check_words(die, 0, morale)
            if die <= morale:
                state = state.tells("check", f"{who} stays in hand: {words}", "D-9.3", unit=name)
            else:
                text = f"{who} is out of hand: {words}"
                state = off_to_track(state, name, state.turn + 1, text, "D-9.3")
        return state
