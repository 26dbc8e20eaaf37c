"""Bases as arrays of rectangles, with the standard deviations of their poses.

A point or a commander is a rectangle of size 0, so that every length is one between rectangles.
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
"""Tolerance for rounding errors of exact inputs: a margin of -EXACT_MM still counts as 0."""

Measurable = Unit | BasePose | Commander | Point
"""Anything that a length can be measured to; a commander is the centre of the marker."""


@dataclass(frozen=True, slots=True, eq=False)
class Rectangles:
    """The n rectangles of some things, in the order of the things.

    `centres_mm` (n, 2); `axes` (n, 2, 2), the unit vectors to the base's right and ahead;
    `halves_mm` (n, 2), half its width and depth; `owners` (n,), the index of its thing. `sigmas`
    (n, 3) are the standard deviations of three independent errors: the tag's x and y (mm) and the
    heading (radians). A heading error also moves the centre, by `swings_mm` (n, 2) per radian.
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
        """Returns the corners (n, 4, 2): front left, front right, rear right, rear left."""
        signs = np.array([[-1.0, 1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
        offsets = (signs * self.halves_mm[:, None]) @ self.axes
        return np.asarray(self.centres_mm[:, None] + offsets)

    @property
    def arms_mm(self) -> Array:
        """A bound (n,) on the distance of any point of a rectangle from its tag."""
        halves_mm, swings_mm = np.linalg.norm([self.halves_mm, self.swings_mm], axis=2)
        return np.asarray(halves_mm + swings_mm)

    def in_sigmas(self, by_pose: Array) -> Array:
        """Returns the change of k lengths by one sigma of each error, (n, k, 3).

        `by_pose` (n, k, 3) are their derivatives by centre (x, y) and heading (radians).
        """
        # A heading error turns the base about its tag, so it also moves the centre.
        by_heading = by_pose[..., 2] + np.einsum("nki,ni->nk", by_pose[..., :2], self.swings_mm)
        by_error = np.concatenate([by_pose[..., :2], by_heading[..., None]], axis=2)
        return np.asarray(by_error * self.sigmas[:, None])

    def errors(self, z: Array) -> tuple[Array, Array]:
        """Returns the errors of the centres (..., n, 2) and of the headings (..., n), in radians.

        `z` (..., n, 3) are the three errors in units of their sigmas.
        """
        errors = z * self.sigmas
        return errors[..., :2] + errors[..., 2:] * self.swings_mm, errors[..., 2]

    def take(self, indices: Indices) -> Rectangles:
        """Returns the rectangles at some indices, in that order."""
        return Rectangles(
            self.centres_mm[indices],
            self.axes[indices],
            self.halves_mm[indices],
            self.sigmas[indices],
            self.swings_mm[indices],
            self.owners[indices],
        )


def rectangles(things: Sequence[Measurable]) -> Rectangles:
    """Returns the rectangles of things, those of each thing together."""
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
    # A rectangle of size 0, with axes along x and y.
    return (x_mm, y_mm, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, sigma_mm, sigma_mm, 0.0, 0.0, 0.0)


@lru_cache(maxsize=4096)
def _row(base: BasePose) -> tuple[float, ...]:
    # Cached: a base at rest is converted dozens of times per frame.
    x, y = forward(base.heading_deg)
    halves = (base.width_mm / 2, base.depth_mm / 2)
    sigmas = (base.tag_sigma_mm, base.tag_sigma_mm, math.radians(base.sigma_deg))
    right_mm, ahead_mm = base.tag_right_mm, base.tag_forward_mm
    # The derivative of the centre by the heading, for a rotation about the tag.
    swing_mm = (ahead_mm * y - right_mm * x, -ahead_mm * x - right_mm * y)
    return (base.x_mm, base.y_mm, y, -x, x, y, *halves, *sigmas, *swing_mm)
