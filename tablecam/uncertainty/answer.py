"""Answers that depend on a measured length, with their probability and evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.shapes import PLACES_MM, Shape

AnswerWord = Literal["yes", "no", "too_close"]

CERTAIN = 0.95
"""A question is decided if its answer holds with at least this probability."""
CERTAIN_SIGMAS = 1.645
"""A normally distributed margin of this many sigmas holds with that probability."""
CLEAR_SIGMAS = 4.0
"""A margin of this many sigmas stays decided when it is measured again."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question of the rules: margin, probability, rule, reason and evidence.

    `margin_mm` is negative where the condition fails, `sigma_mm` its standard deviation,
    `probability` that the condition holds. `about` is the id of the other unit concerned, by which
    code finds the answers about one unit; documents name it only in the sentence.
    """

    answer: AnswerWord
    margin_mm: float
    sigma_mm: float
    probability: float
    rule: str
    because: str
    evidence: tuple[Shape, ...] = ()
    about: str | None = None

    def is_clear(self, tolerance_mm: float = 0.0) -> bool:
        """Whether it is yes, and would stay yes if the lengths were measured again."""
        is_far = self.margin_mm >= tolerance_mm + CLEAR_SIGMAS * self.sigma_mm
        return self.answer == "yes" and (is_far or self.sigma_mm == 0.0)

    def to_json(self) -> dict[str, Any]:
        """Returns the JSON value of the answer."""
        return {
            "answer": self.answer,
            "margin_mm": round(self.margin_mm, PLACES_MM),
            "sigma_mm": round(self.sigma_mm, PLACES_MM),
            "probability": round(self.probability, PLACES_MM),
            "rule": self.rule,
            "because": self.because,
            "evidence": [shape.to_json() for shape in self.evidence],
        }


def margin_words(word: AnswerWord, margin_mm: float, sigma_mm: float, probability: float) -> str:
    """States an answer's margin and its uncertainty; empty if no distance decides.

    >>> margin_words("no", -31.42, 0.24, 0.0), margin_words("too_close", 0.02, 0.03, 0.75)
    ('by 31.4 ± 0.2 mm', 'by 0.02 ± 0.03 mm, 75% likely')
    """
    if not math.isfinite(margin_mm) or (word != "too_close" and margin_mm == 0):
        return ""  # no distance decides
    # A small margin or sigma would otherwise read as 0.0.
    decimals = 2 if min(abs(margin_mm), sigma_mm or 1.0) < 0.1 else 1
    doubt = f" ± {sigma_mm:.{decimals}f}" if sigma_mm else ""
    likely = f", {probability:.0%} likely" if word == "too_close" else ""
    return f"by {abs(margin_mm):.{decimals}f}{doubt} mm{likely}"


def certain(
    word: Literal["yes", "no"],
    rule: str,
    because: str,
    evidence: tuple[Shape, ...] = (),
    *,
    margin_mm: float = 0.0,
    sigma_mm: float = 0.0,
) -> Answer:
    """Returns an answer without any doubt; its margin is 0 if no length decides.

    >>> certain("no", "M-8.4", "artillery never charges").probability
    0.0
    """
    return Answer(word, margin_mm, sigma_mm, float(word == "yes"), rule, because, evidence)


def decide(
    margin_mm: float, sigma_mm: float = 0.0, *, tolerance_mm: float = 0.0
) -> tuple[AnswerWord, float]:
    """Returns the answer to a condition that holds for margins >= 0, and its probability.

    `too_close` if the probability lies between 0.05 and 0.95, or the margin is smaller than the
    tolerance that the players agreed on. An exact margin without a tolerance is always decided.

    >>> decide(3.0, 1.0)[0], decide(1.0, 1.0)[0], decide(0.0)
    ('yes', 'too_close', ('yes', 1.0))
    """
    chance = probability(margin_mm, sigma_mm)
    return verdict(margin_mm, chance, tolerance_mm=tolerance_mm), chance


def measured(
    margin_mm: float,
    sigma_mm: float,
    rule: str,
    because: str,
    evidence: tuple[Shape, ...] = (),
    *,
    tolerance_mm: float = 0.0,
    about: str | None = None,
) -> Answer:
    """Returns the answer to a condition that holds for margins >= 0, as `decide` gives it.

    >>> measured(-40.0, 5.0, "M-8.4", "F1 cannot reach B1").answer
    'no'
    """
    word, chance = decide(margin_mm, sigma_mm, tolerance_mm=tolerance_mm)
    return Answer(word, margin_mm, sigma_mm, chance, rule, because, evidence, about)


def verdict(margin_mm: float, chance: float, *, tolerance_mm: float = 0.0) -> AnswerWord:
    """Returns the answer to a condition with a margin that holds with a probability.

    >>> verdict(3.0, 0.97), verdict(3.0, 0.97, tolerance_mm=5.0), verdict(-1.0, 0.2)
    ('yes', 'too_close', 'too_close')
    """
    if abs(margin_mm) < tolerance_mm or 1.0 - CERTAIN < chance < CERTAIN:
        return "too_close"
    return "yes" if chance >= CERTAIN else "no"


def probability(margin_mm: float, sigma_mm: float) -> float:
    """Returns the probability that a normally distributed margin is 0 or more."""
    if sigma_mm <= 0:
        return 1.0 if margin_mm >= -EXACT_MM else 0.0
    return 0.5 * math.erfc(-margin_mm / (sigma_mm * math.sqrt(2.0)))
