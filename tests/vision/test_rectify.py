import math

import numpy as np
import pytest

from calibration.camera import Camera, Pose
from calibration.lens import Lens
from tablecam.table.model import TableSize
from tablecam.vision.detection.rectify import make_rectifier
from tests.vision.pictures import CAMERA, ROSTER

TABLE = ROSTER.table


def ramp(camera):
    """A picture whose grey levels encode the place of each pixel: 20 levels across and down."""
    rows, columns = np.mgrid[: camera.lens.height_px, : camera.lens.width_px]
    return (columns / 8 + rows / 8).clip(1, 255).astype(np.uint8)


@pytest.mark.parametrize("px_per_mm", [2.0, 1.3])
def test_every_pixel_shows_the_place_it_stands_for(px_per_mm):
    plane = make_rectifier(CAMERA, TABLE, px_per_mm=px_per_mm, height_mm=3.0)
    flat = plane.rectify(ramp(CAMERA))
    assert flat.shape == (round(300 * px_per_mm), round(420 * px_per_mm))
    rows, columns = np.mgrid[: flat.shape[0] : 7, : flat.shape[1] : 7]
    places = plane.places_mm(np.stack([columns.ravel(), rows.ravel()], axis=1).astype(float))
    seen = CAMERA.to_image(np.column_stack([places, np.full(len(places), 3.0)]))
    expected = (seen.sum(axis=1) / 8).clip(1, 255)
    assert np.abs(flat[rows.ravel(), columns.ravel()] - expected).max() < 2.0


def test_the_first_row_is_the_far_edge_and_x_runs_to_the_right():
    plane = make_rectifier(CAMERA, TABLE, px_per_mm=1.0)
    corners = plane.places_mm(np.array([[-0.5, -0.5], [419.5, 299.5]]))
    assert corners.tolist() == [[0, 300], [420, 0]]


def test_a_margin_shows_what_lies_around_the_table():
    plane = make_rectifier(CAMERA, TABLE, px_per_mm=0.5, margin_mm=20)
    assert plane.places_mm(np.array([[-0.5, -0.5]])).tolist() == [[-20, 320]]
    assert plane.rectify(ramp(CAMERA)).shape == (170, 230)


def test_colours_stay_colours_and_a_large_picture_is_averaged_not_sampled():
    checks = np.indices((640, 900)).sum(axis=0) % 2 * 255
    colour = np.repeat(checks.astype(np.uint8)[..., None], 3, axis=2)
    flat = make_rectifier(CAMERA, TABLE, px_per_mm=0.4).rectify(colour)
    assert flat.shape[2] == 3
    assert np.abs(flat.astype(float) - 127.5).max() < 40


def test_what_the_camera_does_not_see_is_black_even_where_its_lens_folds_back():
    bent = Lens(400, 300, 300, 300, 200, 150, k1=-0.3)
    camera = Camera(bent, Pose((math.pi, 0, 0), (-1000, 500, 500)))
    flat = make_rectifier(camera, TableSize(2000, 1000, 40), px_per_mm=0.2).rectify(
        np.full((300, 400), 200, np.uint8)
    )
    assert flat[100, 200] == 200
    assert flat[:, :60].max() == 0
    assert flat[:, -60:].max() == 0
