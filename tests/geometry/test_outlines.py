from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given

from tablecam.geometry.outlines import (
    axes,
    bases_footprint,
    common_area,
    corners,
    flank_lines,
    footprint,
    front_edge,
    front_line,
    unit_footprint,
)
from tablecam.geometry.sides import side_of, sides_of
from tablecam.table.headings import forward, right
from tablecam.testing import TABLE, base, mirrored, shifted, turned, unit
from tests.strategies import bases, headings_deg, units


def ends(line: shapely.LineString) -> list[tuple[float, float]]:
    return [(round(x, 6), round(y, 6)) for x, y in line.coords]


def test_g_1_a_base_is_its_rectangle_with_its_front_toward_its_heading() -> None:
    facing_up = base(100, 50, 90, width_mm=40, depth_mm=20)
    assert corners(facing_up) == ((80, 60), (120, 60), (120, 40), (80, 40))
    facing_right = base(100, 50, 0, width_mm=40, depth_mm=20)
    assert corners(facing_right) == ((110, 70), (110, 30), (90, 30), (90, 70))


@given(bases())
def test_g_1_a_footprint_has_the_area_of_the_base_about_its_centre(each) -> None:
    outline = footprint(each)
    assert outline.area == pytest.approx(each.width_mm * each.depth_mm)
    assert outline.centroid.x == pytest.approx(each.x_mm, abs=1e-6)
    assert outline.centroid.y == pytest.approx(each.y_mm, abs=1e-6)


@given(units())
def test_g_7_a_unit_of_flush_bases_is_one_outline_without_seams(each) -> None:
    whole = unit_footprint(each)
    assert isinstance(whole, shapely.Polygon)
    assert whole.is_valid
    assert len(whole.interiors) == 0
    assert whole.area == pytest.approx(sum(b.width_mm * b.depth_mm for b in each.bases), rel=1e-6)


@pytest.mark.parametrize(("gap_mm", "parts"), [(0.5, 1), (0.99, 1), (1.01, 2)])
def test_g_7_a_seam_of_a_millimetre_is_closed(gap_mm, parts) -> None:
    laid = replace(unit("F1"), bases=(base(0, 0), base(40 + gap_mm, 0)))
    assert len(shapely.get_parts(unit_footprint(laid))) == parts


def test_g_7_closing_seams_leaves_a_base_its_corners() -> None:
    alone = replace(unit("F1"), bases=(base(0, 0, 33),))
    assert shapely.hausdorff_distance(unit_footprint(alone), footprint(alone.bases[0])) < 1e-9


@pytest.mark.parametrize(
    ("formation", "front"),
    [
        ("line", [(820, 620), (980, 620)]),
        ("column", [(880, 680), (920, 680)]),
        ("massed", [(860, 640), (940, 640)]),
        ("artillery", [(880, 620), (920, 620)]),
    ],
)
def test_g_3_the_front_edge_is_that_of_the_front_rank(formation, front) -> None:
    laid = unit("F1", formation, 900, 600, 90)
    assert ends(front_edge(laid)) == front


def test_g_3_a_bent_column_takes_its_front_from_its_leading_base_alone() -> None:
    column = unit("F1", "column", 900, 600, 90)
    bent = (*column.bases[:2], replace(column.bases[2], heading_deg=60), column.bases[3])
    assert ends(front_edge(replace(column, bases=bent))) == [(880, 680), (920, 680)]


@given(units(), headings_deg)
def test_g_3_the_front_edge_turns_and_moves_with_its_unit(each, by_deg) -> None:
    edge = front_edge(each)
    turned_edge = front_edge(turned(each, by_deg))
    about = shapely.affinity.rotate(edge, by_deg, origin=(0, 0))
    assert np.allclose(turned_edge.coords, about.coords, atol=1e-6)
    assert np.allclose(
        front_edge(shifted(each, 10, -20)).coords, np.add(edge.coords, (10, -20)), atol=1e-6
    )


@given(units())
def test_g_3_a_mirror_swaps_left_and_right(each) -> None:
    left, right = front_edge(each).coords
    mirrored_left, mirrored_right = front_edge(mirrored(each)).coords
    assert np.allclose(mirrored_left, (-right[0], right[1]), atol=1e-6)
    assert np.allclose(mirrored_right, (-left[0], left[1]), atol=1e-6)


def test_g_3_on_a_measured_table_the_front_line_is_fitted_through_the_front_edges() -> None:
    line = unit("F1", "line", 900, 600, 90)
    rough = tuple(
        replace(each, y_mm=each.y_mm + out)
        for each, out in zip(line.bases, (1, -1, -1, 1), strict=True)
    )
    left, right = ends(front_edge(replace(line, bases=rough)))
    assert left[1] == right[1] == 620.0


def test_g_3_bases_in_disorder_take_the_line_through_the_foremost() -> None:
    line = unit("F1", "line", 900, 600, 90)
    loose = tuple(
        replace(each, y_mm=each.y_mm + out)
        for each, out in zip(line.bases, (0, 40, 90, 160), strict=True)
    )
    left, right = ends(front_edge(replace(line, bases=loose)))
    assert left[1] == right[1] == 780.0


def test_g_3_front_and_flank_lines_run_to_the_edges_of_the_table() -> None:
    laid = unit("F1", "line", 900, 600, 90)
    assert ends(front_line(laid, TABLE)) == [(0, 620), (1800, 620)]
    left, right = flank_lines(laid, TABLE)
    assert ends(left) == [(820, 0), (820, 1200)]
    assert ends(right) == [(980, 0), (980, 1200)]


def test_a_front_line_that_misses_the_table_is_empty() -> None:
    beyond = unit("F1", "line", 900, 1290, 90)
    assert front_line(beyond, TABLE).is_empty


def test_g_4_a_point_is_ahead_when_strictly_forward_of_the_front_line() -> None:
    of = axes(unit("F1", "line", 900, 600, 90))
    assert of.ahead_mm([(0, 621), (900, 620), (900, 600)]).tolist() == pytest.approx([1, 0, -20])
    assert of.outside_mm([(820, 0), (980, 900), (990, 0), (900, 0)]).tolist() == pytest.approx(
        [0, 0, 10, -80]
    )


@pytest.mark.parametrize(
    ("x_mm", "y_mm", "side"),
    [
        (900, 800, "front"),
        (200, 800, "front"),
        (900, 400, "rear"),
        (1200, 400, "flank"),
        (1200, 600, "flank"),
        (1200, 630, "front"),
        (985, 400, "flank"),
        (975, 400, "rear"),
    ],
)
def test_m_1_11_b_is_where_most_of_its_area_lies(x_mm, y_mm, side) -> None:
    a = unit("F1", "line", 900, 600, 90)
    assert side_of(a, unit("B1", "line", x_mm, y_mm, 270)) == side


@given(a=units(), b=units(unit_id="B1", near_mm=300.0), by_deg=headings_deg)
def test_m_1_11_turning_and_mirroring_the_table_changes_no_side(a, b, by_deg) -> None:
    # A hair off, so that no unit happens to lie half on one side and half on the other.
    b = shifted(b, 0.123, 0.456)
    side = side_of(a, b)
    assert side_of(turned(a, by_deg), turned(b, by_deg)) == side
    assert side_of(mirrored(a), mirrored(b)) == side


def test_m_1_11_many_pairs_at_once_say_what_each_pair_says() -> None:
    many = [unit(f"U{i}", "massed", 300 * i, 97 * i, 77 * i) for i in range(5)]
    sides = sides_of(many, many[1:])
    names = ("front", "flank", "rear")
    for i, a in enumerate(many):
        for j, b in enumerate(many[1:]):
            assert names[sides[i, j]] == side_of(a, b)


@pytest.mark.parametrize("right_mm", [-300, -81, -79, 0, 79, 81, 300])
@pytest.mark.parametrize("ahead_mm", [-300, -1, 1, 300])
def test_m_1_8_ahead_of_the_front_line_is_front_and_behind_it_flank_or_rear(
    right_mm, ahead_mm
) -> None:
    a = unit("F1", "line", 900, 600, 120)
    along = np.array([right(120), forward(120)])
    x_mm, y_mm = axes(a).middle_mm + np.array([right_mm, ahead_mm]) @ along
    behind = "rear" if abs(right_mm) < 80 else "flank"
    speck = base(x_mm, y_mm, width_mm=0.1, depth_mm=0.1)
    assert side_of(a, speck) == ("front" if ahead_mm > 0 else behind)


def test_a_unit_with_its_bases_apart_has_a_footprint_in_parts() -> None:
    apart = replace(unit("F1"), bases=(base(0, 0), base(100, 0)))
    assert unit_footprint(apart).geom_type == "MultiPolygon"
    assert bases_footprint(apart).area == pytest.approx(3200)


def test_what_two_areas_share_is_an_area_where_they_also_meet_in_an_edge():
    hook = shapely.Polygon([(0, 0), (9, 0), (9, 5), (6, 5), (6, 2), (3, 2), (3, 3), (0, 3)])
    shared = common_area(hook, shapely.box(0, 3, 9, 9))
    assert shapely.intersection(hook, shapely.box(0, 3, 9, 9)).geom_type == "GeometryCollection"
    assert shared.equals(shapely.box(6, 3, 9, 5))
