"""The worked examples of Huzzah! Glorious Empires, and plain questions to its rules."""

from __future__ import annotations

from typing import Any

import pytest

from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.rules.questions import questions_of

FOOT: dict[str, Any] = {"quality": "trained"}
HORSE: dict[str, Any] = {"quality": "trained", "arm": "cavalry"}


def ask(question: str, **facts: Any) -> dict[str, Any]:
    questions = questions_of("huzzah-ge")
    assert questions is not None
    return questions.answer(document_from({"ask": question} | facts, "question"))


def holds(answer: dict[str, Any], **expected: Any) -> None:
    assert {key: answer.get(key) for key in expected} == expected


GUNNED = FOOT | {"divisional_artillery": True, "base_count": 4, "ranks": [4], "effective": True}


def test_the_books_volley_takes_a_base_h_7_8() -> None:
    answer = ask("fire", firer=GUNNED, target={}, range_cm=9.9, dice=[2, 4])
    holds(answer, factor=10, hits=4, bases_removed=1, odd_hits=1, morale_test=True, short=True)
    holds(answer["parts"], fire_factor=6, front_bases=2, short_range=1, divisional_artillery=1)


@pytest.mark.parametrize(
    ("target", "facts", "total"),
    [
        ({"cover": "hard"}, {}, 8),
        ({"cover": "soft", "abilities": ["irregular"]}, {"foul_weather": True}, 7),
        ({"side_has_superiority": True}, {"face": "left"}, 10),
        ({"formation": "square"}, {"face": "left"}, 11),
        ({}, {"range_cm": 10.0}, 9),
    ],
)
def test_fire_is_modified_by_the_target_h_7_8(target: Any, facts: Any, total: int) -> None:
    assert ask("fire", **{"firer": GUNNED, "target": target, "range_cm": 9} | facts)["sum"] == total


@pytest.mark.parametrize(
    ("bases", "dense", "more"),
    [(1, False, 0), (3, False, 1), (5, False, 2), (2, True, 0), (5, True, 1), (6, True, 2)],
)
def test_every_two_bases_count_and_in_dense_terrain_every_three_h_7_8(
    bases: int, dense: bool, more: int
) -> None:
    firer = FOOT | {"base_count": bases, "in_dense": dense}
    parts = ask("fire", firer=firer, target={}, range_cm=15)["parts"]
    assert parts.get("three_bases" if dense else "front_bases", 0) == more


def test_a_battery_that_is_effective_counts_depth_weight_and_squares_h_7_8() -> None:
    battery = {"arm": "artillery", "kind": "reserve_heavy", "quality": "green", "base_count": 2,
               "effective": True}  # fmt: skip
    parts = ask("fire", firer=battery, target={"ranks": [2, 2], "formation": "square"},
                range_cm=50)["parts"]  # fmt: skip
    assert parts == {"fire_factor": 7, "front_bases": 1, "square": 1, "deep_target": 1, "heavy": 1,
                     "square_effective": 1}  # fmt: skip


@pytest.mark.parametrize(
    ("firer", "rule"),
    [(HORSE, "H-7.1"), (FOOT | {"routing": True}, "H-7.1"),
     (FOOT | {"formation": "road_column"}, "H-7.1"), (FOOT | {"charging": True}, "H-7.1"),
     (FOOT, "H-7.3")],
)  # fmt: skip
def test_who_may_not_fire_is_told_by_its_rule(firer: Any, rule: str) -> None:
    answer = ask("fire", firer=firer, target={}, range_cm=20.1)
    assert (answer["may_fire"], answer["why_not"]["rule"]) == (False, rule)


@pytest.mark.parametrize(
    ("total", "dice", "factor", "hits", "tests"),
    [
        (6, [3, 3], 6, 0, True),
        (6, [1, 1], 6, 5, True),
        (6, [5, 6], 6, 0, False),
        (1, [1, 1], 2, 1, True),
        (12, [4, 6], 10, 0, True),
        (12, [5, 6], 10, 0, False),
    ],
)
def test_hits_are_what_a_roll_stays_under_the_factor_h_7_9(
    total: int, dice: Any, factor: int, hits: int, tests: bool
) -> None:
    holds(ask("roll", sum=total, dice=dice), factor=factor, hits=hits, morale_test=tests)


def test_short_range_comes_first_h_7_7() -> None:
    targets = {"far": {"range_cm": 15}, "near": {"range_cm": 9.9}, "out": {"range_cm": 21}}
    assert ask("choose_target", firer=FOOT, targets=targets)["may_choose"] == ["near"]
    del targets["near"]
    assert ask("choose_target", firer=FOOT, targets=targets)["may_choose"] == ["far"]


@pytest.mark.parametrize(
    ("expected", "abilities", "dice", "grade", "gained"),
    [
        ("regulars_b", [], [[3, 3]], "trained", []),
        ("regulars_b", [], [[3, 5]], "trained", []),
        ("regulars_b", [], [[1, 4]], "experienced", []),
        ("regulars_b", [], [[4, 5]], "green", []),
        ("regulars_b", [], [[1, 2]], "veteran", []),
        ("militia_a", [], [[1, 1], [4, 6]], "green", ["grognards"]),
        ("militia_a", ["grognards"], [[1, 1], [4, 5]], "trained", ["grognards", "disciplined"]),
        ("militia_a", [], [[1, 1], [1, 1]], "experienced", ["grognards"]),
    ],
)
def test_a_grade_is_rolled_by_class_h_3(
    expected: str, abilities: Any, dice: Any, grade: str, gained: Any
) -> None:
    answer = ask("quality", expected=expected, abilities=abilities, dice=dice)
    holds(answer, grade=grade, abilities=gained, rolls_used=len(dice))


def test_a_side_places_as_many_units_as_its_dice_say_h_4_3() -> None:
    holds(ask("setup", dice=[3, 5], left=9), least=3, most=5)
    holds(ask("setup", dice=[4, 6], left=2), least=2, most=2)
    holds(ask("setup", sides=["x", "y"], finished_first="x"), player_1="y", player_2="x")


@pytest.mark.parametrize(
    ("dice", "winner", "margins", "lasting"),
    [
        (([2, 3], [3, 3]), "a", {"a": 3, "b": 1}, {"a": 8, "b": 7}),
        (([4, 4], [3, 4]), None, {"a": 0, "b": 0}, {"a": 8, "b": 7}),
        (([1, 1], [6, 6]), "a", {"a": 6, "b": None}, {"a": 8, "b": 6}),
    ],
)
def test_skirmishers_are_superior_by_the_greater_margin_h_5_3(
    dice: Any, winner: str | None, margins: Any, lasting: Any
) -> None:
    a, b = {"factor": 8, "dice": dice[0]}, {"factor": 7, "dice": dice[1]}
    answer = ask("superiority", a=a, b=b)
    holds(answer, superiority=winner, margins=margins, factors_for_good=lasting)


def test_a_line_that_is_reinforced_and_the_last_test_count_h_5_2_h_5_6() -> None:
    a = {"factor": 7, "dice": [3, 4], "skirmish_bases": 1, "previous": "won"}
    b = {"factor": 7, "dice": [3, 4], "previous": "failed"}
    assert ask("superiority", a=a, b=b, foul_weather=True)["modified"] == {"a": 8, "b": 5}


def test_guns_are_effective_by_ground_and_weather_h_6_2() -> None:
    a = {"factor": 7, "dice": [3, 3], "previous": "passed"}
    b = {"factor": 7, "dice": [1, 1]}
    answer = ask("effectiveness", a=a, b=b, superiority="b", foul_weather=True)
    holds(answer, modified={"a": 6, "b": 6}, effective={"a": True, "b": True})
    assert answer["factors_for_good"] == {"a": 6, "b": 7}


def test_a_failed_morale_test_sends_a_unit_back_h_9_5() -> None:
    hit = {"unit": FOOT, "hits_taken": 4}
    holds(ask("morale", **hit, dice=[3, 4]), factor=7, passes=True, disordered=False)
    failed = ask("morale", **hit, dice=[4, 4])
    holds(failed, passes=False, disordered=True, fall_back_cm=5.0, rout=False, odd_hits=1)


@pytest.mark.parametrize(
    ("unit", "lost", "back_cm", "rout_cm"),
    [
        (FOOT, 4, 0.0, 20.0),
        (FOOT | {"cover": "hard"}, 4, 10.0, None),
        (FOOT | {"disordered": True}, 0, 0.0, 20.0),
        (HORSE | {"disordered": True}, 0, 0.0, 30.0),
        (FOOT | {"charging": True}, 2, 0.0, None),
        (FOOT | {"strongpoint": True}, 2, 0.0, None),
        (FOOT, 3, 15.0, None),
    ],
)
def test_more_than_15_cm_or_disorder_is_a_rout_h_9_7(
    unit: Any, lost: int, back_cm: float, rout_cm: float | None
) -> None:
    answer = ask("morale", unit=unit, bases_lost=lost, failed=True)
    holds(answer, fall_back_cm=back_cm, rout=rout_cm is not None, rout_cm=rout_cm)


def test_support_ranks_and_officers_steady_a_unit_h_9_3() -> None:
    deep = FOOT | {"ranks": [3, 3]}
    assert ask("morale", unit=deep, bases_lost=1)["factor"] == 8
    inspired = {"attached": True, "inspirational": True}
    assert ask("morale", unit=FOOT, officer=inspired)["sum"] == 10
    killed = {"killed": True, "inspirational": True}
    facts = {"routing_friend_cm": 20.0, "renowned_within_one_move": True}
    assert ask("morale", unit=FOOT, officer=killed, **facts)["sum"] == 4


def test_a_double_one_gives_an_ability_or_a_grade_h_9_4() -> None:
    for held, gains in ([], "grognards"), (["grognards"], "disciplined"), (
        ["grognards", "disciplined"], "experienced",
    ):  # fmt: skip
        assert ask("morale", unit=FOOT | {"abilities": held}, dice=[1, 1])["gains"] == gains


@pytest.mark.parametrize(
    ("facts", "survives", "modifier"),
    [
        ({"hits": 3, "dice": [4, 5]}, True, 1),
        ({"hits": 3, "dice": [4, 6]}, False, -1),
        ({"hits": 1, "dice": [5, 6], "inspirational": True}, False, -2),
        ({"hits": 9, "charmed": True}, True, 1),
        ({"hits": 0}, True, 1),
        ({"hits": 1, "unit_destroyed": True}, False, -1),
    ],
)
def test_an_officer_lives_on_twelve_less_the_hits_h_10(
    facts: Any, survives: bool, modifier: int
) -> None:
    holds(ask("officer_save", **facts), survives=survives, morale_modifier=modifier)


def test_an_order_is_rolled_against_its_terms_h_11_4() -> None:
    answer = ask("order_factor", quality="average", order="advance", all_in_radius=True, fired=1,
                 disordered=1, earlier_orders=1)  # fmt: skip
    assert answer["factor"] == 6
    near = ask("order_factor", quality="excellent", order="retire", inspirational=True,
               infantry_on_cavalry_within_one_move=True, out_of_range=True)  # fmt: skip
    holds(near, sum=11, factor=10)


def test_a_cincs_failure_ends_the_orders_h_11_6() -> None:
    steps = [
        {"officer": "a", "factor": 7, "dice": [3, 4]},
        {"officer": "a", "factor": 7, "dice": [4, 4]},
        {"officer": "b", "level": "cinc", "factor": 7, "dice": [4, 4]},
        {"officer": "c", "factor": 2, "dice": [1, 1]},
    ]
    results = ask("orders", steps=steps)["steps"]
    assert [step["success"] for step in results] == [True, False, False, True]
    assert [step["phase_ends"] for step in results] == [False, False, True, False]
    assert [step["second_order_free"] for step in results] == [False, False, False, True]


@pytest.mark.parametrize(
    ("units", "order", "cm"),
    [
        ([FOOT, HORSE], "advance", [15, 20]),
        ([HORSE], "advance", [25]),
        ([FOOT, HORSE], "retire", [7.5, 7.5]),
        ([HORSE], "retire", [12.5]),
        ([FOOT | {"abilities": ["irregular"]}], "advance", [20]),
        ([FOOT | {"formation": "square"}], "advance", [0]),
    ],
)
def test_a_group_goes_as_far_as_its_slowest_arm_h_12_2_h_13_1(
    units: Any, order: str, cm: Any
) -> None:
    assert ask("allowance", units=units, order=order)["cm"] == cm


def test_an_impulsive_unit_wavers_h_13_4() -> None:
    unit = {"quality": "green", "abilities": ["impulsive"]}
    officer = {"attached": True}
    holds(ask("waver", unit=unit, officer=officer, dice=[4, 4]), factor=7, passes=False,
          disordered=True, rout_cm=None)  # fmt: skip
    again = ask("waver", unit=unit | {"disordered": True}, officer=officer, dice=[4, 4])
    holds(again, factor=6, rout_cm=20.0)
    assert ask("waver", unit=unit, enemy_within_one_move=False)["tests"] is False


@pytest.mark.parametrize(
    ("ranks", "support"), [([3, 2], 0), ([3, 3], 1), ([2, 2, 2], 2), ([1, 1], 0)]
)
def test_a_support_rank_is_as_wide_as_the_front_h_2_5(ranks: Any, support: int) -> None:
    assert ask("support_ranks", ranks=ranks)["support_ranks"] == support


@pytest.mark.parametrize(
    ("question", "facts", "said"),
    [
        ("fire", {"firer": {}, "target": {}, "range_cm": 3}, "firer.quality"),
        ("quality", {"expected": "militia_a", "dice": [[1, 1]]}, "expected another throw"),
        ("quality", {"expected": "militia_a", "dice": [[1, 2], [1, 2]]}, "expected 1 throws"),
        ("roll", {"sum": 3, "dice": [1]}, "dice"),
        ("setup", {"sides": ["x", "y"], "finished_first": "z"}, "finished_first"),
    ],
)
def test_bad_input_is_refused_by_key(question: str, facts: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        ask(question, **facts)
