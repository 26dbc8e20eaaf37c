"""Decides whether one thing is within a range of another."""

from __future__ import annotations

from tablecam.geometry.rectangles import Array
from tablecam.table.model import LengthUnit, TableSize, base_widths
from tablecam.uncertainty.answer import Answer, AnswerWord, decide
from tablecam.uncertainty.lengths import Length
from tablecam.uncertainty.samples import decide_sampled

_AS_WORDS = {"yes": "within", "no": "beyond"}


def within(
    length: Length,
    limit: float,
    table: TableSize,
    *,
    unit: LengthUnit | None = None,
    a: str = "a",
    b: str = "b",
    rule: str = "",
    drawn_mm: Array | None = None,
) -> Answer:
    """Decides whether a length is at most a range; exactly the range counts as within (G-2).

    The `limit` is in base widths, or in the `unit` given. `a` and `b` are the names of the two
    things in the sentence; `rule` is the section of the rulebook that poses the question.
    `drawn_mm` (DRAWS,) are draws of the length, which give the probability in place of its standard
    deviation.
    """
    unit = unit or base_widths(table)
    margin_mm, sigma_mm = limit * unit.size_mm - length.value_mm, length.sigma_mm
    answer, probability = decide(margin_mm, sigma_mm, tolerance_mm=table.tolerance_mm)
    if drawn_mm is not None:
        answer, sigma_mm, probability = decide_sampled(
            margin_mm, limit * unit.size_mm - drawn_mm, tolerance_mm=table.tolerance_mm
        )
    because = range_words(f"{a} and {b}", answer, margin_mm, limit, unit)
    evidence = (length.evidence(unit.written(length.value_mm)),)
    return Answer(answer, margin_mm, sigma_mm, probability, rule, because, evidence)


def range_words(
    who: str, answer: AnswerWord, margin_mm: float, limit: float, unit: LengthUnit
) -> str:
    """Describes how far two things lie apart, and whether that is within a range."""
    apart = f"{who} are {unit.written(limit * unit.size_mm - margin_mm)} apart"
    at = unit.counted(f"{limit:g}")
    by = f"by {unit.margin(margin_mm)}"
    if answer == "too_close":
        return f"{apart}, too close to {at} to call, {_side(margin_mm)} {by}"
    # A margin that rounds to 0.0 mm would read oddly.
    if answer == "yes" and margin_mm < 0.05:
        return f"{apart}, exactly {at}, which is within it"
    return f"{apart}, {_AS_WORDS[answer]} {at} {by}"


def _side(margin_mm: float) -> str:
    return "within" if margin_mm >= 0 else "beyond"
