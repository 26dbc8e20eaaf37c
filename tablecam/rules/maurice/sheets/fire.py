"""Fire sections of sheets: each base's zone, targets, number to hit, and what stops it (M-7).

Bases with the same result share a line and a question.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import shapely

from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import LONG_BW, SHORT_BW
from tablecam.rules.maurice.fire.fire import (
    OBSTRUCTION_RULE,
    BaseFire,
    FireOption,
    fire_reading,
    zone_ahead,
)
from tablecam.rules.maurice.fire.targets import why_never_fires
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.sheets.lines import answer_line, plain_line, question, span_of
from tablecam.rules.reports import Finding, Part, Question
from tablecam.table.formation import base_words
from tablecam.uncertainty.answer import Answer, certain, verdict
from tablecam.uncertainty.lengths import distance

_RANGE_RULE = "M-7.9"


def stop_of(rulings: Rulings, unit: UnitOnField, fire: BaseFire) -> Answer:
    """Returns what stops a base from firing at any unit, as a clause without its subject."""
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
    """A result for one base, at a target or at all: an option, a doubt, or what stops it.

    `answer` is the doubt, of an option too, or what stops the base; `read` is the interpretation
    behind the option.
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
            # Out of range they share it at any distance.
            is_far = self.stop.rule == _RANGE_RULE
            return self.target, _RANGE_RULE if is_far else self.stop.because
        if self.option is None or self.answer is not None:
            return self.target, self.fire.base, self.read
        option = self.option
        return option.target, option.range, option.angle, option.dice, option.modifiers, self.read


def fire_section(rulings: Rulings, unit: UnitOnField) -> Iterator[Part]:
    """Yields the zone of each base and its targets, or why it has none."""
    if (never := why_never_fires(unit)) is not None:
        yield plain_line(f"{unit.id} {never.clause}", never.rule)
        return
    yield from _shared(rulings, unit, _about_all(rulings, unit))
    for place, name in enumerate(unit.unit.base_names):
        zone_to = partial(zone_ahead, rulings.field, unit, place)
        if unit.unit.arm == "artillery":
            yield from shapes_of(zone_to(LONG_BW), "fire-zone", f"{LONG_BW:g} BW")
        yield from shapes_of(zone_to(SHORT_BW), "fire-zone", name)


def pair_fire_section(rulings: Rulings, a: UnitOnField, b: UnitOnField) -> Iterator[Part]:
    """Yields which bases of either unit may fire at the other."""
    for unit, target in ((a, b), (b, a)):
        if (never := why_never_fires(unit)) is not None:
            yield plain_line(f"{unit.id} {never.clause}", never.rule)
        else:
            yield from _shared(rulings, unit, _about_one(rulings, unit, target))


def lines_of_bases(
    rulings: Rulings, unit: UnitOnField, target: UnitOnField | None = None
) -> Iterator[Finding]:
    """Yields a line per base, to answer about one of several that share a line."""
    if why_never_fires(unit) is None and (target is None or target.side != unit.side):
        results = _about_all(rulings, unit) if target is None else _about_one(rulings, unit, target)
        yield from (_line(rulings, unit, [result]) for result in results)


def _about_all(rulings: Rulings, unit: UnitOnField) -> Iterator[_BaseResult]:
    """Yields, per base, all units that it may fire at, or why there are none."""
    for fire in rulings.units[unit.id].fire.values():
        results = [_option_result(rulings, unit, fire, option) for option in fire.options]
        named = {result.target for result in results}
        for doubt in fire.close_calls:
            other = None if doubt.about is None else rulings.field.by_id[doubt.about]
            if other is not None and other not in named:
                named.add(other)
                results.append(_BaseResult(fire, other, answer=doubt))
        yield from results or [_BaseResult(fire, None, answer=stop_of(rulings, unit, fire))]


def _about_one(rulings: Rulings, unit: UnitOnField, target: UnitOnField) -> Iterator[_BaseResult]:
    """Yields, per base, whether it may fire at one unit, and why not."""
    for fire in rulings.units[unit.id].fire.values():
        hits = [option for option in fire.options if option.target == target.id]
        # An uncertain answer is shown with its probability.
        doubt = next((answer for answer in fire.answers if answer.about == target.id), None)
        if hits:
            yield from (_option_result(rulings, unit, fire, option) for option in hits)
        elif doubt is not None:
            yield _BaseResult(fire, target, answer=doubt)
        else:
            yield _BaseResult(fire, target, answer=stop_at(rulings, unit, fire, target))


def _option_result(
    rulings: Rulings, unit: UnitOnField, fire: BaseFire, option: FireOption
) -> _BaseResult:
    target = rulings.field.by_id[option.target]
    doubt = next((doubt for doubt in fire.close_calls if doubt.about == target.id), None)
    return _BaseResult(fire, target, option, doubt, fire_reading(rulings.field, unit, option))


def _shared(
    rulings: Rulings, unit: UnitOnField, results: Iterable[_BaseResult]
) -> Iterator[Finding]:
    """Yields one line for all bases with the same result, ordered by the first of them."""
    groups: dict[Hashable, list[_BaseResult]] = {}
    for result in results:
        groups.setdefault(result.alike, []).append(result)
    yield from (_line(rulings, unit, bases) for bases in groups.values())


def _line(rulings: Rulings, unit: UnitOnField, bases: Sequence[_BaseResult]) -> Finding:
    """Returns the line of bases with the same result."""
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
    """Returns the line of bases that may fire at a target in the same way."""
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
    """Returns all shapes, each once."""
    return tuple(dict.fromkeys(shape for shapes in drawn for shape in shapes))
