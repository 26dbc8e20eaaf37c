"""Rules for every move by hand: whole units, in formation, that end on free ground."""

from __future__ import annotations

import math
from dataclasses import dataclass

import shapely

from tablecam.rules.game import Ban
from tablecam.rules.miniatures.battle import Bases
from tablecam.rules.miniatures.ground import Ground, area_of, footprints, overlaps
from tablecam.table.headings import difference_deg
from tablecam.table.model import Unit
from tablecam.table.motion import HAND_DEG, HAND_MM
from tablecam.wording import proper_name


@dataclass(frozen=True, slots=True)
class MoveLaw:
    """A book's rules on a unit's number of bases, and on ending on free ground of the table."""

    bases: str
    table: str
    upon: str
    impassable: str

    def ban_on_count(self, unit: Unit, bases: Bases) -> Ban | None:
        """Returns why some bases are not all those of a unit."""
        return None if len(bases) == len(unit.bases) else Ban(self.bases, "lacks a base")

    def ban_on_end(self, ground: Ground, unit: Unit, bases: Bases) -> Ban | None:
        """Returns why a unit may not end where some bases lie."""
        if ban := self.ban_on_count(unit, bases):
            return ban
        end = footprints(bases)
        if not ground.on_table(end):
            return Ban(self.table, "would leave the table")
        other = ground.upon(end, unit.id)
        return None if other is None else Ban(self.upon, f"would lie on {other}")

    def ban_on_way(self, ground: Ground, area: shapely.Geometry) -> Ban | None:
        """Returns why a unit may not sweep an area: impassable terrain."""
        for piece in ground.position.terrain:
            if piece.extra.get("impassable") and overlaps(area, area_of(piece)):
                return Ban(self.impassable, f"cannot enter {proper_name(piece.id)}")
        return None


def lie_as_meant(bases: Bases, meant: Bases, *, hand_mm: float = HAND_MM) -> bool:
    """Whether each base lies and faces as it is meant to, as well as hands can lay it."""
    return all(
        math.dist(base.place_mm, there.place_mm) <= hand_mm + 3 * base.sigma_mm
        and faces_as_meant(base.heading_deg, there.heading_deg, base.sigma_deg)
        for base, there in zip(bases, meant, strict=True)
    )


def faces_as_meant(heading_deg: float, meant_deg: float, sigma_deg: float) -> bool:
    """Whether a base faces as it is meant to, as well as hands can turn it."""
    return abs(difference_deg(heading_deg, meant_deg)) <= HAND_DEG + 3 * sigma_deg
