"""Bases of any shape, tables of any size, and the irrelevance of height (M-1.1 to M-1.3, G-9)."""

from dataclasses import replace

import pytest

from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.movement.judge import judge_move
from tablecam.rules.maurice.place.ranges import near_enemy
from tablecam.simulate.demo import embedded_demo
from tablecam.table.model import TableSize, Terrain
from tests.rules.maurice.tables import BW, SOUTH, box, gun, line, position


def shaped(unit, width_mm, depth_mm):
    bases = tuple(
        replace(base, width_mm=width_mm, depth_mm=depth_mm, x_mm=500 + (place - 1.5) * width_mm)
        for place, base in enumerate(unit.bases)
    )
    return replace(unit, bases=bases)


@pytest.mark.parametrize(
    ("width_mm", "depth_mm", "is_odd"),
    [(40, 40, False), (60, 40, False), (40, 26, False), (60, 30, True), (30, 40, True)],
)
def test_m_1_1_odd_bases_are_warned_of_and_ruled_on(width_mm, depth_mm, is_odd):
    unit = shaped(line("F1", "french", 500, 400), width_mm, depth_mm)
    warnings = field_of(position(unit)).warnings
    said = f"unit F1 has bases of {width_mm} x {depth_mm} mm: the rules (M-1.1) expect bases"
    assert [each.startswith(said) for each in warnings] == [True] * is_odd


def test_m_1_1_units_on_the_same_odd_bases_are_told_of_in_one_sentence():
    lines = [
        line(name, "french", 500, y_mm) for name, y_mm in zip("ABC", (200, 400, 600), strict=True)
    ]
    (said,) = field_of(position(*(shaped(unit, 30, 36) for unit in lines))).warnings
    assert said.startswith("units A, B, C have bases of 30 x 36 mm")


def test_m_1_1_the_demo_begins_on_bases_that_the_rules_are_made_for():
    """Every ruling used to repeat the warning about its cavalry six times."""
    assert field_of(embedded_demo().truth()).warnings == ()


def test_m_5_1_who_stands_on_impassable_ground_is_told():
    town = box("impassable", 400, 300, 600, 500, "town")
    inside, outside = line("F1", "french", 650, 400), line("F2", "french", 1200, 400)
    (said,) = field_of(position(inside, outside, terrain=[town])).warnings
    assert said == "F1 stands on impassable ground (M-5.1)"


def test_m_1_1_guns_are_as_deep_as_they_like():
    deep = gun("G1", "french", 500, 400)
    deep = replace(deep, bases=(replace(deep.bases[0], depth_mm=80.0),))
    assert field_of(position(deep)).warnings == ()


def test_m_1_2_half_of_an_odd_allowance_is_rounded_up():
    start = line("F1", "french", 500, 400)
    field = field_of(position(start))
    for back_bw, extra_bw, is_legal in ((2, 0, True), (3, 0, False), (3, 1, True), (3.5, 2, False)):
        end = line("F1", "french", 500, 400 - back_bw * BW).bases
        found = judge_move(field, field.by_id["F1"], end, extra_bw=extra_bw)
        assert (found.is_legal.answer == "yes") == is_legal, (back_bw, extra_bw)


@pytest.mark.parametrize("bw_mm", [38.0, 40.0, 51.0])
def test_m_1_2_a_bw_is_what_players_say_it_is(bw_mm):
    units = line("F1", "french", 500, 400), line("B1", "british", 500, 440 + 160, SOUTH)
    table = position(*units)
    table = replace(table, table=replace(table.table, base_width_mm=bw_mm))
    field = field_of(table)
    near = near_enemy(field, field.by_id["F1"])
    assert near.distance_bw == pytest.approx(160 / bw_mm)
    assert near.is_near == (4 * bw_mm >= 160)


@pytest.mark.parametrize("size", [(1829, 1219), (2438, 1524), (900, 2000)])
def test_m_1_3_a_table_may_be_any_rectangle(size):
    units = line("F1", "french", 500, 400), line("B1", "british", 500, 700, SOUTH)
    table = replace(position(*units), table=TableSize(*size, BW))
    assert GAME.position(GAME.begin(table, {})).table.width_mm == size[0]


def test_g_9_hills_change_no_length():
    units = line("F1", "french", 500, 400), line("B1", "british", 500, 600, SOUTH)
    hill = Terrain("h", "hill", ((300, 450), (700, 450), (700, 800), (300, 800)), height_mm=40)
    lengths = []
    for terrain in ([], [hill]):
        field = field_of(position(*units, terrain=terrain))
        lengths.append(near_enemy(field, field.by_id["F1"]).distance_bw)
    assert lengths == [4.0, 4.0]
