"""Defines a search's results: tags sighted on their planes, and tags rejected with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class TagSighting:
    """One tag of the roster as one picture shows it.

    `x_mm`, `y_mm` is the tag's centre in the table frame, on the plane `height_mm` above the table;
    `heading_deg` is the direction of its top row. `covariance` (3, 3) is of (x_mm, y_mm,
    heading_rad), from the pixels alone; `Camera.table_covariance` gives the calibration's part.
    `corners_px` (4, 2) are the black square's corners in the picture: top left, top right, bottom
    right, bottom left. `gain_grey` is how much brighter its paper is than its paint, and
    `noise_grey` the standard deviation of the visible pixels about the fit; None if not measured.
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
    """A decoded tag that is rejected: off the table, of the wrong size, or seen twice.

    `x_mm`, `y_mm` is its apparent place on its plane. If `is_duplicate`, the tag is seen at other
    places too, each with its own rejection.
    """

    tag: int
    reason: str
    x_mm: float
    y_mm: float
    is_duplicate: bool = False


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of one search of a picture: at most one sighting a tag.

    `blur_px` is the picture's blur (a standard deviation), or None if nothing showed it.
    """

    sightings: tuple[TagSighting, ...]
    rejections: tuple[Rejection, ...] = ()
    blur_px: float | None = None

    @property
    def duplicated_tags(self) -> frozenset[int]:
        """The tags that appear more than once: none of their places is accepted."""
        return frozenset(rejection.tag for rejection in self.rejections if rejection.is_duplicate)


def places_mm(seen: Sequence[TagSighting | Rejection]) -> NDArray[np.float64]:
    """Returns the places of sightings or rejections on their planes, (n, 2)."""
    return np.array([[tag.x_mm, tag.y_mm] for tag in seen], dtype=np.float64).reshape(-1, 2)
