"""What every rule system must keep to, checked all through games of random legal players."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from tablecam.referee.game_views import game_status, markers, marks
from tablecam.rules.frozen_json import to_plain
from tablecam.rules.play import Play

Checked = Callable[[Play[Any, Any]], None]
Chosen = Callable[[tuple[Any, ...], Random], Any]


def play_at_random(
    play: Play[Any, Any],
    seed: int,
    *,
    most: int,
    choose: Chosen = lambda actions, players: players.choice(actions),
    after_each: Checked = lambda play: None,
) -> None:
    """Play to the end with random legal actions, at most so many; after each one check more."""
    players = Random(seed)
    while not play.asked().is_over:
        assert len(play.done) < most, f"not over after {most} actions: {play.asked().question}"
        play.apply(choose(play.legal(), players))
        after_each(play)
    assert play.legal() == ()
    kinds = {event.kind for event in play.done[-1].events}
    assert "over" in kinds, "reports and replays look for the end by its event"


def check_state(play: Play[Any, Any], *, tried: int, seed: int = 0) -> None:
    """The state keeps its promises: `tried` of its legal actions are applied and let go again."""
    game, state = play.game, play.state
    written = json.loads(json.dumps(game.state_to_json(state)))
    assert game.state_from_json(written) == state
    legal = play.legal()
    assert legal == play.legal(), "legal actions come in a stable order"
    assert play.asked().is_over == (not legal)
    assert len({repr(action) for action in legal}) == len(legal), "each action is listed once"
    assert game.forced(state) in (None, *legal[:1])
    assert game.forced(state) is None or len(legal) == 1, "two answers are a choice"
    offers = [game.offered(state, action) for action in legal]
    assert all(offer.group and offer.label for offer in offers)
    assert "\n" not in game.why_missing(state)
    check_description(play)
    for action in Random(seed).sample(legal, min(tried, len(legal))):
        document = json.loads(json.dumps(game.action_to_json(action)))
        assert game.action_from_json(document) == action
        settled = game.settle(state, action, Random(seed))
        once, events = game.apply(state, settled)
        assert game.apply(state, settled) == (once, events), "the same action, the same game"
        assert json.dumps([event.to_json() for event in events])


def check_description(play: Play[Any, Any]) -> None:
    """What pages and recordings show of a state: by its public part, which has no positions."""
    game, state = play.game, play.state
    public = json.loads(json.dumps(game_status(game, state)["state"]))
    assert json.dumps(to_plain(game.standing(public)))
    assert json.dumps(marks(game, markers(game, state)))
    settings = game.settings(state)
    assert json.dumps([to_plain(setting) for setting in settings])
    assert len({setting.key for setting in settings}) == len(settings)


def check_replay(play: Play[Any, Any]) -> None:
    """Its document gives the same game again, and undoing all of it the first state."""
    document = json.loads(json.dumps(play.to_json()))
    again = Play.from_json(play.game, document)
    assert again.done == play.done
    assert again.to_json() == document
    begun = Play.from_json(play.game, document | {"log": []}).state
    for state in reversed([begun, *(done.state for done in again.done[:-1])]):
        again.undo()
        assert again.state == state
    assert all(done.is_undone for done in again.log)
