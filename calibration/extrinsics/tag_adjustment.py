"""Adjusts lens, pose and the faults of each table tag together to the tags' corners.

A tag's faults are unknowns: its offset and rotation from its listed place, and how far gamma and
blur pull its corners inward, which varies with the light. `tag_spreads` estimates the size of such
faults on this table from the tags themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import CAMERA_PARAMETERS, Camera, Pose
from calibration.extrinsics.table_tags import FoundTag
from calibration.extrinsics.tag_spreads import SeenCorners, average_over_spreads
from calibration.least_squares import Solution, least_squares
from calibration.lens import LENS_PARAMETERS, LensPrior

Array = NDArray[np.float64]

_LENS, _CAMERA = len(LENS_PARAMETERS), len(CAMERA_PARAMETERS)
_FAULTS = 4
_USUAL_INWARD_PX, _INWARD_SPREAD_PX = 0.25, 0.5
_LEAST_PLACE_MM, _LEAST_TURN_RAD = 0.02, 5e-4
_ROUNDS_OF_LEARNING = 2
"""The second round starts from the camera of the first. A third changes nothing by a micrometre if
the lens is known, and by a hundredth of its sigma otherwise."""


@dataclass(frozen=True, slots=True)
class Spreads:
    """Sigmas of the tags' offsets and rotations, and the scale of their corners' errors.

    One standard deviation each; `corner_scale` multiplies the sigmas that the detector states.
    """

    place_mm: float
    turn_rad: float
    corner_scale: float


EXACT = Spreads(_LEAST_PLACE_MM, _LEAST_TURN_RAD, 1.0)
"""Tags that lie exactly as listed, as far as a picture can show."""

HAND_PLACED = Spreads(0.3, 5e-3, 1.0)
"""Tags placed with a ruler: the start of learning."""


@dataclass(frozen=True, slots=True, eq=False)
class Adjustment:
    """The result of an adjustment: `covariance` (15, 15) is ordered as `CAMERA_PARAMETERS`.

    `misfit` is the mean squared residual per degree of freedom: 1 if all stated sigmas are true.
    """

    camera: Camera
    covariance: Array
    misfit: float
    rms_px: float
    spreads: Spreads


@dataclass(frozen=True, slots=True, eq=False)
class TagAdjustment:
    """The adjustment problem: the tags as found, their listed places, and a prior on the lens."""

    tags: tuple[FoundTag, ...]
    places_mm: Array
    size_mm: float
    prior: LensPrior

    @classmethod
    def of(
        cls,
        tags: Sequence[FoundTag],
        listed_mm: Mapping[int, tuple[float, float]],
        size_mm: float,
        prior: LensPrior,
    ) -> TagAdjustment:
        """Makes the problem for tags whose centres are listed at `listed_mm` by id."""
        places = np.array([listed_mm[tag.id] for tag in tags], dtype=np.float64)
        return cls(tuple(tags), places, size_mm, prior)

    def with_prior(self, prior: LensPrior) -> TagAdjustment:
        """Returns the same problem with another prior on the lens."""
        return replace(self, prior=prior)

    def solve(self, spreads: Spreads) -> Adjustment:
        """Solves for lens, pose and faults, with faults of the given sigmas."""
        return self._outcome(self._solved(self._start(), spreads), spreads)

    def learn(self) -> Adjustment:
        """Solves like `solve`, averaged over all sigmas of faults that the tags allow.

        If the tags do not determine them (four tags and an unknown lens always fit), the sigmas
        stay those of hand-placed tags.
        """
        spreads, values = HAND_PLACED, self._start()
        for _ in range(_ROUNDS_OF_LEARNING):
            values = self._solved(values, spreads).values[0]
            average = average_over_spreads(self._corners_about(values))
            spreads = Spreads(average.place_mm, average.turn_rad, average.corner_scale)
        outcome = self._outcome(self._solved(values, spreads), spreads)
        # The averaged camera replaces the one at the mean spreads, which gives only misfit and rms.
        values[:_CAMERA] += average.step
        covariance = (average.covariance + average.covariance.T) / 2
        return replace(outcome, camera=self._camera(values), covariance=covariance)

    def residuals_mm(self, camera: Camera) -> Array:
        """Returns the offset of each tag's seen centre from its listed place, (n, 2)."""
        flat = self._corners_mm(np.zeros((len(self.tags), _FAULTS)))
        # The mean over four corners cancels gamma's pull inward.
        off_px = (self._seen_px() - camera.to_image(flat)).reshape(-1, 4, 2).mean(axis=1)
        centres = np.column_stack([self.places_mm, np.zeros(len(self.tags))])
        _, by_point = camera.to_image_with_jacobian(centres)
        return np.asarray(np.linalg.solve(by_point[..., :2], off_px[..., None])[..., 0])

    def _seen_px(self) -> Array:
        """Returns the seen corners of all tags, (4n, 2)."""
        return np.concatenate([tag.corners_px for tag in self.tags])

    def _corners_mm(self, faults: Array) -> Array:
        """Returns the tags' corners (4n, 3) with faults (n, 4): right, up, rotation, inward."""
        half = self.size_mm / 2
        square = np.array([[-half, half], [half, half], [half, -half], [-half, -half]])
        cos, sin = np.cos(faults[:, 2]), np.sin(faults[:, 2])
        # Rows times the transposed rotation: counterclockwise, seen from above.
        turned = square @ np.stack([[cos, sin], [-sin, cos]]).transpose(2, 0, 1)
        flat = turned + (self.places_mm + faults[:, :2])[:, None]
        return np.concatenate([flat, np.zeros((len(flat), 4, 1))], axis=2).reshape(-1, 3)

    def _start(self) -> Array:
        """Returns the first values: the prior's lens, its pose, and usual faults."""
        lens, faults = self.prior.lens, np.zeros((len(self.tags), _FAULTS))
        faults[:, 3] = _USUAL_INWARD_PX
        _, rotation, translation = cv2.solvePnP(
            self._corners_mm(faults), self._seen_px(), lens.matrix, lens.distortion
        )
        pose = np.concatenate([np.ravel(rotation), np.ravel(translation)])
        return np.concatenate([lens.parameters, pose, faults.ravel()])

    def _camera(self, values: Array) -> Camera:
        """Returns the camera among the unknowns."""
        rx, ry, rz, tx, ty, tz = (float(value) for value in values[_LENS:_CAMERA])
        lens = self.prior.lens.with_parameters(values[:_LENS])
        return Camera(lens, Pose((rx, ry, rz), (tx, ty, tz)))

    def _solved(self, start: Array, spreads: Spreads) -> Solution:
        """Solves by least squares, with the prior's and the faults' misfit as residuals."""
        of_corners, of_lens = self._corners_whitening(spreads), self._lens_whitening()

        def misfit(values: Array) -> tuple[Array, Array]:
            parts = (
                self._corner_misfit(values[0], of_corners),
                self._fault_misfit(values[0], spreads),
                self._lens_misfit(values[0], of_lens),
            )
            residuals, jacobians = zip(*parts, strict=True)
            return np.concatenate(residuals)[None], np.concatenate(jacobians)[None]

        return least_squares(misfit, start[None], steps=50, tolerance=1e-10)

    def _corner_misfit(self, values: Array, root: Array) -> tuple[Array, Array]:
        """Returns expected minus seen corners, whitened to independent sigmas, and derivatives."""
        off_px, by = self._corners_off(values)
        off = root @ off_px.reshape(-1, 8, 1)
        return off.ravel(), (root @ by.reshape(-1, 8, len(values))).reshape(-1, len(values))

    def _corners_off(self, values: Array) -> tuple[Array, Array]:
        """Returns expected minus seen corners, (4n, 2) px, and derivatives."""
        camera, faults = self._camera(values), values[_CAMERA:].reshape(-1, _FAULTS)
        corners = self._corners_mm(faults)
        expected, by_point = camera.to_image_with_jacobian(corners)
        inward = _inward(expected.reshape(-1, 4, 2)).reshape(-1, 2)
        tag = np.arange(len(corners)) // 4
        offset = corners[:, :2] - (self.places_mm + faults[:, :2])[tag]
        jacobian = np.zeros((len(corners), 2, len(values)))
        # Each corner depends on the camera and on the four faults of its own tag.
        jacobian[..., :_CAMERA] = camera.parameter_jacobian(corners)
        at, row = _CAMERA + _FAULTS * tag, np.arange(len(corners))
        jacobian[row, :, at], jacobian[row, :, at + 1] = by_point[..., 0], by_point[..., 1]
        by_turn = np.stack([-offset[:, 1], offset[:, 0]], axis=1)
        jacobian[row, :, at + 2] = np.einsum("nij,nj->ni", by_point[..., :2], by_turn)
        jacobian[row, :, at + 3] = inward
        return expected + faults[tag, 3:] * inward - self._seen_px(), jacobian

    def _corners_whitening(self, spreads: Spreads) -> Array:
        """Returns matrices that whiten the errors of corners, (n, 8, 8)."""
        covariances = np.stack([tag.covariance_px2 for tag in self.tags])
        return np.asarray(np.linalg.inv(np.linalg.cholesky(covariances)) / spreads.corner_scale)

    def _lens_whitening(self) -> Array:
        """Returns the matrix that whitens the lens's prior, (9, 9)."""
        return np.asarray(np.linalg.inv(np.linalg.cholesky(self.prior.covariance)))

    def _corners_about(self, values: Array) -> SeenCorners:
        """Returns the corners linearised at a solution, as `average_over_spreads` needs them."""
        # With the sigmas that the detector states: the average scales them itself.
        off, by = self._corner_misfit(values, self._corners_whitening(EXACT))
        tags = np.arange(len(self.tags))
        by = by.reshape(len(tags), 8, len(values))
        faults = by[..., _CAMERA:].reshape(len(tags), 8, len(tags), _FAULTS)
        prior_off, prior_by_value = self._lens_misfit(values, self._lens_whitening())
        faults_at = values[_CAMERA:].reshape(-1, _FAULTS)
        # The diagonal blocks: each tag's corners by its own faults.
        by_fault = faults[tags, :, tags]
        # Undo the fitted offsets: their sigmas are what `average_over_spreads` estimates.
        off = off.reshape(-1, 8) - np.einsum("nrf,nf->nr", by_fault[..., :3], faults_at[:, :3])
        return SeenCorners(
            offsets=off,
            by_camera=by[..., :_CAMERA],
            by_fault=by_fault,
            prior_off=prior_off,
            prior_by_camera=prior_by_value[:, :_CAMERA],
            inward=_USUAL_INWARD_PX - faults_at[:, 3],
            inward_spread=_INWARD_SPREAD_PX,
            # One scale serves all tags: it is as uncertain as the least certain one.
            scale_spread=max(tag.scale_spread for tag in self.tags),
        )

    def _fault_misfit(self, values: Array, spreads: Spreads) -> tuple[Array, Array]:
        """Returns the faults in units of their sigmas, and derivatives."""
        usual = np.tile([0, 0, 0, _USUAL_INWARD_PX], len(self.tags))
        sigmas = [spreads.place_mm, spreads.place_mm, spreads.turn_rad, _INWARD_SPREAD_PX]
        weights = np.tile(1 / np.array(sigmas), len(self.tags))
        jacobian = np.zeros((len(weights), len(values)))
        jacobian[:, _CAMERA:] = np.diag(weights)
        return (values[_CAMERA:] - usual) * weights, jacobian

    def _lens_misfit(self, values: Array, root: Array) -> tuple[Array, Array]:
        """Returns the lens minus its prior, whitened, and derivatives."""
        jacobian = np.zeros((_LENS, len(values)))
        jacobian[:, :_LENS] = root
        return root @ (values[:_LENS] - self.prior.lens.parameters), jacobian

    def _outcome(self, solution: Solution, spreads: Spreads) -> Adjustment:
        """Returns the camera, covariance and misfit of a solution."""
        values, covariance = solution.values[0], solution.covariance[0, :_CAMERA, :_CAMERA]
        camera = self._camera(values)
        corners = 8 * len(self.tags)
        # Only pose and inward pull are free; lens and other faults have a prior each.
        freedom = corners - (_CAMERA - _LENS) - len(self.tags)
        rms_px = float(np.sqrt(np.square(self._corners_off(values)[0]).sum(axis=1).mean()))
        misfit = float(np.square(solution.residuals).sum() / freedom)
        # Rounding leaves the inverse slightly asymmetric.
        return Adjustment(camera, (covariance + covariance.T) / 2, misfit, rms_px, spreads)


def _inward(quads_px: Array) -> Array:
    """Returns how corners (n, 4, 2) move when all sides of their square move in by one pixel."""
    to_next = np.roll(quads_px, -1, axis=1) - quads_px
    to_next /= np.linalg.norm(to_next, axis=2, keepdims=True)
    to_previous = -np.roll(to_next, 1, axis=1)
    # The point one pixel inside both sides: the sum of their directions over the sine of their
    # angle.
    sine = np.abs(to_next[..., 0] * to_previous[..., 1] - to_next[..., 1] * to_previous[..., 0])
    return np.asarray((to_next + to_previous) / sine[..., None])
