"""Whole games of random legal players: they end, lose nothing, and are reproducible.

A few in the suite; `make bench-games` plays thousands.
"""

from collections import Counter

import pytest

from tests.rules.conformance import check_replay, check_state, play_at_random
from tests.rules.maurice.game.random_games import MOST_ACTIONS, Keeping, eager, random_game
from tests.rules.maurice.game.varied_games import play_varied

GAMES = [
    *((seed, {"deck_size": 20}) for seed in range(3)),
    (4, {"deck_size": 20, "is_measured": True}),
    (6, {"deck": "house"}),
]


@pytest.mark.parametrize(("seed", "options"), GAMES)
def test_a_game_of_random_players_ends_and_comes_out_the_same_again(seed, options):
    play = random_game(seed, **options)
    keeping = Keeping(play)
    play_at_random(play, seed, most=MOST_ACTIONS, choose=eager, after_each=keeping.check)
    check_replay(play)


@pytest.mark.parametrize(("seed", "options"), [(11, {"deck_size": 16}), (12, {"deck": "house"})])
def test_whatever_is_listed_is_taken_in_every_state_of_a_game(seed, options):
    play = random_game(seed, **options)
    play_at_random(
        play,
        seed,
        most=MOST_ACTIONS,
        choose=eager,
        after_each=lambda play: check_state(play, tried=3, seed=seed),
    )


def test_games_with_players_who_meddle_end_and_come_out_the_same_again():
    meddled = Counter[str]()
    for seed in (1, 12):  # the second is measured by a camera
        play, told = play_varied(seed, most=MOST_ACTIONS)
        check_replay(play)
        meddled += told
    assert all(meddled[what] for what in ("undone", "checked", "hands legal", "anything refused"))
