"""Places labels on a picture where they cover neither each other nor the things they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(slots=True)
class Labels:
    """Assigns free places to labels in a picture of `width_px` x `height_px`.

    `taken` are the boxes (x_low, y_low, x_high, y_high) that must stay free, including the labels
    placed so far.
    """

    width_px: float
    height_px: float
    taken: list[Array] = field(default_factory=list)

    def take(self, boxes: Iterable[Array]) -> None:
        """Marks boxes as taken."""
        self.taken.extend(boxes)

    def place(self, about: Array, size_px: tuple[float, float], gap_px: float) -> Array:
        """Returns the middle (2,) of a label beside the box `about` where it covers the least."""
        width, height = size_px
        x = [about[0] + width / 2, (about[0] + about[2]) / 2, about[2] - width / 2]
        y = [about[1] + height / 2, (about[1] + about[3]) / 2, about[3] - height / 2]
        below, above = about[3] + gap_px + height / 2, about[1] - gap_px - height / 2
        right, left = about[2] + gap_px + width / 2, about[0] - gap_px - width / 2
        # Candidates in order of preference: ties go to the first.
        middles = [
            *((x[1], side) for side in (below, above)),
            *((side, y[1]) for side in (right, left)),
            *((x[end], side) for end in (0, 2) for side in (below, above)),
            *((side, y[end]) for end in (0, 2) for side in (right, left)),
        ]
        boxes = self._inside(np.array(middles), np.array(size_px))
        best = boxes[np.argmin(self._covered_px2(boxes))]
        self.taken.append(best)
        return np.asarray((best[:2] + best[2:]) / 2)

    def _inside(self, middles: Array, size_px: Array) -> Array:
        """Returns the boxes (n, 4) of a label centred at places (n, 2), moved into the picture."""
        half = size_px / 2
        # A label larger than the picture begins at its edge.
        highest = np.maximum(np.array([self.width_px, self.height_px]) - half, half)
        middles = np.clip(middles, half, highest)
        return np.concatenate([middles - half, middles + half], axis=1)

    def _covered_px2(self, boxes: Array) -> Array:
        """Returns how much of each box (n, 4) is taken, (n,)."""
        if not self.taken:
            return np.zeros(len(boxes))
        # The overlap of two boxes: from the larger of their lower ends to the smaller upper end.
        taken = np.array(self.taken)[None]
        upper = np.minimum(boxes[:, None, 2:], taken[..., 2:])
        sides = (upper - np.maximum(boxes[:, None, :2], taken[..., :2])).clip(0)
        return np.asarray(sides.prod(axis=-1).sum(axis=-1))


def box_of(points: Sequence[Array] | Array) -> Array:
    """Returns the box (x_low, y_low, x_high, y_high) around points (..., 2)."""
    flat = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    return np.concatenate([flat.min(axis=0), flat.max(axis=0)])
