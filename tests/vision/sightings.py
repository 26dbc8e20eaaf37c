"""Sightings made up by hand, of a small table under an exact camera."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from calibration.camera import Camera, Pose
from calibration.lens import Lens
from tablecam.table.model import BasePose, TableSize
from tablecam.table.roster import BaseType, CommanderEntry, Roster, TableTag, UnitEntry
from tablecam.vision.detection.sighting import TagSighting
from tablecam.vision.tracking.bases import base_sightings

FOOT = BaseType("foot", 40, 30, 14, tag_right_mm=4, tag_forward_mm=-6, tag_height_mm=3)
CAMERA = Camera(Lens(1920, 1080, 1600, 1600, 960, 540), Pose((math.pi, 0, 0), (-600, 400, 1500)))
ROSTER = Roster(
    game="maurice-lite",
    table=TableSize(1200, 800, 40),
    dictionary="DICT_4X4_250",
    table_tag_size_mm=50,
    table_tags=(TableTag(0, 50, 50), TableTag(1, 1150, 50)),
    base_types=(FOOT,),
    units=(UnitEntry("F1", "french", "infantry", FOOT, (10, 11)),),
    commanders=(CommanderEntry("cinc", "french", FOOT, 90),),
    terrain=(),
)
SIGMA_MM = 0.05
SIGMA_DEG = 0.2


def sighting(
    tag: int,
    x_mm: float,
    y_mm: float,
    heading_deg: float = 90.0,
    *,
    sigma_mm: float = SIGMA_MM,
    height_mm: float = 3.0,
) -> TagSighting:
    """A tag seen at a place, with equal uncertainty in all directions."""
    covariance = np.diag([sigma_mm**2, sigma_mm**2, math.radians(SIGMA_DEG) ** 2])
    return TagSighting(
        tag, x_mm, y_mm, heading_deg, height_mm, covariance, corners_px=np.zeros((4, 2))
    )


def base_poses(
    sightings: Sequence[TagSighting],
    base_types: Sequence[BaseType],
    camera: Camera,
    *,
    beside_mm: float = 0.0,
) -> tuple[BasePose, ...]:
    """Returns the bases under tags; one base type per sighting, `beside_mm` as in `pose`."""
    seen = base_sightings(sightings, base_types, camera)
    return tuple(base.pose(beside_mm=beside_mm) for base in seen)
