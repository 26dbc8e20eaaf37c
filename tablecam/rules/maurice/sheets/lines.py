"""How lines of a sheet are put: sentences, questions by their ids, readings, listed results."""

from __future__ import annotations

from collections.abc import Iterable

import shapely

from tablecam.geometry.shapes import Shape
from tablecam.rules.maurice.rulings.readings import READINGS
from tablecam.rules.sheets import Line, Question, Reading
from tablecam.uncertainty.answer import CERTAIN, Answer, AnswerWord


def sentence(said: str) -> str:
    """A clause as a sentence.

    >>> sentence("the two touch")
    'The two touch.'
    """
    return said[:1].upper() + said[1:].rstrip(".") + "."


def reading(rule: str) -> Reading:
    """What was decided about a rule."""
    return Reading(rule, READINGS[rule])


def question(text: str, kind: str, *of: str) -> Question:
    """A question by its kind and what it is about: its id is stable.

    >>> question("Is B1 to the flank of F1?", "flank", "F1", "B1").id
    'flank/F1/B1'
    """
    return Question("/".join((kind, *of)), text)


def told(
    answer: Answer, asked: Question | None = None, *, text: str = "", read: str | None = None
) -> Line:
    """The line of an answer: its own sentence unless there is a better one."""
    found = None if read is None else reading(read)
    return Line(sentence(text or answer.because), answer, answer.rule, found, asked)


def plain(text: str, rule: str | None = None, *, read: str | None = None) -> Line:
    """A line that no length decides."""
    return Line(sentence(text), None, rule, None if read is None else reading(read))


def listed(
    rule: str,
    because: str,
    *,
    margin_mm: float,
    sigma_mm: float = 0.0,
    chance: float = 1.0,
    evidence: Iterable[Shape] = (),
) -> Answer:
    """The answer behind a result that the rules list, or do not: how likely it is decides."""
    word: AnswerWord = "yes" if chance >= CERTAIN else "no"
    if 1.0 - CERTAIN < chance < CERTAIN:
        word = "too_close"
    return Answer(word, margin_mm, sigma_mm, chance, rule, because, tuple(evidence))


def line_of(shape: Shape) -> shapely.LineString:
    """What a shape of kind line draws."""
    return shapely.LineString(shape.points_mm)


def names_of(names: Iterable[str]) -> str:
    """Names as a sentence lists them.

    >>> names_of(["10"]), names_of(["10", "11"]), names_of(["10", "11", "12"])
    ('10', '10 and 11', '10, 11 and 12')
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def span_of(values: Iterable[float], *, places: int = 0, unit: str = "") -> str:
    """The least and the greatest of some numbers, or the one that they are when written so.

    >>> span_of([2.501, 2.499], places=2), span_of([28.2, 36.4], unit="°")
    ('2.50', '28° to 36°')
    """
    known = sorted(values)
    ends = dict.fromkeys(f"{value:.{places}f}{unit}" for value in (known[0], known[-1]))
    return " to ".join(ends)


def counted(number: int, thing: str, things: str = "") -> str:
    """A number of things in words.

    >>> counted(1, "die", "dice"), counted(2, "die", "dice"), counted(2, "base")
    ('1 die', '2 dice', '2 bases')
    """
    return f"{number} {thing if number == 1 else things or thing + 's'}"
