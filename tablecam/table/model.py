"""The position on the table at one instant: bases, units, commanders, terrain.

Table frame: millimetres, origin at a corner of the play area, x along the long edge, y along the
short edge. A heading is the direction of a front edge, in degrees counter-clockwise from +x.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from tablecam.wording import proper_name

Arm = Literal["infantry", "cavalry", "artillery"]
FormationName = Literal["line", "column", "massed", "artillery", "broken-up"]
Shape = Literal["rectangle", "round", "oval"]
"""A base's outline; an oval fills its width and depth, and a round base is as deep as wide."""
Visibility = Literal["now", "held", "hand"]
"""`now`: visible; `held`: hidden, assumed at its last place; `hand`: entered by a person."""

FREE = "free"
"""The name of a table without a rulebook, on which people only measure and record."""


@dataclass(frozen=True, slots=True)
class TableNeeds:
    """What a game requires of its table: a base width, a printed hex map, bases with a front edge.

    A game that does not measure in base widths still accepts a table with one; one that is not
    played on hexes (`hex_map` False) refuses a map. None: either is fine.
    """

    base_width: bool = False
    hex_map: bool | None = None
    edges: bool = False


FARTHEST_MM = 100_000.0
"""The largest coordinate accepted in a document; anything beyond 100 m is a typing error."""

Scalar = str | int | float | bool
Point = tuple[float, float]
Mask = tuple[Point, ...]
"""The outline, in mm on the table, of a part that the camera ignores."""
Keys = Mapping[str, Any]
"""A game's own keys; their values are plain, tuples or further read-only mappings."""


def frozen_keys(values: Keys) -> Keys:
    """Returns keys and values from a document, lists and tables inside them read-only."""
    return MappingProxyType({key: _frozen(value) for key, value in values.items()})


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return frozen_keys(value)
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def plain_keys(values: Keys) -> dict[str, Any]:
    """Returns keys and values as a JSON object."""
    return {key: _plain(value) for key, value in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return plain_keys(value)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


class Displacement(NamedTuple):
    """How one standard deviation of an error moves a base's centre and turns the base."""

    x_mm: float
    y_mm: float
    turn_deg: float


_STILL = Displacement(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of bases that were pushed together, as one of its bases sees it.

    Its bases share the errors of its pose: `sigma_mm` is the standard deviation of its centre along
    either axis, `sigma_deg` that of its turn about the centre, which lies `right_mm` and `ahead_mm`
    from the centre of the base. `id` is the same for its bases and unique on the table.
    """

    id: str
    sigma_mm: float
    sigma_deg: float
    right_mm: float
    ahead_mm: float


@dataclass(frozen=True, slots=True)
class Glue:
    """How accurately a base is made: errors that stay with it wherever it lies, in every picture.

    `sigma_mm` is the standard deviation of its tag's place on it along either axis, `sigma_deg`
    that of the tag's turn, `cut_sigma_mm` that of its width and depth.
    """

    sigma_mm: float
    sigma_deg: float
    cut_sigma_mm: float = 0.0

    @property
    def place_sigma_mm(self) -> float:
        """Standard deviation of an edge: the tag's place, and half of the size's error."""
        return math.hypot(self.sigma_mm, self.cut_sigma_mm / 2)


@dataclass(frozen=True, slots=True)
class BasePose:
    """A base: a rectangle of `width_mm` (its front edge) by `depth_mm` about its centre.

    A base of another `shape` is the circle or ellipse in that rectangle.

    `sigma_mm` is the standard deviation of the centre, averaged over directions; `sigma_deg` is
    that of the heading; 0 means exact. The camera measures the tag, whose centre lies
    `tag_right_mm` and `tag_forward_mm` from the base's: a heading error turns the base about it.

    Both sigmas include errors shared with other bases: `common` is the effect of each calibration
    error on this base (the nth is the same error for all bases), `row` is the row that the base
    lies flush in. They also include `glue`, as far as no row averages it out.
    """

    x_mm: float
    y_mm: float
    heading_deg: float
    width_mm: float
    depth_mm: float
    tag: int | None = None
    sigma_mm: float = 0.0
    sigma_deg: float = 0.0
    seen: Visibility = "now"
    tag_right_mm: float = 0.0
    tag_forward_mm: float = 0.0
    common: tuple[Displacement, ...] = ()
    row: Row | None = None
    # Left out of a game's documents: nearly all bases are rectangles.
    shape: Shape = field(default="rectangle", metadata={"left_out": True})
    glue: Glue | None = field(default=None, metadata={"left_out": True})

    def __post_init__(self) -> None:
        if not (self.width_mm > 0 and self.depth_mm > 0):
            raise ValueError(
                f"expected a base larger than 0, got {self.width_mm} x {self.depth_mm} mm"
            )
        if not all(map(math.isfinite, (self.x_mm, self.y_mm, self.heading_deg))):
            raise ValueError(f"expected finite numbers, got {self.x_mm, self.y_mm}")
        if self.sigma_mm < 0 or self.sigma_deg < 0:
            raise ValueError(f"expected sigmas of 0 or more, got {self.sigma_mm, self.sigma_deg}")
        # Twice: a tiny negative heading modulo 360 rounds to 360 itself.
        object.__setattr__(self, "heading_deg", self.heading_deg % 360.0 % 360.0)

    @property
    def place_mm(self) -> Point:
        """Its centre."""
        return self.x_mm, self.y_mm

    @property
    def is_glued(self) -> bool:
        """Whether its errors come from the glue and so turn with it, not from the camera."""
        return self.glue is not None and self.glue.place_sigma_mm > 0.0

    @property
    def row_errors(self) -> tuple[Displacement, Displacement, Displacement]:
        """The effect of the three errors of its row's pose on the base: two of place, one of turn.

        Place errors point ahead and to the left if it `is_glued`, else along x and y.
        """
        row = self.row
        if row is None:
            return (_STILL, _STILL, _STILL)
        heading_rad, turn_rad = math.radians(self.heading_deg), math.radians(row.sigma_deg)
        ahead_x, ahead_y = math.cos(heading_rad), math.sin(heading_rad)
        # From the row's centre to the base's, turned by a right angle.
        x_mm = turn_rad * (row.ahead_mm * ahead_y - row.right_mm * ahead_x)
        y_mm = -turn_rad * (row.ahead_mm * ahead_x + row.right_mm * ahead_y)
        along_x, along_y = (ahead_x, ahead_y) if self.is_glued else (1.0, 0.0)
        return (
            Displacement(row.sigma_mm * along_x, row.sigma_mm * along_y, 0.0),
            Displacement(-row.sigma_mm * along_y, row.sigma_mm * along_x, 0.0),
            Displacement(x_mm, y_mm, row.sigma_deg),
        )

    @property
    def own_sigmas(self) -> tuple[float, float]:
        """Standard deviations of the tag's place (mm) and heading (deg) without shared errors."""
        shared = (*self.common, *self.row_errors)
        variance_deg = self.sigma_deg**2 - sum(error.turn_deg**2 for error in shared)
        own_deg = math.sqrt(max(variance_deg, 0.0))
        swing_mm = math.radians(own_deg) * math.hypot(self.tag_right_mm, self.tag_forward_mm)
        shared_mm2 = sum(error.x_mm**2 + error.y_mm**2 for error in shared)
        variance_mm2 = self.sigma_mm**2 - (shared_mm2 + swing_mm**2) / 2
        return math.sqrt(max(variance_mm2, 0.0)), own_deg


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit and its bases on the table, in the order of its tags.

    `formation` is the game's term, None if not stated (`formation.py` infers it from the bases).
    `state` holds the game's values for the unit (disruption, smoke, ...), `extra` the keys of the
    table file that are not common to all games (quality, figures, ...).
    """

    id: str
    side: str
    arm: Arm
    bases: tuple[BasePose, ...]
    formation: str | None = None
    state: Keys = field(default_factory=dict)
    extra: Keys = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", frozen_keys(self.state))
        object.__setattr__(self, "extra", frozen_keys(self.extra))

    def base_name(self, index: int) -> str:
        """Returns the name of a base in answers and lists: its tag, or `F1/2` without one."""
        tag = self.bases[index].tag
        return f"{self.id}/{index + 1}" if tag is None else str(tag)

    @property
    def base_names(self) -> tuple[str, ...]:
        """The names of all bases."""
        return tuple(self.base_name(index) for index in range(len(self.bases)))


@dataclass(frozen=True, slots=True)
class Commander:
    """A commander's marker: a point without a footprint in the rules.

    `pose` is the marker's base as the camera measured it, None for a point entered by hand; `state`
    and `extra` are as a unit's.
    """

    id: str
    side: str
    x_mm: float
    y_mm: float
    sigma_mm: float = 0.0
    seen: Visibility = "now"
    pose: BasePose | None = None
    state: Keys = field(default_factory=dict, hash=False)
    extra: Keys = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", frozen_keys(self.state))
        object.__setattr__(self, "extra", frozen_keys(self.extra))

    @property
    def name(self) -> str:
        """The name of the commander."""
        return proper_name(self.id)

    @property
    def place_mm(self) -> Point:
        """Its place."""
        return self.x_mm, self.y_mm


@dataclass(frozen=True, slots=True)
class Terrain:
    """A piece of terrain: a polygon given by its corners in order. `kind` is the game's term.

    `extra` holds the keys that are not common to all games (what it blocks, what it costs, ...).
    """

    id: str
    kind: str
    outline_mm: tuple[Point, ...]
    height_mm: float | None = None
    extra: Keys = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if len(self.outline_mm) < 3:
            raise ValueError(f"expected an outline of 3 points or more, got {len(self.outline_mm)}")
        object.__setattr__(self, "extra", frozen_keys(self.extra))


@dataclass(frozen=True, slots=True)
class HexMap:
    """The hex grid of a printed map and its place on the table.

    `flat` hexes have a flat side on top, `pointy` ones a corner. `hex_size_mm` is the distance
    between the centres of two neighbours, `origin_mm` the centre of the hex at `first_column`,
    `first_row`, and `rotation_deg` the heading in which column numbers increase. `shifted` says
    whether the even or the odd columns (flat) lie half a hex lower, or rows (pointy) half a hex to
    the right. `numbering` says which two of a hex's four digits are its column.
    """

    orientation: Literal["flat", "pointy"]
    hex_size_mm: float
    origin_mm: Point
    columns: int
    rows: int
    numbering: Literal["CCRR", "RRCC"]
    shifted: Literal["even", "odd"]
    rotation_deg: float = 0.0
    first_column: int = 1
    first_row: int = 1


@dataclass(frozen=True, slots=True)
class TableSize:
    """The play area, its units of length and the margin that players agree is too close.

    `base_width_mm` is None on a table whose game does not measure in base widths. Players with
    figures of another scale may agree on an inch of their own. `measure_in` is the symbol of the
    unit of length that players prefer if their game gives a choice. `hex_map` is for games with a
    printed map.
    """

    width_mm: float
    depth_mm: float
    base_width_mm: float | None = None
    tolerance_mm: float = 0.0
    inch_mm: float = 25.4
    measure_in: str | None = None
    hex_map: HexMap | None = None

    def __post_init__(self) -> None:
        if not (self.width_mm > 0 and self.depth_mm > 0 and (self.base_width_mm or 1.0) > 0):
            raise ValueError(
                "expected width_mm, depth_mm and base_width_mm above 0, got "
                f"{self.width_mm}, {self.depth_mm}, {self.base_width_mm}"
            )

    @property
    def bw_mm(self) -> float:
        """The base width, for games that measure in it.

        Raises:
            ValueError: The table has none.
        """
        if self.base_width_mm is None:
            raise ValueError("expected a table with a base width")
        return self.base_width_mm

    @property
    def marker_mm(self) -> float:
        """The side of a commander's marker in drawings: a base width, or an inch without one."""
        return self.base_width_mm or self.inch_mm


@dataclass(frozen=True, slots=True)
class LengthUnit:
    """A unit of length in which a game measures, and how many decimal `places` it needs.

    The page draws `ranges` as rings and asks about them. A symbol that is a word has a `plural`.
    """

    symbol: str
    name: str
    size_mm: float
    places: int = 2
    ranges: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0)
    plural: str = ""

    def counted(self, number: str) -> str:
        """Returns a number of them.

        >>> hexes(HexMap("flat", 21.0, (0.0, 0.0), 2, 2, "CCRR", "even")).counted("2")
        '2 hexes'
        """
        return f"{number} {(float(number) != 1 and self.plural) or self.symbol}"

    def written(self, length_mm: float) -> str:
        """Returns a length as people write it.

        >>> inches(TableSize(1800, 1200, 40)).written(152.4)
        '6.0 in'
        """
        return self.counted(f"{length_mm / self.size_mm:.{self.places}f}")

    def margin(self, margin_mm: float) -> str:
        """Formats a margin without its sign, in millimetres if below a tenth of the unit.

        >>> inches(TableSize(1800, 1200, 40)).margin(-1.5)
        '1.5 mm'
        """
        size_mm = abs(margin_mm)
        return f"{size_mm:.1f} mm" if size_mm < self.size_mm / 10 else self.written(size_mm)


CENTIMETRES = LengthUnit("cm", "centimetres", 10.0, 1, (5.0, 10.0, 20.0, 40.0))


def base_widths(table: TableSize) -> LengthUnit:
    """Returns the base width of a table as its unit of length; it must have one."""
    return LengthUnit("BW", "base widths", table.bw_mm)


def inches(table: TableSize) -> LengthUnit:
    """Returns the inch of a table."""
    return LengthUnit("in", "inches", table.inch_mm, 1, (3.0, 6.0, 12.0, 24.0))


def hexes(hex_map: HexMap) -> LengthUnit:
    """Returns the hex of a map as its unit of length, between the centres of neighbours."""
    return LengthUnit("hex", "hexes", hex_map.hex_size_mm, 1, (1.0, 2.0, 3.0, 6.0), "hexes")


def length_units(table: TableSize) -> tuple[LengthUnit, ...]:
    """Returns the units in which a table can be measured."""
    own = () if table.base_width_mm is None else (base_widths(table),)
    on_map = () if table.hex_map is None else (hexes(table.hex_map),)
    return *own, *on_map, inches(table), CENTIMETRES


def preferred_unit(table: TableSize) -> LengthUnit:
    """Returns the unit that the table's players prefer, else its first one."""
    units = length_units(table)
    return next((unit for unit in units if unit.symbol == table.measure_in), units[0])


@dataclass(frozen=True, slots=True)
class Position:
    """Everything on the table at one instant, from the camera or entered by hand.

    `calibration` names the camera calibration in use, None without a camera.
    """

    game: str
    table: TableSize
    units: tuple[Unit, ...] = ()
    commanders: tuple[Commander, ...] = ()
    terrain: tuple[Terrain, ...] = ()
    calibration: str | None = None

    @property
    def sides(self) -> list[str]:
        """The sides with anything on the table, in the position's order."""
        sides = [unit.side for unit in self.units]
        return list(dict.fromkeys([*sides, *(commander.side for commander in self.commanders)]))

    def unit(self, unit_id: str) -> Unit | None:
        """Returns the unit of that id, or None if it is not on the table."""
        return next((unit for unit in self.units if unit.id == unit_id), None)
