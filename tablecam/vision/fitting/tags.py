"""Many tags at once, as equally long columns: guessed, and fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TagGuesses:
    """Tags that may be there.

    `pattern` (n,) counts into the `TagPatterns`, `places_mm` (n, 2) are of the tags' centres on
    planes `heights_mm` (n,), `headings_rad` (n,) are where their top rows point, `sizes_mm` (n,)
    the sides of their black squares.
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
        """All rows of the parts, one part after the other."""
        return cls(
            np.concatenate([np.empty(0, np.int64), *(part.pattern for part in parts)]),
            np.concatenate([np.empty((0, 2)), *(part.places_mm for part in parts)]),
            np.concatenate([np.empty(0), *(part.headings_rad for part in parts)]),
            np.concatenate([np.empty(0), *(part.heights_mm for part in parts)]),
            np.concatenate([np.empty(0), *(part.sizes_mm for part in parts)]),
        )


NO_TAGS = TagGuesses.joined([])


@dataclass(frozen=True, slots=True, eq=False)
class TagFits:
    """Where tags are, and how well they explain the pixels there.

    `covariance` (n, 3, 3) is of (x_mm, y_mm, heading_rad), of this one picture. Of its variance
    0.2 to 0.35 (heading 0.3 to 0.5) is new in each picture of a still table at a noise of 4 grey
    levels and 2.3 to 3 px a cell, 0.6 at 4 px a cell, 0.8 (1.0) at a noise of 8; and next to
    nothing in coded video, which repeats what stands still. The rest is where the tag's edges fall
    on the pixels' grid, light, and what the model does not know: it does not average away.

    `likeness` (n,) is the correlation of
    predicted and seen pixels, hidden ones included. `black_grey` and `gain_grey` (n,) are the
    grey level of the tag's paint, and how much brighter its paper is. `visible_share` (n,) is how
    much of the tag, with half of its rim, is seen as predicted, and `noise_grey` (n,) the spread
    (one standard deviation) of the pixels about the prediction there. `blur_px` (n,) is the
    picture's blur at each, one standard deviation, as far as the tag tells.
    """

    tags: TagGuesses
    covariance: Array
    likeness: Array
    black_grey: Array
    gain_grey: Array
    noise_grey: Array
    visible_share: Array
    blur_px: Array

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
        )

    @classmethod
    def joined(cls, parts: Sequence[TagFits]) -> TagFits:
        """All rows of the parts, one part after the other."""
        return cls(
            TagGuesses.joined([part.tags for part in parts]),
            np.concatenate([np.empty((0, 3, 3)), *(part.covariance for part in parts)]),
            np.concatenate([np.empty(0), *(part.likeness for part in parts)]),
            np.concatenate([np.empty(0), *(part.black_grey for part in parts)]),
            np.concatenate([np.empty(0), *(part.gain_grey for part in parts)]),
            np.concatenate([np.empty(0), *(part.noise_grey for part in parts)]),
            np.concatenate([np.empty(0), *(part.visible_share for part in parts)]),
            np.concatenate([np.empty(0), *(part.blur_px for part in parts)]),
        )
