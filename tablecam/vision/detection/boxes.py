"""Boxes on the table or in a picture: rows of (x low, y low, x high, y high)."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", np.int64, np.float64)


def is_within(
    points: NDArray[np.float64], boxes: NDArray[np.float64], *, beyond: float = 0.0
) -> NDArray[np.bool_]:
    """Which of the points (n, 2) lie in some of the boxes (k, 4), or `beyond` them at most."""
    low, high = boxes[:, :2] - beyond, boxes[:, 2:] + beyond
    inside: NDArray[np.bool_] = (points[:, None] >= low) & (points[:, None] <= high)
    return np.asarray(np.any(np.all(inside, axis=2), axis=1))


def merged(boxes: NDArray[Number]) -> NDArray[Number]:
    """Boxes that cover what these do, those joined that are no larger together than apart."""
    left = list(boxes)
    done: list[NDArray[Number]] = []
    while left:
        box = left.pop()
        for index, other in enumerate(left):
            both = np.concatenate([np.minimum(box[:2], other[:2]), np.maximum(box[2:], other[2:])])
            if _area(both) <= _area(box) + _area(other):
                left[index] = both
                break
        else:
            done.append(box)
    return np.array(done, dtype=boxes.dtype).reshape(-1, 4)


def _area(box: NDArray[Number]) -> float:
    return float(np.prod(box[2:] - box[:2]))
