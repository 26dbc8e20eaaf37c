"""Merges a position's terrain into areas by effect: difficult, cover, obstructing ... (M-5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import lru_cache

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.outlines import GRID_MM
from tablecam.rules.maurice.field.tables import KINDS, SLIVER_MM, Kind
from tablecam.table.model import Terrain
from tablecam.wording import joined, proper_name


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of terrain with the effects of its kind and its outline."""

    terrain: Terrain
    kind: Kind
    outline: shapely.Geometry


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """All terrain of a table, as one area (a union of outlines) for each effect (M-5.1, G-10).

    `difficult` slows movement and is bad to fight in, `woods` is the part of it that is woods;
    `cover` and `obstructing` affect fire. Bridges are cut out of `difficult`, `woods` and `water`
    (M-5.6). No unit enters `barred`: all impassable ground, and more after `with_difficult_barred`.
    """

    pieces: tuple[Piece, ...]
    difficult: shapely.Geometry
    woods: shapely.Geometry
    water: shapely.Geometry
    cover: shapely.Geometry
    obstructing: shapely.Geometry
    impassable: shapely.Geometry
    barred: shapely.Geometry
    crests: shapely.Geometry

    @classmethod
    def of(cls, terrain: Iterable[Terrain]) -> Ground:
        """Builds the ground from terrain of known kinds (`field_of` checks them)."""
        pieces = tuple(Piece(entry, KINDS[entry.kind], _outline(entry)) for entry in terrain)
        # The effects are the flags of the kinds, and two kinds by name.
        outlines_of = {
            key: [
                piece.outline
                for piece in pieces
                if getattr(piece.kind, key, piece.terrain.kind == key)
            ]
            for key in (*(flag.name for flag in fields(Kind)), "woods", "crest")
        }
        areas = {key: _union(outlines) for key, outlines in outlines_of.items()}
        # A bridge cancels difficulty and water beneath it (G-10), but no cover and no bar.
        if outlines_of["bridges"]:
            for key in ("is_difficult", "woods", "is_water"):
                areas[key] = shapely.difference(areas[key], areas["bridges"], grid_size=GRID_MM)
        return cls(
            pieces,
            difficult=areas["is_difficult"],
            woods=areas["woods"],
            water=areas["is_water"],
            cover=areas["is_cover"],
            obstructing=areas["obstructs"],
            impassable=areas["is_impassable"],
            barred=areas["is_impassable"],
            crests=areas["crest"],
        )

    def grown(self, by_mm: float) -> Ground:
        """Returns the ground with everything that bars, hides or protects grown by a length."""
        areas = [self.woods, self.impassable, self.barred, self.crests]
        woods, impassable, barred, crests = shapely.buffer(areas, by_mm, join_style="mitre")
        return replace(self, woods=woods, impassable=impassable, barred=barred, crests=crests)

    def barring_words(self, area: shapely.Geometry) -> str:
        """Names the barred ground that lies in an area."""
        # Where the two merely touch, they share only lines and points, which bar nothing.
        barring = shapely.buffer(shapely.intersection(area, self.barred, grid_size=GRID_MM), 0.0)
        overlapping = [
            piece
            for piece in self.pieces
            if (piece.kind.is_impassable or piece.kind.is_difficult)
            and is_partly_in(barring, piece.outline)
        ]
        impassable = [piece for piece in overlapping if piece.kind.is_impassable]
        names = [proper_name(piece.terrain.id) for piece in impassable or overlapping]
        return f"impassable ground ({joined(names)})" if names else "impassable ground"


@lru_cache(maxsize=16)
def ground_of(terrain: tuple[Terrain, ...]) -> Ground:
    """Returns the ground of terrain of known kinds, the same for equal terrain."""
    return Ground.of(terrain)


@lru_cache(maxsize=16)
def with_difficult_barred(ground: Ground) -> Ground:
    """Returns the ground with difficult terrain barred too (card Rough Going)."""
    barred = shapely.union(ground.impassable, ground.difficult, grid_size=GRID_MM)
    return replace(ground, barred=barred)


def is_partly_in(shape: shapely.Geometry, area: shapely.Geometry) -> bool:
    """Returns whether more than a sliver of a shape lies in an area (G-5)."""
    if not shapely.intersects(shape, area):
        return False
    common = shapely.intersection(shape, area, grid_size=GRID_MM)
    return not are_slivers(np.array([common], dtype=object))[0]


def are_slivers(parts: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Returns which parts (n,) are nowhere deeper than a sliver, so that erosion removes them."""
    return np.asarray(shapely.is_empty(shapely.buffer(parts, -SLIVER_MM / 2)))


def are_partly_in(shapes: NDArray[np.object_], area: shapely.Geometry) -> NDArray[np.bool_]:
    """Applies `is_partly_in` to many shapes (n,) at once."""
    shapely.prepare(area)
    is_in = np.asarray(shapely.intersects(area, shapes))
    # Shapes wholly inside skip the intersection, which is slow.
    at_edge = np.flatnonzero(is_in)
    at_edge = at_edge[~shapely.contains(area, shapes[at_edge])]
    common = shapely.intersection(shapes[at_edge], area, grid_size=GRID_MM)
    is_in[at_edge] = ~are_slivers(common)
    return is_in


def _outline(terrain: Terrain) -> shapely.Geometry:
    # A buffer of 0 drops stray lines and points that `make_valid` may leave: only areas count.
    return shapely.buffer(shapely.make_valid(shapely.Polygon(terrain.outline_mm)), 0.0)


def _union(outlines: list[shapely.Geometry]) -> shapely.Geometry:
    return shapely.union_all(outlines, grid_size=GRID_MM) if outlines else shapely.Polygon()
