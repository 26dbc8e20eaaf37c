"""Sections of sheets on fire (M-7), charges, engagements and cover from attacks (M-8)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import shapely

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.charge.charge import ChargeLane
from tablecam.rules.maurice.charge.limits import NOT_AT_CAVALRY, OUT_OF_VIEW, is_in_view, may_charge
from tablecam.rules.maurice.charge.moves import allowance_mm
from tablecam.rules.maurice.combat.combat import cover_answer
from tablecam.rules.maurice.combat.engagement import NEAR_RULE as TWO_LINES_RULE
from tablecam.rules.maurice.combat.engagement import engagements
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import ENGAGED_BW, LONG_BW, SHORT_BW
from tablecam.rules.maurice.field.terms import Reason
from tablecam.rules.maurice.fire.fire import OBSTRUCTION_RULE, fire_reading
from tablecam.rules.maurice.fire.targets import BaseFire, FireOption, why_never_fires
from tablecam.rules.maurice.fire.zone import zone_ahead
from tablecam.rules.maurice.place.contacts import front_gap_mm, touches_across
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.interpretations import (
    EDGE_CONTACT_MM,
    answer_line,
    plain_line,
    question,
    span_of,
)
from tablecam.rules.reports import Finding, Part, Question
from tablecam.table.formation import base_words
from tablecam.table.sides import side_name
from tablecam.uncertainty.answer import Answer, certain, verdict
from tablecam.uncertainty.contact import TOUCH_MM
from tablecam.uncertainty.lengths import Length, distance

_RANGE_RULE = "M-7.9"


def stop_of(rulings: Rulings, unit: UnitOnField, fire: BaseFire) -> Answer:
    """Returns what stops a base from firing at any unit, as a clause without a subject."""
    base, ground = unit.bases[_place_of(unit, fire)], rulings.field.ground
    if fire.blocked in ("water", "woods"):
        is_wet = fire.blocked == "water"
        area = ground.water if is_wet else ground.woods
        clause = "no base fires from water" if is_wet else "artillery does not fire from woods"
        shown, depth_mm = _common(base, area, "cover"), _depth_mm(base, area)
        return certain("no", "M-7.6", clause, shown, margin_mm=-depth_mm)
    zone = zone_ahead(rulings.field, unit, _place_of(unit, fire), SHORT_BW)
    drawn = shapes_of(zone, "fire-zone")
    if fire.blocked == "friend":
        others = rulings.field.friends_of(unit)
        friends = [friend for friend in others if is_partly_in(friend.outline, zone)]
        if not friends:  # a friend blocks only turned zones
            return certain("no", "M-7.15", "a friend stands in front of the enemy", drawn)
        # The nearest friend is the obvious one to name.
        first = min(friends, key=lambda friend: shapely.distance(friend.outline, base))
        shown = (*drawn, *_common(first.outline, zone, "friend"))
        clause = f"{first.id} stands in front of the enemy"
        depth_mm = _depth_mm(first.outline, zone)
        return certain("no", "M-7.15", clause, shown, margin_mm=-depth_mm)
    if fire.blocked == "obstruction":
        shown = (*drawn, *_common(ground.obstructing, zone, "cover"))
        clause = "terrain ends the zone of fire before any enemy"
        return certain("no", OBSTRUCTION_RULE, clause, shown)
    clause = f"no enemy is within {unit.longest_range_bw:g} BW and 45° of straight ahead"
    return certain("no", "M-7.12", clause, shapes_of(zone, "fire-zone", f"{SHORT_BW:g} BW"))


def stop_at(rulings: Rulings, unit: UnitOnField, fire: BaseFire, target: UnitOnField) -> Answer:
    """Returns what stops a base from firing at one unit, as `stop_of`."""
    length = distance(unit.unit.bases[_place_of(unit, fire)], target.unit)
    off, limit_bw = f"{rulings.field.in_bw(length.value_mm):.2f} BW", unit.longest_range_bw
    margin_mm = limit_bw * rulings.field.bw_mm - length.value_mm
    drawn = (length.evidence(off),)
    if margin_mm < 0:
        clause = f"it is {off} away, beyond {limit_bw:g} BW"
        sigma_mm = length.sigma_mm
        return certain("no", _RANGE_RULE, clause, drawn, margin_mm=margin_mm, sigma_mm=sigma_mm)
    if fire.options and all(option.angle == "ahead" for option in fire.options):
        met = ", ".join(option.target for option in fire.options)
        return certain("no", "M-7.12", f"straight ahead is {met}, which must be the target", drawn)
    if fire.options:
        clause = "at any angle the zone of fire meets other units first or falls short"
        return certain("no", "M-7.12", clause, drawn)
    return stop_of(rulings, unit, fire)


def _place_of(unit: UnitOnField, fire: BaseFire) -> int:
    return unit.unit.base_names.index(fire.base)


def _common(shape: shapely.Geometry, zone: shapely.Geometry, role: str) -> tuple[Shape, ...]:
    return shapes_of(shapely.intersection(shape, zone), role)


def _depth_mm(shape: shapely.Geometry, area: shapely.Geometry) -> float:
    """Returns how deep a shape reaches into an area: the diameter of the largest circle in both."""
    parts = shapely.get_parts(shapely.intersection(shape, area)).tolist()
    areas = [part for part in parts if isinstance(part, shapely.Polygon)]
    radii_mm = [shapely.length(shapely.maximum_inscribed_circle(part)) for part in areas]
    return 2.0 * float(max(radii_mm, default=0.0))


@dataclass(frozen=True, slots=True)
class _BaseResult:
    """A result for one base, at one target or in general: an option, a doubt, or an obstacle.

    `answer` is the doubt, even about an option, or what stops the base; `read` is the
    interpretation behind the option.
    """

    fire: BaseFire
    target: UnitOnField | None
    option: FireOption | None = None
    answer: Answer | None = None
    read: str | None = None

    @property
    def stop(self) -> Answer | None:
        """What stops the base; only doubts are about a unit."""
        return None if self.answer is None or self.answer.about is not None else self.answer

    @property
    def alike(self) -> Hashable:
        """The key by which bases share a line; doubts keep a line of their own."""
        if self.stop is not None:
            # Bases out of range share a line at any distance.
            is_far = self.stop.rule == _RANGE_RULE
            return self.target, _RANGE_RULE if is_far else self.stop.because
        if self.option is None or self.answer is not None:
            return self.target, self.fire.base, self.read
        option = self.option
        return option.target, option.range, option.angle, option.dice, option.modifiers, self.read


def fire_section(rulings: Rulings, unit: UnitOnField) -> Iterator[Part]:
    """Yields the zone of each base and its targets, or why it has none."""
    yield from _fire_lines(rulings, unit)
    if why_never_fires(unit) is None:
        for place, name in enumerate(unit.unit.base_names):
            zone_to = partial(zone_ahead, rulings.field, unit, place)
            if unit.unit.arm == "artillery":
                yield from shapes_of(zone_to(LONG_BW), "fire-zone", f"{LONG_BW:g} BW")
            yield from shapes_of(zone_to(SHORT_BW), "fire-zone", name)


def pair_fire_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Iterator[Part]:
    """Yields which bases of either unit may fire at the other."""
    yield from _fire_lines(rulings, a, b)
    yield from _fire_lines(rulings, b, a)


def _fire_lines(
    rulings: Rulings, unit: UnitOnField, target: UnitOnField | None = None
) -> Iterator[Finding]:
    """Yields one line for all bases with the same result, ordered by the first of them."""
    if (never := why_never_fires(unit)) is not None:
        yield plain_line(f"{unit.id} {never.clause}", never.rule)
        return
    groups: dict[Hashable, list[_BaseResult]] = {}
    for result in _base_results(rulings, unit, target):
        groups.setdefault(result.alike, []).append(result)
    yield from (_line(rulings, unit, bases) for bases in groups.values())


def lines_of_bases(
    rulings: Rulings, unit: UnitOnField, target: UnitOnField | None = None
) -> Iterator[Finding]:
    """Yields a line per base, even where the sheet has one line for several."""
    if why_never_fires(unit) is None and (target is None or target.side != unit.side):
        results = _base_results(rulings, unit, target)
        yield from (_line(rulings, unit, [result]) for result in results)


def _base_results(
    rulings: Rulings, unit: UnitOnField, target: UnitOnField | None
) -> Iterator[_BaseResult]:
    """Yields each base's targets, or whether it may fire at one, or what stops it."""
    field = rulings.field
    for fire in rulings.units[unit.id].fire.values():
        doubts = {doubt.about: doubt for doubt in reversed(fire.close_calls)}
        results = [
            _BaseResult(
                fire,
                field.by_id[option.target],
                option,
                doubts.get(option.target),
                fire_reading(field, unit, option),
            )
            for option in fire.options
            if target is None or option.target == target.id
        ]
        named: set[str | None] = {None, *(option.target for option in fire.options)}
        # For one target, any uncertain answer is shown with its probability.
        for doubt in fire.close_calls if target is None else fire.answers:
            about = doubt.about
            if about not in named and (target is None or about == target.id):
                named.add(about)
                results.append(_BaseResult(fire, field.by_id[str(about)], answer=doubt))
        if not results:
            stop = stop_at(rulings, unit, fire, target) if target else stop_of(rulings, unit, fire)
            results = [_BaseResult(fire, target, answer=stop)]
        yield from results


def _line(rulings: Rulings, unit: UnitOnField, bases: Sequence[_BaseResult]) -> Finding:
    first, shooters = bases[0], _shooters(unit, bases)
    at = [] if first.target is None else [first.target.id]
    shoot = f"shoot {at[0]}" if at else "fire"
    names = ",".join(result.fire.base for result in bases)
    asked = question(f"May {shooters} {shoot}?", "fire", unit.id, names, *at)
    if first.option is not None:
        return _option_line(rulings, unit, bases, asked)
    stops = [result.stop for result in bases if result.stop is not None]
    if first.answer is not None and not stops:
        return answer_line(first.answer, asked)
    # The base that misses by least gives the distance.
    nearest = max(stops, key=lambda stop: stop.margin_mm)
    is_all = len(bases) == len(unit.bases) > 1
    barred = f"none of {unit.id}'s bases may" if is_all else f"{shooters} may not"
    text = f"{barred} {shoot}: {nearest.because}"
    answer = replace(nearest, because=text, evidence=_evidence(stop.evidence for stop in stops))
    read = OBSTRUCTION_RULE if answer.rule == OBSTRUCTION_RULE else None
    return answer_line(answer, asked, read=read)


def _option_line(
    rulings: Rulings, unit: UnitOnField, bases: Sequence[_BaseResult], asked: Question
) -> Finding:
    options = [result.option for result in bases if result.option is not None]
    first = options[0]
    bw = span_of((rulings.field.in_bw(option.distance_mm) for option in options), places=2)
    angle = "straight ahead"
    if first.angle != "ahead":
        turned = span_of((abs(option.turned_deg) for option in options), unit="°")
        angle = f"turned {turned} to the {first.angle}"
    dice = f"{first.dice} {'die' if first.dice == 1 else 'dice'}" + " each" * (len(options) > 1)
    text = (
        f"{_shooters(unit, bases)} may shoot {first.target}: {first.range} range ({bw} BW), "
        f"{angle}, {dice}, hits on {first.to_hit}+"
    )
    if first.modifiers:
        text += f" ({', '.join(term.change for term in first.modifiers)})"
    doubt = bases[0].answer
    if doubt is not None:
        return answer_line(doubt, asked, text=f"{text}; but {doubt.because}", read=bases[0].read)
    limit_mm = (SHORT_BW if first.range == "short" else LONG_BW) * rulings.field.bw_mm
    # The farthest base has the smallest margin, so it decides for all.
    farthest = max(options, key=lambda option: option.distance_mm)
    margin_mm = limit_mm - farthest.distance_mm
    sigma_mm = distance(unit.unit, rulings.field.by_id[first.target].unit).sigma_mm
    chance = min(option.probability for option in options)
    because = "; ".join(dict.fromkeys(option.because for option in options))
    shown = _evidence(option.evidence for option in options)
    word = verdict(margin_mm, chance)
    answer = Answer(word, margin_mm, sigma_mm, chance, "M-7.12", because, shown)
    return answer_line(answer, asked, text=text, read=bases[0].read)


def _shooters(unit: UnitOnField, bases: Sequence[_BaseResult]) -> str:
    """Names some bases of a unit; all bases together are the unit."""
    if len(bases) == len(unit.bases):
        return unit.id if len(bases) == 1 else f"all {len(bases)} bases of {unit.id}"
    return base_words(unit.unit, *(_place_of(unit, result.fire) for result in bases))


def _evidence(drawn: Iterable[tuple[Shape, ...]]) -> tuple[Shape, ...]:
    return tuple(dict.fromkeys(shape for shapes in drawn for shape in shapes))


_NO_MOVE = Reason("M-8.3", "no_move")
_NOT_FIRST = Reason("M-8.5", "not_first")
_MARGIN_MM = 6.0
"""No enemy farther than this beyond 1 BW can be engaged by measurement error alone."""


def charge_section(rulings: Rulings, unit: UnitOnField) -> Iterator[Part]:
    """Yields a unit's targets with the moves to them, or why it cannot charge."""
    charge = rulings.units[unit.id].charge
    for lane in charge.lanes:
        yield _lane_line(rulings, unit, lane)
        yield from lane.evidence
    doubts = [doubt for doubt in charge.close_calls if doubt.about not in (None, *charge.targets)]
    for doubt in doubts:
        yield _doubt_line(rulings, unit, rulings.field.by_id[str(doubt.about)], doubt)
    if not charge.lanes and not doubts:
        why = charge.why_not or _NO_MOVE
        yield plain_line(f"{unit.id} cannot charge: {why.clause}", why.rule, read=why.reading)


def pair_charge_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Iterator[Part]:
    """Yields the moves by which either of two units can charge the other, or why it cannot."""
    for unit, target in ((a, b), (b, a)):
        for lane in rulings.units[unit.id].charge.lanes:
            if lane.target == target.id:
                yield _lane_line(rulings, unit, lane)
            if lane.target in (a.id, b.id):
                yield from lane.evidence
        if target.id not in rulings.units[unit.id].charge.targets:
            if (doubt := _doubt(rulings, unit, target)) is not None:
                yield _doubt_line(rulings, unit, target, doubt)
            else:
                yield _refusal_line(rulings, unit, target)


def _lane_line(rulings: Rulings, unit: UnitOnField, lane: ChargeLane) -> Finding:
    field, cost_mm = rulings.field, lane.move.cost_mm
    allowed_mm = allowance_mm(field, unit) or 0.0
    text = (
        f"{unit.id} may charge {lane.target}: it {lane.move.words(field.bw_mm)}, "
        f"{field.in_bw(cost_mm):.2f} of its {field.in_bw(allowed_mm):g} BW"
    )
    if lane.move.is_contact:
        text = f"{unit.id} may charge {lane.target}, which its front edge already touches"
    if lane.also_meets:
        text += f"; it meets {', '.join(lane.also_meets)} at the same moment"
    if lane.crosses_difficult:
        text += "; it crosses difficult ground and takes 1 disruption"
    asked = _question_about(unit, field.by_id[lane.target])
    read = "M-5.2" if lane.crosses_difficult and unit.is_in_difficult else None
    doubt = _doubt(rulings, unit, field.by_id[lane.target])
    if doubt is not None:
        return answer_line(doubt, asked, text=f"{text}; but {doubt.because}", read=read)
    margin_mm = allowed_mm - cost_mm
    chance = rulings.units[unit.id].charge.chance(lane.target)
    sigma_mm = distance(unit.unit, field.by_id[lane.target].unit).sigma_mm
    word = verdict(margin_mm, chance)
    answer = Answer(word, margin_mm, sigma_mm, chance, "M-8.5", text, lane.evidence)
    return answer_line(answer, asked, read=read)


def _refusal_line(rulings: Rulings, unit: UnitOnField, target: UnitOnField) -> Finding:
    length = distance(unit.unit, target.unit)
    why, margin_mm = _why_not(rulings, unit, target, length)
    because = f"{unit.id} cannot charge {target.id}: {why.clause}"
    drawn = (length.evidence(f"{length.in_bw(rulings.field.bw_mm):.2f} BW"),)
    sigma_mm = length.sigma_mm if margin_mm else 0.0
    answer = certain("no", why.rule, because, drawn, margin_mm=margin_mm, sigma_mm=sigma_mm)
    return answer_line(answer, _question_about(unit, target), read=why.reading)


def _why_not(
    rulings: Rulings, unit: UnitOnField, target: UnitOnField, length: Length
) -> tuple[Reason, float]:
    """Returns why a unit cannot charge another, and the margin (mm): 0 if no length decides."""
    field, charge = rulings.field, rulings.units[unit.id].charge
    never = charge.why_not or _NO_MOVE
    allowed_mm = allowance_mm(field, unit)
    if allowed_mm is None or unit.unit.arm == "artillery" or unit.formation == "column":
        return never, 0.0
    # Reasons are tried from the plainest to the subtlest, so that players read the first that
    # applies.
    if length.value_mm > allowed_mm:
        far = length.in_bw(field.bw_mm), field.in_bw(allowed_mm)
        return Reason("M-8.5", "too_far", far), allowed_mm - length.value_mm
    if not may_charge(unit, target):
        return NOT_AT_CAVALRY, 0.0
    if not is_in_view(field, unit, target):
        return OUT_OF_VIEW, 0.0
    return (_NOT_FIRST if charge.is_eligible else never), 0.0


def _doubt(rulings: Rulings, unit: UnitOnField, target: UnitOnField) -> Answer | None:
    doubts = rulings.units[unit.id].charge.close_calls
    return next((doubt for doubt in doubts if doubt.about == target.id), None)


def _doubt_line(rulings: Rulings, unit: UnitOnField, target: UnitOnField, doubt: Answer) -> Finding:
    """Returns the line of a charge too close to call, with its interpretation if out of view."""
    read = None if is_in_view(rulings.field, unit, target) else "M-8.4"
    return answer_line(doubt, _question_about(unit, target), read=read)


def _question_about(unit: UnitOnField, target: UnitOnField) -> Question:
    return question(f"Can {unit.id} charge {target.id}?", "charge", unit.id, target.id)


def engaged_section(rulings: Rulings, unit: UnitOnField) -> Iterator[Part]:
    """Yields a unit's engagements if the active side attacks from these poses."""
    # Farther enemies cannot be engaged, so they are skipped.
    near_mm = ENGAGED_BW * rulings.field.bw_mm + _MARGIN_MM
    asked = [
        next(pair_engaged_section(rulings, unit, enemy))
        for enemy in rulings.field.enemies_of(unit)
        if rulings.distances.mm(unit.id, enemy.id) <= near_mm
    ]
    lines = [line for line in asked if line.answer is not None and line.answer.answer != "no"]
    lines += _outnumbering(rulings, unit)
    if not lines:
        why = f"no unit of the active side ({side_name(rulings.active)}) attacks it"
        why = "no enemy touches its front edge" if unit.side == rulings.active else why
        lines = [plain_line(f"{unit.id} is not engaged: {why}", "M-8.10")]
    yield from lines


def pair_engaged_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Iterator[Finding]:
    """Yields whether two units are engaged, with the interpretation that decides it."""
    attacker, defender = _roles(rulings, a, b)
    fought = engagements(rulings.field, rulings.active, attacker.id)
    answer = fought.answer(attacker.id, defender.id)
    text = f"Is {attacker.id} engaged with {defender.id}?"
    asked = question(text, "engaged", attacker.id, defender.id)
    text = answer.because
    if answer.answer != "too_close":
        is_engaged = "is" if answer.answer == "yes" else "is not"
        text = f"{attacker.id} {is_engaged} engaged with {defender.id}: {text}"
    read = _reading(rulings.field, answer, attacker, defender)
    yield answer_line(answer, asked, text=text, read=read)


def _reading(
    field: Field, answer: Answer, attacker: UnitOnField, defender: UnitOnField
) -> str | None:
    """Returns the interpretation that decides: the two lines, near contact, or a thin wall."""
    if answer.rule == TWO_LINES_RULE:
        return answer.rule
    gap_mm = front_gap_mm(attacker, defender)
    if gap_mm is None or gap_mm <= EDGE_CONTACT_MM:
        return None
    across = "M-8.14" if touches_across(field, attacker, defender) else None
    return "G-6" if gap_mm <= TOUCH_MM + EXACT_MM else across


def _outnumbering(rulings: Rulings, unit: UnitOnField) -> Iterator[Finding]:
    """Yields enemies that do not outnumber a unit because they also face a gun (M-8.17)."""
    for enemy, guns in rulings.engagements.held_by_guns(unit.id).items():
        text = f"{enemy} is also engaged with {', '.join(guns)} and does not outnumber {unit.id}"
        yield plain_line(text, "M-8.17", read="M-8.17")


def cover_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Iterator[Part]:
    """Yields whether the defender has cover from the attacker, or stands higher."""
    attacker, defender = _roles(rulings, a, b)
    text = f"Does {defender.id} have cover from an attack by {attacker.id}?"
    asked = question(text, "cover", attacker.id, defender.id)
    answer = cover_answer(rulings.field, attacker, defender)
    if answer.answer != "too_close":
        # The margin is only a bound, not a distance that a player could measure.
        answer = replace(answer, margin_mm=0.0, sigma_mm=0.0)
    text = answer.because
    if answer.answer != "too_close" and defender.unit.arm != "cavalry":
        text = f"{defender.id} has {'' if answer.answer == 'yes' else 'no '}cover: {text}"
    across = touches_across(rulings.field, attacker, defender)
    read = "M-8.14" if across else "M-5.1" if answer.answer == "yes" else None
    yield answer_line(answer, asked, text=text, read=read)
    if rulings.field.is_uphill(attacker, defender):
        text = f"{defender.id} stands higher than {attacker.id}, which gets -1 in combat"
        yield plain_line(text, "M-8.15", read="M-5.9")


def _roles(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> tuple[UnitOnField, UnitOnField]:
    """Returns attacker and defender of two units: the active side attacks."""
    return (b, a) if b.side == rulings.active else (a, b)
