"""The grid of a hex map: the numbers of the checklists' own examples, and properties of any map."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.rules.hexes.counters import laid, place_of
from tablecam.rules.hexes.grid import Cube, cube_distance, grid_of
from tablecam.rules.hexes.sight import line_between
from tablecam.rules.hexes.zones import zones_of
from tablecam.rules.maida_1806.field import wheels_of
from tablecam.table.model import BasePose, HexMap


def hex_map(**keys):
    given_keys = {
        "orientation": "flat", "hex_size_mm": 20.0, "origin_mm": (100.0, 500.0), "columns": 16,
        "rows": 19, "numbering": "CCRR", "shifted": "even",
    }  # fmt: skip
    return HexMap(**(given_keys | keys))


GRID = grid_of(hex_map())


def counter(x_mm, y_mm, heading_deg, **keys):
    return BasePose(x_mm, y_mm, heading_deg, **({"width_mm": 15, "depth_mm": 15} | keys))


def numbers(cubes):
    return set(GRID.on_map(cubes))


def test_a_number_has_its_cube_coordinates_and_its_millimetres_d_g2():
    assert GRID.cube("0505") == Cube(4, 2)
    x_mm, y_mm = GRID.centre_mm(GRID.cube("0505"))
    assert (x_mm, y_mm) == pytest.approx((169.282, 420.0), abs=1e-3)


def test_the_neighbours_lie_counter_clockwise_from_30_degrees_d_g2():
    around = {"0505": "0604 0504 0404 0405 0506 0605", "0605": "0705 0604 0505 0506 0606 0706"}
    for number, expected in around.items():
        assert [GRID.neighbour(number, deg) for deg in range(30, 360, 60)] == expected.split()


maps = st.builds(
    hex_map,
    orientation=st.sampled_from(["flat", "pointy"]),
    numbering=st.sampled_from(["CCRR", "RRCC"]),
    shifted=st.sampled_from(["even", "odd"]),
    rotation_deg=st.floats(-180, 180),
    first_column=st.integers(0, 20),
    first_row=st.integers(0, 20),
    columns=st.integers(1, 9),
    rows=st.integers(1, 9),
)


@given(maps, st.data())
def test_a_counter_in_the_middle_of_its_hex_is_found_there_on_any_map_d_g3(some_map, data):
    grid = grid_of(some_map)
    number = data.draw(st.sampled_from(list(grid.hexes)))
    facing_deg = data.draw(st.sampled_from(grid.facings_deg))
    place = place_of(grid, laid(grid, (number,), facing_deg, tag=1))
    assert (place.hexes, place.facing_deg, place.answer) == ((number,), facing_deg, "yes")
    assert place.margin_mm == pytest.approx(10.0, abs=1e-6)
    for direction_deg in grid.directions_deg:
        other = grid.neighbour(number, direction_deg)
        if other is not None:
            ends = [grid.centre_mm(grid.cube(one)) for one in (number, other)]
            assert math.dist(*ends) == pytest.approx(20.0)
            assert grid.direction_deg(other, number) == (direction_deg + 180) % 360


def test_a_counter_lies_in_the_hex_of_its_centre_and_faces_a_corner_d_g3_d_g4():
    place = place_of(GRID, counter(171.5, 417.8, 75))
    assert (place.hexes, place.facing_deg, place.facing) == (("0505",), 60, "clear")
    unclear = place_of(GRID, counter(171.5, 417.8, 82))
    assert (unclear.facing, unclear.facing_deg, unclear.other_facing_deg) == ("unclear", 60, 120)


def test_a_counter_near_a_hexside_is_too_close_to_call_d_g3():
    at = GRID.centre_mm(GRID.cube("0505"))
    near = place_of(GRID, counter(at[0], at[1] - 9.5, 60, sigma_mm=0.5))
    assert (near.hexes, near.answer, near.other_hexes) == (("0505",), "too_close", ("0506",))
    assert place_of(GRID, counter(at[0], at[1] - 9.5, 60)).answer == "yes"


def test_a_centre_on_a_hexside_takes_the_lower_number_with_a_warning_d_g3():
    at = GRID.centre_mm(GRID.cube("0505"))
    place = place_of(GRID, counter(at[0], at[1] - 10.0, 60))
    assert (place.hexes, place.warning) == (("0505",), "its centre lies on a hexside")


def test_a_counter_off_every_hex_is_off_the_map_d_g3():
    assert place_of(GRID, counter(40, 500, 60)).answer == "off_map"


def test_a_facing_between_two_corners_by_its_sigma_is_unclear_d_g4():
    assert place_of(GRID, counter(169.3, 420, 75, sigma_deg=5)).facing == "clear"
    assert place_of(GRID, counter(169.3, 420, 78, sigma_deg=10)).facing == "unclear"


def test_front_flank_and_rear_of_one_hex_d_g5():
    zones = zones_of(GRID, ("0505",), 60)
    assert numbers(zones.front) == {"0504", "0604"}
    assert numbers(zones.flank) == {"0404", "0605"}
    assert numbers(zones.rear) == {"0405", "0506"}


def test_a_line_on_two_hexes_has_three_front_two_flank_and_three_rear_hexes_d_g6():
    zones = zones_of(GRID, ("0505", "0605"), 60)
    assert numbers(zones.front) == {"0504", "0604", "0705"}
    assert numbers(zones.flank) == {"0404", "0706"}
    assert numbers(zones.rear) == {"0405", "0506", "0606"}


def test_a_line_on_two_hexes_lies_on_the_middle_of_its_hexside_d_g6():
    base = laid(GRID, ("0505", "0605"), 60, tag=1)
    place = place_of(GRID, base)
    assert (place.hexes, place.facing_deg, place.answer) == (("0505", "0605"), 60, "yes")


def test_a_line_on_two_hexes_wheels_about_one_of_them_d_g11():
    wheels = {(w.to, w.backward): w for w in wheels_of(GRID, ("0505", "0605"), 60)}
    assert {key: (set(w.hexes), w.facing_deg) for key, w in wheels.items()} == {
        ("left", False): ({"0505", "0604"}, 120),
        ("right", False): ({"0604", "0605"}, 0),
        ("right", True): ({"0505", "0506"}, 0),
        ("left", True): ({"0506", "0605"}, 120),
    }


def crossed(firer, target):
    line = line_between((GRID.cube(firer),), (GRID.cube(target),))
    return {
        GRID.number(stretch.cube): "along" if stretch.runs_along else "crossed"
        for stretch in line.between
    }


def test_a_line_crosses_hexes_or_runs_along_their_sides_d_g7():
    assert crossed("0805", "0904") == {"0804": "along", "0905": "along"}
    assert crossed("0805", "0803") == {"0804": "crossed"}
    assert crossed("0505", "0504") == {}


def test_the_line_of_two_hexes_leaves_by_its_middle_front_hex_d_g7():
    line = line_between((GRID.cube("0505"), GRID.cube("0605")), (GRID.cube("0703"),))
    assert numbers(line.leaves) == {"0604"}


@given(st.sampled_from(list(GRID.hexes)), st.sampled_from(list(GRID.hexes)))
def test_a_line_of_sight_is_the_same_from_both_ends_d_g7(one, other):
    ends = GRID.cube(one), GRID.cube(other)
    if one != other:
        there, back = (line_between((a,), (b,)) for a, b in (ends, ends[::-1]))
        assert {s.cube for s in there.between} == {s.cube for s in back.between}
        assert set(there.leaves) == set(back.arrives)
        # As long a line crosses at least as many hexes as lie between.
        assert len(there.between) >= cube_distance(*ends) - 1


def test_doubts_at_hexsides_are_honest_d_g3():
    """Of 3,000 measured counters, sure answers are wrong in no more than one of twenty."""
    chance = Random(7)
    sigma_mm = 0.6
    sure = wrong = 0
    expected = observed = 0.0
    for _ in range(3000):
        true = (chance.uniform(120, 260), chance.uniform(320, 460))
        measured = (chance.gauss(true[0], sigma_mm), chance.gauss(true[1], sigma_mm))
        place = place_of(GRID, counter(*measured, 60, sigma_mm=sigma_mm))
        is_right = place.hexes == place_of(GRID, counter(*true, 60)).hexes
        if place.answer == "yes":
            sure += 1
            wrong += not is_right
        else:
            expected += place.probability
            observed += is_right
    assert sure > 2000
    assert wrong / sure < 0.05
    # Near a corner two sides are near, so that the stated chance is a little too high.
    assert observed / expected == pytest.approx(1.0, abs=0.1)
