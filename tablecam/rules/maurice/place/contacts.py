"""Contacts of units (M-1.10, G-6), also with front edges (M-8.10) and across walls (M-8.14)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from itertools import compress
from types import MappingProxyType

import numpy as np
import shapely

from tablecam.geometry.fronts import Fronts
from tablecam.geometry.rectangles import EXACT_MM, Array, Rectangles, rectangles
from tablecam.geometry.shapes import shapes_of
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.ground import Piece
from tablecam.rules.maurice.field.tables import SLIVER_MM, THIN_BW
from tablecam.uncertainty.answer import Answer, decide
from tablecam.uncertainty.contact import TOUCH_MM, Contact, contact, contacts
from tablecam.uncertainty.lengths import distance

RULE = "M-1.10"
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

    def of(self, unit_id: str) -> tuple[str, ...]:
        """Returns the ids of all units, also friends, that touch a unit, as measured."""
        return tuple(
            b_id if a_id == unit_id else a_id
            for (a_id, b_id), pair_contact in self.contacts.items()
            if unit_id in (a_id, b_id) and pair_contact.answer.margin_mm >= -EXACT_MM
        )

    def enemies_of(self, unit_id: str) -> tuple[str, ...]:
        """Returns the ids of the enemies in contact with a unit, as measured."""
        units = self.field.by_id
        side = units[unit_id].side
        return tuple(other for other in self.of(unit_id) if units[other].side != side)

    def contact(self, a_id: str, b_id: str) -> Contact | None:
        """Returns the contact between two units in either order; None if they are clearly apart."""
        return self.contacts.get((a_id, b_id)) or self.contacts.get((b_id, a_id))

    def answer(self, a_id: str, b_id: str) -> Answer:
        """Returns whether two units touch."""
        if (known := self.contact(a_id, b_id)) is not None:
            return known.answer
        # Pairs that are clearly apart are not stored.
        units, table = self.field.by_id, self.field.position.table
        a, b = units[a_id].unit, units[b_id].unit
        return contact(a, b, tolerance_mm=table.tolerance_mm, rule=RULE).answer


def contacts_of_field(field: Field, among: Collection[str] | None = None) -> Contacts:
    """Finds the contacts between all units of a field, or of those `among` with any other."""
    units = [unit.unit for unit in field.units]
    asked = frozenset(field.by_id if among is None else among)
    tolerance_mm = field.position.table.tolerance_mm
    direct = contacts(units, tolerance_mm=tolerance_mm, rule=RULE, among=asked)
    by_ids = {(pair.a, pair.b): pair for pair in (*direct, *_across_obstacles(field, asked))}
    place = {unit.id: index for index, unit in enumerate(units)}
    order = sorted(by_ids, key=lambda ids: (place[ids[0]], place[ids[1]]))
    return Contacts(field, MappingProxyType({ids: by_ids[ids] for ids in order}))


def _across_obstacles(field: Field, among: Set[str]) -> list[Contact]:
    """Finds the contacts of enemies that lie against both sides of a thin obstacle (M-8.14)."""
    if not any(piece.kind.is_linear for piece in field.ground.pieces):
        return []
    outlines = np.array([unit.outline for unit in field.units], dtype=object)
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
    # Of several obstacles, the one that both lie closest to decides.
    margin_mm = TOUCH_MM - float(to_obstacles_mm.max(axis=0).min())
    apart = distance(a.unit, b.unit)
    tolerance_mm = field.position.table.tolerance_mm
    word, chance = decide(margin_mm, apart.sigma_mm, tolerance_mm=tolerance_mm)
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
    front line by no more than placing by hand explains.
    """
    gap_mm, there_mm = _gaps_mm(Fronts.of(attacker.axes), rectangles([other.unit]))
    is_there = np.isfinite(gap_mm[0]) and there_mm[0] >= -EXACT_MM
    return float(gap_mm[0]) if is_there else None


def touches_across(field: Field, attacker: UnitOnField, enemy: UnitOnField) -> bool:
    """Returns whether a front and an enemy lie against both sides of a thin obstacle (M-8.14).

    The gap between them is at most the obstacle's thickness and 1 mm on each side.
    """
    _, there_mm, across_mm = _margins_mm(field, Fronts.of(attacker.axes), rectangles([enemy.unit]))
    return bool(min(across_mm[0], there_mm[0]) >= -EXACT_MM)


def contact_margin_mm(field: Field, attacker: UnitOnField, enemy: UnitOnField) -> float:
    """Returns the margin by which an enemy touches a unit's front; negative if it does not.

    An enemy touches it also across a wall (M-8.14).
    """
    fronts, bases = Fronts.of(attacker.axes), rectangles([enemy.unit])
    margin_mm = float(contact_margins_mm(field, fronts, bases)[0])
    # Rounding must not part what touches.
    return margin_mm if margin_mm < -EXACT_MM else max(margin_mm, 0.0)


def contact_margins_mm(field: Field, fronts: Fronts, bases: Rectangles) -> Array:
    """Returns the contact margins (k,) for k fronts and k draws of one enemy's bases."""
    gap_mm, there_mm, across_mm = _margins_mm(field, fronts, bases)
    at_edge_mm = np.maximum(TOUCH_MM - gap_mm, across_mm)
    # Outside the flank lines there is no gap; the margin is the distance from being between them.
    at_edge_mm = np.where(np.isfinite(gap_mm), at_edge_mm, np.inf)
    return np.asarray(np.minimum(there_mm, at_edge_mm))


def _margins_mm(field: Field, fronts: Fronts, bases: Rectangles) -> tuple[Array, Array, Array]:
    """Returns `_gaps_mm`, and the margins (k,) of contact across a thin obstacle."""
    gap_mm, there_mm = _gaps_mm(fronts, bases)
    return gap_mm, there_mm, _across_margins_mm(field, fronts, _by_front(fronts, bases), gap_mm)


def _by_front(fronts: Fronts, bases: Rectangles) -> Array:
    """Returns the corners (k, n, 4, 2) of the bases before each of k fronts."""
    return bases.corners_mm().reshape(len(fronts.left_mm), -1, 4, 2)


def _gaps_mm(fronts: Fronts, bases: Rectangles) -> tuple[Array, Array]:
    """Returns gaps (k,) from fronts to bases, and by how much these lie there from ahead (k,).

    The gap is infinite if no part lies between the flank lines.
    """
    corners_mm = _by_front(fronts, bases)
    in_strip_mm = fronts.depth_mm(corners_mm, bases.axes.reshape(len(corners_mm), -1, 2, 2))
    in_strip_mm = in_strip_mm.max(axis=1) - SLIVER_MM
    gap_mm, wide_mm = _gaps_and_widths(fronts, corners_mm)
    # Deeper behind the front line than wide: it came from the flank, and touches that.
    from_ahead_mm = np.where(gap_mm < 0, wide_mm + gap_mm + _ROUNDING_MM, np.inf)
    return gap_mm, np.asarray(np.minimum(in_strip_mm, from_ahead_mm))


def _gaps_and_widths(fronts: Fronts, corners_mm: Array) -> tuple[Array, Array]:
    """Returns gaps (k,) from fronts to bases (k, n, 4, 2), and widths (k,) of contact at the edge.

    Only parts between the flank lines and at most `OVERLAP_MM` behind count; the gap is infinite
    and the width 0 if there are none.
    """
    # `u` runs along the front edge to the right, `v` ahead of it.
    across = np.stack([fronts.heading[:, 1], -fronts.heading[:, 0]], axis=1)
    offsets = corners_mm - fronts.left_mm[:, None, None]
    u = np.einsum("knci,ki->knc", offsets, across)
    v = np.einsum("knci,ki->knc", offsets, fronts.normal)
    end = np.einsum("ki,ki->k", fronts.right_mm - fronts.left_mm, across)[:, None, None]
    # Corners alone do not do: between the flank lines a side may be nearer than any corner.
    us, vs = [u], [v]
    for at_u in (0.0, end):
        cut_v = _cut(u, v, at_u)
        us.append(np.broadcast_to(at_u, u.shape))
        vs.append(cut_v)
    all_u, all_v = np.concatenate(us, axis=2), np.concatenate(vs, axis=2)
    inside = (all_u >= -EXACT_MM) & (all_u <= end + EXACT_MM) & np.isfinite(all_v)
    reaches = np.where(inside, all_v, -np.inf).max(axis=2, keepdims=True) >= -OVERLAP_MM
    nearest = np.where(inside & reaches, np.maximum(all_v, -OVERLAP_MM), np.inf)
    at_edge = [(_cut(v, u, at_v), np.full_like(u, at_v)) for at_v in (-OVERLAP_MM, TOUCH_MM)]
    return nearest.min(axis=(1, 2)), _width([(all_u, all_v), *at_edge], end)


def _cut(of: Array, other: Array, at: Array | float) -> Array:
    """Interpolates `other` where sides of quadrilaterals (k, n, 4) cross `of` = `at`, else nan."""
    of_next, other_next = np.roll(of, -1, axis=2), np.roll(other, -1, axis=2)
    # A side parallel to the line has no single crossing.
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (at - of) / (of_next - of)
    crosses = (share >= 0.0) & (share <= 1.0)
    return np.where(crosses, other + np.where(crosses, share, 0.0) * (other_next - other), np.nan)


def _width(points: list[tuple[Array, Array]], end: Array) -> Array:
    """Returns the extent (k,) along the front edge of the points that lie at the edge."""
    u, v = (np.concatenate(parts, axis=2) for parts in zip(*points, strict=True))
    is_at = (v >= -OVERLAP_MM) & (v <= TOUCH_MM) & (u >= -EXACT_MM) & (u <= end + EXACT_MM)
    least = np.where(is_at, u, np.inf).min(axis=(1, 2))
    most = np.where(is_at, u, -np.inf).max(axis=(1, 2))
    return np.asarray(np.maximum(most - least, 0.0))


def _across_margins_mm(field: Field, fronts: Fronts, corners_mm: Array, gap_mm: Array) -> Array:
    """Returns the margins (k,) of contact between fronts and bases across a thin obstacle."""
    margins_mm = np.full(len(gap_mm), -np.inf)
    pieces = thin_pieces(field)
    if not pieces:
        return margins_mm
    edges = shapely.linestrings(np.stack([fronts.left_mm, fronts.right_mm], axis=1))
    bases = np.asarray(shapely.polygons(corners_mm))
    near_mm = THIN_BW * field.bw_mm + 2 * TOUCH_MM - gap_mm
    for piece in pieces:
        to_front_mm = shapely.distance(edges, piece.outline)
        to_bases_mm = shapely.distance(bases, piece.outline).min(axis=1)
        touching_mm = TOUCH_MM - np.maximum(to_front_mm, to_bases_mm)
        margins_mm = np.maximum(margins_mm, np.minimum(near_mm, touching_mm))
    return margins_mm


def thin_pieces(field: Field) -> list[Piece]:
    """Returns the linear obstacles thin enough to fight across (M-8.14)."""
    linear = [piece for piece in field.ground.pieces if piece.kind.is_linear]
    # Nothing is left of one that is nowhere thicker, even if it bends.
    by_mm = -THIN_BW * field.bw_mm / 2 - EXACT_MM
    thick = shapely.buffer([piece.outline for piece in linear], by_mm, join_style="mitre")
    return list(compress(linear, shapely.is_empty(thick)))
