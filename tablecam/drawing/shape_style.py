"""Styles the shapes of a proof by their role in the question.

The colours are those of Okabe and Ito, which colour-blind players can distinguish; important
differences also show in dashes, thickness and labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tablecam.drawing.pen import INK, WHITE, Colour
from tablecam.table.sides import colour_numbers
from tablecam.uncertainty.answer import AnswerWord

BLUE: Final[Colour] = (178, 114, 0)
SKY: Final[Colour] = (233, 180, 86)
GREEN: Final[Colour] = (115, 158, 0)
YELLOW: Final[Colour] = (66, 228, 240)
ORANGE: Final[Colour] = (0, 159, 230)
VERMILION: Final[Colour] = (0, 94, 213)
PURPLE: Final[Colour] = (167, 121, 204)

GREY: Final[Colour] = (59, 59, 59)

SIDES: Final[tuple[Colour, ...]] = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, YELLOW, GREY)
"""The palette of the sides, on photographs and in drawings alike."""


@dataclass(frozen=True, slots=True)
class ShapeStyle:
    """A shape's colour, fill opacity, outline width, dashes and casing."""

    colour: Colour
    opacity: float = 0.0
    width: float = 2.0
    dashed: bool = False
    casing: Colour | None = INK


_PLAIN: Final = ShapeStyle(WHITE)

_STYLES: Final[Mapping[str, ShapeStyle]] = {
    "fire-zone": ShapeStyle(YELLOW, 0.24, 2.0),
    "friend": ShapeStyle(VERMILION, 0.45, 2.4),
    "range": ShapeStyle(YELLOW, width=2.4),
    "target": ShapeStyle(YELLOW, width=3.0),
    "cover": ShapeStyle(GREEN, 0.4, 2.0),
    "line-of-fire": ShapeStyle(GREEN, width=2.6),
    "lane": ShapeStyle(PURPLE, 0.42, 2.4),
    "wheel": ShapeStyle(PURPLE, 0.42, 2.4, dashed=True),
    "line-of-attack": ShapeStyle(PURPLE, width=3.0),
    "open-line": ShapeStyle(PURPLE, width=3.0),
    "length": ShapeStyle(WHITE, width=3.0),
    "ring": ShapeStyle(WHITE, width=1.8, dashed=True),
    "barred": ShapeStyle(VERMILION, width=2.6, dashed=True),
    "barrier": ShapeStyle(VERMILION, 0.3, 2.0),
    "impassable": ShapeStyle(VERMILION, 0.2, 2.0),
    "off-table": ShapeStyle(VERMILION, 0.3, 2.0),
    "reach": ShapeStyle(SKY, 0.22, 1.6),
    "path": ShapeStyle(SKY, width=2.6),
    "string": ShapeStyle(SKY, width=3.0, dashed=True),
    "link": ShapeStyle(GREEN, width=4.0),
    "contact": ShapeStyle(YELLOW, 0.9, 4.0),
    "directly-in-front": ShapeStyle(ORANGE, 0.24, 2.0),
    "front-line": ShapeStyle(WHITE, width=2.6),
    "front-edge": ShapeStyle(WHITE, width=4.0),
    "flank-line": ShapeStyle(ORANGE, width=1.8, dashed=True),
    "counts": ShapeStyle(SKY, 0.45, 2.4),
    "counts-not": ShapeStyle(WHITE, 0.0, 2.0, dashed=True),
    "intrusion": ShapeStyle(VERMILION, 0.6, 2.4),
}

BOUNDLESS: Final = frozenset(
    {"directly-in-front", "front-line", "flank-line", "fire-zone", "ring", "impassable", "nobody"}
)
"""Roles that extend far beyond the question: a picture is not widened for them."""

ANSWERS: Final[Mapping[AnswerWord, tuple[str, Colour, Colour]]] = {
    "yes": ("YES", GREEN, WHITE),
    "no": ("NO", VERMILION, WHITE),
    "too_close": ("TOO CLOSE TO CALL", YELLOW, INK),
}
"""The text, background and letter colour of each answer."""


def side_colours(sides: Iterable[str]) -> dict[str, Colour]:
    """Assigns each side a colour by its name or the order of first mention."""
    return {side: SIDES[number] for side, number in colour_numbers(sides).items()}


def style_of(role: str) -> ShapeStyle:
    """Returns the style of a role; an unknown role is drawn in white."""
    return _STYLES.get(role, _PLAIN)
