"""The whole charge, both sides: values from where units lie, results, falling back (M-8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tablecam.documents import Document
from tablecam.rules.maurice.combat.cover import has_cover_from
from tablecam.rules.maurice.combat.engagement import Engagements, engagements
from tablecam.rules.maurice.combat.fall_back import fall_back, rearmost_first
from tablecam.rules.maurice.combat.score import Fighter, Value, values
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.field.levels import is_uphill
from tablecam.rules.maurice.field.requests import Combat
from tablecam.rules.maurice.field.results import Result, Scored, results
from tablecam.rules.maurice.place.flank import flanked_by
from tablecam.rules.maurice.place.touch import Touching, touching
from tablecam.table.sides import side_name


@dataclass(frozen=True, slots=True)
class Meeting:
    """Who meets whom when a side attacks: the engaged units in the position's order, and contacts.

    `contacts` are the enemies that each attacker is in base contact with (M-8.23); `touched` is
    who touches whom anywhere on the field, `engagements` how sure it is who is engaged.
    """

    active: str
    engagements: Engagements
    engaged: Mapping[str, tuple[str, ...]]
    contacts: Mapping[str, tuple[str, ...]]
    touched: Touching


@dataclass(frozen=True, slots=True)
class Fought:
    """A combat that has been fought: every engaged unit's value, die and result.

    `results` hold also the friends whom others passed through as they fell back.
    """

    met: Meeting
    values: Mapping[str, Value]
    dice: Mapping[str, int]
    results: Mapping[str, Result]


def meeting(field: Field, active: str) -> Meeting:
    """Who is engaged with whom (M-8.10), and which attackers touch whom."""
    met, touched = engagements(field, active), touching(field)
    engaged = {unit.id: met.of(unit.id) for unit in field.units if met.of(unit.id)}
    contacts = {
        unit_id: _contacts(unit_id, met, touched)
        for unit_id in engaged
        if field.by_id[unit_id].side == active
    }
    return Meeting(active, met, MappingProxyType(engaged), MappingProxyType(contacts), touched)


def combat_scores(field: Field, active: str, cards: Mapping[str, int]) -> Mapping[str, Value]:
    """What every engaged unit of both sides adds its die to, by its id (M-8.16)."""
    return scores_of(field, meeting(field, active), cards)


def scores_of(field: Field, met: Meeting, cards: Mapping[str, int]) -> Mapping[str, Value]:
    """The same, when it is known already who meets whom."""
    return values(_fighter(field, name, met, cards.get(name, 0)) for name in met.engaged)


def check_combat(request: Combat, met: Meeting) -> None:
    """Refuse a combat in which nobody fights, and cards and orders for who does not.

    Raises:
        BadInput: Naming the key.
    """
    document = request.document
    if not met.engaged:
        why = (
            f"no unit of {side_name(request.active)} touches an enemy with its front edge (M-8.10)"
        )
        raise document.error(("active",), f"nobody is engaged: {why}")
    _check_engaged(document, "cards", request.cards, met)
    for index, name in enumerate(request.fall_back_order):
        if name not in met.engaged:
            raise document.error(("fall_back_order", index), f"{name} is not engaged (M-8.10)")


def fight(field: Field, request: Combat) -> Fought:
    """The charge resolved with its dice: passive units, active units, then falling back (M-8.20).

    Raises:
        BadInput: Nobody is engaged, or the dice are not one for each engaged unit.
    """
    met = meeting(field, request.active)
    check_combat(request, met)
    dice = _checked_dice(request, met)
    scores = scores_of(field, met, request.cards)
    found = outcomes(field, met, scores, dice)
    return Fought(met, scores, dice, _fallen_back(field, request, met, found))


def outcomes(
    field: Field, met: Meeting, scores: Mapping[str, Value], dice: Mapping[str, int]
) -> Mapping[str, Result]:
    """What becomes of all who are engaged, in that order, before anybody falls back (M-8.20)."""
    return results(
        Scored(
            name,
            name in met.contacts,
            value.value + dice[name],
            value.engaged_with,
            field.by_id[name].disruption,
            len(field.by_id[name].bases),
        )
        for name, value in scores.items()
    )


def bound_to_fall_back(met: Meeting, found: Mapping[str, Result]) -> tuple[str, ...]:
    """The attackers that stand, in contact with an enemy that does (M-8.23)."""
    return tuple(
        name
        for name, touched in met.contacts.items()
        if not _is_broken(name, found) and not all(_is_broken(enemy, found) for enemy in touched)
    )


def fall_back_order(field: Field, request: Combat, attackers: Iterable[str]) -> tuple[str, ...]:
    """The order in which attackers fall back: as chosen, then the others, rearmost first."""
    attackers = tuple(attackers)
    chosen = [name for name in request.fall_back_order if name in attackers]
    return (*chosen, *rearmost_first(field, [name for name in attackers if name not in chosen]))


def _fallen_back(
    field: Field, request: Combat, met: Meeting, found: Mapping[str, Result]
) -> Mapping[str, Result]:
    """All results once everyone has fallen back who must: attackers still in contact (M-8.23)."""
    after = dict(found)
    bound = bound_to_fall_back(met, found)
    # The order is that of all attackers: it does not hang on who happens to stay.
    for name in fall_back_order(field, request, met.contacts):
        # A friend who fell back through it may have broken it.
        if name in bound and not after[name].is_broken:
            after |= fall_back(field, name, after)
    return MappingProxyType(after)


def _is_broken(name: str, found: Mapping[str, Result]) -> bool:
    return name in found and found[name].is_broken


def _fighter(field: Field, name: str, met: Meeting, card: int) -> Fighter:
    unit, enemies = field.by_id[name], met.engaged[name]
    attacked = [field.by_id[enemy] for enemy in enemies if unit.side == met.active]
    flanking = flanked_by(field, unit, met.touched) if unit.side != met.active else ()
    return Fighter(
        name,
        unit.unit.arm,
        unit.formation,
        enemies,
        unit.disruption,
        is_in_bad_terrain=unit.is_in_difficult,
        higher=tuple(enemy.id for enemy in attacked if is_uphill(field, unit, enemy)),
        covered=tuple(enemy.id for enemy in attacked if has_cover_from(field, unit, enemy)),
        flanked_by=tuple(enemy for enemy in flanking if enemy in enemies),
        card=card,
    )


def _contacts(unit_id: str, met: Engagements, touched: Touching) -> tuple[str, ...]:
    """The enemies in base contact, those across a thin wall before the front too (M-8.14)."""
    return tuple(dict.fromkeys((*touched.enemies_of(unit_id), *met.in_front_contact(unit_id))))


def _checked_dice(request: Combat, met: Meeting) -> Mapping[str, int]:
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
            there = ", ".join(met.engaged)
            raise document.error((key, name), f"{name} is not engaged (M-8.10): {there} are")
