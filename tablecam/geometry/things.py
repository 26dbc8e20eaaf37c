"""Resolves references to things on the table: `unit:F1`, `base:10`, `point:512.3,400`, ..."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from tablecam.errors import BadInput
from tablecam.geometry.rectangles import Measurable
from tablecam.table.formation import base_words
from tablecam.table.model import FARTHEST_MM, BasePose, Commander, Point, Position, Unit
from tablecam.wording import nearest, quoted

Value = TypeVar("Value")

Kind = Literal["unit", "base", "commander", "point"]


@dataclass(frozen=True, slots=True)
class Thing:
    """Something on the table that a reference names.

    `reference` is the text of the reference, `name` the name in sentences, `unit` the unit that the
    thing is or belongs to.
    """

    kind: Kind
    reference: str
    name: str
    what: Measurable
    unit: Unit | None = None

    @property
    def sigma_mm(self) -> float:
        """The largest standard deviation of its positions."""
        if isinstance(self.what, Unit):
            return max(base.sigma_mm for base in self.what.bases)
        return self.what.sigma_mm if isinstance(self.what, BasePose | Commander) else 0.0


def resolve(position: Position, reference: str) -> Thing:
    """Returns the thing on the table that a reference names.

    References are `unit:ID`, `base:TAG`, `base:ID/PLACE` (from 1), `commander:ID`, and `point:X,Y`
    in table millimetres.

    Raises:
        BadInput: The reference is malformed, or no such thing is on the table.
    """
    kind, _, name = reference.partition(":")
    resolver = _RESOLVERS.get(kind)
    if resolver is None or not name:
        raise BadInput(
            quoted(reference),
            "expected unit:ID, base:TAG, base:ID/PLACE, commander:ID or point:X,Y",
        )
    return resolver(position, reference, name)


def _unit(position: Position, reference: str, name: str) -> Thing:
    units = {unit.id: unit for unit in position.units if unit.bases}
    unit = _looked_up(units, reference, "unit", name)
    return Thing("unit", reference, unit.id, unit, unit)


def _base(position: Position, reference: str, name: str) -> Thing:
    bases: dict[str, tuple[Unit, BasePose]] = {}
    for unit in position.units:
        for index, base in enumerate(unit.bases):
            # A base answers to its place in the unit and, if it has one, to its tag.
            bases[f"{unit.id}/{index + 1}"] = (unit, base)
            bases[unit.base_name(index)] = (unit, base)
    unit, base = _looked_up(bases, reference, "base", name)
    return Thing("base", reference, base_words(unit, unit.bases.index(base)), base, unit)


def _commander(position: Position, reference: str, name: str) -> Thing:
    commanders = {commander.id: commander for commander in position.commanders}
    commander = _looked_up(commanders, reference, "commander", name)
    return Thing("commander", reference, commander.id, commander)


def _point(_: Position, reference: str, name: str) -> Thing:
    try:
        x_mm, y_mm = (float(part) for part in name.split(","))
    except ValueError:
        x_mm = y_mm = math.nan
    if not (abs(x_mm) <= FARTHEST_MM and abs(y_mm) <= FARTHEST_MM):  # nan is refused too
        raise BadInput(quoted(reference), "expected point:X,Y with two numbers of millimetres")
    point: Point = (x_mm, y_mm)
    return Thing("point", reference, f"the point {x_mm:.0f}, {y_mm:.0f}", point)


_RESOLVERS: Mapping[str, Callable[[Position, str, str], Thing]] = {
    "unit": _unit,
    "base": _base,
    "commander": _commander,
    "point": _point,
}


def _looked_up(known: Mapping[str, Value], reference: str, kind: str, name: str) -> Value:
    if name not in known:
        raise BadInput(
            quoted(reference), f"there is no such {kind} on the table{nearest(name, known)}"
        )
    return known[name]
