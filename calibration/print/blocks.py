"""Draws the blocks of a sheet: a unit's tags, gluing guides, table tags, the lens board."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.intrinsics.board import (
    LENS_BOARD_DICTIONARY,
    LENS_BOARD_MARKER_MM,
    LENS_BOARD_SQUARE_MM,
    LENS_BOARD_SQUARES,
)
from calibration.jig import JIG_REACH_MM, JIG_TAG_MM, JIG_TAGS_MM
from calibration.print.content import BaseKind, TablePlan, TableTagToPrint
from calibration.print.pen import BLACK, FAINT, GREY, PALE, Pen, tag_cells

_TICK_MM = 2.5  # length of the cut marks outside the piece
_TICK_GAP_MM = 0.4
_LABEL_MM = 4.2
_HEADING_MM = 8.0
_LEAST_WIDTH_MM = 36.0
_MIDDLE_MARK_MM = 3.0
_PLAN_MM = 16.0  # height of a table tag's label, with the small map


@dataclass(frozen=True, slots=True)
class BaseStrip:
    """A strip of one unit's tags, cut out in one piece and then cut apart.

    Each piece is the tag, its white rim, and in front of it a label with id, unit and an arrow to
    the base's front.
    """

    title: str
    note: str
    kind: BaseKind
    tags: tuple[int, ...]
    dictionary: str

    @property
    def name(self) -> str:
        """The name that errors use."""
        return f"tag {self.tags[0]} ({self.title})"

    @property
    def rim_mm(self) -> float:
        """The width of the white around the black square."""
        return self.kind.rim_mm(len(tag_cells(self.dictionary, self.tags[0])))

    @property
    def piece_mm(self) -> float:
        """The side of a tag with its rim."""
        return self.kind.tag_size_mm + 2 * self.rim_mm

    @property
    def width_mm(self) -> float:
        """The width with the cut marks."""
        return max(len(self.tags) * self.piece_mm + 2 * _TICK_MM, _LEAST_WIDTH_MM)

    @property
    def height_mm(self) -> float:
        """The height with the heading and the cut marks."""
        return _HEADING_MM + 2 * _TICK_MM + _LABEL_MM + self.piece_mm

    def draw(self, pen: Pen, x_mm: float, y_mm: float) -> None:
        """Draws it with its top left corner at (x, y)."""
        pen.text(x_mm, y_mm + 3.4, self.title, 9, bold=True, within_mm=self.width_mm)
        pen.text(x_mm, y_mm + 6.9, self.note, 6.5, grey=GREY, within_mm=self.width_mm)
        left, top = x_mm + _TICK_MM, y_mm + _HEADING_MM + _TICK_MM
        for place, tag in enumerate(self.tags):
            self._draw_piece(pen, left + place * self.piece_mm, top, tag)
        self._draw_cuts(pen, left, top)

    def _draw_piece(self, pen: Pen, x_mm: float, y_mm: float, tag: int) -> None:
        baseline, right = y_mm + 0.5 * _LABEL_MM + 0.8, x_mm + self.piece_mm - 0.8
        pen.box(x_mm, y_mm, self.piece_mm, _LABEL_MM, fill=FAINT)
        pen.arrow_up(x_mm + 2, baseline, 1.9)
        label_end_mm = x_mm + 3.6 + pen.text(x_mm + 3.6, baseline, str(tag), 6.5, bold=True)
        room_mm = right - label_end_mm - 0.8
        pen.text(right, baseline, self.title, 6, align="right", within_mm=room_mm)
        cells = tag_cells(self.dictionary, tag)
        pen.squares(
            x_mm + self.rim_mm,
            y_mm + _LABEL_MM + self.rim_mm,
            cells,
            self.kind.tag_size_mm / len(cells),
        )

    def _draw_cuts(self, pen: Pen, x_mm: float, y_mm: float) -> None:
        """Draws hairlines where the pieces are cut, and marks outside for a ruler."""
        right = x_mm + len(self.tags) * self.piece_mm
        # The middle cut separates the label, which is cut off last, from the tag.
        rows = [y_mm, y_mm + _LABEL_MM, y_mm + _LABEL_MM + self.piece_mm]
        columns = [x_mm + place * self.piece_mm for place in range(len(self.tags) + 1)]
        for y in rows:
            pen.line((x_mm, y), (right, y), grey=PALE, thickness_mm=0.1)
            _ticks(pen, (x_mm, y), (right, y))
        for x in columns:
            pen.line((x, rows[0]), (x, rows[-1]), grey=PALE, thickness_mm=0.1)
            _ticks(pen, (x, rows[0]), (x, rows[-1]))


@dataclass(frozen=True, slots=True)
class GlueGuide:
    """A base from above at true scale, with the place of its tag."""

    kind: BaseKind
    cells_across: int

    @property
    def name(self) -> str:
        """The name that errors use."""
        return f"base type {self.kind.name}"

    @property
    def width_mm(self) -> float:
        """The width of the base, or of the words below it."""
        return max(self.kind.width_mm, 44.0)

    @property
    def height_mm(self) -> float:
        """The height of the base with the words above and below."""
        return self.kind.depth_mm + 17.0

    def draw(self, pen: Pen, x_mm: float, y_mm: float) -> None:
        """Draws it with its top left corner at (x, y)."""
        kind = self.kind
        pen.text(x_mm, y_mm + 3.4, kind.name, 9, bold=True, within_mm=self.width_mm)
        top = y_mm + 7.5
        middle = (x_mm + kind.width_mm / 2, top + kind.depth_mm / 2)
        pen.arrow_up(middle[0] - 5.5, y_mm + 6.4, 2.0)
        pen.text(middle[0] - 3.5, y_mm + 6.2, "front" if kind.is_oval else "front edge", 6.5)
        pen.box(
            x_mm, top, kind.width_mm, kind.depth_mm, fill=FAINT, line=GREY, is_oval=kind.is_oval
        )
        if not kind.is_oval:
            pen.line((x_mm, top), (x_mm + kind.width_mm, top), thickness_mm=0.7)
        # Forward is up on the page, where y points down.
        self._draw_tag(pen, middle[0] + kind.tag_right_mm, middle[1] - kind.tag_forward_mm)
        below = top + kind.depth_mm
        pen.text(x_mm, below + 3.6, self._size_words(), 6.5, grey=GREY, within_mm=self.width_mm)
        pen.text(x_mm, below + 6.8, self._place_words(), 6.5, grey=GREY, within_mm=self.width_mm)

    def _draw_tag(self, pen: Pen, x_mm: float, y_mm: float) -> None:
        """Draws the tag's outline with its middle at (x, y)."""
        size_mm = self.kind.tag_size_mm
        piece_mm = size_mm + 2 * self.kind.rim_mm(self.cells_across)
        pen.box(x_mm - piece_mm / 2, y_mm - piece_mm / 2, piece_mm, piece_mm, fill=1.0, line=PALE)
        pen.box(x_mm - size_mm / 2, y_mm - size_mm / 2, size_mm, size_mm, fill=PALE)
        pen.arrow_up(x_mm, y_mm - size_mm / 2 + 3, 2.4)
        pen.text(x_mm, y_mm + 2, "tag", 7, align="middle", within_mm=size_mm)

    def _size_words(self) -> str:
        """Returns the sizes of base and tag."""
        kind = self.kind
        is_round = kind.is_oval and kind.width_mm == kind.depth_mm
        size = f"{kind.width_mm:g} mm" if is_round else f"{kind.width_mm:g} x {kind.depth_mm:g} mm"
        return f"base {size}, tag {kind.tag_size_mm:g} mm"

    def _place_words(self) -> str:
        """Returns the place of the tag's middle on the base."""
        forward = _offset(self.kind.tag_forward_mm, "forward", "back")
        right = _offset(self.kind.tag_right_mm, "right", "left")
        offsets = ", ".join(words for words in (forward, right) if words)
        return f"middle of the tag: {offsets or 'the middle of the base'}"


@dataclass(frozen=True, slots=True)
class TableTagBlock:
    """A table tag with its rim, its place on the table and its direction."""

    tag: TableTagToPrint
    plan: TablePlan
    dictionary: str

    @property
    def name(self) -> str:
        """The name that errors use."""
        return f"table tag {self.tag.id}"

    @property
    def rim_mm(self) -> float:
        """The width of the rim: one white cell, and room for the middle marks."""
        return self.plan.tag_size_mm / self._cells_across + _MIDDLE_MARK_MM

    @property
    def piece_mm(self) -> float:
        """The side of the tag with its rim."""
        return self.plan.tag_size_mm + 2 * self.rim_mm

    @property
    def width_mm(self) -> float:
        """The width with the cut marks."""
        return self.piece_mm + 2 * _TICK_MM

    @property
    def height_mm(self) -> float:
        """The height with the label, which stays on, and the cut marks."""
        return self.piece_mm + _PLAN_MM + 2 * _TICK_MM

    @property
    def _cells_across(self) -> int:
        """The number of cells along a side, black border included."""
        return len(tag_cells(self.dictionary, self.tag.id))

    def draw(self, pen: Pen, x_mm: float, y_mm: float) -> None:
        """Draws it with its top left corner at (x, y)."""
        left, top = x_mm + _TICK_MM, y_mm + _TICK_MM
        cells = tag_cells(self.dictionary, self.tag.id)
        cell_mm = self.plan.tag_size_mm / len(cells)
        pen.squares(left + self.rim_mm, top + self.rim_mm, cells, cell_mm)
        self._draw_middle_marks(pen, left, top)
        self._draw_label(pen, left, top + self.piece_mm)
        # The label stays on, so the cuts run around it.
        right, bottom = left + self.piece_mm, top + self.piece_mm + _PLAN_MM
        pen.box(left, top, right - left, bottom - top, line=PALE)
        for y in (top, bottom):
            _ticks(pen, (left, y), (right, y))
        for x in (left, right):
            _ticks(pen, (x, top), (x, bottom))

    def _draw_middle_marks(self, pen: Pen, x_mm: float, y_mm: float) -> None:
        """Draws marks on the rim's edge at the tag's middle, to align with lines on the table."""
        end, middle = self.piece_mm, self.piece_mm / 2
        reach = _MIDDLE_MARK_MM - 0.6
        pen.line((x_mm + middle, y_mm), (x_mm + middle, y_mm + reach))
        pen.line((x_mm + middle, y_mm + end - reach), (x_mm + middle, y_mm + end))
        pen.line((x_mm, y_mm + middle), (x_mm + reach, y_mm + middle))
        pen.line((x_mm + end - reach, y_mm + middle), (x_mm + end, y_mm + middle))
        pen.arrow_up(x_mm + middle, y_mm + 2.2, 2.0)
        pen.text(x_mm + middle + 1.8, y_mm + 2.2, "+y", 6.5, bold=True)

    def _draw_label(self, pen: Pen, x_mm: float, y_mm: float) -> None:
        """Draws the tag's number, place and direction below it, with a map."""
        map_mm = 0.4 * self.piece_mm
        words_mm = self.piece_mm - map_mm - 5
        pen.line((x_mm, y_mm), (x_mm + self.piece_mm, y_mm), grey=PALE, thickness_mm=0.1)
        pen.text(x_mm + 2, y_mm + 5, f"table tag {self.tag.id}", 10, bold=True, within_mm=words_mm)
        place = f"middle at x = {self.tag.x_mm:g}, y = {self.tag.y_mm:g} mm"
        pen.text(x_mm + 2, y_mm + 9, place, 7, within_mm=words_mm)
        pen.text(x_mm + 2, y_mm + 12.4, "this side up: top toward +y", 7, within_mm=words_mm)
        self._draw_map(pen, x_mm + self.piece_mm - map_mm - 2, y_mm + 1.5, map_mm)

    def _draw_map(self, pen: Pen, x_mm: float, y_mm: float, width_mm: float) -> None:
        """Draws a small map of the table with all its tags, this one black."""
        plan = self.plan
        scale = min(width_mm / plan.width_mm, (_PLAN_MM - 3) / plan.depth_mm)
        left = x_mm + width_mm - scale * plan.width_mm
        bottom = y_mm + scale * plan.depth_mm
        pen.box(left, y_mm, scale * plan.width_mm, scale * plan.depth_mm, fill=FAINT, line=GREY)
        for tag in plan.tags:
            # The table's y points up, the page's down.
            x, y = left + scale * tag.x_mm, bottom - scale * tag.y_mm
            is_this = tag.id == self.tag.id
            pen.box(x - 0.9, y - 0.9, 1.8, 1.8, fill=BLACK if is_this else PALE)


@dataclass(frozen=True, slots=True)
class LensBoard:
    """The ChArUco board that calibrates the lens, at a scale."""

    scale: float

    @property
    def name(self) -> str:
        """The name that errors use."""
        return f"lens board at {100 * self.scale:g} %"

    @property
    def width_mm(self) -> float:
        """The board's width."""
        return LENS_BOARD_SQUARES[0] * self.square_mm

    @property
    def height_mm(self) -> float:
        """The board's height."""
        return LENS_BOARD_SQUARES[1] * self.square_mm

    @property
    def square_mm(self) -> float:
        """The side of a printed square."""
        return LENS_BOARD_SQUARE_MM * self.scale

    @property
    def marker_mm(self) -> float:
        """The side of a printed marker."""
        return LENS_BOARD_MARKER_MM * self.scale

    def draw(self, pen: Pen, x_mm: float, y_mm: float) -> None:
        """Draws it with its top left corner at (x, y)."""
        columns, rows = LENS_BOARD_SQUARES
        # OpenCV's current layout: the top left square is black, markers are numbered row by row.
        is_black = np.add.outer(np.arange(rows), np.arange(columns)) % 2 == 0
        pen.squares(x_mm, y_mm, is_black, self.square_mm)
        inset_mm = (self.square_mm - self.marker_mm) / 2
        for marker, (row, column) in enumerate(np.argwhere(~is_black)):
            cells = tag_cells(LENS_BOARD_DICTIONARY, marker)
            left = x_mm + float(column) * self.square_mm + inset_mm
            top = y_mm + float(row) * self.square_mm + inset_mm
            pen.squares(left, top, cells, self.marker_mm / len(cells))


@dataclass(frozen=True, slots=True)
class JigSheet:
    """The jig's corner: two lines to lay rulers along, and the sheet's tags around it."""

    tags: tuple[int, ...]
    dictionary: str

    @property
    def name(self) -> str:
        """The name that errors use."""
        return "jig"

    @property
    def rim_mm(self) -> float:
        """The white around a tag: one cell."""
        return JIG_TAG_MM / len(tag_cells(self.dictionary, self.tags[0]))

    @property
    def width_mm(self) -> float:
        """The width of all tags with their rims."""
        return self._extent_mm([x for x, _ in JIG_TAGS_MM])

    @property
    def height_mm(self) -> float:
        """The height of all tags with their rims."""
        return self._extent_mm([y for _, y in JIG_TAGS_MM])

    def _extent_mm(self, middles_mm: list[float]) -> float:
        return max(middles_mm) - min(middles_mm) + JIG_TAG_MM + 2 * self.rim_mm

    def draw(self, pen: Pen, x_mm: float, y_mm: float) -> None:
        """Draws it with its top left corner at (x, y)."""
        beside_mm = JIG_TAG_MM / 2 + self.rim_mm
        corner_x = x_mm + beside_mm - min(x for x, _ in JIG_TAGS_MM)
        corner_y = y_mm + beside_mm + max(y for _, y in JIG_TAGS_MM)
        for tag, (right, up) in zip(self.tags, JIG_TAGS_MM, strict=True):
            cells = tag_cells(self.dictionary, tag)
            left, top = corner_x + right - JIG_TAG_MM / 2, corner_y - up - JIG_TAG_MM / 2
            pen.squares(left, top, cells, JIG_TAG_MM / len(cells))
        reach_x, reach_y = JIG_REACH_MM
        corner = (corner_x, corner_y)
        for end in ((corner_x + reach_x, corner_y), (corner_x, corner_y - reach_y)):
            pen.line(corner, end, thickness_mm=0.1)
        pen.text(corner_x + 60, corner_y + 5, "lay one ruler along here, below the line", 8)
        pen.text(corner_x + 6, corner_y - reach_y + 4, "and one left of this line", 8)
        pen.text(corner_x + 62, corner_y - 34, "push each base in here", 8, grey=GREY)


def _ticks(pen: Pen, start_mm: tuple[float, float], end_mm: tuple[float, float]) -> None:
    """Draws cut marks beyond both ends of a horizontal or vertical line."""
    start, end = np.array(start_mm), np.array(end_mm)
    along = (end - start) / np.linalg.norm(end - start)
    for point, outward in ((start, -along), (end, along)):
        near, far = point + _TICK_GAP_MM * outward, point + _TICK_MM * outward
        pen.line((float(near[0]), float(near[1])), (float(far[0]), float(far[1])), grey=GREY)


def _offset(value_mm: float, positive: str, negative: str) -> str:
    """Returns an offset in words, empty for 0."""
    if value_mm == 0:
        return ""
    return f"{abs(value_mm):g} mm {positive if value_mm > 0 else negative}"
