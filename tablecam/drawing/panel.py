"""Writes a picture's report in a margin beside it: counts, quality, rejections, missing tags."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tablecam.drawing.pen import GREY, INK, PAPER, REFUSED, WHITE, Array, Colour, Pen, Picture
from tablecam.drawing.report import Missing, PictureReport

_COLUMN = 400.0
"""The width of a column, in drawing units."""
_EDGE = 22.0
_LETTERS = 46
"""How many letters of OpenCV's narrow font fit in a column."""
_WORDS, _STEP = 11.0, 20.0
_HEAD, _HEAD_STEP = 15.0, 32.0
_GAP = 14.0

Mark = Callable[[Pen, tuple[float, float]], None]
"""Draws a sample to the left of a line; takes the middle of its place in pixels."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of text with its style and an optional sample to its left."""

    words: str
    height: float = _WORDS
    step: float = _STEP
    colour: Colour = INK
    indent: float = 0.0
    mark: Mark | None = None


def with_panel(picture: Picture, report: PictureReport, sides: dict[str, Colour]) -> Picture:
    """Returns the picture with a margin to its right that contains the report.

    `sides` are the colours in which the sides' bases are drawn.
    """
    height_px, width_px = picture.shape[:2]
    unit_px = height_px / 1080
    lines = list(_lines(report, sides))
    room = height_px / unit_px - 2 * _EDGE
    columns = _columns(lines, room)
    wide = round(unit_px * (_COLUMN * len(columns) + _EDGE))
    wide += wide % 2  # some video formats require even sides
    widened = np.empty((height_px, width_px + wide, 3), dtype=np.uint8)
    widened[:, :width_px] = picture
    widened[:, width_px:] = PAPER
    pen = Pen(widened, unit_px)
    for i, column in enumerate(columns):
        left = width_px + unit_px * (_EDGE + i * _COLUMN)
        _write(pen, column, left)
    return widened


def _lines(report: PictureReport, sides: dict[str, Colour]) -> Iterator[_Line]:
    """Yields all lines of the report."""
    found, listed = report.found_in_all
    yield _Line(f"{found} of {listed} base tags found", _HEAD, _HEAD_STEP)
    for side, (side_found, side_listed) in report.found.items():
        words = f"{side}: {side_found} of {side_listed}"
        yield _Line(words, indent=26, mark=_base(sides[side]))
    yield from _wrapped(report.health(), GREY)
    if report.hidden_table_tags:
        names = ", ".join(map(str, report.hidden_table_tags))
        yield from _wrapped([f"table tags not seen: {names}"])
    if report.table_note:
        yield from _wrapped([report.table_note], REFUSED)
    yield from _section("What to do", report.advice)
    yield from _refused(report)
    missing_tags = [f"{missing.owner}: {_tags(missing)}" for missing in report.missing]
    yield from _section("Missing", missing_tags)
    yield from _legend()


def _tags(missing: Missing) -> str:
    """Lists the missing tags of one unit or commander."""
    names = ", ".join(map(str, missing.tags))
    return f"{names} (all)" if missing.is_whole else names


def _refused(report: PictureReport) -> Iterator[_Line]:
    """Yields the rejections, numbered as on the picture; a repeated reason is shortened."""
    if not report.rejected:
        return
    yield _Line("", step=_GAP)
    yield _Line("Rejected", _HEAD, _HEAD_STEP)
    written: set[str] = set()
    for number, rejection in enumerate(report.rejected, start=1):
        words = report.refusal(rejection)
        if words in written:
            words = f"tag {rejection.tag} again"
        written.add(words)
        first, *rest = textwrap.wrap(words, _LETTERS - 4)
        yield _Line(first, indent=30, mark=_number(number))
        yield from (_Line(more, indent=30) for more in rest)


def _legend() -> Iterator[_Line]:
    """Yields the legend."""
    yield _Line("", step=_GAP)
    yield _Line("a base; its front edge is thick", colour=GREY, indent=26, mark=_base(GREY))
    yield _Line("uncertain by more than 0.5 mm", colour=GREY, indent=26, mark=_dashed)
    yield _Line("rejected; see the numbered reason", colour=GREY, indent=26, mark=_cross)
    yield _Line("a table tag", colour=GREY, indent=26, mark=_table_tag)


def _section(head: str, sentences: Sequence[str]) -> Iterator[_Line]:
    """Yields a heading and sentences, if there are any."""
    if sentences:
        yield _Line("", step=_GAP)
        yield _Line(head, _HEAD, _HEAD_STEP)
        yield from _wrapped(sentences)


def _wrapped(sentences: Iterable[str], colour: Colour = INK) -> Iterator[_Line]:
    """Wraps sentences to the column, with a hanging indent."""
    for sentence in sentences:
        first, *rest = textwrap.wrap(sentence, _LETTERS)
        yield _Line(first, colour=colour)
        yield from (_Line(words, colour=colour, indent=14) for words in rest)


def _columns(lines: list[_Line], room: float) -> list[list[_Line]]:
    """Distributes the lines over as few columns as they fit into."""
    columns: list[list[_Line]] = [[]]
    used = 0.0
    for line in lines:
        # An empty column takes any line, however high.
        if used + line.step > room and columns[-1]:
            columns.append([])
            used = 0.0
        columns[-1].append(line)
        used += line.step
    return columns


def _write(pen: Pen, lines: list[_Line], left_px: float) -> None:
    """Draws one column."""
    y = _EDGE * pen.unit_px
    for line in lines:
        middle = y + line.step * pen.unit_px / 2
        if line.mark is not None:
            line.mark(pen, (left_px + 9 * pen.unit_px, middle))
        if line.words:
            at = np.array([left_px + line.indent * pen.unit_px, middle])
            bold = line.height == _HEAD
            pen.words(line.words, at, line.colour, height=line.height, bold=bold, casing=None)
        y += line.step * pen.unit_px


def _square(pen: Pen, middle_px: tuple[float, float], half: float) -> Array:
    """Returns the corners (4, 2) of a square sample."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half * pen.unit_px
    return np.asarray(np.array(middle_px) + corners)


def _base(colour: Colour) -> Mark:
    """Returns a mark that draws a sample base."""

    def draw(pen: Pen, middle_px: tuple[float, float]) -> None:
        corners = _square(pen, middle_px, 6.5)
        pen.lines(corners, colour, width=1.6, closed=True)
        pen.lines(corners[:2], colour, width=4)

    return draw


def _dashed(pen: Pen, middle_px: tuple[float, float]) -> None:
    """Draws a sample of an uncertain base."""
    pen.dashes(_square(pen, middle_px, 6.5), GREY, dash=3)


def _cross(pen: Pen, middle_px: tuple[float, float]) -> None:
    """Draws a sample of a rejection."""
    corners = _square(pen, middle_px, 5)
    pen.lines(corners[[0, 2]], REFUSED, width=2)
    pen.lines(corners[[1, 3]], REFUSED, width=2)


def _table_tag(pen: Pen, middle_px: tuple[float, float]) -> None:
    """Draws a sample of a table tag."""
    pen.lines(_square(pen, middle_px, 6.5), WHITE, width=1.6, casing=INK, closed=True)


def _number(number: int) -> Mark:
    """Returns a mark that draws a numbered disc."""

    def draw(pen: Pen, middle_px: tuple[float, float]) -> None:
        numbered_cross(pen, np.array(middle_px), number, arms=False)

    return draw


def numbered_cross(pen: Pen, at_px: Array, number: int, *, arms: bool = True) -> None:
    """Draws a cross with a numbered disc at a rejection; without `arms` only the disc."""
    if not np.isfinite(at_px).all():
        return
    disc = at_px
    if arms:
        reach = 11 * pen.unit_px
        for turn in (math.pi / 4, 3 * math.pi / 4):
            arm = reach * np.array([math.cos(turn), math.sin(turn)])
            pen.lines(np.array([at_px - arm, at_px + arm]), REFUSED, width=2.6)
        disc = at_px + np.array([1.0, -1.0]) * 17 * pen.unit_px
    pen.disc(disc, 10.5, WHITE)
    pen.disc(disc, 9, REFUSED)
    pen.words(str(number), disc, WHITE, height=10, bold=True, casing=None, at="middle")
