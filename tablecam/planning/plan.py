"""What a camera that nobody has hung yet would make of a table's tags."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from calibration.camera import Camera, Pose
from calibration.lens import Lens
from tablecam.planning.detection_model import Expectation, Expected
from tablecam.table.roster import BaseType, Roster
from tablecam.vision.search.camera_scale import (
    TagScale,
    lowest_mm,
    sees_table,
    side_cells,
    table_grid_mm,
    tag_scales,
)

MARGIN = 0.02
"""How much of the picture is to stay free on every side: nobody hangs a camera to the pixel."""
MOST_SLANTED = 1.2
"""A camera farther beside the table's middle than so many times its height looks from the side:
figures hide the tags behind them."""
_LOWEST_MM, _HIGHEST_MM = 50.0, 50_000.0


@dataclass(frozen=True, slots=True)
class TagPlan:
    """What to expect of one base type's tags, where the table is seen smallest.

    `expected` is None where tags so small were never measured. The errors on the table follow
    from it: median and 95th percentile, of the reading alone. `works` is whether such tags are
    found as surely as they should be.
    """

    scale: TagScale
    px_per_mm: float
    expected: Expected | None
    works: bool

    @property
    def median_mm(self) -> float | None:
        """The median error on the table."""
        return None if self.expected is None else self.expected.median_px / self.px_per_mm

    @property
    def p95_mm(self) -> float | None:
        """What 95 % of the errors on the table stay below."""
        return None if self.expected is None else self.expected.p95_px / self.px_per_mm


@dataclass(frozen=True, slots=True)
class Plan:
    """A camera over a table before it hangs there.

    `sees_table` is whether the whole table is in the picture; `lowest_height_mm` how low the camera
    may hang for that with a little margin, None where no height is enough. `smallest_tag_mm` is
    the smallest tag that is found as surely as it should be anywhere on the table, and
    `smallest_precise_tag_mm` the smallest of which 95 % are placed to `error_mm`, None where no
    size that was measured is that good.
    """

    camera: Camera
    roster: Roster
    tags: tuple[TagPlan, ...]
    sees_table: bool
    lowest_height_mm: float | None
    smallest_tag_mm: float
    smallest_precise_tag_mm: float | None
    error_mm: float
    expectation: Expectation

    @property
    def height_mm(self) -> float:
        """How high the camera hangs above the table."""
        return float(self.camera.pose.camera_centre_mm[2])


@dataclass(frozen=True, slots=True)
class Mount:
    """A lens without distortion, and above which place of the table it is hung.

    Above the middle it looks straight down; beside it, it is tilted toward the table's middle.
    """

    lens: Lens
    at_mm: tuple[float, float]

    def beside_mm(self, roster: Roster) -> float:
        """How far it hangs beside the table's middle."""
        return math.dist(self.at_mm, (roster.table.width_mm / 2, roster.table.depth_mm / 2))

    def camera(self, roster: Roster, height_mm: float) -> Camera:
        """The camera at a height above the table."""
        table = roster.table
        centre = np.array([*self.at_mm, height_mm])
        ahead = np.array([table.width_mm / 2, table.depth_mm / 2, 0.0]) - centre
        ahead /= np.linalg.norm(ahead)
        # The picture's x runs along the table's: y is what is square to that and to the sight.
        down = np.cross(ahead, [1.0, 0.0, 0.0])
        down /= np.linalg.norm(down)
        rotation = np.stack([np.cross(down, ahead), down, ahead])
        vector, _ = cv2.Rodrigues(rotation)
        rx, ry, rz = (float(value) for value in np.ravel(vector))
        x, y, z = (float(value) for value in -rotation @ centre)
        return Camera(self.lens, Pose((rx, ry, rz), (x, y, z)), "planned")


def ideal_lens(width_px: int, height_px: int, field_of_view_deg: float) -> Lens:
    """A lens without distortion that sees so many degrees from side to side.

    >>> round(ideal_lens(1920, 1080, 90.0).fx_px)
    960
    """
    focal_px = width_px / 2 / math.tan(math.radians(field_of_view_deg) / 2)
    middle_px = (width_px - 1) / 2, (height_px - 1) / 2
    return Lens(width_px, height_px, focal_px, focal_px, *middle_px)


def planned(
    mount: Mount, height_mm: float, roster: Roster, expectation: Expectation, *, error_mm: float
) -> Plan:
    """What to expect of a camera on a mount at a height above the table."""
    camera = mount.camera(roster, height_mm)
    # All that is said of sizes is said of where the table is seen smallest.
    px_per_mm = float(camera.px_per_mm(table_grid_mm(roster)).min())
    per_mm = px_per_mm / side_cells(roster)
    good = expectation.good_px_per_cell
    precise = expectation.px_per_cell_for_error(error_mm * px_per_mm)
    return Plan(
        camera=camera,
        roster=roster,
        tags=tuple(
            TagPlan(
                scale,
                px_per_mm,
                expectation.at(scale.least_px_per_cell),
                works=scale.least_px_per_cell >= good,
            )
            for scale in tag_scales(camera, roster)
        ),
        sees_table=sees_table(camera, roster),
        lowest_height_mm=lowest_height_mm(mount, roster),
        smallest_tag_mm=_half_up_mm(good / per_mm),
        smallest_precise_tag_mm=None if precise is None else _half_up_mm(precise / per_mm),
        error_mm=error_mm,
        expectation=expectation,
    )


def heights_mm(roster: Roster) -> tuple[float, float]:
    """Between which heights above a table a camera can be planned: above all tags, in some room."""
    highest_tag_mm = max((base.tag_height_mm for base in roster.base_types), default=0.0)
    return highest_tag_mm + _LOWEST_MM, _HIGHEST_MM


def lowest_height_mm(mount: Mount, roster: Roster) -> float | None:
    """How low a camera may hang on a mount to see the whole table with a little margin.

    And not from the side: None where that needs more height than any room has.
    """
    low_mm, high_mm = heights_mm(roster)
    return lowest_mm(
        lambda height_mm: sees_table(mount.camera(roster, height_mm), roster, margin=MARGIN),
        max(low_mm, mount.beside_mm(roster) / MOST_SLANTED),
        high_mm,
    )


def highest_height_mm(mount: Mount, roster: Roster, wanted_px_per_cell: float) -> float | None:
    """How high a camera may hang for all base tags to have so many pixels a cell everywhere.

    None where it would have to hang so low that it does not see the whole table.
    """
    low_mm = lowest_height_mm(mount, roster)
    if low_mm is None:
        return None

    def is_small(height_mm: float) -> bool:
        return least_px_per_cell(mount.camera(roster, height_mm), roster) < wanted_px_per_cell

    return None if is_small(low_mm) else lowest_mm(is_small, low_mm, _HIGHEST_MM)


def least_px_per_cell(camera: Camera, roster: Roster) -> float:
    """The pixels a cell of a table's smallest tags where it is seen smallest."""
    return min(scale.least_px_per_cell for scale in tag_scales(camera, roster))


def with_tag_size(roster: Roster, size_mm: float) -> Roster:
    """The same table with tags of one size on all its bases."""
    types = {base.name: replace(base, tag_size_mm=size_mm) for base in roster.base_types}

    def resized(base: BaseType) -> BaseType:
        return types[base.name]

    return replace(
        roster,
        base_types=tuple(types.values()),
        units=tuple(replace(unit, base_type=resized(unit.base_type)) for unit in roster.units),
        commanders=tuple(
            replace(leader, base_type=resized(leader.base_type)) for leader in roster.commanders
        ),
    )


def _half_up_mm(size_mm: float) -> float:
    """The next half millimetre: tags are printed by no finer steps."""
    return math.ceil(2 * size_mm - 1e-6) / 2
