"""How the shapes of a proof look on a photograph, by what they are to the question.

The colours are those of Okabe and Ito, which colour-blind players tell apart; what matters is
told apart by dashes, thickness and labels as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tablecam.drawing.pen import INK, WHITE, Colour
from tablecam.uncertainty.answer import AnswerWord

BLUE: Final[Colour] = (178, 114, 0)
SKY: Final[Colour] = (233, 180, 86)
GREEN: Final[Colour] = (115, 158, 0)
YELLOW: Final[Colour] = (66, 228, 240)
ORANGE: Final[Colour] = (0, 159, 230)
VERMILION: Final[Colour] = (0, 94, 213)
PURPLE: Final[Colour] = (167, 121, 204)

SIDES: Final[tuple[Colour, ...]] = (BLUE, VERMILION, GREEN, PURPLE)
"""By the order of the sides in the table file, as in the drawings of rulings."""


@dataclass(frozen=True, slots=True)
class Look:
    """A shape's colour, how opaque it is filled, how thick it is outlined, and in what casing."""

    colour: Colour
    opacity: float = 0.0
    width: float = 2.0
    dashed: bool = False
    casing: Colour | None = INK


_PLAIN: Final = Look(WHITE)

_LOOKS: Final[Mapping[str, Look]] = {
    "fire-zone": Look(YELLOW, 0.24, 2.0),
    "friend": Look(VERMILION, 0.45, 2.4),
    "range": Look(YELLOW, width=2.4),
    "target": Look(YELLOW, width=3.0),
    "cover": Look(GREEN, 0.4, 2.0),
    "line-of-fire": Look(GREEN, width=2.6),
    "lane": Look(PURPLE, 0.42, 2.4),
    "wheel": Look(PURPLE, 0.42, 2.4, dashed=True),
    "line-of-attack": Look(PURPLE, width=3.0),
    "open-line": Look(PURPLE, width=3.0),
    "length": Look(WHITE, width=3.0),
    "ring": Look(WHITE, width=1.8, dashed=True),
    "barred": Look(VERMILION, width=2.6, dashed=True),
    "barrier": Look(VERMILION, 0.3, 2.0),
    "impassable": Look(VERMILION, 0.2, 2.0),
    "off-table": Look(VERMILION, 0.3, 2.0),
    "reach": Look(SKY, 0.22, 1.6),
    "path": Look(SKY, width=2.6),
    "string": Look(SKY, width=3.0, dashed=True),
    "link": Look(GREEN, width=4.0),
    "contact": Look(YELLOW, 0.9, 4.0),
    "directly-in-front": Look(ORANGE, 0.24, 2.0),
    "front-line": Look(WHITE, width=2.6),
    "front-edge": Look(WHITE, width=4.0),
    "flank-line": Look(ORANGE, width=1.8, dashed=True),
    "counts": Look(SKY, 0.45, 2.4),
    "counts-not": Look(WHITE, 0.0, 2.0, dashed=True),
    "intrusion": Look(VERMILION, 0.6, 2.4),
}

BOUNDLESS: Final = frozenset(
    {"directly-in-front", "front-line", "flank-line", "fire-zone", "ring", "impassable", "nobody"}
)
"""The roles that reach far beyond what is asked: a picture is not made wider for them."""

ANSWERS: Final[Mapping[AnswerWord, tuple[str, Colour, Colour]]] = {
    "yes": ("YES", GREEN, WHITE),
    "no": ("NO", VERMILION, WHITE),
    "too_close": ("TOO CLOSE TO CALL", YELLOW, INK),
}
"""What each answer is in words, on which ground, in which letters."""


def look_of(role: str) -> Look:
    """How shapes of a role look; a role that nobody thought of is drawn in white."""
    return _LOOKS.get(role, _PLAIN)
