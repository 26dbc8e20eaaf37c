"""Lengths between units, bases, commanders and points, each with its standard deviation.

Distances and nearest points are shapely's. The standard deviation follows from the bases' own: from
how the gap changes with each base's place and heading (`gaps.py`), and from how many places vie for
being the nearest (`minimum.py`).

Errors of different bases count as independent. Of a camera's errors those of its calibration are
shared: neighbours are wrong alike, and lengths of up to 8 base widths are surer than is told (where
that error is all there is four times at 4, fifteen times at 1: medians of a table of 1800 x 1200 mm
found from its four corners). The longest are up to 1.7 times as unsure, as errors at both ends add
up. A position does not tell what of a sigma is shared, so nothing better can be said.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely

from tablecam.geometry.gaps import ways_apart
from tablecam.geometry.rectangles import Array, Indices, Measurable, Rectangles, rectangles
from tablecam.geometry.shapes import Shape
from tablecam.table.model import BasePose, Point, Unit


def least(values: Array, covariances: Array) -> tuple[Array, Array]:
    """Mean and variance (g,) of the least of k jointly normal values, for g groups.

    `values` (g, k) are the means, infinite where there are fewer; `covariances` (g, k, k).
    Folds the values in one by one, each time taking the least so far as normal (C. E. Clark, "The
    greatest of a finite set of random variables", 1961).
    """
    mean, variance = values[:, 0].copy(), covariances[:, 0, 0].copy()
    shared = covariances[:, 0].copy()  # of the least so far with each value
    for index in range(1, values.shape[1]):
        other, spread = values[:, index], covariances[:, index, index]
        rows = np.flatnonzero(np.isfinite(other))
        if not len(rows):
            break
        mean[rows], variance[rows], weight = _least_of_two(
            mean[rows], variance[rows], other[rows], spread[rows], shared[rows, index]
        )
        shared[rows] += weight[:, None] * (covariances[rows, index] - shared[rows])
    return mean, np.maximum(variance, 0.0)


def _erf(values: Array) -> Array:
    """The error function of values (n,): few at a time, for which `np.vectorize` is slow."""
    return np.array([math.erf(value) for value in values.tolist()])


def _least_of_two(
    mean: Array, variance: Array, other: Array, spread: Array, shared: Array
) -> tuple[Array, Array, Array]:
    """Mean and variance of the lesser of two normal values, and how often it is the other."""
    difference = np.sqrt(np.maximum(variance + spread - 2.0 * shared, 0.0))
    apart = other - mean
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(difference > 1e-9, apart / difference, np.copysign(np.inf, apart))
    keeps = 0.5 * (1.0 + _erf(ratio / math.sqrt(2.0)))
    bulge = difference * np.exp(-0.5 * ratio**2) / math.sqrt(2.0 * math.pi)
    # About `mean`, so that large lengths lose no digits.
    shift = apart * (1.0 - keeps) - bulge
    square = variance * keeps + (spread + apart**2) * (1.0 - keeps) - apart * bulge
    return mean + shift, square - shift**2, 1.0 - keeps


_MOST_WAYS = 16
"""How many of the nearest places of two units take part in the standard deviation.

Two lines of four that face each other squarely vie at 8; more than 16 changed no figure.
"""

_FAR_SIGMAS = 6.0


@dataclass(frozen=True, slots=True)
class Length:
    """A measured length, its standard deviation, and the points it was taken between.

    Zero where the two touch or overlap; then `from_mm` and `to_mm` are one point that they share.
    """

    value_mm: float
    sigma_mm: float
    from_mm: Point
    to_mm: Point

    def in_bw(self, base_width_mm: float) -> float:
        """The length in base widths."""
        return self.value_mm / base_width_mm

    def evidence(self, label: str = "") -> Shape:
        """The line to draw."""
        return Shape("line", (self.from_mm, self.to_mm), "length", label)

    def to_json(self, base_width_mm: float) -> dict[str, Any]:
        """The length as documents carry it."""
        return {
            "distance_mm": round(self.value_mm, 4),
            "distance_bw": round(self.in_bw(base_width_mm), 5),
            "sigma_mm": round(self.sigma_mm, 4),
            "from_mm": [round(value, 4) for value in self.from_mm],
            "to_mm": [round(value, 4) for value in self.to_mm],
        }


@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """Lengths between each of n things and each of m: `value_mm` and `sigma_mm`, both (n, m)."""

    value_mm: Array
    sigma_mm: Array

    def arrays(self) -> tuple[Array, Array]:
        """Copies of both."""
        return self.value_mm.copy(), self.sigma_mm.copy()


def distance(a: Measurable, b: Measurable) -> Length:
    """The length between the nearest points of two things.

    Raises:
        ValueError: One of them is a unit without a base on the table.
    """
    from_a, from_b = rectangles([a]), rectangles([b])
    geometry_a, geometry_b = _shapes([a], from_a)[0], _shapes([b], from_b)[0]
    line = shapely.get_coordinates(shapely.shortest_line(geometry_a, geometry_b))
    (x_a, y_a), (x_b, y_b) = line.tolist()
    value_mm = float(shapely.distance(geometry_a, geometry_b))
    sigmas_mm = _sigmas_mm(from_a, from_b, np.zeros((1, 2), dtype=np.intp))
    return Length(value_mm, float(sigmas_mm[0]), (x_a, y_a), (x_b, y_b))


def distances(a: Sequence[Measurable], b: Sequence[Measurable] | None = None) -> Lengths:
    """The lengths between each of `a` and each of `b`, or among `a`, in one go.

    A thing's length to itself is 0 and exact.

    Raises:
        ValueError: One of them is a unit without a base on the table.
    """
    if b is None:
        return _among(a)
    pairs = np.indices((len(a), len(b))).reshape(2, -1).T
    from_a, from_b = rectangles(a), rectangles(b)
    value_mm = shapely.distance(_shapes(a, from_a)[:, None], _shapes(b, from_b)[None, :])
    return Lengths(value_mm, _sigmas_mm(from_a, from_b, pairs).reshape(value_mm.shape))


def renewed_distances(
    before: Lengths, things: Sequence[Measurable], changed: Collection[int]
) -> Lengths:
    """The lengths among things when those at some places have changed since `before`.

    Raises:
        ValueError: One of them is a unit without a base on the table.
    """
    if not changed:
        return before
    pairs = np.stack(np.triu_indices(len(things), k=1), axis=1)
    return _among(things, before, pairs[np.isin(pairs, list(changed)).any(axis=1)])


def _among(
    things: Sequence[Measurable], before: Lengths | None = None, pairs: Indices | None = None
) -> Lengths:
    """The lengths among things; of some pairs (g, 2) alone, where those of others are known."""
    size = (len(things), len(things))
    known = (np.zeros(size), np.zeros(size)) if before is None else before.arrays()
    first, second = np.triu_indices(len(things), k=1) if pairs is None else pairs.T
    found = rectangles(things)
    shapes = _shapes(things, found)
    value_mm = shapely.distance(shapes[first], shapes[second])
    sigma_mm = _sigmas_mm(found, found, np.stack([first, second], axis=1))
    for of_all, of_pairs in zip(known, (value_mm, sigma_mm), strict=True):
        of_all[first, second] = of_all[second, first] = of_pairs
    return Lengths(*known)


def geometries(things: Sequence[Measurable]) -> np.ndarray[Any, np.dtype[np.object_]]:
    """The shapely geometry of each thing (n,): its bases' rectangles, or a point.

    Raises:
        ValueError: One is a unit without a base on the table.
    """
    return _shapes(things, rectangles(things))


def _shapes(
    things: Sequence[Measurable], found: Rectangles
) -> np.ndarray[Any, np.dtype[np.object_]]:
    for thing in things:
        if isinstance(thing, Unit) and not thing.bases:
            raise ValueError(f"expected a unit with bases on the table, got {thing.id} with none")
    outlines = np.asarray(shapely.polygons(found.corners_mm()))
    shapes = np.asarray(shapely.multipolygons(outlines, indices=found.owners))
    points = [i for i, thing in enumerate(things) if not isinstance(thing, Unit | BasePose)]
    rows = np.searchsorted(found.owners, points)
    shapes[points] = shapely.points(found.centres_mm[rows])
    return shapes


def _sigmas_mm(a: Rectangles, b: Rectangles, pairs: Indices) -> Array:
    """The standard deviations (g,) of the lengths of pairs (g, 2) of things."""
    if not (a.sigmas.any() or b.sigmas.any()):
        return np.zeros(len(pairs))
    return _gaps_with_sigma(a, b, pairs)[1]


def gaps_with_sigma(
    a: Sequence[Measurable], b: Sequence[Measurable], pairs: Indices
) -> tuple[Array, Array]:
    """The signed gaps (g,) of pairs (g, 2) of places in `a` and `b`, and their deviations (g,).

    A gap is the distance, or less than 0 by how deep the two overlap.
    """
    from_a = rectangles(a)
    return _gaps_with_sigma(from_a, from_a if a is b else rectangles(b), pairs)


def _gaps_with_sigma(from_a: Rectangles, from_b: Rectangles, pairs: Indices) -> tuple[Array, Array]:
    """The same of the things that rectangles belong to."""
    if not len(pairs):
        return np.zeros(0), np.zeros(0)
    group, in_a, in_b = _near_rectangles(from_a, from_b, pairs)
    rect_a, rect_b = from_a.take(in_a), from_b.take(in_b)
    ways = ways_apart(rect_a, rect_b)
    gaps_mm = np.full(len(pairs), np.inf)
    np.minimum.at(gaps_mm, group, ways.gaps_mm.min(axis=1))
    if not (from_a.sigmas.any() or from_b.sigmas.any()):
        return gaps_mm, np.zeros(len(pairs))
    by_a, by_b = rect_a.in_sigmas(ways.by_a), rect_b.in_sigmas(ways.by_b)
    picked = _nearest_ways(group, ways.gaps_mm, len(pairs))
    values = np.where(picked >= 0, ways.gaps_mm.ravel()[picked], np.inf)
    shares = [
        _covariance(by.reshape(-1, 3)[picked], np.repeat(index, 8)[picked])
        for by, index in ((by_a, in_a), (by_b, in_b))
    ]
    covariances = shares[0] + shares[1]
    mean, variance = least(_level(values, covariances), covariances)
    # The least of several is measured too short on the average: an error like any other.
    return gaps_mm, np.sqrt(variance + (mean - gaps_mm) ** 2)


def _level(values: Array, covariances: Array) -> Array:
    """Ways (g, k) that are longer than the first by no more than errors make them, made equal.

    Measured, two ways of one length never come out equal. Taken at their word they would hide that
    either may be the nearest, and the shortest would seem twice as sure as it is. Ways that differ
    by more than one standard deviation come nearer by that much.
    """
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    apart = np.sqrt(np.maximum(variances + variances[:, :1] - 2 * covariances[:, 0], 0.0))
    return np.asarray(values[:, :1] + np.maximum(values - values[:, :1] - apart, 0.0))


def _near_rectangles(
    a: Rectangles, b: Rectangles, pairs: Indices
) -> tuple[Indices, Indices, Indices]:
    """The pairs of rectangles that may be a pair of things' nearest: whose (g), in a, in b."""
    group, in_a, in_b = _all_rectangles(a, b, pairs)
    apart = np.linalg.norm(a.centres_mm[in_a] - b.centres_mm[in_b], axis=-1)
    inner = a.halves_mm.min(axis=1)[in_a] + b.halves_mm.min(axis=1)[in_b]
    outer = np.linalg.norm(a.halves_mm, axis=1)[in_a] + np.linalg.norm(b.halves_mm, axis=1)[in_b]
    at_most = np.full(len(pairs), np.inf)
    np.minimum.at(at_most, group, apart - inner)
    spread = max(_largest_spread(a), _largest_spread(b))
    near = apart - outer <= at_most[group] + _FAR_SIGMAS * spread
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


def _spans(these: Rectangles, things: Indices) -> tuple[Indices, Indices]:
    start = np.searchsorted(these.owners, things, side="left")
    return start, np.searchsorted(these.owners, things, side="right") - start


def _largest_spread(these: Rectangles) -> float:
    """A bound on the standard deviation of where any point of any rectangle is."""
    return float(np.hypot(these.sigmas[:, 0], these.sigmas[:, 2] * these.arms_mm).max())


def _nearest_ways(group: Indices, gaps_mm: Array, groups: int) -> Indices:
    """For each group, which ways (g, k) are its nearest, nearest first; -1 where there are fewer.

    A way is named by its place in `gaps_mm` (p, 8) laid flat.
    """
    flat = gaps_mm.ravel()
    order = np.lexsort((flat, np.repeat(group, gaps_mm.shape[1])))
    order = order[np.isfinite(flat[order])]
    owner = group[order // gaps_mm.shape[1]]
    rank = np.arange(len(order)) - np.searchsorted(owner, owner)
    kept = rank < _MOST_WAYS
    picked = np.full((groups, int(rank[kept].max()) + 1), -1, dtype=np.intp)
    picked[owner[kept], rank[kept]] = order[kept]
    return picked


def _covariance(scaled: Array, index: Indices) -> Array:
    """What ways (g, k) share by resting on the same rectangle: (g, k, k), from (g, k, 3)."""
    same = index[:, :, None] == index[:, None, :]
    return np.asarray(scaled @ scaled.transpose(0, 2, 1) * same)
