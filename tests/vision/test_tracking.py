"""Bases through time: they appear, rest, are held while hidden, move, and rest again."""

import math
from dataclasses import replace

import numpy as np
import pytest

from calibration.camera import Camera
from tablecam.rules.games import with_formations
from tablecam.table.roster import UnitEntry
from tablecam.vision.registration.registration import register
from tablecam.vision.tracking.position import position_of
from tablecam.vision.tracking.resting import USUAL_RANDOM_SHARE
from tablecam.vision.tracking.tracking import BaseTracker
from tests.vision.sightings import CAMERA, FOOT, ROSTER, SIGMA_MM, base_poses, sighting


@pytest.fixture
def tracker():
    return BaseTracker(ROSTER, CAMERA)


def test_a_base_lies_where_its_tag_says_turned_by_the_tags_place_on_it():
    (pose,) = base_poses([sighting(10, 500, 300, heading_deg=0.0)], [FOOT], CAMERA)
    # Facing +x, the base's right is -y: the tag is 6 mm behind its centre and 4 mm to its right.
    assert (pose.x_mm, pose.y_mm) == pytest.approx((506, 304))
    assert pose.heading_deg == 0.0


def test_the_arm_between_tag_and_base_turns_doubt_about_heading_into_doubt_about_place():
    (pose,) = base_poses([sighting(10, 500, 300)], [FOOT], CAMERA)
    lever_mm = math.hypot(6, 4) * math.radians(0.2)
    assert pose.sigma_mm == pytest.approx(math.sqrt(SIGMA_MM**2 + lever_mm**2 / 2))
    assert pose.sigma_deg == pytest.approx(0.2)


def test_an_uncertain_calibration_makes_bases_less_certain_in_place_and_heading():
    doubt = np.diag([4.0, 4.0, 4, 4, *[1e-4] * 2, *[1e-8] * 2, 1e-4, *[1e-6] * 3, *[0.04] * 3])
    unsure = Camera(CAMERA.lens, CAMERA.pose, covariance=doubt)
    (sure,) = base_poses([sighting(10, 200, 700)], [FOOT], CAMERA)
    (doubted,) = base_poses([sighting(10, 200, 700)], [FOOT], unsure)
    place = unsure.table_covariance(np.array([[200.0, 700.0]]), 3.0)[0]
    assert doubted.sigma_mm > math.sqrt(np.trace(place) / 2)
    assert doubted.sigma_deg > sure.sigma_deg


def test_a_base_appears_at_once_and_rests(tracker):
    (base,) = tracker.update([sighting(10, 500, 300)], 0.0)
    assert (base.tag, base.pose.seen, base.is_settled) == (10, "now", True)


def test_a_hidden_base_is_held_at_its_last_place_however_long(tracker):
    (before,) = tracker.update([sighting(10, 500, 300)], 0.0)
    (held,) = tracker.update([], 3600.0)
    assert held.pose.seen == "held"
    assert held.hidden_for_s == 3600.0
    assert (held.pose.x_mm, held.pose.y_mm) == (before.pose.x_mm, before.pose.y_mm)
    assert held.pose.sigma_mm == before.pose.sigma_mm


def test_a_base_taken_off_is_forgotten_until_it_is_seen_again(tracker):
    tracker.update([sighting(10, 500, 300)], 0.0)
    tracker.forget(10)
    assert tracker.update([], 1.0) == ()
    assert len(tracker.update([sighting(10, 500, 300)], 2.0)) == 1


def test_a_moving_base_is_unsettled_until_it_is_seen_at_rest(tracker):
    tracker.update([sighting(10, 500, 300)], 0.0)
    settled = []
    for step in range(10):
        place_mm = 500 + 20 * min(step, 4)
        (base,) = tracker.update([sighting(10, place_mm, 300)], 0.1 * (step + 1))
        settled.append(base.is_settled)
    assert settled == [True] + [False] * 4 + [False] * 3 + [True] * 2


def test_jitter_is_averaged_but_never_sold_as_certainty(tracker):
    generator = np.random.default_rng(1)
    shown = []
    for step in range(200):
        x_mm, y_mm = generator.normal([500, 300], SIGMA_MM)
        (base,) = tracker.update([sighting(10, x_mm, y_mm)], 0.1 * step)
        shown.append(base.pose.x_mm)
    assert base.is_settled
    assert np.std(shown[10:]) < 0.6 * SIGMA_MM
    (first,) = base_poses([sighting(10, 500, 300)], [FOOT], CAMERA)
    # One base cannot show how its errors change between pictures: the usual share is assumed.
    most = math.sqrt(1 - USUAL_RANDOM_SHARE)
    assert most * first.sigma_mm < base.pose.sigma_mm < first.sigma_mm


def test_a_nudge_smaller_than_the_jitter_limit_is_followed(tracker):
    for step in range(20):
        tracker.update([sighting(10, 500, 300)], 0.1 * step)
    for step in range(20, 80):
        (base,) = tracker.update([sighting(10, 500.4, 300)], 0.1 * step)
    (there,) = base_poses([sighting(10, 500.4, 300)], [FOOT], CAMERA)
    assert base.pose.x_mm == pytest.approx(there.x_mm, abs=0.01)


def test_a_first_doubtful_sighting_gives_way_to_a_sure_one(tracker):
    tracker.update([sighting(10, 500.8, 300, sigma_mm=1.0)], 0.0)
    (base,) = tracker.update([sighting(10, 500, 300)], 0.1)
    (sure,) = base_poses([sighting(10, 500, 300)], [FOOT], CAMERA)
    assert base.pose.x_mm == pytest.approx(sure.x_mm, abs=0.01)
    assert base.pose.sigma_mm < 0.1


def test_a_base_that_jumps_across_the_table_once_is_a_misreading(tracker):
    (before,) = tracker.update([sighting(10, 500, 300)], 0.0)
    (odd,) = tracker.update([sighting(10, 900, 700)], 0.1)
    (after,) = tracker.update([sighting(10, 500, 300)], 0.2)
    assert odd.pose.x_mm == before.pose.x_mm
    assert odd.pose.seen == "held"
    assert after.pose.seen == "now"


def test_a_doubt_ends_with_the_next_picture_that_does_not_bear_it_out(tracker):
    (before,) = tracker.update([sighting(10, 500, 300)], 0.0)
    tracker.update([sighting(10, 900, 700)], 0.1)
    tracker.update([], 0.2)
    (odd,) = tracker.update([sighting(10, 905, 700)], 0.3)
    assert odd.pose.x_mm == before.pose.x_mm


def test_pictures_taken_one_by_one_are_believed_each(tracker):
    for number in range(8):
        x_mm = 200 + 100 * number
        (base,) = tracker.update([sighting(10, x_mm, 300)], 60.0 * number)
        (there,) = base_poses([sighting(10, x_mm, 300)], [FOOT], CAMERA)
        assert (base.pose.x_mm, base.pose.seen) == (there.x_mm, "now")


def test_an_old_sure_place_does_not_outweigh_what_is_seen_now(tracker):
    for step in range(50):
        tracker.update([sighting(10, 500, 300, sigma_mm=0.03)], 0.1 * step)
    for step in range(50, 150):
        (base,) = tracker.update([sighting(10, 500.9, 300, sigma_mm=0.25)], 0.1 * step)
    (there,) = base_poses([sighting(10, 500.9, 300, sigma_mm=0.25)], [FOOT], CAMERA)
    assert abs(base.pose.x_mm - there.x_mm) < base.pose.sigma_mm


def test_table_tags_beside_their_places_are_doubt_about_every_base(tracker):
    (base,) = tracker.update([sighting(10, 500, 300)], 0.0, beside_mm=0.5)
    (sure,) = base_poses([sighting(10, 500, 300)], [FOOT], CAMERA)
    assert base.pose.sigma_mm == pytest.approx(math.hypot(sure.sigma_mm, 0.5 / math.sqrt(2)))


def test_a_base_that_is_seen_twice_across_the_table_has_been_carried_there(tracker):
    tracker.update([sighting(10, 500, 300)], 0.0)
    tracker.update([sighting(10, 900, 700)], 0.1)
    (base,) = tracker.update([sighting(10, 903, 700)], 0.2)
    (there,) = base_poses([sighting(10, 903, 700)], [FOOT], CAMERA)
    assert base.pose.x_mm == there.x_mm


def test_tags_of_the_table_and_strangers_are_passed_over(tracker):
    assert tracker.update([sighting(0, 50, 50), sighting(77, 400, 400)], 0.0) == ()


def test_a_position_holds_the_units_and_commanders_that_have_been_seen(tracker):
    bases = tracker.update([sighting(11, 500, 300), sighting(90, 700, 300)], 0.0)
    position = position_of(bases, ROSTER, "monday")
    assert [[base.tag for base in unit.bases] for unit in position.units] == [[11]]
    assert position.units[0].formation is None
    assert with_formations(position, ROSTER).units[0].formation == "broken-up"
    assert [commander.id for commander in position.commanders] == ["cinc"]
    assert position.calibration == "monday"


def test_table_tags_beside_their_places_raise_the_reprojection_error():
    good = [sighting(0, 50, 50, height_mm=0.0), sighting(1, 1150, 50, height_mm=0.0)]
    assert register(good, CAMERA, ROSTER).rms_px == pytest.approx(0.0, abs=1e-9)
    bumped = [sighting(0, 53, 50, height_mm=0.0), sighting(1, 1153, 50, height_mm=0.0)]
    said = register(bumped, CAMERA, ROSTER)
    assert said.seen == (0, 1)
    assert said.rms_px == pytest.approx(3 * 1600 / 1500, rel=0.05)
    assert register([], CAMERA, ROSTER).rms_px is None


def test_a_counter_is_the_one_of_its_sides_that_was_seen_last():
    counter = UnitEntry(
        "I-42",
        "french",
        "infantry",
        FOOT,
        (20, 21),
        faces={20: FOOT, 21: replace(FOOT, depth_mm=60)},
    )
    roster = replace(ROSTER, units=(counter,))
    tracker = BaseTracker(roster, CAMERA)

    def bases(*sightings, at_s):
        (unit,) = position_of(tracker.update(sightings, at_s), roster, None).units
        return [(base.tag, base.depth_mm, base.seen) for base in unit.bases]

    assert bases(sighting(20, 500, 300), at_s=0.0) == [(20, 30, "now")]
    assert bases(at_s=10.0) == [(20, 30, "held")]
    # Turned over: its back has another tag at the same place.
    assert bases(sighting(21, 500, 300), at_s=20.0) == [(21, 60, "now")]
    assert bases(at_s=30.0) == [(21, 60, "held")]
