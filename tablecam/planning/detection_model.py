"""What to expect of a tag of some size in the picture: how surely found, how truly placed.

Nothing here is guessed: it is a table of measurements (`detection_model.toml`, which
`detection_model_file.py` reads and writes), made monotone and interpolated between what was
measured, never beyond.
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
"""Values, ascending, and at each how many times the error, and what share of tags is lost."""


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """What became of `tags` tags, at least 85 % visible, that were alike in size, blur and noise.

    `noise_grey` is the noise and `blur_px` the blur that the grey pictures were given (one standard
    deviation; 8-bit steps). By `noise_share` and `found_blur_px` other pictures are compared with
    them: the medians of `exposure(...).noise_share` and `Search.blur_px` over these pictures.
    `recall`, 0 to 1, is of all tags; the errors are of those found: the distance of the centre in
    the picture from the true one, and the heading's absolute error, median and 95th percentile.
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
class Expected:
    """What to expect of tags of one size in the picture; fields as in `MeasuredRow`."""

    px_per_cell: float
    recall: float
    median_px: float
    p95_px: float
    median_deg: float
    p95_deg: float


@dataclass(frozen=True, slots=True)
class Cost:
    """What something costs: how many times the ordinary error, and which share of tags is lost."""

    error_times: float
    lost_share: float


@dataclass(frozen=True)
class Expectation:
    """The measured rows, and which noise and blur of them are ordinary.

    `measured_with` says in words with what pictures and which program they were measured.

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
        """The smallest size that was measured: nothing is known of smaller ones."""
        return float(self._curves[0][0])

    @property
    def largest_px_per_cell(self) -> float:
        """The largest size that was measured: larger ones are taken to be no better."""
        return float(self._curves[0][-1])

    @property
    def good_recall(self) -> float:
        """What is asked of tags: 99 %, or what the best size measured reaches, in whole percent."""
        _, recall, *_ = self._curves
        return min(GOOD_RECALL, math.floor(100 * float(recall[-1]) + 1e-9) / 100)

    @property
    def good_px_per_cell(self) -> float:
        """The smallest size that is found as surely as that; smaller ones are too small."""
        sizes, recall, *_ = self._curves
        found = _first_size(sizes, recall >= self.good_recall, recall, self.good_recall)
        assert found is not None  # the largest size has it
        return found

    def at(self, px_per_cell: float) -> Expected | None:
        """What to expect at a size in the picture; None below the smallest measured."""
        sizes, *curves = self._curves
        # A hair below the smallest is a matter of rounding, not of knowledge.
        if not px_per_cell >= sizes[0] * (1 - 1e-9):
            return None
        values = [_interpolated(px_per_cell, sizes, curve) for curve in curves]
        return Expected(px_per_cell, *values)

    def px_per_cell_for_recall(self, recall: float) -> float | None:
        """The smallest measured or interpolated size with that recall; None if none has it."""
        sizes, recalls, *_ = self._curves
        return _first_size(sizes, recalls >= recall, recalls, recall)

    def px_per_cell_for_error(self, error_px: float) -> float | None:
        """The smallest size of which 95 % are placed to `error_px` or better; None if none is."""
        sizes, _, _, p95_px, *_ = self._curves
        return _first_size(sizes, p95_px <= error_px, p95_px, error_px)

    def noise_cost(self, noise_share: float) -> Cost | None:
        """What a ratio of noise to contrast costs, against the ordinary noise.

        Interpolated between the rows that differ from an ordinary one in noise alone; nothing up
        to the ordinary noise, and beyond the noisiest measured what that one costs. None where no
        other noise was measured.
        """
        return _interpolated_cost(noise_share, self._noise_costs)

    def blur_cost(self, found_blur_px: float) -> Cost | None:
        """As `noise_cost`, of the blur that a search finds (`Search.blur_px`)."""
        return _interpolated_cost(found_blur_px, self._blur_costs)

    @property
    def _ordinary(self) -> tuple[MeasuredRow, ...]:
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
            -monotone([-getattr(row, name) for row in rows], tags)
            for name in ("median_px", "p95_px", "median_deg", "p95_deg")
        ]
        _, first = np.unique(sizes, return_index=True)
        return tuple(curve[first] for curve in (sizes, recall, *errors))

    @cached_property
    def _noise_costs(self) -> Costs:
        noisier = [
            row
            for row in self.rows
            if math.isclose(row.blur_px, self.ordinary_blur_px)
            and row.noise_grey > self.ordinary_noise_grey
        ]
        return self._costs(noisier, "noise_share")

    @cached_property
    def _blur_costs(self) -> Costs:
        softer = [
            row
            for row in self.rows
            if math.isclose(row.noise_grey, self.ordinary_noise_grey)
            and row.blur_px > self.ordinary_blur_px
        ]
        return self._costs(softer, "found_blur_px")

    def _costs(self, worse: Iterable[MeasuredRow], key: str) -> Costs:
        """Values of a field, the ordinary one first, and what they cost."""
        ordinary = {row.px_per_cell: row for row in self._ordinary}
        rows = [row for row in worse if row.px_per_cell in ordinary]
        rows.sort(key=lambda row: float(getattr(row, key)))
        if not rows:
            return np.empty(0), np.empty(0), np.empty(0)
        start = float(getattr(ordinary[rows[0].px_per_cell], key))
        values = np.array([start, *(float(getattr(row, key)) for row in rows)])
        weights = np.array([float(row.tags) for row in rows])
        errors = [row.median_px / ordinary[row.px_per_cell].median_px for row in rows]
        lost = [1 - row.recall / ordinary[row.px_per_cell].recall for row in rows]
        return (
            values,
            np.maximum(1.0, np.array([1.0, *monotone(errors, weights)])),
            np.maximum(0.0, np.array([0.0, *monotone(lost, weights)])),
        )


def monotone(values: Iterable[float], weights: Array) -> Array:
    """The never falling sequence nearest to values, by weighted squares (pool adjacent violators).

    >>> monotone([0.9, 1.0, 0.98, 1.0], np.ones(4)).tolist()
    [0.9, 0.99, 0.99, 1.0]
    """
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(values, weights, strict=True):
        pool = (float(value), float(weight), 1)
        while pools and pools[-1][0] > pool[0]:
            mean, heavy, count = pools.pop()
            total = heavy + pool[1]
            pool = ((mean * heavy + pool[0] * pool[1]) / total, total, count + pool[2])
        pools.append(pool)
    return np.repeat([mean for mean, _, _ in pools], [count for _, _, count in pools])


def _interpolated(size: float, sizes: Array, curve: Array) -> float:
    """Between two sizes by the logarithm of the size: errors fall about as a power of it."""
    return float(np.interp(math.log(size), np.log(sizes), curve))


def _interpolated_cost(value: float, costs: Costs) -> Cost | None:
    values, errors, lost = costs
    if not len(values):
        return None
    return Cost(float(np.interp(value, values, errors)), float(np.interp(value, values, lost)))


def _first_size(sizes: Array, is_good: Rows, curve: Array, limit: float) -> float | None:
    """The size at which a monotone curve first reaches its limit."""
    if not is_good.any():
        return None
    first = int(is_good.argmax())
    if first == 0:
        return float(sizes[0])
    share = (limit - curve[first - 1]) / (curve[first] - curve[first - 1])
    low, high = np.log(sizes[first - 1 : first + 1])
    return float(np.exp(low + share * (high - low)))
