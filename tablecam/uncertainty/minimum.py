"""The least of several uncertain values, whose errors hang together.

Two lines of foot that face each other are nearest at many places at once, and whichever place the
errors favour is the one measured. So the error of the least is not that of any one place.
"""

from __future__ import annotations

import math

import numpy as np

from tablecam.geometry.rectangles import Array


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
