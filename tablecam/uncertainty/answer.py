"""Answers that hang on a measured length, with the shapes that show why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import PLACES_MM, Shape

AnswerWord = Literal["yes", "no", "too_close"]

CERTAIN = 0.95
"""A question is answered when its answer holds with this probability, either way."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether something holds, by what margin, how sure that is, by which rule, and why.

    `margin_mm` is negative where it fails; `sigma_mm` is its standard deviation; `probability`
    that it holds. `about` is the id of the other unit that it is about, for who looks for what is
    said of one; documents tell it in the sentence alone.
    """

    answer: AnswerWord
    margin_mm: float
    sigma_mm: float
    probability: float
    rule: str
    because: str
    evidence: tuple[Shape, ...] = ()
    about: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The answer as documents carry it."""
        return {
            "answer": self.answer,
            "margin_mm": round(self.margin_mm, PLACES_MM),
            "sigma_mm": round(self.sigma_mm, PLACES_MM),
            "probability": round(self.probability, PLACES_MM),
            "rule": self.rule,
            "because": self.because,
            "evidence": [shape.to_json() for shape in self.evidence],
        }


def decide(
    margin_mm: float, sigma_mm: float = 0.0, *, tolerance_mm: float = 0.0
) -> tuple[AnswerWord, float]:
    """The answer to a question that holds when its margin is 0 or more, and the probability.

    `too_close` where the probability lies between 0.05 and 0.95, or the margin is smaller than the
    tolerance that the players agreed on. An exact margin without a tolerance is always decided.

    >>> decide(3.0, 1.0)[0], decide(1.0, 1.0)[0], decide(0.0)
    ('yes', 'too_close', ('yes', 1.0))
    """
    chance = probability(margin_mm, sigma_mm)
    if abs(margin_mm) < tolerance_mm or 1.0 - CERTAIN < chance < CERTAIN:
        return "too_close", chance
    return ("yes" if chance >= CERTAIN else "no"), chance


def probability(margin_mm: float, sigma_mm: float) -> float:
    """The probability that a margin is 0 or more, when it is measured with a standard deviation."""
    if sigma_mm <= 0:
        return 1.0 if margin_mm >= -EXACT_MM else 0.0
    return 0.5 * math.erfc(-margin_mm / (sigma_mm * math.sqrt(2.0)))
