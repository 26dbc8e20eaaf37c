"""Counters on hexes as the page shows them."""

from dataclasses import replace

from tablecam.live.hexes import counter_shapes, hexes_json
from tablecam.live.questions import about, measure
from tablecam.rules.hexes.grid import grid_of
from tablecam.simulate.demo import demo_roster
from tablecam.table.model import BasePose, Commander, HexMap, Position, TableSize, Unit

MAP = HexMap("flat", 20.0, (100.0, 500.0), 16, 19, "CCRR", "even")
GRID = grid_of(MAP)


def counter(id, hexes, *, seen="now", facing_deg=60):
    x_mm, y_mm = GRID.middle_mm(hexes)
    base = BasePose(x_mm, y_mm, facing_deg, 15.0 * len(hexes), 15, seen=seen)
    return Unit(id, "french", "infantry", (base,))


def table(*units, commanders=()):
    return Position("maida-1806", TableSize(600, 600, hex_map=MAP), units, commanders)


def test_a_stack_is_listed_with_what_is_seen_first_and_the_hidden_as_believed():
    position = table(counter("A", ("0505",), seen="held"), counter("B", ("0505",)))
    shown = hexes_json(position)
    assert shown["where"] == {"unit:A": "0505", "unit:B": "0505"}
    assert shown["stacks"] == [
        {"hex": "0505", "things": ["unit:B", "unit:A"], "hidden": ["unit:A"]}
    ]


def test_what_only_the_game_knows_to_lie_beneath_belongs_to_the_stack():
    leader = Commander("L", "french", *GRID.middle_mm(("0505",)))
    astray = counter("C", ("0909",), seen="held")
    believed = table(
        counter("B", ("0505",)), counter("A", ("0505",), seen="held"), astray, commanders=(leader,)
    )
    (stack,) = hexes_json(table(counter("B", ("0505",))), believed=believed)["stacks"]
    assert stack["things"] == ["unit:B", "unit:A", "commander:L"]
    assert stack["hidden"] == ["unit:A", "commander:L"]


def test_a_line_on_two_hexes_is_in_both_and_shares_each_with_who_is_there():
    leader = counter("X", ("0605",)).bases[0]
    commander = Commander("L", "french", *leader.place_mm, pose=leader)
    shown = hexes_json(table(counter("A", ("0505", "0605")), commanders=(commander,)))
    assert shown["where"] == {"unit:A": "0505 and 0605", "commander:L": "0605"}
    assert [stack["hex"] for stack in shown["stacks"]] == ["0605"]


def test_only_counters_of_games_with_facings_show_what_is_before_and_behind_them():
    there = counter("A", ("0505",))
    roles = {shape.role for shape in counter_shapes(table(there), there)}
    assert roles == {"hex-own", "hex-front", "hex-flank", "hex-rear"}
    (own,) = counter_shapes(replace(table(there), game="musket-saber"), there)
    assert own.role == "hex-own"


def test_a_counter_is_read_as_its_side_s_alone_and_may_be_out_of_sight():
    """It has no formation, and a headquarters is no infantry."""
    position = table(counter("HQ", ("0505",), seen="held"))
    lines = about(position, "unit:HQ", demo_roster("musket-saber"))["lines"]
    assert lines == ["French.", "It cannot be seen now; the last seen place counts."]


def test_counters_are_the_fewest_hexes_apart_that_lie_between_them():
    leader = Commander("L", "french", *GRID.middle_mm(("0505",)))
    line = counter("A", ("0505", "0605"))
    position = table(line, counter("B", ("0905",)), commanders=(leader,))
    assert measure(position, "unit:A", "unit:B")["hexes"] == 3
    assert measure(position, "commander:L", "unit:B")["hexes"] == 4
    point = ",".join(map(str, GRID.middle_mm(("0705",))))
    assert measure(position, "unit:A", f"point:{point}")["hexes"] == 1
    assert "hexes" not in measure(position, "unit:A", "point:30,30")


def test_a_counter_beside_the_map_is_in_no_hex():
    beside = Unit("A", "french", "infantry", (BasePose(10, 10, 0, 15, 15),))
    assert hexes_json(table(beside))["where"] == {}
    assert counter_shapes(table(beside), beside) == ()


def test_the_counters_in_a_box_are_in_the_hex_of_its_marker():
    inside = Unit("A", "french", "infantry", (BasePose(10, 10, 0, 15, 15),))
    marker = Unit(
        "box",
        "french",
        "infantry",
        counter("box", ("0505",)).bases,
        extra={"box_mm": [0, 0, 20, 20]},
    )
    shown = hexes_json(table(inside, marker))
    assert shown["where"] == {"unit:A": "0505", "unit:box": "0505"}
    assert shown["boxes"] == [
        {"id": "box", "hexes": "0505", "corners_mm": [[0, 0], [20, 0], [20, 20], [0, 20]]}
    ]
    assert shown["stacks"] == [{"hex": "0505", "things": ["unit:box", "unit:A"], "hidden": []}]
    # Without its marker on the map, a box is free.
    (free,) = hexes_json(table(replace(marker, bases=inside.bases)))["boxes"]
    assert free["hexes"] == ""


def test_the_zones_around_a_counter_are_drawn_d_g5():
    unit = counter("A", ("0505",))
    shapes = counter_shapes(table(unit), unit)
    front = [shape.points_mm for shape in shapes if shape.role == "hex-front"]
    assert front == [GRID.corners_mm("0504"), GRID.corners_mm("0604")] or front == [
        GRID.corners_mm("0604"),
        GRID.corners_mm("0504"),
    ]
    assert sorted({shape.role for shape in shapes}) == [
        "hex-flank",
        "hex-front",
        "hex-own",
        "hex-rear",
    ]


def test_a_leader_has_no_facing_d_12_7():
    pose = counter("X", ("0605",)).bases[0]
    leader = Commander("L", "french", *pose.place_mm, pose=pose)
    shapes = counter_shapes(table(commanders=(leader,)), leader)
    assert [shape.role for shape in shapes] == ["hex-own"]


def test_tables_without_hexes_have_none():
    assert hexes_json(Position("free", TableSize(600, 600))) == {}
