"""Predicts recall and accuracy for tags of a given size in the picture.

The model is a table of measurements (`detection_model.toml`, read and written by
`detection_model_file.py`), made monotone and interpolated between measurements, never beyond.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.bool_]
GOOD_RECALL = 0.99
Costs = tuple[Array, Array, Array]
"""Ascending values, and for each the error's factor and the share of tags lost."""


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """The result for `tags` tags, at least 85 % visible, of equal size, blur and noise.

    `noise_grey` and `blur_px` are the noise and blur given to the grey pictures (one standard
    deviation; 8-bit steps). `noise_share` and `found_blur_px` relate other pictures to them: the
    medians of `exposure(...).noise_share` and `SearchResult.blur_px` over these pictures. `recall`,
    0 to 1, is of all tags; the errors are of those found: the centre's distance from the true one
    in the picture, and the heading's absolute error, median and 95th percentile.
    """

    px_per_cell: float
    blur_px: float
    noise_grey: float
    noise_share: float
    found_blur_px: float
    tags: int
    recall: float
    median_px: float
    p95_px: float
    median_deg: float
    p95_deg: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction for tags of one size in the picture; fields as in `MeasuredRow`."""

    px_per_cell: float
    recall: float
    median_px: float
    p95_px: float
    median_deg: float
    p95_deg: float


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of noise or blur: the factor on the ordinary error, and the share of tags lost."""

    error_times: float
    lost_share: float


@dataclass(frozen=True)
class DetectionModel:
    """The model: the measured rows, and which noise and blur count as ordinary.

    `measured_with` describes the pictures and the program they were measured with.

    Raises:
        ValueError: Fewer than two rows, of different sizes, are of ordinary noise and blur.
    """

    measured_with: str
    ordinary_noise_grey: float
    ordinary_blur_px: float
    rows: tuple[MeasuredRow, ...]

    def __post_init__(self) -> None:
        if len({row.px_per_cell for row in self._ordinary}) < 2:
            raise ValueError(
                "expected rows of two sizes or more at the ordinary noise of "
                f"{self.ordinary_noise_grey:g} grey levels and blur of "
                f"{self.ordinary_blur_px:g} px, got {len(self._ordinary)}"
            )

    @property
    def smallest_px_per_cell(self) -> float:
        """The smallest size measured; smaller ones are unknown."""
        return float(self._curves[0][0])

    @property
    def good_recall(self) -> float:
        """The required recall: 99 %, or that of the best size measured in whole percent."""
        _, recall, *_ = self._curves
        # A model that never reaches 99 % must still call some size good.
        return min(GOOD_RECALL, math.floor(100 * float(recall[-1]) + 1e-9) / 100)

    @property
    def good_px_per_cell(self) -> float:
        """The smallest size with the required recall; smaller ones are too small."""
        sizes, recall, *_ = self._curves
        size = _first_size(sizes, recall >= self.good_recall, recall, self.good_recall)
        assert size is not None  # the largest size has it
        return size

    def at(self, px_per_cell: float) -> Prediction | None:
        """Returns the prediction for a size in the picture; None below the smallest measured."""
        sizes, *curves = self._curves
        # Tolerates rounding errors just below the smallest size.
        if not px_per_cell >= sizes[0] * (1 - 1e-9):
            return None
        values = [_interpolated(px_per_cell, sizes, curve) for curve in curves]
        return Prediction(px_per_cell, *values)

    def px_per_cell_for_error(self, error_px: float) -> float | None:
        """Returns the smallest size with 95 % of errors within `error_px`; None if none."""
        sizes, _, _, p95_px, *_ = self._curves
        return _first_size(sizes, p95_px <= error_px, p95_px, error_px)

    def noise_cost(self, noise_share: float) -> Cost | None:
        """Returns the cost of a ratio of noise to contrast, compared with the ordinary noise.

        Interpolated between the rows that differ from an ordinary one in noise alone: no cost up to
        the ordinary noise, and beyond the noisiest row the cost of that row. None if no other noise
        was measured.
        """
        return _interpolated_cost(noise_share, self._noise_costs)

    def blur_cost(self, found_blur_px: float) -> Cost | None:
        """Returns the cost of the blur that a search finds, as `noise_cost` does for noise."""
        return _interpolated_cost(found_blur_px, self._blur_costs)

    @property
    def _ordinary(self) -> tuple[MeasuredRow, ...]:
        """The rows of ordinary noise and blur."""
        return tuple(
            row
            for row in self.rows
            if math.isclose(row.noise_grey, self.ordinary_noise_grey)
            and math.isclose(row.blur_px, self.ordinary_blur_px)
        )

    @cached_property
    def _curves(self) -> tuple[Array, ...]:
        """Sizes, and over them recall and the four errors: monotone, each size once."""
        rows = sorted(self._ordinary, key=lambda row: row.px_per_cell)
        sizes = np.array([row.px_per_cell for row in rows])
        tags = np.array([float(row.tags) for row in rows])
        recall = monotone([row.recall for row in rows], tags)
        errors = [
            # Errors fall as size grows.
            -monotone([-getattr(row, name) for row in rows], tags)
            for name in ("median_px", "p95_px", "median_deg", "p95_deg")
        ]
        # Interpolation needs each size once.
        _, first = np.unique(sizes, return_index=True)
        return tuple(curve[first] for curve in (sizes, recall, *errors))

    @cached_property
    def _noise_costs(self) -> Costs:
        """The costs of more than ordinary noise."""
        noisier = [
            row
            for row in self.rows
            if math.isclose(row.blur_px, self.ordinary_blur_px)
            and row.noise_grey > self.ordinary_noise_grey
        ]
        return self._costs(noisier, "noise_share")

    @cached_property
    def _blur_costs(self) -> Costs:
        """The costs of more than ordinary blur."""
        softer = [
            row
            for row in self.rows
            if math.isclose(row.noise_grey, self.ordinary_noise_grey)
            and row.blur_px > self.ordinary_blur_px
        ]
        return self._costs(softer, "found_blur_px")

    def _costs(self, worse_rows: Iterable[MeasuredRow], key: str) -> Costs:
        """Returns the values of a field, the ordinary one first, and their costs."""
        ordinary = {row.px_per_cell: row for row in self._ordinary}
        rows = [row for row in worse_rows if row.px_per_cell in ordinary]
        rows.sort(key=lambda row: float(getattr(row, key)))
        if not rows:
            return np.empty(0), np.empty(0), np.empty(0)
        # The costs begin at the ordinary value, where they are zero.
        start = float(getattr(ordinary[rows[0].px_per_cell], key))
        values = np.array([start, *(float(getattr(row, key)) for row in rows)])
        weights = np.array([float(row.tags) for row in rows])
        # Compared at equal size: only noise or blur differs.
        errors = [row.median_px / ordinary[row.px_per_cell].median_px for row in rows]
        lost = [1 - row.recall / ordinary[row.px_per_cell].recall for row in rows]
        return (
            values,
            np.maximum(1.0, np.array([1.0, *monotone(errors, weights)])),
            np.maximum(0.0, np.array([0.0, *monotone(lost, weights)])),
        )


def monotone(values: Iterable[float], weights: Array) -> Array:
    """Returns the nondecreasing sequence nearest to the values in weighted least squares.

    Isotonic regression by pooling adjacent violators.

    >>> monotone([0.9, 1.0, 0.98, 1.0], np.ones(4)).tolist()
    [0.9, 0.99, 0.99, 1.0]
    """
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(values, weights, strict=True):
        pool = (float(value), float(weight), 1)
        # Pools a value with its predecessors while it is below their mean.
        while pools and pools[-1][0] > pool[0]:
            mean, mean_weight, count = pools.pop()
            total = mean_weight + pool[1]
            pool = ((mean * mean_weight + pool[0] * pool[1]) / total, total, count + pool[2])
        pools.append(pool)
    return np.repeat([mean for mean, _, _ in pools], [count for _, _, count in pools])


def _interpolated(size: float, sizes: Array, curve: Array) -> float:
    """Interpolates over the logarithm of the size, as errors fall about as a power of it."""
    return float(np.interp(math.log(size), np.log(sizes), curve))


def _interpolated_cost(value: float, costs: Costs) -> Cost | None:
    """Interpolates a cost; None without measurements."""
    values, errors, lost = costs
    if not len(values):
        return None
    return Cost(float(np.interp(value, values, errors)), float(np.interp(value, values, lost)))


def _first_size(sizes: Array, is_good: Rows, curve: Array, limit: float) -> float | None:
    """Returns the size at which a monotone curve first reaches its limit."""
    if not is_good.any():
        return None
    first = int(is_good.argmax())
    if first == 0:
        return float(sizes[0])
    # Linear between two sizes, in the logarithm of the size.
    share = (limit - curve[first - 1]) / (curve[first] - curve[first - 1])
    low, high = np.log(sizes[first - 1 : first + 1])
    return float(np.exp(low + share * (high - low)))
