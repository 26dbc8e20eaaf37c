"""The picture of the area that views covered: corners in place, and a scale that fits."""

import cv2
import numpy as np

from calibration.intrinsics.coverage_picture import coverage_picture, png_bytes
from calibration.intrinsics.lens_from_views import lens_from_views
from calibration.results import Origin
from tests.calibration.board_views import LENS, many_views, projected, view

ORIGIN = Origin("2025-01-01T00:00:00+00:00", ())


def _views_on_the_left():
    middles = [(-260, -60, 700), (-240, 80, 650), (-220, 0, 600), (-260, 20, 620)]
    tilts = [(25, 0, 0), (-25, 10, 0), (0, 28, 5), (0, -28, 90)]
    noise = np.random.default_rng(1)
    return [
        view(str(number), projected(LENS, tilt, middle) + noise.normal(scale=0.02, size=(70, 2)))
        for number, (tilt, middle) in enumerate(zip(tilts, middles, strict=True))
    ]


def test_the_picture_is_a_png_that_opens_again():
    views = many_views(np.random.default_rng(0), count=5)
    picture = coverage_picture(lens_from_views(views, ORIGIN).calibration, views)
    opened = cv2.imdecode(np.frombuffer(png_bytes(picture), np.uint8), cv2.IMREAD_COLOR)
    assert np.array_equal(opened, picture)


def test_where_no_view_was_the_picture_is_yellower():
    views = _views_on_the_left()
    search = lens_from_views(views, ORIGIN)
    bare = coverage_picture(search.calibration, [])
    left, right = bare[90:700, 40:600], bare[90:700, 600:1140]
    blueness = [int(part[..., 0].sum()) - int(part[..., 2].sum()) for part in (left, right)]
    assert blueness[0] > blueness[1]


def test_views_are_drawn_where_they_were():
    views = _views_on_the_left()
    search = lens_from_views(views, ORIGIN)
    drawn = np.any(
        coverage_picture(search.calibration, views) != coverage_picture(search.calibration, []),
        axis=2,
    )
    xs = np.nonzero(drawn)[1]
    seen = np.concatenate([one.corners_px for one in views])
    scale = 1120 / LENS.width_px
    assert abs(xs.min() - 30 - scale * seen[:, 0].min()) < 5
    assert abs(xs.max() - 30 - scale * seen[:, 0].max()) < 5
