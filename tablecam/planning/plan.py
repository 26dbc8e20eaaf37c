"""Plans a camera before it is mounted: what it would see, and how well it would read the tags."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from calibration.camera import Camera, Pose
from calibration.lens import Lens
from tablecam.planning.detection_model import DetectionModel, Prediction
from tablecam.table.roster import Roster
from tablecam.vision.search.camera_scale import (
    TagScale,
    bisect_height_mm,
    sees_table,
    side_cells,
    table_grid_mm,
    tag_scales,
)

MARGIN = 0.02
"""The share of the picture left free on each side, as nobody mounts a camera to the pixel."""
MOST_SLANTED = 1.2
"""A camera farther beside the table's middle than this many heights looks from the side, where
figures hide the tags behind them."""
_LOWEST_MM, _HIGHEST_MM = 50.0, 50_000.0


@dataclass(frozen=True, slots=True)
class TagPrediction:
    """The prediction for one base type's tags, where the table's scale is smallest.

    `expected` is None if such small tags were never measured. The errors on the table, median and
    95th percentile of the reading alone, follow from it. `works`: such tags reach the required
    recall.
    """

    scale: TagScale
    px_per_mm: float
    expected: Prediction | None
    works: bool

    @property
    def median_mm(self) -> float | None:
        """The median error on the table; None if not measured."""
        return None if self.expected is None else self.expected.median_px / self.px_per_mm

    @property
    def p95_mm(self) -> float | None:
        """The 95th percentile of the errors on the table; None if not measured."""
        return None if self.expected is None else self.expected.p95_px / self.px_per_mm


@dataclass(frozen=True, slots=True)
class Plan:
    """A planned camera over a table, and its expected performance.

    `sees_table`: the whole table is in the picture; `lowest_height_mm` is the lowest height at
    which it is, with a little margin, None if no height suffices. `smallest_tag_mm` is the smallest
    tag that reaches the required recall anywhere on the table, and `smallest_precise_tag_mm` the
    smallest of which 95 % are placed to `error_mm`, None if no measured size is that good.
    """

    camera: Camera
    roster: Roster
    tags: tuple[TagPrediction, ...]
    sees_table: bool
    lowest_height_mm: float | None
    smallest_tag_mm: float
    smallest_precise_tag_mm: float | None
    error_mm: float
    model: DetectionModel

    @property
    def height_mm(self) -> float:
        """The height of the camera above the table."""
        return float(self.camera.pose.camera_centre_mm[2])


@dataclass(frozen=True, slots=True)
class Mount:
    """A lens without distortion, and the place on the table above which it hangs.

    Above the middle it points straight down; elsewhere it is tilted toward the table's middle.
    """

    lens: Lens
    at_mm: tuple[float, float]

    def beside_mm(self, roster: Roster) -> float:
        """Returns the horizontal distance from the table's middle."""
        return math.dist(self.at_mm, (roster.table.width_mm / 2, roster.table.depth_mm / 2))

    def camera(self, roster: Roster, height_mm: float) -> Camera:
        """Returns the camera at a height above the table."""
        table = roster.table
        centre = np.array([*self.at_mm, height_mm])
        ahead = np.array([table.width_mm / 2, table.depth_mm / 2, 0.0]) - centre
        ahead /= np.linalg.norm(ahead)
        # The picture's x axis is parallel to the table's; its y axis is normal to it and the view.
        down = np.cross(ahead, [1.0, 0.0, 0.0])
        down /= np.linalg.norm(down)
        rotation = np.stack([np.cross(down, ahead), down, ahead])
        vector, _ = cv2.Rodrigues(rotation)
        rx, ry, rz = (float(value) for value in np.ravel(vector))
        x, y, z = (float(value) for value in -rotation @ centre)
        return Camera(self.lens, Pose((rx, ry, rz), (x, y, z)), "planned")


def ideal_lens(width_px: int, height_px: int, field_of_view_deg: float) -> Lens:
    """Returns a lens without distortion with a horizontal field of view.

    >>> round(ideal_lens(1920, 1080, 90.0).fx_px)
    960
    """
    focal_px = width_px / 2 / math.tan(math.radians(field_of_view_deg) / 2)
    centre_px = (width_px - 1) / 2, (height_px - 1) / 2
    return Lens(width_px, height_px, focal_px, focal_px, *centre_px)


def predict(
    mount: Mount, height_mm: float, roster: Roster, model: DetectionModel, *, error_mm: float
) -> Plan:
    """Predicts how a camera on a mount at a height above the table performs."""
    camera = mount.camera(roster, height_mm)
    # Every figure holds for the place with the smallest scale.
    px_per_mm = float(camera.px_per_mm(table_grid_mm(roster)).min())
    per_mm = px_per_mm / side_cells(roster)
    good = model.good_px_per_cell
    # The error limit is on the table, the model's errors are in the picture.
    precise = model.px_per_cell_for_error(error_mm * px_per_mm)
    return Plan(
        camera=camera,
        roster=roster,
        tags=tuple(
            TagPrediction(
                scale,
                px_per_mm,
                model.at(scale.min_px_per_cell),
                works=scale.min_px_per_cell >= good,
            )
            for scale in tag_scales(camera, roster)
        ),
        sees_table=sees_table(camera, roster),
        lowest_height_mm=lowest_height_mm(mount, roster),
        smallest_tag_mm=_half_up_mm(good / per_mm),
        smallest_precise_tag_mm=None if precise is None else _half_up_mm(precise / per_mm),
        error_mm=error_mm,
        model=model,
    )


def height_limits_mm(roster: Roster) -> tuple[float, float]:
    """Returns the lowest and highest height of a plan: above all tags, below any ceiling."""
    highest_tag_mm = max((base.tag_height_mm for base in roster.base_types), default=0.0)
    return highest_tag_mm + _LOWEST_MM, _HIGHEST_MM


def lowest_height_mm(mount: Mount, roster: Roster) -> float | None:
    """Returns how low a camera may hang to see the whole table with a little margin.

    Heights from which it would look from the side are excluded (`MOST_SLANTED`). None if it would
    need more height than any room has.
    """
    low_mm, high_mm = height_limits_mm(roster)
    return bisect_height_mm(
        lambda height_mm: sees_table(mount.camera(roster, height_mm), roster, margin=MARGIN),
        max(low_mm, mount.beside_mm(roster) / MOST_SLANTED),
        high_mm,
    )


def highest_height_mm(mount: Mount, roster: Roster, wanted_px_per_cell: float) -> float | None:
    """Returns how high a camera may hang for all base tags to reach a number of pixels per cell.

    None if it would have to hang too low to see the whole table.
    """
    low_mm = lowest_height_mm(mount, roster)
    if low_mm is None:
        return None

    def is_small(height_mm: float) -> bool:
        return least_px_per_cell(mount.camera(roster, height_mm), roster) < wanted_px_per_cell

    # The scale falls with height, so the bisection finds its limit.
    return None if is_small(low_mm) else bisect_height_mm(is_small, low_mm, _HIGHEST_MM)


def least_px_per_cell(camera: Camera, roster: Roster) -> float:
    """Returns the pixels per cell of the smallest tags, where the scale is smallest."""
    return min(scale.min_px_per_cell for scale in tag_scales(camera, roster))


def with_tag_size(roster: Roster, size_mm: float) -> Roster:
    """Returns the roster with tags of one size on all bases."""
    return roster.with_base_types(lambda base: replace(base, tag_size_mm=size_mm))


def _half_up_mm(size_mm: float) -> float:
    """Rounds up to half millimetres, the steps in which tags are printed."""
    return math.ceil(2 * size_mm - 1e-6) / 2
