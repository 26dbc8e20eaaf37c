import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.vision.fitting.local_map import picture_to_table, table_to_picture
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
    # A hundredth of a pixel, with a lens that distorts like a webcam's.
    assert np.abs(local(OFFSETS)[0] - exact).max() < 0.01


@settings(max_examples=50, deadline=None)
@given(place=places, height_mm=heights)
def test_patches_of_the_table_are_seen_where_the_camera_says(place, height_mm):
    local = table_to_picture(CAMERA, np.array([place]), np.array([height_mm]), 20.0)
    points = np.column_stack([np.array(place) + OFFSETS, np.full(len(OFFSETS), height_mm)])
    assert np.abs(local(OFFSETS)[0] - CAMERA.to_image(points)).max() < 0.03


@settings(max_examples=20, deadline=None)
@given(place=places, heading_rad=st.floats(0, 6.3))
def test_turned_maps_are_the_maps_of_turned_offsets(place, heading_rad):
    local = table_to_picture(CAMERA, np.array([place]), np.array([3.0]), 20.0)
    cosine, sine = np.cos(heading_rad), np.sin(heading_rad)
    steps = 2.5 * np.array([[[sine, -cosine], [cosine, sine]]])
    turned = local.turned(steps)
    assert np.allclose(turned(OFFSETS / 3), local(OFFSETS / 3 @ steps), atol=1e-9)
