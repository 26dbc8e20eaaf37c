"""The Seven Years' War sheet's worked examples, and plain questions to its rules."""

from __future__ import annotations

from typing import Any

import pytest

from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.rules.questions import questions_of
from tests.rules.syw_d6.battles import DOWN, UP, unit

TRAINED: dict[str, Any] = {"figures_start": 24, "experience": "trained", "ranks": 2}
VETERAN: dict[str, Any] = {"figures_start": 32, "experience": "veteran"}
GUN: dict[str, Any] = {"figures_start": 6, "experience": "trained", "arm": "artillery"}
LIGHT: dict[str, Any] = {"experience": "trained", "weight": "light"}
SQUADRON: dict[str, Any] = {"experience": "trained", "arm": "cavalry"}


def ask(question: str, **facts: Any) -> dict[str, Any]:
    questions = questions_of("syw-d6")
    assert questions is not None
    return questions.answer(document_from({"ask": question} | facts, "question"))


def holds(answer: dict[str, Any], **expected: Any) -> None:
    assert {key: answer.get(key) for key in expected} == expected


def fire(firer: dict[str, Any], target: dict[str, Any] | None = None, **facts: Any) -> Any:
    return ask("fire", firer=firer, target={"figures_start": 24} | (target or {}), **facts)


def test_figures_that_see_the_target_ahead_count_in_full_s_d_4() -> None:
    answer = fire(TRAINED, range_in=3.0, share_ahead=0.75, dice={"fire": [6] * 3 + [1] * 19})
    holds(answer, figures_counted=21.0, dice=22, range_band="short", casualties=3)
    holds(answer["target"], figures=21, disordered=True, destroyed=False)
    assert answer["casualty_test"]


@pytest.mark.parametrize(
    ("firer", "target", "facts", "dice"),
    [
        ({}, {}, {"range_in": 5.0}, 11),
        ({"disordered": True}, {"cover": "cover"}, {"range_in": 5.0}, 2),
        ({}, {"formation": "attack_column"}, {"range_in": 3.0}, 24),
        ({}, {"weight": "light", "ranks": 4}, {"range_in": 3.0}, 22),
        ({}, {}, {"range_in": 3.0, "events": ["heavy_rain"]}, 20),
        ({}, {"ranks": 3}, {"range_in": 3.0}, 24),
    ],
    ids=["long", "halved thrice", "attack column", "light", "rain", "three ranks"],
)
def test_fire_is_halved_rounded_down_and_then_added_to_s_d_5(
    firer: Any, target: Any, facts: Any, dice: int
) -> None:
    assert fire(TRAINED | firer, target, share_ahead=0.75, **facts)["dice"] == dice


@pytest.mark.parametrize(
    ("gun", "facts", "dice"),
    [
        ({}, {"range_in": 10.8, "ahead": False}, 4),
        ({}, {"range_in": 6.0}, 9),
        ({}, {"range_in": 6.1}, 7),
        ({}, {"range_in": 12.1}, 4),
        ({"gun": "light", "figures_start": 3}, {"range_in": 12.1}, None),
        ({}, {"range_in": 10.8, "ahead": False, "in_cone": False}, None),
    ],
)
def test_guns_fire_in_their_cone_with_canister_near_s_d_7_and_s_d_9(
    gun: Any, facts: Any, dice: int | None
) -> None:
    assert fire(GUN | gun, **facts)["dice"] == dice


@pytest.mark.parametrize(
    ("firer", "target", "rule"),
    [
        ({"moved": True}, {}, "S-D.2"),
        ({"formation": "march_column"}, {}, "S-L.11"),
        ({"arm": "cavalry"}, {}, "S-C.5"),
        ({"status": "routing"}, {}, "S-D.2"),
        ({"fired": True}, {}, "S-D.1"),
        ({}, {"cover": "hard"}, "S-D.11"),
        ({}, {"melee_with": ["B1"]}, "S-D.1"),
    ],
)
def test_who_may_not_fire_is_told_by_its_rule(firer: Any, target: Any, rule: str) -> None:
    answer = fire(TRAINED | firer, target, range_in=5.0)
    assert (answer["may_fire"], answer["why_not"]["rule"]) == (False, rule)


def test_the_best_dice_of_a_move_are_added_s_b_4() -> None:
    commanded = {"unit": LIGHT, "command_distance_in": 18.0}
    answer = ask("move_dice", **commanded, dice=[5, 1, 4, 2])
    holds(answer, dice=4, choose_at_most=2, greatest_in=9.0, must_use="half", least_use_in=4.5)
    disordered = ask("move_dice", unit=LIGHT | {"disordered": True}, command_distance_in=1.0)
    holds(disordered, dice=2, choose_at_most=2)
    chosen = ask("move_dice", **commanded, dice=[5, 1, 4, 2], choose=[5])
    holds(chosen, final_value_in=5.0, least_use_in=2.5)


def test_a_column_of_march_adds_two_inches_and_green_units_use_all_s_b_3_s_b_6() -> None:
    unit = {"experience": "green", "formation": "march_column"}
    answer = ask("move_dice", unit=unit, dice=[4])
    holds(answer, dice=1, added_in=2.0, greatest_in=6.0, must_use="all", least_use_in=6.0)


@pytest.mark.parametrize(
    ("facts", "dice"),
    [
        ({"commander": True}, 3),
        ({"unit": {"experience": "trained", "arm": "artillery"}}, 0),
        ({"unit": SQUADRON | {"disordered": True}, "events": ["inspired_command"]}, 4),
        ({"unit": SQUADRON | {"nation": "French"}, "command_distance_in": 3.0,
          "events": ["fitz_james"]}, 4),
    ],
    ids=["command", "unlimbered", "S-M.9", "S-M.5"],
)  # fmt: skip
def test_dice_of_moves_in_other_cases(facts: Any, dice: int) -> None:
    assert ask("move_dice", **facts)["dice"] == dice


def test_lost_orders_halve_the_final_value_s_m_6() -> None:
    answer = ask("move_dice", unit=LIGHT, events=["lost_orders"], dice=[5, 4, 1])
    assert answer["greatest_in"] == 4.5


def test_a_brigade_moves_with_the_worst_of_each_s_b_7() -> None:
    units = [LIGHT, {"experience": "veteran"}]
    holds(ask("brigade_move", units=units, command_distances_in=[2.0, None]), dice=3)
    both = ask("brigade_move", units=units, command_distances_in=[2.0, 18.0])
    holds(both, possible=True, dice=4, choose_at_most=1, added_in=0.0)
    units = [LIGHT, {"experience": "veteran", "reforming": True}]
    answer = ask("brigade_move", units=units, command_distances_in=[2.0, 2.0])
    assert (answer["possible"], answer["why_not"]["rule"]) == (False, "S-B.7")


def test_a_wheel_costs_the_arc_of_its_corner_s_b_8() -> None:
    answer = ask("path", frontage_in=8.0, steps=[["wheel", 30]], final_value_in=4.0)
    assert answer["cost_in"] == pytest.approx(4.19, abs=0.005)
    assert (answer["legal"], answer["why_not"]["rule"]) == (False, "S-B.8")


@pytest.mark.parametrize(
    ("steps", "facts", "charge_in"),
    [
        ([["wheel", 3], ["march", 6]], {}, 6.0),
        ([["wheel", 4], ["march", 5]], {}, None),
        ([["march", 4]], {}, 4.0),
        ([["march", 10]], {}, None),
        ([["march", 4]], {"off_square_deg": 5.1}, None),
        ([["march", 4]], {"obstructed": True}, None),
    ],
)
def test_the_last_six_inches_of_a_charge_are_straight_s_b_11(
    steps: Any, facts: Any, charge_in: float | None
) -> None:
    answer = ask("charge_path", final_value_in=9.0, steps=steps, **facts)
    assert (answer["legal"], answer["charge_distance_in"]) == (charge_in is not None, charge_in)


@pytest.mark.parametrize(
    ("state", "event", "range_in", "dice"),
    [
        ({}, "crosses", 2.0, 3),
        ({}, "crosses", 5.0, 2),
        ({"disordered": True}, "crosses", 2.0, None),
        ({"disordered": True}, "contacted_rear", 0.0, 0),
        ({}, "contacted_front", 0.0, 34),
        ({}, "crosses", 6.5, None),
    ],
)
def test_fire_at_one_who_passes_is_a_die_and_the_bonus_s_c_3(
    state: Any, event: str, range_in: float, dice: int | None
) -> None:
    answer = ask("response_fire", firer=VETERAN | state, event=event, nearest_range_in=range_in)
    assert answer["dice"] == dice


def test_a_reforming_unit_that_responds_swaps_red_for_orange_s_c_4() -> None:
    firer = VETERAN | {"reforming": True}
    assert ask("response_fire", firer=firer, event="contacted_front")["marker_after"] == "orange"
    assert ask("response_fire", firer=firer, event="crosses")["marker_after"] == "red"


def test_an_evader_is_caught_by_the_final_value_s_c_8() -> None:
    chased = {"evader": LIGHT, "gap_in": 5.0, "charger_final_value_in": 12.0}
    holds(ask("evade", **chased, dice=[3, 2]), evade_in=5.0, caught=True, contacted_on="rear")
    away = ask("evade", **chased, dice=[4, 4])
    holds(away, caught=False, charger_may_stop_between_in=[0.0, 12.0], charger_disordered=True)


def test_a_counter_charge_has_its_bonus_if_it_reaches_the_start_s_c_9() -> None:
    counter = {"unit": SQUADRON, "charge_distance_in": 6.0}
    holds(ask("counter_charge", **counter, dice=[2, 3]), moves_in=5.0, charge_bonus=False)
    holds(ask("counter_charge", **counter, dice=[2, 4]), moves_in=6.0, charge_bonus=True)
    answer = ask("counter_charge", unit=LIGHT, charge_distance_in=6.0)
    assert (answer["allowed"], answer["why_not"]["rule"]) == (False, "S-C.6")


def test_the_test_adds_named_factors_s_h_4() -> None:
    first = ask("test", unit=VETERAN | {"lost": 11, "disordered": True}, die=3,
                **{"with": {"friends_in_sight": 2, "command_within": True}})  # fmt: skip
    holds(first, total=-4, rout=False, result="none")
    holds(first["parts"], losses=-3, disordered=-2, friends_in_sight=1, command=0)
    second = ask("test", unit=VETERAN | {"lost": 16, "disordered": True}, die=2)
    holds(second, total=-7, rout=True, result="rout")


def test_a_row_that_the_sheet_lost_is_asked_for_s_n_3() -> None:
    green = {"figures_start": 24, "experience": "green"}
    answer = ask("test", unit=green, die=4)
    holds(answer, total=None, rout=None, result=None, asks_for=["green"])
    chart = {"game": "syw-d6", "test": {"green": -1, "retreat_at": -1}}
    holds(ask("test", unit=green, die=4, charts=chart), total=-1, result="retreat", asks_for=[])
    with pytest.raises(BadInput, match=r"charts\.game: expected syw-d6"):
        ask("test", unit=green, die=4, charts={"game": "huzzah-ge"})


FRENCH: dict[str, Any] = {"figures_start": 24, "lost": 3, "experience": "veteran"}
CHARGED = {"attacker": {"charging": True, "command_within": True, "friends_in_sight": 1},
           "defender": {"friends_in_sight": 1}}  # fmt: skip


def test_the_loser_of_a_melee_removes_three_figures_a_point_s_f_3() -> None:
    dice = {"attacker": 6, "defender": 4, "loser_test": 3}
    answer = ask("melee", attacker=FRENCH, defender=VETERAN, dice=dice, **{"with": CHARGED})
    holds(answer, totals={"attacker": 3, "defender": 1}, loser="defender", figures_due=6)
    holds(answer, figures={"attacker": 21, "defender": 26}, result="retreat", continues=False)
    assert answer["loser_test"]["total"] == -2
    assert sorted(answer["disordered"]) == ["attacker", "defender"]
    assert answer["moral_tests"] == {
        "called": True, "within_in": 18.0, "same_brigade": -1, "other_brigade": -1,
    }  # fmt: skip


def test_a_drawn_melee_goes_on_if_anybody_wishes_s_f_6() -> None:
    drawn = {"attacker": FRENCH, "defender": VETERAN, "totals": {"attacker": 2, "defender": 2}}
    answer = ask("melee", **drawn, wishes={"defender": True}, **{"with": CHARGED})
    holds(answer, result="draw", continues=True, charge_bonus_continues=True, disordered=[])
    assert ask("melee", **drawn)["disordered"] == ["attacker", "defender"]


def test_three_quarters_lost_destroy_a_unit_s_h_4() -> None:
    totals = {"attacker": 0, "defender": 7}
    answer = ask("melee", attacker=FRENCH, defender=VETERAN, totals=totals)
    holds(answer, destroyed=["attacker"], result="destroyed", moves_in=None)


@pytest.mark.parametrize(
    ("strength", "losses"),
    [(10, (1, 3, 4, 5, 8)), (14, (2, 4, 5, 7, 11)), (24, (3, 6, 8, 12, 18))],
)
def test_shares_of_a_strength_are_rounded_up_s_h_5(strength: int, losses: Any) -> None:
    answer = ask("thresholds", strength=strength)
    assert tuple(answer["losses"].values()) == losses


def test_friends_within_18_inches_take_the_moral_test_the_nearest_first_s_g_1() -> None:
    friends = {
        "far": {"distance_in": 18.1, "brigade": "a"},
        "other": {"distance_in": 18.0, "brigade": "b"},
        "near": {"distance_in": 4.0, "brigade": "a"},
        "done": {"distance_in": 1.0, "brigade": "a", "tested_this_turn": True},
    }
    answer = ask("moral_order", event="destroyed", unit={"brigade": "a"}, friends=friends)
    holds(answer, order=["near", "other"], factors={"near": -3, "other": -2})
    assert answer["not_tested"] == ["far", "done"]


@pytest.mark.parametrize(
    ("experience", "dice", "options", "cleared"),
    [
        ("veteran", [1, 2, 6], {}, True),
        ("trained", [1, 5], {}, False),
        ("trained", [1, 5], {"second_chance": "not_one"}, True),
        ("green", [1], {}, False),
        ("green", [2], {}, True),
    ],
)
def test_red_markers_are_cleared_by_experience_s_a_3(
    experience: str, dice: list[int], options: Any, cleared: bool
) -> None:
    unit = {"experience": experience, "reforming": True}
    answer = ask("clear", unit=unit, dice=dice, options=options)
    holds(answer, cleared=cleared, dice_used=len(dice), marker="none" if cleared else "red")


def test_a_unit_that_cleared_is_laid_within_two_inches_s_a_4() -> None:
    unit = {"experience": "green"}
    near = ask("clear", unit=unit, centre_before_mm=[0, 0], centre_after_mm=[0, 50.8])
    holds(near, centre_legal=True, centre_moved_in=pytest.approx(2.0))
    far = ask("clear", unit=unit, centre_before_mm=[0, 0], centre_after_mm=[0, 51])
    assert not far["centre_legal"]


def test_the_fog_falls_on_a_one_and_differs_by_side_s_0_12_s_m() -> None:
    assert ask("fog", first_die=1)["consulted"]
    assert not ask("fog", first_die=2)["consulted"]
    assert ask("fog", roll=[2, 3], active="French")["event"] == "fitz_james"
    assert ask("fog", roll=[2, 3], active="British")["event"] == "sackville"
    for event, pool, left in (("heavy_rain", 10, 8), ("heavy_rain", 1, 0), ("dead_calm", 5, 4)):
        assert ask("fog", event=event, pool=pool)["pool"] == left


def test_the_lot_falls_on_the_army_commander_half_as_often_s_m_2() -> None:
    asked = {"commanders": ["a", "army", "b"], "army": "army"}
    falls = [ask("fog_lot", **asked, value=value)["falls"] for value in range(1, 6)]
    assert falls == ["a", "a", "b", "b", "army"]
    assert ask("fog_lot", **asked)["sides"] == 5


@pytest.mark.parametrize(
    ("gap_in", "frontage_in", "may"), [(10.5, 5.0, True), (12.0, 8.0, True), (11.9, 8.0, False)]
)
def test_a_gap_is_twelve_inches_or_twice_the_target_s_e_5(
    gap_in: float, frontage_in: float, may: bool
) -> None:
    assert ask("gap", gap_in=gap_in, target_frontage_in=frontage_in)["may_fire"] is may


def test_light_troops_pass_without_disorder_s_j_6() -> None:
    assert not ask("interpenetration", a=LIGHT, b={"experience": "green"})["disordered"]
    assert ask("interpenetration", a={}, b={})["disordered"]


def test_a_lost_commander_counts_as_a_destroyed_unit_s_k_4() -> None:
    commander = {"level": "brigade", "commands": ["a"]}
    friends = [{"brigade": "a", "distance_in": 18}, {"brigade": "b", "distance_in": 1}]
    answer = ask("commander_contacted", commander=commander, friends=friends)
    holds(answer, removed=True, factors=[-3, None])


def test_a_unit_may_retreat_of_its_own_choice_for_three_figures_s_b_10() -> None:
    answer = ask("manufactured_retreat", unit=VETERAN, dice={"test": 3, "move": [4]})
    holds(answer, figures=29, result="retreat", distance_in=4.0, disordered=True)


def base(right: float, ahead: float, heading_deg: float = 90.0) -> dict[str, float]:
    """A base of 40 mm: so many bases to the right and ahead, facing north."""
    return {"x_mm": 500 + 40 * right, "y_mm": 500 + 40 * ahead, "heading_deg": heading_deg,
            "width_mm": 40, "depth_mm": 40}  # fmt: skip


FRENCH_FOOT: dict[str, Any] = {"nation": "French", "files_per_base": 4, "ranks_per_base": 1}
ROW = [base(right, 0) for right in range(3)]
DEEP = [base(0, -behind) for behind in range(3)]
WING = [base(0, 0), base(1, 0), base(1.85, 0.35, 135.0)]
SQUARE = [base(0, 1), base(1, 0, 0.0), base(0, -1, 270.0), base(-1, 0, 180.0), base(0, 0)]


@pytest.mark.parametrize(
    ("unit", "bases", "formation", "deep", "rule"),
    [
        ({"ranks_per_base": 2}, ROW, "line", 2, None),
        ({}, [base(0, 0), base(1, 0), base(0, -1), base(1, -1)], "line", 2, None),
        ({}, [base(0, 0), base(1, 0), base(0, -1)], "none", 2, "S-L.9"),
        ({}, DEEP, "attack_column", 3, None),
        ({"formation": "march_column"}, DEEP, "march_column", 3, None),
        ({"nation": "British"}, DEEP, "march_column", 3, None),
        ({}, [base(0, 0), base(1.2, 0)], "none", 1, "S-L.8"),
        ({"weight": "light"}, [base(0, 0), base(4, 0)], "open", 1, None),
        ({"weight": "light"}, [base(0, 0), base(6, 0)], "none", 1, "S-L.7"),
        ({}, SQUARE, "square", None, None),
        ({}, WING, "bent_line", None, None),
    ],
)
def test_formations_are_read_from_the_bases_s_l_7_to_s_l_14(
    unit: Any, bases: Any, formation: str, deep: int | None, rule: str | None
) -> None:
    answer = ask("formation", unit=FRENCH_FOOT | unit | {"bases": bases})
    assert (answer["formation"], answer.get("why_not", {}).get("rule")) == (formation, rule)
    assert answer["correct"] is (rule is None)
    assert deep is None or answer["ranks"] == deep


@pytest.mark.parametrize(
    ("bends_deg", "formation"),
    [([45], "bent_line"), ([46], "none"), ([-90, 30], "bent_line"), ([-91], "none"),
     ([10, 10, 10], "none"), ([], "line")],
)  # fmt: skip
def test_a_line_bends_twice_at_most_s_l_12(bends_deg: list[float], formation: str) -> None:
    assert ask("formation", bends_deg=bends_deg)["formation"] == formation


@pytest.mark.parametrize(
    ("unit", "bases"),
    [
        ({"figures": 9, "files_per_base": 4, "ranks_per_base": 2}, 2),
        ({"figures": 8, "files_per_base": 4, "ranks_per_base": 2}, 1),
        (GUN | {"figures_start": 12, "lost": 5}, 2),
        (GUN | {"gun": "light", "figures_start": 6}, 2),
    ],
)
def test_a_unit_needs_bases_for_its_figures_s_0_7_s_l_4(unit: Any, bases: int) -> None:
    assert ask("bases_needed", unit=unit)["bases"] == bases


@pytest.mark.parametrize(
    ("question", "facts", "said"),
    [
        ("fire", {"firer": {"figures": 8}, "target": {}, "range_in": 3}, "firer.experience"),
        ("move_dice", {"unit": LIGHT, "dice": [1]}, "dice: expected 3 dice, got 1"),
        ("move_dice", {"unit": LIGHT, "dice": [1, 2, 3], "choose": [4]}, "choose: expected some"),
        ("move_dice", {}, "unit: expected a unit, or commander true"),
        ("fog_lot", {"commanders": ["a"], "army": "a", "value": 2}, "value: expected 1 to 1"),
        ("bases_needed", {"unit": {"figures_start": 4, "figures": 5}}, "figures: expected 0 to 4"),
        ("evade", {"evader": LIGHT, "gap_in": 1, "charger_final_value_in": 2, "dice": [7, 1]},
         r"dice\[1\]"),
        ("thresholds", {"strength": 10, "strenght": 1}, "strenght: unknown key"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_by_key(question: str, facts: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        ask(question, **facts)


# As the bases lie.


def lying(unit: Any, **more: Any) -> dict[str, Any]:
    bases = [
        {
            "x_mm": base.x_mm,
            "y_mm": base.y_mm,
            "heading_deg": base.heading_deg,
            "width_mm": base.width_mm,
            "depth_mm": base.depth_mm,
        }
        for base in unit.bases
    ]
    keys = ("files_per_base", "ranks_per_base", "experience", "nation")
    own = {key: unit.extra[key] for key in keys}
    own |= {"id": unit.id, "side": unit.side, "arm": unit.arm}
    return own | {"figures_start": unit.extra["figures"], "bases": bases} | more


FIRER, TARGET = lying(unit("F1", 20, 20)), lying(unit("A1", 22, 22, DOWN))


def test_fire_is_measured_from_the_bases_s_d_4() -> None:
    answer = ask("fire", firer=FIRER, target=TARGET)
    holds(answer, may_fire=True, dice=22, files=12, files_ahead=9, range_band="short")
    holds(ask("fire", firer=FIRER, target=lying(unit("A1", 22, 30, DOWN))), may_fire=False)


def test_fire_needs_a_range_or_bases() -> None:
    with pytest.raises(BadInput, match="range_in: expected this key, or bases"):
        fire(TRAINED)


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        (DOWN, {"legal": True, "edge": "front", "contacted_on": "front", "charge_bonus": True}),
        (UP, {"legal": True, "edge": "rear", "contacted_on": "rear"}),
        (180.0, {"legal": True, "contacted_on": "flank"}),
    ],
)
def test_a_charge_strikes_an_edge_s_b_14(heading: float, expected: dict[str, Any]) -> None:
    target = lying(unit("A1", 20, {DOWN: 24, UP: 25}.get(heading, 28), heading))
    answer = ask("charge", charger=FIRER, target=target, direction_deg=90.0, final_value_in=9.0)
    holds(answer, **expected)


def test_a_charge_askew_or_too_far_is_not_one_s_b_11() -> None:
    facts = {"charger": FIRER, "target": lying(unit("A1", 20, 24, DOWN))}
    askew = ask("charge", **facts, direction_deg=80.0, final_value_in=9.0)
    holds(askew, legal=False, off_square_deg=10.0)
    assert askew["why_not"]["rule"] == "S-B.11"
    holds(ask("charge", **facts, direction_deg=90.0, final_value_in=3.0), legal=False)


def flight(**facts: Any) -> dict[str, Any]:
    fleeing = lying(unit("F1", 20, 20))
    return ask("flight", **({"kind": "retreat", "unit": fleeing, "distance_in": 6.0} | facts))


def test_a_flight_goes_straight_away_s_c_11() -> None:
    answer = flight(attacker=lying(unit("A1", 20, 24, DOWN)))
    holds(answer, straight_away_allowed=True, turn_deg=0.0, destroyed=False, off_table=False)
    before, after = answer["distances_before_mm"]["A1"], answer["distances_after_mm"]["A1"]
    assert after - before == pytest.approx(6 * 25.4)


def test_a_flight_turns_from_other_enemies_s_c_11() -> None:
    other = lying(unit("A2", 20, 10))
    answer = flight(attacker=lying(unit("A1", 20, 24, DOWN)), others=[other])
    holds(answer, straight_away_allowed=False, destroyed=False)
    assert 0 < abs(answer["turn_deg"]) <= 90
    assert answer["distances_after_mm"]["A2"] >= answer["distances_before_mm"]["A2"] - 1e-6


def test_a_flight_through_friends_disorders_both_s_c_13_s_j_6() -> None:
    friend = lying(unit("F2", 20, 17))
    answer = flight(attacker=lying(unit("A1", 20, 24, DOWN)), others=[friend])
    holds(answer, disordered_friends=["F2"])


def test_a_rout_may_leave_the_table_s_a_2() -> None:
    answer = flight(kind="rout", unit=lying(unit("F1", 20, 3)), first=False,
                    table_mm=[1800.0, 1200.0], distance_in=9.0)  # fmt: skip
    holds(answer, off_table=True, destroyed=False)


@pytest.mark.parametrize(
    ("high", "target", "between", "may_fire"),
    [
        (False, {}, [{"side": "friend", "from_firer_in": 2.0}], False),
        (True, {}, [{"side": "friend", "from_firer_in": 12.0}], False),
        (True, {}, [{"side": "friend", "from_firer_in": 12.1}], True),
        (True, {}, [{"side": "enemy", "from_firer_in": 20.0}], False),
        (True, {"on_hill": True}, [{"side": "enemy", "from_firer_in": 20.0}], True),
        (True, {"on_hill": True},
         [{"side": "friend", "from_firer_in": 20.0, "from_target_in": 11.0}], False),
        (True, {}, [{"terrain": True}], False),
        (False, {}, [], True),
    ],
)  # fmt: skip
def test_what_stands_between_may_hide_s_e_1_to_s_e_4(
    high: bool, target: Any, between: Any, may_fire: bool
) -> None:
    answer = ask("sight", firer_on_hill=high, target=target, between=between)
    assert answer["may_fire"] is may_fire


@pytest.mark.parametrize(
    ("where", "unit_keys", "expected"),
    [
        ("entering", TRAINED, (True, [2.0, 3.0], True)),
        ("entering", LIGHT, (True, [2.0, 3.0], False)),
        ("leaving", TRAINED, (True, [3.0, 3.0], False)),
        ("inside", TRAINED, (False, None, True)),
    ],
)
def test_terrain_stops_and_disorders_by_facts_s_j_8_s_j_9(
    where: str, unit_keys: Any, expected: Any
) -> None:
    facts = {"edge_ahead_in": 2.0, "base_depth_in": 1.0, "final_value_in": 5.0}
    answer = ask("terrain_move", unit=unit_keys, ground={"kind": "wood"}, where=where, **facts)
    keys = ("must_stop", "ends_between_in", "disordered")
    assert tuple(answer[key] for key in keys) == expected
