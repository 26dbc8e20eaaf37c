"""Holds guessed and fitted tags as columns of arrays, one row a tag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.fitting.glare import GLARE_SPOTS

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TagGuesses:
    """Hypothetical tags: which pattern, where, and how large.

    `pattern` (n,) indexes the `TagPatterns`. `places_mm` (n, 2) are the tags' centres on planes at
    `heights_mm` (n,), `headings_rad` (n,) the directions of their top rows, `sizes_mm` (n,) the
    sides of their black squares.
    """

    pattern: Index
    places_mm: Array
    headings_rad: Array
    heights_mm: Array
    sizes_mm: Array

    def __len__(self) -> int:
        return len(self.pattern)

    def __getitem__(self, rows: Index | NDArray[np.bool_]) -> TagGuesses:
        return TagGuesses(
            self.pattern[rows],
            self.places_mm[rows],
            self.headings_rad[rows],
            self.heights_mm[rows],
            self.sizes_mm[rows],
        )

    @classmethod
    def joined(cls, parts: Sequence[TagGuesses]) -> TagGuesses:
        """Returns all rows of the parts, in order."""
        return cls(
            np.concatenate([np.empty(0, np.int64), *(part.pattern for part in parts)]),
            np.concatenate([np.empty((0, 2)), *(part.places_mm for part in parts)]),
            np.concatenate([np.empty(0), *(part.headings_rad for part in parts)]),
            np.concatenate([np.empty(0), *(part.heights_mm for part in parts)]),
            np.concatenate([np.empty(0), *(part.sizes_mm for part in parts)]),
        )


NO_TAGS = TagGuesses.joined([])
_NO_GLARE = np.empty((0, GLARE_SPOTS), dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class TagFits:
    """Fitted tags: their poses, and how well the model predicts their pixels.

    `covariance` (n, 3, 3) is of (x_mm, y_mm, heading_rad), from this one picture. Only a share of
    its variance is new in each picture of a still table: 0.2 to 0.35 (heading 0.3 to 0.5) at a
    noise of 4 grey levels and 2.3 to 3 px a cell, 0.6 at 4 px a cell, 0.8 (1.0) at a noise of 8,
    and almost none in coded video, which repeats what does not move. The rest comes from how the
    tag's edges fall on the pixel grid, from light, and from the model's errors: it does not
    average out.

    `likeness` (n,) is the correlation of predicted and observed pixels, occluded ones included.
    `black_grey` (n,) is the grey level of the tag's paint, `gain_grey` (n,) how much brighter its
    paper is. `visible_share` (n,) is the share of the tag, with half of its rim, that looks as
    predicted; `noise_grey` (n,) is the standard deviation of the residuals there. `blur_px` (n,)
    is the picture's blur at each tag (a standard deviation), as the fit estimates it. `glare`
    (n, spots) marks where it reflects a lamp, as `glare_of` gives it: the fit ignores that.
    """

    tags: TagGuesses
    covariance: Array
    likeness: Array
    black_grey: Array
    gain_grey: Array
    noise_grey: Array
    visible_share: Array
    blur_px: Array
    glare: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.tags)

    def __getitem__(self, rows: Index | NDArray[np.bool_]) -> TagFits:
        return TagFits(
            self.tags[rows],
            self.covariance[rows],
            self.likeness[rows],
            self.black_grey[rows],
            self.gain_grey[rows],
            self.noise_grey[rows],
            self.visible_share[rows],
            self.blur_px[rows],
            self.glare[rows],
        )

    @classmethod
    def joined(cls, parts: Sequence[TagFits]) -> TagFits:
        """Returns all rows of the parts, in order."""
        return cls(
            TagGuesses.joined([part.tags for part in parts]),
            np.concatenate([np.empty((0, 3, 3)), *(part.covariance for part in parts)]),
            np.concatenate([np.empty(0), *(part.likeness for part in parts)]),
            np.concatenate([np.empty(0), *(part.black_grey for part in parts)]),
            np.concatenate([np.empty(0), *(part.gain_grey for part in parts)]),
            np.concatenate([np.empty(0), *(part.noise_grey for part in parts)]),
            np.concatenate([np.empty(0), *(part.visible_share for part in parts)]),
            np.concatenate([np.empty(0), *(part.blur_px for part in parts)]),
            np.concatenate([_NO_GLARE, *(part.glare for part in parts)]),
        )
