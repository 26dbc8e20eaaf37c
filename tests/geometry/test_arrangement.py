"""How bases lie relative to each other: ranks, files, groups, gaps and bends."""

import pytest
from hypothesis import given

from tablecam.geometry.arrangement import arrangement
from tablecam.testing import base, turned, unit
from tests.strategies import headings_deg


def test_a_line_is_one_rank_from_left_to_right() -> None:
    lie = arrangement([base(80, 0), base(0, 0), base(40, 0), base(120, 0)])
    assert lie.ranks == ((1, 2, 0, 3),)
    assert lie.files == ((1,), (2,), (0,), (3,))
    assert lie.groups == ((0, 1, 2, 3),)
    assert lie.gaps_mm == (pytest.approx((0, 0, 0), abs=1e-9),)
    assert lie.heading_deg == 90.0


def test_a_column_is_one_file() -> None:
    lie = arrangement([base(0, 0, 90), base(0, -40, 90), base(0, -80, 80)])
    assert lie.ranks == ((0,), (1,), (2,))
    assert len(lie.files) == 1


def test_ranks_may_be_of_different_lengths_and_gaps_are_named_by_rank() -> None:
    lie = arrangement([base(0, 0), base(45, 0), base(90, 0), base(20, -40), base(60, -40)])
    assert lie.ranks == ((0, 1, 2), (3, 4))
    assert lie.gaps_mm[0] == pytest.approx((5.0, 5.0))
    assert lie.gaps_mm[1] == pytest.approx((0.0,), abs=1e-9)


def test_groups_hang_together_within_the_games_tolerance() -> None:
    lie = [base(0, 0), base(41.5, 0), base(90, 0), base(131, 0), base(175, 0)]
    assert arrangement(lie).groups == ((0, 1), (2, 3), (4,))
    assert arrangement(lie, apart_mm=1.2).groups == ((2, 3), (0,), (1,), (4,))
    assert arrangement(lie, apart_mm=10).groups == ((0, 1, 2, 3, 4),)


def test_a_single_base_has_no_gaps() -> None:
    lie = arrangement([base(0, 0)])
    assert (lie.ranks, lie.gaps_mm) == (((0,),), ((),))


def test_no_bases_have_no_arrangement() -> None:
    with pytest.raises(ValueError, match="one or more bases"):
        arrangement([])


@given(headings_deg)
def test_turning_the_table_changes_nothing(by_deg) -> None:
    massed = unit("C1", "massed", 300, 200, 90)
    lie, seen = arrangement(massed.bases), arrangement(turned(massed, by_deg).bases)
    assert (seen.ranks, seen.files, seen.groups) == (lie.ranks, lie.files, lie.groups)
