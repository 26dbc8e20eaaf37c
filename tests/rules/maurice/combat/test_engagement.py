"""Engagements: the worked examples of the rule sheet, and irrelevant changes."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from tablecam.rules.games import known_games
from tablecam.rules.maurice.combat.engagement import engagements
from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.table.model import Unit
from tablecam.table.position_file import position_from_json
from tests.rules.maurice.tables import BW, EAST, SOUTH, WEST, gun, line, massed, position


def engaged(field: Field, active: str = "french") -> dict[str, tuple[str, ...]]:
    found = engagements(field, active)
    return {unit.id: found.enemies_of(unit.id) for unit in field.units}


FOOT = line("F1", "french", 600, 480)


def four_cavalry() -> list[Unit]:  # M-8.11
    return [
        massed("A", "french", 500, 460),
        massed("B", "french", 580, 460),
        massed("C", "french", 660, 460),
        massed("D", "french", 760, 460),
        line("1", "british", 410, 550, SOUTH),
        line("2", "british", 580, 520, SOUTH),
        line("3", "british", 750, 550, SOUTH),
    ]


def test_four_cavalry_are_engaged_as_the_book_tells():  # M-8.11
    found = engaged(field_of(position(*four_cavalry())))
    assert found == {
        "A": ("1", "2"),
        "B": ("2",),
        "C": ("2", "3"),
        "D": (),
        "1": ("A",),
        "2": ("A", "B", "C"),
        "3": ("C",),
    }


def test_the_other_side_attacking_is_seen_from_its_own_fronts():  # M-8.10
    field = field_of(position(*four_cavalry()))
    assert engaged(field, "british")["2"] == ("A", "B", "C")
    assert engagements(field, "french").in_front_contact("A") == ("2",)


def thin(unit: Unit, depth_mm: float) -> Unit:
    return replace(unit, bases=tuple(replace(base, depth_mm=depth_mm) for base in unit.bases))


@pytest.mark.parametrize(
    ("first_x_mm", "second_x_mm", "is_engaged"),
    [(600, 600, False), (561, 640, False), (560, 640, True), (559, 640, True)],
    ids=["hidden", "39 mm", "a whole base", "41 mm"],
)
def test_m_8_12_a_second_line_is_engaged_once_a_whole_base_overlaps_the_first(
    first_x_mm, second_x_mm, is_engaged
):
    """The last base's left line of sight has to pass the end of the first line."""
    first = thin(line("1", "british", first_x_mm, 513, SOUTH), 26)
    second = line("2", "british", second_x_mm, 550, SOUTH)
    assert ("2" in engaged(field_of(position(FOOT, first, second)))["F1"]) == is_engaged


@pytest.mark.parametrize(("gap_mm", "is_engaged"), [(39.9, True), (40.0, True), (40.1, False)])
def test_exactly_one_base_width_is_within_it(gap_mm, is_engaged):  # M-8.10, G-2
    field = field_of(
        position(
            FOOT,
            gun("1", "british", 540, 520, SOUTH),
            gun("2", "british", 660, 520 + gap_mm, SOUTH),
        )
    )
    assert ("2" in engaged(field)["F1"]) == is_engaged


@pytest.mark.parametrize(("gap_mm", "touches"), [(0.0, True), (1.0, True), (1.1, False)])
def test_front_contact_is_a_gap_of_at_most_a_millimetre(gap_mm, touches):  # M-8.10, G-6
    field = field_of(position(FOOT, gun("1", "british", 640, 520 + gap_mm, SOUTH)))
    assert engagements(field, "french").in_front_contact("F1") == (("1",) if touches else ())


@pytest.mark.parametrize("slipped_mm", [-0.3, 0.0, 0.8])
def test_an_enemy_flush_along_the_flank_is_not_at_the_front(slipped_mm):  # M-8.10
    flanking = line("1", "british", 700 - slipped_mm, 480, WEST)
    field = field_of(position(FOOT, flanking))
    assert engaged(field)["F1"] == ()


def test_a_neighbour_that_meets_only_the_corner_is_not_engaged():  # G-5
    field = field_of(
        position(FOOT, line("1", "british", 600, 520, SOUTH), line("2", "british", 760, 520, SOUTH))
    )
    assert engaged(field)["F1"] == ("1",)


def test_a_corner_that_meets_the_front_edge_touches_it():  # M-8.10
    field = field_of(position(FOOT, gun("1", "british", 600, 500 + BW / math.sqrt(2), 225)))
    assert engaged(field)["F1"] == ("1",)


def test_a_rank_that_is_not_quite_straight_touches_the_front_all_the_same():  # G-7
    """One base is 0.3 mm ahead of its rank, and reaches 0.1 mm into the strip of the horse."""
    rank = line("1", "british", 559.9, 520.0, SOUTH)
    uneven = tuple(replace(base, y_mm=519.7) if base.x_mm > 600 else base for base in rank.bases)
    horse = massed("F1", "french", 560, 460)
    field = field_of(position(horse, replace(rank, bases=uneven)))
    assert engaged(field)["F1"] == ("1",)


def test_horse_that_touches_one_and_nears_the_flank_of_another_engages_both():  # M-8.13
    horse, side_on = massed("F1", "french", 600, 460), line("1", "british", 620, 610, EAST)
    alone = field_of(position(horse, side_on))
    assert engaged(alone)["F1"] == ()
    touching = field_of(position(horse, side_on, line("2", "british", 500, 520, SOUTH)))
    assert engaged(touching)["F1"] == ("1", "2")


def test_friends_hide_enemies_too():  # M-8.12: units of either side
    units = [FOOT, line("1", "british", 500, 520, SOUTH), line("2", "british", 660, 555, SOUTH)]
    assert engaged(field_of(position(*units)))["F1"] == ("1", "2")
    before = thin(line("F2", "french", 660, 516), 20)
    assert engaged(field_of(position(*units, before)))["F1"] == ("1",)


def test_why_two_are_engaged_is_drawn_either_way_round():
    found = engagements(field_of(position(*four_cavalry())), "french")
    assert {shape.role for shape in found.evidence("A", "2")} == {"front-edge", "contact"}
    assert {shape.role for shape in found.evidence("1", "A")} == {"lane", "line-of-attack"}
    assert found.evidence("D", "3") == ()
    assert "0.75 BW in front of its front edge" in found.pairs["C", "3"].because


def test_the_case_of_the_overlapping_attacker(shared: Path):  # M-8.12
    case = json.loads((shared / "cases/maurice-lite/105-engaged-overlap.json").read_text())
    found = engaged(
        field_of(position_from_json(case["position"], games=known_games())), case["active"]
    )
    assert found == {"F1": ("B1", "B2"), "B1": ("F1",), "B2": ("F1",)}
