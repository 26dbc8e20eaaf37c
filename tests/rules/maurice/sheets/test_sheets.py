"""Sheets: what a page is told of a unit and of two, section by section."""

from dataclasses import replace

import pytest

from tablecam.errors import BadInput
from tablecam.rules.books import book_of
from tablecam.rules.maurice.rulings.interpretations import INTERPRETATIONS
from tests.rules.maurice.afresh import afresh
from tests.rules.maurice.sheets.sheets_asked import (
    BOOK,
    FACING,
    FRIENDS_KEYS,
    PAIR_KEYS,
    UNIT_KEYS,
    pair_sheet,
    unit_sheet,
)
from tests.rules.maurice.tables import line


def test_there_is_no_book_for_a_game_without_rules():
    assert book_of("free") is None


def test_a_units_sheet_has_all_sections_in_order_and_each_says_something():
    for unit in ("F1", "F2", "F3", "B1", "B2"):
        sheet = unit_sheet(FACING, unit)
        assert [section.key for section in sheet.sections] == UNIT_KEYS
        assert all(section.lines for section in sheet.sections)


def test_a_pairs_sheet_has_all_sections_in_order_and_each_says_something():
    for a, b in (("F1", "B1"), ("B1", "F1"), ("F1", "F2"), ("F3", "B2")):
        sheet = pair_sheet(FACING, a, b)
        keys = FRIENDS_KEYS if (a, b) == ("F1", "F2") else PAIR_KEYS
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


def test_every_sentence_is_one_line_that_ends():
    for each in (*unit_sheet(FACING, "F1").lines, *pair_sheet(FACING, "F1", "B1").lines):
        assert each.text.endswith(".")
        assert not each.text.endswith("..")
        assert "\n" not in each.text


def test_readings_shown_are_those_written_down():
    for each in (*unit_sheet(FACING, "F1").lines, *unit_sheet(FACING, "F3").lines):
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


def test_sheets_after_a_move_are_as_if_made_afresh():
    moved = replace(FACING, units=(line("F1", "french", 500, 410), *FACING.units[1:]))

    def said(where):
        handle = BOOK.rulings(where, "french")
        return [BOOK.unit_sheet(handle, unit).to_json() for unit in ("F1", "F2", "B1", "B2")]

    said(FACING)
    remembered = said(moved)
    afresh(moved)
    assert remembered == said(moved)
