"""Rallying as steps of a game (chapter 9)."""

import pytest

from tablecam.rules.game import Refused
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Done, Rally
from tablecam.rules.maurice.game.combat import Rallying
from tablecam.rules.maurice.game.commander import MovingCommander
from tablecam.rules.maurice.game.state import Modifier, State
from tests.rules.maurice.game.states import after, dice, level, state_at
from tests.rules.maurice.tables import line, position


def three_lines(**of_round: object) -> State:
    table = position(
        line("F1", "french", 400, 200, disruption=3),
        line("F2", "french", 600, 200),
        line("F3", "french", 800, 200, disruption=1),
        line("B1", "british", 800, 1000),
    )
    step = Rallying(("F1", "F2", "F3"))
    return state_at(table, step, command="rally", **of_round)


def test_m_9_1_any_disrupted_unit_of_the_force_may_try_once() -> None:
    state = three_lines()
    assert GAME.legal(state) == (Rally("F1"), Rally("F3"), Done())
    state, _ = after(state, Rally("F3"))
    state, _ = after(state, dice(state, 1))
    assert GAME.legal(state) == (Rally("F1"), Done())
    for unit in ("F2", "F3", "B1"):
        with pytest.raises(Refused, match=rf"M-9\.1 expected one of F1, got {unit}"):
            after(state, Rally(unit))


def test_m_9_3_a_blue_flag_adds_to_each_die_and_m_9_4_a_1_always_fails() -> None:
    flag = Modifier("french", "flag", {"F1": 3})
    state, _ = after(three_lines(modifiers=(flag,)), Rally("F1"))
    state, _ = after(state, dice(state, 1, 2, 2))
    assert level(state, "F1") == 1


def test_the_action_is_over_when_all_have_tried_or_the_player_has_done() -> None:
    state, _ = after(three_lines(), Rally("F1"))
    state, _ = after(state, dice(state, 1, 1, 1), Rally("F3"))
    state, told = after(state, dice(state, 6))
    assert told[0].text == "F3 rallies: 6, needs 3+: sheds 1 disruption"
    assert isinstance(state.step, MovingCommander)
    assert isinstance(after(three_lines(), Done())[0].step, MovingCommander)
