"""Steps at which nothing is left to be chosen."""

import pytest

from tablecam.rules.games import game_of
from tablecam.rules.maurice.game.state.actions import Done, FallBack
from tablecam.rules.maurice.game.state.steps import (
    ChoosingFallBacks,
    Marching,
    MovingCommander,
    VolleyChoice,
)
from tests.rules.maurice.game.duel import table
from tests.rules.maurice.tables import line

GAME = game_of("maurice-lite")


@pytest.fixture
def state():
    return GAME.begin(table(line("F2", "french", 900, 200)), {"active": "french"})


def without_cards(state):
    return GAME.apply(state, GAME.action_from_json({"type": "overrule", "hands": {"french": 0}}))[0]


def test_m_8_23_the_last_unit_to_fall_back_does_so_and_of_several_the_player_chooses(state):
    assert GAME.forced(state.to(ChoosingFallBacks(("F1",)))) == FallBack("F1")
    assert GAME.forced(state.to(ChoosingFallBacks(("F1", "F2")))) is None


def test_m_6_27_a_commander_without_a_card_to_move_him_stays(state):
    assert GAME.forced(state.to(MovingCommander())) is None
    assert GAME.forced(without_cards(state).to(MovingCommander())) == Done()


def test_m_6_31_a_march_is_never_over_by_itself_as_only_the_usual_ones_are_listed(state):
    assert GAME.forced(state.to(Marching(("F1",)))) is None


def test_m_1_5_volleys_are_never_left_out_by_themselves(state):
    assert isinstance(state.step, VolleyChoice)
    assert len(GAME.legal(state)) == 1
    assert GAME.forced(state) is None
