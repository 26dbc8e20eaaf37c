"""Solves many small least-squares problems at once, or one large one, by Levenberg-Marquardt.

K. Levenberg (1944), D. W. Marquardt (1963). Corners are fitted by the hundred, with nine unknowns
each; vectorised in NumPy that is as fast as compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Model = Callable[[Array], tuple[Array, Array]]
"""Maps unknowns (n, p) to residuals (n, m) and their derivatives (n, m, p)."""

_FIRST_DAMPING = 1e-3
_LARGEST_DAMPING = 1e12


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The solutions of n problems.

    `values` (n, p), `residuals` (n, m), and `normal` (n, p, p), whose inverse is the covariance of
    the values for residuals of unit variance.
    """

    values: Array
    residuals: Array
    normal: Array

    @property
    def covariance(self) -> Array:
        """The covariance (n, p, p) for residuals of unit variance; huge where undetermined."""
        scale = np.sqrt(np.maximum(np.diagonal(self.normal, axis1=1, axis2=2), 1e-200))
        scales = scale[:, :, None] * scale[:, None, :]  # scales unknowns of very different sizes
        # The ridge keeps the matrix invertible where an unknown is undetermined.
        scaled = self.normal / scales + 1e-13 * np.eye(self.normal.shape[1])
        return np.asarray(np.linalg.inv(scaled) / scales)


def least_squares(
    model: Model, start: Array, *, steps: int = 30, tolerance: float = 1e-7
) -> Solution:
    """Minimises the sums of squared residuals over the unknowns (n, p), from `start`.

    Each problem has its own damping. It has converged when a step lowers its sum by less than the
    share `tolerance`; a step that does not lower it is undone.
    """
    values = np.array(start, dtype=np.float64)
    residuals, jacobian = model(values)
    cost = _cost(residuals)
    damping = np.full(len(values), _FIRST_DAMPING)
    converged = np.zeros(len(values), dtype=bool)
    for _ in range(steps):
        trial = values + _step(residuals, jacobian, damping)
        # Converged problems must not move while others continue.
        trial[converged] = values[converged]
        trial_residuals, trial_jacobian = model(trial)
        trial_cost = _cost(trial_residuals)
        is_lower = trial_cost < cost
        converged |= is_lower & (cost - trial_cost <= tolerance * cost)
        # Damping without limit means that no step can improve this problem.
        converged |= ~is_lower & (damping > _LARGEST_DAMPING)
        values = np.where(is_lower[:, None], trial, values)
        residuals = np.where(is_lower[:, None], trial_residuals, residuals)
        jacobian = np.where(is_lower[:, None, None], trial_jacobian, jacobian)
        cost = np.where(is_lower, trial_cost, cost)
        # Toward Gauss-Newton after a success, toward gradient descent after a failure.
        damping = np.where(is_lower, damping / 10, damping * 10)
        if converged.all():
            break
    return Solution(values, residuals, jacobian.transpose(0, 2, 1) @ jacobian)


def _cost(residuals: Array) -> Array:
    """Returns the sums of squares (n,), inf where undefined."""
    total = np.einsum("nm,nm->n", residuals, residuals)
    # An undefined sum counts as infinite: any defined step improves on it.
    return np.where(np.isfinite(total), total, np.inf)


def _step(residuals: Array, jacobian: Array, damping: Array) -> Array:
    """Returns the damped Gauss-Newton steps (n, p)."""
    normal = jacobian.transpose(0, 2, 1) @ jacobian
    gradient = np.einsum("nmp,nm->np", jacobian, residuals)
    diagonal = np.diagonal(normal, axis1=1, axis2=2)
    # An unknown that has no effect yet gets the scale 1 and takes no step.
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = normal / (scale[:, :, None] * scale[:, None, :])
    # Marquardt's scaling: damping relative to the diagonal is independent of units.
    scaled[:, *np.diag_indices(scaled.shape[1])] = 1 + damping[:, None]
    return np.asarray(-np.linalg.solve(scaled, (gradient / scale)[..., None])[..., 0] / scale)
