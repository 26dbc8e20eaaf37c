"""A bumped camera, a drifting one, a pushed tag, and things that are none of these."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.camera import Camera
from calibration.extrinsics.tag_pose import SeenTags, fit_pose, moved_by
from tablecam.simulate.demo import demo_camera, demo_roster
from tablecam.simulate.rendering.mount import Tilt
from tablecam.vision.registration.registration import register
from tests.vision.table_tags import UP, Table, places_mm, sightings

ROSTER = demo_roster()
CAMERA = demo_camera()
ALL = (0, 1, 2, 3)
BEFORE_PX = 0.03
"""Error of a pose from four tags with 20 micrometres of noise: 0.02 px, and by chance 0.03."""


def _laid_by_hand(seed):
    """Offsets of hand-laid tags from their listed places."""
    rng = np.random.default_rng(seed)
    return {tag: (*rng.normal(0, 0.3, 2), rng.normal(0, 0.004)) for tag in ALL}


def _calibrated_to(off):
    """The camera that a calibration finds from tags with these offsets."""
    listed = np.array([(tag.x_mm, tag.y_mm, UP) for tag in ROSTER.table_tags])
    seen = SeenTags.at(CAMERA, listed + np.array([off[tag] for tag in ALL]))
    by_hand = np.diag(np.square(np.tile([0.3, 0.3, 0.005], len(ALL))))
    return fit_pose(CAMERA, seen, listed, by_hand).camera


def test_noise_alone_never_registers_again_or_names_a_tag():
    table = Table(ROSTER, CAMERA)
    for _ in range(300):
        said = table.look()
        assert (said.state, said.camera, said.news) == ("holds", None, "")
        assert not said.displaced_mm
        assert said.is_trusted
        assert said.problem == ""
    assert table.believed is CAMERA


@settings(max_examples=25, deadline=None)
@given(
    toward_deg=st.floats(0, 360),
    bump_px=st.floats(3, 100),
    roll_deg=st.floats(-1.5, 1.5),
    seed=st.integers(0, 1000),
)
def test_a_bump_is_registered_at_the_second_look_after_it(toward_deg, bump_px, roll_deg, seed):
    table = Table(ROSTER, CAMERA, seed=seed)
    table.look(5)
    angle = np.radians(toward_deg)
    table.bump(bump_px * np.cos(angle), bump_px * np.sin(angle), roll_deg)
    first, second = table.look(), table.look()
    assert (first.state, first.camera, first.is_trusted) == ("moving", None, False)
    assert second.state == "registered"
    assert not second.is_trusted  # its places come from the old camera
    assert "found its place again by 4 tags" in second.news
    assert table.error_px() < 3 * BEFORE_PX
    assert table.look().is_trusted


def test_a_bump_of_fifteen_pixels_is_told_in_words():
    table = Table(ROSTER, CAMERA)
    table.look(3)
    table.bump(9, -12)
    assert table.look().problem == "The camera is moving: positions are frozen until it is still"
    said = table.look()
    by = "10 mm on the table"
    assert said.news == f"The camera was bumped by {by}: found its place again by 4 tags"
    assert said.problem == ""
    assert table.look().news == ""


@pytest.mark.parametrize(("k1_off", "fits"), [(0.0, True), (0.05, False)])
def test_a_lens_that_was_changed_no_longer_fits_once_the_camera_is_still(k1_off, fits):
    table = Table(ROSTER, replace(CAMERA, fits_within_mm=1.0))
    table.look(3)
    table.true = replace(CAMERA, lens=replace(CAMERA.lens, k1=CAMERA.lens.k1 + k1_off))
    table.bump(12, 0)
    assert table.look().fits(table.believed)  # it is moving
    assert table.look(30).fits(table.believed) is fits
    assert table.believed.fits_within_mm == 1.0


def test_a_camera_that_still_swings_is_waited_for():
    table = Table(ROSTER, CAMERA)
    table.look(3)
    for swing_px in (20, -14, 9, -5):
        table.bump(swing_px, swing_px / 3)
        assert table.look().state == "moving"
    assert table.look().state == "registered"
    assert table.error_px() < 3 * BEFORE_PX


@pytest.mark.parametrize("seed", range(4))
def test_a_bump_leaves_the_calibration_as_good_as_it_was_though_tags_lie_beside_their_places(seed):
    off = _laid_by_hand(seed)
    table = Table(ROSTER, _calibrated_to(off), seed=seed, off=off)
    table.true = CAMERA
    table.look(20)
    before_px = table.error_px()
    table.bump(15, 8, 0.4)
    table.look(2)
    assert table.error_px() == pytest.approx(before_px, abs=2 * BEFORE_PX)


def test_an_arm_over_one_tag_does_not_shift_the_camera():
    off = _laid_by_hand(7)
    table = Table(ROSTER, _calibrated_to(off), off=off)
    table.true = CAMERA
    table.look(10)
    before = table.believed
    table.hidden = {2}
    for _ in range(30):
        assert table.look().state == "holds"
    assert table.believed is before
    table.bump(-20, 5)
    before_px = table.error_px()
    table.look(2)
    assert table.last.news.endswith("found its place again by 3 tags")
    assert table.error_px() < before_px


@pytest.mark.parametrize("pushed_mm", [3.0, 20.0, 150.0])
@pytest.mark.parametrize("tag", ALL)
def test_a_pushed_tag_is_named_and_left_out_and_counts_again_once_put_back(tag, pushed_mm):
    table = Table(ROSTER, CAMERA)
    table.look(5)
    table.off = {tag: (pushed_mm * 0.6, -pushed_mm * 0.8, 0.1)}
    said = table.look(2)
    assert said.displaced_mm == {tag: pytest.approx(pushed_mm, abs=0.1)}
    assert said.is_trusted
    assert said.problem == said.news
    assert f"Table tag {tag} was moved by {pushed_mm:.0f}" in said.problem.replace(".0", "")
    assert table.look(40).displaced_mm.keys() == {tag}
    assert table.believed is CAMERA
    table.off = {tag: (0.4, 0.3, 0.0)}  # a hand is no more accurate
    said = table.look()
    assert not said.displaced_mm
    assert said.news == f"Table tag {tag} is back in place"
    assert table.look(40).state == "holds"
    assert table.error_px() < BEFORE_PX


def test_a_turned_tag_is_named_too():
    table = Table(ROSTER, CAMERA)
    table.look(5)
    table.off = {1: (0.0, 0.0, 0.2)}
    assert table.look(2).problem.startswith("Table tag 1 was turned")


def test_a_nudge_by_half_a_millimetre_harms_nothing_and_is_learnt():
    table = Table(ROSTER, CAMERA)
    table.look(10)
    table.off = {3: (0.5, 0.3, 0.0)}
    for _ in range(60):
        said = table.look()
        assert said.is_trusted
        assert not said.displaced_mm
        assert table.error_px() < 2 * BEFORE_PX
    table.bump(15, 0)
    table.look(2)
    assert table.last.news.endswith("by 4 tags")
    assert table.error_px() < 3 * BEFORE_PX


def test_two_pushed_tags_of_four_leave_too_few():
    table = Table(ROSTER, CAMERA)
    table.look(5)
    table.off = {0: (5.0, 0.0, 0.0), 2: (0.0, 8.0, 0.0)}
    said = table.look(2)
    assert said.displaced_mm.keys() == {0, 2}
    assert (said.state, said.is_trusted, said.camera) == ("too few", False, None)
    assert "tags 0 and 2 are out of place" in said.problem
    table.off = {}
    assert table.look().is_trusted


def test_three_tags_that_contradict_each_other_are_said_to_and_hold_everything():
    table = Table(ROSTER, CAMERA)
    table.look(5)
    table.off = {0: (5.0, 0.0, 0.0), 1: (-7.0, 2.0, 0.1), 2: (0.0, 8.0, -0.1)}
    assert table.look().state == "moving"
    said = table.look(22)  # two seconds are long enough for any bump
    assert (said.state, said.is_trusted, said.camera) == ("unclear", False, None)
    assert said.problem.startswith("The table tags contradict each other")
    table.off = {}
    assert table.look().is_trusted


def test_of_three_tags_the_one_that_moved_alone_is_known_by_the_others_two():
    table = Table(ROSTER, CAMERA)
    table.hidden = {3}
    table.look(15)
    table.off = {1: (4.0, 0.0, 0.0)}
    said = table.look(2)
    assert said.displaced_mm.keys() == {1}
    assert (said.state, said.is_trusted) == ("too few", False)


def test_three_tags_that_moved_together_are_a_bump():
    table = Table(ROSTER, CAMERA)
    table.hidden = {3}
    table.look(15)
    table.bump(12, -9, 0.3)
    assert table.look(2).state == "registered"


def test_a_bump_with_a_tag_pushed_at_the_same_time_is_untangled():
    table = Table(ROSTER, CAMERA)
    table.look(10)
    table.bump(15, 3)
    table.off = {2: (30.0, 0.0, 0.3)}
    said = table.look(2)
    assert said.state == "registered"
    assert said.displaced_mm == {2: pytest.approx(30, abs=0.3)}
    assert table.error_px() < 5 * BEFORE_PX  # three tags determine a pose less well than four


def test_a_bump_while_a_tag_lies_wrong_is_registered_from_the_others():
    table = Table(ROSTER, CAMERA)
    table.look(5)
    table.off = {1: (10.0, 0.0, 0.0)}
    table.look(5)
    table.bump(-15, 10)
    said = table.look(2)
    assert said.news.endswith("found its place again by 3 tags")
    assert said.displaced_mm == {1: pytest.approx(10, abs=0.3)}


def test_two_tags_in_view_hold_positions_and_say_which_are_hidden():
    table = Table(ROSTER, CAMERA)
    table.look(5)
    table.hidden = {1, 3}
    for _ in range(10):
        assert table.look().is_trusted  # arms pass
    said = table.look()
    assert (said.state, said.is_trusted, said.seen) == ("too few", False, (0, 2))
    assert said.problem == (
        "Only tags 0 and 2 are usable (tags 1 and 3 cannot be seen): positions are frozen "
        "until three are"
    )
    table.hidden = {1}
    assert table.look().is_trusted


def test_no_table_tag_in_a_picture_is_never_trusted():
    table = Table(ROSTER, CAMERA)
    table.look(5)
    table.hidden = set(ALL)
    assert not table.look().is_trusted
    assert table.look(15).state == "too few"


def test_a_drift_of_a_fiftieth_of_a_pixel_a_look_is_followed_quietly():
    table = Table(ROSTER, CAMERA)
    table.look(10)
    errors_px, cameras = [], 0
    for _ in range(200):
        table.bump(0.012, 0.016)
        said = table.look()
        assert said.is_trusted
        assert said.state in ("holds", "drifted")
        assert said.problem == ""
        cameras += said.state == "drifted"
        errors_px.append(table.error_px())
    assert 10 < cameras < 100
    assert max(errors_px) < 0.15
    assert np.median(errors_px) < 0.08  # noise alone makes a pose err by 0.02


def test_a_lens_that_warms_is_followed_as_a_camera_that_sinks():
    table = Table(ROSTER, CAMERA)
    table.look(10)
    for _ in range(150):
        lens = table.true.lens
        warmer = replace(lens, fx_px=lens.fx_px * 1.000008, fy_px=lens.fy_px * 1.000008)
        table.true = replace(table.true, lens=warmer)
        table.look()
    cold = replace(table.true, lens=CAMERA.lens, pose=CAMERA.pose)
    points = np.column_stack([places_mm(ROSTER), np.zeros(len(places_mm(ROSTER)))])
    grown_px = np.linalg.norm(cold.to_image(points) - table.true.to_image(points), axis=1).max()
    assert grown_px > 1.0
    assert table.error_px() < 0.1


def test_a_camera_that_sagged_since_it_was_calibrated_is_set_right_by_the_first_look():
    table = Table(ROSTER, CAMERA)
    table.bump(1.0, 0.6)
    said = table.look()
    assert said.camera is not None
    assert table.error_px() < 3 * BEFORE_PX


def test_a_camera_bumped_since_it_was_calibrated_is_registered_by_one_picture():
    off = _laid_by_hand(3)
    bumped = Tilt(25, -10, 0.5).of(CAMERA)
    said = register(sightings(ROSTER, bumped, CAMERA, off=off), CAMERA, ROSTER)
    assert said.state == "registered"
    table = Table(ROSTER, CAMERA, off=off)
    table.true, table.believed = bumped, said.camera
    assert table.error_px() < 1.0  # tags laid to 0.3 mm, at 1.5 px/mm


@pytest.mark.parametrize("tags", [0, 1, 2])
def test_a_table_file_with_too_few_table_tags_is_shown_and_told_what_it_lacks(tags):
    roster = replace(ROSTER, table_tags=ROSTER.table_tags[:tags])
    said = register(sightings(roster, CAMERA, CAMERA), CAMERA, roster)
    assert (said.state, said.seen, said.is_trusted) == ("too few", ALL[:tags], True)
    assert said.problem.startswith(f"The table file lists {tags} table tags: three are needed")


def test_tags_that_look_as_they_did_bear_out_what_they_showed():
    """A watch that reads only changes reads the tags once after a bump."""
    bumped = Tilt(15, 0).of(CAMERA)
    first = register(sightings(ROSTER, CAMERA, CAMERA), CAMERA, ROSTER)
    seen = sightings(ROSTER, bumped, CAMERA)
    moving = register(seen, CAMERA, ROSTER, before=first, taken_at_s=0.1, fresh=ALL)
    still = register(seen, CAMERA, ROSTER, before=moving, taken_at_s=0.2, fresh=())
    assert (moving.state, still.state) == ("moving", "registered")


def test_the_same_picture_is_asked_again_through_the_new_camera_until_both_agree():
    bumped = Tilt(-9, 12, 0.3).of(CAMERA)
    said = register(sightings(ROSTER, CAMERA, CAMERA), CAMERA, ROSTER)
    for _ in range(2):
        seen = sightings(ROSTER, bumped, CAMERA)
        said = register(seen, CAMERA, ROSTER, before=said, taken_at_s=0.1)
    assert said.state == "registered"
    read_better = sightings(ROSTER, bumped, said.camera, off={0: (0.03, 0, 0), 1: (0.02, 0, 0)})
    refined = register(read_better, said.camera, ROSTER, before=said, taken_at_s=0.1)
    assert (refined.state, refined.news, refined.is_trusted) == ("drifted", "", True)
    again = register(read_better, refined.camera, ROSTER, before=refined, taken_at_s=0.1)
    assert (again.state, again.camera) == ("holds", None)


def test_a_camera_that_was_offered_but_not_taken_is_offered_again():
    table = Table(ROSTER, CAMERA, seed=None)
    table.look(5)
    table.bump(0.12, 0.08)
    assert table.look().state == "drifted"
    table.believed = CAMERA
    assert table.look().state == "drifted"
    assert table.error_px() < 0.05


def test_a_camera_found_roughly_is_registered_exactly():
    table = Table(ROSTER, CAMERA)
    table.look(5)
    table.bump(300, -150, 4)
    table.believed = moved_by(table.true, [0.004, -0.003, 0.002, 3, -2, 5])
    assert table.look().state == "moving"
    said = table.look()
    assert said.state == "registered"
    assert table.error_px() < 3 * BEFORE_PX


def test_the_registered_camera_knows_how_well_it_is_known():
    """Over many bumps, errors in units of their stated covariance: chi square of two."""
    places = places_mm(ROSTER)[::5]
    deviations = []
    for seed in range(40):
        table = Table(ROSTER, CAMERA, seed=seed)
        table.look(5)
        table.bump(15, -6, 0.2)
        table.look(2)
        seen_px = table.true.to_image(np.column_stack([places, np.zeros(len(places))]))
        off = table.believed.to_table(seen_px) - places
        inverse = np.linalg.inv(table.believed.table_covariance(places))
        deviations.append(np.einsum("ni,nij,nj->n", off, inverse, off).mean() / 2)
    assert 0.7 < np.mean(deviations) < 1.4  # 40 draws of six numbers each: within 0.1 or so


def test_a_bump_carries_the_doubt_of_the_calibration_along():
    covariance = np.diag(
        np.square([*[0.5] * 4, 1e-3, 1e-3, 1e-5, 1e-5, 1e-3, *[1e-4] * 3, *[0.2] * 3])
    )
    doubtful = Camera(CAMERA.lens, CAMERA.pose, "found", covariance)
    table = Table(ROSTER, doubtful)
    table.look(10)
    table.bump(15, 0)
    table.look(2)
    places = places_mm(ROSTER)
    before, after = (
        np.trace(camera.table_covariance(places), axis1=1, axis2=2)
        for camera in (doubtful, table.believed)
    )
    assert after == pytest.approx(before, rel=0.2, abs=0.005)
