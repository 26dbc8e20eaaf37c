import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.rules.games import known_games
from tablecam.table.formation import Tolerances, front_rank, read_formation
from tablecam.table.headings import forward, right
from tablecam.table.model import Unit
from tablecam.table.position_file import position_from_json, read_position_file
from tablecam.testing import base, mirrored, shifted, turned, unit
from tests.strategies import headings_deg, places_mm, units


def with_base(each: Unit, place: int, **changes: float) -> Unit:
    bases = list(each.bases)
    bases[place] = replace(bases[place], **changes)  # type: ignore[arg-type]
    return replace(each, bases=tuple(bases))


@pytest.mark.parametrize("name", ["line", "column", "massed", "artillery"])
@pytest.mark.parametrize("size_mm", [(40, 40), (40, 20), (60, 40)])
@given(heading=headings_deg, x_mm=places_mm, y_mm=places_mm)
def test_m_1_7_flush_bases_are_read_at_any_place_and_heading(
    name, size_mm, heading, x_mm, y_mm
) -> None:
    laid = unit("F1", name, x_mm, y_mm, heading, size_mm=size_mm)
    assert read_formation(laid).name == name


@given(laid=units(), by=headings_deg, order=st.permutations(range(4)))
def test_m_1_7_turning_moving_mirroring_and_the_order_of_bases_change_no_formation(
    laid, by, order
) -> None:
    name = read_formation(laid).name
    assert read_formation(turned(laid, by, (100.0, 50.0))).name == name
    assert read_formation(shifted(laid, 321.0, -7.0)).name == name
    assert read_formation(mirrored(laid)).name == name
    shuffled = tuple(laid.bases[index] for index in order if index < len(laid.bases))
    assert read_formation(replace(laid, bases=shuffled)).name == name


def test_m_1_7_with_square_bases_line_and_column_differ_only_by_heading() -> None:
    line = unit("F1", "line", heading_deg=90)
    aside = tuple(replace(each, heading_deg=0.0) for each in line.bases)
    assert read_formation(line).name == "line"
    assert read_formation(replace(line, bases=aside)).name == "column"


@pytest.mark.parametrize(
    ("out_mm", "name"), [(6.6, "line"), (-6.6, "line"), (6.8, "broken-up"), (-6.8, "broken-up")]
)
def test_m_1_7_a_base_may_be_a_sixth_of_its_width_out_of_line(out_mm, name) -> None:
    line = unit("F1", "line", 0, 0, 90)
    assert read_formation(with_base(line, 1, y_mm=out_mm)).name == name


@pytest.mark.parametrize(("out_mm", "name"), [(5.9, "line"), (6.1, "broken-up")])
def test_m_1_7_small_bases_may_be_six_millimetres_out(out_mm, name) -> None:
    line = unit("F1", "line", 0, 0, 90, size_mm=(20, 20))
    assert read_formation(with_base(line, 3, y_mm=out_mm)).name == name


def test_m_1_7_a_stray_base_is_named_with_how_far_it_is_out() -> None:
    line = unit("F1", "line", 0, 0, 90, first_tag=10)
    formation = read_formation(with_base(line, 2, y_mm=14.0))
    assert (formation.name, formation.because) == (
        "broken-up",
        "F1's base 3 from the left is 14 mm out of line",
    )


def test_m_1_7_a_gap_is_named_with_the_bases_beside_it() -> None:
    line = unit("F1", "line", 0, 0, 90, first_tag=10)
    formation = read_formation(with_base(line, 3, x_mm=69.0))
    assert (formation.name, formation.because) == (
        "broken-up",
        "F1's bases 3 and 4 from the left are 9 mm apart",
    )


def test_m_1_7_many_small_gaps_add_up() -> None:
    line = unit("F1", "line", 0, 0, 90, size_mm=(44, 40))
    loose = tuple(replace(each, width_mm=40.0) for each in line.bases)
    formation = read_formation(replace(line, bases=loose))
    assert (formation.name, formation.because) == ("broken-up", "its bases are 12 mm apart in all")


def test_m_1_7_bases_that_stray_to_both_sides_are_named_together() -> None:
    line = unit("F1", "line", 0, 0, 90, first_tag=10)
    formation = read_formation(with_base(with_base(line, 0, y_mm=5.0), 3, y_mm=-5.0))
    assert formation.because == "F1's bases 1 and 4 from the left are 10 mm out of line"


@pytest.mark.parametrize(("turn_deg", "name"), [(12.0, "line"), (14.0, "broken-up")])
def test_m_1_7_headings_lie_within_ten_degrees_of_the_mean(turn_deg, name) -> None:
    # One base of four turned by t is 3t/4 from the mean.
    line = unit("F1", "line", 0, 0, 90, first_tag=10)
    formation = read_formation(with_base(line, 0, heading_deg=90 + turn_deg))
    assert formation.name == name
    if name == "broken-up":
        assert formation.because == "F1's left base is turned 14° from the others"


def test_m_1_7_a_base_facing_about_breaks_a_line_up() -> None:
    line = unit("F1", "line", 0, 0, 90, first_tag=10)
    formation = read_formation(with_base(line, 1, heading_deg=270))
    assert formation.because == "F1's base 2 from the left is turned 180° from the others"


def bent_column(bends_deg: list[float]) -> Unit:
    """A column in which each joint turns about the corner its bases share, inside the bend."""
    heading, bases = 90.0, [base(0, 0, 90)]
    for bend in bends_deg:
        ahead = bases[-1]
        side = -1.0 if bend > 0 else 1.0  # bent to the right of the march: the right corners meet
        back, across = forward(ahead.heading_deg), right(ahead.heading_deg)
        corner = (
            ahead.x_mm - 20 * back[0] - side * 20 * across[0],
            ahead.y_mm - 20 * back[1] - side * 20 * across[1],
        )
        heading += bend
        on, beside = forward(heading), right(heading)
        x_mm = corner[0] - 20 * on[0] + side * 20 * beside[0]
        y_mm = corner[1] - 20 * on[1] + side * 20 * beside[1]
        bases.append(base(x_mm, y_mm, heading))
    return Unit("F1", "french", "infantry", tuple(bases))


@given(st.lists(st.floats(-55, 55), min_size=3, max_size=3))
def test_m_1_7_a_column_may_bend_at_its_joints(bends_deg) -> None:
    formation = read_formation(bent_column(bends_deg))
    assert formation.name == "column"
    assert formation.front_rank == (0,)


def test_m_1_7_a_column_with_a_gap_is_broken_up() -> None:
    column = unit("F1", "column", 0, 0, 90, first_tag=10)
    formation = read_formation(with_base(column, 3, y_mm=-70.0))
    assert formation.because == "F1's bases 3 and 4 from the front are 10 mm off in the column"


def test_m_1_7_a_rear_rank_that_slid_aside_is_not_precisely_behind() -> None:
    massed = unit("F1", "massed", 0, 0, 90, first_tag=10)
    slid = with_base(with_base(massed, 2, x_mm=-10.0), 3, x_mm=30.0)
    formation = read_formation(slid)
    assert (formation.name, formation.because) == (
        "broken-up",
        "F1's rear left base is 10 mm off its place behind the front rank",
    )


def test_bases_that_are_not_on_the_table_break_a_unit_up() -> None:
    line = unit("F1", "line")
    half = replace(line, bases=line.bases[:2])
    formation = read_formation(half, roster_bases=4)
    assert (formation.name, formation.because) == ("broken-up", "2 of 4 bases are not on the table")
    assert read_formation(replace(line, bases=line.bases[1:]), roster_bases=4).because == (
        "1 of 4 bases is not on the table"
    )


def test_m_1_7_artillery_is_always_in_artillery_formation() -> None:
    assert read_formation(unit("A1", "artillery")).name == "artillery"


def test_a_unit_without_bases_has_no_formation_to_read() -> None:
    with pytest.raises(ValueError, match="F1 with none"):
        read_formation(Unit("F1", "french", "infantry", ()))


def test_house_rules_may_be_stricter() -> None:
    line = with_base(unit("F1", "line", 0, 0, 90), 1, y_mm=3.0)
    strict = Tolerances(out_mm=1.0, out_share=0.0)
    assert read_formation(line).name == "line"
    assert read_formation(line, tolerances=strict).name == "broken-up"


def test_g_3_the_front_rank_is_listed_from_left_to_right() -> None:
    assert read_formation(unit("F1", "line")).front_rank == (0, 1, 2, 3)
    assert read_formation(turned(unit("F1", "massed"), 200.0)).front_rank == (0, 1)
    column = unit("F1", "column")
    backwards = replace(column, bases=tuple(reversed(column.bases)))
    assert read_formation(backwards).front_rank == (3,)


def test_g_3_a_stated_formation_decides_the_front_rank() -> None:
    line = unit("F1", "line", 0, 0, 90)
    stray = replace(with_base(line, 1, y_mm=30.0), formation="line")
    assert front_rank(stray) == (0, 1, 2, 3)
    assert front_rank(replace(unit("F1", "massed"), formation="massed")) == (0, 1)
    assert front_rank(replace(unit("F1", "column"), formation="column")) == (0,)


def test_m_1_7_the_formations_of_the_footage_are_read_as_they_were_laid(shared: Path) -> None:
    count = 0
    for path in sorted((shared / "footage").glob("*/truth-*.json")):
        for each in read_position_file(path, known_games()).units:
            expected = each.formation or "artillery"
            formation = read_formation(each)
            assert formation.name == expected, (path.name, each.id, formation.because)
            count += 1
    assert count > 100


def test_m_1_7_the_formations_of_the_cases_are_read_as_stated(shared: Path) -> None:
    for path in sorted((shared / "cases" / "maurice-lite").glob("*.json")):
        for each in position_from_json(
            json.loads(path.read_text())["position"], games=known_games()
        ).units:
            assert read_formation(each).name == each.formation, (path.name, each.id)
