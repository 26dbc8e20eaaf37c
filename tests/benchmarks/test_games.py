"""Thousands of whole games by random legal players: none fails, all end and are the same again.

`make bench-games` plays 2000 of them, another number with BENCH_OPTIONS='--games 100', and half as
many more on any table, with players who meddle.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from rich.console import Console
from rich.progress import track

from tablecam.errors import BadInput
from tablecam.rules.game import Refused
from tests.rules.conformance import check_replay, play_at_random
from tests.rules.maurice.game.random_games import MOST_ACTIONS, Keeping, eager, random_game
from tests.rules.maurice.game.varied_games import play_varied

GAMES = 50
"""So many without `--games`: some half a minute."""
FIRST_SEED = 10_000
REPLAYED = 10
"""Each so-manieth game is played again from its document, which takes as long once more."""
_OPTIONS: tuple[dict[str, Any], ...] = (
    {"deck": "house"},
    {"deck_size": 24, "setup": True},
    {"deck_size": 24},
    {"deck_size": 40, "is_measured": True},
)


def test_random_games_end_lose_nothing_and_are_the_same_again(request, capsys):
    count = request.config.getoption("--games") or GAMES
    happened = Counter[str]()
    actions = won = 0
    began_s = time.process_time()
    with capsys.disabled():
        for seed in track(range(FIRST_SEED, FIRST_SEED + count), description="games"):
            play = random_game(seed, **_OPTIONS[seed % len(_OPTIONS)])
            keeping = Keeping(play)
            play_at_random(play, seed, most=MOST_ACTIONS, choose=eager, after_each=keeping.check)
            if seed % REPLAYED == 0:
                check_replay(play)
            actions += len(play.done)
            won += play.state.step.winner is not None
            happened.update(event.kind for done in play.done for event in done.events)
        took_s = time.process_time() - began_s
        kinds = ("round", "charge", "march", "shot", "rallies", "broken", "interrupt", "modifier")
        Console().print(
            f"{count} games, {won} of them won; {actions} actions, {took_s:.0f} s: "
            f"{1000 * took_s / actions:.1f} ms each\n"
            + ", ".join(f"{kind} {happened[kind]}" for kind in kinds)
        )
    assert all(happened[kind] for kind in kinds)


def test_games_with_players_who_meddle_end_and_lose_nothing_either(request, capsys):
    count = (request.config.getoption("--games") or GAMES) // 2
    meddled = Counter[str]()
    actions = played = 0
    began_s = time.process_time()
    with capsys.disabled():
        for seed in track(range(FIRST_SEED, FIRST_SEED + count), description="meddled with"):
            try:
                play, told = play_varied(seed, most=MOST_ACTIONS)
            except BadInput as error:
                if isinstance(error, Refused) or "to fit into a third" not in error.message:
                    raise
                continue  # such an army cannot be deployed
            if seed % REPLAYED == 0:
                check_replay(play)
            played += 1
            actions += len(play.done)
            meddled += told
        took_s = time.process_time() - began_s
        Console().print(
            f"{played} games, {actions} actions, {took_s:.0f} s\n"
            + ", ".join(f"{what} {number}" for what, number in sorted(meddled.items()))
        )
    assert meddled["undone"]
    assert meddled["hands legal"]
