"""The table's pose from its tags under a known lens, and its uncertainty."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.camera import Camera, Pose
from calibration.extrinsics.table_tags import FoundTag
from calibration.extrinsics.tag_pose import (
    SeenTags,
    fit_pose,
    moved_by,
    offsets_from,
    place_jacobian,
    propagated_covariance,
    rough_pose,
)
from tests.calibration.board_views import LENS

POSE = Pose((3.0775, 0.0621, -0.0775), (-814.9, 555.7, 1870.7))
CAMERA = Camera(LENS, POSE)
UP = np.pi / 2
LISTED = np.array([(50, 50, UP), (1750, 50, UP), (1750, 1150, UP), (50, 1150, UP)], dtype=float)
SIGMAS = np.tile([0.03, 0.03, 1e-3], 4)
READ = np.diag(SIGMAS**2)
DOUBT = np.zeros((15, 15))
DOUBT[:9, :9] = np.diag(np.square([0.8, 0.8, 0.5, 0.5, 5e-4, 2e-3, 3e-5, 3e-5, 2e-3]))
_X, _Y = np.meshgrid(np.linspace(60, 1740, 8), np.linspace(60, 1140, 6))
PLACES = np.column_stack([_X.ravel(), _Y.ravel()])

small_rad = st.floats(-0.06, 0.06)
small_mm = st.floats(-60, 60)


def _px(camera):
    return camera.to_image(np.column_stack([PLACES, np.zeros(len(PLACES))]))


def _off_mm(camera, true):
    """The camera's errors of places on the table, (48, 2)."""
    return camera.to_table(_px(true)) - PLACES


@settings(max_examples=40, deadline=None)
@given(st.tuples(*[small_rad] * 3, *[small_mm] * 3))
def test_exact_tags_give_the_exact_pose_wherever_the_camera_went(step):
    true = moved_by(CAMERA, step)
    fit = fit_pose(CAMERA, SeenTags.at(true, LISTED), LISTED, READ)
    assert np.abs(_off_mm(fit.camera, true)).max() < 1e-3
    assert fit.chi2 < 1e-3
    assert fit.freedom == 6
    assert fit.camera.lens is CAMERA.lens


@given(st.floats(-10, 10))
def test_tags_are_seen_where_they_lie_whichever_way_they_are_turned(heading_rad):
    places = LISTED + np.array([0, 0, heading_rad])
    fitted = SeenTags.at(CAMERA, places).places(CAMERA)
    assert offsets_from(fitted, places) == pytest.approx(np.zeros((4, 3)), abs=1e-7)


def _flat(places_mm):
    return np.column_stack([places_mm, np.zeros(len(places_mm))])


def test_corners_pulled_inward_tell_centre_and_heading_nearly():
    """Gamma and blur pull corners inward, along the diagonals; a lens bends these by 0.1 mm."""
    half = 28.0
    square = np.array([[-half, half], [half, half], [half, -half], [-half, -half]])
    tags = [
        FoundTag.of_sides(
            tag, CAMERA.to_image(np.column_stack([square + place[:2], np.zeros(4)])), 0.1
        )
        for tag, place in enumerate(LISTED)
    ]
    assert offsets_from(SeenTags.found(tags).places(CAMERA), LISTED) == pytest.approx(
        np.zeros((4, 3)), abs=0.2
    )


def test_the_jacobian_says_how_places_shift_with_each_parameter():
    seen = SeenTags.at(CAMERA, LISTED)
    jacobian = place_jacobian(CAMERA, LISTED)
    for number in range(6):
        step = np.zeros(6)
        step[number] = 1e-6 if number < 3 else 1e-3
        more, less = (seen.places(moved_by(CAMERA, sign * step)) for sign in (1, -1))
        slope = offsets_from(more, less) / (2 * step[number])
        assert jacobian[..., 9 + number] == pytest.approx(slope, rel=1e-4, abs=1e-4)


def test_a_pose_is_as_uncertain_as_the_tags_make_it():
    """Tags read with noise, forty times: place errors agree with the covariance, by chi square."""
    rng = np.random.default_rng(5)
    seen = SeenTags.at(CAMERA, LISTED)
    covariance = propagated_covariance(CAMERA, LISTED, READ, measured_with=None)
    expected = replace(CAMERA, covariance=covariance).table_covariance(PLACES)
    deviations = []
    for _ in range(40):
        noise = (rng.normal(size=12) * SIGMAS).reshape(4, 3)
        off = _off_mm(fit_pose(CAMERA, seen, LISTED + noise, READ).camera, CAMERA)
        deviations.append(np.einsum("ni,nij,nj->n", off, np.linalg.inv(expected), off).mean() / 2)
    assert 0.75 < np.mean(deviations) < 1.3


def test_a_pose_fitted_under_a_wrong_lens_is_wrong_in_a_way_that_the_covariance_knows():
    """The pose compensates for most of a lens's error: alone, the lens would seem worse."""
    rng = np.random.default_rng(6)
    covariance = propagated_covariance(
        replace(CAMERA, covariance=DOUBT), LISTED, READ, measured_with=None
    )
    expected = replace(CAMERA, covariance=covariance).table_covariance(PLACES)
    alone = replace(CAMERA, covariance=DOUBT).table_covariance(PLACES)
    assert np.trace(expected, axis1=1, axis2=2).mean() < np.trace(alone, axis1=1, axis2=2).mean()
    deviations = []
    for _ in range(60):
        believed = LENS.parameters + rng.normal(size=9) * np.sqrt(np.diag(DOUBT)[:9])
        start = Camera(LENS.with_parameters(believed), POSE)
        noise = (rng.normal(size=12) * SIGMAS).reshape(4, 3)
        fit = fit_pose(start, SeenTags.at(CAMERA, LISTED), LISTED + noise, READ)
        off = _off_mm(fit.camera, CAMERA)
        deviations.append(np.einsum("ni,nij,nj->n", off, np.linalg.inv(expected), off).mean() / 2)
    assert 0.7 < np.mean(deviations) < 1.4  # sixty draws of fifteen numbers


def test_a_camera_back_where_it_was_is_as_uncertain_as_it_was_but_for_the_reading():
    known = np.diag(np.square([*np.sqrt(np.diag(DOUBT)[:9]), 1e-4, 1e-4, 1e-4, 0.1, 0.1, 0.3]))
    camera = replace(CAMERA, covariance=known)
    exactly = READ * 1e-8
    again = propagated_covariance(camera, LISTED, exactly, measured_with=camera)
    assert again == pytest.approx(known, rel=1e-3, abs=1e-9)
    with_noise = propagated_covariance(camera, LISTED, READ, measured_with=camera)
    reading = propagated_covariance(CAMERA, LISTED, READ, measured_with=CAMERA)
    assert with_noise == pytest.approx(known + reading, rel=1e-6, abs=1e-9)


def test_a_rough_pose_is_found_from_afar():
    true = moved_by(CAMERA, [0.15, -0.1, 0.25, 200, -150, 120])
    half = 30.0
    square = np.array([[-half, half], [half, half], [half, -half], [-half, -half]])
    tags = [
        FoundTag.of_sides(
            tag, true.to_image(np.column_stack([square + place[:2], np.zeros(4)])), 0.5
        )
        for tag, place in enumerate(LISTED)
    ]
    rough = rough_pose(CAMERA, tags, LISTED)
    assert np.abs(_px(rough) - _px(true)).max() < 1.0
