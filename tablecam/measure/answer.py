"""Answers that hang on a measured length, with the shapes that show why."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import shapely

from tablecam.table.model import Point

AnswerWord = Literal["yes", "no", "too_close"]

CERTAIN = 0.95
"""A question is answered when its answer holds with this probability, either way."""

EXACT_MM = 1e-6
"""What exact inputs lose to rounding: a margin this little below 0 is 0, and holds."""

_PLACES_MM = 4


@dataclass(frozen=True, slots=True)
class Shape:
    """A point, line or polygon in table millimetres that a page draws to show why.

    A polygon's points do not repeat the first. `role` says what it is to the question
    (`front-line`, `ring`, ...) and `label` what to write beside it.
    """

    kind: Literal["point", "line", "polygon"]
    points_mm: tuple[Point, ...]
    role: str
    label: str = ""

    def to_json(self) -> dict[str, Any]:
        """The shape as documents carry it."""
        points = [[round(value, _PLACES_MM) for value in point] for point in self.points_mm]
        return {"kind": self.kind, "points_mm": points, "role": self.role, "label": self.label}


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
            "margin_mm": round(self.margin_mm, _PLACES_MM),
            "sigma_mm": round(self.sigma_mm, _PLACES_MM),
            "probability": round(self.probability, _PLACES_MM),
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


def shapes_of(geometry: shapely.Geometry, role: str, label: str = "") -> tuple[Shape, ...]:
    """The shapes that draw a shapely geometry, part by part; holes are left out.

    Only the first part is labelled.
    """
    parts: Iterable[Any] = shapely.get_parts(geometry)
    drawn = [part for part in parts if not part.is_empty]
    return tuple(_shape(part, role, label if not index else "") for index, part in enumerate(drawn))


def _shape(part: shapely.Geometry, role: str, label: str) -> Shape:
    if isinstance(part, shapely.Polygon):
        return Shape("polygon", _points(shapely.get_coordinates(part.exterior)[:-1]), role, label)
    kind: Literal["point", "line"] = "point" if isinstance(part, shapely.Point) else "line"
    return Shape(kind, _points(shapely.get_coordinates(part)), role, label)


def _points(coordinates: Iterable[Iterable[float]]) -> tuple[Point, ...]:
    return tuple((float(x), float(y)) for x, y in coordinates)
