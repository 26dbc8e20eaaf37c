"""Draws a ruling's evidence on a picture of the table: shapes, outlined units and their names.

The picture may be the camera's own or a map from above.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import shapely
import shapely.ops

from tablecam.drawing.labels import Labels, box_of
from tablecam.drawing.lettering import Words, size_px, with_text
from tablecam.drawing.pen import INK, WHITE, Array, Colour, Pen, Picture
from tablecam.drawing.shape_style import ShapeStyle, side_colours, style_of
from tablecam.geometry.outlines import rim
from tablecam.geometry.shapes import Shape
from tablecam.table.model import BasePose, Unit

UNITS_ACROSS: Final = 1000.0
"""Drawing units across a picture of one place; a picture of the whole table has about twice as
many."""
_NAME, _LABEL = 34.0, 27.0
"""Letter heights, in drawing units."""
_DOT: Final = 7.0
_DASH, _GAP = 12.0, 8.0
_LARGE: Final = {"point": 0.0, "line": 80.0, "polygon": 300.0}
"""The label of a shape larger than this stands at its middle, of a smaller one beside it."""


class View(Protocol):
    """Projects places on the table into a picture."""

    def pixels(self, places_mm: Array, *, level_with_mm: Array | None = None) -> Array:
        """Projects table places (n, 2) to pixels (n, 2).

        With `level_with_mm` (2,), all are at the height of the ground at that place.
        """

    def outlines(self, geometry: shapely.Geometry) -> list[Array]:
        """Clips a geometry to the picture; returns each part as pixels (n, 2)."""


def with_units_and_evidence(
    plain: Picture,
    view: View,
    units: Sequence[Unit],
    evidence: Sequence[Shape],
    sides: Sequence[str],
    *,
    units_across: float = UNITS_ACROSS,
) -> Picture:
    """Returns a copy of a picture (height, width, 3) with units and evidence drawn and named.

    `sides` are all sides in the order of the table file, which sets their colours. Strokes and
    letters scale with the picture: `units_across` drawing units span its width.
    """
    pen = Pen(plain.copy(), plain.shape[1] / units_across)
    outlines = [(shape, view.outlines(_geometry(shape))) for shape in evidence]
    # Areas lie below the units, lines above, so that both stay visible.
    for shape, parts in outlines:
        _fill(pen, shape, parts)
    labels = Labels(plain.shape[1], plain.shape[0])
    colours = side_colours((*sides, *(unit.side for unit in units)))
    names = [_outline_unit(pen, view, unit, colours[unit.side], labels) for unit in units]
    for shape, parts in outlines:
        _draw(pen, shape, parts)
    words = [_placed(pen, labels, *name) for name in names if name is not None]
    words += _labelled(pen, outlines, labels)
    return with_text(pen.picture, words)


@dataclass(frozen=True, slots=True, eq=False)
class PictureWithUnits:
    """A picture (height, width, 3) with units drawn on it, reusable for several sets of evidence.

    `taken` are the boxes (x_low, y_low, x_high, y_high) of units and names, where no label may go.
    """

    picture: Picture
    taken: tuple[Array, ...]


def with_units(
    plain: Picture,
    view: View,
    units: Sequence[Unit],
    sides: Sequence[str],
    *,
    units_across: float = UNITS_ACROSS,
) -> PictureWithUnits:
    """Copies a picture and draws units with names as in `with_units_and_evidence`."""
    pen = Pen(plain.copy(), plain.shape[1] / units_across)
    labels = Labels(plain.shape[1], plain.shape[0])
    colours = side_colours((*sides, *(unit.side for unit in units)))
    names = [_outline_unit(pen, view, unit, colours[unit.side], labels) for unit in units]
    words = [_placed(pen, labels, *name) for name in names if name is not None]
    return PictureWithUnits(with_text(pen.picture, words), tuple(labels.taken))


def with_evidence(
    ground: PictureWithUnits,
    view: View,
    evidence: Sequence[Shape],
    *,
    units_across: float = UNITS_ACROSS,
) -> Picture:
    """Returns a copy of a picture with units, with evidence drawn over them and named."""
    pen = Pen(ground.picture.copy(), ground.picture.shape[1] / units_across)
    outlines = [(shape, view.outlines(_geometry(shape))) for shape in evidence]
    for shape, parts in outlines:
        _fill(pen, shape, parts)
    for shape, parts in outlines:
        _draw(pen, shape, parts)
    labels = Labels(pen.picture.shape[1], pen.picture.shape[0], [*ground.taken])
    words = list(_labelled(pen, outlines, labels))
    return with_text(pen.picture, words) if words else pen.picture


def _geometry(shape: Shape) -> shapely.Geometry:
    """Converts a shape to a geometry; a degenerate one becomes a point or line."""
    # A shape whose points coincide is drawn as a point, whatever its kind.
    if shape.kind == "point" or len(set(shape.points_mm)) == 1:
        return shapely.Point(shape.points_mm[0])
    if shape.kind == "polygon" and len(shape.points_mm) > 2:
        return shapely.Polygon(shape.points_mm)
    return shapely.LineString(shape.points_mm)


def _fill(pen: Pen, shape: Shape, parts: Iterable[Array]) -> None:
    """Fills a polygon's area."""
    style = style_of(shape.role)
    if shape.kind == "polygon" and style.opacity:
        for points_px in parts:
            pen.area(points_px, style.colour, opacity=style.opacity)


def _draw(pen: Pen, shape: Shape, parts: Iterable[Array]) -> None:
    """Draws a shape's outline, line or point."""
    style = style_of(shape.role)
    for points_px in parts:
        if len(points_px) == 1:
            pen.disc(points_px[0], _DOT + 2, style.casing or INK)
            pen.disc(points_px[0], _DOT, style.colour)
        elif style.dashed:
            _dash(pen, points_px, style, closed=shape.kind == "polygon")
        else:
            is_closed = shape.kind == "polygon"
            pen.lines(
                points_px, style.colour, width=style.width, casing=style.casing, closed=is_closed
            )


def _dash(pen: Pen, points_px: Array, style: ShapeStyle, *, closed: bool) -> None:
    """Draws a line of many points in dashes."""
    if not np.isfinite(points_px).all():
        return
    line = shapely.LineString(np.vstack([points_px, points_px[:1]]) if closed else points_px)
    period_px = (_DASH + _GAP) * pen.unit_px
    # OpenCV has no dashed lines.
    for start_px in np.arange(0.0, line.length, period_px):
        dash = shapely.ops.substring(line, start_px, start_px + _DASH * pen.unit_px)
        ends = shapely.get_coordinates(dash)
        if len(ends) > 1:
            pen.lines(ends, style.colour, width=style.width, casing=style.casing)


_Name = tuple[str, Array, float, Colour]
"""A text, the box it belongs to, its letter height and its colour."""


def _outline_unit(pen: Pen, view: View, unit: Unit, colour: Colour, labels: Labels) -> _Name | None:
    """Outlines a unit's bases, front edges thick; returns its name for lettering."""
    boxes = [_outline_base(pen, view, base, colour) for base in unit.bases]
    # Bases behind the camera or outside its picture have no finite place.
    visible = [box for box in boxes if np.isfinite(box).all()]
    labels.take(visible)
    return (unit.id, box_of(np.array(visible)), _NAME, colour) if visible else None


def _outline_base(pen: Pen, view: View, base: BasePose, colour: Colour) -> Array:
    """Outlines a base and returns its box in the picture."""
    # All corners at one height: a base is level, even where its corner overhangs a hill.
    outline_px = view.pixels(rim(base), level_with_mm=np.array(base.place_mm))
    pen.lines(outline_px, colour, width=2.4, casing=WHITE, closed=True)
    if base.shape == "rectangle":
        pen.lines(outline_px[:2], colour, width=6.0, casing=WHITE)
    return box_of(outline_px)


def _labelled(
    pen: Pen, outlines: Iterable[tuple[Shape, list[Array]]], labels: Labels
) -> Iterator[Words]:
    """Yields the labels of shapes, each text once."""
    used = set()
    for shape, parts in outlines:
        visible_px = _inside(pen, np.concatenate([np.zeros((0, 2)), *parts]))
        # Several shapes may share a label: the first of them carries it.
        if shape.label and shape.label not in used and len(visible_px):
            used.add(shape.label)
            about = _label_box(pen, shape, visible_px)
            yield _placed(pen, labels, shape.label, about, _LABEL, INK)


def _label_box(pen: Pen, shape: Shape, inside_px: Array) -> Array:
    """Returns the box beside which a label goes: a small shape's, or a large one's middle."""
    box = box_of(inside_px)
    if max(box[2:] - box[:2]) <= _LARGE[shape.kind] * pen.unit_px:
        return box
    is_line = shape.kind == "line"
    # A line's middle point lies on it; a mean could lie beside a bent one.
    return box_of(inside_px[len(inside_px) // 2] if is_line else inside_px.mean(axis=0))


def _inside(pen: Pen, points_px: Array) -> Array:
    """Returns the points that lie in the picture."""
    height, width = pen.picture.shape[:2]
    return points_px[((points_px >= 0) & (points_px < [width, height])).all(axis=-1)]


def _placed(
    pen: Pen, labels: Labels, text: str, about: Array, height: float, colour: Colour
) -> Words:
    """Finds a free place for a text near its box."""
    height_px = height * pen.unit_px
    is_name = height == _NAME
    wide, tall = size_px(text, height_px, bold=is_name)
    # A little more than the letters, so that neighbouring labels do not touch.
    room = (wide + 6 * pen.unit_px, tall + 2 * pen.unit_px)
    x, y = labels.place(about, room, gap_px=5 * pen.unit_px)
    at_px = (float(x), float(y))
    return Words(text, at_px, height_px, colour, casing=WHITE, bold=is_name, at="middle")
