"""What is odd about how units lie, but ruled on: one sentence each, to warn players."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tablecam.geometry.rectangles import rectangles
from tablecam.rules.maurice.field.tables import MOST_WIDE
from tablecam.table.formation import Formation, Tolerances, read_formation
from tablecam.table.model import Arm, BasePose, Commander, Position, TableSize, Unit

_CUT_MM: Final = 1.0
"""Bases are cut no more exactly than this."""
_WARNED_OVER_MM: Final = 0.5
"""What hangs less over the table's edge is no part of a base (G-5)."""
_LOOSE: Final = Tolerances(out_mm=12.0, out_share=1 / 3, heading_deg=20.0)
"""Twice those of M-1.7: a unit on the verge of them is not told of in one picture of two."""


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something odd, in one sentence, and whom it is about, by their ids."""

    about: frozenset[str]
    sentence: str


def oddities(position: Position) -> Iterator[Oddity]:
    """All that is odd about a position, whichever way formations were found out."""
    units, table = position.units, position.table
    yield from _over_the_edge(units, table)
    yield from _beside_the_table(position.commanders, table)
    for unit in units:
        for sentence in (*_misnamed(unit), *_massed(unit), *_broken(unit)):
            yield Oddity(frozenset({unit.id}), sentence)
    yield from _oddly_shaped(units)


def _over_the_edge(units: Sequence[Unit], table: TableSize) -> Iterator[Oddity]:
    """Bases that hang over the table's edge, by less than is refused (M-6.32)."""
    beyond_mm = _beyond_mm(rectangles(units).corners_mm(), table)
    named = ((unit, index) for unit in units for index in range(len(unit.bases)))
    for (unit, index), over_mm in zip(named, beyond_mm.max(axis=1).tolist(), strict=True):
        if over_mm > _WARNED_OVER_MM:
            name = unit.base_name(index)
            said = f"base {name} ({unit.id}) hangs {over_mm:.1f} mm over the table's edge"
            yield Oddity(frozenset({unit.id}), said)


def _beside_the_table(leaders: Sequence[Commander], table: TableSize) -> Iterator[Oddity]:
    """Commanders whose strings begin off the table, which should bound them (M-4.12)."""
    places_mm = np.array([(each.x_mm, each.y_mm) for each in leaders]).reshape(-1, 2)
    for leader, off_mm in zip(leaders, _beyond_mm(places_mm, table).tolist(), strict=True):
        if off_mm > _WARNED_OVER_MM:
            said = f"commander {leader.id} lies {off_mm:.1f} mm off the table"
            yield Oddity(frozenset({leader.id}), said)


def _beyond_mm(places_mm: NDArray[np.float64], table: TableSize) -> NDArray[np.float64]:
    """How far places (..., 2) lie beyond the table's nearest edge; negative on it."""
    farthest_mm = places_mm - (table.width_mm, table.depth_mm)
    return np.asarray(np.maximum(-places_mm, farthest_mm).max(axis=-1))


def _misnamed(unit: Unit) -> Iterator[str]:
    """A unit that does not lie as it is said to is taken at what is said (M-1.7)."""
    if unit.formation is None or not unit.bases:
        return
    found = _found(unit.id, unit.arm, unit.bases)
    if found.name != unit.formation:
        said = f"unit {unit.id} is said to be in formation {unit.formation}"
        yield f"{said}, but {found.because}"


@lru_cache(maxsize=512)
def _found(unit_id: str, arm: Arm, bases: tuple[BasePose, ...]) -> Formation:
    # Of units that lie still it is asked with every sheet that the page shows.
    return read_formation(Unit(unit_id, "", arm, bases), tolerances=_LOOSE)


def _oddly_shaped(units: Sequence[Unit]) -> Iterator[Oddity]:
    """Units on bases of other shapes than the rules are made for, those alike told of at once."""
    found: dict[tuple[float, float], list[str]] = {}
    for unit in units:
        odd = [
            (base.width_mm, base.depth_mm)
            for base in unit.bases
            if not base.depth_mm - _CUT_MM <= base.width_mm <= MOST_WIDE * base.depth_mm + _CUT_MM
        ]
        if odd and unit.arm != "artillery":
            found.setdefault(odd[-1], []).append(unit.id)
    for (wide_mm, deep_mm), names in found.items():
        who = f"unit {names[0]} has" if len(names) == 1 else f"units {', '.join(names)} have"
        said = (
            f"{who} bases of {wide_mm:g} x {deep_mm:g} mm: the rules (M-1.1) are made for bases "
            f"from square to {MOST_WIDE:g} times as wide as deep, and are applied as they are"
        )
        yield Oddity(frozenset(names), said)


def _massed(unit: Unit) -> Iterator[str]:
    """Foot two behind two, as only cavalry may lie (M-1.7)."""
    if unit.arm == "infantry" and (unit.formation or read_formation(unit).name) == "massed":
        yield f"unit {unit.id} lies massed: infantry may not"


def _broken(unit: Unit) -> Iterator[str]:
    """A unit that has more disruption than bases: broken, so off the table (M-1.14)."""
    count, disruption = len(unit.bases), int(unit.state.get("disruption", 0))
    if disruption > count:
        yield (
            f"unit {unit.id} has disruption {disruption} with {count} "
            f"base{'s' * (count > 1)}: it is broken and leaves the table"
        )
