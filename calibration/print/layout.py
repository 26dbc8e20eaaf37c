"""Defines paper sizes and places blocks on pages.

Millimetres from a page's top left corner, x right, y down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from calibration.errors import CalibrationError

PaperName = Literal["A4", "A3", "Letter"]

MARGIN_MM = 10.0
"""Margin that no printer has to reach."""

GAP_MM = 6.0


@dataclass(frozen=True, slots=True)
class Paper:
    """A size of paper, portrait or landscape."""

    name: PaperName
    width_mm: float
    height_mm: float

    @property
    def lying(self) -> Paper:
        """The same paper in landscape."""
        return Paper(self.name, self.height_mm, self.width_mm)


PAPERS: dict[PaperName, Paper] = {
    "A4": Paper("A4", 210.0, 297.0),
    "A3": Paper("A3", 297.0, 420.0),
    "Letter": Paper("Letter", 215.9, 279.4),
}


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of a page."""

    x_mm: float
    y_mm: float
    width_mm: float
    height_mm: float


class Block(Protocol):
    """A piece that is printed whole; `name` is for errors."""

    @property
    def name(self) -> str:
        """The name that errors use."""

    @property
    def width_mm(self) -> float:
        """Its width."""

    @property
    def height_mm(self) -> float:
        """Its height."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The place of a block: its page, counted from 0, and its top left corner there."""

    page: int
    x_mm: float
    y_mm: float


def pack(blocks: Sequence[Block], area: Area, gap_mm: float = GAP_MM) -> tuple[Placed, ...]:
    """Places blocks in order, in rows, each page's `area` filled before the next.

    Blocks of a row are aligned at the top; their order is kept because people look for units in
    order.

    Raises:
        CalibrationError: A block is larger than the area.
    """
    placed: list[Placed] = []
    page, x_mm, y_mm, row_mm = 0, 0.0, 0.0, 0.0
    for block in blocks:
        _check_fits(block, area)
        # The first block of a row always fits, as checked above.
        if x_mm > 0 and x_mm + block.width_mm > area.width_mm:
            x_mm, y_mm, row_mm = 0.0, y_mm + row_mm + gap_mm, 0.0
        if y_mm > 0 and y_mm + block.height_mm > area.height_mm:
            page, x_mm, y_mm, row_mm = page + 1, 0.0, 0.0, 0.0
        placed.append(Placed(page, area.x_mm + x_mm, area.y_mm + y_mm))
        x_mm += block.width_mm + gap_mm
        row_mm = max(row_mm, block.height_mm)
    return tuple(placed)


def abreast(block: Block, area: Area, gap_mm: float = GAP_MM) -> int:
    """Returns how many such blocks fit side by side."""
    # The last block needs no gap after it, hence one gap more room.
    return int((area.width_mm + gap_mm) // (block.width_mm + gap_mm))


def fits(block: Block, area: Area) -> bool:
    """Whether a block fits into an area."""
    return block.width_mm <= area.width_mm and block.height_mm <= area.height_mm


def _check_fits(block: Block, area: Area) -> None:
    """Raises CalibrationError if a block is larger than an area."""
    if not fits(block, area):
        raise CalibrationError(
            f"{block.name}: too large for this paper: {block.width_mm:.0f} x "
            f"{block.height_mm:.0f} mm, at most {area.width_mm:.0f} x {area.height_mm:.0f} mm"
        )
