"""What pydantic finds wrong in a document, told in our words and at the document's own keys."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from tablecam.toml_lines import KeyPath
from tablecam.wording import quoted

_EXPECTED = {
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "a number of {ge:g} or more",
    "less_than": "a number below {lt:g}",
    "less_than_equal": "a number of {le:g} or less",
    "literal_error": "{expected}",
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "finite_number": "a finite number",
    "string_type": "text",
    "string_unicode": "text",
    "string_too_short": "a text that is not empty",
    "string_too_long": "a text of {max_length} characters or less",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a table of keys",
    "model_type": "a table of keys",
    "dataclass_type": "a table of keys",
    "tuple_type": "a list",
    "frozen_set_type": "a list",
    "union_tag_invalid": "{discriminator} to be one of {expected_tags}",
}
_SAID = {
    "missing": "expected this key, but it is missing",
    "unexpected_keyword_argument": "unknown key",
    "union_tag_not_found": "expected a key that says what it is, but it is missing",
}


def expected_and_got(problem: ErrorDetails) -> str:
    """What was expected of a value, and what came, in our words."""
    context = problem.get("ctx", {})
    if problem["type"] == "value_error":
        return str(context["error"])
    if problem["type"] in _SAID:
        return _SAID[problem["type"]]
    got = quoted(problem["input"])
    if problem["type"] in ("too_short", "too_long"):
        limit = context.get("min_length", context.get("max_length"))
        bound = "at least" if problem["type"] == "too_short" else "at most"
        return f"expected {bound} {limit} elements, got {context['actual_length']}"
    if problem["type"] not in _EXPECTED:
        return f"{problem['msg']}, got {got}"
    expected = _EXPECTED[problem["type"]].format(**context).replace("'", "")
    return f"expected {expected}, got {got}"


def without_tags(data: Any, path: KeyPath) -> KeyPath:
    """A path of pydantic's without the tags of unions, which stand in it like keys.

    A field whose name would be a word of Python's ends in `_`; its key does not.

    >>> without_tags({"type": "march", "bases": []}, ("march", "bases", 0))
    ('bases', 0)
    >>> without_tags({"type": "roll"}, ("roll", "for_"))
    ('for',)
    """
    found: list[str | int] = []
    for part in path:
        if isinstance(data, Mapping) and part not in data and part == data.get("type"):
            continue
        found.append(part.rstrip("_") if isinstance(part, str) else part)
        data = dict(_items(data)).get(part)
    return tuple(found)


def keys_at(model: type[BaseModel], path: KeyPath) -> list[str]:
    """The keys that a model knows at a place in its document."""
    annotation: Any = model
    for part in path:
        annotation = _inside(annotation, part)
    model_there = _model_in(annotation)
    return [] if model_there is None else list(model_there.model_fields)


def _items(data: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(data, Mapping):
        return data.items()
    return enumerate(data) if isinstance(data, list) else ()


def _inside(annotation: Any, part: str | int) -> Any:
    if isinstance(part, int):
        return next(iter(typing.get_args(_without_none(annotation))), None)
    model = _model_in(annotation)
    field = None if model is None else model.model_fields.get(part)
    return None if field is None else field.annotation


def _without_none(annotation: Any) -> Any:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return next(arg for arg in typing.get_args(annotation) if arg is not type(None))
    return annotation


def _model_in(annotation: Any) -> type[BaseModel] | None:
    found = _without_none(annotation)
    return found if isinstance(found, type) and issubclass(found, BaseModel) else None
