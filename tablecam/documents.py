"""Opens TOML and JSON documents, and turns what is wrong in them into one clear line."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from tablecam.errors import BadInput
from tablecam.toml_lines import KeyPath, json_lines, json_repeats, toml_lines

Model = TypeVar("Model", bound=BaseModel)

_LONGEST_QUOTE = 40
_MOST_NAMES = 12


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
            path = _without_tags(self.data, tuple(problem["loc"]))
            raise self.error(path, _expected_and_got(problem)) from None

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
            return path, f"unknown key{nearest(str(path[-1]), _keys_at(model, path[:-1]))}"
        if problem["type"] == "missing":
            return self._missing(path, _keys_at(model, path[:-1]))
        return path, _expected_and_got(problem)

    def _missing(self, path: KeyPath, known: Iterable[str]) -> tuple[KeyPath, str]:
        unknown = [key for key in _value_at(self.data, path[:-1]) if key not in known]
        mistyped = next((key for key in unknown if closest(key, [str(path[-1])])), None)
        if mistyped is not None:
            return (*path[:-1], mistyped), f"unknown key; did you mean {path[-1]}?"
        return path, "expected this key, but it is missing"


def read_toml(path: Path) -> Document:
    """The TOML document in a file.

    Raises:
        BadInput: There is no such file, or it is not TOML.
    """
    text = _text(path)
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise _not_toml(path, str(error)) from None
    return Document(str(path), data, cache(lambda: toml_lines(text)))


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
        BadInput: There is no such file, it does not hold one JSON object, or a key is given twice
            in one object: which of the two was meant nobody can tell.
    """
    text = _text(path)
    repeated: list[str] = []
    try:
        data = json.loads(text, object_pairs_hook=partial(_noting_repeats, repeated))
    except json.JSONDecodeError as error:
        raise BadInput(str(path), f"not valid JSON: {error.msg}", line=error.lineno) from None
    except RecursionError:
        raise BadInput(str(path), "not valid JSON: nested too deeply") from None
    except ValueError:
        raise BadInput(str(path), "not valid JSON: a number has too many digits") from None
    if repeated:
        raise _given_twice(path, text, repeated[0])
    return Document(str(path), _object(data, str(path)), cache(lambda: json_lines(text)))


def _noting_repeats(repeated: list[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object as `json` makes it, and in `repeated` the keys that it was given twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        repeated += [name for name in found if names.count(name) > 1]
    return found


def _given_twice(path: Path, text: str, name: str) -> BadInput:
    repeats = json_repeats(text)
    if not repeats:  # one of the two was written with escapes
        return BadInput(str(path), "expected the key once, but it is given twice", key=name)
    key, line = repeats[0]
    first = json_lines(text)[key]
    said = f"expected the key once, but it is given twice, first on line {first}"
    return BadInput(str(path), said, key=written(key), line=line)


def document_from(data: object, source: str) -> Document:
    """A document that came as a value: over the web, on a line, from a test.

    Raises:
        BadInput: It is not an object.
    """
    return Document(source, _object(data, source))


def written(path: KeyPath) -> str:
    """A key path as people write it, lists counted from 1.

    >>> written(("unit", 1, "tags", 0))
    'unit[2].tags[1]'
    """
    text = ""
    for part in path:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def quoted(value: object) -> str:
    """A value as it stands in a document, cut when it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = str(value)
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "..."


def nearest(name: str, known: Iterable[str]) -> str:
    """What to add to a message about an unknown name: the nearest known one, or all of them.

    >>> nearest("fot", ["foot", "horse"])
    '; did you mean foot?'
    >>> nearest("x", ["foot", "horse"])
    '; there are foot, horse'
    """
    names = list(known)
    meant = closest(name, names)
    if meant is not None:
        return f"; did you mean {meant}?"
    if not names:
        return "; there are none"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"; there are {', '.join(names[:_MOST_NAMES])}{more}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant: much alike, or the same with its unit left out.

    >>> closest("x", ["id", "x_mm"])
    'x_mm'
    """
    by_folded = {each.casefold(): each for each in known}
    folded = name.casefold()
    close = difflib.get_close_matches(folded, by_folded, n=1)
    close = close or [each for each in by_folded if each.startswith(f"{folded}_")]
    return by_folded[close[0]] if close else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadInput(str(path), "expected a file, but there is none of that name") from None
    except UnicodeDecodeError:
        raise BadInput(str(path), "expected a text file in UTF-8") from None
    except OSError as error:
        raise BadInput(str(path), f"cannot be read: {error.strerror}") from None
    except ValueError as error:  # a NUL in the path
        raise BadInput(quoted(str(path)), f"is no path: {error}") from None


def _object(data: object, source: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise BadInput(source, f"expected an object with keys, got {quoted(data)}")
    return data


def _value_at(data: Any, path: KeyPath) -> Any:
    for part in path:
        data = data[part]
    return data


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
    "string_too_short": "a text that is not empty",
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


def _expected_and_got(problem: ErrorDetails) -> str:
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


def _without_tags(data: Any, path: KeyPath) -> KeyPath:
    """A path of pydantic's without the tags of unions, which stand in it like keys.

    A field whose name would be a word of Python's ends in `_`; its key does not.

    >>> _without_tags({"type": "march", "bases": []}, ("march", "bases", 0))
    ('bases', 0)
    >>> _without_tags({"type": "roll"}, ("roll", "for_"))
    ('for',)
    """
    found: list[str | int] = []
    for part in path:
        if isinstance(data, Mapping) and part not in data and part == data.get("type"):
            continue
        found.append(part.rstrip("_") if isinstance(part, str) else part)
        data = dict(_items(data)).get(part)
    return tuple(found)


def _items(data: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(data, Mapping):
        return data.items()
    return enumerate(data) if isinstance(data, list) else ()


def _keys_at(model: type[BaseModel], path: KeyPath) -> list[str]:
    """The keys that a model knows at a place in its document."""
    annotation: Any = model
    for part in path:
        annotation = _inside(annotation, part)
    model_there = _model_in(annotation)
    return [] if model_there is None else list(model_there.model_fields)


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
