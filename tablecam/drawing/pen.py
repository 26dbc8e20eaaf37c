"""Draws lines and text on a picture, legible on any ground and at any size."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
import shapely
from numpy.typing import NDArray

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]
Colour = tuple[int, int, int]
"""Blue, green, red."""

WHITE: Colour = (255, 255, 255)
INK: Colour = (30, 25, 20)
PAPER: Colour = (246, 248, 250)
GREY: Colour = (125, 118, 112)
REFUSED: Colour = (60, 60, 230)

_FONT = cv2.FONT_HERSHEY_SIMPLEX
_FONT_HEIGHT_PX = 21.0
"""The height of a capital letter of this font at scale 1."""
_AROUND = tuple((math.cos(turn), math.sin(turn)) for turn in np.arange(12) * math.pi / 6)
_SHIFT = 4
"""Coordinates are fixed-point numbers in sixteenths of a pixel."""


def points_of(part: shapely.Geometry) -> Array:
    """Returns the points of a part; a polygon's do not repeat the first."""
    # Shapely repeats a ring's first point at its end.
    if isinstance(part, shapely.Polygon):
        return shapely.get_coordinates(part.exterior)[:-1]
    return shapely.get_coordinates(part)


@dataclass(frozen=True, slots=True, eq=False)
class Pen:
    """Draws on `picture` (height, width, 3); all sizes are in units of `unit_px` pixels.

    With a unit of 1/1080 of the picture's height, drawings look alike at any resolution.
    """

    picture: Picture
    unit_px: float

    def lines(
        self,
        points_px: Array,
        colour: Colour,
        *,
        width: float = 1.4,
        casing: Colour | None = WHITE,
        closed: bool = False,
    ) -> None:
        """Draws lines through points (n, 2) with a contrasting casing, unless one is nan."""
        if not np.isfinite(points_px).all():
            return
        fixed = [np.round(points_px * 2**_SHIFT).astype(np.int32)]
        thick = max(1, round(width * self.unit_px))
        if casing is not None:
            cased = thick + 2 * max(1, round(0.7 * self.unit_px))
            cv2.polylines(self.picture, fixed, closed, casing, cased, cv2.LINE_AA, _SHIFT)
        cv2.polylines(self.picture, fixed, closed, colour, thick, cv2.LINE_AA, _SHIFT)

    def dashes(
        self, points_px: Array, colour: Colour, *, width: float = 1.4, dash: float = 6.0
    ) -> None:
        """Draws a closed outline through points (n, 2) in dashes."""
        if not np.isfinite(points_px).all():
            return
        for start, end in zip(points_px, np.roll(points_px, -1, axis=0), strict=True):
            # A whole number of dashes and gaps to each side.
            count = max(1, round(float(np.hypot(*(end - start))) / (dash * self.unit_px)))
            for i in range(0, count, 2):
                ends = np.array([i, min(i + 1, count)])[:, None] / count
                self.lines(start + ends * (end - start), colour, width=width)

    def area(self, points_px: Array, colour: Colour, *, opacity: float = 1.0) -> None:
        """Fills a polygon (n, 2), translucent if `opacity` is below 1."""
        if not np.isfinite(points_px).all():
            return
        height, width = self.picture.shape[:2]
        # Only the polygon's box is copied and blended: whole pictures are large.
        low = np.floor(points_px.min(axis=0)).astype(int).clip(0, [width, height])
        high = np.ceil(points_px.max(axis=0) + 1).astype(int).clip(0, [width, height])
        if (high <= low).any():
            return
        # A view of the picture: blending writes straight into it.
        under = self.picture[low[1] : high[1], low[0] : high[0]]
        over = under.copy()
        fixed = [np.round((points_px - low) * 2**_SHIFT).astype(np.int32)]
        cv2.fillPoly(over, fixed, colour, cv2.LINE_AA, _SHIFT)
        cv2.addWeighted(over, opacity, under, 1 - opacity, 0, dst=under)

    def disc(self, middle_px: Array, radius: float, colour: Colour) -> None:
        """Draws a filled disc."""
        x, y = (round(float(value) * 2**_SHIFT) for value in middle_px)
        reach = round(radius * self.unit_px * 2**_SHIFT)
        cv2.circle(self.picture, (x, y), reach, colour, -1, cv2.LINE_AA, _SHIFT)

    def size_px(self, words: str, height: float, *, bold: bool = False) -> tuple[float, float]:
        """Returns the width and height of a text whose capitals are `height` units high."""
        scale, thick = self._font(height, bold)
        (width, tall), _ = cv2.getTextSize(to_ascii(words), _FONT, scale, thick)
        return float(width), float(tall)

    def words(
        self,
        words: str,
        at_px: Array,
        colour: Colour,
        *,
        height: float = 10.0,
        bold: bool = False,
        casing: Colour | None = WHITE,
        at: Literal["left", "middle", "right"] = "left",
    ) -> None:
        """Draws a text whose middle line begins, is centred or ends at `at_px`.

        The font has only ASCII, so accents are dropped. The text is shifted to stay in the picture.
        """
        if not np.isfinite(at_px).all():
            return
        width, tall = self.size_px(words, height, bold=bold)
        share = {"left": 0.0, "middle": 0.5, "right": 1.0}[at]
        gap = 2 * self.unit_px
        right_most = self.picture.shape[1] - width - gap
        lowest = self.picture.shape[0] - gap
        x = round(min(max(float(at_px[0]) - share * width, gap), max(right_most, gap)))
        # OpenCV places text by its baseline, half the letters' height below the middle.
        y = round(min(max(float(at_px[1]) + tall / 2, tall + gap), lowest))
        font = self._font(height, bold)
        if casing is not None:
            # Thicker strokes would widen the letters, so the casing repeats them all around.
            reach = max(1, round(1.2 * self.unit_px))
            for dx, dy in _AROUND:
                self._put(words, (x + round(dx * reach), y + round(dy * reach)), casing, font)
        self._put(words, (x, y), colour, font)

    def _put(
        self, words: str, at_px: tuple[int, int], colour: Colour, font: tuple[float, int]
    ) -> None:
        """Draws a text with OpenCV."""
        scale, thick = font
        text = to_ascii(words)
        cv2.putText(self.picture, text, at_px, _FONT, scale, colour, thick, cv2.LINE_AA)

    def _font(self, height: float, bold: bool) -> tuple[float, int]:
        """Returns the font's scale and stroke thickness."""
        tall_px = height * self.unit_px
        return tall_px / _FONT_HEIGHT_PX, max(1, round(tall_px / (6.5 if bold else 10)))


def to_ascii(words: str) -> str:
    """Replaces letters that the font lacks by ASCII.

    >>> to_ascii("Garde à cheval, Österreich")
    'Garde a cheval, Osterreich'
    """
    # Decomposed, accents are separate characters that can be dropped.
    bare = unicodedata.normalize("NFKD", words)
    bare = "".join(letter for letter in bare if not unicodedata.combining(letter))
    return bare.encode("ascii", "replace").decode("ascii")
