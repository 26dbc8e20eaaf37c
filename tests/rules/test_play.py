"""A game in progress over any rule system: undo, replay, chance, and the toy that proves it."""

import inspect
from dataclasses import replace
from random import Random

import pytest

from tablecam.errors import BadInput
from tablecam.rules.dice import Roll, values_of
from tablecam.rules.game import Refused
from tablecam.rules.games import game_names, game_of
from tablecam.rules.play import Play
from tablecam.table.model import Position, TableSize
from tests.rules.conformance import check_replay, check_state, play_at_random

TABLE = Position("nim", TableSize(100, 100, 10))


@pytest.fixture
def play(nim):
    return Play(nim, TABLE, chance=Random(1))


def act(play, **document):
    return play.apply(play.game.action_from_json(document))


def roll(play, *values):
    return act(play, type="roll", **{"for": "counters"}, count=1, sides=6, values=list(values))


def test_a_rule_system_is_found_by_its_folder_alone(nim):
    assert nim.name == "nim"
    assert {"charted", "maurice-lite", "nim", "skirmish"} <= set(game_names())
    assert game_of("chess") is None


def test_the_toy_is_a_whole_rule_system_in_under_100_lines(nim):
    lines = inspect.getsource(inspect.getmodule(type(nim))).splitlines()
    assert len(lines) < 100


@pytest.mark.parametrize("seed", range(10))
def test_the_toy_keeps_what_every_rule_system_must(nim, seed):
    play = Play(nim, TABLE, chance=Random(seed))
    check_state(play, tried=9)
    play_at_random(play, seed, most=10, after_each=lambda play: check_state(play, tried=9))
    check_replay(play)


def test_dice_that_were_read_count_and_dice_left_open_are_rolled(play, nim):
    roll(play, 4)
    assert play.state.left == 4
    same = [Play(nim, TABLE, chance=Random(7)) for _ in range(2)]
    rolled = [each.apply(each.legal()[0]).action for each in same]
    assert rolled[0] == rolled[1]
    assert rolled[0].values is not None


def test_offers_are_worked_out_once_a_state(play, nim, monkeypatch):
    offered = []
    of_nim = type(nim).offered
    monkeypatch.setattr(
        type(nim), "offered", lambda *asked: offered.append(asked) or of_nim(*asked)
    )
    assert play.offers() is play.offers()
    assert len(offered) == len(play.legal())
    roll(play, 4)
    assert [action for action, _ in play.offers()] == list(play.legal())
    play.undo()
    assert [action for action, _ in play.offers()] == list(play.legal())


def test_what_was_taken_back_is_done_again_with_the_same_dice(play):
    roll(play, 4)
    act(play, type="take", count=1)
    after_both = play.state
    play.undo(2)
    assert play.can_redo
    assert play.redo().action.values == (4,)
    play.redo()
    assert play.state == after_both
    assert not play.can_redo
    play.undo(2)
    roll(play, 5)
    assert not play.can_redo
    with pytest.raises(Refused, match="there is none to redo"):
        play.redo()


def test_a_die_read_wrong_is_corrected_and_what_followed_is_done_again(play):
    roll(play, 4)
    act(play, type="take", count=1)
    act(play, type="take", count=1)
    wrong = play.log[0]
    assert play.place_of(0) == 0
    assert play.correct(0, replace(wrong.action, values=(6,)), "it was a 6") == 2
    assert play.state.left == 4
    assert [entry.is_undone for entry in play.log] == [True, True, True, False, False, False]
    assert play.log[3].note == "it was a 6"
    with pytest.raises(Refused, match="deed: expected an action that was done"):
        play.place_of(0)
    again = Play.from_json(play.game, play.to_json())
    assert again.state == play.state


def test_what_no_longer_follows_from_a_correction_stays_taken_back(play):
    roll(play, 4)
    for _ in range(3):
        act(play, type="take", count=1)
    assert play.correct(0, replace(play.log[0].action, values=(2,))) == 2
    assert play.state.left == 0


def test_a_roll_that_lost_its_cause_is_taken_back_and_later_ones_stay(nim):
    """A shot of 4 and more shakes A; B rolls in any case."""
    steps = (Roll("the shot", 1), Roll("A's morale", 1), Roll("B's morale", 2), Roll("rally", 1))

    class Morale(type(nim)):
        def legal(self, state):
            return steps[state.turn : state.turn + 1]

        def apply(self, state, action):
            (due,) = self.legal(state)
            first = values_of(action, due)[0]
            return replace(state, turn=state.turn + (2 if due is steps[0] and first < 4 else 1)), ()

    play = Play(Morale(), TABLE)
    for step, values in zip(steps, ((5,), (2,), (3, 6), (1,)), strict=True):
        play.apply(replace(step, values=values))
    assert play.correct(0, replace(steps[0], values=(1,))) == 2
    made = [replace(steps[0], values=(1,)), *(one.action for one in play.log[2:4])]
    assert [done.action for done in play.done] == made


def test_a_correction_that_cannot_be_changes_nothing(play):
    roll(play, 4)
    before = play.to_json()
    with pytest.raises(Refused):
        play.correct(0, replace(play.log[0].action, values=(7,)))
    assert play.to_json() == before


@pytest.mark.parametrize("values", [(), (1, 2), (0,), (7,)])
def test_dice_that_cannot_be_are_refused_and_nothing_has_changed(play, values):
    with pytest.raises(Refused, match="expected"):
        roll(play, *values)
    assert (play.state.left, play.done, play.log) == (None, (), ())


def test_a_refused_action_uses_up_no_chance(nim):
    plays = [Play(nim, TABLE, chance=Random(3)) for _ in range(2)]
    with pytest.raises(Refused):
        plays[0].apply(plays[0].game.action_from_json({"type": "roll", "for": "x", "count": 9}))
    assert plays[0].apply(plays[0].legal()[0]) == plays[1].apply(plays[1].legal()[0])


def test_any_number_of_steps_is_undone_and_stays_in_the_log(play):
    roll(play, 6)
    act(play, type="take", count=2)
    act(play, type="take", count=1)
    undone = play.undo(2)
    assert [done.action.count for done in undone] == [1, 2]
    assert (play.state.left, play.state.turn) == (6, 0)
    act(play, type="take", count=1)
    assert [(done.events[0].text, done.is_undone) for done in play.log] == [
        ("there are 6", False),
        ("left takes 2", True),
        ("right takes 1", True),
        ("left takes 1", False),
    ]
    check_again = Play.from_json(play.game, play.to_json())
    assert check_again.log == play.log
    assert check_again.state == play.state


@pytest.mark.parametrize("steps", [0, -1, 2])
def test_no_more_is_undone_than_was_done(play, steps):
    roll(play, 6)
    with pytest.raises(Refused, match=f"expected to undo 1 to 1 actions, got {steps}"):
        play.undo(steps)
    assert play.state.left == 6


def test_a_document_that_cannot_have_happened_names_the_entry(play):
    roll(play, 1)
    document = play.to_json()
    document["log"].append({"type": "take", "count": 2})
    with pytest.raises(BadInput, match=r"play: log\[2\]: is refused: action: expected one of"):
        Play.from_json(play.game, document)


def test_a_document_of_another_game_is_refused(play):
    other = play.to_json() | {"game": "chess"}
    with pytest.raises(BadInput, match="play: game: expected nim, got chess"):
        Play.from_json(play.game, other)
