"""The shortest straight line past barriers, compared with a slow search."""

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.geometry.outlines import footprint
from tablecam.table.model import Unit
from tablecam.testing import mirrored, shifted, turned, unit
from tablecam.uncertainty.clear_line import shortest_clear_line
from tablecam.uncertainty.lengths import distance
from tests.strategies import headings_deg

GUN = unit("B1", "artillery", 0.0, 140.0, 270.0)
LINE = unit("F1", "line", 0.0, 0.0, 90.0)


def test_without_a_barrier_between_it_is_the_distance() -> None:
    aside = shapely.box(300, 50, 400, 60)
    assert shortest_clear_line(LINE, GUN, aside) == distance(LINE, GUN)


def test_a_barrier_that_only_touches_the_line_does_not_bar_it() -> None:
    beside = shapely.box(20, 50, 300, 60)
    length = shortest_clear_line(LINE, GUN, beside)
    assert length is not None
    assert length.value_mm == pytest.approx(100.0)


def test_past_the_end_of_a_barrier_the_line_slants_about_its_corner() -> None:
    strip = shapely.box(-500, 60, 50, 61)
    length = shortest_clear_line(LINE, GUN, strip)
    assert length is not None
    assert length.value_mm == pytest.approx(np.hypot(100.0, 80 - 20), abs=60)
    assert length.value_mm < distance(LINE, GUN).value_mm + 30
    line = shapely.LineString([length.from_mm, length.to_mm])
    assert shapely.distance(line, shapely.Point(50, 61)) == pytest.approx(0.0, abs=1e-6)


def test_behind_a_barrier_across_everything_there_is_no_line() -> None:
    assert shortest_clear_line(LINE, GUN, shapely.box(-900, 50, 900, 60)) is None


def test_a_ring_about_a_unit_lets_no_line_through() -> None:
    ring = shapely.box(-300, -300, 300, 80).difference(shapely.box(-200, -200, 200, 60))
    assert shortest_clear_line(LINE, GUN, ring) is None


@settings(max_examples=40)
@given(headings_deg, st.floats(-60, 60), st.floats(90, 160), st.floats(-80, 80), st.floats(20, 120))
def test_it_is_never_longer_than_the_best_of_many_lines_and_never_goes_through(
    heading_deg, x_mm, y_mm, strip_mm, width_mm
) -> None:
    other = unit("B1", "artillery", x_mm, y_mm, heading_deg)
    strip = shapely.box(strip_mm - width_mm / 2, 40, strip_mm + width_mm / 2, 52)
    length = shortest_clear_line(LINE, other, strip)
    slow_mm = _best_of_many(LINE, other, strip)
    if length is None:
        assert slow_mm == np.inf
        return
    # Each of the many lines may cut a thousandth of a millimetre off the barrier's corners.
    assert length.value_mm <= slow_mm + 2e-3
    ends = shapely.points([length.from_mm, length.to_mm])
    outlines = [shapely.union_all([footprint(base) for base in of.bases]) for of in (LINE, other)]
    assert shapely.distance(outlines, ends) == pytest.approx(0.0, abs=1e-6)
    line = shapely.LineString([length.from_mm, length.to_mm])
    assert shapely.length(shapely.intersection(line, shapely.buffer(strip, -1e-3))) == 0
    assert length.value_mm >= distance(LINE, other).value_mm - 1e-9


@settings(max_examples=30)
@given(headings_deg, st.floats(-500, 500), st.floats(-500, 500), st.floats(-60, 60))
def test_nothing_changes_when_all_is_moved_turned_or_mirrored(by_deg, x_mm, y_mm, end_mm) -> None:
    strip = unit("S1", "artillery", end_mm - 100, 60.0, 90.0, size_mm=(200.0, 10.0))

    def length_mm(change) -> float:
        length = shortest_clear_line(change(LINE), change(GUN), footprint(change(strip).bases[0]))
        assert length is not None
        return length.value_mm

    plain_mm = length_mm(lambda each: each)
    for change in (
        mirrored,
        lambda each: turned(each, by_deg),
        lambda each: shifted(each, x_mm, y_mm),
    ):
        assert length_mm(change) == pytest.approx(plain_mm, abs=1e-5)


def _best_of_many(a: Unit, b: Unit, barrier: shapely.Geometry) -> float:
    starts, ends = (
        np.array([shapely.get_coordinates(shapely.segmentize(footprint(base), 2.0)) for base in of])
        for of in (a.bases, b.bases)
    )
    starts, ends = starts.reshape(-1, 2), ends.reshape(-1, 2)
    pairs = np.stack(np.broadcast_arrays(starts[:, None], ends[None]), axis=2).reshape(-1, 2, 2)
    lengths = np.linalg.norm(pairs[:, 1] - pairs[:, 0], axis=1)
    order = np.argsort(lengths)[:6000]
    lines = shapely.linestrings(pairs[order])
    inside = shapely.buffer(barrier, -1e-3)
    shapely.prepare(inside)
    clear = ~shapely.intersects(inside, lines)
    return float(lengths[order][clear].min()) if clear.any() else np.inf
