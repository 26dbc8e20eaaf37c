"""Results of scores, from plain numbers: passive units first, then active ones (M-8.20)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.rules.maurice.combat.results import Fighter, results, settle


def fighter(name: str, enemies: tuple[str, ...], level: int = 0, bases: int = 4) -> Fighter:
    """Foot, or a gun of one base; attackers have names that begin with A."""
    arm, formation = ("infantry", "line") if bases > 1 else ("artillery", "artillery")
    return Fighter(name, arm, formation, enemies, level, is_active=name[0] == "A", bases=bases)


def duel(attacker: int, defender: int, *, bases: int = 4, levels: tuple[int, int] = (0, 0)):
    found = results(
        {
            fighter("A", ("1",), levels[0]): attacker,
            fighter("1", ("A",), levels[1], bases): defender,
        }
    )
    return found["A"], found["1"]


@pytest.mark.parametrize(
    ("attacker", "defender", "taken", "is_broken"),
    [(8, 4, (1, 0), True), (7, 4, (1, 2), False), (5, 5, (2, 1), False), (4, 9, (2, 1), False)],
    ids=["doubled", "beaten", "tied", "won"],
)
def test_a_charge_is_decided_by_who_outscores_whom(attacker, defender, taken, is_broken):  # M-8.20
    attacked, held = duel(attacker, defender)
    assert (attacked.disruption, held.disruption) == taken
    assert held.is_broken == is_broken
    assert not attacked.is_broken


def test_four_disruptions_break_a_defender_who_wins_and_then_no_longer_counts():  # M-8.21, T-35
    attacked, held = duel(5, 9, levels=(0, 4))
    assert held.is_broken
    assert str(held.because[-1]) == "M-1.14 breaks: 5 disruptions are more than its 4 bases"
    assert (attacked.disruption, attacked.is_broken) == (1, False)


def test_a_gun_that_is_beaten_breaks():  # M-1.14
    assert duel(9, 7, bases=1)[1].is_broken
    assert not duel(7, 9, bases=1)[1].is_broken
    assert duel(7, 9, bases=1, levels=(0, 1))[1].is_broken


def test_an_attacker_counts_only_defenders_that_still_stand():  # M-8.20, T-36
    found = results(
        {
            fighter("A", ("1", "2")): 9,
            fighter("1", ("A",)): 4,
            fighter("2", ("A",)): 10,
        }
    )
    assert found["1"].is_broken
    assert (found["2"].disruption, found["A"].disruption) == (1, 2)


scores = st.integers(1, 14)


@given(scores, scores, st.integers(0, 4), st.integers(0, 4))
def test_nobody_escapes_and_more_is_never_worse(attacker, defender, level_a, level_d):
    attacked, held = duel(attacker, defender, levels=(level_a, level_d))
    assert attacked.disruption in (1, 2)
    assert held.is_broken or held.disruption in (1, 2)
    better, _ = duel(attacker + 1, defender, levels=(level_a, level_d))
    assert better.disruption <= attacked.disruption


def test_all_throws_at_once_are_each_throw_by_itself():  # M-8.20
    ours = [("A1", ("D1", "D2"), 2), ("A2", ("D2",), 3)]
    theirs = [("D1", ("A1",), 1), ("D2", ("A1", "A2"), 2)]
    values = [6, 4, 5, 3]
    units = [fighter(*of_unit) for of_unit in (*ours, *theirs)]
    every = np.indices((6,) * 4).reshape(4, -1).T + 1 + values
    settled = settle(units, every)
    for scores, gained, broken in zip(
        every.tolist(), settled.gained.tolist(), settled.is_broken.tolist(), strict=True
    ):
        alone = results(dict(zip(units, scores, strict=True)))
        assert [alone[unit.id].disruption for unit in units] == gained
        assert [alone[unit.id].is_broken for unit in units] == broken
