"""The referee of players who declare before they measure."""

import pytest

from tablecam.referee.intents import Intent
from tablecam.referee.referee import Referee
from tablecam.referee.refusals import NotDeclared
from tablecam.referee.seat_view import seat_view
from tablecam.referee.seats import SHARED, SPECTATOR, player
from tablecam.rules.games import game_of
from tests.referee.marching import act
from tests.referee.tables import moved, table

FRENCH = player("french")


@pytest.fixture
def referee():
    referee = Referee(game_of("maurice-lite"))
    referee.begin(table(), {"active": "french", "measuring": "declared"}, FRENCH)
    return referee


def march(referee, label="F1: with 6 BW"):
    act(referee, "volleys", "Skip")
    act(referee, "command", "March")
    if seat_view(referee, SHARED)["actions"][0]["group"] == "card":
        act(referee, "card", "Draw", SHARED)
    act(referee, "activate", label)
    while seat_view(referee, SHARED)["actions"][-1]["group"] == "card":
        act(referee, "card", "No card", SHARED)


def test_nobody_measures_before_somebody_has_declared(referee):
    for names in (("F1", "B1"), ("F1",), ("F1", None), (None, None)):
        with pytest.raises(NotDeclared, match="closed until the French action is declared"):
            referee.check_open(*names)
    for seat in (FRENCH, SHARED, SPECTATOR):
        assert "until the French action" in seat_view(referee, seat)["closed"]["because"]


def test_all_is_open_where_players_have_agreed_on_nothing():
    referee = Referee(game_of("maurice-lite"))
    referee.check_open("F1", "B1")
    referee.begin(table(), {"active": "french"}, FRENCH)
    referee.check_open("F1")
    assert seat_view(referee, SPECTATOR)["closed"] is None


def test_what_marches_is_measured_and_nothing_else(referee):
    march(referee)
    referee.check_open("F1", None)
    referee.check_open("cinc", "F1")
    for names in (("F1", "B1"), ("F2", None), ("F1",)):
        with pytest.raises(NotDeclared, match="Only declared units may be measured: F1, cinc"):
            referee.check_open(*names)
    act(referee, "done", "End the march")
    with pytest.raises(NotDeclared):
        referee.check_open("F1", None)


def test_what_is_taken_back_has_not_been_declared(referee):
    march(referee)
    while "which force" not in seat_view(referee, SHARED)["question"]:
        referee.undo(FRENCH)
    with pytest.raises(NotDeclared):
        referee.check_open("F1", None)


def test_an_intent_is_checked_once_the_unit_has_been_moved(referee):
    march(referee)
    referee.intend(FRENCH, Intent("F1", "B1", 12.0, is_within=True))
    (said,) = seat_view(referee, FRENCH)["intents"]
    assert said["answer"] is None
    referee.table_at_rest(moved(table(), "F1", 100.0))
    (said,) = seat_view(referee, FRENCH)["intents"]
    assert said["answer"]["answer"] == "yes"


def test_a_move_is_judged_when_it_has_been_made(referee):
    march(referee)
    referee.table_at_rest(moved(table(), "F1", 400.0))
    (suggestion,) = seat_view(referee, FRENCH)["moved"]
    assert not suggestion["is_legal"]
    assert "at most 4 BW" in suggestion["answer"]["because"]


def test_a_game_that_goes_on_knows_what_players_have_agreed_on(referee):
    with referee.locked() as play:
        document = play.to_json()
    again = Referee(game_of("maurice-lite"))
    again.resume(document)
    with pytest.raises(NotDeclared):
        again.check_open("F1", "B1")
