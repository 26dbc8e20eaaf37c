"""Maps in characters, from which the places of units can be read."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.replay.map_text import COLUMNS, FILLS, map_lines
from tablecam.table.model import Commander, TableSize, Terrain
from tests.rules.maurice.tables import column, gun, line, position

SOUTH = 270.0
ARROWS = "→↗↑↖←↙↓↘"


def drawn(*units, **more):
    """The rows of the map, without its frame, and the legend."""
    lines = map_lines(position(*units, **more))
    rows = [each[1:-1] for each in lines if each.startswith("│")]
    return rows, lines[len(rows) + 2 :]


def place(rows, word):
    """Row and column of a word, which occurs once."""
    (place,) = [(at, row.index(word)) for at, row in enumerate(rows) if word in row]
    return place


def test_a_map_is_as_wide_as_promised_and_half_as_high_as_the_table_is_deep():
    rows, _ = drawn()
    assert len(rows) == 24
    assert all(row == " " * COLUMNS for row in rows)


def test_units_lie_where_they_lie_and_face_where_they_face():
    rows, _ = drawn(line("F1", "french", 600, 325), line("B1", "british", 1200, 875, SOUTH))
    assert place(rows, "██F1██") == (17, 21)
    assert place(rows, "▒▒B1▒▒") == (6, 45)
    assert rows[16][24] == "↑"
    assert rows[7][48] == "↓"


def test_sides_are_told_apart_by_what_they_are_drawn_with():
    rows, legend = drawn(
        gun("A1", "french", 300, 300),
        column("B10", "british", 900, 600),
        gun("P1", "prussian", 1500, 300),
        commanders=(Commander("fc", "french", 300, 800), Commander("bc", "british", 900, 1000)),
    )
    assert place(rows, "█A1")
    assert place(rows, "▒B10")
    assert place(rows, "▓P1")
    assert place(rows, "★") == (8, 12)
    assert place(rows, "☆") == (4, 36)
    assert legend[:3] == ["██ French: A1", "▒▒ British: B10", "▓▓ Prussian: P1"]


@pytest.mark.parametrize(("heading_deg", "arrow"), [*zip(range(0, 360, 45), ARROWS, strict=True)])
def test_every_heading_has_its_arrow(heading_deg, arrow):
    rows, _ = drawn(line("F1", "french", 900, 600, heading_deg))
    assert sum(row.count(arrow) for row in rows) == 1


def test_ground_is_drawn_beneath_units_and_explained():
    outline = ((600, 300), (900, 300), (900, 600), (600, 600))
    terrain = (
        Terrain("w", "woods", outline),
        Terrain("s", "sunken_road", ((0, 900), (1800, 1100), (1800, 1120), (0, 920))),
        Terrain("x", "lava", ((1200, 100), (1400, 100), (1400, 300), (1200, 300))),
    )
    rows, legend = drawn(line("F1", "french", 750, 475), terrain=terrain)
    assert sum(row.count("♣") for row in rows) == 12 * 6 - 6 - 1  # a unit and its arrow
    assert all(any(row[column] == "-" for row in rows) for column in range(COLUMNS))
    assert sum(row.count("o") for row in rows) == 8 * 4
    assert legend[-1] == (
        "♣ woods, - sunken road, o lava; a character is 0.6 BW wide and 1.2 BW high"
    )


def test_what_the_game_knows_of_units_stands_beneath():
    known = line("F1", "french", 600, 300, disruption=2)
    _, legend = drawn(known, line("F2", "french", 900, 300, disruption=0))
    assert legend[0] == "██ French: F1 (2 disruptions), F2"


def test_units_beyond_the_table_or_without_bases_do_no_harm():
    off = line("F1", "french", -200, 2000)
    rows, legend = drawn(off, replace(line("F2", "french", 0, 0), bases=()))
    assert rows[0].startswith("█F1") or rows[0].startswith("F1")
    assert legend[0] == "██ French: F1"


@given(
    width_mm=st.floats(100, 5000),
    depth_mm=st.floats(100, 5000),
    x=st.floats(0, 1),
    y=st.floats(0, 1),
    heading_deg=st.floats(0, 360),
    name=st.sampled_from(["F1", "B", "Garde-du-corps-3"]),
)
def test_any_unit_on_any_table_is_named_once(width_mm, depth_mm, x, y, heading_deg, name):
    table = TableSize(width_mm, depth_mm, 40.0)
    made = position(line(name, "french", x * width_mm, y * depth_mm, heading_deg))
    lines = map_lines(replace(made, table=table))
    rows = [each for each in lines if each.startswith("│")]
    assert all(len(row) == COLUMNS + 2 for row in rows)
    assert sum(name in row for row in rows) == 1
    assert any(FILLS[0] in row for row in rows)
