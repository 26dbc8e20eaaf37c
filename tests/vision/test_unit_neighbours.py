"""Bases of a unit lie flush: half hidden ones are identified by their neighbours, or not at all."""

import math

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.vision.detection.kinds import tag_ids
from tablecam.vision.fitting.dictionary import tag_patterns
from tablecam.vision.fitting.tags import TagGuesses
from tablecam.vision.identification.unit_neighbours import CONTACT_NATS, UnitNeighbours
from tablecam.vision.search.tag_finder import TagFinder
from tests.vision.pictures import CAMERA, FOOT, ROSTER, Print, cover, picture_of

PATTERNS = tag_patterns(ROSTER.dictionary, tag_ids(ROSTER))
MATES = UnitNeighbours.of(ROSTER, PATTERNS)
ROW = {tag: PATTERNS.index_of[tag] for tag in tag_ids(ROSTER)}
FINDER = TagFinder(CAMERA, ROSTER)
LINE = [Print(tag, 200, 210 - 40 * place, 0.0) for place, tag in enumerate((10, 11, 12, 13))]
"""A unit in line that faces +x: each base lies on the right of the one before."""
MOST_MM, ALL_MM = 4.6, 5.9
"""Radii of discs that hide most of the inner cells, and all of their middles."""


def known(tag, x_mm, y_mm, heading_deg):
    return TagGuesses(
        np.array([ROW[tag]]),
        np.array([[x_mm, y_mm]]),
        np.radians([heading_deg]),
        np.array([FOOT.tag_height_mm]),
        np.array([FOOT.tag_size_mm]),
    )


def tags_in(prints, hidden=(), radius_mm=MOST_MM):
    picture = picture_of(prints)
    for printed in prints:
        if printed.tag in hidden:
            cover(picture, CAMERA, printed.x_mm, printed.y_mm, radius_mm)
    return sorted(sighting.tag for sighting in FINDER.search(picture).sightings)


def test_a_base_may_have_mates_on_all_sides_as_far_as_bases_are_wide_and_deep():
    places = MATES.guesses_in_contact(known(10, 200, 150, 0.0), np.array([ROW[11]]))
    sides = {(round(x_mm), round(y_mm)) for x_mm, y_mm in places.places_mm}
    assert {(240, 150), (160, 150), (200, 190), (200, 110)} <= sides
    assert all(ROW[11] == pattern for pattern in places.pattern)


def test_table_tags_and_bases_of_other_units_have_no_mates():
    others = np.array([ROW[0], ROW[1], ROW[20]])
    assert len(MATES.guesses_in_contact(known(10, 200, 150, 0.0), others)) == 0
    assert len(MATES.guesses_in_contact(known(0, 200, 150, 0.0), others)) == 0


@given(
    turn_deg=st.floats(-180, 180),
    moved_mm=st.tuples(st.floats(-500, 500), st.floats(-500, 500)),
    beside_mm=st.tuples(st.floats(-60, 60), st.floats(-60, 60)),
)
def test_how_likely_a_mate_is_does_not_depend_on_where_the_two_lie(turn_deg, moved_mm, beside_mm):
    def nats(turn_deg, x_mm, y_mm):
        turn = math.radians(turn_deg)
        ahead, left = beside_mm
        other = known(
            11,
            x_mm + ahead * math.cos(turn) - left * math.sin(turn),
            y_mm + ahead * math.sin(turn) + left * math.cos(turn),
            turn_deg,
        )
        return MATES.evidence_nats(other, known(10, x_mm, y_mm, turn_deg))[0, 0]

    here, there = nats(0.0, 0.0, 0.0), nats(turn_deg, *moved_mm)
    assert here == pytest.approx(there)
    assert here[ROW[20]] == 0


def test_flush_mates_are_likelier_than_near_ones_and_those_than_far_ones():
    def nats(right_mm, heading_deg=0.0):
        mate = known(10, 200, 150, 0.0)
        return MATES.evidence_nats(known(11, 200, 150 - right_mm, heading_deg), mate)[0, 0, ROW[11]]

    assert nats(40.5) == CONTACT_NATS
    assert 0 < nats(52) < CONTACT_NATS
    assert 0 < nats(40, heading_deg=10) < CONTACT_NATS
    assert nats(300) == nats(40, heading_deg=90) == 0


def test_a_mate_lies_flush_next_but_one_too():
    beside = [known(11, 200, 150 - right_mm, 0.0) for right_mm in (40, 80, 120)]
    nats = [MATES.evidence_nats(each, known(10, 200, 150, 0.0))[0, 0, ROW[11]] for each in beside]
    assert nats == [CONTACT_NATS, CONTACT_NATS, 0]


def test_a_square_that_shows_a_tag_turned_is_flush_as_that_tag_faces():
    mates = known(10, 200, 150, 0.0)
    nats = MATES.evidence_nats(known(20, 200, 109.5, 90.0), mates)[0]
    assert nats[:, ROW[11]].tolist() == [0, 0, 0, CONTACT_NATS]
    assert not MATES.evidence_nats(mates, mates).any()


def test_a_tag_needs_room_for_its_base():
    mate = known(10, 200, 150, 0.0)
    free, behind, before = (known(11, 200 + ahead_mm, 150, 0.0) for ahead_mm in (40, -25, 20))
    assert [MATES.are_on_bases(tag, mate)[0] for tag in (free, behind, before)] == [
        False,
        True,
        True,
    ]


def test_bases_agree_with_the_table_file_where_they_lie_flush_with_mates():
    units = ((10, 11, 12, 13), (20, 21))
    mates = UnitNeighbours(
        np.array([0, 0, 0, 0, 1, 1]),
        np.tile([FOOT.depth_mm, FOOT.width_mm], (6, 1)).astype(float),
        np.zeros((6, 2)),
    )
    row = {tag: number for number, tag in enumerate(tag for unit in units for tag in unit)}

    def agreement(*places):
        tags, rights_mm = zip(*places, strict=True)
        many = len(tags)
        lying = TagGuesses(
            np.array([row[tag] for tag in tags]),
            np.column_stack([np.full(many, 200.0), [150.0 - right_mm for right_mm in rights_mm]]),
            np.zeros(many),
            np.full(many, FOOT.tag_height_mm),
            np.full(many, FOOT.tag_size_mm),
        )
        return mates.contact_counts(lying)

    assert agreement((10, 0), (11, 40), (12, 80.5)) == (3, 0)
    assert agreement((10, 0), (11, 60)) == (0, 0)
    assert agreement((10, 0), (11, 40), (20, 80)) == (2, 1)
    assert agreement((10, 0), (11, 40), (20, 80), (21, 120)) == (4, 0)


def test_a_base_whose_pattern_is_hidden_is_known_by_its_unit():
    assert tags_in(LINE, hidden={12}) == [10, 11, 12, 13]


def test_by_itself_such_a_base_is_not_named():
    apart = [*LINE[:2], Print(12, 330, 70, 120.0), LINE[3]]
    assert tags_in(apart, hidden={12}) == [10, 11, 13]


def test_of_two_such_bases_neither_is_named_as_each_could_be_the_other():
    assert tags_in(LINE, hidden={11, 12}, radius_mm=ALL_MM) == [10, 13]


def test_two_hidden_by_a_little_are_found_next_to_each_other():
    picture = picture_of(LINE)
    for each in LINE[:3]:
        cover(picture, CAMERA, each.x_mm + 6, each.y_mm + 5, 4.0)
    assert sorted(seen.tag for seen in FINDER.search(picture).sightings) == [10, 11, 12, 13]


@pytest.mark.parametrize("stranger", [47, 60, 121, 200])
@pytest.mark.parametrize("is_hidden", [False, True])
def test_a_tag_of_no_roster_is_not_taken_for_the_mate_whose_place_it_has(stranger, is_hidden):
    rank = [LINE[0], LINE[1], Print(stranger, 200, 130, 0.0), LINE[3]]
    picture = picture_of(rank)
    if is_hidden:
        cover(picture, CAMERA, 204, 134, 3.5)
    assert sorted(seen.tag for seen in FINDER.search(picture).sightings) == [10, 11, 13]


def test_an_empty_place_in_the_line_is_not_taken_for_the_base_that_is_gone():
    assert tags_in([LINE[0], LINE[1], LINE[3]]) == [10, 11, 13]


def test_a_dark_card_with_a_white_edge_in_the_line_is_no_base():
    picture = picture_of([LINE[0], LINE[1], LINE[3]])
    corners = [[200 + x, 130 + y, 3.0] for x, y in ((-9, -9), (9, -9), (9, 9), (-9, 9))]
    for shrink, grey in ((1.0, 220), (0.8, 30)):
        middle = np.array([200, 130, 3.0])
        spots = CAMERA.to_image(middle + shrink * (np.array(corners) - middle))
        cv2.fillConvexPoly(picture, np.rint(spots).astype(int), grey, cv2.LINE_AA)
    assert sorted(seen.tag for seen in FINDER.search(picture).sightings) == [10, 11, 13]
