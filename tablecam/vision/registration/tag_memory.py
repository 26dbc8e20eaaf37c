"""What is remembered of the table tags: where each lies, and how far the camera has drifted.

One Gaussian belief about six numbers of drift and three of each tag, brought up to date by every
look (R. E. Kalman, 1960). Tags do not lie quite where they are listed, but the calibration was
fitted to them as they lie: what they are off by has nothing in common that a pose would explain.
So a shift that all tags share is drift from the first look on, and what is left is a tag's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.tag_adjustment import HAND_PLACED
from calibration.tag_pose import beside, pose_jacobian
from tablecam.table.roster import Roster

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

POSE = 6

_DRIFT_PX_A_SECOND = 0.3
"""How fast a camera may drift: ten times as fast as one does that is warming or sagging, so that
drift is followed with hardly a lag."""
_LONGEST_DRIFT_S = 3.0
"""What is farther off after a longer while is a bump."""
_SINCE_CALIBRATED_PX = 0.5
"""How far a camera may have sagged, and be called calibrated, when it is looked through again."""
_FAULT = np.array([HAND_PLACED.place_mm, HAND_PLACED.place_mm, HAND_PLACED.turn_rad])


@dataclass(frozen=True, slots=True, eq=False)
class TagLook:
    """The table tags that one look shows, as the camera that is believed puts them.

    `rows` (k,) count into the remembered tags, `places` (k, 3) are x_mm, y_mm, heading_rad, and
    `noise` (3k, 3k) is how well they were read; `by_drift` (3k, 6) is how they shift with the pose.
    """

    rows: Rows
    places: Array
    noise: Array
    by_drift: Array

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: Rows) -> TagLook:
        numbers = triples(chosen)
        return TagLook(
            self.rows[chosen],
            self.places[chosen],
            self.noise[np.ix_(numbers, numbers)],
            self.by_drift[numbers],
        )

    @property
    def pose_covariance(self) -> Array:
        """How well these tags alone tell the pose, (6, 6); there must be three or more of them."""
        weighted = np.linalg.solve(self.noise, self.by_drift)
        return np.asarray(np.linalg.inv(self.by_drift.T @ weighted))


@dataclass(frozen=True, slots=True, eq=False)
class TagMemory:
    """The belief about drift and tags, and how the listed tags are numbered.

    `listed` (n, 3) is x_mm, y_mm, heading_rad of the tags `ids`. `mean` (6 + 3n,) is by how much
    the pose that is believed is wrong, then how far each tag lies beside its listed place;
    `covariance` is theirs.
    """

    ids: tuple[int, ...]
    listed: Array
    mean: Array
    covariance: Array

    @classmethod
    def of(cls, roster: Roster, camera: Camera) -> TagMemory:
        """Before anything was seen: tags laid by hand, and a camera that was calibrated to them."""
        tags = roster.table_tags
        places = [(tag.x_mm, tag.y_mm, np.pi / 2) for tag in tags]
        listed = np.array(places, dtype=np.float64).reshape(-1, 3)
        ids, size = tuple(tag.id for tag in tags), POSE + 3 * len(tags)
        return cls(ids, listed, np.zeros(size), np.zeros((size, size))).begun_again(camera)

    @property
    def drift(self) -> Array:
        """By how much the believed pose's parameters are wrong, (6,)."""
        return self.mean[:POSE]

    @property
    def drift_covariance(self) -> Array:
        """How well the drift is known, (6, 6)."""
        return self.covariance[:POSE, :POSE]

    def homes(self, rows: Rows) -> Array:
        """Where tags are believed to lie, (k, 3): x_mm, y_mm, heading_rad."""
        return np.asarray(self.listed[rows] + self.mean[POSE:].reshape(-1, 3)[rows])

    def homes_covariance(self, rows: Rows) -> Array:
        """How well that is known, (3k, 3k)."""
        numbers = POSE + triples(rows)
        return self.covariance[np.ix_(numbers, numbers)]

    def surprise(self, look: TagLook) -> tuple[Array, Array]:
        """How far beside the expected a look's tags lie, (3k,), and its covariance (3k, 3k)."""
        seen_by = self._seen_by(look)
        off = beside(look.places, self.listed[look.rows]).ravel()
        return off - seen_by @ self.mean, seen_by @ self.covariance @ seen_by.T + look.noise

    def doubting(self, look: TagLook, camera: Camera, for_s: float | None) -> TagMemory:
        """So many seconds later the camera may have drifted; farther before it was ever looked at.

        `for_s` is None then.
        """
        drift_px = _SINCE_CALIBRATED_PX
        if for_s is not None:
            drift_px = _DRIFT_PX_A_SECOND * min(for_s, _LONGEST_DRIFT_S)
        if drift_px <= 0:  # the same picture again
            return self
        covariance = self.covariance.copy()
        covariance[:POSE, :POSE] += poses_that_shift(look, camera, drift_px)
        return replace(self, covariance=covariance)

    def after(self, look: TagLook) -> TagMemory:
        """The belief after a look."""
        off, spread = self.surprise(look)
        seen_by = self._seen_by(look)
        gain = np.linalg.solve(spread, seen_by @ self.covariance).T
        kept = np.eye(len(self.mean)) - gain @ seen_by
        covariance = kept @ self.covariance @ kept.T + gain @ look.noise @ gain.T
        return replace(self, mean=self.mean + gain @ off, covariance=covariance)

    def registered(self, pose_covariance: Array | None = None) -> TagMemory:
        """The belief once the camera has been given the pose that the tags show.

        After mere drift it is as sure as it was; after a bump the pose is known as well as the
        look that showed it tells, and tells nothing more about the tags.
        """
        mean = self.mean.copy()
        mean[:POSE] = 0
        if pose_covariance is None:
            return replace(self, mean=mean)
        covariance = self.covariance.copy()
        covariance[:POSE] = covariance[:, :POSE] = 0
        covariance[:POSE, :POSE] = pose_covariance
        return replace(self, mean=mean, covariance=covariance)

    def with_pose_off_by(self, step: Array) -> TagMemory:
        """The belief about a pose whose parameters (6,) are other than those that it was about."""
        mean = self.mean.copy()
        mean[:POSE] += step
        return replace(self, mean=mean)

    def begun_again(self, camera: Camera) -> TagMemory:
        """The belief before anything was seen with a camera just registered to listed places."""
        size = len(self.mean)
        covariance = np.zeros((size, size))
        covariance[POSE:, POSE:] = _own_faults(camera, self.listed)
        return replace(self, mean=np.zeros(size), covariance=covariance)

    def with_tag_at(self, row: int, place: Array, covariance: Array) -> TagMemory:
        """The belief once a tag has been laid elsewhere: at `place` (3,), so well known (3, 3)."""
        numbers = POSE + triples(np.array([row]))
        mean, whole = self.mean.copy(), self.covariance.copy()
        mean[numbers] = beside(place, self.listed[row])
        whole[numbers] = whole[:, numbers] = 0
        whole[np.ix_(numbers, numbers)] = covariance
        return replace(self, mean=mean, covariance=whole)

    def _seen_by(self, look: TagLook) -> Array:
        """How what a look sees follows from the belief's numbers, (3k, 6 + 3n)."""
        seen_by = np.zeros((3 * len(look), len(self.mean)))
        seen_by[:, :POSE] = look.by_drift
        seen_by[np.arange(3 * len(look)), POSE + triples(look.rows)] = 1
        return seen_by


def poses_that_shift(look: TagLook, camera: Camera, by_px: float) -> Array:
    """The covariance (6, 6) of poses that shift the tags of a look, anyhow, by so many pixels."""
    shift_mm = by_px / float(camera.px_per_mm(look.places[:, :2]).mean())
    size_mm = float(np.ptp(look.places[:, :2], axis=0).max())
    spread = np.tile([shift_mm, shift_mm, shift_mm / size_mm], len(look))
    by_drift = look.by_drift / spread[:, None]
    return np.asarray(np.linalg.inv(by_drift.T @ by_drift))


def hand_placed(tags: int) -> Array:
    """The covariance (3n, 3n) of tags that were laid by hand where they are listed."""
    return np.diag(np.tile(_FAULT**2, tags))


def triples(rows: Rows | Sequence[int]) -> Rows:
    """Of rows (k,), the numbers (3k,) of their three values each."""
    return np.asarray(3 * np.asarray(rows, dtype=np.int64)[:, None] + np.arange(3)).ravel()


def _own_faults(camera: Camera, listed: Array) -> Array:
    """How far hand-laid tags lie beside their listed places, but for what a pose would explain."""
    faults = np.tile(_FAULT, len(listed))
    if len(faults) <= POSE:  # with so few tags a pose would explain anything
        return np.diag(faults**2)
    basis, _ = np.linalg.qr(pose_jacobian(camera, listed) / faults[:, None])
    own = np.eye(len(faults)) - basis @ basis.T
    return np.asarray(faults[:, None] * own * faults)
