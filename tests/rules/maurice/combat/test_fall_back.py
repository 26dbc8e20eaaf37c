"""Falling back (M-8.23 to M-8.27): how far, through whom, and what it costs (T-37)."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.rules.maurice.combat.fall_back import fall_back, fall_back_path, rearmost_first
from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.rules.maurice.field.results import CombatResult
from tablecam.rules.maurice.field.terms import Reason
from tablecam.table.model import Terrain, Unit
from tests.rules.maurice.tables import BW, column, gun, line, massed, position

UNIT = line("A", "french", 500, 480)
"""Its rear edge lies at y = 460."""


def terrain(kind: str, low_mm: float, high_mm: float) -> Terrain:
    """A piece of terrain across the table."""
    return Terrain(kind, kind, ((0, low_mm), (1800, low_mm), (1800, high_mm), (0, high_mm)))


def back(*others: Unit, ground: tuple[Terrain, ...] = (), unit: Unit = UNIT):
    return fall_back(field_of(position(unit, *others, terrain=ground)), unit.id, {})


def test_a_unit_with_nothing_behind_it_goes_one_base_width():  # M-8.24
    found = back()
    assert found == {
        "A": CombatResult(0, False, (Reason("M-8.23", "falling_back", (1.0,)),), True, BW)
    }


def test_a_unit_goes_on_past_a_friend_and_both_are_disrupted():  # M-8.25, M-8.26, T-37
    found = back(line("F", "french", 500, 425))
    assert found["A"].fall_back_mm == pytest.approx(95, abs=1e-9)
    assert (found["A"].disruption, found["F"].disruption) == (1, 1)
    assert str(found["A"].because[-1]) == "M-8.26 passes through F, +1 disruption"
    assert found["F"].because == (Reason("M-8.26", "passed", ("A",)),)


def test_a_column_and_a_gun_disrupt_who_passes_them_and_take_nothing():  # M-6.7, T-37
    through_gun = back(gun("G", "french", 480, 425))
    through_column = back(column("C", "french", 500, 365))
    assert (through_gun["A"].fall_back_mm, through_gun["A"].disruption) == (95, 1)
    assert (through_column["A"].fall_back_mm, through_column["A"].disruption) == (215, 1)
    assert set(through_gun) == set(through_column) == {"A"}


def test_a_friend_with_four_disruptions_is_broken_by_it():  # M-8.26, T-37
    found = back(line("F", "french", 500, 425, disruption=4))
    assert found["F"].is_broken
    assert not found["A"].is_broken


def test_passing_two_friends_costs_two_and_may_break():  # M-8.26
    friends = [line("F", "french", 420, 430), massed("G", "french", 560, 410, heading_deg=0)]
    found = back(*friends, unit=line("A", "french", 500, 480, disruption=3))
    assert found["A"].disruption == 2
    assert found["A"].is_broken
    assert found["A"].falls_back
    assert {name: found[name].disruption for name in "FG"} == {"F": 1, "G": 1}


def test_an_enemy_behind_breaks_it_and_friends_stay_as_they_are():  # M-8.27, T-37
    found = back(line("B", "british", 500, 415), gun("G", "french", 500, 250))
    assert found["A"].is_broken
    assert not found["A"].falls_back
    cause = Reason("M-8.27", "in_the_way", ("B",))
    assert found["A"].because == (Reason("M-8.27", "blocked", (1.0, cause)),)
    assert found["A"].because[0].clause == "cannot fall back 1 BW: B is in the way: broken"


def test_a_friend_whom_it_must_pass_may_drive_it_into_an_enemy():  # M-8.27
    found = back(line("F", "french", 500, 425), gun("B", "british", 500, 360))
    assert found["A"].is_broken
    assert set(found) == {"A"}


def test_who_still_touches_an_enemy_afterwards_is_broken():  # M-8.27
    beside = column("B", "british", 600, 460)
    assert str(back(beside)["A"].because[-1]) == (
        "M-8.27 cannot fall back 1 BW: it would still touch B: broken"
    )


def test_rough_ground_costs_one_and_impassable_ground_breaks():  # M-8.27, T-37
    assert back(ground=(terrain("rough", 425, 435),))["A"].disruption == 1
    assert back(ground=(terrain("rough", 380, 419),))["A"].disruption == 0
    assert back(ground=(terrain("impassable", 425, 435),))["A"].is_broken


def test_ground_that_it_leaves_counts_as_moved_through():  # M-8.27's reading
    assert back(ground=(terrain("woods", 490, 530),))["A"].disruption == 1


def test_four_disruptions_and_rough_ground_break():  # M-8.27
    unit = line("A", "french", 500, 480, disruption=4)
    found = back(ground=(terrain("rough", 425, 435),), unit=unit)
    assert found["A"].is_broken
    assert str(found["A"].because[-1]).startswith("M-1.14 breaks: 5 disruptions")


def test_the_edge_of_the_table_is_impassable():  # M-8.27's reading
    assert back(unit=line("A", "french", 500, 50))["A"].is_broken
    assert not back(unit=line("A", "french", 500, 60))["A"].is_broken


def test_a_hair_of_overlap_is_not_held_against_it():  # G-5, G-6: hands are hands
    beside = line("F", "french", 659, 480)
    touching_front = line("B", "british", 500, 518, heading_deg=270)
    found = back(beside, touching_front)
    assert (found["A"].fall_back_mm, found["A"].disruption, found["A"].is_broken) == (BW, 0, False)


def test_friends_who_fell_back_before_are_passed_where_they_are_now():  # M-8.24
    field = field_of(position(UNIT, line("F", "french", 500, 425)))
    gone = fall_back(field, "A", {"F": CombatResult(is_broken=True)})
    assert (gone["A"].fall_back_mm, gone["A"].disruption) == (BW, 0)
    away = fall_back_path(field, "A", {"F": CombatResult(falls_back=True, fall_back_mm=80.0)})
    assert (away.back_mm, away.passed) == (BW, ())


def test_the_rearmost_fall_back_first_whichever_way_they_face():  # M-8.24
    units = [line("A", "french", 500, 480), line("B", "french", 700, 400)]
    assert rearmost_first(field_of(position(*units)), ["A", "B"]) == ("B", "A")
    turned = [line("A", "french", 500, 480, 270.0), line("B", "french", 700, 400, 270.0)]
    assert rearmost_first(field_of(position(*turned)), ["A", "B"]) == ("A", "B")
    assert rearmost_first(field_of(position(*units)), []) == ()


@settings(max_examples=60)
@given(
    gap_mm=st.floats(0.6, 39.4) | st.floats(40.6, 90.0),
    aside_mm=st.floats(-150.0, 150.0),
    turned_deg=st.floats(0.0, 360.0),
    is_mirrored=st.booleans(),
)
def test_it_ends_just_clear_of_a_friend_or_one_base_width_back(
    gap_mm, aside_mm, turned_deg, is_mirrored
):
    friend = line("F", "french", 500 + aside_mm, 460 - gap_mm - 20)
    units = [turned(unit, turned_deg, is_mirrored) for unit in (UNIT, friend)]
    field = field_of(position(*units))
    way = fall_back_path(field, "A", {})
    is_passed = gap_mm < BW
    assert way.passed == (("F",) if is_passed else ())
    assert way.back_mm == pytest.approx(gap_mm + 2 * BW if is_passed else BW, abs=1e-6)
    assert overlap_mm2(field, way.back_mm) < 1e-3


def overlap_mm2(field: Field, back_mm: float) -> float:
    """What A and F have in common once A has gone back so far, by plain areas."""
    a, f = field.units
    x, y = (math.cos(math.radians(a.axes.heading_deg)), math.sin(math.radians(a.axes.heading_deg)))
    moved = tuple(
        replace(base, x_mm=base.x_mm - x * back_mm, y_mm=base.y_mm - y * back_mm)
        for base in a.unit.bases
    )
    table = replace(field.position.table, width_mm=4000.0, depth_mm=4000.0)
    after = field_of(replace(field.position, units=(replace(a.unit, bases=moved),), table=table))
    return float(after.units[0].outline.intersection(f.outline).area)


def turned(unit: Unit, by_deg: float, is_mirrored: bool) -> Unit:
    """A unit turned about (500, 480), which is brought to (900, 600); mirrored before."""
    turn = math.radians(by_deg)
    bases = []
    for base in unit.bases:
        sign = -1.0 if is_mirrored else 1.0
        x_mm, y_mm = sign * (base.x_mm - 500), base.y_mm - 480
        heading_deg = 180.0 - base.heading_deg if is_mirrored else base.heading_deg
        bases.append(
            replace(
                base,
                x_mm=900 + x_mm * math.cos(turn) - y_mm * math.sin(turn),
                y_mm=600 + x_mm * math.sin(turn) + y_mm * math.cos(turn),
                heading_deg=heading_deg + by_deg,
            )
        )
    return replace(unit, bases=tuple(bases))
