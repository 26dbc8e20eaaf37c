"""Positions without the trembling of measures: what lies within its sigma lies there still."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tablecam.table.headings import difference_deg
from tablecam.table.model import BasePose, Commander, Position, Unit


def steadied(position: Position, before: Position | None) -> Position:
    """A position in which all that lies within its sigma of where it lay before lies there still.

    A commander's place is steadied as a base's is.
    """
    if before is None:
        return position
    known = {unit.id: unit for unit in before.units}
    leaders = {leader.id: leader for leader in before.commanders}
    return replace(
        position,
        units=tuple(_steady_unit(unit, known) for unit in position.units),
        commanders=tuple(_steady_commander(each, leaders) for each in position.commanders),
    )


def _steady_unit(unit: Unit, known: Mapping[str, Unit]) -> Unit:
    old = known.get(unit.id)
    if old is None or [base.tag for base in old.bases] != [base.tag for base in unit.bases]:
        return unit
    pairs = list(zip(unit.bases, old.bases, strict=True))
    if not all(_is_within_sigma(new, base) for new, base in pairs):
        return unit  # it was pushed: all of it is measured anew
    bases = tuple(replace(base, seen=new.seen) for new, base in pairs)
    return replace(unit, bases=bases, formation=old.formation)


def _steady_commander(leader: Commander, known: Mapping[str, Commander]) -> Commander:
    old = known.get(leader.id)
    if old is None or leader.pose is None or old.pose is None:
        return leader
    if not _is_within_sigma(leader.pose, old.pose):
        return leader
    return replace(old, seen=leader.seen, pose=replace(old.pose, seen=leader.pose.seen))


def _is_within_sigma(new: BasePose, old: BasePose) -> bool:
    """Whether a base lies where it lay, as far as its measures can tell."""
    far_mm = max(abs(new.x_mm - old.x_mm), abs(new.y_mm - old.y_mm))
    turned_deg = abs(difference_deg(new.heading_deg, old.heading_deg))
    return far_mm <= old.sigma_mm and turned_deg <= old.sigma_deg
