"""Assembles a `Position` from tracked bases and the table file."""

from __future__ import annotations

from collections.abc import Iterable

from tablecam.table.model import BasePose, Commander, Position, Unit
from tablecam.table.roster import CommanderEntry, Roster, UnitEntry
from tablecam.table.rows import with_rows_of_unit
from tablecam.vision.tracking.tracking import TrackedBase


def position_of(bases: Iterable[TrackedBase], roster: Roster, calibration: str | None) -> Position:
    """Assembles the units and commanders with at least one base that has been seen.

    Bases that lie flush in a row are fitted to it. Formations are left open:
    `table.formation.with_formations` reads them. `calibration` names the calibration behind it.
    """
    poses = {base.tag: base.pose for base in bases}
    units = [_unit(entry, poses) for entry in roster.units]
    commanders = [_commander(entry, poses) for entry in roster.commanders]
    return Position(
        game=roster.game,
        table=roster.table,
        units=tuple(unit for unit in units if unit is not None),
        commanders=tuple(commander for commander in commanders if commander is not None),
        terrain=roster.terrain,
        calibration=calibration,
    )


def _unit(entry: UnitEntry, poses: dict[int, BasePose]) -> Unit | None:
    bases = tuple(poses[tag] for tag in entry.tags if tag in poses)
    if not bases:
        return None
    return with_rows_of_unit(Unit(entry.id, entry.side, entry.arm, bases, extra=entry.extra))


def _commander(entry: CommanderEntry, poses: dict[int, BasePose]) -> Commander | None:
    pose = poses.get(entry.tag)
    if pose is None:
        return None
    return Commander(
        entry.id, entry.side, pose.x_mm, pose.y_mm, pose.sigma_mm, pose.seen, pose=pose
    )
