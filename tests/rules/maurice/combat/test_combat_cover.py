"""Cover in combat, higher ground and bad terrain, by the book's examples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.rules.maurice.combat.cover import cover_answer, has_cover_from
from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.table.model import Position, Terrain
from tablecam.uncertainty.answer import Answer
from tests.rules.maurice.drawn import drawn_position
from tests.rules.maurice.moved import Motion, motions
from tests.rules.maurice.tables import gun, line, massed, position

SOUTH = 270.0


def box(kind: str, left: float, low: float, right: float, high: float) -> Terrain:
    return Terrain(f"{kind} {left}", kind, ((left, low), (right, low), (right, high), (left, high)))


def is_covered(field: Field, defender: str = "1") -> bool:
    return has_cover_from(field, field.by_id["F1"], field.by_id[defender])


def against(*units, terrain=()) -> Field:
    return field_of(position(line("F1", "french", 600, 480), *units, terrain=terrain))


def test_the_parts_before_the_attacker_are_all_in_the_woods():  # M-8.14's example
    """The defender reaches 80 mm past the attacker, out of the woods."""
    defender = line("1", "british", 680, 520, SOUTH)
    wood = box("woods", 440, 500, 684, 700)
    assert is_covered(against(defender, terrain=[wood]))
    assert not is_covered(against(defender, terrain=[box("woods", 440, 500, 570, 700)]))


def test_a_wall_that_intervenes_completely_covers_without_flush_contact():  # M-8.14's example
    both = gun("2", "british", 505, 520, SOUTH), line("1", "british", 680, 555, SOUTH)
    assert is_covered(against(*both, terrain=[box("wall", 526, 502, 800, 507)]))
    assert not is_covered(against(*both, terrain=[box("wall", 540, 502, 800, 507)]))
    assert not is_covered(against(*both, terrain=[box("wall", 526, 502, 650, 507)]))


def test_an_incomplete_wall_covers_nobody():  # M-8.22: it is possible to draw one straight line
    defender = line("1", "british", 600, 540, SOUTH)
    assert is_covered(against(defender, terrain=[box("trench", 300, 508, 900, 514)]))
    assert not is_covered(
        against(
            defender,
            terrain=[box("trench", 300, 508, 598, 514), box("trench", 602, 508, 900, 514)],
        )
    )


@pytest.mark.parametrize(("kind", "covers"), [("woods", True), ("rough", False), ("marsh", False)])
def test_only_some_terrain_covers(kind, covers):  # M-5.5
    defender = line("1", "british", 600, 520, SOUTH)
    assert is_covered(against(defender, terrain=[box(kind, 400, 500, 800, 600)])) == covers


def test_horse_never_profits_from_cover_and_a_gun_does():  # M-8.14
    wood = box("woods", 400, 500, 800, 700)
    horse, battery = massed("1", "british", 600, 540, SOUTH), gun("2", "british", 540, 520, SOUTH)
    field = against(horse, battery, terrain=[wood])
    assert not is_covered(field)
    assert is_covered(field, "2")


def test_units_flush_on_both_sides_of_a_wall_are_covered_by_it():  # M-8.14
    assert is_covered(
        against(line("1", "british", 600, 525, SOUTH), terrain=[box("wall", 400, 500, 800, 505)])
    )


def test_an_attacker_in_the_woods_lends_no_cover_to_what_stands_outside():  # M-8.14
    assert not is_covered(
        against(line("1", "british", 600, 520, SOUTH), terrain=[box("woods", 400, 300, 800, 500)])
    )


def test_other_units_between_do_not_matter():  # M-8.14
    between = line("F2", "french", 600, 522), line("1", "british", 600, 570, SOUTH)
    wood = box("woods", 400, 550, 800, 700)
    assert is_covered(against(*between, terrain=[wood]))
    assert not is_covered(against(*between))


def test_what_lies_behind_the_front_line_has_no_cover():
    wood = box("woods", 700, 300, 1000, 700)
    assert not is_covered(against(line("1", "british", 800, 420), terrain=[wood]))


def test_the_drawing_shows_the_cover_or_the_line_that_avoids_it():
    defender = line("1", "british", 600, 540, SOUTH)
    for right_mm, role in ((900, "cover"), (590, "open-line")):
        field = against(defender, terrain=[box("wall", 300, 508, right_mm, 514)])
        shapes = cover_answer(field, field.by_id["F1"], field.by_id["1"]).evidence
        assert {shape.role for shape in shapes} == {role}


@settings(max_examples=25)
@given(left=st.floats(301, 700), right=st.floats(300, 900), low=st.floats(500, 540))
def test_an_open_line_is_found_wherever_many_lines_find_one(left, right, low):
    """The slow way: all lines from 41 points of the front to 41 of the defender's front."""
    field = against(
        line("1", "british", 640, 565, SOUTH),
        terrain=[box("wall", 300, 505, left, 509), box("wall", right, low, 1000, low + 4)],
    )
    # Half a millimetre inside of the defender, as its outermost sliver does not count (G-5).
    open_mm = [
        (start, end)
        for start in (520 + 4 * step for step in range(41))
        for end in (560.5 + 3.975 * step for step in range(41))
        if not _crosses(start, end, 505, 509, 300, left)
        and not _crosses(start, end, low, low + 4, right, 1000)
    ]
    assert not (open_mm and is_covered(field))


@settings(max_examples=25)
@given(motion=motions, left=st.floats(520, 600), right=st.floats(600, 700))
def test_moving_turning_and_mirroring_the_table_change_nothing(motion: Motion, left, right):
    units = line("F1", "french", 600, 480), line("1", "british", 640, 550, SOUTH)
    walls = box("wall", 300, 505, left, 509), box("wall", right, 505, 1000, 509)
    before = field_of(position(*units, terrain=walls))
    after = field_of(
        position(*map(motion.unit, units), terrain=[motion.terrain(wall) for wall in walls])
    )
    assert is_covered(after) == is_covered(before)


def _crosses(start: float, end: float, low: float, high: float, left: float, right: float) -> bool:
    places = [start + (end - start) * (y - 500) / 45 for y in (low, min(high, 545))]
    return max(places) > left and min(places) < right and left < right


def test_levels_are_the_hills_under_more_than_half_of_a_unit():  # M-5.9, M-8.15
    hills = box("hill", 300, 520, 900, 900), box("hill", 500, 541, 600, 800)
    field = against(line("1", "british", 640, 560, SOUTH), terrain=hills)
    attacker, defender = field.by_id["F1"], field.by_id["1"]
    assert (field.level(attacker), field.level(defender)) == (0, 1)
    assert field.is_uphill(attacker, defender)
    assert not field.is_uphill(defender, attacker)


def test_nested_hills_add_up():  # M-5.9
    hills = box("hill", 300, 300, 900, 900), box("hill", 400, 400, 800, 700)
    field = against(terrain=hills)
    assert field.level(field.by_id["F1"]) == 2


def test_terrain_without_an_area_does_nothing():
    flat = Terrain("flat", "wall", ((300, 510), (900, 510), (300, 510)))
    defender = line("1", "british", 600, 540, SOUTH)
    assert not is_covered(against(defender, terrain=[flat, box("wall", 300, 508, 590, 514)]))


def past_a_wall(beyond_mm: float, **more: float) -> Position:
    """A wall between two lines that ends so far beyond where the last line of sight would pass."""
    units = (
        line("F1", "french", 600, 480, **more),
        line("1", "british", 600, 540, SOUTH, **more),
    )
    return position(*units, terrain=[box("trench", 300, 508, 679.5 + beyond_mm, 514)])


def answered(of: Position) -> Answer:
    field = field_of(of)
    return cover_answer(field, field.by_id["F1"], field.by_id["1"])


@pytest.mark.parametrize("beyond_mm", [0.3, 0.6])
def test_m_8_14_its_probability_is_how_often_there_is_cover(beyond_mm):
    measured = past_a_wall(beyond_mm, sigma_mm=0.5)
    found, luck = answered(measured), np.random.default_rng(3)
    held = [answered(drawn_position(measured, luck)).answer == "yes" for _ in range(300)]
    assert found.answer == "too_close"
    assert found.because.startswith("whether 1 has cover from F1 is too close to call, by ")
    # Three standard deviations of the difference of a share of 300 draws and one of 400.
    error = 3 * 0.5 * np.sqrt(1 / 300 + 1 / 400)
    assert found.probability == pytest.approx(np.mean(held), abs=error)


@pytest.mark.parametrize("sigmas", [-3.0, -1.0, 1.0, 3.0])
def test_g_7_within_three_sigmas_of_the_end_of_a_wall_cover_is_never_flat(sigmas):
    assert 0.0 < answered(past_a_wall(sigmas * 0.5 * np.sqrt(2), sigma_mm=0.5)).probability < 1.0


def test_g_7_bases_less_sure_than_they_are_deep_have_cover_or_not_by_chance():
    found = answered(past_a_wall(0.5, sigma_mm=10.0))
    assert (found.answer, 0.0 < found.probability < 1.0) == ("too_close", True)


def test_cover_is_certain_where_all_is_exact_or_far_from_its_limit():
    assert answered(past_a_wall(0.5)).probability == 1.0
    assert answered(past_a_wall(-2.0)).probability == 0.0
    for beyond_mm, chance in ((60.0, 1.0), (-60.0, 0.0)):
        found = answered(past_a_wall(beyond_mm, sigma_mm=0.3))
        assert (found.probability, found.margin_mm > 0) == (chance, chance == 1.0)
    horse = field_of(position(line("F1", "french", 600, 480), massed("1", "british", 600, 560)))
    assert cover_answer(horse, horse.by_id["F1"], horse.by_id["1"]).answer == "no"
