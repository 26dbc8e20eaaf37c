"""Combat values from plain facts: basic values and modifiers (M-8.16, M-8.17)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tablecam.rules.game import Json
from tablecam.rules.maurice.field.tables import BAD_TERRAIN, BASIC, COVER, HIGHER, VULNERABLE
from tablecam.rules.maurice.field.terms import Term, amounts_by_name, total
from tablecam.table.model import Arm
from tablecam.wording import joined


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
    because: tuple[str, ...]

    def score_json(self, die: int) -> Json:
        """Returns the score with a die, and its parts."""
        return {
            "basic": self.basic,
            "modifiers": dict(self.modifiers),
            "value": self.value,
            "die": die,
            "score": self.value + die,
            "engaged_with": list(self.engaged_with),
        }


def combat_values(fighters: Iterable[Fighter]) -> Mapping[str, CombatValue]:
    """Returns the value of every engaged unit, by its id."""
    everyone = {fighter.id: fighter for fighter in fighters}
    return MappingProxyType({name: _value(fighter, everyone) for name, fighter in everyone.items()})


def _value(fighter: Fighter, everyone: Mapping[str, Fighter]) -> CombatValue:
    """Sums a unit's basic value and modifiers."""
    basic = BASIC[fighter.arm]
    terms = (*_own(fighter), *_against(fighter), *_outnumbered(fighter, everyone), *_card(fighter))
    summed = basic + total(terms)
    because = [f"M-8.16 {fighter.arm}: basic value {basic}", *(term.because for term in terms)]
    if summed < 0:
        because.append(f"M-8.16 never below 0: 0 instead of {summed}")
    return CombatValue(
        basic, amounts_by_name(terms), max(summed, 0), fighter.engaged_with, tuple(because)
    )


def _own(fighter: Fighter) -> Iterable[Term]:
    """Yields the modifiers for the unit's own state and ground."""
    if fighter.disruption:
        levels = f"{fighter.disruption} level{'s' * (fighter.disruption > 1)} of disruption"
        yield Term("disruption", -fighter.disruption, "M-8.16", levels)
    if fighter.is_in_bad_terrain:
        yield Term("bad_terrain", BAD_TERRAIN, "M-5.3", "at least partly in bad terrain")


def _against(fighter: Fighter) -> Iterable[Term]:
    """Yields the modifiers for its enemies' position and for attacks on it, each once."""
    if fighter.higher:
        why = f"attacks {joined(fighter.higher)} on higher ground"
        yield Term("elevation", HIGHER, "M-8.15", why)
    if fighter.covered:
        yield Term("cover", COVER, "M-8.14", f"attacks {joined(fighter.covered)} in cover")
    # A column flanked as well is vulnerable only once, so both reasons share one term.
    is_column = fighter.formation == "column" and fighter.arm != "artillery"
    whys = ["in column"] * is_column
    if fighter.flanked_by:
        whys.append(f"attacked on flank or rear by {joined(fighter.flanked_by)}")
    if whys:
        yield Term("vulnerable", VULNERABLE, "M-8.16", f"vulnerable: {joined(whys)}")


def _outnumbered(fighter: Fighter, everyone: Mapping[str, Fighter]) -> Iterable[Term]:
    """Yields -1 for each foot or horse enemy that only it engages, if it engages several."""
    # Guns outnumber nobody (M-8.17).
    enemies = [name for name in fighter.engaged_with if everyone[name].arm != "artillery"]
    alone = [name for name in enemies if everyone[name].engaged_with == (fighter.id,)]
    if len(enemies) > 1 and alone:
        verb = "is" if len(alone) == 1 else "are"
        why = f"outnumbered: {joined(alone)} {verb} engaged with {fighter.id} alone"
        yield Term("outnumbered", -len(alone), "M-8.17", why)


def _card(fighter: Fighter) -> Iterable[Term]:
    if fighter.card:
        yield Term("card", fighter.card, "M-8.18", "card")
