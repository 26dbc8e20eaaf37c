import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.vision.local_map import picture_to_table, table_to_picture
from tests.vision.pictures import CAMERA

places = st.tuples(st.floats(20, 400), st.floats(20, 280))
heights = st.floats(0, 30)
OFFSETS = np.stack(np.meshgrid(*[np.linspace(-14, 14, 6)] * 2), axis=-1).reshape(-1, 2)


@settings(max_examples=50, deadline=None)
@given(place=places, height_mm=heights)
def test_patches_of_the_picture_lie_on_the_table_where_the_camera_says(place, height_mm):
    centres = CAMERA.to_image(np.array([[*place, height_mm]])).round()
    local = picture_to_table(CAMERA, centres, np.array([height_mm]), 20.0)
    exact = CAMERA.to_table(centres + OFFSETS, height_mm)
    # A hundredth of a pixel, on a lens as bent as a webcam's.
    assert np.abs(local(OFFSETS)[0] - exact).max() < 0.01


@settings(max_examples=50, deadline=None)
@given(place=places, height_mm=heights)
def test_patches_of_the_table_are_seen_where_the_camera_says(place, height_mm):
    local = table_to_picture(CAMERA, np.array([place]), np.array([height_mm]), 20.0)
    points = np.column_stack([np.array(place) + OFFSETS, np.full(len(OFFSETS), height_mm)])
    assert np.abs(local(OFFSETS)[0] - CAMERA.to_image(points)).max() < 0.03
