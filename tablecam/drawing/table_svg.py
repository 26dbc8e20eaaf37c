"""Draws a table as an SVG: terrain, units, and the shapes that explain answers.

Colours are the colour-blind safe palette of Okabe and Ito; dashes and labels also show the
distinctions that matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from xml.etree import ElementTree

import shapely

from tablecam.drawing.shape_style import side_colours
from tablecam.geometry.outlines import rim, table_outline, unit_footprint
from tablecam.geometry.shapes import LegendEntry, Shape, TableDrawing, shapes_of
from tablecam.table.headings import forward, right
from tablecam.table.model import BasePose, Point, Position
from tablecam.table.sides import side_name

_LABELLED: Final = frozenset({"length", "ring", "string", "front-line", "barred"})
"""Roles whose labels are drawn; labels of the others would overlap."""

_BENEATH: Final = frozenset(
    {"fire-zone", "lane", "wheel", "directly-in-front", "ring", "cover", "reach"}
)
"""Roles drawn beneath the units, whose colours they would change."""

_MARGIN_BW = 4.5
"""The margin of table that a close-up shows around its units."""

_WIDTH_PX = 1600

_STYLE: Final = """
text { font-family: Helvetica, Arial, sans-serif; fill: #222; }
.halo { paint-order: stroke; stroke: #f6f3ea; stroke-width: .28em; stroke-linejoin: round; }
polygon, polyline, circle { vector-effect: non-scaling-stroke; }
.table { fill: #f6f3ea; stroke: #8a8371; stroke-width: 2; }
.terrain { fill: #d9d2bd; stroke: #9b927a; stroke-width: 1; }
.woods { fill: #b9cfae; stroke: #5f7f50; stroke-dasharray: 2 3; }
.stream, .pond, .marsh, .ford { fill: #c3dcea; stroke: #6b9ab5; }
.marsh { stroke-dasharray: 6 3; }
.rough { fill: #ddcfb4; stroke-dasharray: 3 3; }
.wall, .trench, .crest, .sunken_road { fill: #7d735c; stroke: #4d4636; }
.hill { fill: #e5dcc0; stroke: #b09f6d; }
.road, .bridge, .field { fill: #e9e2cf; stroke: #b8ab8a; }
.impassable { fill: #8d8d8d; stroke: #333; }
.base { stroke: #fff; stroke-width: .8; }
.front { fill: #fff; fill-opacity: .85; }
.unit { fill: none; stroke: #222; stroke-width: 1.4; }
.evidence { fill: none; stroke: #222; stroke-width: 1.6; stroke-linejoin: round; }
.fire-zone { fill: #f0e442; fill-opacity: .28; stroke: #8f8500; stroke-width: .7; }
.range { stroke: #8f8500; stroke-width: 1.2; }
.target { stroke: #8f8500; stroke-width: 2.4; }
.cover, .line-of-fire { stroke: #009e73; stroke-width: 2; }
.lane, .wheel { fill: #cc79a7; fill-opacity: .22; stroke: #a04f7f; stroke-dasharray: 7 3; }
.length { stroke-dasharray: 2 3; stroke-width: 2; }
.barred { stroke: #d55e00; stroke-dasharray: 2 3; }
.reach { fill: #56b4e9; fill-opacity: .14; stroke: #2f7fae; stroke-width: .8; }
.ring { stroke-dasharray: 9 5; }
.link { stroke: #009e73; stroke-width: 4; }
.string { stroke: #56b4e9; stroke-width: 3; stroke-dasharray: 10 4; }
.contact { fill: #fff; stroke: #000; stroke-width: 2.4; }
.directly-in-front { fill: #e69f00; fill-opacity: .2; stroke: #b47c00; stroke-width: .8; }
.front-line, .front-edge { stroke-width: 2.2; }
.flank-line { stroke-dasharray: 4 4; }
.counts { fill: #000; fill-opacity: .28; stroke-width: 2.4; }
.counts-not { stroke-dasharray: 3 2; stroke-width: 2; }
.intrusion { fill: #d55e00; fill-opacity: .7; }
.open-line, .line-of-attack { stroke: #cc79a7; stroke-width: 2.6; }
.leader { fill: #fff; stroke-width: 4; }
"""


@dataclass(frozen=True, slots=True)
class _Canvas:
    """An element to draw into, and the part of the table that is drawn.

    Its y axis points down, the table's up.
    """

    parent: ElementTree.Element
    left_mm: float
    bottom_mm: float
    width_mm: float
    height_mm: float

    @property
    def letter_mm(self) -> float:
        """Letter height, readable at any scale."""
        return min(26.0, max(6.0, self.width_mm / 60.0))

    @property
    def line_mm(self) -> float:
        """Line spacing of the legend."""
        return 1.6 * self.letter_mm

    @property
    def outline(self) -> shapely.Polygon:
        """The visible part of the table."""
        top_mm = self.bottom_mm + self.height_mm
        return shapely.box(self.left_mm, self.bottom_mm, self.left_mm + self.width_mm, top_mm)

    def at(self, point: Point) -> Point:
        """Converts a table position to the drawing."""
        return point[0] - self.left_mm, self.bottom_mm + self.height_mm - point[1]

    def points(self, points_mm: Iterable[Point]) -> str:
        """Formats table positions as the points of an element."""
        return " ".join(f"{x:.2f},{y:.2f}" for x, y in map(self.at, points_mm))

    def add(self, tag: str, **attributes: str) -> ElementTree.Element:
        """Adds an element; `class_` is its class."""
        named = {name.rstrip("_"): value for name, value in attributes.items()}
        return ElementTree.SubElement(self.parent, tag, named)

    def polygon(self, points_mm: Iterable[Point], style: str) -> ElementTree.Element:
        """Adds a polygon."""
        return self.add("polygon", points=self.points(points_mm), class_=style)

    def dot(self, at: Point, radius_mm: float, style: str) -> ElementTree.Element:
        """Adds a circle about a place in the drawing."""
        x, y = at
        return self.add("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{radius_mm:.1f}", class_=style)

    def text(
        self, at: Point, content: str, size_mm: float, anchor: str = "middle"
    ) -> ElementTree.Element:
        """Adds a text at a place in the drawing."""
        place = {"x": f"{at[0]:.1f}", "y": f"{at[1]:.1f}", "font-size": f"{size_mm:.1f}"}
        text = self.add("text", **place, **{"text-anchor": anchor})
        text.text = content
        return text


def table_svg(position: Position, drawing: TableDrawing) -> str:
    """Returns an SVG document of a table, or of the part of it around the units to close up on."""
    root = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg"})
    canvas = _canvas(position, drawing, root)
    height_mm = canvas.height_mm + (len(drawing.legend) + 2) * canvas.line_mm
    root.set("viewBox", f"0 0 {canvas.width_mm:g} {height_mm:g}")
    root.set("width", f"{_WIDTH_PX}")
    root.set("height", f"{_WIDTH_PX * height_mm / canvas.width_mm:.0f}")
    canvas.add("style").text = _STYLE
    canvas.add("rect", width="100%", height="100%", fill="#fff")
    # A nested SVG clips the table at the canvas's edges.
    size = {"width": f"{canvas.width_mm:g}", "height": f"{canvas.height_mm:g}"}
    board = replace(canvas, parent=canvas.add("svg", **size, overflow="hidden"))
    colours = _colours(position)
    _add_ground(board, position)
    _add_shapes(board, (shape for shape in drawing.shapes if shape[1].role in _BENEATH))
    _add_units(board, position, colours)
    _add_commanders(board, position, colours)
    _add_shapes(board, (shape for shape in drawing.shapes if shape[1].role not in _BENEATH))
    _add_names(board, position, drawing.names)
    _add_labels(board, drawing.shapes)
    _add_legend(canvas, drawing.legend, colours, drawing.active)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _canvas(position: Position, drawing: TableDrawing, root: ElementTree.Element) -> _Canvas:
    """Returns the whole table, or the area around the units to close up on."""
    table = position.table
    if not drawing.close_up:
        return _Canvas(root, 0.0, 0.0, table.width_mm, table.depth_mm)
    outlines = [unit_footprint(unit) for unit in position.units if unit.id in drawing.close_up]
    margin_mm = _MARGIN_BW * table.marker_mm
    left, bottom, right_mm, top = shapely.total_bounds(outlines).tolist()
    # The close-up never leaves the table.
    left, bottom = max(0.0, left - margin_mm), max(0.0, bottom - margin_mm)
    width_mm = min(table.width_mm, right_mm + margin_mm) - left
    return _Canvas(root, left, bottom, width_mm, min(table.depth_mm, top + margin_mm) - bottom)


def _colours(position: Position) -> dict[str, str]:
    """Returns the colour of each side, in the order of the position."""
    sides = [unit.side for unit in position.units]
    sides += [leader.side for leader in position.commanders]
    colours = side_colours(sides).items()
    return {side: f"#{red:02x}{green:02x}{blue:02x}" for side, (blue, green, red) in colours}


def _add_ground(board: _Canvas, position: Position) -> None:
    table = position.table
    board.polygon(shapely.get_coordinates(table_outline(table))[:-1].tolist(), "table")
    # Hills go first, because other terrain lies on them.
    for piece in sorted(position.terrain, key=lambda piece: piece.kind != "hill"):
        board.polygon(piece.outline_mm, f"terrain {piece.kind}")


def _add_units(board: _Canvas, position: Position, colours: Mapping[str, str]) -> None:
    for unit in position.units:
        for pose in unit.bases:
            board.polygon(rim(pose).tolist(), "base").set("fill", colours[unit.side])
            board.polygon(_arrow(pose), "front")
        for part in shapes_of(unit_footprint(unit), "unit"):
            board.polygon(part.points_mm, "unit")


def _arrow(pose: BasePose) -> tuple[Point, ...]:
    """Returns a pointer at a base's front edge, which shows its facing without colours."""
    ahead, beside = forward(pose.heading_deg), right(pose.heading_deg)

    def place(along: float, across: float) -> Point:
        x_mm = pose.x_mm + along * pose.depth_mm * ahead[0] + across * pose.width_mm * beside[0]
        y_mm = pose.y_mm + along * pose.depth_mm * ahead[1] + across * pose.width_mm * beside[1]
        return x_mm, y_mm

    return place(0.46, 0.0), place(0.3, 0.16), place(0.3, -0.16)


def _add_shapes(board: _Canvas, shapes: Iterable[tuple[str, Shape]]) -> None:
    for topic, shape in shapes:
        style = f"evidence {shape.role} {topic}"
        if shape.kind == "polygon":
            board.polygon(shape.points_mm, style)
        elif shape.kind == "line":
            board.add("polyline", points=board.points(shape.points_mm), class_=style)
        else:
            board.dot(board.at(shape.points_mm[0]), board.letter_mm / 4, style)


def _add_commanders(board: _Canvas, position: Position, colours: Mapping[str, str]) -> None:
    marker_mm = position.table.marker_mm
    for leader in position.commanders:
        x, y = board.at(leader.place_mm)
        board.dot((x, y), marker_mm / 2, "leader").set("stroke", colours[leader.side])
        board.text((x, y + marker_mm * 0.17), "\N{BLACK STAR}", marker_mm * 0.5)


def _add_names(board: _Canvas, position: Position, names: Mapping[str, str]) -> None:
    size_mm = max(board.letter_mm, position.table.marker_mm * 0.45)
    for unit in position.units:
        middle = shapely.centroid(unit_footprint(unit))
        x, y = board.at((float(middle.x), float(middle.y)))
        name = board.text((x, y + size_mm / 3), names.get(unit.id, unit.id), size_mm)
        name.set("class", "halo name")


def _add_labels(board: _Canvas, shapes: Iterable[tuple[str, Shape]]) -> None:
    """Adds labels of shapes where they do not overlap earlier ones."""
    written: list[Point] = []
    for _, shape in shapes:
        if shape.role not in _LABELLED or not shape.label:
            continue
        x, y = board.at(_label_place(board, shape))
        if all(
            abs(x - a) > 4 * board.letter_mm or abs(y - b) > board.letter_mm for a, b in written
        ):
            written.append((x, y))
            board.text((x, y), shape.label, board.letter_mm * 0.9).set("class", "halo")


def _label_place(board: _Canvas, shape: Shape) -> Point:
    """Returns the middle of a line's visible part, a front line's start, or an outline's top."""
    if shape.kind != "line":
        return max(shape.points_mm, key=lambda point: point[1])
    seen = shapely.intersection(shapely.LineString(shape.points_mm), board.outline)
    parts = shapely.get_parts(shapely.line_merge(seen)).tolist()
    line: shapely.LineString = max(parts, key=shapely.length, default=shapely.LineString())
    if not shapely.length(line):
        return shape.points_mm[0]
    share = 0.08 if shape.role == "front-line" else 0.5
    place = shapely.line_interpolate_point(line, share, normalized=True)
    return float(shapely.get_x(place)), float(shapely.get_y(place))


def _add_legend(
    canvas: _Canvas, legend: Sequence[LegendEntry], colours: Mapping[str, str], active: str
) -> None:
    letter_mm = canvas.letter_mm
    y = canvas.height_mm + canvas.line_mm
    x = letter_mm / 2
    for side, colour in colours.items():
        size = {"width": f"{letter_mm:g}", "height": f"{letter_mm:g}"}
        canvas.add("rect", x=f"{x:g}", y=f"{y - letter_mm * 0.8:g}", **size, fill=colour)
        label = side_name(side) + ", active" * (side == active)
        canvas.text((x + letter_mm * 1.4, y), label, letter_mm, "start")
        # An estimate of the text's width: SVG cannot measure it.
        x += letter_mm * (3.0 + 0.62 * len(label))
    for topic, role, label in legend:
        y += canvas.line_mm
        box = _box(letter_mm / 2, y - letter_mm * 0.8, letter_mm * 2.4, letter_mm)
        canvas.add("polygon", points=box, class_=f"evidence {role} {topic}")
        canvas.text((letter_mm * 3.6, y), label, letter_mm, "start")


def _box(x: float, y: float, width: float, height: float) -> str:
    ends = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
    return " ".join(f"{across:.1f},{down:.1f}" for across, down in ends)
