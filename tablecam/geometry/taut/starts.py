"""Where a string from a disc may start, when rings reach into the disc or all about it."""

from __future__ import annotations

import numpy as np
import shapely

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.geometry.taut.net import Starts
from tablecam.geometry.taut.rings import Rings
from tablecam.geometry.taut.tangents import (
    Array,
    Edges,
    angles_of,
    at_angle,
    crossings_on_circles,
    crossings_on_edges,
)
from tablecam.table.model import Point

_ALIKE_MM = 1e-3
"""Ways out that differ by less are equally short: which one rounding favours decides nothing."""


def starts_at(middle: Point, disc_mm: float, rings: Rings) -> Starts:
    """The starts of a string from a disc.

    Its middle, for what is seen from there; where rings cut its edge, for what creeps out along
    them; and, when its middle lies in a ring, the nearest place out of all rings.
    """
    centre = np.array(middle)
    points = [centre[None], *_cuts(centre, disc_mm, rings)]
    costs = [np.zeros(len(each)) for each in points]
    if not rings.is_free_at(centre[None])[0]:
        way_out = _way_out(centre, rings)
        points.append(way_out)
        costs.append(np.maximum(np.linalg.norm(way_out - centre, axis=1) - disc_mm, 0.0))
    return Starts(np.concatenate(points), np.concatenate(costs), disc_mm)


def _cuts(centre: Array, disc_mm: float, rings: Rings) -> list[Array]:
    """Where rings cut the edge of a disc, (t, 2) each."""
    if disc_mm <= 0 or not len(rings.corners_mm):
        return []
    away = rings.corners_mm - centre
    apart = np.maximum(np.linalg.norm(away, axis=1), 1e-12)
    # The law of cosines, in the triangle of middle, corner and cut.
    cosines = [(apart**2 + disc_mm**2 - rings.keep_mm**2) / (2 * apart * disc_mm)]
    facing = [angles_of(away)]
    normals = rings.edges.normals
    across = np.einsum("ej,ej->e", centre - rings.edges.starts_mm, normals)
    for side in (-rings.keep_mm, rings.keep_mm):
        cosines.append((side - across) / disc_mm)
        facing.append(angles_of(normals))
    cosine, towards = np.concatenate(cosines), np.concatenate(facing)
    cut = np.abs(cosine) <= 1.0
    # A ring that only touches the disc cuts it in one place; rounding would make two of it.
    turn = np.where(disc_mm * (1.0 - cosine[cut]) < EXACT_MM, 0.0, np.arccos(cosine[cut]))
    angles = np.concatenate([towards[cut] - turn, towards[cut] + turn])
    return [_free(at_angle(centre, angles, disc_mm), rings)]


def _way_out(centre: Array, rings: Rings) -> Array:
    """The nearest points (w, 2) out of all rings: one, several that are equally near, or none."""
    edges, corners = rings.edges, rings.corners_mm
    across = np.einsum("ej,ej->e", centre - edges.starts_mm, edges.normals)
    beside = [
        centre + (side - across)[:, None] * edges.normals
        for side in (-rings.keep_mm, rings.keep_mm)
    ]
    radial = at_angle(corners, angles_of(centre - corners), rings.keep_mm)
    circles, angles = crossings_on_circles(corners, edges, rings.keep_mm)
    between = at_angle(corners[circles], angles, rings.keep_mm)
    # Rings cross beside edges as well, and at the table's edge.
    lines = [edges.beside(side) for side in (-rings.keep_mm, rings.keep_mm)]
    if rings.bounds is not None:
        lines.append(Edges.of(np.array([shapely.box(*rings.bounds)])))
    crossed = [crossings_on_edges(line, corners, edges, rings.keep_mm)[0] for line in lines]
    found = _free(np.concatenate([*beside, radial, between, *crossed]), rings)
    away = np.linalg.norm(found - centre, axis=1)
    return np.asarray(found[away <= away.min(initial=np.inf) + _ALIKE_MM])


def _free(points: Array, rings: Rings) -> Array:
    return np.asarray(points[rings.is_free_at(points) & rings.is_inside(points)])
