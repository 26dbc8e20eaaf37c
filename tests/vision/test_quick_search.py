"""A quick search: clear tags, where some are missing; known ones stay."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.grey import to_grey
from tablecam.simulate.demo import demo_camera, embedded_demo
from tablecam.simulate.rendering.render import PLAIN
from tablecam.simulate.source import SimulatedSource
from tablecam.vision.search.tag_finder import TagFinder

EVERYWHERE_MM = np.array([[-60.0, -60.0, 1260.0, 860.0]])


@pytest.fixture(scope="module")
def grey():
    table = embedded_demo()
    table.pause()
    source = SimulatedSource(table, demo_camera(1920, 1080), is_paced=False, look=PLAIN)
    return to_grey(source.read().image)


@pytest.fixture(scope="module")
def finder():
    return TagFinder(demo_camera(1920, 1080), embedded_demo().roster)


@pytest.fixture(scope="module")
def known(finder, grey):
    return finder.search(grey)


def a_base(search):
    """A tag of a base in the middle of the table."""
    return min(search.sightings, key=lambda tag: np.hypot(tag.x_mm - 600, tag.y_mm - 300))


def without(search, tag):
    return replace(search, sightings=tuple(one for one in search.sightings if one is not tag))


def hidden(grey, tag, share):
    """The picture with something flat over a share of a tag, from its left side."""
    top_left, top_right, bottom_right, bottom_left = tag.corners_px
    right = [
        left + share * (far - left)
        for left, far in ((top_left, top_right), (bottom_left, bottom_right))
    ]
    over = np.array([top_left, right[0], right[1], bottom_left]).round().astype(np.int32)
    return cv2.fillConvexPoly(grey.copy(), over, 120)


def test_what_is_known_stays_where_it_lay(finder, grey, known):
    tag = a_base(known)
    covered = hidden(grey, tag, 1.0)
    before = without(known, known.sightings[0])
    seen = finder.quick().search(covered, before=before, within_mm=EVERYWHERE_MM)
    assert {id(one) for one in seen.sightings} >= {id(one) for one in before.sightings}


def test_a_missing_tag_is_found_where_it_is_clear(finder, grey, known):
    tag = a_base(known)
    before = without(known, tag)
    seen = finder.quick().search(grey, before=before, within_mm=EVERYWHERE_MM)
    (again,) = (one for one in seen.sightings if one.tag == tag.tag)
    assert again is not tag
    # As in a whole search: the same pixels, fitted from the same square.
    assert np.hypot(again.x_mm - tag.x_mm, again.y_mm - tag.y_mm) < 0.01


def test_a_half_hidden_tag_is_left_to_a_better_search(finder, grey, known):
    tag = a_base(known)
    picture, before = hidden(grey, tag, 0.3), without(known, tag)
    tags = [
        {one.tag for one in way.search(picture, before=before, within_mm=EVERYWHERE_MM).sightings}
        for way in (finder.quick(), finder)
    ]
    assert tag.tag not in tags[0]
    assert tag.tag in tags[1]


def test_where_nothing_is_missing_all_stays_known_and_so_does_the_blur(finder, grey, known):
    seen = finder.quick().search(grey, before=known, within_mm=EVERYWHERE_MM)
    assert {id(one) for one in seen.sightings} == {id(one) for one in known.sightings}
    assert known.blur_px is not None
    assert seen.blur_px == known.blur_px
