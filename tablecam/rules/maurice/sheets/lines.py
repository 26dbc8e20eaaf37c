"""Builds the lines of sheets: sentences, questions with ids, interpretations, answers."""

from __future__ import annotations

from collections.abc import Iterable

from tablecam.rules.maurice.rulings.interpretations import INTERPRETATIONS
from tablecam.rules.reports import Finding, Interpretation, Question
from tablecam.uncertainty.answer import Answer


def headed(answer: Answer, yes: str, no: str) -> str:
    """Returns the clause for an answer: one of two, or that the first is too close to call."""
    too_close = f"whether {yes} is too close to call"
    return {"yes": yes, "no": no, "too_close": too_close}[answer.answer]


def sentence(said: str) -> str:
    """Returns a clause as a sentence.

    >>> sentence("the two touch")
    'The two touch.'
    """
    return said[:1].upper() + said[1:].rstrip(".") + "."


def reading(rule: str) -> Interpretation:
    """Returns the interpretation of a rule."""
    return Interpretation(rule, INTERPRETATIONS[rule])


def question(text: str, kind: str, *of: str) -> Question:
    """Returns a question whose id is built from its kind and what it concerns, and so is stable.

    >>> question("Is B1 to the flank of F1?", "flank", "F1", "B1").id
    'flank/F1/B1'
    """
    return Question("/".join((kind, *of)), text)


def answer_line(
    answer: Answer, asked: Question | None = None, *, text: str = "", read: str | None = None
) -> Finding:
    """Returns the line of an answer, with its own sentence unless `text` is given."""
    interpretation = None if read is None else reading(read)
    return Finding(sentence(text or answer.because), answer, answer.rule, interpretation, asked)


def plain_line(text: str, rule: str | None = None, *, read: str | None = None) -> Finding:
    """Returns a line that no length decides."""
    return Finding(sentence(text), None, rule, None if read is None else reading(read))


def span_of(values: Iterable[float], *, places: int = 0, unit: str = "") -> str:
    """Formats the range of some numbers, or one number where both ends look alike.

    >>> span_of([2.501, 2.499], places=2), span_of([28.2, 36.4], unit="°")
    ('2.50', '28° to 36°')
    """
    ordered = sorted(values)
    ends = dict.fromkeys(f"{value:.{places}f}{unit}" for value in (ordered[0], ordered[-1]))
    return " to ".join(ends)
