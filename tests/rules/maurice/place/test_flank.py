"""On whose flank (M-1.11 to M-1.13): the book's examples (T-15), doubt, what must not matter."""

from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from tablecam.geometry.fronts import Fronts
from tablecam.geometry.outlines import axes, footprint
from tablecam.geometry.rectangles import rectangles
from tablecam.geometry.sides import SIDES, side_of
from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.rules.maurice.place.contacts import contacts_of_field
from tablecam.rules.maurice.place.flank import flanked_by, is_to_flank, pairs, to_flank
from tablecam.table.model import Unit
from tablecam.testing import mirrored, shifted, turned
from tablecam.uncertainty.samples import DRAWS, decide_sampled, draw_units
from tests.rules.maurice.tables import column, gun, line, massed, position

WEST, EAST, SOUTH = 180.0, 0.0, 270.0
OURS = line("F1", "french", 600, 580)  # its front is at y = 600
LAYOUTS = st.sampled_from([line, column, massed, gun])


def asked(enemy: Unit, ours: Unit = OURS) -> bool:
    field = field_of(position(ours, enemy))
    return is_to_flank(field.by_id["F1"], field.by_id["B1"])


@pytest.mark.parametrize(
    ("enemy", "expected"),
    [
        (line("B1", "british", 800, 592, WEST), True),  # from y = 512 to 672: two behind
        (line("B1", "british", 800, 630, WEST), False),  # from y = 550 to 710: one
        (line("B1", "british", 730, 585, 225.0), False),  # two behind, but its end is in front
        (gun("B1", "british", 720, 580), True),  # its front on the front line: not ahead of it
        (gun("B1", "british", 720, 580.01), False),
        (line("B1", "british", 600, 500), True),  # in the rear
        (line("B1", "british", 600, 700, SOUTH), False),
        (massed("B1", "british", 760, 600, WEST), True),  # two of four behind
        (massed("B1", "british", 760, 600.1, WEST), False),
    ],
    ids=[
        "two behind",
        "one behind",
        "end in front",
        "gun level",
        "gun ahead by a hair",
        "rear",
        "front",
        "massed half",
        "massed less",
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
    assert touches.of("F1") == ("F2", "B1")
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
    """Against draws of its own, each judged by the plain rule on plainly laid units."""
    ours = ours("F1", "french", 600, 580, sigma_mm=0.5, sigma_deg=0.3)
    enemy = theirs("B1", "british", 800, 560, WEST, sigma_mm=0.5, sigma_deg=0.3)
    front_mm = max(y for _, y in (axes(ours).left_mm, axes(ours).right_mm))
    enemy = shifted(enemy, 0, front_mm - _half_way_up(enemy) - behind_mm)
    field = field_of(position(ours, enemy))
    found = to_flank(field, field.by_id["F1"], field.by_id["B1"])
    luck = np.random.default_rng(7)
    held = [_redrawn(ours, enemy, luck) for _ in range(300)]
    # Three standard deviations of a share of 300 draws.
    assert 0.05 < found.probability < 0.95
    assert np.mean(held) == pytest.approx(found.probability, abs=3 * 0.5 / np.sqrt(300))


def _half_way_up(enemy: Unit) -> float:
    tops = np.sort(rectangles([enemy]).corners_mm()[:, :, 1].max(axis=1))
    return float(tops[(len(tops) + 1) // 2 - 1])


def _redrawn(ours: Unit, enemy: Unit, luck: np.random.Generator) -> bool:
    drawn = [_drawn(each, luck) for each in (ours, enemy)]
    field = _open_field(*drawn)
    return is_to_flank(field.by_id["F1"], field.by_id["B1"])


def _drawn(unit: Unit, luck: np.random.Generator) -> Unit:
    bases = []
    for pose in unit.bases:
        x_mm, y_mm = luck.normal(0, pose.sigma_mm, 2)
        turn_deg = luck.normal(0, pose.sigma_deg)
        bases.append(
            replace(
                pose,
                x_mm=pose.x_mm + x_mm,
                y_mm=pose.y_mm + y_mm,
                heading_deg=pose.heading_deg + turn_deg,
            )
        )
    return replace(unit, bases=tuple(bases))


def _open_field(*units: Unit) -> Field:
    return field_of(position(*units))


@given(LAYOUTS, st.floats(0, 359))
def test_drawn_fronts_without_any_deviation_are_the_fronts_themselves(layout, heading) -> None:
    unit = layout("F1", "french", 600, 600, heading)
    plain, drawn = Fronts.of(axes(unit)), Fronts.drawn(unit, draw_units([unit]))
    for name in ("left_mm", "right_mm", "heading"):
        assert np.allclose(getattr(drawn, name), getattr(plain, name), atol=1e-9)
    assert len(drawn.left_mm) == DRAWS


@given(
    LAYOUTS,
    LAYOUTS,
    st.floats(-200, 200),
    st.floats(200, 300),
    st.floats(0, 359),
    st.floats(0, 359),
)
def test_nothing_changes_when_both_are_turned_moved_or_mirrored(
    ours, theirs, x_mm, y_mm, heading, by_deg
) -> None:
    units = [
        ours("F1", "french", 700, 600),
        theirs("B1", "british", 700 + x_mm, 600 + y_mm, heading),
    ]

    def ruled(change) -> tuple[float, float]:
        field = field_of(position(*map(change, units)))
        a, b = field.by_id["F1"], field.by_id["B1"]
        return to_flank(field, a, b).margin_mm, to_flank(field, b, a).margin_mm

    wanted = ruled(lambda each: each)
    for change in (
        lambda each: turned(each, by_deg, (700.0, 600.0)),
        lambda each: shifted(each, 31.0, 17.0),
        lambda each: shifted(mirrored(each), 1400.0, 0.0),
    ):
        assert ruled(change) == pytest.approx(wanted, abs=1e-6)


def test_draws_tell_probability_and_never_quite_certainty() -> None:
    margins_mm = np.concatenate([np.full(900, 1.0), np.full(100, -1.0)])
    word, sigma_mm, chance = decide_sampled(0.5, margins_mm)
    assert (word, round(chance, 2)) == ("too_close", 0.9)
    assert sigma_mm == pytest.approx(np.sqrt(0.9 * 0.25 + 0.1 * 2.25))
    assert decide_sampled(1.0, np.ones(1000))[0] == "yes"
    assert 0.0 < decide_sampled(-1.0, -np.ones(1000))[2] < 0.001
    assert decide_sampled(1.0, np.ones(1000), tolerance_mm=2.0)[0] == "too_close"


def test_bases_of_different_names_never_share_their_draws() -> None:
    many = [line(f"F{unit}", "french", 0, 0, sigma_mm=1.0) for unit in range(8)]
    together = draw_units(many).centres_mm.reshape(DRAWS, 32, 2)
    shared = np.corrcoef(together[..., 0].T) - np.eye(32)
    # Of 496 pairs of 400 draws the largest by chance: four standard deviations.
    assert np.abs(shared).max() < 4.0 / np.sqrt(DRAWS)
    last = draw_units(many[7:]).centres_mm.reshape(DRAWS, 4, 2)
    assert np.array_equal(last, together[:, 28:])


@given(LAYOUTS, LAYOUTS, st.floats(-300, 300), st.floats(-300, 300), st.floats(0, 359))
def test_m_1_11_where_most_lies_is_as_cutting_up_every_base_tells(
    ours, theirs, x_mm, y_mm, heading
) -> None:
    """Most bases lie wholly on one side and are never cut up; the areas come out the same."""
    a, b = ours("F1", "french", 0, 0), theirs("B1", "british", x_mm, y_mm, heading)
    found = axes(a)
    ahead = shapely.box(-2000, found.left_mm[1], 2000, 2000)
    rear = shapely.box(found.left_mm[0], -2000, found.right_mm[0], found.left_mm[1])
    bases = [footprint(base) for base in b.bases]
    areas = [sum(base.intersection(part).area for base in bases) for part in (ahead, rear)]
    areas.insert(1, sum(base.area for base in bases) - sum(areas))
    assert areas[SIDES.index(side_of(a, b))] == pytest.approx(max(areas), abs=0.01)
