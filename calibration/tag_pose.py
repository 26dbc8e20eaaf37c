"""The table's pose from its fitted tags, under a lens that is known and stays.

A camera over a table is bumped, sags and warms. What the first two change is its pose. A warm
lens grows a little longer too, by some ten-thousandths, and what that does to tags that all lie
on the table, a camera that hangs lower by the same share does as well: x = f X / Z. The pose
alone absorbs it; left over is a tag's height above the table times that share, a micrometre.

A tag is read as three numbers, not eight: the place of its centre and where its top side faces,
on the table, with their covariance. They are compared on the table too, through the pose in
question, so that one covariance serves for tags that are fitted and for places that were measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.camera import CAMERA_PARAMETERS, Camera, Pose
from calibration.least_squares import least_squares
from calibration.lens import LENS_PARAMETERS
from calibration.table_tags import FoundTag

Array = NDArray[np.float64]

_LENS = len(LENS_PARAMETERS)
_POSE = len(CAMERA_PARAMETERS) - _LENS
_ARM_MM = 20.0
"""How far from its centre a tag's direction is read: any length that a tag may have does."""


@dataclass(frozen=True, slots=True, eq=False)
class SeenTags:
    """Where n tags are in a picture, whatever camera took it.

    `centres_px` (n, 2), and `tops_px` (n, 2): where their top sides point, some millimetres on.
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
        """Tags that lie at places (n, 3) on the table, (x_mm, y_mm, heading_rad), as seen."""
        ends_px = camera.to_image(_ends_mm(places).reshape(-1, 3)).reshape(2, -1, 2)
        return cls(ends_px[0], ends_px[1])

    @classmethod
    def found(cls, tags: Sequence[FoundTag]) -> SeenTags:
        """Tags known by their corners: the centre is where the diagonals meet."""
        corners = np.array([tag.corners_px for tag in tags], dtype=np.float64).reshape(-1, 4, 2)
        return cls(_crossing(corners), (corners[:, 0] + corners[:, 1]) / 2)

    def places(self, camera: Camera) -> Array:
        """Where on the table a camera sees them, (n, 3): x_mm, y_mm, heading_rad."""
        centres, tops = camera.to_table(np.stack([self.centres_px, self.tops_px]))
        ahead = tops - centres
        return np.column_stack([centres, np.arctan2(ahead[:, 1], ahead[:, 0])])


@dataclass(frozen=True, slots=True, eq=False)
class PoseFit:
    """The pose under which seen tags lie nearest to their places.

    `left_over` (n, 3) is how far beside they still lie, `chi2` that in variances, of `freedom`
    numbers more than unknowns. `camera` has the covariance of the one that the fit began with,
    which is no longer its own: see `carried_covariance`.
    """

    camera: Camera
    left_over: Array
    chi2: float
    freedom: int


def beside(seen: Array, places: Array) -> Array:
    """How far tags seen at (n, 3) lie beside places (n, 3), the turn between -pi and pi."""
    off = np.array(seen - places)
    off[..., 2] = (off[..., 2] + math.pi) % (2 * math.pi) - math.pi
    return off


def place_jacobian(camera: Camera, places: Array) -> Array:
    """How tags seen at places (n, 3) shift with the camera's parameters, (n, 3, 15).

    The picture stays as it is; ordered as `CAMERA_PARAMETERS`.
    """
    ends = _ends_mm(places)
    centre, top = camera.place_by_parameter(ends[..., :2].reshape(-1, 2)).reshape(
        2, len(places), 2, -1
    )
    aside = np.column_stack([-np.sin(places[:, 2]), np.cos(places[:, 2])]) / _ARM_MM
    turn = np.einsum("ni,nip->np", aside, top - centre)
    return np.concatenate([centre, turn[:, None]], axis=1)


def pose_jacobian(camera: Camera, places: Array) -> Array:
    """The part of `place_jacobian` that is the pose's, as rows for all tags: (3n, 6)."""
    return place_jacobian(camera, places)[..., _LENS:].reshape(-1, _POSE)


def moved_by(camera: Camera, step: ArrayLike) -> Camera:
    """The camera with its pose's six parameters changed by a step."""
    pose = pose_parameters(camera) + np.asarray(step, dtype=np.float64)
    return _with_pose(camera, pose)


def fit_pose(camera: Camera, seen: SeenTags, places: Array, covariance: Array) -> PoseFit:
    """The pose, from the camera's on, that puts seen tags on their places (n, 3).

    `covariance` (3n, 3n) is of the places and of how the tags were read, together.
    """
    root = np.linalg.inv(np.linalg.cholesky(covariance))

    def misfit(values: Array) -> tuple[Array, Array]:
        trial = _with_pose(camera, values[0])
        found = seen.places(trial)
        whitened = root @ beside(found, places).ravel()
        by_pose = root @ pose_jacobian(trial, found)
        return whitened[None], by_pose[None]

    start = pose_parameters(camera)[None]
    solution = least_squares(misfit, start, steps=20, tolerance=1e-6)
    fitted = _with_pose(camera, solution.values[0])
    left_over = beside(seen.places(fitted), places)
    chi2 = float(np.square(solution.residuals[0]).sum())
    return PoseFit(fitted, left_over, chi2, 3 * len(seen) - _POSE)


def carried_covariance(
    camera: Camera, places: Array, covariance: Array, *, measured_with: Camera | None
) -> Array:
    """The covariance (15, 15) of a camera whose pose was fitted to tags at places (n, 3).

    The lens's doubt stays, and the pose is as wrong as the lens makes it, and the tags' places
    and their reading, which have this `covariance` (3n, 3n). Where the places were `measured_with`
    the camera as it stood before, they are off by what its calibration was off by: a camera that
    comes back to where it stood is exactly as uncertain as it was. None where they are listed.
    """
    before = measured_with or camera
    doubt = before.covariance
    doubt = np.zeros((len(CAMERA_PARAMETERS),) * 2) if doubt is None else doubt
    by_all = place_jacobian(camera, places).reshape(-1, _LENS + _POSE)
    weighted = np.linalg.solve(covariance, by_all[:, _LENS:])
    noise = np.linalg.inv(by_all[:, _LENS:].T @ weighted)
    wrong = np.hstack([-by_all[:, :_LENS], np.zeros((len(by_all), _POSE))])
    if measured_with is not None:
        wrong += place_jacobian(measured_with, places).reshape(-1, _LENS + _POSE)
    carry = np.vstack([np.eye(_LENS, _LENS + _POSE), noise @ weighted.T @ wrong])
    carried = carry @ doubt @ carry.T
    carried[_LENS:, _LENS:] += noise
    return np.asarray((carried + carried.T) / 2)


def rough_pose(camera: Camera, tags: Sequence[FoundTag], places: Array) -> Camera:
    """The camera at about the pose from which three or more tags look as found, wherever it was.

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
    """The centres of tags at places (n, 3), and the points where they point: (2, n, 3)."""
    ends = np.zeros((2, len(places), 3))
    ends[..., :2] = places[:, :2]
    ends[1, :, 0] += _ARM_MM * np.cos(places[:, 2])
    ends[1, :, 1] += _ARM_MM * np.sin(places[:, 2])
    return ends


def _crossing(corners: Array) -> Array:
    """Where the diagonals of quads (n, 4, 2) cross, (n, 2)."""
    along, across = corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]
    offset = corners[:, 1] - corners[:, 0]
    cross = along[:, 0] * across[:, 1] - along[:, 1] * across[:, 0]
    share = (offset[:, 0] * across[:, 1] - offset[:, 1] * across[:, 0]) / cross
    return np.asarray(corners[:, 0] + share[:, None] * along)


def pose_parameters(camera: Camera) -> Array:
    """The camera's pose, (6,), as the last of `CAMERA_PARAMETERS`."""
    return np.array([*camera.pose.rotation_vector_rad, *camera.pose.translation_mm])


def _with_pose(camera: Camera, values: Array) -> Camera:
    rx, ry, rz, tx, ty, tz = (float(value) for value in values)
    return replace(camera, pose=Pose((rx, ry, rz), (tx, ty, tz)))
