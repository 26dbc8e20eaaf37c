"""Whose the dice of a roll are: what is entered for a base is what it rolls."""

from __future__ import annotations

import pytest

from tablecam.rules.dice import Roll
from tablecam.rules.game import DiceGroup
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Fire, FireFrom, Rally
from tablecam.rules.maurice.game.combat import Rallying
from tablecam.rules.maurice.game.fire import Firing
from tablecam.rules.maurice.game.offers import offer
from tablecam.rules.maurice.game.state import State
from tests.rules.maurice.game.states import after, dice, state_at
from tests.rules.maurice.tables import SOUTH, box, line, position


def half_in_a_wood() -> State:
    """F1 is to roll to hit B1, whose left half stands in a wood."""
    wood = box("woods", 600, 530, 700, 600, "wood")
    table = position(
        line("F1", "french", 600, 400), line("B1", "british", 600, 560, SOUTH), terrain=[wood]
    )
    aims = {f"F1/{place}": "B1" for place in (1, 2, 3, 4)}
    state = state_at(table, Firing("volley", "french"))
    return after(state, FireFrom("left"), Fire("F1", aims))[0]


def groups(state: State) -> tuple[DiceGroup, ...]:
    (due,) = GAME.legal(state)
    assert isinstance(due, Roll)
    found = offer(state, due).dice
    assert sorted(place for each in found for place in each.places) == list(range(due.count))
    return found


@pytest.mark.parametrize("short_by", [0, 1])
def test_m_7_23_a_base_that_shoots_into_cover_is_told_apart_from_one_that_does_not(
    short_by: int,
) -> None:
    state = half_in_a_wood()
    found = groups(state)
    assert {each.needs for each in found} == {4, 5}
    (why,) = GAME.asked(state).sums
    assert (why.title, why.terms) == ("5+ to hit", ("4+", "-1 cover"))
    values = [0] * 4
    for each in found:
        for place in each.places:
            values[place] = (each.needs or 0) - short_by
    _, told = after(state, dice(state, *values))
    assert [event.facts["hits"] for event in told] == [
        (1 - short_by) * len(each.places) for each in found
    ]


def test_m_9_3_a_rally_says_what_each_die_needs() -> None:
    table = position(  # no enemy is near
        line("F1", "french", 400, 200, disruption=2), line("B1", "british", 800, 1000)
    )
    state, _ = after(state_at(table, Rallying(("F1",)), command="rally"), Rally("F1"))
    assert groups(state) == (DiceGroup("F1", 3, (0, 1)),)
