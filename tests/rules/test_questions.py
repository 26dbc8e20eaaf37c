"""Questions to rules, for any game."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.rules.questions import Facts, Questions, RuleAnswer, RuleQuestion


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of a way."""

    length_in: float


@dataclass(frozen=True, kw_only=True)
class Way(Facts):
    """How far a way leads."""

    steps: list[Step]
    gap_cm: float = 0.0
    reach_bw: float = 0.0
    base_width_mm: float = 40.0


def _lengths(way: Way, _: object) -> Mapping[str, Any]:
    return {"in": [step.length_in for step in way.steps], "cm": way.gap_cm, "bw": way.reach_bw}


QUESTIONS = Questions("toy", (RuleQuestion("way", Way, RuleAnswer, ("T-1",), _lengths),))


@pytest.mark.parametrize(
    "keys",
    [
        {"steps": [{"length_in": 2.0}], "gap_cm": 3.0, "reach_bw": 1.5},
        {"steps": [{"length_mm": 50.8}], "gap_mm": 30, "reach_mm": 60, "base_width_mm": 40},
    ],
)
def test_a_length_is_taken_in_millimetres_too(keys):
    answer = QUESTIONS.answer(document_from({"ask": "way"} | keys, "question"))
    assert (answer["in"], answer["cm"]) == ([2.0], 3.0)
    assert answer["bw"] == pytest.approx(1.5)
    assert answer["rules"] == ["T-1"]


def test_an_unknown_key_inside_the_facts_is_refused():
    document = document_from({"ask": "way", "steps": [{"length_ft": 1.0}]}, "question")
    with pytest.raises(BadInput, match=r"steps\[1\]\.length_ft: unknown key"):
        QUESTIONS.answer(document)
