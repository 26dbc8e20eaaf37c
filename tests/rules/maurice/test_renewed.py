"""Rulings after a move are those made afresh; what cannot have changed is taken over."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.rules.maurice.field import field_of
from tablecam.rules.maurice.renewed import renewed
from tablecam.rules.maurice.rulings import all_rulings, rulings_document
from tablecam.table.model import Terrain
from tests.rules.maurice.tables import gun, line, massed, position

SOUTH = 270.0
WOOD = Terrain("wood", "woods", ((480, 480), (560, 480), (560, 540), (480, 540)))
UNITS = (
    line("F1", "french", 500, 420),
    line("F2", "french", 700, 420),
    massed("F3", "french", 900, 300),
    gun("F4", "french", 1100, 420),
    line("B1", "british", 500, 600, SOUTH),
    massed("B2", "british", 720, 700, SOUTH),
    line("B3", "british", 1100, 900, SOUTH),
    line("F5", "french", 1500, 200),
)
BEFORE = all_rulings(field_of(position(*UNITS, terrain=[WOOD])), "french")


def moved(unit, x_mm, y_mm):
    bases = tuple(
        replace(base, x_mm=base.x_mm + x_mm, y_mm=base.y_mm + y_mm) for base in unit.bases
    )
    return replace(unit, bases=bases)


@settings(max_examples=25)
@given(
    st.sampled_from([0, 1, 2, 4, 5]),
    st.floats(-18, 18),
    st.floats(-90, 0) | st.floats(-18, 18),
    st.integers(0, 4),
)
def test_rulings_after_a_move_are_those_made_afresh(which, x_mm, y_mm, disruption):
    units = list(UNITS)
    there = moved(units[which], x_mm, y_mm if units[which].side == "french" else -y_mm)
    units[which] = replace(there, state={"disruption": disruption})
    field = field_of(position(*units, terrain=[WOOD]))
    wanted = rulings_document(all_rulings(field, "french"))
    assert rulings_document(renewed(BEFORE, field)) == wanted


def test_what_is_out_of_reach_is_taken_over():
    field = field_of(position(*UNITS[:-1], moved(UNITS[-1], 10, 10), terrain=[WOOD]))
    after = renewed(BEFORE, field)
    assert after.units["F1"].charge is BEFORE.units["F1"].charge
    assert after.units["F5"].charge is not BEFORE.units["F5"].charge
    assert after.pair("F1", "B1") is BEFORE.pair("F1", "B1")


def test_new_terrain_and_lost_units_change_all():
    for field in (
        field_of(position(*UNITS)),
        field_of(position(*UNITS[1:], terrain=[WOOD])),
    ):
        wanted = rulings_document(all_rulings(field, "french"))
        assert rulings_document(renewed(BEFORE, field)) == wanted


def measured(unit):
    bases = tuple(replace(base, sigma_mm=0.3, sigma_deg=0.3) for base in unit.bases)
    return replace(unit, bases=bases)


def test_doubts_after_a_move_are_those_made_afresh():
    seen = [measured(unit) for unit in UNITS]
    before = all_rulings(field_of(position(*seen, terrain=[WOOD])), "french")
    seen[0] = moved(seen[0], 1.5, -0.8)
    field = field_of(position(*seen, terrain=[WOOD]))
    wanted = rulings_document(all_rulings(field, "french"))
    assert rulings_document(renewed(before, field)) == wanted
