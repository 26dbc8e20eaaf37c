"""Cover in combat, higher ground and bad terrain: the book's examples."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.rules.maurice.combat.combat import cover_answer, has_cover_from
from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.table.model import Position, Terrain
from tablecam.uncertainty.answer import Answer
from tests.rules.maurice.rulings.test_as_sure_as_said import covered_by_a_trench
from tests.rules.maurice.tables import SOUTH, box, gun, line, massed, position


def is_covered(field: Field) -> bool:
    return has_cover_from(field, field.by_id["F1"], field.by_id["1"])


def against(*units, terrain=()) -> Field:
    return field_of(position(line("F1", "french", 600, 480), *units, terrain=terrain))


ACROSS, BEYOND = line("1", "british", 600, 520, SOUTH), line("1", "british", 600, 540, SOUTH)
BESIDE = line("1", "british", 680, 520, SOUTH)  # reaches 80 mm past the attacker
BOTH = gun("2", "british", 505, 520, SOUTH), line("1", "british", 680, 555, SOUTH)
BETWEEN = line("F2", "french", 600, 522), line("1", "british", 600, 570, SOUTH)
FLAT = Terrain("flat", "wall", ((300, 510), (900, 510), (300, 510)))


@pytest.mark.parametrize(
    ("units", "terrain", "covers"),
    [
        pytest.param([BESIDE], [box("woods", 440, 500, 684, 700)], True, id="parts in woods"),
        pytest.param([BESIDE], [box("woods", 440, 500, 570, 700)], False, id="not all of them"),
        pytest.param(BOTH, [box("wall", 526, 502, 800, 507)], True, id="intervenes completely"),
        pytest.param(BOTH, [box("wall", 540, 502, 800, 507)], False, id="not on the left"),
        pytest.param(BOTH, [box("wall", 526, 502, 650, 507)], False, id="not on the right"),
        pytest.param([BEYOND], [box("trench", 300, 508, 900, 514)], True, id="a trench"),
        pytest.param(  # M-8.22: one straight line can be drawn
            [BEYOND],
            [box("trench", 300, 508, 598, 514), box("trench", 602, 508, 900, 514, "rest")],
            False,
            id="a gap in it",
        ),
        pytest.param([ACROSS], [box("woods", 400, 500, 800, 600)], True, id="M-5.5 woods"),
        pytest.param([ACROSS], [box("rough", 400, 500, 800, 600)], False, id="M-5.5 rough"),
        pytest.param([ACROSS], [box("marsh", 400, 500, 800, 600)], False, id="M-5.5 marsh"),
        pytest.param(
            [massed("1", "british", 600, 540, SOUTH)],
            [box("woods", 400, 500, 800, 700)],
            False,
            id="horse never",
        ),
        pytest.param(
            [gun("1", "british", 540, 520, SOUTH)],
            [box("woods", 400, 500, 800, 700)],
            True,
            id="a gun",
        ),
        pytest.param(
            [line("1", "british", 600, 525, SOUTH)],
            [box("wall", 400, 500, 800, 505)],
            True,
            id="flush on both sides",
        ),
        pytest.param([ACROSS], [box("woods", 400, 300, 800, 500)], False, id="attacker in woods"),
        pytest.param(BETWEEN, [box("woods", 400, 550, 800, 700)], True, id="past a unit"),
        pytest.param(BETWEEN, [], False, id="a unit is no cover"),
        pytest.param(
            [line("1", "british", 800, 420)],
            [box("woods", 700, 300, 1000, 700)],
            False,
            id="behind the front line",
        ),
        pytest.param([BEYOND], [FLAT, box("wall", 300, 508, 590, 514)], False, id="of no area"),
    ],
)
def test_m_8_14_who_has_cover(units, terrain, covers):
    assert is_covered(against(*units, terrain=terrain)) == covers


def test_the_drawing_shows_the_cover_or_the_line_that_avoids_it():
    defender = line("1", "british", 600, 540, SOUTH)
    for right_mm, role in ((900, "cover"), (590, "open-line")):
        field = against(defender, terrain=[box("wall", 300, 508, right_mm, 514)])
        shapes = cover_answer(field, field.by_id["F1"], field.by_id["1"]).evidence
        assert {shape.role for shape in shapes} == {role}


@settings(max_examples=25)
@given(left=st.floats(301, 700), right=st.floats(300, 900), low=st.floats(500, 540))
def test_an_open_line_is_found_wherever_many_lines_find_one(left, right, low):
    """Checked by a slow method: all lines from 41 points of one front to 41 of the other."""
    field = against(
        line("1", "british", 640, 565, SOUTH),
        terrain=[box("wall", 300, 505, left, 509), box("wall", right, low, 1000, low + 4)],
    )
    # Half a millimetre inside the defender, as its outermost sliver does not count (G-5).
    open_mm = [
        (start, end)
        for start in (520 + 4 * step for step in range(41))
        for end in (560.5 + 3.975 * step for step in range(41))
        if not _crosses(start, end, 505, 509, 300, left)
        and not _crosses(start, end, low, low + 4, right, 1000)
    ]
    assert not (open_mm and is_covered(field))


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
    nested = against(terrain=[box("hill", 300, 300, 900, 900), box("hill", 400, 400, 800, 700)])
    assert nested.level(nested.by_id["F1"]) == 2


def answered(of: Position) -> Answer:
    field = field_of(of)
    return cover_answer(field, field.by_id["F1"], field.by_id["B1"])


def test_m_8_14_cover_that_hangs_on_a_hair_is_too_close_to_call():
    found = answered(covered_by_a_trench(0.3, sigma_mm=0.5))
    assert found.answer == "too_close"
    assert found.because.startswith("whether B1 has cover from F1 is too close to call, by ")


def test_g_7_bases_less_sure_than_they_are_deep_have_cover_or_not_by_chance():
    found = answered(covered_by_a_trench(0.5, sigma_mm=10.0))
    assert (found.answer, 0.0 < found.probability < 1.0) == ("too_close", True)
