"""What stops a base from shooting, in words, by which rule, and as a drawing (M-7.6 to M-7.17)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import shapely

from tablecam.geometry.outlines import axes
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.geometry.zones import strip_before
from tablecam.rules.maurice.field.field import UnitOnField
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import LONG_BW, SHORT_BW, ZONE_BW
from tablecam.rules.maurice.fire.fire import BaseFire
from tablecam.rules.maurice.rulings.ruled import Rulings
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
