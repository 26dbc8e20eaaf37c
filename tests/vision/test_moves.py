"""When a base has moved, and when it has not: hands, breaks, swaps, copies, bumps, creeping."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.table.roster import UnitEntry
from tablecam.vision.bases import base_poses
from tablecam.vision.moves import moves
from tablecam.vision.position import position_of, settled_position_of
from tablecam.vision.resting import STILL_MM
from tablecam.vision.tracking import BaseTracker
from tests.vision.sightings import CAMERA, FOOT, ROSTER, sighting

FRAME_S = 1 / 15
FRAMES_TO_SETTLE = 6
"""0.4 s at 15 frames a second, after the first one."""
DOUBT = np.diag([1.0, 1.0, 1, 1, *[1e-6] * 2, *[1e-10] * 2, 1e-6, *[1e-7] * 3, *[0.01] * 3])
"""A calibration's: about 0.9 mm of a place in the middle of the table."""


class Film:
    """A tracker that is shown a film, and every move that it ever reported."""

    def __init__(self, camera=CAMERA, roster=ROSTER):
        self.tracker = BaseTracker(roster, camera)
        self.at_s = -FRAME_S
        self.bases = ()
        self.moves = []

    def show(self, *sightings, frames=1, after_s=FRAME_S, **options):
        """Frames that all show the same; the last one's bases by tag."""
        for _ in range(frames):
            self.at_s += after_s
            before, after_s = self.bases, FRAME_S
            self.bases = self.tracker.update(sightings, self.at_s, **options)
            self.moves += moves(before, self.bases)
        return {base.tag: base for base in self.bases}

    @property
    def moved(self):
        return [move.tag for move in self.moves]


@pytest.fixture
def film():
    """A film that has shown base 10 at rest at (500, 300) for a while."""
    film = Film()
    film.show(sighting(10, 500, 300), frames=20)
    return film


def there(x_mm, y_mm, heading_deg=90.0, tag=10):
    return base_poses([sighting(tag, x_mm, y_mm, heading_deg)], [FOOT], CAMERA)[0]


def assert_at(pose, expected, within_mm=0.01):
    assert math.hypot(pose.x_mm - expected.x_mm, pose.y_mm - expected.y_mm) <= within_mm


# First pictures, and pictures one by one


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


# Hands


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
    # Turned by a quarter about base 10, and moved: 11, before on its right, still is.
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


# Small steps


def test_a_base_that_creeps_is_followed_though_no_step_can_be_seen(film):
    rest = film.bases[0].rest
    for step in range(150):
        base = film.show(sighting(10, 500 + 0.01 * step, 300))[10]
        assert abs(base.pose.x_mm - there(500 + 0.01 * step, 300).x_mm) < STILL_MM
    assert film.moves
    assert film.moves[0].start is rest
    assert_at(base.rest, there(501.5, 300), within_mm=2 * STILL_MM)


def test_a_nudge_beyond_its_uncertainty_starts_the_average_anew(film):
    base = film.show(sighting(10, 500.4, 300))[10]
    assert_at(base.pose, there(500.4, 300), within_mm=1e-9)
    assert not base.is_settled


def test_a_turn_alone_is_a_move(film):
    film.show(sighting(10, 500, 300, 93.0), frames=FRAMES_TO_SETTLE + 1)
    assert film.moved == [10]


def test_a_clearer_look_betters_the_pose_but_is_no_move():
    film = Film()
    film.show(sighting(10, 500.9, 300, sigma_mm=0.3), frames=10)
    base = film.show(sighting(10, 500, 300), frames=10)[10]
    assert film.moves == []
    assert base.is_settled
    # Of ten looks each that are 6 times as sure, the poor ones still weigh 1/37.
    assert_at(base.believed, there(500, 300), within_mm=1.5 * 0.9 / 37)
    assert base.believed.sigma_mm < 0.1


# Looks that tell nothing new


def test_a_look_that_tells_nothing_new_leaves_every_object_as_it_is(film):
    film.show(sighting(10, 500, 300), sighting(11, 540, 300), frames=10)
    before = film.bases
    film.show(sighting(10, 500, 300), sighting(11, 540, 300), frames=10, fresh=())
    assert film.bases is before


def test_only_fresh_tags_change(film):
    both = [sighting(10, 500, 300), sighting(11, 640, 300)]
    before = film.show(*both, frames=10)
    after = film.show(sighting(10, 500.05, 300), both[1], fresh={10})
    assert after[11] is before[11]
    assert after[10] != before[10]


def test_a_base_comes_to_rest_though_no_picture_tells_anything_new(film):
    moved = sighting(10, 520, 300)
    film.show(moved)
    assert not film.show(moved, frames=FRAMES_TO_SETTLE - 1, fresh=())[10].is_settled
    assert film.show(moved, fresh=())[10].is_settled
    assert film.moved == [10]


def test_a_jump_is_borne_out_by_a_picture_that_looks_the_same(film):
    film.show(sighting(10, 900, 700))
    base = film.show(sighting(10, 900, 700), fresh=())[10]
    assert_at(base.pose, there(900, 700))
    assert base.pose.seen == "now"


# Copies


def test_of_a_tag_seen_twice_neither_place_is_believed(film):
    rest = film.bases[0].rest
    base = film.show(frames=10, doubted=(10,))[10]
    assert base.is_doubted
    assert base.pose == replace(rest, seen="held")
    assert base.rest is rest
    assert base.hidden_for_s == pytest.approx(10 * FRAME_S)
    # Not even if somebody hands one of the places over.
    film.show(sighting(10, 700, 300), frames=10, doubted=(10,))
    base = film.show(sighting(10, 500, 300))[10]
    assert (base.is_doubted, base.is_settled, base.pose.seen) == (False, True, "now")
    assert film.moves == []


def test_a_base_on_its_way_is_held_at_its_rest_when_its_tag_is_seen_twice(film):
    film.show(sighting(10, 540, 300), frames=2)
    assert_at(film.show(doubted=(10,))[10].pose, there(500, 300))


# The camera


def registered_with(film, shift_mm, **sightings):
    """The film after its camera was registered, and shows its base `shift_mm` beside."""
    film.tracker.registered(replace(CAMERA, covariance=DOUBT))
    return film.show(sighting(10, 500 + shift_mm, 300), **sightings)[10]


@pytest.fixture
def unsure():
    """As `film`, through a camera that was calibrated, not given."""
    film = Film(replace(CAMERA, covariance=DOUBT))
    film.show(sighting(10, 500, 300), frames=20)
    return film


def test_no_base_moves_by_a_registration(unsure):
    before = unsure.bases[0]
    shift_mm = 2 * before.pose.sigma_mm
    assert shift_mm > 3 * STILL_MM  # without the registration it would be a move
    base = registered_with(unsure, shift_mm)
    assert base.is_settled
    assert base.rest is before.rest
    # The average starts anew, with what the new camera shows.
    assert_at(base.pose, there(500 + shift_mm, 300), within_mm=1e-9)
    unsure.show(sighting(10, 500 + shift_mm, 300), frames=30)
    assert unsure.moves == []
    assert unsure.bases[0].rest is before.rest


def test_a_base_that_was_moved_while_the_camera_was_registered_has_moved(unsure):
    registered_with(unsure, 30.0, frames=FRAMES_TO_SETTLE + 1)
    assert unsure.moved == [10]


def test_after_a_registration_small_moves_are_seen_again(unsure):
    registered_with(unsure, 0.5, frames=10)
    base = unsure.show(sighting(10, 501.2, 300))[10]
    assert not base.is_settled


def test_while_the_camera_is_pushed_and_not_registered_yet_bases_stay_where_they_were(film):
    before = film.bases[0]
    # Table tags and bases alike lie 12 mm beside where they were.
    pushed = film.show(sighting(10, 512, 300), frames=15, beside_mm=12.0)[10]
    assert_at(pushed.pose, before.pose)
    assert pushed.is_settled
    film.tracker.registered(CAMERA)
    film.show(sighting(10, 500, 300), frames=10)
    assert film.moves == []


def test_a_camera_that_sags_slowly_before_it_is_registered_moves_nothing(film):
    for step in range(40):
        film.show(sighting(10, 500 + 0.02 * step, 300), beside_mm=0.02 * step)
    film.tracker.registered(CAMERA)
    film.show(sighting(10, 500, 300), frames=10)
    assert film.moves == []


# Positions


def test_the_referees_position_is_of_what_rests_the_pages_of_what_is_seen(film):
    bases = film.show(sighting(10, 560, 300), sighting(11, 900, 300))
    seen = position_of(bases.values(), ROSTER, None).units[0].bases
    assert [base.tag for base in seen] == [10, 11]
    assert_at(seen[0], there(560, 300))
    (settled,) = settled_position_of(bases.values(), ROSTER, None).units[0].bases
    assert_at(settled, there(500, 300))


# Properties

jitter_mm = st.floats(-STILL_MM / 3, STILL_MM / 3)
glances = st.one_of(
    st.tuples(st.just("seen"), jitter_mm, jitter_mm),
    st.tuples(st.just("unchanged"), st.just(0.0), st.just(0.0)),
    st.tuples(st.just("hidden"), st.just(0.0), st.just(0.0)),
    st.tuples(st.just("twice"), st.just(0.0), st.just(0.0)),
)
gaps_s = st.sampled_from([FRAME_S, 0.2, 1.0, 60.0])


@given(st.lists(st.tuples(glances, gaps_s), max_size=40))
def test_no_sequence_of_looks_at_one_place_ever_reports_a_move(looks):
    film = Film()
    last = sighting(10, 500, 300)
    for (look, x_mm, y_mm), after_s in looks:
        if look == "seen":
            last = sighting(10, 500 + x_mm, 300 + y_mm)
        shown = [last] if look in ("seen", "unchanged") else []
        film.show(
            *shown,
            after_s=after_s,
            fresh={10} if look == "seen" else (),
            doubted=(10,) if look == "twice" else (),
        )
    assert film.moves == []


@settings(deadline=None)
@given(st.data())
def test_the_order_of_sightings_does_not_matter(data):
    tags = (*range(10, 16), 90)
    units = (UnitEntry("F1", "french", "infantry", FOOT, tags[:-1]),)
    roster = replace(ROSTER, units=units)
    one, other = Film(roster=roster), Film(roster=roster)
    place = st.sampled_from([0.0, 0.1, 40.0, 300.0])
    for _ in range(data.draw(st.integers(1, 12))):
        shown = data.draw(st.lists(st.sampled_from(tags), unique=True))
        seen = [sighting(tag, 300 + 40 * tag % 400 + data.draw(place), 300) for tag in shown]
        one.show(*seen)
        other.show(*data.draw(st.permutations(seen)))
        assert one.bases == other.bases


@given(
    st.floats(100, 1100),
    st.floats(100, 700),
    st.floats(0, 360, exclude_max=True),
    st.integers(0, 20),
)
def test_wherever_a_base_comes_to_rest_there_it_is(x_mm, y_mm, heading_deg, hidden_frames):
    film = Film()
    film.show(sighting(10, 500, 300), frames=10)
    film.show(frames=hidden_frames)
    goal = sighting(10, x_mm, y_mm, heading_deg)
    # A jump is borne out by a second picture; both count as rest.
    base = film.show(goal, frames=FRAMES_TO_SETTLE + 1)[10]
    assert base.is_settled
    assert len(film.moves) <= 1
    assert_at(base.pose, there(x_mm, y_mm, heading_deg), within_mm=STILL_MM)


def test_a_camera_without_doubt_of_its_own_can_be_registered_with_some(film):
    film.tracker.registered(replace(CAMERA, covariance=DOUBT))
    base = film.show(sighting(10, 500, 300))[10]
    assert base.pose.sigma_mm > 0.4
    assert film.moves == []
