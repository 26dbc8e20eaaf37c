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
from numpy.typing import NDArray

from tablecam.geometry.gaps import separations
from tablecam.geometry.outlines import GRID_MM
from tablecam.geometry.rectangles import EXACT_MM, Array, Indices, Rectangles, rectangles
from tablecam.geometry.shapes import Shape, shapes_of
from tablecam.table.model import Point, Unit
from tablecam.uncertainty.answer import Answer, decide
from tablecam.uncertainty.lengths import distance, gaps_with_sigma, geometries

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
    words = [
        decide(touch_mm - gap_mm, sigma_mm, tolerance_mm=tolerance_mm)
        for gap_mm, sigma_mm in zip(gaps_mm.tolist(), sigmas_mm.tolist(), strict=True)
    ]
    # What may touch: as far as the units' own nearest bases, where the answer is not plain.
    is_open = np.array([word == "too_close" for word, _ in words], dtype=np.bool_)
    limits_mm = np.where(is_open, np.maximum(touch_mm, gaps_mm), touch_mm)
    asked = np.array([word != "no" for word, _ in words], dtype=np.bool_)
    touches = iter(_touches(units, pairs[asked], limits_mm[asked]))
    found: list[Contact] = []
    for (first, second), gap_mm, sigma_mm, (word, chance) in zip(
        pairs, gaps_mm.tolist(), sigmas_mm.tolist(), words, strict=True
    ):
        a, b = units[first], units[second]
        meet = () if word == "no" else next(touches)
        sentence, evidence = _sentence(a, b, word, gap_mm, meet), _evidence(a, b, meet)
        margin_mm = touch_mm - gap_mm
        answer = Answer(word, margin_mm, sigma_mm, chance, rule, sentence, evidence)
        found.append(Contact(a.id, b.id, answer, meet))
    return found


def _touches(units: Sequence[Unit], pairs: Indices, limits_mm: Array) -> list[tuple[Touch, ...]]:
    """Of each of some pairs (g, 2) of units the bases that touch within its limit (g,)."""
    found: list[list[Touch]] = [[] for _ in pairs]
    places = [
        (group, in_a, in_b)
        for group, (first, second) in enumerate(pairs.tolist())
        for in_a in range(len(units[first].bases))
        for in_b in range(len(units[second].bases))
    ]
    if not places:
        return [()] * len(pairs)
    group, in_a, in_b = np.array(places, dtype=np.intp).T
    rects, starts = rectangles(units), np.cumsum([0, *(len(unit.bases) for unit in units)])
    near_a = rects.take(starts[pairs[group, 0]] + in_a)
    near_b = rects.take(starts[pairs[group, 1]] + in_b)
    gaps_mm, _, normals = separations(near_a, near_b)
    of_a, of_b = (np.asarray(shapely.polygons(each.corners_mm())) for each in (near_a, near_b))
    # Beyond a corner the nearest points lie farther apart than any edge's normal tells.
    apart = np.flatnonzero((gaps_mm > 0) & (gaps_mm <= limits_mm[group] + EXACT_MM))
    gaps_mm[apart] = shapely.distance(of_a[apart], of_b[apart])
    rows = np.flatnonzero(gaps_mm <= limits_mm[group] + EXACT_MM)
    edges_a = _facing_edges(near_a.take(rows), normals[rows])
    edges_b = _facing_edges(near_b.take(rows), -normals[rows])
    middles = _middles_and_lengths(of_a[rows], of_b[rows], normals[rows], limits_mm[group[rows]])
    for row, edge_a, edge_b, (at_mm, length_mm) in zip(
        rows.tolist(), edges_a, edges_b, middles, strict=True
    ):
        a, b = (units[index] for index in pairs[group[row]])
        ends = a.base_name(in_a[row]), edge_a, b.base_name(in_b[row]), edge_b
        found[group[row]].append(Touch(*ends, at_mm, float(gaps_mm[row]), length_mm))
    return [
        tuple(sorted(each, key=lambda touch: (-touch.length_mm, touch.gap_mm))) for each in found
    ]


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


def _middles_and_lengths(
    a: NDArray[np.object_], b: NDArray[np.object_], normals: Array, limits_mm: Array
) -> list[tuple[Point, float]]:
    """Where pairs of bases touch: of what each has within reach of the other, middle and length."""
    reach_mm = limits_mm / 2 + GRID_MM
    grown_a, grown_b = (shapely.buffer(each, reach_mm, join_style="mitre") for each in (a, b))
    shared = np.asarray(shapely.intersection(grown_a, grown_b, grid_size=GRID_MM))
    middles = shapely.get_coordinates(shapely.centroid(shared)).tolist()
    found: list[tuple[Point, float]] = []
    for (x_mm, y_mm), part, (x, y), each_mm in zip(
        middles, shared, normals.tolist(), reach_mm.tolist(), strict=True
    ):
        along = shapely.get_coordinates(part) @ np.array([-y, x])
        length_mm = max(0.0, round(float(np.ptp(along)) - 2 * each_mm, _LENGTH_PLACES))
        found.append(((x_mm, y_mm), length_mm))
    return found


def _largest_sigma_mm(units: Sequence[Unit]) -> float:
    bases = rectangles(units)
    spreads_mm = np.hypot(bases.sigmas[:, 0], bases.sigmas[:, 2] * bases.arms_mm)
    return float(spreads_mm.max(initial=0.0)) * 2


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
