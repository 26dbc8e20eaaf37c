from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tablecam.table.headings import forward, right
from tablecam.testing import base, mirrored, shifted, turned, unit
from tablecam.uncertainty.contact import contact, contacts
from tablecam.uncertainty.lengths import distance
from tests.strategies import headings_deg, sizes_mm, units


def gun(x_mm: float, y_mm: float, heading_deg: float = 90.0, name: str = "B1", **options: float):
    each = unit(name, "artillery", x_mm, y_mm, heading_deg, side="british", **options)
    return replace(each, bases=(replace(each.bases[0], tag=7),)) if name == "B1" else each


@given(headings_deg, sizes_mm, sizes_mm, sizes_mm, st.sampled_from([0, 90, 180, 270]), st.data())
def test_g_6_bases_laid_exactly_flush_are_always_found_to_touch(
    heading, width_mm, depth_mm, other_mm, facing, data
) -> None:
    slide = data.draw(st.floats(-0.45, 0.45)) * (width_mm + other_mm)
    ahead, beside = forward(heading), right(heading)
    apart = (depth_mm + other_mm) / 2
    a = unit("F1", "artillery", 0, 0, heading, size_mm=(width_mm, depth_mm))
    b = unit(
        "B1",
        "artillery",
        apart * ahead[0] + slide * beside[0],
        apart * ahead[1] + slide * beside[1],
        heading + facing,
        size_mm=(other_mm, other_mm),
    )
    touching = contact(a, b, touch_mm=0.0)
    assert touching.answer.answer == "yes"
    (touch,) = touching.touches
    assert touch.edge_a == "front"
    assert touch.length_mm > 0
    assert touch.edge_b == {0: "rear", 90: "left", 180: "front", 270: "right"}[facing]
    assert abs(touch.gap_mm) < 1e-6


@pytest.mark.parametrize(("gap_mm", "answer"), [(0.0, "yes"), (1.0, "yes"), (1.01, "no")])
def test_g_6_a_gap_of_one_millimetre_touches_and_more_does_not(gap_mm, answer) -> None:
    touching = contact(unit("F1", "line", 0, 0, 90), gun(60, 40 + gap_mm))
    assert touching.answer.answer == answer
    assert touching.answer.margin_mm == pytest.approx(1.0 - gap_mm)


def test_g_6_overlapping_by_a_hair_touches() -> None:
    touching = contact(unit("F1", "line", 0, 0, 90), gun(60, 39.5))
    assert touching.answer.answer == "yes"
    assert touching.answer.margin_mm == pytest.approx(1.5)
    assert "they overlap by 0.5 mm" in touching.answer.because


@pytest.mark.parametrize(
    ("x_mm", "y_mm", "edge"),
    [(0, 40, "front"), (-100, 0, "left"), (100, 0, "right"), (0, -40, "rear")],
)
def test_g_6_the_edge_that_is_touched_is_named(x_mm, y_mm, edge) -> None:
    touching = contact(unit("F1", "line", 0, 0, 90, first_tag=10), gun(x_mm, y_mm, 45 + 45))
    assert {touch.edge_a for touch in touching.touches} == {edge}
    assert {touch.base_b for touch in touching.touches} == {"7"}


def test_g_6_a_sentence_names_bases_and_edges() -> None:
    touching = contact(unit("F1", "line", 0, 0, 90, first_tag=10), gun(60, 40, 270))
    assert touching.answer.because == (
        "F1 touches B1: the front of F1's right base meets the front of B1, and they lie flush"
    )
    at_corner, edge_to_edge = touching.touches[1], touching.touches[0]
    assert edge_to_edge.at_mm == pytest.approx((60.0, 20.0))
    assert (edge_to_edge.length_mm, at_corner.length_mm) == (40.0, 0.0)
    assert at_corner.base_a == "12"
    assert touching.answer.evidence[0].kind == "point"


def test_g_6_a_corner_that_meets_an_edge_at_an_angle_belongs_to_the_edge_that_faces_it() -> None:
    # Turned by 30 degrees, the gun's front left corner leads.
    wheeled = turned(gun(0, 0, 90), -30.0)
    corner_up = 20 * (np.cos(np.radians(30)) + np.sin(np.radians(30)))
    touching = contact(wheeled, gun(0, corner_up + 20, 90, name="F2"))
    assert touching.touches[0].edge_a == "front"
    assert touching.touches[0].edge_b == "rear"


def test_g_6_the_answer_about_no_contact_shows_the_gap() -> None:
    touching = contact(unit("F1", "line", 0, 0, 90), gun(60, 52))
    assert touching.answer.because == "F1 and B1 do not touch: the gap is 12.0 mm"
    assert touching.touches == ()
    assert touching.answer.evidence[0].kind == "line"


def test_g_6_with_sigmas_contact_near_the_limit_is_too_close_to_call() -> None:
    sure = contact(unit("F1", "line", 0, 0, 90), gun(50, 41.2, sigma_mm=0.1))
    unsure = contact(unit("F1", "line", 0, 0, 90), gun(50, 41.2, sigma_mm=0.3))
    assert sure.answer.answer == "no"
    assert unsure.answer.answer == "too_close"
    assert [touch.edge_a for touch in unsure.touches] == ["front", "front"]


def test_g_6_a_tolerance_makes_contact_too_close_to_call() -> None:
    touching = contact(unit("F1", "line", 0, 0, 90), gun(60, 41.5), tolerance_mm=1.0)
    assert touching.answer.answer == "too_close"
    assert "too close to call" in touching.answer.because


@given(units(near_mm=120), units(unit_id="B1", near_mm=120), headings_deg)
def test_g_6_contact_is_mutual_and_the_same_however_the_table_is_turned(a, b, by_deg) -> None:
    # No unit happens to lie within a hair of the limit.
    touching = contact(a, b)
    if abs(touching.answer.margin_mm) < 1e-6:
        return
    assert contact(b, a).answer.answer == touching.answer.answer
    assert contact(turned(a, by_deg), turned(b, by_deg)).answer.answer == touching.answer.answer
    assert contact(mirrored(a), mirrored(b)).answer.answer == touching.answer.answer


@given(
    units(),
    units(unit_id="B1"),
    st.floats(0.01, 5.0),
    st.floats(0.0, 40.0),
    st.sampled_from([0.0, 0.3]),
)
def test_moving_a_unit_away_never_brings_it_into_contact(a, b, gap_mm, by_mm, sigma_mm) -> None:
    """Away is along the shortest line between two convex units, which are laid near each other."""
    length = distance(a, b)
    assume(length.value_mm > 1.0)
    along = np.subtract(length.to_mm, length.from_mm) / length.value_mm
    near = shifted(b, *((gap_mm - length.value_mm) * along))
    far = shifted(near, *(by_mm * along))
    fixed, *placed = (
        replace(each, bases=tuple(replace(pose, sigma_mm=sigma_mm) for pose in each.bases))
        for each in (a, near, far)
    )
    before, after = (contact(fixed, each).answer for each in placed)
    order = ("no", "too_close", "yes")
    assert order.index(after.answer) <= order.index(before.answer)
    assert after.margin_mm <= before.margin_mm + 1e-6
    assert after.probability <= before.probability + 1e-6


def test_m_1_10_all_contacts_of_a_table_are_found_at_once() -> None:
    line = unit("F1", "line", 0, 0, 90)
    many = [line, gun(60, 40), gun(-100, 0, 0, name="B2"), gun(400, 0, 0, name="B3")]
    assert [(touching.a, touching.b) for touching in contacts(many)] == [("F1", "B1"), ("F1", "B2")]


@given(st.lists(units(near_mm=150), min_size=2, max_size=6))
def test_m_1_10_all_contacts_at_once_are_those_of_each_pair(many) -> None:
    named = [replace(each, id=f"U{index}") for index, each in enumerate(many)]
    answers = {(touching.a, touching.b): touching.answer.answer for touching in contacts(named)}
    for index, a in enumerate(named):
        for b in named[index + 1 :]:
            assert answers.get((a.id, b.id), "no") == contact(a, b).answer.answer


def test_units_with_one_millimetre_between_bases_of_one_unit_touch_nobody_else() -> None:
    loose = replace(unit("F1"), bases=(base(0, 0), base(41, 0)))
    assert contacts([loose, gun(200, 200)]) == ()
    assert contacts([loose]) == ()
