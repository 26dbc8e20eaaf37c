"""Changes of formation and places put together in closed form (M-6.23, M-6.24)."""

from __future__ import annotations

from dataclasses import replace

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import affinity

from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.movement.formation_changes import formation_changes
from tablecam.rules.maurice.movement.judge import judge_move
from tablecam.table.formation import read_formation
from tablecam.table.model import BasePose, Unit
from tests.rules.maurice.tables import column, gun, line, massed, position

FAR = line("B9", "british", 100, 1150, 270)


def broad(unit: Unit, width_mm: float, depth_mm: float, heading_deg: float) -> Unit:
    """The same formation of bases of another size, flush about the same middle."""
    here = unit.bases
    middle_x = sum(base.x_mm for base in here) / 4
    middle_y = sum(base.y_mm for base in here) / 4
    places = [
        ((base.x_mm - middle_x) * width_mm / 40, (base.y_mm - middle_y) * depth_mm / 40)
        for base in here
    ]
    by_deg = heading_deg - 90
    turned = [affinity.rotate(shapely.Point(at), by_deg, origin=(0, 0)) for at in places]
    bases = tuple(
        BasePose(middle_x + at.x, middle_y + at.y, heading_deg, width_mm, depth_mm) for at in turned
    )
    return replace(unit, bases=bases, formation=None)


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from([line, column, massed]),
    st.sampled_from(["infantry", "cavalry"]),
    st.floats(40, 55),
    st.floats(30, 40),
    st.floats(0, 359),
)
def test_m_6_24_every_change_lies_flush_in_the_formation_that_it_is_called(
    layer, arm: str, width_mm: float, depth_mm: float, heading_deg: float
) -> None:
    laid = layer("F1", "french", 900, 600, 90.0, arm="cavalry" if layer is massed else arm)
    start = broad(laid, width_mm, depth_mm, heading_deg)
    unit = field_of(position(start, FAR)).by_id["F1"]
    found = list(formation_changes(unit))
    assert found
    for name, bases in found:
        there = replace(start, bases=bases)
        assert read_formation(there).name == name != unit.formation
        outline = field_of(position(there, FAR)).by_id["F1"].outline
        assert outline.area == pytest.approx(4 * width_mm * depth_mm, rel=1e-3)


@pytest.mark.parametrize(
    ("unit", "names"),
    [
        (line("F1", "french", 900, 600), ["column"] * 2),
        (line("F1", "french", 900, 600, arm="cavalry"), ["column"] * 2 + ["massed"] * 3),
        (column("F1", "french", 900, 600), ["line"] * 2),
        (column("F1", "french", 900, 600, arm="cavalry"), ["line"] * 2 + ["massed"] * 2),
        (massed("F1", "french", 900, 600), ["line"] * 3 + ["column"] * 2),
        (gun("F1", "french", 900, 600), []),
    ],
    ids=["foot in line", "horse in line", "foot in column", "horse in column", "massed", "gun"],
)
def test_m_6_23_each_arm_changes_as_it_may_and_every_change_is_judged_legal(
    unit: Unit, names: list[str]
) -> None:
    field = field_of(position(unit, FAR))
    found = list(formation_changes(field.by_id["F1"]))
    assert [name for name, _ in found] == names
    for _, bases in found:
        assert judge_move(field, field.by_id["F1"], bases).is_legal.answer == "yes"
