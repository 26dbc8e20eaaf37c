"""Dice that are thrown each by itself, beside the formulas of one's schooldays."""

from itertools import product
from math import comb, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.rules.maurice.odds.shots import chance_of, expected, successes


@pytest.mark.parametrize(
    ("needed", "wanted"), [(1, 5), (2, 5), (3, 4), (4, 3), (5, 2), (6, 1), (7, 1), (9, 1)]
)
def test_a_one_always_fails_and_a_six_always_succeeds(needed, wanted):  # M-7.23, M-9.4
    assert chance_of(needed) == wanted / 6


def test_equal_tries_are_binomial():
    found = successes([0.25] * 12)
    assert found == pytest.approx({n: comb(12, n) * 0.25**n * 0.75 ** (12 - n) for n in range(13)})
    assert expected(found) == pytest.approx(3)


@given(st.lists(st.sampled_from([0.0, 1 / 12, 1 / 6, 1 / 4, 5 / 12, 1.0]), max_size=6))
def test_unequal_tries_are_those_of_listing_all_outcomes(chances):
    wanted = dict.fromkeys(range(len(chances) + 1), 0.0)
    for outcome in product((0, 1), repeat=len(chances)):
        share = prod(each if hit else 1 - each for each, hit in zip(chances, outcome, strict=True))
        wanted[sum(outcome)] += share
    assert successes(chances) == pytest.approx({n: s for n, s in wanted.items() if s > 0})


def test_no_tries_have_no_success():
    assert successes([]) == {0: 1.0}
