"""Levenberg-Marquardt on many small problems at once, or on one large one.

K. Levenberg (1944), D. W. Marquardt (1963). Corners are fitted by the hundred, each with its own
nine unknowns; running them side by side in numpy makes that as quick as compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Model = Callable[[Array], tuple[Array, Array]]
"""Unknowns (n, p) to residuals (n, m) and their derivatives (n, m, p)."""

_FIRST_DAMPING = 1e-3
_LOST_DAMPING = 1e12


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Where n problems came to rest.

    `values` (n, p), `residuals` (n, m), and `normal` (n, p, p), the inverse of which is the
    covariance of the values for residuals of unit variance.
    """

    values: Array
    residuals: Array
    normal: Array

    @property
    def covariance(self) -> Array:
        """The covariance (n, p, p) for residuals of unit variance; vast where undetermined."""
        scale = np.sqrt(np.maximum(np.diagonal(self.normal, axis1=1, axis2=2), 1e-200))
        both = scale[:, :, None] * scale[:, None, :]  # unknowns of very different sizes, evened
        evened = self.normal / both + 1e-13 * np.eye(self.normal.shape[1])
        return np.asarray(np.linalg.inv(evened) / both)


def least_squares(
    model: Model, start: Array, *, steps: int = 30, tolerance: float = 1e-7
) -> Solution:
    """The unknowns (n, p), from `start` on, that make the sums of squared residuals least.

    Each of the n problems keeps its own damping. It rests when a step lowers its sum by less than
    the share `tolerance` of it; a step that does not lower it is taken back.
    """
    values = np.array(start, dtype=np.float64)
    residuals, jacobian = model(values)
    cost = _cost(residuals)
    damping = np.full(len(values), _FIRST_DAMPING)
    resting = np.zeros(len(values), dtype=bool)
    for _ in range(steps):
        trial = values + _step(residuals, jacobian, damping)
        trial[resting] = values[resting]
        trial_residuals, trial_jacobian = model(trial)
        trial_cost = _cost(trial_residuals)
        better = trial_cost < cost
        resting |= better & (cost - trial_cost <= tolerance * cost)
        resting |= ~better & (damping > _LOST_DAMPING)
        values = np.where(better[:, None], trial, values)
        residuals = np.where(better[:, None], trial_residuals, residuals)
        jacobian = np.where(better[:, None, None], trial_jacobian, jacobian)
        cost = np.where(better, trial_cost, cost)
        damping = np.where(better, damping / 10, damping * 10)
        if resting.all():
            break
    return Solution(values, residuals, jacobian.transpose(0, 2, 1) @ jacobian)


def _cost(residuals: Array) -> Array:
    total = np.einsum("nm,nm->n", residuals, residuals)
    return np.where(np.isfinite(total), total, np.inf)


def _step(residuals: Array, jacobian: Array, damping: Array) -> Array:
    normal = jacobian.transpose(0, 2, 1) @ jacobian
    gradient = np.einsum("nmp,nm->np", jacobian, residuals)
    diagonal = np.diagonal(normal, axis1=1, axis2=2)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    evened = normal / (scale[:, :, None] * scale[:, None, :])
    evened[:, *np.diag_indices(evened.shape[1])] = 1 + damping[:, None]
    return np.asarray(-np.linalg.solve(evened, (gradient / scale)[..., None])[..., 0] / scale)
