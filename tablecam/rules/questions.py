"""Plain questions about single rules, as `tablecam rule` answers them.

A package of `tablecam.rules` lists its questions as `QUESTIONS` in its module `questions`. A
question is a function that calls only what the game in progress calls: its parameters are the keys
of the question, its docstring says what it is about. The list of questions, the checks of a
document and the documentation come from these.

    QUESTIONS = Questions("toy")

    @QUESTIONS.asks("T-4 T-5")
    def wheel(frontage_in: Inches, turn_deg: float = 0.0) -> Json:
        "What a wheel costs."
        return {"cost_in": cost_of_wheel_in(frontage_in, turn_deg)}
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeVar, dataclass_transform

from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict, is_typeddict

from tablecam.documents import Document, Json, Model, annotation_at, annotations_in, document_from
from tablecam.rules.discovery import discover
from tablecam.rules.game_files import GameFile
from tablecam.table.sections import NotNegative
from tablecam.toml_lines import KeyPath
from tablecam.uncertainty.answer import Answer, AnswerWord
from tablecam.wording import nearest, quoted

INCH_MM = 25.4


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What every question may state in addition to its own facts."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    options: Mapping[str, Any] = field(default_factory=dict)
    charts: Mapping[str, Any] | None = None
    tolerance_mm: NotNegative = 0.0


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class NestedFacts:
    """A base for the parts of a question: its subclasses are frozen keyword-only dataclasses."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


def charts_in(stated: Mapping[str, Any] | None, model: type[Model]) -> Model:
    """Returns the charts that a question states, as a model without the head of a file.

    Raises:
        BadInput: A key is unknown or wrong.
    """
    head, stated = GameFile.model_fields, stated or {}
    plain = {key: value for key, value in stated.items() if key not in head}
    return document_from(plain, "charts").parsed(model)


def is_house(charts: Mapping[str, Any] | None) -> bool:
    """Whether charts are invented."""
    return (charts or {}).get("source") == "house"


class RuleAnswer(TypedDict, total=False):
    """What every answer states besides the keys of its question.

    `rules` are the ids that decided, `readings` those whose interpretation decided, `doubts` the
    answers that depend on a measured length, by key; `asks_for` names missing chart rows.
    """

    rules: list[str]
    because: list[str]
    readings: list[str]
    house: bool
    asks_for: list[str]
    doubts: dict[str, Any]


Decided = bool | Literal["too_close"]
"""The answer to a question that may depend on a measured length."""


class FactError(ValueError):
    """Raised for a fact that its type allows and a rule does not.

    `owner` is the value to which the key belongs, at any depth of the question; None stands for the
    question itself.
    """

    def __init__(self, key: str, message: str, owner: object = None) -> None:
        super().__init__(message)
        self.path = tuple(key.split("."))
        self.owner = owner


Asker = TypeVar("Asker", bound=Callable[..., Any])


@dataclass(frozen=True)
class RuleQuestion:
    """A question: its name, the rules concerned, and the function that answers it.

    `readings` are the rules whose interpretation every answer follows. A parameter of the function
    is a key of the question. One whose type derives from `Facts` stands for all the keys of that
    type, one of type `Document` for the whole question as written.
    """

    ask: str
    rules: tuple[str, ...]
    readings: tuple[str, ...]
    answer: Callable[..., Any]

    @cached_property
    def _types(self) -> Mapping[str, Any]:
        return typing.get_type_hints(self.answer, include_extras=True)

    @cached_property
    def facts(self) -> type[Facts]:
        """The dataclass of the facts that the question takes."""
        base, keys = Facts, list[tuple[str, Any, Any]]()
        for name, parameter in inspect.signature(self.answer).parameters.items():
            annotation, default = self._types[name], parameter.default
            if _brings_keys(annotation):
                base = annotation
            elif annotation is not Document:
                is_due = default is inspect.Parameter.empty
                alias = {"alias": name.rstrip("_")} if name.endswith("_") else {}
                default = field(metadata=alias, **({} if is_due else {"default": default}))
                keys.append((name, annotation, default))
        about = {"__doc__": self.answer.__doc__}
        return dataclasses.make_dataclass(
            self.ask, keys, bases=(base,), namespace=about, frozen=True, kw_only=True
        )

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """Reads the facts; cached: building takes milliseconds, and a document may ask hundreds."""
        return TypeAdapter(self.facts)

    def answered(self, facts: Facts, document: Document) -> Json:
        """Returns the answer to the question with these facts.

        Raises:
            BadInput: A rule refuses one of the facts.
        """
        # A parameter that is not a key itself stands for all the keys.
        given = {
            name: document if kind is Document else vars(facts).get(name, facts)
            for name, kind in self._types.items()
            if name != "return"
        }
        try:
            answer = as_answer(self.answer(**given))
        except FactError as fault:
            place = () if fault.owner is None else _path_to(fault.owner, facts) or ()
            raise document.error((*place, *fault.path), str(fault)) from None
        return answer

    def to_json(self) -> Json:
        """Returns the question with the JSON schemas of its facts and its answer."""
        returned = self._types["return"]
        answers = TypeAdapter(returned if is_typeddict(returned) else RuleAnswer)
        return {
            "ask": self.ask,
            "about": " ".join((self.answer.__doc__ or "").split()),
            "rules": list(self.rules),
            "in": self.adapter.json_schema(),
            "out": answers.json_schema(mode="serialization"),
        }


@dataclass(frozen=True)
class Questions:
    """The questions of a game."""

    game: str
    questions: dict[str, RuleQuestion] = field(default_factory=dict)

    def asks(self, rules: str, readings: str = "") -> Callable[[Asker], Asker]:
        """Adds a function as the question with its name, about some rules and interpretations."""

        def added(answer: Asker) -> Asker:
            ask, ids = answer.__name__.strip("_"), tuple(rules.split())
            self.questions[ask] = RuleQuestion(ask, ids, tuple(readings.split()), answer)
            return answer

        return added

    def to_json(self) -> Json:
        """Returns the list of the questions with their keys."""
        return {"game": self.game, "questions": [q.to_json() for q in self.questions.values()]}

    def answer(self, document: Document) -> Json:
        """Returns the answer to one question.

        Raises:
            BadInput: Names the file, the key, and the expected and actual values.
        """
        question = self._named(document)
        answer = question.answered(_facts(question, document), document)
        rules, readings = list(question.rules), list(question.readings)
        usual: Json = {"rules": rules, "because": [], "readings": readings, "house": False}
        return {"ask": question.ask} | usual | answer

    def _named(self, document: Document) -> RuleQuestion:
        name = document.data.get("ask")
        if isinstance(name, str) and name in self.questions:
            return self.questions[name]
        got = "but the key is missing"
        if "ask" in document.data:
            got = f"got {quoted(name)}{nearest(str(name), list(self.questions))}"
        raise document.error(("ask",), f"expected one of {', '.join(self.questions)}, {got}")


def _brings_keys(annotation: Any) -> bool:
    return inspect.isclass(annotation) and issubclass(annotation, Facts)


def as_answer(value: object) -> Json:
    """Returns the JSON object of an answer or a part of it: a field `is_caught` becomes `caught`.

    A `why_not` of None is left out.

    >>> as_answer({"legal": True, "why_not": None, "between_in": (0.0, 6.0)})
    {'legal': True, 'between_in': [0.0, 6.0]}
    """
    answer: Json = _plain(value)
    return answer


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        keys = (key.name for key in dataclasses.fields(value))
        return {key.removeprefix("is_"): _plain(getattr(value, key)) for key in keys}
    if isinstance(value, Mapping):
        shown = {key: item for key, item in value.items() if key != "why_not" or item is not None}
        return {key: _plain(item) for key, item in shown.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _path_to(owner: object, value: Any) -> KeyPath | None:
    """Returns the keys that lead from a value to one inside it; None if it is not there."""
    if value is owner:
        return ()
    inside: Mapping[Any, Any] = {}
    if dataclasses.is_dataclass(value):
        inside = {key.name: getattr(value, key.name) for key in dataclasses.fields(value)}
    elif isinstance(value, Mapping):
        inside = value
    elif isinstance(value, list | tuple):
        inside = dict(enumerate(value))
    for key, item in inside.items():
        path = _path_to(owner, item)
        if path is not None:
            return (key.rstrip("_") if isinstance(key, str) else key, *path)
    return None


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
    """Returns the answers that depend on measured lengths, by the key of the question's answer."""
    close = {k: one for k, one in answers.items() if one.sigma_mm or one.answer == "too_close"}
    return {
        key: {name: value for name, value in answer.to_json().items() if name != "evidence"}
        for key, answer in close.items()
    }


def _facts(question: RuleQuestion, document: Document) -> Facts:
    plain = {key: value for key, value in document.data.items() if key != "ask"}
    widths = plain.get("base_width_mm")
    sizes_mm = dict(_SIZES_MM)
    if isinstance(widths, int | float) and widths:
        sizes_mm["_bw"] = widths
    facts = question.facts
    in_units = dataclasses.replace(document, data=_in_units(facts, plain, sizes_mm))
    parsed: Facts = in_units.parsed_as(question.adapter, facts)
    return parsed


_SIZES_MM: Mapping[str, float] = MappingProxyType({"_in": INCH_MM, "_cm": 10.0})
"""The units of length that a key's suffix may name, in millimetres."""


def _in_units(annotation: Any, data: Any, sizes_mm: Mapping[str, float]) -> Any:
    """Returns a value with lengths given in `_mm` converted to the units that its type names."""
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
