"""Bases with tags glued off centre: errors of heading swing the bases about their tags.

Truth is drawn: isotropic errors of tags, independent errors of headings, and the base that follows
from both.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.geometry.rectangles import rectangles
from tablecam.table.model import BasePose
from tablecam.uncertainty.lengths import distance
from tablecam.uncertainty.samples import draw_poses

DRAWS = 20_000
"""A standard deviation is then known to half a per cent."""
offsets_mm = st.floats(-12.0, 12.0)


def glued(
    heading_deg: float, right_mm: float, forward_mm: float, *, tag_mm: float, turned_deg: float
) -> BasePose:
    """A base of 40 x 30 mm with a tag whose place errs by `tag_mm` in every direction."""
    swing_mm = math.radians(turned_deg) * math.hypot(right_mm, forward_mm)
    return BasePose(
        300.0,
        200.0,
        heading_deg,
        40.0,
        30.0,
        sigma_mm=math.hypot(tag_mm, swing_mm / math.sqrt(2)),
        sigma_deg=turned_deg,
        tag_right_mm=right_mm,
        tag_forward_mm=forward_mm,
    )


def _points(base: BasePose, at_mm: np.ndarray, turned_rad: np.ndarray | float) -> np.ndarray:
    """Points of a base (4, 2), right and ahead of its centre, turned about it: (n, 4, 2)."""
    heading = np.atleast_1d(np.radians(base.heading_deg) + turned_rad)
    ahead = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    right = np.stack([ahead[:, 1], -ahead[:, 0]], axis=-1)
    return at_mm[:, :1] * right[:, None] + at_mm[:, 1:] * ahead[:, None]


def drawn_corners(base: BasePose, tag_mm: float) -> np.ndarray:
    """The errors of its corners as seen in many pictures: (n, 4, 2)."""
    rng = np.random.default_rng(1740)
    turned_rad = rng.normal(0, math.radians(base.sigma_deg), DRAWS)
    corners = np.array([[-20.0, 15.0], [20.0, 15.0], [20.0, -15.0], [-20.0, -15.0]])
    from_tag = corners - [base.tag_right_mm, base.tag_forward_mm]
    tag_off_mm = rng.normal(0, tag_mm, (DRAWS, 1, 2))
    return tag_off_mm + _points(base, from_tag, turned_rad) - _points(base, from_tag, 0.0)


bases = st.builds(
    glued,
    st.floats(0.0, 359.0),
    offsets_mm,
    offsets_mm,
    tag_mm=st.just(0.05),
    turned_deg=st.floats(0.1, 1.0),
)


@settings(max_examples=20, deadline=None)
@given(bases)
def test_each_corner_errs_by_what_is_said_of_it_along_x_and_along_y(base):
    seen = rectangles([base])
    offsets = seen.corners_mm() - seen.centres_mm[:, None]
    for axis in (0, 1):
        by_pose = np.zeros((1, 4, 3))
        by_pose[..., axis] = 1.0
        by_pose[..., 2] = offsets[..., 0] if axis else -offsets[..., 1]
        told = np.linalg.norm(seen.in_sigmas(by_pose), axis=2)[0]
        assert told == pytest.approx(drawn_corners(base, 0.05)[..., axis].std(axis=0), rel=0.03)


@settings(max_examples=10, deadline=None)
@given(bases)
def test_draws_of_a_base_scatter_as_it_does(base):
    true = drawn_corners(base, 0.05).reshape(DRAWS, 8).std(axis=0)
    many = draw_poses(rectangles([base]), ["F1/1"]).corners_mm().reshape(-1, 8).std(axis=0)
    # Two thousand draws give a standard deviation to 1.6 %.
    assert many == pytest.approx(true, rel=0.07)


def test_a_base_is_drawn_the_same_whoever_asks():
    first, second = (
        glued(heading_deg, 0.0, -11.0, tag_mm=0.1, turned_deg=0.4) for heading_deg in (0.0, 70.0)
    )
    alone = draw_poses(rectangles([second]), ["F1/2"]).corners_mm()
    together = draw_poses(rectangles([first, second]), ["F1/1", "F1/2"]).corners_mm()
    assert together[1::2] == pytest.approx(alone, abs=1e-9)
    assert together[::2] != pytest.approx(alone, abs=1e-2)


def test_a_length_ahead_is_as_sure_as_the_tags_place_and_one_aside_swings_with_the_front():
    base = glued(0.0, 0.0, -11.0, tag_mm=0.04, turned_deg=0.4)
    ahead, beside_the_front, beside_the_tag = (
        distance(base, point).sigma_mm for point in ((400.0, 200.0), (315.0, 300.0), (289.0, 300.0))
    )
    assert ahead == pytest.approx(0.04, rel=0.02)
    assert beside_the_front == pytest.approx(math.hypot(0.04, math.radians(0.4) * 26.0), rel=0.02)
    assert beside_the_tag == pytest.approx(0.04, rel=0.02)


def test_where_nothing_is_known_of_the_tag_a_base_turns_about_its_centre():
    base = replace(
        glued(90.0, 0.0, 0.0, tag_mm=0.1, turned_deg=0.0), tag_forward_mm=-11.0, sigma_deg=0.0
    )
    assert base.own_sigmas[0] == pytest.approx(base.sigma_mm)
    assert distance(base, (300.0, 400.0)).sigma_mm == pytest.approx(0.1, rel=1e-6)


def test_a_base_that_is_surer_than_its_heading_lets_it_be_is_sure_of_its_tag():
    base = replace(glued(10.0, 0.0, -11.0, tag_mm=0.0, turned_deg=1.0), sigma_mm=0.01)
    assert base.own_sigmas[0] == 0.0
