"""Opens TOML and JSON documents, and turns what is wrong in them into one clear line."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from tablecam.errors import BadInput
from tablecam.model_problems import expected_and_got, keys_at, without_tags
from tablecam.toml_lines import KeyPath, json_lines, json_repeats, toml_lines
from tablecam.wording import closest, nearest, quoted, written

Model = TypeVar("Model", bound=BaseModel)


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
