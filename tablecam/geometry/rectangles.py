"""Many bases at once, as arrays: where their corners are and how sure that is.

A point or a commander is a rectangle of no size, so that every length is one between rectangles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tablecam.table.headings import forward
from tablecam.table.model import BasePose, Commander, Point, Unit

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

EXACT_MM = 1e-6
"""What exact inputs lose to rounding: a margin this little below 0 is 0, and holds."""

Measurable = Unit | BasePose | Commander | Point
"""What a length can be taken to. A commander is the point at his marker's middle."""


@dataclass(frozen=True, slots=True, eq=False)
class Rectangles:
    """The rectangles of some things, n of them in all, in the things' order.

    `centres_mm` (n, 2); `axes` (n, 2, 2), each base's unit vectors to its right and ahead;
    `halves_mm` (n, 2), half of its width and depth; `owners` (n,), the place of the thing it
    belongs to. Three things err, each by itself, and `sigmas` (n, 3) are theirs: where its tag is
    along x and y (mm), and its heading (radians), which swings the centre about the tag: by
    `swings_mm` (n, 2) for each radian.
    """

    centres_mm: Array
    axes: Array
    halves_mm: Array
    sigmas: Array
    swings_mm: Array
    owners: Indices

    def __len__(self) -> int:
        return len(self.owners)

    def corners_mm(self) -> Array:
        """The corners (n, 4, 2): front left, front right, rear right, rear left."""
        signs = np.array([[-1.0, 1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
        offsets = (signs * self.halves_mm[:, None]) @ self.axes
        return np.asarray(self.centres_mm[:, None] + offsets)

    @property
    def arms_mm(self) -> Array:
        """How far, at most, any point of each is from what its heading turns about, (n,)."""
        halves_mm, swings_mm = np.linalg.norm([self.halves_mm, self.swings_mm], axis=2)
        return np.asarray(halves_mm + swings_mm)

    def in_sigmas(self, by_pose: Array) -> Array:
        """By how much one sigma of each of what errs changes k lengths, (n, k, 3).

        `by_pose` (n, k, 3) are the lengths' derivatives by centre (x, y) and heading (radians).
        """
        by_turn = by_pose[..., 2] + np.einsum("nki,ni->nk", by_pose[..., :2], self.swings_mm)
        by_error = np.concatenate([by_pose[..., :2], by_turn[..., None]], axis=2)
        return np.asarray(by_error * self.sigmas[:, None])

    def errors(self, luck: Array) -> tuple[Array, Array]:
        """How far centres are moved (..., n, 2) and headings turned (..., n), in radians.

        `luck` (..., n, 3) is what each that errs is off by, in its sigmas.
        """
        off = luck * self.sigmas
        return off[..., :2] + off[..., 2:] * self.swings_mm, off[..., 2]

    def take(self, indices: Indices) -> Rectangles:
        """The rectangles at some places, in that order."""
        return Rectangles(
            self.centres_mm[indices],
            self.axes[indices],
            self.halves_mm[indices],
            self.sigmas[indices],
            self.swings_mm[indices],
            self.owners[indices],
        )


def rectangles(things: Sequence[Measurable]) -> Rectangles:
    """The rectangles of things, each thing's together."""
    rows = [(owner, *row) for owner, thing in enumerate(things) for row in _rows(thing)]
    owners = np.array([row[0] for row in rows], dtype=np.intp)
    table = np.array([row[1:] for row in rows], dtype=np.float64).reshape(-1, 13)
    return Rectangles(
        centres_mm=table[:, 0:2],
        axes=table[:, 2:6].reshape(-1, 2, 2),
        halves_mm=table[:, 6:8],
        sigmas=table[:, 8:11],
        swings_mm=table[:, 11:13],
        owners=owners,
    )


def _rows(thing: Measurable) -> list[tuple[float, ...]]:
    if isinstance(thing, Unit):
        return [_row(base) for base in thing.bases]
    if isinstance(thing, BasePose):
        return [_row(thing)]
    if isinstance(thing, Commander):
        return [_point_row(thing.x_mm, thing.y_mm, thing.sigma_mm)]
    return [_point_row(*thing, 0.0)]


def _point_row(x_mm: float, y_mm: float, sigma_mm: float) -> tuple[float, ...]:
    return (x_mm, y_mm, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, sigma_mm, sigma_mm, 0.0, 0.0, 0.0)


@lru_cache(maxsize=4096)
def _row(base: BasePose) -> tuple[float, ...]:
    # Of one that lies still it is asked dozens of times a picture.
    x, y = forward(base.heading_deg)
    halves = (base.width_mm / 2, base.depth_mm / 2)
    sigmas = (base.tag_sigma_mm, base.tag_sigma_mm, math.radians(base.sigma_deg))
    right_mm, ahead_mm = base.tag_right_mm, base.tag_forward_mm
    swing_mm = (ahead_mm * y - right_mm * x, -ahead_mm * x - right_mm * y)
    return (base.x_mm, base.y_mm, y, -x, x, y, *halves, *sigmas, *swing_mm)
