"""Rulings renewed again and again, whatever changes in between, are those made afresh each time."""

from dataclasses import replace

import pytest

from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.rulings import rulings_document
from tablecam.table.model import Commander, Terrain
from tests.rules.maurice.afresh import afresh
from tests.rules.maurice.sheets.sheets_asked import sheet_of
from tests.rules.maurice.tables import gun, line, massed, position

SOUTH = 270.0
SEEN = {"sigma_mm": 0.3, "sigma_deg": 0.3}


def piece(kind, left_mm, rear_mm, right_mm, front_mm):
    corners = (left_mm, rear_mm), (right_mm, rear_mm), (right_mm, front_mm), (left_mm, front_mm)
    return Terrain(kind, kind, corners)


WALL, WOOD = piece("wall", 400, 438, 640, 442), piece("woods", 600, 450, 660, 540)
GROUND = [WOOD, piece("hill", 600, 400, 800, 620), piece("stream", 900, 420, 1100, 440)]
START = position(
    line("F1", "french", 500, 420, **SEEN),
    gun("F3", "french", 900, 420, **SEEN),
    line("B1", "british", 520, 460.5, SOUTH, **SEEN),
    massed("B2", "british", 720, 520, SOUTH, **SEEN),
    gun("B3", "british", 370, 420, 0.0, **SEEN),
    terrain=[WALL, WOOD],
    commanders=[Commander("cinc", "french", 600, 200, sigma_mm=0.3)],
)
"""A melee with a wall, woods, guns on either side and a commander, all measured."""


def with_units(table, *units):
    changed = {unit.id: unit for unit in units}
    return replace(table, units=tuple(changed.get(unit.id, unit) for unit in table.units))


def moved(table, which, x_mm, back_mm):
    """The table with a unit moved aside and back, away from its enemies."""
    unit = table.units[which % len(table.units)]
    y_mm = -back_mm if unit.side == "french" else back_mm
    bases = (replace(base, x_mm=base.x_mm + x_mm, y_mm=base.y_mm + y_mm) for base in unit.bases)
    return with_units(table, replace(unit, bases=tuple(bases)))


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
        lambda table, _: replace(table, terrain=(WOOD,)),
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
    """What the page says of the first unit and the last, and what it warns of."""
    first, *_, last = found.field.by_id
    return (
        sheet_of(found, first).to_json(),
        sheet_of(found, first, last).to_json(),
        found.field.warnings,
    )


@pytest.mark.parametrize("change", CHANGES)
def test_rulings_renewed_through_any_change_are_those_made_afresh(change):
    """One of two that fight is changed; who moves besides, and how far, are others each time."""
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
        # Not at once: what nobody has asked of a table is asked of the next.
        if number > 1:
            documents.append(rulings_document(known))
    words = said(known)
    for table, document in zip(tables[2:], documents, strict=True):
        anew = Rulings(afresh(table), "french")
        assert document == rulings_document(anew)
    assert words == said(anew)
