"""Round and oval bases are measured from rim to rim."""

import math
from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from tablecam.geometry.outlines import footprint
from tablecam.table.model import CENTIMETRES, BasePose, Position, TableSize, Unit, inches
from tablecam.testing import base
from tablecam.uncertainty.contact import contact
from tablecam.uncertainty.illustration import illustration, ring
from tablecam.uncertainty.lengths import distance, distances, gaps_with_sigma
from tests.strategies import bases_of_any_shape, headings_deg

PAIR = np.zeros((1, 2), dtype=np.intp)


def model(
    x_mm: float, y_mm: float, diameter_mm: float = 32.0, heading_deg: float = 90.0, **more: float
) -> BasePose:
    return BasePose(x_mm, y_mm, heading_deg, diameter_mm, diameter_mm, shape="round", **more)


def single(name: str, pose: BasePose) -> Unit:
    return Unit(name, "red", "infantry", (pose,))


def test_round_bases_are_apart_by_their_centres_less_both_radii() -> None:
    length = distance(model(0, 0, 25), model(300, 400, 40))
    assert length.value_mm == pytest.approx(500 - 12.5 - 20, abs=1e-12)
    # The ends are those of the drawn outline.
    assert math.dist(length.from_mm, (7.5, 10.0)) < 0.3


def test_a_round_base_is_as_far_from_a_point_as_its_centre_less_its_radius() -> None:
    assert distance((0.0, 0.0), model(30, 40, 25)).value_mm == pytest.approx(37.5, abs=1e-12)


def test_a_round_base_at_a_corner_and_at_an_edge_of_another() -> None:
    square = base(0, 0, 90)
    assert distance(square, model(100, 0)).value_mm == pytest.approx(100 - 20 - 16, abs=1e-9)
    assert distance(square, model(50, 60)).value_mm == pytest.approx(50 - 16, abs=1e-9)


def test_an_oval_base_turns_with_its_heading() -> None:
    oval = BasePose(0, 0, 90, 60, 35, shape="oval")
    assert distance(oval, (100.0, 0.0)).value_mm == pytest.approx(70.0, abs=1e-9)
    assert distance(replace(oval, heading_deg=0.0), (100.0, 0.0)).value_mm == pytest.approx(82.5)


@given(bases_of_any_shape(), bases_of_any_shape())
def test_lengths_are_those_between_the_outlines_within_their_chords(a, b) -> None:
    length = distance(a, b)
    assert length.value_mm == pytest.approx(footprint(a).distance(footprint(b)), abs=0.05)
    assert distance(b, a).value_mm == pytest.approx(length.value_mm, abs=1e-6)
    assert distances([a], [b]).value_mm[0, 0] == pytest.approx(length.value_mm, abs=1e-9)


@given(bases_of_any_shape(near_mm=60), bases_of_any_shape(near_mm=60))
def test_bases_that_overlap_are_as_deep_as_they_must_be_moved_apart(a, b) -> None:
    (gap_mm,), _ = gaps_with_sigma([a], [b], PAIR)
    if gap_mm < -0.1:
        ways = np.linspace(0, 2 * np.pi, 180, endpoint=False)
        moved = (
            replace(b, x_mm=b.x_mm + step * np.cos(way), y_mm=b.y_mm + step * np.sin(way))
            for step in (-gap_mm - 0.1,)
            for way in ways
        )
        # Moved by less in any direction, they still overlap.
        assert all(shapely.intersects(footprint(a), footprint(aside)) for aside in moved)


@given(headings_deg)
def test_turning_a_round_base_changes_nothing(heading_deg) -> None:
    turned = distance(model(0, 0, heading_deg=heading_deg), base(200, 50, 30)).value_mm
    assert turned == pytest.approx(distance(model(0, 0), base(200, 50, 30)).value_mm, abs=1e-9)


def test_round_bases_are_as_certain_as_their_places() -> None:
    length = distance(model(0, 0, sigma_mm=0.3), model(100, 0, sigma_mm=0.4))
    assert length.sigma_mm == pytest.approx(0.5)
    # A round base's heading does not affect its rim.
    assert distance(model(0, 0, sigma_deg=2.0), model(100, 0)).sigma_mm == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("x_mm", "answer"), [(32.0, "yes"), (33.0, "yes"), (33.01, "no"), (31.8, "yes")]
)
def test_round_bases_touch_within_a_millimetre(x_mm, answer) -> None:
    touch = contact(single("A", model(0, 0)), single("B", model(x_mm, 0)))
    assert touch.answer.answer == answer


def test_a_round_base_touches_with_its_rim() -> None:
    touch = contact(single("A", model(0, 36)), single("B", base(0, 0, 90)))
    assert [(one.edge_a, one.edge_b) for one in touch.touches] == [("rim", "front")]
    assert (
        touch.answer.because == "A touches B: the rim of A meets the front of B, and they lie flush"
    )


@given(st.floats(10, 60), st.floats(1, 40))
def test_the_ring_of_a_round_base_is_a_circle(diameter_mm, radius_cm) -> None:
    (shape,) = ring(model(100, 200, diameter_mm), radius_cm, CENTIMETRES)
    reach_mm = [math.dist(point, (100, 200)) for point in shape.points_mm]
    assert reach_mm == pytest.approx([diameter_mm / 2 + 10 * radius_cm] * len(reach_mm), abs=0.1)


def test_a_round_base_shows_where_its_front_ends_and_a_quarter_arc() -> None:
    table = TableSize(1200, 800)
    position = Position("free", table, (single("A", model(600, 400)),))
    shapes = illustration(position, position.units[0], unit=inches(table))
    rays = {
        (shape.role, tuple(round(value, 6) for value in shape.points_mm[1]))
        for shape in shapes
        if shape.role != "ring"
    }
    assert rays == {
        ("front-line", (0.0, 400.0)),
        ("front-line", (1200.0, 400.0)),
        ("flank-line", (200.0, 800.0)),
        ("flank-line", (1000.0, 800.0)),
    }
