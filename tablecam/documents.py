"""Reads TOML and JSON documents, and reports errors in them as one clear line."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import tomllib
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from tablecam.errors import BadInput
from tablecam.toml_lines import KeyPath, json_lines, json_repeats, toml_lines
from tablecam.wording import CONTROL_CHARACTERS, closest, nearest, quoted, written

Json = dict[str, Any]
"""A JSON object."""

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
_MESSAGES = {
    "missing": "expected this key, but it is missing",
    "unexpected_keyword_argument": "unknown key",
    "union_tag_not_found": "expected a key that gives the type, but it is missing",
}

_UNKNOWN_KEY = frozenset({"unexpected_keyword_argument", "extra_forbidden"})


def expected_and_got(problem: ErrorDetails) -> str:
    """Describes a validation error in tablecam's words: `expected ..., got ...`."""
    context = problem.get("ctx", {})
    if problem["type"] == "value_error":
        return str(context["error"])
    if problem["type"] in _MESSAGES:
        return _MESSAGES[problem["type"]]
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
    """Returns a path in pydantic's error without the union tags that pydantic adds as keys.

    A field whose name would be a Python keyword ends in `_`; its key does not.

    >>> without_tags({"type": "march", "bases": []}, ("march", "bases", 0))
    ('bases', 0)
    >>> without_tags({"type": "roll"}, ("roll", "for_"))
    ('for',)
    """
    keys: list[str | int] = []
    for part in path:
        if isinstance(data, Mapping) and part not in data and part == data.get("type"):
            continue
        keys.append(part.rstrip("_") if isinstance(part, str) else part)
        data = dict(_items(data)).get(part)
    return tuple(keys)


def keys_at(model: type, path: KeyPath) -> list[str]:
    """Returns the keys that a model or dataclass accepts at a path in its document."""
    annotation: Any = model
    for part in path:
        annotation = annotation_at(annotation, part)
    return list(annotations_in(annotation))


def _items(data: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(data, Mapping):
        return data.items()
    return enumerate(data) if isinstance(data, list) else ()


def annotation_at(annotation: Any, part: str | int) -> Any:
    """Returns the type of a key or of a list's elements; None if there is none."""
    annotation = _plain_type(annotation)
    if isinstance(part, int):
        return next(iter(typing.get_args(annotation)), None)
    if typing.get_origin(annotation) in (dict, Mapping):
        return typing.get_args(annotation)[1]
    return annotations_in(annotation).get(part)


def _plain_type(annotation: Any) -> Any:
    """Returns an annotation without `None` and without the limits of `Annotated`."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _plain_type(typing.get_args(annotation)[0])
    if origin in (typing.Union, types.UnionType):
        return _plain_type(next(t for t in typing.get_args(annotation) if t is not type(None)))
    return annotation


def annotations_in(annotation: Any) -> Mapping[str, Any]:
    """Returns the types of the keys of a model or dataclass; none for other types."""
    candidate = _plain_type(annotation)
    return _annotations_of(candidate) if isinstance(candidate, type) else {}


# Cached because reading type hints takes longer than checking a document.
@cache
def _annotations_of(model: type) -> Mapping[str, Any]:
    if issubclass(model, BaseModel):
        fields = model.model_fields.items()
        return {field.alias or name: field.annotation for name, field in fields}
    if dataclasses.is_dataclass(model):
        hints = typing.get_type_hints(model)
        return {field.name.rstrip("_"): hints[field.name] for field in dataclasses.fields(model)}
    return {}


Model = TypeVar("Model", bound=BaseModel)

MOST_BYTES: Final = 64 * 1024 * 1024
"""Size limit of a document; a recording's largest entry takes a few hundredths of it."""
_MAX_LEVELS: Final = 32
"""How deep lists and objects may be nested; a game's state has a dozen levels."""
_MAX_TEXT_LENGTH: Final = 500
"""The longest text that players may send, as every phone receives it."""
_MAX_NUMBER: Final = 10**15
"""Limit of numbers, positive or negative: browsers and some databases round larger integers."""


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document that is not validated yet: `data` is as the parser returned it.

    `source` names it in errors. `find_lines` returns the lines of its keys; None if there is no
    text to point into. `at` is its path within a larger document.
    """

    source: str
    data: Mapping[str, Any]
    find_lines: Callable[[], Mapping[KeyPath, int]] | None = None
    at: KeyPath = ()

    def error(self, path: KeyPath, message: str) -> BadInput:
        """Returns the error to raise about the value at `path`, with its key and line."""
        key = written((*self.at, *path)) or None
        return BadInput(self.source, message, key=key, line=self.line(path))

    def place(self, path: KeyPath) -> str:
        """Returns a location for a message about another value: `unit[1].id, line 30`."""
        line = self.line(path)
        key = written((*self.at, *path))
        return key if line is None else f"{key}, line {line}"

    def line(self, path: KeyPath) -> int | None:
        """Returns the line of a key, or of the nearest enclosing one; None if there is no text."""
        path = (*self.at, *path)
        if self.find_lines is None or not path:
            return None
        try:
            lines = self.find_lines()
        except RecursionError:  # it is nested too deeply
            return None
        enclosing = next((path[:n] for n in range(len(path), 0, -1) if path[:n] in lines), None)
        return None if enclosing is None else lines[enclosing]

    def require(self, format_name: str, version: int) -> None:
        """Refuses a document that is not of this format and version.

        Raises:
            BadInput: Says what was expected and what was found.
        """
        for key, expected in (("format", format_name), ("version", version)):
            if key not in self.data:
                raise self.error((key,), f"expected {quoted(expected)}, but the key is missing")
            value = self.data[key]
            if value != expected or isinstance(value, bool):
                raise self.error((key,), f"expected {quoted(expected)}, got {quoted(value)}")

    def parsed(self, model: type[Model]) -> Model:
        """Returns the document as a pydantic model.

        Raises:
            BadInput: Names the first error, and the number of others.
        """
        try:
            return model.model_validate(self.data)
        except ValidationError as error:
            fault, *others = self._faults(error, model)
            if others:
                fault = fault.saying(f"{fault.message} (and {len(others)} more)")
            raise fault from None

    def model_faults(self, model: type[BaseModel]) -> list[BadInput]:
        """Returns everything that keeps the document from being a pydantic model."""
        try:
            model.model_validate(self.data)
        except ValidationError as error:
            return self._faults(error, model)
        return []

    def parsed_as(self, adapter: TypeAdapter[Any], root: type | None = None) -> Any:
        """Returns the document as an adapter's type, validated as strictly as JSON text.

        `root` is that type if errors should suggest the key that was meant.

        Raises:
            BadInput: Names the first error.
        """
        try:
            # As JSON text, where strict mode accepts a list for a tuple.
            return adapter.validate_json(json.dumps(self.data), strict=True)
        except ValidationError as error:
            problems = error.errors(include_url=False)
            # A mistyped key is both unknown and missing: report the key that the person wrote.
            problem = next((one for one in problems if one["type"] in _UNKNOWN_KEY), problems[0])
            path = without_tags(self.data, tuple(problem["loc"]))
            message = expected_and_got(problem)
            if root is not None and problem["type"] in _UNKNOWN_KEY:
                message = f"unknown key{nearest(str(path[-1]), keys_at(root, path[:-1]))}"
            raise self.error(path, message) from None

    def _faults(self, error: ValidationError, model: type[BaseModel]) -> list[BadInput]:
        problems = error.errors(include_url=False)
        # A mistyped key is both unknown and missing: report the key that the person wrote.
        problems.sort(key=lambda p: (p["type"] != "extra_forbidden", self.line(p["loc"]) or 0))
        explained = dict.fromkeys(self._explained(problem, model) for problem in problems)
        return [self.error(path, message) for path, message in explained]

    def _explained(self, problem: ErrorDetails, model: type[BaseModel]) -> tuple[KeyPath, str]:
        path = tuple(problem["loc"])
        if problem["type"] == "extra_forbidden":
            return path, f"unknown key{nearest(str(path[-1]), keys_at(model, path[:-1]))}"
        if problem["type"] == "missing":
            return self._missing(path, keys_at(model, path[:-1]))
        return path, expected_and_got(problem)

    def _missing(self, path: KeyPath, known: Iterable[str]) -> tuple[KeyPath, str]:
        container = _value_at(self.data, path[:-1])
        if not isinstance(container, Mapping):  # a list that is too short
            return path[:-1], f"expected more elements, got {len(container)}"
        unknown = [key for key in container if key not in known]
        mistyped = next((key for key in unknown if closest(key, [str(path[-1])])), None)
        if mistyped is not None:
            return (*path[:-1], mistyped), f"unknown key; did you mean {path[-1]}?"
        return path, "expected this key, but it is missing"


def read_toml(path: Path) -> Document:
    """Reads a TOML document from a file.

    Raises:
        BadInput: There is no such file, it is not TOML, or it exceeds a document's limits.
    """
    text = text_of_file(path)
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise _not_toml(path, str(error)) from None
    document = Document(str(path), data, cache(lambda: toml_lines(text)))
    _check_limits(document, data, _MAX_NUMBER)
    return document


def _not_toml(path: Path, fault: str) -> BadInput:
    """Returns the parser's message with its line, and the usual remedies."""
    place = re.search(r" \(at line (\d+), column (\d+)\)$", fault)
    hint = "quote words, write numbers like 900 or -11.5, and lists of units as [[unit]]"
    if place is None:
        return BadInput(str(path), f"not valid TOML: {fault}; {hint}")
    message = f"not valid TOML in column {place[2]}: {fault[: place.start()]}; {hint}"
    return BadInput(str(path), message, line=int(place[1]))


def read_json(path: Path) -> Document:
    """Reads a JSON document, an object, from a file.

    Raises:
        BadInput: There is no such file, or `json_document` refuses its contents.
    """
    return json_document(text_of_file(path), str(path), has_lines=True)


def json_document(
    text: str | bytes, source: str, *, has_lines: bool = False, largest: float = _MAX_NUMBER
) -> Document:
    """Parses a JSON document, an object, from outside: a file, a request, a line.

    Errors name lines if the text's author sees it in lines (`has_lines`). `largest` bounds
    numbers; infinity admits infinite ones.

    Raises:
        BadInput: It is not one JSON object; it is larger than 64 MB or deeper than 32 levels; a
            number is larger than allowed, or NaN; a text has a lone surrogate; or one object has
            a key twice, which is ambiguous.
    """
    data, find_lines = _json_value(text, source, has_lines, largest)
    return Document(source, _object(data, source), find_lines)


def json_documents(text: str | bytes, source: str) -> Document | tuple[Document, ...]:
    """Parses a JSON object, or a list of objects, from a text whose author sees it in lines.

    Raises:
        BadInput: As `json_document`; an element is named by its place, such as `[3]`.
    """
    data, find_lines = _json_value(text, source, has_lines=True, largest=_MAX_NUMBER)
    if not isinstance(data, list):
        return Document(source, _object(data, source), find_lines)
    root = Document(source, {}, find_lines)
    for index, element in enumerate(data):
        if not isinstance(element, dict):
            message = f"expected an object with keys, got {quoted(element)}"
            raise root.error((index,), message)
    return tuple(replace(root, data=element, at=(index,)) for index, element in enumerate(data))


FindLines = Callable[[], Mapping[KeyPath, int]]


def _json_value(
    text: str | bytes, source: str, has_lines: bool, largest: float
) -> tuple[Any, FindLines | None]:
    """Returns a JSON value, checked against the limits, and a function that finds keys' lines."""
    if len(text) > MOST_BYTES:
        raise BadInput(source, _too_long())
    repeated: list[str] = []
    try:
        plain = text if isinstance(text, str) else text.decode("utf-8-sig")
        data = json.loads(plain, object_pairs_hook=partial(_collect_repeats, repeated))
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg} in column {error.colno}"
        raise BadInput(source, message, line=error.lineno if has_lines else None) from None
    except UnicodeDecodeError:
        raise BadInput(source, "expected text in UTF-8") from None
    except RecursionError:
        raise BadInput(source, "not valid JSON: nested too deeply") from None
    except ValueError:
        raise BadInput(source, "not valid JSON: a number has too many digits") from None
    find_lines = cache(lambda: json_lines(plain)) if has_lines else None
    root = Document(source, {}, find_lines)
    _check_limits(root, data, largest)
    if repeated:
        raise _repeated_key(root, plain, repeated[0])
    return data, find_lines


def json_request(text: str | bytes, source: str) -> Document:
    """Parses a JSON request from a page or a program, whose texts others will see.

    Removes control characters, including those that change the direction of writing, from texts.

    Raises:
        BadInput: As `json_document`, or a text has more than 500 characters.
    """
    document = json_document(text, source)
    return replace(document, data=_without_controls(document, document.data))


def _without_controls(document: Document, value: Any, path: KeyPath = ()) -> Any:
    if isinstance(value, dict):
        return {key: _without_controls(document, item, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [
            _without_controls(document, item, (*path, index)) for index, item in enumerate(value)
        ]
    if isinstance(value, str) and len(value) > _MAX_TEXT_LENGTH:
        expected = f"expected a text of {_MAX_TEXT_LENGTH} characters or less"
        raise document.error(path, f"{expected}, got {len(value)}")
    return CONTROL_CHARACTERS.sub("", value) if isinstance(value, str) else value


def _check_limits(document: Document, data: object, largest: float) -> None:
    """Raises BadInput for the first value of a document beyond the limits."""
    fault = _fault(data, largest)
    if fault is not None:
        raise document.error(*fault)


def _fault(value: object, largest: float, path: KeyPath = ()) -> tuple[KeyPath, str] | None:
    """Returns the path of the first value beyond the limits, and what was expected of it."""
    if isinstance(value, dict | list):
        if len(path) >= _MAX_LEVELS:
            # The whole path would be unreadable.
            return path[:1], f"expected at most {_MAX_LEVELS} nested levels, got more"
        if isinstance(value, dict) and not all(map(_has_no_surrogate, value)):
            return path, _LONE_SURROGATE
        children = value.items() if isinstance(value, dict) else enumerate(value)
        faults = (_fault(child, largest, (*path, key)) for key, child in children)
        return next((fault for fault in faults if fault is not None), None)
    if isinstance(value, str):
        return None if _has_no_surrogate(value) else (path, _LONE_SURROGATE)
    if isinstance(value, int | float) and not -largest <= value <= largest:
        is_finite = isinstance(value, int) or math.isfinite(value)
        expected = "a number from -1e15 to 1e15" if is_finite else "a finite number"
        return path, f"expected {expected}, got {quoted(value)}"
    return None


_LONE_SURROGATE: Final = "expected valid characters, got a lone surrogate"


def _has_no_surrogate(text: str) -> bool:
    """Whether a text has no lone surrogate, which JSON can express but no encoding can write."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _collect_repeats(repeated: list[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object as `json` would, and adds keys that it has twice to `repeated`."""
    unique = dict(pairs)
    if len(unique) < len(pairs):
        names = [name for name, _ in pairs]
        repeated += [name for name in unique if names.count(name) > 1]
    return unique


def _repeated_key(document: Document, text: str, name: str) -> BadInput:
    message = "the key is given twice"
    repeats = json_repeats(text)
    if not repeats:  # one of the two was written with escapes
        return BadInput(document.source, message, key=name)
    key, line = repeats[0]
    if document.find_lines is None:
        return BadInput(document.source, message, key=written(key))
    message = f"{message}, first on line {document.line(key)}"
    return BadInput(document.source, message, key=written(key), line=line)


def document_from(data: object, source: str) -> Document:
    """Returns a document from a value, already parsed or made by a test.

    Raises:
        BadInput: It is not an object.
    """
    return Document(source, _object(data, source))


def text_of_file(path: Path) -> str:
    """Returns the text of a file.

    Raises:
        BadInput: There is no such file, it cannot be read, is not UTF-8, or is too large.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise BadInput(str(path), "there is no such file") from None
    except UnicodeDecodeError:
        raise BadInput(str(path), "expected a text file in UTF-8") from None
    except OSError as error:
        raise BadInput(str(path), f"cannot be read: {error.strerror}") from None
    except ValueError as error:  # a NUL in the path
        raise BadInput(quoted(str(path)), f"is not a path: {error}") from None
    if len(text) > MOST_BYTES:
        raise BadInput(str(path), _too_long())
    return text


def _too_long() -> str:
    return f"expected at most {MOST_BYTES // 2**20} MB"


def _object(data: object, source: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise BadInput(source, f"expected an object with keys, got {quoted(data)}")
    return data


def _value_at(data: Any, path: KeyPath) -> Any:
    for part in path:
        data = data[part]
    return data
