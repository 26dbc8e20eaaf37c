"""Averages the sightings of a base at one place, and their uncertainty.

A sighting's error has three parts. The calibration's is the same in every picture: it is not
averaged, and is added last. Most of the fit's own error is also the same while nothing moves (it
comes from the pixel grid, the paper, the shadows, the JPEG encoder); only the rest is new in each
picture and shrinks with their number. The table itself shows how large that rest is (`Scatter`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from tablecam.table.headings import difference_deg
from tablecam.table.motion import STILL_DEG, STILL_MM
from tablecam.vision.tracking.bases import BaseSighting

_STILL_SIGMAS = 4.0
"""The sightings behind `STILL_MM` strayed by 3.1 of their own sigmas at most, headings too."""

_BESIDE_FACTOR = 2.0
"""No place shifts by more than this many times the rms shift of the table tags in the corners."""

_SIGHTINGS_AVERAGED = 10
"""An average reaches back over about this many sightings, so that slow creep is followed."""

USUAL_RANDOM_SHARE = 0.1
"""The share of the fit's variance that is new in each picture, until the table shows its own.

Measured on places: below 0.01 on a rendered H.264 film; on simulated tables of 1 and 1.6 px/mm,
plain and as JPEG, 0.02 and 0.07 with noise of 1 grey level, 0.06 and 0.12 with 2, 0.17 and 0.21
with 4. For headings it is up to twice as much, so their sigmas err on the safe side."""

_MOST_RANDOM = 0.9
_PICTURES_REMEMBERED = 30
_FEWEST_BASES = 5
_MEDIAN_OF_TWO_SQUARES = 2 * math.log(2)
"""The median of the sum of two squared standard normal numbers."""


@dataclass(frozen=True, slots=True)
class Resting:
    """A base that was seen at one place since `since_s`.

    `base` is the average of its sightings, with the fit's sigmas of a typical one. `alone` is the
    share that the average leaves of the variance of errors that are new in each picture: 1 after
    one picture, 1/n after n equally good ones. `beside_mm` is the newest picture's, and `camera`
    counts the camera's registrations.
    """

    base: BaseSighting
    since_s: float
    weight_per_mm2: float
    alone: float
    beside_mm: float
    camera: int

    @classmethod
    def begun(
        cls, seen: BaseSighting, since_s: float, *, beside_mm: float = 0.0, camera: int = 0
    ) -> Resting:
        """Starts an average with one sighting."""
        return cls(seen, since_s, _weight(seen), 1.0, beside_mm, camera)

    def with_one_more(self, seen: BaseSighting, *, beside_mm: float) -> Resting:
        """Adds a sighting through the same camera, weighted by its inverse variance."""
        old, weight = self.base, _weight(seen)
        # However sure the old place, it counts for at most this many sightings like the new one.
        before = min(self.weight_per_mm2, _SIGHTINGS_AVERAGED * weight)
        share = weight / (before + weight)
        turn_deg = difference_deg(seen.heading_deg, old.heading_deg)
        base = replace(
            seen,
            x_mm=old.x_mm + share * (seen.x_mm - old.x_mm),
            y_mm=old.y_mm + share * (seen.y_mm - old.y_mm),
            heading_deg=old.heading_deg + share * turn_deg,
            fit_mm=_root_mean_square(old.fit_mm, seen.fit_mm, share),
            fit_deg=_root_mean_square(old.fit_deg, seen.fit_deg, share),
        )
        # The variance of a weighted mean of independent errors.
        alone = (1 - share) ** 2 * self.alone + share**2
        return replace(
            self, base=base, weight_per_mm2=before + weight, alone=alone, beside_mm=beside_mm
        )

    def averaged(self, random_share: float) -> BaseSighting:
        """Returns the averaged base; only `random_share` of the fit's variance shrinks."""
        left = math.sqrt(1 - random_share * (1 - self.alone))
        return replace(self.base, fit_mm=left * self.base.fit_mm, fit_deg=left * self.base.fit_deg)

    def is_where(self, other: Resting) -> bool:
        """Whether both are the same place within measurement noise."""
        return self._is_within(other, beyond_mm=0.0)

    def may_be_where(self, other: Resting) -> bool:
        """Whether both may be the same place, allowing for the shift that the table tags show."""
        shifted_mm = _BESIDE_FACTOR * abs(self.beside_mm - other.beside_mm)
        return self._is_within(other, beyond_mm=shifted_mm)

    def _is_within(self, other: Resting, *, beyond_mm: float) -> bool:
        mine, its = self.base, other.base
        limit_mm = max(STILL_MM, _STILL_SIGMAS * math.hypot(mine.fit_mm, its.fit_mm)) + beyond_mm
        limit_deg = max(STILL_DEG, _STILL_SIGMAS * math.hypot(mine.fit_deg, its.fit_deg))
        if self.camera != other.camera:
            # Through one camera, an error of its calibration moves both alike.
            limit_mm += _STILL_SIGMAS * math.hypot(mine.calibration_mm, its.calibration_mm)
            limit_deg += _STILL_SIGMAS * math.hypot(mine.calibration_deg, its.calibration_deg)
        turned_deg = abs(difference_deg(mine.heading_deg, its.heading_deg))
        return apart_mm(mine, its) <= limit_mm and turned_deg <= limit_deg


@dataclass(frozen=True, slots=True)
class Scatter:
    """Estimates, from the table itself, the share of the fit's variance that is new per picture.

    It is estimated from how far sightings of resting bases lie from their averages. If a camera
    smooths its pictures over time they lie closer: then sigmas shrink less than they could, never
    more.
    """

    random_share: float = USUAL_RANDOM_SHARE
    pictures: int = 0

    def updated(self, shares: Sequence[float]) -> Scatter:
        """Updates the estimate with one more picture's `shares`, of most bases of the table."""
        if len(shares) < _FEWEST_BASES:
            return self
        # The median, as a hand's shadow on some bases does not last.
        new = min(median(shares) / _MEDIAN_OF_TWO_SQUARES, _MOST_RANDOM)
        pictures = min(self.pictures + 1, _PICTURES_REMEMBERED)
        return Scatter(self.random_share + (new - self.random_share) / (pictures + 1), pictures)


def share_of(resting: Resting, seen: BaseSighting) -> float:
    """Returns the squared distance of a sighting from an average, over the fit's variance."""
    # The new sighting's variance and that of the average.
    scale = seen.fit_mm**2 * (1 + resting.alone)
    return apart_mm(resting.base, seen) ** 2 / max(scale, 1e-12)


def apart_mm(a: BaseSighting, b: BaseSighting) -> float:
    """Returns the distance between the centres of two bases."""
    return math.hypot(a.x_mm - b.x_mm, a.y_mm - b.y_mm)


def _weight(seen: BaseSighting) -> float:
    return 1.0 / max(seen.fit_mm, 1e-3) ** 2


def _root_mean_square(old: float, new: float, share: float) -> float:
    return math.sqrt((1 - share) * old**2 + share * new**2)
