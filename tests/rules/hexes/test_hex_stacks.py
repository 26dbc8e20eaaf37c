"""Explains stacks whose top alone is seen by the fewest actions, and guesses none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tablecam.errors import BadInput
from tablecam.rules.hexes.grid import grid_of, ways_from
from tablecam.rules.hexes.stacks import Change, box_of, explain, seen_counters
from tablecam.rules.maida_1806.hands import spread
from tablecam.table.model import BasePose, HexMap, Position, TableSize, Unit

MAP = HexMap("flat", 20.0, (100.0, 500.0), 16, 19, "CCRR", "even")
GRID = grid_of(MAP)
STACKS = {"0505": ("A", "B", "C"), "0705": ("D",)}


def explained(seen, stacks=STACKS):
    return explain(stacks, seen, GRID)


def test_stacks_whose_tops_are_seen_are_as_they_were_d_g12():
    assert explained({"A": "0505", "D": "0705"}) == ((),)


def test_a_counter_that_is_seen_elsewhere_has_moved_d_g12():
    assert explained({"A": "0505", "D": "0704"}) == ((Change("move", ("D",), "0704"),),)


def test_a_whole_stack_moves_when_only_its_top_is_seen_elsewhere_d_g12():
    moved = Change("move", ("A", "B", "C"), "0504")
    assert explained({"A": "0504", "D": "0705"}) == ((moved,),)


def test_the_old_top_that_is_seen_elsewhere_has_left_d_g12():
    assert explained({"A": "0504", "B": "0505", "D": "0705"}) == (
        (Change("leave", ("A",), "0504"),),
    )


def test_another_top_in_the_same_hex_is_a_change_of_order_d_g12():
    assert explained({"C": "0505", "D": "0705"}) == ((Change("reorder", ("C", "A", "B"), "0505"),),)


def test_a_counter_that_vanishes_beside_a_stack_has_joined_it_at_the_bottom_d_g12():
    near = {"0505": ("A", "B"), "0504": ("D",)}
    assert explained({"A": "0505"}, near) == ((Change("join", ("D",), "0505"),),)


def test_a_counter_that_vanishes_alone_is_not_explained_d_g12():
    assert explained({"A": "0505"}) == ()


def test_two_equally_good_explanations_are_both_offered_d_g12():
    near = {"0505": ("A",), "0504": ("D",), "0503": ("E",)}
    assert set(explained({"A": "0505", "E": "0503"}, near)) == {
        (Change("join", ("D",), "0505"),),
        (Change("join", ("D",), "0503"),),
    }


def test_two_actions_explain_what_one_does_not_d_g12():
    (changes,) = explained({"A": "0505", "B": "0604", "D": "0704"})
    assert set(changes) == {Change("leave", ("B",), "0604"), Change("move", ("D",), "0704")}


def test_counters_laid_beside_each_other_for_a_moment_are_the_stacks_content():
    assert explained({"A": "0505", "B": "0505", "C": "0505", "D": "0705"}) == ((),)
    assert spread(STACKS["0505"], ["D", "C", "A"]) == ("A", "C", "D")


def boxed(marker_hex, *inside, others=()):
    """Counters in a box beside the map, and its marker on the map."""

    def unit(name, at, side="french", **extra):
        return Unit(name, side, "infantry", (BasePose(*at, 0, 15, 15),), extra=extra)

    marker = unit("box 1", GRID.middle_mm((marker_hex,)), box_mm=[0, 0, 60, 60])
    names = (unit(name, (20 + 10 * index, 20)) for index, name in enumerate(inside))
    enemy = unit("enemy", (30, 40), "british")
    placed = (unit(name, GRID.middle_mm((at,))) for name, at in others)
    return Position(
        "maida-1806", TableSize(900, 900, hex_map=MAP), (marker, enemy, *names, *placed)
    )


def test_a_marker_stands_for_the_counters_of_its_side_in_its_box():
    assert seen_counters(boxed("0505", "A", "B")) == {"A": "0505", "B": "0505"}


def test_a_stack_in_a_box_moves_with_its_marker_is_joined_and_left_there_d_g12():
    stacks = {"0505": ("A", "B"), "0705": ("D",)}
    there = [("D", "0705")]
    assert explained(seen_counters(boxed("0505", "A", "B", others=there)), stacks) == ((),)
    assert explained(seen_counters(boxed("0504", "A", "B", others=there)), stacks) == (
        (Change("move", ("A", "B"), "0504"),),
    )
    assert explained(seen_counters(boxed("0505", "A", "B", "D")), stacks) == (
        (Change("join", ("D",), "0505"),),
    )
    out = boxed("0505", "A", others=[("B", "0604"), *there])
    assert explained(seen_counters(out), stacks) == ((Change("leave", ("B",), "0604"),),)


def test_a_line_in_a_box_lies_on_both_hexes_and_the_others_in_its_left_one_d_6_3():
    position = boxed("0505", "A", "B")
    marker, enemy, line, other = position.units
    place_mm = GRID.middle_mm(("0505", "0605"))
    lies = BasePose(*place_mm, 60, 15, 15)
    line = replace(line, bases=(replace(line.bases[0], width_mm=30),))
    units = (replace(marker, bases=(lies,)), enemy, line, other)
    assert seen_counters(replace(position, units=units)) == {"A": "0505", "B": "0505"}


@pytest.mark.parametrize("box", [5, [1, 2, 3], [1, 2, "3", 4], [60, 0, 0, 60]])
def test_a_key_that_is_no_box_is_refused_in_one_line(box):
    with pytest.raises(BadInput, match=r"^table: box_mm: expected .*, got [^\n]*$"):
        box_of(Unit("box", "french", "infantry", (), extra={"box_mm": box}))


def test_a_counter_that_vanishes_beside_either_half_of_a_line_has_joined_it_d_g12():
    stacks = {"0505": ("line",), "0705": ("D",)}
    assert explain(stacks, {"line": "0505"}, GRID) == ()
    joined = Change("join", ("D",), "0605")
    assert explain(stacks, {"line": "0505"}, GRID, covers={"0605": "0505"}) == ((joined,),)
    # Near both halves, it may lie under either.
    near = {"0505": ("line",), "0504": ("D",)}
    both = explain(near, {"line": "0505"}, GRID, covers={"0604": "0505"})
    assert {change.hex for (change,) in both} == {"0505", "0604"}


def test_ways_are_grouped_by_who_reacts_on_them():
    steps = {
        "start": [("near", "pass", 1.0, ["watcher"]), ("far", "hill", 2.0, [])],
        "pass": [("on", "end", 1.0, [])],
        "hill": [("on", "end", 2.0, [])],
        "end": [],
    }
    ways = ways_from("start", lambda way: steps[way.places[-1]], 4.0)["end"]
    assert {way.triggers: way.places for way in ways} == {
        frozenset({"watcher"}): ("start", "pass", "end"),
        frozenset(): ("start", "hill", "end"),
    }
    (cheap,) = ways_from("start", lambda way: steps[way.places[-1]], 3.0)["end"]
    assert cheap.triggers == {"watcher"}


def test_a_lower_counter_that_comes_to_light_beside_its_top_is_asked_about_d_g12():
    seen = {"A": "0505", "B": "0505", "D": "0705"}
    put_on_top = Change("reorder", ("B", "A", "C"), "0505")
    assert explain(STACKS, seen, GRID, revealed=["B"]) == ((), (put_on_top,))
    # One that was seen all along is no news.
    assert explain(STACKS, seen, GRID) == ((),)
