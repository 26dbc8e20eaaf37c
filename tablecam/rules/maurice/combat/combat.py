"""Combat: values (M-8.16, M-8.17), and a whole charge from contacts to falling back (M-8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tablecam.documents import Document
from tablecam.rules.game import Json
from tablecam.rules.maurice.combat.cover import has_cover_from
from tablecam.rules.maurice.combat.engagement import Engagements, engagements
from tablecam.rules.maurice.combat.fall_back import (
    WayBack,
    fall_back,
    fall_back_path,
    rearmost_first,
)
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.requests import Combat
from tablecam.rules.maurice.field.results import CombatResult, ScoredUnit, results
from tablecam.rules.maurice.field.tables import BAD_TERRAIN, BASIC, COVER, HIGHER, VULNERABLE
from tablecam.rules.maurice.field.terms import Reason, Term, amounts_by_name, total
from tablecam.rules.maurice.place.contacts import Contacts, contacts_of_field
from tablecam.rules.maurice.place.flank import flanked_by
from tablecam.table.model import Arm
from tablecam.table.sides import side_plural


@dataclass(frozen=True, slots=True)
class Meeting:
    """The engagements when a side attacks, with units in the position's order, and the contacts.

    `contacts` are the enemies in base contact with each attacker (M-8.23), `contacts_on_field`
    all contacts on the field, `engagements` how certain each engagement is.
    """

    active: str
    engagements: Engagements
    engaged: Mapping[str, tuple[str, ...]]
    contacts: Mapping[str, tuple[str, ...]]
    contacts_on_field: Contacts


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


@dataclass(frozen=True, slots=True)
class ResolvedCombat:
    """A resolved combat: each engaged unit's value, die and result.

    `results` also holds the friends that others passed through as they fell back.
    """

    meeting: Meeting
    values: Mapping[str, CombatValue]
    dice: Mapping[str, int]
    results: Mapping[str, CombatResult]


def meeting(field: Field, active: str) -> Meeting:
    """Returns the engaged units (M-8.10) and the contacts when a side attacks."""
    engaged_pairs, touched = engagements(field, active), contacts_of_field(field)
    engaged = {
        unit.id: engaged_pairs.enemies_of(unit.id)
        for unit in field.units
        if engaged_pairs.enemies_of(unit.id)
    }
    contacts = {
        # In base contact, or in front across a thin wall (M-8.14).
        unit_id: tuple(
            dict.fromkeys((*touched.enemies_of(unit_id), *engaged_pairs.in_front_contact(unit_id)))
        )
        for unit_id in engaged
        if field.by_id[unit_id].side == active
    }
    return Meeting(
        active, engaged_pairs, MappingProxyType(engaged), MappingProxyType(contacts), touched
    )


def combat_scores(field: Field, active: str, cards: Mapping[str, int]) -> Mapping[str, CombatValue]:
    """Returns the value that every engaged unit adds to its die, by unit id (M-8.16)."""
    return scores_of(field, meeting(field, active), cards)


def scores_of(field: Field, met: Meeting, cards: Mapping[str, int]) -> Mapping[str, CombatValue]:
    """Returns the same for a known meeting."""
    return combat_values(_fighter(field, name, met, cards.get(name, 0)) for name in met.engaged)


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


def check_combat(request: Combat, met: Meeting) -> None:
    """Rejects a combat without engaged units, and cards or orders for units not engaged.

    Raises:
        BadInput: Naming the key.
    """
    document = request.document
    if not met.engaged:
        whose = side_plural(request.active)
        why = f"no unit of the {whose} touches an enemy with its front edge (M-8.10)"
        raise document.error(("active",), why)
    _check_engaged(document, "cards", request.cards, met)
    for index, name in enumerate(request.fall_back_order):
        if name not in met.engaged:
            raise document.error(("fall_back_order", index), f"{name} is not engaged (M-8.10)")


def resolve_combat(field: Field, request: Combat) -> ResolvedCombat:
    """Resolves a charge with its dice: passive units, active units, then falling back (M-8.20).

    Raises:
        BadInput: Nobody is engaged, or there is not one die for each engaged unit.
    """
    met = meeting(field, request.active)
    check_combat(request, met)
    dice = _checked_dice(request, met)
    scores = scores_of(field, met, request.cards)
    combat_results = results_before_fall_back(field, met, scores, dice)
    order = fall_back_order(field, request, met.contacts)
    return ResolvedCombat(met, scores, dice, fallen_back(field, order, met, combat_results))


def results_before_fall_back(
    field: Field, met: Meeting, scores: Mapping[str, CombatValue], dice: Mapping[str, int]
) -> Mapping[str, CombatResult]:
    """Returns the results of all engaged units, in order, before anyone falls back (M-8.20)."""
    return results(
        scored_unit(field, met, name, value, dice[name]) for name, value in scores.items()
    )


def scored_unit(field: Field, met: Meeting, name: str, value: CombatValue, die: int) -> ScoredUnit:
    """Returns an engaged unit with its score."""
    unit = field.by_id[name]
    # Contacts are listed for active units only.
    is_active, score = name in met.contacts, value.value + die
    return ScoredUnit(name, is_active, score, value.engaged_with, unit.disruption, len(unit.bases))


def must_fall_back(met: Meeting, result_of: Mapping[str, CombatResult]) -> tuple[str, ...]:
    """Returns the unbroken attackers in contact with an unbroken enemy (M-8.23)."""
    return tuple(
        name
        for name, touched in met.contacts.items()
        if not _is_broken(name, result_of)
        and not all(_is_broken(enemy, result_of) for enemy in touched)
    )


def fall_back_order(field: Field, request: Combat, attackers: Iterable[str]) -> tuple[str, ...]:
    """Returns the order in which attackers fall back: as chosen, then the rest, rearmost first."""
    attackers = tuple(attackers)
    chosen = [name for name in request.fall_back_order if name in attackers]
    return (*chosen, *rearmost_first(field, [name for name in attackers if name not in chosen]))


def fallen_back(
    field: Field,
    order: Iterable[str],
    met: Meeting,
    result_of: Mapping[str, CombatResult],
    way_back: WayBack = fall_back_path,
) -> Mapping[str, CombatResult]:
    """Returns all results after attackers still in contact have fallen back (M-8.23).

    `order` is that of all attackers, so that it does not depend on which of them stay.
    """
    after = dict(result_of)
    bound = must_fall_back(met, result_of)
    for name in order:
        # A friend falling back through it may have broken it.
        if name in bound and not after[name].is_broken:
            after |= fall_back(field, name, after, way_back)
    return MappingProxyType(after)


def _is_broken(name: str, result_of: Mapping[str, CombatResult]) -> bool:
    return name in result_of and result_of[name].is_broken


def _fighter(field: Field, name: str, met: Meeting, card: int) -> Fighter:
    """Collects the facts that decide a unit's combat value."""
    unit, enemies = field.by_id[name], met.engaged[name]
    attacked = [field.by_id[enemy] for enemy in enemies if unit.side == met.active]
    # Only the attacked can be attacked on flank or rear.
    flanking = flanked_by(field, unit, met.contacts_on_field) if unit.side != met.active else ()
    return Fighter(
        name,
        unit.unit.arm,
        unit.formation,
        enemies,
        unit.disruption,
        is_in_bad_terrain=unit.is_in_difficult,
        higher=tuple(enemy.id for enemy in attacked if field.is_uphill(unit, enemy)),
        covered=tuple(enemy.id for enemy in attacked if has_cover_from(field, unit, enemy)),
        flanked_by=tuple(enemy for enemy in flanking if enemy in enemies),
        card=card,
    )


def _checked_dice(request: Combat, met: Meeting) -> Mapping[str, int]:
    """Returns the dice in the order of engaged units; raises `BadInput` where one is missing."""
    dice, document = request.dice or {}, request.document
    _check_engaged(document, "dice", dice, met)
    missing = [name for name in met.engaged if name not in dice]
    if missing:
        expected = f"expected {len(met.engaged)} dice, one for each engaged unit (M-8.19)"
        raise document.error(("dice",), f"{expected}, got none for {', '.join(missing)}")
    return MappingProxyType({name: dice[name] for name in met.engaged})


def _check_engaged(document: Document, key: str, names: Iterable[str], met: Meeting) -> None:
    for name in names:
        if name not in met.engaged:
            engaged = ", ".join(met.engaged)
            raise document.error((key, name), f"{name} is not engaged (M-8.10): {engaged} are")
