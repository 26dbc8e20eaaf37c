"""Tags on ground of every shade, from darker than ink to as light as paper, are found equally.

Their white rim is a cell wide, and then the ground begins: black edges of bases, a dark mat. If it
is darker than ink, the rim is a light ring with dark on both sides, and tags are not dark squares
in light surroundings; if it is as light as paper, the rim has no outer edge.
"""

import cv2
import numpy as np
import pytest

from tablecam.vision.search.tag_finder import TagFinder
from tests.benchmarks.tables import table_pictures

GREYS = (8, 20, 45, 70, 95, 130, 180, 230)
"""Grey levels of ground; the ink of such tags appears as 40 to 70, their paper as 150 to 225."""
RIM_CELLS, SIDE_CELLS = 1.0, 6


@pytest.fixture(scope="module")
def table():
    """A table in even light at 2 px a cell, with tags of bases of two sizes, the larger few."""
    return next(table_pictures(2.0, count=1, resolution="1080p", seed=77))


@pytest.fixture(scope="module")
def finder(table):
    return TagFinder(table.camera, table.roster)


def on_ground(table, shade):
    """The picture with everything painted over except the tags and their rims."""
    is_tag = np.zeros(table.grey.shape, dtype=np.float32)
    for tag in table.tags.values():
        middle = tag.corners_px.mean(axis=0)
        rim = middle + (1 + 2 * RIM_CELLS / SIDE_CELLS) * (tag.corners_px - middle)
        cv2.fillConvexPoly(is_tag, np.round(rim * 16).astype(np.int32), 1.0, cv2.LINE_AA, 4)
    is_tag = cv2.GaussianBlur(is_tag, (0, 0), 0.7)
    noise = np.random.default_rng(1).normal(0, table.noise_grey, is_tag.shape)
    ground = np.clip(shade + noise, 0, 255)
    mixed = is_tag * table.grey + (1 - is_tag) * ground
    return np.clip(np.rint(mixed), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("shade", GREYS)
def test_tags_are_found_and_rightly_named_on_ground_of_any_shade(table, finder, shade):
    seen = finder.search(on_ground(table, shade)).sightings
    for sighting in seen:
        true = table.tags[sighting.tag]
        beside_px = np.hypot(*(sighting.corners_px.mean(0) - true.corners_px.mean(0)))
        assert beside_px < true.px_per_cell
    # Things in front of a tag remain: a figure's foot within the rim, a bit of smoke.
    whole = {tag for tag, true in table.tags.items() if true.visible > 0.97}
    assert whole - {sighting.tag for sighting in seen} == set()
