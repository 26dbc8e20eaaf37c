"""What vision saw: a tag on its plane, with how sure that is; and what it refused, with why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class TagSighting:
    """One tag of the roster as one picture shows it.

    `x_mm`, `y_mm` is the tag's centre in the table frame, on the plane `height_mm` above the
    table; `heading_deg` is where its top row points. `covariance` (3, 3) is of (x_mm, y_mm,
    heading_rad), from the pixels alone: what the calibration adds is `Camera.table_covariance`.
    `corners_px` (4, 2) are the black square's corners in the picture: top left, top right, bottom
    right, bottom left. `gain_grey` is how much brighter its paper is than its paint, and
    `noise_grey` the spread (one standard deviation, hidden parts left out) of the pixels about
    what the fit predicts; None where nobody measured them.
    """

    tag: int
    x_mm: float
    y_mm: float
    heading_deg: float
    height_mm: float
    covariance: NDArray[np.float64]
    corners_px: NDArray[np.float64]
    gain_grey: float | None = None
    noise_grey: float | None = None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A tag that was decoded but cannot be what it seems: off the table, wrong size, seen twice.

    `x_mm`, `y_mm` is where it seems to lie on its plane. `is_copy`: it is seen at other places,
    too, each with a rejection of its own.
    """

    tag: int
    because: str
    x_mm: float
    y_mm: float
    is_copy: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """All that one search of a picture gave: at most one sighting a tag.

    `blur_px` is the picture's blur, one standard deviation; None where nothing showed it.
    """

    sightings: tuple[TagSighting, ...]
    rejections: tuple[Rejection, ...] = ()
    blur_px: float | None = None

    @property
    def seen_twice(self) -> frozenset[int]:
        """The tags of which there are copies: none of them is believed."""
        return frozenset(each.tag for each in self.rejections if each.is_copy)


def places_mm(seen: Sequence[TagSighting | Rejection]) -> NDArray[np.float64]:
    """Where tags were seen, or refused, on their planes, (n, 2)."""
    return np.array([[one.x_mm, one.y_mm] for one in seen], dtype=np.float64).reshape(-1, 2)
