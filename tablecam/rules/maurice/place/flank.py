"""Opposing units as seen by each other: distance, side, flank, who flanks whom (M-1.11 on)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely

from tablecam.geometry.fronts import Fronts, strip_ahead
from tablecam.geometry.outlines import GRID_MM, front_line
from tablecam.geometry.rectangles import EXACT_MM, Array, Rectangles, rectangles
from tablecam.geometry.shapes import PLACES_MM, Shape, shapes_of
from tablecam.geometry.sides import SIDES, Side, sides_from
from tablecam.rules.maurice.field.distance_matrix import distance_matrix
from tablecam.rules.maurice.field.field import FAR_SIGMAS, Field, UnitOnField
from tablecam.rules.maurice.field.tables import SLIVER_MM
from tablecam.rules.maurice.place.contacts import Contacts
from tablecam.rules.memo import Memo
from tablecam.table.model import base_widths
from tablecam.uncertainty.answer import Answer, decide
from tablecam.uncertainty.samples import DRAWS, decide_sampled, draw_units

RULE = "M-1.12"

_TOLD_MARGIN_BW = 4.0
"""A flank that is missed by more is missed without a figure."""


def is_to_flank(a: UnitOnField, b: UnitOnField) -> bool:
    """Returns whether `b` is to `a`'s flank, as measured."""
    return bool(flank_margins_mm([a], [b])[0, 0] >= -EXACT_MM)


def to_flank(field: Field, a: UnitOnField, b: UnitOnField) -> Answer:
    """Returns whether `b` is to `a`'s flank; otherwise it is to its front.

    At least half of `b`'s bases must lie completely behind `a`'s front line, and no part of `b`
    directly in front of `a`. The margin is the lesser of the two conditions' margins.
    """
    return flank_answer(field, a, b, float(flank_margins_mm([a], [b])[0, 0]))


def flanked_by(field: Field, unit: UnitOnField, touching: Contacts) -> tuple[str, ...]:
    """Returns the enemies that flank a unit: they touch it and are to its flank (M-1.13)."""
    enemies = touching.enemies_of(unit.id)
    return tuple(name for name in enemies if is_to_flank(unit, field.by_id[name]))


def flank_margins_mm(units: Sequence[UnitOnField], others: Sequence[UnitOnField]) -> Array:
    """Returns the margins (k, m) by which m others are to the flank of k units.

    A margin is negative if the other unit is to the front.
    """
    bases = rectangles([other.unit for other in others])
    return _margins_mm(Fronts.of_all([unit.axes for unit in units]), bases)


_REMEMBERED: Memo[Answer] = Memo()


def flank_answer(field: Field, a: UnitOnField, b: UnitOnField, margin_mm: float) -> Answer:
    """Returns the answer of `to_flank` for a margin computed before, remembered."""
    key = (field.position.table, a.place, b.place)
    return _REMEMBERED.answer(key, lambda: _flank_answer(field, a, b, margin_mm))


def _flank_answer(field: Field, a: UnitOnField, b: UnitOnField, margin_mm: float) -> Answer:
    tolerance_mm = field.position.table.tolerance_mm
    word, chance = decide(margin_mm, tolerance_mm=tolerance_mm)
    sigma_mm = _sigma_bound_mm(a, b)
    # Draws are slow, and far from the limit they change nothing.
    if sigma_mm and abs(margin_mm) <= FAR_SIGMAS * sigma_mm:
        drawn_mm = flank_margins_of_draws_mm(a, b)
        word, sigma_mm, chance = decide_sampled(margin_mm, drawn_mm, tolerance_mm=tolerance_mm)
    because = _sentence(field, a, b, word, margin_mm)
    return Answer(word, margin_mm, sigma_mm, chance, RULE, because, flank_evidence(field, a, b))


def flank_evidence(field: Field, a: UnitOnField, b: UnitOnField) -> tuple[Shape, ...]:
    """Draws `a`'s front line, the strip directly ahead of it, and how each base of `b` counts."""
    table = field.position.table
    strip = strip_ahead(a.axes, table)
    ahead_mm, depth_mm = _conditions_mm(a, b)
    drawn = list(shapes_of(strip, "directly-in-front"))
    drawn += shapes_of(front_line(a.unit, table), "front-line", f"{a.id}'s front line")
    for base, base_ahead_mm in zip(b.bases, ahead_mm, strict=True):
        role, label = ("counts", "behind") if base_ahead_mm <= EXACT_MM else ("counts-not", "")
        drawn += shapes_of(base, role, label)
    if depth_mm > SLIVER_MM:
        common = shapely.intersection(b.outline, strip, grid_size=GRID_MM)
        drawn += shapes_of(common, "intrusion", "directly in front")
    return tuple(drawn)


def _margins_mm(fronts: Fronts, bases: Rectangles, draws: int = 1) -> Array:
    """Returns the margins (k, n) of n units for k fronts; `bases` hold 1 or k draws of them.

    A base is completely behind a front line if its foremost corner is not ahead of it (G-4). Half
    of the bases, rounded up, must be, so the median decides.
    """
    corners_mm = bases.corners_mm().reshape(draws, -1, 4, 2)
    ahead_mm = fronts.ahead_mm(corners_mm)
    depth_mm = fronts.depth_mm(corners_mm, bases.axes.reshape(draws, -1, 2, 2))
    # The bases of a unit follow one another.
    starts = np.unique(bases.owners[: corners_mm.shape[1]], return_index=True)[1]
    ahead_of_units = np.split(ahead_mm, starts[1:], axis=1)
    depth_of_units = np.split(depth_mm, starts[1:], axis=1)
    margins = [
        np.minimum(
            -np.sort(ahead, axis=1)[:, (ahead.shape[1] - 1) // 2], SLIVER_MM - depth.max(axis=1)
        )
        for ahead, depth in zip(ahead_of_units, depth_of_units, strict=True)
    ]
    return np.stack(margins, axis=1)


def flank_margins_of_draws_mm(a: UnitOnField, b: UnitOnField) -> Array:
    """Returns the margins (n,) for n draws of both units' poses."""
    fronts = Fronts.drawn(a.unit, draw_units([a.unit]))
    return _margins_mm(fronts, draw_units([b.unit]), DRAWS)[:, 0]


def _sigma_bound_mm(a: UnitOnField, b: UnitOnField) -> float:
    """Returns a cheap bound on the margin's standard deviation; 0 if all poses are exact.

    An error of a front line's heading grows with the distance along the line.
    """
    bases = a.unit.bases + b.unit.bases
    sigma_mm = max(base.sigma_mm for base in bases)
    sigma_rad = float(np.radians(max(base.sigma_deg for base in bases)))
    if not sigma_mm and not sigma_rad:
        return 0.0
    edge_mm = float(np.hypot(*np.subtract(a.axes.right_mm, a.axes.left_mm)))
    far_mm = float(shapely.hausdorff_distance(a.outline, b.outline)) + edge_mm
    return sigma_mm * (2.0 + 2.0 * far_mm / edge_mm) + sigma_rad * far_mm


def _sentence(field: Field, a: UnitOnField, b: UnitOnField, word: str, margin_mm: float) -> str:
    by = base_widths(field.position.table).margin(margin_mm)
    # Farther off, nobody asks by how much.
    short = f", short by {by}" if margin_mm >= -_TOLD_MARGIN_BW * field.bw_mm else ""
    head = {
        "yes": f"{b.id} is to the flank of {a.id} by {by}",
        "no": f"{b.id} is not to the flank of {a.id}{short}",
        "too_close": f"whether {b.id} is to the flank of {a.id} is too close to call",
    }[word]
    return f"{head}: {_facts(a, b)}"


def _facts(a: UnitOnField, b: UnitOnField) -> str:
    """Describes how `b` lies to the two conditions of `to_flank`, as measured."""
    ahead_mm, depth_mm = _conditions_mm(a, b)
    behind = int(np.count_nonzero(ahead_mm <= EXACT_MM))
    total = len(b.unit.bases)
    counted = f"{behind or 'none'} of {b.id}'s {total} bases" if total > 1 else f"{b.id}"
    lie = "lies" if total == 1 or behind <= 1 else "lie"
    lie = "does not lie" if total == 1 and not behind else lie
    where = f"{counted} {lie} wholly behind {a.id}'s front line"
    directly = "part of it" if depth_mm > SLIVER_MM else "no part of it"
    return f"{where}, and {directly} is directly in front of {a.id}"


def _conditions_mm(a: UnitOnField, b: UnitOnField) -> tuple[Array, float]:
    """Returns how far (n,) `b`'s bases reach ahead of `a`'s front line, and how deep before it."""
    front, bases = Fronts.of(a.axes), rectangles([b.unit])
    corners_mm = bases.corners_mm()[None]
    return front.ahead_mm(corners_mm)[0], float(front.depth_mm(corners_mm, bases.axes[None]).max())


@dataclass(frozen=True, eq=False)
class UnitPair:
    """The position of unit `b` relative to unit `a`.

    `b_is` is the side of `a` on which most of `b` lies, for information only. `flank_margin_mm` is
    the margin by which `b` is to `a`'s flank, negative if it is not.
    """

    field: Field
    a: UnitOnField
    b: UnitOnField
    distance_mm: float
    sigma_mm: float
    b_is: Side
    flank_margin_mm: float

    @property
    def ids(self) -> tuple[str, str]:
        """The ids of `a` and `b`."""
        return self.a.id, self.b.id

    @property
    def is_to_flank(self) -> bool:
        """Whether `b` is to `a`'s flank, as measured."""
        return self.flank_margin_mm >= -EXACT_MM

    @property
    def to_flank(self) -> Answer:
        """The answer with its probability and evidence (M-1.12)."""
        return flank_answer(self.field, self.a, self.b, self.flank_margin_mm)

    def to_json(self) -> dict[str, Any]:
        """Serialises the pair."""
        return {
            "a": self.a.id,
            "b": self.b.id,
            "distance_mm": round(self.distance_mm, PLACES_MM),
            "distance_bw": round(self.field.in_bw(self.distance_mm), PLACES_MM + 1),
            "sigma_mm": round(self.sigma_mm, PLACES_MM),
            "b_is": self.b_is,
            "b_to_flank_of_a": self.is_to_flank,
        }


def pairs(field: Field, units: Sequence[UnitOnField]) -> tuple[UnitPair, ...]:
    """Returns the pairs of each of some units with each of its enemies, in field order."""
    measured = {
        pair.ids: pair
        for side in dict.fromkeys(unit.side for unit in units)
        for pair in _measured(
            field,
            [unit for unit in units if unit.side == side],
            [unit for unit in field.units if unit.side != side],
        )
    }
    return tuple(measured[a.id, b.id] for a in units for b in field.enemies_of(a))


def _measured(
    field: Field, units: Sequence[UnitOnField], enemies: Sequence[UnitOnField]
) -> list[UnitPair]:
    """Measures each of the units against each of the enemies, all at once."""
    if not enemies:
        return []
    apart = distance_matrix(field)
    lies = sides_from([unit.axes for unit in units], [enemy.unit for enemy in enemies]).tolist()
    margins_mm = flank_margins_mm(units, enemies).tolist()
    among = np.ix_(*([apart.indices[unit.id] for unit in group] for group in (units, enemies)))
    far_mm, sigmas_mm = apart.value_mm[among].tolist(), apart.spread_mm[among].tolist()
    return [
        UnitPair(field, a, b, far, sigma, SIDES[lie], margin)
        for a, *rows in zip(units, far_mm, sigmas_mm, lies, margins_mm, strict=True)
        for b, far, sigma, lie, margin in zip(enemies, *rows, strict=True)
    ]
