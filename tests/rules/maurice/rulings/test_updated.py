"""Rulings after a move are those made afresh; what cannot have changed is remembered."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.rulings import rulings_document
from tablecam.table.model import Commander, Terrain
from tests.rules.maurice.afresh import afresh
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
BEFORE = position(*UNITS, terrain=[WOOD])


def ruled(where):
    return Rulings(field_of(where), "french")


def check_after(before, after):
    """What rulings say of a table after one of another was asked is what they say at once."""
    rulings_document(ruled(before))
    remembered = rulings_document(ruled(after))
    assert remembered == rulings_document(Rulings(afresh(after), "french"))


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
    check_after(BEFORE, position(*units, terrain=[WOOD]))


def test_what_is_out_of_reach_is_remembered():
    before = ruled(BEFORE)
    after = ruled(position(*UNITS[:-1], moved(UNITS[-1], 10, 10), terrain=[WOOD]))
    assert after.units["F1"].charge is before.units["F1"].charge
    assert after.units["F5"].charge is not before.units["F5"].charge
    assert after.views("F1", "B1")[0].to_flank is before.views("F1", "B1")[0].to_flank


def test_new_terrain_and_lost_units_change_all():
    for after in (position(*UNITS), position(*UNITS[1:], terrain=[WOOD])):
        check_after(BEFORE, after)


def measured(unit):
    bases = tuple(replace(base, sigma_mm=0.3, sigma_deg=0.3) for base in unit.bases)
    return replace(unit, bases=bases)


def test_doubts_after_a_move_are_those_made_afresh():
    seen = [measured(unit) for unit in UNITS]
    before = position(*seen, terrain=[WOOD])
    seen[0] = moved(seen[0], 1.5, -0.8)
    check_after(before, position(*seen, terrain=[WOOD]))


CINC = Commander("cinc", "french", 600, 100)
MELEE = (
    line("F1", "french", 500, 420),
    line("F2", "french", 700, 425),
    line("F3", "french", 1500, 200),
    line("B1", "british", 520, 461, SOUTH),
    line("B2", "british", 700, 490, SOUTH),
    line("B3", "british", 340, 420, 0.0),
)
WALL = Terrain("wall", "wall", ((400, 438), (640, 438), (640, 442), (400, 442)))


SEEN = [measured(unit) for unit in MELEE]
FOUGHT = position(*SEEN, terrain=[WALL, WOOD], commanders=[CINC])


@settings(max_examples=4, deadline=None)
@given(
    st.integers(0, len(MELEE)),
    st.floats(-1.0, 1.0),
    st.floats(-1.0, 0.0) | st.floats(-60, -30),
)
def test_a_melee_and_its_strings_after_a_move_are_those_made_afresh(which, x_mm, y_mm):
    """Who touches, flanks, engages and has cover, how sure all of it is, and how far he is off."""
    seen, leader = [*SEEN], CINC
    assert ruled(FOUGHT).close_calls
    if which == len(MELEE):
        leader = replace(CINC, x_mm=CINC.x_mm + x_mm)
    else:
        ahead_mm = y_mm if seen[which].side == "french" else -y_mm
        seen[which] = moved(seen[which], x_mm, ahead_mm)
    check_after(FOUGHT, position(*seen, terrain=[WALL, WOOD], commanders=[leader]))


def test_what_hangs_on_nobody_who_moved_is_remembered():
    seen = [measured(unit) for unit in MELEE]
    before = ruled(position(*seen, terrain=[WALL], commanders=[CINC]))
    seen[2] = moved(seen[2], 10, 10)
    after = ruled(position(*seen, terrain=[WALL], commanders=[CINC]))
    assert after.engagements.melees["F1"] is before.engagements.melees["F1"]
    spans = {path.force: path.span for path in before.paths}
    for path in after.paths:
        assert (path.span is spans[path.force]) == ("F3" not in path.force)
