"""Rulings on units as they lie, which players dispute."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tablecam.live.questions import measure
from tablecam.rules.syw_d6.book import BOOK
from tests.rules.syw_d6.battles import DOWN, UP, commander, table, unit

F1, A1 = unit("F1", 20, 20), unit("A1", 22, 22, DOWN)


def sheet(*things: Any, of: str = "F1") -> dict[str, str]:
    handle = BOOK.rulings(table(*things), "french")
    lines = BOOK.unit_sheet(handle, of).lines
    return {line.text: line.answer.answer if line.answer else "" for line in lines}


def pair(*things: Any) -> Any:
    return BOOK.rulings(table(*things), "french")


def test_a_unit_says_how_it_stands_s_l_8_s_k_1_s_h_7():
    lines = sheet(F1, A1, commander("F", 20, 10), unit("F2", 36, 20))
    assert "24 figures, line, in order" in lines
    assert lines["The nearest commander of F1 is 9.0 in away, within 18"] == "yes"
    assert lines["F1 has friends in sight within 18 in"] == "yes"
    assert lines["F1 fires at A1 with 22 dice: 2.0 in away, of its 6 in"] == "yes"
    assert "F1 fires up to 6 in, at short range up to 3 in" in lines  # S-D.8


def test_a_range_may_be_too_close_to_call_s_d_8():
    unsure = replace(F1, bases=tuple(replace(base, sigma_mm=0.8) for base in F1.bases))
    handle = pair(unsure, unit("A1", 20, 26.01, DOWN))
    finding = BOOK.answer(handle, "fire/F1/A1")
    assert finding.answer is not None
    assert finding.answer.answer == "too_close"


@pytest.mark.parametrize(
    ("place", "before"),
    [((22, 26, DOWN), {"front"}), ((28, 26, UP), {"left flank", "rear"})],
    ids=["head on", "from behind and beside"],
)
def test_the_edges_that_a_unit_may_strike_s_b_14(place, before):
    handle = pair(F1, unit("A1", *place))
    sides = ("front", "left flank", "right flank", "rear")
    struck = set()
    for side in sides:
        finding = BOOK.answer(handle, f"edge/{side.replace(' ', '-')}/F1/A1")
        assert finding.answer is not None
        struck |= {side} if finding.answer.answer == "yes" else set()
    assert struck == before
    far = BOOK.pair_sheet(pair(F1, unit("A1", 22, 40, DOWN)), "F1", "A1")
    assert "charge" not in [section.key for section in far.sections]


def test_why_a_unit_may_not_fire_is_said_s_l_11():
    column = unit("F1", 20, 20, bases=8, ranks=4)
    finding = BOOK.answer(pair(column, A1), "fire/F1/A1")
    assert finding.text == "F1 may not fire at A1: a column of march cannot fire"


def test_a_table_without_figures_still_measures_and_says_why_s_0_4():
    bare = replace(F1, extra={})
    handle = pair(bare, A1)
    for report in (BOOK.unit_sheet(handle, "A1"), BOOK.pair_sheet(handle, "F1", "A1")):
        assert report.sections
        assert report.warnings == (
            "No rulings by the sheet: F1: experience: expected this key, but it is missing",
        )


def test_bases_that_lie_on_each_other_are_told_of_s_j_6():
    pushed = replace(A1, id="F2", side="french", bases=F1.bases[:1])
    (warning,) = BOOK.unit_sheet(pair(F1, pushed, A1), "F1").warnings
    assert "overlap by" in warning
    assert BOOK.unit_sheet(pair(F1, pushed, A1), "A1").warnings == ()


def test_a_tape_to_an_enemy_tells_how_far_the_own_weapon_reaches_s_d_8():
    gun = unit("FG", 20, 15, arm="artillery", figures=3, files=3, bases=1, gun="light")
    position = table(gun, F1, A1)
    reaches = [one["range"] for one in measure(position, "unit:FG", "unit:A1", None)["within"]]
    assert reaches == [6, 12], "a light gun has no long range"
    to_friend = measure(position, "unit:FG", "unit:F1", None)["within"]
    assert [one["range"] for one in to_friend] == [18], "so far it supports (S-H.7)"
