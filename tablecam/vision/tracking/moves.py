"""What came to rest somewhere else between two looks at the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tablecam.table.model import BasePose
from tablecam.vision.tracking.tracking import TrackedBase


@dataclass(frozen=True, slots=True)
class BaseMove:
    """A base that rested at `start` and has come to rest at `end`."""

    tag: int
    start: BasePose
    end: BasePose


def moves(before: Iterable[TrackedBase], after: Iterable[TrackedBase]) -> tuple[BaseMove, ...]:
    """The bases that have come to rest elsewhere, in the order of `after`.

    A base that has not been seen at rest before has not moved: it has appeared.
    """
    rested = {base.tag: base.rest for base in before}
    return tuple(
        BaseMove(base.tag, start, base.rest)
        for base in after
        if (start := rested.get(base.tag)) is not None
        and base.rest is not None
        and base.rest != start
    )
