"""Positions drawn by chance: as a table may truly lie, and as a camera may see it.

Used to count how often a ruling truly holds, given what was measured or given the truth.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tablecam.table.model import BasePose, Position, Unit
from tablecam.table.rows import with_rows_of_unit


def drawn_position(position: Position, luck: np.random.Generator) -> Position:
    """A position as it may truly be: its rows and bases moved as far as their sigmas say.

    What is measured is a truth with errors; if errors are as likely one way as the other, truths
    lie about what was measured just so.
    """
    return replace(position, units=tuple(_drawn(unit, luck) for unit in position.units))


def _drawn(unit: Unit, luck: np.random.Generator) -> Unit:
    """A unit moved by chance, its sigmas gone."""
    rows = {}
    bases = []
    for pose in with_rows_of_unit(unit).bases:
        own_mm, own_deg = pose.own_sigmas
        of_row = rows.setdefault(pose.row and pose.row.id, luck.standard_normal(3))
        in_row = np.array(pose.row_errors).T @ of_row
        bases.append(_moved(pose, in_row + luck.normal(0, (own_mm, own_mm, own_deg))))
    return replace(unit, bases=tuple(bases))


def seen_position(position: Position, luck: np.random.Generator) -> Position:
    """A position as a camera may see it: each base off by errors of its own."""

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
