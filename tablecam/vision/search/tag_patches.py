"""Whether a tag looks as it did when it was last placed, from a reduced picture alone.

Compared are a few reduced pixels on and around each tag, with gain and offset free: so neither the
light nor what a camera makes of it counts. Moving a tag by a pixel changes reduced pixels on its
edges by an eighth of its contrast. Measured on a simulated table (156 bases with 13 mm tags, noise
of 2 grey levels, JPEG at quality 90): no false alarm in 100 pictures, and noticed in the first
picture after they moved by

| mm | 0.05 | 0.1 | 0.15 | 0.2 | 0.3 | 0.4 | 0.5 | 0.7 |
|---|---|---|---|---|---|---|---|---|
| 1.6 px a mm, 3.4 a cell | 15 % | 88 % | 99 % | 100 % | 100 % | 100 % | 100 % | 100 % |
| 0.8 px a mm, 1.7 a cell | 3 % | 6 % | 17 % | 29 % | 66 % | 87 % | 95 % | 97 % |

What is too little for it, the sweep finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.grey_picture import REDUCED
from tablecam.vision.detection.sighting import TagSighting

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_REACH = 2
"""Pixels to each side of a tag's middle that are compared, at most: 5 x 5; on small tags 3 x 3."""
_WITH_RIM = 1.35
"""The patch is a tag with its white rim."""
_NOISES = 6.0
_LEAST_NOISE_GREY = 0.3
"""What rounding to whole grey levels leaves."""
_LEAST_GAIN, _MOST_GAIN = 0.5, 2.0
"""Of what most tags have: so much the light on one may change beside the others'."""
_NUDGED = 0.6
"""A tag of which so much is still as it was lies there or nearly; under a hand it is below."""


@dataclass(frozen=True, slots=True, eq=False)
class TagPatches:
    """How n tags looked when they were placed: `shape` (n, m), mean 0 and length 1, of `contrast`.

    `pixels` (n, m) count into a reduced picture; `real` (n, m) are those that count for a tag.
    """

    pixels: Index
    real: Rows
    shape: Map
    contrast: Map

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, rows: Index | Rows | slice) -> TagPatches:
        return TagPatches(self.pixels[rows], self.real[rows], self.shape[rows], self.contrast[rows])

    @classmethod
    def joined(cls, parts: Sequence[TagPatches]) -> TagPatches:
        """All rows of the parts, one part after the other."""
        return cls(
            np.concatenate([part.pixels for part in parts]),
            np.concatenate([part.real for part in parts]),
            np.concatenate([part.shape for part in parts]),
            np.concatenate([part.contrast for part in parts]),
        )

    @classmethod
    def of(cls, reduced: Map, sightings: Sequence[TagSighting]) -> TagPatches:
        """How tags look that were placed in this very picture."""
        pixels, real = _pixels(reduced, sightings)
        centred, length = _centred(reduced, pixels, real)
        shape = np.asarray(centred / np.maximum(length, 1e-3)[:, None], dtype=np.float32)
        return cls(pixels, real, shape, length)


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """How tags look in a picture beside how they looked, (n,) each.

    `is_alike`: nothing has changed; `is_there`: the better part is as it was. `beside_grey` is
    what one pixel differs by (root mean square).
    """

    is_alike: Rows
    is_there: Rows
    beside_grey: Map


def likeness(patches: TagPatches, now: Map, noise_grey: float) -> Likeness:
    """How much tags look as they did."""
    if not len(patches):
        nothing = np.empty(0, np.bool_)
        return Likeness(nothing, nothing, np.empty(0, np.float32))
    centred, length = _centred(now, patches.pixels, patches.real)
    part = (centred * patches.shape).sum(axis=1)
    freedoms = patches.real.sum(axis=1) - 2
    beside = np.sqrt(np.maximum(length**2 - part**2, 0) / freedoms)
    gain = part / np.maximum(patches.contrast, 1e-3)
    usual = max(float(np.median(gain)), 1e-3)
    lit = (gain > _LEAST_GAIN * usual) & (gain < _MOST_GAIN * usual)
    most = max(noise_grey, _LEAST_NOISE_GREY) * (1 + _NOISES / np.sqrt(2 * freedoms))
    alike = lit & (beside < most)
    return Likeness(
        np.asarray(alike),
        np.asarray(lit & (part > _NUDGED * length)),
        beside.astype(np.float32),
    )


def _pixels(reduced: Map, sightings: Sequence[TagSighting]) -> tuple[Index, Rows]:
    """Which pixels of a reduced picture are compared for each tag, (n, m), and which are real."""
    corners = np.array([sighting.corners_px for sighting in sightings]).reshape(-1, 4, 2)
    middles = (corners.mean(axis=1) + 0.5) / REDUCED
    half = np.linalg.norm(corners[:, 0] - corners[:, 2], axis=1) / 8**0.5 * _WITH_RIM / REDUCED
    reach = np.arange(-_REACH, _REACH + 1)
    window = np.stack(np.meshgrid(reach, reach), axis=-1).reshape(-1, 2)
    real = np.abs(window).max(axis=1) <= np.maximum(np.ceil(half - 0.5), 1)[:, None]
    # On large tags the pixels lie apart, over all of the tag.
    points = middles[:, None] + window * np.maximum(half / (_REACH + 0.5), 1)[:, None, None]
    size = np.array(reduced.shape[::-1])
    columns, rows = np.moveaxis(np.floor(points).astype(np.int64).clip(0, size - 1), 2, 0)
    return rows * reduced.shape[1] + columns, real


def _centred(reduced: Map, pixels: Index, real: Rows) -> tuple[Map, Map]:
    """The patches less their means, (n, m), and their lengths, (n,)."""
    levels = np.take(reduced, pixels)
    mean = (levels * real).sum(axis=1, keepdims=True) / real.sum(axis=1, keepdims=True)
    centred = ((levels - mean) * real).astype(np.float32)
    return centred, np.linalg.norm(centred, axis=1)
