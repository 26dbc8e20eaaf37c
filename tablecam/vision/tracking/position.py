"""Assembles a `Position` from tracked bases and the table file."""

from __future__ import annotations

from collections.abc import Iterable

from tablecam.table.model import Commander, Position, Unit
from tablecam.table.roster import CommanderEntry, Roster, UnitEntry
from tablecam.table.rows import with_rows_of_unit
from tablecam.vision.tracking.tracking import TrackedBase


def position_of(bases: Iterable[TrackedBase], roster: Roster, calibration: str | None) -> Position:
    """Assembles the units and commanders with at least one base that has been seen.

    Bases that lie flush in a row are fitted to it. Formations are not set:
    `rules.games.with_formations` reads them. `calibration` names the calibration used.
    """
    tracked = {base.tag: base for base in bases}
    units = [_unit(entry, tracked, in_rows=roster.lies_in_rows(entry)) for entry in roster.units]
    commanders = [_commander(entry, tracked) for entry in roster.commanders]
    return Position(
        game=roster.game,
        table=roster.table,
        units=tuple(unit for unit in units if unit is not None),
        commanders=tuple(commander for commander in commanders if commander is not None),
        terrain=roster.terrain,
        calibration=calibration,
    )


def _unit(entry: UnitEntry, tracked: dict[int, TrackedBase], *, in_rows: bool) -> Unit | None:
    bases = [tracked[tag] for tag in entry.tags if tag in tracked]
    if not bases:
        return None
    if entry.faces:
        # A counter has one side up: the one seen last.
        bases = [min(bases, key=lambda base: base.hidden_for_s)]
    poses = tuple(base.pose for base in bases)
    unit = Unit(entry.id, entry.side, entry.arm, poses, extra=entry.extra)
    return with_rows_of_unit(unit) if in_rows else unit


def _commander(entry: CommanderEntry, tracked: dict[int, TrackedBase]) -> Commander | None:
    if entry.tag not in tracked:
        return None
    pose = tracked[entry.tag].pose
    return Commander(
        entry.id,
        entry.side,
        pose.x_mm,
        pose.y_mm,
        pose.sigma_mm,
        pose.seen,
        pose,
        extra=entry.extra,
    )
