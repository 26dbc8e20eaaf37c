"""From tags to bases: the uncertainty of a base from its tag's place and heading."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.geometry.rectangles import rectangles
from tablecam.rules.games import known_games
from tablecam.table.model import Position, TableSize
from tablecam.table.position_file import position_from_json, position_to_json
from tablecam.table.roster import BaseType
from tablecam.uncertainty.samples import draw_poses
from tablecam.vision.tracking.position import position_of
from tablecam.vision.tracking.tracking import BaseTracker
from tests.vision.sightings import CAMERA, FOOT, ROSTER, SIGMA_DEG, SIGMA_MM, base_poses, sighting

offsets_mm = st.floats(-12.0, 12.0)


@given(heading_deg=st.floats(0.0, 359.0), right_mm=offsets_mm, forward_mm=offsets_mm)
def test_of_a_base_the_tags_place_is_as_sure_as_it_was_seen(heading_deg, right_mm, forward_mm):
    kind = BaseType("foot", 40, 40, 14, tag_right_mm=right_mm, tag_forward_mm=forward_mm)
    (pose,) = base_poses([sighting(10, 300.0, 200.0, heading_deg)], [kind], CAMERA)
    known = rectangles([pose])
    swung_mm = math.radians(SIGMA_DEG) * known.swings_mm[0]
    # The error of the centre, averaged over x and y, is what the base states.
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


GLUED = replace(FOOT, glue_sigma_mm=0.4, glue_sigma_deg=0.8, cut_sigma_mm=0.2)
GLUED_ROSTER = replace(ROSTER, units=tuple(replace(unit, base_type=GLUED) for unit in ROSTER.units))


def test_no_number_of_pictures_shrinks_how_truly_a_tag_is_glued_on():
    tracker = BaseTracker(GLUED_ROSTER, CAMERA)
    for picture in range(20):
        (base,) = tracker.update((sighting(10, 300.0, 200.0),), 0.1 * picture)
    glued = math.hypot(0.4, 0.1, math.radians(0.8) * math.hypot(4, 6) / math.sqrt(2))
    assert glued < base.pose.sigma_mm < glued + 0.01
    assert 0.8 < base.pose.sigma_deg < 0.8 + 0.03


def test_flush_bases_are_one_row_whatever_their_glue_and_average_it():
    askew = (sighting(10, 500.0, 300.0, 91.0), sighting(11, 540.7, 300.5, 89.0))
    assert all(base.row is None for base in _unit_of(askew, ROSTER).bases)
    bases = _unit_of(askew, GLUED_ROSTER).bases
    assert bases[0].row is not None
    assert bases[0].heading_deg == pytest.approx(bases[1].heading_deg, abs=0.1)
    assert bases[0].sigma_mm > 0.4 / math.sqrt(2)
    # However straight a row is, its bases are only as alike as they are cut.
    assert bases[0].own_sigmas[0] >= 0.2


def test_a_position_says_what_of_its_sigmas_is_glue_and_reads_it_back():
    unit = _unit_of((sighting(10, 500.0, 300.0),), GLUED_ROSTER)
    position = Position("free", TableSize(1200, 800), (unit,))
    document = position_to_json(position)
    glue = {"sigma_mm": 0.4, "sigma_deg": 0.8, "cut_sigma_mm": 0.2}
    assert document["units"][0]["bases"][0]["glue"] == glue
    assert position_from_json(document, games=known_games()) == position


def test_errors_of_the_glue_turn_with_their_base():
    """A base turned about errs the other way; in a straight move both errors are the same."""
    (pose,) = base_poses([sighting(10, 300.0, 200.0)], [GLUED], CAMERA)
    errors_mm = [
        draw_poses(rectangles([there]), ["10"]).centres_mm - there.place_mm
        for there in (
            pose,
            replace(pose, y_mm=600.0),
            replace(pose, heading_deg=pose.heading_deg + 180.0),
        )
    ]
    assert errors_mm[1] == pytest.approx(errors_mm[0])
    assert errors_mm[2] == pytest.approx(-errors_mm[0], abs=0.03)


def _unit_of(sightings, roster):
    (unit,) = position_of(BaseTracker(roster, CAMERA).update(sightings, 0.0), roster, None).units
    return unit
