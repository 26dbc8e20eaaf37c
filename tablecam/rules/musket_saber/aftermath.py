"""What follows from a combat: losses, retreats, advances, charges that go on, leaders in danger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from tablecam.geometry.shapes import Shape
from tablecam.rules.dice import Roll
from tablecam.rules.game import PendingDecision
from tablecam.rules.hexes.grid import Hex
from tablecam.rules.musket_saber import state as acts
from tablecam.rules.musket_saber import tables
from tablecam.rules.musket_saber.combat import Deed, Role
from tablecam.rules.musket_saber.field import CLEAR
from tablecam.rules.musket_saber.results import Fate
from tablecam.rules.musket_saber.retreat import Retreats, advances, hexes_due, retreats, rout
from tablecam.rules.musket_saber.state import Due, MoraleDie, State, Units
from tablecam.rules.musket_saber.tables import Code
from tablecam.rules.musket_saber.troops import Leader, Unit, is_overstacked
from tablecam.table.sides import side_name
from tablecam.wording import joined

# A fate as it comes over the units.


def applied(
    state: State, fate: Fate, hexes: Mapping[str, Hex], rule: str
) -> tuple[State, list[Due]]:
    """Returns the state after a fate, and the retreats due; `hexes` are the combat hexes."""
    for name, left in fate.steps.items():
        state = lost_step(state, name, left, is_set_aside=name in fate.set_aside)
    gone: dict[str, Any] = {"hex": None, "square": False}
    for names, kind, words, marks in (
        (fate.disrupted, "detail", "is Disrupted", {"disrupted": True, "square": False}),
        (fate.ineffective, "detail", "is ineffective", {"ineffective": True}),
        (fate.captured, "loss", "is captured", gone | {"captured": True}),
        (fate.set_aside, "loss", "is set aside", gone | {"set_aside": True}),
    ):
        for name in (name for name in names if name not in fate.eliminated):
            state = state.logged(name, kind, words, rule, **marks)
    for name, turn in fate.trt.items():
        state = _routed_until(state, name, turn)
    routed = {state.side_of(name) for name in (*fate.routs, *fate.trt, *fate.captured)}
    given = (
        (side, "", "" if index or state.enemy_of(side) not in routed else "it routed the enemy")
        for side, count in fate.fow.items()
        for index in range(count)
    )
    state = replace(state, fortunes=(*state.fortunes, *given))
    flees = [
        Flee(name, count, hexes[name], routs=name in fate.routs)
        for name, count in fate.retreat_hexes.items()
    ]
    attacks = state.active if state.battle is None else state.battle.side
    is_last = attacks if fate.first != "attacker" else state.enemy_of(attacks)
    return state, [*sorted(flees, key=lambda flee: state.side_of(flee.unit) == is_last)]


def _routed_until(state: State, name: str, turn: int) -> State:
    words = f"routs off the map until turn {turn}"
    return state.logged(name, "loss", words, "K-7.10", hex=None, trt=turn, square=False)


def lost_step(state: State, name: str, left: int, *, is_set_aside: bool, why: str = "") -> State:
    """Returns the state after the loss of a step; the last one sets aside or captures (K-7.11)."""
    if left > 0:
        return state.logged(name, "loss", f"loses a step{why}", "K-7.11", steps=left, reduced=True)
    end = "set_aside" if is_set_aside else "captured"
    words, gone = f"is eliminated{why} and {end.replace('_', ' ')}", {end: True}
    return state.logged(name, "loss", words, "K-7.11", hex=None, steps=0, square=False, **gone)


class Losing(Due):
    """A side says which unit loses a step by its tactic, or which battery its ammunition."""

    side: str
    units: Units
    what: str
    question = "{who}: which unit loses {what}?"

    def legal(self, state: State) -> tuple[acts.StepLoss, ...]:
        """Returns the units that are left."""
        return tuple(acts.StepLoss(unit.id) for unit in state.some(self.units) if unit.hex)

    def follow(self, state: State, answer: acts.StepLoss | None) -> State:
        """Returns the state after it; without a unit the opponent has a Fortune of War (K-7.11)."""
        left = self.legal(state)
        if not left:
            why = f"{side_name(self.side)} has no {self.what.removeprefix('a ')} to lose"
            given = () if self.what == _AMMUNITION else ((state.enemy_of(self.side), "", why),)
            return replace(state, fortunes=(*state.fortunes, *given))
        unit = state.unit((answer or left[0]).unit)
        if self.what == _AMMUNITION:
            words = "is out of ammunition: ineffective"
            return state.logged(unit.id, "loss", words, "K-8.5", ineffective=True)
        has_line = state.field.line(unit).kind in ("safe", "valid")
        why = self.what.removeprefix("a step")
        return lost_step(state, unit.id, unit.steps - 1, is_set_aside=has_line, why=why)


_AMMUNITION: Final = "its ammunition"


def ended(state: State, fate: Fate, codes: list[Code], absorbers: Mapping[Role, Units]) -> State:
    """Returns the state with all that follows from a combat due (K-7.8 to K-7.13, K-9.3).

    `absorbers` may take the loss of a side's primary unit.
    """
    battle = state.fight
    enemy = state.enemy_of(battle.side)
    hexes = state.hexes()
    attack_hex = hexes.get(battle.primary, "")
    gone = {*fate.retreats, *fate.routs, *fate.captured, *fate.set_aside, *fate.trt}
    there = {
        side: [n for n, number in hexes.items() if number in numbers and state.side_of(n) == side]
        for side, numbers in (
            (battle.side, {hexes.get(n) for n in battle.attackers}), (enemy, {battle.target}),
        )
    }  # fmt: skip
    state, steps = applied(state, fate, hexes, "K-7.8")
    if battle.tactics.get("attacker") == "press" and {*fate.routs}.isdisjoint(there[enemy]):
        able = _losing_more(state, fate, battle.attackers, battle.primary, *absorbers["attacker"])
        steps.append(Losing(battle.side, able, "a step by pressing forward"))
    stands = battle.tactics.get("defender") == "last_stand"
    if stands and {*fate.retreats, *fate.routs}.isdisjoint(there[battle.side]):
        first = (battle.defence_primary, *absorbers["defender"])
        able = _losing_more(state, fate, battle.defenders, *first)
        steps.append(Losing(enemy, able, "a step by its last stand"))
    if any("Leader" in code.added for code in codes):
        steps += in_danger(state, battle)
    if any("Ammo" in code.added for code in codes) and battle.support:
        steps.append(Losing(battle.side, battle.support, _AMMUNITION))
    horse = _horse(state, battle)
    for side, units, vacated in (
        (enemy, battle.attackers, battle.target), (battle.side, battle.defenders, attack_hex),
    ):  # fmt: skip
        if not fate.advance_up_to or not set(there[side]) <= gone:
            continue
        routed = tuple(n for n in there[side] if n in (*fate.routs, *fate.trt))
        if horse and state.side_of(horse[0]) != side and routed:
            steps.append(Onward(horse, vacated, routed, {name: hexes[name] for name in routed}))
        else:
            steps.append(Victors(units, vacated, side == enemy and fate.advance_up_to > 1))
        break
    return state.pushed(*steps, Settling(horse))


def _losing_more(state: State, fate: Fate, units: Units, *first: str) -> Units:
    """Returns who may take the loss of a tactic: who takes the `first` one, else all (K-7.11)."""
    is_second = bool({*units, *first} & {*fate.steps})
    return units if is_second or not any(unit.hex for unit in state.some(first)) else first


def _horse(state: State, battle: acts.Battle) -> Units:
    """Returns the cavalry that charged or countercharged (K-9.3, K-9.4)."""
    if battle.charge == "cavalry":
        return battle.attackers
    horse = [unit.id for unit in state.some(battle.defenders) if unit.arm == "cavalry"]
    return tuple(horse) if battle.countercharge else ()


def in_danger(state: State, battle: acts.Battle) -> Iterator[Due]:
    """Yields the casualty checks of leaders, stacked, coordinating or taking part (K-10.4)."""
    for leader in state.leaders:
        near = battle.attackers if leader.side == battle.side else battle.defenders
        hexes = [unit.hex for unit in state.some(near) if unit.hex]
        if leader.hex is None or not hexes:
            continue
        distance = state.grid.distance((leader.hex,), hexes)
        coordinates = leader.side == battle.side and not leader.ineffective
        if leader.id in battle.leaders:
            yield Casualty(leader.id, tables.CASUALTY["participating"])
        elif distance == 0 or (distance == 1 and coordinates):
            yield Casualty(leader.id, tables.CASUALTY["stacked"])


class Casualty(Due):
    """A leader in danger is dead on a high die (K-10.4, K-10.1)."""

    unit: str
    lowest: int
    dice = "whether {unit} falls: dead on {lowest} or more"
    dice_rule = "K-10.4"

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state with the leader alive or dead."""
        why = f"with {answer[0]}: dead on {self.lowest} or more"
        if answer[0] < self.lowest:
            return state.logged(self.unit, "check", f"lives {why}", "K-10.4")
        return state.logged(self.unit, "loss", f"is dead {why}", "K-10.4", hex=None, dead=True)


def bombarded(state: State, fate: Fate, target: str, guns: Units, code: Code) -> State:
    """Returns the state after a bombardment: no advance follows (K-8.5)."""
    number = state.unit(target).hex or ""
    struck = {*fate.disrupted, *fate.retreats, *fate.routs, *fate.steps, *fate.captured, *fate.trt}
    deed = Deed(target, "bombard", bool(struck))
    state = replace(state, deeds=(*state.deeds, deed), battle=None)
    state, steps = applied(state, fate, {target: number}, "K-8.5")
    if "Ammo" in code.added:
        steps.append(Losing(state.enemy_of(state.side_of(target)), guns, _AMMUNITION))
    return state.pushed(*steps, Settling())


# Retreats.


class Flee(Due):
    """A unit retreats or routs along a line of its owner's choice (K-7.9, K-7.10)."""

    unit: str
    hexes: int
    combat_hex: Hex
    routs: bool = False
    again: bool = False
    question = "Where does {unit} retreat?"
    least_answers = 1
    hint = "Tap its hex, or move the counter there."

    def ways(self, state: State) -> Retreats:
        """Returns the lines along which it may go, by one hex or two."""
        unit = state.unit(self.unit)
        if unit.hex is None:
            return Retreats("none", 0)
        away = retreats(state.field, unit, self.hexes, self.combat_hex)
        if self.routs or away.must_go > 1:
            return away
        more = retreats(state.field, unit, 2, self.combat_hex)
        return replace(
            away, paths=tuple(dict.fromkeys((*away.paths, *more.paths))),
            routs_from=tuple(dict.fromkeys((*away.routs_from, *more.routs_from))),
        )  # fmt: skip

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the question, and which hexes count."""
        asked, unit = super().asked(state), state.unit(self.unit)
        most = max((self.hexes, *(len(way.path) for way in self.legal(state))))
        due = hexes_due(unit, self.hexes)
        far = "1 hex or 2" if due == 1 and not self.routs else f"{due} hexes"
        why = ", as it is Disrupted," if self.hexes < due else ""
        onward = ", and on until no enemy controls its hex" if most > max(due, 2) else ""
        words = f"It goes {far}{why} along its line of retreat, away from {self.combat_hex}{onward}"
        asked = asked and replace(asked, hint=f"{self.hint} {words}.")
        routs = f"{self.unit} routs: where to?"
        return replace(asked, question=routs) if asked and self.routs else asked

    def legal(self, state: State) -> tuple[acts.Retreat, ...]:
        """Returns a shortest line to each end."""
        ends: dict[Hex, acts.Retreat] = {}
        for path in sorted(self.ways(state).paths, key=len):
            ends.setdefault(path[-1], acts.Retreat(self.unit, path))
        return tuple(ends.values())

    def takes(self, state: State, answer: Any) -> bool:
        """Whether it is a line of the unit."""
        is_own = isinstance(answer, acts.Retreat) and answer.unit == self.unit
        return is_own and answer.path in self.ways(state).paths

    def follow(self, state: State, answer: acts.Retreat | None) -> State:
        """Returns the state with the unit at the end of its line, or off the map without one."""
        unit = state.unit(self.unit)
        if unit.hex is None:
            return state
        if answer is None:
            if state.field.line(unit).kind != "safe":
                return routed_off(state, self.unit)
            # a unit that is at the goal of its line, or is hemmed in by friends, stays.
            words = f"stays in {unit.hex}, the end of its line of retreat"
            return state.logged(self.unit, "retreat", words, "K-7.9a", disrupted=True)
        ways, end = self.ways(state), answer.path[-1]
        is_open, threatened = state.field.open_to(unit), state.field.enemy_zone(unit.side)
        unsafe = [n for n in answer.path if n in threatened and not is_open(n)]
        passed = any(state.field.is_at_trains(unit.side, number) for number in answer.path[:-1])
        state = gone_to(state, self.unit, end)
        text = f"{self.unit} {'routs' if self.routs else 'retreats'} to {end}"
        state = state.logs("retreat", text, "K-7.10" if self.routs else "K-7.9a", self.unit)
        if passed:
            words = "is Disrupted: it went through the trains"
            state = state.logged(self.unit, "detail", words, "K-12.2", disrupted=True)
        if ways.line == "valid" and unsafe:
            return state.pushed(Unsafe(self.unit, len(unsafe)))
        if end in ways.routs_from and not self.again:
            state = state.changed(self.unit, disrupted=True)
            further = Flee(self.unit, tables.ROUT_HEXES, end, routs=True, again=True)
            return state.pushed(further)
        return state

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws the lines and their ends."""
        number = state.unit(self.unit).hex
        legal = self.legal(state)
        lines = (state.grid.way([(n,) for n in (number or "", *way.path)], "way") for way in legal)
        ends = state.grid.outlines((way.path[-1] for way in legal), "withdrawal")
        return (*lines, *ends) if number else ()


def gone_to(state: State, name: str, end: Hex) -> State:
    """Returns the state with a unit at the end of its way back; leaders left alone go along."""
    unit = state.unit(name)
    state = state.changed(name, hex=end, square=False)
    if any(other.side == unit.side for other in state.field.units_at(unit.hex)):
        return state
    for leader in state.field.leaders_at(unit.hex, unit.side):
        state = state.changed(leader.id, hex=end, ineffective=True)
    return state


def routed_off(state: State, name: str) -> State:
    """Returns the state after a rout by an unsafe line, or by none (K-7.10)."""
    unit = state.unit(name)
    kind = state.field.line(unit).kind
    fate = rout("valid" if kind == "safe" else kind, state.turn, len(state.folio.scenario.turns))
    if fate.trt is not None:
        return _routed_until(state, name, fate.trt)
    end = "captured" if fate.captured else "set_aside"
    words, gone = f"is {end.replace('_', ' ')}", {end: True}
    return state.logged(name, "loss", words, "K-7.10", hex=None, square=False, **gone)


class Unsafe(MoraleDie):
    """A unit on an unsafe line checks its morale at each hex that enemies control (K-7.9c)."""

    count: int
    counts_disruption = True
    dice = "the morale of {unit} on an unsafe line"
    dice_rule = "K-7.9c"

    def roll(self, state: State) -> Roll:
        """Returns a die for each hex."""
        return Roll(self._words(self.dice, state), self.count)

    def checked(self, state: State, passed: bool, dice: tuple[int, ...]) -> State:
        """Returns the state with the unit at its end, or in rout."""
        return state if passed else routed_off(state, self.unit)


# Advances.


class Victors(Due):
    """Those who took part may advance, one after the other (K-7.12)."""

    units: Units
    vacated: Hex
    only_routed: bool = False
    question = "{able}: advance to {vacated}, or beside it?"
    hint = "Tap a hex or move the counter there."
    passing = "No advance"

    def able(self, state: State) -> Units:
        """Returns who may advance."""
        ways = (way for way in self.legal(state) if isinstance(way, acts.Advance))
        return tuple(dict.fromkeys(way.unit for way in ways))

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns the hexes of each, and passing."""
        if any(unit.side != self.owner(state) for unit in state.field.units_at(self.vacated)):
            return (acts.Pass(),)
        return (*(
            acts.Advance(unit.id, number) for unit in state.some(self.units)
            for number in advances(state.field, unit, self.vacated, only_routed=self.only_routed)
        ), acts.Pass())  # fmt: skip

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state with the unit and its leader there, and the others asked."""
        if not isinstance(answer, acts.Advance):
            return state
        state = _advanced(state, answer)
        rest = tuple(name for name in self.units if name != answer.unit)
        return state.pushed(replace(self, units=rest)) if rest else state

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws the hexes."""
        ends = (way.to for way in self.legal(state) if isinstance(way, acts.Advance))
        return state.grid.outlines(dict.fromkeys(ends), "reach")


def _advanced(state: State, answer: acts.Advance) -> State:
    start, side = state.unit(answer.unit).hex, state.side_of(answer.unit)
    part = () if state.battle is None else state.battle.leaders
    led = [leader.id for leader in state.field.leaders_at(start, side) if leader.id in part]
    for name in led:
        state = state.changed(name, hex=answer.to)
    state = state.put(answer.unit, answer.to)
    words = f"{joined((answer.unit, *led))} {'advance' if led else 'advances'} to {answer.to}"
    return state.logs("advance", words, "K-7.12", answer.unit)


class Onward(Due):
    """Cavalry that has routed the enemy rides on, or tries to capture (K-9.3)."""

    units: Units
    vacated: Hex
    routed: Units
    stood: Mapping[str, Hex]
    question = "{units}: ride on, or try to capture {routed}?"
    passing = "Neither"

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns the hexes that it may reach, the try, and neither."""
        horse = [unit for unit in state.some(self.units) if unit.hex]
        caught = [unit for unit in state.some(self.routed) if not unit.captured]
        if not horse:
            return (acts.Pass(),)

        def may_step(_: Hex, number: Hex) -> bool:
            there = state.field.units_at(number)
            friends = all(unit.side == horse[0].side for unit in there)
            clear = all(kind == CLEAR for kind in state.folio.map.kinds(number))
            return friends and clear and not is_overstacked((*there, *horse))

        start = horse[0].hex or ""
        near = state.grid.reached((start,), tables.ADVANCE_OF_CHARGE, may_step)
        rides = (acts.Advance(horse[0].id, number) for number in near if number != start)
        return (*((acts.Capture(),) if caught else ()), *rides, acts.Pass())

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state with the cavalry there and a further charge offered, or the try."""
        if isinstance(answer, acts.Capture):
            count = sum(unit.hex is not None for unit in state.some(self.units))
            caught = [unit.id for unit in state.some(self.routed) if not unit.captured]
            most = max(int(unit.cf or 0) for unit in state.some(self.units))
            return state.pushed(Catch(tuple(caught[:count]), most))
        if not isinstance(answer, acts.Advance):
            return state
        for name in self.units:
            if state.unit(name).hex is not None:
                state = _advanced(state, acts.Advance(name, answer.to))
        return state.pushed(ChargeOn(self.units, self.stood))


class Catch(Due):
    """A die for each routed unit: up to the regular CF of the cavalry captures it (K-9.3)."""

    units: Units
    most: int
    dice = "the capture of {names}, on {most} or less"
    dice_rule = "K-9.3"

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state with who is caught."""
        for name, die in zip(self.units, answer, strict=True):
            caught = die <= self.most
            if caught:
                state = state.changed(name, hex=None, captured=True, trt=None, set_aside=False)
            words = f"{name} {'is captured' if caught else 'escapes'} with {die}"
            words += f": {self.most} or less captures"
            state = state.logs("loss" if caught else "check", words, "K-9.3", name)
        return state


class ChargeOn(Due):
    """Cavalry that has ridden on may charge again (K-9.3)."""

    units: Units
    stood: Mapping[str, Hex]
    question = "{units}: charge whom next?"
    passing = "No further charge"

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns the enemy hexes beside it, in clear ground and not attacked in this phase."""
        number = next((unit.hex for unit in state.some(self.units) if unit.hex), None)
        beside = () if number is None else state.grid.neighbours(number)
        enemies = {unit.hex for unit in state.field.enemies(self.owner(state))}
        is_own = self.owner(state) == state.active
        return (*(
            acts.Attack(self.units, target, "charge")
            for target in beside
            if is_own and target in enemies and target not in state.targets
            and all(kind == CLEAR for kind in state.folio.map.kinds(target))
            and state.folio.map.allows_charge(number or "", target)
        ), acts.Pass())  # fmt: skip

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state with a charge to be fought next, its cavalry not spent yet."""
        if not isinstance(answer, acts.Attack):
            return state
        for name in self.units:
            state = state.changed(name, fought=False, charging=True)
        charges = (*state.charges, acts.Charging(self.units, answer.target_hex, goes_on=True))
        text = f"{joined(self.units)}: a further charge, at {answer.target_hex}"
        state = replace(state, charges=charges)
        stay = (Staying(name, number) for name, number in self.stood.items())
        return state.pushed(*stay).logs("charge", text, "K-9.3", *self.units)


class Staying(Due):
    """A routed unit need not retreat while the charge that routed it goes on (K-9.3)."""

    unit: str
    hex: Hex
    question = "{unit}: stay in {hex}, Disrupted, while the charge goes on?"
    hint = "It need not retreat from a charge that goes on. To stay, lay the counter back."
    passing = "Retreat"

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns its hex, if it has retreated from there and no enemy is in it."""
        unit = state.unit(self.unit)
        is_free = state.field.ban_on_passing(unit.side, self.hex) is None
        back = unit.hex is not None and unit.hex != self.hex and is_free
        return (*((acts.Retreat(self.unit, (self.hex,)),) if back else ()), acts.Pass())

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state with the unit where it was, or at the end of its rout."""
        if not isinstance(answer, acts.Retreat):
            return state
        text = f"{self.unit} stays in {self.hex}"
        return gone_to(state, self.unit, self.hex).logs("retreat", text, "K-9.3", self.unit)


# The end of a combat.


def spent(state: State, names: Iterable[str]) -> State:
    """Returns the state with the cavalry among some counters ineffective (K-9.3)."""
    for unit in state.some(state.combat_units(names)):
        if unit.arm == "cavalry" and unit.hex and not unit.ineffective:
            words = "is ineffective at the end of its charge"
            state = state.logged(unit.id, "detail", words, "K-9.3", ineffective=True)
    return state


class Settling(Due):
    """A combat is over: leaders left alone near enemies flee, and posts may be cut off.

    Its `horse` is ineffective at the end of its charge, if it does not charge again (K-9.3).
    """

    horse: Units = ()

    def follow(self, state: State, answer: object) -> State:
        """Returns the state with the leaders' flights due (K-10.1)."""
        on = {name for charging in state.charges for name in charging.units}
        state = spent(state, (name for name in self.horse if name not in on))
        state = replace(state, battle=None)
        for side in state.folio.scenario.sides:
            state = state.with_posts_judged(side)
        alone = (leader.id for leader in state.leaders if _is_alone(state, leader))
        return state.pushed(*map(LeaderFlees, alone))


def _is_alone(state: State, leader: Leader) -> bool:
    """Whether a leader is in an enemy zone, or among enemies, without a friend (K-10.1)."""
    there = {unit.side for unit in state.field.units_at(leader.hex)}
    in_zone = leader.hex in state.field.enemy_zone(leader.side)
    return bool(leader.hex and (there - {leader.side} or (in_zone and not there)))


class LeaderFlees(Due):
    """A leader left alone joins the nearest friend, by an unsafe line at his peril (K-10.1)."""

    unit: str
    dice = "whether {unit} falls on an unsafe line: dead on 6"
    dice_rule = "K-10.1"

    def _line(self, state: State) -> str:
        leader = state.thing(self.unit)
        return state.field.line(Unit(id="", side=leader.side, hex=leader.hex)).kind

    def roll(self, state: State) -> Roll | None:
        """Returns the die of an unsafe line."""
        return super().roll(state) if self._line(state) == "valid" else None

    def follow(self, state: State, answer: tuple[int, ...] | None) -> State:
        """Returns the state with the leader beside a friend, captured or dead."""
        leader, kind = state.thing(self.unit), self._line(state)
        friends, fate = state.own(leader.side), ""
        if kind not in ("safe", "valid") or not friends:
            fate = "is captured"
        elif answer is not None and answer[0] >= tables.CASUALTY["alone"]:
            fate = f"is dead with {answer[0]}"
        if fate:
            return state.logged(self.unit, "loss", fate, "K-10.1", hex=None, dead=True)
        start = (leader.hex or "",)
        near = min(friends, key=lambda u: (state.grid.distance(start, (u.hex or "",)), u.id))
        return state.logged(self.unit, "move", f"joins {near.id}", "K-10.1", hex=near.hex)
