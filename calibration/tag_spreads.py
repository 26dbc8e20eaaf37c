"""How truly table tags were laid, weighed over all that they themselves leave possible.

Four tags have eight numbers for their places, and the camera's pose takes six of them: two are
left to tell how truly a hand laid tags. The likeliest spread, however exactly it is found, is
then far too small as often as too large, and whatever is computed with it is too sure of itself
(R. N. Kackar, D. A. Harville 1984): of the errors of four tags, 50 % lay within one sigma and 75 %
within two. So no spread is chosen. Each that may be, on a grid, gives a camera of its own, weighed
by its restricted likelihood (H. D. Patterson, R. Thompson 1971: the pose integrated out) and by
what hands do; camera and covariance are those of all together.

That is honest where answers are decided, with a middle that is wider than a normal's: of places
under two simulated cameras, four tags laid by hand to 0.1, 0.3 and 1 mm, 71 to 74 % lay within one
sigma, 88 to 89 % within 1.645 and 92 to 94 % within two (100 tables each). Tags that lie exactly
cannot be told from tags that lie to some hundredths of a millimetre: there sigmas are 1.3 to 1.7
times too large (the shared footage's cameras, tags read by their patterns, 60 tables each), and the
less so the more truly tags are read. Were the spreads known, they would be exact: 66 to 71, 89 to
91 and 94 to 96 %.

Two other ways were tried on such tables, four tags under one camera. To believe beforehand that
hands lay tags to 0.3 mm (a scaled inverse chi-squared prior of two or four degrees of freedom:
A. Gelman et al., Bayesian Data Analysis, chapter 3) makes sigmas of tags that lie exactly 3.7 times
too large instead of 1.5, and those of tags laid to 0.3 mm no truer (40 tables each). To tell the
sigma within 1.645 of which nine in ten errors would lie, instead of the root mean square over all
spreads, crowds the middle less (80 instead of 84 % of tags that lie exactly), but of tags that a
hand laid to 0.1, 0.3 and 1 mm only 86 to 88 % lie there, and 89 to 90 % as it is (120 tables each).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_PLACES_MM = np.geomspace(0.003, 30.0, 18)
"""From what no picture can tell from exact to what nobody does: any decade is as likely, up to"""
_FEW_LAY_WORSE_MM = 5.0
_ARM_MM, _ARM_SPREAD = 80.0, 1.0
"""A hand that lays tags aside by 0.3 mm turns them by 0.3 mm over this length, give or take a
factor of e: a tag that is fitted to marks at its corners would be turned by more, one that is held
against a ruler by less. How truly tags are turned is told by all of them: no pose explains it."""
_ARMS = np.linspace(-2.0, 2.0, 5)
_CORNER_SCALES = np.geomspace(0.3, 6.0, 12)


@dataclass(frozen=True, slots=True, eq=False)
class SeenCorners:
    """The corners of n tags about some camera, as equations of first degree.

    `off` (n, 8) is how far they are expected beside where they are seen, in their own standard
    deviations; `by_camera` (n, 8, c) and `by_fault` (n, 8, 4) are its derivatives, by the tags'
    faults aside, away, turned and inward. The prior of the camera is `prior_off` (p,), how far it
    lies from what is known beforehand, in standard deviations, with the derivatives
    `prior_by_camera` (p, c). The pull inward is known but for `inward` (n,), with the standard
    deviation `inward_spread`, and the standard deviations of corners but for a factor near 1, whose
    logarithm has the standard deviation `scale_spread` (infinite: any).
    """

    off: Array
    by_camera: Array
    by_fault: Array
    prior_off: Array
    prior_by_camera: Array
    inward: Array
    inward_spread: float
    scale_spread: float


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """What corners tell of the camera: a step (c,) from where it was, and its covariance (c, c).

    `place_mm`, `turn_rad` and `corner_scale` are the root mean squares of the spreads.
    """

    step: Array
    covariance: Array
    place_mm: float
    turn_rad: float
    corner_scale: float


@dataclass(frozen=True, slots=True, eq=False)
class _Spreads:
    """Spreads (k,) that may be, and how much is thought of each before tags are seen (its log)."""

    place_mm: Array
    turn_rad: Array
    corner_scale: Array
    log_belief: Array

    @classmethod
    def grid(cls, scale_spread: float) -> _Spreads:
        place, arm, scale = (
            axis.ravel() for axis in np.meshgrid(_PLACES_MM, _ARMS, _CORNER_SCALES, indexing="ij")
        )
        belief = -np.log1p(np.square(place / _FEW_LAY_WORSE_MM)) - arm**2 / 2
        belief -= np.square(np.log(scale) / scale_spread) / 2
        return cls(place, place / (_ARM_MM * np.exp(_ARM_SPREAD * arm)), scale, belief)


def weighed(corners: SeenCorners) -> Weighed:
    """The camera that corners tell of, whatever the spreads of their tags are."""
    spreads = _Spreads.grid(corners.scale_spread)
    steps, covariances, log_likelihood = _cameras(corners, spreads)
    belief = np.exp(log_likelihood + spreads.log_belief - log_likelihood.max())
    belief /= belief.sum()
    step = belief @ steps
    apart = steps - step
    between = (belief[:, None] * apart).T @ apart
    place, turn, scale = (
        float(np.sqrt(belief @ np.square(of)))
        for of in (spreads.place_mm, spreads.turn_rad, spreads.corner_scale)
    )
    return Weighed(step, np.tensordot(belief, covariances, axes=1) + between, place, turn, scale)


def _cameras(corners: SeenCorners, spreads: _Spreads) -> tuple[Array, Array, Array]:
    """The camera of each spread: steps (k, c), covariances (k, c, c), log likelihoods (k,)."""
    off = corners.off + corners.by_fault[..., 3] * corners.inward[:, None]
    root, log_size = _whitening(corners, spreads)
    by_camera, misfit = root @ corners.by_camera, root @ off[..., None]
    count, parameters = len(root), corners.by_camera.shape[-1]
    prior = (count, len(corners.prior_off), parameters + 1)
    rows = np.concatenate(
        [
            np.concatenate([by_camera, misfit], axis=-1).reshape(count, -1, parameters + 1),
            np.broadcast_to(np.c_[corners.prior_by_camera, corners.prior_off], prior),
        ],
        axis=1,
    )
    scale = np.linalg.norm(rows[..., :-1], axis=1)  # radians beside pixels, evened
    rows[..., :-1] /= scale[:, None]
    # An unknown lens and four tags leave a valley a million times longer than wide. Householder's
    # orthogonal triangles keep twice the digits there that normal equations do, in which
    # likelihoods were off by tens and the processor's order of sums chose the spreads.
    triangle: Array = np.asarray(np.linalg.qr(rows, mode="r"), dtype=np.float64)
    by_step, pull, left_over = triangle[:, :-1, :-1], triangle[:, :-1, -1:], triangle[:, -1, -1]
    roots = np.linalg.inv(by_step) / scale[..., None]
    log_size += 2 * np.log(np.abs(np.diagonal(by_step, axis1=1, axis2=2)) * scale).sum(axis=1)
    log_likelihood = -(np.square(left_over) + log_size) / 2
    return -(roots @ pull)[..., 0], roots @ roots.transpose(0, 2, 1), log_likelihood


def _whitening(corners: SeenCorners, spreads: _Spreads) -> tuple[Array, Array]:
    """What makes each tag's corners independent, (k, n, 8, 8), and the log determinants, (k,)."""
    place = spreads.place_mm
    inward = np.full_like(place, corners.inward_spread)
    faults = np.square(np.stack([place, place, spreads.turn_rad, inward], axis=1))
    by = corners.by_fault
    covariance = (by * faults[:, None, None]) @ by.transpose(0, 2, 1)
    covariance += np.square(spreads.corner_scale)[:, None, None, None] * np.eye(by.shape[1])
    factor = np.linalg.cholesky(covariance)
    log_size = 2 * np.log(np.diagonal(factor, axis1=2, axis2=3)).sum(axis=(1, 2))
    return np.asarray(np.linalg.inv(factor)), np.asarray(log_size)
