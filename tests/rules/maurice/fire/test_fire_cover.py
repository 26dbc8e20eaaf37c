"""What obstructs fire, what covers from it, and what hides (M-7.16 to M-7.19, M-5.9)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tablecam.rules.maurice.fire.fire import BaseFire
from tablecam.testing import turned
from tests.rules.maurice.firing import (
    SOUTH,
    box,
    cannon,
    enemy,
    foot,
    only,
    shooters,
    targets,
)
from tests.rules.maurice.tables import gun

TREES = box("woods", 588, 440, 612, 462)


def test_t_25_a_partial_obstruction_ends_the_zone_one_bw_on():
    fire = shooters(cannon(), gun("B1", "british", 600, 540, SOUTH), terrain=[TREES])
    assert fire["F1/1"] == BaseFire("F1/1", (), "obstruction")


def test_t_25_within_one_bw_of_its_first_point_it_stops_nothing_and_covers_nobody():
    fire = shooters(cannon(), gun("B1", "british", 600, 499, SOUTH), terrain=[TREES])
    option = only(fire["F1/1"])
    assert (option.angle, option.distance_mm, option.to_hit) == ("ahead", 79, 4)
    assert not option.has_cover


def test_m_7_17_what_it_reaches_includes_one_bw_exactly_and_terrain_past_the_target_is_nothing():
    exactly = shooters(cannon(), gun("B1", "british", 600, 500, SOUTH), terrain=[TREES])
    assert only(exactly["F1/1"]).distance_mm == 80
    past = shooters(cannon(), enemy(100), terrain=[box("woods", 400, 545, 800, 600)])
    assert targets(past["F1/1"]) == {"B1": ("ahead", 4)}


WALL = box("wall", 400, 460, 800, 465)


def test_t_26_a_wall_before_the_nearest_covers_him_and_hides_the_one_behind():
    fire = shooters(cannon(), enemy(75), enemy(125, 600, "B2"), terrain=[WALL])
    assert targets(fire["F1/1"]) == {"B1": ("ahead", 5)}
    alone = shooters(cannon(), enemy(101, 600, "B2"), terrain=[WALL])
    assert alone["F1/1"].blocked == "obstruction"


def test_t_26_who_is_less_than_one_bw_past_a_wall_and_not_wholly_behind_it_has_no_cover():
    short = box("wall", 400, 460, 600, 465)
    fire = shooters(cannon(), enemy(95), terrain=[short])
    assert targets(fire["F1/1"]) == {"B1": ("ahead", 4)}
    assert not only(fire["F1/1"]).has_cover


@pytest.mark.parametrize(
    ("turned_deg", "has_cover"), [(0.0, False), (-0.5, False), (-12.0, False), (0.5, True)]
)
def test_m_7_19_only_what_the_very_end_of_a_zone_holds_of_a_base_is_asked_for_cover(
    turned_deg, has_cover
):
    """The wall is on the left; a base that is turned left is held by its left end alone."""
    short = box("wall", 400, 460, 600, 465)
    upright = enemy(99)
    about = turned(upright, turned_deg, (600, 499))
    met = only(shooters(cannon(), about)["F1/1"])
    lower_mm = 100 - met.distance_mm  # So that its first part in the zone lies at its very end.
    bases = tuple(replace(base, y_mm=base.y_mm + lower_mm) for base in about.bases)
    option = only(shooters(cannon(), replace(about, bases=bases), terrain=[short])["F1/1"])
    assert (option.angle, option.distance_mm) == ("ahead", pytest.approx(100))
    assert option.has_cover == has_cover


@pytest.mark.parametrize(("gap_mm", "back", "forth"), [(0.0, 4, 5), (1.0, 4, 5), (1.5, 5, 5)])
def test_t_26_behind_a_wall_only_who_is_flush_shoots_over_it_as_over_nothing(gap_mm, back, forth):
    british, wall = enemy(25 + gap_mm), box("wall", 400, 420, 800, 425)
    assert only(shooters(cannon(), british, terrain=[wall])["F1/1"]).to_hit == forth
    fire = shooters(british, cannon(), terrain=[wall])
    assert only(fire["B1/2"]).to_hit == back


def test_m_7_18_ones_own_wall_does_not_shorten_the_zone_and_a_wall_near_by_does():
    own, near = box("wall", 500, 400, 660, 405), box("wall", 500, 410, 660, 415)
    assert targets(shooters(foot(), enemy(150), terrain=[own])["F1/2"]) == {"B1": ("ahead", 4)}
    assert shooters(foot(), enemy(150), terrain=[near])["F1/2"].blocked == "obstruction"


def test_m_7_18_a_wall_along_part_of_the_front_is_not_ones_own_but_two_pieces_may_be():
    part = box("wall", 500, 400, 612, 405)
    rest = replace(box("wall", 612, 400, 660, 405), id="rest")
    assert shooters(cannon(), enemy(150), terrain=[part])["F1/1"].blocked == "obstruction"
    fire = shooters(cannon(), enemy(150), terrain=[part, rest])
    assert targets(fire["F1/1"]) == {"B1": ("ahead", 4)}


# Cover.


def test_m_7_19_a_base_wholly_in_woods_has_cover_and_one_that_looks_out_has_not():
    for low, has_cover in ((430, True), (440, False)):
        woods = box("woods", 300, low, 900, 520)
        near = gun("B1", "british", 600, 450, SOUTH)
        assert only(shooters(cannon(), near, terrain=[woods])["F1/1"]).has_cover == has_cover


def test_m_7_19_bases_of_one_unit_may_need_different_numbers():
    half = box("wall", 400, 460, 580, 465)
    fire = shooters(foot(), enemy(80, 580), terrain=[half])
    assert [only(each).to_hit for each in fire.values()] == [5, 5, 4, 4]


def test_m_7_19_a_wall_as_wide_as_the_zone_covers_and_a_gap_in_it_does_not():
    whole = box("wall", 580, 460, 620, 465)
    gap = [box("wall", 580, 460, 598, 465), replace(box("wall", 602, 460, 620, 465), id="other")]
    assert only(shooters(cannon(), enemy(80), terrain=[whole])["F1/1"]).to_hit == 5
    assert only(shooters(cannon(), enemy(80), terrain=gap)["F1/1"]).to_hit == 4


def test_m_7_19_a_trench_covers_and_rough_ground_does_not():
    for kind, to_hit in (("trench", 5), ("rough", 4), ("sunken_road", 4), ("hill", 4)):
        ground = box(kind, 400, 460, 800, 465)
        assert only(shooters(cannon(), enemy(80), terrain=[ground])["F1/1"]).to_hit == to_hit


def test_the_best_of_several_angles_is_listed_one_past_the_cover():
    """The gun to the left front is behind a short wall, which an angle goes round."""
    short = box("wall", 495, 470, 530, 475)
    fire = shooters(cannon(), gun("B1", "british", 510, 500, SOUTH), terrain=[short])
    option = only(fire["F1/1"])
    assert (option.angle, option.to_hit, option.has_cover) == ("left", 4, False)


# Sight.


def test_m_5_9_a_crest_hides_and_a_hill_does_not():
    crest, hill = box("crest", 300, 450, 900, 452), box("hill", 300, 430, 900, 600)
    assert shooters(cannon(), enemy(100), terrain=[crest])["F1/1"].blocked == "no target"
    assert targets(shooters(cannon(), enemy(100), terrain=[hill])["F1/1"]) == {"B1": ("ahead", 4)}


def test_m_5_9_one_line_past_a_crest_is_enough():
    short = box("crest", 300, 450, 601, 452)
    seen = shooters(cannon(), gun("B1", "british", 600, 520, SOUTH), terrain=[short])
    assert targets(seen["F1/1"]) == {"B1": ("ahead", 4)}
