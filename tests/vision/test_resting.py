"""Averages of a base at rest, with honest sigmas."""

import math
from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.camera import Camera, Pose
from tablecam.simulate.demo import demo_camera, demo_roster, demo_script
from tablecam.simulate.rendering.places import Place
from tablecam.simulate.rendering.render import Renderer, RenderStyle
from tablecam.simulate.rendering.scene import Scene
from tablecam.simulate.table import SimulatedTable
from tablecam.table.headings import difference_deg
from tablecam.table.roster import BaseType, UnitEntry
from tablecam.vision.search.tag_finder import TagFinder
from tablecam.vision.tracking.bases import BaseSighting, base_sightings
from tablecam.vision.tracking.resting import USUAL_RANDOM_SHARE, Resting, Scatter, share_of
from tablecam.vision.tracking.tracking import BaseTracker
from tests.vision.sightings import CAMERA, ROSTER, SIGMA_DEG, SIGMA_MM, sighting

MIDDLE = BaseType("middle", 40, 40, 14, tag_height_mm=3)
TAGS = range(10, 90)
CROWD = replace(
    ROSTER,
    base_types=(MIDDLE,),
    units=tuple(
        UnitEntry(f"U{first}", "french", "infantry", MIDDLE, tuple(range(first, first + 4)))
        for first in TAGS[::4]
    ),
    commanders=(),
)
FRAMES = (1, 5, 30)


def seen(x_mm=500.0, **changes):
    return replace(BaseSighting(10, MIDDLE, x_mm, 300.0, 90.0, 0.05, 0.2, 0.12, 0.1), **changes)


def averaged(*sightings):
    resting = Resting.begun(sightings[0], 0.0)
    for each in sightings[1:]:
        resting = resting.with_one_more(each, beside_mm=0.0)
    return resting


def test_what_the_calibration_leaves_does_not_average_away():
    pose = averaged(*[seen()] * 100).averaged(random_share=0.9).pose()
    assert pose.sigma_mm > 0.12
    assert pose.sigma_deg > 0.1


def test_only_what_is_new_in_each_picture_averages_away():
    one, many = averaged(seen()), averaged(*[seen()] * 4)
    assert one.averaged(0.5).pose().sigma_mm == pytest.approx(math.hypot(0.05, 0.12))
    # Four pictures reduce the random half to a quarter.
    assert many.averaged(0.5).pose().sigma_mm == pytest.approx(
        math.hypot(0.05 * math.sqrt(0.625), 0.12)
    )
    assert many.averaged(0.0).pose().sigma_mm == pytest.approx(math.hypot(0.05, 0.12))


def test_headings_are_averaged_across_north():
    pose = averaged(seen(heading_deg=359.8), seen(heading_deg=0.4)).averaged(0.1).pose()
    assert pose.heading_deg == pytest.approx(0.1)


def test_a_poor_look_counts_by_its_variance():
    pose = averaged(seen(500.0), seen(500.4, fit_mm=0.1)).averaged(0.1)
    assert pose.x_mm == pytest.approx(500.0 + 0.4 / 5)


def test_fit_and_calibration_are_told_apart_and_make_up_the_whole():
    doubt = np.diag([4.0, 4.0, 4, 4, *[1e-4] * 2, *[1e-8] * 2, 1e-4, *[1e-6] * 3, *[0.04] * 3])
    unsure = replace(CAMERA, covariance=doubt)
    (exact,) = base_sightings([sighting(10, 200, 700)], [MIDDLE], CAMERA)
    (base,) = base_sightings([sighting(10, 200, 700)], [MIDDLE], unsure)
    assert (base.fit_mm, base.fit_deg) == (exact.fit_mm, exact.fit_deg)
    place = unsure.table_covariance(np.array([[200.0, 700.0]]), 3.0)[0]
    # The mean of two points 5 mm to either side is the middle, except for lens distortion.
    assert base.calibration_mm == pytest.approx(math.sqrt(np.trace(place) / 2), rel=1e-3)
    assert base.pose().sigma_mm == pytest.approx(math.hypot(base.fit_mm, base.calibration_mm))
    assert exact.calibration_mm == exact.calibration_deg == 0.0


def test_the_tables_own_scatter_is_learnt_from_most_of_its_bases_and_not_from_shaded_ones():
    generator = np.random.default_rng(3)
    scatter = Scatter()
    for _ in range(60):
        squares = 0.4 * generator.chisquare(2, 40)
        squares[:12] *= 50  # a hand's shadow passes
        scatter = scatter.updated(squares)
    # A median over 40 varies by 0.2 (rms); 30 pictures are remembered; a third are shaded.
    assert scatter.random_share == pytest.approx(0.4, abs=0.3)
    assert Scatter().updated([50.0] * 4).random_share == USUAL_RANDOM_SHARE


def test_how_far_a_sighting_strays_is_in_units_of_what_both_may_be_wrong():
    assert share_of(averaged(seen(500.0)), seen(500.1)) == pytest.approx(0.1**2 / (2 * 0.05**2))


@pytest.mark.parametrize("random_share", [0.01, 0.1, 0.3, 0.6])
def test_an_average_over_n_pictures_is_as_sure_as_it_says(random_share):
    """Errors with a known share new in each picture and a constant rest."""
    within = {number: [] for number in FRAMES}
    for seed in range(6):
        for number, errors in averages_of_made_up_errors(random_share, seed).items():
            within[number].append(np.abs(errors) < 1)
    for number in FRAMES:
        places, headings = np.array(within[number])[..., :2], np.array(within[number])[..., 2]
        # 960 places and 480 headings: chance alone changes a share by 1.5 and 2.1 points (sigma).
        assert abs(places.mean() - 0.683) <= 0.08
        assert abs(headings.mean() - 0.683) <= 0.08


def averages_of_made_up_errors(random_share, seed):
    """After 1, 5 and 30 pictures, errors (bases, 3) of x, y and heading in their stated sigmas."""
    generator = np.random.default_rng(seed)
    sigmas = np.array([SIGMA_MM, SIGMA_MM, SIGMA_DEG])
    # 5 mm between bases, so that no row informs their headings.
    true = np.array([[100 + 45 * (i % 20), 100 + 60 * (i // 20), 90] for i in range(len(TAGS))])
    common = generator.normal(0, sigmas * math.sqrt(1 - random_share), true.shape)
    tracker = BaseTracker(CROWD, CAMERA)
    by_frame = {}
    for number in range(1, FRAMES[-1] + 1):
        new = generator.normal(0, sigmas * math.sqrt(random_share), true.shape)
        shown = true + common + new
        bases = tracker.update(
            [sighting(tag, *place) for tag, place in zip(TAGS, shown, strict=True)], number / 15
        )
        if number in FRAMES:
            by_frame[number] = in_sigmas(bases, dict(zip(TAGS, true.tolist(), strict=True)))
    return by_frame


def in_sigmas(bases, true):
    """Errors (n, 3) of bases, in their stated sigmas; `true` places (x, y, heading) by tag."""
    return np.array(
        [
            (
                (base.pose.x_mm - true[base.tag][0]) / base.pose.sigma_mm,
                (base.pose.y_mm - true[base.tag][1]) / base.pose.sigma_mm,
                difference_deg(base.pose.heading_deg, true[base.tag][2]) / base.pose.sigma_deg,
            )
            for base in bases
        ]
    )


# On a simulated table, with new noise and JPEG in each frame, through a camera that is not quite
# where it is assumed to be.

CALIBRATION = np.diag(
    np.square([0.03] * 4 + [1e-5] * 2 + [1e-6] * 3 + [2e-6] * 2 + [1e-6, 3e-3, 3e-3, 1e-2])
)
"""Makes a place about as uncertain as the fit does, 0.03 mm."""
CAMERAS = 8


@pytest.fixture(scope="module")
def still_film():
    """The camera, the true places, and the sightings in each of 30 frames of a still table."""
    roster, camera = demo_roster(), demo_camera(1280, 720)
    generator = np.random.default_rng(7)
    places = {
        tag: Place(*(np.array([place.x_mm, place.y_mm, 0.0]) + generator.uniform(-1, 1, 3)))
        for tag, place in SimulatedTable(roster, demo_script()).places().items()
    }
    renderer = Renderer(roster, camera, RenderStyle(noise=4.0, seed=7))
    finder, search, frames = TagFinder(camera, roster), None, []
    for number in range(FRAMES[-1]):
        _, jpeg = cv2.imencode(".jpg", renderer.picture(Scene(places), number))
        search = finder.search(cv2.imdecode(jpeg, cv2.IMREAD_GRAYSCALE), before=search)
        frames.append(search.sightings)
    return roster, camera, places, frames


def test_thirty_pictures_are_believed_as_truly_as_one(still_film):
    roster, camera, places, frames = still_film
    true = {tag: (each.x_mm, each.y_mm, each.heading_deg) for tag, each in places.items()}
    generator = np.random.default_rng(11)
    errors = {number: [] for number in FRAMES}
    for _ in range(CAMERAS):
        believed = strayed(camera, generator)
        tracker = BaseTracker(roster, believed)
        for number, sightings in enumerate(frames, start=1):
            bases = tracker.update(through(sightings, camera, believed), number / 15)
            if number in FRAMES:
                errors[number].append(in_sigmas(bases, true))
    within = {number: shares_within(errors[number]) for number in FRAMES}
    for number in FRAMES:
        assert within[number][0] >= 0.60
        # Averaging makes no sigma less honest than the fit's own.
        assert abs(within[number][0] - within[1][0]) <= 0.05
        assert within[number][1] >= 0.91


def strayed(camera, generator):
    """The camera as a calibration with `CALIBRATION`'s covariance may have found it."""
    error = generator.multivariate_normal(np.zeros(15), CALIBRATION)
    pose = Pose(
        tuple(camera.pose.rotation_vector_rad + error[9:12]),
        tuple(camera.pose.translation_mm + error[12:]),
    )
    lens = camera.lens.with_parameters(camera.lens.parameters + error[:9])
    return Camera(lens, pose, "strayed", CALIBRATION)


def through(sightings, true, believed):
    """The same pixels through another camera: both ends of each tag, placed anew."""
    heights = np.array([each.height_mm for each in sightings])
    middles = np.array([[each.x_mm, each.y_mm, each.height_mm] for each in sightings])
    headings = np.radians([each.heading_deg for each in sightings])
    arms = 5 * np.column_stack([np.cos(headings), np.sin(headings), np.zeros(len(headings))])
    front = believed.to_table(true.to_image(middles + arms), heights)
    back = believed.to_table(true.to_image(middles - arms), heights)
    turned = np.degrees(np.arctan2(*(front - back).T[::-1])) % 360
    return [
        replace(each, x_mm=x_mm, y_mm=y_mm, heading_deg=heading_deg)
        for each, (x_mm, y_mm), heading_deg in zip(
            sightings, ((front + back) / 2).tolist(), turned.tolist(), strict=True
        )
    ]


def shares_within(errors):
    """The shares of places within one sigma and within two."""
    places = np.abs(np.concatenate(errors)[:, :2])
    return (places < 1).mean(), (places < 2).mean()
