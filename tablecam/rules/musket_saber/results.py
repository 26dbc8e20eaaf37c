"""Combat results: how tactics change them, and what becomes of each unit."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from tablecam.rules.musket_saber.combat import Check, Manner, Role, check_of, primary_of
from tablecam.rules.musket_saber.retreat import hexes_due, rout
from tablecam.rules.musket_saber.tables import ADVANCE, ADVANCE_AFTER_ROUT, Code, Time
from tablecam.rules.musket_saber.troops import Unit
from tablecam.rules.questions import FactError

Choice = Literal["disrupt", "retreat", "step"]
ROLES: Final[dict[str, Role]] = {"A": "attacker", "D": "defender"}


class UndecidedError(FactError):
    """Raised where a result needs a die or a choice of a role that is not made.

    `unit` is checked by a die that needs what `check` says; without one `expected` are the choices,
    or `losers` the units of which one takes a loss.
    """

    def __init__(
        self, key: str, why: str, role: Role, unit: str, *expected: Choice,
        losers: tuple[str, ...] = (), check: Check | None = None,
    ) -> None:  # fmt: skip
        super().__init__(key, why)
        self.role, self.unit, self.expected, self.losers = role, unit, expected, losers
        self.check = check


# What tactics make of a result.


def in_skirmish(code: Code) -> Code:
    """Returns a result of a skirmish (K-7.13a, R-16)."""
    side, effect = code.words
    if side != "D":
        return Code("NE")
    return Code("Dr") if effect in ("x", "m") else Code(code.main, code.second)


def in_charge(code: Code) -> Code:
    """Returns a result of a charge that is pressed home (K-7.13c, K-9.3(5))."""
    if code.main == "NE":
        return code
    is_defender = code.words.side == "D"
    return Code("Dm", "Ax", code.added) if is_defender else Code("Ax", None, code.added)


def on_square(code: Code) -> Code:
    """Returns a result of a charge on a formed Square: it routs or the chargers suffer (K-9.5c)."""
    return Code("Dm", "Ax") if code.words.side == "D" else Code("Ax")


def in_disengaging(
    code: Code, *, attacker: bool, defender: bool
) -> tuple[Code | None, Code | None]:
    """Returns what strikes attackers and defenders if some disengage (K-7.13d)."""
    side, effect = code.words
    struck = "AD" if code.main == "Ex" else side
    own = attacker and ("D" in struck or effect == "c")
    other = defender and ("A" in struck or effect == "c")
    if own or other:
        return (Code("Ar") if own else None), (Code("Dr") if other else None)
    return (code if "A" in struck else None), (code if "D" in struck else None)


def becoming(printed: Code, manner: Manner, *, square: bool = False) -> list[Code]:
    """Returns what a printed result becomes; two where both sides disengage (K-7.13, K-9).

    A charge of cavalry may meet a formed Square.
    """
    if manner.how == "skirmish":
        return [in_skirmish(printed)]
    code = printed
    if square and manner.is_by_horse:
        code = on_square(printed)
    elif manner.is_pressed:
        code = in_charge(printed)
    # Who is charged disengages from what the charge makes of the result.
    attacker, defender = (manner.tactics.get(role) == "disengage" for role in ROLES.values())
    own, other = in_disengaging(code, attacker=attacker, defender=defender)
    # K-7.13d: the defender retreats first.
    changed = [code for code in (other, own) if code is not None]
    return changed if (attacker or defender) and changed else [code]


# What a result does.


@dataclass(frozen=True)
class Fate:
    """What becomes of the units of both sides; `then` is a second result that was applied."""

    check: Literal["pass", "fail"] | None = None
    then: str | None = None
    stays: tuple[str, ...] = ()
    disrupted: tuple[str, ...] = ()
    retreats: tuple[str, ...] = ()
    routs: tuple[str, ...] = ()
    eliminated: tuple[str, ...] = ()
    captured: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    trt: dict[str, int] = field(default_factory=dict)
    ineffective: tuple[str, ...] = ()
    steps: dict[str, int] = field(default_factory=dict)
    retreat_hexes: dict[str, int] = field(default_factory=dict)
    fow: dict[str, int] = field(default_factory=dict)
    advance_up_to: int = 0
    first: Role | None = None


@dataclass(frozen=True)
class Combat:
    """A combat whose result is applied: the units of both sides, and what players decide.

    `attacker` names the attackers' side. `is_square` gives the defender's MR its addition, a charge
    pressed home spares cavalry R-18, and who disengages is not flipped. `leaders` add to the MR.
    `absorbers` may take the loss of a side's primary unit, `losers` are those that do.
    """

    attackers: Sequence[Unit]
    defenders: Sequence[Unit]
    turn: int
    turns: int
    choice: Choice | Mapping[Role, Choice] | None = None
    dice: Sequence[int] = ()
    time: Time = "day"
    attacker: str = ""
    is_square: bool = False
    manner: Manner = field(default_factory=Manner)
    leaders: Mapping[Role, int] = field(default_factory=dict)
    is_bombardment: bool = False
    absorbers: Mapping[Role, tuple[str, ...]] = field(default_factory=dict)
    losers: Mapping[Role, str] = field(default_factory=dict)

    def units(self, role: Role) -> Sequence[Unit]:
        """Returns a side's units."""
        return self.attackers if role == "attacker" else self.defenders

    def primary(self, role: Role) -> Unit:
        """Returns the unit on which a side's checks and losses fall."""
        units = [unit for unit in self.units(role) if unit.participates]
        if not units:
            raise FactError("units", f"expected a unit of the {role} that takes part, got none")
        return primary_of(units)


class _Applied:
    """A result as it is applied, die by die."""

    def __init__(self, combat: Combat) -> None:
        self.combat, self.dice = combat, list(combat.dice)
        self.gone: dict[str, str] = {}
        self.lists: defaultdict[str, list[str]] = defaultdict(list)
        self.trt: dict[str, int] = {}
        self.steps: dict[str, int] = {}
        self.hexes: dict[str, int] = {}
        self.fow: Counter[str] = Counter()
        self.check: Literal["pass", "fail"] | None = None
        self.then: str | None = None

    def side(self, role: Role) -> str:
        """Returns the side of some units, for the Fortunes of War."""
        units = self.combat.units(role)
        named = self.combat.attacker if role == "attacker" else ""
        return named or (units[0].side if units else role)

    def passes(self, unit: Unit, role: Role) -> bool:
        """Checks a unit's morale with the next die."""
        check = check_of(
            unit.morale, disrupted=unit.disrupted, time=self.combat.time,
            leader=self.combat.leaders.get(role, 0),
            square=self.combat.is_square and role == "defender",
        )  # fmt: skip
        if not self.dice:
            why = f"expected a die for the morale check of {unit.id}"
            raise UndecidedError("dice", why, role, unit.id, check=check)
        passed = check.passes(self.dice.pop(0))
        self.check = "pass" if passed else "fail"
        return passed

    def chosen(self, role: Role, *expected: Choice) -> Choice:
        """Returns what the side that is struck chooses."""
        made = self.combat.choice
        choice = made.get(role) if isinstance(made, Mapping) else made
        if choice not in expected:
            why = f"expected {' or '.join(expected)}, which the owner chooses"
            raise UndecidedError("choice", why, role, self.combat.primary(role).id, *expected)
        return choice

    def disrupt(self, unit: Unit) -> None:
        """Marks a unit as Disrupted."""
        if unit.id not in self.lists["disrupted"]:
            self.lists["disrupted"].append(unit.id)

    def flip(self, unit: Unit) -> None:
        """Turns a unit that is forced to retreat to its ineffective side (K-7.9d)."""
        disengages = "disengage" in self.combat.manner.tactics.values()
        if unit.flips and not (disengages or unit.ineffective):
            self.lists["ineffective"].append(unit.id)

    def retreat(self, unit: Unit) -> None:
        """Lets a unit retreat by its line (K-7.9)."""
        if unit.id in self.gone:
            return
        if unit.line in ("edge", "none"):
            self.rout(unit)
            return
        self.gone[unit.id] = "retreats"
        self.hexes[unit.id] = hexes_due(unit, 1)
        self.flip(unit)

    def rout(self, unit: Unit) -> None:
        """Lets a unit rout by its line (K-7.10)."""
        if unit.id in self.gone:
            return
        fate = rout(unit.line, self.combat.turn, self.combat.turns)
        self.gone[unit.id] = "captured" if fate.captured else "routs"
        if fate.captured:
            self.lists["captured"].append(unit.id)
        elif fate.trt is not None:
            self.trt[unit.id] = fate.trt
        elif fate.set_aside:
            self.lists["set_aside"].append(unit.id)
        else:
            self.hexes[unit.id] = fate.retreat_hexes
            self.disrupt(unit)
            self.flip(unit)

    def loser(self, role: Role) -> Unit:
        """Returns the primary unit, or the one of its stack that takes its loss (K-7.11)."""
        primary, absorbers = self.combat.primary(role), self.combat.absorbers.get(role, ())
        name = self.combat.losers.get(role) if absorbers else primary.id
        able = (primary.id, *absorbers)
        if name not in able:
            why = f"expected who loses a step: {' or '.join(able)}"
            raise UndecidedError("loser", why, role, primary.id, losers=able)
        return next(unit for unit in self.combat.units(role) if unit.id == name)

    def lose_step(self, role: Role) -> None:
        """Takes a step of a side (K-7.11): the last one sets a unit aside, or loses it for good."""
        unit = self.loser(role)
        self.steps[unit.id] = unit.steps - 1
        if unit.steps <= 1:
            self.gone[unit.id] = "eliminated"
            self.lists["eliminated"].append(unit.id)
            has_line = unit.line in ("safe", "valid")
            self.lists["set_aside" if has_line else "captured"].append(unit.id)

    def step_or_flight(self, unit: Unit, role: Role) -> None:
        """Takes a step of the primary unit; cavalry retreats and is Disrupted instead (K-9.2)."""
        if self.spares_steps(unit, role):
            self.retreat(unit)
            self.disrupt(unit)
        else:
            self.lose_step(role)

    def spares_steps(self, unit: Unit, role: Role) -> bool:
        """Whether it is cavalry that does not charge (K-9.2)."""
        charges = self.combat.manner.is_pressed and role == "attacker"
        return unit.arm == "cavalry" and not charges

    def apply(self, main: str, second: str | None) -> None:
        """Applies a result word, and the one in parentheses if it takes no effect (K-7.8)."""
        if main == "Ex":
            # a bombardment costs its target alone a step.
            roles: tuple[Role, ...] = ("attacker", "defender")
            for role in roles[self.combat.is_bombardment :]:
                self.step_or_flight(self.combat.primary(role), role)
        elif main != "NE":
            role, effect = ROLES[main[0]], main[1]
            if effect in "cm":
                self._check(role, effect, second)
            else:
                {"r": self._r, "x": self._x, "e": self._e}[effect](role)

    def _all(self, role: Role, *, rout: bool) -> None:
        for unit in self.combat.units(role):
            (self.rout if rout else self.retreat)(unit)

    def flee(self, role: Role) -> None:
        """Lets all units of a side retreat and be Disrupted."""
        for unit in self.combat.units(role):
            self.retreat(unit)
            if self.gone.get(unit.id) == "retreats":
                self.disrupt(unit)

    def _r(self, role: Role) -> None:
        unit = self.combat.primary(role)
        if self.chosen(role, "disrupt", "retreat") == "retreat":
            self._all(role, rout=False)
        elif not unit.disrupted:
            self.disrupt(unit)
        elif not self.passes(unit, role):
            self.rout(unit)
            for other in self.combat.units(role):
                if other.participates:
                    self.retreat(other)

    def _x(self, role: Role) -> None:
        unit = self.combat.primary(role)
        if self.spares_steps(unit, role) or self.chosen(role, "step", "retreat") == "step":
            self.step_or_flight(unit, role)
        else:
            self.flee(role)

    def _e(self, role: Role) -> None:
        unit = self.combat.primary(role)
        passed = self.passes(unit, role)
        if passed:
            self.lose_step(role)
        self._all(role, rout=not passed)

    def _check(self, role: Role, effect: str, second: str | None) -> None:
        if self.passes(self.combat.primary(role), role):
            self.then = second
            self.apply(second or "NE", None)
        elif effect == "c":
            self._all(role, rout=False)
        else:
            self._all(role, rout=True)
            self.fow[self.side("defender" if role == "attacker" else "attacker")] += 1

    def advance(self) -> int:
        """Returns how far the victors may advance (K-7.12)."""
        for role in ROLES.values():
            units = self.combat.units(role)
            how = [self.gone.get(unit.id) for unit in units]
            if units and all(how) and set(how) - {"eliminated"}:
                only_routed = role == "defender" and set(how) == {"routs"}
                return ADVANCE_AFTER_ROUT if only_routed else ADVANCE
        return 0

    def fate(self, *, may_advance: bool) -> Fate:
        """Returns what has become of all units."""
        if self.dice:
            raise FactError("dice", f"expected {len(self.dice)} dice less")
        units = (*self.combat.attackers, *self.combat.defenders)
        named = {key: tuple(names) for key, names in self.lists.items()}
        return Fate(
            self.check, self.then,
            stays=tuple(unit.id for unit in units if unit.id not in self.gone),
            retreats=tuple(name for name, how in self.gone.items() if how == "retreats"),
            routs=tuple(name for name, how in self.gone.items() if how == "routs"),
            trt=self.trt, steps=self.steps, retreat_hexes=self.hexes, fow=dict(self.fow),
            advance_up_to=self.advance() if may_advance else 0, **named,  # type: ignore[arg-type]
        )  # fmt: skip


def fate_of(combat: Combat, *codes: Code) -> Fate:
    """Returns what results do to the units of a combat (K-7.8 to K-7.12, K-9.2, K-14.2).

    Raises:
        UndecidedError: A choice or a die is missing.
        FactError: There are too many dice.
    """
    if combat.manner.countercharge and combat.manner.charge == "cavalry":
        return _fate_of_horse(combat, codes[0])
    applied = _Applied(combat)
    for code in codes:
        applied.apply(code.main, code.second)
        if "DF" in code.added:
            applied.fow[applied.side("defender")] += 1
    fled = {applied.gone.get(unit.id) for unit in combat.defenders}
    at_night = (
        combat.manner.is_pressed and combat.time == "night" and not fled & {"routs", "captured"}
    )
    if at_night:
        applied.flee("attacker")
    both = len(codes) > 1
    fate = applied.fate(may_advance=not at_night and not both and codes[0].main != "Ex")
    return replace(fate, first="defender") if both else fate


def fate_without_safe_line(
    unit: Unit, die: int, turn: int, turns: int, time: Time = "day", leader: int = 0
) -> Fate:
    """Returns the fate of a defender that checks before combat for want of an SLR (K-7.3)."""
    led: dict[Role, int] = {"defender": leader}
    combat = Combat((), (unit,), turn, turns, dice=(die,), time=time, leaders=led)
    applied = _Applied(combat)
    if not applied.passes(unit, "defender"):
        (applied.rout if unit.disrupted else applied.disrupt)(unit)
    return applied.fate(may_advance=False)


def _fate_of_horse(combat: Combat, code: Code) -> Fate:
    """Returns the fate of chargers and counterchargers: one side routs, or both flee (K-9.4)."""
    applied = _Applied(combat)
    applied.apply("Dm" if code.main == "Dm" else "NE", None)
    fate = applied.fate(may_advance=True)
    if fate.check == "fail":
        return fate
    applied = _Applied(replace(combat, dice=()))
    for role in ROLES.values():
        applied.flee(role)
    return replace(applied.fate(may_advance=False), first="attacker")
