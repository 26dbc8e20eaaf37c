"""Draws the table as a map from above: the ground and its terrain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
import shapely

from tablecam.drawing.lettering import Words, with_text
from tablecam.drawing.pen import PAPER, Array, Colour, Pen, Picture, points_of
from tablecam.table.model import TableSize, Terrain

_GROUND: Final[Colour] = (214, 232, 224)
_EDGE: Final[Colour] = (113, 131, 138)
_KINDS: Final[dict[str, Colour]] = {
    **dict.fromkeys(("woods", "wood", "forest"), (132, 172, 140)),
    **dict.fromkeys(("hill", "hills", "high-ground"), (150, 192, 208)),
    **dict.fromkeys(("water", "river", "stream", "lake", "marsh"), (206, 180, 142)),
    **dict.fromkeys(("town", "village", "built-up", "impassable"), (150, 160, 176)),
    **dict.fromkeys(("wall", "bridge"), (150, 160, 176)),
    "road": (172, 196, 208),
    "field": (186, 222, 224),
}
"""Colours by the game's word for a kind of terrain; any other kind is grey."""
_UNNAMED: Final = frozenset({"road", "stream", "river", "bridge", "wall", "field"})
"""Kinds of terrain whose pieces are not labelled."""
_OTHER: Final[Colour] = (176, 186, 186)
_SOFT: Final[Colour] = (82, 96, 92)
_NAME: Final = 17.0
_UNITS_ACROSS: Final = 1000.0


@dataclass(frozen=True, slots=True)
class MapView:
    """The projection of a table, y upwards, as large as fits into the middle of a picture."""

    table: TableSize
    width_px: int
    height_px: int

    @property
    def px_per_mm(self) -> float:
        """The scale of the map."""
        return min(self.width_px / self.table.width_mm, self.height_px / self.table.depth_mm)

    def pixels(self, places_mm: Array, *, level_with_mm: Array | None = None) -> Array:
        """Projects table places (n, 2) to pixels (n, 2); height does not matter from above."""
        left_px, low_px = self._corner_px()
        x_px = left_px + places_mm[:, 0] * self.px_per_mm
        y_px = low_px - places_mm[:, 1] * self.px_per_mm
        # Pixel centres have whole coordinates.
        return np.stack([x_px, y_px], axis=-1) - 0.5

    def outlines(self, geometry: shapely.Geometry) -> list[Array]:
        """Clips a geometry to the table; returns each part as pixels (n, 2)."""
        table = shapely.box(0, 0, self.table.width_mm, self.table.depth_mm)
        # Outlines that cross themselves cannot be intersected.
        clipped = shapely.intersection(shapely.make_valid(geometry), table)
        return [self.pixels(points_of(part)) for part in shapely.get_parts(clipped) if part]

    def ground(self, terrain: Iterable[Terrain]) -> Picture:
        """Draws the map without units, (height, width, 3), with named terrain."""
        picture = np.full((self.height_px, self.width_px, 3), PAPER, dtype=np.uint8)
        pen = Pen(picture, max(self.width_px, self.height_px) / _UNITS_ACROSS)
        table = shapely.box(0, 0, self.table.width_mm, self.table.depth_mm)
        for outline_px in self.outlines(table):
            pen.area(outline_px, _GROUND)
            pen.lines(outline_px, _EDGE, closed=True, casing=None)
        names = []
        for piece in terrain:
            for outline_px in self.outlines(shapely.Polygon(piece.outline_mm)):
                pen.area(outline_px, _KINDS.get(piece.kind, _OTHER))
                pen.lines(outline_px, _EDGE, width=1.0, closed=True, casing=None)
            if piece.kind in _UNNAMED:
                continue
            # Unlike the centroid, this point lies inside even a bent piece.
            inside = shapely.Polygon(piece.outline_mm).representative_point()
            x_px, y_px = self.pixels(np.array([[inside.x, inside.y]]))[0]
            at_px = (float(x_px), float(y_px))
            names.append(Words(piece.id, at_px, _NAME * pen.unit_px, _SOFT, at="middle"))
        return with_text(picture, names)

    def photograph(self, picture: Picture) -> Picture:
        """Lays a rectified picture of the table (height, width, 3) onto the map."""
        whole = np.full((self.height_px, self.width_px, 3), PAPER, dtype=np.uint8)
        left_px, low_px = self._corner_px()
        width_px = round(self.table.width_mm * self.px_per_mm)
        height_px = round(self.table.depth_mm * self.px_per_mm)
        shown = cv2.resize(picture, (width_px, height_px), interpolation=cv2.INTER_AREA)
        # Rounded once, from the lower left corner: the photograph keeps its size.
        left, top = round(left_px), round(low_px) - height_px
        whole[top : top + height_px, left : left + width_px] = shown
        return whole

    def _corner_px(self) -> tuple[float, float]:
        """Returns the pixel of the table's corner (0, 0), at the map's lower left."""
        left_px = (self.width_px - self.table.width_mm * self.px_per_mm) / 2
        return left_px, (self.height_px + self.table.depth_mm * self.px_per_mm) / 2
