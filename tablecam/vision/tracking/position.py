"""Tracked bases and what the table file says of them, put together as a `Position`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tablecam.table.formation import read_formation
from tablecam.table.model import BasePose, Commander, Position, Unit
from tablecam.table.roster import CommanderEntry, Roster, UnitEntry
from tablecam.vision.tracking.tracking import TrackedBase


def position_of(bases: Iterable[TrackedBase], roster: Roster, calibration: str | None) -> Position:
    """What lies on the table: every unit and commander of which a base has been seen.

    Formations are read from how the bases lie. `calibration` names the calibration behind it.
    """
    return _position({base.tag: base.pose for base in bases}, roster, calibration)


def settled_position_of(
    bases: Iterable[TrackedBase], roster: Roster, calibration: str | None
) -> Position:
    """As `position_of`, with each base where it rests, or rested before a hand took it.

    What a referee may go by: a base that has never been seen at rest is left out.
    """
    believed = ((base.tag, base.believed) for base in bases)
    return _position({tag: pose for tag, pose in believed if pose}, roster, calibration)


def _position(poses: dict[int, BasePose], roster: Roster, calibration: str | None) -> Position:
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
    unit = Unit(entry.id, entry.side, entry.arm, bases, extra=entry.extra)
    formation = read_formation(unit, roster_bases=len(entry.tags))
    return replace(unit, formation=formation.name)


def _commander(entry: CommanderEntry, poses: dict[int, BasePose]) -> Commander | None:
    pose = poses.get(entry.tag)
    if pose is None:
        return None
    return Commander(
        entry.id, entry.side, pose.x_mm, pose.y_mm, pose.sigma_mm, pose.seen, pose=pose
    )
