"""Flanks (M-1.11 to M-1.13): the book's examples (T-15), doubts, and irrelevant changes."""

import numpy as np
import pytest

from tablecam.geometry.outlines import axes
from tablecam.geometry.rectangles import rectangles
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.place.contacts import (
    contacts_of_field,
    flanked_by,
    is_to_flank,
    pairs,
    to_flank,
)
from tablecam.table.model import Unit
from tablecam.testing import shifted
from tests.rules.maurice.drawn import drawn_position
from tests.rules.maurice.tables import EAST, SOUTH, WEST, column, gun, line, massed, position

OURS = line("F1", "french", 600, 580)  # its front is at y = 600


def asked(enemy: Unit, ours: Unit = OURS) -> bool:
    field = field_of(position(ours, enemy))
    return is_to_flank(field.by_id["F1"], field.by_id["B1"])


@pytest.mark.parametrize(
    ("enemy", "expected"),
    [
        (line("B1", "british", 800, 592, WEST), True),  # from y = 512 to 672: two behind
        (line("B1", "british", 800, 630, WEST), False),  # from y = 550 to 710: one
        (line("B1", "british", 730, 585, 225.0), False),  # two behind, but one end is in front
        (gun("B1", "british", 720, 580), True),  # its front on the front line: not ahead of it
        (gun("B1", "british", 720, 580.01), False),
        (line("B1", "british", 600, 500), True),  # in the rear
        (line("B1", "british", 600, 700, SOUTH), False),
        (massed("B1", "british", 760, 600, WEST), True),  # two of four behind
        (massed("B1", "british", 760, 600.1, WEST), False),
    ],
)
def test_t_15_to_the_flank_is_half_the_bases_behind_and_nothing_directly_in_front(
    enemy, expected
) -> None:
    assert asked(enemy) == expected


@pytest.mark.parametrize(("over_mm", "expected"), [(0.0, True), (0.4, True), (0.6, False)])
def test_g_5_a_sliver_over_the_flank_line_is_not_directly_in_front(over_mm, expected) -> None:
    assert asked(line("B1", "british", 700 - over_mm, 600, WEST)) == expected


def test_m_1_13_flanked_is_by_an_enemy_that_touches_and_is_to_the_flank() -> None:
    enemies = [
        line("B1", "british", 700, 590, WEST),  # flush on the right flank
        line("B2", "british", 600, 540),  # flush in the rear
        line("B3", "british", 600, 620, SOUTH),  # flush in front
        gun("B4", "british", 480, 580),  # to the flank, but 20 mm off
        line("B5", "british", 500, 681, EAST),  # touching the corner, mostly ahead
    ]
    friend = massed("F2", "french", 460, 480)
    field = field_of(position(OURS, *enemies, friend))
    touches = contacts_of_field(field)
    assert set(touches.enemies_of("F1")) == {"B1", "B2", "B3", "B5"}
    assert set(flanked_by(field, field.by_id["F1"], touches)) == {"B1", "B2"}


def test_m_1_10_friends_touch_but_are_no_contact_with_the_enemy() -> None:
    field = field_of(position(OURS, line("F2", "french", 760, 580), gun("B1", "british", 600, 621)))
    touches = contacts_of_field(field)
    assert touches.answer("F1", "F2").answer == "yes"
    assert touches.enemies_of("F1") == ("B1",)
    assert touches.answer("F1", "B1").margin_mm == pytest.approx(0.0)
    far = touches.answer("F2", "B1")
    assert (far.answer, far.rule) == ("no", "M-1.10")


def test_m_1_10_a_gap_near_1_mm_between_measured_bases_is_too_close_to_call() -> None:
    near = gun("B1", "british", 600, 621.2, sigma_mm=0.3)
    assert (
        contacts_of_field(field_of(position(OURS, near))).answer("F1", "B1").answer == "too_close"
    )


def test_m_1_11_most_of_an_enemy_lies_to_the_front_the_flank_or_the_rear() -> None:
    enemies = [
        line("B1", "british", 600, 700, SOUTH),
        gun("B2", "british", 720, 560),
        gun("B3", "british", 600, 500),
    ]
    field = field_of(position(OURS, *enemies))
    found = {pair.ids: pair for pair in pairs(field, field.units)}
    assert [found["F1", f"B{i}"].b_is for i in (1, 2, 3)] == ["front", "flank", "rear"]
    assert len(found) == 6  # both ways, and no pairs of friends
    assert found["B3", "F1"].distance_mm == pytest.approx(40.0)
    assert found["B3", "F1"].b_is == "front"


def test_m_1_12_the_answer_counts_the_bases_and_shows_them() -> None:
    field = field_of(position(OURS, line("B1", "british", 800, 592, WEST)))
    found = to_flank(field, field.by_id["F1"], field.by_id["B1"])
    assert found.because == (
        "B1 is to the flank of F1 by 0.20 BW: 2 of B1's 4 bases lie wholly behind F1's "
        "front line, and no part of it is directly in front of F1"
    )
    roles = [shape.role for shape in found.evidence]
    assert roles.count("counts") == roles.count("counts-not") == 2
    assert {"directly-in-front", "front-line"} <= set(roles)


def test_m_1_12_of_an_enemy_to_the_front_it_says_what_is_missing() -> None:
    field = field_of(position(OURS, line("B1", "british", 600, 700, SOUTH)))
    found = to_flank(field, field.by_id["F1"], field.by_id["B1"])
    assert found.because == (
        "B1 is not to the flank of F1, short by 3.00 BW: none of B1's 4 bases "
        "lies wholly behind F1's front line, and part of it is directly in front of F1"
    )


def test_m_1_12_measured_bases_near_the_front_line_are_too_close_to_call() -> None:
    words = []
    for behind_mm in (-4.0, 0.1, 4.0):
        enemy = gun("B1", "british", 720, 580 - behind_mm, sigma_mm=0.3, sigma_deg=0.2)
        field = field_of(position(OURS, enemy))
        words.append(to_flank(field, field.by_id["F1"], field.by_id["B1"]).answer)
    assert words == ["no", "too_close", "yes"]


@pytest.mark.parametrize(
    ("ours", "theirs", "behind_mm"),
    [(line, line, 0.5), (massed, gun, 1.0), (column, massed, -1.0), (line, gun, -0.5)],
    ids=["lines", "horse and gun", "column and horse", "line and gun"],
)
def test_m_1_12_its_probability_is_how_often_it_holds(ours, theirs, behind_mm) -> None:
    """Compares it with independent draws, each judged by the plain rule."""
    ours = ours("F1", "french", 600, 580, sigma_mm=0.5, sigma_deg=0.3)
    enemy = theirs("B1", "british", 800, 560, WEST, sigma_mm=0.5, sigma_deg=0.3)
    front_mm = max(y for _, y in (axes(ours).left_mm, axes(ours).right_mm))
    enemy = shifted(enemy, 0, front_mm - _half_way_up(enemy) - behind_mm)
    field = field_of(position(ours, enemy))
    found = to_flank(field, field.by_id["F1"], field.by_id["B1"])
    luck = np.random.default_rng(7)
    truths = (field_of(drawn_position(position(ours, enemy), luck)) for _ in range(300))
    held = [is_to_flank(truth.by_id["F1"], truth.by_id["B1"]) for truth in truths]
    # Three standard deviations of a share of 300 draws.
    assert 0.05 < found.probability < 0.95
    assert np.mean(held) == pytest.approx(found.probability, abs=3 * 0.5 / np.sqrt(300))


def _half_way_up(enemy: Unit) -> float:
    tops = np.sort(rectangles([enemy]).corners_mm()[:, :, 1].max(axis=1))
    return float(tops[(len(tops) + 1) // 2 - 1])
