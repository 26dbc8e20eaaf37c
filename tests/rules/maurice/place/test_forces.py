"""Forces (M-1.15 to M-1.17, M-4.14): the book's examples (T-4, T-13), and irrelevant changes."""

import pytest

from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.place.ranges import (
    close_call_links,
    first_unlinked,
    forces,
    link,
    possible_forces,
)
from tablecam.table.model import Unit
from tablecam.testing import shifted
from tests.rules.maurice.tables import box, column, line, massed, position


def chain(*gaps_mm: float, start: int = 1) -> list[Unit]:
    """Lines side by side, F1, F2, ..., with these gaps between them."""
    places = [120.0]
    for gap_mm in gaps_mm:
        places.append(places[-1] + 160.0 + gap_mm)
    return [line(f"F{start + i}", "french", x_mm, 400) for i, x_mm in enumerate(places)]


FOUR = [*chain(80, 80, 80), column("F5", "french", 840, 400 + 20 + 80 + 80)]
HORSE = [massed(f"F{i}", "french", 300 + 140 * i, 400) for i in (1, 2, 3)]
COPSE = [box("woods", 570, 430, 590, 470)]
MARSH, WOODS = box("marsh", 0, 0, 240, 1200), box("woods", 240, 0, 600, 1200)
BETWEEN = [line("B1", "british", 240, 405, 0.0), massed("F9", "french", 240, 600)]
OTHER_ARMS = [line("F1", "french", 200, 400), line("F2", "french", 400, 400, arm="cavalry")]
TORN = tuple(pose for each in chain(500) for pose in each.bases[:2])
LOOSE = [
    Unit("F1", "french", "infantry", TORN),
    shifted(Unit("F2", "french", "infantry", TORN), 0, 60),
]


@pytest.mark.parametrize(
    ("units", "terrain", "wanted"),
    [
        pytest.param(FOUR, [], ["F1 F2 F3 F4", "F5"], id="T-13 a row, and a column beside it"),
        pytest.param(HORSE, [], ["F1 F2 F3"], id="T-13 horse"),
        pytest.param(HORSE, COPSE, ["F1", "F2", "F3"], id="T-13 the one between in woods"),
        pytest.param(chain(80), [MARSH, WOODS], ["F1 F2"], id="T-13 kinds of difficult ground mix"),
        pytest.param(chain(80), [MARSH], ["F1", "F2"], id="T-13 but not with the open"),
        pytest.param(chain(80.01), [], ["F1", "F2"], id="a hair more than 2 BW"),
        pytest.param(chain(40, 200, 40), [], ["F1 F2", "F3 F4"], id="two pairs far apart"),
        pytest.param([*chain(80), *BETWEEN], [], ["F1 F2", "F9"], id="others between"),
        pytest.param(OTHER_ARMS, [], ["F1", "F2"], id="arms"),
        pytest.param(LOOSE, [], ["F1", "F2"], id="formations that are unclear"),
    ],
)
def test_m_1_15_a_force_is_a_chain_of_units_of_a_kind_within_2_bw(units, terrain, wanted) -> None:
    found = forces(field_of(position(*units, terrain=terrain)), "french")
    assert [" ".join(force) for force in found] == wanted
    others = forces(field_of(position(*units[::-1], terrain=terrain)), "french")
    assert {frozenset(force) for force in others} == {frozenset(force) for force in found}


def test_m_4_14_part_of_a_force_is_a_force_only_while_it_hangs_together() -> None:
    field = field_of(position(*chain(40, 40)))
    assert first_unlinked(field, ["F2", "F3"]) is None
    assert first_unlinked(field, ["F3", "F1", "F2"]) is None
    assert first_unlinked(field, ["F1"]) is None
    assert first_unlinked(field, ["F1", "F3"]) == "F3"


def test_m_1_15_a_link_tells_its_margin_or_what_parts_the_two() -> None:
    field = field_of(position(*chain(70), column("F3", "french", 500, 400)))
    units = field.by_id
    assert link(field, units["F1"], units["F2"]).margin_mm == pytest.approx(10.0)
    apart = link(field, units["F2"], units["F3"])
    assert apart.answer == "no"
    assert apart.because == "one is in line, the other in column"


def test_m_1_15_a_link_at_2_bw_with_measured_bases_is_in_doubt() -> None:
    units = [line(f"F{i}", "french", 120 + 240 * i, 400, sigma_mm=0.4) for i in (0, 1)]
    (doubt,) = close_call_links(field_of(position(*units)), "french")
    assert (doubt.answer, doubt.rule) == ("too_close", "M-1.15")
    assert close_call_links(field_of(position(*chain(80))), "french") == ()


def test_m_1_15_units_laid_at_2_bw_may_be_one_force_however_the_camera_errs() -> None:
    for off_mm in (-0.3, 0.3):
        far = 360.0 + off_mm
        units = [line(f"F{i}", "french", x, 400, sigma_mm=0.4) for i, x in ((1, 120.0), (2, far))]
        field = field_of(position(*units))
        assert possible_forces(field, field.of_side("french")) == (("F1", "F2"),)
    assert forces(field, "french") == (("F1",), ("F2",))
    apart = field_of(position(*chain(80.3)))
    assert possible_forces(apart, apart.of_side("french")) == (("F1",), ("F2",))
