"""Whether bases lie upon each other: by the separating axis, which flush bases do not trip."""

from __future__ import annotations

import numpy as np

from tablecam.simulate.places import Array

CONTACT_MM = 1e-6
"""Bases that share less than this are in contact, not upon each other."""


def do_overlap(first: Array, second: Array) -> bool:
    """Whether any rectangle of (n, 4, 2) lies upon any of (m, 4, 2), in millimetres."""
    return bool((overlaps_mm(first, second) > CONTACT_MM).any())


def overlaps_mm(first: Array, second: Array) -> Array:
    """How deep each of n rectangles lies in each of m, (n, m); negative: the gap, at least."""
    depth = np.full((len(first), len(second)), np.inf)
    for axes in (_axes(first)[:, None], _axes(second)[None, :]):
        for axis in (axes[..., 0, :], axes[..., 1, :]):
            mine = np.einsum("nkc,nmc->nmk", first, np.broadcast_to(axis, (*depth.shape, 2)))
            theirs = np.einsum("mkc,nmc->nmk", second, np.broadcast_to(axis, (*depth.shape, 2)))
            shared = np.minimum(mine.max(-1), theirs.max(-1)) - np.maximum(
                mine.min(-1), theirs.min(-1)
            )
            depth = np.minimum(depth, shared)
    return depth


def _axes(rectangles: Array) -> Array:
    """The two directions of length 1 of each rectangle's sides, (n, 2, 2)."""
    sides = np.stack(
        [rectangles[:, 1] - rectangles[:, 0], rectangles[:, 2] - rectangles[:, 1]], axis=1
    )
    return np.asarray(sides / np.linalg.norm(sides, axis=-1, keepdims=True))
