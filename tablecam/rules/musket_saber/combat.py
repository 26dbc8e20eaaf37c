"""Morale checks, coordination, the combat differential with named terms, and bombardments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from tablecam.rules.game import Ban
from tablecam.rules.hexes.grid import Hex
from tablecam.rules.musket_saber import tables
from tablecam.rules.musket_saber.field import Field
from tablecam.rules.musket_saber.tables import Code, Time, halved
from tablecam.rules.musket_saber.troops import Leader, Unit, fighting, is_overstacked
from tablecam.wording import joined

Tactic = Literal["none", "skirmish", "press", "charge", "disengage", "last_stand"]
Role = Literal["attacker", "defender"]
HALVED_BY: Final = {
    "parentheses": "K-2.4b", "disrupted": "K-11.1", "overstacked": "K-5.3",
    "uncoordinated": "K-7.14", "charge": "K-7.13c",
}  # fmt: skip
"""The rule of each reason why a unit counts half; the ground says its own."""


@dataclass(frozen=True)
class Check:
    """A morale check (K-2.4c): the MR with its additions, and what is added to the die."""

    mr: int
    added: int = 0

    def passes(self, die: int) -> bool:
        """Whether a natural die passes: 1 always, 6 never."""
        if die in (tables.ALWAYS_PASSES, tables.ALWAYS_FAILS):
            return die == tables.ALWAYS_PASSES
        return die + self.added <= self.mr

    @property
    def passes_on(self) -> tuple[int, ...]:
        """The natural dice that pass."""
        return tuple(filter(self.passes, range(1, 7)))

    @property
    def goal(self) -> str:
        """What a natural die needs, in words.

        >>> Check(4, 1).goal, Check(1).goal
        ('3 or less passes', 'only a 1 passes')
        """
        most = max(self.passes_on)
        return f"{most} or less passes" if most > 1 else "only a 1 passes"

    def verdict(self, *dice: int) -> str:
        """What natural dice have come to, and why, in words.

        >>> Check(4).verdict(6)
        'fails its morale check with 6: 4 or less passes'
        """
        word = "passes" if all(map(self.passes, dice)) else "fails"
        return f"{word} its morale check with {joined(map(str, dice))}: {self.goal}"


def check_of(
    mr: int, *, disrupted: bool = False, time: Time = "day", leader: int = 0, square: bool = False
) -> Check:
    """Returns a morale check (K-10.3c, K-9.5c, K-11.1d, K-14.2, K-14.3)."""
    added = tables.TIME_DIE[time] + (tables.DISRUPTED_DIE if disrupted else 0)
    return Check(mr + leader + (tables.SQUARE_MORALE if square else 0), added)


def primary_of(units: Sequence[Unit]) -> Unit:
    """Returns the unit that its owner names, else the first that may be primary (K-7.4, K-7.5)."""
    fit = sorted(units, key=lambda unit: (not unit.primary, unit.ineffective, unit.is_battery))
    return fit[0]


# Coordination.


def are_of_one_formation(formations: Sequence[str]) -> bool:
    """Whether formations fit together (K-2.4a): "A" fits any, "0" none but itself alone."""
    own = {formation for formation in formations if formation != "A"}
    return len(formations) < 2 or (len(own) < 2 and "0" not in own)


def is_coordinated(
    formations: Sequence[str], leaders: Iterable[Leader] = (), time: Time = "day"
) -> bool:
    """Whether an attack is coordinated, by its formations or by a leader near (K-7.14, K-14.3)."""
    return are_of_one_formation(formations) or bool(coordinators(formations, leaders, time))


def coordinators(
    formations: Sequence[str], leaders: Iterable[Leader], time: Time
) -> tuple[str, ...]:
    """Returns who of the leaders near coordinates several formations (K-7.14, K-14.3)."""
    own = {formation for formation in formations if formation != "A"}
    if time == "twilight" or are_of_one_formation(formations):
        return ()
    near = (leader for leader in leaders if not leader.ineffective)
    return tuple(leader.id for leader in near if own <= {*leader.span})


# The differential.


@dataclass(frozen=True)
class Term:
    """What a unit counts in a combat: its factor, why it is halved, and the rest (K-7.7)."""

    unit: str
    cf: int
    halved: tuple[str, ...] = ()

    @property
    def counts(self) -> int:
        """The factor after halving."""
        return halved(self.cf, len(self.halved))


@dataclass(frozen=True)
class Total:
    """What a side counts; `more` are leaders, supporting guns and tactics by name."""

    terms: tuple[Term, ...]
    more: Mapping[str, int]

    @property
    def value(self) -> int:
        """The sum."""
        return sum(term.counts for term in self.terms) + sum(self.more.values())


@dataclass(frozen=True)
class Differential:
    """A combat differential (K-7.7); the leaders `led_by` coordinate the attack (K-7.14)."""

    attack: Total
    defence: Total
    coordinated: bool = True
    led_by: tuple[str, ...] = ()

    @property
    def value(self) -> int:
        """The attackers' total less the defenders'."""
        return self.attack.value - self.defence.value


def attack_term(unit: Unit, why: Sequence[str] = ()) -> Term:
    """Returns what an attacker counts (K-2.4b, K-8.1, K-11.1b) that is halved for `why` too."""
    own = ("parentheses",) if unit.paren else ("disrupted",) if unit.disrupted else ()
    return Term(unit.id, int(unit.printed("attack" if unit.is_battery else "cf")), (*own, *why))


def defence_term(unit: Unit, why: Sequence[str] = ()) -> Term:
    """Returns what a defender counts."""
    return Term(unit.id, int(unit.printed("defence" if unit.is_battery else "cf")), tuple(why))


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How a combat is fought: as an attack, a skirmish or a charge, and with which tactics.

    `charge` is the arm that charges; a charge that `failed` its check counts half, one by a Fortune
    of War that passed counts `doubled`. Defending cavalry may countercharge.
    """

    how: Literal["attack", "skirmish", "charge"] = "attack"
    charge: Literal["infantry", "cavalry"] | None = None
    failed: bool = False
    doubled: bool = False
    countercharge: bool = False
    tactics: Mapping[Role, Tactic | None] = field(default_factory=dict)

    @property
    def is_turned(self) -> bool:
        """Whether counterchargers count as the attackers: not against a cavalry charge (K-9.4)."""
        return self.countercharge and self.charge != "cavalry"

    @property
    def is_pressed(self) -> bool:
        """Whether a charge is pressed home."""
        return self.countercharge or (self.charge is not None and not self.failed)

    @property
    def is_by_horse(self) -> bool:
        """Whether cavalry charges."""
        return self.countercharge or self.charge == "cavalry"


@dataclass(frozen=True)
class Attack:
    """An attack as it counts: who takes part, who leads and coordinates, and the halvings.

    `halvings` are those that the ground and overstacking give to each unit by its id.
    """

    attackers: Sequence[Unit]
    defenders: Sequence[Unit]
    support: Sequence[Unit] = ()
    leaders: Mapping[Role, Sequence[Leader]] = field(default_factory=dict)
    coordinating: Sequence[Leader] = ()
    halvings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    time: Time = "day"
    needs_coordination: bool = True
    manner: Manner = field(default_factory=Manner)


def _with_charge_factors(units: Iterable[Unit]) -> tuple[Unit, ...]:
    return tuple(replace(unit, cf=unit.charge or 0, paren=False) for unit in units)


def support_factor(gun: Unit, defenders: Sequence[Unit]) -> int:
    """Returns what a supporting battery adds, doubled if any defender is cavalry (K-8.8)."""
    return int(gun.printed("attack")) * (2 if any(u.arm == "cavalry" for u in defenders) else 1)


def differential(attack: Attack) -> Differential:
    """Returns the combat differential of an attack (K-7.7, K-7.13, K-9.3, K-9.4, R-19)."""
    attackers, defenders, manner = attack.attackers, attack.defenders, attack.manner
    if manner.charge == "cavalry":
        attackers = _with_charge_factors(attackers)
    if manner.countercharge:
        defenders = _with_charge_factors(unit for unit in defenders if unit.arm == "cavalry")
    more: dict[Role, dict[str, int]] = {"attacker": {}, "defender": {}}
    for role, leaders in attack.leaders.items():
        more[role] = {leader.id: leader.combat for leader in leaders if leader.participates}
    if manner.is_turned:
        # the original attacker's CF counts as a defender's.
        off = ("charge",) if manner.failed else ()
        charged = tuple(defence_term(unit, off) for unit in attackers)
        horse = Total(tuple(map(defence_term, defenders)), more["defender"])
        return Differential(horse, Total(charged, more["attacker"]))
    formations = [unit.formation for unit in attackers if not unit.is_battery]
    coordinated = not attack.needs_coordination or is_coordinated(
        formations, attack.coordinating, attack.time
    )
    apart = () if coordinated else ("uncoordinated",)
    own = _attack_terms(attack, attackers, apart)
    other = tuple(
        Term(unit.id, skirmish_factor(unit)) if manner.how == "skirmish"
        else defence_term(unit, attack.halvings.get(unit.id, ()))
        for unit in defenders
    )  # fmt: skip
    guns = {gun.id: support_factor(gun, defenders) for gun in attack.support}
    more["attacker"] = guns | more["attacker"]
    for role, tactic in manner.tactics.items():
        if tactic is not None and (role, tactic) in tables.TACTIC_FACTORS:
            more[role][tactic] = tables.TACTIC_FACTORS[role, tactic]
    near = attack.coordinating if attack.needs_coordination else ()
    led_by = coordinators(formations, near, attack.time)
    return Differential(
        Total(own, more["attacker"]), Total(other, more["defender"]), coordinated, led_by
    )


def _attack_terms(
    attack: Attack, attackers: Sequence[Unit], off: tuple[str, ...]
) -> tuple[Term, ...]:
    """Returns what attackers count; `off` halves those apart from the primary unit (K-7.14)."""
    primary, manner, terms = primary_of(attackers), attack.manner, []
    for unit in attackers:
        is_apart = not are_of_one_formation((unit.formation, primary.formation))
        why = off if is_apart and unit is not primary else ()
        if manner.how == "skirmish":
            why = (*(("disrupted",) if unit.disrupted else ()), *why)
            terms.append(Term(unit.id, skirmish_factor(unit), why))
            continue
        why = (*attack.halvings.get(unit.id, ()), *why, *(("charge",) if manner.failed else ()))
        term = attack_term(unit, why)
        terms.append(replace(term, cf=2 * term.cf) if manner.doubled else term)
    return tuple(terms)


def attack_on(
    field: Field, attackers: Sequence[Unit], target: Hex, support: Sequence[Unit] = (),
    *, manner: Manner, needs_coordination: bool = True, defenders: Sequence[Unit] | None = None,
) -> Attack:  # fmt: skip
    """Returns an attack on a hex as it counts, with the halvings of the TEC and of stacks."""
    defenders = fighting(field.units_at(target)) if defenders is None else defenders
    halvings: dict[str, list[str]] = {unit.id: [] for unit in (*attackers, *defenders)}
    origins = [unit.hex or target for unit in attackers]
    for unit, origin in zip(attackers, origins, strict=True):
        if ground := field.map.halver(unit.arm, "attack", origin, target):
            halvings[unit.id].append(ground)
        if is_overstacked(field.units_at(unit.hex)):
            halvings[unit.id].append("overstacked")
    for unit in defenders:
        grounds = [field.map.halver(unit.arm, "defend", origin, target) for origin in origins]
        if all(grounds):
            halvings[unit.id].append(grounds[0])
        if is_overstacked(field.units_at(target)):
            halvings[unit.id].append("overstacked")
    hexes = [unit.hex for unit in attackers if unit.hex is not None]
    own = [leader for leader in field.leaders if leader.side == attackers[0].side]
    around = (beside for number in hexes for beside in field.grid.neighbours(number))
    near = [leader for leader in own if leader.hex in {*hexes, *around}]
    leaders: dict[Role, Sequence[Leader]] = {
        "attacker": [leader for leader in own if leader.hex in hexes],
        "defender": [one for one in field.leaders if one.hex == target and one not in own],
    }
    return Attack(
        attackers, defenders, support, leaders, near, halvings, field.time, needs_coordination,
        manner,
    )  # fmt: skip


def ban_on_attack(field: Field, unit: Unit, target: Hex) -> Ban | None:
    """Returns why a unit may not attack a neighbouring hex (K-7.5, K-8.3, K-9.5d, K-14.2)."""
    if field.time == "night":
        return Ban("K-14.2", "at night there is no combat but charges of infantry")
    if unit.square:
        return Ban("K-9.5d", "a Square does not attack")
    if unit.hex is None or target not in field.grid.neighbours(unit.hex):
        return Ban("K-7.1", f"{target} is not next to it")
    posts = [post.hex for post in (*field.hq, *field.trains) if post.side not in ("", unit.side)]
    if target not in (*posts, *(enemy.hex for enemy in field.enemies(unit.side))):
        return Ban("K-7.1", f"no enemy stands in {target}")
    if attack_term(unit).cf == 0:
        return Ban("K-7.5", "a unit with a factor of 0 does not attack")
    if not field.map.may_pass(unit.arm, unit.hex, target):
        return Ban("K-7.5", f"it could not move into {target}")
    return None


def ban_by_time(time: Time, do: str, distance: int) -> Ban | None:
    """Returns why something may not be done at a time of day (K-14.2, K-14.3)."""
    most = tables.LINE_OF_SIGHT[time]
    if do in ("bombard", "support") and most is not None and distance > most:
        return Ban(tables.TIME_RULE[time], f"at {time} guns fire {most} hexes far")
    if time == "night" and do in ("attack", "cavalry_charge", "enter_zone", "bombard", "support"):
        return Ban(tables.TIME_RULE[time], "at night there are only charges of infantry")
    if time == "twilight" and do == "coordinate_by_leader":
        return Ban(tables.TIME_RULE[time], "at twilight attacks are not coordinated")
    return None


# Skirmishes.


def skirmish_factor(unit: Unit) -> int:
    """Returns what a unit counts in a skirmish (K-7.13a)."""
    if unit.is_battery:
        return int(unit.printed("defence"))
    if unit.arm == "cavalry":
        return int(unit.printed("cf"))
    ma = unit.printed("ma")
    return 0 if ma == "V" or unit.bracket else int(ma)


def ban_on_skirmish(field: Field, unit: Unit, target: Unit) -> Ban | None:
    """Returns why a unit may not skirmish with another (K-7.13a, K-9.5d, K-14.2)."""
    if field.time == "night":
        return Ban("K-14.2", "at night there is no combat but charges of infantry")
    if unit.arm != "infantry" or unit.bracket or unit.ma == "V" or unit.square:
        return Ban("K-7.13a", "only infantry with a plain MA skirmishes")
    if unit.hex is None or target.hex is None:
        return Ban("K-7.13a", "both are on the map")
    if field.grid.distance((unit.hex,), (target.hex,)) != tables.SKIRMISH_HEXES:
        return Ban("K-7.13a", "a skirmish is exactly two hexes away")
    middle = set(field.grid.neighbours(unit.hex)) & set(field.grid.neighbours(target.hex))
    if not any(
        field.map.may_pass(unit.arm, unit.hex, number)
        and field.map.may_pass(unit.arm, number, target.hex)
        for number in middle
        if field.ban_on_passing(unit.side, number) is None
    ):
        return Ban("K-7.13a", "it could not move to the defender's hex")
    return None


# Guns.


def is_close(field: Field, unit: Unit, number: Hex) -> bool:
    """Whether a hex is adjacent to a battery and not across a prohibited hexside (K-8.4a)."""
    if unit.hex is None or number not in field.grid.neighbours(unit.hex):
        return False
    return unit.arm not in field.map.hexside(unit.hex, number).prohibited


def range_to(field: Field, gun: Unit, target: Hex) -> tuple[int, int]:
    """Returns a battery's distance to a hex, and the farthest, more from a hill (K-8.7)."""
    here = gun.hex or ""
    bonus = sum(field.map.charts.range_bonus(kind) for kind in field.map.kinds(here))
    return field.grid.distance((here,), (target,)), int(gun.printed("range")) + bonus


def ban_on_bombarding(field: Field, gun: Unit, target: Hex) -> Ban | None:
    """Returns why a unit may not bombard a hex (K-8.2, K-8.4a, K-8.6, K-8.7, K-14)."""
    if not gun.is_battery or gun.attack == 0 or gun.range == 0:
        return Ban("K-8.4a", "only artillery with an attack and a range factor bombards")
    if gun.disrupted or gun.ineffective:
        return Ban("K-8.4a", "a Disrupted or ineffective battery does not bombard")
    if gun.hex in (None, target) or is_close(field, gun, target):
        return Ban("K-8.4a", "an adjacent hex is attacked, not bombarded")
    for terrain in field.map.terrains(target):
        is_entered = terrain.mp is None or gun.arm in terrain.mp
        if not (is_entered if terrain.bombard_into is None else terrain.bombard_into):
            return Ban("K-8.2", f"the terrain of {target} bars bombardment")
    hexes, most = range_to(field, gun, target)
    if hexes > most:
        return Ban("K-8.7", f"{target} is {hexes} hexes away, {most} at most")
    return field.ban_on_sight(gun.hex or "", target)


def ban_on_support(field: Field, gun: Unit, attackers: Sequence[Unit], target: Hex) -> Ban | None:
    """Returns why a battery may not support an attack (K-8.8)."""
    if any(is_close(field, gun, enemy.hex or "") for enemy in field.enemies(gun.side)):
        return Ban("K-8.8", "an enemy is adjacent to the battery")
    beside = () if gun.hex is None else field.grid.neighbours(gun.hex)
    if not any(unit.hex in beside or unit.hex == gun.hex for unit in attackers):
        return Ban("K-8.8", "the battery is adjacent to no unit that attacks")
    return ban_on_bombarding(field, gun, target)


def bombardments(guns: Sequence[str], *, coordinated: bool) -> tuple[tuple[str, ...], ...]:
    """Returns who fires together: each battery alone, or all that are coordinated (K-8.4c)."""
    return (tuple(guns),) if coordinated else tuple((gun,) for gun in guns)


def bombarding(code: Code) -> Code:
    """Returns what a result does in a bombardment (K-8.5): no A, no second result.

    Ammo strikes a battery and stays apart.
    """
    added = code.added - {"Ammo"}
    is_ignored = code.words.side == "A" or code.main == "NE"
    return Code("NE", None, added) if is_ignored else Code(code.main, None, added)


# What a combat phase begins with.


def triggered(field: Field, attacker: str) -> Mapping[str, tuple[str, ...]]:
    """Returns the defenders that exert a zone onto attackers, with these (K-7.2a)."""
    triggers = {
        enemy.id: tuple(
            unit.id for unit in field.units if unit.side == attacker
            and unit.hex in field.zones[enemy.id]
        )
        for enemy in field.enemies(attacker)
    }  # fmt: skip
    return {name: units for name, units in triggers.items() if units}


@dataclass(frozen=True)
class Deed:
    """What was done to a unit in a combat phase; a bombardment counts if it took effect."""

    unit: str
    how: Literal["attack", "skirmish", "bombard"]
    took_effect: bool = True


def fow_due(
    names: Sequence[str], stacks: Sequence[Sequence[str]], deeds: Sequence[Deed]
) -> tuple[str, ...]:
    """Returns the triggered units on which the defender has a Fortune of War (K-7.2b, R-10)."""
    done: set[str] = set()
    for deed in deeds:
        if deed.how != "bombard":
            stack = next((stack for stack in stacks if deed.unit in stack), ())
            done |= {deed.unit, *stack}
        elif deed.took_effect:
            done.add(deed.unit)
    return tuple(name for name in names if name not in done)
