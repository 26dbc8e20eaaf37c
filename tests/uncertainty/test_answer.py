import json

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.uncertainty.answer import Answer, decide, probability

margins_mm = st.floats(-500, 500)
sigmas_mm = st.floats(0.001, 20)


@given(margins_mm, sigmas_mm)
def test_an_answer_is_too_close_exactly_between_5_and_95_percent(margin_mm, sigma_mm) -> None:
    answer, chance = decide(margin_mm, sigma_mm)
    assert (answer == "too_close") == (0.05 < chance < 0.95)
    assert answer != "yes" or margin_mm > 0
    assert answer != "no" or margin_mm < 0


@pytest.mark.parametrize(
    ("sigmas", "answer"), [(1.64, "too_close"), (1.65, "yes"), (-1.64, "too_close"), (-1.65, "no")]
)
def test_certainty_begins_at_1_645_standard_deviations(sigmas, answer) -> None:
    assert decide(2.0 * sigmas, 2.0)[0] == answer


@given(margins_mm)
def test_an_exact_margin_without_a_tolerance_is_never_too_close(margin_mm) -> None:
    answer, chance = decide(margin_mm)
    assert answer in ("yes", "no")
    assert chance in (0.0, 1.0)


def test_a_margin_of_nothing_holds_and_rounding_does_not_break_it() -> None:
    assert decide(0.0)[0] == "yes"
    assert decide(160.0 - 160.00000000000003)[0] == "yes"
    assert decide(-1e-3)[0] == "no"


@given(margins_mm, st.floats(0, 50))
def test_a_margin_below_the_tolerance_is_too_close_however_exact(margin_mm, tolerance_mm) -> None:
    answer, _ = decide(margin_mm, tolerance_mm=tolerance_mm)
    assert (answer == "too_close") == (abs(margin_mm) < tolerance_mm)


@given(margins_mm, margins_mm, sigmas_mm)
def test_a_larger_margin_is_never_less_probable(a, b, sigma_mm) -> None:
    low, high = sorted((a, b))
    assert probability(low, sigma_mm) <= probability(high, sigma_mm)


def test_an_answer_is_written_with_all_its_keys() -> None:
    shape = Shape("line", ((0.0, 0.0), (1.0, 2.000001)), "length", "2 BW")
    answer = Answer("yes", 1.23456789, 0.5, 0.99, "M-1.9", "because", (shape,))
    assert json.loads(json.dumps(answer.to_json())) == {
        "answer": "yes",
        "margin_mm": 1.2346,
        "sigma_mm": 0.5,
        "probability": 0.99,
        "rule": "M-1.9",
        "because": "because",
        "evidence": [
            {
                "kind": "line",
                "points_mm": [[0.0, 0.0], [1.0, 2.0]],
                "role": "length",
                "label": "2 BW",
            }
        ],
    }


def test_shapes_are_drawn_part_by_part_and_labelled_once() -> None:
    two = shapely.MultiPolygon([shapely.box(0, 0, 1, 1), shapely.box(5, 5, 6, 6)])
    first, second = shapes_of(two, "zone", "woods")
    assert (first.kind, first.label, second.label) == ("polygon", "woods", "")
    assert len(first.points_mm) == 4
    assert shapes_of(shapely.Point(1, 2), "contact")[0].points_mm == ((1.0, 2.0),)
    assert shapes_of(shapely.LineString(), "nothing") == ()
