"""How units lie to each other on the table: the sheet's worked examples with real bases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import shapely

from tablecam.geometry.moves.poses import faced, shifted
from tablecam.geometry.sight import free_line
from tablecam.rules.miniatures.ground import axes_of, move_sigma_mm
from tablecam.rules.syw_d6.field import Field
from tablecam.rules.syw_d6.fire import Ban, dense_as, fire_pool
from tablecam.table.model import Glue
from tests.rules.syw_d6.battles import DOWN, INCH_MM, box, commander, table, unit


def shot(firer: Any, target: Any, *others: Any) -> Any:
    return Field(table(firer, target, *others)).shot(firer, target)


def dice(firer: Any, target: Any, *others: Any) -> int:
    ground = Field(table(firer, target, *others))
    lies = ground.shot(firer, target)
    assert not isinstance(lies, Ban), lies.because
    return fire_pool(ground.troops[firer.id], ground.target_of(firer, target), lies).dice


# A line of 12 files, 8 in wide; the target ahead of 9 of them.
FIRER = unit("F1", 20, 20)
TARGET = unit("A1", 22, 22, DOWN)


def test_figures_that_see_the_target_ahead_count_in_full_s_d_4():
    lies = shot(FIRER, TARGET)
    assert lies.range_in == pytest.approx(2)
    assert [(part.figures, part.share_ahead) for part in lies.sections] == [(24, 0.75)]
    assert dice(FIRER, TARGET) == 22


def test_glue_errs_with_its_base_and_cancels_in_a_straight_move_s_b_8():
    glued = [replace(base, sigma_mm=1.0, glue=Glue(0.6, 0.0)) for base in FIRER.bases]
    there = shifted(glued, 0.0, 100.0)
    assert move_sigma_mm(FIRER.bases, there) == pytest.approx(1.0)
    assert move_sigma_mm(glued, there) == pytest.approx(0.8 * 2**0.5)
    assert move_sigma_mm(glued, faced(there, 180.0)) == pytest.approx((2 + 2 * 0.36) ** 0.5)


def test_long_range_halves_s_d_8():
    assert dice(FIRER, unit("A1", 22, 25, DOWN)) == 11


def test_disorder_range_and_cover_halve_each_s_d_5():
    wood = box("wood", "woods", 10, 23, 40, 30)
    firer = replace(FIRER, state={"disordered": True})
    assert dice(firer, unit("A1", 22, 25, DOWN), wood) == 2


def test_an_attack_column_is_dense_and_light_infantry_is_not_s_d_10():
    column = unit("A1", 22, 22, DOWN, bases=9, ranks=3, wide_in=8 / 3)
    assert Field(table(column)).troops["A1"].formation == "march_column"
    french = replace(column, extra=column.extra | {"nation": "French", "ranks_per_base": 1})
    assert Field(table(french)).troops["A1"].formation == "attack_column"
    assert dice(FIRER, french) == 24
    light = unit("A1", 22, 22, DOWN, bases=8, ranks=2, weight="light", experience="trained")
    assert dice(FIRER, light) == 22


def test_files_count_as_ranks_across_the_heading_and_that_is_said_s_d_10():
    squadron = unit("A1", 25, 20.2, DOWN, arm="cavalry", bases=2)
    ground = Field(table(FIRER, squadron))
    target = ground.target_of(FIRER, squadron)
    because = fire_pool(ground.troops["F1"], target, ground.shot(FIRER, squadron)).because
    said = "dense (seen from the side; our reading: its files count as 6 ranks) +2"
    assert because[-1] == said
    far = Field(table(FIRER, unit("A1", 20, 25, DOWN, arm="cavalry", bases=2)))
    assert not dense_as(far.target_of(*far.units.values()))


def gun(**more: Any) -> Any:
    return unit("F1", 20, 20, bases=1, figures=6, files=6, arm="artillery", **more)


@pytest.mark.parametrize(
    ("x_in", "y_in", "expected"),
    [(25, 30, 4), (20, 26, 9), (20, 26.1, 7), (20, 32.1, 4)],
    ids=["in the cone", "canister", "short", "long"],
)
def test_guns_fire_in_a_cone_and_halve_what_is_not_ahead_s_d_7(x_in, y_in, expected):
    assert dice(gun(), unit("A1", x_in, y_in, DOWN, bases=1)) == expected


def test_a_target_outside_of_the_cone_cannot_be_shot_s_d_7():
    assert shot(gun(), unit("A1", 25.8, 30, DOWN, bases=1)).rule == "S-D.7"


@pytest.mark.parametrize("firer", [FIRER, gun()], ids=["muskets", "gun"])
def test_what_is_drawn_is_the_arc_and_not_a_ring_s_d_6(firer: Any):
    ground = Field(table(firer))
    arcs = [shapely.Polygon(arc.points_mm) for arc in ground.arcs(firer)]
    assert len(arcs) == len(ground.troops["F1"].ranges.all_in)
    front_mm, far_mm = 20 * 25.4, ground.troops["F1"].ranges.greatest_in * 25.4
    farthest = max(arcs, key=lambda arc: arc.area)
    assert farthest.bounds[1::2] == pytest.approx((front_mm, front_mm + far_mm), abs=0.1)


def test_a_light_gun_has_no_long_range_s_d_8():
    assert shot(gun(gun="light"), unit("A1", 20, 32.1, DOWN)).rule == "S-D.8"


def test_units_between_block_the_sight_s_e_1():
    screen = unit("F2", 22, 21.5, bases=8)
    assert shot(FIRER, unit("A1", 22, 25, DOWN), screen).rule == "S-E.1"


def test_a_range_runs_to_the_part_that_is_seen_s_d_6_s_d_8():
    target, screen = unit("A1", 25, 24, 225), unit("A2", 24.5, 21.5, DOWN, bases=2)
    bare, lies = shot(FIRER, target), shot(FIRER, target, screen)
    assert lies.range_in > bare.range_in + 0.1
    edge, outlines = axes_of(FIRER).edge, Field(table(FIRER, target, screen)).outlines
    near = outlines["A1"].intersection(edge.buffer(lies.range_in * INCH_MM - 1.2))
    assert near.area > 0.5
    assert free_line(edge, near, outlines["A2"]) is None
    reached = outlines["A1"].intersection(edge.buffer(lies.range_in * INCH_MM + 1.2))
    assert free_line(edge, reached, outlines["A2"]) is not None


def test_terrain_between_cannot_be_fired_through_s_j_10():
    assert shot(FIRER, unit("A1", 22, 25, DOWN), box("w", "woods", 0, 21, 72, 23)).rule == "S-E.1"
    open_ground = box("w", "field", 0, 21, 72, 23, designated=False)
    assert shot(FIRER, unit("A1", 22, 25, DOWN), open_ground).range_in == pytest.approx(5)


@pytest.mark.parametrize(("gap_in", "rule"), [(11.9, "S-E.5"), (12.1, None), (10.5, "S-E.5")])
def test_a_gap_between_friends_must_be_wide_enough_s_e_5(gap_in, rule):
    friends = [
        unit(f"F{place}", 20 + sign * (gap_in / 2 + 4), 23) for place, sign in ((2, -1), (3, 1))
    ]
    lies = shot(FIRER, unit("A1", 20, 25.5, DOWN), *friends)
    assert (lies.rule if isinstance(lies, Ban) else None) == rule


def test_a_gap_of_twice_a_narrow_front_suffices_s_e_5():
    friends = [unit(f"F{place}", 20 + sign * 9.25, 23) for place, sign in ((2, -1), (3, 1))]
    narrow = unit("A1", 20, 25.5, DOWN, bases=2, wide_in=2.5)
    assert not isinstance(shot(FIRER, narrow, *friends), Ban)


def test_a_wall_covers_who_stands_behind_it_s_j_12():
    wall = box("wall", "wall", 15, 21.8, 30, 22)
    ground = Field(table(FIRER, TARGET, wall))
    assert ground.target_of(FIRER, TARGET).cover == "cover"
    assert ground.target_of(TARGET, FIRER).cover is None


def test_hill_to_hill_shoots_over_what_stands_lower_s_e_4():
    hills = box("h1", "hill", 10, 10, 30, 20.5), box("h2", "hill", 10, 45, 30, 48)
    guns, target = gun(), unit("A1", 20, 46, DOWN)
    below = unit("F2", 20, 33.5, bases=8)
    assert not isinstance(shot(guns, target, below, *hills), Ban)
    near = unit("F2", 20, 25, bases=8)
    assert shot(guns, target, near, *hills).rule == "S-E.1"


@pytest.mark.parametrize(("y_in", "near"), [(2.0, True), (1.9, False)])
def test_command_reaches_18_inches_s_k_1(y_in, near):
    ground = Field(table(FIRER, TARGET, commander("F", 20, y_in - 1)))
    assert ground.is_commanded(FIRER) is near


def test_a_commander_of_another_brigade_does_not_count_s_k_1():
    other = replace(FIRER, extra=FIRER.extra | {"brigade": "another"})
    assert not Field(table(other, TARGET, commander("F", 20, 18, "brigade"))).is_commanded(other)


def test_friends_in_sight_support_unless_disordered_or_hidden_s_h_7():
    friend = unit("F2", 40, 20)
    assert Field(table(FIRER, friend)).has_friends_in_sight(FIRER)
    shaken = replace(friend, state={"disordered": True})
    assert not Field(table(FIRER, shaken)).has_friends_in_sight(FIRER)
    wood = box("w", "woods", 28, 0, 32, 48)
    assert not Field(table(FIRER, friend, wood)).has_friends_in_sight(FIRER)


def test_bases_that_do_not_touch_are_disordered_s_l_8():
    loose = replace(FIRER, bases=(*FIRER.bases[:3], replace(FIRER.bases[3], y_mm=400.0)))
    troops = Field(table(loose)).troops["F1"]
    assert (troops.formation, troops.is_disordered) == ("none", True)


def test_a_hill_breaks_the_sight_s_e_2():
    assert shot(FIRER, unit("A1", 22, 25, DOWN), box("h", "hill", 0, 21, 72, 23)).rule == "S-E.1"


def test_from_a_hill_one_shoots_over_friends_that_are_far_enough_s_e_3():
    hill, guns = box("h", "hill", 10, 10, 30, 20.5), gun()
    target = unit("A1", 20, 40, DOWN)
    assert shot(guns, target, unit("F2", 20, 32, bases=8), hill).rule == "S-E.1"
    assert not isinstance(shot(guns, target, unit("F2", 20, 34, bases=8), hill), Ban)


def test_command_bases_block_their_own_sides_sight_alone_s_k_2():
    narrow = unit("F1", 20, 20, bases=1, figures=6)
    target = unit("A1", 20, 25, DOWN, bases=1, wide_in=1)
    staff = replace(commander("F", 20, 22), pose=unit("F9", 20, 23, bases=1, wide_in=4).bases[0])
    assert shot(narrow, target, staff).rule == "S-E.1"
    theirs = replace(staff, id="A", side="allied")
    assert not isinstance(shot(narrow, target, theirs), Ban)


def test_designated_says_whether_terrain_counts_s_j_11():
    hard = box("town", "building", 15, 21.5, 30, 25, hard_cover=True)
    assert Field(table(FIRER, TARGET, hard)).target_of(FIRER, TARGET).cover == "hard"


def test_no_sight_runs_along_the_front_of_who_stands_between_s_e_1_s_d_6():
    # B1 and B2 stand in line, F1 against the front of B2, and F2 beyond it.
    first, second = unit("A1", 20, 20, DOWN), unit("A2", 28, 20, DOWN)
    ground = Field(table(first, second, unit("F1", 28, 19.98, bases=2), unit("F2", 34, 20)))
    shot = ground.shot(ground.units["A1"], ground.units["F2"])
    assert (shot.rule, shot.because) == ("S-E.1", "F2 is hidden by what stands between")
