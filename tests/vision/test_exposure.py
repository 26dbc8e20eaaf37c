"""Measuring a picture's noise and white paper, and what may be mistaken for them."""

import cv2
import numpy as np
import pytest

from tablecam.capture.picture_files import read_picture
from tablecam.planning.advice import advice, collect_facts
from tablecam.planning.detection_model_file import default_model
from tablecam.vision.detection.exposure import exposure, halo_share, noise_grey
from tablecam.vision.search.tag_finder import find_tags
from tests.benchmarks.camera_effects import CAMERA_EFFECTS, PLAIN
from tests.benchmarks.tables import table_pictures
from tests.vision.pictures import CAMERA, ROSTER, Print, picture_of

PRINTS = [
    *(Print(tag, 70.0 + 60 * n, 150.0, 40.0 * n) for n, tag in enumerate((10, 11, 12, 13))),
    Print(20, 330.0, 150.0, 10.0, 20.0),
]


def exposed(**look):
    grey = picture_of(PRINTS, **look)
    sightings = find_tags(grey, CAMERA, ROSTER).sightings
    assert len(sightings) == len(PRINTS)
    return exposure(grey, sightings)


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


def test_only_strong_sharpening_is_named():
    effects = {effect.name: effect for effect in (PLAIN, *CAMERA_EFFECTS)}
    names = [PLAIN.name, "MJPEG, quality 60", "sharpened", "sharpened strongly"]
    pictures = table_pictures(2.3, count=1, effects=[effects[name] for name in names])
    said = {}
    for name, picture in zip(names, pictures, strict=True):
        search = find_tags(picture.grey, picture.camera, picture.roster)
        light = exposure(picture.grey, search.sightings)
        facts = collect_facts(search, picture.roster, missing=(), exposure=light)
        said[name] = advice(facts, None, default_model())
    strongly = said.pop("sharpened strongly")
    assert strongly == ("the camera sharpens strongly: switch its sharpness off",)
    assert not any(said.values())


@pytest.mark.parametrize(
    ("name", "dictionary"),
    [
        ("apriltag/34139872896_defdb2f8d9_c.jpg", cv2.aruco.DICT_APRILTAG_36h11),
        ("singlemarkerssource.png", cv2.aruco.DICT_6X6_250),
    ],
)
def test_no_photograph_is_said_to_be_sharpened(shared, name, dictionary):
    grey = cv2.cvtColor(read_picture(shared / "real" / name), cv2.COLOR_BGR2GRAY)
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(dictionary))
    corners_px = [corners[0] for corners in detector.detectMarkers(grey)[0]]
    halo = halo_share(grey, corners_px)
    assert halo is not None
    assert halo < 0.05
