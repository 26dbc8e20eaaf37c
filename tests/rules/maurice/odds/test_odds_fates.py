"""The odds of falling back, beside playing every fall of the dice through, one by one."""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.rules.maurice.field.results import ScoredUnit, results
from tablecam.rules.maurice.odds.combat import Combatant, combat_variables
from tablecam.rules.maurice.odds.fates import AffectingUnits, Fate, fall_back_fates
from tablecam.rules.maurice.odds.odds import attacker_json, broken_json
from tablecam.rules.maurice.odds.variables import distribution

BW = 40.0
ROUNDING = 1e-12


@dataclass(frozen=True)
class Lanes:
    """A ground as simple as can be: who lies in whose way is said, not measured.

    A friend in the way at his first place is passed through, at one disruption for each of the two,
    and makes the way 10 mm longer; an enemy in the way breaks whoever falls back. Level and bases
    are 0 and 4 for all.
    """

    enemies: dict[str, tuple[str, ...]]
    friends: dict[str, tuple[str, ...]]

    def concern(self, unit_id, places_mm):
        friends = self.friends.get(unit_id, ())
        near = tuple(each for each in friends if 0.0 in places_mm.get(each, {0.0}))
        return AffectingUnits(self.enemies.get(unit_id, ()), near)

    def fall_back(self, unit_id, fates, standing):
        own = replace(fates[unit_id], falls_back=True)
        if standing:
            return {**fates, unit_id: replace(own, is_broken=True)}
        after = dict(fates)
        passed = [
            name
            for name, fate in fates.items()
            if name != unit_id and not fate.is_broken and fate.back_mm == 0.0
        ]
        for name in passed:
            gained = fates[name].disruption + 1
            after[name] = replace(fates[name], disruption=gained, is_broken=gained > 4)
        gained = own.disruption + len(passed)
        after[unit_id] = replace(
            own, disruption=gained, is_broken=gained > 4, back_mm=BW + 10 * len(passed)
        )
        return after


def played(combatants, order, ground, friends):
    """Every fall of the dice, and what becomes of everyone in each."""
    names = [each.id for each in combatants]
    for dice in product(range(1, 7), repeat=len(names)):
        found = results(
            ScoredUnit(u.id, u.is_active, u.value + pips, u.engaged_with, u.disruption, u.bases)
            for u, pips in zip(combatants, dice, strict=True)
        )
        state = {name: Fate(found[name].disruption, found[name].is_broken) for name in names}
        state |= {name: Fate() for name in friends}
        for each in order:
            touched = next(u for u in combatants if u.id == each).touching
            if state[each].is_broken or all(state[name].is_broken for name in touched):
                continue
            places = {name: {state[name].back_mm} for name in order}
            concern = ground.concern(each, places)
            held = {name: state[name] for name in (each, *concern.friends)}
            standing = frozenset(
                name for name in concern.enemies if name not in state or not state[name].is_broken
            )
            state |= ground.fall_back(each, held, standing)
        yield state


ATTACKERS, DEFENDERS, RESERVES = ("A0", "A1"), ("D0", "D1"), ("R0", "R1")


@st.composite
def fallings_back(draw):
    value, level = st.integers(0, 7), st.integers(0, 4)
    engaged = draw(
        st.sampled_from(
            [
                {"A0": ("D0",), "A1": ("D1",)},
                {"A0": ("D0", "D1"), "A1": ("D1",)},
                {"A0": ("D0", "D1"), "A1": ("D0", "D1")},
                {"A0": ("D0",), "A1": ("D0",)},
            ]
        )
    )
    met = {name: tuple(a for a in ATTACKERS if name in engaged[a]) for name in DEFENDERS}
    combatants = [
        Combatant(name, True, draw(value), draw(level), 4, enemies, enemies[:1])
        for name, enemies in engaged.items()
    ]
    combatants += [
        Combatant(name, False, draw(value), draw(level), 4, enemies)
        for name, enemies in met.items()
        if enemies
    ]
    near = st.lists(st.sampled_from((*DEFENDERS, "Z")), max_size=1).map(tuple)
    behind = st.lists(st.sampled_from(RESERVES), unique=True)
    order = draw(st.permutations(ATTACKERS))
    friends = {name: (*draw(behind), *draw(others(name))) for name in ATTACKERS}
    return combatants, order, Lanes({name: draw(near) for name in ATTACKERS}, friends)


def others(name):
    return st.lists(st.sampled_from([each for each in ATTACKERS if each != name]), max_size=1)


@settings(max_examples=25)
@given(fallings_back())
def test_every_fate_is_that_of_playing_all_falls_of_the_dice(case):
    combatants, order, ground = case
    ways = 6 ** len(combatants)
    plain = [
        {name: state for name, state in each.items() if name in RESERVES or name[0] in "AD"}
        for each in played(combatants, order, ground, RESERVES)
    ]
    found = fall_back_fates(combat_variables(combatants), order, ground)
    for name, fate in found.items():
        wanted = Counter(each[name] for each in plain)
        shares = {state: count / ways for state, count in wanted.items()}
        assert distribution(fate) == pytest.approx(shares, abs=ROUNDING)


@settings(max_examples=10)
@given(fallings_back())
def test_how_many_break_together_is_counted_together(case):
    combatants, order, ground = case
    attackers = [name for name in ATTACKERS if name in {each.id for each in combatants}]
    wanted = Counter(
        sum(each[name].is_broken for name in attackers)
        for each in played(combatants, order, ground, RESERVES)
    )
    found = broken_json(fall_back_fates(combat_variables(combatants), order, ground), attackers)
    shares = {str(n): count / wanted.total() for n, count in wanted.items()}
    assert found["chances"] == pytest.approx(shares, abs=ROUNDING)


def test_what_falling_back_alone_breaks_is_told_apart():
    pair = [
        Combatant("A", True, 6, 3, 4, ("D",), ("D",)),
        Combatant("D", False, 6, 0, 4, ("A",)),
    ]
    parts = combat_variables(pair)
    fate = fall_back_fates(parts, ["A"], Lanes({"A": ("Z",)}, {}))["A"]
    document = attacker_json(distribution(fate), distribution(parts["A"].harm))
    # Two disruptions, in 21 of 36 ways, break it before it could fall back onto Z.
    assert document["breaks"] == 1.0
    assert document["falls_back"] == pytest.approx(15 / 36)
    assert document["breaks_falling_back"] == pytest.approx(15 / 36)


def test_a_friend_passed_twice_is_disrupted_twice():
    pair = [
        Combatant("A0", True, 6, 0, 4, ("D0",), ("D0",)),
        Combatant("D0", False, 6, 0, 4, ("A0", "A1")),
        Combatant("A1", True, 6, 0, 4, ("D0",), ("D0",)),
    ]
    found = fall_back_fates(
        combat_variables(pair), ["A0", "A1"], Lanes({}, {"A0": ("R0",), "A1": ("R0",)})
    )
    assert distribution(found["R0"]) == {Fate(disruption=2): 1.0}
