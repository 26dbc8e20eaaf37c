"""The lens found is the true one, within its stated uncertainty."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.errors import CalibrationError
from calibration.intrinsics.lens_from_views import choose_views, lens_from_views, objection_to
from calibration.results import Origin
from tests.calibration.board_views import LENS, many_views, projected, view

ORIGIN = Origin("2025-01-01T00:00:00+00:00", ("a.jpg",))


def _directions_apart_px(lens, true):
    """The difference of two lenses' directions, in pixels over the middle nine tenths.

    They are aligned first: turning a lens as a whole is the same as tilting the camera.
    """
    x, y = np.meshgrid(
        np.linspace(0.05, 0.95, 25) * true.width_px, np.linspace(0.05, 0.95, 15) * true.height_px
    )
    pixels = np.stack([x.ravel(), y.ravel()], axis=1)
    rays, true_rays = (
        np.column_stack([one.to_directions(pixels), np.ones(len(pixels))]) for one in (lens, true)
    )
    rays, true_rays = (
        each / np.linalg.norm(each, axis=1, keepdims=True) for each in (rays, true_rays)
    )
    left, _, right = np.linalg.svd(rays.T @ true_rays)
    turned = rays @ left @ right
    return np.linalg.norm(true.to_pixels(turned[:, :2] / turned[:, 2:]) - pixels, axis=1)


def test_the_footages_lens_is_found(rig, lens_search):
    apart_px = _directions_apart_px(lens_search.calibration.lens, rig.camera.lens)
    assert apart_px.mean() < 0.06
    assert apart_px.max() < 0.15


def test_the_footages_lens_is_as_uncertain_as_is_said(rig, lens_search):
    calibration = lens_search.calibration
    off = calibration.lens.parameters - rig.camera.lens.parameters
    assert np.abs(off / calibration.sigmas).max() < 3.5
    # Nine squared normal deviates: 27.9 is exceeded once in a thousand.
    assert 0.5 < off @ np.linalg.solve(calibration.covariance, off) < 27.9
    assert not lens_search.rejected


def test_the_stated_covariance_is_honest():
    rng, squares = np.random.default_rng(11), []
    for _ in range(20):
        calibration = lens_from_views(many_views(rng, count=8), ORIGIN).calibration
        off = calibration.lens.parameters - LENS.parameters
        squares.append(off @ np.linalg.solve(calibration.covariance, off))
    # The mean of 20 chi squares with 9 degrees of freedom is 9 to 0.95; slightly more, as each is
    # known only to some per cent.
    assert 6.5 < np.mean(squares) < 13.0


def test_real_chessboard_views_reach_a_quarter_of_a_pixel(chessboard_views):
    chosen, rejected = choose_views(chessboard_views)
    search = lens_from_views(chosen, ORIGIN)
    assert not rejected
    assert not search.rejected
    assert len(search.used) == 13
    assert search.calibration.rms_px < 0.25


def test_the_size_of_the_boards_squares_changes_nothing_about_the_lens():
    views = many_views(np.random.default_rng(2))
    smaller = [replace(one, board_mm=0.7 * one.board_mm) for one in views]
    one, other = (lens_from_views(some, ORIGIN).calibration for some in (views, smaller))
    assert np.allclose(one.lens.parameters, other.lens.parameters, rtol=1e-5, atol=1e-6)
    assert np.allclose(one.sigmas, other.sigmas, rtol=1e-3)


def test_views_of_parts_of_the_board_do_as_well():
    rng = np.random.default_rng(4)
    parts = [
        view(one.name, one.corners_px, seen=slice(*rng.integers([0, 50], [20, 70])))
        for one in many_views(rng, count=14)
    ]
    calibration = lens_from_views(parts, ORIGIN).calibration
    assert np.abs((calibration.lens.parameters - LENS.parameters) / calibration.sigmas).max() < 4


def test_wrong_corners_are_left_out():
    views = many_views(np.random.default_rng(5))
    corners = views[3].corners_px.copy()
    corners[[7, 30]] += [[3.0, -2.0], [0.0, 5.0]]
    views[3] = view(views[3].name, corners)
    calibration = lens_from_views(views, ORIGIN).calibration
    assert [error.corners_left_out for error in calibration.views] == [0, 0, 0, 2] + [0] * 8
    assert np.abs((calibration.lens.parameters - LENS.parameters) / calibration.sigmas).max() < 4


def test_a_view_that_does_not_fit_at_all_is_left_out_and_named():
    views = many_views(np.random.default_rng(6))
    shaken = views[5].corners_px + np.random.default_rng(7).normal(scale=4.0, size=(70, 2))
    views[5] = view("shaken", shaken)
    search = lens_from_views(views, ORIGIN)
    assert [gone.name for gone in search.rejected] == ["shaken"]
    assert "most of its corners" in search.rejected[0].reason
    assert len(search.used) == 11


def test_a_board_that_is_not_flat_makes_the_lens_less_certain():
    rng = np.random.default_rng(8)
    flat = many_views(rng)
    bend = 0.08 * np.sin(np.arange(70) // 10 + np.arange(70) % 10 / 3)[:, None]
    bent = [view(one.name, one.corners_px + bend * rng.normal(size=2)) for one in flat]
    one, other = (lens_from_views(some, ORIGIN).calibration for some in (flat, bent))
    assert (other.sigmas / one.sigmas).min() > 2 * other.rms_px / one.rms_px


def test_of_two_views_alike_the_sharper_one_stays():
    views = many_views(np.random.default_rng(9), count=6)
    again = view("again", views[2].corners_px + 4.0, blur_px=0.6)
    chosen, rejected = choose_views([*views, again])
    assert [one.name for one in chosen] == [
        "view-1",
        "view-2",
        "view-4",
        "view-5",
        "view-6",
        "again",
    ]
    assert [gone.name for gone in rejected] == [views[2].name]
    assert "the same place as in again" in rejected[0].reason


def test_a_blurred_view_is_left_out_and_says_how_blurred():
    views = many_views(np.random.default_rng(10), count=6)
    views[4] = replace(views[4], blur_px=3.1)
    chosen, rejected = choose_views(views)
    assert len(chosen) == 5
    assert [gone.name for gone in rejected] == ["view-5"]
    assert "blurred" in rejected[0].reason
    assert "3.1 px" in rejected[0].reason


def test_a_softer_lens_alone_is_no_reason_to_reject():
    views = [
        replace(one, blur_px=1.2 + 0.1 * number)
        for number, one in enumerate(many_views(np.random.default_rng(12), count=6))
    ]
    assert choose_views(views)[1] == ()


def test_a_view_that_shares_no_corner_with_another_is_no_duplicate():
    corners = projected(LENS, (0.0, 0.0, 0.0), (0.0, 0.0, 700.0))
    upper, lower = (
        view(name, corners, seen=seen)
        for name, seen in (("upper", slice(0, 35)), ("lower", slice(35, 70)))
    )
    assert objection_to(upper, [lower]) is None


@pytest.mark.parametrize("count", [0, 2])
def test_too_few_views_are_an_error(count):
    views = many_views(np.random.default_rng(13), count=4)[:count]
    with pytest.raises(CalibrationError, match=f"expected 3 usable views.*got {count}"):
        lens_from_views(views, ORIGIN)


def test_views_of_a_board_held_flat_before_the_camera_are_an_error():
    views = []
    for number, x_mm in enumerate((-200, -60, 60, 200)):
        corners = projected(LENS, (0.0, 0.0, 0.0), (x_mm, 10.0 * number, 700.0))
        noise = np.random.default_rng(number).normal(scale=0.3, size=corners.shape)
        views.append(view(f"view-{number}", corners + noise))
    with pytest.raises(CalibrationError, match="tilt the board"):
        lens_from_views(views, ORIGIN)


def test_views_of_different_sizes_are_an_error():
    views = many_views(np.random.default_rng(14), count=4)
    views[2] = replace(views[2], width_px=1280, height_px=720)
    with pytest.raises(CalibrationError, match=r"view-3: expected .* 1920x1080 .* got 1280x720"):
        lens_from_views(views, ORIGIN)
