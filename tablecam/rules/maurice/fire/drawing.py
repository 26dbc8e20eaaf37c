"""What shows a shot: its zone, whom it meets and how far along, and what covers him or does not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import shapely

from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.fire.shooter import Other, Shooter


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
