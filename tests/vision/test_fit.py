"""Fits to drawn tags: right to hundredths of a pixel, unmoved by occluders, and honest."""

import math
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest

from calibration.camera import Camera, Pose
from calibration.lens import Lens
from tablecam.vision.fitting.dictionary import tag_patterns
from tablecam.vision.fitting.fit import fit_tags
from tablecam.vision.fitting.tags import TagGuesses
from tests.vision.pictures import CAMERA, Print, cover, picture_of

PATTERNS = tag_patterns("DICT_4X4_250", range(10, 60))
GENERATOR = np.random.default_rng(11)
PRINTS = [
    Print(10 + number, 40 + 48 * (number % 8), 40 + 44 * (number // 8), heading)
    for number, heading in enumerate(GENERATOR.uniform(0, 360, 48))
]


@cache
def drawn(*, blur_px=0.6):
    """The tags without noise, drawn once: drawing is slow."""
    return picture_of(PRINTS, blur_px=blur_px, noise_grey=0.0)


def seen(*, blur_px=0.6, noise_grey=2.0, seed=0):
    """A picture of the tags, with noise of its own."""
    noise = np.random.default_rng(seed).normal(0, noise_grey, drawn(blur_px=blur_px).shape)
    return np.clip(drawn(blur_px=blur_px) + noise, 0, 255).round().astype(np.uint8)


def guesses(prints, patterns=PATTERNS, *, off_mm=1.0, off_deg=2.0):
    """The tags' places with errors like a search's."""
    generator = np.random.default_rng(5)
    places = np.array([[printed.x_mm, printed.y_mm] for printed in prints])
    headings = np.array([printed.heading_deg for printed in prints])
    return TagGuesses(
        np.array([patterns.index_of[printed.tag] for printed in prints]),
        places + generator.uniform(-off_mm, off_mm, places.shape),
        np.radians(headings + generator.uniform(-off_deg, off_deg, len(prints))),
        np.array([printed.height_mm for printed in prints]),
        np.array([float(printed.size_mm) for printed in prints]),
    )


def errors(fits, prints):
    """The errors of x and y in mm and of the heading in radians, (n, 3)."""
    true = np.array(
        [[printed.x_mm, printed.y_mm, math.radians(printed.heading_deg)] for printed in prints]
    )
    fitted = np.column_stack([fits.tags.places_mm, fits.tags.headings_rad])
    difference = fitted - true
    difference[:, 2] = (difference[:, 2] + math.pi) % (2 * math.pi) - math.pi
    return difference


def test_places_are_right_to_hundredths_of_a_pixel():
    fits = fit_tags(seen(), CAMERA, PATTERNS, guesses(PRINTS), blur_px=0.65)
    beside_px = np.hypot(*errors(fits, PRINTS)[:, :2].T) * CAMERA.px_per_mm(fits.tags.places_mm)
    assert np.median(beside_px) < 0.02
    assert beside_px.max() < 0.08
    assert np.degrees(np.abs(errors(fits, PRINTS)[:, 2])).max() < 0.6
    assert fits.likeness.min() > 0.97


@pytest.mark.parametrize("noise_grey", [3.0, 6.0])
def test_errors_are_as_large_as_covariances_say(noise_grey):
    scaled = []
    for seed in range(3):
        picture = seen(noise_grey=noise_grey, seed=seed)
        fits = fit_tags(picture, CAMERA, PATTERNS, guesses(PRINTS), blur_px=0.65)
        sigmas = np.sqrt(np.diagonal(fits.covariance, axis1=1, axis2=2))
        scaled.append(errors(fits, PRINTS) / sigmas)
    # 144 tags give a spread to 6 %. It is a little below 1, as residuals of edges from lens and ink
    # count as noise, though they are alike on both sides of a tag and move none.
    spread = np.sqrt(np.mean(np.square(np.concatenate(scaled)), axis=0))
    assert ((spread > 0.65) & (spread < 1.15)).all()
    within = np.abs(np.concatenate(scaled))
    assert 0.60 < (within < 1).mean() < 0.86
    assert (within < 2).mean() > 0.93


def lit(picture, light):
    """The picture with more or less light: linear light times `light`, encoded again."""
    linear = (picture / 255.0) ** 2.2
    return np.clip(255 * (linear * light) ** (1 / 2.2), 0, 255).round().astype(np.uint8)


def beside_px(fits, prints):
    return np.hypot(*errors(fits, prints)[:, :2].T) * CAMERA.px_per_mm(fits.tags.places_mm)


def test_light_that_falls_off_draws_no_tag_towards_it():
    picture = seen()
    # From 1 to 0.5 and back every 40 px: by a quarter to a half over a tag of 20 px.
    column = np.arange(picture.shape[1])
    light = 0.75 + 0.25 * np.cos(np.pi * column / 40)[None]
    fits = fit_tags(lit(picture, light), CAMERA, PATTERNS, guesses(PRINTS), blur_px=0.65)
    assert np.median(beside_px(fits, PRINTS)) < 0.04


def test_the_edge_of_a_shadow_across_tags_hardly_drags_them():
    picture = seen()
    # Every other stripe of 34 px has 0.6 of the light: nearly all tags have an edge across them.
    light = np.where(np.arange(picture.shape[1]) // 34 % 2, 0.6, 1.0)[None]
    fits = fit_tags(lit(picture, light), CAMERA, PATTERNS, guesses(PRINTS), blur_px=0.65)
    assert np.median(beside_px(fits, PRINTS)) < 0.12
    assert beside_px(fits, PRINTS).max() < 0.6


@pytest.mark.parametrize("gamma", [1.8, 2.6])
def test_a_camera_of_another_gamma_shifts_no_tag(gamma):
    picture = 255 * (seen() / 255.0) ** (2.2 / gamma)
    fits = fit_tags(picture.astype(np.uint8), CAMERA, PATTERNS, guesses(PRINTS), blur_px=0.65)
    assert np.median(beside_px(fits, PRINTS)) < 0.02
    assert np.median(np.degrees(np.abs(errors(fits, PRINTS)[:, 2]))) < 0.1


def test_a_spear_over_a_tag_does_not_drag_it():
    picture = seen()
    for printed in PRINTS:
        ends = np.array(
            [[printed.x_mm - 12, printed.y_mm - 3, 3], [printed.x_mm + 12, printed.y_mm + 5, 3]]
        )
        (left, top), (right, low) = CAMERA.to_image(ends).round().astype(int).tolist()
        cv2.line(picture, (left, top), (right, low), 90, 2, cv2.LINE_AA)
    fits = fit_tags(picture, CAMERA, PATTERNS, guesses(PRINTS), blur_px=0.65)
    assert np.median(beside_px(fits, PRINTS)) < 0.06
    assert beside_px(fits, PRINTS).max() < 0.4


def test_a_third_hidden_and_started_a_cell_away_is_found_and_said():
    picture = seen()
    for printed in PRINTS:
        cover(picture, CAMERA, printed.x_mm + 6, printed.y_mm + 6, 7.0)
    afar = guesses(PRINTS, off_mm=1.7, off_deg=3.0)
    fits = fit_tags(picture, CAMERA, PATTERNS, afar, blur_px=0.65)
    open_fits = fit_tags(seen(), CAMERA, PATTERNS, afar, blur_px=0.65)
    # Starts are up to a cell off; a few discs look like paint where paint is.
    assert np.median(beside_px(fits, PRINTS)) < 0.15
    assert np.percentile(beside_px(fits, PRINTS), 90) < 0.3
    assert np.median(open_fits.visible_share) > 0.99
    assert open_fits.visible_share.min() > 0.95 > 0.9 > fits.visible_share.max()
    grown = np.sqrt(fits.covariance[:, 0, 0] / open_fits.covariance[:, 0, 0])
    assert np.median(grown) > 1.3


@pytest.mark.parametrize("noise_grey", [2.0, 5.0])
def test_the_noise_of_the_picture_is_measured_on_each_tag(noise_grey):
    picture = seen(noise_grey=noise_grey)
    fits = fit_tags(picture, CAMERA, PATTERNS, guesses(PRINTS), blur_px=0.65)
    # The model's residuals at edges add a grey level or so.
    assert noise_grey - 0.5 < np.median(fits.noise_grey) < noise_grey + 1.2


PLAIN_LENS = Lens(900, 640, 700.0, 690.0, 452.0, 318.0, k1=-0.08)
PLAIN_CAMERA = Camera(PLAIN_LENS, CAMERA.pose, "plain")
FEW = PRINTS[:8]


def test_places_do_not_depend_on_where_a_picture_begins():
    picture = picture_of(FEW, PLAIN_CAMERA)
    there = fit_tags(picture, PLAIN_CAMERA, PATTERNS, guesses(FEW), blur_px=0.65)
    lens = replace(PLAIN_LENS, width_px=893, height_px=629, cx_px=445.0, cy_px=307.0)
    cut = replace(PLAIN_CAMERA, lens=lens)
    moved = fit_tags(
        np.ascontiguousarray(picture[11:, 7:]), cut, PATTERNS, guesses(FEW), blur_px=0.65
    )
    # Single precision of places and textures, 0.0005 px.
    assert np.abs(there.tags.places_mm - moved.tags.places_mm).max() < 0.0005
    assert np.abs(there.tags.headings_rad - moved.tags.headings_rad).max() < 1e-4


def test_places_do_not_depend_on_how_a_camera_is_turned():
    picture = picture_of(FEW, PLAIN_CAMERA)
    there = fit_tags(picture, PLAIN_CAMERA, PATTERNS, guesses(FEW), blur_px=0.65)
    quarter = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    vector, _ = cv2.Rodrigues(quarter @ PLAIN_CAMERA.pose.rotation)
    pose = Pose(tuple(vector.ravel()), tuple(quarter @ PLAIN_CAMERA.pose.translation))
    lens = Lens(640, 900, 690.0, 700.0, 318.0, 899.0 - 452.0, k1=-0.08)
    turned = np.ascontiguousarray(np.rot90(picture))
    fits = fit_tags(turned, Camera(lens, pose, "turned"), PATTERNS, guesses(FEW), blur_px=0.65)
    assert np.abs(there.tags.places_mm - fits.tags.places_mm).max() < 0.002
    assert np.abs(there.tags.headings_rad - fits.tags.headings_rad).max() < 5e-4


def test_blur_may_be_given_for_each_tag():
    picture = seen()
    one = fit_tags(picture, CAMERA, PATTERNS, guesses(PRINTS), blur_px=0.65)
    each = fit_tags(
        picture, CAMERA, PATTERNS, guesses(PRINTS), blur_px=np.linspace(0.45, 0.95, len(PRINTS))
    )
    # The fit finds the blur, wherever it starts.
    assert np.abs(each.blur_px - one.blur_px).max() < 0.1
    assert np.median(beside_px(each, PRINTS)) < 0.02


def test_what_lies_over_a_corner_of_a_tag_does_not_drag_it():
    picture = seen()
    for printed in PRINTS:
        cover(picture, CAMERA, printed.x_mm + 7, printed.y_mm + 5, 4.0)
    fits = fit_tags(picture, CAMERA, PATTERNS, guesses(PRINTS), blur_px=0.65)
    beside_mm = np.hypot(*errors(fits, PRINTS)[:, :2].T)
    assert np.median(beside_mm) < 0.12
    assert fits.likeness.max() < 0.97


def test_a_tag_half_out_of_the_picture_is_fitted_to_the_half_that_is_in_it():
    each = Print(12, 200, 150, 80.0)
    ((_, row_px),) = CAMERA.to_image(np.array([[each.x_mm, each.y_mm, each.height_mm]]))
    cut = replace(CAMERA, lens=replace(CAMERA.lens, height_px=int(row_px) + 3))
    picture = picture_of([each])[: cut.lens.height_px]
    fits = fit_tags(picture, cut, PATTERNS, guesses([each], off_mm=0.5), blur_px=0.65)
    assert np.abs(errors(fits, [each])[0, :2]).max() < 0.15


@pytest.mark.parametrize("blur_px", [0.7, 1.0, 1.6])
def test_the_blur_of_the_picture_is_found_from_afar(blur_px):
    picture = seen(blur_px=blur_px)
    found_px = 0.65
    for _ in range(2):
        fits = fit_tags(picture, CAMERA, PATTERNS, guesses(PRINTS), blur_px=found_px)
        found_px = float(np.median(fits.blur_px))
    # A pixel's own width is a blur too, of 0.29 px.
    assert found_px == pytest.approx(math.hypot(blur_px, 0.29), rel=0.06)


def test_a_place_without_a_tag_has_no_likeness():
    fits = fit_tags(picture_of([]), CAMERA, PATTERNS, guesses(PRINTS), blur_px=0.65)
    assert np.abs(fits.likeness).max() < 0.5


def test_no_guesses_give_no_fits():
    assert len(fit_tags(picture_of([]), CAMERA, PATTERNS, guesses(PRINTS)[:0], blur_px=1)) == 0


@pytest.mark.parametrize("dictionary", ["DICT_5X5_100", "DICT_6X6_250"])
def test_tags_of_other_dictionaries_are_fitted_as_well(dictionary):
    patterns = tag_patterns(dictionary, [3, 7])
    prints = [Print(tag, 150 + 20 * tag, 140, 31.0 * tag, 20.0, 0.0, dictionary) for tag in (3, 7)]
    fits = fit_tags(
        picture_of(prints), CAMERA, patterns, guesses(prints, patterns, off_mm=0.5), blur_px=0.65
    )
    assert np.abs(errors(fits, prints)[:, :2]).max() < 0.05
