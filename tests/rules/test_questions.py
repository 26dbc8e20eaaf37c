"""Questions to rules, for any game."""

from dataclasses import dataclass
from typing import Any

import pytest

from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.rules.questions import FactError, Questions


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of a way."""

    length_in: float


QUESTIONS = Questions("toy")


@QUESTIONS.asks("T-1")
def way(
    steps: list[Step], gap_cm: float = 0.0, reach_bw: float = 0.0, base_width_mm: float = 40.0
) -> dict[str, Any]:
    """How far a way leads."""
    for step in steps:
        if step.length_in > 9:
            raise FactError("length_in", "expected a step of 9 in at most", owner=step)
    return {"in": [step.length_in for step in steps], "cm": gap_cm, "bw": reach_bw}


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


def test_a_fact_that_a_rule_refuses_is_named_by_its_place():
    document = document_from(
        {"ask": "way", "steps": [{"length_in": 1}, {"length_in": 10}]}, "question"
    )
    with pytest.raises(BadInput, match=r"steps\[2\]\.length_in: expected a step of 9 in"):
        QUESTIONS.answer(document)


def test_the_list_of_questions_is_read_from_the_functions():
    (listed,) = QUESTIONS.to_json()["questions"]
    assert (listed["ask"], listed["about"]) == ("way", "How far a way leads.")
    assert listed["in"]["required"] == ["steps"]
