"""Draws on a page in millimetres, y down, in shapes and never in pixels."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from reportlab.lib.units import mm as POINTS_PER_MM  # noqa: N812 - says what it is
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from calibration.errors import CalibrationError

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
    """A tag's cells, black border and all: (n, n), true where it is black, top row first.

    Raises:
        CalibrationError: There is no such dictionary, or no such tag in it.
    """
    code = getattr(cv2.aruco, dictionary, None) if dictionary.startswith("DICT_") else None
    if code is None:
        raise CalibrationError(
            f"expected an ArUco dictionary such as DICT_4X4_250, got {dictionary}"
        )
    family = cv2.aruco.getPredefinedDictionary(code)
    count = len(family.bytesList)
    if not 0 <= tag < count:
        raise CalibrationError(f"tag {tag}: expected 0 to {count - 1}, which {dictionary} holds")
    side = int(family.markerSize) + 2
    picture = cv2.aruco.generateImageMarker(family, tag, side, borderBits=1)
    return np.asarray(picture == 0, dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Pen:
    """What draws on the page that is open on a canvas.

    `height_mm` is the page's. Greys are 0 for black to 1 for white.
    """

    canvas: Canvas
    height_mm: float

    def squares(self, x_mm: float, y_mm: float, cells: Cells, cell_mm: float) -> None:
        """Black squares of `cell_mm` in a grid whose top left corner is at (x, y).

        They are one path, cells of a row in one piece, so that no viewer shows hairlines between.
        """
        path = self.canvas.beginPath()
        for row, line in enumerate(cells):
            for first, count in _runs(line):
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
        fill: float | None = None,
        line: float | None = None,
    ) -> None:
        """A rectangle, filled or outlined in grey, or both."""
        if fill is not None:
            self.canvas.setFillGray(fill)
        if line is not None:
            self._line_style(line, _THICKNESS_MM)
        self.canvas.rect(
            *self._rect(x_mm, y_mm, width_mm, height_mm),
            stroke=int(line is not None),
            fill=int(fill is not None),
        )

    def line(
        self,
        start_mm: tuple[float, float],
        end_mm: tuple[float, float],
        *,
        grey: float = BLACK,
        thickness_mm: float = _THICKNESS_MM,
    ) -> None:
        """A straight line."""
        self._line_style(grey, thickness_mm)
        self.canvas.line(*self._point(*start_mm), *self._point(*end_mm))

    def polygon(self, points_mm: Sequence[tuple[float, float]], *, fill: float) -> None:
        """A filled polygon."""
        path = self.canvas.beginPath()
        path.moveTo(*self._point(*points_mm[0]))
        for point_mm in points_mm[1:]:
            path.lineTo(*self._point(*point_mm))
        path.close()
        self.canvas.setFillGray(fill)
        self.canvas.drawPath(path, stroke=0, fill=1)

    def arrow_up(self, x_mm: float, y_mm: float, size_mm: float, *, fill: float = BLACK) -> None:
        """A triangle that points up the page, its base's middle at (x, y)."""
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
    ) -> float:
        """One line of text on the baseline y; smaller, then cut, to keep `within_mm`.

        Returns its width in millimetres.
        """
        words = _printable(words)
        if within_mm is not None:
            words, points = _fitted(words, points, _FONTS[bold], within_mm * POINTS_PER_MM)
        self.canvas.setFont(_FONTS[bold], points)
        self.canvas.setFillGray(grey)
        draw = {
            "left": self.canvas.drawString,
            "middle": self.canvas.drawCentredString,
            "right": self.canvas.drawRightString,
        }[align]
        draw(*self._point(x_mm, y_mm), words)
        return float(stringWidth(words, _FONTS[bold], points)) / POINTS_PER_MM

    def _line_style(self, grey: float, thickness_mm: float) -> None:
        self.canvas.setStrokeGray(grey)
        self.canvas.setLineWidth(thickness_mm * POINTS_PER_MM)

    def _point(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        return x_mm * POINTS_PER_MM, (self.height_mm - y_mm) * POINTS_PER_MM

    def _rect(
        self, x_mm: float, y_mm: float, width_mm: float, height_mm: float
    ) -> tuple[float, float, float, float]:
        left, bottom = self._point(x_mm, y_mm + height_mm)
        return left, bottom, width_mm * POINTS_PER_MM, height_mm * POINTS_PER_MM


def _runs(line: Cells) -> list[tuple[int, int]]:
    """The runs of true cells in a row: where each starts, and how long it is."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], line, [False]]).astype(np.int8)))
    return [(int(first), int(end - first)) for first, end in edges.reshape(-1, 2)]


def _fitted(words: str, points: float, font: str, width_points: float) -> tuple[str, float]:
    """Words, and a size at which they are at most so wide."""
    natural = stringWidth(words, font, points)
    if natural <= width_points:
        return words, points
    points = max(points * width_points / natural, min(points, _SMALLEST_POINTS))
    while len(words) > 1 and stringWidth(words, font, points) > width_points:
        words = words[:-2] + "…"
    return words, points


def _printable(words: str) -> str:
    """Words in the letters that every PDF reader brings: accents beyond Western Europe go."""
    return "".join(map(_western, words))


def _western(letter: str) -> str:
    if _is_western(letter):
        return letter
    parts = unicodedata.normalize("NFKD", letter)
    return "".join(part for part in parts if _is_western(part)) or "?"


def _is_western(letter: str) -> bool:
    try:
        letter.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True
