"""Huzzah! Glorious Empires with bases as they lie: the book's positions, in centimetres."""

from __future__ import annotations

from typing import Any

import pytest

from tablecam.errors import BadInput
from tests.rules.huzzah_ge.test_huzzah_questions import ask, holds

UP, DOWN, EAST = 90.0, 270.0, 0.0
SIZE_CM = 4.0


def base(x_cm: float, y_cm: float, heading_deg: float = UP, tag: int = 0) -> dict[str, Any]:
    return {"x_mm": 10 * x_cm, "y_mm": 10 * y_cm, "heading_deg": heading_deg,
            "width_mm": 10 * SIZE_CM, "depth_mm": 10 * SIZE_CM, "tag": tag}  # fmt: skip


def line(x_cm: float, y_cm: float, heading_deg: float = UP, *, count: int = 4, **keys: Any) -> Any:
    """Return a line of bases from a centre on, eastward."""
    bases = [base(x_cm + SIZE_CM * place, y_cm, heading_deg, place + 1) for place in range(count)]
    return {"bases": bases} | keys


FIRER = line(2, 2)


def front_at(y_cm: float, x_cm: float = 2) -> Any:
    """Return a line that looks south, its front face at a height."""
    return line(x_cm, y_cm + SIZE_CM / 2, DOWN)


@pytest.mark.parametrize(
    ("y_cm", "range_cm", "short"), [(21, 19, False), (11.9, 9.9, True), (12, 10, False)]
)
def test_range_runs_from_centre_to_centre_of_a_face_h_7_3_h_7_4(y_cm, range_cm, short):
    answer = ask("shot", firer=FIRER, target=front_at(y_cm))
    holds(answer, face="front", range_cm=range_cm, in_range=True, short=short, in_arc=True)


@pytest.mark.parametrize(
    ("firing", "range_cm", "in_range"),
    [([], 22.8, False), ([3, 4], 20.6, False), ([4], 19.7, True)],
)
def test_fewer_bases_may_fire_to_be_in_range_h_7_6(firing, range_cm, in_range):
    answer = ask("shot", firer=FIRER, target=front_at(20, 16), firing=firing)
    assert answer["range_cm"] == pytest.approx(range_cm, abs=0.05)
    assert answer["in_range"] is in_range


def test_bases_that_do_not_see_all_of_the_face_do_not_fire_h_7_6():
    screen = line(2, 8, count=1, side="x")
    assert ask("shot", firer=FIRER, target=front_at(21), others=[screen])["clear"] == [3, 4]


def test_the_face_is_the_nearest_that_is_visible_h_2_3():
    answer = ask("shot", firer=FIRER, target=line(40, 2, UP))
    holds(answer, face="left", flank_or_rear=True, in_arc=False)


def test_a_square_has_no_flank_h_2_4():
    square = line(40, 2, UP, formation="square")
    assert ask("shot", firer=FIRER, target=square)["flank_or_rear"] is False


def test_firing_names_bases_of_the_firer():
    with pytest.raises(BadInput, match=r"firing: expected tags of the firer, got \[9\]"):
        ask("shot", firer=FIRER, target=front_at(21), firing=[9])


def test_support_ranks_are_read_from_bases_h_2_2_h_2_5():
    two = {"bases": [*line(2, 6)["bases"], *line(2, 2)["bases"]]}
    assert ask("support_ranks", unit=two)["support_ranks"] == 1


@pytest.mark.parametrize(("y_cm", "inside"), [(44, True), (44.1, False)])
def test_a_command_radius_goes_to_the_farthest_corner_h_11_11(y_cm, inside):
    officer = {"quality": "average", "x_mm": 0.0, "y_mm": 60.0}
    answer = ask("command_radius", officer=officer, units=[line(0, y_cm - 0.1, count=1)])
    assert answer["radius_cm"] == 40
    assert answer["all_in_radius"] is inside


@pytest.mark.parametrize(
    ("order", "move", "legal"),
    [
        ("advance", {"dy_mm": 150.0, "dx_mm": 50.0}, True),
        ("advance", {"dy_mm": 150.0, "dx_mm": 56.0}, False),
        ("advance", {"dy_mm": 156.0}, False),
        ("advance", {"dy_mm": 100.0, "turn_deg": 10.0}, False),
        ("advance", {"dy_mm": -20.0}, False),
        ("retire", {"dy_mm": -75.0}, True),
        ("retire", {"dy_mm": -75.0, "dx_mm": 20.0}, False),
        ("retire", {"dy_mm": -80.0}, False),
    ],
)
def test_orders_allow_straight_moves_h_12_1_h_12_3_h_13_1(order, move, legal):
    answer = ask("order_move", unit=FIRER, order=order, move=move)
    assert answer["legal"] is legal


def test_a_group_keeps_to_its_slowest_arm_h_12_2():
    horse = line(2, 2, arm="cavalry")
    answer = ask("order_move", unit=horse, order="advance", move={"dy_mm": 240.0}, group=[FIRER])
    holds(answer, legal=False, allowance_cm=20.0)


@pytest.mark.parametrize(
    ("enemy_y", "move", "order", "rule"),
    [
        (14, {"dy_mm": 80.0}, "advance", None),
        (14, {"dy_mm": 80.0, "dx_mm": 20.0}, "advance", "H-12.3"),
        (6, {"dy_mm": 0.0}, "advance", "H-12.4"),
    ],
)
def test_a_charge_is_straight_and_contact_is_not_broken_h_12_4_h_12_7(enemy_y, move, order, rule):
    enemy = line(2, enemy_y, DOWN, side="enemy")
    answer = ask("order_move", unit=FIRER | {"side": "own"}, order=order, move=move, others=[enemy])
    assert answer.get("why_not", {}).get("rule") == rule


@pytest.mark.parametrize(
    ("y_cm", "enemy", "within"),
    [
        (20.9, {}, (True, True, True)),
        (21.1, {}, (False, False, False)),
        (21.1, {"arm": "cavalry"}, (True, False, True)),
        (20.9, {"routing": True}, (True, True, False)),
    ],
)
def test_within_one_move_is_a_straight_advance_h_11_9(y_cm, enemy, within):
    # The front of the first stands at 4 cm, an infantry advance is 15 cm.
    facing = line(2, y_cm, DOWN) | enemy
    answer = ask("within_one_move", unit=FIRER, enemy=facing)
    assert (answer["within"], answer["unit_reaches"], answer["enemy_reaches"]) == within


def test_a_unit_in_the_way_stops_an_advance_h_11_9():
    screen = line(0, 10, count=5)
    answer = ask("within_one_move", unit=FIRER, enemy=front_at(15), others=[screen])
    assert answer["within"] is False


@pytest.mark.parametrize(
    ("target", "face", "share", "contact_mm"),
    [
        (line(12, 14, DOWN), "front", 1.0, 160.0),
        (line(12, 14, EAST), "right", 0.0, 160.0),
        (line(12, 14, UP), "rear", 0.0, 160.0),
    ],
)
def test_a_charger_is_squared_up_on_what_it_meets_h_12_9_h_12_10(target, face, share, contact_mm):
    answer = ask("squaring_up", charger=FIRER, target=target)
    holds(answer, face=face, front_share=share, contact_mm=contact_mm)


@pytest.mark.parametrize(
    ("keys", "apart_cm", "turned_deg", "allowed"),
    [
        ({}, 15.0, 0.0, True),
        ({}, 15.5, 0.0, False),
        ({"disordered": True}, 10.0, 0.0, False),
        ({"arm": "cavalry"}, 10.0, 0.0, False),
        ({"formation": "road_column"}, 10.0, 0.0, False),
        ({}, 10.0, 6.0, False),
    ],
)
def test_passage_of_lines_h_14_9(keys, apart_cm, turned_deg, allowed):
    answer = ask("passage_of_lines", a={"base_count": 4}, b={"base_count": 4} | keys,
                 front_distance_cm=apart_cm, heading_difference_deg=turned_deg)  # fmt: skip
    assert answer["allowed"] is allowed


def gun(expected: str = "regulars_b", grade: str | None = None, kind: str = "reserve_foot") -> Any:
    return {"kind": kind, "expected": expected, "grade": grade}


def test_a_base_that_joins_a_known_battery_rolls_at_once_h_3_5():
    bases = [gun(grade="experienced"), gun()]
    answer = ask("battery", bases=bases, joins=1, dice=[[4, 5]])
    holds(answer, grade="green", rolled_now=True)


def test_an_unknown_battery_rolls_once_on_its_lowest_class_h_3_4_h_7_3():
    bases = [gun("elites_a"), gun("militia_a", kind="reserve_heavy")]
    holds(ask("battery", bases=bases), **{"class": "militia_a", "grade": None, "range_cm": 60.0})
    answer = ask("battery", bases=bases, dice=[[3, 3]])
    holds(answer, grade="green", rolled_now=True)


def test_odd_hits_last_until_the_end_of_rally_h_1_5_h_7_10():
    events = [{"hits": 4}, {"hits": 2}, {"hits": 1}, {"phase": "rally_ends"}]
    after = ask("hits", unit={"base_count": 4}, events=events)["after"]
    assert [(step["bases"], step["odd_hits"]) for step in after] == [(3, 1), (2, 0), (2, 1), (2, 0)]


@pytest.mark.parametrize(
    ("unit", "deed", "rule"),
    [
        ({"arm": "artillery", "moved": True}, "fire", "H-1.12"),
        ({"arm": "artillery", "fired": True}, "be_ordered", "H-11.13"),
        ({"fired": True}, "advance", None),
        ({"formation": "square"}, "retire", "H-12.1"),
        ({"formation": "square"}, "deploy", None),
        ({"routing": True}, "be_ordered", "H-11.13"),
        ({"arm": "cavalry"}, "fire", "H-7.1"),
    ],
)
def test_what_a_unit_may_do_h_1_12_h_7_1_h_11_13_h_12_1(unit, deed, rule):
    answer = ask("may", unit=unit, deed=deed)
    assert answer["may"] is (rule is None)
    assert answer.get("why_not", {}).get("rule") == rule


TRAINED = {"base_count": 4, "quality": "trained"}


def test_fire_at_chargers_is_at_short_range_and_disorders_h_8_2_h_8_3():
    answer = ask("fire_at_chargers", firer=TRAINED, charger=TRAINED, fire_dice=[2, 3],
                 morale_dice=[5, 5])  # fmt: skip
    # 6 for the quality, 2 for four bases, 1 for short range: 9, so 4 hits on a 5.
    holds(answer, must_fire=True, factor=9, hit=True, hits=4, firer={"tests": False})
    holds(answer["charger"], bases_removed=1, odd_hits=1, disordered=True, rout=False)


def test_a_firer_who_fails_tests_and_is_never_forced_back_h_8_4():
    shaken = TRAINED | {"disordered": True}
    answer = ask("fire_at_chargers", firer=shaken, charger=TRAINED, fire_dice=[5, 6],
                 morale_dice=[5, 5])  # fmt: skip
    holds(answer["firer"], tests=True, rout=True, fall_back_cm=0.0)


def test_cavalry_does_not_fire_at_chargers_h_8_1():
    horse = TRAINED | {"arm": "cavalry"}
    assert ask("fire_at_chargers", firer=horse, charger=TRAINED)["must_fire"] is False


def back(distance_cm: float = 10.0, how: str = "falls_back", **facts: Any) -> Any:
    unit = line(2, 52, arm="infantry", base_count=4)
    return ask("back", **({"unit": unit, "how": how, "distance_cm": distance_cm} | facts))


def test_a_fall_back_keeps_its_facing_and_a_rout_turns_about_h_9_5_h_9_8():
    calm, routed = back(), back(20.0, "routs")
    assert {(base["y_mm"], base["heading_deg"]) for base in calm["bases"]} == {(420.0, 90.0)}
    assert {round(base["y_mm"], 6) for base in routed["bases"]} == {320.0}
    assert {base["heading_deg"] for base in routed["bases"]} == {270.0}


def test_going_back_through_a_friend_costs_a_hit_and_order_h_9_9():
    friend = line(2, 46, id="friend")
    answer = back(3.0, friends=[friend])
    holds(answer, extra_hits=1, disordered_friends=["friend"], odd_hits=1)
    # Set down a millimetre behind the friend, whose rear stands at 44 cm.
    assert {round(base["y_mm"], 6) for base in answer["bases"]} == {419.0}


def test_a_unit_forced_out_of_dense_terrain_stands_beyond_its_edge_h_9_10():
    wood = {"id": "wood", "near_edge_cm": -6.0, "far_edge_cm": 4.0}
    holds(back(5.0, sectors=[wood]), beyond_far_edge_cm=5.0, deployed_in=None)
    next_wood = {"id": "next", "near_edge_cm": 4.0, "far_edge_cm": 20.0}
    holds(back(5.0, sectors=[wood, next_wood]), deployed_in="next", extra_hits=0)


@pytest.mark.parametrize(
    ("held_by", "expected"),
    [
        (None, {"extra_hits": 1, "captured": False}),
        ("friend", {"extra_hits": 1, "beyond_far_edge_cm": 17.0, "captured": False}),
        ("enemy", {"extra_hits": 0, "captured": True}),
    ],
)
def test_routers_run_through_dense_terrain_h_9_11(held_by, expected):
    outline = [[0, 400], [200, 400], [200, 470], [0, 470]]
    wood = {"id": "wood", "outline_mm": outline, "held_by": held_by}
    holds(back(20.0, "routs", sectors=[wood]), **expected)


def test_a_unit_whose_centre_leaves_the_table_is_on_the_rout_table_h_9_12():
    holds(back(60.0, table_mm=[1200.0, 800.0]), on_table=False, on_rout_table=True, routing=True)


def test_a_way_back_needs_bases_or_distances():
    with pytest.raises(BadInput, match="expected bases, or rear_edge_cm"):
        ask("back", unit={}, how="routs", distance_cm=5.0)


def test_the_bases_after_a_failed_test_are_those_left_moved_back_h_9_5_h_9_6():
    unit = line(2, 52, quality="trained")
    answer = ask("morale", unit=unit, hits_taken=3, removed=[4], dice=[4, 4])
    assert [(base["tag"], base["y_mm"]) for base in answer["bases"]] == [
        (1, 470.0),
        (2, 470.0),
        (3, 470.0),
    ]
