"""Opens TOML and JSON documents, and turns what is wrong in them into one clear line."""

from __future__ import annotations

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
from tablecam.wording import STEERING, closest, nearest, quoted, written

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


Model = TypeVar("Model", bound=BaseModel)

MOST_BYTES: Final = 64 * 1024 * 1024
"""Of one document; a recording's entry with its largest pictures has some hundredths of it."""
_MOST_LEVELS: Final = 32
"""Of lists and objects in each other; a game's state has a dozen."""
_LONGEST_TEXT: Final = 500
"""Of what players say: all of it goes to every phone."""
_LARGEST: Final = 10**15
"""Either way. Above it whole numbers are exact neither in every database nor in a browser."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document that has been read but not judged: `data` is as the parser gave it.

    `source` is what a person calls it. `find_lines` says where its keys stand; None where there
    is no text to point into.
    """

    source: str
    data: Mapping[str, Any]
    find_lines: Callable[[], Mapping[KeyPath, int]] | None = None

    def error(self, path: KeyPath, message: str) -> BadInput:
        """The error to raise about the value at `path`, with its key and line."""
        return BadInput(self.source, message, key=written(path) or None, line=self.line(path))

    def place(self, path: KeyPath) -> str:
        """Where something stands, for a message about something else: `unit[1].id, line 30`."""
        line = self.line(path)
        return written(path) if line is None else f"{written(path)}, line {line}"

    def line(self, path: KeyPath) -> int | None:
        """The line of a key, or of the nearest thing around it; None where there is no text."""
        if self.find_lines is None or not path:
            return None
        lines = self.find_lines()
        found = next((path[:n] for n in range(len(path), 0, -1) if path[:n] in lines), None)
        return None if found is None else lines[found]

    def require(self, format_name: str, version: int) -> None:
        """Refuse a document that is not of this format and version.

        Raises:
            BadInput: Naming what was expected and what came.
        """
        for key, expected in (("format", format_name), ("version", version)):
            if key not in self.data:
                raise self.error((key,), f"expected {quoted(expected)}, but the key is missing")
            found = self.data[key]
            if found != expected or isinstance(found, bool):
                raise self.error((key,), f"expected {quoted(expected)}, got {quoted(found)}")

    def parsed(self, model: type[Model]) -> Model:
        """The document as a pydantic model.

        Raises:
            BadInput: About the first thing that is wrong, saying how many more there are.
        """
        try:
            return model.model_validate(self.data)
        except ValidationError as error:
            raise self._first(error, model) from None

    def parsed_as(self, adapter: TypeAdapter[Any]) -> Any:
        """The document as whatever an adapter makes of it, as strictly as if it were JSON's text.

        Raises:
            BadInput: About the first thing that is wrong.
        """
        try:
            return adapter.validate_json(json.dumps(self.data), strict=True)
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            path = without_tags(self.data, tuple(problem["loc"]))
            raise self.error(path, expected_and_got(problem)) from None

    def _first(self, error: ValidationError, model: type[BaseModel]) -> BadInput:
        problems = error.errors(include_url=False)
        # A mistyped key is both unknown and missing: what the person wrote is the one to show.
        problems.sort(key=lambda p: (p["type"] != "extra_forbidden", self.line(p["loc"]) or 0))
        explained = dict.fromkeys(self._explained(problem, model) for problem in problems)
        (path, message), *others = explained
        return self.error(path, f"{message} (and {len(others)} more)" if others else message)

    def _explained(self, problem: ErrorDetails, model: type[BaseModel]) -> tuple[KeyPath, str]:
        path = tuple(problem["loc"])
        if problem["type"] == "extra_forbidden":
            return path, f"unknown key{nearest(str(path[-1]), keys_at(model, path[:-1]))}"
        if problem["type"] == "missing":
            return self._missing(path, keys_at(model, path[:-1]))
        return path, expected_and_got(problem)

    def _missing(self, path: KeyPath, known: Iterable[str]) -> tuple[KeyPath, str]:
        there = _value_at(self.data, path[:-1])
        if not isinstance(there, Mapping):  # a list that is too short
            return path[:-1], f"expected more elements, got {len(there)}"
        unknown = [key for key in there if key not in known]
        mistyped = next((key for key in unknown if closest(key, [str(path[-1])])), None)
        if mistyped is not None:
            return (*path[:-1], mistyped), f"unknown key; did you mean {path[-1]}?"
        return path, "expected this key, but it is missing"


def read_toml(path: Path) -> Document:
    """The TOML document in a file.

    Raises:
        BadInput: There is no such file, it is not TOML, or it goes beyond what a document may.
    """
    text = _text(path)
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise _not_toml(path, str(error)) from None
    return _bounded(data, str(path), _LARGEST, cache(lambda: toml_lines(text)))


def _not_toml(path: Path, fault: str) -> BadInput:
    """The parser's complaint with its line in front, and what people mostly meant."""
    place = re.search(r" \(at line (\d+), column (\d+)\)$", fault)
    hint = "words need quotes, numbers look like 900 or -11.5, lists of units [[unit]]"
    if place is None:
        return BadInput(str(path), f"not valid TOML: {fault}; {hint}")
    said = f"not valid TOML in column {place[2]}: {fault[: place.start()]}; {hint}"
    return BadInput(str(path), said, line=int(place[1]))


def read_json(path: Path) -> Document:
    """The JSON document, an object, in a file.

    Raises:
        BadInput: There is no such file, or `json_document` refuses what it holds.
    """
    return json_document(_text(path), str(path), has_lines=True)


def json_document(
    text: str | bytes, source: str, *, has_lines: bool = False, largest: float = _LARGEST
) -> Document:
    """The JSON document, an object, in a text from outside: a file, a request, a line.

    Errors name lines where whoever wrote the text sees it in lines. `largest` bounds numbers;
    infinity lets infinite ones through.

    Raises:
        BadInput: It is not one JSON object; it is larger than 64 MB or deeper than 32 levels; a
            number is larger than allowed, or NaN; a text has half a character; or a key is given
            twice in one object: which of the two was meant nobody can tell.
    """
    if len(text) > MOST_BYTES:
        raise BadInput(source, _too_long())
    repeated: list[str] = []
    try:
        plain = text if isinstance(text, str) else text.decode("utf-8-sig")
        data = json.loads(plain, object_pairs_hook=partial(_noting_repeats, repeated))
    except json.JSONDecodeError as error:
        said = f"not valid JSON: {error.msg} in column {error.colno}"
        raise BadInput(source, said, line=error.lineno if has_lines else None) from None
    except UnicodeDecodeError:
        raise BadInput(source, "expected text in UTF-8") from None
    except RecursionError:
        raise BadInput(source, "not valid JSON: nested too deeply") from None
    except ValueError:
        raise BadInput(source, "not valid JSON: a number has too many digits") from None
    find_lines = cache(lambda: json_lines(plain)) if has_lines else None
    document = _bounded(data, source, largest, find_lines)
    if repeated:
        raise _given_twice(document, plain, repeated[0])
    return document


def json_request(text: str | bytes, source: str) -> Document:
    """The JSON document of a page's or a program's request, whose texts others are shown.

    Control characters, and those that turn the direction of writing about, are left out of them.

    Raises:
        BadInput: As `json_document`, or a text has more than 500 characters.
    """
    document = json_document(text, source)
    return replace(document, data=_plain(document, document.data))


def _plain(document: Document, value: Any, path: KeyPath = ()) -> Any:
    if isinstance(value, dict):
        return {key: _plain(document, each, (*path, key)) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(document, each, (*path, at)) for at, each in enumerate(value)]
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        expected = f"expected a text of {_LONGEST_TEXT} characters or less"
        raise document.error(path, f"{expected}, got {len(value)}")
    return STEERING.sub("", value) if isinstance(value, str) else value


def _bounded(
    data: object,
    source: str,
    largest: float,
    find_lines: Callable[[], Mapping[KeyPath, int]] | None,
) -> Document:
    """A document whose values are none that a table, a database or a reader cannot hold."""
    fault = _fault(data, largest)
    if fault is not None:
        raise Document(source, {}, find_lines).error(*fault)
    return Document(source, _object(data, source), find_lines)


def _fault(value: object, largest: float, path: KeyPath = ()) -> tuple[KeyPath, str] | None:
    """Where a value goes beyond what a document may hold, and what was expected there."""
    if isinstance(value, dict | list):
        if len(path) >= _MOST_LEVELS:
            return path[:1], f"expected at most {_MOST_LEVELS} levels in each other, got more"
        if isinstance(value, dict) and not all(map(_is_whole, value)):
            return path, _HALF
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        found = (_fault(each, largest, (*path, key)) for key, each in inside)
        return next((each for each in found if each is not None), None)
    if isinstance(value, str):
        return None if _is_whole(value) else (path, _HALF)
    if isinstance(value, int | float) and not -largest <= value <= largest:
        is_finite = isinstance(value, int) or math.isfinite(value)
        expected = "a number of 1e15 or less either way" if is_finite else "a finite number"
        return path, f"expected {expected}, got {quoted(value)}"
    return None


_HALF: Final = "expected whole characters, got half of one"


def _is_whole(text: str) -> bool:
    """Whether a text has no half of a character, which JSON can say and nothing can write."""
    return text.isascii() or not any("\ud800" <= each <= "\udfff" for each in text)


def _noting_repeats(repeated: list[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object as `json` makes it, and in `repeated` the keys that it was given twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        repeated += [name for name in found if names.count(name) > 1]
    return found


def _given_twice(document: Document, text: str, name: str) -> BadInput:
    said = "expected the key once, but it is given twice"
    repeats = json_repeats(text)
    if not repeats:  # one of the two was written with escapes
        return BadInput(document.source, said, key=name)
    key, line = repeats[0]
    if document.find_lines is None:
        return BadInput(document.source, said, key=written(key))
    said = f"{said}, first on line {document.line(key)}"
    return BadInput(document.source, said, key=written(key), line=line)


def document_from(data: object, source: str) -> Document:
    """A document that came as a value, from what was read before or from a test.

    Raises:
        BadInput: It is not an object.
    """
    return Document(source, _object(data, source))


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise BadInput(str(path), "expected a file, but there is none of that name") from None
    except UnicodeDecodeError:
        raise BadInput(str(path), "expected a text file in UTF-8") from None
    except OSError as error:
        raise BadInput(str(path), f"cannot be read: {error.strerror}") from None
    except ValueError as error:  # a NUL in the path
        raise BadInput(quoted(str(path)), f"is no path: {error}") from None
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
