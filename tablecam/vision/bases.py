"""From tags to the bases they are glued to, with what fit and calibration leave uncertain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.table.model import BasePose
from tablecam.table.roster import BaseType
from tablecam.vision.sighting import TagSighting

Array = NDArray[np.float64]

_ARM_MM = 5.0
"""How far to either side of a tag's centre the calibration is asked which way the tag faces."""


def base_poses(
    sightings: Sequence[TagSighting],
    base_types: Sequence[BaseType],
    camera: Camera,
    *,
    beside_mm: float = 0.0,
) -> tuple[BasePose, ...]:
    """The bases under tags, one `base_types` a sighting.

    The sigmas are of fit and calibration together; `beside_mm` (rms) is how far the table tags of
    the same picture lie beside their places, which is doubt about all places alike. How truly a
    tag was glued is not in them.
    """
    if not sightings:
        return ()
    headings_rad = np.radians([sighting.heading_deg for sighting in sightings])
    forward = np.stack([np.cos(headings_rad), np.sin(headings_rad)], axis=1)
    right = np.stack([forward[:, 1], -forward[:, 0]], axis=1)
    ahead = np.array([[base_type.tag_forward_mm] for base_type in base_types])
    beside = np.array([[base_type.tag_right_mm] for base_type in base_types])
    tags = np.array([[sighting.x_mm, sighting.y_mm] for sighting in sightings])
    centres = tags - ahead * forward - beside * right
    by_tag = np.tile(np.eye(3), (len(sightings), 1, 1))
    by_tag[:, :2, 2] = ahead * right - beside * forward  # turning the tag swings the base about it
    covariance = by_tag @ _tag_covariance(sightings, forward, camera) @ by_tag.transpose(0, 2, 1)
    sigma_mm = np.sqrt((covariance[:, 0, 0] + covariance[:, 1, 1] + beside_mm**2) / 2)
    sigma_deg = np.degrees(np.sqrt(covariance[:, 2, 2]))
    return tuple(
        BasePose(
            x_mm=float(centres[row, 0]),
            y_mm=float(centres[row, 1]),
            heading_deg=sighting.heading_deg,
            width_mm=base_type.width_mm,
            depth_mm=base_type.depth_mm,
            tag=sighting.tag,
            sigma_mm=float(sigma_mm[row]),
            sigma_deg=float(sigma_deg[row]),
        )
        for row, (sighting, base_type) in enumerate(zip(sightings, base_types, strict=True))
    )


def _tag_covariance(sightings: Sequence[TagSighting], forward: Array, camera: Camera) -> Array:
    """Of (x_mm, y_mm, heading_rad) of each tag, (n, 3, 3): the fit's and the calibration's."""
    covariance = np.stack([sighting.covariance for sighting in sightings])
    if camera.covariance is None:
        return covariance
    places = np.array([[sighting.x_mm, sighting.y_mm] for sighting in sightings])
    heights = np.array([sighting.height_mm for sighting in sightings])
    front = camera.place_by_parameter(places + _ARM_MM * forward, heights)
    back = camera.place_by_parameter(places - _ARM_MM * forward, heights)
    left = np.stack([-forward[:, 1], forward[:, 0]], axis=1)
    turn = np.einsum("ni,nip->np", left, front - back) / (2 * _ARM_MM)
    by_parameter = np.concatenate([(front + back) / 2, turn[:, None]], axis=1)
    return np.asarray(
        covariance + by_parameter @ camera.covariance @ by_parameter.transpose(0, 2, 1)
    )
