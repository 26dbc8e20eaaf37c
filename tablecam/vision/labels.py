"""Places for names on a picture where they lie neither on each other nor on what they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(slots=True)
class Labels:
    """Hands out places in a picture of `width_px` x `height_px`; each is taken once given.

    `taken` are the boxes (x_low, y_low, x_high, y_high) that are to stay free.
    """

    width_px: float
    height_px: float
    taken: list[Array] = field(default_factory=list)

    def take(self, boxes: Iterable[Array]) -> None:
        """Keep boxes free."""
        self.taken.extend(boxes)

    def place(self, about: Array, size_px: tuple[float, float], gap_px: float) -> Array:
        """The middle (2,) of a label of a size beside a box: where it covers the least."""
        width, height = size_px
        x = [about[0] + width / 2, (about[0] + about[2]) / 2, about[2] - width / 2]
        y = [about[1] + height / 2, (about[1] + about[3]) / 2, about[3] - height / 2]
        below, above = about[3] + gap_px + height / 2, about[1] - gap_px - height / 2
        right, left = about[2] + gap_px + width / 2, about[0] - gap_px - width / 2
        middles = [
            *((x[1], side) for side in (below, above)),
            *((side, y[1]) for side in (right, left)),
            *((x[end], side) for end in (0, 2) for side in (below, above)),
            *((side, y[end]) for end in (0, 2) for side in (right, left)),
        ]
        boxes = [self._inside(np.array(middle), size_px) for middle in middles]
        best = min(boxes, key=self._covered_px2)
        self.taken.append(best)
        return np.asarray((best[:2] + best[2:]) / 2)

    def _inside(self, middle: Array, size_px: tuple[float, float]) -> Array:
        """The box of a label about a place, moved into the picture."""
        half = np.array(size_px) / 2
        most = np.maximum(np.array([self.width_px, self.height_px]) - half, half)
        middle = np.clip(middle, half, most)
        return np.concatenate([middle - half, middle + half])

    def _covered_px2(self, box: Array) -> float:
        if not self.taken:
            return 0.0
        taken = np.array(self.taken)
        width = np.minimum(taken[:, 2], box[2]) - np.maximum(taken[:, 0], box[0])
        height = np.minimum(taken[:, 3], box[3]) - np.maximum(taken[:, 1], box[1])
        return float((width.clip(0) * height.clip(0)).sum())


def box_of(points: Sequence[Array] | Array) -> Array:
    """The box (x_low, y_low, x_high, y_high) around points (..., 2)."""
    flat = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    return np.concatenate([flat.min(axis=0), flat.max(axis=0)])
