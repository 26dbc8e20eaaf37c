"""The odds of a combat, beside a plain count over every way in which the dice can fall."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.rules.maurice.odds.combat import Combatant, CombatEffect, combat_variables
from tablecam.rules.maurice.odds.variables import distribution

ROUNDING = 1e-12
"""Far more than float64 loses over some dozen products, far less than one way in 6^7."""


def fight_of(values, levels, edges, touching, bases=4):
    """Attackers A0, A1, ... and defenders D0, D1, ... that have an edge in common."""
    sides = {"A": {a for a, _ in edges}, "D": {d for _, d in edges}}
    found = []
    for letter, numbers in sides.items():
        for number in sorted(numbers):
            name = f"{letter}{number}"
            mine = [edge for edge in edges if edge[letter == "D"] == number]
            enemies = tuple(f"{'DA'[letter == 'D']}{edge[letter == 'A']}" for edge in mine)
            touched = tuple(f"D{d}" for a, d in touching if a == number and letter == "A")
            found.append(
                Combatant(name, letter == "A", values[name], levels[name], bases, enemies, touched)
            )
    return found


def counted(combatants):
    """The rules of M-8.20 once more, plainly, over all 6^n falls of the dice at once."""
    dice = np.indices((6,) * len(combatants)).reshape(len(combatants), -1) + 1
    score = {each.id: each.value + dice[row] for row, each in enumerate(combatants)}
    found, broken = {}, {}
    for each in (one for one in combatants if not one.is_active):
        best = np.max([score[enemy] for enemy in each.engaged_with], axis=0)
        is_doubled = best >= 2 * score[each.id]
        gained = np.where(is_doubled, 0, np.where(best > score[each.id], 2, 1))
        broken[each.id] = is_doubled | (each.disruption + gained > each.bases)
        found[each.id] = gained, broken[each.id], np.ones_like(broken[each.id])
    for each in (one for one in combatants if one.is_active):
        outdone = np.any(
            [~broken[enemy] & (score[enemy] >= score[each.id]) for enemy in each.engaged_with],
            axis=0,
        )
        gained = np.where(outdone, 2, 1)
        touched = [~broken[enemy] for enemy in each.touching] or [np.zeros_like(outdone)]
        found[each.id] = gained, each.disruption + gained > each.bases, np.any(touched, axis=0)
    return found


def chances(column):
    values, ways = np.unique(column, return_counts=True)
    return {value: count / len(column) for value, count in zip(values, ways, strict=True)}


def harms(gained, broken):
    found = chances(10 * gained + broken).items()
    return {CombatEffect(int(code // 10), bool(code % 10)): share for code, share in found}


@st.composite
def small_combats(draw):
    places = [(a, d) for a in range(3) for d in range(3)]
    edges = draw(st.lists(st.sampled_from(places), min_size=1, max_size=6, unique=True))
    names = sorted({f"A{a}" for a, _ in edges} | {f"D{d}" for _, d in edges})
    values = {name: draw(st.integers(0, 7)) for name in names}
    levels = {name: draw(st.integers(0, 4)) for name in names}
    touching = draw(st.lists(st.sampled_from(edges), unique=True))
    return fight_of(values, levels, edges, touching)


@given(small_combats())
def test_every_chance_is_that_of_counting_all_falls_of_the_dice(combatants):
    plain = counted(combatants)
    for unit_id, fight in combat_variables(combatants).items():
        gained, broken, contact = plain[unit_id]
        assert distribution(fight.harm) == pytest.approx(harms(gained, broken), abs=ROUNDING)
        assert distribution(fight.has_contact) == pytest.approx(chances(contact), abs=ROUNDING)


@given(small_combats())
def test_a_disruption_more_never_makes_breaking_less_likely(combatants):
    worse = [replace(each, disruption=min(4, each.disruption + 1)) for each in combatants]
    before, after = combat_variables(combatants), combat_variables(worse)
    for each in (one for one in combatants if not one.is_active):
        assert broken(after[each.id]) >= broken(before[each.id]) - ROUNDING


def broken(fight):
    return sum(share for harm, share in distribution(fight.harm).items() if harm.is_broken)


def test_one_against_one_of_equal_value():
    # Six to five and less: 15 of 36 ways are above, 6 are ties; nobody doubles 7 with 12.
    pair = fight_of({"A0": 6, "D0": 6}, {"A0": 0, "D0": 0}, [(0, 0)], [(0, 0)])
    found = combat_variables(pair)
    defender = distribution(found["D0"].harm)
    attacker = distribution(found["A0"].harm)
    assert defender == pytest.approx({CombatEffect(1): 21 / 36, CombatEffect(2): 15 / 36})
    assert attacker == pytest.approx({CombatEffect(1): 15 / 36, CombatEffect(2): 21 / 36})
    assert distribution(found["A0"].has_contact) == {True: 1.0}


def test_a_defender_with_four_disruptions_always_breaks_and_counts_no_longer():  # M-8.21, T-35
    pair = fight_of({"A0": 0, "D0": 9}, {"A0": 0, "D0": 4}, [(0, 0)], [(0, 0)])
    found = combat_variables(pair)
    assert broken(found["D0"]) == 1.0
    assert distribution(found["A0"].harm) == {CombatEffect(1): 1.0}
    assert distribution(found["A0"].has_contact) == {False: 1.0}


def test_a_gun_breaks_at_its_second_disruption_or_when_doubled():  # M-1.14, M-8.20
    pair = [
        Combatant("A", True, 6, 0, 4, ("G",), ("G",)),
        Combatant("G", False, 1, 0, 1, ("A",)),
    ]
    # From 7 to 12 against 2 to 7: above in all ways but the one tie of 7 with 7.
    assert broken(combat_variables(pair)["G"]) == pytest.approx(35 / 36)


def test_a_defender_is_judged_by_the_highest_score_against_him():  # M-8.20
    many = fight_of(
        {"A0": 0, "A1": 0, "A2": 0, "D0": 3},
        dict.fromkeys(("A0", "A1", "A2", "D0"), 0),
        [(0, 0), (1, 0), (2, 0)],
        [],
    )
    wanted = chances(counted(many)["D0"][0])
    found = distribution(combat_variables(many)["D0"].harm)
    assert {harm.disruption: share for harm, share in found.items()} == pytest.approx(wanted)


def test_contact_with_an_enemy_who_is_not_engaged_is_never_lost():  # M-8.23
    pair = [
        Combatant("A", True, 6, 0, 4, ("D",), ("D", "Z")),
        Combatant("D", False, 0, 4, 4, ("A",)),
    ]
    assert distribution(combat_variables(pair)["A"].has_contact) == {True: 1.0}


def chain(pairs):
    """A long front: each attacker meets the defender opposite and reaches those beside him."""
    edges = [(a, d) for a in range(pairs) for d in (a - 1, a, a + 1) if 0 <= d < pairs]
    names = {f"{letter}{number}": number for letter in "AD" for number in range(pairs)}
    values = {name: 3 + number % 4 for name, number in names.items()}
    levels = {name: number % 3 for name, number in names.items()}
    return fight_of(values, levels, edges, [(n, n) for n in range(pairs)])


def test_far_ends_of_a_long_front_do_not_matter_to_each_other():
    short, long = combat_variables(chain(6)), combat_variables(chain(20))
    # What decides about the first two are the first four of each side at most.
    for name in ("A0", "A1", "D0", "D1"):
        assert distribution(short[name].harm) == distribution(long[name].harm)
    assert all(sum(distribution(each.harm).values()) == pytest.approx(1) for each in long.values())


@pytest.mark.parametrize("many", ["A", "D"])
def test_forty_units_in_a_star_are_counted_exactly(many):
    edges = [(n, 0) if many == "A" else (0, n) for n in range(39)]
    names = {f"A{a}" for a, _ in edges} | {f"D{d}" for _, d in edges}
    values, levels = dict.fromkeys(names, 6), dict.fromkeys(names, 0)
    found = combat_variables(fight_of(values, levels, edges, edges))
    centre = distribution(found["D0" if many == "A" else "A0"].harm)
    # Against the best of 39 equal dice the centre takes 2 unless none is above his own (a
    # defender), or reaches it (an attacker, whom nobody escapes by breaking: 12 doubles no 7).
    limit = range(1, 7) if many == "A" else range(6)
    spared = sum((pips / 6) ** 39 for pips in limit) / 6
    assert centre == pytest.approx(
        {CombatEffect(1): spared, CombatEffect(2): 1 - spared}, abs=ROUNDING
    )
