"""Draws whole counters to cut out: the tag in the middle, words and a front mark on the rim."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.print.content import Counter
from calibration.print.pen import PALE, Pen, tag_cells

_LETTERS_PER_MM = 2.6
"""The size in points of letters that fill a rim of 1 mm."""

_MOST_RIM_MM = 2.0
"""Words are no larger than on this rim, where a tag lies far from an edge of its base."""


@dataclass(frozen=True, slots=True)
class CounterBlock:
    """One side of a counter at true scale.

    The camera needs one white cell around the tag; the rest of the counter is the rim. Its front
    carries a mark and the side's meaning, its rear the unit's id and strength.
    """

    counter: Counter
    dictionary: str

    @property
    def name(self) -> str:
        """The name that errors use."""
        return f"counter {self.counter.id}"

    @property
    def width_mm(self) -> float:
        """Its width."""
        return self.counter.kind.width_mm

    @property
    def height_mm(self) -> float:
        """Its depth, front edge up."""
        return self.counter.kind.depth_mm

    def draw(self, pen: Pen, x_mm: float, y_mm: float) -> None:
        """Draws it with its top left corner at (x, y)."""
        counter, kind = self.counter, self.counter.kind
        pen.box(x_mm, y_mm, self.width_mm, self.height_mm, fill=counter.colour, line=PALE)
        cells = tag_cells(self.dictionary, counter.tag)
        white_mm = kind.tag_size_mm * (1 + 2 / len(cells))
        left = x_mm + self.width_mm / 2 + kind.tag_right_mm - white_mm / 2
        top = y_mm + self.height_mm / 2 - kind.tag_forward_mm - white_mm / 2
        pen.box(left, top, white_mm, white_mm, fill=1.0)
        inset_mm = kind.tag_size_mm / len(cells)
        pen.squares(left + inset_mm, top + inset_mm, cells, inset_mm)
        front_mm, rear_mm = (
            min(max(rim_mm, 0.0), _MOST_RIM_MM)
            for rim_mm in (top - y_mm, y_mm + self.height_mm - top - white_mm)
        )
        # A tag at the rear edge leaves no room for the id there.
        words = counter.note if rear_mm else counter.id
        self._draw_front(pen, x_mm, y_mm, front_mm, words)
        self._draw_rear(pen, x_mm, y_mm + self.height_mm - rear_mm, rear_mm)

    def _draw_front(self, pen: Pen, x_mm: float, y_mm: float, rim_mm: float, words: str) -> None:
        middle = x_mm + self.width_mm / 2
        pen.arrow_up(middle, y_mm + 0.92 * rim_mm, 0.8 * rim_mm)
        points, baseline = _LETTERS_PER_MM * rim_mm, y_mm + 0.82 * rim_mm
        half_mm = self.width_mm / 2 - rim_mm
        pen.text(x_mm + 0.5, baseline, words, points, within_mm=half_mm)
        pen.text(
            x_mm + self.width_mm - 0.5,
            baseline,
            f"tag {self.counter.tag}",
            points,
            align="right",
            within_mm=half_mm,
        )

    def _draw_rear(self, pen: Pen, x_mm: float, y_mm: float, rim_mm: float) -> None:
        points, baseline = _LETTERS_PER_MM * rim_mm, y_mm + 0.82 * rim_mm
        strength_mm = 0.0
        right = x_mm + self.width_mm - 0.5
        if self.counter.strength:
            strength_mm = 0.8 + pen.text(
                right, baseline, self.counter.strength, points, bold=True, align="right"
            )
        room_mm = self.width_mm - 1.0 - strength_mm
        pen.text(x_mm + 0.5, baseline, self.counter.id, points, bold=True, within_mm=room_mm)
