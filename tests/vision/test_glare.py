"""A lamp reflected in a laminated tag hides part of its print: the rest names the tag."""

import math

import numpy as np
import pytest

from tablecam.vision.search.tag_finder import TagFinder
from tests.vision.pictures import CAMERA, ROSTER, Print, picture_of

FINDER = TagFinder(CAMERA, ROSTER)
APART = ((10, 100, 100), (11, 180, 220), (12, 290, 90), (13, 330, 190))
PRINTS = [Print(tag, x_mm, y_mm, 25.0 * tag) for tag, x_mm, y_mm in APART]
AS_PAPER, SATURATED = 0.8, 4.0


def mirroring(picture, print_, *, turn_deg, beside_mm, light):
    """The picture with a tube lamp, three millimetres wide, reflected across a tag and its rim."""
    ((x_px, y_px),) = CAMERA.to_image(np.array([[print_.x_mm, print_.y_mm, print_.height_mm]]))
    part = tuple(slice(round(at_px) - 24, round(at_px) + 25) for at_px in (y_px, x_px))
    pixels = np.mgrid[part][::-1].reshape(2, -1).T.astype(float)
    away = CAMERA.to_table(pixels, print_.height_mm) - [print_.x_mm, print_.y_mm]
    turn, heading = np.radians([turn_deg, print_.heading_deg])
    strip = np.exp(-(((away @ [np.cos(turn), np.sin(turn)] - beside_mm) / 1.5) ** 4))
    sides = away @ [[np.cos(heading), np.sin(heading)], [np.sin(heading), -np.cos(heading)]]
    strip[np.abs(sides).max(axis=1) > print_.size_mm * 8 / 12] = 0
    lit = picture.copy()
    linear = (picture[part] / 255) ** 2.2 + light * strip.reshape(picture[part].shape)
    lit[part] = (255 * linear.clip(0, 1) ** (1 / 2.2)).round()
    return lit


def tags_in(picture):
    return {seen.tag: seen for seen in FINDER.search(picture).sightings}


def beside_mm(seen, print_):
    return math.dist((seen.x_mm, seen.y_mm), (print_.x_mm, print_.y_mm))


def sigma_mm(seen):
    return np.linalg.det(seen.covariance[:2, :2]) ** 0.25


@pytest.mark.parametrize(
    ("row", "turn_deg", "away_mm", "light"),
    [
        (1, 0, 0, AS_PAPER),
        (3, 0, 0, AS_PAPER),
        (1, 45, 0, AS_PAPER),
        (3, 90, 0, AS_PAPER),
        (2, 135, 0, AS_PAPER),
        (0, 45, 0, SATURATED),
        (2, 45, 0, SATURATED),
        (0, 45, 3, SATURATED),
        (2, 135, 3, SATURATED),
        (3, 135, 3, SATURATED),
    ],
)
def test_a_tag_that_mirrors_a_lamp_is_named_and_placed(row, turn_deg, away_mm, light):
    print_ = PRINTS[row]
    picture = picture_of(PRINTS)
    seen = tags_in(mirroring(picture, print_, turn_deg=turn_deg, beside_mm=away_mm, light=light))
    assert sorted(seen) == [10, 11, 12, 13]
    assert beside_mm(seen[print_.tag], print_) < 0.1
    # The lamp's part is missing, but does not mislead the fit as an occluder would.
    assert sigma_mm(seen[print_.tag]) < 1.6 * sigma_mm(tags_in(picture)[print_.tag])


@pytest.mark.parametrize("light", [AS_PAPER, SATURATED])
@pytest.mark.parametrize("stranger", [57, 130, 201])
def test_a_tag_of_no_list_that_mirrors_a_lamp_is_given_no_name(stranger, light):
    foreign = Print(stranger, 290, 90, 40.0)
    picture = picture_of([*PRINTS[:2], foreign])
    for turn_deg in (0, 45, 90, 135):
        lit = mirroring(picture, foreign, turn_deg=turn_deg, beside_mm=0, light=light)
        assert sorted(tags_in(lit)) == [10, 11]


def test_overexposed_tags_are_named_as_ever():
    """Saturated paper is as bright as the tag's other paper: no glare."""
    picture = picture_of(PRINTS, light=2.5)
    assert (picture == 255).sum() > 1000
    seen = tags_in(picture)
    assert sorted(seen) == [10, 11, 12, 13]
    assert max(beside_mm(seen[print_.tag], print_) for print_ in PRINTS) < 0.2
