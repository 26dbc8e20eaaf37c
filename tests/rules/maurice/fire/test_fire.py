"""Who may shoot at whom from where they lie, and at what number (chapter 7)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tablecam.testing import turned
from tests.rules.maurice.firing import (
    FRONT,
    SOUTH,
    box,
    cannon,
    enemy,
    foot,
    only,
    shooters,
    targets,
)
from tests.rules.maurice.tables import column, gun, line, massed

# The rulebook's examples.


def test_t_23_who_has_nobody_ahead_chooses_at_an_angle_who_has_must_take_him():
    horse = massed("B2", "british", 450, 520, SOUTH)
    fire = shooters(foot(), enemy(100, 625), horse)
    assert targets(fire["F1/1"]) == {"B1": ("right", 4), "B2": ("left", 3)}
    for base in ("F1/2", "F1/3", "F1/4"):
        assert targets(fire[base]) == {"B1": ("ahead", 4)}


def test_t_24_a_friends_corner_ahead_turns_the_fire_and_the_nearest_ahead_is_the_target():
    friend = massed("F2", "french", 470, 480)
    fire = shooters(foot(), enemy(130, 520), enemy(140, 684, "B2"), friend)
    assert targets(fire["F1/1"]) == {"B1": ("right", 4)}
    assert targets(fire["F1/2"]) == {"B1": ("ahead", 4)}
    assert targets(fire["F1/3"]) == {"B1": ("ahead", 4)}
    assert targets(fire["F1/4"]) == {"B2": ("ahead", 4)}


def test_t_27_pluses_and_minuses_add_up():
    tired, wall = foot(disruption=2), box("wall", 400, 460, 800, 465)
    covered = shooters(tired, enemy(75), terrain=[wall])
    assert only(covered["F1/2"]).to_hit == 6
    from_behind = shooters(foot(), column("B1", "british", 560, 500))
    option = only(from_behind["F1/2"])
    assert (option.to_hit, option.is_enfilade, option.is_dense) == (2, True, True)


def test_t_29_a_short_target_at_an_angle_forbids_the_long_one_ahead():
    near, far = gun("B1", "british", 690, 510, SOUTH), enemy(400, 600, "B2")
    option = only(shooters(cannon(), near, far)["F1/1"])
    assert (option.target, option.range, option.angle) == ("B1", "short", "right")
    assert (option.dice, option.to_hit) == (2, 4)


# Who may fire.


def test_m_7_7_columns_and_horse_do_not_fire():
    fire = shooters(column("F1", "french", 600, 320), enemy(100))
    assert {each.blocked for each in fire.values()} == {"column"}
    assert len(fire) == 4
    assert shooters(massed("F1", "french", 600, 360), enemy(100)) == {}


@pytest.mark.parametrize("kind", ["stream", "marsh", "pond", "ford"])
def test_m_7_6_only_the_bases_in_water_do_not_fire(kind):
    water = box(kind, 400, 300, 541, 700)
    fire = shooters(foot(), enemy(100), terrain=[water])
    assert [each.blocked for each in fire.values()] == ["water", "water", None, None]
    bridge = replace(box("bridge", 400, 300, 800, 420), id="bridge")
    dry = shooters(foot(), enemy(100), terrain=[water, bridge])
    assert {each.blocked for each in dry.values()} == {None}


def test_m_7_6_a_gun_partly_in_woods_does_not_fire_and_foot_does():
    woods = box("woods", 400, 300, 800, 390)
    assert shooters(cannon(), enemy(100), terrain=[woods])["F1/1"].blocked == "woods"
    assert targets(shooters(foot(), enemy(100), terrain=[woods])["F1/2"]) == {"B1": ("ahead", 4)}


# Ranges.


def test_m_7_9_foot_reaches_four_bw_exactly_and_no_more():
    assert only(shooters(foot(), enemy(160))["F1/2"]).range == "short"
    # Turned a little, the far corner of the zone reaches on to hypot(4, 1/2) BW = 161.2 mm.
    assert only(shooters(foot(), enemy(161))["F1/2"]).angle != "ahead"
    assert shooters(foot(), enemy(161.3))["F1/2"].blocked == "no target"


@pytest.mark.parametrize(
    ("ahead_mm", "wanted", "dice"),
    [(160, "short", 2), (161, "short", 2), (161.3, "long", 1), (740, "long", 1)],
)
def test_m_7_10_a_gun_bombards_beyond_four_bw(ahead_mm, wanted, dice):
    option = only(shooters(cannon(), enemy(ahead_mm))["F1/1"])
    assert (option.range, option.dice) == (wanted, dice)


def test_m_7_10_a_gun_reaches_24_bw_exactly():
    east = [gun("F1", "french", 100, 600, 0.0)]
    for gap_mm, is_reached in ((960, True), (960.3, False)):
        far = gun("B1", "british", 120 + gap_mm + 20, 600, 180.0)
        assert bool(shooters(*east, far)["F1/1"].options) == is_reached


def test_m_7_11_a_range_is_taken_along_the_zone_to_what_lies_in_it():
    # Its nearest corner lies beside the zone; what lies in it is farther than short range.
    slanted = turned(line("B1", "british", 700, 545, SOUTH), 20.0, (700, 545))
    option = only(shooters(cannon(), slanted)["F1/1"])
    nearest_mm = min(base.y_mm for base in slanted.bases)
    assert option.distance_mm > 0
    assert nearest_mm - 30 < FRONT + option.distance_mm


# Priorities and angles.


def test_m_7_12_a_target_ahead_must_be_taken_though_a_better_one_lies_at_an_angle():
    tempting = column("B2", "british", 500, 560, SOUTH)
    fire = shooters(cannon(), enemy(100, 660), tempting)
    assert targets(fire["F1/1"]) == {"B1": ("ahead", 4)}


@pytest.mark.parametrize(("x_mm", "angle"), [(480.0, "left"), (720.0, "right")])
def test_m_7_12_a_zone_turns_up_to_45_degrees_either_way(x_mm, angle):
    # From (600, 400) the bearing of a base at 120 aside and 110 ahead is a bit over 45 degrees.
    near = gun("B1", "british", x_mm, 510, SOUTH)
    assert only(shooters(cannon(), near)["F1/1"]).angle == angle
    aside = gun("B1", "british", x_mm, 440, SOUTH)
    assert shooters(cannon(), aside)["F1/1"].blocked == "no target"


def test_m_7_12_a_long_zone_is_turned_only_when_nothing_can_be_bombarded_ahead():
    ahead, aside = enemy(400), gun("B2", "british", 400, 800, SOUTH)
    assert targets(shooters(cannon(), ahead, aside)["F1/1"]) == {"B1": ("ahead", 4)}
    assert targets(shooters(cannon(), aside)["F1/1"]) == {"B2": ("left", 4)}


def test_m_7_12_the_heel_of_a_turned_zone_does_not_fall_on_the_neighbour_in_the_rank():
    neighbours = [line("F2", "french", 420, 380), line("F3", "french", 740, 380)]
    aside = gun("B1", "british", 450, 520, SOUTH)
    fire = shooters(foot(), aside, *neighbours)
    assert targets(fire["F1/1"]) == {"B1": ("left", 4)}


def test_m_7_13_a_sliver_in_the_zone_is_the_target_and_half_a_millimetre_is_none():
    for in_mm, wanted in ((0.6, {"B1": ("ahead", 4)}), (0.4, {"B2": ("ahead", 4)})):
        near = gun("B1", "british", 640 - in_mm, 480, SOUTH)
        fire = shooters(cannon(), near, enemy(120, 600, "B2"))
        assert targets(fire["F1/1"]) == wanted


def test_m_7_13_of_units_met_together_the_shooter_chooses():
    together = [enemy(100, 520), enemy(100.4, 680, "B2")]
    assert set(targets(shooters(cannon(), *together)["F1/1"])) == {"B1", "B2"}
    apart = [enemy(100, 520), enemy(100.6, 680, "B2")]
    assert set(targets(shooters(cannon(), *apart)["F1/1"])) == {"B1"}


def test_m_7_15_a_friend_before_the_target_stops_the_fire_and_one_past_it_does_not():
    before, past = line("F2", "french", 600, 470), line("F2", "french", 600, 620)
    assert shooters(cannon(), enemy(140), before)["F1/1"].blocked == "friend"
    assert targets(shooters(cannon(), enemy(140), past)["F1/1"]) == {"B1": ("ahead", 4)}


def test_m_7_15_a_friend_at_every_angle_stops_the_long_fire_too():
    screen = [line(f"F{n}", "french", 120 + 160 * n, 470) for n in range(2, 5)]
    assert shooters(cannon(), enemy(500), *screen)["F1/1"].blocked == "friend"


# Numbers.


def test_m_7_21_column_and_massed_are_dense_and_a_gun_is_not():
    dense = {
        "column": column("B1", "british", 600, 580, SOUTH),
        "massed": massed("B1", "british", 600, 540, SOUTH),
        "gun": gun("B1", "british", 600, 520, SOUTH),
        "line": enemy(100),
    }
    found = {name: only(shooters(cannon(), each)["F1/1"]).is_dense for name, each in dense.items()}
    assert found == {"column": True, "massed": True, "gun": False, "line": False}


def test_m_7_22_enfilade_is_judged_by_the_base_that_is_hit_not_by_its_unit():
    """A column that has bent: its last base faces east and shows its flank, the others north."""
    straight = column("B1", "british", 600, 520, 0.0)
    bent = replace(
        straight,
        bases=(*straight.bases[:3], replace(straight.bases[3], heading_deg=90.0)),
        formation="column",
    )
    by_last = only(shooters(gun("F1", "french", 540, 380), bent)["F1/1"])
    by_third = only(shooters(gun("F1", "french", 580, 380), bent)["F1/1"])
    assert (by_last.target_base, by_last.is_enfilade) == ("B1/4", True)
    assert (by_third.target_base, by_third.is_enfilade) == ("B1/3", True)
    ahead_of_it = only(shooters(gun("F1", "french", 670, 380), straight)["F1/1"])
    assert (ahead_of_it.target_base, ahead_of_it.is_enfilade) == ("B1/1", False)


def test_m_7_22_a_base_partly_ahead_of_the_front_line_does_not_enfilade():
    for x_mm, is_enfilade in ((600, True), (600.1, False)):
        facing_east = column("B1", "british", 540 + 0.0, 500, 0.0)
        fire = shooters(gun("F1", "french", x_mm, 380), facing_east)
        assert only(fire["F1/1"]).is_enfilade == is_enfilade


@pytest.mark.parametrize(("disruption", "to_hit"), [(0, 4), (1, 4), (2, 5), (4, 5)])
def test_m_7_24_foot_shoots_worse_with_two_disruptions(disruption, to_hit):
    fire = shooters(foot(disruption=disruption), enemy(100))
    assert only(fire["F1/2"]).to_hit == to_hit


def test_m_7_24_a_gun_shoots_worse_with_one():
    assert only(shooters(cannon(disruption=1), enemy(100))["F1/1"]).to_hit == 5


# What an option says.


def test_an_option_explains_itself_and_draws_its_zone():
    option = only(shooters(cannon(disruption=1), enemy(100))["F1/1"])
    assert option.because == (
        "straight ahead its zone first meets B1, 2.50 BW away: "
        "4+ with -1 disrupted shooter (M-7.24) is 5+"
    )
    roles = [shape.role for shape in option.evidence]
    assert roles == ["fire-zone", "target", "range"]
    zone = option.evidence[0]
    assert sorted(zone.points_mm) == [(580, 400), (580, 560), (620, 400), (620, 560)]
    document = option.to_json()
    assert {key: document[key] for key in ("target", "cover", "enfilade", "dense")} == {
        "target": "B1",
        "cover": False,
        "enfilade": False,
        "dense": False,
    }
