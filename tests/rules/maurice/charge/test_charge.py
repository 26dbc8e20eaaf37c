"""Possible charges: the worked examples of the rule sheet, and each limit separately."""

import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from shapely import affinity

from tablecam.geometry.moves.lanes import CORNERS, Corner
from tablecam.geometry.outlines import unit_footprint
from tablecam.rules.games import known_games
from tablecam.rules.maurice.charge.charge import (
    Charge,
    are_enough_chargers,
    charge_of,
    lane_after_wheel,
)
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.rules.maurice.rulings.rulings import lane_json
from tablecam.table.headings import forward
from tablecam.table.model import Unit
from tablecam.table.position_file import position_from_json
from tablecam.testing import shifted
from tests.rules.maurice.tables import BW, SOUTH, box, column, gun, line, massed, position


def charge(*units: Unit, terrain=()) -> Charge:
    """Returns the first unit's charge."""
    field = field_of(position(*units, terrain=terrain))
    return charge_of(field, field.units[0])


def test_horse_wheels_one_and_goes_three_ahead(shared: Path):  # M-8.5
    case = json.loads((shared / "cases/maurice-lite/087-charge-with-a-wheel.json").read_text())
    field = field_of(position_from_json(case["position"], games=known_games()))
    found = charge_of(field, field.by_id["F1"])
    assert found.targets == ("B1",)
    (lane,) = found.lanes
    assert lane.move.pivot == "right"
    assert 0 < lane.move.arc_mm < BW
    cost_bw = pytest.approx((lane.move.arc_mm + lane.move.straight_mm) / BW)
    assert lane_json(field, found, lane)["cost_bw"] == cost_bw


@pytest.mark.parametrize(("x_mm", "is_met"), [(474, True), (470, False)])
def test_m_8_5_no_wheel_goes_farther_than_1_bw(x_mm, is_met):
    """A wheel of 0.9 BW brings the first gun into the lane, the other needs one of 1.1 BW.

    Both are within the 4 BW that foot has in all.
    """
    found = charge(line("F1", "french", 600, 400), gun("B1", "british", x_mm, 550, SOUTH))
    assert found.is_eligible is is_met


@pytest.mark.parametrize(("ahead_bw", "reaches"), [(3.0, True), (6.95, True), (7.05, False)])
def test_a_wheel_and_the_way_ahead_share_the_allowance(ahead_bw, reaches):  # M-8.5, T-30
    """The wheel moves the end of the front 1 BW, and the rest of the allowance goes ahead."""
    turned_deg = math.degrees(BW / (2 * BW))
    (ahead_x, ahead_y), away_mm = forward(90 - turned_deg), (ahead_bw + 0.5) * BW
    # About the right corner at (640, 500); only the whole wheel brings 2 mm of the gun into reach.
    target = gun(
        "1",
        "british",
        640 + away_mm * ahead_x + 18 * ahead_y,
        500 + away_mm * ahead_y - 18 * ahead_x,
        270 - turned_deg,
    )
    found = charge(massed("F1", "french", 600, 460), target)
    assert found.is_eligible == reaches
    for lane in found.lanes:
        assert lane.move.pivot == "right"
        # 2 mm less of the wheel
        assert lane.move.cost_mm / BW == pytest.approx(1 + ahead_bw, abs=0.05)


@pytest.mark.parametrize(
    ("arm", "gap_bw", "reaches"),
    [
        ("infantry", 4.0, True),
        ("infantry", 4.01, False),
        ("cavalry", 8.0, True),
        ("cavalry", 8.01, False),
    ],
)
def test_the_whole_allowance_is_reach(arm, gap_bw, reaches):  # M-8.5
    found = charge(
        line("F1", "french", 600, 480, arm=arm), line("1", "british", 600, 520 + gap_bw * BW, SOUTH)
    )
    assert found.is_eligible == reaches
    assert (found.why_not is None) == reaches


@pytest.mark.parametrize(("charging", "force", "are"), [(4, 6, True), (2, 3, True), (2, 6, False)])
def test_m_8_2_at_least_half_of_a_force_must_be_able_to_charge(charging, force, are):
    assert are_enough_chargers(charging, force) == are


FOOT, HORSE = line("F1", "french", 600, 480), massed("F1", "french", 600, 460)
GUN_AHEAD, ASIDE = gun("1", "british", 630, 540, SOUTH), massed("F1", "french", 540, 360)
"""A gun that horse can reach only by a wheel to the right."""


def foe(y_mm: float, x_mm: float = 600, name: str = "1") -> Unit:
    return line(name, "british", x_mm, y_mm, SOUTH)


@pytest.mark.parametrize(
    ("charger", "others", "terrain", "targets"),
    [
        pytest.param(line("F1", "french", 600, 480, disruption=3), [foe(600)], (), "1", id="tired"),
        pytest.param(FOOT, [massed("1", "british", 600, 600, SOUTH)], (), "", id="foot at horse"),
        pytest.param(HORSE, [foe(600)], (), "1", id="horse at foot"),
        pytest.param(FOOT, [foe(560), foe(610, name="2")], (), "1", id="M-8.8 the first met"),
        pytest.param(HORSE, [foe(720), massed("F2", "french", 680, 460)], (), "1", id="beside"),
        pytest.param(ASIDE, [GUN_AHEAD], (), "1", id="by a wheel to the right"),
        pytest.param(
            ASIDE, [GUN_AHEAD, massed("F2", "french", 460, 360)], (), "", id="no room on the left"
        ),
        pytest.param(
            ASIDE, [GUN_AHEAD, massed("F2", "french", 620, 360)], (), "1", id="none on the right"
        ),
        pytest.param(  # beside the rear left corner, which swings out
            ASIDE, [GUN_AHEAD, gun("2", "british", 479, 340, SOUTH)], (), "", id="wheels into enemy"
        ),
        pytest.param(  # M-6.32: its rear would swing over the table's left edge
            massed("F1", "french", 40, 360),
            [gun("1", "british", 130, 540, SOUTH)],
            (),
            "",
            id="edge",
        ),
        pytest.param(
            massed("F1", "french", 80, 360),
            [gun("1", "british", 170, 540, SOUTH)],
            (),
            "1",
            id="in",
        ),
        pytest.param(HORSE, [foe(640)], [box("woods", 300, 520, 900, 560)], "", id="into woods"),
        pytest.param(HORSE, [foe(640)], [box("woods", 300, 300, 900, 500)], "1", id="out of woods"),
        pytest.param(HORSE, [foe(620)], [box("woods", 400, 600, 800, 800)], "", id="all in woods"),
        pytest.param(HORSE, [foe(620)], [box("woods", 400, 600, 800, 610)], "", id="edge in woods"),
        pytest.param(HORSE, [foe(620)], [box("woods", 400, 615, 800, 800)], "1", id="not its edge"),
        pytest.param(
            HORSE, [foe(620)], [box("woods", 605, 600, 635, 800)], "1", id="not all of it"
        ),
        pytest.param(FOOT, [foe(640)], [box("crest", 100, 520, 1100, 523)], "", id="past a crest"),
        pytest.param(FOOT, [foe(640)], [box("woods", 100, 520, 1100, 559)], "1", id="in view"),
        pytest.param(FOOT, [foe(640)], [box("woods", 100, 520, 1100, 561)], "", id="out of view"),
        pytest.param(FOOT, [foe(640)], [box("rough", 100, 520, 1100, 580)], "1", id="past rough"),
    ],
)
def test_m_8_4_who_may_charge_whom(charger, others, terrain, targets):
    assert charge(charger, *others, terrain=terrain).targets == tuple(targets)


@pytest.mark.parametrize(
    ("charger", "others", "terrain", "why"),
    [
        (gun("F1", "french", 600, 480), [foe(600)], (), "artillery"),
        (column("F1", "french", 600, 420), [foe(600)], (), "column"),
        (line("F1", "french", 600, 480, disruption=4), [foe(600)], (), "4 disruptions"),
        (massed("F1", "french", 600, 460, arm="infantry"), [foe(600)], (), "massed"),
        (FOOT, [massed("1", "british", 600, 600, SOUTH)], (), "infantry may not charge cavalry"),
        (HORSE, [foe(720), line("F2", "french", 600, 540)], (), "friends"),
        (FOOT, [foe(620)], [box("impassable", 300, 540, 900, 560)], "ground"),
    ],
    ids=["a gun", "in column", "four", "massed foot", "at horse", "a friend ahead", "impassable"],
)
def test_m_8_4_who_may_not_charge_is_told_why(charger, others, terrain, why):
    found = charge(charger, *others, terrain=terrain)
    assert found.targets == ()
    assert why in str(found.why_not)


def test_m_8_4_infantry_that_would_meet_horse_and_foot_at_once_may_not():
    """A wheel to either side meets only one of them."""
    found = charge(FOOT, foe(600, 520), massed("2", "british", 680, 620, SOUTH))
    assert found.targets == ("1",)
    assert [lane.move.pivot for lane in found.lanes] == ["right"]


def test_m_8_8_two_met_at_the_same_instant_are_both_charged():
    found = charge(FOOT, foe(600, 520), foe(600, 680, "2"))
    assert found.targets == ("1", "2")
    assert (found.lanes[0].move.pivot, found.lanes[0].also_meets) == (None, ("2",))


def test_m_8_7_an_enemy_touching_the_flank_line_is_passed_by_a_wheel_away_from_it():
    found = charge(FOOT, gun("1", "british", 700, 560, SOUTH), foe(620, name="2"))
    assert found.targets == ("1", "2")
    assert all(lane.move.pivot for lane in found.lanes)


def test_m_8_6_infantry_charges_through_woods_and_is_disrupted():
    through = charge(FOOT, foe(600), terrain=[box("woods", 300, 520, 900, 550)])
    assert through.lanes[0].crosses_difficult
    assert not charge(FOOT, foe(600)).lanes[0].crosses_difficult


places = st.tuples(st.floats(380, 860), st.floats(300, 800), st.floats(0, 360))


@settings(max_examples=40)
@given(is_horse=st.booleans(), friend=places, foe=places, battery=places)
@example(is_horse=False, friend=(380, 300, 0), foe=(496, 595, 2), battery=(541, 539, 0))
def test_every_lane_can_be_walked_and_none_that_can_be_walked_is_missed(
    is_horse, friend, foe, battery
):
    """Checked by a slow method: the unit's outline is moved in small steps."""
    unit = massed("F1", "french", 600, 460) if is_horse else line("F1", "french", 600, 480)
    others = (
        column("F2", "french", *friend),
        line("1", "british", *foe),
        gun("2", "british", *battery),
    )
    shapes = [unit_footprint(each) for each in (unit, *others)]
    assume(all(a.distance(b) > 2 for a, b in combinations(shapes, 2)))
    found = charge(unit, *others)
    walked = {name for corner in CORNERS for name in _walked(unit, others, corner)}
    assert walked <= set(found.targets)
    for lane in found.lanes:
        end = _at(unit, lane.move.pivot or "left", lane.move.arc_mm, lane.move.straight_mm)
        front = shapely.LineString(shapely.get_coordinates(end)[:2])
        names = [each.id for each in others]
        met = [shapes[1 + names.index(name)] for name in (lane.target, *lane.also_meets)]
        gaps_mm = [shapely.distance(front, shape) for shape in met]
        assert min(gaps_mm) == pytest.approx(0, abs=1e-3)
        # Whom it meets at the same instant, within a sliver, may lie so far on (M-8.8, G-5).
        assert max(gaps_mm) <= SLIVER_MM + 1e-3
        allowance_bw = 8 if is_horse else 4
        assert lane.move.cost_mm <= allowance_bw * BW + 1e-9
        assert lane.move.arc_mm <= BW + 1e-9
        for other in shapes[1:]:
            assert shapely.intersection(end, other).buffer(-0.26).is_empty  # G-5, and rounding


def _walked(unit: Unit, others: tuple[Unit, ...], corner: Corner) -> set[str]:
    """Enemies met by 9 wheels and moves ahead in steps of 4 mm, clearly inside all limits."""
    shapes = np.array([unit_footprint(other) for other in others])
    reach_mm = (8 if unit.arm == "cavalry" else 4) * BW - 4
    met = set()
    for arc_mm in range(41):
        wheeled = _at(unit, corner, arc_mm, 0.0)
        if shapely.intersects(wheeled, shapes).any():
            break
        if arc_mm % 5:
            continue
        start, after_1_mm = map(shapely.get_coordinates, (wheeled, _at(unit, corner, arc_mm, 1.0)))
        steps_mm = np.arange(0, int(reach_mm - arc_mm), 4)[:, None, None]
        way = shapely.polygons(start + steps_mm * (after_1_mm - start))[:, None]
        is_near = shapely.distance(way, shapes) < 2
        first = int(is_near.any(axis=1).argmax())  # or the start, with nobody near
        is_hit = shapely.area(shapely.intersection(way[first], shapes)) > 4
        if is_hit.any() and (is_hit == is_near[first]).all():
            met.add(others[int(is_hit.argmax())].id)
    return met - {"F2"}


def _at(unit: Unit, corner: Corner, arc_mm: float, ahead_mm: float) -> shapely.Polygon:
    """A unit's rectangle after a move, its front left and front right corners first."""
    wide_mm = (2 if unit.formation == "massed" else 4) * BW
    deep_mm = (2 if unit.formation == "massed" else 1) * BW
    left, right = 600 - wide_mm / 2, 600 + wide_mm / 2
    rectangle = shapely.Polygon(
        [(left, 500), (right, 500), (right, 500 - deep_mm), (left, 500 - deep_mm)]
    )
    turn_rad = arc_mm / wide_mm if corner == "left" else -arc_mm / wide_mm
    pivot = (left if corner == "left" else right, 500)
    turned = affinity.rotate(rectangle, turn_rad, origin=pivot, use_radians=True)
    return affinity.translate(turned, -ahead_mm * math.sin(turn_rad), ahead_mm * math.cos(turn_rad))


@pytest.mark.parametrize(
    ("short_mm", "thick_mm", "straight_mm", "crosses"),
    [
        (0.0, 5.0, 0.0, False),  # flush with the wall itself
        (100.0, 5.0, 100.0, False),
        (160.0, 5.0, 160.0, False),  # 4 BW up to the wall are enough
        (160.5, 5.0, None, False),
        (100.0, 12.0, 112.0, True),  # over 0.25 BW thick: no contact across it
    ],
)
def test_m_8_14_a_charge_on_who_is_flush_behind_a_wall_ends_before_it(
    short_mm, thick_mm, straight_mm, crosses
):
    wall = box("wall", 400, 500, 800, 500 + thick_mm)
    enemy = line("1", "british", 600, 520 + thick_mm, SOUTH)
    found = charge(line("F1", "french", 600, 480 - short_mm), enemy, terrain=[wall])
    lanes = [
        (lane.move.pivot, lane.move.straight_mm, lane.crosses_difficult) for lane in found.lanes
    ]
    wanted = [] if straight_mm is None else [(None, pytest.approx(straight_mm), crosses)]
    assert lanes == wanted


def test_m_8_14_a_charge_over_a_wall_on_who_is_not_flush_with_it_crosses_it():
    wall = box("wall", 400, 500, 800, 505)
    enemy = line("1", "british", 600, 530, SOUTH)
    (lane,) = charge(line("F1", "french", 600, 450), enemy, terrain=[wall]).lanes
    assert lane.move.straight_mm == pytest.approx(40)
    assert lane.crosses_difficult


def test_m_8_5_who_touches_an_enemy_across_a_wall_does_not_wheel_at_another():
    """The wheel would be made in contact."""
    wall = box("wall", 560, 500, 640, 505)
    ours = line("F1", "french", 600, 480)
    at_the_wall = gun("1", "british", 600, 525, SOUTH)
    beside = gun("2", "british", 700, 590, SOUTH)
    assert charge(ours, at_the_wall, beside, terrain=[wall]).targets == ("1",)
    assert charge(ours, shifted(at_the_wall, 0, 200), beside, terrain=[wall]).targets == ("2",)


def test_m_8_5_a_listed_wheel_is_legal_by_itself_and_one_into_a_friend_is_not() -> None:
    charger, enemy = line("F1", "french", 600, 400), gun("B1", "british", 480, 550, SOUTH)
    here = field_of(position(charger, enemy))
    lanes = [lane for lane in charge_of(here, here.by_id["F1"]).lanes if lane.move.pivot]
    assert lanes
    friend = line("F2", "french", 600, 445)
    there = field_of(position(charger, enemy, friend))
    for lane in lanes:
        wheel = (lane.target, lane.move.pivot, lane.move.arc_mm)
        alone = lane_after_wheel(here, here.by_id["F1"], *wheel)
        assert alone is not None
        assert alone.move.straight_mm == pytest.approx(lane.move.straight_mm)
        assert lane_after_wheel(there, there.by_id["F1"], *wheel) is None
