import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import Polygon

from tablecam.simulate.overlap import do_overlap, overlaps_mm, way_out_mm
from tablecam.simulate.rendering.places import Place, corners_mm

places = st.builds(Place, st.floats(0, 120), st.floats(0, 120), st.floats(0, 360))


def _rectangle(place: Place) -> np.ndarray:
    return corners_mm(place, 40, 30)[None]


@given(places, places)
def test_bases_overlap_when_they_share_an_area(one, other):
    first, second = _rectangle(one), _rectangle(other)
    shared = Polygon(first[0]).intersection(Polygon(second[0])).area
    if shared > 1e-3:
        assert do_overlap(first, second)
    if do_overlap(first, second):
        assert Polygon(first[0]).distance(Polygon(second[0])) == 0


@given(st.floats(0, 360))
def test_flush_bases_are_in_contact_and_do_not_overlap(heading_deg):
    one = Place(500, 400, heading_deg)
    assert not do_overlap(_rectangle(one), _rectangle(one.offset(0, 40)))
    assert overlaps_mm(_rectangle(one), _rectangle(one.offset(0, 39))) == pytest.approx(1)


@given(places, places)
def test_the_way_out_ends_in_contact(one, other):
    mine, theirs = _rectangle(one), _rectangle(other)
    step = way_out_mm(mine[0], theirs, 200)
    assert step is not None
    assert not do_overlap(mine + step, theirs)
    gap = Polygon(mine[0] + step).distance(Polygon(theirs[0]))
    assert gap < 1e-4 or not step.any()


def test_there_is_no_way_out_farther_than_allowed():
    mine = _rectangle(Place(0, 0, 0))
    assert way_out_mm(mine[0], mine, 20) is None
    assert way_out_mm(mine[0], mine, 31) is not None


def test_a_free_place_needs_no_step():
    mine = _rectangle(Place(0, 0, 0))
    assert way_out_mm(mine[0], np.empty((0, 4, 2)), 20) == pytest.approx([0, 0])
