"""A tag's pattern is fitted to its pixels: corners to hundredths of a pixel, with honest sigmas."""

import cv2
import numpy as np
import pytest

from calibration.extrinsics.tag_pattern import fit_pattern
from calibration.lens import Lens

SIZE_PX, FINE = 120, 8
QUAD_PX = np.array([[30.3, 31.1], [88.6, 28.2], [91.7, 86.4], [33.4, 90.1]])
CELLS = np.array([[1.0, 0, 0, 1], [1, 0, 0, 1], [0, 1, 0, 0], [0, 1, 1, 0]])
SHARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def _picture(quad_px=QUAD_PX, *, noise_grey=0.0, seed=0, lens=None, blur_px=0.6):
    """A tag as a camera with gamma 2.2 stores it, drawn eight times finer than its pixels."""
    side = len(CELLS) + 2
    fine = (np.arange(SIZE_PX * FINE) + 0.5) / FINE - 0.5
    points = np.stack(np.meshgrid(fine, fine), axis=-1).reshape(-1, 2)
    quad = quad_px
    if lens is not None:
        points, quad = lens.to_directions(points), lens.to_directions(quad_px)
    to_cells = cv2.getPerspectiveTransform(
        quad.astype(np.float32), (side * SHARE).astype(np.float32)
    )
    cells = cv2.perspectiveTransform(points[None], to_cells)[0]
    column, row = np.floor(cells).astype(int).T
    printed = np.pad(np.pad(CELLS, 1), 8, constant_values=1.0)
    light = printed[np.clip(row + 8, 0, side + 15), np.clip(column + 8, 0, side + 15)]
    light = (0.06 + 0.94 * light).reshape(SIZE_PX * FINE, -1)
    light = cv2.GaussianBlur(light, (0, 0), blur_px * FINE)
    light = cv2.resize(light, (SIZE_PX, SIZE_PX), interpolation=cv2.INTER_AREA)
    grey = 200 * light ** (1 / 2.2)
    grey += np.random.default_rng(seed).normal(0, noise_grey, grey.shape)
    return np.clip(grey + 0.5, 0, 255).astype(np.uint8)


def _off_px(fitted):
    return fitted.corners_px - QUAD_PX


def _sigma_px(fitted):
    return float(np.sqrt(np.diag(fitted.covariance_px2).mean()))


@pytest.mark.parametrize("blur_px", [0.4, 0.6, 1.2])
def test_corners_are_where_they_were_drawn_although_gamma_pulls_sides_inward(blur_px):
    fitted = fit_pattern(_picture(blur_px=blur_px), QUAD_PX + 0.4, CELLS)
    # The rest comes from smoothing after gamma, alike on all sides.
    assert np.abs(_off_px(fitted)).max() < 0.08
    assert np.abs(_off_px(fitted).mean(axis=0)).max() < 0.005


def test_what_is_stated_is_what_noise_does():
    rng, centre = np.random.default_rng(1), np.tile(np.eye(2) / 4, 4)
    off_px, stated_px2 = [], []
    for seed in range(30):
        quad_px = QUAD_PX + rng.uniform(-0.5, 0.5, 2)
        fitted = fit_pattern(_picture(quad_px, noise_grey=12.0, seed=seed), quad_px, CELLS)
        off_px.append((fitted.corners_px - quad_px).mean(axis=0))
        stated_px2.append(np.trace(centre @ fitted.covariance_px2 @ centre.T) / 2)
    # 60 numbers give a standard deviation to a tenth. The effect of smoothing after gamma counts as
    # an error, too, though here it is alike on all sides and shifts no centre.
    assert 0.6 < np.sqrt(np.mean(np.square(off_px)) / np.mean(stated_px2)) < 1.2


def test_noise_is_said():
    calm, noisy = (fit_pattern(_picture(noise_grey=noise), QUAD_PX, CELLS) for noise in (2, 30))
    assert _sigma_px(noisy) > 2 * _sigma_px(calm)


def test_a_lens_that_bends_the_tag_does_not_move_its_corners():
    lens = Lens(SIZE_PX, SIZE_PX, 600.0, 600.0, 420.0, 400.0, k1=-0.15)
    picture = _picture(lens=lens)
    known, straight = (fit_pattern(picture, QUAD_PX, CELLS, one) for one in (lens, None))
    assert np.abs(_off_px(known).mean(axis=0)).max() < 0.005
    assert np.abs(_off_px(straight).mean(axis=0)).max() > 0.05


def test_what_lies_over_a_part_of_the_tag_is_left_out():
    picture = _picture(noise_grey=2.0)
    picture[38:58, 62:100] = 90
    fitted = fit_pattern(picture, QUAD_PX, CELLS)
    assert np.abs(_off_px(fitted).mean(axis=0)).max() < 0.05
    assert _sigma_px(fitted) > _sigma_px(fit_pattern(_picture(noise_grey=2.0), QUAD_PX, CELLS))


def test_a_tag_of_which_too_little_shows_is_not_fitted():
    picture = _picture(noise_grey=2.0)
    picture[:, 55:] = 90
    assert fit_pattern(picture, QUAD_PX, CELLS) is None


def test_another_tags_pattern_is_not_fitted():
    assert fit_pattern(_picture(), QUAD_PX, 1 - CELLS) is None


def test_a_tag_that_leaves_the_picture_is_not_fitted():
    assert fit_pattern(_picture()[:, :90], QUAD_PX, CELLS) is None
