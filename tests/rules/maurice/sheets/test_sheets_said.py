"""Sheets on the book's worked cases, in its words, and the interpretations that decide them."""

import re
from dataclasses import replace

import pytest

from tablecam.table.model import Commander
from tests.rules.maurice.sheets.sheets_asked import (
    BOOK,
    FACING,
    asked,
    lines_of,
    pair_sheet,
    readings_in,
    unit_sheet,
)
from tests.rules.maurice.tables import box, column, gun, line, massed, position

FOOT = line("F1", "french", 500, 400)
MELEE = (FOOT, line("B1", "british", 420, 440, 270), line("B2", "british", 590, 460, 270))
"""M-8.11: in contact with one enemy, another directly ahead within 1 BW."""
BARRED = box("impassable", 200, 460, 800, 480)
ROUGH = box("rough", 900, 350, 1000, 450)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "fire/F1/F1/2/B1",
            "F1's base 2 from the left may shoot B1: short range (2.50 BW), straight ahead, 1 die, "
            "hits on 4+.",
        ),
        (
            "flank/F1/B1",
            "B1 is not to the flank of F1, short by 3.50 BW: none of B1's 4 bases lies "
            "wholly behind F1's front line, and part of it is directly in front of F1.",
        ),
        (
            "span/french-cinc/F1",  # T-3: whole base widths that are no less than the string
            "The distance from French Cinc to F1 is 6.50 BW, straight: cards of 7 BW are enough.",
        ),
    ],
)
def test_a_question_is_answered_in_the_words_of_the_book(question, said):
    assert BOOK.answer(BOOK.rulings(FACING, "french"), question).text == said


@pytest.mark.parametrize(
    ("units", "section", "said"),
    [
        (
            FACING.units,
            "fire",
            "All 4 bases of F1 may shoot B1: short range (2.50 BW), straight ahead, 1 die each, "
            "hits on 4+.",
        ),
        (
            (FOOT, line("F2", "french", 500, 480), line("B1", "british", 500, 560, 270)),
            "fire",
            "None of F1's bases may fire: F2 stands in front of the enemy.",
        ),
        (
            (FOOT, line("B1", "british", 500, 440, 270)),
            "charge",
            "F1 may charge B1, which its front edge already touches.",
        ),
    ],
    ids=["fire", "a friend before the enemy", "in contact"],
)
def test_one_sentence_is_enough_for_a_section(units, section, said):
    (told,) = lines_of(unit_sheet(position(*units), "F1"), section)
    assert told.text == said


def test_bases_with_the_same_target_share_a_question_and_each_shows_its_zone():
    (told,) = lines_of(unit_sheet(FACING, "F1"), "fire")
    assert told.question.id == "fire/F1/F1/1,F1/2,F1/3,F1/4/B1"
    assert told.question.text == "May all 4 bases of F1 shoot B1?"
    assert [shape.role for shape in told.answer.evidence].count("fire-zone") == 4
    alone = position(FOOT, line("B1", "british", 500, 1000))
    section = next(each for each in unit_sheet(alone, "F1").sections if each.key == "fire")
    assert [shape.role for shape in section.shapes] == ["fire-zone"] * 4
    assert all(each.answer.answer == "no" for each in section.lines)


def test_bases_that_turn_by_different_angles_are_told_of_together_with_both():
    aside = position(FOOT, line("B1", "british", 640, 540, 270))
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
    far = position(FOOT, line("B1", "british", 700, 900, 270))
    lines = lines_of(pair_sheet(far, "F1", "B1"), "fire")
    said = "None of F1's bases may shoot B1: it is 11.54 BW away, beyond 4 BW."
    assert [each.text for each in lines if each.text.startswith("None of F1's")] == [said]


def test_two_bases_behind_the_front_line_are_to_the_flank():
    """T-15: from y = 512 to 672 two of four lie wholly behind the front line at 600."""
    tables = position(line("F1", "french", 500, 580), line("B1", "british", 700, 592, 180))
    told = asked(pair_sheet(tables, "F1", "B1"), "flank/F1/B1")
    assert told.answer.answer == "yes"
    assert "B1 is to the flank of F1" in told.text
    assert {"front-line", "counts"} <= {shape.role for shape in told.answer.evidence}


@pytest.mark.parametrize(
    ("units", "terrain", "active", "rule", "is_shown"),
    [
        ((FOOT, line("F2", "french", 660, 400)), (), "french", "M-6.14", True),
        ((FOOT, line("F2", "french", 670, 400)), (), "french", "M-6.14", False),
        ((FOOT, line("B1", "british", 600, 400, 180)), (), "french", "M-8.16", True),
        ((FOOT, line("B1", "british", 600, 400, 180)), (), "british", "M-8.16", False),
        (
            # An enemy engaged with a friendly gun is not engaged with the unit alone.
            (
                FOOT,
                gun("F2", "french", 600, 400),
                line("B1", "british", 440, 440, 270),
                line("B2", "british", 600, 440, 270),
            ),
            (),
            "british",
            "M-8.17",
            True,
        ),
        (
            (FOOT, line("B1", "british", 500, 480, 270)),
            [box("wall", 380, 430, 620, 434)],
            "french",
            "M-7.27",
            True,
        ),
        (
            (FOOT, line("B1", "british", 500, 540, 270)),
            [box("woods", 380, 490, 620, 530)],
            "french",
            "M-7.17",
            True,
        ),
        ((FOOT, line("B1", "british", 720, 560, 270)), (), "french", "M-7.12", True),
    ],
    ids=[
        "flush beside a friend",
        "not flush",
        "flanked, but active",
        "flanked and passive",
        "fights a gun, too",
        "both sides of a wall",
        "past woods",
        "a turned zone",
    ],
)
def test_a_unit_shows_the_readings_that_it_hangs_on(units, terrain, active, rule, is_shown):
    sheet = unit_sheet(position(*units, terrain=terrain), "F1", active=active)
    assert (rule in readings_in(sheet)) == is_shown


@pytest.mark.parametrize(
    ("unit", "rules"),
    [
        (column("F1", "french", 500, 400), {"M-6.2", "M-6.10", "M-6.11"}),
        (gun("F1", "french", 500, 400), {"M-6.18"}),
        (gun("F1", "french", 500, 400, smoke=True), {"M-4.23"}),
        (FOOT, {"M-6.17"}),
        (line("F1", "french", 500, 1150), {"M-6.32"}),
        (line("F1", "french", 950, 400), {"M-5.1", "M-5.2"}),
        (gun("F1", "french", 950, 400, disruption=1), {"M-5.1", "M-6.4"}),
    ],
    ids=["column", "gun", "smoke", "line", "edge", "rough", "gun in rough"],
)
def test_movement_shows_the_readings_that_it_hangs_on(unit, rules):
    lines = lines_of(unit_sheet(position(unit, terrain=[ROUGH]), "F1"), "movement")
    assert rules <= {each.reading.rule for each in lines if each.reading}


CHAIN = (FOOT, line("F2", "french", 720, 400), line("F3", "french", 940, 400))


@pytest.mark.parametrize(
    ("units", "terrain", "question", "answer", "rule"),
    [
        (MELEE, (), "engaged/F1/B1", "yes", None),
        (MELEE, (), "engaged/F1/B2", "yes", "M-8.12"),
        (CHAIN, (), "force/F1/F3", "no", "M-1.15"),
        ((FOOT, line("B1", "british", 500, 540, 270)), [BARRED], "near/F1", "no", "M-1.9"),
        ((FOOT, massed("B1", "british", 500, 500, 270)), (), "charge/F1/B1", "no", "M-8.4"),
        ((FOOT, line("B1", "british", 500, 440.0, 270)), (), "contact/F1/B1", "yes", None),
        ((FOOT, line("B1", "british", 500, 440.6, 270)), (), "contact/F1/B1", "yes", "G-6"),
        ((FOOT, line("B1", "british", 500, 442.0, 270)), (), "contact/F1/B1", "no", "G-8"),
        ((FOOT, line("B1", "british", 500, 445.0, 270)), (), "contact/F1/B1", "no", None),
    ],
    ids=str,
)
def test_a_question_shows_the_reading_that_it_hangs_on(units, terrain, question, answer, rule):
    handle = BOOK.rulings(position(*units, terrain=terrain), "french")
    told = BOOK.answer(handle, question)
    assert (told.answer.answer, told.reading and told.reading.rule) == (answer, rule)


def test_m_5_9_who_attacks_uphill_is_told_how_hills_are_read():
    hill = box("hill", 380, 421, 620, 481)
    uphill = position(FOOT, line("B1", "british", 500, 440, 270), terrain=[hill])
    lines = lines_of(pair_sheet(uphill, "F1", "B1"), "cover")
    assert "M-5.9" in {each.reading.rule for each in lines if each.reading}


def test_friends_of_another_arm_are_named_in_one_line_and_the_pair_says_why():
    (said,) = (each for each in lines_of(unit_sheet(FACING, "F3"), "force") if "link" in each.text)
    assert said.text == "It is not linked with F1: one is artillery, the other infantry."
    told = asked(pair_sheet(FACING, "F3", "F1"), "force/F3/F1")
    assert (told.answer.answer, told.answer.margin_mm) == ("no", 0.0)  # no distance decides
    cover = asked(pair_sheet(FACING, "F1", "B1"), "cover/F1/B1")
    assert (cover.answer.answer, cover.answer.margin_mm) == ("no", 0.0)


def test_enemies_far_off_to_the_front_are_named_in_one_line():
    lines = lines_of(unit_sheet(FACING, "B2", active="british"), "flank")
    assert [each.text for each in lines][-1] == "F2 and F1 are to its front, 4 BW or more away."


def test_m_4_12_the_string_says_which_unit_of_the_force_it_runs_to():
    leader = Commander("french-cinc", "french", 720, 100)
    told = asked(unit_sheet(position(*CHAIN[:2], commanders=[leader]), "F1"), "span/french-cinc/F1")
    assert told.text.endswith("cards of 7 BW are enough; F2 is the nearest unit of F1's force.")
    assert told.reading.rule == "M-4.12"
    assert asked(unit_sheet(FACING, "F1", active="british"), "span/french-cinc/F1").answer


def test_a_bent_column_tells_where_its_front_is_taken_from():
    straight = column("F1", "french", 500, 400)
    first, *rest = straight.bases
    # Turned about the corner that stays in contact with the next base.
    turned = replace(first, x_mm=first.x_mm - 3.2, y_mm=first.y_mm + 3.8, heading_deg=100.0)
    bent = replace(straight, bases=(turned, *rest))
    where = position(bent, line("B1", "british", 600, 500, 270))
    assert asked(pair_sheet(where, "F1", "B1"), "flank/F1/B1").reading.rule == "G-3"
