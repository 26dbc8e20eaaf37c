"""The keys of units and commanders in table files, positions and questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, TypeVar

from pydantic import Field as Limits
from pydantic import TypeAdapter

from tablecam.documents import Document, document_from
from tablecam.rules.questions import FactError
from tablecam.table.model import BasePose, Unit, plain_keys
from tablecam.table.position_file import BaseSection
from tablecam.table.sections import Name

Count = Annotated[int, Limits(ge=0, le=1000)]
Some = Annotated[int, Limits(ge=1, le=1000)]
_Keys = TypeVar("_Keys")


@dataclass(frozen=True, kw_only=True)
class UnitKeys:
    """A unit by its keys; a rulebook adds its own."""

    id: Name | None = None
    side: Name | None = None
    bases: tuple[BaseSection, ...] = ()

    @property
    def poses(self) -> tuple[BasePose, ...]:
        """The bases as they lie.

        Raises:
            FactError: There are none.
        """
        if not self.bases:
            raise FactError("bases", "expected bases, but the key is missing", owner=self)
        return tuple(base.to_pose() for base in self.bases)


def keys_of(unit: Unit) -> dict[str, Any]:
    """Returns the keys of a unit: those of its table file, overridden by its marks."""
    return plain_keys(unit.extra) | plain_keys(unit.state)


def read_keys(
    kind: type[_Keys], name: str, keys: Mapping[str, Any], *left_out: str, **stated: Any
) -> tuple[_Keys, Document]:
    """Reads the keys of a unit or commander that a rulebook knows, and their document.

    Keys that are `left_out` are not read; those that are `stated` replace others.

    Raises:
        BadInput: A key is wrong.
    """
    own = {key.name for key in fields(kind)} - {"id", "side", "bases", *left_out}  # type: ignore[arg-type]
    known = {key: value for key, value in keys.items() if key in own and value is not None}
    document = document_from(known | stated, name)
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    facts: _Keys = document.parsed_as(_ADAPTERS[kind])
    return facts, document


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}
