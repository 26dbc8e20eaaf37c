"""Clashes: who fights, the column, the result, Losses and Routs (D-15)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tablecam.rules.dice import Roll
from tablecam.rules.game import Event, PendingDecision
from tablecam.rules.hexes.zones import Hexes, around
from tablecam.rules.maida_1806 import tables
from tablecam.rules.maida_1806.field import zone_of
from tablecam.rules.maida_1806.files import ClashCharts
from tablecam.rules.maida_1806.fire import (
    LeaderDie,
    Retreat,
    Shrink,
    SquareTry,
    captured,
    killed,
)
from tablecam.rules.maida_1806.movement import may_form_square
from tablecam.rules.maida_1806.state import (
    Due,
    Face,
    Losses,
    Outcome,
    State,
    Units,
    dice_for,
    die_for,
    eliminated,
    enemy_of,
    shrunk,
    with_losses,
)
from tablecam.table.sides import side_name

SQUARE = "square against cavalry"


@dataclass(frozen=True)
class Combat:
    """A Clash: its hexes, who attacks and who defends, and how it came about."""

    hexes: Hexes
    attackers: Units
    defenders: Units
    how: str = "clash"


@dataclass(frozen=True, slots=True)
class Shifted:
    """A shift of columns that applies."""

    side: str
    when: str
    columns: int


def fighting(state: State, units: Iterable[str]) -> Units:
    """Returns the units that fight; a battery does so only alone (D-10.10, D-10.11)."""
    names = tuple(units)
    foot = tuple(name for name in names if not state.troop(name).is_battery)
    return foot or names


def strength_in(state: State, units: Units) -> int:
    """Returns the Strength of a side (D-15.1, D-11.6)."""
    return sum(state.strength(name) for name in fighting(state, units))


def shifts_of(state: State, combat: Combat) -> tuple[Shifted, ...]:
    """Returns the shifts that apply, the attacker's first (D-15.7b)."""
    charts: ClashCharts = state.board.chart("clash")
    shifts = [
        Shifted(side, shift.when, shift.columns)
        for side in ("attacker", "defender")
        for shift in charts.shift
        if shift.side == side and holds(state, combat, side, shift.when)
    ]
    sides = [state.board.hexside(one, other) for one, other in _entries(state, combat)]
    crossed = sum(side.clash_shift or 0 for side in sides[:1] if side is not None)
    return (*shifts, Shifted("defender", "hexside", crossed)) if crossed else tuple(shifts)


def _entries(state: State, combat: Combat) -> list[tuple[str, str]]:
    """Returns the hexsides by which attackers came."""
    return [
        (old, number)
        for name in combat.attackers
        for old in state.piece(name).entered_from
        for number in combat.hexes
        if state.grid.direction_deg(old, number) is not None
    ]


def holds(state: State, combat: Combat, side: str, when: str) -> bool:
    """Whether a condition of the shifts holds for a side of a combat (section 5.1)."""
    own, enemy = combat.attackers, combat.defenders
    if side == "defender":
        own, enemy = enemy, own
    own, enemy = fighting(state, own), fighting(state, enemy)
    name, _, value = when.partition(":")
    if name in ("flank", "rear"):
        return side == "attacker" and _came_from(state, combat, name)
    if name in ("charge", "counterattack"):
        return side == "attacker" and combat.how == name
    if name in ("leader_present", "terrain", "across"):
        return _ground_holds(state, combat, own, name, value)
    if name.startswith(("strength", "morale")):
        return _more_holds(state, own, enemy, name, value)
    whose = own if name.startswith("own") else enemy
    if name == "disrupted_enemy":
        return any(state.piece(n).disrupted for n in enemy)
    if name.endswith("cavalry"):
        return any(state.troop(n).arm == "cavalry" for n in whose)
    return any(_formation(state, n) == name.rpartition("_")[2] for n in whose)


def _ground_holds(state: State, combat: Combat, own: Units, name: str, value: str) -> bool:
    """Whether a condition of the ground, or of the leader on it, holds."""
    ground = state.board.ground
    if name == "leader_present":
        return any(state.leaders_at(n, state.side(own[0])) for n in combat.hexes)
    if name == "terrain":
        return any(ground.terrain_of(n) == value for n in combat.hexes)
    return any(ground.side_of(*pair) == value for pair in _entries(state, combat))


def _more_holds(state: State, own: Units, enemy: Units, name: str, value: str) -> bool:
    """Whether a condition of greater Strength or Morale holds."""
    more, less = strength_in(state, own), strength_in(state, enemy)
    times = {"strength_at_least_double": 2, "strength_at_least_triple": 3}
    if name in times:
        return more >= times[name] * less
    if name == "strength_difference":
        return more - less >= int(value)
    best = [
        max((state.morale(n) for n in names if state.troop(n).morale), default=0)
        for names in (own, enemy)
    ]
    return best[0] - best[1] >= int(value)


def _formation(state: State, name: str) -> str:
    """Returns a unit's formation in a Clash; a battery fights as in Line (D-10.10)."""
    return "line" if state.troop(name).is_battery else state.piece(name).formation


def _came_from(state: State, combat: Combat, zone: str) -> bool:
    """Whether an attacker entered from a Flank or Rear hex of a defender (R-35)."""
    return any(
        zone_of(state, state.piece(defender), (old,)) == zone
        for old, _ in _entries(state, combat)
        for defender in fighting(state, combat.defenders)
    )


def column_of(state: State, combat: Combat) -> str:
    """Returns the head of the column; Square has its own against cavalry (D-7.3, D-15.7b)."""
    charts: ClashCharts = state.board.chart("clash")
    is_horse = any(state.troop(name).arm == "cavalry" for name in combat.attackers)
    if is_horse and any(state.piece(name).formation == "square" for name in combat.defenders):
        return SQUARE
    index = charts.columns.index("0")
    index += sum(shift.columns for shift in shifts_of(state, combat))
    return charts.columns[min(max(index, 0), len(charts.columns) - 1)]


def result_of(state: State, combat: Combat, die: int) -> str:
    """Returns the result of a die: A+n or D+n, who has lost and for how long (D-15.7d)."""
    charts: ClashCharts = state.board.chart("clash")
    column = column_of(state, combat)
    if column == SQUARE:
        return charts.square_against_cavalry[die]
    return charts.rows[die][charts.columns.index(column)]


def combats_of(state: State, side: str, units: Units, fought: Units) -> tuple[Combat, ...]:
    """Returns the Clashes that the activated side may choose from (D-6.5d, D-15.2, D-15.3).

    Two hexes are one combat where a line lies in both and is alone of its side; a line that has
    friends in one of them may be in either.
    """
    hexes = [n for n in state.grid.hexes if state.is_clash(n)]
    enemy = enemy_of(side)
    found: dict[tuple[Units, Units], Combat] = {}
    for number in hexes:
        own, other = _there(state, number, side, fought), _there(state, number, enemy, fought)
        joined = [number]
        for far in hexes:
            wide = [n for n in (*own, *other) if {number, far} <= set(state.piece(n).hexes)]
            for name in wide if far != number else ():
                mates = {p for at in (number, far) for p in _there(state, at, state.side(name), ())}
                if mates == {name}:
                    joined.append(far)
        joined.sort()
        if len(joined) > 1:
            own = tuple(dict.fromkeys(n for h in joined for n in _there(state, h, side, fought)))
            other = tuple(dict.fromkeys(n for h in joined for n in _there(state, h, enemy, fought)))
        if own and other and set(own) & set(units):
            found.setdefault((own, other), Combat(tuple(joined), own, other))
    combats = tuple(found.values())
    return tuple(c for c in combats if _leaves_nobody(combats, c)) or combats


def _there(state: State, number: str, side: str, fought: Units) -> Units:
    return tuple(piece.id for piece in state.at(number, side) if piece.id not in fought)


def _leaves_nobody(combats: Sequence[Combat], chosen: Combat) -> bool:
    """Whether every enemy of another combat keeps an attacker who does not fight in this one."""
    return all(
        set(other.attackers) - set(chosen.attackers)
        or set(other.defenders) <= set(chosen.defenders)
        for other in combats
    )


def begun(state: State, combat: Combat) -> Outcome:
    """Returns the state with a combat due, after enemies of cavalry tried to form Square."""
    state = state.pushed(ClashDie(combat.hexes, combat.attackers, combat.defenders, combat.how))
    return with_square_tries(state, combat.attackers, combat.defenders), ()


def with_square_tries(state: State, movers: Units, enemies: Units) -> State:
    """Returns the state with the tries of those whose hex cavalry enters (D-7.2)."""
    if not any(state.troop(name).arm == "cavalry" for name in movers):
        return state
    able = tuple(name for name in enemies if may_form_square(state, state.piece(name)))
    return state.pushed(SquareTry(able)) if able else state


class ClashDie(Due):
    """The attacker's die (D-15.7c)."""

    hexes: Hexes
    attackers: Units
    defenders: Units
    how: str

    def combat(self, state: State) -> Combat:
        """Returns the combat of those who are still there."""

        def there(names: Units) -> Units:
            return tuple(n for n in names if set(state.piece(n).hexes) & set(self.hexes))

        return Combat(self.hexes, there(self.attackers), there(self.defenders), self.how)

    def _is_void(self, state: State) -> bool:
        combat = self.combat(state)
        return not (combat.attackers and combat.defenders)

    def roll(self, state: State) -> Roll | None:
        """Returns the die, none if a side has left."""
        return None if self._is_void(state) else die_for(f"clash in {' '.join(self.hexes)}")

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state after the die, with Losses, Rout and facing due (D-15.8)."""
        if answer is None:
            return state, ()
        combat = self.combat(state)
        result = result_of(state, combat, answer[0])
        lost = combat.attackers if result[0] == "A" else combat.defenders
        won = combat.defenders if result[0] == "A" else combat.attackers
        winner = state.side(won[0])
        shifts = ", ".join(f"{s.when} {s.columns:+d}" for s in shifts_of(state, combat))
        text = (
            f"{', '.join(combat.attackers)} against {', '.join(combat.defenders)}: column "
            f"{column_of(state, combat)} ({shifts or 'no shift'}), die {answer[0]}, {result}"
        )
        facts = {"result": result, "winner": winner, "losers": list(lost)}
        events = (Event("clash", text, "D-15.7", facts),)
        state = state.gains(winner, tables.VICTORY_POINTS["clash"])
        if combat.how == "clash":
            state = replace(state, fought=(*state.fought, *won, *lost))
        state = state.pushed(
            SideLosses(fighting(state, lost), tables.CLASH_LOSSES["loser"], False),
            ClashRout(lost, won, state.turn + int(result[2:])),
            SideLosses(fighting(state, won), tables.CLASH_LOSSES["winner"], True),
            Winners(tuple(n for n in won if not state.troop(n).is_battery), combat.how),
        )
        return state, events


class SideLosses(Due):
    """The Losses of a side of a Clash, which its owner spreads (R-33)."""

    units: Units
    losses: int
    has_won: bool

    def there(self, state: State) -> Units:
        """Returns the units that can take Losses."""
        return tuple(
            name
            for name in self.units
            if state.piece(name).hexes and not state.troop(name).is_battery
        )

    def shares(self, state: State) -> tuple[Mapping[str, int], ...]:
        """Returns all ways to spread the Losses."""
        units = self.there(state)
        most = [state.strength(name) for name in units]
        return tuple(
            {name: share for name, share in zip(units, parts, strict=True) if share}
            for parts in _parts(min(self.losses, sum(most)), most)
        )

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the owner's choice, none with a single way."""
        if len(self.shares(state)) < 2:
            return None
        side = state.side(self.units[0])
        return PendingDecision(f"Who takes the {self.losses} Losses?", side)

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns all ways."""
        side = state.side(self.units[0])
        return tuple(Losses(side, share) for share in self.shares(state))

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state after the Losses; a winner of Strength 1 checks instead (D-15.9)."""
        shares = self.shares(state)
        if answer is None and not shares:
            return state, ()
        events: tuple[Event, ...] = ()
        for name, share in (shares[0] if answer is None else answer.losses).items():
            if self.has_won and state.strength(name) == 1:
                state = state.pushed(LastPoint(name))
                continue
            state, more = with_losses(state, name, share)
            events += more
            if state.piece(name).hexes and shrunk(state, name) and self.has_won:
                state = state.pushed(Shrink(name))
        return state, events


def _parts(total: int, most: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yields the ways to split a number into parts up to a limit."""
    if not most:
        if total == 0:
            yield ()
        return
    for share in range(min(total, most[0]), -1, -1):
        for rest in _parts(total - share, most[1:]):
            yield (share, *rest)


class LastPoint(Due):
    """A winner of Strength 1 checks its Morale instead of taking the Loss (D-15.9)."""

    unit: str

    def roll(self, state: State) -> Roll:
        """Returns the die."""
        return die_for(f"morale of {self.unit}")

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state with the unit as it was, or without it."""
        if answer[0] <= state.morale(self.unit):
            return state, (Event("check", f"{self.unit} holds", "D-15.9"),)
        return eliminated(state, self.unit, "D-15.9")


class ClashRout(Due):
    """The losers leave the map; their guns are captured (D-15.8, D-10.11)."""

    lost: Units
    won: Units
    back: int

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state without them."""
        causes = tuple(state.piece(n).hexes for n in self.won if state.piece(n).hexes)
        return rout(state, self.lost, self.back, causes, is_clash=True)


def rout(
    state: State, units: Units, back: int, causes: tuple[Hexes, ...], *, is_clash: bool = False
) -> Outcome:
    """Returns the state with units on the Turn Track, friends and leaders in danger (D-15.11-12).

    `units` may include some that are eliminated; where they lay, leaders stood with them.
    """
    events: tuple[Event, ...] = ()
    side = state.side(units[0])
    there = [n for n in units if state.piece(n).hexes]
    hexes = {number for name in there for number in state.piece(name).hexes}
    gone = [n for n in units if state.piece(n).eliminated]
    guns = [p.id for n in hexes for p in state.at(n, side) if state.troop(p.id).is_battery]
    near = set(around(state.grid, tuple(hexes))) if hexes else set()
    shaken = [
        p.id
        for p in state.on_map(side)
        if near.intersection(p.hexes) and p.id not in units
        and not state.in_clash(p) and not state.troop(p.id).is_battery
    ]  # fmt: skip
    for name in there:
        if state.troop(name).is_battery:
            continue
        out = back > state.board.turns
        if out:
            state, more = eliminated(state, name, "D-15.11.5")
            events += more
            continue
        state = state.with_piece(name, hexes=(), returns_turn=back, entered_from=(), how="")
        text = f"{name} routs, back in turn {back}"
        events += (Event("rout", text, "D-15.11.1", {"unit": name, "turn": back}),)
    for gun in dict.fromkeys(guns):
        state, more = captured(state, gun, "D-10.11")
        events += more
    state = replace(state, movers=tuple(n for n in state.movers if state.piece(n).hexes))
    if shaken and there:
        state = state.pushed(Crisis(tuple(shaken), causes))
    leaders = [o for n in hexes for o in state.leaders_at(n, side) if not state.at(n, side)]
    dues = [LeaderDie(leader.id, True) for leader in dict.fromkeys(leaders)]
    if gone and not there and is_clash:
        # The unit he was stacked with is eliminated in a Clash (D-4.6).
        for leader in _stranded(state, side):
            state, more = killed(state, leader, "D-4.6")
            events += more
    return state.pushed(*dues), events


def _stranded(state: State, side: str) -> list[str]:
    """Returns the leaders who are alone with enemies in a hex."""
    return [
        leader.id
        for leader in state.leaders
        if leader.hex is not None and state.leader_side(leader.id) == side
        and state.at(leader.hex, enemy_of(side)) and not state.at(leader.hex, side)
    ]  # fmt: skip


class Crisis(Due):
    """Friends next to a unit that routs check their Morale (D-15.12)."""

    units: Units
    causes: tuple[Hexes, ...]

    def there(self, state: State) -> Units:
        """Returns the units that are still there."""
        return tuple(name for name in self.units if state.piece(name).hexes)

    def roll(self, state: State) -> Roll | None:
        """Returns a die for each."""
        units = self.there(state)
        return dice_for(f"crisis of {', '.join(units)}", len(units)) if units else None

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state with the withdrawals of those who fail due."""
        events: tuple[Event, ...] = ()
        retreats = []
        for name, die in zip(self.there(state), answer or (), strict=False):
            passed = die <= state.morale(name)
            word = "holds" if passed else "wavers"
            events += (Event("check", f"{name} {word}: {die}", "D-15.12", {"unit": name}),)
            retreats += [] if passed else [Retreat(name, self.causes, 1)]
        return state.pushed(*retreats), events


class Winners(Due):
    """The winners may face anywhere; cavalry then checks whether it is in hand (D-9.3)."""

    units: Units
    how: str

    def there(self, state: State) -> Units:
        """Returns the winners on the map."""
        return tuple(name for name in self.units if state.piece(name).hexes)

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the owner's choice, none if no winner is left."""
        units = self.there(state)
        if not units:
            return None
        return PendingDecision(f"How does {', '.join(units)} face?", state.side(units[0]))

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns all facings; a line on two hexes keeps its own or faces about."""
        units = self.there(state)
        now = state.piece(units[0]).facing_deg
        wide = any(len(state.piece(name).hexes) > 1 for name in units)
        facings = (now, (now + 180) % 360) if wide else state.grid.facings_deg
        return tuple(Face(units, facing_deg) for facing_deg in facings)

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state with the winners' facing; cavalry's checks are due."""
        for name in self.there(state):
            piece = state.piece(name)
            if answer is not None:
                is_about = answer.facing_deg == (piece.facing_deg + 180) % 360
                hexes = piece.hexes[::-1] if is_about else piece.hexes
                new = replace(
                    piece, hexes=hexes, facing_deg=answer.facing_deg, straight=0,
                    entered_from=(), how="",
                )  # fmt: skip
                pieces = (new if other is piece else other for other in state.pieces)
                state = replace(state, pieces=tuple(pieces))
        horse = tuple(n for n in self.there(state) if state.troop(n).arm == "cavalry")
        return (state.pushed(HorseCheck(horse)) if horse else state), ()


class HorseCheck(Due):
    """Cavalry that has won checks its Morale, the French with -1 (D-9.3)."""

    units: Units

    def roll(self, state: State) -> Roll:
        """Returns a die for each."""
        return dice_for(f"{', '.join(self.units)} in hand", len(self.units))

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state without those who fail: they return next turn."""
        events: tuple[Event, ...] = ()
        for name, die in zip(self.units, answer, strict=True):
            french = tables.FRENCH_HORSE if state.side(name) == "french" else 0
            if die <= state.morale(name) + french:
                continue
            back = state.turn + 1
            if back > state.board.turns:
                state, more = eliminated(state, name, "D-15.11.5")
            else:
                state = state.with_piece(name, hexes=(), returns_turn=back)
                whose = side_name(state.side(name))
                more = (Event("rout", f"{name} of the {whose} is out of hand", "D-9.3"),)
            events += more
            state = replace(state, movers=tuple(n for n in state.movers if n != name))
        return state, events
