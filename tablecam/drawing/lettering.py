"""Sets text in a real typeface, for pictures that players share."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from io import BytesIO
from typing import Final, Literal

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tablecam.drawing.pen import INK, Colour, Picture, to_ascii

_SCALE: Final = 0.9
"""This typeface's x-height equals that of common ones at this share of its size."""
_CASING: Final = 0.16
_REMEMBERED: Final = 2048
"""How many texts to cache: videos repeat the same words."""
_KNOWN: Final = frozenset(
    "".join(map(chr, range(0xA1, 0x100))) + "ĆćČčđĞğİıŁłŒœŞşŠšŸŽž–—‘’‚“”„†‡•…‰‹›€−≤≥"  # noqa: RUF001 - those that are there
)
"""Letters beyond ASCII that the typeface has: Western European and some Eastern ones."""


@dataclass(frozen=True, slots=True)
class Words:
    """A text at a place in a picture; `at_px` is the left end or the middle of its middle line.

    `height_px` is the size of the typeface. `casing` outlines the letters so that they read on any
    ground.
    """

    text: str
    at_px: tuple[float, float]
    height_px: float
    colour: Colour = INK
    casing: Colour | None = None
    bold: bool = False
    at: Literal["left", "middle"] = "left"


@lru_cache(maxsize=_REMEMBERED)
def size_px(text: str, height_px: float, *, bold: bool = False) -> tuple[float, float]:
    """Returns the width and height of a text."""
    return _font(height_px, bold).getlength(drawable(text)), height_px


def with_text(picture: Picture, words: Iterable[Words]) -> Picture:
    """Returns a copy of the picture (height, width, 3) with texts on it."""
    image = Image.fromarray(picture)  # BGR throughout: neither pixels nor colours are reordered
    draw = ImageDraw.Draw(image)
    for label in words:
        text, font = drawable(label.text), _font(label.height_px, label.bold)
        # Pillow's names for the middle of the text and of its left edge.
        anchor = "mm" if label.at == "middle" else "lm"
        if label.casing is not None:
            stroke_px = round(_CASING * label.height_px, 1)
            draw.text(label.at_px, text, label.casing, font, anchor, stroke_width=stroke_px)
        draw.text(label.at_px, text, label.colour, font, anchor)
    return np.array(image, dtype=np.uint8)


def wrapped(text: str, height_px: float, width_px: float, *, bold: bool = False) -> list[str]:
    """Breaks a text into lines of at most `width_px`, except for a single longer word."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        # A word that is wider than the line gets a line of its own.
        if lines and size_px(longer, height_px, bold=bold)[0] <= width_px:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def truncated(text: str, height_px: float, width_px: float) -> str:
    """Cuts a text to `width_px`, with an ellipsis where it is cut."""
    if size_px(text, height_px)[0] <= width_px:
        return text

    def cut_px(length: int) -> float:
        return size_px(f"{text[:length]}…", height_px)[0]

    # The width grows with the number of letters, so a bisection finds how many fit.
    length = bisect_right(range(len(text)), width_px, key=cut_px) - 1
    return f"{text[: max(0, length)].rstrip()}…"


@lru_cache(maxsize=_REMEMBERED)
def drawable(text: str) -> str:
    """Replaces letters that the typeface lacks.

    >>> drawable("Größe — 3 mm ± 0.1"), drawable("Győr, Łódź, Αθήνα")
    ('Größe — 3 mm ± 0.1', 'Gyor, Łódz, ?????')
    """
    return "".join(letter if letter in _KNOWN else to_ascii(letter) for letter in text)


@cache
def _font(height_px: float, bold: bool) -> ImageFont.FreeTypeFont:
    """Loads the typeface that comes with reportlab: Pillow's own has one weight and no umlauts."""
    file = files("reportlab") / "fonts" / ("VeraBd.ttf" if bold else "Vera.ttf")
    basic = ImageFont.Layout.BASIC  # enough for its scripts, and twice as fast
    return ImageFont.truetype(BytesIO(file.read_bytes()), _SCALE * height_px, layout_engine=basic)
