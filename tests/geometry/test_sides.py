"""On which side of a front most of a unit lies, and redrawn fronts."""

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from tablecam.geometry.fronts import Fronts
from tablecam.geometry.outlines import axes, footprint
from tablecam.geometry.sides import SIDES, side_of
from tablecam.testing import unit
from tablecam.uncertainty.samples import DRAWS, draw_units

FORMATIONS = st.sampled_from(["line", "column", "massed", "artillery"])


@given(FORMATIONS, FORMATIONS, st.floats(-300, 300), st.floats(-300, 300), st.floats(0, 359))
def test_m_1_11_where_most_lies_is_as_cutting_up_every_base_tells(
    ours, theirs, x_mm, y_mm, heading
) -> None:
    """Most bases lie wholly on one side and are never cut up; the areas are the same."""
    a, b = unit("F1", ours, 0, 0), unit("B1", theirs, x_mm, y_mm, heading)
    own = axes(a)
    ahead = shapely.box(-2000, own.left_mm[1], 2000, 2000)
    rear = shapely.box(own.left_mm[0], -2000, own.right_mm[0], own.left_mm[1])
    bases = [footprint(base) for base in b.bases]
    areas = [sum(base.intersection(part).area for base in bases) for part in (ahead, rear)]
    areas.insert(1, sum(base.area for base in bases) - sum(areas))
    assert areas[SIDES.index(side_of(a, b))] == pytest.approx(max(areas), abs=0.01)


@given(FORMATIONS, st.floats(0, 359))
def test_drawn_fronts_without_any_deviation_are_the_fronts_themselves(formation, heading) -> None:
    laid = unit("F1", formation, 600, 600, heading)
    plain, drawn = Fronts.of(axes(laid)), Fronts.drawn(laid, draw_units([laid]))
    for name in ("left_mm", "right_mm", "heading"):
        assert np.allclose(getattr(drawn, name), getattr(plain, name), atol=1e-9)
    assert len(drawn.left_mm) == DRAWS
