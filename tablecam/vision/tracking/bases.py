"""Converts tags to the bases they are glued to, with the uncertainty of fit and calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import CAMERA_PARAMETERS, Camera
from tablecam.table.model import BasePose, Displacement, TableSize
from tablecam.table.roster import BaseType
from tablecam.vision.detection.sighting import TagSighting

Array = NDArray[np.float64]

_EXPLAINED = 0.98
"""The share of the calibration's variance that its main errors are to explain."""

_GRID = 7
"""Places along each edge of the table at which the calibration's errors are compared."""

_PLACES = 5
_LEAST_MM = 1e-4
"""A calibration without larger errors anywhere on the table counts as exact."""

_ARM_MM = 5.0
"""Distance of two points ahead of and behind a tag's centre, whose errors give its heading's."""


@dataclass(frozen=True, slots=True)
class BaseSighting:
    """A base as one picture shows it: `x_mm`, `y_mm` is its centre.

    The two kinds of uncertainty, each one standard deviation, are separate: the fit's differs at
    least in part from picture to picture, the calibration's is the same in each. `common` holds the
    part of the calibration's that all bases share. Neither includes how accurately the tag is glued
    on: `pose` adds that, because no number of pictures shows it.
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
    common: tuple[Displacement, ...] = ()

    def pose(self, *, beside_mm: float = 0.0) -> BasePose:
        """Returns the base with both uncertainties and its base type's combined.

        `beside_mm` (rms) is how far the table tags of the same picture lie from their places, which
        makes all places equally uncertain.
        """
        glue, fit_mm = self.base_type.glue, self.fit_mm
        fit_deg = self.fit_deg
        right_mm, forward_mm = self.base_type.tag_right_mm, self.base_type.tag_forward_mm
        if glue is not None:
            # A tag glued on crooked turns the base about it, like an error of the fit.
            swing_mm = math.radians(glue.sigma_deg) * math.hypot(right_mm, forward_mm)
            fit_mm = math.hypot(fit_mm, glue.place_sigma_mm, swing_mm / math.sqrt(2))
            fit_deg = math.hypot(fit_deg, glue.sigma_deg)
        return BasePose(
            x_mm=self.x_mm,
            y_mm=self.y_mm,
            heading_deg=self.heading_deg,
            width_mm=self.base_type.width_mm,
            depth_mm=self.base_type.depth_mm,
            tag=self.tag,
            sigma_mm=math.hypot(fit_mm, self.calibration_mm, beside_mm / math.sqrt(2)),
            sigma_deg=math.hypot(fit_deg, self.calibration_deg),
            tag_right_mm=right_mm,
            tag_forward_mm=forward_mm,
            common=self.common,
            shape=self.base_type.shape,
            glue=glue,
        )


def calibration_errors(camera: Camera, table: TableSize) -> Array:
    """Returns the calibration's main errors, each as a change of the camera's parameters: (15, c).

    They are independent, and sorted by how far they move places on the table (principal components
    of the covariance of places all over it). A few explain nearly all of it and suffice.
    """
    if camera.covariance is None:
        return np.zeros((len(CAMERA_PARAMETERS), 0))
    grid = np.meshgrid(
        np.linspace(0.0, table.width_mm, _GRID), np.linspace(0.0, table.depth_mm, _GRID)
    )
    by_parameter = camera.place_by_parameter(np.stack(grid, axis=-1).reshape(-1, 2))
    variances, directions = np.linalg.eigh(camera.covariance)
    errors = directions * np.sqrt(np.maximum(variances, 0.0))
    _, spread_mm, mix = np.linalg.svd((by_parameter @ errors).reshape(-1, len(errors)))
    if spread_mm[0] < _LEAST_MM:
        return np.zeros((len(errors), 0))
    explained = np.cumsum(spread_mm**2) / float((spread_mm**2).sum())
    count = int(np.searchsorted(explained, _EXPLAINED)) + 1
    return np.asarray(errors @ mix[:count].T)


def base_sightings(
    sightings: Sequence[TagSighting],
    base_types: Sequence[BaseType],
    camera: Camera,
    errors: Array | None = None,
) -> tuple[BaseSighting, ...]:
    """Returns the bases under tags, with separate uncertainties of fit and calibration.

    `errors` are those of `calibration_errors`; without them no base states what it shares.
    """
    if not sightings:
        return ()
    headings_deg = [
        sighting.heading_deg - base_type.tag_turn_deg
        for sighting, base_type in zip(sightings, base_types, strict=True)
    ]
    headings_rad = np.radians(headings_deg)
    forward = np.stack([np.cos(headings_rad), np.sin(headings_rad)], axis=1)
    right = np.stack([forward[:, 1], -forward[:, 0]], axis=1)
    ahead = np.array([[base_type.tag_forward_mm] for base_type in base_types])
    beside = np.array([[base_type.tag_right_mm] for base_type in base_types])
    tags = np.array([[sighting.x_mm, sighting.y_mm] for sighting in sightings])
    centres = tags - ahead * forward - beside * right
    by_tag = np.tile(np.eye(3), (len(sightings), 1, 1))
    by_tag[:, :2, 2] = ahead * right - beside * forward  # turning the tag swings the base about it
    of_tags = np.stack([sighting.covariance for sighting in sightings])
    fit = _sigmas(by_tag @ of_tags @ by_tag.transpose(0, 2, 1))
    by_parameter = by_tag @ _by_parameter(sightings, forward, camera)
    calibration = np.zeros((len(sightings), 2))
    if camera.covariance is not None:
        calibration = _sigmas(by_parameter @ camera.covariance @ by_parameter.transpose(0, 2, 1))
    common = _common(by_parameter, errors, calibration)
    columns = np.column_stack([centres, headings_deg, fit, calibration]).tolist()
    return tuple(
        BaseSighting(
            tag=sighting.tag,
            base_type=base_type,
            x_mm=x_mm,
            y_mm=y_mm,
            heading_deg=heading_deg,
            fit_mm=fit_mm,
            fit_deg=fit_deg,
            calibration_mm=calibration_mm,
            calibration_deg=calibration_deg,
            common=tuple(Displacement(*error) for error in of_base),
        )
        for sighting, base_type, of_base, (
            x_mm,
            y_mm,
            heading_deg,
            fit_mm,
            fit_deg,
            calibration_mm,
            calibration_deg,
        ) in zip(
            sightings,
            base_types,
            common.transpose(0, 2, 1).round(_PLACES).tolist(),
            columns,
            strict=True,
        )
    )


def _common(by_parameter: Array, errors: Array | None, sigmas: Array) -> Array:
    """Returns the effect of the calibration's main errors on bases (n, 3, c), in mm and degrees.

    They are scaled to make up all of its sigmas (n, 2): the rest is also nearly the same for bases
    side by side, and counted as each base's own error it would outweigh their real differences.
    """
    if errors is None or not errors.shape[1]:
        return np.zeros((*by_parameter.shape[:2], 0))
    common = by_parameter @ errors
    common[:, 2] = np.degrees(common[:, 2])
    squares = (common**2).sum(axis=2)
    explained = np.stack([squares[:, :2].sum(axis=1) / 2, squares[:, 2]], axis=1)
    scale = sigmas / np.sqrt(np.maximum(explained, _LEAST_MM**4))
    return np.asarray(common * scale[:, [0, 0, 1], None])


def _sigmas(covariance: Array) -> Array:
    """Returns sigmas (n, 2) of place (mm) and heading (deg), from covariances (n, 3, 3)."""
    sigma_mm = np.sqrt((covariance[:, 0, 0] + covariance[:, 1, 1]) / 2)
    return np.column_stack([sigma_mm, np.degrees(np.sqrt(covariance[:, 2, 2]))])


def _by_parameter(sightings: Sequence[TagSighting], forward: Array, camera: Camera) -> Array:
    """Returns the derivative of tags' (x_mm, y_mm, heading_rad) by the camera, (n, 3, 15)."""
    places = np.array([[sighting.x_mm, sighting.y_mm] for sighting in sightings])
    heights = np.array([sighting.height_mm for sighting in sightings])
    front = camera.place_by_parameter(places + _ARM_MM * forward, heights)
    back = camera.place_by_parameter(places - _ARM_MM * forward, heights)
    left = np.stack([-forward[:, 1], forward[:, 0]], axis=1)
    # The heading turns by how far the front moves left relative to the back, over their distance.
    turn = np.einsum("ni,nip->np", left, front - back) / (2 * _ARM_MM)
    return np.concatenate([(front + back) / 2, turn[:, None]], axis=1)
