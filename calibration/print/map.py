"""Prints a map to play on at true scale, on as many overlapping sheets as it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from calibration.errors import CalibrationError
from calibration.print.content import MapLine, PrintedMap
from calibration.print.layout import Area
from calibration.print.pen import BLACK, GREY, PALE, Pen, tag_cells

OVERLAP_MM = 10.0
"""The overlap of neighbouring sheets; one is cut along the seam in its middle."""

_BORDER_MM = 3.0
"""Paper around hexes and tags."""

_CROSS_MM = 2.5
_CROSSES_MM = 40.0
_NUMBER_POINTS = 5.5
_NOTE_POINTS = 4.2

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class MapSheet:
    """The part of a map on one sheet, and its seams with other sheets."""

    map: PrintedMap
    dictionary: str
    across_mm: Span
    up_mm: Span
    seams_across_mm: tuple[float, ...]
    seams_up_mm: tuple[float, ...]
    number: str

    @property
    def name(self) -> str:
        """The name that errors use."""
        return f"map sheet {self.number}"

    @property
    def width_mm(self) -> float:
        """Its width."""
        return self.across_mm[1] - self.across_mm[0]

    @property
    def height_mm(self) -> float:
        """Its height."""
        return self.up_mm[1] - self.up_mm[0]

    def draw(self, pen: Pen, x_mm: float, y_mm: float) -> None:
        """Draws it with its top left corner at (x, y)."""

        def at(point_mm: tuple[float, float]) -> tuple[float, float]:
            # The table's y points up, the page's down.
            return x_mm + point_mm[0] - self.across_mm[0], y_mm + self.up_mm[1] - point_mm[1]

        with pen.clipped(x_mm, y_mm, self.width_mm, self.height_mm):
            for area in self.map.areas:
                pen.polygon([at(point) for point in area.outline_mm], fill=area.colour, line=PALE)
            for line in self.map.lines:
                draw_line(pen, line, at((0.0, 0.0)))
            # Last, because no line may run through a number.
            for area in self.map.areas:
                xs, ys = zip(*map(at, area.outline_mm), strict=True)
                middle = sum(xs) / len(xs)
                # Near the edges of its hex, where a counter leaves them free.
                words = (
                    (area.label, 0.16, _NUMBER_POINTS), (area.note, 0.93, _NOTE_POINTS),
                )  # fmt: skip
                for text, share, points in words:
                    y = min(ys) + share * (max(ys) - min(ys))
                    if text:
                        pen.text(
                            middle, y, text, points, align="middle", grey=GREY, paper=area.colour
                        )
            self._draw_tags(pen, x_mm - self.across_mm[0], y_mm + self.up_mm[1])
            for crossing in self._crosses():
                _draw_cross(pen, *at(crossing))
        pen.box(x_mm, y_mm, self.width_mm, self.height_mm, line=PALE)

    def _draw_tags(self, pen: Pen, left_mm: float, top_mm: float) -> None:
        table = self.map.table
        for tag in table.tags:
            cells = tag_cells(self.dictionary, tag.id)
            cell_mm, half_mm = table.tag_size_mm / len(cells), table.tag_size_mm / 2
            x_mm, y_mm = left_mm + tag.x_mm, top_mm - tag.y_mm
            rim_mm = half_mm + cell_mm
            pen.box(x_mm - rim_mm, y_mm - rim_mm, 2 * rim_mm, 2 * rim_mm, fill=1.0)
            pen.squares(x_mm - half_mm, y_mm - half_mm, cells, cell_mm)

    def _crosses(self) -> Iterator[tuple[float, float]]:
        """Yields places on the seams, the same on both sheets that meet there."""
        low_x, high_x = _extent_mm(self.map, 0)
        low_y, high_y = _extent_mm(self.map, 1)
        for x_mm in self.seams_across_mm:
            for step in range(int((high_y - low_y) // _CROSSES_MM) + 1):
                yield x_mm, low_y + _CROSSES_MM * (step + 0.5)
        for y_mm in self.seams_up_mm:
            for step in range(int((high_x - low_x) // _CROSSES_MM) + 1):
                yield low_x + _CROSSES_MM * (step + 0.5), y_mm


def draw_line(pen: Pen, line: MapLine, origin_mm: tuple[float, float]) -> None:
    """Draws a line of a map, whose (0, 0) lies at a place of the page."""
    left_mm, top_mm = origin_mm
    start, end = ((left_mm + x_mm, top_mm - y_mm) for x_mm, y_mm in line.ends_mm)
    pen.line(start, end, grey=line.colour, thickness_mm=line.width_mm, is_round=True)


def map_sheets(printed: PrintedMap, dictionary: str, area: Area) -> list[MapSheet]:
    """Returns a map cut into sheets that each fit an area, from the top left, row by row.

    No seam runs through a table tag: a tag glued together cannot be measured accurately.

    Raises:
        CalibrationError: The paper is too small for a tag.
    """
    columns = _spans(printed, 0, area.width_mm)
    # From the top: only the last sheet is cut short.
    rows = [(-high, -low) for low, high in _spans(printed, 1, area.height_mm)]
    total = len(columns) * len(rows)
    place = ": row {}, column {}" if total > 1 else ""
    return [
        MapSheet(
            printed,
            dictionary,
            across,
            up,
            _seams(columns),
            _seams(rows[::-1]),
            f"{row * len(columns) + column + 1} of {total}{place.format(row + 1, column + 1)}",
        )
        for row, up in enumerate(rows)
        for column, across in enumerate(columns)
    ]


def _seams(spans: Sequence[Span]) -> tuple[float, ...]:
    return tuple((before[1] + after[0]) / 2 for before, after in pairwise(spans))


def _spans(printed: PrintedMap, axis: int, room_mm: float) -> list[Span]:
    """Cuts a map along an axis, y from the top down and therefore negative."""
    low, high = _extent_mm(printed, axis)
    tags = [_tag_span_mm(printed, axis, index) for index in range(len(printed.table.tags))]
    if axis == 1:
        low, high = -high, -low
        tags = [(-end, -start) for start, end in tags]
    spans: list[Span] = []
    while low + room_mm < high:
        end = low + room_mm
        # The overlap moves back until it lies beside every tag.
        while any(start < end and end - OVERLAP_MM < stop for start, stop in tags):
            end = min(start for start, stop in tags if start < end and end - OVERLAP_MM < stop)
        if end - OVERLAP_MM <= low:
            raise CalibrationError(
                f"table tags: too large for this paper: {tags[0][1] - tags[0][0]:.0f} mm with "
                f"their rims, at most {room_mm:.0f} mm a sheet"
            )
        spans.append((low, end))
        low = end - OVERLAP_MM
    return [*spans, (low, high)]


def _extent_mm(printed: PrintedMap, axis: int) -> Span:
    """Returns the extent of a map with its table's tags along an axis."""
    ends = [point[axis] for area in printed.areas for point in area.outline_mm]
    for index in range(len(printed.table.tags)):
        ends += _tag_span_mm(printed, axis, index)
    return min(ends) - _BORDER_MM, max(ends) + _BORDER_MM


def _tag_span_mm(printed: PrintedMap, axis: int, index: int) -> Span:
    # A tag needs a rim of at most a quarter of its size: one cell of four.
    tag, half_mm = printed.table.tags[index], 0.75 * printed.table.tag_size_mm
    middle_mm = tag.x_mm if axis == 0 else tag.y_mm
    return middle_mm - half_mm, middle_mm + half_mm


def _draw_cross(pen: Pen, x_mm: float, y_mm: float) -> None:
    """Draws a mark for aligning two overlapping sheets."""
    pen.line((x_mm - _CROSS_MM, y_mm), (x_mm + _CROSS_MM, y_mm), grey=BLACK, thickness_mm=0.1)
    pen.line((x_mm, y_mm - _CROSS_MM), (x_mm, y_mm + _CROSS_MM), grey=BLACK, thickness_mm=0.1)
