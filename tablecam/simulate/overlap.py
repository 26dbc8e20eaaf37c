"""Overlapping bases, by the separating axis theorem: slides them apart, or stacks counters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tablecam.simulate.rendering.places import Array, Place, corners_mm
from tablecam.table.roster import BaseType

_MOST_STEPS = 40
CONTACT_MM = 1e-6
"""The depth up to which bases are in contact rather than overlapping."""


def do_overlap(first: Array, second: Array) -> bool:
    """Whether any rectangle of (n, 4, 2) overlaps any of (m, 4, 2), in millimetres."""
    return bool((overlaps_mm(first, second) > CONTACT_MM).any())


def overlaps_mm(first: Array, second: Array) -> Array:
    """Returns how deep each of n rectangles overlaps each of m, (n, m); negative for a gap."""
    depth = np.full((len(first), len(second)), np.inf)
    for axes in (_axes(first)[:, None], _axes(second)[None, :]):
        for axis in (axes[..., 0, :], axes[..., 1, :]):
            mine = np.einsum("nkc,nmc->nmk", first, np.broadcast_to(axis, (*depth.shape, 2)))
            theirs = np.einsum("mkc,nmc->nmk", second, np.broadcast_to(axis, (*depth.shape, 2)))
            shared = np.minimum(mine.max(-1), theirs.max(-1)) - np.maximum(
                mine.min(-1), theirs.min(-1)
            )
            # The smallest overlap over all axes is the depth; negative on any axis means apart.
            depth = np.minimum(depth, shared)
    return depth


def way_out_mm(mine: Array, others: Array, farthest_mm: float) -> Array | None:
    """Returns a short step (2,) that moves a rectangle (4, 2) off others (m, 4, 2), into contact.

    None if there is none within `farthest_mm`.
    """
    step = np.zeros(2)
    # Resolves the deepest overlap repeatedly: a step off one base may lead onto another.
    for _ in range(_MOST_STEPS):
        pushes = [_push_mm(mine + step, other) for other in others]
        deepest = max(pushes, key=lambda push: float(np.hypot(*push)), default=step * 0)
        if np.hypot(*deepest) <= CONTACT_MM:
            return step
        step = step + deepest
        if np.hypot(*step) > farthest_mm:
            return None
    return None


def _push_mm(mine: Array, other: Array) -> Array:
    """Returns the shortest step that separates a rectangle from another, 0 if they are apart."""
    axes = np.concatenate([_axes(mine[None])[0], _axes(other[None])[0]])
    ours, theirs = mine @ axes.T, other @ axes.T
    up = theirs.max(axis=0) - ours.min(axis=0)
    down = ours.max(axis=0) - theirs.min(axis=0)
    depth = np.minimum(up, down)
    # A gap along any axis keeps two rectangles apart.
    if depth.min() <= CONTACT_MM:
        return np.zeros(2)
    least = int(depth.argmin())
    # Up or down along the axis, whichever is shorter.
    return np.asarray(axes[least] * (up[least] if up[least] < down[least] else -down[least]))


def _axes(rectangles: Array) -> Array:
    """Returns the two unit vectors along each rectangle's sides, (n, 2, 2)."""
    sides = np.stack(
        [rectangles[:, 1] - rectangles[:, 0], rectangles[:, 2] - rectangles[:, 1]], axis=1
    )
    return np.asarray(sides / np.linalg.norm(sides, axis=-1, keepdims=True))


def stacked(
    places: Mapping[int, Place], base_types: Mapping[int, BaseType], order: Mapping[int, float]
) -> dict[int, Place]:
    """Returns the places of counters with their levels, by tag and from the bottom up.

    Of two counters that overlap, the one with the larger number in `order` lies on top.
    """
    lying: dict[int, Place] = {}
    for tag in sorted(places, key=order.__getitem__):
        beneath = (
            other.level + 1
            for below, other in lying.items()
            if _overlap(places[tag], base_types[tag], other, base_types[below])
        )
        lying[tag] = replace(places[tag], level=max(beneath, default=0))
    return lying


def _overlap(place: Place, base_type: BaseType, other: Place, other_type: BaseType) -> bool:
    # Most counters lie far apart, which their half diagonals show at once.
    reach_mm = _half_diagonal_mm(base_type) + _half_diagonal_mm(other_type)
    if math.dist((place.x_mm, place.y_mm), (other.x_mm, other.y_mm)) >= reach_mm:
        return False
    mine = corners_mm(place, base_type.width_mm, base_type.depth_mm)
    theirs = corners_mm(other, other_type.width_mm, other_type.depth_mm)
    return do_overlap(mine[None], theirs[None])


def _half_diagonal_mm(base_type: BaseType) -> float:
    return math.hypot(base_type.width_mm, base_type.depth_mm) / 2
