"""Fits the camera's pose to the table's tags, with a lens that is known and fixed.

A camera over a table is bumped, sags and warms up. The first two change its pose. A warm lens also
gets longer by some ten-thousandths, but for tags on the table that equals a camera lowered by the
same share: x = f X / Z. The pose alone absorbs it; what remains is a tag's height above the table
times that share, a micrometre.

A tag is reduced to three numbers instead of eight: its centre and its heading on the table, with
their covariance. They are compared on the table through the trial pose, so that one covariance
serves for fitted tags and for measured places.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.camera import CAMERA_PARAMETERS, Camera, Pose
from calibration.extrinsics.table_tags import FoundTag
from calibration.least_squares import least_squares
from calibration.lens import LENS_PARAMETERS

Array = NDArray[np.float64]

_LENS = len(LENS_PARAMETERS)
_POSE = len(CAMERA_PARAMETERS) - _LENS
_ARM_MM = 20.0
"""Distance from a tag's centre at which its heading is read: any length that a tag may have
works."""


@dataclass(frozen=True, slots=True, eq=False)
class SeenTags:
    """The places of n tags in a picture, from any camera.

    `centres_px` (n, 2) are their centres; `tops_px` (n, 2) points some millimetres towards their
    top sides.
    """

    centres_px: Array
    tops_px: Array

    def __len__(self) -> int:
        return len(self.centres_px)

    def __getitem__(self, rows: ArrayLike) -> SeenTags:
        chosen = np.asarray(rows)
        return SeenTags(self.centres_px[chosen], self.tops_px[chosen])

    @classmethod
    def at(cls, camera: Camera, places: Array) -> SeenTags:
        """Projects tags at table places (n, 3), (x_mm, y_mm, heading_rad), into the picture."""
        ends_px = camera.to_image(_ends_mm(places).reshape(-1, 3)).reshape(2, -1, 2)
        return cls(ends_px[0], ends_px[1])

    @classmethod
    def found(cls, tags: Sequence[FoundTag]) -> SeenTags:
        """Makes tags from corners: the centre is where the diagonals cross."""
        corners = np.array([tag.corners_px for tag in tags], dtype=np.float64).reshape(-1, 4, 2)
        return cls(_crossing(corners), (corners[:, 0] + corners[:, 1]) / 2)

    def places(self, camera: Camera) -> Array:
        """Returns their places on the table through a camera, (n, 3): x_mm, y_mm, heading_rad."""
        centres, tops = camera.to_table(np.stack([self.centres_px, self.tops_px]))
        towards_top = tops - centres
        return np.column_stack([centres, np.arctan2(towards_top[:, 1], towards_top[:, 0])])


@dataclass(frozen=True, slots=True, eq=False)
class PoseFit:
    """The pose that brings seen tags nearest to their places.

    `residuals` (n, 3) are the remaining offsets, `chi2` their sum of squares in units of variance,
    with `freedom` degrees of freedom. `camera` has the covariance of the initial camera, which no
    longer applies: see `propagated_covariance`.
    """

    camera: Camera
    residuals: Array
    chi2: float
    freedom: int


def offsets_from(seen: Array, places: Array) -> Array:
    """Returns the offsets (n, 3) of seen tags from places (n, 3), headings within -pi and pi."""
    offsets = np.array(seen - places)
    offsets[..., 2] = (offsets[..., 2] + math.pi) % (2 * math.pi) - math.pi
    return offsets


def place_jacobian(camera: Camera, places: Array) -> Array:
    """Returns the derivative of seen tags at places (n, 3) by the camera's parameters, (n, 3, 15).

    The picture is fixed; parameters are ordered as `CAMERA_PARAMETERS`.
    """
    ends = _ends_mm(places)
    centre, top = camera.place_by_parameter(ends[..., :2].reshape(-1, 2)).reshape(
        2, len(places), 2, -1
    )
    # The heading turns by the top's sideways motion over the arm.
    sideways = np.column_stack([-np.sin(places[:, 2]), np.cos(places[:, 2])]) / _ARM_MM
    turn = np.einsum("ni,nip->np", sideways, top - centre)
    return np.concatenate([centre, turn[:, None]], axis=1)


def pose_jacobian(camera: Camera, places: Array) -> Array:
    """Returns the pose's part of `place_jacobian` as rows for all tags, (3n, 6)."""
    return place_jacobian(camera, places)[..., _LENS:].reshape(-1, _POSE)


def moved_by(camera: Camera, step: ArrayLike) -> Camera:
    """Returns the camera with its pose's six parameters changed by a step."""
    pose = pose_parameters(camera) + np.asarray(step, dtype=np.float64)
    return _with_pose(camera, pose)


def fit_pose(camera: Camera, seen: SeenTags, places: Array, covariance: Array) -> PoseFit:
    """Fits the pose that brings seen tags to their places (n, 3), starting at the camera's.

    `covariance` (3n, 3n) is the joint one of places and readings.
    """
    # Whitens: tags measured by one camera share its error, so rows are correlated.
    root = np.linalg.inv(np.linalg.cholesky(covariance))

    def misfit(values: Array) -> tuple[Array, Array]:
        trial = _with_pose(camera, values[0])
        trial_places = seen.places(trial)
        whitened = root @ offsets_from(trial_places, places).ravel()
        by_pose = root @ pose_jacobian(trial, trial_places)
        return whitened[None], by_pose[None]

    start = pose_parameters(camera)[None]
    solution = least_squares(misfit, start, steps=20, tolerance=1e-6)
    fitted = _with_pose(camera, solution.values[0])
    left_over = offsets_from(seen.places(fitted), places)
    chi2 = float(np.square(solution.residuals[0]).sum())
    return PoseFit(fitted, left_over, chi2, 3 * len(seen) - _POSE)


def propagated_covariance(
    camera: Camera, places: Array, covariance: Array, *, measured_with: Camera | None
) -> Array:
    """Returns the covariance (15, 15) of a camera whose pose was fitted to tags at places (n, 3).

    It combines the lens's uncertainty, its effect on the pose, and the `covariance` (3n, 3n) of
    places and readings. Places `measured_with` an earlier state of the camera share that
    calibration's error: a camera that returns to its old pose is exactly as uncertain as it was.
    None if the places are listed.
    """
    before = measured_with or camera
    prior = before.covariance
    prior = np.zeros((len(CAMERA_PARAMETERS),) * 2) if prior is None else prior
    by_all = place_jacobian(camera, places).reshape(-1, _LENS + _POSE)
    # Weighted least squares: the gain that fit_pose applies to each tag's offset.
    weighted = np.linalg.solve(covariance, by_all[:, _LENS:])
    noise = np.linalg.inv(by_all[:, _LENS:].T @ weighted)
    by_parameter = np.hstack([-by_all[:, :_LENS], np.zeros((len(by_all), _POSE))])
    # Places measured with this lens share its error, which then partly cancels.
    if measured_with is not None:
        by_parameter += place_jacobian(measured_with, places).reshape(-1, _LENS + _POSE)
    propagation = np.vstack([np.eye(_LENS, _LENS + _POSE), noise @ weighted.T @ by_parameter])
    propagated = propagation @ prior @ propagation.T
    propagated[_LENS:, _LENS:] += noise
    return np.asarray((propagated + propagated.T) / 2)


def rough_pose(camera: Camera, tags: Sequence[FoundTag], places: Array) -> Camera:
    """Returns the camera at a rough pose that fits three or more found tags, from any start.

    `places` (n, 3) are the tags' on the table: x_mm, y_mm, heading_rad.
    """
    seen = SeenTags.found(tags)
    points = np.column_stack([places[:, :2], np.zeros(len(places))])
    guess = np.array(camera.pose.rotation_vector_rad), np.array(camera.pose.translation_mm)
    _, rotation, translation = cv2.solvePnP(
        points,
        seen.centres_px,
        camera.lens.matrix,
        camera.lens.distortion,
        guess[0],
        guess[1],
        useExtrinsicGuess=True,
    )
    return _with_pose(camera, np.concatenate([np.ravel(rotation), np.ravel(translation)]))


def _ends_mm(places: Array) -> Array:
    """Returns the centres of tags at places (n, 3), and points ahead of them: (2, n, 3)."""
    ends = np.zeros((2, len(places), 3))
    ends[..., :2] = places[:, :2]
    ends[1, :, 0] += _ARM_MM * np.cos(places[:, 2])
    ends[1, :, 1] += _ARM_MM * np.sin(places[:, 2])
    return ends


def _crossing(corners: Array) -> Array:
    """Returns where the diagonals of quads (n, 4, 2) cross, (n, 2)."""
    # The diagonals cross at the tag's centre even in perspective; the corners' mean lies beside it.
    along, across = corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]
    offset = corners[:, 1] - corners[:, 0]
    cross = along[:, 0] * across[:, 1] - along[:, 1] * across[:, 0]
    share = (offset[:, 0] * across[:, 1] - offset[:, 1] * across[:, 0]) / cross
    return np.asarray(corners[:, 0] + share[:, None] * along)


def pose_parameters(camera: Camera) -> Array:
    """Returns the camera's pose, (6,), as the last of `CAMERA_PARAMETERS`."""
    return np.array([*camera.pose.rotation_vector_rad, *camera.pose.translation_mm])


def _with_pose(camera: Camera, values: Array) -> Camera:
    """Returns the camera with another pose, (6,)."""
    rx, ry, rz, tx, ty, tz = (float(value) for value in values)
    return replace(camera, pose=Pose((rx, ry, rz), (tx, ty, tz)))
