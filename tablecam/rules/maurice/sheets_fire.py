"""Sheets on fire: each base's zone, whom it may shoot, at what number, and what stops it (M-7)."""

from __future__ import annotations

from collections.abc import Iterator

import shapely

from tablecam.measure.answer import Answer, Shape, shapes_of
from tablecam.measure.lengths import distance
from tablecam.measure.outlines import axes
from tablecam.measure.zones import strip_before
from tablecam.rules.maurice.field import UnitOnField
from tablecam.rules.maurice.fire import BaseFire, FireOption
from tablecam.rules.maurice.ground import is_partly_in
from tablecam.rules.maurice.ruled import Rulings
from tablecam.rules.maurice.sheet_lines import (
    counted,
    line_of,
    listed,
    plain,
    question,
    told,
)
from tablecam.rules.maurice.tables import LONG_BW, PAST_OBSTRUCTION_BW, SHORT_BW, ZONE_BW
from tablecam.rules.sheets import Line, Question, Section

_TITLE = "Fire"


def fire_section(found: Rulings, unit: UnitOnField) -> Section:
    """The zone of each base, and what it may shoot, or why nothing."""
    never = _why_never(unit)
    if never is not None:
        return Section("fire", _TITLE, (never,))
    lines = [
        line for fire in found.units[unit.id].fire.values() for line in _lines(found, unit, fire)
    ]
    return Section("fire", _TITLE, tuple(lines), tuple(_zones(found, unit)))


def pair_fire_section(found: Rulings, a: UnitOnField, b: UnitOnField) -> Section:
    """Which bases of either may shoot the other, base by base."""
    if a.side == b.side:
        return Section("fire", _TITLE, (plain(f"{a.id} and {b.id} are of one side", "M-7.13"),))
    lines = [line for shooter, target in ((a, b), (b, a)) for line in _at(found, shooter, target)]
    return Section("fire", _TITLE, tuple(lines))


def _at(found: Rulings, unit: UnitOnField, target: UnitOnField) -> Iterator[Line]:
    never = _why_never(unit)
    if never is not None:
        yield never
        return
    for fire in found.units[unit.id].fire.values():
        hits = [option for option in fire.options if option.target == target.id]
        for option in hits:
            yield _option_line(found, unit, fire, option)
        if not hits:
            yield _miss_line(found, unit, fire, target)


def _lines(found: Rulings, unit: UnitOnField, fire: BaseFire) -> Iterator[Line]:
    for option in fire.options:
        yield _option_line(found, unit, fire, option)
    told_of = {option.target for option in fire.options}
    for doubt in fire.doubts:
        other = _about(found, unit, doubt)
        if other is not None and other.id not in told_of:
            told_of.add(other.id)
            yield told(doubt, _asked(unit, fire, other))
    if not told_of:
        yield _blocked_line(found, unit, fire)


def _option_line(found: Rulings, unit: UnitOnField, fire: BaseFire, option: FireOption) -> Line:
    target = found.field.by_id[option.target]
    angle = "straight ahead"
    if option.angle != "ahead":
        angle = f"turned {abs(option.turned_deg):.0f}° to the {option.angle}"
    text = (
        f"Base {fire.base} may shoot {option.target}: {option.range} range "
        f"({found.field.in_bw(option.distance_mm):.2f} BW), {angle}, "
        f"{counted(option.dice, 'die', 'dice')}, hits on {option.to_hit}+{_why(unit, option)}"
    )
    read = _reading(found, unit, option)
    asked = _asked(unit, fire, target)
    doubt = next((each for each in fire.doubts if _about(found, unit, each) is target), None)
    if doubt is not None:
        return told(doubt, asked, text=f"{text}; but {doubt.because}", read=read)
    limit_bw = SHORT_BW if option.range == "short" else LONG_BW
    answer = listed(
        "M-7.12",
        option.because,
        margin_mm=limit_bw * found.field.bw_mm - option.distance_mm,
        sigma_mm=found.apart.sigma_mm(unit.id, target.id),
        chance=option.probability,
        evidence=option.evidence,
    )
    return told(answer, asked, text=text, read=read)


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


def _blocked_line(found: Rulings, unit: UnitOnField, fire: BaseFire) -> Line:
    """Why a base has nothing to shoot at."""
    text, rule, depth_mm, evidence = _stop(found, unit, fire)
    asked = question(f"May base {fire.base} of {unit.id} fire?", "fire", unit.id, fire.base)
    answer = listed(rule, text, margin_mm=-depth_mm, chance=0.0, evidence=evidence)
    return told(answer, asked, read="M-7.17" if fire.blocked == "obstruction" else None)


def _miss_line(found: Rulings, unit: UnitOnField, fire: BaseFire, target: UnitOnField) -> Line:
    """Why a base may not shoot one unit."""
    asked = _asked(unit, fire, target)
    doubt = next((each for each in fire.doubts if _about(found, unit, each) is target), None)
    if doubt is not None:
        return told(doubt, asked)
    base = unit.unit.bases[_place(unit, fire)]
    length = distance(base, target.unit)
    limit_bw = LONG_BW if unit.unit.arm == "artillery" else SHORT_BW
    margin_mm = min(0.0, limit_bw * found.field.bw_mm - length.value_mm)
    head = f"base {fire.base} may not shoot {target.id}"
    evidence: tuple[Shape, ...] = (length.evidence(f"{length.in_bw(found.field.bw_mm):.2f} BW"),)
    rule = "M-7.12"
    if margin_mm < 0:
        rule = "M-7.9"
        why = f"it lies {length.in_bw(found.field.bw_mm):.2f} BW off, beyond {limit_bw:g} BW"
    elif fire.options and all(option.angle == "ahead" for option in fire.options):
        others = ", ".join(option.target for option in fire.options)
        why = f"it has a target straight ahead, {others}, and must take that"
    elif fire.options:
        why = "its zone, however it is turned, meets others first or does not reach it"
    else:
        why, rule, depth_mm, evidence = _stop(found, unit, fire)
        margin_mm = -depth_mm
    answer = listed(
        rule,
        f"{head}: {why}",
        margin_mm=margin_mm,
        sigma_mm=length.sigma_mm if margin_mm else 0.0,
        chance=0.0,
        evidence=evidence,
    )
    return told(answer, asked, read="M-7.17" if fire.blocked == "obstruction" else None)


def _stop(
    found: Rulings, unit: UnitOnField, fire: BaseFire
) -> tuple[str, str, float, tuple[Shape, ...]]:
    """What stops a base: in words, by which rule, how deep it is in the way, and its drawing."""
    field, place = found.field, _place(unit, fire)
    zone = _zone(found, unit, place, SHORT_BW)
    if fire.blocked == "friend":
        friends = [each for each in field.friends_of(unit) if is_partly_in(each.outline, zone)]
        names = ", ".join(each.id for each in friends) or "a friend"
        shapes = [shape for each in friends for shape in _common(each.outline, zone, "friend")]
        depth_mm = max((_depth_mm(each.outline, zone) for each in friends), default=0.0)
        said = f"{names} stands before the enemy in the zone of base {fire.base}"
        return said, "M-7.15", depth_mm, (*shapes_of(zone, "fire-zone"), *shapes)
    ground = {
        "water": (field.ground.water, "M-7.6", "stands in water"),
        "woods": (field.ground.woods, "M-7.6", "is artillery in woods"),
    }
    if fire.blocked in ground:
        area, rule, why = ground[fire.blocked]
        base = unit.bases[place]
        drawn = _common(base, area, "cover")
        return f"base {fire.base} may not fire: it {why}", rule, _depth_mm(base, area), drawn
    if fire.blocked == "obstruction":
        drawn = (*shapes_of(zone, "fire-zone"), *_common(field.ground.obstructing, zone, "cover"))
        said = f"terrain ends the zone of base {fire.base} before it reaches any enemy"
        return said, "M-7.17", 0.0, drawn
    limit_bw = LONG_BW if unit.unit.arm == "artillery" else SHORT_BW
    said = f"base {fire.base} has no target within {limit_bw:g} BW and 45° of straight ahead"
    return said, "M-7.12", 0.0, shapes_of(zone, "fire-zone", f"{SHORT_BW:g} BW")


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
            yield from shapes_of(_zone(found, unit, place, LONG_BW), "fire-zone", "24 BW")
        yield from shapes_of(_zone(found, unit, place, SHORT_BW), "fire-zone", name)


def _zone(found: Rulings, unit: UnitOnField, place: int, range_bw: float) -> shapely.Geometry:
    """The zone of a base straight ahead (M-7.11)."""
    bw_mm = found.field.bw_mm
    strip = strip_before(axes(unit.unit.bases[place]), ZONE_BW * bw_mm)
    return strip.outline(0.0, range_bw * bw_mm)


def _place(unit: UnitOnField, fire: BaseFire) -> int:
    names = [unit.unit.base_name(place) for place in range(len(unit.bases))]
    return names.index(fire.base)


def _about(found: Rulings, unit: UnitOnField, doubt: Answer) -> UnitOnField | None:
    """The enemy that a doubt names."""
    words = doubt.because.replace(",", " ").replace(":", " ").replace(";", " ").split()
    return next((each for each in found.field.enemies_of(unit) if each.id in words), None)


def _asked(unit: UnitOnField, fire: BaseFire, target: UnitOnField) -> Question:
    text = f"May base {fire.base} of {unit.id} shoot {target.id}?"
    return question(text, "fire", unit.id, fire.base, target.id)


def _common(shape: shapely.Geometry, zone: shapely.Geometry, role: str) -> tuple[Shape, ...]:
    return shapes_of(shapely.intersection(shape, zone), role)


def _depth_mm(shape: shapely.Geometry, area: shapely.Geometry) -> float:
    """How deep a shape reaches into an area: as wide as the widest circle in what they share."""
    parts = shapely.get_parts(shapely.intersection(shape, area)).tolist()
    areas = [part for part in parts if isinstance(part, shapely.Polygon)]
    radii_mm = [shapely.length(shapely.maximum_inscribed_circle(part)) for part in areas]
    return 2.0 * float(max(radii_mm, default=0.0))
