"""Kept games of each rulebook come out as they were written down, to the last word."""

import pytest

from tests.rules.playthrough import ALL_KEPT, KEPT, played, playthrough


@pytest.mark.parametrize("path", ALL_KEPT, ids=lambda path: path.stem)
def test_a_kept_game_comes_out_as_it_was_written_down(path):
    text = path.read_text(encoding="utf-8")
    assert playthrough(played(text)) == text


def test_the_kept_games_end_in_each_way():
    ends = [path.read_text(encoding="utf-8").splitlines()[-1] for path in KEPT]
    assert [end.startswith("night falls") for end in ends] == [False, True]
    assert "no morale left: French win" in ends[0]
