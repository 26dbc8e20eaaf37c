"""Whole games on any table with players who meddle: they end, lose nothing, and replay the same.

A few in the suite; `make bench-games` plays thousands.
"""

from collections import Counter

from tests.rules.conformance import check_replay
from tests.rules.maurice.game.random_games import MOST_ACTIONS
from tests.rules.maurice.game.varied_games import play_varied


def test_games_with_players_who_meddle_end_and_come_out_the_same_again():
    meddled = Counter[str]()
    for seed in (1, 12):  # the last as a camera measures
        play, told = play_varied(seed, most=MOST_ACTIONS)
        check_replay(play)
        meddled += told
    assert all(meddled[what] for what in ("undone", "checked", "hands legal", "anything refused"))
