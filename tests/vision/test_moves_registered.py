"""The camera is pushed, sags, or is registered anew: no base is reported as moved."""

from dataclasses import replace

import pytest

from tablecam.vision.tracking.resting import STILL_MM
from tests.vision.films import DOUBT, FRAMES_TO_SETTLE, Film, assert_at, there
from tests.vision.sightings import CAMERA, sighting


def registered_with(film, shift_mm, **sightings):
    """The film after its camera was registered, which shows its base shifted by `shift_mm`."""
    film.tracker.registered(replace(CAMERA, covariance=DOUBT))
    return film.show(sighting(10, 500 + shift_mm, 300), **sightings)[10]


@pytest.fixture
def unsure():
    """Like `film`, through a calibrated instead of an exact camera."""
    film = Film(replace(CAMERA, covariance=DOUBT))
    film.show(sighting(10, 500, 300), frames=20)
    return film


def test_no_base_moves_by_a_registration(unsure):
    before = unsure.bases[0]
    shift_mm = 2 * before.pose.sigma_mm
    assert shift_mm > 3 * STILL_MM  # without registration it would be a move
    base = registered_with(unsure, shift_mm)
    assert base.is_settled
    assert base.rest is before.rest
    # The average starts anew with the new camera's sightings.
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
    # Table tags and bases alike have shifted by 12 mm.
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


def test_a_camera_without_doubt_of_its_own_can_be_registered_with_some(film):
    film.tracker.registered(replace(CAMERA, covariance=DOUBT))
    base = film.show(sighting(10, 500, 300))[10]
    assert base.pose.sigma_mm > 0.4
    assert film.moves == []
