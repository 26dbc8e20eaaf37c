"""Measures lengths between units, bases, commanders and points, with standard deviations.

Shapely gives distances and nearest points. The standard deviation is propagated from the bases',
by the gap's derivatives with respect to each base's pose (`gaps.py`) and the number of places that
compete to be nearest (`least`).

Errors that bases share, of the calibration and of the row they lie in, move both ends of a length
together: neighbours are more certain about each other than about their places on the table.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely

from tablecam.geometry.gaps import corner_gaps
from tablecam.geometry.rectangles import Array, Indices, Measurable, Rectangles, rectangles
from tablecam.geometry.shapes import Shape
from tablecam.table.model import BasePose, Point, Unit


def least(values: Array, covariances: Array) -> tuple[Array, Array]:
    """Returns mean and variance (g,) of the minimum of k jointly normal values, for g groups.

    `values` (g, k) are the means, infinite for missing values; `covariances` is (g, k, k). Folds in
    one value at a time, treating the minimum so far as normal (C. E. Clark, "The greatest of a
    finite set of random variables", 1961).
    """
    mean, variance = values[:, 0].copy(), covariances[:, 0, 0].copy()
    covariance = covariances[:, 0].copy()  # of the minimum so far with each value
    for index in range(1, values.shape[1]):
        other_mean, other_variance = values[:, index], covariances[:, index, index]
        rows = np.flatnonzero(np.isfinite(other_mean))
        if not len(rows):
            break
        mean[rows], variance[rows], weight = _least_of_two(
            mean[rows],
            variance[rows],
            other_mean[rows],
            other_variance[rows],
            covariance[rows, index],
        )
        covariance[rows] += weight[:, None] * (covariances[rows, index] - covariance[rows])
    return mean, np.maximum(variance, 0.0)


def _erf(values: Array) -> Array:
    """Returns the error function of few values (n,), for which `np.vectorize` is slow."""
    return np.array([math.erf(value) for value in values.tolist()])


def _least_of_two(
    mean: Array, variance: Array, other_mean: Array, other_variance: Array, covariance: Array
) -> tuple[Array, Array, Array]:
    """Returns mean and variance of the smaller of two normal values, and P(it is the other)."""
    sigma = np.sqrt(np.maximum(variance + other_variance - 2.0 * covariance, 0.0))
    difference = other_mean - mean
    with np.errstate(divide="ignore", invalid="ignore"):
        # Without a spread the smaller mean is certainly the minimum.
        ratio = np.where(sigma > 1e-9, difference / sigma, np.copysign(np.inf, difference))
    p_first = 0.5 * (1.0 + _erf(ratio / math.sqrt(2.0)))
    density = sigma * np.exp(-0.5 * ratio**2) / math.sqrt(2.0 * math.pi)
    # Moments about `mean`, so that large lengths lose no digits.
    shift = difference * (1.0 - p_first) - density
    square = (
        variance * p_first
        + (other_variance + difference**2) * (1.0 - p_first)
        - difference * density
    )
    return mean + shift, square - shift**2, 1.0 - p_first


_MAX_CANDIDATES = 16
"""Number of nearest places of two units that enter the standard deviation.

Two lines of four bases facing each other squarely compete at 8; more than 16 changed no result.
"""

_FAR_SIGMAS = 6.0


@dataclass(frozen=True, slots=True)
class Length:
    """A measured length, its standard deviation and its two end points.

    Zero if the two things touch or overlap; then `from_mm` and `to_mm` are the same shared point.
    """

    value_mm: float
    sigma_mm: float
    from_mm: Point
    to_mm: Point

    def in_bw(self, base_width_mm: float) -> float:
        """Returns the length in base widths."""
        return self.value_mm / base_width_mm

    def evidence(self, label: str = "") -> Shape:
        """Returns the line to draw."""
        return Shape("line", (self.from_mm, self.to_mm), "length", label)

    def to_json(self, base_width_mm: float | None) -> dict[str, Any]:
        """Returns the JSON value of the length, in base widths too if the table has one."""
        in_bw = (
            {} if base_width_mm is None else {"distance_bw": round(self.in_bw(base_width_mm), 5)}
        )
        return {
            "distance_mm": round(self.value_mm, 4),
            **in_bw,
            "sigma_mm": round(self.sigma_mm, 4),
            "from_mm": [round(value, 4) for value in self.from_mm],
            "to_mm": [round(value, 4) for value in self.to_mm],
        }


@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """A matrix (n, m) of lengths between n things and m others, with standard deviations."""

    value_mm: Array
    sigma_mm: Array


def distance(a: Measurable, b: Measurable) -> Length:
    """Measures the length between the nearest points of two things.

    Raises:
        ValueError: `a` or `b` is a unit without a base on the table.
    """
    rects_a, rects_b = rectangles([a]), rectangles([b])
    geometry_a, geometry_b = _shapes([a], rects_a)[0], _shapes([b], rects_b)[0]
    line = shapely.get_coordinates(shapely.shortest_line(geometry_a, geometry_b))
    (x_a, y_a), (x_b, y_b) = line.tolist()
    values_mm, sigmas_mm = _lengths(
        rects_a, rects_b, np.zeros((1, 2), dtype=np.intp), shapely.distance(geometry_a, geometry_b)
    )
    return Length(float(values_mm[0]), float(sigmas_mm[0]), (x_a, y_a), (x_b, y_b))


def distances(a: Sequence[Measurable], b: Sequence[Measurable] | None = None) -> Lengths:
    """Measures the lengths between each of `a` and each of `b`, or among `a`.

    A thing's length to itself is 0 and exact.

    Raises:
        ValueError: One of the things is a unit without a base on the table.
    """
    if b is None:
        matrices = np.zeros((2, len(a), len(a)))
        first, second = np.triu_indices(len(a), k=1)
        lengths = distances_of_pairs(a, np.stack([first, second], axis=1))
        matrices[:, first, second] = matrices[:, second, first] = lengths
        return Lengths(*matrices)
    pairs = np.indices((len(a), len(b))).reshape(2, -1).T
    rects_a, rects_b = rectangles(a), rectangles(b)
    between = shapely.distance(_shapes(a, rects_a)[:, None], _shapes(b, rects_b)[None, :])
    lengths = _lengths(rects_a, rects_b, pairs, between.ravel())
    return Lengths(*(values.reshape(between.shape) for values in lengths))


def distances_of_pairs(things: Sequence[Measurable], pairs: Indices) -> tuple[Array, Array]:
    """Measures the lengths (g,) of pairs (g, 2) of things, and their standard deviations (g,).

    Raises:
        ValueError: One of the things is a unit without a base on the table.
    """
    rects = rectangles(things)
    shapes = _shapes(things, rects)
    first, second = pairs.T
    return _lengths(rects, rects, pairs, shapely.distance(shapes[first], shapes[second]))


def geometries(things: Sequence[Measurable]) -> np.ndarray[Any, np.dtype[np.object_]]:
    """Returns the shapely geometry of each thing (n,): the outlines of its bases, or a point.

    Raises:
        ValueError: One of the things is a unit without a base on the table.
    """
    return _shapes(things, rectangles(things))


def _shapes(
    things: Sequence[Measurable], rects: Rectangles
) -> np.ndarray[Any, np.dtype[np.object_]]:
    for thing in things:
        if isinstance(thing, Unit) and not thing.bases:
            raise ValueError(f"expected a unit with bases on the table, got {thing.id} with none")
    shapes = np.asarray(shapely.multipolygons(rects.outlines(), indices=rects.owners))
    # A rectangle of no size is no valid polygon: commanders and points become shapely points.
    points = [i for i, thing in enumerate(things) if not isinstance(thing, Unit | BasePose)]
    rows = np.searchsorted(rects.owners, points)
    shapes[points] = shapely.points(rects.centres_mm[rows])
    return shapes


def _lengths(a: Rectangles, b: Rectangles, pairs: Indices, between_mm: Any) -> tuple[Array, Array]:
    """Returns the lengths (g,) of pairs (g, 2) of things, and their standard deviations (g,).

    `between_mm` are those between the outlines; an ellipse lies a little outside its own.
    """
    values_mm = np.atleast_1d(np.asarray(between_mm, dtype=np.float64))
    has_ovals = bool(a.is_oval.any() or b.is_oval.any())
    if a.is_exact and b.is_exact and not has_ovals:
        return values_mm, np.zeros(len(pairs))
    gaps_mm, sigmas_mm = _gaps_with_sigma(a, b, pairs)
    return (np.maximum(gaps_mm, 0.0) if has_ovals else values_mm), sigmas_mm


def gaps_with_sigma(
    a: Sequence[Measurable], b: Sequence[Measurable], pairs: Indices
) -> tuple[Array, Array]:
    """Returns signed gaps (g,) and standard deviations (g,) of pairs (g, 2) of indices.

    A pair indexes `a` and `b`. A gap is the distance, or minus the depth of an overlap.
    """
    rects_a = rectangles(a)
    return _gaps_with_sigma(rects_a, rects_a if a is b else rectangles(b), pairs)


def _gaps_with_sigma(all_a: Rectangles, all_b: Rectangles, pairs: Indices) -> tuple[Array, Array]:
    """Returns the result of `gaps_with_sigma` from the rectangles of the things."""
    if not len(pairs):
        return np.zeros(0), np.zeros(0)
    group, in_a, in_b = _near_rectangles(all_a, all_b, pairs)
    rects_a, rects_b = all_a.take(in_a), all_b.take(in_b)
    candidates = corner_gaps(rects_a, rects_b)
    gaps_mm = np.full(len(pairs), np.inf)
    np.minimum.at(gaps_mm, group, candidates.gaps_mm.min(axis=1))
    if all_a.is_exact and all_b.is_exact:
        return gaps_mm, np.zeros(len(pairs))
    picked = _nearest_candidates(group, candidates.gaps_mm, len(pairs))
    values = np.where(picked >= 0, candidates.gaps_mm.ravel()[picked], np.inf)
    ends_a, ends_b = (
        _Ends(of, np.repeat(index, 8)[picked], by_pose.reshape(-1, 3)[picked])
        for of, index, by_pose in (
            (all_a, in_a, candidates.by_a),
            (all_b, in_b, candidates.by_b),
        )
    )
    covariances = _covariances(ends_a, ends_b)
    mean, variance = least(_shrunk(values, covariances), covariances)
    # The measured minimum of several is biased low; the bias counts as an error.
    return gaps_mm, np.sqrt(variance + (mean - gaps_mm) ** 2)


def _shrunk(values: Array, covariances: Array) -> Array:
    """Reduces each value's excess over the first (g, k) by one standard deviation, to 0 at least.

    Two equal lengths never measure as equal. Taken at face value they would hide that either may be
    the nearest, and the shortest would seem twice as certain as it is.
    """
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    sigmas = np.sqrt(np.maximum(variances + variances[:, :1] - 2 * covariances[:, 0], 0.0))
    return np.asarray(values[:, :1] + np.maximum(values - values[:, :1] - sigmas, 0.0))


def _near_rectangles(
    a: Rectangles, b: Rectangles, pairs: Indices
) -> tuple[Indices, Indices, Indices]:
    """Returns the pairs of rectangles that may be nearest: index of the pair, in a, in b."""
    group, in_a, in_b = _all_rectangles(a, b, pairs)
    # Inscribed and circumscribed circles bound the gap, so that few pairs need the exact one.
    centre_mm = np.linalg.norm(a.centres_mm[in_a] - b.centres_mm[in_b], axis=-1)
    inner_mm = a.halves_mm.min(axis=1)[in_a] + b.halves_mm.min(axis=1)[in_b]
    outer_mm = np.linalg.norm(a.halves_mm, axis=1)[in_a] + np.linalg.norm(b.halves_mm, axis=1)[in_b]
    upper_mm = np.full(len(pairs), np.inf)
    np.minimum.at(upper_mm, group, centre_mm - inner_mm)
    sigma_mm = max(_sigma_bound_mm(a), _sigma_bound_mm(b))
    near = centre_mm - outer_mm <= upper_mm[group] + _FAR_SIGMAS * sigma_mm
    return group[near], in_a[near], in_b[near]


def _all_rectangles(
    a: Rectangles, b: Rectangles, pairs: Indices
) -> tuple[Indices, Indices, Indices]:
    (start_a, count_a), (start_b, count_b) = _spans(a, pairs[:, 0]), _spans(b, pairs[:, 1])
    counts = count_a * count_b
    group = np.repeat(np.arange(len(pairs)), counts)
    within = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
    in_a = start_a[group] + within // count_b[group]
    in_b = start_b[group] + within % count_b[group]
    return group, in_a, in_b


def _spans(rects: Rectangles, things: Indices) -> tuple[Indices, Indices]:
    start = np.searchsorted(rects.owners, things, side="left")
    return start, np.searchsorted(rects.owners, things, side="right") - start


def _sigma_bound_mm(rects: Rectangles) -> float:
    """Returns a bound on the standard deviation of any point of any rectangle."""
    return float(rects.sigma_bounds_mm.max())


def _nearest_candidates(group: Indices, gaps_mm: Array, groups: int) -> Indices:
    """Returns the nearest candidates (g, k) of each group, nearest first; -1 for missing ones.

    A candidate is an index into the flattened `gaps_mm` (p, 8).
    """
    flat = gaps_mm.ravel()
    # Sorted by group and then by gap, so that the rank within a group is a difference of indices.
    order = np.lexsort((flat, np.repeat(group, gaps_mm.shape[1])))
    order = order[np.isfinite(flat[order])]
    owner = group[order // gaps_mm.shape[1]]
    rank = np.arange(len(order)) - np.searchsorted(owner, owner)
    is_picked = rank < _MAX_CANDIDATES
    picked = np.full((groups, int(rank[is_picked].max()) + 1), -1, dtype=np.intp)
    picked[owner[is_picked], rank[is_picked]] = order[is_picked]
    return picked


def _covariances(a: _Ends, b: _Ends) -> Array:
    """Returns the covariances (g, k, k) of candidate lengths between two kinds of ends."""
    covariances = a.own_covariances() + b.own_covariances()
    # Both ends of a length share the calibration's errors, and those of a row that both lie in:
    # their effects on the two ends add up or cancel.
    by_common = np.zeros((*a.index.shape, max(a.of.common.shape[1], b.of.common.shape[1])))
    for ends in (a, b):
        by_common[..., : ends.of.common.shape[1]] += ends.by_shared(ends.of.common)
    covariances += by_common @ by_common.transpose(0, 2, 1)
    numbers = {row_id: row for row, row_id in enumerate((*a.of.row_ids, *b.of.row_ids))}
    for one, other in itertools.product((a, b), repeat=2):
        same = one.rows(numbers)[:, :, None] == other.rows(numbers)[:, None, :]
        by_one, by_other = one.by_shared(one.of.in_row), other.by_shared(other.of.in_row)
        covariances += by_one @ by_other.transpose(0, 2, 1) * same
    return covariances


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """One end of each of k candidate lengths of g groups.

    `index` (g, k) is its rectangle among those `of` all things, `by_pose` (g, k, 3) the length's
    derivative by that rectangle's pose.
    """

    of: Rectangles
    index: Indices
    by_pose: Array

    def own_covariances(self) -> Array:
        """Returns the covariances (g, k, k) by errors of the rectangles themselves."""
        rects = self.of.take(self.index.ravel())
        own = rects.in_sigmas(self.by_pose.reshape(-1, 1, 3)).reshape(self.by_pose.shape)
        same = self.index[:, :, None] == self.index[:, None, :]
        return np.asarray(own @ own.transpose(0, 2, 1) * same)

    def by_shared(self, errors: Array) -> Array:
        """Returns the change (g, k, e) of the lengths by shared errors (n, e, 3)."""
        return np.asarray(np.einsum("gki,gkei->gke", self.by_pose, errors[self.index]))

    def rows(self, numbers: Mapping[str, int]) -> Indices:
        """Returns the number of each end's row, (g, k); -1 without one."""
        of_ids = np.array([*(numbers[row_id] for row_id in self.of.row_ids), -1], dtype=np.intp)
        return np.asarray(of_ids[self.of.rows][self.index])
