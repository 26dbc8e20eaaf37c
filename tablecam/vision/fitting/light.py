"""How bright paper and paint are about known tags: light changes little from base to base.

What lies over a tag may be as bright as paper, or as dark as paint, and a fit that has to find out
the light as well takes it for that. Beside tags that are known there is nothing to find out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.fitting.tags import TagFits

Array = NDArray[np.float64]

_LEAST_GAIN_GREY = 8.0
_LEAST_KNOWN = 3
_ABOUT_MM = 20.0
"""Tags nearer than this tell of a place alike: their own fits err as much as the light changes."""
_GAIN_DIFFERS, _BLACK_DIFFERS = 0.15, 0.03
"""As shares of the gain, one standard deviation. Of 5,000 clear tags on 72 simulated tables two of
three had the gain of the next tag within 60 mm to 0.04, nine of ten to 0.11, the rest lay at
shadows' edges; and two of three had the picture's share of black to 0.025."""


@dataclass(frozen=True, slots=True, eq=False)
class Light:
    """How much brighter paper is than paint, `gain_grey` (n,), on known tags at `places_mm` (n, 2).

    `black_share` is the grey level of paint as a share of that, alike in the whole picture.
    """

    places_mm: Array
    gain_grey: Array
    black_share: float

    @classmethod
    def of(cls, known: TagFits) -> Light | None:
        """What these tags tell; None where they are too few."""
        if len(known) < _LEAST_KNOWN:
            return None
        gain_grey = np.maximum(known.gain_grey, _LEAST_GAIN_GREY)
        black_share = float(np.median(known.black_grey / gain_grey))
        return cls(known.tags.places_mm, gain_grey, black_share)

    def at(self, places_mm: Array) -> ExpectedLight:
        """What is expected at other places (n, 2): the nearest tags tell most."""
        away2 = ((places_mm[:, None] - self.places_mm) ** 2).sum(axis=2) + _ABOUT_MM**2
        weights = away2**-1.5
        gain = np.exp((weights * np.log(self.gain_grey)).sum(axis=1) / weights.sum(axis=1))
        return ExpectedLight(gain, self.black_share)


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedLight:
    """The light that is expected on n tags, `gain_grey` (n,), and what share of it is black."""

    gain_grey: Array
    black_share: float

    def __getitem__(self, rows: NDArray[np.int64]) -> ExpectedLight:
        return ExpectedLight(self.gain_grey[rows], self.black_share)

    @property
    def mean_grey(self) -> Array:
        """Gain and black, (n, 2)."""
        return np.stack([self.gain_grey, self.black_share * self.gain_grey], axis=1)

    @property
    def precision(self) -> Array:
        """Of gain and black together, (n, 2, 2), a squared grey level: shadows dim both alike."""
        alike = np.array([1.0, self.black_share]) * _GAIN_DIFFERS
        covariance = np.outer(alike, alike) + np.diag([0.0, _BLACK_DIFFERS**2])
        return np.asarray(np.linalg.inv(covariance) / self.gain_grey[:, None, None] ** 2)
