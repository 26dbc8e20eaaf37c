"""Words set in a real typeface, for pictures that players keep and show around."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Literal

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tablecam.vision.pen import INK, Colour, Picture, plain

_BOLD: Final = 0.035
"""How much wider, on each side and as a share of its height, a bold letter's strokes are: the
typeface that Pillow brings is there in one weight only."""
_CASING: Final = 0.16
_REMEMBERED: Final = 2048
"""Films write the same words again and again."""
_KNOWN: Final = frozenset("±°·“”…")
"""Letters beyond ASCII that the typeface has."""
_ALIKE: Final = str.maketrans({"×": "x", "–": "-", "—": "-", "−": "-", "’": "'", "„": "“"})  # noqa: RUF001


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
    stroke_px = _stroke_px(height_px, _BOLD if bold else 0.0)
    return _font(round(height_px)).getlength(drawable(text)) + 2 * stroke_px, height_px


def lettered(picture: Picture, words: Iterable[Words]) -> Picture:
    """A copy of the picture (height, width, 3) with words on it."""
    image = Image.fromarray(picture)  # its channels stay in our order, and so do the colours
    draw = ImageDraw.Draw(image)
    for each in words:
        text, font = drawable(each.text), _font(round(each.height_px))
        anchor = "mm" if each.at == "middle" else "lm"
        bold_px = _stroke_px(each.height_px, _BOLD if each.bold else 0.0)
        if each.casing is not None:
            around_px = bold_px + _stroke_px(each.height_px, _CASING)
            draw.text(each.at_px, text, each.casing, font, anchor, stroke_width=around_px)
        draw.text(each.at_px, text, each.colour, font, anchor, stroke_width=bold_px)
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

    >>> drawable("Größe — 3 mm ± 0.1")
    'Grosse - 3 mm ± 0.1'
    """
    alike = text.replace("ß", "ss").translate(_ALIKE)
    return "".join(each if each in _KNOWN else plain(each) for each in alike)


def _stroke_px(height_px: float, share: float) -> float:
    return round(share * height_px, 1)


@cache
def _font(height_px: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(height_px)
    assert isinstance(font, ImageFont.FreeTypeFont), "Pillow was built without FreeType"
    return font
