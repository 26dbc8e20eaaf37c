"""Views of a game: the log for replays, the rest for spectators."""

import json
from functools import partial

import pytest

from tablecam.record.plays import newest_play
from tablecam.recorder.game_recorder import GameRecorder, new_game_file
from tablecam.referee.corrections import correct_dice
from tablecam.referee.referee import Referee
from tablecam.referee.seat_view import seat_view
from tablecam.referee.seats import SHARED, player
from tablecam.rules.games import game_of
from tablecam.rules.play import Play
from tests.record.games import FACTS
from tests.referee.tables import moved, table

FRENCH, BRITISH = player("french"), player("british")
GAME = game_of("maurice-lite")
DICE = {"count": 2, "sides": 6}
RALLY = [
    {"of": "french", "type": "overrule", "disruption": {"F1": 2}},
    {"of": "french", "type": "declare", "command": "rally"},
    {"of": "french", "type": "activate", "force": ["F1"], "spans": [3]},
    {"of": "british", "type": "decline", "side": "british"},
    {"of": "french", "type": "decline", "side": "french"},
    {"of": "british", "type": "decline", "side": "british"},
    {"of": "french", "type": "rally", "unit": "F1"},
    {"of": "french", "type": "roll", "for": "F1 to rally", **DICE, "values": [6, 5]},
]


@pytest.fixture
def kept(tmp_path):
    return GameRecorder(partial(new_game_file, tmp_path, FACTS))


def begun(kept, **options):
    referee = Referee(GAME, store=kept)
    referee.begin(table(), {"active": "french"} | options, FRENCH)
    return referee


def entries(kept, *kinds):
    return [entry.document for entry in kept.journal().entries(*kinds)]


def play_on(referee, actions):
    """Take the first offer, `actions` times; dice and cards are random."""
    for _ in range(actions):
        with referee.locked() as play:
            asked = play.asked()
        seat = {"french": FRENCH, "british": BRITISH}.get(asked.seat, SHARED)
        referee.act(seat, seat_view(referee, seat)["actions"][0]["action"])


def test_of_hands_that_are_dealt_nothing_is_told_but_in_the_log(kept):
    referee = begun(kept, deck="house")
    play_on(referee, 12)
    with referee.locked() as play:
        hands = {card for side in play.state.sides for card in side.cards}
    (beginning,) = entries(kept, "play")
    deeds = entries(kept, "deed")
    told = [beginning["after"], *([deed["events"], deed["after"]] for deed in deeds)]
    assert hands
    public = set(json.dumps(told).split('"'))
    pile = {card["id"] for card in deeds[-1]["after"]["state"]["discards"]}
    assert not hands & (public - pile)
    assert all(f'"{card}"' in json.dumps([deed["entry"] for deed in deeds]) for card in hands)
    assert [side["hand"] for side in deeds[-1]["after"]["state"]["sides"]] == [
        len(side.cards) for side in play.state.sides
    ]


def test_what_is_kept_makes_the_same_game_again(kept):
    referee = begun(kept)
    play_on(referee, 15)
    referee.undo(SHARED, 2)
    play_on(referee, 3)
    with referee.locked() as play:
        again = Play.from_json(GAME, newest_play(kept.journal()))
        assert again.state == play.state
        assert again.to_json() == play.to_json()


def test_what_a_correction_took_back_and_did_again_is_told_in_order(kept):
    referee = begun(kept)
    for each in RALLY:
        action = {key: value for key, value in each.items() if key != "of"}
        referee.act(player(each["of"]), action)
    referee.act(SHARED, {"type": "overrule", "disruption": {"B1": 1}})
    rolled = len(RALLY)  # after volleys, which nobody can fire
    correct_dice(referee, SHARED, rolled, [1, 2])
    deeds = entries(kept, "deed")
    undo, corrected, again = deeds[rolled + 2 :]
    assert undo["undoes"] == [rolled + 1, rolled]
    assert (corrected["deed"], corrected["entry"]["action"]["values"]) == (rolled + 2, [1, 2])
    assert corrected["events"][0]["dice"] == {"values": [1, 2], "sides": 6}
    assert again["entry"] == deeds[rolled + 1]["entry"]
    assert undo["after"]["markers"]["F1"]["disruption"] == 2
    assert "B1" not in undo["after"]["markers"]
    with referee.locked() as play:
        assert Play.from_json(GAME, newest_play(kept.journal())).state == play.state


def test_each_ruling_is_told_once_with_its_evidence(kept):
    referee = begun(kept)
    there = moved(table(), "B1", 50.0, 270.0)
    referee.table_at_rest(there)
    referee.table_at_rest(there)
    (ruling,) = entries(kept, "ruling")
    assert (ruling["unit"], ruling["is_legal"]) == ("B1", False)
    assert ruling["answer"]["rule"]
    assert ruling.items() <= seat_view(referee, FRENCH)["moved"][0].items()
    referee.table_at_rest(moved(table(), "B1", 70.0, 270.0))
    assert len(entries(kept, "ruling")) == 2
