"""What changed from one reduced picture to another, but for the light.

A pixel of a reduced picture is the mean of 64, so noise hardly shows: on simulated tables (noise
of 2 grey levels, JPEG at quality 90) and on a film (H.264) two pictures of a table that stands
still differ by 1 grey level in one pixel of ten, and by 2 or 3 in one of ten thousand.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from tablecam.vision.search.blocks import Blocks

Map = NDArray[np.float32]
Rows = NDArray[np.bool_]
Grey = NDArray[np.uint8]

_COARSER = 8
_MEDIAN_OF = 5
"""Light is told from things by its reach: the median over 5 x 5 blocks of 8 x 8 reduced pixels."""
_PEDESTAL_GREY = 1.0
"""Added to all pixels, so that none is 0."""
_SAME_LIGHT = 0.03
_CURVE = 0.25
"""So much of a change of light may be another one for bright things than for dark ones."""
_NOISES = 6.0
_LEAST_CHANGE_GREY = 3.0
_LEAST_PIXELS = 2
"""One pixel alone is noise; a tag of two pixels a cell is on four to nine."""
_USUAL_NOISE_GREY = 0.5
_SLOWLY = 1.1
"""What is believed of the noise changes by this factor a picture at most: a hand is no noise."""
_ROUNDING_GREY = 0.3
"""The noise that whole grey levels leave."""


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What is remembered of the table as a whole: reduced pictures (height, width).

    `searched` shows each place as it was when it was last searched, `before` is the picture before
    this one. `waiting` (blocks,) counts for how many pictures each block, having changed, has
    waited to be searched; 0 where nothing changed. `noise_grey` is what one pixel differs by (one
    standard deviation) while nothing changes.
    """

    searched: Map
    before: Map
    waiting: NDArray[np.int64]
    noise_grey: float = _USUAL_NOISE_GREY

    @classmethod
    def all_searched(
        cls, now: Map, blocks: Blocks, noise_grey: float = _USUAL_NOISE_GREY
    ) -> Ground:
        """The memory after a whole search of a picture."""
        return cls(now, now, np.zeros(blocks.count, dtype=np.int64), noise_grey)

    def after(self, now: Map, found: Changes, blocks: Blocks, *, searched: Rows) -> Ground:
        """The memory after one more picture, of which some blocks (count,) were `searched`.

        A block that still changes is not remembered: without the hand it may be as it was.
        """
        known = searched & ~found.since_before
        if not known.any():
            return Ground(
                self.searched, now, np.where(searched, 0, found.waiting), found.noise_grey
            )
        shown = np.append(known, False)[blocks.shown]
        # As it would look in the light of then, or neighbours would seem to differ.
        then = np.where(shown, now / found.gain, self.searched)
        waiting = np.where(searched, 0, found.waiting)
        return Ground(then, now, waiting, found.noise_grey)


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Which blocks (count,) changed since they were searched, and since the picture before.

    (Where nothing changed since it was searched, nothing is said to have since the picture before.)
    `waiting` (count,) is as `Ground` has it, with this picture counted. `gain` (height, width) is
    how much brighter the light is than when all was searched.
    """

    since_searched: Rows
    since_before: Rows
    waiting: NDArray[np.int64]
    gain: Map
    noise_grey: float


def as_map(reduced: Grey) -> Map:
    """A reduced picture to be reckoned with: a little brighter, so that no pixel is 0."""
    return reduced.astype(np.float32) + np.float32(_PEDESTAL_GREY)


def changes(now: Map, ground: Ground, blocks: Blocks, *, doubted: Rows) -> Changes:
    """What a picture shows otherwise than what is remembered.

    `doubted` (count,) are blocks to be searched for another reason, where nothing else may show.
    """
    least_grey = max(_LEAST_CHANGE_GREY, _NOISES * ground.noise_grey)
    gain = light_gain(now, ground.searched)
    difference = _difference(now, ground.searched, gain)
    seen_grey = _noise_grey(difference[::2, ::2], least_grey)
    difference = _beyond_curve(difference, ground.searched, gain)
    since_searched = _changed(difference, least_grey, blocks)
    since_before = np.zeros(blocks.count, dtype=np.bool_)
    if since_searched.any() or doubted.any() or ground.waiting.any():
        gain_too = light_gain(now, ground.before)
        difference = _difference(now, ground.before, gain_too)
        difference = _beyond_curve(difference, ground.before, gain_too)
        since_before = _changed(difference, least_grey, blocks)
    return Changes(
        since_searched,
        since_before,
        np.where(since_searched | doubted, ground.waiting + 1, 0),
        gain,
        followed(ground.noise_grey, seen_grey),
    )


def light_gain(now: Map, then: Map) -> Map:
    """How much brighter the light is than it was, at each pixel.

    Light that is switched, dimmed or drifts changes all of a region by nearly the same factor,
    and what is not that region's light, such as a hand, is outvoted there.
    """
    size = (-(-now.shape[1] // _COARSER), -(-now.shape[0] // _COARSER))
    means = [cv2.resize(picture, size, interpolation=cv2.INTER_AREA) for picture in (now, then)]
    coarse = cv2.medianBlur(np.asarray(means[0] / means[1]), _MEDIAN_OF)
    return np.asarray(cv2.resize(coarse, now.shape[::-1], interpolation=cv2.INTER_LINEAR))


def _difference(now: Map, then: Map, gain: Map) -> Map:
    """By how much pixels are brighter or darker than they were in the light of now."""
    return np.asarray(cv2.absdiff(now, cv2.multiply(then, gain)))


def _noise_grey(difference: Map, least_grey: float) -> float:
    """What pixels differ by that did not change: those that did, such as a hand's, tell nothing.

    Counted at `least_grey` they would raise it, and so themselves: on a rendered film an arm raised
    it from 0.6 to 4.4 grey levels in three seconds; over a fifth of a picture it hid itself.
    """
    still = difference[difference <= least_grey]
    return float(np.sqrt(np.mean(still**2))) if still.size else 0.0


def _beyond_curve(difference: Map, then: Map, gain: Map) -> Map:
    """What light does not explain of a difference.

    A camera's curve, and white that clips, make bright and dark change by other factors.
    """
    if np.abs(gain - 1).max() < _SAME_LIGHT:
        return difference
    explained = np.float32(_CURVE) * np.abs(gain - 1) * then
    return np.asarray(np.maximum(difference - explained, 0), dtype=np.float32)


def followed(believed_grey: float, seen_grey: float) -> float:
    """What to believe of the noise after one more picture: it is slow to follow what is seen."""
    highest = max(believed_grey, _ROUNDING_GREY) * _SLOWLY
    return min(max(seen_grey, believed_grey / _SLOWLY), highest)


def _changed(difference: Map, least_grey: float, blocks: Blocks) -> Rows:
    return np.asarray(blocks.holding(np.flatnonzero(difference > least_grey)) >= _LEAST_PIXELS)
