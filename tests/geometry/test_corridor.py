import math

import pytest
import shapely
from hypothesis import given, settings

from tablecam.geometry.outlines import footprint
from tablecam.geometry.taut_path import corridor
from tests.strategies import bases

END = (300.0, 0.0)


def test_a_clear_way_is_straight_and_as_wide_as_it_must_be() -> None:
    lane = corridor((0, 0), END, width_mm=40.0)
    assert lane is not None
    assert lane.length_mm == pytest.approx(300.0, abs=1e-3)
    assert lane.strip.area == pytest.approx(300.0 * 40.0, abs=1e-1)


def test_a_gap_just_wide_enough_is_passed_and_a_narrower_one_gone_round() -> None:
    either_side = [shapely.box(100, 20, 140, 200), shapely.box(100, -200, 140, -20)]
    assert corridor((0, 0), END, width_mm=40.0, around=either_side).length_mm < 300.001  # type: ignore[union-attr]
    narrow = corridor((0, 0), END, width_mm=42.0, around=either_side)
    assert narrow is not None
    assert narrow.length_mm > 400.0


def test_a_sliver_in_the_way_is_nothing() -> None:
    either_side = [shapely.box(100, 19.6, 140, 200), shapely.box(100, -200, 140, -19.6)]
    lane = corridor((0, 0), END, width_mm=40.0, around=either_side, sliver_mm=0.5)
    assert lane is not None
    assert lane.length_mm < 300.001


def test_no_room_between_a_shape_and_the_edge_is_no_way() -> None:
    wall = shapely.box(100, -100, 140, 100)
    bounds = (-30.0, -130.0, 400.0, 130.0)
    assert corridor((0, 0), END, width_mm=40.0, around=[wall], bounds=bounds) is None
    assert corridor((0, 0), END, width_mm=30.0, around=[wall], bounds=bounds) is not None


@settings(deadline=None, max_examples=30)
@given(bases(near_mm=150.0))
def test_a_corridor_holds_nothing_that_it_goes_round(base) -> None:
    shape = shapely.affinity.translate(footprint(base), 150.0)
    clear = min(shape.distance(shapely.Point(0, 0)), shape.distance(shapely.Point(END)))
    lane = corridor((0, 0), END, width_mm=40.0, around=[shape])
    if clear < 20.0:
        return
    assert lane is not None
    assert lane.length_mm >= math.dist((0, 0), END) - 1e-3
    # Chords cut its arcs short by less than 0.1 mm.
    assert lane.strip.intersection(shape).buffer(-0.1).is_empty
