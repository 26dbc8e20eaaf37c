"""Sheets on fire: each base's zone, whom it may shoot, at what number, and what stops it (M-7).

Bases of which the same is to be said share a line, and a question.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import shapely

from tablecam.geometry.outlines import axes
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.geometry.zones import strip_before
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import LONG_BW, PAST_OBSTRUCTION_BW, SHORT_BW, ZONE_BW
from tablecam.rules.maurice.fire.fire import BaseFire, FireOption
from tablecam.rules.maurice.rulings.ruled import Rulings
from tablecam.rules.maurice.sheets.lines import (
    counted,
    line_of,
    listed,
    names_of,
    plain,
    question,
    span_of,
    told,
)
from tablecam.rules.sheets import Line, Question, Section
from tablecam.uncertainty.answer import Answer
from tablecam.uncertainty.lengths import distance

_RANGE_RULE: Final = "M-7.9"


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a base may not shoot, or not shoot one unit.

    `of_one` is a clause about one base, `of_many` about several that are stopped by the same;
    `margin_mm` is 0 or less, and 0 where no distance decides.
    """

    rule: str
    of_one: str
    of_many: str
    margin_mm: float
    sigma_mm: float = 0.0
    evidence: tuple[Shape, ...] = ()

    @property
    def alike(self) -> tuple[str, str]:
        """The same for all bases that the same stops, however far out of range each is."""
        return self.rule, "" if self.rule == _RANGE_RULE else self.of_many


def stop_of(found: Rulings, unit: UnitOnField, fire: BaseFire) -> Stop:
    """What stops a base from shooting anyone."""
    if fire.blocked is None:
        return _no_target(found, unit, fire)
    known: dict[str, Callable[[Rulings, UnitOnField, BaseFire], Stop]] = {
        "friend": _friend,
        "water": _water,
        "woods": _woods,
        "obstruction": _obstruction,
    }
    return known.get(fire.blocked, _no_target)(found, unit, fire)


def stop_at(found: Rulings, unit: UnitOnField, fire: BaseFire, target: UnitOnField) -> Stop:
    """What stops a base from shooting one unit."""
    length = distance(unit.unit.bases[place_of(unit, fire)], target.unit)
    off_bw, limit_bw = found.field.in_bw(length.value_mm), _longest_bw(unit)
    margin_mm = limit_bw * found.field.bw_mm - length.value_mm
    drawn = (length.evidence(f"{off_bw:.2f} BW"),)
    if margin_mm < 0:
        said = f"it lies {off_bw:.2f} BW off"
        beyond = f", beyond {limit_bw:g} BW"
        return Stop(
            _RANGE_RULE, said + beyond, f"{said} or more{beyond}", margin_mm, length.sigma_mm, drawn
        )
    if fire.options and all(option.angle == "ahead" for option in fire.options):
        ahead = ", ".join(option.target for option in fire.options)
        must = f"straight ahead, {ahead}, and must take that"
        return Stop(
            "M-7.12", f"it has a target {must}", f"each has a target {must}", 0.0, 0.0, drawn
        )
    if fire.options:
        one = "its zone, however it is turned, meets others first or does not reach it"
        many = "their zones, however they are turned, meet others first or do not reach it"
        return Stop("M-7.12", one, many, 0.0, 0.0, drawn)
    return stop_of(found, unit, fire)


def zone_of(found: Rulings, unit: UnitOnField, place: int, range_bw: float) -> shapely.Geometry:
    """The zone of a base straight ahead (M-7.11)."""
    bw_mm = found.field.bw_mm
    strip = strip_before(axes(unit.unit.bases[place]), ZONE_BW * bw_mm)
    return strip.outline(0.0, range_bw * bw_mm)


def place_of(unit: UnitOnField, fire: BaseFire) -> int:
    """The place of a base in its unit's list."""
    names = [unit.unit.base_name(place) for place in range(len(unit.bases))]
    return names.index(fire.base)


def _friend(found: Rulings, unit: UnitOnField, fire: BaseFire) -> Stop:
    place = place_of(unit, fire)
    zone = zone_of(found, unit, place, SHORT_BW)
    friends = [each for each in found.field.friends_of(unit) if is_partly_in(each.outline, zone)]
    if not friends:  # it is met only where the zone is turned
        said = "a friend stands before the enemy"
        return Stop("M-7.15", said, said, 0.0, 0.0, shapes_of(zone, "fire-zone"))
    first = min(friends, key=lambda each: shapely.distance(each.outline, unit.bases[place]))
    drawn = (*shapes_of(zone, "fire-zone"), *_common(first.outline, zone, "friend"))
    stands = f"{first.id} stands before the enemy in"
    depth_mm = _depth_mm(first.outline, zone)
    return Stop("M-7.15", f"{stands} its zone", f"{stands} their zones", -depth_mm, 0.0, drawn)


def _water(found: Rulings, unit: UnitOnField, fire: BaseFire) -> Stop:
    base, water = unit.bases[place_of(unit, fire)], found.field.ground.water
    drawn = _common(base, water, "cover")
    depth_mm = _depth_mm(base, water)
    return Stop("M-7.6", "it stands in water", "they stand in water", -depth_mm, 0.0, drawn)


def _woods(found: Rulings, unit: UnitOnField, fire: BaseFire) -> Stop:
    base, woods = unit.bases[place_of(unit, fire)], found.field.ground.woods
    said = "it is artillery in woods"
    return Stop("M-7.6", said, said, -_depth_mm(base, woods), 0.0, _common(base, woods, "cover"))


def _obstruction(found: Rulings, unit: UnitOnField, fire: BaseFire) -> Stop:
    zone = zone_of(found, unit, place_of(unit, fire), SHORT_BW)
    terrain = _common(found.field.ground.obstructing, zone, "cover")
    return Stop(
        "M-7.17",
        "terrain ends its zone before it reaches any enemy",
        "terrain ends their zones before they reach any enemy",
        0.0,
        0.0,
        (*shapes_of(zone, "fire-zone"), *terrain),
    )


def _no_target(found: Rulings, unit: UnitOnField, fire: BaseFire) -> Stop:
    zone = zone_of(found, unit, place_of(unit, fire), SHORT_BW)
    said = f"no enemy lies within {_longest_bw(unit):g} BW and 45° of straight ahead"
    return Stop("M-7.12", said, said, 0.0, 0.0, shapes_of(zone, "fire-zone", f"{SHORT_BW:g} BW"))


def _longest_bw(unit: UnitOnField) -> float:
    return LONG_BW if unit.unit.arm == "artillery" else SHORT_BW


def _common(shape: shapely.Geometry, zone: shapely.Geometry, role: str) -> tuple[Shape, ...]:
    return shapes_of(shapely.intersection(shape, zone), role)


def _depth_mm(shape: shapely.Geometry, area: shapely.Geometry) -> float:
    """How deep a shape reaches into an area: as wide as the widest circle in what they share."""
    parts = shapely.get_parts(shapely.intersection(shape, area)).tolist()
    areas = [part for part in parts if isinstance(part, shapely.Polygon)]
    radii_mm = [shapely.length(shapely.maximum_inscribed_circle(part)) for part in areas]
    return 2.0 * float(max(radii_mm, default=0.0))


_TITLE = "Fire"


@dataclass(frozen=True, slots=True)
class _Told:
    """What is told of one base about a target, or about all: an option, a doubt, or a stop."""

    fire: BaseFire
    target: UnitOnField | None
    option: FireOption | None = None
    doubt: Answer | None = None
    stop: Stop | None = None
    read: str | None = None

    @property
    def alike(self) -> Hashable:
        """What is the same for bases that one line tells of; what is doubtful is told by itself."""
        if self.doubt is not None or self.option is None:
            stopped = None if self.stop is None else self.stop.alike
            return self.target, None if self.doubt is None else self.fire.base, stopped, self.read
        option = self.option
        counts = (option.has_cover, option.is_enfilade, option.is_dense, option.to_hit)
        return option.target, option.range, option.angle, option.dice, counts, self.read


def fire_section(found: Rulings, unit: UnitOnField) -> Section:
    """The zone of each base, and what it may shoot, or why nothing."""
    never = _why_never(unit)
    if never is not None:
        return Section("fire", _TITLE, (never,))
    lines = _shared(found, unit, _about_all(found, unit))
    return Section("fire", _TITLE, tuple(lines), tuple(_zones(found, unit)))


def pair_fire_section(found: Rulings, a: UnitOnField, b: UnitOnField) -> Section:
    """Which bases of either may shoot the other."""
    if a.side == b.side:
        return Section("fire", _TITLE, (plain(f"{a.id} and {b.id} are of one side", "M-7.13"),))
    lines = (*_pair_lines(found, a, b), *_pair_lines(found, b, a))
    return Section("fire", _TITLE, lines)


def lines_of_bases(
    found: Rulings, unit: UnitOnField, target: UnitOnField | None = None
) -> Iterator[Line]:
    """The same of each base by itself, for who asks about one of several that share a line."""
    if _why_never(unit) is None and (target is None or target.side != unit.side):
        each_told = _about_all(found, unit) if target is None else _about_one(found, unit, target)
        for each in each_told:
            yield _line(found, unit, [each])


def _pair_lines(found: Rulings, unit: UnitOnField, target: UnitOnField) -> Iterator[Line]:
    never = _why_never(unit)
    if never is not None:
        yield never
    else:
        yield from _shared(found, unit, _about_one(found, unit, target))


def _about_all(found: Rulings, unit: UnitOnField) -> Iterator[_Told]:
    """Of each base everyone whom it may shoot, or why it may shoot nobody."""
    for fire in found.units[unit.id].fire.values():
        told_of = [_of_option(found, unit, fire, option) for option in fire.options]
        named = {each.target for each in told_of}
        for doubt in fire.doubts:
            other = None if doubt.about is None else found.field.by_id[doubt.about]
            if other is not None and other not in named:
                named.add(other)
                told_of.append(_Told(fire, other, doubt=doubt))
        yield from told_of or [_of_stop(fire, None, stop_of(found, unit, fire))]


def _about_one(found: Rulings, unit: UnitOnField, target: UnitOnField) -> Iterator[_Told]:
    """Of each base whether it may shoot one unit, and why not."""
    for fire in found.units[unit.id].fire.values():
        hits = [option for option in fire.options if option.target == target.id]
        # What is answered, but not for certain, is told with its probability.
        doubt = next((each for each in fire.answers if each.about == target.id), None)
        if hits:
            yield from (_of_option(found, unit, fire, option) for option in hits)
        elif doubt is not None:
            yield _Told(fire, target, doubt=doubt)
        else:
            yield _of_stop(fire, target, stop_at(found, unit, fire, target))


def _of_option(found: Rulings, unit: UnitOnField, fire: BaseFire, option: FireOption) -> _Told:
    target = found.field.by_id[option.target]
    doubt = _doubt(fire, target)
    return _Told(fire, target, option, doubt, read=_reading(found, unit, option))


def _of_stop(fire: BaseFire, target: UnitOnField | None, stop: Stop) -> _Told:
    return _Told(fire, target, stop=stop, read="M-7.17" if stop.rule == "M-7.17" else None)


def _shared(found: Rulings, unit: UnitOnField, told_of: Iterable[_Told]) -> Iterator[Line]:
    """One line for all bases of which the same is told, in the order of the first of them."""
    alike: dict[Hashable, list[_Told]] = {}
    for each in told_of:
        alike.setdefault(each.alike, []).append(each)
    for bases in alike.values():
        yield _line(found, unit, bases)


def _line(found: Rulings, unit: UnitOnField, bases: Sequence[_Told]) -> Line:
    first = bases[0]
    asked = _asked(unit, bases)
    if first.option is not None:
        return _option_line(found, unit, bases, asked)
    if first.doubt is not None:
        return told(first.doubt, asked)
    return _stop_line(unit, bases, asked)


def _option_line(
    found: Rulings, unit: UnitOnField, bases: Sequence[_Told], asked: Question
) -> Line:
    options = [each.option for each in bases if each.option is not None]
    first = options[0]
    bw = span_of((found.field.in_bw(option.distance_mm) for option in options), places=2)
    angle = "straight ahead"
    if first.angle != "ahead":
        turned = span_of((abs(option.turned_deg) for option in options), unit="°")
        angle = f"turned {turned} to the {first.angle}"
    dice = counted(first.dice, "die", "dice") + " each" * (len(options) > 1)
    text = (
        f"{_subject(unit, bases)} may shoot {first.target}: {first.range} range ({bw} BW), "
        f"{angle}, {dice}, hits on {first.to_hit}+{_why(unit, first)}"
    )
    doubt = bases[0].doubt
    if doubt is not None:
        return told(doubt, asked, text=f"{text}; but {doubt.because}", read=bases[0].read)
    limit_mm = (SHORT_BW if first.range == "short" else LONG_BW) * found.field.bw_mm
    farthest = max(options, key=lambda option: option.distance_mm)
    answer = listed(
        "M-7.12",
        "; ".join(f"base {each.fire.base}: {each.option.because}" for each in bases if each.option),
        margin_mm=limit_mm - farthest.distance_mm,
        sigma_mm=found.apart.sigma_mm(unit.id, first.target),
        chance=min(option.probability for option in options),
        evidence=_evidence(option.evidence for option in options),
    )
    return told(answer, asked, text=text, read=bases[0].read)


def _stop_line(unit: UnitOnField, bases: Sequence[_Told], asked: Question) -> Line:
    """Why some bases may not shoot, or not shoot one unit: of several the nearest tells."""
    stops = [each.stop for each in bases if each.stop is not None]
    nearest = max(stops, key=lambda stop: stop.margin_mm)
    target = bases[0].target
    at = "fire" if target is None else f"shoot {target.id}"
    why = nearest.of_one if len(stops) == 1 else nearest.of_many
    answer = listed(
        nearest.rule,
        f"{_subject(unit, bases)} may not {at}: {why}",
        margin_mm=nearest.margin_mm,
        sigma_mm=nearest.sigma_mm,
        chance=0.0,
        evidence=_evidence(stop.evidence for stop in stops),
    )
    return told(answer, asked, read=bases[0].read)


def _subject(unit: UnitOnField, bases: Sequence[_Told]) -> str:
    """Some bases of a unit, as a sentence begins.

    Of a unit with one base, and of all bases, it is the unit that shoots.
    """
    if len(bases) == len(unit.bases):
        return unit.id if len(bases) == 1 else f"All {len(bases)} bases of {unit.id}"
    return f"Base{'s' * (len(bases) > 1)} {names_of(each.fire.base for each in bases)}"


def _asked(unit: UnitOnField, bases: Sequence[_Told]) -> Question:
    names = [each.fire.base for each in bases]
    target = bases[0].target
    whose = f"base{'s' * (len(names) > 1)} {names_of(names)} of {unit.id}"
    if len(names) == len(unit.bases):
        whose = unit.id if len(names) == 1 else f"all {len(names)} bases of {unit.id}"
    text = f"May {whose} {'fire' if target is None else f'shoot {target.id}'}?"
    at = () if target is None else (target.id,)
    return question(text, "fire", unit.id, ",".join(names), *at)


def _evidence(drawn: Iterable[tuple[Shape, ...]]) -> tuple[Shape, ...]:
    """All that is drawn, each thing once."""
    return tuple(dict.fromkeys(shape for shapes in drawn for shape in shapes))


def _why(unit: UnitOnField, option: FireOption) -> str:
    """What changes the number to hit."""
    counts = (
        (option.is_dense, "+1 dense target"),
        (option.is_enfilade, "+1 enfilade"),
        (unit.is_disrupted, "-1 disrupted shooter"),
        (option.has_cover, "-1 cover"),
    )
    named = ", ".join(words for applies, words in counts if applies)
    return f" ({named})" if named else ""


def _reading(found: Rulings, unit: UnitOnField, option: FireOption) -> str | None:
    """What was decided of a turned zone, or of fire past what obstructs it."""
    axis = [line_of(shape) for shape in option.evidence if shape.role == "range"]
    if any(shapely.intersects(line, found.field.ground.obstructing) for line in axis):
        limit_mm = PAST_OBSTRUCTION_BW * found.field.bw_mm
        is_walled = any(
            piece.kind.is_linear
            and piece.kind.obstructs
            and shapely.dwithin(piece.outline, unit.outline, limit_mm)
            for piece in found.field.ground.pieces
        )
        return "M-7.27" if is_walled else "M-7.17"
    return None if option.angle == "ahead" else "M-7.12"


def _why_never(unit: UnitOnField) -> Line | None:
    """Of units that never fire, whatever lies before them (M-7.7)."""
    if unit.unit.arm == "cavalry":
        return plain(f"{unit.id} is cavalry, which never fires", "M-7.7")
    if unit.formation == "column":
        return plain(f"{unit.id} is in column and may not fire", "M-7.7")
    return None


def _zones(found: Rulings, unit: UnitOnField) -> Iterator[Shape]:
    for place in range(len(unit.bases)):
        name = unit.unit.base_name(place)
        if unit.unit.arm == "artillery":
            yield from shapes_of(zone_of(found, unit, place, LONG_BW), "fire-zone", "24 BW")
        yield from shapes_of(zone_of(found, unit, place, SHORT_BW), "fire-zone", name)


def _doubt(fire: BaseFire, target: UnitOnField) -> Answer | None:
    return next((each for each in fire.doubts if each.about == target.id), None)
