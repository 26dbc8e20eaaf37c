"""The referee looks at a table only when it has come to rest."""

from dataclasses import replace

from tablecam.table.model import Terrain
from tablecam.table.motion import TABLE_RESTS_AFTER_S as REST_S
from tablecam.table.motion import TableMotion
from tests.referee.tables import moved, table


def measured(seen):
    units = tuple(
        replace(
            unit, bases=tuple(replace(base, sigma_mm=0.2, sigma_deg=0.3) for base in unit.bases)
        )
        for unit in seen.units
    )
    return replace(seen, units=units)


def test_a_table_is_told_once_when_it_has_lain_still():
    rest, still = TableMotion(), table()
    assert rest.see(still, 0.0) is None
    assert rest.see(still, 0.5 * REST_S) is None
    assert rest.see(still, REST_S) == still
    assert rest.see(still, 2 * REST_S) is None


def test_nothing_is_told_while_a_hand_moves_things():
    rest = TableMotion()
    for step in range(10):
        assert rest.see(moved(table(), "F1", 5.0 * step), step * 0.5 * REST_S) is None
    last = moved(table(), "F1", 45.0)
    assert rest.see(last, 4.5 * REST_S + REST_S) == last


def test_trembling_within_sigma_is_no_move():
    rest = TableMotion()
    rest.see(measured(table()), 0.0)
    assert rest.see(measured(moved(table(), "F1", 0.1)), REST_S) is not None
    assert rest.see(measured(moved(table(), "F1", -0.1)), 3 * REST_S) is None


def test_a_unit_that_is_hidden_where_it_lay_has_not_moved():
    rest = TableMotion()
    rest.see(table(), 0.0)
    rest.see(table(), REST_S)
    unit = table().units[0]
    held = replace(unit, bases=tuple(replace(base, seen="held") for base in unit.bases))
    hidden = replace(table(), units=(held, *table().units[1:]))
    assert rest.see(hidden, 2 * REST_S) is None
    assert rest.see(hidden, 4 * REST_S) is None


def test_ground_that_is_laid_anew_is_told_once_though_no_base_moves():
    rest = TableMotion()
    rest.see(table(), 0.0)
    rest.see(table(), REST_S)
    laid = replace(table(), terrain=(Terrain("wood", "woods", ((0, 0), (90, 0), (90, 90))),))
    assert rest.see(laid, 2 * REST_S) is None
    assert rest.see(laid, 3 * REST_S) == laid
    assert rest.see(laid, 4 * REST_S) is None
