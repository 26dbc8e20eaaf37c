"""Detects which blocks of the table changed between reduced pictures, ignoring changes of light.

A pixel of a reduced picture is the mean of 64, so noise hardly shows: on simulated tables (noise of
2 grey levels, JPEG at quality 90) and on a film (H.264) two pictures of a still table differ by 1
grey level in one pixel of ten, and by 2 or 3 in one of ten thousand.
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
Counts = NDArray[np.int64]

_COARSER = 8
"""The light is estimated from the means of 8 x 8 reduced pixels."""
_MEDIAN_OF = 5
"""Light varies slowly over the table and objects do not: a median over 5 x 5 means separates
them."""
_PEDESTAL_GREY = 1.0
"""Added to all pixels so that none is 0 and ratios exist."""
_SAME_LIGHT = 0.03
"""Below this change of gain the light counts as constant."""
_CURVE = 0.25
"""Bright and dark objects may respond this differently to a change of light, as a share of it."""
_NOISES = 6.0
"""A change exceeds the noise by this many standard deviations."""
_LEAST_CHANGE_GREY = 3.0
_LEAST_PIXELS = 2
"""A single pixel may be noise; a tag of two pixels per cell covers four to nine."""
USUAL_NOISE_GREY = 0.5
"""Assumed between two reduced pictures until it is measured."""
_SLOWLY = 1.1
"""The noise estimate changes by at most this factor a picture, so that it does not learn a hand as
noise."""
_REACH_BLOCKS = 2
"""A hand reaches this many blocks beyond those that it keeps changing."""
_REST_PICTURES = 5
"""A hand that stops for less than half a second may still be about to move something."""
ROUNDING_GREY = 0.3
"""The noise of rounding to whole grey levels."""


@dataclass(frozen=True, slots=True, eq=False)
class ReferencePictures:
    """The reference pictures (height, width, reduced) that the next picture is compared with.

    `searched` shows each place as of its last search, `before` is the previous picture. `waiting`
    (blocks,) counts the pictures that each changed block has waited for a search; 0 where nothing
    changed. `near_hand` (blocks,) counts the pictures until no hand is expected there any more.
    `noise_grey` is the standard deviation of one pixel's difference while nothing changes.
    """

    searched: Map
    before: Map
    waiting: Counts
    near_hand: Counts
    noise_grey: float = USUAL_NOISE_GREY

    @classmethod
    def after_full_search(
        cls, now: Map, blocks: Blocks, noise_grey: float = USUAL_NOISE_GREY
    ) -> ReferencePictures:
        """Returns the reference after a search of the whole picture."""
        none = np.zeros(blocks.count, dtype=np.int64)
        return cls(now, now, none, none, noise_grey)

    def updated(
        self, now: Map, detected: Changes, blocks: Blocks, *, searched: Rows
    ) -> ReferencePictures:
        """Returns the reference after one more picture.

        `searched` (count,) are the blocks searched in it. A block that is still changing keeps its
        old reference: once the hand leaves, it may look as before.
        """
        settled = searched & ~detected.since_before
        then = self.searched
        if settled.any():
            # The last entry stands for pixels that show no block.
            shown = np.append(settled, False)[blocks.shown]
            # Stored in the old light: otherwise the block's gain would differ from its neighbours'.
            then = np.where(shown, now / detected.gain, then)
        waiting = np.where(searched, 0, detected.waiting)
        return ReferencePictures(then, now, waiting, detected.near_hand, detected.noise_grey)


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """The blocks (count,) that changed since their last search, and since the previous picture.

    `since_before` is evaluated only where some block changed since its search or is doubted, else
    it is all False. `waiting` and `near_hand` (count,) are those of `ReferencePictures` with this
    picture counted.
    `gain` (height, width) is the ratio of the light now to the light of the last search.
    """

    since_searched: Rows
    since_before: Rows
    waiting: Counts
    near_hand: Counts
    gain: Map
    noise_grey: float


def as_map(reduced: Grey) -> Map:
    """Converts a reduced picture to floats, raised by a pedestal so that no pixel is 0."""
    return reduced.astype(np.float32) + np.float32(_PEDESTAL_GREY)


def detect_changes(
    now: Map, ground: ReferencePictures, blocks: Blocks, *, doubted: Rows
) -> Changes:
    """Compares a picture with the reference and returns the blocks that changed.

    `doubted` (count,) are blocks that must be searched for another reason even if they look the
    same.
    """
    least_grey = max(_LEAST_CHANGE_GREY, _NOISES * ground.noise_grey)
    gain = light_gain(now, ground.searched)
    difference = _difference(now, ground.searched, gain)
    # Every fourth pixel suffices to measure the noise.
    measured_grey = _noise_grey(difference[::2, ::2], least_grey)
    difference = _beyond_curve(difference, ground.searched, gain)
    since_searched = _changed(difference, least_grey, blocks)
    since_before = np.zeros(blocks.count, dtype=np.bool_)
    # On a still table the second comparison is skipped: it would find nothing.
    if since_searched.any() or doubted.any() or ground.waiting.any():
        step_gain = light_gain(now, ground.before)
        difference = _difference(now, ground.before, step_gain)
        difference = _beyond_curve(difference, ground.before, step_gain)
        since_before = _changed(difference, least_grey, blocks)
    waiting = np.where(since_searched | doubted, ground.waiting + 1, 0)
    near_hand = np.maximum(ground.near_hand - 1, 0)
    # A change that lasts one picture, such as a nudge, is not a hand.
    if (moving := since_before & (waiting > 1)).any():
        near_hand[blocks.near(moving, _REACH_BLOCKS)] = _REST_PICTURES
    return Changes(
        since_searched,
        since_before,
        waiting,
        near_hand,
        gain,
        tracked_noise_grey(ground.noise_grey, measured_grey),
    )


def light_gain(now: Map, then: Map) -> Map:
    """Estimates the ratio of the light now to the light then, at each pixel.

    Switched, dimmed or drifting light scales a whole region by nearly one factor; the median
    outvotes objects in it, such as a hand.
    """
    size = (-(-now.shape[1] // _COARSER), -(-now.shape[0] // _COARSER))
    means = [cv2.resize(picture, size, interpolation=cv2.INTER_AREA) for picture in (now, then)]
    coarse = cv2.medianBlur(np.asarray(means[0] / means[1]), _MEDIAN_OF)
    return np.asarray(cv2.resize(coarse, now.shape[::-1], interpolation=cv2.INTER_LINEAR))


def _difference(now: Map, then: Map, gain: Map) -> Map:
    """Returns the absolute difference in grey, with `then` brought to the present light."""
    return np.asarray(cv2.absdiff(now, cv2.multiply(then, gain)))


def _noise_grey(difference: Map, least_grey: float) -> float:
    """Estimates the noise (root mean square) from the pixels that did not change.

    Pixels above `least_grey` are left out. If they counted at that level they would raise the noise
    and so hide themselves: on a rendered film an arm raised it from 0.6 to 4.4 grey levels in three
    seconds.
    """
    still = difference[difference <= least_grey]
    return float(np.sqrt(still @ still / still.size)) if still.size else 0.0


def _beyond_curve(difference: Map, then: Map, gain: Map) -> Map:
    """Subtracts the part of a difference that a change of light may explain.

    A camera's tone curve and clipped whites scale bright and dark pixels by different factors.
    """
    if np.abs(gain - 1).max() < _SAME_LIGHT:
        return difference
    explained = np.float32(_CURVE) * np.abs(gain - 1) * then
    return np.asarray(np.maximum(difference - explained, 0), dtype=np.float32)


def tracked_noise_grey(estimate_grey: float, measured_grey: float) -> float:
    """Moves the noise estimate towards a new measurement, by a limited factor per picture."""
    # The floor lets an estimate of 0 grow.
    highest = max(estimate_grey, ROUNDING_GREY) * _SLOWLY
    return min(max(measured_grey, estimate_grey / _SLOWLY), highest)


def _changed(difference: Map, least_grey: float, blocks: Blocks) -> Rows:
    """Marks the blocks in which enough pixels differ."""
    return np.asarray(blocks.holding(np.flatnonzero(difference > least_grey)) >= _LEAST_PIXELS)
