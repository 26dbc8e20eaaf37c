"""A corner is found accurately at any angle, blur and gamma."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.intrinsics.corners import fit_corners
from tests.calibration.crossings import crossing

SIZE_PX = 33
_EVEN_ANGLES = st.floats(np.radians(8), np.radians(82))


def _fit(picture, start_px, angles_rad, radius_px=11.0):
    edges = np.array([[[np.cos(a), np.sin(a)] for a in angles_rad]])
    return fit_corners(picture, np.array([start_px]), edges, np.array([radius_px]))


@settings(max_examples=40)
@given(
    st.tuples(st.floats(15.0, 17.0), st.floats(15.0, 17.0)),
    _EVEN_ANGLES,
    st.floats(-0.25, 0.25),
    st.floats(0.3, 1.5),
    st.floats(1.0, 2.4),
)
def test_a_corner_is_found_to_a_fiftieth_of_a_pixel(corner, turned, askew, blur_px, gamma):
    angles = (turned, turned + np.pi / 2 + askew)
    picture = crossing(SIZE_PX, corner, angles, blur_px=blur_px, gamma=gamma)
    fitted = _fit(picture, (16.0, 16.0), (turned + 0.05, angles[1] - 0.05))
    assert np.abs(fitted.corners_px[0] - corner).max() < 0.02


@settings(max_examples=40)
@given(
    st.tuples(st.floats(15.5, 16.5), st.floats(15.5, 16.5)),
    st.sampled_from([0, 1, 2, 3]),
    st.floats(0.3, 1.0),
)
def test_a_corner_whose_edges_run_along_rows_of_pixels_is_found_as_well(corner, quarters, blur_px):
    angles = (quarters * np.pi / 2, (quarters + 1) * np.pi / 2)
    picture = crossing(SIZE_PX, corner, angles, blur_px=blur_px)
    assert np.abs(_fit(picture, (16.0, 16.0), angles).corners_px[0] - corner).max() < 0.02


def test_the_blur_that_was_put_in_is_told():
    picture = crossing(SIZE_PX, (16.2, 15.9), (0.5, 2.0), blur_px=1.3, gamma=1.0)
    assert _fit(picture, (16.0, 16.0), (0.5, 2.0)).blur_px[0] == pytest.approx(1.3, abs=0.05)


def test_polarity_tells_black_from_white():
    picture = crossing(SIZE_PX, (16.0, 16.0), (0.3, 1.9))
    there, back = _fit(picture, (16.0, 16.0), (0.3, 1.9)), _fit(255 - picture, (16, 16), (0.3, 1.9))
    assert there.polarity[0] == -back.polarity[0] != 0


def _noise():
    return np.random.default_rng(5).integers(0, 255, (SIZE_PX, SIZE_PX), dtype=np.uint8)


@pytest.mark.parametrize(
    "picture",
    [
        np.full((SIZE_PX, SIZE_PX), 90, np.uint8),
        _noise(),
        crossing(SIZE_PX, (23.0, 9.0), (0.3, 1.9)),
    ],
    ids=["flat", "noise", "too far away"],
)
def test_where_there_is_no_corner_none_is_found(picture):
    fitted = _fit(picture, (16.0, 16.0), (0.3, 1.9))
    assert not fitted.found.any()
    assert np.isnan(fitted.corners_px).all()


def test_a_corner_beyond_the_picture_is_not_found():
    picture = crossing(SIZE_PX, (16.0, 16.0), (0.3, 1.9))
    for start in [(-4.0, 16.0), (16.0, 40.0), (np.nan, np.nan)]:
        assert not _fit(picture, start, (0.3, 1.9)).found.any()
