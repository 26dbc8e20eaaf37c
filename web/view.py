"""Converts the live table's state to the page's JSON, in millimetres on the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from tablecam.documents import Json
from tablecam.geometry.outlines import corners
from tablecam.live.hexes import hexes_json
from tablecam.live.notices import Notice
from tablecam.live.state import Health, Snapshot
from tablecam.live.table import LiveTable
from tablecam.referee.game_views import outline
from tablecam.replay.film_table import table_facts
from tablecam.rules.games import described
from tablecam.simulate.table import SimulatedTable
from tablecam.table.headings import forward, right
from tablecam.table.model import BasePose, Commander, Unit
from tablecam.table.roster import Roster


def table_json(live: LiveTable) -> Json:
    """Returns the table's constant facts: name, size, sides, terrain, units and commanders.

    Sides are in the order in which the table file first names them.
    """
    return table_facts(live.roster) | {
        "name": live.roster.name,
        "title": described(live.roster.game).title,
        "simulated": live.simulated is not None,
        # Any table can be asked about; a rulebook also says whose turn counts.
        "rules": True,
        "rulebook": live.has_rules,
        "referee": live.referee is not None,
    }


def state_json(live: LiveTable, snapshot: Snapshot) -> Json:
    """Returns one state of the table: what to draw, and the camera's health."""
    position, simulated, referee = snapshot.position, live.simulated, live.referee
    believed = None if referee is None else referee.believed
    return {
        "version": snapshot.version,
        "frame": snapshot.frame,
        "units": [_unit_json(unit, snapshot) for unit in position.units if unit.bases],
        "commanders": [_commander_json(commander, snapshot) for commander in position.commanders],
        "hexes": hexes_json(
            position, live.roster.table.hex_map, live.map.asked_mm, believed=believed
        ),
        "health": health_json(snapshot.health, live.roster),
        "notices": [_notice_json(notice) for notice in snapshot.notices],
        "disputes": snapshot.disputes,
        "game": snapshot.game,
        "tapes": [asdict(tape) for tape in snapshot.pointed.tapes],
        "masks": snapshot.masks,
        "pings": [asdict(ping) for ping in snapshot.pointed.pings],
        "simulated": None if simulated is None else _simulated_json(simulated),
    }


def health_json(health: Health, roster: Roster) -> Json:
    """Returns the camera's health; each missing tag with its unit or commander."""
    owners = roster.owner_by_tag()
    return {
        "source": health.source,
        "state": health.state,
        "message": health.message,
        "calibration": health.calibration,
        "frames_per_s": round(health.frames_per_s, 2),
        "tags_seen": health.tags_seen,
        "tags_held": health.tags_held,
        "missing": [{"tag": tag, "of": owners.get(tag, "table")} for tag in health.missing],
        "reprojection_px": _rounded(health.reprojection_px, 3),
        "behind_s": _rounded(health.behind_s, 3),
        "warnings": list(health.warnings),
    }


def _simulated_json(controls: SimulatedTable) -> Json:
    return {
        "run": controls.run,
        "paused": controls.is_paused,
        "resting": controls.is_resting,
        "light": controls.light,
        "off": sorted(controls.off),
    }


def _notice_json(notice: Notice) -> Json:
    at = notice.at.isoformat(timespec="seconds")
    return {"number": notice.number, "at": at, "text": notice.text}


def _unit_json(unit: Unit, snapshot: Snapshot) -> Json:
    handle = _handle(unit.bases)
    return {
        "id": unit.id,
        "side": unit.side,
        "arm": unit.arm,
        "formation": unit.formation,
        "x_mm": round(handle.x_mm, 2),
        "y_mm": round(handle.y_mm, 2),
        "heading_deg": round(handle.heading_deg, 2),
        "width_mm": round(handle.width_mm, 2),
        "depth_mm": round(handle.depth_mm, 2),
        "bases": [
            {"name": unit.base_name(index)} | _pose_json(base, snapshot)
            for index, base in enumerate(unit.bases)
        ],
    }


def _commander_json(commander: Commander, snapshot: Snapshot) -> Json:
    pose = commander.pose
    return {
        "id": commander.id,
        "side": commander.side,
        "x_mm": round(commander.x_mm, 2),
        "y_mm": round(commander.y_mm, 2),
        "sigma_mm": round(commander.sigma_mm, 3),
        "seen": commander.seen,
        "held_s": _held_s(None if pose is None else pose.tag, snapshot),
        "base": None if pose is None else _pose_json(pose, snapshot),
    }


def _pose_json(base: BasePose, snapshot: Snapshot) -> Json:
    return outline(base) | {
        "sigma_mm": round(base.sigma_mm, 3),
        "sigma_deg": round(base.sigma_deg, 3),
        "seen": base.seen,
        "held_s": _held_s(base.tag, snapshot),
        "doubted": base.tag in snapshot.doubted,
    }


def _handle(bases: Sequence[BasePose]) -> BasePose:
    """Returns a unit's footprint for dragging, facing like its first base.

    It is the smallest rectangle aligned with the first base that holds all bases.
    """
    first = bases[0]
    ahead, aside = forward(first.heading_deg), right(first.heading_deg)
    all_corners = [corner for base in bases for corner in corners(base)]
    along = [x * ahead[0] + y * ahead[1] for x, y in all_corners]
    across = [x * aside[0] + y * aside[1] for x, y in all_corners]
    along_mm, across_mm = (min(along) + max(along)) / 2, (min(across) + max(across)) / 2
    return replace(
        first,
        x_mm=along_mm * ahead[0] + across_mm * aside[0],
        y_mm=along_mm * ahead[1] + across_mm * aside[1],
        width_mm=max(across) - min(across),
        depth_mm=max(along) - min(along),
    )


def _held_s(tag: int | None, snapshot: Snapshot) -> float | None:
    return None if tag is None else _rounded(snapshot.held_for_s.get(tag), 1)


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
