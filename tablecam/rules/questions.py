"""Plain questions to single rules, as `tablecam rule` answers them.

A package of `tablecam.rules` lists its questions as `QUESTIONS` in its module `questions`. The
facts of a question are a frozen dataclass, its answer a `TypedDict`: the list of questions, the
checks of a document and the documentation all come from these two. A handler calls the functions
that the game in progress calls.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict

from tablecam.documents import Document, annotation_at, annotations_in
from tablecam.rules.discovery import discover
from tablecam.table.sections import NotNegative
from tablecam.uncertainty.answer import Answer, AnswerWord
from tablecam.wording import nearest, quoted

Json = dict[str, Any]

INCH_MM = 25.4


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What every question may state besides its own facts."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    options: Mapping[str, Any] = field(default_factory=dict)
    charts: Mapping[str, Any] | None = None
    tolerance_mm: NotNegative = 0.0


class WhyNot(TypedDict):
    """The rule that forbids something, and why, in one sentence."""

    rule: str
    because: str


class RuleAnswer(TypedDict, total=False):
    """What every answer states besides the keys of its question.

    `rules` are the ids that decided, `readings` those whose interpretation decided, `doubts` the
    answers that hang on a measured length, by key; `asks_for` names chart rows that are missing.
    """

    rules: list[str]
    because: list[str]
    readings: list[str]
    house: bool
    asks_for: list[str]
    doubts: dict[str, Any]


AnyFacts = TypeVar("AnyFacts", bound=Facts)
Decided = bool | Literal["too_close"]
"""The answer to a question that may hang on a measured length."""


@dataclass(frozen=True)
class RuleQuestion(Generic[AnyFacts]):
    """A question: its name, the types of its facts and its answer, and the rules that it concerns.

    `answer` also gets the document, to name keys in errors.
    """

    ask: str
    facts: type[AnyFacts]
    answers: type
    rules: tuple[str, ...]
    answer: Callable[[AnyFacts, Document], Mapping[str, Any]]

    def to_json(self) -> Json:
        """Returns the question with the JSON schemas of its facts and its answer."""
        return {
            "ask": self.ask,
            "about": " ".join((self.facts.__doc__ or "").split()),
            "rules": list(self.rules),
            "in": _adapter_of(self.facts).json_schema(),
            "out": TypeAdapter(self.answers).json_schema(mode="serialization"),
        }


@dataclass(frozen=True)
class Questions:
    """The questions of a game."""

    game: str
    questions: tuple[RuleQuestion[Any], ...]

    def to_json(self) -> Json:
        """Returns the list of the questions with their keys."""
        return {
            "game": self.game,
            "questions": [question.to_json() for question in self.questions],
        }

    def answer(self, document: Document) -> Json:
        """Returns the answer to one question.

        Raises:
            BadInput: Names the file, the key, what was expected and what came.
        """
        question = self._named(document)
        facts = _facts(question.facts, document)
        answer = dict(question.answer(facts, document))
        head: Json = {"ask": question.ask}
        usual: Json = {"rules": list(question.rules), "because": [], "readings": [], "house": False}
        return head | usual | answer

    def _named(self, document: Document) -> RuleQuestion[Any]:
        name = document.data.get("ask")
        for question in self.questions:
            if question.ask == name:
                return question
        names = [question.ask for question in self.questions]
        got = "but the key is missing"
        if "ask" in document.data:
            got = f"got {quoted(name)}{nearest(str(name), names)}"
        raise document.error(("ask",), f"expected one of {', '.join(names)}, {got}")


@cache
def questions_of(game: str) -> Questions | None:
    """Returns the questions of a game, None if it answers none."""
    listed: Iterator[Questions] = discover("questions", "QUESTIONS")
    return next((questions for questions in listed if questions.game == game), None)


def games_with_questions() -> tuple[str, ...]:
    """Returns the names of the games that answer questions."""
    listed: Iterator[Questions] = discover("questions", "QUESTIONS")
    return tuple(sorted(questions.game for questions in listed))


def decided(answer: Answer) -> Decided:
    """Returns yes or no as a boolean, or `too_close`."""
    words: Mapping[AnswerWord, Decided] = {"yes": True, "no": False, "too_close": "too_close"}
    return words[answer.answer]


def doubts(**answers: Answer) -> dict[str, Any]:
    """Returns the answers that hang on measured lengths, by the key of the question's answer."""
    return {
        key: {
            name: value
            for name, value in answer.to_json().items()
            if name in ("answer", "margin_mm", "sigma_mm", "probability", "rule", "because")
        }
        for key, answer in answers.items()
        if answer.sigma_mm or answer.answer == "too_close"
    }


def _adapter_of(facts: type) -> TypeAdapter[Any]:
    # Building one takes milliseconds, and a document may ask hundreds of questions.
    if facts not in _ADAPTERS:
        _ADAPTERS[facts] = TypeAdapter(facts)
    return _ADAPTERS[facts]


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def _facts(facts: type[AnyFacts], document: Document) -> AnyFacts:
    plain = {key: value for key, value in document.data.items() if key != "ask"}
    widths = plain.get("base_width_mm")
    sizes_mm = dict(_SIZES_MM)
    if isinstance(widths, int | float) and widths:
        sizes_mm["_bw"] = widths
    in_units = dataclasses.replace(document, data=_in_units(facts, plain, sizes_mm))
    parsed: AnyFacts = in_units.parsed_as(_adapter_of(facts), facts)
    return parsed


_SIZES_MM: Mapping[str, float] = MappingProxyType({"_in": INCH_MM, "_cm": 10.0})
"""The units of length in which a key may be named, in millimetres."""


def _in_units(annotation: Any, data: Any, sizes_mm: Mapping[str, float]) -> Any:
    """Returns a value with lengths given in `_mm` converted where its type names another unit."""
    if isinstance(data, list):
        return [_in_units(annotation_at(annotation, 0), item, sizes_mm) for item in data]
    if not isinstance(data, Mapping):
        return data
    known = annotations_in(annotation)
    converted: Json = {}
    for key, value in data.items():
        others = {f"{key.removesuffix('_mm')}{unit}": size for unit, size in sizes_mm.items()}
        named = next((name for name in others if name in known), None)
        if key.endswith("_mm") and key not in known and named is not None:
            converted[named] = _divided(value, others[named])
        else:
            converted[key] = _in_units(annotation_at(annotation, key), value, sizes_mm)
    return converted


def _divided(value: Any, size_mm: float) -> Any:
    if isinstance(value, list):
        return [_divided(item, size_mm) for item in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value / size_mm if is_number else value
