"""Tests and merges boxes on a table or in a picture: rows of (x low, y low, x high, y high)."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", np.int64, np.float64)


def is_within(
    points: NDArray[np.float64], boxes: NDArray[np.float64], *, beyond: float = 0.0
) -> NDArray[np.bool_]:
    """Returns which points (n, 2) lie in any box (k, 4) grown by `beyond` on all sides, (n,)."""
    low, high = boxes[:, :2] - beyond, boxes[:, 2:] + beyond
    inside: NDArray[np.bool_] = (points[:, None] >= low) & (points[:, None] <= high)
    return np.asarray(np.any(np.all(inside, axis=2), axis=1))


def merged(boxes: NDArray[Number]) -> NDArray[Number]:
    """Merges boxes whose bounding box is no larger than the two together; covers the same area."""
    remaining = list(boxes)
    done: list[NDArray[Number]] = []
    while remaining:
        box = remaining.pop()
        for index, other in enumerate(remaining):
            bounding = np.concatenate(
                [np.minimum(box[:2], other[:2]), np.maximum(box[2:], other[2:])]
            )
            # Joining saves work only if the joint box covers no more than both.
            if _area(bounding) <= _area(box) + _area(other):
                remaining[index] = bounding
                break
        else:
            done.append(box)
    return np.array(done, dtype=boxes.dtype).reshape(-1, 4)


def _area(box: NDArray[Number]) -> float:
    """Returns the area of a box."""
    return float(np.prod(box[2:] - box[:2]))
