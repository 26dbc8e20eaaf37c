"""Fits rows of bases that were pushed together: a row is known better than its bases.

Four noisy bases of a straight line never measure as straight, and the foremost of their corners
lies too far ahead. Bases that lie flush as far as the camera can tell are therefore treated as one
rigid row with small deviations: each is shrunk towards its place in the row that fits all of them
best (least squares). Badly glued tags do not spoil the row: glue errors, which differ from base to
base, count like the camera's. Residuals that the sigmas explain vanish; the larger they are, the
more is left of them (as in James-Stein shrinkage), so that a crooked row stays crooked.

Measured on four rendered photographs, whose rows have no play: the median error of a heading falls
from 0.24 to 0.02 degrees, that of a place from 0.062 to 0.030 mm; 0.92 of the headings lie within
one sigma.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tablecam.table.headings import difference_deg, signed_rad
from tablecam.table.model import BasePose, Glue, Position, Row, Unit

Array = NDArray[np.float64]

PLAY_MM, PLAY_DEG = 0.05, 0.05
"""How far bases deviate from the row that they were pushed into, beyond the camera's errors.

Bases that are cut inaccurately deviate further."""

_FLUSH_SIGMAS = 4.0
"""Neighbours are flush if gap, step and turn are within this many sigmas of 0. Bases wrongly taken
for flush have large residuals, so they stay where they are."""

_FITS = 3
"""The row's heading turns its slots, so the fit is repeated; it converges at once."""

_PLACES = 6
_LEAST = 1e-6
"""Least sigma of a base (mm and radians), so that exact ones among others need no special case."""


def with_rows(position: Position) -> Position:
    """Returns the position with the bases of each row at their most likely places."""
    units = tuple(map(with_rows_of_unit, position.units))
    is_same = all(new is old for new, old in zip(units, position.units, strict=True))
    return position if is_same else replace(position, units=units)


def with_rows_of_unit(unit: Unit) -> Unit:
    """Returns the unit with the bases of its rows at their most likely places.

    Exact bases, and those that have a row already, do not change.
    """
    is_done = any(base.row is not None or not base.sigma_mm for base in unit.bases)
    if is_done or len(unit.bases) < 2:
        return unit
    bases = _in_rows(unit.id, unit.bases)
    return unit if bases == unit.bases else replace(unit, bases=bases)


@lru_cache(maxsize=512)
def _in_rows(unit_id: str, bases: tuple[BasePose, ...]) -> tuple[BasePose, ...]:
    # Cached: most units of a live table lie still.
    aligned = list(bases)
    for number, slots in enumerate(_rows(bases)):
        row = [bases[index] for index in slots]
        fitted = _fitted(f"{unit_id}/{number + 1}", row, np.array([*slots.values()]))
        for index, base in zip(slots, fitted, strict=True):
            aligned[index] = base
    return tuple(aligned)


def _rows(bases: Sequence[BasePose]) -> Iterator[dict[int, tuple[float, float]]]:
    """Yields the slots (right_mm, ahead_mm) of the bases of each row, by their indices.

    The slots are those of base centres that lie exactly flush, in the frame of the row's first.
    """
    left = set(range(len(bases)))
    while left:
        first = min(left)
        slots, fringe = {first: (0.0, 0.0)}, [first]
        while fringe:
            at = fringe.pop()
            right_mm, ahead_mm = slots[at]
            for other in left - slots.keys():
                step = _flush_step_mm(bases[at], bases[other])
                if step is not None:
                    slots[other] = right_mm + step[0], ahead_mm + step[1]
                    fringe.append(other)
        left -= slots.keys()
        if len(slots) > 1:
            yield slots


def _flush_step_mm(base: BasePose, other: BasePose) -> tuple[float, float] | None:
    """Returns the step from a base to one flush beside, before or behind it; else None."""
    (base_mm, base_deg), (other_mm, other_deg) = base.own_sigmas, other.own_sigmas
    turn_deg = abs(difference_deg(other.heading_deg, base.heading_deg))
    if turn_deg > _FLUSH_SIGMAS * math.hypot(base_deg, other_deg, PLAY_DEG):
        return None
    x_mm, y_mm = other.x_mm - base.x_mm, other.y_mm - base.y_mm
    heading_rad = math.radians(base.heading_deg)
    ahead_x, ahead_y = math.cos(heading_rad), math.sin(heading_rad)
    right_mm, ahead_mm = x_mm * ahead_y - y_mm * ahead_x, x_mm * ahead_x + y_mm * ahead_y
    wide_mm = (base.width_mm + other.width_mm) / 2
    deep_mm = (base.depth_mm + other.depth_mm) / 2
    # Side by side the fronts are flush, whatever the depths.
    in_line_mm = (base.depth_mm - other.depth_mm) / 2
    swing_mm = math.radians(base_deg) * math.hypot(x_mm, y_mm)
    limit_mm = _FLUSH_SIGMAS * math.hypot(base_mm, other_mm, swing_mm, PLAY_MM)
    # Bases this uncertain cannot be called flush.
    limit_mm = min(limit_mm, wide_mm / 4, deep_mm / 4)
    for step in ((wide_mm, in_line_mm), (-wide_mm, in_line_mm), (0.0, deep_mm), (0.0, -deep_mm)):
        if abs(right_mm - step[0]) <= limit_mm and abs(ahead_mm - step[1]) <= limit_mm:
            return step
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Tags:
    """The tags (n) of a row as measured: places (n, 2) and headings (n,) with their own sigmas."""

    places_mm: Array
    headings_rad: Array
    sigmas_mm: Array
    sigmas_rad: Array

    @classmethod
    def of(cls, bases: Sequence[BasePose]) -> _Tags:
        sigmas = np.array([base.own_sigmas for base in bases])
        headings_rad = np.radians([base.heading_deg for base in bases])
        offsets_mm = np.array([(base.tag_right_mm, base.tag_forward_mm) for base in bases])
        places_mm = np.array([base.place_mm for base in bases])
        places_mm = places_mm + _on_table(offsets_mm, headings_rad)
        sigmas_mm = np.maximum(sigmas[:, 0], _LEAST)
        return cls(places_mm, headings_rad, sigmas_mm, np.maximum(np.radians(sigmas[:, 1]), _LEAST))


def _fitted(row_id: str, bases: Sequence[BasePose], slots_mm: Array) -> list[BasePose]:
    """Returns the bases of a row at their most likely places; `slots_mm` (n, 2) as of `_rows`."""
    tags = _Tags.of(bases)
    offsets_mm = np.array([(base.tag_right_mm, base.tag_forward_mm) for base in bases])
    by_place, by_heading = tags.sigmas_mm**-2, tags.sigmas_rad**-2
    centre_mm = np.average(tags.places_mm, axis=0, weights=by_place)
    slots_mm = slots_mm - np.average(slots_mm + offsets_mm, axis=0, weights=by_place)
    arms_mm = slots_mm + offsets_mm
    about_rad = float(by_heading.sum() + (by_place * (arms_mm**2).sum(axis=1)).sum())
    heading_rad = float(tags.headings_rad[0])
    for _ in range(_FITS):
        turned_rad = signed_rad(tags.headings_rad - heading_rad)
        lever_mm = _on_table(arms_mm, heading_rad)
        misfit_mm = tags.places_mm - centre_mm - lever_mm
        across_mm2 = lever_mm[:, 0] * misfit_mm[:, 1] - lever_mm[:, 1] * misfit_mm[:, 0]
        heading_rad += float((by_heading @ turned_rad + by_place @ across_mm2) / about_rad)
    turned_rad = signed_rad(tags.headings_rad - heading_rad)
    misfit_mm = tags.places_mm - centre_mm - _on_table(arms_mm, heading_rad)
    squares = by_heading @ turned_rad**2 + by_place @ (misfit_mm**2).sum(axis=1)
    # Three parameters are fitted to three measurements a base: chi-squared with its 95 % quantile.
    freedom = 3 * len(bases) - 3
    explained = freedom + 2 * math.sqrt(2 * freedom)
    own = max(0.0, 1.0 - explained / float(squares)) if squares else 0.0
    places_mm = centre_mm + _on_table(arms_mm, heading_rad) + own * misfit_mm
    headings_rad = heading_rad + own * turned_rad
    centres_mm = places_mm - _on_table(offsets_mm, headings_rad)
    sigma_mm = (1.0 - own) / math.sqrt(by_place.sum())
    sigma_deg = (1.0 - own) * math.degrees(1.0 / math.sqrt(about_rad))
    headings_deg = np.degrees(headings_rad).tolist()
    poses = zip(bases, centres_mm.tolist(), headings_deg, slots_mm, strict=True)
    return [
        _in_row(
            replace(base, x_mm=x_mm, y_mm=y_mm, heading_deg=heading_deg),
            Row(
                row_id, *(round(float(number), _PLACES) for number in (sigma_mm, sigma_deg, *-slot))
            ),
            math.sqrt(own),
        )
        for base, (x_mm, y_mm), heading_deg, slot in poses
    ]


def _in_row(base: BasePose, row: Row, share: float) -> BasePose:
    """Returns a base with its sigmas in its row; its own shrink to a share."""
    own_mm, own_deg = base.own_sigmas
    cut_mm = 0.0 if base.glue is None else base.glue.cut_sigma_mm
    own_mm = math.hypot(share * own_mm, min(own_mm, PLAY_MM), cut_mm)
    own_deg = math.hypot(share * own_deg, min(own_deg, PLAY_DEG))
    return _with_own_sigmas(replace(base, row=row), own_mm, own_deg)


def _with_own_sigmas(base: BasePose, own_mm: float, own_deg: float) -> BasePose:
    """Returns a base whose `own_sigmas` are these."""
    shared = (*base.common, *base.row_errors)
    swing_mm = math.radians(own_deg) * math.hypot(base.tag_right_mm, base.tag_forward_mm)
    shared_mm2 = sum(error.x_mm**2 + error.y_mm**2 for error in shared)
    return replace(
        base,
        sigma_mm=math.sqrt(own_mm**2 + (swing_mm**2 + shared_mm2) / 2),
        sigma_deg=math.hypot(own_deg, *(error.turn_deg for error in shared)),
    )


CALIBRATED = Glue(sigma_mm=0.05, sigma_deg=0.15)
"""How accurately the jig measures a tag's place on its base."""


def as_if_calibrated(base: BasePose) -> BasePose:
    """Returns a base with the sigmas it would have after being pushed into the jig.

    Glue errors reduced by a row shrink in proportion, as if the camera were exact.
    """
    glue = base.glue
    if glue is None or (
        glue.sigma_mm <= CALIBRATED.sigma_mm and glue.sigma_deg <= CALIBRATED.sigma_deg
    ):
        return base
    left_mm = min(1.0, CALIBRATED.sigma_mm / max(glue.place_sigma_mm, _LEAST))
    left_deg = min(1.0, CALIBRATED.sigma_deg / max(glue.sigma_deg, _LEAST))
    own_mm, own_deg = base.own_sigmas
    if base.row is not None:
        row = base.row
        row = replace(row, sigma_mm=left_mm * row.sigma_mm, sigma_deg=left_deg * row.sigma_deg)
        return _with_own_sigmas(replace(base, row=row, glue=CALIBRATED), own_mm, own_deg)
    # The rest is the camera's error, and stays.
    seen_mm2 = max(own_mm**2 - glue.place_sigma_mm**2, 0.0)
    seen_deg2 = max(own_deg**2 - glue.sigma_deg**2, 0.0)
    known_mm = math.sqrt(seen_mm2 + (left_mm * glue.place_sigma_mm) ** 2)
    known_deg = math.sqrt(seen_deg2 + (left_deg * glue.sigma_deg) ** 2)
    return _with_own_sigmas(replace(base, glue=CALIBRATED), known_mm, known_deg)


def _on_table(offsets_mm: Array, headings_rad: Array | float) -> Array:
    """Turns offsets (n, 2), to the right and ahead of bases, into the table's frame."""
    sin, cos = np.sin(headings_rad), np.cos(headings_rad)
    right_mm, ahead_mm = offsets_mm.T
    return np.stack([right_mm * sin + ahead_mm * cos, ahead_mm * sin - right_mm * cos], axis=-1)
