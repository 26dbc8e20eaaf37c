"""Draws vector shapes on a PDF page, in millimetres with y down."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from reportlab.lib.colors import Color
from reportlab.lib.units import mm as POINTS_PER_MM  # noqa: N812 - says what it is
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from calibration.errors import CalibrationError
from calibration.extrinsics.table_tags import tag_dictionary
from calibration.print.content import Colour

Cells = NDArray[np.bool_]
Align = Literal["left", "middle", "right"]

BLACK = 0.0
GREY = 0.4
PALE = 0.72
FAINT = 0.9

_FONTS = {False: "Helvetica", True: "Helvetica-Bold"}
_SMALLEST_POINTS = 3.8
_THICKNESS_MM = 0.15


def tag_cells(dictionary: str, tag: int) -> Cells:
    """Returns a tag's cells with its black border: (n, n), true where black, top row first.

    Raises:
        CalibrationError: There is no such dictionary, or no such tag in it.
    """
    family = tag_dictionary(dictionary)
    count = len(family.bytesList)
    if not 0 <= tag < count:
        raise CalibrationError(f"tag {tag}: {dictionary} has tags 0 to {count - 1}")
    # One pixel a cell, with the black border on both sides.
    side = int(family.markerSize) + 2
    picture = cv2.aruco.generateImageMarker(family, tag, side, borderBits=1)
    return np.asarray(picture == 0, dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Pen:
    """Draws on the open page of a canvas.

    `height_mm` is the page's. Greys are 0 for black to 1 for white; a colour may stand for one.
    """

    canvas: Canvas
    height_mm: float

    def squares(self, x_mm: float, y_mm: float, cells: Cells, cell_mm: float) -> None:
        """Draws the true cells of a grid as black squares, its top left corner at (x, y).

        They form one path, with runs in a row merged, so that no viewer shows hairlines between
        them.
        """
        path = self.canvas.beginPath()
        for row, row_cells in enumerate(cells):
            for first, count in _runs(row_cells):
                left, top = x_mm + first * cell_mm, y_mm + row * cell_mm
                path.rect(*self._rect(left, top, count * cell_mm, cell_mm))
        self.canvas.setFillGray(BLACK)
        self.canvas.drawPath(path, stroke=0, fill=1)

    def box(
        self,
        x_mm: float,
        y_mm: float,
        width_mm: float,
        height_mm: float,
        *,
        fill: float | Colour | None = None,
        line: float | None = None,
        is_oval: bool = False,
    ) -> None:
        """Draws a rectangle or the ellipse in it, filled or outlined in grey, or both."""
        if fill is not None:
            self.canvas.setFillColor(_ink(fill))
        if line is not None:
            self._line_style(line, _THICKNESS_MM)
        left, bottom, width, height = self._rect(x_mm, y_mm, width_mm, height_mm)
        inked = {"stroke": int(line is not None), "fill": int(fill is not None)}
        if is_oval:
            self.canvas.ellipse(left, bottom, left + width, bottom + height, **inked)
        else:
            self.canvas.rect(left, bottom, width, height, **inked)

    def line(
        self,
        start_mm: tuple[float, float],
        end_mm: tuple[float, float],
        *,
        grey: float | Colour = BLACK,
        thickness_mm: float = _THICKNESS_MM,
        is_round: bool = False,
    ) -> None:
        """Draws a straight line, optionally with round ends."""
        self._line_style(grey, thickness_mm)
        self.canvas.setLineCap(1 if is_round else 0)
        self.canvas.line(*self._point(*start_mm), *self._point(*end_mm))

    def polygon(
        self,
        points_mm: Sequence[tuple[float, float]],
        *,
        fill: float | Colour,
        line: float | None = None,
    ) -> None:
        """Draws a filled polygon, optionally outlined in grey."""
        path = self.canvas.beginPath()
        path.moveTo(*self._point(*points_mm[0]))
        for point_mm in points_mm[1:]:
            path.lineTo(*self._point(*point_mm))
        path.close()
        self.canvas.setFillColor(_ink(fill))
        if line is not None:
            self._line_style(line, _THICKNESS_MM)
        self.canvas.drawPath(path, stroke=int(line is not None), fill=1)

    @contextmanager
    def clipped(
        self, x_mm: float, y_mm: float, width_mm: float, height_mm: float
    ) -> Iterator[None]:
        """Clips drawing to a rectangle."""
        self.canvas.saveState()
        path = self.canvas.beginPath()
        path.rect(*self._rect(x_mm, y_mm, width_mm, height_mm))
        self.canvas.clipPath(path, stroke=0, fill=0)
        yield
        self.canvas.restoreState()

    def arrow_up(self, x_mm: float, y_mm: float, size_mm: float, *, fill: float = BLACK) -> None:
        """Draws a triangle that points up the page, with the middle of its base at (x, y)."""
        half_mm = 0.55 * size_mm
        self.polygon(
            [(x_mm - half_mm, y_mm), (x_mm, y_mm - size_mm), (x_mm + half_mm, y_mm)], fill=fill
        )

    def text(
        self,
        x_mm: float,
        y_mm: float,
        words: str,
        points: float,
        *,
        bold: bool = False,
        align: Align = "left",
        grey: float = BLACK,
        within_mm: float | None = None,
        paper: Colour | None = None,
    ) -> float:
        """Writes one line of text on the baseline y, shrunk and then cut to fit `within_mm`.

        Lines beneath it are painted over in the colour of the `paper`, if there is one. Returns its
        width in millimetres.
        """
        words = _printable(words)
        if within_mm is not None:
            words, points = _fitted(words, points, _FONTS[bold], within_mm * POINTS_PER_MM)
        width_mm = float(stringWidth(words, _FONTS[bold], points)) / POINTS_PER_MM
        if paper is not None:
            high_mm = points / POINTS_PER_MM
            left_mm = x_mm - width_mm * {"left": 0.0, "middle": 0.5, "right": 1.0}[align]
            self.box(left_mm, y_mm - 0.8 * high_mm, width_mm, high_mm, fill=paper)
        self.canvas.setFont(_FONTS[bold], points)
        self.canvas.setFillGray(grey)
        draw = {
            "left": self.canvas.drawString,
            "middle": self.canvas.drawCentredString,
            "right": self.canvas.drawRightString,
        }[align]
        draw(*self._point(x_mm, y_mm), words)
        return width_mm

    def _line_style(self, grey: float | Colour, thickness_mm: float) -> None:
        """Sets the colour and thickness of lines."""
        self.canvas.setStrokeColor(_ink(grey))
        self.canvas.setLineWidth(thickness_mm * POINTS_PER_MM)

    def _point(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        """Converts a point to PDF coordinates, y up."""
        return x_mm * POINTS_PER_MM, (self.height_mm - y_mm) * POINTS_PER_MM

    def _rect(
        self, x_mm: float, y_mm: float, width_mm: float, height_mm: float
    ) -> tuple[float, float, float, float]:
        """Converts a rectangle to PDF coordinates: left, bottom, width, height."""
        # A rectangle of PDF starts at its bottom left corner.
        left, bottom = self._point(x_mm, y_mm + height_mm)
        return left, bottom, width_mm * POINTS_PER_MM, height_mm * POINTS_PER_MM


def _ink(shade: float | Colour) -> Color:
    """Returns reportlab's colour of a grey or a colour."""
    return Color(*shade) if isinstance(shade, tuple) else Color(shade, shade, shade)


def _runs(row_cells: Cells) -> list[tuple[int, int]]:
    """Returns the runs of true cells in a row: first column and length."""
    # Padding with False makes every run start and end at an edge.
    edges = np.flatnonzero(np.diff(np.concatenate([[False], row_cells, [False]]).astype(np.int8)))
    return [(int(first), int(end - first)) for first, end in edges.reshape(-1, 2)]


def _fitted(words: str, points: float, font: str, width_points: float) -> tuple[str, float]:
    """Shrinks, then cuts, words to a width in points; returns them and their size."""
    full_width = stringWidth(words, font, points)
    if full_width <= width_points:
        return words, points
    # Never below the smallest legible size, unless the text asks for less.
    points = max(points * width_points / full_width, min(points, _SMALLEST_POINTS))
    # At the smallest legible size cut letters instead.
    while len(words) > 1 and stringWidth(words, font, points) > width_points:
        # The ellipsis replaces one letter, so drop two to shorten the line.
        words = words[:-2] + "…"
    return words, points


def _printable(words: str) -> str:
    """Replaces letters that PDF's standard fonts lack; non-Western accents are dropped."""
    return "".join(map(_western, words))


def _western(letter: str) -> str:
    """Returns a letter without accents that cp1252 lacks, or a question mark."""
    if _is_western(letter):
        return letter
    # Decomposed, an accented letter leaves its plain one.
    parts = unicodedata.normalize("NFKD", letter)
    return "".join(part for part in parts if _is_western(part)) or "?"


def _is_western(letter: str) -> bool:
    """Whether cp1252 has the letter."""
    try:
        letter.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True
