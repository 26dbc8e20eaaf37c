"""Contacts (M-1.10, M-8.10, M-8.14), and the position of enemies to each other (M-1.11 on)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import compress
from types import MappingProxyType
from typing import Any

import numpy as np
import shapely

from tablecam.geometry.fronts import Fronts, strip_ahead
from tablecam.geometry.outlines import GRID_MM, front_line
from tablecam.geometry.rectangles import EXACT_MM, Array, Rectangles, rectangles
from tablecam.geometry.shapes import PLACES_MM, Shape, shapes_of
from tablecam.geometry.sides import SIDES, Side, sides_from
from tablecam.rules.maurice.field.field import FAR_SIGMAS, Field, UnitOnField, distance_matrix
from tablecam.rules.maurice.field.ground import Piece
from tablecam.rules.maurice.field.tables import SLIVER_MM, THIN_BW
from tablecam.rules.memo import Memo
from tablecam.table.model import base_widths
from tablecam.uncertainty.answer import Answer, decide
from tablecam.uncertainty.contact import TOUCH_MM, Contact, contact, contacts
from tablecam.uncertainty.lengths import distance
from tablecam.uncertainty.samples import DRAWS, decide_sampled, draw_units

CONTACT_RULE = "M-1.10"
ACROSS_RULE = "M-8.14"

OVERLAP_MM = 3.0
"""How far behind a front line an enemy in contact may lie, as bases are placed by hand."""
_ROUNDING_MM = 1e-4
"""Rounding tolerance in comparing the depth behind a front line with the width."""


@dataclass(frozen=True, slots=True, eq=False)
class Contacts:
    """The contacts on a field, including those too close to call.

    `contacts` is keyed by both units' ids, in the field's order.
    """

    field: Field
    contacts: Mapping[tuple[str, str], Contact]

    def enemies_of(self, unit_id: str) -> tuple[str, ...]:
        """Returns the ids of the enemies in contact with a unit, as measured."""
        units = self.field.by_id
        touching = (
            b_id if a_id == unit_id else a_id
            for (a_id, b_id), pair_contact in self.contacts.items()
            if unit_id in (a_id, b_id) and pair_contact.answer.margin_mm >= -EXACT_MM
        )
        return tuple(other for other in touching if units[other].side != units[unit_id].side)

    def contact(self, a_id: str, b_id: str) -> Contact | None:
        """Returns the contact between two units in either order; None if they are clearly apart."""
        return self.contacts.get((a_id, b_id)) or self.contacts.get((b_id, a_id))

    def answer(self, a_id: str, b_id: str) -> Answer:
        """Returns whether two units touch."""
        if (known := self.contact(a_id, b_id)) is not None:
            return known.answer
        # Pairs that are clearly apart are not stored.
        a, b = (self.field.by_id[name].unit for name in (a_id, b_id))
        return contact(a, b, tolerance_mm=self.field.tolerance_mm, rule=CONTACT_RULE).answer


def contacts_of_field(field: Field, among: Collection[str] | None = None) -> Contacts:
    """Finds the contacts between all units of a field, or between those `among` and any other."""
    units = [unit.unit for unit in field.units]
    asked = frozenset(field.by_id if among is None else among)
    direct = contacts(units, tolerance_mm=field.tolerance_mm, rule=CONTACT_RULE, among=asked)
    by_ids = {(pair.a, pair.b): pair for pair in (*direct, *_across_obstacles(field, asked))}
    place = {unit.id: index for index, unit in enumerate(units)}
    order = sorted(by_ids, key=lambda ids: (place[ids[0]], place[ids[1]]))
    return Contacts(field, MappingProxyType({ids: by_ids[ids] for ids in order}))


def _across_obstacles(field: Field, among: Set[str]) -> list[Contact]:
    """Finds the contacts of enemies that lie against both sides of a thin obstacle (M-8.14)."""
    if not any(piece.kind.is_linear for piece in field.ground.pieces):
        return []
    outlines = field.outlines
    thin_mm = THIN_BW * field.bw_mm + 2 * TOUCH_MM + EXACT_MM
    near = shapely.STRtree(outlines).query(outlines, predicate="dwithin", distance=thin_mm)
    return [
        _across(field, a, b)
        for a, b in ((field.units[i], field.units[j]) for i, j in near.T if i < j)
        if a.side != b.side
        and not among.isdisjoint((a.id, b.id))
        # Those that touch directly are contacts already.
        and shapely.distance(a.outline, b.outline) > TOUCH_MM + EXACT_MM
        and (touches_across(field, a, b) or touches_across(field, b, a))
    ]


def _across(field: Field, a: UnitOnField, b: UnitOnField) -> Contact:
    """Builds a contact across an obstacle; its margin is that of the unit farther from it."""
    linear = [piece.outline for piece in field.ground.pieces if piece.kind.is_linear]
    to_obstacles_mm = shapely.distance(np.array([a.outline, b.outline])[:, None], np.array(linear))
    # If there are several obstacles, the one closest to both decides.
    margin_mm = TOUCH_MM - float(to_obstacles_mm.max(axis=0).min())
    apart = distance(a.unit, b.unit)
    word, chance = decide(margin_mm, apart.sigma_mm, tolerance_mm=field.tolerance_mm)
    because = (
        f"{a.id} touches {b.id} across an obstacle at most {THIN_BW:g} BW thick, which both touch"
    )
    if word == "too_close":
        because = f"whether {a.id} and {b.id} touch the obstacle between them is too close to call"
    evidence = (apart.evidence(), *shapes_of(shapely.Point(apart.from_mm), "contact"))
    answer = Answer(word, margin_mm, apart.sigma_mm, chance, ACROSS_RULE, because, evidence)
    return Contact(a.id, b.id, answer, ())


def front_gap_mm(attacker: UnitOnField, other: UnitOnField) -> float | None:
    """Returns the gap from a unit's front edge to the part of another between its flank lines.

    None if no part lies there (G-5) or if it came from the flank. Negative if it lies behind the
    front line by no more than hand placement explains.
    """
    gap_mm, there_mm = _gaps_mm(Fronts.of(attacker.axes), rectangles([other.unit]))
    is_there = np.isfinite(gap_mm[0]) and there_mm[0] >= -EXACT_MM
    return float(gap_mm[0]) if is_there else None


def touches_across(field: Field, attacker: UnitOnField, enemy: UnitOnField) -> bool:
    """Returns whether a front and an enemy lie against both sides of a thin obstacle (M-8.14).

    The gap between them is at most the obstacle's thickness and 1 mm on each side.
    """
    fronts, bases = Fronts.of(attacker.axes), rectangles([enemy.unit])
    gap_mm, there_mm = _gaps_mm(fronts, bases)
    across_mm = _across_margins_mm(field, fronts, bases, gap_mm)
    return bool(min(across_mm[0], there_mm[0]) >= -EXACT_MM)


def contact_margin_mm(field: Field, attacker: UnitOnField, enemy: UnitOnField) -> float:
    """Returns the margin by which an enemy touches a unit's front; negative if it does not.

    Contact across a wall counts (M-8.14).
    """
    fronts, bases = Fronts.of(attacker.axes), rectangles([enemy.unit])
    margin_mm = float(contact_margins_mm(field, fronts, bases)[0])
    # Rounding must not separate units in contact.
    return margin_mm if margin_mm < -EXACT_MM else max(margin_mm, 0.0)


def contact_margins_mm(field: Field, fronts: Fronts, bases: Rectangles) -> Array:
    """Returns the contact margins (k,) for k fronts and k draws of one enemy's bases."""
    gap_mm, there_mm = _gaps_mm(fronts, bases)
    at_edge_mm = np.maximum(TOUCH_MM - gap_mm, _across_margins_mm(field, fronts, bases, gap_mm))
    # Outside the flank lines there is no gap; the margin is the distance from being between them.
    at_edge_mm = np.where(np.isfinite(gap_mm), at_edge_mm, np.inf)
    return np.asarray(np.minimum(there_mm, at_edge_mm))


def _gaps_mm(fronts: Fronts, bases: Rectangles) -> tuple[Array, Array]:
    """Returns gaps (k,) from fronts to bases, and the margins (k,) by which they came from ahead.

    The gap is infinite if no part lies between the flank lines.
    """
    corners_mm = bases.corners_mm().reshape(len(fronts.left_mm), -1, 4, 2)
    in_strip_mm = fronts.depth_mm(corners_mm, bases.axes.reshape(len(corners_mm), -1, 2, 2))
    in_strip_mm = in_strip_mm.max(axis=1) - SLIVER_MM
    gap_mm, wide_mm = fronts.gaps_and_widths_mm(corners_mm, OVERLAP_MM, TOUCH_MM)
    # Deeper behind the front line than wide: it came from the flank and touches that.
    from_ahead_mm = np.where(gap_mm < 0, wide_mm + gap_mm + _ROUNDING_MM, np.inf)
    return gap_mm, np.asarray(np.minimum(in_strip_mm, from_ahead_mm))


def _across_margins_mm(field: Field, fronts: Fronts, bases: Rectangles, gap_mm: Array) -> Array:
    """Returns the margins (k,) of contact between fronts and bases across a thin obstacle."""
    margins_mm = np.full(len(gap_mm), -np.inf)
    pieces = thin_pieces(field)
    if not pieces:
        return margins_mm
    edges = shapely.linestrings(np.stack([fronts.left_mm, fronts.right_mm], axis=1))
    outlines = bases.outlines().reshape(len(gap_mm), -1)
    near_mm = THIN_BW * field.bw_mm + 2 * TOUCH_MM - gap_mm
    for piece in pieces:
        to_front_mm = shapely.distance(edges, piece.outline)
        to_bases_mm = shapely.distance(outlines, piece.outline).min(axis=1)
        touching_mm = TOUCH_MM - np.maximum(to_front_mm, to_bases_mm)
        margins_mm = np.maximum(margins_mm, np.minimum(near_mm, touching_mm))
    return margins_mm


def thin_pieces(field: Field) -> list[Piece]:
    """Returns the linear obstacles thin enough to fight across (M-8.14)."""
    linear = [piece for piece in field.ground.pieces if piece.kind.is_linear]
    # Erosion leaves nothing of an obstacle that is nowhere thicker, even if it bends.
    by_mm = -THIN_BW * field.bw_mm / 2 - EXACT_MM
    thick = shapely.buffer([piece.outline for piece in linear], by_mm, join_style="mitre")
    return list(compress(linear, shapely.is_empty(thick)))


FLANK_RULE = "M-1.12"

_TOLD_MARGIN_BW = 4.0
"""The largest miss that a sentence gives in figures."""


def is_to_flank(a: UnitOnField, b: UnitOnField) -> bool:
    """Returns whether `b` is to `a`'s flank, as measured."""
    return bool(flank_margins_mm([a], [b])[0, 0] >= -EXACT_MM)


def to_flank(
    field: Field, a: UnitOnField, b: UnitOnField, margin_mm: float | None = None
) -> Answer:
    """Returns whether `b` is to `a`'s flank rather than to its front; cached.

    At least half of `b`'s bases must lie completely behind `a`'s front line, and no part of `b`
    directly in front of `a`. The lesser of the two margins decides; pass it as `margin_mm` if
    known.
    """
    known_mm = float(flank_margins_mm([a], [b])[0, 0]) if margin_mm is None else margin_mm
    key = (field.position.table, a.place, b.place)
    return _REMEMBERED.answer(key, lambda: _flank_answer(field, a, b, known_mm))


def flanked_by(field: Field, unit: UnitOnField, touching: Contacts) -> tuple[str, ...]:
    """Returns the enemies that flank a unit: they touch it and are to its flank (M-1.13)."""
    enemies = touching.enemies_of(unit.id)
    return tuple(name for name in enemies if is_to_flank(unit, field.by_id[name]))


def flank_margins_mm(units: Sequence[UnitOnField], others: Sequence[UnitOnField]) -> Array:
    """Returns the margins (k, m) by which m others are to the flank of k units.

    A margin is negative if the other unit is to the front.
    """
    bases = rectangles([other.unit for other in others])
    return _flank_margins_mm(Fronts.of_all([unit.axes for unit in units]), bases)


_REMEMBERED: Memo[Answer] = Memo()


def _flank_answer(field: Field, a: UnitOnField, b: UnitOnField, margin_mm: float) -> Answer:
    tolerance_mm = field.tolerance_mm
    word, chance = decide(margin_mm, tolerance_mm=tolerance_mm)
    sigma_mm = _sigma_bound_mm(a, b)
    # Draws are slow, and make no difference far from the limit.
    if sigma_mm and abs(margin_mm) <= FAR_SIGMAS * sigma_mm:
        drawn_mm = flank_margins_of_draws_mm(a, b)
        word, sigma_mm, chance = decide_sampled(margin_mm, drawn_mm, tolerance_mm=tolerance_mm)
    because = _sentence(field, a, b, word, margin_mm)
    return Answer(
        word, margin_mm, sigma_mm, chance, FLANK_RULE, because, flank_evidence(field, a, b)
    )


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


def _flank_margins_mm(fronts: Fronts, bases: Rectangles, draws: int = 1) -> Array:
    """Returns the margins (k, n) of n units for k fronts; `bases` hold 1 or k draws of them.

    A base is completely behind a front line if its foremost corner is not ahead of it (G-4). Half
    of the bases, rounded up, must be, so the median decides.
    """
    corners_mm = bases.corners_mm().reshape(draws, -1, 4, 2)
    ahead_mm = fronts.ahead_mm(corners_mm)
    depth_mm = fronts.depth_mm(corners_mm, bases.axes.reshape(draws, -1, 2, 2))
    # Each unit's bases are consecutive.
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
    return _flank_margins_mm(fronts, draw_units([b.unit]), DRAWS)[:, 0]


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
    short = f", short by {by}" if margin_mm >= -_TOLD_MARGIN_BW * field.bw_mm else ""
    head = {
        "yes": f"{b.id} is to the flank of {a.id} by {by}",
        "no": f"{b.id} is not to the flank of {a.id}{short}",
        "too_close": f"whether {b.id} is to the flank of {a.id} is too close to call",
    }[word]
    return f"{head}: {_facts(a, b)}"


def _facts(a: UnitOnField, b: UnitOnField) -> str:
    """Says how `b` meets or misses the two conditions of `to_flank`, as measured."""
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
    """Returns how far (n,) `b`'s bases lie ahead of `a`'s front line, and how deep in its strip."""
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
        return to_flank(self.field, self.a, self.b, self.flank_margin_mm)

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
    """Pairs each of the units with each of its enemies, in field order."""
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
    sides = sides_from([unit.axes for unit in units], [enemy.unit for enemy in enemies]).tolist()
    margins_mm = flank_margins_mm(units, enemies).tolist()
    among = np.ix_(*([apart.indices[unit.id] for unit in group] for group in (units, enemies)))
    far_mm, sigmas_mm = apart.value_mm[among].tolist(), apart.spread_mm[among].tolist()
    return [
        UnitPair(field, a, b, far, sigma, SIDES[side], margin)
        for a, *rows in zip(units, far_mm, sigmas_mm, sides, margins_mm, strict=True)
        for b, far, sigma, side, margin in zip(enemies, *rows, strict=True)
    ]
