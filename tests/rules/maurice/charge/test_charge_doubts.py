"""The probability of charges that the camera's error could change."""

from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tablecam.geometry.outlines import unit_footprint
from tablecam.rules.maurice.charge.charge import charge_of, charges
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.field.worlds import tilted
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.rulings import rulings_document
from tablecam.table.model import Position
from tests.rules.maurice.rulings.test_as_sure_as_said import at_its_reach
from tests.rules.maurice.tables import SOUTH, box, gun, line, massed, position

ERROR = {"sigma_mm": 0.5, "sigma_deg": 0.2}


def charge(of: Position):
    field = field_of(of)
    return charge_of(field, field.units[0])


FOOT = line("F1", "french", 600, 480, **ERROR)


def test_what_is_clear_is_not_asked():
    for gap_mm in (100, 150, 172, 300):
        enemy = line("1", "british", 600, 520 + gap_mm, SOUTH, **ERROR)
        found = charge(position(FOOT, enemy))
        assert not found.answers
        assert all(found.chance(target) == 1.0 for target in found.targets)


@settings(max_examples=6, deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=3, max_size=3), st.floats(0, 15))
def test_charges_asked_together_are_those_of_each_unit_alone(off_mm, askew_deg):
    """Two lines and a gun face a line and horse, near the limits of their reach."""
    units = (
        line("F1", "french", 500, 480, 90 + askew_deg, **ERROR),
        massed("F2", "french", 720, 360, sigma_mm=0.2, sigma_deg=0.1),
        line("1", "british", 500, 681 + off_mm[0], SOUTH, **ERROR),
        line("2", "british", 700, 721 + off_mm[1], SOUTH, **ERROR),
        gun("3", "british", 840 + off_mm[2], 660, SOUTH, sigma_mm=1.0, sigma_deg=0.5),
    )
    field = field_of(position(*units))
    for unit_id, together in charges(field).items():
        alone = charge_of(field, field.by_id[unit_id])
        assert (together, together.answers) == (alone, alone.answers)


def test_a_margin_below_the_players_tolerance_is_too_close():
    units = line("F1", "french", 600, 480), line("1", "british", 600, 679, SOUTH)
    found = charge(position(*units, tolerance_mm=2.0))
    (doubt,) = found.close_calls
    assert (doubt.answer, doubt.probability) == ("too_close", 1.0)
    assert doubt.margin_mm == pytest.approx(1.0, abs=0.01)
    assert found.targets == ("1",)
    assert not charge(position(*units)).answers


def test_the_document_carries_probabilities_and_doubts():
    field = field_of(at_its_reach(0.4, **ERROR))
    told = rulings_document(Rulings(field, "french"))["units"]["F1"]["charge"]
    (doubt,) = told["doubts"]
    assert (doubt["answer"], doubt["rule"]) == ("too_close", "M-8.3")
    assert doubt["margin_mm"] == pytest.approx(-0.4, abs=0.05)
    assert "F1" in doubt["because"]
    certain = field_of(
        position(line("F1", "french", 600, 480), gun("1", "british", 600, 600, SOUTH))
    )
    told = rulings_document(Rulings(certain, "french"))["units"]["F1"]["charge"]
    assert "doubts" not in told
    assert [lane["probability"] for lane in told["lanes"]] == [1.0]


places = st.tuples(st.floats(480, 720), st.floats(560, 760), st.floats(180, 360))


@settings(max_examples=30, deadline=None)
@given(
    foe=places, battery=st.tuples(st.floats(480, 720), st.floats(560, 760)), deep=st.floats(5, 60)
)
def test_a_world_tilted_for_a_charge_allows_it_wherever_the_table_does(foe, battery, deep):
    wood = box("woods", 500, 540, 620, 540 + deep, "wood")
    units = (
        line("F1", "french", 600, 480),
        line("1", "british", *foe),
        gun("2", "british", *battery, SOUTH),
    )
    shapes = [unit_footprint(unit) for unit in units]
    assume(all(a.distance(b) > 0.5 for a, b in combinations(shapes, 2)))
    field = field_of(position(*units, terrain=[wood]))
    unit, *enemies = field.units
    for enemy in enemies:
        may = [
            enemy.id in charge_of(tilted(field, unit, (enemy.id,), by_mm), unit).targets
            for by_mm in (-2.0, 0.0, 2.0)
        ]
        assert may == sorted(may)
        assert may[1] == (enemy.id in charge_of(field, unit).targets)


@pytest.mark.parametrize("gap_mm", [158.5, 159.5, 160.0, 160.5, 161.2])
@pytest.mark.parametrize("laid", [line, gun])
def test_m_8_3_no_charge_is_surer_than_that_its_target_is_near_enough(laid, gap_mm):
    """Two square lines at 160.0 mm were once near with 0.50, yet could charge with 0.98."""
    enemy = laid("1", "british", 600, 520 + gap_mm, SOUTH, **ERROR)
    found = Rulings(field_of(position(FOOT, enemy)), "french").units["F1"]
    told = [found.charge.chance(target) for target in found.charge.targets]
    told += [answer.probability for answer in found.charge.answers.values()]
    assert told
    # A front is fitted to its bases, so single draws may differ.
    assert max(told) <= found.near.answer.probability + 0.01
    if gap_mm == 160.0:
        assert found.near.answer.answer == "too_close"  # T-39
        assert max(told) == pytest.approx(found.near.answer.probability, abs=0.05)
