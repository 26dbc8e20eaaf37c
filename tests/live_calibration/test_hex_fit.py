"""Where a bought map lies: fitted to a few hexes, and followed when it slips."""

import math
from dataclasses import replace
from random import Random

import pytest

from tablecam.capture.picture import DecodedPicture
from tablecam.errors import BadInput
from tablecam.live.map_follower import slip_mm, slipped
from tablecam.live_calibration.hex_fit import (
    MapFit,
    better_fits,
    better_words,
    far_hexes,
    fit_map,
    map_section,
)
from tablecam.rules.hexes.grid import grid_of
from tablecam.simulate.demo import demo_camera
from tablecam.simulate.rendering.places import Place
from tablecam.simulate.rendering.render import Renderer
from tablecam.simulate.rendering.scene import Scene
from tablecam.table.model import BasePose, HexMap, Position, TableSize, Unit
from tablecam.vision.tracking.position import position_of
from tablecam.vision.watching import Watching
from tests.rules.hexes.drill import house_roster

GUESS = HexMap("flat", 20.0, (0.0, 0.0), 16, 12, "CCRR", "even")
TRUE = replace(GUESS, hex_size_mm=20.7, origin_mm=(87.3, 291.8), rotation_deg=-1.4)
CORNERS = ("0101", "1601", "1612", "0112")


def places(hex_map, hexes=CORNERS):
    return {number: grid_of(hex_map).middle_mm((number,)) for number in hexes}


def farthest_mm(one, other):
    """The largest distance between the centres of a hex on two maps."""
    return max(
        math.dist(grid_of(one).middle_mm((number,)), grid_of(other).middle_mm((number,)))
        for number in grid_of(one).hexes
    )


def test_four_hexes_give_origin_size_and_rotation():
    fit = fit_map(GUESS, places(TRUE))
    assert farthest_mm(fit.map, TRUE) < 1e-6
    assert fit.is_good
    assert fit.residuals_mm == pytest.approx(dict.fromkeys(CORNERS, 0.0), abs=1e-6)


@pytest.mark.parametrize("orientation", ["flat", "pointy"])
def test_hexes_under_counters_in_a_rendered_picture_are_found_within_0_3_mm(orientation):
    roster = house_roster()
    hex_map = replace(TRUE, orientation=orientation, columns=14, rows=11)
    roster = replace(roster, table=replace(roster.table, hex_map=hex_map), files={})
    hexes = ("0101", "1401", "1411", "0111")
    tags = (33, 62, 28, 59)
    camera = demo_camera(1920, 1080, roster.table)
    laid = {
        tag: Place(*grid_of(hex_map).middle_mm((number,)), 20.0 * tag)
        for tag, number in zip(tags, hexes, strict=True)
    }
    watching, renderer = Watching(camera, roster), Renderer(roster, camera)
    for frame in range(3):
        picture = DecodedPicture(renderer.picture(Scene(laid), frame))
        sight = watching.see(picture, frame / 15)
    units = {
        unit.bases[0].tag: unit.bases[0] for unit in position_of(sight.bases, roster, None).units
    }
    guess = replace(hex_map, hex_size_mm=20.0, origin_mm=(0.0, 0.0), rotation_deg=0.0)
    read = {number: units[tag].place_mm for tag, number in zip(tags, hexes, strict=True)}
    assert farthest_mm(fit_map(guess, read).map, hex_map) < 0.3


def test_a_counter_in_the_wrong_hex_is_a_residual_above_the_limit():
    wrong = places(TRUE) | {"0101": places(TRUE, ("0202",))["0202"]}
    fit = fit_map(GUESS, wrong)
    assert not fit.is_good
    assert fit.worst > 0.15


def test_another_numbering_or_shift_that_fits_better_is_named():
    hexes = ("0101", "0803", "1205", "0312")
    odd = replace(TRUE, shifted="odd")
    at = places(odd, hexes)
    fit = fit_map(GUESS, at)
    assert not fit.is_good
    (better,) = better_fits(fit, at)
    assert better.map.shifted == "odd"
    assert better.is_good
    # A map that fits has no better one.
    assert not [*better_fits(fit_map(replace(GUESS, shifted="odd"), at), at)]


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (places(TRUE, CORNERS[:3]), "expected 4 hexes or more, got 3"),
        (places(TRUE, CORNERS[:3]) | {"1713": (0.0, 0.0)}, "0101 to 1612, got 1713"),
        (dict.fromkeys(CORNERS, (10.0, 10.0)), "expected different places"),
    ],
)
def test_what_cannot_be_fitted_is_one_line(at, said):
    with pytest.raises(BadInput, match="hexmap fit: expected") as refused:
        fit_map(GUESS, at)
    assert said in str(refused.value)


def test_the_section_for_the_table_file_has_every_key():
    assert map_section(TRUE).splitlines()[:4] == [
        "[map]",
        'orientation = "flat"',
        "hex_size_mm = 20.700",
        "origin_mm = [87.30, 291.80]",
    ]


# A map that slips under the counters' hexes.


def table_of(hex_map, centres):
    """A table with a counter at each place."""
    units = tuple(
        Unit(f"F{index}", "french", "infantry", (BasePose(x, y, 0.0, 15, 15, tag=index),))
        for index, (x, y) in enumerate(centres)
    )
    return Position("maida-1806", TableSize(440, 340, hex_map=hex_map), units)


def untidy(hex_map, by_mm, count, seed=1):
    """Centres of counters that hands have put into hexes of a map that lies elsewhere."""
    random = Random(seed)
    grid = grid_of(slipped(hex_map, by_mm))
    hexes = random.sample(sorted(grid.hexes), count)
    return [
        (x + random.gauss(0, 1.2), y + random.gauss(0, 1.2))
        for x, y in (grid.middle_mm((number,)) for number in hexes)
    ]


def test_what_all_counters_have_in_common_is_the_slip_of_the_map_d_g3():
    slip = slip_mm(table_of(TRUE, untidy(TRUE, (2.4, -1.6), 20)))
    assert slip == pytest.approx((2.4, -1.6), abs=0.8)


@pytest.mark.parametrize("seed", range(20))
def test_untidy_counters_alone_are_no_slip(seed):
    assert slip_mm(table_of(TRUE, untidy(TRUE, (0.0, 0.0), 12, seed))) is None


def test_few_counters_and_tables_without_hexes_tell_of_no_slip():
    assert slip_mm(table_of(TRUE, untidy(TRUE, (3.0, 0.0), 4))) is None
    assert slip_mm(table_of(None, [(100.0, 100.0)] * 9)) is None


def test_a_fit_is_judged_by_its_worst_place():
    fit = MapFit(TRUE, {"0101": 0.1, "0202": 3.2})
    assert fit.worst == pytest.approx(3.2 / 20.7)
    assert not fit.is_good


@pytest.mark.parametrize("orientation", ["flat", "pointy"])
def test_the_hexes_to_click_are_those_in_the_corners_clockwise_from_the_top_left(orientation):
    hex_map = replace(TRUE, orientation=orientation)
    number, middles = far_hexes(hex_map), places(hex_map, far_hexes(hex_map))
    assert len(set(number)) == 4
    (left, top), (right, _), (_, bottom), _ = (middles[one] for one in number)
    assert left < right
    assert bottom < top


def test_a_better_arrangement_is_named_with_how_well_it_fits():
    shifted = replace(TRUE, shifted="odd")
    seen = places(shifted)
    words = better_words(fit_map(GUESS, seen), seen)
    assert words.startswith(
        'another numbering fits better: shifted = "odd" (0.000 of a hex, not 0.'
    )
    assert better_words(fit_map(replace(GUESS, shifted="odd"), seen), seen) == ""
