"""Draws give probabilities, and no two bases share theirs."""

import numpy as np
import pytest

from tablecam.testing import unit
from tablecam.uncertainty.samples import DRAWS, decide_sampled, draw_units


def test_draws_tell_probability_and_never_quite_certainty() -> None:
    margins_mm = np.concatenate([np.full(900, 1.0), np.full(100, -1.0)])
    word, sigma_mm, chance = decide_sampled(0.5, margins_mm)
    assert (word, round(chance, 2)) == ("too_close", 0.9)
    assert sigma_mm == pytest.approx(np.sqrt(0.9 * 0.25 + 0.1 * 2.25))
    assert decide_sampled(1.0, np.ones(1000))[0] == "yes"
    assert 0.0 < decide_sampled(-1.0, -np.ones(1000))[2] < 0.001
    assert decide_sampled(1.0, np.ones(1000), tolerance_mm=2.0)[0] == "too_close"


def test_bases_of_different_names_never_share_their_draws() -> None:
    many = [unit(f"F{place}", "line", 0, 0, sigma_mm=1.0) for place in range(8)]
    together = draw_units(many).centres_mm.reshape(DRAWS, 32, 2)
    shared = np.corrcoef(together[..., 0].T) - np.eye(32)
    # The largest expected of 496 pairs of 400 draws: four standard deviations.
    assert np.abs(shared).max() < 4.0 / np.sqrt(DRAWS)
    last = draw_units(many[7:]).centres_mm.reshape(DRAWS, 4, 2)
    assert np.array_equal(last, together[:, 28:])
