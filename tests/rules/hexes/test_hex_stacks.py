"""Explains stacks whose top alone is seen by the fewest actions, and guesses none."""

from __future__ import annotations

from tablecam.rules.hexes.grid import grid_of, ways_from
from tablecam.rules.hexes.stacks import Change, explain, seen_counters, spread
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
    assert spread(STACKS, "0705", ["C", "D"]) == {"0505": ("A", "B"), "0705": ("D", "C")}


def test_a_marker_stands_for_the_counters_in_its_box():
    def unit(name, x_mm, y_mm, **extra):
        return Unit(name, "french", "infantry", (BasePose(x_mm, y_mm, 0, 15, 15),), extra=extra)

    at = GRID.centre_mm(GRID.cube("0505"))
    units = (unit("box 1", *at, box_mm=(0, 0, 60, 60)), unit("A", 20, 20), unit("B", 40, 20))
    position = Position("maida-1806", TableSize(900, 900, hex_map=MAP), units)
    assert seen_counters(position) == {"A": "0505", "B": "0505"}


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
