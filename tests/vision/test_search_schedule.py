"""Which parts of a table with moving things are searched, when, and at what cost."""

import numpy as np

from tablecam.vision.detection.sighting import Rejection, SearchResult
from tablecam.vision.search.blocks import Blocks
from tablecam.vision.search.changes import Changes
from tablecam.vision.search.incremental import SWEEP_EVERY, SWEEP_TILES, search_schedule
from tablecam.vision.search.tag_appearance import TagAppearances

BLOCKS = Blocks(np.zeros(2), 8, 8, np.arange(64).reshape(8, 8))
NOTHING = np.zeros(BLOCKS.count, dtype=np.bool_)
PICTURE = np.full((8, 8), 90, np.float32)
NO_NEWS = TagAppearances.of(SearchResult(()), PICTURE).compare(PICTURE).result(())
HAND, BEHIND, ELSEWHERE = 10, 20, 50


def only(*blocks):
    chosen = NOTHING.copy()
    chosen[list(blocks)] = True
    return chosen


def due(
    number, *, waiting=NOTHING, moving=NOTHING, owed=NOTHING, rejections=(), tags_are_missing=True
):
    """The searches due in a picture, and those left after it."""
    counts = 5 * waiting.astype(np.int64)
    near_hand = 3 * BLOCKS.near(moving, 2).astype(np.int64)
    changes = Changes(waiting, moving, counts, near_hand, np.ones((8, 8), np.float32), 0.5)
    blocks = search_schedule(
        *(number, changes, NO_NEWS, BLOCKS, owed, rejections), tags_are_missing=tags_are_missing
    )
    return blocks, blocks.still_pending(owed, changes)


def test_nothing_is_due_on_a_still_table_but_its_sweep():
    assert [number for number in range(1, 256) if due(number)[0].all.any()] == [64, 128, 192]


def test_the_sweep_comes_to_every_block_and_better_in_every_fourth_round_if_tags_are_missing():
    for tags_are_missing in (True, False):
        swept = [
            due(SWEEP_EVERY * sweep, tags_are_missing=tags_are_missing)[0]
            for sweep in range(1, 1 + 4 * SWEEP_TILES)
        ]
        assert (np.sum([blocks.thorough for blocks in swept], axis=0) == tags_are_missing).all()
        assert (np.sum([blocks.all for blocks in swept], axis=0) == 4).all()


def test_what_keeps_moving_is_searched_now_and_then_and_in_passing():
    hand = only(HAND)
    asked = [due(number, waiting=hand, moving=hand)[0] for number in range(17, 32)]
    assert sum(blocks.quick[HAND] for blocks in asked) == 3
    assert not any(blocks.thorough.any() for blocks in asked)


def test_what_a_hand_left_behind_is_searched_in_passing_soon_and_better_out_of_its_reach():
    both = only(BEHIND, ELSEWHERE)
    asked = [due(number, waiting=only(HAND) | both, moving=only(HAND)) for number in range(19, 25)]
    assert [blocks.quick[BEHIND] for blocks, _ in asked] == 5 * [False] + [True]
    _, owed = asked[-1]
    assert owed.tolist() == both.tolist()
    better = []
    for number in range(25, 37):
        blocks, owed = due(number, waiting=only(HAND), moving=only(HAND), owed=owed)
        better += [number] * bool(blocks.thorough.any())
    assert len(better) == 1
    assert owed.tolist() == only(BEHIND).tolist()


def test_when_all_is_still_all_that_is_owed_is_searched_at_once():
    blocks, owed = due(17, waiting=only(HAND), owed=only(BEHIND))
    assert blocks.thorough.tolist() == only(HAND, BEHIND).tolist()
    assert not blocks.quick.any()
    assert not owed.any()


def test_what_is_owed_below_a_hand_stays_owed():
    hand = only(HAND)
    for number in range(17, 32):
        blocks, owed = due(number, waiting=hand, moving=hand, owed=hand)
        assert not blocks.thorough.any()
        assert owed.tolist() == hand.tolist()


def test_where_a_tag_is_seen_twice_both_places_are_searched_better():
    middle_mm = BLOCKS.low_mm + 30.0
    places = [middle_mm + 60.0 * np.array(divmod(block, 8))[::-1] for block in (BEHIND, ELSEWHERE)]
    copies = [Rejection(7, "seen twice", x_mm, y_mm, is_duplicate=True) for x_mm, y_mm in places]
    blocks, _ = due(24, waiting=only(BEHIND), moving=only(HAND), rejections=copies)
    assert blocks.thorough.tolist() == only(BEHIND, ELSEWHERE).tolist()
