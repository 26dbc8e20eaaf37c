"""What sheets say of fire, in the book's words."""

import re

import pytest

from tests.rules.maurice.sheets.sheets_asked import (
    BOOK,
    FACING,
    lines_of,
    pair_sheet,
    readings_in,
    strip,
    unit_sheet,
)
from tests.rules.maurice.tables import line, position


def test_a_shooter_is_told_range_angle_dice_and_number():
    told = BOOK.answer(BOOK.rulings(FACING, "french"), "fire/F1/F1/2/B1")
    assert told.text == (
        "F1's base 2 from the left may shoot B1: short range (2.50 BW), straight ahead, 1 die, "
        "hits on 4+."
    )
    assert told.answer.margin_mm == pytest.approx(60.0)


def test_bases_with_the_same_target_share_a_line_and_a_question():
    (told,) = lines_of(unit_sheet(FACING, "F1"), "fire")
    assert told.text == (
        "All 4 bases of F1 may shoot B1: short range (2.50 BW), straight ahead, 1 die each, hits "
        "on 4+."
    )
    assert told.question.id == "fire/F1/F1/1,F1/2,F1/3,F1/4/B1"
    assert told.question.text == "May all 4 bases of F1 shoot B1?"
    zones = [shape for shape in told.answer.evidence if shape.role == "fire-zone"]
    assert len(zones) == 4


def test_bases_that_turn_by_different_angles_are_told_of_together_with_both():
    aside = position(line("F1", "french", 500, 400), line("B1", "british", 640, 540, 270))
    turned, ahead = lines_of(unit_sheet(aside, "F1"), "fire")
    assert ahead.text.startswith(
        "F1's right base may shoot B1: short range (2.50 BW), straight ahead"
    )
    assert turned.text.startswith(
        "F1's bases 1, 2 and 3 from the left may shoot B1: short range (2."
    )
    assert re.search(r"BW\), turned \d+° to \d+° to the right, 1 die each", turned.text)
    assert turned.reading.rule == "M-7.12"


def test_bases_that_are_stopped_by_the_same_share_a_line():
    far = position(line("F1", "french", 500, 400), line("B1", "british", 700, 900, 270))
    (told,) = [
        each
        for each in lines_of(pair_sheet(far, "F1", "B1"), "fire")
        if each.text.startswith("None of F1's bases")
    ]
    assert told.text == "None of F1's bases may shoot B1: it is 11.54 BW away, beyond 4 BW."


def test_every_base_that_may_fire_shows_its_zone_even_without_targets():
    alone = position(line("F1", "french", 500, 400), line("B1", "british", 500, 1000))
    section = next(each for each in unit_sheet(alone, "F1").sections if each.key == "fire")
    assert [shape.role for shape in section.shapes] == ["fire-zone"] * 4
    assert all(each.answer.answer == "no" for each in section.lines)


def test_who_stands_in_the_way_of_fire_is_named():
    blocked = position(
        line("F1", "french", 500, 400),
        line("F2", "french", 500, 480),
        line("B1", "british", 500, 560, 270),
    )
    (told,) = lines_of(unit_sheet(blocked, "F1"), "fire")
    assert told.text == "None of F1's bases may fire: F2 stands in front of the enemy."
    assert told.answer.rule == "M-7.15"


def test_both_sides_of_a_wall_that_is_not_flush_show_how_far_fire_carries():
    walled = position(
        line("F1", "french", 500, 400),
        line("B1", "british", 500, 480, 270),
        terrain=[strip("wall", "wall", 380, 430, 240, 4)],
    )
    assert "M-7.27" in readings_in(unit_sheet(walled, "F1"))


def test_fire_past_woods_shows_how_far_it_carries():
    wooded = position(
        line("F1", "french", 500, 300),
        line("B1", "british", 500, 440, 270),
        terrain=[strip("wood", "woods", 380, 390, 240, 40)],
    )
    assert "M-7.17" in readings_in(unit_sheet(wooded, "F1"))


def test_a_turned_zone_shows_its_reading():
    aside = position(line("F1", "french", 500, 400), line("B1", "british", 720, 560, 270))
    assert "M-7.12" in readings_in(unit_sheet(aside, "F1"))
