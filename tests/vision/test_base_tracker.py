"""From tags to bases: what a tag's place and heading leave uncertain of the base that it is on."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.geometry.rectangles import rectangles
from tablecam.table.roster import BaseType
from tablecam.vision.tracking.bases import base_poses
from tablecam.vision.tracking.tracking import BaseTracker
from tests.vision.sightings import CAMERA, FOOT, ROSTER, SIGMA_DEG, SIGMA_MM, sighting

offsets_mm = st.floats(-12.0, 12.0)


@given(heading_deg=st.floats(0.0, 359.0), right_mm=offsets_mm, forward_mm=offsets_mm)
def test_of_a_base_the_tags_place_is_as_sure_as_it_was_seen(heading_deg, right_mm, forward_mm):
    kind = BaseType("foot", 40, 40, 14, tag_right_mm=right_mm, tag_forward_mm=forward_mm)
    (pose,) = base_poses([sighting(10, 300.0, 200.0, heading_deg)], [kind], CAMERA)
    assert pose.tag_sigma_mm == pytest.approx(SIGMA_MM)
    known = rectangles([pose])
    swung_mm = math.radians(SIGMA_DEG) * known.swings_mm[0]
    # How far the centre errs along x and y, on the average of both, is what the base says.
    variances = SIGMA_MM**2 + np.square(swung_mm)
    assert pose.sigma_mm**2 == pytest.approx(variances.mean())
    centre = np.array([300.0, 200.0])
    ahead = np.array([math.cos(math.radians(heading_deg)), math.sin(math.radians(heading_deg))])
    right = np.array([ahead[1], -ahead[0]])
    tag = known.centres_mm[0] + right_mm * right + forward_mm * ahead
    assert tag == pytest.approx(centre)


def test_a_base_that_is_watched_says_where_its_tag_is_glued():
    (base,) = BaseTracker(ROSTER, CAMERA).update((sighting(10, 300.0, 200.0),), 0.0)
    assert (base.pose.tag_right_mm, base.pose.tag_forward_mm) == (
        FOOT.tag_right_mm,
        FOOT.tag_forward_mm,
    )
