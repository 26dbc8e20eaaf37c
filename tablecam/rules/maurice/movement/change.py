"""Changes of formation and about-faces, from where bases lay and where they lie (M-6.21 ff.).

A column may change and then move; what changes from anything else has used up its round. Horse may
about-face and then move; foot has used up its round.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

import shapely

from tablecam.errors import BadInput
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.rules.maurice.field.field import Field, UnitOnField, renewed_field
from tablecam.rules.maurice.field.ground import is_partly_in
from tablecam.rules.maurice.field.tables import COLUMN_NEAR_BW
from tablecam.rules.maurice.movement.free import free_way
from tablecam.rules.maurice.movement.ways import Way, breaks, judged_way, refused
from tablecam.rules.maurice.movement.wheels import wheeled_way
from tablecam.rules.maurice.place.near import near_enemy
from tablecam.table.formation import column_order, front_rank, read_formation
from tablecam.table.headings import difference_deg, forward, right
from tablecam.table.model import BasePose
from tablecam.table.motion import SLIP_MM

ABOUT_RULE: Final = "M-6.26"
_PLACE_MM = 5 * SLIP_MM
"""How far a base may have slipped that was turned on its spot: a hand lifts it for that."""
_ALIKE = 0.1
"""Millimetres and degrees, a tenth of a hand's slip: bases that are measured, and so only nearly
flush, line up elsewhere than they lie."""
_TURN_DEG = 10.0
"""How far its heading may be off, as in a formation (M-1.7)."""


def placed(field: Field, unit: UnitOnField, bases: tuple[BasePose, ...]) -> Field:
    """The field with a unit's bases elsewhere, in the formation in which they lie there.

    Raises:
        BadInput: They cannot lie so: off the table, or upon others.
    """
    moved = replace(unit.unit, bases=bases, formation=None)
    moved = replace(moved, formation=read_formation(moved).name)
    units = tuple(moved if each.id == unit.id else each for each in field.position.units)
    return renewed_field(field, replace(field.position, units=units), "the move")


def changed_way(
    field: Field, unit: UnitOnField, after: Field, there: UnitOnField, allowed_bw: float
) -> Way:
    """A change of formation, and for what was a column a move after it (M-6.21 to M-6.24)."""
    change = f"{unit.id} changed from {unit.formation} to {there.formation}"
    if there.formation == "broken-up" or (there.formation, unit.unit.arm) == ("massed", "infantry"):
        return refused("M-1.7", f"{change}: it may not lie so")
    if unit.formation == "column":
        return _deployed_way(field, unit, after, there, allowed_bw)
    quarter_turn = "column" in (unit.formation, there.formation) and unit.formation == "line"
    kept, wanted = _kept(unit, there, 90.0 if quarter_turn else 0.0), 1 if quarter_turn else 2
    rule = "M-6.23" if quarter_turn else "M-6.24"
    if kept < wanted:
        because = f"{change}: {kept} of its bases kept their place, expected {wanted} or more"
        return refused(rule, because)
    if rule == "M-6.24" and there.formation != "line" and not _is_behind_who_stayed(unit, there):
        return refused(rule, f"{change}: the others go behind the two that keep their place")
    return _in_place(field, unit, there, allowed_bw, rule)


def _deployed_way(
    field: Field, unit: UnitOnField, after: Field, there: UnitOnField, allowed_bw: float
) -> Way:
    """The way of what was a column: it deploys for nothing, and may move as what it is then.

    It keeps the column's allowance, and with it what holds a column near the enemy (M-6.2, M-6.11).
    """
    if near_enemy(after, there).is_near:
        allowed_bw = min(allowed_bw, COLUMN_NEAR_BW)

    def ways_from(places: Iterable[tuple[BasePose, ...]]) -> Iterator[Way]:
        for start in _deployed(field, unit, places):
            if start.formation == there.formation:
                way = wheeled_way(field, start, there, allowed_bw, near_bw=COLUMN_NEAR_BW)
                yield _with_change(field, unit, start, way)

    places = (*_lines(unit), *_masses(unit))
    for way in ways_from(each for each in places if _is_alike(each, there.unit.bases, EXACT_MM)):
        if way.answer.answer != "no" and way.cost_mm <= EXACT_MM:
            return way  # It deployed, and moved no farther: no way is cheaper.
    ways = ways_from(places)
    no_room = f"{unit.id} changed from {unit.formation} to {there.formation}: no room for it"
    return min(
        ways,
        key=lambda way: (way.answer.answer == "no", way.cost_mm),
        default=refused("M-6.22", no_room),
    )


def _with_change(field: Field, unit: UnitOnField, start: UnitOnField, way: Way) -> Way:
    """A way, and the difficult ground of the change before it: one disruption in all (M-6.25)."""
    if way.answer.answer == "no" or way.is_rough or not _crosses_rough(field, unit, start):
        return way
    if breaks(unit, way.disruptions + 1):
        because = f"{unit.id} has {unit.disruption} disruptions, and the change would break it"
        return refused("M-6.25", because, way.path)
    return replace(way, disruptions=way.disruptions + 1, is_rough=True)


def _crosses_rough(field: Field, unit: UnitOnField, there: UnitOnField) -> bool:
    """Whether bases enter or leave difficult ground by a change on the spot (M-6.25).

    Piece by piece the bases in it are counted: which of them went where nobody saw. What stays
    where it stood counts in neither. Friends are never passed: bases may go through their own unit,
    and its old and new place hang together.
    """
    if unit.unit.arm == "artillery":
        return False
    gone = _not_among(unit, there)
    come = _not_among(there, unit)
    return any(
        sum(is_partly_in(base, piece) for base in gone)
        != sum(is_partly_in(base, piece) for base in come)
        for piece in shapely.get_parts(field.ground.difficult)
    )


def _not_among(unit: UnitOnField, other: UnitOnField) -> list[shapely.Polygon]:
    """The bases of a unit that lie where none of the other's does, turned about or not."""
    return [
        outline
        for base, outline in zip(unit.unit.bases, unit.bases, strict=True)
        if not any(_lies_as(base, each) for each in other.unit.bases)
    ]


def _lies_as(one: BasePose, other: BasePose) -> bool:
    """Whether two bases cover the same ground, but for a hand's slip."""
    turns_deg = [0.0, 180.0]
    if abs(one.width_mm - one.depth_mm) <= SLIP_MM:
        turns_deg.append(90.0)
    return any(_is_turned(one, other, turn_deg) for turn_deg in turns_deg)


def is_faced_about(unit: UnitOnField, there: UnitOnField) -> bool:
    """Whether a unit faces the other way, whatever else it did."""
    turned_deg = difference_deg(there.axes.heading_deg, unit.axes.heading_deg)
    return unit.formation == there.formation and abs(turned_deg) > 180.0 - _TURN_DEG


def is_turned_back(unit: UnitOnField, there: UnitOnField) -> bool:
    """Whether a unit faces more backward than forward, whatever else it did."""
    turned_deg = difference_deg(there.axes.heading_deg, unit.axes.heading_deg)
    return unit.formation == there.formation and abs(turned_deg) > 90.0


def about_face(
    field: Field, unit: UnitOnField, after: Field, there: UnitOnField, allowed_bw: float
) -> Way | None:
    """An about-face, and for horse a move after it; None when it was none (M-6.26).

    Nor is it one where the unit comes there as cheaply without. Horse that turned more than a
    quarter back again after it faces forward: that is looked at where no other way is legal.
    """
    if unit.unit.arm == "artillery":
        return None
    if is_faced_about(unit, there) and _kept(unit, there, 180.0) == len(unit.bases):
        way = _in_place(field, unit, there, 0.0, ABOUT_RULE)
        return replace(way, is_after_about_face=True)
    is_column_about = unit.formation == there.formation == "column" and (
        column_order(there.unit.bases) == column_order(unit.unit.bases)[::-1]
    )
    if unit.unit.arm != "cavalry":
        if not is_column_about:
            return None
        return refused(ABOUT_RULE, f"{unit.id} about-faced and moved: foot may do one of the two")
    if is_column_about:  # its last base leads: no snaking way does that
        return _faced_way(field, unit, after, there, allowed_bw)
    moved = _moved_way(field, unit, after, there, allowed_bw)
    is_legal, is_turned = moved.answer.answer != "no", is_turned_back(unit, there)
    if is_legal and (unit.formation == "column" or not is_turned):
        return moved
    found = _faced_way(field, unit, after, there, allowed_bw)
    if found.answer.answer == "no":
        # Neither is legal: what it did is told by the way that it faces.
        return moved if is_legal or not is_turned else found
    is_as_cheap = is_legal and found.cost_mm >= moved.cost_mm - SLIP_MM
    return moved if is_as_cheap else found


def _faced_way(
    field: Field, unit: UnitOnField, after: Field, there: UnitOnField, allowed_bw: float
) -> Way:
    """The way of a unit that about-faced first: it may not end near the enemy (M-6.26)."""
    faced = tuple(replace(base, heading_deg=base.heading_deg + 180) for base in unit.unit.bases)
    start = placed(field, unit, faced).by_id[unit.id]
    way = _moved_way(field, start, after, there, allowed_bw)
    if way.answer.answer != "no" and near_enemy(after, there).is_near:
        because = f"{unit.id} about-faced and moved, and may not end near the enemy"
        way = refused(ABOUT_RULE, because, way.path)
    return replace(way, is_after_about_face=True)


def _moved_way(
    field: Field, unit: UnitOnField, after: Field, there: UnitOnField, allowed_bw: float
) -> Way:
    if unit.formation == "column":
        return free_way(field, unit, after, there, allowed_bw)
    return wheeled_way(field, unit, there, allowed_bw)


def _in_place(
    field: Field, unit: UnitOnField, there: UnitOnField, cost_bw: float, rule: str
) -> Way:
    """A change that is all the unit does: it costs the whole allowance."""
    area = shapely.union_all([unit.outline, there.outline])
    cost_mm = cost_bw * field.bw_mm
    return judged_way(
        field,
        unit,
        area,
        cost_mm=cost_mm,
        allowed_bw=cost_bw,
        sigma_mm=0.0,
        path=(),
        rule=rule,
        is_rough=_crosses_rough(field, unit, there),
    )


def _kept(unit: UnitOnField, there: UnitOnField, turned_deg: float) -> int:
    """How many bases stand where one stood, turned by so much to either hand."""
    return _kept_of(unit, there.unit.bases, turned_deg)


def _kept_of(unit: UnitOnField, bases: Iterable[BasePose], turned_deg: float) -> int:
    return sum(
        any(_is_turned(before, after, turned_deg) for before in unit.unit.bases) for after in bases
    )


def _is_behind_who_stayed(unit: UnitOnField, there: UnitOnField) -> bool:
    """Whether the two bases in front are those that stayed: the others closed up behind them."""
    if there.formation == "column":
        front = _from_the_front(there)[:2]
    else:
        front = list(front_rank(there.unit))
    bases = [there.unit.bases[place] for place in front]
    return _kept_of(unit, bases, 0.0) == len(bases)


def _is_turned(before: BasePose, after: BasePose, turned_deg: float) -> bool:
    moved_mm = math.hypot(after.x_mm - before.x_mm, after.y_mm - before.y_mm)
    by_deg = abs(difference_deg(after.heading_deg, before.heading_deg))
    return moved_mm <= _PLACE_MM and abs(by_deg - turned_deg) <= _TURN_DEG


def _deployed(
    field: Field, unit: UnitOnField, places: Iterable[tuple[BasePose, ...]]
) -> Iterator[UnitOnField]:
    """A column as it may deploy on its spot; without the places for which there is no room.

    Into line: every base turns to one hand (M-6.23). Massed: two bases come up beside the two in
    front, or back beside the two behind (M-6.24).
    """
    for bases in places:
        try:
            yield placed(field, unit, bases).by_id[unit.id]
        except BadInput:
            continue


def _lines(unit: UnitOnField) -> Iterator[tuple[BasePose, ...]]:
    """Every base turned on its spot; or one of them, and the others lined up flush with it."""
    for turn_deg in (90.0, -90.0):
        on_spot = tuple(
            replace(base, heading_deg=base.heading_deg + turn_deg) for base in unit.unit.bases
        )
        yield on_spot
        for pivot in range(len(on_spot)):
            lined_up = _lined_up(unit, pivot, turn_deg)
            if not _is_alike(lined_up, on_spot):
                yield lined_up


def _lined_up(unit: UnitOnField, pivot: int, turn_deg: float) -> tuple[BasePose, ...]:
    """A straight line that a column forms on one of its bases, which turns on its spot (M-6.23)."""
    bases = unit.unit.bases
    stays = bases[pivot]
    order = _from_the_front(unit)
    ahead = forward(stays.heading_deg)
    ahead_mm = [
        stays.width_mm * (order.index(pivot) - order.index(place)) for place in range(len(bases))
    ]
    return tuple(
        replace(
            base,
            x_mm=stays.x_mm + ahead[0] * on_mm,
            y_mm=stays.y_mm + ahead[1] * on_mm,
            heading_deg=stays.heading_deg + turn_deg,
        )
        for base, on_mm in zip(bases, ahead_mm, strict=True)
    )


def _from_the_front(unit: UnitOnField) -> list[int]:
    """The places of a column's bases in `unit.bases`, from the leading one back."""
    bases = unit.unit.bases
    leading = bases[front_rank(unit.unit)[0]]
    return sorted(
        range(len(bases)), key=lambda place: math.dist(_centre(bases[place]), _centre(leading))
    )


def _is_alike(these: tuple[BasePose, ...], those: tuple[BasePose, ...], by: float = _ALIKE) -> bool:
    """Whether it is all one from which of two places a move is judged, whoever lies where."""
    return all(
        any(
            math.dist(_centre(one), _centre(other)) <= by
            and abs(difference_deg(one.heading_deg, other.heading_deg)) <= by
            for other in those
        )
        for one in these
    )


def _masses(unit: UnitOnField) -> Iterator[tuple[BasePose, ...]]:
    bases = unit.unit.bases
    order = [bases[place] for place in _from_the_front(unit)]
    if unit.unit.arm != "cavalry" or len(order) != 4:
        return
    for stay, go in ((order[:2], order[2:]), (order[2:], order[:2])):
        for side in (1.0, -1.0):
            yield (*stay, *(_beside(base, side, mate) for base, mate in zip(stay, go, strict=True)))


def _beside(base: BasePose, side: float, mate: BasePose) -> BasePose:
    """A mate put flush beside a base, to its right or left."""
    across, ahead = right(base.heading_deg), forward(base.heading_deg)
    apart_mm = side * (base.width_mm + mate.width_mm) / 2
    on_mm = (base.depth_mm - mate.depth_mm) / 2
    return replace(
        mate,
        x_mm=base.x_mm + across[0] * apart_mm + ahead[0] * on_mm,
        y_mm=base.y_mm + across[1] * apart_mm + ahead[1] * on_mm,
        heading_deg=base.heading_deg,
    )


def _centre(base: BasePose) -> tuple[float, float]:
    return base.x_mm, base.y_mm
