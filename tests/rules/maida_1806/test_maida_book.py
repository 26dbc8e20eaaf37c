"""Rulings on counters as they lie, with the doubts of a real table."""

from __future__ import annotations

from dataclasses import replace

from tablecam.rules.hexes.counters import laid
from tablecam.rules.hexes.grid import grid_of
from tablecam.rules.maida_1806.book import BOOK
from tablecam.table.model import Position, TableSize, Unit
from tests.rules.maida_1806.games import OPEN

GRID = grid_of(OPEN)


def counter(name, side, *hexes, facing_deg=60, **keys):
    base = replace(laid(GRID, hexes, facing_deg, tag=None), **keys)
    return Unit(name, side, "infantry", (base,))


def lines(*units, of):
    position = Position("maida-1806", TableSize(400, 450, hex_map=OPEN), units)
    handle = BOOK.rulings(position, "french")
    report = BOOK.unit_sheet(handle, *of) if len(of) == 1 else BOOK.pair_sheet(handle, *of)
    return {line.text: line.answer.answer if line.answer else "" for line in report.lines}


def test_a_counter_says_in_which_hex_it_lies_and_its_zones_d_g3_d_g5():
    found = lines(counter("A", "french", "0505"), of=("A",))
    assert found["A lies in 0505, 10.0 mm from its side"] == "yes"
    assert found["A faces north-east ↗"] == "yes"
    assert "Front: 0504, 0604" in found


def test_a_counter_near_a_hexside_is_in_doubt_and_says_so_d_g3():
    _x_mm, y_mm = GRID.centre_mm(GRID.cube("0505"))
    near = counter("A", "french", "0505", y_mm=y_mm - 9.7, sigma_mm=0.4)
    found = lines(near, of=("A",))
    assert found["A lies in 0505, 0.3 mm from its side"] == "too_close"


def test_sight_and_reactions_between_two_counters_d_14_2_d_13_1():
    units = (
        counter("A", "french", "0805"), counter("B", "british", "0804", facing_deg=240),
        counter("C", "french", "0904"),
    )  # fmt: skip
    found = lines(*units, of=("A", "B"))
    assert found["A has B in sight"] == "yes"
    assert found["B reacts if A moves here"] == "yes"
    hidden = lines(*units, of=("A", "C"))
    assert hidden["0804 hide C from A"] == "no"
    clash = lines(units[0], counter("D", "british", "0805"), of=("A", "D"))
    assert clash["A and D lie in the same hex"] == "no"
