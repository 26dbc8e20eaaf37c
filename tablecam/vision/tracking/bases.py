"""Converts tags to the bases they are glued to, with the uncertainty of fit and calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.table.model import BasePose
from tablecam.table.roster import BaseType
from tablecam.vision.detection.sighting import TagSighting

Array = NDArray[np.float64]

_ARM_MM = 5.0
"""Distance of two points ahead of and behind a tag's centre, whose errors give its heading's."""


@dataclass(frozen=True, slots=True)
class BaseSighting:
    """A base as one picture shows it: `x_mm`, `y_mm` is its centre.

    The two kinds of uncertainty, each one standard deviation, are separate: the fit's differs from
    picture to picture at least in part, the calibration's is the same in each.
    Neither includes how exactly a tag was glued on.
    """

    tag: int
    base_type: BaseType
    x_mm: float
    y_mm: float
    heading_deg: float
    fit_mm: float
    fit_deg: float
    calibration_mm: float = 0.0
    calibration_deg: float = 0.0

    def pose(self, *, beside_mm: float = 0.0) -> BasePose:
        """Returns the base with both uncertainties combined.

        `beside_mm` (rms) is how far the table tags of the same picture lie beside their places,
        which makes all places equally uncertain.
        """
        return BasePose(
            x_mm=self.x_mm,
            y_mm=self.y_mm,
            heading_deg=self.heading_deg,
            width_mm=self.base_type.width_mm,
            depth_mm=self.base_type.depth_mm,
            tag=self.tag,
            sigma_mm=math.hypot(self.fit_mm, self.calibration_mm, beside_mm / math.sqrt(2)),
            sigma_deg=math.hypot(self.fit_deg, self.calibration_deg),
            tag_right_mm=self.base_type.tag_right_mm,
            tag_forward_mm=self.base_type.tag_forward_mm,
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


def base_sightings(
    sightings: Sequence[TagSighting], base_types: Sequence[BaseType], camera: Camera
) -> tuple[BaseSighting, ...]:
    """Returns the bases under tags, with separate uncertainties of fit and calibration."""
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
    fit = _sigmas(np.stack([sighting.covariance for sighting in sightings]), by_tag)
    calibration = _sigmas(_calibration_covariance(sightings, forward, camera), by_tag)
    columns = np.column_stack([centres, fit, calibration]).tolist()
    return tuple(
        BaseSighting(
            tag=sighting.tag,
            base_type=base_type,
            x_mm=x_mm,
            y_mm=y_mm,
            heading_deg=sighting.heading_deg,
            fit_mm=fit_mm,
            fit_deg=fit_deg,
            calibration_mm=calibration_mm,
            calibration_deg=calibration_deg,
        )
        for sighting, base_type, (
            x_mm,
            y_mm,
            fit_mm,
            fit_deg,
            calibration_mm,
            calibration_deg,
        ) in zip(sightings, base_types, columns, strict=True)
    )


def _sigmas(of_tags: Array, by_tag: Array) -> Array:
    """Returns sigmas (n, 2) of place (mm) and heading (deg), from tag covariances (n, 3, 3)."""
    covariance = by_tag @ of_tags @ by_tag.transpose(0, 2, 1)
    sigma_mm = np.sqrt((covariance[:, 0, 0] + covariance[:, 1, 1]) / 2)
    return np.column_stack([sigma_mm, np.degrees(np.sqrt(covariance[:, 2, 2]))])


def _calibration_covariance(
    sightings: Sequence[TagSighting], forward: Array, camera: Camera
) -> Array:
    """Returns the calibration's covariance of tags' (x_mm, y_mm, heading_rad), (n, 3, 3)."""
    if camera.covariance is None:
        return np.zeros((len(sightings), 3, 3))
    places = np.array([[sighting.x_mm, sighting.y_mm] for sighting in sightings])
    heights = np.array([sighting.height_mm for sighting in sightings])
    front = camera.place_by_parameter(places + _ARM_MM * forward, heights)
    back = camera.place_by_parameter(places - _ARM_MM * forward, heights)
    left = np.stack([-forward[:, 1], forward[:, 0]], axis=1)
    # The heading turns by how much the front moves left of the back, over their distance.
    turn = np.einsum("ni,nip->np", left, front - back) / (2 * _ARM_MM)
    by_parameter = np.concatenate([(front + back) / 2, turn[:, None]], axis=1)
    return np.asarray(by_parameter @ camera.covariance @ by_parameter.transpose(0, 2, 1))
