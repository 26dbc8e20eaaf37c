"""What layings in the jig's corner reveal, from numbers alone."""

import cmath
import math

import pytest

from calibration.errors import CalibrationError
from calibration.jig import JIG_TAGS_MM, Cut, Laying, measured_bases, misfit, sheet_place

LISTED = Cut(40.0, 30.0, right_mm=4.0, forward_mm=-6.0)
TRUE = Cut(40.12, 29.9, right_mm=4.5, forward_mm=-6.3)
RULERS_MM = (0.1, -0.15)


def laying(turned_deg, true=TRUE, *, turn_deg=0.8, session=1):
    """The place of the tag, constructed corner by corner instead of by the formula."""
    turn = cmath.rect(1, math.radians(turned_deg))
    edges = [complex(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    corners = [turn * complex(e.real * true.width_mm, e.imag * true.depth_mm) for e in edges]
    left, low = min(c.real for c in corners), min(c.imag for c in corners)
    tag = turn * complex(true.right_mm, true.forward_mm) - complex(left, low) + complex(*RULERS_MM)
    return Laying(10, session, turned_deg, tag.real, tag.imag, turn_deg, 0.01, 0.1)


def test_a_base_turned_by_180_degrees_tells_its_tags_place_from_its_size() -> None:
    base = measured_bases({10: LISTED}, [laying(0.0), laying(180.0)])[10]
    assert (base.right_mm, base.forward_mm) == pytest.approx((4.5, -6.3), abs=0.005)
    assert base.turn_deg == pytest.approx(0.8)
    assert base.sigma_mm < 0.06
    # One base cannot separate its size from the rulers' places.
    assert base.size_sigma_mm is None


def test_one_laying_leaves_the_rulers_and_the_size_in_doubt() -> None:
    base = measured_bases({10: LISTED}, [laying(0.0)])[10]
    assert 0.1 < base.sigma_mm < 0.2
    assert abs(base.right_mm - 4.5) < 3 * base.sigma_mm
    assert base.size_sigma_mm is None
    assert (base.width_mm, base.depth_mm) == (40.0, 30.0)


def test_a_quarter_turn_tells_one_of_the_offsets() -> None:
    """At 0 and at 90 degrees the same edge at the rear touches a ruler, but both sides do."""
    base = measured_bases({10: LISTED}, [laying(0.0), laying(90.0)])[10]
    assert base.right_mm == pytest.approx(4.5, abs=0.15)
    assert abs(base.forward_mm + 6.3) < 3 * base.sigma_mm


def test_where_the_rulers_lie_and_a_bases_size_are_measured_from_all_bases() -> None:
    others = {
        tag: [
            Laying(tag, *(getattr(laying(turned, LISTED), key) for key in KEYS))
            for turned in (0.0, 180.0)
        ]
        for tag in range(11, 19)
    }
    layings = [laying(0.0, LISTED), *(push for pushes in others.values() for push in pushes)]
    alone = measured_bases({10: LISTED}, layings[:1])[10]
    among = measured_bases(dict.fromkeys(range(10, 19), LISTED), layings)[10]
    assert among.right_mm == pytest.approx(4.0, abs=0.03)
    assert among.forward_mm == pytest.approx(-6.0, abs=0.03)
    assert among.sigma_mm < 0.7 * alone.sigma_mm


KEYS = ("session", "turned_deg", "x_mm", "y_mm", "turn_deg", "sigma_mm", "sigma_deg")


def test_a_round_base_lies_any_way_round() -> None:
    size = Cut(25.0, 25.0, 0.0, 0.0, is_round=True)
    true = Cut(25.0, 25.0, 0.4, -0.2, is_round=True)
    pushes = []
    for turned_deg in (17.0, 140.0, 260.0):
        tag = complex(12.5, 12.5) + complex(0.4, -0.2) * cmath.rect(1, math.radians(turned_deg))
        pushes.append(Laying(10, 1, turned_deg, tag.real, tag.imag, 0.0, 0.01, 0.1))
    base = measured_bases({10: size}, pushes)[10]
    assert (base.right_mm, base.forward_mm) == pytest.approx((true.right_mm, -0.2), abs=0.01)
    assert base.turn_deg == 0.0


def test_a_laying_that_does_not_fit_is_named() -> None:
    base = measured_bases({10: LISTED}, [laying(0.0), laying(180.0)])[10]
    assert misfit(laying(0.0), LISTED, base) == ""
    moved = Cut(40.12, 29.9, right_mm=5.7, forward_mm=-6.3)
    off = misfit(laying(0.0, moved), LISTED, base)
    assert float(off.removesuffix(" mm")) == pytest.approx(1.2, abs=0.3)
    assert misfit(laying(0.0, turn_deg=2.3), LISTED, base) == "1.5°"


def on_table(scale=1.0, *, numbers=(0, 1, 2, 3)):
    turn = cmath.rect(scale, math.radians(25))
    places = {number: turn * complex(*JIG_TAGS_MM[number]) + (700 + 300j) for number in numbers}
    return {number: (place.real, place.imag) for number, place in places.items()}


def test_the_sheet_is_placed_by_its_tags() -> None:
    sheet = sheet_place(on_table(numbers=(0, 1, 3)))
    assert (sheet.x_mm, sheet.y_mm, sheet.heading_deg) == pytest.approx((700, 300, 25))
    assert sheet.on_sheet(*sheet.on_table(12, 34)) == pytest.approx((12, 34))


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        (on_table(numbers=(0, 2)), "expected 3 of the sheet's 4 tags or more, got 2"),
        (on_table(0.97), "expected the sheet printed at 100 %, got 97.0 %"),
        ({**on_table(), 3: (600, 340)}, "expected the sheet"),
    ],
    ids=["too few tags", "scaled print", "not flat"],
)
def test_a_sheet_that_cannot_be_used_is_refused(seen, message) -> None:
    with pytest.raises(CalibrationError, match=message):
        sheet_place(seen)
