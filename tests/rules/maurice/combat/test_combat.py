"""A whole charge from the units' poses (M-8.16 to M-8.27): the book's examples and edge cases."""

import pytest

from tablecam.errors import BadInput
from tablecam.rules.maurice.combat.combat import meeting, scores_of
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.field.requests import Combat
from tablecam.rules.maurice.resolve import resolve
from tablecam.table.model import Unit
from tests.rules.maurice.tables import SOUTH, box, column, gun, line, massed, position, read_request


def combat(*units: Unit, terrain=(), active="french", cards=None, order=(), **dice: int):
    field = field_of(position(*units, terrain=terrain))
    return resolve(field, Combat(active, cards or {}, dice, tuple(order)))


def scores(*units: Unit, terrain=(), active="french"):
    field = field_of(position(*units, terrain=terrain))
    return scores_of(field, meeting(field, active), {})


def states(answer) -> dict[str, int]:
    return {unit["id"]: unit["state"]["disruption"] for unit in answer["position"]["units"]}


def complete_example():
    """French A, B, C from the south; Austrians 1, 2, 3 and guns 4, 5, 6 (M-8.22, T-32)."""
    units = [
        line("A", "french", 500, 580),
        line("B", "french", 675, 580),
        line("C", "french", 1100, 580),
        line("1", "austrian", 355, 640, SOUTH),
        line("2", "austrian", 570, 620, SOUTH),
        line("3", "austrian", 970, 620, SOUTH),
        *(
            gun(name, "austrian", x, 640, SOUTH)
            for name, x in zip("456", (1085, 1125, 1165), strict=True)
        ),
    ]
    woods = box("woods", 515, 575, 545, 640)
    wall = box("wall", 270, 606, 422, 612)
    return units, (woods, wall)


def test_the_complete_example_comes_out_as_the_book_tells_it():  # T-32
    units, terrain = complete_example()
    dice = {"A": 1, "B": 6, "C": 3, "1": 4, "2": 4, "3": 3, "4": 6, "5": 2, "6": 3}
    answer = combat(*units, terrain=terrain, **dice)
    found = answer["units"]
    assert {name: unit["engaged_with"] for name, unit in found.items() if name in "ABC"} == {
        "A": ["1", "2"],
        "B": ["2"],
        "C": ["3", "4", "5", "6"],
    }
    assert {name: unit["value"] for name, unit in found.items()} == dict(
        zip("ABC123456", (3, 6, 6, 6, 3, 6, 1, 1, 1), strict=True)
    )
    for name in "A2":
        assert found[name]["modifiers"] == {"bad_terrain": -2, "outnumbered": -1}
    assert [found[name]["score"] for name in "ABC123456"] == [4, 12, 9, 10, 7, 9, 7, 3, 4]
    assert {name: found[name]["disruption"] for name in "123"} == {"1": 1, "2": 2, "3": 1}
    assert [name for name in found if found[name]["broken"]] == ["4", "5", "6"]
    # A leaves the woods in which it stands: one more disruption (M-8.27).
    assert {name: found[name]["disruption"] for name in "ABC"} == {"A": 3, "B": 1, "C": 2}
    assert all(found[name]["falls_back"] for name in "ABC")
    assert states(answer) == {"A": 3, "B": 1, "C": 2, "1": 1, "2": 2, "3": 1}
    a = next(unit for unit in answer["position"]["units"] if unit["id"] == "A")
    assert {base["y_mm"] for base in a["bases"]} == {540.0}


def test_a_column_with_a_disruption_scores_its_die():  # T-34
    foot = column("B1", "british", 500, 680, SOUTH, disruption=1)
    answer = combat(line("F1", "french", 500, 580), foot, F1=1, B1=3)
    unit = answer["units"]["B1"]
    assert unit["modifiers"] == {"disruption": -1, "vulnerable": -6}
    assert (unit["value"], unit["score"]) == (0, 3)


def test_reached_across_the_gap_by_one_who_stands_it_does_not_fall_back():  # T-36
    gone = line("B1", "british", 570, 620, SOUTH, disruption=4)
    stands = line("B2", "british", 400, 630, SOUTH)
    answer = combat(line("F1", "french", 500, 580), gone, stands, F1=1, B1=1, B2=6)
    attacker = answer["units"]["F1"]
    assert attacker["engaged_with"] == ["B1", "B2"]
    assert (attacker["disruption"], attacker["falls_back"]) == (2, False)
    assert answer["units"]["B1"]["broken"]


def test_attacked_on_the_flank_is_vulnerable_and_the_attacker_is_not():  # M-8.16
    flanked = line("B1", "british", 500, 620, 0.0)
    value = scores(line("F1", "french", 500, 520), flanked)
    assert value["B1"].modifiers == {"vulnerable": -6}
    assert value["F1"].modifiers == {}
    # A friend of the defender touching the attacker's flank does not make it vulnerable.
    beside = column("B2", "british", 600, 500, SOUTH)
    value = scores(line("F1", "french", 500, 520), flanked, beside)
    assert "vulnerable" not in value["F1"].modifiers


def test_m_8_13_whose_flank_is_only_near_is_not_vulnerable():
    horse, front = massed("F1", "french", 600, 460), line("2", "british", 500, 520, SOUTH)
    near = scores(horse, line("1", "british", 620, 610, 0.0), front)
    assert near["1"].engaged_with == ("F1",)
    assert "vulnerable" not in near["1"].modifiers
    touched = scores(horse, line("1", "british", 620, 580, 0.0), front)
    assert touched["1"].modifiers["vulnerable"] == -6


def test_attacking_uphill_and_into_cover_costs_the_attacker_alone():  # M-8.14, M-8.15
    hill = box("hill", 300, 600, 700, 700)
    wall = box("wall", 300, 600, 700, 606)
    units = line("F1", "french", 500, 580), line("B1", "british", 500, 626, SOUTH)
    value = scores(*units, terrain=[hill, wall])
    assert value["F1"].modifiers == {"elevation": -1, "cover": -2}
    assert value["B1"].modifiers == {}
    horse = units[0], massed("B1", "british", 500, 646, SOUTH)
    assert scores(*horse, terrain=[hill, wall])["F1"].modifiers == {"elevation": -1}


def test_the_order_of_falling_back_is_the_players_choice():  # M-8.24
    # F1's way back lies over F2, unless F2 has gone first.
    units = (
        line("F1", "french", 500, 580),
        line("B1", "british", 500, 620, SOUTH),
        line("F2", "french", 640, 530),
        column("B2", "british", 640, 630, SOUTH, disruption=0),
    )
    dice = {"F1": 3, "F2": 3, "B1": 3, "B2": 6}
    by_itself = combat(*units, **dice)["units"]
    as_chosen = combat(*units, **dice, order=["F1"])["units"]
    assert all(by_itself[name]["falls_back"] for name in ("F1", "F2"))
    assert any("M-8.26" in line for line in as_chosen["F1"]["because"])
    assert not any("M-8.26" in line for line in by_itself["F1"]["because"])


def test_a_friend_who_is_passed_through_is_among_the_units():  # section A
    friend = line("F2", "french", 500, 525, disruption=4)
    units = line("F1", "french", 500, 580), line("B1", "british", 500, 620, SOUTH), friend
    answer = combat(*units, F1=3, B1=3)
    assert answer["units"]["F2"] == {
        "disruption": 1,
        "broken": True,
        "because": [
            "M-8.26 F1 passes through it, +1 disruption",
            "M-1.14 breaks: 5 disruptions are more than its 4 bases",
        ],
    }
    assert "F2" not in states(answer)


FRONT = (line("F1", "french", 500, 580), line("B1", "british", 500, 620, SOUTH))
FAR = line("F2", "french", 1200, 200)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"dice": {"F1": 4}},
            "dice: expected 2 dice, one for each engaged unit (M-8.19), got none for B1",
        ),
        ({}, "dice: expected 2 dice, one for each engaged unit (M-8.19), got none for F1, B1"),
        ({"dice": {"F1": 4, "B1": 2, "F2": 3}}, "dice.F2: F2 is not engaged (M-8.10): F1, B1 are"),
        (
            {"dice": {"F1": 4, "B1": 2}, "cards": {"F2": 1}},
            "cards.F2: F2 is not engaged (M-8.10): F1, B1 are",
        ),
        ({"fall_back_order": ["F2"]}, "fall_back_order[1]: F2 is not engaged (M-8.10)"),
    ],
)
def test_dice_cards_and_orders_are_for_the_engaged_alone(wrong, said):  # M-8.19
    field = field_of(position(*FRONT, FAR))
    request = read_request({"kind": "combat", "active": "french"} | wrong, "request", field)
    with pytest.raises(BadInput) as error:
        resolve(field, request)
    assert str(error.value) == f"request: {said}"


def test_a_combat_without_front_contact_is_refused():  # M-8.10
    with pytest.raises(BadInput, match="no unit of the French touches an enemy"):
        combat(FAR, FRONT[1])


def test_a_contact_that_is_too_close_to_call_is_told_and_taken_as_measured():  # G-6, G-7
    near = line("B1", "british", 500, 621, SOUTH, sigma_mm=0.3)
    answer = combat(line("F1", "french", 500, 580, sigma_mm=0.3), near, F1=3, B1=3)
    assert [doubt["rule"] for doubt in answer["doubts"]] == ["M-1.10", "M-8.10"]
    assert answer["units"]["F1"]["falls_back"]
    assert combat(*FRONT, F1=3, B1=3)["doubts"] == []


def readings(*units: Unit, terrain=(), cards=None, **dice: int) -> list[str]:
    return list(combat(*units, terrain=terrain, cards=cards, **dice)["readings"])


def test_readings_are_told_where_they_decide():  # section E
    assert readings(*FRONT, F1=3, B1=3) == []
    weak = column("B1", "british", 500, 680, SOUTH, disruption=1)
    assert readings(FRONT[0], weak, cards={"B1": 1}, F1=3, B1=3) == ["M-8.16"]
    assert readings(FRONT[0], weak, F1=3, B1=3) == []
    friend = line("F2", "french", 500, 525)
    assert readings(*FRONT, friend, F1=3, B1=3) == ["M-8.25"]
    edge = line("F1", "french", 500, 50), line("B1", "british", 500, 90, SOUTH)
    assert readings(*edge, F1=3, B1=3) == ["M-8.27"]
    gun_beside = gun("G1", "french", 370, 580)
    two = line("B1", "british", 400, 620, SOUTH), line("B2", "british", 570, 620, SOUTH)
    assert readings(FRONT[0], gun_beside, *two, F1=3, G1=3, B1=3, B2=3) == ["M-8.17"]
