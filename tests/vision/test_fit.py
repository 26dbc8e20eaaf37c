"""Fits to drawn tags: right to hundredths of a pixel, unmoved by what lies over a tag, honest."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tablecam.vision.dictionary import tag_patterns
from tablecam.vision.fit import fit_tags
from tablecam.vision.tags import TagGuesses
from tests.vision.pictures import CAMERA, Print, cover, picture_of

PATTERNS = tag_patterns("DICT_4X4_250", range(10, 60))
GENERATOR = np.random.default_rng(11)
PRINTS = [
    Print(10 + number, 40 + 48 * (number % 8), 40 + 44 * (number // 8), heading)
    for number, heading in enumerate(GENERATOR.uniform(0, 360, 48))
]


def guesses(prints, patterns=PATTERNS, *, off_mm=1.0, off_deg=2.0):
    """Where the tags are, but for an error as a search leaves."""
    generator = np.random.default_rng(5)
    places = np.array([[each.x_mm, each.y_mm] for each in prints])
    headings = np.array([each.heading_deg for each in prints])
    return TagGuesses(
        np.array([patterns.index_of[each.tag] for each in prints]),
        places + generator.uniform(-off_mm, off_mm, places.shape),
        np.radians(headings + generator.uniform(-off_deg, off_deg, len(prints))),
        np.array([each.height_mm for each in prints]),
        np.array([float(each.size_mm) for each in prints]),
    )


def errors(fits, prints):
    """Of x and y in mm and of the heading in radians, (n, 3)."""
    true = np.array([[each.x_mm, each.y_mm, math.radians(each.heading_deg)] for each in prints])
    found = np.column_stack([fits.tags.places_mm, fits.tags.headings_rad])
    difference = found - true
    difference[:, 2] = (difference[:, 2] + math.pi) % (2 * math.pi) - math.pi
    return difference


def test_places_are_right_to_hundredths_of_a_pixel():
    fits = fit_tags(picture_of(PRINTS), CAMERA, PATTERNS, guesses(PRINTS), blur_px=0.65)
    beside_px = np.hypot(*errors(fits, PRINTS)[:, :2].T) * CAMERA.px_per_mm(fits.tags.places_mm)
    assert np.median(beside_px) < 0.02
    assert beside_px.max() < 0.08
    assert np.degrees(np.abs(errors(fits, PRINTS)[:, 2])).max() < 0.6
    assert fits.likeness.min() > 0.97


def test_covariances_are_neither_smaller_than_errors_nor_twice_as_large():
    scaled = []
    for seed in range(3):
        picture = picture_of(PRINTS, noise_grey=6.0, seed=seed)
        fits = fit_tags(picture, CAMERA, PATTERNS, guesses(PRINTS), blur_px=0.65)
        sigmas = np.sqrt(np.diagonal(fits.covariance, axis1=1, axis2=2))
        scaled.append(errors(fits, PRINTS) / sigmas)
    # Below 1, as covariances are made for cameras, whose noise is alike in neighbouring pixels;
    # on footage errors and covariances agree.
    spread = np.sqrt(np.mean(np.square(np.concatenate(scaled)), axis=0))
    assert ((spread > 0.5) & (spread < 1.0)).all()


def test_what_lies_over_a_corner_of_a_tag_does_not_drag_it():
    picture = picture_of(PRINTS)
    for each in PRINTS:
        cover(picture, CAMERA, each.x_mm + 7, each.y_mm + 5, 4.0)
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
    picture = picture_of(PRINTS, blur_px=blur_px)
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
