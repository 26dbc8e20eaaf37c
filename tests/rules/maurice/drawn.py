"""Positions as they may truly be: every base moved and turned by chance, as far as its sigmas say.

What is measured is a truth with errors; if errors are as likely one way as the other, truths lie
about what was measured just so. Used to count how often a ruling truly holds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tablecam.table.model import Position, Unit


def drawn(unit: Unit, luck: np.random.Generator) -> Unit:
    """A unit whose bases have been moved by chance, its sigmas gone."""
    bases = []
    for pose in unit.bases:
        x_mm, y_mm = luck.normal(0, pose.sigma_mm, 2)
        bases.append(
            replace(
                pose,
                x_mm=pose.x_mm + float(x_mm),
                y_mm=pose.y_mm + float(y_mm),
                heading_deg=pose.heading_deg + float(luck.normal(0, pose.sigma_deg)),
                sigma_mm=0.0,
                sigma_deg=0.0,
            )
        )
    return replace(unit, bases=tuple(bases))


def drawn_position(position: Position, luck: np.random.Generator) -> Position:
    """A position whose bases have all been moved by chance."""
    return replace(position, units=tuple(drawn(unit, luck) for unit in position.units))
