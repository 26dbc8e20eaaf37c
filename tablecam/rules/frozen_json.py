"""Converts frozen dataclasses to JSON and back without loss, for states and actions of games.

The key of a field whose name ends in `_` (to avoid a Python keyword) has no `_`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sized
from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar, Union, dataclass_transform

from pydantic import ConfigDict, Field, GetCoreSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema

from tablecam.documents import Json, document_from
from tablecam.toml_lines import KeyPath
from tablecam.wording import quoted

LEFT_OUT: Mapping[str, bool] = MappingProxyType({"left_out": True})
"""Metadata of a field that JSON omits at its default, whatever that is."""

_LARGEST = 1e6
"""The largest number accepted: 1 km in mm. Squares of far larger numbers overflow."""

_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class ReadOnlyMappings:
    """A base of frozen dataclasses that copies their mappings into read-only ones."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, Mapping) and not isinstance(value, MappingProxyType):
                object.__setattr__(self, field.name, MappingProxyType(dict(value)))


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
class Variant(ReadOnlyMappings):
    """A base for frozen dataclasses told apart by their last field, `type`.

    The type is the class's name in kebab-case, or as the class states it: `class Hop(Move,
    type="jump")`. A base that `is_family` stands for all its subclasses, which have its fields, in
    annotations and in documents.

    >>> class Step(Variant, is_family=True): ...
    >>> class RollingDice(Step):
    ...     count: int
    >>> to_plain(RollingDice(3))
    {'count': 3, 'type': 'rolling-dice'}
    """

    type: str

    def __init_subclass__(cls, *, type: str | None = None, is_family: bool = False) -> None:
        if not is_family:
            cls.type = type or re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()
            cls.__annotations__["type"] = Literal[cls.type]
        dataclass(frozen=True)(cls)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Reads a family as one of its classes."""
        if classes_of(cls) != [cls]:
            return handler.generate_schema(_union_of(cls))
        return handler(source)


AnyVariant = TypeVar("AnyVariant", bound=Variant)


def _union_of(*variants: type[Variant]) -> Any:
    """Returns the union of classes and families, discriminated by `type`."""
    members = [one for base in variants for one in classes_of(base)]
    return Annotated[Union[tuple(members)], Field(discriminator="type")]  # noqa: UP007


def classes_of(base: type[AnyVariant]) -> list[type[AnyVariant]]:
    """Returns the classes of a family and of the families in it, or the class itself."""
    return [one for member in base.__subclasses__() for one in classes_of(member)] or [base]


def one_of(*variants: type[Variant]) -> TypeAdapter[Any]:
    """Returns an adapter that reads values of some classes and families."""
    return TypeAdapter(_union_of(*variants), config=_STRICT)


def to_plain(value: Any) -> Any:
    """Returns the JSON value of a frozen value; fields with an empty default are omitted.

    Sets are sorted, so that equal values give equal JSON.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {
            field.name.rstrip("_"): to_plain(getattr(value, field.name))
            for field in fields(value)
            # Fields outside comparisons only say where a value came from.
            if field.compare and not _is_empty_default(field, getattr(value, field.name))
        }
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        # Sets have no order of their own.
        return sorted(to_plain(item) for item in value)
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    return value


def _is_empty_default(field: dataclasses.Field[Any], value: Any) -> bool:
    """Whether JSON may omit the value: its default, if that is empty or 0.0 or `LEFT_OUT`."""
    if field.metadata.get("left_out"):
        return bool(value == field.default)
    # An int 0 is a count and stays, so that documents show it.
    is_nothing = value is None or (isinstance(value, Sized | float) and not value)
    if not is_nothing:
        return False
    if field.default_factory is not MISSING:
        return bool(field.default_factory() == value)
    return field.default is not MISSING and bool(field.default == value)


def from_plain(adapter: TypeAdapter[Any], data: object, source: str) -> Any:
    """Parses a JSON value with an adapter such as `one_of` returns.

    Raises:
        BadInput: Names the key, the expected and the actual value.
    """
    document = document_from(data, source)
    far = _too_large(document.data)
    if far is not None:
        path, value = far
        raise document.error(
            path, f"expected a number from -{_LARGEST:.0f} to {_LARGEST:.0f}, got {quoted(value)}"
        )
    return document.parsed_as(adapter)


def _too_large(data: Any, path: KeyPath = ()) -> tuple[KeyPath, float] | None:
    """Returns the path and value of the first number above the limit, None if there is none."""
    if isinstance(data, Mapping):
        inside: Iterable[tuple[Any, Any]] = data.items()
    elif isinstance(data, list):
        inside = enumerate(data)
    else:
        # A `bool` is an `int`, too.
        is_number = isinstance(data, int | float) and not isinstance(data, bool)
        return (path, data) if is_number and abs(data) > _LARGEST else None
    results = (_too_large(item, (*path, key)) for key, item in inside)
    return next((result for result in results if result is not None), None)


def renamed(data: object, key: str, to: str) -> object:
    """Returns a JSON object with one key renamed, if it has it."""
    if not isinstance(data, dict) or key not in data:
        return data
    plain: Json = {to if name == key else name: value for name, value in data.items()}
    return plain
