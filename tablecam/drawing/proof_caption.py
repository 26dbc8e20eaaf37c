"""Writes the caption of a proof card: question, answer, rule and time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from tablecam.drawing.lettering import Words, size_px, with_text, wrapped
from tablecam.drawing.pen import INK, PAPER, Colour, Pen, Picture
from tablecam.drawing.shape_style import ANSWERS
from tablecam.uncertainty.answer import Answer, margin_words

_ACROSS: Final = 1000.0
_EDGE, _GAP = 22.0, 14.0
_QUESTION, _ANSWER, _BECAUSE, _SMALL = 36.0, 27.0, 29.0, 24.0
"""Letter heights, in thousandths of the picture's width."""
_STEP: Final = 1.32
_PAD: Final = 22.0
"""Half the height of the answer's background, and its overhang at each end."""
SOFT: Final[Colour] = (113, 102, 91)


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of text with its style."""

    text: str
    height: float
    colour: Colour = INK
    bold: bool = False
    gap: float = 0.0
    left: float = _EDGE


@dataclass(frozen=True, slots=True)
class Caption:
    """The content of a caption: question, answer, time, and how the rulebook is read."""

    question: str
    answer: Answer
    at: datetime
    reading: str = ""


def with_caption(picture: Picture, caption: Caption) -> Picture:
    """Returns the picture (height, width, 3) with the caption beneath it."""
    height_px, width_px = picture.shape[:2]
    unit_px = width_px / _ACROSS
    rows = list(_rows(caption))
    tall = sum(_STEP * row.height + row.gap for row in rows) + 2 * _EDGE
    whole = np.full((height_px + round(tall * unit_px), width_px, 3), PAPER, dtype=np.uint8)
    whole[:height_px] = picture
    top = height_px / unit_px + _EDGE
    # Drawn before the text, which goes on top of its background.
    chip = _chip(Pen(whole, unit_px), caption.answer, top + _STEP * _QUESTION / 2)
    return with_text(whole, [chip, *_set(rows, top, unit_px)])


def _rows(caption: Caption) -> Iterator[_Row]:
    """Yields the rows in drawing units, independent of the picture's size."""
    answer = caption.answer
    left, room = 2 * _EDGE + _chip_width(answer), _ACROSS - 2 * _EDGE
    for line in wrapped(caption.question, _QUESTION, _ACROSS - _EDGE - left, bold=True):
        yield _Row(line, _QUESTION, bold=True, left=left)
    for i, line in enumerate(wrapped(answer.because, _BECAUSE, room)):
        # Only the first line of a paragraph has a gap above it.
        yield _Row(line, _BECAUSE, gap=0.0 if i else _GAP)
    interpretation = f"Interpretation: {caption.reading}." if caption.reading else ""
    for i, line in enumerate(wrapped(interpretation, _SMALL, room)):
        yield _Row(line, _SMALL, gap=0.0 if i else _GAP)
    margin = margin_words(answer.answer, answer.margin_mm, answer.sigma_mm, answer.probability)
    parts = (answer.rule, margin, f"{caption.at:%Y-%m-%d %H:%M}", "tablecam")
    small = " · ".join(part for part in parts if part)
    yield _Row(small, _SMALL, SOFT, gap=_GAP)


def _set(rows: Iterable[_Row], top: float, unit_px: float) -> Iterator[Words]:
    """Places the rows from the top down."""
    for row in rows:
        middle = top + row.gap + _STEP * row.height / 2
        top += row.gap + _STEP * row.height
        at_px = (row.left * unit_px, middle * unit_px)
        yield Words(row.text, at_px, row.height * unit_px, row.colour, bold=row.bold)


def _chip(pen: Pen, answer: Answer, middle: float) -> Words:
    """Draws the coloured background of the answer; returns the answer's text."""
    word, background, letters = ANSWERS[answer.answer]
    ends = np.array([[_EDGE + _PAD, middle], [_EDGE + _chip_width(answer) - _PAD, middle]])
    pen.lines(ends * pen.unit_px, background, width=2 * _PAD, casing=None)  # its ends are round
    x, y = ends.mean(axis=0) * pen.unit_px
    return Words(word, (x, y), _ANSWER * pen.unit_px, letters, bold=True, at="middle")


def _chip_width(answer: Answer) -> float:
    """Returns the width of the answer's background, in drawing units."""
    return size_px(ANSWERS[answer.answer][0], _ANSWER, bold=True)[0] + 2 * _PAD
