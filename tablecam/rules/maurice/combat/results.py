"""Results of fights (M-8.20), falling back (M-8.23 to M-8.27) and rallying (M-9)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import affinity

from tablecam.documents import Json
from tablecam.geometry.moves.lanes import advanced, overlaps_ahead, swept_straight
from tablecam.geometry.moves.poses import ahead
from tablecam.geometry.outlines import footprint, table_outline
from tablecam.geometry.rectangles import rectangles
from tablecam.rules.maurice.field import tables
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.requests import Dice, Rally, check_dice
from tablecam.rules.maurice.field.tables import RALLY_BAD_TERRAIN, RALLY_NOT_NEAR, TO_RALLY
from tablecam.rules.maurice.field.terms import Reason, Term, amounts_by_name, needed_on_die
from tablecam.rules.maurice.place.contacts import contacts_of_field
from tablecam.rules.maurice.place.ranges import near_enemy
from tablecam.table.headings import forward, mean_deg
from tablecam.table.model import Arm, Point, Position, Unit
from tablecam.uncertainty.answer import Answer
from tablecam.uncertainty.margins import Flags

Ints = NDArray[np.intp]

_NOBODY = -1


@dataclass(frozen=True, slots=True)
class Fighter:
    """An engaged unit and the facts that decide its combat. Units are named by their ids.

    `higher` and `covered` are the enemies that it attacks on higher ground (M-8.15) and in cover
    that counts (M-8.14), `flanked_by` the engaged enemies that attack its flank or rear (M-8.16).
    Each is empty where the rule does not apply to the unit. `bases` is the number of its bases.
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
    is_active: bool = False
    bases: int = 1


@dataclass(frozen=True, slots=True)
class CombatResult:
    """A unit's combat result: disruption gained, whether it breaks or falls back, and why.

    `fall_back_mm` is the distance of the fall-back.
    """

    disruption: int = 0
    is_broken: bool = False
    because: tuple[Reason, ...] = ()
    falls_back: bool = False
    fall_back_mm: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Returns the outcome and its reasons, as answers and events hold them."""
        because = list(map(str, self.because))
        return {"disruption": self.disruption, "broken": self.is_broken, "because": because}


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """The outcome of m throws for n units: disruption gained, broken or not, best opponent (m, n).

    `best` is the index of the standing opponent with the highest score, -1 if all of them broke.
    """

    gained: Ints
    is_broken: Flags
    best: Ints


def settle(units: Sequence[Fighter], scores: Ints) -> Settled:
    """Settles m throws (m, n) of all engaged units at once (M-8.20)."""
    places = {unit.id: place for place, unit in enumerate(units)}
    gained, best = np.zeros_like(scores), np.full_like(scores, _NOBODY)
    broken = np.zeros(scores.shape, dtype=np.bool_)
    # Passive units that break no longer count against active ones.
    for place, unit in sorted(enumerate(units), key=lambda entry: entry[1].is_active):
        own, enemies = scores[:, place], [places[name] for name in unit.engaged_with]
        against = np.where(broken[:, enemies] & unit.is_active, _NOBODY, scores[:, enemies])
        top = against.argmax(axis=1)
        highest = against.max(axis=1)
        # No score is negative, so an active unit is not beaten if nobody is left to beat it.
        is_beaten = highest >= own if unit.is_active else highest > own
        gained[:, place] = np.where(is_beaten, tables.COMBAT_BEATEN, tables.COMBAT_OTHERWISE)
        broken[:, place] = unit.disruption + gained[:, place] > unit.bases
        best[:, place] = np.where(highest == _NOBODY, _NOBODY, np.array(enemies)[top])
        if not unit.is_active:
            is_doubled = highest >= tables.COMBAT_DOUBLED * own
            gained[is_doubled, place] = 0
            broken[is_doubled, place] = True
    return Settled(gained, broken, best)


def results(scores: Mapping[Fighter, int]) -> Mapping[str, CombatResult]:
    """Returns the result of every engaged unit by id, in the order of resolution."""
    units = tuple(scores)
    settled = settle(units, np.array([[*scores.values()]]))
    result_of = {}
    for place, unit in sorted(enumerate(units), key=lambda entry: entry[1].is_active):
        best = int(settled.best[0, place])
        opponent = None if best == _NOBODY else units[best]
        gained, broken = int(settled.gained[0, place]), bool(settled.is_broken[0, place])
        because = _because(scores, unit, opponent, gained)
        result_of[unit.id] = CombatResult(gained, broken, because)
    return MappingProxyType(result_of)


def _because(
    scores: Mapping[Fighter, int], unit: Fighter, best: Fighter | None, gained: int
) -> tuple[Reason, ...]:
    if best is None:
        reason = Reason("M-8.20", "alone", (gained,))
    elif gained == 0:
        return (Reason("M-8.20", "doubled", (best.id, scores[unit], scores[best])),)
    else:
        is_beaten = gained == tables.COMBAT_BEATEN
        how = "drawn" if scores[unit] == scores[best] else "beaten" if is_beaten else "winning"
        reason = Reason("M-8.20", how, (best.id, scores[unit], scores[best], gained))
    level = unit.disruption + gained
    breaking = Reason("M-1.14", "breaking", (level, unit.bases))
    return (reason, breaking) if level > unit.bases else (reason,)


_AS_FAR_MM = 1e-6
"""Units whose positions differ by less are equally far back."""
_PLACES_MM = 6
"""Places are rounded to a nanometre, so that a unit moved along a table's edge stays at 440 mm."""


@dataclass(frozen=True, slots=True)
class FallBackPath:
    """A unit's way straight back: its length and the friends that it passes, nearest first.

    `blocked_by` is the reason why it cannot pass, or still touches an enemy at the end; None if the
    way is free. It is judged from the measured poses; `close_calls` are the contacts at the end
    that are too close to call.
    """

    back_mm: float
    passed: tuple[str, ...]
    is_difficult: bool
    blocked_by: Reason | None
    close_calls: tuple[Answer, ...] = ()


WayBack = Callable[[Field, str, Mapping[str, CombatResult]], FallBackPath]
"""A function such as `fall_back_path`."""


def fall_back(
    field: Field, unit_id: str, before: Mapping[str, CombatResult], way_back: WayBack | None = None
) -> dict[str, CombatResult]:
    """Returns the results of a unit that falls back, and of the friends that it passes through.

    `before` holds the results so far; units not in it are unchanged.
    """
    unit = field.by_id[unit_id]
    way = (way_back or fall_back_path)(field, unit_id, before)
    own = before.get(unit_id, CombatResult())
    doubt_notes = tuple(Reason("M-8.27", "in_doubt", (doubt.because,)) for doubt in way.close_calls)
    if way.blocked_by is not None:
        why = field.in_bw(way.back_mm), way.blocked_by
        reason = Reason("M-8.27", "blocked", why, way.blocked_by.reading)
        return {unit_id: replace(own, is_broken=True, because=(*own.because, reason, *doubt_notes))}
    reason = Reason("M-8.23", "falling_back", (field.in_bw(way.back_mm),))
    own = replace(
        own, falls_back=True, fall_back_mm=way.back_mm, because=(*own.because, reason, *doubt_notes)
    )
    if way.is_difficult and unit.unit.arm != "artillery":
        own = _gained(unit, own, Reason("M-8.27", "through_difficult"))
    friend_results: dict[str, CombatResult] = {}
    for friend_id in way.passed:
        friend = field.by_id[friend_id]
        if unit.is_disrupted_by_passing:
            own = _gained(unit, own, Reason("M-8.26", "passing", (friend_id,)))
        if friend.is_disrupted_by_passing:
            passed = before.get(friend_id, CombatResult())
            friend_results[friend_id] = _gained(
                friend, passed, Reason("M-8.26", "passed", (unit_id,))
            )
    return {unit_id: own} | friend_results


def fall_back_path(field: Field, unit_id: str, before: Mapping[str, CombatResult]) -> FallBackPath:
    """Returns a unit's way straight back, past the unbroken units at their present places."""
    unit = field.by_id[unit_id]
    results = {other: before.get(other.id, CombatResult()) for other in field.units}
    # Broken units have left the table (M-1.14).
    unbroken = [other for other in results if other is not unit and not results[other].is_broken]
    overlaps = {
        other.id: overlaps_ahead(
            rectangles([unit.unit]).corners_mm(),
            rectangles([other.unit]).corners_mm()
            + moved_back_mm(other, results[other].fall_back_mm),
            moved_back_mm(unit, 1.0),
            tables.SLIVER_MM,
        )
        for other in unbroken
    }
    friends = [overlaps[other.id] for other in unbroken if other.side == unit.side]
    back_mm = tables.FALL_BACK_BW * field.bw_mm
    # Farther if it would end on a friend (M-8.25). Clearing one may end on the next, so repeat.
    while (further_mm := max((o.freed_mm(back_mm) for o in friends), default=0.0)) > back_mm:
        back_mm = further_mm
    in_the_way = {
        other.id: entered_mm
        for other in unbroken
        if (entered_mm := overlaps[other.id].entered_mm(back_mm)) is not None
    }
    passed = [name for name in in_the_way if field.by_id[name].side == unit.side]
    enemies = [other for other in unbroken if other.side != unit.side]
    barred = _barred(field, unit, back_mm, [enemy.id for enemy in enemies], in_the_way)
    touched, doubts = ((), ()) if barred else _touched_at_end(field, unit, back_mm, enemies)
    return FallBackPath(
        back_mm,
        tuple(sorted(passed, key=in_the_way.__getitem__)),
        is_partly_in(swept_back(unit, back_mm), field.ground.difficult),
        Reason("M-8.27", "still_touching", touched[:1]) if touched else barred,
        doubts,
    )


def rearmost_first(field: Field, unit_ids: Iterable[str]) -> tuple[str, ...]:
    """Returns units in the order in which they least block each other (M-8.24).

    They are sorted along their mean heading; ties keep the position's order.
    """
    units = [unit for unit in field.units if unit.id in set(unit_ids)]
    if not units:
        return ()
    ahead = np.array(forward(mean_deg(unit.axes.heading_deg for unit in units)))

    def depth(unit: UnitOnField) -> float:
        middle = shapely.get_coordinates(shapely.centroid(unit.outline))[0]
        return round(float(middle @ ahead) / _AS_FAR_MM)

    return tuple(unit.id for unit in sorted(units, key=depth))


def moved_back_mm(unit: UnitOnField, back_mm: float) -> Point:
    """Returns the displacement (x, y) of a unit that falls back, its heading unchanged."""
    x, y = forward(unit.axes.heading_deg)
    return -x * back_mm, -y * back_mm


def moved_back(unit: UnitOnField, back_mm: float) -> UnitOnField:
    """Returns a unit after it has fallen back."""
    bases = tuple(
        replace(base, x_mm=round(base.x_mm, _PLACES_MM), y_mm=round(base.y_mm, _PLACES_MM))
        for base in ahead(unit.unit.bases, unit.axes.heading_deg, -back_mm)
    )
    return replace(
        unit,
        unit=replace(unit.unit, bases=bases),
        outline=affinity.translate(unit.outline, *moved_back_mm(unit, back_mm)),
        bases=tuple(map(footprint, bases)),
        axes=advanced(unit.axes, -back_mm),
        place=object(),
    )


def swept_back(unit: UnitOnField, back_mm: float) -> shapely.Geometry:
    """Returns the area that a unit's bases sweep as it falls back, both ends included."""
    return swept_straight(unit.bases, unit.axes.heading_deg, -back_mm)


def _barred(
    field: Field,
    unit: UnitOnField,
    back_mm: float,
    enemies: Sequence[str],
    in_the_way: Mapping[str, float],
) -> Reason | None:
    """Returns what stops a unit short of its full distance (M-8.27), or None."""
    if barring := [enemy for enemy in enemies if enemy in in_the_way]:
        return Reason("M-8.27", "in_the_way", (min(barring, key=in_the_way.__getitem__),))
    swept = swept_back(unit, back_mm)
    if is_partly_in(swept, field.ground.barred):
        return Reason("M-8.27", "in_the_way", (field.ground.barring_words(swept),))
    fallen_back = moved_back(unit, back_mm)
    # A unit that already overhangs the edge is stopped only if it would overhang farther.
    if (
        _beyond_edge_mm(field, fallen_back.outline)
        > _beyond_edge_mm(field, unit.outline) + tables.SLIVER_MM
    ):
        return Reason("M-8.27", "table_ends", reading="M-8.27")
    return None


def _touched_at_end(
    field: Field, unit: UnitOnField, back_mm: float, enemies: Sequence[UnitOnField]
) -> tuple[tuple[str, ...], tuple[Answer, ...]]:
    after = field.with_units((moved_back(unit, back_mm), *enemies))
    touching = contacts_of_field(after, {unit.id})
    answers = (contact.answer for contact in touching.contacts.values())
    return touching.enemies_of(unit.id), tuple(a for a in answers if a.answer == "too_close")


def _beyond_edge_mm(field: Field, outline: shapely.Geometry) -> float:
    """Returns how far an outline overhangs the table's edge; 0 if it does not."""
    corners = shapely.points(shapely.get_coordinates(outline))
    return float(shapely.distance(table_outline(field.position.table), corners).max())


def _gained(unit: UnitOnField, so_far: CombatResult, why: Reason) -> CombatResult:
    """Adds one disruption, and breaks the unit if that is too many (M-1.14)."""
    gained = so_far.disruption + 1
    because = [*so_far.because, why]
    broken = unit.breaks_with(gained)
    # If it was broken before, the reason is already given.
    if broken and not so_far.is_broken:
        because.append(unit.breaking_reason(gained))
    return replace(so_far, disruption=gained, is_broken=broken, because=tuple(because))


def position_after(
    field: Field,
    *,
    gained: Mapping[str, int],
    broken: Collection[str] = (),
    smoking: Collection[str] = (),
    back_mm: Mapping[str, float] = MappingProxyType({}),
) -> Position:
    """Returns the position after a resolution. Broken units leave at once (M-1.14).

    `gained` are levels of disruption, negative if shed, 0 for units that took part unharmed. Units
    not named are unchanged.
    """

    def after(unit: UnitOnField) -> Unit:
        if unit.id not in {*gained, *smoking, *back_mm}:
            return unit.unit
        state = dict(unit.unit.state)
        if unit.id in gained:
            state["disruption"] = unit.disruption + gained[unit.id]
        if unit.id in smoking:
            state["smoke"] = True
        far_mm = back_mm.get(unit.id, 0.0)
        return replace((moved_back(unit, far_mm) if far_mm else unit).unit, state=state)

    left = tuple(after(unit) for unit in field.units if unit.id not in broken)
    return replace(field.position, units=left)


@dataclass(frozen=True, slots=True)
class RallyAttempt:
    """A unit about to rally: the number each die needs, its dice and the reasons.

    `near` tells whether it is near the enemy, if that was measured.
    """

    unit: str
    basic: int
    modifiers: Mapping[str, int]
    needed: int
    dice: int
    because: tuple[Reason, ...]
    near: Answer | None = None

    def to_json(self) -> Json:
        """Returns the number that each die needs, and why, as answers hold it."""
        return {"basic": self.basic, "modifiers": dict(self.modifiers), "needed": self.needed}

    def shed(self, dice: Dice) -> int:
        """Returns the levels of disruption that the dice shed (M-9.2)."""
        return sum(die >= self.needed for die in dice)


def rally_attempt(field: Field, request: Rally) -> RallyAttempt:
    """Returns the dice and the number that a rallying unit needs (M-9.2, M-9.3)."""
    unit = field.by_id[request.unit]
    near = near_enemy(field, unit)
    from_facts = rally_number(
        unit.id,
        unit.unit.arm,
        unit.disruption,
        is_in_bad_terrain=unit.is_in_difficult,
        is_near=near.is_near,
        card=request.card,
    )
    return replace(from_facts, near=near.answer)


def rally_number(
    unit: str, arm: Arm, disruption: int, *, is_in_bad_terrain: bool, is_near: bool, card: int = 0
) -> RallyAttempt:
    """Returns the same from plain facts; the modifiers are added to each die."""
    terms = [
        Term("M-9.3", "bad_terrain", amount=RALLY_BAD_TERRAIN * is_in_bad_terrain),
        Term("M-9.3", "not_near_enemy", amount=RALLY_NOT_NEAR * (not is_near)),
        Term("M-9.3", "card", amount=card),
    ]
    basic = TO_RALLY[arm]
    added = sum(term.amount for term in terms)
    needed = needed_on_die(basic, added)
    because = [Reason("M-9.3", "to_rally", (arm, basic)), *(term for term in terms if term.amount)]
    if needed != basic - added:
        because.append(Reason("M-9.4", "natural"))
    return RallyAttempt(unit, basic, amounts_by_name(terms), needed, disruption, tuple(because))


def rally(field: Field, request: Rally) -> tuple[RallyAttempt, int]:
    """Returns the attempt, and how many levels of disruption its dice shed.

    Raises:
        BadInput: There is not one die for each disruption of the unit.
    """
    attempt = rally_attempt(field, request)
    why = f"one for each disruption of {attempt.unit} (M-9.2)"
    dice = check_dice(request.document, ("dice",), request.dice, attempt.dice, why)
    return attempt, attempt.shed(dice)
