"""Each question to the rules, by the examples of the checklist; a test's name has its rule."""

from __future__ import annotations

from typing import Any

import pytest

from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.rules.musket_saber.questions import QUESTIONS
from tests.rules.musket_saber.test_musket_files import house

MAP = {
    "orientation": "flat", "hex_size_mm": 20.0, "origin_mm": [100, 500], "columns": 16,
    "rows": 19, "numbering": "CCRR", "shifted": "even",
}  # fmt: skip
CHARTS = house("charts")
RED, GREY = "house-red", "house-grey"


def asked(ask: str, **facts: Any) -> dict[str, Any]:
    plain = {key.rstrip("_"): value for key, value in facts.items()}
    return QUESTIONS.answer(document_from({"ask": ask} | plain, "question"))


def barred(ask: str, **facts: Any) -> str:
    """The rule that forbids it."""
    return asked(ask, **facts)["why_not"]["rule"]


def holds(answer: dict[str, Any], **expected: Any) -> None:
    assert {key: answer[key] for key in expected} == expected


def unit(name: str, hex: str | None = None, **keys: Any) -> dict[str, Any]:
    """A brigade; the side follows from the first letter of its name."""
    usual = {"side": RED if name.startswith("R") else GREY, "cf": 5, "mr": 4, "ma": 4}
    if keys.get("arm") == "artillery":
        usual = {"side": usual["side"], "attack": 4, "defence": 2, "range": 3, "ma": 4}
    return {"id": name, **usual, **({} if hex is None else {"hex": hex}), **keys}


def setup(*units: Any, map: Any = None, **keys: Any) -> dict[str, Any]:
    return {"map": MAP | (map or {}), "charts": CHARTS, "units": list(units), **keys}


HQ = {"id": "HQ", "side": RED, "hex": "0115", "active": True, "ma": 8}

# Hexes and stacks.


def test_a_counter_lies_in_a_hex_and_has_no_facing_k_g3():
    counter = {"id": "a", "x_mm": 169.3, "y_mm": 420.0, "heading_deg": 82, "sigma_mm": 1.0}
    placed = asked("place", map=MAP, counters=[counter])["counters"]["a"]
    assert (placed["hex"], placed["hex_answer"]) == ("0505", "yes")
    assert (placed["facing"], placed["facing_deg"]) == ("none", None)
    on_side = asked("place", map=MAP, counters=[counter | {"y_mm": 429.5}])["counters"]["a"]
    assert on_side["hex_answer"] == "too_close"
    off = asked("place", map=MAP, counters=[counter | {"x_mm": 5.0}])["counters"]["a"]
    assert (off["hex"], off["hex_answer"]) == (None, "off_map")


@pytest.mark.parametrize(
    ("hex", "around"),
    [("0505", ["0604", "0504", "0404", "0405", "0506", "0605"]),
     ("0605", ["0705", "0604", "0505", "0506", "0606", "0706"])],
)  # fmt: skip
def test_neighbours_go_around_a_hex_k_g2(hex, around):
    assert set(asked("neighbours", map=MAP, hex=hex)["hexes"]) == set(around)


def test_a_counter_that_vanishes_beside_a_friend_joins_its_stack_k_g4():
    units = [{"id": "A", "side": RED, "tag": 1}, {"id": "B", "side": RED, "tag": 2}]
    there = {"tag": 1, "x_mm": 169.3, "y_mm": 420.0, "heading_deg": 0}
    beside = {"tag": 2, "x_mm": 169.3, "y_mm": 440.0, "heading_deg": 0}
    after = asked("stacks_seen", map=MAP, units=units, positions=[[there, beside], [there]])
    last = after["after"][-1]
    assert (last["proposed"]["kind"], last["held"]) == ("join", ["B"])
    assert last["stacks"] == {"0505": ["A", "B"]}


# Zones and movement.


def test_zones_end_at_rivers_and_disrupted_units_have_none_k_6_1_k_6_4_k_9_5d_k_g5():
    river = {"hexsides": {"river": [["0505", "0506"]]}}
    zones = asked("zones", setup=setup(
        unit("R1", "0505"), unit("R2", "0909", disrupted=True), unit("R3", "1212", square=True),
        unit("G1", "0305"), map=river))  # fmt: skip
    assert set(zones["zones"]["R1"]) == {"0604", "0504", "0404", "0405", "0605"}
    assert zones["zones"]["R2"] == zones["zones"]["R3"] == []
    assert "0506" not in zones["enemy_zone"][GREY]
    assert len(zones["enemy_zone"][RED]) == 6


def test_no_march_within_two_hexes_of_an_enemy_k_4_7a_k_g6():
    enemy = unit("G1", "0805")
    far = asked("move", setup=setup(unit("R1", "0505"), enemy, hq=HQ), unit="R1",
                path=["0404"], march=True)  # fmt: skip
    assert (far["legal"], far["mp_of"]) == (True, 9)
    near = setup(unit("R1", "0605"), enemy)
    assert barred("move", setup=near, unit="R1", path=[], march=True) == "K-4.7a"
    idle = setup(unit("R1", "0505"), enemy, hq=HQ | {"active": False})
    assert barred("move", setup=idle, unit="R1", path=["0404"], march=True) == "K-12.1"


def test_an_enemy_zone_ends_a_move_k_6_2a():
    ready = setup(unit("R1", "0505"), unit("G1", "0703"))
    moved = asked("move", setup=ready, unit="R1", path=["0604", "0704"])
    assert (moved["legal"], moved["must_stop_at"], moved["mp"]) == (True, "0704", 2)
    on = asked("move", setup=ready, unit="R1", path=["0604", "0704", "0705"])
    assert (on["legal"], on["why_not"]["rule"]) == (False, "K-6.2a")


def test_weak_units_enter_enemy_zones_only_escorted_k_6_2b():
    def entering(*others: Any, **keys: Any) -> Any:
        ready = setup(unit("R1", "0505", paren=True), unit("G1", "0704"), *others, **keys)
        return asked("move", setup=ready, unit="R1", path=["0604"])

    assert entering()["why_not"]["rule"] == "K-6.2b"
    assert entering(unit("R2", "0604"))["legal"]
    led = entering(leaders=[{"id": "L", "side": RED, "hex": "0505"}])
    assert (led["legal"], led["readings"]) == (True, ["R-02", "R-08", "R-09"])


def test_a_move_keeps_to_its_path_its_points_and_its_ground_k_4_2_k_4_3_k_4_5():
    ground = {"terrain": {"woods": ["0504", "0503"]}, "hexsides": {"river": [["0505", "0506"]]}}
    ready = setup(unit("R1", "0505", ma=3), unit("G1", "1212"), map=ground)

    def rule(path: list[str]) -> str:
        return barred("move", setup=ready, unit="R1", path=path)

    assert rule(["0507"]) == "K-4.2"
    assert rule(["0504", "0503"]) == "K-4.3"
    assert rule(["0506"]) == "K-4.5"


def test_nobody_moves_through_his_trains_k_12_2():
    trains = {"id": "T", "side": RED, "hex": "0504", "ma": 4}
    ready = setup(unit("R1", "0505"), unit("G1", "1212"), trains=trains)
    assert barred("move", setup=ready, unit="R1", path=["0504", "0503"]) == "K-12.2"
    assert asked("move", setup=ready, unit="R1", path=["0504"])["legal"]
    assert barred("move", setup=ready, unit="T", path=["0503", "0502"]) == "K-12.2"


def test_a_leader_alone_has_12_points_and_avoids_enemies_k_10_1():
    lead = {"id": "L", "side": RED, "hex": "0505"}
    ready = setup(unit("G1", "0703"), leaders=[lead], map={"terrain": {"woods": ["0504"]}})
    moved = asked("move", setup=ready, unit="L", path=["0504"])
    assert (moved["legal"], moved["mp"], moved["mp_of"]) == (True, 1, 12)
    assert barred("move", setup=ready, unit="L", path=["0604", "0603"]) == "K-10.1"


def test_an_hq_moves_as_cavalry_and_not_into_enemy_zones_k_12_1():
    ready = setup(unit("G1", "0703"), hq=HQ | {"hex": "0505"}, map={"terrain": {"woods": ["0504"]}})
    assert asked("move", setup=ready, unit="HQ", path=["0504"])["mp"] == 3
    assert barred("move", setup=ready, unit="HQ", path=["0604", "0603"]) == "K-12.1"


def test_roads_and_secondary_terrain_lie_on_a_map_k_2_2a_k_2_2b_k_4_6a():
    ground = {
        "terrain": {"woods": ["0504"]}, "secondary": [{"kind": "village", "hexes": ["0503"]}],
        "paths": [{"kind": "road", "hexes": ["0505", "0504"]}],
    }  # fmt: skip
    ready = setup(unit("R1", "0505"), unit("G1", "1212"), map=ground)
    assert asked("move", setup=ready, unit="R1", path=["0504", "0503"])["mp"] == 2
    assert asked("move", setup=ready, unit="R1", path=["0404", "0504"])["mp"] == 3
    seen = asked("sight", setup=ready, from_="0502", to="0505")
    assert set(seen["blocked_by"]) == {"0503", "0504"}


def cost(arm: str, *steps: Any, **keys: Any) -> dict[str, Any]:
    return asked("path_cost", arm=arm, steps=list(steps), charts=CHARTS, **keys)


def test_a_road_into_an_enemy_zone_serves_guns_alone_k_4_6b():
    step = {"terrain": "woods", "path": "road", "enemy_zone": True}
    assert [cost(arm, step)["mp"] for arm in ("infantry", "artillery")] == [2, 1]


def test_a_road_ignores_the_ground_and_hexsides_add_up_k_4_5_k_4_6a():
    assert cost("infantry", {"terrain": "woods", "hexside": "stream"})["mp"] == 3
    assert cost("infantry", {"terrain": "woods", "hexside": "stream", "path": "trail"})["mp"] == 1
    assert cost("artillery", {"terrain": "woods"})["why_not"]["rule"] == "K-4.5"
    assert cost("leader", {"terrain": "woods"}, {"path": "road"})["mp"] == 1.5
    stopped = cost("infantry", {"enemy_zone": True}, {})
    assert stopped["why_not"]["rule"] == "K-6.2a"


def test_a_march_by_road_costs_half_k_4_7c():
    road = {"path": "road"}
    marched = cost("infantry", *[road] * 8, *[{}] * 5, march=True, of=9)
    assert (marched["mp"], marched["mp_left"], marched["legal"]) == (9, 0, True)
    assert cost("infantry", *[road] * 8, *[{}] * 6, march=True, of=9)["why_not"]["rule"] == "K-4.3"
    past = cost("infantry", *[road] * 3, road | {"combat_unit": True}, *[road] * 4, march=True)
    assert past["mp"] == 5
    assert cost("infantry", *[road] * 3, {}, march=True, of=9)["mp_left"] == 6
    assert cost("infantry", {"terrain": "woods"}, march=True)["why_not"]["rule"] == "K-4.7a"
    trail = {"path": "trail", "terrain": "woods"}
    assert cost("infantry", trail, march=True)["mp"] == 1


def test_a_cost_that_no_chart_gives_is_asked_for_k_4_5():
    answer = asked("path_cost", arm="infantry", steps=[{"terrain": "swamp"}])
    assert (answer["mp"], answer["asks_for"]) == (None, ["terrain.swamp"])


def test_dice_above_the_printed_ma_are_thrown_again_k_4_4_k_10_3b():
    rolled = asked("allowance", ma=4, arm="infantry", why="disrupted", dice=[6, 5, 3])
    assert (rolled["rolls"], rolled["ma"], rolled["dice_used"]) == (True, 3, 3)
    assert asked("allowance", ma="V", arm="infantry", dice=[6])["ma"] == 6
    assert asked("allowance", ma=4, why="fow", leader_movement=2, dice=[3])["ma"] == 5
    assert asked("allowance", ma=4)["ma"] == 4
    with pytest.raises(BadInput, match="dice: expected another die, got 1"):
        asked("allowance", ma=4, why="fow", dice=[5])


def test_marching_units_add_three_to_their_dice_k_4_7b():
    foot = asked("allowance", ma=2, arm="infantry", march=True, why="hq_inactive", dice=[5])
    horse = asked("allowance", ma=8, arm="cavalry", march=True, why="overstacked", dice=[5, 6])
    assert (foot["ma"], horse["ma"]) == (8, 14)
    assert asked("allowance", ma=8, arm="cavalry", march=True)["ma"] == 15


def test_a_square_moves_at_half_rounded_down_k_9_5d():
    assert asked("allowance", ma=5, square=True)["ma"] == 2


def test_only_the_faster_or_the_covered_disengage_k_6_3():
    held = asked("disengage", ma=5, held_by=[4, 5])
    assert (held["allowed"], held["why_not"]["rule"]) == (False, "K-6.3")
    assert asked("disengage", ma=5, held_by=[4, 4])["rolls"]
    stuck = asked("disengage", ma=5, held_by=[4, 5], friend_stays=True, die=1, cheapest_exit_mp=2)
    assert (stuck["allowed"], stuck["moved"]) == (True, False)
    assert not asked("disengage", ma="V", held_by=[4])["allowed"]
    assert not asked("disengage", ma=5, held_by=[4], enters_zone=True)["allowed"]
    assert asked("disengage", ma=4, held_by=[9], time="night")["allowed"]


def test_disengaging_enters_no_enemy_zone_k_6_3():
    ready = setup(unit("R1", "0505", ma=5), unit("G1", "0504"))
    away = asked("move", setup=ready, unit="R1", path=["0506"])
    assert (away["legal"], away["because"]) == (True, ["it rolls for its MA: disengaging"])
    assert asked("move", setup=ready, unit="R1", path=["0404"])["legal"] is False
    slow = setup(unit("R1", "0505"), unit("G1", "0504"))
    assert barred("move", setup=slow, unit="R1", path=["0506"]) == "K-6.3"


def test_at_night_only_charges_enter_enemy_zones_k_14_2():
    ready = setup(unit("R1", "0505"), unit("G1", "0704"), begin={"time": "night"})
    assert barred("move", setup=ready, unit="R1", path=["0604"]) == "K-14.2"
    assert asked("move", setup=ready, unit="R1", path=["0604"], charge="0704")["legal"]


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ({"arm": "infantry", "units": ["leader", "battalion", "brigade"], "mp_to_adjacent": 2}, ""),
        ({"arm": "infantry", "mp_to_adjacent": 3}, "K-7.13c"),
        ({"arm": "infantry", "units": ["brigade", "brigade"], "mp_to_adjacent": 1}, "K-7.13c"),
        ({"arm": "infantry", "disrupted": True, "mp_to_adjacent": 1}, "K-7.13c"),
        ({"arm": "infantry", "through_friends": True, "mp_to_adjacent": 1}, ""),
        ({"arm": "infantry", "target_terrain": "woods", "mp_to_adjacent": 1}, "K-7.13c"),
        ({"arm": "cavalry", "through_friends": True, "mp_to_adjacent": 1}, "K-9.3"),
        ({"arm": "cavalry", "path_terrain": ["hill"], "mp_to_adjacent": 2}, "K-9.3"),
        ({"arm": "cavalry", "mp_to_adjacent": 2, "time": "night"}, "K-14.2"),
        ({"arm": "cavalry", "units": ["brigade", "squadron"], "mp_to_adjacent": 2,
          "time": "twilight"}, "K-14.3"),
        ({"arm": "cavalry", "kind": "countercharge"}, ""),
        ({"arm": "cavalry", "kind": "countercharge", "against": "bombardment"}, "K-9.4"),
        ({"arm": "infantry", "kind": "countercharge"}, "K-9.4"),
        ({"arm": "cavalry", "kind": "countercharge", "ineffective": True}, "K-9.4"),
    ],
)  # fmt: skip
def test_who_may_charge_k_7_13c_k_9_3_k_9_4(facts, rule):
    answer = asked("may_charge", charts=CHARTS, **facts)
    assert (answer["legal"], answer.get("why_not", {}).get("rule", "")) == (not rule, rule)


def test_a_charge_costs_one_or_two_points_and_starts_apart_k_7_13c():
    ready = setup(unit("R1", "0506"), unit("G1", "0503"))
    charged = asked("move", setup=ready, unit="R1", path=["0505", "0504"], charge="0503")
    assert charged["legal"]
    beside = setup(unit("R1", "0504"), unit("G1", "0503"))
    assert barred("move", setup=beside, unit="R1", path=[], charge="0503") == "K-7.13c"


def test_reinforcements_enter_in_column_k_13_1():
    column = [{"arm": "infantry", "ma": 5}] * 3
    assert asked("enter", units=column)["mp_left"] == [4, 3, 2]
    assert asked("enter", units=column, march=True, path="road")["mp_left"] == [8.5, 8, 7.5]
    small = [*column[:2], {"arm": "infantry", "ma": 5, "size": "battalion"}]
    assert asked("enter", units=small)["mp_left"] == [4, 3, 4]
    assert barred("enter", units=column, zone=True) == "K-13.1"


def test_more_than_three_brigades_and_batteries_are_overstacked_k_5_1_k_5_2_k_5_3():
    full = ["brigade", "brigade", "battery", "battalion", "leader", "hq"]
    fight = [
        {"kind": "brigade", "cf": 5},
        {"kind": "battery", "cf": 3},
        {"kind": "battalion", "cf": 2},
    ]
    assert asked("overstacked", units=full, fight=fight)["counts"] == [5, 3, 2]
    over = asked("overstacked", units=[*full, "brigade"], fight=fight)
    assert (over["overstacked"], over["all_roll_ma"], over["counts"]) == (True, True, [3, 2, 1])
    two = [{"kind": "brigade", "cf": 5}, {"kind": "brigade", "cf": 4}]
    assert asked("overstacked", units=["brigade"] * 2, fight=two)["counts"] == [5, 0]


# Lines of retreat.


def surrounded(*friends: Any) -> dict[str, Any]:
    return setup(
        unit("R1", "0505"), unit("G1", "0504"), unit("G2", "0606"), unit("G3", "0306"), *friends,
        hq=HQ | {"hex": "0510"},
    )  # fmt: skip


def test_a_friends_zone_negates_an_enemy_zone_k_7_6_k_g8():
    alone = asked("line", setup=surrounded(), unit="R1")
    assert alone["line"] == "valid"
    helped = asked("line", setup=surrounded(unit("R2", "0406")), unit="R1")
    assert (helped["line"], helped["path"][0]) == ("safe", "0506")
    idle = asked("line", setup=surrounded(unit("R2", "0406", disrupted=True)), unit="R1")
    assert idle["line"] == "valid"


def test_without_a_goal_a_line_leads_off_the_map_or_nowhere_k_7_6():
    assert asked("line", setup=setup(unit("R1", "0505")), unit="R1")["line"] == "edge"
    river = {"hexsides": {"river": [["0505", n] for n in (
        "0604", "0504", "0404", "0405", "0506", "0605")]}}  # fmt: skip
    assert asked("line", setup=setup(unit("R1", "0505"), map=river), unit="R1")["line"] == "none"


def test_a_retreat_leads_away_along_the_safe_line_k_7_9a_k_11_1():
    ready = setup(unit("R1", "0505"), unit("G1", "0504"), hq=HQ | {"hex": "0510"})
    one = asked("retreat", setup=ready, unit="R1", hexes=1)
    holds(one, line="safe", must_go=1, ends=["0405", "0506", "0605"])
    broken = setup(unit("R1", "0505", disrupted=True), unit("G1", "0504"), hq=HQ | {"hex": "0510"})
    two = asked("retreat", setup=broken, unit="R1", hexes=1)
    assert (two["must_go"], set(two["ends"])) == (
        2,
        {"0305", "0306", "0406", "0507", "0606", "0705", "0706"},
    )


def test_a_retreat_goes_on_out_of_a_negated_zone_k_7_9b():
    line = [{"mp": 1}, {"mp": 2, "zone": "negated"}, {"mp": 2}]
    walk = asked("retreat_path", ma=4, line=line, hexes=2)
    assert (walk["ends_at"], walk["routs_from"]) == (2, 2)
    assert asked("retreat_path", ma=5, line=line, hexes=2)["ends_at"] == 3
    assert asked("retreat_path", ma="V", line=line, hexes=2)["ends_at"] == 3
    assert asked("retreat_path", ma=4, line=line, hexes=1)["ends_at"] == 1


def test_each_enemy_zone_on_an_unsafe_line_is_checked_k_7_9c():
    line = [{"mp": 1, "zone": "enemy"}, {"mp": 1, "zone": "enemy"}, {"mp": 1, "zone": "enemy"}]
    assert asked("retreat_path", ma=4, line=line, hexes=2)["checks"] == 2


@pytest.mark.parametrize(
    ("line", "turn", "expected"),
    [
        ("safe", 3, (3, True, None, False, False)), ("valid", 3, (0, False, 5, False, False)),
        ("valid", 7, (0, False, None, True, False)), ("edge", 6, (0, False, 8, False, False)),
        ("none", 3, (0, False, None, False, True)),
    ],
)  # fmt: skip
def test_a_rout_goes_by_its_line_k_7_10_k_4_1(line, turn, expected):
    fate = asked("rout", line=line, turn=turn, turns=8)
    keys = ("retreat_hexes", "disrupted", "trt", "set_aside", "captured")
    assert tuple(fate[key] for key in keys) == expected


def test_victors_advance_into_or_beside_the_vacated_hex_k_7_12_k_8_3():
    ready = setup(
        unit("R1", "0805"), unit("R2", "0805", arm="artillery"), unit("R3", "0805", disrupted=True),
        begin={"active_side": RED},
    )  # fmt: skip
    went = asked("advance", setup=ready, vacated="0806", units=["R1", "R2", "R3"])["hexes"]
    assert went == {"R1": ["0706", "0806", "0906"], "R2": [], "R3": []}
    far = asked("advance", setup=ready, vacated="0806", units=["R1"], defenders_only_routed=True)
    assert set(far["hexes"]["R1"]) == {"0706", "0806", "0906", "0707", "0907", "0807"}


def test_units_return_beside_active_posts_k_13_2():
    ready = setup(
        unit("G1", "0507"), hq=HQ | {"hex": "0505"}, trains={"side": RED, "hex": "1010"},
        loc={RED: ["0115"]},
    )  # fmt: skip
    hexes = asked("reentry", setup=ready)["hexes"]
    assert {"0505", "0504", "0115"} <= set(hexes)
    assert {"0506", "1010"}.isdisjoint(hexes)
    assert "1011" in hexes
    listed = setup(unit("G1", "0901"), hq=HQ | {"active": False}, loc=["0110"])
    assert set(asked("reentry", setup=listed)["hexes"]) == {"0109", "0110", "0111", "0209", "0210"}
    cut = setup(unit("G1", "0115"), hq=HQ | {"hex": "0505"}, loc={RED: ["0115"]})
    assert asked("reentry", setup=cut)["hexes"] == []


# Sight and guns.


def test_sight_along_a_hexside_is_blocked_by_both_hexes_k_8_6_k_g7():
    def blocked(*woods: str, to: str = "1005", from_: str = "0805") -> Any:
        ready = setup(map={"terrain": {"woods": [*woods]}})
        return asked("sight", setup=ready, from_=from_, to=to)["blocked_by"]

    assert blocked("0905") == []
    assert set(blocked("0905", "0906")) == {"0905", "0906"}
    assert blocked("0804", to="0803") == ["0804"]
    ridge = setup(map={"hexsides": {"ridge": [["0804", "0803"]]}})
    seen = asked("sight", setup=ridge, from_="0805", to="0803")
    holds(seen, sight=False, blocked_by=[["0804", "0803"]], readings=["R-03"])


@pytest.mark.parametrize(
    ("time", "near", "far"), [("night", 0, 0), ("twilight", 1, 0), ("day", 1, 1)]
)
def test_darkness_shortens_sight_k_14_2_k_14_3(time, near, far):
    seen = [
        asked("sight", setup=setup(), from_="0805", to=to, time=time) for to in ("0804", "0803")
    ]
    assert [answer["sight"] for answer in seen] == [bool(near), bool(far)]


def gun(hex: str, **keys: Any) -> dict[str, Any]:
    return unit("RG", hex, arm="artillery", **keys)


def bombards(target: str, *others: Any, gun_keys: Any = None, **keys: Any) -> dict[str, Any]:
    ready = setup(gun("0805", **(gun_keys or {})), *others, **keys)
    return asked("may_bombard", setup=ready, unit="RG", target=target)


def test_guns_on_a_hill_reach_a_hex_farther_k_8_7():
    hill = bombards("0801", map={"terrain": {"hill": ["0805"]}})
    assert (hill["may"], hill["range"], hill["of"]) == (True, 4, 4)
    assert bombards("0801")["why_not"]["rule"] == "K-8.7"


def test_adjacent_hexes_are_bombarded_across_prohibited_sides_k_8_4a():
    assert bombards("0804")["why_not"]["rule"] == "K-8.4a"
    assert bombards("0804", map={"hexsides": {"river": [["0804", "0805"]]}})["may"]
    assert bombards("0803", gun_keys={"disrupted": True})["why_not"]["rule"] == "K-8.4a"
    assert bombards("0803", gun_keys={"range": 0})["why_not"]["rule"] == "K-8.4a"


def test_terrain_barred_to_guns_is_not_bombarded_k_8_2():
    marsh = {"terrain": {"marsh": {"mp": {"infantry": 3}}}}
    ready = setup(gun("0805"), map={"terrain": {"marsh": ["0803"]}}) | {"charts": marsh}
    assert barred("may_bombard", setup=ready, unit="RG", target="0803") == "K-8.2"
    assert bombards("0803", map={"terrain": {"woods": ["0803"]}})["may"]


def test_support_comes_from_beside_an_attacker_away_from_enemies_k_8_8():
    def supports(*others: Any) -> Any:
        ready = setup(gun("0805"), unit("R1", "0804"), unit("G1", "0803"), *others)
        return asked("may_support", setup=ready, unit="RG", attackers=["R1"], target="0803")

    assert supports()["may"]
    assert supports(unit("G2", "0905"))["why_not"]["rule"] == "K-8.8"


def test_bombardment_doubles_on_cavalry_and_joins_if_coordinated_k_8_5_k_8_4c():
    guns = [{"id": "a", "attack": 3}, {"id": "b", "attack": 4}]
    horse = asked("bombard", guns=guns, coordinated=True, target={"arm": "cavalry"})
    assert [roll["total"] for roll in horse["rolls"]] == [14]
    foot = asked("bombard", guns=guns, target={"arm": "infantry"}, charts=CHARTS, dice=[6, 3])
    first, second = foot["rolls"]
    assert (first["total"], first["printed"], first["result"]) == (3, "Dx+Ammo", "Dx")
    assert (first["ammo"], second["result"], second["column"]) == (True, "Dr", "4 to 6")
    assert foot["house"]
    with pytest.raises(BadInput, match="dice: expected 2 dice, one a roll, got 1"):
        asked("bombard", guns=guns, target={"arm": "infantry"}, dice=[6])


def test_bombardment_ignores_attackers_and_second_results_k_8_5():
    guns = [{"id": "a", "attack": 1}]
    shots = [asked("bombard", guns=guns, target={}, charts=CHARTS, dice=[die])["rolls"][0]
             for die in (1, 5, 3)]  # fmt: skip
    assert [(shot["printed"], shot["result"]) for shot in shots] == [
        ("Ac(NE)", "NE"), ("Dc(NE)", "Dc"), ("Ex", "Ex"),
    ]  # fmt: skip


# The differential.


def reckoned(attackers: Any, defenders: Any, **keys: Any) -> dict[str, Any]:
    return asked("differential", attackers=attackers, defenders=defenders, **keys)


@pytest.mark.parametrize(("cf", "once", "twice"), [(5, 3, 1), (1, 1, 1), (0, 0, 0), (6, 3, 1)])
def test_halving_rounds_up_and_twice_is_one_k_7_7_k_2_4b(cf, once, twice):
    foot = unit("R1", cf=cf, paren=True)
    over = {"attacker": True}
    assert reckoned([foot], [unit("G1")])["counts"]["R1"] == once
    assert reckoned([foot], [unit("G1")], overstacked=over)["counts"]["R1"] == twice


def test_uncoordinated_units_are_halved_k_7_7_k_7_14():
    main = unit("R1", cf=6, formation="1", primary=True)
    foe = [unit("G1", cf=4)]
    same = reckoned([main, unit("R2", paren=True, formation="1")], foe)
    assert (same["differential"], same["coordinated"]) == (5, True)
    other = reckoned([main, unit("R2", paren=True, formation="2")], foe)
    holds(other, differential=3, halved={"R2": ["parentheses", "uncoordinated"]})
    two = [main, unit("R2", formation="2")]
    assert reckoned(two, foe)["attack_total"] == 9
    span = {"attacker": {"id": "L", "span": ["1", "2"], "coordinates": True}}
    assert reckoned(two, foe, leaders=span)["attack_total"] == 11
    assert reckoned(two, foe, options={"coordination": False})["attack_total"] == 11
    assert reckoned([main, unit("R2", formation="A")], foe)["coordinated"]


def test_disruption_halves_the_attack_and_not_the_defence_k_11_1():
    sums = reckoned([unit("R1", disrupted=True)], [unit("G1", disrupted=True)])
    assert (sums["attack_total"], sums["defence_total"]) == (3, 5)
    assert sums["halved"] == {"R1": ["disrupted"]}


def test_leaders_support_and_tactics_are_added_whole_k_7_7_k_8_8_k_10_3e():
    sums = reckoned(
        [unit("R1")], [unit("G1", arm="cavalry", cf=3)], support=[unit("RG", arm="artillery")],
        leaders={"attacker": {"id": "L", "combat": 2, "participates": True}},
        tactics={"attacker": "press", "defender": "last_stand"},
    )  # fmt: skip
    assert sums["counts"] == {"R1": 5, "G1": 3, "RG": 8, "L": 2, "press": 2, "last_stand": 3}
    assert (sums["differential"], sums["readings"]) == (11, ["R-11"])


def test_an_attack_on_the_map_counts_its_ground_and_who_fights_k_5_3_k_7_4_k_2_2c():
    ground = {"hexsides": {"stream": [["0505", "0504"]]}}
    ready = setup(
        unit("R1", "0505", formation="1"), unit("R2", "0604", formation="2"), unit("G1", "0504"),
        unit("G2", "0504", cf=2), unit("GG", "0504", arm="artillery"), map=ground,
        leaders=[{"id": "L", "side": RED, "hex": "0605", "span": ["1", "2"]}],
    )  # fmt: skip
    sums = asked("differential", setup=ready, attack={"units": ["R1", "R2"], "target_hex": "0504"})
    holds(sums, counts={"R1": 3, "R2": 5, "G1": 5, "GG": 2}, halved={"R1": ["terrain"]})
    assert sums["coordinated"]


def test_units_attack_neighbours_that_they_could_enter_k_7_1_k_7_5():
    river = {"hexsides": {"river": [["0505", "0504"]]}}

    def rule(foe: str, *, map: Any = None, time: str = "day", **keys: Any) -> str:
        ready = setup(unit("R1", "0505", **keys), unit("G1", foe), map=map, begin={"time": time})
        attack = {"units": ["R1"], "target_hex": foe}
        answer = asked("differential", setup=ready, attack=attack)
        assert answer["differential"] is None
        return answer["why_not"]["rule"]

    assert [rule("0503"), rule("0504", map=river), rule("0504", cf=0)] == [
        "K-7.1",
        "K-7.5",
        "K-7.5",
    ]
    assert [rule("0504", square=True), rule("0504", time="night")] == ["K-9.5d", "K-14.2"]


@pytest.mark.parametrize(
    ("formations", "leader", "time", "expected"),
    [
        (["1", "1"], None, "day", True), (["1", "A"], None, "day", True),
        (["0", "0"], None, "day", False), (["0"], None, "day", True),
        (["1", "2"], {"span": ["1", "2"], "place": "adjacent"}, "day", True),
        (["1", "2"], {"span": ["1", "2"], "place": "farther"}, "day", False),
        (["1", "2"], {"span": ["1"]}, "day", False),
        (["1", "2"], {"span": ["1", "2"], "ineffective": True}, "day", False),
        (["1", "2"], {"span": ["1", "2"]}, "twilight", False),
    ],
)  # fmt: skip
def test_attacks_are_coordinated_by_formation_or_leader_k_2_4a_k_7_14_k_10_2_k_10_3d(
    formations, leader, time, expected
):
    led = {} if leader is None else {"leader": leader}
    assert asked("coordinated", formations=formations, time=time, **led)["coordinated"] is expected


# Morale.


@pytest.mark.parametrize(
    ("facts", "passes_on"),
    [
        ({"mr": 4}, [1, 2, 3, 4]), ({"mr": 6}, [1, 2, 3, 4, 5]), ({"mr": 1}, [1]),
        ({"mr": 0}, [1]), ({"mr": 4, "modifiers": ["disrupted"]}, [1, 2]),
        ({"mr": 4, "leader": 2}, [1, 2, 3, 4, 5]),
        ({"mr": 4, "leader": 2, "modifiers": ["night"]}, [1, 2, 3, 4]),
        ({"mr": 4, "modifiers": ["twilight"]}, [1, 2, 3]),
        ({"mr": 4, "modifiers": ["disrupted", "night"]}, [1]),
        ({"mr": 4, "square": True}, [1, 2, 3, 4, 5]),
    ],
)  # fmt: skip
def test_a_natural_1_passes_and_a_6_fails_k_2_4c_k_10_3c(facts, passes_on):
    assert asked("morale", **facts)["passes_on"] == passes_on
    assert asked("morale", die=6, **facts)["passed"] is False


def test_defenders_without_a_safe_line_check_first_k_7_3_k_8_1():
    def checked(line: str, die: int, **keys: Any) -> Any:
        facts = {"unit": unit("G1", **keys), "line": line, "die": die, "turn": 3, "turns": 8}
        return asked("check_before_combat", **facts)

    assert checked("safe", 6)["check"] is False
    assert checked("valid", 4)["passed"]
    shaken = checked("valid", 5)
    assert (shaken["disrupted"], shaken["defends"]) == (True, True)
    gone = checked("valid", 3, disrupted=True)
    assert (gone["defends"], gone["fate"]["trt"]) == (False, {"G1": 5})
    assert checked("none", 3, disrupted=True)["fate"]["captured"] == ["G1"]
    assert checked("valid", 5, arm="artillery")["passed"]


# Results.


def fate(code: str, *defenders: Any, dice: Any = (), attackers: Any = None, **keys: Any) -> Any:
    units = [*(attackers or [unit("R1")]), *(defenders or [unit("G1", steps=2)])]
    facts = {"turn": 3, "turns": 8, "attacker": RED, "dice": [*dice], "units": units} | keys
    return asked("result", code=code, **facts)["fate"]


SQUADRON = unit("G2", arm="cavalry", size="squadron")


def test_dr_disrupts_or_sends_all_back_k_7_8_k_7_9d_k_2_6_k_2_7():
    stays = fate("Dr", unit("G1", primary=True), SQUADRON, choice="disrupt")
    holds(stays, disrupted=["G1"], stays=["R1", "G1", "G2"], ineffective=[])
    back = fate("Dr", unit("G1", primary=True), SQUADRON, choice="retreat")
    assert (back["retreats"], back["ineffective"]) == (["G1", "G2"], ["G2"])
    assert (back["advance_up_to"], back["retreat_hexes"]["G1"]) == (1, 1)


def test_dr_on_a_disrupted_unit_is_checked_k_7_8():
    broken = unit("G1", disrupted=True, primary=True)
    held = fate("Dr", broken, SQUADRON, choice="disrupt", dice=[2])
    assert (held["check"], held["stays"]) == ("pass", ["R1", "G1", "G2"])
    gone = fate("Dr", broken, SQUADRON, choice="disrupt", dice=[3])
    assert (gone["check"], gone["routs"], gone["retreats"]) == ("fail", ["G1"], ["G2"])


def test_dm_routs_with_a_fortune_of_war_or_gives_way_k_7_8_k_7_12():
    gone = fate("Dm(Dr)", dice=[5])
    assert (gone["routs"], gone["fow"], gone["advance_up_to"]) == (["G1"], {RED: 1}, 2)
    assert (gone["retreat_hexes"], gone["disrupted"]) == ({"G1": 3}, ["G1"])
    alone = {"units": [unit("G1")], "attacker": RED, "dice": [6], "turn": 1, "turns": 8}
    assert asked("result", code="Dm(Dr)", **alone)["fate"]["fow"] == {RED: 1}
    second = fate("Dm(Dr)", dice=[4], choice="disrupt")
    assert (second["check"], second["then"], second["disrupted"]) == ("pass", "Dr", ["G1"])


def test_dc_retreats_on_a_failed_check_alone_k_7_8():
    assert fate("Dc(NE)", dice=[5])["retreats"] == ["G1"]
    held = fate("Dc(NE)", dice=[4])
    assert (held["then"], held["stays"]) == ("NE", ["R1", "G1"])


def test_de_takes_a_step_and_sends_the_rest_back_k_7_8_k_7_11_k_2_5():
    two = fate("De", dice=[4])
    assert (two["steps"], two["retreats"]) == ({"G1": 1}, ["G1"])
    one = fate("De", unit("G1"), SQUADRON, dice=[4])
    assert (one["eliminated"], one["set_aside"], one["retreats"]) == (["G1"], ["G1"], ["G2"])
    lost = fate("De", unit("G1", line="none"), dice=[4])
    assert (lost["captured"], lost["set_aside"]) == (["G1"], [])
    gone = fate("De", dice=[5])
    assert (gone["routs"], gone["fow"], gone["advance_up_to"]) == (["G1"], {}, 2)


def test_dx_costs_a_step_or_the_hex_k_7_8_k_7_11():
    assert fate("Dx", choice="step")["steps"] == {"G1": 1}
    back = fate("Dx", choice="retreat")
    assert (back["retreats"], back["disrupted"]) == (["G1"], ["G1"])
    with pytest.raises(BadInput, match="choice: expected step or retreat"):
        fate("Dx")


def test_cavalry_flees_from_every_x_result_k_9_2():
    horse = fate("Dx", unit("G1", arm="cavalry"))
    assert (horse["retreats"], horse["disrupted"], horse["ineffective"]) == (["G1"],) * 3
    both = fate("Ex", unit("G1", arm="cavalry"), attackers=[unit("R1", steps=2)])
    assert (both["retreats"], both["steps"], both["advance_up_to"]) == (["G1"], {"R1": 1}, 0)


def test_results_strike_the_attacker_alike_k_7_8_k_7_8x():
    gone = fate("Am(Ar)", dice=[6])
    assert (gone["routs"], gone["fow"], gone["advance_up_to"]) == (["R1"], {GREY: 1}, 1)
    assert fate("Ar+DF", choice="disrupt")["fow"] == {GREY: 1}
    assert fate("NE")["stays"] == ["R1", "G1"]


def test_units_retreat_and_rout_by_their_lines_k_7_9c_k_7_10():
    edge = fate("Dr", unit("G1", line="edge"), choice="retreat")
    assert (edge["routs"], edge["trt"]) == (["G1"], {"G1": 5})
    caught = fate("Dm(Dr)", unit("G1", line="none"), dice=[6])
    assert (caught["captured"], caught["advance_up_to"]) == (["G1"], 1)
    far = fate("Dr", unit("G1", disrupted=True), choice="retreat")
    assert far["retreat_hexes"] == {"G1": 2}


def test_missing_and_surplus_dice_are_refused_k_7_8():
    with pytest.raises(BadInput, match="dice: expected a die for the morale check of G1"):
        fate("Dm(Dr)")
    with pytest.raises(BadInput, match="dice: expected 1 dice less"):
        fate("NE", dice=[3])
    with pytest.raises(BadInput, match="code: expected a result such as"):
        fate("Dq")


# Tactics.


def skirmish(die: int | None = None, own: Any = None, **enemy: Any) -> dict[str, Any]:
    ready = setup(unit("R1", "0505", **({"ma": 5} | (own or {}))), unit("G1", "0503", **enemy))
    thrown = {} if die is None else {"die": die}
    return asked("skirmish", setup=ready, unit="R1", target="G1", **thrown)


def test_skirmishers_count_their_ma_k_7_13a_k_2_4d():
    assert skirmish()["differential"] == 1
    assert skirmish(bracket=True)["differential"] == 5
    assert skirmish(own={"disrupted": True})["differential"] == -1
    assert skirmish(own={"bracket": True})["why_not"]["rule"] == "K-7.13a"
    becomes = {die: skirmish(die) for die in range(1, 7)}
    assert {answer["printed"]: answer["becomes"] for answer in becomes.values()} == {
        "Ac(NE)": "NE", "NE": "NE", "Ex": "NE", "Dr": "Dr", "Dc(NE)": "Dc(NE)", "Dx+Ammo": "Dr",
    }  # fmt: skip
    ready = setup(unit("R1", "0505"), unit("G1", "0502"))
    assert asked("skirmish", setup=ready, unit="R1", target="G1")["legal"] is False


def test_pressing_forward_costs_a_step_unless_the_defender_routs_k_7_13b():
    def pressed(**keys: Any) -> Any:
        facts = {"attack": 7, "defence": 6, "tactics": {"attacker": "press"}, "charts": CHARTS}
        return asked("combat", **facts | {"mr": {"attacker": 4, "defender": 4}} | keys)

    back = pressed(die=4, choice="retreat")
    assert (back["differential"], back["printed"], back["retreats"]) == (3, "Dr", ["defender"])
    assert back["attacker_loses_extra_step"]


def test_a_charge_is_checked_and_changes_results_k_7_13c():
    def charged(morale_die: int, **keys: Any) -> Any:
        facts = {"attack": 6, "defence": 4, "charge": "infantry", "morale_die": morale_die}
        facts |= {"mr": {"attacker": 4, "defender": 4}, "die": 2, "charts": CHARTS}
        return asked("combat", **facts | keys)

    failed = charged(5, defence=-2, choice="disrupt")
    assert (failed["attack_counts"], failed["printed"], failed["becomes"]) == (3, "Dr", "Dr")
    pressed = charged(3, die=4, dice=[4], choice="step")
    assert (pressed["becomes"], pressed["fate"]["then"]) == ("Dm(Ax)", "Ax")
    assert charged(3, die=1, choice="step")["becomes"] == "Ax"
    assert charged(3, die=4)["becomes"] == "Dm(Ax)"


def test_a_last_stand_costs_a_step_unless_the_attacker_retreats_k_7_13e():
    facts = {"attack": 6, "defence": 3, "tactics": {"defender": "last_stand"}, "charts": CHARTS}
    stood = asked("combat", die=4, **facts)
    assert (stood["differential"], stood["printed"]) == (0, "NE")
    assert stood["defender_loses_extra_step"]


@pytest.mark.parametrize(
    ("code", "who", "expected"),
    [
        ("Ex", "both", ("Ar", "Dr", "defender")), ("Dx", "attacker", ("Ar", None, None)),
        ("Ac(NE)", "attacker", ("Ar", None, None)), ("Ax", "attacker", ("Ax", None, None)),
        ("Ax", "defender", (None, "Dr", None)), ("Dc(NE)", "defender", (None, "Dr", None)),
        ("Dx", "defender", (None, "Dx", None)), ("NE", "both", (None, None, None)),
    ],
)  # fmt: skip
def test_disengaging_turns_results_into_retreats_k_7_13d(code, who, expected):
    answer = asked("tactic_result", code=code, disengages=who)
    assert (answer["attacker"], answer["defender"], answer["first"]) == expected
    assert answer["flips"] is False


def test_a_cavalry_charge_counts_its_factor_and_captures_k_9_3():
    charged = asked(
        "combat", attack=4, defence=4, charge="cavalry", charge_factor=7, die=4, dice=[5],
        mr={"defender": 4, "attacker": 4}, capture={"cf": 4, "dice": [4, 5]}, charts=CHARTS,
    )  # fmt: skip
    holds(charged, differential=3, becomes="Dm(Ax)", routs="defender")
    assert (charged["advance_up_to"], charged["may_charge_again"]) == (3, True)
    assert (charged["captures"], charged["ineffective_at_end"]) == ([True, False], True)


def test_a_countercharge_makes_both_flee_or_one_rout_k_9_4():
    def met(die: int, dice: list[int]) -> Any:
        facts = {"charge": "cavalry", "charge_factor": 7, "countercharge": {"charge": 6}}
        facts |= {"mr": {"attacker": 4, "defender": 4}, "die": die, "dice": dice}
        return asked("combat", charts=CHARTS, **facts)

    both = met(2, [])
    assert (both["differential"], both["fate"]["first"]) == (1, "attacker")
    assert both["retreats"] == both["fate"]["disrupted"] == ["attacker", "defender"]
    assert met(4, [5])["routs"] == "defender"
    assert met(4, [4])["retreats"] == ["attacker", "defender"]
    turned = asked("combat", attack=5, defence=3, countercharge={"charge": 7}, charts=CHARTS)
    assert (turned["who_attacks"], turned["differential"]) == ("defender", 2)


@pytest.mark.parametrize(
    ("die", "routs", "then"), [(5, False, "Ax"), (6, True, None), (1, False, "Ax")]
)
def test_a_square_stands_and_the_chargers_suffer_k_9_5c(die, routs, then):
    answer = asked("square", mr=4, form_die=4, result="Dr+Leader", morale_die=die, ma=5)
    assert (answer["formed"], answer["becomes"], answer["defends_alone"]) == (True, "Dm(Ax)", True)
    assert (answer["routs"], answer["then"]) == (routs, then)
    assert (answer["leader_check"], answer["ma"]) == (False, 2)


def test_a_square_that_fails_to_form_is_disrupted_k_9_5a():
    answer = asked("square", mr=4, form_die=5, result="Dr", morale_die=3)
    assert (answer["formed"], answer["disrupted"], answer["routs"]) == (False, True, True)


def test_an_infantry_charge_at_night_routs_or_flees_k_14_2():
    def charged(die: int, dice: list[int]) -> Any:
        return asked("combat", attack=6, defence=4, charge="infantry", morale_die=1, die=die,
                     dice=dice, mr={"attacker": 4, "defender": 4}, time="night", choice="step",
                     charts=CHARTS)  # fmt: skip

    won = charged(4, [3])
    assert (won["routs"], won["advance_up_to"]) == ("defender", 1)
    lost = charged(2, [])
    assert (lost["retreats"], lost["fate"]["disrupted"], lost["advance_up_to"]) == (
        ["attacker"], ["attacker"], 0,
    )  # fmt: skip


# Combat phases and armies.


def test_defenders_trigger_by_their_zones_k_7_2a():
    ready = setup(
        unit("R1", "0505"), unit("G1", "0504"), unit("G2", "0504"),
        unit("G3", "0604", disrupted=True),
        begin={"active_side": RED},
    )  # fmt: skip
    answer = asked("triggered", setup=ready)
    assert (answer["triggered"], answer["by"]["G1"]) == (["G1", "G2"], ["R1"])


def test_triggered_units_not_attacked_give_fortunes_of_war_k_7_2b_k_8_4d():
    facts = {"triggered": ["G1", "G2"], "same_hex": [["G1", "G2"]]}
    assert asked("fow_due", **facts)["count"] == 2
    assert asked("fow_due", done=[{"attack": "G1", "result": "NE"}], **facts)["count"] == 0
    assert asked("fow_due", done=[{"bombard": "G1", "result": "NE"}], **facts)["count"] == 2
    struck = asked("fow_due", done=[{"bombard": "G1", "result": "Dr"}], **facts)
    assert struck["on"] == ["G2"]
    assert asked("fow_due", done=[{"skirmish": "G2", "result": "NE"}], **facts)["on"] == []


@pytest.mark.parametrize(
    ("role", "die", "dead"),
    [("stacked", 5, False), ("stacked", 6, True), ("participating", 5, True),
     ("coordinating", 5, False), ("participating", 4, False), ("alone", 6, True)],
)  # fmt: skip
def test_leaders_die_on_high_dice_k_10_4(role, die, dead):
    assert asked("leader", role=role, die=die)["dead"] is dead


def recovered(*others: Any, **facts: Any) -> Any:
    broken = unit("R1", "0505", disrupted=True)
    time = facts.pop("time", "day")
    ready = setup(broken, *others, hq=HQ, begin={"time": time})
    return asked("recovery", setup=ready, unit="R1", **facts)


def test_a_disrupted_unit_recovers_out_of_reach_k_11_1f():
    far = recovered(unit("G1", "0502"), die=4)
    assert (far["offered"], far["recovers"], far["may_move"]) == (True, True, False)
    assert recovered(unit("G1", "0502"), die=5)["recovers"] is False
    near = recovered(unit("G1", "0503"))
    assert (near["offered"], near["why_not"]["rule"]) == (False, "K-11.1f")
    assert recovered(moved=True)["offered"] is False


def test_effectiveness_comes_back_without_a_die_k_11_3():
    back = recovered(what="effectiveness")
    assert (back["die_needed"], back["recovers"]) == (False, True)


def test_at_night_units_recover_beside_enemies_k_14_2():
    back = recovered(unit("G1", "0504"), time="night")
    assert (back["recovers"], back["die_needed"], back["may_move"]) == (True, False, True)
    assert recovered(unit("G1", "0504"), time="night", fought=True)["offered"] is False


def test_an_hq_is_idle_when_moved_cut_off_or_attacked_k_12_1():
    active = asked("hq", hq={"safe_line_to": "loc"})
    assert (active["active"], active["all_roll_ma"], active["bars"]) == (True, False, ["none"])
    for fact in ({"moved": True}, {"in_zone": True}, {"attacked": True}, {"safe_line_to": None}):
        idle = asked("hq", hq={"safe_line_to": "loc"} | fact)
        assert (idle["active"], idle["bars"]) == (False, ["march", "reenter", "line"])


def test_attacks_on_posts_give_two_fortunes_of_war_k_12_1_k_12_2():
    alone = asked("hq", attack={"target": "hq_alone"})
    holds(alone, die=False, fow_to_attacker=2, captured_on_advance=True)
    guarded = asked("hq", attack={"target": "hq_with_brigade"})
    assert (guarded["die"], guarded["fow_to_attacker"]) == (True, 2)
    assert asked("hq", attack={"target": "trains"})["fow_to_attacker"] == 2


def test_a_loc_hex_works_without_enemies_k_12_3():
    assert asked("hq", loc={})["works"]
    assert not asked("hq", loc={"enemy_zone": True})["works"]


def test_fortunes_of_war_k_12_4():
    moved = asked("fow", choice="move_enemy", die=2, ma_die=3, ma=4)
    assert (moved["moves"], moved["ma"], moved["march"]) == (True, 3, False)
    assert asked("fow", choice="move_enemy", die=3)["moves"] is False
    assert asked("fow", choice="move_enemy", die=1, path="off_map")["legal"] is False
    assert asked("fow", choice="move_friend", ma_die=5, ma=4)["rolls_again"]
    charge = {"choice": "charge", "cf": [5, 2], "leader_combat": 1}
    assert asked("fow", morale="pass", **charge)["attack_total"] == 15
    assert asked("fow", morale="fail", **charge)["attack_total"] == 5
    assert barred("fow", unit={"in_zone": True}, **charge) == "K-12.4"
    assert asked("fow", choice="check_enemy", unit={"disrupted": True})["legal"] is False
    step = asked("fow", choice="recover_friend", what="step", morale="fail")
    assert (step["recovers"], step["destroyed"]) == (False, False)
    assert barred("fow", choice="keep") == "K-12.4"


@pytest.mark.parametrize(
    ("time", "do", "distance", "rule"),
    [
        ("day", "attack", 1, ""), ("night", "attack", 1, "K-14.2"),
        ("night", "infantry_charge", 1, ""), ("night", "cavalry_charge", 1, "K-14.2"),
        ("night", "bombard", 1, "K-14.2"), ("twilight", "bombard", 1, ""),
        ("twilight", "support", 2, "K-14.3"), ("twilight", "coordinate_by_leader", 1, "K-14.3"),
        ("night", "enter_zone", 1, "K-14.2"), ("twilight", "attack", 1, ""),
    ],
)  # fmt: skip
def test_night_and_twilight_forbid_k_14_1_k_14_2_k_14_3(time, do, distance, rule):
    answer = asked("may", time=time, do=do, distance=distance)
    assert (answer["may"], answer.get("why_not", {}).get("rule", "")) == (not rule, rule)


# Bad input.


def test_a_missing_fact_is_named_with_its_unit_k_2_4():
    with pytest.raises(BadInput, match="cf: expected this key of R1, but it is missing"):
        reckoned([{"id": "R1"}], [unit("G1")])
    with pytest.raises(BadInput, match="unit: expected one of the setup's units, got R9"):
        asked("line", setup=setup(unit("R1", "0505")), unit="R9")
    with pytest.raises(BadInput, match="hex: expected a hex of the map, got 9999"):
        asked("line", setup=setup(unit("R1", "9999")), unit="R1")


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"map": MAP | {"terrain": {"woods": "0505"}}}, "terrain.woods: expected a list"),
        ({"map": MAP | {"hexsides": {"river": [["0505"]]}}}, "hexsides.river"),
        ({"map": MAP | {"paths": [{"kind": "canal", "hexes": ["0505", "0504"]}]}}, "paths"),
        ({"loc": ["9999"]}, "loc: expected a hex of the map, got 9999"),
        ({"units": [unit("R1")]}, "unit: expected a hex of R1, but it is missing"),
    ],
)
def test_bad_input_is_one_line_that_names_the_key(facts, message):
    with pytest.raises(BadInput) as caught:
        asked("move", setup=setup(unit("R1", "0505")) | facts, unit="R1", path=["0504"])
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_result_needs_a_unit_that_it_strikes_k_7_8():
    with pytest.raises(BadInput, match="units: expected a unit of the attacker that takes part"):
        asked("result", code="Ex", attacker=RED, units=[unit("G1")])
