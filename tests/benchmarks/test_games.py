"""Whole games by random legal players: none fails, all end, and replays are identical.

`make bench-games` plays 2000 of Maurice Lite, another number with BENCH_OPTIONS='--games 100', half
as many more on any table with players who interfere, and 300 of each other game.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, get_args

import pytest
from rich.console import Console
from rich.progress import track

from tablecam.errors import BadInput
from tablecam.rules.game import Refused
from tablecam.rules.musket_saber.tables import FowChoice
from tablecam.rules.play import Play
from tests.rules.conformance import Chosen, check_replay, play_at_random
from tests.rules.huzzah_ge import test_huzzah_games as huzzah
from tests.rules.maida_1806 import test_maida_games as maida
from tests.rules.maurice.game.random_games import MOST_ACTIONS, Keeping, eager, random_game
from tests.rules.maurice.game.varied_games import play_varied
from tests.rules.musket_saber import folios as musket
from tests.rules.syw_d6 import test_syw_games as syw

GAMES = 50
"""The number without `--games`; they take about half a minute."""
FIRST_SEED = 10_000
REPLAYED = 10
"""One game in ten is replayed from its document, which takes as long again."""
MOST_OF_A_BOOK = 300
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


class Book(NamedTuple):
    """How random players play a game, and the `kinds` of events that must occur.

    A match of `pattern` in the sentence of an event also counts as a kind.
    """

    begun: Callable[[int], Play[Any, Any]]
    choose: Chosen
    kinds: frozenset[str]
    pattern: str = "(?!)"


_RESULTS = ("NE", "Ex", *(f"{side}{effect}" for side in "AD" for effect in "rxcme"))
_BOOKS = {
    "syw-d6": Book(
        syw.begun, syw.by_kind, frozenset({"charge", "fire", "melee", "test", "flight", "response"})
    ),
    "huzzah-ge": Book(
        huzzah.begun,
        huzzah.by_kind,
        frozenset({"order", "fire", "charge", "melee", "quality", "rally", "loss"}),
    ),
    "maida-1806": Book(
        lambda seed: maida.close_up(seed, turns=6),
        maida.by_kind,
        frozenset({"draw", "move", "fire", "reaction", "withdraw", "clash", "rout"}),
    ),
    # Each result of the CRT and each Fortune of War.
    "musket-saber": Book(
        lambda seed: musket.close_up(seed, turns=["day", "day", "twilight", "night", "day"]),
        musket.eager,
        frozenset({*_RESULTS, *(f"fow-{use}" for use in get_args(FowChoice) if use != "keep")}),
        r"\(((?:NE|Ex|[AD][rxcme]))[+)(]",
    ),
}


@pytest.mark.parametrize("name", _BOOKS)
def test_random_games_of_each_book_end_replay_and_show_all_that_may_happen(name, request, capsys):
    count = min(request.config.getoption("--games") or GAMES, MOST_OF_A_BOOK)
    book = _BOOKS[name]
    happened = Counter[str]()
    actions = 0
    began_s = time.process_time()
    with capsys.disabled():
        for seed in track(range(FIRST_SEED, FIRST_SEED + count), description=name):
            play = book.begun(seed)
            play_at_random(play, seed, most=MOST_ACTIONS, choose=book.choose)
            check_replay(play)
            actions += len(play.done)
            events = [event for done in play.done for event in done.events]
            happened.update(event.kind for event in events)
            happened.update(
                word for event in events for word in re.findall(book.pattern, event.text)
            )
        took_s = time.process_time() - began_s
        Console().print(
            f"{count} games of {name}, each replayed; {actions} actions, {took_s:.0f} s\n"
            + ", ".join(f"{kind} {number}" for kind, number in sorted(happened.items()))
        )
    assert not book.kinds - happened.keys()
