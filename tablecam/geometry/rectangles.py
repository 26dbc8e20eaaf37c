"""Bases as arrays of rectangles, with the standard deviations of their poses.

A point or a commander is a rectangle of size 0, and a round or oval base is the ellipse inscribed
in one, so every length runs between two of these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import shapely
from numpy.typing import NDArray

from tablecam.table.headings import forward
from tablecam.table.model import BasePose, Commander, Point, Unit

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

EXACT_MM = 1e-6
"""Tolerance for rounding errors of exact inputs: a margin of -EXACT_MM still counts as 0."""

_RIM = np.array([(math.sin(turn), math.cos(turn)) for turn in np.arange(128) * math.tau / 128])
"""Points on the unit circle, clockwise from ahead: the corners of an ellipse's polygon."""

Measurable = Unit | BasePose | Commander | Point
"""Anything that a length can be measured to; a commander counts as the marker's centre."""


@dataclass(frozen=True, slots=True, eq=False)
class Rectangles:
    """The n rectangles of some things, in the order of the things.

    `centres_mm` (n, 2); `axes` (n, 2, 2), the unit vectors to the base's right and ahead;
    `halves_mm` (n, 2), half its width and depth; `owners` (n,), the index of its thing. `sigmas`
    (n, 3) are the standard deviations of its own three errors: the tag's x and y (mm) and the
    heading (radians). A heading error also moves the centre, by `swings_mm` (n, 2) per radian.

    Shared errors are given by the effect of one standard deviation on the centre's x and y (mm)
    and the heading (radians): `common` (n, c, 3) for the c errors of the calibration, `in_row`
    (n, 3, 3) for the three of its row. `rows` (n,) is the index of that row in `row_ids`, or -1.
    `is_oval` (n,) marks ellipses, `is_glued` (n,) rectangles whose own position errors lie along
    their axes, not along x and y.
    """

    centres_mm: Array
    axes: Array
    halves_mm: Array
    sigmas: Array
    swings_mm: Array
    owners: Indices
    common: Array
    in_row: Array
    rows: Indices
    row_ids: tuple[str, ...]
    is_oval: NDArray[np.bool_]
    is_glued: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.owners)

    def corners_mm(self) -> Array:
        """Returns the corners (n, 4, 2): front left, front right, rear right, rear left."""
        signs = np.array([[-1.0, 1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
        offsets = (signs * self.halves_mm[:, None]) @ self.axes
        return np.asarray(self.centres_mm[:, None] + offsets)

    def outlines(self) -> NDArray[np.object_]:
        """Returns the polygons (n,); an ellipse's has chords that lie within 0.02 mm of it."""
        polygons = np.asarray(shapely.polygons(self.corners_mm()), dtype=object)
        if self.is_oval.any():
            ovals = self.take(np.flatnonzero(self.is_oval))
            offsets = (_RIM * ovals.halves_mm[:, None]) @ ovals.axes
            polygons[self.is_oval] = shapely.polygons(ovals.centres_mm[:, None] + offsets)
        return polygons

    @property
    def arms_mm(self) -> Array:
        """A bound (n,) on the distance of any point of a rectangle from its tag."""
        halves_mm, swings_mm = np.linalg.norm([self.halves_mm, self.swings_mm], axis=2)
        return np.asarray(halves_mm + swings_mm)

    @property
    def is_exact(self) -> bool:
        """Whether all poses are exact."""
        return not (self.sigmas.any() or self.common.any() or self.in_row.any())

    @property
    def sigma_bounds_mm(self) -> Array:
        """Bounds (n,) on the standard deviation of any point of a rectangle in any direction."""
        shared = np.concatenate([self.common, self.in_row], axis=1)
        place_mm = np.sqrt(self.sigmas[:, 0] ** 2 + (shared[..., :2] ** 2).sum(axis=(1, 2)))
        turn_rad = np.sqrt(self.sigmas[:, 2] ** 2 + (shared[..., 2] ** 2).sum(axis=1))
        return np.asarray(place_mm + turn_rad * self.arms_mm)

    def in_sigmas(self, by_pose: Array) -> Array:
        """Returns the change (n, k, 3) of k lengths for one sigma of each own error.

        `by_pose` (n, k, 3) are their derivatives by centre (x, y) and heading (radians).
        """
        # A heading error turns the base about its tag, so it also moves the centre.
        by_heading = by_pose[..., 2] + np.einsum("nki,ni->nk", by_pose[..., :2], self.swings_mm)
        by_error = np.concatenate([by_pose[..., :2], by_heading[..., None]], axis=2)
        return np.asarray(by_error * self.sigmas[:, None])

    def sigma_mm(self, by_pose: Array) -> float:
        """Returns the standard deviation of a length, given its derivatives (n, 3) by all poses."""
        variance = np.square(self.in_sigmas(by_pose[:, None])).sum()
        variance += np.square(np.einsum("ni,nci->c", by_pose, self.common)).sum()
        by_row = np.zeros((len(self.row_ids) + 1, 3))
        np.add.at(by_row, self.rows, np.einsum("ni,nei->ne", by_pose, self.in_row))
        return math.sqrt(variance + np.square(by_row).sum())

    def take(self, indices: Indices) -> Rectangles:
        """Returns the rectangles at some indices, in that order."""
        return Rectangles(
            self.centres_mm[indices],
            self.axes[indices],
            self.halves_mm[indices],
            self.sigmas[indices],
            self.swings_mm[indices],
            self.owners[indices],
            self.common[indices],
            self.in_row[indices],
            self.rows[indices],
            self.row_ids,
            self.is_oval[indices],
            self.is_glued[indices],
        )


def rectangles(things: Sequence[Measurable]) -> Rectangles:
    """Returns the rectangles of things, those of each thing together."""
    bases = [(owner, base) for owner, thing in enumerate(things) for base in _bases_of(thing)]
    table = np.array([_numbers(base) for _, base in bases], dtype=np.float64).reshape(-1, 24)
    names = [base.row.id if isinstance(base, BasePose) and base.row else None for _, base in bases]
    row_ids = tuple(dict.fromkeys(name for name in names if name is not None))
    number = {None: -1} | {name: index for index, name in enumerate(row_ids)}
    return Rectangles(
        centres_mm=table[:, 0:2],
        axes=table[:, 2:6].reshape(-1, 2, 2),
        halves_mm=table[:, 6:8],
        sigmas=table[:, 8:11],
        swings_mm=table[:, 11:13],
        owners=np.array([owner for owner, _ in bases], dtype=np.intp),
        common=_common([base for _, base in bases]),
        in_row=table[:, 13:22].reshape(-1, 3, 3),
        rows=np.array([number[name] for name in names], dtype=np.intp),
        row_ids=row_ids,
        is_oval=table[:, 22] > 0.0,
        is_glued=table[:, 23] > 0.0,
    )


_Base = BasePose | Commander | Point


def _bases_of(thing: Measurable) -> Sequence[_Base]:
    return thing.bases if isinstance(thing, Unit) else (thing,)


def _common(bases: Sequence[_Base]) -> Array:
    """Returns the effect of each calibration error on bases (n, c, 3); 0 where not stated."""
    poses = [base.pose if isinstance(base, Commander) else base for base in bases]
    stated = [pose.common if isinstance(pose, BasePose) else () for pose in poses]
    common = np.zeros((len(bases), max(map(len, stated), default=0), 3))
    for index, errors in enumerate(stated):
        if errors:
            common[index, : len(errors)] = errors
    common[..., 2] = np.radians(common[..., 2])
    return common


def _numbers(base: _Base) -> tuple[float, ...]:
    """Returns the 24 numbers of a rectangle that do not depend on other rectangles."""
    if isinstance(base, BasePose):
        return _numbers_of_base(base)
    if isinstance(base, Commander):
        common_mm2 = sum(x**2 + y**2 for x, y, _ in base.pose.common) / 2 if base.pose else 0.0
        own_mm = math.sqrt(max(base.sigma_mm**2 - common_mm2, 0.0))
        return _numbers_of_point(base.x_mm, base.y_mm, own_mm)
    return _numbers_of_point(*base, 0.0)


def _numbers_of_point(x_mm: float, y_mm: float, sigma_mm: float) -> tuple[float, ...]:
    # A rectangle of size 0, with axes along x and y.
    pose = (x_mm, y_mm, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    return (*pose, sigma_mm, sigma_mm, *[0.0] * 14)


@lru_cache(maxsize=4096)
def _numbers_of_base(base: BasePose) -> tuple[float, ...]:
    # Cached: a base at rest is converted dozens of times per frame.
    x, y = forward(base.heading_deg)
    halves = (base.width_mm / 2, base.depth_mm / 2)
    own_mm, own_deg = base.own_sigmas
    sigmas = (own_mm, own_mm, math.radians(own_deg))
    right_mm, ahead_mm = base.tag_right_mm, base.tag_forward_mm
    # The derivative of the centre by the heading, for a rotation about the tag.
    swing_mm = (ahead_mm * y - right_mm * x, -ahead_mm * x - right_mm * y)
    is_oval, is_glued = float(base.shape != "rectangle"), float(base.is_glued)
    in_row = [
        number
        for x_mm, y_mm, turn_deg in base.row_errors
        for number in (x_mm, y_mm, math.radians(turn_deg))
    ]
    pose = (base.x_mm, base.y_mm, y, -x, x, y, *halves)
    return (*pose, *sigmas, *swing_mm, *in_row, is_oval, is_glued)
