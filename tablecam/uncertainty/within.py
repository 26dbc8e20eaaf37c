"""Decides whether one thing is within a range of another."""

from __future__ import annotations

from tablecam.geometry.rectangles import Array
from tablecam.table.model import TableSize
from tablecam.uncertainty.answer import Answer, AnswerWord, decide
from tablecam.uncertainty.lengths import Length
from tablecam.uncertainty.samples import decide_sampled

_AS_WORDS = {"yes": "within", "no": "beyond"}


def within(
    length: Length,
    range_bw: float,
    table: TableSize,
    *,
    a: str = "a",
    b: str = "b",
    rule: str = "",
    drawn_mm: Array | None = None,
) -> Answer:
    """Decides whether a length is at most a range; exactly the range counts as within (G-2).

    `a` and `b` are the names of the two things in the sentence; `rule` is the section of the
    rulebook that poses the question. `drawn_mm` (DRAWS,) are draws of the length, which decide how
    probable it is in place of its standard deviation.
    """
    bw_mm = table.base_width_mm
    margin_mm, sigma_mm = range_bw * bw_mm - length.value_mm, length.sigma_mm
    answer, probability = decide(margin_mm, sigma_mm, tolerance_mm=table.tolerance_mm)
    if drawn_mm is not None:
        answer, sigma_mm, probability = decide_sampled(
            margin_mm, range_bw * bw_mm - drawn_mm, tolerance_mm=table.tolerance_mm
        )
    because = range_words(f"{a} and {b}", answer, margin_mm, range_bw, bw_mm)
    evidence = (length.evidence(f"{length.in_bw(bw_mm):.2f} BW"),)
    return Answer(answer, margin_mm, sigma_mm, probability, rule, because, evidence)


def range_words(
    who: str, answer: AnswerWord, margin_mm: float, range_bw: float, bw_mm: float
) -> str:
    """Describes how far two things lie apart, and whether that is within a range."""
    lie = f"{who} lie {range_bw - margin_mm / bw_mm:.2f} BW apart"
    by = f"by {abs(margin_mm):.1f} mm"
    if answer == "too_close":
        return f"{lie}, too close to {range_bw:g} BW to call, {_side(margin_mm)} {by}"
    # A margin that rounds to 0.0 mm would read oddly.
    if answer == "yes" and margin_mm < 0.05:
        return f"{lie}, exactly {range_bw:g} BW, which is within it"
    return f"{lie}, {_AS_WORDS[answer]} {range_bw:g} BW {by}"


def _side(margin_mm: float) -> str:
    return "within" if margin_mm >= 0 else "beyond"
