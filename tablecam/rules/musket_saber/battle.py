"""Combats in a game: attacks as they are put together, their dice, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain, combinations
from typing import Any, Final, Literal

from tablecam.geometry.shapes import Shape
from tablecam.rules.dice import Roll
from tablecam.rules.game import Ban, DiceGroup, PendingDecision, Refused, Sum, outcomes_of
from tablecam.rules.hexes.grid import Hex
from tablecam.rules.musket_saber import aftermath, combat, movement, results
from tablecam.rules.musket_saber import state as acts
from tablecam.rules.musket_saber.combat import Deed, Differential, Role, Tactic, Term
from tablecam.rules.musket_saber.state import Due, MoraleDie, State, Units
from tablecam.rules.musket_saber.tables import HQ_FOW, Code, code_of
from tablecam.rules.musket_saber.troops import Leader, Unit, fighting
from tablecam.table.sides import side_name
from tablecam.wording import joined

TACTIC_RULES: Final[Mapping[Tactic, str]] = {
    "none": "K-7.3", "press": "K-7.13b", "disengage": "K-7.13d", "last_stand": "K-7.13e",
}  # fmt: skip
_VERBS: Final = {
    "attack": ("attacks", "attack"), "charge": ("charges", "charge"),
    "skirmish": ("skirmishes with", "skirmish with"), "bombard": ("bombards", "bombard"),
}  # fmt: skip
_NAMES: Final = {"none": "no tactic", "press": "Press Forward", "last_stand": "Last Stand"}


# The differential.


def reckoned(state: State, battle: acts.Battle) -> Differential:
    """Returns the combat differential of a battle as far as it is put together (K-7.7)."""
    leaders = tuple(
        replace(leader, participates=leader.id in battle.leaders) for leader in state.field.leaders
    )
    field = replace(state.field, leaders=leaders)
    units = _facing_horse(state, battle) if battle.is_turned else state.some(battle.attackers)
    attack = combat.attack_on(
        field, tuple(replace(unit, primary=unit.id == battle.primary) for unit in units),
        battle.target, state.some(battle.support), manner=battle,
        needs_coordination=state.plays("K-7.14"),
        defenders=state.some(battle.defenders) or fighting(field.units_at(battle.target)),
    )  # fmt: skip
    return combat.differential(attack)


def _facing_horse(state: State, battle: acts.Battle) -> tuple[Unit, ...]:
    """Returns the attackers whom counterchargers meet: of a stack in Square that unit alone."""
    units = state.some(battle.attackers)
    formed = next((unit for unit in units if unit.id == battle.square), None)
    return tuple(u for u in units if formed is None or u is formed or u.hex != formed.hex)


def sums_of(counted: Differential, battle: acts.Battle) -> tuple[Sum, ...]:
    """Returns both totals of a differential with their terms, each halving with its rule.

    Of several attackers the primary one is named as such.
    """
    primary = battle.primary if len(battle.attackers) > 1 else ""

    def part(term: Term) -> str:
        why = ", ".join(
            f"{reason} ({combat.HALVED_BY[reason]})" if reason in combat.HALVED_BY else reason
            for reason in term.halved
        )
        words = f"{term.unit} {term.counts}" + (", primary unit" if term.unit == primary else "")
        return f"{words}, of {term.cf} halved: {why}" if why else words

    def total(title: str, side: combat.Total, *said: str) -> Sum:
        others = (f"{_NAMES.get(name, name)} {value:+d}" for name, value in side.more.items())
        return Sum(f"{title} {side.value}", (*map(part, side.terms), *others, *said))

    led = [f"coordinated by {name} (K-7.14)" for name in counted.led_by]
    return total("Attack", counted.attack, *led), total("Defence", counted.defence)


def whom(state: State, target: Hex) -> str:
    """Returns who is attacked in a hex: its units that fight, else the posts there."""
    units = [unit.id for unit in fighting(state.field.units_at(target))]
    there = units or [name for name, number in state.hexes().items() if number == target]
    return f"{joined(there)} in {target}" if there else target


def attack_words(state: State, units: Units, target: Hex, how: str) -> str:
    """Returns who attacks whom, and how."""
    verb = _VERBS[how][len(units) > 1]
    return f"{joined(units)} {verb} {whom(state, target)}"


def battle_words(state: State, battle: acts.Battle) -> str:
    """Returns who attacks whom in a combat, and how."""
    return attack_words(state, battle.attackers, battle.target, battle.how)


# Putting an attack together.


def ban_on_target(state: State, target: Hex, *, charges: bool = False) -> Ban | None:
    """Returns why a hex may not be attacked now (K-7.1, K-7.4, K-7.13c)."""
    # The enemy whom a charge was declared on may have gone, and a friend may stand there.
    if target not in state.enemy_hexes(state.active):
        return Ban("K-7.1", f"no enemy is in {target}")
    if target in state.targets:
        return Ban("K-7.4", f"{target} has been attacked in this phase")
    if not charges and any(charging.target == target for charging in state.charges):
        return Ban("K-7.13c", f"nobody else attacks {target}, which is charged")
    return None


def ban_on_joining(state: State, name: str, target: Hex, how: str) -> Ban | None:
    """Returns why a unit may not attack a hex (K-7.5, K-7.13a, K-7.13c)."""
    unit = state.unit(name)
    if unit.side != state.active or unit.hex is None:
        return Ban("K-7.1", f"{name} does not attack")
    if unit.fought:
        return Ban("K-7.5", f"{name} has fought in this phase")
    if unit.marched:
        return Ban("K-4.7a", f"{name} has marched")
    if how == "charge" or unit.charging:
        charging = (charge.units for charge in state.charges if charge.target == target)
        if not any(name in units for units in charging) or how != "charge" or unit.disrupted:
            return Ban("K-7.13c", f"{name} does not charge {target}")
        return None
    return ban_by_field(state, unit, target, how)


def ban_by_field(state: State, unit: Unit, target: Hex, how: str) -> Ban | None:
    """Returns why a unit may not attack a hex or skirmish with it, as all stands on the map."""
    if how != "skirmish":
        return combat.ban_on_attack(state.field, unit, target)
    enemies = state.field.units_at(target)
    if not state.plays("K-7.13a") or not enemies:
        return Ban("K-7.13a", f"no skirmish with {target}")
    return combat.ban_on_skirmish(state.field, unit, enemies[0])


_WAYS: Final[tuple[Literal["attack", "skirmish"], ...]] = ("attack", "skirmish")


def attacks(state: State) -> Iterator[acts.Attack]:
    """Yields the attacks, skirmishes and charges that may begin, by a unit of each."""
    for charging in state.charges:
        units = state.combat_units(charging.units)
        able = (ban_on_joining(state, n, charging.target, "charge") is None for n in units)
        if all(able) and ban_on_target(state, charging.target, charges=True) is None:
            yield acts.Attack(units, charging.target, "charge")
    yield from (
        acts.Attack((unit.id,), target, how)
        for target in state.enemy_hexes(state.active)
        if ban_on_target(state, target) is None
        for unit in state.own(state.active)
        for how in _WAYS
        if ban_on_joining(state, unit.id, target, how) is None
    )


def mustered(state: State, attack: acts.Attack) -> State:
    """Returns the state in which an attack is put together; a charge is declared at once.

    Raises:
        Refused: A unit may not attack so.
    """
    if not attack.units:
        raise Refused("expected units", key="units")
    bans = [ban_on_target(state, attack.target_hex, charges=attack.how == "charge")]
    bans += [ban_on_joining(state, n, attack.target_hex, attack.how) for n in attack.units]
    if (ban := next(filter(None, bans), None)) is not None:
        raise ban.refused()
    battle = acts.Battle(state.active, attack.target_hex, attack.units, how=attack.how)
    battle = replace(battle, primary=_primaries(state, battle)[0])
    if attack.how != "charge":
        return state.pushed(Muster(battle))
    (charging,) = (charging for charging in state.charges if set(attack.units) <= {*charging.units})
    others = (n for n in charging.units if n not in attack.units)
    leaders = tuple(n for n in others if isinstance(state.thing(n), Leader) and state.thing(n).hex)
    arm: Any = state.unit(attack.units[0]).arm
    return declared(state, replace(battle, charge=arm, leaders=leaders))


def _primaries(state: State, battle: acts.Battle) -> Units:
    """Returns the units that may be primary: no battery, nor ineffective unit, unless alone."""
    units = state.some(battle.attackers)
    return tuple(u.id for u in units if not u.ineffective and not u.is_battery) or battle.attackers


class Muster(Due):
    """The attacker puts an attack together unit by unit, and sees its differential."""

    battle: acts.Battle

    def asked(self, state: State) -> PendingDecision:
        """Returns the question, with the differential and each halving."""
        battle = self.battle
        counted = reckoned(state, battle)
        words = f"{battle_words(state, battle)}, differential {counted.value:+d}"
        hint = "To add a unit, tap it. When all are in, tap “Declare”."
        if not any(self._joining(state)):
            hint = "All who can attack with it are in: tap “Declare”, or “Go back”."
        return PendingDecision(words, battle.side, hint=hint, sums=sums_of(counted, battle))

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns who else may take part, who may be primary, and the declaration."""
        battle = self.battle
        primaries = (acts.Primary(n) for n in _primaries(state, battle) if n != battle.primary)
        joins = (acts.Join(name) for name, _ in self._joining(state))
        first, *others = battle.attackers
        inside = (*([first] if others else ()), *others, *battle.support, *battle.leaders)
        leaves = (acts.Join(name, joins=False) for name in inside)
        return (acts.Declare(True), acts.Declare(False), *joins, *primaries, *leaves)

    def _joining(self, state: State) -> Iterator[tuple[str, str]]:
        """Yields who else may take part, and as what."""
        battle = self.battle
        attackers = state.some(battle.attackers)
        for unit in state.own(battle.side):
            if unit.id in (*battle.attackers, *battle.support):
                continue
            stack = (*(attacker for attacker in attackers if attacker.hex == unit.hex), unit)
            fits = fighting(stack) == stack
            if ban_on_joining(state, unit.id, battle.target, battle.how) is None:
                if fits:
                    yield unit.id, "attackers"
            elif battle.how == "attack" and unit.is_battery and not (unit.fought or unit.marched):
                ban = combat.ban_on_support(state.field, unit, attackers, battle.target)
                if state.plays("K-8.8") and ban is None:
                    yield unit.id, "support"
        for leader in state.leaders:
            is_here = leader.hex in {unit.hex for unit in attackers}
            able = leader.side == battle.side and not (leader.ineffective or leader.helped)
            if is_here and able and not battle.leaders and battle.how == "attack":
                yield leader.id, "leaders"

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state with the attack as it is now, declared, or dropped."""
        battle = self.battle
        if isinstance(answer, acts.Declare):
            return declared(state, battle) if answer.yes else state
        if isinstance(answer, acts.Primary):
            battle = replace(battle, primary=answer.unit)
        elif not answer.joins:
            battle = self._without(state, answer.unit)
        else:
            part = dict(self._joining(state))[answer.unit]
            joined: dict[str, Any] = {part: (*getattr(battle, part), answer.unit)}
            battle = replace(battle, **joined)
        able = _primaries(state, battle)
        primary = battle.primary if battle.primary in able else able[0]
        return state.pushed(Muster(replace(battle, primary=primary)))

    def _without(self, state: State, name: str) -> acts.Battle:
        """Returns the attack without somebody, and without those who took part beside him alone."""
        battle = self.battle
        left = tuple(other for other in battle.attackers if other != name)
        attackers = state.some(left)
        hexes = {unit.hex for unit in attackers}
        support = tuple(
            gun.id for gun in state.some(battle.support) if gun.id != name
            and combat.ban_on_support(state.field, gun, attackers, battle.target) is None
        )  # fmt: skip
        leaders = tuple(n for n in battle.leaders if n != name and state.thing(n).hex in hexes)
        return replace(battle, attackers=left, support=support, leaders=leaders)


def declared(state: State, battle: acts.Battle) -> State:
    """Returns the state after a declaration: nobody there fights again in the phase (K-7.5)."""
    hexes = {state.unit(name).hex for name in battle.attackers}
    for unit in state.own(battle.side):
        # K-5.3: the rest of a stack fights in no other combat, but its guns may bombard.
        stays = unit.hex in hexes and battle.how != "skirmish" and not unit.is_battery
        if stays or unit.id in (*battle.attackers, *battle.support):
            state = state.changed(unit.id, fought=True, charging=False)
    for name in battle.leaders:
        state = state.changed(name, helped=True)
    there = state.field.units_at(battle.target)
    how: Any = "skirmish" if battle.how == "skirmish" else "attack"
    state = replace(
        state, battle=battle, targets=(*state.targets, battle.target),
        deeds=(*state.deeds, *(Deed(unit.id, how) for unit in there)),
        charges=tuple(charging for charging in state.charges if charging.target != battle.target),
    )  # fmt: skip
    for post in (*state.hq, *state.trains):
        if post.hex == battle.target and how == "attack":
            state = state.changed(post.id, attacked=True, active=False)
            given = ((battle.side, "", f"it attacked {post.id}"),) * HQ_FOW
            state = replace(state, fortunes=(*state.fortunes, *given))
    state = state.logs("attack", battle_words(state, battle), "K-7.1", *battle.attackers)
    if there:
        return state.pushed(Defence(state.enemy_of(battle.side)))
    victors = aftermath.Victors(battle.attackers, battle.target)
    return state.pushed(victors, aftermath.Settling())


# The defender's answer and the tactics.


class Defence(Due):
    """The defender says who defends the hex, and names the primary unit (K-5.3, K-7.4)."""

    side: str
    question = "{attack}. {who}: who defends, and who is the primary unit?"

    def attack(self, state: State) -> str:
        """Returns who attacks whom, and how."""
        return battle_words(state, state.fight)

    def legal(self, state: State) -> tuple[acts.Defend, ...]:
        """Returns the ways to defend."""
        battle, there = state.fight, state.field.units_at(state.fight.target)
        most = len(fighting(there))
        groups = (group for group in combinations(there, most) if fighting(group) == group)
        here = state.field.leaders_at(battle.target, self.side)
        leaders = ("", *(one.id for one in here if not (one.ineffective or one.helped)))
        horse = [unit.id for unit in there if self._may_countercharge(state, unit)]
        ways = []
        for group in groups:
            names = tuple(unit.id for unit in group)
            able = tuple(unit.id for unit in group if not unit.ineffective) or names
            ways += [acts.Defend(names, one, leader=led) for one in able for led in leaders]
            ways += [acts.Defend(names, n, countercharge=True) for n in names if n in horse]
        ways += [
            acts.Defend((unit.id,), unit.id, square=True) for unit in there
            if battle.charge == "cavalry" and unit.arm == "infantry" and state.plays("K-9.5a")
        ]  # fmt: skip
        return tuple(ways)

    def _may_countercharge(self, state: State, unit: Unit) -> bool:
        """Whether a unit of the hex may countercharge (K-9.4)."""
        battle = state.fight
        if battle.how == "skirmish" or not state.plays("K-9.4"):
            return False
        hexes = (battle.target, *(other.hex or "" for other in state.some(battle.attackers)))
        ban = movement.ban_on_charge(
            unit.arm, (unit.size,), counters=True, disrupted=unit.disrupted, time=state.time,
            path_terrain=chain.from_iterable(map(state.folio.map.kinds, hexes)),
            ineffective=unit.ineffective,
        )  # fmt: skip
        return ban is None

    def follow(self, state: State, answer: acts.Defend | None) -> State:
        """Returns the state with the checks and the tactics due, in their order (K-7.3)."""
        battle = state.fight
        answer = answer or self.legal(state)[0]
        leaders = (*battle.leaders, *((answer.leader,) if answer.leader else ()))
        if answer.leader:
            state = state.changed(answer.leader, helped=True)
        hexes = {battle.target, *(unit.hex for unit in state.some(battle.attackers))} - {None}
        battle = replace(
            battle, defenders=answer.units, defence_primary=answer.primary, leaders=leaders,
            countercharge=answer.countercharge, square=answer.primary if answer.square else "",
            lines={u.id: state.field.line(u).kind for u in state.units if u.hex in hexes},
        )  # fmt: skip
        state = replace(state, battle=battle)
        steps: list[Due] = [
            LineCheck(name) for name in answer.units if battle.lines[name] != "safe"
        ]
        if answer.square and not state.unit(answer.primary).square:
            steps.append(SquareCheck(answer.primary))
        if battle.is_turned:
            steps.append(Squaring(battle.side))
        if battle.how != "skirmish" and not answer.countercharge:
            # A charge is the attacker's tactic; the defender still has one (K-7.3, K-7.13c).
            choose = (battle.side, self.side) if battle.how == "attack" else (self.side,)
            steps += map(Tactics, choose)
        if battle.charge is not None:
            steps.append(ChargeCheck(battle.primary))
        return state.pushed(*steps, Fight())


class CombatCheck(MoraleDie, is_family=True):
    """A morale check in a combat, with the help of a leader who takes part (K-10.3e)."""

    def help(self, state: State) -> int:
        """Returns what he adds."""
        return _morale(state, state.side_of(self.unit))


class LineCheck(CombatCheck):
    """A defender without a safe line of retreat checks its morale before the combat (K-7.3)."""

    counts_disruption = True
    dice = "the morale of {unit}, which has no safe line of retreat"
    dice_rule = "K-7.3"

    def checked(self, state: State, passed: bool, dice: tuple[int, ...]) -> State:
        """Returns the state with the unit as before, Disrupted, or in rout."""
        unit = replace(state.unit(self.unit), line=state.fight.lines[self.unit])
        turns = len(state.folio.scenario.turns)
        led = self.help(state)
        fate = results.fate_without_safe_line(unit, dice[0], state.turn, turns, state.time, led)
        hexes = {self.unit: state.fight.target}
        state, steps = aftermath.applied(state, fate, hexes, "K-7.3")
        return state.pushed(*steps)


class Squaring(Due):
    """Infantry that is countercharged may form a Square (K-9.4, R-19)."""

    side: str
    question = "Which unit forms a Square against the countercharge?"
    passing = "No Square"

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns the infantry that attacks, and passing."""
        units = state.some(state.fight.attackers) if state.plays("K-9.5a") else ()
        return (*(acts.Square(u.id) for u in units if u.arm == "infantry" and u.hex), acts.Pass())

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state with the check due; that unit alone meets the horse in its hex."""
        if not isinstance(answer, acts.Square):
            return state
        battle = replace(state.fight, square=answer.unit, primary=answer.unit)
        return replace(state, battle=battle).pushed(SquareCheck(answer.unit))


class SquareCheck(CombatCheck):
    """Infantry that cavalry charges tries to form a Square (K-9.5a)."""

    counts_disruption = True
    dice = "{unit} to form a Square"
    dice_rule = "K-9.5a"

    def checked(self, state: State, passed: bool, dice: tuple[int, ...]) -> State:
        """Returns the state with the unit in a Square, or Disrupted."""
        words = "forms a Square" if passed else "forms no Square: Disrupted"
        marks = {"square": True} if passed else {"disrupted": True}
        return state.logged(self.unit, "check", words, "K-9.5a", **marks)


class Tactics(Due):
    """A side chooses its tactic, the attacker first (K-7.13)."""

    side: str
    question = "{who}: which tactic?"

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the question, with who fights and what both sides count so far."""
        asked, battle = super().asked(state), state.fight
        counted = reckoned(state, battle)
        stands = f"{_foes(battle)}, {counted.value:+d} so far"
        words = f"{side_name(self.side)}: which tactic? ({stands})"
        return asked and replace(asked, question=words, sums=sums_of(counted, battle))

    def legal(self, state: State) -> tuple[acts.UseTactic, ...]:
        """Returns the tactics of its arms."""
        battle = state.fight
        role = role_of(battle, self.side)
        units = state.some(battle.attackers if role == "attacker" else battle.defenders)
        arms = {unit.arm for unit in units}
        fits: dict[Tactic, bool] = {
            "none": True, "press": role == "attacker" and "infantry" in arms,
            "last_stand": role == "defender" and "cavalry" not in arms, "disengage": True,
        }  # fmt: skip
        able = (name for name in fits if fits[name] and state.plays(TACTIC_RULES[name]))
        return tuple(map(acts.UseTactic, able))

    def follow(self, state: State, answer: acts.UseTactic | None) -> State:
        """Returns the state with the tactic."""
        battle = state.fight
        choice: Tactic = "none" if answer is None else answer.choice
        tactics = {**battle.tactics, role_of(battle, self.side): choice}
        state = replace(state, battle=replace(battle, tactics=tactics))
        text = f"{side_name(self.side)} chooses {_NAMES.get(choice, choice)}"
        return state.logs("tactic", text, TACTIC_RULES[choice])


def role_of(battle: acts.Battle, side: str) -> Role:
    """Returns a side's role."""
    return "attacker" if side == battle.side else "defender"


class ChargeCheck(CombatCheck):
    """One of the charging units checks its morale (K-7.13c)."""

    dice = "the morale of {unit}, which charges"
    dice_rule = "K-7.13c"

    def checked(self, state: State, passed: bool, dice: tuple[int, ...]) -> State:
        """Returns the state with the charge pressed home, or an attack at half."""
        battle = state.fight
        battle = replace(battle, failed=not passed, doubled=passed and battle.by_fow)
        if not passed and battle.charge == "infantry":
            battle = replace(battle, charge=None)
        words = "charges" if passed else "fails to charge: it counts half"
        return replace(state, battle=battle).logged(self.unit, "check", words, "K-7.13c")


def _morale(state: State, side: str) -> int:
    """Returns what a leader who takes part adds to his side's MR (K-10.3e)."""
    leaders = [leader for leader in state.leaders if leader.id in state.fight.leaders]
    return next((leader.morale for leader in leaders if leader.side == side), 0)


# The die and the result.


class Fight(Due):
    """The die of a combat (K-7.3)."""

    dice_rule = "K-7.3"

    def left(self, state: State) -> acts.Battle | None:
        """Returns the combat with the defenders who are left, none if nobody is."""
        battle = state.fight
        left = tuple(n for n in battle.defenders if state.unit(n).hex == battle.target)
        if not left:
            return None
        primary = battle.defence_primary if battle.defence_primary in left else left[0]
        return replace(battle, defenders=left, defence_primary=primary)

    def roll(self, state: State) -> Roll | None:
        """Returns the die, none if nobody is left to defend."""
        battle = self.left(state)
        if battle is None:
            return None
        value = reckoned(state, battle).value
        return Roll(f"the combat in {battle.target}, differential {value:+d}", 1)

    def asked(self, state: State) -> PendingDecision | None:
        """Returns who fights whom, what both sides count, and what the die may bring."""
        battle = self.left(state)
        if battle is None:
            return None
        counted = reckoned(state, battle)
        words = f"{_foes(battle)} in {battle.target}, differential {counted.value:+d}: roll a die"
        outcomes = outcomes_of(lambda die: _result(state, battle, counted, die)[1], range(1, 7))
        return PendingDecision(words, sums=(*sums_of(counted, battle), outcomes))

    def follow(self, state: State, answer: tuple[int, ...] | None) -> State:
        """Returns the state with the result due."""
        battle = self.left(state)
        if answer is None or battle is None:
            fought = state.fight
            steps = (aftermath.Victors(fought.attackers, fought.target), aftermath.Settling())
            return state.pushed(*steps)
        counted = reckoned(state, battle)
        codes, text = _result(state, battle, counted, answer[0])
        text += f": {_foes(battle)}, differential {counted.value:+d}, die {answer[0]}"
        facts = {
            "units": [*battle.attackers, *battle.defenders],
            "sums": [total._asdict() for total in sums_of(counted, battle)],
        }
        state = replace(state, battle=battle).pushed(Result(tuple(map(str, codes))))
        return state.tells("combat", text, "K-7.8", **facts)


def _result(
    state: State, battle: acts.Battle, counted: Differential, die: int
) -> tuple[list[Code], str]:
    """Returns what the CRT's result for a die becomes in a combat, also in words."""
    printed = state.folio.printed(counted.value, die)
    codes = results.becoming(printed, battle, square=_has_square(state, battle))
    strikes = {"Ammo": bool(battle.support), "Leader": any(aftermath.in_danger(state, battle))}
    none_of = [added for added, is_so in strikes.items() if not is_so]
    primaries = [state.unit(name) for name in (battle.primary, battle.defence_primary)]
    sides = zip("DA" if battle.is_turned else "AD", primaries, strict=True)
    charges = "A" if battle.is_pressed else ""
    flees = [side for side, unit in sides if unit.arm == "cavalry" and side != charges]
    text = joined(code.in_words(none_of, flees) for code in codes)
    return codes, text + ("" if codes == [printed] else f" instead of {printed}")


def _foes(battle: acts.Battle) -> str:
    return f"{joined(battle.attackers)} against {joined(battle.defenders)}"


def _has_square(state: State, battle: acts.Battle) -> bool:
    """Whether the unit that tried to form a Square stands in one."""
    return bool(battle.square) and state.unit(battle.square).square


class Result(Due):
    """A result as it is applied, its checks and choices one after the other (K-7.8)."""

    codes: tuple[str, ...]
    thrown: tuple[int, ...] = ()
    chosen: Mapping[Role, str] = field(default_factory=dict)
    losers: Mapping[Role, str] = field(default_factory=dict)
    guns: Units = ()
    target: str = ""
    dice_rule = "K-2.4c"

    def fought(self, state: State) -> results.Combat:
        """Returns the combat with all units that its result may strike."""
        now: Mapping[str, Any] = {
            "turn": state.turn, "turns": len(state.folio.scenario.turns), "time": state.time,
            "choice": dict(self.chosen), "dice": self.thrown, "losers": self.losers,
        }  # fmt: skip
        if self.target:
            unit = state.unit(self.target)
            unit, side = replace(unit, line=state.field.line(unit).kind), state.enemy_of(unit.side)
            return results.Combat((), (unit,), attacker=side, is_bombardment=True, **now)
        battle = state.fight
        hexes = {unit.hex for unit in state.some(battle.attackers)}
        attackers = tuple(unit.id for unit in _facing_horse(state, battle))

        def struck(number: set[Hex | None], side: str, part: Units, primary: str) -> list[Unit]:
            return [
                replace(
                    unit, participates=unit.id in part, primary=unit.id == primary,
                    line=battle.lines.get(unit.id, "safe"),
                )
                for unit in state.units
                if unit.side == side and unit.hex in number
                and (unit.id in part or battle.how != "skirmish")
            ]  # fmt: skip

        enemy = state.enemy_of(battle.side)
        sides = {
            battle.side: struck(hexes, battle.side, attackers, battle.primary),
            enemy: struck({battle.target}, enemy, battle.defenders, battle.defence_primary),
        }
        first, other = (enemy, battle.side) if battle.is_turned else (battle.side, enemy)
        roles: dict[Role, str] = {"attacker": first, "defender": other}
        return results.Combat(
            sides[first], sides[other], attacker=first, is_square=_has_square(state, battle),
            manner=battle, leaders={role: _morale(state, side) for role, side in roles.items()},
            absorbers={role: absorbers(state, sides[side]) for role, side in roles.items()}, **now,
        )  # fmt: skip

    def missing(self, state: State) -> results.UndecidedError | None:
        """Returns the die or the choice that is missing."""
        try:
            results.fate_of(self.fought(state), *map(code_of, self.codes))
        except results.UndecidedError as missing:
            return missing
        return None

    def roll(self, state: State) -> Roll | None:
        """Returns the die of a morale check."""
        missing = self.missing(state)
        return Roll(f"the morale of {missing.unit}", 1) if missing and missing.check else None

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns the die, and on what the unit passes."""
        missing = self.missing(state)
        if missing is None or missing.check is None:
            return ()
        return (DiceGroup(missing.unit, None, (0,), missing.check.goal),)

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the choice of the side that is struck."""
        missing = self.missing(state)
        if missing is None or missing.check:
            return None
        owner = state.side_of(missing.unit)
        if missing.losers:
            return PendingDecision(f"{side_name(owner)}: which unit loses a step?", owner)
        words = " or ".join(self.brings(state, choice) for choice in missing.expected)
        is_horse = "step" in missing.expected and state.unit(missing.unit).arm == "cavalry"
        hint = "Only cavalry that charges may choose so (K-9.2)." if is_horse else ""
        return PendingDecision(f"{missing.unit}: {words}?", owner, hint=hint)

    def brings(self, state: State, choice: results.Choice) -> str:
        """Returns all that a choice brings: for the primary unit, and for those that go along."""
        missing = self.missing(state)
        assert missing is not None
        if choice == "step":
            return "lose a step"
        if choice == "disrupt":
            is_worn = state.unit(missing.unit).disrupted
            return "stay and check its morale, to rout if it fails" if is_worn else "be Disrupted"
        others = [u.id for u in self.fought(state).units(missing.role) if u.id != missing.unit]
        words = "retreat" + (f" with {joined(others)}" if others else "")
        return f"{words} and be Disrupted" if "step" in missing.expected else words

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns both ends, or who may take a loss."""
        if (missing := self.missing(state)) is None:
            return ()
        return (*map(acts.Choose, missing.expected), *map(acts.StepLoss, missing.losers))

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state with the next check due, or with all that the result does."""
        if (missing := self.missing(state)) is None:
            fought, codes = self.fought(state), list(map(code_of, self.codes))
            fate = results.fate_of(fought, *codes)
            if self.target:
                return aftermath.bombarded(state, fate, self.target, self.guns, codes[0])
            return aftermath.ended(state, fate, codes, fought.absorbers)
        if isinstance(answer, acts.Choose):
            chosen = {**self.chosen, missing.role: answer.choice}
            return state.pushed(replace(self, chosen=chosen))
        if isinstance(answer, acts.StepLoss):
            return state.pushed(replace(self, losers={**self.losers, missing.role: answer.unit}))
        assert missing.check is not None
        state = state.pushed(replace(self, thrown=(*self.thrown, *answer)))
        return state.logged(missing.unit, "check", missing.check.verdict(*answer), "K-2.4c")


def absorbers(state: State, units: Sequence[Unit]) -> Units:
    """Returns who may take the primary unit's loss (K-7.11): of its stack, not taking part.

    A small unit of its formation, or a full-sized one whose counter prints the same ID.
    """
    primary = next((unit for unit in units if unit.primary), None)
    if primary is None:
        return ()
    printed = state.folio.entry(primary.id).printed_id

    def is_like(unit: Unit) -> bool:
        if unit.is_small:
            return unit.formation == primary.formation
        return printed is not None and state.folio.entry(unit.id).printed_id == printed

    near = (unit for unit in units if unit.hex == primary.hex and not unit.participates)
    return tuple(unit.id for unit in near if is_like(unit))


# Bombardment.


def bombardments(state: State) -> Iterator[acts.Bombard]:
    """Yields the bombardments that may begin, by a battery of each (K-8.4)."""
    if not state.plays("K-8.4a"):
        return
    hexes = {enemy.hex for enemy in state.field.enemies(state.active) if enemy.hex}
    for number in sorted(hexes):
        yield from (acts.Bombard((name,), number) for name in _able_guns(state, number))


def _able_guns(state: State, target: Hex) -> Units:
    guns = (gun for gun in state.own(state.active) if gun.is_battery)
    return tuple(gun.id for gun in guns if ban_on_bombard(state, gun, target) is None)


def ban_on_bombard(state: State, gun: Unit, target: Hex) -> Ban | None:
    """Returns why a battery may not bombard a hex now (K-8.4b, K-4.7a)."""
    fired_at = state.some(deed.unit for deed in state.deeds if deed.how == "bombard")
    if any(unit.hex == target for unit in fired_at):
        return Ban("K-8.4b", "all bombardments of a hex are declared together")
    if gun.side != state.active or gun.fought:
        return Ban("K-7.5", f"{gun.id} has fought in this phase, or is not of the side that does")
    if gun.marched:
        return Ban("K-4.7a", f"{gun.id} has marched")
    if all(enemy.hex != target for enemy in state.field.enemies(gun.side)):
        return Ban("K-8.4a", f"no enemy stands in {target}")
    return combat.ban_on_bombarding(state.field, gun, target)


def bombarding(state: State, bombard: acts.Bombard) -> State:
    """Returns the state in which batteries fire at a hex, or others may join one (K-8.4b).

    Raises:
        Refused: One of them may not.
    """
    guns = state.some(bombard.units)
    bans = (ban_on_bombard(state, gun, bombard.target) for gun in guns)
    if (ban := next(filter(None, bans), None)) is not None or not guns:
        raise ban.refused() if ban else Refused("expected batteries", key="units")
    if len(guns) == 1 and len(_able_guns(state, bombard.target)) > 1:
        return state.pushed(Gunners(bombard.units, bombard.target))
    return _fired(state, bombard)


def _fired(state: State, bombard: acts.Bombard) -> State:
    """Returns the state in which batteries choose whom to fire at, alone or joined (K-8.4c)."""
    guns = state.some(bombard.units)
    for name in bombard.units:
        state = state.changed(name, fought=True)
    joint = len(guns) > 1 and state.time != "twilight" and _are_joined(state, guns)
    groups = combat.bombardments(bombard.units, coordinated=joint)
    text = attack_words(state, bombard.units, bombard.target, "bombard")
    steps = (Aiming(group, bombard.target) for group in groups)
    return state.pushed(*steps).logs("attack", text, "K-8.4b", *bombard.units)


def _are_joined(state: State, guns: tuple[Unit, ...]) -> bool:
    """Whether all batteries are near one another or near one leader (K-8.4c)."""
    hexes = [gun.hex or "" for gun in guns]
    led = [
        leader.hex for leader in state.leaders
        if leader.side == guns[0].side and leader.hex and not leader.ineffective
    ]  # fmt: skip
    return any(
        all(state.grid.distance((centre,), (number,)) <= 1 for number in hexes)
        for centre in (*hexes, *led)
    )


class Gunners(Due):
    """All batteries that bombard a hex are declared before any of them fires (K-8.4b)."""

    units: Units
    target: Hex
    question = "{units}: bombard {target}; which other batteries?"
    hint = "To add a battery, tap it. When all are in, tap “Declare”."

    def legal(self, state: State) -> tuple[Any, ...]:
        """Returns who else may take part, who may be taken out, and the declaration."""
        others = (name for name in _able_guns(state, self.target) if name not in self.units)
        leaves = self.units if len(self.units) > 1 else ()
        joins = (*map(acts.Join, others), *(acts.Join(name, joins=False) for name in leaves))
        return (acts.Declare(True), acts.Declare(False), *joins)

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state with the batteries as they are now, firing, or at rest."""
        if isinstance(answer, acts.Declare):
            bombard = acts.Bombard(self.units, self.target)
            return _fired(state, bombard) if answer.yes else state
        left = tuple(name for name in self.units if name != answer.unit)
        units = (*left, answer.unit) if answer.joins else left
        return state.pushed(replace(self, units=units))

    def shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws the target and who fires at it."""
        side = self.owner(state)
        return acts.Battle(side, self.target, self.units).shapes(state)


class Aiming(Due):
    """Batteries choose a unit of the hex, and fire (K-8.4b)."""

    guns: Units
    hex: Hex
    question = "{guns}: fire at whom in {hex}?"

    def legal(self, state: State) -> tuple[acts.Aim, ...]:
        """Returns the units there."""
        return tuple(acts.Aim(unit.id) for unit in state.field.units_at(self.hex))

    def follow(self, state: State, answer: acts.Aim | None) -> State:
        """Returns the state with the die due; with nobody left there the fire is lost."""
        there = self.legal(state)
        if not there:
            return state
        target = (answer or there[0]).unit
        return state.pushed(Firing(self.guns, target))


class Firing(Due):
    """The die of a bombardment (K-8.5)."""

    guns: Units
    target: str
    dice_rule = "K-8.5"

    def total(self, state: State) -> int:
        """Returns the factors, doubled against cavalry."""
        target = state.unit(self.target)
        return sum(combat.support_factor(gun, (target,)) for gun in state.some(self.guns))

    def roll(self, state: State) -> Roll:
        """Returns the die."""
        return Roll(self.words(state), 1)

    def words(self, state: State) -> str:
        """Returns who fires at whom, and in which column."""
        return f"{joined(self.guns)} at {self.target}, column {self.total(state):+d}"

    def asked(self, state: State) -> PendingDecision:
        """Returns who fires at whom, and what the die may bring."""
        outcomes = outcomes_of(lambda die: self.result(state, die)[1], range(1, 7))
        return PendingDecision(f"{self.words(state)}: roll a die", sums=(outcomes,))

    def result(self, state: State, die: int) -> tuple[Code, str]:
        """Returns what the CRT's result for a die becomes in a bombardment, also in words."""
        printed = state.folio.printed(self.total(state), die)
        code = combat.bombarding(printed)
        code = replace(code, added=printed.added & {"Ammo", *code.added})
        flees = "D" if state.unit(self.target).arm == "cavalry" else ""
        text = code.in_words(("Leader",), flees)
        text += "" if code == printed else f" instead of {printed}"
        return code, text

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state with the result due."""
        kept, text = self.result(state, answer[0])
        text += f": {self.words(state)}, die {answer[0]}"
        state = state.pushed(Result((str(kept),), guns=self.guns, target=self.target))
        return state.logs("combat", text, "K-8.5", *self.guns, self.target)
