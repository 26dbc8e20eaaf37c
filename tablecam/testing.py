"""Builds small units and positions for tests, exact by default.

A unit's place is its middle; headings are degrees counter-clockwise from +x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tablecam.table.headings import forward, right
from tablecam.table.model import (
    Arm,
    BasePose,
    Commander,
    Point,
    Position,
    TableSize,
    Terrain,
    Unit,
)

TABLE = TableSize(width_mm=1800, depth_mm=1200, base_width_mm=40)


def base(
    x_mm: float = 0.0,
    y_mm: float = 0.0,
    heading_deg: float = 90.0,
    *,
    width_mm: float = 40.0,
    depth_mm: float = 40.0,
    tag: int | None = None,
    sigma_mm: float = 0.0,
    sigma_deg: float = 0.0,
) -> BasePose:
    """Returns a base, 40 x 40 mm by default."""
    return BasePose(x_mm, y_mm, heading_deg, width_mm, depth_mm, tag, sigma_mm, sigma_deg)


def bases_at(
    places: Sequence[Point],
    x_mm: float,
    y_mm: float,
    heading_deg: float,
    *,
    size_mm: Point = (40.0, 40.0),
    first_tag: int | None = None,
) -> tuple[BasePose, ...]:
    """Returns bases at places given in base widths right and base depths ahead of a middle."""
    ahead, rightward = forward(heading_deg), right(heading_deg)
    width_mm, depth_mm = size_mm
    return tuple(
        base(
            x_mm + across * width_mm * rightward[0] + along * depth_mm * ahead[0],
            y_mm + across * width_mm * rightward[1] + along * depth_mm * ahead[1],
            heading_deg,
            width_mm=width_mm,
            depth_mm=depth_mm,
            tag=None if first_tag is None else first_tag + index,
        )
        for index, (across, along) in enumerate(places)
    )


_PLACES: dict[str, tuple[Point, ...]] = {
    "line": ((-1.5, 0.0), (-0.5, 0.0), (0.5, 0.0), (1.5, 0.0)),
    "column": ((0.0, 1.5), (0.0, 0.5), (0.0, -0.5), (0.0, -1.5)),
    "massed": ((-0.5, 0.5), (0.5, 0.5), (-0.5, -0.5), (0.5, -0.5)),
    "artillery": ((0.0, 0.0),),
}


def unit(
    unit_id: str = "F1",
    formation: str = "line",
    x_mm: float = 900.0,
    y_mm: float = 600.0,
    heading_deg: float = 90.0,
    *,
    side: str = "french",
    arm: Arm | None = None,
    size_mm: Point = (40.0, 40.0),
    first_tag: int | None = None,
    sigma_mm: float = 0.0,
    sigma_deg: float = 0.0,
) -> Unit:
    """Returns a unit in contact in a formation about a middle; its `formation` is not set.

    Four bases in line, column or massed; one gun. Massed units are cavalry by default.
    """
    usual: dict[str, Arm] = {"massed": "cavalry", "artillery": "artillery"}
    formed = bases_at(
        _PLACES[formation], x_mm, y_mm, heading_deg, size_mm=size_mm, first_tag=first_tag
    )
    bases = tuple(replace(pose, sigma_mm=sigma_mm, sigma_deg=sigma_deg) for pose in formed)
    return Unit(unit_id, side, arm or usual.get(formation, "infantry"), bases)


def position(
    *units: Unit,
    game: str = "maurice-lite",
    table: TableSize = TABLE,
    commanders: Sequence[Commander] = (),
    terrain: Sequence[Terrain] = (),
) -> Position:
    """Returns a position on a table of 1800 x 1200 mm with a base width of 40 mm."""
    return Position(game, table, units, tuple(commanders), tuple(terrain))


def turned(unit: Unit, by_deg: float, about: Point = (0.0, 0.0)) -> Unit:
    """Returns a unit turned counter-clockwise about a point."""
    cos, sin = forward(by_deg)
    x0, y0 = about

    def turn(pose: BasePose) -> BasePose:
        x_mm, y_mm = pose.x_mm - x0, pose.y_mm - y0
        return replace(
            pose,
            x_mm=x0 + cos * x_mm - sin * y_mm,
            y_mm=y0 + sin * x_mm + cos * y_mm,
            heading_deg=pose.heading_deg + by_deg,
        )

    return replace(unit, bases=tuple(map(turn, unit.bases)))


def shifted(unit: Unit, right_mm: float, up_mm: float) -> Unit:
    """Returns a unit shifted along the table's axes."""
    return replace(
        unit,
        bases=tuple(
            replace(pose, x_mm=pose.x_mm + right_mm, y_mm=pose.y_mm + up_mm) for pose in unit.bases
        ),
    )


def mirrored(unit: Unit) -> Unit:
    """Returns a unit mirrored at the y axis: x negated, headings reflected."""
    return replace(
        unit,
        bases=tuple(
            replace(pose, x_mm=-pose.x_mm, heading_deg=180.0 - pose.heading_deg)
            for pose in unit.bases
        ),
    )
