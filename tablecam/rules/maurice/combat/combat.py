"""Combat (M-8): cover, values (M-8.14 to M-8.17), and a charge from contacts to falling back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.documents import Document, Json
from tablecam.geometry.moves.lanes import all_ahead
from tablecam.geometry.outlines import GRID_MM, Axes, common_area
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import shapes_of
from tablecam.geometry.sight import eroded_by_hair, free_lines
from tablecam.rules.maurice.combat.engagement import Engagements, engagements
from tablecam.rules.maurice.combat.results import (
    CombatResult,
    Fighter,
    WayBack,
    fall_back,
    fall_back_path,
    rearmost_first,
    results,
)
from tablecam.rules.maurice.field import tables
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.requests import Combat
from tablecam.rules.maurice.field.terms import Reason, Term, amounts_by_name
from tablecam.rules.maurice.field.worlds import drawn_unit
from tablecam.rules.maurice.place.contacts import Contacts, contacts_of_field, flanked_by
from tablecam.rules.memo import Memo
from tablecam.table.sides import side_plural
from tablecam.uncertainty.answer import Answer, certain
from tablecam.uncertainty.margins import Chance, Flags, chance_of

COVER_RULE = "M-8.14"

Shapes = NDArray[np.object_]


def has_cover_from(field: Field, attacker: UnitOnField, defender: UnitOnField) -> bool:
    """Returns whether a defender has cover from an attacker that it is engaged with (M-8.14).

    Cavalry never has cover, nor does a target wholly behind the attacker's front line.
    """
    if defender.unit.arm == "cavalry":
        return False
    return _is_covered(field.ground.cover, attacker.axes, defender.outline)


_REMEMBERED: Memo[Answer] = Memo()


def cover_answer(field: Field, attacker: UnitOnField, defender: UnitOnField) -> Answer:
    """Returns the same with its confidence and evidence, cached while neither unit moves."""
    key = (field.position.table, field.ground, attacker.place, defender.place)
    return _REMEMBERED.answer(key, lambda: _cover_answer(field, attacker, defender))


def _cover_answer(field: Field, attacker: UnitOnField, defender: UnitOnField) -> Answer:
    if defender.unit.arm == "cavalry":
        because = f"{defender.id} is cavalry, which never has cover in combat"
        return certain("no", COVER_RULE, because, margin_mm=-EXACT_MM)
    chance = _chance(field, attacker, defender)
    word = chance.word(field.tolerance_mm)
    targets = _targets([attacker.axes], [defender.outline])
    (line,) = _open_lines(field.ground.cover, [attacker.axes], targets)
    if line is not None:
        because = f"a straight line from {attacker.id}'s front to {defender.id} avoids all cover"
        evidence = shapes_of(line, "open-line", f"{defender.id} is open to {attacker.id}")
    else:
        because = f"cover lies across every line of {attacker.id}'s attack on {defender.id}"
        if shapely.is_empty(targets[0]):
            because = f"{defender.id} lies behind {attacker.id}'s front line"
        between = shapely.convex_hull(shapely.union(attacker.axes.edge, targets[0]))
        covering = shapely.intersection(field.ground.cover, between, grid_size=GRID_MM)
        evidence = shapes_of(covering, "cover", "cover")
    if word == "too_close":
        question = f"whether {defender.id} has cover from {attacker.id} is too close to call"
        because = f"{question}, by {abs(chance.margin_mm):.1f} mm: {because}"
    confidence = (chance.margin_mm, chance.sigma_mm, chance.probability)
    return Answer(word, *confidence, COVER_RULE, because, evidence)


def close_call_covers(field: Field, pairs: Iterable[tuple[str, str]]) -> tuple[Answer, ...]:
    """Returns the answers about attacker-defender pairs that are too close to call."""
    answers = (cover_answer(field, field.by_id[a_id], field.by_id[b_id]) for a_id, b_id in pairs)
    return tuple(answer for answer in answers if answer.answer == "too_close")


def _chance(field: Field, attacker: UnitOnField, defender: UnitOnField) -> Chance:
    """Returns the probability of cover, and how much the cover must grow or shrink to change it."""
    both_mm = attacker.sigma_bound_mm, defender.sigma_bound_mm
    max_shift_mm = field.bound_mm(sum(both_mm))
    place = shapely.convex_hull(shapely.union(attacker.outline, defender.outline))
    # Only cover near the two units counts; a small piece makes the draws cheap.
    around = shapely.envelope(shapely.buffer(place, 2 * max_shift_mm + 1.0))
    cover = common_area(field.ground.cover, around)

    def is_covered_by(shift_mm: float) -> bool:
        grown = shapely.buffer(cover, shift_mm, join_style="mitre") if shift_mm else cover
        return _is_covered(grown, attacker.axes, defender.outline)

    def drawn() -> Flags:
        fronts = [unit.axes for unit in drawn_unit(attacker)]
        return _are_covered(cover, fronts, [unit.outline for unit in drawn_unit(defender)])

    return chance_of(is_covered_by, max_shift_mm, float(np.hypot(*both_mm)), drawn)


def _is_covered(cover: shapely.Geometry, front: Axes, outline: shapely.Geometry) -> bool:
    return bool(_are_covered(cover, [front], [outline])[0])


def _are_covered(
    cover: shapely.Geometry, fronts: Sequence[Axes], outlines: Sequence[shapely.Geometry]
) -> Flags:
    """Returns whether each of k fronts finds its defender in cover: (k,)."""
    targets = _targets(fronts, outlines)
    # No cover protects a target wholly behind the front line.
    is_closed = shapely.is_missing(_open_lines(cover, fronts, targets))
    return np.asarray(is_closed & ~shapely.is_empty(targets))


def _targets(fronts: Sequence[Axes], outlines: Sequence[shapely.Geometry]) -> Shapes:
    """Returns the parts (k,) of defenders ahead of front lines, less a sliver all round."""
    ahead = np.array(outlines, dtype=object)
    for at, front in enumerate(fronts):
        if front.ahead_mm(shapely.get_coordinates(ahead[at])).min(initial=0.0) < 0.0:
            area = all_ahead(front, shapely.hausdorff_distance(front.edge, ahead[at]))
            ahead[at] = shapely.intersection(ahead[at], area, grid_size=GRID_MM)
    # The sliver gives lines between touching units a length, so that a defender that touches at the
    # edge of its wood has cover.
    return np.asarray(shapely.buffer(ahead, -tables.SLIVER_MM, join_style="mitre"))


def _open_lines(cover: shapely.Geometry, fronts: Sequence[Axes], targets: Shapes) -> Shapes:
    """Returns straight lines from front edges to targets past all cover, (k,), or None.

    A line that begins or ends inside cover does not avoid it, so only the uncovered parts count.
    """
    in_the_open = _outside(targets, cover)
    # A front along the edge of a wood is not inside it.
    edges = _outside(np.array([front.edge for front in fronts]), eroded_by_hair(cover))
    parts, owners = shapely.get_parts(edges, return_index=True)
    free = free_lines(parts, in_the_open[owners], [cover] * len(parts))
    lines = np.full(len(fronts), None, dtype=object)
    # Backwards, so that the first of several parts remains.
    is_free = np.flatnonzero(~shapely.is_missing(free))[::-1]
    lines[owners[is_free]] = free[is_free]
    return lines


def _outside(shapes: Shapes, area: shapely.Geometry) -> Shapes:
    outside, meets = shapes.copy(), shapely.intersects(area, shapes)
    outside[meets] = shapely.difference(shapes[meets], area, grid_size=GRID_MM)
    return outside


@dataclass(frozen=True, slots=True)
class Meeting:
    """The engagements when a side attacks, with units in the position's order, and the contacts.

    `contacts` are the enemies in base contact with each attacker (M-8.23), `contacts_on_field`
    all contacts on the field, `engagements` the certainty of each engagement.
    """

    active: str
    engagements: Engagements
    engaged: Mapping[str, tuple[str, ...]]
    contacts: Mapping[str, tuple[str, ...]]
    contacts_on_field: Contacts


@dataclass(frozen=True, slots=True)
class CombatValue:
    """The combat value that a unit adds to its die, with its parts.

    `value` is the sum of `basic` and all modifiers, at least 0 (M-8.16).
    """

    basic: int
    modifiers: Mapping[str, int]
    value: int
    fighter: Fighter
    because: tuple[Reason, ...]

    @property
    def engaged_with(self) -> tuple[str, ...]:
        """The unit's opponents."""
        return self.fighter.engaged_with

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


def scores_of(field: Field, met: Meeting, cards: Mapping[str, int]) -> Mapping[str, CombatValue]:
    """Returns the value that every engaged unit adds to its die, by unit id (M-8.16)."""
    return combat_values(_fighter(field, name, met, cards.get(name, 0)) for name in met.engaged)


def combat_values(fighters: Iterable[Fighter]) -> Mapping[str, CombatValue]:
    """Returns the value of every engaged unit, by its id."""
    everyone = {fighter.id: fighter for fighter in fighters}
    return MappingProxyType({name: _value(fighter, everyone) for name, fighter in everyone.items()})


def _value(fighter: Fighter, everyone: Mapping[str, Fighter]) -> CombatValue:
    basic = tables.BASIC[fighter.arm]
    terms = _terms(fighter, everyone)
    summed = basic + sum(term.amount for term in terms)
    because = [Reason("M-8.16", "basic", (fighter.arm, basic)), *terms]
    if summed < 0:
        because.append(Reason("M-8.16", "floor", (summed,)))
    return CombatValue(basic, amounts_by_name(terms), max(summed, 0), fighter, tuple(because))


def _terms(fighter: Fighter, everyone: Mapping[str, Fighter]) -> tuple[Term, ...]:
    is_column = fighter.formation == "column" and fighter.arm != "artillery"
    why_vulnerable = is_column, fighter.flanked_by
    levels, alone = fighter.disruption, _outnumbering(fighter, everyone)
    terms = (
        Term("M-8.16", "disruption", (levels,), amount=-levels),
        Term("M-5.3", "bad_terrain", amount=tables.BAD_TERRAIN * fighter.is_in_bad_terrain),
        Term("M-8.15", "elevation", (fighter.higher,), amount=tables.HIGHER * bool(fighter.higher)),
        Term("M-8.14", "cover", (fighter.covered,), amount=tables.COVER * bool(fighter.covered)),
        Term(
            "M-8.16", "vulnerable", why_vulnerable, amount=tables.VULNERABLE * any(why_vulnerable)
        ),
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


def results_before_fall_back(
    values: Mapping[str, CombatValue], dice: Mapping[str, int]
) -> Mapping[str, CombatResult]:
    """Returns the results of all engaged units, in order, before anyone falls back (M-8.20)."""
    return results({value.fighter: value.value + dice[name] for name, value in values.items()})


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

    `order` covers all attackers, so that it does not depend on which of them stay.
    """
    after = dict(result_of)
    bound = must_fall_back(met, result_of)
    for name in order:
        # A friend that fell back through it may have broken it.
        if name in bound and not after[name].is_broken:
            after |= fall_back(field, name, after, way_back)
    return MappingProxyType(after)


def _is_broken(name: str, result_of: Mapping[str, CombatResult]) -> bool:
    return name in result_of and result_of[name].is_broken


def _fighter(field: Field, name: str, met: Meeting, card: int) -> Fighter:
    unit, enemies = field.by_id[name], met.engaged[name]
    is_active = unit.side == met.active
    attacked = [field.by_id[enemy] for enemy in enemies if is_active]
    # Only defenders can be attacked on flank or rear.
    flanking = () if is_active else flanked_by(field, unit, met.contacts_on_field)
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
        is_active=is_active,
        bases=len(unit.bases),
    )


def dice_of(request: Combat, met: Meeting) -> Mapping[str, int]:
    """Returns the dice in the order of engaged units.

    Raises:
        BadInput: There is not one die for each engaged unit.
    """
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
