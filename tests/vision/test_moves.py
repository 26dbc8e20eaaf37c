"""When a base has moved, and when it has not: hands, breaks, swaps, copies."""

from dataclasses import replace

import pytest

from tablecam.vision.tracking.position import position_of
from tests.vision.films import FRAME_S, FRAMES_TO_SETTLE, Film, assert_at, there
from tests.vision.sightings import ROSTER, sighting


def test_a_picture_by_itself_is_believed_at_once():
    base = Film().show(sighting(10, 500, 300))[10]
    assert base.is_settled
    assert base.rest == base.believed == base.pose


def test_a_base_that_appears_in_a_film_rests_once_it_was_seen_at_one_place_for_0_4_s():
    film = Film()
    film.show(frames=5)
    for _ in range(FRAMES_TO_SETTLE):
        base = film.show(sighting(10, 500, 300))[10]
        assert (base.is_settled, base.rest, base.believed) == (False, None, None)
    base = film.show(sighting(10, 500, 300))[10]
    assert base.is_settled
    assert_at(base.rest, there(500, 300))
    assert film.moves == []


def test_a_base_that_a_hand_carries_through_the_first_picture_has_not_moved():
    film = Film()
    for step in range(5):
        base = film.show(sighting(10, 500 + 10 * step, 300))[10]
        assert (base.rest is None) == (step > 0)
    base = film.show(sighting(10, 600, 300), frames=10)[10]
    assert_at(base.rest, there(600, 300))
    assert film.moves == []


def test_after_a_break_in_a_film_nothing_is_believed_at_once(film):
    base = film.show(sighting(10, 700, 300), after_s=30.0)[10]
    assert not base.is_settled
    assert_at(base.believed, there(500, 300))
    film.show(sighting(10, 720, 300), frames=10)
    assert film.moved == [10]
    assert_at(film.moves[0].end, there(720, 300))


def test_pictures_one_by_one_report_every_move_at_once():
    film = Film()
    for number in range(4):
        base = film.show(sighting(10, 500 + 100 * number, 300), after_s=60.0)[10]
        assert_at(base.rest, there(500 + 100 * number, 300))
    assert film.moved == [10, 10, 10]


def test_what_comes_out_from_under_a_hand_where_it_was_has_not_moved(film):
    rest = film.bases[0].rest
    held = film.show(frames=30)[10]
    assert held.pose.seen == "held"
    assert held.is_settled
    base = film.show(sighting(10, 500, 300))[10]
    assert base.is_settled
    assert base.rest is rest
    assert film.moves == []


def test_what_comes_out_elsewhere_has_moved_once_it_was_at_rest_there_and_not_before(film):
    rest = film.bases[0].rest
    film.show(frames=30)
    for _ in range(FRAMES_TO_SETTLE):
        base = film.show(sighting(10, 560, 330, 60.0))[10]
        assert not base.is_settled
        assert base.rest is base.believed is rest
        assert_at(base.pose, there(560, 330, 60.0))
    base = film.show(sighting(10, 560, 330, 60.0))[10]
    assert_at(base.rest, there(560, 330, 60.0))
    (move,) = film.moves
    assert (move.tag, move.start, move.end) == (10, rest, base.rest)


def test_a_base_lifted_and_put_back_has_not_moved(film):
    rest = film.bases[0].rest
    for away_mm in [5, 15, 25, 25, 15, 5]:
        film.show(sighting(10, 500 + away_mm, 300))
    film.show(frames=20)
    base = film.show(sighting(10, 500.1, 300), frames=20)[10]
    assert base.is_settled
    assert base.rest is rest
    assert film.moves == []


def test_a_base_that_a_hand_hides_while_it_moves_keeps_its_rest(film):
    film.show(sighting(10, 520, 300))
    held = film.show(frames=50)[10]
    assert not held.is_settled
    assert_at(held.pose, there(520, 300))
    assert_at(held.believed, there(500, 300))
    assert film.moves == []


def test_time_in_which_nobody_sees_a_base_is_not_time_at_rest(film):
    film.show(sighting(10, 520, 300))
    film.show(frames=30)
    assert not film.show(sighting(10, 520, 300), frames=2)[10].is_settled
    assert film.show(sighting(10, 520, 300), frames=FRAMES_TO_SETTLE)[10].is_settled


def test_a_base_that_is_missed_in_every_second_picture_still_comes_to_rest(film):
    for _ in range(4):
        film.show(sighting(10, 520, 300))
        film.show()
    assert film.show(sighting(10, 520, 300))[10].is_settled
    assert film.moved == [10]


def test_a_misreading_far_off_moves_nothing(film):
    for _ in range(5):
        film.show(sighting(10, 900, 700))
        film.show(sighting(10, 500, 300), frames=3)
        film.show()
    assert film.moves == []
    assert film.bases[0].is_settled


@pytest.mark.parametrize("apart_mm", [40, 400], ids=["neighbours", "far"])
@pytest.mark.parametrize("hidden_frames", [0, 20])
def test_two_tags_that_swap_have_both_moved_each_to_the_others_place(apart_mm, hidden_frames):
    film = Film()
    film.show(sighting(10, 500, 300), sighting(11, 500 + apart_mm, 300), frames=20)
    film.show(frames=hidden_frames)
    swapped = [sighting(11, 500, 300), sighting(10, 500 + apart_mm, 300)]
    bases = film.show(*swapped, frames=FRAMES_TO_SETTLE + 1)
    assert sorted(film.moved) == [10, 11]
    assert_at(bases[10].rest, there(500 + apart_mm, 300))
    assert_at(bases[11].rest, there(500, 300))


def test_bases_that_were_carried_together_rest_together():
    film = Film()
    film.show(sighting(10, 500, 300), sighting(11, 540, 300), frames=20)
    film.show(frames=10)
    # Turned a quarter about base 10, and moved: 11, on its right before, still is.
    film.show(sighting(10, 600, 400, 180.0), frames=FRAMES_TO_SETTLE)
    both = [sighting(10, 600, 400, 180.0), sighting(11, 600, 440, 180.0)]
    film.show(*both)
    film.show(*both)
    assert film.moved == [10]
    film.show(*both)
    assert film.moved == [10, 11]


@pytest.mark.parametrize("place", [(640, 400, 90.0), (602, 440, 180.0), (600, 440, 175.0)])
def test_a_base_put_down_otherwise_than_its_unit_is_watched_for_as_long_as_any(place):
    film = Film()
    film.show(sighting(10, 500, 300), sighting(11, 540, 300), frames=20)
    film.show(frames=10)
    film.show(sighting(10, 600, 400, 180.0), frames=10)
    both = [sighting(10, 600, 400, 180.0), sighting(11, *place)]
    film.show(*both, frames=FRAMES_TO_SETTLE)
    assert film.moved == [10]
    film.show(*both)
    assert film.moved == [10, 11]


def test_a_base_comes_to_rest_though_no_picture_tells_anything_new(film):
    moved = sighting(10, 520, 300)
    film.show(moved)
    assert not film.show(moved, frames=FRAMES_TO_SETTLE - 1, fresh=())[10].is_settled
    assert film.show(moved, fresh=())[10].is_settled
    assert film.moved == [10]


def test_of_a_tag_seen_twice_neither_place_is_believed(film):
    rest = film.bases[0].rest
    base = film.show(frames=10, doubted=(10,))[10]
    assert base.is_doubted
    assert base.pose == replace(rest, seen="held")
    assert base.rest is rest
    assert base.hidden_for_s == pytest.approx(10 * FRAME_S)
    # Not even if one of the places is given.
    film.show(sighting(10, 700, 300), frames=10, doubted=(10,))
    base = film.show(sighting(10, 500, 300))[10]
    assert (base.is_doubted, base.is_settled, base.pose.seen) == (False, True, "now")
    assert film.moves == []


def test_a_base_on_its_way_is_held_at_its_rest_when_its_tag_is_seen_twice(film):
    film.show(sighting(10, 540, 300), frames=2)
    assert_at(film.show(doubted=(10,))[10].pose, there(500, 300))


def test_the_referees_position_is_of_what_rests_the_pages_of_what_is_seen(film):
    bases = film.show(sighting(10, 560, 300), sighting(11, 900, 300))
    seen = position_of(bases.values(), ROSTER, None).units[0].bases
    assert [base.tag for base in seen] == [10, 11]
    assert_at(seen[0], there(560, 300))
    assert_at(bases[10].believed, there(500, 300))
    assert bases[11].believed is None  # it has never been seen at rest
