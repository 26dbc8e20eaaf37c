"""Predicts how bright paper and paint are near identified tags, for the fit of occluded ones.

An occluder may be as bright as paper or as dark as paint. A fit that also estimates the light can
mistake it for either; light changes little from base to base, so identified neighbours settle it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.fitting.tags import TagFits

Array = NDArray[np.float64]

MIN_GAIN_GREY = 8.0
"""The least contrast of ink and paper that a tag may have; also keeps quotients by it finite."""
_LEAST_TAGS = 3
_SMOOTHING_MM = 20.0
"""Nearer tags have equal weight: their fits err as much as the light changes over this distance."""
_GAIN_SIGMA, _BLACK_SIGMA = 0.15, 0.03
"""Sigmas as shares of the gain. Of 5,000 clear tags on 72 simulated tables, two of three had the
gain of the next tag within 60 mm to 0.04 and nine of ten to 0.11 (the rest lay at shadow edges),
and two of three had the picture's share of black to 0.025."""


@dataclass(frozen=True, slots=True, eq=False)
class Light:
    """The light measured on identified tags: paper minus paint, `gain_grey` (n,), at `places_mm`.

    `places_mm` is (n, 2). `black_share` is the grey level of paint as a share of the gain, one
    value for the whole picture.
    """

    places_mm: Array
    gain_grey: Array
    black_share: float

    @classmethod
    def of(cls, tags: TagFits) -> Light | None:
        """Returns the light that these tags show, or None if there are too few."""
        # A wrong tag could set the median of fewer.
        if len(tags) < _LEAST_TAGS:
            return None
        gain_grey = np.maximum(tags.gain_grey, MIN_GAIN_GREY)
        black_share = float(np.median(tags.black_grey / gain_grey))
        return cls(tags.tags.places_mm, gain_grey, black_share)

    def at(self, places_mm: Array) -> ExpectedLight:
        """Interpolates the light at other places (n, 2), the nearest tags weighted most."""
        # The smoothing distance keeps the weight of a tag at the very place finite.
        distance2 = ((places_mm[:, None] - self.places_mm) ** 2).sum(axis=2) + _SMOOTHING_MM**2
        weights = distance2**-1.5
        # Averages logarithms: light changes by factors.
        gain = np.exp((weights * np.log(self.gain_grey)).sum(axis=1) / weights.sum(axis=1))
        return ExpectedLight(gain, self.black_share)


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedLight:
    """The expected light on n tags: `gain_grey` (n,), and the grey of paint as a share of it."""

    gain_grey: Array
    black_share: float

    def __getitem__(self, rows: NDArray[np.int64]) -> ExpectedLight:
        return ExpectedLight(self.gain_grey[rows], self.black_share)

    @property
    def mean_grey(self) -> Array:
        """The expected gain and black level, (n, 2)."""
        return np.stack([self.gain_grey, self.black_share * self.gain_grey], axis=1)

    @property
    def precision(self) -> Array:
        """The joint precision of gain and black, (n, 2, 2), per squared grey level."""
        # A shadow dims paper and paint by the same factor: their errors are fully correlated.
        shadow = np.array([1.0, self.black_share]) * _GAIN_SIGMA
        covariance = np.outer(shadow, shadow) + np.diag([0.0, _BLACK_SIGMA**2])
        return np.asarray(np.linalg.inv(covariance) / self.gain_grey[:, None, None] ** 2)
