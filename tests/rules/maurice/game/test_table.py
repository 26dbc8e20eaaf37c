"""The table of a state is prepared once, with the same result as a fresh one."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tablecam.errors import BadInput
from tablecam.rules.maurice.charge.charge import charges
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.fire.fire import fire_of_units
from tablecam.rules.maurice.game.command import CommandChoice
from tablecam.rules.maurice.game.table import field_at, field_on, forces_at
from tablecam.rules.maurice.place.ranges import forces
from tablecam.table.model import Position
from tablecam.testing import shifted
from tests.rules.maurice.game.states import state_at
from tests.rules.maurice.game.varied_games import small_tables
from tests.rules.maurice.tables import box, line, position


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(small_tables, st.integers(0, 8), st.floats(-60, 60), st.floats(-60, 60), st.integers(0, 1))
def test_what_units_may_do_and_is_taken_over_is_as_if_asked_afresh(
    table: Position, which: int, x: float, y: float, disruption: int
) -> None:
    names = [unit.id for unit in table.units]
    before = state_at(table, CommandChoice())
    fire_of_units(field_at(before), names)
    charges(field_at(before), names)
    for side in ("french", "british"):
        forces_at(before, side)
    place = which % len(names)
    first, others = table.units[place], (table.units[:place], table.units[place + 1 :])
    for instead in ([shifted(first, x, y)], [replace(first, state={"disruption": disruption})], []):
        left = (*others[0], *instead, *others[1])
        try:
            fresh = field_of(replace(table, units=left))
        except BadInput:
            continue  # it was shifted onto another unit
        after = state_at(fresh.position, CommandChoice())
        there = [unit.id for unit in left]
        assert fire_of_units(field_at(after), there) == fire_of_units(fresh)
        assert charges(field_at(after), there) == charges(fresh)
        for side in ("french", "british"):
            assert forces_at(after, side) == forces(fresh, side)


def test_what_lies_out_of_reach_of_all_that_moved_is_not_asked_again() -> None:
    near = line("F1", "french", 500, 500), line("B1", "british", 500, 640, 270.0)
    far = line("F2", "french", 1500, 200)
    before = state_at(position(*near, far), CommandChoice())
    known = fire_of_units(field_at(before), ["F1"])["F1"], charges(field_at(before), ["F1"])["F1"]
    after = state_at(position(*near, shifted(far, 0, 20)), CommandChoice())
    assert fire_of_units(field_at(after), ["F1"])["F1"] is known[0]
    assert charges(field_at(after), ["F1"])["F1"] is known[1]


def test_a_table_is_made_ready_once() -> None:
    table = position(line("F1", "french", 500, 500))
    assert field_on(table) is field_on(table)


def test_in_rough_going_difficult_ground_is_barred_and_no_more_than_that() -> None:
    rough = box("rough", 100, 100, 200, 200)
    table = position(line("F1", "french", 500, 500), terrain=(rough,))
    as_ever = field_at(state_at(table, CommandChoice())).ground
    closed = field_at(state_at(table, CommandChoice(), is_rough_going=True)).ground
    assert as_ever.barred.is_empty
    assert closed.barred.area == 10_000
    assert closed.impassable.is_empty
    assert closed.difficult.area == as_ever.difficult.area
