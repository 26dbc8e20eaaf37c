"""Which bases may shoot at which units, and the number to hit (chapter 7)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tablecam.rules.maurice.fire.targets import BaseFire
from tablecam.testing import turned
from tests.rules.maurice.firing import FRONT, aims, cannon, enemy, foot, only, shooters, targets
from tests.rules.maurice.tables import SOUTH, box, column, gun, line, massed

AHEAD = {"B1": ("ahead", 4)}

# The rulebook's examples.


def test_t_23_who_has_nobody_ahead_chooses_at_an_angle_who_has_must_take_him():
    horse = massed("B2", "british", 450, 520, SOUTH)
    fire = shooters(foot(), enemy(100, 625), horse)
    assert targets(fire["F1/1"]) == {"B1": ("right", 4), "B2": ("left", 3)}
    assert [targets(fire[f"F1/{place}"]) for place in (2, 3, 4)] == [AHEAD] * 3


def test_t_24_a_friends_corner_ahead_turns_the_fire_and_the_nearest_ahead_is_the_target():
    friend = massed("F2", "french", 470, 480)
    fire = shooters(foot(), enemy(130, 520), enemy(140, 684, "B2"), friend)
    assert [targets(each) for each in fire.values()] == [
        {"B1": ("right", 4)},
        AHEAD,
        AHEAD,
        {"B2": ("ahead", 4)},
    ]


def test_t_27_pluses_and_minuses_add_up():
    covered = aims(foot(disruption=2), enemy(75), base="F1/2", terrain=[WALL])
    assert covered == {"B1": ("ahead", 6)}
    option = only(shooters(foot(), column("B1", "british", 560, 500))["F1/2"])
    assert (option.to_hit, option.is_enfilade, option.is_dense) == (2, True, True)


def test_t_29_a_short_target_at_an_angle_forbids_the_long_one_ahead():
    near, far = gun("B1", "british", 690, 510, SOUTH), enemy(400, 600, "B2")
    option = only(shooters(cannon(), near, far)["F1/1"])
    assert (option.target, option.range, option.angle) == ("B1", "short", "right")
    assert (option.dice, option.to_hit) == (2, 4)


# Who may fire.


def test_m_7_7_columns_and_horse_do_not_fire():
    fire = shooters(column("F1", "french", 600, 320), enemy(100))
    assert [each.blocked for each in fire.values()] == ["column"] * 4
    assert shooters(massed("F1", "french", 600, 360), enemy(100)) == {}


@pytest.mark.parametrize("kind", ["stream", "marsh", "pond", "ford"])
def test_m_7_6_only_the_bases_in_water_do_not_fire(kind):
    water, bridge = box(kind, 400, 300, 541, 700), box("bridge", 400, 300, 800, 420)
    wet = shooters(foot(), enemy(100), terrain=[water])
    assert [each.blocked for each in wet.values()] == ["water", "water", None, None]
    dry = shooters(foot(), enemy(100), terrain=[water, bridge])
    assert {each.blocked for each in dry.values()} == {None}


def test_m_7_6_a_gun_partly_in_woods_does_not_fire_and_foot_does():
    woods = [box("woods", 400, 300, 800, 390)]
    assert aims(cannon(), enemy(100), terrain=woods) == "woods"
    assert aims(foot(), enemy(100), base="F1/2", terrain=woods) == AHEAD


# Ranges.


def test_m_7_9_foot_reaches_four_bw_exactly_and_no_more():
    assert only(shooters(foot(), enemy(160))["F1/2"]).range == "short"
    # Turned a little, the far corner of the zone reaches hypot(4, 1/2) BW = 161.2 mm.
    assert only(shooters(foot(), enemy(161))["F1/2"]).angle != "ahead"
    assert aims(foot(), enemy(161.3), base="F1/2") == "no target"


@pytest.mark.parametrize(
    ("ahead_mm", "wanted", "dice"),
    [(160, "short", 2), (161, "short", 2), (161.3, "long", 1), (740, "long", 1)],
)
def test_m_7_10_a_gun_bombards_beyond_four_bw(ahead_mm, wanted, dice):
    option = only(shooters(cannon(), enemy(ahead_mm))["F1/1"])
    assert (option.range, option.dice) == (wanted, dice)


@pytest.mark.parametrize(("gap_mm", "is_reached"), [(960, True), (960.3, False)])
def test_m_7_10_a_gun_reaches_24_bw_exactly(gap_mm, is_reached):
    far = gun("B1", "british", 120 + gap_mm + 20, 600, 180.0)
    assert bool(shooters(gun("F1", "french", 100, 600, 0.0), far)["F1/1"].options) == is_reached


def test_m_7_11_a_range_is_taken_along_the_zone_to_what_lies_in_it():
    # Its nearest corner lies beside the zone; the part inside is beyond short range.
    slanted = turned(line("B1", "british", 700, 545, SOUTH), 20.0, (700, 545))
    option = only(shooters(cannon(), slanted)["F1/1"])
    nearest_mm = min(base.y_mm for base in slanted.bases)
    assert option.distance_mm > 0
    assert nearest_mm - 30 < FRONT + option.distance_mm


# Priorities and angles.


def test_m_7_12_a_target_ahead_must_be_taken_though_a_better_one_lies_at_an_angle():
    tempting = column("B2", "british", 500, 560, SOUTH)
    assert aims(cannon(), enemy(100, 660), tempting) == AHEAD


@pytest.mark.parametrize(("x_mm", "angle"), [(480.0, "left"), (720.0, "right")])
def test_m_7_12_a_zone_turns_up_to_45_degrees_either_way(x_mm, angle):
    # From (600, 400) a base 120 to the side and 110 ahead bears slightly over 45 degrees.
    assert aims(cannon(), gun("B1", "british", x_mm, 510, SOUTH)) == {"B1": (angle, 4)}
    assert aims(cannon(), gun("B1", "british", x_mm, 440, SOUTH)) == "no target"


def test_m_7_12_a_long_zone_is_turned_only_when_nothing_can_be_bombarded_ahead():
    aside = gun("B2", "british", 400, 800, SOUTH)
    assert aims(cannon(), enemy(400), aside) == AHEAD
    assert aims(cannon(), aside) == {"B2": ("left", 4)}


def test_m_7_12_the_heel_of_a_turned_zone_does_not_fall_on_the_neighbour_in_the_rank():
    neighbours = line("F2", "french", 420, 380), line("F3", "french", 740, 380)
    aside = gun("B1", "british", 450, 520, SOUTH)
    assert aims(foot(), aside, *neighbours) == {"B1": ("left", 4)}


@pytest.mark.parametrize(("in_mm", "target"), [(0.6, "B1"), (0.4, "B2")])
def test_m_7_13_a_sliver_in_the_zone_is_the_target_and_half_a_millimetre_is_none(in_mm, target):
    near = gun("B1", "british", 640 - in_mm, 480, SOUTH)
    assert aims(cannon(), near, enemy(120, 600, "B2")) == {target: ("ahead", 4)}


@pytest.mark.parametrize(("farther_mm", "chosen"), [(0.4, {"B1", "B2"}), (0.6, {"B1"})])
def test_m_7_13_of_units_met_together_the_shooter_chooses(farther_mm, chosen):
    assert set(aims(cannon(), enemy(100, 520), enemy(100 + farther_mm, 680, "B2"))) == chosen


def test_m_7_15_a_friend_before_the_target_stops_the_fire_and_one_past_it_does_not():
    assert aims(cannon(), enemy(140), line("F2", "french", 600, 470)) == "friend"
    assert aims(cannon(), enemy(140), line("F2", "french", 600, 620)) == AHEAD


def test_m_7_15_a_friend_at_every_angle_stops_the_long_fire_too():
    screen = [line(f"F{n}", "french", 120 + 160 * n, 470) for n in range(2, 5)]
    assert aims(cannon(), enemy(500), *screen) == "friend"


# Obstruction and hiding (M-7.16 to M-7.18, M-5.9).

TREES = [box("woods", 588, 440, 612, 462)]
WALL, HALF_WALL = box("wall", 400, 460, 800, 465), box("wall", 400, 460, 600, 465)


def test_t_25_a_partial_obstruction_ends_the_zone_one_bw_on():
    fire = shooters(cannon(), gun("B1", "british", 600, 540, SOUTH), terrain=TREES)
    assert fire["F1/1"] == BaseFire("F1/1", (), "obstruction")


@pytest.mark.parametrize("at_mm", [499, 500])
def test_t_25_within_one_bw_of_its_first_point_it_stops_nothing_and_covers_nobody(at_mm):
    option = only(
        shooters(cannon(), gun("B1", "british", 600, at_mm, SOUTH), terrain=TREES)["F1/1"]
    )
    assert (option.angle, option.distance_mm, option.to_hit) == ("ahead", at_mm - 420, 4)
    assert not option.has_cover


def test_m_7_17_terrain_past_the_target_is_nothing():
    assert aims(cannon(), enemy(100), terrain=[box("woods", 400, 545, 800, 600)]) == AHEAD


def test_t_26_a_wall_before_the_nearest_covers_him_and_hides_the_one_behind():
    assert aims(cannon(), enemy(75), enemy(125, 600, "B2"), terrain=[WALL]) == {"B1": ("ahead", 5)}
    assert aims(cannon(), enemy(101, 600, "B2"), terrain=[WALL]) == "obstruction"


def test_t_26_who_is_less_than_one_bw_past_a_wall_and_not_wholly_behind_it_has_no_cover():
    assert aims(cannon(), enemy(95), terrain=[HALF_WALL]) == AHEAD


@pytest.mark.parametrize(("gap_mm", "back", "forth"), [(0.0, 4, 5), (1.0, 4, 5), (1.5, 5, 5)])
def test_t_26_behind_a_wall_only_who_is_flush_shoots_over_it_as_over_nothing(gap_mm, back, forth):
    british, wall = enemy(25 + gap_mm), [box("wall", 400, 420, 800, 425)]
    assert only(shooters(cannon(), british, terrain=wall)["F1/1"]).to_hit == forth
    assert only(shooters(british, cannon(), terrain=wall)["B1/2"]).to_hit == back


@pytest.mark.parametrize(
    ("walls", "wanted"),
    [
        ([box("wall", 500, 400, 660, 405)], AHEAD),
        ([box("wall", 500, 410, 660, 415)], "obstruction"),
        ([box("wall", 500, 400, 612, 405)], "obstruction"),
        ([box("wall", 500, 400, 612, 405), box("wall", 612, 400, 660, 405, "rest")], AHEAD),
    ],
    ids=["ones own", "near by", "along part of the front", "in two pieces"],
)
def test_m_7_18_ones_own_wall_does_not_shorten_the_zone(walls, wanted):
    assert aims(cannon(), enemy(150), terrain=walls) == wanted


def test_m_5_9_a_crest_hides_and_a_hill_does_not():
    assert aims(cannon(), enemy(100), terrain=[box("crest", 300, 450, 900, 452)]) == "no target"
    assert aims(cannon(), enemy(100), terrain=[box("hill", 300, 430, 900, 600)]) == AHEAD


def test_m_5_9_one_line_past_a_crest_is_enough():
    short, near = box("crest", 300, 450, 601, 452), gun("B1", "british", 600, 520, SOUTH)
    assert aims(cannon(), near, terrain=[short]) == AHEAD


# Cover.


@pytest.mark.parametrize(
    ("turned_deg", "has_cover"), [(0.0, False), (-0.5, False), (-12.0, False), (0.5, True)]
)
def test_m_7_19_only_what_the_very_end_of_a_zone_holds_of_a_base_is_asked_for_cover(
    turned_deg, has_cover
):
    """The wall is on the left; only the left end of a base turned left is in the zone."""
    about = turned(enemy(99), turned_deg, (600, 499))
    met = only(shooters(cannon(), about)["F1/1"])
    lower_mm = 100 - met.distance_mm  # So that its first part in the zone lies at its very end.
    bases = tuple(replace(base, y_mm=base.y_mm + lower_mm) for base in about.bases)
    option = only(shooters(cannon(), replace(about, bases=bases), terrain=[HALF_WALL])["F1/1"])
    assert (option.angle, option.distance_mm) == ("ahead", pytest.approx(100))
    assert option.has_cover == has_cover


@pytest.mark.parametrize(("low_mm", "to_hit"), [(430, 5), (440, 4)])
def test_m_7_19_a_base_wholly_in_woods_has_cover_and_one_that_looks_out_has_not(low_mm, to_hit):
    near = gun("B1", "british", 600, 450, SOUTH)
    woods = [box("woods", 300, low_mm, 900, 520)]
    assert aims(cannon(), near, terrain=woods) == {"B1": ("ahead", to_hit)}


def test_m_7_19_bases_of_one_unit_may_need_different_numbers():
    fire = shooters(foot(), enemy(80, 580), terrain=[box("wall", 400, 460, 580, 465)])
    assert [only(each).to_hit for each in fire.values()] == [5, 5, 4, 4]


@pytest.mark.parametrize(
    ("ground", "to_hit"),
    [
        ([box("wall", 580, 460, 620, 465)], 5),
        ([box("wall", 580, 460, 598, 465), box("wall", 602, 460, 620, 465, "other")], 4),
        ([box("trench", 400, 460, 800, 465)], 5),
        ([box("rough", 400, 460, 800, 465)], 4),
        ([box("sunken_road", 400, 460, 800, 465)], 4),
        ([box("hill", 400, 460, 800, 465)], 4),
    ],
    ids=["as wide as the zone", "a gap in it", "trench", "rough", "sunken road", "hill"],
)
def test_m_7_19_a_wall_or_trench_as_wide_as_the_zone_covers(ground, to_hit):
    assert aims(cannon(), enemy(80), terrain=ground) == {"B1": ("ahead", to_hit)}


def test_m_7_19_the_best_of_several_angles_is_listed_one_past_the_cover():
    """The gun to the left front is behind a short wall, which another angle avoids."""
    near, short = gun("B1", "british", 510, 500, SOUTH), box("wall", 495, 470, 530, 475)
    assert aims(cannon(), near, terrain=[short]) == {"B1": ("left", 4)}


# Numbers.


@pytest.mark.parametrize(
    ("target", "is_dense"),
    [
        (column("B1", "british", 600, 580, SOUTH), True),
        (massed("B1", "british", 600, 540, SOUTH), True),
        (gun("B1", "british", 600, 520, SOUTH), False),
        (enemy(100), False),
    ],
    ids=["column", "massed", "gun", "line"],
)
def test_m_7_21_column_and_massed_are_dense_and_a_gun_is_not(target, is_dense):
    assert only(shooters(cannon(), target)["F1/1"]).is_dense == is_dense


STRAIGHT = column("B1", "british", 600, 520, 0.0)
BENT = replace(STRAIGHT, bases=(*STRAIGHT.bases[:3], replace(STRAIGHT.bases[3], heading_deg=90.0)))
"""Its last base faces north and shows its rear, the others east."""


@pytest.mark.parametrize(
    ("x_mm", "enemy", "hit", "is_enfilade"),
    [
        (540, BENT, "B1/4", True),
        (580, BENT, "B1/3", True),
        (670, STRAIGHT, "B1/1", False),
        (660, STRAIGHT, "B1/1", True),
        (660.1, STRAIGHT, "B1/1", False),  # partly ahead of the front line
    ],
)
def test_m_7_22_enfilade_is_judged_by_the_base_that_is_hit_not_by_its_unit(
    x_mm, enemy, hit, is_enfilade
):
    option = only(shooters(gun("F1", "french", x_mm, 380), enemy)["F1/1"])
    assert (option.target_base, option.is_enfilade) == (hit, is_enfilade)


@pytest.mark.parametrize(
    ("shooter", "to_hit"),
    [
        *((foot(disruption=levels), number) for levels, number in ((0, 4), (1, 4), (2, 5), (4, 5))),
        (cannon(disruption=1), 5),
    ],
    ids=["foot 0", "foot 1", "foot 2", "foot 4", "gun 1"],
)
def test_m_7_24_foot_shoots_worse_with_two_disruptions_and_a_gun_with_one(shooter, to_hit):
    assert only([*shooters(shooter, enemy(100)).values()][-1]).to_hit == to_hit


def test_an_option_explains_itself_and_draws_its_zone():
    option = only(shooters(cannon(disruption=1), enemy(100))["F1/1"])
    assert option.because == (
        "straight ahead its zone first meets B1, 2.50 BW away: "
        "4+ with -1 disrupted shooter (M-7.24) is 5+"
    )
    assert [shape.role for shape in option.evidence] == ["fire-zone", "target", "range"]
    corners = [(580, 400), (580, 560), (620, 400), (620, 560)]
    assert sorted(option.evidence[0].points_mm) == corners
    document = option.to_json()
    told = {"target": "B1", "cover": False, "enfilade": False, "dense": False}
    assert {key: document[key] for key in told} == told
