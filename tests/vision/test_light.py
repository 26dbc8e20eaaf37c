"""The light on known tags predicts that on others, so that occluders do not pass for paper."""

import cv2
import numpy as np
import pytest

from tablecam.vision.fitting.dictionary import tag_patterns
from tablecam.vision.fitting.fit import fit_tags
from tablecam.vision.fitting.light import Light
from tablecam.vision.fitting.tags import TagGuesses
from tests.vision.pictures import CAMERA, Print, picture_of

PATTERNS = tag_patterns("DICT_4X4_250", range(10, 20))
KNOWN = [Print(10 + number, 60 + 70 * number, 200, 0.0) for number in range(4)]
HIDDEN = Print(15, 170, 130, 0.0)


def guesses(prints):
    return TagGuesses(
        np.array([PATTERNS.index_of[printed.tag] for printed in prints]),
        np.array([[float(printed.x_mm), float(printed.y_mm)] for printed in prints]),
        np.zeros(len(prints)),
        np.array([printed.height_mm for printed in prints]),
        np.array([float(printed.size_mm) for printed in prints]),
    )


def fitted(grey, prints, light=None):
    start = guesses(prints)
    at = None if light is None else light.at(start.places_mm)
    return fit_tags(grey, CAMERA, PATTERNS, start, blur_px=0.65, light=at)


def smoke_over(picture, tag, *, aside_mm):
    """Three white puffs along one side of a tag that faces +x."""
    for ahead_mm in (-6, 0, 6):
        spot_mm = np.array([[tag.x_mm + ahead_mm, tag.y_mm + aside_mm, tag.height_mm]])
        ((x_px, y_px),) = CAMERA.to_image(spot_mm)
        cv2.circle(picture, (round(x_px), round(y_px)), 6, 225, -1, cv2.LINE_AA)


def brighter(grey, share):
    """The picture in a light that grows by `share` from left to right."""
    across = 1 + share * np.linspace(0, 1, grey.shape[1])
    return (grey / (1 + share) * across).round().astype(np.uint8)


def test_three_tags_tell_of_the_light_and_two_do_not():
    fits = fitted(picture_of(KNOWN), KNOWN)
    assert Light.of(fits[:2]) is None
    assert Light.of(fits[:3]) is not None


def test_where_a_known_tag_lies_its_own_light_is_expected():
    fits = fitted(brighter(picture_of(KNOWN), 0.3), KNOWN)
    light = Light.of(fits)
    expected = light.at(fits.tags.places_mm)
    # The others help a little, too: light that changes by 30 % across them, by 2 % of itself.
    np.testing.assert_allclose(expected.gain_grey, fits.gain_grey, rtol=0.02)
    assert (np.diff(expected.gain_grey) > 0).all()


def test_between_known_tags_the_light_is_between_theirs():
    fits = fitted(brighter(picture_of(KNOWN), 0.3), KNOWN)
    (gain,) = Light.of(fits).at(np.array([[165.0, 200.0]])).gain_grey
    assert fits.gain_grey.min() < gain < fits.gain_grey.max()


@pytest.mark.parametrize("side", [-1, 1])
def test_smoke_over_half_of_a_tag_is_not_taken_for_its_paper(side):
    picture = picture_of([*KNOWN, HIDDEN])
    clear = fitted(picture, [HIDDEN])
    light = Light.of(fitted(picture, KNOWN))
    smoke_over(picture, HIDDEN, aside_mm=6.0 * side)
    alone, lit = (fitted(picture, [HIDDEN], each) for each in (None, light))
    assert abs(lit.gain_grey - clear.gain_grey) < 0.03 * clear.gain_grey
    assert abs(alone.gain_grey - clear.gain_grey) > 0.15 * clear.gain_grey
    # A twentieth of a cell: hidden parts do not inform the place, and should not bias it either.
    assert np.linalg.norm(lit.tags.places_mm - clear.tags.places_mm) < 0.125


def test_a_shadow_over_a_tag_is_believed_against_the_light_beside_it():
    picture = picture_of([*KNOWN, HIDDEN])
    light = Light.of(fitted(picture, KNOWN))
    clear = fitted(picture, [HIDDEN]).gain_grey
    dim = fitted((0.7 * picture).astype(np.uint8), [HIDDEN], light)
    assert dim.gain_grey == pytest.approx(0.7 * clear, rel=0.05)
    assert dim.likeness[0] > 0.97
