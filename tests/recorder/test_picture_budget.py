"""A game's pictures stay within the budget that players give, and no hour lacks them."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from tablecam.recorder.picture_budget import DEFAULT_MB, GAME_S, LEVELS, PictureBudget, played_s

TABLE_PX, PLACE_PX = 1800 * 1200, 360 * 210
MB = 1_000_000


def come_out(level, full_px, chance, grain):
    """The size of a picture: cloths differ between tables, pictures a little."""
    return round(full_px * level.scale**2 * level.bytes_per_px * grain * chance.uniform(0.8, 1.25))


def played(budget, moves, chance, *, hours=3.0, grain=1.0):
    """A game with moves at random times: when each picture was recorded, its subject, its size."""
    kept = []
    budget.level("table", TABLE_PX, 0.0)  # it begins
    for now_s in sorted(chance.uniform(0.0, hours * 3600) for _ in range(moves)):
        for shown, full_px in (("place", PLACE_PX), ("place", PLACE_PX), ("table", TABLE_PX)):
            level = budget.level(shown, full_px, now_s)
            if level is None:
                continue
            size = come_out(level, full_px, chance, grain)
            if budget.spend(shown, level, full_px, size, now_s):
                kept.append((now_s, shown, level, size))
    return kept


@pytest.mark.parametrize("total_mb", [DEFAULT_MB, 20.0, 5.0])
@pytest.mark.parametrize("moves", [60, 600, 6000])
@pytest.mark.parametrize("grain", [0.3, 1.0, 2.0])
def test_three_hours_stay_within_the_budget_and_the_last_one_still_has_pictures(
    total_mb, moves, grain
):
    kept = played(PictureBudget(total_mb), moves, Random(moves), grain=grain)
    assert sum(size for *_, size in kept) <= total_mb * MB
    for hour in range(3):
        shown = [what for now_s, what, *_ in kept if hour * 3600 <= now_s < (hour + 1) * 3600]
        assert shown.count("place") >= min(moves / 3, 60) * 0.5
        assert shown.count("table") >= 5


def test_what_there_is_room_for_is_used():
    kept = played(PictureBudget(), 2000, Random(1))
    assert sum(size for *_, size in kept) > 0.8 * DEFAULT_MB * MB


def test_a_quiet_game_has_the_best_pictures_throughout():
    kept = played(PictureBudget(), 60, Random(2))
    best = {shown: levels[0] for shown, levels in LEVELS.items()}
    assert all(level == best[shown] for _, shown, level, _ in kept)
    assert len(kept) == 180


def test_of_a_hasty_game_moves_keep_their_pictures_before_the_whole_table_does():
    kept = played(PictureBudget(20.0), 2000, Random(3))
    shown = [what for _, what, *_ in kept]
    assert shown.count("place") > 0.99 * 4000
    assert 100 < shown.count("table") < 1000


def test_no_room_means_no_pictures():
    budget = PictureBudget(0.0)
    assert budget.is_none
    assert played(budget, 100, Random(4)) == []


def test_a_game_that_goes_on_has_what_it_left():
    first, second = PictureBudget(20.0), Random(5)
    kept = played(first, 1500, second, hours=1.5)
    spent = sum(size for *_, size in kept)
    again = PictureBudget(20.0, spent_bytes=spent, played_s=1.5 * 3600)
    more = played(again, 1500, second, hours=1.5)
    assert spent + sum(size for *_, size in more) <= 20.0 * MB
    assert len(more) > 1000


def test_disputes_keep_their_pictures_and_others_make_room():
    budget = PictureBudget(6.0)
    budget.level("table", TABLE_PX, 0.0)
    budget.spend_anyway(5 * MB)
    assert budget.level("table", TABLE_PX, 60.0) is None
    assert budget.level("place", PLACE_PX, 0.95 * GAME_S) is not None


def test_a_longer_game_goes_on_at_the_same_rate():
    budget = PictureBudget()
    played(budget, 3000, Random(6))
    assert budget.level("place", PLACE_PX, 1.2 * GAME_S) is not None


def test_a_break_is_no_play():
    evening = datetime(2026, 5, 1, 19, 30, tzinfo=UTC)
    minutes = (0, 5, 10, 24 * 60, 24 * 60 + 5)
    times = [evening + timedelta(minutes=minute) for minute in minutes]
    assert played_s(times) == pytest.approx((5 + 5 + 10 + 5) * 60)
    assert played_s([]) == 0
