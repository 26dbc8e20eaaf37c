"""What a base may shoot at: one option for each unit, its number to hit, and why (M-7.20 on)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.geometry.sight import what_is_between
from tablecam.rules.maurice.field.tables import CANISTER_DICE, TO_HIT
from tablecam.rules.maurice.fire.cover import Aim, best_aim
from tablecam.rules.maurice.fire.shooter import Other, Shooter
from tablecam.rules.maurice.fire.zone import Met
from tablecam.table.headings import forward


@dataclass(frozen=True, eq=False)
class Sketch:
    """What is needed to draw a shot; the shapes are made only when somebody looks, and kept.

    The zone is turned by `turned_deg`, ends at `end_mm` and meets the target `distance_mm` along
    its axis; `past` is a line that reaches the target past all cover.
    """

    shooter: Shooter
    target: Other
    turned_deg: float
    end_mm: float
    distance_mm: float
    has_cover: bool = False
    past: shapely.LineString | None = None

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """The zone, the base that it meets, the range along its axis, and the cover."""
        strip = self.shooter.strip
        zone = strip.outline(self.turned_deg, self.end_mm)
        axis = strip.axis(self.turned_deg, self.distance_mm)
        drawn = shapes_of(zone, "fire-zone")
        drawn += shapes_of(self.target.outline, "target", self.target.name)
        length_bw = shapely.length(axis) / self.shooter.bw_mm
        drawn += shapes_of(axis, "range", f"{length_bw:.2f} BW")
        if self.has_cover:
            drawn += shapes_of(shapely.intersection(self.shooter.cover, zone), "cover")
        elif self.past is not None:
            drawn += shapes_of(self.past, "line-of-fire", "past the cover")
        return drawn


Range = Literal["short", "long"]
Angle = Literal["ahead", "left", "right"]

_EASIEST, _HARDEST = 2, 6
"""A natural 1 always misses, a natural 6 always hits (M-7.23)."""
_LENGTH_PLACES = 4


class Sure(Protocol):
    """What tells how likely a base may shoot a unit."""

    def probability(self, target: str) -> float:
        """How likely it is, of a unit that it may shoot as measured."""


@dataclass(frozen=True, slots=True)
class FireOption:
    """One thing that a base may shoot at: the best way for the shooter to do it.

    `target_base` is the base that its zone meets first when it is turned by `turned_deg`
    (counter-clockwise, so to the left), `distance_mm` along the zone's axis; `to_hit` is the
    number needed on each of `dice`. `sure` tells how likely it may be shot at, where errors count.
    """

    target: str
    target_base: str
    range: Range
    angle: Angle
    turned_deg: float
    distance_mm: float
    dice: int
    to_hit: int
    has_cover: bool
    is_enfilade: bool
    is_dense: bool
    because: str
    sketch: Sketch = field(compare=False)
    sure: Sure | None = field(default=None, compare=False, repr=False)

    @property
    def probability(self) -> float:
        """That it may be shot at, given what is known of where bases lie: 1 where that is sure."""
        return 1.0 if self.sure is None else self.sure.probability(self.target)

    @property
    def evidence(self) -> tuple[Shape, ...]:
        """The shapes that show why, drawn when they are asked for."""
        return self.sketch.shapes

    def to_json(self) -> dict[str, Any]:
        """The option as rulings carry it."""
        told = {
            "target": self.target,
            "target_base": self.target_base,
            "range": self.range,
            "angle": self.angle,
            "turned_deg": round(self.turned_deg, _LENGTH_PLACES),
            "distance_mm": round(self.distance_mm, _LENGTH_PLACES),
            "dice": self.dice,
            "to_hit": self.to_hit,
            "cover": self.has_cover,
            "enfilade": self.is_enfilade,
            "dense": self.is_dense,
            "because": self.because,
            "evidence": [shape.to_json() for shape in self.evidence],
        }
        probability = self.probability
        if probability < 1.0:
            told["probability"] = round(probability, _LENGTH_PLACES)
        return told


@dataclass(frozen=True, slots=True, eq=False)
class Hit:
    """A base that can be hit: the one at `place` among those met, at some of the angles there."""

    base: Shooter
    met: Met
    place: int
    at: NDArray[np.intp]

    @property
    def other(self) -> Other:
        """The base that is hit."""
        return self.met.others[self.place]


def options(asked: Sequence[tuple[Shooter, Met]], wanted: Range) -> list[tuple[FireOption, ...]]:
    """The best option of each base against each unit that it can hit at a range."""
    hits = [_hits(base, met, wanted) for base, met in asked]
    covers = iter(_covers([hit for each in hits for hit in each]))
    return [_best([_option(hit, wanted, next(covers)) for hit in each]) for each in hits]


def _hits(base: Shooter, met: Met, wanted: Range) -> list[Hit]:
    can_hit = met.can_hit
    if not can_hit.any():
        return []
    is_short = met.ranges_mm <= base.short_mm + EXACT_MM
    can_hit &= is_short if wanted == "short" else ~is_short
    places = np.flatnonzero(can_hit.any(axis=0)).tolist()
    return [Hit(base, met, place, np.flatnonzero(can_hit[:, place])) for place in places]


def _covers(hits: Sequence[Hit]) -> list[shapely.Geometry]:
    """What covers between each base and the one it hits; mostly nothing."""
    found: list[shapely.Geometry] = [shapely.Polygon()] * len(hits)
    edges = {id(hit.base): hit.base.edge for hit in hits}
    for cover in {id(hit.base.cover): hit.base.cover for hit in hits}.values():
        at = [place for place, hit in enumerate(hits) if hit.base.cover is cover]
        sights = [(edges[id(hits[place].base)], hits[place].other.outline) for place in at]
        for place, between in zip(at, what_is_between(sights, cover), strict=True):
            found[place] = between
    return found


def _best(found: Sequence[FireOption]) -> tuple[FireOption, ...]:
    """The best option against each unit, by the units' names."""
    best: dict[str, FireOption] = {}
    for option in found:
        known = best.get(option.target)
        if known is None or _order(option) < _order(known):
            best[option.target] = option
    return tuple(best[target] for target in sorted(best))


def _order(option: FireOption) -> tuple[float, ...]:
    """Better options for the shooter first; of equal ones the nearer, then the less turned."""
    return (option.to_hit, option.distance_mm, abs(option.turned_deg))


def _option(hit: Hit, wanted: Range, cover: shapely.Geometry) -> FireOption:
    base, other, met = hit.base, hit.other, hit.met
    aim = best_aim(base, other, met, hit.at, cover)
    turned_deg = float(met.turns_deg[aim.at])
    distance_mm = float(met.ranges_mm[aim.at, hit.place])
    dense = other.unit.formation in ("column", "massed")
    enfilade = ahead_of_front_mm(base, other) <= EXACT_MM
    modifiers = (
        ("dense target", 1, dense, "M-7.21"),
        ("enfilade", 1, enfilade, "M-7.22"),
        ("disrupted shooter", -1, base.unit.is_disrupted, "M-7.24"),
        ("cover", -1, aim.has_cover, "M-7.24"),
    )
    sum_of_modifiers = sum(value for _, value, applies, _ in modifiers if applies)
    to_hit = min(_HARDEST, max(_EASIEST, TO_HIT - sum_of_modifiers))
    angle: Angle = "ahead" if turned_deg == 0 else "left" if turned_deg > 0 else "right"
    return FireOption(
        target=other.unit.id,
        target_base=other.name,
        range=wanted,
        angle=angle,
        turned_deg=turned_deg,
        distance_mm=distance_mm,
        dice=CANISTER_DICE if base.is_gun and wanted == "short" else 1,
        to_hit=to_hit,
        has_cover=aim.has_cover,
        is_enfilade=enfilade,
        is_dense=dense,
        because=_because(base, other, turned_deg, distance_mm, to_hit, modifiers),
        sketch=_sketch(hit, aim),
    )


def ahead_of_front_mm(base: Shooter, other: Other) -> float:
    """How far a shooting base reaches ahead of the front line of the base that it hits (M-7.22)."""
    pose, target = base.pose, other.pose
    x, y = forward(target.heading_deg)
    ahead_x, ahead_y = forward(pose.heading_deg)
    # What its half depth and half width reach ahead, whichever way about it lies.
    deep = abs(x * ahead_x + y * ahead_y) * pose.depth_mm
    wide = abs(x * ahead_y - y * ahead_x) * pose.width_mm
    middle_mm = (pose.x_mm - target.x_mm) * x + (pose.y_mm - target.y_mm) * y
    return middle_mm + (deep + wide - target.depth_mm) / 2


def _because(
    base: Shooter,
    other: Other,
    turned_deg: float,
    distance_mm: float,
    to_hit: int,
    modifiers: Sequence[tuple[str, int, bool, str]],
) -> str:
    turned = "straight ahead"
    if turned_deg:
        turned = f"turned {abs(turned_deg):.1f} degrees {'left' if turned_deg > 0 else 'right'}"
    met = (
        f"{turned} its zone first meets base {other.name} of {other.unit.id}, "
        f"{distance_mm / base.bw_mm:.2f} BW on"
    )
    named = [f"{value:+d} {name} ({rule})" for name, value, applies, rule in modifiers if applies]
    return f"{met}: {TO_HIT}+" + (f" with {', '.join(named)} is {to_hit}+" if named else "")


def _sketch(hit: Hit, aim: Aim) -> Sketch:
    met = hit.met
    return Sketch(
        hit.base,
        hit.other,
        float(met.turns_deg[aim.at]),
        float(met.ends_mm[aim.at]),
        float(met.ranges_mm[aim.at, hit.place]),
        has_cover=aim.has_cover,
        past=aim.past,
    )
