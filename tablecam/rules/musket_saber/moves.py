"""Moves in a game: who may begin one, how far it goes, and the charges that moves begin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tablecam.geometry.shapes import Shape
from tablecam.rules.dice import Roll
from tablecam.rules.game import Ban, DiceGroup
from tablecam.rules.hexes.grid import Hex
from tablecam.rules.musket_saber import movement, tables
from tablecam.rules.musket_saber import state as acts
from tablecam.rules.musket_saber.combat import is_coordinated
from tablecam.rules.musket_saber.state import Due, State, Units
from tablecam.rules.musket_saber.tables import CHARGE_MP, MARCH_BONUS, VARIABLE_MA, most_points
from tablecam.rules.musket_saber.troops import Leader, Post, Unit, is_overstacked
from tablecam.rules.steps import ban_on_all, why_none
from tablecam.wording import joined

Path = tuple[Hex, ...]


def entry_of(state: State, name: str) -> Hex | None:
    """Returns the hex where a reinforcement may enter now (K-13.1)."""
    unit = state.thing(name)
    if not isinstance(unit, Unit | Leader) or unit.hex is not None:
        return None
    if unit.dead if isinstance(unit, Leader) else unit.is_out or unit.trt is not None:
        return None
    for arrival in state.folio.scenario.reinforcement:
        is_free = arrival.hex not in state.field.enemy_zone(unit.side)
        if name in arrival.units and arrival.turn <= state.turn and is_free:
            ban = state.field.ban_on_passing(unit.side, arrival.hex)
            return arrival.hex if ban is None else None
    return None


def entry_cost(state: State, unit: Unit, number: Hex, *, march: bool) -> float:
    """Returns the cost of the entry hex, more for those that came in before (K-13.1)."""
    ground, ahead = state.folio.map, state.entered.get(number, 0)
    roads = [ground.path(number, beside) == "road" for beside in state.grid.neighbours(number)]
    step = movement.Step(ground.terrains(number), path="road" if any(roads) else None)
    return movement.entry_cost(unit, step, ahead, march=march).mp


# Who may begin.


def ban_on_start(state: State, start: acts.Start) -> Ban | None:
    """Returns why a counter may not begin to move (K-4.2, K-6.3, K-10.1, K-12.1, K-10.3b)."""
    thing = state.thing(start.unit)
    if thing.side != state.active:
        return Ban("K-3.2", "it is not of the side that moves")
    if thing.moved:
        stood = thing.hex is not None and state.began.get(thing.id) == thing.hex
        why = "it stood still in this phase, to recover, to form a Square, or to stay"
        return Ban("K-4.2", why if stood else "it has moved in this phase")
    if thing.hex is None and entry_of(state, thing.id) is None:
        return Ban("K-13.1", "it is not on the map")
    if not isinstance(thing, Unit):
        ban = Ban("K-4.7a", "it does not march") if start.march else None
        return ban or at_best(state, start).ban(state)
    if start.leader and (ban := ban_on_help(state, start.leader, thing, "K-10.3b")) is not None:
        return ban
    if start.march and not state.plays("K-4.7a"):
        return Ban("K-1.1", "the folio knows no march")
    field, number = state.field, thing.hex
    if start.march:
        there = replace(thing, hex=number or entry_of(state, thing.id))
        if (ban := movement.ban_on_march(field, there)) is not None:
            return ban
    friends = field.friends(thing)
    stays = any(friend.hex == number == state.began.get(friend.id) for friend in friends)
    return movement.ban_on_leaving(field, thing, stays=stays) or at_best(state, start).ban(state)


def ban_on_help(state: State, name: str, unit: Unit, rule: str) -> Ban | None:
    """Returns why a leader may not help a unit to move or recover (K-10.2, K-10.3a)."""
    leader = state.thing(name)
    if not isinstance(leader, Leader) or leader.side != unit.side or not state.plays(rule):
        return Ban(rule, f"{name} is no leader of its side who helps")
    if leader.ineffective or leader.helped:
        return Ban("K-10.3a", f"{name} helps no other unit in this turn")
    if unit.formation not in (*leader.span, "A"):
        return Ban("K-10.3a", f"{unit.id} is not in the span of {name}")
    together = leader.hex == unit.hex and state.began.get(name) == state.began.get(unit.id)
    return None if together else Ban("K-10.3a", f"{name} is not stacked with it since the start")


def helpers(state: State, unit: Unit, rule: str) -> tuple[str, ...]:
    """Returns the leaders who may help a unit."""
    here = state.field.leaders_at(unit.hex, unit.side) if unit.hex else ()
    return tuple(leader.id for leader in here if ban_on_help(state, leader.id, unit, rule) is None)


def starts(state: State) -> Iterator[acts.Start]:
    """Yields who may begin to move, on a march and with the help of a leader too."""
    for thing in map(state.thing, state.names):
        if thing.side != state.active:
            continue
        ways = [acts.Start(thing.id)]
        if isinstance(thing, Unit):
            ways += [acts.Start(thing.id, leader=name) for name in helpers(state, thing, "K-10.3b")]
            ways.append(acts.Start(thing.id, march=True))
        yield from (start for start in ways if ban_on_start(state, start) is None)


def charges(state: State) -> Iterator[acts.Move]:
    """Yields the charges of units that need not roll first (K-7.13c, K-9.3)."""
    for unit in state.own(state.active):
        start = acts.Start(unit.id)
        if ban_on_start(state, start) is None and not must_roll(state, unit):
            yield from at_best(state, start).charges(state)


def must_roll(state: State, unit: Unit) -> bool:
    """Whether a unit rolls for its allowance, also one whose stack was overstacked (K-4.4)."""
    held = bool(state.field.holding(unit))
    number = state.began.get(unit.id)
    stack = [u for u in state.units if state.began.get(u.id) == number and number is not None]
    reasons = movement.reasons_to_roll(state.field, unit, leaves_zone=held)
    return bool(reasons) or is_overstacked(stack)


def started(state: State, start: acts.Start) -> State:
    """Returns the state in which a counter moves, or rolls for its allowance first (K-4.4).

    Raises:
        Refused: It may not move.
    """
    if (ban := ban_on_start(state, start)) is not None:
        raise ban.refused(start.unit)
    unit = state.thing(start.unit)
    if start.leader:
        state = state.changed(start.leader, helped=True)
    if isinstance(unit, Unit) and must_roll(state, unit):
        return state.pushed(RollMa(unit.id, start.march, start.leader))
    return state.pushed(at_best(state, start))


def at_best(state: State, start: acts.Start) -> Go:
    """Returns a counter's move with its allowance, or with the most that its dice may give."""
    thing = state.thing(start.unit)
    if not isinstance(thing, Unit):
        return Go(thing.id, float(thing.ma or 0))
    if must_roll(state, thing):
        return RollMa(thing.id, start.march, start.leader).at_best(state)
    allowed = allowance_of(thing, march=start.march, leader=_help(state, start.leader))
    return Go(thing.id, float(allowed or 0), start.march)


def allowance_of(unit: Unit, *dice: int, march: bool = False, leader: int = 0) -> int | None:
    """Returns a unit's allowance, rolled if there are dice; None if more are needed."""
    return movement.allowance(
        unit.arm, unit.printed("ma"), dice, must_roll=bool(dice), march=march, leader=leader,
        square=unit.square,
    ).ma  # fmt: skip


def _help(state: State, leader: str) -> int:
    """Returns what a leader, if any, adds to an allowance (K-10.3b)."""
    helper = state.thing(leader) if leader else None
    return helper.movement if isinstance(helper, Leader) else 0


class RollMa(Due):
    """A unit rolls for its Movement Allowance; a die above the printed one again (K-4.4)."""

    unit: str
    march: bool = False
    leader: str = ""
    side: str = ""
    others: Units = ()
    dice = "the Movement Allowance of {unit}"
    dice_rule = "K-4.4"

    def roll(self, state: State) -> Roll:
        """Returns a die, two for cavalry on a march (K-4.7b)."""
        count = tables.MARCH_DICE[state.unit(self.unit).arm] if self.march else 1
        return Roll(self._words(self.dice, state), count)

    def at_best(self, state: State) -> Go:
        """Returns the move with the most that the dice may give."""
        most = VARIABLE_MA if self.march else most_points(state.unit(self.unit).printed("ma"))
        go = self.go(state, (min(most, VARIABLE_MA),) * self.roll(state).count)
        assert go is not None
        return go

    def go(self, state: State, dice: tuple[int, ...]) -> Go | None:
        """Returns the move with these dice, None if they are thrown again."""
        unit, led = state.unit(self.unit), _help(state, self.leader)
        points = allowance_of(unit, *dice, march=self.march, leader=led)
        mp = float(points or 0)
        go = Go(self.unit, mp, self.march, rolled=True, side=self.side, others=self.others)
        return None if points is None else go

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns the dice, how many Movement Points they give, and which give too few."""
        unit, more = state.unit(self.unit), MARCH_BONUS * self.march + _help(state, self.leader)
        most = VARIABLE_MA if self.march else most_points(unit.printed("ma"))
        count = self.roll(state).count
        goal = ("half " if unit.square else "") + ("the die" if count == 1 else "the dice")
        goal = f"its Movement Points are {goal}" + (f" plus {more}" if more else "")
        goal += f"; above {most}, roll again" if most < VARIABLE_MA else ""
        moves = {die: self.go(state, (die,) * count) for die in range(1, VARIABLE_MA + 1)}
        free = [die for die, go in moves.items() if go and go.ban(state) is None]
        goal += f"; below {free[0] * count}, it stays" if free and free[0] > 1 else ""
        return (DiceGroup(self.unit, None, tuple(range(count)), goal),)

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state in which the unit moves so far."""
        dice, go = joined(map(str, answer)), self.go(state, answer)
        if go is None:
            text = f"{dice} is above the printed allowance of {self.unit}: again"
            return state.pushed(self).logs("check", text, "K-4.4", self.unit)
        words = f"rolls {dice} for {go.points}"
        return state.pushed(go).logged(self.unit, "check", words, "K-4.4")


# How far.


def _walker(
    state: State, name: str, *, march: bool, led: bool, charge: Hex | None = None
) -> tuple[movement.Walker, float]:
    """Returns a counter as it walks, from where it enters the map, and what that costs it."""
    thing, entry = state.thing(name), entry_of(state, name)
    there = thing if entry is None else replace(thing, hex=entry)
    walker = movement.walker_of(state.field, there, march=march, charge=charge, led=led)
    if entry is None or not walker.is_unit:
        return walker, 0.0
    return walker, entry_cost(state, walker.unit, entry, march=march)


def judged(state: State, move: acts.Move, most: float | None = None) -> movement.Move:
    """Returns what a move costs, and what bars it."""
    if (ban := _ban_on_setting_out(state, move)) is not None:
        return movement.Move(0.0, most, None, ban)
    name, *others = map(state.thing, move.units)
    led = any(isinstance(other, Leader) for other in others)
    walker, first = _walker(state, name.id, march=move.march, led=led, charge=move.charge)
    path = move.path if name.hex is not None else move.path[1:]
    if isinstance(name, Unit) and name.hex is None:
        most = float(allowance_of(name, march=move.march) or 0 if most is None else most) - first
        if most < 0:
            return movement.Move(first, most, None, Ban("K-13.1", "the entry costs too much"))
    moved = walker.move(path, most)
    if move.charge is not None:
        return replace(moved, ban=moved.ban or _ban_on_group(state, move))
    stack = (movement.walker_of(state.field, u, led=led) for u in others if isinstance(u, Unit))
    bans = (mate.move(path, most).ban for mate in stack)
    return replace(moved, ban=moved.ban or next(filter(None, bans), None))


def ban_on_stack(state: State, move: acts.Move) -> Ban | None:
    """Returns why units do not move together, if they do not charge (K-4.2)."""
    others = state.combat_units(move.units[1:])
    if others and move.charge is None:
        return Ban("K-4.2", f"{others[0]} moves by itself: one unit moves at a time")
    return None


def _ban_on_setting_out(state: State, move: acts.Move) -> Ban | None:
    """Returns why counters do not go that way at all, whatever it costs."""
    thing, entry = state.thing(move.units[0]), entry_of(state, move.units[0])
    for number in move.path:
        if number not in state.grid:
            return Ban("K-4.1", f"{number} is off the map")
    for other in map(state.thing, move.units[1:]):
        if other.hex != thing.hex or other.moved:
            return Ban("K-4.2", f"{other.id} does not go along")
    if entry and move.path[:1] != (entry,):
        return Ban("K-13.1", f"it enters at {entry}")
    return None if move.path else Ban("K-4.2", "it stays where it is")


def _ban_on_group(state: State, move: acts.Move) -> Ban | None:
    """Returns why units may not charge together (K-7.13c, K-9.3)."""
    things = [state.thing(name) for name in move.units]
    units = [thing for thing in things if isinstance(thing, Unit)]
    rule = "K-9.3" if units[0].arm == "cavalry" else "K-7.13c"
    if not state.plays(rule):
        return Ban("K-1.1", "the folio knows no such charge")
    if any(unit.arm != units[0].arm or unit.square for unit in units):
        return Ban(rule, "units of one arm charge, and no Square")
    if len({state.began.get(thing.id) for thing in things}) > 1:
        return Ban(rule, "who charges together was stacked when the phase began")
    leaders = [thing for thing in things if isinstance(thing, Leader)]
    if not is_coordinated([unit.formation for unit in units], leaders, state.time):
        return Ban(rule, "who charges together is coordinated")
    there = state.field.units_at(move.path[-1])
    if is_overstacked((*(u for u in there if u.id not in move.units), *units)):
        return Ban(rule, f"{move.path[-1]} would be overstacked")
    if any(charging.target == move.charge for charging in state.charges):
        return Ban(rule, f"others charge {move.charge}")
    sizes = [getattr(thing, "size", "leader" if thing in leaders else "") for thing in things]
    return movement.ban_on_charge(
        units[0].arm, sizes, disrupted=any(u.disrupted for u in units),
        ineffective=any(u.ineffective for u in units), time=state.time,
    )  # fmt: skip


def reached(
    state: State, name: str, most: float, *, march: bool = False, led: bool = False
) -> Mapping[Hex, Path]:
    """Returns the hexes that a counter may reach, each with a cheapest path."""
    walker, first = _walker(state, name, march=march, led=led)
    unit = walker.unit
    held = walker.is_unit and movement.ban_on_leaving(state.field, unit) is not None
    if most < first or unit.hex is None or held:
        return {}

    paths = walker.reached(most - first)
    if state.thing(name).hex is not None:
        return paths
    return {number: (unit.hex, *path) for number, path in paths.items()}


class Go(Due):
    """A counter moves so many Movement Points, or stays."""

    unit: str
    mp: float
    march: bool = False
    rolled: bool = False
    side: str = ""
    others: Units = ()
    question = "{unit}: where to, with {points}?"
    hint = "Tap its hex, or move the counter there."
    passing = "Stay"

    @property
    def points(self) -> str:
        """Its Movement Points in words."""
        return f"{self.mp:g} Movement Point{'' if self.mp == 1 else 's'}"

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns the cheapest moves to each hex, charges, and staying."""
        moves = [
            acts.Move((self.unit, *along), path, self.march)
            for along in self._along(state)
            for path in self._reached(state, led=bool(along)).values()
            if path
        ]
        if self.others:
            moves = [move for move in moves if judged(state, move, self.mp).ban is None]
        return (*moves, *self.charges(state), acts.Pass())

    def ban(self, state: State) -> Ban | None:
        """Returns why it reaches no hex at all, by the first of those beside it."""
        entry, here = entry_of(state, self.unit), state.thing(self.unit).hex
        ends = (entry,) if entry else state.grid.neighbours(here or "")
        steps = (((self.unit, *along), (end,)) for along in self._along(state) for end in ends)
        moves = (acts.Move(units, path, self.march) for units, path in steps)
        return ban_on_all(judged(state, move, self.mp).ban for move in moves)

    def _reached(self, state: State, *, led: bool = False) -> Mapping[Hex, Path]:
        return reached(state, self.unit, self.mp, march=self.march, led=led)

    def _along(self, state: State) -> tuple[Units, ...]:
        """Returns who goes along: nobody, or a leader in its hex."""
        unit = state.thing(self.unit)
        if not isinstance(unit, Unit) or unit.hex is None or self.side not in ("", unit.side):
            return ((),)
        if self.others:
            return (self.others,)
        here = state.field.leaders_at(unit.hex, unit.side)
        return ((), *((leader.id,) for leader in here if not leader.moved))

    def charges(self, state: State) -> Iterator[acts.Move]:
        """Yields the charges that it may begin, alone or with others of its stack."""
        return (move for move in self._tried(state) if judged(state, move, self.mp).ban is None)

    def why_missing(self, state: State) -> str:
        """Says why a unit of arms begins no charge, if it may not or no enemy is near."""
        unit = state.thing(self.unit)
        if not isinstance(unit, Unit) or unit.is_battery or self.march or self.side:
            return ""
        bans = [judged(state, move, self.mp).ban for move in self._tried(state)]
        far = Ban("K-7.13c", f"no enemy is {' or '.join(map(str, CHARGE_MP))} Movement Points away")
        return why_none("charge", {self.unit: ban_on_all(bans or [far])})

    def _tried(self, state: State) -> Iterator[acts.Move]:
        unit = state.thing(self.unit)
        if not isinstance(unit, Unit) or unit.hex is None or self.march or self.side:
            return
        small = [
            other.id for other in state.field.units_at(unit.hex)
            if other.is_small and other.arm == unit.arm and other is not unit and not other.moved
        ]  # fmt: skip
        near = reached(state, self.unit, min(self.mp, max(CHARGE_MP)))
        for end, path in near.items():
            for target in state.grid.neighbours(end) if path else ():
                if all(enemy.hex != target for enemy in state.field.enemies(unit.side)):
                    continue
                for along in self._along(state):
                    for mate in ((), *((other,) for other in small)):
                        yield acts.Move((self.unit, *mate, *along), path, charge=target)

    def takes(self, state: State, answer: Any) -> bool:
        """Whether it is a legal move of the counter."""
        if not isinstance(answer, acts.Move) or answer.units[:1] != (self.unit,):
            return isinstance(answer, acts.Pass)
        is_so = answer.march == self.march and not (self.side and answer.charge)
        is_so = is_so and (
            answer.units[1:] == self.others if self.others else ban_on_stack(state, answer) is None
        )
        return is_so and judged(state, answer, self.mp).ban is None

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state with the counter there; one that has rolled has moved anyway."""
        if not isinstance(answer, acts.Move):
            ban = None if answer else self.ban(state)
            words, rule = (f"stays: {ban.because}", ban.rule) if ban else ("stays", "K-4.2")
            marks = {"moved": True} if self.rolled else {}
            return state.logged(self.unit, "move", words, rule, **marks)
        state = moved(state, answer)
        if self.side and state.phase == "combat":
            # K-12.4: it joins any later combat in its hex, even if it has fought.
            state = state.changed(self.unit, fought=False)
        return state

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws the hexes within reach."""
        return state.grid.outlines(self._reached(state), "reach")


def moved(state: State, move: acts.Move) -> State:
    """Returns the state after a move; an HQ or trains that have moved are inactive (K-12.1)."""
    end, first = move.path[-1], state.thing(move.units[0])
    if isinstance(first, Unit) and first.hex is None and not first.is_small:
        count = state.entered.get(move.path[0], 0) + 1
        state = replace(state, entered={**state.entered, move.path[0]: count})
    for name in move.units:
        thing = state.thing(name)
        state = state.put(name, *move.path)
        marks = {"active": False} if isinstance(thing, Post) else {}
        if isinstance(thing, Unit):
            marks = {"marched": move.march, "charging": move.charge is not None}
        state = state.changed(name, moved=True, **marks)
    words = f"{joined(move.units)} {'moves' if len(move.units) == 1 else 'move'} to {end}"
    if move.charge is None:
        return state.logs("move", words, "K-4.2", *move.units)
    state = replace(state, charges=(*state.charges, acts.Charging(move.units, move.charge)))
    rule = "K-9.3" if state.unit(first.id).arm == "cavalry" else "K-7.13c"
    return state.logs("charge", f"{words} to charge {move.charge}", rule, *move.units)
