import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.simulate.demo import demo_camera
from tablecam.simulate.rendering.rays import (
    PIXEL_CENTRE,
    PIXEL_SAMPLES,
    Box,
    pixel_means,
    plane_map,
)

CAMERA = demo_camera()


@settings(max_examples=12, deadline=None)
@given(
    left=st.integers(0, 2400),
    top=st.integers(0, 1300),
    width=st.integers(2, 330),
    height=st.integers(2, 200),
    height_mm=st.floats(0, 60),
)
def test_a_plane_map_is_where_the_camera_looks(left, top, width, height, height_mm):
    box = Box(left, top, left + width, top + height)
    x_mm, y_mm = plane_map(CAMERA, box, height_mm, PIXEL_CENTRE)
    points = np.column_stack([x_mm.ravel(), y_mm.ravel(), np.full(x_mm.size, height_mm)])
    columns, rows = np.meshgrid(np.arange(left, box.right), np.arange(top, box.bottom))
    expected = np.column_stack([columns.ravel(), rows.ravel()])
    assert CAMERA.to_image(points) == pytest.approx(expected, abs=1e-5)


def test_the_samples_of_a_pixel_lie_about_its_centre():
    box = Box(700, 500, 705, 503)
    samples = plane_map(CAMERA, box, 0.0, PIXEL_SAMPLES)
    centres = plane_map(CAMERA, box, 0.0, PIXEL_CENTRE)
    for fine, centre in zip(samples, centres, strict=True):
        assert pixel_means(fine, 2) == pytest.approx(centre, abs=1e-4)


def test_boxes_share_join_and_clip():
    one, other = Box(0, 0, 10, 10), Box(5, 8, 20, 12)
    assert one.clipped(other) == Box(5, 8, 10, 10)
    assert one.joined(other) == Box(0, 0, 20, 12)
    assert one.clipped(Box(10, 0, 20, 10)).is_empty
    assert other.within(Box(5, 0, 30, 30)) == (slice(8, 12), slice(0, 15))


def test_the_tiles_of_a_box_cover_each_pixel_once():
    box = Box(3, 5, 400, 333)
    count = np.zeros((400, 500), dtype=int)
    for tile in box.tiles(160):
        count[tile.slices] += 1
    assert (count[box.slices] == 1).all()
    assert count.sum() == box.width * box.height
