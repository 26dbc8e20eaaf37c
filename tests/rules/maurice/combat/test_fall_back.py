"""Falling back (M-8.23 to M-8.27): distance, friends passed, and cost (T-37)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.geometry.outlines import unit_footprint
from tablecam.rules.maurice.combat.results import (
    CombatResult,
    fall_back,
    fall_back_path,
    rearmost_first,
)
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.field.terms import Reason
from tablecam.table.headings import forward
from tablecam.table.model import Terrain, Unit
from tablecam.testing import shifted
from tests.rules.maurice.moved import Motion, motions
from tests.rules.maurice.tables import BW, box, column, gun, line, massed, position

UNIT = line("A", "french", 500, 480)
"""Its rear edge lies at y = 460."""


def terrain(kind: str, low_mm: float, high_mm: float) -> Terrain:
    """A piece of terrain across the table."""
    return box(kind, 0, low_mm, 1800, high_mm)


def back(*others: Unit, ground: tuple[Terrain, ...] = (), unit: Unit = UNIT):
    return fall_back(field_of(position(unit, *others, terrain=ground)), unit.id, {})


def test_a_unit_with_nothing_behind_it_goes_one_base_width():  # M-8.24
    found = back()
    assert found == {
        "A": CombatResult(0, False, (Reason("M-8.23", "falling_back", (1.0,)),), True, BW)
    }


NOTHING, RUBBLE = (), (terrain("rough", 425, 435),)
FRIEND = line("F", "french", 500, 425)
BROKEN = None


@pytest.mark.parametrize(
    ("levels", "others", "ground", "back_mm", "gained"),
    [
        (0, [FRIEND], NOTHING, 95, {"A": 1, "F": 1}),
        (0, [gun("F", "french", 480, 425)], NOTHING, 95, {"A": 1}),  # M-6.7
        (0, [column("F", "french", 500, 365)], NOTHING, 215, {"A": 1}),
        (0, [line("F", "french", 500, 425, disruption=4)], NOTHING, 95, {"A": 1, "F": BROKEN}),
        (
            3,
            [line("F", "french", 420, 430), massed("G", "french", 560, 410, heading_deg=0)],
            NOTHING,
            130,
            {"A": BROKEN, "F": 1, "G": 1},
        ),
        (0, [], RUBBLE, 40, {"A": 1}),
        (0, [], (terrain("rough", 380, 419),), 40, {"A": 0}),
        (0, [], (terrain("woods", 490, 530),), 40, {"A": 1}),  # it leaves them
        (4, [], RUBBLE, 40, {"A": BROKEN}),
    ],
    ids=[
        "a friend",
        "a gun",
        "a column",
        "a friend with four",
        "two friends",
        "rough ground",
        "behind where it ends",
        "where it stood",
        "four and rough ground",
    ],
)
def test_t_37_falling_back_costs_one_for_each_friend_and_for_rough_ground(
    levels, others, ground, back_mm, gained
):  # M-8.25 to M-8.27
    found = back(*others, ground=ground, unit=line("A", "french", 500, 480, disruption=levels))
    assert found["A"].falls_back
    assert found["A"].fall_back_mm == pytest.approx(back_mm, abs=1e-9)
    told = {name: None if each.is_broken else each.disruption for name, each in found.items()}
    assert told == gained


def test_m_8_26_who_passes_whom_is_told():
    found = back(FRIEND)
    assert str(found["A"].because[-1]) == "M-8.26 passes through F, +1 disruption"
    assert found["F"].because == (Reason("M-8.26", "passed", ("A",)),)


@pytest.mark.parametrize(
    ("others", "ground", "clause"),
    [
        (
            [line("B", "british", 500, 415), gun("G", "french", 500, 250)],
            (),
            "1 BW: B is in the way",
        ),
        ([FRIEND, gun("B", "british", 500, 360)], (), "2.375 BW: B is in the way"),
        ([column("B", "british", 600, 460)], (), "1 BW: it would still touch B"),
        ([], (terrain("impassable", 425, 435),), "1 BW: "),
    ],
    ids=["an enemy behind", "behind a friend", "still touches", "impassable ground"],
)
def test_t_37_who_cannot_fall_back_breaks_and_friends_stay_as_they_are(others, ground, clause):
    """M-8.27"""
    found = back(*others, ground=ground)
    assert [*found] == ["A"]
    assert (found["A"].is_broken, found["A"].falls_back) == (True, False)
    said = found["A"].because[-1]
    assert (said.rule, said.code) == ("M-8.27", "blocked")
    assert said.clause.startswith(f"cannot fall back {clause}")


@pytest.mark.parametrize(("y_mm", "is_broken"), [(50, True), (60, False)])
def test_m_8_27_the_edge_of_the_table_is_impassable(y_mm, is_broken):
    assert back(unit=line("A", "french", 500, y_mm))["A"].is_broken == is_broken


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
    motion=motions,
)
def test_it_ends_just_clear_of_a_friend_or_one_base_width_back(gap_mm, aside_mm, motion: Motion):
    friend = line("F", "french", 500 + aside_mm, 460 - gap_mm - 20)
    field = field_of(position(*map(motion.unit, (UNIT, friend))))
    way = fall_back_path(field, "A", {})
    is_passed = gap_mm < BW
    assert way.passed == (("F",) if is_passed else ())
    assert way.back_mm == pytest.approx(gap_mm + 2 * BW if is_passed else BW, abs=1e-6)
    # Checked by plain areas.
    a, f = field.units
    x, y = forward(a.axes.heading_deg)
    there = unit_footprint(shifted(a.unit, -x * way.back_mm, -y * way.back_mm))
    assert there.intersection(f.outline).area < 1e-3
