"""Base poses moved, wheeled or turned, or put beside and behind each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tablecam.geometry.moves.lanes import rotated
from tablecam.table.formation import read_formation
from tablecam.table.headings import forward, right
from tablecam.table.model import BasePose, Point, Unit

Bases = tuple[BasePose, ...]
_HALVINGS = 9


def laid(unit: Unit, bases: Bases) -> Unit:
    """Returns a unit at new poses, in the formation that they form."""
    unit = replace(unit, bases=bases, formation=None)
    return replace(unit, formation=read_formation(unit).name)


def ahead(bases: Sequence[BasePose], heading_deg: float, length_mm: float) -> Bases:
    """Returns bases moved along a heading."""
    x, y = forward(heading_deg)
    return shifted(bases, x * length_mm, y * length_mm)


def shifted(bases: Sequence[BasePose], x_mm: float, y_mm: float) -> Bases:
    """Returns bases moved along the axes of the table."""
    return tuple(replace(base, x_mm=base.x_mm + x_mm, y_mm=base.y_mm + y_mm) for base in bases)


def has_same_bases(bases: Bases, others: Bases) -> bool:
    """Whether two lists have the same bases by tag and size, in order, wherever they lie."""
    kinds, other_kinds = (
        [(base.tag, base.width_mm, base.depth_mm) for base in placed] for placed in (bases, others)
    )
    return kinds == other_kinds


def laid_at(bases: Sequence[BasePose], poses: Sequence[BasePose]) -> Bases:
    """Returns bases at the places and headings of others, in their order."""
    return tuple(
        replace(base, x_mm=pose.x_mm, y_mm=pose.y_mm, heading_deg=pose.heading_deg)
        for base, pose in zip(bases, poses, strict=True)
    )


def wheeled(bases: Sequence[BasePose], about_mm: Point, angle_deg: float) -> Bases:
    """Returns bases rotated together about a point, counter-clockwise."""
    places = rotated([base.place_mm for base in bases], about_mm, angle_deg).tolist()
    return tuple(
        replace(base, x_mm=x, y_mm=y, heading_deg=base.heading_deg + angle_deg)
        for base, (x, y) in zip(bases, places, strict=True)
    )


def faced(bases: Sequence[BasePose], by_deg: float) -> Bases:
    """Returns bases each turned on its own centre."""
    return tuple(replace(base, heading_deg=base.heading_deg + by_deg) for base in bases)


def in_ranks(
    bases: Sequence[BasePose], files: int, at_mm: Point, heading_deg: float, *, file: float
) -> Bases:
    """Returns bases in ranks of `files` bases, those of one rank from left to right.

    `at_mm` is the middle of that `file`'s front; for -0.5 it is the front's left corner.
    """
    (on_x, on_y), (right_x, right_y) = forward(heading_deg), right(heading_deg)

    def laid(place: int, base: BasePose) -> BasePose:
        rank, own_file = divmod(place, files)
        aside, back = (own_file - file) * base.width_mm, (rank + 0.5) * base.depth_mm
        x_mm = at_mm[0] + right_x * aside - on_x * back
        y_mm = at_mm[1] + right_y * aside - on_y * back
        return replace(base, x_mm=x_mm, y_mm=y_mm, heading_deg=heading_deg)

    return tuple(laid(place, base) for place, base in enumerate(bases))


def behind(base: BasePose, other: BasePose) -> BasePose:
    """Returns `other` in edge contact behind `base`."""
    x, y = forward(base.heading_deg)
    back_mm = (base.depth_mm + other.depth_mm) / 2
    return replace(
        other,
        x_mm=base.x_mm - x * back_mm,
        y_mm=base.y_mm - y * back_mm,
        heading_deg=base.heading_deg,
    )


def beside(base: BasePose, other: BasePose, *, to_right: bool) -> BasePose:
    """Returns `other` in edge contact beside `base`, their fronts aligned."""
    across, onward = np.array(right(base.heading_deg)), np.array(forward(base.heading_deg))
    apart_mm = (base.width_mm + other.width_mm) / 2 * (1 if to_right else -1)
    # Bases of different depth are aligned by their fronts.
    on_mm = (base.depth_mm - other.depth_mm) / 2
    x, y = (np.array(base.place_mm) + across * apart_mm + onward * on_mm).tolist()
    return replace(other, x_mm=x, y_mm=y, heading_deg=base.heading_deg)


def farthest(
    after: Callable[[float], Bases], is_legal: Callable[[Bases], bool], low: float, high: float
) -> Bases | None:
    """Returns the poses after the largest legal amount of a move, by bisection."""
    best = None
    for _ in range(_HALVINGS):
        bases = after(middle := (low + high) / 2)
        if is_legal(bases):
            low, best = middle, bases
        else:
            high = middle
    return best
