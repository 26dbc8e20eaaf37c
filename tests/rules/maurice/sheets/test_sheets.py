"""Sheets: reports on one unit and on two, what they omit, and their form in a terminal."""

from dataclasses import replace

import pytest

from tablecam.errors import BadInput
from tablecam.rules.books import book_of
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.interpretations import INTERPRETATIONS
from tablecam.rules.maurice.rulings.rulings import rulings_notes, rulings_tables
from tablecam.rules.reports import report_lines
from tablecam.table.model import Commander
from tests.rules.maurice.sheets.sheets_asked import (
    BOOK,
    FACING,
    FRIENDS_KEYS,
    PAIR_KEYS,
    UNIT_KEYS,
    pair_sheet,
    sheet_of,
    unit_sheet,
)
from tests.rules.maurice.tables import gun, line, position


def test_there_is_no_book_for_a_game_without_rules():
    assert book_of("free") is None


PAIRS = (("F1", "B1"), ("B1", "F1"), ("F3", "B2"))


@pytest.mark.parametrize(
    ("sheet", "keys"),
    [
        *((unit_sheet(FACING, unit), UNIT_KEYS) for unit in ("F1", "F2", "F3", "B1", "B2")),
        *((pair_sheet(FACING, a, b), PAIR_KEYS) for a, b in PAIRS),
        (pair_sheet(FACING, "F1", "F2"), FRIENDS_KEYS),
    ],
)
def test_a_sheet_has_all_sections_in_order_and_each_says_something(sheet, keys):
    assert [section.key for section in sheet.sections] == keys
    assert all(section.lines for section in sheet.sections)


@pytest.mark.parametrize("active", ["french", "british"])
def test_every_question_of_a_sheet_is_answered_by_the_line_that_shows_it(active):
    handle = BOOK.rulings(FACING, active)
    shown = [
        *BOOK.unit_sheet(handle, "F1").lines,
        *BOOK.unit_sheet(handle, "B2").lines,
        *BOOK.pair_sheet(handle, "F1", "B1").lines,
        *BOOK.pair_sheet(handle, "F1", "F2").lines,
        *BOOK.pair_sheet(handle, "F3", "B2").lines,
    ]
    with_question = [each for each in shown if each.question]
    assert len(with_question) > 20
    for each in with_question:
        answered = BOOK.answer(handle, each.question.id)
        assert answered.question == each.question
        assert answered.answer is not None


def test_every_sentence_is_one_line_that_ends_and_readings_are_those_written_down():
    sheets = (*(unit_sheet(FACING, unit) for unit in ("F1", "F3")), pair_sheet(FACING, "F1", "B1"))
    for each in (each for sheet in sheets for each in sheet.lines):
        assert each.text.endswith(".")
        assert not each.text.endswith("..")
        assert "\n" not in each.text
        if each.reading:
            assert each.reading.text == INTERPRETATIONS[each.reading.rule]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda handle: BOOK.unit_sheet(handle, "F9"), 'no unit "F9" on the table'),
        (lambda handle: BOOK.pair_sheet(handle, "F1", "F1"), "expected two units, got F1 twice"),
        (lambda handle: BOOK.answer(handle, "flank/F1/F2"), "expected the id of a question"),
        (lambda handle: BOOK.answer(handle, ""), "expected the id of a question"),
        (lambda handle: BOOK.answer(handle, "near"), "expected the id of a question"),
    ],
    ids=["unknown unit", "one unit twice", "no such question", "empty", "nobody"],
)
def test_what_cannot_be_answered_is_refused_in_one_line(ask, said):
    with pytest.raises(BadInput, match=said):
        ask(BOOK.rulings(FACING, "french"))


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("span/prussian-cinc/F1", "such as span/french-cinc/F1, got"),
        ("flank/F1/B11", "such as flank/F1/B1, got"),
        ("fire/F1/F1-2/B1", "such as fire/F1/F1/"),
        ("near/f1", "such as near/F1, got"),
        ("charge/F1", "such as charge/F1/B1, got"),
        ("flanks/F1/B1", "which begins with one of near, contact, flank, fire, "),
    ],
)
def test_who_asks_what_the_page_does_not_is_told_what_it_asks(question, meant):
    with pytest.raises(BadInput) as refused:
        BOOK.answer(BOOK.rulings(FACING, "french"), question)
    assert str(refused.value).startswith("question: expected the id of a question on the page, ")
    assert meant in str(refused.value)


def test_an_empty_table_answers_no_question():
    with pytest.raises(BadInput, match='a question on the page, got "flank/F1/B1"'):
        BOOK.answer(BOOK.rulings(replace(FACING, units=()), "french"), "flank/F1/B1")


# Units whose poses allow no rulings.


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        (line("F1", "french", 20, 400), "is off the table"),
        (line("F1", "french", 500, 400, sigma_mm=11.0), "is too uncertain"),
    ],
)
def test_a_unit_of_which_nothing_can_be_said_is_left_out(unit, said):
    where = position(unit, line("F2", "french", 900, 400), line("B1", "british", 800, 540))
    assert said in unit_sheet(where, "F1").warnings[0]
    assert unit_sheet(where, "F2").sections


@pytest.mark.parametrize("missing", [1, 3])
def test_a_unit_that_lacks_bases_is_left_out_and_the_others_are_ruled_on(missing):
    whole = line("F1", "french", 500, 400)
    partly = replace(whole, bases=whole.bases[missing:])
    where = position(partly, line("F2", "french", 800, 400), line("B1", "british", 800, 540, 270))
    sheet = unit_sheet(where, "F1")
    assert sheet.sections == ()
    assert sheet.warnings == (f"F1 is left out: {4 - missing} of its 4 bases are on the table",)
    other = unit_sheet(where, "F2")
    assert len(other.sections) == len(UNIT_KEYS)
    assert sheet.warnings[0] in other.warnings
    pair = pair_sheet(where, "B1", "F1")
    assert (pair.sections, pair.warnings[0]) == ((), sheet.warnings[0])


def test_what_is_odd_about_other_units_is_not_said_of_a_unit():
    deep = line("F2", "french", 800, 400)
    deep = replace(deep, bases=tuple(replace(base, depth_mm=60.0) for base in deep.bases))
    where = position(line("F1", "french", 500, 400), deep, line("B1", "british", 800, 560, 270))
    (warning,) = unit_sheet(where, "F2").warnings
    assert "F2" in warning
    assert unit_sheet(where, "F1").warnings == ()
    assert pair_sheet(where, "F2", "B1").warnings == (warning,)


def test_units_of_any_name_are_told_what_is_odd_about_them():
    guns = gun("Old Guard", "french", 500, 400), gun("Guard", "french", 538, 400)
    (overlap,) = unit_sheet(position(*guns), "Old Guard").warnings
    assert unit_sheet(position(*guns), "Guard").warnings == (overlap,)
    broken = gun("Old Guard", "french", 500, 400, disruption=2), gun("Guard", "french", 600, 400)
    assert "it is broken" in unit_sheet(position(*broken), "Old Guard").warnings[0]
    assert unit_sheet(position(*broken), "Guard").warnings == ()


def test_a_commander_beside_the_table_is_told_of_to_his_own_side():  # M-4.12
    units = gun("F1", "french", 500, 400), gun("B1", "british", 500, 600)
    where = position(*units, commanders=[Commander("cinc", "french", 500, -100)])
    assert unit_sheet(where, "F1").warnings == ("commander Cinc is 100.0 mm off the table",)
    assert unit_sheet(where, "B1").warnings == ()


def test_of_two_units_on_top_of_each_other_the_hidden_one_is_left_out():
    seen = line("F1", "french", 500, 400)
    other = line("B1", "british", 500, 420)
    hidden = replace(other, bases=tuple(replace(base, seen="held") for base in other.bases))
    assert unit_sheet(position(seen, hidden), "F1").sections
    assert not unit_sheet(position(seen, hidden), "B1").sections
    assert not unit_sheet(position(seen, other), "F1").sections


# Sheets as a terminal shows them.

TWO = Rulings(
    field_of(position(line("F1", "french", 500, 400), line("B1", "british", 500, 540, 270))),
    "french",
)


def test_each_sentence_has_its_answer_before_it_and_its_rule_behind_it():
    said = "\n".join(report_lines(sheet_of(TWO, "F1", "B1"), width=300))
    assert "\nContact\n  no         F1 and B1 do not touch: the gap is 100.0 mm. [M-1.10]\n" in said
    assert "\nCharge\n  yes        F1 may charge B1: it goes 2.50 BW ahead" in said


def test_no_line_is_longer_than_the_window_and_nothing_is_lost():
    sheet = sheet_of(TWO, "F1")
    narrow = list(report_lines(sheet, width=60))
    assert max(map(len, narrow)) <= 60
    wide = " ".join(report_lines(sheet, width=400)).split()
    assert " ".join(narrow).split() == wide


def test_one_rule_alone_leaves_out_the_sections_that_say_nothing_of_it():
    titles = list(report_lines(sheet_of(TWO, "F1"), width=100, rule="M-7"))
    assert "Fire" in titles
    assert "Charge" not in titles


def test_a_reading_stands_beneath_the_line_that_it_decides():
    said = list(report_lines(sheet_of(TWO, "F1"), width=400, rule="M-6.2"))
    assert said[-1].strip().startswith("Interpretation: only the start and end of a move are known")


def test_a_column_in_which_there_is_nothing_is_left_out_unless_it_was_asked_for():
    (units, *_) = rulings_tables(TWO)
    assert not any("flanked by" in head or "ground" in head for head in units.heads)
    (asked,) = rulings_tables(TWO, rule="M-1.13")
    assert any("flanked by" in head for head in asked.heads)


def test_bases_are_told_in_little_room():
    fire = next(table for table in rulings_tables(TWO) if table.title == "Fire")
    assert [row[:3] for row in fire.rows] == [("F1", "all 4", "B1"), ("B1", "all 4", "F1")]


def test_what_is_too_close_and_how_the_book_is_read_stand_under_titles():
    apart = position(
        line("F1", "french", 500, 400, sigma_mm=0.3), line("B1", "british", 500, 600.1, 270)
    )
    notes = rulings_notes(Rulings(field_of(apart), "french"))
    assert notes[0] == "Too close to call"
    assert notes[1].startswith("  M-1.9: ")
    assert "Interpretation" in notes
