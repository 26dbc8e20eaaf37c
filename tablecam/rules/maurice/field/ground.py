"""The terrain of a position by what it does (M-5): where ground is difficult, covers, hides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.geometry.outlines import GRID_MM
from tablecam.rules.maurice.field.tables import KINDS, SLIVER_MM, Kind
from tablecam.table.model import Terrain


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of terrain: its entry, what its kind does, and its outline."""

    terrain: Terrain
    kind: Kind
    outline: shapely.Geometry


@dataclass(frozen=True, slots=True)
class Ground:
    """All terrain of a table. The areas are unions of outlines, bridges taken away (M-5.6, G-10).

    `difficult` is difficult to move over and bad to fight in, `woods` the part of it that is
    woods; `cover` and `obstructing` are where terrain covers and obstructs fire (M-5.1). Nobody
    moves over what is `barred`: all that is impassable, and now and then more (`closed`).
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
        """The terrain of a position; all kinds are known (`field.py` sees to it)."""
        pieces = tuple(Piece(each, KINDS[each.kind], _outline(each)) for each in terrain)
        bridges = _union(pieces, lambda piece: piece.kind.bridges)

        def area(does: Callable[[Piece], bool]) -> shapely.Geometry:
            whole = _union(pieces, does)
            if shapely.is_empty(bridges):
                return whole
            return shapely.difference(whole, bridges, grid_size=GRID_MM)

        impassable = _union(pieces, lambda piece: piece.kind.is_impassable)
        cover = _union(pieces, lambda piece: piece.kind.is_cover)
        # Today the same kinds do both.
        alike = all(piece.kind.is_cover == piece.kind.obstructs for piece in pieces)
        return cls(
            pieces,
            difficult=area(lambda piece: piece.kind.is_difficult),
            woods=area(lambda piece: piece.terrain.kind == "woods"),
            water=area(lambda piece: piece.kind.is_water),
            cover=cover,
            obstructing=cover if alike else _union(pieces, lambda piece: piece.kind.obstructs),
            impassable=impassable,
            barred=impassable,
            crests=_union(pieces, lambda piece: piece.terrain.kind == "crest"),
        )

    def closed(self) -> Ground:
        """The same ground where nobody moves over what is difficult, either (Rough Going)."""
        together = shapely.union(self.impassable, self.difficult, grid_size=GRID_MM)
        return replace(self, barred=together)

    def of_kind(self, *kinds: str) -> tuple[Piece, ...]:
        """The pieces of these kinds."""
        return tuple(piece for piece in self.pieces if piece.terrain.kind in kinds)


def is_partly_in(shape: shapely.Geometry, area: shapely.Geometry) -> bool:
    """Whether any part of a shape lies in an area: more than a sliver of it (G-5)."""
    if not shapely.intersects(shape, area):
        return False
    return not is_sliver(shapely.intersection(shape, area, grid_size=GRID_MM))


def is_sliver(part: shapely.Geometry) -> bool:
    """Whether a part is nowhere as deep as a sliver: eroded by half of one it vanishes (G-5)."""
    return shapely.buffer(part, -SLIVER_MM / 2).is_empty


def are_partly_in(shapes: NDArray[np.object_], area: shapely.Geometry) -> NDArray[np.bool_]:
    """The same of many shapes (n,) at once."""
    shapely.prepare(area)
    found = np.asarray(shapely.intersects(area, shapes))
    # What lies wholly in it need not be cut out of it.
    at_edge = np.flatnonzero(found)
    at_edge = at_edge[~shapely.contains(area, shapes[at_edge])]
    common = shapely.intersection(shapes[at_edge], area, grid_size=GRID_MM)
    found[at_edge] = ~shapely.is_empty(shapely.buffer(common, -SLIVER_MM / 2))
    return found


def _outline(terrain: Terrain) -> shapely.Geometry:
    # Grown by nothing, what is only a line or a point of it is left out: areas alone do anything.
    return shapely.buffer(shapely.make_valid(shapely.Polygon(terrain.outline_mm)), 0.0)


def _union(pieces: Iterable[Piece], does: Callable[[Piece], bool]) -> shapely.Geometry:
    outlines = [piece.outline for piece in pieces if does(piece)]
    return shapely.union_all(outlines, grid_size=GRID_MM) if outlines else shapely.Polygon()
