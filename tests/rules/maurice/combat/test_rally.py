"""Rallying (M-9): the number needed, and the dice that reach it (T-38)."""

import pytest

from tablecam.errors import BadInput
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.field.requests import Rally
from tablecam.rules.maurice.resolve import resolve
from tests.rules.maurice.tables import box, gun, line, massed, position

WOOD = box("woods", 380, 380, 520, 460, "wood")


def rallied(unit, dice, *others, terrain=(), card=0):
    field = field_of(position(unit, *others, terrain=terrain))
    return resolve(field, Rally(unit.id, card, tuple(dice)))


def test_foot_away_from_the_enemy_sheds_two_of_three():  # T-38
    answer = rallied(line("F1", "french", 500, 400, disruption=3), [2, 3, 5])
    unit = answer["units"]["F1"]
    assert (unit["basic"], unit["modifiers"], unit["needed"]) == (4, {"not_near_enemy": 1}, 3)
    assert unit["disruption"] == -2
    assert answer["position"]["units"][0]["state"]["disruption"] == 1
    assert unit["because"] == [
        "M-9.3 infantry: 4 or more on each die",
        "M-9.3 not near the enemy: +1",
        "M-9.2 2 of 3 dice show 3 or more",
    ]


def test_horse_near_the_enemy_in_woods_needs_a_six():  # T-38
    horse = massed("F1", "french", 450, 420, disruption=3)
    enemy = line("B1", "british", 450, 600, heading_deg=270)
    unit = rallied(horse, [4, 5, 6], enemy, terrain=[WOOD])["units"]["F1"]
    assert (unit["modifiers"], unit["needed"], unit["disruption"]) == ({"bad_terrain": -1}, 6, -1)


def test_a_gun_away_from_the_enemy_rallies_on_a_four():  # T-38
    unit = rallied(gun("F1", "french", 500, 400, disruption=1), [4])["units"]["F1"]
    assert (unit["needed"], unit["disruption"]) == (4, -1)


@pytest.mark.parametrize(("card", "dice", "shed"), [(9, [1, 2], 1), (-9, [5, 6], 1)])
def test_a_one_always_fails_and_a_six_always_succeeds(card, dice, shed):  # M-9.4
    unit = rallied(line("F1", "french", 500, 400, disruption=2), dice, card=card)["units"]["F1"]
    assert unit["disruption"] == -shed
    assert "M-9.4 a natural 1 always fails, a 6 always succeeds" in unit["because"]


@pytest.mark.parametrize("dice", [[], [4], [4, 4, 4]])
def test_another_number_of_dice_than_disruptions_is_refused(dice):  # M-9.2, T-38
    with pytest.raises(BadInput, match=r"dice: expected 2 dice, one for each disruption of F1"):
        rallied(line("F1", "french", 500, 400, disruption=2), dice)
