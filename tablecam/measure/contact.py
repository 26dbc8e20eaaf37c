"""Who touches whom, and with which edge of which base.

Footprints touch when the gap between them is at most 1 mm, or when they overlap (G-6); with
standard deviations or a tolerance it is a question like any other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import shapely

from tablecam.measure.answer import EXACT_MM, Answer, Shape, decide, shapes_of
from tablecam.measure.gaps import separations
from tablecam.measure.lengths import distance, gaps_with_sigma, geometries
from tablecam.measure.outlines import GRID_MM, footprint
from tablecam.measure.rectangles import Array, Indices, Rectangles, rectangles
from tablecam.table.model import Point, Unit

TOUCH_MM = 1.0
"""The widest gap that is still contact (G-6)."""

Edge = Literal["front", "left", "right", "rear"]

_FAR_SIGMAS = 6.0
_SAME_MM = 1e-6
_LENGTH_PLACES = 4


@dataclass(frozen=True, slots=True)
class Touch:
    """Two bases that touch: which, with which edges, and where the middle of the contact is.

    `gap_mm` is negative by how deep they overlap; `length_mm` is how long the contact is along the
    edges, 0 where a corner touches.
    """

    base_a: str
    edge_a: Edge
    base_b: str
    edge_b: Edge
    at_mm: Point
    gap_mm: float
    length_mm: float


@dataclass(frozen=True, slots=True)
class Contact:
    """Whether two units touch, and the pairs of bases that do, longest contact first.

    A contact that is too close to call lists the bases that may touch.
    """

    a: str
    b: str
    answer: Answer
    touches: tuple[Touch, ...]


def contact(
    a: Unit, b: Unit, *, touch_mm: float = TOUCH_MM, tolerance_mm: float = 0.0, rule: str = "G-6"
) -> Contact:
    """Whether two units touch.

    Raises:
        ValueError: One of them has no base on the table.
    """
    found = _contacts([a, b], np.array([[0, 1]]), touch_mm, tolerance_mm, rule)
    return found[0]


def contacts(
    units: Sequence[Unit],
    *,
    touch_mm: float = TOUCH_MM,
    tolerance_mm: float = 0.0,
    rule: str = "G-6",
    among: Collection[str] | None = None,
) -> tuple[Contact, ...]:
    """The pairs among many units that touch or may touch, in the units' order.

    Only those in which a unit of the ids `among` takes part, where these are given.

    Raises:
        ValueError: One of them has no base on the table.
    """
    reach_mm = touch_mm + tolerance_mm + _FAR_SIGMAS * _largest_sigma_mm(units) + _SAME_MM
    shapes = geometries(units)
    first, second = shapely.STRtree(shapes).query(shapes, predicate="dwithin", distance=reach_mm)
    asked = np.array([among is None or unit.id in among for unit in units], dtype=np.bool_)
    pairs = np.stack([first, second], axis=1)[(first < second) & (asked[first] | asked[second])]
    found = _contacts(units, pairs[np.lexsort(pairs.T[::-1])], touch_mm, tolerance_mm, rule)
    return tuple(each for each in found if each.answer.answer != "no")


def _contacts(
    units: Sequence[Unit], pairs: Indices, touch_mm: float, tolerance_mm: float, rule: str
) -> list[Contact]:
    gaps_mm, sigmas_mm = gaps_with_sigma(units, units, pairs)
    found: list[Contact] = []
    for (first, second), gap_mm, sigma_mm in zip(pairs, gaps_mm, sigmas_mm, strict=True):
        a, b = units[first], units[second]
        word, chance = decide(touch_mm - gap_mm, sigma_mm, tolerance_mm=tolerance_mm)
        # What may touch: as far as the unit's own nearest bases, where the answer is not plain.
        limit_mm = touch_mm if word != "too_close" else max(touch_mm, gap_mm)
        touches = () if word == "no" else _touches(a, b, limit_mm)
        answer = Answer(
            word,
            touch_mm - float(gap_mm),
            float(sigma_mm),
            chance,
            rule,
            _sentence(a, b, word, float(gap_mm), touches),
            _evidence(a, b, touches),
        )
        found.append(Contact(a.id, b.id, answer, touches))
    return found


def _touches(a: Unit, b: Unit, limit_mm: float) -> tuple[Touch, ...]:
    of_a, of_b = rectangles([a]), rectangles([b])
    in_a, in_b = np.indices((len(of_a), len(of_b))).reshape(2, -1)
    near_a, near_b = of_a.take(in_a), of_b.take(in_b)
    apart_mm, _, normals = separations(near_a, near_b)
    edges_a, edges_b = _facing_edges(near_a, normals), _facing_edges(near_b, -normals)
    found: list[Touch] = []
    for row in np.flatnonzero(apart_mm <= limit_mm + EXACT_MM).tolist():
        base_a, base_b = a.bases[in_a[row]], b.bases[in_b[row]]
        gap_mm = float(apart_mm[row])
        if gap_mm > 0:
            # Beyond a corner the nearest points lie farther apart than any edge's normal tells.
            gap_mm = float(shapely.distance(footprint(base_a), footprint(base_b)))
        if gap_mm <= limit_mm + EXACT_MM:
            names = a.base_name(in_a[row]), b.base_name(in_b[row])
            pair = near_a.take(np.array([row])), near_b.take(np.array([row]))
            at_mm, length_mm = _middle_and_length(*pair, normals[row], limit_mm)
            ends = edges_a[row], names[1], edges_b[row]
            found.append(Touch(names[0], *ends, at_mm, gap_mm, length_mm))
    return tuple(sorted(found, key=lambda touch: (-touch.length_mm, touch.gap_mm)))


def _facing_edges(these: Rectangles, normals: Array) -> list[Edge]:
    """The edge of each rectangle that faces most along its normal; the front where two do."""
    across, ahead = np.einsum("pij,pj->ip", these.axes, normals)
    edges: list[Edge] = []
    for right_share, front_share in zip(across, ahead, strict=True):
        if abs(front_share) >= abs(right_share) - _SAME_MM:
            edges.append("front" if front_share > 0 else "rear")
        else:
            edges.append("right" if right_share > 0 else "left")
    return edges


def _middle_and_length(
    a: Rectangles, b: Rectangles, normal: Array, limit_mm: float
) -> tuple[Point, float]:
    """Where two bases touch: of what each has within reach of the other, middle and length."""
    outlines = shapely.polygons(np.concatenate([a.corners_mm(), b.corners_mm()]))
    reach_mm = limit_mm / 2 + GRID_MM
    grown = shapely.buffer(np.asarray(outlines), reach_mm, join_style="mitre")
    shared = shapely.intersection(grown[0], grown[1], grid_size=GRID_MM)
    middle = shapely.centroid(shared)
    along = shapely.get_coordinates(shared) @ np.array([-normal[1], normal[0]])
    length_mm = max(0.0, round(float(np.ptp(along)) - 2 * reach_mm, _LENGTH_PLACES))
    return (float(middle.x), float(middle.y)), length_mm


def _largest_sigma_mm(units: Sequence[Unit]) -> float:
    bases = rectangles(units)
    arms = np.linalg.norm(bases.halves_mm, axis=1)
    return float(np.hypot(bases.sigmas[:, 0], bases.sigmas[:, 2] * arms).max(initial=0.0)) * 2


def _sentence(a: Unit, b: Unit, word: str, gap_mm: float, touches: Sequence[Touch]) -> str:
    gap = f"the gap is {gap_mm:.1f} mm" if gap_mm > 0 else f"they overlap by {-gap_mm:.1f} mm"
    gap = "they lie flush" if abs(gap_mm) < 0.05 else gap
    if word == "no":
        return f"{a.id} and {b.id} do not touch: {gap}"
    if word == "too_close":
        return f"whether {a.id} and {b.id} touch is too close to call: {gap}"
    first = touches[0]
    edges = f"base {first.base_a}'s {first.edge_a} meets base {first.base_b}'s {first.edge_b}"
    return f"{a.id} touches {b.id}: {edges}, and {gap}"


def _evidence(a: Unit, b: Unit, touches: Sequence[Touch]) -> tuple[Shape, ...]:
    if not touches:
        return (distance(a, b).evidence(),)
    where = shapely.MultiPoint([touch.at_mm for touch in touches])
    return shapes_of(where, "contact")
