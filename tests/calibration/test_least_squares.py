"""Least squares agrees with a direct solution, for many problems at once."""

import numpy as np
import pytest

from calibration.least_squares import least_squares


def test_straight_lines_are_found_as_the_direct_solution_finds_them():
    rng = np.random.default_rng(0)
    matrices, wanted = rng.normal(size=(5, 30, 3)), rng.normal(size=(5, 30))
    solution = least_squares(
        lambda x: (np.einsum("nmp,np->nm", matrices, x) - wanted, matrices), np.zeros((5, 3))
    )
    for number in range(5):
        direct, *_ = np.linalg.lstsq(matrices[number], wanted[number], rcond=None)
        assert np.allclose(solution.values[number], direct, atol=1e-6)
        known = np.linalg.inv(matrices[number].T @ matrices[number])
        assert np.allclose(solution.covariance[number], known, rtol=1e-6)


def _banana(x):
    """Rosenbrock's valley, the classic trap: least at (1, 1)."""
    residuals = np.stack([10 * (x[:, 1] - x[:, 0] ** 2), 1 - x[:, 0]], axis=1)
    jacobian = np.zeros((len(x), 2, 2))
    jacobian[:, 0, 0], jacobian[:, 0, 1], jacobian[:, 1, 0] = -20 * x[:, 0], 10, -1
    return residuals, jacobian


def test_a_crooked_valley_is_followed_to_its_end_from_anywhere():
    starts = np.array([[-1.2, 1.0], [5.0, -3.0], [0.0, 0.0], [1.0, 1.0]])
    assert np.allclose(least_squares(_banana, starts, steps=200).values, 1, atol=1e-4)


def test_a_problem_that_runs_into_nan_stays_where_it_last_made_sense():
    def model(x):
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.log(x) + 5, 1 / x[..., None]

    solution = least_squares(model, np.array([[1.0], [0.5]]))
    assert np.allclose(solution.values, np.exp(-5.0), rtol=1e-4)


def test_what_nothing_tells_of_keeps_its_start_and_is_vastly_uncertain():
    def model(x):
        jacobian = np.zeros((1, 4, 2))
        jacobian[..., 0] = 1
        return np.repeat(x[:, :1] - 3.0, 4, axis=1), jacobian

    solution = least_squares(model, np.array([[0.0, 7.0]]))
    assert solution.values[0] == pytest.approx([3.0, 7.0])
    assert solution.covariance[0, 0, 0] == pytest.approx(0.25)
    assert solution.covariance[0, 1, 1] > 1e12
