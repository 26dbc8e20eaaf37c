"""Combat values from plain facts: basic values and modifiers (M-8.16, M-8.17)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tablecam.rules.game import Json
from tablecam.rules.maurice.field.tables import BAD_TERRAIN, BASIC, COVER, HIGHER, VULNERABLE
from tablecam.rules.maurice.field.terms import Reason, Term, amounts_by_name, total
from tablecam.table.model import Arm


@dataclass(frozen=True, slots=True)
class Fighter:
    """An engaged unit and the facts that decide its combat value. Units are named by their ids.

    `higher` and `covered` are the enemies that it attacks on higher ground (M-8.15) and in cover
    that counts (M-8.14), `flanked_by` the engaged enemies that attack its flank or rear (M-8.16).
    Each is empty where the rule does not apply to the unit.
    """

    id: str
    arm: Arm
    formation: str
    engaged_with: tuple[str, ...]
    disruption: int = 0
    is_in_bad_terrain: bool = False
    higher: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()
    flanked_by: tuple[str, ...] = ()
    card: int = 0


@dataclass(frozen=True, slots=True)
class CombatValue:
    """The combat value that a unit adds to its die, with its parts.

    `value` is the sum of `basic` and all modifiers, but at least 0 (M-8.16).
    """

    basic: int
    modifiers: Mapping[str, int]
    value: int
    engaged_with: tuple[str, ...]
    because: tuple[Reason, ...]

    def to_json(self, die: int | None = None) -> Json:
        """Returns the value, or with a die the score, and its parts."""
        scored = {} if die is None else {"die": die, "score": self.value + die}
        return {
            "basic": self.basic,
            "modifiers": dict(self.modifiers),
            "value": self.value,
            **scored,
            "engaged_with": list(self.engaged_with),
            "because": list(map(str, self.because)),
        }


def combat_values(fighters: Iterable[Fighter]) -> Mapping[str, CombatValue]:
    """Returns the value of every engaged unit, by its id."""
    everyone = {fighter.id: fighter for fighter in fighters}
    return MappingProxyType({name: _value(fighter, everyone) for name, fighter in everyone.items()})


def _value(fighter: Fighter, everyone: Mapping[str, Fighter]) -> CombatValue:
    """Sums a unit's basic value and modifiers."""
    basic = BASIC[fighter.arm]
    terms = _terms(fighter, everyone)
    summed = basic + total(terms)
    because = [Reason("M-8.16", "basic", (fighter.arm, basic)), *terms]
    if summed < 0:
        because.append(Reason("M-8.16", "floor", (summed,)))
    return CombatValue(
        basic, amounts_by_name(terms), max(summed, 0), fighter.engaged_with, tuple(because)
    )


def _terms(fighter: Fighter, everyone: Mapping[str, Fighter]) -> tuple[Term, ...]:
    """Returns the modifiers of a unit's value that are not 0."""
    is_column = fighter.formation == "column" and fighter.arm != "artillery"
    why_vulnerable = is_column, fighter.flanked_by
    levels, alone = fighter.disruption, _outnumbering(fighter, everyone)
    terms = (
        Term("M-8.16", "disruption", (levels,), amount=-levels),
        Term("M-5.3", "bad_terrain", amount=BAD_TERRAIN * fighter.is_in_bad_terrain),
        Term("M-8.15", "elevation", (fighter.higher,), amount=HIGHER * bool(fighter.higher)),
        Term("M-8.14", "cover", (fighter.covered,), amount=COVER * bool(fighter.covered)),
        Term("M-8.16", "vulnerable", why_vulnerable, amount=VULNERABLE * any(why_vulnerable)),
        Term("M-8.17", "outnumbered", (fighter.id, alone), amount=-len(alone)),
        Term("M-8.18", "card", amount=fighter.card),
    )
    return tuple(term for term in terms if term.amount)


def _outnumbering(fighter: Fighter, everyone: Mapping[str, Fighter]) -> tuple[str, ...]:
    """Returns the enemies that only this unit engages, if it engages several (M-8.17)."""
    # Guns outnumber nobody.
    enemies = [name for name in fighter.engaged_with if everyone[name].arm != "artillery"]
    alone = tuple(name for name in enemies if everyone[name].engaged_with == (fighter.id,))
    return alone if len(enemies) > 1 else ()
