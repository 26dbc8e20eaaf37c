"""A base hidden by smoke, dice or figures is named by its place beside others and what it shows."""

from dataclasses import replace
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.vision.detection.points import expected_values, tag_points
from tablecam.vision.fitting.dictionary import all_patterns
from tablecam.vision.identification.competing_placements import (
    CompetingPlacements,
    odds_of_unit_neighbour,
)
from tablecam.vision.identification.occluded_placement import ISOLATED, OccludedPlacement
from tablecam.vision.identification.occlusion_likelihood import costs_with_occluders
from tablecam.vision.search.tag_finder import TagFinder
from tests.benchmarks.scores import is_right
from tests.benchmarks.tables import half_hidden_pictures
from tests.vision.pictures import CAMERA, ROSTER, Print, cover, picture_of

FINDER = TagFinder(CAMERA, ROSTER)
LINE = [Print(tag, 200, 210 - 40 * place, 0.0) for place, tag in enumerate((10, 11, 12, 13))]
"""A unit in line that faces +x: each base lies on the right of the one before."""
GONE = (200, 130)
"""The place of base 12's tag, if there."""
TURNED = expected_values(all_patterns(ROSTER.dictionary).cells, 0.3)
MEANT = TURNED[:, 0]
POINTS = tag_points(6)


def lay(picture, corners_mm, grey):
    """Draws something flat in one grey, by its corners relative to the place of base 12."""
    spots = np.array([[GONE[0] + x_mm, GONE[1] + y_mm, 3.0] for x_mm, y_mm in corners_mm])
    cv2.fillPoly(picture, [np.rint(CAMERA.to_image(spots)).astype(int)], grey, cv2.LINE_AA)


def square(half_mm):
    return [(-half_mm, -half_mm), (half_mm, -half_mm), (half_mm, half_mm), (-half_mm, half_mm)]


def puff(picture, right_mm, ahead_mm, radius_mm, grey=225):
    """A puff of smoke: white, and round."""
    turns = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    rim = np.stack([ahead_mm + radius_mm * np.cos(turns), -right_mm + radius_mm * np.sin(turns)], 1)
    lay(picture, rim, grey)


def names(picture):
    return sorted(seen.tag for seen in FINDER.search(picture).sightings)


def nothing_there(picture):
    """Bare table."""


def a_figure(picture):
    cover(picture, CAMERA, *GONE, 6.0)


def a_dark_square(picture):
    lay(picture, square(7.5), 40)


def a_die(picture):
    lay(picture, square(6.5), 225)
    for x_mm, y_mm in ((-3, -3), (3, 3), (0, 0), (3, -3), (-3, 3)):
        cover(picture, CAMERA, GONE[0] + x_mm, GONE[1] + y_mm, 1.3)


def a_card_with_a_frame(picture):
    for half_mm, grey in ((9.5, 225), (7.5, 40), (5.0, 225)):
        lay(picture, square(half_mm), grey)


def smoke(picture):
    for right_mm, ahead_mm, radius_mm in ((-3, 2, 5), (4, 1, 4), (0, -4, 5)):
        puff(picture, right_mm, ahead_mm, radius_mm)


@pytest.mark.parametrize(
    "thing", [nothing_there, a_figure, a_dark_square, a_die, a_card_with_a_frame, smoke]
)
def test_no_base_is_made_up_where_a_hand_took_one_away(thing):
    picture = picture_of([LINE[0], LINE[1], LINE[3]])
    thing(picture)
    assert names(picture) == [10, 11, 13]


@pytest.mark.parametrize(
    "puffs",
    [
        ((-5, 3.5, 4), (-4, -2, 3.5), (-7, 0, 4)),
        ((5, -3.5, 4), (4, 2, 3.5), (7, 0, 4)),
        ((0, -5, 4), (4, -5, 3.5), (-4.5, -6, 4)),
    ],
    ids=["on the left", "on the right", "behind"],
)
def test_a_base_is_named_under_smoke_of_no_simple_shape(puffs):
    picture = picture_of(LINE)
    for right_mm, ahead_mm, radius_mm in puffs:
        puff(picture, right_mm, ahead_mm, radius_mm)
    assert names(picture) == [10, 11, 12, 13]


def figures(picture, place):
    """Figures of many greys across the front third of a tag of the line."""
    for number, aside_mm in enumerate(np.arange(-10, 11, 4.0)):
        y_mm = 80 - 40 * place + aside_mm
        corners = [(2.4, y_mm - 2), (12, y_mm - 2), (12, y_mm + 2), (2.4, y_mm + 2)]
        lay(picture, corners, (60, 150, 100, 190, 40)[(number + place) % 5])


def test_a_row_behind_its_own_figures_is_named_together_where_no_base_is_named_alone():
    foot = ROSTER.units[0]
    units = {"F1": foot.tags, "F2": (30, 31, 32, 33), "F3": (40, 41, 42, 43)}
    roster = replace(
        ROSTER, units=tuple(replace(foot, id=unit, tags=tags) for unit, tags in units.items())
    )
    finder = TagFinder(CAMERA, roster)
    # A unit in full view shows how bright paint and paper are.
    clear = [Print(tag, 90, 210 - 40 * place, 0.0) for place, tag in enumerate(units["F2"])]
    row, alone = picture_of(LINE + clear), picture_of([LINE[2], *clear])
    for place in range(4):
        figures(row, place)
    figures(alone, 2)
    seen_of_row = {seen.tag for seen in finder.search(row).sightings} - set(units["F2"])
    assert len(seen_of_row) >= 3
    assert seen_of_row <= set(units["F1"])
    assert {seen.tag for seen in finder.search(alone).sightings} == set(units["F2"])


def test_what_shows_no_paint_of_a_base_is_not_taken_for_it():
    picture = picture_of(LINE)
    puff(picture, 0, 0, 7.0)
    assert names(picture) == [10, 11, 13]


def test_a_table_file_is_believed_less_the_more_of_its_names_are_elsewhere():
    odds = [odds_of_unit_neighbour(60, 0, strangers) for strangers in (0, 1, 5, 20)]
    assert odds == sorted(odds, reverse=True)
    assert (
        odds_of_unit_neighbour(60, 3, 0)
        == odds_of_unit_neighbour(60, 0, 3)
        < odds_of_unit_neighbour(70, 0, 3)
    )


@given(
    tag=st.integers(0, len(MEANT) - 1),
    hidden=st.lists(
        st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.floats(0.5, 1.4)), min_size=1, max_size=3
    ),
    grey=st.floats(0.0, 1.0),
)
def test_what_lies_over_a_tag_costs_less_than_to_say_that_nothing_of_it_is_there(tag, hidden, grey):
    seen = MEANT[tag].copy()
    for right, up, radius in hidden:
        seen[np.hypot(POINTS.right - right, POINTS.up - up) < radius] = grey
    costs, nothing = costs_with_occluders(seen, MEANT[[tag]], noise=0.05)
    clear, _ = costs_with_occluders(MEANT[tag], MEANT[[tag]], noise=0.05)
    assert clear[0] <= costs[0] < nothing


@given(tag=st.integers(0, len(MEANT) - 1))
def test_a_tag_that_is_wholly_seen_costs_least_as_itself(tag):
    costs, _ = costs_with_occluders(MEANT[tag], MEANT, noise=0.05)
    assert costs.argmin() == tag


def placement(seen, tag=50, *, favoured=(), nats=10.0):
    """The placement without knowledge of the unit, or with some turned tags favoured."""
    sight = SimpleNamespace(patterns=SimpleNamespace(side_cells=6), gain_grey=120.0, noise_grey=6.0)
    fit = SimpleNamespace(
        gain_grey=np.array([120.0]), tags=SimpleNamespace(sizes_mm=np.array([15.0]))
    )
    unit_nats = np.zeros((4, len(MEANT)))
    unit_nats[favoured] = nats if favoured else 0
    ring = TURNED.mean(axis=(0, 1))
    return OccludedPlacement(sight, fit, seen, TURNED, ring, tag, unit_nats, ISOLATED, ())


def right_half_hidden(tag):
    return np.where(POINTS.right > 0.5, np.float32(0.5), MEANT[tag])


ANY, ODDS = np.ones(len(MEANT), dtype=np.bool_), 300.0
RIVAL, QUARTERS = 213, 1
"""What the visible half of tag 50 might show instead, with its turn."""


def test_a_half_hidden_tag_is_named_unless_a_unit_beside_it_lacks_a_like_one_that_faces_so():
    seen = right_half_hidden(50)
    assert placement(seen).is_sure(ANY, ODDS)
    assert placement(seen, favoured=(0, RIVAL)).is_sure(ANY, ODDS)
    assert not placement(seen, favoured=(QUARTERS, RIVAL)).is_sure(ANY, ODDS)
    not_missing = ANY & (np.arange(len(MEANT)) != RIVAL)
    assert placement(seen, favoured=(QUARTERS, RIVAL)).is_sure(not_missing, ODDS)


def test_a_name_is_not_sure_where_its_tag_may_lie_at_another_place():
    here = placement(right_half_hidden(50))
    clear, other, bare = (placement(seen) for seen in (MEANT[50], MEANT[12], 0.5 + 0 * MEANT[50]))
    assert here.is_sure(ANY, ODDS)
    assert here.is_sure(ANY, ODDS, [other, bare])
    assert not here.is_sure(ANY, ODDS, [bare, clear])


@pytest.mark.parametrize(("probability", "rows"), [(0.9, []), (0.0, [0])])
def test_beside_its_unit_a_name_is_not_sure_either_where_its_tag_may_lie_elsewhere(
    probability, rows
):
    there = SimpleNamespace(
        is_likely=lambda free, odds: False,
        probability=lambda free, odds: probability,
        is_framed=True,
        worth=100.0,
    )
    fits = SimpleNamespace(
        tags=SimpleNamespace(
            places_mm=np.array([[0.0, 0.0], [40.0, 0.0]]), sizes_mm=np.array([15.0, 15.0])
        )
    )
    places = CompetingPlacements(
        fits,
        np.array([50, 50]),
        np.array([120.0, 100.0]),
        (placement(right_half_hidden(50)), there),
    )
    assert places.identified(ANY, ODDS).tolist() == rows


@pytest.mark.parametrize(("is_twice", "named"), [(False, [10, 11, 12]), (True, [10, 11])])
def test_no_name_is_given_where_another_place_by_the_unit_looks_like_its_tag_too(is_twice, named):
    places = [GONE, (225, 100)][: 1 + is_twice]
    picture = picture_of([*LINE[:2], *(Print(12, *place, 0.0) for place in places)])
    for (x_mm, y_mm), aside_mm in zip(places, (4, -4), strict=False):
        cover(picture, CAMERA, x_mm + aside_mm, y_mm + 4, 5.0)
    assert names(picture) == named


def test_no_half_hidden_tag_of_a_crowded_table_takes_the_name_of_another():
    # Two of this table's tags took others' names, one of them that of a tag elsewhere.
    (picture,) = half_hidden_pictures(2.5, looks=1, seed=3005, tilt_deg=40.0)
    seen = TagFinder(picture.camera, picture.roster).search(picture.grey).sightings
    assert all(is_right(sighting, picture.tags) for sighting in seen)
    hidden = {tag for tag in picture.places if 0.5 <= picture.tags[tag].visible < 0.85}
    assert len(hidden & {sighting.tag for sighting in seen}) > len(hidden) / 2
