"""Rulings after a move equal fresh ones; those that cannot have changed are cached."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.rulings import rulings_document
from tablecam.table.model import Commander
from tablecam.testing import shifted
from tests.rules.maurice.afresh import afresh
from tests.rules.maurice.sheets.sheets_asked import sheet_of
from tests.rules.maurice.tables import SOUTH, box, gun, line, massed, position

WOOD = box("woods", 480, 480, 560, 540, "wood")
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
    """Checks that rulings on a table do not depend on an earlier table."""
    rulings_document(ruled(before))
    remembered = rulings_document(ruled(after))
    assert remembered == rulings_document(Rulings(afresh(after), "french"))


@settings(max_examples=25)
@given(
    st.sampled_from([0, 1, 2, 4, 5]),
    st.floats(-18, 18),
    st.floats(-90, 0) | st.floats(-18, 18),
    st.integers(0, 4),
)
def test_rulings_after_a_move_are_those_made_afresh(which, x_mm, y_mm, disruption):
    units = list(UNITS)
    there = shifted(units[which], x_mm, y_mm if units[which].side == "french" else -y_mm)
    units[which] = replace(there, state={"disruption": disruption})
    check_after(BEFORE, position(*units, terrain=[WOOD]))


def test_what_is_out_of_reach_is_remembered():
    before = ruled(BEFORE)
    after = ruled(position(*UNITS[:-1], shifted(UNITS[-1], 10, 10), terrain=[WOOD]))
    assert after.units["F1"].charge is before.units["F1"].charge
    assert after.units["F5"].charge is not before.units["F5"].charge
    assert after.views("F1", "B1")[0].to_flank is before.views("F1", "B1")[0].to_flank


ERROR = {"sigma_mm": 0.3, "sigma_deg": 0.3}
CINC = Commander("cinc", "french", 600, 100)
MELEE = (
    line("F1", "french", 500, 420, **ERROR),
    line("F2", "french", 700, 425, **ERROR),
    line("F3", "french", 1500, 200, **ERROR),
    line("B1", "british", 520, 461, SOUTH, **ERROR),
    line("B2", "british", 700, 490, SOUTH, **ERROR),
    line("B3", "british", 340, 420, 0.0, **ERROR),
)
WALL = box("wall", 400, 438, 640, 442)


def test_what_hangs_on_nobody_who_moved_is_remembered():
    seen = [*MELEE]
    before = ruled(position(*seen, terrain=[WALL], commanders=[CINC]))
    seen[2] = shifted(seen[2], 10, 10)
    after = ruled(position(*seen, terrain=[WALL], commanders=[CINC]))
    assert after.engagements.melees["F1"] is before.engagements.melees["F1"]
    spans = {path.force: path.span for path in before.paths}
    for path in after.paths:
        assert (path.span is spans[path.force]) == ("F3" not in path.force)


# Repeated rulings, with any change in between.

COPSE = box("woods", 600, 450, 660, 540)
GROUND = [COPSE, box("hill", 600, 400, 800, 620), box("stream", 900, 420, 1100, 440)]
START = position(
    line("F1", "french", 500, 420, **ERROR),
    gun("F3", "french", 900, 420, **ERROR),
    line("B1", "british", 520, 460.5, SOUTH, **ERROR),
    massed("B2", "british", 720, 520, SOUTH, **ERROR),
    gun("B3", "british", 370, 420, 0.0, **ERROR),
    terrain=[WALL, COPSE],
    commanders=[Commander("cinc", "french", 600, 200, sigma_mm=0.3)],
)
"""A melee with a wall, woods, guns on both sides and a commander, all measured."""


def with_units(table, *units):
    changed = {unit.id: unit for unit in units}
    return replace(table, units=tuple(changed.get(unit.id, unit) for unit in table.units))


def moved(table, which, x_mm, back_mm):
    """The table with a unit moved sideways and back, away from its enemies."""
    unit = table.units[which % len(table.units)]
    return with_units(table, shifted(unit, x_mm, -back_mm if unit.side == "french" else back_mm))


def with_base(table, which, **known):
    unit = table.units[which % len(table.units)]
    return with_units(
        table, replace(unit, bases=(replace(unit.bases[0], **known), *unit.bases[1:]))
    )


def without(table, which):
    gone = table.units[which % len(table.units)]
    return replace(table, units=tuple(unit for unit in table.units if unit is not gone))


def with_state(table, which, **state):
    return with_units(table, replace(table.units[which % len(table.units)], state=state))


CHANGES = {
    "a unit is taken off and put back": (without, lambda *_: START),
    "units trade places in the list": (
        lambda table, _: replace(table, units=table.units[::-1]),
        lambda table, _: replace(table, units=table.units[::-1]),
    ),
    "terrain is laid and taken off": (
        lambda table, which: replace(table, terrain=(*table.terrain, GROUND[1 + which % 2])),
        lambda table, _: replace(table, terrain=(COPSE,)),
    ),
    "a base is hidden and seen again": (
        lambda table, which: with_base(table, which, seen="held", sigma_mm=0.9),
        lambda table, which: with_base(table, which, seen="now", sigma_mm=0.3),
    ),
    "another tag is glued on, elsewhere": (
        lambda table, which: with_base(table, which, tag=40, tag_forward_mm=-11.0),
        lambda table, which: with_base(table, which, tag=41, tag_right_mm=6.0, tag_forward_mm=0.0),
    ),
    "a unit is disrupted and rallies": (
        lambda table, which: with_state(table, which, disruption=2, smoke=True),
        lambda table, which: with_state(table, which),
    ),
    "a unit is known exactly, and then no more": (
        lambda table, which: with_base(table, which, sigma_mm=0.0, sigma_deg=0.0),
        lambda table, which: with_base(table, which, sigma_mm=1.5, sigma_deg=1.0),
    ),
    "players call more a draw": (
        lambda table, _: replace(table, table=replace(table.table, tolerance_mm=1.0)),
        lambda table, _: replace(table, table=START.table),
    ),
    "the commander rides off and leaves": (
        lambda table, _: replace(table, commanders=(Commander("cinc", "french", 800, 300),)),
        lambda table, _: replace(table, commanders=()),
    ),
}


def said(found):
    """Returns the page's sheets on the first and last unit, and its warnings."""
    first, *_, last = found.field.by_id
    return (
        sheet_of(found, first).to_json(),
        sheet_of(found, first, last).to_json(),
        found.field.warnings,
    )


@pytest.mark.parametrize("change", CHANGES)
def test_rulings_renewed_through_any_change_are_those_made_afresh(change):
    """One of two fighting units changes, while another moves, differently each time."""
    there, back = CHANGES[change]
    place = [*CHANGES].index(change)
    which, other = (0, 2)[place % 2], (2 * place + 1) % 5
    x_mm, back_mm = (-0.7, 0.3, 0.9)[place % 3], (0.4, 17.0, 0.0, 28.0)[place % 4]
    tables = [START, there(START, which)]
    tables.append(moved(tables[-1], other, x_mm, back_mm))
    tables.append(back(tables[-1], which))
    documents = []
    for number, table in enumerate(tables):
        known = Rulings(field_of(table), "french")
        # The first two tables are not asked: rulings on later ones must not depend on that.
        if number > 1:
            documents.append(rulings_document(known))
    words = said(known)
    for table, document in zip(tables[2:], documents, strict=True):
        anew = Rulings(afresh(table), "french")
        assert document == rulings_document(anew)
    assert words == said(anew)
