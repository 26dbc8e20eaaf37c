"""What a picture's noise and its white paper are, and what they are mistaken for."""

import cv2
import numpy as np
import pytest

from tablecam.vision.detection.exposure import exposure, noise_grey
from tablecam.vision.search.tag_finder import find_tags
from tests.vision.pictures import CAMERA, ROSTER, Print, picture_of

PRINTS = [
    *(Print(tag, 70.0 + 60 * n, 150.0, 40.0 * n) for n, tag in enumerate((10, 11, 12, 13))),
    Print(20, 330.0, 150.0, 10.0, 20.0),
]


def exposed(**look):
    grey = picture_of(PRINTS, **look)
    found = find_tags(grey, CAMERA, ROSTER).sightings
    assert len(found) == len(PRINTS)
    return exposure(grey, found)


@pytest.mark.parametrize("noise", [1.0, 2.0, 4.0, 8.0])
def test_noise_is_measured_beside_whatever_the_picture_shows(noise):
    # The flattest tenth of blocks of 36 values each scatter a sixth below their mean.
    assert exposed(noise_grey=noise).noise_grey == pytest.approx(0.87 * noise, rel=0.12)


def test_texture_and_blur_are_not_taken_for_noise():
    rng = np.random.default_rng(3)
    felt = cv2.GaussianBlur(rng.normal(120, 60, (400, 600)), (0, 0), 2.5)
    assert felt.std() > 5
    assert noise_grey(felt.clip(0, 255).astype(np.uint8)) < 0.6


def test_black_and_white_hide_noise_and_count_for_nothing():
    assert noise_grey(np.zeros((64, 64), np.uint8)) is None
    assert noise_grey(np.full((64, 64), 255, np.uint8)) is None
    assert noise_grey(np.full((5, 5), 99, np.uint8)) is None  # not one whole block


def test_contrast_falls_with_the_light_and_noise_weighs_more():
    bright, dim = exposed(light=1.0), exposed(light=0.2)
    assert dim.contrast_grey < 0.55 * bright.contrast_grey  # 0.2 ** (1 / 2.2) is 0.48
    assert dim.noise_share > 1.5 * bright.noise_share


def test_paper_that_is_pure_white_is_counted():
    assert exposed(light=1.0).clipped_share == 0.0
    assert exposed(light=2.0).clipped_share == 1.0


def test_a_few_tags_tell_nothing_of_the_picture():
    grey = picture_of(PRINTS[:3])
    few = exposure(grey, find_tags(grey, CAMERA, ROSTER).sightings)
    assert (few.contrast_grey, few.clipped_share, few.misfit_share) == (None, None, None)
    assert few.noise_grey is not None
    assert few.noise_share is None
