"""Words set in a real typeface, for pictures that players keep and show around."""

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

from tablecam.drawing.pen import INK, Colour, Picture, plain

_SCALE: Final = 0.9
"""Its small letters are as high as others' are at this share of their size."""
_CASING: Final = 0.16
_REMEMBERED: Final = 2048
"""Films write the same words again and again."""
_KNOWN: Final = frozenset(
    "".join(map(chr, range(0xA1, 0x100))) + "ĆćČčđĞğİıŁłŒœŞşŠšŸŽž–—‘’‚“”„†‡•…‰‹›€−≤≥"  # noqa: RUF001 - those that are there
)
"""Letters beyond ASCII that the typeface has: those of Western Europe, and some to the east."""


@dataclass(frozen=True, slots=True)
class Words:
    """Words at a place in a picture: `at_px` is where their middle line begins, or its middle.

    `height_px` is the size of the typeface. `casing` sets letters off from any ground.
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
    """How wide and high words are."""
    return _font(height_px, bold).getlength(drawable(text)), height_px


def lettered(picture: Picture, words: Iterable[Words]) -> Picture:
    """A copy of the picture (height, width, 3) with words on it."""
    image = Image.fromarray(picture)  # its channels stay in our order, and so do the colours
    draw = ImageDraw.Draw(image)
    for each in words:
        text, font = drawable(each.text), _font(each.height_px, each.bold)
        anchor = "mm" if each.at == "middle" else "lm"
        if each.casing is not None:
            around_px = round(_CASING * each.height_px, 1)
            draw.text(each.at_px, text, each.casing, font, anchor, stroke_width=around_px)
        draw.text(each.at_px, text, each.colour, font, anchor)
    return np.array(image, dtype=np.uint8)


def wrapped(text: str, height_px: float, width_px: float, *, bold: bool = False) -> list[str]:
    """Words in lines no wider than this, unless one word alone is."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and size_px(longer, height_px, bold=bold)[0] <= width_px:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def fitted(text: str, height_px: float, width_px: float) -> str:
    """Words as far as a line has room for them, with dots where they went on."""
    if size_px(text, height_px)[0] <= width_px:
        return text

    def cut_px(length: int) -> float:
        return size_px(f"{text[:length]}…", height_px)[0]

    length = bisect_right(range(len(text)), width_px, key=cut_px) - 1
    return f"{text[: max(0, length)].rstrip()}…"


@lru_cache(maxsize=_REMEMBERED)
def drawable(text: str) -> str:
    """Words in the letters that the typeface has.

    >>> drawable("Größe — 3 mm ± 0.1"), drawable("Győr, Łódź, Αθήνα")
    ('Größe — 3 mm ± 0.1', 'Gyor, Łódz, ?????')
    """
    return "".join(each if each in _KNOWN else plain(each) for each in text)


@cache
def _font(height_px: float, bold: bool) -> ImageFont.FreeTypeFont:
    """The typeface that comes with reportlab: Pillow's own has one weight and no umlauts."""
    file = files("reportlab") / "fonts" / ("VeraBd.ttf" if bold else "Vera.ttf")
    basic = ImageFont.Layout.BASIC  # no script that it has needs more, and it is twice as fast
    return ImageFont.truetype(BytesIO(file.read_bytes()), _SCALE * height_px, layout_engine=basic)
