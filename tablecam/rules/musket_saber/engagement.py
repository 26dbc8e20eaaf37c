"""A whole combat by its totals: charges, countercharges, Squares and the other tactics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tablecam.rules.musket_saber.combat import Role, Tactic, check_of
from tablecam.rules.musket_saber.files import Crt
from tablecam.rules.musket_saber.results import (
    Choice,
    Combat,
    Fate,
    UndecidedError,
    both_flee,
    fate_of,
    in_charge,
    in_disengaging,
    on_square,
)
from tablecam.rules.musket_saber.tables import (
    ADVANCE,
    ADVANCE_OF_CHARGE,
    LAST_STAND,
    PRESS_FORWARD,
    Code,
    Time,
    code_of,
    halved,
)
from tablecam.rules.musket_saber.troops import Unit
from tablecam.rules.questions import FactError

_STEPS = 2
"""Of the units that stand for both sides."""


@dataclass(frozen=True)
class Engagement:
    """A combat as it counts; the totals are those before tactics and charges.

    `charge` is the attacker's, `countercharge` the defender's charge factor.
    """

    attack: int
    defence: int
    tactics: Mapping[Role, Tactic | None] = field(default_factory=dict)
    charge: Literal["infantry", "cavalry"] | None = None
    charge_factor: int | None = None
    countercharge: int | None = None
    square: bool = False
    mr: Mapping[Role, int] = field(default_factory=dict)
    morale_die: int | None = None
    choice: Choice | None = None
    dice: tuple[int, ...] = ()
    time: Time = "day"

    @property
    def is_pressed(self) -> bool:
        """Whether the attacker charges and its check, if thrown, passes (K-7.13c)."""
        if self.charge is None or self.morale_die is None:
            return self.charge is not None
        if "attacker" not in self.mr:
            raise FactError("mr", "expected the attacker's MR, but it is missing")
        return check_of(self.mr["attacker"], time=self.time).passes(self.morale_die)

    @property
    def who_attacks(self) -> Role:
        """Who counts as the attacker: who countercharges anything but charging cavalry (K-9.4)."""
        turned = self.countercharge is not None and self.charge != "cavalry"
        return "defender" if turned else "attacker"

    @property
    def totals(self) -> tuple[int, int]:
        """What counts for attack and for defence (K-7.13, K-9.3, K-9.4, R-19)."""
        attack, defence = self.attack, self.defence
        if self.charge == "cavalry":
            if self.charge_factor is None:
                raise FactError("charge_factor", "expected this key, but it is missing")
            attack = self.charge_factor
        if self.charge is not None and not self.is_pressed:
            attack = halved(attack, 1)
        attack += PRESS_FORWARD if self.tactics.get("attacker") == "press" else 0
        if self.countercharge is not None:
            own = self.countercharge
            return (own, attack) if self.who_attacks == "defender" else (attack, own)
        return attack, defence + (LAST_STAND if self.tactics.get("defender") == "last_stand" else 0)

    def codes(self, printed: Code) -> list[Code]:
        """Returns what a printed result becomes; two where both sides disengage."""
        if self.square and (self.charge == "cavalry" or self.countercharge is not None):
            return [on_square(printed)]
        if self.is_pressed or self.countercharge is not None:
            return [in_charge(printed)]
        attacker, defender = (
            self.tactics.get(role) == "disengage" for role in ("attacker", "defender")
        )
        own, other = in_disengaging(printed, attacker=attacker, defender=defender)
        # K-7.13d: the defender retreats first.
        changed = [code for code in (other, own) if code is not None]
        return changed if (attacker or defender) and changed else [printed]

    def combat(self) -> Combat:
        """Returns the combat of one unit a side."""
        cavalry = {"attacker": self.charge == "cavalry", "defender": self.countercharge is not None}
        attacker, defender = (
            Unit(id=role, side=role, arm="cavalry" if cavalry[role] else "infantry",
                 mr=self.mr.get(role), steps=_STEPS)
            for role in ("attacker", "defender")
        )  # fmt: skip
        if self.who_attacks == "defender":
            attacker, defender = defender, attacker
        charges = self.is_pressed or self.countercharge is not None
        flips = "disengage" not in self.tactics.values()
        return Combat(
            (attacker,), (defender,), 1, 99, self.choice, self.dice, self.time,
            attacker.side, self.square, charges, flips,
        )  # fmt: skip


@dataclass(frozen=True)
class Fought:
    """What a combat comes to; None for what hangs on dice or choices that are not made yet."""

    attack_counts: int
    differential: int
    who_attacks: Role
    ineffective_at_end: bool
    column: str | None = None
    printed: str | None = None
    becomes: str | None = None
    leader_check: bool | None = None
    fate: Fate | None = None
    routs: Role | None = None
    retreats: tuple[str, ...] | None = None
    attacker_loses_extra_step: bool | None = None
    defender_loses_extra_step: bool | None = None
    advance_up_to: int | None = None
    may_charge_again: bool | None = None


def fight(engagement: Engagement, crt: Crt | None, die: int | None) -> Fought:
    """Returns what a combat comes to, as far as its die and the choices are made."""
    attack, defence = engagement.totals
    fought: dict[str, object] = {
        "attack_counts": attack, "differential": attack - defence,
        "who_attacks": engagement.who_attacks,
        "ineffective_at_end": (
            engagement.charge == "cavalry" or engagement.countercharge is not None
        ),
    }  # fmt: skip
    if crt is not None:
        place = crt.column_of(attack - defence)
        fought["column"] = str(crt.columns[place])
        if die is not None:
            printed = code_of(crt.rows[die - 1][place])
            codes = engagement.codes(printed)
            fought |= {
                "printed": str(printed), "becomes": ", ".join(map(str, codes)),
                "leader_check": any("Leader" in code.added for code in codes),
                **_outcome(engagement, codes),
            }  # fmt: skip
    return Fought(**fought)  # type: ignore[arg-type]


def _outcome(engagement: Engagement, codes: list[Code]) -> dict[str, object]:
    combat = engagement.combat()
    both_charge = engagement.charge == "cavalry" and engagement.countercharge is not None
    try:
        if both_charge:
            is_checked = codes[0].main == "Dm"
            fate = fate_of(combat, Code("Dm", "NE") if is_checked else Code("NE"))
            if fate.check != "fail":
                fate = both_flee(combat)
        else:
            fate = fate_of(combat, *codes)
    except UndecidedError:
        return {}
    routs = next(iter(fate.routs), None)
    by_horse = engagement.charge == "cavalry" or engagement.countercharge is not None
    struck = "attacker" if engagement.who_attacks == "defender" else "defender"
    again = by_horse and routs == struck
    advance = ADVANCE_OF_CHARGE if again else fate.advance_up_to
    return {
        "fate": fate, "routs": routs, "retreats": fate.retreats,
        "attacker_loses_extra_step": (
            engagement.tactics.get("attacker") == "press" and routs != "defender"
        ),
        "defender_loses_extra_step": (
            engagement.tactics.get("defender") == "last_stand"
            and not {"attacker"} & {*fate.retreats, *fate.routs}
        ),
        "advance_up_to": min(advance, ADVANCE) if engagement.time == "night" else advance,
        "may_charge_again": again,
    }  # fmt: skip
