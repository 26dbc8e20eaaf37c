"""Finds which units are in contact, and by which edges of which bases.

Footprints are in contact if the gap between them is at most 1 mm or they overlap (G-6). Standard
deviations and a tolerance may make that too close to call.
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
from tablecam.table.formation import base_words
from tablecam.table.model import Point, Unit
from tablecam.uncertainty.answer import Answer, AnswerWord, decide
from tablecam.uncertainty.lengths import distance, gaps_with_sigma, geometries
from tablecam.uncertainty.samples import decide_sampled, draw_gaps_mm

TOUCH_MM = 1.0
"""The widest gap that still counts as contact (G-6)."""

Edge = Literal["front", "left", "right", "rear", "rim"]
"""An edge of a base; a round or oval one has only a rim."""

_FAR_SIGMAS = 6.0
_SAME_MM = 1e-6
_LENGTH_PLACES = 4


@dataclass(frozen=True, slots=True)
class Touch:
    """Two bases in contact, the edges that meet, and the middle of the contact.

    A negative `gap_mm` is the depth of an overlap; `length_mm` is the length of the contact along
    the edges, 0 for a corner.
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
    """Whether two units are in contact, and the pairs of bases that are, longest contact first.

    A contact that is too close to call lists the bases that may touch.
    """

    a: str
    b: str
    answer: Answer
    touches: tuple[Touch, ...]


def contact(
    a: Unit, b: Unit, *, touch_mm: float = TOUCH_MM, tolerance_mm: float = 0.0, rule: str = "G-6"
) -> Contact:
    """Decides whether two units are in contact.

    Raises:
        ValueError: A unit has no base on the table.
    """
    return _contacts([a, b], np.array([[0, 1]]), touch_mm, tolerance_mm, rule)[0]


def contacts(
    units: Sequence[Unit],
    *,
    touch_mm: float = TOUCH_MM,
    tolerance_mm: float = 0.0,
    rule: str = "G-6",
    among: Collection[str] | None = None,
) -> tuple[Contact, ...]:
    """Returns the pairs of units that are or may be in contact, in the units' order.

    With `among`, only pairs that include a unit of these ids.

    Raises:
        ValueError: A unit has no base on the table.
    """
    reach_mm = touch_mm + tolerance_mm + _FAR_SIGMAS * _largest_sigma_mm(units) + _SAME_MM
    shapes = geometries(units)
    first, second = shapely.STRtree(shapes).query(shapes, predicate="dwithin", distance=reach_mm)
    included = np.array([among is None or unit.id in among for unit in units], dtype=np.bool_)
    is_asked = (first < second) & (included[first] | included[second])
    pairs = np.stack([first, second], axis=1)[is_asked]
    candidates = _contacts(units, pairs[np.lexsort(pairs.T[::-1])], touch_mm, tolerance_mm, rule)
    return tuple(contact for contact in candidates if contact.answer.answer != "no")


def _contacts(
    units: Sequence[Unit], pairs: Indices, touch_mm: float, tolerance_mm: float, rule: str
) -> list[Contact]:
    gaps_mm, sigmas_mm = gaps_with_sigma(units, units, pairs)
    verdicts: list[tuple[AnswerWord, float]] = []
    for (first, second), gap_mm, sigma_mm in zip(
        pairs, gaps_mm.tolist(), sigmas_mm.tolist(), strict=True
    ):
        margin_mm = touch_mm - gap_mm
        verdict = decide(margin_mm, sigma_mm, tolerance_mm=tolerance_mm)
        if sigma_mm and abs(margin_mm) < _FAR_SIGMAS * sigma_mm:
            # Sampled, like everything that may depend on it: a charge, an engagement, a shot.
            drawn_mm = touch_mm - draw_gaps_mm(units[first], units[second])
            word, _, chance = decide_sampled(margin_mm, drawn_mm, tolerance_mm=tolerance_mm)
            verdict = word, chance
        verdicts.append(verdict)
    # If contact is too close to call, list the bases up to the units' own gap.
    is_close = np.array([word == "too_close" for word, _ in verdicts], dtype=np.bool_)
    limits_mm = np.where(is_close, np.maximum(touch_mm, gaps_mm), touch_mm)
    is_listed = np.array([word != "no" for word, _ in verdicts], dtype=np.bool_)
    touches = iter(_touches(units, pairs[is_listed], limits_mm[is_listed]))
    results: list[Contact] = []
    for (first, second), gap_mm, sigma_mm, (word, chance) in zip(
        pairs, gaps_mm.tolist(), sigmas_mm.tolist(), verdicts, strict=True
    ):
        a, b = units[first], units[second]
        pair_touches = () if word == "no" else next(touches)
        sentence = _sentence(a, b, word, gap_mm, pair_touches)
        evidence = _evidence(a, b, pair_touches)
        margin_mm = touch_mm - gap_mm
        answer = Answer(word, margin_mm, sigma_mm, chance, rule, sentence, evidence)
        results.append(Contact(a.id, b.id, answer, pair_touches))
    return results


def _touches(units: Sequence[Unit], pairs: Indices, limits_mm: Array) -> list[tuple[Touch, ...]]:
    """Returns the bases in contact within its limit (g,) for each pair (g, 2) of units."""
    touches: list[list[Touch]] = [[] for _ in pairs]
    base_pairs = [
        (group, in_a, in_b)
        for group, (first, second) in enumerate(pairs.tolist())
        for in_a in range(len(units[first].bases))
        for in_b in range(len(units[second].bases))
    ]
    if not base_pairs:
        return [()] * len(pairs)
    group, in_a, in_b = np.array(base_pairs, dtype=np.intp).T
    rects, starts = rectangles(units), np.cumsum([0, *(len(unit.bases) for unit in units)])
    rects_a = rects.take(starts[pairs[group, 0]] + in_a)
    rects_b = rects.take(starts[pairs[group, 1]] + in_b)
    gaps_mm, _, normals = separations(rects_a, rects_b)
    outlines_a, outlines_b = rects_a.outlines(), rects_b.outlines()
    # Corner to corner, the true distance exceeds the separation along any edge's normal.
    has_corners = ~(rects_a.is_oval | rects_b.is_oval)
    apart = np.flatnonzero((gaps_mm > 0) & (gaps_mm <= limits_mm[group] + EXACT_MM) & has_corners)
    gaps_mm[apart] = shapely.distance(outlines_a[apart], outlines_b[apart])
    rows = np.flatnonzero(gaps_mm <= limits_mm[group] + EXACT_MM)
    edges_a = _facing_edges(rects_a.take(rows), normals[rows])
    edges_b = _facing_edges(rects_b.take(rows), -normals[rows])
    middles = _middles_and_lengths(
        outlines_a[rows], outlines_b[rows], normals[rows], limits_mm[group[rows]]
    )
    for row, edge_a, edge_b, (at_mm, length_mm) in zip(
        rows.tolist(), edges_a, edges_b, middles, strict=True
    ):
        a, b = (units[index] for index in pairs[group[row]])
        ends = a.base_name(in_a[row]), edge_a, b.base_name(in_b[row]), edge_b
        touches[group[row]].append(Touch(*ends, at_mm, float(gaps_mm[row]), length_mm))
    return [
        tuple(sorted(of_pair, key=lambda touch: (-touch.length_mm, touch.gap_mm)))
        for of_pair in touches
    ]


def _facing_edges(rects: Rectangles, normals: Array) -> list[Edge]:
    """Returns the edge of each rectangle that faces its normal, front or rear at a tie."""
    across, ahead = np.einsum("pij,pj->ip", rects.axes, normals)
    edges: list[Edge] = []
    for right_component, front_component, is_oval in zip(across, ahead, rects.is_oval, strict=True):
        if is_oval:
            edges.append("rim")
        elif abs(front_component) >= abs(right_component) - _SAME_MM:
            edges.append("front" if front_component > 0 else "rear")
        else:
            edges.append("right" if right_component > 0 else "left")
    return edges


def _middles_and_lengths(
    a: NDArray[np.object_], b: NDArray[np.object_], normals: Array, limits_mm: Array
) -> list[tuple[Point, float]]:
    """Returns the middle and the length of the contact of each pair of bases."""
    # Grow each base by half the limit: the overlap is the area within reach of both.
    margins_mm = limits_mm / 2 + GRID_MM
    grown_a, grown_b = (shapely.buffer(bases, margins_mm, join_style="mitre") for bases in (a, b))
    overlaps = np.asarray(shapely.intersection(grown_a, grown_b, grid_size=GRID_MM))
    middles = shapely.get_coordinates(shapely.centroid(overlaps)).tolist()
    results: list[tuple[Point, float]] = []
    for (x_mm, y_mm), overlap, (x, y), margin_mm in zip(
        middles, overlaps, normals.tolist(), margins_mm.tolist(), strict=True
    ):
        along = shapely.get_coordinates(overlap) @ np.array([-y, x])
        length_mm = max(0.0, round(float(np.ptp(along)) - 2 * margin_mm, _LENGTH_PLACES))
        results.append(((x_mm, y_mm), length_mm))
    return results


def _largest_sigma_mm(units: Sequence[Unit]) -> float:
    return 2 * float(rectangles(units).sigma_bounds_mm.max(initial=0.0))


def _sentence(a: Unit, b: Unit, word: str, gap_mm: float, touches: Sequence[Touch]) -> str:
    gap = f"the gap is {gap_mm:.1f} mm" if gap_mm > 0 else f"they overlap by {-gap_mm:.1f} mm"
    gap = "they lie flush" if abs(gap_mm) < 0.05 else gap
    if word == "no":
        return f"{a.id} and {b.id} do not touch: {gap}"
    if word == "too_close":
        return f"whether {a.id} and {b.id} touch is too close to call: {gap}"
    first = touches[0]
    one = f"the {first.edge_a} of {base_words(a, a.base_names.index(first.base_a))}"
    other = f"the {first.edge_b} of {base_words(b, b.base_names.index(first.base_b))}"
    return f"{a.id} touches {b.id}: {one} meets {other}, and {gap}"


def _evidence(a: Unit, b: Unit, touches: Sequence[Touch]) -> tuple[Shape, ...]:
    if not touches:
        return (distance(a, b).evidence(),)
    where = shapely.MultiPoint([touch.at_mm for touch in touches])
    return shapes_of(where, "contact")
