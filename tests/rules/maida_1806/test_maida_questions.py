"""Each question to the rules, by the examples of the checklist; a test's name has its rule."""

from __future__ import annotations

from typing import Any

import pytest

from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.rules.game_files import house_options
from tablecam.rules.maida_1806.questions import QUESTIONS
from tests.rules.maida_1806.games import OPEN

MAP = {
    "orientation": "flat", "hex_size_mm": 20.0, "origin_mm": [100, 500], "columns": 16,
    "rows": 19, "numbering": "CCRR", "shifted": "even",
}  # fmt: skip
CHARTS = dict(house_options("maida-1806")["charts"])
FRENCH = {"line": 66, "column": 20, "square": 20}
assert OPEN.columns == MAP["columns"]


def asked(ask: str, **facts: Any) -> dict[str, Any]:
    return QUESTIONS.answer(document_from({"ask": ask} | facts, "question"))


def barred(ask: str, **facts: Any) -> str:
    """The rule that forbids it."""
    return asked(ask, **facts)["why_not"]["rule"]


def unit(name: str, side: str, place: Any, facing_deg: int = 60, **keys: Any) -> dict[str, Any]:
    hexes = {"hexes": place} if isinstance(place, list) else {"hex": place}
    usual = {"full_strength": 5, "morale": [7, 6], "firepower": FRENCH, "formation": "column"}
    if keys.get("arm") == "artillery":
        usual = {"stars": 0, "ranges": [{"from": 1, "to": 4, "result": "1M"}]}
    if isinstance(place, list):
        usual["formation"] = "line"
    return {"id": name, "side": side, "facing_deg": facing_deg} | hexes | usual | keys


def setup(*units: Any, map: Any = None, **keys: Any) -> dict[str, Any]:
    return {"map": MAP | (map or {}), "charts": CHARTS, "units": list(units)} | keys


def leader(name: str, side: str, hex: str, **keys: Any) -> dict[str, Any]:
    return {"id": name, "side": side, "hex": hex} | keys


# Hexes.


def test_a_counter_is_placed_in_its_hex_and_facing_d_g3_d_g4():
    counter = {"id": "a", "x_mm": 171.5, "y_mm": 417.8, "heading_deg": 75}
    placed = asked("place", map=MAP, counters=[counter])["counters"]["a"]
    assert (placed["hex"], placed["facing_deg"], placed["facing"]) == ("0505", 60, "clear")
    assert placed["front"] == ["0604", "0504"] or set(placed["front"]) == {"0504", "0604"}
    unclear = asked("place", map=MAP, counters=[counter | {"heading_deg": 82}])
    assert unclear["counters"]["a"]["facing"] == "unclear"


def test_a_line_on_two_hexes_is_placed_on_both_d_g6():
    counter = {"id": "a", "x_mm": 177.94, "y_mm": 415.0, "heading_deg": 60, "width_mm": 30,
               "depth_mm": 15}  # fmt: skip
    placed = asked("place", map=MAP, counters=[counter])["counters"]["a"]
    assert placed["hexes"] == ["0505", "0605"]


def test_neighbours_are_those_on_the_map_d_g2():
    around = asked("neighbours", map=MAP, hex="0505")["hexes"]
    assert set(around) == {"0604", "0504", "0404", "0405", "0506", "0605"}
    assert len(asked("neighbours", map=MAP, hex="0101")["hexes"]) < 6


def test_a_hex_off_the_map_is_refused_by_name_d_g1():
    with pytest.raises(BadInput, match="hex: expected a hex of the map, got 0599"):
        asked("neighbours", map=MAP, hex="0599")


def test_a_counter_that_vanishes_beside_a_friend_joins_its_stack_d_g12():
    units = [{"id": "A", "side": "french", "tag": 1}, {"id": "B", "side": "french", "tag": 2}]
    there = {"tag": 1, "x_mm": 169.3, "y_mm": 420.0, "heading_deg": 60}
    beside = {"tag": 2, "x_mm": 169.3, "y_mm": 440.0, "heading_deg": 60}
    after = asked("stacks_seen", map=MAP, units=units, positions=[[there, beside], [there]])
    assert after["after"][1]["proposed"] == {"kind": "join", "units": ["B"], "hex": "0505"}
    assert after["after"][1]["stacks"] == {"0505": ["A", "B"]}
    assert after["after"][1]["held"] == ["B"]


# Moves.


def test_a_line_moves_into_two_of_its_three_front_hexes_d_6_3_1_d_6_3_3():
    line = unit("L", "british", ["0505", "0605"], full_strength=7)
    steps = asked("steps", setup=setup(line), unit="L")
    assert {tuple(step["to"]): step["mp"] for step in steps["forward"]} == {
        ("0504", "0604"): 1.5, ("0604", "0705"): 1.5,
    }  # fmt: skip
    wheels = {(w["wheel"], w["backward"]): w for w in steps["wheels"]}
    left, back = wheels["left", False], wheels["right", True]
    assert (set(left["hexes"]), left["facing_deg"], left["mp"]) == ({"0505", "0604"}, 120, 1.5)
    assert (set(back["hexes"]), back["facing_deg"], back["mp"]) == ({"0505", "0506"}, 0, 2.5)
    assert steps["turns"] == []


def test_the_dearer_of_two_hexes_is_paid_once_d_6_3_2():
    line = unit("L", "british", ["0505", "0605"], full_strength=7)
    woods = {"terrain": {"thicket": ["0604"]}}
    steps = asked("steps", setup=setup(line, map=woods), unit="L")
    assert {step["mp"] for step in steps["forward"]} == {2.0}


def test_going_backward_and_turning_cost_one_more_and_one_d_12_6_d_12_7():
    steps = asked("steps", setup=setup(unit("C", "french", "0505")), unit="C")
    assert {(s["to"], s["mp"]) for s in steps["backward"]} == {("0405", 2.0), ("0506", 2.0)}
    assert {(s["turn"], s["facing_deg"], s["mp"]) for s in steps["turns"]} == {
        (60, 120, 1.0), (-60, 0, 1.0),
    }  # fmt: skip


def test_british_in_column_enter_no_enemy_in_their_own_subphase_d_5_1_d_11_10():
    enemy = unit("F", "french", "0604", 240)
    column = unit("B", "british", "0505")
    moved = asked("move", setup=setup(column, enemy), unit="B", steps=[{"to": "0604"}])
    assert (moved["legal"], moved["why_not"]["rule"]) == (False, "D-5.1")
    line = unit("B", "british", "0505", formation="line")
    moved = asked("move", setup=setup(line, enemy), unit="B", steps=[{"to": "0604"}])
    assert (moved["legal"], moved["mp_spent"], moved["may_go_on"]) == (True, 2.5, False)


def test_passing_through_friends_costs_one_and_joining_nothing_d_11_3():
    friends = setup(unit("C", "french", "0505"), unit("D", "french", "0604"))
    joined = asked("move", setup=friends, unit="C", steps=[{"to": "0604"}], ends=True)
    assert (joined["legal"], joined["mp_spent"]) == (True, 1.0)
    through = [{"to": "0604"}, {"to": "0704"}]
    assert asked("move", setup=friends, unit="C", steps=through)["mp_spent"] == 3.0


def test_a_stack_has_one_facing_when_the_move_ends_d_11_0():
    friends = setup(unit("C", "french", "0505"), unit("D", "french", "0604", 120))
    assert barred("move", setup=friends, unit="C", steps=[{"to": "0604"}], ends=True) == "D-11.0"


def test_the_whole_allowance_enters_a_dear_hex_d_12_5():
    thicket = CHARTS["terrain"]["thicket"]
    cost = {"cost": thicket["cost"] | {"column": 5}}
    dear = CHARTS | {"terrain": CHARTS["terrain"] | {"thicket": thicket | cost}}
    woods = {"terrain": {"thicket": ["0604"]}}
    for mp_left, legal in ((4, True), (3, False)):
        ready = setup(unit("C", "french", "0505", mp_left=mp_left), map=woods) | {"charts": dear}
        moved = asked("move", setup=ready, unit="C", steps=[{"to": "0604"}])
        assert moved["legal"] is legal


def test_a_double_march_spends_all_its_points_d_12_9():
    ready = setup(unit("L", "french", "0510", 60, formation="line", full_strength=5))
    steps = [{"to": "0509"}, {"to": "0508"}, {"to": "0507"}, {"to": "0506"}]
    march = {"setup": ready, "unit": "L", "double_march": True, "ends": True}
    whole = asked("move", steps=steps, **march)
    assert (whole["legal"], whole["mp_allowance"], whole["mp_spent"]) == (True, 6, 6.0)
    assert barred("move", steps=steps[:3], **march) == "D-12.9"


def test_a_charge_has_three_empty_hexes_before_the_entry_d_9_2_1():
    steps = [{"to": "0405"}, {"to": "0505"}, {"to": "0605"}]
    horse = unit("H", "french", "0305", 0, arm="cavalry", full_strength=3)
    ready = setup(horse, unit("B", "british", "0706", 180))
    assert asked("charge", setup=ready, unit="H", steps=steps, target="0706")["legal"]
    assert barred("charge", setup=ready, unit="H", steps=steps[:2], target="0605") == "D-9.2.1"


# Reactions.


def test_the_movers_front_triggers_reactions_d_13_1():
    mover = unit("M", "french", "0604", 240)
    others = [unit(n, "british", n) for n in ("0505", "0605", "0504")]
    who = asked("triggered", setup=setup(mover, *others), unit="M", did="entered")
    assert set(who["must_react"]) == {"0505", "0605"}


def test_nobody_must_react_to_a_company_or_may_to_a_gun_d_8_8_d_13_7():
    enemy = unit("B", "british", "0505")
    company = unit("C", "french", "0504", kind="company", fire_result="M", full_strength=1)
    who = asked("triggered", setup=setup(company, enemy), unit="C", did="entered")
    assert (who["must_react"], who["may_react"]) == ([], ["B"])
    gun = unit("G", "french", "0604", 240, arm="artillery")
    who = asked("triggered", setup=setup(gun, enemy), unit="G", did="entered")
    assert (who["must_react"], who["may_react"]) == ([], [])


def reacted(die: int, unit_keys: dict[str, Any], at: str = "0604", **keys: Any) -> dict[str, Any]:
    mover = unit("M", "british" if unit_keys.get("side") == "french" else "french", at, 240)
    side = unit_keys.pop("side", "british")
    own = unit("U", side, "0505", leader="boss", **unit_keys)
    chief = [leader("boss", side, "0506")] if keys.pop("command", True) else []
    ready = setup(own, mover | keys, leaders=chief)
    return asked("reaction", setup=ready, mover="M", unit="U", did="entered", die=die)


def test_british_foot_fire_and_counterattack_on_a_low_total_d_13_1a():
    low = reacted(4, {"nation": "english", "formation": "line"})
    assert (low["modifier_total"], low["total"]) == (-3, 1)
    assert {"fire", "counterattack", "fire+counterattack", "turn", "none"} == set(low["offered"])
    high = reacted(9, {"nation": "english", "formation": "line"})
    assert (high["total"], high["passed"], "fire+counterattack" in high["offered"]) == (
        6, True, False,
    )  # fmt: skip
    assert reacted(4, {"nation": "sicilian"})["total"] == 3


def test_a_failed_reaction_withdraws_or_routs_d_13_1a_d_13_2():
    flank = {"side": "french", "morale": [6, 5], "facing_deg": 0}
    rout = reacted(7, dict(flank), at="0504", command=False)
    assert (rout["total"], rout["rout"], rout["losses"]) == (9, True, 2)
    back = reacted(5, dict(flank), at="0504", command=False)
    assert (back["total"], back["rout"], back["losses"], back["withdraw"]) == (7, False, 1, 1)


def test_foot_against_horse_adds_up_its_formation_and_ground_d_13_1c():
    line = {"formation": "line"}
    held = reacted(6, dict(line), arm="cavalry")
    assert (held["modifiers"], held["passed"]) == (
        {"line": 1, "clear": 1, "in_command": -1}, True,
    )  # fmt: skip
    lost = reacted(7, dict(line), arm="cavalry")
    assert (lost["rout"], lost["losses"], lost["returns_turn"]) == (True, 2, 2)


def test_a_company_withdraws_two_hexes_when_it_fails_d_13_1b():
    company = {"kind": "company", "fire_result": "M", "full_strength": 1, "morale": [5]}
    failed = reacted(9, company)
    assert (failed["passed"], failed["withdraw"], failed["losses"]) == (False, 2, 0)
    assert all(len(path) == 2 for path in failed["withdraw_paths"])


def test_horse_counterattacks_turns_or_withdraws_d_13_1d_d_13_1e():
    horse = {"side": "french", "arm": "cavalry", "full_strength": 3}
    passed = reacted(2, dict(horse))
    assert set(passed["offered"]) == {"counterattack", "turn", "withdraw", "none"}
    assert reacted(9, dict(horse))["withdraw"] == 2
    assert reacted(9, dict(horse), arm="cavalry")["rout"]


# Sight and fire.


def test_sight_along_a_hexside_is_blocked_by_one_hex_d_14_1():
    firer = unit("U", "french", "0805")
    blocked = setup(firer, unit("D", "french", "0804"))
    seen = asked("sight", setup=blocked, unit="U", to=["0904"])["hexes"]["0904"]
    assert (seen["sight"], seen["blocked_by"]) == (False, ["0804"])
    gun = setup(firer, unit("G", "french", "0804", arm="artillery"))
    assert asked("sight", setup=gun, unit="U", to=["0904"])["hexes"]["0904"]["sight"]


def test_a_unit_sees_through_its_front_d_14_2():
    hexes = ["0704", "0803", "0904", "1004", "1005", "0605", "0807", "1006"]
    seen = asked("sight", setup=setup(unit("U", "french", "0805")), unit="U", to=hexes)["hexes"]
    assert {n for n in hexes if seen[n]["sight"]} == {"0704", "0803", "0904", "1004", "1005"}


def test_fire_along_the_side_of_front_and_flank_has_no_modifier_d_14_4_1():
    came = asked("arrival", setup=setup(unit("U", "french", "0805")), target="U",
                 **{"from": ["1005", "1006", "0605"]})["hexes"]  # fmt: skip
    assert {n: came[n]["modifier"] for n in came} == {"1005": 0, "1006": 1, "0605": 1}
    assert [came[n]["through"] for n in came] == ["front-flank", "flank", "flank-rear"]


def test_an_enemy_in_the_front_must_be_the_target_d_14_6():
    ready = setup(
        unit("U", "french", "0805"), unit("A", "british", "0804"), unit("B", "british", "0803")
    )
    assert asked("targets", setup=ready, unit="U")["targets"] == ["A"]


def fired(*units: Any, firers: list[str], target: str, dice: Any = (), **keys: Any) -> Any:
    ready = setup(*units, **keys)
    return asked("fire", setup=ready, units=firers, target=target, dice=list(dice))


def test_firepower_is_rounded_divided_and_rounded_again_d_3_4i():
    firer = unit("U", "french", "0505", full_strength=7, formation="line")
    far = fired(firer, unit("T", "british", "0503"), firers=["U"], target="T")
    assert (far["firepower"], far["value"], far["row"]) == (5, 3, "2-4")
    weak = unit("U", "french", "0505", full_strength=2)
    least = fired(weak, unit("T", "british", "0503"), firers=["U"], target="T")
    assert (least["firepower"], least["value"]) == (1, 1)


def test_a_line_on_two_hexes_fires_one_row_down_d_14_10_6():
    line = unit("U", "british", ["0505", "0605"], full_strength=6, firepower={"line": 66})
    shot = fired(line, unit("T", "french", "0604"), firers=["U"], target="T")
    assert (shot["start_row"], shot["rows_down"], shot["row"]) == ("2-4", 1, "5-7")


def test_joint_fire_goes_down_by_its_hexes_and_takes_the_best_modifier_d_14_10_5_d_14_10_10():
    line = unit("A", "british", ["0505", "0605"], full_strength=6, fires=3,
                firepower={"line": 100})  # fmt: skip
    other = unit("B", "british", "0706", full_strength=4, formation="line", fires=1)
    target = unit("T", "french", "0704", 240)
    shot = fired(line, other, target, firers=["A", "B"], target="T")
    assert (shot["value"], shot["start_row"], shot["row"], shot["result"]) == (3, "2-4", "8+", "2M")
    assert shot["modifier_total"] == 1
    passed, failed = (
        fired(line, other, target, firers=["A", "B"], target="T", dice=[die]) for die in (6, 7)
    )
    assert passed["checks"]["T"] == {"die": 6, "total": 7, "passed": True}
    assert failed["checks"]["T"]["passed"] is False
    assert failed["units"]["T"]["disrupted"]


GUN = {"arm": "artillery", "stars": 1, "ranges": [{"from": 1, "to": 4, "result": "1M"}]}


def test_a_guns_stars_count_and_a_natural_0_silences_it_d_10_6_d_10_8():
    gun = unit("G", "british", "0505", **GUN)
    line = unit("T", "french", "0501", 240, formation="line")
    woods = {"terrain": {"thicket": ["0501"]}}
    shots = {die: fired(gun, line, firers=["G"], target="T", dice=[die], map=woods)
             for die in (6, 7, 0)}  # fmt: skip
    assert shots[6]["modifier_total"] == 1
    assert [shots[die]["checks"]["T"]["passed"] for die in (6, 7, 0)] == [True, False, True]
    assert not shots[0]["units"]["G"]["may_fire_again_this_turn"]
    parts = asked("gun_modifier", result="1M", stars=1, target_terrain="thicket",
                  target_formation="line")  # fmt: skip
    assert parts["modifier"] == 1


def test_guns_hit_every_unit_of_a_stack_d_11_9():
    gun = unit("G", "british", "0505", **GUN)
    stack = [unit("A", "french", "0503", 240), unit("B", "french", "0503", 240, stack=1)]
    shot = fired(gun, *stack, firers=["G"], target="A", dice=[3, 0])
    assert set(shot["checks"]) == {"A", "B"}
    assert not shot["units"]["G"]["may_fire_again_this_turn"]


def test_a_gun_fires_at_a_battery_alone_with_two_dice_d_10_9():
    gun = unit("G", "british", "0505", **(GUN | {"stars": 0}))
    starred = unit("G", "british", "0505", **GUN)
    target = unit("T", "french", "0502", 240, arm="artillery")
    assert not fired(gun, target, firers=["G"], target="T", dice=[3])["captured"]
    taken = fired(gun, target, firers=["G"], target="T", dice=[4, 0])
    assert (taken["captured"], taken["vp"]) == (True, -2)
    assert fired(starred, target, firers=["G"], target="T", dice=[7, 1])["captured"]
    # Only where its result is 1M or 2M.
    weak = unit("G", "british", "0505", **(GUN | {"ranges": [{"from": 1, "to": 4, "result": "M"}]}))
    assert fired(weak, target, firers=["G"], target="T")["why_not"]["rule"] == "D-10.9"


def test_infantry_captures_a_battery_alone_below_its_firepower_d_14_10_4():
    firer = unit("U", "french", "0505", full_strength=4, formation="line", fires=1)
    gun = unit("T", "british", "0604", 240, arm="artillery")
    assert [fired(firer, gun, firers=["U"], target="T", dice=[die])["captured"]
            for die in (2, 3)] == [True, False]  # fmt: skip
    late = unit("U", "french", "0505", full_strength=4, formation="line", fires=2, disrupted=True)
    assert [fired(late, gun, firers=["U"], target="T", dice=[die])["captured"]
            for die in (0, 1)] == [True, False]  # fmt: skip
    far = unit("T", "british", "0503", 240, arm="artillery")
    assert fired(firer, far, firers=["U"], target="T")["why_not"]["rule"] == "D-14.10.4"


def test_rifle_fire_in_the_low_rows_endangers_leaders_d_4_6_1():
    strong = unit("U", "british", "0505", full_strength=5, formation="line",
                  firepower={"line": 100})  # fmt: skip
    target = unit("T", "french", "0604", 240)
    chief = [leader("boss", "french", "0604")]
    for die, fate in ((0, "killed"), (9, "injured"), (5, "unhurt")):
        shot = fired(strong, target, firers=["U"], target="T", dice=[2, die], leaders=chief)
        assert (shot["row"], shot["leaders"]) == ("5-7", {"boss": fate})
    weak = strong | {"full_strength": 3}
    shot = fired(weak, target, firers=["U"], target="T", dice=[2], leaders=chief)
    assert not shot["leader_die"]


def test_a_row_that_charts_lack_is_asked_for_and_not_invented():
    ready = setup(unit("U", "french", "0505"), unit("T", "british", "0604")) | {"charts": {}}
    shot = asked("fire", setup=ready, units=["U"], target="T")
    assert (shot["row"], shot["asks_for"]) == (None, ["fire"])
    assert not shot["house"]


# Withdrawals.


def withdrawn(map: Any = None, *others: Any, **keys: Any) -> Any:
    ready = setup(unit("U", "french", "0805"), unit("E", "british", "0604", 0), *others, map=map)
    return asked("withdrawal", setup=ready, unit="U", cause=["E"], **keys)


def test_a_withdrawal_looks_at_rear_hexes_that_open_the_distance_d_14_11_1_d_w():
    back = withdrawn()
    assert (back["class"], back["options"], back["losses"]) == ("rear", ["0806"], {"0806": 0})


def test_a_river_costs_a_loss_and_woods_none_d_14_11_4():
    river = {"terrain": {"thicket": ["0806"]}, "hexsides": {"river": [["0805", "0806"]]}}
    assert withdrawn(river)["losses"] == {"0806": 1}


def test_flank_hexes_follow_where_no_rear_hex_is_possible_d_14_11_1():
    enemy = unit("X", "british", "0806", 180)
    back = withdrawn(None, enemy)
    assert (back["class"], back["options"]) == ("flank", ["0906"])


def test_a_unit_without_a_hex_is_eliminated_d_14_11_6():
    marsh = {"terrain": {"marsh": ["0806", "0906", "0905"]}}
    back = withdrawn(marsh)
    assert (back["class"], back["eliminated"], back["vp"]) == (None, True, -1)


def test_in_command_follows_a_path_without_enemies_d_4_2():
    chief = [leader("boss", "french", "0505")]
    own = unit("U", "french", "0803", leader="boss")
    enemy = unit("E", "british", "0704")
    command = asked("in_command", setup=setup(own, leaders=chief), unit="U")
    assert (command["in_command"], command["distance"]) == (True, 3)
    walls = [unit(f"E{n}", "british", n) for n in ("0604", "0704", "0703", "0603")]
    assert not asked("in_command", setup=setup(own, *walls, leaders=chief), unit="U")["in_command"]
    clash = setup(own, enemy, unit("F", "french", "0704"), leaders=chief)
    assert asked("in_command", setup=clash, unit="U")["in_command"]


def test_square_is_tried_from_strength_3_in_the_open_d_7_2():
    def tried(die: int, map: Any = None, **keys: Any) -> Any:
        own = unit("U", "french", "0505", **({"full_strength": 4, "morale": [6, 5]} | keys))
        return asked("form_square", setup=setup(own, map=map), unit="U", die=die)

    assert (tried(6)["formation"], tried(7)["formation"], tried(7)["strength"]) == (
        "square", "column", 3,
    )  # fmt: skip
    assert not tried(1, full_strength=2)["offered"]
    assert not tried(1, {"terrain": {"thicket": ["0505"]}})["offered"]


# Clashes, the Turn Track, victory.


def test_the_losers_of_a_clash_rout_and_the_winners_lose_one_d_15_8():
    units = [unit("A", "french", "0505", full_strength=4), unit("B", "french", "0505",
             full_strength=3), unit("D", "british", "0505", 240, full_strength=5)]  # fmt: skip
    ready = setup(*units, begin={"turn": 3, "active_side": "french"})
    lost = asked("clash", setup=ready, hex="0505", dice=[4], losses={"A": 1, "D": 2})
    assert (lost["column"], lost["result"]) == ("0", "A+1")
    won = asked("clash", setup=ready, hex="0505", dice=[5], losses={"A": 1, "D": 2})
    assert (won["result"], won["loser"], won["vp"]) == ("D+1", "british", 1)
    assert (won["units"]["D"]["strength"], won["units"]["D"]["returns_turn"]) == (3, 4)
    assert won["units"]["A"]["strength"] == 3
    assert "B" not in won["units"]


def test_a_winner_of_strength_1_checks_its_morale_d_15_9():
    units = [unit("A", "french", "0505", full_strength=1, morale=[6]),
             unit("D", "british", "0505", 240, full_strength=1)]  # fmt: skip
    ready = setup(*units, begin={"active_side": "french"})
    stays = asked("clash", setup=ready, hex="0505", dice=[9, 6])
    assert (stays["result"], stays["checks"]) == ("D+2", {"A": {"die": 6, "passed": True}})
    dies = asked("clash", setup=ready, hex="0505", dice=[9, 7])
    assert dies["units"]["A"]["eliminated"]


def test_a_square_against_horse_has_its_own_column_d_7_3():
    units = [unit("H", "french", "0505", arm="cavalry", full_strength=3),
             unit("Q", "british", "0505", 240, formation="square")]  # fmt: skip
    ready = setup(*units, begin={"active_side": "french"})
    assert asked("clash", setup=ready, hex="0505", how="charge")["column"] == (
        "square against cavalry"
    )


def test_friends_next_to_a_rout_check_their_morale_d_15_12():
    friend, gun = unit("F", "french", "0506"), unit("G", "french", "0405", arm="artillery")
    ready = setup(friend, gun, unit("E", "british", "0504", 240),
                  unit("R", "french", "1010"))  # fmt: skip
    crisis = asked("crisis", setup=ready, routed={"unit": "R", "hex": "0505"}, cause=["E"],
                   dice={"F": 8})  # fmt: skip
    assert crisis["checks"]["F"]["passed"] is False
    assert crisis["no_check"] == ["G"]
    assert crisis["checks"]["F"]["class"] == "rear"


def test_losses_flip_a_counter_at_half_its_strength_d_3_4h():
    line = {"side": "french", "full_strength": 7, "morale": [7, 6]}
    sides = {n: asked("losses", unit=line, losses=n)["side"] for n in (1, 2, 3, 4, 7)}
    assert sides == {1: "front", 2: "front", 3: "front", 4: "back", 7: "gone"}
    assert asked("losses", unit=line, losses=4)["strength"] == 3


def test_a_line_too_weak_for_two_hexes_keeps_one_d_6_3_4():
    line = unit("L", "british", ["0505", "0605"], full_strength=6)
    after = asked("losses", unit=line, losses=1)
    assert (after["counter"], after["hexes_options"]) == ("one-hex", [["0505"], ["0605"]])


def test_routed_units_return_by_the_turn_track_d_15_11():
    out = asked("turn_track", rout={"by": "clash", "result": "A+2", "turn": 6})
    assert out["out"]
    back = asked("turn_track", rout={"by": "clash", "result": "A+1", "turn": 6})
    assert (back["returns_turn"], back["out"]) == (7, False)
    assert asked("turn_track", rout={"by": "reaction", "turn": 2})["returns_turn"] == 3
    due = {"turn": 4, "side": "french", "leader": "activated"}
    assert asked("turn_track", due=due)["disrupted"]
    assert asked("turn_track", due=due | {"leader": "not_activated"})["returns_turn"] == 5
    assert asked("turn_track", due=due | {"leader": "dead"})["hex"] == "1611"


def stacked(*units: tuple[str, str, int, list[str]]) -> Any:
    keys = ("kind", "formation", "facing_deg", "hexes")
    answer = asked("stack", units=[dict(zip(keys, one, strict=True)) for one in units])
    return answer["legal"] or answer["why_not"]["rule"]


def test_stacks_have_their_limits_d_6_4_d_11():
    foot, horse = ("battalion", "column", 60, ["0505"]), ("squadron", "column", 60, ["0505"])
    gun = ("foot-battery", "battery", 0, ["0505"])
    wide = ("battalion", "line", 60, ["0505", "0605"])
    assert stacked(foot, foot, foot, foot) is True
    assert stacked(foot, foot, foot, foot, foot) == "D-11.2"
    assert (stacked(gun, foot, foot), stacked(gun, foot, foot, foot)) == (True, "D-11.2")
    assert stacked(foot, horse) == "D-11.1"
    assert (stacked(wide, wide), stacked(wide, gun)) == (True, "D-6.4")
    assert stacked(foot, ("battalion", "line", 60, ["0505"])) == "D-11.0"


def test_the_light_battalion_keeps_more_than_half_d_17_0f():
    most = {n: asked("companies_out", strength_with_companies=n)["most"] for n in range(3, 8)}
    assert most == {7: 3, 6: 2, 5: 2, 4: 1, 3: 1}
    clash = asked("companies_out", strength_with_companies=7, in_clash_hex=True)
    assert clash["most"] == 0


def test_batteries_turn_or_move_instead_of_firing_d_10_13_d_10_14():
    def may(kind: str, *own: str) -> Any:
        answer = asked("battery", kind=kind, own=list(own))
        return answer["legal"], answer["fire_own"], answer["fire_enemy_subphase"]

    assert may("foot-battery", "turn") == (True, False, False)
    assert may("horse-battery", "move") == (True, False, True)
    assert may("foot-battery", "fire", "move")[0] is False
    assert may("horse-battery", "fire", "move")[0] is True


def test_the_pool_is_secret_until_it_is_empty_d_17_0c_d_17_0d():
    sides = {"french": ["Reynier", "Compère", "Digonet"], "british": ["Stuart", "Kempt", "Cole"]}
    keys = {"leaders": sides, "overall_commander": {"french": "Reynier", "british": "Stuart"}}
    assert asked("pool", turn=1, **keys)["fixed"] == {"french": ["Compère"], "british": []}
    chosen = {"french": ["Digonet"], "british": ["Cole"]}
    third = asked("pool", turn=3, chosen=chosen, seen_by="french", **keys)
    assert third["shown"] == {"french": ["Reynier", "Digonet"], "british": ["Stuart"]}
    assert third["choose"] == {"french": 2, "british": 2}


def test_a_dead_leaders_units_pass_to_the_overall_commander_d_4_3():
    chiefs = [leader("OC", "french", "0505", overall_commander=True),
              leader("X", "french", "0404"), leader("Y", "french", "0604")]  # fmt: skip
    units = [unit("A", "french", "0504", leader="X"), unit("B", "french", "0605", leader="Y"),
             unit("C", "french", "1510", leader="Y", acts_with_oc=True)]  # fmt: skip
    ready = setup(*units, leaders=chiefs)
    free = asked("activation", setup=ready, drawn="OC")
    assert free["choices"] == [{"leader": "X"}, {"leader": "Y"}]
    assert free["may_move"] == {"X": ["A", "C"], "Y": ["B", "C"]}
    dead = asked("activation", setup=ready, drawn="OC", dead=["X"])
    assert (dead["choices"], dead["may_move"]["X"]) == ([{"units_of": "X"}], ["A", "C"])


def test_one_track_counts_for_both_sides_d_16_2():
    events = [{"clash_won": "british"}] * 4
    assert asked("victory_track", start_vp=3, events=events)["track"] == [2, 1, 0, -1]
    taken = asked("victory_track", start_vp=0, events=[{"battery_captured": "french", "stars": 1}])
    assert taken["track"] == [3]


def test_the_game_ends_at_once_or_after_its_turns_d_16_3_d_16_4():
    over = {(3, 7): "french", (3, -5): "british", (3, 6): None, (7, 0): "british", (7, 1): "french"}
    for (turn, vp), winner in over.items():
        assert asked("game_over", turn=turn, vp=vp)["winner"] == winner


@pytest.mark.parametrize(
    ("ask", "facts", "message"),
    [
        ("steps", {"setup": setup(unit("A", "french", "0505", 61)), "unit": "A"},
         r"units\[1\].facing_deg: expected one of 0, 60, .*, got 61"),
        ("steps", {"setup": setup(unit("A", "french", ["0505", "0505"], 60)), "unit": "A"},
         r"units\[1\].hexes: expected the left and the right hex across 60 degrees, got 0505 and"),
        ("withdrawal", {"setup": setup({"id": "A", "side": "french"}), "unit": "A", "cause": []},
         "unit: expected a hex of A, but it is missing"),
        ("activation", {"setup": setup(), "drawn": "X"}, "drawn: expected .* leaders, got X"),
        ("clash", {"setup": setup(begin={"active_side": "red"}), "hex": "0505"},
         "setup: expected begin.active_side french or british, got red"),
        ("arrival",
         {"setup": setup({"id": "A", "side": "french"}), "target": "A", "from": ["0505"]},
         "setup: expected a hex of A, but it is missing"),
        ("gun_modifier", {"result": "A+1"}, "result: .* got \"A\\+1\""),
    ],
)  # fmt: skip
def test_a_fact_that_no_rule_can_use_is_refused_in_one_line(ask, facts, message):
    with pytest.raises(BadInput, match=message):
        asked(ask, **facts)
