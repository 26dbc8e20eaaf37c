"""Forces (M-1.15 to M-1.17, M-4.14): the book's examples (T-4, T-13), and what must not matter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.errors import BadInput
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.place.forces import (
    close_call_links,
    first_unlinked,
    forces,
    link,
    possible_forces,
)
from tablecam.table.model import Terrain, Unit
from tablecam.testing import mirrored, shifted, turned
from tests.rules.maurice.tables import column, line, massed, position


def chain(*gaps_mm: float, start: int = 1) -> list[Unit]:
    """Lines side by side, F1, F2, ..., with these gaps between them."""
    places = [120.0]
    for gap_mm in gaps_mm:
        places.append(places[-1] + 160.0 + gap_mm)
    return [line(f"F{start + i}", "french", x_mm, 400) for i, x_mm in enumerate(places)]


def ground(kind: str, left_mm: float, right_mm: float) -> Terrain:
    return Terrain(
        f"{kind} {left_mm}", kind, ((left_mm, 0), (right_mm, 0), (right_mm, 1200), (left_mm, 1200))
    )


def test_t_13_four_lines_in_a_row_are_one_force_and_a_column_beside_them_is_not_of_it() -> None:
    units = [*chain(80, 80, 80), column("F5", "french", 840, 400 + 20 + 80 + 80)]
    found = forces(field_of(position(*units)), "french")
    assert found == (("F1", "F2", "F3", "F4"), ("F5",))


def test_t_13_horse_in_woods_between_two_that_are_far_apart_parts_them() -> None:
    units = [massed(f"F{i}", "french", 300 + 140 * i, 400) for i in (1, 2, 3)]
    woods = Terrain("wood", "woods", ((570, 430), (590, 430), (590, 470), (570, 470)))
    found = forces(field_of(position(*units, terrain=[woods])), "french")
    assert found == (("F1",), ("F2",), ("F3",))
    assert forces(field_of(position(*units)), "french") == (("F1", "F2", "F3"),)


def test_t_13_different_kinds_of_difficult_ground_may_mix_but_not_with_the_open() -> None:
    marsh, woods = ground("marsh", 0, 240), ground("woods", 240, 600)
    units = chain(80)
    assert forces(field_of(position(*units, terrain=[marsh, woods])), "french") == (("F1", "F2"),)
    assert forces(field_of(position(*units, terrain=[marsh])), "french") == (("F1",), ("F2",))


@pytest.mark.parametrize(("gap_mm", "count"), [(80.0, 1), (80.01, 2)])
def test_m_1_15_exactly_2_bw_links_and_a_hair_more_does_not(gap_mm, count) -> None:
    assert len(forces(field_of(position(*chain(gap_mm))), "french")) == count


def test_m_1_15_two_far_apart_pairs_are_not_one_force() -> None:
    found = forces(field_of(position(*chain(40, 200, 40))), "french")
    assert found == (("F1", "F2"), ("F3", "F4"))


def test_m_1_15_enemies_and_friends_between_do_not_matter() -> None:
    between = [line("B1", "british", 240, 405, 0.0), massed("F9", "french", 240, 600)]
    found = forces(field_of(position(*chain(80), *between)), "french")
    assert ("F1", "F2") in found


def test_m_1_15_arm_counts_and_an_unclear_formation_links_to_nobody() -> None:
    foot, horse = line("F1", "french", 200, 400), line("F2", "french", 400, 400, arm="cavalry")
    assert len(forces(field_of(position(foot, horse)), "french")) == 2
    bases = tuple(pose for each in chain(500) for pose in each.bases[:2])
    loose = [
        Unit("F1", "french", "infantry", bases),
        shifted(Unit("F2", "french", "infantry", bases), 0, 60),
    ]
    assert len(forces(field_of(position(*loose)), "french")) == 2


def test_m_4_14_part_of_a_force_is_a_force_only_while_it_hangs_together() -> None:
    field = field_of(position(*chain(40, 40)))
    assert first_unlinked(field, ["F2", "F3"]) is None
    assert first_unlinked(field, ["F3", "F1", "F2"]) is None
    assert first_unlinked(field, ["F1"]) is None
    assert first_unlinked(field, ["F1", "F3"]) == "F3"
    with pytest.raises(BadInput, match="there is no unit F9"):
        first_unlinked(field, ["F1", "F9"])


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
        assert possible_forces(field, "french") == (("F1", "F2"),)
    assert forces(field, "french") == (("F1",), ("F2",))
    apart = field_of(position(*chain(80.3)))
    assert possible_forces(apart, "french") == (("F1",), ("F2",))


@given(st.lists(st.floats(0.0, 160.0), min_size=1, max_size=4), st.floats(0, 359), st.randoms())
def test_neither_order_nor_turning_moving_nor_mirroring_changes_forces(gaps, by_deg, luck) -> None:
    units = chain(*[round(gap, 3) for gap in gaps])
    wanted = _sets(units)
    shuffled = list(units)
    luck.shuffle(shuffled)
    assert _sets(shuffled) == wanted
    for change in (
        lambda each: turned(each, by_deg, (600.0, 400.0)),
        lambda each: shifted(each, 13.0, 7.0),
        lambda each: shifted(mirrored(each), 1200.0, 0.0),
    ):
        assert _sets([change(each) for each in units]) == wanted


def _sets(units: list[Unit]) -> set[frozenset[str]]:
    table = position(*units)
    wide = [shifted(each, 900, 900) for each in units]
    large = type(table.table)(3600, 3600, 40)
    field = field_of(type(table)("maurice-lite", large, tuple(wide)))
    return {frozenset(force) for force in forces(field, "french")}
