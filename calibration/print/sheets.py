"""Lays out the sheets to print as one PDF: base tags, counters, table tags, map, lens board."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from reportlab.lib.units import mm as POINTS_PER_MM  # noqa: N812 - says what it is
from reportlab.pdfgen.canvas import Canvas

from calibration.errors import CalibrationError
from calibration.intrinsics.board import (
    LENS_BOARD_DICTIONARY,
    LENS_BOARD_MARKER_MM,
    LENS_BOARD_SQUARE_MM,
    LENS_BOARD_SQUARES,
)
from calibration.print.blocks import BaseStrip, GlueGuide, JigSheet, LensBoard, TableTagBlock
from calibration.print.content import SAMPLE_MM, LegendEntry, SheetContent, UnitTags
from calibration.print.counters import CounterBlock
from calibration.print.layout import (
    GAP_MM,
    MARGIN_MM,
    PAPERS,
    Area,
    Paper,
    PaperName,
    Placed,
    abreast,
    fits,
    pack,
)
from calibration.print.map import OVERLAP_MM, MapSheet, draw_line, map_sheets
from calibration.print.pen import GREY, PALE, Align, Pen, tag_cells

RULER_MM = 100
"""Length of the ruler on every sheet; its left end is `RULER_PLACE_MM` from the bottom left
corner."""

RULER_PLACE_MM = (MARGIN_MM, 16.5)

_HEAD_MM = 23.0
_FOOT_MM = 13.0
_FULL_SCALE = 1.0
_SMALL_SCALE = 0.7

_COUNTER_GAP_MM = 4.0

_Drawable = BaseStrip | GlueGuide | TableTagBlock | LensBoard | CounterBlock | MapSheet | JigSheet


@dataclass(frozen=True, slots=True)
class _Page:
    """A page before numbering: its heading, advice and blocks."""

    paper: Paper
    title: str
    advice: tuple[str, ...]
    blocks: tuple[tuple[_Drawable, Placed], ...]
    legend: tuple[LegendEntry, ...] = ()


def sheets_pdf(content: SheetContent, paper_name: PaperName = "A4") -> bytes:
    """Returns the sheets as a PDF at true scale. The same content gives the same bytes.

    Raises:
        CalibrationError: There is nothing to print, or something is too large for the paper, or a
            tag is not in the dictionary.
    """
    paper = PAPERS[paper_name]
    pages = [
        *_base_pages(content, paper),
        *_counter_pages(content, paper),
        *_table_pages(content, paper),
        *_map_pages(content, paper),
        *_jig_pages(content, paper),
    ]
    if content.lens_board:
        pages.append(_board_page(paper))
    if not pages:
        raise CalibrationError(
            "expected something to print: units, counters, table tags, map, jig or lens board"
        )
    return _pdf(pages, content.title)


def _base_pages(content: SheetContent, paper: Paper) -> Iterator[_Page]:
    """Yields pages with the gluing guides of each kind of base, then the tags unit by unit."""
    if not content.units:
        return iter(())
    area = _body(paper)
    strips = [strip for unit in content.units for strip in _strips(unit, content.dictionary, area)]
    kinds = dict.fromkeys(unit.kind for unit in content.units)
    across = len(tag_cells(content.dictionary, content.units[0].tags[0]))
    guides = [guide for kind in kinds if fits(guide := GlueGuide(kind, across), area)]
    advice = (
        "Matt paper. Cut a unit's strip along the marks, then the tags apart. "
        "Leave the white rim on: without it the camera cannot find the tag.",
        "Glue each tag flat with its arrow toward the base's front, as drawn on the first sheet. "
        "The grey label identifies the tag: cut it off last.",
    )
    return _flow([*guides, *strips], paper, "Base tags", advice)


def _strips(unit: UnitTags, dictionary: str, area: Area) -> Iterator[BaseStrip]:
    """Cuts a unit's tags into equal strips: as few as possible, as many side by side as fit."""
    cuts = (_cut(unit, dictionary, count) for count in range(1, len(unit.tags) + 1))
    # The number of page rows that the strips take.
    # A strip wider than the page fits zero times: 0.01 makes it the worst choice.
    strips = min(cuts, key=lambda strips: len(strips) / max(abreast(strips[0], area), 0.01))
    for part, strip in enumerate(strips, start=1):
        note = unit.note if len(strips) == 1 else f"{unit.note}, strip {part} of {len(strips)}"
        yield replace(strip, note=note)


def _cut(unit: UnitTags, dictionary: str, count: int) -> list[BaseStrip]:
    """Returns a unit's tags in about `count` strips, none longer than the first."""
    # Rounds up, so that no strip is longer than the first.
    length = -(-len(unit.tags) // count)
    return [
        BaseStrip(unit.title, unit.note, unit.kind, unit.tags[first : first + length], dictionary)
        for first in range(0, len(unit.tags), length)
    ]


def _table_pages(content: SheetContent, paper: Paper) -> Iterator[_Page]:
    """Yields pages with the table tags."""
    if content.table is None or not content.table.tags:
        return iter(())
    plan = content.table
    blocks = [TableTagBlock(tag, plan, content.dictionary) for tag in plan.tags]
    advice = (
        f"Table of {plan.width_mm:g} x {plan.depth_mm:g} mm: x runs along the long edge, y along "
        "the short one, from the corner where both are 0.",
        "Lay each tag flat on the table and measure to its middle (the marks on its rim). "
        "Top toward +y. Tape it down: it must not move.",
    )
    return _flow(blocks, paper, "Table tags", advice)


def _counter_pages(content: SheetContent, paper: Paper) -> Iterator[_Page]:
    """Yields pages with counters, unit by unit."""
    blocks = [CounterBlock(counter, content.dictionary) for counter in content.counters]
    advice = (
        "Matt paper. Glue the sheet onto card of 1 to 2 mm, then cut the counters out along their "
        "edges.",
        "Two sides of one counter are glued back to back. The mark on the rim points to the front.",
    )
    return _flow(blocks, paper, "Counters", advice, gap_mm=_COUNTER_GAP_MM)


def _map_pages(content: SheetContent, paper: Paper) -> Iterator[_Page]:
    """Yields the sheets of a map, portrait or landscape, whichever takes fewer."""
    if content.map is None:
        return
    papers = (paper, paper.lying)
    sheets, laid = min(
        ((map_sheets(content.map, content.dictionary, _body(on)), on) for on in papers),
        key=lambda choice: len(choice[0]),
    )
    whole = "Matt paper. The table's tags are part of the map: they must lie flat."
    joined = (
        f"Sheets overlap by {OVERLAP_MM:g} mm: cut one along its crosses and lay it on the crosses "
        "of the other, then tape them from below."
    )
    advice = (whole,) if len(sheets) == 1 else (whole, joined)
    corner = _body(laid)
    for sheet in sheets:
        place = Placed(0, corner.x_mm, corner.y_mm)
        title = f"Map, sheet {sheet.number}"
        yield _Page(laid, title, advice, ((sheet, place),), content.map.legend)


def _jig_pages(content: SheetContent, paper: Paper) -> Iterator[_Page]:
    """Yields a landscape page with the jig."""
    if content.jig is None:
        return iter(())
    advice = (
        "Tape it flat onto the table. Lay two steel rulers or strips of card along the lines, so "
        "that their edges meet in a square corner, and tape them down.",
        "Then start `tablecam calibrate bases`, and push each base into the corner, once straight "
        "and once turned by 180°.",
    )
    sheet = JigSheet(content.jig.tags, content.dictionary)
    return _flow([sheet], paper.lying, "Jig", advice)


def _board_page(paper: Paper) -> _Page:
    """Returns a landscape page with the lens board at the largest scale that fits."""
    paper = paper.lying
    area = _body(paper)
    full = LensBoard(_FULL_SCALE)
    board = full if fits(full, area) else LensBoard(_SMALL_SCALE)
    pack([board], area)  # raises if even the small board does not fit
    columns, rows = LENS_BOARD_SQUARES
    advice = (
        f"ChArUco {columns}x{rows}, {LENS_BOARD_DICTIONARY}, squares "
        f"{LENS_BOARD_SQUARE_MM:g} mm, markers {LENS_BOARD_MARKER_MM:g} mm, {_scale_words(board)}.",
        "Glue it to something flat and stiff: glass, a table top, foam board. It must be flat; "
        "its size does not matter.",
    )
    place = Placed(
        0,
        area.x_mm + (area.width_mm - board.width_mm) / 2,
        area.y_mm + (area.height_mm - board.height_mm) / 2,
    )
    return _Page(paper, "Lens board", advice, ((board, place),))


def _scale_words(board: LensBoard) -> str:
    """Describes the scale of the board."""
    if board.scale == _FULL_SCALE:
        return "drawn in full size"
    return (
        f"drawn here at {100 * board.scale:g} % to fit the paper: squares {board.square_mm:g} mm, "
        f"markers {board.marker_mm:g} mm"
    )


def _flow(
    blocks: Sequence[_Drawable],
    paper: Paper,
    title: str,
    advice: tuple[str, ...],
    gap_mm: float = GAP_MM,
) -> Iterator[_Page]:
    """Yields pages with the blocks placed in order."""
    placed = zip(blocks, pack(blocks, _body(paper), gap_mm), strict=True)
    for _, group in groupby(placed, key=lambda pair: pair[1].page):
        yield _Page(paper, title, advice, tuple(group))


def _body(paper: Paper) -> Area:
    """Returns the part of a page between heading and ruler."""
    return Area(
        MARGIN_MM,
        MARGIN_MM + _HEAD_MM,
        paper.width_mm - 2 * MARGIN_MM,
        paper.height_mm - 2 * MARGIN_MM - _HEAD_MM - _FOOT_MM,
    )


def _pdf(pages: Sequence[_Page], title: str) -> bytes:
    """Writes pages as a PDF."""
    buffer = io.BytesIO()
    # Invariant: no timestamp in the file, so that the same content gives the same bytes.
    canvas = Canvas(buffer, invariant=1)
    canvas.setTitle(f"tablecam sheets: {title}" if title else "tablecam sheets")
    canvas.setCreator("tablecam")
    # Asks viewers not to scale: tags must have their true size.
    canvas.setViewerPreference("PrintScaling", "None")
    for number, page in enumerate(pages, start=1):
        _draw_page(canvas, page, title, f"sheet {number} of {len(pages)}")
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def _draw_page(canvas: Canvas, page: _Page, title: str, count: str) -> None:
    """Draws a page with its heading, blocks and ruler."""
    paper = page.paper
    canvas.setPageSize((paper.width_mm * POINTS_PER_MM, paper.height_mm * POINTS_PER_MM))
    pen = Pen(canvas, paper.height_mm)
    _draw_head(pen, page, title, count)
    for block, place in page.blocks:
        block.draw(pen, place.x_mm, place.y_mm)
    _draw_ruler(pen)


def _draw_head(pen: Pen, page: _Page, title: str, count: str) -> None:
    """Draws a page's heading and advice."""
    left, right = MARGIN_MM, page.paper.width_mm - MARGIN_MM
    pen.text(left, 15.5, page.title, 16, bold=True)
    details = " · ".join(part for part in (title, page.paper.name, count) if part)
    pen.text(right, 15.5, details, 8, align="right", grey=GREY, within_mm=right - left - 60)
    for line, words in enumerate(page.advice):
        pen.text(left, 21.2 + 3.9 * line, words, 8, within_mm=right - left)
    for entry in reversed(page.legend):
        right -= pen.text(right, 29.0, entry.name, 8, align="right") + 1.0
        right -= 3.5 if entry.colour else SAMPLE_MM + 1.5
        if entry.colour:
            pen.box(right, 26.5, 3.5, 3.0, fill=entry.colour, line=GREY)
        for sample in entry.lines:
            draw_line(pen, sample, (right, 28.0))
        right -= 3.0
    pen.line((left, 31.0), (page.paper.width_mm - MARGIN_MM, 31.0), grey=PALE)


def _draw_ruler(pen: Pen) -> None:
    """Draws a ruler from 0 to 100 mm, to compare with a real one."""
    left, top = RULER_PLACE_MM[0], pen.height_mm - RULER_PLACE_MM[1]
    for millimetre in range(RULER_MM + 1):
        length_mm = 4.0 if millimetre % 10 == 0 else 3.0 if millimetre % 5 == 0 else 2.0
        x_mm = left + millimetre
        pen.line((x_mm, top), (x_mm, top + length_mm), thickness_mm=0.12)
        if millimetre % 10 == 0:
            align: Align = "left" if millimetre == 0 else "middle"
            pen.text(x_mm, top + 6, str(millimetre), 5.5, align=align)
    pen.line((left, top), (left + RULER_MM, top), thickness_mm=0.12)
    words_mm = left + RULER_MM + 4
    pen.text(words_mm, top + 2.2, "Measure me: 100 mm.", 8, bold=True)
    pen.text(words_mm, top + 5.6, "Print at 100 %, without “fit to page”.", 8)
