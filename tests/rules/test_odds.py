"""Chances of what dice decide, beside counting by hand."""

from itertools import product

import numpy as np
import pytest

from tablecam.rules.odds import (
    MOST_STATES,
    PLUS_MINUS,
    SAMPLES,
    Chances,
    counted,
    successes,
    throws,
    together,
)


@pytest.mark.parametrize(("dice", "sides"), [(1, 6), (3, 6), (2, 10), (6, 6)])
def test_few_dice_are_thrown_in_every_way_once(dice, sides):
    thrown, is_exact = throws(dice, sides)
    assert is_exact
    assert [*map(tuple, thrown.tolist())] == [*product(range(1, sides + 1), repeat=dice)]


def test_many_dice_are_sampled_the_same_at_every_call():
    thrown, is_exact = throws(7)
    assert not is_exact
    assert thrown.shape == (SAMPLES, 7)
    assert set(np.unique(thrown)) == set(range(1, 7))
    assert np.array_equal(thrown, throws(7)[0])
    shares = (thrown == 6).mean(axis=0)
    assert np.abs(shares - 1 / 6).max() < 2 * PLUS_MINUS


def test_equal_rows_are_one_outcome():
    thrown, _ = throws(2)
    sums = counted(thrown.sum(axis=1, keepdims=True)).of
    assert sums[7,] == pytest.approx(6 / 36)
    assert sum(sums.values()) == pytest.approx(1.0)


def test_independent_parts_are_combined_exactly_while_they_are_few():
    coin, die = Chances({"heads": 0.5, "tails": 0.5}), Chances(dict.fromkeys(range(1, 7), 1 / 6))
    both = together([coin, die])
    assert both.is_exact
    assert both.of["heads", 6] == pytest.approx(1 / 12)
    assert len(both.of) == 12
    assert together([]).of == {(): 1.0}


def test_many_independent_parts_are_sampled():
    parts = [Chances(dict.fromkeys(range(1, 7), 1 / 6))] * 5
    assert MOST_STATES < 6**5
    both = together(parts)
    assert not both.is_exact
    assert sum(both.of.values()) == pytest.approx(1.0)
    sixes = sum(share for row, share in both.of.items() if row[0] == 6)
    assert sixes == pytest.approx(1 / 6, abs=2 * PLUS_MINUS)


def test_a_sample_of_one_part_makes_the_whole_a_sample():
    assert not together([Chances({1: 1.0}, is_exact=False)]).is_exact


def test_tries_of_different_chances_are_convolved():
    assert successes([0.5, 0.25, 1.0]) == pytest.approx({1: 0.375, 2: 0.5, 3: 0.125})
