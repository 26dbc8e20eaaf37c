"""Random small battles: units of all arms in all formations on cells of a table, and ground."""

from __future__ import annotations

from hypothesis import strategies as st

from tablecam.table.model import Commander, Position, Terrain, Unit
from tests.rules.maurice.tables import column, gun, line, massed, position

CELL_MM = 180.0
COLUMNS, ROWS = 5, 4
"""A cell holds a unit that faces anywhere: a column is 165 mm from corner to corner."""


@st.composite
def units(draw: st.DrawFn, most: int = 9) -> list[Unit]:
    """Units on cells of their own, the first of them french, the second british."""
    cells = draw(
        st.lists(
            st.tuples(st.integers(0, COLUMNS - 1), st.integers(0, ROWS - 1)),
            min_size=3,
            max_size=most,
            unique=True,
        )
    )
    return [draw(_on_cell(place, cell)) for place, cell in enumerate(cells)]


@st.composite
def _on_cell(draw: st.DrawFn, place: int, cell: tuple[int, int]) -> Unit:
    side = ("french", "british")[place % 2]
    layer, arm = draw(
        st.sampled_from(
            [
                (line, "infantry"),
                (line, "cavalry"),
                (massed, "cavalry"),
                (column, "infantry"),
                (column, "cavalry"),
                (gun, "artillery"),
            ]
        )
    )
    x_mm, y_mm = (400 + (each + 0.5) * CELL_MM for each in cell)
    slip = st.floats(-7.0, 7.0)
    most = 1 if arm == "artillery" else 4
    return layer(
        f"{side[0].upper()}{place}",
        side,
        x_mm + draw(slip),
        y_mm + draw(slip),
        draw(st.sampled_from([0.0, 90.0, 180.0, 270.0]) | st.floats(0.0, 359.0)),
        arm=arm,
        disruption=draw(st.integers(0, most)),
        smoke=arm == "artillery" and draw(st.booleans()),
    )


@st.composite
def grounds(draw: st.DrawFn) -> tuple[Terrain, ...]:
    """Up to three boxes of ground of different kinds, anywhere."""
    kinds = ("woods", "rough", "wall", "impassable", "marsh", "hill", "crest")
    found = []
    for place in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(kinds))
        x_mm, y_mm = draw(st.floats(300, 1300)), draw(st.floats(300, 1100))
        deep_mm = 6.0 if kind in ("wall", "crest") else draw(st.floats(20, 150))
        far_x, far_y = x_mm + draw(st.floats(40, 250)), y_mm + deep_mm
        corners = ((x_mm, y_mm), (far_x, y_mm), (far_x, far_y), (x_mm, far_y))
        found.append(Terrain(f"g{place}", kind, corners))
    return tuple(found)


@st.composite
def clashes(draw: st.DrawFn) -> Position:
    """Three units of foot or horse a charge away from as many enemies, on any ground."""
    found = []
    for place in range(3):
        arm, layer = draw(
            st.sampled_from([("infantry", line), ("cavalry", line), ("cavalry", massed)])
        )
        x_mm, y_mm = 400 + 200 * place + draw(st.floats(-12, 12)), draw(st.floats(440, 500))
        levels = st.integers(0, 3)
        found.append(layer(f"F{place}", "french", x_mm, y_mm, arm=arm, disruption=draw(levels)))
        x_mm, y_mm = 400 + 200 * place + draw(st.floats(-90, 90)), draw(st.floats(590, 640))
        foe = draw(st.sampled_from([line, gun]))
        by_deg = draw(st.sampled_from([270.0, 262.0, 280.0]))
        arm = "artillery" if foe is gun else "infantry"
        levels = st.integers(0, 1 if foe is gun else 4)
        found.append(
            foe(f"B{place}", "british", x_mm, y_mm, by_deg, arm=arm, disruption=draw(levels))
        )
    return position(*found, terrain=draw(grounds()))


@st.composite
def battles(draw: st.DrawFn) -> Position:
    """A table with units, ground and both commanders."""
    commanders = (
        Commander("french-cinc", "french", draw(st.floats(300, 1400)), draw(st.floats(200, 1100))),
        Commander(
            "british-cinc", "british", draw(st.floats(300, 1400)), draw(st.floats(200, 1100))
        ),
    )
    return position(*draw(units()), terrain=draw(grounds()), commanders=commanders)
