"""Positions drawn at random: true ones for a measured table, and measured ones for a true table.

Used to count how often a ruling really holds, given the measured or the true position.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tablecam.table.model import BasePose, Position, Unit
from tablecam.table.rows import with_rows_of_unit


def drawn_position(position: Position, luck: np.random.Generator) -> Position:
    """Returns a possible true position: rows and bases moved according to their sigmas.

    A measurement is the truth plus an error; if errors are symmetric, true positions are
    distributed around the measured one in the same way.
    """
    return replace(position, units=tuple(_drawn(unit, luck) for unit in position.units))


def _drawn(unit: Unit, luck: np.random.Generator) -> Unit:
    """Returns a unit moved at random, without sigmas."""
    rows = {}
    bases = []
    for pose in with_rows_of_unit(unit).bases:
        own_mm, own_deg = pose.own_sigmas
        of_row = rows.setdefault(pose.row and pose.row.id, luck.standard_normal(3))
        in_row = np.array(pose.row_errors).T @ of_row
        bases.append(_moved(pose, in_row + luck.normal(0, (own_mm, own_mm, own_deg))))
    return replace(unit, bases=tuple(bases))


def seen_position(position: Position, luck: np.random.Generator) -> Position:
    """Returns a position as a camera may see it: each base off by its own error."""

    def seen(pose: BasePose) -> BasePose:
        return _moved(pose, luck.normal(0, (pose.sigma_mm, pose.sigma_mm, pose.sigma_deg)))

    units = (replace(unit, bases=tuple(map(seen, unit.bases))) for unit in position.units)
    return replace(position, units=tuple(units))


def _moved(pose: BasePose, by: np.ndarray) -> BasePose:
    x_mm, y_mm, turn_deg = by.tolist()
    return replace(
        pose,
        x_mm=pose.x_mm + x_mm,
        y_mm=pose.y_mm + y_mm,
        heading_deg=pose.heading_deg + turn_deg,
        sigma_mm=0.0,
        sigma_deg=0.0,
        row=None,
    )
