"""The smallest moves: creeping, nudges, turns, uninformative looks."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.table.roster import UnitEntry
from tablecam.vision.tracking.resting import STILL_MM
from tests.vision.films import FRAME_S, FRAMES_TO_SETTLE, Film, assert_at, there
from tests.vision.sightings import FOOT, ROSTER, sighting


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
    # Of ten looks of each kind, one 6 times as sure, the poor ones still weigh 1/37.
    assert_at(base.believed, there(500, 300), within_mm=1.5 * 0.9 / 37)
    assert base.believed.sigma_mm < 0.1


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


def test_a_jump_is_borne_out_by_a_picture_that_looks_the_same(film):
    film.show(sighting(10, 900, 700))
    base = film.show(sighting(10, 900, 700), fresh=())[10]
    assert_at(base.pose, there(900, 700))
    assert base.pose.seen == "now"


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
    # A second picture confirms a jump; both count as rest.
    base = film.show(goal, frames=FRAMES_TO_SETTLE + 1)[10]
    assert base.is_settled
    assert len(film.moves) <= 1
    assert_at(base.pose, there(x_mm, y_mm, heading_deg), within_mm=STILL_MM)
