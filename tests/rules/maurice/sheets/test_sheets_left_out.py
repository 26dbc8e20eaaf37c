"""Units that cannot be ruled on as they lie: they are left out, and it is said why."""

from dataclasses import replace

import pytest

from tablecam.table.model import Commander
from tests.rules.maurice.sheets.sheets_asked import UNIT_KEYS, pair_sheet, unit_sheet
from tests.rules.maurice.tables import gun, line, position


@pytest.mark.parametrize("missing", [1, 3])
def test_a_unit_that_lacks_bases_is_left_out_and_the_others_are_ruled_on(missing):
    whole = line("F1", "french", 500, 400)
    partly = replace(whole, bases=whole.bases[missing:])
    where = position(partly, line("F2", "french", 800, 400), line("B1", "british", 800, 540, 270))
    sheet = unit_sheet(where, "F1")
    assert sheet.sections == ()
    assert sheet.warnings == (f"F1 is left out: {4 - missing} of its 4 bases are on the table",)
    other = unit_sheet(where, "F2")
    assert len(other.sections) == len(UNIT_KEYS)
    assert sheet.warnings[0] in other.warnings


def test_what_is_odd_about_other_units_is_not_said_of_a_unit():
    deep = line("F2", "french", 800, 400)
    deep = replace(deep, bases=tuple(replace(base, depth_mm=60.0) for base in deep.bases))
    where = position(line("F1", "french", 500, 400), deep, line("B1", "british", 800, 560, 270))
    (warning,) = unit_sheet(where, "F2").warnings
    assert "F2" in warning
    assert unit_sheet(where, "F1").warnings == ()
    assert pair_sheet(where, "F2", "B1").warnings == (warning,)


def test_units_of_any_name_are_told_what_is_odd_about_them():
    guns = gun("Old Guard", "french", 500, 400), gun("Guard", "french", 538, 400)
    (overlap,) = unit_sheet(position(*guns), "Old Guard").warnings
    assert unit_sheet(position(*guns), "Guard").warnings == (overlap,)
    broken = gun("Old Guard", "french", 500, 400, disruption=2), gun("Guard", "french", 600, 400)
    assert "it is broken" in unit_sheet(position(*broken), "Old Guard").warnings[0]
    assert unit_sheet(position(*broken), "Guard").warnings == ()


def test_a_commander_beside_the_table_is_told_of_to_his_own_side():  # M-4.12
    units = gun("F1", "french", 500, 400), gun("B1", "british", 500, 600)
    where = position(*units, commanders=[Commander("cinc", "french", 500, -100)])
    assert unit_sheet(where, "F1").warnings == ("commander Cinc is 100.0 mm off the table",)
    assert unit_sheet(where, "B1").warnings == ()


def test_a_unit_off_the_table_is_left_out():
    where = position(line("F1", "french", 20, 400), line("B1", "british", 800, 540))
    assert "is off the table" in unit_sheet(where, "F1").warnings[0]


def test_a_unit_of_which_hardly_anything_is_known_is_left_out():
    vague = line("F1", "french", 500, 400, sigma_mm=11.0)
    where = position(vague, line("F2", "french", 900, 400), line("B1", "british", 800, 540))
    assert "is too uncertain" in unit_sheet(where, "F1").warnings[0]
    assert unit_sheet(where, "F2").sections


def test_of_two_units_on_top_of_each_other_the_hidden_one_is_left_out():
    seen = line("F1", "french", 500, 400)
    other = line("B1", "british", 500, 420)
    hidden = replace(other, bases=tuple(replace(base, seen="held") for base in other.bases))
    assert unit_sheet(position(seen, hidden), "F1").sections
    assert not unit_sheet(position(seen, hidden), "B1").sections
    assert not unit_sheet(position(seen, other), "F1").sections


def test_a_pair_with_a_unit_left_out_says_why():
    whole = line("F1", "french", 500, 400)
    partly = replace(whole, bases=whole.bases[1:])
    sheet = pair_sheet(position(partly, line("B1", "british", 800, 540)), "B1", "F1")
    assert sheet.sections == ()
    assert "F1 is left out" in sheet.warnings[0]
