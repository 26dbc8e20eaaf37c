"""Sheets as a terminal shows them."""

from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.printed import rulings_notes, rulings_tables
from tablecam.rules.reports import report_lines
from tests.rules.maurice.sheets.sheets_asked import sheet_of
from tests.rules.maurice.tables import line, position

FACING = Rulings(
    field_of(position(line("F1", "french", 500, 400), line("B1", "british", 500, 540, 270))),
    "french",
)


def test_each_sentence_has_its_answer_before_it_and_its_rule_behind_it():
    said = "\n".join(report_lines(sheet_of(FACING, "F1", "B1"), width=300))
    assert "\nContact\n  no         F1 and B1 do not touch: the gap is 100.0 mm. [M-1.10]\n" in said
    assert "\nCharge\n  yes        F1 may charge B1: it goes 2.50 BW ahead" in said


def test_no_line_is_longer_than_the_window_and_nothing_is_lost():
    sheet = sheet_of(FACING, "F1")
    narrow = list(report_lines(sheet, width=60))
    assert max(map(len, narrow)) <= 60
    wide = " ".join(report_lines(sheet, width=400)).split()
    assert " ".join(narrow).split() == wide


def test_one_rule_alone_leaves_out_the_sections_that_say_nothing_of_it():
    titles = list(report_lines(sheet_of(FACING, "F1"), width=100, rule="M-7"))
    assert "Fire" in titles
    assert "Charge" not in titles


def test_a_reading_stands_beneath_the_line_that_it_decides():
    said = list(report_lines(sheet_of(FACING, "F1"), width=400, rule="M-6.2"))
    assert said[-1].strip().startswith("Interpretation: only the start and end of a move are known")


def test_a_column_in_which_there_is_nothing_is_left_out_unless_it_was_asked_for():
    (units, *_) = rulings_tables(FACING)
    assert not any("flanked by" in head or "ground" in head for head in units.heads)
    (asked,) = rulings_tables(FACING, rule="M-1.13")
    assert any("flanked by" in head for head in asked.heads)


def test_bases_are_told_in_little_room():
    fire = next(table for table in rulings_tables(FACING) if table.title == "Fire")
    assert [row[:3] for row in fire.rows] == [("F1", "all 4", "B1"), ("B1", "all 4", "F1")]


def test_what_is_too_close_and_how_the_book_is_read_stand_under_titles():
    apart = position(
        line("F1", "french", 500, 400, sigma_mm=0.3), line("B1", "british", 500, 600.1, 270)
    )
    notes = rulings_notes(Rulings(field_of(apart), "french"))
    assert notes[0] == "Too close to call"
    assert notes[1].startswith("  M-1.9: ")
    assert "Interpretation" in notes
