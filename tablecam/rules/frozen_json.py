"""Frozen dataclasses as JSON and back, losing nothing: how rule systems write states and actions.

A field that ends in `_`, as it would be a word of Python's, has a key that does not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sized
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter

from tablecam.documents import document_from
from tablecam.rules.game import Json
from tablecam.toml_lines import KeyPath
from tablecam.wording import quoted

_LARGEST = 1e6
"""A kilometre, in millimetres. Squares of far larger numbers are none any more."""

_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def one_of(union: Any) -> TypeAdapter[Any]:
    """Reads any of some frozen dataclasses, told apart by their field `type`."""
    return TypeAdapter(Annotated[union, Field(discriminator="type")], config=_STRICT)


def to_plain(value: Any) -> Any:
    """A frozen value as JSON holds it; what is empty or 0, as it is unless said, is left out.

    Sets are sorted, so that equal values are written alike.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {
            each.name.rstrip("_"): to_plain(getattr(value, each.name))
            for each in fields(value)
            if each.compare and not _goes_without_saying(each, getattr(value, each.name))
        }
    if isinstance(value, Mapping):
        return {key: to_plain(each) for key, each in value.items()}
    if isinstance(value, frozenset):
        return sorted(to_plain(each) for each in value)
    if isinstance(value, tuple):
        return [to_plain(each) for each in value]
    return value


def _goes_without_saying(field: dataclasses.Field[Any], value: Any) -> bool:
    """Whether a field holds nothing, and would if it were left out; no count is nothing."""
    is_nothing = value is None or (isinstance(value, Sized | float) and not value)
    if not is_nothing:
        return False
    if field.default_factory is not MISSING:
        return bool(field.default_factory() == value)
    return field.default is not MISSING and bool(field.default == value)


def from_plain(adapter: TypeAdapter[Any], data: object, source: str) -> Any:
    """The value that JSON holds, by an adapter such as `one_of` gives.

    Raises:
        BadInput: Naming the key, what was expected and what came.
    """
    document = document_from(data, source)
    far = _too_large(document.data)
    if far is not None:
        path, value = far
        raise document.error(
            path, f"expected a number of {_LARGEST:.0f} or less either way, got {quoted(value)}"
        )
    return document.parsed_as(adapter)


def _too_large(data: Any, path: KeyPath = ()) -> tuple[KeyPath, float] | None:
    """Where in a document a number stands that is no length on any table, and no count."""
    if isinstance(data, Mapping):
        inside: Iterable[tuple[Any, Any]] = data.items()
    elif isinstance(data, list):
        inside = enumerate(data)
    else:
        is_number = isinstance(data, int | float) and not isinstance(data, bool)
        return (path, data) if is_number and abs(data) > _LARGEST else None
    found = (_too_large(each, (*path, key)) for key, each in inside)
    return next((each for each in found if each is not None), None)


def renamed(data: object, key: str, to: str) -> object:
    """The same object with one key renamed, where it has it."""
    if not isinstance(data, dict) or key not in data:
        return data
    plain: Json = {to if each == key else each: value for each, value in data.items()}
    return plain
