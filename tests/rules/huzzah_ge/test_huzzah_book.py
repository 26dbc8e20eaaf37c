"""Rulings on units as they lie, which players dispute."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tablecam.rules.huzzah_ge.book import BOOK
from tests.rules.huzzah_ge.battles import DOWN, officer, table, unit

F1, A1 = unit("F1", 60, 40), unit("A1", 60, 47, DOWN)
STAFF = (officer("FC", 60, 10), officer("AC", 60, 90))


def sheet(*things: Any, of: str = "F1") -> dict[str, str]:
    lines = BOOK.unit_sheet(BOOK.rulings(table(*things), "french"), of).lines
    return {line.text: line.answer.answer if line.answer else "" for line in lines}


def test_a_unit_says_how_it_stands_and_whom_it_may_fire_at_h_7_4_h_11_9_h_11_11():
    lines = sheet(F1, A1, *STAFF)
    assert "4 bases, line, trained" in lines
    way = "9.0 cm from their middle to the middle of the front of A1, of 20"
    fires = f"F1 fires with 4 bases: {way}, short range"
    assert lines[fires] == "yes"
    assert lines["F1 could reach A1 by one advance of 15 cm"] == "yes"
    assert lines["The farthest corner of F1 is 31.0 cm from FC of the French, of 40"] == "yes"


def test_a_range_may_be_too_close_to_call_h_7_3():
    unsure = replace(F1, bases=tuple(replace(base, sigma_mm=0.8) for base in F1.bases))
    handle = BOOK.rulings(table(unsure, unit("A1", 60, 58.01, DOWN), *STAFF), "french")
    finding = BOOK.answer(handle, "fire/F1/A1")
    assert finding.answer is not None
    assert finding.answer.answer == "too_close"


def test_who_hides_a_target_is_seen_h_7_6():
    screen = unit("F2", 60, 44, bases=5)
    handle = BOOK.rulings(table(F1, A1, screen, *STAFF), "french")
    assert "does not see A1 clearly" in BOOK.answer(handle, "fire/F1/A1").text


def test_a_unit_that_lacks_a_key_is_named_and_measured_all_the_same_h_1_6():
    odd = replace(F1, extra={"division": "x"})
    handle = BOOK.rulings(table(odd, A1, *STAFF), "french")
    report = BOOK.unit_sheet(handle, "F1")
    assert report.warnings == (
        "No rulings by the book: F1: expected: expected a class such as regulars_b",
    )
    assert any("A1 is 7.0 cm away" in line.text for line in report.lines)
