"""A Kalman filter of the camera's drift and of where each table tag lies.

The state holds six numbers of drift and three of each tag; every frame updates it (R. E. Kalman,
1960). Tags do not lie exactly where they are listed, but the calibration was fitted to them as they
lie: their offsets have no common part that a pose would explain. So a shift that all tags share
is drift from the first frame on, and the rest is a tag's own offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.extrinsics.tag_adjustment import HAND_PLACED
from calibration.extrinsics.tag_pose import offsets_from, pose_jacobian
from tablecam.table.roster import Roster

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

POSE = 6

_DRIFT_PX_A_SECOND = 0.3
"""The fastest drift: ten times that of a warming or sagging camera, so that drift is followed with
hardly a lag."""
_LONGEST_DRIFT_S = 3.0
"""The drift allowance stops growing at this age: a larger shift is a bump."""
_SINCE_CALIBRATED_PX = 0.5
"""How far a camera may sag between its calibration and its next use."""
_HAND_PLACED_SIGMA = np.array([HAND_PLACED.place_mm, HAND_PLACED.place_mm, HAND_PLACED.turn_rad])


@dataclass(frozen=True, slots=True, eq=False)
class TagObservations:
    """The table tags of one frame, placed through the believed camera.

    `rows` (k,) index the remembered tags; `places` (k, 3) are x_mm, y_mm, heading_rad; `noise` (3k,
    3k) is the covariance of reading them; `by_drift` (3k, 6) is the derivative by the pose.
    """

    rows: Rows
    places: Array
    noise: Array
    by_drift: Array

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: Rows) -> TagObservations:
        numbers = triples(chosen)
        return TagObservations(
            self.rows[chosen],
            self.places[chosen],
            self.noise[np.ix_(numbers, numbers)],
            self.by_drift[numbers],
        )

    @property
    def pose_covariance(self) -> Array:
        """The covariance of the pose, (6, 6), from these three or more tags alone."""
        weighted = np.linalg.solve(self.noise, self.by_drift)
        return np.asarray(np.linalg.inv(self.by_drift.T @ weighted))


@dataclass(frozen=True, slots=True, eq=False)
class TagMemory:
    """The belief about the drift and the tags' places.

    `listed` (n, 3) holds x_mm, y_mm, heading_rad of the tags `ids` in the table file. `mean` (6 +
    3n,) holds the error of the believed pose, then each tag's offset from its listed place;
    `covariance` is that of `mean`.
    """

    ids: tuple[int, ...]
    listed: Array
    mean: Array
    covariance: Array

    @classmethod
    def of(cls, roster: Roster, camera: Camera) -> TagMemory:
        """Starts the belief: tags laid by hand, and a camera that was calibrated to them."""
        tags = roster.table_tags
        places = [(tag.x_mm, tag.y_mm, np.pi / 2) for tag in tags]
        # Table tags lie with their tops toward +y.
        listed = np.array(places, dtype=np.float64).reshape(-1, 3)
        ids, size = tuple(tag.id for tag in tags), POSE + 3 * len(tags)
        return cls(ids, listed, np.zeros(size), np.zeros((size, size))).reset(camera)

    @property
    def drift(self) -> Array:
        """The error of the believed pose's parameters, (6,)."""
        return self.mean[:POSE]

    @property
    def drift_covariance(self) -> Array:
        """The covariance of the drift, (6, 6)."""
        return self.covariance[:POSE, :POSE]

    def believed_places(self, rows: Rows) -> Array:
        """Returns where tags are believed to lie, (k, 3): x_mm, y_mm, heading_rad."""
        return np.asarray(self.listed[rows] + self.mean[POSE:].reshape(-1, 3)[rows])

    def places_covariance(self, rows: Rows) -> Array:
        """Returns the covariance of these places, (3k, 3k)."""
        numbers = POSE + triples(rows)
        return self.covariance[np.ix_(numbers, numbers)]

    def innovation(self, observed: TagObservations) -> tuple[Array, Array]:
        """Returns the observed minus the expected places, (3k,), and the covariance (3k, 3k)."""
        observation = self._observation_matrix(observed)
        offset = offsets_from(observed.places, self.listed[observed.rows]).ravel()
        return (
            offset - observation @ self.mean,
            observation @ self.covariance @ observation.T + observed.noise,
        )

    def predicted(
        self, observed: TagObservations, camera: Camera, for_s: float | None
    ) -> TagMemory:
        """Adds the drift that is possible since the last frame, `for_s` seconds ago.

        None stands for a camera not used since its calibration, which may have sagged farther.
        """
        drift_px = _SINCE_CALIBRATED_PX
        if for_s is not None:
            drift_px = _DRIFT_PX_A_SECOND * min(for_s, _LONGEST_DRIFT_S)
        # A shift of 0 px has no covariance.
        if drift_px <= 0:  # the same picture again
            return self
        covariance = self.covariance.copy()
        covariance[:POSE, :POSE] += covariance_of_shift(observed, camera, drift_px)
        return replace(self, covariance=covariance)

    def updated(self, observed: TagObservations) -> TagMemory:
        """Returns the belief updated by a frame's observations."""
        offset, innovation_covariance = self.innovation(observed)
        observation = self._observation_matrix(observed)
        gain = np.linalg.solve(innovation_covariance, observation @ self.covariance).T
        remainder = np.eye(len(self.mean)) - gain @ observation
        # The Joseph form keeps the covariance symmetric and positive.
        covariance = remainder @ self.covariance @ remainder.T + gain @ observed.noise @ gain.T
        return replace(self, mean=self.mean + gain @ offset, covariance=covariance)

    def registered(self, pose_covariance: Array | None = None) -> TagMemory:
        """Returns the belief after the camera takes the pose that the tags show.

        After mere drift the covariance stays. After a bump, `pose_covariance` (6, 6) replaces that
        of the pose, which is then independent of the tags.
        """
        mean = self.mean.copy()
        mean[:POSE] = 0
        if pose_covariance is None:
            return replace(self, mean=mean)
        covariance = self.covariance.copy()
        # The correlation with the tags was that of the old pose.
        covariance[:POSE] = covariance[:, :POSE] = 0
        covariance[:POSE, :POSE] = pose_covariance
        return replace(self, mean=mean, covariance=covariance)

    def with_pose_shifted(self, step: Array) -> TagMemory:
        """Returns the belief about a pose whose parameters (6,) differ by `step`."""
        mean = self.mean.copy()
        mean[:POSE] += step
        return replace(self, mean=mean)

    def reset(self, camera: Camera) -> TagMemory:
        """Returns the initial belief for a camera just registered to the listed places."""
        size = len(self.mean)
        covariance = np.zeros((size, size))
        covariance[POSE:, POSE:] = _listing_errors(camera, self.listed)
        return replace(self, mean=np.zeros(size), covariance=covariance)

    def with_tag_at(self, row: int, place: Array, covariance: Array) -> TagMemory:
        """Returns the belief once a tag was laid at `place` (3,), with `covariance` (3, 3)."""
        numbers = POSE + triples(np.array([row]))
        mean, whole = self.mean.copy(), self.covariance.copy()
        mean[numbers] = offsets_from(place, self.listed[row])
        # A moved tag is independent of everything else.
        whole[numbers] = whole[:, numbers] = 0
        whole[np.ix_(numbers, numbers)] = covariance
        return replace(self, mean=mean, covariance=whole)

    def _observation_matrix(self, observed: TagObservations) -> Array:
        """Returns the derivative of the observed places by the state, (3k, 6 + 3n)."""
        observation = np.zeros((3 * len(observed), len(self.mean)))
        observation[:, :POSE] = observed.by_drift
        # A tag's own offset is observed directly, the drift through its derivative.
        observation[np.arange(3 * len(observed)), POSE + triples(observed.rows)] = 1
        return observation


def covariance_of_shift(observed: TagObservations, camera: Camera, by_px: float) -> Array:
    """Returns the covariance (6, 6) of poses that shift the observed tags by about `by_px`."""
    # Equal shifts in x and y, and a turn that shifts the outermost tags as far.
    shift_mm = by_px / float(camera.px_per_mm(observed.places[:, :2]).mean())
    size_mm = float(np.ptp(observed.places[:, :2], axis=0).max())
    sigma = np.tile([shift_mm, shift_mm, shift_mm / size_mm], len(observed))
    by_drift = observed.by_drift / sigma[:, None]
    return np.asarray(np.linalg.inv(by_drift.T @ by_drift))


def hand_placed(tags: int) -> Array:
    """Returns the covariance (3n, 3n) of tags laid by hand at their listed places."""
    return np.diag(np.tile(_HAND_PLACED_SIGMA**2, tags))


def triples(rows: Rows | Sequence[int]) -> Rows:
    """Returns the indices (3k,) of the three values of each of the rows (k,)."""
    return np.asarray(3 * np.asarray(rows, dtype=np.int64)[:, None] + np.arange(3)).ravel()


def _listing_errors(camera: Camera, listed: Array) -> Array:
    """Returns the covariance of hand-laid tags' offsets, without the part a pose would explain."""
    sigma = np.tile(_HAND_PLACED_SIGMA, len(listed))
    if len(sigma) <= POSE:  # with so few tags a pose would explain every offset
        return np.diag(sigma**2)
    basis, _ = np.linalg.qr(pose_jacobian(camera, listed) / sigma[:, None])
    # Projects out the six directions in which a pose moves all tags.
    residual = np.eye(len(sigma)) - basis @ basis.T
    return np.asarray(sigma[:, None] * residual * sigma)
