"""Lens and camera are consistent: inverses, derivatives and covariances agree."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.camera import CAMERA_PARAMETERS, Camera, Pose
from calibration.lens import Lens

SMALLER_THAN_EVER_SEEN_PX = 1e-6


@st.composite
def lenses(draw):
    """Lenses of webcams and phones, from pincushion to barrel; all reach their whole picture."""
    width = draw(st.sampled_from([640, 1280, 1920, 3840]))
    height = width * 9 // 16
    focal = draw(st.floats(0.85, 1.4)) * width
    return Lens(
        width,
        height,
        focal,
        focal * draw(st.floats(0.99, 1.01)),
        width / 2 + draw(st.floats(-0.03, 0.03)) * width,
        height / 2 + draw(st.floats(-0.03, 0.03)) * width,
        draw(st.floats(-0.25, 0.15)),
        draw(st.floats(0.0, 0.06)),
        draw(st.floats(-0.002, 0.002)),
        draw(st.floats(-0.002, 0.002)),
        draw(st.floats(0.0, 0.01)),
    )


@st.composite
def poses(draw):
    """Cameras that hang over the table and look down, a little askew."""
    turned, _ = cv2.Rodrigues(np.array([np.pi, 0.0, 0.0]))
    lean = [draw(st.floats(-0.3, 0.3)), draw(st.floats(-0.3, 0.3)), draw(st.floats(-1.5, 1.5))]
    askew, _ = cv2.Rodrigues(np.array(lean))
    rotation = askew @ turned
    centre = np.array(
        [draw(st.floats(700, 1100)), draw(st.floats(400, 800)), draw(st.floats(1400, 2200))]
    )
    vector, _ = cv2.Rodrigues(rotation)
    return Pose(tuple(vector.ravel().tolist()), tuple((-rotation @ centre).tolist()))


def _all_over(lens):
    x, y = np.meshgrid(np.linspace(0, lens.width_px - 1, 15), np.linspace(0, lens.height_px - 1, 9))
    return np.stack([x.ravel(), y.ravel()], axis=1)


TABLE_MM = np.array(
    [[x, y, z] for x in (300.0, 900.0, 1500.0) for y in (200.0, 900.0) for z in (0.0, 3.0)]
)


@given(lenses())
def test_inverting_the_distortion_is_exact_all_over_the_picture(lens):
    pixels = _all_over(lens)
    there_and_back = lens.to_pixels(lens.to_directions(pixels))
    assert np.abs(there_and_back - pixels).max() < SMALLER_THAN_EVER_SEEN_PX


@given(lenses())
def test_a_lens_sends_directions_where_opencv_sends_them(lens):
    directions = lens.to_directions(_all_over(lens))
    points = np.column_stack([directions, np.ones(len(directions))])
    theirs, _ = cv2.projectPoints(points, np.zeros(3), np.zeros(3), lens.matrix, lens.distortion)
    assert np.allclose(lens.to_pixels(directions), theirs[:, 0], rtol=0, atol=1e-8)


@given(lenses())
def test_a_lens_knows_its_derivative(lens):
    directions = lens.to_directions(_all_over(lens))
    _, by_direction = lens.to_pixels_with_jacobian(directions)
    step = 1e-6
    for axis in range(2):
        moved = np.eye(2)[axis] * step
        slope = (lens.to_pixels(directions + moved) - lens.to_pixels(directions - moved)) / (
            2 * step
        )
        assert np.allclose(by_direction[:, :, axis], slope, rtol=1e-6, atol=1e-3)


def test_a_pixel_that_no_direction_reaches_is_nan():
    folding = Lens(1920, 1080, 900.0, 900.0, 960.0, 540.0, k1=-0.5)
    directions = folding.to_directions([[960.0, 540.0], [0.0, 0.0]])
    assert np.allclose(directions[0], 0)
    assert np.isnan(directions[1]).all()


@given(lenses(), poses())
def test_the_table_comes_back_from_the_picture(lens, pose):
    camera = Camera(lens, pose)
    seen = camera.to_image(TABLE_MM)
    inside = ((seen > 0) & (seen < [lens.width_px, lens.height_px])).all(axis=1)
    back = camera.to_table(seen[inside], TABLE_MM[inside, 2])
    assert np.allclose(back, TABLE_MM[inside, :2], rtol=0, atol=1e-6)


@given(lenses(), poses())
def test_a_camera_sees_what_opencv_sees(lens, pose):
    theirs, _ = cv2.projectPoints(
        TABLE_MM,
        np.array(pose.rotation_vector_rad),
        pose.translation,
        lens.matrix,
        lens.distortion,
    )
    ours = Camera(lens, pose).to_image(TABLE_MM)
    assert np.allclose(ours, theirs[:, 0], rtol=1e-9, atol=1e-6)


@given(lenses(), poses())
def test_a_camera_knows_its_derivatives_by_place_and_by_pixel(lens, pose):
    camera, step_mm = Camera(lens, pose), 1e-3
    seen, by_point = camera.to_image_with_jacobian(TABLE_MM)
    for axis in range(3):
        moved = np.eye(3)[axis] * step_mm
        slope = (camera.to_image(TABLE_MM + moved) - camera.to_image(TABLE_MM - moved)) / (
            2 * step_mm
        )
        assert np.allclose(by_point[:, :, axis], slope, rtol=1e-5, atol=1e-5)
    inside = ((seen > 0) & (seen < [lens.width_px, lens.height_px])).all(axis=1)
    _, by_pixel = camera.to_table_with_jacobian(seen[inside], TABLE_MM[inside, 2])
    assert np.allclose(by_pixel @ by_point[inside, :, :2], np.eye(2), atol=1e-9)


def _with_parameters(camera, parameters):
    lens = camera.lens.with_parameters(parameters[:9])
    return Camera(lens, Pose(tuple(parameters[9:12]), tuple(parameters[12:])))


def _parameters(camera):
    pose = camera.pose
    return np.array([*camera.lens.parameters, *pose.rotation_vector_rad, *pose.translation_mm])


@given(lenses(), poses())
def test_a_camera_knows_its_derivatives_by_its_parameters(lens, pose):
    camera = Camera(lens, pose)
    jacobian, start = camera.parameter_jacobian(TABLE_MM), _parameters(camera)
    for number in range(len(CAMERA_PARAMETERS)):
        step = 1e-6 * max(1.0, abs(start[number]))
        moved = np.eye(len(start))[number] * step
        ahead, behind = (
            _with_parameters(camera, start + sign * moved).to_image(TABLE_MM) for sign in (1, -1)
        )
        assert np.allclose(
            jacobian[:, :, number], (ahead - behind) / (2 * step), rtol=1e-4, atol=0.02
        )


def test_a_covariance_passes_through_the_camera_as_many_draws_of_it_do():
    lens = Lens(1920, 1080, 1647.0, 1648.0, 966.0, 531.0, -0.22, 0.05, 0.0008, -0.0006)
    pose = Pose((3.0775, 0.0621, -0.0775), (-814.9, 555.7, 1870.7))
    rng = np.random.default_rng(7)
    sigmas = [0.5, 0.5, 0.4, 0.4, 3e-4, 1e-3, 1e-5, 1e-5, 1e-3, *[2e-4] * 3, *[0.3] * 3]
    mixed = np.eye(15) + 0.3 * rng.normal(size=(15, 15))
    root = np.diag(sigmas) @ mixed
    camera = Camera(lens, pose, covariance=root @ root.T)
    places = np.array([[300.0, 200.0], [900.0, 600.0], [1600.0, 1000.0]])
    stated = camera.table_covariance(places, 3.0)

    seen = camera.to_image(np.column_stack([places, np.full(3, 3.0)]))
    draws = _parameters(camera) + rng.normal(size=(4000, 15)) @ root.T
    places_mm = np.array([_with_parameters(camera, draw).to_table(seen, 3.0) for draw in draws])
    for place in range(len(places)):
        drawn = np.cov(places_mm[:, place].T)
        # 4000 draws give a variance to 2.2 %; four times that leaves no room for luck.
        assert np.allclose(drawn, stated[place], atol=0.09 * np.trace(stated[place]) / 2)


def test_an_exact_camera_leaves_nothing_uncertain():
    camera = Camera(
        Lens(1920, 1080, 1600.0, 1600.0, 960.0, 540.0), Pose((np.pi, 0, 0), (0, 0, 1e3))
    )
    assert not camera.table_covariance([[10.0, 20.0]]).any()


@pytest.mark.parametrize("values", [(0, 1080, 1e3, 1e3), (1920, 1080, -1e3, 1e3)])
def test_an_impossible_lens_cannot_exist(values):
    with pytest.raises(ValueError, match="expected"):
        Lens(*values, 960.0, 540.0)
