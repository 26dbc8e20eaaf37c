"""Draws rulings as an SVG: table, terrain, units, and the shapes that show why.

Colours are the colour-blind safe palette of Okabe and Ito; dashes and labels make the distinctions
that matter as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from typing import Final
from xml.etree import ElementTree

import shapely

from tablecam.geometry.outlines import corners
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.rules.maurice.charge.charge import ChargeLane
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import FORCE_BW, NEAR_BW
from tablecam.rules.maurice.fire.fire import FireOption
from tablecam.rules.maurice.movement.reach import reach
from tablecam.rules.maurice.place.forces import linking_obstacle
from tablecam.rules.maurice.rulings.facts import Rulings, UnitRulings, attempt, sides
from tablecam.rules.maurice.rulings.rulings import keys_under
from tablecam.table.headings import forward, right
from tablecam.table.model import BasePose, Point
from tablecam.table.sides import side_name
from tablecam.uncertainty.illustration import illustration
from tablecam.uncertainty.lengths import distance

Act = FireOption | ChargeLane

_SIDE_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")

_LEGEND: Final[tuple[tuple[str, str, str], ...]] = (
    # key, class, what it says
    ("near_enemy", "length", "near the enemy (M-1.9)"),
    ("in_contact", "contact", "contact (M-1.10)"),
    ("pairs", "directly-in-front", "directly in front (M-1.12)"),
    ("pairs", "counts", "base wholly behind the front line"),
    ("pairs", "intrusion", "the part that is directly in front"),
    ("fire", "fire-zone", "zone of fire (M-7.11)"),
    ("fire", "line-of-fire", "a line that avoids all cover (M-7.19)"),
    ("fire", "cover", "terrain that gives cover (M-7.19)"),
    ("charge", "lane", "charge (M-8.5)"),
    ("engaged_with", "line-of-attack", "engaged within 1 BW (M-8.12)"),
    ("allowance_bw", "reach", "reach of a march (M-6.2)"),
    ("forces", "link", "linked in a force (M-1.15)"),
    ("spans", "string", "distance from the CinC (M-4.12)"),
)

_LABELLED: Final = frozenset({"length", "ring", "string", "front-line", "barred"})
"""Roles whose labels are drawn; labels of the others would overlap."""

_BENEATH: Final = frozenset(
    {"fire-zone", "lane", "wheel", "directly-in-front", "ring", "cover", "reach"}
)
"""Roles drawn beneath the units, whose colours they would change."""

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
.cinc { fill: #fff; stroke-width: 4; }
"""


@dataclass(frozen=True, slots=True)
class _Viewport:
    """The part of the table that is drawn; its y axis points down, the table's up."""

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


def rulings_svg(rulings: Rulings, *, rule: str | None = None) -> str:
    """Returns the SVG document of rulings; of a few units as a close-up."""
    shapes = evidence_of(rulings, rule=rule)
    viewport, legend = _viewport(rulings), _legend_of(shapes)
    root = _root(viewport, len(legend))
    board = _board(root, viewport)
    _add_ground(board, viewport, rulings.field)
    _add_shapes(board, viewport, (keyed for keyed in shapes if keyed[1].role in _BENEATH))
    for unit in rulings.field.units:
        _add_unit(board, viewport, unit, _colour(rulings.field, unit.side))
    _add_commanders(board, viewport, rulings.field)
    _add_shapes(board, viewport, (keyed for keyed in shapes if keyed[1].role not in _BENEATH))
    _add_names(board, viewport, rulings.field)
    _add_labels(board, viewport, shapes)
    _add_legend(root, viewport, legend, rulings)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def evidence_of(rulings: Rulings, *, rule: str | None = None) -> tuple[tuple[str, Shape], ...]:
    """Returns the shapes to draw, each with the key of the rulings it belongs to.

    For a pair the drawing shows the second unit as seen by the first.
    """
    keys = keys_under(rule)
    drawn: dict[tuple[str, Shape], None] = {}
    nothing: tuple[Shape, ...] = ()
    for key, make in _MAKERS:
        if key in keys:
            # The generator runs within the attempt, where its errors are caught.
            shapes = attempt(key, partial(tuple[Shape, ...], make(rulings)), nothing)
            # A dict removes duplicates and keeps the order.
            drawn.update(((key, shape), None) for shape in shapes)
    return tuple(drawn)


def _shown(rulings: Rulings, acts: Callable[[UnitRulings], Iterable[Act]]) -> Iterator[Shape]:
    """Draws shots or charges of the active side or of the units asked about.

    Of a pair only those at each other.
    """
    is_pair = rulings.is_close_up and len(rulings.units) > 1
    for of_unit in rulings.units.values():
        if rulings.is_close_up or of_unit.unit.side == rulings.active:
            for act in acts(of_unit):
                if not is_pair or act.target in rulings.units:
                    yield from act.evidence


def _fire(rulings: Rulings) -> Iterator[Shape]:
    yield from _shown(rulings, lambda unit: chain(*(base.options for base in unit.fire.values())))


def _charges(rulings: Rulings) -> Iterator[Shape]:
    yield from _shown(rulings, lambda unit: unit.charge.lanes)


def _reach(rulings: Rulings) -> Iterator[Shape]:
    """Draws a march's reach, if only one unit is requested."""
    if rulings.is_close_up and len(rulings.units) == 1:
        for of_unit in rulings.units.values():
            yield from shapes_of(reach(rulings.field, of_unit.unit), "reach")


def _near(rulings: Rulings) -> Iterator[Shape]:
    """Draws the ring of one requested unit, or the shortest lines of all, each once."""
    lines = set()
    for of_unit in rulings.units.values():
        if rulings.is_close_up and len(rulings.units) == 1:
            yield from illustration(rulings.field.position, of_unit.unit.unit, rings_bw=(NEAR_BW,))
        for shape in of_unit.near.answer.evidence:
            ends = frozenset(shape.points_mm)
            # Units in contact have a line of no length; the contact shape shows more.
            if of_unit.near.is_near and len(ends) > 1 and ends not in lines:
                lines.add(ends)
                yield shape


def _contacts(rulings: Rulings) -> Iterator[Shape]:
    for (a_id, b_id), contact in rulings.contacts.contacts.items():
        if a_id in rulings.units or b_id in rulings.units:
            yield from contact.answer.evidence


def _flanks(rulings: Rulings) -> Iterator[Shape]:
    """Draws a pair's flank, or those of all flanked units."""
    if rulings.is_close_up and len(rulings.units) > 1:
        for pair in rulings.pairs[:1]:
            yield from pair.to_flank.evidence
        return
    for pair in rulings.pairs:
        flanked = rulings.units.get(pair.a.id)
        if flanked is not None and pair.b.id in flanked.flanked_by:
            yield from pair.to_flank.evidence


def _engaged(rulings: Rulings) -> Iterator[Shape]:
    for (attacker, defender), engagement in rulings.engagements.pairs.items():
        if engagement.how == "near" and (attacker in rulings.units or defender in rulings.units):
            yield from engagement.evidence


def _links(rulings: Rulings) -> Iterator[Shape]:
    """Draws the links between units of a force."""
    limit_mm = FORCE_BW * rulings.field.bw_mm + EXACT_MM
    units = rulings.field.by_id
    for of_side in rulings.forces.values():
        for force in of_side:
            for a_id, b_id in combinations(force, 2):
                a, b = units[a_id], units[b_id]
                if rulings.distances.mm(a_id, b_id) <= limit_mm and linking_obstacle(a, b) is None:
                    length = distance(a.unit, b.unit)
                    yield Shape("line", (length.from_mm, length.to_mm), "link")


def _strings(rulings: Rulings) -> Iterator[Shape]:
    for string in rulings.paths:
        if string.span is not None:
            yield string.span.path


_MAKERS: tuple[tuple[str, Callable[[Rulings], Iterator[Shape]]], ...] = (
    ("allowance_bw", _reach),
    ("pairs", _flanks),
    ("fire", _fire),
    ("charge", _charges),
    ("engaged_with", _engaged),
    ("forces", _links),
    ("spans", _strings),
    ("near_enemy", _near),
    ("in_contact", _contacts),
)


def _viewport(rulings: Rulings, *, margin_bw: float = 4.5) -> _Viewport:
    """Returns the whole table, or the area around a few of its units."""
    table = rulings.field.position.table
    if not rulings.is_close_up:
        return _Viewport(0.0, 0.0, table.width_mm, table.depth_mm)
    ids = set(rulings.units) | {of_unit.near.nearest for of_unit in rulings.units.values()}
    outlines = [unit.outline for unit in rulings.field.units if unit.id in ids]
    margin_mm = margin_bw * rulings.field.bw_mm
    left, bottom, right_mm, top = shapely.total_bounds(outlines).tolist()
    # The close-up never leaves the table.
    left, bottom = max(0.0, left - margin_mm), max(0.0, bottom - margin_mm)
    width_mm = min(table.width_mm, right_mm + margin_mm) - left
    return _Viewport(left, bottom, width_mm, min(table.depth_mm, top + margin_mm) - bottom)


def _root(viewport: _Viewport, legend: int) -> ElementTree.Element:
    height_mm = viewport.height_mm + (legend + 2) * viewport.line_mm
    box = f"0 0 {viewport.width_mm:g} {height_mm:g}"
    root = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "viewBox": box})
    root.set("width", f"{_WIDTH_PX}")
    root.set("height", f"{_WIDTH_PX * height_mm / viewport.width_mm:.0f}")
    ElementTree.SubElement(root, "style").text = _STYLE
    paper = {"width": "100%", "height": "100%", "fill": "#fff"}
    ElementTree.SubElement(root, "rect", paper)
    return root


def _board(root: ElementTree.Element, viewport: _Viewport) -> ElementTree.Element:
    """Adds the nested SVG that clips the table at the viewport's edges."""
    size = {"width": f"{viewport.width_mm:g}", "height": f"{viewport.height_mm:g}"}
    return ElementTree.SubElement(root, "svg", {**size, "overflow": "hidden"})


def _add_ground(parent: ElementTree.Element, viewport: _Viewport, field: Field) -> None:
    table = field.position.table
    corners_mm = (
        (0, 0),
        (table.width_mm, 0),
        (table.width_mm, table.depth_mm),
        (0, table.depth_mm),
    )
    _add_polygon(parent, viewport, corners_mm, "table")
    # Hills go first, as other terrain lies on them.
    for piece in sorted(field.position.terrain, key=lambda piece: piece.kind != "hill"):
        _add_polygon(parent, viewport, piece.outline_mm, f"terrain {piece.kind}")


def _add_unit(
    parent: ElementTree.Element, viewport: _Viewport, unit: UnitOnField, colour: str
) -> None:
    for pose in unit.unit.bases:
        _add_polygon(parent, viewport, corners(pose), "base").set("fill", colour)
        _add_polygon(parent, viewport, _arrow(pose), "front")
    for part in shapes_of(unit.outline, "unit"):
        _add_polygon(parent, viewport, part.points_mm, "unit")


def _arrow(pose: BasePose) -> tuple[Point, ...]:
    """Returns a pointer at a base's front edge, which shows its facing without colours."""
    ahead, beside = forward(pose.heading_deg), right(pose.heading_deg)

    def place(along: float, across: float) -> Point:
        x_mm = pose.x_mm + along * pose.depth_mm * ahead[0] + across * pose.width_mm * beside[0]
        y_mm = pose.y_mm + along * pose.depth_mm * ahead[1] + across * pose.width_mm * beside[1]
        return x_mm, y_mm

    return place(0.46, 0.0), place(0.3, 0.16), place(0.3, -0.16)


def _add_shapes(
    parent: ElementTree.Element, viewport: _Viewport, shapes: Iterable[tuple[str, Shape]]
) -> None:
    for key, shape in shapes:
        style = f"evidence {shape.role} {key}"
        if shape.kind == "polygon":
            _add_polygon(parent, viewport, shape.points_mm, style)
        elif shape.kind == "line":
            points = _points(viewport, shape.points_mm)
            ElementTree.SubElement(parent, "polyline", {"points": points, "class": style})
        else:
            _add_dot(parent, viewport.at(shape.points_mm[0]), viewport.letter_mm / 4, style)


def _add_commanders(parent: ElementTree.Element, viewport: _Viewport, field: Field) -> None:
    for leader in field.position.commanders:
        x, y = viewport.at(leader.place_mm)
        dot = _add_dot(parent, (x, y), field.bw_mm / 2, "cinc")
        dot.set("stroke", _colour(field, leader.side))
        _add_text(parent, (x, y + field.bw_mm * 0.11), "CinC", field.bw_mm * 0.32)


def _add_names(parent: ElementTree.Element, viewport: _Viewport, field: Field) -> None:
    for unit in field.units:
        middle = shapely.centroid(unit.outline)
        x, y = viewport.at((float(middle.x), float(middle.y)))
        size_mm = max(viewport.letter_mm, field.bw_mm * 0.45)
        disrupted = f" {'•' * unit.disruption}" if unit.disruption else ""
        text = _add_text(parent, (x, y + size_mm / 3), unit.id + disrupted, size_mm)
        text.set("class", "halo name")


def _add_labels(
    parent: ElementTree.Element, viewport: _Viewport, shapes: Iterable[tuple[str, Shape]]
) -> None:
    """Adds labels of shapes where they do not overlap earlier ones."""
    written: list[Point] = []
    for _, shape in shapes:
        if shape.role not in _LABELLED or not shape.label:
            continue
        x, y = viewport.at(_label_place(viewport, shape))
        if all(
            abs(x - a) > 4 * viewport.letter_mm or abs(y - b) > viewport.letter_mm
            for a, b in written
        ):
            written.append((x, y))
            _add_text(parent, (x, y), shape.label, viewport.letter_mm * 0.9).set("class", "halo")


def _label_place(viewport: _Viewport, shape: Shape) -> Point:
    """Returns the middle of a line's visible part, a front line's start, or an outline's top."""
    if shape.kind != "line":
        return max(shape.points_mm, key=lambda point: point[1])
    seen = shapely.intersection(shapely.LineString(shape.points_mm), viewport.outline)
    parts = shapely.get_parts(shapely.line_merge(seen)).tolist()
    line: shapely.LineString = max(parts, key=shapely.length, default=shapely.LineString())
    if not shapely.length(line):
        return shape.points_mm[0]
    share = 0.08 if shape.role == "front-line" else 0.5
    place = shapely.line_interpolate_point(line, share, normalized=True)
    return float(shapely.get_x(place)), float(shapely.get_y(place))


def _add_legend(
    root: ElementTree.Element,
    viewport: _Viewport,
    legend: Sequence[tuple[str, str, str]],
    rulings: Rulings,
) -> None:
    letter_mm = viewport.letter_mm
    y = viewport.height_mm + viewport.line_mm
    x = letter_mm / 2
    for side in sides(rulings.field):
        swatch = {"x": f"{x:g}", "y": f"{y - letter_mm * 0.8:g}", "width": f"{letter_mm:g}"}
        swatch |= {"height": f"{letter_mm:g}", "fill": _colour(rulings.field, side)}
        ElementTree.SubElement(root, "rect", swatch)
        label = side_name(side) + ", active" * (side == rulings.active)
        text = _add_text(root, (x + letter_mm * 1.4, y), label, letter_mm)
        text.set("text-anchor", "start")
        # An estimate of the text's width: SVG cannot measure it.
        x += letter_mm * (3.0 + 0.62 * len(label))
    for key, role, label in legend:
        y += viewport.line_mm
        box = _box(letter_mm / 2, y - letter_mm * 0.8, letter_mm * 2.4, letter_mm)
        ElementTree.SubElement(root, "polygon", {"points": box, "class": f"evidence {role} {key}"})
        text = _add_text(root, (letter_mm * 3.6, y), label, letter_mm)
        text.set("text-anchor", "start")


def _legend_of(shapes: Iterable[tuple[str, Shape]]) -> tuple[tuple[str, str, str], ...]:
    drawn = {(key, shape.role) for key, shape in shapes}
    return tuple(row for row in _LEGEND if row[:2] in drawn)


def _colour(field: Field, side: str) -> str:
    return _SIDE_COLOURS[sides(field).index(side) % len(_SIDE_COLOURS)]


def _add_polygon(
    parent: ElementTree.Element, viewport: _Viewport, points_mm: Sequence[Point], style: str
) -> ElementTree.Element:
    points = {"points": _points(viewport, points_mm), "class": style}
    return ElementTree.SubElement(parent, "polygon", points)


def _add_dot(
    parent: ElementTree.Element, at: Point, radius_mm: float, style: str
) -> ElementTree.Element:
    place = {"cx": f"{at[0]:.1f}", "cy": f"{at[1]:.1f}", "r": f"{radius_mm:.1f}", "class": style}
    return ElementTree.SubElement(parent, "circle", place)


def _add_text(
    parent: ElementTree.Element, at: Point, content: str, size_mm: float
) -> ElementTree.Element:
    place = {"x": f"{at[0]:.1f}", "y": f"{at[1]:.1f}", "font-size": f"{size_mm:.1f}"}
    text = ElementTree.SubElement(parent, "text", {**place, "text-anchor": "middle"})
    text.text = content
    return text


def _points(viewport: _Viewport, points_mm: Iterable[Point]) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in map(viewport.at, points_mm))


def _box(x: float, y: float, width: float, height: float) -> str:
    ends = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
    return " ".join(f"{across:.1f},{down:.1f}" for across, down in ends)
