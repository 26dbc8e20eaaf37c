"""The order of a turn: two phases a side, what returns and recovers, Fortunes of War, victory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from tablecam.rules.game import Ban, Event, Refused
from tablecam.rules.hexes.grid import Hex
from tablecam.rules.musket_saber import aftermath, battle, combat, moves
from tablecam.rules.musket_saber import state as acts
from tablecam.rules.musket_saber.field import Field
from tablecam.rules.musket_saber.state import Due, MoraleDie, State
from tablecam.rules.musket_saber.tables import CHARGE_MP, ENEMY_MOVES_ON, FowChoice
from tablecam.rules.musket_saber.troops import Leader, Unit, is_overstacked
from tablecam.rules.steps import ban_on_all, why_none
from tablecam.table.sides import side_name
from tablecam.wording import joined

# Phases.


def movement_begun(state: State, side: str) -> State:
    """Returns the state at the beginning of a side's movement phase (K-3.2, K-11.2)."""
    state = replace(state, phase="movement", active=side, charges=(), entered={})
    state = state.all_changed(side, moved=False, marched=False, charging=False, fought=False)
    for thing in map(state.thing, state.names):
        if thing.side == side and not isinstance(thing, Unit):
            mark = "helped" if isinstance(thing, Leader) else "attacked"
            state = state.changed(thing.id, moved=False, **{mark: False})
    steps = state.folio.scenario.replacements.get(side, {}).get(str(state.turn), 0)
    state = replace(state, began=state.hexes(), replacements=steps)
    lost = [
        unit.id for unit in state.units
        if unit.side == side and unit.set_aside and state.plays("K-11.2b")
        and (not unit.red_dots or assistant(state, unit))
    ]  # fmt: skip
    return state.pushed(*map(StepCheck, lost))


def combat_begun(state: State) -> State:
    """Returns the state at the beginning of a combat phase, with who triggers combats (K-7.2)."""
    state = state.all_changed(state.active, fought=False)
    return replace(
        state, phase="combat", began=state.hexes(), deeds=(), targets=(),
        triggered=combat.triggered(state.field, state.active),
    )  # fmt: skip


def automatic(state: State) -> State | None:
    """Returns what follows by itself: a Fortune of War due, a further charge, the next phase."""
    if state.fortunes:
        (side, unit, why), *rest = state.fortunes
        state = replace(state, fortunes=tuple(rest))
        if not state.plays("K-12.4"):
            return state
        fortune = Fortune(side, unit, why or "the result gives one")
        words = f"{side_name(side)} has a Fortune of War: {fortune.why}"
        return state.pushed(fortune).logs("fow", words, "K-12.4")
    on = {charging.target for charging in state.charges if charging.goes_on}
    if further := next((a for a in battle.attacks(state) if on and a.target_hex in on), None):
        return battle.mustered(state, further)
    if state.phase == "combat":
        # K-7.2b: the triggered units whose triggering units have all fought, or are gone.
        waiting = {unit.id for unit in state.units if unit.hex and not unit.fought}
        names = [name for name, by in state.triggered.items() if waiting.isdisjoint(by)]
        return _passed_over(state, names) if names else None
    if state.phase != "closing":
        return None
    state = aftermath.spent(state, (name for charge in state.charges for name in charge.units))
    state = replace(state.all_changed(charging=False), charges=())
    first = state.folio.scenario.first_player
    if state.active == first:
        side = state.enemy_of(first)
        return movement_begun(state, side).logs(
            "phase", f"{side_name(side)}: movement phase", "K-3.2"
        )
    if state.turn >= len(state.folio.scenario.turns):
        state = replace(state, phase="over")
        return state.logs("over", outcome(state), "K-3.1")
    state = replace(state, turn=state.turn + 1, given_time=None)
    return movement_begun(state, first).logs("turn", f"Turn {state.turn}, {state.time}", "K-3.2")


def passed(state: State) -> State:
    """Returns the state at the end of a phase: HQ and trains wake, Fortunes of War fall due."""
    if state.phase == "movement":
        state = state.with_posts_judged(state.active, wakes=True).with_posts_judged(state.passive)
        return combat_begun(state).logs(
            "phase", f"{side_name(state.active)}: combat phase", "K-3.2"
        )
    return replace(_passed_over(state, [*state.triggered]), phase="closing")


def not_attacked(state: State, names: Sequence[str]) -> list[str]:
    """Returns those of some triggered units that give a Fortune of War as things are (K-7.2b)."""
    stacks: dict[Hex, list[str]] = {}
    for name, number in state.began.items():
        stacks.setdefault(number, []).append(name)
    due = combat.fow_due(names, [*stacks.values()], state.deeds)
    return [name for name in due if state.unit(name).hex] if state.plays("K-7.2b") else []


def _passed_over(state: State, names: Sequence[str]) -> State:
    """Returns the state with the Fortunes of War for triggered units not attacked (K-7.2b)."""
    given = (
        (state.passive, name, f"no enemy in the zone of control of {name} attacked it")
        for name in not_attacked(state, names)
    )
    fortunes = (*state.fortunes, *given)
    left = {name: by for name, by in state.triggered.items() if name not in names}
    return replace(state, triggered=left, fortunes=fortunes)


# What may be done.


def choices(state: State) -> Iterator[Any]:
    """Yields what the phase allows."""
    if state.phase == "movement":
        # Who goes along is chosen where the move of the unit has begun.
        yield from (charge for charge in moves.charges(state) if len(charge.units) == 1)
        yield from moves.starts(state)
        for unit in state.units:
            if unit.side == state.active:
                yield from _own_acts(state, unit)
        recoveries = (acts.Recover(leader.id) for leader in state.leaders)
        yield from (act for act in recoveries if ban_on_recover(state, act) is None)
    else:
        yield from battle.attacks(state)
        yield from battle.bombardments(state)
    yield acts.Pass()


def _own_acts(state: State, unit: Unit) -> Iterator[Any]:
    helpers = moves.helpers(state, unit, "K-10.3c")
    ways = (
        acts.Recover(unit.id), *(acts.Recover(unit.id, name) for name in helpers),
        acts.Square(unit.id), acts.Square(unit.id, forms=False), acts.Replace(unit.id),
        acts.Exit(unit.id),
    )  # fmt: skip
    yield from (way for way in ways if _DEEDS["movement"][type(way)][0](state, way) is None)
    if unit.trt is not None and unit.trt <= state.turn:
        yield from (acts.Place(unit.id, n) for n in reentry_hexes(state.field, unit.side))


def ban_on_recovery(field: Field, unit: Unit, *, moved: bool, fought: bool) -> Ban | None:
    """Returns why a unit may not try to recover (K-11.1f, K-11.3, K-14.2)."""
    rule = "K-11.1f" if field.time != "night" else "K-14.2"
    if moved or fought:
        return Ban(rule, "a unit that moves or fights does not recover")
    if field.time == "night":
        return None
    if unit.hex is None or not field.is_far_from_enemies(unit, unit.hex):
        return Ban(rule, "it or its zone is in an enemy zone of control")
    if field.line(unit).kind != "safe":
        return Ban(rule, "it has no safe line of retreat")
    return None


def ban_on_recover(state: State, act: acts.Recover) -> Ban | None:
    """Returns why a unit or a leader may not recover (K-11.1f, K-11.3)."""
    thing = state.thing(act.unit)
    if not isinstance(thing, Unit | Leader) or thing.side != state.active or thing.hex is None:
        return Ban("K-11.1f", f"{act.unit} is not on the map, or not of the side that moves")
    if not (thing.ineffective or (isinstance(thing, Unit) and thing.disrupted)):
        return Ban("K-11.1f", f"{act.unit} has nothing to recover from")
    unit = thing if isinstance(thing, Unit) else Unit(id=thing.id, side=thing.side, hex=thing.hex)
    if act.leader and (ban := moves.ban_on_help(state, act.leader, unit, "K-10.3c")) is not None:
        return ban
    return ban_on_recovery(state.field, unit, moved=thing.moved, fought=unit.fought)


def _recovered(state: State, act: acts.Recover) -> State:
    thing = state.thing(act.unit)
    if act.leader:
        state = state.changed(act.leader, helped=True)
    is_night = state.time == "night"
    state = state if is_night else state.changed(act.unit, moved=True)
    if not (isinstance(thing, Unit) and thing.disrupted):
        return state.logged(act.unit, "recovery", "is effective", "K-11.3", ineffective=False)
    if not is_night:
        return state.pushed(Recovering(act.unit, act.leader))
    return state.logged(act.unit, "recovery", "recovers", "K-14.2", disrupted=False)


class Recovering(MoraleDie):
    """A unit tries to recover, also a lost step by a Fortune of War (K-11.1f, K-12.4e)."""

    leader: str = ""
    dice = "the recovery of {unit}"
    dice_rule = "K-11.1f"

    def help(self, state: State) -> int:
        """Returns what its leader adds."""
        leader = state.thing(self.leader) if self.leader else None
        return leader.morale if isinstance(leader, Leader) else 0

    def checked(self, state: State, passed: bool, dice: tuple[int, ...]) -> State:
        """Returns the state with the unit as it is then."""
        unit = state.unit(self.unit)
        if not passed:
            return state.logged(self.unit, "check", "does not recover", "K-11.1f")
        if unit.set_aside:
            return _step_back(state, self.unit)
        mark = {"disrupted" if unit.disrupted else "ineffective": False}
        return state.logged(self.unit, "recovery", "recovers", "K-11.1f", **mark)


def assistant(state: State, unit: Unit) -> Leader | None:
    """Returns the leader who helps a step check: with the HQ, the trains or the LOC (K-10.3c)."""
    goals = state.field.goals(unit.side)
    able = (
        leader for leader in state.leaders
        if leader.side == unit.side and not leader.ineffective and leader.hex in goals
        and unit.formation in (*leader.span, "A")
    )  # fmt: skip
    return next(able, None)


class StepCheck(MoraleDie):
    """An eliminated unit regains a step, or is destroyed for good (K-11.2b, K-11.2c)."""

    dice = "a step of {unit}, or it is destroyed"
    dice_rule = "K-11.2b"

    def help(self, state: State) -> int:
        """Returns what the leader adds who assists."""
        leader = assistant(state, state.unit(self.unit))
        return 0 if leader is None else leader.morale

    def checked(self, state: State, passed: bool, dice: tuple[int, ...]) -> State:
        """Returns the state with the unit on the Turn Record Track, or out of the game."""
        if passed:
            return _step_back(state, self.unit)
        gone = {"set_aside": False, "destroyed": True}
        return state.logged(self.unit, "loss", "is destroyed", "K-11.2b", **gone)


def _step_back(state: State, name: str) -> State:
    return state.logged(
        name, "recovery", "returns with a step", "K-11.2a", set_aside=False, steps=1,
        reduced=state.folio.most_steps(state.unit(name)) > 1, ineffective=False, disrupted=False,
        trt=state.turn + 1,
    )  # fmt: skip


def _ban_on_square(state: State, act: acts.Square) -> Ban | None:
    unit = state.unit(act.unit)
    able = unit.arm == "infantry" and unit.hex is not None and state.plays("K-9.5a")
    if unit.side != state.active or not able or unit.square == act.forms:
        return Ban("K-9.5b", f"{act.unit} does not change its Square")
    if act.forms and (unit.moved or unit.disrupted):
        return Ban("K-9.5b", f"{act.unit} has moved, or is Disrupted")
    if act.forms and unit.hex in state.field.enemy_zone(unit.side):
        return Ban("K-9.5b", f"{act.unit} is in an enemy zone of control")
    return None


def _ban_on_replacing(state: State, act: acts.Replace) -> Ban | None:
    unit = state.unit(act.unit)
    if unit.side != state.active or not state.replacements or unit.red_dots:
        return Ban("K-11.2a", f"no replacement step for {act.unit}")
    if unit.set_aside:
        return None
    if unit.hex is None or not unit.reduced:
        return Ban("K-11.2a", f"{act.unit} has lost no step")
    return ban_on_recovery(state.field, unit, moved=False, fought=False)


def _ban_on_exit(state: State, act: acts.Exit) -> Ban | None:
    unit = state.unit(act.unit)
    if unit.side != state.active or unit.hex is None or unit.moved:
        return Ban("K-4.1", f"{act.unit} does not move")
    if not state.folio.map.is_at_edge(unit.hex):
        return Ban("K-4.1", f"{unit.hex} is not at the edge of the map")
    held = state.field.holding(unit)
    return Ban("K-6.2a", "an enemy zone of control holds it") if held else None


def _exited(state: State, act: acts.Exit) -> State:
    unit = state.unit(act.unit)
    goals = [
        number for victory in state.folio.scenario.victory
        if victory.kind == "exited" and victory.side == unit.side for number in victory.hexes
    ]  # fmt: skip
    if unit.hex in goals:
        return state.logged(unit.id, "exit", "leaves the map", "K-4.1", hex=None, exited=True)
    return aftermath.routed_off(state, unit.id)


def reentry_hexes(field: Field, side: str) -> tuple[Hex, ...]:
    """Returns the hexes where units of a side may return to the map (K-13.2)."""
    around = field.grid.neighbours
    loc = [number for number in field.loc_of(side) if field.works(side, number)]
    # K-12.3: without a functioning LOC nothing returns.
    if field.loc_of(side) and not loc:
        return ()
    hqs, trains = (
        [post.hex for post in field.posts(posts, side) if post.active and post.hex]
        for posts in (field.hq, field.trains)
    )
    near = {*hqs, *loc, *(n for number in (*hqs, *trains, *loc) for n in around(number))}
    free = near - field.enemy_zone(side)
    return tuple(
        number for number in sorted(free)
        if field.ban_on_passing(side, number) is None
        and not is_overstacked((*field.units_at(number), Unit(side=side)))
    )  # fmt: skip


def ban_on_place(state: State, act: acts.Place) -> Ban | None:
    """Returns why a unit does not return to a hex (K-13.2)."""
    unit = state.thing(act.unit)
    is_due = isinstance(unit, Unit) and unit.trt is not None and unit.trt <= state.turn
    if not is_due or unit.side != state.active:
        return Ban("K-13.2", f"{act.unit} is not due to return")
    if act.hex not in reentry_hexes(state.field, unit.side):
        return Ban("K-13.2", f"{act.unit} does not return to {act.hex}")
    return None


def _ban_on_attacking(state: State, name: str) -> Ban | None:
    """Returns why a unit attacks and skirmishes with nobody: by the nearest enemies."""
    unit = state.thing(name)
    if not isinstance(unit, Unit) or unit.hex is None or unit.charging:
        return None
    ban = ban_on_all(
        battle.ban_on_joining(state, name, target, how) or battle.ban_on_target(state, target)
        for target in _nearest(state, unit)
        for how in ("attack", "skirmish")
    )
    is_far = ban is not None and ban.rule == "K-7.1"
    return Ban("K-7.1", "no enemy is next to it") if is_far else ban


def _ban_on_bombarding(state: State, name: str) -> Ban | None:
    gun = state.thing(name)
    if not isinstance(gun, Unit) or not (gun.hex and gun.is_battery and state.plays("K-8.4a")):
        return None
    return ban_on_all(battle.ban_on_bombard(state, gun, n) for n in _nearest(state, gun))


def _nearest(state: State, unit: Unit) -> list[Hex]:
    hexes = dict.fromkeys(enemy.hex for enemy in state.field.enemies(unit.side) if enemy.hex)
    return sorted(hexes, key=lambda number: state.grid.distance((unit.hex or "",), (number,)))


def _ban_on_recovering(state: State, name: str) -> Ban | None:
    thing = state.thing(name)
    is_worn = isinstance(thing, Unit) and (thing.disrupted or thing.ineffective)
    return ban_on_recover(state, acts.Recover(name)) if is_worn else None


WHY_NOT: Final[dict[str, dict[str, Any]]] = {
    "movement": {
        "move": lambda state, name: moves.ban_on_start(state, acts.Start(name)),
        "recovery": _ban_on_recovering,
    },
    "combat": {"attack": _ban_on_attacking, "bombardment": _ban_on_bombarding},
}
"""Why a unit lacks what others may do, by the phase and the deed."""


def acted(state: State, action: Any) -> State:
    """Returns what follows from an action when nothing is due."""
    if isinstance(action, acts.Pass):
        return passed(state)
    if type(action) not in _DEEDS[state.phase]:
        raise Refused(f"expected what the {state.phase} phase allows", rule="K-3.2")
    ban_on, follow = _DEEDS[state.phase][type(action)]
    if ban_on is not None and (ban := ban_on(state, action)) is not None:
        raise ban.refused()
    after: State = follow(state, action)
    return after


def _squared(state: State, action: acts.Square) -> State:
    words = f"{'forms' if action.forms else 'ends'} a Square"
    marks = {"square": action.forms} | ({"moved": True} if action.forms else {})
    return state.logged(action.unit, "recovery", words, "K-9.5b", **marks)


def _replaced(state: State, action: acts.Replace) -> State:
    state = replace(state, replacements=state.replacements - 1)
    if state.unit(action.unit).set_aside:
        return _step_back(state, action.unit)
    marks = {"reduced": False, "steps": 2, "moved": True}
    return state.logged(action.unit, "recovery", "is whole again", "K-11.2a", **marks)


def _placed(state: State, action: acts.Place) -> State:
    there = state.put(action.unit, action.hex)
    return there.logged(action.unit, "return", f"returns at {action.hex}", "K-13.2", trt=None)


def _moved(state: State, move: acts.Move) -> State:
    """Returns the state after a move at once, of a counter that does not roll for its MA."""
    name = move.units[0] if move.units else ""
    if (ban := moves.ban_on_start(state, acts.Start(name, move.march))) is not None:
        raise ban.refused(name)
    thing = state.thing(name)
    if isinstance(thing, Unit) and moves.must_roll(state, thing):
        raise Refused(f"{name} rolls for its Movement Allowance first", rule="K-4.4")
    if (ban := moves.ban_on_stack(state, move) or moves.judged(state, move).ban) is not None:
        raise ban.refused(name)
    return moves.moved(state, move)


_DEEDS: Final[dict[str, dict[type, tuple[Any, Any]]]] = {
    "movement": {
        acts.Start: (None, moves.started), acts.Move: (None, _moved),
        acts.Recover: (ban_on_recover, _recovered), acts.Square: (_ban_on_square, _squared),
        acts.Place: (ban_on_place, _placed), acts.Replace: (_ban_on_replacing, _replaced),
        acts.Exit: (_ban_on_exit, _exited),
    },
    "combat": {acts.Attack: (None, battle.mustered), acts.Bombard: (None, battle.bombarding)},
}  # fmt: skip
"""Why actions of each phase may be barred, and what follows from them."""


# Fortunes of War.


def ban_on_fow(
    choice: FowChoice, *, in_zone: bool = False, disrupted: bool = False, fought: bool = False,
    leaves_map: bool = False,
) -> Ban | None:  # fmt: skip
    """Returns why a Fortune of War may not be used so (K-12.4)."""
    barred = (
        (choice == "keep", "K-12.4", "a Fortune of War is used at once or lost"),
        (choice == "move_enemy" and leaves_map, "K-12.4", "an enemy is not moved off the map"),
        (choice == "charge" and in_zone, "K-12.4", "it is in an enemy zone of control"),
        (choice == "charge" and fought, "K-12.4", "it has fought in this phase"),
        (choice == "charge" and disrupted, "K-7.13c", "a Disrupted unit does not charge"),
        (choice == "check_enemy" and disrupted, "K-12.4", "the enemy is Disrupted already"),
    )
    return next((Ban(rule, why) for is_so, rule, why in barred if is_so), None)


_USES: Final = {
    "move_enemy": "move", "move_friend": "move", "charge": "charge with",
    "check_enemy": "check the morale of", "recover_friend": "recover",
}  # fmt: skip


class Fortune(Due):
    """A side uses a Fortune of War at once, or loses it (K-12.4)."""

    side: str
    unit: str = ""
    why: str = ""
    question = "{who}: how to use the Fortune of War? ({why})"
    hint = "Tap a unit to see what it may do."
    passing = "Do not use it"

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns its uses, and losing it."""
        own = [u for u in state.own(self.side) if self.unit in ("", u.id)]
        enemies = () if self.unit else state.field.enemies(self.side)
        uses = [
            acts.Fow("move_friend" if unit.side == self.side else "move_enemy", unit.id)
            for unit in (*own, *enemies) if self._ban_on_move(state, unit.id) is None
        ]  # fmt: skip
        uses += [
            acts.Fow("recover_friend", u.id) for u in state.units
            if u.side == self.side and self.unit in ("", u.id)
            and (u.set_aside or (u.hex and (u.disrupted or u.ineffective)))
        ]  # fmt: skip
        uses += [use for unit in own for use in self._charges(state, unit)]
        if not self.unit:
            uses += self._stacks(state)
            uses += [acts.Fow("check_enemy", enemy.id) for enemy in enemies if not enemy.disrupted]
            uses += [
                acts.Fow("move_friend", unit.id, (number,))
                for unit in state.units
                if unit.side == self.side and unit.trt == state.turn + 1
                for number in reentry_hexes(state.field, self.side)
            ]
        return (*uses, acts.Pass())

    def _stacks(self, state: State) -> Iterator[acts.Fow]:
        """Yields the moves of whole stacks, each by the roll of its slowest unit (K-12.4b)."""
        hexes = dict.fromkeys(unit.hex for unit in state.own(self.side))
        for stack in map(state.field.units_at, hexes):
            first, *others = sorted(stack, key=lambda u: (u.ma != "V", u.ma))
            names = tuple(unit.id for unit in others)
            if others and self._ban_on_move(state, first.id, *names) is None:
                yield acts.Fow("move_friend", first.id, others=names)

    def _ban_on_move(self, state: State, name: str, *others: str) -> Ban | None:
        """Returns why a unit or a stack reaches no hex, whatever its die."""
        return moves.RollMa(name, side=self.side, others=others).at_best(state).ban(state)

    def why_missing(self, state: State) -> str:
        """Says why the only unit that it may be used on does not move."""
        units = state.some((self.unit,) if self.unit else ())
        bans = {unit.id: self._ban_on_move(state, unit.id) for unit in units if unit.hex}
        return why_none("move", bans)

    def _charges(self, state: State, unit: Unit) -> Iterator[acts.Fow]:
        ban = ban_on_fow(
            "charge", in_zone=unit.hex in state.field.enemy_zone(self.side),
            disrupted=unit.disrupted, fought=unit.fought,
        )  # fmt: skip
        if ban is not None or unit.is_battery or unit.square:
            return
        # Those who were to charge the target are passed over.
        alone = replace(state, charges=())
        for move in moves.Go(unit.id, float(max(CHARGE_MP))).charges(alone):
            if not any(state.unit(name).fought for name in state.combat_units(move.units)):
                yield acts.Fow("charge", unit.id, move.path, move.charge, move.units[1:])

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state with its use begun."""
        if answer is None:
            why = self.why_missing(state) or f"{self.unit} is off the map"
            return state.logs("fow", f"The Fortune of War has no use. {why}", "K-12.4")
        if not isinstance(answer, acts.Fow):
            return state
        words = f"{_USES[answer.choice]} {joined((answer.unit, *answer.others))}"
        text = f"{side_name(self.side)} uses the Fortune of War to {words}"
        state = state.logs(f"fow-{answer.choice}", text, "K-12.4", answer.unit)
        if answer.choice == "charge":
            return self._charged(state, answer)
        if answer.path:
            return state.put(answer.unit, answer.path[0]).changed(answer.unit, trt=None)
        begun: dict[str, Due] = {
            "move_friend": moves.RollMa(answer.unit, side=self.side, others=answer.others),
            "recover_friend": Recovering(answer.unit),
            "check_enemy": Shaken(answer.unit),
            "move_enemy": Misled(self.side, answer.unit),
        }
        return state.pushed(begun[answer.choice])

    def _charged(self, state: State, answer: acts.Fow) -> State:
        """Returns the state in the combat of a charge, which is that of its target (K-12.4c)."""
        arm: Any = state.unit(answer.unit).arm
        target = answer.target or ""
        charging = (answer.unit, *answer.others)
        for name in charging:
            state = state.put(name, answer.path[-1]).changed(name, moved=True)
        attackers = state.combat_units(charging)
        leaders = tuple(name for name in charging if name not in attackers)
        # Who was to attack the target has fought without effect, and its own combat is this one.
        charges = (charge.units for charge in state.charges if charge.target == target)
        slated = tuple(chain.from_iterable(charges))
        for unit in state.units:
            if unit.id in slated or unit.hex == target:
                state = state.changed(unit.id, fought=True, charging=False)
        state = aftermath.spent(state, slated)
        fight = acts.Battle(
            self.side, target, attackers, leaders=leaders, primary=answer.unit, how="charge",
            charge=arm, by_fow=True,
        )  # fmt: skip
        return battle.declared(state, fight)


class Shaken(MoraleDie):
    """A Fortune of War makes an enemy unit check its morale (K-12.4d)."""

    dice = "the morale of {unit}"
    dice_rule = "K-12.4"

    def checked(self, state: State, passed: bool, dice: tuple[int, ...]) -> State:
        """Returns the state with the unit as before, or Disrupted."""
        if passed:
            return state
        marks = {"disrupted": True, "square": False}
        return state.logged(self.unit, "check", "is Disrupted", "K-12.4", **marks)


class Misled(Due):
    """On a low die a Fortune of War moves an enemy unit (K-12.4a)."""

    side: str
    unit: str
    dice = "the move of {unit} by the enemy, on 1 or 2"
    dice_rule = "K-12.4"

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state in which the unit rolls for its allowance, or stays."""
        goes = answer[0] <= ENEMY_MOVES_ON
        go = (moves.RollMa(self.unit, side=self.side),) if goes else ()
        words = f"{'moves' if goes else 'stays'} with {answer[0]}"
        words += f": {ENEMY_MOVES_ON} or less moves it"
        return state.pushed(*go).logged(self.unit, "check", words, "K-12.4")


# Victory.


_SCORED: Final = {
    "hold": "for {hexes}", "enemy_steps": "for steps of the enemy", "captured": "for captures",
    "enemy_destroyed": "for enemies lost for good", "exited": "for units off the map",
}  # fmt: skip


def points(state: State) -> dict[str, int]:
    """Returns the Victory Points of both sides as they stand (K-3.1)."""
    total = dict.fromkeys(state.folio.scenario.sides, 0)
    for side, _, value in _scores(state):
        total[side] += value
    return total


def scored(before: State, after: State) -> Iterator[Event]:
    """Yields what Victory Points a side has won or lost, and for what (K-3.1)."""
    if before.units is after.units and before.hq is after.hq and before.trains is after.trains:
        return
    total = points(after)
    for (side, why, old), (*_, new) in zip(_scores(before), _scores(after), strict=True):
        if old != new:
            words = f"{side_name(side)} {new - old:+d} VP {why}: {total[side]} in all"
            yield Event("score", words, "K-3.1")


def _scores(state: State) -> Iterator[tuple[str, str, int]]:
    """Yields what each line of the scenario gives a side, and for what."""
    for victory in state.folio.scenario.victory:
        enemies = [unit for unit in state.units if unit.side != victory.side]
        own = [unit for unit in state.units if unit.side == victory.side]
        posts = [p for p in (*state.hq, *state.trains) if p.side != victory.side]
        out = [u for u in enemies if u.captured or u.destroyed]
        left = sum(u.steps for u in enemies if u not in out and not u.set_aside)
        counts = {
            "hold": sum(any(u.hex == n for u in own) for n in victory.hexes),
            "enemy_steps": sum(map(state.folio.most_steps, enemies)) - left,
            "enemy_destroyed": len(out),
            "captured": sum(u.captured for u in enemies) + sum(p.hex is None for p in posts),
            "exited": sum(u.exited for u in own),
        }
        why = _SCORED[victory.kind].format(hexes=", ".join(victory.hexes))
        yield victory.side, why, victory.points * counts[victory.kind]


def outcome(state: State) -> str:
    """Returns how the game has ended (K-3.1)."""
    scored, levels = points(state), state.folio.scenario.victory_level
    winners = [side for side, level in levels.items() if scored[side] >= level]
    words = ", ".join(f"{side_name(side)} {score}" for side, score in scored.items())
    best = [side for side in winners if scored[side] == max(map(scored.__getitem__, winners))]
    won = f"Victory for {side_name(best[0])}" if len(best) == 1 else "Nobody wins"
    return f"{won}: {words} points"
