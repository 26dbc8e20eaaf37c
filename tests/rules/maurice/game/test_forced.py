"""Steps that leave no choice."""

from random import Random

import pytest

from tablecam.rules.games import game_of
from tablecam.rules.maurice.game.actions import Declare, Decline, Done, FallBack, Volleys
from tablecam.rules.maurice.game.activation import Interrupting
from tablecam.rules.maurice.game.combat import ChoosingFallBacks
from tablecam.rules.maurice.game.command import CommandChoice, VolleyChoice
from tablecam.rules.maurice.game.commander import MovingCommander
from tablecam.rules.maurice.game.march import Marching
from tests.rules.maurice.game.duel import table
from tests.rules.maurice.tables import SOUTH, line, position

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


@pytest.mark.parametrize(("gap_bw", "forced"), [(4.1, Volleys(False)), (3.9, None)])
def test_m_4_3_volleys_are_left_out_where_nobody_is_in_range(gap_bw, forced):
    enemy = line("B1", "british", 900, 200 + 40 + gap_bw * 40, SOUTH)
    state = GAME.begin(position(line("F2", "french", 900, 200), enemy), {"active": "french"})
    assert isinstance(state.step, VolleyChoice)
    assert GAME.forced(state) == forced


def test_m_4_18_who_has_no_cards_left_passes_without_being_asked(state):
    state = state.with_round(is_without_cards=True)
    assert GAME.forced(state.to(CommandChoice())) == Declare("pass")


def test_m_4_9_after_the_first_deal_tablecam_draws_by_itself():
    state = GAME.begin(table(line("F2", "french", 900, 200)), {"active": "french", "deck": "house"})
    assert GAME.forced(state) is None
    (deal,) = GAME.legal(state)
    dealt = GAME.apply(state, GAME.settle(state, deal, Random(1)))[0]
    assert GAME.legal(dealt) == (GAME.forced(dealt),)


def test_m_4_16_only_a_side_that_may_play_a_card_can_pass(state):
    assert GAME.passed(state) is None
    marching = state.to(Interrupting("activation", force=("F2",)))
    assert GAME.passed(marching) == Decline("british")
