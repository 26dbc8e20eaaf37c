"""Describes the contents of the sheets, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

_SPARE_RIM_MM = 0.6  # cuts are inexact, and the rim must stay a cell wide


@dataclass(frozen=True, slots=True)
class BaseKind:
    """A kind of base and the place of its tag: the tag's centre from the base's centre.

    An oval base fills its width and depth.
    """

    name: str
    width_mm: float
    depth_mm: float
    tag_size_mm: float
    tag_right_mm: float = 0.0
    tag_forward_mm: float = 0.0
    is_oval: bool = False

    def __post_init__(self) -> None:
        if not (self.width_mm > 0 and self.depth_mm > 0 and self.tag_size_mm > 0):
            raise ValueError(
                "expected a base and a tag larger than 0, got "
                f"{self.width_mm} x {self.depth_mm} mm and {self.tag_size_mm} mm"
            )

    def rim_mm(self, cells_across: int) -> float:
        """Returns the width of the rim: one white cell, and a little more if there is room."""
        cell_mm = self.tag_size_mm / cells_across
        half_mm = self.tag_size_mm / 2
        room_mm = min(
            self.width_mm / 2 - abs(self.tag_right_mm) - half_mm,
            self.depth_mm / 2 - abs(self.tag_forward_mm) - half_mm,
        )
        return max(cell_mm, min(cell_mm + _SPARE_RIM_MM, room_mm))


@dataclass(frozen=True, slots=True)
class UnitTags:
    """The tags of a unit in order, or a commander's single tag."""

    title: str
    note: str
    kind: BaseKind
    tags: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.tags:
            raise ValueError(f"expected tags for {self.title}, got none")


@dataclass(frozen=True, slots=True)
class TableTagToPrint:
    """A table tag and the place of its middle on the table."""

    id: int
    x_mm: float
    y_mm: float


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The table and its tags."""

    width_mm: float
    depth_mm: float
    tag_size_mm: float
    tags: tuple[TableTagToPrint, ...]


Colour = tuple[float, float, float]
"""Red, green and blue, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Counter:
    """One printed side of a counter: the tag, its unit's id, what the side means, its strength.

    The tag lies where `kind` says; the words stand on the rim, in the colour of the unit's side.
    """

    id: str
    note: str
    strength: str
    kind: BaseKind
    tag: int
    colour: Colour


@dataclass(frozen=True, slots=True)
class MapArea:
    """An area of a printed map: its outline on the table, its colour, and words in its middle."""

    outline_mm: tuple[tuple[float, float], ...]
    colour: Colour
    label: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class MapLine:
    """A line of a printed map, such as a river along a hexside or a dash of a trail."""

    ends_mm: tuple[tuple[float, float], tuple[float, float]]
    colour: Colour
    width_mm: float


SAMPLE_MM = 9.0
"""The length of the lines in a map's legend, which begin at (0, 0)."""


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """The meaning of a colour or a sample of lines."""

    name: str
    colour: Colour | None = None
    lines: tuple[MapLine, ...] = ()


@dataclass(frozen=True, slots=True)
class PrintedMap:
    """A map to play on, in table millimetres, y up; its table's tags are part of it.

    `legend` names its colours and its lines, of which it shows samples.
    """

    areas: tuple[MapArea, ...]
    lines: tuple[MapLine, ...]
    table: TablePlan
    legend: tuple[LegendEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class JigToPrint:
    """The corner into which bases are pushed: the sheet's tags, in the order of `JIG_TAGS_MM`."""

    tags: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SheetContent:
    """Everything to print; empty parts are not printed."""

    title: str = ""
    dictionary: str = "DICT_4X4_250"
    units: tuple[UnitTags, ...] = ()
    table: TablePlan | None = None
    counters: tuple[Counter, ...] = ()
    map: PrintedMap | None = None
    jig: JigToPrint | None = None
    lens_board: bool = False
