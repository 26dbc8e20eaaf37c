"""Expected detection of tags: the measured rows, made monotone, never extrapolated."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.errors import BadInput
from tablecam.planning.detection_model import Cost, DetectionModel, MeasuredRow, monotone
from tablecam.planning.detection_model_file import (
    default_model,
    read_model,
    write_model,
)


def row(px_per_cell=2.0, recall=0.98, error_px=0.04, noise_grey=4.0, **others):
    """A row whose 95 % error is twice its median, and whose degrees are ten times its pixels."""
    fields = {"blur_px": 0.6, "noise_share": noise_grey / 160, "tags": 100} | others
    fields["found_blur_px"] = fields["blur_px"] + 0.2
    errors = {"median_px": error_px, "p95_px": 2 * error_px}
    turns = {"median_deg": 10 * error_px, "p95_deg": 20 * error_px}
    return MeasuredRow(
        px_per_cell, noise_grey=noise_grey, recall=recall, **errors, **turns, **fields
    )


SMALL, MIDDLE, LARGE = row(2.0, 0.98, 0.04), row(4.0, 1.0, 0.02), row(8.0, 1.0, 0.01)
NOISY, NOISIER = row(4.0, 0.99, 0.03, noise_grey=8.0), row(4.0, 0.9, 0.06, noise_grey=16.0)
SOFT = row(4.0, 0.99, 0.05, blur_px=1.5)


def model(*rows):
    return DetectionModel("a test", 4.0, 0.6, rows or (SMALL, MIDDLE, LARGE, NOISY, NOISIER, SOFT))


def test_what_was_measured_is_expected():
    expected = model().at(4.0)
    assert (expected.recall, expected.median_px, expected.p95_px) == (1.0, 0.02, 0.04)
    assert (expected.median_deg, expected.p95_deg) == pytest.approx((0.2, 0.4))


def test_between_two_sizes_the_mean_is_at_their_geometric_middle():
    expected = model().at(np.sqrt(2.0 * 4.0))
    assert expected.recall == pytest.approx(0.99)
    assert expected.median_px == pytest.approx(0.03)


def test_below_the_smallest_measured_nothing_is_known():
    assert model().at(1.99) is None
    assert model().at(float("nan")) is None
    assert model().smallest_px_per_cell == 2.0


def test_beyond_the_largest_measured_it_gets_no_better():
    assert model().at(20.0).median_px == 0.01


def test_the_smallest_size_for_an_error():
    # 95 % within 0.06 px: half way from 0.08 at 2 px to 0.04 at 4 px.
    assert model().px_per_cell_for_error(0.06) == pytest.approx(np.sqrt(8.0))
    assert model().px_per_cell_for_error(0.019) is None


def test_good_is_99_percent_or_as_good_as_it_was_measured_to_get():
    assert model().good_recall == 0.99
    assert model().good_px_per_cell == pytest.approx(np.sqrt(8.0))
    poor = model(replace(SMALL, recall=0.5), replace(LARGE, recall=0.978))
    assert poor.good_recall == 0.97
    assert 2.0 < poor.good_px_per_cell < 8.0
    assert poor.at(poor.good_px_per_cell).recall == pytest.approx(0.97)


def test_noise_and_blur_cost_what_they_were_measured_to_cost():
    table = model()
    assert table.noise_cost(4 / 160) == Cost(1.0, 0.0)
    assert table.noise_cost(1 / 160) == Cost(1.0, 0.0)  # better than ordinary promises nothing
    assert table.noise_cost(8 / 160).error_times == pytest.approx(1.5)
    assert table.noise_cost(8 / 160).lost_share == pytest.approx(0.01)
    assert table.noise_cost(12 / 160).error_times == pytest.approx(2.25)
    assert table.noise_cost(99 / 160) == table.noise_cost(16 / 160)
    assert table.noise_cost(16 / 160).lost_share == pytest.approx(0.1)
    assert table.blur_cost(1.7).error_times == pytest.approx(2.5)
    assert table.blur_cost(1.25).error_times == pytest.approx(1.75)


def test_what_was_not_measured_has_no_cost():
    bare = model(SMALL, LARGE)
    assert bare.noise_cost(0.1) is None
    assert bare.blur_cost(2.0) is None


def test_one_size_makes_no_curve():
    with pytest.raises(ValueError, match="rows of two sizes or more"):
        model(SMALL, NOISY)


rows = st.lists(
    st.tuples(st.floats(1.5, 9), st.floats(0, 1), st.floats(0.001, 1)), min_size=2, max_size=8
)


@given(rows, st.floats(1.5, 12), st.floats(1.5, 12))
def test_a_larger_tag_is_never_expected_to_be_read_worse(values, one_px, other_px):
    if len({value[0] for value in values}) < 2:
        return
    table = model(*(row(*value) for value in values))
    low, high = (table.at(size) for size in sorted((one_px, other_px)))
    if low is None:
        return
    assert low.recall <= high.recall + 1e-12
    assert low.median_px >= high.median_px - 1e-12
    assert low.p95_deg >= high.p95_deg - 1e-12


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.1, 100)), min_size=1, max_size=9))
def test_making_monotone_keeps_the_weighted_mean(pairs):
    values, weights = np.array(pairs).T
    smooth = monotone(values, weights)
    assert (np.diff(smooth) >= -1e-12).all()
    assert np.average(smooth, weights=weights) == pytest.approx(np.average(values, weights=weights))


def test_what_is_written_is_read_back(tmp_path):
    path = tmp_path / "expectation.toml"
    write_model(path, model())
    assert read_model(path).at(4.0) == model().at(4.0)
    assert set(read_model(path).rows) == set(model().rows)


def test_the_file_that_comes_with_tablecam_is_as_it_would_be_written(tmp_path):
    path = tmp_path / "expectation.toml"
    write_model(path, default_model())
    shipped = Path(__file__).parents[2] / "tablecam" / "planning" / "detection_model.toml"
    assert shipped.read_text(encoding="utf-8") == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("recall = 0.98", "recall = 98", "expected a number of 1 or less, got 98"),
        ("recall = 0.98", "recal = 0.98", "unknown key; did you mean recall?"),
        ("version = 1", "version = 2", "version: expected 1, got 2"),
        ("{noise_grey = 4.0, blur_px = 0.6}", "{noise_grey = 5.0, blur_px = 0.6}", "two sizes"),
    ],
)
def test_a_file_that_is_wrong_is_one_line(tmp_path, old, new, message):
    path = tmp_path / "expectation.toml"
    write_model(path, model())
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadInput, match=r"expectation\.toml") as error:
        read_model(path)
    assert message in str(error.value)
