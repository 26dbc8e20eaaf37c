"""What is odd about how units lie, but ruled on: one sentence each, to warn players."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from tablecam.measure.rectangles import rectangles
from tablecam.rules.maurice.tables import MOST_WIDE
from tablecam.table.formation import Formation, Tolerances, read_formation
from tablecam.table.model import Arm, BasePose, TableSize, Unit

_CUT_MM: Final = 1.0
"""Bases are cut no more exactly than this."""
_WARNED_OVER_MM: Final = 0.5
"""What hangs less over the table's edge is no part of a base (G-5)."""
_LOOSE: Final = Tolerances(out_mm=12.0, out_share=1 / 3, heading_deg=20.0)
"""Twice those of M-1.7: a unit on the verge of them is not told of in one picture of two."""


def oddities(units: Sequence[Unit], table: TableSize) -> Iterator[str]:
    """All that is odd about some units, whichever way their formations were found out."""
    yield from _over_the_edge(units, table)
    yield from _misnamed(units)
    yield from _oddly_shaped(units)
    yield from _massed_foot(units)
    yield from _broken(units)


def _over_the_edge(units: Sequence[Unit], table: TableSize) -> Iterator[str]:
    """Bases that hang over the table's edge, by less than is refused (M-6.32)."""
    corners_mm = rectangles(units).corners_mm()
    beyond_mm = np.maximum(-corners_mm, corners_mm - (table.width_mm, table.depth_mm))
    named = ((unit, index) for unit in units for index in range(len(unit.bases)))
    for (unit, index), over_mm in zip(named, beyond_mm.max(axis=(1, 2)).tolist(), strict=True):
        if over_mm > _WARNED_OVER_MM:
            name = unit.base_name(index)
            yield f"base {name} ({unit.id}) hangs {over_mm:.1f} mm over the table's edge"


def _misnamed(units: Sequence[Unit]) -> Iterator[str]:
    """Units that do not lie as they are said to; they are taken at what is said (M-1.7)."""
    for unit in units:
        if unit.formation is not None and unit.bases:
            found = _found(unit.id, unit.arm, unit.bases)
            if found.name != unit.formation:
                said = f"unit {unit.id} is said to be in formation {unit.formation}"
                yield f"{said}, but {found.because}"


@lru_cache(maxsize=512)
def _found(unit_id: str, arm: Arm, bases: tuple[BasePose, ...]) -> Formation:
    # Of units that lie still it is asked with every sheet that the page shows.
    return read_formation(Unit(unit_id, "", arm, bases), tolerances=_LOOSE)


def _oddly_shaped(units: Sequence[Unit]) -> Iterator[str]:
    """Units on bases of other shapes than the rules are made for (M-1.1)."""
    shapes = {
        unit.id: (base.width_mm, base.depth_mm)
        for unit in units
        if unit.arm != "artillery"
        for base in unit.bases
        if not base.depth_mm - _CUT_MM <= base.width_mm <= MOST_WIDE * base.depth_mm + _CUT_MM
    }
    for name, (wide_mm, deep_mm) in shapes.items():
        yield (
            f"unit {name} has bases of {wide_mm:g} x {deep_mm:g} mm: the rules are made for bases "
            f"from square to {MOST_WIDE:g} times as wide as deep"
        )


def _massed_foot(units: Sequence[Unit]) -> Iterator[str]:
    """Foot two behind two, as only cavalry may lie (M-1.7)."""
    for unit in units:
        if unit.arm == "infantry" and _formation(unit) == "massed":
            yield f"unit {unit.id} lies massed: infantry may not"


def _broken(units: Sequence[Unit]) -> Iterator[str]:
    """Units that have more disruption than bases: broken, so off the table (M-1.14)."""
    for unit in units:
        count, disruption = len(unit.bases), int(unit.state.get("disruption", 0))
        if disruption > count:
            yield (
                f"unit {unit.id} has disruption {disruption} with {count} "
                f"base{'s' * (count > 1)}: it is broken and leaves the table"
            )


def _formation(unit: Unit) -> str:
    return unit.formation or read_formation(unit).name
