"""One policy of moving, resting and settled: every threshold and the state machine behind it.

A base moves while its place changes; it rests once it has been seen at one place for
`BASE_RESTS_AFTER_S` (`vision.tracking` decides that, base by base). The table rests once nothing on
it has moved for `TABLE_RESTS_AFTER_S`. It has settled when it rests and something lies elsewhere
than when it last settled. `TableMotion` follows the table through these states; referee and
recorder receive only settled positions, and the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from tablecam.table.headings import difference_deg
from tablecam.table.model import BasePose, Commander, Point, Position, Terrain, Unit

BASE_RESTS_AFTER_S = 0.4
"""A base seen at one place for this long rests there: no hand pauses a move for as long."""

TABLE_RESTS_AFTER_S = 0.8
"""Nothing may move for this long. A hand that lays base after base takes longer between two, and
each is reported as it settles; a base itself rests after half of this."""

STILL_MM = 0.3
"""A base this near to where it rested has not moved, however sure the fit is.

Sightings of resting bases strayed from their first one by 0.02 mm at most on a still table, and
while hands and shadows passed by 0.19 mm (rendered film of 15 frames/s, 41 bases) and 0.18 mm
(simulated battle, 1 px/mm, noise 4, JPEG, 33,000 sightings); partly hidden ones by 0.30 mm, where
the fit said so itself."""

STILL_DEG = 1.0
"""The same for headings: 0.55 and 0.76 degrees; 3.4 if partly hidden, as the fit itself said."""

SLIP_MM = 1.0
"""How far a base slips when a hand moves it along a ruler: nobody's fault (G-8)."""

HAND_MM, HAND_DEG = 3.0, 3.0
"""How near to its target a hand lays a base, or counts it as in contact (G-8)."""

_HAND_SIGMAS = 3.0
_SURER = 2.0
"""A still base whose place is now known this many times better is reported again."""
_WELL_KNOWN = 0.3
"""Unless it was already known to within this share of how far a still base strays."""

Bases = Mapping[str, BasePose]
"""Bases by their tags, or by their names where they have none."""

Places = tuple[tuple[tuple[str, tuple[Point, ...]], ...], tuple[Terrain, ...]]


class TableMotion:
    """Follows a table from moving to resting to settled, one position after the other.

    `is_at_rest` says whether nothing moved in the last one.
    """

    def __init__(self) -> None:
        self.is_at_rest = False
        self._steady: Position | None = None
        self._since_s = 0.0
        self._rested_at: Places | None = None
        self._settled: Position | None = None

    def see(self, position: Position, now_s: float) -> Position | None:
        """Returns the position in which the table has just settled; None while it has not.

        `now_s` is when its picture was taken: even with slow pictures, a resting table is seen in
        two of them that are far enough apart.
        """
        steady = steadied(position, self._steady)
        places = _places(steady)
        # Any change restarts the wait: the whole table must be still at once.
        if self._steady is None or places != _places(self._steady):
            self._since_s = now_s
        self._steady = steady
        self.is_at_rest = now_s >= self._since_s + TABLE_RESTS_AFTER_S
        # A table that rests as it rested before has already been reported.
        if not self.is_at_rest or places == self._rested_at:
            return None
        self._rested_at = places
        # The camera's view of an untouched base strays a little over hours: that is no move.
        if self._settled is not None and not is_new(steady, self._settled):
            return None
        self._settled = steady
        return steady


def steadied(position: Position, before: Position | None) -> Position:
    """Returns a position with bases and commanders at their old places if within their sigma."""
    if before is None:
        return position
    known = {unit.id: unit for unit in before.units}
    leaders = {leader.id: leader for leader in before.commanders}
    return replace(
        position,
        units=tuple(_steady_unit(unit, known) for unit in position.units),
        commanders=tuple(_steady_commander(leader, leaders) for leader in position.commanders),
    )


def _steady_unit(unit: Unit, known: Mapping[str, Unit]) -> Unit:
    old = known.get(unit.id)
    # With a base hidden or found again, the two cannot be compared one by one.
    if old is None or [base.tag for base in old.bases] != [base.tag for base in unit.bases]:
        return unit
    pairs = list(zip(unit.bases, old.bases, strict=True))
    if not all(_is_within_sigma(new, base) for new, base in pairs):
        # It was pushed: the whole unit is measured again.
        return unit
    bases = tuple(
        base if base.seen == new.seen else replace(base, seen=new.seen) for new, base in pairs
    )
    return replace(unit, bases=bases, formation=old.formation)


def _steady_commander(leader: Commander, known: Mapping[str, Commander]) -> Commander:
    old = known.get(leader.id)
    if old is None or leader.pose is None or old.pose is None:
        return leader
    if not _is_within_sigma(leader.pose, old.pose):
        return leader
    return replace(old, seen=leader.seen, pose=replace(old.pose, seen=leader.pose.seen))


def _is_within_sigma(new: BasePose, old: BasePose) -> bool:
    """Whether a base lies where it lay, as far as measurements can tell."""
    far_mm = max(abs(new.x_mm - old.x_mm), abs(new.y_mm - old.y_mm))
    turned_deg = abs(difference_deg(new.heading_deg, old.heading_deg))
    return far_mm <= old.sigma_mm and turned_deg <= old.sigma_deg


def _places(position: Position) -> Places:
    """Returns the places of all bases, seen just now or not, and the ground."""
    units = tuple((unit.id, tuple(base.place_mm for base in unit.bases)) for unit in position.units)
    leaders = tuple((leader.id, (leader.place_mm,)) for leader in position.commanders)
    return units + leaders, position.terrain


def is_new(position: Position, before: Position) -> bool:
    """Whether bases came, went, moved or are known much better, or the ground changed."""
    if has_changed(position, before) or position.terrain != before.terrain:
        return True
    old = bases_of(before)
    # The same bases lie in the same places: only better known ones are news.
    return any(_is_surer(base, old[name]) for name, base in bases_of(position).items())


def has_changed(position: Position, before: Position) -> bool:
    """Whether bases came, went or moved."""
    now, old = bases_of(position), bases_of(before)
    return now.keys() != old.keys() or any(has_moved(now[name], old[name]) for name in now)


def moved_units(position: Position, before: Position) -> frozenset[str]:
    """Returns the units and commanders with a base that moved between two positions."""
    now, old = bases_by_unit(position), bases_by_unit(before)
    return frozenset(
        name
        for name in now.keys() & old.keys()
        if any(
            key in old[name] and has_moved(base, old[name][key]) for key, base in now[name].items()
        )
    )


def has_moved(base: BasePose, before: BasePose) -> bool:
    """Whether a base has moved by more than a still one strays."""
    # The fit's own doubt counts: a partly hidden base strays farther.
    limit_mm = max(STILL_MM, base.sigma_mm, before.sigma_mm)
    limit_deg = max(STILL_DEG, base.sigma_deg, before.sigma_deg)
    turned_deg = abs(difference_deg(base.heading_deg, before.heading_deg))
    return apart_mm(base, before) > limit_mm or turned_deg > limit_deg


def bases_of(position: Position) -> Bases:
    """Returns all bases on a table, commanders' too."""
    return {key: base for bases in bases_by_unit(position).values() for key, base in bases.items()}


def bases_by_unit(position: Position) -> Mapping[str, Bases]:
    """Returns the bases of each unit and commander."""
    units = {
        unit.id: dict(zip(unit.base_names, unit.bases, strict=True)) for unit in position.units
    }
    leaders = {
        leader.id: {leader.id: leader.pose}
        for leader in position.commanders
        if leader.pose is not None
    }
    return units | leaders


def _is_surer(base: BasePose, before: BasePose) -> bool:
    """Whether a base's place is known much better than before, when it was not known well."""
    worth_mm = max(_SURER * base.sigma_mm, _WELL_KNOWN * STILL_MM)
    worth_deg = max(_SURER * base.sigma_deg, _WELL_KNOWN * STILL_DEG)
    return before.sigma_mm > worth_mm or before.sigma_deg > worth_deg


def apart_mm(base: BasePose, other: BasePose) -> float:
    """Returns the distance between the centres of two bases."""
    return math.hypot(base.x_mm - other.x_mm, base.y_mm - other.y_mm)


def lies_there(base: BasePose, target: BasePose) -> bool:
    """Whether a base lies on its target, within the accuracy of hands and cameras."""
    turned_deg = abs(difference_deg(base.heading_deg, target.heading_deg))
    return (
        apart_mm(base, target) <= HAND_MM + _HAND_SIGMAS * base.sigma_mm
        and turned_deg <= HAND_DEG + _HAND_SIGMAS * base.sigma_deg
    )


def bases_left(game: Position, seen: Position) -> dict[str, tuple[BasePose, ...]]:
    """Returns the bases of units from which players removed other bases than the game did.

    As many are left, with other tags, and those that the game still has lie in their places.
    """
    left = {}
    for unit in game.units:
        there = seen.unit(unit.id)
        tags = {base.tag: base for base in unit.bases}
        if there is None or len(there.bases) != len(unit.bases):
            continue
        kept = [(base, tags[base.tag]) for base in there.bases if base.tag in tags]
        if len(kept) < len(unit.bases) and all(lies_there(*pair) for pair in kept):
            left[unit.id] = there.bases
    return left


def has_its_place(leader: Commander, target: Commander) -> bool:
    """Whether a commander stands on his target, within the accuracy of hands."""
    far_mm = math.hypot(leader.x_mm - target.x_mm, leader.y_mm - target.y_mm)
    return far_mm <= HAND_MM + _HAND_SIGMAS * leader.sigma_mm
