"""Which positions at rest are reported: those in which something really lies elsewhere."""

from dataclasses import replace

import pytest

from tablecam.table.model import BasePose, Commander, Position, TableSize, Terrain, Unit
from tablecam.table.motion import has_changed, is_new, moved_units

SIGMA_MM, SIGMA_DEG = 0.2, 0.3


def base(tag, x_mm=100.0, y_mm=200.0, heading_deg=90.0, sigma_mm=SIGMA_MM, sigma_deg=SIGMA_DEG):
    return BasePose(x_mm, y_mm, heading_deg, 40, 40, tag, sigma_mm, sigma_deg)


def lying(**changes):
    """A table with a unit and a commander, with changes to the unit's base."""
    leader = base(9, x_mm=500.0)
    return Position(
        "maurice-lite",
        TableSize(1800, 1200, 40),
        (Unit("F1", "french", "infantry", (base(1, **changes), base(2, x_mm=140.0))),),
        (Commander("cinc", "french", leader.x_mm, leader.y_mm, pose=leader),),
    )


def told(*positions):
    """Which positions are reported for a table that rests in one after the other."""
    reported, last = [], None
    for position in positions:
        reported.append(last is None or is_new(position, last))
        last = position if reported[-1] else last
    return reported


def test_the_first_position_is_told():
    assert told(lying()) == [True]


def test_ground_that_is_laid_anew_is_told_and_no_move():
    laid = replace(lying(), terrain=(Terrain("wood", "woods", ((0, 0), (90, 0), (90, 90))),))
    assert told(lying(), laid, laid, lying()) == [True, True, False, True]
    assert not has_changed(laid, lying())


@pytest.mark.parametrize(
    ("changes", "is_told"),
    [
        ({"x_mm": 100.25}, False),
        ({"x_mm": 100.35}, True),
        ({"y_mm": 199.6}, True),
        ({"heading_deg": 90.9}, False),
        ({"heading_deg": 91.1}, True),
        ({"x_mm": 100.6, "sigma_mm": 0.8}, False),
        ({"sigma_mm": 0.15}, False),
    ],
    ids=lambda value: str(value),
)
def test_a_base_is_told_to_have_moved_by_more_than_it_strays(changes, is_told):
    assert told(lying(), lying(**changes)) == [True, is_told]


def test_what_creeps_is_told_once_it_has_crept_far_enough():
    assert told(*(lying(x_mm=100 + 0.1 * step) for step in range(7))) == [
        *[True, False, False, False, True, False, False]
    ]


def test_a_base_that_was_half_hidden_is_told_again_once_it_is_seen_well():
    assert told(lying(sigma_mm=1.5), lying(x_mm=100.2)) == [True, True]
    assert told(lying(sigma_deg=3.0), lying()) == [True, True]
    assert told(lying(sigma_mm=0.08), lying(sigma_mm=0.02)) == [True, False]  # well enough before


def test_a_base_that_comes_or_goes_is_told():
    without = replace(lying(), commanders=())
    assert told(lying(), without, without, lying()) == [True, True, False, True]
    assert has_changed(lying(), without)


def test_whoever_moved_is_named_and_who_came_is_not():
    moved = lying(x_mm=150.0)
    assert moved_units(moved, lying()) == {"F1"}
    assert moved_units(lying(), lying(x_mm=100.2)) == frozenset()
    leader = replace(lying().commanders[0], pose=base(9, x_mm=560.0))
    assert moved_units(replace(lying(), commanders=(leader,)), lying()) == {"cinc"}
    assert moved_units(lying(), replace(lying(), commanders=())) == frozenset()
